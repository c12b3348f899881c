//! Time of the direct solver on stacks: `cargo bench -p tippe-numerics --bench kkt`.
#![allow(non_snake_case)]

use std::time::Instant;
use tippe_numerics::kkt::{Follow, GROUND, Problem, Row, Solver};

fn body(problem: &mut Problem, mass: f64, inertia: f64, drop: f64) {
    let (mut M, mut W) = ([0.0; 36], [0.0; 36]);
    for i in 0..6 {
        M[7 * i] = if i < 3 { inertia } else { mass };
        W[7 * i] = 1.0 / M[7 * i];
    }
    problem.momentum.extend([0.0, 0.0, 0.0, 0.0, 0.0, -mass * drop]);
    problem.mass.push(M);
    problem.inverse.push(W);
}

/// Boxes at these places; those above each other with overlapping outlines touch at four points.
fn stack(places: &[[f64; 3]]) -> Problem {
    let (mass, half, h, g) = (10.0, 0.25, 1.0 / 60.0, 9.81);
    let mut problem = Problem::default();
    for _ in places {
        body(&mut problem, mass, mass * 4.0 * half * half / 6.0, g * h);
    }
    for (above, a) in places.iter().enumerate() {
        for below in 0..=places.len() {
            let at = if below < places.len() { places[below] } else { [a[0], a[1], -half] };
            if (a[2] - at[2] - 2.0 * half).abs() > 1e-6 {
                continue;
            }
            let low = [0, 1].map(|i| (a[i] - half).max(at[i] - half));
            let high = [0, 1].map(|i| (a[i] + half).min(at[i] + half));
            if low[0] >= high[0] || low[1] >= high[1] {
                continue;
            }
            let bodies = [if below < places.len() { below as u32 } else { GROUND }, above as u32];
            let middle = [0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])];
            let z = a[2] - half;
            let points = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]];
            let mut push = |p: [f64; 2], axis: usize, turns: bool, ball: u8| {
                let mut row = Row {
                    bodies,
                    compliance: 6e-8,
                    lambda: f64::NAN,
                    ball,
                    shared: axis != 2 || turns,
                    ..Row::default()
                };
                (row.lower, row.upper) = (if row.shared { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY);
                let mut d = [0.0; 3];
                d[axis] = 1.0;
                for (side, c) in [at, *a].into_iter().enumerate() {
                    let sign = if side == 0 { -1.0 } else { 1.0 };
                    let r = [p[0] - c[0], p[1] - c[1], z - c[2]];
                    let turn = [r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]];
                    for i in 0..3 {
                        row.J[side][i] = sign * if turns { 0.2 * d[i] } else { turn[i] };
                        row.J[side][3 + i] = if turns { 0.0 } else { sign * d[i] };
                    }
                }
                problem.rows.push(row);
            };
            for p in points {
                push(p, 2, false, 0);
            }
            push(middle, 0, false, 3);
            push(middle, 1, false, 0);
            push(middle, 2, true, 0);
        }
    }
    problem
}

/// Ten seconds at rest in substeps, geometry as at the beginning: depth, speed, time.
fn rest(name: &str, start: &Problem) {
    let (h, g) = (1.0 / 60.0, 9.81);
    for count in [4, 8, 12] {
        let mut problem = start.clone();
        let n = problem.mass.len();
        let mut gaps: Vec<f64> = problem.rows.iter().map(|row| if row.shared { f64::NAN } else { 0.0 }).collect();
        let follows: Vec<Follow> = (0..problem.rows.len())
            .map(|k| match k % 7 {
                0..4 => Follow::NONE,
                i => Follow { first: (k - i) as u32, count: 4, factor: 0.5, slides: 0.5, ..Follow::NONE },
            })
            .collect();
        let (mut u, mut moved, mut solver) = (vec![0.0; 6 * n], Vec::new(), Solver::default());
        let (mut drift, mut spent) = (0.0_f64, 0.0);
        let mut place = vec![0.0; 6 * n];
        for _ in 0..600 {
            for k in 0..n {
                for i in 0..6 {
                    problem.momentum[6 * k + i] =
                        problem.mass[k][7 * i] * (u[6 * k + i] - if i == 5 { g * h } else { 0.0 });
                }
            }
            for (row, gap) in problem.rows.iter_mut().zip(&gaps) {
                row.gap = *gap;
            }
            let clock = Instant::now();
            solver.substeps(&mut problem, &follows, &[], &u, h, count, &mut moved);
            spent += clock.elapsed().as_secs_f64();
            u.copy_from_slice(&problem.u);
            for (row, gap) in problem.rows.iter().zip(&mut gaps) {
                for s in (0..2).filter(|&s| row.bodies[s] != GROUND) {
                    *gap += (0..6).map(|i| row.J[s][i] * moved[6 * row.bodies[s] as usize + i]).sum::<f64>();
                }
            }
            for (p, d) in place.iter_mut().zip(&moved) {
                *p += d;
            }
        }
        for k in 0..n {
            drift = drift.max(place[6 * k + 3].abs()).max(place[6 * k + 4].abs());
        }
        let depth = gaps.iter().filter(|g| !g.is_nan()).fold(0.0_f64, |most, g| most.max(-g));
        let speed = u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        println!(
            "{name}: {count} substeps {:.3} ms, depth {depth:.2e} m, speed {speed:.1e} m/s, drift {drift:.1e} m",
            1e3 * spent / 600.0
        );
    }
}

/// Steps of the direct solver from a standing start, geometry as at the beginning, friction by springs: factorisations, depth, speed.
fn settle(name: &str, start: &Problem, steps: usize) {
    let (h, g, mu) = (1.0 / 60.0, 9.81, 0.5);
    let mut problem = start.clone();
    let n = problem.mass.len();
    let stiffness = 1.0 / (4.0 * h * h * 6e-8);
    let mut state = vec![0.0; problem.rows.len()];
    let (mut u, mut solver) = (vec![0.0; 6 * n], Solver::default());
    let (mut count, mut most, mut failed) = (0, 0, 0);
    let clock = Instant::now();
    for step in 0..steps {
        for k in 0..n {
            for i in 0..6 {
                problem.momentum[6 * k + i] =
                    problem.mass[k][7 * i] * (u[6 * k + i] - if i == 5 { g * h } else { 0.0 });
            }
        }
        for (row, x) in problem.rows.iter_mut().zip(&state) {
            row.target = if !row.shared && *x > 0.0 { -x / h } else { -0.25 * x / h };
        }
        let mut used = 0;
        for pass in 0..3 {
            for k in (0..problem.rows.len()).step_by(7) {
                let bound = mu * problem.rows[k..k + 4].iter().map(|row| row.lambda).sum::<f64>();
                for row in &mut problem.rows[k + 4..k + 7] {
                    (row.lower, row.upper) =
                        if step + pass == 0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (-bound, bound) };
                }
            }
            let report = solver.newton(&mut problem, 60, 1e-10);
            used += report.factorisations;
            failed += usize::from(!report.converged);
        }
        count += used;
        most = most.max(used);
        u.copy_from_slice(&problem.u);
        for k in (0..problem.rows.len()).step_by(7) {
            let limit = mu * problem.rows[k..k + 4].iter().map(|row| row.lambda).sum::<f64>();
            let size = problem.rows[k + 4..k + 7].iter().map(|row| row.lambda * row.lambda).sum::<f64>().sqrt();
            for i in 0..7 {
                let row = &problem.rows[k + i];
                let mut rate = 0.0;
                for s in (0..2).filter(|&s| row.bodies[s] != GROUND) {
                    rate += (0..6).map(|j| row.J[s][j] * u[6 * row.bodies[s] as usize + j]).sum::<f64>();
                }
                let slides = i >= 4 && size >= limit * (1.0 - 1e-7);
                state[k + i] = if slides { -row.lambda / (h * stiffness) } else { state[k + i] + h * rate };
            }
        }
    }
    let depth = (0..state.len()).filter(|k| k % 7 < 4).fold(0.0_f64, |most, k| most.max(-state[k]));
    let speed = u.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    println!(
        "{name}: {steps} direct steps {:.2} ms each, {:.1} factorisations on average, {most} at most, {failed} failed, depth {depth:.1e} m, speed {speed:.1e} m/s",
        1e3 * clock.elapsed().as_secs_f64() / steps as f64,
        count as f64 / steps as f64
    );
}

fn main() {
    let mut pyramid = Vec::new();
    for r in 0..20 {
        for j in 0..20 - r {
            pyramid.push([(j as f64 - (19 - r) as f64 / 2.0) * 0.52, 0.0, 0.25 + 0.5 * r as f64]);
        }
    }
    let mut wall = Vec::new();
    for k in 0..10 {
        let s = 0.25 * f64::from(k % 2) * 0.52;
        for j in 0..10 {
            for i in 0..10 {
                wall.push([f64::from(i) * 0.52 + s, f64::from(j) * 0.52 + s, 0.25 + 0.5 * f64::from(k)]);
            }
        }
    }
    for (name, places) in [("pyramid", pyramid), ("wall", wall)] {
        let start = stack(&places);
        let mut solver = Solver::default();
        let mut problem = start.clone();
        let clock = Instant::now();
        let report = solver.newton(&mut problem, 60, 1e-10);
        println!(
            "{name}: {} bodies, {} rows, cold {:.2} ms, {} factorisations, {} blocks, residual {:.1e}",
            places.len(),
            problem.rows.len(),
            1e3 * clock.elapsed().as_secs_f64(),
            report.factorisations,
            solver.blocks(),
            problem.residual()
        );
        for _ in 0..3 {
            for k in (0..problem.rows.len()).step_by(7) {
                let bound = 0.5 * problem.rows[k..k + 4].iter().map(|row| row.lambda).sum::<f64>();
                for row in &mut problem.rows[k + 4..k + 7] {
                    (row.lower, row.upper) = (-bound, bound);
                }
            }
            let clock = Instant::now();
            let report = solver.newton(&mut problem, 60, 1e-10);
            println!(
                "{name}: with friction bounds {:.2} ms, {} factorisations, converged {}, residual {:.1e}",
                1e3 * clock.elapsed().as_secs_f64(),
                report.factorisations,
                report.converged,
                problem.residual()
            );
        }
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let clock = Instant::now();
            let report = solver.newton(&mut problem, 60, 1e-10);
            std::hint::black_box(report);
            best = best.min(clock.elapsed().as_secs_f64());
        }
        println!("{name}: warm {:.3} ms", 1e3 * best);
        settle(name, &start, if places.len() < 500 { 120 } else { 10 });
        rest(name, &start);
    }
}
