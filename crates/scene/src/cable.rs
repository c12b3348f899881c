//! Flexible cables: a `[[cable]]` with `spans = "flexible"` becomes elements, bodies `NAME.e1`, `NAME.e2`, ..., and joints between them,
//! forces `NAME.j0`, `NAME.j1`, ..., as it is read.

use super::reader::Reader;
use super::*;
use tippe_parts::element;

/// An element is at least this slender a share of what its length alone gives about axes across it [-]: so that short ones do not spin.
const LEAST_INERTIA: f64 = 0.05;
/// A cable is slack if it is longer than its chord by more than this share [-].
const LEAST_SLACK: f64 = 1e-9;
/// A cable whose tension is so many times its weight is laid straight [-].
const STRAIGHT: f64 = 1e6;
/// Elements of one cable at most.
const MOST_ELEMENTS: f64 = 10_000.0;

/// Lays every flexible cable of a scene.
pub(super) fn lay_all(reader: &mut Reader<'_>, scene: &mut Scene) {
    let (flexible, others) = std::mem::take(&mut scene.forces)
        .into_iter()
        .partition(|part: &Part| part.kind.word == "cable" && part.word("spans") == "flexible");
    scene.forces = others;
    for cable in flexible {
        lay(reader, scene, &cable);
    }
}

/// A frame in the pose as written: origin and axes, resolved in world.
fn pose(scene: &Scene, end: &Attachment, at: Option<Vec3>) -> (Vec3, Quat) {
    let Some(body) = scene.bodies.iter().find(|body| body.name == end.body) else {
        return (at.unwrap_or_default(), Quat::IDENTITY);
    };
    let turn = body.orientation.normalize();
    let frame = body.frames.iter().find(|frame| frame.name == end.frame);
    let (p, q) = frame.map_or((Vec3::ZERO, Quat::IDENTITY), |frame| (frame.position, frame.orientation));
    (at.unwrap_or(body.position + turn * p), turn * q)
}

fn lay(reader: &mut Reader<'_>, scene: &mut Scene, cable: &Part) {
    let what = format!("cable \"{}\"", cable.name);
    let place = |key: &str| cable.places.of(key);
    let mut wrong =
        |key: &str, message: String, help: &str| reader.error(place(key), format!("{what} {message}"), help);
    let points = cable.parts("points");
    if points.len() != 2 || points.iter().any(|point| point.kind.word != "end") {
        return wrong(
            "points",
            "is flexible and runs over more than its two ends".into(),
            "let it touch wheels as bodies in contact, or use spans = \"massless\"",
        );
    }
    let section = element::Section::of(cable);
    let (Some(mass), Some(diameter)) = (section.mass, cable.find_number("diameter")) else {
        return wrong(
            "",
            "is flexible and has no mass_per_length, or no diameter".into(),
            "give both, or a type of rope with its diameter",
        );
    };
    let ends: Vec<(Vec3, Quat)> =
        points.iter().map(|point| pose(scene, &point.attachments("on")[0], point.vector("at"))).collect();
    let chord = ends[1].0 - ends[0].0;
    let strain = cable.number("tension") / section.axial;
    let length = cable.find_number("length").unwrap_or(chord.length() / (1.0 + strain));
    let n = cable.find_number("elements").unwrap_or((length / (10.0 * diameter)).ceil().clamp(4.0, 50.0));
    if !(length > 0.0) || n > MOST_ELEMENTS || length / n < 0.5 * diameter {
        return wrong(
            "elements",
            format!("is {length} m long in {n} elements of diameter {diameter} m"),
            "elements are longer than half their diameter, and at most 10,000",
        );
    }
    let n = n as usize;
    let l = length / n as f64;
    let line = element::Catenary { length, weight: mass * scene.gravity.length(), stiffness: section.axial };
    let nodes = curve(ends[0].0, ends[1].0, line, scene.gravity, n);
    let m = mass * l;
    let radius = 0.5 * diameter;
    let across = m * (3.0 * radius * radius + l * l) / 12.0;
    let across = across.max(LEAST_INERTIA * m * l * l);
    let body = |k: usize| format!("{}.e{}", cable.name, k + 1);
    let mut turn = Quat::IDENTITY;
    for k in 0..n {
        let way = nodes[k + 1] - nodes[k];
        let along = if way.length() > 0.0 { way.normalize() } else { chord.normalize_or(Vec3::X) };
        // each element is turned from the one before it without twist
        turn = Quat::from_rotation_arc(turn * Vec3::X, along) * turn;
        let frame = |name: &str, x: f64| Frame {
            name: name.into(),
            position: Vec3::new(x, 0.0, 0.0),
            orientation: Quat::IDENTITY,
            places: cable.places.clone(),
        };
        let near = (k.saturating_sub(2)..(k + 3).min(n)).filter(|other| *other != k).map(body);
        let ends_on = [(0, k < 2), (1, k + 2 >= n)].into_iter().filter(|(_, is_near)| *is_near);
        let held = ends_on.map(|(end, _): (usize, bool)| points[end].attachments("on")[0].body.clone());
        let ignore: Vec<String> = near.chain(held.filter(|name| name != "world")).collect();
        let shape = ShapeSpec {
            kind: ShapeKind::Capsule { radius, length: l, axis: Axis::X },
            collide: cable.flag("collide"),
            places: cable.places.clone(),
            ..ShapeSpec::default()
        };
        scene.bodies.push(Body {
            name: body(k),
            shapes: vec![shape],
            material: cable.get("material").map(|_| cable.word("material").to_string()),
            position: (nodes[k] + nodes[k + 1]) * 0.5,
            orientation: turn,
            mass: Some(m),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.5 * m * radius * radius, across, across))),
            ignore,
            frames: vec![frame("begin", -0.5 * l), frame("end", 0.5 * l)],
            places: cable.places.clone(),
            ..Body::default()
        });
    }
    let side = |k: usize, frame: &str| Attachment { body: body(k), frame: frame.into() };
    for k in 0..=n {
        let is_end = k == 0 || k == n;
        let point = &points[usize::from(k == n)];
        let fixed = is_end.then(|| {
            hold(scene, cable, (point, k), if k == 0 { (nodes[0], nodes[1]) } else { (nodes[n - 1], nodes[n]) })
        });
        let between = match (k, fixed) {
            (0, Some(held)) => [held, side(0, "begin")],
            (_, Some(held)) => [side(n - 1, "end"), held],
            (_, None) => [side(k - 1, "end"), side(k, "begin")],
        };
        let bends = !is_end || point.flag("clamped");
        let mut part = Part::new(format!("{}.j{k}", cable.name), &element::joint_of_cable().kind)
            .with("between", between)
            .with("length", if is_end { 0.5 * l } else { l })
            .with("axial_stiffness", section.axial)
            .with("bending_stiffness", if bends { section.bending } else { 0.0 })
            .with("torsional_stiffness", if bends { section.torsion } else { 0.0 })
            .with("damping_time", cable.number("damping") / section.axial);
        if !is_end {
            part.set("mass", m);
        }
        part.places = cable.places.clone();
        scene.forces.push(part);
    }
}

/// The frame that an end of a cable is held in: x along its first or last element; made on the body it is on.
fn hold(scene: &mut Scene, cable: &Part, (point, k): (&Part, usize), (from, to): (Vec3, Vec3)) -> Attachment {
    let end = &point.attachments("on")[0];
    let (p, _) = pose(scene, end, point.vector("at"));
    let name = format!("{}_{k}", cable.name.replace('.', "_"));
    let along = (to - from).normalize_or(Vec3::X);
    let axes = Quat::from_rotation_arc(Vec3::X, along);
    if end.body == "world" {
        let mut ground = Body {
            name: format!("{}.g{k}", cable.name),
            fixed: true,
            position: p,
            orientation: axes,
            ..Body::default()
        };
        ground.places = cable.places.clone();
        let held = Attachment { body: ground.name.clone(), frame: String::new() };
        scene.bodies.push(ground);
        return held;
    }
    if let Some(body) = scene.bodies.iter_mut().find(|body| body.name == end.body) {
        let own = body.orientation.normalize().conjugate();
        body.frames.push(Frame {
            name: name.clone(),
            position: own * (p - body.position),
            orientation: own * axes,
            places: cable.places.clone(),
        });
    }
    Attachment { body: end.body.clone(), frame: name }
}

/// n + 1 points at equal lengths along a cable between two points, hanging as it does at rest.
fn curve(from: Vec3, to: Vec3, line: element::Catenary, gravity: Vec3, n: usize) -> Vec<Vec3> {
    let chord = to - from;
    let up = -gravity.normalize_or(Vec3::NEG_Z);
    let height = chord.dot(up);
    let level = chord - up * height;
    let span = level.length();
    let slack = line.length > chord.length() * (1.0 + LEAST_SLACK);
    if line.weight * line.length <= 0.0
        || !slack && line.stiffness * (chord.length() / line.length - 1.0) > STRAIGHT * line.weight * line.length
    {
        return (0..=n).map(|k| from + chord * (k as f64 / n as f64)).collect();
    }
    let side = if span > LEAST_SLACK * line.length { level / span } else { up.any_orthonormal_vector() };
    let ends = line.solve(span, height, None);
    let place = |k: usize| {
        let ([x, z], _) = line.place(ends, line.length * k as f64 / n as f64);
        from + side * x + up * z
    };
    (0..=n).map(place).collect()
}
