//! Block pivoting, and where it does not settle one of two Newton methods, or both.
//!
//! On the impulses, projected (Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints): rows inside their bounds, or at one they want to leave, hold their
//! equation; the linear problem of these is solved in velocities; the step is taken along its projection onto the bounds as far as the energy q falls. That
//! finds what sticks and what slides, and loses its way among many more rows than there are velocities.
//!
//! On the velocities: `descent.rs`.

use super::bounded::{Bounded, SLACK};
use super::{GROUND, Problem, Report, Row, Solver, Tie, Vertex, Wide, border, push};

/// Rounds of refinement after each factorisation.
const REFINEMENTS: usize = 2;
/// Rounds at most with the factors of sets that are the same but for where their rims are; a round costs a solution instead of a factorisation.
const ROUNDS: usize = 8;
/// With them each round must leave this share of the last one's change, or less [-].
const CONTRACTION: f64 = 0.3;

/// Impulses this close to the radius of their ball, as a share of it, are taken to slide at the start [-].
const NEAR: f64 = 1e-6;
/// Rounding of a row's velocity, as a share of the largest velocity [-].
const NOISE: f64 = 1e-14;
/// The impulse of a rim may point this far from its slip [rad].
const TURN: f64 = 1e-10;

/// The first steps go all the way whether they gain or not: they find most of the sets.
const BOLD: usize = 4;
/// Passes of Gauss-Seidel after each of them: they settle rows that met their bounds.
const PASSES: usize = 8;
/// Linear problems of block pivoting at most.
const PIVOTS: usize = 16;
/// Times in a row the number of rows that do not fit need not fall.
const PATIENCE: usize = 3;
/// Rounding of q, as a share of it [-].
const ROUNDING: f64 = 1e-12;
/// Steps are halved this often at most.
const HALVINGS: usize = 40;
/// Passes where no step helped.
const LAST_PASSES: usize = 200;
/// With more rows than this for each velocity the method on the velocities goes first [-].
const CROWDED: usize = 4;

/// What a row does in the linear problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Status {
    /// Its equation holds.
    #[default]
    Free,
    /// At a bound, with this impulse (zero in a ball without radius).
    Bound(f64),
    /// A ball at its rim: across it, at right angles to d, the slip v fulfils v = (v . d/radius) lambda.
    Rim {
        /// Direction of the impulse.
        d: [f64; 3],
        /// radius/(v . d).
        across: f64,
    },
    /// A later row of a ball: see the first.
    Later,
}

impl Solver {
    /// Solves until no velocity is off by more than `tolerance` (or rounding); at most `limit` linear problems of either kind. Impulses in the rows and
    /// ties are the start and the answer.
    pub fn newton(&mut self, problem: &mut Problem, limit: usize, tolerance: f64) -> Report {
        self.has_factors = false;
        self.pattern(problem);
        self.measure(problem);
        self.find_sets(problem, limit, tolerance)
    }

    /// As [`Solver::newton`], for the problem it has just solved with other bounds: its factors serve as long as the sets are the same.
    pub fn newton_again(&mut self, problem: &mut Problem, limit: usize, tolerance: f64) -> Report {
        match self.has_factors {
            true => self.find_sets(problem, limit, tolerance),
            false => self.newton(problem, limit, tolerance),
        }
    }

    /// Block pivoting, and Newton's method where that does not settle.
    fn find_sets(&mut self, problem: &mut Problem, limit: usize, tolerance: f64) -> Report {
        self.first_impulses(problem);
        self.held.clear();
        self.held.resize(problem.rows.len() + 6 * problem.ties.len(), false);
        let mut report = Report::default();
        let solved = |problem: &Problem| problem.u.iter().all(|u| u.is_finite());
        if self.pivot(problem, limit, tolerance, &mut report) && solved(problem) {
            return report;
        }
        // impulses after pivoting, from which either method starts
        keep_impulses(problem, &mut self.first);
        let crowded = problem.rows.len() > CROWDED * problem.u.len();
        for on_velocities in [crowded, !crowded] {
            put_back_impulses(problem, &self.first);
            velocities(problem, true);
            report.converged = match on_velocities {
                true => self.descend(problem, limit, tolerance, &mut report),
                false => self.project(problem, limit, tolerance, &mut report),
            };
            within_bounds(problem);
            if report.converged && solved(problem) {
                return report;
            }
        }
        // the better of what was found last and of passes from rest, which give no energy and stay finite
        report.converged = false;
        let found = if solved(problem) { self.last_passes(problem) } else { f64::INFINITY };
        keep_impulses(problem, &mut self.best);
        problem.rows.iter_mut().for_each(|row| row.lambda = 0.0_f64.clamp(row.lower, row.upper));
        for tie in &mut problem.ties {
            tie.lambda = std::array::from_fn(|r| 0.0_f64.clamp(tie.lower[r], tie.upper[r]));
        }
        if self.last_passes(problem) > found {
            put_back_impulses(problem, &self.best);
            velocities(problem, true);
        }
        report
    }

    /// Passes from the impulses at hand; returns q.
    fn last_passes(&mut self, problem: &mut Problem) -> f64 {
        velocities(problem, true);
        for pass in 0..LAST_PASSES {
            self.pass(problem, pass % 2 == 1);
        }
        velocities(problem, true)
    }

    /// Newton's method on the impulses; true if it came to the solution.
    fn project(&mut self, problem: &mut Problem, limit: usize, tolerance: f64, report: &mut Report) -> bool {
        let mut energy = f64::INFINITY;
        self.held.fill(false);
        for round in 0..limit {
            self.classify(problem, false);
            keep_impulses(problem, &mut self.start);
            self.linear_problem(problem, tolerance, report);
            if self.consistent(problem, tolerance) {
                return true;
            }
            let bold = round < BOLD;
            energy = self.search(problem, if bold { f64::INFINITY } else { energy });
            if bold {
                for pass in 0..PASSES {
                    self.pass(problem, pass % 2 == 1);
                }
                energy = velocities(problem, true);
            } else {
                self.hold(problem);
            }
        }
        false
    }

    /// Solves the linear problem of the sets at hand, with the factors at hand where they will do.
    pub(super) fn linear_problem(&mut self, problem: &mut Problem, tolerance: f64, report: &mut Report) {
        report.apart = self.joined.count();
        let same = |(a, b): (&Status, &Status)| std::mem::discriminant(a) == std::mem::discriminant(b);
        if self.has_factors && self.factored.iter().zip(&self.states).all(same) {
            self.before.clone_from(&problem.u);
            keep_impulses(problem, &mut self.attempted);
            if self.linear_solution(problem, tolerance, ROUNDS) {
                return;
            }
            problem.u.clone_from(&self.before);
            put_back_impulses(problem, &self.attempted);
        }
        self.assemble(problem);
        self.ldl.factor();
        self.joined.factor(problem, &self.states, &mut self.ldl);
        self.factored.clone_from(&self.states);
        self.has_factors = true;
        report.factorisations += 1;
        report.apart = self.joined.count();
        self.linear_solution(problem, tolerance, REFINEMENTS);
    }

    /// Block pivoting (Judice, Pires 1994): all rows that do not fit change sides at once, as long as their number falls every now and
    /// then. True if that solved the problem; otherwise the impulses of the start are there again.
    fn pivot(&mut self, problem: &mut Problem, limit: usize, tolerance: f64, report: &mut Report) -> bool {
        self.classify(problem, true);
        keep_impulses(problem, &mut self.first);
        let (mut least, mut patience) = (usize::MAX, PATIENCE);
        for _ in 0..limit.min(PIVOTS) {
            self.linear_problem(problem, tolerance, report);
            if self.consistent(problem, tolerance) {
                report.converged = true;
                within_bounds(problem);
                return true;
            }
            let wrong = self.change_sides(problem, tolerance);
            if wrong < least {
                (least, patience) = (wrong, PATIENCE);
            } else if patience == 0 {
                break;
            } else {
                patience -= 1;
            }
        }
        put_back_impulses(problem, &self.first);
        velocities(problem, true);
        for pass in 0..PASSES {
            self.pass(problem, pass % 2 == 1);
        }
        false
    }

    /// Rows that do not fit the linear solution to the other side; returns how many.
    fn change_sides(&mut self, problem: &Problem, tolerance: f64) -> usize {
        let noise = (NOISE * problem.u.iter().fold(0.0_f64, |most, u| most.max(u.abs()))).max(tolerance);
        let mut wrong = 0;
        let mut k = 0;
        while k < problem.rows.len() {
            let row = &problem.rows[k];
            let n = row.ball.max(1) as usize;
            let slack = noise / self.yields[k];
            let old = self.states[k];
            self.states[k] = if row.ball > 0 {
                let own = &problem.rows[k..k + n];
                let size = own.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
                let v = self.slip(problem, k, n);
                let along = (0..n).map(|i| v[i] * own[i].lambda).sum::<f64>() / size;
                let stick = row.compliance * row.upper;
                let rim = match old {
                    Status::Free => size > row.upper + slack,
                    Status::Rim { .. } => along >= stick - noise,
                    _ => false,
                };
                if row.upper <= 0.0 {
                    Status::Bound(0.0)
                } else if rim {
                    let d = std::array::from_fn(|i| if i < n { own[i].lambda / size } else { 0.0 });
                    Status::Rim { d, across: row.upper / along.max(stick) }
                } else {
                    Status::Free
                }
            } else {
                let v = row.target - Problem::rate(row, &problem.u);
                Bounded::of_row(row, self.yields[k]).other_side(old, noise, v)
            };
            wrong += usize::from(std::mem::discriminant(&old) != std::mem::discriminant(&self.states[k]));
            k += n;
        }
        for (t, tie) in problem.ties.iter().enumerate() {
            for r in tie.bounded() {
                let (at, old) = (k + 6 * t + r, self.states[k + 6 * t + r]);
                let v = tie.target[r] - tie.rate(&problem.ends, r, &problem.u);
                self.states[at] = Bounded::of_tie(tie, r, self.yields[at]).other_side(old, noise, v);
                wrong += usize::from(std::mem::discriminant(&old) != std::mem::discriminant(&self.states[at]));
            }
        }
        wrong
    }

    /// Blocks of the factors, fill included.
    pub fn blocks(&self) -> usize {
        self.ldl.blocks()
    }

    /// Vertices and edges; the order of elimination is kept if they did not change.
    fn pattern(&mut self, problem: &Problem) {
        let n = problem.mass.len();
        self.vertices.clear();
        self.vertices.resize(n, Vertex::Body);
        self.vertices.resize(n + problem.ties.len(), Vertex::Rows);
        let mut edges = std::mem::take(&mut self.fresh);
        edges.clear();
        let mut last = (GROUND, GROUND);
        for row in &problem.rows {
            let [a, b] = row.bodies;
            if a != GROUND && b != GROUND && a != b && (a, b) != last && !row.apart {
                last = (a, b);
                edges.push((a.min(b), a.max(b)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let pairs = edges.len();
        self.tie_edge.clear();
        for (t, tie) in problem.ties.iter().enumerate() {
            self.tie_edge.push(if tie.apart { u32::MAX } else { edges.len() as u32 });
            if !tie.apart {
                edges.extend(tie.ends.of(&problem.ends).iter().map(|end| (end.body, (n + t) as u32)));
            }
        }
        self.row_edge.clear();
        let mut known = (last, u32::MAX);
        known.0 = (GROUND, GROUND);
        for row in &problem.rows {
            let [a, b] = row.bodies;
            if a == GROUND || b == GROUND || a == b || row.apart {
                self.row_edge.push(u32::MAX);
                continue;
            }
            if known.0 != (a, b) {
                let at = edges[..pairs].partition_point(|&e| e < (a.min(b), a.max(b)));
                known = ((a, b), at as u32);
            }
            self.row_edge.push(known.1);
        }
        if edges != self.edges || self.ldl.vertices() != self.vertices.len() || self.bodies != n {
            self.bodies = n;
            self.ldl = super::BlockLdl::new(&self.vertices, &edges);
            std::mem::swap(&mut self.edges, &mut edges);
        }
        self.fresh = edges;
    }

    /// Rows that met a bound stay there until the others have come to rest: then all may leave.
    fn hold(&mut self, problem: &Problem) {
        let mut met = false;
        for (k, row) in problem.rows.iter().enumerate() {
            if self.states[k] == Status::Free && !row.shared && (row.lambda <= row.lower || row.lambda >= row.upper) {
                self.held[k] = true;
                met = true;
            }
        }
        let rows = problem.rows.len();
        for (t, tie) in problem.ties.iter().enumerate() {
            for r in tie.bounded() {
                let at = rows + 6 * t + r;
                let reached = tie.lambda[r] <= tie.lower[r] || tie.lambda[r] >= tie.upper[r];
                if self.states[at] == Status::Free && reached {
                    self.held[at] = true;
                    met = true;
                }
            }
        }
        if !met {
            self.held.fill(false);
        }
    }

    /// Impulses and velocities to start from: last time's within today's bounds; rows without one (NaN) ask for what the velocity
    /// without rows would need, as far as their bodies yield, and passes see to the rest. Where nothing is bounded there is one linear problem,
    /// whose answer is the same from anywhere.
    fn first_impulses(&mut self, problem: &mut Problem) {
        let is_bounded = |row: &Row| row.ball > 0 || row.lower > f64::NEG_INFINITY || row.upper < f64::INFINITY;
        if !problem.rows.iter().any(is_bounded) && problem.ties.iter().all(|tie| tie.bounded().next().is_none()) {
            let lambdas = problem.ties.iter_mut().flat_map(|tie| &mut tie.lambda);
            let lambdas = problem.rows.iter_mut().map(|row| &mut row.lambda).chain(lambdas);
            lambdas.filter(|lambda| lambda.is_nan()).for_each(|lambda| *lambda = 0.0);
            velocities(problem, true);
            return;
        }
        let unknown = |tie: &Tie| tie.bounded().any(|r| tie.lambda[r].is_nan());
        let fresh = problem.rows.iter().any(|row| row.lambda.is_nan())
            || problem.ties.iter().any(unknown)
            || problem.u.len() != problem.momentum.len()
            || !problem.u.iter().all(|u| u.is_finite());
        if fresh {
            velocities(problem, false);
        }
        let mut k = 0;
        while k < problem.rows.len() {
            let n = problem.rows[k].ball.max(1) as usize;
            for row in &mut problem.rows[k..k + n] {
                if row.lambda.is_nan() {
                    row.lambda = match row.shared {
                        true => 0.0,
                        false => {
                            (row.target - Problem::rate(row, &problem.u))
                                / (row.compliance + row.yields(&problem.inverse))
                        }
                    };
                }
                if !row.shared {
                    row.lambda = row.lambda.clamp(row.lower, row.upper);
                }
            }
            into_ball(problem, k);
            k += n;
        }
        let Problem { ties, ends, u, .. } = problem;
        for (t, tie) in ties.iter_mut().enumerate() {
            for r in 0..tie.count {
                if tie.lambda[r].is_nan() {
                    tie.lambda[r] = match tie.is_bounded(r) {
                        true => (tie.target[r] - tie.rate(ends, r, u)) / self.yields[k + 6 * t + r],
                        false => 0.0,
                    };
                }
                tie.lambda[r] = tie.lambda[r].clamp(tie.lower[r], tie.upper[r]);
            }
        }
        if fresh {
            velocities(problem, true);
            for pass in 0..PASSES {
                self.pass(problem, pass % 2 == 1);
            }
        }
    }

    /// Which rows hold their equation at the impulses and velocities at hand: those inside their bounds, and those at a bound
    /// they want to leave. At the start (`first`) impulses that are nearly as large as the radius of their ball are taken to slide.
    fn classify(&mut self, problem: &Problem, first: bool) {
        self.states.clear();
        let mut k = 0;
        while k < problem.rows.len() {
            let row = &problem.rows[k];
            let v = |row: &Row| row.target - Problem::rate(row, &problem.u);
            if row.ball > 0 {
                let n = row.ball as usize;
                let own = &problem.rows[k..k + n];
                let size = own.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
                let near = size >= row.upper * (1.0 - if first { NEAR } else { SLACK });
                let along = if near { own.iter().map(|row| row.lambda * v(row)).sum::<f64>() / size } else { 0.0 };
                self.states.push(if row.upper <= 0.0 {
                    Status::Bound(0.0)
                } else if near && (first || along > row.compliance * size) {
                    let d = std::array::from_fn(|i| if i < n { own[i].lambda / size } else { 0.0 });
                    Status::Rim { d, across: row.upper / along.max(row.compliance * row.upper) }
                } else {
                    Status::Free
                });
                self.states.resize(k + n, Status::Later);
                k += n;
                continue;
            }
            let own = Bounded::of_row(row, self.yields[k]);
            self.states.push(own.at_impulse(self.held[k], || v(row)));
            k += 1;
        }
        self.states.resize(k + 6 * problem.ties.len(), Status::Free);
        for (t, tie) in problem.ties.iter().enumerate() {
            for r in tie.bounded() {
                let at = k + 6 * t + r;
                let v = || tie.target[r] - tie.rate(&problem.ends, r, &problem.u);
                self.states[at] = Bounded::of_tie(tie, r, self.yields[at]).at_impulse(self.held[at], v);
            }
        }
    }

    /// M + J_f^T W J_f, bordered by the ties.
    fn assemble(&mut self, problem: &Problem) {
        let n = problem.mass.len();
        self.ldl.clear();
        for (k, M) in problem.mass.iter().enumerate() {
            *self.ldl.diagonal(k) = Wide::from(M);
        }
        let mut k = 0;
        while k < problem.rows.len() {
            let row = &problem.rows[k];
            let n = row.ball.max(1) as usize;
            match self.states[k] {
                Status::Free if row.apart => {}
                Status::Free => {
                    for row in &problem.rows[k..k + n] {
                        self.add_row(&row.bodies, &row.J, 1.0 / row.compliance, k);
                    }
                }
                Status::Rim { d, across } => {
                    let mut along = [[0.0; 6]; 2];
                    for (row, d) in problem.rows[k..k + n].iter().zip(d) {
                        self.add_row(&row.bodies, &row.J, across, k);
                        for side in 0..2 {
                            for i in 0..6 {
                                along[side][i] += d * row.J[side][i];
                            }
                        }
                    }
                    self.add_row(&row.bodies, &along, -across, k);
                }
                _ => {}
            }
            k += n;
        }
        for (t, tie) in problem.ties.iter().enumerate() {
            let states = &self.states[k + 6 * t..][..6];
            let at = [n + t, self.tie_edge[t] as usize];
            match tie.apart {
                true => border(&mut self.ldl, at, &Tie::default(), &[], &[], |_| false),
                false => {
                    border(&mut self.ldl, at, tie, &problem.ends, &problem.inverse, |r| states[r] == Status::Free);
                }
            }
        }
    }

    /// Adds w J^T J of one row.
    fn add_row(&mut self, bodies: &[u32; 2], J: &[[f64; 6]; 2], w: f64, k: usize) {
        for side in 0..2 {
            if bodies[side] != GROUND {
                self.ldl.diagonal(bodies[side] as usize).add_product(w, &J[side], &J[side]);
            }
        }
        let edge = self.row_edge[k];
        if edge != u32::MAX {
            let (low, high) = if bodies[0] < bodies[1] { (0, 1) } else { (1, 0) };
            self.ldl.edge(edge as usize).add_product(w, &J[low], &J[high]);
        }
    }

    /// Velocities and impulses of the linear problem with the sets at hand, refined against the equations as they were posed. True if
    /// the rounds came to rest.
    fn linear_solution(&mut self, problem: &mut Problem, tolerance: f64, rounds: usize) -> bool {
        let n = problem.mass.len();
        // impulses of rows at bounds, of rims at the present velocities
        let mut k = 0;
        while k < problem.rows.len() {
            let row = problem.rows[k];
            let n = row.ball.max(1) as usize;
            match self.states[k] {
                Status::Bound(lambda) => {
                    for row in &mut problem.rows[k..k + n] {
                        row.lambda = lambda;
                    }
                }
                Status::Rim { d, across } => {
                    let v = self.slip(problem, k, n);
                    let along: f64 = (0..n).map(|i| v[i] * d[i]).sum();
                    for i in 0..n {
                        problem.rows[k + i].lambda = row.upper * d[i] + across * (v[i] - along * d[i]);
                    }
                }
                _ => {}
            }
            k += n;
        }
        for (t, tie) in problem.ties.iter_mut().enumerate() {
            for r in tie.bounded() {
                if let Status::Bound(lambda) = self.states[k + 6 * t + r] {
                    tie.lambda[r] = lambda;
                }
            }
        }
        // factors of other rims: impulses that balance each other come to rest last
        let borrowed = rounds > REFINEMENTS;
        let mut last = f64::INFINITY;
        self.correct(problem, false);
        for round in 0..=rounds {
            std::mem::swap(&mut self.x, &mut self.missing);
            self.ldl.solve(&mut self.x);
            self.joined.correct(problem, &mut self.x);
            for (u, x) in problem.u.iter_mut().zip(&self.x) {
                *u += x;
            }
            let [pushed, missed] = self.correct(problem, true);
            let change = self.x[..6 * n].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let change = if borrowed { change.max(pushed) } else { change };
            // what the next round would change: each one leaves about the same share
            let next = if borrowed { change } else { change.max(pushed) * (change.max(pushed) / last) };
            if missed <= 1e-3 * tolerance || round > 0 && change.min(next) <= 1e-3 * tolerance {
                return true;
            }
            if borrowed && round > 0 && (change > CONTRACTION * last || !change.is_finite()) {
                return false;
            }
            last = if borrowed { change } else { change.max(pushed) };
        }
        false
    }

    /// Impulses that belong to the change x of the velocities, lambda <- lambda + (miss - J x)/eps, if velocities have `changed`, and what the equations
    /// miss at these velocities and impulses: r = p - M u + J^T (lambda + miss/eps) is `missing`, miss by row is `slack`.
    /// Returns the largest change of an impulse and the largest of what is missed, as velocities: of M^-1 r (its diagonal), of what rows
    /// would change in their bodies, and of what exact ones miss.
    fn correct(&mut self, problem: &mut Problem, changed: bool) -> [f64; 2] {
        let n = problem.mass.len();
        let (mut pushed, mut most): (f64, f64) = (0.0, 0.0);
        let r = &mut self.missing;
        r.clear();
        r.extend_from_slice(&problem.momentum);
        for (k, M) in problem.mass.iter().enumerate() {
            let u = &problem.u[6 * k..][..6];
            for i in 0..6 {
                r[6 * k + i] -= (0..6).map(|j| M[6 * i + j] * u[j]).sum::<f64>();
            }
        }
        self.slack.resize(problem.rows.len(), 0.0);
        let mut k = 0;
        while k < problem.rows.len() {
            let count = problem.rows[k].ball.max(1) as usize;
            match self.states[k] {
                Status::Free => {
                    for k in k..k + count {
                        let row = &mut problem.rows[k];
                        if changed {
                            let change = (self.slack[k] - Problem::rate(row, &self.x)) / row.compliance;
                            pushed = pushed.max(change.abs() * self.yields[k]);
                            row.lambda += change;
                        }
                        let miss = (row.target - Problem::rate(row, &problem.u)) - row.compliance * row.lambda;
                        self.slack[k] = miss;
                        let change = miss / row.compliance;
                        most = most.max(change.abs() * self.yields[k]);
                        push(row, row.lambda + change, r);
                    }
                }
                state => {
                    if let (Status::Rim { d, across }, true) = (state, changed) {
                        let own = &mut problem.rows[k..k + count];
                        let mut turn = [0.0; 3];
                        for (turn, row) in turn.iter_mut().zip(&*own) {
                            *turn = Problem::rate(row, &self.x);
                        }
                        let along: f64 = turn.iter().zip(&d).map(|(turn, d)| turn * d).sum();
                        for ((row, turn), d) in own.iter_mut().zip(turn).zip(d) {
                            row.lambda -= across * (turn - along * d);
                        }
                    }
                    for row in &problem.rows[k..k + count] {
                        push(row, row.lambda, r);
                    }
                }
            }
            k += count;
        }
        let Problem { ties, ends, u, .. } = problem;
        for (t, tie) in ties.iter_mut().enumerate() {
            if changed {
                for i in (0..tie.count).filter(|i| self.states[k + 6 * t + i] == Status::Free) {
                    // the block system has (u, -lambda)
                    tie.lambda[i] -= self.x[6 * (n + t) + i];
                }
            }
            tie.push(ends, &tie.lambda, r);
        }
        for (r, W) in r.chunks_exact(6).zip(&problem.inverse) {
            for i in 0..6 {
                most = most.max(r[i].abs() * W[7 * i]);
            }
        }
        r.resize(6 * (n + ties.len()), 0.0);
        for (t, tie) in ties.iter().enumerate() {
            for i in (0..tie.count).filter(|i| self.states[k + 6 * t + i] == Status::Free) {
                let miss = tie.target[i] - tie.rate(ends, i, u) - tie.compliance[i] * tie.lambda[i];
                r[6 * (n + t) + i] = miss;
                most = most.max(miss.abs());
            }
        }
        // what is not a number is missed
        [pushed, if r.iter().all(|r| r.is_finite()) { most } else { f64::INFINITY }]
    }

    /// b - J u of the rows of a ball.
    pub(super) fn slip(&self, problem: &Problem, k: usize, n: usize) -> [f64; 3] {
        std::array::from_fn(|i| match i < n {
            true => problem.rows[k + i].target - Problem::rate(&problem.rows[k + i], &problem.u),
            false => 0.0,
        })
    }

    /// True if the linear solution solves the problem itself.
    pub(super) fn consistent(&self, problem: &Problem, tolerance: f64) -> bool {
        let noise = (NOISE * problem.u.iter().fold(0.0_f64, |most, u| most.max(u.abs()))).max(tolerance);
        let mut k = 0;
        while k < problem.rows.len() {
            let row = &problem.rows[k];
            if row.ball > 0 {
                let n = row.ball as usize;
                let own = &problem.rows[k..k + n];
                let size = own.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
                let slack = SLACK * row.upper + noise / self.yields[k];
                let fits = match self.states[k] {
                    Status::Free => size <= row.upper + slack,
                    Status::Rim { .. } => {
                        // at the rim, and the slip along the impulse
                        let v = self.slip(problem, k, n);
                        let along: f64 = (0..n).map(|i| v[i] * own[i].lambda).sum::<f64>() / size;
                        let slip = (0..n).map(|i| v[i] * v[i]).sum::<f64>().sqrt();
                        let turned = (0..n).map(|i| (v[i] - along * own[i].lambda / size).powi(2)).sum::<f64>().sqrt();
                        (size - row.upper).abs() <= slack && along > -noise && turned <= TURN * slip + noise
                    }
                    _ => row.upper <= 0.0,
                };
                if !fits {
                    return false;
                }
                k += n;
                continue;
            }
            let v = || row.target - Problem::rate(row, &problem.u);
            if !Bounded::of_row(row, self.yields[k]).fits(self.states[k], noise, v) {
                return false;
            }
            k += 1;
        }
        for (t, tie) in problem.ties.iter().enumerate() {
            for r in tie.bounded() {
                let at = k + 6 * t + r;
                let v = || tie.target[r] - tie.rate(&problem.ends, r, &problem.u);
                if !Bounded::of_tie(tie, r, self.yields[at]).fits(self.states[at], noise, v) {
                    return false;
                }
            }
        }
        true
    }

    /// Goes from the impulses `start` towards the linear solution, along the projection onto the bounds, until
    ///   q = w^T M^-1 w/2 + sum (eps lambda^2/2 - b lambda),   w = p + J^T lambda,
    /// has fallen below `energy`; q is returned, and the velocities that belong to the impulses are in place.
    fn search(&mut self, problem: &mut Problem, energy: f64) -> f64 {
        keep_impulses(problem, &mut self.best);
        let rows = problem.rows.len();
        let mut alpha = 1.0;
        for round in 0.. {
            let at = |k: usize| self.start[k] + alpha * (self.best[k] - self.start[k]);
            for (k, row) in problem.rows.iter_mut().enumerate() {
                row.lambda = at(k);
                if !row.shared {
                    row.lambda = row.lambda.clamp(row.lower, row.upper);
                }
            }
            for (t, tie) in problem.ties.iter_mut().enumerate() {
                tie.lambda = std::array::from_fn(|r| at(rows + 6 * t + r).clamp(tie.lower[r], tie.upper[r]));
            }
            for k in 0..rows {
                into_ball(problem, k);
            }
            let q = velocities(problem, true);
            if q <= energy + ROUNDING * (q.abs() + energy.abs()) || round == HALVINGS {
                return q;
            }
            alpha *= 0.5;
        }
        energy
    }
}

/// Impulses of all rows, then of all ties.
fn keep_impulses(problem: &Problem, kept: &mut Vec<f64>) {
    kept.clear();
    kept.extend(problem.rows.iter().map(|row| row.lambda));
    kept.extend(problem.ties.iter().flat_map(|tie| tie.lambda));
}

/// Those that [`keep_impulses`] kept.
fn put_back_impulses(problem: &mut Problem, kept: &[f64]) {
    let (rows, ties) = kept.split_at(problem.rows.len());
    for (row, kept) in problem.rows.iter_mut().zip(rows) {
        row.lambda = *kept;
    }
    for (tie, kept) in problem.ties.iter_mut().zip(ties.chunks_exact(6)) {
        tie.lambda.copy_from_slice(kept);
    }
}

/// Impulses of rows with bounds of their own back inside them.
fn within_bounds(problem: &mut Problem) {
    for row in problem.rows.iter_mut().filter(|row| !row.shared) {
        row.lambda = row.lambda.clamp(row.lower, row.upper);
    }
    for tie in &mut problem.ties {
        for r in tie.bounded() {
            tie.lambda[r] = tie.lambda[r].clamp(tie.lower[r], tie.upper[r]);
        }
    }
}

/// Impulses of the ball that begins at row `k`, if one does, back inside it.
fn into_ball(problem: &mut Problem, k: usize) {
    let n = problem.rows[k].ball as usize;
    let radius = problem.rows[k].upper;
    let own = &mut problem.rows[k..k + n];
    let size = own.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
    if size > radius {
        for row in own {
            row.lambda *= radius / size;
        }
    }
}

/// u = M^-1 (p + J^T lambda), with or without impulses; returns q.
fn velocities(problem: &mut Problem, pushed: bool) -> f64 {
    let Problem { inverse, momentum, u, rows, ties, ends, .. } = problem;
    u.clear();
    u.extend_from_slice(momentum);
    let mut q = 0.0;
    if pushed {
        for row in rows.iter() {
            push(row, row.lambda, u);
            q += row.lambda * (0.5 * row.compliance * row.lambda - row.target);
        }
        for tie in ties.iter() {
            tie.push(ends, &tie.lambda, u);
            for r in 0..tie.count {
                q += tie.lambda[r] * (0.5 * tie.compliance[r] * tie.lambda[r] - tie.target[r]);
            }
        }
    }
    for (k, W) in inverse.iter().enumerate() {
        let w: [f64; 6] = std::array::from_fn(|i| u[6 * k + i]);
        for i in 0..6 {
            let v: f64 = (0..6).map(|j| W[6 * i + j] * w[j]).sum();
            q += 0.5 * w[i] * v;
            u[6 * k + i] = v;
        }
    }
    q
}
