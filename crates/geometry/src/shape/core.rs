//! The core of a bounded convex shape: what is left when the rounding radius is taken off. Distances are computed between
//! cores, which meet later than the shapes do; the radii are subtracted afterwards.

use super::{Hull, Profile, Shape};
use crate::{Mesh, Vec3};

/// Which part of a core a support point came from; the same number means the same vertex or the same rim.
pub(crate) type Tag = u32;

/// Core of a convex shape in the shape's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core<'a> {
    /// The origin.
    Point,
    /// From `-half` to `half` along z [m].
    Segment { half: f64 },
    /// Box with half lengths [m].
    Box { half: Vec3 },
    /// Frustum along z from the disc at `low` to the disc at `high`; a radius may be zero, both may be equal [m].
    Frustum { low: f64, low_radius: f64, high: f64, high_radius: f64 },
    /// Ellipsoid with semi axes [m].
    Ellipsoid { semi: Vec3 },
    /// Convex hull of a prism over a smooth curve.
    Profile(&'a Profile),
    /// Convex polytope.
    Hull(&'a Hull),
    /// Convex hull of a mesh.
    Mesh(&'a Mesh),
    /// Triangle and all below it down to z = `floor`: one half of a height grid's cell [m].
    Prism { corners: [Vec3; 3], floor: f64 },
}

/// Radius of the largest ball inside a frustum [m]: the smoothing radius must stay below it.
pub(crate) fn cone_inradius(base_radius: f64, top_radius: f64, half_height: f64) -> f64 {
    // A ball on the axis that touches the larger disc and the slope: the slope has the outward normal (c, s) with
    // c = H/L, s = (R - r)/L, L = sqrt(H^2 + (R - r)^2); distance from (0, t above the larger disc) is R c - t s.
    let (R, r) = (base_radius.max(top_radius), base_radius.min(top_radius));
    let H = 2.0 * half_height;
    let L = (H * H + (R - r) * (R - r)).sqrt();
    let touching = R * (H / L) / (1.0 + (R - r) / L);
    touching.min(half_height)
}

/// Core and rounding radius [m] of a bounded convex shape; the others count as a point and never come here.
#[inline]
pub(crate) fn core_of(shape: &Shape) -> (Core<'_>, f64) {
    match shape {
        Shape::Sphere { radius } => (Core::Point, *radius),
        Shape::Ellipsoid { semi_axes } => (Core::Ellipsoid { semi: *semi_axes }, 0.0),
        Shape::Box { half_extents, smoothing } => {
            (Core::Box { half: *half_extents - Vec3::splat(*smoothing) }, *smoothing)
        }
        Shape::Cylinder { radius, half_height, smoothing } => {
            let (rho, h) = (radius - smoothing, half_height - smoothing);
            (Core::Frustum { low: -h, low_radius: rho, high: h, high_radius: rho }, *smoothing)
        }
        Shape::Capsule { radius, half_length } => (Core::Segment { half: *half_length }, *radius),
        Shape::Cone { base_radius, top_radius, half_height, smoothing } => {
            (shrunk_frustum(*base_radius, *top_radius, *half_height, *smoothing), *smoothing)
        }
        Shape::Profile(profile) => (Core::Profile(profile), 0.0),
        Shape::Hull(hull) => (Core::Hull(hull), 0.0),
        Shape::Mesh(mesh) => (Core::Mesh(mesh), 0.0),
        Shape::HalfSpace | Shape::HeightGrid(_) | Shape::Compound(_) => (Core::Point, 0.0),
    }
}

/// Inner parallel body of a frustum: discs and slope moved inwards by `s` [m].
fn shrunk_frustum(base_radius: f64, top_radius: f64, half_height: f64, s: f64) -> Core<'static> {
    if s == 0.0 {
        return Core::Frustum {
            low: -half_height,
            low_radius: base_radius,
            high: half_height,
            high_radius: top_radius,
        };
    }
    // Radius of the slope moved inwards: rho(z) = mid - k z - s sqrt(1 + k^2), k = (base - top)/(2 h).
    let k = (base_radius - top_radius) / (2.0 * half_height);
    let mid = 0.5 * (base_radius + top_radius) - s * (1.0 + k * k).sqrt();
    let (mut low, mut high) = (-(half_height - s), half_height - s);
    let (mut low_radius, mut high_radius) = (mid - k * low, mid - k * high);
    if high_radius < 0.0 {
        (high, high_radius) = (mid / k, 0.0);
    }
    if low_radius < 0.0 {
        (low, low_radius) = (mid / k, 0.0);
    }
    Core::Frustum { low, low_radius, high, high_radius }
}

impl<'a> Core<'a> {
    /// Farthest point along `d` (any length) and where it comes from; an extreme point where it is not unique.
    #[inline]
    pub(crate) fn support(&self, d: Vec3) -> (Vec3, Tag) {
        self.support_near(d, Tag::MAX)
    }

    /// Like `support`, faster when the answer is near the part `hint` of an earlier answer.
    #[inline]
    pub(crate) fn support_near(&self, d: Vec3, hint: Tag) -> (Vec3, Tag) {
        match self {
            Core::Point => (Vec3::ZERO, 0),
            Core::Segment { half } => {
                if d.z >= 0.0 {
                    (Vec3::new(0.0, 0.0, *half), 1)
                } else {
                    (Vec3::new(0.0, 0.0, -*half), 0)
                }
            }
            Core::Box { half } => {
                let up = |c: f64| c.is_sign_positive() as Tag;
                let tag = up(d.x) | up(d.y) << 1 | up(d.z) << 2;
                (Vec3::new(half.x.copysign(d.x), half.y.copysign(d.y), half.z.copysign(d.z)), tag)
            }
            Core::Frustum { low, low_radius, high, high_radius } => {
                let rho = (d.x * d.x + d.y * d.y).sqrt();
                let top = high_radius * rho + high * d.z >= low_radius * rho + low * d.z;
                let (z, r) = if top { (*high, *high_radius) } else { (*low, *low_radius) };
                if rho > 0.0 {
                    let k = r / rho;
                    (Vec3::new(k * d.x, k * d.y, z), top as Tag)
                } else {
                    (Vec3::new(r, 0.0, z), top as Tag)
                }
            }
            Core::Ellipsoid { semi } => {
                let e = *semi * d;
                let len = e.length();
                if len > 0.0 { (*semi * e / len, 0) } else { (Vec3::new(semi.x, 0.0, 0.0), 0) }
            }
            Core::Profile(profile) => {
                let p = profile.middle_support(d);
                let up = d.z >= 0.0;
                (Vec3::new(p.x, p.y, if up { profile.half_length() } else { -profile.half_length() }), up as Tag)
            }
            Core::Hull(hull) => {
                let i = hull.farthest_vertex_near(d, hint);
                (hull.vertices()[i as usize], i)
            }
            Core::Mesh(mesh) => {
                let i = mesh.farthest_vertex(d);
                (mesh.vertices()[i as usize], i)
            }
            Core::Prism { corners, floor } => {
                let up = d.z >= 0.0;
                let at = |p: Vec3| if up { p } else { Vec3::new(p.x, p.y, *floor) };
                let reach = corners.map(|p| at(p).dot(d));
                let i = if reach[0] >= reach[1] && reach[0] >= reach[2] {
                    0
                } else if reach[1] >= reach[2] {
                    1
                } else {
                    2
                };
                (at(corners[i]), i as Tag + 3 * up as Tag)
            }
        }
    }

    /// Farthest point along `d`; the middle of the edge or face where it is not unique.
    pub(crate) fn middle_support(&self, d: Vec3) -> Vec3 {
        let sign = |c: f64| if c == 0.0 { 0.0 } else { c.signum() };
        match self {
            Core::Segment { half } => Vec3::new(0.0, 0.0, sign(d.z) * half),
            Core::Box { half } => Vec3::new(sign(d.x) * half.x, sign(d.y) * half.y, sign(d.z) * half.z),
            Core::Frustum { low, low_radius, high, high_radius } => {
                let rho = (d.x * d.x + d.y * d.y).sqrt();
                let (at_high, at_low) = (high_radius * rho + high * d.z, low_radius * rho + low * d.z);
                let (z, r) = if at_high > at_low {
                    (*high, *high_radius)
                } else if at_high < at_low {
                    (*low, *low_radius)
                } else {
                    (0.5 * (low + high), 0.5 * (low_radius + high_radius))
                };
                let k = if rho > 0.0 { r / rho } else { 0.0 };
                Vec3::new(k * d.x, k * d.y, z)
            }
            Core::Profile(profile) => profile.middle_support(d),
            Core::Hull(hull) => hull.middle_support(d),
            Core::Mesh(mesh) => mesh.middle_support(d),
            Core::Point | Core::Ellipsoid { .. } | Core::Prism { .. } => self.support(d).0,
        }
    }

    /// Largest `d . p` over the core [m times the length of d].
    #[inline]
    pub(crate) fn reach(&self, d: Vec3) -> f64 {
        match self {
            Core::Point => 0.0,
            Core::Segment { half } => half * d.z.abs(),
            Core::Box { half } => half.dot(d.abs()),
            Core::Frustum { low, low_radius, high, high_radius } => {
                let rho = (d.x * d.x + d.y * d.y).sqrt();
                (high_radius * rho + high * d.z).max(low_radius * rho + low * d.z)
            }
            Core::Ellipsoid { semi } => (*semi * d).length(),
            Core::Profile(profile) => profile.middle_support(d).dot(d),
            Core::Hull(hull) => hull.vertices()[hull.farthest_vertex(d) as usize].dot(d),
            Core::Mesh(mesh) => mesh.reach(d),
            Core::Prism { .. } => self.support(d).0.dot(d),
        }
    }

    /// Largest `d . p` over the part with a tag (corner, rim) at or around the point `p`.
    #[inline]
    pub(crate) fn reach_of(&self, tag: Tag, p: Vec3, d: Vec3) -> f64 {
        match self {
            Core::Frustum { low, low_radius, high, high_radius } => {
                let rho = (d.x * d.x + d.y * d.y).sqrt();
                if tag == 1 { high_radius * rho + high * d.z } else { low_radius * rho + low * d.z }
            }
            Core::Ellipsoid { .. } => self.reach(d),
            _ => p.dot(d),
        }
    }

    /// Largest distance of a point of a frustum from `p` [m]; of other cores from their corners.
    pub(crate) fn farthest_from(&self, p: Vec3) -> f64 {
        let rho = (p.x * p.x + p.y * p.y).sqrt();
        match self {
            Core::Frustum { low, low_radius, high, high_radius } => {
                let at = |r: f64, z: f64| ((rho + r) * (rho + r) + (p.z - z) * (p.z - z)).sqrt();
                at(*low_radius, *low).max(at(*high_radius, *high))
            }
            _ => p.length() + self.size(),
        }
    }

    /// Some part of the surface is curved.
    #[inline]
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self, Core::Frustum { .. } | Core::Ellipsoid { .. } | Core::Profile(_))
    }

    /// Order of the kinds, so that a pair is computed the same either way round.
    #[inline]
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Core::Point => 0,
            Core::Segment { .. } => 1,
            Core::Box { .. } => 2,
            Core::Frustum { .. } => 3,
            Core::Ellipsoid { .. } => 4,
            Core::Hull(_) => 5,
            Core::Prism { .. } => 6,
            Core::Mesh(_) => 7,
            Core::Profile(_) => 8,
        }
    }

    /// A length of the order of the core's radius about its origin [m]; scales tolerances.
    #[inline]
    pub(crate) fn size(&self) -> f64 {
        match self {
            Core::Point => 0.0,
            Core::Segment { half } => *half,
            Core::Box { half } => half.x + half.y + half.z,
            Core::Frustum { low, low_radius, high, high_radius } => {
                low.abs().max(high.abs()) + low_radius.max(*high_radius)
            }
            Core::Ellipsoid { semi } => semi.max_element(),
            Core::Profile(profile) => profile.size(),
            Core::Hull(hull) => hull.radius(),
            Core::Mesh(mesh) => mesh.radius(),
            Core::Prism { corners, floor } => {
                corners.iter().map(|p| p.x.abs() + p.y.abs() + p.z.abs()).fold(0.0, f64::max) + floor.abs()
            }
        }
    }
}
