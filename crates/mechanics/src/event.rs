//! The event log: what happened, when, between whom or in what.

use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Two shapes came to touch (gap fell to zero).
    ContactStart,
    /// Two touching shapes separated.
    ContactEnd,
    /// A sticking contact began to slip.
    SlipStart,
    /// A slipping contact came to stick.
    StickStart,
    /// Rolling resistance reached its limit: the contact began to roll.
    RollStart,
    /// A rolling contact came to rest.
    RollEnd,
    /// A touching pair began to compress again: its restitution memory starts afresh.
    Recompression,
    /// Regions of an overlap became fewer because two came to hang together; where its law jumps with them.
    RegionsMerge,
    /// Regions of an overlap became more because one came apart; where its law jumps with them.
    RegionsSplit,
    /// A joint that moved came to stick by its dry friction.
    JointStick,
    /// A joint that stuck began to move against its dry friction.
    JointSlip,
    /// A joint reached a stop.
    StopStart,
    /// A joint left a stop.
    StopEnd,
    /// A motor reached the limit of its force or torque.
    MotorLimit,
    /// A motor at its limit came to hold its speed or position again.
    MotorHold,
    /// A crossing that a component watches took place.
    Crossing,
    /// The structure changed: something was attached, released, locked, deleted or switched.
    Change,
}

impl EventKind {
    /// All kinds, those of contacts first.
    pub const ALL: [EventKind; 17] = [
        EventKind::ContactStart,
        EventKind::ContactEnd,
        EventKind::SlipStart,
        EventKind::StickStart,
        EventKind::RollStart,
        EventKind::RollEnd,
        EventKind::Recompression,
        EventKind::RegionsMerge,
        EventKind::RegionsSplit,
        EventKind::JointStick,
        EventKind::JointSlip,
        EventKind::StopStart,
        EventKind::StopEnd,
        EventKind::MotorLimit,
        EventKind::MotorHold,
        EventKind::Crossing,
        EventKind::Change,
    ];

    /// True if two bodies take part ([`Event::contact`]), false if it belongs to one thing ([`Event::source`]).
    pub fn is_of_contact(self) -> bool {
        match self {
            EventKind::ContactStart
            | EventKind::ContactEnd
            | EventKind::SlipStart
            | EventKind::StickStart
            | EventKind::RollStart
            | EventKind::RollEnd
            | EventKind::Recompression
            | EventKind::RegionsMerge
            | EventKind::RegionsSplit => true,
            EventKind::JointStick
            | EventKind::JointSlip
            | EventKind::StopStart
            | EventKind::StopEnd
            | EventKind::MotorLimit
            | EventKind::MotorHold
            | EventKind::Crossing
            | EventKind::Change => false,
        }
    }

    /// Name used in files and summaries.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::ContactStart => "contact_start",
            EventKind::ContactEnd => "contact_end",
            EventKind::SlipStart => "slip_start",
            EventKind::StickStart => "stick_start",
            EventKind::RollStart => "roll_start",
            EventKind::RollEnd => "roll_end",
            EventKind::Recompression => "recompression",
            EventKind::RegionsMerge => "regions_merge",
            EventKind::RegionsSplit => "regions_split",
            EventKind::JointStick => "joint_stick",
            EventKind::JointSlip => "joint_slip",
            EventKind::StopStart => "stop_start",
            EventKind::StopEnd => "stop_end",
            EventKind::MotorLimit => "motor_limit",
            EventKind::MotorHold => "motor_hold",
            EventKind::Crossing => "crossing",
            EventKind::Change => "change",
        }
    }
}

/// One line of the event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When [s].
    pub time: f64,
    /// What.
    pub kind: EventKind,
    /// Name of the joint, motor, component or change it belongs to; `None` for events of contacts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// The contact it belongs to; `None` for all other events.
    #[serde(flatten)]
    pub contact: Option<EventContact>,
}

/// The contact an event belongs to, at that time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventContact {
    /// Index of the first body in the model's body list.
    pub body1: usize,
    /// Index of the second body in the model's body list.
    pub body2: usize,
    /// The two colliding shape elements (indices in the model's element list, smaller body first).
    pub pair: (u32, u32),
    /// Gap at the event [m].
    pub gap: f64,
    /// Closing speed at the event [m/s].
    pub closing_speed: f64,
    /// Unit normal from body 1 to body 2, resolved in world.
    pub normal: Vec3,
    /// Contact point, resolved in world [m].
    pub position: Vec3,
    /// With `ContactEnd`: what the whole contact was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub episode: Option<Episode>,
    /// With `RegionsMerge` and `RegionsSplit`: how many regions there were before and after [-].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub regions: Option<[u32; 2]>,
}

/// One contact from touch to separation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Time of first touch [s].
    pub start: f64,
    /// From touch to separation [s].
    pub duration: f64,
    /// Closing speed at first touch [m/s].
    pub start_closing_speed: f64,
    /// Largest depth [m].
    pub max_depth: f64,
    /// Largest normal force [N].
    pub max_force: f64,
    /// Normal impulse [N s].
    pub impulse: f64,
}
