//! Forward dynamics of mechanisms: microseconds from coordinates, rates and forces to the rates of the rates.
//!
//! ```sh
//! cargo bench -p tippe --bench forward_dynamics               # a table
//! cargo bench -p tippe --bench forward_dynamics -- --json     # one line per model, with the accelerations
//! ```
//!
//! The models are a 7-joint arm (`arm7.json`) and chains of links that hang on each other by hinges along y. The column
//! `difference` is the largest difference of a body's acceleration from that of the same bodies in absolute coordinates,
//! held together by rows with multipliers, relative to the largest acceleration.
#![allow(non_snake_case)] // matrices are capital letters, as in CONVENTIONS.md

use serde::Deserialize;
use std::hint::black_box;
use std::time::Instant;
use tippe::joint::{Joint, Six};
use tippe::kinematics::Kinematics;
use tippe::mechanism::{Link, Loop, Mechanism, Parent, Side, Work};
use tippe_geometry::{Mat3, Quat, Vec3};

/// A link of an open chain: its frame is at the joint, with the axes of the parent's frame at angle zero.
#[derive(Clone, Deserialize)]
struct LinkData {
    /// Of the hinge [-].
    axis: [f64; 3],
    /// Origin in the frame of the link before [m].
    joint_offset_in_parent: [f64; 3],
    /// [kg]
    mass: f64,
    /// Centre of mass [m].
    com: [f64; 3],
    /// About the centre of mass [kg m^2].
    inertia_com: [[f64; 3]; 3],
}

/// Largest number of links whose rows are solved: the time for it grows with the third power.
const ROWS_UP_TO: usize = 100;

fn main() {
    let json = std::env::args().any(|a| a == "--json");
    let arm: Vec<LinkData> = match serde_json::from_str(include_str!("arm7.json")) {
        Ok(arm) => arm,
        Err(error) => return eprintln!("arm7.json: {error}"),
    };
    if !json {
        println!("model       us per call  us per link  difference");
    }
    for (name, links) in
        [("arm7", arm), ("chain_10", chain(10)), ("chain_100", chain(100)), ("chain_1000", chain(1000))]
    {
        let tree = Case::new(&links);
        let (best, u_dot, work) = tree.time();
        let difference = (links.len() <= ROWS_UP_TO).then(|| tree.difference_from_rows(&links, &work));
        if json {
            let us = best * 1e6;
            println!("{}", serde_json::json!({ "model": name, "us": us, "acceleration": u_dot }));
        } else {
            let n = links.len() as f64;
            let difference = difference.map_or("-".to_string(), |d| format!("{d:.1e}"));
            println!("{name:<10}  {:>11.3}  {:>11.4}  {difference:>10}", best * 1e6, best * 1e6 / n);
        }
    }
}

/// Slender links of 0.1 m and 0.1 kg that hang down.
fn chain(n: usize) -> Vec<LinkData> {
    let link = |k: usize| LinkData {
        axis: [0.0, 1.0, 0.0],
        joint_offset_in_parent: [0.0, 0.0, if k == 0 { 0.0 } else { -0.1 }],
        mass: 0.1,
        com: [0.0, 0.0, -0.05],
        inertia_com: [[1e-4, 0.0, 0.0], [0.0, 1e-4, 0.0], [0.0, 0.0, 1e-6]],
    };
    (0..n).map(link).collect()
}

/// A mechanism at one instant.
struct Case {
    mechanism: Mechanism,
    masses: Vec<(f64, Mat3)>,
    q: Vec<f64>,
    u: Vec<f64>,
    tau: Vec<f64>,
    loads: Vec<Six>,
    bases: Vec<Quat>,
}

impl Case {
    fn new(links: &[LinkData]) -> Case {
        let n = links.len();
        let mut mechanism = Mechanism { coordinates: n, ..Mechanism::default() };
        for (k, link) in links.iter().enumerate() {
            let (hinge_p, hinge_c) = hinge(links, k);
            mechanism.links.push(Link {
                body: k as u32,
                parent: if k == 0 { Parent::World } else { Parent::Link(k as u32 - 1) },
                joint: Joint::Revolute,
                reversed: false,
                source: None,
                R_p1: hinge_p.R,
                p_p1: hinge_p.p,
                R_2c: hinge_c.R.transpose(),
                p_2c: hinge_c.R.transpose() * Vec3::from(link.com),
                first: k,
                count: 1,
                elastic: Default::default(),
            });
        }
        let masses: Vec<(f64, Mat3)> =
            links.iter().map(|l| (l.mass, Mat3::from_cols_array_2d(&l.inertia_com))).collect();
        Case {
            mechanism,
            q: (0..n).map(|k| 0.1 * (7 * k % 11) as f64 - 0.5).collect(),
            u: (0..n).map(|k| 0.2 * (5 * k % 13) as f64 - 1.2).collect(),
            tau: (0..n).map(|k| 0.01 * (3 * k % 7) as f64 - 0.03).collect(),
            loads: masses.iter().map(|(m, _)| Six::new(Vec3::ZERO, Vec3::new(0.0, 0.0, -9.81 * m))).collect(),
            bases: vec![Quat::IDENTITY; n],
            masses,
        }
    }

    fn call(&self, work: &mut Work, kinematics: &mut [Kinematics], u_dot: &mut [f64]) {
        let body = |b: u32| self.masses[b as usize];
        self.mechanism.place(&self.q, &self.u, &self.bases, |_| Kinematics::WORLD, work, kinematics);
        self.mechanism.accelerate(kinematics, body, &self.loads, &self.tau, work, u_dot);
    }

    /// Seconds per call, best of many batches of a millisecond or more; the rates of the rates and what the recursion left.
    fn time(&self) -> (f64, Vec<f64>, Work) {
        let n = self.q.len();
        let mut work = self.mechanism.work();
        let mut kinematics = vec![Kinematics::WORLD; n];
        let mut u_dot = vec![0.0; n];
        let calls = 1 + 4000 / n;
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            let start = Instant::now();
            for _ in 0..calls {
                self.call(&mut work, &mut kinematics, &mut u_dot);
                black_box(&mut u_dot);
            }
            best = best.min(start.elapsed().as_secs_f64() / calls as f64);
        }
        (best, u_dot, work)
    }

    /// The same bodies with six coordinates each, and the hinges as rows.
    fn difference_from_rows(&self, links: &[LinkData], work: &Work) -> f64 {
        let n = links.len();
        let mut kinematics = vec![Kinematics::WORLD; n];
        let mut scratch = self.mechanism.work();
        self.call(&mut scratch, &mut kinematics, &mut vec![0.0; n]);
        let mut free = Mechanism { coordinates: 6 * n, ..Mechanism::default() };
        let (mut q, mut u, mut bases) = (vec![0.0; 6 * n], vec![0.0; 6 * n], Vec::new());
        for (k, kin) in kinematics.iter().enumerate() {
            let i = 6 * k;
            free.links.push(Link {
                parent: Parent::World,
                joint: Joint::Free,
                R_p1: Mat3::IDENTITY,
                p_p1: Vec3::ZERO,
                R_2c: Mat3::IDENTITY,
                p_2c: Vec3::ZERO,
                first: i,
                count: 6,
                ..self.mechanism.links[k].clone()
            });
            q[i + 3..i + 6].copy_from_slice(&kin.p.to_array());
            u[i..i + 3].copy_from_slice(&kin.w.to_array());
            u[i + 3..i + 6].copy_from_slice(&kin.v.to_array());
            bases.push(Quat::from_mat3(&kin.R).normalize());
            let (hinge_p, hinge_c) = hinge(links, k);
            let on = self.mechanism.links[k].parent;
            let sides = [
                Side { on, p: hinge_p.p, R: hinge_p.R },
                Side { on: Parent::Link(k as u32), p: -Vec3::from(links[k].com), R: hinge_c.R },
            ];
            free.loops.push(Loop { joint: Joint::Revolute, source: k as u32, sides });
        }
        // the torques of the hinges act on both of their bodies
        let mut loads = self.loads.clone();
        for (k, &tau) in self.tau.iter().enumerate() {
            let torque = work.S[k].angular * tau;
            loads[k].angular += torque;
            if k > 0 {
                loads[k - 1].angular -= torque;
            }
        }
        let body = |b: u32| self.masses[b as usize];
        let mut apart = free.work();
        let mut u_dot = vec![0.0; 6 * n];
        free.place(&q, &u, &bases, |_| Kinematics::WORLD, &mut apart, &mut kinematics);
        free.accelerate(&kinematics, body, &loads, &vec![0.0; 6 * n], &mut apart, &mut u_dot);
        free.measure_rows(&q, &u, &kinematics, |_| Kinematics::WORLD, body, &mut apart);
        free.close(&mut apart, &mut u_dot);
        let (mut largest, mut difference) = (0.0_f64, 0.0_f64);
        for (a, b) in work.links.iter().zip(&apart.links) {
            let d = b.a - a.a;
            largest = largest.max(a.a.angular.length()).max(a.a.linear.length());
            difference = difference.max(d.angular.length()).max(d.linear.length());
        }
        difference / largest
    }
}

/// The hinge of link k: frame 1 in the frame of the link before (at its centre of mass), and the axes of frame 2 in the
/// link's own frame; z is the axis.
fn hinge(links: &[LinkData], k: usize) -> (Kinematics, Kinematics) {
    let z = Vec3::from(links[k].axis);
    let x = z.any_orthonormal_vector();
    let R = Mat3::from_cols(x, z.cross(x), z);
    let com_p = if k == 0 { Vec3::ZERO } else { Vec3::from(links[k - 1].com) };
    let p = Vec3::from(links[k].joint_offset_in_parent) - com_p;
    (Kinematics { p, R, ..Kinematics::WORLD }, Kinematics { R, ..Kinematics::WORLD })
}
