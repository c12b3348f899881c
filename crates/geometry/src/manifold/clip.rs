//! What two faces or lines share, seen along the normal.
//!
//! Sutherland and Hodgman (1974): polygon 1 is cut by the sides of polygon 2 one after the other. Every corner of the result
//! remembers the sides before and after it; from them its place is computed anew, the same whichever polygon was cut.

use super::facet::{Facet, ROOM};
use super::reduce::{Candidate, Candidates};
use super::{Kind, id};
use crate::Vec3;
use std::f64::consts::PI;

/// Corners that lie beyond a side by less than this share of the size count as inside: flush boxes keep their corners [-].
pub(super) const SLIP: f64 = 1e-7;
/// Sine of the angle below which the crossing of two sides is not computed anew [-].
const CROSSING: f64 = 1e-3;

/// Tilt up to which a disc is seen as a circle [rad].
const ROUND: f64 = 1e-2;

/// Two lines at a larger angle cross, whatever the margin: the surfaces beside the crossing curve away [rad].
const ALONG: f64 = 1e-2;

/// What is common to all points of a pair.
pub(super) struct Pair {
    /// From 1 to 2 [-].
    pub n: Vec3,
    pub margin: f64,
    pub radius1: f64,
    pub radius2: f64,
    /// [m]
    pub slip: f64,
    /// Angle that counts as parallel [rad].
    pub flat: f64,
}

impl Pair {
    /// Point between a point of core 1 and the point of core 2 that lies `g` along n from it.
    fn push<const C: usize>(&self, p1: Vec3, g: f64, id: u32, found: &mut Candidates<C>) {
        let gap = g - (self.radius1 + self.radius2);
        if gap < self.margin {
            let point = p1 + self.n * (0.5 * (g + (self.radius1 - self.radius2)));
            found.push(Candidate::new(point, gap, id));
        }
    }
}

/// A face seen along n: corners (u, v) anticlockwise seen from 2, and heights along n.
pub(super) struct Flat<'a, const N: usize = ROOM> {
    face: &'a Facet<N>,
    /// Corner k of the polygon is this corner of the face.
    reversed: bool,
    u: [[f64; 2]; N],
    h: [f64; N],
    /// Unit vectors along the sides from corner k to k + 1 [-]; zero for a side without length.
    e: [[f64; 2]; N],
    /// height = h[0] + slope . ((u, v) - u[0]), between low and high.
    slope: [f64; 2],
    low: f64,
    high: f64,
    s: Vec3,
    t: Vec3,
}

impl<'a, const N: usize> Flat<'a, N> {
    /// Face 1, or face 2 with its corners the other way round, across the unit vectors s and t with s x t = n.
    pub(super) fn new(face: &'a Facet<N>, [s, t, n]: [Vec3; 3], second: bool) -> Self {
        let (mut u, mut h, mut e) = ([[0.0; 2]; N], [0.0; N], [[0.0; 2]; N]);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..face.count.max(1) {
            let p = face.corners[if second && face.count > 0 { face.count - 1 - k } else { k }].p;
            (u[k], h[k]) = ([s.dot(p), t.dot(p)], n.dot(p));
            (low, high) = (low.min(h[k]), high.max(h[k]));
        }
        for k in 0..face.count {
            let (a, b) = (u[k], u[if k + 1 < face.count { k + 1 } else { 0 }]);
            let side = [b[0] - a[0], b[1] - a[1]];
            let length = (side[0] * side[0] + side[1] * side[1]).sqrt();
            if length > 0.0 {
                let inverse = 1.0 / length;
                e[k] = [side[0] * inverse, side[1] * inverse];
            }
        }
        // m . (p - p0) = 0
        let along = face.normal.dot(n);
        let slope = match face.count {
            2 => {
                let e = [u[1][0] - u[0][0], u[1][1] - u[0][1]];
                let squared = e[0] * e[0] + e[1] * e[1];
                let rate = if squared > 0.0 { (h[1] - h[0]) / squared } else { 0.0 };
                [rate * e[0], rate * e[1]]
            }
            _ if along.abs() > 1e-12 => [-face.normal.dot(s) / along, -face.normal.dot(t) / along],
            _ => [0.0; 2],
        };
        if face.count == 0 {
            (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        Flat { face, reversed: second, u, h, e, slope, low, high, s, t }
    }

    fn count(&self) -> usize {
        self.face.count
    }

    fn around(&self, k: usize) -> usize {
        if k < self.count() { k } else { k - self.count() }
    }

    fn corner(&self, k: usize) -> &super::facet::Corner {
        let k = self.around(k);
        &self.face.corners[if self.reversed { self.count() - 1 - k } else { k }]
    }

    fn at(&self, k: usize) -> [f64; 2] {
        self.u[self.around(k)]
    }

    fn height(&self, q: [f64; 2]) -> f64 {
        let (du, dv) = (q[0] - self.u[0][0], q[1] - self.u[0][1]);
        (self.h[0] + self.slope[0] * du + self.slope[1] * dv).clamp(self.low, self.high)
    }

    /// Distance of q to the left of side k [m].
    #[inline]
    fn inside(&self, k: usize, q: [f64; 2]) -> f64 {
        let (a, e) = (self.u[k], self.e[k]);
        e[0] * (q[1] - a[1]) - e[1] * (q[0] - a[0])
    }

    /// The disc as (u, v) and radius, where it is seen as a circle.
    fn disc(&self) -> Option<([f64; 2], f64)> {
        let round = self.slope[0].abs() + self.slope[1].abs() < ROUND;
        self.face.disc.filter(|_| round).map(|(c, r)| ([self.s.dot(c), self.t.dot(c)], r))
    }

    /// The polygon, or the disc it stands for, holds q.
    fn holds(&self, q: [f64; 2], slip: f64) -> bool {
        if self.count() == 0 {
            return true;
        }
        match self.disc() {
            Some((c, r)) => {
                let d = [q[0] - c[0], q[1] - c[1]];
                d[0] * d[0] + d[1] * d[1] <= (r + slip) * (r + slip)
            }
            None => (0..self.count()).all(|k| self.inside(k, q) >= -slip),
        }
    }

    /// The polygon or disc holds the whole disc of the other.
    fn holds_disc(&self, c: [f64; 2], r: f64, slip: f64) -> bool {
        match self.disc() {
            Some((own, R)) => {
                let d = [c[0] - own[0], c[1] - own[1]];
                (d[0] * d[0] + d[1] * d[1]).sqrt() + r <= R + slip
            }
            None => self.count() == 0 || (0..self.count()).all(|k| self.inside(k, c) >= r - slip),
        }
    }
}

/// Two faces, or a face and a line, seen along the normal.
pub(super) fn faces<const N: usize, const C: usize>(
    pair: &Pair,
    f1: &Flat<'_, N>,
    f2: &Flat<'_, N>,
    limit: usize,
    found: &mut Candidates<C>,
) {
    if f1.count() == 2 || f2.count() == 2 {
        return line_over_face(pair, f1, f2, found);
    }
    // A whole face or disc over the other; where both hold, the first one's.
    for (inner, outer, first) in [(f1, f2, true), (f2, f1, false)] {
        let whole = match inner.disc() {
            _ if inner.count() == 0 => false,
            Some((c, r)) => outer.holds_disc(c, r, pair.slip),
            None => (0..inner.count()).all(|k| outer.holds(inner.at(k), pair.slip)),
        };
        if whole {
            // A disc has corners to spare: evenly spaced ones, always the same.
            let stride = if inner.disc().is_some() { ROOM.div_ceil(limit) } else { 1 };
            for k in (0..inner.count()).filter(|&k| stride == 1 || (inner.corner(k).tag % ROOM).is_multiple_of(stride))
            {
                own_corner(pair, inner, outer, first, k, found);
            }
            let all = found.count == inner.count().div_ceil(stride);
            found.area = match inner.disc() {
                Some((_, r)) if all => PI * r * r * inner.face.normal.dot(pair.n).abs(),
                Some(_) => 0.0,
                None => found.enclosed(pair.n),
            };
            return;
        }
    }
    cut(pair, f1, f2, found);
    found.area = found.enclosed(pair.n);
}

fn own_corner<const N: usize, const C: usize>(
    pair: &Pair,
    inner: &Flat<'_, N>,
    outer: &Flat<'_, N>,
    first: bool,
    k: usize,
    found: &mut Candidates<C>,
) {
    let (c, over) = (inner.corner(k), outer.height(inner.at(k)));
    if first {
        pair.push(c.p, over - inner.h[k], id(Kind::Corner1, c.tag, outer.face.id), found);
    } else {
        let g = inner.h[k] - over;
        pair.push(c.p - pair.n * g, g, id(Kind::Corner2, outer.face.id, c.tag), found);
    }
}

/// Corner of the polygon that is being cut, with the side that follows: k of polygon 1, or `ROOM + k` of polygon 2.
#[derive(Clone, Copy, Default)]
struct Cut {
    q: [f64; 2],
    after: usize,
}

fn cut<const N: usize, const C: usize>(pair: &Pair, f1: &Flat<'_, N>, f2: &Flat<'_, N>, found: &mut Candidates<C>) {
    let mut room = [[Cut::default(); C]; 2];
    let [a, b] = &mut room;
    let (mut polygon, mut next) = (a, b);
    let mut count = f1.count();
    for k in 0..count {
        polygon[k] = Cut { q: f1.u[k], after: k };
    }
    for j in 0..f2.count() {
        let mut kept = 0;
        let mut keep = |c: Cut| {
            if kept < C {
                next[kept] = c;
                kept += 1;
            }
        };
        let mut from = polygon[0];
        let start = f2.inside(j, from.q);
        let mut d_from = start;
        for k in 1..=count {
            let (to, d_to) = if k < count { (polygon[k], f2.inside(j, polygon[k].q)) } else { (polygon[0], start) };
            let (in_from, in_to) = (d_from >= -pair.slip, d_to >= -pair.slip);
            if in_from {
                keep(from);
            }
            if in_from != in_to {
                let (a, b, da, db) = if in_from { (from.q, to.q, d_from, d_to) } else { (to.q, from.q, d_to, d_from) };
                let t = da.max(0.0) / (da.max(0.0) - db);
                let q = [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
                keep(Cut { q, after: if in_from { ROOM + j } else { from.after } });
            }
            (from, d_from) = (to, d_to);
        }
        if kept == 0 {
            return;
        }
        count = kept;
        std::mem::swap(&mut polygon, &mut next);
    }
    for k in 0..count {
        let before = polygon[if k > 0 { k - 1 } else { count - 1 }].after;
        place(pair, f1, f2, before, polygon[k], found);
    }
}

/// The point at a corner of the cut polygon, from the sides before and after it.
fn place<const N: usize, const C: usize>(
    pair: &Pair,
    f1: &Flat<'_, N>,
    f2: &Flat<'_, N>,
    before: usize,
    at: Cut,
    found: &mut Candidates<C>,
) {
    let (i, j) = match (before < ROOM, at.after < ROOM) {
        (true, true) => return own_corner(pair, f1, f2, true, at.after, found),
        (false, false) => {
            let k = at.after - ROOM;
            if f2.around(before - ROOM + 1) == k {
                return own_corner(pair, f2, f1, false, k, found);
            }
            (0, k)
        }
        (true, false) => (before, at.after - ROOM),
        (false, true) => (at.after, before - ROOM),
    };
    let who = id(Kind::Crossing, f1.corner(i).tag, f2.corner(j).tag);
    if (before < ROOM) != (at.after < ROOM)
        && let (Some(p1), Some(p2)) = (crossing(f1, i, f2, j), crossing(f2, j, f1, i))
    {
        let g = pair.n.dot(p2 - p1);
        let middle = 0.5 * (p1 + p2);
        return pair.push(middle - pair.n * (0.5 * g), g, who, found);
    }
    let (h1, h2) = (f1.height(at.q), f2.height(at.q));
    pair.push(f1.s * at.q[0] + f1.t * at.q[1] + pair.n * h1, h2 - h1, who, found);
}

/// Point of side i of f over side j of g; `None` where they are all but parallel.
fn crossing<const N: usize>(f: &Flat<'_, N>, i: usize, g: &Flat<'_, N>, j: usize) -> Option<Vec3> {
    let (da, db) = (g.inside(j, f.at(i)), g.inside(j, f.at(i + 1)));
    let (a, b) = (f.corner(i).p, f.corner(i + 1).p);
    let span = db - da;
    if span * span <= CROSSING * CROSSING * (b - a).length_squared() {
        return None;
    }
    // Weights db/span of a and -da/span of b: exchanging a and b changes no bit.
    Some(if db * span <= 0.0 {
        b
    } else if da * span >= 0.0 {
        a
    } else {
        (a * db - b * da) * (1.0 / span)
    })
}

/// A line of one shape over a face of the other: its ends, or where it leaves the face.
fn line_over_face<const N: usize, const C: usize>(
    pair: &Pair,
    f1: &Flat<'_, N>,
    f2: &Flat<'_, N>,
    found: &mut Candidates<C>,
) {
    let first = f1.count() == 2;
    let (line, face) = if first { (f1, f2) } else { (f2, f1) };
    let (a, b) = (line.corner(0), line.corner(1));
    let (qa, qb) = (line.at(0), line.at(1));
    // t from a to b; the side of the face that ends the stretch, if any does.
    let (mut from, mut to) = ((0.0, None), (1.0, None));
    for k in 0..face.count() {
        let (da, db) = (face.inside(k, qa), face.inside(k, qb));
        let (in_a, in_b) = (da >= -pair.slip, db >= -pair.slip);
        if !in_a && !in_b {
            return;
        }
        if in_a != in_b {
            let t = (da / (da - db)).clamp(0.0, 1.0);
            if in_a && t < to.0 {
                to = (t, Some(k));
            } else if in_b && t > from.0 {
                from = (t, Some(k));
            }
        }
    }
    if from.0 > to.0 {
        return;
    }
    let mut add = |(t, side): (f64, Option<usize>), end: &super::facet::Corner| {
        let p = a.p * (1.0 - t) + b.p * t;
        let q = [qa[0] * (1.0 - t) + qb[0] * t, qa[1] * (1.0 - t) + qb[1] * t];
        let (own, over) = (line.h[0] * (1.0 - t) + line.h[1] * t, face.height(q));
        let (kind, own_tag, other_tag) = match side {
            Some(k) => (Kind::Crossing, end.tag, face.corner(k).tag),
            None if first => (Kind::Corner1, end.tag, face.face.id),
            None => (Kind::Corner2, end.tag, face.face.id),
        };
        if first {
            pair.push(p, over - own, id(kind, own_tag, other_tag), found);
        } else {
            pair.push(p - pair.n * (own - over), own - over, id(kind, other_tag, own_tag), found);
        }
    };
    add(from, a);
    if to.0 > from.0 {
        add(to, b);
    }
}

/// Two lines that run along each other: the ends of the stretch they share. Nothing when they cross.
pub(super) fn lines<const N: usize, const C: usize>(
    pair: &Pair,
    f1: &Facet<N>,
    f2: &Facet<N>,
    found: &mut Candidates<C>,
) {
    let ([a, b], [c, d]) = ([&f1.corners[0], &f1.corners[1]], [&f2.corners[0], &f2.corners[1]]);
    let (e1, e2) = (b.p - a.p, d.p - c.p);
    let (l1, l2) = (e1.length(), e2.length());
    if !(e1.cross(e2).length() <= pair.flat.min(ALONG) * l1 * l2 && l1 > 0.0 && l2 > 0.0) {
        return;
    }
    let same = e1.dot(e2) > 0.0;
    // Places along the mean direction.
    let e = (e1 / l1 + if same { e2 / l2 } else { -e2 / l2 }) * 0.5;
    let (c, d) = if same { (c, d) } else { (d, c) };
    let [x_a, x_b, x_c, x_d] = [a, b, c, d].map(|k| e.dot(k.p));
    let (from, to) = (x_a.max(x_c), x_b.min(x_d));
    if !(to - from > 1e-3 * l1.min(l2)) {
        return;
    }
    let on = |p: Vec3, x_p: f64, q: Vec3, x_q: f64, x: f64| {
        let t = (x - x_p) / (x_q - x_p);
        p * (1.0 - t) + q * t
    };
    let ends = [
        (from, if x_a >= x_c { id(Kind::Corner1, a.tag, 0) } else { id(Kind::Corner2, 0, c.tag) }),
        (to, if x_b <= x_d { id(Kind::Corner1, b.tag, 0) } else { id(Kind::Corner2, 0, d.tag) }),
    ];
    for (x, who) in ends {
        let (p1, p2) = (on(a.p, x_a, b.p, x_b, x), on(c.p, x_c, d.p, x_d, x));
        let g = pair.n.dot(p2 - p1);
        pair.push(0.5 * (p1 + p2) - pair.n * (0.5 * g), g, who, found);
    }
}
