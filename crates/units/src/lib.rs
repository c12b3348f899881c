//! Functional mock-up units of others: archives and descriptions are read with caps, their library runs in a process of its own that may
//! hang, crash or leave.
//!
//! Everything but `worker.rs`, which calls the functions of a foreign library, and `shared.rs`, memory of two processes, is safe Rust.

pub mod archive;
pub mod description;
pub mod drive;
pub mod guided;
pub mod process;
pub mod shared;
pub mod wire;
pub mod worker;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which standard a unit follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// FMI 2.0.
    #[serde(rename = "2.0")]
    Two,
    /// FMI 3.0.
    #[serde(rename = "3.0")]
    Three,
}

/// Name of this platform in FMI 2 and 3, and how libraries end there; none where no unit can be made.
pub fn platform() -> Option<[&'static str; 3]> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some(["linux64", "x86_64-linux", "so"]),
        ("linux", "aarch64") => Some(["aarch64-linux", "aarch64-linux", "so"]),
        ("macos", "x86_64") => Some(["darwin64", "x86_64-darwin", "dylib"]),
        ("macos", "aarch64") => Some(["darwin64", "aarch64-darwin", "dylib"]),
        ("windows", "x86_64") => Some(["win64", "x86_64-windows", "dll"]),
        _ => None,
    }
}

/// Why a unit of others is no use.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ImportError {
    /// The archive is refused.
    #[error("{unit}: {error}")]
    Archive {
        /// File of the unit.
        unit: String,
        /// Why.
        error: crate::archive::ArchiveError,
    },
    /// The description cannot be read.
    #[error("{unit}: modelDescription.xml: {what}")]
    Description {
        /// File of the unit.
        unit: String,
        /// What is wrong.
        what: String,
    },
    /// The unit is for other computers.
    #[error(
        "{unit}: there is no library for this platform ({wanted}), only for {found}. help: ask for a unit that was built for it"
    )]
    Platform {
        /// File of the unit.
        unit: String,
        /// Folder that is missing.
        wanted: String,
        /// Those there are.
        found: String,
    },
    /// The unit does not offer what is asked.
    #[error("{unit}: {what}")]
    Wish {
        /// File of the unit.
        unit: String,
        /// What is not there.
        what: String,
    },
    /// A call failed, hung or ended the process.
    #[error("{unit}: at t = {time} s the call {call} {what}")]
    Call {
        /// File of the unit.
        unit: String,
        /// Time the unit had come to [s].
        time: f64,
        /// Name of the function.
        call: String,
        /// What happened.
        what: String,
    },
}
