//! What goes wrong in a step: states that are not finite, motions that jump.

use super::Clock;
use super::failure::Failure;
use tippe_geometry::Mat3;
use tippe_mechanics::foreign::OutsideFailure;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::kinetic;

impl Clock {
    /// Remembers the first motion that jumped in the last step: it went more than its largest speed there, twice over,
    /// explains.
    pub(super) fn watch_motions(&mut self) {
        if self.shown.tally.jump.is_some() {
            return;
        }
        let (h, end) = (self.h, self.state.time);
        for (k, element) in self.model.elements.iter().enumerate() {
            if let Some(way) = element.kind.jump(end, h) {
                self.shown.tally.jump = Some((end, k, way));
                return;
            }
        }
    }

    /// Units of others and foreign colliders that no longer answer end the run.
    fn check_outside(&self) -> Result<(), Failure> {
        let (kind, name, what) = match self.model.outside_failure() {
            None => return Ok(()),
            Some(OutsideFailure::Unit(name, why)) => {
                ("component", name, format!("is a unit that has failed; {why}. help: run it alone: tippe fmu run"))
            }
            Some(OutsideFailure::Collider(name, why)) => (
                "body",
                name,
                format!("touches by a foreign collider that has failed; it {why}. help: ask the function alone"),
            ),
        };
        Err(Failure { time: self.state.time, kind, name, what })
    }

    /// Finite, or a failure that says who is not.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let (time, step) = (self.state.time, self.h);
        self.check_outside()?;
        let states = &self.state.actions.states;
        if let Some(k) = states.iter().position(|x| !x.is_finite()) {
            let state = &self.model.states[k];
            return Err(Failure {
                time,
                kind: state.kind,
                name: state.owner.clone(),
                what: format!(
                    "has a state that is not a finite number: {} is {} (step {step:.3e} s). help: look for a division by zero or a \
                     state that grows without bound in its equations, or use a smaller step",
                    state.name, states[k]
                ),
            });
        }
        let lost = |b: usize, what: &str| {
            let what = format!(
                "has {what} that is not a finite number (step {step:.3e} s). help: look for forces that grow without bound, or use a \
                 smaller step"
            );
            Err(Failure { time, kind: "body", name: self.model.bodies[b].name.clone(), what })
        };
        for (b, s) in self.state.bodies.iter().enumerate() {
            if !(s.p.is_finite() && s.v.is_finite() && s.w.is_finite() && s.q.is_finite()) {
                return lost(b, "a position or velocity");
            }
            if self.is_free(b) {
                let kin = Kinematics { p: s.p, v: s.v, w: s.w, R: Mat3::from_quat(s.q) };
                let body = &self.model.bodies[b];
                if !(kinetic(body, &kin) + body.mass * self.model.potential_at(s.p)).is_finite() {
                    return lost(b, "a kinetic or potential energy");
                }
            }
        }
        let books = &self.state.ledger;
        if !(books.dissipated() - books.put_in()).is_finite() {
            // the fastest body, where nobody is lost yet
            let speed = |b: &usize| self.state.bodies[*b].v.length();
            let fastest = (0..self.state.bodies.len()).max_by(|a, b| speed(a).total_cmp(&speed(b)));
            return fastest.map_or(Ok(()), |b| lost(b, "work or a loss in the books"));
        }
        Ok(())
    }
}
