//! `[[include]]`: a scene enters another one under a prefix, with parameters and a pose of its own.

use super::format;
use super::read::check_path;
use super::read_mechanism::filled;
use super::reader::{Fields, Reader, unit_quaternion};
use super::{Equation, *};
use crate::equation::{Kind, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tippe_geometry::file::regular;

/// Includes may nest this deep.
const MAX_DEPTH: usize = 16;
/// A scene consists of at most this many files, counted as often as they are included.
const MAX_FILES: usize = 1000;

/// The files being read, outermost first, and how many were included so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    open: Vec<PathBuf>,
    count: usize,
}

impl Files {
    /// The file a scene starts from.
    pub fn from(file: &str) -> Self {
        let path = PathBuf::from(file);
        Files { open: vec![path.canonicalize().unwrap_or(path)], count: 0 }
    }
}

/// Reads all includes into `scene`, whose parameters are there already.
pub(super) fn includes(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let Some(node) = fields.get("include") else { return };
    for item in reader.items(node, "include") {
        let Some(fields) = reader.fields(item, &format::INCLUDE, "[[include]]") else { continue };
        repeat::repeated(reader, &fields, |reader| {
            include(reader, &fields, scene);
        });
    }
}

fn include(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) -> Option<()> {
    let (file, prefix) = (filled(reader, fields, "file"), filled(reader, fields, "prefix"));
    let (file, prefix) = (file?, prefix?);
    check_path(reader, &prefix, fields.place_of("prefix"), "prefix");
    let fields = &Fields { what: format!("include \"{prefix}\""), ..fields.clone() };
    let sets = sets(reader, fields)?;
    let position = reader.vec3(fields, "position").unwrap_or_default();
    let orientation = reader.orientation(fields).unwrap_or(Quat::IDENTITY);
    let (file, text, key) = find(reader, fields, &file)?;
    let mut files = std::mem::take(&mut reader.files);
    files.open.push(key);
    files.count += 1;
    let read = Scene::parse_within(&file, &text, &sets, reader.turns, &mut files, reader.building);
    files.open.pop();
    reader.files = files;
    match read {
        Ok(part) => {
            let names = Names::new(&part, &prefix);
            let entering = Entering { names, position, orientation, place: fields.place };
            entering.check(reader, fields, &part);
            entering.enter(part, scene);
        }
        Err(SceneErrors(errors)) => {
            reader.error(fields.place, format!("{}: {file} cannot be included", fields.what), "its errors follow");
            for error in errors {
                match error.file.strip_prefix("--set ") {
                    // What was set is written here.
                    Some(_) => reader.error(
                        fields.place_of("params"),
                        format!("{}: params: {}", fields.what, error.message),
                        error.help,
                    ),
                    None => reader.errors.push(error),
                }
            }
        }
    }
    Some(())
}

/// The parameters of an include as settings, with their units.
fn sets(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<(String, String)>> {
    let mut sets = Vec::new();
    let what = format!("{}: params", fields.what);
    for entry in fields.get("params").and_then(|node| reader.entries(node, &what)).unwrap_or_default() {
        let quantity = reader.quantity(&entry.node, &format!("{what}: {}", entry.key))?;
        let text = match quantity.kind {
            Kind::Dim(dimension) => {
                let [m, kg, s, A] = dimension.powers();
                format!("{:?}*(1 m)^({m})*(1 kg)^({kg})*(1 s)^({s})*(1 A)^({A})", quantity.value)
            }
            _ => format!("{:?}", quantity.value),
        };
        sets.push((entry.key.clone(), text));
    }
    Some(sets)
}

/// Name for messages, text and identity of an included file: from the folder of the including one, or of the gallery.
fn find(reader: &mut Reader<'_>, fields: &Fields<'_>, name: &str) -> Option<(String, String, PathBuf)> {
    let place = fields.place_of("file");
    let path = Path::new(reader.file).parent().unwrap_or(Path::new("")).join(name);
    let file = path.display().to_string();
    let found = if path.exists() && !path.is_dir() {
        match regular::read_text(&path, regular::TEXT) {
            Ok(text) => Ok((file, text, path.canonicalize().unwrap_or(path))),
            Err(error) => Err((format!("cannot read {file}: {error}"), String::new())),
        }
    } else {
        let stem = name.strip_suffix(".toml").unwrap_or(name);
        match gallery::find(stem) {
            Ok((name, text)) => {
                Ok((format!("{name}.toml"), text.to_string(), PathBuf::from(format!("gallery:{name}"))))
            }
            Err(SceneErrors(errors)) => {
                let help = errors.into_iter().next().map_or(String::new(), |error| error.help);
                Err((format!("there is no file {file}"), help))
            }
        }
    };
    let (message, help) = match found {
        Err(wrong) => wrong,
        Ok((file, _, key)) if reader.files.open.contains(&key) => {
            (format!("{file} includes itself"), "a scene cannot be a part of itself".into())
        }
        Ok((file, ..)) if reader.files.open.len() >= MAX_DEPTH => {
            (format!("{file} is included too deep"), format!("includes nest at most {MAX_DEPTH} deep"))
        }
        Ok((file, ..)) if reader.files.count >= MAX_FILES => {
            (format!("{file} is one file too many"), format!("a scene includes at most {MAX_FILES} files in all"))
        }
        Ok(found) => return Some(found),
    };
    reader.error(place, format!("{}: {message}", fields.what), help);
    None
}

/// What the names of an included scene become.
pub(super) struct Names {
    prefix: String,
    /// Everything that equations can name.
    elements: BTreeSet<String>,
    materials: BTreeSet<String>,
    params: BTreeMap<String, f64>,
}

impl Names {
    fn new(part: &Scene, prefix: &str) -> Self {
        let mut elements: BTreeSet<String> = part.bodies.iter().map(|body| body.name.clone()).collect();
        elements.extend(part.grains.iter().map(|grains| grains.name.clone()));
        elements.extend(part.soils.iter().map(|soil| soil.name.clone()));
        elements.extend(part.sinks.iter().map(|sink| sink.name.clone()));
        elements.extend(part.probes.iter().map(|probe| probe.name.clone()));
        elements.extend(part.joints.iter().map(|joint| joint.name.clone()));
        elements.extend(part.forces.iter().map(|force| force.name.clone()));
        elements.extend(part.signals.iter().map(|signal| signal.name.clone()));
        elements.extend(part.components.iter().map(|component| component.name.clone()));
        elements.extend(part.sensors.iter().map(|sensor| sensor.name.clone()));
        Names {
            prefix: prefix.to_string(),
            elements,
            materials: part.materials.iter().map(|material| material.name.clone()).collect(),
            params: part.params.iter().map(|param| (param.name.clone(), param.value)).collect(),
        }
    }

    pub(super) fn put(&self, name: &mut String) {
        name.insert_str(0, &format!("{}.", self.prefix));
    }

    /// A body, or `group:NAME`.
    pub(super) fn body(&self, name: &mut String) {
        match name.strip_prefix("group:") {
            Some(group) => *name = format!("group:{}.{group}", self.prefix),
            None if name != "world" => self.put(name),
            None => {}
        }
    }

    fn material(&self, name: &mut String) {
        if self.materials.contains(name.as_str()) {
            self.put(name);
        }
    }

    fn law(&self, contact: &mut ContactSpec) {
        if let Some(LawChoice::Custom(name)) = &mut contact.law {
            self.put(name);
        }
    }

    /// Elements get the prefix, parameters become numbers; `local` names stay.
    fn equation(&self, equation: &mut Equation, local: &[&str]) {
        let is_element = |name: &str| {
            let ends = name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]);
            ends.into_iter().any(|end| self.elements.contains(&name[..end]))
        };
        let other = |name: &str| {
            if name == "t" || local.contains(&name) {
                None
            } else if is_element(name) {
                Some(format!("{}.{name}", self.prefix))
            } else {
                self.params.get(name).map(|value| format!("({value:?})"))
            }
        };
        if let Ok(tree) = Tree::parse(&equation.text) {
            equation.text = tree.with_names(&equation.text, other);
        }
    }

    /// Laws know their own inputs and the parameters.
    fn law_equations(&self, law: &mut Law) {
        let mut local: Vec<String> = LAW_INPUTS.iter().map(|input| input.name.to_string()).collect();
        local.extend(law.lets.iter().map(|equation| equation.name.clone()));
        let local: Vec<&str> =
            local.iter().map(String::as_str).chain(self.elements.iter().map(String::as_str)).collect();
        let outputs = [Some(&mut law.normal), law.energy.as_mut(), law.friction.as_mut()];
        for equation in law.lets.iter_mut().chain(outputs.into_iter().flatten()) {
            self.equation(equation, &local);
        }
    }
}

/// A scene on its way into another one.
pub(super) struct Entering {
    pub(super) names: Names,
    position: Vec3,
    orientation: Quat,
    place: Place,
}

impl Entering {
    pub(super) fn point(&self, p: &mut Vec3) {
        *p = self.position + self.orientation * *p;
    }

    pub(super) fn turn(&self, v: &mut Vec3) {
        *v = self.orientation * *v;
    }

    pub(super) fn places(&self, places: &mut Places) {
        *places = Places { entity: self.place, ..Places::default() };
    }

    pub(super) fn equation(&self, equation: &mut Equation, local: &[&str]) {
        self.names.equation(equation, local);
        self.places(&mut equation.places);
    }

    /// The world does not move with an included scene: what is fastened to its frame cannot.
    fn check(&self, reader: &mut Reader<'_>, fields: &Fields<'_>, part: &Scene) {
        if self.position == Vec3::ZERO && self.orientation == Quat::IDENTITY {
            return;
        }
        let of = |what: &'static str, parts: &'_ [Part]| {
            let held = parts.iter().filter(|part| include_part::holds_to_the_world(part));
            held.map(|part| (what, part.name.clone())).collect::<Vec<_>>()
        };
        let held = [of("joint", &part.joints), of("force", &part.forces), of("drawing", &part.drawings)];
        for (what, name) in held.into_iter().flatten() {
            let message = format!("{} is moved, but its {what} \"{name}\" holds to the world's own frame", fields.what);
            reader.error(self.place, message, "give it `at`, or fasten it to a fixed body of that scene");
        }
    }

    fn enter(&self, part: Scene, scene: &mut Scene) {
        let Scene {
            materials,
            laws,
            pairs,
            solids,
            notes,
            bodies,
            grains,
            sinks,
            probes,
            soils,
            ignores,
            joints,
            constraints,
            forces,
            signals,
            components,
            sensors,
            drawings,
            changes,
            ..
        } = part;
        for mut material in materials {
            self.names.put(&mut material.name);
            self.places(&mut material.places);
            scene.materials.push(material);
        }
        for mut law in laws {
            self.names.put(&mut law.name);
            self.names.law_equations(&mut law);
            self.places(&mut law.places);
            let outputs = [Some(&mut law.normal), law.energy.as_mut(), law.friction.as_mut()];
            for equation in law.lets.iter_mut().chain(outputs.into_iter().flatten()) {
                self.places(&mut equation.places);
            }
            scene.laws.push(law);
        }
        for mut pair in pairs {
            match &mut pair.between {
                Between::Materials(first, second) => [first, second].into_iter().for_each(|m| self.names.material(m)),
                Between::Bodies(first, second) => [first, second].into_iter().for_each(|b| self.names.body(b)),
            }
            self.names.law(&mut pair.contact);
            self.places(&mut pair.contact.places);
            self.places(&mut pair.places);
            // The same pair of built-in materials can come with every include.
            if !scene.pairs.contains(&pair) {
                scene.pairs.push(pair);
            }
        }
        for mut ignore in ignores {
            self.names.body(&mut ignore.first);
            self.names.body(&mut ignore.second);
            self.places(&mut ignore.places);
            scene.ignores.push(ignore);
        }
        for mut solid in solids {
            self.names.put(&mut solid.name);
            if let SolidForm::Combined { of, .. } = &mut solid.form {
                of.iter_mut().for_each(|name| self.names.put(name));
            }
            self.places(&mut solid.places);
            scene.solids.push(solid);
        }
        scene.notes.extend(notes.into_iter().map(|note| format!("{}: {note}", self.names.prefix)));
        for mut body in bodies {
            self.body(&mut body);
            body.interface_of.iter_mut().for_each(|own| self.names.put(&mut own.of));
            scene.bodies.push(body);
        }
        for mut set in grains {
            self.names.put(&mut set.name);
            self.names.material(&mut set.material);
            set.moved(self.position, self.orientation);
            self.places(&mut set.places);
            scene.grains.push(set);
        }
        self.measures(sinks, probes, scene);
        for mut soil in soils {
            self.names.put(&mut soil.name);
            soil.tools.iter_mut().for_each(|tool| self.names.body(&mut tool.body));
            soil.ignore.iter_mut().for_each(|body| self.names.body(body));
            soil.moved(self.position);
            self.places(&mut soil.places);
            scene.soils.push(soil);
        }
        let parts = [(joints, &mut scene.joints), (forces, &mut scene.forces), (signals, &mut scene.signals)];
        for (parts, out) in parts.into_iter().chain([(sensors, &mut scene.sensors), (drawings, &mut scene.drawings)]) {
            for mut part in parts {
                self.part(&mut part);
                out.push(part);
            }
        }
        for mut constraint in constraints {
            self.names.put(&mut constraint.name);
            constraint.terms.iter_mut().for_each(|term| self.names.put(&mut term.joint));
            self.places(&mut constraint.places);
            scene.constraints.push(constraint);
        }
        for mut component in components {
            self.component(&mut component);
            scene.components.push(component);
        }
        for mut change in changes {
            self.change(&mut change);
            scene.changes.push(change);
        }
    }

    /// Boxes around grains.
    fn measures(&self, sinks: Vec<SinkSpec>, probes: Vec<ProbeSpec>, scene: &mut Scene) {
        for mut sink in sinks {
            self.names.put(&mut sink.name);
            (sink.low, sink.high) = grains::moved_box(sink.low, sink.high, self.position, self.orientation);
            self.places(&mut sink.places);
            scene.sinks.push(sink);
        }
        for mut probe in probes {
            self.names.put(&mut probe.name);
            (probe.low, probe.high) = grains::moved_box(probe.low, probe.high, self.position, self.orientation);
            self.places(&mut probe.places);
            scene.probes.push(probe);
        }
    }

    fn body(&self, body: &mut Body) {
        self.names.put(&mut body.name);
        body.material.iter_mut().for_each(|material| self.names.material(material));
        for shape in &mut body.shapes {
            shape.material.iter_mut().for_each(|material| self.names.material(material));
            if let ShapeKind::Mesh { solid: Some(name), .. } = &mut shape.kind {
                self.names.put(name);
            }
            self.places(&mut shape.places);
        }
        self.point(&mut body.position);
        let R_wb = self.orientation * body.orientation;
        body.orientation = unit_quaternion(R_wb).unwrap_or(R_wb);
        self.turn(&mut body.velocity);
        self.turn(&mut body.angular_velocity);
        if let Some(servo) = &mut body.servo {
            self.turn(&mut servo.axis);
        }
        if let Some(motion) = &mut body.motion {
            self.turn(&mut motion.velocity);
            self.turn(&mut motion.angular_velocity);
        }
        body.groups.iter_mut().for_each(|group| self.names.put(group));
        body.ignore.iter_mut().for_each(|name| self.names.body(name));
        body.frames.iter_mut().for_each(|frame| self.places(&mut frame.places));
        self.places(&mut body.places);
    }

    /// Inputs are seen from outside; everything else knows the component's own names first.
    fn component(&self, component: &mut Component) {
        self.names.put(&mut component.name);
        self.places(&mut component.places);
        let own = component.inputs.iter().chain(&component.lets).chain(&component.outputs);
        let own: Vec<String> =
            own.map(|e| e.name.clone()).chain(component.states.iter().map(|(name, _)| name.clone())).collect();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        component.inputs.iter_mut().for_each(|equation| self.equation(equation, &[]));
        let inner = component.lets.iter_mut().chain(&mut component.rates).chain(&mut component.outputs);
        inner.for_each(|equation| self.equation(equation, &own));
        for crossing in &mut component.crossings {
            self.places(&mut crossing.places);
            self.equation(&mut crossing.when, &own);
            crossing.set.iter_mut().for_each(|equation| self.equation(equation, &own));
        }
    }

    fn change(&self, change: &mut Change) {
        self.names.put(&mut change.name);
        self.places(&mut change.places);
        change.when.iter_mut().for_each(|when| self.equation(when, &[]));
        match &mut change.action {
            Action::Attach(name) | Action::Release(name) | Action::Lock(name) | Action::Unlock(name) => {
                self.names.put(name);
            }
            Action::Delete(name) => self.names.put(name),
            Action::Contact { between, .. } => between.iter_mut().for_each(|name| self.names.put(name)),
        }
    }
}
