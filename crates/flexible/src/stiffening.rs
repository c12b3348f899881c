//! What loads along a body do to its bending: geometric stiffness of unit loads, in the modes.
//!
//!   G_kl = int grad phi_k : (sigma grad phi_l),  sigma of a unit load in balance with the inertia of the whole
//! A load p stores 1/2 p q^T G q more: so its point moves by -1/2 q^T G q along it, and motion follows from that displacement without any
//! switch (virtual work: forces that hold a body, and what turning does to it, are the same law). Loads: unit forces at interfaces along the
//! axes, and rho (x_i e_j + x_j e_i)/2 for turning. The loads of shifting and of angular acceleration are in balance with inertia: they give
//! nothing in mean axes (Wallrapp, Schwertassek 1991, have them for other frames).

use crate::element;
use crate::interface::{Hold, Interface};
use crate::reduce::{Average, Basis, Reduced};
use crate::structure::Structure;
use tippe_geometry::Vec3;

/// Fills `second` of the interfaces and adds to `E2`.
pub(crate) fn add(basis: &Basis, interfaces: &[(&Interface, &Vec<u32>)], phi: &[Vec<Vec3>], out: &mut Reduced) {
    let s = &basis.structure;
    let d = s.mesh.kind.dimension();
    let m = phi.len();
    let mut loads: Vec<Vec<f64>> = Vec::new();
    let mut set = 0;
    for (interface, nodes) in interfaces {
        let average = Average::new(&s.mesh, interface.at, nodes);
        for c in 0..d {
            let mut f = vec![0.0; s.n];
            match interface.hold {
                Hold::Rigid => f[s.of_set(set) + c] = 1.0,
                Hold::Mean => average.push(s, c, &mut f),
            }
            loads.push(f);
        }
        set += usize::from(interface.hold == Hold::Rigid);
    }
    let turning = loads.len();
    let pairs: &[[usize; 2]] =
        if d == 2 { &[[0, 0], [1, 1], [0, 1]] } else { &[[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]] };
    loads.extend(pairs.iter().map(|&pair| turning_load(s, out.centre, pair)));
    let states: Vec<Vec<Vec3>> = loads.iter().map(|f| s.displacements(&basis.answer(f))).collect();
    let G = geometric(s, &states, phi);
    for (k, held) in out.held.iter_mut().enumerate() {
        held.second = [0, 1, 2].map(|c| if c < d { G[k * d + c].clone() } else { vec![0.0; m * m] });
    }
    for (case, &[i, j]) in pairs.iter().enumerate() {
        let slot = if i == j { i } else { 3 + i };
        for (E2, G) in out.E2.iter_mut().zip(&G[turning + case]) {
            E2[slot] -= G;
        }
    }
}

/// rho (x_i e_j + x_j e_i)/2 as forces on the unknowns.
fn turning_load(s: &Structure, centre: Vec3, [i, j]: [usize; 2]) -> Vec<f64> {
    let mut f = vec![0.0; s.n];
    let nodes = s.mesh.kind.nodes();
    let mut mass = vec![0.0; nodes * nodes];
    for e in 0..s.mesh.count() {
        let places = s.mesh.places(e);
        mass.fill(0.0);
        element::mass(s.mesh.kind, &places, s.density(e), &mut mass);
        for (a, node) in s.mesh.element(e).iter().enumerate() {
            let mut force = Vec3::ZERO;
            for (b, x) in places.iter().enumerate() {
                let r = (*x - centre) * mass[a * nodes + b];
                force[j] += 0.5 * r[i];
                force[i] += 0.5 * r[j];
            }
            s.push(*node, force, &mut f);
        }
    }
    f
}

/// Geometric stiffness of the modes under the stresses of displacements, state after state.
fn geometric(s: &Structure, states: &[Vec<Vec3>], phi: &[Vec<Vec3>]) -> Vec<Vec<f64>> {
    let kind = s.mesh.kind;
    let (m, nodes) = (phi.len(), kind.nodes());
    let lame = s.elastic.lame(kind, s.plane);
    let strain = s.plane == crate::Plane::Strain;
    let mut out = vec![vec![0.0; m * m]; states.len()];
    // rows of grad phi by mode, and sigma times them
    let (mut D, mut SD) = (vec![[Vec3::ZERO; 3]; m], vec![[Vec3::ZERO; 3]; m]);
    let mut u = vec![Vec3::ZERO; nodes];
    for e in 0..s.mesh.count() {
        let (element, places) = (s.mesh.element(e), s.mesh.places(e));
        for point in element::stiffness_points(kind) {
            let (g, det) = element::gradients(kind, &element::shape(kind, point.at), &places);
            let w = point.weight * det * s.thickness * s.stiff(e);
            for (D, phi) in D.iter_mut().zip(phi) {
                *D = [Vec3::ZERO; 3];
                for (g, node) in g.iter().zip(element) {
                    let p = phi[*node as usize];
                    D[0] += *g * p.x;
                    D[1] += *g * p.y;
                    D[2] += *g * p.z;
                }
            }
            for (state, G) in states.iter().zip(&mut out) {
                u.iter_mut().zip(element).for_each(|(u, node)| *u = state[*node as usize]);
                let sigma = element::stress(kind, &g, &u, lame, strain).map(|x| x * w);
                for (SD, D) in SD.iter_mut().zip(&D) {
                    *SD = D.map(|d| times(&sigma, d));
                }
                for k in 0..m {
                    for l in 0..=k {
                        let sum = D[k][0].dot(SD[l][0]) + D[k][1].dot(SD[l][1]) + D[k][2].dot(SD[l][2]);
                        G[k * m + l] += sum;
                        if k != l {
                            G[l * m + k] += sum;
                        }
                    }
                }
            }
        }
    }
    out
}

fn times(s: &[f64; 6], b: Vec3) -> Vec3 {
    Vec3::new(
        s[0] * b.x + s[3] * b.y + s[5] * b.z,
        s[3] * b.x + s[1] * b.y + s[4] * b.z,
        s[5] * b.x + s[4] * b.y + s[2] * b.z,
    )
}
