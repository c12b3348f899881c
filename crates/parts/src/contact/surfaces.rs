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
//!
//! This file has the pair, its geometry and its patch; pressure is in `surfaces/press.rs`, the motion over the patch in `surfaces/motion.rs`,
//! friction in `surfaces/friction.rs`, what they add up to in `surfaces/reading.rs`.

mod friction;
mod motion;
mod press;
mod reading;

pub use reading::{RegionCount, SurfaceReading};

use super::collider::Collider;
use super::friction::{FrictionConstants, FrictionLaw};
use super::normal::{NormalConstants, NormalLaw, NormalMemory};
use crate::kinematics::Kinematics;
use press::{Load, hysteresis};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tippe_geometry::{
    Foundation, HeightGrid, Mat3, PatchPolygon, Pose, Shape, Surface, SurfaceWork, Vec3, foundation,
    half_space_foundation, half_space_patch, surface_distance, surface_overlap, surface_patch, terrain_foundation,
    terrain_patch,
};

/// Where this share of what pushes surfaces apart pulls them deeper, one has passed the middle of the other [-] ...
const BEYOND: f64 = 0.3;
/// ... if they are deeper than this share of their size: what slides off an edge leaves less and less of itself behind it [-].
const DEEP: f64 = 0.005;
/// Surfaces are brought together by this share of the size beyond the first touch, to see where they meet [-].
const MET: f64 = 1e-6;
/// Surfaces nearer than this share of the size touch: their distance has no direction but rounding [-].
const TOUCH: f64 = 1e-9;

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
    pub(super) fn mass_along(&self, sides: [&Kinematics; 2], point: Vec3, n: Vec3) -> f64 {
        let yields = |k: usize| {
            let (inverse, turn) = (&self.inverse[k], sides[k].R.transpose() * (point - sides[k].p).cross(n));
            inverse.0 + turn.dot(inverse.1 * turn)
        };
        1.0 / (yields(0) + yields(1))
    }
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
}
