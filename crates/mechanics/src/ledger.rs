//! The energy ledger: where every joule is, or went.
//!
//! E_kinetic + E_potential + E_elastic + sum(dissipated) - work - E(0) = residual, and the residual is numerical error
//! alone: each dissipation is integrated from its own force and velocity, never found by difference.

use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// Residual over what was turned over that calls for a warning [-].
const IMBALANCE: f64 = 1e-2;
/// The same of a single step [-].
const LEAP: f64 = 0.03;
/// Share of the energy at the start that counts as turned over where nothing moves [-].
const STANDING: f64 = 1e-4;

/// Energy of the whole model at one time [J], and what left it since the start [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Potential energy in the gravity field, zero at the world's origin [J].
    pub potential: f64,
    /// Energy stored in contacts and springs [J].
    pub elastic: f64,
    /// Lost to normal contact damping since the start [J].
    pub contact_damping: f64,
    /// Lost to sliding friction since the start [J].
    pub sliding: f64,
    /// Lost to friction of spin about the contact normal since the start [J].
    pub spin: f64,
    /// Lost to rolling resistance since the start [J].
    pub rolling: f64,
    /// Lost in springs, bushings and stops with damping since the start [J].
    pub damping: f64,
    /// Lost to dry friction of joints since the start [J].
    pub joint_friction: f64,
    /// Lost when parts were fastened together while they moved, since the start [J].
    pub fastening: f64,
    /// Lost (gained, if negative) by the integration with a fixed step itself since the start [J]; in the precise
    /// clock, whose own errors are the residual, by the hand-over between grains and bodies.
    #[serde(default)]
    pub integration: f64,
    /// Work put in by prescribed motions and applied forces since the start [J].
    pub work: f64,
    /// kinetic + potential + elastic at the start [J].
    pub initial: f64,
    /// Impulse that fixed and prescribed bodies gave the free ones through contacts since the start [N s]: with gravity's it
    /// is the change of momentum.
    pub impulse: Vec3,
}

impl std::ops::AddAssign for Ledger {
    /// Account by account.
    fn add_assign(&mut self, part: Ledger) {
        self.kinetic += part.kinetic;
        self.potential += part.potential;
        self.elastic += part.elastic;
        self.contact_damping += part.contact_damping;
        self.sliding += part.sliding;
        self.spin += part.spin;
        self.rolling += part.rolling;
        self.damping += part.damping;
        self.joint_friction += part.joint_friction;
        self.fastening += part.fastening;
        self.integration += part.integration;
        self.work += part.work;
        self.initial += part.initial;
        self.impulse += part.impulse;
    }
}

impl Ledger {
    /// The books of grains; their work is all that was ever put into them.
    pub fn of_grains(books: &tippe_granular::Ledger) -> Ledger {
        Ledger {
            kinetic: books.kinetic,
            potential: books.potential,
            elastic: books.elastic,
            contact_damping: books.losses.normal + books.losses.tangential + books.losses.cohesion,
            sliding: books.losses.friction,
            rolling: books.losses.rolling,
            work: books.put_in,
            ..Ledger::default()
        }
    }

    /// kinetic + potential + elastic [J].
    pub fn stored(&self) -> f64 {
        self.kinetic + self.potential + self.elastic
    }

    /// Everything lost since the start [J].
    pub fn dissipated(&self) -> f64 {
        self.contact_damping
            + self.sliding
            + self.spin
            + self.rolling
            + self.damping
            + self.joint_friction
            + self.fastening
            + self.integration
    }

    /// What the books do not explain [J].
    pub fn residual(&self) -> f64 {
        self.stored() + self.dissipated() - self.work - self.initial
    }

    /// Work, losses and what is held [J].
    fn turned_over(&self) -> f64 {
        let losses: f64 = self.causes().iter().map(|(_, loss)| loss.abs()).sum();
        self.work.abs() + losses + self.kinetic.abs() + self.elastic.abs() + STANDING * self.initial.abs()
    }

    /// By how much kinetic and potential energy have risen since `before` beyond the work put in and what was stored elastically [J].
    pub fn gained_since(&self, before: &Ledger) -> f64 {
        let given = before.dissipated() + before.elastic - self.dissipated() - self.elastic;
        given - before.elastic.max(0.0)
    }

    /// A warning where a step has gained a good deal of what was turned over: when it began, and how much [s], [J].
    pub fn made_in_step(&self, (time, gain): (f64, f64)) -> Option<String> {
        let turned = self.turned_over();
        (gain > LEAP * turned).then(|| {
            format!(
                "{gain:.3e} J were made of nothing in the step at t = {} s, of {turned:.3e} J turned over. help: a smaller step",
                tippe_scene::text::plain(time)
            )
        })
    }

    /// A warning where the books explain less than they should, the residual is more than a hundredth of what was turned over, or where a loss is a
    /// gain of more than that (the steps themselves may gain, and say so).
    pub fn imbalance(&self) -> Option<String> {
        let turned = self.turned_over();
        let residual = self.residual();
        if residual.abs() > IMBALANCE * turned {
            return Some(format!(
                "the energy books do not balance: {residual:.3e} J of {turned:.3e} J turned over are not explained. help: a smaller tolerance or step"
            ));
        }
        let causes = self.causes().into_iter().filter(|(cause, _)| *cause != "integration");
        let (cause, loss) = causes.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (loss < -IMBALANCE * turned).then(|| {
            format!(
                "the loss to {cause} is {loss:.3e} J: energy was made of nothing, of {turned:.3e} J turned over. help: a smaller step or tolerance"
            )
        })
    }

    /// Losses by cause, in the order they are written to files [J].
    pub fn causes(&self) -> [(&'static str, f64); 8] {
        [
            ("contact_damping", self.contact_damping),
            ("sliding", self.sliding),
            ("spin", self.spin),
            ("rolling", self.rolling),
            ("damping", self.damping),
            ("joint_friction", self.joint_friction),
            ("fastening", self.fastening),
            ("integration", self.integration),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;

    #[test]
    fn books_that_do_not_balance_say_so() {
        let balanced = Ledger { kinetic: 3.0, sliding: 2.0, work: 4.0, initial: 1.0, ..Ledger::default() };
        assert_eq!(balanced.residual(), 0.0);
        assert_eq!(balanced.imbalance(), None);
        let rounding = Ledger { potential: 100.0 + 1e-9, initial: 100.0, ..Ledger::default() };
        assert_eq!(rounding.imbalance(), None);
        let wrong = Ledger { kinetic: 3.2, ..balanced };
        let text = wrong.imbalance().expect("a fiftieth is too much");
        assert!(text.contains("2.000e-1 J"), "{text}");
        assert_eq!(Ledger::default().imbalance(), None);
        let made = Ledger { kinetic: 5.0, contact_damping: -2.0, work: 2.0, initial: 1.0, ..Ledger::default() };
        assert_eq!(made.residual(), 0.0);
        let text = made.imbalance().expect("a gain is no loss");
        assert!(text.contains("contact_damping is -2.000e0 J"), "{text}");
    }

    /// What one contact loses does not hide what a step makes elsewhere, and springs that let go make nothing.
    #[test]
    fn a_step_that_makes_energy_is_named() {
        let before = Ledger { kinetic: 1.0, elastic: 0.25, contact_damping: 5.0, initial: 6.25, ..Ledger::default() };
        let let_go = Ledger { kinetic: 1.25, elastic: 0.0, ..before };
        let pushed = Ledger { kinetic: 3.0, work: 2.0, ..before };
        let made = Ledger { kinetic: 2.0, contact_damping: 4.0, ..before };
        for (after, gain) in [(let_go, 0.0), (pushed, -0.25), (made, 0.75)] {
            assert_eq!((after.residual(), after.gained_since(&before)), (0.0, gain));
        }
        assert_eq!(made.imbalance(), None);
        let text = made.made_in_step((0.25, 0.75)).expect("a tenth is too much");
        assert!(text.starts_with("7.500e-1 J were made of nothing in the step at t = 0.25 s"), "{text}");
        assert_eq!(made.made_in_step((0.25, 0.01)), None);
    }
}
