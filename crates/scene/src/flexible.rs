//! Bodies that bend: keys, reading, writing, and the bodies `BODY.INTERFACE` that stand for their interfaces, each joined to its body by
//! `BODY.INTERFACE.hold`.

use super::format::{Form, Key, Range, Table, flag, key, number, text, vector, word};
use super::reader::{Fields, Reader};
use super::write::{Writer, tables};
use super::*;
use crate::equation::Dimension as D;
use tippe_geometry::file::regular;

/// How a body bends.
#[derive(Clone, Debug, PartialEq)]
pub struct Flexible {
    /// Sides of the elements [m]; none for a mesh of a file.
    pub size: Option<f64>,
    /// A mesh file: name, text, metres per unit.
    pub file: Option<MeshFile>,
    /// 1 for straight sides and constant strain, 2 for middle nodes.
    pub order: u32,
    /// What a plane mesh does across its plane; none for a solid one.
    pub plane: Option<PlaneOf>,
    /// Thickness of a plane mesh [m]; that of its shape where it has one and nothing else is said.
    pub thickness: Option<f64>,
    /// Number of modes.
    pub modes: Option<u32>,
    /// Or all below this frequency [Hz].
    pub frequency: Option<f64>,
    /// Share of critical damping of all modes [-].
    pub damping: Option<f64>,
    /// Or Rayleigh's: of the mass [1/s], of the stiffness [s].
    pub rayleigh: Option<[f64; 2]>,
    /// Whether loads along it stiffen it.
    pub stiffening: bool,
    /// Where it is held and felt.
    pub interfaces: Vec<InterfaceOf>,
    /// By element the factors of stiffness and mass, while its shape is looked for: of a program, in no file [-].
    pub shares: Option<Arc<Vec<[f64; 2]>>>,
}

/// A mesh file of another program.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Its name as written.
    pub name: String,
    /// What it holds.
    pub text: String,
    /// Metres per unit [m].
    pub unit: f64,
}

named! {
    /// What a plane mesh does across its plane.
    PlaneOf {
        /// No stress.
        Stress = "stress",
        /// No strain.
        Strain = "strain",
    }
}

named! {
    /// How the nodes of an interface follow it.
    HoldOf {
        /// As one rigid piece.
        Rigid = "rigid",
        /// On the average.
        Mean = "mean",
    }
}

/// An interface of a flexible body.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceOf {
    /// Its name; the body `BODY.NAME` stands for it.
    pub name: String,
    /// Its point from the body origin, body axes [m].
    pub at: Vec3,
    /// Which nodes it has.
    pub select: SelectOf,
    /// How they follow it.
    pub hold: HoldOf,
    /// Where it was written.
    pub places: Places,
}

/// Which nodes an interface has.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectOf {
    /// The face farthest out along an axis.
    Face(String),
    /// A hole about an axis.
    Hole(Axis),
    /// All within a distance of the point [m].
    Near(f64),
    /// A set of the mesh file.
    Set(String),
}

/// A body that stands for an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceBody {
    /// Its flexible body.
    pub of: String,
    /// Which of its interfaces.
    pub index: usize,
}

const FACES: &[&str] = &["-x", "+x", "-y", "+y", "-z", "+z"];
const AXES: &[&str] = &["x", "y", "z"];
const FREQUENCY: D = D::new(0, 0, -1);

/// Keys of `flexible`.
pub const FLEXIBLE: Table = Table {
    name: "flexible",
    kinds: &[],
    keys: &[&[
        number("mesh", D::LENGTH, Range::Positive, "Sides of the elements of a mesh of its shape [m]"),
        text("file", "Or a mesh file: .inp of Abaqus or CalculiX, .msh of gmsh"),
        number("unit", D::LENGTH, Range::Positive, "Length that 1 means in the mesh file [m]"),
        number("order", D::ONE, Range::Between(1, 2), "1: straight sides, constant strain; 2: middle nodes; default 2"),
        word("plane", PlaneOf::NAMES, "A plane mesh of its outline, with no stress or no strain across"),
        number("thickness", D::LENGTH, Range::Positive, "Thickness of a plane mesh [m]; default that of its shape"),
        number(
            "modes",
            D::ONE,
            Range::Between(1, 200),
            "Normal modes with its interfaces held, from the lowest; the static ones of rigid interfaces come on top",
        ),
        number("frequency", FREQUENCY, Range::Positive, "Or all normal modes below this frequency [Hz]"),
        number("damping", D::ONE, Range::NotNegative, "Share of critical damping of every mode [-]; default 0.005"),
        number("alpha", FREQUENCY, Range::NotNegative, "Or Rayleigh's damping: share of the mass [1/s]"),
        number("beta", D::TIME, Range::NotNegative, "Rayleigh's damping: share of the stiffness [s]"),
        flag("stiffening", "Loads along it stiffen it; default true"),
        key("interface", Form::Tables(&INTERFACE), "Where it is held and felt: `BODY.NAME` is a body elsewhere")
            .required("such as [{ name = \"end\", at = [0, 0, 0], near = \"5 mm\" }]"),
    ]],
};

/// Keys of an interface.
pub const INTERFACE: Table = Table {
    name: "interface",
    kinds: &[],
    keys: &[&[
        text("name", "Its name").required("such as \"end\""),
        vector("at", D::LENGTH, "Its point from the body origin, body axes [m]").required("such as [0, 0, 0]"),
        word("face", FACES, "Nodes of the face farthest out along an axis"),
        word("hole", AXES, "Or nodes of the round hole about this axis through its point"),
        number("near", D::LENGTH, Range::Positive, "Or nodes within this distance of its point [m]"),
        text("set", "Or a set of nodes of the mesh file"),
        word("hold", HoldOf::NAMES, "Its nodes follow it as one rigid piece, or on the average; default rigid"),
    ]],
};

/// The key of a body.
pub const KEY: Key = key("flexible", Form::Table(&FLEXIBLE), "It bends: its mesh, its modes, and where it is held");

/// Reads `flexible` of a body.
pub(super) fn read(reader: &mut Reader<'_>, body: &Fields<'_>) -> Option<Flexible> {
    let fields = &reader.table(body, "flexible", &FLEXIBLE)?;
    let fields = &Fields { what: format!("{}: flexible", body.what), ..fields.clone() };
    for [one, other] in [["mesh", "file"], ["modes", "frequency"], ["damping", "alpha"], ["damping", "beta"]] {
        if let (Some(_), Some(node)) = (fields.get(one), fields.get(other)) {
            reader.error(node.place, format!("{} has both `{one}` and `{other}`", fields.what), "keep one of them");
        }
    }
    for [one, other, help] in [
        ["mesh", "file", "the size of its elements, such as mesh = \"4 mm\", or a mesh file"],
        ["modes", "frequency", "such as modes = 8, or frequency = \"5 kHz\": three times the highest that excites it"],
    ] {
        if fields.get(one).is_none() && fields.get(other).is_none() {
            reader.error(fields.place, format!("{} has neither `{one}` nor `{other}`", fields.what), help);
        }
    }
    let rayleigh = [reader.number(fields, "alpha"), reader.number(fields, "beta")];
    let flexible = Flexible {
        size: reader.number(fields, "mesh"),
        file: file(reader, fields),
        order: reader.number(fields, "order").map_or(2, |order| order as u32),
        plane: reader.word(fields, "plane", PlaneOf::from_name),
        thickness: reader.number(fields, "thickness"),
        modes: reader.number(fields, "modes").map(|modes| modes as u32),
        frequency: reader.number(fields, "frequency"),
        damping: reader.number(fields, "damping"),
        rayleigh: (rayleigh != [None; 2]).then(|| rayleigh.map(|x| x.unwrap_or(0.0))),
        stiffening: reader.flag(fields, "stiffening").unwrap_or(true),
        interfaces: interfaces(reader, fields),
        shares: None,
    };
    if flexible.interfaces.is_empty() && reader.errors.is_empty() {
        let help = "give it one at least, such as { name = \"end\", at = [0, 0, 0], near = \"5 mm\" }";
        reader.error(fields.place, format!("{} has no interface: nothing could hold or see it", fields.what), help);
    }
    Some(flexible)
}

fn file(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<MeshFile> {
    let name = reader.text(fields, "file")?.to_owned();
    let place = fields.place_of("file");
    let Some(unit) = reader.number(fields, "unit") else {
        let help = "such files do not say it: unit = \"1 mm\"";
        reader.error(place, format!("{} has a mesh file and no `unit`", fields.what), help);
        return None;
    };
    let path = std::path::Path::new(reader.file).parent().unwrap_or(std::path::Path::new("")).join(&name);
    match regular::read_text(&path, regular::MESH) {
        Ok(text) => Some(MeshFile { name, text, unit }),
        Err(error) => {
            reader.error(place, format!("{}: cannot read \"{name}\": {error}", fields.what), "");
            None
        }
    }
}

fn interfaces(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Vec<InterfaceOf> {
    let mut out: Vec<InterfaceOf> = Vec::new();
    let Some(node) = fields.get("interface") else { return out };
    let what = format!("{}: interface", fields.what);
    for item in reader.items(node, &what) {
        let Some(fields) = reader.fields(item, &INTERFACE, what.clone()) else { continue };
        let Some(name) = reader.text(&fields, "name").map(str::to_owned) else { continue };
        read::check_name(reader, &name, fields.place_of("name"), "interface");
        if out.iter().any(|other| other.name == name) {
            reader.error(fields.place_of("name"), format!("{what}: two have the name \"{name}\""), "");
        }
        let ways: Vec<&str> =
            ["face", "hole", "near", "set"].into_iter().filter(|way| fields.get(way).is_some()).collect();
        if ways.len() != 1 {
            let help = "one of face = \"+x\", hole = \"z\", near = \"5 mm\", set = \"NAME\"";
            reader.error(
                fields.place,
                format!("{what} \"{name}\" says {} ways which nodes it has, not one", ways.len()),
                help,
            );
            continue;
        }
        let face = reader.word(&fields, "face", |word| FACES.contains(&word).then(|| word.to_owned()));
        let hole = reader.word(&fields, "hole", |word| AXES.iter().position(|axis| *axis == word));
        let select = face
            .map(SelectOf::Face)
            .or(hole.map(|axis| SelectOf::Hole([Axis::X, Axis::Y, Axis::Z][axis])))
            .or(reader.number(&fields, "near").map(SelectOf::Near))
            .or(reader.text(&fields, "set").map(|set| SelectOf::Set(set.to_lowercase())));
        let (Some(select), Some(at)) = (select, reader.vec3(&fields, "at")) else { continue };
        let hold = reader.word(&fields, "hold", HoldOf::from_name).unwrap_or(HoldOf::Rigid);
        out.push(InterfaceOf { name, at, select, hold, places: fields.places() });
    }
    out
}

/// A body for every interface of a flexible body, and a joint between the two.
pub(super) fn lay_all(scene: &mut Scene) {
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    let laid = |name: &str| scene.bodies.iter().any(|b| b.interface_of.as_ref().is_some_and(|own| own.of == name));
    for body in scene.bodies.iter().filter(|body| body.flexible.is_some() && !laid(&body.name)) {
        for (index, interface) in body.flexible.iter().flat_map(|f| &f.interfaces).enumerate() {
            let name = format!("{}.{}", body.name, interface.name);
            let turn = body.orientation.normalize();
            let arm = turn * interface.at;
            bodies.push(Body {
                name: name.clone(),
                position: body.position + arm,
                orientation: body.orientation,
                velocity: body.velocity + body.angular_velocity.cross(arm),
                angular_velocity: body.angular_velocity,
                // its share of the mass is given to it with the mesh at hand
                mass: Some(1.0),
                inertia: Some(Mat3::IDENTITY),
                interface_of: Some(InterfaceBody { of: body.name.clone(), index }),
                places: body.places.clone(),
                ..Body::default()
            });
            let Some(weld) = tippe_parts::joint::named("fixed") else { continue };
            let side = |body: &str| Attachment { body: body.to_owned(), frame: String::new() };
            let mut hold = Part::new(format!("{name}.hold"), &weld.kind);
            hold.set("bodies", [side(&body.name), side(&name)]);
            hold.places = body.places.clone();
            joints.push(hold);
        }
    }
    scene.bodies.extend(bodies);
    scene.joints.extend(joints);
}

/// True for a joint between a flexible body and an interface of it.
pub fn is_hold(scene: &Scene, joint: &Part) -> bool {
    joint
        .name
        .strip_suffix(".hold")
        .is_some_and(|name| scene.bodies.iter().any(|body| body.name == name && body.interface_of.is_some()))
}

impl Placing {
    /// As it is made, once.
    pub const HOME: Placing = Placing {
        scale: None,
        mirror: None,
        orientation: Quat::IDENTITY,
        position: Vec3::ZERO,
        around: 1,
        along: 1,
        step: Vec3::ZERO,
    };

    /// True if it leaves a solid as it is made.
    pub fn is_at_home(&self) -> bool {
        self.scale.is_none()
            && self.mirror.is_none()
            && self.orientation == Quat::IDENTITY
            && self.position == Vec3::ZERO
            && self.around == 1
            && self.along == 1
    }
}

/// `flexible` as it is written.
pub(super) fn write(flexible: &Flexible) -> Writer {
    let mut table = Writer::default();
    table.number("mesh", flexible.size);
    if let Some(file) = &flexible.file {
        table.text("file", Some(&file.name));
        table.number("unit", Some(file.unit));
    }
    table.number("order", Some(f64::from(flexible.order)));
    table.text("plane", flexible.plane.map(PlaneOf::name));
    table.number("thickness", flexible.thickness);
    table.number("modes", flexible.modes.map(f64::from));
    table.number("frequency", flexible.frequency);
    table.number("damping", flexible.damping);
    if let Some([alpha, beta]) = flexible.rayleigh {
        table.number("alpha", Some(alpha));
        table.number("beta", Some(beta));
    }
    table.flag("stiffening", flexible.stiffening, true);
    tables(&mut table, "interface", &flexible.interfaces, |interface| {
        let mut table = Writer::default();
        table.text("name", Some(&interface.name));
        table.put("at", super::write::numbers(&interface.at.to_array()));
        match &interface.select {
            SelectOf::Face(face) => table.text("face", Some(face)),
            SelectOf::Hole(axis) => table.text("hole", Some(AXES[*axis as usize])),
            SelectOf::Near(radius) => table.number("near", Some(*radius)),
            SelectOf::Set(set) => table.text("set", Some(set)),
        }
        table.text("hold", Some(interface.hold.name()));
        table
    });
    table
}
