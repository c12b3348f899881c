//! Contact points of a prism over a smooth curve: with a half-space the ends of every hollow of the outline that is near
//! enough, of its straight pieces, or corners around its end face; with a capsule along it the ends of the line they share.

use super::reduce::{self, Candidate, Candidates};
use super::{FLAT, FLAT_LIMIT, Kind, MISSED, Manifold, id};
use crate::narrow::{Separation, separation, stretch};
use crate::shape::Profile;
use crate::space::Vec2;
use crate::{Pose, Shape, Vec3};
use std::f64::consts::TAU;

/// Corners that stand for the rim of an end face [-].
const RIM: usize = 16;
/// Sine of the angle up to which a capsule touches a prism along a line [-]: as for two lines.
const ALONG: f64 = 1e-2;

/// The points of a prism, which is shape 1, and another shape; one point for all but half-spaces and capsules.
pub(super) fn points(
    profile: &Profile,
    [shape1, shape2]: [&Shape; 2],
    [X_w1, X_w2]: [&Pose; 2],
    margin: f64,
    limit: usize,
    out: &mut Manifold,
) -> bool {
    let nearest = separation(shape1, X_w1, shape2, X_w2);
    out.normal = nearest.normal;
    if !(nearest.gap < margin) {
        return false;
    }
    let same = MISSED * profile.size();
    let mut found = Candidates::new(same);
    match shape2 {
        Shape::HalfSpace if limit > 1 => over_plane(profile, X_w1, &nearest, margin, &mut found),
        Shape::Capsule { radius, half_length } if limit > 1 => {
            along_capsule(profile, [X_w1, X_w2], [*radius, *half_length], &nearest, margin, &mut found);
        }
        _ => {}
    }
    if found.count == 0 {
        out.single(&nearest, id(Kind::Witness, 0, 0));
        return true;
    }
    let missed = found.least() > nearest.gap + same;
    let witness = || Candidate::new(0.5 * (nearest.point1 + nearest.point2), nearest.gap, id(Kind::Witness, 0, 0));
    reduce::into(&mut found, nearest.normal, limit.min(super::MAX_POINTS), missed.then(witness), same, out);
    out.place(nearest.normal, Vec3::ZERO);
    true
}

/// Both ends of what a capsule shares with the prism, where it lies along it.
fn along_capsule(
    profile: &Profile,
    [X_w1, X_w2]: [&Pose; 2],
    [radius, half_length]: [f64; 2],
    nearest: &Separation,
    margin: f64,
    found: &mut Candidates,
) {
    let axis = stretch(profile, X_w1, X_w2, half_length);
    if axis.askew > ALONG * ALONG || axis.shared[0] == axis.shared[1] {
        return;
    }
    for (end, t) in axis.shared.into_iter().enumerate() {
        let p_1 = axis.middle + axis.along * t;
        let (foot, distance) = profile.nearest(Vec2::new(p_1.x, p_1.y));
        let gap = distance - radius;
        if gap < margin {
            let point = X_w1.point(foot.position.extend(p_1.z)) + nearest.normal * (0.5 * gap);
            found.push(Candidate::new(point, gap, id(Kind::Corner2, end, 0)));
        }
    }
}

/// Points of the prism over a plane: its normal points from the prism into the half-space.
fn over_plane(profile: &Profile, X_w1: &Pose, nearest: &Separation, margin: f64, found: &mut Candidates) {
    let n = nearest.normal;
    let n_1 = X_w1.vector_into(n);
    let across = Vec2::new(n_1.x, n_1.y);
    // the plane: n . (x - p) = 0
    let mut push = |c: Vec2, z: f64, id: u32| {
        let p = X_w1.point(c.extend(z));
        let gap = n.dot(nearest.point2 - p);
        if gap < margin {
            found.push(Candidate::new(p + n * (0.5 * gap), gap, id));
        }
    };
    let h = profile.half_length();
    if across.length() <= FLAT_LIMIT {
        let z = h.copysign(n_1.z);
        for k in 0..RIM {
            let (s, c) = libm::sincos(TAU * k as f64 / RIM as f64);
            push(profile.farthest_along(Vec2::new(c, s)).position, z, id(Kind::Corner1, k, (n_1.z > 0.0) as usize));
        }
        return;
    }
    let e = -across.normalize();
    let ends = [(0, -h), (1, h)];
    let mut straight = false;
    profile.flats(e, FLAT, |corner, c| {
        straight = true;
        for (end, z) in ends {
            push(c, z, id(Kind::Corner1, corner + RIM, end));
        }
    });
    let mut hollow = 0;
    profile.hollows(e, |_, point, _| {
        // somewhere on a straight piece, whose ends are there
        if straight && point.curvature == 0.0 {
            return;
        }
        for (end, z) in ends {
            push(point.position, z, id(Kind::Corner2, hollow, end));
        }
        hollow += 1;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Quat, manifold};
    use std::f64::consts::{FRAC_PI_2, PI};
    use std::sync::Arc;

    fn points_over_plane(curve: Curve, X_ws: &Pose) -> Vec<Vec3> {
        let prism = Shape::Profile(Arc::new(Profile::new(curve, 0.05).unwrap()));
        let mut out = Manifold::default();
        assert!(manifold(&Shape::HalfSpace, &Pose::IDENTITY, &prism, X_ws, 1e-3, 8, &mut out));
        assert_eq!(out.normal, Vec3::Z);
        for p in out.points() {
            assert!((p.point.z - 0.5 * p.gap).abs() < 1e-15, "{p:?}");
        }
        out.points().iter().map(|p| p.point).collect()
    }

    /// Two ends of a line, two lines of a shape with two feet, four corners of a flat, and corners around an end.
    #[test]
    fn a_prism_stands_where_it_touches() {
        let lying = Quat::from_rotation_x(FRAC_PI_2);
        let circle = Curve::circle(Vec2::ZERO, 0.03).unwrap();
        let line = points_over_plane(circle.clone(), &Pose::new(lying, Vec3::new(0.0, 0.0, 0.0301)));
        assert_eq!(line.len(), 2);
        assert!(line.iter().all(|p| p.x.abs() < 1e-12 && (p.y.abs() - 0.05).abs() < 1e-12), "{line:?}");
        let oval =
            Curve::arcs(&[[-0.02, -0.01, 0.0], [0.02, -0.01, 1.0], [0.02, 0.01, 0.0], [-0.02, 0.01, 1.0]]).unwrap();
        let flat = points_over_plane(oval, &Pose::new(lying, Vec3::new(0.0, 0.0, 0.01)));
        assert_eq!(flat.len(), 4);
        assert!(flat.iter().all(|p| (p.x.abs() - 0.02).abs() < 1e-12), "{flat:?}");
        let table: Vec<[f64; 2]> = (0..36)
            .map(|k| {
                let angle = 2.0 * PI * k as f64 / 36.0;
                [angle, 0.002 * libm::cos(4.0 * angle)]
            })
            .collect();
        let lobes = Curve::lift(0.03, &table, crate::Follower::Roller { radius: 0.0 }).unwrap();
        let turned = lying * Quat::from_rotation_z(0.25 * PI);
        let feet = points_over_plane(lobes, &Pose::new(turned, Vec3::new(0.0, 0.0, 0.025)));
        assert_eq!(feet.len(), 4);
        assert!(feet.iter().all(|p| p.x.abs() > 0.005), "{feet:?}");
        let end = points_over_plane(circle, &Pose::at(Vec3::new(0.0, 0.0, 0.05)));
        assert!(end.len() >= 4 && end.iter().all(|p| (libm::hypot(p.x, p.y) - 0.03).abs() < 1e-12), "{end:?}");
    }
}
