//! Added mass of any closed surface by panels: what ideal fluid that a body moves through takes of its momentum.
//!
//! Each triangle j has a source of constant strength sigma_j. On the outside of triangle i, n_i its normal outwards,
//!   phi_i = sum_j S_ij sigma_j,   S_ij = int_j dA/r,   dphi/dn_i = sum_j D_ij sigma_j - 2 pi sigma_i,   D_ij = n_i . grad_i int_j dA/r,
//! and for each of the six ways a to move, m_a the speed of the surface along n,   (D - 2 pi) sigma_a = m_a:
//!   K_ab = -rho sum_i A_i m_a,i phi_b,i    (Hess and Smith 1964, with flat panels and one point each).
//! That no fluid goes in or out fixes the diagonal:   sum_i A_i D_ij = -2 pi A_j,   which makes it of second order.

use crate::six::{Six, Tensor};
use libm::asinh;
use std::f64::consts::PI;
use tippe_geometry::{TriMesh, Vec3};

/// Panels that a coarse surface is cut into, at least [-].
const LEAST: usize = 900;
/// Panels of a surface at most [-]: a dense system of that size takes a second.
pub const MOST: usize = 1500;
/// Edges longer than this share of the longest are halved together with it [-].
const LONG: f64 = 0.75;
/// Panels nearer than so many of their sizes are integrated over 64 parts [-].
const NEAR: f64 = 4.0;
/// Halvings of the edges of near panels [-].
const HALVINGS: u32 = 3;

/// A panel.
#[derive(Clone, Copy, Debug)]
struct Panel {
    corners: [Vec3; 3],
    /// Middle [m].
    x: Vec3,
    /// Outward normal.
    n: Vec3,
    /// A [m^2].
    area: f64,
    /// Longest edge [m].
    size: f64,
}

impl Panel {
    fn new(corners: [Vec3; 3]) -> Panel {
        let [a, b, c] = corners;
        let twice = (b - a).cross(c - a);
        let size = (b - a).length().max((c - b).length()).max((a - c).length());
        let area = 0.5 * twice.length();
        Panel { corners, x: (a + b + c) / 3.0, n: twice.normalize_or_zero(), area, size }
    }

    /// Two halves, cut across the longest edge.
    fn halved(&self) -> [Panel; 2] {
        let edge = |k: usize| (self.corners[(k + 1) % 3] - self.corners[k]).length();
        let longest = (0..3).fold(0, |best, k| if edge(k) > edge(best) { k } else { best });
        let [a, b, c] = [0, 1, 2].map(|k| self.corners[(longest + k) % 3]);
        let middle = 0.5 * (a + b);
        [Panel::new([a, middle, c]), Panel::new([middle, b, c])]
    }
}

/// Added mass of a closed surface in a fluid of density 1 about its origin [m^3, m^4, m^5]; none of one with too many triangles.
pub fn added(mesh: &TriMesh) -> Option<Tensor> {
    let corners = mesh.triangles.iter().map(|triangle| triangle.map(|k| mesh.vertices[k as usize]));
    let mut panels: Vec<Panel> = corners.map(Panel::new).filter(|panel| panel.area > 0.0).collect();
    if panels.len() > MOST {
        return None;
    }
    while panels.len() < LEAST {
        let longest = panels.iter().fold(0.0, |most, panel| f64::max(most, panel.size));
        let cut = |panel: &Panel| panel.size > LONG * longest;
        panels = panels.iter().flat_map(|p| if cut(p) { p.halved().to_vec() } else { vec![*p] }).collect();
    }
    Some(of_panels(&panels))
}

fn of_panels(panels: &[Panel]) -> Tensor {
    let n = panels.len();
    let (mut D, mut S) = (vec![0.0; n * n], vec![0.0; n * n]);
    for (i, at) in panels.iter().enumerate() {
        for (j, from) in panels.iter().enumerate() {
            let (s, d) = if i == j { (potential_within(from), 0.0) } else { influence(at, from) };
            (S[i * n + j], D[i * n + j]) = (s, d);
        }
    }
    for j in 0..n {
        let flux: f64 = (0..n).map(|i| panels[i].area * D[i * n + j]).sum();
        D[j * n + j] = -2.0 * PI - flux / panels[j].area - 2.0 * PI;
    }
    let speeds: Vec<[f64; 6]> = panels
        .iter()
        .map(|panel| {
            let turn = panel.x.cross(panel.n);
            [turn.x, turn.y, turn.z, panel.n.x, panel.n.y, panel.n.z]
        })
        .collect();
    let mut sigma = speeds.clone();
    eliminate(&mut D, &mut sigma);
    let mut K = [[0.0; 6]; 6];
    for (i, panel) in panels.iter().enumerate() {
        let mut phi = [0.0; 6];
        for (s, sigma) in S[i * n..(i + 1) * n].iter().zip(&sigma) {
            (0..6).for_each(|b| phi[b] += s * sigma[b]);
        }
        for (a, row) in K.iter_mut().enumerate() {
            (0..6).for_each(|b| row[b] -= panel.area * speeds[i][a] * phi[b]);
        }
    }
    let half = |a: usize, b: usize| 0.5 * (K[a][b] + K[b][a]);
    Tensor(std::array::from_fn(|c| {
        Six::new(Vec3::new(half(0, c), half(1, c), half(2, c)), Vec3::new(half(3, c), half(4, c), half(5, c)))
    }))
}

/// S_ij and D_ij of a panel at the middle of another.
fn influence(at: &Panel, from: &Panel) -> (f64, f64) {
    let r = at.x - from.x;
    let away = r.length();
    if away < NEAR * from.size {
        return near(at, from.corners, HALVINGS);
    }
    point(at, from.x, from.area)
}

/// Of a source of one point.
fn point(at: &Panel, from: Vec3, area: f64) -> (f64, f64) {
    let r = at.x - from;
    let away = r.length();
    (area / away, -area * at.n.dot(r) / (away * away * away))
}

/// Of a panel that is cut into four so many times.
fn near(at: &Panel, [a, b, c]: [Vec3; 3], halvings: u32) -> (f64, f64) {
    if halvings == 0 {
        return point(at, (a + b + c) / 3.0, 0.5 * (b - a).cross(c - a).length());
    }
    let [ab, bc, ca] = [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)];
    let parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    parts.into_iter().fold((0.0, 0.0), |(s, d), part| {
        let own = near(at, part, halvings - 1);
        (s + own.0, d + own.1)
    })
}

/// S_ii: with h the distance of an edge from the middle, from s_1 to s_2 along it,   sum over edges h (asinh(s_2/h) - asinh(s_1/h)).
fn potential_within(panel: &Panel) -> f64 {
    let edges = (0..3).map(|k| {
        let [a, b] = [panel.corners[k], panel.corners[(k + 1) % 3]];
        let along = (b - a).normalize_or_zero();
        let from = a - panel.x;
        let h = (from - along * along.dot(from)).length();
        let [s1, s2] = [along.dot(from), along.dot(b - panel.x)];
        if h > 0.0 { h * (asinh(s2 / h) - asinh(s1 / h)) } else { 0.0 }
    });
    edges.sum()
}

/// Solves A X = B, row by row, B used up and X left in it. A's diagonal dominates: no rows are exchanged.
fn eliminate(A: &mut [f64], B: &mut [[f64; 6]]) {
    let n = B.len();
    for k in 0..n {
        let (above, below) = A.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        let (before, after) = B.split_at_mut(k + 1);
        for (other, right) in below.chunks_exact_mut(n).zip(after) {
            let factor = other[k] / row[k];
            for (x, y) in other[k..].iter_mut().zip(&row[k..]) {
                *x -= factor * y;
            }
            (0..6).for_each(|b| right[b] -= factor * before[k][b]);
        }
    }
    for k in (0..n).rev() {
        let mut sum = B[k];
        for (x, own) in A[k * n + k + 1..(k + 1) * n].iter().zip(&B[k + 1..]) {
            (0..6).for_each(|b| sum[b] -= x * own[b]);
        }
        B[k] = sum.map(|s| s / A[k * n + k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_geometry::Shape;

    fn near(is: f64, expected: f64, share: f64) {
        assert!((is - expected).abs() <= share * expected.abs(), "{is} instead of {expected}");
    }

    /// A cube takes 0.638 of what it displaces along with it (0.63791 with 1,200 panels); a bar 3 x 1 x 1 0.2236 and 0.9346, and turning across
    /// its long axis 1.3407 m^5.
    #[test]
    fn cubes_and_bars() {
        let block = |x: f64| Shape::Box { half_extents: Vec3::new(0.5 * x, 0.5, 0.5), smoothing: 0.0 }.surface_mesh(4);
        let cube = added(&block(1.0)).expect("few panels");
        near(cube.0[3].linear.x, 0.6379, 0.01);
        near(cube.0[0].angular.x, 0.038, 0.05);
        let bar = added(&block(3.0)).expect("few panels");
        near(bar.0[3].linear.x / 3.0, 0.22359, 0.02);
        near(bar.0[4].linear.y / 3.0, 0.93457, 0.015);
        near(bar.0[2].angular.z, 1.3406843, 0.02);
    }

    /// A ball of 1,280 panels takes half of what it displaces along with it.
    #[test]
    fn balls() {
        let ball = Shape::Sphere { radius: 1.0 }.surface_mesh(36);
        let K = added(&ball).expect("few panels");
        near(K.0[5].linear.z / ball.volume(), 0.5, 0.01);
    }
}
