//! Tokens to a tree, and the value of a tree.

use super::operation::{FUNCTIONS, Numbers, Op};
use super::token::{Token, tokens};
use super::unit::{COMMON_UNITS, Unit};
use super::{EquationError, Kind, Quantity, Scope};
use crate::text::did_you_mean;

/// Brackets, signs and powers may nest this deep.
const MAX_DEPTH: usize = 200;

/// A parsed equation. Nodes stand after their arguments, the root last: walking the list needs no recursion.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) names: Vec<String>,
    /// Units after `*` or `/`, with their offsets: no name of the scope may be spelt like one.
    joined: Vec<(usize, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub offset: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Number(Quantity),
    /// Index into `Tree::names`.
    Name(usize),
    /// Arguments are indices of earlier nodes; unused ones repeat the first.
    Call(Op, [usize; 3]),
}

impl Tree {
    /// Reads an equation.
    pub fn parse(text: &str) -> Result<Tree, EquationError> {
        let tokens = tokens(text)?;
        let mut parser =
            Parser { tokens, at: 0, depth: 0, tree: Tree { nodes: Vec::new(), names: Vec::new(), joined: Vec::new() } };
        parser.expression(0)?;
        match parser.peek() {
            Token::End => Ok(parser.tree),
            Token::Sign(")") => Err(EquationError::new(parser.offset(), "`)` without `(`")),
            _ => Err(EquationError::new(parser.offset(), "an operator is missing here").help("multiply with `*`")),
        }
    }

    /// Names the equation uses, each once, in order of appearance.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text this tree was read from, with every use of a name replaced for which `other` gives something.
    pub fn with_names(&self, text: &str, other: impl Fn(&str) -> Option<String>) -> String {
        let mut uses: Vec<(usize, &str)> = Vec::new();
        for node in &self.nodes {
            if let What::Name(name) = node.what {
                uses.push((node.offset, &self.names[name]));
            }
        }
        uses.sort_unstable();
        let (mut out, mut at) = (String::new(), 0);
        for (offset, name) in uses {
            if let Some(other) = other(name) {
                out.push_str(&text[at..offset]);
                out.push_str(&other);
                at = offset + name.len();
            }
        }
        out.push_str(&text[at..]);
        out
    }

    /// Value and unit, all names being known. Fails if the value is not a finite number.
    pub fn evaluate(&self, scope: &Scope) -> Result<Quantity, EquationError> {
        self.check_joined(|name| scope.get(name).is_some())?;
        let mut known: Vec<Quantity> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            known.push(match node.what {
                What::Number(quantity) => quantity,
                What::Name(name) => scope
                    .get(&self.names[name])
                    .ok_or_else(|| self.unknown_name(node, scope.names.iter().map(|(n, _)| n.as_str())))?,
                What::Call(op, x) => {
                    let [a, b, c] = x.map(|i| known[i]);
                    let kind = op
                        .kind([a.kind, b.kind, c.kind], Some(b.value), Numbers::Pure)
                        .map_err(|message| EquationError::new(node.offset, message))?;
                    Quantity { value: op.value(|k| [a, b, c][k].value), kind }
                }
            });
        }
        match known.last() {
            Some(result) if result.value.is_finite() => Ok(*result),
            _ => Err(self.not_finite(&known)),
        }
    }

    /// `1 m/h` where `h` is also a known name could mean either: an error.
    pub fn check_joined(&self, is_name: impl Fn(&str) -> bool) -> Result<(), EquationError> {
        match self.joined.iter().find(|(_, symbol)| is_name(symbol)) {
            Some((offset, symbol)) => {
                let error = EquationError::new(*offset, format!("`{symbol}` is both a unit and a name here"));
                Err(error.help(format!("for the name write `(1 m)/{symbol}`, for the unit `1 m {symbol}^-1`")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn unknown_name<'a>(
        &self,
        node: &Node,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> EquationError {
        let name = match node.what {
            What::Name(name) => self.names[name].as_str(),
            _ => "",
        };
        EquationError::new(node.offset, format!("unknown name `{name}`")).help(did_you_mean(name, known))
    }

    /// Says which operation first left the finite numbers.
    fn not_finite(&self, known: &[Quantity]) -> EquationError {
        for (node, quantity) in self.nodes.iter().zip(known) {
            if quantity.value.is_finite() {
                continue;
            }
            let message = match node.what {
                What::Call(Op::Div | Op::Mod, [_, b, _]) if known[b].value == 0.0 => "division by zero".into(),
                What::Call(Op::Sqrt, [a, ..]) => format!("square root of {}", known[a].value),
                What::Call(Op::Log, [a, ..]) => format!("logarithm of {}", known[a].value),
                What::Call(..) => format!("the result is {}, not a finite number", quantity.value),
                _ => continue,
            };
            return EquationError::new(node.offset, message);
        }
        EquationError::new(0, "the result is not a finite number")
    }
}

struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    at: usize,
    depth: usize,
    tree: Tree,
}

/// Left and right binding strength of the operators between two operands, and whether their arguments change places.
fn binary(sign: &str) -> Option<(Op, u8, u8, bool)> {
    Some(match sign {
        "||" => (Op::Or, 1, 2, false),
        "&&" => (Op::And, 3, 4, false),
        "<" => (Op::Less, 7, 8, false),
        "<=" => (Op::LessEqual, 7, 8, false),
        ">" => (Op::Less, 7, 8, true),
        ">=" => (Op::LessEqual, 7, 8, true),
        "==" => (Op::Equal, 7, 8, false),
        "!=" => (Op::NotEqual, 7, 8, false),
        "+" => (Op::Add, 9, 10, false),
        "-" => (Op::Sub, 9, 10, false),
        "*" => (Op::Mul, 11, 12, false),
        "/" => (Op::Div, 11, 12, false),
        "^" => (Op::Pow, 16, 15, false),
        _ => return None,
    })
}

const NOT: u8 = 5;
const MINUS: u8 = 13;

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at].1
    }

    fn offset(&self) -> usize {
        self.tokens[self.at].0
    }

    /// The last token, `End`, is never passed.
    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn push(&mut self, offset: usize, what: What) -> usize {
        self.tree.nodes.push(Node { offset, what });
        self.tree.nodes.len() - 1
    }

    /// Operators that bind at least as strongly as `strength`; returns the node.
    fn expression(&mut self, strength: u8) -> Result<usize, EquationError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(EquationError::new(self.offset(), format!("nested deeper than {MAX_DEPTH} levels")));
        }
        let mut left = self.operand()?;
        while let Token::Sign(sign) = self.peek() {
            let Some((op, left_strength, right_strength, swap)) = binary(sign) else { break };
            if left_strength < strength {
                break;
            }
            let offset = self.offset();
            self.advance();
            let right = self.expression(right_strength)?;
            let arguments = if swap { [right, left, right] } else { [left, right, left] };
            left = self.push(offset, What::Call(op, arguments));
            if left_strength == 7 && matches!(self.peek(), Token::Sign(s) if binary(s).is_some_and(|b| b.1 == 7)) {
                return Err(
                    EquationError::new(self.offset(), "comparisons do not chain").help("write `a < b and b < c`")
                );
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<usize, EquationError> {
        let offset = self.offset();
        match self.peek() {
            Token::Number(number) => {
                self.advance();
                let quantity = self.with_unit(number)?;
                Ok(self.push(offset, What::Number(quantity)))
            }
            Token::Name(name) => {
                self.advance();
                if self.peek() == Token::Sign("(") { self.call(offset, name) } else { Ok(self.name(offset, name)) }
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression(0)?;
                self.expect(")", offset)?;
                Ok(inner)
            }
            Token::Sign("-") => {
                self.advance();
                let a = self.expression(MINUS)?;
                Ok(self.push(offset, What::Call(Op::Neg, [a; 3])))
            }
            Token::Sign("+") => {
                self.advance();
                self.expression(MINUS)
            }
            Token::Sign("!") => {
                self.advance();
                let a = self.expression(NOT)?;
                Ok(self.push(offset, What::Call(Op::Not, [a; 3])))
            }
            Token::Sign(sign) => {
                Err(EquationError::new(offset, format!("a number or name is missing before `{sign}`")))
            }
            Token::End => Err(EquationError::new(offset, "the expression ends too early")),
        }
    }

    fn name(&mut self, offset: usize, name: &str) -> usize {
        if name == "pi" {
            return self.push(offset, What::Number(Quantity::bare(std::f64::consts::PI)));
        }
        let names = &mut self.tree.names;
        let index = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_string());
            names.len() - 1
        });
        self.push(offset, What::Name(index))
    }

    fn expect(&mut self, sign: &'static str, opened: usize) -> Result<(), EquationError> {
        if self.peek() == Token::Sign(sign) {
            self.advance();
            return Ok(());
        }
        let error = EquationError::new(self.offset(), format!("`{sign}` is missing"));
        Err(error.help(format!("the bracket was opened at character {}", opened + 1)))
    }

    /// `name(a, b, ...)`, standing at the bracket. `min` and `max` take any number of arguments from two.
    fn call(&mut self, offset: usize, name: &str) -> Result<usize, EquationError> {
        let Some((op, arity)) = Op::function(name) else {
            let help = did_you_mean(name, FUNCTIONS.iter().map(|(name, _, _)| *name));
            return Err(EquationError::new(offset, format!("unknown function `{name}`")).help(help));
        };
        let opened = self.offset();
        self.advance();
        let mut arguments = vec![];
        if self.peek() != Token::Sign(")") {
            arguments.push(self.expression(0)?);
            while self.peek() == Token::Sign(",") {
                self.advance();
                arguments.push(self.expression(0)?);
            }
        }
        self.expect(")", opened)?;
        let any_number = matches!(op, Op::Min | Op::Max) && arguments.len() > 2;
        if arguments.len() != arity && !any_number {
            let message = format!(
                "`{name}` takes {arity} argument{}, not {}",
                if arity == 1 { "" } else { "s" },
                arguments.len()
            );
            return Err(EquationError::new(offset, message));
        }
        let argument = |k: usize| arguments.get(k).copied().unwrap_or(arguments[0]);
        let mut result = self.push(offset, What::Call(op, [argument(0), argument(1), argument(2)]));
        if any_number {
            for &next in &arguments[2..] {
                result = self.push(offset, What::Call(op, [result, next, result]));
            }
        }
        Ok(result)
    }

    /// The unit after a number: symbols with whole powers, side by side or joined by `*` and `/`.
    fn with_unit(&mut self, number: f64) -> Result<Quantity, EquationError> {
        let Token::Name(first) = self.peek() else { return Ok(Quantity::bare(number)) };
        if Unit::from_symbol(first).is_none() {
            let help = match did_you_mean(first, COMMON_UNITS) {
                close if close.starts_with("did") => format!("{close} To multiply write `{number}*{first}`"),
                _ => format!("to multiply write `{number}*{first}`"),
            };
            return Err(EquationError::new(self.offset(), format!("unknown unit `{first}`")).help(help));
        }
        let mut unit = Unit::ONE;
        let (mut sign, mut joined) = (1, false);
        while let Token::Name(symbol) = self.peek() {
            let offset = self.offset();
            if joined {
                self.tree.joined.push((offset, symbol.to_string()));
            }
            let Some(factor) = Unit::from_symbol(symbol) else { break };
            self.advance();
            let power = sign * self.unit_power()?;
            unit = unit
                .times_power(factor, power)
                .ok_or_else(|| EquationError::new(offset, format!("`{symbol}` to the power {power} is absurd")))?;
            (sign, joined) = match (
                self.peek(),
                self.tokens.get(self.at + 1).map(|t| t.1),
                self.tokens.get(self.at + 2).map(|t| t.1),
            ) {
                (Token::Sign(join @ ("*" | "/")), Some(Token::Name(next)), after)
                    if Unit::from_symbol(next).is_some() && after != Some(Token::Sign("(")) =>
                {
                    self.advance();
                    if join == "/" { (-1, true) } else { (1, true) }
                }
                (Token::Name(next), Some(after), _)
                    if Unit::from_symbol(next).is_some() && after != Token::Sign("(") =>
                {
                    (1, false)
                }
                _ => break,
            };
        }
        Ok(Quantity { value: unit.to_si(number), kind: Kind::Dim(unit.dimension) })
    }

    /// `^2` or `^-2` after a unit; 1 if there is none.
    fn unit_power(&mut self) -> Result<i32, EquationError> {
        if self.peek() != Token::Sign("^") {
            return Ok(1);
        }
        self.advance();
        let negative = self.peek() == Token::Sign("-");
        if negative {
            self.advance();
        }
        match self.peek() {
            Token::Number(p) if p == p.floor() && (1.0..=12.0).contains(&p) => {
                self.advance();
                Ok(if negative { -(p as i32) } else { p as i32 })
            }
            _ => Err(EquationError::new(self.offset(), "the power of a unit is a whole number from 1 to 12")),
        }
    }
}
