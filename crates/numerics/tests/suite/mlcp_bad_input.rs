//! Complementarity problems that cannot be posed, cannot be solved, or overflow: named, finite, no panic.

use crate::random::Random;
use tippe_numerics::mlcp::{Error, Failure, Problem, Sweep, residual, solve, sweep};

const INF: f64 = f64::INFINITY;

fn good() -> Problem {
    Problem { n: 2, a: vec![2.0, 1.0, 1.0, 2.0], b: vec![-1.0, 1.0], lower: vec![0.0; 2], upper: vec![INF; 2] }
}

#[test]
fn a_problem_that_cannot_be_posed_is_named() {
    let refused = |change: fn(&mut Problem)| {
        let mut problem = good();
        change(&mut problem);
        let error = problem.validate().unwrap_err();
        assert_eq!(solve(&problem, None).unwrap_err().to_string(), error.to_string());
        assert_eq!(sweep(&problem, Sweep::GaussSeidel, 10, 1e-6, None).unwrap_err().to_string(), error.to_string());
        assert_eq!(residual(&problem, &[0.0, 0.0]), INF);
        error.to_string()
    };
    let text = refused(|p| (p.lower[1], p.upper[1]) = (3.0, 2.5));
    assert_eq!(text, "row 1 has infeasible bounds: lower 3, upper 2.5; no number lies between");
    assert!(refused(|p| p.lower[0] = INF).contains("row 0 has infeasible bounds: lower inf, upper inf"));
    assert!(refused(|p| (p.lower[0], p.upper[0]) = (-INF, -INF)).contains("row 0"));
    assert_eq!(refused(|p| p.a[2] = f64::NAN), "a has NaN in row 1: give a finite number");
    assert_eq!(refused(|p| p.a[1] = INF), "a has inf in row 0: give a finite number");
    assert_eq!(refused(|p| p.b[1] = f64::NAN), "b has NaN in row 1: give a finite number");
    assert_eq!(refused(|p| p.lower[0] = f64::NAN), "lower has NaN in row 0: give a finite number");
    assert_eq!(refused(|p| p.upper[1] = f64::NAN), "upper has NaN in row 1: give a finite number");
    assert_eq!(refused(|p| p.n = 3), "a has 4 numbers, 9 are needed");
    assert_eq!(refused(|p| p.b.clear()), "b has 0 numbers, 2 are needed");
    assert!(refused(|p| p.n = usize::MAX).starts_with("a has 4 numbers"));
}

#[test]
fn a_start_that_cannot_be_used_is_named() {
    assert_eq!(solve(&good(), Some(&[1.0])).unwrap_err(), Error::Length { list: "warm start", found: 1, wanted: 2 });
    let error = sweep(&good(), Sweep::Accelerated, 10, 1e-6, Some(&[1.0, f64::NAN])).unwrap_err();
    assert_eq!(error.to_string(), "warm start has NaN in row 1: give a finite number");
    assert_eq!(residual(&good(), &[1.0]), INF);
    assert_eq!(residual(&good(), &[f64::NAN, 0.0]), INF);
}

#[test]
fn nothing_is_solved_at_once() {
    let found = solve(&Problem::default(), None).unwrap();
    assert!(found.converged() && found.x.is_empty() && found.residual == 0.0);
    assert!(sweep(&Problem::default(), Sweep::Accelerated, 5, 0.0, None).unwrap().converged());
}

#[test]
fn a_problem_without_solution_fails_by_name_with_a_finite_point() {
    let problem = |a: Vec<f64>, b: Vec<f64>, lower: f64, upper: f64| {
        let n = b.len();
        Problem { n, a, b, lower: vec![lower; n], upper: vec![upper; n] }
    };
    let none = [
        // w = 1 whatever x
        problem(vec![0.0], vec![1.0], -INF, INF),
        // two joints that want different things
        problem(vec![1.0, 1.0, 1.0, 1.0], vec![0.0, 1.0], -INF, INF),
        // pushes away from what it should reach
        problem(vec![-1.0], vec![-1.0], 0.0, INF),
        problem(vec![0.0, 1.0, -1.0, 0.0], vec![-1.0, -1.0], 0.0, INF),
    ];
    for problem in &none {
        let found = solve(problem, None).unwrap();
        assert!(!found.converged(), "{problem:?} {found:?}");
        assert!(!found.failure.unwrap().to_string().is_empty());
        assert!(found.x.iter().chain(&found.w).all(|x| x.abs() <= 100.0), "{found:?}");
        for kind in [Sweep::GaussSeidel, Sweep::Accelerated] {
            let found = sweep(problem, kind, 100, 1e-9, None).unwrap();
            assert!(found.x.iter().all(|x| x.is_finite()));
        }
    }
    // a concave row has solutions at its bounds only
    let found = solve(&problem(vec![-1.0], vec![0.5], -1.0, 1.0), None).unwrap();
    assert!(found.converged() && found.residual <= 1e-12, "{found:?}");
    let found = sweep(&good(), Sweep::GaussSeidel, 0, 1e-9, None).unwrap();
    assert_eq!(found.failure, Some(Failure::Limit));
}

#[test]
fn whatever_the_numbers_the_answer_is_finite_and_inside() {
    let mut random = Random(9);
    for k in 0..2000 {
        let n = 1 + random.below(7);
        let wild = |random: &mut Random| {
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            match random.below(8) {
                0 | 1 => 0.0,
                2 => sign * 1e300,
                3 => sign * 1e-300,
                4 => sign * f64::MAX,
                5 => sign * libm::pow(10.0, random.uniform(-20.0, 20.0)),
                _ => random.uniform(-1.0, 1.0),
            }
        };
        let mut a: Vec<f64> = (0..n * n).map(|_| wild(&mut random)).collect();
        if k % 2 == 0 {
            for i in 0..n {
                for j in 0..i {
                    a[i * n + j] = a[j * n + i];
                }
            }
        }
        let b = (0..n).map(|_| wild(&mut random)).collect();
        let (lower, upper) = (0..n)
            .map(|_| {
                let (p, q) = (wild(&mut random), wild(&mut random));
                let bound = |random: &mut Random, x: f64, none: f64| if random.below(3) == 0 { none } else { x };
                (bound(&mut random, p.min(q), -INF), bound(&mut random, p.max(q), INF))
            })
            .unzip();
        let problem = Problem { n, a, b, lower, upper };
        let check = |x: &[f64]| {
            for i in 0..n {
                assert!(
                    x[i].is_finite() && problem.lower[i] <= x[i] && x[i] <= problem.upper[i],
                    "{k}: {problem:?} {x:?}"
                );
            }
        };
        let found = solve(&problem, None).unwrap();
        check(&found.x);
        if found.converged() {
            assert!(found.relative_residual <= 1e-12, "{k}");
        }
        for kind in [Sweep::GaussSeidel, Sweep::Accelerated] {
            check(&sweep(&problem, kind, 50, 1e-6, None).unwrap().x);
        }
    }
}
