//! From the engine to the wheel: elements on the coordinates of shafts, one file for each kind, its equation on top.
//!
//! A shaft is a body that turns in a joint on what carries it, so that the torque that a joint's motor, an engine or a brake gives it comes
//! back there by the joint. What holds shafts together, a clutch, the teeth of a gear, a brake, oil between pump and motor, is a [`Hold`]:
//! it yields a little, and carries so much and no more.

mod brake;
mod clutch;
mod converter;
mod cylinder;
mod differential;
mod electric;
mod engine;
mod gearbox;
mod hold;
mod hydrostatic;
mod table;

pub use brake::SPEC as BRAKE;
pub use clutch::SPEC as CLUTCH;
pub use converter::{Converter, SPEC as CONVERTER};
pub use cylinder::SPEC as CYLINDER;
pub use differential::SPEC as DIFFERENTIAL;
pub use electric::{Electric, SPEC as ELECTRIC};
pub use engine::{Engine, SPEC as ENGINE};
pub use gearbox::{Gearbox, SPEC as GEARBOX};
pub use hold::Hold;
pub use hydrostatic::SPEC as HYDROSTATIC;

use super::written::Build;
use crate::network::Formula;
use tippe_format::equation::Dimension;
use tippe_format::key::{Coupled, Form, Key, Range, key, number};
use tippe_format::part::{Equation, Part};

/// Stiffness of what holds two shafts together where nothing is said [N m/rad]: G pi d^4/(32 L) of a steel shaft of 60 mm and 1 m.
const STIFFNESS: f64 = 1e5;
/// Damping over stiffness where nothing is said [s]: chosen, so that shafts of 0.1 kg m^2 ring down within three swings.
const SETTLES: f64 = 1e-3;
/// Unit of a torsional stiffness, N m/rad.
const TORSIONAL: Dimension = Dimension::ENERGY;
/// Unit of a torsional damping, N m s/rad.
const TORSIONAL_DAMPING: Dimension = Dimension::new(2, 1, -1);

/// What its gears let through.
const EFFICIENCY: Key = number(
    "efficiency",
    Dimension::ONE,
    Range::Fraction,
    "Share of the power that comes through its gears, either way [-]",
)
.or(1.0);

/// The shafts it is on.
const fn shafts(angles: &'static [Option<bool>], more: usize, about: &'static str, help: &'static str) -> Key {
    key("shafts", Form::Coordinates(Coupled { angles, more, help }), about).required(help)
}

/// How much it yields.
const fn yields(about: &'static str) -> [Key; 2] {
    [
        number("stiffness", TORSIONAL, Range::Positive, about).or(STIFFNESS),
        number(
            "damping",
            TORSIONAL_DAMPING,
            Range::Positive,
            "Damping of what yields [N m s/rad]; default the stiffness times 1 ms",
        ),
    ]
}

/// Stiffness and damping of a part.
fn yielding(part: &Part) -> [f64; 2] {
    let stiffness = part.number("stiffness");
    [stiffness, part.find_number("damping").unwrap_or(SETTLES * stiffness)]
}

/// The equations under these keys in one formula; where one is not written, its text here.
fn formula(part: &Part, build: &mut dyn Build, keys: &[(&str, &str)]) -> Option<Formula> {
    let written: Vec<Equation> = keys
        .iter()
        .map(|(key, text)| {
            let places = part.places.clone();
            let left = || Equation { name: (*key).to_owned(), text: (*text).to_owned(), places };
            part.equation(key).cloned().unwrap_or_else(left)
        })
        .collect();
    build.formula(&written.iter().collect::<Vec<_>>(), &[])
}
