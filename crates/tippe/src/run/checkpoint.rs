//! Checkpoints: a state, its clock, the scene it belongs to, and the number of the layout all of it has.

use super::RunError;
use super::manifest::{read_json, write_json};
use super::resolved::Resolved;
use super::writer::Reached;
use crate::scene::{Clock, Scene};
use crate::{clock, granular, precise, realtime};
use serde::{Deserialize, Serialize};
use std::path::Path;
use thiserror::Error;

/// Number of the layout of checkpoints. It goes up with every change of what a state of any clock holds, or of what a part of it
/// means: a state read wrongly would go on wrongly.
pub const CHECKPOINT_FORMAT: u32 = 10;

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
    /// How far the files beside it were; none for a state that was never in a folder.
    #[serde(default)]
    reached: Option<Reached>,
    state: S,
}

/// What is read of a checkpoint before its state is.
#[derive(Deserialize)]
struct Head {
    format: Option<u64>,
    scene_hash: String,
    clock: Option<String>,
    reached: Option<Reached>,
}

/// Writes a state of a scene.
pub(super) fn write(path: &Path, scene_hash: &str, state: &clock::State, reached: Reached) -> Result<(), RunError> {
    let reached = Some(reached);
    let (format, scene_hash, clock) = (CHECKPOINT_FORMAT, scene_hash.to_owned(), state.clock().name().to_owned());
    match state {
        clock::State::Precise(state) => write_json(path, &Checkpoint { format, scene_hash, clock, reached, state }),
        clock::State::Realtime(state) => write_json(path, &Checkpoint { format, scene_hash, clock, reached, state }),
        clock::State::Granular(state) => write_json(path, &Checkpoint { format, scene_hash, clock, reached, state }),
    }
}

/// How far the files beside a checkpoint were when it was written.
pub(super) fn reached(path: &Path) -> Result<Reached, RunError> {
    let head: Head = read_json(path)?;
    let reason = "it does not say how far its run was. help: continue it into another folder with --out";
    head.reached.ok_or_else(|| RunError::read(path, reason))
}

/// Reads a state of this scene and clock.
pub(super) fn read(path: &Path, scene: &Scene, clock: Clock) -> Result<clock::State, RunError> {
    let head: Head = read_json(path)?;
    OtherLayout::refuse(head.format).map_err(|layout| RunError::Layout { path: path.to_owned(), layout })?;
    let resolved = Resolved::of(scene);
    if head.scene_hash != resolved.hash {
        let beside = "nothing beside it says which. help: keep the scene.json of its folder beside it";
        let difference = resolved.difference(path, &head.scene_hash);
        let difference = difference.unwrap_or_else(|| beside.to_owned());
        return Err(RunError::OtherScene { path: path.to_owned(), difference });
    }
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
