//! The step: velocity Verlet with the kicks of two steps in one pass.
//!
//!   v <- v + h/2 a,   x <- x + h v,   forces at x with this v,   v <- v + h/2 a       (grains.md eq. 11)
//!
//! Between the first and the last step of an advance a chunk's forces never leave the cache: as soon as they are summed, they
//! kick and move its grains into second arrays, and the arrays change places when all chunks are done.

use crate::forces::{ChunkSums, Pass, View};
use crate::grains::Six;
use crate::kick::{Kick, KickInto, Kicks};
use crate::neighbours::{DEEPEST, chunk_length};
use crate::solid::forces_of_all;
use crate::{GrainError, Grains, Settings, Wall};
use pulp::Arch;
use rayon::prelude::*;
use std::cell::RefCell;
use tippe_geometry::Vec3;

/// What an advance did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Steps taken.
    pub steps: u64,
    /// Lists made.
    pub rebuilds: u64,
    /// Largest speed seen at the last step [m/s].
    pub top_speed: f64,
    /// Step as a share of the shortest Rayleigh time [-].
    pub rayleigh_share: f64,
    /// The first grain found that moved by more than its radius in a step: it may have passed through others, or through walls.
    pub hasty: Option<Hasty>,
    /// The first wall that moves by more than the smallest radius in a step: it may pass through grains.
    pub hasty_wall: Option<HastyWall>,
}

/// A grain that moved by more than its radius in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hasty {
    /// Its id.
    pub id: u32,
    /// Time at the beginning of the step [s].
    pub time: f64,
    /// How far it moved [m].
    pub way: f64,
    /// Its radius [m].
    pub radius: f64,
    /// Step [s].
    pub step: f64,
}

impl std::fmt::Display for Hasty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Hasty { id, time, way, radius, step } = self;
        write!(
            f,
            "grain {id} moves {way:.3e} m in the step at t = {time:.6e} s, more than its radius {radius:.3e} m: it may pass through \
             others and through walls. help: start it slower, or use a smaller step than {step:.3e} s"
        )
    }
}

/// A wall that moves by more than the smallest radius in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HastyWall {
    /// Its index.
    pub wall: usize,
    /// Time at the beginning of the interval [s].
    pub time: f64,
    /// Its largest speed, along the normal of a plane [m/s].
    pub speed: f64,
    /// Smallest radius of all grains [m].
    pub radius: f64,
    /// Step [s].
    pub step: f64,
}

impl Grains {
    /// Advances all grains and walls by `steps` steps. Walls move at their constant velocity and spin; their impulses
    /// grow by what the grains gave them.
    pub fn advance(&mut self, settings: &Settings, walls: &mut [Wall], steps: u64) -> Result<Report, GrainError> {
        settings.validate()?;
        let rayleigh_share = self.check_step(settings)?;
        for (k, wall) in walls.iter().enumerate() {
            wall.validate(k, settings.materials.len())?;
        }
        self.check_walls_of_solids(walls)?;
        if self.is_empty() {
            self.wait(settings.step, walls, steps);
            return Ok(Report { steps, ..Report::default() });
        }
        // from inside the pool: a call from outside would wake a thread three times a step
        rayon::scope(|_| self.advance_inside(settings, walls, steps, rayleigh_share))
    }

    fn advance_inside(
        &mut self,
        settings: &Settings,
        walls: &mut [Wall],
        steps: u64,
        rayleigh_share: f64,
    ) -> Result<Report, GrainError> {
        let rebuilds = self.rebuilds;
        let pass = Pass::new(self, settings);
        let h = settings.step;
        if steps == 0 {
            return Ok(Report { rayleigh_share, ..Report::default() });
        }
        if !self.chunks.iter().all(|c| c.lists == pass.lists()) {
            self.travel = f64::MAX;
        }
        if !self.fresh {
            self.list_if_due(settings, walls, &pass)?;
            let held = self.books.elastic;
            self.sum_forces(walls, &pass, 0.0);
            // grains that were put in overlapping bring the energy of their contacts along
            self.books.put_in += self.books.elastic - held;
        }
        let mut top_speed = self.kick(&pass, false, true)?;
        let smallest = self.position.iter().fold(f64::INFINITY, |least, p| least.min(p[3]));
        let hasty_wall = self.hasty_wall(walls, h, smallest);
        let mut hasty = None;
        for left in (0..steps).rev() {
            if hasty.is_none() && top_speed * h > smallest {
                hasty = self.hasty(h);
            }
            self.travel += top_speed * h;
            if self.travel < f64::MAX {
                self.pace(h);
            }
            self.wall_travel += walls.iter().map(|w| w.top_speed(|| self.reach_from(w))).fold(0.0, f64::max) * h;
            walls.iter_mut().for_each(|w| w.move_by(h));
            self.list_if_due(settings, walls, &pass)?;
            self.steps += 1;
            self.time += h;
            if left > 0 && self.clumps.is_empty() {
                top_speed = self.sum_and_kick(walls, &pass)?;
                continue;
            }
            self.sum_forces(walls, &pass, h);
            if left > 0 {
                top_speed = self.kick(&pass, true, true)?;
            }
        }
        self.kick(&pass, true, false)?;
        Ok(Report { steps, rebuilds: self.rebuilds - rebuilds, top_speed, rayleigh_share, hasty, hasty_wall })
    }

    /// The first grain that moves by more than its radius in a step `h` [s].
    fn hasty(&self, h: f64) -> Option<Hasty> {
        let way = |k: usize| {
            let v = &self.motion[k].linear;
            h * Vec3::new(v[0], v[1], v[2]).length()
        };
        let k = (0..self.len()).find(|&k| way(k) > self.position[k][3])?;
        let radius = self.position[k][3];
        Some(Hasty { id: self.id[k], time: self.time, way: way(k), radius, step: h })
    }

    /// The first wall that moves by more than `smallest` in a step `h` [m, s].
    pub(crate) fn hasty_wall(&self, walls: &[Wall], h: f64, smallest: f64) -> Option<HastyWall> {
        let mut speeds = walls.iter().map(|w| w.closing_speed(|| self.reach_from(w))).enumerate();
        let (wall, speed) = speeds.find(|(_, speed)| speed * h > smallest)?;
        Some(HastyWall { wall, time: self.time, speed, radius: smallest, step: h })
    }

    /// Time and walls move on where there are no grains yet, or none any more.
    fn wait(&mut self, h: f64, walls: &mut [Wall], steps: u64) {
        for wall in walls.iter_mut() {
            (wall.force, wall.torque) = (Vec3::ZERO, Vec3::ZERO);
            (0..steps).for_each(|_| wall.move_by(h));
        }
        (0..steps).for_each(|_| self.time += h);
        self.steps += steps;
    }

    /// Distance of the farthest point of any grain from the origin of a wall [m].
    pub(crate) fn reach_from(&self, wall: &Wall) -> f64 {
        let o = wall.X_ws.position;
        self.position.iter().fold(0.0f64, |m, p| m.max((Vec3::new(p[0], p[1], p[2]) - o).length() + p[3]))
    }

    /// Grains have moved for a step `h` [s]: how much closer may they have come?
    fn pace(&mut self, h: f64) {
        for (c, chunk) in self.chunks.iter_mut().enumerate() {
            chunk.set_pace(c, &self.top_speeds, h);
            chunk.moved();
        }
    }

    fn list_if_due(&mut self, settings: &Settings, walls: &[Wall], pass: &Pass) -> Result<(), GrainError> {
        let met = self.chunks.iter().any(|c| c.since_listing >= self.skin);
        if met || self.travel + self.wall_travel >= self.skin {
            self.rebuild(settings, walls, pass.lists(), DEEPEST)?;
        }
        Ok(())
    }

    /// Half kicks with the present forces: the end of one step (`finish`), the beginning of the next and its drift
    /// (`begin`). Returns the largest speed [m/s].
    fn kick(&mut self, pass: &Pass, finish: bool, begin: bool) -> Result<f64, GrainError> {
        let length = chunk_length(self.len());
        let chunks = self.position.par_chunks_mut(length).zip(self.motion.par_chunks_mut(length));
        let arch = Arch::new();
        let top = chunks.zip(self.load.par_chunks(length)).map(|((x, motion), load)| {
            arch.dispatch(Kick { x, motion, load, by: Kicks { h: pass.h, gravity: pass.gravity, finish, begin } })
        });
        let tops: Vec<u64> = top.collect();
        let top = self.finite_top(&tops, pass.h)?;
        let g = Vec3::new(pass.gravity[0], pass.gravity[1], pass.gravity[2]);
        let of_clumps = self.kick_clumps(pass.h, g, finish, begin).sqrt();
        self.top_speeds.iter_mut().for_each(|v| *v = v.max(of_clumps));
        self.fresh = !begin;
        Ok(top.max(of_clumps))
    }

    /// Largest speed [m/s], and that of each chunk, from the bits of the squares; an error where a speed is no number.
    fn finite_top(&mut self, tops: &[u64], step: f64) -> Result<f64, GrainError> {
        self.top_speeds.clear();
        self.top_speeds.extend(tops.iter().map(|bits| f64::from_bits(*bits).sqrt()));
        let top = f64::from_bits(tops.iter().copied().fold(0, u64::max));
        if top.is_finite() {
            return Ok(top.sqrt());
        }
        let lost = self.motion.iter().position(|m| !m.linear[..3].iter().sum::<f64>().is_finite()).unwrap_or(0);
        Err(GrainError::NotFinite { time: self.time, id: self.id[lost], step })
    }

    /// Forces and torques at the present positions; impulses of walls grow over `h` by the trapezoidal rule.
    fn sum_forces(&mut self, walls: &mut [Wall], pass: &Pass, h: f64) {
        let length = chunk_length(self.len());
        let normals: Vec<Vec3> = walls.iter().map(|w| w.X_ws.rotation * Vec3::Z).collect();
        let Grains { position, motion, class, clump, clumps, chunks, load, skin, .. } = self;
        let view = View { position, motion, class, clump, clumps, walls, normals: &normals, skin: *skin };
        let sums: Vec<ChunkSums> = chunks
            .par_iter_mut()
            .with_max_len(1)
            .zip(load.par_chunks_mut(length))
            .map(|(chunk, load)| forces_of_all(chunk, &view, pass, load))
            .collect();
        self.book(&sums, walls, h);
    }

    /// The same, and both half kicks and the drift with these forces, chunk by chunk. Returns the largest speed [m/s].
    fn sum_and_kick(&mut self, walls: &mut [Wall], pass: &Pass) -> Result<f64, GrainError> {
        let length = chunk_length(self.len());
        let normals: Vec<Vec3> = walls.iter().map(|w| w.X_ws.rotation * Vec3::Z).collect();
        self.next_position.resize(self.len(), [0.0; 4]);
        let Grains { position, motion, class, clump, clumps, chunks, load: next_motion, next_position, skin, .. } =
            self;
        let view = View { position, motion, class, clump, clumps, walls, normals: &normals, skin: *skin };
        let arch = Arch::new();
        let next = next_position.par_chunks_mut(length).zip(next_motion.par_chunks_mut(length));
        // chunk by chunk: whoever is done first finds more to do
        let (sums, tops): (Vec<ChunkSums>, Vec<u64>) = chunks
            .par_iter_mut()
            .with_max_len(1)
            .zip(next)
            .map(|(chunk, (x, next_motion))| {
                LOAD.with_borrow_mut(|load| {
                    let own = chunk.start as usize..(chunk.start + chunk.len) as usize;
                    load.resize(own.len(), Six::default());
                    let sums = forces_of_all(chunk, &view, pass, load);
                    let by = Kicks { h: pass.h, gravity: pass.gravity, finish: true, begin: true };
                    let (from_x, from_motion) = (&view.position[own.clone()], &view.motion[own]);
                    (sums, arch.dispatch(KickInto { x, motion: next_motion, from_x, from_motion, load, by }))
                })
            })
            .unzip();
        std::mem::swap(&mut self.position, &mut self.next_position);
        std::mem::swap(&mut self.motion, &mut self.load);
        self.book(&sums, walls, pass.h);
        self.finite_top(&tops, pass.h)
    }

    /// What the chunks found goes to the books and the walls.
    fn book(&mut self, sums: &[ChunkSums], walls: &mut [Wall], h: f64) {
        self.books.elastic = sums.iter().fold(0.0, |sum, s| sum + s.1.elastic);
        if h > 0.0 {
            sums.iter().for_each(|s| self.books.losses.add(&s.1.losses));
        }
        for (k, wall) in walls.iter_mut().enumerate() {
            let before = [wall.force, wall.torque];
            wall.force = sums.iter().fold(Vec3::ZERO, |sum, s| sum + s.0[k][0]);
            wall.torque = sums.iter().fold(Vec3::ZERO, |sum, s| sum + s.0[k][1]);
            let (force, torque) = (0.5 * h * (before[0] + wall.force), 0.5 * h * (before[1] + wall.torque));
            wall.impulse += force;
            wall.angular_impulse += torque;
            let work = -(force.dot(wall.velocity) + torque.dot(wall.spin));
            wall.work += work;
            self.books.put_in += work;
        }
    }
}

thread_local! {
    /// Forces of the chunk a thread works on: small enough to stay in its cache.
    static LOAD: RefCell<Vec<Six>> = const { RefCell::new(Vec::new()) };
}
