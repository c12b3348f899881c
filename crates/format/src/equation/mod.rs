//! Equations as people write them in scenes: numbers with units, parameters, contact laws, expectations.
//!
//! ```text
//! "2*r + 1 mm"                           a number of a scene
//! "K*depth^1.5*(1 + 0.3*closing_speed)"   a contact law
//! ```
//!
//! [`Tree::parse`] reads a text; [`Tree::evaluate`] gives its value and unit when all names are known numbers;
//! [`Program::compile`] turns several equations into straight-line code for a register machine that evaluates them, and
//! their derivatives, without allocating.
//!
//! Operators by rising strength: `or` (`||`), `and` (`&&`), `not` (`!`), comparisons, `+ -`, `* /`, sign, `^`.
//! Units follow a number directly: `30 mm`, `9.81 m/s^2`, `5 N m`. Radians have no dimension. A number without a unit
//! takes the unit its place asks for.

mod operation;
mod parser;
mod program;
mod token;
mod unit;

pub use operation::Op;
pub use parser::Tree;
pub use program::{CompileError, Input, Program};
pub use unit::{Dimension, Kind};

/// What is wrong with an equation, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EquationError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: String,
}

impl EquationError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        EquationError { offset, message: message.into(), help: String::new() }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

/// A number and what kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Value in SI [unit of `kind`].
    pub value: f64,
    /// Its dimension, if one was given.
    pub kind: Kind,
}

impl Quantity {
    /// A number without a unit.
    pub fn bare(value: f64) -> Self {
        Quantity { value, kind: Kind::Bare }
    }
}

/// Names with known values; a later name hides an earlier one.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The names, oldest first.
    pub names: Vec<(String, Quantity)>,
}

impl Scope {
    /// Value of a name.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, quantity)| *quantity)
    }

    /// Adds a name.
    pub fn push(&mut self, name: impl Into<String>, quantity: Quantity) {
        self.names.push((name.into(), quantity));
    }
}

#[cfg(test)]
mod tests;
