//! One candidate pair of an island: its geometry, its laws, what it remembers, and what was last read off it.

use super::patch::{Patch, rocking, rods};
use crate::contact::friction::{
    Friction, FrictionConstants, FrictionInput, FrictionLaw, Modes, Springs, patch_lever, spring_energies,
    springs_at_stick,
};
use crate::contact::normal::{
    LawInput, NormalConstants, NormalForce, NormalGeometry, NormalLaw, NormalMemory, exact_damping,
};
use crate::contact::surfaces::{Laws, RegionCount, SurfacePair};
use crate::event::Episode;
use crate::kinematics::Kinematics;
use crate::model::{Drive, Lever, Model};
use serde::{Deserialize, Serialize};
use tippe_geometry::{ContactKind, Mat3, Moments, Pose, Shape, Vec3, contact_kind, separation};

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

    /// Gap, normal, witness points; cheap lower bound of the gap while the bounding balls are apart unless `exact`.
    #[inline]
    fn measure(&self, model: &Model, sides: [&Kinematics; 2], exact: bool) -> (f64, Vec3, Vec3, Vec3) {
        match &self.geometry {
            &Geometry::Spheres { c1, c2, r1, r2 } => {
                let o1 = if self.central[0] { sides[0].p } else { sides[0].p + sides[0].R * c1 };
                let o2 = if self.central[1] { sides[1].p } else { sides[1].p + sides[1].R * c2 };
                let d = o2 - o1;
                let distance = d.length();
                let n = if distance > 0.0 { d / distance } else { Vec3::Z };
                (distance - (r1 + r2), n, o1 + r1 * n, o2 - r2 * n)
            }
            &Geometry::SpherePlane { c, r, n_w, offset, flipped } => {
                let k = usize::from(!flipped);
                let o = if self.central[k] { sides[k].p } else { sides[k].p + sides[k].R * c };
                let height = n_w.dot(o) - offset;
                let (on_plane, on_ball) = (o - height * n_w, o - r * n_w);
                if flipped { (height - r, -n_w, on_ball, on_plane) } else { (height - r, n_w, on_plane, on_ball) }
            }
            &Geometry::General { bound } => {
                let elements = [&model.elements[self.id.0 as usize], &model.elements[self.id.1 as usize]];
                let X_ws = self.poses(model, sides);
                if bound.is_finite() && !exact {
                    let d = X_ws[1].position - X_ws[0].position;
                    let far = d.length_squared();
                    if far > bound * bound * 1.0001 {
                        let distance = far.sqrt();
                        return (distance - bound, d / distance, X_ws[0].position, X_ws[1].position);
                    }
                }
                let s = separation(&elements[0].shape, &X_ws[0], &elements[1].shape, &X_ws[1]);
                (s.gap, s.normal, s.point1, s.point2)
            }
            Geometry::Surfaces(surfaces) => surfaces.measure(&self.poses(model, sides), exact),
            Geometry::Patch(patch) => {
                let X_ws = self.poses(model, sides);
                match patch.moments(&X_ws) {
                    Some(m) => (-m.depth, m.face_normal, m.centroid, m.centroid),
                    None => {
                        let s = patch.separation(&X_ws, exact);
                        (s.gap.max(0.0), s.normal, s.point1, s.point2)
                    }
                }
            }
        }
    }

    /// Poses of the two shapes.
    #[inline]
    fn poses(&self, model: &Model, sides: [&Kinematics; 2]) -> [Pose; 2] {
        [0, 1].map(|k| {
            let kin = sides[k];
            if self.central[k] {
                return Pose::at(kin.p);
            }
            if let Some(X_ws) = self.fixed[k] {
                return X_ws;
            }
            let e = &model.elements[if k == 0 { self.id.0 } else { self.id.1 } as usize];
            let R_wc = tippe_geometry::Quat::from_mat3(&kin.R);
            Pose::new(R_wc * e.X_cs.rotation, kin.p + kin.R * e.X_cs.position)
        })
    }

    /// Effective radius at the contact: 1/R = 1/R1 + 1/R2 from the mean curvatures; a sharp edge has none of its own.
    fn effective_radius(&self, model: &Model, sides: [&Kinematics; 2], n: Vec3, points: [Vec3; 2]) -> f64 {
        if let Some(radius) = self.radius {
            return radius;
        }
        let mut curvature = 0.0;
        for k in 0..2 {
            let e = &model.elements[if k == 0 { self.id.0 } else { self.id.1 } as usize];
            if let Shape::Sphere { radius } = e.shape {
                curvature += 1.0 / radius;
                continue;
            }
            let outward = if k == 0 { n } else { -n };
            let R_cw = sides[k].R.transpose();
            let p_s = e.X_cs.point_into(R_cw * (points[k] - sides[k].p));
            let n_s = e.X_cs.vector_into(R_cw * outward);
            let radius = e.shape.curvature_radius(p_s, n_s);
            if radius > 0.0 {
                curvature += 1.0 / radius;
            }
        }
        if curvature > 0.0 {
            1.0 / curvature
        } else {
            model.elements[self.id.0 as usize].radius.min(model.elements[self.id.1 as usize].radius)
        }
    }

    /// Gap alone [m].
    pub fn gap(&self, model: &Model, kinematics: &[Kinematics]) -> f64 {
        self.measure(model, [&kinematics[self.sides[0]], &kinematics[self.sides[1]]], true).0
    }

    /// Closing speed, tangential velocity, relative rotation at the contact point.
    fn velocities(sides: [&Kinematics; 2], n: Vec3, point: Vec3) -> (f64, Vec3, Vec3) {
        let [k1, k2] = sides;
        let v = (k2.v + k2.w.cross(point - k2.p)) - (k1.v + k1.w.cross(point - k1.p));
        let closing_speed = -n.dot(v);
        (closing_speed, v + closing_speed * n, k2.w - k1.w)
    }

    /// Reads the pair: geometry, and where it touches (or `always`) velocities and forces.
    #[inline]
    pub fn read(&self, model: &Model, kinematics: &[Kinematics], springs: &Springs, always: bool) -> Reading {
        let mut reading = Reading::default();
        self.read_into(model, kinematics, springs, always, &mut reading);
        reading
    }

    /// [`Self::read`] into a place that exists; of a pair that is apart only gap and normal are written.
    #[inline]
    pub fn read_into(
        &self,
        model: &Model,
        kinematics: &[Kinematics],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let sides = [&kinematics[self.sides[0]], &kinematics[self.sides[1]]];
        if let Geometry::Patch(patch) = &self.geometry {
            let X_ws = self.poses(model, sides);
            return self.read_patch(patch, &X_ws, patch.moments(&X_ws), sides, springs, always, reading);
        }
        self.read_sides(model, sides, springs, always, reading);
    }

    /// [`Self::read_into`] where its two bodies move like this; what a patch shares is known where it was last read.
    pub fn read_beside(&self, model: &Model, sides: [&Kinematics; 2], springs: &Springs, reading: &mut Reading) {
        if let Geometry::Patch(patch) = &self.geometry {
            let X_ws = self.poses(model, sides);
            return self.read_patch(patch, &X_ws, self.shared_at(patch, &X_ws), sides, springs, false, reading);
        }
        self.read_sides(model, sides, springs, false, reading);
    }

    /// What the solids of a patch share; where only velocities differ, as for half the columns of a Jacobian, it is the same.
    fn shared_at(&self, patch: &Patch, X_ws: &[Pose; 2]) -> Option<Moments> {
        match self.shared {
            Some((there, m)) if there == *X_ws => m,
            _ => patch.moments(X_ws),
        }
    }

    /// [`Self::read_into`] for all but flat solids.
    #[inline]
    fn read_sides(
        &self,
        model: &Model,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        if let Geometry::Surfaces(surfaces) = &self.geometry {
            return self.read_surfaces(surfaces, model, sides, springs, always, reading);
        }
        let placed = self.measure(model, sides, always);
        reading.gap = placed.0;
        reading.normal = placed.1;
        reading.closing_speed = 0.0;
        if placed.0 <= 0.0 || always {
            self.read_placed(model, sides, placed, springs, reading);
        }
    }

    /// [`Self::read_into`] the last reading, which stays where it is while the pair is apart.
    #[inline]
    pub fn read_last(&mut self, model: &Model, kinematics: &[Kinematics], springs: impl Fn(&Pair) -> Springs) {
        let sides = [&kinematics[self.sides[0]], &kinematics[self.sides[1]]];
        if let Geometry::Patch(patch) = &self.geometry {
            let X_ws = self.poses(model, sides);
            let m = self.shared_at(patch, &X_ws);
            let mut last = self.last;
            self.read_patch(patch, &X_ws, m, sides, &springs(self), false, &mut last);
            self.last = last;
            self.shared = Some((X_ws, m));
            return;
        }
        if self.is_patch() {
            let mut last = self.last;
            self.read_into(model, kinematics, &springs(self), false, &mut last);
            self.last = last;
            let ([fewest, most], number) = (self.regions_seen, last.regions.number);
            self.regions_seen = [fewest.min(number), most.max(number)];
            return;
        }
        let placed = self.measure(model, sides, false);
        self.last.gap = placed.0;
        self.last.normal = placed.1;
        self.last.closing_speed = 0.0;
        if placed.0 <= 0.0 {
            let mut last = self.last;
            self.read_placed(model, sides, placed, &springs(self), &mut last);
            self.last = last;
        }
    }

    /// Velocities and forces where gap, normal and witness points are known.
    #[inline]
    fn read_placed(
        &self,
        model: &Model,
        sides: [&Kinematics; 2],
        (gap, n, point1, point2): (f64, Vec3, Vec3, Vec3),
        springs: &Springs,
        reading: &mut Reading,
    ) {
        let point = match self.lever {
            Lever::Midpoint => 0.5 * (point1 + point2),
            Lever::Surface1 => point1,
            Lever::Surface2 => point2,
        };
        reading.point = point;
        (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, n, point);
        if gap > 0.0 {
            reading.force = NormalForce::default();
            reading.friction = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };
            return;
        }
        let depth = -gap;
        reading.radius = self.effective_radius(model, sides, n, [point1, point2]);
        let mut geometry = NormalGeometry { depth, radius: reading.radius, ..NormalGeometry::default() };
        if self.law.needs_volume() {
            geometry.volume = self.cap_volume(depth, reading.radius);
            geometry.extent = depth;
            geometry.layer = 0.5 * std::f64::consts::PI * reading.radius;
            geometry.sink = f64::NAN;
        }
        reading.force = self.law.force(&geometry, reading.closing_speed, &self.memory.normal, &self.normal);
        self.rub(sides, springs, reading);
    }

    /// [`Self::read_into`] for flat solids: the force acts at the centroid of what they share.
    fn read_patch(
        &self,
        patch: &Patch,
        X_ws: &[Pose; 2],
        m: Option<Moments>,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let Some(m) = m else {
            let s = patch.separation(X_ws, always);
            let gap = s.gap.max(0.0);
            *reading = Reading { gap, normal: s.normal, ..Reading::default() };
            if gap == 0.0 || always {
                reading.point = 0.5 * (s.point1 + s.point2);
                (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, s.normal, reading.point);
                reading.radius = patch.rolling_radius;
                reading.friction = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };
            }
            return;
        };
        // the volume law is defined by the mean normal of the overlap, an elastic foundation by the faces that carry it
        let mean = matches!(self.law, NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. });
        let (n, depth) = if mean { (m.normal, m.extent) } else { (m.face_normal, m.depth) };
        reading.gap = -depth;
        reading.normal = n;
        reading.point = m.centroid;
        (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, n, m.centroid);
        reading.radius = patch.rolling_radius;
        let area = if m.area > 0.0 { m.area } else { m.volume / depth };
        reading.patch_radius = (area / std::f64::consts::PI).sqrt();
        reading.lever = patch_lever(area, &(m.second * (1.0 / m.volume)));
        reading.mean_depth = m.volume / area;
        let geometry = NormalGeometry {
            depth,
            radius: reading.patch_radius,
            volume: m.volume,
            extent: m.extent,
            layer: patch.layer(),
            sink: patch.sink(X_ws, m.centroid),
        };
        reading.force = self.law.force(&geometry, reading.closing_speed, &self.memory.normal, &self.normal);
        self.rub(sides, springs, reading);
        reading.rocking = 0.0;
        let force = reading.force.total();
        if force > 0.0 {
            let d = self.normal.damping(self.memory.normal.impact_speed.max(reading.closing_speed));
            let c = self.law.damping_rate(reading.force.elastic, d);
            let (torque, power) = rocking(&m, n, reading.omega, patch.rolls_about(X_ws), c, force);
            reading.rocking = power;
            reading.torques[0] -= torque;
            reading.torques[1] += torque;
        }
    }

    /// [`Self::read_into`] for surfaces of triangles.
    fn read_surfaces(
        &self,
        surfaces: &SurfacePair,
        model: &Model,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let X_ws = self.poses(model, sides);
        let laws = Laws {
            normal: &self.law,
            memory: &self.memory.normal,
            constants: &self.normal,
            friction: &self.friction_law,
            coefficients: &self.friction,
            slipping: self.memory.modes.slipping,
            inverse: [self.id.0, self.id.1].map(|e| {
                let body = &model.bodies[model.elements[e as usize].body as usize];
                if body.drive == Drive::Free { (1.0 / body.mass, body.I_c_inverse) } else { (0.0, Mat3::ZERO) }
            }),
        };
        let s = surfaces.read(&X_ws, sides, &laws, springs, always);
        let (_, v_t, omega) = Self::velocities(sides, s.normal, s.point);
        *reading = Reading {
            gap: -s.depth,
            normal: s.normal,
            point: s.point,
            closing_speed: s.closing_speed,
            v_t,
            omega,
            radius: surfaces.size,
            patch_radius: (s.area / std::f64::consts::PI).sqrt(),
            lever: 0.0,
            mean_depth: s.mean_depth,
            rocking: s.rocking,
            force: s.force,
            friction: s.friction,
            stick: s.stick,
            total: s.total,
            torques: s.torques,
            regions: s.regions,
            beyond: s.beyond,
        };
    }

    /// The end of every reading that touches: friction, total force, torques.
    #[inline]
    fn rub(&self, sides: [&Kinematics; 2], springs: &Springs, reading: &mut Reading) {
        let (point, depth) = (reading.point, -reading.gap);
        reading.total = reading.force.total() * reading.normal;
        if self.friction_law != FrictionLaw::None {
            let mut constants = self.friction;
            if let NormalLaw::Custom(law) = &self.law {
                let slip_speed = reading.v_t.length();
                let input = LawInput {
                    depth,
                    closing_speed: reading.closing_speed,
                    impact_speed: self
                        .memory
                        .normal
                        .impact_speed
                        .max(reading.closing_speed)
                        .max(self.normal.rest_speed),
                    radius: reading.radius,
                    modulus: self.normal.modulus,
                    friction: constants.mu,
                    mass: self.normal.mass,
                    slip_speed,
                };
                if let Some(mu) = law.friction(&input) {
                    constants.mu = mu;
                    constants.mu_static = mu;
                }
            }
            let input = self.friction_input(reading);
            reading.friction = self.friction_law.evaluate(&constants, &input, springs, self.memory.modes);
            reading.total += reading.friction.force;
        }
        let [k1, k2] = sides;
        // a normal force through the centre of mass has no torque, whatever rounding says
        let (friction, total) = (reading.friction.force, reading.total);
        let acting = |central: bool| if central { friction } else { total };
        reading.torques = [
            -(point - k1.p).cross(acting(self.central[0])) - reading.friction.torque,
            (point - k2.p).cross(acting(self.central[1])) + reading.friction.torque,
        ];
    }

    /// Torque on body 2 about the contact point [N m]: T_point = T_c2 - (point - c2) x f, where f is spread over a patch; a point has
    /// that of friction alone.
    pub fn torque_at_point(&self, reading: &Reading, kinematics: &[Kinematics]) -> Vec3 {
        if !self.is_patch() {
            return reading.friction.torque;
        }
        let p_wc = kinematics[self.sides[1]].p;
        reading.torques[1] - (reading.point - p_wc).cross(reading.total)
    }

    /// What friction needs to know of a reading with its normal force.
    pub fn friction_input(&self, reading: &Reading) -> FrictionInput {
        let speed = self.memory.normal.impact_speed.max(reading.closing_speed).max(self.normal.rest_speed);
        let damping = match &self.law {
            NormalLaw::Hertz { .. } | NormalLaw::Foundation { .. } => self.normal.damping(speed),
            NormalLaw::Volume { damping } => *damping,
            // not known: critical at rest, and as much of an impact at any speed
            NormalLaw::Custom(_) if speed > 0.0 => self.normal.critical * self.normal.rest_speed / speed,
            _ => 0.0,
        };
        FrictionInput {
            normal: reading.normal,
            N: reading.force.total(),
            elastic: reading.force.elastic,
            depth: if reading.patch_radius > 0.0 { reading.mean_depth } else { -reading.gap },
            closing_speed: reading.closing_speed,
            radius: reading.radius,
            patch_radius: reading.patch_radius,
            lever: reading.lever,
            exponent: self.exponent,
            damping,
            damping_speed: speed.max(0.1 * SCALE_SPEED),
            v_t: reading.v_t,
            omega: reading.omega,
        }
    }

    /// Overlap volume of two balls, or of a ball and a flat (radius of the ball) [m^3].
    fn cap_volume(&self, depth: f64, radius: f64) -> f64 {
        let pi = std::f64::consts::PI;
        match self.geometry {
            Geometry::Spheres { r1, r2, .. } => {
                let d = (r1 + r2) - depth;
                pi * depth * depth * (d * d + 2.0 * d * (r1 + r2) - 3.0 * (r1 - r2) * (r1 - r2)) / (12.0 * d)
            }
            Geometry::SpherePlane { r, .. } => pi * depth * depth * (r - depth / 3.0),
            Geometry::General { .. } | Geometry::Patch(_) | Geometry::Surfaces(_) => {
                pi * depth * depth * (radius - depth / 3.0).max(0.0)
            }
        }
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

/// What the elastic laws of a pair mean to a clock that does not resolve impacts.
#[derive(Clone, Copy, Debug)]
pub struct Hardness {
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
    /// Largest spin torque over normal force [m].
    pub spin: f64,
    /// Restitution [-].
    pub restitution: f64,
    /// b of the exact damping [-].
    pub damping: f64,
    /// Damper of laws that have one instead of a restitution [N s/m].
    pub damper: Option<f64>,
    /// Slower impacts do not rebound [m/s].
    pub rest_speed: f64,
}

impl Hardness {
    /// That of two elements, with their surfaces where they touch over such; `None` if they never touch.
    pub fn of(model: &Model, id: (u32, u32)) -> Option<(Hardness, Option<SurfacePair>)> {
        let pair = Pair::new(model, id, [0, 0], 0)?;
        let g = model.gravity.length();
        let lighter = [id.0, id.1]
            .map(|e| model.bodies[model.elements[e as usize].body as usize].mass)
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let (layer, size) = match &pair.geometry {
            Geometry::Surfaces(surfaces) => {
                let foundation = matches!(pair.law, NormalLaw::Foundation { .. });
                (foundation.then(|| surfaces.layer()), 0.0)
            }
            Geometry::Patch(patch) => {
                let foundation = matches!(pair.law, NormalLaw::Foundation { .. });
                (foundation.then(|| patch.layer()), patch.rolling_radius)
            }
            _ => {
                let radii = [id.0, id.1].map(|e| model.elements[e as usize].radius);
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
        let hardness = Hardness {
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
            spin: pair.friction.spin * size,
            restitution,
            damping: exact_damping(restitution.max(0.01)),
            damper: match &pair.law {
                NormalLaw::Linear { damping, .. } | NormalLaw::Bardaro { damping, .. } => Some(*damping),
                _ => None,
            },
            rest_speed: pair.normal.rest_speed.max(pair.normal.blend_speed),
        };
        let surfaces = match pair.geometry {
            Geometry::Surfaces(surfaces) => Some(surfaces),
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
