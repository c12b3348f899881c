//! Soil that becomes grains, and grains that become soil again (docs/theory/soil.md, eqs. 15 and 16).
//!
//! What a tool cuts of a soil that becomes grains is carried by the tool until there is room for a grain where it was cut; a grain
//! stands for the room it takes in a heap,  m = rho_s 4/3 pi r^3/(0.62 (1 + e_l)).  A grain that has rested on the ground for a while,
//! away from everything that moves, is laid on the four columns around it. Mass of ground, grains and tools together stays.

use crate::cause::Cause;
use crate::grains::GrainRecord;
use crate::kinematics::rotation_vector;
use crate::model::{Drive, Model, ModelGrains, ModelSoil, Spoil};
use crate::soil::SoilRecord;
use tippe_geometry::{Mat3, Pose, Vec3};
use tippe_granular::{Grain, GrainError, Settings, Surface, Wall};
use tippe_soil::bearing::Motion;
use tippe_soil::{Ground, Parcel};

/// Grains slower than this [m/s] for so long [s] are at rest.
const SLOW: f64 = 0.1;
/// See `SLOW`.
const REST: f64 = 0.5;
/// A gap to the ground of at most this share of its radius: the ground carries a grain [-].
const CARRIED: f64 = 0.1;
/// Layers, a cell high, that a tool carries at most over its first cell; more is pushed ahead as soil.
const CARRIES: f64 = 1.0;

/// Ground and grains of a model while they exchange mass.
pub(crate) struct Exchange<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its soil.
    pub soil: &'a ModelSoil,
    /// Its grains.
    pub grains: &'a ModelGrains,
    /// Settings of the grains.
    pub settings: &'a Settings,
    /// What grains touch, the ground last.
    pub walls: &'a [Wall],
    /// Length of the interval [s].
    pub interval: f64,
}

impl Exchange<'_> {
    /// After an interval in which bodies went along their paths.
    pub fn make(&self, soil: &mut SoilRecord, grains: &mut GrainRecord, path: &[[Pose; 2]]) -> Result<(), GrainError> {
        if self.soil.spoil.iter().all(Option::is_none) {
            return Ok(());
        }
        self.merge(soil, grains);
        for k in 0..self.soil.tools.len() {
            self.loosen(k, soil, grains, path)?;
        }
        self.weigh(soil, grains, path);
        Ok(())
    }

    /// The soil that grains of a class stand for.
    fn soil_of(&self, class: u8) -> Option<(usize, Spoil)> {
        let mut kinds = self.soil.spoil.iter().enumerate();
        kinds.find_map(|(kind, own)| own.filter(|own| own.class == class).map(|own| (kind, own)))
    }

    /// Motion of a body over the interval, where it is now.
    fn motion(&self, path: &[[Pose; 2]], body: u32) -> Motion {
        let [from, to] = path[body as usize];
        let turn = Mat3::from_quat(to.rotation * from.rotation.conjugate());
        let v = (to.position - from.position) / self.interval;
        Motion { X_wc: to, v, w: rotation_vector(&turn) / self.interval }
    }

    /// Kinetic and potential energy of a grain of this mass [J].
    fn energy(&self, grain: &Grain, mass: f64) -> f64 {
        let turning = 0.4 * grain.radius * grain.radius * grain.spin.length_squared();
        mass * (0.5 * (grain.velocity.length_squared() + turning) - self.settings.gravity.dot(grain.position))
    }

    /// What a tool carries becomes grains where there is room.
    fn loosen(
        &self,
        k: usize,
        soil: &mut SoilRecord,
        grains: &mut GrainRecord,
        path: &[[Pose; 2]],
    ) -> Result<(), GrainError> {
        let tool = &self.soil.tools[k];
        let Some(placed) = tool.placed(&self.motion(path, tool.body)) else { return Ok(()) };
        for (kind, own) in self.soil.spoil.iter().enumerate() {
            let Some(own) = own else { continue };
            if soil.tools[k].carry.0.get(kind).is_none_or(|carried| *carried < own.mass) {
                continue;
            }
            let r = own.radius;
            let places = tool.places(&soil.ground, &placed, r);
            let low = places.iter().copied().reduce(Vec3::min).unwrap_or_default() - 4.0 * r;
            let high = places.iter().copied().reduce(Vec3::max).unwrap_or_default() + 4.0 * r;
            let all = (0..grains.grains.len()).map(|place| grains.grains.grain(place));
            let mut near: Vec<Grain> =
                all.filter(|g| g.position.cmpge(low).all() && g.position.cmple(high).all()).collect();
            let water = 1.0 + soil.ground.kinds[kind].water;
            for p in places {
                if soil.tools[k].carry.0[kind] < own.mass {
                    break;
                }
                let above = |p: Vec3| soil.ground.height_at([p.x, p.y]).is_none_or(|z| p.z - z > 0.5 * r);
                let free = above(p)
                    && near.iter().all(|g| (g.position - p).length() > g.radius + r)
                    && self.walls.iter().all(|wall| wall.depth(p, r, 0.0) <= 0.0);
                if !free {
                    continue;
                }
                let grain = Grain { class: own.class, ..Grain::at(p, r) };
                grains.grains.insert(&grain, self.settings)?;
                near.push(grain);
                soil.tools[k].carry.0[kind] -= own.mass;
                soil.loose += own.mass;
                let energy = self.energy(&grain, own.mass * water);
                grains.given(energy);
                soil.book(Cause::Cutting, -energy);
            }
        }
        let most = CARRIES * tool.width() * soil.ground.area();
        let volume = soil.tools[k].carry.volume(&soil.ground.kinds);
        if volume > most {
            let mut parcel = soil.tools[k].carry.take(1.0 - most / volume);
            let before = soil.ground.raised;
            tool.lay_along(&mut soil.ground, &mut parcel, &placed);
            soil.book(Cause::Cutting, -self.soil.gravity * (soil.ground.raised - before));
        }
        Ok(())
    }

    /// Grains at rest on the ground become soil, one for each cell at a time.
    fn merge(&self, soil: &mut SoilRecord, grains: &mut GrainRecord) {
        let busy = self.busy();
        let (mut resting, mut gone, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..grains.grains.len() {
            let grain = grains.grains.grain(place);
            let Some((kind, own)) = self.soil_of(grain.class) else { continue };
            let p = grain.position;
            let near =
                |[low, high]: &[Vec3; 2]| p.cmpge(*low - grain.radius).all() && p.cmple(*high + grain.radius).all();
            let gap =
                -self.walls.last().map_or(f64::NEG_INFINITY, |ground| ground.depth(p, grain.radius, f64::NEG_INFINITY));
            let Some(cell) = soil.ground.cell_at([p.x, p.y]) else { continue };
            if grain.velocity.length() > SLOW || gap > CARRIED * grain.radius || busy.iter().any(near) {
                continue;
            }
            let id = grains.grains.ids()[place];
            let known = soil.resting.binary_search_by_key(&id, |(id, _)| *id);
            let rested = known.map_or(0.0, |k| soil.resting[k].1) + self.interval;
            if rested < REST || cells.contains(&cell) {
                resting.push((id, rested));
                continue;
            }
            cells.push(cell);
            gone.push(place);
            let energy = self.energy(&grain, own.mass * (1.0 + soil.ground.kinds[kind].water));
            let before = soil.ground.raised;
            lay_around(&mut soil.ground, [p.x, p.y], kind as u8, own.mass);
            soil.loose -= own.mass;
            grains.given(-energy);
            soil.book(Cause::SlidingSoil, energy - self.soil.gravity * (soil.ground.raised - before));
        }
        resting.sort_unstable_by_key(|(id, _)| *id);
        soil.resting = resting;
        grains.grains.remove(&gone, self.settings);
    }

    /// Boxes around all that moves.
    fn busy(&self) -> Vec<[Vec3; 2]> {
        let own = self.grains.walls.iter().zip(self.walls);
        let moving = own.filter(|(own, _)| self.model.bodies[own.body as usize].drive != Drive::Fixed);
        let boxed = moving.filter_map(|(_, wall)| match &wall.surface {
            Surface::Shape(shape) => Some(shape.aabb(&wall.X_ws)),
            Surface::Mesh(mesh) => Some(mesh.aabb(&wall.X_ws)),
            Surface::Plane | Surface::Ground(_) => None,
        });
        boxed.map(|aabb| [aabb.min, aabb.max]).collect()
    }

    /// Grains in buckets, and of what soil became, as many as there are.
    fn weigh(&self, soil: &mut SoilRecord, grains: &GrainRecord, path: &[[Pose; 2]]) {
        let placed: Vec<_> = self.soil.tools.iter().map(|tool| tool.placed(&self.motion(path, tool.body))).collect();
        soil.tools.iter_mut().for_each(|record| record.grains = 0.0);
        let mut counts = vec![0u64; self.soil.spoil.len()];
        for place in 0..grains.grains.len() {
            let grain = grains.grains.grain(place);
            let Some((kind, own)) = self.soil_of(grain.class) else { continue };
            counts[kind] += 1;
            let wet = own.mass * (1.0 + soil.ground.kinds[kind].water);
            for ((tool, placed), record) in self.soil.tools.iter().zip(&placed).zip(&mut soil.tools) {
                if placed.as_ref().is_some_and(|placed| tool.holds(placed, grain.position)) {
                    record.grains += wet;
                }
            }
        }
        // what left the world of the grains is lost
        let kinds = self.soil.spoil.iter().zip(&counts);
        soil.loose = kinds.map(|(own, count)| own.map_or(0.0, |own| own.mass * *count as f64)).sum();
    }
}

/// Lays mass of a soil [kg] on the four columns around a place, so that its middle stays there.
fn lay_around(ground: &mut Ground, p: [f64; 2], kind: u8, mass: f64) {
    let at = [0, 1].map(|k| ((p[k] - ground.low[k]) / ground.cell - 0.5).clamp(0.0, ground.counts[k] as f64 - 1.0));
    let first = [0, 1].map(|k| (at[k].floor() as usize).min(ground.counts[k] - 2));
    let share = [0, 1].map(|k| at[k] - first[k] as f64);
    let mut left = mass;
    for corner in 0..4 {
        let step = [corner % 2, corner / 2];
        let weight: f64 = (0..2).map(|k| if step[k] == 1 { share[k] } else { 1.0 - share[k] }).product();
        let part = if corner == 3 { left } else { mass * weight };
        left -= part;
        if part > 0.0 {
            let mut parcel = Parcel::default();
            parcel.add(kind, part);
            ground.lay([0, 1].map(|k| first[k] + step[k]), &parcel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_soil::{SoilKind, Start, StartLayer};

    /// 0.012 m3 of sand that lies at e = 0.6 and heaps at e = 0.95 are 19.875 kg, 80 balls of 30 mm and 0.0432 kg more
    /// (docs/theory/soil.md, eq. 15).
    #[test]
    fn a_ball_stands_for_the_room_it_takes() {
        let sand = SoilKind::named("sand").unwrap_or_else(|| unreachable!("it is built in"));
        let kind = SoilKind { void_ratios: [0.45, 0.95], grain_density: 2650.0, ..sand };
        let mass = kind.grain_density * 0.012 / 1.6;
        let ball = kind.mass_of_ball(0.03);
        assert!((mass - 19.875).abs() < 1e-12);
        assert!((ball - 0.247_897_39).abs() < 1e-8, "{ball}");
        let count = (mass / ball).floor();
        assert_eq!(count, 80.0);
        assert!((mass - count * ball - 0.043_209_155).abs() < 1e-7);
    }

    /// What is laid around a place has its middle there, and all of its mass.
    #[test]
    fn what_is_laid_keeps_its_middle() {
        let kind = SoilKind::named("sand").unwrap_or_else(|| unreachable!("it is built in"));
        let layers = vec![StartLayer { kind: 0, thickness: 0.5, void_ratio: kind.loose(), yield_pressure: 1e3 }];
        let start = Start { level: 0.0, layers, features: Vec::new(), relief: None };
        let mut ground = Ground::new(vec![kind], start, 0.1, [0.0; 2], [20, 20]);
        let before = ground.mass();
        let p = [0.537, 1.021];
        lay_around(&mut ground, p, 0, 2.5);
        assert!((ground.mass() - before - 2.5).abs() < 1e-10 * before);
        let base = before / 400.0;
        let mut middle = [0.0; 2];
        for j in 0..20 {
            for i in 0..20 {
                let more = ground.column([i, j]).mass() - base;
                let at = ground.centre([i, j]);
                (0..2).for_each(|k| middle[k] += more * at[k] / 2.5);
            }
        }
        assert!((0..2).all(|k| (middle[k] - p[k]).abs() < 1e-9), "{middle:?}");
    }
}
