//! A heavy elastic line between two points (Irvine 1981, Cable Structures, section 1.4). With H the level part of its tension, V the upright part at its
//! first end, positive where that end carries weight, w its weight per length at rest and s that length from the first end,
//!   x(s) = H s/EA + (H/w) (asinh(V/H) - asinh((V - w s)/H)),
//!   z(s) = -(w s/EA) (V/w - s/2) - (H/w) (sqrt(1 + (V/H)^2) - sqrt(1 + ((V - w s)/H)^2)),   z upwards,
//! and T(s) = sqrt(H^2 + (V - w s)^2). H and V are those with which it ends where it must; Newton's method finds them.

use libm::{asinh, hypot, sqrt, tanh};

/// Newton's steps at most.
const NEWTON: usize = 200;
/// The end is met to this share of the length [-].
const EXACT: f64 = 1e-14;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Catenary {
    /// L: its length at rest [m].
    pub length: f64,
    /// w: its weight per length at rest [N/m].
    pub weight: f64,
    /// EA [N].
    pub stiffness: f64,
}

impl Catenary {
    /// Level and upright distance from its first end at length s [m], and their derivatives by H and V.
    pub fn place(&self, [H, V]: [f64; 2], s: f64) -> ([f64; 2], [[f64; 2]; 2]) {
        let (w, EA) = (self.weight, self.stiffness);
        let U = V - w * s;
        let (t0, t1) = (hypot(H, V), hypot(H, U));
        let turn = asinh(V / H) - asinh(U / H);
        let x = H * s / EA + H / w * turn;
        let z = -(w * s / EA) * (V / w - 0.5 * s) - (t0 - t1) / w;
        // d asinh(V/H)/dH = -V/(H t0)
        let by_H = [s / EA + turn / w - (V / t0 - U / t1) / w, -(H / t0 - H / t1) / w];
        let by_V = [H / w * (1.0 / t0 - 1.0 / t1), -s / EA - (V / t0 - U / t1) / w];
        ([x, z], [[by_H[0], by_V[0]], [by_H[1], by_V[1]]])
    }

    /// T at length s [N].
    pub fn tension(&self, [H, V]: [f64; 2], s: f64) -> f64 {
        hypot(H, V - self.weight * s)
    }

    /// H and V with which it ends at this level distance and height above its first end [m]; from `near`, if that is known.
    pub fn solve(&self, level: f64, height: f64, near: Option<[f64; 2]>) -> [f64; 2] {
        let (L, w) = (self.length, self.weight);
        let span = level.max(1e-9 * L);
        let mut found = near.unwrap_or_else(|| {
            let slack = (L * L - height * height) / (span * span) - 1.0;
            let flat = if slack > 0.0 { sqrt(3.0 * slack) } else { 0.2 };
            let flat = flat.min(30.0);
            [w * span / (2.0 * flat), 0.5 * w * (L - height / tanh(flat))]
        });
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON {
            let ([x, z], J) = self.place(found, L);
            let miss = [span - x, height - z];
            let size = hypot(miss[0], miss[1]);
            if size <= EXACT * L || size >= last && size <= 1e-10 * L {
                break;
            }
            last = size;
            let determinant = J[0][0] * J[1][1] - J[0][1] * J[1][0];
            let step = [
                (miss[0] * J[1][1] - miss[1] * J[0][1]) / determinant,
                (J[0][0] * miss[1] - J[1][0] * miss[0]) / determinant,
            ];
            // H stays above zero, and no step is longer than what there is
            let most = hypot(found[0], found[1]) + w * L;
            let mut share = (most / hypot(step[0], step[1])).min(1.0);
            if found[0] + share * step[0] <= 0.0 {
                share = share.min(0.9 * found[0] / -step[0]);
            }
            for _ in 0..30 {
                let try_it = [found[0] + share * step[0], found[1] + share * step[1]];
                let ([x, z], _) = self.place(try_it, L);
                if hypot(span - x, height - z) < size {
                    break;
                }
                share *= 0.5;
            }
            found = [found[0] + share * step[0], found[1] + share * step[1]];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Catenary = Catenary { length: 110.0, weight: 49.03325, stiffness: 1e6 };

    #[test]
    fn an_elastic_line_between_level_points() {
        let [H, V] = LINE.solve(100.0, 0.0, None);
        assert!((H - 3142.724).abs() < 1e-3 && (V - 2696.8287).abs() < 1e-3, "{H} {V}");
        let ([x, z], _) = LINE.place([H, V], 55.0);
        assert!((x - 50.0).abs() < 1e-9 && (z + 20.437559).abs() < 1e-5, "{x} {z}");
        assert!((LINE.tension([H, V], 0.0) - 4141.2075).abs() < 1e-3);
        let stiff = Catenary { stiffness: 1e15, ..LINE };
        assert!((stiff.solve(100.0, 0.0, None)[0] - 3211.5011).abs() < 1e-3);
    }

    #[test]
    fn slack_steep_and_taut_lines_are_found() {
        for (level, height) in
            [(1.0, 0.0), (1.0, 100.0), (0.0, -60.0), (109.9, 0.0), (110.0, 10.0), (60.0, 92.0), (0.01, -109.9)]
        {
            let found = LINE.solve(level, height, None);
            let ([x, z], _) = LINE.place(found, LINE.length);
            assert!((x - level).abs() < 1e-6 && (z - height).abs() < 1e-6, "{level} {height}: {x} {z} {found:?}");
        }
    }
}
