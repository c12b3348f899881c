//! Gravity inside of the step in which a body strikes: the impact sees what it has done since the step began, and the step goes on from there
//! (docs/theory/realtime.md, section 5, eq. 8).

use super::super::Touch;
use super::{Clock, GROUND, Melee, Six, Striking, TOUCHING, Vec3};

/// What rebounds slower than this many times what gravity gives in a step may come to rest in it [-].
pub(super) const RISES: f64 = 2.0;

/// What gravity has done to a body that strikes, since the step began: its impact sees it, and the step that follows counts it again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fall {
    /// Speed [m/s].
    pub(crate) v: Vec3,
    /// What this changes in the path of the step [m].
    pub(super) hop: Vec3,
}

/// A body of a melee that strikes at the instant `tau` [s] with the acceleration `a` [m/s^2]; `v` is its velocity without that [m/s].
pub(super) struct Falling {
    pub body: u32,
    pub a: Vec3,
    pub tau: f64,
    pub v: Vec3,
}

/// Linear velocity of a body of a melee [m/s].
pub(super) fn linear(u: &[f64], body: u32) -> Vec3 {
    Vec3::from_slice(&u[6 * body as usize + 3..])
}

impl Clock {
    /// True of a body that comes through the air: no impact of the step has moved it, and all it touches throws it back.
    fn flies(&self, melee: &Melee, body: u32) -> bool {
        let b = melee.bodies[body as usize];
        let least = RISES * self.model.gravity_at(self.kin[b].p).length() * self.h;
        let near = TOUCHING * self.model.bodies[b].size;
        let passes =
            |s: &Striking| s.gap > near || self.touches[s.touch as usize].restitution * -s.rate(0, &melee.u) > least;
        melee.fresh[body as usize]
            && self.model.bodies[b].mechanism.is_none()
            && melee.contacts(body).all(|k| passes(&melee.list[k]))
    }

    /// By how much gravity makes a contact close faster, of its bodies that fly [m/s^2].
    pub(super) fn closing_by_gravity(&self, melee: &Melee, s: &Striking) -> f64 {
        let of = |side: usize| match s.bodies[side] {
            GROUND => 0.0,
            body if !self.flies(melee, body) => 0.0,
            body => {
                let a = self.model.gravity_at(self.kin[melee.bodies[body as usize]].p);
                -Vec3::from_slice(&s.J[0][side][3..]).dot(a)
            }
        };
        of(0) + of(1)
    }

    /// Bodies that fly strike at the instant tau, with the speed that gravity has given them until then:
    ///   c tau + a_c tau^2/2 = c now,   c and a_c closing speed and acceleration, now the instant without gravity;   v + a tau.
    /// Others do not: what they touch carries their weight.
    pub(super) fn let_fall(&self, cluster: &[usize], now: f64, melee: &mut Melee) -> Vec<Falling> {
        let h = self.h;
        let mut falling = Vec::new();
        for &body in &melee.reached {
            if !self.flies(melee, body) {
                continue;
            }
            let b = melee.bodies[body as usize];
            let a = self.model.gravity_at(self.kin[b].p);
            if a == Vec3::ZERO {
                continue;
            }
            let fast = |s: &&Striking| {
                let t = &self.touches[s.touch as usize];
                s.bodies.contains(&body) && t.restitution * -s.rate(0, &melee.u) > RISES * a.length() * h
            };
            let points = cluster.iter().map(|&k| &melee.list[k]).filter(fast);
            let Some(s) = points.min_by(|s, other| s.gap.total_cmp(&other.gap)) else { continue };
            let (c, a_c) = (-s.rate(0, &melee.u), self.closing_by_gravity(melee, s));
            let way = c * now + s.gap.max(0.0);
            let root = c * c + 2.0 * a_c * way;
            if root > 0.0 {
                let tau = (2.0 * way / (c + root.sqrt())).min(h);
                falling.push(Falling { body, a, tau, v: linear(&melee.u, body) });
            }
        }
        for &body in &melee.reached {
            melee.fresh[body as usize] = false;
        }
        for f in &falling {
            let v = f.v + f.a * f.tau;
            melee.u[6 * f.body as usize + 3..][..3].copy_from_slice(&[v.x, v.y, v.z]);
        }
        falling
    }

    /// True of a contact of a body that joints hold.
    pub(crate) fn is_linked(&self, touch: &Touch) -> bool {
        touch.bodies.iter().any(|&b| self.model.bodies[b].mechanism.is_some())
    }

    /// True of a contact whose bodies come or go fast enough to rebound, and do not meet on their parabolas in the rest of the step; h u+ ends lower.
    pub(crate) fn passes_over(&self, touch: &Touch, J: &[Six; 2], gap: f64) -> bool {
        if touch.soft || touch.restitution == 0.0 || self.is_linked(touch) {
            return false;
        }
        let rate = |of: &dyn Fn(usize) -> Six| (0..2).map(|s| J[s].dot(&of(touch.bodies[s]))).sum::<f64>();
        let began = rate(&|b| Six::new(self.kin[b].w, self.kin[b].v));
        touch.restitution * began.abs() > RISES * self.model.gravity_at(touch.point).length() * self.h
            && gap + 0.5 * self.h * (began + rate(&|b| self.coasted[b])) > 0.0
    }
}
