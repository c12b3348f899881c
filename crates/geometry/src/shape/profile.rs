//! A prism whose outline is a smooth curve: cams, lobed wheels, rounded blocks.
//!
//! The outline is that of the curve itself, o(s) = c(s) - inset n(s) over the curve's parameter s, with
//! o' = (1 - k inset) c' for the curvature k: tangent and normal are the curve's.

use super::{MassProperties, ShapeError};
use crate::curve::{GAUSS, Way};
use crate::space::Vec2;
use crate::triangulate::polygon_triangles;
use crate::{Curve, CurvePoint, Mat3, TriMesh, Vec3};
use serde::{Deserialize, Serialize};

/// Component of a unit normal below which it counts as zero [-].
const FLAT: f64 = 1e-7;

/// Prism along z from -half_length to half_length over a closed smooth curve in x and y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ProfileData", into = "ProfileData")]
pub struct Profile {
    curve: Curve,
    half_length: f64,
    /// Points of the outline at the curve's samples [m].
    rim: Vec<Vec2>,
    /// Area [m^2] and its centre [m].
    area: f64,
    centre: Vec2,
    /// Integrals of x x, y y and x y about the centre [m^4].
    second: [f64; 3],
    /// Farthest point from the axis z [m].
    reach: f64,
}

#[derive(Serialize, Deserialize)]
struct ProfileData {
    curve: Curve,
    half_length: f64,
}

impl TryFrom<ProfileData> for Profile {
    type Error = ShapeError;
    fn try_from(data: ProfileData) -> Result<Self, ShapeError> {
        Profile::new(data.curve, data.half_length)
    }
}

impl From<Profile> for ProfileData {
    fn from(profile: Profile) -> Self {
        ProfileData { curve: profile.curve, half_length: profile.half_length }
    }
}

/// What a line cuts off one hollow of an outline: integrals over the way of the outline below the line, d the depth below it
/// and t the place along it from the hollow's lowest point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// Area, int d dt [m^2].
    pub area: f64,
    /// int d^2/2 dt [m^3].
    pub deep: f64,
    /// int d t dt [m^3].
    pub first: f64,
    /// int d t^2 dt [m^4].
    pub second: f64,
    /// Length of the line inside [m].
    pub chord: f64,
    /// Place of the lowest point along the line [m].
    pub at: f64,
}

impl Profile {
    /// Of a curve and half the length along z [m].
    pub fn new(curve: Curve, half_length: f64) -> Result<Profile, ShapeError> {
        super::length("profile", "half_length", half_length)?;
        let rim: Vec<Vec2> = curve.samples().iter().map(|(s, _)| offset(&curve, &curve.point(*s))).collect();
        let middle = rim.iter().copied().sum::<Vec2>() / rim.len() as f64;
        let mut profile = Profile { curve, half_length, rim, area: 0.0, centre: middle, second: [0.0; 3], reach: 0.0 };
        // A = int x dy, int x dA = int x^2/2 dy, int y dA = -int y^2/2 dx, and so on, about the middle, then about the centre
        let (mut A, mut moment, mut second) = (0.0, Vec2::ZERO, [0.0; 3]);
        for k in 0..profile.rim.len() {
            let [from, to] = profile.span(k);
            profile.gauss(from, to, |o, d| {
                let (x, y) = (o.x - middle.x, o.y - middle.y);
                A += x * d.y;
                moment += 0.5 * Vec2::new(x * x * d.y, -y * y * d.x);
                second[0] += x * x * x * d.y / 3.0;
                second[1] -= y * y * y * d.x / 3.0;
                second[2] += 0.5 * x * x * y * d.y;
            });
        }
        super::length("profile", "area", A)?;
        let c = moment / A;
        profile.area = A;
        profile.centre = middle + c;
        profile.second = [second[0] - A * c.x * c.x, second[1] - A * c.y * c.y, second[2] - A * c.x * c.y];
        profile.reach = profile.farthest(Vec2::ZERO);
        Ok(profile)
    }

    /// Its curve.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// Half its length along z [m].
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    /// Area of the outline [m^2] and its centre [m].
    pub(crate) fn area(&self) -> (f64, Vec2) {
        (self.area, self.centre)
    }

    /// Mean square of the distance from the centre along a unit vector [m^2].
    pub(crate) fn spread(&self, t: Vec2) -> f64 {
        (self.second[0] * t.x * t.x + self.second[1] * t.y * t.y + 2.0 * self.second[2] * t.x * t.y) / self.area
    }

    /// True where the outline is convex everywhere.
    pub fn is_convex(&self) -> bool {
        self.curve.curvatures()[0] >= 0.0
    }

    /// The point of the outline nearest to `p`, its curvature, and the distance along the outward normal there [m].
    pub fn nearest(&self, p: Vec2) -> (CurvePoint, f64) {
        let (point, distance) = self.curve.nearest(p);
        (self.inner(point), distance + self.curve.inset)
    }

    /// The point of the outline that lies farthest along a unit vector.
    pub fn farthest_along(&self, along: Vec2) -> CurvePoint {
        self.inner(self.curve.lowest(-along))
    }

    /// The same point of the outline.
    fn inner(&self, point: CurvePoint) -> CurvePoint {
        let curvature = point.curvature / (1.0 - point.curvature * self.curve.inset);
        CurvePoint { position: offset(&self.curve, &point), curvature, ..point }
    }

    /// Largest distance of a point of the outline from `p`, an upper bound to the square of the samples' spacing [m].
    fn farthest(&self, p: Vec2) -> f64 {
        let most = self.rim.iter().map(|o| o.distance(p)).fold(0.0, f64::max);
        let n = self.rim.len();
        let side = (0..n).map(|k| self.rim[k].distance(self.rim[(k + 1) % n])).fold(0.0, f64::max);
        most + side * side / most.max(side)
    }

    /// Largest distance of a point of the prism from `p_s` [m].
    pub(super) fn bounding_radius_about(&self, p_s: Vec3) -> f64 {
        libm::hypot(self.farthest(Vec2::new(p_s.x, p_s.y)), p_s.z.abs() + self.half_length)
    }

    /// A length of the order of its radius about the origin [m].
    pub(crate) fn size(&self) -> f64 {
        self.reach + self.half_length
    }

    /// Farthest point along `d`, the middle of an edge or face where it is not unique.
    pub(crate) fn middle_support(&self, d: Vec3) -> Vec3 {
        let across = Vec2::new(d.x, d.y);
        let c = across.try_normalize().map_or(self.centre, |along| self.farthest_along(along).position);
        let z = if d.z == 0.0 { 0.0 } else { self.half_length.copysign(d.z) };
        Vec3::new(c.x, c.y, z)
    }

    /// Radius of the mean curvature at a point of the surface with this outward normal [m]: negative in a hollow.
    pub(super) fn curvature_radius(&self, p_s: Vec3, n_s: Vec3) -> f64 {
        let across = (n_s.x * n_s.x + n_s.y * n_s.y).sqrt();
        if across < FLAT {
            return f64::INFINITY;
        }
        if n_s.z.abs() > FLAT {
            return 0.0;
        }
        2.0 / self.nearest(Vec2::new(p_s.x, p_s.y)).0.curvature
    }

    /// m = rho 2 h A about the centre of the area; with J the integrals of x x, y y and x y over it,
    /// I_xx = 2 h rho J_yy + m h^2/3, I_yy = 2 h rho J_xx + m h^2/3, I_zz = 2 h rho (J_xx + J_yy), I_xy = -2 h rho J_xy.
    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        let h = self.half_length;
        let line = 2.0 * h * density;
        let mass = line * self.area;
        let [xx, yy, xy] = self.second.map(|J| line * J);
        let end = mass * h * h / 3.0;
        let inertia =
            Mat3::from_cols(Vec3::new(yy + end, -xy, 0.0), Vec3::new(-xy, xx + end, 0.0), Vec3::new(0.0, 0.0, xx + yy));
        MassProperties { mass, center: self.centre.extend(0.0), inertia }
    }

    /// Closed mesh with this many corners for a full turn.
    pub(super) fn surface_mesh(&self, segments: u32) -> TriMesh {
        let corners = self.curve.outline(segments);
        let n = corners.len() as u32;
        let level = |z: f64| corners.iter().map(move |[x, y]| Vec3::new(*x, *y, z));
        let vertices = level(-self.half_length).chain(level(self.half_length)).collect();
        let flat: Vec<Vec3> = level(0.0).collect();
        let ends = polygon_triangles(&flat).into_iter().flat_map(|[a, b, c]| [[a, c, b], [a + n, b + n, c + n]]);
        let sides = (0..n).flat_map(|a| {
            let b = (a + 1) % n;
            [[a, b, b + n], [a, b + n, a + n]]
        });
        TriMesh { vertices, triangles: ends.chain(sides).collect() }
    }

    /// Parameters of the curve from sample k to the next.
    fn span(&self, k: usize) -> [f64; 2] {
        let samples = self.curve.samples();
        let next = samples.get(k + 1).map_or(self.curve.turn(), |own| own.0);
        [samples[k].0, next]
    }

    /// Gauss's rule over a stretch of one piece: outline and its derivative times weight.
    fn gauss(&self, from: f64, to: f64, mut each: impl FnMut(Vec2, Vec2)) {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        for (x, weight) in GAUSS {
            let (o, d) = self.along(middle + half * x);
            each(o, d * (weight * half));
        }
    }

    /// Outline and its derivative by the curve's parameter.
    fn along(&self, s: f64) -> (Vec2, Vec2) {
        let [_, d, _] = self.curve.at(s);
        let point = self.curve.point(s);
        (offset(&self.curve, &point), d * (1.0 - point.curvature * self.curve.inset))
    }

    /// The places of the outline that lie least far along a unit vector within their surroundings: parameter, and how far [m].
    pub(crate) fn hollows(&self, e: Vec2, mut each: impl FnMut(f64, CurvePoint, f64)) {
        let n = self.rim.len();
        let value = |k: usize| self.rim[k % n].dot(e);
        let [mut earlier, mut next] = [value(n - 1), value(0)];
        for k in 0..n {
            let here = next;
            next = value(k + 1);
            let lower = earlier < here;
            earlier = here;
            if lower || next <= here {
                continue;
            }
            let before = self.span((k + n - 1) % n)[0] - if k == 0 { self.curve.turn() } else { 0.0 };
            let s = self.curve.flat(before, self.span(k)[0], self.span(k)[1], &|[_, d, dd]| (e.dot(d), e.dot(dd)));
            let point = self.inner(self.curve.point(s));
            each(s, point, point.position.dot(e));
        }
    }

    /// Ends of straight pieces that stand at right angles to a unit vector, within this sine: number, and where.
    pub(crate) fn flats(&self, e: Vec2, sine: f64, mut each: impl FnMut(usize, Vec2)) {
        self.curve.lines(|k, ends| {
            let way = (ends[1] - ends[0]).normalize();
            let normal = Vec2::new(way.y, -way.x);
            if way.dot(e).abs() <= sine && normal.dot(e) < 0.0 {
                for (end, p) in ends.into_iter().enumerate() {
                    each(2 * k + end, p - normal * self.curve.inset);
                }
            }
        });
    }

    /// What the line e . o = level cuts off around the hollow at `s`, and the last parameters on both sides; no ends where it
    /// cuts nothing off because all lies below it.
    pub(crate) fn segment(&self, e: Vec2, level: f64, s: f64) -> (Segment, Option<[f64; 2]>) {
        let t = Vec2::new(e.y, -e.x);
        let mut found = Segment { at: self.along(s).0.dot(t), ..Segment::default() };
        let [right, left] = [Way::Onward, Way::Back].map(|way| self.end(e, level, s, way, &mut found));
        let (Some(right), Some(left)) = (right, left) else { return (found, None) };
        found.chord = (self.along(right).0 - self.along(left).0).dot(t);
        (found, Some([left, right]))
    }

    /// Adds up from `s` to where the outline rises through the line; `None` after a whole turn.
    fn end(&self, e: Vec2, level: f64, s: f64, way: Way, found: &mut Segment) -> Option<f64> {
        let t = Vec2::new(e.y, -e.x);
        let mut add = |from: f64, to: f64| {
            let at = found.at;
            self.gauss(from, to, |o, d| {
                let (depth, place, dt) = (level - o.dot(e), o.dot(t) - at, d.dot(t));
                found.area += depth * dt;
                found.deep += 0.5 * depth * depth * dt;
                found.first += depth * place * dt;
                found.second += depth * place * place * dt;
            });
        };
        let (mut from, first) = (s, self.curve.sample_beyond(s, way));
        for k in 0..=self.rim.len() as isize {
            let to = self.curve.sample(match way {
                Way::Onward => first + k,
                Way::Back => first - k,
            });
            let risen = self.along(to).0.dot(e) >= level;
            let to = if risen { self.crossing(e, level, from, to) } else { to };
            match way {
                Way::Onward => add(from, to),
                Way::Back => add(to, from),
            }
            if risen {
                return Some(to);
            }
            from = to;
        }
        None
    }

    /// Where the outline crosses the line, between a parameter below it and one above.
    fn crossing(&self, e: Vec2, level: f64, below: f64, above: f64) -> f64 {
        let sign = if above > below { 1.0 } else { -1.0 };
        let inset = self.curve.inset;
        let height = |[c, d, dd]: [Vec2; 3]| {
            let speed = d.length();
            let (normal, k) = (Vec2::new(d.y, -d.x) / speed, d.perp_dot(dd) / (speed * speed * speed));
            (sign * (e.dot(c - normal * inset) - level), sign * e.dot(d) * (1.0 - k * inset))
        };
        self.curve.flat(below.min(above), 0.5 * (below + above), below.max(above), &height)
    }
}

/// The point of the outline at a point of the curve.
fn offset(curve: &Curve, point: &CurvePoint) -> Vec2 {
    point.position - point.normal() * curve.inset
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use std::f64::consts::PI;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// A circle beside the origin has the mass of the cylinder there.
    #[test]
    fn a_circle_weighs_what_the_cylinder_does() {
        let curve = Curve::circle(Vec2::new(0.02, -0.01), 0.03).unwrap();
        let own = Profile::new(curve, 0.05).unwrap().mass_properties(2000.0);
        let round =
            Shape::Cylinder { radius: 0.03, half_height: 0.05, smoothing: 0.0 }.mass_properties(2000.0).unwrap();
        near(own.mass, round.mass, 1e-13);
        near((own.center - Vec3::new(0.02, -0.01, 0.0)).length(), 0.0, 1e-15);
        for (a, b) in own.inertia.to_cols_array().into_iter().zip(round.inertia.to_cols_array()) {
            near(a, b, 1e-15);
        }
    }

    /// A line cuts a circular segment off: A = r^2 (phi - sin phi cos phi), and its chord is 2 r sin phi, also of an outline
    /// that lies inside its curve.
    #[test]
    fn a_line_cuts_a_segment_off() {
        let r = 0.03;
        let table: Vec<[f64; 2]> = (0..8).map(|k| [2.0 * PI * k as f64 / 8.0, 0.0]).collect();
        let inner = Curve::lift(r, &table, crate::Follower::Roller { radius: 0.01 }).unwrap();
        for curve in [Curve::circle(Vec2::ZERO, r).unwrap(), inner] {
            let profile = Profile::new(curve, 0.05).unwrap();
            near(profile.area().0, PI * r * r, 1e-16);
            let e = Vec2::new(0.6, 0.8);
            let mut hollows = 0;
            profile.hollows(e, |s, point, along| {
                hollows += 1;
                near(along, -r, 1e-16);
                near(point.curvature, 1.0 / r, 1e-11);
                for phi in [1e-3, 0.1, 1.0, 2.5] {
                    let (own, ends) = profile.segment(e, -r * libm::cos(phi), s);
                    assert!(ends.is_some());
                    let area = r * r * (phi - libm::sin(phi) * libm::cos(phi));
                    near(own.area, area, 1e-9 * area);
                    near(own.chord, 2.0 * r * libm::sin(phi), 1e-12 * r);
                    near(own.first, 0.0, 1e-9 * area * r);
                    // mean depth below the chord, that of the centroid: (2/3) r sin^3 phi r^2/A - r cos phi; digits cancel in it
                    let mean = 2.0 / 3.0 * r * r * r * libm::pow(libm::sin(phi), 3.0) / area - r * libm::cos(phi);
                    near(own.deep / own.area, mean, 1e-11 * mean.abs() + 1e-15 * r / (phi * phi * phi));
                }
                assert!(profile.segment(e, 1.1 * r, s).1.is_none());
            });
            assert_eq!(hollows, 1);
        }
    }
}
