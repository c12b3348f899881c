//! A row: what a joint holds between two frames.

use crate::kinematics::Kinematics;
use crate::six::Six;

/// One constraint: phi = 0, with phi' = J1 . V1 + J2 . V2 where V = {w, v} of the frame, and
/// phi'' = J1 . A1 + J2 . A2 + convective with A = {alpha, a} of the frame's origin (a is the ordinary acceleration of
/// that material point). So {J.angular, J.linear} is also the wrench (torque about the frame's origin, force) that a
/// unit multiplier exerts on that frame's body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Violation: [m] if `length`, else [rad] or [-]; 0 if not holonomic.
    pub phi: f64,
    /// Derivatives by the motions of frames 1 and 2, in world axes.
    pub J: [Six; 2],
    /// J' V [unit of phi per second squared].
    pub convective: f64,
    /// False: only the rate is constrained.
    pub holonomic: bool,
    /// phi (its rate, if not holonomic) is a length (a velocity), else an angle or pure number (its rate).
    pub length: bool,
}

impl Row {
    /// phi' [unit of phi per second].
    #[inline]
    pub fn rate(&self, f1: &Kinematics, f2: &Kinematics) -> f64 {
        self.J[0].dot(&Six::new(f1.w, f1.v)) + self.J[1].dot(&Six::new(f2.w, f2.v))
    }
}
