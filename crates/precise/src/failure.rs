//! Why a simulation stopped before its end.

use tippe_mechanics::subsystem::SubsystemKind;

/// Why a simulation stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The step shrank to nothing.
    StepTooSmall,
    /// A position or velocity is no longer a finite number.
    NotFinite,
    /// Events without end at one instant.
    Storm,
    /// Steps without end in one horizon.
    Stall,
    /// A body leaves every box it is given.
    Runaway,
    /// A functional mock-up unit of the scene has failed.
    Unit,
    /// A foreign collider has failed.
    Collider,
    /// A subsystem that follows the bodies cannot go on.
    Subsystem(SubsystemKind),
}

/// A simulation that could not go on: when, who, how much, what to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// When [s].
    pub time: f64,
    /// The step that was tried [s].
    pub step: f64,
    /// What happened.
    pub trouble: Trouble,
    /// The body that asked for the smallest step.
    pub body: String,
    /// The component that asked for it instead, if one did.
    pub component: Option<String>,
    /// The most loaded contact of its island, the joint the body hangs by, the force element that acts on it most: in
    /// words.
    pub suspects: Vec<String>,
    /// Bodies of its island touch or may touch.
    pub contacts: bool,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (what, help) = match self.trouble {
            Trouble::StepTooSmall if self.contacts => (
                "needs steps too small to go on",
                "look at its contact parameters (a jump in a law?), loosen the tolerance, or lower k_red",
            ),
            Trouble::StepTooSmall => (
                "needs steps too small to go on",
                "look at the forces on it (a jump, a pole?) and at its joints (a linkage that jams or folds?), or loosen the tolerance",
            ),
            Trouble::NotFinite => (
                "has a position or velocity that is not a finite number",
                "use a smaller step or integrator = \"auto\"",
            ),
            Trouble::Storm => {
                ("has events without end at one instant", "use another friction law, or a lower tolerance")
            }
            Trouble::Stall if self.contacts => (
                "needs millions of steps for next to no time",
                "look at its friction (slip that hardly moves?), loosen the tolerance, or lower k_red",
            ),
            Trouble::Stall => (
                "needs millions of steps for next to no time",
                "look for fast vibrations and for friction of joints that hardly move, or loosen the tolerance",
            ),
            Trouble::Subsystem(kind) => kind.trouble(),
            Trouble::Unit => ("is a unit that has failed", "run it alone: tippe fmu run"),
            Trouble::Collider => ("touches by a foreign collider that has failed", "ask the function alone"),
            Trouble::Runaway => ("leaves every box it is given", "look for forces that grow without bound"),
        };
        let (whose, name, what, help) = match &self.component {
            Some(name) if self.trouble == Trouble::Unit => ("component ", name, what, help),
            Some(name) => {
                let what =
                    if self.trouble == Trouble::NotFinite { "has a state that is not a finite number" } else { what };
                let help = "look for a division by zero or a state that grows without bound in its equations";
                ("component ", name, what, help)
            }
            None if matches!(self.trouble, Trouble::Subsystem(_)) => ("", &self.body, what, help),
            None => ("body ", &self.body, what, help),
        };
        write!(
            f,
            "at t = {} s {whose}\"{name}\" {what} (step {:.3e} s)",
            tippe_scene::text::plain(self.time),
            self.step
        )?;
        for suspect in &self.suspects {
            write!(f, "; {suspect}")?;
        }
        write!(f, ". help: {help}")
    }
}

impl std::error::Error for Failure {}
