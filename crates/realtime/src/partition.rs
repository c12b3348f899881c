//! Partitions: the bodies that the rows of a step tie together, and the solution of each.

use super::Clock;
use super::joints::flat;
use super::rows::{Owner, Rows};
use super::settings::Settings;
use super::share::share;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::Model;
use tippe_numerics::kkt::{self, Block, Follow, GROUND, Problem, Report, Row, Solver, Tie};
use tippe_scene::{Coupled, FrictionLoad, Solver as SolverChoice};

/// From this many rows on they are solved by several threads.
const SHARED: usize = 32;

/// Partitions of many bodies are swept unless masses differ by more than this factor [-].
const UNEQUAL: f64 = 100.0;
/// Factorisations of one solution at most.
const FACTORISATIONS: usize = 60;
/// Velocities are solved to this [m/s, rad/s].
const ACCURACY: f64 = 1e-10;
/// Friction bounds are settled when what they change moves no velocity by more than this [m/s, rad/s] ...
const SETTLED: f64 = 1e-12;
/// ... or by no more than velocities are solved to, where nothing is faster than this [m/s, rad/s]: what slides would add it up step by step, what
/// rests has it settled by the steps that follow.
const RESTING: f64 = 1e-6;
/// Where friction is off by more than this share of its bound [-] ...
const OFF: f64 = 0.01;
/// ... and that moves something by more than this [m/s, rad/s], bounds follow beyond the passes asked for ...
const SLOW: f64 = 1e-6;
/// ... up to this many.
const MOST_PASSES: usize = 20;
/// Partitions fall asleep after this time at rest [s].
const REST_TIME: f64 = 0.5;
/// Parts are kept apart if at most so many rows join them.
const COUPLING: usize = 48;
/// Shares of that speed that are tried one after the other where it throws things [-].
const GENTLER: [f64; 3] = [0.25, 0.25, 0.0];

/// Bodies that rows and joints tie together.
#[derive(Debug, Default)]
pub struct Partition {
    /// Model indices; of bodies that are welded together the first one.
    pub bodies: Vec<u32>,
    /// True if some of them lead others.
    led: bool,
    /// Indices of its rows among all.
    pub rows: Vec<u32>,
    /// Indices of its ties among all; in the problem they stand behind those of its joints.
    pub ties: Vec<u32>,
    /// Its mechanisms.
    pub machines: Vec<u32>,
    /// False if nothing but smooth free motion happens.
    pub active: bool,
    /// True if it was left alone because it rests.
    pub asleep: bool,
    /// The problem and its solution.
    pub problem: Problem,
    /// True if all rows of the step are its own, and not copies of them in the problem, until [`Partition::give_back`].
    lent: bool,
    /// Mechanism, link or loop (or coupling), and wrench on side 2 of each tie of a joint: the first ones of the
    /// problem.
    pub owners: Vec<(u32, u32, [Six; 6])>,
    /// How it was solved.
    pub report: Report,
    /// Whether it was swept.
    pub swept: bool,
    /// Displacements of the bodies, if it was swept.
    pub moved: Vec<f64>,
    /// True if the forces of every row on its two bodies are opposite: it may be swept.
    rubble: bool,
    /// Where nothing but contacts acts, of surfaces among them: what soft ones may give back [J]. What pushes overlaps out may not throw it.
    springs: Option<f64>,
    /// Velocities at the beginning of the step.
    start: Vec<f64>,
    follows: Vec<Follow>,
    /// Rows, their sides, and the arms that friction should have there.
    shifts: Vec<(u32, u32, Vec3)>,
    solver: Solver,
}

impl Clock {
    /// Bodies tied together by rows and joints, in order of their smallest body; problems of those where rows act.
    pub(super) fn split(&mut self) {
        self.join_bodies();
        self.keep_apart();
        self.gather_partitions();
        self.deal_rows();
        for p in 0..self.partitions.len() {
            if self.partitions[p].active && self.settings.sleeping && self.at_rest(p) {
                self.partitions[p].active = false;
                self.partitions[p].asleep = true;
            } else if self.partitions[p].active {
                self.build_problem(p);
            }
        }
    }

    /// Joins bodies that rows, or the joints of one mechanism, tie together.
    fn join_bodies(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        root.clear();
        root.extend(0..self.model.bodies.len() as u32);
        for &(_, bodies) in &self.rows.runs {
            if !bodies.contains(&GROUND) {
                join(&mut root, bodies[0], bodies[1]);
            }
        }
        for tie in &self.rows.ties {
            for pair in tie.ends.of(&self.rows.ends).windows(2) {
                join(&mut root, pair[0].body, pair[1].body);
            }
        }
        for mechanism in &self.model.mechanisms {
            for pair in mechanism.links.windows(2) {
                join(&mut root, pair[0].body, pair[1].body);
            }
        }
        for (b, leader) in self.welds.led() {
            join(&mut root, b, leader);
        }
        self.root = root;
    }

    /// A partition for all bodies that are joined, in order of their smallest body.
    fn gather_partitions(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        let mut count = 0;
        for partition in &mut self.partitions {
            partition.bodies.clear();
            partition.rows.clear();
            partition.ties.clear();
            partition.machines.clear();
            partition.problem.clear();
            partition.owners.clear();
            partition.active = false;
            partition.asleep = false;
            partition.led = false;
        }
        self.partition_of.fill(u32::MAX);
        for b in 0..self.model.bodies.len() {
            if !self.is_free(b) {
                continue;
            }
            let leader = self.welds.leader_of(b as u32) as usize;
            if leader != b {
                // one body of the solution; the leader comes first
                self.partition_of[b] = self.partition_of[leader];
                self.place_of[b] = self.place_of[leader];
                self.partitions[self.partition_of[b] as usize].led = true;
                continue;
            }
            let r = find(&mut root, b as u32) as usize;
            // a root that is gone has no partition yet either
            if self.partition_of[r] == u32::MAX {
                self.partition_of[r] = count as u32;
                if self.partitions.len() == count {
                    self.partitions.push(Partition::default());
                }
                count += 1;
            }
            let p = self.partition_of[r];
            self.partition_of[b] = p;
            let bodies = &mut self.partitions[p as usize].bodies;
            self.place_of[b] = bodies.len() as u32;
            bodies.push(b as u32);
        }
        self.partitions.truncate(count);
        self.root = root;
    }

    /// Rows, ties and mechanisms to their partitions.
    fn deal_rows(&mut self) {
        self.row_of.resize(self.rows.rows.len(), u32::MAX);
        let ends = self.rows.runs.iter().skip(1).map(|(first, _)| *first).chain([self.rows.rows.len() as u32]);
        for (&(first, [b1, b2]), end) in self.rows.runs.iter().zip(ends) {
            let b = if b1 != GROUND { b1 } else { b2 };
            if b != GROUND {
                let partition = &mut self.partitions[self.partition_of[b as usize] as usize];
                for (k, place) in (first..end).zip(partition.rows.len() as u32..) {
                    self.row_of[k as usize] = place;
                }
                partition.rows.extend(first..end);
                partition.active = true;
            }
        }
        for (k, tie) in self.rows.ties.iter().enumerate() {
            if let Some(end) = tie.ends.of(&self.rows.ends).first() {
                let partition = &mut self.partitions[self.partition_of[end.body as usize] as usize];
                partition.ties.push(k as u32);
                partition.active = true;
            }
        }
        self.rows.hold_alone();
        for (k, mechanism) in self.model.mechanisms.iter().enumerate() {
            let machine = &self.machines[k];
            let free = mechanism.links.iter().find(|l| self.partition_of[l.body as usize] != u32::MAX);
            if let Some(link) = free {
                let partition = &mut self.partitions[self.partition_of[link.body as usize] as usize];
                partition.machines.push(k as u32);
                partition.active |= !machine.smooth || machine.overruns || machine.given.iter().any(Option::is_some);
            }
        }
    }

    /// Where coupled parts are kept: rows of force elements and hooks that join what nothing else joins stay out of the factors of the
    /// parts.
    fn keep_apart(&mut self) {
        if self.settings.coupled == Coupled::Merged {
            return;
        }
        let mut root = std::mem::take(&mut self.parts);
        root.clear();
        root.extend(0..self.model.bodies.len() as u32);
        let between = |row: &Row| row.bodies[0] != GROUND && row.bodies[1] != GROUND;
        let loose = |owner: &Owner| matches!(owner, Owner::Element(_) | Owner::Custom(_) | Owner::Subsystem(_));
        for (row, owner) in self.rows.rows.iter().zip(&self.rows.owners) {
            if between(row) && !loose(owner) {
                join(&mut root, row.bodies[0], row.bodies[1]);
            }
        }
        for mechanism in &self.model.mechanisms {
            for pair in mechanism.links.windows(2) {
                join(&mut root, pair[0].body, pair[1].body);
            }
        }
        let mut joining = 0;
        for tie in &mut self.rows.ties {
            let ends = tie.ends.of(&self.rows.ends);
            tie.apart = ends.windows(2).any(|pair| find(&mut root, pair[0].body) != find(&mut root, pair[1].body));
            joining += usize::from(tie.apart);
        }
        for (row, owner) in self.rows.rows.iter_mut().zip(&self.rows.owners) {
            row.apart = between(row)
                && loose(owner)
                && !row.shared
                && find(&mut root, row.bodies[0]) != find(&mut root, row.bodies[1]);
            joining += usize::from(row.apart);
        }
        if joining > COUPLING {
            self.rows.rows.iter_mut().for_each(|row| row.apart = false);
            self.rows.ties.iter_mut().for_each(|tie| tie.apart = false);
        }
        self.parts = root;
    }

    /// True if everything in a partition has been at rest for a while and nothing but resting contacts and joints acts on it.
    fn at_rest(&self, p: usize) -> bool {
        let partition = &self.partitions[p];
        let enough = (REST_TIME / self.h).ceil() as u32;
        let quiet = |b: &u32| {
            let b = *b as usize;
            self.state.still[b] >= enough && self.loads[b] == Six::ZERO && !self.paths[b].struck
        };
        let resting = |k: &u32| match self.rows.owners[*k as usize] {
            Owner::Normal(_)
            | Owner::Tangent(..)
            | Owner::Twist(_)
            | Owner::SpinDamper(_)
            | Owner::Roll(..)
            | Owner::Bend => self.rows.rows[*k as usize].given == 0.0 && !self.rows.rows[*k as usize].lambda.is_nan(),
            Owner::Element(_) | Owner::Custom(_) | Owner::Subsystem(_) => false,
        };
        partition.bodies.iter().all(quiet)
            && partition.ties.is_empty()
            && partition.rows.iter().all(resting)
            && partition.machines.iter().all(|&m| {
                let machine = &self.machines[m as usize];
                machine.given.iter().all(Option::is_none) && machine.tau.iter().all(|tau| *tau == 0.0)
            })
    }

    /// Energy of soft contacts if these rows are of contacts, some of them of surfaces, with bodies that nothing drives [J].
    fn springs_of_contacts(&self, rows: &[u32]) -> Option<f64> {
        let (mut surfaces, mut stored) = (false, 0.0);
        for &k in rows {
            match self.rows.owners[k as usize] {
                _ if self.rows.rows[k as usize].given != 0.0 => return None,
                Owner::Normal(touch) => {
                    let touch = &self.detected.touches[touch as usize];
                    surfaces |= touch.column;
                    if touch.soft {
                        let n = touch.exponent;
                        stored += touch.hardness * libm::pow((-touch.gap).max(0.0), n + 1.0) / (n + 1.0);
                    }
                }
                owner if owner.is_friction() => {}
                _ => return None,
            }
        }
        surfaces.then_some(stored)
    }

    /// The problem of one partition.
    fn build_problem(&mut self, p: usize) {
        let mut partition = std::mem::take(&mut self.partitions[p]);
        let Partition { bodies, problem, .. } = &mut partition;
        let mut partition_of = std::mem::take(&mut self.partition_of);
        let mut place_of = std::mem::take(&mut self.place_of);
        for &b in bodies.iter() {
            let (M, W, p) = self.mass_of_led(b);
            problem.momentum.extend(p);
            problem.mass.push(M);
            problem.inverse.push(W);
        }
        partition.start.clear();
        for &b in &partition.bodies {
            let kin = &self.paths[b as usize].kin;
            partition.start.extend(flat(Six::new(kin.w, kin.v)));
        }
        for &k in &partition.machines {
            self.modal_blocks(k as usize, &mut partition.problem, &mut partition.start, |block, place| {
                (partition_of[block as usize], place_of[block as usize]) = (p as u32, place);
            });
        }
        let local = |b: u32| match partition_of.get(b as usize) {
            Some(&own) if own == p as u32 => place_of[b as usize],
            _ => GROUND,
        };
        // where the solution is looked for first
        partition.problem.u.extend_from_slice(&partition.start);
        partition.follows.clear();
        // forces of contacts are opposite
        let ours = if self.rows.seen { 0 } else { self.rows.contacts as u32 };
        partition.rubble =
            !partition.led && partition.rows.iter().all(|&k| k < ours || self.rows.rows[k as usize].is_opposite());
        let alone = partition.machines.is_empty() && partition.ties.is_empty() && !self.rows.seen;
        partition.springs = if alone { self.springs_of_contacts(&partition.rows) } else { None };
        partition.lent = !partition.led && !partition.rows.is_empty() && partition.rows.len() == self.rows.rows.len();
        if partition.lent {
            std::mem::swap(&mut partition.problem.rows, &mut self.rows.rows);
            std::mem::swap(&mut partition.follows, &mut self.rows.follows);
        } else {
            partition.problem.rows.extend(partition.rows.iter().map(|&k| self.rows.rows[k as usize]));
            if partition.led {
                for row in &mut partition.problem.rows {
                    for (b, J) in row.bodies.into_iter().zip(&mut row.J).filter(|(b, _)| *b != GROUND) {
                        self.welds.of_leader(b, J);
                    }
                }
            }
            partition.follows.extend(partition.rows.iter().map(|&k| match self.rows.follows[k as usize] {
                follow if follow.first == u32::MAX => follow,
                follow => Follow { first: self.row_of[follow.first as usize], ..follow },
            }));
        }
        let mut problem = std::mem::take(&mut partition.problem);
        for &k in &partition.machines {
            self.joint_ties(k as usize, &mut problem.ties, &mut problem.ends, &mut partition.owners);
        }
        self.copy_ties(&partition.ties, &mut problem);
        for end in &mut problem.ends {
            let mut J = end.row(0);
            self.welds.of_leader(end.body, &mut J);
            end.J[..6].copy_from_slice(&J);
            end.body = local(end.body);
        }
        partition.problem = problem;
        partition.choose(&self.model, &self.settings);
        // rows of hooks hold at the end of the step
        if partition.rows.iter().any(|&k| matches!(self.rows.owners[k as usize], Owner::Custom(_)))
            || partition.ties.iter().any(|&k| matches!(self.rows.tie_owners[k as usize], Owner::Custom(_)))
        {
            partition.bodies.iter().for_each(|&b| self.paths[b as usize].at_mean = false);
        }
        if !partition.swept {
            partition.problem.rows.iter_mut().for_each(|row| row.bodies = row.bodies.map(local));
        }
        (self.partition_of, self.place_of) = (partition_of, place_of);
        self.partitions[p] = partition;
    }

    /// Ties of a partition with their ends, as they are, into its problem.
    fn copy_ties(&self, ties: &[u32], problem: &mut Problem) {
        for &k in ties {
            let tie = &self.rows.ties[k as usize];
            let mut copy = |ends: kkt::Ends| {
                let first = problem.ends.len() as u32;
                problem.ends.extend_from_slice(ends.of(&self.rows.ends));
                kkt::Ends { first, end: problem.ends.len() as u32 }
            };
            let (ends, pushes) = (copy(tie.ends), copy(tie.pushes));
            problem.ties.push(Tie { ends, pushes, ..*tie });
        }
    }

    /// Velocities and impulses of all partitions.
    pub(super) fn solve(&mut self) {
        let mut partitions = std::mem::take(&mut self.partitions);
        let (settings, places) = (&self.settings, &self.place_of);
        let work = |partition: &mut Partition| {
            if partition.active {
                partition.solve(settings, places);
            }
        };
        // rows of all but the largest: what others could do meanwhile
        let rows = |partition: &Partition| if partition.active { partition.problem.rows.len() } else { 0 };
        let most = partitions.iter().map(rows).max().unwrap_or(0);
        let rest = partitions.iter().map(rows).sum::<usize>() - most;
        match &self.pool {
            Some(pool) if rest >= SHARED => share(pool, partitions.iter_mut(), work),
            _ => partitions.iter_mut().for_each(work),
        }
        self.partitions = partitions;
    }
}

impl Clock {
    /// True if some partition may be swept: a sweep moves bodies in steps of its own, at the velocities of their ends.
    pub(super) fn may_sweep(&self) -> bool {
        let of_bodies = self.model.bodies.iter().any(|body| body.solver == Some(SolverChoice::Sweeps));
        match self.settings.solver {
            _ if of_bodies => true,
            SolverChoice::Auto => self.model.bodies.len() > self.settings.direct_bodies,
            SolverChoice::Direct => false,
            SolverChoice::Sweeps => true,
        }
    }
}

impl Partition {
    /// Mean rate in the step of number j of what stands at a place of the problem.
    pub fn modal_mean(&self, at: usize, j: usize) -> f64 {
        0.5 * (self.start[6 * at + j] + self.problem.u[6 * at + j])
    }

    /// Whether it is swept.
    fn choose(&mut self, model: &Model, settings: &Settings) {
        let own = self.bodies.iter().filter_map(|b| model.bodies[*b as usize].solver);
        let own = own.reduce(|one, other| if one == other { one } else { SolverChoice::Direct });
        let masses = self.problem.mass.iter().map(|M| M[35]);
        let (least, most) = masses.fold((f64::INFINITY, 0.0_f64), |(a, b), m| (a.min(m), b.max(m)));
        self.swept = match own.unwrap_or(settings.solver) {
            SolverChoice::Auto => {
                self.bodies.len() > settings.direct_bodies && most < UNEQUAL * least && self.problem.ties.is_empty()
            }
            SolverChoice::Direct => false,
            SolverChoice::Sweeps => true,
        } && self.rubble
            && !self.problem.is_skew();
    }

    /// Solves with the friction bounds at hand, then with those of the solution. Where it is swept its rows have the
    /// bodies of the model, which stand at `places` of the problem.
    fn solve(&mut self, settings: &Settings, places: &[u32]) {
        self.report = Report { converged: true, ..Report::default() };
        if self.swept {
            let Partition { solver, problem, follows, start, moved, .. } = self;
            self.report =
                solver.substeps(problem, follows, places, start, settings.step, settings.sweeps.max(1), moved);
            return;
        }
        self.settle(settings);
        let Some(springs) = self.springs else { return };
        // rows that push overlaps out against each other have a short lever: what they throw is pushed less, and at last not at all
        for share in GENTLER {
            let pushes = |row: &Row| row.gap < 0.0 && row.target > 0.0;
            let push =
                self.problem.rows.iter().filter(|row| pushes(row)).fold(0.0, |most, row| f64::max(most, row.target));
            if push == 0.0 || !self.gains(push, springs) {
                break;
            }
            self.problem.rows.iter_mut().filter(|row| pushes(row)).for_each(|row| row.target *= share);
            self.settle(settings);
        }
    }

    /// True if the solution has more energy than free motion, `springs` [J] and what pushes with this speed [m/s] give all bodies.
    fn gains(&self, push: f64, springs: f64) -> bool {
        let Problem { mass, inverse, momentum, u, .. } = &self.problem;
        let half = |A: &Block, x: &[f64]| 0.5 * (0..36).map(|i| A[i] * x[i / 6] * x[i % 6]).sum::<f64>();
        let (mut free, mut solved, mut given) = (0.0, 0.0, springs);
        for (b, (M, W)) in mass.iter().zip(inverse).enumerate() {
            free += half(W, &momentum[6 * b..6 * b + 6]);
            solved += half(M, &u[6 * b..6 * b + 6]);
            given += 0.5 * M[35] * push * push;
        }
        solved > free + given
    }

    /// The bounds of friction follow the solution until they settle.
    fn settle(&mut self, settings: &Settings) {
        let passes = settings.passes.max(1);
        let skew = self.problem.is_skew();
        let mut anew = true;
        for pass in 1..=passes.max(MOST_PASSES) {
            let report = match skew {
                false if anew => self.solver.newton(&mut self.problem, FACTORISATIONS, ACCURACY),
                false => self.solver.newton_again(&mut self.problem, FACTORISATIONS, ACCURACY),
                true => self.solver.dense(&mut self.problem),
            };
            let factorisations = self.report.factorisations + report.factorisations;
            self.report = Report { factorisations, ..report };
            self.loosen();
            let off = self.off_centre();
            let misfit = self.misfit().max(off);
            // the last bounds are those of the solution
            if settings.friction_load == FrictionLoad::LastStep && !self.begins() {
                break;
            }
            if pass >= passes && (misfit < Misfit::Large || !report.converged) || pass >= MOST_PASSES.max(passes) {
                break;
            }
            anew = off > Misfit::None;
            if anew {
                self.centre();
            }
            self.follow();
            if misfit == Misfit::None {
                break;
            }
        }
    }

    /// Impulses and bounds of the solution to the rows of the step; true if any of them push.
    pub fn give_back(&mut self, rows: &mut Rows) -> bool {
        for (&k, tie) in self.ties.iter().zip(&self.problem.ties[self.owners.len()..]) {
            rows.ties[k as usize].lambda = tie.lambda;
        }
        if self.lent {
            self.lent = false;
            std::mem::swap(&mut rows.rows, &mut self.problem.rows);
            std::mem::swap(&mut rows.follows, &mut self.follows);
            if !self.swept {
                for row in rows.rows.iter_mut() {
                    row.bodies = row.bodies.map(|b| if b == GROUND { b } else { self.bodies[b as usize] });
                }
            }
            return rows.rows.iter().any(|row| row.lambda != 0.0);
        }
        for (&k, row) in self.rows.iter().zip(&self.problem.rows) {
            let own = &mut rows.rows[k as usize];
            (own.lambda, own.lower, own.upper) = (row.lambda, row.lower, row.upper);
            if !self.led {
                own.J = row.J;
            }
        }
        self.problem.rows.iter().any(|row| row.lambda != 0.0)
    }

    /// Bound of the friction rows from k on by the normal impulses of the solution [N s], and how many rows they are; none where no friction begins.
    fn bound(&self, k: usize) -> Option<(f64, usize)> {
        let (follow, rows) = (self.follows[k], &self.problem.rows);
        let from = follow.first as usize;
        let normals = (follow.first != u32::MAX).then(|| &rows[from..from + follow.count as usize])?;
        Some((
            follow.bound(normals.iter().map(|row| Follow::pressed(row.lambda, row.lower)).sum()),
            rows[k].ball.max(1) as usize,
        ))
    }

    /// Friction that reached the bound of what sticks has that of what slides from now on.
    fn loosen(&mut self) {
        let mut k = 0;
        while k < self.follows.len() {
            let count = self.problem.rows[k].ball.max(1) as usize;
            let Follow { first, factor, slides, .. } = self.follows[k];
            if first != u32::MAX && slides < factor {
                let rows = &self.problem.rows[k..k + count];
                let size = rows.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
                if size > 0.0 && size >= rows[0].upper * (1.0 - 1e-9) {
                    self.follows[k..k + count].iter_mut().for_each(|follow| follow.factor = follow.slides);
                }
            }
            k += count;
        }
    }

    /// True if some friction has no bound yet: its contact begins.
    fn begins(&self) -> bool {
        self.follows
            .iter()
            .zip(&self.problem.rows)
            .any(|(follow, row)| follow.first != u32::MAX && row.upper.is_infinite())
    }

    /// How far the bounds of the solution are from those of its normal impulses.
    fn misfit(&self) -> Misfit {
        let Problem { rows, inverse, u, .. } = &self.problem;
        let settled = if u.iter().all(|u| u.abs() < RESTING) { ACCURACY } else { SETTLED };
        let mut misfit = Misfit::None;
        let mut k = 0;
        while k < rows.len() {
            let Some((bound, count)) = self.bound(k) else {
                k += 1;
                continue;
            };
            let size = rows[k..k + count].iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
            let old = rows[k].upper;
            let (held, change) = (size >= old * (1.0 - 1e-9), (bound - old).abs());
            let speed = change * rows[k].yields(inverse);
            if (held || size > bound) && speed > settled {
                let large = change > OFF * bound.max(old) && speed > SLOW;
                misfit = misfit.max(if large { Misfit::Large } else { Misfit::Small });
            }
            k += count;
        }
        misfit
    }

    /// How far friction of surfaces that slide acts from where they press on each other in the solution. With normals n at r_i and a tangent a
    ///   n.(r x a) = -sum lambda_i a.(r_i x n)/sum lambda_i
    fn off_centre(&mut self) -> Misfit {
        let Problem { rows, inverse, .. } = &self.problem;
        self.shifts.clear();
        let (mut misfit, mut slides) = (Misfit::None, false);
        for k in 0..rows.len() {
            let Follow { first, count, centred, .. } = self.follows[k];
            if rows[k].ball > 0 || !rows[k].shared {
                let ball = &rows[k..k + rows[k].ball.max(1) as usize];
                let size = ball.iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
                slides = size > 0.0 && size >= rows[k].upper * (1.0 - 1e-9);
            }
            if !(centred && slides) || rows[k].given != 0.0 {
                continue;
            }
            let normals = first as usize..(first + count) as usize;
            let total: f64 = rows[normals.clone()].iter().map(|row| row.lambda.max(0.0)).sum();
            for side in (0..2).filter(|_| total > 0.0) {
                let body = rows[k].bodies[side];
                if body == GROUND {
                    continue;
                }
                let part = |row: &Row, from: usize| Vec3::from_slice(&row.J[side][from..from + 3]);
                let a = part(&rows[k], 3);
                let (mut n, mut arm) = (Vec3::ZERO, 0.0);
                for row in &rows[normals.clone()] {
                    n += part(row, 3) * row.lambda.max(0.0);
                    arm -= part(row, 0).dot(a) * (row.lambda.max(0.0) / total);
                }
                let Some(n) = n.try_normalize() else { continue };
                let (W, r) = (&inverse[body as usize], part(&rows[k], 0));
                let change = arm - r.dot(n);
                let about = (0..9).map(|i| n[i / 3] * W[6 * (i / 3) + i % 3] * n[i % 3]).sum::<f64>();
                let speed = (rows[k].lambda * change).abs() * (about * W[35]).sqrt();
                if speed > SETTLED {
                    misfit = misfit.max(if speed > SLOW { Misfit::Large } else { Misfit::Small });
                    self.shifts.push((k as u32, side as u32, r + n * change));
                }
            }
        }
        misfit
    }

    /// Friction of surfaces acts where they press on each other.
    fn centre(&mut self) {
        for &(k, side, arm) in &self.shifts {
            arm.write_to_slice(&mut self.problem.rows[k as usize].J[side as usize][..3]);
        }
    }

    /// Bounds follow the normal impulses of the solution.
    fn follow(&mut self) {
        let mut k = 0;
        while k < self.problem.rows.len() {
            let Some((bound, count)) = self.bound(k) else {
                k += 1;
                continue;
            };
            for row in &mut self.problem.rows[k..k + count] {
                (row.lower, row.upper) = (-bound, bound);
            }
            k += count;
        }
    }
}

/// How far the friction bounds of a solution are from what its normal impulses allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Misfit {
    /// Nothing moves by it.
    None,
    Small,
    /// Friction would be wrong by more than `OFF`.
    Large,
}

/// The body that stands for all that are joined with `b`.
fn find(root: &mut [u32], mut b: u32) -> u32 {
    while root[b as usize] != b {
        root[b as usize] = root[root[b as usize] as usize];
        b = root[b as usize];
    }
    b
}

fn join(root: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(root, a), find(root, b));
    root[a.max(b) as usize] = a.min(b);
}

/// Mass and inverse mass of a body, {angular, linear} in world axes.
pub fn masses(body: &tippe_mechanics::model::Body, R: &Mat3) -> (Block, Block) {
    let (mut M, mut W) = ([0.0; 36], [0.0; 36]);
    let I = *R * body.I_c * R.transpose();
    let J = *R * body.I_c_inverse * R.transpose();
    for i in 0..3 {
        for j in 0..3 {
            // symmetric to the last bit
            M[6 * i + j] = 0.5 * (I.col(j)[i] + I.col(i)[j]);
            W[6 * i + j] = 0.5 * (J.col(j)[i] + J.col(i)[j]);
        }
        M[6 * (3 + i) + 3 + i] = body.mass;
        W[6 * (3 + i) + 3 + i] = 1.0 / body.mass;
    }
    (M, W)
}
