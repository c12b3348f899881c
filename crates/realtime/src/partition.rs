//! Rows of a step, the partitions they tie together, and their solution.

use super::Clock;
use super::contacts::Hold;
use super::joints::flat;
use super::share::share;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::Drive;
use tippe_numerics::kkt::{self, Block, Follow, GROUND, Problem, Report, Row, Solver, Tie};
use tippe_scene::{Coupled, FrictionBound};

/// From this many rows on they are solved by several threads.
const SHARED: usize = 32;

/// Partitions of more bodies than this are swept unless asked otherwise, or masses differ much.
const MANY: usize = 1500;
/// ... by more than this factor [-].
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
/// Overlap is pushed out at most at this speed [m/s].
const PUSH_SPEED: f64 = 1.0;
/// Overlaps below this are rounding [m].
const NOTHING: f64 = 1e-12;
/// Bodies that turn farther in a step have no middle of it [rad].
const FAR: f64 = 0.5;
/// Shares of that speed that are tried one after the other where it throws things [-].
const GENTLER: [f64; 3] = [0.25, 0.25, 0.0];

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Normal of a touch.
    Normal(u32),
    /// Tangent 1 or 2 of a grip.
    Tangent(u32, u8),
    /// Spin about the normal of a grip, times its lever.
    Twist(u32),
    /// Rolling about tangent 1 or 2 of a grip.
    Roll(u32, u8),
    /// A force element.
    Element(u32),
    /// Damping of a taut chain.
    Bend,
    /// A hook's.
    Custom(u32),
}

impl Owner {
    /// True for rows of a grip: they follow the normals of their pair and act between the same bodies.
    fn is_friction(self) -> bool {
        matches!(self, Owner::Tangent(..) | Owner::Twist(_) | Owner::Roll(..))
    }
}

/// All rows of a step, with model indices of bodies.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<Row>,
    /// What they belong to.
    pub owners: Vec<Owner>,
    /// For bounds that follow the normal impulses of a pair: their rows and the factor.
    pub follows: Vec<Follow>,
    /// How many of them, the first ones, are rows of contacts.
    pub contacts: usize,
    /// Where rows between other bodies begin: the first row, and its bodies.
    pub runs: Vec<(u32, [u32; 2])>,
    /// Hooks have seen them: they may be other ones.
    pub seen: bool,
    /// Rows with any number of ends, one each, and what they belong to.
    pub ties: Vec<Tie>,
    /// See `ties`.
    pub tie_owners: Vec<Owner>,
    /// What bodies whose motion is given add to the rate of each tie; the target has it already.
    pub tie_given: Vec<f64>,
    /// The ends of the ties, by model index.
    pub ends: Vec<kkt::End>,
    /// Room for the ends of one tie.
    room: Vec<(u32, [f64; 6])>,
}

/// Bodies that rows and joints tie together.
#[derive(Debug, Default)]
pub struct Partition {
    /// Model indices.
    pub bodies: Vec<u32>,
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

impl Rows {
    fn clear(&mut self) {
        self.rows.clear();
        self.owners.clear();
        self.follows.clear();
        self.ties.clear();
        self.tie_owners.clear();
        self.tie_given.clear();
        self.ends.clear();
        self.runs.clear();
        (self.contacts, self.seen) = (0, false);
    }

    /// Appends a row; ends whose motion is given go into the target.
    #[inline(always)]
    pub fn push(&mut self, ends: &[End; 2], J: [Six; 2], mut row: Row, owner: Owner, follows: Follow) {
        let mut given = 0.0;
        row.bodies = [GROUND; 2];
        if !matches!(owner, Owner::Normal(_)) {
            row.gap = f64::NAN;
        }
        for s in 0..2 {
            match ends[s] {
                End::Free(b) => (row.bodies[s], row.J[s]) = (b, flat(J[s])),
                End::Given(u) => given += J[s].dot(&u),
                End::Still => {}
            }
        }
        row.target -= given;
        row.given = given;
        if !owner.is_friction() && self.runs.last().is_none_or(|(_, bodies)| *bodies != row.bodies) {
            self.runs.push((self.rows.len() as u32, row.bodies));
        }
        self.rows.push(row);
        self.owners.push(owner);
        self.follows.push(follows);
    }

    /// Appends a row with any number of ends; those whose motion is given go into the target. Its impulse acts along
    /// J^T, or along `pushes`, if there are any.
    pub fn push_tie(&mut self, ends: &[(End, Six)], pushes: &[(End, Six)], tie: Tie, owner: Owner) {
        let mut given = 0.0;
        let mut tie = Tie { count: 1, ..tie };
        self.room.clear();
        for (end, J) in ends {
            match end {
                End::Free(b) => self.room.push((*b, flat(*J))),
                End::Given(u) => given += J.dot(u),
                End::Still => {}
            }
        }
        tie.ends = kkt::join_ends(&mut self.ends, &self.room);
        self.room.clear();
        let free = |(end, F): &(End, Six)| if let End::Free(b) = end { Some((*b, flat(*F))) } else { None };
        self.room.extend(pushes.iter().filter_map(free));
        tie.pushes = kkt::join_ends(&mut self.ends, &self.room);
        tie.target[0] -= given;
        self.ties.push(tie);
        self.tie_owners.push(owner);
        self.tie_given.push(given);
    }

    /// Hooks have seen the rows, and may have changed them.
    pub fn look_again(&mut self) {
        self.seen = true;
        self.runs.clear();
        for (k, (row, owner)) in self.rows.iter().zip(&self.owners).enumerate() {
            if !owner.is_friction() && self.runs.last().is_none_or(|(_, bodies)| *bodies != row.bodies) {
                self.runs.push((k as u32, row.bodies));
            }
        }
    }
}

/// What a row has at one of its ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// A body that moves freely, by model index.
    Free(u32),
    /// A body whose motion is given: its velocity.
    Given(Six),
    /// Nothing that moves.
    Still,
}

impl Clock {
    /// Rows of contacts, force elements and taut chains.
    pub(super) fn assemble(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let mut touches = std::mem::take(&mut self.detected.touches);
        let mut grips = std::mem::take(&mut self.detected.grips);
        for (g, grip) in grips.iter_mut().enumerate() {
            let (first, count) = grip.touches;
            if touches[first].column && !touches[first].soft {
                grip.bodies.iter().for_each(|&b| self.paths[b].rows_at_end = true);
            }
            let ends = self.ends(grip.bodies.map(Some));
            for k in first..first + count {
                self.normal_row(k as u32, &mut touches[k], &ends, &mut rows);
            }
            self.grip_rows(g as u32, grip, &touches[first..first + count], &ends, &mut rows);
        }
        self.detected.touches = touches;
        self.detected.grips = grips;
        rows.contacts = rows.rows.len();
        self.element_rows(&mut rows);
        for k in 0..self.machines.len() {
            self.bend_rows(k, |bodies, J, compliance| {
                let row = Row { compliance, lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..Row::default() };
                self.push_row(&mut rows, bodies, J, row, Owner::Bend, Follow::NONE);
            });
        }
        self.rows = rows;
    }

    /// Appends a row; bodies whose motion is given go into the target.
    pub(super) fn push_row(
        &self,
        rows: &mut Rows,
        bodies: [Option<usize>; 2],
        J: [Six; 2],
        row: Row,
        owner: Owner,
        follows: Follow,
    ) {
        rows.push(&self.ends(bodies), J, row, owner, follows);
    }

    /// Appends a row of any number of bodies, J u + eps lambda = b with lower <= lambda <= upper, where `tie` has b,
    /// eps, the bounds and the impulse to start from (NaN: unknown) of its first row. Bodies whose motion is given go
    /// into the target; a body may be named twice.
    pub(super) fn push_tie(
        &self,
        rows: &mut Rows,
        ends: &[(usize, Six)],
        pushes: &[(usize, Six)],
        tie: Tie,
        owner: Owner,
    ) {
        let [ends, pushes] = [ends, pushes].map(|ends| {
            let own = ends.iter().map(|(b, J)| (self.end(Some(*b)), *J));
            own.collect::<Vec<(End, Six)>>()
        });
        rows.push_tie(&ends, &pushes, tie, owner);
    }

    /// What rows between these bodies have at their ends.
    fn ends(&self, bodies: [Option<usize>; 2]) -> [End; 2] {
        bodies.map(|b| self.end(b))
    }

    /// What a row has at this body.
    fn end(&self, body: Option<usize>) -> End {
        match body {
            Some(b) if self.is_free(b) => End::Free(b as u32),
            Some(b) if self.model.bodies[b].drive != Drive::Free => End::Given(self.paths[b].velocity()),
            _ => End::Still,
        }
    }

    /// Spring and damper evaluated at the end of the step, lambda = -h (k (phi + h J u+) + c J u+), c = k relaxation:
    ///   eps = 1/(h (k h + c)),   gamma = k h/(k h + c),   b = -gamma phi/h;
    /// a spring that the step resolves, at its beginning (q+ = q + h u+ then loses no energy):   eps = 1/(h c),   b = -k phi/c.
    #[inline(always)]
    fn normal_row(&self, k: u32, touch: &mut super::Touch, ends: &[End; 2], rows: &mut Rows) {
        let h = self.h;
        touch.row = rows.rows.len();
        let J = [0, 1].map(|s| self.lever(touch.bodies[s], touch.point, touch.axes[0], s));
        let paths = touch.bodies.map(|b| &self.paths[b]);
        let ahead = if touch.soft { 0.0 } else { h };
        // where they would come from after an impact is no depth of theirs
        let phi = match touch.soft || self.struck.impacts.is_empty() {
            true => touch.gap,
            false => touch.gap + (0..2).map(|s| J[s].dot(&paths[s].impact_displacement)).sum::<f64>(),
        };
        // columns were read where tumbling brings them, which is not where the velocity of the end would
        let phi = match touch.column && !touch.soft {
            true => phi + h * (0..2).map(|s| J[s].angular.dot(paths[s].gyroscopic_velocity_change())).sum::<f64>(),
            false => phi,
        };
        let holds = touch.on && (phi <= 0.0 || !touch.soft) && !self.passes_over(touch, &J, phi);
        let began = || (0..2).map(|s| J[s].dot(&paths[s].velocity_for_rows())).sum::<f64>();
        let slender = touch.column && paths.iter().any(|path| path.is_slender());
        let struck = touch.column && (touch.gap <= 0.0) != (phi <= 0.0);
        let drift = touch.drift.unwrap_or(0.0);
        // what tumbles, or was struck, opens no faster than it does then, whatever the rest of its patch does
        let drift = if slender || struck { drift.min(began().max(0.0)) } else { drift };
        // dampers of a patch that does not touch yet wait until it does
        let drift = if touch.nears && phi > 0.0 { drift.min(-phi / h) } else { drift };
        let damped = (touch.relaxation * drift - phi) / (h + touch.relaxation);
        // surfaces that did not touch have no overlap, whatever straight lines say of slender ones that turn: they are stopped, not pushed out, nor are those
        // that an impact has parted
        let push = if slender && !touch.known || struck && phi > 0.0 { 0.0 } else { PUSH_SPEED };
        let row = Row {
            target: match touch.soft {
                true => drift - phi / touch.relaxation,
                // what does not touch is not damped
                false if phi > 0.0 && touch.drift.is_none() => -phi / h,
                // nor what was apart before an impact, and ends where the impact was at least
                false if phi <= 0.0 && touch.gap > 0.0 && !self.is_linked(touch) => {
                    damped.min(push).max((-phi / h).min(began()))
                }
                false if touch.lands && phi + h * began() > -NOTHING => damped.min(-phi / h).min(push),
                false => damped.min(push),
            },
            compliance: 1.0 / (h * touch.stiffness * (ahead + touch.relaxation)),
            lower: if touch.on { -touch.adhesion * h } else { 0.0 },
            upper: if holds { touch.limit * h } else { 0.0 },
            gap: phi,
            lambda: if touch.known { touch.memory.normal } else { f64::NAN },
            ..Row::default()
        };
        rows.push(ends, J, row, Owner::Normal(k), Follow::NONE);
    }

    /// Friction: springs that slide at the limit, for two directions and spin; resistance to rolling. Where a pair begins to touch it
    /// sticks until its normal impulse is known.
    #[inline(always)]
    fn grip_rows(&self, g: u32, grip: &mut super::Grip, touches: &[super::Touch], ends: &[End; 2], rows: &mut Rows) {
        let h = self.h;
        grip.row = rows.rows.len();
        let first = touches[0].row as u32;
        let load: f64 = touches.iter().map(|t| if t.known { t.memory.normal.max(0.0) } else { 0.0 }).sum();
        let load = if grip.known { load } else { f64::INFINITY };
        let count = touches.len() as u32;
        let follow = |factor: f64, most: f64| Follow { first, count, factor, most, centred: false };
        let mu = if grip.memory.sliding { grip.mu[0] } else { grip.mu[1] };
        let gamma = h / (h + grip.relaxation);
        let cone = self.settings.friction == FrictionBound::Cone;
        let about = |axis: Vec3| [Six::new(-axis, Vec3::ZERO), Six::new(axis, Vec3::ZERO)];
        // where they touch goes with the smaller body: what sticks to a turntable along its tangent would creep outwards, w^2 r h/2
        let [k1, k2] = grip.bodies.map(|b| &self.paths[b].kin);
        let [small1, small2] = grip.bodies.map(|b| self.model.bodies[b].radius);
        let along = if small1 < small2 { k1.v } else { k2.v };
        let far = h * k1.w.length().max(k2.w.length()) > FAR;
        grip.turning = if far { Vec3::ZERO } else { (k2.w.cross(along - k2.v) - k1.w.cross(along - k1.v)) * (0.5 * h) };
        if mu > 0.0 {
            let row = |spring: f64, lambda: f64, ball: u8| Row {
                target: -gamma * spring / h,
                compliance: 1.0 / (h * grip.stiffness * (h + grip.relaxation)),
                lower: -(mu * load).min(grip.limit * h),
                upper: (mu * load).min(grip.limit * h),
                ball,
                shared: cone,
                lambda: if grip.known { lambda } else { f64::NAN },
                ..Row::default()
            };
            let Hold { spring, tangent, wound, twist, .. } = grip.memory;
            for a in 0..2 {
                let axis = grip.axes[a + 1];
                let J = [0, 1].map(|s| self.lever(grip.bodies[s], grip.point, axis, s));
                let mut row = row(spring.dot(axis), tangent.dot(axis), if cone && a == 0 { 3 } else { 0 });
                row.target -= grip.turning.dot(axis);
                let follow = Follow { centred: touches[0].column, ..follow(mu, grip.limit * h) };
                rows.push(ends, J, row, Owner::Tangent(g, a as u8), follow);
            }
            let J = about(grip.axes[0] * grip.lever);
            rows.push(ends, J, row(wound, twist, 0), Owner::Twist(g), follow(mu, grip.limit * h));
        }
        if grip.rolling > 0.0 {
            for a in 0..2 {
                let axis = grip.axes[a + 1];
                let row = Row {
                    lower: -grip.rolling * load,
                    upper: grip.rolling * load,
                    ball: if a == 0 { 2 } else { 0 },
                    shared: true,
                    lambda: if grip.known { grip.memory.turn.dot(axis) } else { f64::NAN },
                    ..Row::default()
                };
                let follow = follow(grip.rolling, f64::INFINITY);
                rows.push(ends, about(axis), row, Owner::Roll(g, a as u8), follow);
            }
        }
    }

    /// Bodies tied together by rows and joints, in order of their smallest body; problems of those where rows act.
    pub(super) fn split(&mut self) {
        let n = self.model.bodies.len();
        let mut root = std::mem::take(&mut self.root);
        root.clear();
        root.extend(0..n as u32);
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
        self.keep_apart();
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
        }
        self.partition_of.fill(u32::MAX);
        for b in 0..n {
            if !self.is_free(b) {
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
        for (k, mechanism) in self.model.mechanisms.iter().enumerate() {
            let machine = &self.machines[k];
            let free = mechanism.links.iter().find(|l| self.partition_of[l.body as usize] != u32::MAX);
            if let Some(link) = free {
                let partition = &mut self.partitions[self.partition_of[link.body as usize] as usize];
                partition.machines.push(k as u32);
                partition.active |= !machine.smooth || machine.overruns || machine.given.iter().any(Option::is_some);
            }
        }
        self.root = root;
        for p in 0..self.partitions.len() {
            if self.partitions[p].active && self.settings.sleeping && self.at_rest(p) {
                self.partitions[p].active = false;
                self.partitions[p].asleep = true;
            } else if self.partitions[p].active {
                self.build_problem(p);
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
        let loose = |owner: &Owner| matches!(owner, Owner::Element(_) | Owner::Custom(_));
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
            Owner::Normal(_) | Owner::Tangent(..) | Owner::Twist(_) | Owner::Roll(..) | Owner::Bend => {
                self.rows.rows[*k as usize].given == 0.0 && !self.rows.rows[*k as usize].lambda.is_nan()
            }
            Owner::Element(_) | Owner::Custom(_) => false,
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
        let (partition_of, place_of) = (std::mem::take(&mut self.partition_of), std::mem::take(&mut self.place_of));
        let local = |b: u32| match partition_of.get(b as usize) {
            Some(&own) if own == p as u32 => place_of[b as usize],
            _ => GROUND,
        };
        for &b in bodies.iter() {
            let (M, W) = masses(&self.model.bodies[b as usize], &self.paths[b as usize].orientation_for_rows());
            let u = flat(self.paths[b as usize].free_velocity_for_rows());
            problem.momentum.extend((0..6).map(|i| (0..6).map(|j| M[6 * i + j] * u[j]).sum::<f64>()));
            problem.mass.push(M);
            problem.inverse.push(W);
        }
        partition.start.clear();
        for &b in &partition.bodies {
            let kin = &self.paths[b as usize].kin;
            partition.start.extend(flat(Six::new(kin.w, kin.v)));
        }
        // where the solution is looked for first
        partition.problem.u.extend_from_slice(&partition.start);
        partition.follows.clear();
        // forces of contacts are opposite
        let ours = if self.rows.seen { 0 } else { self.rows.contacts as u32 };
        partition.rubble = partition.rows.iter().all(|&k| k < ours || self.rows.rows[k as usize].is_opposite());
        let alone = partition.machines.is_empty() && partition.ties.is_empty() && !self.rows.seen;
        partition.springs = if alone { self.springs_of_contacts(&partition.rows) } else { None };
        partition.lent = !partition.rows.is_empty() && partition.rows.len() == self.rows.rows.len();
        if partition.lent {
            std::mem::swap(&mut partition.problem.rows, &mut self.rows.rows);
            std::mem::swap(&mut partition.follows, &mut self.rows.follows);
        } else {
            partition.problem.rows.extend(partition.rows.iter().map(|&k| self.rows.rows[k as usize]));
            partition.follows.extend(partition.rows.iter().map(|&k| match self.rows.follows[k as usize] {
                follow if follow.first == u32::MAX => follow,
                follow => Follow { first: self.row_of[follow.first as usize], ..follow },
            }));
        }
        let mut problem = std::mem::take(&mut partition.problem);
        for &k in &partition.machines {
            self.joint_ties(k as usize, &mut problem.ties, &mut problem.ends, &mut partition.owners);
        }
        for &k in &partition.ties {
            let tie = &self.rows.ties[k as usize];
            let mut copy = |ends: kkt::Ends| {
                let first = problem.ends.len() as u32;
                problem.ends.extend_from_slice(ends.of(&self.rows.ends));
                kkt::Ends { first, end: problem.ends.len() as u32 }
            };
            let (ends, pushes) = (copy(tie.ends), copy(tie.pushes));
            problem.ties.push(Tie { ends, pushes, ..*tie });
        }
        for end in &mut problem.ends {
            end.body = local(end.body);
        }
        partition.problem = problem;
        partition.choose(&self.settings);
        if !partition.swept {
            partition.problem.rows.iter_mut().for_each(|row| row.bodies = row.bodies.map(local));
        }
        (self.partition_of, self.place_of) = (partition_of, place_of);
        self.partitions[p] = partition;
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

impl Partition {
    /// Whether it is swept.
    fn choose(&mut self, settings: &super::Settings) {
        let masses = self.problem.mass.iter().map(|M| M[35]);
        let (least, most) = masses.fold((f64::INFINITY, 0.0_f64), |(a, b), m| (a.min(m), b.max(m)));
        self.swept = match settings.solver {
            super::Solver::Auto => self.bodies.len() > MANY && most < UNEQUAL * least && self.problem.ties.is_empty(),
            super::Solver::Direct => false,
            super::Solver::Sweeps => true,
        } && self.rubble
            && !self.problem.is_skew();
    }

    /// Solves with the friction bounds at hand, then with those of the solution. Where it is swept its rows have the
    /// bodies of the model, which stand at `places` of the problem.
    fn solve(&mut self, settings: &super::Settings, places: &[u32]) {
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
    fn settle(&mut self, settings: &super::Settings) {
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
            let off = self.off_centre();
            let misfit = self.misfit().max(off);
            // the last bounds are those of the solution
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
            (own.lambda, own.lower, own.upper, own.J) = (row.lambda, row.lower, row.upper, row.J);
        }
        self.problem.rows.iter().any(|row| row.lambda != 0.0)
    }

    /// Bound of the friction rows from k on by the normal impulses of the solution [N s], and how many rows they are; none where no friction begins.
    fn bound(&self, k: usize) -> Option<(f64, usize)> {
        let (follow, rows) = (self.follows[k], &self.problem.rows);
        let from = follow.first as usize;
        let normals = (follow.first != u32::MAX).then(|| &rows[from..from + follow.count as usize])?;
        Some((follow.bound(normals.iter().map(|row| row.lambda.max(0.0)).sum()), rows[k].ball.max(1) as usize))
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
