//! Which pairs of an island need to be read at an evaluation: those whose last gap may be used up by now.

use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;

/// What keeps pairs that are far apart from being read at every evaluation: the gap a pair had when it was read, and where its bodies were
/// then. A gap cannot have shrunk by more than both have moved since; the pair cannot touch before that is used up. Nothing in the motion
/// depends on when a pair was read.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Asked for.
    pub used: bool,
    /// Gaps, or less, when they were read, by pair; zero where that does not matter [m].
    gaps: Vec<f64>,
    /// Places of the two bodies then, centre of mass [m] and orientation.
    places: Vec<[(Vec3, Mat3); 2]>,
    /// Bounding radii of the bodies [m].
    pub(super) radii: Vec<f64>,
    /// Pairs that may touch before a body has moved by half of `margin` [m] from where it was when they were listed.
    pub(super) near: Vec<u32>,
    pub(super) listed: Vec<(Vec3, Mat3)>,
    pub(super) margin: f64,
}

impl Skin {
    pub(super) fn new(model: &Model, bodies: impl Iterator<Item = u32>, pairs: usize) -> Skin {
        Skin {
            used: false,
            gaps: vec![0.0; pairs],
            places: vec![[(Vec3::ZERO, Mat3::IDENTITY); 2]; pairs],
            radii: bodies.map(|b| model.bodies[b as usize].radius).collect(),
            ..Skin::default()
        }
    }

    /// Farthest way of any point of a body from a place of its centre of mass and an orientation [m]: |p - p0| + r |R - R0|/sqrt(2) (Frobenius),
    /// since a point at distance r from the axis of a turn by t moves by 2 r sin(t/2) and |R - R0| = 2 sqrt(2) sin(t/2).
    pub(super) fn way(&self, body: usize, (p, R): &(Vec3, Mat3), now: &Kinematics) -> f64 {
        let turned = now.R - *R;
        let turn = turned.x_axis.length_squared() + turned.y_axis.length_squared() + turned.z_axis.length_squared();
        let swing = if turn == 0.0 { 0.0 } else { self.radii[body] * (0.5 * turn).sqrt() };
        // and what rounding may add
        (1.0 + 1e-12) * ((now.p - *p).length() + swing)
    }

    /// True when the list of near pairs is no longer all that may touch.
    pub(super) fn is_worn(&self, now: &[Kinematics]) -> bool {
        let far = |(k, place): (usize, &(Vec3, Mat3))| 2.0 * self.way(k, place, &now[k]) >= self.margin;
        self.listed.is_empty() || self.listed.iter().enumerate().any(far)
    }

    /// The gap of a pair has at least this size [m].
    pub(super) fn least(&self, pair: usize, ends: [u32; 2], now: &[Kinematics]) -> f64 {
        let mut gap = self.gaps[pair];
        for (place, end) in self.places[pair].iter().zip(ends) {
            if gap <= 0.0 {
                break;
            }
            gap -= self.way(end as usize, place, &now[end as usize]);
        }
        gap
    }

    /// The pair was read: it had this gap [m].
    pub(super) fn renew(&mut self, pair: usize, ends: [u32; 2], gap: f64, now: &[Kinematics]) {
        self.gaps[pair] = gap;
        if gap > 0.0 {
            self.places[pair] = ends.map(|end| (now[end as usize].p, now[end as usize].R));
        }
    }
}
