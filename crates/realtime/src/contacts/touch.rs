//! A contact point: its law, linearised for the step, and what it remembers.
//!
//! The law F = K depth^n of a contact acts in the rows of a step with the stiffness k of its secant, and with the
//! damping c = k relaxation. A contact is stiff where the step does not resolve its oscillation, omega h > 1/2, omega =
//! sqrt(k/m).
//!   stiff:  k depth = K depth^n = N, the load of the last step: the contact rests at the depth of its law
//!   soft:   k = K depth^(n-1) at the depth of the beginning of the step
//! Depths of an impact at speed v and at rest:   K depth^(n+1)/(n+1) = m v^2/2,   K depth^n = N.

use serde::{Deserialize, Serialize};
use tippe_geometry::{ManifoldPoint, Vec3};
use tippe_mechanics::pair::ContactConstants;

/// Steps over which overlap is pushed out where a contact is stiff [-]. With fewer, contacts that share a load push
/// against each other; with more, overlap that an impact left lasts longer.
const PUSH_STEPS: f64 = 3.0;
/// Angle omega h below which the step resolves the oscillation of a contact [rad]: half a radian, about twelve steps
/// per period. With a larger one the explicit law gains energy.
pub(super) const RESOLVED_ANGLE: f64 = 0.5;
/// Most relaxation c/k times omega of a soft contact [rad]: a stronger damper would hold what comes to rest for longer
/// than a period, and it would creep.
const CREEP_ANGLE: f64 = 6.0;
/// An impact is an impulse, resolved or not, if gravity changes the velocity by less than this share of it meanwhile
/// [-].
const BRIEF_IMPACT: f64 = 0.05;
/// Speed that a contact is at least stiff enough to stop [m/s]: slower than anything that is seen to move.
const STOPPED_SPEED_MIN: f64 = 1e-4;
/// Load of a contact that carries nothing yet, as a share of the weight of its pair [-]: below the quarter that each of
/// four points under a resting body carries. It gives a new contact a stiffness.
pub(super) const LOAD_MIN: f64 = 0.2;
/// Depth of a soft contact at least, as a share of that of its impact [-]: its stiffness must not vanish.
const DEPTH_MIN: f64 = 1e-6;
/// Relaxation at least, as a share of the step [-]: a spring without a damper has no row.
const RELAXATION_MIN: f64 = 1e-6;

/// What a contact point carries from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The two elements.
    pub pair: (u32, u32),
    /// Which features touch.
    pub id: u32,
    /// Impulse of the last step [N s].
    pub normal: f64,
    /// Largest closing speed since it touched [m/s].
    pub fastest: f64,
    /// Whether its pair was struck in the last step.
    pub struck: bool,
    /// Energy it stores at the end of the step [J].
    pub stored: f64,
}

/// One contact point in a step.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Memory of the last step, which becomes that of this one.
    pub memory: Memory,
    /// True if the contact existed in the last step.
    pub known: bool,
    /// Its bodies.
    pub bodies: [usize; 2],
    /// Midpoint [m].
    pub point: Vec3,
    /// Unit normal from 1 to 2, and two tangents.
    pub axes: [Vec3; 3],
    /// Gap [m].
    pub gap: f64,
    /// Area of the patch it stands for [m^2].
    pub area: f64,
    /// Stiffness k [N/m].
    pub stiffness: f64,
    /// Damping over stiffness c/k [s].
    pub relaxation: f64,
    /// True if the step resolves it: the law is read at the depth of the beginning of the step, and there is no force
    /// before the shapes touch.
    pub soft: bool,
    /// k of the elastic law F = k depth^n [N/m^n].
    pub hardness: f64,
    /// n [-].
    pub exponent: f64,
    /// mu, kinetic [-].
    pub mu: f64,
    /// Restitution [-].
    pub restitution: f64,
    /// Closing speeds below this do not rebound [m/s].
    pub rest_speed: f64,
    /// b of the exact damping [-].
    pub damping: f64,
    /// True if its restitution depends on the closing speed.
    pub varies: bool,
    /// Its row.
    pub row: usize,
    /// Largest pull [N].
    pub adhesion: f64,
    /// Largest push [N].
    pub limit: f64,
    /// False if a hook has switched it off.
    pub on: bool,
    /// True for one of many columns between two surfaces, found anew in every step: all of them take part in an impact
    /// of the pair.
    pub column: bool,
    /// Rate of its gap beyond the mean of its patch at the beginning of the step: a patch that travels on is not damped
    /// [m/s]. None for a column that does not touch yet.
    pub drift: Option<f64>,
    /// True if nothing of its patch touches yet.
    pub nears: bool,
    /// True for a column of a patch that did not touch before, or will part as it moves: its approach is not damped.
    pub lands: bool,
    /// Gap at the end of the step along the paths of its bodies, where it was read for an impact that does not come [m]: a corner
    /// that turns away does not meet what it seemed to.
    pub clears: Option<f64>,
}

impl Touch {
    /// Pushes at most with this force [N]; what is limited does not rebound: an impact would push as hard as its law
    /// says.
    pub fn bound(&mut self, limit: f64) {
        self.limit = limit;
        if limit < f64::INFINITY {
            self.restitution = 0.0;
        }
    }

    /// A contact point of this pair that carries this `share` of it. The stiffness of a stiff one is the secant of the
    /// law at the load of the last step; one that was not loaded yet gets the load that stops its bodies, `closing`
    /// [m/s], in one step. The patch it belongs to will be `stiffening` times stiffer where it is deepest.
    #[inline(always)]
    pub fn of(
        constants: &ContactConstants,
        h: f64,
        point: &ManifoldPoint,
        share: f64,
        closing: f64,
        stiffening: f64,
        memory: &Memory,
    ) -> Touch {
        let hardness = match constants.layer {
            Some(layer) if point.area > 0.0 => constants.modulus / layer * point.area,
            _ => constants.stiffness * share,
        };
        let (n, mass) = (constants.exponent, constants.mass * share);
        // depth of an impact at the speed it has, or had, and at rest: K depth^(n+1)/(n+1) = m v^2/2, K depth^n = N
        let speed = closing.max(memory.fastest).max(STOPPED_SPEED_MIN);
        let linear = n == 1.0;
        let impact_depth = || libm::pow(0.5 * (n + 1.0) * mass * speed * speed / hardness, 1.0 / (n + 1.0));
        let rest_depth = || libm::pow(LOAD_MIN * constants.weight * share / hardness, 1.0 / n);
        let tangent = if linear { 1.0 } else { libm::pow(impact_depth().max(rest_depth()), n - 1.0) };
        let omega = (hardness * tangent / mass).sqrt();
        let soft = stiffening.sqrt() * omega * h < RESOLVED_ANGLE;
        let brief = std::f64::consts::PI / omega * constants.weight < BRIEF_IMPACT * constants.mass * speed;
        let depth = (-point.gap).max(0.0);
        let stiffness = if linear {
            hardness
        } else if soft {
            hardness * libm::pow(depth.max(DEPTH_MIN * impact_depth()), n - 1.0)
        } else {
            // k depth = K depth^n = N
            let load = (memory.normal / h)
                .max(share * (LOAD_MIN * constants.weight).max(constants.mass * closing.max(STOPPED_SPEED_MIN) / h));
            libm::pow(hardness, 1.0 / n) * libm::pow(load, 1.0 - 1.0 / n)
        };
        let fastest = if memory.normal > 0.0 { memory.fastest.max(closing) } else { closing.max(0.0) };
        let relaxation = match constants.damper {
            // what a spring and damper of the scene say goes for a stiff one too
            _ if !(soft || constants.by_hand) => PUSH_STEPS * h,
            Some(c) => c * share / stiffness,
            // K depth^n (1 + b v/v_impact), without creep
            None => (constants.damping * depth / fastest.max(STOPPED_SPEED_MIN)).min(CREEP_ANGLE / omega),
        };
        Touch {
            memory: Memory { fastest, ..*memory },
            known: false,
            bodies: [0; 2],
            point: point.point,
            axes: [Vec3::ZERO; 3],
            gap: point.gap,
            area: point.area,
            stiffness,
            relaxation: relaxation.max(RELAXATION_MIN * h),
            soft,
            hardness,
            exponent: n,
            mu: constants.mu,
            restitution: if brief || !soft { constants.restitution } else { 0.0 },
            rest_speed: constants.rest_speed,
            damping: constants.damping,
            varies: false,
            row: usize::MAX,
            adhesion: 0.0,
            limit: f64::INFINITY,
            on: true,
            column: false,
            drift: None,
            nears: false,
            lands: false,
            clears: None,
        }
    }
}
