//! Writes a run folder while the simulation runs.

use super::manifest::write_json;
use super::patches::PatchLog;
use super::reach::ReachLog;
use super::table::{Cell, Column, LineFile, TableWriter, csv_line};
use super::{Account, Axis, Manifest, Quantity, Report, RunError, Status, Subjects, checkpoint};
use crate::{Event, Model, Observe, Sample, clock};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Kept free for the manifest and the summary when the disk fills up [bytes].
const RESERVE: usize = 64 << 10;
/// Files of a run folder, for replacing an old run; checkpoints come on top.
const FILES: [&str; 15] = [
    "manifest.json",
    "summary.json",
    "signals.parquet",
    "signals.csv",
    "energy.parquet",
    "energy.csv",
    "contacts.parquet",
    "contacts.csv",
    "events.jsonl",
    "events.csv",
    super::inputs::FILE,
    super::patches::FILE,
    super::reach::FILE,
    SERIES_FILE,
    RESERVE_FILE,
];
const RESERVE_FILE: &str = ".reserve";
const SERIES_FILE: &str = "grains.vtk.series";

/// Observer that writes a run folder. The first error stops the run (`progress` answers false) and is told by
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
    /// Creates the folder, or empties an old run there; with `csv` every table is written twice.
    pub fn create(folder: &Path, manifest: Manifest, csv: bool) -> Result<RunWriter, RunError> {
        clear(folder)?;
        std::fs::create_dir_all(folder).map_err(|error| RunError::write(folder, error))?;
        let reserve = folder.join(RESERVE_FILE);
        std::fs::write(&reserve, vec![0x5a; RESERVE]).map_err(|error| RunError::write(&reserve, error))?;
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
            snapshots: Vec::new(),
            csv,
            manifest,
            error: None,
        })
    }

    /// From now on also writes the polygons over which surfaces of this model touch, to `patches.jsonl`.
    pub fn record_patches(&mut self, model: &Model) -> Result<(), RunError> {
        self.patches = Some(PatchLog::create(&self.folder, model)?);
        Ok(())
    }

    /// From now on also writes the boxes that bodies of this model do not leave, to `reach.jsonl`; the precise clock has them.
    pub fn record_reach(&mut self, model: &Model) -> Result<(), RunError> {
        self.reaches = Some(ReachLog::create(&self.folder, model)?);
        Ok(())
    }

    /// The first thing that could not be written.
    pub fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// Writes a state from which the run can be continued at `time` [s].
    pub fn checkpoint(&mut self, time: f64, state: &clock::State) -> Result<PathBuf, RunError> {
        let path = self.folder.join(format!("checkpoint-{time:.9}.json"));
        checkpoint::write(&path, &self.manifest.scene.hash, state)?;
        Ok(path)
    }

    /// Writes what is still in memory, the summary and the manifest; the folder is whole after this, whatever happened.
    pub fn finish(
        mut self,
        status: Status,
        failure: Option<String>,
        report: Option<&Report>,
    ) -> Result<Manifest, RunError> {
        for flushed in [self.signals.flush(), self.energy.flush(), self.contacts.flush(), self.events.flush()] {
            if let Err(error) = flushed {
                self.error.get_or_insert(error);
            }
        }
        let lines = [
            self.inputs.as_mut().map(LineFile::flush),
            self.patches.as_mut().map(PatchLog::flush),
            self.reaches.as_mut().map(ReachLog::flush),
        ];
        for flushed in lines {
            if let Some(Err(error)) = flushed {
                self.error.get_or_insert(error);
            }
        }
        // A reserve that cannot be removed costs 64 KiB and nothing else.
        let _ = std::fs::remove_file(self.folder.join(RESERVE_FILE));
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
        let manifest = write_json(&self.folder.join("manifest.json"), &self.manifest);
        match self.error {
            Some(error) => Err(error),
            None => summary.and(manifest).map(|()| self.manifest),
        }
    }

    /// The grains at the end of a run, unless a snapshot has them.
    pub fn last_grains(&mut self, grains: &tippe_granular::Grains) {
        if self.snapshots.last().is_none_or(|snapshot| snapshot.time < grains.time) {
            self.grains(grains);
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
        let series = Series { version: "1.0", files: &self.snapshots };
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
        self.error.is_none()
    }
}

/// A file of grains.
#[derive(Clone, Debug, Serialize)]
struct Snapshot {
    name: String,
    time: f64,
}

/// `grains.vtk.series`, as ParaView reads it.
#[derive(Serialize)]
struct Series<'a> {
    #[serde(rename = "file-series-version")]
    version: &'static str,
    files: &'a [Snapshot],
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

    fn flush(&mut self) -> Result<(), RunError> {
        self.json.flush()?;
        self.csv.as_mut().map_or(Ok(()), LineFile::flush)
    }
}

/// Removes an old run from `folder`; refuses a folder that holds anything but a run.
fn clear(folder: &Path) -> Result<(), RunError> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return if folder.exists() { Err(RunError::Occupied(folder.to_owned())) } else { Ok(()) };
    };
    let mut files = Vec::new();
    let mut foreign = false;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = FILES.contains(&&*name)
            || (name.starts_with("checkpoint-") && name.ends_with(".json"))
            || (name.starts_with("grains-") && (name.ends_with(".vtk") || name.ends_with(".csv")));
        if ours {
            files.push(entry.path());
        } else {
            foreign = true;
        }
    }
    if foreign && !folder.join("manifest.json").exists() {
        return Err(RunError::Occupied(folder.to_owned()));
    }
    files.iter().try_for_each(|path| std::fs::remove_file(path).map_err(|error| RunError::write(path, error)))
}
