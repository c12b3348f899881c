//! From the parts of mechanisms back to the tree of a file.

use super::node::{Text, Value};
use super::write::{Writer, list, numbers, tables};
use super::*;

/// Writes joints, force elements, signals, components, sensors and changes.
pub(super) fn mechanism(top: &mut Writer, scene: &Scene) {
    tables(top, "joint", &scene.joints, |joint| self::joint(joint, &scene.joints));
    tables(top, "constraint", &scene.constraints, |constraint| self::constraint(constraint, &scene.joints));
    tables(top, "force", &scene.forces, force);
    tables(top, "signal", &scene.signals, signal);
    tables(top, "component", &scene.components, component);
    tables(top, "sensor", &scene.sensors, |sensor| {
        let mut table = Writer::default();
        table.text("name", Some(&sensor.name));
        table.text("kind", Some(sensor.kind.name()));
        table.texts("between", &sensor.between.each_ref().map(attachment));
        table
    });
    tables(top, "change", &scene.changes, change);
}

/// A constraint of a program: files have no such table yet, and say so when they are read.
fn constraint(constraint: &Constraint, joints: &[Joint]) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&constraint.name));
    let names: Vec<String> =
        constraint.terms.iter().map(|term| coordinate(joints, &term.joint, term.coordinate)).collect();
    table.texts("terms", &names);
    table.put("factors", numbers(&constraint.terms.iter().map(|term| term.factor).collect::<Vec<f64>>()));
    let key = match constraint.holds {
        ConstraintHolds::Equals => "equals",
        ConstraintHolds::AtMost => "at_most",
        ConstraintHolds::AtLeast => "at_least",
    };
    table.put(key, Value::Number(constraint.limit));
    table
}

/// `JOINT.COORDINATE`.
fn coordinate(joints: &[Joint], name: &str, index: usize) -> String {
    let other = joints.iter().find(|other| other.name == *name);
    let coordinate = other.and_then(|other| other.kind.coordinates().get(index));
    coordinate.map_or_else(|| name.to_owned(), |coordinate| format!("{name}.{}", coordinate.name))
}

fn attachment(of: &Attachment) -> String {
    if of.frame.is_empty() { of.body.clone() } else { format!("{}.{}", of.body, of.frame) }
}

/// A vector that is written even where it is zero.
fn vector(table: &mut Writer, key: &str, vector: Option<Vec3>) {
    if let Some(vector) = vector {
        table.put(key, numbers(&vector.to_array()));
    }
}

fn not_zero(value: f64) -> Option<f64> {
    Some(value).filter(|value| *value != 0.0)
}

fn joint(joint: &Joint, joints: &[Joint]) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&joint.name));
    table.text("kind", Some(joint.kind.name()));
    if !joint.kind.is_coupling() {
        table.texts("bodies", &joint.between.each_ref().map(attachment));
    }
    vector(&mut table, "at", joint.at);
    vector(&mut table, "axis", joint.axis);
    vector(&mut table, "axis2", joint.axis2);
    let coordinates = joint.kind.coordinates();
    for (coordinate, value) in coordinates.iter().zip(&joint.start) {
        table.number(coordinate.name, *value);
    }
    for (coordinate, value) in coordinates.iter().zip(&joint.start_rate) {
        table.number(coordinate.rate, *value);
    }
    if matches!(joint.kind, JointKind::Spherical | JointKind::Free) {
        for (key, rates) in ["angular_velocity", "velocity"].into_iter().zip(joint.start_rate.chunks(3)) {
            let rates: Option<Vec<f64>> = rates.iter().copied().collect();
            if let Some(rates) = rates {
                table.put(key, numbers(&rates));
            }
        }
    }
    table.flag("rows", joint.rows, false);
    for (limit, name) in joint.breaking.iter().zip(["breaking_force", "breaking_torque"]) {
        table.number(name, limit.is_finite().then_some(*limit));
    }
    table.flag("collide", joint.collide, false);
    table.flag("active", joint.active, true);
    let couples: Vec<String> = joint.couples.iter().map(|(name, index)| coordinate(joints, name, *index)).collect();
    table.texts("joints", &couples);
    match joint.kind {
        JointKind::Screw => table.number("pitch", Some(joint.pitch)),
        JointKind::Distance => table.number("length", joint.length),
        JointKind::Gear => table.number("ratio", Some(joint.ratio)),
        JointKind::RackAndPinion => table.number("radius", Some(joint.ratio)),
        JointKind::Belt => {
            table.put("radii", numbers(&[1.0, joint.ratio.abs()]));
            table.flag("crossed", joint.ratio < 0.0, false);
        }
        JointKind::Rolling => {
            let [a, b, c] = joint.semi_axes.to_array();
            if a == b && (c == a || c == 0.0) {
                table.number("radius", Some(a));
                table.text("shape", Some(if c == 0.0 { "disc" } else { "ball" }));
            } else {
                table.put("semi_axes", numbers(&[a, b, c]));
            }
        }
        _ => {}
    }
    let coordinate = |table: &mut Writer, index: usize| {
        table.text("coordinate", coordinates.get(index).filter(|_| coordinates.len() > 1).map(|c| c.name));
    };
    tables(&mut table, "spring", &joint.springs, |spring| {
        let mut table = Writer::default();
        coordinate(&mut table, spring.coordinate);
        table.number("stiffness", Some(spring.stiffness));
        table.number("damping", not_zero(spring.damping));
        table.number("rest", not_zero(spring.rest));
        table
    });
    tables(&mut table, "limit", &joint.limits, |limit| {
        let mut table = Writer::default();
        coordinate(&mut table, limit.coordinate);
        table.number("lower", limit.lower);
        table.number("upper", limit.upper);
        table.number("stiffness", Some(limit.stiffness));
        table.number("exponent", Some(limit.exponent));
        table.number("restitution", Some(limit.restitution));
        table
    });
    tables(&mut table, "friction", &joint.frictions, |friction| {
        let mut table = Writer::default();
        coordinate(&mut table, friction.coordinate);
        table.number("sliding", Some(friction.sliding));
        table.number("sticking", Some(friction.sticking));
        table
    });
    tables(&mut table, "motor", &joint.motors, |motor| {
        let mut table = Writer::default();
        coordinate(&mut table, motor.coordinate);
        table.text("kind", Some(motor.kind.name()));
        table.text("value", Some(&motor.value.text));
        table.number("limit", motor.limit);
        if motor.kind == MotorKind::Position {
            table.number("stiffness", Some(motor.stiffness));
            table.number("damping", not_zero(motor.damping));
        }
        table
    });
    table
}

fn force(force: &Force) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&force.name));
    match &force.kind {
        ForceKind::Applied { on, local, force, torque } => {
            table.text("kind", Some("applied"));
            table.text("on", Some(&attachment(on)));
            for (key, equations) in [("force", force), ("torque", torque)] {
                if let Some(equations) = equations {
                    table.put(key, list(equations, |equation| Value::Text(Text::new(&equation.text, true))));
                }
            }
            table.text("resolved", local.then_some("local"));
        }
        ForceKind::Spring { between, at, stiffness, damping, rest, law, rope } => {
            table.text("kind", Some("spring"));
            table.texts("between", &between.each_ref().map(attachment));
            if let Some(ends) = at {
                table.put("at", list(ends, |end| numbers(&end.to_array())));
            }
            match law {
                Some(law) => table.text("law", Some(&law.text)),
                None => {
                    table.number("stiffness", Some(*stiffness));
                    table.number("damping", Some(*damping));
                }
            }
            table.number("rest", *rest);
            table.flag("rope", *rope, false);
        }
        ForceKind::Bushing { between, at, stiffness, damping, turning_stiffness, turning_damping, relaxed } => {
            table.text("kind", Some("bushing"));
            table.texts("between", &between.each_ref().map(attachment));
            vector(&mut table, "at", *at);
            vector(&mut table, "stiffness", Some(*stiffness));
            vector(&mut table, "damping", Some(*damping));
            vector(&mut table, "turning_stiffness", Some(*turning_stiffness));
            vector(&mut table, "turning_damping", Some(*turning_damping));
            table.flag("relaxed", *relaxed, true);
        }
    }
    table
}

fn signal(signal: &Signal) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&signal.name));
    let mut kind = |word: &str| table.text("kind", Some(word));
    match &signal.kind {
        SignalKind::Equation(equation) => {
            kind("equation");
            table.text("value", Some(&equation.text));
        }
        SignalKind::Table { input, x, y } => {
            kind("table");
            table.text("input", Some(&input.text));
            table.put("x", numbers(x));
            table.put("y", numbers(y));
        }
        SignalKind::Ramp { from, to, start, end } => {
            kind("ramp");
            for (key, value) in [("from", from), ("to", to), ("start", start), ("end", end)] {
                table.number(key, Some(*value));
            }
        }
        SignalKind::Pulse { from, period, width, low, high } => {
            kind("pulse");
            for (key, value) in [("from", from), ("period", period), ("width", width), ("low", low), ("high", high)] {
                table.number(key, Some(*value));
            }
        }
        SignalKind::Sine { amplitude, frequency, phase, offset } => {
            kind("sine");
            for (key, value) in
                [("amplitude", amplitude), ("frequency", frequency), ("phase", phase), ("offset", offset)]
            {
                table.number(key, Some(*value));
            }
        }
        SignalKind::Input { start, low, high } => {
            kind("input");
            for (key, value) in [("start", start), ("low", low), ("high", high)] {
                table.number(key, Some(*value));
            }
        }
        SignalKind::Pid { setpoint, measured, proportional, integral, derivative, filter, limit } => {
            kind("pid");
            table.text("setpoint", Some(&setpoint.text));
            table.text("measured", Some(&measured.text));
            table.number("proportional", Some(*proportional));
            table.number("integral", Some(*integral));
            table.number("derivative", Some(*derivative));
            table.number("filter", not_zero(*filter));
            table.number("limit", *limit);
        }
    }
    table
}

fn component(component: &Component) -> Writer {
    let equations = |list: &[Equation]| {
        let mut table = Writer::default();
        for equation in list {
            table.text(&equation.name, Some(&equation.text));
        }
        table
    };
    let mut table = Writer::default();
    table.text("name", Some(&component.name));
    table.table("inputs", equations(&component.inputs));
    let mut states = Writer::default();
    for (name, value) in &component.states {
        states.number(name, Some(*value));
    }
    table.table("states", states);
    table.table("let", equations(&component.lets));
    table.table("der", equations(&component.rates));
    table.table("outputs", equations(&component.outputs));
    tables(&mut table, "crossing", &component.crossings, |crossing| {
        let mut table = Writer::default();
        table.text("when", Some(&crossing.when.text));
        table.table("set", equations(&crossing.set));
        table
    });
    table
}

fn change(change: &Change) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&change.name));
    table.number("at", change.at);
    table.text("when", change.when.as_ref().map(|when| when.text.as_str()));
    match &change.action {
        Action::Attach(joint) => table.text("attach", Some(joint)),
        Action::Release(joint) => table.text("release", Some(joint)),
        Action::Lock(joint) => table.text("lock", Some(joint)),
        Action::Unlock(joint) => table.text("unlock", Some(joint)),
        Action::Delete(body) => table.text("delete", Some(body)),
        Action::Contact { between, on } => table.texts(if *on { "contact_on" } else { "contact_off" }, between),
    }
    table
}
