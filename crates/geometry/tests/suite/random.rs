//! Small seeded generator: the same cases on every machine.

use tippe_geometry::{Quat, Vec3};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Uniform in [a, b).
    pub fn uniform(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

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
