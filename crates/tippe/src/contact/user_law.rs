//! A contact law that the user wrote as equations in the scene.

use super::normal::{CustomLaw, LawInput};
use crate::equation::{Input, Kind, Program, Quantity, Scope};
use crate::scene::{Law, Place, Scene, SceneError};
use std::cell::RefCell;

/// What the equations may use, in the order of [`inputs`].
const NAMES: [&str; 9] =
    ["depth", "closing_speed", "impact_speed", "radius", "modulus", "restitution", "friction", "mass", "slip_speed"];

/// Compiled equations of one law: normal force, its part at rest, and where given energy and friction.
#[derive(Debug)]
pub struct UserLaw {
    program: Program,
    energy: Option<usize>,
    friction: Option<usize>,
    outputs: usize,
}

thread_local! {
    /// Registers of the program at work on this thread; they carry nothing from call to call.
    static REGISTERS: RefCell<(usize, Vec<f64>)> = const { RefCell::new((0, Vec::new())) };
}

impl UserLaw {
    /// Compiles the law's equations; the scene's parameters are constants in them.
    pub fn compile(scene: &Scene, law: &Law) -> Result<UserLaw, SceneError> {
        let mut constants = Scope::default();
        for param in &scene.params {
            constants.push(param.name.clone(), Quantity::bare(param.value));
        }
        let inputs: Vec<Input<'_>> = NAMES.iter().map(|name| Input { name, kind: Kind::Bare }).collect();
        let mut equations: Vec<(&str, &str)> = law.lets.iter().map(|e| (e.name.as_str(), e.text.as_str())).collect();
        let first = equations.len();
        equations.push(("normal", &law.normal.text));
        let mut place_of: Vec<Place> = law.lets.iter().map(|e| e.places.entity).collect();
        place_of.push(law.normal.places.entity);
        let mut outputs = 1;
        let mut optional = |equation: &'_ Option<crate::scene::Equation>| {
            equation.as_ref().map(|e| {
                place_of.push(e.places.entity);
                outputs += 1;
                outputs - 1
            })
        };
        let energy = optional(&law.energy);
        let friction = optional(&law.friction);
        for e in [&law.energy, &law.friction].into_iter().flatten() {
            equations.push((e.name.as_str(), e.text.as_str()));
        }
        let program = Program::compile(&inputs, &constants, &equations, first).map_err(|e| {
            let place = place_of.get(e.equation).copied().unwrap_or(law.places.entity);
            scene.error(place, format!("law \"{}\": {}", law.name, e.error.message), e.error.help.clone())
        })?;
        Ok(UserLaw { program, energy, friction, outputs })
    }

    fn evaluate(&self, x: &LawInput) -> [f64; 3] {
        let inputs = [
            x.depth,
            x.closing_speed,
            x.impact_speed,
            x.radius,
            x.modulus,
            x.restitution,
            x.friction,
            x.mass,
            x.slip_speed,
        ];
        let mut outputs = [0.0; 3];
        REGISTERS.with_borrow_mut(|(owner, registers)| {
            let id = std::ptr::from_ref(self).addr();
            if *owner != id {
                *owner = id;
                *registers = self.program.registers();
            }
            self.program.eval(&inputs, registers, &mut outputs[..self.outputs]);
        });
        outputs
    }
}

impl CustomLaw for UserLaw {
    fn force(&self, contact: &LawInput) -> (f64, f64) {
        // the elastic part is the force at rest, the rest is damping
        let elastic = self.evaluate(&LawInput { closing_speed: 0.0, ..*contact })[0];
        if contact.closing_speed == 0.0 {
            return (elastic, 0.0);
        }
        (elastic, self.evaluate(contact)[0] - elastic)
    }

    fn energy(&self, contact: &LawInput) -> Option<f64> {
        self.energy.map(|k| self.evaluate(contact)[k])
    }

    fn friction(&self, contact: &LawInput) -> Option<f64> {
        self.friction.map(|k| self.evaluate(contact)[k])
    }
}
