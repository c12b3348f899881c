//! Kicks: what forces do to the motion of grains, and the drift between them, chunk by chunk.
//!
//!   v <- v + h/2 a   (ends a step),   v <- v + h/2 a,   x <- x + h v   (begins the next)       (grains.md eq. 11)

use crate::grains::Six;
use crate::law::{V4, each4};
use pulp::{Simd, WithSimd};

/// Half kicks and drift.
#[derive(Clone, Copy)]
pub(crate) struct Kicks {
    /// Step [s].
    pub h: f64,
    /// Gravity [m/s^2].
    pub gravity: V4,
    /// The half kick that ends a step.
    pub finish: bool,
    /// The half kick that begins one, and its drift.
    pub begin: bool,
}

impl Kicks {
    /// Position and motion of one grain after it, and the bits of the square of its speed: squares are ordered like
    /// their bits, and NaN comes last.
    #[inline(always)]
    fn of(&self, mut x: V4, motion: &Six, load: &Six) -> (V4, Six, u64) {
        let half = 0.5 * self.h;
        let drift = [self.h, self.h, self.h, 0.0];
        let (mut v, mut w) = (motion.linear, motion.angular);
        let (inv_mass, inv_inertia) = (v[3], w[3]);
        let free = if inv_mass > 0.0 { half } else { 0.0 };
        // fourth numbers do not change: inverse mass, inverse inertia, radius
        let (per_mass, per_inertia) =
            ([inv_mass, inv_mass, inv_mass, 0.0], [inv_inertia, inv_inertia, inv_inertia, 0.0]);
        let dv = each4(|i| half * (load.linear[i] * per_mass[i]) + free * self.gravity[i]);
        let dw = each4(|i| half * (load.angular[i] * per_inertia[i]));
        if self.finish {
            v = each4(|i| v[i] + dv[i]);
            w = each4(|i| w[i] + dw[i]);
        }
        if self.begin {
            v = each4(|i| v[i] + dv[i]);
            w = each4(|i| w[i] + dw[i]);
            x = each4(|i| x[i] + drift[i] * v[i]);
        }
        let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).to_bits();
        (x, Six { linear: v, angular: w }, speed)
    }
}

/// Kicks of one chunk; gives the bits of the largest square of a speed. What is done `with_simd` is compiled for the instructions
/// the machine has.
pub(crate) struct Kick<'a> {
    pub x: &'a mut [V4],
    pub motion: &'a mut [Six],
    pub load: &'a [Six],
    pub by: Kicks,
}

impl WithSimd for Kick<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let mut top = 0u64;
        for ((x, motion), load) in self.x.iter_mut().zip(self.motion).zip(self.load) {
            let speed;
            (*x, *motion, speed) = self.by.of(*x, motion, load);
            top = top.max(speed);
        }
        top
    }
}

/// The same from one place to another.
pub(crate) struct KickInto<'a> {
    pub x: &'a mut [V4],
    pub motion: &'a mut [Six],
    pub from_x: &'a [V4],
    pub from_motion: &'a [Six],
    pub load: &'a [Six],
    pub by: Kicks,
}

impl WithSimd for KickInto<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let mut top = 0u64;
        let KickInto { x, motion, from_x, from_motion, load, by } = self;
        let n = x.len().min(motion.len()).min(from_x.len()).min(from_motion.len()).min(load.len());
        for k in 0..n {
            ask_to_write(x, k + 16);
            ask_to_write(motion, k + 16);
            let speed;
            (x[k], motion[k], speed) = by.of(from_x[k], &from_motion[k], &load[k]);
            top = top.max(speed);
        }
        top
    }
}

/// Asks for a line of memory that will be overwritten soon.
#[inline(always)]
fn ask_to_write<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(one) = all.get(place) {
        safe_arch::prefetch_et0(one);
    }
}
