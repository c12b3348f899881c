//! Where the values of an island's bodies stand in its state vector, and which integrals of the ledger follow them.

use tippe_geometry::Vec3;
use tippe_mechanics::cause::Cause;

/// States of a body without contact springs.
pub const BODY_STATES: usize = 12;
/// Integrals of the ledger per body.
pub const ACCOUNTS: usize = 10;
/// Those that are integrated behind the states: all but the last, which events book.
pub const INTEGRATED: usize = 9;
/// Speed below which the velocity error of a body is measured against this [m/s].
pub const SPEED_FLOOR: f64 = 0.01;

/// What the integrals of the ledger count, in order [J], and the impulse [N s].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Normal contact damping.
    Damping,
    /// Sliding friction.
    Sliding,
    /// Spin friction.
    Spin,
    /// Rolling resistance.
    Rolling,
    /// Elastic energy of laws without a closed form for it.
    Elastic,
    /// Work of prescribed motions.
    Work,
    /// Impulse from bodies that are not free, along x [N s]; y and z follow.
    Impulse,
    /// Plastic impacts of couplings that become taut.
    Fastening = INTEGRATED as isize,
}

impl Account {
    /// Where the ledger books what contacts and prescribed motions integrate.
    pub const CAUSES: [(Account, Cause); 6] = [
        (Account::Damping, Cause::ContactDamping),
        (Account::Sliding, Cause::Sliding),
        (Account::Spin, Cause::Spin),
        (Account::Rolling, Cause::Rolling),
        (Account::Work, Cause::Work),
        (Account::Fastening, Cause::Fastening),
    ];
}

pub fn vector(y: &[f64], k: usize) -> Vec3 {
    Vec3::new(y[k], y[k + 1], y[k + 2])
}

pub fn set(y: &mut [f64], k: usize, v: Vec3) {
    y[k] = v.x;
    y[k + 1] = v.y;
    y[k + 2] = v.z;
}
