//! Two capsules: a line of contact where they lie along each other, a point where they cross, and everything between.
//!
//! With d(s) the distance of the point s of one axis from the other axis, the depth there is δ(s) = r₁ + r₂ - d(s), and
//!
//!   (32) dN = E* c δ ds,   c = c_x + (π/4 - c_x) cos⁸θ,   c_x = √(√(r₁ r₂)/(2 (r₁ + r₂)))
//!
//! θ is the angle between the axes. Parallel, this is N = (π/4) E* l δ, the line contact of Hertz (Popov 2010, eq. 5.36);
//! crossed at right angles, where δ(s) = δ - s²/(2 (r₁ + r₂)), it is N = (4/3) E* (r₁ r₂)^¼ δ^{3/2}, the point contact of
//! Hertz. Between them it is up to a quarter stiffer than Hertz's ellipse. The round ends add
//!
//!   (33) N = w (4/3) E* √R δ^{3/2},   R = r₁ r₂/(r₁ + r₂)
//!
//! where w goes from 0 (the other lies towards the middle) over 1/2 (beside the end) to 1 (beyond it). The force of each
//! element points along the distance it was made of, so that (32) has the energy E* c ∫ δ²/2 ds.

use tippe_geometry::{Mat3, Moments, Pose, Vec3};

/// A capsule: its axis is z of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rod {
    /// Radius [m].
    pub radius: f64,
    /// Half the length of the straight part [m].
    pub half_length: f64,
}

/// Share of a right angle over which an end comes to carry all of the force [-].
const END: f64 = 0.1;

/// Nodes and weights of Gauss and Legendre on (0, 1), eight points.
const GAUSS: [(f64, f64); 8] = [
    (0.019855071751231884, 0.05061426814518813),
    (0.10166676129318664, 0.11119051722668724),
    (0.2372337950418355, 0.15685332293894363),
    (0.4082826787521751, 0.181341891689181),
    (0.591717321247825, 0.181341891689181),
    (0.7627662049581645, 0.15685332293894363),
    (0.8983332387068134, 0.11119051722668724),
    (0.9801449282487681, 0.05061426814518813),
];

/// The contact of two capsules as the moments that a foundation of the given layer L needs: N = (E*/L) V. `None` where
/// they are apart.
pub fn line_moments(rods: [Rod; 2], X_ws: &[Pose; 2], layer: f64) -> Option<Moments> {
    let mut sum = Sum { second: Mat3::ZERO, ..Sum::default() };
    // seen from either axis, half of each: the same in either order
    sum.gather([rods[0], rods[1]], [&X_ws[0], &X_ws[1]], 1.0);
    sum.gather([rods[1], rods[0]], [&X_ws[1], &X_ws[0]], -1.0);
    let normal = sum.force.try_normalize()?;
    let mean = sum.first / sum.total;
    let about = sum.second - outer(mean) * sum.total;
    let across = |x: Vec3| x - normal * normal.dot(x);
    let second = Mat3::from_cols(across(about.x_axis), across(about.y_axis), across(about.z_axis)) * layer;
    let volume = sum.force.length() * layer;
    (volume > 0.0).then_some(Moments {
        volume,
        centroid: sum.origin + mean,
        normal,
        face_normal: normal,
        area: sum.area,
        extent: sum.depth,
        depth: sum.depth,
        second,
    })
}

/// Integrals over the elements, per E*.
#[derive(Default)]
struct Sum {
    /// Places are counted from here [m].
    origin: Vec3,
    /// int dN/E* [m^2].
    total: f64,
    /// int n dN/E*, from the first to the second [m^2].
    force: Vec3,
    /// int x dN/E* [m^3].
    first: Vec3,
    /// int x x^T dN/E* [m^4].
    second: Mat3,
    /// Area of contact [m^2].
    area: f64,
    /// Largest depth [m].
    depth: f64,
}

impl Sum {
    /// Half the elements along the axis of `rods[0]`; `sign` is -1 when that is the second capsule.
    fn gather(&mut self, rods: [Rod; 2], X_ws: [&Pose; 2], sign: f64) {
        let (r1, r2) = (rods[0].radius, rods[1].radius);
        let reach = r1 + r2;
        let [a1, a2] = X_ws.map(|X| X.vector(Vec3::Z));
        let cosine = a1.dot(a2);
        let p = X_ws[0].position - X_ws[1].position;
        if sign > 0.0 {
            self.origin = X_ws[0].position;
        }
        let base = X_ws[0].position - self.origin;
        let (h1, h2) = (rods[0].half_length, rods[1].half_length);
        let across = p - a2 * a2.dot(p);
        let slope = a1 - a2 * cosine;
        let cos4 = cosine * cosine * cosine * cosine;
        let c_x = (libm::sqrt(r1 * r2) / (2.0 * reach)).sqrt();
        let c = c_x + (0.25 * std::f64::consts::PI - c_x) * cos4 * cos4;
        let R = r1 * r2 / reach;
        // along the axis the nearest point of the other runs from one of its ends to the other; three pieces at most
        let along = a2.dot(p);
        let mut cuts = [-h1, h1, h1, h1];
        if cosine.abs() > f64::MIN_POSITIVE {
            let ends = [(-h2 - along) / cosine, (h2 - along) / cosine];
            cuts[1] = ends[0].min(ends[1]).clamp(-h1, h1);
            cuts[2] = ends[0].max(ends[1]).clamp(-h1, h1);
        }
        for k in 0..3 {
            let (s0, s1) = (cuts[k], cuts[k + 1]);
            if s1 <= s0 {
                continue;
            }
            // d^2 = |q + s u|^2 on this piece
            let middle = along + cosine * 0.5 * (s0 + s1);
            let (q, u) = if middle.abs() <= h2 { (across, slope) } else { (p - a2 * (h2.copysign(middle)), a1) };
            let Some((s0, s1)) = within(q, u, reach, s0, s1) else { continue };
            for (x, w) in GAUSS {
                let s = s0 + (s1 - s0) * x;
                let d = q + u * s;
                let distance = d.length();
                let depth = reach - distance;
                if depth <= 0.0 || distance == 0.0 {
                    continue;
                }
                let n = d / -distance;
                let width = (R * depth).sqrt();
                let ds = (s1 - s0) * w;
                self.add(base + a1 * s + n * (r1 - 0.5 * depth), n * sign, depth, 0.5 * c * depth * ds);
                self.area += width * ds;
                let t = n.cross(a1);
                self.second += outer(t) * (0.25 * width * width * 0.5 * c * depth * ds);
            }
        }
        for end in [-1.0, 1.0] {
            let s = end * h1;
            let at = (along + cosine * s).clamp(-h2, h2);
            let d = p + a1 * s - a2 * at;
            let distance = d.length();
            let depth = reach - distance;
            if depth <= 0.0 || distance == 0.0 {
                continue;
            }
            let n = d / -distance;
            let x = (0.5 + 0.5 * end * n.dot(a1) / END).clamp(0.0, 1.0);
            let w = x * x * (3.0 - 2.0 * x);
            let N = 0.5 * w * (4.0 / 3.0) * R.sqrt() * depth * depth.sqrt();
            self.add(base + a1 * s + n * (r1 - 0.5 * depth), n * sign, depth, N);
            self.area += 0.5 * w * std::f64::consts::PI * R * depth;
        }
    }

    fn add(&mut self, x: Vec3, n: Vec3, depth: f64, N: f64) {
        self.total += N;
        self.force += n * N;
        self.first += x * N;
        self.second += outer(x) * N;
        self.depth = self.depth.max(depth);
    }
}

/// The part of (s0, s1) where |q + s u| < reach.
fn within(q: Vec3, u: Vec3, reach: f64, s0: f64, s1: f64) -> Option<(f64, f64)> {
    let (a, b, c) = (u.length_squared(), q.dot(u), q.length_squared() - reach * reach);
    if a <= f64::EPSILON * f64::EPSILON {
        return (c < 0.0).then_some((s0, s1));
    }
    let root = b * b - a * c;
    if root <= 0.0 {
        return None;
    }
    let root = root.sqrt();
    // the two roots without cancellation
    let far = -(b + root.copysign(b));
    let (x1, x2) = (far / a, if far == 0.0 { 0.0 } else { c / far });
    let (s0, s1) = (s0.max(x1.min(x2)), s1.min(x1.max(x2)));
    (s1 > s0).then_some((s0, s1))
}

fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Quat;

    const ROD: Rod = Rod { radius: 0.01, half_length: 0.1 };

    fn force(rods: [Rod; 2], X: Pose) -> (f64, Moments) {
        let m = line_moments(rods, &[Pose::IDENTITY, X], 1.0).expect("touching");
        (m.volume, m)
    }

    #[test]
    fn parallel_is_the_line_contact_of_hertz() {
        let depth = 1e-5;
        let (N, m) = force([ROD, ROD], Pose::at(Vec3::new(0.02 - depth, 0.0, 0.05)));
        let l = 0.15;
        // the ends add half a ball each way
        assert!((N / (0.25 * std::f64::consts::PI * l * depth) - 1.0).abs() < 0.02, "{N}");
        // the less they overlap the less they store: what lies past an end is pushed off, ever so slightly
        assert!((m.normal - Vec3::X).length() < 1e-4 && (m.centroid.z - 0.025).abs() < 1e-12, "{m:?}");
        let spread = m.second.z_axis.z / m.volume;
        assert!((spread / (l * l / 12.0) - 1.0).abs() < 0.02, "{spread}");
        assert!((m.depth - depth).abs() < 1e-15);
    }

    #[test]
    fn crossed_is_the_point_contact_of_hertz() {
        let depth: f64 = 1e-5;
        let X = Pose::new(Quat::from_rotation_y(std::f64::consts::FRAC_PI_2), Vec3::new(0.0, 0.02 - depth, 0.0));
        let (N, m) = force([ROD, ROD], X);
        let hertz = 4.0 / 3.0 * 0.01_f64.sqrt() * depth * depth.sqrt();
        assert!((N / hertz - 1.0).abs() < 2e-3, "{}", N / hertz);
        assert!((m.normal - Vec3::Y).length() < 1e-12);
    }

    #[test]
    fn tip_on_tip_is_a_pair_of_balls() {
        let depth: f64 = 1e-5;
        let (N, m) = force([ROD, ROD], Pose::at(Vec3::new(0.0, 0.0, 0.22 - depth)));
        let hertz = 4.0 / 3.0 * 0.005_f64.sqrt() * depth * depth.sqrt();
        assert!((N / hertz - 1.0).abs() < 0.02, "{}", N / hertz);
        assert!((m.normal - Vec3::Z).length() < 1e-12);
    }

    /// The force is the gradient of an energy: work round a closed path of small turns is nothing.
    #[test]
    fn no_work_round_a_closed_path() {
        let depth = 2e-4;
        let pose = |a: f64| {
            let (s, c) = (libm::sin(a), libm::cos(a));
            Pose::new(
                Quat::from_rotation_y(0.3) * Quat::from_rotation_x(1e-3 * s),
                Vec3::new(1e-4 * s, 0.02 - depth + 5e-5 * c, 0.01 * c),
            )
        };
        let (mut work, mut turnover) = (0.0, 0.0);
        let n = 2000;
        for i in 0..n {
            let a = |x: f64| (i as f64 + x) / n as f64 * std::f64::consts::TAU;
            let (X0, X, X1) = (pose(a(0.0)), pose(a(0.5)), pose(a(1.0)));
            let m = line_moments([ROD, ROD], &[Pose::IDENTITY, X], 1.0).expect("touching");
            let moved = |p: Vec3| X1.point(X.point_into(p)) - X0.point(X.point_into(p));
            let dw = m.volume * m.normal.dot(moved(m.centroid));
            work += dw;
            turnover += dw.abs();
        }
        assert!(work.abs() < 2e-3 * turnover, "{work} of {turnover}");
    }
}
