//! Velocities of bodies under rows: the mixed complementarity problem of one time step, solved in body velocities.
//!
//! With the bodies' masses M (blocks of 6), momenta p without rows, and rows J of compliance eps and target b,
//!   M u = p + J^T lambda,    J u + eps lambda = b,   lower <= lambda <= upper    (CM Labs, theory guide of Vortex, eq. 16 and 22)
//! where a row at a bound gives up its equation: J u + eps lambda <= b at the upper one, >= at the lower one. Rows of a
//! ball share the bound |lambda| <= radius (isotropic friction). The impulses minimise the convex
//!   q(lambda) = w^T M^-1 w/2 + sum (eps lambda^2/2 - b lambda),   w = p + J^T lambda,   within their bounds.
//!
//! Rows come in two layouts. A [`Row`] has two ends and is part of the matrix of its two bodies: contacts, springs. A
//! [`Tie`] is up to six rows with any number of ends, and borders that matrix: joints, couplings, ropes over pulleys.
//!
//! - [`Solver::newton`]: direct. The equations of the rows f that are not at a bound are solved in velocities: one block LDL^T of
//!   M + J_f^T eps^-1 J_f, bordered by the ties (eps = 0 allowed). Block pivoting first: all rows that do not fit
//!   change sides at once, which finds the sets of stacks in a few factorisations. Where that does not settle, Newton's method on
//!   the impulses, projected, or, with many more rows than velocities, on the velocities (`descent.rs`); passes where both fail. Last step's impulses are the start.
//!   Rows between parts that are kept apart enter by a Schur complement.
//! - [`Solver::dense`]: rows whose impulse acts along another direction than the velocity they watch, by pivoting.
//! - [`Solver::substeps`]: the step in small steps of soft Gauss-Seidel passes, for rubble.
//!
//! [`Problem::residual`] judges both.

mod bounded;
mod descent;
mod joined;
mod lanes;
mod ldl;
mod newton;
mod order;
mod skew;
mod substep;
mod sweep;
#[cfg(test)]
mod tests;

pub use ldl::{Block, BlockLdl, Vertex, Wide};

/// Stands for "no body": the ground, or something whose motion is given (its part of J u is in the target).
pub const GROUND: u32 = u32::MAX;

/// Smallest compliance of a bounded row as a share of what its bodies yield, J M^-1 J^T [-]. Less is not felt, and costs digits.
pub const LEAST_COMPLIANCE: f64 = 1e-10;

/// Exact rows get this share of what their bodies yield as compliance inside the factors, so that redundant ones have a
/// pivot; refinement takes it out again [-].
const SOFTENING: f64 = 1e-11;

/// One row with a compliance and bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Its bodies; [`GROUND`] for none.
    pub bodies: [u32; 2],
    /// Its derivatives by their velocities.
    pub J: [[f64; 6]; 2],
    /// b: what J u would be without force.
    pub target: f64,
    /// eps: velocity per impulse; raised to [`LEAST_COMPLIANCE`].
    pub compliance: f64,
    /// Smallest impulse.
    pub lower: f64,
    /// Largest impulse.
    pub upper: f64,
    /// For the first of two or three rows (same bodies, same compliance) whose impulses stay together in a ball of radius `upper`:
    /// how many they are; otherwise 0.
    pub ball: u8,
    /// True for all rows of a ball.
    pub shared: bool,
    /// Joins parts that are kept apart: not in their factors, but in a Schur complement of all such rows. Not for rows of a ball.
    pub apart: bool,
    /// The impulse: start value (NaN: unknown) and answer.
    pub lambda: f64,
    /// Violation at the beginning of the step, for [`Solver::substeps`]: negative where a bounded row is overstepped. NaN for rows of
    /// velocity.
    pub gap: f64,
    /// What bodies whose motion is given add to J u; the target has it already.
    pub given: f64,
}

impl Row {
    /// J M^-1 J^T, with the inverse masses of the bodies.
    pub fn yields(&self, inverse: &[Block]) -> f64 {
        let mut sum = 0.0;
        for (&body, J) in self.bodies.iter().zip(&self.J) {
            if body != GROUND {
                let W = &inverse[body as usize];
                let mut v = [0.0; 6];
                for i in 0..6 {
                    for j in 0..6 {
                        v[j] += J[i] * W[6 * i + j];
                    }
                }
                sum += (v[0] * J[0] + v[1] * J[1] + v[2] * J[2]) + (v[3] * J[3] + v[4] * J[4] + v[5] * J[5]);
            }
        }
        sum
    }
}

/// The bound of a row (of all rows of its ball) is a factor times the impulses of other rows: friction. For [`Solver::substeps`] these stand
/// before it, with nothing but rows between the same two bodies in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follow {
    /// First of the rows it follows; `u32::MAX` for none.
    pub first: u32,
    /// Their number.
    pub count: u32,
    /// Factor.
    pub factor: f64,
    /// Factor once the bound is reached, where that is lower.
    pub slides: f64,
    /// What is added to the bound as long as the impulses are not all zero.
    pub plus: f64,
    /// Largest bound.
    pub most: f64,
    /// It acts where the rows it follows do: its arm about their direction is the mean of theirs.
    pub centred: bool,
}

impl Follow {
    /// The bound where the impulses it follows sum up to this.
    pub fn bound(&self, sum: f64) -> f64 {
        if sum <= 0.0 { 0.0 } else { (self.factor * sum + self.plus).min(self.most) }
    }

    /// What a row presses with, counted from its largest pull.
    #[inline(always)]
    pub fn pressed(lambda: f64, lower: f64) -> f64 {
        (lambda - lower).max(0.0)
    }

    /// Follows none.
    pub const NONE: Follow =
        Follow { first: u32::MAX, count: 0, factor: 0.0, slides: 0.0, plus: 0.0, most: f64::INFINITY, centred: false };
}

/// One end of a tie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Its body.
    pub body: u32,
    /// Derivatives of the tie's rows by the velocity of the body, row by row.
    pub J: Block,
}

impl End {
    /// The end of a tie of one row.
    pub fn of_row(body: u32, J: &[f64; 6]) -> End {
        let mut end = End { body, J: [0.0; 36] };
        end.J[..6].copy_from_slice(J);
        end
    }

    /// Derivatives of row `r`.
    #[inline]
    pub fn row(&self, r: usize) -> [f64; 6] {
        std::array::from_fn(|i| self.J[6 * r + i])
    }
}

/// Some of the ends of a problem, one after the other: first and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The first.
    pub first: u32,
    /// The one behind the last.
    pub end: u32,
}

impl Ends {
    /// These ends.
    #[inline]
    pub fn of(self, ends: &[End]) -> &[End] {
        &ends[self.first as usize..self.end as usize]
    }

    /// Their number.
    pub fn len(self) -> usize {
        (self.end - self.first) as usize
    }

    /// True for none.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }
}

/// Up to six rows over any number of bodies, each with bounds of its own. Rows without bounds are exact where their
/// compliance is zero; that of rows with bounds is raised to [`LEAST_COMPLIANCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// Its ends, each body once.
    pub ends: Ends,
    /// Where its impulses act along other directions than J^T: the momenta that unit impulses give, by body. Such a
    /// problem is one for [`Solver::dense`]. Empty for J^T.
    pub pushes: Ends,
    /// Number of rows.
    pub count: usize,
    /// b by row.
    pub target: [f64; 6],
    /// eps by row.
    pub compliance: [f64; 6],
    /// Smallest impulses.
    pub lower: [f64; 6],
    /// Largest impulses.
    pub upper: [f64; 6],
    /// The impulses: start value (NaN: unknown) and answer.
    pub lambda: [f64; 6],
    /// Joins parts that are kept apart: not in their factors, but in a Schur complement of all such rows.
    pub apart: bool,
}

impl Default for Tie {
    fn default() -> Self {
        Tie {
            ends: Ends::default(),
            pushes: Ends::default(),
            count: 0,
            target: [0.0; 6],
            compliance: [0.0; 6],
            lower: [f64::NEG_INFINITY; 6],
            upper: [f64::INFINITY; 6],
            lambda: [0.0; 6],
            apart: false,
        }
    }
}

impl Tie {
    /// True if row `r` has a bound.
    #[inline]
    pub fn is_bounded(&self, r: usize) -> bool {
        self.lower[r] > f64::NEG_INFINITY || self.upper[r] < f64::INFINITY
    }

    /// The rows that have bounds.
    #[inline]
    pub(crate) fn bounded(&self) -> impl Iterator<Item = usize> + use<> {
        let tie = *self;
        (0..tie.count).filter(move |&r| tie.is_bounded(r))
    }

    /// J u of row `r`.
    #[inline]
    pub(crate) fn rate(&self, ends: &[End], r: usize, u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for end in self.ends.of(ends) {
            let u = &u[6 * end.body as usize..][..6];
            for i in 0..6 {
                sum += end.J[6 * r + i] * u[i];
            }
        }
        sum
    }

    /// J M^-1 J^T of row `r`.
    pub(crate) fn yields(&self, ends: &[End], r: usize, inverse: &[Block]) -> f64 {
        let ends = self.ends.of(ends);
        ends.iter()
            .map(|end| Row { bodies: [end.body, GROUND], J: [end.row(r), [0.0; 6]], ..Row::default() }.yields(inverse))
            .sum()
    }

    /// eps of row `r` as it is felt, with what its bodies yield.
    pub(crate) fn felt(&self, r: usize, yields: f64) -> f64 {
        if self.is_bounded(r) { self.compliance[r].max(LEAST_COMPLIANCE * yields) } else { self.compliance[r] }
    }

    /// Adds J^T lambda.
    #[inline]
    pub(crate) fn push(&self, ends: &[End], lambda: &[f64; 6], momentum: &mut [f64]) {
        for end in self.ends.of(ends) {
            let m = &mut momentum[6 * end.body as usize..][..6];
            for r in 0..self.count {
                for i in 0..6 {
                    m[i] += end.J[6 * r + i] * lambda[r];
                }
            }
        }
    }
}

/// The problem of one partition.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// Mass of each body.
    pub mass: Vec<Block>,
    /// Inverse mass of each body.
    pub inverse: Vec<Block>,
    /// M times the velocity without rows.
    pub momentum: Vec<f64>,
    /// Velocities: answer; beforehand, where [`Solver::newton`] begins to look (empty: anywhere).
    pub u: Vec<f64>,
    /// Rows with compliance.
    pub rows: Vec<Row>,
    /// Rows with any number of ends.
    pub ties: Vec<Tie>,
    /// The ends of all ties.
    pub ends: Vec<End>,
}

/// How a solution was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Factorisations.
    pub factorisations: usize,
    /// Sweeps.
    pub sweeps: usize,
    /// False if the limit came first: the best point found is there; [`Problem::residual`] says how good it is.
    pub converged: bool,
    /// Rows between parts that were kept apart.
    pub apart: usize,
    /// What [`Solver::dense`] did.
    pub pivoting: Option<crate::mlcp::Method>,
}

/// Room to work in, and the pattern of the last problem: nothing in it changes a result.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    ldl: BlockLdl,
    /// Bodies of its pattern; the other vertices are ties.
    bodies: usize,
    vertices: Vec<Vertex>,
    edges: Vec<(u32, u32)>,
    fresh: Vec<(u32, u32)>,
    /// Edge of each row, `u32::MAX` for rows of one body.
    row_edge: Vec<u32>,
    /// First edge of each tie; its ends follow in order. `u32::MAX` for ties apart.
    tie_edge: Vec<u32>,
    /// What rows do: of all rows, then of all ties, six each.
    states: Vec<newton::Status>,
    /// True if there are factors of this problem, made with the sets `factored`.
    has_factors: bool,
    factored: Vec<newton::Status>,
    /// Velocities and impulses before an attempt with them.
    before: Vec<f64>,
    attempted: Vec<f64>,
    held: Vec<bool>,
    x: Vec<f64>,
    missing: Vec<f64>,
    /// Velocities or impulses before a Newton step.
    start: Vec<f64>,
    /// What each row misses there, and its change along the step.
    lines: Vec<[f64; 2]>,
    best: Vec<f64>,
    first: Vec<f64>,
    slack: Vec<f64>,
    /// What rows yield, compliance included: of all rows, then of all ties, six each (zero without bounds).
    yields: Vec<f64>,
    rubble: substep::Rubble,
    joined: joined::Joined,
}

impl Problem {
    /// Empties the problem, keeps its room.
    pub fn clear(&mut self) {
        self.mass.clear();
        self.inverse.clear();
        self.momentum.clear();
        self.u.clear();
        self.rows.clear();
        self.ties.clear();
        self.ends.clear();
    }

    /// True if the impulse of some tie acts along another direction than J^T.
    pub fn is_skew(&self) -> bool {
        self.ties.iter().any(|tie| !tie.pushes.is_empty())
    }

    /// Appends a tie of one row with these ends; those of one body are added up.
    pub fn push_tie(&mut self, ends: &[(u32, [f64; 6])], tie: Tie) {
        let own = join_ends(&mut self.ends, ends);
        self.ties.push(Tie { ends: own, count: 1, ..tie });
    }

    /// J u of a row.
    #[inline]
    pub(crate) fn rate(row: &Row, u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (&body, J) in row.bodies.iter().zip(&row.J) {
            if body != GROUND {
                let u = &u[6 * body as usize..][..6];
                // linear and angular parts apart, so that mirrored rows give mirrored sums
                sum += (J[0] * u[0] + J[1] * u[1] + J[2] * u[2]) + (J[3] * u[3] + J[4] * u[4] + J[5] * u[5]);
            }
        }
        sum
    }

    /// How far velocities and impulses are from solving the problem, as a velocity: the largest of
    /// |M^-1 (p + J^T lambda) - u|, of what free rows miss of their equation, and of what bounded ones would take back.
    pub fn residual(&self) -> f64 {
        let mut momentum = self.momentum.clone();
        for row in &self.rows {
            push(row, row.lambda, &mut momentum);
        }
        for tie in &self.ties {
            let along = if tie.pushes.is_empty() { tie.ends } else { tie.pushes };
            Tie { ends: along, ..*tie }.push(&self.ends, &tie.lambda, &mut momentum);
        }
        let mut worst: f64 = 0.0;
        for (k, W) in self.inverse.iter().enumerate() {
            for i in 0..6 {
                let v: f64 = (0..6).map(|j| W[6 * i + j] * momentum[6 * k + j]).sum();
                worst = worst.max((v - self.u[6 * k + i]).abs());
            }
        }
        let mut k = 0;
        while k < self.rows.len() {
            let row = &self.rows[k];
            let eps = row.compliance.max(LEAST_COMPLIANCE * row.yields(&self.inverse));
            if row.ball > 0 {
                let own = &self.rows[k..k + row.ball as usize];
                let scale = eps + own.iter().map(|r| r.yields(&self.inverse)).fold(0.0, f64::max);
                let at = |r: &Row| r.lambda + (r.target - Self::rate(r, &self.u) - eps * r.lambda) / scale;
                let size = own.iter().map(|r| at(r) * at(r)).sum::<f64>().sqrt();
                let shrink = if size > row.upper { row.upper / size } else { 1.0 };
                let off = own.iter().map(|r| (at(r) * shrink - r.lambda).powi(2)).sum::<f64>().sqrt();
                worst = worst.max(off * scale);
                k += own.len();
            } else {
                let w = row.target - Self::rate(row, &self.u) - eps * row.lambda;
                let scale = eps + row.yields(&self.inverse);
                let back = (row.lambda + w / scale).clamp(row.lower, row.upper) - row.lambda;
                worst = worst.max((back * scale).abs());
                k += 1;
            }
        }
        for tie in &self.ties {
            for r in 0..tie.count {
                let yields = tie.yields(&self.ends, r, &self.inverse);
                let eps = tie.felt(r, yields);
                let w = tie.target[r] - tie.rate(&self.ends, r, &self.u) - eps * tie.lambda[r];
                let scale = eps + yields;
                let back = match tie.is_bounded(r) {
                    true => ((tie.lambda[r] + w / scale).clamp(tie.lower[r], tie.upper[r]) - tie.lambda[r]) * scale,
                    false => w,
                };
                worst = worst.max(back.abs());
            }
        }
        worst
    }
}

/// Adds J^T lambda of a row.
#[inline]
pub(crate) fn push(row: &Row, lambda: f64, momentum: &mut [f64]) {
    if lambda == 0.0 {
        return;
    }
    for (&body, J) in row.bodies.iter().zip(&row.J) {
        if body != GROUND {
            let m = &mut momentum[6 * body as usize..][..6];
            for i in 0..6 {
                m[i] += J[i] * lambda;
            }
        }
    }
}

/// Appends the ends of a row, those of one body added up; none for [`GROUND`].
pub fn join_ends(all: &mut Vec<End>, ends: &[(u32, [f64; 6])]) -> Ends {
    let first = all.len();
    for (body, J) in ends.iter().filter(|(body, _)| *body != GROUND) {
        match all[first..].iter_mut().find(|end| end.body == *body) {
            Some(end) => end.J.iter_mut().zip(J).for_each(|(sum, J)| *sum += J),
            None => all.push(End::of_row(*body, J)),
        }
    }
    Ends { first: first as u32, end: all.len() as u32 }
}

/// Writes the rows of a tie that hold their equation into its vertex and its edges (body, tie), which follow each other
/// from `edge` on; what stands for the others is the equation 0 = 0.
pub fn border(
    ldl: &mut BlockLdl,
    [vertex, edge]: [usize; 2],
    tie: &Tie,
    ends: &[End],
    inverse: &[Block],
    holds: impl Fn(usize) -> bool,
) {
    let mut D: Block = [0.0; 36];
    for i in 0..6 {
        D[7 * i] = -1.0;
    }
    let mut yields = [0.0; 6];
    for (edge, end) in (edge..).zip(tie.ends.of(ends)) {
        // the block of the edge is J^T
        let mut block: Block = [0.0; 36];
        let W = &inverse[end.body as usize];
        for r in (0..tie.count).filter(|&r| holds(r)) {
            for i in 0..6 {
                block[6 * i + r] = end.J[6 * r + i];
                yields[r] += end.J[6 * r + i] * end.J[6 * r + i] * W[7 * i];
            }
        }
        *ldl.edge(edge) = Wide::from(&block);
    }
    for r in (0..tie.count).filter(|&r| holds(r)) {
        D[7 * r] = -tie.compliance[r].max(SOFTENING * yields[r]);
    }
    *ldl.diagonal(vertex) = Wide::from(&D);
}
