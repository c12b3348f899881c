//! A step in small steps: in each one soft pass over the rows with last time's impulses as a start, a move, and one pass that takes the push
//! out of the velocities again (Macklin 2019; Catto 2023).
//!
//! In a substep of length dt a row with violation phi is a spring and damper of frequency omega and damping ratio zeta on the mass
//! m = 1/(J M^-1 J^T) it sees:   k = m omega^2,  c = 2 m zeta omega,  eps = 1/(dt (k dt + c)),  b = -phi k/(k dt + c).
//! omega is that of the substep, or of the row's own stiffness where that is lower: columns of a patch share what it carries by their areas.
//!
//! Forces of a row on its two bodies are opposite ([`Row::is_opposite`]), and angular velocities are scaled, w = K y with K K^T = W the inverse
//! inertia, so a row sees its bodies by x = {y1, y2, v2 - v1} and the same numbers tell what its impulse does:
//!   J u = {a1, a2, d} . x,   x+ = x + {a1, a2, d (1/m1 + 1/m2)} lambda,   a = K^T J_w.
//! Contacts go through a pass eight at a time (`lanes.rs`). Other rows between the same two bodies that stand together are a run: what they see stays at
//! hand for all of them.

use super::lanes::{Lanes, Turn};
use super::{Block, End, Follow, GROUND, Problem, Report, Row, Solver, Tie};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// omega dt of the springs [-].
pub(super) const FREQUENCY: f64 = 0.7;
/// Their damping ratio [-].
pub(super) const RATIO: f64 = 2.0;
/// Largest push [m/s].
pub(super) const PUSH: f64 = 3.0;

/// What a row sees of the velocities or displacements of its bodies, {y1, y2, v2 - v1}, or its derivatives by that.
type Seen = [f64; 9];

/// A row that is not one of a contact in lanes, with what it needs at hand.
#[derive(Clone, Copy, Debug)]
struct Quick {
    /// {a1, a2, d}.
    J: Seen,
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
    /// Its place in the problem.
    row: u32,
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

/// What comes next in a pass.
#[derive(Clone, Copy, Debug)]
enum Next {
    Batch(u32),
    Run(u32),
}

/// All rows of a problem at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Rubble {
    lanes: Lanes,
    rows: Vec<Quick>,
    runs: Vec<Run>,
    order: Vec<Next>,
    /// K of each body, its lower triangle by rows.
    roots: Vec<[f64; 6]>,
    /// What bounds of friction follow, by substep.
    follows: Vec<Follow>,
    /// What free motion adds to the velocities in a substep, and what rows added in the last one.
    free: Vec<f64>,
    added: Vec<f64>,
    /// Ties and inverse masses by scaled velocities; impulses, summed up.
    ties: Vec<Tie>,
    ends: Vec<End>,
    inverse: Vec<Block>,
    sums: Vec<[f64; 6]>,
}

impl Solver {
    /// Goes from the velocities `u0` through a step of length `h` in `count` substeps; `follows` are the bounds of friction, by row, and
    /// body b of a row is body `places[b]` of the problem (b itself where there is no such place). The displacement of the bodies is left in `moved`. Impulses in the rows (over the whole step) are the start and the answer; bounds that
    /// follow others are those of the answer.
    #[expect(clippy::too_many_arguments, reason = "a problem, what its rows follow, and a buffer of the caller")]
    pub fn substeps(
        &mut self,
        problem: &mut Problem,
        follows: &[Follow],
        places: &[u32],
        u0: &[f64],
        h: f64,
        count: usize,
        moved: &mut Vec<f64>,
    ) -> Report {
        Arch::new().dispatch(Step { rubble: &mut self.rubble, problem, follows, places, u0, h, count, moved });
        Report { sweeps: 2 * count, converged: true, ..Report::default() }
    }
}

/// [`Solver::substeps`] as a task for the machine's vector instructions.
struct Step<'a> {
    rubble: &'a mut Rubble,
    problem: &'a mut Problem,
    follows: &'a [Follow],
    places: &'a [u32],
    u0: &'a [f64],
    h: f64,
    count: usize,
    moved: &'a mut Vec<f64>,
}

impl WithSimd for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.advance(simd);
    }
}

impl Step<'_> {
    #[inline(always)]
    fn advance<S: Simd>(self, simd: S) {
        let Step { rubble, problem, follows, places, u0, h, count, moved } = self;
        let n = problem.mass.len();
        let share = 1.0 / count as f64;
        let dt = h * share;
        rubble.gather(problem, follows, places, [h, share]);
        let Problem { inverse, momentum, u, rows, ties, .. } = problem;
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
        scale(&rubble.roots[..n], unturned, u);
        scale(&rubble.roots[..n], unturned, &mut rubble.free);
        for step in 0..count {
            // the impulses of the substep before are where this one starts
            for ((u, free), added) in u.iter_mut().zip(&rubble.free).zip(&mut rubble.added) {
                *u += free + *added;
                *added -= *u;
            }
            let backward = step % 2 == 1;
            for relax in [false, true] {
                for tie in rubble.ties.iter_mut() {
                    super::sweep::settle(&rubble.inverse, tie, &rubble.ends, u);
                }
                let elapsed = dt * (step + usize::from(relax)) as f64;
                let turn = Turn { moved: moved.as_chunks().0, dt, elapsed, relax };
                rubble.pass(simd, turn, u.as_chunks_mut().0, backward);
                if !relax {
                    for (d, u) in moved.iter_mut().zip(u.iter()) {
                        *d += dt * u;
                    }
                }
            }
            for (added, u) in rubble.added.iter_mut().zip(u.iter()) {
                *added += u;
            }
            for (sum, tie) in rubble.sums.iter_mut().zip(&rubble.ties) {
                for r in 0..6 {
                    sum[r] += tie.lambda[r];
                }
            }
        }
        u.truncate(6 * n);
        moved.truncate(6 * n);
        scale(&rubble.roots, turned, u);
        scale(&rubble.roots, turned, moved);
        rubble.lanes.tell(rows, follows);
        for quick in &rubble.rows {
            let k = quick.row as usize;
            rows[k].lambda = quick.sum;
            let Follow { first, count, .. } = follows[k];
            if first != u32::MAX {
                // normals stand before what follows them
                let normals = &rows[first as usize..][..count as usize];
                let pressed = |row: &Row| Follow::pressed(row.lambda, row.lower);
                let bound = follows[k].bound(normals.iter().map(pressed).sum());
                (rows[k].lower, rows[k].upper) = (-bound, bound);
            }
        }
        for (tie, sum) in ties.iter_mut().zip(&rubble.sums) {
            tie.lambda = *sum;
        }
    }
}

impl Rubble {
    /// All rows by scaled velocities, and what the impulses at the start add to them.
    #[inline(always)]
    fn gather(&mut self, problem: &Problem, follows: &[Follow], places: &[u32], [h, share]: [f64; 2]) {
        let n = problem.mass.len();
        let ground = n as u32;
        self.roots.clear();
        self.roots.extend(problem.inverse.iter().map(root).chain([[0.0; 6]]));
        self.lanes.clear(n);
        self.rows.clear();
        self.runs.clear();
        self.order.clear();
        self.follows.clear();
        self.added.clear();
        self.added.resize(6 * (n + 1), 0.0);
        let mut k = 0;
        while k < problem.rows.len() {
            let batches = self.lanes.len();
            if let Some(rows) = self.lanes.take(problem, follows, k, places, &self.roots, [h, share], &mut self.added) {
                if self.lanes.len() > batches {
                    self.order.push(Next::Batch(batches as u32));
                }
                k += rows;
                continue;
            }
            let (row, follow) = (&problem.rows[k], &follows[k]);
            let bodies = placed(row, places, ground);
            let yields = bodies.map(|b| if b == ground { 0.0 } else { problem.inverse[b as usize][35] });
            let at = self.rows.len() as u32;
            match (self.runs.last_mut(), self.order.last()) {
                (Some(run), Some(Next::Run(_))) if run.bodies == bodies => run.end += 1,
                _ => {
                    self.order.push(Next::Run(self.runs.len() as u32));
                    self.runs.push(Run { bodies, first: at, end: at + 1, yields });
                }
            }
            let mut quick = Quick::of(row, bodies, &self.roots, yields[0] + yields[1], [h, share]);
            quick.row = k as u32;
            if follow.first != u32::MAX {
                quick.follow = self.follows.len() as u32;
                // it follows rows just before it
                let first = at - (k as u32 - follow.first);
                self.follows.push(Follow { first, most: follow.most * share, plus: follow.plus * share, ..*follow });
            }
            self.rows.push(quick);
            k += 1;
        }
        // rows of a ball share the mass of the one that yields most
        for k in 0..self.rows.len() {
            let n = self.rows[k].ball as usize;
            if n > 1 {
                let least = self.rows[k..k + n].iter().fold(f64::INFINITY, |least, row| least.min(row.mass[0]));
                self.rows[k..k + n].iter_mut().for_each(|row| row.mass[0] = least);
            }
        }
        for run in &self.runs {
            let added = self.added.as_chunks_mut().0;
            let before = run.see(added);
            let mut x = before;
            for row in &self.rows[run.rows()] {
                row.shift(row.lambda, run.both(), &mut x);
            }
            run.store(added, &before, &x);
        }
        self.gather_ties(problem, share);
    }

    /// Ties by scaled velocities: there the inverse inertia is 1. Their impulses are those of a substep.
    fn gather_ties(&mut self, problem: &Problem, share: f64) {
        self.sums.clear();
        self.sums.resize(problem.ties.len(), [0.0; 6]);
        self.inverse.clear();
        self.ties.clear();
        self.ends.clear();
        if problem.ties.is_empty() {
            return;
        }
        for W in &problem.inverse {
            self.inverse.push(std::array::from_fn(|k| match k {
                0 | 7 | 14 => 1.0,
                21 | 28 | 35 => W[k],
                _ => 0.0,
            }));
        }
        self.ends.extend_from_slice(&problem.ends);
        for end in &mut self.ends {
            for row in end.J.chunks_exact_mut(6) {
                let a = transposed(&self.roots[end.body as usize], [row[0], row[1], row[2]]);
                row[..3].copy_from_slice(&a);
            }
        }
        for tie in &problem.ties {
            let part = |x: [f64; 6]| x.map(|x| x * share);
            let mut own = Tie { lower: part(tie.lower), upper: part(tie.upper), ..*tie };
            own.lambda = tie.lambda.map(|x| if x.is_nan() { 0.0 } else { x * share });
            for r in 0..tie.count {
                let eps =
                    tie.felt(r, if tie.is_bounded(r) { tie.yields(&problem.ends, r, &problem.inverse) } else { 0.0 });
                own.compliance[r] = eps / share;
            }
            super::sweep::shift_tie(&self.inverse, &own, &self.ends, &own.lambda, &mut self.added);
            self.ties.push(own);
        }
    }

    /// One pass over all rows, in order or backwards.
    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, turn: Turn<'_>, u: &mut [[f64; 6]], backward: bool) {
        for k in 0..self.order.len() {
            match self.order[if backward { self.order.len() - 1 - k } else { k }] {
                Next::Batch(batch) => self.lanes.pass(simd, batch as usize, turn, u),
                Next::Run(run) => self.go_through(self.runs[run as usize], turn, u),
            }
        }
    }

    /// The rows of a run take the impulses that satisfy them.
    fn go_through(&mut self, run: Run, Turn { moved, dt, elapsed, relax }: Turn<'_>, u: &mut [[f64; 6]]) {
        let before = run.see(u);
        let mut x = before;
        let way = run.see(moved);
        let mut at = run.first as usize;
        while at < run.end as usize {
            let n = self.rows[at].ball.max(1) as usize;
            if let Some(follow) = self.follows.get(self.rows[at].follow as usize) {
                let from = follow.first as usize;
                let normals = &self.rows[from..from + follow.count as usize];
                let pressed = |row: &Quick| Follow::pressed(row.lambda, row.lower);
                let bound = follow.bound(normals.iter().map(pressed).sum());
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
                1 => self.rows[at].push(&way, run.both(), &mut x, [dt, elapsed], relax),
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
    fn see(&self, u: &[[f64; 6]]) -> Seen {
        let [u1, u2] = self.bodies.map(|b| &u[b as usize]);
        [u1[0], u1[1], u1[2], u2[0], u2[1], u2[2], u2[3] - u1[3], u2[4] - u1[4], u2[5] - u1[5]]
    }

    /// Both bodies as they are seen now: what changed their relative velocity was one impulse.
    #[inline(always)]
    fn store(&self, u: &mut [[f64; 6]], before: &Seen, now: &Seen) {
        for i in 0..3 {
            let impulse = (now[6 + i] - before[6 + i]) / self.both();
            for s in 0..2 {
                let u = &mut u[self.bodies[s] as usize];
                u[i] = now[3 * s + i];
                u[3 + i] += if s == 0 { -impulse } else { impulse } * self.yields[s];
            }
        }
    }
}

impl Quick {
    #[inline(always)]
    fn of(row: &Row, bodies: [u32; 2], roots: &[[f64; 6]], both: f64, [h, share]: [f64; 2]) -> Quick {
        let dt = h * share;
        let [a, b, c, d, e, f] = scaled(row, bodies, roots);
        let [x, y, z] = direction(row);
        let J = [a, b, c, d, e, f, x, y, z];
        let turning: f64 = (0..6).map(|i| J[i] * J[i]).sum();
        let yields = turning + both * (x * x + y * y + z * z);
        let (soft, pull) = softness(row, yields, h, dt);
        let (eps, pull) = match row.gap.is_nan() {
            // impulses are those of a substep
            true => (row.compliance / share, row.target),
            false => (yields * (1.0 - soft) / soft, pull),
        };
        Quick {
            J,
            gap: row.gap,
            given: row.given,
            pull,
            eps,
            mass: [1.0 / yields, 1.0 / (yields + eps)],
            lower: row.lower * share,
            upper: row.upper * share,
            lambda: if row.lambda.is_nan() { 0.0 } else { row.lambda * share },
            sum: 0.0,
            follow: u32::MAX,
            row: 0,
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
            x[i] += self.J[i] * lambda;
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

/// d: what a row sees of v2 - v1.
#[inline(always)]
pub(super) fn direction(row: &Row) -> [f64; 3] {
    match row.bodies[1] {
        GROUND => [-row.J[0][3], -row.J[0][4], -row.J[0][5]],
        _ => [row.J[1][3], row.J[1][4], row.J[1][5]],
    }
}

/// Bodies of a row as the problem has them; the number behind the last one stands for the ground.
#[inline(always)]
pub(super) fn placed(row: &Row, places: &[u32], ground: u32) -> [u32; 2] {
    row.bodies.map(|b| if b == GROUND { ground } else { places.get(b as usize).copied().unwrap_or(b) })
}

/// {a1, a2}: what a row between these bodies of the problem sees of the scaled angular velocities; the ground has none.
#[inline(always)]
pub(super) fn scaled(row: &Row, bodies: [u32; 2], roots: &[[f64; 6]]) -> [f64; 6] {
    let a = |s: usize| transposed(&roots[bodies[s] as usize], [row.J[s][0], row.J[s][1], row.J[s][2]]);
    let ([a, b, c], [d, e, f]) = (a(0), a(1));
    [a, b, c, d, e, f]
}

/// k of a row that overlaps; infinite for others. At rest it carries b/eps in the step: h k |phi|.
#[inline(always)]
pub(super) fn spring(row: &Row, h: f64) -> f64 {
    let own = (row.target + row.given) / (row.compliance * -row.gap * h);
    if row.gap < 0.0 && own > 0.0 { own } else { f64::INFINITY }
}

/// For a row with the spring it has: 1/(1 + eps m), and b over the violation.
#[inline(always)]
pub(super) fn softness(row: &Row, yields: f64, h: f64, dt: f64) -> (f64, f64) {
    let omega = (FREQUENCY / dt).min((spring(row, h) * yields).sqrt());
    let stiff = omega * dt * (omega * dt + 2.0 * RATIO);
    (stiff / (1.0 + stiff), omega / (omega * dt + 2.0 * RATIO))
}

/// Applies `by` to the angular velocities of all bodies.
#[inline(always)]
fn scale(roots: &[[f64; 6]], by: impl Fn(&[f64; 6], [f64; 3]) -> [f64; 3], u: &mut [f64]) {
    for (K, u) in roots.iter().zip(u.chunks_exact_mut(6)) {
        let y = by(K, [u[0], u[1], u[2]]);
        u[..3].copy_from_slice(&y);
    }
}

/// K of K K^T = W, the angular part of an inverse mass.
#[inline(always)]
fn root(W: &Block) -> [f64; 6] {
    let a = W[0].sqrt();
    let (b, c) = (W[6] / a, W[12] / a);
    let d = (W[7] - b * b).sqrt();
    let e = (W[13] - c * b) / d;
    [a, b, d, c, e, (W[14] - c * c - e * e).sqrt()]
}

/// K y.
#[inline(always)]
fn turned(K: &[f64; 6], y: [f64; 3]) -> [f64; 3] {
    [K[0] * y[0], K[1] * y[0] + K[2] * y[1], K[3] * y[0] + K[4] * y[1] + K[5] * y[2]]
}

/// K^-1 w.
#[inline(always)]
fn unturned(K: &[f64; 6], w: [f64; 3]) -> [f64; 3] {
    let x = w[0] / K[0];
    let y = (w[1] - K[1] * x) / K[2];
    [x, y, (w[2] - K[3] * x - K[4] * y) / K[5]]
}

/// K^T a.
#[inline(always)]
fn transposed(K: &[f64; 6], a: [f64; 3]) -> [f64; 3] {
    [K[0] * a[0] + K[1] * a[1] + K[3] * a[2], K[2] * a[1] + K[4] * a[2], K[5] * a[2]]
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

impl Row {
    /// True if its forces on its two bodies are opposite, as those of contacts and springs are: what [`Solver::substeps`] can do.
    pub fn is_opposite(&self) -> bool {
        let [a, b] = &self.J;
        self.bodies.contains(&GROUND) || (3..6).all(|i| (a[i] + b[i]).abs() <= 1e-12 * (a[i].abs() + b[i].abs()))
    }
}
