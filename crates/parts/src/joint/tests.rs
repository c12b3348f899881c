//! Both forms of every joint against each other, against finite differences and against closed forms.

use super::coupling::Coupling;
use super::*;
use crate::kinematics::Kinematics;
use tippe_geometry::{Curve, Vec2};

/// A roller on a spline, and a flat face on a circle.
fn cams() -> [Joint; 2] {
    let ellipse = |k: i32| {
        let (s, c) = libm::sincos(f64::from(k) * 0.5);
        [0.3 * c + 0.1, 0.2 * s]
    };
    let spline = Curve::spline(&(0..12).map(ellipse).collect::<Vec<_>>()).unwrap();
    let circle = Curve::circle(Vec2::new(0.2, -0.1), 0.3).unwrap();
    let of = |curve, follower| Joint::Cam(Arc::new(cam::Cam { curve, follower, holds: Holds::AtLeast }));
    [of(spline, cam::CamFollower::Roller { radius: 0.1 }), of(circle, cam::CamFollower::Face)]
}

fn joints() -> Vec<Joint> {
    let joints = [
        Joint::Fixed,
        Joint::Revolute,
        Joint::Prismatic,
        Joint::Cylindrical,
        Joint::Spherical,
        Joint::Universal,
        Joint::Planar,
        Joint::Free,
        Joint::Screw { pitch: 0.07 },
        Joint::ConstantVelocity,
        Joint::Distance { length: 0.8 },
        Joint::PointOnLine,
        Joint::Rolling { semi_axes: Vec3::new(0.3, 0.3, 0.0) },
        Joint::Rolling { semi_axes: Vec3::new(0.2, 0.2, 0.2) },
        Joint::Rolling { semi_axes: Vec3::new(0.3, 0.5, 0.2) },
    ];
    joints.into_iter().chain(cams()).collect()
}
const SAMPLES: usize = 40;

/// Numbers in (-1, 1) from a linear congruence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
    fn quaternion(&mut self) -> Quat {
        turn(self.vector() * 2.0)
    }
    fn frame(&mut self) -> Path {
        let [p, v, w, a, alpha] = std::array::from_fn(|_| self.vector());
        Path { frame: Kinematics { p, R: Mat3::from_quat(self.quaternion()), v, w }, A: Six::new(alpha, a) }
    }
    /// Two frames that move at will, less than half a turn apart so that the twist stays defined.
    fn pair(&mut self) -> [Path; 2] {
        let (f1, mut f2) = (self.frame(), self.frame());
        f2.frame.R = f1.frame.R * Mat3::from_quat(turn(self.vector()));
        [f1, f2]
    }
    fn array(&mut self) -> [f64; 6] {
        std::array::from_fn(|_| self.next())
    }
}

/// Quaternion of a rotation vector.
fn turn(vector: Vec3) -> Quat {
    let angle = vector.length();
    if angle == 0.0 {
        return Quat::IDENTITY;
    }
    let (s, c) = libm::sincos(0.5 * angle);
    let v = vector * (s / angle);
    Quat::from_xyzw(v.x, v.y, v.z, c)
}

/// A frame and its acceleration: where it is a little later, exact to third order.
#[derive(Clone, Copy)]
struct Path {
    frame: Kinematics,
    A: Six,
}

impl Path {
    fn at(&self, t: f64) -> Kinematics {
        let Kinematics { p, R, v, w } = self.frame;
        let Six { angular: alpha, linear: a } = self.A;
        Kinematics {
            p: p + v * t + a * (0.5 * t * t),
            R: Mat3::from_quat(turn(w * t + alpha * (0.5 * t * t))) * R,
            v: v + a * t,
            w: w + alpha * t + w.cross(alpha) * (0.25 * t * t),
        }
    }
}

fn rows_of(joint: &Joint, f1: &Kinematics, f2: &Kinematics) -> Vec<Row> {
    let mut rows = Vec::new();
    joint.rows(f1, f2, &mut rows);
    rows
}

fn acceleration(row: &Row, A1: &Six, A2: &Six) -> f64 {
    row.J[0].dot(A1) + row.J[1].dot(A2) + row.convective
}

fn sum(S: &[Six; 6], u: &[f64]) -> Six {
    S.iter().zip(u).fold(Six::ZERO, |sum, (column, &rate)| sum + *column * rate)
}

/// Frame 2 from frame 1, the coordinates, the rates and their derivatives.
fn carried(joint: &Joint, f1: &Path, q: &[f64], u: &[f64], u_dot: &[f64], base: Quat) -> Path {
    let n = joint.coordinates();
    let motion = joint.motion(&q[..n], &u[..n], base);
    let Kinematics { p, R, v, w } = f1.frame;
    let V = sum(&motion.S, &u[..n]);
    let A = sum(&motion.S, &u_dot[..n]) + motion.bias;
    let (r, V, A) = (R * motion.p_12, Six::new(R * V.angular, R * V.linear), Six::new(R * A.angular, R * A.linear));
    let frame = Kinematics { p: p + r, R: R * motion.R_12, v: v + w.cross(r) + V.linear, w: w + V.angular };
    let linear = f1.A.linear + f1.A.angular.cross(r) + w.cross(w.cross(r)) + w.cross(V.linear) * 2.0 + A.linear;
    Path { frame, A: Six::new(f1.A.angular + w.cross(V.angular) + A.angular, linear) }
}

/// q' from u.
fn coordinate_rates(joint: &Joint, q: &[f64; 6], u: &[f64; 6]) -> [f64; 6] {
    let mut rates = *u;
    if matches!(joint, Joint::Spherical | Joint::Free) {
        let (g, w) = (Vec3::from_slice(q), Vec3::from_slice(u));
        rates[..3].copy_from_slice(&((w + w.cross(g) + g * w.dot(g)) * 0.5).to_array());
    }
    rates
}

/// Smallest pivot of the rows' J on frame 2, taken in order of size: zero if they depend on each other.
fn smallest_pivot(rows: &[Row]) -> f64 {
    let mut left: Vec<Six> = rows.iter().map(|row| row.J[1]).collect();
    let mut smallest = f64::INFINITY;
    while !left.is_empty() {
        let size = |row: &Six| row.dot(row).sqrt();
        let k = (0..left.len()).max_by(|&i, &j| size(&left[i]).total_cmp(&size(&left[j]))).unwrap();
        let row = left.swap_remove(k);
        let norm = size(&row);
        smallest = smallest.min(norm);
        for other in &mut left {
            *other = *other - row * (row.dot(other) / (norm * norm));
        }
    }
    smallest
}

#[test]
fn rows_hold_on_the_motion_of_the_coordinates() {
    let mut numbers = Numbers(1);
    for joint in joints().iter().filter(|joint| joint.has_motion()) {
        for _ in 0..SAMPLES {
            let (f1, base) = (numbers.frame(), numbers.quaternion());
            let [q, u, u_dot] = std::array::from_fn(|_| numbers.array().map(|x| 1.5 * x));
            let f2 = carried(joint, &f1, &q, &u, &u_dot, base);
            for row in rows_of(joint, &f1.frame, &f2.frame) {
                assert!(row.phi.abs() < 1e-12, "{joint:?}: {row:?}");
                assert!(row.rate(&f1.frame, &f2.frame).abs() < 1e-12, "{joint:?}: {row:?}");
                assert!(acceleration(&row, &f1.A, &f2.A).abs() < 1e-10, "{joint:?}: {row:?}");
            }
        }
    }
}

#[test]
fn rows_are_derivatives_of_phi_off_the_constraint() {
    const H: f64 = 1e-5;
    let mut numbers = Numbers(2);
    for joint in &joints() {
        for _ in 0..SAMPLES {
            let [f1, f2] = numbers.pair();
            let rows = rows_of(joint, &f1.frame, &f2.frame);
            let [before, after] = [-H, H].map(|t| (f1.at(t), f2.at(t)));
            let rows_before = rows_of(joint, &before.0, &before.1);
            let rows_after = rows_of(joint, &after.0, &after.1);
            for (k, row) in rows.iter().enumerate() {
                let rate = (rows_after[k].phi - rows_before[k].phi) / (2.0 * H);
                if row.holonomic {
                    let error = (rate - row.rate(&f1.frame, &f2.frame)).abs();
                    assert!(error < 1e-6, "{joint:?}, row {k}: rate is off by {error}");
                } else {
                    assert_eq!(row.phi, 0.0);
                }
                let change = rows_after[k].rate(&after.0, &after.1) - rows_before[k].rate(&before.0, &before.1);
                let error = (change / (2.0 * H) - acceleration(row, &f1.A, &f2.A)).abs();
                assert!(error < 1e-6, "{joint:?}, row {k}: acceleration is off by {error}");
            }
        }
    }
}

#[test]
fn motion_is_the_derivative_of_the_pose() {
    const H: f64 = 1e-5;
    let mut numbers = Numbers(3);
    for joint in joints().iter().filter(|joint| joint.has_motion()) {
        let n = joint.coordinates();
        for sample in 0..SAMPLES {
            // Small coordinates too: the series of the constant-velocity joint.
            let size = [1.5, 0.5, 1e-3, 0.0][sample % 4];
            let (q, u, base) = (numbers.array().map(|x| size * x), numbers.array(), numbers.quaternion());
            let rates = coordinate_rates(joint, &q, &u);
            let motion = joint.motion(&q[..n], &u[..n], base);
            let [before, after] = [-H, H].map(|t| {
                let q: [f64; 6] = std::array::from_fn(|k| q[k] + rates[k] * t);
                joint.motion(&q[..n], &u[..n], base)
            });
            let V = sum(&motion.S, &u[..n]);
            let W = (after.R_12 - before.R_12) * (0.5 / H) * motion.R_12.transpose();
            let w = Vec3::new(W.y_axis.z - W.z_axis.y, W.z_axis.x - W.x_axis.z, W.x_axis.y - W.y_axis.x) * 0.5;
            let v = (after.p_12 - before.p_12) * (0.5 / H);
            assert!((w - V.angular).length() < 1e-8, "{joint:?}: {w} {V:?}");
            assert!((v - V.linear).length() < 1e-8, "{joint:?}: {v} {V:?}");
            let bias = (sum(&after.S, &u[..n]) - sum(&before.S, &u[..n])) * (0.5 / H) - motion.bias;
            assert!(bias.dot(&bias).sqrt() < 1e-8, "{joint:?}: off by {bias:?}");
            assert!(motion.S[n..].iter().all(|column| *column == Six::ZERO), "{joint:?}");
            let excess = motion.R_12 * motion.R_12.transpose() - Mat3::IDENTITY;
            assert!(excess.to_cols_array().iter().all(|x| x.abs() < 1e-14), "{joint:?}: no rotation");
        }
    }
}

#[test]
fn rows_and_coordinates_make_six_and_rows_are_independent() {
    let mut numbers = Numbers(4);
    for joint in &joints() {
        for _ in 0..SAMPLES {
            let (f1, base) = (numbers.frame(), numbers.quaternion());
            let [q, u, u_dot] = std::array::from_fn(|_| numbers.array().map(|x| 1.5 * x));
            let f2 = if joint.has_motion() { carried(joint, &f1, &q, &u, &u_dot, base) } else { numbers.frame() };
            let rows = rows_of(joint, &f1.frame, &f2.frame);
            assert_eq!(rows.len(), joint.row_count(), "{joint:?}");
            if joint.has_motion() {
                assert_eq!(rows.len() + joint.coordinates(), 6, "{joint:?}");
            } else {
                assert_eq!(joint.coordinates(), 0, "{joint:?}");
                assert_eq!(joint.motion(&[], &[], base), Motion::NONE);
            }
            assert!(rows.is_empty() || smallest_pivot(&rows) > 0.05, "{joint:?}: {}", smallest_pivot(&rows));
        }
    }
}

#[test]
fn multipliers_do_no_work() {
    let mut numbers = Numbers(5);
    for joint in joints().iter().filter(|joint| joint.has_motion()) {
        let n = joint.coordinates();
        for _ in 0..SAMPLES {
            let (f1, base) = (numbers.frame(), numbers.quaternion());
            let (q, u) = (numbers.array(), numbers.array());
            let f2 = carried(joint, &f1, &q, &u, &[0.0; 6], base);
            let motion = joint.motion(&q[..n], &u[..n], base);
            for row in rows_of(joint, &f1.frame, &f2.frame) {
                for column in &motion.S[..n] {
                    let V = Six::new(f1.frame.R * column.angular, f1.frame.R * column.linear);
                    assert!(row.J[1].dot(&V).abs() < 1e-13, "{joint:?}: {row:?}");
                }
            }
        }
    }
}

/// The wrenches of every row on the two bodies balance: no row feels a motion of the whole.
#[test]
fn action_is_reaction() {
    let mut numbers = Numbers(6);
    for joint in &joints() {
        for _ in 0..SAMPLES {
            let [f1, f2] = numbers.pair();
            for row in rows_of(joint, &f1.frame, &f2.frame) {
                let d = f2.frame.p - f1.frame.p;
                let moved = Six::new(row.J[1].angular + d.cross(row.J[1].linear), row.J[1].linear);
                let left = row.J[0] + moved;
                assert!(left.dot(&left).sqrt() < 1e-13, "{joint:?}: {left:?}");
            }
        }
    }
}

#[test]
fn coordinates_of_inverts_motion() {
    let mut numbers = Numbers(7);
    for joint in joints().iter().filter(|joint| joint.has_motion()) {
        let n = joint.coordinates();
        for sample in 0..SAMPLES {
            // A screw tells its turns by its position.
            let turns = if matches!(joint, Joint::Screw { .. }) { 20.0 } else { 1.0 };
            let size = [2.0, 1e-9][sample % 2] * turns;
            let q = numbers.array().map(|x| size * x);
            let motion = joint.motion(&q[..n], &[0.0; 6][..n], Quat::IDENTITY);
            let mut back = [0.0; 6];
            joint.coordinates_of(&motion.R_12, motion.p_12, &mut back[..n]);
            for k in 0..n {
                let error = (back[k] - q[k]).abs();
                assert!(error < 1e-13 * (1.0 + size * size), "{joint:?}: coordinate {k} is off by {error}");
            }
        }
    }
}

/// Half a turn has no Gibbs vector; what comes out is finite and nearly the rotation.
#[test]
fn half_a_turn_gives_finite_coordinates() {
    let R = Mat3::from_cols(Vec3::X, -Vec3::Y, -Vec3::Z);
    for joint in [Joint::Spherical, Joint::Free, Joint::ConstantVelocity, Joint::Universal] {
        let n = joint.coordinates();
        let mut q = [0.0; 6];
        joint.coordinates_of(&R, Vec3::ZERO, &mut q[..n]);
        let motion = joint.motion(&q[..n], &[0.0; 6][..n], Quat::IDENTITY);
        let error = motion.R_12 - R;
        assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-11), "{joint:?}: {error}");
    }
}

/// Poses that no row can be written for give finite numbers: origins that must not coincide, a disc that lies flat, a
/// screw turned upside down.
#[test]
fn singular_poses_give_finite_rows() {
    let f1 = Kinematics { p: Vec3::ZERO, R: Mat3::IDENTITY, v: Vec3::ZERO, w: Vec3::ZERO };
    let flipped = Mat3::from_cols(Vec3::X, -Vec3::Y, -Vec3::Z);
    let disc = Joint::Rolling { semi_axes: Vec3::new(1.0, 1.0, 0.0) };
    for joint in joints().into_iter().chain([disc, Joint::Screw { pitch: 0.0 }]) {
        for R in [Mat3::IDENTITY, flipped] {
            let f2 = Kinematics { R, v: Vec3::X, w: Vec3::Y, ..f1 };
            for row in rows_of(&joint, &f1, &f2) {
                let parts = [row.J[0].angular, row.J[0].linear, row.J[1].angular, row.J[1].linear];
                assert!(parts.iter().all(|part| part.is_finite()), "{joint:?}: {row:?}");
                assert!(row.phi.is_finite() && row.convective.is_finite(), "{joint:?}: {row:?}");
            }
        }
    }
}

/// After any number of turns, to either hand, the row of a screw says how far the nut is off, up to half a lead.
#[test]
fn screw_counts_its_turns() {
    let f1 = Numbers(9).frame().frame;
    for pitch in [0.07, -0.07] {
        for angle in [0.0, 3.0, 3.3, -40.0, 1000.0] {
            for off in [0.0, 0.01, -0.2] {
                let motion = Joint::Screw { pitch }.motion(&[angle], &[0.0], Quat::IDENTITY);
                let p = f1.p + f1.R * (motion.p_12 + Vec3::Z * off);
                let f2 = Kinematics { p, R: f1.R * motion.R_12, ..f1 };
                let row = rows_of(&Joint::Screw { pitch }, &f1, &f2)[4];
                assert!((row.phi - off).abs() < 1e-12 && row.length, "{angle}: {} is not {off}", row.phi);
            }
        }
    }
}

/// A ball on a rod of length l that circles at speed v is pulled inwards with v^2/l; a bead that slides at speed v
/// along a wire that turns at W needs 2 W v from its side.
#[test]
fn rod_pulls_and_wire_pushes() {
    let (l, v, W) = (0.8, 1.7, 3.0);
    let f1 = Kinematics { p: Vec3::ZERO, R: Mat3::IDENTITY, v: Vec3::ZERO, w: Vec3::ZERO };
    let f2 = Kinematics { p: Vec3::X * l, v: Vec3::Y * v, ..f1 };
    let row = rows_of(&Joint::Distance { length: l }, &f1, &f2)[0];
    let pull = -row.convective / row.J[1].linear.x;
    assert!(row.phi == 0.0 && (pull + v * v / l).abs() < 1e-15);

    // The wire is z and turns about x: its points move along x x z = -y.
    let f1 = Kinematics { w: Vec3::X * W, ..f1 };
    let f2 = Kinematics { p: Vec3::Z * l, v: Vec3::new(0.0, -W * l, v), ..f1 };
    let rows = rows_of(&Joint::PointOnLine, &f1, &f2);
    let [push_x, push_y] = [0, 1].map(|k| -rows[k].convective);
    assert!(push_x.abs() < 1e-15 && (push_y + 2.0 * W * v).abs() < 1e-14, "{push_x} {push_y}");
}

/// Two shafts in fixed bearings that meet at the angle beta, joined by a cross:
///   W2/W1 = cos beta/(1 - sin^2 beta cos^2 t1)
/// with the angle t1 from the plane of the shafts to z1, the arm of the cross on shaft 1.
#[test]
fn universal_joint_turns_unevenly_and_constant_velocity_evenly() {
    let beta = 0.6;
    let shaft2 = Vec3::new(0.0, libm::sin(beta), libm::cos(beta));
    for k in 0..12 {
        // Shaft 1 is world z. The arm z1 of the cross turns with it, the arm x2 stands on z1 and on shaft 2.
        let (s, c) = libm::sincos(0.5 * k as f64);
        let z1 = Vec3::new(s, c, 0.0);
        let x2 = z1.cross(shaft2).normalize();
        let frame = |R: Mat3, w: Vec3| Kinematics { p: Vec3::ZERO, R, v: Vec3::ZERO, w };
        let f1 = frame(Mat3::from_cols(Vec3::Z, z1.cross(Vec3::Z), z1), Vec3::Z);
        let ratio = libm::cos(beta) / (1.0 - libm::sin(beta) * libm::sin(beta) * c * c);
        let f2 = frame(Mat3::from_cols(x2, shaft2.cross(x2), shaft2), shaft2 * ratio);
        let row = rows_of(&Joint::Universal, &f1, &f2)[3];
        assert!(row.phi.abs() < 1e-15 && row.rate(&f1, &f2).abs() < 1e-14, "{row:?}");

        // The same shafts as z1 and z2 of a joint without twist: equal speeds.
        let f1 = frame(about_z(0.5 * k as f64), Vec3::Z);
        let bend = Mat3::from_quat(turn(Vec3::new(-beta, 0.0, 0.0)));
        let f2 = frame(bend * f1.R, shaft2);
        let row = rows_of(&Joint::ConstantVelocity, &f1, &f2)[3];
        assert!(row.phi.abs() < 1e-15 && row.rate(&f1, &f2).abs() < 1e-15, "{row:?}");
    }
}

/// A disc of radius r that leans by `lean` from the upright and rolls around a circle: its centre is r cos(lean) high
/// and moves at r (spin + yaw sin(lean)), so that its lowest point stands still.
#[test]
fn disc_rolls_around_a_circle() {
    let (radius, lean, spin, yaw) = (0.3, 0.4, 2.0, 0.7);
    let (s, c) = libm::sincos(lean);
    let f1 = Kinematics { p: Vec3::ZERO, R: Mat3::IDENTITY, v: Vec3::ZERO, w: Vec3::ZERO };
    // Heading along x; the axis of the disc is y, turned about x by the lean.
    let axis = Vec3::new(0.0, c, s);
    let w = axis * spin + Vec3::Z * yaw;
    let p = Vec3::new(0.0, 0.0, radius * c);
    let lowest = Vec3::new(0.0, radius * s, -radius * c);
    let v = Vec3::new(radius * spin + yaw * radius * s, 0.0, 0.0);
    let f2 = Kinematics { p, R: Mat3::from_cols(Vec3::X, axis.cross(Vec3::X), axis), v, w };
    let rows = rows_of(&Joint::Rolling { semi_axes: Vec3::new(radius, radius, 0.0) }, &f1, &f2);
    assert!(rows[0].phi.abs() < 1e-15);
    assert!((v + w.cross(lowest)).length() < 1e-15, "{}", v + w.cross(lowest));
    for row in &rows {
        assert!(row.rate(&f1, &f2).abs() < 1e-15, "{row:?}");
    }
    // Steady circle at the turning rate yaw: a = yaw z x v, alpha = yaw z x w.
    let A = Six::new((Vec3::Z * yaw).cross(w), (Vec3::Z * yaw).cross(v));
    for row in &rows {
        assert!(acceleration(row, &Six::ZERO, &A).abs() < 1e-14, "{row:?}");
    }
}

/// A multiplier of the height row pushes at the lowest point of the ellipsoid: on its surface, tangent to the plane.
#[test]
fn ellipsoid_touches_at_its_lowest_point() {
    let semi_axes = Vec3::new(0.3, 0.5, 0.2);
    let mut numbers = Numbers(8);
    for _ in 0..SAMPLES {
        let [f1, f2] = numbers.pair().map(|path| path.frame);
        let rows = rows_of(&Joint::Rolling { semi_axes }, &f1, &f2);
        let n = f1.R.z_axis;
        // Torque of a unit normal force is r x n, of the tangential ones r x x1 and r x y1: r is known from them.
        let r = n * rows[1].J[1].angular.dot(f1.R.y_axis) + n.cross(rows[0].J[1].angular);
        let local = f2.R.transpose() * r / semi_axes;
        assert!((local.length() - 1.0).abs() < 1e-14);
        let normal = (f2.R * (local / semi_axes)).normalize();
        assert!((normal + n).length() < 1e-13, "{normal} {n}");
    }
}

#[test]
fn couplings_hold_their_ratio() {
    let (q0, turned) = ([0.2, -0.1], 0.7);
    // Two outer gears of 20 and 60 teeth.
    let gear = Coupling::gear([0, 1], -60.0 / 20.0, q0);
    assert!(gear.phi(&[q0[0] - 3.0 * turned, q0[1] + turned]).abs() < 1e-15);
    assert!(gear.rate(&[-3.0, 1.0]).abs() < 1e-15);
    // A pinion of 25 mm moves its rack by 17.5 mm.
    let rack = Coupling::rack_and_pinion([0, 1], 0.025, q0);
    assert!(rack.phi(&[q0[0] + turned, q0[1] + 0.0175]).abs() < 1e-15);
    // Pulleys of 50 and 100 mm.
    let belt = Coupling::belt([0, 1], [0.05, 0.1], false, q0);
    assert!(belt.phi(&[q0[0] + 2.0 * turned, q0[1] + turned]).abs() < 1e-15);
    let crossed = Coupling::belt([0, 1], [0.05, 0.1], true, q0);
    assert!(crossed.phi(&[q0[0] + 2.0 * turned, q0[1] - turned]).abs() < 1e-15);
    // No work: the multiplier's forces on a motion that the coupling allows.
    for (coupling, u) in [(&gear, [-3.0, 1.0]), (&rack, [1.0, 0.025]), (&belt, [2.0, 1.0]), (&crossed, [2.0, -1.0])] {
        assert!(coupling.rate(&u).abs() < 1e-15, "{coupling:?}");
    }
}
