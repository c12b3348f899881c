//! Two elements that may touch: how their gap is measured, their laws, and the constants of these.

mod constants;

pub use constants::ContactConstants;

use crate::contact::friction::{FrictionConstants, FrictionLaw};
use crate::contact::normal::{NormalConstants, NormalLaw};
use crate::contact::patch::{Patch, rods};
use crate::contact::surfaces::SurfacePair;
use crate::model::{Drive, Lever, Model};
use tippe_geometry::{ContactKind, Pose, Shape, Vec3, contact_kind};

/// Impact speed whose Hertz depth is the smallest length that matters to a contact [m/s].
pub const SCALE_SPEED: f64 = 0.01;

/// How the gap of a pair is measured.
#[derive(Clone, Debug)]
pub enum PairGeometry {
    /// Two balls.
    Spheres {
        /// Centre of ball 1 in its body's frame c [m].
        c1: Vec3,
        /// Centre of ball 2 in its body's frame c [m].
        c2: Vec3,
        /// Radius of ball 1 [m].
        r1: f64,
        /// Radius of ball 2 [m].
        r2: f64,
    },
    /// A ball as body 2 (or 1, if `flipped`) and a plane that never moves.
    SpherePlane {
        /// Centre of the ball in its body's frame c [m].
        c: Vec3,
        /// Radius of the ball [m].
        r: f64,
        /// Outward normal of the plane, resolved in world.
        n_w: Vec3,
        /// Distance of the plane from the world's origin along the normal [m].
        offset: f64,
        /// The ball is body 1.
        flipped: bool,
    },
    /// Anything else, by the narrow phase.
    General {
        /// Sum of the bounding radii [m].
        bound: f64,
    },
    /// Flat solids, by what they share.
    Patch(Patch),
    /// Closed surfaces of triangles, in any number of regions.
    Surfaces(SurfacePair),
}

/// Geometry and laws of two elements that may touch, with the constants that do not change while they move.
#[derive(Clone, Debug)]
pub struct PairLaws {
    /// Length that matters to the contact [m].
    pub scale: f64,
    /// Normal law.
    pub law: NormalLaw,
    /// Friction law.
    pub friction_law: FrictionLaw,
    /// Constants of the normal law.
    pub normal: NormalConstants,
    /// Constants of friction.
    pub friction: FrictionConstants,
    /// How the gap is measured.
    pub geometry: PairGeometry,
    /// Poses of shapes that never move.
    pub fixed: [Option<Pose>; 2],
    /// Where the force acts.
    pub lever: Lever,
    /// n of F = K depth^n [-].
    pub exponent: f64,
    /// Effective radius, where it is the same everywhere [m].
    pub radius: Option<f64>,
    /// K of F = K depth^n [N/m^n].
    pub stiffness: f64,
    /// The lever of side k is along the normal: a normal force has no torque.
    pub central: [bool; 2],
}

impl PairLaws {
    /// Those of two elements that [`Model::contact_between`] lets touch.
    pub fn of(model: &Model, id: (u32, u32)) -> Option<PairLaws> {
        let parameters = model.contact_between(id.0 as usize, id.1 as usize)?;
        let elements = [&model.colliders[id.0 as usize], &model.colliders[id.1 as usize]];
        let bodies = elements.map(|e| &model.bodies[e.body as usize]);
        let ball = |k: usize| match elements[k].shape {
            Shape::Sphere { radius } => Some((elements[k].X_cs.position, radius)),
            _ => None,
        };
        let fixed_plane = |k: usize| {
            let e = elements[k];
            (matches!(e.shape, Shape::HalfSpace) && bodies[k].drive == Drive::Fixed).then(|| {
                let start = &model.start[e.body as usize];
                let X_ws = Pose::new(start.orientation, start.position).then(&e.X_cs);
                let n_w = X_ws.vector(Vec3::Z);
                (n_w, n_w.dot(X_ws.position))
            })
        };
        // the published point laws stay point laws
        let point_law = matches!(parameters.law, NormalLaw::Modia3d { .. } | NormalLaw::CollisionLib { .. });
        let kind = contact_kind(&elements[0].shape, &elements[1].shape);
        let shapes = elements.map(|e| &e.shape);
        let along = matches!(parameters.law, NormalLaw::Hertz { .. }) && rods(shapes).is_some();
        let flat = kind == ContactKind::Patch && !point_law || kind == ContactKind::Surface || along;
        let mut law = if flat { parameters.law.on_patch() } else { parameters.law.clone() };
        let geometry = match (ball(0), ball(1), fixed_plane(0), fixed_plane(1)) {
            (Some((c1, r1)), Some((c2, r2)), ..) => PairGeometry::Spheres { c1, c2, r1, r2 },
            (None, Some((c, r)), Some((n_w, offset)), _) => {
                PairGeometry::SpherePlane { c, r, n_w, offset, flipped: false }
            }
            (Some((c, r)), None, _, Some((n_w, offset))) => {
                PairGeometry::SpherePlane { c, r, n_w, offset, flipped: true }
            }
            _ if kind == ContactKind::Surface => {
                let restitution = match law {
                    NormalLaw::Foundation { restitution, .. } => restitution,
                    _ => 1.0,
                };
                let reference = usize::from(bodies[1].drive == Drive::Free);
                PairGeometry::Surfaces(SurfacePair::new(elements, restitution, reference)?)
            }
            _ if flat => PairGeometry::Patch(Patch::new(shapes, elements.map(|e| e.radius))),
            _ => PairGeometry::General { bound: elements[0].radius + elements[1].radius },
        };
        let inverse_mass = |k: usize| if bodies[k].drive == Drive::Free { 1.0 / bodies[k].mass } else { 0.0 };
        let inverse_inertia = |k: usize| {
            if bodies[k].drive == Drive::Free {
                let I = &bodies[k].I_c;
                3.0 / (I.x_axis.x + I.y_axis.y + I.z_axis.z)
            } else {
                0.0
            }
        };
        let mass = 1.0 / (inverse_mass(0) + inverse_mass(1));
        let lighter = [0, 1].iter().map(|&k| bodies[k].mass).fold(f64::INFINITY, f64::min);
        // a length of the right size where the true curvature is not known beforehand
        let size = elements.iter().map(|e| e.radius).fold(f64::INFINITY, f64::min);
        let constant_radius = parameters.radius.or(match geometry {
            PairGeometry::Spheres { r1, r2, .. } => Some(r1 * r2 / (r1 + r2)),
            PairGeometry::SpherePlane { r, .. } => Some(r),
            PairGeometry::General { .. } | PairGeometry::Patch(_) | PairGeometry::Surfaces(_) => None,
        });
        let radius_guess = constant_radius.unwrap_or(size);
        let mut radius = constant_radius;
        if let NormalLaw::Modia3d { linear, .. } = &mut law {
            // Neumayr and Otter 2019, table 1: the ball's radius decides, two non-balls get a linear spring
            radius = radius.or(ball(0).or(ball(1)).map(|(_, r)| r));
            *linear = radius.is_none();
        }
        let g = model.gravity_at_start(id);
        let (stiffness, exponent) = match &law {
            NormalLaw::Linear { stiffness, .. } => (*stiffness, 1.0),
            // a patch of nominal size: its stiffness does not change with depth
            law if let Some(size) = geometry.patch_size() => (patch_stiffness(law, parameters.modulus, size), 1.0),
            NormalLaw::CollisionLib { stiffness, exponent, .. } => (*stiffness, *exponent),
            NormalLaw::Modia3d { linear: true, .. } => (parameters.modulus, 1.0),
            // on a ball N = E*/L pi R depth^2
            NormalLaw::Foundation { .. } => (2.0 * parameters.modulus, 2.0),
            NormalLaw::Bardaro { stiffness, .. } => (stiffness * (std::f64::consts::PI * radius_guess).sqrt(), 1.5),
            _ => (4.0 / 3.0 * parameters.modulus * radius_guess.sqrt(), 1.5),
        };
        let static_depth =
            if stiffness > 0.0 { libm::pow(lighter.min(mass * 1e6) * g / stiffness, 1.0 / exponent) } else { 0.0 };
        let impact_depth = libm::pow(
            0.5 * (exponent + 1.0) * mass * SCALE_SPEED * SCALE_SPEED / stiffness.max(f64::MIN_POSITIVE),
            1.0 / (exponent + 1.0),
        );
        let mut scale = static_depth.max(impact_depth).min(0.1 * size);
        if scale.is_nan() || scale <= 0.0 {
            scale = 1e-6 * size;
        }
        let arm = |k: usize| elements[k].radius.min(1e6) * elements[k].radius.min(1e6) * inverse_inertia(k);
        let tangential_mass = 1.0 / (inverse_mass(0) + inverse_mass(1) + arm(0) + arm(1));
        let central = [0, 1]
            .map(|k| matches!(elements[k].shape, Shape::Sphere { .. }) && elements[k].X_cs.position == Vec3::ZERO);
        let friction = FrictionConstants {
            mu: parameters.friction,
            mu_static: parameters.static_friction,
            rolling: parameters.rolling,
            spin: parameters.spin,
            patch_radius: parameters.patch_radius,
            kappa: parameters.kappa,
            mass: tangential_mass,
            inertia: 1.0 / (inverse_inertia(0) + inverse_inertia(1)),
            ..FrictionConstants::default()
        };
        Some(PairLaws {
            scale,
            normal: NormalConstants::new(
                &law,
                mass,
                parameters.modulus,
                static_depth,
                g,
                parameters.friction,
                exponent,
            ),
            law,
            friction_law: parameters.friction_law,
            friction: match &geometry {
                PairGeometry::Patch(patch) => patch.friction(friction, stiffness),
                PairGeometry::Surfaces(surfaces) => FrictionConstants {
                    patch_stiffness: stiffness,
                    patch_size: surfaces.size,
                    rolling: 0.0,
                    ..friction
                },
                _ => friction,
            },
            geometry,
            fixed: [0, 1].map(|k| {
                let start = &model.start[elements[k].body as usize];
                (bodies[k].drive == Drive::Fixed)
                    .then(|| Pose::new(start.orientation, start.position).then(&elements[k].X_cs))
            }),
            lever: parameters.lever,
            exponent,
            radius,
            stiffness,
            central,
        })
    }
}

impl PairGeometry {
    /// Half the mean extent of the smaller of two solids that touch over an area [m].
    pub fn patch_size(&self) -> Option<f64> {
        match self {
            PairGeometry::Patch(patch) => Some(patch.size),
            PairGeometry::Surfaces(surfaces) => Some(surfaces.size),
            _ => None,
        }
    }
}

/// Normal stiffness of a flat patch of nominal size under a law [N/m].
fn patch_stiffness(law: &NormalLaw, modulus: f64, size: f64) -> f64 {
    match law {
        // k_e sqrt(V d) with V = pi a^2 d
        NormalLaw::Bardaro { stiffness, .. } => stiffness * std::f64::consts::PI.sqrt() * size,
        // E 4/(3 sqrt(pi)) sqrt(V d)
        NormalLaw::Volume { .. } => 4.0 / 3.0 * modulus * size,
        // E*/L pi a^2: a rigid punch
        _ => 2.0 * modulus * size,
    }
}
