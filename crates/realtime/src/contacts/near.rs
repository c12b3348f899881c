//! Which elements are near each other: boxes grown by what their bodies can travel in the step overlap.

use super::super::Clock;
use super::{Found, Touch};
use std::sync::Arc;
use tippe_geometry::{Aabb, Broad, BroadScratch, Pose, Shape, Vec3, pairs_into};
use tippe_mechanics::contact::curve::Curve;
use tippe_mechanics::contact::friction::FrictionLaw;
use tippe_mechanics::contact::normal::{CustomLaw, LawInput, NormalLaw};
use tippe_mechanics::contact::surfaces::SurfacePair;
use tippe_mechanics::model::{Drive, Model};
use tippe_mechanics::pair::ContactConstants;

/// Elements from which on a tree of boxes is built; with fewer all pairs are tried, which is faster.
const ELEMENTS_FOR_TREE: usize = 24;
/// Margin beyond the travel of its body within which contacts of an element are looked for, as a share of the size of
/// the body [-].
const MARGIN: f64 = 1e-3;
/// A box is fattened by this share of the size of its body [-] and by this many of its margins [-]: pairs are looked
/// for anew when a box leaves its fat box. With fatter ones that is rarer, and more pairs are looked at in every step.
const FATTENING: [f64; 2] = [0.01, 2.0];
/// Largest radius that counts where rotation moves a contact [m]: that of ground without end is infinite.
pub const RADIUS_MAX: f64 = 1e3;

/// A pair of elements whose fat boxes overlap.
#[derive(Clone, Debug)]
pub struct Near {
    /// The two elements.
    pub pair: (u32, u32),
    /// Constants of their contact.
    pub constants: ContactConstants,
    /// Their surfaces, where one of them is a mesh.
    pub surfaces: Option<Arc<SurfacePair>>,
    /// Contact points at most.
    pub points: usize,
    /// Largest normal force [N].
    pub normal_force_max: f64,
    /// Largest friction force [N].
    pub force_max: f64,
    /// A law of the scene, which may have a friction of its own.
    pub law: Option<Arc<dyn CustomLaw>>,
    /// Friction law.
    pub friction_law: FrictionLaw,
    /// Limit of friction instead of mu N [N]; zero: mu N.
    pub friction_force: f64,
    /// mu over the slip speed, and restitution over the closing speed, where they are not the same at all.
    pub friction_curve: Curve,
    /// See `friction_curve`.
    pub restitution_curve: Curve,
    /// Largest pull [N], and on an area [Pa].
    pub adhesion: [f64; 2],
    /// Step [s].
    pub step: f64,
}

impl Near {
    /// mu, kinetic and static [-], at this depth [m] and slip speed [m/s].
    pub fn mu(&self, depth: f64, slip_speed: f64) -> [f64; 2] {
        let constants = &self.constants;
        let input = LawInput {
            depth,
            radius: constants.radius,
            modulus: constants.modulus,
            friction: constants.mu,
            mass: constants.mass,
            slip_speed,
            ..LawInput::default()
        };
        match self.law.as_ref().and_then(|law| law.friction(&input)) {
            Some(mu) => [mu.max(0.0); 2],
            None => self.friction_curve.at(slip_speed).map_or([constants.mu, constants.mu_static], |mu| [mu; 2]),
        }
    }

    /// True if mu is not the same at all speeds.
    pub fn varies(&self) -> bool {
        self.law.is_some() || !self.friction_curve.is_empty()
    }

    /// True if the two pull at each other before they part.
    pub fn adheres(&self) -> bool {
        self.adhesion != [0.0; 2]
    }

    /// A contact point pulls with its share of the adhesion of the pair as long as the spring of its law is not stretched farther than
    /// by that.
    pub fn adhere(&self, touch: &mut Touch, share: f64) {
        if !self.adheres() {
            return;
        }
        // Hertz: a^2 = R depth
        let depth = || libm::pow(touch.memory.normal.max(0.0) / self.step / touch.hardness, 1.0 / touch.exponent);
        let round = || std::f64::consts::PI * self.constants.radius * depth() * share;
        let area = if touch.area > 0.0 { touch.area } else { round() };
        let pull = self.adhesion[0] * share + self.adhesion[1] * area;
        touch.adhesion = if touch.gap * touch.stiffness <= pull { pull } else { 0.0 };
    }
}

/// Pairs near each other.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Pairs whose fat boxes overlap, ascending, and the list before.
    pub near: Vec<Near>,
    last: Vec<Near>,
    /// Those of them whose boxes overlap in this step and that may touch.
    pub(super) now: Vec<u32>,
    boxes: Vec<Aabb>,
    /// What boxes may not leave as long as the list stands.
    fat_boxes: Vec<Aabb>,
    pub(super) margins: Vec<f64>,
    /// Poses of the elements.
    pub(super) X_ws: Vec<Pose>,
    overlapping: Vec<(u32, u32)>,
    scratch: BroadScratch,
    /// What was found between the pairs of `now`.
    pub(super) found: Vec<Found>,
}

impl Pairs {
    /// How far beyond each element contacts are looked for [m].
    pub fn margins(&self) -> &[f64] {
        &self.margins
    }

    /// Gap [m], normal and middle of two elements, which may be far apart; of meshes whose boxes are apart that of
    /// their hulls.
    pub fn between(&self, model: &Model, pair: (u32, u32)) -> (f64, Vec3, Vec3) {
        let X_ws = [pair.0, pair.1].map(|e| self.X_ws[e as usize]);
        let near = self.near.binary_search_by_key(&pair, |near| near.pair).ok();
        if let Some(surfaces) = near.and_then(|k| self.near[k].surfaces.as_ref()) {
            let (gap, normal, p1, p2) = surfaces.measure(&X_ws, true);
            return (gap, normal, 0.5 * (p1 + p2));
        }
        let s = model.separation(pair, &X_ws);
        (s.gap, s.normal, 0.5 * (s.point1 + s.point2))
    }

    /// Energy that the foundations between surfaces store where they are [J].
    pub fn stored(&self) -> f64 {
        let of = |&k: &u32| {
            let near = &self.near[k as usize];
            let (surfaces, layer) = (near.surfaces.as_ref()?, near.constants.layer?);
            let X_ws = [near.pair.0, near.pair.1].map(|e| self.X_ws[e as usize]);
            Some(near.constants.modulus / layer * surfaces.energy(&X_ws))
        };
        self.now.iter().filter_map(of).sum()
    }
}

impl Clock {
    /// Pairs of elements whose boxes, grown by what bodies can travel in the step, overlap.
    pub(super) fn find_near_pairs(&mut self, now: f64) {
        if !self.place_boxes(now) {
            self.find_fat_pairs();
        }
        let Pairs { near, now, boxes, .. } = &mut self.detected.pairs;
        now.clear();
        for (k, Near { pair: (e1, e2), .. }) in near.iter().enumerate() {
            let [a, b] = [*e1, *e2].map(|e| e as usize);
            let bodies = [a, b].map(|e| self.model.colliders[e].body);
            if boxes[a].overlaps(&boxes[b]) && self.state.structure.may_touch(bodies[0], bodies[1]) {
                now.push(k as u32);
            }
        }
    }

    /// Boxes, margins and poses of the elements at the beginning of the step, of which impacts have used the part until
    /// `now`. False if a box has left its fat box.
    fn place_boxes(&mut self, now: f64) -> bool {
        let (model, h, pairs) = (&self.model.clone(), self.h, &mut self.detected.pairs);
        let asked = self.settings.search_margin;
        pairs.boxes.clear();
        pairs.margins.clear();
        pairs.X_ws.clear();
        let mut stays = true;
        for e in &model.colliders {
            let (body, path) = (&model.bodies[e.body as usize], &self.paths[e.body as usize]);
            let kin = &path.kin;
            let radius = body.radius.min(RADIUS_MAX);
            let g = if body.drive == Drive::Free { model.gravity_at(kin.p).length() } else { 0.0 };
            let mut reach = (kin.v.length() + g * h + kin.w.length() * radius) * h;
            if now > 0.0 {
                // boxes are those of the beginning of the step
                let past = path.displacement(now);
                reach += past.linear.length() + past.angular.length() * radius;
            }
            let moving = body.drive != Drive::Fixed;
            let margin = if moving { reach + asked.unwrap_or(MARGIN * body.size) } else { 0.0 };
            let X_wc = Pose::new(path.q, kin.p);
            let bounds = e.aabb(&X_wc).grown(margin);
            stays &= pairs.fat_boxes.get(pairs.boxes.len()).is_some_and(|fat| fat.contains(&bounds));
            pairs.boxes.push(bounds);
            pairs.margins.push(margin);
            pairs.X_ws.push(X_wc.then(&e.X_cs));
        }
        stays
    }

    /// Pairs whose boxes may overlap before one of them leaves its fat box.
    fn find_fat_pairs(&mut self) {
        let (model, pairs) = (&self.model.clone(), &mut self.detected.pairs);
        pairs.fat_boxes.clear();
        for ((e, bounds), margin) in model.colliders.iter().zip(&pairs.boxes).zip(&pairs.margins) {
            let body = &model.bodies[e.body as usize];
            let [of_size, of_margin] = FATTENING;
            let spare = if body.drive == Drive::Fixed { 0.0 } else { of_size * body.size + of_margin * margin };
            pairs.fat_boxes.push(bounds.grown(spare));
        }
        let method = if pairs.fat_boxes.len() < ELEMENTS_FOR_TREE { Broad::All } else { Broad::Bvh };
        pairs_into(&pairs.fat_boxes, method, &mut pairs.scratch, &mut pairs.overlapping);
        std::mem::swap(&mut pairs.near, &mut pairs.last);
        pairs.near.clear();
        let mut old = pairs.last.drain(..).peekable();
        for &(e1, e2) in &pairs.overlapping {
            while old.next_if(|n| n.pair < (e1, e2)).is_some() {}
            if let Some(near) = old.next_if(|n| n.pair == (e1, e2)) {
                pairs.near.push(near);
            } else if let (Some((constants, surfaces)), Some(own)) =
                (ContactConstants::of(model, (e1, e2)), model.contact_between(e1 as usize, e2 as usize))
            {
                let is_mesh = |e: u32| matches!(model.colliders[e as usize].shape, Shape::Mesh(_));
                let surfaces = surfaces.filter(|_| is_mesh(e1) || is_mesh(e2)).map(Arc::new);
                pairs.near.push(Near {
                    pair: (e1, e2),
                    constants,
                    surfaces,
                    points: own.points.unwrap_or(self.settings.points),
                    normal_force_max: own.normal_force_max,
                    force_max: own.force_max,
                    law: match &own.law {
                        NormalLaw::Custom(law) => Some(law.clone()),
                        _ => None,
                    },
                    friction_law: own.friction_law,
                    friction_force: own.friction_force,
                    friction_curve: own.friction_curve,
                    restitution_curve: own.restitution_curve,
                    adhesion: own.adhesion,
                    step: self.h,
                });
            }
        }
    }
}
