//! Motion of a frame at one instant.

use tippe_geometry::{Mat3, Vec3};

/// Motion of a frame (of a body: at its centre of mass), resolved in world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Position [m].
    pub p: Vec3,
    /// Velocity of the point of the body at `p` [m/s].
    pub v: Vec3,
    /// Angular velocity [rad/s].
    pub w: Vec3,
    /// R_wb; only kept for bodies whose orientation matters.
    pub R: Mat3,
}

impl Kinematics {
    /// The world's frame.
    pub const WORLD: Kinematics = Kinematics { p: Vec3::ZERO, v: Vec3::ZERO, w: Vec3::ZERO, R: Mat3::IDENTITY };

    /// Motion of a frame fixed in this one at `p_bf` (this frame's axes) with axes `R_bf`.
    pub fn of_frame(&self, p_bf: Vec3, R_bf: &Mat3) -> Kinematics {
        let arm = self.R * p_bf;
        Kinematics { p: self.p + arm, v: self.v + self.w.cross(arm), w: self.w, R: self.R * *R_bf }
    }
}
