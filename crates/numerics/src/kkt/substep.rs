//! A step in small steps: in each one soft pass over the rows with last time's impulses as a start, a move, and one pass that takes the push
//! out of the velocities again (Macklin 2019; Catto 2023).
//!
//! In a substep of length dt a row with violation phi is a spring and damper of frequency omega and damping ratio zeta on the mass
//! m = 1/(J M^-1 J^T) it sees:   k = m omega^2,  c = 2 m zeta omega,  eps = 1/(dt (k dt + c)),  b = -phi k/(k dt + c).
//! omega is that of the substep, or of the row's own stiffness where that is lower: columns of a patch share what it carries by their areas.
//!
//! Rows between the same two bodies that stand together are a run: the velocities of both bodies stay at hand for all of them.

use super::{Block, Follow, GROUND, Group, Problem, Report, Row, Solver};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// omega dt of the springs [-].
const FREQUENCY: f64 = 0.6;
/// Their damping ratio [-].
const RATIO: f64 = 2.0;
/// Largest push [m/s].
const PUSH: f64 = 3.0;

/// Velocities or displacements of two bodies, or a row's derivatives by them.
type Two = [f64; 12];

/// A row with what it needs at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quick {
    J: Two,
    /// M^-1 J^T.
    WJ: Two,
    gap: f64,
    /// What bodies whose motion is given add to the rate.
    given: f64,
    /// b over the violation.
    bias: f64,
    target: f64,
    eps: f64,
    /// 1/(J M^-1 J^T), in a ball that of its least yielding row, and 1/(J M^-1 J^T + eps).
    mass: [f64; 2],
    lower: f64,
    upper: f64,
    lambda: f64,
    /// Sum of the impulses of the substeps.
    sum: f64,
    ball: u8,
    soft: bool,
    follow: Option<Bound>,
}

/// Follows the impulses of other rows.
#[derive(Clone, Copy, Debug)]
struct Bound {
    first: u32,
    count: u32,
    factor: f64,
    /// Largest bound, in a substep.
    most: f64,
}

/// Rows one after the other between the same two bodies; the number behind the last body stands for the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    bodies: [u32; 2],
    first: u32,
    end: u32,
}

impl Run {
    fn rows(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// All rows of a problem at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Rubble {
    rows: Vec<Quick>,
    runs: Vec<Run>,
    /// What free motion adds to the velocities in a substep, and what rows added in the last one.
    free: Vec<f64>,
    added: Vec<f64>,
    /// Impulses of the exact rows, summed up.
    sums: Vec<[f64; 6]>,
}

impl Solver {
    /// Goes from the velocities `u0` through a step of length `h` in `count` substeps; `follows` are the bounds of friction, by row. The
    /// displacement of the bodies is left in `moved`. Impulses in the rows (over the whole step) are the start and the answer.
    pub fn substeps(
        &mut self,
        problem: &mut Problem,
        follows: &[Follow],
        u0: &[f64],
        h: f64,
        count: usize,
        moved: &mut Vec<f64>,
    ) -> Report {
        Arch::new().dispatch(Step { rubble: &mut self.rubble, problem, follows, u0, h, count, moved });
        Report { sweeps: 2 * count, converged: true, ..Report::default() }
    }
}

/// [`Solver::substeps`] as a task for the machine's vector instructions.
struct Step<'a> {
    rubble: &'a mut Rubble,
    problem: &'a mut Problem,
    follows: &'a [Follow],
    u0: &'a [f64],
    h: f64,
    count: usize,
    moved: &'a mut Vec<f64>,
}

impl WithSimd for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Step { rubble, problem, follows, u0, h, count, moved } = self;
        rubble.advance(problem, follows, u0, h, count, moved);
    }
}

impl Rubble {
    #[inline(always)]
    fn advance(
        &mut self,
        problem: &mut Problem,
        follows: &[Follow],
        u0: &[f64],
        h: f64,
        count: usize,
        moved: &mut Vec<f64>,
    ) {
        let n = problem.mass.len();
        let share = 1.0 / count as f64;
        let dt = h * share;
        self.gather(problem, follows, h, share);
        let Problem { inverse, momentum, u, rows, groups, .. } = problem;
        u.clear();
        u.extend_from_slice(u0);
        u.resize(6 * (n + 1), 0.0);
        moved.clear();
        moved.resize(6 * (n + 1), 0.0);
        self.free.clear();
        for k in 0..n {
            let free = times(&inverse[k], &momentum[6 * k..6 * k + 6]);
            self.free.extend((0..6).map(|i| (free[i] - u0[6 * k + i]) * share));
        }
        self.free.resize(6 * (n + 1), 0.0);
        for group in groups.iter_mut() {
            group.lambda = group.lambda.map(|x| x * share);
        }
        self.sums.clear();
        self.sums.resize(groups.len(), [0.0; 6]);
        self.start(inverse, groups, u);
        for step in 0..count {
            // the impulses of the substep before are where this one starts
            for ((u, free), added) in u.iter_mut().zip(&self.free).zip(&mut self.added) {
                *u += free + *added;
                *added -= *u;
            }
            let backward = step % 2 == 1;
            for relax in [false, true] {
                for group in groups.iter_mut() {
                    super::sweep::settle(inverse, group, u);
                }
                let times = [dt, dt * (step + usize::from(relax)) as f64];
                self.pass(moved, u, times, relax, backward);
                if !relax {
                    for (d, u) in moved.iter_mut().zip(u.iter()) {
                        *d += dt * u;
                    }
                }
            }
            for (added, u) in self.added.iter_mut().zip(u.iter()) {
                *added += u;
            }
            for (sum, group) in self.sums.iter_mut().zip(groups.iter()) {
                for r in 0..6 {
                    sum[r] += group.lambda[r];
                }
            }
        }
        u.truncate(6 * n);
        moved.truncate(6 * n);
        for (row, quick) in rows.iter_mut().zip(&self.rows) {
            row.lambda = quick.sum;
        }
        for (group, sum) in groups.iter_mut().zip(&self.sums) {
            group.lambda = *sum;
        }
    }

    /// What the impulses at the start add to the velocities.
    #[inline(always)]
    fn start(&mut self, inverse: &[Block], groups: &[Group], u: &[f64]) {
        self.added.clear();
        self.added.resize(u.len(), 0.0);
        for run in &self.runs {
            let mut both = load(&self.added, run.bodies);
            for row in &self.rows[run.rows()] {
                shift(row, row.lambda, &mut both);
            }
            store(&mut self.added, run.bodies, &both);
        }
        for group in groups {
            super::sweep::shift_group(inverse, group, &group.lambda, &mut self.added);
        }
    }

    #[inline(always)]
    fn gather(&mut self, problem: &Problem, follows: &[Follow], h: f64, share: f64) {
        let ground = problem.mass.len() as u32;
        self.rows.clear();
        self.runs.clear();
        for (k, (row, follow)) in problem.rows.iter().zip(follows).enumerate() {
            let bodies = row.bodies.map(|b| if b == GROUND { ground } else { b });
            match self.runs.last_mut() {
                Some(run) if run.bodies == bodies => run.end += 1,
                _ => self.runs.push(Run { bodies, first: k as u32, end: k as u32 + 1 }),
            }
            self.rows.push(Quick::of(row, follow, &problem.inverse, h, share));
        }
        // rows of a ball share the mass of the one that yields most
        for k in 0..self.rows.len() {
            let n = self.rows[k].ball as usize;
            if n > 1 {
                let least = self.rows[k..k + n].iter().fold(f64::INFINITY, |least, row| least.min(row.mass[0]));
                self.rows[k..k + n].iter_mut().for_each(|row| row.mass[0] = least);
            }
        }
    }

    /// One pass over all rows, runs in order or backwards, of a substep `dt` when `elapsed` is over; `relax`: without push and compliance.
    #[inline(always)]
    fn pass(&mut self, moved: &[f64], u: &mut [f64], times: [f64; 2], relax: bool, backward: bool) {
        for k in 0..self.runs.len() {
            let run = self.runs[if backward { self.runs.len() - 1 - k } else { k }];
            let mut both = load(u, run.bodies);
            let way = load(moved, run.bodies);
            let mut at = run.first as usize;
            while at < run.end as usize {
                let n = self.rows[at].ball.max(1) as usize;
                if let Some(bound) = self.rows[at].follow {
                    let from = bound.first as usize;
                    let normals = &self.rows[from..from + bound.count as usize];
                    let normal: f64 = normals.iter().map(|row| row.lambda.max(0.0)).sum();
                    let bound = (bound.factor * normal).min(bound.most);
                    let rows = &mut self.rows[at..at + n];
                    // what does not press does not rub
                    if bound == 0.0 && rows.iter().all(|row| row.lambda == 0.0) {
                        at += n;
                        continue;
                    }
                    for row in rows {
                        (row.lower, row.upper) = (-bound, bound);
                    }
                }
                match n {
                    1 => push(&mut self.rows[at], &way, &mut both, times, relax),
                    _ => hold(&mut self.rows[at..at + n], &mut both),
                }
                if relax {
                    self.rows[at..at + n].iter_mut().for_each(|row| row.sum += row.lambda);
                }
                at += n;
            }
            store(u, run.bodies, &both);
        }
    }
}

impl Quick {
    #[inline(always)]
    fn of(row: &Row, follow: &Follow, inverse: &[Block], h: f64, share: f64) -> Quick {
        let dt = h * share;
        let (mut J, mut WJ) = ([0.0; 12], [0.0; 12]);
        for s in 0..2 {
            if row.bodies[s] != GROUND {
                J[6 * s..6 * s + 6].copy_from_slice(&row.J[s]);
                WJ[6 * s..6 * s + 6].copy_from_slice(&times(&inverse[row.bodies[s] as usize], &row.J[s]));
            }
        }
        let yields = dot(&J, &WJ);
        // at rest a row carries b/eps in the step: h k |phi|
        let own = (row.target + row.given) / (row.compliance * -row.gap * h);
        let own = if row.gap < 0.0 && own > 0.0 { (own * yields).sqrt() } else { f64::INFINITY };
        let omega = (FREQUENCY / dt).min(own);
        let soft = !row.gap.is_nan();
        let eps = match soft {
            true => yields / (dt * omega * (omega * dt + 2.0 * RATIO)),
            // impulses are those of a substep
            false => row.compliance / share,
        };
        let Follow { first, count, factor, most } = *follow;
        Quick {
            J,
            WJ,
            gap: row.gap,
            given: row.given,
            bias: omega / (omega * dt + 2.0 * RATIO),
            target: row.target,
            eps,
            mass: [1.0 / yields, 1.0 / (yields + eps)],
            lower: row.lower * share,
            upper: row.upper * share,
            lambda: if row.lambda.is_nan() { 0.0 } else { row.lambda * share },
            sum: 0.0,
            ball: row.ball,
            soft,
            follow: (first != u32::MAX).then_some(Bound { first, count, factor, most: most * share }),
        }
    }
}

/// W x of a symmetric block.
#[inline(always)]
fn times(W: &Block, x: &[f64]) -> [f64; 6] {
    let mut y = [0.0; 6];
    for j in 0..6 {
        for i in 0..6 {
            y[i] += W[6 * j + i] * x[j];
        }
    }
    y
}

#[inline(always)]
fn dot(a: &Two, b: &Two) -> f64 {
    let sum: [f64; 4] = std::array::from_fn(|k| a[k] * b[k] + a[4 + k] * b[4 + k] + a[8 + k] * b[8 + k]);
    (sum[0] + sum[1]) + (sum[2] + sum[3])
}

#[inline(always)]
fn shift(row: &Quick, lambda: f64, both: &mut Two) {
    for i in 0..12 {
        both[i] += row.WJ[i] * lambda;
    }
}

#[inline(always)]
fn load(u: &[f64], bodies: [u32; 2]) -> Two {
    let mut both = [0.0; 12];
    for s in 0..2 {
        both[6 * s..6 * s + 6].copy_from_slice(&u[6 * bodies[s] as usize..][..6]);
    }
    both
}

#[inline(always)]
fn store(u: &mut [f64], bodies: [u32; 2], both: &Two) {
    for s in 0..2 {
        u[6 * bodies[s] as usize..][..6].copy_from_slice(&both[6 * s..6 * s + 6]);
    }
}

/// One row takes the impulse that satisfies it.
#[inline(always)]
fn push(row: &mut Quick, way: &Two, both: &mut Two, [dt, elapsed]: [f64; 2], relax: bool) {
    let (target, eps, mass) = if row.soft {
        let phi = row.gap + dot(&row.J, way) + row.given * elapsed;
        let (target, eps, mass) = if phi > 0.0 {
            (-phi / dt, 0.0, row.mass[0])
        } else if relax {
            (0.0, 0.0, row.mass[0])
        } else {
            ((-phi * row.bias).min(PUSH), row.eps, row.mass[1])
        };
        (target - row.given, eps, mass)
    } else {
        (row.target, row.eps, row.mass[1])
    };
    let wanted = row.lambda + (target - dot(&row.J, both) - eps * row.lambda) * mass;
    let wanted = wanted.clamp(row.lower, row.upper);
    let change = wanted - row.lambda;
    row.lambda = wanted;
    shift(row, change, both);
}

/// The rows of a ball take the impulse that holds, or as much of it as the bound leaves.
#[inline(always)]
fn hold(rows: &mut [Quick], both: &mut Two) {
    let mut wanted = [0.0; 3];
    let mut size = 0.0;
    for (wanted, row) in wanted.iter_mut().zip(rows.iter()) {
        *wanted = row.lambda - (row.given + dot(&row.J, both)) * row.mass[0];
        size += *wanted * *wanted;
    }
    let upper = rows[0].upper;
    let shrink = if size > upper * upper { upper / size.sqrt() } else { 1.0 };
    for (wanted, row) in wanted.into_iter().zip(rows) {
        let change = wanted * shrink - row.lambda;
        row.lambda += change;
        shift(row, change, both);
    }
}
