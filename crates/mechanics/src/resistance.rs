//! Rows of subsystems as forces in continuous time, for a clock without rows. A row  J u + eps lambda = b  of an interval H is a spring with the
//! stiffness k = 1/(H^2 eps) and the force F = b/(H eps) at its beginning; with s the way along it since then, J du/dt,
//!   f = F - k s   within its bounds.
//! One that nothing gives holds against the rate r = J u up to its bound, from a slow creep on:  f = -f_max r/v0,  |r| < v0.

use crate::joint::Six;
use crate::kinematics::{Kinematics, rotation_vector};
use tippe_geometry::{Mat3, Pose, Vec3};
use tippe_soil::bearing::{About, Motion, Row};

/// Rate at which a row that nothing gives holds with all it has [m/s or rad/s].
const CREEP: f64 = 1e-3;

/// A row from a hand-over on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resistance {
    /// The row, by its number.
    pub row: u32,
    /// Its body.
    pub body: u32,
    /// What it is about.
    pub about: About,
    /// Derivatives of its rate by the angular velocity and the velocity of the centre of mass.
    J: [Vec3; 2],
    /// The body's frame c at the hand-over.
    from: Pose,
    /// F [N].
    force: f64,
    /// k [N/m]; none of a row that nothing gives.
    stiffness: Option<f64>,
    /// Smallest and largest force [N].
    bounds: [f64; 2],
}

impl Resistance {
    /// Of a row of an interval H [s] that begins in this motion.
    pub fn of(number: u32, row: &Row, motion: &Motion, H: f64) -> Resistance {
        let given = row.about == About::Bearing;
        Resistance {
            row: number,
            body: row.body,
            about: row.about,
            J: row.J,
            from: motion.X_wc,
            force: row.target / (H * row.compliance),
            stiffness: given.then(|| 1.0 / (H * H * row.compliance)),
            bounds: [row.lower / H, row.upper / H],
        }
    }

    /// s: way along it to a pose [m].
    fn way(&self, R: &Mat3, p: Vec3) -> f64 {
        let turn = rotation_vector(&(*R * Mat3::from_quat(self.from.rotation).transpose()));
        self.J[0].dot(turn) + self.J[1].dot(p - self.from.position)
    }

    fn at(&self, s: f64, r: f64) -> f64 {
        let [lower, upper] = self.bounds;
        match self.stiffness {
            Some(k) => (self.force - k * s).clamp(lower, upper),
            None if r < 0.0 => (upper * (-r / CREEP).min(1.0)).max(0.0),
            None => (lower * (r / CREEP).min(1.0)).min(0.0),
        }
    }

    /// {torque about the centre of mass, force} on its body in this motion.
    pub fn wrench(&self, kin: &Kinematics) -> Six {
        let rate = self.J[0].dot(kin.w) + self.J[1].dot(kin.v);
        let f = self.at(self.way(&kin.R, kin.p), rate);
        Six::new(self.J[0] * f, self.J[1] * f)
    }

    /// Impulse [N s] and work [J] on its body over an interval H [s] that ended here: exact where it gives, by the mean rate where it does not.
    pub fn done(&self, to: &Pose, H: f64) -> [f64; 2] {
        let s = self.way(&Mat3::from_quat(to.rotation), to.position);
        let [lower, upper] = self.bounds;
        let Some(k) = self.stiffness else {
            let f = self.at(0.0, s / H);
            return [f * H, f * s];
        };
        // int clamp(x) dx from zero
        let sum = |x: f64| {
            let c = x.clamp(lower, upper);
            0.5 * c * c + c * (x - c)
        };
        let work = if k > 0.0 { (sum(self.force) - sum(self.force - k * s)) / k } else { self.at(0.0, 0.0) * s };
        let mean = (self.at(0.0, 0.0) + 4.0 * self.at(0.5 * s, 0.0) + self.at(s, 0.0)) / 6.0;
        [mean * H, work]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Quat;

    /// A spring of 100 N that gives 1000 N/m and pulls never: over 0.2 m it does 5 J, where it is spent after 0.1 m.
    #[test]
    fn work_is_the_area_below_the_force() {
        let motion = Motion { X_wc: Pose::new(Quat::IDENTITY, Vec3::ZERO), v: Vec3::ZERO, w: Vec3::ZERO };
        let (H, k) = (0.01, 1000.0);
        let row = Row {
            target: 100.0 / (H * k),
            compliance: 1.0 / (H * H * k),
            upper: f64::INFINITY,
            ..Row::at(&motion, 0, Vec3::ZERO, Vec3::Z, About::Bearing)
        };
        let own = Resistance::of(0, &row, &motion, H);
        let at = |z: f64| Pose::at(Vec3::Z * z);
        assert!((own.done(&at(0.05), H)[1] - 3.75).abs() < 1e-12);
        assert!((own.done(&at(0.2), H)[1] - 5.0).abs() < 1e-12);
        assert!((own.done(&at(0.05), H)[0] - 0.75).abs() < 1e-12);
        let kin = Kinematics { p: Vec3::Z * 0.05, ..Kinematics::WORLD };
        assert!((own.wrench(&kin).linear.z - 50.0).abs() < 1e-12);
    }

    /// One that nothing gives holds up to its bound, and does no work while it stands.
    #[test]
    fn what_does_not_give_holds_up_to_its_bound() {
        let motion = Motion { X_wc: Pose::new(Quat::IDENTITY, Vec3::ZERO), v: Vec3::ZERO, w: Vec3::ZERO };
        let row = Row { upper: 2.0, ..Row::at(&motion, 0, Vec3::ZERO, -Vec3::X, About::Cut(0)) };
        let own = Resistance::of(0, &row, &motion, 0.01);
        let force = |v: f64| own.wrench(&Kinematics { v: Vec3::X * v, ..Kinematics::WORLD }).linear.x;
        assert!((force(1.0) + 200.0).abs() < 1e-12);
        assert!((force(0.5e-3) + 100.0).abs() < 1e-9);
        assert_eq!(force(-1.0), 0.0);
        let [impulse, work] = own.done(&Pose::at(Vec3::X * 0.01), 0.01);
        assert!((impulse - 2.0).abs() < 1e-12 && (work + 2.0).abs() < 1e-12);
    }
}
