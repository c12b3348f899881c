//! Units of measurement and their dimensions.

use std::fmt;

/// Powers of metre, kilogram, second and ampere, in twelfths so that roots of units stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension {
    twelfths: [i16; 4],
}

impl Dimension {
    /// No dimension.
    pub const ONE: Dimension = Dimension::new(0, 0, 0);
    /// Length [m].
    pub const LENGTH: Dimension = Dimension::new(1, 0, 0);
    /// Mass [kg].
    pub const MASS: Dimension = Dimension::new(0, 1, 0);
    /// Time [s].
    pub const TIME: Dimension = Dimension::new(0, 0, 1);
    /// Speed [m/s].
    pub const SPEED: Dimension = Dimension::new(1, 0, -1);
    /// Acceleration [m/s2].
    pub const ACCELERATION: Dimension = Dimension::new(1, 0, -2);
    /// Angular speed [rad/s].
    pub const ANGULAR_SPEED: Dimension = Dimension::new(0, 0, -1);
    /// Force [N].
    pub const FORCE: Dimension = Dimension::new(1, 1, -2);
    /// Energy [J].
    pub const ENERGY: Dimension = Dimension::new(2, 1, -2);
    /// Power [W].
    pub const POWER: Dimension = Dimension::new(2, 1, -3);
    /// Pressure, elastic modulus [Pa].
    pub const PRESSURE: Dimension = Dimension::new(-1, 1, -2);
    /// Density [kg/m3].
    pub const DENSITY: Dimension = Dimension::new(-3, 1, 0);
    /// Moment of inertia [kg m2].
    pub const INERTIA: Dimension = Dimension::new(2, 1, 0);
    /// Inverse of a speed [s/m].
    pub const SLOWNESS: Dimension = Dimension::new(-1, 0, 1);

    /// Electric current [A].
    pub const CURRENT: Dimension = Dimension::new(0, 0, 0).with_current(1);
    /// Voltage [V].
    pub const VOLTAGE: Dimension = Dimension::POWER.with_current(-1);

    /// m^length kg^mass s^time.
    pub const fn new(length: i16, mass: i16, time: i16) -> Self {
        Dimension { twelfths: [12 * length, 12 * mass, 12 * time, 0] }
    }

    /// This times A^current.
    pub const fn with_current(mut self, current: i16) -> Self {
        self.twelfths[3] += 12 * current;
        self
    }

    /// Powers of metre, kilogram, second and ampere [-].
    pub fn powers(self) -> [f64; 4] {
        self.twelfths.map(|twelfths| f64::from(twelfths) / 12.0)
    }

    /// Dimension of a product; `None` if a power is absurdly high.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        self.combine(other, i16::checked_add)
    }

    /// Dimension of a quotient; `None` if a power is absurdly high.
    pub fn over(self, other: Dimension) -> Option<Dimension> {
        self.combine(other, i16::checked_sub)
    }

    /// The unit as an equation can read it back, such as `m/s^2`; `None` for roots of units.
    pub fn written(self) -> Option<String> {
        if self.twelfths.iter().any(|p| p % 12 != 0 || p.abs() > 144) {
            return None;
        }
        if self == Dimension::ONE {
            return Some("rad".into());
        }
        let text = self.to_string();
        Some(text.strip_prefix("1/").map_or(text.clone(), |below| format!("rad/{below}")))
    }

    fn combine(self, other: Dimension, f: fn(i16, i16) -> Option<i16>) -> Option<Dimension> {
        let mut twelfths = [0; 4];
        for k in 0..4 {
            twelfths[k] = f(self.twelfths[k], other.twelfths[k])?;
        }
        Some(Dimension { twelfths })
    }

    /// Dimension of a power; `None` if it is not a multiple of a twelfth or absurdly high.
    pub fn power(self, exponent: f64) -> Option<Dimension> {
        let mut twelfths = [0; 4];
        for k in 0..4 {
            let p = f64::from(self.twelfths[k]) * exponent;
            if p != p.round() || p.abs() > f64::from(i16::MAX) {
                return None;
            }
            twelfths[k] = p as i16;
        }
        Some(Dimension { twelfths })
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: [(Dimension, &str); 7] = [
            (Dimension::ONE, "-"),
            (Dimension::FORCE, "N"),
            (Dimension::ENERGY, "J"),
            (Dimension::POWER, "W"),
            (Dimension::PRESSURE, "Pa"),
            (Dimension::DENSITY, "kg/m^3"),
            (Dimension::VOLTAGE, "V"),
        ];
        if let Some((_, name)) = NAMED.iter().find(|(dimension, _)| dimension == self) {
            return f.write_str(name);
        }
        let part = |symbol: &str, twelfths: i16| match (twelfths, twelfths % 12) {
            (12, _) => symbol.to_string(),
            (_, 0) => format!("{symbol}^{}", twelfths / 12),
            _ => format!("{symbol}^{}", f64::from(twelfths) / 12.0),
        };
        let symbols =
            [("kg", self.twelfths[1]), ("m", self.twelfths[0]), ("s", self.twelfths[2]), ("A", self.twelfths[3])];
        let above: Vec<String> = symbols.iter().filter(|(_, p)| *p > 0).map(|(s, p)| part(s, *p)).collect();
        let below: Vec<String> =
            symbols.iter().filter(|(_, p)| *p < 0).map(|(s, p)| part(s, p.saturating_neg())).collect();
        f.write_str(&if above.is_empty() { "1".to_string() } else { above.join(" ") })?;
        for unit in below {
            write!(f, "/{unit}")?;
        }
        Ok(())
    }
}

/// What kind of number an expression is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Without a unit: takes the unit its place asks for.
    #[default]
    Bare,
    /// With a known dimension.
    Dim(Dimension),
    /// True or false.
    Condition,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bare => f.write_str("a plain number"),
            Kind::Dim(Dimension::ONE) => f.write_str("a pure number or angle"),
            Kind::Dim(dimension) => write!(f, "[{dimension}]"),
            Kind::Condition => f.write_str("a condition"),
        }
    }
}

/// A unit: SI value = number * numerator * 10^ten / denominator, so that `30 mm` and `72 km/h` are correctly rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    numerator: f64,
    denominator: f64,
    ten: i32,
    pub dimension: Dimension,
}

impl Unit {
    pub const ONE: Unit = Unit { numerator: 1.0, denominator: 1.0, ten: 0, dimension: Dimension::ONE };

    /// Unit by its symbol, with an SI prefix where one is usual.
    pub fn from_symbol(symbol: &str) -> Option<Unit> {
        if let Some((unit, _)) = base(symbol) {
            return Some(unit);
        }
        let mut letters = symbol.chars();
        let ten = match letters.next()? {
            'p' => -12,
            'n' => -9,
            'u' | '\u{b5}' | '\u{3bc}' => -6,
            'm' => -3,
            'c' => -2,
            'd' => -1,
            'h' => 2,
            'k' => 3,
            'M' => 6,
            'G' => 9,
            'T' => 12,
            _ => return None,
        };
        match base(letters.as_str())? {
            (unit, true) => Some(Unit { ten: unit.ten + ten, ..unit }),
            _ => None,
        }
    }

    /// This unit times `other` to the power `power`.
    pub fn times_power(self, other: Unit, power: i32) -> Option<Unit> {
        let mut unit = self;
        for _ in 0..power.abs() {
            let (n, d) =
                if power > 0 { (other.numerator, other.denominator) } else { (other.denominator, other.numerator) };
            unit.numerator *= n;
            unit.denominator *= d;
        }
        unit.ten = unit.ten.checked_add(other.ten.checked_mul(power)?)?;
        unit.dimension = unit.dimension.times(other.dimension.power(f64::from(power))?)?;
        Some(unit)
    }

    /// SI value of a number of this unit.
    pub fn to_si(self, number: f64) -> f64 {
        let up = libm::pow(10.0, f64::from(self.ten.max(0)));
        let down = libm::pow(10.0, f64::from((-self.ten).max(0)));
        number * (self.numerator * up) / (self.denominator * down)
    }
}

/// Units without prefix, and whether they take one.
fn base(symbol: &str) -> Option<(Unit, bool)> {
    let si = |dimension| Unit { dimension, ..Unit::ONE };
    Some(match symbol {
        "m" => (si(Dimension::LENGTH), true),
        "g" => (Unit { ten: -3, ..si(Dimension::MASS) }, true),
        "s" => (si(Dimension::TIME), true),
        "N" => (si(Dimension::FORCE), true),
        "Pa" => (si(Dimension::PRESSURE), true),
        "J" => (si(Dimension::ENERGY), true),
        "W" => (si(Dimension::POWER), true),
        "Hz" => (si(Dimension::ANGULAR_SPEED), true),
        "bar" => (Unit { ten: 5, ..si(Dimension::PRESSURE) }, true),
        "A" => (si(Dimension::CURRENT), true),
        "V" => (si(Dimension::VOLTAGE), true),
        "ohm" => (si(Dimension::VOLTAGE.with_current(-1)), true),
        "H" => (si(Dimension::ENERGY.with_current(-2)), true),
        "rad" => (si(Dimension::ONE), true),
        "deg" => (Unit { numerator: std::f64::consts::PI, denominator: 180.0, ..Unit::ONE }, false),
        "rpm" => {
            let turn = Unit { numerator: 2.0 * std::f64::consts::PI, denominator: 60.0, ..Unit::ONE };
            (Unit { dimension: Dimension::ANGULAR_SPEED, ..turn }, false)
        }
        "min" => (Unit { numerator: 60.0, ..si(Dimension::TIME) }, false),
        "h" => (Unit { numerator: 3600.0, ..si(Dimension::TIME) }, false),
        _ => return None,
    })
}

/// Units to name in help texts.
pub(super) const COMMON_UNITS: [&str; 30] = [
    "m", "mm", "cm", "km", "um", "nm", "kg", "g", "s", "ms", "us", "min", "h", "rad", "deg", "N", "kN", "Pa", "kPa",
    "MPa", "GPa", "J", "W", "Hz", "rpm", "bar", "A", "V", "ohm", "H",
];
