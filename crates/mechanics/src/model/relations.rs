//! Constraints of a scene: sums of coordinates, as rows of a mechanism or, where they give, as force elements.

use super::Model;
use super::compile::Compiler;
use super::mechanisms::coordinate_of;
use crate::element::{self, At, Element};
use crate::joint::coupling::{Coupling, Holds, Term};
use crate::mechanism::{Coupled, CoupledBy};
use tippe_scene::{Constraint, ConstraintHolds};

impl Compiler<'_> {
    /// Constraints of the scene that do not give, and what is wrong with any.
    pub(super) fn constrain(&mut self, model: &mut Model) {
        for (index, spec) in self.scene.constraints.iter().enumerate() {
            let Some((number, coupling)) = self.relation(model, spec) else { return };
            if spec.compliance == 0.0 {
                let (name, source) = (spec.name.clone(), CoupledBy::Constraint(index as u32));
                model.mechanisms[number as usize].couplings.push(Coupled { name, source, coupling });
            }
        }
    }

    /// Constraints of the scene that give: force elements.
    pub(super) fn relations(&mut self, model: &Model) -> Vec<(String, Element)> {
        let mut found = Vec::new();
        for spec in self.scene.constraints.iter().filter(|spec| spec.compliance != 0.0) {
            let Some((mechanism, coupling)) = self.relation(model, spec) else { continue };
            let Coupling { terms, length, limit, holds } = coupling;
            let relation = element::Relation {
                at: terms.iter().map(|term| At { mechanism, coordinate: term.coordinate as u32 }).collect(),
                factors: terms.iter().map(|term| term.factor).collect(),
                limit,
                sense: holds.sense(),
                length,
                compliance: spec.compliance,
                damping: spec.damping,
                force_max: spec.force_max.unwrap_or(f64::INFINITY),
            };
            found.push((spec.name.clone(), Element::Relation(relation)));
        }
        found
    }

    /// The mechanism of a constraint, and its sum.
    fn relation(&mut self, model: &Model, spec: &Constraint) -> Option<(u32, Coupling)> {
        let place = spec.places.of("terms");
        let what = format!("constraint \"{}\"", spec.name);
        let mut terms: Vec<Term> = Vec::with_capacity(spec.terms.len());
        let (mut mechanism, mut length) = (None, false);
        for term in &spec.terms {
            let (of, coordinate) = match coordinate_of(model, &term.joint, term.coordinate) {
                Ok(found) => found,
                Err((wrong, help)) => {
                    self.fail(place, format!("{what} has a term of {wrong}"), help);
                    return None;
                }
            };
            if term.factor == 0.0 || !term.factor.is_finite() {
                let message = format!("{what} has a term with the factor {}", term.factor);
                self.fail(place, message, "a factor is a number other than 0; leave out the term");
                return None;
            }
            if terms.iter().any(|other| other.coordinate == coordinate) || mechanism.is_some_and(|m| m != of) {
                self.fail(place, format!("{what} has two terms of joint \"{}\"", term.joint), "add their factors");
                return None;
            }
            let m = &model.mechanisms[of as usize];
            let link = &m.links[m.link_of(coordinate)];
            length |= !link.joint.is_rotation(coordinate - link.first);
            mechanism = Some(of);
            terms.push(Term { coordinate, factor: term.factor, start: 0.0 });
        }
        let holds = match spec.holds {
            ConstraintHolds::Equals => Holds::Equal,
            ConstraintHolds::AtMost => Holds::AtMost,
            ConstraintHolds::AtLeast => Holds::AtLeast,
        };
        self.check_relation(spec)?;
        Some((mechanism?, Coupling { terms, length, limit: spec.limit, holds }))
    }

    /// Numbers of a constraint, whoever wrote it.
    fn check_relation(&mut self, spec: &Constraint) -> Option<()> {
        let gives =
            "say how far it gives under a force, such as compliance = 1e-6: what is rigid neither yields nor damps";
        let finite = |x: f64| x >= 0.0 && x.is_finite();
        let (key, wrong, help) = if spec.terms.is_empty() {
            ("terms", "no term".to_owned(), "name coordinates of joints, such as \"slide.position\"")
        } else if !spec.limit.is_finite() {
            ("terms", format!("the limit {}", spec.limit), "a limit is a finite number")
        } else if !finite(spec.compliance) {
            ("compliance", format!("the compliance {}", spec.compliance), "a compliance is 0 or more")
        } else if !finite(spec.damping) {
            ("damping", format!("the damping {}", spec.damping), "a damping is 0 or more")
        } else if spec.force_max.is_some_and(|most| most.is_nan() || most <= 0.0) {
            ("force_max", format!("the force_max {:?}", spec.force_max), "a largest force is above 0")
        } else if spec.compliance == 0.0 && spec.damping > 0.0 {
            ("damping", "damping and no compliance".to_owned(), gives)
        } else if spec.compliance == 0.0 && spec.force_max.is_some() {
            ("force_max", "a force_max and no compliance".to_owned(), gives)
        } else {
            return Some(());
        };
        self.fail(spec.places.of(key), format!("constraint \"{}\" has {wrong}", spec.name), help);
        None
    }
}
