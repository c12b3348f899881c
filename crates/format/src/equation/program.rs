//! Several equations as straight-line code for a register machine.
//!
//! Registers hold the inputs, then the constants, then one result per instruction. Constants are folded, equal
//! subexpressions computed once, whole and half powers multiplied out, unused results dropped.

use super::operation::{MAX_MULTIPLIED_POWER, Numbers, Op, whole_power};
use super::parser::{Tree, What};
use super::{EquationError, Kind, Quantity, Scope};
use std::collections::BTreeMap;

/// A named input of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input<'a> {
    /// Name in the equations.
    pub name: &'a str,
    /// Its kind, for the check of units.
    pub kind: Kind,
}

/// What is wrong with one of several equations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct CompileError {
    /// Index of the equation.
    pub equation: usize,
    /// What is wrong.
    pub error: EquationError,
}

/// Compiled equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    inputs: usize,
    constants: Vec<f64>,
    code: Vec<Instruction>,
    outputs: Vec<u16>,
    output_kinds: Vec<Kind>,
}

/// The k-th instruction writes register inputs + constants + k.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Instruction {
    op: Op,
    arguments: [u16; 3],
}

impl Program {
    /// Compiles `equations`, each `(name, text)`, in order: a text may use the `inputs`, the `constants` and the names of
    /// earlier equations. The outputs are the equations from `first_output` on.
    pub fn compile(
        inputs: &[Input<'_>],
        constants: &Scope,
        equations: &[(&str, &str)],
        first_output: usize,
    ) -> Result<Program, CompileError> {
        let (compiler, outputs) = Compiler::read(inputs, constants, equations, first_output, Numbers::AnyUnit)?;
        compiler.assemble(inputs.len(), &outputs).ok_or_else(|| CompileError {
            equation: equations.len().saturating_sub(1),
            error: EquationError::new(0, "the equations are too long").help("at most 65536 operations fit a program"),
        })
    }

    /// Kinds of the outputs if every number without a unit is a pure number; `None` if then units do not match.
    pub fn pure_kinds(
        inputs: &[Input<'_>],
        constants: &Scope,
        equations: &[(&str, &str)],
        first_output: usize,
    ) -> Option<Vec<Kind>> {
        let (_, outputs) = Compiler::read(inputs, constants, equations, first_output, Numbers::Pure).ok()?;
        Some(outputs.into_iter().map(|(_, kind)| kind).collect())
    }

    /// Room to work in for [`Program::eval`] and [`Program::eval_with_derivative`]. Nothing in it survives a call.
    pub fn registers(&self) -> Vec<f64> {
        vec![0.0; (1 + self.inputs) * self.register_count()]
    }

    fn register_count(&self) -> usize {
        self.inputs + self.constants.len() + self.code.len()
    }

    /// True if an output depends on this input.
    pub fn uses(&self, input: usize) -> bool {
        let is = |register: &u16| usize::from(*register) == input;
        self.outputs.iter().any(is) || self.code.iter().any(|i| i.arguments.iter().any(is))
    }

    /// The constants, which stand behind the inputs in the registers.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The instructions, each with the registers of its arguments; the k-th writes the k-th register behind the constants.
    pub fn instructions(&self) -> impl Iterator<Item = (Op, [u16; 3])> {
        self.code.iter().map(|instruction| (instruction.op, instruction.arguments))
    }

    /// The registers of the outputs.
    pub fn outputs(&self) -> &[u16] {
        &self.outputs
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// True if every output is an input or a constant.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// Kinds of the outputs, as far as units were given.
    pub fn output_kinds(&self) -> &[Kind] {
        &self.output_kinds
    }

    /// Outputs for these inputs. `registers` are as long as those of [`Program::registers`].
    pub fn eval(&self, inputs: &[f64], registers: &mut [f64], outputs: &mut [f64]) {
        let first = self.inputs + self.constants.len();
        registers[..self.inputs].copy_from_slice(inputs);
        registers[self.inputs..first].copy_from_slice(&self.constants);
        let registers = &mut registers[..self.register_count()];
        for (k, Instruction { op, arguments }) in self.code.iter().enumerate() {
            registers[first + k] = op.value(|i| registers[usize::from(arguments[i])]);
        }
        for (output, register) in outputs.iter_mut().zip(&self.outputs) {
            *output = registers[usize::from(*register)];
        }
    }

    /// Outputs and their derivatives by the inputs with the indices `by`: `gradient[o][j]` is that of output `o` by input
    /// `by[j]`. Forward mode: the chain rule, one instruction after the other. N is at most the number of inputs.
    pub fn eval_with_derivative<const N: usize>(
        &self,
        inputs: &[f64],
        by: [usize; N],
        registers: &mut [f64],
        outputs: &mut [f64],
        gradient: &mut [[f64; N]],
    ) {
        self.eval(inputs, registers, outputs);
        let first = self.inputs + self.constants.len();
        let (values, slopes) = registers.split_at_mut(self.register_count());
        let (slopes, _) = slopes.as_chunks_mut::<N>();
        slopes[..first].fill([0.0; N]);
        for (j, input) in by.into_iter().enumerate() {
            slopes[input][j] = 1.0;
        }
        for (k, Instruction { op, arguments }) in self.code.iter().enumerate() {
            let [a, b, c] = arguments.map(usize::from);
            let partials = op.partials([values[a], values[b], values[c]], values[first + k]);
            let along = [slopes[a], slopes[b], slopes[c]];
            // What does not change counts for nothing, even where the partial derivative is infinite.
            let term = |i: usize, j: usize| if along[i][j] == 0.0 { 0.0 } else { partials[i] * along[i][j] };
            slopes[first + k] = std::array::from_fn(|j| term(0, j) + term(1, j) + term(2, j));
        }
        for (row, register) in gradient.iter_mut().zip(&self.outputs) {
            *row = slopes[usize::from(*register)];
        }
    }
}

/// A value of the program under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Input(usize),
    /// By bits, so that values can be ordered.
    Constant(u64),
    Result(Op, [usize; 3]),
}

struct Compiler<'a> {
    /// Names with their values; a later one hides an earlier one.
    known: Vec<(&'a str, usize, Kind)>,
    /// Every distinct value, arguments before results.
    values: Vec<Value>,
    index: BTreeMap<Value, usize>,
    /// What numbers without a unit mean.
    numbers: Numbers,
}

impl<'a> Compiler<'a> {
    /// Reads all equations; returns the outputs with their kinds too.
    fn read(
        inputs: &[Input<'a>],
        constants: &'a Scope,
        equations: &[(&'a str, &str)],
        first_output: usize,
        numbers: Numbers,
    ) -> Result<(Self, Vec<(usize, Kind)>), CompileError> {
        let mut compiler = Compiler { known: Vec::new(), values: Vec::new(), index: BTreeMap::new(), numbers };
        for (name, quantity) in &constants.names {
            let id = compiler.constant(quantity.value);
            compiler.known.push((name, id, quantity.kind));
        }
        for (k, input) in inputs.iter().enumerate() {
            let id = compiler.value(Value::Input(k));
            compiler.known.push((input.name, id, input.kind));
        }
        let mut outputs = Vec::new();
        for (equation, (name, text)) in equations.iter().enumerate() {
            let (id, kind) = compiler.equation(text).map_err(|error| CompileError { equation, error })?;
            compiler.known.push((name, id, kind));
            if equation >= first_output {
                outputs.push((id, kind));
            }
        }
        Ok((compiler, outputs))
    }

    /// Id of a value, the same for equal ones.
    fn value(&mut self, value: Value) -> usize {
        *self.index.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }

    fn constant(&mut self, x: f64) -> usize {
        self.value(Value::Constant(x.to_bits()))
    }

    fn known_constant(&self, id: usize) -> Option<f64> {
        match self.values[id] {
            Value::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Adds one equation; returns its value and kind.
    fn equation(&mut self, text: &str) -> Result<(usize, Kind), EquationError> {
        let tree = Tree::parse(text)?;
        tree.check_joined(|name| self.known.iter().any(|(known, _, _)| *known == name))?;
        let mut done: Vec<(usize, Kind)> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            done.push(match node.what {
                What::Number(Quantity { value, kind }) => (self.constant(value), kind),
                What::Name(name) => {
                    let found = self.known.iter().rev().find(|(known, _, _)| *known == tree.names[name]);
                    let (_, id, kind) =
                        found.ok_or_else(|| tree.unknown_name(node, self.known.iter().map(|(known, _, _)| *known)))?;
                    (*id, *kind)
                }
                What::Call(op, x) => {
                    let [a, b, c] = x.map(|i| done[i]);
                    let kind = op
                        .kind([a.1, b.1, c.1], self.known_constant(b.0), self.numbers)
                        .map_err(|message| EquationError::new(node.offset, message))?;
                    (self.operation(op, [a.0, b.0, c.0]), kind)
                }
            });
        }
        done.last().copied().ok_or_else(|| EquationError::new(0, "the expression is empty"))
    }

    /// Result of an operation, simplified where the bits of the result stay the same.
    fn operation(&mut self, op: Op, x: [usize; 3]) -> usize {
        let [a, b, _] = x;
        if let [Some(a), Some(b), Some(c)] = x.map(|id| self.known_constant(id)) {
            return self.constant(op.value(|k| [a, b, c][k]));
        }
        match (op, self.known_constant(a), self.known_constant(b)) {
            (Op::Mul, Some(1.0), _) => b,
            (Op::Mul | Op::Div, _, Some(1.0)) => a,
            (Op::If, Some(condition), _) => x[if condition != 0.0 { 1 } else { 2 }],
            (Op::Pow, _, Some(exponent)) => self.power(a, exponent).unwrap_or_else(|| self.result(op, x)),
            (Op::Mul, _, _) if self.values[b] == Value::Result(Op::Sqrt, [a; 3]) => {
                self.result(Op::ThreeHalves, [a; 3])
            }
            (Op::Mul, _, _) if self.values[a] == Value::Result(Op::Sqrt, [b; 3]) => {
                self.result(Op::ThreeHalves, [b; 3])
            }
            (Op::Add | Op::Mul, _, _) if b < a => self.result(op, [b, a, b]),
            _ => self.result(op, x),
        }
    }

    fn result(&mut self, op: Op, x: [usize; 3]) -> usize {
        self.value(Value::Result(op, x))
    }

    /// a^exponent by multiplication where that is exact enough and fast; see `operation::power`.
    fn power(&mut self, a: usize, exponent: f64) -> Option<usize> {
        if exponent < 0.0 {
            let one = self.constant(1.0);
            let positive = self.power(a, -exponent)?;
            return Some(self.result(Op::Div, [one, positive, one]));
        }
        if exponent > MAX_MULTIPLIED_POWER {
            return None;
        }
        let whole = |compiler: &mut Self, n: u32| whole_power(a, n, |x, y| compiler.operation(Op::Mul, [x, y, x]));
        if exponent == exponent.floor() {
            return Some(whole(self, exponent as u32).unwrap_or_else(|| self.constant(1.0)));
        }
        if exponent - exponent.floor() != 0.5 {
            return None;
        }
        if exponent < 1.0 {
            return Some(self.result(Op::Sqrt, [a; 3]));
        }
        let three_halves = self.result(Op::ThreeHalves, [a; 3]);
        Some(match whole(self, exponent as u32 - 1) {
            Some(factor) => self.operation(Op::Mul, [factor, three_halves, factor]),
            None => three_halves,
        })
    }

    /// Drops what no output needs and numbers the registers; `None` if there are too many.
    fn assemble(self, inputs: usize, outputs: &[(usize, Kind)]) -> Option<Program> {
        let mut needed = vec![false; self.values.len()];
        for (id, _) in outputs {
            needed[*id] = true;
        }
        for id in (0..self.values.len()).rev() {
            if let (true, Value::Result(_, x)) = (needed[id], self.values[id]) {
                x.iter().for_each(|argument| needed[*argument] = true);
            }
        }
        let is_constant = |id: &usize| needed[*id] && matches!(self.values[*id], Value::Constant(_));
        let mut register = vec![0u16; self.values.len()];
        let mut constants = Vec::new();
        for id in (0..self.values.len()).filter(is_constant) {
            register[id] = u16::try_from(inputs + constants.len()).ok()?;
            constants.extend(self.known_constant(id));
        }
        let mut code = Vec::new();
        for id in 0..self.values.len() {
            match self.values[id] {
                Value::Input(k) => register[id] = u16::try_from(k).ok()?,
                Value::Result(op, x) if needed[id] => {
                    register[id] = u16::try_from(inputs + constants.len() + code.len()).ok()?;
                    code.push(Instruction { op, arguments: x.map(|argument| register[argument]) });
                }
                _ => {}
            }
        }
        let output_kinds = outputs.iter().map(|(_, kind)| *kind).collect();
        let outputs = outputs.iter().map(|(id, _)| register[*id]).collect();
        Some(Program { inputs, constants, code, outputs, output_kinds })
    }
}
