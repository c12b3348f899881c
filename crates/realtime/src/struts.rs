//! Springs and dampers in a step: of which instant their force is, and how the bodies they act on move.
//!
//! A body that nothing meets at the end of the step moves at its mean velocity, and a mechanism on top of its free motion:
//!   q+ = q_free + h (u+ - u_free)/2;
//! one that a contact, a stop or a relaxed constraint meets there moves at its velocity there, q+ = q + h u+. Springs and
//! dampers whose motion the step resolves count in its middle, which loses nothing; the others at its end, which damps them.

use super::Clock;
use super::elements::{Elements, RowOfElement};
use super::kicks::Kicks;
use super::rates::dot;
use super::rows::{Place, Rows};
use tippe_geometry::Vec3;
use tippe_mechanics::element::{Instant, RowLaw, Strut, StrutInStep};
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::GROUND;

/// A spring is resolved up to this turn of its phase per step, h omega, and a damper up to this decay, h/tau [-]. The
/// middle rule is 8 % slow there, and the end rule loses three tenths of the amplitude in a step.
const RESOLVED: f64 = 1.0;

/// Room to ask how bodies answer to a row.
#[derive(Clone, Debug, Default)]
pub struct Answering {
    ends: Vec<(usize, Six)>,
    kicks: Kicks,
}

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
        for (b, leader) in self.welds.led() {
            (self.paths[b as usize].at_mean, self.paths[leader as usize].at_mean) = (false, false);
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

    /// What counts of a strut, and what its row sees of the beginning of the step.
    fn strut_in_step(&mut self, own: &RowOfElement, strut: &Strut, rows: &Rows) -> StrutInStep {
        let place = own.place;
        let (spring, damper, step_damping) = (Instant::End, Instant::End, own.step_damping);
        let mut step = StrutInStep { spring, damper, start: 0.0, carried: 0.0, step_damping };
        if strut.damped_by_step || strut.is_one_sided() {
            return step;
        }
        let h = self.h;
        let is_slow = |rate: f64| rate <= RESOLVED;
        let turn = |yields: f64| h * (strut.stiffness * yields).sqrt();
        let decay = |yields: f64| h * strut.damping * yields;
        // joints only hold what yields: where it is slow without them it is slow
        let alone = |(b, J): (usize, [f64; 6])| six(&J).dot(&self.kick_alone(b, six(&J)));
        let mut yields = rows.ends_at(place).map(alone).sum();
        let is_held = |(b, _): (usize, [f64; 6])| self.model.bodies[b].mechanism.is_some();
        if (!is_slow(turn(yields)) || !is_slow(decay(yields))) && rows.ends_at(place).any(is_held) {
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

    /// Rate that a row gives per impulse, bodies held by the joints of their trees.
    fn yields(&mut self, place: Place, rows: &Rows) -> f64 {
        let mut room = std::mem::take(&mut self.answering);
        room.ends.clear();
        room.ends.extend(rows.ends_at(place).map(|(b, J)| (b, six(&J))));
        let yields = self.kicks_of(&room.ends, &mut room.kicks);
        self.answering = room;
        yields
    }
}

fn six(J: &[f64; 6]) -> Six {
    Six::new(Vec3::from_slice(&J[..3]), Vec3::from_slice(&J[3..]))
}
