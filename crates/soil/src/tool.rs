//! Blades and buckets: the force of the soil on them slice by slice as bounded rows, and where the soil goes that they push.
//!
//! A blade is an edge and what stands on it. Every slice of it, a cell wide, takes its wedge from the columns ahead (cutting.rs); the sum
//! is one row against the motion: below its bound the tool stands still and nothing is displaced. Columns that the edge passes are cut
//! down to it; what was above goes into the bucket, or in front of the blade. Soil in a bucket is a body of its own that goes with it:
//! three rows with its inverse mass as compliance,  J u+ + lambda/m = v + g h,  so that weight and inertia act at the end of the step.
//! A bucket whose floor slopes down to its edge by a holds  1 - tan(a)/tan(phi)  of its capacity; the rest slides out in
//! sqrt(2 l/(g sin a)), l the length of its floor.

use crate::bearing::{About, Motion, Row};
use crate::cutting::{Cut, Profile, Resistance, penetration};
use crate::ground::{Ground, Parcel};
use crate::slope::Fence;
use libm::{atan2, sqrt};
use serde::{Deserialize, Serialize};
use tippe_geometry::Vec3;

/// Columns ahead of a blade that its wedge is read from, at most.
const AHEAD: usize = 40;
/// Edges nearer to the surface than this do not cut [m].
const GRAZE: f64 = 1e-4;

/// A blade or a bucket of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Name in the scene.
    pub name: String,
    /// The body.
    pub body: u32,
    /// Ends of its cutting edge, in the body's frame c [m]; ahead of it, with its top up, the first is on the right.
    pub edge: [Vec3; 2],
    /// From the edge to the top of the blade [m].
    pub top: Vec3,
    /// Thickness of the edge [m].
    pub thickness: f64,
    /// Teeth on the edge, and the width of one [m]; none: the edge itself.
    pub teeth: (u32, f64),
    /// From the edge to the back of its floor [m], and what it holds [m^3]: of a bucket.
    pub bucket: Option<(Vec3, f64)>,
    /// Soils, by index, that become grains where it cuts them.
    pub loosens: Vec<bool>,
}

/// What survives a step of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// Soil in the bucket.
    pub load: Parcel,
    /// Soil it has cut that is to become grains.
    pub carry: Parcel,
    /// Mass with its water of the grains in its bucket [kg].
    pub grains: f64,
    /// Share of its cutting resistance that it met in the last step [-].
    pub share: f64,
    /// Force against its motion [N], and downwards [N], in the last step.
    pub force: [f64; 2],
    /// Volume of soil it has cut or pushed so far, as it lay [m^3].
    pub moved: f64,
}

/// What the soil would do to a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bite {
    /// Direction of its motion, level.
    pub forward: Vec3,
    /// H and V over all slices [N], and where H acts.
    pub along: f64,
    /// See `along`.
    pub down: f64,
    /// Where.
    pub point: Vec3,
    /// Largest torque about the vertical [N m].
    pub turn: f64,
    /// Largest force along the edge [N].
    pub aside: f64,
    /// Force that the edge needs to go down [N].
    pub edge: f64,
    /// Middle of the edge.
    pub middle: Vec3,
}

/// A tool where it is.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Ends of its edge.
    pub edge: [Vec3; 2],
    /// From edge to top.
    pub top: Vec3,
    /// Level, ahead of the blade.
    pub forward: Vec3,
    /// Level, from the first to the second end.
    pub aside: Vec3,
    /// From the edge to the back of its floor; zero for a blade.
    pub floor: Vec3,
}

impl Tool {
    /// Width of its edge [m].
    pub fn width(&self) -> f64 {
        (self.edge[1] - self.edge[0]).length()
    }

    /// Where it is; none while its edge stands upright.
    pub fn placed(&self, motion: &Motion) -> Option<Placed> {
        let edge = self.edge.map(|p| motion.X_wc.point(p));
        let aside = edge[1] - edge[0];
        let level = Vec3::new(aside.x, aside.y, 0.0);
        let aside = level.try_normalize().filter(|_| level.length() > 0.5 * self.width())?;
        let forward = aside.cross(Vec3::Z);
        let floor = self.bucket.map_or(Vec3::ZERO, |(floor, _)| motion.X_wc.rotation * floor);
        Some(Placed { edge, top: motion.X_wc.rotation * self.top, forward, aside, floor })
    }

    /// What the soil does to it in this motion, under gravity g [m/s^2].
    pub fn bite(&self, ground: &Ground, motion: &Motion, g: f64) -> Option<Bite> {
        let placed = self.placed(motion)?;
        let rake = atan2(placed.top.z, -placed.top.dot(placed.forward)).clamp(0.1, 2.8);
        let slices = (self.width() / ground.cell).ceil().max(1.0) as usize;
        let width = self.width() / slices as f64;
        let mut bite = Bite { forward: placed.forward, ..Bite::default() };
        bite.middle = 0.5 * (placed.edge[0] + placed.edge[1]);
        let mut pushed: Vec<(Vec3, f64)> = Vec::with_capacity(slices);
        let mut points = [[0.0; 2]; AHEAD];
        for k in 0..slices {
            let tip = placed.edge[0].lerp(placed.edge[1], (k as f64 + 0.5) / slices as f64);
            let count = profile(ground, tip, placed.forward, &mut points);
            if count == 0 || points[0][1] <= GRAZE {
                continue;
            }
            let speed = motion.at(tip).dot(placed.forward).max(0.0);
            let (cut, kind_adhesion) = self.soil(ground, tip, &placed, points[0][1], [rake, speed, g]);
            let resistance: Resistance = cut.resistance(&Profile { points: &points[..count], ends: [0.0; 2] });
            let (H, V) = (resistance.along.max(0.0) * width, resistance.down * width);
            bite.along += H;
            bite.down += V;
            let low = placed.top * (points[0][1] / placed.top.z.max(1e-3) / 3.0).min(1.0);
            pushed.push((tip + low, H));
            bite.aside += H * libm::tan(cut.tool_friction) + kind_adhesion * points[0][1] * width;
            bite.edge += self.edge_force(&cut, points[0][1], width);
        }
        let walls = self.walls(ground, motion, &placed, g);
        for (point, [along, down]) in walls {
            pushed.push((point, along));
            bite.along += along;
            bite.edge += down;
        }
        if bite.along > 0.0 {
            bite.point = pushed.iter().map(|(p, H)| *p * *H).sum::<Vec3>() / bite.along;
            bite.turn = pushed.iter().map(|(p, H)| H * (*p - bite.point).dot(placed.aside).abs()).sum();
        }
        Some(bite)
    }

    /// What holds the side walls of a bucket in the ground: friction of the soil at rest on both faces of each, over its floor, and the
    /// edge that it cuts with. Where it acts, and the force against going on and going down [N].
    ///   F = 2 l (gamma d^2/2 K0 tan(delta) + ca d),   K0 = 1 - sin(phi)  (Jaky 1944),   and q d/2 t ahead, q l t below.
    fn walls(&self, ground: &Ground, motion: &Motion, placed: &Placed, g: f64) -> [(Vec3, [f64; 2]); 2] {
        placed.edge.map(|end| {
            let middle = end + 0.5 * placed.floor;
            let depth = ground.height_at([middle.x, middle.y]).map_or(0.0, |z| z - middle.z);
            let depth = depth.min(placed.top.z.max(0.0));
            if self.bucket.is_none() || depth <= GRAZE {
                return (middle, [0.0; 2]);
            }
            let speed = motion.at(middle).dot(placed.forward).max(0.0);
            let (cut, adhesion) = self.soil(ground, middle, placed, depth, [0.5 * std::f64::consts::PI, speed, g]);
            let length = placed.floor.length();
            let rest = 1.0 - libm::sin(cut.friction);
            let pressed = 0.5 * cut.unit_weight * depth * depth * rest * libm::tan(cut.tool_friction);
            let held = 2.0 * length * (pressed + adhesion * depth);
            let q = penetration([cut.cohesion, cut.friction, cut.unit_weight], depth) * self.thickness;
            (middle + Vec3::Z * (0.5 * depth), [held + 0.5 * q * depth, held + q * length])
        })
    }

    /// Soil that a slice cuts: means over what lies above the tip, by thickness.
    fn soil(&self, ground: &Ground, tip: Vec3, placed: &Placed, depth: f64, [rake, speed, g]: [f64; 3]) -> (Cut, f64) {
        let ahead = tip + placed.forward * (0.5 * ground.cell);
        let column = ground.column(ground.nearest([ahead.x, ahead.y]));
        let (mut left, mut sum, mut means) = (depth, 0.0, [0.0; 5]);
        for layer in column.layers().iter().rev() {
            let kind = &ground.kinds[usize::from(layer.kind)];
            let e = layer.void_ratio;
            let thick = (layer.mass * (1.0 + e) / (kind.grain_density * ground.area())).min(left);
            let own = [
                kind.density(e) * g,
                kind.cohesion_at(e),
                kind.friction_at(e),
                kind.tool_friction,
                kind.adhesion.min(kind.cohesion_at(e)),
            ];
            (0..5).for_each(|k| means[k] += own[k] * thick);
            sum += thick;
            left -= thick;
            if left <= 0.0 {
                break;
            }
        }
        let [unit_weight, cohesion, friction, tool_friction, adhesion] =
            means.map(|x| if sum > 0.0 { x / sum } else { 0.0 });
        let cut =
            Cut { unit_weight, cohesion, friction, tool_friction, adhesion, rake, surcharge: 0.0, speed, gravity: g };
        (cut, adhesion)
    }

    /// Force to push a width of the edge, or its teeth, down at a depth [N].
    fn edge_force(&self, cut: &Cut, depth: f64, width: f64) -> f64 {
        let teeth = f64::from(self.teeth.0) * self.teeth.1 / self.width();
        let share = if self.teeth.0 > 0 { teeth.min(1.0) } else { 1.0 };
        penetration([cut.cohesion, cut.friction, cut.unit_weight], depth) * self.thickness * width * share
    }

    /// Rows of a tool in a step h [s], and the load {torque, force} on its body.
    pub fn rows(
        &self,
        which: u32,
        bite: &Bite,
        record: &ToolRecord,
        motion: &Motion,
        h: f64,
        rows: &mut Vec<Row>,
    ) -> [Vec3; 2] {
        if bite.along <= 0.0 {
            return [Vec3::ZERO; 2];
        }
        let aside = Vec3::Z.cross(bite.forward);
        let row = |point, along, about| Row::at(motion, self.body, point, along, about);
        rows.push(Row { upper: bite.along * h, ..row(bite.point, -bite.forward, About::Cut(which)) });
        rows.push(Row { upper: bite.edge * h, ..row(bite.middle, Vec3::Z, About::Edge(which)) });
        let most = bite.aside * h;
        rows.push(Row { lower: -most, upper: most, ..row(bite.point, aside, About::Edge(which)) });
        if bite.turn > 0.0 {
            let most = bite.turn * h;
            let about = Row { J: [Vec3::Z, Vec3::ZERO], ..row(bite.point, Vec3::Z, About::Edge(which)) };
            rows.push(Row { lower: -most, upper: most, ..about });
        }
        // what presses it down follows what it met in the last step
        let force = Vec3::new(0.0, 0.0, -bite.down * record.share);
        [(bite.point - motion.X_wc.position).cross(force), force]
    }

    /// Rows of the soil in a bucket.
    pub fn load_rows(&self, which: u32, mass: f64, motion: &Motion, [h, g]: [f64; 2], rows: &mut Vec<Row>) {
        let Some((floor, _)) = self.bucket else { return };
        if mass <= 0.0 {
            return;
        }
        let point = motion.X_wc.point(self.middle(floor));
        let v = motion.at(point) - Vec3::Z * (g * h);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let row = Row::at(motion, self.body, point, axis, About::Load(which));
            let free = Row { lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..row };
            rows.push(Row { target: v.dot(axis), compliance: 1.0 / mass, ..free });
        }
    }

    /// Middle of the soil in its bucket, in the body's frame c.
    fn middle(&self, floor: Vec3) -> Vec3 {
        0.5 * (self.edge[0] + self.edge[1]) + 0.5 * floor + 0.3 * self.top
    }

    /// Energy of so much soil [kg] in its bucket [J].
    pub fn load_energy(&self, mass: f64, motion: &Motion, g: f64) -> f64 {
        let Some((floor, _)) = self.bucket else { return 0.0 };
        let point = motion.X_wc.point(self.middle(floor));
        mass * (g * point.z + 0.5 * motion.at(point).length_squared())
    }

    /// The sheet that soil does not pass.
    pub fn fence(&self, placed: &Placed) -> Fence {
        let [a, b] = placed.edge;
        let low = a.z.min(b.z);
        let ends = [[a.x, a.y], [b.x, b.y]];
        Fence { ends, heights: [low, low + placed.top.z.max(0.0)] }
    }

    /// Cuts down what its edge has passed in a step, and puts it where it goes.
    pub fn sweep(&self, ground: &mut Ground, record: &mut ToolRecord, from: &Placed, to: &Placed) {
        let reach = |p: &Placed| p.edge.map(|e| [e.x, e.y]);
        let corners = [reach(from), reach(to)].concat();
        let low = [0, 1].map(|k| corners.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min) - ground.cell);
        let high = [0, 1].map(|k| corners.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max) + ground.cell);
        let (first, last) = (ground.nearest(low), ground.nearest(high));
        let width = self.width();
        for j in first[1]..=last[1] {
            for i in first[0]..=last[0] {
                let p = ground.centre([i, j]);
                let place = |placed: &Placed| {
                    let d = Vec3::new(p[0], p[1], 0.0) - placed.edge[0];
                    let level = Vec3::new(d.x, d.y, 0.0);
                    [level.dot(placed.forward), level.dot(placed.aside)]
                };
                let ([f0, _], [f1, l1]) = (place(from), place(to));
                let inside = (0.0..=width).contains(&l1);
                if !(f0 >= 0.0 && f1 < 0.0 && inside) {
                    continue;
                }
                let z = to.edge[0].z + (to.edge[1].z - to.edge[0].z) * l1 / width;
                self.cut_column(ground, record, [i, j], z, to, l1);
            }
        }
    }

    /// Cuts one column down to z [m].
    fn cut_column(&self, ground: &mut Ground, record: &mut ToolRecord, at: [usize; 2], z: f64, to: &Placed, l: f64) {
        let surface = ground.height(at);
        if surface <= z + GRAZE {
            return;
        }
        let mut parcel = ground.take_above(at, z);
        record.moved += (surface - z) * ground.area();
        for (kind, mass) in parcel.0.iter_mut().enumerate() {
            if self.loosens.get(kind) == Some(&true) {
                record.carry.add(kind as u8, std::mem::take(mass));
            }
        }
        if let Some((_, capacity)) = self.bucket {
            let room = capacity * self.held(to, ground)[0] - record.load.volume(&ground.kinds);
            let volume = parcel.volume(&ground.kinds);
            let share = if volume > 0.0 { (room / volume).clamp(0.0, 1.0) } else { 0.0 };
            let into = parcel.take(share);
            into.0.iter().enumerate().for_each(|(kind, mass)| record.load.add(kind as u8, *mass));
        }
        // in front of the blade, in the same strip
        let edge = to.edge[0] + to.aside * l;
        let ahead = edge + to.forward * (0.5 * ground.cell);
        let cell = ground.nearest([ahead.x, ahead.y]);
        ground.lay(cell, &parcel);
    }

    /// Share of its capacity that it holds as it stands [-], and the sine of the slope of its floor down to its edge.
    fn held(&self, placed: &Placed, ground: &Ground) -> [f64; 2] {
        let back = placed.floor.normalize_or(-placed.forward);
        if back.z <= 0.0 {
            return [1.0, 0.0];
        }
        let tangent = back.z / sqrt((1.0 - back.z * back.z).max(1e-12));
        let steepest = ground.kinds.iter().map(|kind| libm::tan(kind.friction[0])).fold(f64::INFINITY, f64::min);
        [(1.0 - tangent / steepest).max(0.0), back.z]
    }

    /// Places for grains of a radius [m] that come from what it cut, from below: in the first cell behind the edge of a bucket, in front
    /// of a blade on the ground.
    pub fn places(&self, ground: &Ground, placed: &Placed, radius: f64) -> Vec<Vec3> {
        const APART: f64 = 2.05;
        let pitch = APART * radius;
        let along = (placed.edge[1] - placed.edge[0]).normalize_or(placed.aside);
        let inward = if self.bucket.is_some() { placed.floor.normalize_or(-placed.forward) } else { placed.forward };
        let up = match self.bucket {
            Some(_) => (placed.top - inward * inward.dot(placed.top)).normalize_or(Vec3::Z),
            None => Vec3::Z,
        };
        let count = |length: f64| ((length - 2.0 * radius) / pitch).floor().max(0.0) as usize + 1;
        let (across, layers) = (count(self.width()), count(placed.top.dot(up)));
        let deep = count(ground.cell + radius);
        let rim = 0.5 * (self.width() - pitch * across as f64 + pitch);
        let mut out = Vec::with_capacity(across * deep * layers);
        for layer in 0..layers {
            for row in 0..deep {
                for k in 0..across {
                    let [a, b, l] = [row, layer, k].map(|n| n as f64 * pitch);
                    let foot = placed.edge[0] + along * (rim + l) + inward * (0.5 * pitch + a);
                    let on_ground = ground.height_at([foot.x, foot.y]).unwrap_or(foot.z).max(foot.z);
                    let foot = if self.bucket.is_some() { foot } else { foot.with_z(on_ground) };
                    out.push(foot + up * (0.5 * pitch + b));
                }
            }
        }
        out
    }

    /// True where a point is over the floor of a bucket and below its top.
    pub fn holds(&self, placed: &Placed, p: Vec3) -> bool {
        let Some(along) = (placed.edge[1] - placed.edge[0]).try_normalize() else { return false };
        let inward = placed.floor.normalize_or(-placed.forward);
        let up = (placed.top - inward * inward.dot(placed.top)).normalize_or(Vec3::Z);
        let d = p - placed.edge[0];
        let within = |x: f64, most: f64| (0.0..=most).contains(&x);
        self.bucket.is_some()
            && within(d.dot(along), self.width())
            && within(d.dot(inward), placed.floor.length())
            && within(d.dot(up), placed.top.dot(up))
    }

    /// Lets out what the bucket does not hold as it stands, in a step h [s]; it falls from its edge.
    pub fn pour(&self, ground: &Ground, record: &mut ToolRecord, motion: &Motion, [h, g]: [f64; 2]) -> Parcel {
        let (Some((floor, capacity)), Some(placed)) = (self.bucket, self.placed(motion)) else {
            return Parcel::default();
        };
        let [share, sine] = self.held(&placed, ground);
        let volume = record.load.volume(&ground.kinds);
        if sine <= 0.0 || volume <= 0.0 {
            return Parcel::default();
        }
        let holds = capacity * share;
        let excess = (volume - holds).max(0.0);
        let time = sqrt(2.0 * floor.length() / (g * sine));
        // the last of it does not take for ever
        let part = (excess * h / time).max(0.01 * capacity * h / time).min(excess);
        record.load.take(part / volume)
    }

    /// Lays soil on the ground along its edge, in equal parts.
    pub fn lay_along(&self, ground: &mut Ground, parcel: &mut Parcel, placed: &Placed) {
        let slices = (self.width() / ground.cell).ceil().max(1.0) as usize;
        for k in 0..slices {
            let p = placed.edge[0].lerp(placed.edge[1], (k as f64 + 0.5) / slices as f64)
                + placed.forward * (0.5 * ground.cell);
            let part = parcel.take(1.0 / (slices - k) as f64);
            ground.lay(ground.nearest([p.x, p.y]), &part);
        }
    }
}

/// Heights above a tip along a direction, half a cell ahead of it and then cell by cell; how many.
fn profile(ground: &Ground, tip: Vec3, forward: Vec3, points: &mut [[f64; 2]; AHEAD]) -> usize {
    let mut count = 0;
    for (k, point) in points.iter_mut().enumerate() {
        let x = (k as f64 + 0.5) * ground.cell;
        let p = tip + forward * x;
        let Some(z) = ground.height_at([p.x, p.y]) else { break };
        *point = [x, z - tip.z];
        count = k + 1;
    }
    count
}
