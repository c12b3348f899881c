//! Points, rotations and poses.
//!
//! Frames are in the names (CONVENTIONS.md): `X_wb` is the pose of b in w, `p_bk_w` runs from b's origin to k and is
//! resolved in w, inner letters cancel: `p_wk = X_wb * p_bk`.

use serde::{Deserialize, Serialize};

/// Two-vector in a plane [unit as documented where used].
pub type Vec2 = glamx::DVec2;
/// Three-vector [unit as documented where used].
pub type Vec3 = glamx::DVec3;
/// 3x3 matrix, column major.
pub type Mat3 = glamx::DMat3;
/// Unit quaternion; stored x, y, z, w, but written w, x, y, z at every door.
pub type Quat = glamx::DQuat;

/// Pose of frame b in frame a: `p_ak = X_ab * p_bk`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Rotation taking b-components to a-components.
    pub rotation: Quat,
    /// Origin of b, from the origin of a, resolved in a [m].
    pub position: Vec3,
}

impl Pose {
    /// The pose of a frame in itself.
    pub const IDENTITY: Pose = Pose { rotation: Quat::IDENTITY, position: Vec3::ZERO };

    /// Pose with the given rotation and origin [m].
    pub fn new(rotation: Quat, position: Vec3) -> Self {
        Pose { rotation, position }
    }

    /// Pure shift [m].
    pub fn at(position: Vec3) -> Self {
        Pose { rotation: Quat::IDENTITY, position }
    }

    /// `X_ac = X_ab * X_bc`.
    pub fn then(&self, X_bc: &Pose) -> Pose {
        Pose { rotation: self.rotation * X_bc.rotation, position: self.point(X_bc.position) }
    }

    /// `X_ba` from `X_ab`.
    pub fn inverse(&self) -> Pose {
        let R_ba = self.rotation.conjugate();
        Pose { rotation: R_ba, position: -(R_ba * self.position) }
    }

    /// Point given in b, returned in a [m].
    pub fn point(&self, p_bk: Vec3) -> Vec3 {
        self.position + self.rotation * p_bk
    }

    /// Direction given in b, returned in a.
    pub fn vector(&self, d_b: Vec3) -> Vec3 {
        self.rotation * d_b
    }

    /// Point given in a, returned in b [m].
    pub fn point_into(&self, p_ak: Vec3) -> Vec3 {
        self.rotation.conjugate() * (p_ak - self.position)
    }

    /// Direction given in a, returned in b.
    pub fn vector_into(&self, d_a: Vec3) -> Vec3 {
        self.rotation.conjugate() * d_a
    }
}

/// Some unit vector at right angles to the unit vector `n`; the same for the same bits of `n`.
pub fn any_orthogonal(n: Vec3) -> Vec3 {
    let a = n.abs();
    let e = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let t = e - n * n.dot(e);
    t / t.length()
}
