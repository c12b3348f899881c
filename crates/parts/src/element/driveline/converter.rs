//! A torque converter: the engine turns its pump with w_p, its turbine turns the gearbox with w_t. With s = w_t/w_p and tables K(s), R(s)
//!   T_p = (w_p/K(s))^2,   T_t = R(s) T_p   for s <= 1; K is without end at s = 1, 1/K falls to nothing in a line from the last point;
//!   T_p = -(w_p/K(2 - s))^2,   R = 1       for 1 < s <= 2, where the turbine drives;   T_p = -((w_t - w_p)/K(0))^2 beyond.
//! A pump that turns backwards does the same the other way. A lock-up clutch is a clutch between the same shafts.
//! In a step h the torque T_p between both, and the rest (R - 1) T_p on the turbine, answer to the rates: a row each.

use super::shafts;
use super::table::{Table, pairs, rising};
use crate::cause::Cause;

use crate::element::written::Build;
use crate::element::{
    Acting, Action, Answering, At, Attached, Effect, Element, ElementAccount, ElementSpec, Output, RowEnd, RowList,
    Seen, StepAhead,
};
use std::borrow::Cow;
use tippe_format::key::Spec;
use tippe_format::part::Part;

/// Change of a rate by which slopes are measured [rad/s].
const CHANGE: f64 = 1e-4;

/// A torque converter.
#[derive(Clone, Debug)]
pub struct Converter {
    /// Pump and turbine.
    at: Vec<At>,
    /// K [rad/s/sqrt(N m)].
    capacity: Table,
    /// R [-].
    ratio: Table,
}

/// How scenes know it.
pub const SPEC: ElementSpec = ElementSpec {
    kind: Spec {
        word: "converter",
        about: "A torque converter between the shaft of an engine and that of a gearbox",
        keys: &[
            &[shafts(
                &[Some(true), Some(true)],
                0,
                "Pump and turbine: JOINT or JOINT.COORDINATE",
                "two joints that turn, such as shafts = [\"engine\", \"gearbox\"]",
            )],
            &[
                pairs("capacity", "Rows of (speed ratio, K) [-, rad/s/sqrt(N m)], ratios rising from 0 to 1 at most")
                    .required("such as capacity = [[0, 16], [0.6, 17.6], [0.9, 25], [0.98, 50]]"),
                pairs("torque_ratio", "Rows of (speed ratio, torque of turbine over that of pump) [-, -]")
                    .required("such as torque_ratio = [[0, 2.2], [0.6, 1.4], [0.9, 1]]"),
            ],
        ],
        check: |check| {
            rising(check, "capacity");
            rising(check, "torque_ratio");
            let wrong = |pair: &&[f64]| pair[1] <= 0.0 || !(0.0..=1.0).contains(&pair[0]);
            for key in ["capacity", "torque_ratio"] {
                if let Some(pair) = check.part.numbers(key).chunks_exact(2).find(wrong) {
                    let message = format!(": {key} has the point {}, {}", pair[0], pair[1]);
                    check.error(key, message, "speed ratios are from 0 to 1, values above 0");
                }
            }
        },
        example: "shafts = [\"hinge\", \"other\"]\ncapacity = [[0, 16], [0.9, 25]]\ntorque_ratio = [[0, 2.2], [0.9, 1]]",
        ..Spec::NONE
    },
    make,
    moves: false,
    rewrite: |_, _, _| Ok(()),
};

fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let at = build.coordinates(part.coordinates("shafts"))?;
    let [capacity, ratio] = ["capacity", "torque_ratio"].map(|key| Table::of(part, key));
    Some(Element::Converter(Box::new(Converter { at, capacity, ratio })))
}

impl Converter {
    /// 1/K at a speed ratio up to 1.
    fn yields(&self, s: f64) -> f64 {
        let [last, capacity] = self.capacity.last();
        if s <= last { 1.0 / self.capacity.at(s) } else { (1.0 - s) / (1.0 - last) / capacity }
    }

    /// T_p, and the rest (R - 1) T_p of the turbine [N m].
    fn torques(&self, pump: f64, turbine: f64) -> [f64; 2] {
        if pump < 0.0 {
            return self.torques(-pump, -turbine).map(|torque| -torque);
        }
        if turbine <= pump {
            let s = if pump > 0.0 { (turbine / pump).max(0.0) } else { 0.0 };
            let root = pump * self.yields(s);
            return [root * root, (self.ratio.at(s) - 1.0) * root * root];
        }
        let driven = turbine > 2.0 * pump;
        let root = if driven { (turbine - pump) * self.yields(0.0) } else { pump * self.yields(2.0 - turbine / pump) };
        [-root * root, 0.0]
    }
}

impl Acting for Converter {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: &self.at, ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        &[
            Output { name: Cow::Borrowed("torque"), unit: Some("N m") },
            Output { name: Cow::Borrowed("turbine"), unit: Some("N m") },
        ]
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[ElementAccount { cause: Cause::Driveline, name: "heat" }]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let [pump, turbine] = [0, 1].map(|k| seen.coordinates[k].u);
        let [torque, rest] = self.torques(pump, turbine);
        out.efforts.copy_from_slice(&[-torque, torque + rest]);
        out.effect = Effect::new(torque, 0.0, torque * (pump - turbine) - rest * turbine);
        out.shown.push(torque + rest);
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let [pump, turbine] = [0, 1].map(|k| seen.coordinates[k].u);
        let [torque, rest] = self.torques(pump, turbine);
        let unbounded = [f64::NEG_INFINITY, f64::INFINITY];
        // the torque falls with the rate of the turbine against the pump, and of the turbine alone
        let between = (torque - self.torques(pump + CHANGE, turbine)[0]) / CHANGE;
        let ends = [-1.0, 1.0];
        let ends = [0, 1].map(|coordinate| RowEnd::Coordinate { coordinate, factor: ends[coordinate] });
        let answering = Answering { effort: torque, slope: between, rate: turbine - pump, bounds: unbounded };
        out.answer(0, answering, step.h, &ends);
        let alone = (self.torques(pump, turbine + CHANGE)[1] - rest) / CHANGE;
        let answering = Answering { effort: rest, slope: alone, rate: turbine, bounds: unbounded };
        out.answer(1, answering, step.h, &ends[1..]);
    }

    fn outputs_of_row(&self, _: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64]) {
        if part == 0 {
            outputs[0] = force;
        }
        outputs[1] += force;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sedan() -> Converter {
        let capacity = [
            [0.0, 16.0],
            [0.2, 16.2],
            [0.4, 16.6],
            [0.6, 17.6],
            [0.7, 18.6],
            [0.8, 20.4],
            [0.85, 22.0],
            [0.9, 25.0],
            [0.95, 33.0],
            [0.98, 50.0],
        ];
        let ratio =
            [[0.0, 2.2], [0.2, 1.95], [0.4, 1.68], [0.6, 1.4], [0.7, 1.26], [0.8, 1.11], [0.85, 1.03], [0.9, 1.0]];
        let at = [0, 1].map(|coordinate| At { mechanism: 0, coordinate }).to_vec();
        Converter { at, capacity: Table::from(&capacity), ratio: Table::from(&ratio) }
    }

    /// Where its pump takes what the engine gives at full throttle.
    #[test]
    fn points_of_a_typical_car() {
        let points = [
            (0.0, 2343.7664, 235.31299, 517.68858),
            (0.4, 2447.7176, 238.43153, 400.56497),
            (0.7, 2766.8866, 242.66887, 305.76277),
            (0.9, 3719.9427, 242.80057, 242.80057),
        ];
        for (s, rpm, pump, turbine) in points {
            let w = rpm * std::f64::consts::PI / 30.0;
            let [torque, rest] = sedan().torques(w, s * w);
            assert!((torque / pump - 1.0).abs() < 1e-6 && ((torque + rest) / turbine - 1.0).abs() < 1e-6, "{s}");
        }
    }

    /// Nothing jumps as the turbine comes to lead, nor where it leads twice as fast; heat is never negative.
    #[test]
    fn it_goes_over_into_driving_the_engine() {
        let converter = sedan();
        for edge in [0.98, 1.0, 1.02, 2.0] {
            let [before, after] = [-1e-9, 1e-9].map(|step| converter.torques(200.0, 200.0 * (edge + step))[0]);
            assert!((before - after).abs() < 1e-5, "{edge}: {before} {after}");
        }
        for (pump, turbine) in [(200.0, 250.0), (200.0, 100.0), (50.0, 300.0), (200.0, -20.0), (-30.0, 10.0)] {
            let [torque, rest] = converter.torques(pump, turbine);
            assert!(torque * (pump - turbine) - rest * turbine >= 0.0, "{pump} {turbine}");
        }
    }
}
