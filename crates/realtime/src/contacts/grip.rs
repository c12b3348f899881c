//! Friction of a pair in a step, at its centre of pressure.

use super::super::Clock;
use super::near::Near;
use super::touch::{LOAD_MIN, Touch};
use serde::{Deserialize, Serialize};
use tippe_geometry::space::any_orthogonal;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::contact::friction::{CONTENSOU, FrictionConstants, FrictionLaw, damped_spin, patch_lever};
use tippe_mechanics::pair::ContactConstants;
use tippe_scene::FrictionBound;

/// Slip above which the first tangent of a friction box is along it [m/s]; below, it is along the friction of the last
/// step.
const SLIP_MIN: f64 = 1e-6;

/// What the friction of a pair carries from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// The two elements.
    pub pair: (u32, u32),
    /// Middle of its contact points [m].
    pub point: Vec3,
    /// Impulse of the last step on 2, resolved in world [N s].
    pub tangent: Vec3,
    /// Impulse about the normal over `lever` [N s].
    pub twist: f64,
    /// Displacement of the tangential spring, of 2 relative to 1, resolved in world [m].
    pub spring: Vec3,
    /// Rotation about the normal since it stuck, times the lever [m].
    pub wound: f64,
    /// Impulse of the resistance to rolling, resolved in world [N m s].
    pub turn: Vec3,
    /// Whether it slid.
    pub sliding: bool,
    /// Stiffness of the springs [N/m].
    #[serde(default)]
    pub stiffness: f64,
}

impl Hold {
    /// Energy of the springs of all of them: along the tangents, and about the normals [J].
    pub fn all_stored(holds: &[Hold]) -> [f64; 2] {
        holds.iter().fold([0.0; 2], |[spring, wound], hold| {
            let k = 0.5 * hold.stiffness;
            [spring + k * hold.spring.length_squared(), wound + k * hold.wound * hold.wound]
        })
    }
}

/// Friction of one pair in a step: at the centre of pressure, limited together with spin about the normal,
///   (f/mu N)^2 + (M/(mu N b))^2 <= 1   (the limit surface of the precise clock).
#[derive(Clone, Copy, Debug)]
pub struct Grip {
    /// Memory of the last step, which becomes that of this one.
    pub memory: Hold,
    /// Middle of its contact points in the last step, zero if there was none [m].
    pub before: Vec3,
    /// True if the pair had friction here in the last step.
    pub known: bool,
    /// Its contact points: first and number.
    pub touches: (usize, usize),
    /// Its bodies.
    pub bodies: [usize; 2],
    /// Centre of pressure [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2, and two tangents.
    pub axes: [Vec3; 3],
    /// Tangential stiffness [N/m].
    pub stiffness: f64,
    /// Damping over stiffness [s].
    pub relaxation: f64,
    /// mu, kinetic and static [-].
    pub mu: [f64; 2],
    /// What turning bodies add to the slip in the middle of the step [m/s].
    pub turning: Vec3,
    /// b [m].
    pub lever: f64,
    /// Torque against spin about the normal over spin [N m s].
    pub spin_damper: f64,
    /// Largest rolling torque over normal force [m].
    pub rolling: f64,
    /// Largest friction force, spin over its lever included [N].
    pub limit: f64,
    /// Limit instead of mu N [N]; zero: mu N.
    pub fixed: f64,
    /// A law without springs, or of bristles, with its coefficients and the weight it is about where the normal force is not known yet [N].
    pub smooth: Option<(FrictionLaw, FrictionConstants, f64)>,
    /// Share of the springs' force that is left after a step, and the way for which slip winds them up in it over the slip speed [s].
    pub keeps: (f64, f64),
    /// First of its rows.
    pub row: usize,
}

impl Clock {
    /// Friction of a pair over its contact points; `holds` begin with what it remembers, `others` are the grips it has
    /// already.
    #[inline]
    pub(super) fn grip(
        &self,
        near: &Near,
        holds: &[Hold],
        normal: Vec3,
        first: usize,
        touches: &[Touch],
        others: &[Grip],
    ) -> Grip {
        // it goes on with the nearest of those of the pair that no other grip has
        let at = touches.iter().map(|t| t.point).sum::<Vec3>() / touches.len() as f64;
        let of_pair = holds.iter().take_while(|m| m.pair == near.pair);
        let of_pair = of_pair.filter(|m| others.iter().all(|o| o.before != m.point));
        let nearest = of_pair.min_by(|a, b| (a.point - at).length().total_cmp(&(b.point - at).length()));
        let (mut memory, known) = match nearest {
            Some(hold) => (*hold, true),
            None => (Hold { pair: near.pair, ..Hold::default() }, false),
        };
        let before = memory.point;
        memory.point = at;
        let (point, lever) = self.patch_of(near, touches);
        let constants = &near.constants;
        let mut grip = Grip {
            memory,
            before,
            known,
            touches: (first, touches.len()),
            bodies: touches[0].bodies,
            point,
            axes: [normal; 3],
            stiffness: constants.kappa * touches.iter().map(|t| t.stiffness).sum::<f64>(),
            relaxation: touches[0].relaxation,
            mu: match near.varies() {
                true => near.mu((-touches[0].gap).max(0.0), self.slip_speed(touches[0].bodies, at, normal)),
                false => [constants.mu, constants.mu_static],
            },
            turning: Vec3::ZERO,
            lever,
            spin_damper: self.spin_damper(near, touches),
            rolling: constants.rolling,
            limit: near.force_max,
            fixed: near.friction_force,
            smooth: None,
            keeps: (1.0, self.h),
            row: usize::MAX,
        };
        if !matches!(near.friction_law, FrictionLaw::None | FrictionLaw::Mindlin) {
            let [mu, mu_static] = grip.mu;
            let own = FrictionConstants { mu, mu_static, ..FrictionConstants::default() };
            grip.smooth = Some((near.friction_law, own, constants.weight));
        }
        if let FrictionLaw::Brush { stiffness, .. } = near.friction_law {
            let pressed = touches.iter().map(|t| t.memory.normal.max(0.0)).sum::<f64>() / self.h;
            let weight = constants.weight;
            grip.stiffness = stiffness * if known { pressed.max(LOAD_MIN * weight) } else { weight };
        }
        // points that newly touch are not strained yet: a stiffer spring carries what it did
        let strained = grip.memory.stiffness / grip.stiffness;
        if strained > 0.0 && strained < 1.0 {
            grip.memory.spring *= strained;
            grip.memory.wound *= strained;
        }
        grip.memory.stiffness = grip.stiffness;
        // tangential memory stays in the plane of the contact
        grip.memory.spring -= normal * normal.dot(grip.memory.spring);
        grip.memory.tangent -= normal * normal.dot(grip.memory.tangent);
        grip.axes = self.axes(normal, &grip);
        grip
    }

    /// What damps the spin of a pair, with the normal force of the last step [N m s].
    fn spin_damper(&self, near: &Near, touches: &[Touch]) -> f64 {
        let constants = &near.constants;
        if constants.spin_damping == 0.0 {
            return 0.0;
        }
        let known = touches.iter().any(|t| t.known);
        let load: f64 = touches.iter().map(|t| t.memory.normal.max(0.0)).sum();
        let N = if known { load / self.h } else { constants.weight };
        let area: f64 = touches.iter().map(|t| t.area).sum();
        let pi = std::f64::consts::PI;
        let A = if constants.patch_radius > 0.0 {
            pi * constants.patch_radius * constants.patch_radius
        } else if area > 0.0 {
            area
        } else {
            let a = hertz_radius(constants, N);
            constants.wide * pi * a * a
        };
        let c = FrictionConstants { spin_damping: constants.spin_damping, ..FrictionConstants::default() };
        -damped_spin(&c, A, N, 1.0)
    }

    /// Speed of two bodies along each other at a point, at the beginning of the step [m/s].
    fn slip_speed(&self, bodies: [usize; 2], at: Vec3, normal: Vec3) -> f64 {
        let [v1, v2] = bodies.map(|b| self.paths[b].velocity_of(at));
        let v = v2 - v1;
        (v - normal * normal.dot(v)).length()
    }

    /// Centre of pressure of contact points [m], and the lever of their spin about the normal [m].
    #[inline]
    fn patch_of(&self, near: &Near, touches: &[Touch]) -> (Vec3, f64) {
        let count = touches.len();
        let load: f64 = touches.iter().map(|t| t.memory.normal.max(0.0)).sum();
        let area: f64 = touches.iter().map(|t| t.area).sum();
        // columns that carry nothing yet are as many as triangles make them
        let weight = |t: &Touch| match t.column && area > 0.0 {
            _ if load > 0.0 => t.memory.normal.max(0.0) / load,
            true => t.area / area,
            false => 1.0 / count as f64,
        };
        let point = touches.iter().map(|t| t.point * weight(t)).sum::<Vec3>();
        let constants = &near.constants;
        let lever = if constants.lever > 0.0 {
            constants.lever
        } else if area > 0.0 {
            let mut second = Mat3::ZERO;
            for t in touches {
                let r = t.point - point;
                second += Mat3::from_cols(r * r.x, r * r.y, r * r.z) * weight(t);
            }
            // corners of a regular polygon lie farther out than its area
            let corners = (2.0 + libm::cos(2.0 * std::f64::consts::PI / count as f64)) / 6.0;
            patch_lever(area, &(second * if touches[0].column { 1.0 } else { corners }))
        } else if count > 1 {
            touches.iter().map(|t| (t.point - point).length() * weight(t)).sum()
        } else {
            CONTENSOU * hertz_radius(constants, (load / self.h).max(LOAD_MIN * constants.weight))
        };
        (point, lever)
    }

    /// Normal and tangents; where friction is a box the first one is along the slip.
    fn axes(&self, normal: Vec3, grip: &Grip) -> [Vec3; 3] {
        let mut first = any_orthogonal(normal);
        if self.settings.friction == FrictionBound::Box {
            let at = |b: usize| self.paths[b].velocity_of(grip.point);
            let v = at(grip.bodies[1]) - at(grip.bodies[0]);
            let v = v - normal * normal.dot(v);
            let along = if v.length() > SLIP_MIN { v } else { grip.memory.tangent };
            if let Some(t) = (along - normal * normal.dot(along)).try_normalize() {
                first = t;
            }
        }
        [normal, first, normal.cross(first)]
    }
}

/// Hertz: a^3 = 3 N R/(4 E*) [m].
fn hertz_radius(constants: &ContactConstants, N: f64) -> f64 {
    libm::cbrt(0.75 * N * constants.radius / constants.modulus.max(f64::MIN_POSITIVE)).min(constants.radius)
}
