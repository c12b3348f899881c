//! Explicit Runge-Kutta methods.

use super::{Stepper, System};

// Dormand and Prince 1980, RK5(4)7M; continuous extension of Shampine as in Hairer, Norsett, Wanner 1993, II.6.
const C: [f64; 5] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];
const A21: f64 = 0.2;
const A31: f64 = 3.0 / 40.0;
const A32: f64 = 9.0 / 40.0;
const A41: f64 = 44.0 / 45.0;
const A42: f64 = -56.0 / 15.0;
const A43: f64 = 32.0 / 9.0;
const A51: f64 = 19372.0 / 6561.0;
const A52: f64 = -25360.0 / 2187.0;
const A53: f64 = 64448.0 / 6561.0;
const A54: f64 = -212.0 / 729.0;
const A61: f64 = 9017.0 / 3168.0;
const A62: f64 = -355.0 / 33.0;
const A63: f64 = 46732.0 / 5247.0;
const A64: f64 = 49.0 / 176.0;
const A65: f64 = -5103.0 / 18656.0;
const B1: f64 = 35.0 / 384.0;
const B3: f64 = 500.0 / 1113.0;
const B4: f64 = 125.0 / 192.0;
const B5: f64 = -2187.0 / 6784.0;
const B6: f64 = 11.0 / 84.0;
const E1: f64 = 71.0 / 57600.0;
const E3: f64 = -71.0 / 16695.0;
const E4: f64 = 71.0 / 1920.0;
const E5: f64 = -17253.0 / 339200.0;
const E6: f64 = 22.0 / 525.0;
const E7: f64 = -1.0 / 40.0;
const D1: f64 = -12715105075.0 / 11282082432.0;
const D3: f64 = 87487479700.0 / 32700410799.0;
const D4: f64 = -10690763975.0 / 1880347072.0;
const D5: f64 = 701980252875.0 / 199316789632.0;
const D6: f64 = -1453857185.0 / 822651844.0;
const D7: f64 = 69997945.0 / 29380423.0;

impl Stepper {
    pub(super) fn attempt_dopri5(&mut self, system: &mut dyn System) -> f64 {
        let n = self.y0.len();
        let (t, h) = (self.t0, self.h);
        if self.k.len() < 5 * n {
            self.k.resize(5 * n, 0.0);
        }
        let (k2, rest) = self.k.split_at_mut(n);
        let (k3, rest) = rest.split_at_mut(n);
        let (k4, rest) = rest.split_at_mut(n);
        let (k5, rest) = rest.split_at_mut(n);
        let k6 = &mut rest[..n];
        let (y0, k1, y, y1) = (&self.y0[..n], &self.f0[..n], &mut self.stage[..n], &mut self.y1[..n]);

        for i in 0..n {
            y[i] = y0[i] + h * (A21 * k1[i]);
        }
        system.rates(t + C[0] * h, y, k2);
        for i in 0..n {
            y[i] = y0[i] + h * (A31 * k1[i] + A32 * k2[i]);
        }
        system.rates(t + C[1] * h, y, k3);
        for i in 0..n {
            y[i] = y0[i] + h * (A41 * k1[i] + A42 * k2[i] + A43 * k3[i]);
        }
        system.rates(t + C[2] * h, y, k4);
        for i in 0..n {
            y[i] = y0[i] + h * (A51 * k1[i] + A52 * k2[i] + A53 * k3[i] + A54 * k4[i]);
        }
        system.rates(t + C[3] * h, y, k5);
        for i in 0..n {
            y[i] = y0[i] + h * (A61 * k1[i] + A62 * k2[i] + A63 * k3[i] + A64 * k4[i] + A65 * k5[i]);
        }
        system.rates(t + C[4] * h, y, k6);
        for i in 0..n {
            y1[i] = y0[i] + h * (B1 * k1[i] + B3 * k3[i] + B4 * k4[i] + B5 * k5[i] + B6 * k6[i]);
        }
        let k7 = &mut self.f1[..n];
        system.rates(t + h, y1, k7);
        self.evaluations += 6;

        let error = &mut self.error[..n];
        let (r1, rest) = self.dense.split_at_mut(n);
        let (r2, rest) = rest.split_at_mut(n);
        let (r3, rest) = rest.split_at_mut(n);
        let (r4, r5) = rest.split_at_mut(n);
        for i in 0..n {
            error[i] = h * (E1 * k1[i] + E3 * k3[i] + E4 * k4[i] + E5 * k5[i] + E6 * k6[i] + E7 * k7[i]);
            let d = y1[i] - y0[i];
            let b = h * k1[i] - d;
            r1[i] = y0[i];
            r2[i] = d;
            r3[i] = b;
            r4[i] = d - h * k7[i] - b;
            r5[i] = h * (D1 * k1[i] + D3 * k3[i] + D4 * k4[i] + D5 * k5[i] + D6 * k6[i] + D7 * k7[i]);
        }
        // two stages at t + h: |f7 - f6| / |y7 - y6| estimates the largest eigenvalue (Hairer, Wanner 1996, IV.2); node by node, for one that
        // moves far would hide another that is stiff
        let pattern = system.pattern();
        let mut largest: f64 = 0.0;
        for node in 0..pattern.nodes() {
            let (mut df, mut dy) = (0.0, 0.0);
            for i in pattern.offsets[node]..pattern.offsets[node] + pattern.size(node) {
                df += (k7[i] - k6[i]) * (k7[i] - k6[i]);
                dy += (y1[i] - y[i]) * (y1[i] - y[i]);
            }
            if dy > 0.0 {
                largest = largest.max(df / dy);
            }
        }
        self.stiffness = h * largest.sqrt();
        system.error_norm(y0, y1, error)
    }

    pub(super) fn attempt_rk4(&mut self, system: &mut dyn System) -> f64 {
        let n = self.y0.len();
        let (t, h) = (self.t0, self.h);
        if self.k.len() < 5 * n {
            self.k.resize(5 * n, 0.0);
        }
        let (k2, rest) = self.k.split_at_mut(n);
        let (k3, rest) = rest.split_at_mut(n);
        let k4 = &mut rest[..n];
        let (y0, k1, y) = (&self.y0, &self.f0, &mut self.stage);
        for i in 0..n {
            y[i] = y0[i] + 0.5 * h * k1[i];
        }
        system.rates(t + 0.5 * h, y, k2);
        for i in 0..n {
            y[i] = y0[i] + 0.5 * h * k2[i];
        }
        system.rates(t + 0.5 * h, y, k3);
        for i in 0..n {
            y[i] = y0[i] + h * k3[i];
        }
        system.rates(t + h, y, k4);
        for i in 0..n {
            self.y1[i] = y0[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
        }
        self.finish_fixed(system, 3)
    }

    pub(super) fn attempt_heun(&mut self, system: &mut dyn System) -> f64 {
        let (t, h) = (self.t0, self.h);
        for i in 0..self.y0.len() {
            self.stage[i] = self.y0[i] + h * self.f0[i];
        }
        system.rates(t + h, &self.stage, &mut self.f1);
        for i in 0..self.y0.len() {
            self.y1[i] = self.y0[i] + 0.5 * h * (self.f0[i] + self.f1[i]);
        }
        self.finish_fixed(system, 1)
    }

    pub(super) fn attempt_euler(&mut self, system: &mut dyn System) -> f64 {
        for i in 0..self.y0.len() {
            self.y1[i] = self.y0[i] + self.h * self.f0[i];
        }
        self.finish_fixed(system, 0)
    }

    fn finish_fixed(&mut self, system: &mut dyn System, stages: u64) -> f64 {
        system.rates(self.t0 + self.h, &self.y1, &mut self.f1);
        self.evaluations += stages + 1;
        self.stiffness = 0.0;
        self.hermite();
        0.0
    }
}
