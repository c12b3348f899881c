//! A contact law that the user wrote as equations in the scene.

use std::cell::RefCell;
use tippe_parts::contact::normal::{CustomLaw, LawInput, NormalForce};
use tippe_scene::equation::Program;
use tippe_scene::{LAW_INPUTS, Law, Scene, SceneError};

/// Place of the closing speed among the inputs.
const CLOSING_SPEED: usize = 1;

/// Compiled equations of one law: normal force, and where given energy and friction.
#[derive(Debug)]
pub struct UserLaw {
    program: Program,
    energy: Option<usize>,
    friction: Option<usize>,
    outputs: usize,
    /// Registers the program needs.
    room: usize,
    /// True when the normal force depends on the closing speed.
    damped: bool,
    restitution: f64,
    k_red: f64,
}

thread_local! {
    /// Registers of whichever program is at work on this thread; nothing in them survives a call.
    static REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl UserLaw {
    /// Compiles the law's equations for a pair with this restitution and k_red; the scene's parameters are constants.
    pub fn compile(scene: &Scene, law: &Law, restitution: f64, k_red: f64) -> Result<UserLaw, SceneError> {
        let program = law.compile(scene)?;
        let energy = law.energy.as_ref().map(|_| 1);
        let friction = law.friction.as_ref().map(|_| 1 + usize::from(energy.is_some()));
        Ok(UserLaw {
            outputs: 1 + usize::from(energy.is_some()) + usize::from(friction.is_some()),
            room: program.registers().len(),
            damped: program.uses(CLOSING_SPEED),
            energy,
            friction,
            program,
            restitution,
            k_red,
        })
    }

    fn evaluate(&self, x: &LawInput) -> [f64; 3] {
        let inputs: [f64; LAW_INPUTS.len()] = [
            x.depth,
            x.closing_speed,
            x.impact_speed,
            x.radius,
            x.modulus,
            self.restitution,
            x.friction,
            x.mass,
            x.slip_speed,
            self.k_red,
        ];
        let mut outputs = [0.0; 3];
        REGISTERS.with_borrow_mut(|registers| {
            if registers.len() < self.room {
                registers.resize(self.room, 0.0);
            }
            self.program.eval(&inputs, &mut registers[..self.room], &mut outputs[..self.outputs]);
        });
        outputs
    }
}

impl CustomLaw for UserLaw {
    fn force(&self, contact: &LawInput) -> NormalForce {
        // the elastic part is the force at rest, the rest is damping
        let at_rest = self.evaluate(&LawInput { closing_speed: 0.0, ..*contact });
        let elastic = at_rest[0];
        let damping =
            if self.damped && contact.closing_speed != 0.0 { self.evaluate(contact)[0] - elastic } else { 0.0 };
        NormalForce { elastic, damping, energy: self.energy.map_or(f64::NAN, |k| at_rest[k]) }
    }

    fn friction(&self, contact: &LawInput) -> Option<f64> {
        self.friction.map(|k| self.evaluate(contact)[k])
    }
}
