//! The step: velocity Verlet with the kicks of two steps in one pass.
//!
//!   v <- v + h/2 a,   x <- x + h v,   forces at x with this v,   v <- v + h/2 a       (grains.md eq. 11)
//!
//! Between the first and the last step of an advance a chunk's forces never leave the cache: as soon as they are summed, they
//! kick and move its grains into second arrays, and the arrays change places when all chunks are done.

use crate::chunk::{Chunk, Lists, TOUCH};
use crate::grains::Six;
use crate::law::full::{Extra, Losses, Meeting, NO_EXTRA, energy_at_release, pair_range, pull_range};
use crate::law::{BATCH, Batch, Between, V4, cross, dot, each, each4};
use crate::neighbours::{DEEPEST, PeriodicSizes, chunk_length, nearest_image};
use crate::settings::Coefficients;
use crate::wall::{CONTACTS, WallContact, WallHistory, WallPair};
use crate::{GrainError, Grains, Settings, Wall};
use pulp::{Arch, Simd, WithSimd};
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
}

/// Force and torque on one wall.
pub(crate) type WallSum = [Vec3; 2];

impl Grains {
    /// Advances all grains and walls by `steps` steps. Walls move at their constant velocity and spin; their impulses
    /// grow by what the grains gave them.
    pub fn advance(&mut self, settings: &Settings, walls: &mut [Wall], steps: u64) -> Result<Report, GrainError> {
        settings.validate()?;
        let rayleigh_share = self.check_step(settings)?;
        for (k, wall) in walls.iter().enumerate() {
            wall.validate(k, settings.materials.len())?;
        }
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
        for left in (0..steps).rev() {
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
        Ok(Report { steps, rebuilds: self.rebuilds - rebuilds, top_speed, rayleigh_share })
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
        let Grains { position, motion, class, chunks, load, skin, .. } = self;
        let view = View { position, motion, class, walls, normals: &normals, skin: *skin };
        let sums: Vec<ChunkSums> = chunks
            .par_iter_mut()
            .zip(load.par_chunks_mut(length))
            .map(|(chunk, load)| forces_of(chunk, &view, pass, load))
            .collect();
        self.book(&sums, walls, h);
    }

    /// The same, and both half kicks and the drift with these forces, chunk by chunk. Returns the largest speed [m/s].
    fn sum_and_kick(&mut self, walls: &mut [Wall], pass: &Pass) -> Result<f64, GrainError> {
        let length = chunk_length(self.len());
        let normals: Vec<Vec3> = walls.iter().map(|w| w.X_ws.rotation * Vec3::Z).collect();
        self.next_position.resize(self.len(), [0.0; 4]);
        let Grains { position, motion, class, chunks, load: next_motion, next_position, skin, .. } = self;
        let view = View { position, motion, class, walls, normals: &normals, skin: *skin };
        let arch = Arch::new();
        let next = next_position.par_chunks_mut(length).zip(next_motion.par_chunks_mut(length));
        let (sums, tops): (Vec<ChunkSums>, Vec<u64>) = chunks
            .par_iter_mut()
            .zip(next)
            .map(|(chunk, (x, next_motion))| {
                LOAD.with_borrow_mut(|load| {
                    let own = chunk.start as usize..(chunk.start + chunk.len) as usize;
                    load.resize(own.len(), Six::default());
                    let sums = forces_of(chunk, &view, pass, load);
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

/// Force and torque on every wall, and what goes to the books.
type ChunkSums = (Vec<WallSum>, ChunkBooks);

/// Forces and torques on the grains of one chunk.
fn forces_of(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six]) -> ChunkSums {
    load.fill(Six::default());
    if chunk.is_due() {
        chunk.choose(view.position, &pass.sizes, view.skin, pass.pull);
    }
    match (pass.alike.is_some(), pass.table.len() > 1, pass.sizes.any) {
        _ if pass.full => {
            let mut books = full_pairs(chunk, view, pass, load);
            let sums = full_walls(chunk, view, pass, load, &mut books);
            return (sums, books);
        }
        (true, _, false) => Pairs::<true, false, false>::sum(chunk, view, pass, load),
        (true, _, true) => Pairs::<true, false, true>::sum(chunk, view, pass, load),
        (false, false, false) => Pairs::<false, false, false>::sum(chunk, view, pass, load),
        (false, false, true) => Pairs::<false, false, true>::sum(chunk, view, pass, load),
        (false, true, false) => Pairs::<false, true, false>::sum(chunk, view, pass, load),
        (false, true, true) => Pairs::<false, true, true>::sum(chunk, view, pass, load),
    }
    (Arch::new().dispatch(WallTouches { chunk, view, pass, load }), ChunkBooks::default())
}

/// What stays the same over an advance.
pub(crate) struct Pass {
    pub h: f64,
    pub gravity: V4,
    pub table: Vec<Coefficients>,
    pub classes: usize,
    pub sizes: PeriodicSizes,
    /// Radius, effective radius and effective mass of any pair, where all grains are alike.
    pub alike: Option<[f64; 3]>,
    /// The law has more than Hertz, Mindlin and Coulomb, or books are kept.
    pub full: bool,
    /// Largest gap at which any pair still attracts [m].
    pub pull: f64,
}

impl Pass {
    fn lists(&self) -> Lists {
        if self.full { Lists::Full } else { Lists::Plain }
    }

    fn new(grains: &Grains, settings: &Settings) -> Pass {
        let g = settings.gravity;
        let table = settings.coefficients();
        let first = grains.position.first().zip(grains.motion.first()).map(|(x, m)| (x[3], m.linear[3]));
        let alike = first.filter(|(r, inv_mass)| {
            let mut all = grains.position.iter().zip(&grains.motion);
            table.len() == 1
                && *inv_mass > 0.0
                && grains.clumps.is_empty()
                && all.all(|(x, m)| x[3] == *r && m.linear[3] == *inv_mass)
        });
        let alike = alike.map(|(r, inv_mass)| [r, 0.5 * r, 0.5 / inv_mass]);
        let full = settings.ledger || !table.iter().all(Coefficients::is_plain);
        Pass {
            h: settings.step,
            gravity: [g.x, g.y, g.z, 0.0],
            table,
            classes: settings.materials.len(),
            sizes: PeriodicSizes::new(settings),
            alike,
            full,
            pull: pull_range(settings, grains.position.iter().map(|p| p[3]).fold(0.0, f64::max)),
        }
    }
}

/// What all chunks read.
struct View<'a> {
    position: &'a [V4],
    motion: &'a [Six],
    class: &'a [u8],
    walls: &'a [Wall],
    /// z axes of the walls.
    normals: &'a [Vec3],
    /// `Grains::skin`.
    skin: f64,
}

/// Half kicks and drift.
#[derive(Clone, Copy)]
struct Kicks {
    h: f64,
    gravity: V4,
    finish: bool,
    begin: bool,
}

impl Kicks {
    /// Position and motion of one grain after it, and the bits of the square of its speed: squares are ordered like
    /// their bits, and NaN comes last.
    #[inline(always)]
    fn of(&self, mut x: V4, motion: &Six, load: &Six) -> (V4, Six, u64) {
        let half = 0.5 * self.h;
        let drift = [self.h, self.h, self.h, 0.0];
        let (mut v, mut w) = (motion.linear, motion.angular);
        let (inv_mass, inv_inertia) = (v[3], w[3]);
        let free = if inv_mass > 0.0 { half } else { 0.0 };
        // fourth numbers do not change: inverse mass, inverse inertia, radius
        let (per_mass, per_inertia) =
            ([inv_mass, inv_mass, inv_mass, 0.0], [inv_inertia, inv_inertia, inv_inertia, 0.0]);
        let dv = each4(|i| half * (load.linear[i] * per_mass[i]) + free * self.gravity[i]);
        let dw = each4(|i| half * (load.angular[i] * per_inertia[i]));
        if self.finish {
            v = each4(|i| v[i] + dv[i]);
            w = each4(|i| w[i] + dw[i]);
        }
        if self.begin {
            v = each4(|i| v[i] + dv[i]);
            w = each4(|i| w[i] + dw[i]);
            x = each4(|i| x[i] + drift[i] * v[i]);
        }
        let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).to_bits();
        (x, Six { linear: v, angular: w }, speed)
    }
}

/// Kicks of one chunk; gives the bits of the largest square of a speed. What is done `with_simd` is compiled for the instructions
/// the machine has.
struct Kick<'a> {
    x: &'a mut [V4],
    motion: &'a mut [Six],
    load: &'a [Six],
    by: Kicks,
}

impl WithSimd for Kick<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let mut top = 0u64;
        for ((x, motion), load) in self.x.iter_mut().zip(self.motion).zip(self.load) {
            let speed;
            (*x, *motion, speed) = self.by.of(*x, motion, load);
            top = top.max(speed);
        }
        top
    }
}

/// The same from one place to another.
struct KickInto<'a> {
    x: &'a mut [V4],
    motion: &'a mut [Six],
    from_x: &'a [V4],
    from_motion: &'a [Six],
    load: &'a [Six],
    by: Kicks,
}

impl WithSimd for KickInto<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let mut top = 0u64;
        let KickInto { x, motion, from_x, from_motion, load, by } = self;
        let n = x.len().min(motion.len()).min(from_x.len()).min(from_motion.len()).min(load.len());
        for k in 0..n {
            ask_to_write(x, k + 16);
            ask_to_write(motion, k + 16);
            let speed;
            (x[k], motion[k], speed) = by.of(from_x[k], &from_motion[k], &load[k]);
            top = top.max(speed);
        }
        top
    }
}

/// Forces of the pairs of one chunk on its own grains.
struct Pairs<'a, const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> {
    chunk: &'a mut Chunk,
    view: &'a View<'a>,
    pass: &'a Pass,
    load: &'a mut [Six],
}

impl<'a, const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> Pairs<'a, ALIKE, TABLE, PERIODIC> {
    fn sum(chunk: &'a mut Chunk, view: &'a View<'a>, pass: &'a Pass, load: &'a mut [Six]) {
        Arch::new().dispatch(Pairs::<ALIKE, TABLE, PERIODIC> { chunk, view, pass, load });
    }
}

impl<const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> WithSimd for Pairs<'_, ALIKE, TABLE, PERIODIC> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Pairs { chunk, view, pass, load } = self;
        let (mut batch, mut between) = (Batch::new(), Between::new());
        let Chunk { start, pairs, memory, .. } = chunk;
        let one = pass.alike.unwrap_or([1.0; 3]);
        let (mut slot, mut asked) = (0, 0);
        let far = view.position.len() > IN_CACHE;
        while slot < pairs.len() {
            let mut count = 0;
            for (pair, memory) in pairs[slot..].iter_mut().zip(&mut memory[slot..]) {
                if count >= BATCH {
                    break;
                }
                let place = [count, slot];
                let touches = gather::<ALIKE, TABLE, PERIODIC>(&mut batch, place, view, pass, pair, memory, one[0]);
                count += usize::from(touches);
                slot += 1;
            }
            if far {
                let ahead = (slot + AHEAD).min(pairs.len());
                for k in asked..ahead {
                    ask_for(view.position, pairs[k][0] as usize);
                    ask_for(view.motion, pairs[k][0] as usize);
                }
                for k in (asked..ahead).step_by(2) {
                    let second = (pairs[k][1] & !TOUCH) as usize;
                    ask_for(view.position, second);
                    ask_for(view.motion, second);
                    ask_for(memory, k);
                }
                asked = ahead;
            }
            batch.evaluate::<ALIKE, TABLE>(count, &pass.table, pass.h, one, &mut between);
            scatter::<ALIKE>(&batch, count, one[0], memory, *start, load);
        }
    }
}

/// Pairs ahead of the one at work that are asked for, where there are more grains than the second cache holds. A list in the
/// order of the second grains brings them by itself but for every new page; first grains come from anywhere before.
const AHEAD: usize = 96;
const IN_CACHE: usize = 8000;

/// Asks for a line of memory that will be needed soon.
#[inline(always)]
fn ask_for<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(one) = all.get(place) {
        safe_arch::prefetch_t0(one);
    }
}

/// The same for one that will be overwritten.
#[inline(always)]
fn ask_to_write<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(one) = all.get(place) {
        safe_arch::prefetch_et0(one);
    }
}

/// True when a listed pair touches. It is written into the batch in any case: no branch depends on it, and everything that
/// is far away is fetched at once.
#[inline(always)]
fn gather<const ALIKE: bool, const TABLE: bool, const PERIODIC: bool>(
    batch: &mut Batch,
    [k, slot]: [usize; 2],
    view: &View<'_>,
    pass: &Pass,
    [first, mark]: &mut [u32; 2],
    memory: &mut V4,
    radius: f64,
) -> bool {
    let second = *mark & !TOUCH;
    let (i, j) = (*first as usize, second as usize);
    let (p, q) = (&view.position[i], &view.position[j]);
    let (m1, m2) = (&view.motion[i], &view.motion[j]);
    let mut d = each(|c| q[c] - p[c]);
    if PERIODIC {
        d = each(|c| nearest_image(d[c], pass.sizes.size[c], pass.sizes.inv[c]));
    }
    let dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    let sum = if ALIKE { 2.0 * radius } else { p[3] + q[3] };
    let touches = dd < sum * sum;
    if touches != (*mark & TOUCH != 0) {
        *mark ^= TOUCH;
        *memory = [0.0; 4];
    }
    batch.who[k] = [*first, second, slot as u32, 0];
    batch.d[k] = [d[0], d[1], d[2], dd];
    batch.memory[k] = *memory;
    let (v1, v2, w1, w2) = (&m1.linear, &m2.linear, &m1.angular, &m2.angular);
    if ALIKE {
        batch.v[k] = each4(|c| v2[c] - v1[c]);
        batch.rw[k] = each4(|c| w1[c] + w2[c]);
    } else {
        let (r1, r2) = (p[3], q[3]);
        batch.v[k] = [v2[0] - v1[0], v2[1] - v1[1], v2[2] - v1[2], v2[3] + v1[3]];
        batch.rw[k] = each4(|c| r1 * w1[c] + r2 * w2[c]);
        batch.r[k] = [r1, r2];
    }
    if TABLE {
        batch.class[k] = u32::from(view.class[i]) * pass.classes as u32 + u32::from(view.class[j]);
    }
    touches
}

/// Adds the answers to the grains of this chunk. The fourth numbers of forces and torques mean nothing.
#[inline(always)]
fn scatter<const ALIKE: bool>(
    batch: &Batch,
    count: usize,
    radius: f64,
    memory: &mut [V4],
    start: u32,
    load: &mut [Six],
) {
    for k in 0..count.min(BATCH) {
        let [first, second, slot, _] = batch.who[k];
        memory[slot as usize] = batch.memory[k];
        let (f, t) = (batch.force[k], batch.twist[k]);
        let [r1, r2] = if ALIKE { [radius; 2] } else { batch.r[k] };
        let (i, j) = (first.wrapping_sub(start) as usize, second.wrapping_sub(start) as usize);
        if let Some(to) = load.get_mut(i) {
            let l = f[3] * r1;
            to.linear = each4(|c| to.linear[c] - f[c]);
            to.angular = each4(|c| to.angular[c] + l * t[c]);
        }
        if let Some(to) = load.get_mut(j) {
            let l = f[3] * r2;
            to.linear = each4(|c| to.linear[c] + f[c]);
            to.angular = each4(|c| to.angular[c] + l * t[c]);
        }
    }
}

/// Forces of walls on the grains of one chunk; gives the sums on the walls.
struct WallTouches<'a> {
    chunk: &'a mut Chunk,
    view: &'a View<'a>,
    pass: &'a Pass,
    load: &'a mut [Six],
}

impl WithSimd for WallTouches<'_> {
    type Output = Vec<WallSum>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<WallSum> {
        let WallTouches { chunk, view, pass, load } = self;
        let mut sums = vec![[Vec3::ZERO; 2]; view.walls.len()];
        let Chunk { start, walls, triangles, wall_history, .. } = chunk;
        if walls.is_empty() {
            return sums;
        }
        let mut batch = Batch::new();
        let mut next = 0;
        while next < walls.len() {
            let mut count = 0;
            while next < walls.len() && count + CONTACTS <= BATCH {
                let pair = &walls[next];
                let history = &mut wall_history[pair.slots()];
                count += find_wall_contacts(&mut batch, count, pair, view, pass, pair.triangles_of(triangles), history);
                next += 1;
            }
            if pass.table.len() > 1 {
                batch.evaluate_walls::<true>(count, &pass.table, pass.h);
            } else {
                batch.evaluate_walls::<false>(count, &pass.table, pass.h);
            }
            for k in 0..count.min(BATCH) {
                let [grain, wall, slot, _] = batch.who[k];
                wall_history[slot as usize].memory = batch.memory[k];
                let (f, t, lever) = (batch.force[k], batch.twist[k], batch.force[k][3]);
                let i = (grain - *start) as usize;
                let to = &mut load[i];
                to.linear = each4(|c| to.linear[c] + f[c]);
                to.angular = each4(|c| to.angular[c] + lever * t[c]);
                let (p, n) = (&view.position[grain as usize], &batch.d[k]);
                let wall = wall as usize;
                let arm = Vec3::from_array(each(|c| p[c] - lever * n[c])) - view.walls[wall].X_ws.position;
                let f = Vec3::new(f[0], f[1], f[2]);
                sums[wall][0] -= f;
                sums[wall][1] -= arm.cross(f);
            }
        }
        sums
    }
}

/// Writes the contacts of a grain with a wall into the batch, with the history each goes on with; how many there are.
#[inline(always)]
fn find_wall_contacts(
    batch: &mut Batch,
    at: usize,
    pair: &WallPair,
    view: &View<'_>,
    pass: &Pass,
    triangles: &[u32],
    history: &mut [WallHistory],
) -> usize {
    let i = pair.grain as usize;
    let (p4, v4, w4) = (view.position[i], view.motion[i].linear, view.motion[i].angular);
    let wall = &view.walls[pair.wall as usize];
    let (p, radius) = (Vec3::new(p4[0], p4[1], p4[2]), p4[3]);
    let mut found = [WallContact::default(); CONTACTS];
    let count = wall.contacts(view.normals[pair.wall as usize], p, radius, 0.0, triangles, &mut found);
    if count == 0 || v4[3] == 0.0 {
        if history.iter().any(WallHistory::touches) {
            history.fill(WallHistory::default());
        }
        return 0;
    }
    if history.len() > 1 {
        match_history(history, &mut [], &found[..count]);
    } else {
        history[0].normal = found[0].normal;
    }
    for (slot, touch) in found[..count].iter().enumerate() {
        let n = touch.normal;
        let k = at + slot;
        batch.who[k] = [pair.grain, pair.wall, pair.slot + slot as u32, 0];
        batch.d[k] = [n.x, n.y, n.z, touch.depth];
        batch.v[k] = v4;
        if wall.velocity != Vec3::ZERO || wall.spin != Vec3::ZERO {
            let u = wall.velocity_at(p - n * (radius - touch.depth));
            batch.v[k] = [v4[0] - u.x, v4[1] - u.y, v4[2] - u.z, v4[3]];
        }
        batch.rw[k] = [w4[0], w4[1], w4[2], radius];
        batch.class[k] = u32::from(wall.class) * pass.classes as u32 + u32::from(view.class[i]);
        batch.memory[k] = history[slot].memory;
    }
    count
}

/// Each new contact goes on with the old one whose normal is nearest, and begins anew when none is within 45 degrees.
fn match_history(history: &mut [WallHistory], extra: &mut [Extra], found: &[WallContact]) {
    let mut old = [(WallHistory::default(), NO_EXTRA); CONTACTS];
    for (k, old) in old.iter_mut().enumerate().take(history.len()) {
        *old = (history[k], extra.get(k).copied().unwrap_or(NO_EXTRA));
    }
    history.fill(WallHistory::default());
    extra.fill(NO_EXTRA);
    for (k, touch) in found.iter().enumerate() {
        let n = touch.normal;
        let near = |k: &usize| n.dot(old[*k].0.normal);
        let nearest = (0..CONTACTS).max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0);
        if near(&nearest) > 0.7 {
            let (kept, more) = std::mem::take(&mut old[nearest]);
            history[k] = kept;
            if let Some(extra) = extra.get_mut(k) {
                *extra = more;
            }
        }
        history[k].normal = n;
    }
}

/// What one chunk adds to the books.
#[derive(Clone, Copy, Default)]
struct ChunkBooks {
    losses: Losses,
    elastic: f64,
}

/// Forces of the pairs of one chunk with the whole law, one by one. Pairs across chunks are booked by the upper one.
fn full_pairs(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six]) -> ChunkBooks {
    let mut books = ChunkBooks::default();
    let Chunk { start, pairs, own, memory, extra, .. } = chunk;
    for (slot, [first, mark]) in pairs.iter_mut().enumerate() {
        let (i, j) = (*first as usize, (*mark & !TOUCH) as usize);
        let (p, q) = (view.position[i], view.position[j]);
        let mut d = each(|c| q[c] - p[c]);
        if pass.sizes.any {
            d = each(|c| nearest_image(d[c], pass.sizes.size[c], pass.sizes.inv[c]));
        }
        let (sum, dd) = (p[3] + q[3], dot(d, d));
        let (class1, class2) = (view.class[i] as usize, view.class[j] as usize);
        let c = &pass.table[class1 * pass.classes + class2];
        let radius = p[3] * q[3] / sum;
        let touched = *mark & TOUCH != 0;
        let far = sum + if touched { pair_range(c, radius) } else { 0.0 };
        let booked = slot < *own as usize;
        if !(dd < far * far) {
            if touched {
                *mark &= !TOUCH;
                if booked {
                    books.losses.cohesion += energy_at_release(c, radius);
                }
                memory[slot] = [0.0; 4];
                extra[slot] = NO_EXTRA;
            }
            continue;
        }
        *mark |= TOUCH;
        let dist = dd.sqrt();
        let n = each(|c| d[c] / dist);
        let (v1, v2, w1, w2) =
            (view.motion[i].linear, view.motion[j].linear, view.motion[i].angular, view.motion[j].angular);
        let (l1, l2) = (dist * p[3] / sum, dist * q[3] / sum);
        let turn = cross(each(|c| l1 * w1[c] + l2 * w2[c]), n);
        let meeting = Meeting {
            c,
            h: pass.h,
            n,
            depth: sum - dist,
            radius,
            mass: 1.0 / (v1[3] + v2[3]),
            inv_inertia: w1[3] + w2[3],
            v: each(|c| v2[c] - v1[c] - turn[c]),
            w: each(|c| w2[c] - w1[c]),
            memory: memory[slot],
            extra: extra[slot],
            begins: !touched,
        };
        let out = meeting.resolve();
        (memory[slot], extra[slot]) = (out.touch.memory, out.extra);
        let (f, twist) = (out.touch.force, cross(out.touch.force, n));
        for (place, sign, lever) in [(i, -1.0, l1), (j, 1.0, l2)] {
            let at = place.wrapping_sub(*start as usize);
            if let Some(to) = load.get_mut(at) {
                for c in 0..3 {
                    to.linear[c] += sign * f[c];
                    to.angular[c] += lever * twist[c] + sign * out.couple[c];
                }
            }
        }
        if booked {
            books.losses.add(&out.losses);
            books.elastic += out.elastic;
        }
    }
    books
}

/// Forces of walls with the whole law.
fn full_walls(
    chunk: &mut Chunk,
    view: &View<'_>,
    pass: &Pass,
    load: &mut [Six],
    books: &mut ChunkBooks,
) -> Vec<WallSum> {
    let mut sums = vec![[Vec3::ZERO; 2]; view.walls.len()];
    let Chunk { start, walls, triangles, wall_history, wall_extra, .. } = chunk;
    for pair in walls.iter() {
        let i = pair.grain as usize;
        let (p4, v4, w4) = (view.position[i], view.motion[i].linear, view.motion[i].angular);
        let wall = &view.walls[pair.wall as usize];
        let (p, radius) = (Vec3::new(p4[0], p4[1], p4[2]), p4[3]);
        let history = &mut wall_history[pair.slots()];
        let c = &pass.table[wall.class as usize * pass.classes + view.class[i] as usize];
        let pull = if history.iter().any(WallHistory::touches) { pair_range(c, radius) } else { 0.0 };
        let mut found = [WallContact::default(); CONTACTS];
        let n = view.normals[pair.wall as usize];
        let count = wall.contacts(n, p, radius, pull, pair.triangles_of(triangles), &mut found);
        if count == 0 || v4[3] == 0.0 {
            let parted = history.iter().filter(|x| x.touches()).count() as f64;
            books.losses.cohesion += parted * energy_at_release(c, radius);
            history.fill(WallHistory::default());
            wall_extra[pair.slots()].fill(NO_EXTRA);
            continue;
        }
        let extra = &mut wall_extra[pair.slots()];
        match_history(history, extra, &found[..count]);
        for ((touch, history), extra) in found[..count].iter().zip(history).zip(extra) {
            let n = touch.normal;
            let lever = radius - touch.depth;
            let at = p - n * lever;
            let spin = Vec3::new(w4[0], w4[1], w4[2]);
            let v = Vec3::new(v4[0], v4[1], v4[2]) - spin.cross(n) * lever - wall.velocity_at(at);
            let meeting = Meeting {
                c,
                h: pass.h,
                n: n.to_array(),
                depth: touch.depth,
                radius,
                mass: 1.0 / v4[3],
                inv_inertia: w4[3],
                v: v.to_array(),
                w: (spin - wall.spin).to_array(),
                memory: history.memory,
                extra: *extra,
                begins: history.memory[3] == 0.0,
            };
            let out = meeting.resolve();
            (history.memory, *extra) = (out.touch.memory, out.extra);
            let f = Vec3::from_array(out.touch.force);
            let couple = Vec3::from_array(out.couple);
            let turn = f.cross(n) * lever + couple;
            let k = i - *start as usize;
            for c in 0..3 {
                load[k].linear[c] += f[c];
                load[k].angular[c] += turn[c];
            }
            let sum = &mut sums[pair.wall as usize];
            sum[0] -= f;
            sum[1] -= (at - wall.X_ws.position).cross(f) + couple;
            books.losses.add(&out.losses);
            books.elastic += out.elastic;
        }
    }
    sums
}
