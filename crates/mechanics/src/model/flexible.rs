//! Flexible bodies of a scene: their meshes, their modes, what they weigh, and their interfaces.

use super::compile::Compiler;
use super::mechanisms::Found;
use super::{Body, Drive, Model, ModelSignal, SignalSource};
use crate::element::{At, Element, Modes};
use crate::joint::Joint;
use crate::mechanism::elastic::Elastic;
use std::sync::{Arc, Mutex};
use tippe_flexible::reduce::{Choice, Damping, Stiffening};
use tippe_flexible::{
    Elastic as Material, FlexibleError, Hold, Interface, Mesh, Plane, Reduced, Select, Structure, make, read,
};
use tippe_geometry::{Mat3, Pose, Quat, Solid, Vec3};
use tippe_scene::flexible::{HoldOf, PlaneOf, SelectOf};
use tippe_scene::{self as scene, Axis, Flexible, ShapeKind, SolidForm};

/// Share of the mass of a flexible body that the body of an interface has, so that no body is without mass; it is taken off the whole [-].
const SHARE: f64 = 1e-6;
/// Modal damping of steel parts with few joints [-] (Bachmann et al. 1995, appendix C: welded steel 0.003 to 0.007).
const DAMPING: f64 = 0.005;
/// Reduced bodies of this process, newest last, so that a scene that is compiled for both clocks, or again, is meshed once.
static KNOWN: Mutex<Vec<(String, Arc<Reduced>)>> = Mutex::new(Vec::new());
/// See `KNOWN`.
const MOST_KNOWN: usize = 8;

impl Compiler<'_> {
    /// Modes, masses and interfaces of the flexible bodies; none where something is wrong with one.
    pub(super) fn bend(&mut self, bodies: &mut [Body]) -> Option<()> {
        let scene = self.scene;
        for (index, spec) in scene.bodies.iter().enumerate() {
            let Some(flexible) = &spec.flexible else { continue };
            let place = spec.places.of("flexible");
            if bodies[index].drive != Drive::Free {
                let message = format!("body \"{}\" is flexible and does not move by forces", spec.name);
                self.fail(
                    place,
                    message,
                    "leave out `fixed` and `motion`, and hold one of its interfaces with a joint",
                );
                return None;
            }
            let reduced = match self.reduced(spec, flexible)? {
                Ok(reduced) => reduced,
                Err(error) => {
                    let text = error.to_string();
                    let (message, help) = text.split_once(". help: ").unwrap_or((&text, ""));
                    self.fail(place, format!("body \"{}\": {message}", spec.name), help);
                    return None;
                }
            };
            let interfaces = scene.bodies.iter().enumerate().filter_map(|(k, body)| {
                let own = body.interface_of.as_ref().filter(|own| own.of == spec.name)?;
                Some((k, own.index))
            });
            let mut left = 1.0;
            for (k, which) in interfaces {
                left -= SHARE;
                weigh(&mut bodies[k], SHARE * reduced.mass, reduced.I * SHARE, Vec3::ZERO);
                bodies[k].interface_of = Some((index as u32, which));
            }
            weigh(&mut bodies[index], left * reduced.mass, reduced.I * left, reduced.centre);
            bodies[index].flexible = Some(reduced);
        }
        Some(())
    }

    /// The reduced body, or what is wrong with it; none where its material is not known.
    fn reduced(&mut self, spec: &scene::Body, flexible: &Flexible) -> Option<Result<Arc<Reduced>, FlexibleError>> {
        let Some(name) = &spec.material else {
            let message = format!("body \"{}\" is flexible and has no material", spec.name);
            self.fail(spec.places.of("flexible"), message, "add material = \"steel\"");
            return None;
        };
        let material = self.material(name, spec.places.of("material"))?;
        let density = spec.density.unwrap_or(material.density);
        let elastic = Material { young: material.young, poisson: material.poisson, density };
        // everything it is made of, in words: the same words, the same body
        let shapes: Vec<_> = spec.shapes.iter().map(|s| (&s.kind, s.position, s.orientation)).collect();
        let key = format!("{elastic:?} {flexible:?} {shapes:?}");
        let known = KNOWN.lock().ok().and_then(|known| known.iter().find(|(k, _)| *k == key).map(|(_, r)| r.clone()));
        let made = match known {
            Some(reduced) => Ok(reduced),
            None => reduce(self.scene, spec, flexible, elastic).map(Arc::new),
        };
        if let Ok(reduced) = &made {
            if let Ok(mut known) = KNOWN.lock()
                && !known.iter().any(|(k, _)| *k == key)
            {
                if known.len() >= MOST_KNOWN {
                    known.remove(0);
                }
                known.push((key, reduced.clone()));
            }
            self.note_bending(spec, flexible, reduced);
        }
        Some(made)
    }

    /// Size, mass and frequencies of a flexible body: wrong units are seen there first.
    fn note_bending(&mut self, spec: &scene::Body, flexible: &Flexible, reduced: &Reduced) {
        let far = Vec3::splat(f64::INFINITY);
        let [low, high] = reduced.nodes.iter().fold([far, -far], |[low, high], p| [low.min(*p), high.max(*p)]);
        let size = (high - low) * 1e3;
        let last = reduced.modes() - 1;
        self.warnings.push(format!(
            "body \"{}\" bends: {:.4} x {:.4} x {:.4} mm, {:.4} kg, {} nodes, {} modes from {:.5} Hz to {:.5} Hz",
            spec.name,
            size.x,
            size.y,
            size.z,
            reduced.mass,
            reduced.nodes.len(),
            reduced.modes(),
            reduced.frequency(0),
            reduced.frequency(last)
        ));
        let h = self.scene.realtime.step;
        let fastest = 1.0 / (2.0 * std::f64::consts::PI * h);
        let damped = (0..reduced.modes()).filter(|&k| reduced.frequency(k) > fastest).count();
        if self.clock == tippe_scene::Clock::Realtime && damped > 0 {
            self.warnings.push(format!(
                "body \"{}\": the step of {h:.4e} s damps its {damped} modes above {fastest:.5} Hz. help: a smaller [realtime] step follows them",
                spec.name
            ));
        }
        if flexible.order == 1 {
            self.warnings.push(format!(
                "body \"{}\" has elements of constant strain: too stiff where it bends, by 30 % and more in frequency with two through its \
                 thickness. help: order = 2",
                spec.name
            ));
        }
        if spec.collide && !spec.shapes.is_empty() {
            self.warnings.push(format!(
                "body \"{}\" touches nothing where it bends. help: weld bodies with shapes to its interfaces, or write collide = false",
                spec.name
            ));
        }
    }

    /// Names of the stresses and modes of flexible bodies.
    pub(super) fn name_stresses(&self, model: &mut Model) {
        for (number, mechanism) in model.mechanisms.iter().enumerate() {
            for (k, link) in mechanism.links.iter().enumerate().filter(|(_, link)| link.elastic.modes() > 0) {
                let name = format!("{}.stress.max", model.bodies[link.body as usize].name);
                let source = SignalSource::Stress { mechanism: number as u32, link: k as u32 };
                model.signals.push(ModelSignal { name, unit: "Pa".into(), source });
                let first = link.first + link.count - link.elastic.modes();
                for mode in 0..link.elastic.modes() {
                    let name = format!("{}.mode_{}", model.bodies[link.body as usize].name, mode + 1);
                    let source = SignalSource::Mode { mechanism: number as u32, coordinate: (first + mode) as u32 };
                    model.signals.push(ModelSignal { name, unit: "m kg^0.5".into(), source });
                }
            }
        }
    }

    /// What joints and force elements hold of flexible bodies must be their interfaces.
    pub(super) fn refuse_unheld(&mut self, model: &Model) {
        for element in &model.elements {
            for anchor in element.kind.attached().frames {
                let Some(body) = anchor.body.map(|b| &model.bodies[b as usize]).filter(|b| b.flexible.is_some()) else {
                    continue;
                };
                let message =
                    format!("\"{}\" acts on flexible body \"{}\", not on an interface of it", element.name, body.name);
                let part = self.scene.forces.iter().find(|part| part.name == element.name);
                let place = part.map_or(self.scene.places.entity, |part| part.places.entity);
                self.fail(place, message, &help_of(model, body));
            }
        }
    }

    /// A joint that holds a flexible body beside its interfaces.
    pub(super) fn refuse_joint(&mut self, model: &Model, spec: &scene::Part, body: usize) -> bool {
        let body = &model.bodies[body];
        if body.flexible.is_none() || scene::flexible::is_hold(self.scene, spec) {
            return false;
        }
        let message = format!("joint \"{}\" holds flexible body \"{}\", not an interface of it", spec.name, body.name);
        self.fail(spec.places.of("bodies"), message, &help_of(model, body));
        true
    }
}

impl Found {
    /// True between a flexible body and an interface of it.
    pub(super) fn is_interface(&self, model: &Model) -> bool {
        self.interface(model).is_some()
    }

    /// The side that is the flexible body, and which interface the other one is.
    fn interface(&self, model: &Model) -> Option<(usize, usize)> {
        (0..2).find_map(|side| {
            let (body, other) = (self.ends[side].body?, self.ends[1 - side].body?);
            let (of, index) = model.bodies[other].interface_of?;
            (self.joint == Joint::Fixed && of as usize == body).then_some((side, index))
        })
    }

    /// What the body on this side bends, where this joint hangs it.
    pub(super) fn elastic(&self, model: &Model, side: usize) -> Elastic {
        let flexible = |body: usize| model.bodies[body].flexible.clone();
        match (self.interface(model), self.ends[side].body.and_then(flexible)) {
            (Some((own, index)), Some(of)) if own == side => Elastic::Body { of, by: Some(index) },
            (Some((_, index)), _) => Elastic::Interface { index },
            (None, Some(of)) => Elastic::Body { of, by: None },
            (None, None) => Elastic::Rigid,
        }
    }
}

fn help_of(model: &Model, body: &Body) -> String {
    let of = |b: &&Body| b.interface_of.is_some_and(|(index, _)| model.bodies[index as usize].name == body.name);
    let names: Vec<&str> = model.bodies.iter().filter(of).map(|b| b.name.as_str()).collect();
    format!("name one of {}", names.join(", "))
}

fn weigh(body: &mut Body, mass: f64, I: Mat3, p_bc: Vec3) {
    (body.mass, body.I_c, body.p_bc) = (mass, I, p_bc);
    body.I_c_inverse = if I.determinant() > 0.0 { I.inverse() } else { Mat3::ZERO };
    body.isotropic = false;
    body.oriented = true;
    let moments = I.x_axis.x.max(I.y_axis.y).max(I.z_axis.z);
    body.size = (moments / mass).sqrt();
}

/// What a flexible body is made of: its mesh, material and interfaces.
#[derive(Clone, Debug)]
pub struct Part {
    /// Mesh and material; its sets are the rigid interfaces.
    pub structure: Structure,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// The nodes of each.
    pub nodes: Vec<Vec<u32>>,
}

impl Part {
    /// Of a flexible body of a scene, which compiles.
    pub fn of(scene: &scene::Scene, body: &str) -> Result<Part, FlexibleError> {
        let wrong = |what: &str| FlexibleError::Mesh(format!("body \"{body}\" {what}"));
        let spec = scene.bodies.iter().find(|own| own.name == body).ok_or_else(|| wrong("is not there"))?;
        let flexible = spec.flexible.as_ref().ok_or_else(|| wrong("does not bend"))?;
        let name = spec.material.as_deref().unwrap_or_default();
        let own = scene.materials.iter().find(|m| m.name == name).map(|m| (m.density, m.young, m.poisson));
        let known = || scene::material::find(name).map(|m| (m.density, m.young, m.poisson));
        let (density, young, poisson) = own.or_else(known).ok_or_else(|| wrong("has no material"))?;
        let elastic = Material { young, poisson, density: spec.density.unwrap_or(density) };
        part(scene, spec, flexible, elastic)
    }
}

fn part(
    scene: &scene::Scene,
    spec: &scene::Body,
    flexible: &Flexible,
    elastic: Material,
) -> Result<Part, FlexibleError> {
    let (mesh, thickness) = mesh(scene, spec, flexible)?;
    let plane = match flexible.plane {
        Some(PlaneOf::Strain) => Plane::Strain,
        _ => Plane::Stress,
    };
    if mesh.kind.dimension() == 2 && thickness.is_none() {
        return Err(FlexibleError::Mesh(
            "its mesh is plane and it has no thickness. help: write `thickness`".to_owned(),
        ));
    }
    let interfaces: Vec<Interface> = flexible.interfaces.iter().map(interface).collect();
    let held = Structure::held(mesh, elastic, (plane, thickness.unwrap_or(1.0)), &interfaces);
    let (mut structure, nodes) = held?;
    structure.shares = flexible.shares.clone();
    Ok(Part { structure, interfaces, nodes })
}

/// Mesh and modes of a body.
fn reduce(
    scene: &scene::Scene,
    spec: &scene::Body,
    flexible: &Flexible,
    elastic: Material,
) -> Result<Reduced, FlexibleError> {
    let Part { structure, interfaces, nodes } = part(scene, spec, flexible, elastic)?;
    let choice = match (flexible.modes, flexible.frequency) {
        (Some(modes), _) => Choice::Modes(modes as usize),
        (None, frequency) => Choice::Below(frequency.unwrap_or(f64::INFINITY)),
    };
    let damping = match flexible.rayleigh {
        Some([alpha, beta]) => Damping::Rayleigh { alpha, beta },
        None => Damping::Ratio(flexible.damping.unwrap_or(DAMPING)),
    };
    let stiffening = if flexible.stiffening { Stiffening::Geometric } else { Stiffening::None };
    Reduced::of(structure, &interfaces, &nodes, choice, damping, stiffening)
}

fn interface(of: &scene::flexible::InterfaceOf) -> Interface {
    let select = match &of.select {
        SelectOf::Face(face) => {
            let axis = [Vec3::X, Vec3::Y, Vec3::Z]["xyz".find(&face[1..]).unwrap_or(0)];
            Select::Face(if face.starts_with('-') { -axis } else { axis })
        }
        SelectOf::Hole(axis) => Select::Hole(match axis {
            Axis::X => Vec3::X,
            Axis::Y => Vec3::Y,
            Axis::Z => Vec3::Z,
        }),
        SelectOf::Near(radius) => Select::Near(*radius),
        SelectOf::Set(set) => Select::Set(set.clone()),
    };
    let hold = match of.hold {
        HoldOf::Rigid => Hold::Rigid,
        HoldOf::Mean => Hold::Mean,
    };
    Interface { name: of.name.clone(), at: of.at, select, hold }
}

/// The mesh of a body in its frame, and the thickness of a plane one.
fn mesh(scene: &scene::Scene, spec: &scene::Body, flexible: &Flexible) -> Result<(Mesh, Option<f64>), FlexibleError> {
    if let Some(file) = &flexible.file {
        return Ok((read::read(&file.name, &file.text, file.unit)?, flexible.thickness));
    }
    let wrong = |message: &str| Err(FlexibleError::Mesh(message.to_owned()));
    let [shape] = spec.shapes.as_slice() else {
        return wrong(
            "it is meshed from one shape, and it has none or several. help: make them one [[solid]], or give a mesh file",
        );
    };
    let size = flexible.size.unwrap_or(f64::INFINITY);
    let solid = |name: &str| scene.solids.iter().find(|solid| solid.name == name);
    let (mut mesh, thickness) = match &shape.kind {
        ShapeKind::Box { half_extents: h, .. } => match flexible.plane {
            None => (make::block(-*h, *h, size)?, None),
            Some(_) => {
                let corners = vec![[-h.x, -h.y], [h.x, -h.y], [h.x, h.y], [-h.x, h.y]];
                (make::outline(&[corners], size)?, flexible.thickness.or(Some(2.0 * h.z)))
            }
        },
        ShapeKind::Mesh { mesh, solid: name, .. } => {
            let of = name.as_deref().and_then(solid);
            let prism = of.and_then(|of| match &of.form {
                SolidForm::Simple(Solid::Prism { outline, holes, length }) if of.placing.is_at_home() => {
                    Some((outline, holes, *length))
                }
                _ => None,
            });
            match (prism, flexible.plane) {
                (Some((outline, holes, length)), plane) => {
                    let loops: Vec<Vec<[f64; 2]>> = std::iter::once(outline).chain(holes).cloned().collect();
                    let flat = make::outline(&loops, size)?;
                    match plane {
                        Some(_) => (flat, flexible.thickness.or(Some(length))),
                        None => (make::extrude(&flat, -0.5 * length, 0.5 * length, size)?, None),
                    }
                }
                (None, Some(_)) => {
                    return wrong("`plane` wants an outline: a box, or a [[solid]] of kind prism where it was made");
                }
                (None, None) => (make::lattice(mesh, size)?, None),
            }
        }
        _ if flexible.plane.is_some() => return wrong("`plane` wants an outline: a box, or a [[solid]] of kind prism"),
        kind => {
            let made = scene::shapes_of(kind).map_err(|error| FlexibleError::Mesh(error.to_string()))?;
            let surface =
                tippe_geometry::Mesh::new(made[0].surface_mesh(64)).map_err(|e| FlexibleError::Mesh(e.to_string()))?;
            (make::lattice(&surface, size)?, None)
        }
    };
    let X = Pose::new(shape.orientation, shape.position);
    if X.rotation != Quat::IDENTITY || shape.position != Vec3::ZERO {
        if thickness.is_some() && (shape.position.z != 0.0 || X.rotation != Quat::IDENTITY) {
            return wrong(
                "`plane` wants its outline in the x-y plane of its body. help: turn the body instead of the shape",
            );
        }
        mesh.nodes.iter_mut().for_each(|p| *p = X.point(*p));
    }
    Ok((if flexible.order == 2 { mesh.quadratic() } else { mesh }, thickness))
}

impl Model {
    /// The modes of every flexible body, as a force element under its name.
    pub(super) fn modes(&self) -> Vec<(String, Element)> {
        let mut found = Vec::new();
        for (number, mechanism) in self.mechanisms.iter().enumerate() {
            for link in &mechanism.links {
                let Elastic::Body { of, .. } = &link.elastic else { continue };
                let first = link.first + link.count - of.modes();
                let at = (first..first + of.modes()).map(|k| At { mechanism: number as u32, coordinate: k as u32 });
                let modes = Modes {
                    at: at.collect(),
                    stiffness: of.stiffness.clone(),
                    damping: of.damping.clone(),
                    turns: of.held.iter().flat_map(|held| held.turn.iter().copied()).collect(),
                    strains: of.strain.clone(),
                };
                found.push((self.bodies[link.body as usize].name.clone(), Element::Modes(Box::new(modes))));
            }
        }
        found
    }
}
