//! Closed smooth curves in a plane: outlines of cams and wheels that are no polygons.
//!
//! A [`Curve`] is a list of pieces, each with position and two derivatives over its own parameter u from 0 to 1. All
//! curves run anticlockwise, so that the outward normal is the tangent turned by -90 degrees, and the curvature is
//! positive where the curve is convex.

use crate::space::Vec2;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thiserror::Error;

/// Points at which a curve is known in advance, at least [-]: the nearest one begins every search.
const SAMPLES: f64 = 256.0;
/// Points of one piece at least [-].
const SAMPLES_OF_A_PIECE: f64 = 2.0;
/// A turn between two pieces that is no corner [rad]: what coordinates with five digits leave.
const CORNER: f64 = 1e-4;
/// Rounds of Newton's method at most, each of them halving the bracket at worst [-].
const ROUNDS: usize = 60;
/// Nodes and weights of Gauss's rule of five points on [-1, 1].
pub(crate) const GAUSS: [(f64, f64); 5] = [
    (0.0, 0.568_888_888_888_888_9),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// A piece of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    /// Straight.
    Line { from: Vec2, to: Vec2 },
    /// Part of a circle, from an angle through a sweep [rad], positive anticlockwise.
    Arc { centre: Vec2, radius: f64, from: f64, sweep: f64 },
    /// c0 + c1 u + c2 u^2 + c3 u^3 [m].
    Cubic([Vec2; 4]),
    /// Distance from the origin over the angle: a cubic in u, theta = from + sweep u.
    Polar { from: f64, sweep: f64, c: [f64; 4] },
    /// Distance of the tangent from the origin over the angle of its normal, likewise.
    Support { from: f64, sweep: f64, c: [f64; 4] },
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Where [m].
    pub position: Vec2,
    /// Unit tangent, anticlockwise.
    pub tangent: Vec2,
    /// 1/radius, positive where the curve is convex [1/m].
    pub curvature: f64,
}

impl CurvePoint {
    /// Unit normal, outward.
    pub fn normal(&self) -> Vec2 {
        Vec2::new(self.tangent.y, -self.tangent.x)
    }
}

/// What touches a curve that is given by the lift of its follower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Follower {
    /// A point, or the centre of a roller of this radius [m], which moves along a ray from the origin.
    Roller {
        /// Radius; 0 for a point [m].
        radius: f64,
    },
    /// A flat face at right angles to a ray from the origin.
    Face,
}

/// A direction along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The parameter grows.
    Onward,
    /// It falls.
    Back,
}

/// A closed curve without corners.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CurveData", into = "CurveData")]
pub struct Curve {
    pieces: Vec<Piece>,
    /// The outline of the body lies inside the curve by this: the curve is then the path of a roller's centre [m].
    pub inset: f64,
    length: f64,
    /// Points along the curve: piece + u, and where.
    samples: Vec<(f64, Vec2)>,
    /// Largest distance of two neighbours among them [m].
    spacing: f64,
    /// Smallest and largest curvature [1/m].
    curvatures: [f64; 2],
}

#[derive(Serialize, Deserialize)]
struct CurveData {
    pieces: Vec<Piece>,
    inset: f64,
}

impl TryFrom<CurveData> for Curve {
    type Error = CurveError;
    fn try_from(data: CurveData) -> Result<Self, CurveError> {
        Curve::of(data.pieces, data.inset)
    }
}

impl From<Curve> for CurveData {
    fn from(curve: Curve) -> Self {
        CurveData { pieces: curve.pieces, inset: curve.inset }
    }
}

/// Why a curve cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CurveError {
    /// Not a number, infinite or too large.
    #[error("a number of the curve is not finite")]
    NotFinite,
    /// A radius is not positive.
    #[error("the radius is {value} m; a radius is > 0")]
    Radius {
        /// Value given [m].
        value: f64,
    },
    /// Fewer points than a closed curve needs.
    #[error("the curve has {points} points; it needs at least {least}")]
    Points {
        /// Number given [-].
        points: usize,
        /// Number needed [-].
        least: usize,
    },
    /// Two neighbours are one point.
    #[error("point {index} of the curve, ({:.6}, {:.6}) m, is that before it: leave one of them out", at.x, at.y)]
    Twice {
        /// Which, from 0.
        index: usize,
        /// Where [m].
        at: Vec2,
    },
    /// Angles of a table of lift do not rise, or span more than a turn.
    #[error("row {index} of the lift has the angle {angle:.6} rad: angles rise, all within one turn")]
    Angle {
        /// Which, from 0.
        index: usize,
        /// Angle given [rad].
        angle: f64,
    },
    /// The tangent jumps.
    #[error(
        "the curve has a corner of {degrees:.4} deg at ({:.6}, {:.6}) m: put an arc there that meets its neighbours smoothly, or take kind = \"spline\"",
        at.x, at.y
    )]
    Corner {
        /// Where [m].
        at: Vec2,
        /// Angle [deg].
        degrees: f64,
    },
    /// The tangent turns by more or less than one turn.
    #[error("the tangent of the curve makes {turns:.2} turns on the way around, not one: it crosses itself")]
    Turns {
        /// Number of turns [-].
        turns: f64,
    },
    /// What is given by a lift has a cusp.
    #[error(
        "the lift leaves the curve a radius of curvature of {radius:.6} m at ({:.6}, {:.6}) m, where more than {least:.6} m is needed: take a larger base, or a smaller roller",
        at.x, at.y
    )]
    Cusp {
        /// Where [m].
        at: Vec2,
        /// Radius of curvature there [m].
        radius: f64,
        /// What it must be larger than [m].
        least: f64,
    },
}

impl std::fmt::Debug for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curve").field("pieces", &self.pieces).field("inset", &self.inset).finish_non_exhaustive()
    }
}

impl Curve {
    /// A circle [m].
    pub fn circle(centre: Vec2, radius: f64) -> Result<Curve, CurveError> {
        if !(radius > 0.0) || !radius.is_finite() {
            return Err(CurveError::Radius { value: radius });
        }
        let arc = |k: usize| Piece::Arc { centre, radius, from: 0.5 * PI * k as f64, sweep: 0.5 * PI };
        Curve::of((0..4).map(arc).collect(), 0.0)
    }

    /// Lines and arcs from point to point [m]: `(x, y, bulge)`, where the bulge is the tangent of a quarter of the angle
    /// of the arc to the next point, positive if it turns left; 0 is a line.
    pub fn arcs(points: &[[f64; 3]]) -> Result<Curve, CurveError> {
        finite(points.iter().flatten())?;
        if points.len() < 2 {
            return Err(CurveError::Points { points: points.len(), least: 2 });
        }
        let at = |k: usize| Vec2::new(points[k % points.len()][0], points[k % points.len()][1]);
        distinct(points.len(), at)?;
        let pieces: Vec<Piece> = (0..points.len()).map(|k| arc(at(k), at(k + 1), points[k][2])).collect();
        Curve::of(anticlockwise(pieces), 0.0)
    }

    /// The periodic cubic spline through points, its parameter the length of the chords [m]: slope and curvature are
    /// continuous.
    pub fn spline(points: &[[f64; 2]]) -> Result<Curve, CurveError> {
        finite(points.iter().flatten())?;
        let n = points.len();
        if n < 3 {
            return Err(CurveError::Points { points: n, least: 3 });
        }
        let at = |k: usize| Vec2::from_array(points[k % n]);
        distinct(n, at)?;
        let h: Vec<f64> = (0..n).map(|k| at(k + 1).distance(at(k))).collect();
        let [x, y] = [0, 1].map(|axis| periodic_spline(&h, &points.iter().map(|p| p[axis]).collect::<Vec<_>>()));
        let both = x.iter().zip(&y);
        let pieces = both.map(|(x, y)| Piece::Cubic([0, 1, 2, 3].map(|k| Vec2::new(x[k], y[k])))).collect();
        Curve::of(anticlockwise(pieces), 0.0)
    }

    /// The curve that lifts a follower by a table of (angle [rad], lift [m]) over a base [m]: the periodic cubic spline
    /// through the table. For a roller it is the path of the roller's centre at base + radius + lift; the outline of the
    /// body lies inside it by the radius.
    pub fn lift(base: f64, table: &[[f64; 2]], follower: Follower) -> Result<Curve, CurveError> {
        finite(table.iter().flatten().chain([&base]))?;
        let mut table = table.to_vec();
        if let [first, .., last] = table[..]
            && (last[0] - first[0] - 2.0 * PI).abs() < 1e-9
        {
            table.pop();
        }
        let n = table.len();
        if n < 3 {
            return Err(CurveError::Points { points: n, least: 3 });
        }
        let angle = |k: usize| table[k % n][0] + if k < n { 0.0 } else { 2.0 * PI };
        if let Some(index) = (1..=n).find(|&k| !(angle(k) > angle(k - 1))) {
            return Err(CurveError::Angle { index: index % n, angle: table[index % n][0] });
        }
        let (inset, radius) = match follower {
            Follower::Roller { radius } => (radius, base + radius),
            Follower::Face => (0.0, base),
        };
        if !(radius > 0.0) {
            return Err(CurveError::Radius { value: radius });
        }
        let h: Vec<f64> = (0..n).map(|k| angle(k + 1) - angle(k)).collect();
        let values: Vec<f64> = table.iter().map(|row| radius + row[1]).collect();
        let cubics = periodic_spline(&h, &values).into_iter().enumerate();
        let pieces: Vec<Piece> = match follower {
            Follower::Roller { .. } => cubics.map(|(k, c)| Piece::Polar { from: angle(k), sweep: h[k], c }).collect(),
            Follower::Face => cubics.map(|(k, c)| Piece::Support { from: angle(k), sweep: h[k], c }).collect(),
        };
        without_cusp(&pieces, follower)?;
        Curve::of(pieces, inset)
    }

    /// Checks what pieces make, and prepares searches.
    fn of(pieces: Vec<Piece>, inset: f64) -> Result<Curve, CurveError> {
        let lengths: Vec<f64> = pieces.iter().map(Piece::length).collect();
        let length: f64 = lengths.iter().sum();
        if !length.is_finite() || length <= 0.0 {
            return Err(CurveError::NotFinite);
        }
        let mut curve = Curve {
            pieces,
            inset,
            length,
            samples: Vec::new(),
            spacing: 0.0,
            curvatures: [f64::INFINITY, -f64::INFINITY],
        };
        let mut turn = 0.0;
        for k in 0..curve.pieces.len() {
            let n = (SAMPLES * lengths[k] / length).ceil().max(SAMPLES_OF_A_PIECE);
            for i in 0..n as usize {
                let [here, next] = [i as f64 / n, (i + 1) as f64 / n].map(|u| curve.pieces[k].point(u));
                curve.samples.push((k as f64 + i as f64 / n, here.position));
                turn += angle_between(here.tangent, next.tangent);
                for point in [here, curve.pieces[k].point((i as f64 + 0.5) / n), next] {
                    let [least, most] = curve.curvatures;
                    curve.curvatures = [least.min(point.curvature), most.max(point.curvature)];
                }
            }
            let [end, start] = [curve.pieces[k].point(1.0), curve.pieces[(k + 1) % curve.pieces.len()].point(0.0)];
            let corner = angle_between(end.tangent, start.tangent);
            if !(corner.abs() <= CORNER) {
                return Err(CurveError::Corner { at: end.position, degrees: corner.to_degrees() });
            }
            turn += corner;
        }
        let turns = turn / (2.0 * PI);
        if !((turns - 1.0).abs() < 0.25) {
            return Err(CurveError::Turns { turns });
        }
        let n = curve.samples.len();
        let apart = |k: usize| curve.samples[k].1.distance(curve.samples[(k + 1) % n].1);
        curve.spacing = (0..n).map(apart).fold(0.0, f64::max);
        Ok(curve)
    }

    /// Length of the curve [m].
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Smallest and largest curvature [1/m].
    pub fn curvatures(&self) -> [f64; 2] {
        self.curvatures
    }

    /// Corners of a polygon that draws the outline of the body [m]: on it, at every joint of two pieces and between them
    /// so that a full turn has at least this many.
    pub fn outline(&self, segments: u32) -> Vec<[f64; 2]> {
        let mut corners = Vec::new();
        for piece in &self.pieces {
            let turn: f64 = (0..16)
                .map(|i| {
                    angle_between(piece.point(i as f64 / 16.0).tangent, piece.point((i + 1) as f64 / 16.0).tangent)
                        .abs()
                })
                .sum();
            let share = match piece {
                Piece::Line { .. } => 0.0,
                _ => (turn / (2.0 * PI)).max(piece.length() / self.length),
            };
            let n = (segments as f64 * share).ceil().max(1.0);
            corners.extend((0..n as usize).map(|i| {
                let point = piece.point(i as f64 / n);
                (point.position - point.normal() * self.inset).to_array()
            }));
        }
        corners
    }

    /// The point of the curve nearest to `p`, and its distance along the outward normal there [m].
    pub fn nearest(&self, p: Vec2) -> (CurvePoint, f64) {
        // (c - p) . c' = 0
        let slope = |[c, d, dd]: [Vec2; 3]| ((c - p).dot(d), d.length_squared() + (c - p).dot(dd));
        let point = self.least(|c| c.distance(p), self.spacing, slope);
        (point, (p - point.position).dot(point.normal()))
    }

    /// The point of the curve that lies least far along a direction: where a flat face with this normal touches it.
    pub fn lowest(&self, along: Vec2) -> CurvePoint {
        self.least(
            |c| c.dot(along),
            self.spacing * self.spacing / self.length,
            |[_, d, dd]| (along.dot(d), along.dot(dd)),
        )
    }

    /// The point where a measure is least; its slope over the parameter, with the slope of that, from position and
    /// derivatives. Searched from all samples that no other within `margin` rules out.
    fn least(&self, measure: impl Fn(Vec2) -> f64, margin: f64, slope: impl Fn([Vec2; 3]) -> (f64, f64)) -> CurvePoint {
        let n = self.samples.len();
        let value = |k: usize| measure(self.samples[k % n].1);
        let least = (0..n).map(value).fold(f64::INFINITY, f64::min);
        let mut best: Option<(f64, CurvePoint)> = None;
        let [mut earlier, mut next] = [value(n - 1), value(0)];
        for k in 0..n {
            let here = next;
            next = value(k + 1);
            let lower = earlier < here;
            earlier = here;
            if here > least + margin || lower || next <= here {
                continue;
            }
            let before = self.samples[(k + n - 1) % n].0 - if k == 0 { self.pieces.len() as f64 } else { 0.0 };
            let after = self.samples[(k + 1) % n].0 + if k + 1 == n { self.pieces.len() as f64 } else { 0.0 };
            let point = self.point(self.flat(before, self.samples[k].0, after, &slope));
            let found = measure(point.position);
            if best.is_none_or(|(least, _)| found < least) {
                best = Some((found, point));
            }
        }
        best.map_or_else(|| self.point(self.samples[0].0), |(_, point)| point)
    }

    /// Where a slope that rises through zero between two parameters vanishes: Newton's method from a guess, halving the
    /// bracket where it leaves it.
    pub(crate) fn flat(
        &self,
        mut low: f64,
        guess: f64,
        mut high: f64,
        slope: &impl Fn([Vec2; 3]) -> (f64, f64),
    ) -> f64 {
        let mut s = guess;
        for _ in 0..ROUNDS {
            let (value, rate) = slope(self.at(s));
            if value == 0.0 {
                break;
            }
            if value > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let newton = s - value / rate;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - s).abs() <= f64::EPSILON * s.abs().max(1.0) {
                break;
            }
            s = next;
        }
        s
    }

    /// Piece and its parameter at one of the whole curve, which may run past its ends.
    fn place(&self, s: f64) -> (&Piece, f64) {
        let n = self.pieces.len() as f64;
        let s = s - n * (s / n).floor();
        let k = (s.floor() as usize).min(self.pieces.len() - 1);
        (&self.pieces[k], s - k as f64)
    }

    /// Position and its first two derivatives by the parameter [m].
    pub(crate) fn at(&self, s: f64) -> [Vec2; 3] {
        let (piece, u) = self.place(s);
        piece.at(u)
    }

    /// Points along the curve: parameter, and where [m].
    pub(crate) fn samples(&self) -> &[(f64, Vec2)] {
        &self.samples
    }

    /// Parameter after a whole turn.
    pub(crate) fn turn(&self) -> f64 {
        self.pieces.len() as f64
    }

    /// Number of the next sample from a parameter; both may have run past the ends.
    pub(crate) fn sample_beyond(&self, s: f64, way: Way) -> isize {
        let turns = (s / self.turn()).floor();
        let place = s - self.turn() * turns;
        let before = self.samples.len() as isize * turns as isize;
        match way {
            Way::Onward => before + self.samples.partition_point(|own| own.0 <= place) as isize,
            Way::Back => before + self.samples.partition_point(|own| own.0 < place) as isize - 1,
        }
    }

    /// Parameter of a sample by its number, which may have run past the ends.
    pub(crate) fn sample(&self, k: isize) -> f64 {
        let n = self.samples.len() as isize;
        self.samples[k.rem_euclid(n) as usize].0 + self.turn() * k.div_euclid(n) as f64
    }

    /// Its straight pieces: number, and both ends [m].
    pub(crate) fn lines(&self, mut each: impl FnMut(usize, [Vec2; 2])) {
        for (k, piece) in self.pieces.iter().enumerate() {
            if let Piece::Line { from, to } = piece {
                each(k, [*from, *to]);
            }
        }
    }

    pub(crate) fn point(&self, s: f64) -> CurvePoint {
        let (piece, u) = self.place(s);
        piece.point(u)
    }
}

impl Piece {
    /// Position and its first two derivatives by u [m].
    fn at(&self, u: f64) -> [Vec2; 3] {
        let ray = |angle: f64| {
            let (s, c) = libm::sincos(angle);
            (Vec2::new(c, s), Vec2::new(-s, c))
        };
        match *self {
            Piece::Line { from, to } => [from + (to - from) * u, to - from, Vec2::ZERO],
            Piece::Arc { centre, radius, from, sweep } => {
                let (n, t) = ray(from + sweep * u);
                [centre + n * radius, t * (radius * sweep), n * (-radius * sweep * sweep)]
            }
            Piece::Cubic([c0, c1, c2, c3]) => {
                [c0 + (c1 + (c2 + c3 * u) * u) * u, c1 + (c2 * 2.0 + c3 * (3.0 * u)) * u, c2 * 2.0 + c3 * (6.0 * u)]
            }
            Piece::Polar { from, sweep, c } => {
                let ((n, t), [r, d, dd, _]) = (ray(from + sweep * u), cubic(&c, u));
                [n * r, n * d + t * (r * sweep), n * (dd - r * sweep * sweep) + t * (2.0 * d * sweep)]
            }
            Piece::Support { from, sweep, c } => {
                // with derivatives by the angle: c = h n + h' t, c' = (h + h'') t, c'' = (h' + h''') t - (h + h'') n
                let ((n, t), [h, d, dd, ddd]) = (ray(from + sweep * u), cubic(&c, u));
                let (d, dd, ddd) = (d / sweep, dd / (sweep * sweep), ddd / (sweep * sweep * sweep));
                [n * h + t * d, t * ((h + dd) * sweep), (t * (d + ddd) - n * (h + dd)) * (sweep * sweep)]
            }
        }
    }

    fn point(&self, u: f64) -> CurvePoint {
        let [position, d, dd] = self.at(u);
        let speed = d.length();
        CurvePoint { position, tangent: d / speed, curvature: d.perp_dot(dd) / (speed * speed * speed) }
    }

    /// Its length, by Gauss's rule on four parts [m].
    fn length(&self) -> f64 {
        let part = |k: usize| -> f64 {
            GAUSS.iter().map(|(x, w)| 0.125 * w * self.at((k as f64 + 0.5 + 0.5 * x) * 0.25)[1].length()).sum()
        };
        (0..4).map(part).sum()
    }

    /// The same the other way around.
    fn reversed(self) -> Piece {
        match self {
            Piece::Line { from, to } => Piece::Line { from: to, to: from },
            Piece::Arc { centre, radius, from, sweep } => {
                Piece::Arc { centre, radius, from: from + sweep, sweep: -sweep }
            }
            Piece::Cubic([c0, c1, c2, c3]) => {
                Piece::Cubic([c0 + c1 + c2 + c3, -(c1 + c2 * 2.0 + c3 * 3.0), c2 + c3 * 3.0, -c3])
            }
            // given by rising angles
            Piece::Polar { .. } | Piece::Support { .. } => self,
        }
    }
}

/// A line, or an arc that turns by four times the angle whose tangent is the bulge.
fn arc(from: Vec2, to: Vec2, bulge: f64) -> Piece {
    if bulge == 0.0 {
        return Piece::Line { from, to };
    }
    let (chord, sweep) = (to - from, 4.0 * libm::atan(bulge));
    // from the middle of the chord, to the left of it
    let centre = 0.5 * (from + to) + chord.perp() * ((1.0 - bulge * bulge) / (4.0 * bulge));
    let arm = from - centre;
    Piece::Arc { centre, radius: arm.length(), from: libm::atan2(arm.y, arm.x), sweep }
}

/// The pieces, in the order and sense in which they enclose an area on their left.
fn anticlockwise(pieces: Vec<Piece>) -> Vec<Piece> {
    let corners: Vec<Vec2> = pieces.iter().flat_map(|piece| [0.0, 0.25, 0.5, 0.75].map(|u| piece.at(u)[0])).collect();
    let o = corners[0];
    let next = corners.iter().cycle().skip(1);
    let area: f64 = corners.iter().zip(next).map(|(a, b)| (*a - o).perp_dot(*b - o)).sum();
    if area >= 0.0 { pieces } else { pieces.into_iter().rev().map(Piece::reversed).collect() }
}

/// A curve given by a lift has no cusp: its radius of curvature (that of the outline, under a roller) stays positive.
fn without_cusp(pieces: &[Piece], follower: Follower) -> Result<(), CurveError> {
    for piece in pieces {
        for i in 0..=8 {
            let u = i as f64 / 8.0;
            let [at, ..] = piece.at(u);
            let (radius, least) = match (piece, follower) {
                (Piece::Support { sweep, c, .. }, _) => {
                    let [h, _, dd, _] = cubic(c, u);
                    (h + dd / (sweep * sweep), 0.0)
                }
                (_, Follower::Roller { radius }) => {
                    let curvature = piece.point(u).curvature;
                    (if curvature > 0.0 { 1.0 / curvature } else { f64::INFINITY }, radius)
                }
                _ => continue,
            };
            if !(radius > least) {
                return Err(CurveError::Cusp { at, radius, least });
            }
        }
    }
    Ok(())
}

/// A cubic and its three derivatives.
fn cubic(c: &[f64; 4], u: f64) -> [f64; 4] {
    [
        c[0] + (c[1] + (c[2] + c[3] * u) * u) * u,
        c[1] + (2.0 * c[2] + 3.0 * c[3] * u) * u,
        2.0 * c[2] + 6.0 * c[3] * u,
        6.0 * c[3],
    ]
}

/// Angle from one unit vector to another [rad].
fn angle_between(a: Vec2, b: Vec2) -> f64 {
    libm::atan2(a.perp_dot(b), a.dot(b))
}

fn finite<'a>(mut numbers: impl Iterator<Item = &'a f64>) -> Result<(), CurveError> {
    if numbers.all(|x| x.abs() < 1e100) { Ok(()) } else { Err(CurveError::NotFinite) }
}

/// Neighbours among points in a circle are different.
fn distinct(n: usize, at: impl Fn(usize) -> Vec2) -> Result<(), CurveError> {
    match (0..n).find(|&k| at(k) == at(k + 1)) {
        Some(k) => Err(CurveError::Twice { index: (k + 1) % n, at: at(k) }),
        None => Ok(()),
    }
}

/// Coefficients of the periodic cubic spline over steps h: piece k is c0 + c1 u + c2 u^2 + c3 u^3 from value k to the
/// next. With the second derivatives M
///   h_(k-1) M_(k-1) + 2 (h_(k-1) + h_k) M_k + h_k M_(k+1) = 6 ((y_(k+1) - y_k)/h_k - (y_k - y_(k-1))/h_(k-1)),
/// a matrix with three diagonals and two corners: those by Sherman and Morrison.
fn periodic_spline(h: &[f64], y: &[f64]) -> Vec<[f64; 4]> {
    let n = h.len();
    let before = |k: usize| (k + n - 1) % n;
    let slope = |k: usize| (y[(k + 1) % n] - y[k]) / h[k];
    let diagonal: Vec<f64> = (0..n).map(|k| 2.0 * (h[before(k)] + h[k])).collect();
    let right: Vec<f64> = (0..n).map(|k| 6.0 * (slope(k) - slope(before(k)))).collect();
    // the corner of the matrix, both ways, is the last step
    let (corner, gamma) = (h[n - 1], -diagonal[0]);
    let mut changed = diagonal.clone();
    changed[0] -= gamma;
    changed[n - 1] -= corner * corner / gamma;
    let mut unit = vec![0.0; n];
    (unit[0], unit[n - 1]) = (gamma, corner);
    let (x, z) = (three_diagonals(&changed, h, &right), three_diagonals(&changed, h, &unit));
    let share = (x[0] + corner / gamma * x[n - 1]) / (1.0 + z[0] + corner / gamma * z[n - 1]);
    let M: Vec<f64> = x.iter().zip(&z).map(|(x, z)| x - share * z).collect();
    let piece = |k: usize| {
        let (h, next) = (h[k], (k + 1) % n);
        let c1 = (y[next] - y[k]) - h * h * (2.0 * M[k] + M[next]) / 6.0;
        [y[k], c1, 0.5 * h * h * M[k], h * h * (M[next] - M[k]) / 6.0]
    };
    (0..n).map(piece).collect()
}

/// Solution of a symmetric system with this diagonal and `beside` next to it.
fn three_diagonals(diagonal: &[f64], beside: &[f64], right: &[f64]) -> Vec<f64> {
    let (mut d, mut x) = (diagonal.to_vec(), right.to_vec());
    for k in 1..d.len() {
        let factor = beside[k - 1] / d[k - 1];
        d[k] -= factor * beside[k - 1];
        x[k] -= factor * x[k - 1];
    }
    for k in (0..d.len()).rev() {
        let next = if k + 1 < d.len() { beside[k] * x[k + 1] } else { 0.0 };
        x[k] = (x[k] - next) / d[k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// Straight parts of length 2 and half circles of radius 1: lines and arcs are exact, seen from anywhere.
    #[test]
    fn lines_and_arcs_are_exact() {
        let points = [[-1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 1.0]];
        let clockwise = [[-1.0, 1.0, 0.0], [1.0, 1.0, -1.0], [1.0, -1.0, 0.0], [-1.0, -1.0, -1.0]];
        for points in [points, clockwise] {
            let curve = Curve::arcs(&points).unwrap();
            near(curve.length(), 4.0 + 2.0 * PI, 1e-13);
            let (foot, distance) = curve.nearest(Vec2::new(0.3, 1.5));
            near(distance, 0.5, 1e-15);
            near(foot.position.x, 0.3, 1e-15);
            assert_eq!(foot.curvature, 0.0);
            let (foot, distance) = curve.nearest(Vec2::new(1.0 + 1.2 * 0.6, 1.2 * 0.8));
            near(distance, 0.2, 1e-15);
            near(foot.curvature, 1.0, 1e-14);
            near(curve.nearest(Vec2::new(1.3, 0.4)).1, -0.5, 1e-15);
            let low = curve.lowest(Vec2::new(-0.8, 0.6));
            near(low.position.x, 1.8, 1e-14);
            near(low.position.y, -0.6, 1e-14);
        }
    }

    /// The spline through points of an ellipse is near it with the fourth power of their distance, its curvature with
    /// the second, and that is continuous.
    #[test]
    fn a_spline_is_smooth_and_converges() {
        let of = |n: usize| {
            let points: Vec<[f64; 2]> = (0..n)
                .map(|k| {
                    let (s, c) = libm::sincos(2.0 * PI * k as f64 / n as f64);
                    [2.0 * c, s]
                })
                .collect();
            Curve::spline(&points).unwrap()
        };
        let (s, c) = libm::sincos(0.7);
        let (p, q) = (Vec2::new(2.0 * c, s), 4.0 * s * s + c * c);
        let errors = [32, 64]
            .map(|n| of(n).nearest(p))
            .map(|(foot, distance)| (distance.abs(), (foot.curvature - 2.0 / (q * q.sqrt())).abs()));
        assert!(errors[1].0 < errors[0].0 / 10.0 && errors[1].0 < 1e-5, "{errors:?}");
        assert!(errors[1].1 < errors[0].1 / 2.5 && errors[1].1 < 3e-3, "{errors:?}");
        let curve = of(32);
        for k in 0..32 {
            let [end, start] = [curve.pieces[k].point(1.0), curve.pieces[(k + 1) % 32].point(0.0)];
            near(end.curvature, start.curvature, 1e-12);
            near(end.tangent.distance(start.tangent), 0.0, 1e-14);
        }
    }

    /// A follower on a ray, and a flat face, are lifted by what the table says where the spline passes through it; the
    /// derivative of a piece is that of its points.
    #[test]
    fn a_lift_lifts_its_follower() {
        let table: Vec<[f64; 2]> = (0..36)
            .map(|k| {
                let angle = 2.0 * PI * k as f64 / 36.0;
                [angle, 0.01 * (1.0 - libm::cos(angle))]
            })
            .collect();
        let roller = Curve::lift(0.03, &table, Follower::Roller { radius: 0.005 }).unwrap();
        let face = Curve::lift(0.03, &table, Follower::Face).unwrap();
        for [angle, lift] in &table {
            let (s, c) = libm::sincos(*angle);
            let ray = Vec2::new(c, s);
            near(roller.nearest(ray * (0.035 + lift)).1, 0.0, 1e-15);
            near(face.lowest(-ray).position.dot(ray), 0.03 + lift, 1e-15);
        }
        // the eccentric circle with this lift has the radius of the base and the eccentricity
        near(1.0 / face.lowest(Vec2::new(-0.6, -0.8)).curvature, 0.04, 1e-4);
        for curve in [roller, face] {
            for piece in &curve.pieces {
                let [a, m, b] = [0.4 - 1e-4, 0.4, 0.4 + 1e-4].map(|u| piece.at(u));
                near(((b[0] - a[0]) / 2e-4).distance(m[1]), 0.0, 1e-9);
                near(((b[1] - a[1]) / 2e-4).distance(m[2]), 0.0, 1e-9);
            }
        }
    }

    /// What is no closed smooth curve is refused with what and where.
    #[test]
    fn mistakes_are_named() {
        let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        assert!(
            matches!(Curve::arcs(&square), Err(CurveError::Corner { degrees, .. }) if (degrees - 90.0).abs() < 1e-9)
        );
        assert!(matches!(Curve::circle(Vec2::ZERO, -1.0), Err(CurveError::Radius { .. })));
        assert!(matches!(Curve::spline(&[[0.0, 0.0], [1.0, 0.0]]), Err(CurveError::Points { points: 2, least: 3 })));
        assert!(matches!(Curve::spline(&[[0.0, f64::NAN], [1.0, 0.0], [1.0, 1.0]]), Err(CurveError::NotFinite)));
        let eight = [[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]];
        assert!(matches!(Curve::spline(&eight), Err(CurveError::Turns { .. })));
        let table = [[0.0, 0.0], [2.0, 0.05], [1.0, 0.0]];
        assert!(matches!(Curve::lift(0.1, &table, Follower::Face), Err(CurveError::Angle { index: 2, .. })));
        let steep = [[0.0, 0.0], [1.5, 0.0], [2.0, 0.05], [2.5, 0.0]];
        assert!(matches!(Curve::lift(0.01, &steep, Follower::Face), Err(CurveError::Cusp { .. })));
        let same = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]];
        assert!(matches!(Curve::spline(&same), Err(CurveError::Twice { index: 2, .. })));
    }
}
