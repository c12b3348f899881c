//! How what a fluid does to a body answers to its motion, in closed form. With s = (r - p) x up of a point r of the water plane, from the body's
//! centre of mass p, the plane sinks by  up.d + s.t  as the body moves by d and turns by t, so that
//!   dF = -rho g up int (up.d + s.t) dA,   dT = -rho g int s (up.d + s.t) dA + (t x rho g V (b - p)) x up;
//! drag of a facing triangle,  F = -c (n.v) v,  c = rho/2 C_d A,  and friction along a wet one,  F = -k |v_t| v_t,  answer to its velocity by
//!   dF/dv = -c (v n^T + (n.v) 1),   dF/dv = -k (|v_t| 1 + v_t v_t^T/|v_t|)   along itself.

use super::wet::outer;
use crate::six::{Response, Six, Tensor};
use tippe_geometry::{Mat3, Vec3};

/// Area, first and second moment of a water plane about the body's centre of mass, resolved in world [m^2, m^3, m^4].
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub area: f64,
    pub first: Vec3,
    pub second: Mat3,
}

/// [r]x, r x a as a matrix.
fn cross(r: Vec3) -> Mat3 {
    Mat3::from_cols(r.cross(Vec3::X), r.cross(Vec3::Y), r.cross(Vec3::Z))
}

/// A tensor from its blocks: angular by angular, angular by linear, linear by angular, linear by linear.
fn of_blocks([aa, al, la, ll]: [Mat3; 4]) -> Tensor {
    Tensor(std::array::from_fn(|c| match c {
        0..3 => Six::new(aa.col(c), la.col(c)),
        _ => Six::new(al.col(c - 3), ll.col(c - 3)),
    }))
}

/// Adds a force at r from the centre of mass whose derivative by the velocity of its point is `slope`.
pub fn add_point(response: &mut Response, r: Vec3, slope: Mat3) {
    let (left, right) = (cross(r), -cross(r));
    let blocks = [left * slope * right, left * slope, slope * right, slope];
    response.slowing = response.slowing.plus(&of_blocks(blocks));
}

/// Adds drag of coefficient c [kg/m] on what faces v with n.
pub fn add_drag(response: &mut Response, r: Vec3, c: f64, n: Vec3, v: Vec3) {
    add_point(response, r, (outer(v, n) + Mat3::IDENTITY * n.dot(v)) * -c);
}

/// Adds a force -k |v| v.
pub fn add_square(response: &mut Response, r: Vec3, k: f64, v: Vec3) {
    let speed = v.length();
    if speed > 0.0 {
        add_point(response, r, (Mat3::IDENTITY * speed + outer(v, v) * (1.0 / speed)) * -k);
    }
}

/// Adds buoyancy of weight `heavy` = rho g [N/m^3], of a volume with its centre at `arm` from the centre of mass.
pub fn add_buoyancy(response: &mut Response, plane: &Plane, heavy: f64, up: Vec3, (volume, arm): (f64, Vec3)) {
    // s = (r - p) x up
    let X = -cross(up);
    let first = X * plane.first;
    let second = X * plane.second * X.transpose();
    // (t x m) x up = m (up.t) - t (up.m)
    let m = arm * volume;
    let turned = outer(m, up) - Mat3::IDENTITY * up.dot(m);
    let blocks = [
        (turned - second) * heavy,
        outer(first, up) * -heavy,
        outer(up, first) * -heavy,
        outer(up, up) * (-heavy * plane.area),
    ];
    response.restoring = response.restoring.plus(&of_blocks(blocks));
}
