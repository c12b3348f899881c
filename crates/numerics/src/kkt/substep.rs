//! A step in small steps: in each one soft pass over the rows with last time's impulses as a start, a move, and one pass that takes the push
//! out of the velocities again (Macklin 2019; Catto 2023).
//!
//! In a substep of length dt a row with violation phi is a spring and damper of frequency omega and damping ratio zeta on the mass
//! m = 1/(J M^-1 J^T) it sees:   k = m omega^2,  c = 2 m zeta omega,  eps = 1/(dt (k dt + c)),  b = -phi k/(k dt + c).
//! omega is that of the substep, or of the row's own stiffness where that is lower: columns of a patch share what it carries by their areas.

use super::{Follow, GROUND, Problem, Report, Solver};

/// omega dt of the springs [-].
const FREQUENCY: f64 = 0.6;
/// Their damping ratio [-].
const RATIO: f64 = 2.0;
/// Largest push [m/s].
const PUSH: f64 = 3.0;

/// A row with what it needs at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quick {
    bodies: [u32; 2],
    J: [[f64; 6]; 2],
    /// M^-1 J^T.
    WJ: [[f64; 6]; 2],
    yields: f64,
    eps: f64,
    gap: f64,
    /// What bodies whose motion is given add to the rate.
    given: f64,
    /// b over the violation.
    bias: f64,
    target: f64,
    lower: f64,
    upper: f64,
    lambda: f64,
    ball: u8,
    soft: bool,
    follow: u32,
    count: u32,
    factor: f64,
    /// Largest bound, in a substep.
    most: f64,
}

impl Quick {
    #[inline]
    fn rate(&self, u: &[f64]) -> f64 {
        let mut sum = 0.0;
        for s in 0..2 {
            if self.bodies[s] != GROUND {
                let u = &u[6 * self.bodies[s] as usize..][..6];
                let J = &self.J[s];
                sum += (J[0] * u[0] + J[1] * u[1] + J[2] * u[2]) + (J[3] * u[3] + J[4] * u[4] + J[5] * u[5]);
            }
        }
        sum
    }

    #[inline]
    fn shift(&self, lambda: f64, u: &mut [f64]) {
        for s in 0..2 {
            if self.bodies[s] != GROUND {
                let u = &mut u[6 * self.bodies[s] as usize..][..6];
                for i in 0..6 {
                    u[i] += self.WJ[s][i] * lambda;
                }
            }
        }
    }
}

impl Solver {
    /// Goes from the velocities `u0` through a step of length `h` in `count` substeps; `follows` are the bounds of friction, by row. The
    /// displacement of the bodies is left in `moved`. Impulses in the rows (over the whole step) are the start and the answer.
    pub fn substeps(
        &mut self,
        problem: &mut Problem,
        follows: &[Follow],
        u0: &[f64],
        h: f64,
        count: usize,
        moved: &mut Vec<f64>,
    ) -> Report {
        let n = problem.mass.len();
        let share = 1.0 / count as f64;
        let dt = h * share;
        self.gather(problem, follows, h, share);
        let Problem { inverse, momentum, u, rows, groups, .. } = problem;
        u.clear();
        u.extend_from_slice(u0);
        // what free motion adds in a substep
        self.x.clear();
        for k in 0..n {
            for i in 0..6 {
                let free: f64 = (0..6).map(|j| inverse[k][6 * i + j] * momentum[6 * k + j]).sum();
                self.x.push((free - u0[6 * k + i]) * share);
            }
        }
        moved.clear();
        moved.resize(6 * n, 0.0);
        self.best.clear();
        self.best.resize(rows.len(), 0.0);
        for group in groups.iter_mut() {
            group.lambda = group.lambda.map(|x| x * share);
        }
        let mut sums = vec![[0.0; 6]; groups.len()];
        for step in 0..count {
            for (u, x) in u.iter_mut().zip(&self.x) {
                *u += x;
            }
            for row in &self.quick {
                row.shift(row.lambda, u);
            }
            for group in groups.iter() {
                super::sweep::shift_group(inverse, group, &group.lambda, u);
            }
            for relax in [false, true] {
                for g in 0..groups.len() {
                    super::sweep::settle(inverse, &mut groups[g], u);
                }
                let elapsed = dt * (step + usize::from(relax)) as f64;
                quick_pass(&mut self.quick, moved, u, [dt, elapsed], relax, step % 2 == 1);
                if !relax {
                    for (d, u) in moved.iter_mut().zip(u.iter()) {
                        *d += dt * u;
                    }
                }
            }
            for (sum, row) in self.best.iter_mut().zip(&self.quick) {
                *sum += row.lambda;
            }
            for (sum, group) in sums.iter_mut().zip(groups.iter()) {
                for r in 0..6 {
                    sum[r] += group.lambda[r];
                }
            }
        }
        for (row, sum) in rows.iter_mut().zip(&self.best) {
            row.lambda = *sum;
        }
        for (group, sum) in groups.iter_mut().zip(&sums) {
            group.lambda = *sum;
        }
        Report { sweeps: 2 * count, converged: true, ..Report::default() }
    }

    fn gather(&mut self, problem: &Problem, follows: &[Follow], h: f64, share: f64) {
        self.quick.clear();
        let dt = h * share;
        for (row, follow) in problem.rows.iter().zip(follows) {
            let mut quick = Quick {
                bodies: row.bodies,
                J: row.J,
                gap: row.gap,
                given: row.given,
                target: row.target,
                lower: row.lower * share,
                upper: row.upper * share,
                lambda: if row.lambda.is_nan() { 0.0 } else { row.lambda * share },
                ball: row.ball,
                soft: !row.gap.is_nan(),
                follow: follow.first,
                count: follow.count,
                factor: follow.factor,
                most: follow.most * share,
                ..Quick::default()
            };
            let mut sum = 0.0;
            for s in 0..2 {
                if row.bodies[s] != GROUND {
                    let W = &problem.inverse[row.bodies[s] as usize];
                    for i in 0..6 {
                        quick.WJ[s][i] = (0..6).map(|j| W[6 * i + j] * row.J[s][j]).sum();
                        sum += row.J[s][i] * quick.WJ[s][i];
                    }
                }
            }
            quick.yields = sum;
            // at rest a row carries b/eps in the step: h k |phi|
            let own = (row.target + row.given) / (row.compliance * -row.gap * h);
            let own = if row.gap < 0.0 && own > 0.0 { (own * sum).sqrt() } else { f64::INFINITY };
            let omega = (FREQUENCY / dt).min(own);
            quick.bias = omega / (omega * dt + 2.0 * RATIO);
            quick.eps = match quick.soft {
                true => sum / (dt * omega * (omega * dt + 2.0 * RATIO)),
                // impulses are those of a substep
                false => row.compliance / share,
            };
            self.quick.push(quick);
        }
    }
}

/// One pass over all rows, in order or backwards, of a substep `dt` when `elapsed` is over; `relax`: without push and compliance.
fn quick_pass(rows: &mut [Quick], moved: &[f64], u: &mut [f64], [dt, elapsed]: [f64; 2], relax: bool, backward: bool) {
    let mut k = 0;
    while k < rows.len() {
        let mut at = if backward { rows.len() - 1 - k } else { k };
        if backward {
            for back in 1..3 {
                if at >= back && rows[at - back].ball as usize == back + 1 {
                    at -= back;
                    break;
                }
            }
        }
        let n = rows[at].ball.max(1) as usize;
        if rows[at].follow != u32::MAX {
            let from = rows[at].follow as usize;
            let normal: f64 = rows[from..from + rows[at].count as usize].iter().map(|row| row.lambda.max(0.0)).sum();
            let bound = (rows[at].factor * normal).min(rows[at].most);
            for row in &mut rows[at..at + n] {
                (row.lower, row.upper) = (-bound, bound);
            }
        }
        if n > 1 {
            let scale = rows[at..at + n].iter().fold(0.0_f64, |most, row| most.max(row.yields));
            let mut wanted = [0.0; 3];
            let mut size = 0.0;
            for i in 0..n {
                let row = &rows[at + i];
                wanted[i] = row.lambda - (row.given + row.rate(u)) / scale;
                size += wanted[i] * wanted[i];
            }
            let size = size.sqrt();
            let shrink = if size > rows[at].upper { rows[at].upper / size } else { 1.0 };
            for i in 0..n {
                let row = &mut rows[at + i];
                let change = wanted[i] * shrink - row.lambda;
                row.lambda += change;
                rows[at + i].shift(change, u);
            }
        } else {
            let row = &rows[at];
            let (target, eps) = if row.soft {
                let phi = row.gap + row.rate(moved) + row.given * elapsed;
                let (target, eps) = if phi > 0.0 {
                    (-phi / dt, 0.0)
                } else if relax {
                    (0.0, 0.0)
                } else {
                    ((-phi * row.bias).min(PUSH), row.eps)
                };
                (target - row.given, eps)
            } else {
                (row.target, row.eps)
            };
            let wanted = row.lambda + (target - row.rate(u) - eps * row.lambda) / (row.yields + eps);
            let change = wanted.clamp(row.lower, row.upper) - row.lambda;
            rows[at].lambda += change;
            rows[at].shift(change, u);
        }
        k += n;
    }
}
