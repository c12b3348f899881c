//! The books of a step: energies of rows by cause, and what the fixed step itself loses or makes, by name.

use super::Clock;
use super::rates::dot;
use super::rows::Owner;
use tippe_mechanics::Ledger;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::kinetic;
use tippe_numerics::kkt::GROUND;
use tippe_numerics::mlcp::Method;

impl Clock {
    /// The step's energies by cause. For constant masses
    ///   M (u+ - u0) = P_free + J^T lambda   means   T+ - T0 = (P_free + J^T lambda) . (u+ + u0)/2,
    /// so each row's energy is lambda (J u+ + J u0)/2, and what the fixed step makes of the rest is booked by name.
    /// Rows of contacts are booked already, where they are read ([`Clock::remember`]).
    pub(super) fn book(&mut self) {
        let (velocity, mean) = (std::mem::take(&mut self.solved.velocity), std::mem::take(&mut self.solved.mean));
        let mut ledger = self.state.ledger;
        let [mut elastic_before, mut elastic] = self.remembered.elastic;
        self.book_rows(&mean, &mut ledger);
        self.book_elements(&mean, &mut ledger, &mut elastic, &mut elastic_before);
        self.book_free_motion(&velocity, &mean, &mut ledger);
        self.book_bending(&mut ledger, &mut elastic, &mut elastic_before);
        ledger[Cause::Integration] -= elastic_before - ledger.elastic;
        ledger.elastic = elastic;
        self.book_loads(&mean, &mut ledger);
        self.book_subsystem(&mean, &mut ledger);
        self.state.ledger = ledger;
        let gain = ledger.gained_since(&self.struck.ledger_at_start);
        if gain > self.shown.tally.gain.1 {
            self.shown.tally.gain = (self.state.time - self.h, gain);
        }
        (self.solved.velocity, self.solved.mean) = (velocity, mean);
        self.count_solutions();
    }

    /// Work of the rows of taut chains and hooks.
    fn book_rows(&self, mean: &[Six], ledger: &mut Ledger) {
        for k in self.rows.contacts..self.rows.rows.len() {
            let row = &self.rows.rows[k];
            let own: f64 =
                (0..2).filter(|&s| row.bodies[s] != GROUND).map(|s| dot(&row.J[s], mean[row.bodies[s] as usize])).sum();
            let work = row.lambda * (own + row.given);
            ledger[Cause::Work] -= row.lambda * row.given;
            match self.rows.owners[k] {
                Owner::Bend => ledger[Cause::Damping] -= work,
                Owner::Subsystem(k) => ledger[self.subsystem_cause(k)] -= work,
                Owner::Custom(_) => ledger[Cause::Work] += work,
                _ => {}
            }
        }
        for (k, tie) in self.rows.ties.iter().enumerate() {
            let along = if tie.pushes.is_empty() { tie.ends } else { tie.pushes };
            let ends = along.of(&self.rows.ends).iter();
            let own: f64 = ends.map(|end| dot(&end.row(0), mean[end.body as usize])).sum();
            let work = tie.lambda[0] * (own + self.rows.tie_given[k]);
            ledger[Cause::Work] -= tie.lambda[0] * self.rows.tie_given[k];
            if let Owner::Custom(_) = self.rows.tie_owners[k] {
                ledger[Cause::Work] += work;
            }
        }
    }

    /// Free motion: gravity is potential, loads are work, the rest is the step's own.
    fn book_free_motion(&self, velocity: &[Six], mean: &[Six], ledger: &mut Ledger) {
        for b in 0..self.model.bodies.len() {
            if !self.is_free(b) {
                continue;
            }
            let (body, path) = (&self.model.bodies[b], &self.paths[b]);
            let R = &path.orientation_for_rows();
            let change = path.free_velocity_for_rows() - path.velocity();
            let turned = (R.transpose() * mean[b].angular).dot(body.I_c * (R.transpose() * change.angular));
            let external = turned + body.mass * mean[b].linear.dot(change.linear);
            let pushed = self.h * self.loads[b].dot(&mean[b]);
            let after = self.motion(b);
            let fall = body.mass * (self.model.potential_at(path.kin.p) - self.model.potential_at(after.p));
            ledger[Cause::Integration] -= external - pushed - fall;
            // the state's kinetic energy against that of the solved velocities
            ledger[Cause::Integration] -= kinetic(body, &after) - {
                let u = velocity[b];
                kinetic(body, &Kinematics { p: after.p, v: u.linear, w: u.angular, R: *R })
            };
            if path.is_slender() || path.has_impact_orientation() {
                // and of those it began with
                let began = |R| kinetic(body, &Kinematics { R, ..path.kin });
                ledger[Cause::Integration] -= began(*R) - began(path.orientation_after_impacts());
            }
        }
    }

    /// How the partitions of the step were solved.
    fn count_solutions(&mut self) {
        self.shown.tally.slept += self.partitions.iter().filter(|p| p.asleep).count() as u64;
        for partition in self.partitions.iter().filter(|p| p.active) {
            self.shown.tally.solutions += 1;
            self.shown.tally.factorisations += partition.report.factorisations as u64;
            self.shown.tally.unconverged += u64::from(!partition.report.converged && !partition.swept);
            self.shown.tally.swept += u64::from(partition.swept);
            let pivoting = partition.report.pivoting;
            self.shown.tally.special[0] += u64::from(partition.report.apart > 0);
            self.shown.tally.special[1] += u64::from(pivoting.is_some_and(|method| method != Method::Lemke));
            self.shown.tally.special[2] += u64::from(pivoting == Some(Method::Lemke));
        }
    }
}
