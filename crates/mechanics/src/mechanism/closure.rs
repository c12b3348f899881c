//! Rows with multipliers: loops closed, coordinates coupled, redundant rows and all.
//!
//! With the rows G u = 0 (G u' = gamma) and the accelerations u_f' of the forest without them
//!   (G M^-1 G^T) lambda = gamma - G u_f',     u' = u_f' + M^-1 G^T lambda.
//! M^-1 G^T is found row by row with the articulated bodies at hand, O(n) each. The matrix is only semidefinite where rows
//! are redundant (Bricard, Bennett, planar linkages in space): multipliers of least size are taken.

use super::{ClosureRow, Coupled, Mechanism, Mode, Parent, Side, Work};
use crate::joint::Six;
use crate::kinematics::Kinematics;
use tippe_geometry::{Mat3, Vec3};

/// Rows that see less than this share of the inverse mass of their free bodies are redundant [-].
const REDUNDANT: f64 = 1e-10;
/// Loops that are open by x make redundant rows differ by this times x^2 at most [1/m^2].
const OPEN: f64 = 1e6;

impl Mechanism {
    /// Rows of the active loops and of the couplings at the motion in place; after `place`.
    pub fn measure_rows(
        &self,
        q: &[f64],
        u: &[f64],
        kinematics: &[Kinematics],
        of: impl Fn(u32) -> Kinematics,
        body: impl Fn(u32) -> (f64, Mat3),
        work: &mut Work,
    ) {
        work.rows.clear();
        work.ends.clear();
        work.terms.clear();
        for (owner, closing) in self.loops.iter().enumerate() {
            if !work.active[owner] || !work.taut[owner] {
                continue;
            }
            let (sides, frames) = self.frames(owner, kinematics, &of, work);
            let holds = closing.joint.holds();
            work.fresh.clear();
            closing.joint.rows(&frames[0], &frames[1], &mut work.fresh);
            for row in &work.fresh {
                let mut made = ClosureRow { owner, phi: row.phi, holonomic: row.holonomic, ..ClosureRow::default() };
                made.convective = row.convective;
                made.bounds = holds.sense().map(|_| holds.bounds());
                made.on_2 = row.J[1];
                let first = work.ends.len();
                for (k, side) in closing.sides.iter().enumerate() {
                    let J = row.J[k];
                    made.rate += J.angular.dot(frames[k].w) + J.linear.dot(frames[k].v);
                    let Parent::Link(link) = side.on else { continue };
                    let kin = &kinematics[link as usize];
                    let arm = kin.R * sides[k].p;
                    let on = Six { angular: J.angular + arm.cross(J.linear), linear: J.linear };
                    // the frame's origin accelerates by w x (w x arm) when the centre of mass does not
                    made.convective += J.linear.dot(kin.w.cross(kin.w.cross(arm)));
                    work.ends.push((link, on));
                    let (mass, I_c) = body(self.links[link as usize].body);
                    made.scale +=
                        on.linear.length_squared() / mass + turning_scale(&I_c, kin.R.transpose() * on.angular);
                }
                made.ends = first..work.ends.len();
                work.rows.push(made);
            }
        }
        for (k, Coupled { coupling, .. }) in self.couplings.iter().enumerate() {
            if !work.taut[self.loops.len() + k] {
                continue;
            }
            let first = work.terms.len();
            work.terms.extend(coupling.terms.iter().map(|term| (term.coordinate, term.factor)));
            work.rows.push(ClosureRow {
                owner: self.loops.len() + k,
                holonomic: true,
                phi: coupling.phi(q),
                rate: coupling.rate(u),
                terms: first..work.terms.len(),
                bounds: coupling.holds.sense().map(|_| coupling.holds.bounds()),
                ..ClosureRow::default()
            });
        }
    }

    /// The two frames of a loop, where they are fastened and how they move.
    pub(super) fn frames(
        &self,
        owner: usize,
        kinematics: &[Kinematics],
        of: &impl Fn(u32) -> Kinematics,
        work: &Work,
    ) -> ([Side; 2], [Kinematics; 2]) {
        let centre = |side: &Side| match side.on {
            Parent::World => Kinematics::WORLD,
            Parent::Body(body) => of(body),
            Parent::Link(k) => kinematics[k as usize],
        };
        let mut sides = self.loops[owner].sides;
        if let Some((p, q)) = work.held_at[owner] {
            (sides[1].p, sides[1].R) = (p, Mat3::from_quat(q));
        }
        let mut frames = sides.map(|side| centre(&side).of_frame(side.p, &side.R));
        [frames[0].p, frames[1].p] = self.near_positions(&sides, kinematics, of, work);
        (sides, frames)
    }

    /// Origins of the two frames of a loop from a point near it, the last body both hang on or where the first tree is fastened [m].
    /// Near a dead point at distance d a violation x moves coordinates by x/d and rates by x/d^2: the rounding of places far out in
    /// the world, which cancel, must not be part of it.
    fn near_positions(
        &self,
        sides: &[Side; 2],
        kinematics: &[Kinematics],
        of: &impl Fn(u32) -> Kinematics,
        work: &Work,
    ) -> [Vec3; 2] {
        let link = |parent: Parent| if let Parent::Link(k) = parent { Some(k) } else { None };
        let mut at = sides.map(|side| link(side.on));
        let mut p = [0, 1].map(|i| at[i].map_or(Vec3::ZERO, |k| kinematics[k as usize].R * sides[i].p));
        // places in the world where the trees are fastened; of two sides that meet in one tree none is needed
        let fastened = |parent: Parent, p: Vec3| match parent {
            Parent::Body(body) => {
                let kin = of(body);
                kin.p + kin.R * p
            }
            _ => p,
        };
        let mut ends = [0, 1].map(|i| if at[i].is_some() { Vec3::ZERO } else { fastened(sides[i].on, sides[i].p) });
        while at[0] != at[1] {
            // parents come before children: the later of the two goes up
            let i = usize::from(at[0] < at[1]);
            let Some(k) = at[i] else { break };
            let (link_k, here) = (&self.links[k as usize], &work.links[k as usize]);
            at[i] = link(link_k.parent);
            if at[i].is_some() {
                p[i] += here.r;
            } else {
                p[i] += here.from_1;
                ends[i] = fastened(link_k.parent, link_k.p_p1);
            }
        }
        [p[0], p[1] + (ends[1] - ends[0])]
    }

    /// Everything that depends on the place alone: answers to unit multipliers, and the factors of G M^-1 G^T; after
    /// `accelerate` (for the articulated bodies) and [`Self::measure_rows`].
    pub fn factor_rows(&self, work: &mut Work) {
        self.factor_counted(None, work);
    }

    /// [`Self::factor_rows`] where the number of independent rows may be known.
    fn factor_counted(&self, known: Option<usize>, work: &mut Work) {
        let (m, n, links) = (work.rows.len(), self.coordinates, self.links.len());
        self.find_pulled(work);
        let mut answers_u = std::mem::take(&mut work.answers_u);
        let mut answers_a = std::mem::take(&mut work.answers_a);
        answers_u.clear();
        answers_u.resize(m * n, 0.0);
        answers_a.clear();
        answers_a.resize(m * links, Six::default());
        let mut loads = std::mem::take(&mut work.loads);
        let mut tau = std::mem::take(&mut work.tau);
        let (pulled, pulled_from) = (std::mem::take(&mut work.pulled), std::mem::take(&mut work.pulled_from));
        let trees = std::mem::take(&mut work.trees);
        let of = |r: usize| &pulled[pulled_from[r]..pulled_from[r + 1]];
        loads.fill(Six::default());
        tau.fill(0.0);
        for r in 0..m {
            let row = &work.rows[r];
            for &(link, on) in work.ends_of(row) {
                loads[link as usize] = loads[link as usize] + on;
            }
            for &(coordinate, factor) in work.terms_of(row) {
                tau[coordinate] += factor;
            }
            let (u_dot, a) = (&mut answers_u[r * n..][..n], &mut answers_a[r * links..][..links]);
            for &tree in of(r) {
                let tree = &trees[tree as usize];
                self.answer(tree, &loads, &tau, work, u_dot, a);
                for &k in tree {
                    loads[k as usize] = Six::default();
                    let link = &self.links[k as usize];
                    tau[link.first..link.first + link.count].fill(0.0);
                }
            }
        }
        work.loads = loads;
        work.tau = tau;
        work.A.resize(m * m, 0.0);
        for r in 0..m {
            let (u_dot, a) = (&answers_u[r * n..][..n], &answers_a[r * links..][..links]);
            for s in 0..=r {
                // rows that pull at different trees do not feel each other
                let value = match of(r).iter().any(|tree| of(s).contains(tree)) {
                    true => work.row_rate(&work.rows[s], u_dot, a),
                    false => 0.0,
                };
                work.A[r * m + s] = value;
                work.A[s * m + r] = value;
            }
            if work.rows[r].scale == 0.0 {
                work.rows[r].scale = work.A[r * m + r];
            }
        }
        work.answers_u = answers_u;
        work.answers_a = answers_a;
        (work.pulled, work.pulled_from, work.trees) = (pulled, pulled_from, trees);
        work.right.clear();
        work.right.extend(work.rows.iter().map(|row| row.scale));
        work.rank = work.solver.factor(&work.A, &work.right, REDUNDANT, known);
        let pivot = work.solver.smallest_pivot();
        work.pivots = [work.pivots[0].min(pivot), work.pivots[1].max(pivot)];
    }

    /// The trees that each row pulls at, each once.
    fn find_pulled(&self, work: &mut Work) {
        let (mut pulled, mut from) = (std::mem::take(&mut work.pulled), std::mem::take(&mut work.pulled_from));
        pulled.clear();
        from.clear();
        from.push(0);
        for row in &work.rows {
            let start = pulled.len();
            let mut add = |link: usize| {
                let tree = work.tree_of[link];
                if !pulled[start..].contains(&tree) {
                    pulled.push(tree);
                }
            };
            for &(link, _) in work.ends_of(row) {
                add(link as usize);
            }
            for &(coordinate, _) in work.terms_of(row) {
                add(self.link_of(coordinate));
            }
            from.push(pulled.len());
        }
        (work.pulled, work.pulled_from) = (pulled, from);
    }

    /// More rows count than did, if they are seen to be independent where the loops are closed but for `violation` [m]: so a
    /// mechanism leaves a dead point it started from. After [`Self::close`] there.
    pub fn count_rows(&self, violation: f64, work: &mut Work) {
        if work.solver.rest() > REDUNDANT + OPEN * violation * violation {
            work.counted = None;
        }
    }

    /// G itself, row by row; after [`Self::measure_rows`]. `moved` is room, one for every link.
    pub fn gradients(&self, work: &Work, moved: &mut [Six], G: &mut Vec<f64>) {
        let n = self.coordinates;
        G.clear();
        G.resize(work.rows.len() * n, 0.0);
        let mut unit = vec![0.0; n];
        for i in 0..n {
            unit[i] = 1.0;
            self.displace(&unit, work, moved);
            for (r, row) in work.rows.iter().enumerate() {
                G[r * n + i] = work.row_rate(row, &unit, moved);
            }
            unit[i] = 0.0;
        }
    }

    /// Adds M^-1 G^T x to rates of the coordinates and motions of the links.
    pub(super) fn add_answers(&self, x: &[f64], work: &Work, u: &mut [f64], mut a: Option<&mut [Six]>) {
        let (n, links) = (self.coordinates, self.links.len());
        for (r, &value) in x.iter().enumerate() {
            if value == 0.0 {
                continue;
            }
            let (answers_u, answers_a) = (&work.answers_u[r * n..][..n], &work.answers_a[r * links..][..links]);
            for &tree in &work.pulled[work.pulled_from[r]..work.pulled_from[r + 1]] {
                for &k in &work.trees[tree as usize] {
                    let link = &self.links[k as usize];
                    for i in link.first..link.first + link.count {
                        u[i] += value * answers_u[i];
                    }
                    if let Some(a) = a.as_deref_mut() {
                        a[k as usize] = a[k as usize] + answers_a[k as usize] * value;
                    }
                }
            }
        }
    }

    /// Closes the loops: multipliers into `work.lambda`, `u_dot` and the links' accelerations corrected; after
    /// `accelerate` and [`Self::measure_rows`].
    pub fn close(&self, work: &mut Work, u_dot: &mut [f64]) {
        if work.rows.is_empty() {
            work.lambda.clear();
            work.decides = false;
            return;
        }
        let mut a = std::mem::take(&mut work.free);
        a.clear();
        a.extend(work.links.iter().map(|l| l.a));
        // Redundant rows stay so where the trials of a step leave the loops open, and a dead point makes no other row redundant:
        // how many count is found where the loops are closed, and kept.
        let given = work.modes.iter().map(|mode| *mode != Mode::Free);
        let one_way = work.taut.iter().enumerate().filter(|(owner, _)| self.holds(*owner).sense().is_some());
        let structure = work.active.iter().copied().chain(given).chain(one_way.map(|(_, taut)| *taut));
        let known =
            work.counted.as_ref().filter(|(_, of)| of.iter().copied().eq(structure.clone())).map(|(rank, _)| *rank);
        let structure = if known.is_none() { structure.collect() } else { Vec::new() };
        self.factor_counted(known, work);
        if known.is_none() {
            work.counted = Some((work.rank, structure));
        }
        work.right.clear();
        for r in 0..work.rows.len() {
            let row = &work.rows[r];
            let wanted = -row.convective - work.row_rate(row, u_dot, &a);
            work.right.push(wanted);
        }
        let mut lambda = std::mem::take(&mut work.lambda);
        lambda.resize(work.rows.len(), 0.0);
        match work.decides {
            true => self.decide(work, u_dot, &mut lambda),
            false => work.solver.solve(&work.right, &mut lambda),
        }
        self.add_answers(&lambda, work, u_dot, Some(&mut a));
        for (link, a) in work.links.iter_mut().zip(&a) {
            link.a = *a;
        }
        work.free = a;
        work.lambda = lambda;
        self.note_modes(work, u_dot);
    }

    /// Takes from changes of the coordinates (`rates` false) or rates, and from the motions of the links they mean, what
    /// [`Self::correction`] will undo.
    pub fn keep_along_rows(&self, rates: bool, work: &mut Work, change: &mut [f64], motions: &mut [Six]) {
        let mut right = std::mem::take(&mut work.right);
        right.clear();
        right.extend(work.rows.iter().map(|row| match rates || row.holonomic {
            true => -work.row_rate(row, change, motions),
            false => 0.0,
        }));
        let mut x = vec![0.0; right.len()];
        work.solver.solve(&right, &mut x);
        work.right = right;
        self.add_answers(&x, work, change, Some(motions));
    }

    /// Changes of the coordinates that undo the rows' violation (`rates` false) or of the rates that undo its rate, least in
    /// the metric of the masses; after [`Self::close`] (or [`Self::factor_rows`]). Returns the largest violation.
    pub fn correction(&self, rates: bool, work: &mut Work, change: &mut [f64]) -> f64 {
        change.fill(0.0);
        if work.rows.is_empty() {
            return 0.0;
        }
        work.right.clear();
        let mut largest: f64 = 0.0;
        for row in &work.rows {
            let wrong = match (rates, row.holonomic) {
                (true, _) => row.rate,
                (false, true) => row.phi,
                (false, false) => 0.0,
            };
            largest = largest.max(wrong.abs());
            work.right.push(-wrong);
        }
        let mut x = std::mem::take(&mut work.tau);
        x.resize(work.rows.len().max(self.coordinates), 0.0);
        work.solver.solve(&work.right, &mut x[..work.rows.len()]);
        self.add_answers(&x[..work.rows.len()], work, change, None);
        x.truncate(self.coordinates);
        work.tau = x;
        for (i, mode) in work.modes.iter().enumerate() {
            if *mode != Mode::Free {
                change[i] = 0.0;
            }
        }
        largest
    }
}

impl Work {
    /// G x of one row for rates (or rates of rates) of the coordinates and motions of the links.
    pub(super) fn row_rate(&self, row: &ClosureRow, u: &[f64], a: &[Six]) -> f64 {
        let links: f64 = self.ends_of(row).iter().map(|(link, on)| on.dot(&a[*link as usize])).sum();
        let coordinates: f64 = self.terms_of(row).iter().map(|(coordinate, factor)| factor * u[*coordinate]).sum();
        links + coordinates
    }
}

/// t^T I^-1 t for a bound: bodies without inertia about an axis count as rods.
fn turning_scale(I_c: &Mat3, t: Vec3) -> f64 {
    let size = t.length_squared();
    if size == 0.0 {
        return 0.0;
    }
    let inertia = t.dot(*I_c * t) / size;
    if inertia > 0.0 { size / inertia } else { 0.0 }
}
