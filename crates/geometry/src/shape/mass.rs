//! Mass, centre and inertia in closed form.

use super::{Shape, ShapeError};
use crate::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Mass, centre of mass and inertia about it, in the shape's frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub center: Vec3,
    /// Inertia about the centre of mass, resolved in the shape's frame [kg m^2].
    pub inertia: Mat3,
}

impl MassProperties {
    fn centered(mass: f64, inertia: Vec3) -> Self {
        MassProperties { mass, center: Vec3::ZERO, inertia: Mat3::from_diagonal(inertia) }
    }
}

/// Inertia of a point mass of 1 kg at r about the origin: `|r|^2 1 - r r^T` [m^2].
fn point_inertia(r: Vec3) -> Mat3 {
    Mat3::from_diagonal(Vec3::splat(r.length_squared())) - Mat3::from_cols(r * r.x, r * r.y, r * r.z)
}

impl Shape {
    /// Mass properties for a uniform density [kg/m^3]: exact closed forms.
    ///
    /// A smoothing radius is left out: the mass is that of the shape with sharp edges. Parts of a compound that overlap
    /// count twice. Half-space and height grid have no end and no mass.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        if !(density > 0.0 && density.is_finite()) {
            return Err(ShapeError::Density { value: density });
        }
        Ok(match self {
            Shape::Sphere { radius: r } => {
                let m = density * 4.0 / 3.0 * PI * r * r * r;
                MassProperties::centered(m, Vec3::splat(0.4 * m * r * r))
            }
            Shape::Ellipsoid { semi_axes: a } => {
                let m = density * 4.0 / 3.0 * PI * a.x * a.y * a.z;
                let q = *a * *a;
                MassProperties::centered(m, 0.2 * m * Vec3::new(q.y + q.z, q.z + q.x, q.x + q.y))
            }
            Shape::Box { half_extents: h, .. } => {
                let m = density * 8.0 * h.x * h.y * h.z;
                let q = *h * *h;
                MassProperties::centered(m, m / 3.0 * Vec3::new(q.y + q.z, q.z + q.x, q.x + q.y))
            }
            Shape::Cylinder { radius: r, half_height: h, .. } => {
                let m = density * 2.0 * PI * r * r * h;
                let across = m * (r * r / 4.0 + h * h / 3.0);
                MassProperties::centered(m, Vec3::new(across, across, 0.5 * m * r * r))
            }
            Shape::Capsule { radius: r, half_length: l } => {
                // Cylinder mc and two half balls, together ms, whose centres lie 3 r/8 beyond the ends.
                let (mc, ms) = (density * 2.0 * PI * r * r * l, density * 4.0 / 3.0 * PI * r * r * r);
                let across = mc * (r * r / 4.0 + l * l / 3.0) + ms * (0.4 * r * r + l * l + 0.75 * l * r);
                MassProperties::centered(mc + ms, Vec3::new(across, across, mc * r * r / 2.0 + ms * 0.4 * r * r))
            }
            Shape::Cone { base_radius: R, top_radius: r, half_height: h, .. } => cone(density, *R, *r, *h),
            Shape::Profile(profile) => profile.mass_properties(density),
            Shape::Hull(hull) => polyhedron(density, hull.vertices(), hull.faces().iter().map(|f| f.corners)),
            Shape::Mesh(mesh) => polyhedron(density, mesh.vertices(), mesh.triangles().iter().copied()),
            Shape::Compound(parts) => compound(density, parts)?,
            Shape::HalfSpace | Shape::HeightGrid(_) => {
                return Err(ShapeError::Unbounded { shape: self.name(), what: "mass" });
            }
        })
    }
}

/// Frustum with radius R at the base and r at the top, height H = 2 h; z counts from the base:
/// m = rho pi H (R^2 + R r + r^2)/3, z_c = H (R^2 + 2 R r + 3 r^2)/(4 (R^2 + R r + r^2)),
/// I_zz = 3/10 m (R^4 + R^3 r + R^2 r^2 + R r^3 + r^4)/(R^2 + R r + r^2),
/// I_xx = I_zz/2 + rho pi H^3 (R^2/30 + R r/10 + r^2/5) - m z_c^2.
fn cone(density: f64, R: f64, r: f64, h: f64) -> MassProperties {
    let H = 2.0 * h;
    let q = R * R + R * r + r * r;
    let m = density * PI * H * q / 3.0;
    let z_c = H * (R * R + 2.0 * R * r + 3.0 * r * r) / (4.0 * q);
    let I_zz = 0.3 * m * (R * R * R * R + R * R * R * r + R * R * r * r + R * r * r * r + r * r * r * r) / q;
    let second = density * PI * H * H * H * (R * R / 30.0 + R * r / 10.0 + r * r / 5.0);
    let I_xx = 0.5 * I_zz + second - m * z_c * z_c;
    let inertia = Mat3::from_diagonal(Vec3::new(I_xx, I_xx, I_zz));
    MassProperties { mass: m, center: Vec3::new(0.0, 0.0, z_c - h), inertia }
}

/// Sum over tetrahedra (o, a, b, c): V = a.(b x c)/6, first moment V (a+b+c)/4, second moment
/// V/20 (a a^T + b b^T + c c^T + (a+b+c)(a+b+c)^T). The first round, about the mean vertex, finds the centroid; the second,
/// about it, leaves nothing to subtract, so that a part far from its origin loses no digits.
fn polyhedron(density: f64, vertices: &[Vec3], triangles: impl Iterator<Item = [u32; 3]> + Clone) -> MassProperties {
    let outer = |v: Vec3| Mat3::from_cols(v * v.x, v * v.y, v * v.z);
    let about = |o: Vec3| {
        let (mut V, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for t in triangles.clone() {
            let [a, b, c] = t.map(|i| vertices[i as usize] - o);
            let v = a.dot(b.cross(c)) / 6.0;
            let s = a + b + c;
            V += v;
            first += s * (v / 4.0);
            second += (outer(a) + outer(b) + outer(c) + outer(s)) * (v / 20.0);
        }
        (V, first / V, second)
    };
    let mean = vertices.iter().copied().sum::<Vec3>() / vertices.len() as f64;
    let o = mean + about(mean).1;
    let (V, c, second) = about(o);
    let second = second - outer(c) * V;
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    let inertia = (Mat3::from_diagonal(Vec3::splat(trace)) - second) * density;
    MassProperties { mass: density * V, center: o + c, inertia }
}

fn compound(density: f64, parts: &[(crate::Pose, Shape)]) -> Result<MassProperties, ShapeError> {
    let mut placed = Vec::with_capacity(parts.len());
    for (X_sp, part) in parts {
        let own = part.mass_properties(density)?;
        let R = Mat3::from_quat(X_sp.rotation);
        placed.push((own.mass, X_sp.point(own.center), R * own.inertia * R.transpose()));
    }
    let mass: f64 = placed.iter().map(|p| p.0).sum();
    if placed.is_empty() {
        return Err(ShapeError::Empty);
    }
    let center = placed.iter().map(|p| p.1 * p.0).sum::<Vec3>() / mass;
    let mut inertia = Mat3::ZERO;
    for (m, c, I) in placed {
        inertia += I + point_inertia(c - center) * m;
    }
    Ok(MassProperties { mass, center, inertia })
}
