//! A recorded run, read in parts.

use crate::ViewerError;
use crate::block;
use crate::describe::{DescribedEvent, Description};
use crate::grains;
use crate::lines::Lines;
use crate::surface::{self, Surface};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use tippe::run::{Account, Report, Run, RunError, RunTables, Status, Wanted};
use tippe::scene::{Clock, Scene};
use tippe::{Cause, Model};

/// Bytes of a block that is comfortable to send: large enough to be few, small enough to come quickly.
const BLOCK_BYTES: usize = 2 << 20;
/// Rows in a block at most; also what a table's row group holds.
const BLOCK_ROWS: usize = 16_384;
/// Points of a thinned signal: two for each of as many stretches as a wide screen has pixels.
const STRETCHES: usize = 2000;
/// Events that are sent; more cannot be told apart on a time line.
const EVENTS: usize = 20_000;
/// Pictures of grains in a page with the run inside.
const FRAMES: usize = 120;

/// A run folder opened for the viewer.
pub struct Recorded {
    run: Run,
    description: Description,
    tables: Mutex<RunTables>,
    rows: usize,
    block_rows: usize,
    /// Time of the first row of each block, and of the last row of all [s].
    times: Vec<f64>,
    report: Option<Report>,
    surfaces: Vec<Surface>,
    patches: Option<Lines>,
    reach: Option<Lines>,
    grains: grains::Snapshots,
}

/// What the page has to know about a recorded run.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    description: &'a Description,
    live: bool,
    status: Status,
    failure: Option<&'a str>,
    start: f64,
    until: f64,
    rows: usize,
    block_rows: usize,
    times: &'a [f64],
    report: Option<&'a Report>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    surfaces: &'a [Surface],
    /// Polygons over which surfaces touch are there.
    patches: bool,
    reach: bool,
}

/// Events of a run, and how many of them are left out.
#[derive(Serialize)]
struct Events {
    events: Vec<DescribedEvent>,
    omitted: usize,
}

impl Recorded {
    /// Opens a run folder. What is wrong with it is told here as far as it can be without reading all of it.
    pub fn open(folder: &Path) -> Result<Recorded, ViewerError> {
        let run = Run::open(folder)?;
        let manifest = &run.manifest;
        let unreadable = |reason: String| ViewerError::Scene { folder: folder.to_owned(), reason };
        let scene = Scene::parse(&manifest.scene.name, &manifest.scene.text, &manifest.sets)
            .map_err(|errors| unreadable(errors.to_string()))?;
        let clock = Clock::from_name(&manifest.clock)
            .ok_or_else(|| unreadable(format!("there is no clock \"{}\"", manifest.clock)))?;
        let model = Model::compile_for(&scene, clock).map_err(|errors| unreadable(errors.to_string()))?;
        let names = model.bodies.iter().map(|body| body.name.as_str());
        if !names.eq(manifest.subjects.bodies.iter().map(|subject| subject.name.as_str())) {
            let missing = model.bodies.iter().find(|body| manifest.subjects.body(&body.name).is_none());
            let reason = match missing {
                Some(body) => format!("its scene has a body \"{}\" that was not recorded", body.name),
                None => "its bodies are not those of its scene".to_owned(),
            };
            return Err(ViewerError::Mismatch { folder: folder.to_owned(), reason });
        }
        let name = Path::new(&manifest.scene.name);
        let name = name.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let settings = serde_json::to_value(&manifest.settings).unwrap_or_default();
        let mut description = Description::new(&name, &scene, &model, clock, settings);
        description.signals = manifest.subjects.signals.clone();
        let report = run.report().ok();
        if let Some(report) = &report {
            let new = report.warnings.iter().filter(|warning| !description.warnings.contains(warning));
            let new: Vec<String> = new.cloned().collect();
            description.warnings.extend(new);
        }
        let tables = RunTables::open(&run)?;
        let rows = tables.rows();
        let block_rows = (BLOCK_BYTES / block::row_bytes(&manifest.subjects)).clamp(1, BLOCK_ROWS);
        let times = first_times(&tables, rows, block_rows)?;
        // A missing column, or one that cannot be read, is told before the page opens.
        tables.recording(0..1.min(rows), Wanted::all(&manifest.subjects))?;
        let patches = Lines::of(folder, "patches.jsonl");
        let reach = Lines::of(folder, "reach.jsonl");
        let surfaces = surface::read(folder, &manifest.subjects, rows)?;
        Ok(Recorded {
            description,
            tables: Mutex::new(tables),
            rows,
            block_rows,
            times,
            report,
            surfaces,
            patches,
            reach,
            grains: grains::Snapshots::of(folder),
            run,
        })
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Communication points [-].
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What the page has to know, as JSON.
    pub fn document(&self) -> serde_json::Value {
        let manifest = &self.run.manifest;
        let document = Document {
            description: &self.description,
            live: false,
            status: manifest.status,
            failure: manifest.failure.as_deref(),
            start: manifest.start,
            until: manifest.until,
            rows: self.rows,
            block_rows: self.block_rows,
            times: &self.times,
            report: self.report.as_ref(),
            surfaces: &self.surfaces,
            patches: self.patches.is_some(),
            reach: self.reach.is_some(),
        };
        serde_json::to_value(&document).unwrap_or_default()
    }

    /// Some rows as a block, at most as many as fit into one.
    pub fn block(&self, rows: Range<usize>) -> Result<Vec<u8>, RunError> {
        let end = rows.end.min(rows.start.saturating_add(self.block_rows)).min(self.rows);
        let rows = rows.start.min(end)..end;
        let wanted = Wanted::all(&self.run.manifest.subjects);
        let recording = self.lock().recording(rows, wanted)?;
        Ok(block::of_recording(&recording))
    }

    /// Every `every`-th row as one block.
    pub fn thinned(&self, every: usize) -> Result<Vec<u8>, RunError> {
        let mut all = tippe::run::Recording::new(self.run.manifest.subjects.clone());
        let mut from = 0;
        while from < self.rows {
            let to = (from + self.block_rows).min(self.rows);
            let part = self.lock().recording(from..to, Wanted::all(&self.run.manifest.subjects))?;
            let kept = (from..to).filter(|row| row.is_multiple_of(every.max(1)) || row + 1 == self.rows);
            for i in kept.map(|row| row - from) {
                all.time.push(part.time[i]);
                all.energy.push(part.energy[i]);
                all.momentum.push(part.momentum[i]);
                all.contact_start.push(all.contacts.len());
                all.contacts.extend_from_slice(part.contacts_at(i));
                all.motion.iter_mut().zip(&part.motion).for_each(|(all, part)| all.push(part[i]));
                all.signals.iter_mut().zip(&part.signals).for_each(|(all, part)| all.push(part[i]));
            }
            from = to;
        }
        Ok(block::of_recording(&all))
    }

    /// A signal over the whole run, as pairs of time [s] and value: all of them, or where there are too many the least
    /// and the largest of each stretch.
    pub fn signal(&self, name: &str) -> Result<Vec<(f64, f64)>, RunError> {
        let stretch = self.rows.div_ceil(STRETCHES).max(1);
        let mut points = Vec::new();
        let mut from = 0;
        // Whole stretches at a time, as many as make a row group.
        let turn = stretch * (BLOCK_ROWS / stretch).max(1);
        while from < self.rows {
            let to = (from + turn).min(self.rows);
            let tables = self.lock();
            let (time, values) = (tables.signal("time", from..to)?, values(&tables, name, from..to)?);
            let all: Vec<(f64, f64)> = time.into_iter().zip(values).collect();
            if stretch <= 2 {
                points.extend(all);
            } else {
                points.extend(all.chunks(stretch).flat_map(extremes));
            }
            from = to;
        }
        Ok(points)
    }

    /// Polygons over which surfaces touch at a recorded time [s], as JSON.
    pub fn patches(&self, time: f64) -> Result<serde_json::Value, RunError> {
        self.patches.as_ref().map_or_else(|| Ok(serde_json::Value::Array(Vec::new())), |patches| patches.at(time))
    }

    /// The boxes that bodies do not leave around a time [s], as a JSON list of one line.
    pub fn reach(&self, time: f64) -> Result<serde_json::Value, RunError> {
        self.reach.as_ref().map_or_else(|| Ok(serde_json::Value::Array(Vec::new())), |reach| reach.since(time))
    }

    /// Grains at a time [s], between two snapshots on a straight line.
    pub fn grains(&self, time: f64) -> Result<Vec<u8>, RunError> {
        self.grains.at(time)
    }

    /// Grains at equal times from the first snapshot to the last, as many as fit into these bytes and up to a hundred and twenty: the length of
    /// each (u32), and the bytes of `grains`.
    pub fn grain_frames(&self, most: usize) -> Result<Vec<u8>, RunError> {
        let files = self.grains.files()?;
        let (Some((first, _)), Some((last, _))) = (files.first(), files.last()) else { return Ok(Vec::new()) };
        let size = self.grains(*last)?.len().max(self.grains(*first)?.len()) + 4;
        let count = (most / size).clamp(2, FRAMES);
        let mut frames = Vec::new();
        for k in 0..count {
            let one = self.grains(first + (last - first) * k as f64 / (count - 1) as f64)?;
            frames.extend_from_slice(&(one.len() as u32).to_le_bytes());
            frames.extend(one);
        }
        Ok(frames)
    }

    /// Surfaces that change with time.
    pub fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    /// Numbers of a surface in some rows, at most as many as fit into a block: f32, little endian.
    pub fn surface(&self, surface: usize, rows: Range<usize>) -> Result<Vec<u8>, RunError> {
        let Some(surface) = self.surfaces.get(surface) else {
            let folder = self.run.folder.join(surface::FILE);
            return Err(RunError::Read { path: folder, reason: "there is no such surface".to_owned() });
        };
        let most = (BLOCK_BYTES / (4 * surface.stride).max(1)).max(1);
        let end = rows.end.min(rows.start.saturating_add(most)).min(self.rows);
        surface.rows(rows.start.min(end)..end)
    }

    /// The event log as JSON; of very many the first.
    pub fn events(&self) -> Result<serde_json::Value, RunError> {
        let events = self.run.events()?;
        let omitted = events.len().saturating_sub(EVENTS);
        let events = events.iter().take(EVENTS).map(DescribedEvent::from).collect();
        Ok(serde_json::to_value(Events { events, omitted }).unwrap_or_default())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RunTables> {
        // Readers only read: a panic elsewhere leaves nothing half done.
        self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A stored signal, or one that follows from stored ones: the speed of a body, sums of the ledger.
fn values(tables: &RunTables, name: &str, rows: Range<usize>) -> Result<Vec<f64>, RunError> {
    let parts = |names: &[String]| -> Result<Vec<Vec<f64>>, RunError> {
        names.iter().map(|name| tables.signal(name, rows.clone())).collect()
    };
    let fold = |columns: Vec<Vec<f64>>, join: fn(f64, f64) -> f64| {
        (0..rows.len()).map(|i| columns.iter().fold(0.0, |sum, column| join(sum, column[i]))).collect::<Vec<f64>>()
    };
    let length = |vector: String| -> Result<Vec<f64>, RunError> {
        let squares = fold(parts(&["x", "y", "z"].map(|axis| format!("{vector}.{axis}")))?, |sum, x| sum + x * x);
        Ok(squares.into_iter().map(f64::sqrt).collect())
    };
    let accounts = |names: &[Account]| -> Result<Vec<f64>, RunError> {
        let names: Vec<String> = names.iter().map(|account| format!("energy.{}", account.name())).collect();
        Ok(fold(parts(&names)?, |sum, x| sum + x))
    };
    match name {
        "energy.stored" => accounts(&Account::HOLDING),
        "energy.dissipated" => accounts(&Cause::LOST.iter().map(|&cause| Account::By(cause)).collect::<Vec<_>>()),
        _ if tables.has(name) => tables.signal(name, rows),
        _ => match (name.strip_suffix(".speed"), name.strip_suffix(".angular_speed")) {
            (Some(body), _) => length(format!("{body}.velocity")),
            (_, Some(body)) => length(format!("{body}.angular_velocity")),
            _ => tables.signal(name, rows),
        },
    }
}

/// Least and largest value of a stretch, in order of time; a value that is no number stands for the stretch.
fn extremes(stretch: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if let Some(point) = stretch.iter().find(|point| !point.1.is_finite()) {
        return vec![*point];
    }
    let low = stretch.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let high = stretch.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    match (low, high) {
        (Some(low), Some(high)) if low.0 <= high.0 => vec![low, high],
        (Some(low), Some(high)) => vec![high, low],
        _ => Vec::new(),
    }
}

/// Time of the first row of each block, and of the last row of all.
fn first_times(tables: &RunTables, rows: usize, block_rows: usize) -> Result<Vec<f64>, RunError> {
    let mut times = Vec::with_capacity(rows / block_rows + 2);
    let mut from = 0;
    let turn = block_rows * (BLOCK_ROWS / block_rows).max(1);
    let mut last = None;
    while from < rows {
        let to = (from + turn).min(rows);
        let time = tables.signal("time", from..to)?;
        times.extend(time.iter().step_by(block_rows));
        last = time.last().copied();
        from = to;
    }
    times.extend(last);
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::cause::Accounts;
    use tippe::run::{Claim, Manifest, RunWriter, SceneCopy, Subjects};
    use tippe::{Observe, Sample, clock};

    fn recorded(folder: &Path) {
        let (name, text) = *tippe::scene::gallery().iter().find(|(name, _)| *name == "bouncing_ball").unwrap();
        let scene = Scene::load(name, &[]).unwrap();
        let model = Model::compile(&scene).unwrap();
        let settings = clock::Settings::from_scene(&scene, Clock::Precise);
        let manifest = Manifest {
            format: 1,
            tippe: "0".to_owned(),
            status: Status::Running,
            failure: None,
            command: vec![],
            scene: SceneCopy::new("bouncing_ball.toml", text),
            sets: vec![],
            clock: "precise".to_owned(),
            start: 0.0,
            until: 0.3,
            restart: None,
            settings,
            warnings: vec![],
            subjects: Subjects::of(&model),
            hash: None,
        };
        let mut writer = RunWriter::create(Claim::take(folder, true).unwrap(), manifest, false).unwrap();
        for k in 0..20_000 {
            let time = f64::from(k) * 1e-5;
            let mut bodies = model.start.clone();
            bodies[1].position.z = if k == 7777 { 9.0 } else { time };
            bodies[1].velocity = tippe_geometry::Vec3::new(3.0, 4.0, 0.0);
            let accounts = Accounts::of([(Cause::Sliding, 1.0), (Cause::Spin, 2.0)]);
            let energy = tippe::Ledger { accounts, ..tippe::Ledger::default() };
            writer.sample(&Sample { time, bodies: &bodies, contacts: &[], energy: &energy, signals: &[] });
        }
        writer.finish(Status::Complete, None, None).unwrap();
    }

    /// Blocks hold the rows asked for, thinned curves keep their peaks, speeds and sums follow from what is stored.
    #[test]
    fn rows_and_curves() {
        let dir = tempfile::tempdir().unwrap();
        recorded(dir.path());
        let run = Recorded::open(dir.path()).unwrap();
        assert_eq!(run.rows(), 20_000);
        assert_eq!(run.document()["rows"], 20_000);
        let block = run.block(100..200).unwrap();
        assert_eq!(u32::from_le_bytes(block[4..8].try_into().unwrap()), 100);
        assert_eq!(f64::from_le_bytes(block[32..40].try_into().unwrap()), 100.0 * 1e-5);
        assert_eq!(u32::from_le_bytes(run.block(90_000..90_001).unwrap()[4..8].try_into().unwrap()), 0);

        let curve = run.signal("ball.position.z").unwrap();
        assert!(curve.len() <= 2 * STRETCHES, "{}", curve.len());
        assert!(curve.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(curve.contains(&(7777.0 * 1e-5, 9.0)));
        assert!(run.signal("ball.speed").unwrap().iter().all(|point| point.1 == 5.0));
        assert!(run.signal("energy.dissipated").unwrap().iter().all(|point| point.1 == 3.0));
        assert!(run.signal("nobody.speed").is_err());
    }

    /// However large a run is, it is read and sent in parts: a page cannot ask for more than a block, a curve has no more points than a
    /// screen can show, and a page with the run inside keeps every so many rows.
    #[test]
    fn large_runs_are_read_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        recorded(dir.path());
        let run = Recorded::open(dir.path()).unwrap();
        let bytes = block::row_bytes(&run.run().manifest.subjects);
        let all = run.block(0..usize::MAX).unwrap();
        assert!(all.len() <= BLOCK_BYTES + bytes + 64, "{}", all.len());
        assert!(run.block_rows < run.rows());
        assert_eq!(run.times.len(), run.rows().div_ceil(run.block_rows) + 1);
        let some = run.thinned(100).unwrap();
        assert_eq!(u32::from_le_bytes(some[4..8].try_into().unwrap()), 201);
        // ten gigabytes of rows would be thinned to what one file may hold
        let every = (10_usize << 30).div_ceil(48 << 20);
        assert!((10 << 30) / bytes / every * bytes <= 48 << 20);
        assert!(run.surface(0, 0..1).is_err());
    }

    /// What does not fit is told when the run is opened, with the file or the body.
    #[test]
    fn foreign_tables() {
        let dir = tempfile::tempdir().unwrap();
        recorded(dir.path());
        let path = dir.path().join("manifest.json");
        let manifest = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, manifest.replace("\"name\": \"ball\"", "\"name\": \"bell\"")).unwrap();
        let message = Recorded::open(dir.path()).err().unwrap().to_string();
        assert!(message.contains("\"ball\"") && message.contains("not recorded"), "{message}");
        std::fs::write(&path, manifest.replace("[world]", "[wurld]")).unwrap();
        let message = Recorded::open(dir.path()).err().unwrap().to_string();
        assert!(message.contains("wurld"), "{message}");
    }
}
