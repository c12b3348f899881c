//! Keeping wall time: every step waits for its deadline, and what each one took is counted.

use std::time::{Duration, Instant};
use tippe::run::PaceReport;

/// Step times are counted in classes, each this much wider than the one before [-].
const RATIO: f64 = 1.01;
/// The first class ends here [s].
const LEAST: f64 = 1e-7;
/// Classes: up to about 1000 s.
const CLASSES: usize = 2320;

/// Steps that wait for the wall clock.
pub struct Pace {
    /// Simulated seconds per second [-].
    pace: f64,
    /// Simulated time at the start [s].
    from: f64,
    started: Instant,
    /// When the step now computed began.
    begun: Instant,
    classes: Vec<u64>,
    steps: u64,
    missed: u64,
    worst: f64,
    /// Largest delay behind a deadline [s].
    late: f64,
}

impl Pace {
    /// Starts now, at simulated time `from` [s].
    pub fn start(pace: f64, from: f64) -> Pace {
        let now = Instant::now();
        Pace {
            pace,
            from,
            started: now,
            begun: now,
            classes: vec![0; CLASSES],
            steps: 0,
            missed: 0,
            worst: 0.0,
            late: 0.0,
        }
    }

    /// A step has reached simulated time `time` [s]: counts what it took, and waits until the wall clock is there too.
    pub fn keep(&mut self, time: f64) {
        let now = Instant::now();
        self.count(now.duration_since(self.begun).as_secs_f64());
        let deadline = self.started + Duration::from_secs_f64(((time - self.from) / self.pace).max(0.0));
        if now > deadline {
            self.missed += 1;
            self.late = self.late.max(now.duration_since(deadline).as_secs_f64());
        } else {
            std::thread::sleep(deadline.duration_since(now));
        }
        self.begun = Instant::now();
    }

    /// Time that was not the simulation's: deadlines move by as much.
    pub fn forgive(&mut self, waited: Duration) {
        self.started += waited;
        self.begun += waited;
    }

    fn count(&mut self, took: f64) {
        let class = (libm::log(took / LEAST) / libm::log(RATIO)).ceil();
        self.classes[(class.max(0.0) as usize).min(CLASSES - 1)] += 1;
        self.steps += 1;
        self.worst = self.worst.max(took);
    }

    /// What was counted.
    pub fn report(&self) -> PaceReport {
        PaceReport {
            pace: self.pace,
            steps: self.steps,
            missed: self.missed,
            late_s: self.late,
            worst_s: self.worst,
            p999_s: self.quantile(0.999),
            median_s: self.quantile(0.5),
        }
    }

    /// Upper end of the class in which this share of all steps is reached, at most the longest step [s].
    fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.steps as f64).ceil() as u64;
        let mut sum = 0;
        for (class, n) in self.classes.iter().enumerate() {
            sum += n;
            if sum >= wanted {
                return (LEAST * libm::pow(RATIO, class as f64)).min(self.worst);
            }
        }
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_times() {
        let mut pace = Pace::start(1.0, 0.0);
        (1..=10_000).for_each(|k| pace.count(f64::from(k) * 1e-6));
        let report = pace.report();
        assert_eq!((report.steps, report.worst_s), (10_000, 0.01));
        assert!((report.p999_s / 9.99e-3 - 1.0).abs() < 0.011, "{}", report.p999_s);
        assert!((report.median_s / 5e-3 - 1.0).abs() < 0.011, "{}", report.median_s);
    }

    #[test]
    fn a_paced_step_waits_for_its_deadline() {
        let mut pace = Pace::start(2.0, 1.0);
        let started = Instant::now();
        (1..=5).for_each(|k| pace.keep(1.0 + 0.02 * f64::from(k)));
        assert!(started.elapsed().as_secs_f64() >= 0.0499);
        // A busy machine may have overslept before.
        let overslept = pace.report().missed;
        pace.keep(1.0);
        assert_eq!(pace.report().missed, overslept + 1);
        assert!(pace.report().late_s > 0.04);
    }
}
