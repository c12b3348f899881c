//! Random vectors and rotations, from the generator of all tests.

#[path = "../../../numerics/tests/suite/random.rs"]
mod shared;

pub use shared::Random;
use tippe_geometry::{Quat, Vec3};

impl Random {
    pub fn vector(&mut self, a: f64, b: f64) -> Vec3 {
        Vec3::new(self.uniform(a, b), self.uniform(a, b), self.uniform(a, b))
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector(-1.0, 1.0);
            if v.length_squared() <= 1.0 && v.length_squared() > 1e-6 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        loop {
            let (v, w) = (self.vector(-1.0, 1.0), self.uniform(-1.0, 1.0));
            let s = v.length_squared() + w * w;
            if s <= 1.0 && s > 1e-6 {
                return Quat::from_xyzw(v.x, v.y, v.z, w).normalize();
            }
        }
    }
}
