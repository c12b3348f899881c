//! A propeller or thruster: thrust and torque by its open-water curves.
//!
//! With n its turns per second, D its diameter, V the speed at which it goes along its axis against the fluid and w, t the shares of wake and thrust deduction,
//!   J = V (1 - w)/(n D),   thrust = (1 - t) rho n^2 D^4 K_T(J),   torque = rho n^2 D^5 K_Q(J)    (Lewis 1988, Principles of Naval Architecture, chapter VI)
//! thrust along x of its frame, the torque of the water on its blades on the body, against the turning. Backwards, n < 0, it is its own mirror image.

use super::{
    Acting, Action, Anchor, Attached, Build, Effect, Element, ElementAccount, ElementSpec, InStep, Output, Seen,
};
use crate::cause::Cause;
use crate::network::Formula;
use crate::six::Six;
use libm::hypot;
use std::borrow::Cow;
use std::f64::consts::TAU;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Measure, Range, Spec, any, equation, key, number};
use tippe_format::part::{Equation, Part};
use tippe_geometry::Vec3;

/// What its frame tells the equations of the current: where it is, resolved in world.
pub const NAMES: [&str; 3] = ["x", "y", "z"];
const NUMBER: Measure = Measure { dimension: None, range: Range::Any };

/// A propeller.
#[derive(Clone, Debug)]
pub struct Propeller {
    /// Where; its thrust is along x.
    pub on: Anchor,
    /// rho [kg/m^3].
    pub density: f64,
    /// D [m].
    pub diameter: f64,
    /// J, K_T, K_Q, row by row, J ascending [-].
    pub curve: Vec<[f64; 3]>,
    /// w and t [-].
    pub shares: [f64; 2],
    /// Current (results 0 to 2) [m/s] and turns per second [1/s].
    formula: Formula,
}

const OUTPUTS: &[Output] = &[
    Output { name: Cow::Borrowed("thrust"), unit: Some("N") },
    Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
    Output { name: Cow::Borrowed("power"), unit: Some("W") },
    Output { name: Cow::Borrowed("advance"), unit: Some("-") },
];

/// What is lost in the water, and what its motor puts in.
const ACCOUNTS: &[ElementAccount] =
    &[ElementAccount { cause: Cause::Drag, name: "loss" }, ElementAccount { cause: Cause::Engine, name: "work" }];

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "propeller",
        about: "A propeller or thruster by its curves: thrust along x of its frame",
        keys: &[&[
            key("on", Form::Attachment, "The frame it is in; its thrust is along x")
                .required("the body or BODY.FRAME it is on"),
            number("density", Dimension::DENSITY, Range::Positive, "Density of the fluid [kg/m^3]")
                .required("such as density = 1025"),
            number("diameter", Dimension::LENGTH, Range::Positive, "Diameter [m]").required("such as diameter = 1.2"),
            equation("turns", "Turns per second over time, parameters and signals [1/s]").required("such as turns = 5"),
            key("advance", Form::List(&Form::Number(NUMBER)), "Advance numbers J, ascending [-]")
                .required("such as advance = [0, 0.5, 1]"),
            key("thrust", Form::List(&Form::Number(NUMBER)), "K_T at each [-]")
                .required("such as thrust = [0.4, 0.25, 0]"),
            key("torque", Form::List(&Form::Number(NUMBER)), "K_Q at each [-]")
                .required("such as torque = [0.05, 0.035, 0.01]"),
            any("wake", Range::Fraction, "Share by which the water behind a hull is slower [-]").or(0.0),
            any("deduction", Range::Fraction, "Share of the thrust that its suction takes back [-]").or(0.0),
            key(
                "current",
                Form::Equations(3, &NAMES),
                "Velocity of the fluid, three numbers or equations of time and of its place x, y, z [m/s]",
            ),
        ]],
        check: |check| {
            let [J, T, Q] = ["advance", "thrust", "torque"].map(|key| check.part.numbers(key).to_vec());
            if T.len() != J.len() || Q.len() != J.len() {
                let counts = format!(" has {} advance numbers, {} thrusts and {} torques", J.len(), T.len(), Q.len());
                check.error("advance", counts, "as many of each");
            } else if J.is_empty() {
                check.error("advance", " has no curve", "such as advance = [0, 0.5, 1]");
            } else if let Some(k) = J.windows(2).position(|pair| pair[1] <= pair[0]) {
                let message = format!(" has advance numbers that do not ascend: {} behind {}", J[k + 1], J[k]);
                check.error("advance", message, "in ascending order");
            }
        },
        example: "on = \"a\"\ndensity = 1025\ndiameter = 1\nturns = 5\nadvance = [0, 1]\nthrust = [0.4, 0]\ntorque = [0.05, 0.01]",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let zero = Equation { name: "zero".into(), text: "0".into(), ..Equation::default() };
    let mut equations: Vec<&Equation> = match part.equations("current") {
        [] => vec![&zero; 3],
        three => three.iter().collect(),
    };
    equations.push(part.equation("turns")?);
    let formula = build.formula(&equations, &NAMES);
    let on = part.attachments("on").first().and_then(|on| build.anchor(on, None));
    let [J, T, Q] = ["advance", "thrust", "torque"].map(|key| part.numbers(key));
    Some(Element::Propeller(Box::new(Propeller {
        on: on?,
        density: part.number("density"),
        diameter: part.number("diameter"),
        curve: J.iter().zip(T).zip(Q).map(|((J, T), Q)| [*J, *T, *Q]).collect(),
        shares: [part.number("wake"), part.number("deduction")],
        formula: formula?,
    })))
}

impl Propeller {
    /// K_T and K_Q: straight lines between the points of the curve, on beyond its last ones as its first and last line run.
    pub fn coefficients(&self, J: f64) -> [f64; 2] {
        let last = self.curve.len() - 1;
        if last == 0 {
            return [self.curve[0][1], self.curve[0][2]];
        }
        let k = self.curve.partition_point(|point| point[0] <= J).clamp(1, last);
        let ([J0, T0, Q0], [J1, T1, Q1]) = (self.curve[k - 1], self.curve[k]);
        let x = (J - J0) / (J1 - J0);
        [T0 + x * (T1 - T0), Q0 + x * (Q1 - Q0)]
    }
}

impl Acting for Propeller {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: std::slice::from_ref(&self.on), formula: Some(&self.formula), ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        ACCOUNTS
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let kin = &seen.frames[0];
        let mut read = [0.0; 4];
        self.formula.eval(|source| seen.read(source, &[kin.p.x, kin.p.y, kin.p.z]), &mut read);
        let (flow, n) = (Vec3::new(read[0], read[1], read[2]), read[3]);
        let (axis, D) = (kin.R.x_axis, self.diameter);
        let [wake, deduction] = self.shares;
        let way = if n < 0.0 { -1.0 } else { 1.0 };
        let J = if n == 0.0 { 0.0 } else { (kin.v - flow).dot(axis) * (1.0 - wake) / (n * D) };
        let [K_T, K_Q] = self.coefficients(J);
        let pressed = way * self.density * n * n * D * D * D * D;
        let (thrust, torque) = (pressed * K_T * (1.0 - deduction), pressed * D * K_Q);
        let power = torque * TAU * n;
        let on = Six::new(axis * -torque, axis * thrust);
        out.wrench(0, kin.p, on);
        out.effect = Effect::new(thrust, 0.0, power - on.dot(&Six::new(kin.w, kin.v)));
        out.effect.powers[1] = power;
        out.shown.extend([torque, power, J]);
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Load
    }

    fn answers(&self) -> bool {
        true
    }

    fn effort_of_row(&self, sum: f64, part: u8, force: f64) -> f64 {
        if part < 3 { sum } else { hypot(sum, force) }
    }
}
