//! A slender straight body in a fluid: an element of a cable, a pole.
//!
//! With d its diameter, t its axis and v the velocity of a point of it against the fluid, v_t = (v.t) t and v_n = v - v_t, a length of it feels
//!   drag = -rho/2 d (C_d |v_n| v_n + pi C_t |v_t| v_t)   per length
//! (Morison et al. 1950, the independence of flow across and along: Hoerner 1965, section 3-11), C_t of its skin. It is summed at two Gauss points of
//! the wet part, so that turning is braked too and a current may change along it: exact where v is linear and does not change its sign.
//! It displaces the volume of its straight part; ends of neighbours overlap.

use super::wet::{Water, Wet};
use crate::kinematics::Kinematics;
use std::f64::consts::PI;
use tippe_geometry::{Pose, Shape, Vec3};

/// Gauss points, from the middle, of half the length: 1/sqrt(3) [-].
const GAUSS: f64 = 0.577_350_269_189_625_8;

/// A slender straight body.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Its middle in the body's frame c [m].
    middle: Vec3,
    /// From there to its end [m].
    half: Vec3,
    /// d [m].
    diameter: f64,
    /// C_t [-].
    pub along: f64,
}

impl Line {
    /// Of the one shape of a body, a capsule or a cylinder; none of others.
    pub fn new(shapes: &[(Shape, Pose)], along: f64) -> Option<Line> {
        let [(shape, place)] = shapes else { return None };
        let (radius, half) = match shape {
            Shape::Capsule { radius, half_length } => (*radius, *half_length),
            Shape::Cylinder { radius, half_height, .. } => (*radius, *half_height),
            _ => return None,
        };
        let half = place.rotation * (Vec3::Z * half);
        Some(Line { middle: place.position, half, diameter: 2.0 * radius, along })
    }

    /// What a fluid does to it; `current` is that of a point.
    pub fn wet(&self, kin: &Kinematics, water: &Water<'_>, current: impl Fn(Vec3) -> Vec3) -> Wet {
        let (middle, half) = (kin.p + kin.R * self.middle, kin.R * self.half);
        let mut out = Wet { centre: middle, ..Wet::default() };
        let Some([from, to]) = wet_part([-1.0, 1.0].map(|side| water.depth(middle + half * side))) else { return out };
        let length = (to - from) * half.length();
        let axis = half.normalize_or_zero();
        out.volume = 0.25 * PI * self.diameter * self.diameter * length;
        out.centre = middle + half * (0.5 * (from + to));
        out.depth = if water.level.is_finite() { water.depth(out.centre) } else { 0.0 };
        out.buoyancy = water.density * out.volume * (water.up * water.fall + water.acceleration(out.centre));
        out.torque = (out.centre - kin.p).cross(out.buoyancy);
        let faced = 0.5 * water.density * self.diameter * 0.5 * length;
        for side in [-GAUSS, GAUSS] {
            let x = middle + half * (0.5 * (from + to) + 0.5 * side * (to - from));
            let flow = Water { current: current(x), ..*water }.velocity(x);
            let v = kin.v + kin.w.cross(x - kin.p) - flow;
            let along = axis * axis.dot(v);
            let across = v - along;
            let force = -faced * (water.drag * across.length() * across + PI * self.along * along.length() * along);
            out.drag += force;
            out.torque += (x - kin.p).cross(force);
            out.lost -= force.dot(v);
            out.given += force.dot(flow);
        }
        out
    }
}

/// The part of a line that is wet, -1 to 1 from end to end, with the depths of its ends [m]; none of what is dry.
fn wet_part(depths: [f64; 2]) -> Option<[f64; 2]> {
    let [a, b] = depths;
    let at = (a + b) / (a - b);
    match (a > 0.0, b > 0.0) {
        (true, true) => Some([-1.0, 1.0]),
        (true, false) => Some([-1.0, at]),
        (false, true) => Some([at, 1.0]),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Mat3;

    fn water(level: f64) -> Water<'static> {
        Water {
            t: 0.0,
            density: 1000.0,
            viscosity: 0.0,
            up: Vec3::Z,
            fall: 10.0,
            level,
            current: Vec3::ZERO,
            waves: &[],
            drag: 1.2,
            lift: 0.0,
            answers: false,
        }
    }

    fn rod() -> Line {
        let shape = Shape::Capsule { radius: 0.01, half_length: 0.5 };
        let Some(line) = Line::new(&[(shape, Pose::IDENTITY)], 0.02) else { panic!("a capsule is a line") };
        line
    }

    #[test]
    fn a_current_across_and_along_drags_as_morison_says() {
        let flow = Vec3::new(1.0, 0.0, 2.0);
        let wet = rod().wet(&Kinematics::WORLD, &water(f64::INFINITY), |_| flow);
        let expected = Vec3::new(0.5 * 1000.0 * 0.02 * 1.2, 0.0, 0.5 * 1000.0 * 0.02 * PI * 0.02 * 4.0);
        assert!((wet.drag - expected).length() < 1e-12, "{:?} {expected:?}", wet.drag);
        assert!((wet.given - expected.dot(flow)).abs() < 1e-12 && (wet.lost - wet.given).abs() < 1e-12);
    }

    #[test]
    fn a_turning_rod_feels_the_torque_of_all_of_its_length() {
        let kin = Kinematics { w: Vec3::Y, R: Mat3::IDENTITY, ..Kinematics::WORLD };
        let wet = rod().wet(&kin, &water(f64::INFINITY), |_| Vec3::ZERO);
        // rho/2 d C_d times the integral of |s|^3 over the rod, 2 (l/2)^4/4 = 1/32; two Gauss points see 1/(24 sqrt(3)) of it
        let exact = 0.5 * 1000.0 * 0.02 * 1.2 / 32.0;
        assert!((wet.torque.y / -exact - 32.0 / (24.0 * 3.0_f64.sqrt())).abs() < 1e-12, "{:?} {exact}", wet.torque);
    }

    #[test]
    fn what_is_above_the_water_is_dry() {
        let wet = rod().wet(&Kinematics::WORLD, &water(0.25), |_| Vec3::ZERO);
        assert!((wet.volume - PI * 1e-4 * 0.75).abs() < 1e-15 && (wet.centre.z + 0.125).abs() < 1e-15);
        assert!((wet.depth - 0.375).abs() < 1e-15);
        assert!(rod().wet(&Kinematics::WORLD, &water(-0.6), |_| Vec3::ZERO).volume == 0.0);
    }
}
