//! `tippe rerun`: repeat a run from its manifest and verify the hash of its final state, or, of a run that did not reach its end,
//! every row as far as it came.

use crate::progress::Meter;
use crate::table::duration;
use crate::{Stop, print_json, say};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use tippe::run::{Recording, Replay, Run, RunError, RunTables, Status, Subjects, Wanted};
use tippe::scene::Scene;
use tippe::{Model, Observe, Progress, Sample, Simulation};

/// Arguments of `tippe rerun`.
#[derive(clap::Args)]
pub struct Args {
    /// A run folder
    run: PathBuf,
    /// Threads; 0 for all there are. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    threads: usize,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Comparison {
    scene: String,
    same: bool,
    /// Of a run that reached its end.
    hash: Option<String>,
    recorded_hash: Option<String>,
    /// Rows that were compared, of a run that did not.
    rows: Option<usize>,
    recorded_version: String,
    wall_s: f64,
}

/// Rows that are held in memory at a time.
const PART: usize = 4096;

/// Compares a run with the rows of another one, bit by bit. Rows that only a checkpoint called for are passed over.
struct Witness {
    tables: RunTables,
    subjects: Subjects,
    /// Rows from `start` on.
    part: Recording,
    start: usize,
    /// The row that is compared next.
    next: usize,
    same: usize,
    /// Time of the first row that differs [s].
    differs: Option<f64>,
    error: Option<RunError>,
}

impl Witness {
    fn of(run: &Run) -> Result<Witness, RunError> {
        let (tables, subjects) = (RunTables::open(run)?, run.manifest.subjects.clone());
        let part = tables.recording(0..PART, Wanted::all(&subjects))?;
        Ok(Witness { tables, subjects, part, start: 0, next: 0, same: 0, differs: None, error: None })
    }

    /// Row of `part` that is compared next, and its time; none after the last.
    fn row(&mut self) -> Result<Option<(usize, f64)>, RunError> {
        if self.next >= self.tables.rows() {
            return Ok(None);
        }
        if self.next >= self.start + self.part.time.len() {
            self.start = self.next;
            self.part = self.tables.recording(self.start..self.start + PART, Wanted::all(&self.subjects))?;
        }
        let row = self.next - self.start;
        Ok(self.part.time.get(row).map(|time| (row, *time)))
    }

    fn compare(&mut self, sample: &Sample<'_>) -> Result<(), RunError> {
        while let Some((row, time)) = self.row()? {
            if time > sample.time {
                self.differs = Some(sample.time);
                return Ok(());
            }
            self.next += 1;
            if time == sample.time {
                let bits = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<u64>>();
                let bodies = self.part.motion.iter().zip(sample.bodies).all(|(motion, body)| motion[row] == *body);
                let signals = bits(&mut self.part.signals.iter().map(|values| values[row]));
                let same = bodies && signals == bits(&mut sample.signals.iter().copied());
                self.same += usize::from(same);
                self.differs = (!same).then_some(time);
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Witness {
    /// How many rows are the same, or where they part.
    fn verdict(self) -> Result<Result<usize, String>, RunError> {
        let left = self.tables.rows().saturating_sub(self.next);
        match (self.error, self.differs) {
            (Some(error), _) => Err(error),
            (None, Some(time)) => Ok(Err(format!("the run differs from t = {time} s on"))),
            (None, None) if left > 0 => Ok(Err(format!("the run ends {left} rows before the recorded one"))),
            (None, None) => Ok(Ok(self.same)),
        }
    }
}

struct Watch(Meter, Option<Witness>);

impl Observe for Watch {
    fn sample(&mut self, sample: &Sample<'_>) {
        if let Some(witness) = self.1.as_mut().filter(|witness| witness.differs.is_none() && witness.error.is_none()) {
            witness.error = witness.compare(sample).err();
        }
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        self.0.show(progress);
        self.1.as_ref().is_none_or(|witness| {
            witness.next < witness.tables.rows() && witness.differs.is_none() && witness.error.is_none()
        })
    }
}

/// Runs the command.
pub fn rerun(args: &Args) -> Result<(), Stop> {
    let run = Run::open(&args.run)?;
    let manifest = &run.manifest;
    let whole = manifest.status == Status::Complete && manifest.hash.is_some();
    let witness = if whole { None } else { Some(Witness::of(&run)?) };
    if let Some(fate) = run.fate() {
        say(&format!("note: {fate}"));
    }
    let scene = Scene::parse(&manifest.scene.name, &manifest.scene.text, &manifest.sets)?;
    let mut settings = manifest.settings.clone();
    settings.check().map_err(|text| Stop::Usage(format!("{}: its manifest has {text}", args.run.display())))?;
    settings.set_threads(args.threads);
    let model = Model::compile_for(&scene, settings.clock())?;
    let mut simulation = match &manifest.restart {
        Some(path) => {
            let state = Run::checkpoint(path.as_ref(), &scene, settings.clock())?;
            Simulation::resume(model, settings, state)?
        }
        None => Simulation::new(model, settings),
    };
    let model = simulation.model().clone();
    let names = Subjects::of(&model).bodies.into_iter().map(|subject| subject.name).collect();
    let mut watch = Watch(Meter::new(&manifest.scene.name, simulation.time(), names, false), witness);
    let started = Instant::now();
    let mut replay = Replay::read(&args.run, &model)?;
    let summary = simulation.advance_with(manifest.until, &mut [&mut replay], &mut watch);
    watch.0.clear();
    let wall_s = started.elapsed().as_secs_f64();
    let comparison = |same, hash, recorded_hash, rows| Comparison {
        scene: manifest.scene.name.clone(),
        same,
        hash,
        recorded_hash,
        rows,
        recorded_version: manifest.tippe.clone(),
        wall_s,
    };
    let (was, now) = (&manifest.tippe, env!("CARGO_PKG_VERSION"));
    let version = if was == now { String::new() } else { format!("; it ran with version {was}, this is {now}") };
    if let Some(witness) = watch.1 {
        let rows = Some(witness.same);
        let verdict = witness.verdict()?;
        if args.json {
            print_json(&comparison(verdict.is_ok(), None, None, rows))?;
        }
        let failure = summary.err().map_or(String::new(), |failure| format!(": {failure}"));
        return match verdict {
            Ok(rows) => {
                say(&format!("same bits as far as it came: {rows} rows ({})", duration(wall_s)));
                Ok(())
            }
            Err(text) => Err(Stop::Simulation(format!("{text}{failure}{version}"))),
        };
    }
    let summary = summary.map_err(|failure| Stop::Simulation(failure.to_string()))?;
    let recorded = manifest.hash.clone().unwrap_or_default();
    let hash = format!("{:016x}", summary.hash);
    let same = hash == recorded;
    if args.json {
        print_json(&comparison(same, Some(hash.clone()), Some(recorded.clone()), None))?;
    }
    if same {
        say(&format!("same bits: {hash} ({})", duration(wall_s)));
        return Ok(());
    }
    Err(Stop::Simulation(format!("the run differs: hash {hash} instead of {recorded}{version}")))
}
