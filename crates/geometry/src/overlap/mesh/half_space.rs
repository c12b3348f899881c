//! A surface that dips into a half-space: everything in closed form.
//!
//! The depth d = -h below the plane is linear, so the foundation takes U = int_B d dV alone, whose gradient is the pressure d on
//! the surface below the plane: f = -int d n dA on the solid, exactly (docs/theory/overlap.md, section 6). Triangles are cut
//! by the plane; the midpoints of the sides integrate what is quadratic on a triangle. With cones from a point on the
//! plane, the cut itself adds nothing to volume and first moment.

use super::foundation::{Foundation, PressurePoint};
use super::region::{NONE, Region};
use super::surface::Surface;
use crate::{Aabb, Pose, Vec3};

/// Heights at which a surface above a half-space is cut.
const STRIPS: usize = 4;
/// Faces as steep as this, or overhanging, carry nothing [-].
const STEEP: f64 = 1e-9;

/// A region of what is below the ground while it is built, in one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dip {
    pub o: Vec3,
    pub volume: f64,
    /// int (x - o) dV
    pub first: Vec3,
    /// int n dA
    pub vector: Vec3,
    /// Largest depth [m].
    pub depth: f64,
    pub bounds: Aabb,
    /// Region in the result.
    pub region: u32,
}

impl From<Vec3> for Dip {
    fn from(o: Vec3) -> Dip {
        let (first, vector, bounds) = (Vec3::ZERO, Vec3::ZERO, Aabb::EMPTY);
        Dip { o, volume: 0.0, first, vector, depth: 0.0, bounds, region: NONE }
    }
}

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct HalfSpace {
    /// Region of a triangle that is below or crosses the plane, by epoch.
    marks: Vec<(u32, u32)>,
    epoch: u32,
    stack: Vec<u32>,
    queue: Vec<u32>,
    dips: Vec<Dip>,
    below: Vec<u32>,
}

impl HalfSpace {
    /// Fills regions and points; the half-space is body 1.
    pub fn run(
        &mut self,
        X_w1: &Pose,
        s: &Surface,
        X_w2: &Pose,
        about_w: Vec3,
        regions: &mut Vec<Region>,
        points: &mut Vec<PressurePoint>,
    ) -> Foundation {
        points.clear();
        self.dips.clear();
        // The plane in the frame of the surface: height m.x - level.
        let n_w = X_w1.vector(Vec3::Z);
        let m = X_w2.vector_into(n_w);
        let level = n_w.dot(X_w1.position - X_w2.position);
        self.find_below(s, m, level);
        self.connect(s, m, level);

        let (mut force, mut moment, mut energy, mut area, mut deepest) = (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0, 0.0);
        for i in 0..self.below.len() {
            let f = self.below[i];
            let place = self.marks[f as usize].1;
            let n = s.normals[f as usize];
            let (corners, count) = clip(&s.corners(f), m, level);
            let dip = &mut self.dips[place as usize];
            for c in &corners[..count] {
                dip.bounds = dip.bounds.union(&Aabb { min: *c, max: *c });
                dip.depth = dip.depth.max(level - m.dot(*c));
            }
            let (a, h) = (corners[0], n.dot(corners[0] - dip.o));
            for k in 2..count {
                let (b, c) = (corners[k - 1], corners[k]);
                let part = 0.5 * n.dot((b - a).cross(c - a));
                dip.volume += h * part / 3.0;
                dip.first += (((a - dip.o) + (b - dip.o) + (c - dip.o)) / 3.0) * (0.25 * h * part);
                dip.vector += n * part;
                area += part;
                for x in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
                    let (depth, share) = (level - m.dot(x), part / 3.0);
                    let push = n * (-depth * share);
                    force += push;
                    moment += x.cross(push);
                    energy -= 0.5 * depth * depth * share * n.dot(m);
                    let (point, normal) = (X_w2.point(x), X_w2.vector(-n));
                    let (axis, id) = (n_w, [0, f]);
                    points.push(PressurePoint { point, normal, axis, side: 1, area: share, depth, region: place, id });
                }
            }
            deepest = f64::max(deepest, dip.depth);
        }
        list_regions(&mut self.dips, X_w2, regions, |dip| (n_w, (-m.dot(dip.vector)).max(0.0)));
        for p in points.iter_mut() {
            p.region = self.dips[p.region as usize].region;
        }
        let force = X_w2.vector(force);
        let moment = X_w2.vector(moment) + (X_w2.position - about_w).cross(force);
        Foundation { force, moment, energy, area, depth: deepest, beyond: 0.0 }
    }

    /// Points of the surface between two heights over the plane; the half-space is body 1. Triangles are cut at the plane, so that those
    /// below carry the foundation, and above it at heights that shrink by four towards the lowest point.
    pub fn points_between(
        &mut self,
        X_w1: &Pose,
        s: &Surface,
        X_w2: &Pose,
        [from, above]: [f64; 2],
        points: &mut Vec<PressurePoint>,
    ) {
        points.clear();
        self.dips.clear();
        let n_w = X_w1.vector(Vec3::Z);
        let m = X_w2.vector_into(n_w);
        let level = n_w.dot(X_w1.position - X_w2.position);
        self.find_below(s, m, level + above);
        self.connect(s, m, level + above);
        let heights = |f: u32| s.corners(f).map(|c| m.dot(c) - level);
        let lowest = self.below.iter().flat_map(|&f| heights(f)).fold(above, f64::min);
        let base = lowest.max(0.0).max(from);
        let strips = (0..STRIPS).map(|k| base + (above - base) / (1_u32 << (2 * (STRIPS - 1 - k))) as f64);
        let mut bands = [from; STRIPS + 2];
        let below = usize::from(lowest < 0.0 && from < 0.0);
        bands[below] = if below == 1 { 0.0 } else { from };
        bands[below + 1..].iter_mut().zip(strips).for_each(|(band, height)| *band = height);
        let bands = &bands[..below + 1 + STRIPS];
        for i in 0..self.below.len() {
            let f = self.below[i];
            let n = s.normals[f as usize];
            // columns along the plane's normal; what faces up hides behind what faces down
            let lean = -n.dot(m);
            if lean < STEEP {
                continue;
            }
            let h = heights(f);
            let (low, high) = (h[0].min(h[1]).min(h[2]), h[0].max(h[1]).max(h[2]));
            for band in bands.windows(2).filter(|b| low < b[1] && high >= b[0]) {
                let (corners, count) = clip(&s.corners(f), m, level + band[1]);
                let (corners, count) = clip(&corners[..count], -m, -(level + band[0]));
                for k in 2..count {
                    let (a, b, c) = (corners[0], corners[k - 1], corners[k]);
                    let area = 0.5 * n.dot((b - a).cross(c - a)) / 3.0;
                    for x in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
                        let (point, normal, depth) = (X_w2.point(x), X_w2.vector(-n), level - m.dot(x));
                        let (region, id) = (self.marks[f as usize].1, [0, f]);
                        points.push(PressurePoint { point, normal, axis: n_w, side: 1, area, depth, region, id });
                    }
                }
            }
        }
    }

    /// Triangles with a corner below the plane.
    fn find_below(&mut self, s: &Surface, m: Vec3, level: f64) {
        self.below.clear();
        self.stack.clear();
        self.stack.push(0);
        while let Some(i) = self.stack.pop() {
            let node = &s.tree.nodes[i as usize];
            if m.dot(node.center) - m.abs().dot(node.half) > level {
                continue;
            }
            if node.count == 0 {
                self.stack.push(node.link);
                self.stack.push(i + 1);
                continue;
            }
            for &f in s.tree.leaf(node) {
                if s.corners(f).iter().any(|c| m.dot(*c) < level) {
                    self.below.push(f);
                }
            }
        }
    }

    /// Joins triangles across edges that reach below the plane.
    fn connect(&mut self, s: &Surface, m: Vec3, level: f64) {
        if self.epoch == u32::MAX {
            self.marks.clear();
            self.epoch = 0;
        }
        self.epoch += 1;
        if self.marks.len() < s.triangles.len() {
            self.marks.resize(s.triangles.len(), (0, 0));
        }
        for i in 0..self.below.len() {
            let seed = self.below[i];
            if self.marks[seed as usize].0 == self.epoch {
                continue;
            }
            let place = self.dips.len() as u32;
            let a = s.corners(seed)[0];
            let o = a - m * (m.dot(a) - level);
            self.dips.push(Dip::from(o));
            self.marks[seed as usize] = (self.epoch, place);
            self.queue.clear();
            self.queue.push(seed);
            while let Some(f) = self.queue.pop() {
                for e in s.face_edges[f as usize] {
                    if s.edges[e as usize].iter().all(|&v| m.dot(s.vertices[v as usize]) >= level) {
                        continue;
                    }
                    for g in s.edge_faces[e as usize] {
                        if self.marks[g as usize].0 != self.epoch {
                            self.marks[g as usize] = (self.epoch, place);
                            self.queue.push(g);
                        }
                    }
                }
            }
        }
    }
}

/// The regions that have a volume; `facing` gives normal in the world and area.
pub(super) fn list_regions(
    dips: &mut [Dip],
    X: &Pose,
    regions: &mut Vec<Region>,
    facing: impl Fn(&Dip) -> (Vec3, f64),
) {
    regions.clear();
    // Walls of voids have negative volume: they belong to the smallest region around them.
    for i in 0..dips.len() {
        let void = dips[i];
        if !(void.volume < 0.0) {
            continue;
        }
        let around = (0..dips.len())
            .filter(|&k| dips[k].volume > -void.volume && dips[k].bounds.contains(&void.bounds))
            .min_by(|&a, &b| dips[a].volume.total_cmp(&dips[b].volume));
        if let Some(k) = around {
            let dip = &mut dips[k];
            dip.volume += void.volume;
            dip.first += void.first + (void.o - dip.o) * void.volume;
            dip.vector += void.vector;
            dips[i].region = k as u32;
        }
    }
    for dip in dips.iter_mut() {
        if dip.volume > 0.0 {
            dip.region = regions.len() as u32;
            let centroid = (dip.o + dip.first / dip.volume).clamp(dip.bounds.min, dip.bounds.max);
            let ((normal, area), volume, extent) = (facing(dip), dip.volume, dip.depth);
            regions.push(Region { volume, centroid: X.point(centroid), normal, area, extent });
        }
    }
    for i in 0..dips.len() {
        if dips[i].volume < 0.0 && dips[i].region != NONE {
            dips[i].region = dips[dips[i].region as usize].region;
        }
    }
}

/// The part of a convex polygon of at most five corners below the plane; none when it only touches.
pub(super) fn clip(t: &[Vec3], m: Vec3, level: f64) -> ([Vec3; 6], usize) {
    let (mut out, mut count) = ([Vec3::ZERO; 6], 0);
    for (k, &a) in t.iter().enumerate() {
        let b = t[(k + 1) % t.len()];
        let (h, l) = (m.dot(a) - level, m.dot(b) - level);
        if h < 0.0 {
            out[count] = a;
            count += 1;
        }
        if (h < 0.0) != (l < 0.0) {
            out[count] = a + (b - a) * (h / (h - l)).clamp(0.0, 1.0);
            count += 1;
        }
    }
    (out, count)
}
