//! Polygons with holes: checked, oriented, cut into triangles.

use super::SolidError;
use crate::triangulate::triangulate;

/// Points this near to a segment touch it, as a share of the polygon's size [-].
const NEAR: f64 = 1e-12;

/// Loops that cross and touch neither themselves nor each other, the outer one anticlockwise, holes clockwise.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    pub points: Vec<[f64; 2]>,
    pub loops: Vec<Vec<u32>>,
}

impl Polygon {
    /// Checks an outline and its holes [m]; a last point equal to the first and repeated points are left out.
    pub(super) fn new(outline: &[[f64; 2]], holes: &[Vec<[f64; 2]>]) -> Result<Polygon, SolidError> {
        let mut polygon = Polygon { points: Vec::new(), loops: Vec::new() };
        for points in std::iter::once(outline).chain(holes.iter().map(Vec::as_slice)) {
            if !points.iter().flatten().all(|x| x.abs() < 1e100) {
                return Err(SolidError::NotFinite { what: "outline" });
            }
            let mut clean = points.to_vec();
            clean.dedup();
            while clean.len() > 1 && clean.first() == clean.last() {
                clean.pop();
            }
            if clean.len() < 3 {
                return Err(SolidError::Outline { points: clean.len() });
            }
            let base = polygon.points.len() as u32;
            polygon.loops.push((base..base + clean.len() as u32).collect());
            polygon.points.extend(clean);
        }
        if let Some(corners) = polygon.flat_loop() {
            return Err(SolidError::OnALine { corners });
        }
        if let Some(at) = polygon.crossing() {
            return Err(SolidError::Crossing { at });
        }
        for (k, l) in polygon.loops.clone().iter().enumerate() {
            let inside = |m: usize| polygon.encloses(m, polygon.points[l[0] as usize]);
            if k > 0 && !(inside(0) && (1..polygon.loops.len()).all(|m| m == k || !inside(m))) {
                return Err(SolidError::Hole { hole: k - 1 });
            }
            if (polygon.twice_area(k) > 0.0) != (k == 0) {
                polygon.loops[k].reverse();
            }
        }
        Ok(polygon)
    }

    /// Number of corners of a loop that all lie on one line, to rounding.
    fn flat_loop(&self) -> Option<usize> {
        let flat = |l: &&Vec<u32>| {
            let at = |k: u32| self.points[k as usize];
            let o = at(l[0]);
            let from_o = |k: u32| [at(k)[0] - o[0], at(k)[1] - o[1]];
            let square = |a: [f64; 2]| a[0] * a[0] + a[1] * a[1];
            let far = l.iter().map(|&k| from_o(k)).max_by(|a, b| square(*a).total_cmp(&square(*b))).unwrap_or([0.0; 2]);
            l.iter().map(|&k| from_o(k)).all(|a| (a[0] * far[1] - a[1] * far[0]).abs() <= 1e-14 * square(far))
        };
        self.loops.iter().find(flat).map(Vec::len)
    }

    fn size(&self) -> f64 {
        self.points.iter().flatten().fold(0.0, |m, x| x.abs().max(m))
    }

    fn twice_area(&self, k: usize) -> f64 {
        let l = &self.loops[k];
        let o = self.points[l[0] as usize];
        (0..l.len())
            .map(|i| {
                let (p, q) = (self.points[l[i] as usize], self.points[l[(i + 1) % l.len()] as usize]);
                (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])
            })
            .sum()
    }

    /// The point lies inside loop k.
    fn encloses(&self, k: usize, p: [f64; 2]) -> bool {
        let l = &self.loops[k];
        let mut inside = false;
        for i in 0..l.len() {
            let (a, b) = (self.points[l[i] as usize], self.points[l[(i + 1) % l.len()] as usize]);
            if (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (b[0] - a[0]) * ((p[1] - a[1]) / (b[1] - a[1])) {
                inside = !inside;
            }
        }
        inside
    }

    /// Some point where two sides cross or touch that are not neighbours, or neighbours fold back.
    fn crossing(&self) -> Option<[f64; 2]> {
        let near = NEAR * self.size();
        let mut sides: Vec<[u32; 2]> =
            self.loops.iter().flat_map(|l| (0..l.len()).map(move |i| [l[i], l[(i + 1) % l.len()]])).collect();
        let p = |i: u32| self.points[i as usize];
        let left = |s: &[u32; 2]| p(s[0])[0].min(p(s[1])[0]);
        sides.sort_by(|s, t| left(s).total_cmp(&left(t)));
        for (i, s) in sides.iter().enumerate() {
            let right = p(s[0])[0].max(p(s[1])[0]) + near;
            for t in sides[i + 1..].iter().take_while(|t| left(t) <= right) {
                let [a, b, c, d] = [p(s[0]), p(s[1]), p(t[0]), p(t[1])];
                let found = if s[1] == t[0] {
                    touch(a, d, b, near)
                } else if t[1] == s[0] {
                    touch(c, b, a, near)
                } else {
                    meet(a, b, c, d, near)
                };
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Triangles, anticlockwise, without new points.
    pub(super) fn triangles(&self) -> Result<Vec<[u32; 3]>, SolidError> {
        triangulate(&self.points, &self.loops).ok_or(SolidError::Crossing { at: self.points[0] })
    }
}

fn cross(o: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

/// Sides from a to b and from b to c that lie on each other.
fn touch(a: [f64; 2], c: [f64; 2], b: [f64; 2], near: f64) -> Option<[f64; 2]> {
    let (u, v) = ([a[0] - b[0], a[1] - b[1]], [c[0] - b[0], c[1] - b[1]]);
    let along = u[0] * v[0] + u[1] * v[1];
    let longer = (u[0] * u[0] + u[1] * u[1]).max(v[0] * v[0] + v[1] * v[1]).sqrt();
    (along > 0.0 && (u[0] * v[1] - u[1] * v[0]).abs() <= near * longer).then_some(b)
}

/// A common point of two segments, or a point of one that is near the other.
fn meet(a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2], near: f64) -> Option<[f64; 2]> {
    if a[1].max(b[1]) + near < c[1].min(d[1]) || c[1].max(d[1]) + near < a[1].min(b[1]) {
        return None;
    }
    let (ca, cb) = (cross(c, d, a), cross(c, d, b));
    let (ac, ad) = (cross(a, b, c), cross(a, b, d));
    if (ca > 0.0) != (cb > 0.0) && (ac > 0.0) != (ad > 0.0) && ca != cb && ac != ad {
        let t = ca / (ca - cb);
        return Some([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]);
    }
    let nearby = |p: [f64; 2], a: [f64; 2], b: [f64; 2]| {
        let d = [b[0] - a[0], b[1] - a[1]];
        let long = d[0] * d[0] + d[1] * d[1];
        let t = (((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / long).clamp(0.0, 1.0);
        let off = [a[0] + d[0] * t - p[0], a[1] + d[1] * t - p[1]];
        (off[0] * off[0] + off[1] * off[1] <= near * near).then_some(p)
    };
    nearby(a, c, d).or_else(|| nearby(b, c, d)).or_else(|| nearby(c, a, b)).or_else(|| nearby(d, a, b))
}
