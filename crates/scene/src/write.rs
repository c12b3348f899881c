//! From a [`Scene`] back to the tree of a file. What has its default value is left out.

use super::node::{Entry, Node, Text, Value};
use super::*;
use crate::equation::Kind;

/// Collects the entries of a table.
#[derive(Default)]
pub(super) struct Writer(pub Vec<Entry>);

impl Writer {
    pub fn put(&mut self, key: &str, value: Value) {
        self.0.push(Entry { key: key.to_string(), place: Place::default(), node: Node::new(value) });
    }

    pub fn number(&mut self, key: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.put(key, Value::Number(value));
        }
    }

    pub fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put(key, Value::Text(Text::new(text, true)));
        }
    }

    pub fn texts(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.put(key, list(texts, |text| Value::Text(Text::new(text, true))));
        }
    }

    pub fn flag(&mut self, key: &str, flag: bool, default: bool) {
        if flag != default {
            self.put(key, Value::Flag(flag));
        }
    }

    pub fn vector(&mut self, key: &str, vector: Vec3) {
        if vector != Vec3::ZERO {
            self.put(key, numbers(&vector.to_array()));
        }
    }

    pub fn orientation(&mut self, R: Quat) {
        if R != Quat::IDENTITY {
            self.put("orientation", numbers(&[R.w, R.x, R.y, R.z]));
        }
    }

    pub fn table(&mut self, key: &str, table: Writer) {
        if !table.0.is_empty() {
            self.put(key, Value::Table(table.0));
        }
    }
}

pub(super) fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    Value::List(items.iter().map(|item| Node::new(value(item))).collect())
}

pub(super) fn numbers(numbers: &[f64]) -> Value {
    list(numbers, |number| Value::Number(*number))
}

/// The top table of a scene.
pub(super) fn scene(scene: &Scene) -> Vec<Entry> {
    let mut top = Writer::default();
    top.number("format", Some(1.0));
    top.text("title", Some(scene.title.as_str()).filter(|text| !text.is_empty()));
    top.text("description", Some(scene.description.as_str()).filter(|text| !text.is_empty()));
    top.text("source", scene.source.as_deref());
    top.texts("tags", &scene.tags);
    top.text("cost", scene.cost.as_deref());
    let mut params = Writer::default();
    for param in &scene.params {
        let unit = match param.kind {
            Kind::Dim(dimension) => dimension.written(),
            _ => None,
        };
        match unit {
            Some(unit) => params.text(&param.name, Some(&format!("{:?} {unit}", param.value))),
            None => params.number(&param.name, Some(param.value)),
        }
    }
    top.table("params", params);
    let mut world = Writer::default();
    world.put("gravity", numbers(&scene.gravity.to_array()));
    tables(&mut world, "attractors", &scene.attractors, |attractor| {
        let mut table = Writer::default();
        table.vector("position", attractor.position);
        table.number("mu", Some(attractor.mu));
        table
    });
    top.table("world", world);
    top.table("run", run(&scene.run));
    top.table("realtime", realtime(&scene.realtime));
    top.table("granular", write_grains::granular(&scene.granular));
    let mut defaults = Writer::default();
    contact(&mut defaults, &scene.contact);
    top.table("contact", defaults);
    let mut materials = Writer::default();
    for material in &scene.materials {
        let mut table = Writer::default();
        table.number("density", Some(material.density));
        table.number("young", Some(material.young));
        table.number("poisson", Some(material.poisson));
        materials.table(&material.name, table);
    }
    top.table("materials", materials);
    let mut laws = Writer::default();
    for law in &scene.laws {
        laws.table(&law.name, self::law(law));
    }
    top.table("law", laws);
    tables(&mut top, "pair", &scene.pairs, pair);
    tables(&mut top, "solid", &scene.solids, write_solid::solid);
    tables(&mut top, "body", scene.bodies.iter().filter(|body| body.interface_of.is_none()), body);
    tables(&mut top, "grains", &scene.grains, write_grains::grains);
    tables(&mut top, "sink", &scene.sinks, write_grains::sink);
    tables(&mut top, "probe", &scene.probes, write_grains::probe);
    tables(&mut top, "soil", &scene.soils, soil::written);
    tables(&mut top, "ignore", &scene.ignores, |ignore| {
        let mut table = Writer::default();
        table.texts("bodies", &[ignore.first.clone(), ignore.second.clone()]);
        table
    });
    write_mechanism::mechanism(&mut top, scene);
    top.table("optimize", scene.optimize.as_ref().map(optimize::write).unwrap_or_default());
    tables(&mut top, "expect", &scene.expects, expect);
    top.0
}

pub(super) fn tables<'t, T: 't>(
    top: &mut Writer,
    key: &str,
    items: impl IntoIterator<Item = &'t T>,
    write: impl Fn(&T) -> Writer,
) {
    let tables: Vec<Node> = items.into_iter().map(|item| Node::new(Value::Table(write(item).0))).collect();
    if !tables.is_empty() {
        top.put(key, Value::List(tables));
    }
}

fn run(run: &Run) -> Writer {
    let mut table = Writer::default();
    table.number("until", Some(run.until));
    table.number("tolerance", Some(run.tolerance));
    table.number("output_interval", Some(run.output_interval));
    table.text("integrator", Some(run.integrator.name()));
    table.number("step", run.step);
    table.number("max_step", run.max_step);
    table.text("clock", Some(run.clock.name()));
    table
}

fn realtime(realtime: &Realtime) -> Writer {
    let mut table = Writer::default();
    table.number("step", Some(realtime.step));
    table.text("friction", Some(realtime.friction.name()));
    table.number("passes", Some(realtime.passes as f64));
    table.number("points", Some(realtime.points as f64));
    table.text("solver", Some(realtime.solver.name()));
    table.text("coupled", Some(realtime.coupled.name()));
    table.number("sweeps", Some(realtime.sweeps as f64));
    table.text("friction_load", Some(realtime.friction_load.name()));
    table.number("direct_bodies", Some(realtime.direct_bodies as f64));
    table.number("max_contacts", realtime.max_contacts.map(|n| n as f64));
    table.number("merge_distance", Some(realtime.merge_distance));
    table.number("search_margin", realtime.search_margin);
    table.flag("sleeping", realtime.sleeping, false);
    table
}

fn contact(table: &mut Writer, contact: &ContactSpec) {
    table.number("restitution", contact.restitution);
    table.number("friction", contact.friction);
    table.number("static_friction", contact.static_friction);
    table.number("rolling", contact.rolling);
    table.number("spin", contact.spin);
    table.text(
        "law",
        contact.law.as_ref().map(|law| match law {
            LawChoice::BuiltIn(law) => law.name(),
            LawChoice::Custom(name) => name,
        }),
    );
    table.text("friction_law", contact.friction_law.map(FrictionLaw::name));
    table.number("stiffness", contact.stiffness);
    table.number("exponent", contact.exponent);
    table.number("damping", contact.damping);
    table.number("damping_max", contact.damping_max);
    table.number("restitution_min", contact.restitution_min);
    table.number("blend_speed", contact.blend_speed);
    table.number("slip_speed", contact.slip_speed);
    table.number("spin_speed", contact.spin_speed);
    table.number("patch_radius", contact.patch_radius);
    table.number("spin_damping", contact.spin_damping);
    table.number("radius", contact.radius);
    table.number("modulus", contact.modulus);
    table.number("force_max", contact.force_max);
    table.number("normal_force_max", contact.normal_force_max);
    table.number("adhesion", contact.adhesion);
    table.number("adhesion_pressure", contact.adhesion_pressure);
    table.number("slip", contact.slip);
    table.number("bristle_stiffness", contact.bristle_stiffness);
    table.number("friction_force", contact.friction_force);
    let curves = [("friction_curve", &contact.friction_curve), ("restitution_curve", &contact.restitution_curve)];
    for (name, points) in curves {
        if let Some(points) = points {
            table.put(name, list(points, |point| numbers(point)));
        }
    }
    table.number("points", contact.points.map(|n| n as f64));
    table.text("lever", contact.lever.map(Lever::name));
    table.number("k_red", contact.k_red);
}

fn pair(pair: &Pair) -> Writer {
    let mut table = Writer::default();
    let (key, first, second) = match &pair.between {
        Between::Materials(first, second) => ("materials", first, second),
        Between::Bodies(first, second) => ("bodies", first, second),
    };
    table.texts(key, &[first.clone(), second.clone()]);
    contact(&mut table, &pair.contact);
    table.flag("ignore", pair.ignore, false);
    table
}

fn law(law: &Law) -> Writer {
    let mut table = Writer::default();
    let mut lets = Writer::default();
    for equation in &law.lets {
        lets.text(&equation.name, Some(&equation.text));
    }
    table.table("let", lets);
    table.text("normal", Some(&law.normal.text));
    table.text("energy", law.energy.as_ref().map(|equation| equation.text.as_str()));
    table.text("friction", law.friction.as_ref().map(|equation| equation.text.as_str()));
    table
}

fn body(body: &Body) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&body.name));
    table.flag("fixed", body.fixed, false);
    match body.shapes.as_slice() {
        [] => {}
        [only] => table.put("shape", Value::Table(shape(only).0)),
        several => table.put("shapes", list(several, |spec| Value::Table(shape(spec).0))),
    }
    table.text("material", body.material.as_deref());
    table.number("density", body.density);
    table.vector("position", body.position);
    table.orientation(body.orientation);
    table.vector("velocity", body.velocity);
    table.vector("angular_velocity", body.angular_velocity);
    table.number("mass", body.mass);
    if let Some(I) = body.inertia {
        let diagonal = I == Mat3::from_diagonal(Vec3::new(I.x_axis.x, I.y_axis.y, I.z_axis.z));
        let columns = I.to_cols_array_2d();
        table.put(
            "inertia",
            if diagonal {
                numbers(&[columns[0][0], columns[1][1], columns[2][2]])
            } else {
                list(&columns, |c| numbers(c))
            },
        );
    }
    if let Some(center) = body.center_of_mass {
        table.put("center_of_mass", numbers(&center.to_array()));
    }
    if let Some(servo) = &body.servo {
        table.table("servo", write_grains::servo(servo));
    }
    if let Some(motion) = body.motion {
        let mut inner = Writer::default();
        inner.put("velocity", numbers(&motion.velocity.to_array()));
        inner.put("angular_velocity", numbers(&motion.angular_velocity.to_array()));
        table.table("motion", inner);
    }
    if let Some(flexible) = &body.flexible {
        table.table("flexible", flexible::write(flexible));
    }
    table.texts("groups", &body.groups);
    table.texts("ignore", &body.ignore);
    table.flag("collide", body.collide, true);
    table.text("solver", body.solver.map(|solver| solver.name()));
    tables(&mut table, "frames", &body.frames, |frame| {
        let mut table = Writer::default();
        table.text("name", Some(&frame.name));
        table.vector("position", frame.position);
        table.orientation(frame.orientation);
        table
    });
    table
}

fn shape(spec: &ShapeSpec) -> Writer {
    let mut table = Writer::default();
    let mut kind = |word: &str| table.text("kind", Some(word));
    match &spec.kind {
        ShapeKind::Sphere { radius } => {
            kind("sphere");
            table.number("radius", Some(*radius));
        }
        ShapeKind::Ellipsoid { semi_axes } => {
            kind("ellipsoid");
            table.put("semi_axes", numbers(&semi_axes.to_array()));
        }
        ShapeKind::Box { half_extents, smoothing } => {
            kind("box");
            table.put("half_extents", numbers(&half_extents.to_array()));
            table.number("smoothing", *smoothing);
        }
        ShapeKind::Cylinder { radius, length, axis, smoothing } => {
            kind("cylinder");
            table.number("radius", Some(*radius));
            table.number("length", Some(*length));
            table.text("axis", Some(axis.name()));
            table.number("smoothing", *smoothing);
        }
        ShapeKind::Capsule { radius, length, axis } => {
            kind("capsule");
            table.number("radius", Some(*radius));
            table.number("length", Some(*length));
            table.text("axis", Some(axis.name()));
        }
        ShapeKind::Cone { radius, top_radius, length, axis, smoothing } => {
            kind("cone");
            table.number("radius", Some(*radius));
            table.number("top_radius", Some(*top_radius));
            table.number("length", Some(*length));
            table.text("axis", Some(axis.name()));
            table.number("smoothing", *smoothing);
        }
        ShapeKind::HalfSpace { normal } => {
            kind("half_space");
            table.put("normal", numbers(&normal.to_array()));
        }
        ShapeKind::Profile { curve, length } => {
            kind("profile");
            table.put("curve", Value::Table(write_part::part(curve, true).0));
            table.number("length", Some(*length));
        }
        ShapeKind::Hull { points, smoothing } => {
            kind("hull");
            table.put("points", list(points, |point| numbers(&point.to_array())));
            table.number("smoothing", *smoothing);
        }
        ShapeKind::HeightGrid { heights, size } => {
            kind("height_grid");
            table.put("heights", list(heights, |row| numbers(row)));
            table.put("size", numbers(size));
        }
        ShapeKind::Mesh { mesh, solid, touches } => {
            kind("mesh");
            match solid {
                Some(name) => table.text("solid", Some(name)),
                None => write_solid::surface(&mut table, mesh.surface()),
            }
            match touches {
                Touching::Mesh => {}
                Touching::Hull => table.flag("hull", true, false),
                Touching::Pieces { most, .. } => table.number("pieces", Some(*most as f64)),
            }
        }
    }
    table.vector("position", spec.position);
    table.orientation(spec.orientation);
    table.text("material", spec.material.as_deref());
    table.number("density", spec.density);
    table.flag("collide", spec.collide, true);
    table
}

fn expect(expect: &Expect) -> Writer {
    let mut table = Writer::default();
    table.text("value", Some(&expect.value.text));
    table.number("at", expect.at);
    table.number("is", expect.is);
    table.number("within", expect.within);
    table.flag("relative", expect.relative, false);
    table.number("below", expect.below);
    table.number("above", expect.above);
    table.text("source", Some(&expect.source));
    let mut with = Writer::default();
    for (name, value) in &expect.with {
        with.text(name, Some(value));
    }
    table.table("with", with);
    table.number("tolerance", expect.tolerance);
    table.number("until", expect.until);
    table.text("clock", expect.clock.map(ExpectClock::name));
    table
}
