//! The operations: their values, derivatives and units. Trees, folded constants and programs all use this one table.

use super::{Dimension, Kind};

/// An operation on up to three numbers. Conditions are 1 (true) and 0 (false).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a b.
    Mul,
    /// a / b.
    Div,
    /// -a.
    Neg,
    /// a to the power b.
    Pow,
    /// a sqrt(a), whose derivative at 0 is 0.
    ThreeHalves,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// Smaller of two.
    Min,
    /// Larger of two.
    Max,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
    /// a - b floor(a/b).
    Mod,
    /// sqrt(a^2 + b^2).
    Hypot,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Angle of the point (b, a).
    Atan2,
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// a < b.
    Less,
    /// a <= b.
    LessEqual,
    /// a == b.
    Equal,
    /// a != b.
    NotEqual,
    /// Both.
    And,
    /// At least one.
    Or,
    /// The contrary.
    Not,
    /// b if a, else c.
    If,
}

impl Op {
    /// Function of this name as written in equations, with its number of arguments.
    pub(super) fn function(name: &str) -> Option<(Op, usize)> {
        FUNCTIONS.iter().find(|(known, _, _)| *known == name).map(|(_, op, arity)| (*op, *arity))
    }

    /// Value; `x(0)`, `x(1)`, `x(2)` give the arguments a, b, c.
    #[inline(always)]
    pub(super) fn value(self, x: impl Fn(usize) -> f64) -> f64 {
        let truth = |condition: bool| if condition { 1.0 } else { 0.0 };
        let choose = |condition: bool, one: f64, other: f64| if condition { one } else { other };
        match self {
            Op::Add => x(0) + x(1),
            Op::Sub => x(0) - x(1),
            Op::Mul => x(0) * x(1),
            Op::Div => x(0) / x(1),
            Op::Neg => -x(0),
            Op::Pow => power(x(0), x(1)),
            Op::ThreeHalves => x(0) * x(0).sqrt(),
            Op::Sqrt => x(0).sqrt(),
            Op::Abs => x(0).abs(),
            Op::Sign => truth(x(0) > 0.0) - truth(x(0) < 0.0),
            Op::Min => choose(x(1) < x(0), x(1), x(0)),
            Op::Max => choose(x(1) > x(0), x(1), x(0)),
            Op::Floor => x(0).floor(),
            Op::Ceil => x(0).ceil(),
            Op::Mod => x(0) - x(1) * (x(0) / x(1)).floor(),
            Op::Hypot => libm::hypot(x(0), x(1)),
            Op::Sin => libm::sin(x(0)),
            Op::Cos => libm::cos(x(0)),
            Op::Tan => libm::tan(x(0)),
            Op::Asin => libm::asin(x(0)),
            Op::Acos => libm::acos(x(0)),
            Op::Atan => libm::atan(x(0)),
            Op::Atan2 => libm::atan2(x(0), x(1)),
            Op::Exp => libm::exp(x(0)),
            Op::Log => libm::log(x(0)),
            Op::Tanh => libm::tanh(x(0)),
            Op::Less => truth(x(0) < x(1)),
            Op::LessEqual => truth(x(0) <= x(1)),
            Op::Equal => truth(x(0) == x(1)),
            Op::NotEqual => truth(x(0) != x(1)),
            Op::And => truth(x(0) != 0.0 && x(1) != 0.0),
            Op::Or => truth(x(0) != 0.0 || x(1) != 0.0),
            Op::Not => truth(x(0) == 0.0),
            Op::If => choose(x(0) != 0.0, x(1), x(2)),
        }
    }

    /// Partial derivatives by the arguments `[a, b, c]`, given the value `v`. At a kink, those of one side.
    pub(super) fn partials(self, [a, b, _]: [f64; 3], v: f64) -> [f64; 3] {
        let choose = |second: bool| if second { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] };
        match self {
            Op::Add => [1.0, 1.0, 0.0],
            Op::Sub => [1.0, -1.0, 0.0],
            Op::Mul => [b, a, 0.0],
            Op::Div => [1.0 / b, -v / b, 0.0],
            Op::Neg => [-1.0, 0.0, 0.0],
            Op::Pow => [b * power(a, b - 1.0), if v == 0.0 { 0.0 } else { v * libm::log(a) }, 0.0],
            Op::ThreeHalves => [1.5 * a.sqrt(), 0.0, 0.0],
            Op::Sqrt => [0.5 / v, 0.0, 0.0],
            Op::Abs => [if a < 0.0 { -1.0 } else { 1.0 }, 0.0, 0.0],
            Op::Min => choose(b < a),
            Op::Max => choose(b > a),
            Op::Mod => [1.0, -(a / b).floor(), 0.0],
            Op::Hypot if v == 0.0 => [0.0; 3],
            Op::Hypot => [a / v, b / v, 0.0],
            Op::Sin => [libm::cos(a), 0.0, 0.0],
            Op::Cos => [-libm::sin(a), 0.0, 0.0],
            Op::Tan => [1.0 + v * v, 0.0, 0.0],
            Op::Asin => [1.0 / (1.0 - a * a).sqrt(), 0.0, 0.0],
            Op::Acos => [-1.0 / (1.0 - a * a).sqrt(), 0.0, 0.0],
            Op::Atan => [1.0 / (1.0 + a * a), 0.0, 0.0],
            Op::Atan2 => [b / (a * a + b * b), -a / (a * a + b * b), 0.0],
            Op::Exp => [v, 0.0, 0.0],
            Op::Log => [1.0 / a, 0.0, 0.0],
            Op::Tanh => [1.0 - v * v, 0.0, 0.0],
            Op::If if a != 0.0 => [0.0, 1.0, 0.0],
            Op::If => [0.0, 0.0, 1.0],
            Op::Sign | Op::Floor | Op::Ceil => [0.0; 3],
            Op::Less | Op::LessEqual | Op::Equal | Op::NotEqual | Op::And | Op::Or | Op::Not => [0.0; 3],
        }
    }

    /// Kind of the result, or what is wrong with the arguments. `exponent` is the value of b, where it is known.
    pub(super) fn kind(self, x: [Kind; 3], exponent: Option<f64>, numbers: Numbers) -> Result<Kind, String> {
        use Kind::{Bare, Condition, Dim};
        let [a, b, c] = x;
        match self {
            Op::And | Op::Or if a == Condition && b == Condition => return Ok(Condition),
            Op::Not if a == Condition => return Ok(Condition),
            Op::And | Op::Or | Op::Not => return Err("`and`, `or`, `not` join conditions, not numbers".into()),
            Op::If if a != Condition => return Err("the first argument of `if` is a condition, such as `x > 0`".into()),
            Op::If => return if b == Condition && c == Condition { Ok(b) } else { same(b, c) },
            _ if a == Condition || b == Condition => {
                return Err("a condition is not a number; use `if(condition, a, b)`".into());
            }
            _ => {}
        }
        let too_high = || "the unit of this is absurd".to_string();
        Ok(match self {
            Op::Add | Op::Sub | Op::Min | Op::Max | Op::Hypot | Op::Mod => same(a, b)?,
            Op::Less | Op::LessEqual | Op::Equal | Op::NotEqual => same(a, b).map(|_| Condition)?,
            Op::Neg | Op::Abs | Op::Floor | Op::Ceil => a,
            Op::Mul => match (a, b) {
                (Dim(a), Dim(b)) => numbers.ratio(a.times(b).ok_or_else(too_high)?),
                (Bare, x) | (x, Bare) => numbers.scaled(x),
                _ => Bare,
            },
            Op::Div => match (a, b) {
                (Dim(a), Dim(b)) => numbers.ratio(a.over(b).ok_or_else(too_high)?),
                (Bare, Dim(b)) => numbers.scaled(Dim(Dimension::ONE.over(b).ok_or_else(too_high)?)),
                (x, _) => numbers.scaled(x),
            },
            Op::Sqrt | Op::ThreeHalves => {
                let exponent = if self == Op::Sqrt { 0.5 } else { 1.5 };
                power_kind(a, Some(exponent), numbers)?
            }
            Op::Pow => match b {
                Bare | Dim(Dimension::ONE) => power_kind(a, exponent, numbers)?,
                _ => return Err(format!("an exponent has no unit, this one has {b}")),
            },
            Op::Atan2 => same(a, b).map(|_| numbers.pure())?,
            Op::Sign => numbers.pure(),
            _ => match a {
                Bare | Dim(Dimension::ONE) => numbers.pure(),
                _ => return Err(format!("this function needs a number without unit or an angle, not {a}")),
            },
        })
    }
}

/// Names of functions, what they are, how many arguments.
pub(super) const FUNCTIONS: [(&str, Op, usize); 20] = [
    ("sin", Op::Sin, 1),
    ("cos", Op::Cos, 1),
    ("tan", Op::Tan, 1),
    ("asin", Op::Asin, 1),
    ("acos", Op::Acos, 1),
    ("atan", Op::Atan, 1),
    ("atan2", Op::Atan2, 2),
    ("exp", Op::Exp, 1),
    ("log", Op::Log, 1),
    ("tanh", Op::Tanh, 1),
    ("sqrt", Op::Sqrt, 1),
    ("abs", Op::Abs, 1),
    ("sign", Op::Sign, 1),
    ("min", Op::Min, 2),
    ("max", Op::Max, 2),
    ("floor", Op::Floor, 1),
    ("ceil", Op::Ceil, 1),
    ("mod", Op::Mod, 2),
    ("hypot", Op::Hypot, 2),
    ("if", Op::If, 3),
];

/// What a number without a unit means in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// A pure factor: `2*r` has the unit of r. For the numbers of a scene.
    Pure,
    /// It may carry any unit: `0.3*closing_speed` may be anything. For laws written as equations.
    AnyUnit,
}

impl Numbers {
    fn scaled(self, kind: Kind) -> Kind {
        match self {
            Numbers::Pure => kind,
            Numbers::AnyUnit => Kind::Bare,
        }
    }

    fn ratio(self, dimension: Dimension) -> Kind {
        if dimension == Dimension::ONE { self.pure() } else { Kind::Dim(dimension) }
    }

    fn pure(self) -> Kind {
        match self {
            Numbers::Pure => Kind::Bare,
            Numbers::AnyUnit => Kind::Dim(Dimension::ONE),
        }
    }
}

/// The common kind of two numbers that are added or compared.
fn same(a: Kind, b: Kind) -> Result<Kind, String> {
    match (a, b) {
        (Kind::Condition, _) | (_, Kind::Condition) => Err("a condition is not a number".into()),
        (Kind::Bare, other) | (other, Kind::Bare) => Ok(other),
        _ if a == b => Ok(a),
        _ => Err(format!("units do not match: {a} and {b}")),
    }
}

/// Kind of `a` to a power.
fn power_kind(a: Kind, exponent: Option<f64>, numbers: Numbers) -> Result<Kind, String> {
    match (a, exponent) {
        (Kind::Dim(Dimension::ONE), _) => Ok(a),
        (Kind::Dim(dimension), Some(exponent)) => {
            Ok(dimension.power(exponent).map_or(Kind::Bare, |d| numbers.ratio(d)))
        }
        (Kind::Dim(_), None) => Err(format!("the power of a quantity with unit {a} must be a plain number")),
        _ => Ok(a),
    }
}

/// Powers that a program evaluates by multiplication: |n| at most this.
pub(super) const MAX_MULTIPLIED_POWER: f64 = 32.0;

/// a^b; whole and half powers by multiplication and square root, in the order a compiled program uses.
pub(super) fn power(a: f64, b: f64) -> f64 {
    if (-MAX_MULTIPLIED_POWER..0.0).contains(&b) {
        return 1.0 / power(a, -b);
    }
    let multiplied = (0.0..=MAX_MULTIPLIED_POWER).contains(&b);
    if multiplied && b == b.floor() {
        return whole_power(a, b as u32, |x, y| x * y).unwrap_or(1.0);
    }
    if multiplied && b - b.floor() == 0.5 {
        return match b as u32 {
            0 => a.sqrt(),
            n => whole_power(a, n - 1, |x, y| x * y).unwrap_or(1.0) * (a * a.sqrt()),
        };
    }
    libm::pow(a, b)
}

/// x^n by repeated squaring; `None` for n = 0.
pub(super) fn whole_power<T: Copy>(x: T, n: u32, mut multiply: impl FnMut(T, T) -> T) -> Option<T> {
    let (mut result, mut square, mut n) = (None, x, n);
    while n > 0 {
        if n % 2 == 1 {
            result = Some(result.map_or(square, |r| multiply(r, square)));
        }
        n /= 2;
        if n > 0 {
            square = multiply(square, square);
        }
    }
    result
}
