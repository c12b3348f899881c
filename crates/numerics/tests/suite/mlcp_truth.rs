//! Linear complementarity against 50 problems solved in 50 digits (`tests/data/E06_mlcp.txt`), and small cases with known solutions.

use tippe_numerics::mlcp::{Method, Problem, Solution, Sweep, relative_residual, residual, solve, sweep};

const INF: f64 = f64::INFINITY;

struct Case {
    kind: &'static str,
    problem: Problem,
    x: Vec<f64>,
    active: Vec<i8>,
}

impl Case {
    fn is_symmetric(&self) -> bool {
        matches!(self.kind, "schur_contact" | "mass_ratio")
    }

    /// max |x - x_ref| / (1 + |x_ref|)
    fn error(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.x).fold(0.0, |worst: f64, (x, y)| worst.max((x - y).abs() / (1.0 + y.abs())))
    }
}

fn cases() -> Vec<Case> {
    let text = include_str!("../data/E06_mlcp.txt");
    let mut words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let mut cases = Vec::new();
    while let Some(kind) = words.next() {
        let n: usize = words.next().unwrap().parse().unwrap();
        let mut number = || words.next().unwrap().parse::<f64>().unwrap();
        let symmetric = matches!(kind, "schur_contact" | "mass_ratio");
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..if symmetric { i + 1 } else { n } {
                a[i * n + j] = number();
                if symmetric {
                    a[j * n + i] = a[i * n + j];
                }
            }
        }
        let mut list = || (0..n).map(|_| number()).collect::<Vec<f64>>();
        let problem = Problem { n, a, b: list(), lower: list(), upper: list() };
        let (x, active) = (list(), list());
        cases.push(Case { kind, problem, x, active: active.iter().map(|&a| a as i8).collect() });
    }
    assert_eq!(cases.len(), 50);
    cases
}

#[test]
fn the_direct_solvers_find_all_fifty() {
    for (k, case) in cases().iter().enumerate() {
        let found = solve(&case.problem, None).unwrap();
        let what = format!("{k} {} n {}", case.kind, case.problem.n);
        let error = case.error(&found.x);
        println!(
            "{what}: {:?} eliminated {} factorisations {} error {error:.1e} residual {:.1e}",
            found.method, found.eliminated, found.factorisations, found.residual
        );
        assert!(found.converged(), "{what}: {found:?}");
        assert_eq!(found.active, case.active, "{what}");
        assert!(error <= 1e-12, "{what}: {error:e}");
        assert!(found.residual <= 1e-12, "{what}: {:e}", found.residual);
        assert_eq!(found.residual, residual(&case.problem, &found.x));
        let wanted = if case.kind == "nonsym" { Method::BlockPivoting } else { Method::ProjectedNewton };
        assert_eq!(found.method, wanted, "{what}");
        if case.kind == "kkt" {
            assert!(found.eliminated > 0, "{what}");
        }
        // from its own solution: nothing to search for
        let again = solve(&case.problem, Some(&found.x)).unwrap();
        assert!(again.converged() && again.active == case.active && again.factorisations <= 3, "{what}: {again:?}");
    }
}

#[test]
fn the_sweeps_reach_their_tolerance_on_symmetric_problems() {
    for (k, case) in cases().iter().enumerate().filter(|(_, case)| case.is_symmetric()) {
        let run = |kind| sweep(&case.problem, kind, 300_000, 1e-6, None).unwrap();
        let (plain, fast) = (run(Sweep::GaussSeidel), run(Sweep::Accelerated));
        let what = format!("{k} {} n {}", case.kind, case.problem.n);
        let [e, f] = [&plain, &fast].map(|found| case.error(&found.x));
        println!("{what}: Gauss-Seidel {} error {e:.1e}, accelerated {} error {f:.1e}", plain.sweeps, fast.sweeps);
        for found in [&plain, &fast] {
            assert!(found.converged() && found.residual <= 1e-6, "{what}: {:?} {}", found.method, found.residual);
        }
    }
}

#[test]
fn five_rows_with_every_kind_of_bound() {
    // solved by hand: (0.29361702, 0, 0.6, -0.5, 0.65106383)
    let problem = Problem {
        n: 5,
        a: vec![
            4.0, 1.0, 0.0, -1.0, 0.5, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0, 1.0, 5.0, 1.0, -1.0, -1.0, 0.0, 1.0, 4.0, 1.0, 0.5,
            0.0, -1.0, 1.0, 3.0,
        ],
        b: vec![-2.0, 1.0, -4.0, 3.0, -1.0],
        lower: vec![-INF, 0.0, 0.0, -0.5, 0.0],
        upper: vec![INF, INF, 0.6, 0.5, INF],
    };
    let check = |found: &Solution, within: f64| {
        assert!(found.converged(), "{found:?}");
        assert_eq!(found.active, [0, -1, 1, -1, 0]);
        // 69/235, 153/235 by elimination of the free rows
        let x = [69.0 / 235.0, 0.0, 0.6, -0.5, 153.0 / 235.0];
        let w = [0.0, 1.6 + x[0], -1.5 - x[4], 1.6 - x[0] + x[4], 0.0];
        for i in 0..5 {
            assert!((found.x[i] - x[i]).abs() <= within, "{found:?}");
            assert!((found.w[i] - w[i]).abs() <= 10.0 * within, "{found:?}");
        }
    };
    check(&solve(&problem, None).unwrap(), 1e-14);
    check(&solve(&problem, Some(&[100.0, 100.0, -100.0, 7.0, -3.0])).unwrap(), 1e-14);
    for kind in [Sweep::GaussSeidel, Sweep::Accelerated] {
        check(&sweep(&problem, kind, 200, 1e-12, None).unwrap(), 1e-11);
    }
}

/// One step of a chain of n weights that hang from each other, all but the last of mass m: rows J M^-1 J^T, impulses.
fn chain(n: usize, m: f64, last: f64) -> (Problem, f64) {
    let (h, g) = (1.0 / 60.0, 9.80665);
    let mass = |i: usize| if i + 1 == n { last } else { m };
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        a[i * n + i] = 1.0 / mass(i) + if i > 0 { 1.0 / mass(i - 1) } else { 0.0 };
        if i > 0 {
            a[i * n + i - 1] = -1.0 / mass(i - 1);
            a[(i - 1) * n + i] = -1.0 / mass(i - 1);
        }
    }
    let mut b = vec![0.0; n];
    b[0] = -g * h;
    let top = (0..n).map(mass).sum::<f64>() * g * h;
    (Problem { n, a, b, lower: vec![-INF; n], upper: vec![INF; n] }, top)
}

#[test]
fn a_heavy_weight_on_a_chain_needs_a_direct_solver() {
    // relative error of the top tension after 50 and 1000 passes of Gauss-Seidel, from 0
    let table = [
        (20, 1.0, 1.0, [0.6020642, 0.0016903552]),
        (20, 1.0, 1e2, [0.9331141, 0.57862559]),
        (20, 1.0, 1e4, [0.99920556, 0.99412715]),
        (50, 0.1, 1e4, [0.99992045, 0.99963446]),
    ];
    for (n, m, last, plain) in table {
        let (problem, top) = chain(n, m, last);
        let error = |x: &[f64]| (x[0] / top - 1.0).abs();
        let direct = solve(&problem, None).unwrap();
        assert!(direct.converged() && direct.method == Method::ProjectedNewton);
        println!("{n} weights, 1:{}: direct {:.1e}", last / m, error(&direct.x));
        assert!(error(&direct.x) <= 1e-10, "{n} {last}: {:e}", error(&direct.x));
        for (limit, wanted) in [50, 1000].into_iter().zip(plain) {
            let found = sweep(&problem, Sweep::GaussSeidel, limit, 0.0, None).unwrap();
            let fast = sweep(&problem, Sweep::Accelerated, limit, 0.0, None).unwrap();
            println!("  {limit}: Gauss-Seidel {:.4e} accelerated {:.4e}", error(&found.x), error(&fast.x));
            assert!((error(&found.x) / wanted - 1.0).abs() <= 0.01, "{n} {last}: {} {wanted}", error(&found.x));
            assert!(error(&fast.x) <= error(&found.x));
        }
    }
}

#[test]
fn two_masses_on_one_row() {
    // closing at 1 m/s, 1/(1/a + 1/b)
    for (m, impulse) in [(1.0, 0.5), (10.0, 10.0 / 11.0), (1000.0, 1000.0 / 1001.0)] {
        let problem = Problem { n: 1, a: vec![1.0 + 1.0 / m], b: vec![-1.0], lower: vec![0.0], upper: vec![INF] };
        let found = solve(&problem, None).unwrap();
        assert!((found.x[0] - impulse).abs() < 1e-15 && relative_residual(&problem, &found.x) < 1e-15);
    }
}
