//! How to repeat a run, and how it ended.

use super::{RunError, Subjects};
use crate::scene::Integrator;
use crate::{clock, granular, precise, realtime};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    pub settings: SettingsCopy,
    /// What the scene reader and the model had to say.
    pub warnings: Vec<String>,
    /// Bodies, signals of the model, sources of events.
    pub subjects: Subjects,
    /// Hash of the final state, 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hash: Option<String>,
}

/// The settings of a run that its result depends on, by clock: what one has and the other has not tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingsCopy {
    /// Of the precise clock.
    Precise(PreciseCopy),
    /// Of the realtime clock.
    Realtime(RealtimeCopy),
    /// Of the granular clock.
    Granular(GranularCopy),
}

/// Settings of the precise clock. Numbers that are infinite in its settings are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PreciseCopy {
    /// Relative tolerance [-].
    pub tolerance: f64,
    /// Integrator by name; `auto` chooses for every island.
    pub integrator: String,
    /// Step of the fixed-step methods [s].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// Largest step [s].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_step: Option<f64>,
    /// Time between communication points [s].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_interval: Option<f64>,
    /// More times to record at [s].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub record_at: Vec<f64>,
}

/// Settings of the realtime clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealtimeCopy {
    /// Step [s].
    pub step: f64,
    /// Time between communication points [s].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_interval: Option<f64>,
    /// Friction bound.
    pub friction: realtime::FrictionBound,
    /// Solutions per step at most [-].
    pub passes: usize,
    /// Points per pair of shapes [-].
    pub points: usize,
    /// Solver.
    pub solver: realtime::Solve,
    /// Parts that only force elements join.
    #[serde(default)]
    pub coupled: realtime::Coupled,
    /// Small steps per step where partitions are swept [-].
    pub sweeps: usize,
    /// Whether partitions at rest are left alone.
    #[serde(default)]
    pub sleeping: bool,
}

/// Settings of the granular clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GranularCopy {
    /// Step [s]; the scene's if missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// Time between communication points [s].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_interval: Option<f64>,
    /// Time between snapshots of all grains [s].
    pub snapshot_interval: f64,
}

impl From<&clock::Settings> for SettingsCopy {
    fn from(settings: &clock::Settings) -> SettingsCopy {
        let finite = |x: f64| x.is_finite().then_some(x);
        match settings {
            clock::Settings::Precise(settings) => SettingsCopy::Precise(PreciseCopy {
                tolerance: settings.tolerance,
                integrator: settings.method.map_or("auto", |method| method.name()).to_owned(),
                step: settings.step,
                max_step: finite(settings.max_step),
                output_interval: finite(settings.output_interval),
                record_at: settings.record_at.clone(),
            }),
            clock::Settings::Granular(settings) => SettingsCopy::Granular(GranularCopy {
                step: settings.step,
                output_interval: finite(settings.output_interval),
                snapshot_interval: settings.snapshot_interval,
            }),
            clock::Settings::Realtime(settings) => SettingsCopy::Realtime(RealtimeCopy {
                step: settings.step,
                output_interval: finite(settings.output_interval),
                friction: settings.friction,
                passes: settings.passes,
                points: settings.points,
                solver: settings.solve,
                coupled: settings.coupled,
                sweeps: settings.sweeps,
                sleeping: settings.sleeping,
            }),
        }
    }
}

impl SettingsCopy {
    /// The settings to run again with; an error names what this program does not know.
    pub fn settings(&self) -> Result<clock::Settings, String> {
        match self {
            SettingsCopy::Precise(copy) => {
                let integrator = Integrator::from_name(&copy.integrator)
                    .ok_or_else(|| format!("its manifest names an unknown integrator `{}`", copy.integrator))?;
                Ok(clock::Settings::Precise(precise::Settings {
                    tolerance: copy.tolerance,
                    method: precise::method(integrator),
                    step: copy.step,
                    max_step: copy.max_step.unwrap_or(f64::INFINITY),
                    output_interval: copy.output_interval.unwrap_or(f64::INFINITY),
                    record_at: copy.record_at.clone(),
                    ..precise::Settings::default()
                }))
            }
            SettingsCopy::Granular(copy) => Ok(clock::Settings::Granular(granular::Settings {
                step: copy.step,
                output_interval: copy.output_interval.unwrap_or(f64::INFINITY),
                snapshot_interval: copy.snapshot_interval,
                record_at: Vec::new(),
                threads: 0,
            })),
            SettingsCopy::Realtime(copy) if !(copy.step > 0.0 && copy.step.is_finite()) => {
                Err(format!("its manifest has a step of {} s", copy.step))
            }
            SettingsCopy::Realtime(copy) => Ok(clock::Settings::Realtime(realtime::Settings {
                step: copy.step,
                output_interval: copy.output_interval.unwrap_or(f64::INFINITY),
                friction: copy.friction,
                passes: copy.passes,
                points: copy.points.clamp(1, 8),
                solve: copy.solver,
                coupled: copy.coupled,
                sweeps: copy.sweeps,
                sleeping: copy.sleeping,
                threads: 0,
            })),
        }
    }
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
    /// It has not ended, or was killed.
    Running,
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

/// Writes a JSON file in whole or not at all.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| RunError::write(path, error.into()))?;
    text.push(b'\n');
    let part = path.with_extension("part");
    let written = std::fs::write(&part, &text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        // The message is about the first error; what is left of the partial file does no harm.
        let _ = std::fs::remove_file(&part);
        RunError::write(path, error)
    })
}

pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let text = std::fs::read(path).map_err(|error| RunError::read(path, error))?;
    serde_json::from_slice(&text).map_err(|error| RunError::read(path, error))
}
