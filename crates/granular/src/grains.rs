//! The state of all grains: everything that survives a step.

use crate::chunk::{Chunk, Lists, TOUCH};
use crate::clump::{Clump, NONE};
use crate::law::V4;
use crate::ledger::Books;
use crate::neighbours::chunk_length;
use crate::relist::Whereabouts;
use crate::{GrainError, RAYLEIGH_SHARE_MAX, Settings};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tippe_geometry::{Pose, Vec3};

/// Memory that a run takes per grain, about [bytes]: arrays, lists and history of a dense packing, and the copies that sorting,
/// the last good state, snapshots and a checkpoint make (1520 measured in a loose bed).
pub const BYTES_PER_GRAIN: usize = 2000;

/// One grain as it is put in or read out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grain {
    /// Centre [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub spin: Vec3,
    /// Radius [m].
    pub radius: f64,
    /// Class: row of `Settings::materials`.
    pub class: u8,
    /// Never moves, whatever pushes.
    pub frozen: bool,
}

impl Grain {
    /// A grain of class 0 at rest.
    pub fn at(position: Vec3, radius: f64) -> Grain {
        Grain { position, velocity: Vec3::ZERO, spin: Vec3::ZERO, radius, class: 0, frozen: false }
    }
}

/// A linear and an angular four: one line of the cache, so that a contact fetches all it needs of a grain at once.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Six {
    pub linear: V4,
    pub angular: V4,
}

impl Six {
    /// Square of the speed, where this is a motion [m^2/s^2].
    pub fn speed_squared(&self) -> f64 {
        let v = &self.linear;
        v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    }
}

/// All grains, a structure of arrays in the order of their Morton codes. Ids stay.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Grains {
    /// Centre [m] and radius [m].
    pub(crate) position: Vec<V4>,
    /// Velocity [m/s] and 1/mass [1/kg]; angular velocity [rad/s] and 1/inertia [1/(kg m^2)].
    pub(crate) motion: Vec<Six>,
    /// Sums of contact forces [N] and torques [N m] at the present positions; the fourth numbers mean nothing.
    /// Motion while an advance goes on.
    pub(crate) load: Vec<Six>,
    /// Room for the positions of the next step.
    #[serde(skip)]
    pub(crate) next_position: Vec<V4>,
    /// Where each grain was when it was listed last; kept in real time only.
    pub(crate) listed_at: Vec<V4>,
    /// The same, cell by cell.
    #[serde(skip)]
    pub(crate) whereabouts: Box<Whereabouts>,
    pub(crate) class: Vec<u8>,
    pub(crate) id: Vec<u32>,
    /// Clump of each grain; empty without clumps.
    pub(crate) clump: Vec<u32>,
    pub(crate) clumps: Vec<Clump>,
    /// Place of each id; empty without clumps.
    pub(crate) places: Vec<u32>,
    /// Pairs that may touch, with the memory of those that do.
    pub(crate) chunks: Vec<Chunk>,
    /// Largest speed in each chunk since the last kick [m/s].
    #[serde(skip)]
    pub(crate) top_speeds: Vec<f64>,
    /// Forces belong to the present positions.
    pub(crate) fresh: bool,
    /// Distance beyond touch up to which pairs are listed [m].
    pub(crate) skin: f64,
    /// Bound on how far any grain has moved since the lists were made [m], zero in real time; without end where there are none.
    pub(crate) travel: f64,
    /// The same for walls [m].
    pub(crate) wall_travel: f64,
    /// What contacts took and hold, what walls and doors put in; kept when `Settings::ledger` asks for it.
    pub(crate) books: Books,
    /// Next id.
    pub(crate) next_id: u32,
    /// Time [s].
    pub time: f64,
    /// Steps taken.
    pub steps: u64,
    /// Lists made.
    pub rebuilds: u64,
    /// Grains that left the domain and were removed.
    pub lost: u64,
}

impl Grains {
    /// No grains.
    pub fn new() -> Grains {
        Grains { travel: f64::MAX, ..Grains::default() }
    }

    /// An error where so many grains would take more than `limit` [bytes]. Nothing is allocated.
    pub fn check_memory(grains: usize, limit: usize) -> Result<(), GrainError> {
        let needed = grains.saturating_mul(BYTES_PER_GRAIN);
        if needed > limit { Err(GrainError::Memory { grains, needed, limit }) } else { Ok(()) }
    }

    /// Makes room for `more` grains, no more than asked.
    pub fn reserve(&mut self, more: usize) {
        self.position.reserve_exact(more);
        self.motion.reserve_exact(more);
        self.load.reserve_exact(more);
        self.class.reserve_exact(more);
        self.id.reserve_exact(more);
    }

    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True without grains.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Puts a grain in and returns its id.
    pub fn insert(&mut self, grain: &Grain, settings: &Settings) -> Result<u32, GrainError> {
        let id = self.next_id;
        let bad = |what, value, wanted| Err(GrainError::Grain { id, what, value, wanted });
        if !(grain.radius > 0.0 && grain.radius.is_finite()) {
            return bad("radius", grain.radius, "a positive length [m]");
        }
        if !(grain.position.is_finite() && grain.velocity.is_finite() && grain.spin.is_finite()) {
            return bad("motion", f64::NAN, "finite");
        }
        let Some(material) = settings.materials.get(grain.class as usize) else {
            return bad("class", f64::from(grain.class), "a row of the materials");
        };
        if let Some(d) = &settings.domain
            && !(grain.position.cmpge(d.low).all() && grain.position.cmple(d.high).all())
        {
            return bad("position", grain.position.x, "inside the domain");
        }
        let r = grain.radius;
        let mass = material.density * 4.0 / 3.0 * PI * r * r * r;
        let (inv_mass, inv_inertia) = if grain.frozen { (0.0, 0.0) } else { (1.0 / mass, 2.5 / (mass * r * r)) };
        let v4 = |v: Vec3, w: f64| [v.x, v.y, v.z, w];
        self.position.push(v4(grain.position, r));
        self.motion.push(Six { linear: v4(grain.velocity, inv_mass), angular: v4(grain.spin, inv_inertia) });
        self.load.push(Six::default());
        self.class.push(grain.class);
        self.id.push(id);
        if !self.clump.is_empty() {
            self.clump.push(NONE);
        }
        if !grain.frozen {
            self.books.put_in += self.energy_of(self.len() - 1, settings.gravity);
        }
        self.next_id += 1;
        self.travel = f64::MAX;
        self.fresh = false;
        Ok(id)
    }

    /// What walls, doors and changes of the grains have put in so far [J].
    pub fn put_in(&self) -> f64 {
        self.books.put_in
    }

    /// Walls have changed their form by up to so much [m]: forces and lists are looked at anew.
    pub fn walls_changed(&mut self, by: f64) {
        self.wall_travel += by;
        self.fresh = false;
    }

    /// Takes out the grains at these places, given in rising order, clumps with all their spheres. History of the others stays.
    pub fn remove(&mut self, places: &[usize], settings: &Settings) {
        if places.is_empty() {
            return;
        }
        for k in places {
            let Some(c) = self.clump_of(*k) else {
                self.books.put_in -= self.energy_of(*k, settings.gravity);
                continue;
            };
            if !self.clumps[c].ids.is_empty() {
                self.dismiss(c, settings.gravity);
            }
        }
        let mut gone = places.iter().peekable();
        let stays = (0..self.len() as u32).filter(|k| gone.next_if(|g| **g == *k as usize).is_none());
        let order: Vec<u32> = stays.collect();
        self.drop_all_but(&order);
    }

    /// The grain at a place of the arrays; places change when lists are made, ids do not.
    pub fn grain(&self, place: usize) -> Grain {
        let v3 = |a: V4| Vec3::new(a[0], a[1], a[2]);
        Grain {
            position: v3(self.position[place]),
            velocity: v3(self.motion[place].linear),
            spin: v3(self.motion[place].angular),
            radius: self.position[place][3],
            class: self.class[place],
            frozen: self.motion[place].linear[3] == 0.0,
        }
    }

    /// Ids in the order of the places.
    pub fn ids(&self) -> &[u32] {
        &self.id
    }

    /// Grains with their ids, in the order of the ids.
    pub fn by_id(&self) -> Vec<(u32, Grain)> {
        let mut all: Vec<(u32, Grain)> = (0..self.len()).map(|k| (self.id[k], self.grain(k))).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// Mean number of contacts with other grains, two for each touching pair [-].
    pub fn coordination(&self) -> f64 {
        let touching = |c: &Chunk| c.own_pairs().iter().filter(|p| p[1] & TOUCH != 0).count();
        2.0 * self.chunks.iter().map(touching).sum::<usize>() as f64 / self.len().max(1) as f64
    }

    /// Mean number of contacts that the grains of a class have with any grains [-].
    pub fn coordination_of(&self, class: u8) -> f64 {
        let among = |place: u32| usize::from(self.class[place as usize] == class);
        let touching = self.chunks.iter().flat_map(|c| c.own_pairs()).filter(|p| p[1] & TOUCH != 0);
        let ends: usize = touching.map(|p| among(p[0]) + among(p[1] & !TOUCH)).sum();
        ends as f64 / self.class.iter().filter(|own| **own == class).count().max(1) as f64
    }

    /// Kinetic energy, of translation and rotation [J].
    pub fn kinetic_energy(&self) -> f64 {
        let one = |v: &V4| if v[3] > 0.0 { 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / v[3] } else { 0.0 };
        let single = (0..self.len()).filter(|k| !self.in_clump(*k));
        let singles = single.map(|k| one(&self.motion[k].linear) + one(&self.motion[k].angular)).sum::<f64>();
        singles + self.clumps.iter().filter(|c| !c.ids.is_empty()).map(Clump::kinetic_energy).sum::<f64>()
    }

    /// Mass of the grain at a place, of its clump where it belongs to one [kg]; infinite when it is frozen.
    pub fn mass(&self, place: usize) -> f64 {
        1.0 / self.motion[place].linear[3]
    }

    /// Contact force on the grain at a place, at the present positions [N].
    pub fn force(&self, place: usize) -> Vec3 {
        let f = self.load[place].linear;
        Vec3::new(f[0], f[1], f[2])
    }

    /// Shortest Rayleigh time of all grains [s] and the id of its grain.
    pub fn rayleigh_time(&self, settings: &Settings) -> Option<(f64, u32)> {
        let times = (0..self.len()).map(|k| (settings.rayleigh_time(self.class[k], self.thickness(k)), self.id[k]));
        times.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The step as a share of the shortest Rayleigh time [-]; an error above `RAYLEIGH_SHARE_MAX`.
    pub fn check_step(&self, settings: &Settings) -> Result<f64, GrainError> {
        let Some((rayleigh, id)) = self.rayleigh_time(settings) else { return Ok(0.0) };
        let share = settings.step / rayleigh;
        if share <= RAYLEIGH_SHARE_MAX {
            return Ok(share);
        }
        let limit = RAYLEIGH_SHARE_MAX;
        Err(GrainError::Step { step: settings.step, rayleigh, id, share, limit, try_step: 0.2 * rayleigh })
    }

    /// An error unless all arrays and lists fit each other. A state that has been read needs it, one that was made here does not.
    pub fn validate(&self) -> Result<(), GrainError> {
        let n = self.len();
        let wrong = |what| Err(GrainError::State { what });
        let of_clumps = self.clumps.is_empty() && self.clump.is_empty() || self.clump.len() == n;
        if [self.motion.len(), self.load.len(), self.class.len(), self.id.len()] != [n; 4] || !of_clumps {
            return wrong("arrays of grains have different lengths");
        }
        if self.id.iter().any(|id| *id >= self.next_id) {
            return wrong("a grain has an id that is yet to be given");
        }
        let known = |k: &u32| *k == NONE || (*k as usize) < self.clumps.len();
        // places and lists that are out of date are made anew before they are used
        let listed = self.travel < f64::MAX;
        let placed = |id: &u32| !listed || self.places.get(*id as usize).is_some_and(|k| (*k as usize) < n);
        // one that has left has offsets, but no spheres
        let whole = |c: &Clump| c.ids.is_empty() || c.ids.len() == c.offsets.len() && c.ids.iter().all(placed);
        if !self.clump.iter().all(known) || !self.clumps.iter().all(whole) {
            return wrong("a clump has other spheres than the grains say");
        }
        if !self.chunks.iter().all(|c| c.fits(n, self.chunks.len())) {
            return wrong("a list has grains that there are not");
        }
        if listed {
            let length = chunk_length(n);
            let cut = |c: usize| [c * length, length.min(n - c * length)];
            let same = |(c, chunk): (usize, &Chunk)| [chunk.start as usize, chunk.len as usize] == cut(c);
            if self.chunks.len() != n.div_ceil(length) || !self.chunks.iter().enumerate().all(same) {
                return wrong("grains are cut into other chunks");
            }
            if self.chunks.iter().any(|c| c.lists == Lists::Positions) && self.listed_at.len() != n {
                return wrong("arrays of grains have different lengths");
            }
        }
        Ok(())
    }

    /// Bytes held by all arrays and lists of this state.
    pub fn bytes(&self) -> usize {
        let per_grain = size_of::<V4>() + 2 * size_of::<Six>() + size_of::<u8>() + size_of::<u32>();
        self.position.capacity() * per_grain
            + (self.next_position.capacity() + self.listed_at.capacity()) * size_of::<V4>()
            + self.chunks.iter().map(Chunk::bytes).sum::<usize>()
    }

    /// Hash of every bit that survives a step (FNV-1a over 64-bit words).
    pub fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut word = |x: u64| hash = (hash ^ x).wrapping_mul(0x0000_0100_0000_01b3);
        word(self.time.to_bits());
        word(self.steps);
        for k in 0..self.len() {
            word(u64::from(self.id[k]));
            for a in [self.position[k], self.motion[k].linear, self.motion[k].angular] {
                a.iter().for_each(|x| word(x.to_bits()));
            }
        }
        for clump in &self.clumps {
            let Pose { rotation, position } = clump.X_wc;
            rotation.to_array().iter().for_each(|x| word(x.to_bits()));
            let vectors = [position, clump.velocity, clump.momentum];
            vectors.iter().flat_map(|v| v.to_array()).for_each(|x| word(x.to_bits()));
        }
        for chunk in &self.chunks {
            chunk.words(&mut word);
        }
        hash
    }
}
