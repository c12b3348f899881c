//! Springs and dampers in a step: of which instant their force is, and how the bodies they act on move.
//!
//! A body that nothing meets at the end of the step moves at its mean velocity, and a mechanism on top of its free motion:
//!   q+ = q_free + h (u+ - u_free)/2;
//! one that a contact, a stop or a relaxed constraint meets there moves at its velocity there, q+ = q + h u+. Springs and
//! dampers whose motion the step resolves count in its middle, which loses nothing; the others at its end, which damps them.

use super::Clock;
use super::contacts::RADIUS_MAX;
use super::elements::{Elements, RowOfElement};
use super::integrate::REST_SPEED;
use super::rates::{dot, rate_with};
use super::rows::{Owner, Place, Rows};
use tippe_geometry::Vec3;
use tippe_mechanics::element::{Instant, RowLaw, Strut, StrutInStep};
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::GROUND;

/// A spring is resolved up to this turn of its phase per step, h omega, and a damper up to this decay, h/tau [-]. The
/// middle rule is 8 % slow there, the end rule loses a third of the amplitude in a step; at twice as much neither is of use.
const RESOLVED: f64 = 1.0;

/// Bodies slide where they move at most this share of their speed across what they touch [-].
const ACROSS: f64 = 1e-3;

impl Clock {
    /// How bodies move in the step, and what that makes of the rows of springs and dampers.
    pub(super) fn time_struts(&mut self, elements: &mut Elements, rows: &mut Rows) {
        self.find_means(elements, rows);
        for own in &mut elements.rows {
            let RowLaw::Strut(strut) = own.law else { continue };
            let step = self.strut_in_step(own, &strut, rows);
            own.damper = step.damper;
            let [target, compliance] = strut.row(self.h, &step);
            match own.place {
                Place::Row(k) => {
                    let row = &mut rows.rows[k];
                    (row.target, row.compliance) = (target - row.given, compliance);
                }
                Place::Tie(k) => {
                    let tie = &mut rows.ties[k];
                    (tie.target[0], tie.compliance[0]) = (target - rows.tie_given[k], compliance);
                }
            }
        }
    }

    /// Which bodies move at their mean velocity.
    fn find_means(&mut self, elements: &Elements, rows: &Rows) {
        let swept = self.may_sweep();
        for b in 0..self.paths.len() {
            let is_free = self.is_free(b);
            let path = &mut self.paths[b];
            path.at_mean = is_free && !swept && !path.struck && !path.is_slender();
        }
        let of_contacts = rows.rows[..rows.contacts].iter().flat_map(|row| row.bodies);
        for b in of_contacts.filter(|&b| b != GROUND) {
            self.paths[b as usize].at_mean = false;
        }
        for own in &elements.rows {
            let meets = match &own.law {
                RowLaw::Strut(strut) => strut.damped_by_step || strut.is_one_sided(),
                RowLaw::Rate(_) => true,
                RowLaw::Answer { .. } => false,
            };
            if !meets {
                continue;
            }
            rows.ends_at(own.place).for_each(|(b, _)| self.paths[b].at_mean = false);
        }
        for (mechanism, machine) in self.model.mechanisms.iter().zip(&self.machines) {
            let given = machine.given.iter().any(Option::is_some);
            let smooth = machine.smooth && !machine.overruns && !given && !mechanism.has_one_way_rows();
            let links = || mechanism.links.iter().map(|link| link.body as usize);
            if !smooth || links().any(|b| !self.paths[b].at_mean) {
                links().for_each(|b| self.paths[b].at_mean = false);
            }
        }
    }

    /// Bodies that slide or roll all through the step, along what they touch and not across it, go as far as their mean
    /// velocity takes them in the direction in which they move, if all that touch each other do: at the velocity of the end,
    /// with which contacts close, ways would be wrong by h (u+ - u)/2 in each step.
    pub(super) fn find_sliders(&mut self, velocity: &[Six]) {
        for p in 0..self.partitions.len() {
            let partition = &self.partitions[p];
            let free = |&b: &u32| {
                let path = &self.paths[b as usize];
                // without an impulse its path is a parabola already
                self.solved.has_impulse[b as usize] && !path.sprung && !path.struck && !path.is_slender()
            };
            let slides = partition.active
                && !partition.swept
                && !self.rows.seen
                && partition.machines.is_empty()
                && partition.bodies.iter().all(free)
                && partition.rows.iter().all(|&k| self.slides(k as usize, velocity));
            if slides {
                for &b in &self.partitions[p].bodies {
                    let (b, radius) = (b as usize, self.model.bodies[b as usize].radius.min(RADIUS_MAX));
                    self.paths[b].slow_down(velocity[b], REST_SPEED, REST_SPEED / radius);
                }
            }
        }
    }

    /// True if a row is of a contact whose bodies slide or roll.
    fn slides(&self, k: usize, velocity: &[Six]) -> bool {
        let row = &self.rows.rows[k];
        match self.rows.owners[k] {
            Owner::Normal(_) => {}
            owner => return owner.is_friction(),
        }
        let [start, end] = [rate_with(row, |b| self.paths[b].velocity()), rate_with(row, |b| velocity[b])];
        let speed = |b: usize| self.paths[b].velocity().linear.length().min(velocity[b].linear.length());
        let fastest = row.bodies.iter().filter(|&&b| b != GROUND).map(|&b| speed(b as usize)).fold(0.0, f64::max);
        fastest > REST_SPEED && start.abs().max(end.abs()) <= ACROSS * fastest
    }

    /// What counts of a strut, and what its row sees of the beginning of the step.
    fn strut_in_step(&mut self, own: &RowOfElement, strut: &Strut, rows: &Rows) -> StrutInStep {
        let place = own.place;
        let mut step = StrutInStep { spring: Instant::End, damper: Instant::End, start: 0.0, carried: 0.0 };
        if strut.damped_by_step || strut.is_one_sided() {
            return step;
        }
        let h = self.h;
        let is_slow = |rate: f64| rate <= RESOLVED;
        let turn = |yields: f64| h * (strut.stiffness * yields).sqrt();
        let decay = |yields: f64| h * strut.damping * yields;
        // joints only hold what yields: where it is slow without them it is slow
        let mut yields = self.yields_alone(place, rows);
        if !is_slow(turn(yields)) || !is_slow(decay(yields)) {
            yields = self.yields(place, rows);
        }
        let swept = self.may_sweep();
        if is_slow(turn(yields)) && !swept {
            step.spring = Instant::Middle;
        }
        if is_slow(decay(yields)) && !swept {
            step.damper = Instant::Middle;
        }
        // what is damped beyond swinging by itself loses nothing that it would keep
        if step.spring == Instant::End && decay(yields) < 2.0 * turn(yields) {
            let most = self.shown.tally.damped.entry(own.element as usize).or_insert(0.0);
            *most = most.max(turn(yields));
        }
        for (b, J) in rows.ends_at(place) {
            self.paths[b].sprung = true;
            let rate = dot(&J, self.paths[b].velocity());
            step.start += rate;
            step.carried += if self.paths[b].at_mean { rate } else { -rate };
        }
        let given = rows.given_at(place);
        (step.start, step.carried) = (step.start + given, step.carried + given);
        step
    }

    /// Rate that a row gives per impulse, joints aside: an upper bound.
    fn yields_alone(&self, place: Place, rows: &Rows) -> f64 {
        rows.ends_at(place).map(|(b, J)| self.yields_of(b, &J)).sum()
    }

    /// What one body adds to it.
    fn yields_of(&self, b: usize, J: &[f64; 6]) -> f64 {
        let (body, R) = (&self.model.bodies[b], self.paths[b].kin.R);
        let [about, along] = [Vec3::from_slice(&J[..3]), Vec3::from_slice(&J[3..])];
        let own = R.transpose() * about;
        own.dot(body.I_c_inverse * own) + along.length_squared() / body.mass
    }

    /// Rate that a row gives per impulse, bodies held by the joints of their trees.
    fn yields(&mut self, place: Place, rows: &Rows) -> f64 {
        let mut yields = 0.0;
        for (b, J) in rows.ends_at(place) {
            let Some((m, _)) = self.model.bodies[b].mechanism else {
                yields += self.yields_of(b, &J);
                continue;
            };
            // the ends on one mechanism answer together, once
            let model = &self.model;
            let on = |(other, J): (usize, [f64; 6])| {
                let (own, link) = model.bodies[other].mechanism?;
                (own == m)
                    .then(|| (other, link as usize, Six::new(Vec3::from_slice(&J[..3]), Vec3::from_slice(&J[3..]))))
            };
            let ends = rows.ends_at(place).filter_map(on);
            if ends.clone().next().is_some_and(|(first, ..)| first == b) {
                let ends = ends.map(|(_, link, J)| (link, J));
                yields += self.machines[m as usize].answer_to(&model.mechanisms[m as usize], ends);
            }
        }
        yields
    }
}
