//! The whole law, one contact at a time: what `super::contact` gives, and rolling friction, cohesion and the books.
//!
//! Rolling (grains.md eq. 14, 15) acts on the relative angular velocity across the normal; its elastic-plastic form is the
//! same chain of spring, dashpot and slider as the tangential one. Cohesion adds an attraction to the normal force
//! (eq. 16, 17); friction then works on the pressure that is left between the surfaces.
//!
//! Books: the work that velocity Verlet does in a step is (F_n . v_n + F_n+1 . v_n+1) h/2, with the velocities of mid-step seen at the
//! contact as it stood at the beginning and as it stands at the end. Each loss is booked by the same rule from its own force; extra memory
//! holds the forces of the step before. A contact that has ended had its last force for half a step more.

use super::{Touch, V3, V4, dot, each};
use crate::Settings;
use crate::settings::Coefficients;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Energy that contacts took away, by cause, and what they hold [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Dashpot along the normal [J].
    pub normal: f64,
    /// Dashpot across it, and what a tangential spring loses when its patch changes [J].
    pub tangential: f64,
    /// Slip [J].
    pub friction: f64,
    /// Rolling [J].
    pub rolling: f64,
    /// Snapping into and out of adhesion [J].
    pub cohesion: f64,
}

impl Losses {
    /// All of them [J].
    pub fn sum(&self) -> f64 {
        self.normal + self.tangential + self.friction + self.rolling + self.cohesion
    }

    pub(crate) fn add(&mut self, other: &Losses) {
        self.normal += other.normal;
        self.tangential += other.tangential;
        self.friction += other.friction;
        self.rolling += other.rolling;
        self.cohesion += other.cohesion;
    }
}

/// What a pair remembers besides the tangential spring, on 2: rolling spring [N m], tangential dashpot [N], rolling
/// dashpot [N m], normal dashpot [N].
pub(crate) type Extra = [f64; 10];
pub(crate) const NO_EXTRA: Extra = [0.0; 10];

/// Two surfaces that meet.
pub(crate) struct Meeting<'a> {
    pub c: &'a Coefficients,
    pub h: f64,
    pub n: V3,
    pub depth: f64,
    pub radius: f64,
    pub mass: f64,
    /// 1/I1 + 1/I2 [1/(kg m^2)].
    pub inv_inertia: f64,
    /// Velocity of 2 relative to 1 at the contact [m/s].
    pub v: V3,
    /// Normal, and that velocity, as the contact stood at the beginning of the step.
    pub n0: V3,
    pub v0: V3,
    /// Angular velocity of 2 relative to 1 [rad/s].
    pub w: V3,
    pub memory: V4,
    pub extra: Extra,
    /// The first step of this contact.
    pub begins: bool,
}

/// What comes of it.
pub(crate) struct Outcome {
    pub touch: Touch,
    /// Couple on 2 [N m]; the opposite acts on 1.
    pub couple: V3,
    pub extra: Extra,
    pub losses: Losses,
    /// Energy held [J].
    pub elastic: f64,
}

/// Johnson, Kendall, Roberts 1971 for one pair: depth = a^2/R - c sqrt(a), c = sqrt(2 pi w/E*).
#[derive(Clone, Copy)]
pub(crate) struct Jkr {
    radius: f64,
    modulus: f64,
    work: f64,
    c: f64,
}

impl Jkr {
    pub fn new(c: &Coefficients, radius: f64) -> Jkr {
        let root = (2.0 * PI * c.adhesion / c.modulus).sqrt();
        Jkr { radius, modulus: c.modulus, work: c.adhesion, c: root }
    }

    /// Gap at which the surfaces let go [m]: d depth/da = 0, at a = (c R/4)^(2/3), 3/4 c sqrt(a).
    pub fn range(&self) -> f64 {
        0.75 * self.c * libm::cbrt(0.25 * self.c * self.radius)
    }

    /// sqrt(a): the larger root of s^4/R - c s = depth, by Newton's method from above.
    fn root(&self, depth: f64) -> f64 {
        let (c, r) = (self.c, self.radius);
        let mut s = (r * depth.max(0.0)).sqrt().sqrt() + libm::cbrt(c * r);
        let least = libm::cbrt(0.25 * c * r);
        for _ in 0..60 {
            let slope = 4.0 * s * s * s / r - c;
            let step = (s * s * s * s / r - c * s - depth) / slope;
            let next = (s - step).max(least);
            if !(next < s) || slope <= 0.0 {
                break;
            }
            s = next;
        }
        s
    }

    /// Force [N], patch radius [m], energy held [J].
    pub fn force(&self, depth: f64) -> (f64, f64, f64) {
        let s = self.root(depth);
        let (s2, r, c) = (s * s, self.radius, self.c);
        let s3 = s2 * s;
        let alpha = 4.0 * self.modulus / (3.0 * r);
        let beta = (8.0 * PI * self.work * self.modulus).sqrt();
        let force = alpha * s3 * s3 - beta * s3;
        let s7 = s3 * s3 * s;
        let energy =
            0.4 * alpha * s7 * s3 / r - alpha * c * s7 / 7.0 - 4.0 * beta * s7 / (7.0 * r) + 0.25 * beta * c * s2 * s2;
        (force, s2, energy)
    }
}

/// Gap up to which touching grains of at most this radius may still pull [m].
pub(crate) fn pull_range(settings: &Settings, radius: f64) -> f64 {
    let table = settings.coefficients();
    table.iter().filter(|c| c.adhesion > 0.0).map(|c| Jkr::new(c, radius).range()).fold(0.0, f64::max)
}

/// Gap up to which one touching pair of effective radius `radius` may still pull [m].
pub(crate) fn pair_range(c: &Coefficients, radius: f64) -> f64 {
    if c.adhesion > 0.0 { Jkr::new(c, radius).range() } else { 0.0 }
}

/// Elastic part of the normal force [N], cohesion included.
pub(crate) fn elastic_force(c: &Coefficients, depth: f64, radius: f64) -> f64 {
    if c.adhesion > 0.0 {
        Jkr::new(c, radius).force(depth).0
    } else if depth > 0.0 {
        c.normal * (radius * depth).sqrt() * depth - c.pressure * PI * radius * depth
    } else {
        0.0
    }
}

/// A contact that ended in this step.
pub(crate) struct Parting<'a> {
    pub c: &'a Coefficients,
    pub h: f64,
    pub radius: f64,
    /// Depth [m], normal and velocity of 2 relative to 1 [m/s] at the contact as it stood at the beginning of the step.
    pub depth0: f64,
    pub n0: V3,
    pub v0: V3,
    /// Angular velocity of 2 relative to 1 [rad/s].
    pub w: V3,
    pub memory: V4,
    pub extra: Extra,
}

impl Parting<'_> {
    /// What it held, less what its last forces still did.
    pub fn losses(&self) -> Losses {
        let Parting { c, h, n0, v0, w, memory, extra, .. } = *self;
        let mut losses = Losses::default();
        let v_n = dot(n0, v0);
        losses.normal -= 0.5 * h * extra[9] * v_n;
        if c.adhesion > 0.0 {
            let (force, _, energy) = Jkr::new(c, self.radius).force(self.depth0);
            losses.cohesion += energy - 0.5 * h * force * v_n;
        }
        if memory[3] > 0.0 {
            let spring = [memory[0], memory[1], memory[2]];
            let force = each(|i| spring[i] + extra[3 + i]);
            losses.tangential += dot(spring, spring) / (2.0 * c.tangential * memory[3]) - 0.5 * h * dot(force, v0);
            let roll = [extra[0], extra[1], extra[2]];
            let couple = each(|i| roll[i] + extra[6 + i]);
            let held = if c.rolling_spring > 0.0 {
                dot(roll, roll) / (2.0 * c.per_patch(self.radius) * memory[3])
            } else {
                0.0
            };
            losses.rolling += held - 0.5 * h * dot(couple, w);
        }
        losses
    }
}

impl Coefficients {
    /// Stiffness of the rolling spring by radius of the patch [N]: k_r = 2.25 k_n (mu_r R)^2 with k_n = 2 E* a.
    fn per_patch(&self, radius: f64) -> f64 {
        let lever = self.rolling_spring * radius;
        2.25 * 2.0 * self.modulus * lever * lever
    }
}

impl Meeting<'_> {
    /// The law.
    pub fn resolve(&self) -> Outcome {
        let Meeting { c, h, n, radius, mass, v, n0, v0, memory, .. } = *self;
        let mut losses = Losses::default();
        // normal: Hertz or JKR, linear cohesion, dashpot
        let (elastic_force, a, mut elastic, attraction) = if c.adhesion > 0.0 {
            let (force, a, energy) = Jkr::new(c, radius).force(self.depth);
            if self.begins {
                // energy held before touch is none: what is set free by snapping in is lost
                losses.cohesion -= energy;
            }
            (force, a, energy, 3.0 * PI * c.adhesion * radius)
        } else {
            // those that touch to rounding have a patch, if a small one: quotients below stay finite
            let a = (radius * self.depth.max(f64::MIN_POSITIVE)).sqrt();
            let hertz = c.normal * a * self.depth;
            let pull = c.pressure * PI * radius * self.depth;
            (hertz - pull, a, (0.4 * hertz - 0.5 * pull) * self.depth, pull)
        };
        let root = (a * mass).sqrt();
        let v_n = dot(n, v);
        let dashpot = -c.normal_damping * root * v_n;
        losses.normal -= 0.5 * h * (self.extra[9] * dot(n0, v0) + dashpot * v_n);
        let normal = elastic_force + dashpot;
        let pressing = (normal + attraction).max(0.0);

        // tangential
        let v_t = each(|i| v[i] - v_n * n[i]);
        let (k_t, gamma_t) = (c.tangential * a, c.tangential_damping * root);
        let soften = if a < memory[3] { a / memory[3] } else { 1.0 };
        let limit = c.friction * pressing;
        let t = super::tangential(k_t, gamma_t, limit, h, n, a, soften, v_t, memory);
        let along = dot(n, [memory[0], memory[1], memory[2]]);
        let f0 = each(|i| (memory[i] - along * n[i]) * soften);
        let f1 = [t.memory[0], t.memory[1], t.memory[2]];
        let stiff = k_t * h + gamma_t;
        let u = each(|i| (f0[i] - t.force[i]) / stiff);
        let damp = each(|i| t.force[i] - f1[i]);
        let damp0 = [self.extra[3], self.extra[4], self.extra[5]];
        let before = if memory[3] > 0.0 {
            (memory[0] * memory[0] + memory[1] * memory[1] + memory[2] * memory[2]) / (2.0 * c.tangential * memory[3])
        } else {
            0.0
        };
        losses.tangential += before - dot(f0, f0) / (2.0 * k_t);
        losses.tangential -= 0.5 * h * (dot(damp0, u) + dot(damp, u));
        let slip = each(|i| v_t[i] - u[i]);
        losses.friction -= 0.5 * h * (dot(f0, slip) + dot(damp0, slip) + dot(t.force, slip));
        elastic += dot(f1, f1) / (2.0 * k_t);
        // the old force lay in the plane of its time, and was not softened yet
        let held = each(|i| memory[i] + damp0[i]);
        losses.tangential -= 0.5 * h * (dot(held, v0) - dot(f0, v_t) - dot(damp0, v_t));

        // rolling
        let w_n = dot(n, self.w);
        let w_t = each(|i| self.w[i] - w_n * n[i]);
        let (couple, roll, damp_r) = self.rolling(pressing, a, soften, w_t, &mut losses, &mut elastic);
        let [[r0, r1, r2], [t0, t1, t2], [s0, s1, s2]] = [roll, damp, damp_r];
        let extra = [r0, r1, r2, t0, t1, t2, s0, s1, s2, dashpot];
        let force = each(|i| normal * n[i] + t.force[i]);
        Outcome { touch: Touch { force, memory: t.memory }, couple, extra, losses, elastic }
    }

    /// Couple on 2 and what it remembers.
    fn rolling(
        &self,
        pressing: f64,
        a: f64,
        soften: f64,
        w_t: V3,
        losses: &mut Losses,
        elastic: &mut f64,
    ) -> (V3, V3, V3) {
        let Meeting { c, h, n, radius, .. } = *self;
        let old = [self.extra[0], self.extra[1], self.extra[2]];
        if c.rolling > 0.0 {
            // mu_r N R, but no more than stops the rolling within a step
            let speed = dot(w_t, w_t).sqrt();
            if speed == 0.0 || self.inv_inertia == 0.0 {
                return ([0.0; 3], [0.0; 3], [0.0; 3]);
            }
            let size = (c.rolling * pressing * radius).min(0.5 * speed / (h * self.inv_inertia));
            let couple = each(|i| -size / speed * w_t[i]);
            losses.rolling -= 0.5 * h * (dot(old, self.w) + dot(couple, w_t));
            (couple, couple, [0.0; 3])
        } else if c.rolling_spring > 0.0 {
            // slider at mu_r N R; softens with the patch like the tangential one
            let lever = c.rolling_spring * radius;
            let per_a = c.per_patch(radius);
            let k_r = per_a * a;
            let c_r =
                if self.inv_inertia > 0.0 { c.rolling_damping * 2.0 * (k_r / self.inv_inertia).sqrt() } else { 0.0 };
            let along = dot(n, old);
            let m0 = each(|i| (old[i] - along * n[i]) * soften);
            if self.memory[3] > 0.0 {
                losses.rolling += dot(old, old) / (2.0 * per_a * self.memory[3]) - dot(m0, m0) / (2.0 * k_r);
            }
            let stiff = k_r * h + c_r;
            let trial = each(|i| m0[i] - stiff * w_t[i]);
            let size = dot(trial, trial).sqrt();
            let limit = lever * pressing;
            let share = if size > limit { limit / size } else { 1.0 };
            let couple = each(|i| trial[i] * share);
            let u = each(|i| (m0[i] - couple[i]) / stiff);
            let spring = each(|i| m0[i] - k_r * h * u[i]);
            let slip = each(|i| w_t[i] - u[i]);
            let damp = each(|i| couple[i] - spring[i]);
            let damp0 = [self.extra[6], self.extra[7], self.extra[8]];
            losses.rolling -= 0.5 * h * (dot(damp0, u) + dot(damp, u));
            losses.rolling -= 0.5 * h * (dot(m0, slip) + dot(damp0, slip) + dot(couple, slip));
            let held = each(|i| old[i] + damp0[i]);
            losses.rolling -= 0.5 * h * (dot(held, self.w) - dot(m0, w_t) - dot(damp0, w_t));
            *elastic += dot(spring, spring) / (2.0 * k_r);
            (couple, spring, damp)
        } else {
            ([0.0; 3], [0.0; 3], [0.0; 3])
        }
    }
}
