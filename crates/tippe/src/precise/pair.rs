//! One candidate pair of an island: its geometry, its laws, what it remembers, and what was last read off it.

mod hardness;
mod reading;

pub use hardness::Hardness;

use super::patch::{Patch, rocking, rods};
use crate::contact::friction::{
    Friction, FrictionConstants, FrictionLaw, Modes, Springs, spring_energies, springs_at_stick,
};
use crate::contact::normal::{NormalConstants, NormalForce, NormalLaw, NormalMemory};
use crate::contact::surfaces::{RegionCount, SurfacePair};
use crate::event::Episode;
use crate::kinematics::Kinematics;
use crate::model::{Drive, Lever, Model};
use serde::{Deserialize, Serialize};
use tippe_geometry::{ContactKind, Moments, Pose, Shape, Vec3, contact_kind};

/// Impact speed whose Hertz depth is the smallest length that matters to a contact [m/s].
const SCALE_SPEED: f64 = 0.01;
/// Membership ends when the gap exceeds this share of the pair's scale [-]; force and memory end at gap zero.
const HYSTERESIS: f64 = 1e-9;
/// Accounts that a contact alone fills.
pub const POWERS: usize = 5;
/// Number of states of an elastic-stick contact.
pub const SPRING_STATES: usize = 7;

/// What a pair remembers from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// In the contact set.
    pub touching: bool,
    /// Speeds the damping refers to.
    pub normal: NormalMemory,
    /// Stick or slip, rest or roll.
    pub modes: Modes,
    /// The contact so far.
    pub episode: Episode,
}

/// How the gap of a pair is measured.
#[derive(Clone, Debug)]
enum Geometry {
    /// Two balls, centres in the frames c [m].
    Spheres { c1: Vec3, c2: Vec3, r1: f64, r2: f64 },
    /// A ball as body 2 (or 1, if `flipped`) and a plane that never moves: outward normal, offset [m].
    SpherePlane { c: Vec3, r: f64, n_w: Vec3, offset: f64, flipped: bool },
    /// Anything else, by the narrow phase.
    General { bound: f64 },
    /// Flat solids, by what they share.
    Patch(Patch),
    /// Closed surfaces of triangles, in any number of regions.
    Surfaces(SurfacePair),
}

/// One reading of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Gap [m]; a lower bound while the bounding balls are apart.
    pub gap: f64,
    /// Unit normal from 1 to 2.
    pub normal: Vec3,
    /// Contact point [m].
    pub point: Vec3,
    /// Closing speed [m/s]; only where the gap is not positive or was asked for.
    pub closing_speed: f64,
    /// Tangential velocity of 2 relative to 1 [m/s].
    pub v_t: Vec3,
    /// Angular velocity of 2 relative to 1 [rad/s].
    pub omega: Vec3,
    /// Effective radius [m].
    pub radius: f64,
    /// Radius of the disc with the area of a flat patch [m]; zero for point contacts.
    pub patch_radius: f64,
    /// Mean distance of a flat patch from its middle [m].
    pub lever: f64,
    /// Mean depth of a flat patch [m].
    pub mean_depth: f64,
    /// Power lost to the damping of rocking on a flat patch [W].
    pub rocking: f64,
    /// Normal force, split.
    pub force: NormalForce,
    /// Friction.
    pub friction: Friction,
    /// Springs that go on with the friction of surfaces that slide.
    pub stick: Springs,
    /// Force on body 2 [N].
    pub total: Vec3,
    /// Torques about the centres of mass of bodies 1 and 2 [N m].
    pub torques: [Vec3; 2],
    /// Regions of the overlap, where the law jumps with their number.
    pub regions: RegionCount,
    /// Surfaces are so deep in each other that part of the contact pulls them deeper.
    pub beyond: bool,
}

/// A candidate pair.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Its two elements.
    pub id: (u32, u32),
    /// Its two bodies, as indices in the island's list of kinematics.
    pub sides: [usize; 2],
    /// Owner of its part of the ledger: the node of its first free body.
    pub node: usize,
    /// First of its spring states in the island's vector.
    pub springs: Option<usize>,
    /// Length that matters to it [m]: the error of its bodies is measured against it.
    pub scale: f64,
    /// Gap beyond which it leaves the contact set [m].
    pub hysteresis: f64,
    /// What it remembers.
    pub memory: Memory,
    /// What was read off it at the last evaluation of the right-hand side.
    pub last: Reading,
    /// What the solids of a patch shared where it was last read.
    shared: Option<([Pose; 2], Option<Moments>)>,
    /// Fewest and most regions that evaluations of the attempted step found in its overlap.
    pub regions_seen: [u32; 2],
    /// Whether any reading of the attempted step had it touch.
    pub dipped: bool,
    /// Normal law.
    pub law: NormalLaw,
    /// Friction law.
    pub friction_law: FrictionLaw,
    /// Constants of the normal law.
    pub normal: NormalConstants,
    /// Constants of friction.
    pub friction: FrictionConstants,
    geometry: Geometry,
    /// Poses of shapes that never move.
    fixed: [Option<Pose>; 2],
    lever: Lever,
    exponent: f64,
    radius: Option<f64>,
    stiffness: f64,
    /// The lever of side k is along the normal: a normal force has no torque.
    central: [bool; 2],
}

impl Pair {
    /// The pair of two elements that [`Model::contact_between`] lets touch. `sides` and `node` are indices of the island.
    pub fn new(model: &Model, id: (u32, u32), sides: [usize; 2], node: usize) -> Option<Pair> {
        let parameters = model.contact_between(id.0 as usize, id.1 as usize)?;
        let elements = [&model.elements[id.0 as usize], &model.elements[id.1 as usize]];
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
            (Some((c1, r1)), Some((c2, r2)), ..) => Geometry::Spheres { c1, c2, r1, r2 },
            (None, Some((c, r)), Some((n_w, offset)), _) => Geometry::SpherePlane { c, r, n_w, offset, flipped: false },
            (Some((c, r)), None, _, Some((n_w, offset))) => Geometry::SpherePlane { c, r, n_w, offset, flipped: true },
            _ if kind == ContactKind::Surface => {
                let restitution = match law {
                    NormalLaw::Foundation { restitution, .. } => restitution,
                    _ => 1.0,
                };
                let reference = usize::from(bodies[1].drive == Drive::Free);
                Geometry::Surfaces(SurfacePair::new(elements, restitution, reference)?)
            }
            _ if flat => Geometry::Patch(Patch::new(shapes, elements.map(|e| e.radius))),
            _ => Geometry::General { bound: elements[0].radius + elements[1].radius },
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
            Geometry::Spheres { r1, r2, .. } => Some(r1 * r2 / (r1 + r2)),
            Geometry::SpherePlane { r, .. } => Some(r),
            Geometry::General { .. } | Geometry::Patch(_) | Geometry::Surfaces(_) => None,
        });
        let radius_guess = constant_radius.unwrap_or(size);
        let mut radius = constant_radius;
        if let NormalLaw::Modia3d { linear, .. } = &mut law {
            // seed 001 table 1: the ball's radius decides, two non-balls get a linear spring
            radius = radius.or(ball(0).or(ball(1)).map(|(_, r)| r));
            *linear = radius.is_none();
        }
        let g = model.gravity.length();
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
        Some(Pair {
            id,
            sides,
            node,
            springs: None,
            scale,
            hysteresis: HYSTERESIS * scale,
            memory: Memory::default(),
            last: Reading { gap: f64::INFINITY, ..Reading::default() },
            shared: None,
            regions_seen: [0; 2],
            dipped: false,
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
                Geometry::Patch(patch) => patch.friction(friction, stiffness),
                Geometry::Surfaces(surfaces) => FrictionConstants {
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

    /// Duration of an elastic impact at this speed [s] (modelica-contact.md 4.4; for exponent 1 the half period).
    pub fn contact_time(&self, speed: f64) -> f64 {
        let n = self.exponent;
        let v = speed.max(1e-3 * SCALE_SPEED);
        let length = libm::pow(self.normal.mass * v * v / self.stiffness, 1.0 / (n + 1.0));
        3.2 * length / v
    }

    /// True when a touch must stop the step: the force or its memory depends on what happens there.
    pub fn stops_at_touch(&self) -> bool {
        self.law.needs_touch_speed() || self.jumps_at_touch() || self.has_memory() || self.springs.is_some()
    }

    /// True when the force or its slope jumps where the gap vanishes; a flat face lands all at once.
    pub fn jumps_at_touch(&self) -> bool {
        self.is_patch() || self.law.jumps_at_touch()
    }

    /// True when a surface of triangles touches.
    pub fn is_surface(&self) -> bool {
        matches!(self.geometry, Geometry::Surfaces(_))
    }

    /// True when one reading of it is work for several threads.
    pub fn is_heavy(&self) -> bool {
        matches!(&self.geometry, Geometry::Surfaces(surfaces) if surfaces.is_heavy())
    }

    /// True when the force is continuous where the gap vanishes and where its memory changes, whatever its slope.
    pub fn lands_softly(&self) -> bool {
        self.is_patch() && self.springs.is_none() && !self.law.needs_touch_speed() && !self.law.jumps_at_touch()
    }

    /// Normal force of the last reading if the impact that goes on had this largest closing speed [N]; of laws with memory.
    pub fn force_remembering(&self, impact_speed: f64) -> f64 {
        let Reading { force, closing_speed, .. } = self.last;
        let d = self.normal.damping(impact_speed.max(closing_speed));
        (force.elastic * (1.0 + d * closing_speed)).max(0.0)
    }

    /// True when the two touch over an area.
    pub fn is_patch(&self) -> bool {
        matches!(self.geometry, Geometry::Patch(_) | Geometry::Surfaces(_))
    }

    /// True when a displacement in any direction changes its force at once: surfaces face everywhere, and a patch that sticks is held along it.
    pub fn holds_all_ways(&self) -> bool {
        self.is_patch() && (self.springs.is_some() || matches!(self.geometry, Geometry::Surfaces(_)))
    }

    /// Half the mean extent of the smaller of two solids that touch over an area, as far as a patch reaches from its middle; zero for a
    /// point [m].
    pub fn half_extent(&self) -> f64 {
        match &self.geometry {
            Geometry::Patch(patch) => patch.size,
            _ => 0.0,
        }
    }

    /// How far what touches over an area reaches: coordinates of its depths are not larger [m].
    pub fn reach(&self) -> f64 {
        match &self.geometry {
            Geometry::Surfaces(surfaces) => surfaces.reach(),
            _ => self.half_extent(),
        }
    }

    /// True when the damping refers to the impact that goes on; that of surfaces is hysteresis.
    pub fn has_memory(&self) -> bool {
        self.law.has_memory() && !matches!(self.geometry, Geometry::Surfaces(_))
    }

    /// Springs that go on with the friction of the last reading when slip (or rolling) ends.
    pub fn springs_at_stick(&self, old: &Springs, slip_ends: bool) -> Springs {
        match &self.geometry {
            Geometry::Surfaces(_) => self.last.stick,
            _ => {
                let input = self.friction_input(&self.last);
                springs_at_stick(&self.friction, &input, &self.last.friction, old, slip_ends)
            }
        }
    }

    /// Energy of springs, tangential and rolling, where the last reading was [J]; none of those of surfaces, whose account of sliding is what friction takes less what they
    /// hold.
    pub fn spring_energies(&self, springs: &Springs) -> (f64, f64) {
        match &self.geometry {
            Geometry::Surfaces(_) => (0.0, 0.0),
            _ => spring_energies(&self.friction, &self.friction_input(&self.last), springs),
        }
    }

    /// True when the account of sliding has all that friction takes, what its springs hold too: those of surfaces come and go with the points under load.
    pub fn books_what_friction_takes(&self) -> bool {
        matches!(self.geometry, Geometry::Surfaces(_))
    }

    /// True when the stiffness does not change with the place of contact.
    pub fn has_closed_energy(&self) -> bool {
        match (&self.geometry, &self.law) {
            (Geometry::Patch(patch), NormalLaw::Foundation { .. }) => patch.energy_is_closed(),
            (Geometry::Patch(_) | Geometry::Surfaces(_), _) => false,
            _ => self.radius.is_some(),
        }
    }

    /// True when nothing is lost in this pair and its energy has a closed form.
    pub fn is_conservative(&self) -> bool {
        self.law.is_conservative() && self.friction_law == FrictionLaw::None && self.has_closed_energy()
    }

    /// Sum of the radii [m] and Hertz stiffness [N/m^1.5] of two centred balls that lose nothing.
    pub fn elastic_balls(&self) -> Option<(f64, f64)> {
        match (&self.geometry, &self.law) {
            (Geometry::Spheres { r1, r2, .. }, NormalLaw::Hertz { restitution, .. })
                if *restitution >= 1.0 && self.friction_law == FrictionLaw::None && self.central == [true; 2] =>
            {
                Some((*r1 + *r2, self.stiffness))
            }
            _ => None,
        }
    }

    /// True when the law's own energy is exact: it has one, and the stiffness does not change with the place of contact.
    pub fn energy_is_closed(&self, reading: &Reading) -> bool {
        self.has_closed_energy() && !reading.force.energy.is_nan()
    }

    /// Elastic energy of a pair that starts in contact and whose energy is integrated from then on [J]: the law's own, or the work of pulling both
    /// straight apart,
    ///   U = integral of F n.n_0 ds until they part, by Simpson's rule.
    pub fn energy_at_start(&self, model: &Model, kinematics: &[Kinematics], reading: &Reading) -> f64 {
        if reading.gap >= 0.0 || self.energy_is_closed(reading) {
            return 0.0;
        }
        if !reading.force.energy.is_nan() {
            return reading.force.energy;
        }
        // the depth of surfaces is that of their deepest point: they may touch somewhat longer
        const PARTS: u32 = 64;
        const MOST: u32 = 1024;
        let h = -reading.gap / f64::from(PARTS);
        let mut apart = kinematics.to_vec();
        let mut sum = reading.force.elastic;
        for part in 1..MOST {
            apart[self.sides[1]].p = kinematics[self.sides[1]].p + reading.normal * (h * f64::from(part));
            let there = self.read(model, &apart, &Springs::default(), true);
            if there.gap >= 0.0 || there.force.elastic <= 0.0 {
                break;
            }
            sum += f64::from(2 + 2 * (part % 2)) * there.force.elastic * there.normal.dot(reading.normal);
        }
        sum * h / 3.0
    }

    /// Powers of a reading that touches [W], in the order of the accounts from damping to elastic; the last is zero where the energy is closed.
    pub fn powers(&self, reading: &Reading) -> [f64; POWERS] {
        let elastic = if self.energy_is_closed(reading) { 0.0 } else { reading.force.elastic * reading.closing_speed };
        [
            reading.force.damping * reading.closing_speed + reading.rocking,
            reading.friction.sliding,
            reading.friction.spin,
            reading.friction.rolling,
            elastic,
        ]
    }
}

impl Geometry {
    /// Half the mean extent of the smaller of two solids that touch over an area [m].
    fn patch_size(&self) -> Option<f64> {
        match self {
            Geometry::Patch(patch) => Some(patch.size),
            Geometry::Surfaces(surfaces) => Some(surfaces.size),
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
