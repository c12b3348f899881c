//! Random complementarity problems of many kinds, judged by `residual`.

use crate::random::Random;
use tippe_numerics::mlcp::{Method, Problem, Solution, Sweep, relative_residual, solve, sweep};

const INF: f64 = f64::INFINITY;

/// B B^T + shift of its diagonal, B n x r; rows scaled from 1 to `ratio` at random.
fn semidefinite(random: &mut Random, n: usize, r: usize, ratio: f64, shift: f64) -> Vec<f64> {
    let B: Vec<f64> = (0..n * r).map(|_| random.uniform(-1.0, 1.0)).collect();
    let scale: Vec<f64> = (0..n).map(|_| libm::pow(ratio, random.uniform(0.0, 0.5))).collect();
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..r).map(|c| B[i * r + c] * B[j * r + c]).sum();
            a[i * n + j] = sum * scale[i] * scale[j];
            a[j * n + i] = a[i * n + j];
        }
        a[i * n + i] *= 1.0 + shift;
    }
    a
}

/// Bounds of every kind: none, one, two, equal.
fn bounds(random: &mut Random, n: usize) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|_| match random.below(6) {
            0 => (-INF, INF),
            1 => (-INF, random.uniform(-0.5, 1.0)),
            2 => {
                let at = random.uniform(-1.0, 1.0);
                (at, at)
            }
            3 => (-random.uniform(0.0, 1.0), random.uniform(0.0, 1.0)),
            _ => (0.0, INF),
        })
        .unzip()
}

fn list(random: &mut Random, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| random.uniform(-size, size)).collect()
}

fn product(a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn solved(problem: &Problem, what: &str) -> Solution {
    let found = solve(problem, None).unwrap();
    assert!(found.converged(), "{what}: {:?}, share {:e}", found.failure, found.relative_residual);
    assert!(found.relative_residual <= 1e-13, "{what}: share {:e}", found.relative_residual);
    assert_eq!(found.relative_residual, relative_residual(problem, &found.x));
    for i in 0..problem.n {
        assert!(problem.lower[i] <= found.x[i] && found.x[i] <= problem.upper[i], "{what}: row {i}");
    }
    found
}

#[test]
fn definite_problems_have_one_solution_from_anywhere() {
    let mut random = Random(1);
    let (mut worst, mut total) = (0, 0);
    for k in 0..200 {
        let n = 1 + random.below(60);
        let ratio = [1.0, 1e3, 1e5, 1e9][k % 4];
        let a = semidefinite(&mut random, n, n + 2, ratio, 1e-6);
        let b = list(&mut random, n, 2.0);
        let (lower, upper) = bounds(&mut random, n);
        let problem = Problem { n, a, b, lower, upper };
        let found = solved(&problem, &format!("{k}"));
        assert_eq!(found.method, Method::ProjectedNewton);
        (worst, total) = (worst.max(found.factorisations), total + found.factorisations);
        let far = list(&mut random, n, 100.0);
        let other = solve(&problem, Some(&far)).unwrap();
        assert!(other.converged());
        for (x, y) in found.x.iter().zip(&other.x) {
            assert!((x - y).abs() <= 1e-9 * (1.0 + x.abs()), "{k}: {x} {y}");
        }
    }
    println!("200 definite: factorisations {:.1} ({worst})", total as f64 / 200.0);
    assert!(worst <= 30);
}

#[test]
fn redundant_rows() {
    let mut random = Random(2);
    let (mut worst, mut total) = (0, 0);
    for k in 0..200 {
        let n = 2 + random.below(50);
        let r = 1 + random.below(n);
        let shift = [0.0, 1e-9, 1e-6, 1e-3][k % 4];
        let a = semidefinite(&mut random, n, r, [1.0, 1e5][k / 4 % 2], shift);
        let (lower, upper) = bounds(&mut random, n);
        // a solution exists: take one, and let b follow from it
        let x: Vec<f64> = (0..n).map(|i| random.uniform(-1.0, 1.0).max(lower[i]).min(upper[i])).collect();
        let Ax = product(&a, &x);
        let w = |i: usize, random: &mut Random| match (x[i] == lower[i], x[i] == upper[i]) {
            (true, _) => random.uniform(0.0, 1.0),
            (_, true) => -random.uniform(0.0, 1.0),
            _ => 0.0,
        };
        let b = (0..n).map(|i| w(i, &mut random) - Ax[i]).collect();
        let problem = Problem { n, a, b, lower, upper };
        let found = solved(&problem, &format!("{k} n {n} rank {r} shift {shift:e}"));
        assert_eq!(found.method, Method::ProjectedNewton, "{k}");
        (worst, total) = (worst.max(found.factorisations), total + found.factorisations);
    }
    println!("200 redundant: factorisations {:.1} ({worst})", total as f64 / 200.0);
    assert!(worst <= 80);
}

/// Bodies with six coordinates each and contacts of three rows, a normal and two of friction: J M^-1 J^T + eps, J u.
struct Contacts {
    rows: usize,
    a: Vec<f64>,
    b: Vec<f64>,
}

fn contacts(random: &mut Random, bodies: usize, contacts: usize, ratio: f64) -> Contacts {
    let (rows, columns) = (3 * contacts, 6 * bodies);
    let mut inverse = Vec::new();
    for _ in 0..bodies {
        let mass = libm::pow(ratio, random.uniform(0.0, 1.0));
        inverse.extend([1.0, 1.0, 1.0, 10.0, 10.0, 10.0].map(|k| k / mass));
    }
    let mut J = vec![0.0; rows * columns];
    for c in 0..contacts {
        // a body and another one, or the ground
        let (first, second) = (c % bodies, random.below(bodies + 1));
        for (body, sign) in [(first, 1.0), (second, -1.0)] {
            if body == bodies || (sign < 0.0 && second == first) {
                continue;
            }
            let arm = [0; 3].map(|_| random.uniform(-0.5, 0.5));
            for r in 0..3 {
                // axis r: the velocity of a point at `arm`, v + omega x arm
                let row = &mut J[(3 * c + r) * columns + 6 * body..][..6];
                let (p, q) = ((r + 1) % 3, (r + 2) % 3);
                row[r] = sign;
                row[3 + p] = sign * arm[q];
                row[3 + q] = -sign * arm[p];
            }
        }
    }
    let u: Vec<f64> = (0..columns).map(|k| random.uniform(-0.3, 0.3) - if k % 6 == 0 { 0.5 } else { 0.0 }).collect();
    let mut a = vec![0.0; rows * rows];
    for i in 0..rows {
        for j in 0..=i {
            let sum = (0..columns).map(|k| J[i * columns + k] * inverse[k] * J[j * columns + k]).sum();
            (a[i * rows + j], a[j * rows + i]) = (sum, sum);
        }
        a[i * rows + i] *= 1.0 + 1e-6;
    }
    let b = J.chunks_exact(columns).map(|row| row.iter().zip(&u).map(|(j, u)| j * u).sum()).collect();
    Contacts { rows, a, b }
}

#[test]
fn contacts_with_friction_boxes() {
    // normals alone, then boxes of mu = 0.5 times the normal impulses
    let mut random = Random(3);
    for (bodies, count, ratio, mean) in
        [(10, 10, 1.0, 8.0), (20, 40, 1.0, 12.0), (20, 40, 1e4, 16.0), (40, 100, 1.0, 14.0), (40, 100, 1e4, 25.0)]
    {
        let (mut cold, mut warm, mut worst) = (0, 0, 0);
        for k in 0..20 {
            let Contacts { rows, a, b } = contacts(&mut random, bodies, count, ratio);
            let what = format!("{bodies} {count} {ratio:e} {k}");
            let normal = |i: usize| i.is_multiple_of(3);
            let lower = vec![0.0; rows];
            let upper = (0..rows).map(|i| if normal(i) { INF } else { 0.0 }).collect();
            let mut problem = Problem { n: rows, a, b, lower, upper };
            let first = solved(&problem, &what);
            for i in (0..rows).filter(|&i| !normal(i)) {
                let most = 0.5 * first.x[i - i % 3];
                (problem.lower[i], problem.upper[i]) = (-most, most);
            }
            let second = solved(&problem, &what);
            assert_eq!(second.method, Method::ProjectedNewton);
            (cold, worst) = (cold + second.factorisations, worst.max(second.factorisations));
            // the next step: nearly the same problem
            problem.b.iter_mut().for_each(|b| *b *= 1.0 + 0.01 * random.uniform(-1.0, 1.0));
            let next = solve(&problem, Some(&second.x)).unwrap();
            assert!(next.converged());
            warm += next.factorisations;
        }
        let (cold, warm) = (cold as f64 / 20.0, warm as f64 / 20.0);
        println!("{bodies} bodies, {count} contacts, 1:{ratio:e}: factorisations {cold} ({worst}), warm {warm}");
        assert!(cold <= mean && worst <= 40, "{cold} {worst}");
    }
}

#[test]
fn condensed_and_direct_forms_agree() {
    let mut random = Random(4);
    for k in 0..100 {
        let (bodies, m) = (2 + random.below(8), 1 + random.below(12));
        let nu = 3 * bodies;
        let n = nu + m;
        let redundant = k % 3 == 0 && m > 1;
        let mut a = vec![0.0; n * n];
        let mut J: Vec<f64> = list(&mut random, m * nu, 1.0);
        if redundant {
            let (first, rest) = J.split_at_mut(nu);
            rest[..nu].copy_from_slice(first);
        }
        let epsilon = if k % 2 == 0 { 1e-6 } else { 1e-2 };
        let mass: Vec<f64> = (0..nu).map(|_| libm::pow(1e5, random.uniform(0.0, 1.0))).collect();
        // every third with a mass matrix that is not symmetric
        for i in 0..nu {
            a[i * n + i] = mass[i];
            if k % 3 == 1 && i % 3 == 0 {
                a[i * n + i + 1] = 0.3 * mass[i];
                a[(i + 1) * n + i] = -0.3 * mass[i];
            }
        }
        for r in 0..m {
            for c in 0..nu {
                a[c * n + nu + r] = -J[r * nu + c];
                a[(nu + r) * n + c] = J[r * nu + c];
            }
            a[(nu + r) * n + nu + r] = epsilon;
        }
        let b = list(&mut random, n, 2.0);
        // some rows are joints, some contacts, some friction
        let kind = |r: usize| if r < nu { 0 } else { r % 3 };
        let lower = (0..n).map(|r| [-INF, 0.0, -0.3][kind(r)]).collect();
        let upper = (0..n).map(|r| [INF, INF, 0.3][kind(r)]).collect();
        let problem = Problem { n, a, b, lower, upper };
        let found = solved(&problem, &format!("{k}"));
        assert!(found.eliminated >= nu, "{k}: {}", found.eliminated);
        let wanted = if k % 3 == 1 { Method::BlockPivoting } else { Method::ProjectedNewton };
        // one row is always symmetric
        let bounded = (nu..n).filter(|&r| kind(r) != 0).count();
        assert!(found.method == wanted || bounded < 2, "{k}: {:?}", found.method);
        if k % 3 != 1 {
            // J M^-1 J^T + eps by hand
            let mut small = Problem { n: m, a: vec![0.0; m * m], ..Problem::default() };
            for r in 0..m {
                for s in 0..m {
                    small.a[r * m + s] = (0..nu).map(|c| J[r * nu + c] * J[s * nu + c] / mass[c]).sum();
                }
                small.a[r * m + r] += epsilon;
                small.b.push(problem.b[nu + r] - (0..nu).map(|c| J[r * nu + c] * problem.b[c] / mass[c]).sum::<f64>());
            }
            small.lower = problem.lower[nu..].to_vec();
            small.upper = problem.upper[nu..].to_vec();
            let small = solved(&small, &format!("{k} by hand"));
            for (x, y) in small.x.iter().zip(&found.x[nu..]) {
                assert!((x - y).abs() <= 1e-6 * (1.0 + x.abs()), "{k}: {x} {y}");
            }
        }
    }
}

#[test]
fn matrices_that_are_not_symmetric() {
    let mut random = Random(5);
    let (mut pivoting, mut lemke) = (0, 0);
    for k in 0..200 {
        let n = 1 + random.below(40);
        let mut a = semidefinite(&mut random, n, n + 2, 1.0, 1e-2);
        let skew = [0.1, 1.0, 10.0][k % 3];
        for i in 0..n {
            for j in 0..i {
                let s = skew * random.uniform(-1.0, 1.0);
                a[i * n + j] += s;
                a[j * n + i] -= s;
            }
        }
        let b = list(&mut random, n, 2.0);
        let (lower, upper) = bounds(&mut random, n);
        match solved(&Problem { n, a, b, lower, upper }, &format!("{k}")).method {
            Method::BlockPivoting => pivoting += 1,
            Method::Lemke => lemke += 1,
            _ => {}
        }
    }
    println!("200 not symmetric: {pivoting} by block pivoting, {lemke} by Lemke");
    assert!(pivoting >= 150);
}

#[test]
fn linear_programs_go_to_lemke() {
    // least c x with G x >= h, x >= 0: [0 -G^T; G 0] with (c, -h); singular blocks everywhere
    let mut random = Random(6);
    let mut lemke = 0;
    for k in 0..60 {
        let (nx, m) = (2 + random.below(8), 2 + random.below(8));
        let n = nx + m;
        let mut a = vec![0.0; n * n];
        for r in 0..m {
            for c in 0..nx {
                let g = random.uniform(0.1, 1.0);
                a[(nx + r) * n + c] = g;
                a[c * n + nx + r] = -g;
            }
        }
        let b = (0..n).map(|i| if i < nx { random.uniform(0.1, 1.0) } else { -random.uniform(0.1, 1.0) }).collect();
        let problem = Problem { n, a, b, lower: vec![0.0; n], upper: vec![INF; n] };
        let found = solved(&problem, &format!("{k}"));
        lemke += usize::from(found.method == Method::Lemke);
        // both programs have the same value
        let cost: f64 = (0..nx).map(|i| problem.b[i] * found.x[i]).sum();
        let gain: f64 = (nx..n).map(|i| -problem.b[i] * found.x[i]).sum();
        assert!((cost - gain).abs() <= 1e-10 * cost.abs(), "{k}: {cost} {gain}");
    }
    println!("60 linear programs: {lemke} by Lemke");
    assert!(lemke >= 30);
}

#[test]
fn sweeps_agree_with_the_direct_solution() {
    let mut random = Random(7);
    for k in 0..60 {
        let n = 1 + random.below(30);
        let a = semidefinite(&mut random, n, 2 * n, 1.0, 0.1);
        let b = list(&mut random, n, 2.0);
        let (lower, upper) = bounds(&mut random, n);
        let problem = Problem { n, a, b, lower, upper };
        let direct = solved(&problem, &format!("{k}"));
        for kind in [Sweep::GaussSeidel, Sweep::Accelerated] {
            let found = sweep(&problem, kind, 20_000, 1e-9, None).unwrap();
            assert!(found.converged() && found.residual <= 1e-9, "{k}: {kind:?} {}", found.residual);
            for (x, y) in found.x.iter().zip(&direct.x) {
                assert!((x - y).abs() <= 1e-6 * (1.0 + y.abs()), "{k}: {kind:?} {x} {y}");
            }
            // from the solution: nothing to do
            assert_eq!(sweep(&problem, kind, 10, 1e-9, Some(&direct.x)).unwrap().sweeps, 0);
        }
    }
}
