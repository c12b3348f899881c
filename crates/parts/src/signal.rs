//! Signals: named scalars over time, as scenes know them; [`crate::network`] evaluates them.

use crate::network::{BlockKind, Formula};
use std::f64::consts::TAU;
use std::path::Path;
use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Key, Measure, Range, Spec, any, equation, key, measure, number, text};
use tippe_format::part::{Check, Equation, Part};
use tippe_geometry::file::regular;

/// A kind of signal as scenes know it.
pub struct SignalSpec {
    /// Its word and keys.
    pub kind: Spec,
    /// Its states: their names, and the keys of their start values, if those are not zero.
    pub states: &'static [(&'static str, Option<&'static str>)],
    /// Its block, whose first state has this index; `formula` compiles an equation.
    pub block: fn(&Part, u32, Compile<'_>) -> Option<BlockKind>,
    /// What a drive that follows the signal makes of it.
    pub followed: Followed,
}

/// Compiles an equation.
pub type Compile<'a> = &'a mut dyn FnMut(&Equation) -> Option<Formula>;

/// A signal for drives that need the rates of what they follow.
#[derive(Clone, Copy)]
pub enum Followed {
    /// An equation in its place, as smooth as it is written.
    Smooth(fn(&Part) -> String),
    /// An equation with kinks in its place.
    Bends(fn(&Part) -> String),
    /// It jumps.
    Jumps,
    /// It is no function of time.
    Not,
}

/// Every kind of signal.
pub const SIGNALS: &[&SignalSpec] = &[&EQUATION, &TABLE, &RAMP, &PULSE, &SINE, &INPUT, &PID];

/// Their words and keys.
pub const KINDS: [&Spec; SIGNALS.len()] = {
    let mut kinds = [&SIGNALS[0].kind; SIGNALS.len()];
    let mut k = 0;
    while k < SIGNALS.len() {
        kinds[k] = &SIGNALS[k].kind;
        k += 1;
    }
    kinds
};

/// The kind of signal with this word.
pub fn named(word: &str) -> Option<&'static SignalSpec> {
    SIGNALS.iter().copied().find(|spec| spec.kind.word == word)
}

const SIGNAL: SignalSpec = SignalSpec { kind: Spec::NONE, states: &[], block: |_, _, _| None, followed: Followed::Not };
const NO_UNIT: Measure = Measure { dimension: None, range: Range::Any };

const EQUATION: SignalSpec = SignalSpec {
    kind: Spec {
        word: "equation",
        about: "An equation over time `t`, parameters and other signals",
        keys: &[&[equation("value", "Equation over time `t`, parameters and signals")
            .required("such as value = \"2*sin(t)\"")]],
        example: "value = \"2*t\"",
        ..Spec::NONE
    },
    block: |part, _, compile| compile(part.equation("value")?).map(BlockKind::Equation),
    followed: Followed::Smooth(|part| part.equation("value").map_or(String::new(), |value| value.text.clone())),
    ..SIGNAL
};

const TABLE: SignalSpec = SignalSpec {
    kind: Spec {
        word: "table",
        about: "Straight lines between points, constant outside",
        keys: &[&[
            equation("input", "Input of the table; default t"),
            key("x", Form::List(&Form::Number(NO_UNIT)), "Inputs, ascending"),
            key("y", Form::List(&Form::Number(NO_UNIT)), "Outputs"),
            text("file", "CSV file with the table, from the scene's folder"),
            key(
                "columns",
                Form::Vector(2, measure(Dimension::ONE, Range::Whole)),
                "Columns of input and output, from 0; default [0, 1]",
            ),
        ]],
        check: table,
        example: "input = \"t\"\nx = [0, 1]\ny = [0, 2]",
        ..Spec::NONE
    },
    block: |part, _, compile| {
        let (x, y) = (part.numbers("x").to_vec(), part.numbers("y").to_vec());
        compile(&input(part)).map(|input| BlockKind::Table { input, x, y })
    },
    followed: Followed::Bends(|part| lines(&input(part).text, part.numbers("x"), part.numbers("y"))),
    ..SIGNAL
};

/// Input of a table: time where it names none.
fn input(part: &Part) -> Equation {
    let time = || Equation { name: "input".into(), text: "t".into(), places: part.places.clone() };
    part.equation("input").cloned().unwrap_or_else(time)
}

/// The columns of a table, inline or from a CSV file.
fn table(check: &mut Check<'_>) {
    let before = check.wrong.len();
    check.not_both("file", "x");
    check.not_both("file", "y");
    if !check.has("file") {
        for key in ["x", "y"] {
            check.needs(key, "a table has x and y, or a file");
        }
        if check.has("columns") {
            check.error("columns", " has `columns` but no `file`", "");
        }
    } else if check.wrong.len() == before {
        match columns_of_file(check) {
            Ok([x, y]) => {
                check.part.unset("file");
                check.part.unset("columns");
                check.part.set("x", x);
                check.part.set("y", y);
            }
            Err((key, message, help)) => check.error(key, message, help),
        }
    }
    if check.wrong.len() > before || check.part.get("x").is_none() || check.part.get("y").is_none() {
        return;
    }
    let key = if check.has("file") { "file" } else { "x" };
    let (x, y) = (check.part.numbers("x").to_vec(), check.part.numbers("y").len());
    if x.len() != y {
        check.error("y", format!(" has {} x and {y} y", x.len()), "as many of each");
    } else if x.is_empty() {
        check.error(key, " has an empty table", "give at least one point");
    } else if let Some(k) = x.windows(2).position(|pair| pair[1] <= pair[0]) {
        let message = format!(": x does not ascend: {} after {}", x[k + 1], x[k]);
        check.error(key, message, "every x is greater than the one before");
    }
}

/// Key of what is wrong, what is wrong, and what to do about it.
type Complaint = (&'static str, String, &'static str);

fn columns_of_file(check: &Check<'_>) -> Result<[Vec<f64>; 2], Complaint> {
    let columns = match check.part.numbers("columns") {
        [first, second] => [*first, *second],
        _ => [0.0, 1.0],
    };
    if columns.iter().any(|column| *column < 0.0) {
        return Err(("columns", " has a negative column".into(), "columns count from 0"));
    }
    let path = check.folder.join(check.part.word("file"));
    let text = regular::read_text(&path, regular::TEXT).map_err(|error| {
        ("file", format!(": cannot read {}: {error}", path.display()), "the path is from the scene's folder")
    })?;
    csv(&path, &text, columns).map_err(|message| ("file", message, ""))
}

/// Two columns of a CSV file: numbers separated by `,` or `;`; a first line without numbers, empty lines and lines
/// after `#` are passed over.
fn csv(path: &Path, text: &str, columns: [f64; 2]) -> Result<[Vec<f64>; 2], String> {
    let [mut x, mut y] = [Vec::new(), Vec::new()];
    let mut header = true;
    for (k, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split([',', ';']).map(str::trim).collect();
        let number = |column: f64| {
            let cell = cells.get(column as usize).ok_or_else(|| format!("has no column {column}"))?;
            let value: f64 = cell.parse().map_err(|_| format!("\"{cell}\" is not a number"))?;
            if value.is_finite() { Ok(value) } else { Err(format!("{cell} is not a finite number")) }
        };
        match (number(columns[0]), number(columns[1])) {
            (Ok(a), Ok(b)) => {
                x.push(a);
                y.push(b);
            }
            _ if header && cells.iter().all(|cell| cell.parse::<f64>().is_err()) => {}
            (Err(why), _) | (_, Err(why)) => return Err(format!(": {}, line {}: {why}", path.display(), k + 1)),
        }
        header = false;
    }
    Ok([x, y])
}

/// Straight lines between points, constant outside: y0 + sum of slope_k (min(max(u, x_k), x_k+1) - x_k).
fn lines(u: &str, x: &[f64], y: &[f64]) -> String {
    let mut text = format!("({:e})", y.first().copied().unwrap_or(0.0));
    for (x, y) in x.windows(2).zip(y.windows(2)) {
        let slope = (y[1] - y[0]) / (x[1] - x[0]);
        text += &format!(" + ({slope:e})*(min(max({u}, ({:e})), ({:e})) - ({:e}))", x[0], x[1], x[0]);
    }
    text
}

const FROM: Key = number("from", Dimension::TIME, Range::Any, "When it starts [s]").or(0.0);

const RAMP: SignalSpec = SignalSpec {
    kind: Spec {
        word: "ramp",
        about: "From one value to another at constant rate",
        keys: &[&[
            FROM,
            number("to", Dimension::TIME, Range::Any, "When it ends [s]")
                .required("when it ends, such as to = \"2 s\""),
            any("start", Range::Any, "Value before").or(0.0),
            any("end", Range::Any, "Value after").or(1.0),
        ]],
        check: |check| {
            let (from, to) = (check.part.number("from"), check.part.find_number("to"));
            if let Some(to) = to.filter(|to| *to <= from) {
                let message = format!(" ends at {to} s, but starts at {from} s");
                check.error("to", message, "`to` comes after `from`");
            }
        },
        example: "from = 0\nto = 1\nstart = 0\nend = 2",
        ..Spec::NONE
    },
    block: |part, _, _| {
        let [times, values] = ramp(part);
        Some(BlockKind::Ramp { times, values })
    },
    followed: Followed::Bends(|part| {
        let [times, values] = ramp(part);
        lines("t", &times, &values)
    }),
    ..SIGNAL
};

/// Times [s] and values of a ramp.
fn ramp(part: &Part) -> [[f64; 2]; 2] {
    [["from", "to"], ["start", "end"]].map(|keys| keys.map(|key| part.number(key)))
}

const PULSE: SignalSpec = SignalSpec {
    kind: Spec {
        word: "pulse",
        about: "A square wave",
        keys: &[&[
            FROM,
            number("period", Dimension::TIME, Range::Positive, "From one rising edge to the next [s]")
                .required("such as period = \"1 s\""),
            number("width", Dimension::TIME, Range::Positive, "Time at the high value [s]; default half the period"),
            any("low", Range::Any, "Value between pulses").or(0.0),
            any("high", Range::Any, "Value during a pulse").or(1.0),
        ]],
        check: |check| {
            let (period, width) = (check.part.find_number("period"), check.part.find_number("width"));
            if let (Some(period), Some(width)) = (period, width)
                && width > period
            {
                let message = format!(" has width {width} s; its period is {period} s");
                check.error("width", message, "a pulse ends before the next one starts");
            }
        },
        example: "period = 1\nwidth = 0.5\nhigh = 2",
        ..Spec::NONE
    },
    block: |part, _, _| {
        let (from, period) = (part.number("from"), part.number("period"));
        let width = part.find_number("width").unwrap_or(0.5 * period);
        Some(BlockKind::Pulse { from, period, width, levels: ["low", "high"].map(|key| part.number(key)) })
    },
    followed: Followed::Jumps,
    ..SIGNAL
};

const SINE: SignalSpec = SignalSpec {
    kind: Spec {
        word: "sine",
        about: "offset + amplitude sin(2 pi frequency t + phase)",
        keys: &[&[
            any("amplitude", Range::Any, "Amplitude").or(1.0),
            number("frequency", Dimension::ANGULAR_SPEED, Range::NotNegative, "Frequency [Hz]")
                .required("such as frequency = \"2 Hz\""),
            number("phase", Dimension::ONE, Range::Any, "Phase [rad]").or(0.0),
            any("offset", Range::Any, "Mean value").or(0.0),
        ]],
        example: "amplitude = 1\nfrequency = 2",
        ..Spec::NONE
    },
    block: |part, _, _| {
        Some(BlockKind::Sine {
            amplitude: part.number("amplitude"),
            omega: TAU * part.number("frequency"),
            phase: part.number("phase"),
            offset: part.number("offset"),
        })
    },
    followed: Followed::Smooth(|part| {
        let [amplitude, frequency, phase, offset] =
            ["amplitude", "frequency", "phase", "offset"].map(|key| part.number(key));
        format!("({offset:e}) + ({amplitude:e})*sin(({:e})*t + ({phase:e}))", TAU * frequency)
    }),
    ..SIGNAL
};

const INPUT: SignalSpec = SignalSpec {
    kind: Spec {
        word: "input",
        about: "A number from outside the scene: a slider, a key, a datagram",
        keys: &[&[
            any("start", Range::Any, "Value until it is set").or(0.0),
            any("low", Range::Any, "Smallest input").or(-1.0),
            any("high", Range::Any, "Largest input").or(1.0),
        ]],
        check: |check| {
            let [start, low, high] = ["start", "low", "high"].map(|key| check.part.number(key));
            if low > start || start > high {
                let message = format!(" starts at {start}, outside {low} to {high}");
                check.error("", message, "`low` <= `start` <= `high`");
            }
        },
        example: "start = 0.5",
        ..Spec::NONE
    },
    states: &[("set", Some("start"))],
    block: |part, state, _| Some(BlockKind::Input { state, limits: ["low", "high"].map(|key| part.number(key)) }),
    ..SIGNAL
};

const PID: SignalSpec = SignalSpec {
    kind: Spec {
        word: "pid",
        about: "P e + I integral(e) + D e', the derivative filtered, the output limited, the integral held at the limit",
        keys: &[&[
            equation("setpoint", "Wanted value").required("the wanted value, such as setpoint = 1"),
            equation("measured", "Measured value").required("such as measured = \"hinge.angle\""),
            any("proportional", Range::Any, "Proportional gain").or(0.0),
            any("integral", Range::Any, "Integral gain [1/s]").or(0.0),
            any("derivative", Range::Any, "Derivative gain [s]").or(0.0),
            number("filter", Dimension::TIME, Range::Positive, "Time constant of the derivative's filter [s]"),
            any("limit", Range::Positive, "Largest output either way"),
        ]],
        check: |check| {
            if check.part.number("derivative") != 0.0 {
                check.needs("filter", "the derivative is filtered: such as filter = \"10 ms\"");
            }
            if !["proportional", "integral", "derivative"].iter().any(|key| check.has(key)) {
                check.error("", " has no gain", "give proportional, integral or derivative");
            }
        },
        example: "setpoint = \"1\"\nmeasured = \"0.5\"\nproportional = 2\nderivative = 0.1\nfilter = 0.01",
        ..Spec::NONE
    },
    states: &[("integral", None), ("filtered", None)],
    block: |part, _, compile| {
        let (setpoint, measured) = (part.equation("setpoint")?, part.equation("measured")?);
        let text = format!("({}) - ({})", setpoint.text, measured.text);
        let error = compile(&Equation { name: "error".into(), text, places: setpoint.places.clone() })?;
        Some(BlockKind::Pid {
            error,
            gains: ["proportional", "integral", "derivative"].map(|key| part.number(key)),
            filter: part.number("filter"),
            limit: part.find_number("limit").unwrap_or(f64::INFINITY),
        })
    },
    ..SIGNAL
};
