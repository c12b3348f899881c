//! The contact law: Hertz, Mindlin, Coulomb; one function for one contact, and a batch of contacts that the compiler
//! turns into vector instructions.
//!
//! Pair 1, 2; normal n from 1 to 2; forces act on 2. With a = sqrt(R depth) the patch radius, v the velocity of 2
//! relative to 1 at the contact (docs/theory/grains.md, eq. 1 to 10):
//!   N   = 4/3 E* a depth - gamma_n v_n,    gamma_n = 2 sqrt(5/6) beta sqrt(2 E* a m*)     Hertz 1882; Tsuji et al. 1992
//!   f'  = -8 G* a v_t while a grows, and f scaled with a while it shrinks                 Mindlin 1949; Thornton 2013
//!   F_t = f - gamma_t v_t,  |F_t| <= mu N                                                 Coulomb
//! The dashpot's exponent makes restitution independent of speed: beta = -ln e/sqrt(ln^2 e + pi^2) is exact for a central
//! impact (Antypov, Elliott 2011). The pull of the dashpot just before separation belongs to it and is kept.
//! Spring and dashpot are in parallel, the slider is in series with both, so that the force is continuous where slip
//! begins: with the implicit step of that chain (eq. 9)
//!   F* = f - (k_t h + gamma_t) v_t,  F_t = F* min(1, mu N/|F*|),  u = (f - F_t)/(k_t h + gamma_t),  f <- f - k_t h u
//! u is the part of v_t that spring and dashpot take, v_t - u the slip.

pub(crate) mod full;

use crate::settings::Coefficients;

/// A 3-vector as the hot loops see it.
pub(crate) type V3 = [f64; 3];
/// Three components and one more number.
pub(crate) type V4 = [f64; 4];

#[inline(always)]
pub(crate) fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Square of the length of four numbers, two and two at once.
#[inline(always)]
pub(crate) fn square(a: V4) -> f64 {
    (a[0] * a[0] + a[2] * a[2]) + (a[1] * a[1] + a[3] * a[3])
}

#[inline(always)]
pub(crate) fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Three components, always inlined: the hot loops must not call anything.
#[inline(always)]
pub(crate) fn each(f: impl Fn(usize) -> f64) -> V3 {
    [f(0), f(1), f(2)]
}

/// Four numbers, likewise.
#[inline(always)]
pub(crate) fn each4(f: impl Fn(usize) -> f64) -> V4 {
    [f(0), f(1), f(2), f(3)]
}

/// Force on 2 and the memory it leaves: tangential spring force on 2 [N] and the patch radius it belongs to [m].
#[derive(Clone, Copy)]
pub(crate) struct Touch {
    pub force: V3,
    pub memory: V4,
}

/// Square root to 7 digits, many times as fast: enough for patch radii, dashpots and the share of friction that slips, which are
/// known to two. A function of its argument like the long one, so that springs stay conservative; the same bits on every
/// machine.
#[inline(always)]
fn short_sqrt(x: f64) -> f64 {
    f64::from((x as f32).sqrt())
}

/// Quotient to 7 digits, likewise.
#[inline(always)]
fn short_ratio(x: f64, y: f64) -> f64 {
    f64::from(x as f32 / y as f32)
}

/// Length and its inverse from the square of a length: a short root and Newton's method, to the last digit or two.
#[inline(always)]
fn length_and_inverse(dd: f64) -> (f64, f64) {
    let y = f64::from(1.0 / (dd as f32).sqrt());
    let y = y + y * (0.5 - 0.5 * dd * (y * y));
    let s = dd * y;
    (s + 0.5 * y * (dd - s * s), y)
}

/// Force of the tangential chain and its memory (module equations). `soften` is how much the patch has shrunk [-].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "an inner loop in vector instructions: numbers stay in registers")]
pub(crate) fn tangential(
    k_t: f64,
    gamma_t: f64,
    limit: f64,
    h: f64,
    n: V3,
    a: f64,
    soften: f64,
    v_t: V3,
    memory: V4,
) -> Touch {
    // the spring turns with the normal and softens with the patch
    let along = dot(n, [memory[0], memory[1], memory[2]]);
    let f = each(|i| (memory[i] - along * n[i]) * soften);
    let stiff = k_t * h + gamma_t;
    // grains that touch to rounding have no patch: keeps 0/0 away, as below
    let back = f64::from((k_t * h) as f32 / (stiff as f32 + f32::MIN_POSITIVE));
    let trial = each(|i| f[i] - stiff * v_t[i]);
    let (size, most) = (dot(trial, trial), limit * limit);
    // no force at all is none that slips: keeps 0/0 away
    let part = most as f32 / (size as f32 + f32::MIN_POSITIVE);
    let share = if size > most { f64::from(part.sqrt()) } else { 1.0 };
    let force = each(|i| trial[i] * share);
    let spring = each(|i| f[i] - back * (f[i] - force[i]));
    Touch { force, memory: [spring[0], spring[1], spring[2], a] }
}

/// What the shape of a contact gives: normal, patch radius [m], root of patch radius and mass [(m kg)^(1/2)].
#[derive(Clone, Copy)]
struct Patch {
    n: V3,
    a: f64,
    root: f64,
}

impl Patch {
    #[inline(always)]
    fn new(n: V3, depth: f64, radius: f64, mass: f64) -> Patch {
        let a = short_sqrt(radius * depth);
        Patch { n, a, root: short_sqrt(a * mass) }
    }

    /// One contact without rolling friction and cohesion, with the velocity of 2 relative to 1 at the contact [m/s].
    #[inline(always)]
    fn contact(&self, c: &Coefficients, h: f64, depth: f64, v: V3, memory: V4) -> Touch {
        let Patch { n, a, root } = *self;
        let soften = if a < memory[3] { short_ratio(a, memory[3]) } else { 1.0 };
        let v_n = dot(n, v);
        let normal = c.normal * a * depth - c.normal_damping * root * v_n;
        let limit = if normal > 0.0 { c.friction * normal } else { 0.0 };
        let v_t = each(|i| v[i] - v_n * n[i]);
        let t = tangential(c.tangential * a, c.tangential_damping * root, limit, h, n, a, soften, v_t, memory);
        Touch { force: each(|i| normal * n[i] + t.force[i]), memory: t.memory }
    }
}

/// Contacts evaluated together.
pub(crate) const BATCH: usize = 16;
/// Lanes that are always evaluated together: a batch is padded with stale lanes up to a multiple of it.
const LANES: usize = 8;

/// Up to `BATCH` touching pairs, small enough for the first cache. Four numbers of a contact lie together, so that they
/// come from and go to the arrays of the grains in one move; the law transposes eight contacts at a time.
#[repr(align(64))]
pub(crate) struct Batch {
    /// First grain, second grain, place of the pair in the chunk.
    pub who: [[u32; 4]; BATCH],
    /// Centre of 2 minus centre of 1 [m], and zero.
    pub d: [V4; BATCH],
    /// Velocity of 2 relative to 1 [m/s]; 1/m1 + 1/m2 [1/kg], where all grains are alike zero.
    pub v: [V4; BATCH],
    /// r1 w1 + r2 w2 [m/s], where all grains are alike w1 + w2 [rad/s]; the fourth number means nothing.
    pub rw: [V4; BATCH],
    /// Radii [m]; row of the table of coefficients.
    pub r: [[f64; 2]; BATCH],
    pub class: [u32; BATCH],
    pub memory: [V4; BATCH],
    /// Answers: force on 2 [N]; the fourth number means nothing, but for walls it is the lever [m].
    pub force: [V4; BATCH],
    /// Torque on either grain [N m], over its radius [N] where grains are not alike.
    pub torque: [V4; BATCH],
}

/// Between the two halves of the law: normal and patch radius; root, depth [m] and dist/(r1 + r2) [-]. Apart from the batch, so that the
/// compiler sees that the two do not overlap.
#[repr(align(64))]
pub(crate) struct Between {
    n: [[f64; BATCH]; 3],
    a: [f64; BATCH],
    root: [f64; BATCH],
    depth: [f64; BATCH],
    lever: [f64; BATCH],
}

impl Between {
    pub fn new() -> Between {
        let zero = [0.0; BATCH];
        Between { n: [zero; 3], a: zero, root: zero, depth: zero, lever: zero }
    }
}

impl Batch {
    pub fn new() -> Batch {
        let zero = [[0.0; 4]; BATCH];
        let one = [[1.0; 4]; BATCH];
        Batch {
            who: [[0; 4]; BATCH],
            d: one,
            v: one,
            rw: zero,
            r: [[1.0; 2]; BATCH],
            class: [0; BATCH],
            memory: zero,
            force: zero,
            torque: zero,
        }
    }

    /// The law over the first `count` contacts and some stale ones behind them, in two loops: roots wait long for their
    /// arguments, so a loop must be short enough for the next contacts to begin meanwhile. Every fourth number is used, even where
    /// it means nothing: a gap would cost a tail of single contacts. `one` holds radius, effective radius and
    /// effective mass where all grains are alike.
    #[inline(always)]
    pub fn evaluate<const ALIKE: bool, const TABLE: bool>(
        &mut self,
        count: usize,
        table: &[Coefficients],
        h: f64,
        one: [f64; 3],
        between: &mut Between,
    ) {
        let lanes = (count.div_ceil(LANES) * LANES).min(BATCH);
        let Some(c0) = table.first().copied() else { return };
        let Between { n: [n0, n1, n2], a, root, depth: depths, lever: levers } = between;
        let inv_sum = 0.5 / one[0];
        for k in 0..lanes {
            let d = self.d[k];
            let (dist, inv_dist) = length_and_inverse(square(d));
            let (sum, lever, radius, mass);
            if ALIKE {
                sum = 2.0 * one[0];
                lever = dist * inv_sum;
                radius = one[1];
                mass = one[2];
            } else {
                let [r1, r2] = self.r[k];
                sum = r1 + r2;
                let inv_sum = 1.0 / sum;
                lever = dist * inv_sum;
                radius = r1 * r2 * inv_sum;
                mass = short_ratio(1.0, self.v[k][3]);
            }
            // a pair that just touches may have no depth left to rounding
            let (depth, least) = (sum - dist, 1e-15 * sum);
            let depth = if depth > least { depth } else { least };
            let patch = Patch::new([d[0] * inv_dist, d[1] * inv_dist, d[2] * inv_dist], depth, radius, mass);
            [n0[k], n1[k], n2[k]] = patch.n;
            (a[k], root[k], depths[k], levers[k]) = (patch.a, patch.root, depth, lever);
        }
        for k in 0..lanes {
            let c = if TABLE { table[self.class[k] as usize] } else { c0 };
            let patch = Patch { n: [n0[k], n1[k], n2[k]], a: a[k], root: root[k] };
            let (rw, v4, lever) = (self.rw[k], self.v[k], levers[k]);
            // velocity at the contact: v - (l1 w1 + l2 w2) x n
            let arm = if ALIKE { lever * one[0] } else { lever };
            let turn = cross([rw[0], rw[1], rw[2]], patch.n);
            let v = each(|i| v4[i] - arm * turn[i]);
            let touch = patch.contact(&c, h, depths[k], v, self.memory[k]);
            let twist = cross(touch.force, patch.n);
            self.force[k] = [touch.force[0], touch.force[1], touch.force[2], v4[3]];
            self.torque[k] = [arm * twist[0], arm * twist[1], arm * twist[2], rw[3]];
            self.memory[k] = touch.memory;
        }
    }

    /// The same for contacts with walls: `d` holds the normal and the depth [m], `v` the velocity of the grain relative to
    /// the wall there [m/s] and 1/m [1/kg], `rw` spin [rad/s] and radius [m], `class` the row of the table.
    #[inline(always)]
    pub fn evaluate_walls<const TABLE: bool>(&mut self, count: usize, table: &[Coefficients], h: f64) {
        let lanes = (count.div_ceil(LANES) * LANES).min(BATCH);
        let Some(c0) = table.first().copied() else { return };
        for k in 0..lanes {
            let c = if TABLE { table[self.class[k] as usize] } else { c0 };
            let [d0, d1, d2, depth] = self.d[k];
            let [v0, v1, v2, inv_mass] = self.v[k];
            let [w0, w1, w2, radius] = self.rw[k];
            let lever = radius - depth;
            let patch = Patch::new([d0, d1, d2], depth, radius, short_ratio(1.0, inv_mass));
            let turn = cross([w0, w1, w2], patch.n);
            let v = [v0 - lever * turn[0], v1 - lever * turn[1], v2 - lever * turn[2]];
            let touch = patch.contact(&c, h, depth, v, self.memory[k]);
            let twist = cross(touch.force, patch.n);
            self.force[k] = [touch.force[0], touch.force[1], touch.force[2], lever];
            self.torque[k] = [lever * twist[0], lever * twist[1], lever * twist[2], radius];
            self.memory[k] = touch.memory;
        }
    }
}
