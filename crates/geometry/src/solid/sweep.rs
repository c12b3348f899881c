//! Solids swept from a polygon: along a line, around an axis, along a helix.

use super::polygon::Polygon;
use super::{MOST_TRIANGLES, SolidError, Thread};
use crate::{TriMesh, Vec3};
use std::f64::consts::PI;

/// Polygon in the plane z = 0 swept from `-length/2` to `length/2` along z.
pub(super) fn prism(polygon: &Polygon, length: f64) -> Result<TriMesh, SolidError> {
    let n = polygon.points.len() as u32;
    let mut mesh = TriMesh::default();
    for z in [-0.5 * length, 0.5 * length] {
        mesh.vertices.extend(polygon.points.iter().map(|p| Vec3::new(p[0], p[1], z)));
    }
    for [a, b, c] in polygon.triangles()? {
        mesh.triangles.push([a, c, b]);
        mesh.triangles.push([a + n, b + n, c + n]);
    }
    for l in &polygon.loops {
        for i in 0..l.len() {
            let (a, b) = (l[i], l[(i + 1) % l.len()]);
            mesh.triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
        }
    }
    Ok(mesh)
}

/// Profile of points (r, z) swept around z by `angle` [rad], 2 pi at most, in steps of a full circle divided by `segments`.
pub(super) fn revolve(profile: &[[f64; 2]], angle: f64, segments: u32) -> Result<TriMesh, SolidError> {
    let polygon = Polygon::new(profile, &[])?;
    if let Some(p) = polygon.points.iter().find(|p| p[0] < 0.0) {
        return Err(SolidError::Axis { at: *p });
    }
    if !(angle > 0.0 && angle <= 2.0 * PI * (1.0 + 1e-12)) {
        return Err(SolidError::Angle { value: angle });
    }
    let full = angle >= 2.0 * PI * (1.0 - 1e-12);
    let angle = angle.min(2.0 * PI);
    let steps = ((segments as f64 * angle / (2.0 * PI)).ceil() as u32).max(if full { 3 } else { 1 });
    let rounds = if full { steps } else { steps + 1 };
    let triangles = 2 * polygon.points.len() as u64 * steps as u64;
    if triangles > MOST_TRIANGLES as u64 {
        return Err(SolidError::Triangles { triangles });
    }
    // Points on the axis are one corner, the others one per direction.
    let mut mesh = TriMesh::default();
    let mut first = Vec::new();
    for p in &polygon.points {
        first.push((mesh.vertices.len() as u32, p[0] == 0.0));
        for k in 0..if p[0] == 0.0 { 1 } else { rounds } {
            let (s, c) = libm::sincos(angle * k as f64 / steps as f64);
            mesh.vertices.push(Vec3::new(p[0] * c, p[0] * s, p[1]));
        }
    }
    let at = |i: u32, k: u32| {
        let (base, on_axis) = first[i as usize];
        base + if on_axis { 0 } else { k % rounds }
    };
    let l = &polygon.loops[0];
    for i in 0..l.len() {
        let (a, b) = (l[i], l[(i + 1) % l.len()]);
        for k in 0..steps {
            let corners = [at(a, k), at(a, k + 1), at(b, k + 1), at(b, k)];
            if corners[0] != corners[1] {
                mesh.triangles.push([corners[0], corners[1], corners[2]]);
            }
            if corners[2] != corners[3] {
                mesh.triangles.push([corners[0], corners[2], corners[3]]);
            }
        }
    }
    if !full {
        // (r, z) seen from the side the sweep starts at is mirrored.
        for [a, b, c] in polygon.triangles()? {
            mesh.triangles.push([at(a, 0), at(b, 0), at(c, 0)]);
            mesh.triangles.push([at(a, steps), at(c, steps), at(b, steps)]);
        }
    }
    Ok(mesh)
}

/// Rod with a helical ridge, longer than the thread by two pitches at each end, with ragged ends.
///
/// The surface is r(z - p theta/(2 pi)) over cylinder coordinates, r the ridge's profile of period p. Columns of corners run
/// along the profile, one per direction theta_i, each shifted by p/segments against the last, so that crest and root are
/// edges of the mesh; after one turn column `segments` is column 0 shifted by one period.
pub(super) fn rod(thread: &Thread) -> Result<TriMesh, SolidError> {
    let Thread { radius, pitch: p, depth, crest, root, length, segments: n, .. } = *thread;
    // One period: root, flank up, crest, flank down.
    let flank = 0.5 * (p - crest - root);
    let profile =
        [(0.0, radius - depth), (root, radius - depth), (root + flank, radius), (root + flank + crest, radius)];
    let k = profile.len() as u32;
    let turns = (length / p).ceil() as u32 + 5;
    // The fan that closes an end lies in one plane with the profile and must see all of it.
    if radius - depth <= p * (depth / flank) {
        return Err(SolidError::Thread { why: format!("its pitch {p} m is too large for its radius {radius} m") });
    }
    let bottom = -0.5 * p * (turns - 1) as f64;
    let mut mesh = TriMesh::default();
    // Column 0 has one period more: it is also the column after the last.
    let rows = turns * k;
    let at = |i: u32, j: u32| if i < n { if i == 0 { j } else { (rows + k) + (i - 1) * rows + j } } else { j + k };
    for i in 0..n {
        let (s, c) = libm::sincos(2.0 * PI * i as f64 / n as f64);
        for j in 0..if i == 0 { rows + k } else { rows } {
            let (z, r) = profile[(j % k) as usize];
            let z = bottom + z + p * ((j / k) as f64 + i as f64 / n as f64);
            mesh.vertices.push(Vec3::new(r * c, r * s, z));
        }
    }
    for i in 0..n {
        for j in 0..rows - 1 {
            let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.push([corners[0], corners[1], corners[2]]);
            mesh.triangles.push([corners[0], corners[2], corners[3]]);
        }
    }
    // Ends: along the helix once around, then back along the profile.
    let low = mesh.vertices.len() as u32;
    mesh.vertices.push(Vec3::new(0.0, 0.0, mesh.vertices[0].z));
    let high = low + 1;
    mesh.vertices.push(Vec3::new(0.0, 0.0, mesh.vertices[(rows + k - 1) as usize].z));
    for i in 0..n {
        mesh.triangles.push([low, at(i + 1, 0), at(i, 0)]);
        mesh.triangles.push([high, at(i, rows - 1), at(i + 1, rows - 1)]);
    }
    for j in 0..k {
        mesh.triangles.push([low, at(0, j), at(0, j + 1)]);
        mesh.triangles.push([high, at(0, rows + j), at(0, rows - 1 + j)]);
    }
    Ok(mesh)
}
