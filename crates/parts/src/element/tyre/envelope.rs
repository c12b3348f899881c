//! How a tyre lies on a road that is no plane: rays from the wheel's centre, in its plane, over the lower part of the wheel. Where ray j meets the
//! road at the distance d_j < R0 it presses by R0 - d_j:
//!   A = sum_j (R0^2 - d_j^2)/2 dtheta,   n = sum_j (R0 - d_j) (-r_j), of length one, leaning across as the road does there,
//! and the tyre is taken to lie on the plane with this normal on which it would lose the same area A (Sui, Hirshey 1999):
//!   A(delta) = R0^2 acos(1 - delta/R0) - (R0 - delta) sqrt(2 R0 delta - delta^2).
//! On a plane that gives delta again, up to the angle between rays; over a cleat the force turns against the wheel's way before it lifts it.

use super::RoadTyre;
use crate::kinematics::Kinematics;
use libm::{acos, cos, pow, sin, sqrt};
use tippe_geometry::{Pose, Quat, Vec3, ray};

/// Rays, and the angle to either side over which they are spread [rad].
const RAYS: usize = 61;
const SPAN: f64 = 1.2;
/// Rays look this far, over the radius [-].
const LOOKS: f64 = 1.3;
/// Time over which the rate of the deflection is measured [s].
const SOON: f64 = 1e-5;

/// The road under a tyre.
#[derive(Clone, Copy, Debug)]
pub struct Under {
    /// n, resolved in world.
    pub normal: Vec3,
    /// delta of an upright wheel [m]; below zero in the air.
    pub depth: f64,
}

/// What lies under a wheel whose centre is at p.
fn under(own: &RoadTyre, wheel: &Kinematics, road: &Kinematics, p: Vec3) -> Option<Under> {
    let radius = own.tyre.carcass.radius;
    let (axle, up) = (wheel.R.y_axis, road.R.z_axis);
    let upward = (up - axle * axle.dot(up)).try_normalize()?;
    let ahead = axle.cross(upward);
    // frame c of the road's body
    let (own_R, own_p) = (own.ends[1].R, own.ends[1].p);
    let R_wc = road.R * own_R.transpose();
    let X_wc = Pose::new(Quat::from_mat3(&R_wc), road.p - R_wc * own_p);
    let step = 2.0 * SPAN / (RAYS - 1) as f64;
    let (mut area, mut presses, mut radial, mut leans) = (0.0, 0.0, Vec3::ZERO, 0.0);
    let (mut nearest, mut above) = (LOOKS * radius, upward);
    for k in 0..RAYS {
        let angle = k as f64 * step - SPAN;
        let along = ahead * sin(angle) - upward * cos(angle);
        let hits =
            own.road.iter().filter_map(|(shape, X_cs)| ray::cast(shape, &X_wc.then(X_cs), p, along, LOOKS * radius));
        let Some(hit) = hits.min_by(|a, b| a.distance.total_cmp(&b.distance)) else { continue };
        if hit.distance < nearest {
            (nearest, above) = (hit.distance, hit.normal);
        }
        let press = radius - hit.distance;
        if press > 0.0 {
            area += 0.5 * (radius * radius - hit.distance * hit.distance) * step;
            presses += press;
            radial -= along * press;
            leans += press * hit.normal.dot(axle);
        }
    }
    if presses == 0.0 {
        let normal = if above.dot(up) > 0.0 { above } else { up };
        return Some(Under { normal, depth: radius - nearest });
    }
    let lean = leans / presses;
    let normal = radial.try_normalize()? * sqrt((1.0 - lean * lean).max(0.0)) + axle * lean;
    Some(Under { normal, depth: deflection(area, radius) })
}

/// delta of a segment of this area [m].
fn deflection(area: f64, R: f64) -> f64 {
    let mut delta = pow(0.75 * area / sqrt(2.0 * R), 2.0 / 3.0).min(R);
    for _ in 0..6 {
        let chord = sqrt((2.0 * R * delta - delta * delta).max(1e-30));
        let has = R * R * acos(1.0 - delta / R) - (R - delta) * chord;
        delta = (delta - (has - area) / (2.0 * chord)).clamp(0.0, R);
    }
    delta
}

impl RoadTyre {
    /// The road under it, and the rate of its deflection [m/s].
    pub(super) fn envelops(&self, [wheel, road]: [&Kinematics; 2]) -> Option<(Under, f64)> {
        let now = under(self, wheel, road, wheel.p)?;
        let over = wheel.v - road.v - road.w.cross(wheel.p - road.p);
        let soon = under(self, wheel, road, wheel.p + over * SOON)?;
        Some((now, (soon.depth - now.depth) / SOON))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_of_a_segment_gives_its_depth() {
        for delta in [1e-4, 0.01, 0.05, 0.2] {
            let R: f64 = 0.33;
            let area = R * R * acos(1.0 - delta / R) - (R - delta) * sqrt(2.0 * R * delta - delta * delta);
            assert!((deflection(area, R) / delta - 1.0).abs() < 1e-9, "{delta}");
        }
    }
}
