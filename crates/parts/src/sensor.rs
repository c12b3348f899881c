//! Sensors: what they measure between two frames, and how scenes know them.

use crate::element::Anchor;
use crate::joint::Joint;
use crate::kinematics::Kinematics;
use crate::six::Six;
use tippe_format::key::{Ends, Form, Key, Spec, key};
use tippe_geometry::Quat;

/// A sensor: what it measures, between two frames.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// Name in the scene.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Between what.
    pub ends: [Anchor; 2],
}

/// What a sensor measures.
#[derive(Clone, Debug, PartialEq)]
pub enum SensorKind {
    /// Position and orientation of frame 2 in frame 1.
    Pose,
    /// Velocity and angular velocity of frame 2 relative to frame 1, in frame 1.
    Velocity,
    /// Acceleration and angular acceleration of frame 2 relative to frame 1, in frame 1.
    Acceleration,
    /// Distance of the origins and its rate.
    Distance,
    /// Normal force, depth and whether two bodies touch.
    Contact,
    /// Coordinates of a joint and their rates, between its two frames: of one that closes a loop, whose coordinates are no unknowns.
    /// Angles are in [-pi, pi].
    Joint(Joint),
}

/// A kind of sensor as scenes know it.
pub struct SensorSpec {
    /// Its word and keys.
    pub kind: Spec,
    /// What it measures.
    pub measures: SensorKind,
    /// Names and units of its components.
    pub components: &'static [(&'static str, &'static str)],
    /// Whether equations can read it: it depends on the motion alone.
    pub is_readable: bool,
}

const fn between(ends: Ends, about: &'static str) -> Key {
    key("between", Form::Attachments(ends), about).required("such as between = [\"world\", \"link.tip\"]")
}
const FRAMES: &[&[Key]] = &[&[between(Ends::Frames, "Frame 1 and frame 2: BODY, BODY.FRAME or `world`")]];
const BODIES: &[&[Key]] = &[&[between(Ends::Touching, "The two bodies of a contact")]];

const fn kind(word: &'static str, about: &'static str, keys: &'static [&'static [Key]]) -> Spec {
    Spec { word, about, keys, example: "between = [\"a\", \"b\"]", ..Spec::NONE }
}

/// Every kind of sensor.
pub const SENSORS: &[SensorSpec] = &[
    SensorSpec {
        kind: kind("pose", "Position and orientation of frame 2 in frame 1", FRAMES),
        measures: SensorKind::Pose,
        components: &[("x", "m"), ("y", "m"), ("z", "m"), ("qw", "-"), ("qx", "-"), ("qy", "-"), ("qz", "-")],
        is_readable: true,
    },
    SensorSpec {
        kind: kind("velocity", "Velocity and angular velocity of frame 2 relative to frame 1, in frame 1", FRAMES),
        measures: SensorKind::Velocity,
        components: &[("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")],
        is_readable: true,
    },
    SensorSpec {
        kind: kind(
            "acceleration",
            "Acceleration and angular acceleration of frame 2 relative to frame 1, in frame 1",
            FRAMES,
        ),
        measures: SensorKind::Acceleration,
        components: &[
            ("ax", "m/s2"),
            ("ay", "m/s2"),
            ("az", "m/s2"),
            ("turn_x", "rad/s2"),
            ("turn_y", "rad/s2"),
            ("turn_z", "rad/s2"),
        ],
        is_readable: false,
    },
    SensorSpec {
        kind: kind("distance", "Distance of the origins and its rate", FRAMES),
        measures: SensorKind::Distance,
        components: &[("distance", "m"), ("rate", "m/s")],
        is_readable: true,
    },
    SensorSpec {
        kind: kind("contact", "Normal force, depth and whether two bodies touch", BODIES),
        measures: SensorKind::Contact,
        components: &[("normal_force", "N"), ("depth", "m"), ("touching", "-")],
        is_readable: false,
    },
];

/// Their words and keys.
pub const KINDS: [&Spec; SENSORS.len()] = {
    let mut kinds = [&SENSORS[0].kind; SENSORS.len()];
    let mut k = 0;
    while k < SENSORS.len() {
        kinds[k] = &SENSORS[k].kind;
        k += 1;
    }
    kinds
};

/// The kind of sensor with this word.
pub fn named(word: &str) -> Option<&'static SensorSpec> {
    SENSORS.iter().find(|spec| spec.kind.word == word)
}

impl SensorKind {
    /// Names and units of its components.
    pub fn components(&self) -> Vec<(&'static str, &'static str)> {
        let SensorKind::Joint(joint) = self else {
            let spec = SENSORS.iter().find(|spec| spec.measures == *self);
            return spec.map_or_else(Vec::new, |spec| spec.components.to_vec());
        };
        let based = if joint.has_base() { &["qw", "qx", "qy", "qz"][..] } else { &[] };
        let list = joint.coordinate_list();
        let coordinates = list.iter().skip(if joint.has_base() { 3 } else { 0 }).map(|c| (c.name, c.unit));
        let rates = list.iter().enumerate().map(|(k, c)| (c.rate, if joint.is_rotation(k) { "rad/s" } else { "m/s" }));
        based.iter().map(|name| (*name, "-")).chain(coordinates).chain(rates).collect()
    }
}

/// One of the coordinates of a joint (after the quaternion of one with a base, in place of its Gibbs vector) and their rates, from the
/// motion of its two frames: q from the pose, and u from S(q) u = {w, v} of frame 2 relative to frame 1.
fn joint_motion(joint: &Joint, f1: &Kinematics, f2: &Kinematics, k: usize) -> f64 {
    let (R, arm) = (f1.R.transpose(), f2.p - f1.p);
    let (R_12, p_12) = (R * f2.R, R * arm);
    let n = joint.coordinates();
    let mut q = [0.0; 6];
    joint.coordinates_of(&R_12, p_12, &mut q[..n]);
    let orientation = Quat::from_mat3(&R_12);
    if joint.has_base() {
        q[..3].fill(0.0);
    }
    let S = joint.motion(&q[..n], &[0.0; 6][..n], orientation).S;
    let relative = Six::new(R * (f2.w - f1.w), R * (f2.v - f1.v - f1.w.cross(arm)));
    let u = shares(&S[..n], relative);
    // the quaternion stands for the first three coordinates
    let (based, first) = if joint.has_base() { (4, 3) } else { (0, 0) };
    let rates = based + n - first;
    match k {
        k if k < based => [orientation.w, orientation.x, orientation.y, orientation.z][k],
        k if k < rates => q[first + k - based],
        k => u[k - rates],
    }
}

/// The u of least error |S u - v|, by Gram-Schmidt on the columns of S.
fn shares(S: &[Six], v: Six) -> [f64; 6] {
    let (mut u, mut basis, mut upper) = ([0.0; 6], [Six::ZERO; 6], [[0.0; 6]; 6]);
    for (k, column) in S.iter().enumerate() {
        let mut rest = *column;
        for j in 0..k {
            upper[j][k] = basis[j].dot(&rest);
            rest = rest - basis[j] * upper[j][k];
        }
        upper[k][k] = rest.dot(&rest).sqrt();
        basis[k] = if upper[k][k] > 0.0 { rest * (1.0 / upper[k][k]) } else { Six::ZERO };
    }
    for k in (0..S.len()).rev() {
        let above: f64 = (k + 1..S.len()).map(|j| upper[k][j] * u[j]).sum();
        u[k] = if upper[k][k] > 0.0 { (basis[k].dot(&v) - above) / upper[k][k] } else { 0.0 };
    }
    u
}

impl Sensor {
    /// A component of what it measures of the motion of its two frames; zero for accelerations and contacts.
    pub fn measure(&self, f1: &Kinematics, f2: &Kinematics, component: u32) -> f64 {
        let arm = f2.p - f1.p;
        let R = f1.R.transpose();
        let k = component as usize;
        match &self.kind {
            SensorKind::Pose if k < 3 => (R * arm)[k],
            SensorKind::Pose => {
                let q = Quat::from_mat3(&(R * f2.R));
                [q.w, q.x, q.y, q.z][k - 3]
            }
            SensorKind::Velocity if k < 3 => (R * (f2.v - f1.v - f1.w.cross(arm)))[k],
            SensorKind::Velocity => (R * (f2.w - f1.w))[k - 3],
            SensorKind::Distance if k == 0 => arm.length(),
            SensorKind::Distance => {
                let length = arm.length();
                if length > 0.0 { arm.dot(f2.v - f1.v) / length } else { 0.0 }
            }
            SensorKind::Joint(joint) => joint_motion(joint, f1, f2, k),
            SensorKind::Acceleration | SensorKind::Contact => 0.0,
        }
    }

    /// A component of the acceleration of frame 2 relative to frame 1, seen in frame 1:
    /// a_rel = a2 - a1 - alpha1 x d - w1 x (w1 x d) - 2 w1 x v_rel. Each side: motion of the body, its acceleration
    /// {angular, linear} at the centre of mass.
    pub fn acceleration(&self, sides: [(Kinematics, Six); 2], component: u32) -> f64 {
        let motion = |k: usize| {
            let (kin, Six { angular, linear }) = sides[k];
            let frame = kin.of_frame(self.ends[k].p, &self.ends[k].R);
            let arm = frame.p - kin.p;
            (frame, angular, linear + angular.cross(arm) + kin.w.cross(kin.w.cross(arm)))
        };
        let [(f1, alpha1, a1), (f2, alpha2, a2)] = [motion(0), motion(1)];
        let (d, R) = (f2.p - f1.p, f1.R.transpose());
        let v_rel = f2.v - f1.v - f1.w.cross(d);
        let a_rel = a2 - a1 - alpha1.cross(d) - f1.w.cross(f1.w.cross(d)) - 2.0 * f1.w.cross(v_rel);
        let alpha_rel = alpha2 - alpha1 - f1.w.cross(f2.w - f1.w);
        let all = [R * a_rel, R * alpha_rel];
        all[component as usize / 3][component as usize % 3]
    }
}
