//! One-step integrators for y' = f(t, y), all with the same dense output.
//!
//! A [`Stepper`] owns one step: from (t, y0, f0) it attempts y1 = y(t + h) and says how large the error is in the system's
//! own norm; the caller accepts or tries again. Nothing is carried from step to step but y and f, so a step can be cut at
//! an event and resumed at no cost. Behind the states come the `quadratures` of the pattern's nodes, node by node:
//! integrals on which nothing depends and that are not part of the error.
//!
//! Dense output of every method, with theta = (t - t0)/h in [0, 1] (Hairer, Norsett, Wanner 1993, II.6):
//!   y(theta) = r1 + theta (r2 + (1 - theta) (r3 + theta (r4 + (1 - theta) r5)))

mod explicit;
mod rosenbrock;

use crate::{BlockLu, BlockMatrix, BlockPattern};
use serde::{Deserialize, Serialize};

/// What is integrated.
pub trait System {
    /// Number of components, quadratures included.
    fn len(&self) -> usize;
    /// True when there is nothing to integrate.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Which of the trailing components, on which nothing depends, belong to a node of the pattern: each depends on the
    /// states of its node and that node's neighbours only. Counted from the first of them, node after node.
    fn quadratures(&self, node: usize) -> std::ops::Range<usize>;
    /// f(t, y).
    fn rates(&mut self, t: f64, y: &[f64], f: &mut [f64]);
    /// Size of the error estimate, 1 where it just meets the tolerance.
    fn error_norm(&mut self, y0: &[f64], y1: &[f64], error: &[f64]) -> f64;
    /// Which blocks of the Jacobian may be non-zero (quadratures not counted).
    fn pattern(&self) -> &BlockPattern;
    /// Increment of each component for the differences of the Jacobian; zero for one on which no rate depends now. `central`, false at
    /// first, is for those whose difference is to be taken both ways: it costs an evaluation more.
    fn increments(&mut self, y: &[f64], delta: &mut [f64], central: &mut [bool]);
    /// Called before the differences of the Jacobian about (t, y), the place of the last evaluation, are taken, and with `None` behind
    /// them: in between, what does not act there (two bodies just apart) must not act in its neighbourhood either.
    fn hold(&mut self, _at: Option<(f64, &[f64])>) {}
    /// True of a node by whose states [`Self::jacobian`] writes the derivatives, as long as the pattern stands; those by the states of others
    /// come from differences.
    fn writes(&self, _node: usize) -> bool {
        false
    }
    /// Writes its derivatives at (t, y), the place of the last evaluation, into `J`, which is all zero: all of them and df/dt, or, where it
    /// returns false, those by the states of the nodes that it [`Self::writes`].
    fn jacobian(&mut self, _t: f64, _y: &[f64], _J: &mut Jacobian) -> bool {
        false
    }
}

/// Derivatives of a system's rates, block by block.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    /// Those of the states by the states.
    pub states: BlockMatrix,
    /// df/dt.
    pub f_t: Vec<f64>,
    /// Those of the quadratures: for each node the blocks by its own states and by those of each neighbour.
    quadratures: Vec<f64>,
    starts: Vec<Vec<usize>>,
}

impl Jacobian {
    /// All zero.
    pub fn new(system: &dyn System) -> Self {
        let pattern = system.pattern();
        let mut next = 0;
        let mut starts = Vec::with_capacity(pattern.nodes());
        for i in 0..pattern.nodes() {
            let columns = std::iter::once(i).chain(pattern.neighbours[i].iter().map(|&j| j as usize));
            let mut start_of = |j: usize| {
                let start = next;
                next += system.quadratures(i).len() * pattern.size(j);
                start
            };
            starts.push(columns.map(&mut start_of).collect());
        }
        Jacobian {
            states: BlockMatrix::new(pattern),
            f_t: vec![0.0; system.len()],
            quadratures: vec![0.0; next],
            starts,
        }
    }

    /// All zero again.
    fn clear(&mut self) {
        self.states.clear();
        self.f_t.fill(0.0);
        self.quadratures.fill(0.0);
    }

    /// Those of the quadratures of a node by its own states (`slot` 0) or by those of its neighbour `slot - 1`: row major, from the first row on.
    pub fn quadratures_mut(&mut self, node: usize, slot: usize) -> &mut [f64] {
        &mut self.quadratures[self.starts[node][slot]..]
    }

    /// As [`Self::quadratures_mut`].
    pub fn quadratures(&self, node: usize, slot: usize) -> &[f64] {
        &self.quadratures[self.starts[node][slot]..]
    }
}

/// The integrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Dormand-Prince 5(4), explicit.
    Dopri5,
    /// Rodas 4(3), linearly implicit, L-stable.
    Rodas4,
    /// Classical Runge-Kutta of order 4, fixed step.
    Rk4,
    /// Heun's method of order 2, fixed step.
    Heun,
    /// Explicit Euler, fixed step.
    Euler,
}

impl Method {
    /// Name used in scenes and reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::Rodas4 => "rodas4",
            Method::Rk4 => "rk4",
            Method::Heun => "heun",
            Method::Euler => "euler",
        }
    }

    /// Order of the error estimate plus one: the exponent of the step-size controller is its inverse.
    pub fn control_order(self) -> f64 {
        match self {
            Method::Dopri5 => 5.0,
            Method::Rodas4 => 4.0,
            Method::Rk4 | Method::Heun | Method::Euler => 1.0,
        }
    }

    /// True for methods without an error estimate.
    pub fn is_fixed(self) -> bool {
        matches!(self, Method::Rk4 | Method::Heun | Method::Euler)
    }
}

/// The attempt could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The state or its rate became NaN or infinite at this component.
    NotFinite(usize),
    /// The iteration matrix is singular at this row.
    Singular(usize),
}

/// One step, with room for everything it needs.
#[derive(Clone, Debug, Default)]
pub struct Stepper {
    /// Start of the step.
    pub t0: f64,
    /// Length of the last attempt.
    pub h: f64,
    /// State at `t0`.
    pub y0: Vec<f64>,
    /// Rate at `t0`.
    pub f0: Vec<f64>,
    /// State at `t0 + h`.
    pub y1: Vec<f64>,
    /// Rate at `t0 + h`.
    pub f1: Vec<f64>,
    /// Coefficients r1..r5 of the dense output, one after the other.
    pub dense: Vec<f64>,
    /// Evaluations of the right-hand side so far.
    pub evaluations: u64,
    /// h times an estimate of the largest eigenvalue of the Jacobian at the last attempt.
    pub stiffness: f64,
    k: Vec<f64>,
    error: Vec<f64>,
    stage: Vec<f64>,
    implicit: Option<Box<Implicit>>,
}

/// What only the linearly implicit method needs.
#[derive(Clone, Debug, Default)]
struct Implicit {
    colours: Vec<u32>,
    colour_count: u32,
    lu: BlockLu,
    J: Jacobian,
    delta: Vec<f64>,
    central: Vec<bool>,
    /// Rates on the other side of a central difference.
    f_back: Vec<f64>,
    solution: Vec<f64>,
    largest_eigenvalue: f64,
    fresh: bool,
}

impl Stepper {
    /// A stepper that stands at (t, y).
    pub fn new(system: &mut dyn System, t: f64, y: &[f64]) -> Self {
        let mut stepper = Stepper::default();
        stepper.resume(system, t, y);
        stepper
    }

    /// Stands at (t, y), forgetting everything else; for use after a jump of state or equations.
    pub fn resume(&mut self, system: &mut dyn System, t: f64, y: &[f64]) {
        let n = y.len();
        if self.y0.len() != n {
            for v in [&mut self.y0, &mut self.f0, &mut self.y1, &mut self.f1, &mut self.error, &mut self.stage] {
                v.clear();
                v.resize(n, 0.0);
            }
            self.dense.clear();
            self.dense.resize(5 * n, 0.0);
            self.k.clear();
            self.implicit = None;
        }
        self.t0 = t;
        self.h = 0.0;
        self.y0.copy_from_slice(y);
        self.y1.copy_from_slice(y);
        self.dense.fill(0.0);
        self.dense[..n].copy_from_slice(y);
        system.rates(t, &self.y0, &mut self.f0);
        self.evaluations += 1;
        self.forget_jacobian();
    }

    /// Rates anew at the present state, which was moved a little.
    pub fn refresh(&mut self, system: &mut dyn System) {
        system.rates(self.t0, &self.y0, &mut self.f0);
        self.evaluations += 1;
    }

    /// Size of the largest eigenvalue of the last Jacobian [1/s]; zero before the first implicit attempt.
    pub fn largest_eigenvalue(&self) -> f64 {
        self.implicit.as_ref().map_or(0.0, |implicit| implicit.largest_eigenvalue)
    }

    /// The Jacobian must be computed anew at the next implicit attempt.
    pub fn forget_jacobian(&mut self) {
        if let Some(implicit) = &mut self.implicit {
            implicit.fresh = false;
        }
    }

    /// The block pattern of the system changed.
    pub fn forget_pattern(&mut self) {
        self.implicit = None;
    }

    /// Attempts a step of length `h` and returns its error norm (0 for fixed-step methods).
    pub fn attempt(&mut self, system: &mut dyn System, method: Method, h: f64) -> Result<f64, Trouble> {
        self.h = h;
        let norm = match method {
            Method::Dopri5 => self.attempt_dopri5(system),
            Method::Rodas4 => self.attempt_rodas4(system)?,
            Method::Rk4 => self.attempt_rk4(system),
            Method::Heun => self.attempt_heun(system),
            Method::Euler => self.attempt_euler(system),
        };
        match self.y1.iter().position(|v| !v.is_finite()) {
            None => Ok(if norm.is_finite() { norm } else { 1e30 }),
            Some(i) => Err(Trouble::NotFinite(i)),
        }
    }

    /// Makes the end of the last attempt the start of the next.
    pub fn accept(&mut self) {
        self.t0 += self.h;
        std::mem::swap(&mut self.y0, &mut self.y1);
        std::mem::swap(&mut self.f0, &mut self.f1);
        self.forget_jacobian();
    }

    /// Fills the dense output of a two-point Hermite cubic.
    fn hermite(&mut self) {
        let n = self.y0.len();
        let h = self.h;
        for i in 0..n {
            let r2 = self.y1[i] - self.y0[i];
            let r3 = h * self.f0[i] - r2;
            self.dense[i] = self.y0[i];
            self.dense[n + i] = r2;
            self.dense[2 * n + i] = r3;
            self.dense[3 * n + i] = r2 - h * self.f1[i] - r3;
            self.dense[4 * n + i] = 0.0;
        }
    }
}

/// Dense output: component `i` of `n` at `theta`.
pub fn interpolate(dense: &[f64], n: usize, i: usize, theta: f64) -> f64 {
    let s = 1.0 - theta;
    dense[i] + theta * (dense[n + i] + s * (dense[2 * n + i] + theta * (dense[3 * n + i] + s * dense[4 * n + i])))
}

/// Dense output: all components at `theta`.
pub fn interpolate_all(dense: &[f64], theta: f64, y: &mut [f64]) {
    let n = y.len();
    for (i, value) in y.iter_mut().enumerate() {
        *value = interpolate(dense, n, i, theta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stiff or smooth test problem with a known answer and one quadrature.
    struct Oscillator {
        omega: f64,
        damping: f64,
        pattern: BlockPattern,
    }

    impl Oscillator {
        fn new(omega: f64, damping: f64) -> Self {
            Oscillator {
                omega,
                damping,
                pattern: BlockPattern { offsets: vec![0, 2], neighbours: vec![vec![]], priority: vec![] },
            }
        }
    }

    impl System for Oscillator {
        fn len(&self) -> usize {
            3
        }
        fn quadratures(&self, _: usize) -> std::ops::Range<usize> {
            0..1
        }
        fn rates(&mut self, t: f64, y: &[f64], f: &mut [f64]) {
            f[0] = y[1];
            f[1] = -self.omega * self.omega * (y[0] - libm::sin(t)) - 2.0 * self.damping * self.omega * y[1];
            f[2] = y[0] * y[1];
        }
        fn error_norm(&mut self, _y0: &[f64], _y1: &[f64], error: &[f64]) -> f64 {
            error[0].abs().max(error[1].abs())
        }
        fn pattern(&self) -> &BlockPattern {
            &self.pattern
        }
        fn increments(&mut self, _y: &[f64], delta: &mut [f64], _central: &mut [bool]) {
            delta.fill(1e-7);
        }
    }

    fn run(method: Method, steps: usize) -> Vec<f64> {
        let mut system = Oscillator::new(2.0, 0.1);
        let mut stepper = Stepper::new(&mut system, 0.0, &[1.0, 0.0, 0.0]);
        for _ in 0..steps {
            stepper.attempt(&mut system, method, 2.0 / steps as f64).unwrap();
            stepper.accept();
        }
        stepper.y0
    }

    #[test]
    fn orders_of_convergence() {
        let truth = run(Method::Dopri5, 4000);
        for (method, steps, order) in [
            (Method::Dopri5, 20, 5.0),
            (Method::Rodas4, 20, 4.0),
            (Method::Rk4, 20, 4.0),
            (Method::Heun, 100, 2.0),
            (Method::Euler, 1000, 1.0),
        ] {
            let error = |y: &[f64]| y.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let (coarse, fine) = (error(&run(method, steps)), error(&run(method, 2 * steps)));
            let seen = libm::log2(coarse / fine);
            assert!((seen - order).abs() < 0.45, "{}: order {seen}, errors {coarse:e} {fine:e}", method.name());
        }
    }

    #[test]
    fn quadrature_equals_its_closed_form() {
        // integral of y y' dt = (y^2 - y0^2)/2
        for method in [Method::Dopri5, Method::Rodas4] {
            let y = run(method, 400);
            assert!((y[2] - 0.5 * (y[0] * y[0] - 1.0)).abs() < 1e-9, "{}", method.name());
        }
    }

    #[test]
    fn dense_output_meets_both_ends_and_the_middle() {
        for method in [Method::Dopri5, Method::Rodas4, Method::Rk4] {
            let mut system = Oscillator::new(2.0, 0.1);
            let mut stepper = Stepper::new(&mut system, 0.0, &[1.0, 0.0, 0.0]);
            stepper.attempt(&mut system, method, 0.02).unwrap();
            let middle = interpolate(&stepper.dense, 3, 0, 0.5);
            assert!((interpolate(&stepper.dense, 3, 0, 0.0) - 1.0).abs() < 1e-15);
            assert!((interpolate(&stepper.dense, 3, 0, 1.0) - stepper.y1[0]).abs() < 1e-15);
            let mut half = Stepper::new(&mut system, 0.0, &[1.0, 0.0, 0.0]);
            half.attempt(&mut system, Method::Dopri5, 0.01).unwrap();
            assert!((middle - half.y1[0]).abs() < 1e-8, "{}: {:e}", method.name(), middle - half.y1[0]);
        }
    }

    #[test]
    fn rodas_steps_over_a_decayed_stiff_mode() {
        let mut system = Oscillator::new(1e5, 1.0);
        let mut stepper = Stepper::new(&mut system, 0.0, &[0.0, 1.0, 0.0]);
        for _ in 0..10 {
            stepper.attempt(&mut system, Method::Rodas4, 0.1).unwrap();
            stepper.accept();
        }
        assert!((stepper.y0[0] - libm::sin(1.0)).abs() < 1e-4);
        assert!(stepper.stiffness > 1e3);
    }
}
