//! A scene as Modelica: bodies, joints and springs as components of `Modelica.Mechanics.MultiBody` (4.0), contacts as interactions of the
//! library `TippeContact`. What has no counterpart there is named, and not left out in silence.

use std::fmt::Write;
use tippe::element::{Anchor, Element, JointSpring};
use tippe::geometry::{Mat3, Quat, Vec3};
use tippe::joint::Joint;
use tippe::mechanism::{Link, Mechanism, Parent};
use tippe::model::{Drive, Model};
use tippe::pair::PairLaws;
use tippe::scene::Scene;

/// Speed of the impact whose damping the contacts have [m/s].
const IMPACT_SPEED: f64 = 1.0;
const PARTS: &str = "Modelica.Mechanics.MultiBody.Parts";
const JOINTS: &str = "Modelica.Mechanics.MultiBody.Joints";

/// A model of this name, and what of the scene is not in it. `scene_name` is what the library's collider opens.
pub fn modelica(scene: &Scene, model: &Model, name: &str, scene_name: &str) -> (String, Vec<String>) {
    let mut own = Writer { model, declared: String::new(), joined: String::new(), notes: Vec::new() };
    (0..model.bodies.len()).for_each(|body| own.body(body));
    for (m, mechanism) in model.mechanisms.iter().enumerate() {
        own.mechanism(m, mechanism);
    }
    own.forces();
    own.contacts();
    own.rest(scene);
    let g = model.gravity;
    let size = g.length();
    let n = if size > 0.0 { g / size } else { -Vec3::Z };
    let title = scene.title.replace('"', "'");
    let mut text = format!(
        "model {name} \"{title}\"\n  inner Modelica.Mechanics.MultiBody.World world(n={}, g={size:?});\n  inner TippeContact.Scene \
         scene(text=\"{}\");\n",
        vector(n),
        scene_name.replace('\\', "/").replace('"', "'")
    );
    text.push_str(&own.declared);
    text.push_str("equation\n");
    text.push_str(&own.joined);
    for note in &own.notes {
        let _ = writeln!(text, "  // not translated: {note}");
    }
    let _ = writeln!(
        text,
        "  annotation (experiment(StopTime={:?}, Tolerance={:?}), uses(Modelica(version=\"4.0.0\"), TippeContact(version=\"0.1\")));\nend {name};",
        scene.run.until, scene.run.tolerance
    );
    (text, own.notes)
}

/// An identifier of Modelica.
pub fn identifier(name: &str) -> String {
    let text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text } else { format!("x{text}") }
}

fn vector(v: Vec3) -> String {
    format!("{{{:?}, {:?}, {:?}}}", v.x, v.y, v.z)
}

/// Angles about x, y, z, one after the other and carried along: R = Rx(a) Ry(b) Rz(c).
fn angles(q: Quat) -> Vec3 {
    let R = Mat3::from_quat(q);
    let [c0, c1, c2] = [R.x_axis, R.y_axis, R.z_axis];
    Vec3::new(libm::atan2(-c2.y, c2.z), libm::asin(c2.x.clamp(-1.0, 1.0)), libm::atan2(-c1.x, c0.x))
}

struct Writer<'a> {
    model: &'a Model,
    declared: String,
    joined: String,
    notes: Vec<String>,
}

impl Writer<'_> {
    fn declare(&mut self, class: &str, name: &str, what: &str) {
        let _ = writeln!(self.declared, "  {class} {name}({what});");
    }

    fn join(&mut self, one: &str, other: &str) {
        let _ = writeln!(self.joined, "  connect({one}, {other});");
    }

    /// A frame fastened to another, with origin p and axes R in it; the name of its connector.
    fn frame(&mut self, on: &str, name: &str, p: Vec3, R: Mat3) -> String {
        if p == Vec3::ZERO && R == Mat3::IDENTITY {
            return on.to_owned();
        }
        if R == Mat3::IDENTITY {
            self.declare(&format!("{PARTS}.FixedTranslation"), name, &format!("r={}, animation=false", vector(p)));
        } else {
            let kind = "rotationType=Modelica.Mechanics.MultiBody.Types.RotationTypes.TwoAxesVectors";
            let what =
                format!("r={}, {kind}, n_x={}, n_y={}, animation=false", vector(p), vector(R.x_axis), vector(R.y_axis));
            self.declare(&format!("{PARTS}.FixedRotation"), name, &what);
        }
        self.join(on, &format!("{name}.frame_a"));
        format!("{name}.frame_b")
    }

    /// Connector of the frame c of a body, at its centre of mass.
    fn centre(&self, body: usize) -> String {
        format!("{}.frame_{}", identifier(&self.model.bodies[body].name), if self.is_free(body) { "a" } else { "b" })
    }

    fn is_free(&self, body: usize) -> bool {
        self.model.bodies[body].drive == Drive::Free
    }

    fn anchored(&mut self, anchor: &Anchor, name: &str) -> String {
        let on = anchor.body.map_or("world.frame_b".to_owned(), |body| self.centre(body as usize));
        self.frame(&on, name, anchor.p, anchor.R)
    }

    fn body(&mut self, k: usize) {
        let body = &self.model.bodies[k];
        let (name, start) = (identifier(&body.name), &self.model.start[k]);
        if body.flexible.is_some() {
            self.notes.push(format!("body \"{}\" bends; it is rigid here", body.name));
        }
        if !self.is_free(k) {
            if body.drive != Drive::Fixed {
                self.notes.push(format!("body \"{}\" has a given motion; it stands still here", body.name));
            }
            let R = Mat3::from_quat(start.orientation);
            let kind = "rotationType=Modelica.Mechanics.MultiBody.Types.RotationTypes.TwoAxesVectors";
            let p = start.position + R * body.p_bc;
            let what =
                format!("r={}, {kind}, n_x={}, n_y={}, animation=false", vector(p), vector(R.x_axis), vector(R.y_axis));
            self.declare(&format!("{PARTS}.FixedRotation"), &name, &what);
            self.join("world.frame_b", &format!("{name}.frame_a"));
            return;
        }
        let I = body.I_c;
        let mut what = format!(
            "m={:?}, r_CM={{0, 0, 0}}, I_11={:?}, I_22={:?}, I_33={:?}, I_21={:?}, I_31={:?}, I_32={:?}",
            body.mass, I.x_axis.x, I.y_axis.y, I.z_axis.z, I.x_axis.y, I.x_axis.z, I.y_axis.z
        );
        let flies = |(m, link): (u32, u32)| {
            let link = &self.model.mechanisms[m as usize].links[link as usize];
            link.source.is_none() && link.joint == Joint::Free
        };
        if body.mechanism.is_none_or(flies) {
            let arm = start.orientation * body.p_bc;
            let v = start.velocity + start.angular_velocity.cross(arm);
            let _ = write!(
                what,
                ", r_0(start={}, each fixed=true), v_0(start={}, each fixed=true), angles_fixed=true, angles_start={}, w_0_fixed=true, \
                 w_0_start={}",
                vector(start.position + arm),
                vector(v),
                vector(angles(start.orientation)),
                vector(start.angular_velocity)
            );
        }
        self.declare(&format!("{PARTS}.Body"), &name, &what);
    }

    fn mechanism(&mut self, m: usize, mechanism: &Mechanism) {
        for link in &mechanism.links {
            let Some(source) = link.source else { continue };
            let name = identifier(&self.model.joints[source as usize].name);
            let on = match link.parent {
                Parent::World => "world.frame_b".to_owned(),
                Parent::Body(body) => self.centre(body as usize),
                Parent::Link(other) => self.centre(mechanism.links[other as usize].body as usize),
            };
            let from = self.frame(&on, &format!("{name}_from"), link.p_p1, link.R_p1);
            // the body hangs on frame 2: it is there as frame 2 is in the body
            let to = self.centre(link.body as usize);
            let back = link.R_2c.transpose();
            let to = self.frame(&to, &format!("{name}_to"), -(back * link.p_2c), back);
            let start = &self.model.mechanism_starts[m];
            let Some((class, what)) = joint(link, &start.q[link.first..], &start.u[link.first..]) else {
                let kind = self.model.joints[source as usize].kind.kind.word;
                let written = link_name(self.model, source);
                self.notes.push(format!("joint \"{written}\" is a {kind}: its bodies are free of each other here"));
                continue;
            };
            if class == "weld" {
                self.join(&from, &to);
                continue;
            }
            self.declare(&class, &name, &what);
            let ends = if link.reversed { ["b", "a"] } else { ["a", "b"] };
            self.join(&from, &format!("{name}.frame_{}", ends[0]));
            self.join(&to, &format!("{name}.frame_{}", ends[1]));
        }
        for closing in &mechanism.loops {
            let name = identifier(&self.model.joints[closing.source as usize].name);
            let class = match closing.joint {
                Joint::Revolute => "Revolute(n={0, 0, 1})",
                Joint::Prismatic => "Prismatic",
                Joint::Spherical => "Spherical",
                Joint::Universal => "Universal",
                _ => {
                    self.notes.push(format!(
                        "joint \"{}\" closes a loop in a way MultiBody has no constraint for",
                        link_name(self.model, closing.source)
                    ));
                    continue;
                }
            };
            let ends = [0, 1].map(|k| {
                let side = &closing.sides[k];
                let on = match side.on {
                    Parent::World => "world.frame_b".to_owned(),
                    Parent::Body(body) => self.centre(body as usize),
                    Parent::Link(other) => self.centre(mechanism.links[other as usize].body as usize),
                };
                self.frame(&on, &format!("{name}_{}", k + 1), side.p, side.R)
            });
            let (class, what) =
                class.split_once('(').map_or((class, ""), |(class, what)| (class, what.trim_end_matches(')')));
            self.declare(&format!("{JOINTS}.Constraints.{class}"), &name, what);
            self.join(&ends[0], &format!("{name}.frame_a"));
            self.join(&ends[1], &format!("{name}.frame_b"));
        }
        for coupled in &mechanism.couplings {
            self.notes.push(format!("\"{}\" couples coordinates of joints", coupled.name));
        }
    }

    fn forces(&mut self) {
        let model = self.model;
        for element in &model.elements {
            let name = identifier(&element.name);
            match &element.kind {
                Element::Spring(own) if own.law.is_none() && !own.rope => {
                    let ends = [0, 1].map(|k| self.anchored(&own.ends[k], &format!("{name}_{}", k + 1)));
                    let what = format!(
                        "c={:?}, d={:?}, s_unstretched={:?}, animation=false",
                        own.stiffness, own.damping, own.rest
                    );
                    self.declare("Modelica.Mechanics.MultiBody.Forces.SpringDamperParallel", &name, &what);
                    self.join(&ends[0], &format!("{name}.frame_a"));
                    self.join(&ends[1], &format!("{name}.frame_b"));
                }
                Element::JointSpring(own) => self.joint_spring(&name, own),
                _ => self.notes.push(format!("what \"{}\" does", element.name)),
            }
        }
    }

    /// A spring of a revolute or prismatic joint, between its flanges.
    fn joint_spring(&mut self, name: &str, own: &JointSpring) {
        let mechanism = &self.model.mechanisms[own.at.mechanism as usize];
        let link = mechanism.links.iter().find(|link| link.first == own.at.coordinate as usize);
        let (domain, rest) = match link.map(|link| &link.joint) {
            Some(Joint::Revolute) => ("Rotational", "phi_rel0"),
            Some(Joint::Prismatic) => ("Translational", "s_rel0"),
            _ => return self.notes.push(format!("the spring {name} of a joint with several coordinates")),
        };
        let Some(joint) = link.and_then(|link| link.source) else { return };
        let joint = identifier(link_name(self.model, joint));
        let what = format!("c={:?}, d={:?}, {rest}={:?}", own.stiffness, own.damping, own.rest);
        self.declare(&format!("Modelica.Mechanics.{domain}.Components.SpringDamper"), name, &what);
        self.join(&format!("{joint}.support"), &format!("{name}.flange_a"));
        self.join(&format!("{joint}.axis"), &format!("{name}.flange_b"));
    }

    fn contacts(&mut self) {
        let model = self.model;
        let mut frames = vec![None; model.bodies.len()];
        for i in 0..model.colliders.len() {
            for j in i + 1..model.colliders.len() {
                let (Some(_), Some(laws)) = (model.contact_between(i, j), PairLaws::of(model, (i as u32, j as u32)))
                else {
                    continue;
                };
                let bodies = [i, j].map(|k| model.colliders[k].body as usize);
                let names = bodies.map(|body| identifier(&model.bodies[body].name));
                let name = format!("contact_{}_{}", names[0], names[1]);
                if self.declared.contains(&format!(" {name}(")) {
                    continue;
                }
                let count = if laws.geometry.patch_size().is_some() { 4 } else { 1 };
                // points share the force of their patch
                let K = laws.stiffness / f64::from(count);
                let d = laws.normal.damping(IMPACT_SPEED);
                let what = format!(
                    "a=\"{}\", b=\"{}\", count={count}, redeclare function normalForce = TippeContact.Laws.hertz(K={K:?}, d={d:?}), redeclare \
                     function frictionForce = TippeContact.Laws.smooth(mu={:?})",
                    model.bodies[bodies[0]].name, model.bodies[bodies[1]].name, laws.friction.mu
                );
                self.declare("TippeContact.PhysicalInteraction", &name, &what);
                for (body, end) in bodies.into_iter().zip(["a", "b"]) {
                    if frames[body].is_none() {
                        let (centre, own) =
                            (self.centre(body), format!("{}_origin", identifier(&model.bodies[body].name)));
                        frames[body] = Some(self.frame(&centre, &own, -model.bodies[body].p_bc, Mat3::IDENTITY));
                    }
                    let frame = frames[body].clone().unwrap_or_default();
                    self.join(&frame, &format!("{name}.frame_{end}"));
                }
            }
        }
    }

    fn rest(&mut self, scene: &Scene) {
        let mut count = |count: usize, what: &str| {
            if count > 0 {
                self.notes.push(format!("{count} {what}"));
            }
        };
        count(scene.signals.len(), "signals");
        count(scene.components.len(), "components");
        count(scene.changes.len(), "structural changes");
        count(scene.grains.len(), "sets of grains");
        count(scene.soils.len(), "fields of soil");
    }
}

fn link_name(model: &Model, joint: u32) -> &str {
    &model.joints[joint as usize].name
}

/// Class of a joint in MultiBody with its modifiers, its coordinates and rates at the start; `weld` where it holds all.
fn joint(link: &Link, q: &[f64], u: &[f64]) -> Option<(String, String)> {
    let one = |value: &str, rate: &str, k: usize| {
        format!("{value}(start={:?}, fixed=true), {rate}(start={:?}, fixed=true)", q[k], u[k])
    };
    let what = match link.joint {
        Joint::Fixed => return Some(("weld".to_owned(), String::new())),
        Joint::Revolute => ("Revolute", format!("useAxisFlange=true, n={{0, 0, 1}}, {}", one("phi", "w", 0))),
        Joint::Prismatic => ("Prismatic", format!("useAxisFlange=true, n={{0, 0, 1}}, {}", one("s", "v", 0))),
        Joint::Cylindrical => ("Cylindrical", format!("n={{0, 0, 1}}, {}, {}", one("s", "v", 0), one("phi", "w", 1))),
        Joint::Universal => (
            "Universal",
            format!("n_a={{0, 0, 1}}, n_b={{1, 0, 0}}, {}, {}", one("phi_a", "w_a", 0), one("phi_b", "w_b", 1)),
        ),
        Joint::Planar => (
            "Planar",
            format!(
                "n={{0, 0, 1}}, n_x={{1, 0, 0}}, {}, {}, {}",
                one("s_x", "v_x", 0),
                one("s_y", "v_y", 1),
                one("phi", "w", 2)
            ),
        ),
        Joint::Spherical => ("Spherical", "angles_fixed=true, w_rel_a_fixed=true".to_owned()),
        _ => return None,
    };
    Some((format!("{JOINTS}.{}", what.0), what.1))
}
