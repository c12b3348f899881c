//! Force elements in a fixed step: rows that hold at its end.
//!
//! A spring and damper evaluated at the end of a step h is a row with compliance (Lacoursiere 2007, "Ghosts and machines", sections 4.4
//! and 4.5; with phi the stretch at the beginning):
//!   J u+ + eps lambda = b,   eps = 1/(h (k h + c)),   b = -gamma phi/h,   gamma = k h/(k h + c).

use crate::six::Six;
use tippe_geometry::Vec3;

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

/// A row of an element in a step: sum of its ends + compliance lambda = target, lower <= lambda <= upper.
#[derive(Clone, Debug)]
pub struct ElementRow {
    /// Which of the element's rows.
    pub part: u8,
    /// Its ends in [`RowList::ends`].
    pub ends: std::ops::Range<usize>,
    /// Velocity wanted [m/s or rad/s].
    pub target: f64,
    /// Velocity per impulse.
    pub compliance: f64,
    /// Smallest and largest impulse [N s or N m s].
    pub bounds: [f64; 2],
    /// Starts from the impulse of the last step.
    pub warm: bool,
    /// Damping [N s/m or N m s/rad].
    pub damping: f64,
    /// Largest impulse of friction and drives [N s or N m s], speed of impact of stops [m/s or rad/s].
    pub bound: f64,
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

    /// A spring and damper with stretch phi at the beginning of the step; `bound` as in [`ElementRow`].
    pub(super) fn strut(&mut self, part: u8, strut: Strut, h: f64, ends: &[RowEnd]) {
        let Strut { stiffness, damping, phi, bounds, bound } = strut;
        let hardness = stiffness * h + damping;
        if hardness <= 0.0 {
            return;
        }
        let bounded = bounds[0].is_finite() || bounds[1].is_finite();
        // an element that only pushes or only pulls gets its row before it is reached: it may close the gap, no more
        let open = bounded && (bounds[0] == 0.0 && phi > 0.0 || bounds[1] == 0.0 && phi < 0.0);
        let gamma = if open { 1.0 } else { stiffness * h / hardness };
        let row = ElementRow {
            part,
            ends: 0..0,
            target: -gamma * phi / h,
            compliance: 1.0 / (h * hardness),
            bounds,
            warm: bounded,
            damping,
            bound,
        };
        self.add(row, ends);
    }

    /// A rate that is held with at most so much force [N or N m].
    pub(super) fn limited(&mut self, target: f64, limit: f64, h: f64) {
        let bound = limit * h;
        let row = ElementRow {
            part: 0,
            ends: 0..0,
            target,
            compliance: 0.0,
            bounds: [-limit * h, limit * h],
            warm: true,
            damping: 0.0,
            bound,
        };
        self.add(row, &[RowEnd::Coordinate { coordinate: 0, factor: 1.0 }]);
    }

    /// A coordinate that is pushed to a rate at once.
    pub(super) fn rebound(&mut self, part: u8, factor: f64, target: f64, bound: f64) {
        let row = ElementRow {
            part,
            ends: 0..0,
            target,
            compliance: 0.0,
            bounds: [0.0, f64::INFINITY],
            warm: false,
            damping: 0.0,
            bound,
        };
        self.add(row, &[RowEnd::Coordinate { coordinate: 0, factor }]);
    }
}

/// A spring and damper of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strut {
    /// k [N/m or N m/rad].
    pub stiffness: f64,
    /// c [N s/m or N m s/rad].
    pub damping: f64,
    /// phi: stretch at the beginning of the step [m or rad].
    pub phi: f64,
    /// Smallest and largest impulse [N s or N m s].
    pub bounds: [f64; 2],
    /// See [`ElementRow::bound`].
    pub bound: f64,
}
