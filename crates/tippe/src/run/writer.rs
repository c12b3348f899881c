//! Writes a run folder while the simulation runs.

use super::claim::Claim;
use super::journal::{self, Journal};
use super::manifest::{read_json, write_json};
use super::patches::PatchLog;
use super::reach::ReachLog;
use super::resolved::{self, Resolved};
use super::table::{Cell, Column, LineFile, TableWriter, csv_line};
use super::{Account, Axis, Manifest, Quantity, Report, Run, RunError, Status, Subjects, checkpoint};
use crate::scene::Scene;
use crate::{Event, Model, Observe, Sample, clock};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Kept free for the manifest and the summary when the disk fills up [bytes].
const RESERVE: usize = 64 << 10;
/// What was recorded is made durable after this much wall time.
const SYNC: Duration = Duration::from_secs(5);
pub(super) const RESERVE_FILE: &str = ".reserve";
pub(super) const SERIES_FILE: &str = "grains.vtk.series";

/// How far the files of a run are when a checkpoint is written: rows of tables, lines of the others, snapshots of grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reached {
    signals: usize,
    energy: usize,
    contacts: usize,
    events: u64,
    #[serde(default)]
    inputs: Option<u64>,
    #[serde(default)]
    patches: Option<u64>,
    #[serde(default)]
    reaches: Option<u64>,
    #[serde(default)]
    snapshots: usize,
}

/// Observer that writes a run folder. What it was shown is durable within seconds, and at every checkpoint. The first error stops the run (`progress` answers false) and is told by
/// [`RunWriter::finish`].
pub struct RunWriter {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) inputs: Option<LineFile>,
    signals: TableWriter,
    energy: TableWriter,
    contacts: TableWriter,
    events: EventLog,
    patches: Option<PatchLog>,
    reaches: Option<ReachLog>,
    /// The rows that no row group has yet.
    journal: Journal,
    /// When all was last made durable.
    synced: Instant,
    /// Hash of the scene as it was resolved, once a checkpoint needed it.
    scene_hash: Option<String>,
    /// Nobody else writes here.
    _claim: Claim,
    /// Snapshots of the grains, in order.
    snapshots: Vec<Snapshot>,
    /// Whether tables and grains are written as CSV too.
    csv: bool,
    error: Option<RunError>,
}

/// One line of `events.jsonl`: an event with names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EventLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) bodies: Option<[Cow<'a, str>; 2]>,
    #[serde(flatten)]
    pub(super) event: Cow<'a, Event>,
}

impl RunWriter {
    /// Begins a run in an empty folder; with `csv` every table is written twice.
    pub fn create(claim: Claim, manifest: Manifest, csv: bool) -> Result<RunWriter, RunError> {
        let folder = claim.folder();
        write_reserve(folder)?;
        let manifest = Manifest { status: Status::Running, ..manifest };
        write_json(&folder.join("manifest.json"), &manifest)?;
        let table = |name: &str, schema| TableWriter::create(&folder.join(name), schema, csv);
        Ok(RunWriter {
            signals: table("signals.parquet", signals_schema(&manifest.subjects))?,
            energy: table("energy.parquet", energy_schema())?,
            contacts: table("contacts.parquet", contacts_schema())?,
            events: EventLog::create(folder, csv)?,
            folder: folder.to_owned(),
            inputs: None,
            patches: None,
            reaches: None,
            journal: Journal::new(folder),
            synced: Instant::now(),
            scene_hash: None,
            snapshots: Vec::new(),
            csv,
            manifest,
            error: None,
            _claim: claim,
        })
    }

    /// Continues the run in a folder from one of its checkpoints. What it has up to there stays, what follows is written anew;
    /// `manifest` is that of the new part, whose end counts. With other settings than before it would be two runs in one, and is refused.
    pub fn resume(
        claim: Claim,
        manifest: &Manifest,
        checkpoint: &Path,
        model: &Model,
        csv: bool,
    ) -> Result<RunWriter, RunError> {
        let folder = claim.folder().to_owned();
        let run = Run::open_as_it_is(&folder)?;
        let reached = checkpoint::reached(checkpoint)?;
        let other = resolved::settings_difference(&run.manifest.settings, &manifest.settings);
        if run.manifest.clock != manifest.clock || !other.is_empty() {
            let text = if other.is_empty() {
                format!("clock is {}, was {}", manifest.clock, run.manifest.clock)
            } else {
                other
            };
            return Err(RunError::OtherSettings { folder, difference: text });
        }
        let has_csv = folder.join("signals.csv").exists();
        if csv && !has_csv {
            let reason =
                "the run was begun without CSV tables. help: leave out --csv, or choose another folder with --out";
            return Err(RunError::read(&folder.join("signals.csv"), reason));
        }
        let subjects = &run.manifest.subjects;
        let mut tails = journal::read(&folder).map(|tails| tails.map(Some)).unwrap_or_default();
        let mut table = |k: usize, name: &str, schema: &[(String, Column)], rows| {
            TableWriter::resume(&folder.join(name), schema, has_csv, tails[k].take(), rows)
        };
        let mut signals = table(0, "signals.parquet", &signals_schema(subjects), reached.signals)?;
        let mut energy = table(1, "energy.parquet", &energy_schema(), reached.energy)?;
        let mut contacts = table(2, "contacts.parquet", &contacts_schema(), reached.contacts)?;
        // from here on the folder is that of a run that goes on
        let (failure, hash, status) = (None, None, Status::Running);
        let resumed = Manifest { failure, hash, status, until: manifest.until, ..run.manifest.clone() };
        write_json(&folder.join("manifest.json"), &resumed)?;
        let mut journal = Journal::new(&folder);
        journal.sync([&mut signals, &mut energy, &mut contacts])?;
        [&mut signals, &mut energy, &mut contacts].into_iter().try_for_each(TableWriter::settle)?;
        let lines = |name: &str, lines: Option<u64>| match lines {
            Some(lines) => LineFile::resume(&folder.join(name), lines).map(Some),
            // what came after the checkpoint begins anew with its first line
            None => remove(&folder.join(name)).map(|()| None),
        };
        let series: Series<'static> = match reached.snapshots {
            0 => Series::default(),
            _ => read_json(&folder.join(SERIES_FILE))?,
        };
        let mut snapshots = series.files.into_owned();
        snapshots.truncate(reached.snapshots);
        remove(&folder.join("summary.json"))?;
        write_reserve(&folder)?;
        Ok(RunWriter {
            signals,
            energy,
            contacts,
            events: EventLog::resume(&folder, has_csv, reached.events)?,
            inputs: lines(super::inputs::FILE, reached.inputs)?,
            patches: lines(super::patches::FILE, reached.patches)?.map(|file| PatchLog::new(file, model)),
            reaches: lines(super::reach::FILE, reached.reaches)?.map(|file| ReachLog::new(file, model)),
            folder,
            journal,
            synced: Instant::now(),
            scene_hash: None,
            snapshots,
            csv: has_csv,
            manifest: resumed,
            error: None,
            _claim: claim,
        })
    }

    /// Where it writes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// From now on also writes the polygons over which surfaces of this model touch, to `patches.jsonl`.
    pub fn record_patches(&mut self, model: &Model) -> Result<(), RunError> {
        if self.patches.is_none() {
            self.patches = Some(PatchLog::new(LineFile::create(&self.folder.join(super::patches::FILE))?, model));
        }
        Ok(())
    }

    /// From now on also writes the boxes that bodies of this model do not leave, to `reach.jsonl`; the precise clock has them.
    pub fn record_reach(&mut self, model: &Model) -> Result<(), RunError> {
        if self.reaches.is_none() {
            self.reaches = Some(ReachLog::new(LineFile::create(&self.folder.join(super::reach::FILE))?, model));
        }
        Ok(())
    }

    /// The first thing that could not be written.
    pub fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// Writes a state of this scene from which the run can be continued at `time` [s]; all that was recorded until then is durable
    /// before it is.
    pub fn checkpoint(&mut self, scene: &Scene, time: f64, state: &clock::State) -> Result<PathBuf, RunError> {
        self.sync()?;
        let hash = match &self.scene_hash {
            Some(hash) => hash,
            None => {
                let resolved = Resolved::of(scene);
                resolved.write(&self.folder)?;
                self.scene_hash.insert(resolved.hash)
            }
        };
        let path = self.folder.join(format!("checkpoint-{time:.9}.json"));
        let reached = Reached {
            signals: self.signals.all_rows(),
            energy: self.energy.all_rows(),
            contacts: self.contacts.all_rows(),
            events: self.events.json.lines,
            inputs: self.inputs.as_ref().map(|file| file.lines),
            patches: self.patches.as_ref().map(|log| log.file.lines),
            reaches: self.reaches.as_ref().map(|log| log.file.lines),
            snapshots: self.snapshots.len(),
        };
        checkpoint::write(&path, hash, state, reached)?;
        Ok(path)
    }

    /// Makes durable what was recorded so far.
    pub fn sync(&mut self) -> Result<(), RunError> {
        self.synced = Instant::now();
        self.sync_lines()?;
        self.journal.sync([&mut self.signals, &mut self.energy, &mut self.contacts])
    }

    fn sync_lines(&mut self) -> Result<(), RunError> {
        self.events.sync()?;
        let logs = [
            self.inputs.as_mut(),
            self.patches.as_mut().map(|log| &mut log.file),
            self.reaches.as_mut().map(|log| &mut log.file),
        ];
        logs.into_iter().flatten().try_for_each(LineFile::sync)?;
        [&mut self.signals, &mut self.energy, &mut self.contacts].into_iter().try_for_each(TableWriter::sync_csv)
    }

    /// Writes what is still in memory, the summary and the manifest; the folder is whole after this, whatever happened.
    pub fn finish(
        mut self,
        status: Status,
        failure: Option<String>,
        report: Option<&Report>,
    ) -> Result<Manifest, RunError> {
        // A reserve that cannot be removed costs 64 KiB and nothing else.
        let _ = std::fs::remove_file(self.folder.join(RESERVE_FILE));
        for table in [&mut self.signals, &mut self.energy, &mut self.contacts] {
            if let Err(error) = table.flush().and_then(|()| table.sync()) {
                self.error.get_or_insert(error);
            }
        }
        if let Err(error) = self.sync_lines() {
            self.error.get_or_insert(error);
        }
        self.manifest.status = status;
        self.manifest.failure = failure;
        self.manifest.hash = report.map(|report| report.hash.clone());
        if let Some(error) = &self.error {
            self.manifest.status = Status::OutOfSpace;
            self.manifest.failure = Some(error.to_string());
        }
        let summary = match report {
            Some(report) => write_json(&self.folder.join("summary.json"), report),
            None => Ok(()),
        };
        // the journal has rows that a full disk kept out of the tables
        let ended = if self.error.is_none() { self.journal.end() } else { Ok(()) };
        let manifest = write_json(&self.folder.join("manifest.json"), &self.manifest);
        match self.error {
            Some(error) => Err(error),
            None => summary.and(ended).and(manifest).map(|()| self.manifest),
        }
    }

    /// The grains at the end of a run, unless a snapshot has them.
    pub fn last_grains(&mut self, grains: &tippe_granular::Grains) {
        if self.snapshots.last().is_none_or(|snapshot| snapshot.time < grains.time) {
            self.grains(grains);
        }
    }

    /// The ground at the end of a run.
    pub fn last_ground(&mut self, ground: &tippe_soil::Ground) {
        if self.error.is_none() {
            self.error = super::ground::write(&self.folder, ground, self.csv).err();
        }
    }

    fn try_grains(&mut self, grains: &tippe_granular::Grains) -> Result<(), RunError> {
        let name = format!("grains-{:06}.vtk", self.snapshots.len());
        let path = self.folder.join(&name);
        std::fs::write(&path, grains.to_vtk()).map_err(|error| RunError::write(&path, error))?;
        if self.csv {
            let path = path.with_extension("csv");
            std::fs::write(&path, grains.to_csv()).map_err(|error| RunError::write(&path, error))?;
        }
        self.snapshots.push(Snapshot { name, time: grains.time });
        let series = Series { version: "1.0".into(), files: Cow::Borrowed(&self.snapshots) };
        write_json(&self.folder.join(SERIES_FILE), &series)
    }

    fn try_sample(&mut self, sample: &Sample<'_>) -> Result<(), RunError> {
        let Sample { time, bodies, contacts, energy, signals } = *sample;
        let time = Cell::Real(time);
        let motion = bodies.iter().flat_map(|body| Quantity::STORED.iter().map(|q| Cell::Real(q.of(body))));
        let values = signals.iter().map(|value| Cell::Real(*value));
        self.signals.row(std::iter::once(time).chain(motion).chain(values))?;

        let p = self.manifest.subjects.momentum(bodies);
        let books = Account::STORED.iter().map(|account| Cell::Real(account.of(energy)));
        let momentum = [p.x, p.y, p.z].map(Cell::Real);
        self.energy.row(std::iter::once(time).chain(books).chain(momentum))?;

        for contact in contacts {
            let [body1, body2] = [contact.body1, contact.body2].map(|k| body_name(&self.manifest.subjects, k));
            let (element1, element2) = elements(contact.pair);
            let head = [time, Cell::Text(body1), Cell::Text(body2), element1, element2];
            let scalars = [contact.depth, contact.closing_speed];
            let vectors = [contact.position, contact.normal, contact.force, contact.torque];
            let numbers = scalars.into_iter().chain(vectors.into_iter().flat_map(|v| v.to_array())).map(Cell::Real);
            self.contacts.row(head.into_iter().chain(numbers).chain([Cell::Flag(contact.slipping)]))?;
        }
        if let Some(patches) = &mut self.patches {
            patches.write(&self.manifest.subjects, sample)?;
        }
        Ok(())
    }
}

impl Observe for RunWriter {
    fn sample(&mut self, sample: &Sample<'_>) {
        if self.error.is_none() {
            self.error = self.try_sample(sample).err();
        }
    }

    fn event(&mut self, event: &Event) {
        if self.error.is_none() {
            self.error = self.events.write(&self.manifest.subjects, event).err();
        }
    }

    fn reach(&mut self, reach: &crate::Reach<'_>) {
        if let (None, Some(reaches)) = (&self.error, &mut self.reaches) {
            self.error = reaches.write(reach).err();
        }
    }

    fn grains(&mut self, grains: &tippe_granular::Grains) {
        if self.error.is_none() {
            self.error = self.try_grains(grains).err();
        }
    }

    fn input(&mut self, heard: &crate::realtime::Heard) {
        if self.error.is_none() {
            self.error = self.try_input(heard).err();
        }
    }

    fn pull(&mut self, step: u64, pull: Option<&crate::realtime::Pull>) {
        if self.error.is_none() {
            self.error = self.try_pull(step, pull).err();
        }
    }

    fn progress(&mut self, _: &crate::Progress) -> bool {
        if self.error.is_none() && self.synced.elapsed() >= SYNC {
            self.error = self.sync().err();
        }
        self.error.is_none()
    }
}

/// Room for manifest and summary when the disk fills up.
fn write_reserve(folder: &Path) -> Result<(), RunError> {
    let reserve = folder.join(RESERVE_FILE);
    std::fs::write(&reserve, vec![0x5a; RESERVE]).map_err(|error| RunError::write(&reserve, error))
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RunError::write(path, error)),
        _ => Ok(()),
    }
}

/// A file of grains.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Snapshot {
    name: String,
    time: f64,
}

/// `grains.vtk.series`, as ParaView reads it.
#[derive(Default, Serialize, Deserialize)]
struct Series<'a> {
    #[serde(rename = "file-series-version")]
    version: Cow<'a, str>,
    files: Cow<'a, [Snapshot]>,
}

fn body_name(subjects: &Subjects, body: usize) -> &str {
    subjects.bodies.get(body).map_or("", |subject| &subject.name)
}

fn elements(pair: (u32, u32)) -> (Cell<'static>, Cell<'static>) {
    (Cell::Index(i64::from(pair.0)), Cell::Index(i64::from(pair.1)))
}

fn real(name: impl Into<String>) -> (String, Column) {
    (name.into(), Column::Real(Vec::new()))
}

fn signals_schema(subjects: &Subjects) -> Vec<(String, Column)> {
    let column = |body: &str, quantity: Quantity| real(format!("{body}.{}", quantity.name()));
    let motion = subjects.bodies.iter().flat_map(|body| Quantity::STORED.map(|q| column(&body.name, q)));
    let signals = subjects.signals.iter().map(|signal| real(&signal.name));
    std::iter::once(real("time")).chain(motion).chain(signals).collect()
}

fn energy_schema() -> Vec<(String, Column)> {
    let books = Account::STORED.map(Account::name).map(real);
    let momentum = Axis::ALL.map(|axis| real(format!("momentum.{}", axis.name())));
    std::iter::once(real("time")).chain(books).chain(momentum).collect()
}

pub(super) const CONTACT_VECTORS: [&str; 4] = ["position", "normal", "force", "torque"];

fn contacts_schema() -> Vec<(String, Column)> {
    let mut schema = vec![
        real("time"),
        ("body1".to_owned(), Column::Text(Vec::new())),
        ("body2".to_owned(), Column::Text(Vec::new())),
        ("element1".to_owned(), Column::Index(Vec::new())),
        ("element2".to_owned(), Column::Index(Vec::new())),
        real("depth"),
        real("closing_speed"),
    ];
    schema.extend(CONTACT_VECTORS.iter().flat_map(|v| Axis::ALL.map(|axis| real(format!("{v}.{}", axis.name())))));
    schema.push(("slipping".to_owned(), Column::Flag(Vec::new())));
    schema
}

const EVENT_COLUMNS: [&str; 15] = [
    "time",
    "kind",
    "source",
    "body1",
    "body2",
    "element1",
    "element2",
    "gap",
    "closing_speed",
    "normal.x",
    "normal.y",
    "normal.z",
    "position.x",
    "position.y",
    "position.z",
];

/// `events.jsonl`, and `events.csv` beside it on request.
struct EventLog {
    json: LineFile,
    csv: Option<LineFile>,
}

impl EventLog {
    fn create(folder: &Path, csv: bool) -> Result<EventLog, RunError> {
        let json = LineFile::create(&folder.join("events.jsonl"))?;
        let csv = if csv {
            let mut file = LineFile::create(&folder.join("events.csv"))?;
            file.line(&csv_line(EVENT_COLUMNS.into_iter().map(Cell::Text)))?;
            Some(file)
        } else {
            None
        };
        Ok(EventLog { json, csv })
    }

    fn write(&mut self, subjects: &Subjects, event: &Event) -> Result<(), RunError> {
        let bodies = event.contact.map(|contact| [contact.body1, contact.body2].map(|k| body_name(subjects, k)));
        let line = EventLine { bodies: bodies.map(|names| names.map(Cow::Borrowed)), event: Cow::Borrowed(event) };
        let text = serde_json::to_string(&line).map_err(|error| RunError::write(&self.json.path, error.into()))?;
        self.json.line(&text)?;
        if let Some(csv) = &mut self.csv {
            let source = Cell::Text(event.source.as_deref().unwrap_or(""));
            let mut cells = vec![Cell::Real(event.time), Cell::Text(event.kind.name()), source];
            if let (Some(contact), Some(bodies)) = (event.contact, bodies) {
                let (element1, element2) = elements(contact.pair);
                cells.extend(bodies.map(Cell::Text).into_iter().chain([element1, element2]));
                cells.extend([contact.gap, contact.closing_speed].map(Cell::Real));
                cells.extend([contact.normal, contact.position].iter().flat_map(|v| v.to_array()).map(Cell::Real));
            }
            cells.resize(EVENT_COLUMNS.len(), Cell::Text(""));
            csv.line(&csv_line(cells.into_iter()))?;
        }
        Ok(())
    }

    fn resume(folder: &Path, csv: bool, lines: u64) -> Result<EventLog, RunError> {
        let json = LineFile::resume(&folder.join("events.jsonl"), lines)?;
        let csv = if csv { Some(LineFile::resume(&folder.join("events.csv"), lines + 1)?) } else { None };
        Ok(EventLog { json, csv })
    }

    fn sync(&mut self) -> Result<(), RunError> {
        self.json.sync()?;
        self.csv.as_mut().map_or(Ok(()), LineFile::sync)
    }
}
