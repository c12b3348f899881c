//! Constants of a contact for a clock with a fixed step.

use super::{PairGeometry, PairLaws};
use crate::contact::friction::{CONTENSOU, FrictionConstants, FrictionLaw};
use crate::contact::normal::{NormalLaw, exact_damping};
use crate::contact::surfaces::SurfacePair;
use crate::model::Model;

/// What the elastic laws of a pair mean to a clock that does not resolve impacts.
#[derive(Clone, Copy, Debug)]
pub struct ContactConstants {
    /// K of F = K depth^n [N/m^n], whole pair.
    pub stiffness: f64,
    /// n [-].
    pub exponent: f64,
    /// E* times k_red [Pa].
    pub modulus: f64,
    /// Effective radius [m].
    pub radius: f64,
    /// L of the elastic foundation of a flat pair [m].
    pub layer: Option<f64>,
    /// Reduced mass [kg].
    pub mass: f64,
    /// Weight of the lighter body [N].
    pub weight: f64,
    /// Tangential over normal stiffness [-].
    pub kappa: f64,
    /// mu, kinetic [-].
    pub mu: f64,
    /// mu, static [-].
    pub mu_static: f64,
    /// Largest rolling torque over normal force [m].
    pub rolling: f64,
    /// Lever of spin about the normal, spin torque over friction force, that the scene gives [m]; zero: of the patch.
    pub lever: f64,
    /// c_r: torque against spin over normal force, area and spin [s/m].
    pub spin_damping: f64,
    /// Radius of the patch that the scene gives [m]; zero: of the contact.
    pub patch_radius: f64,
    /// Area over which round bodies touch over Hertz's pi R depth [-]: two where it is the rim of what they share.
    pub wide: f64,
    /// Restitution [-].
    pub restitution: f64,
    /// b of the exact damping [-].
    pub damping: f64,
    /// Damper of laws that have one instead of a restitution [N s/m].
    pub damper: Option<f64>,
    /// True if the scene gives the spring and the damper themselves.
    pub by_hand: bool,
    /// Slower impacts do not rebound [m/s].
    pub rest_speed: f64,
}

impl ContactConstants {
    /// That of two elements, with their surfaces where they touch over such; `None` if they never touch.
    pub fn of(model: &Model, id: (u32, u32)) -> Option<(ContactConstants, Option<SurfacePair>)> {
        let pair = PairLaws::of(model, id)?;
        let g = model.gravity_at_start(id);
        let lighter = [id.0, id.1]
            .map(|e| model.bodies[model.colliders[e as usize].body as usize].mass)
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let (layer, size) = match &pair.geometry {
            PairGeometry::Surfaces(surfaces) => {
                let foundation = matches!(pair.law, NormalLaw::Foundation { .. });
                (foundation.then(|| surfaces.layer()), 0.0)
            }
            PairGeometry::Patch(patch) => {
                let foundation = matches!(pair.law, NormalLaw::Foundation { .. });
                (foundation.then(|| patch.layer()), patch.rolling_radius)
            }
            _ => {
                let radii = [id.0, id.1].map(|e| model.colliders[e as usize].radius);
                (None, pair.radius.unwrap_or(radii[0].min(radii[1])))
            }
        };
        let restitution = match &pair.law {
            NormalLaw::Hertz { restitution, .. }
            | NormalLaw::Foundation { restitution, .. }
            | NormalLaw::Modia3d { restitution, .. } => *restitution,
            _ => restitution_of(&pair.law, pair.normal.mass, pair.stiffness),
        };
        let friction = !matches!(pair.friction_law, FrictionLaw::None);
        let mu = if friction { pair.friction.mu } else { 0.0 };
        let hardness = ContactConstants {
            stiffness: pair.stiffness,
            exponent: pair.exponent,
            modulus: pair.normal.modulus,
            radius: size,
            layer,
            mass: pair.normal.mass,
            weight: lighter.min(pair.normal.mass * 1e6) * g,
            kappa: if pair.friction.kappa > 0.0 { pair.friction.kappa } else { 1.0 },
            mu,
            mu_static: mu.max(if friction { pair.friction.mu_static } else { 0.0 }),
            rolling: pair.friction.rolling * size,
            lever: match pair.friction {
                FrictionConstants { spin, .. } if spin > 0.0 && mu > 0.0 => spin * size / mu,
                FrictionConstants { patch_radius, .. } => CONTENSOU * patch_radius,
            },
            spin_damping: pair.friction.spin_damping,
            patch_radius: pair.friction.patch_radius,
            wide: if matches!(pair.law, NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. }) { 2.0 } else { 1.0 },
            restitution,
            damping: exact_damping(restitution.max(0.01)),
            damper: match &pair.law {
                NormalLaw::Linear { damping, .. } | NormalLaw::Bardaro { damping, .. } => Some(*damping),
                _ => None,
            },
            by_hand: matches!(pair.law, NormalLaw::Linear { .. }),
            rest_speed: pair.normal.rest_speed.max(pair.normal.blend_speed),
        };
        let surfaces = match pair.geometry {
            PairGeometry::Surfaces(surfaces) => Some(surfaces),
            _ => None,
        };
        Some((hardness, surfaces))
    }
}

/// Restitution of laws that give a damping instead, at an impact of 1 m/s: that of a linear spring and damper of the same size.
fn restitution_of(law: &NormalLaw, mass: f64, stiffness: f64) -> f64 {
    let c = match law {
        NormalLaw::Linear { damping, .. }
        | NormalLaw::Bardaro { damping, .. }
        | NormalLaw::CollisionLib { damping, .. } => *damping,
        NormalLaw::Volume { damping } => damping * (stiffness * mass).sqrt(),
        _ => 0.0,
    };
    let zeta = c / (2.0 * (stiffness * mass).sqrt()).max(f64::MIN_POSITIVE);
    if zeta >= 1.0 { 0.0 } else { libm::exp(-std::f64::consts::PI * zeta / (1.0 - zeta * zeta).sqrt()) }
}
