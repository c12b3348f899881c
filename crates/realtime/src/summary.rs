//! Counts of a run, and its summary.

use super::Clock;
use std::collections::BTreeMap;
use tippe_mechanics::Ledger;
use tippe_mechanics::event::EventKind;
use tippe_mechanics::observe::{MechanismSummary, Solutions, Summary, hash};
use tippe_scene::text::plain;

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Solutions of partitions.
    pub solutions: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// First motion that jumped: end of the step [s], element, how far [m or rad].
    pub jump: Option<(f64, usize, f64)>,
    /// Solutions that did not converge.
    pub unconverged: u64,
    /// Solutions by sweeps.
    pub swept: u64,
    /// Solutions with parts kept apart, with block pivoting, with Lemke's method.
    pub special: [u64; 3],
    /// Pairs of shapes tested for contact, and those that pushed, step by step.
    pub pairs: u64,
    /// See `pairs`.
    pub contacts: u64,
    /// Events so far.
    pub events: u64,
    /// Next communication point.
    pub next: u64,
    /// Partitions that slept, step by step.
    pub slept: u64,
    /// The first body that travelled more than its size in a step: when, who, how far [m].
    pub fast: Option<(f64, usize, f64)>,
    /// The first body with a mesh that moved much farther than contacts were looked for: when, who, how far, how far it
    /// was looked [m].
    pub blind: Option<(f64, usize, [f64; 2])>,
    /// The first pair of surfaces of which one passed the middle of the other: when, which elements, how deep [m].
    pub beyond: Option<(f64, (u32, u32), f64)>,
    /// The step that gained most energy without work: when, how much [J].
    pub gain: (f64, f64),
    /// The first slender body that rows turned far in a step: when, who, how far [rad].
    pub whirl: Option<(f64, usize, f64)>,
    /// Elements with springs that the step damps: which, and h omega of the fastest [-].
    pub damped: BTreeMap<usize, f64>,
    /// Elements whose effort answers faster than the step: which, and h over the time in which it does, at its fastest [-].
    pub hasty: BTreeMap<usize, f64>,
}

impl Clock {
    /// Counts and the last sample so far.
    pub fn summary(&mut self) -> Summary {
        if self.shown.summary.bodies.is_empty() {
            // no step was left to make: the end is the start
            self.sample(&mut ());
        }
        let mut summary = self.shown.summary.clone();
        summary.stopped = self.shown.stopped;
        summary.mechanisms = (self.model.mechanisms.iter().zip(&self.model.mechanism_starts).zip(&self.machines))
            .map(|((mechanism, start), machine)| MechanismSummary {
                bodies: mechanism.links.iter().map(|l| self.model.bodies[l.body as usize].name.clone()).collect(),
                coordinates: mechanism.coordinates,
                rows: start.rows,
                redundant: start.redundant,
                freedom: (mechanism.coordinates + start.redundant).saturating_sub(start.rows),
                drift: machine.drift,
            })
            .collect();
        summary.hash = hash(&summary.bodies, &summary.energy);
        let mut of_subsystem = Summary::default();
        if let (Some(subsystems), Some(records)) = (&self.subsystems, &self.state.subsystems) {
            subsystems.summarise(&self.model, records, &mut of_subsystem);
        }
        summary.grains = of_subsystem.grains;
        summary.hash ^= of_subsystem.hash;
        summary.solutions = Solutions {
            direct: self.shown.tally.solutions - self.shown.tally.swept,
            swept: self.shown.tally.swept,
            kept_apart: self.shown.tally.special[0],
            pivoted: self.shown.tally.special[1],
            lemke: self.shown.tally.special[2],
            factorisations: self.shown.tally.factorisations,
            unconverged: self.shown.tally.unconverged,
            pairs: self.shown.tally.pairs,
            contacts: self.shown.tally.contacts,
        };
        summary.steps_by_integrator.insert("realtime".to_owned(), self.shown.summary.steps);
        summary.warnings = self.warnings(&summary.energy, of_subsystem.warnings);
        for kind in [EventKind::ContactStart, EventKind::ContactEnd] {
            summary.events.entry(kind).or_default();
        }
        summary
    }

    /// Warnings of the model and of the run.
    fn warnings(&self, energy: &Ledger, of_subsystem: Vec<String>) -> Vec<String> {
        let (model, tally) = (&self.model.clone(), &self.shown.tally);
        let mut warnings = model.warnings.clone();
        if model.is_booked() {
            warnings.extend(energy.imbalance());
            warnings.extend(energy.made_in_step(tally.gain));
        }
        if let Some((time, body, turn)) = tally.whirl {
            warnings.push(format!(
                "body \"{}\" is turned by {turn:.2} rad in the step at t = {} s by contacts or joints: energy and angular \
                 momentum may be off. help: use a smaller step",
                model.bodies[body].name,
                plain(time)
            ));
        }
        warnings.extend(of_subsystem);
        if tally.unconverged > 0 {
            warnings.push(format!(
                "{} of {} solutions did not converge: the best point found was taken",
                tally.unconverged, tally.solutions
            ));
        }
        if let Some((time, element, way)) = tally.jump {
            warnings.push(format!(
                "{}: its motion jumps by {way:.3e} (m or rad) in the step that ends at t = {} s: velocity \
                 and force of the jump are not resolved. help: write a smooth function of `t`",
                model.elements[element].name,
                plain(time)
            ));
        }
        warnings.extend(self.damped_springs());
        warnings.extend(self.hasty_efforts());
        if let Some((time, body, far)) = tally.fast {
            warnings.push(format!(
                "body \"{}\" travels {far:.2e} m in the step at t = {} s, more than its size {:.2e} m: use a smaller step",
                model.bodies[body].name,
                plain(time),
                model.bodies[body].size
            ));
        }
        if let Some((time, body, [far, looked])) = tally.blind {
            warnings.push(format!(
                "body \"{}\" moves {far:.3e} m in the step at t = {} s, and contacts of its mesh were looked for up to \
                 {looked:.3e} m: it may pass through thin parts. help: use a smaller step",
                model.bodies[body].name,
                plain(time)
            ));
        }
        warnings.extend(tally.beyond.map(|beyond| model.pressed_through(beyond)));
        warnings
    }

    /// Efforts that answer to the motion faster than the step.
    fn hasty_efforts(&self) -> Option<String> {
        let hasty = &self.shown.tally.hasty;
        let (&element, &share) = hasty.iter().max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, share)| **share > 1.0)?;
        let others = match hasty.len() {
            1 => String::new(),
            n => format!(" (the fastest of {n} such elements)"),
        };
        Some(format!(
            "\"{}\"{others} answers to the motion within {:.1e} s, and a step is {} s: its effort is that of the end of the step, and \
             what is that fast is damped. help: a shorter step follows it",
            self.model.elements[element].name,
            self.h / share,
            plain(self.h)
        ))
    }

    /// Springs that are faster than the step.
    fn damped_springs(&self) -> Option<String> {
        let damped = &self.shown.tally.damped;
        let (&element, &turn) = damped.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        let name = &self.model.elements[element].name;
        let others = match damped.len() {
            1 => String::new(),
            n => format!(" (the fastest of {n} such elements)"),
        };
        Some(format!(
            "\"{name}\"{others} could swing by {turn:.3} rad in a step of {} s: the step damps what is that fast. help: a step \
             below {:.1e} s keeps its energy; damped_by_step = true says that it need not",
            plain(self.h),
            self.h / turn
        ))
    }
}
