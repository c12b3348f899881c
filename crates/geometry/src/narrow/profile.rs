//! Prisms over smooth curves against points, and against capsules.

use super::Separation;
use super::analytic::PointDistance;
use crate::shape::Profile;
use crate::space::Vec2;
use crate::{Mat3, Pose, Vec3};

/// Square of the sine below which a capsule lies along the prism [-]: as for two capsules.
const PARALLEL: f64 = 1e-24;
/// Parts of a capsule's axis that are looked at over an outline with hollows: one of them has the nearest point [-].
const PARTS: usize = 16;
/// Halvings after which the nearest point of an axis stands still [-].
const HALVINGS: usize = 60;

/// A point against a prism, in its frame: beside it, over an end, or off the edge between.
pub(super) fn point(profile: &Profile, q: Vec3) -> PointDistance {
    let (foot, beside) = profile.nearest(Vec2::new(q.x, q.y));
    let side = foot.normal().extend(0.0);
    let end = if q.z < 0.0 { -Vec3::Z } else { Vec3::Z };
    let over = q.z.abs() - profile.half_length();
    if beside > 0.0 && over > 0.0 {
        let distance = libm::hypot(beside, over);
        return PointDistance { distance, normal: (side * beside + end * over) / distance };
    }
    if over > beside {
        PointDistance { distance: over, normal: end }
    } else {
        PointDistance { distance: beside, normal: side }
    }
}

/// The axis of a capsule in the prism's frame.
pub(crate) struct Stretch {
    /// Its middle [m] and unit direction.
    pub middle: Vec3,
    pub along: Vec3,
    /// Places on it [m] between which it lies beside the prism; the nearest end alone where none does.
    pub shared: [f64; 2],
    /// Square of the sine between it and the prism [-].
    pub askew: f64,
}

/// Where a capsule's axis lies beside a prism.
pub(crate) fn stretch(profile: &Profile, X_w1: &Pose, X_w2: &Pose, half_length: f64) -> Stretch {
    let R_w1 = Mat3::from_quat(X_w1.rotation);
    let middle = R_w1.mul_transpose_vec3(X_w2.position - X_w1.position);
    let along = R_w1.mul_transpose_vec3(X_w2.vector(Vec3::Z));
    let h = profile.half_length();
    let ends = [-h, h].map(|z| ((z - middle.z) / along.z).clamp(-half_length, half_length));
    let shared = if ends[0].is_nan() || ends[1].is_nan() { [-half_length, half_length] } else { ends };
    let shared = [shared[0].min(shared[1]), shared[0].max(shared[1])];
    Stretch { middle, along, shared, askew: along.x * along.x + along.y * along.y }
}

/// A point of the axis, seen from the prism.
#[derive(Clone, Copy)]
struct Near {
    /// Signed distance [m].
    distance: f64,
    /// Outward unit normal there [-].
    normal: Vec3,
    /// The point of the prism's surface [m].
    foot: Vec3,
}

/// Capsule 2 against prism 1: the ball around the nearest point of its axis; the middle of what they share where they are parallel.
pub(super) fn capsule(profile: &Profile, X_w1: &Pose, X_w2: &Pose, radius: f64, half_length: f64) -> Separation {
    let axis = stretch(profile, X_w1, X_w2, half_length);
    let at = |t: f64| {
        let q = axis.middle + axis.along * t;
        let PointDistance { distance, normal } = point(profile, q);
        Near { distance, normal, foot: q - normal * distance }
    };
    let nearest = if axis.askew <= PARALLEL {
        at(0.5 * (axis.shared[0] + axis.shared[1]))
    } else {
        // the distance of a convex body is convex along a line: its slope is that of the normal
        let parts = if profile.is_convex() { 1 } else { PARTS };
        let place = |k: usize| half_length * (2.0 * k as f64 / parts as f64 - 1.0);
        let lowest = (0..parts).map(|k| valley(&at, axis.along, place(k), place(k + 1)));
        lowest.reduce(|a, b| if b.distance < a.distance { b } else { a }).unwrap_or_else(|| at(0.0))
    };
    let normal = X_w1.vector(nearest.normal);
    let point1 = X_w1.point(nearest.foot);
    let gap = nearest.distance - radius;
    Separation { gap, normal, point1, point2: point1 + normal * gap }
}

/// The least distance between two places of an axis, where it falls and then rises.
fn valley(at: &impl Fn(f64) -> Near, along: Vec3, mut low: f64, mut high: f64) -> Near {
    let (first, last) = (at(low), at(high));
    if first.normal.dot(along) >= 0.0 {
        return first;
    }
    if last.normal.dot(along) <= 0.0 {
        return last;
    }
    let mut best = if last.distance < first.distance { last } else { first };
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if !(middle > low && middle < high) {
            break;
        }
        let here = at(middle);
        if here.distance <= best.distance {
            best = here;
        }
        if here.normal.dot(along) > 0.0 { high = middle } else { low = middle }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Quat, Shape, separation};
    use std::sync::Arc;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// The prism over a circle is as far from balls and capsules as the cylinder or, beside it, the capsule is.
    #[test]
    fn a_circle_is_as_far_as_the_round_ones_are() {
        let (r, h) = (0.03, 0.05);
        let prism = Shape::Profile(Arc::new(Profile::new(Curve::circle(Vec2::ZERO, r).unwrap(), h).unwrap()));
        let round = Shape::Cylinder { radius: r, half_height: h, smoothing: 0.0 };
        let X_w1 = Pose::new(Quat::from_rotation_x(0.3) * Quat::from_rotation_y(0.7), Vec3::new(0.1, -0.2, 0.3));
        let ball = Shape::Sphere { radius: 0.01 };
        for q in [
            Vec3::new(0.05, 0.01, 0.02),
            Vec3::new(0.001, 0.02, 0.07),
            Vec3::new(0.05, 0.01, 0.06),
            Vec3::new(0.01, 0.02, 0.01),
            Vec3::new(0.001, 0.002, -0.048),
        ] {
            let X_w2 = Pose::at(X_w1.point(q));
            let (own, known) = (separation(&prism, &X_w1, &ball, &X_w2), separation(&round, &X_w1, &ball, &X_w2));
            near(own.gap, known.gap, 1e-15);
            near(own.normal.distance(known.normal), 0.0, 1e-12);
            near(own.point1.distance(known.point1), 0.0, 1e-14);
        }
        let rod = Shape::Capsule { radius: 0.01, half_length: 0.02 };
        let long = Shape::Capsule { radius: r, half_length: h };
        for (turn, q) in
            [(0.0, Vec3::new(0.05, 0.01, 0.01)), (0.2, Vec3::new(0.05, 0.01, 0.01)), (1.4, Vec3::new(0.04, 0.0, 0.0))]
        {
            let X_12 = Pose::new(Quat::from_rotation_x(turn), q);
            let X_w2 = X_w1.then(&X_12);
            let (own, known) = (separation(&prism, &X_w1, &rod, &X_w2), separation(&long, &X_w1, &rod, &X_w2));
            near(own.gap, known.gap, 1e-14);
            near(own.normal.distance(known.normal), 0.0, 1e-7);
            near(own.point2.distance(known.point2), 0.0, 1e-7);
            near((own.point1 + own.normal * own.gap).distance(own.point2), 0.0, 1e-16);
        }
    }

    /// A ball in a hollow touches its ground, where a capsule across it touches both rims.
    #[test]
    fn a_hollow_is_seen() {
        // a disc of 0.1 with a round bay of 0.02 at its right
        let table: Vec<[f64; 2]> = (0..72)
            .map(|k| {
                let angle = std::f64::consts::TAU * k as f64 / 72.0;
                let off = angle.min(std::f64::consts::TAU - angle);
                [angle, -0.02 * libm::exp(-libm::pow(off / 0.25, 2.0))]
            })
            .collect();
        let follower = crate::Follower::Roller { radius: 0.0 };
        let curve = Curve::lift(0.1, &table, follower).unwrap();
        let profile = Profile::new(curve, 0.05).unwrap();
        assert!(!profile.is_convex());
        let prism = Shape::Profile(Arc::new(profile));
        let at = |x: f64| Pose::at(Vec3::new(x, 0.0, 0.0));
        let ball = separation(&prism, &Pose::IDENTITY, &Shape::Sphere { radius: 0.005 }, &at(0.09));
        near(ball.gap, 0.005, 1e-12);
        let across = Pose::new(Quat::from_rotation_x(std::f64::consts::FRAC_PI_2), Vec3::new(0.11, 0.0, 0.0));
        let rod = Shape::Capsule { radius: 0.001, half_length: 0.1 };
        let own = separation(&prism, &Pose::IDENTITY, &rod, &across);
        let reach = (0..10_000).map(|k| {
            let angle = k as f64 * 1e-4;
            (0.1 - 0.02 * libm::exp(-libm::pow(angle / 0.25, 2.0))) * libm::cos(angle)
        });
        near(own.gap, 0.11 - 0.001 - reach.fold(0.0, f64::max), 1e-4);
        assert!(own.point1.y.abs() > 0.02, "{own:?}");
    }
}
