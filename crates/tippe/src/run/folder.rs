//! Reads a run folder.

use super::manifest::read_json;
use super::table::{Column, TableReader};
use super::writer::{CONTACT_VECTORS, Checkpoint, EventLine};
use super::{Account, Axis, Manifest, Quantity, Recording, Report, RunError, Wanted};
use crate::scene::Clock;
use crate::{BodyState, ContactSample, Event, Ledger, clock, granular, precise, realtime};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tippe_geometry::{Quat, Vec3};

/// A run folder opened for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// How it came about and ended.
    pub manifest: Manifest,
}

impl Run {
    /// Opens a run, whether it is complete, interrupted or still running.
    pub fn open(folder: &Path) -> Result<Run, RunError> {
        let manifest: Manifest = read_json(&folder.join("manifest.json"))?;
        if manifest.format != 1 {
            let reason = format!("format {} was written by a newer Tippe; this one reads format 1", manifest.format);
            return Err(RunError::read(&folder.join("manifest.json"), reason));
        }
        Ok(Run { folder: folder.to_owned(), manifest })
    }

    /// Summary, for a run that ended in good order.
    pub fn report(&self) -> Result<Report, RunError> {
        read_json(&self.folder.join("summary.json"))
    }

    /// Communication points [s].
    pub fn time(&self) -> Result<Vec<f64>, RunError> {
        self.signal("time")
    }

    /// One column of `signals.parquet` by name, for instance `ball.position.z` or `hinge.angle`; see [`Quantity::STORED`].
    pub fn signal(&self, name: &str) -> Result<Vec<f64>, RunError> {
        let path = self.folder.join("signals.parquet");
        real(&TableReader::open(&path)?, name, &path)
    }

    /// The event log.
    pub fn events(&self) -> Result<Vec<Event>, RunError> {
        let path = self.folder.join("events.jsonl");
        let text = std::fs::read_to_string(&path).map_err(|error| RunError::read(&path, error))?;
        let mut events = Vec::new();
        for (k, line) in text.lines().enumerate() {
            let line: EventLine<'_> = serde_json::from_str(line)
                .map_err(|error| RunError::read(&path, format!("line {}: {error}", k + 1)))?;
            let event = line.event.into_owned();
            if event.kind.is_of_contact() != event.contact.is_some() {
                let reason = format!("line {}: the event {} is not whole", k + 1, event.kind.name());
                return Err(RunError::read(&path, reason));
            }
            events.push(event);
        }
        Ok(events)
    }

    /// State stored in a checkpoint of this scene, for a run with this clock.
    pub fn checkpoint(path: &Path, scene_hash: &str, clock: Clock) -> Result<clock::State, RunError> {
        let head: Checkpoint<serde::de::IgnoredAny> = read_json(path)?;
        if head.scene_hash != scene_hash {
            return Err(RunError::read(path, "it belongs to another scene or another version of this one"));
        }
        if head.clock != clock.name() {
            let (own, asked) = (&head.clock, clock.name());
            let reason =
                format!("it is a state of the {own} clock, the run is {asked}. help: continue it with --clock {own}");
            return Err(RunError::read(path, reason));
        }
        Ok(match clock {
            Clock::Precise => clock::State::Precise(read_json::<Checkpoint<precise::State>>(path)?.state),
            Clock::Realtime => clock::State::Realtime(read_json::<Checkpoint<realtime::State>>(path)?.state),
            Clock::Granular => clock::State::Granular(read_json::<Checkpoint<granular::State>>(path)?.state),
        })
    }

    /// Loads the motions and signals that are wanted, and all else; see [`Recording::only`].
    pub fn recording(&self, wanted: Wanted) -> Result<Recording, RunError> {
        let mut recording = Recording::only(self.manifest.subjects.clone(), wanted);
        let path = self.folder.join("signals.parquet");
        let table = TableReader::open(&path)?;
        recording.time = real(&table, "time", &path)?;
        for (body, subject) in self.manifest.subjects.bodies.iter().enumerate() {
            if recording.has(body) {
                let column = |quantity: Quantity| real(&table, &format!("{}.{}", subject.name, quantity.name()), &path);
                recording.motion[body] = motion(column)?;
            }
        }
        for (k, signal) in self.manifest.subjects.signals.iter().enumerate() {
            if recording.has_signal(k) {
                recording.signals[k] = real(&table, &signal.name, &path)?;
            }
        }
        self.load_energy(&mut recording)?;
        self.load_contacts(&mut recording)?;
        recording.events = self.events()?;
        Ok(recording)
    }

    fn load_energy(&self, recording: &mut Recording) -> Result<(), RunError> {
        let path = self.folder.join("energy.parquet");
        let table = TableReader::open(&path)?;
        let column = |name: &str| real(&table, name, &path);
        let [kinetic, potential, elastic, work] =
            [column("kinetic")?, column("potential")?, column("elastic")?, column("work")?];
        let [contact_damping, sliding, spin, rolling] =
            [column("contact_damping")?, column("sliding")?, column("spin")?, column("rolling")?];
        // A folder from before there were joints, or a fixed step, has no such column.
        let later = |account: Account| match table.names.iter().any(|name| name == account.name()) {
            true => column(account.name()),
            false => Ok(vec![0.0; kinetic.len()]),
        };
        let [damping, joint_friction, fastening, integration] = [
            later(Account::Damping)?,
            later(Account::JointFriction)?,
            later(Account::Fastening)?,
            later(Account::Integration)?,
        ];
        let initial = column("initial")?;
        let momentum = [column("momentum.x")?, column("momentum.y")?, column("momentum.z")?];
        // A killed run may have one row group more in one table than in another.
        let rows = recording.time.len().min(initial.len());
        recording.time.truncate(rows);
        recording.motion.iter_mut().for_each(|motion| motion.truncate(rows));
        recording.signals.iter_mut().for_each(|values| values.truncate(rows));
        for i in 0..rows {
            recording.energy.push(Ledger {
                kinetic: kinetic[i],
                potential: potential[i],
                elastic: elastic[i],
                contact_damping: contact_damping[i],
                sliding: sliding[i],
                spin: spin[i],
                rolling: rolling[i],
                damping: damping[i],
                joint_friction: joint_friction[i],
                fastening: fastening[i],
                integration: integration[i],
                work: work[i],
                initial: initial[i],
                ..Ledger::default()
            });
            recording.momentum.push(Vec3::new(momentum[0][i], momentum[1][i], momentum[2][i]));
        }
        Ok(())
    }

    /// Indices of the bodies named in a column of `contacts.parquet`.
    fn bodies(&self, column: &Column) -> Result<Vec<usize>, RunError> {
        let path = self.folder.join("contacts.parquet");
        let Column::Text(names) = column else { return Err(RunError::read(&path, "a body is not a name")) };
        let subjects = self.manifest.subjects.bodies.iter().enumerate();
        let index: BTreeMap<&str, usize> = subjects.map(|(k, subject)| (subject.name.as_str(), k)).collect();
        let find = |name: &String| index.get(name.as_str()).copied();
        names
            .iter()
            .map(|n| find(n).ok_or_else(|| RunError::read(&path, format!("there is no body \"{n}\""))))
            .collect()
    }

    fn load_contacts(&self, recording: &mut Recording) -> Result<(), RunError> {
        let path = self.folder.join("contacts.parquet");
        let table = TableReader::open(&path)?;
        let column = |name: &str| real(&table, name, &path);
        let [time, depth, closing_speed] = [column("time")?, column("depth")?, column("closing_speed")?];
        let mut vectors = Vec::new();
        for name in CONTACT_VECTORS {
            let [x, y, z] = Axis::ALL.map(|axis| column(&format!("{name}.{}", axis.name())));
            let (x, y, z) = (x?, y?, z?);
            vectors.push((0..x.len()).map(|i| Vec3::new(x[i], y[i], z[i])).collect::<Vec<Vec3>>());
        }
        let Column::Flag(slipping) = table.column("slipping")? else {
            return Err(RunError::read(&path, "column slipping has the wrong type"));
        };
        let [element1, element2] = [table.column("element1")?, table.column("element2")?];
        let (Column::Index(element1), Column::Index(element2)) = (element1, element2) else {
            return Err(RunError::read(&path, "columns element1 and element2 have the wrong type"));
        };
        let pair = |row: usize| (element1[row] as u32, element2[row] as u32);
        let [body1, body2] = [self.bodies(&table.column("body1")?)?, self.bodies(&table.column("body2")?)?];
        // Rows follow the communication points; where two share one time, a pair that comes again starts the second.
        let mut row = 0;
        for i in 0..recording.time.len() {
            recording.contact_start.push(recording.contacts.len());
            let mut last_pair = None;
            while row < time.len() && time[row] == recording.time[i] && last_pair.is_none_or(|last| pair(row) > last) {
                last_pair = Some(pair(row));
                recording.contacts.push(ContactSample {
                    pair: pair(row),
                    body1: body1[row],
                    body2: body2[row],
                    position: vectors[0][row],
                    normal: vectors[1][row],
                    depth: depth[row],
                    closing_speed: closing_speed[row],
                    force: vectors[2][row],
                    torque: vectors[3][row],
                    slipping: slipping[row],
                });
                row += 1;
            }
        }
        Ok(())
    }
}

fn real(table: &TableReader, name: &str, path: &Path) -> Result<Vec<f64>, RunError> {
    match table.column(name)? {
        Column::Real(values) => Ok(values),
        _ => Err(RunError::read(path, format!("column \"{name}\" does not hold numbers"))),
    }
}

/// States of one body from its thirteen columns.
fn motion(column: impl Fn(Quantity) -> Result<Vec<f64>, RunError>) -> Result<Vec<BodyState>, RunError> {
    let columns = Quantity::STORED.iter().map(|&quantity| column(quantity)).collect::<Result<Vec<_>, _>>()?;
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let vector = |k: usize, i: usize| Vec3::new(columns[k][i], columns[k + 1][i], columns[k + 2][i]);
    Ok((0..rows)
        .map(|i| BodyState {
            position: vector(0, i),
            orientation: Quat::from_xyzw(columns[4][i], columns[5][i], columns[6][i], columns[3][i]),
            velocity: vector(7, i),
            angular_velocity: vector(10, i),
        })
        .collect())
}
