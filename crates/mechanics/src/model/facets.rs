//! Outlines that are polygons where a curve was meant: their corners decide what slides or rolls along them.
//!
//! Past a corner of angle k after a side of length l, at the speed v, what slides along must gain v k across in the time
//! l/v: an acceleration v^2 k/l, which its load gives or not.

use super::Model;
use super::compile::{Compiler, SEGMENTS};
use std::f64::consts::PI;
use tippe_geometry::{ContactKind, Shape, Solid, Vec2, contact_kind};
use tippe_scene::{Scene, ShapeKind, SolidForm};

/// A polygon of fewer corners was not meant as a curve [-].
const FEWEST: usize = 24;
/// Nor are corners sharper than this [rad].
const SHARP: f64 = PI / 6.0;
/// What a load gives where there is no gravity to tell [m/s^2].
const STANDARD: f64 = 9.81;

/// The corner that asks most of a load.
struct Corner {
    /// Angle [rad].
    angle: f64,
    /// Length of the side before it [m].
    side: f64,
    /// Distance from the axis [m].
    arm: f64,
}

impl Corner {
    /// v^2 k/l at a rate of 1 rad/s [m/s^2].
    fn asks(&self) -> f64 {
        self.arm * self.arm * self.angle / self.side
    }
}

impl Compiler<'_> {
    /// Warns of profiles that touch something as polygons: their curve is for balls, capsules and half-spaces.
    pub(super) fn warn_of_profiles(&mut self, model: &Model) {
        for (k, own) in model.colliders.iter().enumerate() {
            let Shape::Profile(profile) = &own.shape else { continue };
            let other = model.colliders.iter().enumerate().find(|(other, their)| {
                model.contact_between(k, *other).is_some()
                    && contact_kind(&own.shape, &their.shape) == ContactKind::Surface
            });
            let Some((_, other)) = other else { continue };
            let [name, other_name] = [own.body, other.body].map(|body| &model.bodies[body as usize].name);
            let message = format!(
                "body \"{name}\": to the {} of \"{other_name}\" its profile is a polygon of {} corners, which decide what slides or rolls along it",
                other.shape.name(),
                profile.curve().outline(SEGMENTS).len(),
            );
            let help = "balls, capsules and half-spaces touch the curve itself: give a roller the shape of a capsule";
            let place = self.scene.bodies[own.body as usize].places.entity;
            self.warnings.push(self.scene.error(place, message, help).to_string());
        }
    }

    /// Warns of bodies that turn so fast at the start that what slides along the corners of their outline lifts off.
    pub(super) fn warn_of_facets(&mut self, model: &Model) {
        let load = if model.gravity.length() > 0.0 { model.gravity.length() } else { STANDARD };
        for (body, start) in self.scene.bodies.iter().zip(&model.start) {
            let rate = start.angular_velocity.length();
            let shapes = body.shapes.iter().filter(|shape| body.collide && shape.collide);
            for shape in shapes {
                let ShapeKind::Mesh { solid: Some(name), .. } = &shape.kind else { continue };
                let Some((Corner { angle, side, arm }, corners)) = worst_of(self.scene, name) else { continue };
                let (speed, most) = (rate * arm, (load * side / angle).sqrt());
                if speed <= most {
                    continue;
                }
                let message = format!(
                    "body \"{}\": its outline is a polygon of {} corners, which decide what slides or rolls along it: under {load:.2} m/s^2 that lifts off above {most:.4} m/s (a corner of {:.3} deg after {:.3e} m), and the outline moves at {speed:.4} m/s there",
                    body.name,
                    corners,
                    angle.to_degrees(),
                    side
                );
                let help = "smooth curves are followed by a joint of kind = \"cam\" with a `curve`, and by balls and capsules on a shape of kind = \"profile\"";
                self.warnings.push(self.scene.error(shape.places.entity, message, help).to_string());
                break;
            }
        }
    }
}

/// The worst corner of the outlines that a solid is made of, and the number of corners of its outline.
fn worst_of(scene: &Scene, name: &str) -> Option<(Corner, usize)> {
    match &scene.solids.iter().find(|solid| solid.name == name)?.form {
        SolidForm::Simple(Solid::Prism { outline, .. }) => Some((worst(outline)?, outline.len())),
        SolidForm::Simple(_) => None,
        SolidForm::Combined { of, .. } => {
            let all = of.iter().filter_map(|name| worst_of(scene, name));
            all.max_by(|(a, _), (b, _)| a.asks().total_cmp(&b.asks()))
        }
    }
}

/// The corner at which v^2 k/l is largest while the outline turns about the origin; none of a polygon with few corners.
fn worst(outline: &[[f64; 2]]) -> Option<Corner> {
    let n = outline.len();
    let at = |k: usize| Vec2::from_array(outline[k % n]);
    let area: f64 = (0..n).map(|k| at(k).perp_dot(at(k + 1))).sum();
    let corner = |k: usize| {
        let [before, after] = [at(k + n) - at(k + n - 1), at(k + 1) - at(k)];
        let angle = area.signum() * libm::atan2(before.perp_dot(after), before.dot(after));
        Corner { angle, side: before.length(), arm: at(k).length() }
    };
    let corners = (0..n).map(corner).filter(|corner| corner.angle > 0.0 && corner.angle < SHARP && corner.side > 0.0);
    let worst = corners.max_by(|a, b| a.asks().total_cmp(&b.asks()));
    worst.filter(|_| n >= FEWEST)
}
