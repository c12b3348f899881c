//! Motors on the coordinates of joints, and what their speeds and motions follow.
//!
//! A speed or motion drive needs the rates of its value, so the value must be a function of time: signals of time that it names are
//! put in its place.

use super::Model;
use super::compile::Compiler;
use super::forces::Names;
use crate::element::{At, Element, ElementMode};
use crate::network::{Formula, Source};
use tippe_parts::signal::{self, Followed};
use tippe_scene::equation::Tree;
use tippe_scene::{Equation, Part};

impl Compiler<'_> {
    /// False, and an error, where a motion in closed loops begins elsewhere than its joint; a warning in trees.
    pub(super) fn begins_where_its_joint_is(
        &mut self,
        model: &Model,
        owner: &str,
        motor: &Part,
        at: At,
        element: &Element,
    ) -> bool {
        let from = model.mechanism_starts[at.mechanism as usize].q[at.coordinate as usize];
        let Some((Some(to), _)) = element.follow(0.0, ElementMode::default()) else { return true };
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
    pub(super) fn followed(
        &mut self,
        owner: &str,
        motor: &Part,
        value: &Equation,
        smooth: bool,
        names: &Names,
    ) -> Option<Formula> {
        let mut lets = Vec::new();
        if let Err(reason) = self.unfold(&value.text, smooth, &mut Vec::new(), &mut lets) {
            let message = format!("{owner}: a {} drive cannot follow {reason}", motor.kind.word);
            let help = "write a smooth function of `t`; kind = \"torque\" or \"position\" follow every signal";
            self.fail(motor.places.entity, message, help);
            return None;
        }
        let mut equations: Vec<&Equation> = lets.iter().collect();
        equations.push(value);
        let value = self.formula(owner, &equations, lets.len(), &[], names)?;
        if !value.is_of_time() {
            let other = value.inputs.iter().find(|&&source| source != Source::Time);
            let read = names.iter().find(|(_, source)| Some(*source) == other).map_or("more", |(name, _)| name);
            let message = format!(
                "{owner}: a {} drive follows a function of time, but its value reads `{read}`",
                motor.kind.word
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
        smooth: bool,
        above: &mut Vec<String>,
        lets: &mut Vec<Equation>,
    ) -> Result<(), String> {
        let Ok(tree) = Tree::parse(text) else { return Ok(()) };
        for name in tree.names() {
            let Some(signal) = self.scene.signals.iter().find(|s| s.name == *name) else { continue };
            if above.contains(name) || lets.iter().any(|l| l.name == *name) {
                continue;
            }
            let Some(text) = written(signal, smooth)? else { continue };
            above.push(name.clone());
            self.unfold(&text, smooth, above, lets)?;
            above.pop();
            lets.push(Equation { name: name.clone(), text, places: signal.places.clone() });
        }
        Ok(())
    }
}

/// A signal as an equation, where it is one.
fn written(signal: &Part, smooth: bool) -> Result<Option<String>, String> {
    let Some(spec) = signal::named(signal.kind.word) else { return Ok(None) };
    let (name, word) = (&signal.name, spec.kind.word);
    match spec.followed {
        Followed::Smooth(text) => Ok(Some(text(signal))),
        Followed::Bends(_) if smooth => {
            Err(format!("signal \"{name}\": a {word} bends, and the speed of the drive would jump"))
        }
        Followed::Bends(text) => Ok(Some(text(signal))),
        Followed::Jumps => Err(format!("signal \"{name}\": a {word} jumps")),
        Followed::Not => Ok(None),
    }
}
