//! Contacts of rubble in lanes: eight that share no body go through a pass together, each in its own lane of the vectors.
//!
//! A contact between two bodies is m normals along n and, perhaps, a grip (tangents t1, t2 and a twist) and resistance to rolling that follow
//! them. With the scaled angular velocities y of `substep.rs` and z = R (v2 - v1) in its frame R = {n, t1, t2} every row has but the six
//! numbers a = {a1, a2}:
//!   J u = a . {y1, y2} + z_k,   {y1, y2}+ = {y1, y2} + a lambda,   z_k+ = z_k + (1/m1 + 1/m2) lambda,
//! with k = 0 for normals, 1 and 2 for tangents, and no z_k for what only turns. Lanes do not know each other: the result does not depend on how
//! many the machine has.

use super::substep::{FREQUENCY, PUSH, RATIO, direction, placed, scaled, softness, spring};
use super::{Follow, Problem, Row};
use pulp::Simd;

/// Contacts per batch.
const LANES: usize = 8;
/// A contact may join one of this many batches before the last: few enough that a pass still goes through the rows about in their order.
const WINDOW: usize = 64;
/// Directions are those of one frame to this [-].
const SQUARE: f64 = 1e-9;

/// One number of each contact of a batch, on a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Plane([f64; LANES]);

impl Plane {
    const ZERO: Plane = Plane([0.0; LANES]);
}

/// Planes of a batch: R, 1/m1 + 1/m2, share of m2 in m1 + m2; then its rows.
const HEAD: usize = 11;
/// Planes of a normal.
const NORMAL: usize = 11;
/// ... a, then these.
const GAP: usize = 6;
const PHI: usize = 7;
const LAMBDA: usize = 8;
const MASS: usize = 9;
const SUM: usize = 10;
/// Planes a limited normal has beyond them.
const LIMITS: usize = 5;
const LOWER: usize = 11;
const UPPER: usize = 12;
const GIVEN: usize = 13;
const SOFT: usize = 14;
const PULL: usize = 15;
/// Planes of each row of a ball: a, impulse, sum, what given motions add; before them those of the ball: mass, factor, most.
const BALL: usize = 3;
const HELD: usize = 9;

/// What contacts of one batch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    normals: u32,
    grip: bool,
    rolls: bool,
    /// Some normal has other bounds than 0 and infinity, a given motion or a spring of its own.
    limited: bool,
}

impl Kind {
    fn normal(&self) -> usize {
        NORMAL + if self.limited { LIMITS } else { 0 }
    }

    /// First plane of its balls.
    fn balls(&self) -> usize {
        HEAD + self.normals as usize * self.normal()
    }

    fn planes(&self) -> usize {
        let ball = |on: bool, rows: usize| if on { BALL + rows * HELD } else { 0 };
        self.balls() + ball(self.grip, 3) + ball(self.rolls, 2)
    }

    fn rows(&self) -> usize {
        self.normals as usize + 3 * usize::from(self.grip) + 2 * usize::from(self.rolls)
    }
}

/// Up to eight contacts that share no body; lanes without one have the ground twice.
#[derive(Clone, Copy, Debug)]
struct Batch {
    kind: Kind,
    /// First of its planes.
    at: usize,
    count: usize,
    bodies: [[u32; LANES]; 2],
    /// First row of each contact.
    rows: [u32; LANES],
}

/// All contacts in lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    batches: Vec<Batch>,
    planes: Vec<Plane>,
    /// First batch of the window, and which of its batches have room, by kind.
    window: usize,
    open: Vec<(Kind, u64)>,
    /// Batches each body is in: those of the window that began with the number before.
    taken: Vec<(usize, u64)>,
}

/// What a pass needs to know.
#[derive(Clone, Copy)]
pub(super) struct Turn<'a> {
    /// Displacements so far.
    pub moved: &'a [[f64; 6]],
    /// Length of the substep.
    pub dt: f64,
    /// Time since the step began.
    pub elapsed: f64,
    /// Without push and compliance.
    pub relax: bool,
}

/// What a contact sees of velocities or displacements: {y1, y2}, z.
#[derive(Clone, Copy)]
struct Seen<V> {
    y: [V; 6],
    z: [V; 3],
}

impl Lanes {
    pub(super) fn clear(&mut self, bodies: usize) {
        self.batches.clear();
        self.planes.clear();
        self.open.clear();
        self.window = 0;
        self.taken.clear();
        self.taken.resize(bodies, (0, 0));
    }

    /// Number of batches.
    pub(super) fn len(&self) -> usize {
        self.batches.len()
    }

    /// Takes the contact that begins at row `k`, if one does, and adds what its impulses do to `added`. Gives the number of its rows.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "an inner loop: what the caller holds apart is borrowed apart")]
    pub(super) fn take(
        &mut self,
        problem: &Problem,
        follows: &[Follow],
        k: usize,
        places: &[u32],
        roots: &[[f64; 6]],
        [h, share]: [f64; 2],
        added: &mut [f64],
    ) -> Option<usize> {
        let dt = h * share;
        let (mut kind, R) = find(&problem.rows, follows, k)?;
        let rows = &problem.rows[k..k + kind.rows()];
        let ground = problem.mass.len() as u32;
        let bodies = placed(&rows[0], places, ground);
        let yields = bodies.map(|b| if b == ground { 0.0 } else { problem.inverse[b as usize][35] });
        let both = yields[0] + yields[1];
        kind.limited = rows[..kind.normals as usize].iter().any(|row| {
            let soft = spring(row, h) * both * dt * dt < FREQUENCY * FREQUENCY;
            soft || row.lower != 0.0 || row.upper != f64::INFINITY || row.given != 0.0
        });
        let (lane, at) = self.place(kind, bodies, ground, k);
        let planes = &mut self.planes[at..at + kind.planes()];
        for i in 0..9 {
            planes[i].0[lane] = R[i / 3][i % 3];
        }
        planes[9].0[lane] = both;
        planes[10].0[lane] = yields[0] / both;
        // what the impulses of the start do: {y1, y2}, and the impulse on 2
        let (mut turned, mut pushed) = ([0.0; 6], [0.0; 3]);
        let mut start = |a: &[f64; 6], d: &[f64; 3], lambda: f64| {
            for i in 0..6 {
                turned[i] += a[i] * lambda;
            }
            for i in 0..3 {
                pushed[i] += d[i] * lambda;
            }
        };
        let (normals, held) = rows.split_at(kind.normals as usize);
        let known = |row: &Row| if row.lambda.is_nan() { 0.0 } else { row.lambda * share };
        for (row, own) in normals.iter().zip(planes[HEAD..].chunks_mut(kind.normal())) {
            let a = scaled(row, bodies, roots);
            let yields = a.iter().map(|a| a * a).sum::<f64>() + both;
            let lambda = known(row);
            for i in 0..6 {
                own[i].0[lane] = a[i];
            }
            own[GAP].0[lane] = row.gap;
            own[LAMBDA].0[lane] = lambda;
            own[MASS].0[lane] = 1.0 / yields;
            if kind.limited {
                let (soft, pull) = softness(row, yields, h, dt);
                own[LOWER].0[lane] = row.lower * share;
                own[UPPER].0[lane] = row.upper * share;
                own[GIVEN].0[lane] = row.given;
                own[SOFT].0[lane] = soft;
                own[PULL].0[lane] = pull;
            }
            start(&a, &R[0], lambda);
        }
        let mut at = kind.balls();
        let mut from = 0;
        for (on, count) in [(kind.grip, 3), (kind.rolls, 2)] {
            if !on {
                continue;
            }
            let follow = &follows[k + normals.len() + from];
            let mut most = 0.0_f64;
            for (i, row) in held[from..from + count].iter().enumerate() {
                let a = scaled(row, bodies, roots);
                let d = if count == 3 && i < 2 { R[1 + i] } else { [0.0; 3] };
                let yields = a.iter().map(|a| a * a).sum::<f64>() + if count == 3 && i < 2 { both } else { 0.0 };
                most = most.max(yields);
                let lambda = known(row);
                let own = &mut planes[at + BALL + i * HELD..][..HELD];
                for i in 0..6 {
                    own[i].0[lane] = a[i];
                }
                own[6].0[lane] = lambda;
                own[8].0[lane] = row.given;
                start(&a, &d, lambda);
            }
            // rows of a ball share the mass of the one that yields most
            planes[at].0[lane] = 1.0 / most;
            planes[at + 1].0[lane] = follow.factor;
            planes[at + 2].0[lane] = follow.most * share;
            at += BALL + count * HELD;
            from += count;
        }
        for s in 0..2 {
            let sign = if s == 0 { -yields[0] } else { yields[1] };
            let own = &mut added[6 * bodies[s] as usize..][..6];
            for i in 0..3 {
                own[i] += turned[3 * s + i];
                own[3 + i] += sign * pushed[i];
            }
        }
        Some(kind.rows())
    }

    /// A lane for a contact of this kind in the first batch of the window that has none of its bodies, and that batch's first plane.
    #[inline(always)]
    fn place(&mut self, kind: Kind, bodies: [u32; 2], ground: u32, row: usize) -> (usize, usize) {
        let of_kind = self.open.iter().position(|(own, _)| *own == kind).unwrap_or_else(|| {
            self.open.push((kind, 0));
            self.open.len() - 1
        });
        let mut taken = bodies.map(|b| {
            let (from, batches) = if b == ground { (0, 0) } else { self.taken[b as usize] };
            batches.checked_shr((self.window - from.min(self.window)) as u32).unwrap_or(0)
        });
        let free = self.open[of_kind].1 & !(taken[0] | taken[1]);
        let slot = if free != 0 {
            free.trailing_zeros() as usize
        } else {
            if self.batches.len() == self.window + WINDOW {
                self.window += 1;
                self.open.iter_mut().for_each(|(_, batches)| *batches >>= 1);
                taken.iter_mut().for_each(|batches| *batches >>= 1);
            }
            let slot = self.batches.len() - self.window;
            self.open[of_kind].1 |= 1 << slot;
            let at = self.planes.len();
            self.planes.resize(at + kind.planes(), Plane::ZERO);
            self.batches.push(Batch { kind, at, count: 0, bodies: [[ground; LANES]; 2], rows: [0; LANES] });
            slot
        };
        for s in 0..2 {
            if bodies[s] != ground {
                self.taken[bodies[s] as usize] = (self.window, taken[s] | 1 << slot);
            }
        }
        let batch = &mut self.batches[self.window + slot];
        let lane = batch.count;
        batch.count += 1;
        for s in 0..2 {
            batch.bodies[s][lane] = bodies[s];
        }
        batch.rows[lane] = row as u32;
        if batch.count == LANES {
            self.open[of_kind].1 &= !(1 << slot);
        }
        (lane, batch.at)
    }

    /// Sums of the impulses, into the rows, and the bounds that follow them.
    pub(super) fn tell(&self, rows: &mut [Row], follows: &[Follow]) {
        for Batch { kind, at, count, rows: first, .. } in &self.batches {
            let planes = &self.planes[*at..];
            for lane in 0..*count {
                let first = first[lane] as usize;
                let mut load = 0.0;
                for (j, row) in rows[first..][..kind.normals as usize].iter_mut().enumerate() {
                    row.lambda = planes[HEAD + j * kind.normal() + SUM].0[lane];
                    load += row.lambda.max(0.0);
                }
                let mut from = first + kind.normals as usize;
                let mut ball = kind.balls() + BALL;
                for (on, count) in [(kind.grip, 3), (kind.rolls, 2)] {
                    if on {
                        let bound = follows[from].bound(load);
                        for (i, row) in rows[from..from + count].iter_mut().enumerate() {
                            row.lambda = planes[ball + i * HELD + 7].0[lane];
                            (row.lower, row.upper) = (-bound, bound);
                        }
                        ball += count * HELD + BALL;
                        from += count;
                    }
                }
            }
        }
    }

    /// One batch takes the impulses that satisfy it.
    #[inline(always)]
    pub(super) fn pass<S: Simd>(&mut self, simd: S, batch: usize, turn: Turn<'_>, u: &mut [[f64; 6]]) {
        let batch = &self.batches[batch];
        let planes = &mut self.planes[batch.at..batch.at + batch.kind.planes()];
        for part in 0..LANES / S::F64_LANES {
            let work = Part { simd, part, batch };
            match batch.kind.limited {
                false => work.pass::<false>(planes, turn, u),
                true => work.pass::<true>(planes, turn, u),
            }
        }
    }
}

/// As many lanes of a batch as the machine has.
#[derive(Clone, Copy)]
struct Part<'a, S> {
    simd: S,
    part: usize,
    batch: &'a Batch,
}

impl<S: Simd> Part<'_, S> {
    #[inline(always)]
    fn load(&self, plane: &Plane) -> S::f64s {
        S::as_simd_f64s(&plane.0).0[self.part]
    }

    #[inline(always)]
    fn store(&self, plane: &mut Plane, value: S::f64s) {
        S::as_mut_simd_f64s(&mut plane.0).0[self.part] = value;
    }

    #[inline(always)]
    fn any(&self, mask: S::m64s) -> bool {
        self.simd.first_true_m64s(mask) < S::F64_LANES
    }

    #[inline(always)]
    fn row(&self, planes: &[Plane]) -> [S::f64s; 6] {
        let mut a = [self.simd.splat_f64s(0.0); 6];
        for i in 0..6 {
            a[i] = self.load(&planes[i]);
        }
        a
    }

    /// Angular and linear numbers of one side.
    #[inline(always)]
    fn side(&self, u: &[[f64; 6]], side: usize) -> [S::f64s; 6] {
        let mut planes = [Plane::ZERO; 6];
        let bodies = &self.batch.bodies[side][self.part * S::F64_LANES..][..S::F64_LANES];
        for (lane, &b) in bodies.iter().enumerate() {
            let own = &u[b as usize];
            for i in 0..6 {
                planes[i].0[lane] = own[i];
            }
        }
        let mut own = [self.simd.splat_f64s(0.0); 6];
        for i in 0..6 {
            own[i] = S::as_simd_f64s(&planes[i].0).0[0];
        }
        own
    }

    #[inline(always)]
    fn see(&self, R: &[S::f64s; 9], u: &[[f64; 6]]) -> Seen<S::f64s> {
        let simd = self.simd;
        let (one, two) = (self.side(u, 0), self.side(u, 1));
        let (mut v, mut z) = ([simd.splat_f64s(0.0); 3], [simd.splat_f64s(0.0); 3]);
        for i in 0..3 {
            v[i] = simd.sub_f64s(two[3 + i], one[3 + i]);
        }
        for k in 0..3 {
            z[k] = self.dot3([R[3 * k], R[3 * k + 1], R[3 * k + 2]], v);
        }
        Seen { y: [one[0], one[1], one[2], two[0], two[1], two[2]], z }
    }

    /// Both sides as they are seen now: what changed z was one impulse.
    #[inline(always)]
    fn tell(&self, R: &[S::f64s; 9], share: S::f64s, before: &Seen<S::f64s>, now: &Seen<S::f64s>, u: &mut [[f64; 6]]) {
        let simd = self.simd;
        let mut z = [simd.splat_f64s(0.0); 3];
        for k in 0..3 {
            z[k] = simd.sub_f64s(now.z[k], before.z[k]);
        }
        let mut planes = [Plane::ZERO; 12];
        for i in 0..3 {
            let v = self.dot3([R[i], R[3 + i], R[6 + i]], z);
            let one = simd.mul_f64s(share, v);
            S::as_mut_simd_f64s(&mut planes[i].0).0[0] = now.y[i];
            S::as_mut_simd_f64s(&mut planes[3 + i].0).0[0] = one;
            S::as_mut_simd_f64s(&mut planes[6 + i].0).0[0] = now.y[3 + i];
            S::as_mut_simd_f64s(&mut planes[9 + i].0).0[0] = simd.sub_f64s(v, one);
        }
        let lanes = self.part * S::F64_LANES..(self.part + 1) * S::F64_LANES;
        for (lane, of) in lanes.enumerate() {
            let own = &mut u[self.batch.bodies[0][of] as usize];
            for i in 0..3 {
                own[i] = planes[i].0[lane];
                own[3 + i] -= planes[3 + i].0[lane];
            }
            let own = &mut u[self.batch.bodies[1][of] as usize];
            for i in 0..3 {
                own[i] = planes[6 + i].0[lane];
                own[3 + i] += planes[9 + i].0[lane];
            }
        }
    }

    #[inline(always)]
    fn dot3(&self, a: [S::f64s; 3], b: [S::f64s; 3]) -> S::f64s {
        let simd = self.simd;
        simd.mul_add_f64s(a[2], b[2], simd.mul_add_f64s(a[1], b[1], simd.mul_f64s(a[0], b[0])))
    }

    /// a . {y1, y2} + z.
    #[inline(always)]
    fn rate(&self, a: &[S::f64s; 6], y: &[S::f64s; 6], z: S::f64s) -> S::f64s {
        let simd = self.simd;
        let one = simd.mul_add_f64s(a[2], y[2], simd.mul_add_f64s(a[1], y[1], simd.mul_add_f64s(a[0], y[0], z)));
        simd.add_f64s(one, self.dot3([a[3], a[4], a[5]], [y[3], y[4], y[5]]))
    }

    #[inline(always)]
    fn turn(&self, a: &[S::f64s; 6], lambda: S::f64s, y: &mut [S::f64s; 6]) {
        for i in 0..6 {
            y[i] = self.simd.mul_add_f64s(a[i], lambda, y[i]);
        }
    }

    #[inline(always)]
    fn pass<const LIMITED: bool>(&self, planes: &mut [Plane], at: Turn<'_>, u: &mut [[f64; 6]]) {
        let simd = self.simd;
        let kind = &self.batch.kind;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (head, rows) = planes.split_at_mut(HEAD);
        let mut R = [zero; 9];
        for i in 0..9 {
            R[i] = self.load(&head[i]);
        }
        let (both, share) = (self.load(&head[9]), self.load(&head[10]));
        let before = self.see(&R, u);
        let mut x = before;
        let mut seen = !at.relax;
        let mut way = if seen { self.see(&R, at.moved) } else { before };
        let (normals, mut balls) = rows.split_at_mut(kind.balls() - HEAD);
        let stiff = FREQUENCY * (FREQUENCY + 2.0 * RATIO);
        let soft = simd.splat_f64s(stiff / (1.0 + stiff));
        let pull = simd.splat_f64s(FREQUENCY / (at.dt * (FREQUENCY + 2.0 * RATIO)));
        let per_dt = simd.splat_f64s(-1.0 / at.dt);
        let elapsed = simd.splat_f64s(at.elapsed);
        let mut load = zero;
        for own in normals.chunks_exact_mut(NORMAL + if LIMITED { LIMITS } else { 0 }) {
            let a = self.row(own);
            let lambda = self.load(&own[LAMBDA]);
            let given = if LIMITED { self.load(&own[GIVEN]) } else { zero };
            let was = simd.greater_than_f64s(self.load(&own[PHI]), zero);
            let (mut target, mut part) = (zero, one);
            if !at.relax || self.any(was) {
                if !seen {
                    (way, seen) = (self.see(&R, at.moved), true);
                }
                let moved = self.rate(&a, &way.y, way.z[0]);
                let moved = if LIMITED { simd.mul_add_f64s(given, elapsed, moved) } else { moved };
                let phi = simd.add_f64s(self.load(&own[GAP]), moved);
                if at.relax {
                    let ahead = simd.mul_f64s(simd.max_f64s(phi, zero), per_dt);
                    target = simd.select_f64s(was, ahead, zero);
                } else {
                    let open = simd.greater_than_f64s(phi, zero);
                    let (soft, pull) =
                        if LIMITED { (self.load(&own[SOFT]), self.load(&own[PULL])) } else { (soft, pull) };
                    let push = simd.min_f64s(simd.mul_f64s(simd.neg_f64s(phi), pull), simd.splat_f64s(PUSH));
                    target = simd.select_f64s(open, simd.mul_f64s(phi, per_dt), push);
                    part = simd.select_f64s(open, one, soft);
                    self.store(&mut own[PHI], phi);
                }
            }
            // lambda + (target - given - J u) mass, times part: what does not wait for the rows before comes first
            let mass = self.load(&own[MASS]);
            let target = if LIMITED { simd.sub_f64s(target, given) } else { target };
            let alone = simd.mul_f64s(part, simd.mul_add_f64s(target, mass, lambda));
            let rate = self.rate(&a, &x.y, x.z[0]);
            let wanted = simd.mul_add_f64s(simd.neg_f64s(simd.mul_f64s(part, mass)), rate, alone);
            let wanted = match LIMITED {
                false => simd.max_f64s(wanted, zero),
                true => simd.min_f64s(simd.max_f64s(wanted, self.load(&own[LOWER])), self.load(&own[UPPER])),
            };
            let change = simd.sub_f64s(wanted, lambda);
            self.store(&mut own[LAMBDA], wanted);
            if at.relax {
                let sum = simd.add_f64s(self.load(&own[SUM]), wanted);
                self.store(&mut own[SUM], sum);
            }
            load = simd.add_f64s(load, simd.max_f64s(wanted, zero));
            self.turn(&a, change, &mut x.y);
            x.z[0] = simd.mul_add_f64s(both, change, x.z[0]);
        }
        if kind.grip {
            let (own, rest) = balls.split_at_mut(BALL + 3 * HELD);
            self.hold::<3>(own, load, both, &mut x, at.relax);
            balls = rest;
        }
        if kind.rolls {
            self.hold::<2>(balls, load, both, &mut x, at.relax);
        }
        self.tell(&R, share, &before, &x, u);
    }

    /// The rows of a ball take the impulse that holds, or as much of it as the bound leaves.
    #[inline(always)]
    fn hold<const N: usize>(
        &self,
        planes: &mut [Plane],
        load: S::f64s,
        both: S::f64s,
        x: &mut Seen<S::f64s>,
        relax: bool,
    ) {
        let simd = self.simd;
        let zero = simd.splat_f64s(0.0);
        let (ball, rows) = planes.split_at_mut(BALL);
        let bound = simd.min_f64s(simd.mul_f64s(self.load(&ball[1]), load), self.load(&ball[2]));
        let mut lambda = [zero; N];
        let mut acts = bound;
        for r in 0..N {
            lambda[r] = self.load(&rows[r * HELD + 6]);
            acts = simd.add_f64s(acts, simd.abs_f64s(lambda[r]));
        }
        // what does not press does not rub
        if !self.any(simd.greater_than_f64s(acts, zero)) {
            return;
        }
        let mass = self.load(&ball[0]);
        let mut a = [[zero; 6]; N];
        let mut wanted = lambda;
        let mut size = zero;
        for r in 0..N {
            a[r] = self.row(&rows[r * HELD..]);
            let given = self.load(&rows[r * HELD + 8]);
            let z = if N == 3 && r < 2 { simd.add_f64s(given, x.z[1 + r]) } else { given };
            let rate = self.rate(&a[r], &x.y, z);
            wanted[r] = simd.mul_add_f64s(simd.neg_f64s(mass), rate, lambda[r]);
            size = simd.mul_add_f64s(wanted[r], wanted[r], size);
        }
        let beyond = simd.greater_than_f64s(size, simd.mul_f64s(bound, bound));
        // most of what rests does not slide
        if self.any(beyond) {
            let shrink = simd.select_f64s(beyond, simd.div_f64s(bound, simd.sqrt_f64s(size)), simd.splat_f64s(1.0));
            for r in 0..N {
                wanted[r] = simd.mul_f64s(wanted[r], shrink);
            }
        }
        for r in 0..N {
            let wanted = wanted[r];
            let change = simd.sub_f64s(wanted, lambda[r]);
            self.store(&mut rows[r * HELD + 6], wanted);
            if relax {
                let sum = simd.add_f64s(self.load(&rows[r * HELD + 7]), wanted);
                self.store(&mut rows[r * HELD + 7], sum);
            }
            self.turn(&a[r], change, &mut x.y);
            if N == 3 && r < 2 {
                x.z[1 + r] = simd.mul_add_f64s(both, change, x.z[1 + r]);
            }
        }
    }
}

/// The contact that begins at row `k`, and its frame; none if these rows are something else.
#[inline(always)]
fn find(rows: &[Row], follows: &[Follow], k: usize) -> Option<(Kind, [[f64; 3]; 3])> {
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let first = &rows[k];
    let n = direction(first);
    let is_normal = |j: usize| rows[j].bodies == first.bodies && !rows[j].gap.is_nan() && follows[j].first == u32::MAX;
    let normals =
        (k..rows.len()).take_while(|&j| is_normal(j) && rows[j].ball == 0 && direction(&rows[j]) == n).count();
    if normals == 0 || (dot(&n, &n) - 1.0).abs() > SQUARE {
        return None;
    }
    let after = k + normals;
    // what pulls, or has a bound of its own, goes row by row
    if rows[k..after].iter().any(|row| row.lower < 0.0) || follows.get(after).is_some_and(|f| f.plus != 0.0) {
        return None;
    }
    if after < rows.len() && is_normal(after) {
        // what follows these normals follows others too, along other directions
        return None;
    }
    let follows_us = |j: usize| follows.get(j).is_some_and(|f| f.first as usize == k && f.count as usize == normals);
    let is_ball = |j: usize, n: usize| follows_us(j) && rows[j].ball as usize == n && rows[j].bodies == first.bodies;
    let mut R = [n, [0.0; 3], [0.0; 3]];
    let mut end = after;
    let grip = is_ball(after, 3);
    if grip {
        let [t1, t2, twist] = [0, 1, 2].map(|i| direction(&rows[after + i]));
        let square = |x: f64| x.abs() < SQUARE;
        let frame = square(dot(&t1, &t1) - 1.0)
            && square(dot(&t2, &t2) - 1.0)
            && square(dot(&t1, &t2))
            && square(dot(&t1, &n))
            && square(dot(&t2, &n));
        if !frame || twist != [0.0; 3] {
            return None;
        }
        R = [n, t1, t2];
        end += 3;
    }
    let rolls = is_ball(end, 2);
    if rolls {
        if (0..2).any(|i| direction(&rows[end + i]) != [0.0; 3]) {
            return None;
        }
        end += 2;
    }
    // something else that follows these normals
    if follows.get(end).is_some_and(|f| f.first != u32::MAX && (f.first as usize) < after) {
        return None;
    }
    Some((Kind { normals: normals as u32, grip, rolls, limited: false }, R))
}
