//! Bodies and their shapes, repeats expanded.

use super::format;
use super::node::{Node, Value};
use super::read::{check_name, check_path, exactly_one, names};
use super::reader::{Fields, Reader};
use super::*;
use crate::equation::Dimension;
use std::f64::consts::PI;

/// What `[defaults]` gives to bodies.
#[derive(Default)]
struct Defaults {
    material: Option<String>,
    smoothing: Option<f64>,
    groups: Vec<String>,
    collide: Option<bool>,
}

/// Reads all bodies into `scene`.
pub(super) fn bodies(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let mut defaults = Defaults::default();
    if let Some(fields) = reader.table(fields, "defaults", &format::DEFAULTS) {
        defaults = Defaults {
            material: reader.text(&fields, "material").map(str::to_string),
            smoothing: reader.number(&fields, "smoothing"),
            groups: names(reader, &fields, "groups"),
            collide: reader.flag(&fields, "collide"),
        };
    }
    let Some(node) = fields.get("body") else { return };
    for item in reader.items(node, "body") {
        let name = match &item.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == "name").map(|entry| &entry.node.value),
            _ => None,
        };
        let what = match name {
            Some(Value::Text(text)) => format!("body \"{}\"", text.text),
            _ => "[[body]]".to_string(),
        };
        let errors_before = reader.errors.len();
        let Some(fields) = reader.fields(item, &format::BODY, what) else { continue };
        let copies = Copies { fields: &fields, places: fields.places(), defaults: &defaults, errors_before };
        repeat::repeated(reader, &fields, |reader| scene.bodies.extend(copies.body(reader)));
    }
}

/// A body that is being read, once for every value of its loops.
struct Copies<'a, 'n> {
    fields: &'a Fields<'n>,
    places: Places,
    defaults: &'a Defaults,
    /// Errors before its table was looked at.
    errors_before: usize,
}

impl Copies<'_, '_> {
    /// The body for the present values of the loops.
    fn body(&self, reader: &mut Reader<'_>) -> Option<Body> {
        let (fields, defaults) = (self.fields, self.defaults);
        let name_node = fields.get("name")?;
        let name = reader.text(fields, "name").map(|name| reader.filled(name_node, name))?;
        check_path(reader, &name, name_node.place, "body");
        let fields = &Fields { what: format!("body \"{name}\""), ..fields.clone() };
        let material = filled_text(reader, fields, "material").or_else(|| defaults.material.clone());
        let mut body = Body {
            name,
            fixed: reader.flag(fields, "fixed").unwrap_or(false),
            shapes: shapes(reader, fields, defaults),
            material,
            density: reader.number(fields, "density"),
            position: reader.vec3(fields, "position").unwrap_or_default(),
            orientation: reader.orientation(fields).unwrap_or(Quat::IDENTITY),
            velocity: reader.vec3(fields, "velocity").unwrap_or_default(),
            angular_velocity: reader.vec3(fields, "angular_velocity").unwrap_or_default(),
            mass: reader.number(fields, "mass"),
            inertia: inertia(reader, fields),
            center_of_mass: reader.vec3(fields, "center_of_mass"),
            motion: None,
            servo: read_grains::servo(reader, fields),
            groups: reader.texts(fields, "groups").map_or_else(|| defaults.groups.clone(), without_places),
            ignore: names(reader, fields, "ignore"),
            collide: reader.flag(fields, "collide").or(defaults.collide).unwrap_or(true),
            solver: reader.word(fields, "solver", Solver::from_name),
            frames: frames(reader, fields),
            flexible: flexible::read(reader, fields),
            interface_of: None,
            places: self.places.clone(),
        };
        if let Some(omega_b) = reader.vec3(fields, "angular_velocity_body") {
            body.angular_velocity = body.orientation * omega_b;
        }
        if let Some(motion) = reader.table(fields, "motion", &format::MOTION) {
            body.motion = Some(Motion {
                velocity: reader.vec3(&motion, "velocity").unwrap_or_default(),
                angular_velocity: reader.vec3(&motion, "angular_velocity").unwrap_or_default(),
            });
        }
        let whole = reader.errors.len() == self.errors_before;
        check_body(reader, fields, &body, whole);
        Some(body)
    }
}

fn frames(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let Some(node) = fields.get("frames") else { return frames };
    let what = format!("{}: frame", fields.what);
    for item in reader.items(node, &format!("{}: frames", fields.what)) {
        let Some(fields) = reader.fields(item, &format_mechanism::FRAME, what.clone()) else { continue };
        let Some(name) = filled_text(reader, &fields, "name") else { continue };
        check_name(reader, &name, fields.place_of("name"), "frame");
        if frames.iter().any(|other| other.name == name) {
            reader.error(fields.place_of("name"), format!("{what}: two frames have the name \"{name}\""), "");
        }
        frames.push(Frame {
            name,
            position: reader.vec3(&fields, "position").unwrap_or_default(),
            orientation: reader.orientation(&fields).unwrap_or(Quat::IDENTITY),
            places: fields.places(),
        });
    }
    frames
}

fn without_places(texts: Vec<(String, Place)>) -> Vec<String> {
    texts.into_iter().map(|(text, _)| text).collect()
}

fn filled_text(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<String> {
    let node = fields.get(name)?;
    reader.text(fields, name).map(|text| reader.filled(node, text))
}

/// What one body says must not contradict itself. What it lacks is reported only if the rest could be read.
fn check_body(reader: &mut Reader<'_>, fields: &Fields<'_>, body: &Body, whole: bool) {
    let what = &fields.what;
    let both = [
        ("shape", "shapes", "keep one of them"),
        ("mass", "density", "the density follows from mass and shape: keep one of them"),
        ("angular_velocity", "angular_velocity_body", "keep one of them"),
        ("servo", "motion", "a servo moves the body"),
        ("servo", "velocity", "a servo moves the body"),
        ("servo", "angular_velocity", "a servo moves the body"),
        ("servo", "angular_velocity_body", "a servo moves the body"),
        ("motion", "velocity", "a given motion is the velocity"),
        ("motion", "angular_velocity", "a given motion is the velocity"),
        ("motion", "angular_velocity_body", "a given motion is the velocity"),
    ];
    for (one, other, help) in both {
        if let (Some(_), Some(node)) = (fields.get(one), fields.get(other)) {
            reader.error(node.place, format!("{what} has both `{one}` and `{other}`"), help);
        }
    }
    for name in ["velocity", "angular_velocity", "angular_velocity_body", "motion", "servo"] {
        if let (true, Some(node)) = (body.fixed, fields.get(name)) {
            reader.error(node.place, format!("{what} is fixed and has `{name}`"), "leave out one of them");
        }
    }
    if let (Some(node), None) = (fields.get("inertia"), fields.get("mass")) {
        reader.error(node.place, format!("{what} has `inertia` but no `mass`"), "give both, or none to compute them");
    }
    if body.mass.is_some()
        && let Some(shape) = body.shapes.iter().find(|shape| shape.density.is_some())
    {
        let help = "the density follows from mass and shape: keep one of them";
        reader.error(shape.places.of("density"), format!("{what} has `mass` and a shape with `density`"), help);
    }
    if body.fixed || body.motion.is_some() || body.servo.is_some() || !whole {
        return;
    }
    for shape in &body.shapes {
        let unbounded = match shape.kind {
            ShapeKind::HalfSpace { .. } => "half_space",
            ShapeKind::HeightGrid { .. } => "height_grid",
            _ => continue,
        };
        reader.error(shape.places.entity, format!("{what} moves freely and has a {unbounded}"), "write fixed = true");
    }
    // A shape whose solid could not be made has been told of there.
    let has_shape = fields.get("shape").is_some()
        || fields.get("shapes").is_some_and(|node| !matches!(&node.value, Value::List(items) if items.is_empty()));
    if !has_shape && (body.mass.is_none() || body.inertia.is_none()) {
        let help = "give it a shape, or mass and inertia, or write fixed = true";
        reader.error(fields.place, format!("{what} moves freely and has neither a shape nor mass and inertia"), help);
    }
    let weightless =
        |shape: &ShapeSpec| [&shape.material, &body.material].iter().all(|m| m.is_none()) && shape.density.is_none();
    if body.mass.is_none() && body.density.is_none() && body.shapes.iter().any(weightless) {
        let help = "give a material, a density, or the mass";
        reader.error(fields.place, format!("{what} has no mass and no material to compute it from"), help);
    }
}

/// Inertia as a diagonal or a 3x3 matrix. A rigid body's principal moments are positive and none exceeds the sum of the
/// other two: I and tr(I)/2 - I have no negative eigenvalue.
fn inertia(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Mat3> {
    let (node, key) = (fields.get("inertia")?, fields.table.key("inertia")?);
    let measure = format::Measure { dimension: Some(Dimension::INERTIA), range: format::Range::Any };
    let rows = match &node.value {
        Value::List(items) if matches!(items.first().map(|item| &item.value), Some(Value::List(_))) => {
            if items.len() != 3 {
                reader.error(node.place, format!("{}: inertia has {} rows, not 3", fields.what, items.len()), "");
                return None;
            }
            let mut rows = [[0.0; 3]; 3];
            for (row, item) in rows.iter_mut().zip(items) {
                *row = reader.numbers(item, measure, &fields.what, key)?;
            }
            rows
        }
        _ => {
            let [x, y, z] = reader.numbers(node, measure, &fields.what, key)?;
            [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
        }
    };
    let I = Mat3::from_cols_array_2d(&rows);
    let scale = rows.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    let symmetric = (0..3).all(|i| (0..3).all(|j| (rows[i][j] - rows[j][i]).abs() <= 1e-9 * scale));
    let half_trace = 0.5 * (rows[0][0] + rows[1][1] + rows[2][2]);
    let spread = Mat3::from_diagonal(Vec3::splat(half_trace)) - I;
    let message = if !symmetric {
        "is not symmetric"
    } else if scale > 0.0 && !positive(I, 1e-12 * scale) {
        "is not positive"
    } else if scale > 0.0 && !positive(spread, NO_BODY * scale) {
        "belongs to no body: one principal moment exceeds the sum of the other two"
    } else {
        return Some(I);
    };
    reader.error(node.place, format!("{}: inertia {message}", fields.what), key.help);
    None
}

/// Inertia that no body can have by less than this share of it is taken as measured, with a warning [-].
const NO_BODY: f64 = 0.1;

/// True if no eigenvalue of a symmetric matrix is below -slack (leading minors of A + slack).
fn positive(A: Mat3, slack: f64) -> bool {
    let A = A + Mat3::from_diagonal(Vec3::splat(slack));
    let (a, b, c) = (A.x_axis, A.y_axis, A.z_axis);
    a.x > 0.0 && a.x * b.y - a.y * b.x > 0.0 && a.dot(b.cross(c)) > 0.0
}

fn shapes(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Vec<ShapeSpec> {
    let mut shapes = Vec::new();
    if let Some(node) = fields.get("shape") {
        shapes.extend(shape(reader, node, &fields.what, defaults).into_iter().flatten());
    }
    if let Some(node) = fields.get("shapes") {
        for item in reader.items(node, &format!("{}: shapes", fields.what)) {
            shapes.extend(shape(reader, item, &fields.what, defaults).into_iter().flatten());
        }
    }
    shapes
}

/// A shape, or the pieces of a pipe.
fn shape(reader: &mut Reader<'_>, node: &Node, body: &str, defaults: &Defaults) -> Option<Vec<ShapeSpec>> {
    let what = format!("{body}: shape");
    let entries = reader.entries(node, &what)?;
    let kinds = || format::SHAPES.iter().map(|table| table.name);
    let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
        reader.error(
            node.place,
            format!("{what} has no `kind`"),
            format!("one of {}", kinds().collect::<Vec<_>>().join(", ")),
        );
        return None;
    };
    let table = match &kind.node.value {
        Value::Text(text) => format::SHAPES.iter().find(|table| table.name == text.text).ok_or(text.text.as_str()),
        _ => Err(""),
    };
    let table = match table {
        Ok(table) => table,
        Err(word) => {
            reader.error(kind.node.place, format!("{what} has unknown kind \"{word}\""), did_you_mean(word, kinds()));
            return None;
        }
    };
    let fields = reader.fields(node, table, format!("{body}: {}", table.name))?;
    let pieces = if table.name == "pipe" { pipe(reader, &fields) } else { None };
    let form = if table.name == "pipe" { None } else { shape_kind(reader, &fields, defaults) };
    let spec = ShapeSpec {
        kind: form.clone().unwrap_or(ShapeKind::Sphere { radius: 1.0 }),
        position: reader.vec3(&fields, "position").unwrap_or_default(),
        orientation: reader.orientation(&fields).unwrap_or(Quat::IDENTITY),
        material: filled_text(reader, &fields, "material"),
        density: reader.number(&fields, "density"),
        collide: reader.flag(&fields, "collide").unwrap_or(true),
        places: fields.places(),
    };
    let placed = |piece: ShapeSpec| ShapeSpec {
        position: spec.position + spec.orientation.normalize() * piece.position,
        orientation: spec.orientation.normalize() * piece.orientation,
        kind: piece.kind,
        density: piece.density,
        ..spec.clone()
    };
    match pieces {
        Some(pieces) => Some(pieces.into_iter().map(placed).collect()),
        None => form.map(|_| vec![spec]),
    }
}

/// A round about the middle of a shape, from a radius or a diameter.
fn radius(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<f64> {
    exactly_one(reader, fields, "radius", "diameter")
        .then(|| reader.number(fields, "radius").or_else(|| reader.number(fields, "diameter").map(|d| 0.5 * d)))?
}

/// Points of a list.
fn points(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<Vec<Vec3>> {
    let (node, key) = (fields.get(name)?, fields.table.key(name)?);
    let measure = format::Measure { dimension: Some(Dimension::LENGTH), range: format::Range::Any };
    let items = reader.items(node, &format!("{}: {name}", fields.what));
    items.iter().map(|item| reader.numbers(item, measure, &fields.what, key).map(Vec3::from_array)).collect()
}

/// Capsules along a uniform cubic B-spline,   r(t) = ((1 - t)^3 P_0 + (3 t^3 - 6 t^2 + 4) P_1 + (1 + 3 t + 3 t^2 - 3 t^3) P_2 + t^3 P_3)/6
/// for each four of its points (de Boor 1978), with the mass of the pipe along them.
fn pipe(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<ShapeSpec>> {
    let (radius, control) = (radius(reader, fields), points(reader, fields, "control"));
    let (pieces, per_length) = (reader.number(fields, "pieces"), reader.number(fields, "mass_per_length"));
    let (radius, control, n) = (radius?, control?, pieces.unwrap_or(8.0) as usize);
    if control.len() < 4 || (control.len() - 3) * n > MOST_PIECES {
        let message = format!("{} has {} control points and {n} pieces for each", fields.what, control.len());
        reader.error(
            fields.place_of("control"),
            message,
            format!("4 control points or more, and {MOST_PIECES} pieces at most in all"),
        );
        return None;
    }
    let line = spline(&control, n);
    if let Some(k) = line.windows(2).position(|pair| (pair[1] - pair[0]).length() < 1e-9 * radius) {
        let message = format!("{} stands still at its piece {}", fields.what, k + 1);
        reader.error(fields.place_of("control"), message, "control points that differ");
        return None;
    }
    let piece = |pair: &[Vec3]| {
        let (along, length) = (pair[1] - pair[0], (pair[1] - pair[0]).length());
        let volume = PI * radius * radius * (length + 4.0 / 3.0 * radius);
        ShapeSpec {
            kind: ShapeKind::Capsule { radius, length, axis: Axis::X },
            position: 0.5 * (pair[0] + pair[1]),
            orientation: Quat::from_rotation_arc(Vec3::X, along / length),
            density: Some(per_length.unwrap_or(0.0) * length / volume),
            ..ShapeSpec::default()
        }
    };
    Some(line.windows(2).map(piece).collect())
}

/// Capsules of one pipe at most.
const MOST_PIECES: usize = 1000;

/// Points of a uniform cubic B-spline, n pieces for each span.
fn spline(control: &[Vec3], n: usize) -> Vec<Vec3> {
    let at = |p: &[Vec3], t: f64| {
        let (t2, t3, s) = (t * t, t * t * t, 1.0 - t);
        let weights = [s * s * s, 3.0 * t3 - 6.0 * t2 + 4.0, 1.0 + 3.0 * t + 3.0 * t2 - 3.0 * t3, t3];
        p.iter().zip(weights).map(|(p, w)| *p * (w / 6.0)).sum::<Vec3>()
    };
    let first = at(&control[..4], 0.0);
    let spans = control.windows(4).flat_map(|p| (1..=n).map(move |k| at(p, k as f64 / n as f64)));
    std::iter::once(first).chain(spans).collect()
}

fn shape_kind(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Option<ShapeKind> {
    let kind = fields.table.name;
    let halves = |reader: &mut Reader<'_>, half: &str, whole: &str| {
        exactly_one(reader, fields, half, whole)
            .then(|| reader.vec3(fields, half).or_else(|| reader.vec3(fields, whole).map(|size| 0.5 * size)))?
    };
    // The smallest half dimension bounds the rounding of edges.
    let smoothing = |reader: &mut Reader<'_>, half: f64| {
        let smoothing = match reader.number(fields, "smoothing") {
            None => return defaults.smoothing.map(|smoothing| smoothing.min(half)),
            given => given,
        };
        if let Some(given) = smoothing.filter(|given| *given > half) {
            let message = format!("{} has smoothing {given} m; half its smallest dimension is {half} m", fields.what);
            reader.error(fields.place_of("smoothing"), message, "rounding stays inside the outer dimensions");
        }
        smoothing
    };
    Some(match kind {
        "sphere" => ShapeKind::Sphere { radius: radius(reader, fields)? },
        "ellipsoid" => ShapeKind::Ellipsoid { semi_axes: halves(reader, "semi_axes", "lengths")? },
        "box" => {
            let half_extents = halves(reader, "half_extents", "size")?;
            ShapeKind::Box { half_extents, smoothing: smoothing(reader, half_extents.min_element()) }
        }
        "cylinder" | "capsule" | "cone" => {
            let (radius, length) = (radius(reader, fields), reader.number(fields, "length"));
            let axis = reader.word(fields, "axis", Axis::from_name).unwrap_or(Axis::Z);
            let (radius, length) = (radius?, length?);
            match kind {
                "capsule" => ShapeKind::Capsule { radius, length, axis },
                "cylinder" => {
                    ShapeKind::Cylinder { radius, length, axis, smoothing: smoothing(reader, radius.min(0.5 * length)) }
                }
                _ => {
                    let top_radius = reader.number(fields, "top_radius").unwrap_or(0.0);
                    let smoothing = smoothing(reader, radius.min(0.5 * length));
                    ShapeKind::Cone { radius, top_radius, length, axis, smoothing }
                }
            }
        }
        "half_space" => ShapeKind::HalfSpace {
            normal: if fields.get("normal").is_some() { reader.direction(fields, "normal")? } else { Vec3::Z },
        },
        "profile" => {
            let (curve, length) = (profile_curve(reader, fields), reader.number(fields, "length"));
            ShapeKind::Profile { curve: curve?, length: length? }
        }
        "hull" => hull(reader, fields, defaults)?,
        "mesh" => read_solid::mesh_shape(reader, fields)?,
        _ => height_grid(reader, fields)?,
    })
}

/// The curve of a profile, as it is written.
fn profile_curve(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Part> {
    let (node, key) = (fields.get("curve")?, fields.table.key("curve")?);
    read_part::curve(reader, node, key, &fields.what)
}

fn hull(reader: &mut Reader<'_>, fields: &Fields<'_>, defaults: &Defaults) -> Option<ShapeKind> {
    let points = points(reader, fields, "points")?;
    if points.len() < 4 {
        reader.error(
            fields.place_of("points"),
            format!("{} has {} points; a hull has at least 4", fields.what, points.len()),
            "",
        );
        return None;
    }
    Some(ShapeKind::Hull { points, smoothing: reader.number(fields, "smoothing").or(defaults.smoothing) })
}

fn height_grid(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<ShapeKind> {
    let (node, key) = (fields.get("heights")?, fields.table.key("heights")?);
    let size = reader.vector::<2>(fields, "size");
    let measure = format::Measure { dimension: Some(Dimension::LENGTH), range: format::Range::Any };
    let what = format!("{}: heights", fields.what);
    let mut heights: Vec<Vec<f64>> = Vec::new();
    for row in reader.items(node, &what) {
        let mut numbers = Vec::new();
        for item in reader.items(row, &what) {
            numbers.push(reader.measured(item, measure, &fields.what, key)?);
        }
        if heights.first().is_some_and(|first| first.len() != numbers.len()) {
            reader.error(row.place, format!("{what}: rows of different length"), "");
            return None;
        }
        heights.push(numbers);
    }
    if heights.len() < 2 || heights[0].len() < 2 {
        reader.error(node.place, format!("{what}: a grid has at least 2 by 2 heights"), "");
        return None;
    }
    Some(ShapeKind::HeightGrid { heights, size: size? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_runs_along_its_spline() {
        let control =
            [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 3.0, 1.0], [5.0, 2.0, 2.0], [6.0, 0.0, 2.0], [8.0, -1.0, 1.0]];
        let line = spline(&control.map(Vec3::from_array), 1000);
        let near = |at: Vec3, known: [f64; 3]| assert!((at - Vec3::from_array(known)).length() < 1e-7, "{at}");
        near(line[0], [7.0 / 6.0, 11.0 / 6.0, 1.0 / 6.0]);
        near(line[500], [2.0208333333, 2.4375, 0.5208333333]);
        near(line[1500], [3.9791666667, 2.4375, 1.4791666667]);
        near(line[2500], [5.5, 1.0, 1.9583333333]);
        near(line[3000], [37.0 / 6.0, 1.0 / 6.0, 11.0 / 6.0]);
        let length: f64 = line.windows(2).map(|pair| (pair[1] - pair[0]).length()).sum();
        assert!((length / 6.6209057 - 1.0).abs() < 1e-6, "{length}");
    }
}
