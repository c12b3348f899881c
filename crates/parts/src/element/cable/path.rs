//! Where a cable runs: straight spans between points and circles that it touches, in space.
//!
//! A wheel has its centre c, in-plane axes u, v and its axle n; the cable runs around it in the sense s, counted about n.
//!   e(f) = cos f u + sin f v,   t(f) = -sin f u + cos f v,   Q = c + R e(f)
//! A span from Q_a to Q_b touches both circles where (Q_b - Q_a).e_a = 0 and (Q_b - Q_a).e_b = 0; of the up to four such lines it is the one
//! that leaves a and arrives at b in the senses of their wheels. Its fleet angles are those between it and the planes of the wheels.
//!
//! With d from Q_a to Q_b and l = |Q_b - Q_a|,   l' = d.(v_b - v_a) - r_a - r_b   where v are velocities of the points of the bodies at Q
//! and r_a, r_b the rates at which the span is laid onto its wheels,   r_b = -s R f_b' (d.t_b s),   r_a = s R f_a' (d.t_a s).

use crate::kinematics::Kinematics;
use crate::six::Six;
use libm::{acos, atan2, cos, sin, sqrt};
use std::f64::consts::{PI, TAU};
use tippe_geometry::Vec3;

/// Rounds of the search for the tangents of two circles, each of which brings them nearer by R^2/l^2, before Newton's method.
const ROUNDS: usize = 6;
/// Newton's steps at most.
const NEWTON: usize = 12;
/// A tangent is found where its angles change by less than this [rad].
const SMALLEST_TURN: f64 = 1e-15;

/// A circle that a cable touches, or a point: R = 0.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    /// R [m].
    pub radius: f64,
    /// s: 1 if the cable runs around it as the right hand says about the axle, else -1.
    pub sense: f64,
}

/// The end of a span on a wheel or at a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Q, resolved in world [m].
    pub at: Vec3,
    /// e, resolved in world.
    pub e: Vec3,
    /// t, resolved in world.
    pub t: Vec3,
    /// f: angle of Q in the frame of the wheel [rad].
    pub angle: f64,
    /// s d.t: cosine of the fleet angle [-].
    pub fleet: f64,
}

/// A straight piece of a cable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Unit vector along it, resolved in world.
    pub d: Vec3,
    /// l [m].
    pub length: f64,
    /// Its ends.
    pub ends: [Touch; 2],
}

/// Place of angle f on a circle.
fn touch(frame: &Kinematics, circle: &Circle, angle: f64) -> Touch {
    let [u, v] = [frame.R.x_axis, frame.R.y_axis];
    let (sine, cosine) = (sin(angle), cos(angle));
    let e = u * cosine + v * sine;
    Touch { at: frame.p + e * circle.radius, e, t: v * cosine - u * sine, angle, fleet: 1.0 }
}

/// x and y of a point in the plane of a circle, and its distance rho from the axle [m].
fn seen_from(frame: &Kinematics, point: Vec3) -> [f64; 3] {
    let arm = point - frame.p;
    let (x, y) = (arm.dot(frame.R.x_axis), arm.dot(frame.R.y_axis));
    [x, y, sqrt(x * x + y * y)]
}

/// f where a line from (`way` 1) or to (-1) a point touches a circle in its sense; a point inside touches where it is nearest.
fn tangent_from(frame: &Kinematics, circle: &Circle, point: Vec3, way: f64) -> f64 {
    let [x, y, rho] = seen_from(frame, point);
    let side = if rho > circle.radius { acos(circle.radius / rho) } else { 0.0 };
    atan2(y, x) + way * circle.sense * side
}

/// The span between two circles or points; false as second where one of them is inside the other's circle.
pub fn span(frames: [&Kinematics; 2], circles: [&Circle; 2]) -> (Span, bool) {
    let [a, b] = circles.map(|circle| circle.radius > 0.0);
    let mut ends = [0, 1].map(|k| Touch { at: frames[k].p, fleet: 1.0, ..Touch::default() });
    let place = |k: usize, angle: f64| touch(frames[k], circles[k], angle);
    for _ in 0..if a && b { ROUNDS } else { 1 } {
        if a {
            ends[0] = place(0, tangent_from(frames[0], circles[0], ends[1].at, -1.0));
        }
        if b {
            ends[1] = place(1, tangent_from(frames[1], circles[1], ends[0].at, 1.0));
        }
    }
    for _ in 0..if a && b { NEWTON } else { 0 } {
        let [one, other] = ends;
        let D = other.at - one.at;
        let g = [D.dot(one.e), D.dot(other.e)];
        let m = [
            D.dot(one.t),
            circles[1].radius * other.t.dot(one.e),
            -circles[0].radius * one.t.dot(other.e),
            D.dot(other.t),
        ];
        let determinant = m[0] * m[3] - m[1] * m[2];
        if determinant == 0.0 {
            break;
        }
        let turn = [-(g[0] * m[3] - g[1] * m[1]) / determinant, -(m[0] * g[1] - m[2] * g[0]) / determinant];
        let most = turn[0].abs().max(turn[1].abs());
        if most <= SMALLEST_TURN || most > 1.0 || most.is_nan() {
            break;
        }
        ends = [place(0, one.angle + turn[0]), place(1, other.angle + turn[1])];
    }
    let D = ends[1].at - ends[0].at;
    let length = D.length();
    let d = if length > 0.0 { D / length } else { Vec3::ZERO };
    let others = [ends[1].at, ends[0].at];
    for (k, (end, circle)) in ends.iter_mut().zip(circles).enumerate() {
        if circle.radius > 0.0 {
            // from inside it comes along e, whatever rounding makes of d.t
            let outside = seen_from(frames[k], others[k])[2] > circle.radius;
            end.fleet = if outside { circle.sense * d.dot(end.t) } else { 0.0 };
        }
    }
    let clear = length > 0.0 && ends.iter().all(|end| end.fleet > 0.0);
    (Span { d, length, ends }, clear)
}

impl Span {
    /// Velocity of the points of both bodies at the ends, resolved in world [m/s].
    fn velocities(&self, frames: [&Kinematics; 2]) -> [Vec3; 2] {
        [0, 1].map(|k| frames[k].v + frames[k].w.cross(self.ends[k].at - frames[k].p))
    }

    /// d.(v_b - v_a): the rate at which its ends part, as points of their bodies [m/s].
    pub fn parting(&self, frames: [&Kinematics; 2]) -> f64 {
        let [a, b] = self.velocities(frames);
        self.d.dot(b - a)
    }

    /// The matrix of the conditions of tangency by the rates of f_a and f_b, row by row [m]; 1 on the diagonal for points.
    fn conditions(&self, circles: [&Circle; 2]) -> [f64; 4] {
        let [one, other] = &self.ends;
        let is_wheel = circles.map(|circle| circle.radius > 0.0);
        let along = |end: &Touch, k: usize| if is_wheel[k] { self.length * self.d.dot(end.t) } else { 1.0 };
        let across = |radius: f64, t: Vec3, e: Vec3| if is_wheel[0] && is_wheel[1] { radius * t.dot(e) } else { 0.0 };
        [
            along(one, 0),
            across(circles[1].radius, other.t, one.e),
            across(-circles[0].radius, one.t, other.e),
            along(other, 1),
        ]
    }

    /// f_a' and f_b' relative to the frames of the wheels [rad/s]: both conditions hold on, with these rates of the radii [m/s].
    pub fn turning(&self, frames: [&Kinematics; 2], circles: [&Circle; 2], growth: [f64; 2]) -> [f64; 2] {
        let [a, b] = self.velocities(frames);
        let m = self.conditions(circles);
        let given = [0, 1].map(|k| {
            let e = self.ends[k].e;
            let grows = self.ends[1].e * growth[1] - self.ends[0].e * growth[0];
            let moves = (b - a + grows).dot(e) + self.length * self.d.dot(frames[k].w.cross(e));
            if circles[k].radius > 0.0 { moves } else { 0.0 }
        });
        let determinant = m[0] * m[3] - m[1] * m[2];
        if determinant == 0.0 {
            return [0.0; 2];
        }
        [-(given[0] * m[3] - given[1] * m[1]) / determinant, -(m[0] * given[1] - m[2] * given[0]) / determinant]
    }

    /// Derivatives of weights.(f_a', f_b') by the velocities of the bodies at Q_a and Q_b: a {torque, force} on each.
    pub fn turns_by(&self, circles: [&Circle; 2], weights: [f64; 2]) -> [Six; 2] {
        let m = self.conditions(circles);
        let determinant = m[0] * m[3] - m[1] * m[2];
        if determinant == 0.0 {
            return [Six::ZERO; 2];
        }
        // weights^T (-m^-1)
        let of = [
            -(weights[0] * m[3] - weights[1] * m[2]) / determinant,
            -(weights[1] * m[0] - weights[0] * m[1]) / determinant,
        ];
        let [one, other] = &self.ends;
        let is_wheel = circles.map(|circle| circle.radius > 0.0);
        let share = |k: usize| if is_wheel[k] { of[k] } else { 0.0 };
        let force = one.e * share(0) + other.e * share(1);
        let torque = |k: usize| self.ends[k].e.cross(self.d) * (self.length * share(k));
        [Six::new(torque(0), -force), Six::new(torque(1), force)]
    }

    /// r_a and r_b [m/s].
    pub fn laid(&self, circles: [&Circle; 2], turning: [f64; 2]) -> [f64; 2] {
        let rate = |k: usize, way: f64| way * circles[k].sense * circles[k].radius * turning[k] * self.ends[k].fleet;
        [rate(0, 1.0), rate(1, -1.0)]
    }
}

/// The wrap angle around a wheel, from the angle f where the cable comes in to that where it leaves: of those that differ by
/// whole turns the one nearest to `near` [rad].
pub fn wrap(sense: f64, comes: f64, leaves: f64, near: f64) -> f64 {
    let angle = sense * (leaves - comes);
    angle + TAU * ((near - angle) / TAU).round()
}

/// A difference of angles in (-pi, pi] [rad].
pub fn turned(from: f64, to: f64) -> f64 {
    let turn = to - from;
    turn - TAU * ((turn - PI) / TAU).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::{Mat3, Quat};

    const POINT: Circle = Circle { radius: 0.0, sense: 1.0 };

    fn at(p: Vec3) -> Kinematics {
        Kinematics { p, ..Kinematics::WORLD }
    }

    /// Point to sheave off its plane.
    #[test]
    fn a_line_from_a_point_touches_a_sheave() {
        let wheel = Circle { radius: 0.4, sense: 1.0 };
        let (span, clear) = span([&at(Vec3::new(1.2, -0.9, 0.25)), &at(Vec3::ZERO)], [&POINT, &wheel]);
        assert!(clear && (span.ends[1].angle - 0.65736242).abs() < 1e-8, "{span:?}");
        assert!((span.length - 1.4671401).abs() < 1e-7);
        assert!((acos(span.ends[1].fleet).to_degrees() - 9.8110502).abs() < 1e-6);
        assert!((span.ends[1].at - Vec3::new(0.31664265, 0.24441242, 0.0)).length() < 1e-8);
    }

    /// A point inside a wheel is none that a line comes from.
    #[test]
    fn no_line_comes_from_inside_a_sheave() {
        let wheel = Circle { radius: 0.2, sense: 1.0 };
        for point in [Vec3::new(0.1, 0.05, 0.0), Vec3::new(-0.1, 0.0, 0.3), Vec3::new(0.01, -0.12, 1.0)] {
            let (_, clear) = span([&at(point), &at(Vec3::ZERO)], [&POINT, &wheel]);
            assert!(!clear, "{point}");
        }
    }

    /// Open and crossed lines of two wheels in one plane.
    #[test]
    fn a_line_touches_two_wheels() {
        let one = Circle { radius: 0.5, sense: 1.0 };
        for (sense, length) in [(1.0, 1.9899749), (-1.0, 1.8330303)] {
            let other = Circle { radius: 0.3, sense };
            let (span, clear) = span([&at(Vec3::ZERO), &at(Vec3::new(2.0, 0.0, 0.0))], [&one, &other]);
            assert!(clear && (span.length - length).abs() < 1e-7, "{sense} {span:?}");
            let D = span.ends[1].at - span.ends[0].at;
            assert!(D.dot(span.ends[0].e).abs() < 1e-15 && D.dot(span.ends[1].e).abs() < 1e-15);
        }
    }

    /// Belts of two wheels, open and crossed: both spans, and R times the wrap on each wheel; the wrap of the first.
    #[test]
    fn belts_are_as_long_as_their_spans_and_wraps() {
        let frames = [at(Vec3::ZERO), at(Vec3::new(2.0, 0.0, 0.0))];
        for (sense, wraps, length) in
            [(1.0, [3.3419275, 2.9412578], 6.5332908), (-1.0, [3.9646263, 3.9646263], 6.8377616)]
        {
            let [one, other] = [Circle { radius: 0.5, sense: 1.0 }, Circle { radius: 0.3, sense }];
            let (out, _) = span([&frames[0], &frames[1]], [&one, &other]);
            let (back, _) = span([&frames[1], &frames[0]], [&other, &one]);
            let found = [
                wrap(1.0, back.ends[1].angle, out.ends[0].angle, PI),
                wrap(sense, out.ends[1].angle, back.ends[0].angle, PI),
            ];
            let belt = out.length + back.length + 0.5 * found[0] + 0.3 * found[1];
            assert!((belt - length).abs() < 1e-7, "{sense} {belt}");
            assert!((0..2).all(|k| (found[k] - wraps[k]).abs() < 1e-7), "{sense} {found:?}");
        }
    }

    /// Rates of length and angles against differences, and the dual of the angles' rates, for wheels askew that move.
    #[test]
    fn rates_are_those_of_differences() {
        let circles = [Circle { radius: 0.5, sense: 1.0 }, Circle { radius: 0.3, sense: -1.0 }];
        let wheels = [&circles[0], &circles[1]];
        let turn = |v: Vec3| Mat3::from_quat(Quat::from_scaled_axis(v));
        let frames = [
            Kinematics {
                v: Vec3::new(0.3, -0.2, 0.5),
                w: Vec3::new(0.4, 0.1, -0.7),
                R: turn(Vec3::new(0.1, -0.2, 0.3)),
                p: Vec3::ZERO,
            },
            Kinematics {
                p: Vec3::new(1.7, 0.6, 0.2),
                v: Vec3::new(-0.4, 0.6, 0.1),
                w: Vec3::new(-0.2, 0.8, 0.9),
                R: turn(Vec3::new(-0.2, 0.1, 0.5)),
            },
        ];
        let moved = |h: f64| frames.map(|f| Kinematics { p: f.p + f.v * h, R: turn(f.w * h) * f.R, ..f });
        let here = |h: f64| {
            let [a, b] = moved(h);
            span([&a, &b], wheels).0
        };
        let h = 1e-6;
        let (low, now, high) = (here(-h), here(0.0), here(h));
        let both = [&frames[0], &frames[1]];
        let turning = now.turning(both, wheels, [0.0; 2]);
        for k in 0..2 {
            let rate = (high.ends[k].angle - low.ends[k].angle) / (2.0 * h);
            assert!((turning[k] - rate).abs() < 1e-8, "{k}: {} {rate}", turning[k]);
        }
        let rate = (high.length - low.length) / (2.0 * h);
        let laid = now.laid(wheels, turning);
        assert!((now.parting(both) - laid[0] - laid[1] - rate).abs() < 1e-8);
        let weights = [0.7, -1.3];
        let dual = now.turns_by(wheels, weights);
        let power: f64 = (0..2)
            .map(|k| {
                let v = frames[k].v + frames[k].w.cross(now.ends[k].at - frames[k].p);
                dual[k].angular.dot(frames[k].w) + dual[k].linear.dot(v)
            })
            .sum();
        assert!((power - weights[0] * turning[0] - weights[1] * turning[1]).abs() < 1e-12);
    }

    #[test]
    fn turns_are_counted() {
        assert!((wrap(1.0, 0.0, 0.5, 12.0) - (0.5 + 2.0 * TAU)).abs() < 1e-14);
        assert!((turned(3.0, -3.0) - (TAU - 6.0)).abs() < 1e-15);
    }
}
