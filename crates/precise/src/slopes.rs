//! Derivatives of an island's rates, pair by pair.
//!
//! What a pair gives its bodies depends on their relative motion alone. With O the force on 2, the torques about both centres of mass, the
//! rates of the springs and the powers, differences of O are taken by the motion of one of its bodies, m, along the contact's own axes (shift
//! p, turn phi, v, w, resolved in world); those by the motion of the other, o, follow, since nothing changes but directions when both move as
//! one. With r = p_m - p_o and any vectors a:
//!   O_p^o = -O_p^m,   O_v^o = -O_v^m,   O_w^o a = -O_w^m a - O_v^m (a x r)
//!   O_phi^o a = a x O - O_phi^m a - O_p^m (a x r) - sum_i (O_v^i (a x v_i) + O_w^i (a x w_i)) - O_s (a x s)
//! where a x turns the vectors of O and of the springs s. One reading of the geometry per way to move, six in all, against eighteen when all
//! states of both bodies are displaced in turn.
//! At the start of a step, where g = 0 and the frame turns with the body, phi = 2 g and
//!   dg' = dw/2 - dg x w     (w in world axes;  dg' = R dw/2 with w in the body's own).

use super::dynamics::Dynamics;
use super::layout::{Account, BODY_STATES, SPEED_FLOOR, vector};
use super::pair::{POWERS, Pair, Reading, SPRING_STATES};
use rayon::prelude::*;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::contact::friction::Springs;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{Body, Model};
use tippe_numerics::Jacobian;

/// A shift or a turn, as a share of the length that matters to the pair [-].
const SHARE: f64 = 3e-5;
/// A change of velocity, as a share of the slowest that counts [-].
const SPEED_SHARE: f64 = 1e-7;
/// A change of a spring's force, as a share of the normal force [-].
const FORCE_SHARE: f64 = 1e-6;
/// Differences are no smaller than this share of the number itself [-].
const ROUNDING: f64 = 1e-13;
/// Ways to move: shift, turn, velocity, angular velocity.
const WAYS: usize = 12;
/// Readings for them: those of velocities and along the contact are central.
const READINGS: usize = 18;
/// No shift along a patch is longer than this share of its radius, no turn about its normal larger than this angle [rad] [-].
const PATCH_SHARE: f64 = 0.1;
/// What a pair gives, or a derivative of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given {
    /// Force on body 2 [N].
    pub force: Vec3,
    /// Torques about the centres of mass [N m].
    pub torques: [Vec3; 2],
    /// Rates of the springs.
    pub springs: Springs,
    /// Powers by account, those of prescribed motions left out [W].
    pub powers: [f64; POWERS],
}

impl Given {
    /// What a reading gives.
    fn of(pair: &Pair, reading: &Reading) -> Given {
        if reading.gap > 0.0 {
            return Given::default();
        }
        Given {
            force: reading.total,
            torques: reading.torques,
            springs: if pair.memory.touching { reading.friction.rates } else { Springs::default() },
            powers: pair.powers(reading),
        }
    }

    /// self + factor other.
    fn plus(mut self, factor: f64, other: &Given) -> Given {
        self.force += factor * other.force;
        self.torques[0] += factor * other.torques[0];
        self.torques[1] += factor * other.torques[1];
        self.springs.f += factor * other.springs.f;
        self.springs.spin += factor * other.springs.spin;
        self.springs.roll += factor * other.springs.roll;
        for (a, b) in self.powers.iter_mut().zip(other.powers) {
            *a += factor * b;
        }
        self
    }

    /// (self - other)/delta.
    fn slope(self, other: &Given, delta: f64) -> Given {
        Given::default().plus(1.0 / delta, &self.plus(-1.0, other))
    }

    /// a x O.
    fn turned(&self, a: Vec3) -> Given {
        Given {
            force: a.cross(self.force),
            torques: self.torques.map(|t| a.cross(t)),
            springs: Springs { f: a.cross(self.springs.f), spin: 0.0, roll: a.cross(self.springs.roll) },
            powers: [0.0; POWERS],
        }
    }
}

/// Derivatives of what a pair gives by three components.
type Three = [Given; 3];

/// sum_i x_i slopes_i.
fn along(slopes: &[Given], x: Vec3) -> Given {
    (0..3).fold(Given::default(), |sum, i| sum.plus(x[i], &slopes[i]))
}

/// Derivatives of what a pair gives by the motion of its bodies and by its springs.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    /// Index of the pair.
    pub pair: u32,
    /// By shift, turn, velocity and angular velocity of each body.
    sides: [[Three; 4]; 2],
    /// By the springs.
    springs: [Given; SPRING_STATES],
}

/// True for a pair that touches over an area: differences of it go by its slopes.
pub(super) fn goes_by_slopes(pair: &Pair) -> bool {
    pair.is_patch() && pair.last.gap <= 0.0
}

/// A pair where its slopes are taken.
struct Base<'a> {
    model: &'a Model,
    pair: &'a Pair,
    sides: [&'a Kinematics; 2],
    springs: &'a Springs,
    /// Side of the body that differences move, and the other, whose slopes follow.
    m: usize,
    o: usize,
    /// What the pair gives there.
    at: Given,
}

/// Ways in which differences move a body.
struct Ways {
    /// Deeper, along the slip, across it.
    axes: [Vec3; 3],
    /// The same, about which it turns.
    turning: [Vec3; 3],
    /// Shifts across the patch and along it [m].
    shift: f64,
    way: f64,
    /// Turns about the patch and about its normal [rad].
    turn: f64,
    twist: f64,
    /// Change of the velocity [m/s] and of the angular velocity [rad/s].
    speed: f64,
    spin: f64,
}

impl Base<'_> {
    /// What the pair gives where its bodies move like this.
    fn read(&self, sides: [&Kinematics; 2], springs: &Springs) -> Given {
        let mut reading = self.pair.last;
        self.pair.read_beside(self.model, sides, springs, &mut reading);
        Given::of(self.pair, &reading)
    }

    /// What it gives where the body that differences move does so like this.
    fn moved(&self, motion: &Kinematics) -> Given {
        let mut both = self.sides;
        both[self.m] = motion;
        self.read(both, self.springs)
    }

    /// Ways for a body of this size [m] and a step that is so long [s].
    fn ways(&self, size: f64, step: f64) -> Ways {
        let (pair, here) = (self.pair, self.sides[self.m]);
        let length = pair.scale.max(-pair.last.gap);
        // deeper, along the slip, across it
        let inward = if self.m == 1 { -pair.last.normal } else { pair.last.normal };
        // what slips by rounding alone has no direction
        let slip = pair.last.v_t.try_normalize().map(|s| s - s.dot(inward) * inward).and_then(Vec3::try_normalize);
        let slip = slip.filter(|s| s.dot(inward).abs() < 1e-12).unwrap_or_else(|| inward.any_orthonormal_vector());
        // a cross product turns round in a mirror, this does not
        let across = inward.cross(slip);
        let across = if across.dot(pair.last.point - self.sides[0].p) < 0.0 { -across } else { across };
        let axes = [inward, slip, across];
        // where solids just touch a turn one way is not that the other way: as they turn
        let w_rel = here.w - self.sides[self.o].w;
        let turning = axes.map(|a| if a.dot(w_rel) < 0.0 { -a } else { a });
        let shift = (SHARE * length).max(ROUNDING * here.p.length());
        let turn = (SHARE * length / size).max(ROUNDING);
        let speed = (SPEED_SHARE * SPEED_FLOOR).max(ROUNDING * here.v.length());
        let spin = (SPEED_SHARE * SPEED_FLOOR / size).max(ROUNDING * here.w.length());
        // A patch that slides goes many times its depth in a step, where next to nothing changes. What rounding makes of the depth, over a shift as
        // small as that across it, would have it change: along the patch the shift is as long as the way of a step, and the turn about its normal.
        let way = (pair.last.v_t.length() * step).min(PATCH_SHARE * pair.last.patch_radius).max(shift);
        let twist = (w_rel.dot(inward).abs() * step).min(PATCH_SHARE).max(turn);
        Ways { axes, turning, shift, way, turn, twist, speed, spin }
    }

    /// Derivatives by shift, turn, velocity and angular velocity of the body that differences move.
    fn by_motion(&self, ways: &Ways) -> [Three; 4] {
        let &Ways { axes, turning, shift, way, turn, twist, speed, spin } = ways;
        let [inward, slip, across] = axes;
        let (at, here) = (&self.at, *self.sides[self.m]);
        let shifted = |a: Vec3| self.moved(&Kinematics { p: here.p + a, ..here });
        let turned =
            |a: Vec3| self.moved(&Kinematics { R: Mat3::from_quat(Quat::from_scaled_axis(a)) * here.R, ..here });
        let by_axes = [
            [
                shifted(shift * inward).slope(at, shift),
                shifted(way * slip).slope(&shifted(-way * slip), 2.0 * way),
                shifted(way * across).slope(&shifted(-way * across), 2.0 * way),
            ],
            [
                turned(twist * turning[0]).slope(&turned(-twist * turning[0]), 2.0 * twist),
                turned(turn * turning[1]).slope(at, turn),
                turned(turn * turning[2]).slope(at, turn),
            ],
            axes.map(|a| {
                // a contact that neither closes nor opens has a kink there
                let back = self.moved(&Kinematics { v: here.v - speed * a, ..here });
                self.moved(&Kinematics { v: here.v + speed * a, ..here }).slope(&back, 2.0 * speed)
            }),
            turning.map(|a| self.moved(&Kinematics { w: here.w + spin * a, ..here }).slope(at, spin)),
        ];
        // d/dx_k = sum_i (a_i)_k d/da_i
        let by_world = |slopes: &Three, axes: &[Vec3; 3]| -> Three {
            [0, 1, 2].map(|k| along(slopes, Vec3::new(axes[0][k], axes[1][k], axes[2][k])))
        };
        [
            by_world(&by_axes[0], &axes),
            by_world(&by_axes[1], &turning),
            by_world(&by_axes[2], &axes),
            by_world(&by_axes[3], &turning),
        ]
    }

    /// Derivatives by the springs.
    fn by_springs(&self) -> [Given; SPRING_STATES] {
        let pair = self.pair;
        [0, 1, 2, 3, 4, 5, 6].map(|k| {
            if pair.springs.is_none() {
                return Given::default();
            }
            let N = pair.last.force.total().max(1e-3 * pair.laws.normal.mass);
            let lever = if k < 3 { 1.0 } else { pair.last.radius.max(1e-6) };
            let delta = FORCE_SHARE * N * lever;
            let mut pulled = *self.springs;
            match k {
                0..3 => pulled.f[k] += delta,
                3 => pulled.spin += delta,
                _ => pulled.roll[k - 4] += delta,
            }
            self.read(self.sides, &pulled).slope(&self.at, delta)
        })
    }

    /// Derivatives by the other body: what both do together changes nothing but directions.
    fn by_other(&self, [O_p, O_phi, O_v, O_w]: &[Three; 4], O_s: &[Given; SPRING_STATES]) -> [Three; 4] {
        let (here, there, springs) = (self.sides[self.m], self.sides[self.o], self.springs);
        let r = here.p - there.p;
        let negative = |slopes: &Three| slopes.map(|s| Given::default().plus(-1.0, &s));
        let other_w: Three =
            Vec3::AXES.map(|a| Given::default().plus(-1.0, &along(O_w, a)).plus(-1.0, &along(O_v, a.cross(r))));
        let other_v = negative(O_v);
        let other_phi: Three = Vec3::AXES.map(|a| {
            self.at
                .turned(a)
                .plus(-1.0, &along(O_phi, a))
                .plus(-1.0, &along(O_p, a.cross(r)))
                .plus(-1.0, &along(O_v, a.cross(here.v)))
                .plus(-1.0, &along(O_w, a.cross(here.w)))
                .plus(-1.0, &along(&other_v, a.cross(there.v)))
                .plus(-1.0, &along(&other_w, a.cross(there.w)))
                .plus(-1.0, &along(&O_s[..3], a.cross(springs.f)))
                .plus(-1.0, &along(&O_s[4..], a.cross(springs.roll)))
        });
        [negative(O_p), other_phi, other_v, other_w]
    }
}

impl Slopes {
    /// Those of a pair about its last reading, where its bodies move like this; `sizes` of the bodies [m], infinite for one that is not free;
    /// `step` the time it is for [s].
    fn new(
        model: &Model,
        index: u32,
        pair: &Pair,
        sides: [&Kinematics; 2],
        sizes: [f64; 2],
        springs: &Springs,
        step: f64,
    ) -> Slopes {
        let m = usize::from(sizes[1].is_finite());
        let base = Base { model, pair, sides, springs, m, o: 1 - m, at: Given::of(pair, &pair.last) };
        let own = base.by_motion(&base.ways(sizes[m], step));
        let by_springs = base.by_springs();
        let mut both = [[[Given::default(); 3]; 4]; 2];
        both[base.o] = base.by_other(&own, &by_springs);
        both[m] = own;
        Slopes { pair: index, sides: both, springs: by_springs }
    }

    /// What the pair, which gave `reading` where its bodies moved like `then` and its springs were the first, gives where they move like `now`
    /// and its springs are the second.
    pub fn beside(
        &self,
        pair: &Pair,
        reading: &Reading,
        then: [&Kinematics; 2],
        now: [&Kinematics; 2],
        springs: &[Springs; 2],
    ) -> Given {
        let mut given = Given::of(pair, reading);
        for side in 0..2 {
            let [O_p, O_phi, O_v, O_w] = &self.sides[side];
            let (a, b) = (then[side], now[side]);
            let ways = [(O_p, b.p - a.p), (O_phi, small_turn(&a.R, &b.R)), (O_v, b.v - a.v), (O_w, b.w - a.w)];
            for (slopes, way) in ways.into_iter().filter(|(_, way)| *way != Vec3::ZERO) {
                given = given.plus(1.0, &along(slopes, way));
            }
        }
        let [a, b] = springs;
        if a != b {
            given = given.plus(1.0, &along(&self.springs[..3], b.f - a.f));
            given = given.plus(b.spin - a.spin, &self.springs[3]);
            given = given.plus(1.0, &along(&self.springs[4..], b.roll - a.roll));
        }
        given
    }

    /// By the states of the body on this side.
    fn by_states(&self, side: usize, body: &Body, kin: &Kinematics) -> [Given; WAYS] {
        let [O_p, O_phi, O_v, O_w] = &self.sides[side];
        let mut columns = [Given::default(); WAYS];
        for (i, &axis) in Vec3::AXES.iter().enumerate() {
            columns[i] = O_p[i];
            columns[6 + i] = O_v[i];
            if body.oriented {
                columns[3 + i] = Given::default().plus(2.0, &O_phi[i]);
            }
            columns[9 + i] = O_w[i];
            if !body.isotropic {
                columns[3 + i] = columns[3 + i].plus(2.0, &along(O_w, axis.cross(kin.w)));
                columns[9 + i] = along(O_w, kin.R * axis);
            }
        }
        columns
    }

    /// By time: frames turn with their bodies, prescribed bodies move on.
    fn by_time(&self, dynamics: &Dynamics, model: &Model) -> Given {
        let mut sum = Given::default();
        for (side, &k) in dynamics.pairs[self.pair as usize].sides.iter().enumerate() {
            let [O_p, O_phi, ..] = &self.sides[side];
            let kin = &dynamics.kinematics[k];
            match dynamics.bodies.get(k) {
                Some(&body) if model.bodies[body as usize].oriented => sum = sum.plus(1.0, &along(O_phi, kin.w)),
                Some(_) => {}
                None => sum = sum.plus(1.0, &along(O_p, kin.v)).plus(1.0, &along(O_phi, kin.w)),
            }
        }
        sum
    }
}

impl Dynamics {
    /// True when nothing acts in the island but gravity, contacts and constant pushes, all of it on bodies that hang on nothing, and some
    /// touch over an area. Points cost next to nothing to read, and differences of all rates keep a mirrored rack of balls mirrored to the bit.
    fn is_pairs_alone(&self) -> bool {
        let pairs_alone =
            self.machines.is_empty() && self.actions.is_empty() && self.simple.is_empty() && self.efforts.is_empty();
        let pairs_alone = pairs_alone && self.resisting.is_empty();
        pairs_alone && self.pairs.iter().any(|pair| pair.is_patch() && (pair.last.gap <= 0.0 || pair.memory.touching))
    }

    /// Writes the derivatives at (t, y), where the frames start, into `J`; false where more than contacts acts.
    pub(super) fn write_slopes(&mut self, model: &Model, t: f64, y: &[f64], J: &mut Jacobian) -> bool {
        if !self.is_pairs_alone() {
            return false;
        }
        // bodies may have been elsewhere for a sample since the last evaluation
        self.locate(model, t, y);
        for (asked, (pair, &gap)) in self.asked.iter_mut().zip(self.pairs.iter().zip(&self.gaps)) {
            *asked = gap <= 0.0 || pair.memory.touching;
        }
        self.read_asked(model, y);
        let mut slopes = std::mem::take(&mut self.slopes);
        self.find_slopes(model, y, &mut slopes);
        for k in 0..self.bodies.len() {
            self.write_body(model, k, y, J);
        }
        for slopes in &slopes {
            self.write_pair(model, slopes, J);
        }
        self.slopes = slopes;
        true
    }

    /// Derivatives of the pairs that were asked for.
    pub(super) fn find_slopes(&mut self, model: &Model, y: &[f64], slopes: &mut Vec<Slopes>) {
        let size = |side: usize| match self.bodies.get(side) {
            Some(&body) => model.bodies[body as usize].size.max(1e-9),
            None => f64::INFINITY,
        };
        let find = |(k, pair): (usize, &Pair)| {
            let sides = pair.sides.map(|side| &self.kinematics[side]);
            Slopes::new(model, k as u32, pair, sides, pair.sides.map(size), &Dynamics::springs(pair, y), self.step)
        };
        let touches = |(k, _): &(usize, &Pair)| self.asked[*k];
        slopes.clear();
        if self.parallel {
            slopes.par_extend(self.pairs.par_iter().enumerate().filter(touches).map(find));
        } else {
            slopes.extend(self.pairs.iter().enumerate().filter(touches).map(find));
        }
        for slopes in slopes {
            let springs = if self.pairs[slopes.pair as usize].springs.is_some() { SPRING_STATES } else { 0 };
            self.read = self.read.map(|count| count + (READINGS + springs) as u64);
        }
    }

    /// What a body does by itself: it moves on, turns, feels gravity where it is, and a torque in axes that turn.
    pub(super) fn write_body(&self, model: &Model, k: usize, y: &[f64], J: &mut Jacobian) {
        if self.gone[k] {
            return;
        }
        let node = self.node_of[k];
        let (body, kin) = (&model.bodies[self.bodies[k] as usize], &self.kinematics[k]);
        let own = J.states.block_mut(node, 0, BODY_STATES * BODY_STATES);
        let mut put = |row: usize, column: usize, v: Vec3| {
            for i in 0..3 {
                own[(row + i) * BODY_STATES + column] += v[i];
            }
        };
        let tau = self.load(k).angular;
        let w_b = vector(y, self.offset_of[k] + 9);
        for (c, &axis) in Vec3::AXES.iter().enumerate() {
            put(0, 6 + c, axis);
            for a in &model.attractors {
                // d/dp of mu d/r^3 with d = position - p
                let d = a.position - kin.p;
                let r = d.length();
                put(6, c, a.mu / (r * r * r) * (3.0 * d[c] / (r * r) * d - axis));
            }
            if body.isotropic {
                put(3, 3 + c, kin.w.cross(axis));
                put(3, 9 + c, 0.5 * axis);
            } else {
                put(3, 9 + c, 0.5 * (kin.R * axis));
                put(9, 3 + c, body.I_c_inverse * (kin.R.transpose() * (-2.0 * axis.cross(tau))));
                put(9, 9 + c, -(body.I_c_inverse * (axis.cross(body.I_c * w_b) + w_b.cross(body.I_c * axis))));
            }
        }
        if !body.isotropic {
            let turning = body.I_c_inverse * (kin.R.transpose() * -kin.w.cross(tau));
            for i in 0..3 {
                J.f_t[self.offset_of[k] + 9 + i] += turning[i];
            }
        }
    }

    /// What a pair does to its bodies, its springs and the books.
    fn write_pair(&self, model: &Model, slopes: &Slopes, J: &mut Jacobian) {
        let pair = &self.pairs[slopes.pair as usize];
        let by_time = slopes.by_time(self, model);
        self.write_given(model, pair, &by_time, |dynamics, at, value| {
            let start = match at {
                Place::States(node) => dynamics.pattern.offsets[node],
                Place::Books(node) => dynamics.account_start(node),
            };
            J.f_t[start + value.0] += value.1;
        });
        let mut write = |columns: &[Given], node: usize| {
            let wide = columns.len();
            for (c, column) in columns.iter().enumerate() {
                self.write_given(model, pair, column, |dynamics, at, (row, value)| {
                    let pattern = &dynamics.pattern;
                    let (Place::States(to) | Place::Books(to)) = at;
                    let Some(slot) = pattern.slot(to, node) else { return };
                    let block = match at {
                        Place::States(_) => J.states.block_mut(to, slot, pattern.size(to) * wide),
                        Place::Books(_) => J.quadratures_mut(to, slot),
                    };
                    block[row * wide + c] += value;
                });
            }
        };
        for (side, &k) in pair.sides.iter().enumerate() {
            if let Some(&body) = self.bodies.get(k) {
                let columns = slopes.by_states(side, &model.bodies[body as usize], &self.kinematics[k]);
                write(&columns, self.node_of[k]);
            }
        }
        if let Some(node) = self.spring_node(pair) {
            write(&slopes.springs, node);
        }
    }

    /// Node of a pair's springs.
    fn spring_node(&self, pair: &Pair) -> Option<usize> {
        self.pattern.offsets.binary_search(&pair.springs?).ok()
    }

    /// Hands out what a pair gives to the rates it is part of: place, row there, value.
    fn write_given(
        &self,
        model: &Model,
        pair: &Pair,
        given: &Given,
        mut to: impl FnMut(&Dynamics, Place, (usize, f64)),
    ) {
        let mut one = |place: Place, row: usize, value: f64| to(self, place, (row, value));
        let books = Place::Books(pair.node);
        for (side, &k) in pair.sides.iter().enumerate() {
            let force = if side == 0 { -given.force } else { given.force };
            let torque = given.torques[side];
            let Some(&body) = self.bodies.get(k) else {
                if self.accounts > 0 {
                    let kin = &self.kinematics[k];
                    three(&mut one, books, Account::Impulse as usize, -force);
                    one(books, Account::Work as usize, -(force.dot(kin.v) + torque.dot(kin.w)));
                }
                continue;
            };
            let (body, kin, place) =
                (&model.bodies[body as usize], &self.kinematics[k], Place::States(self.node_of[k]));
            three(&mut one, place, 6, force / body.mass);
            let axes = if body.isotropic { torque } else { kin.R.transpose() * torque };
            three(&mut one, place, 9, body.I_c_inverse * axes);
        }
        if let Some(node) = self.spring_node(pair) {
            three(&mut one, Place::States(node), 0, given.springs.f);
            three(&mut one, Place::States(node), 4, given.springs.roll);
            one(Place::States(node), 3, given.springs.spin);
        }
        if self.accounts > 0 {
            for (row, &power) in given.powers.iter().enumerate() {
                one(books, row, power);
            }
        }
    }
}

/// The small turn from one orientation to another [rad]: sin of it along its axis, (D - D^T)/2 of D = R_b R_a^T.
fn small_turn(R_a: &Mat3, R_b: &Mat3) -> Vec3 {
    if R_a == R_b {
        return Vec3::ZERO;
    }
    // D - 1 = (R_b - R_a) R_a^T has the digits that D has not
    let D = (*R_b - *R_a) * R_a.transpose();
    0.5 * Vec3::new(D.y_axis.z - D.z_axis.y, D.z_axis.x - D.x_axis.z, D.x_axis.y - D.y_axis.x)
}

/// Where a rate stands.
#[derive(Clone, Copy)]
enum Place {
    /// Among the states of a node.
    States(usize),
    /// Among its integrals.
    Books(usize),
}

/// A vector from this row on.
fn three(one: &mut impl FnMut(Place, usize, f64), place: Place, row: usize, v: Vec3) {
    (0..3).for_each(|i| one(place, row + i, v[i]));
}

#[cfg(test)]
mod tests {
    use super::super::system::Bound;
    use super::super::whole::Whole;
    use super::*;
    use tippe_mechanics::kinematics::Frame;
    use tippe_numerics::System;
    use tippe_scene::Scene;

    /// A box on the ground, a box on it, a ball on that, a cylinder lying across a moving belt, all pressed in and all moving.
    fn pile(friction_law: &str) -> Whole {
        let text = format!(
            r#"
            format = 1
            [world]
            gravity = [0, 0, -9.81]
            [contact]
            friction = 0.5
            friction_law = "{friction_law}"
            restitution = 0.5
            [materials.soft]
            density = 1000
            young = "1 MPa"
            poisson = 0.3
            [[body]]
            name = "ground"
            fixed = true
            material = "soft"
            shape = {{ kind = "half_space" }}
            [[body]]
            name = "lower"
            material = "soft"
            shape = {{ kind = "box", size = [0.2, 0.3, 0.1] }}
            position = [0, 0, 0.0495]
            velocity = [0.3, -0.2, 0.11]
            angular_velocity = [0.4, 0.3, -0.7]
            [[body]]
            name = "upper"
            material = "soft"
            shape = {{ kind = "box", size = [0.1, 0.2, 0.1] }}
            position = [0.03, 0.04, 0.149]
            orientation = {{ axis = [0, 0, 1], angle = 0.4 }}
            velocity = [-0.2, 0.1, -0.17]
            angular_velocity = [-0.2, 0.1, 0.5]
            [[body]]
            name = "ball"
            material = "soft"
            shape = {{ kind = "sphere", radius = 0.05 }}
            position = [0.04, 0.02, 0.2485]
            velocity = [0.1, 0.05, 0.08]
            angular_velocity = [1, 2, 3]
            [[body]]
            name = "belt"
            material = "soft"
            shape = {{ kind = "box", size = [1, 1, 0.1] }}
            position = [2, 0, 0.3]
            motion = {{ velocity = [0.5, 0, 0.02], angular_velocity = [0, 0, 0.3] }}
            [[body]]
            name = "log"
            material = "soft"
            shape = {{ kind = "cylinder", radius = 0.05, length = 0.3 }}
            position = [2.05, 0.1, 0.3994]
            orientation = {{ axis = [1, 0.1, 0], angle = 1.57 }}
            velocity = [0.1, 0.2, -0.05]
            angular_velocity = [0.3, 0.2, 0.1]
            "#
        );
        let scene = Scene::parse("pile.toml", &text, &[]).expect("a scene");
        Whole::new(&tippe_mechanics::model::Model::compile(&scene).expect("a model"))
    }

    /// J d and df/dt against differences of all rates, along many directions d.
    #[test]
    fn slopes_pair_by_pair_are_those_of_all_rates() {
        for law in ["none", "contensou", "mindlin"] {
            let Whole { model, mut dynamics, mut inner, .. } = pile(law);
            for k in 0..dynamics.bodies.len() {
                let o = dynamics.offset_of[k];
                let rate = match model.bodies[dynamics.bodies[k] as usize].isotropic {
                    true => vector(&inner, o + 9),
                    false => dynamics.kinematics[k].R * vector(&inner, o + 9),
                };
                dynamics.frames[k] = Frame { rate, ..dynamics.frames[k] };
            }
            let states = dynamics.pattern.rows();
            let n = dynamics.length();
            for (k, pair) in dynamics.pairs.iter().enumerate().filter(|(_, p)| p.springs.is_some() && p.memory.touching)
            {
                let springs = Springs { f: Vec3::new(0.3, -0.2, 0.1), spin: 0.002 * k as f64, roll: Vec3::ZERO };
                Dynamics::set_springs(pair, &mut inner, &springs);
            }
            for pair in &mut dynamics.pairs {
                pair.memory.modes.slipping = false;
                // at its touch the speed that damping refers to has a kink
                pair.memory.normal.impact_speed = 1.0;
            }
            let rates = |dynamics: &mut Dynamics, t: f64, y: &[f64]| {
                let mut f = vec![0.0; n];
                Bound { model: &model, dynamics }.rates(t, y, &mut f);
                f
            };
            let (mut delta, mut central) = (vec![0.0; n], vec![false; n]);
            let rates_here = rates(&mut dynamics, 0.0, &inner);
            // depths of 0.5 mm are differences of positions of 2 m
            let rounding = 4096.0 * f64::EPSILON * rates_here.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            assert_eq!(dynamics.pairs.iter().filter(|p| p.last.gap <= 0.0).count(), 4, "{law}");
            dynamics.couple(&model);
            dynamics.step = 1e-5;
            let mut bound = Bound { model: &model, dynamics: &mut dynamics };
            bound.increments(&inner, &mut delta, &mut central);
            let mut J = Jacobian::new(&bound);
            assert!(bound.jacobian(0.0, &inner, &mut J));
            let close = |ours: f64, theirs: f64, size: f64, what: &str| {
                let allowed = (2e-3 * size).max(rounding);
                assert!((ours - theirs).abs() <= allowed, "{law} {what}: {ours:e} and {theirs:e} of {size:e}");
            };
            for direction in 0..states {
                let mut d = vec![0.0; n];
                // increments are for contacts that go by their slopes: here they do not
                d[direction] = 0.01 * delta[direction].abs();
                if d[direction] == 0.0 {
                    continue;
                }
                let y = |sign: f64| inner.iter().zip(&d).map(|(y, d)| y + sign * d).collect::<Vec<_>>();
                let (up, down) = (rates(&mut dynamics, 0.0, &y(1.0)), rates(&mut dynamics, 0.0, &y(-1.0)));
                let mut ours = vec![0.0; states];
                J.states.multiply(&dynamics.pattern, &d, &mut ours);
                let size = (0..states).map(|i| 0.5 * (up[i] - down[i]).abs()).fold(0.0, f64::max);
                for i in 0..states {
                    close(ours[i], 0.5 * (up[i] - down[i]), size, &format!("rate {i} by state {direction}"));
                }
                for node in 0..dynamics.pattern.nodes() {
                    let books = Bound { model: &model, dynamics: &mut dynamics }.quadratures(node);
                    for (r, q) in books.enumerate() {
                        let mut sum = 0.0;
                        for slot in 0..=dynamics.pattern.neighbours[node].len() {
                            let j = if slot == 0 { node } else { dynamics.pattern.neighbours[node][slot - 1] as usize };
                            let (from, wide) = (dynamics.pattern.offsets[j], dynamics.pattern.size(j));
                            let row = &J.quadratures(node, slot)[r * wide..][..wide];
                            sum += row.iter().zip(&d[from..]).map(|(a, d)| a * d).sum::<f64>();
                        }
                        let theirs = 0.5 * (up[states + q] - down[states + q]);
                        let size = size.max(theirs.abs());
                        close(sum, theirs, size, &format!("book {r} of node {node} by state {direction}"));
                    }
                }
            }
            let dt = 1e-7;
            let (later, earlier) = (rates(&mut dynamics, dt, &inner), rates(&mut dynamics, -dt, &inner));
            let slope = |i: usize| (later[i] - earlier[i]) / (2.0 * dt);
            let size = (0..n).map(|i| slope(i).abs()).fold(0.0, f64::max);
            for i in 0..n {
                close(J.f_t[i], slope(i), size, &format!("rate {i} by time"));
            }
        }
    }
}
