//! The web viewer: a page that plays runs, recorded or live, and the server on this machine that feeds it.
//!
//! ```text
//! run folder --RunTables--> Recorded --+
//!                                      +--> Stage --HTTP, WebSocket--> page (TypeScript, three.js, uPlot)
//! simulation --Observe----> Live ------+
//! ```
//!
//! One protocol serves both: a description in JSON ([`describe`]) of bodies, shapes, joints and signals, then blocks of
//! binary rows ([`block`]). A recorded run gives any range of rows, a live one the latest row, a standalone page has all
//! rows inside it ([`standalone`]).
#![allow(non_snake_case)] // matrices and poses are capital letters, as in CONVENTIONS.md

pub mod block;
pub mod describe;
pub mod drawing;
mod grains;
mod ground;
mod lines;
mod live;
mod page;
mod recorded;
mod server;
mod standalone;
mod surface;

pub use live::{Live, LiveInputs, LiveObserver};
pub use page::page;
pub use recorded::Recorded;
pub use server::Viewer;
pub use standalone::standalone;
pub use surface::{Coloured, Surface};

use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with the viewer.
#[derive(Debug, Error)]
pub enum ViewerError {
    /// The page was not built.
    #[error(
        "this tippe was built without the viewer's page: {0}. help: install Node.js 18 or newer (https://nodejs.org), make sure npm can \
         reach its registry once, then build again with `cargo build --release`"
    )]
    NoPage(&'static str),
    /// The port that was asked for is taken, or no port is free.
    #[error(
        "cannot serve on 127.0.0.1:{port}: {source}. help: choose another port with --port, or leave the option out"
    )]
    Port {
        /// Port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system gave no random numbers or no thread.
    #[error("cannot start the viewer: {0}")]
    Start(String),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] tippe::run::RunError),
    /// The scene inside a run is not one that this program reads.
    #[error("{}: the scene in its manifest cannot be read: {reason}", .folder.display())]
    Scene {
        /// Folder of the run.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The tables of a run do not fit the scene it was made from.
    #[error("{}: {reason}", .folder.display())]
    Mismatch {
        /// Folder of the run.
        folder: PathBuf,
        /// What does not fit.
        reason: String,
    },
}
