//! A step in small steps: in each one soft pass over the rows with last time's impulses as a start, a move, and one pass that takes the push
//! out of the velocities again (Macklin 2019; Catto 2023).
//!
//! In a substep of length dt a row with violation phi is a spring and damper of frequency omega and damping ratio zeta on the mass
//! m = 1/(J M^-1 J^T) it sees:   k = m omega^2,  c = 2 m zeta omega,  eps = 1/(dt (k dt + c)),  b = -phi k/(k dt + c).
//! omega is that of the substep, or of the row's own stiffness where that is lower: columns of a patch share what it carries by their areas.
//!
//! Rows between the same two bodies that stand together are a run: the velocities of both bodies stay at hand for all of them. Forces of a
//! row on its two bodies are opposite ([`Problem::is_rubble`]), so it sees its bodies by x = {w1, w2, v2 - v1} and needs 15 numbers:
//!   J u = {a1, a2, d} . x,   x+ = x + {W1 a1, W2 a2, d (1/m1 + 1/m2)} lambda.

use super::{Block, Follow, GROUND, Group, Problem, Report, Row, Solver};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// omega dt of the springs [-].
const FREQUENCY: f64 = 0.6;
/// Their damping ratio [-].
const RATIO: f64 = 2.0;
/// Largest push [m/s].
const PUSH: f64 = 3.0;

/// What a row sees of the velocities or displacements of its bodies, {w1, w2, v2 - v1}, or its derivatives by that.
type Seen = [f64; 9];

/// A row with what it needs at hand.
#[derive(Clone, Copy, Debug)]
struct Quick {
    /// {a1, a2, d}.
    J: Seen,
    /// {W1 a1, W2 a2}.
    W: [f64; 6],
    /// NaN: a row of velocity.
    gap: f64,
    /// What bodies whose motion is given add to the rate.
    given: f64,
    /// b over the violation; of a row of velocity b.
    pull: f64,
    eps: f64,
    /// 1/(J M^-1 J^T), in a ball that of its most yielding row, and 1/(J M^-1 J^T + eps).
    mass: [f64; 2],
    lower: f64,
    upper: f64,
    lambda: f64,
    /// Sum of the impulses of the substeps.
    sum: f64,
    /// Its place among those that follow others; `u32::MAX` for none.
    follow: u32,
    ball: u8,
    /// It overlapped when the substep began.
    closed: bool,
}

/// Rows one after the other between the same two bodies; the number behind the last body stands for the ground.
#[derive(Clone, Copy, Debug)]
struct Run {
    bodies: [u32; 2],
    first: u32,
    end: u32,
    /// 1/m1, 1/m2.
    yields: [f64; 2],
}

/// All rows of a problem at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Rubble {
    rows: Vec<Quick>,
    runs: Vec<Run>,
    /// What bounds of friction follow, by substep.
    follows: Vec<Follow>,
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
        self.advance();
    }
}

impl Step<'_> {
    #[inline(always)]
    fn advance(self) {
        let Step { rubble, problem, follows, u0, h, count, moved } = self;
        let n = problem.mass.len();
        let share = 1.0 / count as f64;
        let dt = h * share;
        rubble.gather(problem, follows, h, share);
        let Problem { inverse, momentum, u, rows, groups, .. } = problem;
        u.clear();
        u.extend_from_slice(u0);
        u.resize(6 * (n + 1), 0.0);
        moved.clear();
        moved.resize(6 * (n + 1), 0.0);
        rubble.free.clear();
        for k in 0..n {
            let free = times(&inverse[k], &momentum[6 * k..6 * k + 6]);
            rubble.free.extend((0..6).map(|i| (free[i] - u0[6 * k + i]) * share));
        }
        rubble.free.resize(6 * (n + 1), 0.0);
        for group in groups.iter_mut() {
            group.lambda = group.lambda.map(|x| x * share);
        }
        rubble.sums.clear();
        rubble.sums.resize(groups.len(), [0.0; 6]);
        rubble.start(inverse, groups, u);
        for step in 0..count {
            // the impulses of the substep before are where this one starts
            for ((u, free), added) in u.iter_mut().zip(&rubble.free).zip(&mut rubble.added) {
                *u += free + *added;
                *added -= *u;
            }
            let backward = step % 2 == 1;
            for relax in [false, true] {
                for group in groups.iter_mut() {
                    super::sweep::settle(inverse, group, u);
                }
                let times = [dt, dt * (step + usize::from(relax)) as f64];
                rubble.pass(moved, u, times, relax, backward);
                if !relax {
                    for (d, u) in moved.iter_mut().zip(u.iter()) {
                        *d += dt * u;
                    }
                }
            }
            for (added, u) in rubble.added.iter_mut().zip(u.iter()) {
                *added += u;
            }
            for (sum, group) in rubble.sums.iter_mut().zip(groups.iter()) {
                for r in 0..6 {
                    sum[r] += group.lambda[r];
                }
            }
        }
        u.truncate(6 * n);
        moved.truncate(6 * n);
        for (row, quick) in rows.iter_mut().zip(&rubble.rows) {
            row.lambda = quick.sum;
        }
        for (group, sum) in groups.iter_mut().zip(&rubble.sums) {
            group.lambda = *sum;
        }
    }
}

impl Rubble {
    /// What the impulses at the start add to the velocities.
    #[inline(always)]
    fn start(&mut self, inverse: &[Block], groups: &[Group], u: &[f64]) {
        self.added.clear();
        self.added.resize(u.len(), 0.0);
        for run in &self.runs {
            let before = run.see(&self.added);
            let mut x = before;
            for row in &self.rows[run.rows()] {
                row.shift(row.lambda, run.both(), &mut x);
            }
            run.store(&mut self.added, &before, &x);
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
        self.follows.clear();
        for (k, (row, follow)) in problem.rows.iter().zip(follows).enumerate() {
            let bodies = row.bodies.map(|b| if b == GROUND { ground } else { b });
            let yields = row.bodies.map(|b| if b == GROUND { 0.0 } else { problem.inverse[b as usize][35] });
            match self.runs.last_mut() {
                Some(run) if run.bodies == bodies => run.end += 1,
                _ => self.runs.push(Run { bodies, first: k as u32, end: k as u32 + 1, yields }),
            }
            let mut quick = Quick::of(row, &problem.inverse, h, share);
            if follow.first != u32::MAX {
                quick.follow = self.follows.len() as u32;
                self.follows.push(Follow { most: follow.most * share, ..*follow });
            }
            self.rows.push(quick);
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
            let before = run.see(u);
            let mut x = before;
            let way = run.see(moved);
            let mut at = run.first as usize;
            while at < run.end as usize {
                let n = self.rows[at].ball.max(1) as usize;
                if let Some(follow) = self.follows.get(self.rows[at].follow as usize) {
                    let from = follow.first as usize;
                    let normals = &self.rows[from..from + follow.count as usize];
                    let bound = follow.bound(normals.iter().map(|row| row.lambda.max(0.0)).sum());
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
                    1 => self.rows[at].push(&way, run.both(), &mut x, times, relax),
                    _ => hold(&mut self.rows[at..at + n], run.both(), &mut x),
                }
                if relax {
                    self.rows[at..at + n].iter_mut().for_each(|row| row.sum += row.lambda);
                }
                at += n;
            }
            run.store(u, &before, &x);
        }
    }
}

impl Run {
    fn rows(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }

    /// 1/m1 + 1/m2.
    #[inline(always)]
    fn both(&self) -> f64 {
        self.yields[0] + self.yields[1]
    }

    #[inline(always)]
    fn see(&self, u: &[f64]) -> Seen {
        let [u1, u2] = self.bodies.map(|b| &u[6 * b as usize..][..6]);
        [u1[0], u1[1], u1[2], u2[0], u2[1], u2[2], u2[3] - u1[3], u2[4] - u1[4], u2[5] - u1[5]]
    }

    /// Both bodies as they are seen now: what changed their relative velocity was one impulse.
    #[inline(always)]
    fn store(&self, u: &mut [f64], before: &Seen, now: &Seen) {
        for i in 0..3 {
            let impulse = (now[6 + i] - before[6 + i]) / self.both();
            for s in 0..2 {
                let u = &mut u[6 * self.bodies[s] as usize..][..6];
                u[i] = now[3 * s + i];
                u[3 + i] += if s == 0 { -impulse } else { impulse } * self.yields[s];
            }
        }
    }
}

impl Quick {
    #[inline(always)]
    fn of(row: &Row, inverse: &[Block], h: f64, share: f64) -> Quick {
        let dt = h * share;
        let (mut J, mut W) = ([0.0; 9], [0.0; 6]);
        let mut both = 0.0;
        for s in 0..2 {
            if row.bodies[s] == GROUND {
                continue;
            }
            let (own, inverse) = (&row.J[s], &inverse[row.bodies[s] as usize]);
            both += inverse[35];
            for i in 0..3 {
                J[3 * s + i] = own[i];
                J[6 + i] = if s == 0 { -own[3 + i] } else { own[3 + i] };
                W[3 * s + i] = inverse[i] * own[0] + inverse[6 + i] * own[1] + inverse[12 + i] * own[2];
            }
        }
        let [.., x, y, z] = J;
        let turning: f64 = (0..6).map(|i| J[i] * W[i]).sum();
        let yields = turning + both * (x * x + y * y + z * z);
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
        Quick {
            J,
            W,
            gap: row.gap,
            given: row.given,
            pull: if soft { omega / (omega * dt + 2.0 * RATIO) } else { row.target },
            eps,
            mass: [1.0 / yields, 1.0 / (yields + eps)],
            lower: row.lower * share,
            upper: row.upper * share,
            lambda: if row.lambda.is_nan() { 0.0 } else { row.lambda * share },
            sum: 0.0,
            follow: u32::MAX,
            ball: row.ball,
            closed: false,
        }
    }

    #[inline(always)]
    fn rate(&self, x: &Seen) -> f64 {
        let sum: [f64; 4] = std::array::from_fn(|k| self.J[k] * x[k] + self.J[4 + k] * x[4 + k]);
        ((sum[0] + sum[1]) + (sum[2] + sum[3])) + self.J[8] * x[8]
    }

    #[inline(always)]
    fn shift(&self, lambda: f64, both: f64, x: &mut Seen) {
        for i in 0..6 {
            x[i] += self.W[i] * lambda;
        }
        let lambda = both * lambda;
        for i in 6..9 {
            x[i] += self.J[i] * lambda;
        }
    }

    /// Takes the impulse that satisfies it.
    #[inline(always)]
    fn push(&mut self, way: &Seen, both: f64, x: &mut Seen, [dt, elapsed]: [f64; 2], relax: bool) {
        let (target, eps, mass) = if self.gap.is_nan() {
            (self.pull, self.eps, self.mass[1])
        } else if relax && self.closed {
            (-self.given, 0.0, self.mass[0])
        } else {
            let phi = self.gap + self.rate(way) + self.given * elapsed;
            self.closed = phi <= 0.0;
            if phi > 0.0 {
                (-phi / dt - self.given, 0.0, self.mass[0])
            } else if relax {
                (-self.given, 0.0, self.mass[0])
            } else {
                ((-phi * self.pull).min(PUSH) - self.given, self.eps, self.mass[1])
            }
        };
        let wanted = self.lambda + (target - self.rate(x) - eps * self.lambda) * mass;
        let wanted = wanted.clamp(self.lower, self.upper);
        let change = wanted - self.lambda;
        self.lambda = wanted;
        self.shift(change, both, x);
    }
}

/// The rows of a ball take the impulse that holds, or as much of it as the bound leaves.
#[inline(always)]
fn hold(rows: &mut [Quick], both: f64, x: &mut Seen) {
    let mut wanted = [0.0; 3];
    let mut size = 0.0;
    for (wanted, row) in wanted.iter_mut().zip(rows.iter()) {
        *wanted = row.lambda - (row.given + row.rate(x)) * row.mass[0];
        size += *wanted * *wanted;
    }
    let upper = rows[0].upper;
    let shrink = if size > upper * upper { upper / size.sqrt() } else { 1.0 };
    for (wanted, row) in wanted.into_iter().zip(rows) {
        let change = wanted * shrink - row.lambda;
        row.lambda += change;
        row.shift(change, both, x);
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

impl Problem {
    /// True if the forces of every row on its two bodies are opposite, as those of contacts and springs are: what [`Solver::substeps`] can do.
    pub fn is_rubble(&self) -> bool {
        let opposite = |row: &Row| {
            let [a, b] = &row.J;
            row.bodies.contains(&GROUND) || (3..6).all(|i| (a[i] + b[i]).abs() <= 1e-12 * (a[i].abs() + b[i].abs()))
        };
        self.forces.is_empty() && self.rows.iter().all(opposite)
    }
}
