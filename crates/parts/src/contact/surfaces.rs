//! Contact of closed surfaces of triangles, concave ones too: the sum over the points of the patch (docs/theory/contact.md, "Surfaces").
//!
//! Elastic foundation: p = (E*/L) d at every point, d the distance to the other surface. Damping is hysteresis of the pair's energy U, so that nothing must be
//! remembered when regions come, merge and go: with V = U'/N the closing speed, mean over the pressure, and m the mass that moves along it
//!   f = p (1 + D(V)) n + p (n.a) (D(w) - D_mean) a,   D = b h + c s,   h(v) = v/sqrt(v^2 + beta^2 2 U/m),   s(v) = v v_s^3/(v^2 + v_s^2)^2,
//! n the normal of the surface, a the direction in which the depth is measured.
//! Along an impact K = m V^2/2 and U depend on each other through K/U alone, dK/dU = -(1 +- b/sqrt(1 + beta^2 U/K)), whatever the form, mass and speed:
//!   ln e^2 = int_0^inf [1/(1 + r + b q) - 1/(r + max(0, 1 - b q))] dr,   q = sqrt(r/(r + beta^2))
//! gives b. w is what of the rate of the point's depth is neither V nor a patch that travels on with a velocity u over the slopes g of the depth, v = V - u.g:
//! what rolls or slides on loses nothing, what rocks does. The last terms damp what is slower than v_s, the speed of rest.
//!
//! Friction with elastic stick: the surfaces are rigid, so the stretch of all tangential springs of a pair is one displacement field
//! z(x) = delta + theta x (x - o), seen in the plane of each point, and |z|^2 = sum z_t^2 N_i/N. As between flat faces
//!   stick:  z' = g v - r z,   f = -k_0 g (z + T g v)/L,   L = max(1, k_0 g |z + T g v|/(mu N)),   r = 4 omega (L - 1)
//!   slip:   f = -mu N v/|v|: Coulomb-Contensou over the true patch, for it is the sum over its points.
//! g = sqrt(A/A_0): springs of constant stiffness behind a gear. Slip begins at L = 1.3 and ends where springs can go on with its force.

use super::collider::Collider;
use super::friction::{Friction, FrictionConstants, FrictionInput, FrictionLaw, Springs, patch_gamma};
use super::normal::{NormalConstants, NormalForce, NormalGeometry, NormalLaw, NormalMemory};
use crate::kinematics::Kinematics;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tippe_geometry::{
    Foundation, HeightGrid, Mat3, PatchPolygon, Pose, PressurePoint, Region, Shape, Surface, SurfaceWork, Vec3,
    foundation, half_space_foundation, half_space_patch, surface_distance, surface_overlap, surface_patch,
    terrain_foundation, terrain_patch,
};

/// Rate at which overloaded springs give way, over their natural frequency and the excess of the load [-].
const YIELD_RATE: f64 = 4.0;
/// c of the damping of slow motion, where nothing is lost at higher speeds [-].
const SLOW_DAMPING: f64 = 1.2;
/// Load of the springs over its limit at which slip begins [-].
const SLIP_LOAD: f64 = 1.3;
/// Damping ratio of the tangential springs [-].
const STICK_RATIO: f64 = 0.5;
/// Share of the largest speed at which slip may end that is used [-].
const STICK_SAFETY: f64 = 0.9;
/// Springs of patches smaller than this share of the size get no softer [-].
const SMALLEST_PATCH: f64 = 1e-4;
/// Motion slower than this is damped as at rest [m/s].
const SLOWEST: f64 = 1e-4;
/// Where this share of what pushes surfaces apart pulls them deeper, one has passed the middle of the other [-] ...
const BEYOND: f64 = 0.3;
/// ... if they are deeper than this share of their size: what slides off an edge leaves less and less of itself behind it [-].
const DEEP: f64 = 0.005;
/// beta: hysteresis turns around where the kinetic energy is below beta^2 times the elastic one [-].
const SMOOTH: f64 = 0.3;
/// Slopes of the depth below this are rounding: such a patch does not travel, it rocks [-].
const LEAST_SLOPE: f64 = 1e-4;
/// Shares of the slopes that one curve must explain for a patch to travel: none of it below the first, all above the second [-].
const ONE_CURVE: [f64; 2] = [0.2, 0.5];
/// Patches thinner than this share of their size (squared) are flat [-].
const FLAT: f64 = 1e-6;
/// Surfaces that bend less than this over a patch are flat [-].
const LEAST_BEND: f64 = 1e-6;
/// Restitution that hysteresis can have at least [-].
const RESTITUTION_MIN: f64 = 0.05;
/// Surfaces are brought together by this share of the size beyond the first touch, to see where they meet [-].
const MET: f64 = 1e-6;
/// Surfaces nearer than this share of the size touch: their distance has no direction but rounding [-].
const TOUCH: f64 = 1e-9;
/// A force below this share of the elastic one is none [-].
const PARTING: f64 = 1e-9;
/// How far apart surfaces are matters up to this share of the size [-].
const NEAR: f64 = 0.25;

thread_local! {
    static WORK: RefCell<Room> = RefCell::default();
    static STACK: RefCell<Vec<(f64, u32, u32)>> = RefCell::default();
}

/// Buffers; what they hold never changes a result.
#[derive(Default)]
struct Room {
    surfaces: SurfaceWork,
    loads: Vec<Load>,
}

/// Lends the thread's buffers for overlaps of surfaces.
pub fn with_surface_work<T>(work: impl FnOnce(&mut SurfaceWork) -> T) -> T {
    with_room(|room| work(&mut room.surfaces))
}

/// Lends the thread's buffers. They are taken, not borrowed: while a heavy pair is shared out, its thread may turn to another pair.
fn with_room<T>(work: impl FnOnce(&mut Room) -> T) -> T {
    let mut room = WORK.take();
    let answer = work(&mut room);
    WORK.set(room);
    answer
}

/// One point of a patch under load.
#[derive(Clone, Copy, Debug)]
struct Load {
    point: Vec3,
    /// Unit normal from 1 to 2.
    normal: Vec3,
    /// Area times depth [m^3].
    weight: f64,
    /// Normal force [N].
    force: f64,
}

/// What touches what.
#[derive(Clone, Debug)]
enum Kind {
    /// Two closed surfaces.
    Both([Arc<Surface>; 2]),
    /// A half-space as body `ground`, and a solid with its surface.
    Ground { ground: usize, solid: Shape, surface: Arc<Surface> },
    /// A height grid as body `ground`; the surfaces are of both.
    Terrain { ground: usize, grid: Arc<HeightGrid>, surfaces: [Arc<Surface>; 2] },
}

/// Two surfaces that may touch.
#[derive(Clone, Debug)]
pub struct SurfacePair {
    kind: Kind,
    /// a_0: half the mean extent of the smaller solid [m].
    pub size: f64,
    /// Sum of the bounding radii [m].
    bound: f64,
    /// b of the hysteresis [-].
    hysteresis: f64,
    /// Side whose centre of mass is the origin of the stretch of the tangential springs.
    reference: usize,
    /// Where they were nearest.
    near: Near,
}

/// Triangles of two surfaces that were nearest to each other when last asked, to look at first. They change no result.
#[derive(Debug, Default)]
struct Near(AtomicU64);

impl Near {
    fn read(&self) -> [u32; 2] {
        let both = self.0.load(Ordering::Relaxed);
        [(both >> 32) as u32, both as u32]
    }

    fn write(&self, [f, g]: [u32; 2]) {
        self.0.store(u64::from(f) << 32 | u64::from(g), Ordering::Relaxed);
    }
}

impl Clone for Near {
    fn clone(&self) -> Near {
        Near(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

/// The laws of a pair and what they need.
pub struct Laws<'a> {
    /// Normal law.
    pub normal: &'a NormalLaw,
    /// What it remembers.
    pub memory: &'a NormalMemory,
    /// Its constants.
    pub constants: &'a NormalConstants,
    /// Friction law.
    pub friction: &'a FrictionLaw,
    /// Its coefficients.
    pub coefficients: &'a FrictionConstants,
    /// Whether the surfaces slide on each other.
    pub slipping: bool,
    /// 1/m [1/kg] and I^-1 about the centre of mass, in body axes [1/(kg m^2)], of both bodies; zero for what forces do not move.
    pub inverse: [(f64, Mat3); 2],
}

impl Laws<'_> {
    /// Mass that a force along the unit vector n at a point moves [kg].
    fn mass_along(&self, sides: [&Kinematics; 2], point: Vec3, n: Vec3) -> f64 {
        let yields = |k: usize| {
            let (inverse, turn) = (&self.inverse[k], sides[k].R.transpose() * (point - sides[k].p).cross(n));
            inverse.0 + turn.dot(inverse.1 * turn)
        };
        1.0 / (yields(0) + yields(1))
    }
}

/// Regions that a law of the overlap acts in, each for itself; none where a foundation carries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionCount {
    /// How many [-].
    pub number: u32,
    /// Volume of the smallest over that of all [-].
    pub least: f64,
}

/// What a reading of two surfaces gives.
pub struct SurfaceReading {
    /// Largest depth [m]; minus the distance where they are apart.
    pub depth: f64,
    /// From 1 to 2: of the resultant, or of the shortest distance.
    pub normal: Vec3,
    /// Centre of pressure, or midpoint [m].
    pub point: Vec3,
    /// Closing speed, mean over the elastic pressure [m/s].
    pub closing_speed: f64,
    /// Power lost to damping beyond mean force times mean speed [W].
    pub rocking: f64,
    /// Sums of the points' forces.
    pub force: NormalForce,
    /// Area [m^2].
    pub area: f64,
    /// Mean depth [m].
    pub mean_depth: f64,
    /// Friction; its force and torque are part of the sums below.
    pub friction: Friction,
    /// Springs that go on with the force of surfaces that slide.
    pub stick: Springs,
    /// Force on body 2 [N].
    pub total: Vec3,
    /// Torques about the centres of mass of bodies 1 and 2 [N m].
    pub torques: [Vec3; 2],
    /// Regions whose merging and splitting the law feels.
    pub regions: RegionCount,
    /// They are so deep in each other that part of the contact pulls them deeper.
    pub beyond: bool,
}

impl SurfacePair {
    /// The pair of two elements that have surfaces, or one of which is a half-space.
    pub fn new(elements: [&Collider; 2], restitution: f64, reference: usize) -> Option<SurfacePair> {
        let ground = elements.iter().position(|e| matches!(e.shape, Shape::HalfSpace | Shape::HeightGrid(_)));
        let mean = |s: &Shape| {
            let h = s.aabb(&Pose::IDENTITY).half();
            (h.x + h.y + h.z) / 3.0
        };
        let size = elements.iter().map(|e| mean(&e.shape)).filter(|a| a.is_finite()).fold(f64::INFINITY, f64::min);
        let both = || Some([elements[0].surface.clone()?, elements[1].surface.clone()?]);
        let kind = match ground.map(|g| (g, &elements[g].shape)) {
            Some((ground, Shape::HeightGrid(grid))) => Kind::Terrain { ground, grid: grid.clone(), surfaces: both()? },
            Some((ground, _)) => {
                let other = elements[1 - ground];
                Kind::Ground { ground, solid: other.shape.clone(), surface: other.surface.clone()? }
            }
            None => Kind::Both(both()?),
        };
        let e = restitution.clamp(0.0, 1.0);
        Some(SurfacePair {
            kind,
            size,
            bound: elements[0].radius + elements[1].radius,
            hysteresis: hysteresis(e),
            reference,
            near: Near::default(),
        })
    }

    /// True when one reading of it is work for several threads.
    pub fn is_heavy(&self) -> bool {
        matches!(&self.kind, Kind::Both([s1, s2]) if s1.is_heavy_with(s2))
    }

    /// L of the foundation [m].
    pub fn layer(&self) -> f64 {
        0.5 * std::f64::consts::PI * self.size
    }

    /// The half-space of the pair, if it has one: on which side it is, and the surface of the solid on the other side.
    pub fn half_space(&self) -> Option<(usize, &Surface)> {
        match &self.kind {
            Kind::Ground { ground, surface, .. } => Some((*ground, surface)),
            _ => None,
        }
    }

    /// The foundation between the surfaces at these poses, with k = 1 N/m^3; its points are in `work`.
    pub fn press_in(&self, X: &[Pose; 2], work: &mut SurfaceWork) -> Foundation {
        match &self.kind {
            Kind::Both([s1, s2]) => foundation(s1, &X[0], s2, &X[1], Vec3::ZERO, work),
            Kind::Ground { ground, surface, .. } => {
                half_space_foundation(&X[*ground], surface, &X[1 - ground], Vec3::ZERO, work)
            }
            Kind::Terrain { ground, grid, surfaces } => {
                terrain_foundation(grid, &X[*ground], &surfaces[1 - ground], &X[1 - ground], Vec3::ZERO, work)
            }
        }
    }

    /// Area, mean depth and depth of the overlap of surfaces so placed [m^2], [m], [m].
    pub fn extent(&self, X_ws: &[Pose; 2]) -> (f64, f64, f64) {
        if self.far(X_ws).is_some() {
            return (0.0, 0.0, 0.0);
        }
        let sum = with_room(|room| self.press_in(X_ws, &mut room.surfaces));
        (sum.area, sum.force.length() / sum.area.max(f64::MIN_POSITIVE), sum.depth)
    }

    /// Sum of the bounding radii, or the size beside ground without end [m].
    pub fn reach(&self) -> f64 {
        if self.bound.is_finite() { self.bound } else { self.size }
    }

    /// Energy of the foundation of surfaces so placed, with k = 1 N/m^3 [m^4].
    pub fn energy(&self, X_ws: &[Pose; 2]) -> f64 {
        match self.far(X_ws) {
            Some(_) => 0.0,
            None => with_room(|room| self.press_in(X_ws, &mut room.surfaces).energy.max(0.0)),
        }
    }

    /// True if one surface has passed the middle of the other, so that part of the foundation pulls them deeper.
    pub fn is_beyond(&self, sum: &Foundation) -> bool {
        sum.beyond > BEYOND && sum.depth > DEEP * self.size
    }

    /// Normals of points and regions come from the ground where there is one: +1 if that is from 1 to 2.
    pub fn sense(&self) -> f64 {
        if matches!(self.kind, Kind::Ground { ground: 1, .. } | Kind::Terrain { ground: 1, .. }) { -1.0 } else { 1.0 }
    }

    /// Distance of the origins where the bounding balls are apart [m].
    fn far(&self, X_ws: &[Pose; 2]) -> Option<f64> {
        let far = (X_ws[1].position - X_ws[0].position).length_squared();
        (self.bound.is_finite() && far > self.bound * self.bound * 1.0001).then(|| far.sqrt())
    }

    /// True if the bounding balls are apart by more than `margin` [m].
    pub fn is_apart_by(&self, margin: f64, X_ws: &[Pose; 2]) -> bool {
        self.far(X_ws).is_some_and(|distance| distance > self.bound + margin)
    }

    /// Gap or minus the largest depth, normal, and a point on each.
    pub fn measure(&self, X_ws: &[Pose; 2], exact: bool) -> (f64, Vec3, Vec3, Vec3) {
        if let (Some(distance), false) = (self.far(X_ws), exact) {
            let d = X_ws[1].position - X_ws[0].position;
            return (distance - self.bound, d / distance, X_ws[0].position, X_ws[1].position);
        }
        self.nearest(X_ws, f64::INFINITY)
    }

    /// The same, or `limit` [m] if they are farther apart.
    pub fn nearest(&self, X_ws: &[Pose; 2], limit: f64) -> (f64, Vec3, Vec3, Vec3) {
        with_room(|room| {
            let sum = self.press_in(X_ws, &mut room.surfaces);
            if sum.depth > 0.0 {
                let points = room.surfaces.points();
                let n = points.iter().map(|p| p.normal * (p.area * p.depth)).sum::<Vec3>() * self.sense();
                let weight: f64 = points.iter().map(|p| p.area * p.depth).sum();
                let at = points.iter().map(|p| p.point * (p.area * p.depth)).sum::<Vec3>() / weight;
                return (-sum.depth, n.try_normalize().unwrap_or(Vec3::Z), at, at);
            }
            self.apart(X_ws, limit)
        })
    }

    /// Distance of surfaces that share no volume, normal, and a point on each; `limit` [m] if they are farther apart.
    pub fn apart(&self, X: &[Pose; 2], limit: f64) -> (f64, Vec3, Vec3, Vec3) {
        match &self.kind {
            Kind::Both([s1, s2]) | Kind::Terrain { surfaces: [s1, s2], .. } => {
                let between = (X[1].position - X[0].position).try_normalize();
                let (mut near, mut stack) = (self.near.read(), STACK.take());
                let gap = surface_distance(s1, &X[0], s2, &X[1], limit, &mut near, &mut stack);
                STACK.set(stack);
                self.near.write(near);
                match gap {
                    Some(gap) => {
                        let n = if gap.distance > TOUCH * self.size {
                            Some((gap.point2 - gap.point1) / gap.distance)
                        } else {
                            let [f, g] = gap.triangles;
                            let faces = [X[0].vector(s1.normal(f)), -X[1].vector(s2.normal(g))];
                            self.resisted(X, faces.into_iter().chain(between)).or(between)
                        };
                        (gap.distance.max(0.0), n.unwrap_or(Vec3::Z), gap.point1, gap.point2)
                    }
                    None => (limit, between.unwrap_or(Vec3::Z), X[0].position, X[1].position),
                }
            }
            Kind::Ground { ground, solid, .. } => {
                let (X_wg, X_ws) = (&X[*ground], &X[1 - ground]);
                let n = X_wg.vector(Vec3::Z);
                let lowest = X_ws.point(solid.support(X_ws.vector_into(-n)));
                let gap = n.dot(lowest - X_wg.position);
                let foot = lowest - n * gap;
                if *ground == 0 { (gap.max(0.0), n, foot, lowest) } else { (gap.max(0.0), -n, lowest, foot) }
            }
        }
    }

    /// Of some directions in which 1 may push 2, that of the force which most resists being pressed together against it: surfaces that only
    /// touch have no shortest way apart.
    fn resisted(&self, X: &[Pose; 2], ways: impl Iterator<Item = Vec3>) -> Option<Vec3> {
        let mut work = SurfaceWork::default();
        let mut best = (0.0, None);
        for way in ways {
            let pressed = [X[0], Pose::new(X[1].rotation, X[1].position - way * (MET * self.size))];
            self.press_in(&pressed, &mut work);
            let force = work.points().iter().map(|p| p.normal * (p.area * p.depth)).sum::<Vec3>() * self.sense();
            let n = force.try_normalize().filter(|n| n.dot(way) > best.0);
            best = n.map_or(best, |n| (n.dot(way), Some(n)));
        }
        best.1
    }

    /// Share of the smaller of two closed solids that is inside the other [-]; none of ground without end.
    pub fn shared(&self, X_ws: &[Pose; 2]) -> Option<f64> {
        let Kind::Both([s1, s2]) = &self.kind else { return None };
        let regions = |room: &mut Room| {
            let regions = surface_overlap(s1, &X_ws[0], s2, &X_ws[1], &mut room.surfaces);
            regions.iter().map(|region| region.volume).sum::<f64>()
        };
        Some(with_room(regions) / s1.volume().min(s2.volume()))
    }

    /// The polygons over which they touch; `push` and `normal` are from 1 to 2. Those of surfaces that pushed and are apart again stand
    /// where they meet when they are brought together along the shortest way.
    pub fn patch(&self, X_ws: &[Pose; 2], pushed: bool) -> Vec<PatchPolygon> {
        let patch = self.patch_here(X_ws);
        if !(pushed && patch.is_empty()) {
            return patch;
        }
        let (gap, n, ..) = self.apart(X_ws, f64::INFINITY);
        self.patch_met(X_ws, gap, n)
    }

    /// The polygons over which surfaces that are apart by `gap` [m] along `n` meet when they are brought together.
    pub fn patch_met(&self, X_ws: &[Pose; 2], gap: f64, n: Vec3) -> Vec<PatchPolygon> {
        let shift = n * (gap + MET * self.size);
        let mut patch = self.patch_here(&[X_ws[0], Pose::new(X_ws[1].rotation, X_ws[1].position - shift)]);
        for p in patch.iter_mut().filter(|p| p.side == 1) {
            p.center += shift;
            p.rings.iter_mut().flatten().for_each(|corner| *corner += shift);
        }
        patch
    }

    fn patch_here(&self, X_ws: &[Pose; 2]) -> Vec<PatchPolygon> {
        with_room(|room| {
            let work = &mut room.surfaces;
            let (ground, mut patch) = match &self.kind {
                Kind::Both([s1, s2]) => return surface_patch(s1, &X_ws[0], s2, &X_ws[1], work),
                Kind::Ground { ground, surface, .. } => {
                    (*ground, half_space_patch(&X_ws[*ground], surface, &X_ws[1 - ground], work))
                }
                Kind::Terrain { ground, grid, surfaces } => {
                    let solid = 1 - ground;
                    (*ground, terrain_patch(grid, &X_ws[*ground], &surfaces[solid], &X_ws[solid], work))
                }
            };
            for p in &mut patch {
                p.side = 1 - ground as u8;
                p.normal *= self.sense();
                p.push *= self.sense();
            }
            patch
        })
    }

    /// Forces of the pair with its springs.
    pub fn read(
        &self,
        X_ws: &[Pose; 2],
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        springs: &Springs,
        exact: bool,
    ) -> SurfaceReading {
        let mut reading = SurfaceReading {
            depth: 0.0,
            normal: Vec3::Z,
            point: Vec3::ZERO,
            closing_speed: 0.0,
            rocking: 0.0,
            force: NormalForce::default(),
            area: 0.0,
            mean_depth: 0.0,
            friction: Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() },
            stick: Springs::default(),
            total: Vec3::ZERO,
            torques: [Vec3::ZERO; 2],
            regions: RegionCount::default(),
            beyond: false,
        };
        if let (Some(distance), false) = (self.far(X_ws), exact) {
            reading.depth = self.bound - distance;
            reading.normal = (X_ws[1].position - X_ws[0].position) / distance;
            return reading;
        }
        with_room(|room| {
            let sum = self.press_in(X_ws, &mut room.surfaces);
            if sum.depth <= 0.0 || sum.area <= 0.0 {
                let limit = if exact { f64::INFINITY } else { NEAR * self.size };
                let (gap, n, p1, p2) = self.apart(X_ws, limit);
                (reading.depth, reading.normal, reading.point) = (-gap, n, 0.5 * (p1 + p2));
                reading.closing_speed = -n.dot(relative(sides, reading.point));
                return;
            }
            reading.depth = sum.depth;
            reading.area = sum.area;
            reading.beyond = self.is_beyond(&sum);
            room.loads.clear();
            let Room { surfaces, loads } = room;
            let tally = match laws.normal {
                NormalLaw::Foundation { .. } => self.press(surfaces, sides, laws, sum.energy, loads),
                _ => {
                    reading.regions = count(surfaces.regions());
                    self.press_regions(surfaces, sides, laws, loads)
                }
            };
            if loads.is_empty() {
                // edges that only graze each other: area without pressure
                let (_, n, p1, p2) = self.apart(X_ws, f64::INFINITY);
                (reading.normal, reading.point) = (n, 0.5 * (p1 + p2));
                reading.closing_speed = -n.dot(relative(sides, reading.point));
                return;
            }
            let weight: f64 = loads.iter().map(|l| l.weight).sum();
            reading.mean_depth = weight / sum.area;
            let energy = match laws.normal {
                NormalLaw::Foundation { .. } => laws.constants.modulus / self.layer() * sum.energy,
                _ => f64::NAN,
            };
            reading.force = NormalForce { elastic: tally.elastic, damping: tally.total - tally.elastic, energy };
            reading.closing_speed = if tally.elastic > 0.0 { tally.elastic_power / tally.elastic } else { 0.0 };
            reading.rocking = tally.damping_power - reading.force.damping * reading.closing_speed;
            let pressed: f64 = loads.iter().map(|l| l.force).sum();
            // where dampers hold what springs push nothing is left but rounding
            let pushes = pressed > PARTING * tally.elastic;
            let about = |f: &Load| if pushes { f.force / pressed } else { f.weight / weight };
            reading.point = loads.iter().map(|l| l.point * about(l)).sum();
            let n = loads.iter().map(|l| l.normal * about(l)).sum::<Vec3>();
            reading.normal = n.try_normalize().unwrap_or(loads[0].normal);
            reading.total = tally.force;
            reading.torques = tally.torques;
            if *laws.friction != FrictionLaw::None && pushes {
                self.rub(sides, laws, springs, loads, tally.travel, &mut reading);
            }
        });
        reading
    }

    /// How the bodies move against each other at the points under load.
    fn motion<'s>(&self, points: &[PressurePoint], sides: [&'s Kinematics; 2]) -> Option<Motion<'s>> {
        let column = |p: &PressurePoint| (p.area * p.normal.dot(p.axis)).max(0.0) * p.depth.max(0.0);
        let N: f64 = points.iter().map(column).sum();
        if N <= 0.0 {
            return None;
        }
        let mut m = Motion { sides, sense: self.sense(), ..Motion::at_rest(sides) };
        for p in points {
            let share = column(p) / N;
            // what the whole gives or takes: the rates of the depths do not add up to it where columns point to both faces of an edge
            m.V -= m.sense * p.normal.dot(relative(sides, p.point)) * (p.area * p.depth.max(0.0) / N);
            m.drift += (m.velocity(0, p.point) + m.velocity(1, p.point)) * (0.5 * share);
            m.x += p.point * share;
            m.n += p.axis * share;
        }
        m.g = points.iter().map(|p| m.flat(slope(p)) * (column(p) / N)).sum();
        // slopes over the patch: facets have one each, what they are facets of has none that jumps
        let (mut M, mut B, mut jumps) = (Mat3::ZERO, Mat3::ZERO, 0.0);
        for p in points {
            let (share, x, g) = (column(p) / N, m.flat(p.point - m.x), m.flat(slope(p)) - m.g);
            M += outer(x, x * share);
            B += outer(g, x * share);
            jumps += g.length_squared() * share;
        }
        let spread = M.x_axis.x + M.y_axis.y + M.z_axis.z;
        if spread > 0.0 {
            m.G = B * (M + Mat3::from_diagonal(Vec3::splat(FLAT * spread))).inverse();
        }
        m.v = points.iter().map(|p| m.rate(p) * (column(p) / N)).sum();
        // what it travels beyond the mean of both surfaces, least squares: sum p (v - v_mean + u.(g - g_mean))^2
        let (mut C, mut r) = (Mat3::from_diagonal(Vec3::splat(LEAST_SLOPE * LEAST_SLOPE)), Vec3::ZERO);
        let mut smooth = 0.0;
        for p in points {
            let (share, g) = (column(p) / N, m.G * m.flat(p.point - m.x));
            C += outer(g, g * share);
            r -= g * (share * (m.rate(p) - m.v));
            smooth += g.length_squared() * share;
        }
        // several feet, each with slopes of its own, do not travel: they rock
        let [few, most] = ONE_CURVE;
        let rolls = ((smooth / jumps.max(f64::MIN_POSITIVE) - few) / (most - few)).clamp(0.0, 1.0);
        m.u = m.flat(C.inverse() * r) * (rolls * rolls * (3.0 - 2.0 * rolls));
        Some(m)
    }

    /// The foundation at every point.
    fn press(
        &self,
        work: &SurfaceWork,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        energy: f64,
        loads: &mut Vec<Load>,
    ) -> Tally {
        let constants = laws.constants;
        let k = constants.modulus / self.layer();
        let (b, v_s) = (self.hysteresis, constants.rest_speed.max(SLOWEST));
        let c = SLOW_DAMPING * (1.0 - b).max(0.0);
        let (mut tally, sense) = (Tally::default(), self.sense());
        let on_plane = matches!(self.kind, Kind::Ground { .. });
        let Some(motion) = self.motion(work.points(), sides) else { return tally };
        tally.travel = motion.u;
        let slow = |v: f64, whole: f64| {
            let v2 = v * v + whole * whole + v_s * v_s;
            v * v_s * v_s * v_s / (v2 * v2)
        };
        let mass = laws.mass_along(sides, motion.x, motion.n.try_normalize().unwrap_or(Vec3::ZERO));
        let turn = (SMOOTH * SMOOTH * 2.0 * k * energy.max(0.0) / mass).max(SLOWEST * SLOWEST);
        let damped = |v: f64, whole: f64| b * v / (v * v + turn).sqrt() + c * slow(v, whole);
        let whole = (1.0 + damped(motion.V, 0.0)).max(0.0);
        // what rocks is damped along the normal of friction's plane, and not in the mean: columns would push across, the mean feed the closing of the whole; and it is
        // not slow while the whole comes or goes
        let column = |p: &PressurePoint| k * (p.area * p.normal.dot(p.axis)).max(0.0) * p.depth.max(0.0);
        let all: f64 = work.points().iter().map(column).sum();
        let mean = work.points().iter().map(|p| damped(motion.rocking(p), motion.V) * (column(p) / all)).sum::<f64>();
        let beside = |p: &PressurePoint| (damped(motion.rocking(p), motion.V) - mean).max(-whole);
        // friction acts in the plane of a half-space, or of the flatter surface: what rolls does not rub on its own curve, nor a corner on its faces
        let bent = bends(work.points());
        let facing = |p: &PressurePoint| {
            let [own, other] = [p.side as usize, 1 - p.side as usize].map(|side| bent[side] + LEAST_BEND);
            let between = p.normal * other + p.axis * own;
            if on_plane { p.axis } else { between.try_normalize().unwrap_or(p.axis) }
        };
        // nothing pulls: what cannot be taken is not given either, and the sum stays zero
        let (mut given, mut taken) = (0.0, 0.0);
        for p in work.points() {
            let own = column(p) * beside(p);
            (given, taken) = (given + own.max(0.0), taken - own.min(0.0));
        }
        let share = if given > taken { taken / given } else { 1.0 };
        for p in work.points() {
            let elastic = k * p.area * p.depth;
            if elastic <= 0.0 {
                continue;
            }
            let (n, v) = (p.normal * sense, relative(sides, p.point));
            let pressed = elastic * whole;
            tally.add(sides, p.point, n, elastic, pressed, -n.dot(v));
            let (beside, facing) = (beside(p), facing(p));
            let rocking = column(p) * if beside > 0.0 { share * beside } else { beside };
            let along = facing * sense;
            tally.add(sides, p.point, along, 0.0, rocking, -along.dot(v));
            let share = p.normal.dot(facing).max(0.0);
            let weight = p.area * p.depth * share;
            let force = (pressed * share + rocking).max(0.0);
            loads.push(Load { point: p.point, normal: along, weight, force });
        }
        tally
    }

    /// A law of the overlap of each region, at its centroid and along its mean normal; friction over the points of the region.
    fn press_regions(
        &self,
        work: &SurfaceWork,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        loads: &mut Vec<Load>,
    ) -> Tally {
        let (mut tally, sense) = (Tally::default(), self.sense());
        tally.travel = self.motion(work.points(), sides).map_or(Vec3::ZERO, |motion| motion.u);
        for (index, region) in work.regions().iter().enumerate() {
            if region.volume <= 0.0 {
                continue;
            }
            let n = region.normal * sense;
            let v = -n.dot(relative(sides, region.centroid));
            let area = if region.area > 0.0 { region.area } else { region.volume / region.extent };
            let geometry = NormalGeometry {
                depth: region.extent,
                radius: (area / std::f64::consts::PI).sqrt(),
                volume: region.volume,
                extent: region.extent,
                layer: self.layer(),
                sink: f64::NAN,
            };
            let force = laws.normal.force(&geometry, v, laws.memory, laws.constants);
            tally.add(sides, region.centroid, n, force.elastic, force.total(), v);
            let points = || work.points().iter().filter(|p| p.region == index as u32 && p.depth > 0.0);
            let weight: f64 = points().map(|p| p.area * p.depth).sum();
            for p in points() {
                let own = p.area * p.depth;
                loads.push(Load { point: p.point, normal: n, weight: own, force: force.total() * own / weight });
            }
        }
        tally
    }

    /// Friction over the points under load.
    fn rub(
        &self,
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        springs: &Springs,
        loads: &[Load],
        travel: Vec3,
        reading: &mut SurfaceReading,
    ) {
        let (law, c) = (laws.friction, laws.coefficients);
        let add = |point: Vec3, force: Vec3, reading: &mut SurfaceReading| {
            reading.friction.force += force;
            reading.total += force;
            reading.torques[0] -= (point - sides[0].p).cross(force);
            reading.torques[1] += (point - sides[1].p).cross(force);
        };
        if !law.has_springs() {
            // the published curves at every point: spin is what their sum makes of it
            let mut lost = 0.0;
            for l in loads {
                let v = relative(sides, l.point);
                let input = FrictionInput {
                    normal: l.normal,
                    N: l.force,
                    elastic: l.force,
                    depth: reading.mean_depth,
                    closing_speed: -l.normal.dot(v),
                    radius: 0.0,
                    patch_radius: 0.0,
                    lever: 0.0,
                    exponent: 1.0,
                    damping: 0.0,
                    damping_speed: 1.0,
                    v_t: v - l.normal * l.normal.dot(v),
                    omega: Vec3::ZERO,
                };
                let f = law.evaluate(c, &input, springs, Default::default()).force;
                lost -= f.dot(input.v_t);
                add(l.point, f, reading);
            }
            reading.friction.sliding = lost;
            return;
        }
        let o = sides[self.reference].p;
        let k_0 = c.kappa * c.patch_stiffness;
        if k_0 <= 0.0 || c.mu <= 0.0 {
            return;
        }
        let inertia = k_0 * self.size * self.size;
        let (delta, theta) = (springs.f / k_0, springs.roll / inertia);
        let N: f64 = loads.iter().map(|l| l.force).sum();
        let g = (reading.area / (std::f64::consts::PI * self.size * self.size)).sqrt().max(SMALLEST_PATCH);
        let omega = (g * g * k_0 / c.mass.max(f64::MIN_POSITIVE)).sqrt();
        let T = 2.0 * STICK_RATIO / omega;
        let n = loads.iter().map(|l| l.normal * (l.force / N)).sum::<Vec3>();
        // springs and slip of the whole, and gamma times those about its middle: spin alone is held with mu N times the mean distance
        let (mut zz, mut vv, mut both) = (0.0, 0.0, 0.0);
        let (mut z_mean, mut v_mean, mut middle, mut second) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
        for l in loads {
            let (z, v) = at(l, o, delta, theta, sides);
            let (s, r) = (l.force / N, l.point - o);
            zz += s * z.length_squared();
            vv += s * v.length_squared();
            both += s * (z + v * (T * g)).length_squared();
            (z_mean, v_mean, middle) = (z_mean + s * z, v_mean + s * v, middle + s * r);
            second += Mat3::from_cols(r * (s * r.x), r * (s * r.y), r * (s * r.z));
        }
        second -= Mat3::from_cols(middle * middle.x, middle * middle.y, middle * middle.z);
        let gamma = patch_gamma(reading.area, &second);
        let held = |all: f64, mean: Vec3| mean.length_squared() + gamma * (all - mean.length_squared()).max(0.0);
        let (zz, vv, both) = (held(zz, z_mean), held(vv, v_mean), held(both, z_mean + v_mean * (T * g)));
        // in the plane of its point
        let acts = |l: &Load, x: Vec3, mean: Vec3| {
            let x = mean + (x - mean) * gamma;
            x - l.normal * l.normal.dot(x)
        };
        let (limit, V) = (c.mu * N, vv.sqrt());
        let v_at = |k: usize| sides[k].v + sides[k].w.cross(o - sides[k].p);
        let (v_o, w) = (v_at(1) - v_at(0), sides[1].w - sides[0].w);
        if laws.slipping {
            let end = STICK_SAFETY * (2.0 * STICK_RATIO).min(1.0) * limit * omega / (g * g * k_0);
            let scale = limit / V.max(0.1 * end);
            let mut power = 0.0;
            for l in loads {
                let (_, v) = at(l, o, delta, theta, sides);
                let f = acts(l, v, v_mean) * (-scale * l.force / N);
                power -= f.dot(v);
                add(l.point, f, reading);
            }
            reading.friction.sliding = power;
            reading.friction.gear = g;
            reading.friction.slip_margin = 1.0 - V / end;
            // springs that go on with the force: k_0 g (z + T g v) = scale v
            let stretch = scale / (k_0 * g) - T * g;
            reading.stick = Springs { f: v_o * (stretch * k_0), spin: 0.0, roll: w * (stretch * inertia) };
            return;
        }
        let limit = limit * (c.mu_static / c.mu).max(1.0);
        let over = (k_0 * g * both.sqrt() / limit).max(1.0);
        // what travels leaves its springs behind after its own length
        let left = travel.length() / (reading.area / std::f64::consts::PI).sqrt();
        let give = YIELD_RATE * omega * (over.min(SLIP_LOAD) - 1.0) + left;
        let mut power = 0.0;
        for l in loads {
            let (z, v) = at(l, o, delta, theta, sides);
            let f = acts(l, z + v * (T * g), z_mean + v_mean * (T * g)) * (-k_0 * g / over * l.force / N);
            power -= f.dot(v);
            add(l.point, f, reading);
        }
        // springs do not stretch with the approach along the mean normal: no point of a flat patch sees it
        let approach = n.dot(v_o);
        reading.friction.sliding = power;
        reading.friction.energy = 0.5 * k_0 * zz;
        reading.friction.gear = g;
        reading.friction.yields = over > 1.0;
        reading.friction.slip_margin = over * over / (SLIP_LOAD * SLIP_LOAD) - 1.0;
        // the field goes along with the mean of the two motions, and with the patch
        let w_mean = 0.5 * (sides[0].w + sides[1].w);
        let drift = sides[self.reference].v - 0.5 * (v_at(0) + v_at(1)) - travel;
        let delta_rate = (v_o - n * approach) * g - delta * give + w_mean.cross(delta) + theta.cross(drift);
        let theta_rate = w * g - theta * give + w_mean.cross(theta);
        reading.friction.rates = Springs { f: delta_rate * k_0, spin: 0.0, roll: theta_rate * inertia };
    }
}

/// sigma: how much each surface bends over the patch, 1 - |mean of its normals| (docs/theory/contact.md, after eq. 31) [-].
fn bends(points: &[PressurePoint]) -> [f64; 2] {
    let (mut normals, mut all) = ([Vec3::ZERO; 2], 0.0);
    for p in points.iter().filter(|p| p.depth > 0.0) {
        let weight = p.area * p.depth;
        normals[p.side as usize] += p.normal * weight;
        normals[1 - p.side as usize] += p.axis * weight;
        all += weight;
    }
    normals.map(|n| (1.0 - n.length() / all).max(0.0))
}

fn count(regions: &[Region]) -> RegionCount {
    let volumes = || regions.iter().map(|r| r.volume).filter(|v| *v > 0.0);
    let least = volumes().fold(f64::INFINITY, f64::min) / volumes().sum::<f64>();
    RegionCount { number: volumes().count() as u32, least: if least.is_finite() { least } else { 0.0 } }
}

/// b of the hysteresis that has this restitution.
fn hysteresis(restitution: f64) -> f64 {
    if restitution >= 1.0 {
        return 0.0;
    }
    let wanted = 2.0 * libm::log(restitution.max(RESTITUTION_MIN));
    // r = (t/(1 - t))^2, midpoints
    const POINTS: usize = 128;
    let logarithm = |b: f64| {
        let mut sum = 0.0;
        for i in 0..POINTS {
            let t = (i as f64 + 0.5) / POINTS as f64;
            let root = t / (1.0 - t);
            let r = root * root;
            let q = root / (r + SMOOTH * SMOOTH).sqrt();
            // nothing pulls
            let back = r + (1.0 - b * q).max(0.0);
            let dr = 2.0 * root / ((1.0 - t) * (1.0 - t)) / POINTS as f64;
            sum += (1.0 / (1.0 + r + b * q) - 1.0 / back) * dr;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..40 {
        let b = 0.5 * (low + high);
        (low, high) = if logarithm(b) > wanted { (b, high) } else { (low, b) };
    }
    low
}

/// How two bodies move against each other over a patch, by the pressure there.
struct Motion<'s> {
    sides: [&'s Kinematics; 2],
    sense: f64,
    /// V = U'/N: mean closing speed [m/s].
    V: f64,
    /// Mean of both surfaces' velocities [m/s].
    drift: Vec3,
    /// Centre of pressure [m].
    x: Vec3,
    /// Mean direction in which the depth grows; shorter than one where they differ.
    n: Vec3,
    /// Slope g + G (x - x_mean) of the depth along the surfaces [-, 1/m].
    g: Vec3,
    G: Mat3,
    /// Mean rate of the depth where the patch travels with the mean of both surfaces [m/s].
    v: f64,
    /// What it travels beyond that [m/s].
    u: Vec3,
}

impl<'s> Motion<'s> {
    fn at_rest(sides: [&'s Kinematics; 2]) -> Motion<'s> {
        let (x, n, g, u, drift) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        Motion { sides, sense: 1.0, V: 0.0, drift, x, n, g, G: Mat3::ZERO, v: 0.0, u }
    }

    fn velocity(&self, body: usize, x: Vec3) -> Vec3 {
        self.sides[body].v + self.sides[body].w.cross(x - self.sides[body].p)
    }

    /// What of a vector lies in the patch.
    fn flat(&self, x: Vec3) -> Vec3 {
        x - self.n * self.n.dot(x)
    }

    fn deepening(&self, p: &PressurePoint) -> f64 {
        -self.sense * p.axis.dot(relative(self.sides, p.point))
    }

    /// Rate of the depth in a patch that travels with the mean of both surfaces [m/s].
    fn rate(&self, p: &PressurePoint) -> f64 {
        let body = if self.sense > 0.0 { p.side as usize } else { 1 - p.side as usize };
        let g = self.g + self.G * self.flat(p.point - self.x);
        self.deepening(p) + g.dot(self.drift - self.velocity(body, p.point))
    }

    /// w: what of the rate is neither the mean nor travel [m/s].
    fn rocking(&self, p: &PressurePoint) -> f64 {
        self.rate(p) - self.v + self.u.dot(self.G * self.flat(p.point - self.x))
    }
}

/// Slope of the depth along the surface of a point [-].
fn slope(p: &PressurePoint) -> Vec3 {
    let slope = p.axis - p.normal * p.normal.dot(p.axis);
    if p.side == 0 { slope } else { -slope }
}

/// a b^T
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Stretch and velocity of a point in its plane.
fn at(l: &Load, o: Vec3, delta: Vec3, theta: Vec3, sides: [&Kinematics; 2]) -> (Vec3, Vec3) {
    let z = delta + theta.cross(l.point - o);
    let v = relative(sides, l.point);
    (z - l.normal * l.normal.dot(z), v - l.normal * l.normal.dot(v))
}

/// Velocity of 2 relative to 1 at a point [m/s].
fn relative(sides: [&Kinematics; 2], point: Vec3) -> Vec3 {
    let [k1, k2] = sides;
    (k2.v + k2.w.cross(point - k2.p)) - (k1.v + k1.w.cross(point - k1.p))
}

/// Sums over the points.
#[derive(Default)]
struct Tally {
    elastic: f64,
    total: f64,
    elastic_power: f64,
    damping_power: f64,
    force: Vec3,
    torques: [Vec3; 2],
    /// u: what the patch travels over both surfaces [m/s].
    travel: Vec3,
}

impl Tally {
    fn add(&mut self, sides: [&Kinematics; 2], point: Vec3, normal: Vec3, elastic: f64, force: f64, closing: f64) {
        self.elastic += elastic;
        self.total += force;
        self.elastic_power += elastic * closing;
        self.damping_power += (force - elastic) * closing;
        let f = normal * force;
        self.force += f;
        self.torques[0] -= (point - sides[0].p).cross(f);
        self.torques[1] += (point - sides[1].p).cross(f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impacts on springs F = x^n, integrated step by step, rebound with the restitution wanted.
    #[test]
    fn restitution_for_any_form() {
        for e in [0.95, 0.8, 0.5, 0.3, 0.1] {
            let b = hysteresis(e);
            for n in [1.0, 2.0, 3.0] {
                let (mut x, mut v, dt) = (0.0, 1.0, 2e-5);
                loop {
                    let energy = libm::pow(x, n + 1.0) / (n + 1.0);
                    let fast = SMOOTH * SMOOTH * 2.0 * energy;
                    let force = libm::pow(x, n) * (1.0 + b * v / (v * v + fast).sqrt()).max(0.0);
                    v -= dt * force;
                    x += dt * v;
                    if x <= 0.0 {
                        break;
                    }
                }
                assert!((-v - e).abs() < 3e-3, "{e} {n}: {}", -v);
            }
        }
        assert_eq!(hysteresis(1.0), 0.0);
    }
}
