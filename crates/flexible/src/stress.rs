//! Stress at nodes: from the points of the stiffness, where it is most accurate, carried on to the corners by the element's linear field, to the
//! middles by their ends, and averaged over the elements of a node.

use crate::element;
use crate::mesh::Kind;
use crate::reduce::Reduced;
use crate::structure::{Plane, Structure};
use tippe_geometry::Vec3;

/// Stress {xx, yy, zz, xy, yz, zx} at all nodes of displacements [Pa].
pub fn at_nodes(s: &Structure, u: &[Vec3]) -> Vec<[f64; 6]> {
    let kind = s.mesh.kind;
    let lame = s.elastic.lame(kind, s.plane);
    let points = element::stiffness_points(kind);
    let corners = kind.corners();
    let mut out = vec![[0.0; 6]; s.mesh.nodes.len()];
    let mut count = vec![0.0; s.mesh.nodes.len()];
    for e in 0..s.mesh.count() {
        let (nodes, places) = (s.mesh.element(e), s.mesh.places(e));
        let own: Vec<Vec3> = nodes.iter().map(|&n| u[n as usize]).collect();
        let values: Vec<[f64; 6]> = points
            .iter()
            .map(|point| {
                let (g, _) = element::gradients(kind, &element::shape(kind, point.at), &places);
                element::stress(kind, &g, &own, lame, s.plane == Plane::Strain)
            })
            .collect();
        let mut at = [[0.0; 6]; 10];
        for c in 0..corners {
            at[c] = carried(kind, &values, c);
        }
        for (k, &[i, j]) in kind.sides().iter().enumerate().take(nodes.len() - corners) {
            at[corners + k] = std::array::from_fn(|c| 0.5 * (at[i][c] + at[j][c]));
        }
        for (k, node) in nodes.iter().enumerate() {
            // what is nearly empty has no say
            let share = s.stiff(e);
            (0..6).for_each(|c| out[*node as usize][c] += share * share * at[k][c]);
            count[*node as usize] += share;
        }
    }
    for (s, n) in out.iter_mut().zip(count) {
        s.iter_mut().for_each(|x| *x /= n);
    }
    out
}

/// The linear field through the values at the points, at a corner. Point c + 1 (tetrahedra; triangles: c) leans to corner c.
fn carried(kind: Kind, values: &[[f64; 6]], corner: usize) -> [f64; 6] {
    if values.len() == 1 {
        return values[0];
    }
    // points are near corner p with weight `near`, the others far: values = far sum + (near - far) value of the corner
    let (near, far) =
        if kind.dimension() == 2 { (2.0 / 3.0, 1.0 / 6.0) } else { (0.585_410_196_624_968_5, 0.138_196_601_125_010_5) };
    std::array::from_fn(|c| {
        let sum: f64 = values.iter().map(|v| v[c]).sum();
        (values[corner][c] - far * sum) / (near - far)
    })
}

/// Von Mises' stress [Pa].
pub fn von_mises(s: &[f64; 6]) -> f64 {
    let (a, b, c) = (s[0] - s[1], s[1] - s[2], s[2] - s[0]);
    (0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])).sqrt()
}

/// Stress modes and the largest strain of a unit of each mode.
pub(crate) fn modes(s: &Structure, phi: &[Vec<Vec3>], out: &mut Reduced) {
    for phi in phi {
        let stresses = at_nodes(s, phi);
        let most = stresses.iter().map(von_mises).fold(0.0, f64::max);
        out.strain.push(most / s.elastic.young);
        out.stresses.extend(stresses);
    }
}

impl Reduced {
    /// Stress at a node in the state q [Pa].
    pub fn stress(&self, node: usize, q: &[f64]) -> [f64; 6] {
        let n = self.nodes.len();
        let mut out = [0.0; 6];
        for (k, q) in q.iter().enumerate() {
            let s = &self.stresses[k * n + node];
            (0..6).for_each(|c| out[c] += q * s[c]);
        }
        out
    }

    /// The largest von Mises stress [Pa] and its node.
    pub fn peak_stress(&self, q: &[f64]) -> (f64, usize) {
        let all = (0..self.nodes.len()).map(|node| (von_mises(&self.stress(node, q)), node));
        all.fold((0.0, 0), |best, now| if now.0 > best.0 { now } else { best })
    }

    /// Displacement of a node in the state q, in mean axes [m].
    pub fn displacement(&self, node: usize, q: &[f64]) -> Vec3 {
        let n = self.nodes.len();
        q.iter().enumerate().fold(Vec3::ZERO, |u, (k, q)| u + self.shapes[k * n + node] * *q)
    }
}
