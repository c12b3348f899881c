//! Union, difference and intersection of closed surfaces, by boolmesh, whose results are robust where faces lie in one
//! plane or touch, but whose triangles come in an order that differs from run to run: [`super::flat`] makes them the same.
//! Where planes agree only up to rounding it leaves films, which [`super::film`] takes away.

use super::{SolidError, film, flat};
use crate::{TriMesh, Vec3, mesh};
use boolmesh::prelude::{Manifold, OpType, compute_boolean};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is made of two solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Union,
    Difference,
    Intersection,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::Union => "union",
            Operation::Difference => "difference",
            Operation::Intersection => "intersection",
        }
    }
}

/// Faces nearer than this lie in one plane, as a share of the diagonal of both solids [-].
const FLAT: f64 = 1e-11;
/// The same as a share of the largest coordinate: some roundings of it [-].
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Walls and cracks thinner than this are refused, as a share of the diagonal, where they are too thick to be rounding [-].
const THIN: f64 = 1e-9;

/// The operation on two closed surfaces; an empty result is an error.
pub(super) fn combine(a: &TriMesh, b: &TriMesh, operation: Operation) -> Result<TriMesh, SolidError> {
    let vanishes = SolidError::Vanishes { operation: operation.name() };
    // Coordinates about the middle of both: the tolerance of the library grows with the distance from the origin.
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for v in a.vertices.iter().chain(&b.vertices) {
        (low, high) = (low.min(*v), high.max(*v));
    }
    let o = 0.5 * (low + high);
    let size = (high - low).length();
    let rounding = ROUNDING * low.abs().max(high.abs()).max_element();
    let near = rounding.max(FLAT * size);
    if !boxes_meet(a, b, near.max(THIN * size)) {
        return match operation {
            Operation::Intersection => Err(vanishes),
            Operation::Difference => Ok(a.clone()),
            Operation::Union => {
                let mut both = a.clone();
                both.append(b, |v| v);
                Ok(both)
            }
        };
    }
    // Where faces nearly agree the library may fail, or cut a corner off without a word, but hardly ever in all orders of axes.
    let frame = Frame { o, size, rounding, near };
    let (mut doubtful, mut error): (Vec<TriMesh>, _) = (Vec::new(), None);
    for turn in 0..3 {
        match frame.combine(a, b, operation, turn) {
            Ok(mesh) if !film::has_foreign_faces(&mesh, &[a, b], near) => return Ok(mesh),
            Ok(mesh) => {
                let same = |m: &TriMesh| (m.volume() - mesh.volume()).abs() <= 1e-9 * mesh.volume().abs();
                if let Some(k) = doubtful.iter().position(same) {
                    return Ok(doubtful.swap_remove(k));
                }
                doubtful.push(mesh);
            }
            Err(why @ (SolidError::Boolean { .. } | SolidError::Film { .. })) => drop(error.get_or_insert(why)),
            Err(why) => return Err(why),
        }
    }
    let why = "the result has faces that neither solid has".into();
    Err(error.unwrap_or(SolidError::Boolean { operation: operation.name(), why }))
}

/// Where two solids lie.
struct Frame {
    /// Middle of the box around both, and its diagonal [m].
    o: Vec3,
    size: f64,
    /// Rounding of coordinates, and distance up to which faces lie in one plane [m].
    rounding: f64,
    near: f64,
}

impl Frame {
    /// The operation with coordinates x, y, z in the order that starts at number `turn`.
    fn combine(&self, a: &TriMesh, b: &TriMesh, operation: Operation, turn: usize) -> Result<TriMesh, SolidError> {
        let Frame { o, size, rounding, near } = *self;
        let failed = |why: String| SolidError::Boolean { operation: operation.name(), why };
        let vanishes = SolidError::Vanishes { operation: operation.name() };
        let kind = match operation {
            Operation::Union => OpType::Add,
            Operation::Difference => OpType::Subtract,
            Operation::Intersection => OpType::Intersect,
        };
        // The library promises errors, but a panic in it must not end a program that reads a file.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let (mut p, q) = (manifold(a, o, turn)?, manifold(b, o, turn)?);
            p.eps = p.eps.max(rounding);
            compute_boolean(&p, &q, kind)
        }))
        .map_err(|_| failed("it found no consistent surface".into()))?;
        let made = match made {
            Ok(made) => made,
            Err(why) if why.contains("empty") => return Err(vanishes),
            Err(why) => return Err(failed(why)),
        };
        let back = |mut p: [f64; 3]| {
            p.rotate_right(turn);
            o + Vec3::from_array(p)
        };
        let mut mesh = TriMesh {
            vertices: made.ps.iter().map(|p| back([p.x, p.y, p.z])).collect(),
            triangles: made.hs.chunks_exact(3).map(|t| [0, 1, 2].map(|k| t[k].tail as u32)).collect(),
        };
        mesh.triangles.retain(|t| t.iter().all(|i| (*i as usize) < mesh.vertices.len()));
        if mesh.triangles.is_empty() || !(mesh.volume().abs() > 1e-15 * size * size * size) {
            return Err(vanishes);
        }
        let mut mesh = flat::tidied(&mesh, rounding);
        let thin = near.max(THIN * size);
        let films = film::films(&mesh, thin);
        // A mesh with triangles half as high is refused.
        let needles = film::beside_needles(&mesh, 2.0 * mesh::THIN * size);
        if !films.is_empty() || !needles.is_empty() {
            let films = films.iter().filter(|film| film.thickness <= near).map(|film| film.triangle);
            let beside: Vec<u32> = films.chain(needles).collect();
            mesh = film::without(&mesh, &beside, near).map_or(mesh, |mesh| flat::tidied(&mesh, rounding));
            if let Some(film::Film { at, thickness, .. }) = film::films(&mesh, thin).first().copied() {
                return Err(SolidError::Film { operation: operation.name(), at, thickness });
            }
            if mesh.triangles.is_empty() {
                return Err(vanishes);
            }
        }
        Ok(mesh)
    }
}

fn boxes_meet(a: &TriMesh, b: &TriMesh, near: f64) -> bool {
    let bounds = |m: &TriMesh| {
        let mut all = crate::Aabb::EMPTY;
        m.vertices.iter().for_each(|v| all = all.union(&crate::Aabb { min: *v, max: *v }));
        all
    };
    let (a, mut b) = (bounds(a), bounds(b));
    (b.min, b.max) = (b.min - near, b.max + near);
    a.overlaps(&b)
}

/// The library joins corners with equal bits; those of parts that touch are kept apart by the last bit.
fn manifold(mesh: &TriMesh, o: Vec3, turn: usize) -> Result<Manifold, String> {
    let mut seen: HashMap<[u64; 3], u32> = HashMap::new();
    let mut positions = Vec::with_capacity(3 * mesh.vertices.len());
    for v in &mesh.vertices {
        let mut p = *v - o + Vec3::ZERO;
        let count = seen.entry(p.to_array().map(f64::to_bits)).or_insert(0);
        for _ in 0..*count {
            p.x = p.x.next_up();
        }
        *count += 1;
        let mut p = p.to_array();
        p.rotate_left(turn);
        positions.extend(p);
    }
    let indices: Vec<usize> = mesh.triangles.iter().flatten().map(|i| *i as usize).collect();
    Manifold::new(&positions, &indices)
}
