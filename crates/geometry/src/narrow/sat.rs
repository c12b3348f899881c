//! Directions in which bodies part (separating axes): the fifteen of two boxes, and faces of hulls that prove themselves.

use super::convex::Witness;
use crate::shape::{Facet, Hull};
use crate::{Mat3, Vec3};

/// Shorter cross products of unit edges are skipped: parallel edges part along a face normal [-].
const PARALLEL: f64 = 1e-24;

/// Depths this near to each other are equal, as a share of the size [-].
const TIE: f64 = 1e-14;

/// The two best directions in which boxes part, in frame 1: a lower bound of their signed distance each.
pub(crate) struct Axes {
    /// Signed distance along a face normal and that normal, from 1 to 2 [m], [-].
    pub face: (f64, Vec3),
    /// The same for a cross product of two edges.
    pub edge: (f64, Vec3),
}

/// Hulls with more faces than this are better asked for their nearest points at once.
const FEW_FACES: usize = 128;

/// The face of two hulls over which the other one's deepest corner stands, where that proves it: signed distance and unit normal
/// from 1 to 2, in frame 1 [m], [-]. A distance of `margin` and more is proven by any face. Faces of corners that are flat but for
/// rounding count as their mean plane.
pub(crate) fn face_of_hulls(hull1: &Hull, hull2: &Hull, R_12: &Mat3, p_12: Vec3, margin: f64) -> Option<(f64, Vec3)> {
    if hull1.facets().len().max(hull2.facets().len()) > FEW_FACES {
        return None;
    }
    let to_2 = |v: Vec3| R_12.mul_transpose_vec3(v);
    let in_2 = over_face(hull1, p_12, margin, |n| {
        let b_2 = hull2.vertices()[hull2.farthest_vertex(to_2(-n)) as usize];
        p_12 + *R_12 * b_2
    });
    if in_2.is_some() {
        return in_2;
    }
    let p_21 = to_2(-p_12);
    let in_1 = over_face(hull2, p_21, margin, |n| {
        let a = hull1.vertices()[hull1.farthest_vertex(*R_12 * -n) as usize];
        p_21 + to_2(a)
    });
    in_1.map(|(gap, n)| (gap, *R_12 * -n))
}

/// The face of `hull` that looks at `other` most, and how far from it the other body is, which reaches `deepest(n)` against n.
///
/// The corner is m inside the border of the face: the body of differences has a disc of radius m around the foot of the origin on
/// its plane with this normal. Apart (gap >= 0), that foot is the nearest point. Overlapping by d = -gap, no other plane around the
/// body is nearer to the origin: one turned by t is d cos t + m sin t away for the disc's sake, not less than d up to
/// t0 = 2 atan(m/d), and -L cos t - s sin t for the sake of the far end of the body, L behind the origin and s beside its line,
/// not less than d from t0 on if (m^2 - d^2) L - 2 m d s >= d (m^2 + d^2).
fn over_face(hull: &Hull, other: Vec3, margin: f64, deepest: impl Fn(Vec3) -> Vec3) -> Option<(f64, Vec3)> {
    let looks = |f: &Facet| f.normal.dot(other) - f.offset;
    let (mut face, mut most) = (hull.facets().first()?, f64::NEG_INFINITY);
    for f in hull.facets() {
        let along = looks(f);
        if along > most {
            (face, most) = (f, along);
        }
    }
    let n = face.normal;
    let corner = deepest(n);
    let gap = n.dot(corner) - face.offset;
    if gap >= margin {
        return Some((gap, n));
    }
    let outline = hull.outline(face);
    let mut m = f64::INFINITY;
    for (k, &i) in outline.iter().enumerate() {
        let (a, b) = (hull.vertices()[i as usize], hull.vertices()[outline[(k + 1) % outline.len()] as usize]);
        let inward = n.cross(b - a);
        m = m.min(inward.dot(corner - a) / inward.length());
    }
    if !(m >= 0.0 && m.is_finite()) {
        return None;
    }
    if gap < 0.0 {
        let d = -gap;
        let q = deepest(-n) - hull.vertices()[hull.farthest_vertex(-n) as usize];
        let L = n.dot(q);
        let s = (q - n * L).length();
        if !((m * m - d * d) * L - 2.0 * m * d * s >= d * (m * m + d * d)) {
            return None;
        }
    }
    Some((gap, n))
}

/// Largest signed distances of two boxes along their face normals and along the cross products of their edges.
pub(crate) fn axes(h1: Vec3, h2: Vec3, R_12: &Mat3, p: Vec3) -> Axes {
    // arrays: their numbers are found without asking which
    let cols = [R_12.x_axis, R_12.y_axis, R_12.z_axis];
    let (R, A) = (cols.map(|c| c.to_array()), cols.map(|c| c.abs().to_array()));
    let (half1, half2, at) = (h1.to_array(), h2.to_array(), p.to_array());
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let unit = [Vec3::X, Vec3::Y, Vec3::Z];
    let mut face = (f64::NEG_INFINITY, Vec3::Z);
    for i in 0..3 {
        let s = at[i].abs() - (half1[i] + half2[0] * A[0][i] + half2[1] * A[1][i] + half2[2] * A[2][i]);
        if s > face.0 {
            face = (s, unit[i]);
        }
    }
    for j in 0..3 {
        let s = dot(&at, &R[j]).abs() - (half2[j] + dot(&half1, &A[j]));
        if s > face.0 {
            face = (s, cols[j]);
        }
    }
    let mut edge = (f64::NEG_INFINITY, Vec3::Z);
    for j in 0..3 {
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            let squared = R[j][i1] * R[j][i1] + R[j][i2] * R[j][i2];
            if squared <= PARALLEL {
                continue;
            }
            let reach = half1[i1] * A[j][i2] + half1[i2] * A[j][i1] + half2[j1] * A[j2][i] + half2[j2] * A[j1][i];
            let s = (R[j][i1] * at[i2] - R[j][i2] * at[i1]).abs() - reach;
            // Only those that beat the face matter: compare s/|axis| without the root.
            let beaten = if face.0 < 0.0 { s >= 0.0 || s * s <= face.0 * face.0 * squared } else { s > 0.0 };
            if beaten && s / squared.sqrt() > edge.0 {
                edge = (s / squared.sqrt(), unit[i].cross(cols[j]) / squared.sqrt());
            }
        }
    }
    let towards = |(s, n): (f64, Vec3)| (s, if n.dot(p) < 0.0 { -n } else { n });
    Axes { face: towards(face), edge: towards(edge) }
}

/// Largest of the fifteen signed distances when all are negative: then it is minus the penetration depth. Apart: a direction
/// from 1 to 2 that parts them.
pub(super) fn box_box(h1: Vec3, h2: Vec3, R_12: &Mat3, p: Vec3) -> Result<Witness, Vec3> {
    let R = [R_12.x_axis, R_12.y_axis, R_12.z_axis]; // edges of 2 in 1
    let A = [R[0].abs(), R[1].abs(), R[2].abs()];
    let mut best = f64::NEG_INFINITY;
    let mut axis = (0usize, 0usize); // (0, i): face i of 1; (1, j): face j of 2; (2, 3 i + j): edges
    for i in 0..3 {
        let s = p[i].abs() - (h1[i] + h2.x * A[0][i] + h2.y * A[1][i] + h2.z * A[2][i]);
        if s > best {
            (best, axis) = (s, (0, i));
        }
    }
    for j in 0..3 {
        let s = p.dot(R[j]).abs() - (h2[j] + h1.dot(A[j]));
        if s > best {
            (best, axis) = (s, (1, j));
        }
    }
    if best > 0.0 {
        let n = if axis.0 == 0 { [Vec3::X, Vec3::Y, Vec3::Z][axis.1] } else { R[axis.1] };
        return Err(if n.dot(p) < 0.0 { -n } else { n });
    }
    let tie = TIE * (h1 + h2).max_element();
    for j in 0..3 {
        let (e, a) = (R[j], A[j]);
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            // e_i x R_j has components -R_j[i2] along i1 and R_j[i1] along i2.
            let squared = e[i1] * e[i1] + e[i2] * e[i2];
            if squared <= PARALLEL {
                continue;
            }
            let reach1 = h1[i1] * a[i2] + h1[i2] * a[i1];
            let reach2 = h2[j1] * A[j2][i] + h2[j2] * A[j1][i];
            let along = e[i1] * p[i2] - e[i2] * p[i1];
            let s = along.abs() - (reach1 + reach2);
            if s > 0.0 {
                let n = [Vec3::X, Vec3::Y, Vec3::Z][i].cross(e);
                return Err(if along < 0.0 { -n } else { n });
            }
            // Compare s/|axis| without the root where it cannot win. Edges at right angles repeat the faces: those go first.
            let to_beat = best + tie;
            if to_beat < 0.0 && s * s < to_beat * to_beat * squared {
                (best, axis) = (s / squared.sqrt(), (2, 3 * i + j));
            }
        }
    }
    Ok(match axis {
        (0, i) => face_of_1(i, best, h1, h2, R_12, p),
        (1, j) => {
            // The same seen from box 2.
            let q = -R_12.mul_transpose_vec3(p);
            let f = face_of_1(j, best, h2, h1, &R_12.transpose(), q);
            Witness { gap: best, n: -(*R_12 * f.n), a: p + *R_12 * f.b, b: p + *R_12 * f.a }
        }
        (_, k) => edges(k / 3, k % 3, best, h1, h2, R_12, p),
    })
}

/// Cosines below this count as right angles: box 2 lies flat on the face, with an edge or a face [-].
const FLAT: f64 = 1e-9;

/// Face of box 1 against the deepest corner of box 2.
fn face_of_1(i: usize, gap: f64, h1: Vec3, h2: Vec3, R_12: &Mat3, p: Vec3) -> Witness {
    let mut n = Vec3::ZERO;
    n[i] = if p[i] < 0.0 { -1.0 } else { 1.0 };
    let d = R_12.mul_transpose_vec3(-n);
    let corner = Vec3::new(h2.x.copysign(d.x), h2.y.copysign(d.y), h2.z.copysign(d.z));
    let (mut low, mut high) = (corner, corner);
    for k in 0..3 {
        if d[k].abs() < FLAT {
            (low[k], high[k]) = (-h2[k], h2[k]);
        }
    }
    // A point of the edge or face of box 2 that lies over the face of box 1: go to and fro between the two.
    let mut b_2 = 0.5 * (low + high);
    let mut a = p + *R_12 * b_2;
    for _ in 0..if low == high { 1 } else { TO_AND_FRO } {
        a = (p + *R_12 * b_2).clamp(-h1, h1);
        a[i] = n[i] * h1[i];
        b_2 = R_12.mul_transpose_vec3(a - p).clamp(low, high);
    }
    Witness { gap, n, a, b: a + n * gap }
}

/// Projections between two flat faces: each halves the miss or better unless they share little more than a corner.
const TO_AND_FRO: usize = 30;

/// Edge i of box 1 against edge j of box 2: nearest points of the two lines.
fn edges(i: usize, j: usize, gap: f64, h1: Vec3, h2: Vec3, R_12: &Mat3, p: Vec3) -> Witness {
    let mut u1 = Vec3::ZERO;
    u1[i] = 1.0;
    let u2 = R_12.col(j);
    let c = u1.cross(u2);
    let n = c / c.length();
    let n = if n.dot(p) < 0.0 { -n } else { n };
    let d = R_12.mul_transpose_vec3(-n);
    let mut a = Vec3::new(h1.x.copysign(n.x), h1.y.copysign(n.y), h1.z.copysign(n.z));
    let mut b_2 = Vec3::new(h2.x.copysign(d.x), h2.y.copysign(d.y), h2.z.copysign(d.z));
    a[i] = 0.0;
    b_2[j] = 0.0;
    let b = p + *R_12 * b_2;
    // (b + u2 t - a - u1 s) . u1 = 0 and . u2 = 0
    let (w, k) = (b - a, u1.dot(u2));
    let s = ((w.dot(u1) - k * w.dot(u2)) / c.length_squared()).clamp(-h1[i], h1[i]);
    let a = a + u1 * s;
    Witness { gap, n, a, b: a + n * gap }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::separation;
    use crate::{Pose, Quat, Shape};
    use std::sync::Arc;

    /// Uniform in [-1, 1): SplitMix64 (Steele, Lea, Flood 2014).
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / (1u64 << 63) as f64 - 1.0
    }

    /// A face that proves itself parts hulls as far as the nearest points do: thick ones, plates and needles, apart, touching and deep.
    #[test]
    fn faces_that_prove_themselves_are_the_best() {
        let state = &mut 7;
        let mut found = [0, 0];
        for k in 0..20_000 {
            let mut hull = || {
                let scale = Vec3::new(1.0, 1.0, [1.0, 0.1, 3.0, 1.0][k % 4]);
                let points: Vec<Vec3> =
                    (0..8 + k % 24).map(|_| scale * Vec3::new(random(state), random(state), random(state))).collect();
                Arc::new(Hull::new(&points).unwrap())
            };
            let (hull1, hull2) = (hull(), hull());
            let (shape1, shape2) = (Shape::Hull(hull1.clone()), Shape::Hull(hull2.clone()));
            let mut four = || [random(state), random(state), random(state), random(state)];
            let rotation = Quat::from_array(four()).normalize();
            let X_w2 = Pose { rotation, position: 1.5 * Vec3::from_slice(&four()[..3]) };
            let margin = 0.3;
            let R_12 = Mat3::from_quat(rotation);
            let Some((gap, n)) = face_of_hulls(&hull1, &hull2, &R_12, X_w2.position, margin) else { continue };
            let best = separation(&shape1, &Pose::IDENTITY, &shape2, &X_w2);
            if gap >= margin {
                assert!(best.gap >= gap - 1e-12, "{k}: {gap} of {}", best.gap);
                continue;
            }
            found[(gap < 0.0) as usize] += 1;
            assert!((gap - best.gap).abs() < 1e-9, "{k}: {gap} instead of {}", best.gap);
            assert!(n.dot(best.normal) > 1.0 - 1e-9, "{k}: {n} instead of {}", best.normal);
        }
        assert!(found.iter().all(|&count| count > 150), "{found:?}");
    }
}
