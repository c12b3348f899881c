//! Cables as they are read. What a cable of a material is made of is written into it, a tackle becomes the pulleys of its parts, and one with
//! `spans = "flexible"` becomes elements, bodies `NAME.e1`, `NAME.e2`, ..., and joints between them, forces `NAME.j0`, `NAME.j1`, ...

use super::reader::Reader;
use super::*;
use tippe_parts::element;

mod curve;
mod feed;
mod hang;

/// An element is at least this slender a share of what its length alone gives about axes across it [-]: so that short ones do not spin.
const LEAST_INERTIA: f64 = 0.05;
/// A cable is curved towards a side if that is across it by more than this [-].
const LEAST_SIDE: f64 = 1e-9;
/// A cable whose mass is less than this share of its load is light [-].
const LIGHT: f64 = 0.01;
/// Elements of one cable at most.
const MOST_ELEMENTS: f64 = 10_000.0;

/// Lays every flexible cable of a scene.
pub(super) fn lay_all(reader: &mut Reader<'_>, scene: &mut Scene) {
    if !reader.errors.is_empty() {
        return;
    }
    // cables stand behind all other forces, as they are written
    let is_cable = |part: &Part| part.kind.word == "cable";
    let (cables, others) = std::mem::take(&mut scene.forces).into_iter().partition(is_cable);
    let (flexible, mut others_of_it): (Vec<Part>, Vec<Part>) = Vec::into_iter(cables)
        .map(|mut part| {
            made_of(scene, &mut part);
            choose(reader, scene, &mut part);
            part
        })
        .partition(|part| part.word("spans") == "flexible");
    scene.forces = others;
    for mut cable in flexible {
        if feed::is_fed(&cable) {
            feed::lay(reader, scene, &mut cable);
            others_of_it.push(cable);
        } else {
            lay(reader, scene, &cable);
        }
    }
    others_of_it.iter_mut().for_each(reeve);
    scene.forces.extend(others_of_it);
}

/// Writes into a cable what its material, its wires and its diameter say of it, or its elongation under a load.
fn made_of(scene: &Scene, cable: &mut Part) {
    let known = scene.materials.iter().find(|m| m.name == cable.word("material"));
    let known = known.map(|m| (m.young, m.poisson, m.density));
    let known = known.or(material::find(cable.word("material")).map(|m| (m.young, m.poisson, m.density)));
    element::Section::write(cable, known);
}

/// Says how a cable with `spans = "auto"` runs: flexible if it hangs alone, or if its mass is more than a hundredth of what hangs on it. What sags by
/// its weight and what it adds to the motion of its load are that small a share of what they are without mass.
fn choose(reader: &mut Reader<'_>, scene: &Scene, cable: &mut Part) {
    if cable.word("spans") != "auto" {
        return;
    }
    let points = cable.parts("points");
    let ends: Vec<&Part> = [points.first(), points.last()].into_iter().flatten().collect();
    let only_pulls =
        points.iter().any(|point| point.kind.word == "tackle") || ends.iter().all(|end| end.kind.word == "drum");
    let places: Vec<Vec3> = points.iter().map(|point| place(scene, point)).collect();
    let path: f64 = places.windows(2).map(|pair| (pair[1] - pair[0]).length()).sum();
    let section = element::Section::of(cable);
    let mass = section.mass.map(|per_length| per_length * cable.find_number("length").unwrap_or(path));
    let loads = ends.iter().filter_map(|end| {
        let on = end.attachments("on").first()?;
        scene.bodies.iter().find(|body| body.name == on.body && !body.fixed)
    });
    let load = loads.filter_map(|body| mass_of(scene, body)).reduce(f64::min);
    let (word, why) = match (mass, cable.find_number("diameter"), load) {
        _ if only_pulls => ("massless", "it ends on drums or in a tackle".to_owned()),
        (None, ..) | (_, None, _) => ("massless", "it has no mass per length, or no diameter".to_owned()),
        (Some(mass), _, None) => ("flexible", format!("{mass:.4} kg hang on their own")),
        (Some(mass), _, Some(load)) if mass > LIGHT * load => ("flexible", format!("{mass:.4} kg hold {load:.4} kg")),
        (Some(mass), _, Some(load)) => ("massless", format!("{mass:.4} kg hold {load:.4} kg")),
    };
    reader.notes.push(format!("cable \"{}\" is {word}: {why}", cable.name));
    cable.set("spans", word);
}

/// Mass of a body that moves, from its shapes where it is not written; none where that cannot be said before the model is made [kg].
fn mass_of(scene: &Scene, body: &Body) -> Option<f64> {
    if body.mass.is_some() {
        return body.mass;
    }
    let density = |name: &Option<String>| {
        let name = name.as_ref()?;
        let own = scene.materials.iter().find(|material| material.name == *name).map(|material| material.density);
        own.or(material::find(name).map(|material| material.density))
    };
    let of = |shape: &ShapeSpec| {
        let density = shape.density.or(body.density).or(density(&shape.material)).or(density(&body.material))?;
        let placed = shape.placed().ok()?;
        placed.iter().map(|(_, shape)| Some(shape.mass_properties(density).ok()?.mass)).sum::<Option<f64>>()
    };
    body.shapes.iter().map(of).sum()
}

/// Puts the pulleys of its parts in the place of a tackle.
fn reeve(cable: &mut Part) {
    let mut points = cable.parts("points").to_vec();
    let Some(tackle) = points.pop_if(|point| point.kind.word == "tackle") else { return };
    let parts = tackle.number("parts") as usize;
    let block = |k: usize, word: &str| {
        let mut point = Part::new("", element::POINT_KINDS.kinds.iter().find(|kind| kind.word == word)?);
        let (on, at) = if k.is_multiple_of(2) { ("from", "from_at") } else { ("on", "at") };
        for (key, from) in [("on", on), ("at", at)] {
            tackle.get(from).cloned().into_iter().for_each(|value| point.set(key, value));
        }
        point.places = tackle.places.clone();
        Some(point)
    };
    for k in 0..parts {
        points.extend(block(k, "pulley").map(|mut pulley| {
            for key in ["radius", "efficiency", "sense", "axle"] {
                tackle.get(key).cloned().into_iter().for_each(|value| pulley.set(key, value));
            }
            pulley
        }));
    }
    points.extend(block(parts, "end"));
    cable.set("points", points);
}

/// Origin of a frame in the pose as written, resolved in world [m].
fn pose(scene: &Scene, end: &Attachment, at: Option<Vec3>) -> Vec3 {
    let Some(body) = scene.bodies.iter().find(|body| body.name == end.body) else { return at.unwrap_or_default() };
    let frame = body.frames.iter().find(|frame| frame.name == end.frame).map_or(Vec3::ZERO, |frame| frame.position);
    at.unwrap_or(body.position + body.orientation.normalize() * frame)
}

/// What a flexible cable is cut into.
struct Cut<'a> {
    cable: &'a Part,
    section: element::Section,
    /// Number of elements.
    n: usize,
    /// l [m].
    l: f64,
    /// Mass of an element [kg].
    m: f64,
    /// Half of the turn, free of moment, from the middle of an element to that of the next; in an element's frame, x along it.
    half_turn: Quat,
    /// Where the joints are in the pose at the start, resolved in world [m].
    nodes: Vec<Vec3>,
    /// Middles of the elements there [m].
    middles: Vec<Vec3>,
    /// Their orientations.
    turns: Vec<Quat>,
    /// Velocities of both ends of the cable, resolved in world [m/s].
    moving: [Vec3; 2],
}

impl Cut<'_> {
    fn body(&self, k: usize) -> String {
        format!("{}.e{}", self.cable.name, k + 1)
    }

    /// Velocities of element k, linear and angular: along the cable they go over from that of one end to that of the other.
    fn moves(&self, k: usize) -> [Vec3; 2] {
        let [v1, v2] = self.moving;
        let along = self.nodes[k + 1] - self.nodes[k];
        let share = (v2 - v1) / self.n as f64;
        let w = along.cross(share) / along.length_squared();
        [v1 + share * (k as f64 + 0.5), if w.is_finite() { w } else { Vec3::ZERO }]
    }

    /// Its first or its last point.
    fn point(&self, end: usize) -> &Part {
        let points = self.cable.parts("points");
        &points[end * (points.len() - 1)]
    }
}

/// True if nothing holds a cable at this point.
fn is_free(point: &Part) -> bool {
    point.kind.word == "free"
}

fn lay(reader: &mut Reader<'_>, scene: &mut Scene, cable: &Part) {
    match cut(scene, cable) {
        Ok(cut) => {
            elements(scene, &cut);
            joints(scene, &cut);
        }
        Err((key, message, help)) => {
            reader.error(cable.places.of(key), format!("cable \"{}\" {message}", cable.name), help);
        }
    }
}

/// Place of a point of a cable in the pose as written, resolved in world [m].
fn place(scene: &Scene, point: &Part) -> Vec3 {
    match point.attachments("on") {
        [end] => pose(scene, end, point.vector("at")),
        _ => point.vector("at").unwrap_or_default(),
    }
}

/// How a cable is cut, or what is wrong with it: the key, what, and what to do.
fn cut<'a>(scene: &Scene, cable: &'a Part) -> Result<Cut<'a>, (&'static str, String, &'static str)> {
    let points = cable.parts("points");
    let section = element::Section::of(cable);
    let (Some(mass), Some(diameter)) = (section.mass, cable.find_number("diameter")) else {
        let message = "is flexible and has no mass_per_length, or no diameter".to_owned();
        return Err(("", message, "give both, or a type of rope with its diameter"));
    };
    let places: Vec<Vec3> = points.iter().map(|point| place(scene, point)).collect();
    let ends = [&points[0], &points[points.len() - 1]];
    let directions = ends.map(|end| end.vector("direction"));
    let way: f64 = places.windows(2).map(|pair| (pair[1] - pair[0]).length()).sum();
    let strain = cable.number("tension") / section.axial;
    let length = cable.find_number("length").unwrap_or(way / (1.0 + strain));
    let n = cable.find_number("elements").unwrap_or((length / (10.0 * diameter)).ceil().clamp(4.0, 50.0));
    if length <= 0.0 || length.is_nan() || n > MOST_ELEMENTS || length / n < 0.5 * diameter {
        let message = format!("is {length} m long in {n} elements of diameter {diameter} m");
        return Err(("elements", message, "elements are longer than half their diameter, and at most 10,000"));
    }
    let stretched = way / length - 1.0;
    if stretched > element::MOST_STRAIN && section.breaking.is_infinite() && cable.get("length").is_some() {
        let message =
            format!("is {length} m long on a way of {way:.6} m, stretched by {:.0} per cent", 100.0 * stretched);
        return Err(("length", message, "more length; a cord that stretches so far has a `breaking_load`"));
    }
    if stretched * section.axial > section.breaking {
        let (most, bears) = (stretched * section.axial, section.breaking);
        let message = format!("starts with {most:.4e} N, and breaks at {bears:.4e} N");
        return Err((
            "length",
            message,
            "its length at rest is shorter than its path: more length, or a stronger rope",
        ));
    }
    let (n, [from, to]) = (n as usize, [places[0], places[places.len() - 1]]);
    let toward = directions[0].unwrap_or((to - from).normalize_or(Vec3::X)).normalize();
    let first = Quat::from_rotation_arc(Vec3::X, toward);
    let per_length = rest(cable, first)?;
    let half_turn = |l: f64| Quat::from_scaled_axis(per_length * (0.5 * l));
    let line = element::Catenary { length, weight: mass * scene.gravity.length(), stiffness: section.axial };
    let is_curved = per_length != Vec3::ZERO;
    let middles = |nodes: &[Vec3]| nodes.windows(2).map(|pair| (pair[0] + pair[1]) * 0.5).collect::<Vec<Vec3>>();
    let hangs = places.len() == 2 && directions == [None; 2];
    let welded = cable.find_number("joints").is_some();
    let (l, nodes, middles, turns) = if is_curved && is_free(ends[1]) {
        let (nodes, turns) = curve::at_rest(from, first, half_turn(length / n as f64), length / n as f64, n);
        (length / n as f64, nodes.clone(), middles(&nodes), turns)
    } else if let Some(chain) = hangs.then(|| hang::chain([from, to], &line, scene.gravity, (n, welded))).flatten() {
        let turns = curve::without_twist(&chain.pointers());
        (length / n as f64, chain.nodes, chain.middles, turns)
    } else {
        let (l, nodes) = if hangs {
            (length / n as f64, hang::straight([from, to], n))
        } else {
            let free = (places.len() == 2).then_some(cable.find_number("length")).flatten();
            let (chord, nodes) = curve::through(&places, directions, free.map(|length| length * (1.0 + strain)), n);
            (free.map_or(chord / (1.0 + strain), |length| length / n as f64), nodes)
        };
        let turns = curve::without_twist(&nodes);
        (l, nodes.clone(), middles(&nodes), turns)
    };
    let moving = velocities(scene, ends, [from, to]);
    Ok(Cut { cable, section, n, l, m: mass * l, half_turn: half_turn(l), nodes, middles, turns, moving })
}

/// Velocities of the ends of a cable at these places, resolved in world [m/s]; a free one moves as the other does.
fn velocities(scene: &Scene, ends: [&Part; 2], places: [Vec3; 2]) -> [Vec3; 2] {
    let own = [0, 1].map(|k| {
        let on = ends[k].attachments("on").first()?;
        let body = scene.bodies.iter().find(|body| body.name == on.body);
        let Some(body) = body else { return Some(Vec3::ZERO) };
        let given = body.motion.map(|motion| [motion.velocity, motion.angular_velocity]);
        let [v, w] = given.unwrap_or([body.velocity, body.angular_velocity]);
        Some(v + w.cross(places[k] - body.position))
    });
    [0, 1].map(|k| own[k].or(own[1 - k]).unwrap_or_default())
}

/// Turn per length that is free of moment [rad/m], in the frame of the first element.
fn rest(cable: &Part, first: Quat) -> Result<Vec3, (&'static str, String, &'static str)> {
    let (twist, curvature) = (cable.number("rest_twist"), cable.number("rest_curvature"));
    let along = Vec3::X * twist;
    if curvature == 0.0 {
        return Ok(along);
    }
    let toward = cable.vector("curved_towards").unwrap_or_default();
    let about = (first * Vec3::X).cross(toward);
    if about.length() < LEAST_SIDE {
        let message = "is curved towards where it runs".to_owned();
        return Err(("curved_towards", message, "a direction across the first element"));
    }
    Ok(along + first.conjugate() * (about.normalize() * curvature))
}

/// The elements as bodies.
fn elements(scene: &mut Scene, cut: &Cut<'_>) {
    let Cut { cable, n, l, m, half_turn, .. } = *cut;
    let radius = 0.5 * cable.number("diameter");
    let across = (m * (3.0 * radius * radius + l * l) / 12.0).max(LEAST_INERTIA * m * l * l);
    for k in 0..n {
        let frame = |name: &str, x: f64, orientation: Quat| Frame {
            name: name.into(),
            position: Vec3::new(x, 0.0, 0.0),
            orientation,
            places: cable.places.clone(),
        };
        let near = (k.saturating_sub(2)..(k + 3).min(n)).filter(|other| *other != k).map(|other| cut.body(other));
        let ends_on = [(0, k < 2), (1, k + 2 >= n)].into_iter().filter(|(_, is_near)| *is_near);
        let held = ends_on.filter_map(|(end, _)| cut.point(end).attachments("on").first().map(|on| on.body.clone()));
        let shape = ShapeSpec {
            kind: ShapeKind::Capsule { radius, length: l, axis: Axis::X },
            collide: cable.flag("collide"),
            places: cable.places.clone(),
            ..ShapeSpec::default()
        };
        let [velocity, angular_velocity] = cut.moves(k);
        scene.bodies.push(Body {
            name: cut.body(k),
            velocity,
            angular_velocity,
            shapes: vec![shape],
            material: cable.get("material").map(|_| cable.word("material").to_string()),
            position: cut.middles[k],
            orientation: cut.turns[k],
            mass: Some(m),
            inertia: Some(Mat3::from_diagonal(Vec3::new(0.5 * m * radius * radius, across, across))),
            ignore: near.chain(held.filter(|name| name != "world")).collect(),
            frames: vec![frame("begin", -0.5 * l, half_turn.conjugate()), frame("end", 0.5 * l, half_turn)],
            places: cable.places.clone(),
            ..Body::default()
        });
    }
}

/// The joints between elements and at the ends.
fn joints(scene: &mut Scene, cut: &Cut<'_>) {
    let Cut { cable, section, n, l, m, .. } = *cut;
    let side = |k: usize, frame: &str| Attachment { body: cut.body(k), frame: frame.into() };
    for k in 0..=n {
        let is_end = k == 0 || k == n;
        let point = cut.point(usize::from(k == n));
        if is_end && is_free(point) {
            continue;
        }
        let held = is_end.then(|| hold(scene, cut, point, k));
        let between = match held {
            Some(held) if k == 0 => [held, side(0, "begin")],
            Some(held) => [side(n - 1, "end"), held],
            None => [side(k - 1, "end"), side(k, "begin")],
        };
        let bends = !is_end || point.flag("clamped");
        let stiffness = |of: f64| if bends { of } else { 0.0 };
        let mut part = Part::new(format!("{}.j{k}", cable.name), &element::joint_of_cable().kind)
            .with("between", between)
            .with("length", if is_end { 0.5 * l } else { l })
            .with("axial_stiffness", section.axial)
            .with("bending_stiffness", stiffness(section.bending))
            .with("torsional_stiffness", stiffness(section.torsion))
            .with("damping_time", cable.number("damping") / section.axial);
        let budget = cable.find_number("joints");
        if let Some(load) = section.breaking.is_finite().then_some(section.breaking).filter(|_| budget.is_none()) {
            part.set("breaking_load", load);
        }
        if !is_end {
            part.set("mass", m);
            if let Some(joints) = budget {
                part.set("joints", joints);
                part.set("join_angle", cable.number("join_angle"));
            }
        }
        part.places = cable.places.clone();
        scene.forces.push(part);
    }
}

/// Axes that an end of a cable is held in, x along it.
fn axes_at(cut: &Cut<'_>, point: &Part, k: usize) -> Quat {
    let at = k.min(cut.n - 1);
    let along = (cut.nodes[at + 1] - cut.nodes[at]).normalize_or(Vec3::X);
    if !point.flag("clamped") {
        return Quat::from_rotation_arc(Vec3::X, along);
    }
    let own = if k == 0 { cut.turns[0] * cut.half_turn.conjugate() } else { cut.turns[at] * cut.half_turn };
    match point.vector("direction") {
        Some(direction) => Quat::from_rotation_arc(own * Vec3::X, direction.normalize()) * own,
        None => own,
    }
}

/// The frame that an end of a cable is held in; made on the body it is on.
fn hold(scene: &mut Scene, cut: &Cut<'_>, point: &Part, k: usize) -> Attachment {
    let name = format!("{}_{k}", cut.cable.name.replace('.', "_"));
    let axes = axes_at(cut, point, k);
    held(scene, cut.cable, (point, &name), place(scene, point), axes)
}

/// A frame of this name on the body of a point, at a place; on a fixed body if that is the world.
fn held(scene: &mut Scene, cable: &Part, (point, name): (&Part, &str), p: Vec3, axes: Quat) -> Attachment {
    let end = &point.attachments("on")[0];
    if end.body == "world" {
        let number = name.rsplit('_').next().unwrap_or_default();
        let mut ground = Body {
            name: format!("{}.g{number}", cable.name),
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
            name: name.into(),
            position: own * (p - body.position),
            orientation: own * axes,
            places: cable.places.clone(),
        });
    }
    Attachment { body: end.body.clone(), frame: name.into() }
}
