//! Checkpoints: a state, its clock, the scene it belongs to, and the number of the layout all of it has.

use super::RunError;
use super::manifest::{read_json, write_json};
use crate::scene::Clock;
use crate::{clock, granular, precise, realtime};
use serde::{Deserialize, Serialize};
use std::path::Path;
use thiserror::Error;

/// Number of the layout of checkpoints. It goes up with every change of what a state of any clock holds, or of what a part of it
/// means: a state read wrongly would go on wrongly.
pub const CHECKPOINT_FORMAT: u32 = 4;

/// A checkpoint was written by a version that lays states out otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "its states have layout {found}, those of this version layout {own}. help: continue it with the version that wrote it, or run the \
     scene from its start",
    own = CHECKPOINT_FORMAT
)]
pub struct OtherLayout {
    /// Layout found; 0 where none is named.
    pub found: u64,
}

impl OtherLayout {
    /// An error unless this layout, as a checkpoint names it, is our own.
    pub fn refuse(found: Option<u64>) -> Result<(), OtherLayout> {
        let found = found.unwrap_or(0);
        if found == u64::from(CHECKPOINT_FORMAT) { Ok(()) } else { Err(OtherLayout { found }) }
    }
}

/// A checkpoint file.
#[derive(Serialize, Deserialize)]
struct Checkpoint<S> {
    format: u32,
    scene_hash: String,
    clock: String,
    state: S,
}

/// What is read of a checkpoint before its state is.
#[derive(Deserialize)]
struct Head {
    format: Option<u64>,
    scene_hash: String,
    clock: Option<String>,
}

/// Writes a state of a scene.
pub(super) fn write(path: &Path, scene_hash: &str, state: &clock::State) -> Result<(), RunError> {
    let (format, scene_hash, clock) = (CHECKPOINT_FORMAT, scene_hash.to_owned(), state.clock().name().to_owned());
    match state {
        clock::State::Precise(state) => write_json(path, &Checkpoint { format, scene_hash, clock, state }),
        clock::State::Realtime(state) => write_json(path, &Checkpoint { format, scene_hash, clock, state }),
        clock::State::Granular(state) => write_json(path, &Checkpoint { format, scene_hash, clock, state }),
    }
}

/// Reads a state of this scene and clock.
pub(super) fn read(path: &Path, scene_hash: &str, clock: Clock) -> Result<clock::State, RunError> {
    let head: Head = read_json(path)?;
    if head.scene_hash != scene_hash {
        return Err(RunError::read(path, "it belongs to another scene or another version of this one"));
    }
    OtherLayout::refuse(head.format).map_err(|layout| RunError::Layout { path: path.to_owned(), layout })?;
    let own = head.clock.unwrap_or_default();
    if own != clock.name() {
        let asked = clock.name();
        let reason =
            format!("it is a state of the {own} clock, the run is {asked}. help: continue it with --clock {own}");
        return Err(RunError::read(path, reason));
    }
    let state = match clock {
        Clock::Precise => clock::State::Precise(read_json::<Checkpoint<precise::State>>(path)?.state),
        Clock::Realtime => clock::State::Realtime(read_json::<Checkpoint<realtime::State>>(path)?.state),
        Clock::Granular => clock::State::Granular(read_json::<Checkpoint<granular::State>>(path)?.state),
    };
    if let Some(Err(error)) = state.grains().map(tippe_granular::Grains::validate) {
        return Err(RunError::read(path, error));
    }
    Ok(state)
}
