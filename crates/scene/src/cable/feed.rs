//! A flexible cable over wheels: between the last wheel, or drum, and its end it is made of elements, of which it pays out and takes in as many as it
//! needs; between wheels it only pulls. All elements it can ever need are laid at once; those behind the wheel wait on its axle, and are not there.

use super::*;

/// Elements are so many diameters long by default [-], 4 to 50 of them.
const SLENDER: f64 = 10.0;

/// True if a flexible cable runs over wheels.
pub(super) fn is_fed(cable: &Part) -> bool {
    cable.parts("points").iter().any(|point| !matches!(point.kind.word, "end" | "free" | "via"))
}

/// The elements at one end of a cable.
struct Chain {
    /// Its first end (0), or its last one (1).
    end: usize,
    /// From the load, resolved in world [m].
    load: Vec3,
    /// From the load to the wheel, unit vector.
    back: Vec3,
    /// l [m].
    l: f64,
    /// How many are out, and how many there are.
    out: usize,
    all: usize,
}

/// Lays the elements of a cable; it goes on as one that only pulls, to them.
pub(super) fn lay(reader: &mut Reader<'_>, scene: &mut Scene, cable: &mut Part) {
    if let Err((key, message, help)) = feeds(scene, cable) {
        reader.error(cable.places.of(key), format!("cable \"{}\" {message}", cable.name), help);
    }
}

fn feeds(scene: &mut Scene, cable: &mut Part) -> Result<(), (&'static str, String, &'static str)> {
    let section = element::Section::of(cable);
    let (Some(mass), Some(diameter)) = (section.mass, cable.find_number("diameter")) else {
        let message = "is flexible and has no mass_per_length, or no diameter".to_owned();
        return Err(("", message, "give both, or a type of rope with its diameter"));
    };
    for key in ["length", "rest_curvature", "rest_twist"] {
        if cable.get(key).is_some() {
            let message = format!("runs over wheels in elements, which begin straight, and has `{key}`");
            return Err((key, message, "leave it out; `tension` stretches the cable"));
        }
    }
    if cable.get("joints").is_some() {
        let message = "runs over wheels in elements that come and go, and has `joints`".to_owned();
        return Err(("joints", message, "leave it out: a budget of joints is for a cable that only has ends"));
    }
    let points = cable.parts("points").to_vec();
    let frames: Vec<(Mat3, Vec3)> = points.iter().map(|point| frame(scene, point)).collect();
    let Some((spans, path)) = element::spans_at(cable, &frames) else {
        return Err((
            "points",
            "cannot run between its points: one is inside the wheel of another".to_owned(),
            "move them apart",
        ));
    };
    let strain = cable.number("tension") / section.axial;
    let stored: f64 =
        points.iter().map(|point| if point.kind.word == "drum" { point.number("stored") } else { 0.0 }).sum();
    let mut chains = Vec::new();
    for end in 0..2 {
        let point = &points[end * (points.len() - 1)];
        if !matches!(point.kind.word, "end" | "free") {
            continue;
        }
        let span = spans[end * (spans.len() - 1)];
        let (load, wheel) = (span[end], span[1 - end]);
        let rest = (wheel - load).length() / (1.0 + strain);
        let n = cable.find_number("elements").unwrap_or((rest / (SLENDER * diameter)).ceil().clamp(4.0, 50.0));
        // a lead of one element
        let l = rest / (n + 1.0);
        let all = n + ((path / (1.0 + strain) - rest + stored) / l).ceil();
        if l < 0.5 * diameter || all > MOST_ELEMENTS {
            let message = format!("has {n} elements of {l} m, and needs {all} of them for all of its length");
            return Err(("elements", message, "elements are longer than half their diameter, and at most 10,000"));
        }
        chains.push(Chain {
            end,
            load,
            back: (wheel - load).normalize_or(Vec3::Z),
            l,
            out: n as usize,
            all: all as usize,
        });
    }
    if chains.is_empty() {
        return Err((
            "points",
            "runs from drum to drum".to_owned(),
            "one of its ends is an `end`, or spans = \"massless\"",
        ));
    }
    for chain in &chains {
        elements(scene, cable, chain, &frames, (mass * chain.l, 0.5 * diameter));
        joints(scene, cable, chain, &section, mass * chain.l);
    }
    goes_on(cable, &chains, mass);
    Ok(())
}

/// Axes and origin of the frame of a point in the pose as written.
fn frame(scene: &Scene, point: &Part) -> (Mat3, Vec3) {
    let p = place(scene, point);
    let [on] = point.attachments("on") else { return (Mat3::IDENTITY, p) };
    let Some(body) = scene.bodies.iter().find(|body| body.name == on.body) else { return (Mat3::IDENTITY, p) };
    let own = body.frames.iter().find(|frame| frame.name == on.frame).map_or(Quat::IDENTITY, |frame| frame.orientation);
    (Mat3::from_quat(body.orientation.normalize() * own.normalize()), p)
}

fn stem(cable: &Part, chain: &Chain) -> String {
    format!("{}.{}", cable.name, ["f", "e"][chain.end])
}

/// The elements: those that are out as stretched as the cable, the others where its last wheel is.
fn elements(scene: &mut Scene, cable: &Part, chain: &Chain, frames: &[(Mat3, Vec3)], (m, radius): (f64, f64)) {
    let Chain { end, load, back, l, out, all } = *chain;
    let stem = stem(cable, chain);
    let section = element::Section::of(cable);
    let gap = l * cable.number("tension") / section.axial;
    let along = if end == 0 { back } else { -back };
    let across = (m * (3.0 * radius * radius + l * l) / 12.0).max(LEAST_INERTIA * m * l * l);
    let points = cable.parts("points");
    let wheel = if end == 0 { 1 } else { points.len() - 2 };
    let touched =
        [end * (points.len() - 1), wheel].map(|k| points[k].attachments("on").first().map(|on| on.body.clone()));
    let held: Vec<String> = touched.into_iter().flatten().filter(|name| name != "world").collect();
    for k in 0..all {
        let near = (k.saturating_sub(2)..(k + 3).min(all))
            .filter(|other| *other != k)
            .map(|other| format!("{stem}{}", other + 1));
        let frame = |name: &str, x: f64| Frame {
            name: name.into(),
            position: Vec3::new(x, 0.0, 0.0),
            orientation: Quat::IDENTITY,
            places: cable.places.clone(),
        };
        let shape = ShapeSpec {
            kind: ShapeKind::Capsule { radius, length: l, axis: Axis::X },
            collide: cable.flag("collide"),
            places: cable.places.clone(),
            ..ShapeSpec::default()
        };
        let middle = load + back * (0.5 * gap + 0.5 * l + k as f64 * (l + gap));
        scene.bodies.push(Body {
            name: format!("{stem}{}", k + 1),
            shapes: vec![shape],
            material: cable.get("material").map(|_| cable.word("material").to_string()),
            position: if k < out { middle } else { frames[wheel].1 },
            orientation: Quat::from_rotation_arc(Vec3::X, along),
            mass: Some(m),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.5 * m * radius * radius, across, across))),
            ignore: near.chain(held.iter().cloned()).collect(),
            frames: vec![frame("begin", -0.5 * l), frame("end", 0.5 * l)],
            places: cable.places.clone(),
            ..Body::default()
        });
    }
}

/// The joints between elements, and with the load.
fn joints(scene: &mut Scene, cable: &Part, chain: &Chain, section: &element::Section, m: f64) {
    let stem = stem(cable, chain);
    let side = |k: usize, frame: &str| Attachment { body: format!("{stem}{k}"), frame: frame.into() };
    let [towards, away] = if chain.end == 0 { ["begin", "end"] } else { ["end", "begin"] };
    let points = cable.parts("points");
    let point = &points[chain.end * (points.len() - 1)];
    for k in 0..chain.all {
        if k == 0 && is_free(point) {
            continue;
        }
        let (one, other) = if k == 0 {
            (hold(scene, cable, chain, point), side(1, towards))
        } else {
            (side(k, away), side(k + 1, towards))
        };
        let between = if chain.end == 0 { [one, other] } else { [other, one] };
        let bends = k > 0 || point.flag("clamped");
        let stiffness = |of: f64| if bends { of } else { 0.0 };
        let mut part =
            Part::new(format!("{}.{}{k}", cable.name, ["k", "j"][chain.end]), &element::joint_of_cable().kind)
                .with("between", between)
                .with("length", if k == 0 { 0.5 * chain.l } else { chain.l })
                .with("axial_stiffness", section.axial)
                .with("bending_stiffness", stiffness(section.bending))
                .with("torsional_stiffness", stiffness(section.torsion))
                .with("damping_time", cable.number("damping") / section.axial);
        if k > 0 {
            part.set("mass", m);
        }
        if section.breaking.is_finite() {
            part.set("breaking_load", section.breaking);
        }
        part.places = cable.places.clone();
        scene.forces.push(part);
    }
}

/// The frame on the load, x along the cable.
fn hold(scene: &mut Scene, cable: &Part, chain: &Chain, point: &Part) -> Attachment {
    let along = if chain.end == 0 { chain.back } else { -chain.back };
    let name = format!("{}_{}", cable.name.replace('.', "_"), chain.end);
    held(scene, cable, (point, &name), chain.load, Quat::from_rotation_arc(Vec3::X, along))
}

/// The cable without what its elements are for.
fn goes_on(cable: &mut Part, chains: &[Chain], mass: f64) {
    let mut points = cable.parts("points").to_vec();
    for chain in chains {
        let k = chain.end * (points.len() - 1);
        let Some(kind) = element::POINT_KINDS.kinds.iter().find(|kind| kind.word == "feed") else { return };
        let on = vec![Attachment { body: format!("{}1", stem(cable, chain)), frame: String::new() }];
        let mut point = Part::new("", kind)
            .with("elements", chain.all as f64)
            .with("out", chain.out as f64)
            .with("element", chain.l)
            .with("mass", mass * chain.l);
        point.set("on", tippe_format::part::Value::Attachments(on));
        point.places = points[k].places.clone();
        points[k] = point;
    }
    cable.set("points", points);
    for key in ["spans", "elements", "clamped", "collide", "bending_stiffness", "torsional_stiffness"] {
        cable.unset(key);
    }
}
