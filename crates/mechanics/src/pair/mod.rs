//! Two elements that may touch: how their gap is measured, their laws, and the constants of these.

mod constants;

pub use constants::ContactConstants;

use crate::contact::curve::Curve;
use crate::contact::friction::{FrictionConstants, FrictionLaw};
use crate::contact::normal::{NormalConstants, NormalLaw};
use crate::contact::patch::{Patch, rods};
use crate::contact::surfaces::SurfacePair;
use crate::model::{Body, Collider, ContactParameters, Drive, Lever, Model};
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
    /// Largest pull [N], and on an area [Pa].
    pub adhesion: [f64; 2],
    /// Limit of friction instead of mu N [N]; zero: mu N.
    pub friction_force: f64,
    /// mu over the slip speed, where it is not the same at all.
    pub friction_curve: Curve,
}

impl PairLaws {
    /// Those of two elements that [`Model::contact_between`] lets touch.
    pub fn of(model: &Model, id: (u32, u32)) -> Option<PairLaws> {
        let parameters = model.contact_between(id.0 as usize, id.1 as usize)?;
        let ends = Ends::of(model, id);
        let foreign = model.foreign_for(id).is_some();
        let flat = !foreign && ends.touch_over_an_area(&parameters.law);
        let mut law = if flat { parameters.law.on_patch() } else { parameters.law.clone() };
        let geometry = if foreign { ends.general() } else { ends.geometry(&law, flat)? };
        let mass = 1.0 / (ends.inverse_mass(0) + ends.inverse_mass(1));
        let lighter = [0, 1].iter().map(|&k| ends.bodies[k].mass).fold(f64::INFINITY, f64::min);
        // a length of the right size where the true curvature is not known beforehand
        let size = ends.elements.iter().map(|e| e.radius).fold(f64::INFINITY, f64::min);
        let constant_radius = parameters.radius.or(geometry.radius());
        let mut radius = constant_radius;
        if let NormalLaw::Modia3d { linear, .. } = &mut law {
            // Neumayr and Otter 2019, table 1: the ball's radius decides, two non-balls get a linear spring
            radius = radius.or(ends.ball(0).or(ends.ball(1)).map(|(_, r)| r));
            *linear = radius.is_none();
        }
        let g = model.gravity_at_start(id);
        let radius_guess = constant_radius.unwrap_or(size);
        let (stiffness, exponent) = nominal_stiffness(&law, parameters.modulus, &geometry, radius_guess);
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
        let normal =
            NormalConstants::new(&law, mass, parameters.modulus, static_depth, g, parameters.friction, exponent);
        Some(PairLaws {
            scale,
            normal: NormalConstants { rebound: parameters.restitution_curve, ..normal },
            law,
            friction_law: parameters.friction_law,
            friction: geometry.friction(ends.friction(parameters), stiffness),
            geometry,
            fixed: [0, 1].map(|k| ends.fixed(k)),
            lever: parameters.lever,
            exponent,
            radius,
            stiffness,
            central: [0, 1].map(|k| !foreign && ends.ball(k).is_some_and(|(c, _)| c == Vec3::ZERO)),
            adhesion: parameters.adhesion,
            friction_force: parameters.friction_force,
            friction_curve: parameters.friction_curve,
        })
    }

    /// mu, kinetic and static, at a slip speed [m/s] under a normal force [N], where it is not the same at all [-].
    pub fn varied_friction(&self, slip_speed: f64, N: f64) -> Option<f64> {
        let fixed = (self.friction_force > 0.0 && N > 0.0).then(|| self.friction_force / N);
        fixed.or_else(|| self.friction_curve.at(slip_speed))
    }

    /// True if the two pull at each other before they part.
    pub fn adheres(&self) -> bool {
        self.adhesion != [0.0; 2]
    }

    /// The pull that parts the two where they touch over this area [N], [m^2].
    pub fn pull(&self, area: f64) -> f64 {
        self.adhesion[0] + self.adhesion[1] * area
    }
}

/// The two elements of a pair with their bodies.
struct Ends<'a> {
    model: &'a Model,
    elements: [&'a Collider; 2],
    bodies: [&'a Body; 2],
}

impl<'a> Ends<'a> {
    fn of(model: &'a Model, id: (u32, u32)) -> Ends<'a> {
        let elements = [&model.colliders[id.0 as usize], &model.colliders[id.1 as usize]];
        Ends { model, elements, bodies: elements.map(|e| &model.bodies[e.body as usize]) }
    }

    fn shapes(&self) -> [&'a Shape; 2] {
        self.elements.map(|e| &e.shape)
    }

    /// True where the force is that of an area instead of a point.
    fn touch_over_an_area(&self, law: &NormalLaw) -> bool {
        let [shape1, shape2] = self.shapes();
        let kind = contact_kind(shape1, shape2);
        // the published point laws stay point laws
        let point_law = matches!(law, NormalLaw::Modia3d { .. } | NormalLaw::CollisionLib { .. });
        let along = matches!(law, NormalLaw::Hertz { .. }) && rods([shape1, shape2]).is_some();
        kind == ContactKind::Patch && !point_law || kind == ContactKind::Surface || along
    }

    /// True where solids that touch as surfaces share what has a closed form, and the law needs no more of it.
    fn share_in_closed_form(&self, law: &NormalLaw) -> bool {
        let overlaps =
            matches!(law, NormalLaw::Foundation { .. } | NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. });
        overlaps && Patch::is_closed(self.shapes())
    }

    /// Centre in its body's frame c and radius of element `k`, if it is a ball [m].
    fn ball(&self, k: usize) -> Option<(Vec3, f64)> {
        match self.elements[k].shape {
            Shape::Sphere { radius } => Some((self.elements[k].X_cs.position, radius)),
            _ => None,
        }
    }

    /// Pose of element `k`, if it never moves.
    fn fixed(&self, k: usize) -> Option<Pose> {
        let start = &self.model.start[self.elements[k].body as usize];
        (self.bodies[k].drive == Drive::Fixed)
            .then(|| Pose::new(start.orientation, start.position).then(&self.elements[k].X_cs))
    }

    /// Normal and offset of element `k`, if it is a plane that never moves.
    fn fixed_plane(&self, k: usize) -> Option<(Vec3, f64)> {
        let X_ws = self.fixed(k).filter(|_| matches!(self.elements[k].shape, Shape::HalfSpace))?;
        let n_w = X_ws.vector(Vec3::Z);
        Some((n_w, n_w.dot(X_ws.position)))
    }

    /// How the gap is measured under this law; `flat` if it acts over an area.
    fn geometry(&self, law: &NormalLaw, flat: bool) -> Option<PairGeometry> {
        let [shape1, shape2] = self.shapes();
        let geometry = match (self.ball(0), self.ball(1), self.fixed_plane(0), self.fixed_plane(1)) {
            (Some((c1, r1)), Some((c2, r2)), ..) => PairGeometry::Spheres { c1, c2, r1, r2 },
            (None, Some((c, r)), Some((n_w, offset)), _) => {
                PairGeometry::SpherePlane { c, r, n_w, offset, flipped: false }
            }
            (Some((c, r)), None, _, Some((n_w, offset))) => {
                PairGeometry::SpherePlane { c, r, n_w, offset, flipped: true }
            }
            _ if contact_kind(shape1, shape2) == ContactKind::Surface && !self.share_in_closed_form(law) => {
                let restitution = match law {
                    NormalLaw::Foundation { restitution, .. } => *restitution,
                    _ => 1.0,
                };
                let reference = usize::from(self.bodies[1].drive == Drive::Free);
                PairGeometry::Surfaces(SurfacePair::new(self.elements, restitution, reference)?)
            }
            _ if flat => PairGeometry::Patch(Patch::new([shape1, shape2], self.elements.map(|e| e.radius))),
            _ => self.general(),
        };
        Some(geometry)
    }

    fn general(&self) -> PairGeometry {
        PairGeometry::General { bound: self.elements[0].radius + self.elements[1].radius }
    }

    /// 1/m of body `k`, zero if forces do not move it [1/kg].
    fn inverse_mass(&self, k: usize) -> f64 {
        if self.bodies[k].drive == Drive::Free { 1.0 / self.bodies[k].mass } else { 0.0 }
    }

    /// One over the mean moment of inertia of body `k`, zero if forces do not move it [1/(kg m^2)].
    fn inverse_inertia(&self, k: usize) -> f64 {
        if self.bodies[k].drive == Drive::Free {
            let I = &self.bodies[k].I_c;
            3.0 / (I.x_axis.x + I.y_axis.y + I.z_axis.z)
        } else {
            0.0
        }
    }

    /// Constants of friction at a point.
    fn friction(&self, parameters: &ContactParameters) -> FrictionConstants {
        let radius = |k: usize| self.elements[k].radius.min(1e6);
        let arm = |k: usize| radius(k) * radius(k) * self.inverse_inertia(k);
        FrictionConstants {
            mu: parameters.friction,
            mu_static: parameters.static_friction,
            rolling: parameters.rolling,
            spin: parameters.spin,
            patch_radius: parameters.patch_radius,
            spin_damping: parameters.spin_damping,
            kappa: parameters.kappa,
            mass: 1.0 / (self.inverse_mass(0) + self.inverse_mass(1) + arm(0) + arm(1)),
            inertia: 1.0 / (self.inverse_inertia(0) + self.inverse_inertia(1)),
            ..FrictionConstants::default()
        }
    }
}

impl PairGeometry {
    /// Effective radius, where it is the same everywhere [m].
    fn radius(&self) -> Option<f64> {
        match self {
            PairGeometry::Spheres { r1, r2, .. } => Some(r1 * r2 / (r1 + r2)),
            PairGeometry::SpherePlane { r, .. } => Some(*r),
            PairGeometry::General { .. } | PairGeometry::Patch(_) | PairGeometry::Surfaces(_) => None,
        }
    }

    /// Constants of friction at a point, and over the patch of this normal stiffness [N/m] where there is one.
    fn friction(&self, at_point: FrictionConstants, stiffness: f64) -> FrictionConstants {
        match self {
            PairGeometry::Patch(patch) => patch.friction(at_point, stiffness),
            PairGeometry::Surfaces(surfaces) => {
                FrictionConstants { patch_stiffness: stiffness, patch_size: surfaces.size, rolling: 0.0, ..at_point }
            }
            _ => at_point,
        }
    }

    /// Half the mean extent of the smaller of two solids that touch over an area [m].
    pub fn patch_size(&self) -> Option<f64> {
        match self {
            PairGeometry::Patch(patch) => Some(patch.size),
            PairGeometry::Surfaces(surfaces) => Some(surfaces.size),
            _ => None,
        }
    }
}

/// K and n of F = K depth^n, on balls of this effective radius [N/m^n], [-].
fn nominal_stiffness(law: &NormalLaw, modulus: f64, geometry: &PairGeometry, radius: f64) -> (f64, f64) {
    match law {
        NormalLaw::Linear { stiffness, .. } => (*stiffness, 1.0),
        // a patch of nominal size: its stiffness does not change with depth
        law if let Some(size) = geometry.patch_size() => (patch_stiffness(law, modulus, size), 1.0),
        NormalLaw::CollisionLib { stiffness, exponent, .. } => (*stiffness, *exponent),
        NormalLaw::Modia3d { linear: true, .. } => (modulus, 1.0),
        // on a ball N = E*/L pi R depth^2
        NormalLaw::Foundation { .. } => (2.0 * modulus, 2.0),
        NormalLaw::Bardaro { stiffness, .. } => (stiffness * (std::f64::consts::PI * radius).sqrt(), 1.5),
        _ => (4.0 / 3.0 * modulus * radius.sqrt(), 1.5),
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
