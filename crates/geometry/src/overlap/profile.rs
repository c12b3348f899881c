//! A prism over a smooth curve against a half-space, slice by slice.
//!
//! In the prism's frame the height above the plane is m e.o + n_z z + h0, with e the part of the normal across the axis. The
//! plane keeps the part e.o <= -(n_z z + h0)/m of the slice at z: what [`Profile::segment`] measures around every hollow of
//! the outline. Along the axis half powers are taken as in [`super::revolution`].

use super::revolution::{GAUSS, LEVEL};
use super::{Overlap, PatchPoint};
use crate::curve::GAUSS as EVEN;
use crate::shape::Profile;
use crate::space::Vec2;
use crate::{Pose, Vec3};
use std::f64::consts::FRAC_PI_2;

/// The plane and the outline in the prism's frame.
struct Slices<'a> {
    profile: &'a Profile,
    X_w2: &'a Pose,
    e: Vec2,
    m: f64,
    n_z: f64,
    h0: f64,
    /// Parameter of the lowest point of each hollow, and its height along e [m].
    hollows: Vec<(f64, f64)>,
}

/// Least share of the greatest depth along a stretch over which half powers of the depth are all but polynomials: with the root of
/// the depth nine half lengths from the middle, five points leave (9 + sqrt(80))^-10 = 3e-13 [-].
const EVENLY: f64 = 0.8;

/// Sums over the slices.
#[derive(Default)]
struct Sums {
    volume: f64,
    /// Volume times place [m^4].
    moment: Vec3,
    area: f64,
    patch: Vec<PatchPoint>,
}

pub(super) fn half_space(X_w1: &Pose, profile: &Profile, X_w2: &Pose) -> Option<Overlap> {
    let n_w = X_w1.vector(Vec3::Z);
    let n = X_w2.vector_into(n_w);
    let h0 = n_w.dot(X_w2.position - X_w1.position);
    let lowest = n.dot(profile.middle_support(-n));
    let depth = -(lowest + h0);
    if !(depth > 0.0) {
        return None;
    }
    let across = Vec2::new(n.x, n.y);
    let m = across.length();
    let e = if m > LEVEL { across / m } else { Vec2::X };
    let mut hollows = Vec::new();
    profile.hollows(e, |s, _, height| hollows.push((s, height)));
    hollows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let slices = Slices { profile, X_w2, e, m, n_z: n.z, h0, hollows };
    let mut sums = Sums::default();
    let h = profile.half_length();
    let top = profile.farthest_along(e).position.dot(e);
    // where a hollow begins to dip in, and where a slice is swallowed; a level plane gives an end
    let mut ends: Vec<f64> =
        slices.hollows.iter().map(|own| own.1).chain([top]).map(|own| (-m * own - h0) / n.z).collect();
    ends.retain(|z| z.abs() < h);
    ends.extend([-h, h]);
    ends.sort_by(f64::total_cmp);
    for w in ends.windows(2) {
        let (middle, half) = (0.5 * (w[0] + w[1]), 0.5 * (w[1] - w[0]));
        if slices.are_even(w[0], w[1]) {
            for (x, weight) in EVEN {
                slices.add(middle + half * x, weight * half, &mut sums);
            }
            continue;
        }
        for (x, weight) in GAUSS {
            for theta in [-x * FRAC_PI_2, x * FRAC_PI_2] {
                let (s, c) = libm::sincos(theta);
                slices.add(middle + half * s, weight * FRAC_PI_2 * half * c, &mut sums);
            }
        }
    }
    if m <= LEVEL && (-h0 / n.z).abs() < h {
        sums.area += profile.area().0;
    }
    let V = sums.volume;
    if !(V > 0.0) {
        return None;
    }
    let extent = depth.min(n.dot(profile.middle_support(n)) - lowest);
    Some(Overlap {
        volume: V,
        centroid: X_w2.point(sums.moment / V),
        normal: n_w,
        area: sums.area,
        extent,
        patch: sums.patch,
    })
}

impl Slices<'_> {
    /// True where every hollow dips in about equally deep between two places of the axis, or nowhere.
    fn are_even(&self, from: f64, to: f64) -> bool {
        self.hollows.iter().all(|&(_, height)| {
            let [a, b] = [from, to].map(|z| -(self.m * height + self.n_z * z + self.h0));
            a.max(b) <= 0.0 || a.min(b) >= EVENLY * a.max(b)
        })
    }

    /// Adds the slice at z over dz.
    fn add(&self, z: f64, dz: f64, sums: &mut Sums) {
        let plane = self.n_z * z + self.h0;
        let level = -plane / self.m;
        let t = Vec2::new(self.e.y, -self.e.x);
        let mut seen: Vec<[f64; 2]> = Vec::new();
        for &(s, height) in &self.hollows {
            if self.m * height + plane >= 0.0 || self.m <= LEVEL {
                break;
            }
            let turn = self.profile.curve().turn();
            if seen.iter().any(|[from, to]| [s - turn, s, s + turn].iter().any(|s| s >= from && s <= to)) {
                continue;
            }
            let (part, ends) = self.profile.segment(self.e, level, s);
            let Some(ends) = ends else { return self.whole(z, dz, plane, sums) };
            seen.push(ends);
            if !(part.area > 0.0) {
                continue;
            }
            let depth = part.deep / part.area;
            let place = part.first / part.area;
            let spread = (part.second / part.area - place * place).max(0.0).sqrt();
            let middle = self.e * (level - depth) + t * (part.at + place);
            sums.area += part.chord / self.m * dz;
            self.columns(middle, t * spread, z, [part.area * dz, self.m * depth], sums);
        }
        if self.m <= LEVEL && plane < 0.0 {
            self.whole(z, dz, plane, sums);
        }
    }

    /// A slice that lies below the plane altogether.
    fn whole(&self, z: f64, dz: f64, plane: f64, sums: &mut Sums) {
        let (area, centre) = self.profile.area();
        let t = Vec2::new(self.e.y, -self.e.x);
        let depth = -(self.m * centre.dot(self.e) + plane);
        self.columns(centre, t * self.profile.spread(t).sqrt(), z, [area * dz, depth], sums);
    }

    /// A volume at a mean depth, as two columns that are as far apart as it is wide.
    fn columns(&self, middle: Vec2, apart: Vec2, z: f64, [volume, depth]: [f64; 2], sums: &mut Sums) {
        sums.volume += volume;
        sums.moment += middle.extend(z) * volume;
        let depth = 2.0 * depth;
        if depth > 0.0 {
            for c in [middle - apart, middle + apart] {
                let point = self.X_w2.point(c.extend(z));
                sums.patch.push(PatchPoint { point, area: 0.5 * volume / depth, depth });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Quat, Shape, overlap};
    use std::sync::Arc;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// The prism over a circle shares with a half-space what the cylinder does: lying, askew, on its rim, standing, swallowed.
    #[test]
    fn a_circle_shares_what_the_cylinder_does() {
        let (r, h) = (0.03, 0.05);
        let round = Shape::Cylinder { radius: r, half_height: h, smoothing: 0.0 };
        let curve = Curve::circle(Vec2::ZERO, r).unwrap();
        let prism = Shape::Profile(Arc::new(Profile::new(curve, h).unwrap()));
        for (turn, height) in [
            (0.0, 0.0299),
            (1e-3, 0.0299),
            (0.5, 0.045),
            (1.2, 0.05),
            (std::f64::consts::FRAC_PI_2, 0.0499),
            (0.3, -0.2),
        ] {
            // lying along y, then tipped up about x
            let rotation = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 - turn) * Quat::from_rotation_z(0.4);
            let X_w2 = Pose::new(rotation, Vec3::new(0.1, 0.2, height));
            let of = |shape: &Shape| overlap(&Shape::HalfSpace, &Pose::IDENTITY, shape, &X_w2).unwrap();
            let (own, known) = (of(&prism), of(&round));
            near(own.volume, known.volume, 1e-8 * known.volume);
            near(own.area, known.area, 1e-6 * known.area);
            near(own.centroid.distance(known.centroid), 0.0, 1e-8);
            near(own.extent, known.extent, 1e-15);
            let carried = own.patch.iter().map(|p| p.point * (p.area * p.depth)).sum::<Vec3>() / own.volume;
            near((carried - own.centroid).truncate().length(), 0.0, 1e-9);
        }
    }
}
