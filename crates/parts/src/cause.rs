//! Where energy goes, and where it comes from: the causes, each an account of the energy ledger.
//!
//! A new cause is one line here. Columns of files, signals `energy.NAME`, the viewer's table and Python read this list.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::{AddAssign, Index, IndexMut};

/// The two lists of causes, each line with what it counts and its word in files.
macro_rules! causes {
    (lost { $($(#[$loss_text:meta])+ $loss:ident = $loss_name:literal,)+ }
     given { $($(#[$gift_text:meta])+ $gift:ident = $gift_name:literal,)+ }) => {
        /// Why energy left the machine or entered it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause {
            $($(#[$loss_text])+ $loss,)+
            $($(#[$gift_text])+ $gift,)+
        }

        impl Cause {
            /// Causes of losses, in the order they are written to files.
            pub const LOST: &'static [Cause] = &[$(Cause::$loss,)+];
            /// Causes of energy put in, in the order they are written to files, behind the losses.
            pub const GIVEN: &'static [Cause] = &[$(Cause::$gift,)+];
            /// All causes, in the order they are written to files.
            pub const ALL: [Cause; Cause::COUNT] = [$(Cause::$loss,)+ $(Cause::$gift,)+];
            /// How many there are.
            pub const COUNT: usize = Cause::LOST.len() + Cause::GIVEN.len();

            /// Word in files and messages, and after `energy.` in signals.
            pub fn name(self) -> &'static str {
                match self {
                    $(Cause::$loss => $loss_name,)+
                    $(Cause::$gift => $gift_name,)+
                }
            }
        }
    };
}

causes! {
    lost {
        /// Lost to normal contact damping.
        ContactDamping = "contact_damping",
        /// Lost to sliding friction.
        Sliding = "sliding",
        /// Lost to friction of spin about the contact normal.
        Spin = "spin",
        /// Lost to rolling resistance.
        Rolling = "rolling",
        /// Lost to the slip of tyres; what their carcasses hold for a while along the road is in it.
        TyreSlip = "tyre_slip",
        /// Lost in the dampers of force elements and stops.
        Damping = "damping",
        /// Lost to the damping of flexible bodies.
        StructuralDamping = "structural_damping",
        /// Lost to dry friction of joints.
        JointFriction = "joint_friction",
        /// Lost to friction of cables over rings, sheaves and bearings of pulleys.
        CableFriction = "cable_friction",
        /// Lost to drag of water and air, and to its friction along bodies.
        Drag = "drag",
        /// Lost where a body that moves goes into water or comes out: what it took along changes.
        Slamming = "slamming",
        /// Lost in clutches, locks of differentials and synchronisers.
        Clutch = "clutch",
        /// Lost in brakes.
        Brake = "brake",
        /// Lost in shafts, gears, converters and hydraulic lines.
        Driveline = "driveline",
        /// Lost where tools cut soil, and pushed it.
        Cutting = "cutting",
        /// Lost where bodies press and shear the ground.
        Compaction = "compaction",
        /// Lost by soil that slides down.
        SlidingSoil = "sliding_soil",
        /// Lost when cables broke.
        Breaking = "breaking",
        /// Lost when parts were fastened together while they moved.
        Fastening = "fastening",
        /// Lost (gained, if negative) by the integration with a fixed step itself; in the precise clock, whose own errors
        /// are the residual, by the hand-over between subsystems and bodies.
        Integration = "integration",
    }
    given {
        /// Put in by motors and prescribed motions.
        Work = "work",
        /// Put in by engines and electric motors.
        Engine = "engine_work",
        /// Put in by forces and torques that equations apply to bodies.
        Loads = "load_work",
    }
}

impl Cause {
    /// True if its energy was lost, false if it was put in.
    pub fn is_loss(self) -> bool {
        Cause::LOST.contains(&self)
    }

    /// The cause with this word.
    pub fn named(name: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.name() == name)
    }
}

/// An energy for every cause [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accounts([f64; Cause::COUNT]);

impl Accounts {
    /// These energies [J], and zero for all other causes.
    pub fn of(entries: impl IntoIterator<Item = (Cause, f64)>) -> Accounts {
        let mut accounts = Accounts::default();
        for (cause, energy) in entries {
            accounts[cause] = energy;
        }
        accounts
    }

    /// Sum over some causes, in their order [J].
    pub fn sum(&self, causes: &[Cause]) -> f64 {
        // minus zero is what changes no bit of what is added to it
        causes.iter().fold(-0.0, |sum, &cause| sum + self[cause])
    }
}

impl Index<Cause> for Accounts {
    type Output = f64;

    fn index(&self, cause: Cause) -> &f64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Accounts {
    fn index_mut(&mut self, cause: Cause) -> &mut f64 {
        &mut self.0[cause as usize]
    }
}

impl AddAssign for Accounts {
    fn add_assign(&mut self, other: Accounts) {
        for (sum, energy) in self.0.iter_mut().zip(other.0) {
            *sum += energy;
        }
    }
}

/// In files: a table with one number for each cause [J], by name.
impl Serialize for Accounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Cause::ALL.map(|cause| (cause.name(), self[cause])))
    }
}

/// A cause that an older file does not have is zero.
impl<'de> Deserialize<'de> for Accounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Accounts, D::Error> {
        let energies = BTreeMap::<String, f64>::deserialize(deserializer)?;
        Ok(Accounts::of(energies.iter().filter_map(|(name, energy)| Some((Cause::named(name)?, *energy)))))
    }
}

#[cfg(test)]
mod tests {
    use super::{Accounts, Cause};

    #[test]
    fn every_cause_has_its_own_name_and_place() {
        for (k, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, k);
            assert_eq!(Cause::named(cause.name()), Some(cause));
        }
        let mut accounts = Accounts::of([(Cause::Sliding, 2.0), (Cause::Work, 4.0)]);
        accounts += Accounts::of([(Cause::Sliding, 1.0)]);
        assert_eq!((accounts.sum(Cause::LOST), accounts.sum(Cause::GIVEN)), (3.0, 4.0));
    }
}
