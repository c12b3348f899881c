//! The patch over which two surfaces touch, as polygons: for those who look at a contact or draw it.

use super::cut::{Cut, Link};
use super::foundation::{PressurePoint, shares};
use super::region::NONE;
use super::surface::Surface;
use super::{SurfaceWork, foundation, half_space, half_space_foundation, terrain_foundation};
use crate::shape::HeightGrid;
use crate::{Pose, Vec3};

/// The part of one triangle that lies inside the other solid.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchPolygon {
    /// The surface it lies on: 0 for 1, 1 for 2.
    pub side: u8,
    /// Its triangle there.
    pub triangle: u32,
    /// Region of the overlap, an index into [`SurfaceWork::regions`]; `u32::MAX` in one without volume.
    pub region: u32,
    /// Corners in the world [m]: outlines counter-clockwise as seen from outside its solid, holes clockwise.
    pub rings: Vec<Vec<Vec3>>,
    /// Unit normal from 1 to 2 in the world [-].
    pub normal: Vec3,
    /// Area [m^2].
    pub area: f64,
    /// Mean depth [m].
    pub depth: f64,
    /// Centre of pressure, or the first corner where nothing presses [m].
    pub center: Vec3,
    /// Its share of the force on body 2 over k [m^3]: the sum over the polygons is [`super::Foundation::force`].
    pub push: Vec3,
}

/// Polygons of the patch of two placed surfaces, first those on surface 1, by triangle; of the finer one where it alone carries.
pub fn surface_patch(
    surface1: &Surface,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    work: &mut SurfaceWork,
) -> Vec<PatchPolygon> {
    foundation(surface1, X_w1, surface2, X_w2, Vec3::ZERO, work);
    let surfaces = [surface1, surface2];
    let X = [X_w1, X_w2];
    let mut patch = Vec::new();
    let shares = shares(surfaces);
    for side in (0..2).filter(|side| shares[*side] > 0.0) {
        for part in &work.cut.sides[side].parts {
            let s = surfaces[side];
            let links = &work.cut.links[part.first as usize..(part.first + part.count) as usize];
            let rings = if links.is_empty() {
                vec![s.corners(part.face).map(|c| X[side].point(c)).to_vec()]
            } else {
                rings(&work.cut, links, X_w1)
            };
            let normal = X[side].vector(s.normals[part.face as usize]);
            let normal = if side == 0 { normal } else { -normal };
            patch.push(PatchPolygon { side: side as u8, triangle: part.face, rings, normal, ..EMPTY });
        }
    }
    load(&mut patch, work.points(), 1.0 / shares[0].max(shares[1]));
    patch
}

/// Polygons of a surface, body 2, below the plane of a half-space, body 1, by triangle.
pub fn half_space_patch(X_w1: &Pose, surface2: &Surface, X_w2: &Pose, work: &mut SurfaceWork) -> Vec<PatchPolygon> {
    half_space_foundation(X_w1, surface2, X_w2, Vec3::ZERO, work);
    let n_w = X_w1.vector(Vec3::Z);
    let (m, level) = (X_w2.vector_into(n_w), n_w.dot(X_w1.position - X_w2.position));
    let mut below: Vec<u32> = work.points().iter().map(|p| p.id[1]).collect();
    below.sort_unstable();
    below.dedup();
    let polygon = |&triangle: &u32| {
        let (corners, count) = half_space::clip(&surface2.corners(triangle), m, level);
        let ring = corners[..count].iter().map(|c| X_w2.point(*c)).collect();
        let normal = -X_w2.vector(surface2.normals[triangle as usize]);
        PatchPolygon { side: 1, triangle, rings: vec![ring], normal, ..EMPTY }
    };
    let mut patch: Vec<PatchPolygon> = below.iter().map(polygon).collect();
    load(&mut patch, work.points(), 1.0);
    patch
}

/// Polygons of a surface, body 2, below the ground of a height grid, body 1, by triangle: a ring for every triangle of the ground.
pub fn terrain_patch(
    grid: &HeightGrid,
    X_w1: &Pose,
    surface2: &Surface,
    X_w2: &Pose,
    work: &mut SurfaceWork,
) -> Vec<PatchPolygon> {
    terrain_foundation(grid, X_w1, surface2, X_w2, Vec3::ZERO, work);
    let mut patch: Vec<PatchPolygon> = Vec::new();
    // pieces of a triangle stand together
    for pieces in work.terrain.pieces.chunk_by(|a, b| a.face == b.face) {
        let triangle = pieces[0].face;
        let rings = pieces.iter().map(|p| p.corners().iter().map(|c| X_w1.point(*c)).collect()).collect();
        let normal = -X_w2.vector(surface2.normals[triangle as usize]);
        patch.push(PatchPolygon { side: 1, triangle, rings, normal, ..EMPTY });
    }
    load(&mut patch, work.points(), 1.0);
    patch
}

const EMPTY: PatchPolygon = PatchPolygon {
    side: 0,
    triangle: 0,
    region: NONE,
    rings: Vec::new(),
    normal: Vec3::ZERO,
    area: 0.0,
    depth: 0.0,
    center: Vec3::ZERO,
    push: Vec3::ZERO,
};

/// Sums the points of each polygon; one point is `1/share` of the area it stands for.
fn load(patch: &mut [PatchPolygon], points: &[PressurePoint], share: f64) {
    patch.sort_by_key(|p| (p.side, p.triangle));
    let mut weights = vec![0.0; patch.len()];
    for p in points {
        let key = (p.side, p.id[p.side as usize]);
        let Ok(i) = patch.binary_search_by_key(&key, |q| (q.side, q.triangle)) else { continue };
        let q = &mut patch[i];
        let weight = p.area * p.depth;
        weights[i] += weight;
        q.area += share * p.area;
        q.center += p.point * weight;
        q.push += p.normal * weight;
        q.region = p.region;
    }
    for (q, weight) in patch.iter_mut().zip(weights) {
        q.center = if weight > 0.0 {
            q.center / weight
        } else {
            q.rings.first().and_then(|r| r.first()).copied().unwrap_or_default()
        };
        q.depth = if q.area > 0.0 { share * weight / q.area } else { 0.0 };
    }
}

/// Closed rings of a chain: every end of a link is the start of another one.
fn rings(cut: &Cut, links: &[Link], X_w1: &Pose) -> Vec<Vec<Vec3>> {
    let mut left: Vec<&Link> = links.iter().collect();
    let mut rings = Vec::new();
    while let Some(first) = left.pop() {
        let (mut ring, mut end) = (vec![first.a], first.b);
        while end != first.a {
            // links of one region go together where rings touch in a point
            let next = |same: bool| {
                let root = cut.flat_root(first.node);
                left.iter().position(|l| l.a == end && (!same || cut.flat_root(l.node) == root))
            };
            let Some(k) = next(true).or_else(|| next(false)) else { break };
            let link = left.swap_remove(k);
            ring.push(link.a);
            end = link.b;
        }
        if ring.len() > 2 {
            rings.push(ring.into_iter().map(|p| X_w1.point(p)).collect());
        }
    }
    rings
}
