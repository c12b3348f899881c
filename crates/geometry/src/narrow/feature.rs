//! The parts of a core that can touch: corner, edge, face, rim, slope, smooth surface.
//!
//! At a normal n a feature's touching point is a function of n and of up to two lengths u along straight directions G.

use crate::Vec3;
use crate::shape::Core;
use crate::space::any_orthogonal;

/// The part of a core that touches, in the core's frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Feature {
    Corner {
        p: Vec3,
    },
    /// From p along e, u from 0 to 1.
    Edge {
        p: Vec3,
        e: Vec3,
    },
    /// Plane through p with unit tangents s and t; the face itself reaches over `area`.
    Face {
        p: Vec3,
        s: Vec3,
        t: Vec3,
        area: Area,
    },
    /// Circle around z.
    Rim {
        z: f64,
        radius: f64,
    },
    /// Cone or cylinder around z: radius = at_zero + rate z, u is z.
    Slope {
        at_zero: f64,
        rate: f64,
        low: f64,
        high: f64,
    },
    Smooth {
        semi: Vec3,
    },
}

/// Extent of a face in its two lengths.
#[derive(Clone, Copy, Debug)]
pub(super) enum Area {
    /// From 0 to these.
    Rectangle(f64, f64),
    /// Around 0.
    Disc(f64),
    /// Some polygon.
    Polygon,
}

/// A feature evaluated at an outward normal.
pub(super) struct Touch {
    pub p: Vec3,
    /// Straight directions.
    pub G: [Vec3; 2],
    /// Curvature: H = k t t^T for rims and slopes, the ellipsoid's otherwise.
    pub bend: Bend,
}

pub(super) enum Bend {
    None,
    Around { k: f64, t: Vec3 },
    Ellipsoid { semi2: Vec3, p: Vec3, h: f64 },
}

impl Bend {
    pub(super) fn apply(&self, x: Vec3) -> Vec3 {
        match self {
            Bend::None => Vec3::ZERO,
            Bend::Around { k, t } => *t * (k * t.dot(x)),
            Bend::Ellipsoid { semi2, p, h } => (*semi2 * x - *p * p.dot(x)) / *h,
        }
    }
}

impl Feature {
    pub(super) fn straight(&self) -> usize {
        match self {
            Feature::Corner { .. } | Feature::Rim { .. } | Feature::Smooth { .. } => 0,
            Feature::Edge { .. } | Feature::Slope { .. } => 1,
            Feature::Face { .. } => 2,
        }
    }

    pub(super) fn start(&self, at: Vec3) -> [f64; 2] {
        match self {
            Feature::Edge { p, e } => [(at - *p).dot(*e) / e.length_squared(), 0.0],
            Feature::Face { p, s, t, .. } => [(at - *p).dot(*s), (at - *p).dot(*t)],
            Feature::Slope { low, high, .. } => [at.z.clamp(*low, *high), 0.0],
            _ => [0.0; 2],
        }
    }

    /// Point and derivatives at outward direction n; `None` where a rim has no farthest point.
    pub(super) fn touch(&self, n: Vec3, u: [f64; 2]) -> Option<Touch> {
        let zero = [Vec3::ZERO; 2];
        let around = |radius: f64| {
            let rho = (n.x * n.x + n.y * n.y).sqrt();
            let out = Vec3::new(n.x / rho, n.y / rho, 0.0);
            (rho > 1e-9).then(|| (out, Bend::Around { k: radius / rho, t: Vec3::new(-out.y, out.x, 0.0) }))
        };
        Some(match self {
            Feature::Corner { p } => Touch { p: *p, G: zero, bend: Bend::None },
            Feature::Edge { p, e } => Touch { p: *p + *e * u[0], G: [*e, Vec3::ZERO], bend: Bend::None },
            Feature::Face { p, s, t, .. } => Touch { p: *p + *s * u[0] + *t * u[1], G: [*s, *t], bend: Bend::None },
            Feature::Rim { z, radius } => {
                let (out, bend) = around(*radius)?;
                Touch { p: out * *radius + Vec3::new(0.0, 0.0, *z), G: zero, bend }
            }
            Feature::Slope { at_zero, rate, .. } => {
                let radius = at_zero + rate * u[0];
                let (out, bend) = around(radius)?;
                let G = out * *rate + Vec3::Z;
                Touch { p: out * radius + Vec3::new(0.0, 0.0, u[0]), G: [G, Vec3::ZERO], bend }
            }
            Feature::Smooth { semi } => {
                let h = (*semi * n).length();
                let semi2 = *semi * *semi;
                let p = semi2 * n / h;
                Touch { p, G: zero, bend: Bend::Ellipsoid { semi2, p, h } }
            }
        })
    }

    /// The lengths stay on the feature, as far as that is known.
    pub(super) fn in_range(&self, u: [f64; 2]) -> bool {
        const SLIP: f64 = 1e-9;
        match self {
            Feature::Edge { .. } => u[0] > -SLIP && u[0] < 1.0 + SLIP,
            Feature::Slope { low, high, .. } => {
                let slip = SLIP * (high - low);
                u[0] > low - slip && u[0] < high + slip
            }
            Feature::Face { area: Area::Rectangle(x, y), .. } => {
                let slip = SLIP * (x + y);
                u[0] > -slip && u[0] < x + slip && u[1] > -slip && u[1] < y + slip
            }
            Feature::Face { area: Area::Disc(r), .. } => u[0] * u[0] + u[1] * u[1] < r * r * (1.0 + SLIP),
            _ => true,
        }
    }

    /// `in_range` tells the whole truth.
    pub(super) fn is_bounded(&self) -> bool {
        !matches!(self, Feature::Face { area: Area::Polygon, .. })
    }
}

/// A few features a core may touch with, the likeliest first.
#[derive(Default)]
pub(super) struct Guess {
    pub feature: [Option<Feature>; 3],
    count: usize,
}

impl Guess {
    fn push(&mut self, f: Feature) {
        if self.count < 3 {
            self.feature[self.count] = Some(f);
            self.count += 1;
        }
    }
}

/// Direction cosines below this suggest that the normal is meant to be at right angles [-].
const NEARLY_FLAT: f64 = 0.05;

/// Features suggested by the support points and the outward direction n, all in the core's frame.
pub(super) fn guess(core: &Core<'_>, points: &[(Vec3, u32)], n: Vec3) -> Guess {
    let mut g = Guess::default();
    let first = points[0];
    let other = points.iter().find(|p| p.1 != first.1).copied();
    match core {
        Core::Point => g.push(Feature::Corner { p: Vec3::ZERO }),
        Core::Segment { half } => {
            let end = Vec3::new(0.0, 0.0, *half);
            match other {
                Some(_) => g.push(Feature::Edge { p: -end, e: 2.0 * end }),
                None => g.push(Feature::Corner { p: first.0 }),
            }
        }
        Core::Box { half } => {
            let free = points.iter().fold(0, |bits, p| bits | (p.1 ^ first.1));
            if free != 7 {
                g.push(box_feature(*half, free, first.0));
            }
            let flat = (0..3).fold(0, |bits, i| bits | ((n[i].abs() < NEARLY_FLAT) as u32) << i);
            if flat != free && flat != 7 {
                let corner = Vec3::new(half.x.copysign(n.x), half.y.copysign(n.y), half.z.copysign(n.z));
                g.push(box_feature(*half, flat, corner));
            }
        }
        Core::Frustum { low, low_radius, high, high_radius } => {
            let rate = (high_radius - low_radius) / (high - low);
            let slope = Feature::Slope { at_zero: low_radius - rate * low, rate, low: *low, high: *high };
            if other.is_some() {
                g.push(slope);
            }
            let rho = (n.x * n.x + n.y * n.y).sqrt();
            let (z, radius) = if other.is_none() && first.1 == 1 || other.is_some() && n.z > 0.0 {
                (*high, *high_radius)
            } else {
                (*low, *low_radius)
            };
            let top = Vec3::new(0.0, 0.0, z);
            if radius == 0.0 {
                g.push(Feature::Corner { p: top });
            } else {
                if rho < NEARLY_FLAT {
                    g.push(Feature::Face { p: top, s: Vec3::X, t: Vec3::Y, area: Area::Disc(radius) });
                }
                g.push(Feature::Rim { z, radius });
            }
            if other.is_none() && (rate * rho + n.z).abs() < NEARLY_FLAT {
                g.push(slope);
            }
        }
        Core::Ellipsoid { semi } => g.push(Feature::Smooth { semi: *semi }),
        Core::Profile(_) => g.push(Feature::Corner { p: first.0 }),
        Core::Hull(_) | Core::Mesh(_) | Core::Prism { .. } => {
            let third = other.and_then(|o| points.iter().find(|p| p.1 != first.1 && p.1 != o.1));
            match (other, third) {
                (None, _) => g.push(Feature::Corner { p: first.0 }),
                (Some(o), None) => g.push(Feature::Edge { p: first.0, e: o.0 - first.0 }),
                (Some(o), Some(t)) => {
                    if let Some(m) = (o.0 - first.0).cross(t.0 - first.0).try_normalize() {
                        let s = any_orthogonal(m);
                        g.push(Feature::Face { p: first.0, s, t: m.cross(s), area: Area::Polygon });
                    }
                }
            }
        }
    }
    g
}

/// Corner, edge or face of a box that contains the corner `p`; `free` has a bit for every axis along which it extends.
fn box_feature(half: Vec3, free: u32, p: Vec3) -> Feature {
    let unit = |i: usize| [Vec3::X, Vec3::Y, Vec3::Z][i];
    let axes: [usize; 2] = match free {
        1 => [0, 3],
        2 => [1, 3],
        4 => [2, 3],
        3 => [0, 1],
        6 => [1, 2],
        5 => [2, 0],
        _ => return Feature::Corner { p },
    };
    let mut start = p;
    start[axes[0]] = -half[axes[0]];
    if axes[1] == 3 {
        return Feature::Edge { p: start, e: unit(axes[0]) * (2.0 * half[axes[0]]) };
    }
    start[axes[1]] = -half[axes[1]];
    let area = Area::Rectangle(2.0 * half[axes[0]], 2.0 * half[axes[1]]);
    Feature::Face { p: start, s: unit(axes[0]), t: unit(axes[1]), area }
}
