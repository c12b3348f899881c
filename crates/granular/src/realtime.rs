//! Grains in real time: positions are corrected instead of forces integrated (Holz 2014, Parallel Particles).
//!
//! A frame is cut into substeps h. In each, grains move freely, then every contact is corrected once, in the order of the
//! lists (compliant position-based dynamics in small steps; Macklin et al. 2016, 2019; grains.md eq. 19 to 21):
//!   C = |x2 - x1| - (r1 + r2),   lambda = max(-C/(w1 + w2 + alpha/h^2), -lambda_a),   w = 1/m
//!   slip d_t of the substep is taken back by up to mu (lambda + lambda_a)
//! lambda_a = F_a h^2 is the pull the pair can bear; alpha = 1/k the compliance. Then v = (x - x_before)/h. Grains do not turn: friction acts
//! on their centres, so a pile is steeper than that of rolling balls.

use crate::chunk::{Lists, TOUCH};
use crate::grains::Six;
use crate::law::{V4, dot, each};
use crate::neighbours::{DEEPEST, PeriodicSizes};
use crate::wall::{CONTACTS, WallContact};
use crate::{Cohesion, GrainError, Grains, Report, Settings, Wall};
use std::f64::consts::PI;
use tippe_geometry::Vec3;

/// Settings of a frame in real time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Length of the frame [s].
    pub time: f64,
    /// Substeps.
    pub substeps: u32,
    /// Stiffness k of contacts [N/m].
    pub stiffness: f64,
}

fn v3(a: &V4) -> Vec3 {
    Vec3::new(a[0], a[1], a[2])
}

impl Grains {
    /// Advances all grains by one frame. Walls move at their velocity and spin; `impulse` grows by what they got,
    /// `force` is its mean over the frame. The report has no more than steps and walls that are too fast.
    ///
    /// Density, friction and cohesion are those of the settings; restitution is none. The step of the settings is not
    /// used, clumps are an error.
    pub fn advance_frame(
        &mut self,
        settings: &Settings,
        walls: &mut [Wall],
        frame: &Frame,
    ) -> Result<Report, GrainError> {
        settings.validate()?;
        let bad = |what, value, wanted| Err(GrainError::Setting { what, value, wanted });
        if !(frame.time > 0.0 && frame.time.is_finite() && frame.substeps > 0) {
            return bad("frame", frame.time, "a positive time with at least one substep");
        }
        if !(frame.stiffness > 0.0 && frame.stiffness.is_finite()) {
            return bad("stiffness of a frame", frame.stiffness, "positive");
        }
        if !self.clumps.is_empty() {
            return bad("number of clumps in real time", self.clumps.len() as f64, "0");
        }
        for (k, wall) in walls.iter().enumerate() {
            wall.validate(k, settings.materials.len())?;
        }
        // from inside the pool, like `advance`
        rayon::scope(|_| self.frame_inside(settings, walls, frame))
    }

    fn frame_inside(&mut self, settings: &Settings, walls: &mut [Wall], frame: &Frame) -> Result<Report, GrainError> {
        let h = frame.time / f64::from(frame.substeps);
        let inv_h = 1.0 / h;
        let compliance = 1.0 / (frame.stiffness * h * h);
        let sizes = PeriodicSizes::new(settings);
        let mut before = std::mem::take(&mut self.whereabouts.before);
        if self.travel == f64::MAX || !self.chunks.iter().all(|c| c.lists == Lists::Positions) {
            // a packing must not start overlapped; what overlaps later is pushed apart
            let deepest = if self.rebuilds == 0 { DEEPEST } else { f64::INFINITY };
            before.clear();
            self.list_positions(settings, walls, deepest, &mut before)?;
        }
        let smallest = self.position.iter().fold(f64::INFINITY, |least, p| least.min(p[3]));
        let hasty_wall = self.hasty_wall(walls, h, smallest);
        let impulses: Vec<[Vec3; 2]> = walls.iter().map(|w| [w.impulse, w.angular_impulse]).collect();
        for _ in 0..frame.substeps {
            before.clone_from(&self.position);
            for (x, m) in self.position.iter_mut().zip(&mut self.motion) {
                if m.linear[3] > 0.0 {
                    for c in 0..3 {
                        m.linear[c] += h * settings.gravity[c];
                        x[c] += h * m.linear[c];
                    }
                }
            }
            self.wall_travel += walls.iter().map(|w| w.top_speed(|| self.reach_from(w))).fold(0.0, f64::max) * h;
            walls.iter_mut().for_each(|w| w.move_by(h));
            self.list_worn(settings, walls, &mut before)?;
            self.correct_pairs(settings, &sizes, &before, compliance, h);
            self.correct_walls(settings, walls, &sizes, &before, compliance, h);
            for ((x, m), b) in self.position.iter().zip(&mut self.motion).zip(&before) {
                let way = sizes.shortest(each(|c| x[c] - b[c]));
                m.linear = [way[0] * inv_h, way[1] * inv_h, way[2] * inv_h, m.linear[3]];
            }
        }
        self.whereabouts.before = before;
        self.load.fill(Six::default());
        for (wall, [impulse, angular]) in walls.iter_mut().zip(impulses) {
            let (impulse, angular) = (wall.impulse - impulse, wall.angular_impulse - angular);
            (wall.force, wall.torque) = (impulse / frame.time, angular / frame.time);
            let work = -(impulse.dot(wall.velocity) + angular.dot(wall.spin));
            wall.work += work;
            self.books.put_in += work;
        }
        self.fresh = false;
        self.time += frame.time;
        self.steps += u64::from(frame.substeps);
        let lost = self.motion.iter().position(|m| !v3(&m.linear).is_finite());
        let report = Report { steps: u64::from(frame.substeps), hasty_wall, ..Report::default() };
        lost.map_or(Ok(report), |k| Err(GrainError::NotFinite { time: self.time, id: self.id[k], step: h }))
    }

    fn correct_pairs(&mut self, settings: &Settings, sizes: &PeriodicSizes, before: &[V4], compliance: f64, h: f64) {
        let classes = settings.materials.len();
        let Grains { position, motion, class, chunks, .. } = self;
        for chunk in chunks {
            let own = chunk.own as usize;
            for [first, mark] in &mut chunk.pairs[..own] {
                let (i, j) = (*first as usize, (*mark & !TOUCH) as usize);
                let (p, q) = (position[i], position[j]);
                let d = sizes.shortest(each(|c| q[c] - p[c]));
                let (dd, sum) = (dot(d, d), p[3] + q[3]);
                let touched = *mark & TOUCH != 0;
                *mark &= !TOUCH;
                // most of those listed are apart, and were
                if dd >= sum * sum && !touched || dd == 0.0 {
                    continue;
                }
                let law = &settings.pairs[usize::from(class[i]) * classes + usize::from(class[j])];
                let pull = pull_of(law.cohesion, p[3] * q[3] / sum) * h * h;
                if dd >= sum * sum && pull == 0.0 {
                    continue;
                }
                let dist = dd.sqrt();
                let (w1, w2) = (motion[i].linear[3], motion[j].linear[3]);
                let (b1, b2) = (&before[i], &before[j]);
                let moved = sizes.shortest(each(|c| (q[c] - b2[c]) - (p[c] - b1[c])));
                // the root and the quotient at once: pairs of one grain wait for each other
                let (n, moved) = (Vec3::from_array(d) * (dist * (1.0 / dd)), Vec3::from_array(moved));
                let Some(way) = correction(dist - sum, n, moved, w1 + w2, pull, law.friction, compliance) else {
                    continue;
                };
                *mark |= TOUCH;
                for c in 0..3 {
                    position[i][c] -= w1 * way[c];
                    position[j][c] += w2 * way[c];
                }
            }
        }
    }

    fn correct_walls(
        &mut self,
        settings: &Settings,
        walls: &mut [Wall],
        sizes: &PeriodicSizes,
        before: &[V4],
        compliance: f64,
        h: f64,
    ) {
        let normals: Vec<Vec3> = walls.iter().map(|w| w.X_ws.rotation * Vec3::Z).collect();
        for chunk in &mut self.chunks {
            for pair in &chunk.walls {
                let i = pair.grain as usize;
                let (p, inv_mass) = (self.position[i], self.motion[i].linear[3]);
                if inv_mass == 0.0 {
                    continue;
                }
                let wall = &mut walls[pair.wall as usize];
                let law = settings.pair(wall.class, self.class[i]);
                let mut found = [WallContact::default(); CONTACTS];
                let n = normals[pair.wall as usize];
                let touching = wall.contacts(n, v3(&p), p[3], 0.0, pair.triangles_of(&chunk.triangles), &mut found);
                let own_way = Vec3::from_array(sizes.shortest(each(|c| p[c] - before[i][c])));
                for touch in &found[..touching] {
                    let at = v3(&p) - touch.normal * p[3];
                    let moved = own_way - wall.velocity_at(at) * h;
                    let pull = pull_of(law.cohesion, p[3]) * h * h;
                    let way = correction(-touch.depth, touch.normal, moved, inv_mass, pull, law.friction, compliance);
                    let Some(way) = way else { continue };
                    for c in 0..3 {
                        self.position[i][c] += inv_mass * way[c];
                    }
                    wall.impulse -= way / h;
                    wall.angular_impulse -= (at - wall.X_ws.position).cross(way / h);
                }
            }
        }
    }
}

/// Force a pair can bear before it parts [N].
fn pull_of(cohesion: Cohesion, radius: f64) -> f64 {
    match cohesion {
        Cohesion::None => 0.0,
        Cohesion::Jkr { work } => 1.5 * PI * work * radius,
        Cohesion::Linear { pressure } => pressure * PI * radius * radius * 0.01,
    }
}

/// Correction of one contact, times mass [kg m]: along n, and against the slip of the substep. None when it parts.
fn correction(
    gap: f64,
    n: Vec3,
    moved: Vec3,
    inv_mass: f64,
    pull: f64,
    friction: f64,
    compliance: f64,
) -> Option<Vec3> {
    let lambda = -gap * (1.0 / (inv_mass + compliance));
    if lambda < -pull {
        return None;
    }
    let slip = moved - n * n.dot(moved);
    let (far, most) = (slip.length_squared(), friction * (lambda + pull) * inv_mass);
    let share = if far <= most * most { 1.0 } else { most / far.sqrt() };
    let back = share * (1.0 / inv_mass);
    Some(n * lambda - slip * back)
}
