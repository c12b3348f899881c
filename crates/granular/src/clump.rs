//! Rigid clumps of spheres. Its spheres touch like grains; the clump moves as one body. A polyhedron (`solid.rs`) is a clump of the ball that
//! holds it.
//!
//! Angular momentum L is kicked like velocity; between kicks the clump turns freely, by rotations about its principal axes
//! in the symmetric order x/2 y/2 z y/2 x/2 (grains.md eq. 12): |L| stays exact and energy bounded for any number of steps.

use crate::{Grain, GrainError, Grains, Settings};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tippe_geometry::{Mat3, Pose, Quat, Shape, Vec3};

/// Grain of no clump.
pub(crate) const NONE: u32 = u32::MAX;

/// A sphere of a clump in the clump's frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClumpSphere {
    /// Centre [m].
    pub position: Vec3,
    /// Radius [m].
    pub radius: f64,
}

/// Mass, centre of mass and principal axes of a clump, in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClumpMass {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass and principal axes.
    pub X_bc: Pose,
    /// Principal moments of inertia [kg m^2].
    pub inertia: Vec3,
}

impl ClumpMass {
    /// The sum of its spheres of one density [kg/m^3]; volume where spheres overlap counts for each.
    pub fn of_spheres(spheres: &[ClumpSphere], density: f64) -> ClumpMass {
        let weigh = |s: &ClumpSphere| density * 4.0 / 3.0 * PI * s.radius * s.radius * s.radius;
        let mass: f64 = spheres.iter().map(weigh).sum();
        let center = spheres.iter().map(|s| s.position * weigh(s)).sum::<Vec3>() / mass;
        let mut I = Mat3::ZERO;
        for s in spheres {
            let (m, r) = (weigh(s), s.position - center);
            let about = Mat3::from_diagonal(Vec3::splat(r.length_squared() + 0.4 * s.radius * s.radius));
            I += (about - Mat3::from_cols(r * r.x, r * r.y, r * r.z)) * m;
        }
        ClumpMass::of(mass, center, I)
    }

    /// Of a body with this mass [kg], centre [m] and inertia about it [kg m^2].
    pub fn of(mass: f64, center: Vec3, I: Mat3) -> ClumpMass {
        let (inertia, axes) = principal(I);
        ClumpMass { mass, X_bc: Pose::new(Quat::from_mat3(&axes).normalize(), center), inertia }
    }

    /// Radius of the sphere about the centre of mass that holds these spheres [m].
    pub fn reach(&self, spheres: &[ClumpSphere]) -> f64 {
        spheres.iter().map(|s| (s.position - self.X_bc.position).length() + s.radius).fold(0.0, f64::max)
    }
}

/// Principal moments and axes (columns, right-handed) of a symmetric matrix, by Jacobi's rotations.
fn principal(mut A: Mat3) -> (Vec3, Mat3) {
    let mut axes = Mat3::IDENTITY;
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = A.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let theta = (A.col(q)[q] - A.col(p)[p]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if theta == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt();
            let mut J = Mat3::IDENTITY;
            J.col_mut(p)[p] = c;
            J.col_mut(q)[q] = c;
            J.col_mut(q)[p] = c * t;
            J.col_mut(p)[q] = -c * t;
            A = J.transpose() * A * J;
            axes *= J;
        }
    }
    (Vec3::new(A.x_axis.x, A.y_axis.y, A.z_axis.z), axes)
}

/// A clump among the grains. `X_wc` is the pose of its centre of mass and principal axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clump {
    /// Pose of centre of mass and principal axes in the world.
    pub X_wc: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular momentum about the centre of mass, resolved in the world [kg m^2/s].
    pub momentum: Vec3,
    /// Mass [kg].
    pub mass: f64,
    /// Principal moments of inertia [kg m^2].
    pub inertia: Vec3,
    /// Ids of its spheres.
    pub ids: Vec<u32>,
    /// Centres of its spheres in its own frame c [m].
    pub offsets: Vec<Vec3>,
    /// What touches in place of its one sphere, which holds it: a polyhedron in frame c.
    pub solid: Option<Shape>,
}

impl Clump {
    /// Angular velocity in the world [rad/s].
    pub fn spin(&self) -> Vec3 {
        self.X_wc.vector(self.X_wc.vector_into(self.momentum) / self.inertia)
    }

    /// Kinetic energy [J].
    pub fn kinetic_energy(&self) -> f64 {
        0.5 * (self.mass * self.velocity.length_squared() + self.spin().dot(self.momentum))
    }

    /// Turns about principal axis `k` for `h` [s]: the part of the free motion with energy L_k^2/(2 I_k).
    fn turn(&mut self, k: usize, h: f64) {
        let axis = self.X_wc.vector(Vec3::AXES[k]);
        let angle = h * axis.dot(self.momentum) / self.inertia[k];
        let (s, c) = libm::sincos(0.5 * angle);
        let turn = Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c);
        self.X_wc.rotation = turn * self.X_wc.rotation;
    }

    fn drift(&mut self, h: f64) {
        self.X_wc.position += self.velocity * h;
        for (k, share) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
            self.turn(k, share * h);
        }
        self.X_wc.rotation = self.X_wc.rotation.normalize();
    }
}

/// How a clump begins.
#[derive(Clone, Copy, Debug)]
pub struct ClumpStart {
    /// Its class.
    pub class: u8,
    /// Place of the frame that its spheres are given in.
    pub X_wb: Pose,
    /// Velocity of its centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity about it [rad/s].
    pub spin: Vec3,
}

impl Grains {
    /// Puts a clump in and returns its index.
    pub fn insert_clump(
        &mut self,
        spheres: &[ClumpSphere],
        mass: &ClumpMass,
        start: &ClumpStart,
        settings: &Settings,
    ) -> Result<usize, GrainError> {
        let ClumpStart { class, X_wb, velocity, spin } = *start;
        let id = self.next_id;
        let bad = |what, value, wanted| Err(GrainError::Grain { id, what, value, wanted });
        if spheres.is_empty() {
            return bad("number of spheres of a clump", 0.0, "at least 1");
        }
        if !(mass.mass > 0.0 && mass.mass.is_finite() && mass.inertia.min_element() > 0.0) {
            return bad("mass of a clump", mass.mass, "positive, with positive moments of inertia");
        }
        let X_wc = X_wb.then(&mass.X_bc);
        let momentum = X_wc.vector(X_wc.vector_into(spin) * mass.inertia);
        let index = self.clumps.len() as u32;
        let mut clump = Clump {
            X_wc,
            velocity,
            momentum,
            mass: mass.mass,
            inertia: mass.inertia,
            ids: Vec::new(),
            offsets: Vec::new(),
            solid: None,
        };
        let put_in = self.books.put_in;
        let mean_inertia = (mass.inertia.x + mass.inertia.y + mass.inertia.z) / 3.0;
        for s in spheres {
            let position = X_wb.point(s.position);
            let v = velocity + spin.cross(position - X_wc.position);
            let grain = Grain { velocity: v, spin, class, ..Grain::at(position, s.radius) };
            clump.ids.push(self.insert(&grain, settings)?);
            clump.offsets.push(mass.X_bc.point_into(s.position));
            // the law sees the clump behind the sphere
            let place = self.len() - 1;
            self.motion[place].linear[3] = 1.0 / mass.mass;
            self.motion[place].angular[3] = 1.0 / mean_inertia;
            self.clump.resize(place + 1, NONE);
            self.clump[place] = index;
        }
        self.books.put_in = put_in + clump.kinetic_energy() - mass.mass * settings.gravity.dot(X_wc.position);
        self.clumps.push(clump);
        Ok(index as usize)
    }

    /// Clumps in the order they were put in; one that left the domain has no ids.
    pub fn clumps(&self) -> &[Clump] {
        &self.clumps
    }

    /// Index of the clump that the grain at a place belongs to.
    pub fn clump_of(&self, place: usize) -> Option<usize> {
        self.clump.get(place).filter(|c| **c != NONE).map(|c| *c as usize)
    }

    /// True when the grain at a place belongs to a clump.
    pub(crate) fn in_clump(&self, place: usize) -> bool {
        self.clump_of(place).is_some()
    }

    /// A clump goes, and takes its energy along.
    pub(crate) fn dismiss(&mut self, index: usize, gravity: Vec3) {
        let clump = &mut self.clumps[index];
        clump.ids.clear();
        let height = clump.mass * gravity.dot(clump.X_wc.position);
        self.books.put_in -= clump.kinetic_energy() - height;
    }

    /// Half kicks and drift of clumps; their spheres are put where they belong. Returns the square of the largest speed.
    pub(crate) fn kick_clumps(&mut self, h: f64, gravity: Vec3, finish: bool, begin: bool) -> f64 {
        let mut top = 0.0f64;
        for clump in self.clumps.iter_mut().filter(|c| !c.ids.is_empty()) {
            let (mut force, mut torque) = (clump.mass * gravity, Vec3::ZERO);
            for (id, offset) in clump.ids.iter().zip(&clump.offsets) {
                let place = self.places[*id as usize] as usize;
                let (f, t) = (self.load[place].linear, self.load[place].angular);
                let f = Vec3::new(f[0], f[1], f[2]);
                force += f;
                torque += Vec3::new(t[0], t[1], t[2]) + clump.X_wc.vector(*offset).cross(f);
            }
            for _ in 0..usize::from(finish) + usize::from(begin) {
                clump.velocity += force * (0.5 * h / clump.mass);
                clump.momentum += torque * (0.5 * h);
            }
            if begin {
                clump.drift(h);
            }
            let w = clump.spin();
            for (id, offset) in clump.ids.iter().zip(&clump.offsets) {
                let place = self.places[*id as usize] as usize;
                let arm = clump.X_wc.vector(*offset);
                let (x, v) = (clump.X_wc.position + arm, clump.velocity + w.cross(arm));
                self.position[place] = [x.x, x.y, x.z, self.position[place][3]];
                self.motion[place].linear = [v.x, v.y, v.z, self.motion[place].linear[3]];
                self.motion[place].angular = [w.x, w.y, w.z, self.motion[place].angular[3]];
                top = top.max(v.length_squared());
            }
        }
        top
    }
}
