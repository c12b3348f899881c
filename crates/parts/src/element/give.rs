//! A joint that gives: instead of holding its rows phi = 0 it has a spring and a damper along each of them,
//!   f_e = -phi/compliance,   f = f_e - damping phi',   each of them within the largest force;
//! the bodies feel J^T f, J the derivatives of phi' by the motions of the two frames. Rows that turn have phi as the sine of their angle.

use super::{
    Acting, Action, Anchor, Attached, DAMPED, Effect, ElementAccount, Output, RowEnd, RowList, Seen, StepAhead, Strut,
};
use crate::kinematics::Kinematics;
use crate::row::Row;
use crate::six::Six;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// Rows of whichever joint is looked at on this thread; nothing in them survives a call.
    static ROWS: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
}

/// How a row gives.
#[derive(Clone, Copy, Debug)]
pub struct Yielding {
    /// Stretch per force [m/N or rad/(N m)].
    pub compliance: f64,
    /// Force per rate of the stretch [N s/m or N m s/rad].
    pub damping: f64,
    /// Largest force of each row [N or N m]; infinite if it has none.
    pub most: f64,
}

impl Yielding {
    /// The force of its spring, and that of both [N or N m].
    fn force(&self, phi: f64, rate: f64) -> [f64; 2] {
        // not `clamp`: a force without a value stays one, and is told as a failure of the run
        let within = |force: f64| force.min(self.most).max(-self.most);
        let elastic = within(-phi / self.compliance);
        [elastic, within(elastic - self.damping * rate)]
    }

    /// The integral of the force of its spring [J].
    fn energy(&self, phi: f64) -> f64 {
        let (depth, yields) = (phi.abs(), self.most * self.compliance);
        if depth <= yields { 0.5 * depth * depth / self.compliance } else { self.most * (depth - 0.5 * yields) }
    }
}

/// What would hold two frames by rows.
pub trait Restrains: std::fmt::Debug + Send + Sync {
    /// Appends its rows.
    fn rows(&self, f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>);
}

/// A joint that gives.
#[derive(Clone, Debug)]
pub struct Give {
    /// What it would hold.
    pub joint: Arc<dyn Restrains>,
    /// Its two frames.
    pub ends: [Anchor; 2],
    /// How rows along a direction give.
    pub along: Yielding,
    /// How rows about a direction give.
    pub about: Yielding,
}

impl Give {
    /// How a row gives.
    fn yielding(&self, row: &Row) -> &Yielding {
        if row.length { &self.along } else { &self.about }
    }

    /// Looks at the rows of the joint.
    fn with_rows<T>(&self, seen: &Seen<'_>, look: impl FnOnce(&[Row]) -> T) -> T {
        ROWS.with_borrow_mut(|rows| {
            rows.clear();
            self.joint.rows(&seen.frames[0], &seen.frames[1], rows);
            look(rows)
        })
    }
}

impl Acting for Give {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        const OUTPUTS: &[Output] = &[
            Output { name: Cow::Borrowed("force.x"), unit: Some("N") },
            Output { name: Cow::Borrowed("force.y"), unit: Some("N") },
            Output { name: Cow::Borrowed("force.z"), unit: Some("N") },
            Output { name: Cow::Borrowed("torque.x"), unit: Some("N m") },
            Output { name: Cow::Borrowed("torque.y"), unit: Some("N m") },
            Output { name: Cow::Borrowed("torque.z"), unit: Some("N m") },
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let [f1, f2] = [&seen.frames[0], &seen.frames[1]];
        let (mut on, mut effect) = ([Six::ZERO; 2], Effect::default());
        self.with_rows(seen, |rows| {
            for row in rows {
                let (own, rate) = (self.yielding(row), row.rate(f1, f2));
                let [elastic, force] = own.force(row.phi, rate);
                for (sum, J) in on.iter_mut().zip(row.J) {
                    *sum = *sum + J * force;
                }
                effect.stored += own.energy(row.phi);
                effect.powers[0] += (elastic - force) * rate;
            }
        });
        out.wrench(0, f1.p, on[0]);
        out.wrench(1, f2.p, on[1]);
        let [effort, others @ ..] = wrench_outputs(&on[1]);
        effect.effort = effort;
        out.shown.extend(others);
        out.effect = effect;
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let at = [seen.frames[0].p, seen.frames[1].p];
        self.with_rows(seen, |rows| {
            for (part, row) in rows.iter().enumerate() {
                let own = self.yielding(row);
                let most = own.most * step.h;
                let strut = Strut {
                    stiffness: 1.0 / own.compliance,
                    damping: own.damping,
                    phi: row.phi,
                    damped_by_step: true,
                    bounds: [-most, most],
                    bound: f64::INFINITY,
                };
                let ends = [0, 1].map(|frame| RowEnd::Frame { frame, at: at[frame], axes: row.J[frame] });
                out.strut(part as u8, strut, &ends);
            }
        });
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.with_rows(seen, |rows| rows.iter().map(|row| self.yielding(row).energy(row.phi)).sum())
    }

    fn outputs_of_row(&self, seen: &Seen<'_>, part: u8, force: f64, outputs: &mut [f64]) {
        self.with_rows(seen, |rows| {
            let added = rows.get(part as usize).map_or(Six::ZERO, |row| row.J[1] * force);
            outputs.iter_mut().zip(wrench_outputs(&added)).for_each(|(sum, own)| *sum += own);
        });
    }

    fn line(&self) -> Option<&'static str> {
        Some("bushing")
    }
}

/// Force and torque of a wrench, in the order of the outputs.
fn wrench_outputs(on: &Six) -> [f64; 6] {
    let (f, t) = (on.linear, on.angular);
    [f.x, f.y, f.z, t.x, t.y, t.z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementMode;
    use crate::joint::Joint;
    use tippe_geometry::{Mat3, Quat, Vec3};

    /// What it does to the bodies is what it loses and no longer stores.
    #[test]
    fn its_power_is_what_it_stores_and_loses() {
        let world = Anchor { body: None, p: Vec3::ZERO, R: Mat3::IDENTITY };
        let turned = |w: Vec3| Mat3::from_quat(Quat::from_scaled_axis(w));
        for (joint, most) in [(Joint::Revolute, f64::INFINITY), (Joint::Fixed, 0.5), (Joint::Spherical, 2.0)] {
            let own = |compliance: f64| Yielding { compliance, damping: 0.7, most };
            let give = Give { joint: Arc::new(joint.clone()), ends: [world; 2], along: own(0.02), about: own(0.1) };
            let (v, w) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(0.4, 0.1, -0.6));
            let at = |t: f64| {
                let p = Vec3::new(0.02, -0.01, 0.03) + v * t;
                let R = turned(w * t) * turned(Vec3::new(0.05, -0.03, 0.02));
                [
                    Kinematics { p: Vec3::ZERO, v: Vec3::ZERO, w: Vec3::ZERO, R: Mat3::IDENTITY },
                    Kinematics { p, v, w, R },
                ]
            };
            let act = |t: f64| {
                let (frames, mode) = (at(t), ElementMode::default());
                let seen = Seen {
                    t,
                    frames: &frames,
                    coordinates: &[],
                    states: &[],
                    modes: &[mode],
                    kept: &[],
                    holding: 0.0,
                    look: &|_| 0.0,
                };
                let mut out = Action::default();
                give.act(&seen, &mut out);
                out
            };
            let now = act(0.0);
            let on = now.wrenches[1].on;
            let power = on.linear.dot(v) + on.angular.dot(w);
            let stores = (act(1e-6).effect.stored - act(-1e-6).effect.stored) / 2e-6;
            let lost = now.effect.powers[0];
            assert!((power + stores + lost).abs() < 1e-6 && lost >= 0.0, "{joint:?} {power} {stores} {lost}");
        }
    }
}
