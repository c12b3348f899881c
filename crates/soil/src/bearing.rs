//! Bodies that stand, roll or slide on the ground: pressure and shear in every cell under them, and what they leave.
//!
//! A cell whose surface was `first` high and under which the body's lower side is z deep carries
//!   p = (kc/b + kphi) z^n  where it is deeper than ever,   p = pu - ku (zu - z)  above that   (Bekker 1969, Wong 1984),
//!   tau = (c + p tan phi) (1 - exp(-j/K))   (Janosi and Hanamoto 1961),   b = 2 area/perimeter of the patch (Krenn and Hirzinger 2009);
//! ku is the recompression of the soil down to twice b,   ku = (1 + e) pu/(2 b kappa).
//! All cells of a body together are rows: their forces by the motion of the body are linear in a step, K = sum k g g^T, and each
//! eigenvector of K is a row with its eigenvalue as the stiffness. What was pressed deeper than ever is compacted layer by layer from the
//! top (critical state); what compaction does not take goes to the nearest cells that are not pressed.

use crate::compaction::{Packed, mean_stress, spread};
use crate::ground::{Column, Ground, Layer};
use crate::soft::Plate;
use libm::{exp, sqrt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tippe_geometry::{Pose, Shape, Vec3, cast};

/// Below this depth pressure rises along a line [m].
const BLEND: f64 = 1e-3;
/// A surface that stands higher or lower than it was left by more than this was moved since, and begins anew [m].
const MOVED: f64 = 1e-3;
/// Smallest vertical part of the normal of a shape that rests on a cell [-].
const STEEP: f64 = 0.1;
/// Compliance of rows of tools, nothing beside the inverse mass of any machine: joints may hold the same [m/(N s^2)].
const RIGID: f64 = 1e-10;
/// Bodies slower than this press aside to all sides [m/s].
const GOES: f64 = 1e-3;
/// Cells of a patch at most that soil pressed aside goes over.
const RIM: usize = 64;

/// A body that may touch the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Presser {
    /// Its number.
    pub body: u32,
    /// Its shapes and their poses in its frame c.
    pub shapes: Vec<(Shape, Pose)>,
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Frame c.
    pub X_wc: Pose,
    /// Velocity of its origin, the centre of mass [m/s].
    pub v: Vec3,
    /// Angular velocity [rad/s].
    pub w: Vec3,
}

impl Motion {
    /// Velocity of its point `p`, given in world [m/s].
    pub fn at(&self, p: Vec3) -> Vec3 {
        self.v + self.w.cross(p - self.X_wc.position)
    }
}

/// What a row of the soil is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Pressing and shearing under a body.
    Bearing,
    /// Cutting by a tool, by its number.
    Cut(u32),
    /// The edge of a tool that is pushed down.
    Edge(u32),
    /// Soil that goes with a tool.
    Load(u32),
}

/// A bounded row:  J u + eps lambda = target,  lower <= lambda <= upper, lambda an impulse on the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The body.
    pub body: u32,
    /// Derivatives by its angular velocity and the velocity of its centre of mass.
    pub J: [Vec3; 2],
    /// [m/s].
    pub target: f64,
    /// eps [m/(N s^2)].
    pub compliance: f64,
    /// Smallest impulse [N s].
    pub lower: f64,
    /// Largest impulse [N s].
    pub upper: f64,
    /// What it is about.
    pub about: About,
}

impl Row {
    /// A row that pushes along a direction at a point of a body in this motion.
    pub fn at(motion: &Motion, body: u32, point: Vec3, along: Vec3, about: About) -> Row {
        let J = [(point - motion.X_wc.position).cross(along), along];
        Row { body, J, target: 0.0, compliance: RIGID, lower: 0.0, upper: 0.0, about }
    }

    /// Its rate with these velocities [m/s].
    pub fn rate(&self, v: Vec3, w: Vec3) -> f64 {
        self.J[0].dot(w) + self.J[1].dot(v)
    }

    /// Its impulse where the motion of the body is given [N s].
    pub fn given(&self, v: Vec3, w: Vec3) -> f64 {
        let lack = self.target - self.rate(v, w);
        (lack / self.compliance).clamp(self.lower, self.upper)
    }
}

/// A cell under a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The cell.
    pub at: [usize; 2],
    /// Where the body's lower side is over its middle.
    pub point: Vec3,
    /// Into the body.
    pub normal: Vec3,
    /// Height of the surface before it was ever pressed [m].
    pub first: f64,
    /// z [m].
    pub sinkage: f64,
    /// p [Pa].
    pub pressure: f64,
    /// dp/dz [Pa/m].
    pub stiffness: f64,
    /// Largest shear stress [Pa].
    pub strength: f64,
    /// j along x and y [m], and K [m].
    pub shear: [f64; 2],
    /// See `shear`.
    pub length: f64,
    /// The cell was pressed by the body in the step before.
    pub known: bool,
    /// p of what lies uppermost [Pa], and what was pressed below it before, as a tread has it; pressed deeper now.
    upper: f64,
    /// See `upper`.
    below: [f64; 3],
    /// See `upper`.
    deeper: bool,
}

/// All cells under a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// Its cells.
    pub nodes: Vec<Node>,
    /// b [m].
    pub width: f64,
}

/// Lowest point of the shapes over a place, and their normal there, outwards.
fn under(presser: &Presser, X_wc: &Pose, p: [f64; 2], from: f64, to: f64) -> Option<(f64, Vec3)> {
    let origin = Vec3::new(p[0], p[1], from);
    let mut best: Option<(f64, Vec3)> = None;
    for (shape, X_cs) in &presser.shapes {
        let reach = best.map_or(to - from, |(z, _)| z - from);
        if let Some(hit) = cast(shape, &X_wc.then(X_cs), origin, Vec3::Z, reach) {
            best = Some((hit.point.z, hit.normal));
        }
    }
    best
}

impl Patch {
    /// The cells under a body.
    pub fn of(ground: &Ground, presser: &Presser, motion: &Motion) -> Patch {
        let mut nodes = Vec::new();
        let X_wc = &motion.X_wc;
        let boxes = presser.shapes.iter().map(|(shape, X_cs)| shape.aabb(&X_wc.then(X_cs)));
        let Some(hull) = boxes.reduce(|a, b| a.union(&b)) else { return Patch::default() };
        let half = 0.5 * ground.cell;
        let reaches = |k: usize| {
            hull.max[k] > ground.low[k] && hull.min[k] < ground.low[k] + ground.counts[k] as f64 * ground.cell
        };
        if !(reaches(0) && reaches(1)) {
            return Patch::default();
        }
        let low = ground.nearest([hull.min.x + half, hull.min.y + half]);
        let high = ground.nearest([hull.max.x - half, hull.max.y - half]);
        let bottom = hull.min.z - ground.cell;
        for j in low[1]..=high[1] {
            for i in low[0]..=high[0] {
                let (surface, p) = (ground.height([i, j]), ground.centre([i, j]));
                if surface <= hull.min.z {
                    continue;
                }
                // a surface that the body sank below has sprung back less than that
                if let Some((z, normal)) = under(presser, X_wc, p, bottom, surface)
                    && normal.z < -STEEP
                {
                    nodes.push(Node::new([i, j], Vec3::new(p[0], p[1], z), -normal));
                }
            }
        }
        let mut patch = Patch { nodes, width: 0.0 };
        patch.measure(ground);
        patch.press(ground, presser.body, motion);
        patch
    }

    /// b = 2 area/perimeter.
    fn measure(&mut self, ground: &Ground) {
        let cells: BTreeSet<[usize; 2]> = self.nodes.iter().map(|node| node.at).collect();
        let open = |[i, j]: &[usize; 2]| {
            let beside = [[i + 1, *j], [i.wrapping_sub(1), *j], [*i, j + 1], [*i, j.wrapping_sub(1)]];
            beside.into_iter().filter(|cell| !cells.contains(cell)).count()
        };
        let sides: usize = cells.iter().map(open).sum();
        self.width = 2.0 * cells.len() as f64 * ground.cell / sides.max(1) as f64;
    }

    /// Pressures and strengths of all cells.
    fn press(&mut self, ground: &Ground, body: u32, motion: &Motion) {
        for node in &mut self.nodes {
            let (column, surface) = (ground.column(node.at), ground.height(node.at));
            let Some(top) = column.top() else { continue };
            let kind = &ground.kinds[usize::from(top.kind)];
            let tread = column.tread;
            let pressed = tread.deepest > 0.0;
            let again = pressed && (surface - tread.left).abs() < MOVED;
            node.known = again && tread.body == body + 1;
            let (deepest, least) = if again { (tread.deepest, tread.pressure) } else { (0.0, 0.0) };
            node.first = if again { tread.first } else { surface };
            node.shear = if node.known { tread.shear } else { [0.0; 2] };
            node.sinkage = node.first - node.point.z;
            let bed = Bed { top, kind, width: self.width };
            let rises = motion.at(node.point).z > 0.0;
            [node.pressure, node.stiffness] = Node::line(node.sinkage, [deepest, least], &bed, rises);
            node.upper = node.pressure;
            // soil that came to lie on what was pressed does not undo it
            node.below = match (again, pressed && surface > tread.left) {
                (true, _) => tread.below,
                (_, true) if tread.below[2] > tread.pressure => tread.below,
                (_, true) => [tread.first, tread.deepest, tread.pressure],
                _ => [0.0; 3],
            };
            let [first, deepest, least] = node.below;
            if least > 0.0 {
                let z = first - node.point.z;
                let [p, stiffness] = Node::line(z, [deepest, least], &bed, rises);
                if p > node.pressure {
                    (node.pressure, node.stiffness) = (p, stiffness);
                    node.deeper = z > deepest;
                    if node.deeper {
                        node.below = [first, z, p];
                    }
                }
            }
            let friction = kind.friction_at(top.void_ratio);
            node.strength = kind.cohesion_at(top.void_ratio) + node.pressure * libm::tan(friction);
            node.length = kind.shear;
            if node.pressure <= 0.0 {
                node.strength = 0.0;
            }
        }
        self.nodes.retain(|node| node.sinkage > 0.0);
    }

    /// Rows of the body in a step h [s]; what has no stiffness is a load {torque, force} on the centre of mass.
    pub fn rows(&self, area: f64, body: u32, motion: &Motion, h: f64, rows: &mut Vec<Row>) -> [Vec3; 2] {
        let reach = self.nodes.iter().map(|node| (node.point - motion.X_wc.position).length());
        let L = reach.fold(0.0, f64::max).max(1e-3);
        let (mut press, mut shear) = (Bundle::default(), Bundle::default());
        for node in &self.nodes {
            let share = area / node.normal.z;
            let arm = node.point - motion.X_wc.position;
            press.add(
                arm,
                node.normal,
                L,
                [node.pressure * share, node.stiffness * node.normal.z * share, f64::INFINITY],
            );
            let j = libm::hypot(node.shear[0], node.shear[1]);
            let most = node.strength * share;
            let slack = exp(-j / node.length);
            let along = if j > 0.0 { Vec3::new(node.shear[0], node.shear[1], 0.0) / j } else { Vec3::ZERO };
            for axis in [Vec3::X, Vec3::Y] {
                // along the surface
                let t = (axis - node.normal * node.normal.dot(axis)).normalize_or(axis);
                shear.add(arm, t, L, [-most * (1.0 - slack) * along.dot(axis), most * slack / node.length, most]);
            }
        }
        let mut load = [Vec3::ZERO; 2];
        for bundle in [press, shear] {
            bundle.rows(body, L, h, rows, &mut load);
        }
        load
    }

    /// What the body leaves after a step h [s] in this motion: shear, treads, compaction.
    pub fn leave(&self, ground: &mut Ground, body: u32, motion: &Motion, h: f64) {
        let cells: BTreeSet<[usize; 2]> = self.nodes.iter().map(|node| node.at).collect();
        for node in &self.nodes {
            let v = motion.at(node.point);
            let slip = v - node.normal * node.normal.dot(v);
            let shear = [node.shear[0] + slip.x * h, node.shear[1] + slip.y * h];
            let surface = ground.height(node.at);
            let tread = ground.column(node.at).tread;
            let again = tread.deepest > 0.0 && (surface - tread.left).abs() < MOVED;
            let deeper = !again || node.sinkage > tread.deepest;
            if deeper || node.deeper {
                ground.compact(node, self.width, v, &cells);
            }
            let left = ground.height(node.at);
            ground.tread(node.at, |tread| {
                if deeper {
                    (tread.first, tread.deepest, tread.pressure) = (node.first, node.sinkage, node.upper);
                }
                (tread.shear, tread.body, tread.left, tread.below) = (shear, body + 1, left, node.below);
            });
        }
    }
}

impl Node {
    fn new(at: [usize; 2], point: Vec3, normal: Vec3) -> Node {
        Node {
            at,
            point,
            normal,
            first: 0.0,
            sinkage: 0.0,
            pressure: 0.0,
            stiffness: 0.0,
            strength: 0.0,
            shear: [0.0; 2],
            length: 1.0,
            known: false,
            upper: 0.0,
            below: [0.0; 3],
            deeper: false,
        }
    }

    /// Pressure and stiffness at a depth z [m] of what was pressed `deepest` with `least` [m, Pa].
    fn line(z: f64, [deepest, least]: [f64; 2], soil: &Bed<'_>, rises: bool) -> [f64; 2] {
        let back = rebound_stiffness(soil.top, soil.kind, least, soil.width);
        if z < deepest {
            let p = (least - back * (deepest - z)).max(0.0);
            return [p, if p > 0.0 { back } else { 0.0 }];
        }
        let plate = Plate { width: soil.width.max(1e-6), length: soil.width.max(1e-6) };
        let law = soil.kind.pressure();
        let first = law.at(BLEND, &plate);
        let (p, slope) = match z < BLEND {
            true => (first * z / BLEND, first / BLEND),
            false => {
                let p = law.at(z, &plate);
                (p, p * soil.kind.bekker[2] / z)
            }
        };
        [p, if rises && p > 0.0 { back.max(slope) } else { slope }]
    }
}

/// What a cell presses on: its uppermost layer, the soil of it, b [m].
struct Bed<'a> {
    top: &'a Layer,
    kind: &'a crate::SoilKind,
    width: f64,
}

/// ku [Pa/m].
fn rebound_stiffness(top: &Layer, kind: &crate::SoilKind, pressure: f64, width: f64) -> f64 {
    (1.0 + top.void_ratio) * pressure.max(1000.0) / (2.0 * width.max(1e-3) * kind.compression.kappa)
}

/// Forces of many points on a body, linear in its motion, in {v, L w}.
#[derive(Clone, Debug, Default)]
struct Bundle {
    force: [f64; 6],
    K: [[f64; 6]; 6],
    /// Directions and largest forces.
    points: Vec<([f64; 6], f64)>,
}

impl Bundle {
    /// Adds a force [N] along a direction with its stiffness [N/m] and the largest it can be [N].
    fn add(&mut self, arm: Vec3, along: Vec3, L: f64, [force, stiffness, most]: [f64; 3]) {
        let turn = arm.cross(along) / L;
        let g = [along.x, along.y, along.z, turn.x, turn.y, turn.z];
        for a in 0..6 {
            self.force[a] += force * g[a];
            for b in 0..6 {
                self.K[a][b] += stiffness * g[a] * g[b];
            }
        }
        self.points.push((g, most));
    }

    /// A row for each eigenvector; what no stiffness answers to is a load.
    fn rows(&self, body: u32, L: f64, h: f64, rows: &mut Vec<Row>, load: &mut [Vec3; 2]) {
        let (values, vectors) = eigen(self.K);
        let top = values.iter().fold(0.0, |a: f64, b| a.max(*b));
        for (k, e) in values.iter().zip(vectors) {
            let force: f64 = (0..6).map(|a| e[a] * self.force[a]).sum();
            let J = [Vec3::new(e[3], e[4], e[5]) * L, Vec3::new(e[0], e[1], e[2])];
            if *k <= 1e-9 * top || top == 0.0 {
                load[0] += J[0] * force;
                load[1] += J[1] * force;
                continue;
            }
            let (mut lower, mut upper) = (0.0, 0.0);
            for (g, most) in &self.points {
                let along: f64 = (0..6).map(|a| e[a] * g[a]).sum();
                match most.is_finite() {
                    true => (lower, upper) = (lower - most * along.abs(), upper + most * along.abs()),
                    false if along > 1e-9 => upper = f64::INFINITY,
                    false if along < -1e-9 => lower = f64::NEG_INFINITY,
                    false => {}
                }
            }
            rows.push(Row {
                body,
                J,
                target: force / (h * k),
                compliance: 1.0 / (h * h * k),
                lower: lower * h,
                upper: upper * h,
                about: About::Bearing,
            });
        }
    }
}

/// Eigenvalues and vectors of a symmetric matrix by Jacobi's rotations, cyclic (Golub and Van Loan 2013, section 8.5).
fn eigen(mut A: [[f64; 6]; 6]) -> ([f64; 6], [[f64; 6]; 6]) {
    let mut V = [[0.0; 6]; 6];
    for (k, row) in V.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    for _ in 0..30 {
        let off: f64 = (0..6).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| A[a][b] * A[a][b]).sum();
        let size: f64 = (0..6).map(|a| A[a][a] * A[a][a]).sum();
        if off <= 1e-26 * size {
            break;
        }
        for p in 0..5 {
            for q in p + 1..6 {
                if A[p][q] == 0.0 {
                    continue;
                }
                let theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
                let t = theta.signum() / (theta.abs() + sqrt(theta * theta + 1.0));
                let c = 1.0 / sqrt(t * t + 1.0);
                let s = t * c;
                for row in &mut A {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..6 {
                    let (x, y) = (A[p][k], A[q][k]);
                    (A[p][k], A[q][k]) = (c * x - s * y, s * x + c * y);
                }
                let (vp, vq) = (V[p], V[q]);
                for k in 0..6 {
                    (V[p][k], V[q][k]) = (c * vp[k] - s * vq[k], s * vp[k] + c * vq[k]);
                }
            }
        }
    }
    ([0, 1, 2, 3, 4, 5].map(|k| A[k][k]), V)
}

impl Ground {
    /// Lowers a column to where a body pressed it, less what springs back: compacted from the top, the rest pressed aside.
    fn compact(&mut self, node: &Node, width: f64, v: Vec3, cells: &BTreeSet<[usize; 2]>) {
        let column = self.column(node.at);
        let Some(top) = column.top().copied() else { return };
        let kind = self.kinds[usize::from(top.kind)].clone();
        let back = node.pressure / rebound_stiffness(&top, &kind, node.pressure, width);
        let target = node.first - node.sinkage + back.min(node.sinkage);
        let mut lower = self.height(node.at) - target;
        if lower <= 0.0 {
            return;
        }
        let (kinds, area) = (self.kinds.clone(), self.area());
        let per = |layer: &Layer| 1.0 / (kinds[usize::from(layer.kind)].grain_density * area);
        self.change(node.at, |column| {
            column.moved = false;
            split_under(column, width, &per);
            let mut depth = 0.0;
            for layer in column.layers_mut().iter_mut().rev() {
                let kind = &kinds[usize::from(layer.kind)];
                let thick = layer.mass * (1.0 + layer.void_ratio) * per(layer);
                let vertical = node.pressure * spread(0.5 * width, depth + 0.5 * thick);
                let p = mean_stress(vertical, kind.friction_at(layer.void_ratio));
                let packed = Packed { volume: 1.0 + layer.void_ratio, yield_pressure: layer.yield_pressure };
                let pressed = kind.compression.pressed(packed, p, 1.0 + kind.void_ratios[0]);
                let gives = layer.mass * (packed.volume - pressed.volume) * per(layer);
                let share = if gives > lower { lower / gives } else { 1.0 };
                layer.void_ratio -= (packed.volume - pressed.volume) * share;
                layer.yield_pressure += (pressed.yield_pressure - layer.yield_pressure) * share;
                lower -= gives * share;
                depth += thick;
                if lower <= 0.0 {
                    break;
                }
            }
        });
        if lower > 1e-9 {
            self.press_aside(node.at, self.height(node.at) - lower, v, cells);
        }
    }

    /// What stands higher than z [m] over a cell goes to the nearest cells around that are not pressed, in equal parts; not ahead of a
    /// body that moves with v [m/s], which would count it as ground that bears.
    fn press_aside(&mut self, at: [usize; 2], z: f64, v: Vec3, cells: &BTreeSet<[usize; 2]>) {
        let mut free: Vec<[usize; 2]> = Vec::new();
        let along = Vec3::new(v.x, v.y, 0.0);
        let along = if along.length() > GOES { along.normalize() } else { Vec3::ZERO };
        for [dx, dy] in [[1isize, 0], [-1, 0], [0, 1], [0, -1]] {
            if along.x * dx as f64 + along.y * dy as f64 > 0.5 {
                continue;
            }
            let steps = (1..=RIM as isize).map(|k| [at[0] as isize + k * dx, at[1] as isize + k * dy]);
            let inside = |c: &[isize; 2]| (0..2).all(|k| c[k] >= 0 && (c[k] as usize) < self.counts[k]);
            let mut beyond = steps.take_while(inside).map(|c| c.map(|x| x as usize));
            free.extend(beyond.find(|cell| !cells.contains(cell)));
        }
        let far = |cell: &[usize; 2]| cell[0].abs_diff(at[0]) + cell[1].abs_diff(at[1]);
        let Some(nearest) = free.iter().map(far).min() else { return };
        free.retain(|cell| far(cell) == nearest);
        let mut parcel = self.take_above(at, z);
        for (k, &cell) in free.iter().enumerate() {
            let part = parcel.take(1.0 / (free.len() - k) as f64);
            self.lay(cell, &part);
        }
    }
}

/// Layers under a load as thin as a quarter of its width, twice, then as a half: stress falls with depth.
fn split_under(column: &mut Column, width: f64, per: &impl Fn(&Layer) -> f64) {
    let Some(top) = column.top().copied() else { return };
    let thick = top.mass * (1.0 + top.void_ratio) * per(&top);
    let mut depth = 0.0;
    let cuts = [0.25, 0.5, 1.0].map(|share| share * width);
    for cut in cuts.iter().rev() {
        // from below upwards, so that each cut leaves the upper part on top
        if thick - depth > 1.5 * cut && column.layers().len() + 1 < crate::MOST_LAYERS {
            column.split(cut / ((1.0 + top.void_ratio) * per(&top)));
            depth = thick - cut;
        }
    }
}
