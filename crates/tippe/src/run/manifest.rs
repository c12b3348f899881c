//! How to repeat a run, and how it ended.

use super::{RunError, Subjects};
use crate::clock::Settings;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use tippe_geometry::file::regular;

/// `manifest.json`: the same on every machine for the same run (no host, no date, no duration).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this layout.
    pub format: u32,
    /// Version of Tippe that ran.
    pub tippe: String,
    /// How it ended.
    pub status: Status,
    /// The failure, where there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
    /// Command line, without the program's folder.
    pub command: Vec<String>,
    /// The scene as it was read.
    pub scene: SceneCopy,
    /// Parameters set for this run, in order.
    pub sets: Vec<(String, String)>,
    /// `precise`, `realtime` or `granular`.
    pub clock: String,
    /// Time the run started from [s].
    pub start: f64,
    /// Time it was asked to reach [s].
    pub until: f64,
    /// Checkpoint it started from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restart: Option<String>,
    /// All settings of the clock, as used.
    pub settings: Settings,
    /// What the scene reader and the model had to say.
    pub warnings: Vec<String>,
    /// Bodies, signals of the model, sources of events.
    pub subjects: Subjects,
    /// Hash of the final state, 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hash: Option<String>,
}

/// A scene inside a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneCopy {
    /// Name, or path as it was given.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// [`fingerprint`] of the text.
    pub hash: String,
}

impl SceneCopy {
    /// Copies a scene's text.
    pub fn new(name: &str, text: &str) -> SceneCopy {
        SceneCopy { name: name.to_owned(), text: text.to_owned(), hash: fingerprint(text.as_bytes()) }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has not ended.
    Running,
    /// It was killed: its manifest says that it runs, and nobody writes it any more. No manifest on disk says so.
    Killed,
    /// It reached its end.
    Complete,
    /// A person or the system stopped it in good order.
    Interrupted,
    /// The simulation failed; see `failure`.
    Failed,
    /// The results could not be written; see `failure`.
    OutOfSpace,
}

/// 64-bit FNV-1a hash, 16 hexadecimal digits: tells texts apart, keeps no secret.
pub fn fingerprint(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// Writes a JSON file in whole or not at all, and durably.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| RunError::write(path, error.into()))?;
    text.push(b'\n');
    let part = path.with_extension("part");
    let durable = || {
        let mut file = File::create(&part)?;
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    durable().map(|()| sync_folder(path)).map_err(|error| {
        // The message is about the first error; what is left of the partial file does no harm.
        let _ = std::fs::remove_file(&part);
        RunError::write(path, error)
    })
}

/// Makes a new name in a folder durable, where the system can.
pub(super) fn sync_folder(path: &Path) {
    // a system that has no such thing keeps names by itself
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let text = regular::read(path, regular::RECORD).map_err(|error| RunError::read(path, error))?;
    serde_json::from_slice(&text).map_err(|error| RunError::read(path, error))
}
