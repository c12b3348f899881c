//! A spring and damper on a coordinate q:   f = -k (q - q0) - c q'.

use super::{Acting, Action, At, Attached, DAMPED, ElementAccount, RowEnd, RowList, Seen, StepAhead, Strut, UNBOUNDED};

/// A spring and damper on a joint's coordinate.
#[derive(Clone, Debug)]
pub struct JointSpring {
    /// Where.
    pub at: At,
    /// k [N/m or N m/rad].
    pub stiffness: f64,
    /// c [N s/m or N m s/rad].
    pub damping: f64,
    /// q0 [m or rad].
    pub rest: f64,
}

impl Acting for JointSpring {
    fn attached(&self) -> Attached<'_> {
        Attached { coordinates: std::slice::from_ref(&self.at), ..Attached::default() }
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        DAMPED
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let c = seen.coordinate();
        let effort = -self.stiffness * (c.q - self.rest) - self.damping * c.u;
        out.drive(effort, self.stored(seen), self.damping * c.u * c.u);
    }

    fn acts_on_given(&self) -> bool {
        true
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let phi = seen.coordinate().q - self.rest;
        let (stiffness, damping) = (self.stiffness, self.damping);
        let strut = Strut { stiffness, damping, phi, bounds: UNBOUNDED, bound: f64::INFINITY };
        out.strut(0, strut, step.h, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        let stretch = seen.coordinate().q - self.rest;
        0.5 * self.stiffness * stretch * stretch
    }
}
