//! Grains against closed forms, invariants and each other.
mod clump;
mod contact;
mod realtime;
mod run;
mod solid;
mod tools;

use tippe_geometry::Vec3;
use tippe_granular::{Grain, Grains, Material, PairLaw, Settings};

/// Glass-like beads, soft enough for short tests.
pub const SOFT: Material = Material { density: 2500.0, youngs_modulus: 5e6, poisson_ratio: 0.3 };

/// A law without rolling friction and cohesion.
pub fn law(restitution: f64, friction: f64) -> PairLaw {
    PairLaw { restitution, friction, rolling: Default::default(), cohesion: Default::default() }
}

/// One class, gravity along -z [m/s^2].
pub fn settings(restitution: f64, friction: f64, step: f64, gravity: f64) -> Settings {
    Settings::uniform(SOFT, law(restitution, friction), step, Vec3::new(0.0, 0.0, -gravity))
}

#[path = "../../../numerics/tests/suite/random.rs"]
mod random;
pub use random::Random;

impl Random {
    /// A vector of the cube from -1 to 1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| 2.0 * self.uniform(0.0, 1.0) - 1.0))
    }
}

/// Beads of 5 mm on a loose lattice with random velocities [m/s].
pub fn cloud(settings: &Settings, n: [usize; 3], speed: f64, seed: u64) -> Grains {
    let mut random = Random(seed);
    let mut grains = Grains::new();
    for k in 0..n[0] * n[1] * n[2] {
        let cell = [k % n[0], k / n[0] % n[1], k / n[0] / n[1]].map(|i| (i as f64 + 0.6) * 0.0055);
        let position = Vec3::from_array(cell) + random.vector() * 0.0002;
        let (velocity, spin) = (random.vector() * speed, random.vector() * 10.0);
        let grain = Grain { velocity, spin, ..Grain::at(position, 0.0025) };
        grains.insert(&grain, settings).unwrap();
    }
    grains
}
