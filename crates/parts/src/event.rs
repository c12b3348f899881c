//! The event log: what happened, when, between whom or in what.

use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// The list of kinds: name, word in files and summaries, who takes part.
macro_rules! event_kinds {
    ($($(#[$doc:meta])+ $kind:ident = $word:literal of $who:ident,)+) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EventKind {
            $($(#[$doc])+ $kind,)+
        }

        impl EventKind {
            /// All kinds, those of contacts first.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$kind,)+];

            /// True if two bodies take part ([`Event::contact`]), false if it belongs to one thing ([`Event::source`]).
            pub fn is_of_contact(self) -> bool {
                match self {
                    $(EventKind::$kind => event_kinds!(@ $who),)+
                }
            }

            /// Name used in files and summaries.
            pub fn name(self) -> &'static str {
                match self {
                    $(EventKind::$kind => $word,)+
                }
            }
        }
    };
    (@ contact) => { true };
    (@ one) => { false };
}

event_kinds! {
    /// Two shapes came to touch (gap fell to zero).
    ContactStart = "contact_start" of contact,
    /// Two touching shapes separated.
    ContactEnd = "contact_end" of contact,
    /// A sticking contact began to slip.
    SlipStart = "slip_start" of contact,
    /// A slipping contact came to stick.
    StickStart = "stick_start" of contact,
    /// Rolling resistance reached its limit: the contact began to roll.
    RollStart = "roll_start" of contact,
    /// A rolling contact came to rest.
    RollEnd = "roll_end" of contact,
    /// A touching pair began to compress again: its restitution memory starts afresh.
    Recompression = "recompression" of contact,
    /// Regions of an overlap became fewer because two came to hang together; where its law jumps with them.
    RegionsMerge = "regions_merge" of contact,
    /// Regions of an overlap became more because one came apart; where its law jumps with them.
    RegionsSplit = "regions_split" of contact,
    /// A joint that moved came to stick by its dry friction.
    JointStick = "joint_stick" of one,
    /// A joint that stuck began to move against its dry friction.
    JointSlip = "joint_slip" of one,
    /// A joint reached a stop.
    StopStart = "stop_start" of one,
    /// A joint left a stop.
    StopEnd = "stop_end" of one,
    /// A coupling that holds one way, a rope, reached its limit and holds on.
    Taut = "taut" of one,
    /// A coupling that holds one way let go.
    Slack = "slack" of one,
    /// A cable broke.
    Break = "break" of one,
    /// A cable that stuck to a ring, a sheave or a pulley began to slide.
    CableSlip = "cable_slip" of one,
    /// A cable came to stick there.
    CableStick = "cable_stick" of one,
    /// A cable runs onto a wheel at a fleet angle at which it wears.
    FleetAngle = "fleet_angle" of one,
    /// All the rope that a drum had is off it.
    DrumEmpty = "drum_empty" of one,
    /// A drum has no room for more rope.
    DrumFull = "drum_full" of one,
    /// A clutch, brake or lock that held began to slip.
    GripSlip = "grip_slip" of one,
    /// A clutch, brake or lock that slipped came to hold.
    GripStick = "grip_stick" of one,
    /// The teeth of a gearbox came out, for another gear.
    GearOut = "gear_out" of one,
    /// The synchroniser of a gear began its work.
    Synchronise = "synchronise" of one,
    /// An engine was cut at its highest speed.
    EngineCut = "engine_cut" of one,
    /// An engine that was cut burns again.
    EngineBurn = "engine_burn" of one,
    /// An engine stalled.
    EngineStall = "engine_stall" of one,
    /// An engine that had stalled runs.
    EngineStart = "engine_start" of one,
    /// An element of a cable came in.
    PayOut = "pay_out" of one,
    /// An element of a cable went.
    TakeIn = "take_in" of one,
    /// The follower of a cam that holds one way left it.
    LiftOff = "lift_off" of one,
    /// The follower of a cam that holds one way came to touch it again.
    Landing = "landing" of one,
    /// A motor reached the limit of its force or torque.
    MotorLimit = "motor_limit" of one,
    /// A motor at its limit came to hold its speed or position again.
    MotorHold = "motor_hold" of one,
    /// A crossing that a component watches took place.
    Crossing = "crossing" of one,
    /// A flexible body bent further than its small strains are right for.
    LargeDeformation = "large_deformation" of one,
    /// The structure changed: something was attached, released, locked, deleted or switched.
    Change = "change" of one,
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
