//! Force elements in a fixed step: the rates they hold, and the springs and dampers that act through it.
//!
//! A spring and damper with stretch phi and rate J u at the beginning of a step h gives the impulse
//!   lambda = -h k phi_h - h c r_h,   as a row   J u+ + eps lambda = b.
//! With stretch and rate of the end of the step (Lacoursiere 2007, "Ghosts and machines", sections 4.4 and 4.5),
//!   phi_h = phi + h J u+,   r_h = J u+:   it is damped, by 1/sqrt(1 + (h omega)^2) per step, however stiff it is;
//! with those of its middle nothing is lost:
//!   phi_h = phi + h (J u + J u+)/4,   r_h = (J u + J u+)/2   where bodies move by h (u + u+)/2: the implicit midpoint rule;
//!   phi_h = phi + h (J u+ - J u)/4,   the same r_h           where they move by h u+: the mean of the stretches in the middle of
//! the last step and of this one (as SPOOK, Lacoursiere 2007, section 4.6, has it; of second order as well, with rates of the middle).

use crate::six::Six;
use tippe_geometry::Vec3;

/// Rate per impulse of rows that give an impulse whatever the rate: large beside that of any body [1/kg or 1/(kg m^2)].
const YIELDS: f64 = 1e9;

/// What a fixed step adds to what an element sees at its beginning.
#[derive(Clone, Copy, Debug)]
pub struct StepAhead<'a> {
    /// Length of the step [s].
    pub h: f64,
    /// Velocities {w, v} of its frames' bodies at those frames' origins at the end of the step, if no row acted.
    pub frames: &'a [Six],
    /// Its coordinates, likewise.
    pub coordinates: &'a [CoordinateAhead],
}

/// A coordinate at the end of a step in which no row acts.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoordinateAhead {
    /// Rate [m/s or rad/s].
    pub u: f64,
    /// Inertia of its link along the coordinate [kg or kg m^2].
    pub inertia: f64,
}

/// One end of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowEnd {
    /// Velocity of a frame's body along these axes.
    Frame {
        /// Which of the element's frames.
        frame: usize,
        /// Point of the body whose velocity counts, resolved in world [m].
        at: Vec3,
        /// {axis of the angular velocity, axis of the point's velocity}, resolved in world.
        axes: Six,
    },
    /// Rate of a coordinate.
    Coordinate {
        /// Which of the element's coordinates.
        coordinate: usize,
        /// Factor of its rate [-].
        factor: f64,
    },
}

/// What a row of an element holds.
#[derive(Clone, Copy, Debug)]
pub enum RowLaw {
    /// The sum of the rates of its ends, at the end of the step [m/s or rad/s].
    Rate(f64),
    /// An effort that falls with that sum: rate + compliance lambda = target.
    Answer {
        /// [m/s or rad/s].
        target: f64,
        /// Rate per impulse.
        compliance: f64,
    },
    /// A spring and damper along that sum.
    Strut(Strut),
}

/// A row of an element in a step.
#[derive(Clone, Debug)]
pub struct ElementRow {
    /// Which of the element's rows.
    pub part: u8,
    /// Its ends in [`RowList::ends`].
    pub ends: std::ops::Range<usize>,
    /// Where its impulse acts, if not along its ends: in [`RowList::ends`] too; empty if it does.
    pub pushes: std::ops::Range<usize>,
    /// What it holds.
    pub law: RowLaw,
    /// Smallest and largest impulse [N s or N m s].
    pub bounds: [f64; 2],
    /// Starts from the impulse of the last step.
    pub warm: bool,
    /// Largest impulse of friction and drives [N s or N m s], speed of impact of stops [m/s or rad/s], gap of relations [m or rad].
    pub bound: f64,
    /// Damping that the step needs along a strut, of the rate at its end [N s/m or N m s].
    pub step_damping: f64,
}

/// Rows of one element.
#[derive(Clone, Debug, Default)]
pub struct RowList {
    /// The rows.
    pub rows: Vec<ElementRow>,
    /// Their ends.
    pub ends: Vec<RowEnd>,
}

/// A row that was solved.
#[derive(Clone, Copy, Debug)]
pub struct Solved {
    /// Which of the element's rows.
    pub part: u8,
    /// Its impulse [N s or N m s].
    pub lambda: f64,
    /// See [`ElementRow::bound`].
    pub bound: f64,
    /// The impulse is within `bound`.
    pub within: bool,
}

impl RowList {
    /// No rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
    }

    fn add(&mut self, row: ElementRow, ends: &[RowEnd]) {
        let first = self.ends.len();
        self.ends.extend_from_slice(ends);
        self.rows.push(ElementRow { ends: first..self.ends.len(), ..row });
    }

    /// A spring and damper.
    pub(super) fn strut(&mut self, part: u8, strut: Strut, ends: &[RowEnd]) {
        self.damped_strut(part, strut, 0.0, ends);
    }

    /// A spring and damper, and a damper beside them that the step needs, of the rate at its end [N s/m or N m s].
    pub(super) fn damped_strut(&mut self, part: u8, strut: Strut, step_damping: f64, ends: &[RowEnd]) {
        if strut.stiffness <= 0.0 && strut.damping <= 0.0 && step_damping <= 0.0 {
            return;
        }
        let Strut { bounds, bound, .. } = strut;
        let warm = bounds[0].is_finite() || bounds[1].is_finite();
        let law = RowLaw::Strut(strut);
        self.add(ElementRow { part, ends: 0..0, pushes: 0..0, law, bounds, warm, bound, step_damping }, ends);
    }

    /// An impulse that is known [N s or N m s].
    pub(super) fn given(&mut self, part: u8, impulse: f64, ends: &[RowEnd]) {
        let law = RowLaw::Answer { target: impulse * YIELDS, compliance: YIELDS };
        let bound = f64::INFINITY;
        let bounds = [-bound, bound];
        let row = ElementRow { part, ends: 0..0, pushes: 0..0, law, bounds, warm: false, bound, step_damping: 0.0 };
        self.add(row, ends);
    }

    /// A spring and damper between ends that are in the list already; its impulse acts along those behind them, if there are any.
    pub(super) fn strut_of_ends(&mut self, part: u8, strut: Strut, ends: std::ops::Range<usize>) {
        let Strut { bounds, bound, .. } = strut;
        let (pushes, law) = (ends.end..self.ends.len(), RowLaw::Strut(strut));
        self.rows.push(ElementRow { part, ends, pushes, law, bounds, warm: false, bound, step_damping: 0.0 });
    }

    /// An effort that falls with the rate r of its ends: effort + slope (r - rate), slope below zero, within bounds [N s or N m s].
    pub(super) fn answer(&mut self, part: u8, own: Answering, h: f64, ends: &[RowEnd]) {
        let (law, bounds) = (own.falling().law(h), own.bounds.map(|force| force * h));
        let bound = f64::INFINITY;
        let row = ElementRow { part, ends: 0..0, pushes: 0..0, law, bounds, warm: true, bound, step_damping: 0.0 };
        self.add(row, ends);
    }

    /// A rate that is held with at most so much force [N or N m].
    pub(super) fn limited(&mut self, target: f64, limit: f64, h: f64) {
        let (bound, law) = (limit * h, RowLaw::Rate(target));
        let bounds = [-bound, bound];
        let row = ElementRow { part: 0, ends: 0..0, pushes: 0..0, law, bounds, warm: true, bound, step_damping: 0.0 };
        self.add(row, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    /// A coordinate that is pushed to a rate at once.
    pub(super) fn rebound(&mut self, part: u8, factor: f64, target: f64, bound: f64) {
        let (bounds, law) = ([0.0, f64::INFINITY], RowLaw::Rate(target));
        let row = ElementRow { part, ends: 0..0, pushes: 0..0, law, bounds, warm: false, bound, step_damping: 0.0 };
        self.add(row, &[RowEnd::Coordinate { coordinate: 0, factor }]);
    }
}

/// An effort that opposes the motion along its row.
#[derive(Clone, Copy, Debug)]
pub struct Answering {
    /// At this rate [N or N m].
    pub effort: f64,
    /// What it changes per rate, below zero [N s/m or N m s/rad].
    pub slope: f64,
    /// The rate [m/s or rad/s].
    pub rate: f64,
    /// Smallest and largest effort [N or N m].
    pub bounds: [f64; 2],
}

/// Least slope of an effort that is a row: what it changes of an effort is rounding beside it [N s/m or N m s/rad].
const LEAST_SLOPE: f64 = 1e-6;

impl Answering {
    /// The same, where it would not fall with the rate.
    fn falling(self) -> Answering {
        Answering { slope: self.slope.min(-LEAST_SLOPE), ..self }
    }

    /// Its law in a step of h [s]:   r+ + eps lambda = b,   eps = -1/(h s),   b = r0 - e/s,   s its slope, e its effort at the rate r0.
    pub fn law(&self, h: f64) -> RowLaw {
        let slope = self.slope;
        RowLaw::Answer { target: self.rate - self.effort / slope, compliance: -1.0 / (h * slope) }
    }
}

/// A spring and damper of a row.
#[derive(Clone, Copy, Debug)]
pub struct Strut {
    /// k [N/m or N m/rad].
    pub stiffness: f64,
    /// c [N s/m or N m s/rad].
    pub damping: f64,
    /// phi: stretch at the beginning of the step [m or rad].
    pub phi: f64,
    /// True if its force is that of the end of the step, and bodies move there by h u+.
    pub damped_by_step: bool,
    /// Smallest and largest impulse [N s or N m s].
    pub bounds: [f64; 2],
    /// See [`ElementRow::bound`].
    pub bound: f64,
}

/// Stretch and rate of which instant of a step give the force of a strut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A strut in a step.
#[derive(Clone, Copy, Debug)]
pub struct StrutInStep {
    /// Of its spring.
    pub spring: Instant,
    /// Of its damper.
    pub damper: Instant,
    /// J u at the beginning [m/s or rad/s].
    pub start: f64,
    /// The same, but with the other sign for bodies that move by h u+ [m/s or rad/s].
    pub carried: f64,
    /// See [`ElementRow::step_damping`].
    pub step_damping: f64,
}

impl Strut {
    /// True if it only pushes or only pulls: what it meets it meets at the end of the step.
    pub fn is_one_sided(&self) -> bool {
        self.bounds.contains(&0.0)
    }

    /// b and eps of its row, its force being that of the end of the step.
    pub fn at_end(&self, h: f64) -> [f64; 2] {
        let Strut { stiffness, damping, phi, bounds, .. } = *self;
        let hardness = stiffness * h + damping;
        // one that only pushes or only pulls gets its row before it is reached: it may close the gap, no more
        let open = bounds[0] == 0.0 && phi > 0.0 || bounds[1] == 0.0 && phi < 0.0;
        let gamma = if open { 1.0 } else { stiffness * h / hardness };
        [-gamma * phi / h, 1.0 / (h * hardness)]
    }

    /// b and eps of its row in a step.
    pub fn row(&self, h: f64, step: &StrutInStep) -> [f64; 2] {
        let StrutInStep { spring, damper, start, carried, step_damping } = *step;
        if (spring, damper) == (Instant::End, Instant::End) {
            return Strut { damping: self.damping + step_damping, ..*self }.at_end(h);
        }
        let Strut { stiffness, damping, phi, .. } = *self;
        // shares of h J u+ and h J u in the stretch, of J u+ and J u in the rate
        let (a, b) = if spring == Instant::Middle { (0.25, 0.25) } else { (1.0, 0.0) };
        let (d, e) = if damper == Instant::Middle { (0.5, 0.5) } else { (1.0, 0.0) };
        let hardness = a * stiffness * h + d * damping + step_damping;
        let given = stiffness * phi + b * stiffness * h * carried + e * damping * start;
        [-given / hardness, 1.0 / (h * hardness)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strut(stiffness: f64, damping: f64, phi: f64) -> Strut {
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        Strut { stiffness, damping, phi, damped_by_step: false, bounds, bound: f64::INFINITY }
    }

    /// A mass on a spring for so many steps: its largest energy in the last hundred, and the smallest, of what it had first.
    fn energies(h: f64, omega: f64, mean: bool, steps: usize) -> [f64; 2] {
        let (mut x, mut u) = (1.0, 0.0);
        let mut range = [f64::INFINITY, 0.0_f64];
        for k in 0..steps {
            let spring = strut(omega * omega, 0.0, x);
            let step = StrutInStep {
                spring: Instant::Middle,
                damper: Instant::Middle,
                start: u,
                carried: if mean { u } else { -u },
                step_damping: 0.0,
            };
            let [b, eps] = spring.row(h, &step);
            // u+ = u + lambda, u+ + eps lambda = b
            let after = (b + eps * u) / (1.0 + eps);
            x += h * if mean { 0.5 * (u + after) } else { after };
            u = after;
            if k + 100 >= steps {
                let energy = u * u / (omega * omega) + x * x;
                range = [range[0].min(energy), range[1].max(energy)];
            }
        }
        range
    }

    #[test]
    fn a_spring_that_counts_in_the_middle_of_the_step_loses_nothing() {
        let [least, most] = energies(1.0, 0.2, true, 3200);
        assert!((least - 1.0).abs() < 1e-12 && (most - 1.0).abs() < 1e-12, "{least} to {most}");
        // rates are half a step late: the energy seen swings, and does not drift
        let [least, most] = energies(1.0, 0.2, false, 3200);
        assert!(least > 0.89 && most < 1.12, "{least} to {most}");
    }

    /// eps and gamma of Kelvin and Voigt at 1/60 s.
    #[test]
    fn a_relaxed_strut_is_that_of_kelvin_and_voigt() {
        let h = 0.016666667;
        for (k, c, eps, gamma) in [(1e4, 0.0, 0.36, 1.0), (1e4, 200.0, 0.16363636, 0.45454545), (0.0, 300.0, 0.2, 0.0)]
        {
            let [b, compliance] = strut(k, c, 1.0).at_end(h);
            assert!((compliance / eps - 1.0).abs() < 1e-7 && (b * h + gamma).abs() < 1e-7, "{b} {compliance}");
        }
    }
}
