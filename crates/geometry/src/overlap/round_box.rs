//! Cylinder against box, disc by disc.
//!
//! In the cylinder's frame, axis z, a face of the box with outward normal n and offset o keeps of the disc at z the part
//! m xi <= o - n_z z, m the part of n across the axis and xi the coordinate along that. Where one face alone cuts a disc what is left is a circular
//! segment, as against a half-space; where several do, it is the polygon of the box's section cut by the circle: triangles and sectors from the centre
//! of the disc, all in closed form. Along the axis these are smooth between the heights where a face touches the rim of the discs, where an edge of
//! the box passes through the cylinder and where the box has a corner; there they have half powers, which z = middle + half sin(theta) makes smooth.

use super::moments::{MINOR_FACE, Moments};
use super::revolution::segment;
use crate::{Mat3, Pose, Vec3};
use std::cell::Cell;
use std::f64::consts::{FRAC_PI_2, PI};

/// Below this share across the axis a face is level with the discs [-].
const LEVEL: f64 = 1e-13;
/// A level face keeps the disc in its own plane, whatever rounding says [-].
const SAME: f64 = 1e-14;
/// Where the overlap begins at a height the section is a point, which rounding may lose; this share of the way to the next height it is not [-].
const NEAR: f64 = 1e-9;
/// Heights: both ends, two of each face that is not level or one of each that is, corners, two of each edge.
const HEIGHTS: usize = 2 + 12 + 8 + 24;
/// Corners of the square around a disc cut by six faces.
const CORNERS: usize = 4 + 6;

/// A face of the box in the cylinder's frame.
#[derive(Clone, Copy, Default)]
struct Plane {
    n: Vec3,
    offset: f64,
    /// Length of n across the axis [-].
    m: f64,
}

/// Cylinder and box in the frame of the cylinder.
struct Meeting {
    planes: [Plane; 6],
    radius: f64,
    half_height: f64,
    /// Heights between which everything is smooth, in rising order.
    heights: [f64; HEIGHTS],
    count: usize,
}

/// Moments of a section about the axis [m^2, m^3, m^4].
#[derive(Clone, Copy, Default)]
struct Section {
    area: f64,
    first: [f64; 2],
    /// xx, xy, yy.
    second: [f64; 3],
    /// Length of each face's line in it [m].
    chords: [f64; 6],
}

impl Section {
    fn add_triangle(&mut self, a: [f64; 2], b: [f64; 2]) {
        let area = 0.5 * (a[0] * b[1] - a[1] * b[0]);
        let s = [a[0] + b[0], a[1] + b[1]];
        self.area += area;
        self.first[0] += area / 3.0 * s[0];
        self.first[1] += area / 3.0 * s[1];
        for (k, (i, j)) in [(0, 0), (0, 1), (1, 1)].into_iter().enumerate() {
            self.second[k] += area / 12.0 * (s[i] * s[j] + a[i] * a[j] + b[i] * b[j]);
        }
    }

    /// The sector of a disc from the direction of a to that of b, less than half a turn.
    fn add_sector(&mut self, a: [f64; 2], b: [f64; 2], r: f64) {
        let angle = libm::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
        if angle == 0.0 {
            return;
        }
        let unit = |p: [f64; 2]| {
            let l = (p[0] * p[0] + p[1] * p[1]).sqrt();
            [p[0] / l, p[1] / l]
        };
        let ([c1, s1], [c2, s2]) = (unit(a), unit(b));
        self.area += 0.5 * r * r * angle;
        self.first[0] += r * r * r / 3.0 * (s2 - s1);
        self.first[1] -= r * r * r / 3.0 * (c2 - c1);
        let fourth = r * r * r * r / 8.0;
        let twice = s2 * c2 - s1 * c1;
        self.second[0] += fourth * (angle + twice);
        self.second[1] += fourth * (s2 * s2 - s1 * s1);
        self.second[2] += fourth * (angle - twice);
    }
}

/// Moments of the overlap of box 1 and cylinder 2; `None` where they share no volume.
pub(super) fn box_cylinder(
    half_extents: Vec3,
    X_w1: &Pose,
    radius: f64,
    half_height: f64,
    X_w2: &Pose,
) -> Option<Moments> {
    let R_w2 = Mat3::from_quat(X_w2.rotation);
    let R_21 = R_w2.transpose() * Mat3::from_quat(X_w1.rotation);
    let p_21 = R_w2.transpose() * (X_w1.position - X_w2.position);
    let meeting = Meeting::new(half_extents, &R_21, p_21, radius, half_height)?;
    let m = meeting.measure()?;
    Some(Moments {
        centroid: X_w2.position + R_w2 * m.centroid,
        normal: R_w2 * m.normal,
        face_normal: R_w2 * m.face_normal,
        second: R_w2 * m.second * R_w2.transpose(),
        ..m
    })
}

impl Meeting {
    /// `None` where a face of the box or the cylinder's own ends and side keep them apart.
    fn new(h: Vec3, R: &Mat3, p: Vec3, radius: f64, half_height: f64) -> Option<Meeting> {
        let mut planes = [Plane::default(); 6];
        for (f, plane) in planes.iter_mut().enumerate() {
            let axis = R.col(f / 2);
            let n = if f % 2 == 0 { axis } else { -axis };
            let m = (n.x * n.x + n.y * n.y).sqrt();
            *plane = Plane { n, offset: n.dot(p) + h[f / 2], m };
            // the cylinder's lowest point over this face
            if -(m * radius + n.z.abs() * half_height) >= plane.offset {
                return None;
            }
        }
        let reach = Vec3::new(R.row(2).x, R.row(2).y, R.row(2).z).abs().dot(h);
        if p.z.abs() - reach >= half_height {
            return None;
        }
        let mut meeting = Meeting { planes, radius, half_height, heights: [0.0; HEIGHTS], count: 0 };
        meeting.find_heights(h, R, p, reach);
        Some(meeting)
    }

    fn find_heights(&mut self, h: Vec3, R: &Mat3, p: Vec3, reach: f64) {
        let (low, high) = ((p.z - reach).max(-self.half_height), (p.z + reach).min(self.half_height));
        let Meeting { heights, count, radius, planes, .. } = self;
        let r = *radius;
        let mut add = |z: f64| {
            if z.is_finite() {
                heights[*count] = z.max(low).min(high);
                *count += 1;
            }
        };
        add(low);
        add(high);
        for Plane { n, offset, m } in planes.iter() {
            if *m <= LEVEL {
                add(offset / n.z);
            } else if n.z != 0.0 {
                add((offset - m * r) / n.z);
                add((offset + m * r) / n.z);
            }
        }
        for k in 0..8 {
            let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let corner = p + *R * Vec3::new(sign(0) * h.x, sign(1) * h.y, sign(2) * h.z);
            add(corner.z);
            for axis in (0..3).filter(|axis| k >> axis & 1 == 0) {
                // |a + t e| = r across the axis, t from 0 to 1
                let e = R.col(axis) * (2.0 * h[axis]);
                let (a2, b, c) = (
                    e.x * e.x + e.y * e.y,
                    corner.x * e.x + corner.y * e.y,
                    corner.x * corner.x + corner.y * corner.y - r * r,
                );
                let root = b * b - a2 * c;
                if a2 > 0.0 && root > 0.0 {
                    for t in [(-b - root.sqrt()) / a2, (-b + root.sqrt()) / a2] {
                        if (0.0..=1.0).contains(&t) {
                            add(corner.z + t * e.z);
                        }
                    }
                }
            }
        }
        self.heights[..self.count].sort_unstable_by(f64::total_cmp);
    }

    /// Distance of a face's line from the centre of the disc at z [m]; negative where the centre is outside.
    fn distance(&self, f: usize, z: f64) -> f64 {
        let Plane { n, offset, m } = self.planes[f];
        (offset - n.z * z) / m
    }

    /// The faces that cut the disc at z and how many; `None` where nothing is left of it.
    fn cutting(&self, z: f64) -> Option<([usize; 6], usize)> {
        let (mut which, mut count) = ([0; 6], 0);
        for f in 0..6 {
            let Plane { n, offset, m } = self.planes[f];
            let room = offset - n.z * z;
            if m <= LEVEL {
                if room < -SAME * (self.radius + self.half_height) {
                    return None;
                }
            } else if room <= -m * self.radius {
                return None;
            } else if room < m * self.radius {
                which[count] = f;
                count += 1;
            }
        }
        Some((which, count))
    }

    fn section(&self, z: f64) -> Option<Section> {
        let (which, count) = self.cutting(z)?;
        let mut section = Section::default();
        let r = self.radius;
        match count {
            0 => {
                section.area = PI * r * r;
                section.second = [0.25 * PI * r * r * r * r, 0.0, 0.25 * PI * r * r * r * r];
            }
            1 => self.segment(which[0], z, &mut section),
            _ => self.cut_disc(&which[..count], z, &mut section),
        }
        (section.area > 0.0).then_some(section)
    }

    /// A disc cut by one face.
    fn segment(&self, f: usize, z: f64, section: &mut Section) {
        let r = self.radius;
        let Plane { n, m, .. } = self.planes[f];
        let q = ((r + self.distance(f, z)) / r).clamp(0.0, 2.0);
        let phi = 2.0 * libm::asin((0.5 * q).sqrt().min(1.0));
        let sin = (q * (2.0 - q)).max(0.0).sqrt();
        let cos = 1.0 - q;
        let base = segment(phi, sin, cos);
        let cube = sin * sin * sin;
        let along = -2.0 / 3.0 * r * r * r * cube;
        let fourth = 0.25 * r * r * r * r;
        let (xx, yy) = (fourth * (base + 2.0 * cube * cos), fourth * (base - 2.0 / 3.0 * cube * cos).max(0.0));
        let [c, s] = [n.x / m, n.y / m];
        section.area = r * r * base;
        section.first = [along * c, along * s];
        section.second = [xx * c * c + yy * s * s, (xx - yy) * c * s, xx * s * s + yy * c * c];
        section.chords[f] = 2.0 * r * sin;
    }

    /// A disc cut by several faces.
    fn cut_disc(&self, which: &[usize], z: f64, section: &mut Section) {
        let (corners, faces, count) = self.polygon(which, z);
        for (k, face) in faces.into_iter().enumerate().take(count) {
            self.add_side(corners[k], corners[(k + 1) % count], face, section);
        }
    }

    /// The square around the disc at z cut by these faces: corners anticlockwise, and the face of the side from each to the next.
    fn polygon(&self, which: &[usize], z: f64) -> ([[f64; 2]; CORNERS], [usize; CORNERS], usize) {
        let w = 1.5 * self.radius;
        let (mut corners, mut faces, mut count) = ([[0.0; 2]; CORNERS], [usize::MAX; CORNERS], 4);
        corners[..4].copy_from_slice(&[[-w, -w], [w, -w], [w, w], [-w, w]]);
        for &f in which {
            let Plane { n, m, .. } = self.planes[f];
            let d = self.distance(f, z);
            let height = |p: [f64; 2]| (n.x * p[0] + n.y * p[1]) / m - d;
            let (mut out, mut sides, mut made) = ([[0.0; 2]; CORNERS], [usize::MAX; CORNERS], 0);
            for (k, face) in faces.into_iter().enumerate().take(count) {
                let (p, q) = (corners[k], corners[(k + 1) % count]);
                let (hp, hq) = (height(p), height(q));
                let mut push = |p: [f64; 2], side: usize| {
                    if made < CORNERS {
                        (out[made], sides[made]) = (p, side);
                        made += 1;
                    }
                };
                let cross = || {
                    let t = hp / (hp - hq);
                    [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t]
                };
                match (hp <= 0.0, hq <= 0.0) {
                    (true, true) => push(p, face),
                    (true, false) => {
                        push(p, face);
                        push(cross(), f);
                    }
                    (false, true) => push(cross(), face),
                    (false, false) => {}
                }
            }
            (corners, faces, count) = (out, sides, made);
        }
        (corners, faces, count)
    }

    /// The part of the disc in the triangle of its centre and one side.
    fn add_side(&self, a: [f64; 2], b: [f64; 2], face: usize, section: &mut Section) {
        let r = self.radius;
        let e = [b[0] - a[0], b[1] - a[1]];
        let (e2, ae) = (e[0] * e[0] + e[1] * e[1], a[0] * e[0] + a[1] * e[1]);
        let root = ae * ae - e2 * (a[0] * a[0] + a[1] * a[1] - r * r);
        if e2 == 0.0 {
            return;
        }
        if root <= 0.0 {
            section.add_sector(a, b, r);
            return;
        }
        let at = |t: f64| [a[0] + e[0] * t, a[1] + e[1] * t];
        let (t0, t1) = (((-ae - root.sqrt()) / e2).max(0.0), ((-ae + root.sqrt()) / e2).min(1.0));
        if t0 >= t1 {
            section.add_sector(a, b, r);
            return;
        }
        let (p, q) = (at(t0), at(t1));
        if t0 > 0.0 {
            section.add_sector(a, p, r);
        }
        section.add_triangle(p, q);
        if t1 < 1.0 {
            section.add_sector(q, b, r);
        }
        if face < 6 {
            section.chords[face] += (t1 - t0) * e2.sqrt();
        }
    }

    fn measure(&self) -> Option<Moments> {
        let (mut volume, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        let mut areas = [0.0; 6];
        let heights = &self.heights[..self.count];
        let smallest = 1e-15 * (self.half_height + self.radius);
        for w in heights.windows(2).filter(|w| w[1] - w[0] > smallest) {
            let (middle, half) = (0.5 * (w[0] + w[1]), 0.5 * (w[1] - w[0]));
            if self.section(middle).is_none() {
                continue;
            }
            for (x, weight) in GAUSS {
                for sign in [-1.0, 1.0] {
                    let (s, c) = libm::sincos(sign * x * FRAC_PI_2);
                    let z = middle + half * s;
                    let dz = weight * FRAC_PI_2 * half * c;
                    let Some(section) = self.section(z) else { continue };
                    let (A, [fx, fy], [xx, xy, yy]) = (section.area, section.first, section.second);
                    volume += A * dz;
                    first += Vec3::new(fx, fy, A * z) * dz;
                    second.x_axis += Vec3::new(xx, xy, fx * z) * dz;
                    second.y_axis += Vec3::new(xy, yy, fy * z) * dz;
                    second.z_axis += Vec3::new(fx * z, fy * z, A * z * z) * dz;
                    for ((area, chord), plane) in areas.iter_mut().zip(section.chords).zip(&self.planes) {
                        if chord > 0.0 {
                            *area += chord / plane.m * dz;
                        }
                    }
                }
            }
        }
        if !(volume > 0.0) {
            return None;
        }
        for (f, area) in areas.iter_mut().enumerate() {
            let Plane { n, offset, m } = self.planes[f];
            let z = offset / n.z;
            if m <= LEVEL && z.abs() < self.half_height {
                *area = self.section(z).map_or(0.0, |section| section.area);
            }
        }
        let vector: Vec3 = (0..6).map(|f| self.planes[f].n * areas[f]).sum();
        let normal = vector.try_normalize().unwrap_or(Vec3::Z);
        let total: f64 = areas.iter().sum();
        let mut carried = Vec3::ZERO;
        for (plane, area) in self.planes.iter().zip(areas) {
            let x = if total > 0.0 { (area / (MINOR_FACE * total)).min(1.0) } else { 0.0 };
            carried += plane.n * (area * x * x * (3.0 - 2.0 * x));
        }
        let face_normal = carried.try_normalize().unwrap_or(normal);
        let centroid = first / volume;
        let about = second - outer(centroid) * volume;
        let across = |x: Vec3| x - face_normal * face_normal.dot(x);
        let half = Mat3::from_cols(across(about.x_axis), across(about.y_axis), across(about.z_axis)).transpose();
        let second = Mat3::from_cols(across(half.x_axis), across(half.y_axis), across(half.z_axis));
        let (extent, depth) = (self.length(normal), self.length(face_normal));
        Some(Moments { volume, centroid, normal, face_normal, area: vector.length(), extent, depth, second })
    }

    /// Length of the overlap along d [m]: its extremes lie at the heights, or where a face meets the side of the cylinder.
    fn length(&self, d: Vec3) -> f64 {
        let heights = &self.heights[..self.count];
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for (k, &z) in heights.iter().enumerate() {
            if !self.reach(d, z, &mut range) {
                for next in [k.wrapping_sub(1), k + 1].into_iter().filter_map(|next| heights.get(next)) {
                    self.reach(d, z + NEAR * (next - z), &mut range);
                }
            }
        }
        for plane in &self.planes {
            self.reach_rim(d, plane, &mut range);
        }
        (range.1 - range.0).max(0.0)
    }

    /// Widens a range by the extremes along d of the ellipse in which a plane cuts the side, as far as they are of the overlap [m].
    fn reach_rim(&self, d: Vec3, plane: &Plane, range: &mut (f64, f64)) {
        let (n, r) = (plane.n, self.radius);
        if n.z.abs() <= LEVEL {
            return;
        }
        // d.p = r g.(cos phi, sin phi) + what does not change
        let g = [d.x - d.z * n.x / n.z, d.y - d.z * n.y / n.z];
        let size = (g[0] * g[0] + g[1] * g[1]).sqrt();
        if size == 0.0 {
            return;
        }
        for side in [-r, r] {
            let (x, y) = (side * g[0] / size, side * g[1] / size);
            let p = Vec3::new(x, y, (plane.offset - n.x * x - n.y * y) / n.z);
            let within = |other: &Plane| other.n.dot(p) <= other.offset + 1e-12 * r;
            if p.z.abs() <= self.half_height && self.planes.iter().all(within) {
                let along = d.dot(p);
                *range = (range.0.min(along), range.1.max(along));
            }
        }
    }

    /// Widens a range by where the section at z lies along d [m]; false if nothing of it is seen.
    fn reach(&self, d: Vec3, z: f64, range: &mut (f64, f64)) -> bool {
        let seen = Cell::new(false);
        let mut see = |x: f64, y: f64, z: f64| {
            let along = d.x * x + d.y * y + d.z * z;
            *range = (range.0.min(along), range.1.max(along));
            seen.set(true);
        };
        let (r, slip) = (self.radius, 1e-12 * self.radius);
        let across = (d.x * d.x + d.y * d.y).sqrt();
        let inside = |p: [f64; 2], which: &[usize], z: f64| {
            which.iter().all(|&f| {
                let Plane { n, m, .. } = self.planes[f];
                (n.x * p[0] + n.y * p[1]) / m <= self.distance(f, z) + slip
            })
        };
        let Some((which, count)) = self.cutting(z) else { return false };
        let which = &which[..count];
        if across > LEVEL {
            for sign in [-r, r] {
                let p = [sign * d.x / across, sign * d.y / across];
                if inside(p, which, z) {
                    see(p[0], p[1], z);
                }
            }
        } else if count == 0 {
            see(0.0, 0.0, z);
        }
        if count == 0 {
            return seen.get();
        }
        let (corners, _, made) = self.polygon(which, z);
        for k in 0..made {
            let (a, b) = (corners[k], corners[(k + 1) % made]);
            let e = [b[0] - a[0], b[1] - a[1]];
            let (e2, ae) = (e[0] * e[0] + e[1] * e[1], a[0] * e[0] + a[1] * e[1]);
            let root = ae * ae - e2 * (a[0] * a[0] + a[1] * a[1] - r * r);
            if root < 0.0 || e2 == 0.0 {
                continue;
            }
            let (t0, t1) = (((-ae - root.sqrt()) / e2).max(0.0), ((-ae + root.sqrt()) / e2).min(1.0));
            if t0 <= t1 {
                [t0, t1].into_iter().for_each(|t| see(a[0] + e[0] * t, a[1] + e[1] * t, z));
            }
        }
        seen.get()
    }
}

fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// Positive nodes and weights of the 16-point Gauss-Legendre rule on [-1, 1].
const GAUSS: [(f64, f64); 8] = [
    (0.09501250983763744, 0.1894506104550685),
    (0.2816035507792589, 0.1826034150449236),
    (0.45801677765722737, 0.16915651939500254),
    (0.6178762444026438, 0.14959598881657674),
    (0.755404408355003, 0.12462897125553388),
    (0.8656312023878318, 0.09515851168249279),
    (0.9445750230732326, 0.062253523938647894),
    (0.9894009349916499, 0.027152459411754096),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hull, Quat, Shape, moments};

    const R: f64 = 0.01;
    const H: f64 = 0.03;

    fn both(h: Vec3, X_b: &Pose) -> Option<Moments> {
        box_cylinder(h, X_b, R, H, &Pose::IDENTITY)
    }

    /// A face that reaches beyond the cylinder is a half-space.
    #[test]
    fn a_wide_face_is_a_half_space() {
        let cylinder = Shape::Cylinder { radius: R, half_height: H, smoothing: 0.0 };
        for (turn, depth) in [(0.0, 1e-6), (0.0, 2e-3), (1e-4, 1e-6), (0.2, 1e-3), (1.2, 5e-4), (FRAC_PI_2, 1e-4)] {
            let rotation = Quat::from_rotation_y(FRAC_PI_2 - turn) * Quat::from_rotation_z(0.3);
            let n = rotation * Vec3::Z;
            let lowest = -(R * (n.x * n.x + n.y * n.y).sqrt() + H * n.z.abs());
            let face = n * (lowest + depth);
            let half = Vec3::new(1.0, 1.0, 0.5);
            let m = both(half, &Pose::new(rotation, face - n * 0.5)).unwrap();
            let plane = moments(&Shape::HalfSpace, &Pose::new(rotation, face), &cylinder, &Pose::IDENTITY).unwrap();
            let size = plane.volume / plane.area;
            assert!((m.volume / plane.volume - 1.0).abs() < 1e-7, "{turn} {depth}: {} {}", m.volume, plane.volume);
            assert!((m.area / plane.area - 1.0).abs() < 1e-6, "{turn} {depth}: {} {}", m.area, plane.area);
            assert!((m.centroid - plane.centroid).length() < 1e-7 * H + 1e-6 * size, "{turn} {depth}");
            assert!((m.normal - n).length() < 1e-12 && (m.face_normal - n).length() < 1e-12);
            assert!((m.depth / depth - 1.0).abs() < 1e-7, "{turn} {depth}: {}", m.depth);
        }
    }

    /// Against a prism of many sides, wherever the box is.
    #[test]
    fn any_box_cuts_it_as_it_cuts_a_prism() {
        let n = 720;
        let scale = (PI / f64::from(n) / libm::sin(PI / f64::from(n)) / libm::cos(PI / f64::from(n))).sqrt();
        let rim = |z: f64| {
            (0..n).map(move |k| {
                let (s, c) = libm::sincos(2.0 * PI * f64::from(k) / f64::from(n));
                Vec3::new(R * scale * c, R * scale * s, z)
            })
        };
        let corners: Vec<Vec3> = rim(-H).chain(rim(H)).collect();
        let prism = Shape::Hull(Hull::new(&corners).unwrap().into());
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let mut met = 0;
        for _ in 0..400 {
            let h = Vec3::new(0.012, 0.008, 0.02);
            let X = Pose::new(
                Quat::from_scaled_axis(Vec3::new(random(), random(), random()) * 3.0),
                Vec3::new(random() * 0.02, random() * 0.02, random() * 0.045),
            );
            let solid = Shape::Box { half_extents: h, smoothing: 0.0 };
            let (own, other) = (both(h, &X), moments(&solid, &X, &prism, &Pose::IDENTITY));
            let (Some(m), Some(p)) = (own, other) else {
                assert!(own.or(other).is_none_or(|m| m.volume < 1e-9 * R * R * R), "{own:?} {other:?}");
                continue;
            };
            met += 1;
            let whole = m.volume.max(1e-4 * R * R * R);
            assert!((m.volume - p.volume).abs() < 1e-4 * whole, "{} {}", m.volume, p.volume);
            if m.volume > 1e-3 * R * R * R {
                assert!((m.centroid - p.centroid).length() < 1e-4 * R, "{m:?} {p:?}");
                assert!((m.area - p.area).abs() < 1e-3 * R * R, "{} {}", m.area, p.area);
                assert!(m.normal.dot(p.normal) > 1.0 - 1e-4 || p.area < 0.01 * R * R, "{m:?} {p:?}");
                assert!((m.extent - p.extent).abs() < 1e-3 * R || p.area < 0.01 * R * R, "{} {}", m.extent, p.extent);
            }
        }
        assert!(met > 100, "{met}");
    }
}
