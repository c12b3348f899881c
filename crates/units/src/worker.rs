//! The process of a unit of others: it loads the library, answers questions of the program that started it, and ends with it.
//!
//! Unsafe, because the functions of a foreign library are called: that they do what the standards say cannot be checked, which is why they
//! run in a process of their own.
#![allow(unsafe_code)]

use crate::Version;
use crate::process::Hello;
use crate::shared::{Shared, Turn};
use crate::wire::{Ask, Reply, Request, read_text};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::sync::Mutex;

/// What the library had to say since the last question.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Messages that are kept.
const MOST_MESSAGES: usize = 20;

fn heard(message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: a text of the library, which ends with a zero.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    if let Ok(mut said) = SAID.lock()
        && said.len() < MOST_MESSAGES
    {
        said.push(text);
    }
}

/// The logger of FMI 2 without what follows its text: the caller cleans up after such functions.
unsafe extern "C" fn log_two(_: *mut c_void, _: *const c_char, _: c_int, _: *const c_char, message: *const c_char) {
    heard(message);
}

unsafe extern "C" fn log_three(_: *mut c_void, _: c_int, _: *const c_char, message: *const c_char) {
    heard(message);
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

#[repr(C)]
struct Callbacks {
    logger: unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char),
    allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    environment: *mut c_void,
}

static CALLBACKS: Callbacks =
    Callbacks { logger: log_two, allocate: calloc, free, step_finished: None, environment: std::ptr::null_mut() };

// SAFETY: functions and a null pointer, never changed.
unsafe impl Sync for Callbacks {}

#[repr(C)]
#[derive(Default)]
struct EventInfo {
    needed: c_int,
    terminate: c_int,
    nominals_changed: c_int,
    values_changed: c_int,
    next_defined: c_int,
    next: f64,
}

/// A library with an instance.
struct Unit {
    library: Library,
    version: Version,
    exchange: bool,
    instance: *mut c_void,
    counts: [usize; 2],
    saved: Vec<*mut c_void>,
}

type Answer = Result<Vec<f64>, String>;

/// A function of the library by name.
macro_rules! function {
    ($own:expr, $name:expr, fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {{
        let name: String = $name.to_string();
        // SAFETY: the standard says that the function of this name has this type.
        let found = unsafe { $own.library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(name.as_bytes()) };
        found.map(|own| *own).map_err(|_| format!("the library has no function {name}"))?
    }};
}

fn checked(name: &str, status: c_int) -> Result<(), String> {
    // a warning is no failure
    if matches!(status, 0 | 1) {
        return Ok(());
    }
    let word = match status {
        2 => "discarded the call",
        3 => "returned an error",
        4 => "returned a fatal error",
        _ => "returned a status the standard does not know",
    };
    let said = SAID.lock().map(|mut said| std::mem::take(&mut *said).join("; ")).unwrap_or_default();
    Err(if said.is_empty() { format!("{name} {word}") } else { format!("{name} {word}: {said}") })
}

impl Unit {
    fn load(hello: &Hello) -> Result<Unit, String> {
        // SAFETY: code of others runs here; that is what this process is for.
        let library = unsafe { Library::new(&hello.library) }
            .map_err(|error| format!("the library cannot be loaded: {error}"))?;
        let mut own = Unit {
            library,
            version: hello.version,
            exchange: hello.exchange,
            instance: std::ptr::null_mut(),
            counts: hello.counts,
            saved: Vec::new(),
        };
        own.instance = own.instantiate(hello)?;
        if own.instance.is_null() {
            let said = SAID.lock().map(|mut said| std::mem::take(&mut *said).join("; ")).unwrap_or_default();
            return Err(format!(
                "the library made no instance: {}",
                if said.is_empty() { "it does not say why" } else { &said }
            ));
        }
        Ok(own)
    }

    /// An instance, null where the library makes none.
    fn instantiate(&self, hello: &Hello) -> Result<*mut c_void, String> {
        let text = |own: &str| CString::new(own).map_err(|_| "a text has a zero inside".to_owned());
        let (name, token) = (text("tippe")?, text(&hello.token)?);
        let folder = hello.resources.display().to_string();
        Ok(match (self.version, self.exchange) {
            (Version::Two, exchange) => {
                let made = function!(
                    self,
                    "fmi2Instantiate",
                    fn(
                        *const c_char,
                        c_int,
                        *const c_char,
                        *const c_char,
                        *const Callbacks,
                        c_int,
                        c_int,
                    ) -> *mut c_void
                );
                let place = text(&format!("file://{}", percent(&folder)))?;
                let kind = c_int::from(!exchange);
                // SAFETY: texts that live through the call, callbacks that live as long as the process.
                unsafe { made(name.as_ptr(), kind, token.as_ptr(), place.as_ptr(), &raw const CALLBACKS, 0, 0) }
            }
            (Version::Three, true) => {
                let made = function!(
                    self,
                    "fmi3InstantiateModelExchange",
                    fn(
                        *const c_char,
                        *const c_char,
                        *const c_char,
                        bool,
                        bool,
                        *mut c_void,
                        *const c_void,
                    ) -> *mut c_void
                );
                let place = text(&format!("{folder}/"))?;
                let log = log_three as *const c_void;
                // SAFETY: as above.
                unsafe { made(name.as_ptr(), token.as_ptr(), place.as_ptr(), false, false, std::ptr::null_mut(), log) }
            }
            (Version::Three, false) => {
                let made = function!(
                    self,
                    "fmi3InstantiateCoSimulation",
                    fn(
                        *const c_char,
                        *const c_char,
                        *const c_char,
                        bool,
                        bool,
                        bool,
                        bool,
                        *const u32,
                        usize,
                        *mut c_void,
                        *const c_void,
                        *const c_void,
                    ) -> *mut c_void
                );
                let (place, log, none) = (text(&format!("{folder}/"))?, log_three as *const c_void, std::ptr::null());
                let nobody = std::ptr::null_mut();
                // SAFETY: as above.
                unsafe {
                    let [name, token, place] = [name.as_ptr(), token.as_ptr(), place.as_ptr()];
                    made(name, token, place, false, false, false, false, std::ptr::null(), 0, nobody, log, none)
                }
            }
        })
    }

    fn name(&self, two: &str, three: &str) -> String {
        match self.version {
            Version::Two => format!("fmi2{two}"),
            Version::Three => format!("fmi3{three}"),
        }
    }

    /// A function of the instance alone.
    fn plain(&self, two: &str, three: &str) -> Result<(), String> {
        let name = self.name(two, three);
        let call = function!(self, name, fn(*mut c_void) -> c_int);
        // SAFETY: the instance is the library's.
        checked(&name, unsafe { call(self.instance) })
    }

    fn prepare(&self, tolerance: f64, start: f64) -> Answer {
        let given = tolerance.is_finite();
        let tolerance = if given { tolerance } else { 0.0 };
        match self.version {
            Version::Two => {
                let call =
                    function!(self, "fmi2SetupExperiment", fn(*mut c_void, c_int, f64, f64, c_int, f64) -> c_int);
                // SAFETY: the instance is the library's.
                checked("fmi2SetupExperiment", unsafe {
                    call(self.instance, c_int::from(given), tolerance, start, 0, 0.0)
                })?;
                self.plain("EnterInitializationMode", "")?;
            }
            Version::Three => {
                let name = "fmi3EnterInitializationMode";
                let call = function!(self, name, fn(*mut c_void, bool, f64, f64, bool, f64) -> c_int);
                // SAFETY: the instance is the library's.
                checked(name, unsafe { call(self.instance, given, tolerance, start, false, 0.0) })?;
            }
        }
        Ok(Vec::new())
    }

    fn begin(&mut self) -> Answer {
        self.plain("ExitInitializationMode", "ExitInitializationMode")?;
        if !self.exchange {
            return Ok(Vec::new());
        }
        let mut all = self.new_states(false)?;
        self.plain("EnterContinuousTimeMode", "EnterContinuousTimeMode")?;
        all.extend(self.vector("GetContinuousStates", "GetContinuousStates", self.counts[0])?);
        Ok(all)
    }

    fn get(&self, references: &[u32]) -> Answer {
        let mut values = vec![0.0; references.len()];
        let (n, vr) = (references.len(), references.as_ptr());
        let status = match self.version {
            Version::Two => {
                let call = function!(self, "fmi2GetReal", fn(*mut c_void, *const u32, usize, *mut f64) -> c_int);
                // SAFETY: lists of n.
                unsafe { call(self.instance, vr, n, values.as_mut_ptr()) }
            }
            Version::Three => {
                let call =
                    function!(self, "fmi3GetFloat64", fn(*mut c_void, *const u32, usize, *mut f64, usize) -> c_int);
                // SAFETY: lists of n.
                unsafe { call(self.instance, vr, n, values.as_mut_ptr(), n) }
            }
        };
        checked(&self.name("GetReal", "GetFloat64"), status)?;
        Ok(values)
    }

    fn set(&self, references: &[u32], values: &[f64]) -> Answer {
        let (n, vr) = (references.len().min(values.len()), references.as_ptr());
        let status = match self.version {
            Version::Two => {
                let call = function!(self, "fmi2SetReal", fn(*mut c_void, *const u32, usize, *const f64) -> c_int);
                // SAFETY: lists of n.
                unsafe { call(self.instance, vr, n, values.as_ptr()) }
            }
            Version::Three => {
                let call =
                    function!(self, "fmi3SetFloat64", fn(*mut c_void, *const u32, usize, *const f64, usize) -> c_int);
                // SAFETY: lists of n.
                unsafe { call(self.instance, vr, n, values.as_ptr(), n) }
            }
        };
        checked(&self.name("SetReal", "SetFloat64"), status)?;
        Ok(Vec::new())
    }

    fn step(&self, now: f64, length: f64) -> Answer {
        match self.version {
            Version::Two => {
                let call = function!(self, "fmi2DoStep", fn(*mut c_void, f64, f64, c_int) -> c_int);
                // SAFETY: the instance is the library's.
                checked("fmi2DoStep", unsafe { call(self.instance, now, length, 1) })?;
                Ok(vec![now + length, 0.0, 0.0])
            }
            Version::Three => {
                type Flag = *mut bool;
                let call =
                    function!(self, "fmi3DoStep", fn(*mut c_void, f64, f64, bool, Flag, Flag, Flag, *mut f64) -> c_int);
                let (mut event, mut end, mut early, mut last) = (false, false, false, now + length);
                let flags = [&raw mut event, &raw mut end, &raw mut early];
                // SAFETY: places that live through the call.
                let status =
                    unsafe { call(self.instance, now, length, true, flags[0], flags[1], flags[2], &raw mut last) };
                checked("fmi3DoStep", status)?;
                Ok(vec![if early { last } else { now + length }, f64::from(u8::from(event)), f64::from(u8::from(end))])
            }
        }
    }

    fn come(&self, time: f64, states: &[f64]) -> Result<(), String> {
        let name = self.name("SetTime", "SetTime");
        let call = function!(self, name, fn(*mut c_void, f64) -> c_int);
        // SAFETY: the instance is the library's.
        checked(&name, unsafe { call(self.instance, time) })?;
        let name = self.name("SetContinuousStates", "SetContinuousStates");
        let call = function!(self, name, fn(*mut c_void, *const f64, usize) -> c_int);
        // SAFETY: a list of this length.
        checked(&name, unsafe { call(self.instance, states.as_ptr(), states.len()) })
    }

    fn vector(&self, two: &str, three: &str, count: usize) -> Answer {
        let mut values = vec![0.0; count];
        let name = self.name(two, three);
        let call = function!(self, name, fn(*mut c_void, *mut f64, usize) -> c_int);
        // SAFETY: a list of this length.
        checked(&name, unsafe { call(self.instance, values.as_mut_ptr(), count) })?;
        Ok(values)
    }

    fn evaluate(&self, values: &[f64]) -> Answer {
        let (time, states) = (values[0], &values[1..]);
        self.come(time, states)?;
        let mut all = self.vector("GetDerivatives", "GetContinuousStateDerivatives", self.counts[0])?;
        if self.counts[1] > 0 {
            all.extend(self.vector("GetEventIndicators", "GetEventIndicators", self.counts[1])?);
        }
        Ok(all)
    }

    /// As [`Self::evaluate`] with inputs behind the states, and outputs behind the answer.
    fn look(&self, references: &[u32], values: &[f64]) -> Answer {
        let (before, inputs) = values.split_at(1 + self.counts[0]);
        let (given, read) =
            references.split_at_checked(inputs.len()).ok_or("the question has too few references".to_owned())?;
        if !given.is_empty() {
            self.set(given, inputs)?;
        }
        let mut all = self.evaluate(before)?;
        if !read.is_empty() {
            all.extend(self.get(read)?);
        }
        Ok(all)
    }

    fn completed(&self, values: &[f64]) -> Answer {
        self.come(values[0], &values[1..])?;
        let name = self.name("CompletedIntegratorStep", "CompletedIntegratorStep");
        let (event, end) = match self.version {
            Version::Two => {
                let (mut event, mut end): (c_int, c_int) = (0, 0);
                let call = function!(self, name, fn(*mut c_void, c_int, *mut c_int, *mut c_int) -> c_int);
                // SAFETY: places that live through the call.
                checked(&name, unsafe { call(self.instance, 1, &raw mut event, &raw mut end) })?;
                (event != 0, end != 0)
            }
            Version::Three => {
                let (mut event, mut end) = (false, false);
                let call = function!(self, name, fn(*mut c_void, bool, *mut bool, *mut bool) -> c_int);
                // SAFETY: places that live through the call.
                checked(&name, unsafe { call(self.instance, true, &raw mut event, &raw mut end) })?;
                (event, end)
            }
        };
        Ok(vec![f64::from(u8::from(event)), f64::from(u8::from(end))])
    }

    /// Events until no more are needed: states changed, next known, next, end wanted.
    fn new_states(&self, enter: bool) -> Answer {
        if enter {
            self.plain("EnterEventMode", "EnterEventMode")?;
        }
        let mut changed = false;
        for _ in 0..100 {
            let next;
            let (needed, end) = match self.version {
                Version::Two => {
                    let mut info = EventInfo { needed: 1, ..EventInfo::default() };
                    let call = function!(self, "fmi2NewDiscreteStates", fn(*mut c_void, *mut EventInfo) -> c_int);
                    // SAFETY: a place that lives through the call.
                    checked("fmi2NewDiscreteStates", unsafe { call(self.instance, &raw mut info) })?;
                    changed |= info.values_changed != 0;
                    next = (info.next_defined != 0).then_some(info.next);
                    (info.needed != 0, info.terminate != 0)
                }
                Version::Three => {
                    type Flag = *mut bool;
                    let name = "fmi3UpdateDiscreteStates";
                    let call = function!(self, name, fn(*mut c_void, Flag, Flag, Flag, Flag, Flag, *mut f64) -> c_int);
                    let mut flags = [false; 5];
                    let mut time = 0.0;
                    let [needed, end, nominals, values, defined] = &mut flags;
                    // SAFETY: places that live through the call.
                    let status = unsafe { call(self.instance, needed, end, nominals, values, defined, &raw mut time) };
                    checked(name, status)?;
                    changed |= flags[3];
                    next = flags[4].then_some(time);
                    (flags[0], flags[1])
                }
            };
            if !needed || end {
                let flag = |own: bool| f64::from(u8::from(own));
                return Ok(vec![flag(changed), flag(next.is_some()), next.unwrap_or(0.0), flag(end)]);
            }
        }
        Err("the unit asks for a hundred iterations of one event".to_owned())
    }

    fn event(&self, values: &[f64]) -> Answer {
        self.come(values[0], &values[1..])?;
        let mut all = self.new_states(true)?;
        self.plain("EnterContinuousTimeMode", "EnterContinuousTimeMode")?;
        all.extend(self.vector("GetContinuousStates", "GetContinuousStates", self.counts[0])?);
        Ok(all)
    }

    fn save(&mut self) -> Answer {
        let name = self.name("GetFMUstate", "GetFMUState");
        let call = function!(self, name, fn(*mut c_void, *mut *mut c_void) -> c_int);
        let mut state = std::ptr::null_mut();
        // SAFETY: a place that lives through the call.
        checked(&name, unsafe { call(self.instance, &raw mut state) })?;
        self.saved.push(state);
        Ok(vec![(self.saved.len() - 1) as f64])
    }

    fn restore(&self, number: f64) -> Answer {
        let state = *self.saved.get(number as usize).ok_or("there is no state of this number")?;
        let name = self.name("SetFMUstate", "SetFMUState");
        let call = function!(self, name, fn(*mut c_void, *mut c_void) -> c_int);
        // SAFETY: a state of this instance.
        checked(&name, unsafe { call(self.instance, state) })?;
        Ok(Vec::new())
    }

    fn terminate(&self) -> Answer {
        self.plain("Terminate", "Terminate")?;
        let name = self.name("FreeInstance", "FreeInstance");
        let call = function!(self, name, fn(*mut c_void));
        // SAFETY: the process ends after this.
        unsafe { call(self.instance) };
        Ok(Vec::new())
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let values = &request.values;
        let need = |count: usize| match values.len() >= count {
            true => Ok(()),
            false => Err("the question has too few numbers".to_owned()),
        };
        match request.ask {
            Ask::Prepare => {
                need(2)?;
                self.prepare(values[0], values[1])
            }
            Ask::Begin => self.begin(),
            Ask::Get => self.get(&request.references),
            Ask::Set => self.set(&request.references, values),
            Ask::Step => {
                need(2)?;
                self.step(values[0], values[1])
            }
            Ask::Evaluate | Ask::Completed | Ask::Event => {
                need(1 + self.counts[0])?;
                match request.ask {
                    Ask::Evaluate => self.evaluate(values),
                    Ask::Completed => self.completed(values),
                    _ => self.event(values),
                }
            }
            Ask::Look => {
                need(1 + self.counts[0])?;
                self.look(&request.references, values)
            }
            Ask::States => self.vector("GetContinuousStates", "GetContinuousStates", self.counts[0]),
            Ask::Nominals => {
                self.vector("GetNominalsOfContinuousStates", "GetNominalsOfContinuousStates", self.counts[0])
            }
            Ask::Save => self.save(),
            Ask::Restore => {
                need(1)?;
                self.restore(values[0])
            }
            Ask::Terminate => self.terminate(),
        }
    }
}

fn percent(path: &str) -> String {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.bytes().map(|byte| if good(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Answers whoever listens at this socket until it hangs up.
pub fn work(socket: &Path) -> Result<(), String> {
    let mut stream = UnixStream::connect(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
    let text = read_text(&mut stream).map_err(|error| error.to_string())?;
    let hello: Hello = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let loaded = Unit::load(&hello);
    let told = match &loaded {
        Ok(_) => Reply::default(),
        Err(error) => Reply { error: error.clone(), ..Reply::default() },
    };
    let memory = hello.memory.as_deref().and_then(|path| Shared::open(path).ok());
    if hello.memory.is_some() && memory.is_none() {
        return Err("the shared memory cannot be opened".to_owned());
    }
    stream.write_all(&told.bytes()).map_err(|error| error.to_string())?;
    let mut unit = loaded?;
    let mut memory = memory;
    // who started this process has gone once another has taken its place
    let parent = parent_id();
    let mut alive = || if parent_id() == parent { Ok(()) } else { Err(Error::from(ErrorKind::UnexpectedEof)) };
    loop {
        let (request, over_socket) = match &mut memory {
            None => (Request::read(&mut stream), true),
            Some(memory) => match memory.take(Turn::Question, None, &mut alive) {
                Ok(Some(bytes)) => (Request::read(&mut bytes.as_slice()), false),
                Ok(None) => (Request::read(&mut stream), false),
                Err(error) => (Err(error), false),
            },
        };
        let Ok(request) = request else { return Ok(()) };
        let reply = match unit.answer(&request) {
            Ok(values) => Reply { error: String::new(), values },
            Err(error) => Reply { error, values: Vec::new() },
        };
        let bytes = reply.bytes();
        if let (Some(memory), false) = (&mut memory, over_socket) {
            let fits = bytes.len() <= memory.room();
            memory.put(fits.then_some(bytes.as_slice()), Turn::Answer);
            if !fits {
                stream.write_all(&bytes).map_err(|error| error.to_string())?;
            }
        } else {
            stream.write_all(&bytes).map_err(|error| error.to_string())?;
        }
        if request.ask == Ask::Terminate {
            return Ok(());
        }
    }
}
