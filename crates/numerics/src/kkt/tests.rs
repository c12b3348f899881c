mod ties;

use super::*;

/// Numbers in [0, 1) from a linear congruence.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn around(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }
}

fn body(problem: &mut Problem, mass: f64, inertia: f64, u: [f64; 6]) {
    let (mut M, mut W) = ([0.0; 36], [0.0; 36]);
    for i in 0..6 {
        M[7 * i] = if i < 3 { inertia } else { mass };
        W[7 * i] = 1.0 / M[7 * i];
    }
    problem.momentum.extend((0..6).map(|i| M[7 * i] * u[i]));
    problem.mass.push(M);
    problem.inverse.push(W);
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let size = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    a.map(|x| x / size)
}

/// Bodies with random contacts of three rows, half of them with discs, half with boxes.
fn rubble(dice: &mut Dice, bodies: usize, contacts: usize, ratio: f64, eps: f64) -> Problem {
    let mut problem = Problem::default();
    for _ in 0..bodies {
        let mass = libm::pow(ratio, dice.next());
        let u = std::array::from_fn(|_| dice.around());
        body(&mut problem, mass, 0.1 * mass, u);
    }
    for c in 0..contacts {
        let a = (dice.next() * bodies as f64) as u32;
        let b = if dice.next() < 0.2 { GROUND } else { (dice.next() * bodies as f64) as u32 };
        if a == b {
            continue;
        }
        let radius = dice.next();
        // three axes at right angles, an arm on either side
        let mut axes = [[0.0; 3]; 3];
        axes[0] = unit([dice.around(), dice.around(), dice.around()]);
        axes[1] = unit(cross(axes[0], [dice.around(), dice.around(), dice.around()]));
        axes[2] = cross(axes[0], axes[1]);
        let arms = [0.5, -0.5].map(|s: f64| axes[0].map(|x| s * x + 0.2 * dice.around()));
        for axis in 0..3 {
            let mut row = Row { bodies: [a, b], compliance: eps, lambda: f64::NAN, ..Row::default() };
            for side in 0..2 {
                let sign = if side == 0 { -1.0 } else { 1.0 };
                let turn = cross(arms[side], axes[axis]);
                for i in 0..3 {
                    row.J[side][i] = sign * turn[i];
                    row.J[side][3 + i] = sign * axes[axis][i];
                }
            }
            if axis == 0 {
                (row.lower, row.upper) = (0.0, f64::INFINITY);
                row.target = 0.3 * dice.around();
            } else {
                (row.lower, row.upper) = (-radius, radius);
                row.shared = c % 2 == 0;
                row.ball = if axis == 1 && row.shared { 2 } else { 0 };
            }
            problem.rows.push(row);
        }
    }
    problem
}

#[test]
fn newton_solves_random_contacts() {
    let mut dice = Dice(1);
    let mut solver = Solver::default();
    for (bodies, contacts, ratio) in
        [(10, 10, 1.0), (20, 40, 1.0), (20, 40, 1e4), (40, 100, 1.0), (40, 100, 1e4), (40, 100, 1e5)]
    {
        let (mut most, mut sum) = (0, 0);
        for _ in 0..50 {
            let mut problem = rubble(&mut dice, bodies, contacts, ratio, 1e-6);
            let report = solver.newton(&mut problem, 100, 0.0);
            let residual = problem.residual();
            assert!(report.converged && residual < 1e-9, "{bodies} {contacts} {ratio}: {report:?} {residual:e}");
            most = most.max(report.factorisations);
            sum += report.factorisations;
            // from its own solution it knows the sets
            let again = solver.newton(&mut problem, 100, 0.0);
            assert!(again.converged && again.factorisations <= 8, "{again:?}");
        }
        println!("{bodies} bodies {contacts} contacts 1:{ratio}: mean {} most {most}", sum as f64 / 50.0);
    }
}

/// A few bodies between which far more columns stand than they have velocities, of any area and pushing against each other: piles of meshes.
fn pile(dice: &mut Dice, bodies: usize, contacts: usize) -> Problem {
    let mut problem = rubble(dice, bodies, contacts, 10.0, 0.0);
    for row in &mut problem.rows {
        row.compliance = libm::pow(10.0, -6.0 + 5.0 * dice.next());
        if row.upper.is_infinite() {
            row.target = if dice.next() < 0.2 { dice.next() } else { -10.0 * dice.next() };
        } else {
            let radius = libm::pow(10.0, 4.0 * dice.next());
            (row.lower, row.upper) = (-radius, radius);
        }
    }
    // the rows of a ball share bounds and compliance
    for k in 0..problem.rows.len() {
        if problem.rows[k].ball == 2 {
            let Row { lower, upper, compliance, .. } = problem.rows[k];
            problem.rows[k + 1] = Row { lower, upper, compliance, ..problem.rows[k + 1] };
        }
    }
    problem
}

#[test]
fn newton_solves_piles_of_columns() {
    let mut dice = Dice(3);
    let mut solver = Solver::default();
    for (bodies, contacts) in [(1, 40), (2, 200), (6, 400), (12, 400)] {
        let (mut most, mut sum) = (0, 0);
        for _ in 0..20 {
            let mut problem = pile(&mut dice, bodies, contacts);
            let report = solver.newton(&mut problem, 60, 1e-10);
            let residual = problem.residual();
            assert!(report.converged && residual < 1e-8, "{bodies} {contacts}: {report:?} {residual:e}");
            most = most.max(report.factorisations);
            sum += report.factorisations;
        }
        println!("{bodies} bodies {contacts} contacts: mean {} most {most}", sum as f64 / 20.0);
    }
}

#[test]
fn sweeps_find_the_same_where_it_is_easy() {
    let mut dice = Dice(2);
    let mut solver = Solver::default();
    for _ in 0..20 {
        let mut problem = rubble(&mut dice, 10, 8, 1.0, 1e-2);
        let mut swept = problem.clone();
        assert!(solver.newton(&mut problem, 100, 0.0).converged);
        swept.rows.iter_mut().for_each(|row| row.lambda = 0.0);
        swept.u = (0..swept.momentum.len()).map(|k| swept.inverse[k / 6][7 * (k % 6)] * swept.momentum[k]).collect();
        solver.measure(&mut swept);
        let settled = (0..20_000).any(|pass| solver.pass(&mut swept, pass % 2 == 1) <= 1e-12);
        assert!(settled && swept.residual() < 1e-8, "{:e}", swept.residual());
        for (x, y) in problem.u.iter().zip(&swept.u) {
            assert!((x - y).abs() < 1e-7, "{x} {y}");
        }
    }
}

/// Links on a line, ball joints, the last with a load: exact rows see the weight of everything below.
#[test]
fn a_chain_of_exact_rows_carries_a_load() {
    let (links, load, h, g) = (20, 1e5, 1.0 / 60.0, 9.81);
    let mut problem = Problem::default();
    for k in 0..links {
        let mass = if k + 1 == links { load } else { 1.0 };
        body(&mut problem, mass, 0.01 * mass, [0.0, 0.0, 0.0, 0.0, 0.0, -g * h]);
    }
    for k in 0..links as u32 {
        let first = problem.ends.len() as u32;
        // point 0.1 m above the centre: v + w x r
        let point = |z: f64| {
            let mut J = [0.0; 36];
            for r in 0..3 {
                J[6 * r + 3 + r] = 1.0;
            }
            (J[1], J[6]) = (z, -z);
            J
        };
        problem.ends.push(End { body: k, J: point(0.1) });
        if k > 0 {
            problem.ends.push(End { body: k - 1, J: point(-0.1).map(|x| -x) });
        }
        let ends = Ends { first, end: problem.ends.len() as u32 };
        problem.ties.push(Tie { ends, count: 3, ..Tie::default() });
    }
    let mut solver = Solver::default();
    let report = solver.newton(&mut problem, 10, 0.0);
    assert!(report.converged && report.factorisations == 1);
    let weight = (load + (links - 1) as f64) * g * h;
    assert!((problem.ties[0].lambda[2] / weight - 1.0).abs() < 1e-12, "{}", problem.ties[0].lambda[2]);
    assert!(problem.u.iter().all(|u| u.abs() < 1e-14), "{:?}", problem.u);
}

#[test]
fn redundant_exact_rows_share_the_load() {
    let mut problem = Problem::default();
    body(&mut problem, 2.0, 0.1, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    for k in 0..2 {
        let mut end = End { body: 0, J: [0.0; 36] };
        for r in 0..6 {
            end.J[7 * r] = 1.0;
        }
        problem.ends.push(end);
        problem.ties.push(Tie { ends: Ends { first: k, end: k + 1 }, count: 6, ..Tie::default() });
    }
    let report = Solver::default().newton(&mut problem, 10, 0.0);
    let sum = problem.ties[0].lambda[5] + problem.ties[1].lambda[5];
    assert!(
        report.converged && (sum - 2.0).abs() < 1e-9 && problem.u[5].abs() < 1e-12,
        "{report:?} {sum} {:?}",
        problem.u
    );
}

/// A motor with a limit: first steps of scene `driven_hinge`.
#[test]
fn a_bounded_row_without_compliance_holds_or_gives_way() {
    let (J, b, limit, target, h) = (0.2, 0.5, 2.0, 6.0, 1.0 / 60.0);
    let mut w = 0.0;
    let mut torque = 0.0;
    for _ in 0..60 {
        let mut problem = Problem::default();
        body(&mut problem, 1.0, J, [0.0, 0.0, w - h * b / J, 0.0, 0.0, 0.0]);
        let mut row = Row {
            bodies: [0, GROUND],
            target,
            lower: -limit * h,
            upper: limit * h,
            lambda: f64::NAN,
            ..Row::default()
        };
        row.J[0][2] = 1.0;
        problem.rows.push(row);
        assert!(Solver::default().newton(&mut problem, 10, 0.0).converged);
        w = problem.u[2];
        torque = problem.rows[0].lambda / h;
    }
    assert!((w - target).abs() < 1e-10 && (torque - b).abs() < 1e-9, "{w} {torque}");
}

/// Rows of boxes on each other, each on two of the row below, four points per pair and friction at their middle: many redundant, stiff
/// rows.
fn pyramid(rows: usize, friction: f64) -> Problem {
    let (mass, half, h, g) = (10.0, 0.25, 1.0 / 60.0, 9.81);
    let mut problem = Problem::default();
    let mut first = vec![0];
    for r in 0..rows {
        first.push(first[r] + rows - r);
        for _ in 0..rows - r {
            body(&mut problem, mass, mass * 4.0 * half * half / 6.0, [0.0, 0.0, 0.0, 0.0, 0.0, -g * h]);
        }
    }
    // along the axis at points that lie at these arms, or about it
    let row = |bodies: [u32; 2], axis: usize, arms: [[f64; 3]; 2], turns: bool| {
        let mut row = Row { bodies, compliance: 6e-8, lambda: f64::NAN, upper: f64::INFINITY, ..Row::default() };
        let mut d = [0.0; 3];
        d[axis] = 1.0;
        for (side, arm) in arms.into_iter().enumerate() {
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let turn = if turns { d.map(|x| 0.2 * x) } else { cross(arm, d) };
            for i in 0..3 {
                row.J[side][i] = sign * turn[i];
                row.J[side][3 + i] = if turns { 0.0 } else { sign * d[i] };
            }
        }
        row
    };
    let width = 0.52;
    for r in 0..rows {
        for j in 0..rows - r {
            let above = (first[r] + j) as u32;
            for s in 0..if r == 0 { 1 } else { 2 } {
                let (below, shift, from, to) = match (r, s) {
                    (0, _) => (GROUND, 0.0, -half, half),
                    // the part both share, seen from above
                    (_, 0) => ((first[r - 1] + j) as u32, -0.5 * width, -half, half - 0.5 * width),
                    _ => ((first[r - 1] + j + 1) as u32, 0.5 * width, 0.5 * width - half, half),
                };
                for (x, y) in [(from, -half), (to, -half), (to, half), (from, half)] {
                    problem.rows.push(row([below, above], 2, [[x - shift, y, half], [x, y, -half]], false));
                }
                let x = 0.5 * (from + to);
                for (k, axis) in [0, 1, 2].into_iter().enumerate() {
                    let mut grip = row([below, above], axis, [[x - shift, 0.0, half], [x, 0.0, -half]], axis == 2);
                    (grip.lower, grip.upper) = (-friction, friction);
                    grip.shared = true;
                    grip.ball = if k == 0 { 3 } else { 0 };
                    problem.rows.push(grip);
                }
            }
        }
    }
    problem
}

#[test]
fn a_pyramid_is_solved_from_nothing() {
    for friction in [f64::INFINITY] {
        let mut problem = pyramid(10, friction);
        let mut solver = Solver::default();
        let report = solver.newton(&mut problem, 60, 0.0);
        println!("friction {friction}: {report:?} residual {:e}", problem.residual());
        assert!(report.converged && report.factorisations < 12);
        // friction by what the normals carry
        for _ in 0..4 {
            for k in (0..problem.rows.len()).step_by(7) {
                let bound = 0.5 * problem.rows[k..k + 4].iter().map(|row| row.lambda).sum::<f64>();
                for row in &mut problem.rows[k + 4..k + 7] {
                    (row.lower, row.upper) = (-bound, bound);
                }
            }
            let report = solver.newton(&mut problem, 60, 0.0);
            println!("again: {report:?} residual {:e}", problem.residual());
            assert!(report.converged && report.factorisations < 12);
        }
        let ground = problem.rows.chunks(7).take(10).flat_map(|pair| &pair[..4]);
        let weight: f64 = ground.map(|row| row.lambda).sum();
        assert!((weight / (55.0 * 10.0 * 9.81 / 60.0) - 1.0).abs() < 1e-5, "{weight}");
    }
}

/// Two trays side by side with boxes that touch nothing else: no fill, however many they are.
#[test]
fn trays_of_boxes_have_no_fill() {
    let boxes = 5000;
    let edges: Vec<(u32, u32)> = std::iter::once((0, 1)).chain((2..2 + 2 * boxes).map(|k| (k % 2, k))).collect();
    let (order, beside) = super::order::of_elimination(&vec![Vertex::Body; 2 + 2 * boxes as usize], &edges);
    assert_eq!(order.len(), 2 + 2 * boxes as usize);
    assert_eq!(beside.iter().map(Vec::len).sum::<usize>(), edges.len());
}

/// Ten layers of ten by ten boxes, each on four of the layer below: dissected, with far fewer products than an order of least degree
/// makes (752,000).
#[test]
fn a_block_of_boxes_is_dissected() {
    let number = |k: u32, j: u32, i: u32| (10 * k + j) * 10 + i;
    let mut edges = Vec::new();
    for (k, j, i) in (0..900).map(|v| (v / 100, v / 10 % 10, v % 10)) {
        // the layer above is shifted to and fro
        let above = |i: u32| [i, if k % 2 == 0 { i.wrapping_sub(1) } else { i + 1 }];
        for (y, x) in above(j).into_iter().flat_map(|y| above(i).map(|x| (y, x))).filter(|(y, x)| *y < 10 && *x < 10) {
            edges.push((number(k, j, i), number(k + 1, y, x)));
        }
    }
    assert_eq!(edges.len(), 9 * 361);
    let (order, beside) = super::order::of_elimination(&vec![Vertex::Body; 1000], &edges);
    let mut all = order.clone();
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<u32>>());
    let products: usize = beside.iter().map(|list| list.len() * (list.len() + 1) / 2).sum();
    println!("{products} products");
    assert!(products < 620_000, "{products} products");
}

/// A matrix with fill, bodies and exact rows mixed: what the factors give back is what went in.
#[test]
fn factors_solve_what_was_filled_in() {
    let mut dice = Dice(5);
    for (bodies, links, groups) in [(1, 0, 0), (12, 15, 3), (60, 200, 10), (150, 500, 0), (80, 90, 60)] {
        let n = bodies + groups;
        let mut vertices = vec![Vertex::Body; bodies];
        vertices.resize(n, Vertex::Rows);
        let mut edges = std::collections::BTreeSet::new();
        for _ in 0..links {
            let (a, b) = ((dice.next() * bodies as f64) as u32, (dice.next() * bodies as f64) as u32);
            if a != b {
                edges.insert((a.min(b), a.max(b)));
            }
        }
        for g in 0..groups {
            for _ in 0..2 {
                edges.insert(((dice.next() * bodies as f64) as u32, (bodies + g) as u32));
            }
        }
        let edges: Vec<(u32, u32)> = edges.into_iter().collect();
        let mut ldl = BlockLdl::new(&vertices, &edges);
        ldl.clear();
        let size = 6 * n;
        let mut A = vec![0.0; size * size];
        // bodies: I and w w^T of each edge; exact rows: any block beside, softly regularised
        for v in 0..n {
            for i in 0..6 {
                A[(6 * v + i) * size + 6 * v + i] = if v < bodies { 1.0 } else { -0.1 };
            }
        }
        for &(a, b) in &edges {
            for i in 0..6 {
                for j in 0..6 {
                    let (x, a, b) = (dice.around(), 6 * a as usize + i, 6 * b as usize + j);
                    A[a * size + b] = x;
                    A[b * size + a] = x;
                }
                // diagonally dominant where bodies meet
                if (b as usize) < bodies {
                    for v in [a, b] {
                        A[(6 * v as usize + i) * (size + 1)] += 7.0;
                    }
                }
            }
        }
        let block =
            |a: usize, b: usize| -> Block { std::array::from_fn(|k| A[(6 * a + k / 6) * size + 6 * b + k % 6]) };
        for v in 0..n {
            *ldl.diagonal(v) = Wide::from(&block(v, v));
        }
        for (k, &(a, b)) in edges.iter().enumerate() {
            *ldl.edge(k) = Wide::from(&block(a as usize, b as usize));
        }
        assert!(ldl.factor());
        let x: Vec<f64> = (0..size).map(|_| dice.around()).collect();
        let mut y: Vec<f64> = (0..size).map(|i| (0..size).map(|j| A[i * size + j] * x[j]).sum()).collect();
        ldl.solve(&mut y);
        let off = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{bodies} bodies, {groups} groups: {off:e}");
    }
}

/// Two parts with contacts of their own and a few rows between them, merged and kept apart.
#[test]
fn parts_kept_apart_give_what_the_merged_ones_give() {
    let mut dice = Dice(8);
    for round in 0..20 {
        let mut merged = rubble(&mut dice, 50, 80, 100.0, 1e-6);
        let other = rubble(&mut dice, 50, 80, 100.0, 1e-6);
        let shift = |b: u32| if b == GROUND { GROUND } else { b + 50 };
        merged.mass.extend(other.mass);
        merged.inverse.extend(other.inverse);
        merged.momentum.extend(other.momentum);
        merged.rows.extend(other.rows.into_iter().map(|row| Row { bodies: row.bodies.map(shift), ..row }));
        for c in 0..1 + round % 6 {
            let bodies = [(dice.next() * 50.0) as u32, 50 + (dice.next() * 50.0) as u32];
            let (lower, upper) = if c % 2 == 0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (-0.3, 0.3) };
            let J = std::array::from_fn(|_| std::array::from_fn(|_| dice.around()));
            let row = Row { bodies, J, target: dice.around(), compliance: 1e-5, lower, upper, ..Row::default() };
            merged.rows.push(Row { lambda: f64::NAN, ..row });
        }
        let mut kept = merged.clone();
        for row in &mut kept.rows {
            row.apart = row.bodies[0] < 50 && row.bodies[1] != GROUND && row.bodies[1] >= 50;
        }
        let (mut one, mut two) = (Solver::default(), Solver::default());
        let report = one.newton(&mut merged, 100, 0.0);
        assert!(report.converged && report.apart == 0);
        let report = two.newton(&mut kept, 100, 0.0);
        assert!(report.converged && report.apart > 0, "{report:?}");
        let off = merged.u.iter().zip(&kept.u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8 && kept.residual() < 1e-8, "{off:e} {:e}", kept.residual());
    }
}

/// Rows that push elsewhere than they look: pivoting runs, and its answer fulfils all that was asked. Where they look and push alike it
/// is that of the direct solver.
#[test]
fn rows_that_push_elsewhere_are_pivoted() {
    use crate::mlcp::Method;
    let mut dice = Dice(3);
    let mut solver = Solver::default();
    for _ in 0..20 {
        let mut problem = rubble(&mut dice, 8, 10, 1.0, 1e-3);
        for row in &mut problem.rows {
            (row.shared, row.ball) = (false, 0);
        }
        let mut same = problem.clone();
        assert!(solver.newton(&mut same, 100, 0.0).converged);
        let mut skew = problem.clone();
        let report = solver.dense(&mut skew);
        assert!(report.converged && report.pivoting == Some(Method::ProjectedNewton), "{report:?}");
        let off = same.u.iter().zip(&skew.u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{off:e}");
        let k = (dice.next() * problem.rows.len() as f64) as usize;
        let own = problem.rows.remove(k);
        let force = own.J.map(|J| J.map(|x| x + 0.3 * dice.around()));
        problem.push_tie(&[0, 1].map(|s| (own.bodies[s], own.J[s])), ties::alone(&own));
        problem.ties[0].pushes = join_ends(&mut problem.ends, &[0, 1].map(|s| (own.bodies[s], force[s])));
        let report = solver.dense(&mut problem);
        assert!(report.converged, "{report:?}");
        assert!(matches!(report.pivoting, Some(Method::BlockPivoting | Method::Lemke)), "{report:?}");
        let mut momentum = problem.momentum.clone();
        for row in &problem.rows {
            push(row, row.lambda, &mut momentum);
        }
        let lambda = problem.ties[0].lambda[0];
        push(&Row { J: force, ..own }, lambda, &mut momentum);
        for (i, u) in problem.u.iter().enumerate() {
            assert!((momentum[i] * problem.inverse[i / 6][7 * (i % 6)] - u).abs() < 1e-9);
        }
        for row in &problem.rows {
            let w = Problem::rate(row, &problem.u) + row.compliance * row.lambda - row.target;
            let natural = row.lambda - (row.lambda - w).clamp(row.lower, row.upper);
            assert!(natural.abs() < 1e-9, "{natural:e}");
        }
        assert!(problem.residual() < 1e-8, "{:e}", problem.residual());
    }
}

/// Contacts between pairs of tumbling bodies go in lanes; the same ones with a row more, that does nothing, go row by row.
#[test]
fn contacts_in_lanes_do_what_rows_do() {
    let mut dice = Dice(5);
    let (h, pairs) = (1.0 / 60.0, 21);
    let mut lanes = Problem::default();
    let mut follows = Vec::new();
    for _ in 0..2 * pairs {
        let mass = 1.0 + dice.next();
        let skew: [f64; 3] = std::array::from_fn(|_| 0.3 * dice.around());
        let mut W = [0.0; 36];
        for i in 0..3 {
            W[7 * i] = 1.0 + dice.next();
            W[7 * (3 + i)] = 1.0 / mass;
            let (a, b) = ([0, 0, 1][i], [1, 2, 2][i]);
            (W[6 * a + b], W[6 * b + a]) = (skew[i], skew[i]);
        }
        lanes.inverse.push(W);
        lanes.mass.push([0.0; 36]);
        lanes.momentum.extend((0..6).map(|_| dice.around()));
    }
    let mut rows = lanes.clone();
    let (mut row_follows, mut from) = (Vec::new(), Vec::new());
    for p in 0..pairs {
        let limited = p % 3 == 2;
        let bodies = [2 * p as u32, if p % 7 == 6 { GROUND } else { 2 * p as u32 + 1 }];
        let n = unit(std::array::from_fn(|_| dice.around()));
        let t1 = unit(cross(n, [0.3, -0.5, 0.8]));
        let t2 = cross(n, t1);
        let mut add = |d: [f64; 3], turns: bool, row: Row| {
            let mut row = Row { bodies, ..row };
            for (s, sign) in [(0, -1.0), (1, 1.0)] {
                let a = if turns { d } else { cross(std::array::from_fn(|_| dice.around()), d) };
                for i in 0..3 {
                    row.J[s][i] = sign * a[i];
                    row.J[s][3 + i] = if turns { 0.0 } else { sign * d[i] };
                }
            }
            lanes.rows.push(row);
        };
        // some along two directions: they go row by row in both
        let mut first = add_normals(&mut add, n, 1 + p % 4, limited);
        if p % 5 == 4 {
            first += add_normals(&mut add, unit(std::array::from_fn(|i| n[i] + 0.1 * t1[i])), 1 + p % 3, limited);
        }
        let begin = follows.len() as u32;
        for (k, (d, turns)) in [(t1, false), (t2, false), (n, true), (t1, true), (t2, true)].into_iter().enumerate() {
            let ball = [3, 0, 0, 2, 0][k];
            add(d, turns, Row { ball, shared: true, gap: f64::NAN, lambda: 0.02, ..Row::default() });
        }
        let follow = |factor: f64, begin: u32| Follow {
            first: begin,
            count: first as u32,
            factor,
            slides: factor,
            ..Follow::NONE
        };
        follows.extend((0..first).map(|_| Follow::NONE));
        follows.extend((0..5).map(|k| follow(if k < 3 { 0.4 } else { 0.1 }, begin)));
        let begin_rows = rows.rows.len() as u32;
        from.extend(begin_rows as usize..begin_rows as usize + first + 5);
        rows.rows.extend_from_slice(&lanes.rows[begin as usize..]);
        row_follows.extend((0..first).map(|_| Follow::NONE));
        row_follows.extend((0..5).map(|k| follow(if k < 3 { 0.4 } else { 0.1 }, begin_rows)));
        rows.rows.push(Row {
            J: lanes.rows[begin as usize].J,
            bodies,
            gap: f64::NAN,
            compliance: 1.0,
            ..Row::default()
        });
        row_follows.push(follow(0.0, begin_rows));
    }
    let u0: Vec<f64> = (0..12 * pairs).map(|_| dice.around()).collect();
    let mut solver = Solver::default();
    let (mut moved, mut row_moved) = (Vec::new(), Vec::new());
    solver.substeps(&mut lanes, &follows, &[], &u0, h, 7, &mut moved);
    solver.substeps(&mut rows, &row_follows, &[], &u0, h, 7, &mut row_moved);
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(off(&lanes.u, &rows.u) < 1e-12 && off(&moved, &row_moved) < 1e-13);
    assert!(lanes.rows.iter().any(|row| row.lambda > 0.1));
    for (row, k) in lanes.rows.iter().zip(from) {
        let other = &rows.rows[k];
        assert!((row.lambda - other.lambda).abs() < 1e-12);
        assert!(row.upper == other.upper || (row.upper - other.upper).abs() < 1e-12);
    }
}

/// Adds this many normals along `n`, some with limits, springs and given motions of their own.
fn add_normals(add: &mut impl FnMut([f64; 3], bool, Row), n: [f64; 3], count: usize, limited: bool) -> usize {
    for k in 0..count {
        let gap = [-1e-3, 2e-4, -2e-3, 1e-3][k];
        let row =
            Row { gap, compliance: 1e-6, lambda: 0.1, target: -gap / 0.05, upper: f64::INFINITY, ..Row::default() };
        let own = Row { upper: 0.4, lower: -0.05, compliance: 2e-1, given: 0.02, ..row };
        add(n, false, if limited { own } else { row });
    }
    count
}
