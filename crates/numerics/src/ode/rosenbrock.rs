//! Rodas: linearly implicit (Rosenbrock), order 4(3), L-stable and stiffly accurate, six stages.
//!
//! With W = I/(gamma h) - J, and u_i the transformed stages (Hairer, Wanner 1996, IV.7, eq. 7.25 and the method RODAS):
//!   W u_i = f(t + alpha_i h, y0 + sum_j a_ij u_j) + sum_j (c_ij / h) u_j + gamma_i h f_t ,   y1 = y0 + sum_j m_j u_j
//! The last stage is the error estimate. J is the system's own or comes from differences, one evaluation per colour and column of
//! those nodes of the block pattern that the system does not write; it is exact to about 1e-5 of its size, which costs Rodas none of its stability and little of its order.

use super::{Implicit, Jacobian, Stepper, System, Trouble};
use crate::{BlockLu, BlockPattern};

const GAMMA: f64 = 0.25;
const ALPHA: [f64; 6] = [0.0, 0.386, 0.21, 0.63, 1.0, 1.0];
const GAMMA_SUM: [f64; 6] = [0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0];
const A: [[f64; 5]; 6] = [
    [0.0; 5],
    [1.544, 0.0, 0.0, 0.0, 0.0],
    [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
];
const C: [[f64; 5]; 6] = [
    [0.0; 5],
    [-5.6688, 0.0, 0.0, 0.0, 0.0],
    [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
    [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
    [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
    [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054],
];
const H2: [f64; 5] = [10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662];
const H3: [f64; 5] = [-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872];
/// Increment of time for df/dt, as a share of the step [-]: much shorter ones show the rounding of places rather than where they go.
const TIME_INCREMENT: f64 = 0.1;

impl Stepper {
    pub(super) fn attempt_rodas4(&mut self, system: &mut dyn System) -> Result<f64, Trouble> {
        let n = self.y0.len();
        let m = system.pattern().rows();
        let (t, h) = (self.t0, self.h);
        let mut implicit = self.implicit.take().unwrap_or_else(|| {
            let pattern = system.pattern();
            let colours = pattern.colours(|node| system.writes(node));
            Box::new(Implicit {
                colour_count: colours.iter().filter(|c| **c != u32::MAX).max().map_or(0, |c| c + 1),
                colours,
                lu: BlockLu::new(pattern),
                J: Jacobian::new(system),
                delta: vec![0.0; n],
                central: vec![false; n],
                f_back: vec![0.0; n],
                solution: vec![0.0; m],
                ..Implicit::default()
            })
        });
        if !implicit.fresh {
            self.jacobian(system, &mut implicit);
        }
        let shift = 1.0 / (GAMMA * h);
        if let Err(e) = implicit.lu.factor(system.pattern(), &implicit.J.states, shift) {
            self.implicit = Some(implicit);
            return Err(Trouble::Singular(e.0));
        }
        if self.k.len() < 6 * n {
            self.k.resize(6 * n, 0.0);
        }
        for s in 0..6 {
            let (done, rest) = self.k.split_at_mut(s * n);
            let u = &mut rest[..n];
            if s == 0 {
                u.copy_from_slice(&self.f0);
            } else {
                self.stage.copy_from_slice(&self.y0);
                for (j, uj) in done.chunks_exact(n).enumerate() {
                    let a = A[s][j];
                    for i in 0..n {
                        self.stage[i] += a * uj[i];
                    }
                }
                system.rates(t + ALPHA[s] * h, &self.stage, u);
                self.evaluations += 1;
                for (j, uj) in done.chunks_exact(n).enumerate() {
                    let c = C[s][j] / h;
                    for i in 0..n {
                        u[i] += c * uj[i];
                    }
                }
            }
            let g = GAMMA_SUM[s] * h;
            for i in 0..n {
                u[i] += g * implicit.J.f_t[i];
            }
            implicit.lu.solve(&mut u[..m]);
            // quadratures: u_q = gamma h (r_q + J_q u)
            if n > m {
                let (states, integrals) = u.split_at_mut(m);
                integrate_quadratures(system, &implicit, shift, states, integrals);
            }
        }
        // y1 = last stage value + u6, and u6 is the error
        let u6 = &self.k[5 * n..6 * n];
        for i in 0..n {
            self.y1[i] = self.stage[i] + u6[i];
            self.error[i] = u6[i];
        }
        system.rates(t + h, &self.y1, &mut self.f1);
        self.evaluations += 1;
        for i in 0..n {
            let (mut r3, mut r4) = (0.0, 0.0);
            for j in 0..5 {
                r3 += H2[j] * self.k[j * n + i];
                r4 += H3[j] * self.k[j * n + i];
            }
            self.dense[i] = self.y0[i];
            self.dense[n + i] = self.y1[i] - self.y0[i];
            self.dense[2 * n + i] = r3;
            self.dense[3 * n + i] = r4;
            self.dense[4 * n + i] = 0.0;
        }
        self.stiffness = h * implicit.largest_eigenvalue;
        self.implicit = Some(implicit);
        Ok(system.error_norm(&self.y0, &self.y1, &self.error))
    }

    /// J, the rows of the quadratures and df/dt at (t0, y0): the system's own, or differences.
    fn jacobian(&mut self, system: &mut dyn System, implicit: &mut Implicit) {
        implicit.central.fill(false);
        system.increments(&self.y0, &mut implicit.delta, &mut implicit.central);
        implicit.J.clear();
        if !system.jacobian(self.t0, &self.y0, &mut implicit.J) {
            self.differences(system, implicit);
        }
        implicit.largest_eigenvalue = largest_eigenvalue(system.pattern(), implicit);
        implicit.fresh = true;
    }

    /// Differences of all rates for J, the rows of the quadratures and df/dt at (t0, y0), but for columns that the system has written.
    fn differences(&mut self, system: &mut dyn System, implicit: &mut Implicit) {
        let n = self.y0.len();
        let m = system.pattern().rows();
        system.hold(Some((self.t0, &self.y0)));
        let pattern = system.pattern().clone();
        let widest = (0..pattern.nodes()).map(|k| pattern.size(k)).max().unwrap_or(0);
        for colour in 0..implicit.colour_count {
            for c in 0..widest {
                let columns = (0..pattern.nodes())
                    .filter(|&k| implicit.colours[k] == colour && c < pattern.size(k))
                    .map(|k| (k, pattern.offsets[k] + c));
                let (mut any, mut back) = (false, false);
                self.stage.copy_from_slice(&self.y0);
                for (_, column) in columns.clone() {
                    let delta = implicit.delta[column];
                    self.stage[column] += delta;
                    any |= delta != 0.0;
                    back |= delta != 0.0 && implicit.central[column];
                }
                if any {
                    system.rates(self.t0, &self.stage, &mut self.f1);
                    self.evaluations += 1;
                } else {
                    self.f1.copy_from_slice(&self.f0);
                }
                if back {
                    for (_, column) in columns.clone() {
                        self.stage[column] =
                            self.y0[column] - if implicit.central[column] { implicit.delta[column] } else { 0.0 };
                    }
                    system.rates(self.t0, &self.stage, &mut implicit.f_back);
                    self.evaluations += 1;
                }
                for (k, column) in columns {
                    let (y, delta) = (self.y0[column], implicit.delta[column]);
                    let both = back && implicit.central[column];
                    let from = if both { &implicit.f_back } else { &self.f0 };
                    // nothing depends on a component without increment
                    let difference = (y + delta) - if both { y - delta } else { y };
                    let inverse = if difference == 0.0 { 0.0 } else { 1.0 / difference };
                    let size = pattern.size(k);
                    for (r, q) in system.quadratures(k).enumerate() {
                        let i = m + q;
                        implicit.J.quadratures_mut(k, 0)[r * size + c] = (self.f1[i] - from[i]) * inverse;
                    }
                    let own = implicit.J.states.block_mut(k, 0, size * size);
                    for r in 0..size {
                        let i = pattern.offsets[k] + r;
                        own[r * size + c] = (self.f1[i] - from[i]) * inverse;
                    }
                    for &row in &pattern.neighbours[k] {
                        let row = row as usize;
                        let slot = pattern.slot(row, k).unwrap_or(0);
                        for (r, q) in system.quadratures(row).enumerate() {
                            let i = m + q;
                            implicit.J.quadratures_mut(row, slot)[r * size + c] = (self.f1[i] - from[i]) * inverse;
                        }
                        let rows = pattern.size(row);
                        let block = implicit.J.states.block_mut(row, slot, rows * size);
                        for r in 0..rows {
                            let i = pattern.offsets[row] + r;
                            block[r * size + c] = (self.f1[i] - from[i]) * inverse;
                        }
                    }
                }
            }
        }
        // df/dt = (-3 f(t) + 4 f(t + dt) - f(t + 2 dt))/(2 dt): nothing before t counts, which may be on the other side of a kink
        let dt = TIME_INCREMENT * self.h;
        system.rates(self.t0 + dt, &self.y0, &mut self.f1);
        system.rates(self.t0 + 2.0 * dt, &self.y0, &mut implicit.f_back);
        self.evaluations += 2;
        for i in 0..n {
            implicit.J.f_t[i] = (4.0 * (self.f1[i] - self.f0[i]) - (implicit.f_back[i] - self.f0[i])) / (2.0 * dt);
        }
        system.hold(None);
    }
}

/// u_q = gamma h (r_q + J_q u), in place of r_q.
fn integrate_quadratures(system: &dyn System, implicit: &Implicit, shift: f64, states: &[f64], integrals: &mut [f64]) {
    let pattern = system.pattern();
    for i in 0..pattern.nodes() {
        for (r, q) in system.quadratures(i).enumerate() {
            let mut sum = integrals[q];
            for slot in 0..=pattern.neighbours[i].len() {
                let j = if slot == 0 { i } else { pattern.neighbours[i][slot - 1] as usize };
                let size = pattern.size(j);
                let row = &implicit.J.quadratures(i, slot)[r * size..][..size];
                for (a, u) in row.iter().zip(&states[pattern.offsets[j]..][..size]) {
                    sum += a * u;
                }
            }
            integrals[q] = sum / shift;
        }
    }
}

/// Size of the largest eigenvalue of J, by the growth of the vector of increments under repeated multiplication.
fn largest_eigenvalue(pattern: &BlockPattern, implicit: &mut Implicit) -> f64 {
    let m = pattern.rows();
    let (x, y) = (&mut implicit.delta, &mut implicit.solution);
    let norm = |v: &[f64]| v.iter().map(|a| a * a).sum::<f64>().sqrt();
    let mut growth = 0.0;
    let mut counted = 0;
    for iteration in 0..12 {
        let before = norm(&x[..m]);
        implicit.J.states.multiply(pattern, &x[..m], y);
        let after = norm(y);
        if before == 0.0 || after == 0.0 || !after.is_finite() {
            return 0.0;
        }
        if iteration >= 4 {
            growth += libm::log(after / before);
            counted += 1;
        }
        for i in 0..m {
            x[i] = y[i] / after;
        }
    }
    libm::exp(growth / counted as f64)
}
