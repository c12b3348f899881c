//! Contact over an area: what flat solids share, and how its pressure resists rocking.
//!
//! Elastic foundation: over the patch p = (E*/L) depth, so N = (E*/L) V at the centroid of the overlap, whatever its form.
//! L = (pi/2) a with a half the mean extent of the smaller solid: a flat end of radius a has the stiffness 2 E* a of a
//! rigid punch (Johnson 1985, eq. 3.36). Its energy is (E*/L) times the integral of depth^2/2 over the patch: against a
//! half-space (E*/L) V times the depth of the centroid.
//! Damping p d v acts at every column with its own closing speed v: the force is that of the centroid, and rocking is
//! opposed by the torque (c/V) P n x (M (n x P omega)), M the second moment of the overlap, c = dN/dv. P takes away turns of a round
//! solid about its own axis, which change no depth: what rolls is not braked. Two round ones turn about their common axis, as far as they have one.

use crate::contact::friction::FrictionConstants;
use crate::contact::line::{Rod, line_moments};
use tippe_geometry::{Moments, Pose, Separation, Shape, Vec3, moments, separation};

/// Farthest point of a patch over its root mean square extent, for a rectangle [-].
const FARTHEST: f64 = 1.7320508075688772;

/// Constants of a pair that touches over an area.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The two solids without their smoothing radii.
    shapes: [Shape; 2],
    /// a: half the mean extent of the smaller solid [m].
    pub size: f64,
    /// Radius on which the round one of the two rolls [m]; zero when both have flat faces only.
    pub rolling_radius: f64,
    /// The half-space of the two, if there is one.
    half_space: Option<usize>,
    /// Both, where they are capsules: they touch along a line.
    rods: Option<[Rod; 2]>,
    /// Sum of the bounding radii [m].
    bound: f64,
}

impl Patch {
    /// The patch of two shapes whose contact kind it is.
    pub fn new(shapes: [&Shape; 2], radii: [f64; 2]) -> Patch {
        let mean = |s: &Shape| {
            let h = s.aabb(&Pose::IDENTITY).half();
            (h.x + h.y + h.z) / 3.0
        };
        let sharp = shapes.map(sharpened);
        let size = sharp.iter().map(mean).filter(|a| a.is_finite()).fold(f64::INFINITY, f64::min);
        let rolling_radius = shapes.iter().map(|s| round_radius(s)).fold(0.0, f64::max);
        let half_space = shapes.iter().position(|s| matches!(s, Shape::HalfSpace));
        Patch { shapes: sharp, size, rolling_radius, half_space, rods: rods(shapes), bound: radii[0] + radii[1] }
    }

    /// True where what two solids share has a closed form though one of them is round: a cylinder and a box.
    pub fn is_closed(shapes: [&Shape; 2]) -> bool {
        matches!(shapes, [Shape::Cylinder { .. }, Shape::Box { .. }] | [Shape::Box { .. }, Shape::Cylinder { .. }])
    }

    /// L [m].
    pub fn layer(&self) -> f64 {
        0.5 * std::f64::consts::PI * self.size
    }

    /// True when the energy of a foundation has a closed form.
    pub fn energy_is_closed(&self) -> bool {
        self.half_space.is_some()
    }

    /// What the solids share.
    pub fn moments(&self, X_ws: &[Pose; 2]) -> Option<Moments> {
        if self.far(X_ws).is_some() {
            return None;
        }
        match self.rods {
            Some(rods) => line_moments(rods, X_ws, self.layer()),
            None => moments(&self.shapes[0], &X_ws[0], &self.shapes[1], &X_ws[1]),
        }
    }

    /// Signed distance; a lower bound of it while the bounding balls are apart unless `exact`.
    pub fn separation(&self, X_ws: &[Pose; 2], exact: bool) -> Separation {
        match self.far(X_ws) {
            Some(distance) if !exact => Separation {
                gap: distance - self.bound,
                normal: (X_ws[1].position - X_ws[0].position) / distance,
                point1: X_ws[0].position,
                point2: X_ws[1].position,
            },
            _ => separation(&self.shapes[0], &X_ws[0], &self.shapes[1], &X_ws[1]),
        }
    }

    /// Distance of the origins where the bounding balls are apart [m].
    fn far(&self, X_ws: &[Pose; 2]) -> Option<f64> {
        let far = (X_ws[1].position - X_ws[0].position).length_squared();
        (self.bound.is_finite() && far > self.bound * self.bound * 1.0001).then(|| far.sqrt())
    }

    /// Depth of the centroid below the half-space's face: half the mean depth, weighted with the depth [m]; NaN for two
    /// bounded solids.
    pub fn sink(&self, X_ws: &[Pose; 2], centroid: Vec3) -> f64 {
        match self.half_space {
            Some(k) => X_ws[k].vector(Vec3::Z).dot(X_ws[k].position - centroid),
            None => f64::NAN,
        }
    }

    /// Unit axis about which turns change no depth, and the share of them that do not [-].
    pub fn rolls_about(&self, X_ws: &[Pose; 2]) -> (Vec3, f64) {
        let axis = |k: usize| {
            let round = matches!(
                self.shapes[k],
                Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Capsule { .. } | Shape::Profile(_)
            );
            round.then(|| X_ws[k].vector(Vec3::Z))
        };
        match (axis(0), axis(1)) {
            (Some(a), Some(b)) => {
                let cosine = a.dot(b);
                let both = if cosine < 0.0 { a - b } else { a + b };
                (both.normalize(), libm::pow(cosine.abs(), 8.0))
            }
            (Some(a), None) | (None, Some(a)) => (a, 1.0),
            (None, None) => (Vec3::Z, 0.0),
        }
    }

    /// Constants of friction over the patch: springs of a rigid punch; flat faces do not roll.
    pub fn friction(&self, mut constants: FrictionConstants, stiffness: f64) -> FrictionConstants {
        constants.patch_stiffness = stiffness;
        constants.patch_size = self.size;
        if self.rolling_radius == 0.0 {
            constants.rolling = 0.0;
        }
        constants
    }
}

/// Torque on body 2 about the centroid that opposes rocking [N m], and the power it takes [W]; c = dN/dv [N s/m], force N [N],
/// `rolls` from [`Patch::rolls_about`]. It is held where the pressure of the opening side would turn into pull, so it ends with the force.
pub fn rocking(m: &Moments, n: Vec3, omega: Vec3, rolls: (Vec3, f64), c: f64, force: f64) -> (Vec3, f64) {
    let P = |x: Vec3| x - rolls.0 * (rolls.1 * rolls.0.dot(x));
    let turn = n.cross(P(omega));
    let flow = m.second * turn;
    // mean square of the closing speed that rotation adds
    let v2 = (turn.dot(flow) / m.volume).max(0.0);
    let fastest = c * FARTHEST * v2.sqrt();
    let held = if fastest > force { c * force / fastest } else { c };
    (P(n.cross(flow)) * (held / m.volume), held * v2)
}

/// Two capsules.
pub fn rods(shapes: [&Shape; 2]) -> Option<[Rod; 2]> {
    let rod = |shape: &Shape| match *shape {
        Shape::Capsule { radius, half_length } => Some(Rod { radius, half_length }),
        _ => None,
    };
    Some([rod(shapes[0])?, rod(shapes[1])?])
}

/// The solid without its smoothing radius.
fn sharpened(shape: &Shape) -> Shape {
    let mut shape = shape.clone();
    match &mut shape {
        Shape::Box { smoothing, .. } | Shape::Cylinder { smoothing, .. } | Shape::Cone { smoothing, .. } => {
            *smoothing = 0.0;
        }
        _ => {}
    }
    shape
}

fn round_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Cylinder { radius, .. } | Shape::Capsule { radius, .. } => *radius,
        Shape::Cone { base_radius, top_radius, .. } => base_radius.max(*top_radius),
        // the circle as long as the outline
        Shape::Profile(profile) => profile.curve().length() / std::f64::consts::TAU,
        _ => 0.0,
    }
}
