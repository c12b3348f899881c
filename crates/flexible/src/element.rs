//! Isoparametric triangles and tetrahedra.
//!
//!   u = sum N_i u_i,    K_ij = int lambda grad N_i grad N_j^T + mu (grad N_j grad N_i^T + grad N_i . grad N_j 1),
//!   M_ij = int rho N_i N_j 1,    K_sigma,ij = int grad N_i . sigma grad N_j 1
//! (Zienkiewicz, Taylor 2000, volume 1, chapters 4, 5 and 8; volume 2, 10.5 for K_sigma). In plane stress lambda is
//! 2 lambda mu/(lambda + 2 mu). Stiffness by 4 (3) points, exact on straight sides; mass by 15 (7) points of degree 5
//! (Keast 1986, number 6; Radon 1948), as N_i N_j are of degree 4.

use crate::mesh::Kind;
use tippe_geometry::Vec3;

/// A point of a quadrature in the coordinates of the element, with its weight.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Coordinates: corners at 0, e_1, e_2, e_3.
    pub at: [f64; 3],
    /// Weight; they sum to 1/2 or 1/6.
    pub weight: f64,
}

/// Shape functions and their derivatives by the coordinates of the element.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// N by node.
    pub N: [f64; 10],
    /// dN by node.
    pub dN: [[f64; 3]; 10],
}

/// Shape functions at a point.
pub fn shape(kind: Kind, [x, y, z]: [f64; 3]) -> Shape {
    let mut out = Shape { N: [0.0; 10], dN: [[0.0; 3]; 10] };
    let solid = kind.dimension() == 3;
    let z = if solid { z } else { 0.0 };
    let l = [1.0 - x - y - z, x, y, z];
    let dl = [[-1.0, -1.0, if solid { -1.0 } else { 0.0 }], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let corners = kind.corners();
    for i in 0..corners {
        match kind.quadratic() {
            false => (out.N[i], out.dN[i]) = (l[i], dl[i]),
            true => {
                out.N[i] = l[i] * (2.0 * l[i] - 1.0);
                out.dN[i] = dl[i].map(|d| d * (4.0 * l[i] - 1.0));
            }
        }
    }
    if kind.quadratic() {
        for (k, &[i, j]) in kind.sides().iter().enumerate() {
            out.N[corners + k] = 4.0 * l[i] * l[j];
            for c in 0..3 {
                out.dN[corners + k][c] = 4.0 * (dl[i][c] * l[j] + l[i] * dl[j][c]);
            }
        }
    }
    out
}

/// Gradients of the shape functions in space [1/m], and the determinant of the map.
pub fn gradients(kind: Kind, shape: &Shape, places: &[Vec3]) -> ([Vec3; 10], f64) {
    let mut J = [Vec3::ZERO; 3];
    for (dN, p) in shape.dN.iter().zip(places) {
        for c in 0..3 {
            J[c] += *p * dN[c];
        }
    }
    let mut out = [Vec3::ZERO; 10];
    if kind.dimension() == 2 {
        let det = J[0].x * J[1].y - J[0].y * J[1].x;
        let (a, b) = (Vec3::new(J[1].y, -J[1].x, 0.0) / det, Vec3::new(-J[0].y, J[0].x, 0.0) / det);
        for (out, dN) in out.iter_mut().zip(&shape.dN).take(kind.nodes()) {
            *out = a * dN[0] + b * dN[1];
        }
        return (out, det);
    }
    let det = J[0].dot(J[1].cross(J[2]));
    let inverse = [J[1].cross(J[2]) / det, J[2].cross(J[0]) / det, J[0].cross(J[1]) / det];
    for (out, dN) in out.iter_mut().zip(&shape.dN).take(kind.nodes()) {
        *out = inverse[0] * dN[0] + inverse[1] * dN[1] + inverse[2] * dN[2];
    }
    (out, det)
}

const T4: f64 = 0.138_196_601_125_010_5;
const T4_FAR: f64 = 1.0 - 3.0 * T4;

/// Points for stiffness.
pub fn stiffness_points(kind: Kind) -> &'static [Point] {
    const fn p(x: f64, y: f64, z: f64, weight: f64) -> Point {
        Point { at: [x, y, z], weight }
    }
    const TRI1: [Point; 1] = [p(1.0 / 3.0, 1.0 / 3.0, 0.0, 0.5)];
    const TRI3: [Point; 3] = [
        p(1.0 / 6.0, 1.0 / 6.0, 0.0, 1.0 / 6.0),
        p(2.0 / 3.0, 1.0 / 6.0, 0.0, 1.0 / 6.0),
        p(1.0 / 6.0, 2.0 / 3.0, 0.0, 1.0 / 6.0),
    ];
    const TET1: [Point; 1] = [p(0.25, 0.25, 0.25, 1.0 / 6.0)];
    const W: f64 = 1.0 / 24.0;
    const TET4: [Point; 4] = [p(T4, T4, T4, W), p(T4_FAR, T4, T4, W), p(T4, T4_FAR, T4, W), p(T4, T4, T4_FAR, W)];
    match kind {
        Kind::Tri3 => &TRI1,
        Kind::Tri6 => &TRI3,
        Kind::Tet4 => &TET1,
        Kind::Tet10 => &TET4,
    }
}

/// Points for mass: exact to degree 5.
pub fn mass_points(kind: Kind) -> &'static [Point] {
    const fn p(x: f64, y: f64, z: f64, weight: f64) -> Point {
        Point { at: [x, y, z], weight }
    }
    const A: f64 = 0.101_286_507_323_456_34;
    const B: f64 = 0.470_142_064_105_115_1;
    const WA: f64 = 0.062_969_590_272_413_58;
    const WB: f64 = 0.066_197_076_394_253_1;
    const TRI: [Point; 7] = [
        p(1.0 / 3.0, 1.0 / 3.0, 0.0, 0.1125),
        p(A, A, 0.0, WA),
        p(1.0 - 2.0 * A, A, 0.0, WA),
        p(A, 1.0 - 2.0 * A, 0.0, WA),
        p(B, B, 0.0, WB),
        p(1.0 - 2.0 * B, B, 0.0, WB),
        p(B, 1.0 - 2.0 * B, 0.0, WB),
    ];
    const E: f64 = 1.0 / 11.0;
    const E8: f64 = 8.0 / 11.0;
    const T: f64 = 1.0 / 3.0;
    const W0: f64 = 0.030_283_678_097_089_185;
    const W1: f64 = 0.006_026_785_714_285_716;
    const W2: f64 = 0.011_645_249_086_028_974;
    const W3: f64 = 0.010_949_141_561_386_453;
    const C: f64 = 0.066_550_153_573_664_28;
    const D: f64 = 0.433_449_846_426_335_7;
    const TET: [Point; 15] = [
        p(0.25, 0.25, 0.25, W0),
        p(T, T, T, W1),
        p(0.0, T, T, W1),
        p(T, 0.0, T, W1),
        p(T, T, 0.0, W1),
        p(E, E, E, W2),
        p(E8, E, E, W2),
        p(E, E8, E, W2),
        p(E, E, E8, W2),
        p(C, D, D, W3),
        p(D, C, D, W3),
        p(D, D, C, W3),
        p(D, C, C, W3),
        p(C, D, C, W3),
        p(C, C, D, W3),
    ];
    if kind.dimension() == 2 { &TRI } else { &TET }
}

/// Area or volume of the corners, positive for the right way round [m2 or m3].
pub fn volume(kind: Kind, c: &[Vec3]) -> f64 {
    match kind.dimension() {
        2 => (c[1] - c[0]).cross(c[2] - c[0]).z / 2.0,
        _ => (c[1] - c[0]).dot((c[2] - c[0]).cross(c[3] - c[0])) / 6.0,
    }
}

/// How regular the corners are: 1 for a regular one, 0 for a flat one (Freitag, Knupp 2002: mean ratio).
pub fn quality(kind: Kind, c: &[Vec3]) -> f64 {
    let mut squares = 0.0;
    for i in 0..c.len() {
        for j in 0..i {
            squares += (c[i] - c[j]).length_squared();
        }
    }
    let V = volume(kind, c);
    match kind.dimension() {
        2 => 4.0 * 3.0_f64.sqrt() * V / squares,
        _ => 12.0 * libm::cbrt(9.0 * V * V) * V.signum() / squares,
    }
}

/// Lame's constants as the elements use them [Pa].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// lambda; in plane stress 2 lambda mu/(lambda + 2 mu).
    pub lambda: f64,
    /// mu.
    pub mu: f64,
}

/// Adds the stiffness of an element to `K`, d n by d n by rows; `scale` is the thickness of a plane one [m], or 1.
pub fn stiffness(kind: Kind, places: &[Vec3], lame: Lame, scale: f64, K: &mut [f64]) {
    let (n, d) = (kind.nodes(), kind.dimension());
    for point in stiffness_points(kind) {
        let (g, det) = gradients(kind, &shape(kind, point.at), places);
        let w = point.weight * det * scale;
        let (l, m) = (lame.lambda * w, lame.mu * w);
        for i in 0..n {
            for j in 0..=i {
                let dot = m * g[i].dot(g[j]);
                for a in 0..d {
                    for b in 0..d {
                        let mut k = l * g[i][a] * g[j][b] + m * g[i][b] * g[j][a];
                        if a == b {
                            k += dot;
                        }
                        K[(d * i + a) * d * n + d * j + b] += k;
                    }
                }
            }
        }
    }
    mirror(d * n, d, K);
}

/// Adds the consistent mass by pairs of nodes to `M`, n by n by rows (the same for every direction).
pub fn mass(kind: Kind, places: &[Vec3], density: f64, M: &mut [f64]) {
    let n = kind.nodes();
    for point in mass_points(kind) {
        let shape = shape(kind, point.at);
        let w = point.weight * gradients(kind, &shape, places).1 * density;
        for i in 0..n {
            for j in 0..n {
                M[i * n + j] += w * shape.N[i] * shape.N[j];
            }
        }
    }
}

/// Stress {xx, yy, zz, xy, yz, zx} [Pa] of displacements u at a point; `plane_strain` says what stress across a plane element is.
pub fn stress(kind: Kind, g: &[Vec3; 10], u: &[Vec3], lame: Lame, plane_strain: bool) -> [f64; 6] {
    let mut G = [[0.0; 3]; 3];
    for (u, g) in u.iter().zip(g) {
        for a in 0..3 {
            for b in 0..3 {
                G[a][b] += u[a] * g[b];
            }
        }
    }
    let flat = kind.dimension() == 2;
    let trace = G[0][0] + G[1][1] + if flat { 0.0 } else { G[2][2] };
    let (l, m) = (lame.lambda * trace, lame.mu);
    let zz = match (flat, plane_strain) {
        (true, false) => 0.0,
        (true, true) => l,
        (false, _) => l + 2.0 * m * G[2][2],
    };
    [
        l + 2.0 * m * G[0][0],
        l + 2.0 * m * G[1][1],
        zz,
        m * (G[0][1] + G[1][0]),
        m * (G[1][2] + G[2][1]),
        m * (G[2][0] + G[0][2]),
    ]
}

/// a . sigma b.
pub fn through(s: &[f64; 6], a: Vec3, b: Vec3) -> f64 {
    let sb = Vec3::new(
        s[0] * b.x + s[3] * b.y + s[5] * b.z,
        s[3] * b.x + s[1] * b.y + s[4] * b.z,
        s[5] * b.x + s[4] * b.y + s[2] * b.z,
    );
    a.dot(sb)
}

/// Blocks above the diagonal from those below it.
fn mirror(n: usize, d: usize, K: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            if i / d != j / d {
                K[j * n + i] = K[i * n + j];
            }
        }
    }
}
