//! The tables of a run folder, opened once and read in parts: a run larger than memory is still a run.

use super::table::{Column, TableReader};
use super::writer::CONTACT_VECTORS;
use super::{Axis, Quantity, Recording, Run, RunError, Status, Subjects, Wanted, journal};
use crate::cause::{Accounts, Cause};
use crate::{BodyState, ContactSample, Ledger};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use tippe_geometry::{Quat, Vec3};

/// Tables of a run, opened for reading in parts.
pub struct RunTables {
    subjects: Subjects,
    folder: PathBuf,
    signals: TableReader,
    energy: TableReader,
    contacts: TableReader,
    /// Index of every body by name.
    bodies: BTreeMap<String, usize>,
    /// Time of the first row of each row group of contacts [s].
    contact_times: OnceLock<Vec<f64>>,
}

impl RunTables {
    /// Opens the three tables.
    pub fn open(run: &Run) -> Result<RunTables, RunError> {
        // a run that ended in good order has no journal
        let mut tails = match run.manifest.status {
            Status::Complete | Status::Interrupted | Status::Failed => Default::default(),
            Status::Running | Status::Killed | Status::OutOfSpace => {
                journal::read(&run.folder).map(|tails| tails.map(Some)).unwrap_or_default()
            }
        };
        let mut open = |k: usize, name: &str| TableReader::open(&run.folder.join(name), tails[k].take());
        let subjects = run.manifest.subjects.clone();
        let bodies = subjects.bodies.iter().enumerate().map(|(k, subject)| (subject.name.clone(), k)).collect();
        Ok(RunTables {
            signals: open(0, "signals.parquet")?,
            energy: open(1, "energy.parquet")?,
            contacts: open(2, "contacts.parquet")?,
            folder: run.folder.clone(),
            subjects,
            bodies,
            contact_times: OnceLock::new(),
        })
    }

    /// Communication points in the tables; a killed run may have one row group more in one table than in another.
    pub fn rows(&self) -> usize {
        self.signals.rows().min(self.energy.rows())
    }

    /// True if `signals.parquet` has a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.signals.has(name)
    }

    /// One column of `signals.parquet` or, after `energy.`, of `energy.parquet`, in these rows.
    pub fn signal(&self, name: &str, rows: Range<usize>) -> Result<Vec<f64>, RunError> {
        match name.strip_prefix("energy.") {
            Some(account) if !self.has(name) => self.real(&self.energy, account, rows),
            _ => self.real(&self.signals, name, rows),
        }
    }

    /// The motions and signals that are wanted, and all else, in these rows. Events are in a file of their own
    /// ([`Run::events`]).
    pub fn recording(&self, rows: Range<usize>, wanted: Wanted) -> Result<Recording, RunError> {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        let mut recording = Recording::only(self.subjects.clone(), wanted);
        recording.time = self.real(&self.signals, "time", rows.clone())?;
        for (body, subject) in self.subjects.bodies.iter().enumerate() {
            if recording.has(body) {
                let name = |quantity: Quantity| format!("{}.{}", subject.name, quantity.name());
                recording.motion[body] = motion(|quantity| self.real(&self.signals, &name(quantity), rows.clone()))?;
            }
        }
        for (k, signal) in self.subjects.signals.iter().enumerate() {
            if recording.has_signal(k) {
                recording.signals[k] = self.real(&self.signals, &signal.name, rows.clone())?;
            }
        }
        self.load_energy(&mut recording, rows.clone())?;
        self.load_contacts(&mut recording, rows.start)?;
        Ok(recording)
    }

    fn real(&self, table: &TableReader, name: &str, rows: Range<usize>) -> Result<Vec<f64>, RunError> {
        match table.part(name, rows)? {
            Column::Real(values) => Ok(values),
            _ => Err(RunError::read(&self.folder, format!("column \"{name}\" does not hold numbers"))),
        }
    }

    fn load_energy(&self, recording: &mut Recording, rows: Range<usize>) -> Result<(), RunError> {
        let n = rows.len();
        let column = |name: &str| self.real(&self.energy, name, rows.clone());
        let [kinetic, potential, elastic, initial] =
            [column("kinetic")?, column("potential")?, column("elastic")?, column("initial")?];
        // a folder from before a cause was known has no such column
        let known = Cause::ALL.into_iter().filter(|cause| self.energy.has(cause.name()));
        let causes = known.map(|cause| Ok((cause, column(cause.name())?))).collect::<Result<Vec<_>, RunError>>()?;
        let momentum = [column("momentum.x")?, column("momentum.y")?, column("momentum.z")?];
        for i in 0..n {
            recording.energy.push(Ledger {
                kinetic: kinetic[i],
                potential: potential[i],
                elastic: elastic[i],
                accounts: Accounts::of(causes.iter().map(|(cause, energies)| (*cause, energies[i]))),
                initial: initial[i],
                ..Ledger::default()
            });
            recording.momentum.push(Vec3::new(momentum[0][i], momentum[1][i], momentum[2][i]));
        }
        Ok(())
    }

    /// Time of the first row of each row group of contacts [s].
    fn contact_times(&self) -> Result<&[f64], RunError> {
        if self.contact_times.get().is_none() {
            let starts = self.contacts.group_starts();
            let groups = starts.windows(2).filter(|ends| ends[0] < ends[1]);
            let mut times = Vec::with_capacity(starts.len());
            for ends in groups {
                times.extend(self.real(&self.contacts, "time", ends[0]..ends[0] + 1)?);
            }
            let _ = self.contact_times.set(times);
        }
        Ok(self.contact_times.get().map_or(&[], Vec::as_slice))
    }

    /// Rows of contacts with times from `first` to `last` [s], and those times.
    fn contact_rows(&self, first: f64, last: f64) -> Result<(Range<usize>, Vec<f64>), RunError> {
        let times = self.contact_times()?;
        let mut starts = self.contacts.group_starts();
        starts.dedup();
        let from = times.partition_point(|&t| t < first).saturating_sub(1);
        let to = times.partition_point(|&t| t <= last);
        let (Some(&from), Some(&to)) = (starts.get(from), starts.get(to)) else { return Ok((0..0, Vec::new())) };
        let mut times = self.real(&self.contacts, "time", from..to.max(from))?;
        let begin = times.partition_point(|&t| t < first);
        let end = times.partition_point(|&t| t <= last);
        times.truncate(end);
        times.drain(..begin);
        Ok((from + begin..from + end, times))
    }

    fn load_contacts(&self, recording: &mut Recording, start: usize) -> Result<(), RunError> {
        let (Some(&first), Some(&last)) = (recording.time.first(), recording.time.last()) else { return Ok(()) };
        let path = self.folder.join("contacts.parquet");
        let (rows, time) = self.contact_rows(first, last)?;
        let column = |name: &str| self.real(&self.contacts, name, rows.clone());
        let [depth, closing_speed] = [column("depth")?, column("closing_speed")?];
        let mut vectors = Vec::new();
        for name in CONTACT_VECTORS {
            let [x, y, z] = Axis::ALL.map(|axis| column(&format!("{name}.{}", axis.name())));
            let (x, y, z) = (x?, y?, z?);
            vectors.push((0..x.len()).map(|i| Vec3::new(x[i], y[i], z[i])).collect::<Vec<Vec3>>());
        }
        let Column::Flag(slipping) = self.contacts.part("slipping", rows.clone())? else {
            return Err(RunError::read(&path, "column slipping has the wrong type"));
        };
        let [element1, element2] = ["element1", "element2"].map(|name| self.contacts.part(name, rows.clone()));
        let (Column::Index(element1), Column::Index(element2)) = (element1?, element2?) else {
            return Err(RunError::read(&path, "columns element1 and element2 have the wrong type"));
        };
        let pair = |row: usize| (element1[row] as u32, element2[row] as u32);
        let [body1, body2] = ["body1", "body2"].map(|name| self.bodies(&self.contacts.part(name, rows.clone())?));
        let (body1, body2) = (body1?, body2?);

        // Rows follow the communication points; where several share one time, a pair that comes again starts the next. The
        // first of those that share the time of the first row may be before it.
        let before = self.real(&self.signals, "time", start.saturating_sub(TWINS)..start)?;
        let twins = before.iter().rev().take_while(|&&t| t == first).count();
        let mut row = 0;
        for i in 0..twins + recording.time.len() {
            let t = if i < twins { first } else { recording.time[i - twins] };
            if i >= twins {
                recording.contact_start.push(recording.contacts.len());
            }
            let mut last_pair = None;
            while row < time.len() && time[row] == t && last_pair.is_none_or(|last| pair(row) > last) {
                last_pair = Some(pair(row));
                if i >= twins {
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
                }
                row += 1;
            }
        }
        Ok(())
    }

    /// Indices of the bodies named in a column of `contacts.parquet`.
    fn bodies(&self, column: &Column) -> Result<Vec<usize>, RunError> {
        let path = self.folder.join("contacts.parquet");
        let Column::Text(names) = column else { return Err(RunError::read(&path, "a body is not a name")) };
        let find = |name: &String| self.bodies.get(name.as_str()).copied();
        names
            .iter()
            .map(|n| find(n).ok_or_else(|| RunError::read(&path, format!("there is no body \"{n}\""))))
            .collect()
    }
}

/// Communication points that may share one time: before and after an event, and after what it set off [-].
const TWINS: usize = 64;

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
