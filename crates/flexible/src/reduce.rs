//! Few modes in the place of many nodes, and what they mean for a body that moves far.
//!
//! Craig, Bampton (1968): static modes of the rigid interfaces beside normal modes with these held,
//!   Psi = -K_ii^-1 K_ib,    K_ii Phi = M_ii Phi w^2,
//! or the free modes of a body without any. All static modes are kept: without them a body clamped at an interface would be too stiff by as much as
//! free modes converge slowly there. An averaged interface has none: what pushes at it moves the normal modes. Of the space they span the six rigid motions are taken away (orthogonal in M: the mean axes of Tisserand), and the
//! eigenvectors of what is left are the modes: M = 1, K = w^2, no momentum and no moment of momentum at rest.
//!
//! With r = x + sum phi_k q_k - 1/2 sum G_kl(x) q_k q_l from the centre of mass (the last term shortens what bends) all that motion needs are the
//! constants of [`Reduced`] (Shabana 2013, chapters 5 and 6; Zwoelfer, Gerstmayr 2021).

use crate::interface::{Hold, Interface};
use crate::mesh::Mesh;
use crate::sparse::{self, Factor, Symmetric, add, dense_eigen, dot};
use crate::stiffening;
use crate::structure::{Elastic, Plane, RigidSet, Structure};
use crate::{FlexibleError, element};
use serde::{Deserialize, Serialize};
use tippe_geometry::{Mat3, Vec3};

/// Which normal modes are kept, beside the static ones of rigid interfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// So many, from the lowest.
    Modes(usize),
    /// All below a frequency [Hz].
    Below(f64),
}

/// How modes are damped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// The same share of critical damping for all [-].
    Ratio(f64),
    /// c = alpha + beta w^2 [1/s, s].
    Rayleigh {
        /// Of the mass [1/s].
        alpha: f64,
        /// Of the stiffness [s].
        beta: f64,
    },
}

/// An interface of a reduced body: how its frame moves with the modes, in the axes of the mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Its name.
    pub name: String,
    /// Its point at rest, from the centre of mass [m].
    pub at: Vec3,
    /// Shift per unit of each mode [m].
    pub shift: Vec<Vec3>,
    /// Turn per unit of each mode [rad].
    pub turn: Vec<Vec3>,
    /// G_c,kl at [c][k m + l]: it moves by -1/2 G_c,kl q_k q_l along axis c. Empty without geometric stiffening [m].
    pub second: [Vec<f64>; 3],
}

/// A reduced body. Modes have unit modal mass: their coordinates are in m sqrt(kg).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reduced {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass in the frame of the mesh [m].
    pub centre: Vec3,
    /// Inertia about it [kg m2].
    pub I: Mat3,
    /// w^2 by mode [1/s2].
    pub stiffness: Vec<f64>,
    /// c by mode [1/s].
    pub damping: Vec<f64>,
    /// E_1,k = int rho (x phi_k^T + phi_k x^T): {xx, yy, zz, xy, yz, zx} by mode.
    pub E1: Vec<[f64; 6]>,
    /// E_2,kl = sym int rho (phi_k phi_l^T - x G_kl^T) at [k m + l], likewise.
    pub E2: Vec<[f64; 6]>,
    /// N_lk = int rho phi_l x phi_k at [l m + k].
    pub N: Vec<Vec3>,
    /// Its interfaces.
    pub held: Vec<Held>,
    /// Displacements of the nodes by mode: mode after mode [m].
    pub shapes: Vec<Vec3>,
    /// Stresses at the nodes by mode, likewise [Pa].
    pub stresses: Vec<[f64; 6]>,
    /// Nodes and faces of the surface, for pictures: places from the centre of mass [m].
    pub nodes: Vec<Vec3>,
    /// Triangles of the surface.
    pub faces: Vec<[u32; 3]>,
    /// Largest strain of a unit of each mode [-].
    pub strain: Vec<f64>,
}

/// Whether loads along a body stiffen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stiffening {
    /// Linear elasticity alone.
    None,
    /// Geometric stiffness of interface forces and of turning.
    Geometric,
}

/// A direction of the basis that adds less than this share is left out [-].
const DEPENDENT: f64 = 1e-7;
/// Shift of a free body's stiffness, as a share of a guess at its lowest w^2 [-].
const SHIFT: f64 = 1e-3;

/// A basis of the reduction and the matrices it stands on.
pub(crate) struct Basis {
    pub structure: Structure,
    pub K: Symmetric,
    pub M: Symmetric,
    /// Factor of the inner unknowns with rigid interfaces held, or of all of a free body with its shift.
    pub factor: Factor,
    pub shift: f64,
    /// Static modes of the rigid interfaces: inner unknowns, one column after the other.
    pub psi: Vec<f64>,
    /// Rigid motions, orthonormal in M.
    pub rigid: Vec<Vec<f64>>,
    pub modes: Vec<Vec<f64>>,
    pub squares: Vec<f64>,
}

impl Reduced {
    /// Reduces a mesh.
    pub fn new(
        mesh: Mesh,
        elastic: Elastic,
        (plane, thickness): (Plane, f64),
        interfaces: &[Interface],
        choice: Choice,
        damping: Damping,
        stiffening: Stiffening,
    ) -> Result<Reduced, FlexibleError> {
        let (structure, nodes) = Structure::held(mesh, elastic, (plane, thickness), interfaces)?;
        Reduced::of(structure, interfaces, &nodes, choice, damping, stiffening)
    }

    /// Reduces a structure whose sets are its rigid interfaces, with the nodes of all of them.
    pub fn of(
        structure: Structure,
        interfaces: &[Interface],
        nodes: &[Vec<u32>],
        choice: Choice,
        damping: Damping,
        stiffening: Stiffening,
    ) -> Result<Reduced, FlexibleError> {
        let pairs: Vec<(&Interface, &Vec<u32>)> = interfaces.iter().zip(nodes).collect();
        Basis::new(structure, choice)?.reduced(&pairs, damping, stiffening)
    }

    /// Modes.
    pub fn modes(&self) -> usize {
        self.stiffness.len()
    }

    /// Frequency of a mode [Hz].
    pub fn frequency(&self, k: usize) -> f64 {
        self.stiffness[k].max(0.0).sqrt() / (2.0 * std::f64::consts::PI)
    }
}

impl Structure {
    /// A mesh whose rigid interfaces are sets, and the nodes of all interfaces.
    pub fn held(
        mesh: Mesh,
        elastic: Elastic,
        (plane, thickness): (Plane, f64),
        interfaces: &[Interface],
    ) -> Result<(Structure, Vec<Vec<u32>>), FlexibleError> {
        let nodes: Vec<Vec<u32>> = interfaces.iter().map(|i| i.nodes(&mesh)).collect::<Result<_, _>>()?;
        let is_rigid = |i: &&(&Interface, &Vec<u32>)| i.0.hold == Hold::Rigid;
        let pairs: Vec<(&Interface, &Vec<u32>)> = interfaces.iter().zip(&nodes).collect();
        let sets: Vec<RigidSet> =
            pairs.iter().filter(is_rigid).map(|(i, nodes)| RigidSet { at: i.at, nodes: nodes.to_vec() }).collect();
        refuse_shared(&pairs)?;
        Ok((Structure::new(mesh, elastic, plane, thickness, sets), nodes))
    }
}

/// Two rigid interfaces cannot have a node in common.
fn refuse_shared(pairs: &[(&Interface, &Vec<u32>)]) -> Result<(), FlexibleError> {
    for (k, (a, of_a)) in pairs.iter().enumerate() {
        for (b, of_b) in &pairs[..k] {
            if a.hold == Hold::Rigid && b.hold == Hold::Rigid && of_a.iter().any(|n| of_b.binary_search(n).is_ok()) {
                return Err(FlexibleError::Interface {
                    name: a.name.clone(),
                    message: format!(
                        "shares nodes with \"{}\": each node follows one rigid interface. help: make one smaller",
                        b.name
                    ),
                });
            }
        }
    }
    Ok(())
}

impl Basis {
    fn new(structure: Structure, choice: Choice) -> Result<Basis, FlexibleError> {
        let (K, M) = structure.matrices();
        let of = structure.mass();
        let rigid = sparse::orthonormalise(&M, structure.rigid(of.centre), 1e-12);
        let free = structure.sets.is_empty();
        let shift = if free { SHIFT * guess(&structure, &K, &M, &rigid, of.centre) } else { 0.0 };
        let (inner_K, inner_M) = match free {
            true => (K.plus(shift, &M), M.clone()),
            false => (K.leading(structure.inner), M.leading(structure.inner)),
        };
        let factor = inner_K.factor("the flexible body")?;
        let mut basis =
            Basis { structure, K, M, factor, shift, psi: Vec::new(), rigid, modes: Vec::new(), squares: Vec::new() };
        basis.psi = basis.static_modes();
        let without: &[Vec<f64>] = if free { &basis.rigid } else { &[] };
        let normal = basis.normal_modes(&inner_M, without, choice)?;
        let n = basis.structure.n;
        let full = |v: &[f64]| {
            let mut v = v.to_vec();
            v.resize(n, 0.0);
            v
        };
        let inner = basis.structure.inner;
        let mut span: Vec<Vec<f64>> = basis.psi.chunks(inner.max(1)).map(full).collect();
        for (b, v) in span.iter_mut().enumerate() {
            v[inner + b] = 1.0;
        }
        span.extend(normal.iter().map(|v| full(v)));
        basis.diagonalise(span)?;
        Ok(basis)
    }

    /// -K_ii^-1 K_ib.
    fn static_modes(&self) -> Vec<f64> {
        let inner = self.structure.inner;
        let held = self.structure.n - inner;
        let mut columns = vec![0.0; held * inner];
        for c in 0..inner {
            for k in self.K.start[c]..self.K.start[c + 1] {
                if self.K.row[k] >= inner {
                    columns[(self.K.row[k] - inner) * inner + c] = -self.K.value[k];
                }
            }
        }
        if held > 0 {
            self.factor.solve(&mut columns);
        }
        columns
    }

    /// Displacements under loads, inertia in balance with what the loads of the whole leave over; no rigid motion in them.
    pub(crate) fn answer(&self, f: &[f64]) -> Vec<f64> {
        // f - M R R^T f
        let mut balanced = f.to_vec();
        let mut MR = vec![0.0; self.structure.n];
        for R in &self.rigid {
            let share = dot(R, f);
            self.M.times(R, &mut MR);
            add(-share, &MR, &mut balanced);
        }
        let mut u = match self.structure.sets.is_empty() {
            true => self.answer_free(&balanced),
            false => self.answer_held(&balanced),
        };
        self.without_rigid(&mut u);
        u
    }

    fn without_rigid(&self, u: &mut [f64]) {
        let mut Mu = vec![0.0; u.len()];
        self.M.times(u, &mut Mu);
        let shares: Vec<f64> = self.rigid.iter().map(|R| dot(R, &Mu)).collect();
        self.rigid.iter().zip(shares).for_each(|(R, share)| add(-share, R, u));
    }

    /// K u = f by (K + s M) u_n+1 = f + s M u_n, which shrinks errors by s/(w1^2 + s).
    fn answer_free(&self, f: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; f.len()];
        let mut right = vec![0.0; f.len()];
        for _ in 0..8 {
            self.M.times(&u, &mut right);
            right.iter_mut().zip(f).for_each(|(r, f)| *r = *r * self.shift + f);
            u.clone_from(&right);
            self.factor.solve(&mut u);
            self.without_rigid(&mut u);
        }
        u
    }

    /// u_b from the Schur complement with the first interface held, then u_i = K_ii^-1 f_i + Psi u_b.
    fn answer_held(&self, f: &[f64]) -> Vec<f64> {
        let (inner, n) = (self.structure.inner, self.structure.n);
        let (held, first) = (n - inner, self.structure.per_set());
        let mut u = f[..inner].to_vec();
        self.factor.solve(&mut u);
        u.resize(n, 0.0);
        let size = held - first;
        let mut S = vec![0.0; size * size];
        let mut right: Vec<f64> =
            (first..held).map(|b| f[inner + b] + dot(&self.psi[b * inner..][..inner], &f[..inner])).collect();
        for b in 0..size {
            let mut full = self.psi[(first + b) * inner..][..inner].to_vec();
            full.resize(n, 0.0);
            full[inner + first + b] = 1.0;
            let mut Kv = vec![0.0; n];
            self.K.times(&full, &mut Kv);
            (0..size).for_each(|r| S[r * size + b] = Kv[inner + first + r]);
        }
        solve_dense(&mut S, &mut right, size);
        for (b, x) in right.iter().enumerate() {
            add(*x, &self.psi[(first + b) * inner..][..inner], &mut u[..inner]);
            u[inner + first + b] = *x;
        }
        u
    }

    fn normal_modes(
        &self,
        M: &Symmetric,
        without: &[Vec<f64>],
        choice: Choice,
    ) -> Result<Vec<Vec<f64>>, FlexibleError> {
        let room = M.n - without.len();
        match choice {
            Choice::Modes(count) if count > room => Err(FlexibleError::Mesh(format!(
                "{count} modes are asked for, and the mesh has {room} unknowns. help: ask for fewer, or mesh it finer"
            ))),
            Choice::Modes(count) => Ok(sparse::smallest(&self.factor, M, self.shift, count, without).1),
            Choice::Below(hertz) => {
                let limit = (2.0 * std::f64::consts::PI * hertz).powi(2);
                let mut count = 12.min(room);
                loop {
                    let (squares, modes) = sparse::smallest(&self.factor, M, self.shift, count, without);
                    let inside = squares.iter().filter(|s| **s <= limit).count();
                    if inside < count || count == room {
                        return Ok(modes.into_iter().take(inside).collect());
                    }
                    count = (2 * count).min(room);
                }
            }
        }
    }

    /// Eigenvectors of K and M in a space, without the rigid motions.
    fn diagonalise(&mut self, mut span: Vec<Vec<f64>>) -> Result<(), FlexibleError> {
        span.iter_mut().for_each(|v| self.without_rigid(v));
        span.iter_mut().for_each(|v| self.without_rigid(v));
        let basis = sparse::orthonormalise(&self.M, span, DEPENDENT);
        let (n, m) = (self.structure.n, basis.len());
        let mut dense = vec![0.0; m * m];
        let mut Kv = vec![0.0; n];
        for (j, v) in basis.iter().enumerate() {
            self.K.times(v, &mut Kv);
            (0..m).for_each(|i| dense[i * m + j] = dot(&basis[i], &Kv));
        }
        let (squares, y) = dense_eigen(&dense, m);
        if m == 0 {
            return Err(FlexibleError::Mesh(
                "it has no mode below the `frequency` it is given, and no static one. help: is the unit of the mesh right? else leave out `flexible`".to_owned(),
            ));
        }
        for (square, y) in squares.iter().zip(&y) {
            let mut v = vec![0.0; n];
            basis.iter().zip(y).for_each(|(b, y)| add(*y, b, &mut v));
            // one sign always: the largest entry is positive
            let largest = v.iter().fold(0.0_f64, |a, b| if b.abs() > a.abs() * (1.0 + 1e-9) { *b } else { a });
            if largest < 0.0 {
                v.iter_mut().for_each(|x| *x = -*x);
            }
            self.modes.push(v);
            self.squares.push(*square);
        }
        Ok(())
    }

    fn reduced(
        &self,
        interfaces: &[(&Interface, &Vec<u32>)],
        damping: Damping,
        stiffening: Stiffening,
    ) -> Result<Reduced, FlexibleError> {
        let s = &self.structure;
        let of = s.mass();
        let m = self.modes.len();
        let phi: Vec<Vec<Vec3>> = self.modes.iter().map(|v| s.displacements(v)).collect();
        let c = |w2: f64| match damping {
            Damping::Ratio(zeta) => 2.0 * zeta * w2.max(0.0).sqrt(),
            Damping::Rayleigh { alpha, beta } => alpha + beta * w2,
        };
        let mut out = Reduced {
            mass: of.mass,
            centre: of.centre,
            I: inertia(s, &of),
            stiffness: self.squares.clone(),
            damping: self.squares.iter().map(|w2| c(*w2)).collect(),
            shapes: phi.iter().flatten().copied().collect(),
            nodes: s.mesh.nodes.iter().map(|p| *p - of.centre).collect(),
            faces: s.mesh.skin().into_iter().map(|(face, _)| face).collect(),
            ..Reduced::default()
        };
        integrals(s, of.centre, &phi, &mut out);
        let mut set = 0;
        for (interface, nodes) in interfaces {
            let mut held = Held { name: interface.name.clone(), at: interface.at - of.centre, ..Held::default() };
            if interface.hold == Hold::Rigid {
                let first = s.of_set(set);
                for v in &self.modes {
                    let (shift, turn) = motion_of_set(&v[first..first + s.per_set()]);
                    held.shift.push(shift);
                    held.turn.push(turn);
                }
                set += 1;
            } else {
                let average = Average::new(&s.mesh, interface.at, nodes);
                for phi in &phi {
                    let (shift, turn) = average.motion(phi);
                    held.shift.push(shift);
                    held.turn.push(turn);
                }
            }
            out.held.push(held);
        }
        if stiffening == Stiffening::Geometric {
            stiffening::add(self, interfaces, &phi, &mut out);
        }
        crate::stress::modes(s, &phi, &mut out);
        debug_assert_eq!(out.E2.len(), m * m);
        Ok(out)
    }
}

/// Inertia about the centre of mass: plane ones are as thick as they are.
fn inertia(s: &Structure, of: &crate::mesh::MassOfMesh) -> Mat3 {
    let mut E = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            E[i][j] = of.second[i][j] - of.mass * of.centre[i] * of.centre[j];
        }
    }
    if s.mesh.kind.dimension() == 2 {
        E[2][2] += of.mass * s.thickness * s.thickness / 12.0;
    }
    let trace = E[0][0] + E[1][1] + E[2][2];
    let at = |i: usize, j: usize| (if i == j { trace } else { 0.0 }) - 0.5 * (E[i][j] + E[j][i]);
    let row = |j: usize| Vec3::new(at(0, j), at(1, j), at(2, j));
    Mat3::from_cols(row(0), row(1), row(2))
}

/// Shift and turn of a rigid set from its unknowns.
fn motion_of_set(x: &[f64]) -> (Vec3, Vec3) {
    match x {
        [x, y, turn] => (Vec3::new(*x, *y, 0.0), Vec3::new(0.0, 0.0, *turn)),
        _ => (Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5])),
    }
}

/// The integrals over the body, by the consistent masses of its elements.
fn integrals(s: &Structure, centre: Vec3, phi: &[Vec<Vec3>], out: &mut Reduced) {
    let m = phi.len();
    out.E1 = vec![[0.0; 6]; m];
    out.E2 = vec![[0.0; 6]; m * m];
    out.N = vec![Vec3::ZERO; m * m];
    let nodes = s.mesh.kind.nodes();
    let mut mass = vec![0.0; nodes * nodes];
    let mut weighted = vec![Vec3::ZERO; m * nodes];
    for e in 0..s.mesh.count() {
        let element = s.mesh.element(e);
        let places = s.mesh.places(e);
        mass.fill(0.0);
        element::mass(s.mesh.kind, &places, s.density(e), &mut mass);
        for k in 0..m {
            for i in 0..nodes {
                let mut sum = Vec3::ZERO;
                for (j, node) in element.iter().enumerate() {
                    sum += phi[k][*node as usize] * mass[i * nodes + j];
                }
                weighted[k * nodes + i] = sum;
                outer(places[i] - centre, sum, 2.0, &mut out.E1[k]);
            }
        }
        for l in 0..m {
            for k in 0..=l {
                let (mut cross, mut E) = (Vec3::ZERO, [0.0; 6]);
                for (i, node) in element.iter().enumerate() {
                    let (a, b) = (phi[l][*node as usize], weighted[k * nodes + i]);
                    cross += a.cross(b);
                    outer(a, b, 1.0, &mut E);
                }
                out.N[l * m + k] += cross;
                out.N[k * m + l] -= cross;
                for c in 0..6 {
                    out.E2[l * m + k][c] += E[c];
                    if l != k {
                        out.E2[k * m + l][c] += E[c];
                    }
                }
            }
        }
    }
}

/// Adds factor times the symmetric part of a b^T: {xx, yy, zz, xy, yz, zx}.
fn outer(a: Vec3, b: Vec3, factor: f64, out: &mut [f64; 6]) {
    out[0] += factor * a.x * b.x;
    out[1] += factor * a.y * b.y;
    out[2] += factor * a.z * b.z;
    out[3] += factor * 0.5 * (a.x * b.y + a.y * b.x);
    out[4] += factor * 0.5 * (a.y * b.z + a.z * b.y);
    out[5] += factor * 0.5 * (a.z * b.x + a.x * b.z);
}

/// The average motion of nodes: theta = J^-1 sum w r x u, at a point (Cook et al. 2002: RBE3).
pub(crate) struct Average<'a> {
    nodes: &'a [u32],
    places: Vec<Vec3>,
    middle: Vec3,
    at: Vec3,
    J_inverse: Mat3,
    flat: bool,
}

impl<'a> Average<'a> {
    pub(crate) fn new(mesh: &Mesh, at: Vec3, nodes: &'a [u32]) -> Average<'a> {
        let places: Vec<Vec3> = nodes.iter().map(|&k| mesh.nodes[k as usize]).collect();
        let middle = places.iter().sum::<Vec3>() / places.len() as f64;
        let mut J = Mat3::ZERO;
        for p in &places {
            let r = *p - middle;
            J += Mat3::from_diagonal(Vec3::splat(r.length_squared())) - Mat3::from_cols(r * r.x, r * r.y, r * r.z);
        }
        let flat = mesh.kind.dimension() == 2;
        let J_inverse = match flat {
            true => Mat3::from_cols(Vec3::ZERO, Vec3::ZERO, Vec3::new(0.0, 0.0, 1.0 / J.z_axis.z)),
            false => J.inverse(),
        };
        Average { nodes, places, middle, at, J_inverse, flat }
    }

    /// Shift of its point and turn.
    fn motion(&self, u: &[Vec3]) -> (Vec3, Vec3) {
        let (mut shift, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for (k, p) in self.nodes.iter().zip(&self.places) {
            shift += u[*k as usize];
            moment += (*p - self.middle).cross(u[*k as usize]);
        }
        let turn = self.J_inverse * moment;
        (shift / self.nodes.len() as f64 + turn.cross(self.at - self.middle), turn)
    }

    /// Adds the forces on the nodes of a unit force or moment on its point: the transpose of [`Self::motion`].
    pub(crate) fn push(&self, s: &Structure, component: usize, f: &mut [f64]) {
        let d = if self.flat { 2 } else { 3 };
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let (force, moment) = match component < d {
            true => (axes[component], (self.at - self.middle).cross(axes[component])),
            false => (Vec3::ZERO, if self.flat { Vec3::Z } else { axes[component - d] }),
        };
        let about = self.J_inverse * moment;
        for (k, p) in self.nodes.iter().zip(&self.places) {
            s.push(*k, force / self.nodes.len() as f64 + about.cross(*p - self.middle), f);
        }
    }
}

/// A guess at the lowest w^2 of a free body: the least Rayleigh quotient of quadratic displacements.
fn guess(s: &Structure, K: &Symmetric, M: &Symmetric, rigid: &[Vec<f64>], centre: Vec3) -> f64 {
    let d = s.mesh.kind.dimension();
    let mut least = f64::INFINITY;
    let mut Mv = vec![0.0; s.n];
    for i in 0..d {
        for j in 0..d {
            for c in 0..d {
                let mut v = s.unknowns(
                    |x| {
                        let r = x - centre;
                        let mut u = Vec3::ZERO;
                        u[c] = r[i] * r[j];
                        u
                    },
                    Vec3::ZERO,
                );
                for _ in 0..2 {
                    M.times(&v, &mut Mv);
                    let shares: Vec<f64> = rigid.iter().map(|R| dot(R, &Mv)).collect();
                    rigid.iter().zip(shares).for_each(|(R, share)| add(-share, R, &mut v));
                }
                let mass = M.between(&v, &v);
                if mass > 0.0 {
                    least = least.min(K.between(&v, &v) / mass);
                }
            }
        }
    }
    least
}

/// Solves A x = b in place by elimination with pivots in rows.
fn solve_dense(A: &mut [f64], b: &mut [f64], n: usize) {
    for k in 0..n {
        let pivot = (k..n).fold(k, |p, r| if A[r * n + k].abs() > A[p * n + k].abs() { r } else { p });
        if pivot != k {
            (0..n).for_each(|c| A.swap(k * n + c, pivot * n + c));
            b.swap(k, pivot);
        }
        for r in k + 1..n {
            let factor = A[r * n + k] / A[k * n + k];
            for c in k..n {
                A[r * n + c] -= factor * A[k * n + c];
            }
            b[r] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|c| A[k * n + c] * b[c]).sum();
        b[k] = (b[k] - sum) / A[k * n + k];
    }
}
