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

use crate::settings::Coefficients;

/// A 3-vector as the hot loops see it.
pub(crate) type V3 = [f64; 3];
/// Three components and one more number.
pub(crate) type V4 = [f64; 4];

#[inline(always)]
pub(crate) fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
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

/// Force on 2 and the memory it leaves: tangential spring force on 2 [N] and the patch radius it belongs to [m].
#[derive(Clone, Copy)]
pub(crate) struct Touch {
    pub force: V3,
    pub memory: V4,
}

/// Force of the tangential chain and its memory (module equations).
#[inline(always)]
pub(crate) fn tangential(k_t: f64, gamma_t: f64, limit: f64, h: f64, n: V3, a: f64, v_t: V3, memory: V4) -> Touch {
    // the spring turns with the normal and softens with the patch
    let along = dot(n, [memory[0], memory[1], memory[2]]);
    let soften = if a < memory[3] { a / memory[3] } else { 1.0 };
    let f = each(|i| (memory[i] - along * n[i]) * soften);
    let stiff = k_t * h + gamma_t;
    let trial = each(|i| f[i] - stiff * v_t[i]);
    let size = dot(trial, trial).sqrt();
    let share = if size > limit { limit / size } else { 1.0 };
    let back = k_t * h / stiff;
    let force = each(|i| trial[i] * share);
    let spring = each(|i| f[i] - back * (f[i] - force[i]));
    Touch { force, memory: [spring[0], spring[1], spring[2], a] }
}

/// One contact without rolling friction and cohesion.
#[inline(always)]
pub(crate) fn contact(
    c: &Coefficients,
    h: f64,
    n: V3,
    depth: f64,
    radius: f64,
    mass: f64,
    v: V3,
    memory: V4,
) -> Touch {
    let a = (radius * depth).sqrt();
    let root = (a * mass).sqrt();
    let v_n = dot(n, v);
    let normal = c.normal * a * depth - c.normal_damping * root * v_n;
    let limit = if normal > 0.0 { c.friction * normal } else { 0.0 };
    let v_t = each(|i| v[i] - v_n * n[i]);
    let t = tangential(c.tangential * a, c.tangential_damping * root, limit, h, n, a, v_t, memory);
    Touch { force: each(|i| normal * n[i] + t.force[i]), memory: t.memory }
}

/// Contacts evaluated together.
pub(crate) const BATCH: usize = 64;
/// Lanes that are always evaluated together: a batch is padded with stale lanes up to a multiple of it.
const LANES: usize = 8;

/// Up to `BATCH` touching pairs, a structure of arrays that stays in the first cache.
#[repr(align(64))]
pub(crate) struct Batch {
    pub count: usize,
    pub first: [u32; BATCH],
    pub second: [u32; BATCH],
    pub slot: [u32; BATCH],
    /// Centre of 2 minus centre of 1 [m].
    pub d: [[f64; BATCH]; 3],
    /// Its length squared [m^2].
    pub dd: [f64; BATCH],
    /// Radii [m].
    pub r1: [f64; BATCH],
    pub r2: [f64; BATCH],
    /// 1/m1 + 1/m2 [1/kg].
    pub inv_mass: [f64; BATCH],
    /// Velocity of 2 relative to 1 [m/s].
    pub v: [[f64; BATCH]; 3],
    /// r1 w1 + r2 w2 [m/s].
    pub rw: [[f64; BATCH]; 3],
    pub memory: [[f64; BATCH]; 4],
    /// Row of the table of coefficients, where there are several classes.
    pub class: [u32; BATCH],
    /// Answers: force on 2 [N].
    pub force: [[f64; BATCH]; 3],
    /// -(n x force) [N]: times the lever it is the torque on either grain.
    pub twist: [[f64; BATCH]; 3],
    /// dist/(r1 + r2) [-]: times the radius it is the lever.
    pub lever: [f64; BATCH],
}

impl Batch {
    pub fn new() -> Batch {
        let zero = [0.0; BATCH];
        let one = [1.0; BATCH];
        Batch {
            count: 0,
            first: [0; BATCH],
            second: [0; BATCH],
            slot: [0; BATCH],
            d: [one, zero, zero],
            dd: one,
            r1: one,
            r2: one,
            inv_mass: one,
            v: [zero; 3],
            rw: [zero; 3],
            memory: [zero; 4],
            class: [0; BATCH],
            force: [zero; 3],
            twist: [zero; 3],
            lever: one,
        }
    }

    /// The law over all lanes. `one` holds radius sum, effective radius and effective mass where all grains are alike.
    #[inline(always)]
    pub fn evaluate<const ALIKE: bool, const TABLE: bool>(&mut self, table: &[Coefficients], h: f64, one: [f64; 3]) {
        let lanes = (self.count.div_ceil(LANES) * LANES).min(BATCH);
        let Some(c0) = table.first().copied() else { return };
        for k in 0..lanes {
            let c = if TABLE { table[self.class[k] as usize] } else { c0 };
            let dist = self.dd[k].sqrt();
            let inv = 1.0 / dist;
            let n = [self.d[0][k] * inv, self.d[1][k] * inv, self.d[2][k] * inv];
            let (depth, lever, radius, mass);
            if ALIKE {
                depth = one[0] - dist;
                lever = dist * (1.0 / one[0]);
                radius = one[1];
                mass = one[2];
            } else {
                let sum = self.r1[k] + self.r2[k];
                let inv_sum = 1.0 / sum;
                depth = sum - dist;
                lever = dist * inv_sum;
                radius = self.r1[k] * self.r2[k] * inv_sum;
                mass = 1.0 / self.inv_mass[k];
            }
            // velocity at the contact: v - (l1 w1 + l2 w2) x n
            let rw = [self.rw[0][k], self.rw[1][k], self.rw[2][k]];
            let turn = cross(rw, n);
            let v = each(|i| self.v[i][k] - lever * turn[i]);
            let memory = [self.memory[0][k], self.memory[1][k], self.memory[2][k], self.memory[3][k]];
            let touch = contact(&c, h, n, depth, radius, mass, v, memory);
            let twist = cross(touch.force, n);
            for i in 0..3 {
                self.force[i][k] = touch.force[i];
                self.twist[i][k] = twist[i];
            }
            for i in 0..4 {
                self.memory[i][k] = touch.memory[i];
            }
            self.lever[k] = lever;
        }
    }
}

/// Gap up to which touching grains of at most this radius may still pull [m].
pub(crate) fn pull_range(_settings: &crate::Settings, _radius: f64) -> f64 {
    0.0
}
