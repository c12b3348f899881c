//! Surfaces that are drawn and nothing else: their equations compiled over u, v, time and what is recorded.

use super::Model;
use super::compile::Compiler;
use crate::element::Anchor;
use tippe_geometry::Vec3;
use tippe_parts::drawing;
use tippe_scene::equation::{Input, Kind, Program, Quantity, Scope, Tree};
use tippe_scene::{Equation, Part, did_you_mean};

/// Which part of a drawn surface has a colour of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coloured {
    /// Every corner.
    Vertex,
    /// Every triangle.
    Triangle,
    /// All of it alike.
    Shape,
}

/// A drawn surface. Its program has the inputs u, v, t and what `reads` names; it gives x, y, z in its frame [m] and, if `coloured`, a number.
#[derive(Clone, Debug)]
pub struct ModelDrawing {
    /// Name.
    pub name: String,
    /// The frame it moves with.
    pub on: Anchor,
    /// Range of u and of v [-].
    pub ranges: [[f64; 2]; 2],
    /// Squares along u and v [-].
    pub grid: [u32; 2],
    /// What is drawn.
    pub program: Program,
    /// Signals of the model that it reads, by index.
    pub reads: Vec<u32>,
    /// What has a colour by the number; none if there is no number.
    pub coloured: Option<Coloured>,
    /// Numbers at both ends of the colours.
    pub range: [f64; 2],
    /// Colour of one without a number, red, green, blue [-].
    pub colour: Vec3,
    /// 1 hides what is behind it [-].
    pub opacity: f64,
}

/// Colour of what says nothing [-].
const GREY: Vec3 = Vec3::new(0.62, 0.67, 0.74);

impl Compiler<'_> {
    /// Compiles the drawings of the scene, when all signals have their names.
    pub(super) fn drawings(&mut self, model: &mut Model) {
        for part in &self.scene.drawings {
            if let Some(drawing) = self.drawing(model, part) {
                model.drawings.push(drawing);
            }
        }
    }

    fn drawing(&mut self, model: &mut Model, part: &Part) -> Option<ModelDrawing> {
        let owner = format!("drawing \"{}\"", part.name);
        let oriented: Vec<bool> = model.bodies.iter().map(|body| body.oriented).collect();
        let on = self.anchor(model, part.attachments("on").first()?, None)?;
        // what only looks changes no step
        model.bodies.iter_mut().zip(oriented).for_each(|(body, oriented)| body.oriented = oriented);
        let equations: Vec<&Equation> = part.equations("shape").iter().chain(part.equation("value")).collect();
        let mut reads = Vec::new();
        for equation in &equations {
            self.signals_of(model, &owner, equation, &mut reads)?;
        }
        let read = reads.iter().map(|k| model.signals[*k as usize].name.as_str());
        let names: Vec<&str> = drawing::NAMES.into_iter().chain(["t"]).chain(read).collect();
        let inputs: Vec<Input<'_>> = names.iter().map(|name| Input { name, kind: Kind::Bare }).collect();
        let params = Scope {
            names: self
                .scene
                .params
                .iter()
                .map(|p| (p.name.clone(), Quantity { value: p.value, kind: p.kind }))
                .collect(),
        };
        let texts: Vec<(&str, &str)> = equations.iter().map(|equation| ("", equation.text.as_str())).collect();
        let program = match Program::compile(&inputs, &params, &texts, 0) {
            Ok(program) => program,
            Err(error) => {
                let place = equations[error.equation].places.entity;
                self.fail(place, format!("{owner}: {}", error.error.message), &error.error.help);
                return None;
            }
        };
        let pair = |key: &str, other: [f64; 2]| part.numbers(key).try_into().unwrap_or(other);
        Some(ModelDrawing {
            name: part.name.clone(),
            on,
            ranges: ["u", "v"].map(|key| pair(key, [0.0, 1.0])),
            grid: pair("grid", [20.0, 20.0]).map(|n| n as u32),
            program,
            reads,
            coloured: part.equation("value").map(|_| match part.word("coloured") {
                "shape" => Coloured::Shape,
                "triangle" => Coloured::Triangle,
                _ => Coloured::Vertex,
            }),
            range: pair("range", [0.0, 1.0]),
            colour: part.vector("colour").unwrap_or(GREY),
            opacity: part.number("opacity"),
        })
    }

    /// Adds the signals that an equation names to `reads`.
    fn signals_of(&mut self, model: &Model, owner: &str, equation: &Equation, reads: &mut Vec<u32>) -> Option<()> {
        let place = equation.places.entity;
        let tree = match Tree::parse(&equation.text) {
            Ok(tree) => tree,
            Err(error) => {
                self.fail(place, format!("{owner}: {}", error.message), &error.help);
                return None;
            }
        };
        for name in tree.names() {
            let own = drawing::NAMES.contains(&name.as_str()) || name == "t";
            if own || self.scene.params.iter().any(|param| param.name == *name) {
                continue;
            }
            let Some(k) = model.signals.iter().position(|signal| signal.name == *name) else {
                let known = model.signals.iter().map(|signal| signal.name.as_str()).chain(["u", "v", "t"]);
                let help = did_you_mean(name, known.chain(self.scene.params.iter().map(|param| param.name.as_str())));
                let help = match help.is_empty() {
                    true => "a drawing reads u, v, t, parameters and recorded signals; a [[sensor]] records the motion of a body".to_owned(),
                    false => help,
                };
                self.fail(place, format!("{owner}: no signal is called `{name}`"), &help);
                return None;
            };
            if !reads.contains(&(k as u32)) {
                reads.push(k as u32);
            }
        }
        Some(())
    }
}
