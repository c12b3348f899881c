//! The path of one body through one step: where it is at an instant of the step, and how fast it moves.
//!
//! With d = {turn, shift of the centre of mass} since the step began and u = {w, v}, a body moves freely between
//! impacts,
//!   d(t) = d_i + u_i (t - t_i)   after impact i at t_i;
//! a body whose angular velocity changes by its own momentum turns as in `Principal::turn` instead. What acts on
//! velocities (gravity, loads, rows) gives u+, and the step ends at
//!   d(h) = h u+ + d_impacts,   d_impacts = d_n - t_n u_n.
//! Impacts come before gravity does, so they see what gravity adds until their instant; that is taken back where it
//! would count twice ([`GravityUntilImpact`]).

use tippe_geometry::{Mat3, Pose, Quat, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{BodyMotion, Kinematics, Principal, rotated};
use tippe_mechanics::model::{Body, Drive};

/// Gyroscopic turn in a step above which the angular velocity of a body changes on the way to an impact [rad]: far
/// below the accuracy of a step. A larger one would let spinning bodies meet others in the wrong orientation.
const TUMBLING_TURN: f64 = 1e-6;
/// Gyroscopic turn in a step above which momentum given at the beginning of the step would be another velocity at its
/// end [rad]: half a radian, where sin and angle part. With a larger one a thin rod that contacts keep from rocking
/// spins up about its axis; with a smaller one rows of bodies that turn little act in more than one orientation for
/// nothing.
const SLENDER_TURN: f64 = 0.5;

/// What gravity gave to a body from the beginning of the step until its first impact: the impact sees it, and the step
/// that follows counts it again.
#[derive(Clone, Copy, Debug, Default)]
pub struct GravityUntilImpact {
    /// Velocity that it added [m/s].
    pub velocity: Vec3,
    /// What it changes in the displacement of the step [m].
    pub shift: Vec3,
}

/// The path of one body through one step.
#[derive(Clone, Copy, Debug)]
pub struct BodyPath {
    /// Motion: placed at the beginning of the step, with the velocities that the last impact left.
    pub kin: Kinematics,
    /// Orientation at the beginning of the step.
    pub q: Quat,
    /// Principal axes and moments of inertia.
    pub principal: Principal,
    /// True if an impact changed the velocity in this step, or sweeps moved it.
    pub struck: bool,
    /// What impacts saw of gravity.
    pub gravity: GravityUntilImpact,
    /// {turn, shift} that impacts add to h u+ [rad], [m].
    pub impact_displacement: Six,
    /// Velocities {w, v} at the end of the step without rows.
    pub free_velocity: Six,
    /// Orientation at the end of the step without rows.
    pub free_orientation: Quat,
    /// What loads add to the angular velocity in the step [rad/s].
    pub load_spin: Vec3,
    /// True if rows of the body have their arms from where it will be at the end of the step.
    pub rows_at_end: bool,
    /// True if the body moves at its mean velocity, q+ = q_free + h (u+ - u_free)/2: nothing meets it at the end of the step.
    pub at_mean: bool,
    /// True if a spring or damper acts on it.
    pub sprung: bool,
    /// Length of the step [s].
    h: f64,
    /// True for a body that turns by itself: no joint and no given motion leads it, and its orientation matters.
    has_own_rotation: bool,
    /// Instant of the last impact, from the beginning of the step [s].
    since: f64,
    /// {turn, shift} from the beginning of the step until `since` [rad], [m].
    displacement: Six,
    /// Orientation at `since`, kept while impacts are integrated for a body that turns by itself.
    turned: Option<Quat>,
    /// True if the velocity that impacts left belongs to the orientation at the last of them.
    tumbled: bool,
    /// That orientation, once the impacts of the step are over.
    impact_orientation: Option<Quat>,
}

impl BodyPath {
    /// The path of a body of the model, at rest in the origin, in steps of `h` [s].
    pub fn new(body: &Body, h: f64) -> BodyPath {
        BodyPath {
            kin: Kinematics::WORLD,
            q: Quat::IDENTITY,
            principal: Principal::of(&body.I_c, body.isotropic),
            struck: false,
            gravity: GravityUntilImpact::default(),
            impact_displacement: Six::ZERO,
            free_velocity: Six::ZERO,
            free_orientation: Quat::IDENTITY,
            load_spin: Vec3::ZERO,
            rows_at_end: false,
            at_mean: false,
            sprung: false,
            h,
            has_own_rotation: body.oriented && body.mechanism.is_none() && body.drive == Drive::Free,
            since: 0.0,
            displacement: Six::ZERO,
            turned: None,
            tumbled: false,
            impact_orientation: None,
        }
    }

    /// Begins a step with this motion and orientation.
    pub fn begin(&mut self, kin: Kinematics, q: Quat) {
        (self.kin, self.q) = (kin, q);
        self.struck = false;
        self.gravity = GravityUntilImpact::default();
        self.impact_displacement = Six::ZERO;
        self.load_spin = Vec3::ZERO;
        self.rows_at_end = false;
        (self.at_mean, self.sprung) = (false, false);
        self.since = 0.0;
        self.displacement = Six::ZERO;
        self.turned = None;
        self.tumbled = false;
        self.impact_orientation = None;
    }

    /// Velocities {w, v} after the last impact.
    pub fn velocity(&self) -> Six {
        Six::new(self.kin.w, self.kin.v)
    }

    /// Velocity of a point of the body that is at `point` at the beginning of the step [m/s].
    #[inline(always)]
    pub fn velocity_of(&self, point: Vec3) -> Vec3 {
        self.kin.v + self.kin.w.cross(point - self.kin.p)
    }

    /// {turn, shift} from the beginning of the step until the instant `t` [s], not before the last impact [rad], [m].
    pub fn displacement(&self, t: f64) -> Six {
        self.displacement_with(t, self.velocity())
    }

    /// The same with the velocities `u` since the last impact.
    pub fn displacement_with(&self, t: f64, u: Six) -> Six {
        self.displacement + u * (t - self.since)
    }

    /// Orientation at the instant `t` [s] with the velocities `u` since the last impact.
    pub fn orientation_with(&self, t: f64, u: Six) -> Quat {
        match self.turned {
            Some(q) => self.principal.turn(q, u.angular, t - self.since).0,
            None => rotated(self.q, self.displacement_with(t, u).angular),
        }
    }

    /// {turn, shift} from the beginning of the step until `time` [s] after the instant `now` of an impact.
    pub fn displacement_after(&self, now: f64, time: f64) -> Six {
        self.displacement(now) + self.velocity() * time
    }

    /// Pose of a frame of the body, `X` at the beginning of the step, `time` [s] after the instant `now` of an impact.
    pub fn pose_after(&self, X: Pose, now: f64, time: f64) -> Pose {
        let past = self.displacement(now);
        let moved = past + self.velocity() * time;
        if moved == Six::ZERO {
            return X;
        }
        let so_far = Quat::from_scaled_axis(past.angular);
        let turn = match self.tumbles() {
            true => {
                let q = rotated(self.q, past.angular);
                self.principal.turn(q, self.kin.w, time).0 * q.conjugate() * so_far
            }
            false => Quat::from_scaled_axis(self.kin.w * time) * so_far,
        };
        Pose::new(turn * X.rotation, self.kin.p + moved.linear + turn * (X.position - self.kin.p))
    }

    /// Pose of a frame of the body, `X` at the beginning of the step, after `time` [s] at the velocity `v` [m/s] and
    /// the angular velocity of the beginning.
    pub fn pose_at_steady_velocity(&self, X: &Pose, v: Vec3, time: f64) -> Pose {
        let turn = Quat::from_scaled_axis(self.kin.w * time);
        Pose::new(turn * X.rotation, self.kin.p + v * time + turn * (X.position - self.kin.p))
    }

    /// True for a body that turns by itself: no joint and no given motion leads it, and its orientation matters.
    pub fn has_own_rotation(&self) -> bool {
        self.has_own_rotation
    }

    /// Turn of a body by itself in a step, times the ratio of its largest and smallest moment of inertia [rad].
    fn gyroscopic_turn(&self) -> f64 {
        if self.has_own_rotation { self.kin.w.length() * self.h * self.principal.ratio } else { 0.0 }
    }

    /// True if the angular velocity changes by the body's own momentum on the way to an impact.
    pub fn tumbles(&self) -> bool {
        self.gyroscopic_turn() > TUMBLING_TURN && !self.principal.isotropic
    }

    /// True if the body turns so far in a step that momentum given at its beginning would be another velocity at its
    /// end: a rod that contacts keep from rocking would spin about its axis.
    pub fn is_slender(&self) -> bool {
        self.gyroscopic_turn() > SLENDER_TURN
    }
}

/// Impacts.
impl BodyPath {
    /// A copy in which impacts from the instant `start` on are integrated. A body that turns by itself, and that
    /// nothing has struck yet, has its velocity from the beginning of the step.
    pub fn for_impacts(&self, start: f64) -> BodyPath {
        let mut path = *self;
        if !self.has_own_rotation || self.struck {
            (path.displacement, path.since) = (self.displacement(start), start);
        }
        path.turned = self.has_own_rotation.then(|| self.orientation_at_last_impact());
        path
    }

    fn orientation_at_last_impact(&self) -> Quat {
        if self.struck { rotated(self.q, self.displacement.angular) } else { self.q }
    }

    /// Orientation in which impulses act on the body while impacts are integrated.
    pub fn orientation_in_impacts(&self) -> Mat3 {
        self.turned.map_or(self.kin.R, |q| Mat3::from_quat(q))
    }

    /// Moves the body to the instant `now` with the velocities `u`. The angular velocity of a body that turns by itself
    /// changes on the way: its orientation and angular velocity there.
    pub fn advance(&mut self, now: f64, u: Six) -> Option<(Quat, Vec3)> {
        let time = now - self.since;
        self.displacement = self.displacement + u * time;
        self.since = now;
        let q = self.turned.as_mut().filter(|_| time > 0.0)?;
        let (turned, w) = self.principal.turn(*q, u.angular, time);
        *q = turned;
        self.displacement.angular = turn_between(self.q, turned);
        Some((turned, w))
    }

    /// Nothing turns a body that no impact has struck: it goes on as it came.
    pub fn forget_rotation(&mut self) {
        self.turned = None;
    }

    /// Impacts have left the body at the end of `path`, a copy made [`for_impacts`](Self::for_impacts), with the
    /// velocities `u`.
    pub fn kick(&mut self, path: &BodyPath, u: Six) {
        if self.struck || u != self.velocity() {
            let tumbled = self.tumbled || path.turned.is_some();
            *self = BodyPath { struck: true, tumbled, turned: None, ..*path };
            (self.kin.w, self.kin.v) = (u.angular, u.linear);
        }
    }

    /// A body that was struck before takes no part in the impacts until the instant `now`.
    pub fn pass_impacts(&mut self, now: f64) {
        self.turned = self.has_own_rotation.then(|| self.orientation_at_last_impact());
        if let Some((_, w)) = self.advance(now, self.velocity()) {
            self.kin.w = w;
        }
        self.turned = None;
    }

    /// The impacts of the step are over, the last one at `now`: what they add to h u+.
    pub fn end_impacts(&mut self, now: f64) {
        if !self.struck {
            return;
        }
        let q = || rotated(self.q, self.displacement.angular);
        self.impact_orientation = (self.tumbled || self.is_slender()).then(q);
        self.impact_displacement = self.displacement - self.velocity() * now;
        self.kin.v -= self.gravity.velocity;
        self.impact_displacement.linear += self.gravity.shift;
    }

    /// Orientation that belongs to the velocity that impacts left.
    pub fn orientation_after_impacts(&self) -> Mat3 {
        self.impact_orientation.map_or(self.kin.R, |q| Mat3::from_quat(q))
    }

    /// True if the velocity that impacts left belongs to another orientation than that of the step's beginning.
    pub fn has_impact_orientation(&self) -> bool {
        self.impact_orientation.is_some()
    }
}

/// Free motion and rows.
impl BodyPath {
    /// Orientation and angular velocity at the end of the step of a body that turns freely with `w` [rad/s] from where
    /// the last impact left it.
    pub fn free_rotation(&self, w: Vec3) -> (Quat, Vec3) {
        match self.impact_orientation {
            Some(q) => self.principal.turn(q, w, self.h - self.since),
            None => self.principal.turn(self.q, w, self.h),
        }
    }

    /// Free motion to the end of the step, where loads add `load_spin` [rad/s] and the velocity becomes `v` [m/s].
    pub fn coast(&mut self, v: Vec3, load_spin: Vec3) {
        let (q, w) = self.free_rotation(self.kin.w);
        (self.free_orientation, self.load_spin) = (q, load_spin);
        self.free_velocity = Six::new(w + load_spin, v);
    }

    /// The body stays as it is in this step.
    pub fn freeze(&mut self) {
        self.free_velocity = Six::ZERO;
        (self.kin.v, self.kin.w) = (Vec3::ZERO, Vec3::ZERO);
        self.free_orientation = self.q;
    }

    /// Orientation in which rows act on the body: that of the step's beginning; of a slender body that of its last
    /// impact, or of the end of the step where its rows have their arms from there.
    pub fn orientation_for_rows(&self) -> Mat3 {
        match (self.is_slender(), self.rows_at_end) {
            (true, true) => Mat3::from_quat(self.free_orientation),
            (true, false) => self.orientation_after_impacts(),
            _ => self.kin.R,
        }
    }

    /// Velocities {w, v} without rows, as rows see them: those of the end of the step, but of a slender body those in
    /// its [orientation for rows](Self::orientation_for_rows). There it is given momentum, and turns on by it.
    pub fn free_velocity_for_rows(&self) -> Six {
        let u = self.free_velocity;
        match self.is_slender() && !self.rows_at_end {
            true => Six::new(self.kin.w + self.load_spin, u.linear),
            false => u,
        }
    }

    /// What free rotation takes from the angular velocity in the step, as rows see it [rad/s].
    pub fn gyroscopic_velocity_change(&self) -> Vec3 {
        match self.tumbles() {
            true => self.kin.w + self.load_spin - self.free_velocity_for_rows().angular,
            false => Vec3::ZERO,
        }
    }

    /// Velocities {w, v} as rows see those of the beginning of the step: impacts have changed them, with what gravity
    /// gave until the first of them; free rotation has not.
    pub fn velocity_for_rows(&self) -> Six {
        Six::new(self.kin.w - self.gyroscopic_velocity_change(), self.kin.v + self.gravity.velocity)
    }

    /// Sweeps have moved the body by `moved` [rad], [m] on the way to its velocities `u`.
    pub fn sweep(&mut self, moved: Six, u: Six) {
        self.impact_displacement = self.impact_displacement + (moved - u * self.h);
        self.struck = true;
    }

    /// Along its velocities `u` of the end of the step the body goes only as far as the mean velocity takes it, where it
    /// moves and turns faster than this [m/s], [rad/s].
    pub fn slow_down(&mut self, u: Six, speed: f64, spin: f64) {
        let along = |end: Vec3, start: Vec3, least: f64| match end.length() {
            fast if fast > least => end * ((end - start).dot(end) / (fast * fast)),
            _ => Vec3::ZERO,
        };
        let gained = Six::new(along(u.angular, self.kin.w, spin), along(u.linear, self.kin.v, speed));
        self.impact_displacement = self.impact_displacement - gained * (0.5 * self.h);
    }

    /// Motion of a free body at the end of the step with the velocities `u` of the solution. Rows act at its end,
    ///   q+ = q + h u+;   without rows (`pushed` is false), and at its mean velocity, the path is a parabola.
    /// They and impacts add to the angular momentum:   I(q+) w+ = I(q_free) w_free + I(q0) (w - w_free).
    pub fn end(&self, body: &Body, u: Six, pushed: bool) -> BodyMotion {
        let (h, hop, w_free) = (self.h, self.impact_displacement, self.free_velocity.angular);
        let slender = self.is_slender();
        let at_end = pushed && !self.at_mean;
        let shift = if at_end { u.linear * h } else { 0.5 * h * (self.kin.v + u.linear) };
        let p = self.kin.p + shift + hop.linear;
        let given = u.angular - self.free_velocity_for_rows().angular;
        let hop_turn = if self.has_impact_orientation() { Vec3::ZERO } else { hop.angular };
        if slender && pushed && !self.rows_at_end {
            // the momentum that rows gave turns on with the body
            let (q, w) = self.free_rotation(u.angular);
            return BodyMotion { p, q: rotated(q, hop_turn), v: u.linear, w: rotated(Quat::IDENTITY, hop_turn) * w };
        }
        // the free turn knows nothing of torques, the velocities do: as for the shift
        let turn = match self.at_mean {
            true => (given + self.load_spin) * (0.5 * h),
            false => (given + self.load_spin * if at_end { 1.0 } else { 0.5 }) * h + hop_turn,
        };
        let q = rotated(self.free_orientation, turn);
        let spatial = |q: Quat, x: Vec3| q * (body.I_c * (q.conjugate() * x));
        let w = if slender {
            // the velocity they gave turns with the body, and its energy stays
            rotated(Quat::IDENTITY, turn) * (w_free + given)
        } else if body.oriented && pushed | self.struck {
            let R = &self.kin.R;
            let L = spatial(self.free_orientation, w_free) + *R * (body.I_c * (R.transpose() * (u.angular - w_free)));
            q * (body.I_c_inverse * (q.conjugate() * L))
        } else {
            u.angular
        };
        BodyMotion { p, q, v: u.linear, w }
    }
}

/// The shortest turn from one orientation to another, resolved in world [rad].
fn turn_between(from: Quat, to: Quat) -> Vec3 {
    let turn = to * from.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let v = Vec3::new(turn.x, turn.y, turn.z);
    let sin = v.length();
    if sin == 0.0 { Vec3::ZERO } else { v * (2.0 * libm::atan2(sin, turn.w) / sin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body without symmetry, in steps of a tenth of a second.
    fn body() -> Body {
        let I = Mat3::from_diagonal(Vec3::new(0.3, 0.5, 0.7));
        Body {
            name: "body".into(),
            drive: Drive::Free,
            mass: 2.0,
            I_c: I,
            I_c_inverse: I.inverse(),
            isotropic: false,
            p_bc: Vec3::ZERO,
            colliders: 0..0,
            radius: 0.1,
            oriented: true,
            size: 0.1,
            mechanism: None,
            solver: None,
            flexible: None,
            interface_of: None,
        }
    }

    const H: f64 = 0.1;

    fn path(v: Vec3, w: Vec3) -> BodyPath {
        let mut path = BodyPath::new(&body(), H);
        path.begin(Kinematics { v, w, ..Kinematics::WORLD }, Quat::IDENTITY);
        path
    }

    /// Without rows and gravity the body is where the pieces of its path lead, before and after the impact.
    #[test]
    fn a_path_bends_where_an_impact_kicks_the_body() {
        let mut path = path(Vec3::X, Vec3::ZERO);
        assert_eq!(path.displacement(0.04).linear, 0.04 * Vec3::X);
        let mut piece = path.for_impacts(0.0);
        piece.advance(0.04, path.velocity());
        path.kick(&piece, Six::new(Vec3::ZERO, -2.0 * Vec3::X));
        path.end_impacts(0.04);
        path.coast(path.kin.v, Vec3::ZERO);
        let end = path.end(&body(), path.free_velocity_for_rows(), false);
        assert!((end.p - (0.04 - 2.0 * 0.06) * Vec3::X).length() < 1e-15, "{}", end.p);
        assert_eq!(end.v, -2.0 * Vec3::X);
    }

    /// Angular momentum stays in free rotation, slender or not, struck by an impact that changes nothing or not.
    #[test]
    fn a_body_that_turns_freely_keeps_its_angular_momentum() {
        for w in [Vec3::new(0.1, 0.5, 0.1), Vec3::new(1.0, 30.0, 2.0)] {
            for passes in [false, true] {
                let (body, mut path) = (body(), path(Vec3::ZERO, w));
                assert!(path.tumbles());
                if passes {
                    path.struck = true;
                    path.tumbled = true;
                    path.pass_impacts(0.03);
                    path.end_impacts(0.03);
                }
                path.coast(path.kin.v, Vec3::ZERO);
                let end = path.end(&body, path.free_velocity_for_rows(), false);
                let L = end.q * (body.I_c * (end.q.conjugate() * end.w));
                assert!((L - body.I_c * w).length() < 1e-13 * L.length(), "{L} {}", body.I_c * w);
            }
        }
    }

    /// A frame of the body moves along with it, from the beginning of the step or from an impact on.
    #[test]
    fn frames_move_with_the_body() {
        let path = path(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 0.0, 4.0));
        let X = Pose::new(Quat::IDENTITY, Vec3::X);
        let early = path.pose_after(X, 0.0, 0.05);
        let late = path.pose_after(X, 0.02, 0.03);
        let steady = path.pose_at_steady_velocity(&X, path.kin.v, 0.05);
        assert!((early.position - late.position).length() < 1e-12);
        assert!((early.position - steady.position).length() < 1e-12, "about an axis of inertia w stays");
        let velocity = (path.pose_after(X, 0.0, 1e-6).position - X.position) / 1e-6;
        assert!((velocity - path.velocity_of(Vec3::X)).length() < 1e-5);
    }
}
