//! Rows with any number of ends and with bounds, against the dense solver of `mlcp` and against rows of two bodies.

use super::*;

/// A tie of one row with the bounds, target and impulse of a row of two bodies.
pub(super) fn alone(row: &Row) -> Tie {
    let mut tie = Tie { apart: row.apart, ..Tie::default() };
    tie.target[0] = row.target;
    tie.compliance[0] = row.compliance;
    (tie.lower[0], tie.upper[0], tie.lambda[0]) = (row.lower, row.upper, row.lambda);
    tie
}

/// Bodies and ties of 1 to 12 ends with bounds of all kinds, a few of them exact.
fn ropes(dice: &mut Dice, bodies: usize, ties: usize, ratio: f64, eps: f64) -> Problem {
    let mut problem = Problem::default();
    for _ in 0..bodies {
        let mass = libm::pow(ratio, dice.next());
        let u = std::array::from_fn(|_| dice.around());
        body(&mut problem, mass, 0.1 * mass, u);
    }
    for k in 0..ties {
        let count = 1 + (dice.next() * 12.0) as usize;
        let ends: Vec<(u32, [f64; 6])> = (0..count)
            .map(|_| ((dice.next() * bodies as f64) as u32, std::array::from_fn(|_| dice.around())))
            .collect();
        let mut tie = Tie::default();
        tie.target[0] = 0.5 * dice.around();
        tie.compliance[0] = eps;
        tie.lambda[0] = f64::NAN;
        (tie.lower[0], tie.upper[0]) = match k % 4 {
            0 => (0.0, f64::INFINITY),
            1 => (f64::NEG_INFINITY, 0.0),
            2 => (-0.2, 0.3),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        problem.push_tie(&ends, tie);
    }
    problem
}

/// The same problem by the rows alone: the residual of the dense solution, and velocities.
fn dense(problem: &Problem) -> (f64, Vec<f64>) {
    let mut dense = problem.clone();
    let report = Solver::default().dense(&mut dense);
    assert!(report.converged, "{report:?}");
    (dense.residual(), dense.u)
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
}

#[test]
fn ties_of_any_number_of_ends_agree_with_the_dense_solver() {
    let mut dice = Dice(21);
    let mut solver = Solver::default();
    for (bodies, ties, ratio, eps) in
        [(4, 3, 1.0, 1e-3), (12, 10, 1.0, 1e-6), (12, 10, 1e5, 1e-6), (20, 30, 1.0, 0.0), (20, 30, 1e5, 0.0)]
    {
        let (mut most, mut worst) = (0, 0.0_f64);
        for _ in 0..30 {
            let mut problem = ropes(&mut dice, bodies, ties, ratio, eps);
            let report = solver.newton(&mut problem, 100, 0.0);
            let residual = problem.residual();
            let (own, u) = dense(&problem);
            let off = off(&problem.u, &u);
            assert!(report.converged && residual < 1e-9, "{bodies} {ties} {ratio} {eps}: {report:?} {residual:e}");
            assert!(own < 1e-8 && off < 1e-7, "{bodies} {ties} {ratio} {eps}: {own:e} {off:e}");
            assert!(problem.ties.iter().all(|tie| tie.lower[0] <= tie.lambda[0] && tie.lambda[0] <= tie.upper[0]));
            (most, worst) = (most.max(report.factorisations), worst.max(off));
            // from its own solution it knows the sets
            let again = solver.newton(&mut problem, 100, 0.0);
            assert!(again.converged && again.factorisations <= 2, "{again:?}");
        }
        println!("{bodies} bodies {ties} ties 1:{ratio} eps {eps}: most {most} factorisations, off {worst:e}");
    }
}

/// Contacts with balls and boxes among bodies that ropes tie together.
#[test]
fn ties_and_contacts_are_solved_together() {
    let mut dice = Dice(22);
    let mut solver = Solver::default();
    for ratio in [1.0, 1e5] {
        for _ in 0..30 {
            let mut problem = rubble(&mut dice, 20, 30, ratio, 1e-6);
            let ropes = ropes(&mut dice, 20, 8, 1.0, 0.0);
            (problem.ties, problem.ends) = (ropes.ties, ropes.ends);
            let report = solver.newton(&mut problem, 100, 0.0);
            let residual = problem.residual();
            assert!(report.converged && residual < 1e-9, "{ratio}: {report:?} {residual:e}");
            problem.rows.iter_mut().for_each(|row| (row.shared, row.ball) = (false, 0));
            assert!(solver.newton(&mut problem, 100, 0.0).converged);
            let (_, u) = dense(&problem);
            assert!(off(&problem.u, &u) < 1e-7, "{:e}", off(&problem.u, &u));
        }
    }
}

#[test]
fn a_row_of_two_bodies_written_as_a_tie_gives_the_same() {
    let mut dice = Dice(23);
    for eps in [1e-3, 1e-6] {
        for _ in 0..30 {
            let mut problem = rubble(&mut dice, 10, 15, 10.0, eps);
            problem.rows.iter_mut().for_each(|row| (row.shared, row.ball) = (false, 0));
            let mut tied = problem.clone();
            // every other row
            for k in (0..tied.rows.len()).rev().step_by(2) {
                let own = tied.rows.remove(k);
                tied.push_tie(&[0, 1].map(|s| (own.bodies[s], own.J[s])), alone(&own));
            }
            assert!(Solver::default().newton(&mut problem, 100, 0.0).converged);
            assert!(Solver::default().newton(&mut tied, 100, 0.0).converged);
            let off = off(&problem.u, &tied.u);
            assert!(off < 1e-12, "{eps}: {off:e}");
        }
    }
}

#[test]
fn sweeps_find_ties_too() {
    let mut dice = Dice(24);
    let mut solver = Solver::default();
    for _ in 0..20 {
        let mut problem = ropes(&mut dice, 12, 8, 1.0, 1e-2);
        let mut swept = problem.clone();
        assert!(solver.newton(&mut problem, 100, 0.0).converged);
        swept.ties.iter_mut().for_each(|tie| tie.lambda[0] = 0.0);
        swept.u = (0..swept.momentum.len()).map(|k| swept.inverse[k / 6][7 * (k % 6)] * swept.momentum[k]).collect();
        solver.measure(&mut swept);
        let settled = (0..20_000).any(|pass| solver.pass(&mut swept, pass % 2 == 1) <= 1e-12);
        assert!(settled && swept.residual() < 1e-8, "{:e}", swept.residual());
        assert!(off(&problem.u, &swept.u) < 1e-7);
    }
}

/// In small steps the impulses of the whole step come out, whether a bound holds them or not: a rope over three bodies
/// of a line.
#[test]
fn small_steps_keep_the_bounds_of_ties() {
    let h = 1.0 / 60.0;
    for (upper, expected) in [(f64::INFINITY, 2.0 / 3.0), (0.3, 0.3)] {
        let mut problem = Problem::default();
        for _ in 0..3 {
            body(&mut problem, 1.0, 0.1, [0.0; 6]);
        }
        let ends: Vec<(u32, [f64; 6])> = (0..3).map(|k| (k, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])).collect();
        let mut tie = Tie::default();
        (tie.target[0], tie.lower[0], tie.upper[0], tie.lambda[0]) = (2.0, 0.0, upper, f64::NAN);
        problem.push_tie(&ends, tie);
        let mut moved = Vec::new();
        Solver::default().substeps(&mut problem, &[], &[], &[0.0; 18], h, 20, &mut moved);
        let lambda = problem.ties[0].lambda[0];
        assert!((problem.u[3] - expected).abs() < 1e-9, "{} {lambda}", problem.u[3]);
        assert!(lambda <= upper + 1e-12 && problem.u.chunks(6).all(|u| (u[3] - problem.u[3]).abs() < 1e-12));
    }
}

/// The same rope three times over, with and without bounds: the impulses share what one would carry.
#[test]
fn redundant_ties_share_the_load() {
    for (lower, eps) in [(0.0, 0.0), (0.0, 1e-6), (f64::NEG_INFINITY, 0.0)] {
        let mut problem = Problem::default();
        for _ in 0..4 {
            body(&mut problem, 2.0, 0.1, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        }
        for _ in 0..3 {
            let ends: Vec<(u32, [f64; 6])> = (0..4).map(|k| (k, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])).collect();
            let mut tie = Tie::default();
            (tie.compliance[0], tie.lower[0], tie.lambda[0]) = (eps, lower, f64::NAN);
            problem.push_tie(&ends, tie);
        }
        let report = Solver::default().newton(&mut problem, 100, 0.0);
        let sum: f64 = problem.ties.iter().map(|tie| tie.lambda[0]).sum();
        assert!(report.converged && problem.residual() < 1e-9, "{lower} {eps}: {report:?}");
        assert!((sum - 2.0).abs() < 1e-5, "{lower} {eps}: {sum}");
        assert!(problem.u.chunks(6).all(|u| u[5].abs() < 1e-5), "{:?}", problem.u);
    }
}

/// Ties between two parts, in the factors or kept apart from them.
#[test]
fn ties_kept_apart_give_what_merged_ones_give() {
    let mut dice = Dice(25);
    for round in 0..20 {
        let mut merged = rubble(&mut dice, 20, 30, 100.0, 1e-6);
        let ropes = ropes(&mut dice, 20, 1 + round % 6, 1.0, 0.0);
        (merged.ties, merged.ends) = (ropes.ties, ropes.ends);
        let mut kept = merged.clone();
        kept.ties.iter_mut().for_each(|tie| tie.apart = true);
        let report = Solver::default().newton(&mut merged, 100, 0.0);
        assert!(report.converged && report.apart == 0, "{report:?}");
        let report = Solver::default().newton(&mut kept, 100, 0.0);
        assert!(report.converged, "{report:?} {:e}", kept.residual());
        let off = off(&merged.u, &kept.u);
        assert!(off < 1e-8 && kept.residual() < 1e-8, "{off:e} {:e}", kept.residual());
    }
}

/// Far more rows than velocities, so that the method on the velocities goes first.
#[test]
fn ties_among_piles_of_columns() {
    let mut dice = Dice(26);
    let mut solver = Solver::default();
    for _ in 0..10 {
        let mut problem = pile(&mut dice, 6, 200);
        let ropes = ropes(&mut dice, 6, 4, 1.0, 1e-4);
        (problem.ties, problem.ends) = (ropes.ties, ropes.ends);
        let report = solver.newton(&mut problem, 60, 1e-10);
        let residual = problem.residual();
        assert!(report.converged && residual < 1e-8, "{report:?} {residual:e}");
    }
}
