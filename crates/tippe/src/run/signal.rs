//! Signals: everything in a recording that has a value at every communication point, by name and with its unit.

use super::Recording;
use crate::model::{Drive, Model};
use crate::{BodyState, Cause, ContactSample, Ledger};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tippe_geometry::Vec3;

/// Who takes part in a run: enough of the model to name and weigh what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subjects {
    /// Bodies in model order.
    pub bodies: Vec<Subject>,
    /// Numbers recorded beside the motion of bodies, in model order: joints, force elements, sensors, equations.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub signals: Vec<SignalName>,
    /// Names that events may have as their source, and joints, which own some of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<String>,
    /// Numbers from outside, in model order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<String>,
}

/// One body of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Name in the scene.
    pub name: String,
    /// Mass [kg]; zero for a body that is fixed or whose motion is prescribed.
    pub mass: f64,
    /// Centre of mass from the body's origin, resolved in the body [m].
    pub centre_of_mass: Vec3,
}

/// One number recorded beside the motion of bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalName {
    /// Name with its owner's: `hinge.angle`.
    pub name: String,
    /// SI unit, `-` if none.
    pub unit: String,
}

impl Subjects {
    /// Those of a model.
    pub fn of(model: &Model) -> Subjects {
        let subject = |body: &crate::model::Body| Subject {
            name: body.name.clone(),
            mass: if body.drive == Drive::Free { body.mass } else { 0.0 },
            centre_of_mass: body.p_bc,
        };
        let signal =
            |signal: &crate::model::ModelSignal| SignalName { name: signal.name.clone(), unit: signal.unit.clone() };
        Subjects {
            bodies: model.bodies.iter().map(subject).collect(),
            signals: model.signals.iter().map(signal).collect(),
            sources: sources(model),
            inputs: model.signal_inputs().map(|(input, _)| input.name.clone()).collect(),
        }
    }

    /// Index of the body with this name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|body| body.name == name)
    }

    /// Linear momentum of all bodies with a mass, resolved in world [kg m/s].
    ///
    /// p = sum_i m_i v_wc_i with v_wc = v_wb + omega_wb x (R_wb p_bc)
    pub fn momentum(&self, bodies: &[BodyState]) -> Vec3 {
        let mut p = Vec3::ZERO;
        for (subject, body) in self.bodies.iter().zip(bodies) {
            if subject.mass > 0.0 {
                let p_bc_w = body.orientation * subject.centre_of_mass;
                p += subject.mass * (body.velocity + body.angular_velocity.cross(p_bc_w));
            }
        }
        p
    }
}

/// Joints, constraints, what acts in joints, components and changes.
fn sources(model: &Model) -> Vec<String> {
    let joints = model.joints.iter().map(|joint| &joint.name);
    let couplings = model.mechanisms.iter().flat_map(|mechanism| &mechanism.couplings).map(|coupled| &coupled.name);
    let forces = model.elements.iter().map(|element| &element.name);
    let blocks = model.network.blocks.iter().map(|block| &block.name);
    let changes = model.changes.iter().map(|change| &change.name);
    let mut seen = BTreeSet::new();
    let all = joints.chain(couplings).chain(forces).chain(blocks).chain(changes);
    all.filter(|name| !name.is_empty() && seen.insert(name.as_str())).cloned().collect()
}

/// Axis of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// First component.
    X,
    /// Second component.
    Y,
    /// Third component.
    Z,
}

impl Axis {
    pub(crate) const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    pub(crate) fn of(self, v: Vec3) -> f64 {
        match self {
            Axis::X => v.x,
            Axis::Y => v.y,
            Axis::Z => v.z,
        }
    }

    fn unit_vector(self) -> Vec3 {
        match self {
            Axis::X => Vec3::X,
            Axis::Y => Vec3::Y,
            Axis::Z => Vec3::Z,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }
}

/// A number that a body has at every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `position.x`: component of the origin's position in world [m].
    Position(Axis),
    /// `orientation.w`, `.x`, `.y`, `.z`: component 0, 1, 2, 3 of the quaternion [-].
    Orientation(u8),
    /// `velocity.x`: component of the origin's velocity in world [m/s].
    Velocity(Axis),
    /// `angular_velocity.x`: component in world [rad/s].
    AngularVelocity(Axis),
    /// `speed`: magnitude of the origin's velocity [m/s].
    Speed,
    /// `angular_speed`: magnitude of the angular velocity [rad/s].
    AngularSpeed,
    /// `axis_z.x`: world component (second) of a body axis (first) [-].
    BodyAxis(Axis, Axis),
}

impl Quantity {
    /// The columns of `signals.parquet` for one body, in order; all other quantities follow from these.
    pub const STORED: [Quantity; 13] = [
        Quantity::Position(Axis::X),
        Quantity::Position(Axis::Y),
        Quantity::Position(Axis::Z),
        Quantity::Orientation(0),
        Quantity::Orientation(1),
        Quantity::Orientation(2),
        Quantity::Orientation(3),
        Quantity::Velocity(Axis::X),
        Quantity::Velocity(Axis::Y),
        Quantity::Velocity(Axis::Z),
        Quantity::AngularVelocity(Axis::X),
        Quantity::AngularVelocity(Axis::Y),
        Quantity::AngularVelocity(Axis::Z),
    ];

    /// All quantities, those of `STORED` first.
    pub fn all() -> Vec<Quantity> {
        let mut all = Quantity::STORED.to_vec();
        all.extend([Quantity::Speed, Quantity::AngularSpeed]);
        all.extend(Axis::ALL.iter().flat_map(|&b| Axis::ALL.map(|w| Quantity::BodyAxis(b, w))));
        all
    }

    /// Name after the body's name and a dot.
    pub fn name(self) -> String {
        match self {
            Quantity::Position(axis) => format!("position.{}", axis.name()),
            Quantity::Orientation(k) => format!("orientation.{}", ["w", "x", "y", "z"][usize::from(k & 3)]),
            Quantity::Velocity(axis) => format!("velocity.{}", axis.name()),
            Quantity::AngularVelocity(axis) => format!("angular_velocity.{}", axis.name()),
            Quantity::Speed => "speed".to_owned(),
            Quantity::AngularSpeed => "angular_speed".to_owned(),
            Quantity::BodyAxis(axis, world) => format!("axis_{}.{}", axis.name(), world.name()),
        }
    }

    /// Value for one body.
    pub fn of(self, body: &BodyState) -> f64 {
        match self {
            Quantity::Position(axis) => axis.of(body.position),
            Quantity::Orientation(k) => {
                let R_wb = body.orientation;
                [R_wb.w, R_wb.x, R_wb.y, R_wb.z][usize::from(k & 3)]
            }
            Quantity::Velocity(axis) => axis.of(body.velocity),
            Quantity::AngularVelocity(axis) => axis.of(body.angular_velocity),
            Quantity::Speed => body.velocity.length(),
            Quantity::AngularSpeed => body.angular_velocity.length(),
            Quantity::BodyAxis(axis, world) => world.of(body.orientation * axis.unit_vector()),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Quantity::Position(_) => "m",
            Quantity::Orientation(_) | Quantity::BodyAxis(..) => "-",
            Quantity::Velocity(_) | Quantity::Speed => "m/s",
            Quantity::AngularVelocity(_) | Quantity::AngularSpeed => "rad/s",
        }
    }
}

/// An entry of the energy ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Kinetic energy [J].
    Kinetic,
    /// Potential energy in the gravity field [J].
    Potential,
    /// Energy stored in contacts and springs [J].
    Elastic,
    /// Lost, or put in, for this cause [J].
    By(Cause),
    /// Stored energy at the start [J].
    Initial,
    /// kinetic + potential + elastic [J].
    Stored,
    /// Everything lost since the start [J].
    Dissipated,
    /// What the books do not explain [J].
    Residual,
}

/// The accounts of all causes, with others before and behind.
const fn around<const N: usize>(before: &[Account], behind: &[Account]) -> [Account; N] {
    let mut all = [Account::Residual; N];
    let mut i = 0;
    while i < N {
        all[i] = match i {
            _ if i < before.len() => before[i],
            _ if i < before.len() + Cause::COUNT => Account::By(Cause::ALL[i - before.len()]),
            _ => behind[i - before.len() - Cause::COUNT],
        };
        i += 1;
    }
    all
}

impl Account {
    /// What holds energy: kinetic + potential + elastic is stored.
    pub const HOLDING: [Account; 3] = [Account::Kinetic, Account::Potential, Account::Elastic];
    /// The energy columns of `energy.parquet`, in order.
    pub const STORED: [Account; Cause::COUNT + 5] = around(&Account::HOLDING, &[Account::Initial, Account::Residual]);
    /// All accounts.
    pub const ALL: [Account; Cause::COUNT + 7] =
        around(&Account::HOLDING, &[Account::Initial, Account::Stored, Account::Dissipated, Account::Residual]);

    /// Name after `energy.`.
    pub fn name(self) -> &'static str {
        match self {
            Account::Kinetic => "kinetic",
            Account::Potential => "potential",
            Account::Elastic => "elastic",
            Account::By(cause) => cause.name(),
            Account::Initial => "initial",
            Account::Stored => "stored",
            Account::Dissipated => "dissipated",
            Account::Residual => "residual",
        }
    }

    /// Value in one ledger [J].
    pub fn of(self, ledger: &Ledger) -> f64 {
        match self {
            Account::Kinetic => ledger.kinetic,
            Account::Potential => ledger.potential,
            Account::Elastic => ledger.elastic,
            Account::By(cause) => ledger[cause],
            Account::Initial => ledger.initial,
            Account::Stored => ledger.stored(),
            Account::Dissipated => ledger.dissipated(),
            Account::Residual => ledger.residual(),
        }
    }
}

/// A number that a touching pair has; zero while the pair does not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// `depth` [m]; the largest where several shapes of the two bodies touch.
    Depth,
    /// `closing_speed` [m/s]; that of the deepest.
    ClosingSpeed,
    /// `normal_force`: sum of force times normal [N].
    NormalForce,
    /// `force`: magnitude of the force [N].
    Force,
    /// `force.x`: component of the force on the second body named, in world [N].
    ForceAlong(Axis),
    /// `torque.x`: component of the torque on the second body named, about its contact point, in world [N m].
    TorqueAlong(Axis),
    /// `peak_force`: the largest normal force since the point before, of impacts between the two too [N].
    PeakForce,
    /// `slipping`: 1 while the deepest contact slips [-].
    Slipping,
}

impl Touch {
    /// All of them.
    pub const ALL: [Touch; 12] = [
        Touch::Depth,
        Touch::ClosingSpeed,
        Touch::NormalForce,
        Touch::Force,
        Touch::ForceAlong(Axis::X),
        Touch::ForceAlong(Axis::Y),
        Touch::ForceAlong(Axis::Z),
        Touch::TorqueAlong(Axis::X),
        Touch::TorqueAlong(Axis::Y),
        Touch::TorqueAlong(Axis::Z),
        Touch::PeakForce,
        Touch::Slipping,
    ];

    /// Name after `contact(a, b).`.
    pub fn name(self) -> String {
        match self {
            Touch::Depth => "depth".to_owned(),
            Touch::ClosingSpeed => "closing_speed".to_owned(),
            Touch::NormalForce => "normal_force".to_owned(),
            Touch::Force => "force".to_owned(),
            Touch::ForceAlong(axis) => format!("force.{}", axis.name()),
            Touch::TorqueAlong(axis) => format!("torque.{}", axis.name()),
            Touch::PeakForce => "peak_force".to_owned(),
            Touch::Slipping => "slipping".to_owned(),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Touch::Depth => "m",
            Touch::ClosingSpeed => "m/s",
            Touch::NormalForce | Touch::Force | Touch::PeakForce | Touch::ForceAlong(_) => "N",
            Touch::TorqueAlong(_) => "N m",
            Touch::Slipping => "-",
        }
    }
}

/// A number that a run has at every communication point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `time` [s].
    Time,
    /// `ball.position.z` and the like.
    Body {
        /// Body index.
        body: usize,
        /// What of it.
        quantity: Quantity,
    },
    /// `energy.kinetic` and the like [J].
    Energy(Account),
    /// `momentum.x`: linear momentum of all bodies with a mass, in world [kg m/s].
    Momentum(Axis),
    /// `contact(ball, floor).depth` and the like, `contact(floor).force.z` of all contacts of a body.
    Contact {
        /// The other body; none for all there are.
        other: Option<usize>,
        /// The last body named; forces act on it.
        body: usize,
        /// What of it.
        touch: Touch,
    },
    /// `hinge.angle` and the like: index in [`Subjects::signals`].
    Model(usize),
}

impl Signal {
    /// SI unit, `-` if none.
    pub fn unit(self, subjects: &Subjects) -> &str {
        match self {
            Signal::Time => "s",
            Signal::Body { quantity, .. } => quantity.unit(),
            Signal::Energy(_) => "J",
            Signal::Momentum(_) => "kg m/s",
            Signal::Contact { touch, .. } => touch.unit(),
            Signal::Model(k) => subjects.signals.get(k).map_or("-", |signal| &signal.unit),
        }
    }

    /// Value at the `i`-th communication point of a recording that holds this signal.
    pub(crate) fn at(self, recording: &Recording, i: usize) -> f64 {
        match self {
            Signal::Time => recording.time[i],
            Signal::Body { body, quantity } => quantity.of(&recording.motion[body][i]),
            Signal::Energy(account) => account.of(&recording.energy[i]),
            Signal::Momentum(axis) => axis.of(recording.momentum[i]),
            Signal::Contact { other, body, touch } => touch_at(recording, i, other, body, touch),
            Signal::Model(k) => recording.signals[k][i],
        }
    }
}

impl Touch {
    /// Its value for the contacts of a body, with another or with all, among these pairs; of `peak_force` what they have
    /// now.
    pub(super) fn of(self, contacts: &[ContactSample], other: Option<usize>, body: usize) -> f64 {
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        let (mut normal_force, mut depth, mut closing_speed, mut slipping) = (0.0, 0.0, 0.0, false);
        let mut touching = false;
        for contact in contacts {
            // Forces in the record act on body 2 of the pair; the person asks for those on the last body named.
            let is_other = |b: usize| other.is_none_or(|other| b == other);
            let sign = if contact.body2 == body && is_other(contact.body1) {
                1.0
            } else if contact.body1 == body && is_other(contact.body2) {
                -1.0
            } else {
                continue;
            };
            force += sign * contact.force;
            torque += sign * contact.torque;
            normal_force += contact.force.dot(contact.normal);
            if !touching || contact.depth > depth {
                (depth, closing_speed, slipping) = (contact.depth, contact.closing_speed, contact.slipping);
            }
            touching = true;
        }
        match self {
            Touch::Depth => depth,
            Touch::ClosingSpeed => closing_speed,
            Touch::NormalForce | Touch::PeakForce => normal_force,
            Touch::Force => force.length(),
            Touch::ForceAlong(axis) => axis.of(force),
            Touch::TorqueAlong(axis) => axis.of(torque),
            Touch::Slipping => f64::from(u8::from(slipping)),
        }
    }
}

fn touch_at(recording: &Recording, i: usize, other: Option<usize>, body: usize, touch: Touch) -> f64 {
    let now = touch.of(recording.contacts_at(i), other, body);
    match touch {
        Touch::PeakForce => peak_between(recording, i, other, body).max(now),
        _ => now,
    }
}

/// Largest normal force of the contacts that began and ended since the point before the `i`-th [N]; none of the others is hidden by the
/// points.
fn peak_between(recording: &Recording, i: usize, other: Option<usize>, body: usize) -> f64 {
    let Some(before) = i.checked_sub(1).map(|before| recording.time[before]) else { return 0.0 };
    let first = recording.events.partition_point(|event| event.time <= before);
    let since = recording.events[first..].iter().take_while(|event| event.time <= recording.time[i]);
    let own = since.filter_map(|event| event.contact.as_ref()).filter(|contact| {
        let is = |a: usize, b: usize| a == body && other.is_none_or(|other| b == other);
        is(contact.body1, contact.body2) || is(contact.body2, contact.body1)
    });
    let brief = own.filter_map(|contact| contact.episode).filter(|episode| episode.start > before);
    brief.map(|episode| episode.max_force).fold(0.0, f64::max)
}
