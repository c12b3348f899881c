//! The ground among bodies as a subsystem (docs/theory/soil.md): before a step it offers rows with bounds, after it the ground is what
//! tools and bodies made of it. Bodies of a given motion get the impulse of their rows from that motion.

use crate::cause::{Accounts, Cause};
use crate::joint::Six;
use crate::kinematics::rotation_vector;
use crate::ledger::Ledger;
use crate::model::{Drive, Model, ModelSoil, PointMeasure, SignalSource, SoilMeasure, ToolMeasure};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Pose};
use tippe_soil::bearing::{About, Motion, Patch, Row};
use tippe_soil::tool::{Bite, Placed, ToolRecord};
use tippe_soil::{Fence, Ground, Parcel};

/// What survives a step of the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoilRecord {
    /// The ground.
    pub ground: Ground,
    /// Its tools.
    pub tools: Vec<ToolRecord>,
    /// {torque about the centre of mass, force} on each body beside its rows.
    pub loads: Vec<Six>,
    /// Steps made.
    pub intervals: u64,
    /// What was lost or put in so far, but for the work of rows on free bodies.
    books: Accounts,
    /// Energy of soil in buckets [J].
    carried: f64,
    /// Mass with water that slid from cell to cell so far [kg].
    slid: f64,
    /// Mass of grains that came from each feed [kg].
    fed: Vec<f64>,
    /// Mass without water of what is grains of the granular kind now [kg].
    pub loose: f64,
    /// Grains at rest on the ground by rising id, and for how long [s].
    pub resting: Vec<(u32, f64)>,
}

impl SoilRecord {
    /// Of a model at its start, if it has soil.
    pub fn start(model: &Model) -> Option<SoilRecord> {
        let own = model.soil.as_ref()?;
        Some(SoilRecord {
            ground: own.ground.clone(),
            tools: vec![ToolRecord::default(); own.tools.len()],
            loads: vec![Six::default(); model.bodies.len()],
            intervals: 0,
            books: Accounts::default(),
            carried: 0.0,
            slid: 0.0,
            fed: vec![0.0; own.feeds.len()],
            loose: 0.0,
            resting: Vec::new(),
        })
    }

    /// Books energy [J] that went to a cause.
    pub fn book(&mut self, cause: Cause, energy: f64) {
        self.books[cause] += energy;
    }

    /// Values of the model's signals of soil, by signal.
    pub fn signals(&self, model: &Model, own: &ModelSoil) -> Vec<(u32, f64)> {
        let signals = (0..).zip(&model.signals);
        let soil = signals.filter_map(|(k, signal)| match signal.source {
            SignalSource::Soil(measure) => Some((k, self.value(own, measure))),
            _ => None,
        });
        soil.collect()
    }

    fn value(&self, own: &ModelSoil, measure: SoilMeasure) -> f64 {
        match measure {
            SoilMeasure::Lost => {
                let [now, begun] = self.ground.mass_of_tiles();
                let carried: f64 = self.tools.iter().map(|tool| tool.load.mass() + tool.carry.mass()).sum();
                let carried = carried + self.loose;
                let begun = begun + self.fed.iter().sum::<f64>();
                if begun > 0.0 { (begun - now - carried) / begun } else { 0.0 }
            }
            SoilMeasure::Slid => self.slid,
            SoilMeasure::Loose => self.loose,
            SoilMeasure::Fed(k) => {
                let kind = usize::from(own.feeds[k as usize].kind);
                self.fed[k as usize] * (1.0 + self.ground.kinds[kind].water)
            }
            SoilMeasure::Cells => (self.ground.tiles().count() * tippe_soil::TILE * tippe_soil::TILE) as f64,
            SoilMeasure::Tool(k, measure) => {
                let (tool, record) = (&own.tools[k as usize], &self.tools[k as usize]);
                let kinds = &self.ground.kinds;
                match measure {
                    ToolMeasure::Force => record.force[0],
                    ToolMeasure::Down => record.force[1],
                    ToolMeasure::Share => record.share,
                    ToolMeasure::Volume => record.moved,
                    ToolMeasure::Mass => record.load.wet(kinds) + record.grains,
                    ToolMeasure::Carry => record.carry.wet(kinds),
                    ToolMeasure::Fill => tool.bucket.map_or(0.0, |(_, holds)| {
                        let loosened = (0..).zip(kinds.iter()).find(|(k, _)| tool.loosens.get(*k) == Some(&true));
                        let grains = loosened.map_or(0.0, |(_, kind)| record.grains / kind.density(kind.loose()));
                        (record.load.volume(kinds) + grains) / holds
                    }),
                }
            }
            SoilMeasure::Point(k, measure) => {
                let at = self.ground.nearest(own.points[k as usize].1);
                let column = self.ground.column(at);
                let top = column.top().copied().unwrap_or_default();
                match measure {
                    PointMeasure::Height => self.ground.height(at),
                    PointMeasure::VoidRatio => top.void_ratio,
                    PointMeasure::Density => {
                        self.ground.kinds[usize::from(top.kind)].grain_density / (1.0 + top.void_ratio)
                    }
                    PointMeasure::Pressure => column.tread.pressure,
                }
            }
        }
    }
}

/// The ground at work.
pub struct SoilCoupling {
    /// Length of a step [s].
    pub interval: f64,
    /// Rows of the step, and their impulses [N s].
    rows: Vec<Row>,
    impulses: Vec<f64>,
    /// What bodies press, by presser.
    patches: Vec<Patch>,
    /// Where tools were, and what the soil did to them.
    placed: Vec<Option<(Placed, Bite)>>,
    /// Blades that soil does not pass.
    fences: Vec<Fence>,
    /// Cells under bodies.
    covered: Vec<[usize; 2]>,
    /// The rows are those of the step to come.
    prepared: bool,
}

/// A motion that takes a body from pose to pose in a time [s], at the first of them.
fn between([from, to]: [Pose; 2], H: f64) -> Motion {
    let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
    Motion { X_wc: from, v: (to.position - from.position) / H, w: rotation_vector(&turn) / H }
}

impl SoilCoupling {
    /// In steps of a length [s].
    pub fn resume(interval: f64) -> SoilCoupling {
        SoilCoupling {
            interval,
            rows: Vec::new(),
            impulses: Vec::new(),
            patches: Vec::new(),
            placed: Vec::new(),
            fences: Vec::new(),
            covered: Vec::new(),
            prepared: false,
        }
    }

    /// Rows and loads of the step to come; bodies that are gone have no motion.
    pub fn prepare(&mut self, own: &ModelSoil, record: &mut SoilRecord, motion: &dyn Fn(usize) -> Option<Motion>) {
        let h = self.interval;
        self.rows.clear();
        self.patches.clear();
        self.placed.clear();
        record.loads.fill(Six::default());
        let area = record.ground.area();
        for presser in &own.pressers {
            let Some(motion) = motion(presser.body as usize) else {
                self.patches.push(Patch::default());
                continue;
            };
            let patch = Patch::of(&record.ground, presser, &motion);
            let [torque, force] = patch.rows(area, presser.body, &motion, h, &mut self.rows);
            let b = presser.body as usize;
            record.loads[b] = record.loads[b] + Six::new(torque, force);
            self.patches.push(patch);
        }
        let mut carried = 0.0;
        for (k, tool) in own.tools.iter().enumerate() {
            let b = tool.body as usize;
            let Some(motion) = motion(b) else {
                self.placed.push(None);
                continue;
            };
            let state = &record.tools[k];
            let bite = tool.bite(&record.ground, &motion, own.gravity);
            if let Some(bite) = &bite {
                let [torque, force] = tool.rows(k as u32, bite, state, &motion, h, &mut self.rows);
                record.loads[b] = record.loads[b] + Six::new(torque, force);
            }
            let mass = state.load.wet(&record.ground.kinds);
            tool.load_rows(k as u32, mass, &motion, [h, own.gravity], &mut self.rows);
            carried += tool.load_energy(mass, &motion, own.gravity);
            self.placed.push(tool.placed(&motion).zip(bite));
        }
        // the velocity at which it was carried was that of the way of the last step
        record.books[Cause::Integration] -= carried - record.carried;
        record.carried = carried;
        self.impulses.clear();
        self.impulses.resize(self.rows.len(), f64::NAN);
        self.prepared = true;
    }

    /// Rows of the step to come.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The impulse of a row as it was solved [N s].
    pub fn answer(&mut self, row: usize, impulse: f64) {
        self.impulses[row] = impulse;
    }

    /// The ground after the step. Returns the work of free bodies on it that is not that of rows [J].
    pub fn follow(&mut self, model: &Model, own: &ModelSoil, record: &mut SoilRecord, path: &[[Pose; 2]]) -> f64 {
        let (H, g) = (self.interval, own.gravity);
        let motions: Vec<Motion> = path.iter().map(|path| between(*path, H)).collect();
        if !self.prepared {
            self.prepare(own, record, &|b| Some(motions[b]));
        }
        self.prepared = false;
        let exchanged = self.book(model, record, &motions);
        let before = record.ground.raised;
        self.press(own, record, &motions);
        record.books[Cause::Compaction] -= g * (record.ground.raised - before);
        self.cut(own, record, &motions, path);
        self.feed(own, record);
        self.covered.clear();
        self.covered.extend(self.patches.iter().flat_map(|patch| patch.nodes.iter().map(|node| node.at)));
        self.covered.sort_unstable();
        let settled = record.ground.settle(H, g, &self.fences, &self.covered);
        record.books[Cause::SlidingSoil] += settled.lost;
        record.slid += settled.moved;
        record.intervals += 1;
        exchanged
    }

    /// Impulses on bodies of a given motion, and what all rows and loads did.
    fn book(&mut self, model: &Model, record: &mut SoilRecord, motions: &[Motion]) -> f64 {
        let H = self.interval;
        for (row, impulse) in self.rows.iter().zip(&mut self.impulses) {
            if !impulse.is_nan() {
                continue;
            }
            let motion = &motions[row.body as usize];
            *impulse = row.given(motion.v, motion.w);
            if model.bodies[row.body as usize].drive != Drive::Free {
                let work = -*impulse * row.rate(motion.v, motion.w);
                record.books[Cause::Work] += work;
                record.books[cause_of(row.about)] += work;
            }
        }
        let mut exchanged = 0.0;
        for (b, load) in record.loads.iter().enumerate() {
            let motion = &motions[b];
            let work = -H * load.dot(&Six::new(motion.w, motion.v));
            if work == 0.0 {
                continue;
            }
            record.books[Cause::Cutting] += work;
            match model.bodies[b].drive {
                Drive::Free => exchanged += work,
                _ => record.books[Cause::Work] += work,
            }
        }
        exchanged
    }

    /// What bodies leave where they pressed.
    fn press(&mut self, own: &ModelSoil, record: &mut SoilRecord, motions: &[Motion]) {
        for (patch, presser) in self.patches.iter().zip(&own.pressers) {
            if !patch.nodes.is_empty() {
                patch.leave(&mut record.ground, presser.body, &motions[presser.body as usize], self.interval);
            }
        }
    }

    /// What tools cut, push, take and pour.
    fn cut(&mut self, own: &ModelSoil, record: &mut SoilRecord, motions: &[Motion], path: &[[Pose; 2]]) {
        let (H, g) = (self.interval, own.gravity);
        self.fences.clear();
        let [mut carried, mut left] = [0.0; 2];
        for (k, tool) in own.tools.iter().enumerate() {
            let now = Motion { X_wc: path[tool.body as usize][1], ..motions[tool.body as usize] };
            let (ground, state) = (&mut record.ground, &mut record.tools[k]);
            let energy = |ground: &Ground, state: &ToolRecord| {
                tool.load_energy(state.load.wet(&ground.kinds), &now, g) + g * ground.raised
            };
            carried += tool.load_energy(state.load.wet(&ground.kinds), &now, g);
            let to = tool.placed(&now);
            let bite = self.placed[k].map(|(_, bite)| bite).unwrap_or_default();
            let rows = self.rows.iter().zip(&self.impulses);
            let own_row = |(row, _): &(&Row, &f64)| row.about == About::Cut(k as u32);
            let met: f64 = rows.filter(own_row).map(|(_, impulse)| *impulse).sum();
            state.share = if bite.along > 0.0 { (met / (bite.along * H)).clamp(0.0, 1.0) } else { 0.0 };
            state.force = [met / H, bite.down * state.share];
            let before = energy(ground, state);
            if let (Some((from, _)), Some(to)) = (&self.placed[k], &to) {
                tool.sweep(ground, state, from, to);
                self.fences.push(tool.fence(to));
            }
            let swept = energy(ground, state);
            record.books[Cause::Cutting] -= swept - before;
            let mut poured = tool.pour(ground, state, &now, [H, g]);
            if let (Some(to), true) = (&to, poured.mass() > 0.0) {
                tool.lay_along(ground, &mut poured, to);
            }
            record.books[Cause::SlidingSoil] -= energy(ground, state) - swept;
            left += tool.load_energy(state.load.wet(&ground.kinds), &now, g);
        }
        // what its rows did to it on its way, less what it has of that
        record.books[Cause::Integration] -= carried - record.carried;
        record.carried = left;
    }

    /// Soil that comes from feeds; it is put in with the height that it has then.
    fn feed(&self, own: &ModelSoil, record: &mut SoilRecord) {
        let t = record.intervals as f64 * self.interval;
        let before = record.ground.raised;
        for (feed, fed) in own.feeds.iter().zip(&mut record.fed) {
            if t < feed.times[0] || t >= feed.times[1] {
                continue;
            }
            let mut parcel = Parcel::default();
            parcel.add(feed.kind, feed.rate * self.interval);
            record.ground.lay(feed.cell, &parcel);
            *fed += parcel.mass();
        }
        record.books[Cause::Loads] += own.gravity * (record.ground.raised - before);
    }

    /// Energy of the ground since the start, and what was lost.
    pub fn books(&self, own: &ModelSoil, record: &SoilRecord) -> Ledger {
        let potential = own.gravity * record.ground.raised + record.carried;
        Ledger { potential, accounts: record.books, ..Ledger::default() }
    }
}

/// The account of what a row takes.
pub fn cause_of(about: About) -> Cause {
    match about {
        About::Bearing => Cause::Compaction,
        About::Cut(_) | About::Edge(_) => Cause::Cutting,
        About::Load(_) => Cause::Integration,
    }
}
