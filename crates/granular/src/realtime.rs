//! Grains in real time: positions are corrected instead of forces integrated (seed 004, P2).
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
use crate::neighbours::{DEEPEST, PeriodicSizes, nearest_image};
use crate::wall::{CONTACTS, WallContact};
use crate::{Cohesion, GrainError, Grains, Settings, Wall};
use std::f64::consts::PI;
use tippe_geometry::Vec3;

/// Substeps for which lists are meant to last.
const SUBSTEPS_PER_LIST: f64 = 6.0;
/// Least and largest skin, in radii, but for what one substep needs.
const SKIN_RADII: (f64, f64) = (0.25, 0.8);

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
    /// `force` is its mean over the frame.
    ///
    /// Density, friction and cohesion are those of the settings; restitution is none. The step of the settings is not
    /// used, clumps are an error.
    pub fn advance_frame(&mut self, settings: &Settings, walls: &mut [Wall], frame: &Frame) -> Result<(), GrainError> {
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

    fn frame_inside(&mut self, settings: &Settings, walls: &mut [Wall], frame: &Frame) -> Result<(), GrainError> {
        let h = frame.time / f64::from(frame.substeps);
        let inv_h = 1.0 / h;
        let compliance = 1.0 / (frame.stiffness * h * h);
        let r_max = self.position.iter().map(|p| p[3]).fold(0.0, f64::max);
        let fall = settings.gravity.length() * h;
        let mut speed = self.motion.iter().map(|m| v3(&m.linear).length_squared()).fold(0.0, f64::max).sqrt();
        if !self.chunks.iter().all(|c| c.lists == Lists::Positions) {
            self.travel = f64::MAX;
        }
        let impulses: Vec<[Vec3; 2]> = walls.iter().map(|w| [w.impulse, w.angular_impulse]).collect();
        for _ in 0..frame.substeps {
            let walls_speed = walls.iter().map(|w| w.top_speed(|| self.reach_from(w))).fold(0.0, f64::max);
            let (travel, wall_travel) = ((speed + fall) * h, walls_speed * h);
            let (far, far_walls) = (self.travel + travel, self.wall_travel + wall_travel);
            if 2.0 * far >= self.skin || far + far_walls >= self.skin {
                let most = travel.max(0.5 * (travel + wall_travel));
                let skin = (2.0 * SUBSTEPS_PER_LIST * most).clamp(SKIN_RADII.0 * r_max, SKIN_RADII.1 * r_max);
                let listed = Settings { skin: Some(skin.max(2.1 * most)), step: h, ..settings.clone() };
                // a packing must not start overlapped; what overlaps later is pushed apart
                let deepest = if self.rebuilds == 0 { DEEPEST } else { f64::INFINITY };
                // only pairs that stick must know that they touched
                if settings.pairs.iter().all(|law| law.cohesion == Cohesion::None) {
                    self.chunks.clear();
                }
                self.rebuild(&listed, walls, Lists::Positions, deepest)?;
                self.listed_at.clone_from(&self.position);
            }
            self.wall_travel += wall_travel;
            let mut before = std::mem::take(&mut self.load);
            for ((x, m), b) in self.position.iter_mut().zip(&mut self.motion).zip(&mut before) {
                b.linear = *x;
                if m.linear[3] > 0.0 {
                    for c in 0..3 {
                        m.linear[c] += h * settings.gravity[c];
                        x[c] += h * m.linear[c];
                    }
                }
            }
            walls.iter_mut().for_each(|w| w.move_by(h));
            self.correct_pairs(settings, &before, compliance, h);
            self.correct_walls(settings, walls, &before, compliance, h);
            let (mut top, mut way) = (0.0f64, 0.0f64);
            for (((x, m), b), at) in self.position.iter().zip(&mut self.motion).zip(&before).zip(&self.listed_at) {
                let v = each(|c| (x[c] - b.linear[c]) * inv_h);
                m.linear = [v[0], v[1], v[2], m.linear[3]];
                let gone = each(|c| x[c] - at[c]);
                top = top.max(dot(v, v));
                way = way.max(dot(gone, gone));
            }
            (speed, self.travel) = (top.sqrt(), way.sqrt());
            self.load = before;
        }
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
        lost.map_or(Ok(()), |k| Err(GrainError::NotFinite { time: self.time, id: self.id[k], step: h }))
    }

    fn correct_pairs(&mut self, settings: &Settings, before: &[Six], compliance: f64, h: f64) {
        let sizes = PeriodicSizes::new(settings);
        let classes = settings.materials.len();
        let Grains { position, motion, class, chunks, .. } = self;
        for chunk in chunks {
            let own = chunk.own as usize;
            for [first, mark] in &mut chunk.pairs[..own] {
                let (i, j) = (*first as usize, (*mark & !TOUCH) as usize);
                let (p, q) = (position[i], position[j]);
                let image = |d: [f64; 3]| {
                    if sizes.any { each(|c| nearest_image(d[c], sizes.size[c], sizes.inv[c])) } else { d }
                };
                let d = image(each(|c| q[c] - p[c]));
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
                let (b1, b2) = (&before[i].linear, &before[j].linear);
                let moved = image(each(|c| (q[c] - b2[c]) - (p[c] - b1[c])));
                let (n, moved) = (Vec3::from_array(d) / dist, Vec3::from_array(moved));
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

    fn correct_walls(&mut self, settings: &Settings, walls: &mut [Wall], before: &[Six], compliance: f64, h: f64) {
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
                for touch in &found[..touching] {
                    let at = v3(&p) - touch.normal * p[3];
                    let moved = v3(&p) - v3(&before[i].linear) - wall.velocity_at(at) * h;
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
    let lambda = -gap / (inv_mass + compliance);
    if lambda < -pull {
        return None;
    }
    let slip = moved - n * n.dot(moved);
    let size = slip.length();
    let most = friction * (lambda + pull);
    let back = if size > 0.0 { (most / size).min(1.0 / inv_mass) } else { 0.0 };
    Some(n * lambda - slip * back)
}
