//! A unit of others at work: its own process, questions with a time limit, an end that takes everything along.

use crate::ImportError;
use crate::archive::{MOST_BYTES, unpack_to};
use crate::description::Foreign;
use crate::shared::{Shared, Turn};
use crate::wire::{Ask, Reply, Request, write_text};
use crate::{Version, platform};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A process that has not called back after this time will not [s].
const GREETING: Duration = Duration::from_secs(20);
/// A library may take this long to make an instance, if calls may not take longer [s].
const INSTANCE: Duration = Duration::from_secs(60);
/// A unit that is no longer needed may clean up for this long [s].
const FAREWELL: Duration = Duration::from_millis(500);
/// How often the program looks whether it has.
const LOOK: Duration = Duration::from_millis(2);

/// What the process of a unit is told first.
#[derive(Serialize, Deserialize)]
pub struct Hello {
    /// The library.
    pub library: PathBuf,
    /// Folder of the resources.
    pub resources: PathBuf,
    /// The standard.
    pub version: Version,
    /// Model Exchange, or Co-Simulation.
    pub exchange: bool,
    /// Token of the description.
    pub token: String,
    /// Numbers of states and indicators.
    pub counts: [usize; 2],
    /// File of the memory that both share, if there is one.
    pub memory: Option<PathBuf>,
}

/// A unit that was unpacked, in a folder that goes with it.
pub struct Unpacked {
    /// File it came from, for people.
    pub unit: String,
    /// What it tells of itself.
    pub description: Foreign,
    folder: PathBuf,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // what is left over in the system's folder of temporary files does no harm
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder of our own, which nobody else may look into.
fn new_folder() -> std::io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tippe-unit-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// What a unit tells of itself.
pub fn described(path: &Path) -> Result<Foreign, ImportError> {
    Unpacked::open(path).map(|unit| unit.description.clone())
}

/// Where memory is a file that no disk has, if there is such a place.
fn memory_folder(unpacked: &Unpacked) -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_owned() } else { unpacked.folder.clone() }
}

fn own_name(unpacked: &Unpacked) -> String {
    unpacked.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Unpacked {
    /// Unpacks a file and reads its description.
    pub fn open(path: &Path) -> Result<Unpacked, ImportError> {
        let unit = path.display().to_string();
        let wish = |what: String| ImportError::Wish { unit: unit.clone(), what };
        let long = fs::metadata(path).map_err(|error| wish(error.to_string()))?;
        if !long.is_file() || long.len() > MOST_BYTES {
            return Err(wish("is no file of a size that a unit has".to_owned()));
        }
        let bytes = fs::read(path).map_err(|error| wish(error.to_string()))?;
        let folder = new_folder().map_err(|error| wish(format!("no folder to unpack it to: {error}")))?;
        let description = (|| {
            let archive = |error| ImportError::Archive { unit: unit.clone(), error };
            unpack_to(&bytes, &folder).map_err(archive)?;
            let wrong = |what: String| ImportError::Description { unit: unit.clone(), what };
            let text = fs::read(folder.join("modelDescription.xml")).map_err(|error| wrong(error.to_string()))?;
            let text = String::from_utf8(text).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
            Foreign::read(&text).map_err(wrong)
        })();
        match description {
            Ok(description) => Ok(Unpacked { unit, description, folder }),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    /// The library of one kind for this platform.
    fn library(&self, exchange: bool) -> Result<PathBuf, ImportError> {
        let own = &self.description;
        let identifier = if exchange { &own.exchange } else { &own.co_simulation };
        let Some(identifier) = identifier else {
            let kind = if exchange { "Model Exchange" } else { "Co-Simulation" };
            return Err(ImportError::Wish { unit: self.unit.clone(), what: format!("the unit offers no {kind}") });
        };
        let [two, three, ending] = platform().unwrap_or(["unknown", "unknown", "so"]);
        let wanted = if own.version == Version::Two { two } else { three };
        let path = self.folder.join("binaries").join(wanted).join(format!("{identifier}.{ending}"));
        if path.is_file() {
            return Ok(path);
        }
        let entries = fs::read_dir(self.folder.join("binaries")).into_iter().flatten().flatten();
        let mut found: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        found.sort();
        Err(ImportError::Platform {
            unit: self.unit.clone(),
            wanted: format!("binaries/{wanted}/{identifier}.{ending}"),
            found: if found.is_empty() { "none".to_owned() } else { found.join(", ") },
        })
    }
}

/// A unit in its process.
pub struct Process {
    /// The unit.
    pub unpacked: Unpacked,
    hello: Hello,
    child: Child,
    stream: UnixStream,
    /// What is said goes through it once the process has been greeted, where there can be one.
    memory: Option<Shared>,
    /// Time it has come to [s].
    pub time: f64,
    limit: Duration,
    /// Questions asked so far.
    pub asked: u64,
}

/// The command that becomes the process of a unit: this program with `fmu worker`.
fn worker(socket: &Path) -> Command {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut command = Command::new(&program);
    if name.starts_with("python") {
        command.args(["-m", "tippe"]);
    }
    command.args(["fmu", "worker"]).arg(socket);
    command
}

/// A process that has called back, and what it is asked through.
fn spawned(unpacked: &Unpacked) -> Result<(Child, UnixStream), ImportError> {
    let wish = |what: String| ImportError::Wish { unit: unpacked.unit.clone(), what };
    let socket = unpacked.folder.join("door");
    // that of the process before
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).map_err(|error| wish(format!("no socket: {error}")))?;
    listener.set_nonblocking(true).map_err(|error| wish(error.to_string()))?;
    let mut command = worker(&socket);
    // what a library prints is not ours: it must not mix with results
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| wish(format!("no process for it: {error}")))?;
    let began = Instant::now();
    let stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(wish(error.to_string())),
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(wish(format!("its process ended before it began: {status}")));
        }
        if began.elapsed() > GREETING {
            let _ = child.kill();
            let _ = child.wait();
            return Err(wish(format!("its process did not begin within {} s", GREETING.as_secs())));
        }
        std::thread::sleep(LOOK);
    };
    stream.set_nonblocking(false).map_err(|error| wish(error.to_string()))?;
    Ok((child, stream))
}

impl Process {
    /// Starts the process; every question has this time limit.
    pub fn start(unpacked: Unpacked, exchange: bool, limit: Duration) -> Result<Process, ImportError> {
        let library = unpacked.library(exchange)?;
        let own = &unpacked.description;
        let hello = Hello {
            library,
            resources: unpacked.folder.join("resources"),
            version: own.version,
            exchange,
            token: own.token.clone(),
            counts: [own.states.len(), own.indicators],
            memory: None,
        };
        let time = own.start;
        let (child, stream) = spawned(&unpacked)?;
        let mut process = Process { unpacked, hello, child, stream, memory: None, time, limit, asked: 0 };
        process.greet()?;
        Ok(process)
    }

    /// A new process for the same unit, as it was before its initialisation.
    pub fn restart(&mut self) -> Result<(), ImportError> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        (self.child, self.stream) = spawned(&self.unpacked)?;
        self.time = self.unpacked.description.start;
        self.greet()
    }

    fn greet(&mut self) -> Result<(), ImportError> {
        let unit = self.unpacked.unit.clone();
        let wish = |what: String| ImportError::Wish { unit: unit.clone(), what };
        let limit = self.limit;
        self.limit = limit.max(INSTANCE);
        self.stream.set_read_timeout(Some(self.limit)).map_err(|error| wish(error.to_string()))?;
        self.memory = None;
        let path = memory_folder(&self.unpacked).join(format!("{}-memory", own_name(&self.unpacked)));
        let _ = fs::remove_file(&path);
        // without memory the socket does
        let memory = Shared::create(&path).ok();
        self.hello.memory = memory.is_some().then(|| path.clone());
        let text = serde_json::to_string(&self.hello).map_err(|error| wish(error.to_string()))?;
        let sent = write_text(&text, &mut self.stream);
        let greeted = self.answer(sent, "instantiate");
        // both have it open, or nobody wants it
        let _ = fs::remove_file(&path);
        greeted?;
        self.memory = memory;
        self.limit = limit;
        self.stream.set_read_timeout(Some(limit)).map_err(|error| wish(error.to_string()))
    }

    /// The answer to a question, or why there is none.
    fn answer(&mut self, sent: std::io::Result<()>, call: &str) -> Result<Vec<f64>, ImportError> {
        let replied = sent.and_then(|()| self.hear());
        let wrong = |own: &Process, call: &str, what: String| ImportError::Call {
            unit: own.unpacked.unit.clone(),
            time: own.time,
            call: call.to_owned(),
            what,
        };
        match replied {
            Ok(reply) if reply.error.is_empty() => Ok(reply.values),
            Ok(reply) => Err(wrong(self, call, format!("failed: {}", reply.error))),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let _ = self.child.kill();
                let what = format!(
                    "did not return within {} s; its process was ended. help: --timeout SECONDS gives it more",
                    self.limit.as_secs_f64()
                );
                Err(wrong(self, call, what))
            }
            Err(_) => {
                let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(wrong(self, call, format!("ended the process of the unit ({status})")))
            }
        }
    }

    fn say(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let Some(memory) = &mut self.memory else { return self.stream.write_all(bytes) };
        let fits = bytes.len() <= memory.room();
        memory.put(fits.then_some(bytes), Turn::Question);
        if fits { Ok(()) } else { self.stream.write_all(bytes) }
    }

    fn hear(&mut self) -> std::io::Result<Reply> {
        let Some(memory) = &mut self.memory else { return Reply::read(&mut self.stream) };
        let child = &mut self.child;
        let mut alive = || match child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(std::io::Error::from(ErrorKind::UnexpectedEof)),
        };
        match memory.take(Turn::Answer, Some(self.limit), &mut alive)? {
            Some(bytes) => Reply::read(&mut bytes.as_slice()),
            None => Reply::read(&mut self.stream),
        }
    }

    /// Asks the unit.
    pub fn ask(&mut self, ask: Ask, call: &str, references: &[u32], values: &[f64]) -> Result<Vec<f64>, ImportError> {
        self.asked += 1;
        let request = Request { ask, references: references.to_vec(), values: values.to_vec() };
        let sent = self.say(&request.bytes());
        self.answer(sent, call)
    }

    /// Values of variables, by index; an error where one is not finite.
    pub fn get(&mut self, which: &[usize]) -> Result<Vec<f64>, ImportError> {
        let references: Vec<u32> = which.iter().map(|&k| self.unpacked.description.variables[k].reference).collect();
        let values = self.ask(Ask::Get, "get", &references, &[])?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(k) => {
                let name = self.unpacked.description.variables[which[k]].name.clone();
                Err(self.not_finite("get", &name, values[k]))
            }
        }
    }

    /// An error about a number that is none.
    pub fn not_finite(&self, call: &str, name: &str, value: f64) -> ImportError {
        ImportError::Call {
            unit: self.unpacked.unit.clone(),
            time: self.time,
            call: call.to_owned(),
            what: format!("gave {value} for \"{name}\", not a finite number"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // one that still answers may clean up; no other is waited for
        let asked = Request { ask: Ask::Terminate, references: Vec::new(), values: Vec::new() }.bytes();
        self.limit = FAREWELL;
        let patient = self.stream.set_read_timeout(Some(FAREWELL));
        if self.say(&asked).and(patient).is_ok() {
            let _ = self.hear();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
