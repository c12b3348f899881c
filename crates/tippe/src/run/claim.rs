//! Who owns a run folder while it is written: a lock that the system holds for a process, so that a killed run leaves none behind.
//!
//! A folder is ours to replace only if its manifest says that Tippe wrote it, and only when somebody asks. Else a run goes into
//! the next free name: `runs/ball`, `runs/ball-2`, ...

use super::RunError;
use super::manifest::read_json;
use serde::Deserialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File whose lock says that a process writes into the folder.
pub(super) const LOCK: &str = ".lock";
/// Files of a run folder, for replacing an old run; checkpoints and grains come on top.
const FILES: [&str; 20] = [
    "manifest.json",
    "summary.json",
    "signals.parquet",
    "signals.csv",
    "energy.parquet",
    "energy.csv",
    "contacts.parquet",
    "contacts.csv",
    "events.jsonl",
    "events.csv",
    super::inputs::FILE,
    super::patches::FILE,
    super::reach::FILE,
    super::journal::FILE,
    super::writer::SERIES_FILE,
    super::writer::RESERVE_FILE,
    "ground.asc",
    "ground.png",
    "ground.scale",
    "ground.csv",
];

/// A run folder that belongs to this process until it is dropped.
#[derive(Debug)]
pub struct Claim {
    folder: PathBuf,
    /// Held by the system while this is open.
    _lock: Option<File>,
}

/// What is read of a manifest to know whose it is.
#[derive(Deserialize)]
struct Signature {
    #[serde(rename = "format")]
    _format: u32,
    #[serde(rename = "tippe")]
    _tippe: String,
    #[serde(rename = "subjects")]
    _subjects: super::Subjects,
}

impl Claim {
    /// The folder that somebody asks for, if it is new or empty; else the first free one of `FOLDER-2`, `FOLDER-3`, ... With
    /// `replace` a run that stands there goes, and what is no run is an error.
    pub fn take(folder: &Path, replace: bool) -> Result<Claim, RunError> {
        if is_held(folder) {
            return Err(RunError::Held(folder.to_owned()));
        }
        if !replace {
            return Claim::first_free(folder, true);
        }
        if let Some(claim) = Claim::fresh(folder)? {
            return Ok(claim);
        }
        if !is_run(folder) {
            return Err(RunError::Occupied(folder.to_owned()));
        }
        let claim = Claim::lock(folder)?;
        claim.clear()?;
        Ok(claim)
    }

    /// The first of `FOLDER`, `FOLDER-2`, ... that nobody uses.
    pub fn free(folder: &Path) -> Result<Claim, RunError> {
        Claim::first_free(folder, false)
    }

    /// The folder of a run that is to be continued.
    pub fn again(folder: &Path) -> Result<Claim, RunError> {
        if !is_run(folder) {
            return Err(RunError::Occupied(folder.to_owned()));
        }
        Claim::lock(folder)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// With `asked` somebody else in the first folder is an error.
    fn first_free(folder: &Path, asked: bool) -> Result<Claim, RunError> {
        for k in 1..u32::MAX {
            let candidate = numbered(folder, k);
            match Claim::fresh(&candidate) {
                Ok(Some(claim)) => return Ok(claim),
                Ok(None) => {}
                Err(RunError::Held(_)) if k > 1 || !asked => {}
                Err(error) => return Err(error),
            }
        }
        Err(RunError::Occupied(folder.to_owned()))
    }

    /// A folder that is not there, or is empty; none if there is something.
    fn fresh(folder: &Path) -> Result<Option<Claim>, RunError> {
        let wrong = |error| RunError::write(folder, error);
        if let Some(above) = folder.parent().filter(|above| !above.as_os_str().is_empty()) {
            std::fs::create_dir_all(above).map_err(|error| RunError::write(above, error))?;
        }
        match std::fs::create_dir(folder) {
            Ok(()) => return Claim::lock(folder).map(Some),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(wrong(error)),
        }
        if !folder.is_dir() || !is_empty(folder).map_err(wrong)? {
            return Ok(None);
        }
        let claim = Claim::lock(folder)?;
        // another run may have come and gone
        Ok(is_empty(folder).map_err(wrong)?.then_some(claim))
    }

    fn lock(folder: &Path) -> Result<Claim, RunError> {
        let path = folder.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| RunError::write(&path, error))?;
        // somebody who only looks whether a run goes on holds it for a moment
        for _ in 0..20 {
            match file.try_lock() {
                Ok(()) => return Ok(Claim { folder: folder.to_owned(), _lock: Some(file) }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
                // a file system without locks
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(Claim { folder: folder.to_owned(), _lock: None });
                }
                Err(TryLockError::Error(error)) => return Err(RunError::write(&path, error)),
            }
        }
        Err(RunError::Held(folder.to_owned()))
    }

    /// Removes the files of an old run; others stay.
    fn clear(&self) -> Result<(), RunError> {
        let entries = std::fs::read_dir(&self.folder).map_err(|error| RunError::write(&self.folder, error))?;
        // the manifest goes last: it says whose the others are
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| is_ours(path)).collect();
        files.sort_by_key(|path| path.ends_with("manifest.json"));
        files.iter().try_for_each(|path| std::fs::remove_file(path).map_err(|error| RunError::write(path, error)))
    }
}

/// True if a process writes into this folder now.
pub(super) fn is_held(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(LOCK)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// True if its manifest says that Tippe wrote it.
fn is_run(folder: &Path) -> bool {
    read_json::<Signature>(&folder.join("manifest.json")).is_ok()
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        if entry?.file_name() != LOCK {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True of a name that a run gives its files.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let is = |start: &str, ends: &[&str]| name.starts_with(start) && ends.iter().any(|end| name.ends_with(end));
    FILES.contains(&&*name) || is("checkpoint-", &[".json"]) || is("grains-", &[".vtk", ".csv"])
}

/// `FOLDER` itself for 1, then `FOLDER-2` and so on.
fn numbered(folder: &Path, k: u32) -> PathBuf {
    let Some(name) = folder.file_name().filter(|_| k > 1) else { return folder.to_owned() };
    let mut name = name.to_os_string();
    name.push(format!("-{k}"));
    folder.with_file_name(name)
}
