//! Cylinder, cone and capsule against a half-space, disc by disc.
//!
//! In the solid's frame the height above the plane is n.p + h0. The disc at z has the radius rho(z); with m the part of n across
//! the axis and xi the coordinate along it, the plane keeps the part xi <= -(n_z z + h0)/m of the disc: a circular segment
//! of half angle phi, 1 - cos(phi) = q = (m rho - n_z z - h0)/(m rho). Its area is rho^2 (phi - sin phi cos phi), its first
//! moment -(2/3) rho^3 sin^3 phi. Along the axis these have half powers at both ends of a piece, which
//! z = middle + half sin(theta) makes smooth: Gauss-Legendre in theta then converges to rounding.

use super::{Overlap, PatchPoint};
use crate::{Pose, Shape, Vec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Profile rho(z) between two heights.
#[derive(Clone, Copy)]
enum Profile {
    /// rho = a + b z.
    Straight { a: f64, b: f64 },
    /// rho^2 = r^2 - (z - c)^2.
    Ball { r: f64, c: f64 },
}

impl Profile {
    fn radius(&self, z: f64) -> f64 {
        match self {
            Profile::Straight { a, b } => (a + b * z).max(0.0),
            Profile::Ball { r, c } => (r * r - (z - c) * (z - c)).max(0.0).sqrt(),
        }
    }
}

/// Sums over the discs.
struct Sums {
    volume: f64,
    /// Volume times xi, volume times z [m^4].
    moment: [f64; 2],
    area: f64,
    patch: Vec<PatchPoint>,
    axes: Axes,
}

/// The solid's frame turned about its axis until xi points along the plane's normal.
struct Axes {
    X_w2: Pose,
    xi: Vec3,
    eta: Vec3,
}

impl Axes {
    /// A point of the solid, resolved in world [m].
    fn point(&self, xi: f64, eta: f64, z: f64) -> Vec3 {
        self.X_w2.point(self.xi * xi + self.eta * eta + Vec3::new(0.0, 0.0, z))
    }
}

pub(super) fn half_space(X_w1: &Pose, shape2: &Shape, X_w2: &Pose) -> Option<Overlap> {
    let n_w = X_w1.vector(Vec3::Z);
    let n = X_w2.vector_into(n_w);
    let h0 = n_w.dot(X_w2.position - X_w1.position);
    let sharp = match shape2 {
        Shape::Cylinder { radius, half_height, .. } => {
            Shape::Cylinder { radius: *radius, half_height: *half_height, smoothing: 0.0 }
        }
        Shape::Cone { base_radius, top_radius, half_height, .. } => Shape::Cone {
            base_radius: *base_radius,
            top_radius: *top_radius,
            half_height: *half_height,
            smoothing: 0.0,
        },
        other => other.clone(),
    };
    let lowest = sharp.support(-n);
    let depth = -(n.dot(lowest) + h0);
    if !(depth > 0.0) {
        return None;
    }
    let m = (n.x * n.x + n.y * n.y).sqrt();
    let plane = Plane { m, n_z: n.z, h0 };
    let xi = if m > LEVEL { Vec3::new(n.x / m, n.y / m, 0.0) } else { Vec3::X };
    let axes = Axes { X_w2: *X_w2, xi, eta: Vec3::Z.cross(xi) };
    let mut sums = Sums { volume: 0.0, moment: [0.0; 2], area: 0.0, patch: Vec::new(), axes };
    match sharp {
        Shape::Cylinder { radius, half_height: h, .. } => {
            plane.add(Profile::Straight { a: radius, b: 0.0 }, -h, h, &mut sums);
        }
        Shape::Cone { base_radius, top_radius, half_height: h, .. } => {
            let b = (top_radius - base_radius) / (2.0 * h);
            plane.add(Profile::Straight { a: 0.5 * (base_radius + top_radius), b }, -h, h, &mut sums);
        }
        Shape::Capsule { radius: r, half_length: l } => {
            plane.add(Profile::Ball { r, c: -l }, -l - r, -l, &mut sums);
            plane.add(Profile::Straight { a: r, b: 0.0 }, -l, l, &mut sums);
            plane.add(Profile::Ball { r, c: l }, l, l + r, &mut sums);
        }
        _ => return None,
    }
    let V = sums.volume;
    if !(V > 0.0) {
        return None;
    }
    let centroid = sums.axes.point(sums.moment[0] / V, 0.0, sums.moment[1] / V);
    let extent = depth.min(sharp.support(n).dot(n) - lowest.dot(n));
    Some(Overlap { volume: V, centroid, normal: n_w, area: sums.area, extent, patch: sums.patch })
}

/// Below this share across the axis the plane is level with the discs [-].
pub(super) const LEVEL: f64 = 1e-13;

/// The plane in the solid's frame.
struct Plane {
    m: f64,
    n_z: f64,
    h0: f64,
}

impl Plane {
    /// Adds the discs of one profile between two heights.
    fn add(&self, profile: Profile, low: f64, high: f64, sums: &mut Sums) {
        // Heights where a disc begins to dip in or is swallowed: n_z z + h0 = -+ m rho(z); and the level plane's own.
        let (m, n_z, h0) = (self.m, self.n_z, self.h0);
        let between = match profile {
            // a level plane along the profile gives +-infinity or NaN, which the clamp takes to an end
            Profile::Straight { a, b } => [1.0, -1.0].map(|sign| (sign * m * a - h0) / (n_z - sign * m * b)),
            Profile::Ball { r, c } => {
                // (n_z z + h0)^2 = m^2 (r^2 - (z - c)^2) with n_z^2 + m^2 = 1: the sphere's circle on the plane.
                let d = n_z * c + h0;
                let root = m * (r * r - d * d).max(0.0).sqrt();
                [c - n_z * d - root, c - n_z * d + root]
            }
        };
        let [one, other] = between.map(|z| z.max(low).min(high));
        let ends = [low, one.min(other), one.max(other), high];
        for w in ends.windows(2) {
            if w[1] > w[0] {
                self.add_piece(profile, w[0], w[1], sums);
            }
        }
        if m <= LEVEL {
            let z = -h0 / n_z;
            if z > low && z < high {
                let rho = profile.radius(z);
                sums.area += PI * rho * rho;
            }
        }
    }

    fn add_piece(&self, profile: Profile, low: f64, high: f64, sums: &mut Sums) {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        for (x, weight) in GAUSS {
            for sign in [-1.0, 1.0] {
                let theta = sign * x * FRAC_PI_2;
                let (s, c) = libm::sincos(theta);
                let z = middle + half * s;
                let dz = weight * FRAC_PI_2 * half * c;
                self.add_disc(profile.radius(z), z, dz, sums);
            }
        }
    }

    fn add_disc(&self, rho: f64, z: f64, dz: f64, sums: &mut Sums) {
        let e = self.n_z * z + self.h0;
        let reach = self.m * rho;
        let deepest = reach - e;
        if deepest <= 0.0 || rho <= 0.0 {
            return;
        }
        let full = deepest >= 2.0 * reach;
        let (area, xi_moment, spread2, chord) = if full {
            (PI * rho * rho, 0.0, 0.25 * rho * rho, 0.0)
        } else {
            let q = deepest / reach;
            let phi = 2.0 * libm::asin((0.5 * q).sqrt().min(1.0));
            let sin = (q * (2.0 - q)).max(0.0).sqrt();
            let area = rho * rho * segment(phi, sin, 1.0 - q);
            // Second moment across: rho^4/4 (phi - sin phi cos phi (1 + 2/3 sin^2 phi)), here as a mean over the area.
            let fourth = rho * rho * rho * rho / 4.0
                * (segment(phi, sin, 1.0 - q) - 2.0 / 3.0 * sin * sin * sin * (1.0 - q)).max(0.0);
            let spread2 = if area > 0.0 { fourth / area } else { 0.0 };
            (area, -2.0 / 3.0 * rho * rho * rho * sin * sin * sin, spread2, 2.0 * rho * sin)
        };
        if !(area > 0.0) {
            return;
        }
        let volume = area * dz;
        sums.volume += volume;
        sums.moment[0] += xi_moment * dz;
        sums.moment[1] += z * volume;
        if self.m > LEVEL {
            sums.area += chord / self.m * dz;
        }
        let mean_depth = -(self.m * xi_moment / area + e);
        if mean_depth > 0.0 {
            let depth = 2.0 * mean_depth;
            for eta in [-spread2.sqrt(), spread2.sqrt()] {
                let point = sums.axes.point(xi_moment / area, eta, z);
                sums.patch.push(PatchPoint { point, area: 0.5 * volume / depth, depth });
            }
        }
    }
}

/// phi - sin phi cos phi without cancellation for small angles.
pub(super) fn segment(phi: f64, sin: f64, cos: f64) -> f64 {
    if phi > 0.5 {
        return phi - sin * cos;
    }
    // phi - sin(2 phi)/2 = sum over k of (-1)^k (2 phi)^(2k+3)/(2 (2k+3)!)
    let x2 = 4.0 * phi * phi;
    let mut term = 2.0 * phi * x2 / 12.0;
    let (mut total, mut k) = (term, 3.0);
    while term.abs() > 1e-17 * total {
        term *= -x2 / ((k + 1.0) * (k + 2.0));
        total += term;
        k += 2.0;
    }
    total
}

/// Positive nodes and weights of the 24-point Gauss-Legendre rule on [-1, 1].
pub(super) const GAUSS: [(f64, f64); 12] = [
    (0.06405689286260563, 0.12793819534675216),
    (0.1911188674736163, 0.1258374563468283),
    (0.3150426796961634, 0.12167047292780339),
    (0.4337935076260451, 0.1155056680537256),
    (0.5454214713888396, 0.10744427011596563),
    (0.6480936519369755, 0.09761865210411388),
    (0.7401241915785544, 0.08619016153195327),
    (0.820001985973903, 0.0733464814110803),
    (0.8864155270044011, 0.05929858491543678),
    (0.9382745520027328, 0.04427743881741981),
    (0.9747285559713095, 0.028531388628933663),
    (0.9951872199970213, 0.0123412297999872),
];
