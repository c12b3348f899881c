//! Reading a pair: gap, velocities, forces and friction of its bodies where they are.

use super::{Pair, Reading};
use tippe_geometry::{Mat3, Moments, Pose, Shape, Vec3};
use tippe_mechanics::contact::friction::{Friction, FrictionInput, FrictionLaw, Springs, patch_lever};
use tippe_mechanics::contact::normal::{LawInput, NormalForce, NormalGeometry, NormalLaw};
use tippe_mechanics::contact::patch::{Patch, rocking};
use tippe_mechanics::contact::surfaces::{Laws, SurfacePair};
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::{Drive, Lever, Model};
use tippe_mechanics::pair::{PairGeometry, SCALE_SPEED};

/// Share of its depth by which a patch is pressed deeper to find its area [-].
const DEEPER: f64 = 1e-2;

impl Pair {
    /// Gap, normal, witness points; cheap lower bound of the gap while the bounding balls are apart unless `exact`.
    #[inline]
    fn measure(&self, model: &Model, sides: [&Kinematics; 2], exact: bool) -> (f64, Vec3, Vec3, Vec3) {
        match &self.laws.geometry {
            &PairGeometry::Spheres { c1, c2, r1, r2 } => {
                let o1 = if self.laws.central[0] { sides[0].p } else { sides[0].p + sides[0].R * c1 };
                let o2 = if self.laws.central[1] { sides[1].p } else { sides[1].p + sides[1].R * c2 };
                let d = o2 - o1;
                let distance = d.length();
                let n = if distance > 0.0 { d / distance } else { Vec3::Z };
                (distance - (r1 + r2), n, o1 + r1 * n, o2 - r2 * n)
            }
            &PairGeometry::SpherePlane { c, r, n_w, offset, flipped } => {
                let k = usize::from(!flipped);
                let o = if self.laws.central[k] { sides[k].p } else { sides[k].p + sides[k].R * c };
                let height = n_w.dot(o) - offset;
                let (on_plane, on_ball) = (o - height * n_w, o - r * n_w);
                if flipped { (height - r, -n_w, on_ball, on_plane) } else { (height - r, n_w, on_plane, on_ball) }
            }
            &PairGeometry::General { bound } => {
                let X_ws = self.poses(model, sides);
                if bound.is_finite() && !exact {
                    let d = X_ws[1].position - X_ws[0].position;
                    let far = d.length_squared();
                    if far > bound * bound * 1.0001 {
                        let distance = far.sqrt();
                        return (distance - bound, d / distance, X_ws[0].position, X_ws[1].position);
                    }
                }
                let s = model.separation(self.id, &X_ws);
                (s.gap, s.normal, s.point1, s.point2)
            }
            PairGeometry::Surfaces(surfaces) => surfaces.measure(&self.poses(model, sides), exact),
            PairGeometry::Patch(patch) => {
                let X_ws = self.poses(model, sides);
                match patch.moments(&X_ws) {
                    Some(m) => (-m.depth, m.face_normal, m.centroid, m.centroid),
                    None => {
                        let s = patch.separation(&X_ws, exact);
                        (s.gap.max(0.0), s.normal, s.point1, s.point2)
                    }
                }
            }
        }
    }

    /// Poses of the two shapes.
    #[inline]
    fn poses(&self, model: &Model, sides: [&Kinematics; 2]) -> [Pose; 2] {
        [0, 1].map(|k| {
            let kin = sides[k];
            if self.laws.central[k] {
                return Pose::at(kin.p);
            }
            if let Some(X_ws) = self.laws.fixed[k] {
                return X_ws;
            }
            let e = &model.colliders[if k == 0 { self.id.0 } else { self.id.1 } as usize];
            let R_wc = tippe_geometry::Quat::from_mat3(&kin.R);
            Pose::new(R_wc * e.X_cs.rotation, kin.p + kin.R * e.X_cs.position)
        })
    }

    /// Effective radius at the contact: 1/R = 1/R1 + 1/R2 from the mean curvatures; a sharp edge has none of its own.
    fn effective_radius(&self, model: &Model, sides: [&Kinematics; 2], n: Vec3, points: [Vec3; 2]) -> f64 {
        if let Some(radius) = self.laws.radius {
            return radius;
        }
        let mut curvature = 0.0;
        for k in 0..2 {
            let e = &model.colliders[if k == 0 { self.id.0 } else { self.id.1 } as usize];
            if let Shape::Sphere { radius } = e.shape {
                curvature += 1.0 / radius;
                continue;
            }
            let outward = if k == 0 { n } else { -n };
            let R_cw = sides[k].R.transpose();
            let p_s = e.X_cs.point_into(R_cw * (points[k] - sides[k].p));
            let n_s = e.X_cs.vector_into(R_cw * outward);
            let radius = e.shape.curvature_radius(p_s, n_s);
            // negative in a hollow
            if radius != 0.0 {
                curvature += 1.0 / radius;
            }
        }
        if curvature > 0.0 {
            1.0 / curvature
        } else {
            model.colliders[self.id.0 as usize].radius.min(model.colliders[self.id.1 as usize].radius)
        }
    }

    /// Gap alone [m].
    pub fn gap(&self, model: &Model, kinematics: &[Kinematics]) -> f64 {
        self.measure(model, [&kinematics[self.sides[0]], &kinematics[self.sides[1]]], true).0
    }

    /// Closing speed, tangential velocity, relative rotation at the contact point.
    fn velocities(sides: [&Kinematics; 2], n: Vec3, point: Vec3) -> (f64, Vec3, Vec3) {
        let [k1, k2] = sides;
        let v = (k2.v + k2.w.cross(point - k2.p)) - (k1.v + k1.w.cross(point - k1.p));
        let closing_speed = -n.dot(v);
        (closing_speed, v + closing_speed * n, k2.w - k1.w)
    }

    /// Reads the pair: geometry, and where it touches (or `always`) velocities and forces.
    #[inline]
    pub fn read(&self, model: &Model, kinematics: &[Kinematics], springs: &Springs, always: bool) -> Reading {
        let mut reading = Reading::default();
        self.read_into(model, kinematics, springs, always, &mut reading);
        reading
    }

    /// [`Self::read`] into a place that exists; of a pair that is apart only gap and normal are written.
    #[inline]
    pub fn read_into(
        &self,
        model: &Model,
        kinematics: &[Kinematics],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let sides = [&kinematics[self.sides[0]], &kinematics[self.sides[1]]];
        if let PairGeometry::Patch(patch) = &self.laws.geometry {
            let X_ws = self.poses(model, sides);
            return self.read_patch(patch, &X_ws, patch.moments(&X_ws), sides, springs, always, reading);
        }
        self.read_sides(model, sides, springs, always, reading);
    }

    /// [`Self::read_into`] where its two bodies move like this; what a patch shares is known where it was last read.
    pub fn read_beside(&self, model: &Model, sides: [&Kinematics; 2], springs: &Springs, reading: &mut Reading) {
        if let PairGeometry::Patch(patch) = &self.laws.geometry {
            let X_ws = self.poses(model, sides);
            return self.read_patch(patch, &X_ws, self.shared_at(patch, &X_ws), sides, springs, false, reading);
        }
        self.read_sides(model, sides, springs, false, reading);
    }

    /// What the solids of a patch share; where only velocities differ, as for half the columns of a Jacobian, it is the same.
    fn shared_at(&self, patch: &Patch, X_ws: &[Pose; 2]) -> Option<Moments> {
        match self.shared {
            Some((there, m)) if there == *X_ws => m,
            _ => patch.moments(X_ws),
        }
    }

    /// [`Self::read_into`] for all but flat solids.
    #[inline]
    fn read_sides(
        &self,
        model: &Model,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        if let PairGeometry::Surfaces(surfaces) = &self.laws.geometry {
            return self.read_surfaces(surfaces, model, sides, springs, always, reading);
        }
        let placed = self.measure(model, sides, always);
        reading.gap = placed.0;
        reading.normal = placed.1;
        reading.closing_speed = 0.0;
        if placed.0 <= 0.0 || always {
            self.read_placed(model, sides, placed, springs, reading);
        }
    }

    /// [`Self::read_into`] the last reading, which stays where it is while the pair is apart.
    #[inline]
    pub fn read_last(&mut self, model: &Model, kinematics: &[Kinematics], springs: impl Fn(&Pair) -> Springs) {
        let sides = [&kinematics[self.sides[0]], &kinematics[self.sides[1]]];
        if let PairGeometry::Patch(patch) = &self.laws.geometry {
            let X_ws = self.poses(model, sides);
            let m = self.shared_at(patch, &X_ws);
            let mut last = self.last;
            self.read_patch(patch, &X_ws, m, sides, &springs(self), false, &mut last);
            self.last = last;
            self.shared = Some((X_ws, m));
            return;
        }
        if self.is_patch() {
            let mut last = self.last;
            self.read_into(model, kinematics, &springs(self), false, &mut last);
            self.last = last;
            let ([fewest, most], number) = (self.regions_seen, last.regions.number);
            self.regions_seen = [fewest.min(number), most.max(number)];
            return;
        }
        let placed = self.measure(model, sides, false);
        self.last.gap = placed.0;
        self.last.normal = placed.1;
        self.last.closing_speed = 0.0;
        if placed.0 <= 0.0 {
            let mut last = self.last;
            self.read_placed(model, sides, placed, &springs(self), &mut last);
            self.last = last;
        }
    }

    /// Velocities and forces where gap, normal and witness points are known.
    #[inline]
    fn read_placed(
        &self,
        model: &Model,
        sides: [&Kinematics; 2],
        (gap, n, point1, point2): (f64, Vec3, Vec3, Vec3),
        springs: &Springs,
        reading: &mut Reading,
    ) {
        let point = match self.laws.lever {
            Lever::Midpoint => 0.5 * (point1 + point2),
            Lever::Surface1 => point1,
            Lever::Surface2 => point2,
        };
        reading.point = point;
        (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, n, point);
        if gap > 0.0 {
            (reading.force, reading.pull) = (NormalForce::default(), 0.0);
            reading.friction = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };
            return;
        }
        let depth = -gap;
        reading.radius = self.effective_radius(model, sides, n, [point1, point2]);
        let mut geometry = NormalGeometry { depth, radius: reading.radius, ..NormalGeometry::default() };
        if self.laws.law.needs_volume() {
            geometry.volume = self.cap_volume(depth, reading.radius);
            geometry.extent = depth;
            geometry.layer = 0.5 * std::f64::consts::PI * reading.radius;
            geometry.sink = f64::NAN;
        }
        reading.force = self.laws.law.force(&geometry, reading.closing_speed, &self.memory.normal, &self.laws.normal);
        if self.laws.adheres() {
            // Hertz: a^2 = R depth
            let area = std::f64::consts::PI * reading.radius * depth;
            self.adhere(area, (self.laws.pull(0.0) + 0.5 * self.laws.adhesion[1] * area) * depth, reading);
        }
        self.rub(sides, springs, reading);
    }

    /// What adheres over this area [m^2] pulls as long as it touches; `energy` is what it gave while the two went into each other [J].
    fn adhere(&self, area: f64, energy: f64, reading: &mut Reading) {
        reading.pull = self.laws.pull(area);
        reading.force.elastic -= reading.pull;
        reading.force.energy -= energy;
    }

    /// [`Self::read_into`] for flat solids: the force acts at the centroid of what they share.
    #[expect(clippy::too_many_arguments, reason = "to be cut: a pair and where it stands")]
    fn read_patch(
        &self,
        patch: &Patch,
        X_ws: &[Pose; 2],
        m: Option<Moments>,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let Some(m) = m else {
            let s = patch.separation(X_ws, always);
            let gap = s.gap.max(0.0);
            *reading = Reading { gap, normal: s.normal, ..Reading::default() };
            if gap == 0.0 || always {
                reading.point = 0.5 * (s.point1 + s.point2);
                (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, s.normal, reading.point);
                reading.radius = patch.rolling_radius;
                reading.friction = Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() };
            }
            return;
        };
        // the volume law is defined by the mean normal of the overlap, an elastic foundation by the faces that carry it
        let mean = matches!(self.laws.law, NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. });
        let (n, depth) = if mean { (m.normal, m.extent) } else { (m.face_normal, m.depth) };
        reading.gap = -depth;
        reading.normal = n;
        reading.point = m.centroid;
        (reading.closing_speed, reading.v_t, reading.omega) = Self::velocities(sides, n, m.centroid);
        reading.radius = patch.rolling_radius;
        let area = if m.area > 0.0 { m.area } else { m.volume / depth };
        reading.patch_radius = (area / std::f64::consts::PI).sqrt();
        reading.lever = patch_lever(area, &(m.second * (1.0 / m.volume)));
        reading.mean_depth = m.volume / area;
        let geometry = NormalGeometry {
            depth,
            radius: reading.patch_radius,
            volume: m.volume,
            extent: m.extent,
            layer: patch.layer(),
            sink: patch.sink(X_ws, m.centroid),
        };
        reading.force = self.laws.law.force(&geometry, reading.closing_speed, &self.memory.normal, &self.laws.normal);
        if self.laws.adheres() {
            self.adhere(area, f64::NAN, reading);
            let arm = middle(patch, X_ws, &m, n).map_or(Vec3::ZERO, |middle| middle - m.centroid);
            reading.pull_torque = arm.cross(n * -reading.pull);
        }
        self.rub(sides, springs, reading);
        reading.torques[0] -= reading.pull_torque;
        reading.torques[1] += reading.pull_torque;
        reading.rocking = 0.0;
        let force = reading.force.total() + reading.pull;
        if force > 0.0 {
            let d = self.laws.normal.damping(self.memory.normal.impact_speed.max(reading.closing_speed));
            let c = self.laws.law.damping_rate(reading.force.elastic + reading.pull, d);
            let (torque, power) = rocking(&m, n, reading.omega, patch.rolls_about(X_ws), c, force);
            reading.rocking = power;
            reading.torques[0] -= torque;
            reading.torques[1] += torque;
        }
    }

    /// [`Self::read_into`] for surfaces of triangles.
    fn read_surfaces(
        &self,
        surfaces: &SurfacePair,
        model: &Model,
        sides: [&Kinematics; 2],
        springs: &Springs,
        always: bool,
        reading: &mut Reading,
    ) {
        let X_ws = self.poses(model, sides);
        let laws = Laws {
            normal: &self.laws.law,
            memory: &self.memory.normal,
            constants: &self.laws.normal,
            friction: &self.laws.friction_law,
            coefficients: &self.laws.friction,
            slipping: self.memory.modes.slipping,
            inverse: [self.id.0, self.id.1].map(|e| {
                let body = &model.bodies[model.colliders[e as usize].body as usize];
                if body.drive == Drive::Free { (1.0 / body.mass, body.I_c_inverse) } else { (0.0, Mat3::ZERO) }
            }),
        };
        let s = surfaces.read(&X_ws, sides, &laws, springs, always);
        let (_, v_t, omega) = Self::velocities(sides, s.normal, s.point);
        *reading = Reading {
            gap: -s.depth,
            normal: s.normal,
            point: s.point,
            closing_speed: s.closing_speed,
            v_t,
            omega,
            radius: surfaces.size,
            patch_radius: (s.area / std::f64::consts::PI).sqrt(),
            lever: 0.0,
            mean_depth: s.mean_depth,
            rocking: s.rocking,
            force: s.force,
            pull: 0.0,
            pull_torque: Vec3::ZERO,
            friction: s.friction,
            stick: s.stick,
            total: s.total,
            torques: s.torques,
            regions: s.regions,
            beyond: s.beyond,
        };
    }

    /// The end of every reading that touches: friction, total force, torques.
    #[inline]
    fn rub(&self, sides: [&Kinematics; 2], springs: &Springs, reading: &mut Reading) {
        let (point, depth) = (reading.point, -reading.gap);
        reading.total = reading.force.total() * reading.normal;
        if self.laws.friction_law != FrictionLaw::None {
            let mut constants = self.laws.friction;
            if let NormalLaw::Custom(law) = &self.laws.law {
                let slip_speed = reading.v_t.length();
                let input = LawInput {
                    depth,
                    closing_speed: reading.closing_speed,
                    impact_speed: self
                        .memory
                        .normal
                        .impact_speed
                        .max(reading.closing_speed)
                        .max(self.laws.normal.rest_speed),
                    radius: reading.radius,
                    modulus: self.laws.normal.modulus,
                    friction: constants.mu,
                    mass: self.laws.normal.mass,
                    slip_speed,
                };
                if let Some(mu) = law.friction(&input) {
                    constants.mu = mu;
                    constants.mu_static = mu;
                }
            }
            if let Some(mu) = self.laws.varied_friction(reading.v_t.length(), reading.force.total() + reading.pull) {
                constants.mu = mu;
                constants.mu_static = mu;
            }
            let input = self.friction_input(reading);
            reading.friction = self.laws.friction_law.evaluate(&constants, &input, springs, self.memory.modes);
            reading.total += reading.friction.force;
        }
        let [k1, k2] = sides;
        // a normal force through the centre of mass has no torque, whatever rounding says
        let (friction, total) = (reading.friction.force, reading.total);
        let acting = |central: bool| if central { friction } else { total };
        reading.torques = [
            -(point - k1.p).cross(acting(self.laws.central[0])) - reading.friction.torque,
            (point - k2.p).cross(acting(self.laws.central[1])) + reading.friction.torque,
        ];
    }

    /// Torque on body 2 about the contact point [N m]: T_point = T_c2 - (point - c2) x f, where f is spread over a patch; a point has
    /// that of friction alone.
    pub fn torque_at_point(&self, reading: &Reading, kinematics: &[Kinematics]) -> Vec3 {
        if !self.is_patch() {
            return reading.friction.torque;
        }
        let p_wc = kinematics[self.sides[1]].p;
        reading.torques[1] - (reading.point - p_wc).cross(reading.total)
    }

    /// What friction needs to know of a reading with its normal force.
    pub fn friction_input(&self, reading: &Reading) -> FrictionInput {
        let speed = self.memory.normal.impact_speed.max(reading.closing_speed).max(self.laws.normal.rest_speed);
        let damping = match &self.laws.law {
            NormalLaw::Hertz { .. } | NormalLaw::Foundation { .. } => self.laws.normal.damping(speed),
            NormalLaw::Volume { damping } => *damping,
            // not known: critical at rest, and as much of an impact at any speed
            NormalLaw::Custom(_) if speed > 0.0 => self.laws.normal.critical * self.laws.normal.rest_speed / speed,
            _ => 0.0,
        };
        FrictionInput {
            normal: reading.normal,
            N: reading.force.total() + reading.pull,
            elastic: reading.force.elastic + reading.pull,
            depth: if reading.patch_radius > 0.0 { reading.mean_depth } else { -reading.gap },
            closing_speed: reading.closing_speed,
            radius: reading.radius,
            patch_radius: reading.patch_radius,
            lever: reading.lever,
            area: self.area(reading),
            exponent: self.laws.exponent,
            damping,
            damping_speed: speed.max(0.1 * SCALE_SPEED),
            v_t: reading.v_t,
            omega: reading.omega,
        }
    }

    /// Area over which they touch [m^2]: across what they share where the law is one of overlap, else Hertz's pi R depth or what is given.
    fn area(&self, reading: &Reading) -> f64 {
        let (pi, depth) = (std::f64::consts::PI, (-reading.gap).max(0.0));
        let given = self.laws.friction.patch_radius;
        if reading.patch_radius > 0.0 {
            pi * reading.patch_radius * reading.patch_radius
        } else if given > 0.0 {
            pi * given * given
        } else if matches!(self.laws.law, NormalLaw::Volume { .. } | NormalLaw::Bardaro { .. }) {
            // the rim of the cap: a^2 = 2 R depth - depth^2
            pi * depth * (2.0 * reading.radius - depth).max(0.0)
        } else {
            pi * reading.radius * depth
        }
    }

    /// Overlap volume of two balls, or of a ball and a flat (radius of the ball) [m^3].
    fn cap_volume(&self, depth: f64, radius: f64) -> f64 {
        let pi = std::f64::consts::PI;
        match self.laws.geometry {
            PairGeometry::Spheres { r1, r2, .. } => {
                let d = (r1 + r2) - depth;
                pi * depth * depth * (d * d + 2.0 * d * (r1 + r2) - 3.0 * (r1 - r2) * (r1 - r2)) / (12.0 * d)
            }
            PairGeometry::SpherePlane { r, .. } => pi * depth * depth * (r - depth / 3.0),
            PairGeometry::General { .. } | PairGeometry::Patch(_) | PairGeometry::Surfaces(_) => {
                pi * depth * depth * (radius - depth / 3.0).max(0.0)
            }
        }
    }
}

/// Middle of the area over which flat solids touch [m]: that of what they share more when they are pressed a little deeper along n.
fn middle(patch: &Patch, X_ws: &[Pose; 2], m: &Moments, n: Vec3) -> Option<Vec3> {
    let deeper = Pose { position: X_ws[1].position - n * (DEEPER * m.depth), ..X_ws[1] };
    let more = patch.moments(&[X_ws[0], deeper]).filter(|more| more.volume > m.volume)?;
    Some((more.centroid * more.volume - m.centroid * m.volume) / (more.volume - m.volume))
}
