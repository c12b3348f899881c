//! Grains put into the world: lattices, random packings, size distributions, emitters, sinks.

use crate::neighbours::PeriodicSizes;
use crate::{Grain, GrainError, Grains, Settings, Wall};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tippe_geometry::{Quat, Vec3};

/// Random numbers that are part of the state: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random {
    /// Everything it remembers.
    pub seed: u64,
}

impl Random {
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in the cube from -1 to 1.
    pub fn cube(&mut self) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| 2.0 * self.uniform() - 1.0))
    }

    /// A rotation, all alike (Shoemake 1992).
    pub fn rotation(&mut self) -> Quat {
        let [u, v, w] = [0; 3].map(|_| self.uniform());
        let ((s1, c1), (s2, c2)) = (libm::sincos(2.0 * PI * v), libm::sincos(2.0 * PI * w));
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        Quat::from_xyzw(a * s1, a * c1, b * s2, b * c2).normalize()
    }

    /// Normal with mean 0 and deviation 1 (Box, Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * libm::log(u)).sqrt() * libm::cos(2.0 * PI * v)
    }
}

/// Radii of grains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// All alike.
    Same {
        /// Radius [m].
        radius: f64,
    },
    /// Uniform by number.
    Uniform {
        /// Smallest radius [m].
        smallest: f64,
        /// Largest radius [m].
        largest: f64,
    },
    /// Lognormal by number, cut at two deviations.
    Lognormal {
        /// Median radius [m].
        median: f64,
        /// Deviation of the logarithm [-].
        deviation: f64,
    },
    /// Sieve curve: radius [m] and the share of mass below it [-], rising to 1.
    Sieve {
        /// Points of the curve.
        curve: Vec<(f64, f64)>,
    },
}

impl Sizes {
    /// Checks every number.
    pub fn validate(&self) -> Result<(), GrainError> {
        let check = |what: &'static str, value: f64, wanted: &'static str, right: bool| {
            if right { Ok(()) } else { Err(GrainError::Setting { what, value, wanted }) }
        };
        let length = |what, x: f64| check(what, x, "positive and finite", x > 0.0 && x.is_finite());
        match self {
            Sizes::Same { radius } => length("the radius", *radius),
            Sizes::Uniform { smallest, largest } => {
                length("the smallest radius", *smallest)?;
                length("the largest radius", *largest)?;
                check("the smallest radius", *smallest, "at most the largest, which comes second", smallest <= largest)
            }
            Sizes::Lognormal { median, deviation } => {
                length("the median radius", *median)?;
                check("the deviation", *deviation, "from 0 to 2", (0.0..2.0).contains(deviation))
            }
            Sizes::Sieve { curve } => {
                let points = curve.len();
                check("the number of points of the sieve curve", points as f64, "two or more", points >= 2)?;
                length("the first radius of the sieve curve", curve[0].0)?;
                check("the first share of the sieve curve", curve[0].1, "0 or more", curve[0].1 >= 0.0)?;
                for w in curve.windows(2) {
                    let larger = w[0].0 < w[1].0 && w[1].0.is_finite();
                    check("a radius of the sieve curve", w[1].0, "larger than the one before it", larger)?;
                    check("a share of the sieve curve", w[1].1, "at least the one before it", w[0].1 <= w[1].1)?;
                }
                let last = curve[points - 1].1;
                check("the last share of the sieve curve", last, "1: all mass is below the largest radius", last == 1.0)
            }
        }
    }

    /// A radius [m].
    pub fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Sizes::Same { radius } => *radius,
            Sizes::Uniform { smallest, largest } => smallest + (largest - smallest) * random.uniform(),
            Sizes::Lognormal { median, deviation } => {
                let z = random.normal().clamp(-2.0, 2.0);
                median * libm::exp(deviation * z)
            }
            Sizes::Sieve { curve } => {
                // by number: mass shares weighted with 1/r^3, drawn by rejection against the smallest radius
                let smallest = curve[0].0;
                loop {
                    let u = random.uniform();
                    let k = curve.partition_point(|p| p.1 <= u).clamp(1, curve.len() - 1);
                    let ((r0, s0), (r1, s1)) = (curve[k - 1], curve[k]);
                    let t = if s1 > s0 { ((u - s0) / (s1 - s0)).clamp(0.0, 1.0) } else { 1.0 };
                    let r = r0 + (r1 - r0) * t;
                    let keep = smallest / r;
                    if random.uniform() < keep * keep * keep {
                        return r;
                    }
                }
            }
        }
    }

    /// Smallest radius it can draw [m].
    pub fn smallest(&self) -> f64 {
        match self {
            Sizes::Same { radius } => *radius,
            Sizes::Uniform { smallest, .. } => *smallest,
            Sizes::Lognormal { median, deviation } => median * libm::exp(-2.0 * deviation),
            Sizes::Sieve { curve } => curve.first().map_or(0.0, |p| p.0),
        }
    }

    /// Largest radius it can draw [m].
    pub fn largest(&self) -> f64 {
        match self {
            Sizes::Same { radius } => *radius,
            Sizes::Uniform { largest, .. } => *largest,
            Sizes::Lognormal { median, deviation } => median * libm::exp(2.0 * deviation),
            Sizes::Sieve { curve } => curve.last().map_or(0.0, |p| p.0),
        }
    }
}

/// Places for `count` grains on a cubic lattice in a box, layer by layer from below, each moved by up to `jitter` of the
/// free space between neighbours [-]. Fewer come back when the box is full.
pub fn lattice(low: Vec3, high: Vec3, sizes: &Sizes, count: usize, jitter: f64, random: &mut Random) -> Vec<Grain> {
    let r = sizes.largest();
    let pitch = 2.0 * r * (1.0 + 0.2 * jitter.clamp(0.0, 1.0));
    let n = ((high - low) / pitch).floor().max(Vec3::ZERO);
    let total = (n.x * n.y * n.z) as usize;
    let mut out = Vec::with_capacity(count.min(total));
    for k in 0..count.min(total) {
        let (nx, ny) = (n.x as usize, n.y as usize);
        let cell = Vec3::new((k % nx) as f64, (k / nx % ny) as f64, (k / nx / ny) as f64);
        let move_by = random.cube() * (0.5 * pitch - r);
        out.push(Grain::at(low + (cell + 0.5) * pitch + move_by, sizes.draw(random)));
    }
    out
}

/// Random sequential packing in a box without overlap, the largest first: up to about 0.3 of the volume. Ends after
/// `count` grains or when 1000 tries in a row fail.
pub fn random_sequential(low: Vec3, high: Vec3, sizes: &Sizes, count: usize, random: &mut Random) -> Vec<Grain> {
    let mut radii: Vec<f64> = (0..count).map(|_| sizes.draw(random)).collect();
    radii.sort_by(|a, b| b.total_cmp(a));
    let cell = 2.0 * sizes.largest();
    let n = ((high - low) / cell).floor().max(Vec3::ONE);
    let at = |p: Vec3| ((p - low) / (high - low) * n).floor().clamp(Vec3::ZERO, n - 1.0);
    let index = |c: Vec3| ((c.z * n.y + c.y) * n.x + c.x) as usize;
    let mut cells: Vec<Vec<(Vec3, f64)>> = vec![Vec::new(); (n.x * n.y * n.z) as usize];
    let mut out: Vec<Grain> = Vec::with_capacity(count);
    for r in radii {
        let room = high - low - 2.0 * r;
        let place = (0..1000).map(|_| low + r + (random.cube() * 0.5 + 0.5) * room).find(|p| {
            let c = at(*p);
            let near = (0..27).map(|k| c + Vec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - 1.0);
            let mut inside = near.filter(|c| c.cmpge(Vec3::ZERO).all() && c.cmplt(n).all());
            inside.all(|c| cells[index(c)].iter().all(|(q, s)| (*p - *q).length() > r + s))
        });
        let Some(p) = place.filter(|_| room.min_element() > 0.0) else { break };
        cells[index(at(p))].push((p, r));
        out.push(Grain::at(p, r));
    }
    out
}

/// Grains that appear in a box at a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitter {
    /// Lower corner of the box they appear in [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Their velocity [m/s].
    pub velocity: Vec3,
    /// Their sizes.
    pub sizes: Sizes,
    /// Their class.
    pub class: u8,
    /// Mass flow [kg/s].
    pub rate: f64,
    /// Mass still to be put in [kg].
    pub owed: f64,
    /// Its random numbers.
    pub random: Random,
    /// Mass put in so far [kg].
    pub emitted: f64,
}

impl Emitter {
    /// Puts in what is due after `time` [s]. What finds no room among grains and walls stays owed. Returns how many came.
    pub fn emit(
        &mut self,
        grains: &mut Grains,
        walls: &[Wall],
        settings: &Settings,
        time: f64,
    ) -> Result<usize, GrainError> {
        self.sizes.validate()?;
        self.owed += self.rate * time;
        let density = settings.materials.get(self.class as usize).map_or(0.0, |m| m.density);
        let reach = self.sizes.largest();
        let inside = |p: Vec3| p.cmpge(self.low - 2.0 * reach).all() && p.cmple(self.high + 2.0 * reach).all();
        let mut near: Vec<Grain> = (0..grains.len()).map(|k| grains.grain(k)).filter(|g| inside(g.position)).collect();
        let mut count = 0;
        loop {
            let before = self.random;
            let radius = self.sizes.draw(&mut self.random);
            let mass = density * 4.0 / 3.0 * PI * radius * radius * radius;
            if !(mass <= self.owed) {
                self.random = before;
                return Ok(count);
            }
            let place = (0..50).map(|_| self.low + (self.random.cube() * 0.5 + 0.5) * (self.high - self.low));
            let free = |p: &Vec3| {
                near.iter().all(|g| (g.position - *p).length() > g.radius + radius)
                    && walls.iter().all(|wall| wall.depth(*p, radius, 0.0) <= 0.0)
            };
            let Some(position) = place.into_iter().find(free) else { return Ok(count) };
            let grain = Grain { velocity: self.velocity, class: self.class, ..Grain::at(position, radius) };
            grains.insert(&grain, settings)?;
            near.push(grain);
            self.owed -= mass;
            self.emitted += mass;
            count += 1;
        }
    }
}

/// A box that swallows grains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sink {
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Time over which the flow is averaged, with weights that fall off exponentially [s].
    pub smoothing: f64,
    /// Grains swallowed so far, a clump as one.
    pub count: u64,
    /// Mass swallowed so far [kg].
    pub swallowed: f64,
    /// Mass flow into it, averaged [kg/s].
    pub flow: f64,
}

impl Sink {
    /// An empty one.
    pub fn new(low: Vec3, high: Vec3, smoothing: f64) -> Sink {
        Sink { low, high, smoothing, count: 0, swallowed: 0.0, flow: 0.0 }
    }

    /// Takes out the grains whose centres are inside, clumps by their centre of mass, after `time` [s]; frozen ones stay.
    /// Returns how many went.
    ///   q <- q + (1 - exp(-time/T)) (m/time - q)   with q the flow, m the mass that went, T the smoothing
    pub fn swallow(&mut self, grains: &mut Grains, settings: &Settings, time: f64) -> u64 {
        let sizes = PeriodicSizes::new(settings);
        let inside = |p: Vec3| sizes.home(p).cmpge(self.low).all() && sizes.home(p).cmple(self.high).all();
        let (mut gone, mut mass, mut count) = (Vec::new(), 0.0, 0);
        for k in (0..grains.len()).filter(|k| grains.motion[*k].linear[3] > 0.0) {
            let clump = grains.clump_of(k).map(|c| &grains.clumps[c]);
            if inside(clump.map_or_else(|| grains.grain(k).position, |c| c.X_wc.position)) {
                gone.push(k);
                if clump.is_none_or(|c| c.ids[0] == grains.id[k]) {
                    mass += grains.mass(k);
                    count += 1;
                }
            }
        }
        grains.remove(&gone, settings);
        self.count += count;
        self.swallowed += mass;
        self.flow += -libm::expm1(-time / self.smoothing) * (mass / time - self.flow);
        count
    }
}
