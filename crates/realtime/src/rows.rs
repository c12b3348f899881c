//! Rows of a step: what contacts, joints, force elements and hooks ask of the velocities at its end.

use super::Clock;
use super::contacts::{Grip, Hold, Touch};
use super::joints::flat;
use tippe_geometry::Vec3;
use tippe_mechanics::joint::Six;
use tippe_mechanics::model::Drive;
use tippe_numerics::kkt::{self, Follow, GROUND, Row, Tie};
use tippe_scene::FrictionBound;

/// Overlap is pushed out at most at this speed [m/s].
const PUSH_SPEED: f64 = 1.0;
/// Overlaps below this are rounding [m].
const NOTHING: f64 = 1e-12;
/// Bodies that turn farther in a step have no middle of it [rad].
const FAR: f64 = 0.5;

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Normal of a touch.
    Normal(u32),
    /// Tangent 1 or 2 of a grip.
    Tangent(u32, u8),
    /// Spin about the normal of a grip, times its lever.
    Twist(u32),
    /// Damping of the spin of a grip.
    SpinDamper(u32),
    /// Rolling about tangent 1 or 2 of a grip.
    Roll(u32, u8),
    /// A force element.
    Element(u32),
    /// Damping of a taut chain.
    Bend,
    /// A row of the subsystem.
    Subsystem(u32),
    /// A hook's.
    Custom(u32),
}

impl Owner {
    /// True for rows of a grip: they follow the normals of their pair and act between the same bodies.
    pub fn is_friction(self) -> bool {
        matches!(self, Owner::Tangent(..) | Owner::Twist(_) | Owner::SpinDamper(_) | Owner::Roll(..))
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

    /// Rows of elements that no free body feels, as of a rope between walls, are solved: eps lambda = b within their bounds; without eps they
    /// hold nothing.
    pub fn hold_alone(&mut self) {
        let held = |target: f64, compliance: f64, [lower, upper]: [f64; 2]| {
            if compliance > 0.0 { (target / compliance).max(lower).min(upper) } else { 0.0 }
        };
        let is_element = |owner: &Owner| matches!(owner, Owner::Element(_));
        for (row, owner) in self.rows.iter_mut().zip(&self.owners) {
            if row.bodies != [GROUND; 2] || !is_element(owner) {
                continue;
            }
            row.lambda = held(row.target, row.compliance, [row.lower, row.upper]);
        }
        for (tie, owner) in self.ties.iter_mut().zip(&self.tie_owners) {
            if !tie.ends.of(&self.ends).is_empty() || !is_element(owner) {
                continue;
            }
            tie.lambda[0] = held(tie.target[0], tie.compliance[0], [tie.lower[0], tie.upper[0]]);
        }
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

    /// Free bodies that a row of an element ties, and the derivatives of its rate by their velocities.
    pub fn ends_at(&self, place: Place) -> impl Iterator<Item = (usize, [f64; 6])> + Clone {
        let (row, tie) = match place {
            Place::Row(k) => (Some(&self.rows[k]), None),
            Place::Tie(k) => (None, Some(&self.ties[k])),
        };
        let of_row = row.into_iter().flat_map(|row| row.bodies.into_iter().zip(row.J));
        let of_tie = tie.into_iter().flat_map(|tie| tie.ends.of(&self.ends)).map(|end| (end.body, end.row(0)));
        of_row.filter(|(body, _)| *body != GROUND).chain(of_tie).map(|(body, J)| (body as usize, J))
    }

    /// What bodies whose motion is given add to the rate of a row of an element.
    pub fn given_at(&self, place: Place) -> f64 {
        match place {
            Place::Row(k) => self.rows[k].given,
            Place::Tie(k) => self.tie_given[k],
        }
    }

    /// Bounds of the impulse of a row of an element.
    pub fn bounds_at(&self, place: Place) -> [f64; 2] {
        match place {
            Place::Row(k) => [self.rows[k].lower, self.rows[k].upper],
            Place::Tie(k) => [self.ties[k].lower[0], self.ties[k].upper[0]],
        }
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

/// Where a row of an element is: rows of up to two bodies have a layout of their own.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Among [`Rows::rows`].
    Row(usize),
    /// Among [`Rows::ties`].
    Tie(usize),
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
        self.subsystem_rows(&mut rows);
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
    fn normal_row(&self, k: u32, touch: &mut Touch, ends: &[End; 2], rows: &mut Rows) {
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
        // what impulses add to the paths, the row adds to the gap at their end
        let phi = match touch.clears {
            Some(gap) if !touch.soft => phi.max(gap - h * (0..2).map(|s| J[s].dot(&paths[s].velocity())).sum::<f64>()),
            _ => phi,
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
    fn grip_rows(&self, g: u32, grip: &mut Grip, touches: &[Touch], ends: &[End; 2], rows: &mut Rows) {
        let h = self.h;
        grip.row = rows.rows.len();
        let first = touches[0].row as u32;
        let pressed = |t: &Touch| if t.known { Follow::pressed(t.memory.normal, -t.adhesion * h) } else { 0.0 };
        let load: f64 = touches.iter().map(pressed).sum();
        let load = if grip.known { load } else { f64::INFINITY };
        let count = touches.len() as u32;
        let follow = |factor: f64, most: f64| Follow { first, count, factor, slides: factor, most, ..Follow::NONE };
        let slide = self.slide(grip, load);
        let mu = slide.mu;
        grip.keeps = slide.keeps;
        let cone = self.settings.friction == FrictionBound::Cone;
        let about = |axis: Vec3| [Six::new(-axis, Vec3::ZERO), Six::new(axis, Vec3::ZERO)];
        // where they touch goes with the smaller body: what sticks to a turntable along its tangent would creep outwards, w^2 r h/2
        let [k1, k2] = grip.bodies.map(|b| &self.paths[b].kin);
        let [small1, small2] = grip.bodies.map(|b| self.model.bodies[b].radius);
        let along = if small1 < small2 { k1.v } else { k2.v };
        let far = h * k1.w.length().max(k2.w.length()) > FAR;
        grip.turning = if far { Vec3::ZERO } else { (k2.w.cross(along - k2.v) - k1.w.cross(along - k1.v)) * (0.5 * h) };
        if mu > 0.0 {
            let most = if grip.fixed > 0.0 { grip.fixed * h } else { mu * load }.min(grip.limit * h);
            let compliance = match slide.rate {
                Some(rate) => 1.0 / (h * rate),
                None => 1.0 / (h * grip.stiffness * (h + grip.relaxation)),
            };
            let row = |spring: f64, lambda: f64, ball: u8| Row {
                target: -slide.gamma * spring / h,
                compliance,
                lower: -most,
                upper: most,
                ball,
                shared: cone,
                lambda: if grip.known { lambda } else { f64::NAN },
                ..Row::default()
            };
            let Hold { spring, tangent, wound, twist, .. } = grip.memory;
            let bound = Follow { slides: slide.slides, ..follow(mu, grip.limit * h) };
            let bound = match grip.fixed > 0.0 {
                true => Follow { factor: 0.0, slides: 0.0, plus: grip.fixed * h, ..bound },
                false => bound,
            };
            for a in 0..2 {
                let axis = grip.axes[a + 1];
                let J = [0, 1].map(|s| self.lever(grip.bodies[s], grip.point, axis, s));
                let mut row = row(
                    spring.dot(axis),
                    tangent.dot(axis),
                    if cone && a == 0 { 2 + u8::from(slide.spins) } else { 0 },
                );
                row.target -= grip.turning.dot(axis);
                let follow = Follow { centred: touches[0].column, ..bound };
                rows.push(ends, J, row, Owner::Tangent(g, a as u8), follow);
            }
            if slide.spins {
                let J = about(grip.axes[0] * grip.lever);
                rows.push(ends, J, row(wound, twist, 0), Owner::Twist(g), bound);
            }
        }
        if grip.spin_damper > 0.0 {
            let compliance = 1.0 / (h * grip.spin_damper);
            let row = Row { compliance, lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..Row::default() };
            rows.push(ends, about(grip.axes[0]), row, Owner::SpinDamper(g), Follow::NONE);
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
}
