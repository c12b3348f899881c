//! Motors on the coordinates of joints, and what their speeds and motions follow.
//!
//! A speed or motion drive needs the rates of its value, so the value must be a function of time: signals of time that it names are
//! put in its place.

use super::Model;
use super::compile::Compiler;
use super::forces::Names;
use crate::element::{At, Element, Motion, Position, Speed, Torque};
use crate::network::{Formula, Source};
use tippe_scene::equation::Tree;
use tippe_scene::{Equation, Joint, Motor, MotorKind, Signal, SignalKind};

impl Compiler<'_> {
    /// The motors of a joint whose first coordinate is `first`.
    pub(super) fn motors(&mut self, model: &Model, spec: &Joint, first: At, names: &Names) -> Vec<(String, Element)> {
        let mut elements = Vec::new();
        for (i, s) in spec.motors.iter().enumerate() {
            let owner = format!("motor of joint \"{}\"", spec.name);
            let at = At { coordinate: first.coordinate + s.coordinate as u32, ..first };
            let limit = s.limit.unwrap_or(f64::INFINITY);
            let value = match s.kind {
                MotorKind::Torque | MotorKind::Position => self.formula(&owner, &[&s.value], 0, &[], names),
                MotorKind::Speed | MotorKind::Motion => self.followed(&owner, s, names),
            };
            let Some(value) = value else { continue };
            if s.kind == MotorKind::Motion && !self.begins_where_its_joint_is(model, &owner, s, at, &value) {
                continue;
            }
            let kind = match s.kind {
                MotorKind::Torque => Element::Torque(Torque { at, value, limit }),
                MotorKind::Position => {
                    Element::Position(Position { at, value, stiffness: s.stiffness, damping: s.damping, limit })
                }
                MotorKind::Speed => Element::Speed(Speed { at, value, limit }),
                MotorKind::Motion => Element::Motion(Motion { at, value }),
            };
            let number = if spec.motors.len() > 1 { (i + 1).to_string() } else { String::new() };
            let name = format!("{}.motor{number}", spec.name);
            elements.push((name, kind));
        }
        elements
    }

    /// False, and an error, where a motion in closed loops begins elsewhere than its joint; a warning in trees.
    fn begins_where_its_joint_is(
        &mut self,
        model: &Model,
        owner: &str,
        motor: &Motor,
        at: At,
        value: &Formula,
    ) -> bool {
        let from = model.mechanism_starts[at.mechanism as usize].q[at.coordinate as usize];
        let to = value.value_and_rate(0.0).0;
        let loops = !model.mechanisms[at.mechanism as usize].loops.is_empty();
        let message = format!("{owner}: its motion starts at {to:.9}, the joint at {from:.9}");
        let help = "give the joint the start value of the motion, or the motion that of the joint";
        if loops && (to - from).abs() > 1e-9 * to.abs().max(1.0) {
            self.fail(motor.places.entity, format!("{message}: closed loops do not follow a jump"), help);
            return false;
        }
        if (to - from).abs() > 1e-6 * to.abs().max(1.0) {
            self.warnings.push(format!("{message}: it jumps there at once. help: {help}"));
        }
        true
    }

    /// The value of a speed or motion drive as a formula of time alone.
    fn followed(&mut self, owner: &str, motor: &Motor, names: &Names) -> Option<Formula> {
        let mut lets = Vec::new();
        if let Err(reason) = self.unfold(&motor.value.text, motor.kind, &mut Vec::new(), &mut lets) {
            let message = format!("{owner}: a {} drive cannot follow {reason}", motor.kind.name());
            let help = "write a smooth function of `t`; kind = \"torque\" or \"position\" follow every signal";
            self.fail(motor.places.entity, message, help);
            return None;
        }
        let mut equations: Vec<&Equation> = lets.iter().collect();
        equations.push(&motor.value);
        let value = self.formula(owner, &equations, lets.len(), &[], names)?;
        if !value.is_of_time() {
            let other = value.inputs.iter().find(|&&source| source != Source::Time);
            let read = names.iter().find(|(_, source)| Some(*source) == other).map_or("more", |(name, _)| name);
            let message = format!(
                "{owner}: a {} drive follows a function of time, but its value reads `{read}`",
                motor.kind.name()
            );
            let help = "use kind = \"torque\" or \"position\" for a value that depends on the motion";
            self.fail(motor.places.entity, message, help);
            return None;
        }
        Some(value)
    }

    /// Equations of the signals that `text` names, each behind those it reads itself; signals that are no function of time stay
    /// names. An error says what is not smooth enough. `above` are the signals being unfolded: one that reads itself is named elsewhere.
    fn unfold(
        &self,
        text: &str,
        kind: MotorKind,
        above: &mut Vec<String>,
        lets: &mut Vec<Equation>,
    ) -> Result<(), String> {
        let Ok(tree) = Tree::parse(text) else { return Ok(()) };
        for name in tree.names() {
            let Some(signal) = self.scene.signals.iter().find(|s| s.name == *name) else { continue };
            if above.contains(name) || lets.iter().any(|l| l.name == *name) {
                continue;
            }
            let Some(text) = written(signal, kind)? else { continue };
            above.push(name.clone());
            self.unfold(&text, kind, above, lets)?;
            above.pop();
            lets.push(Equation { name: name.clone(), text, places: signal.places.clone() });
        }
        Ok(())
    }
}

/// A signal as an equation, where it is one.
fn written(signal: &Signal, kind: MotorKind) -> Result<Option<String>, String> {
    let bends = |what: &str| match kind {
        MotorKind::Motion => {
            Err(format!("signal \"{}\": a {what} bends, and the speed of the drive would jump", signal.name))
        }
        _ => Ok(()),
    };
    Ok(Some(match &signal.kind {
        SignalKind::Equation(equation) => equation.text.clone(),
        SignalKind::Sine { amplitude, frequency, phase, offset } => {
            let omega = 2.0 * std::f64::consts::PI * frequency;
            format!("({offset:e}) + ({amplitude:e})*sin(({omega:e})*t + ({phase:e}))")
        }
        SignalKind::Ramp { from, to, start, end } => {
            bends("ramp")?;
            lines("t", &[*from, *to], &[*start, *end])
        }
        SignalKind::Table { input, x, y } => {
            bends("table")?;
            lines(&input.text, x, y)
        }
        SignalKind::Pulse { .. } => return Err(format!("signal \"{}\": a pulse jumps", signal.name)),
        SignalKind::Input { .. } | SignalKind::Pid { .. } => return Ok(None),
    }))
}

/// Straight lines between points, constant outside: y0 + sum of slope_k (min(max(u, x_k), x_k+1) - x_k).
fn lines(u: &str, x: &[f64], y: &[f64]) -> String {
    let mut text = format!("({:e})", y[0]);
    for (x, y) in x.windows(2).zip(y.windows(2)) {
        let slope = (y[1] - y[0]) / (x[1] - x[0]);
        text += &format!(" + ({slope:e})*(min(max({u}, ({:e})), ({:e})) - ({:e}))", x[0], x[1], x[0]);
    }
    text
}
