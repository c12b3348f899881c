//! Units of others: their description is read with caps, their library runs in a process of its own that may hang, crash or leave.

pub mod description;
pub mod drive;
pub mod process;
pub mod wire;
pub mod worker;

use thiserror::Error;

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
