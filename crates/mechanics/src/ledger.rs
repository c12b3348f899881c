//! The energy ledger: where every joule is, or went.
//!
//! E_kinetic + E_potential + E_elastic + sum(dissipated) - work - E(0) = residual, and the residual is numerical error
//! alone: each dissipation is integrated from its own force and velocity, never found by difference.

use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Index, IndexMut};
use tippe_geometry::Vec3;
use tippe_parts::cause::{Accounts, Cause};

/// Residual over what was turned over that calls for a warning [-].
const IMBALANCE: f64 = 1e-2;
/// The same of a single step [-].
const LEAP: f64 = 0.03;
/// Share of the energy at the start that counts as turned over where nothing moves [-].
const STANDING: f64 = 1e-4;

/// Energy of the whole model at one time [J], and what left or entered it since the start [J]: `ledger[Cause::Sliding]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Potential energy in the gravity field, zero at the world's origin [J].
    pub potential: f64,
    /// Energy stored in contacts and springs [J].
    pub elastic: f64,
    /// What was lost, or put in, since the start, by cause [J].
    #[serde(flatten)]
    pub accounts: Accounts,
    /// kinetic + potential + elastic at the start [J].
    pub initial: f64,
    /// Impulse that fixed and prescribed bodies gave the free ones through contacts since the start [N s]: with gravity's it
    /// is the change of momentum.
    pub impulse: Vec3,
}

impl Index<Cause> for Ledger {
    type Output = f64;

    fn index(&self, cause: Cause) -> &f64 {
        &self.accounts[cause]
    }
}

impl IndexMut<Cause> for Ledger {
    fn index_mut(&mut self, cause: Cause) -> &mut f64 {
        &mut self.accounts[cause]
    }
}

impl AddAssign for Ledger {
    /// Account by account.
    fn add_assign(&mut self, part: Ledger) {
        self.kinetic += part.kinetic;
        self.potential += part.potential;
        self.elastic += part.elastic;
        self.accounts += part.accounts;
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
            accounts: Accounts::of([
                (Cause::ContactDamping, books.losses.normal + books.losses.tangential + books.losses.cohesion),
                (Cause::Sliding, books.losses.friction),
                (Cause::Rolling, books.losses.rolling),
                (Cause::Work, books.put_in),
            ]),
            ..Ledger::default()
        }
    }

    /// kinetic + potential + elastic [J].
    pub fn stored(&self) -> f64 {
        self.kinetic + self.potential + self.elastic
    }

    /// Everything lost since the start [J].
    pub fn dissipated(&self) -> f64 {
        self.accounts.sum(Cause::LOST)
    }

    /// Everything put in since the start [J].
    pub fn put_in(&self) -> f64 {
        self.accounts.sum(Cause::GIVEN)
    }

    /// What the books do not explain [J].
    pub fn residual(&self) -> f64 {
        self.stored() + self.dissipated() - self.put_in() - self.initial
    }

    /// Work, losses and what is held [J].
    fn turned_over(&self) -> f64 {
        let size = |causes: &[Cause]| causes.iter().map(|&cause| self[cause].abs()).sum::<f64>();
        size(Cause::GIVEN) + size(Cause::LOST) + self.kinetic.abs() + self.elastic.abs() + STANDING * self.initial.abs()
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
        let losses =
            Cause::LOST.iter().filter(|&&cause| cause != Cause::Integration).map(|&cause| (cause, self[cause]));
        let (cause, loss) = losses.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (loss < -IMBALANCE * turned).then(|| {
            format!(
                "the loss to {} is {loss:.3e} J: energy was made of nothing, of {turned:.3e} J turned over. help: a smaller step or tolerance",
                cause.name()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Accounts, Cause, Ledger};

    #[test]
    fn books_that_do_not_balance_say_so() {
        let balanced = Ledger {
            kinetic: 3.0,
            accounts: Accounts::of([(Cause::Sliding, 2.0), (Cause::Work, 4.0)]),
            initial: 1.0,
            ..Ledger::default()
        };
        assert_eq!(balanced.residual(), 0.0);
        assert_eq!(balanced.imbalance(), None);
        let rounding = Ledger { potential: 100.0 + 1e-9, initial: 100.0, ..Ledger::default() };
        assert_eq!(rounding.imbalance(), None);
        let wrong = Ledger { kinetic: 3.2, ..balanced };
        let text = wrong.imbalance().expect("a fiftieth is too much");
        assert!(text.contains("2.000e-1 J"), "{text}");
        assert_eq!(Ledger::default().imbalance(), None);
        let made = Ledger {
            kinetic: 5.0,
            accounts: Accounts::of([(Cause::ContactDamping, -2.0), (Cause::Work, 2.0)]),
            initial: 1.0,
            ..Ledger::default()
        };
        assert_eq!(made.residual(), 0.0);
        let text = made.imbalance().expect("a gain is no loss");
        assert!(text.contains("contact_damping is -2.000e0 J"), "{text}");
    }

    /// What one contact loses does not hide what a step makes elsewhere, and springs that let go make nothing.
    #[test]
    fn a_step_that_makes_energy_is_named() {
        let before = Ledger {
            kinetic: 1.0,
            elastic: 0.25,
            accounts: Accounts::of([(Cause::ContactDamping, 5.0)]),
            initial: 6.25,
            ..Ledger::default()
        };
        let let_go = Ledger { kinetic: 1.25, elastic: 0.0, ..before };
        let pushed = Ledger {
            kinetic: 3.0,
            accounts: Accounts::of([(Cause::ContactDamping, 5.0), (Cause::Work, 2.0)]),
            ..before
        };
        let made = Ledger { kinetic: 2.0, accounts: Accounts::of([(Cause::ContactDamping, 4.0)]), ..before };
        for (after, gain) in [(let_go, 0.0), (pushed, -0.25), (made, 0.75)] {
            assert_eq!((after.residual(), after.gained_since(&before)), (0.0, gain));
        }
        assert_eq!(made.imbalance(), None);
        let text = made.made_in_step((0.25, 0.75)).expect("a tenth is too much");
        assert!(text.starts_with("7.500e-1 J were made of nothing in the step at t = 0.25 s"), "{text}");
        assert_eq!(made.made_in_step((0.25, 0.01)), None);
    }
}
