//! Grains among bodies as a subsystem of the precise and the realtime clock (docs/theory/grains.md, eqs. 23 and 24).
//!
//! When bodies have made their way through an interval the grains follow it in substeps of their own: every wall goes from where its
//! body was to where it is now, at constant velocity and spin. What they give the bodies acts in the next interval.

use crate::cause::Cause;
use crate::joint::Six;
use crate::kinematics::rotation_vector;
use crate::ledger::Ledger;
use crate::model::{Drive, GrainMeasure, GrainWall, Model, ModelGrains, SignalSource};
use crate::observe::{GrainSummary, Observe};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tippe_geometry::{Mat3, Pose, Vec3};
use tippe_granular::{Clump, Emitter, Frame, GrainError, Grains, Hasty, HastyWall, Heights, Sink, Surface, Wall};
use tippe_soil::Ground;

/// So few grains are no work to share: they stay on the thread that calls.
const FEW: usize = 2500;

/// Substeps of grains in an interval [s]: as few as their step allows.
pub fn substeps(interval: f64, own: &ModelGrains) -> f64 {
    (interval / own.settings.step - 1e-6).ceil().max(1.0)
}

/// What survives an interval of the grains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrainRecord {
    /// All grains.
    pub grains: Grains,
    /// Intervals made.
    pub intervals: u64,
    walls: Vec<WallRecord>,
    emitters: Vec<Emitter>,
    sinks: Vec<Sink>,
    /// {torque about the centre of mass, force} on each body in the last interval: means.
    pub loads: Vec<Six>,
    /// What their books had been given at the start [J].
    put_in: f64,
    /// What changes of the ground put in since the start [J].
    shifted: f64,
    /// The ground as they feel it.
    ground: Heights,
    /// Work of free bodies on them since the start [J].
    pub exchanged: f64,
    /// Snapshots shown.
    pub snapshots: u64,
}

impl PartialEq for GrainRecord {
    /// The grains are compared by the hash of all their bits.
    fn eq(&self, other: &GrainRecord) -> bool {
        (&self.walls, &self.loads, self.intervals) == (&other.walls, &other.loads, other.intervals)
            && (&self.emitters, &self.sinks) == (&other.emitters, &other.sinks)
            && (self.put_in, self.exchanged, self.snapshots) == (other.put_in, other.exchanged, other.snapshots)
            && (self.shifted, &self.ground) == (other.shifted, &other.ground)
            && self.grains.hash() == other.grains.hash()
    }
}

impl GrainRecord {
    /// Of a model at its start, if it has grains.
    pub fn start(model: &Model) -> Option<GrainRecord> {
        let own = model.grains.as_ref()?;
        // a compiled model has grains that can be put in: it was tried
        let grains = own.grains().unwrap_or_else(|_| Grains::new());
        Some(GrainRecord {
            intervals: 0,
            walls: own.walls.iter().map(|w| WallRecord::of(&w.wall)).collect(),
            emitters: own.emitters.clone(),
            sinks: own.empty_sinks(),
            loads: vec![Six::default(); model.bodies.len()],
            put_in: grains.ledger(&own.settings).put_in,
            shifted: 0.0,
            ground: Heights::default(),
            exchanged: 0.0,
            snapshots: 0,
            grains,
        })
    }

    /// Energy that grains brought along which came from soil, or went back to it [J].
    pub fn given(&mut self, energy: f64) {
        self.put_in += energy;
    }

    /// Values of the model's signals of grains, by signal: loads are means of the last interval.
    pub fn signals(&self, model: &Model, own: &ModelGrains) -> Vec<(u32, f64)> {
        let sets = SetMeasures::of(own, &self.grains);
        let probed = own.probed(&self.grains);
        let value = |source: SignalSource| match source {
            SignalSource::Grains { set, measure } => Some(sets[set as usize].value(measure)),
            SignalSource::Sink { sink, measure } => Some(measure.value(&self.sinks[sink as usize])),
            SignalSource::Probe { probe, measure } => Some(measure.value(&probed[probe as usize])),
            SignalSource::GrainLoad { body, component } => {
                let Six { angular: torque, linear: force } = self.loads[body as usize];
                Some([force, torque][component as usize / 3][component as usize % 3])
            }
            _ => None,
        };
        let signals = (0..).zip(&model.signals);
        signals.filter_map(|(k, signal)| value(signal.source).map(|value| (k, value))).collect()
    }
}

/// Grains that follow the bodies.
pub struct GrainCoupling {
    settings: tippe_granular::Settings,
    /// Length of an interval [s].
    pub interval: f64,
    /// Substeps of an interval.
    substeps: u64,
    /// Intervals between two times at which emitters give and sinks take.
    emitter_intervals: u64,
    walls: Vec<Wall>,
    pool: Option<rayon::ThreadPool>,
    tally: GrainSummary,
    rebuilds: u64,
    /// The first grain that moved by more than its radius in a substep.
    hasty: Option<Hasty>,
    /// The first wall that moved by more than the smallest radius in a substep.
    hasty_wall: Option<HastyWall>,
}

impl GrainCoupling {
    /// Going on from a record in intervals [s] on so many threads.
    pub fn resume(model: &Model, record: &GrainRecord, interval: f64, threads: usize) -> Option<GrainCoupling> {
        let own = model.grains.as_ref()?;
        let substeps = substeps(interval, own);
        let step = interval / substeps;
        let mut walls = WallRecord::restore(own, &record.walls);
        if model.soil.is_some() {
            walls.push(Wall::new(Surface::Ground(Arc::new(record.ground.clone())), Pose::IDENTITY));
        }
        Some(GrainCoupling {
            settings: tippe_granular::Settings { step, ..own.settings.clone() },
            interval,
            substeps: substeps as u64,
            emitter_intervals: (EMITTER_INTERVAL / interval - 1e-6).ceil().max(1.0) as u64,
            walls,
            pool: rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok(),
            tally: GrainSummary { step, rayleigh_share: step / own.rayleigh, ..GrainSummary::default() },
            rebuilds: record.grains.rebuilds,
            hasty: None,
            hasty_wall: None,
        })
    }

    /// What grains touch, the ground last.
    pub fn walls(&self) -> &[Wall] {
        &self.walls
    }

    /// Settings of the grains.
    pub fn settings(&self) -> &tippe_granular::Settings {
        &self.settings
    }

    /// Grains follow the bodies from where they were to where they are, over the ground. Returns the work of the free ones on them [J].
    pub fn follow(
        &mut self,
        model: &Model,
        own: &ModelGrains,
        record: &mut GrainRecord,
        path: &[[Pose; 2]],
        ground: Option<&Ground>,
    ) -> Result<f64, GrainError> {
        let H = self.interval;
        if let (Some(ground), Some(wall)) = (ground, self.walls.last_mut()) {
            wall.surface = Surface::Ground(Arc::new(feel(ground, record, H)));
        }
        for (wall, of) in self.walls.iter_mut().zip(&own.walls) {
            let [from, to] = path[of.body as usize].map(|X_wc| X_wc.then(&of.X_cs));
            let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
            wall.X_ws = from;
            wall.velocity = (to.position - from.position) / H;
            wall.spin = rotation_vector(&turn) / H;
        }
        for wall in &mut self.walls {
            (wall.impulse, wall.angular_impulse, wall.work) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        }
        let due = record.intervals.is_multiple_of(self.emitter_intervals);
        let time = self.emitter_intervals as f64 * H;
        let few = record.grains.len() <= FEW;
        let mut went = || {
            if due {
                for sink in &mut record.sinks {
                    sink.swallow(&mut record.grains, &self.settings, time);
                }
                for emitter in &mut record.emitters {
                    emitter.emit(&mut record.grains, &self.walls, &self.settings, time)?;
                    Grains::check_memory(record.grains.len(), own.memory)?;
                }
            }
            let before = record.grains.put_in();
            let report = match own.position {
                Some(stiffness) => {
                    let frame = Frame { time: H, substeps: self.substeps as u32, stiffness };
                    record.grains.advance_frame(&self.settings, &mut self.walls, &frame)?
                }
                None => record.grains.advance(&self.settings, &mut self.walls, self.substeps)?,
            };
            let by_walls: f64 = self.walls.iter().map(|wall| wall.work).sum();
            if ground.is_some() {
                record.shifted += record.grains.put_in() - before - by_walls;
            }
            Ok::<_, GrainError>(report)
        };
        let report = match &self.pool {
            Some(pool) if !few => pool.install(&mut went)?,
            _ => went()?,
        };
        self.hasty = self.hasty.or(report.hasty);
        self.hasty_wall = self.hasty_wall.or(report.hasty_wall);
        record.intervals += 1;
        self.tally.particle_steps += self.substeps * record.grains.len() as u64;
        record.loads.fill(Six::default());
        let mut exchanged = 0.0;
        for (wall, of) in self.walls.iter().zip(&own.walls) {
            let b = of.body as usize;
            let [from, to] = path[b];
            // about the centre of mass, in the middle of the interval
            let arm = 0.5 * (from.then(&of.X_cs).position - from.position + to.then(&of.X_cs).position - to.position);
            let torque = (wall.angular_impulse + arm.cross(wall.impulse)) / H;
            record.loads[b] = record.loads[b] + Six::new(torque, wall.impulse / H);
            if model.bodies[b].drive == Drive::Free {
                exchanged += wall.work;
            }
        }
        record.exchanged += exchanged;
        record.walls.clear();
        record.walls.extend(self.walls.iter().map(WallRecord::of));
        Ok(exchanged)
    }

    /// The books of the grains.
    pub fn books(&self, record: &GrainRecord) -> Ledger {
        let mut ledger = Ledger::of_grains(&record.grains.ledger(&self.settings));
        ledger[Cause::Work] -= record.put_in + record.exchanged + record.shifted;
        ledger[Cause::Integration] -= record.shifted;
        ledger
    }

    /// Shows all grains where a snapshot is due at time t [s].
    pub fn show(&self, own: &ModelGrains, record: &mut GrainRecord, t: f64, observe: &mut dyn Observe) {
        let due = 1 + ((t + 0.5 * self.interval) / own.snapshot_interval) as u64;
        if due > record.snapshots {
            record.snapshots = due;
            observe.grains(&record.grains);
        }
    }

    /// What went wrong without an end to the run.
    pub fn warnings(&self, model: &Model, own: &ModelGrains, record: &GrainRecord) -> Vec<String> {
        let mut warnings: Vec<String> = self.hasty.iter().map(Hasty::to_string).collect();
        warnings.extend(self.hasty_wall.iter().map(|hasty| own.describe_hasty(model, hasty)));
        warnings.extend(own.starved(&record.emitters));
        warnings
    }

    /// What the run says of its grains, and the hash of all their bits.
    pub fn summary(&self, record: &GrainRecord) -> (GrainSummary, u64) {
        let grains = &record.grains;
        let summary = GrainSummary {
            count: grains.len(),
            contacts: (0.5 * grains.coordination() * grains.len() as f64).round() as usize,
            rebuilds: grains.rebuilds - self.rebuilds,
            lost: grains.lost,
            bytes: grains.bytes(),
            ..self.tally
        };
        (summary, grains.hash())
    }
}

/// The ground as grains feel it, around all of them: it sinks at once, and rises no faster than what comes to rest on it.
fn feel(ground: &Ground, record: &mut GrainRecord, H: f64) -> Heights {
    let grains = &record.grains;
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    let mut margin = 2.0 * ground.cell;
    for place in 0..grains.len() {
        let grain = grains.grain(place);
        for k in 0..2 {
            low[k] = low[k].min(grain.position[k]);
            high[k] = high[k].max(grain.position[k]);
        }
        margin = margin.max(2.0 * ground.cell + 4.0 * grain.radius);
    }
    if grains.is_empty() {
        // those to come appear next to what is known by then
        return record.ground.clone();
    }
    let first = ground.nearest(low.map(|x| x - margin));
    let last = ground.nearest(high.map(|x| x + margin));
    let counts = [0, 1].map(|k| last[k] - first[k] + 1);
    let before = &record.ground;
    let shift = [0, 1].map(|k| ((ground.centre(first)[k] - before.low[k]) / ground.cell).round() as isize);
    let mut z = Vec::with_capacity(counts[0] * counts[1]);
    let mut changed = 0.0f64;
    for j in 0..counts[1] {
        for i in 0..counts[0] {
            let now = ground.height([first[0] + i, first[1] + j]);
            let at = [i as isize + shift[0], j as isize + shift[1]];
            let known = !before.z.is_empty() && (0..2).all(|k| at[k] >= 0 && (at[k] as usize) < before.counts[k]);
            let height = if known {
                let old = before.z[at[1] as usize * before.counts[0] + at[0] as usize];
                let height = now.min(old + RISE * H);
                changed = changed.max((height - old).abs());
                height
            } else {
                now
            };
            z.push(height);
        }
    }
    if changed > 0.0 {
        record.grains.walls_changed(changed);
    }
    record.ground = Heights { counts, low: ground.centre(first), spacing: ground.cell, z };
    record.ground.clone()
}

/// Speed at which ground that something was laid on rises for the grains on it [m/s]: what counts as rest (`exchange.rs`).
const RISE: f64 = 0.1;

/// Time between two times at which emitters give grains and sinks take them, about [s]: grains that fall from a metre move 4 mm in it.
pub const EMITTER_INTERVAL: f64 = 1e-3;
/// Sectors in which the slope of a pile is measured.
const SECTORS: usize = 12;

/// What survives of a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WallRecord {
    X_ws: Pose,
    force: Vec3,
    torque: Vec3,
}

impl WallRecord {
    /// Of a wall.
    pub fn of(wall: &Wall) -> WallRecord {
        WallRecord { X_ws: wall.X_ws, force: wall.force, torque: wall.torque }
    }

    /// The walls of a model as they were left.
    pub fn restore(own: &ModelGrains, records: &[WallRecord]) -> Vec<Wall> {
        let wall = |(own, record): (&GrainWall, &WallRecord)| Wall {
            X_ws: record.X_ws,
            force: record.force,
            torque: record.torque,
            ..own.wall.clone()
        };
        own.walls.iter().zip(records).map(wall).collect()
    }
}

/// Sums over one set of grains.
#[derive(Clone, Debug)]
pub struct SetMeasures {
    count: f64,
    mass: f64,
    centre: Vec3,
    momentum: Vec3,
    spin: Vec3,
    /// About the origin until all grains are counted, then about the centre of mass.
    angular_momentum: Vec3,
    kinetic: f64,
    lowest: f64,
    highest: f64,
    coordination: f64,
    slope: f64,
}

impl Default for SetMeasures {
    fn default() -> Self {
        SetMeasures {
            count: 0.0,
            mass: 0.0,
            centre: Vec3::ZERO,
            momentum: Vec3::ZERO,
            spin: Vec3::ZERO,
            angular_momentum: Vec3::ZERO,
            kinetic: 0.0,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            coordination: 0.0,
            slope: f64::NAN,
        }
    }
}

impl SetMeasures {
    /// Sums over all sets, grain by grain in the order of the places.
    pub fn of(own: &ModelGrains, grains: &Grains) -> Vec<SetMeasures> {
        let mut sets = vec![SetMeasures::default(); own.sets.len()];
        for place in 0..grains.len() {
            let grain = grains.grain(place);
            let Some(sums) = sets.get_mut(usize::from(grain.class)) else { continue };
            if let Some(solid) = grains.solid(place) {
                sums.add_solid(solid);
                continue;
            }
            let r = grain.radius;
            let density = own.settings.materials[usize::from(grain.class)].density;
            let mass = density * 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
            let counted = grains.clump_of(place).is_none_or(|c| grains.clumps()[c].ids[0] == grains.ids()[place]);
            sums.count += f64::from(u8::from(counted));
            sums.mass += mass;
            sums.centre += mass * grain.position;
            sums.momentum += mass * grain.velocity;
            sums.spin += mass * grain.spin;
            sums.angular_momentum += mass * (grain.position.cross(grain.velocity) + 0.4 * r * r * grain.spin);
            if !grain.frozen {
                let turning = 0.4 * r * r * grain.spin.length_squared();
                sums.kinetic += 0.5 * mass * (grain.velocity.length_squared() + turning);
            }
            sums.lowest = sums.lowest.min(grain.position.z - r);
            sums.highest = sums.highest.max(grain.position.z + r);
        }
        for (class, sums) in sets.iter_mut().enumerate() {
            if sums.mass > 0.0 {
                sums.angular_momentum -= sums.centre.cross(sums.momentum) / sums.mass;
            }
            sums.coordination = grains.coordination_of(class as u8);
            sums.slope = grains.angle_of_repose(Some(class as u8), SECTORS).map_or(f64::NAN, |pile| pile.angle);
        }
        sets
    }

    fn add_solid(&mut self, solid: &Clump) {
        let (x, v, mass) = (solid.X_wc.position, solid.velocity, solid.mass);
        self.count += 1.0;
        self.mass += mass;
        self.centre += mass * x;
        self.momentum += mass * v;
        self.spin += mass * solid.spin();
        self.angular_momentum += mass * x.cross(v) + solid.momentum;
        self.kinetic += solid.kinetic_energy();
        if let Some(shape) = &solid.solid {
            let bounds = shape.aabb(&solid.X_wc);
            self.lowest = self.lowest.min(bounds.min.z);
            self.highest = self.highest.max(bounds.max.z);
        }
    }

    /// Not a number where an empty set has none.
    pub fn value(&self, measure: GrainMeasure) -> f64 {
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        match measure {
            GrainMeasure::Count => self.count,
            GrainMeasure::Mass => self.mass,
            GrainMeasure::Spin(k) => self.spin[usize::from(k)] / self.mass,
            GrainMeasure::AngularMomentum(k) => self.angular_momentum[usize::from(k)],
            GrainMeasure::KineticEnergy => self.kinetic,
            GrainMeasure::Coordination => self.coordination,
            GrainMeasure::Centre(k) => self.centre[usize::from(k)] / self.mass,
            GrainMeasure::Velocity(k) => self.momentum[usize::from(k)] / self.mass,
            GrainMeasure::Lowest => finite(self.lowest),
            GrainMeasure::Highest => finite(self.highest),
            GrainMeasure::Slope => self.slope,
        }
    }
}
