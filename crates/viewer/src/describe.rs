//! What takes part in a run, for the page: bodies with their shapes, joints, springs, signals with units.
//!
//! Names come from scenes that anybody may have written. They are strings of a JSON document here and text nodes in the
//! page, never markup.

use crate::drawing::{self, DescribedDrawing, DescribedWater};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::collections::HashSet;
use tippe::element::Anchor;
use tippe::grains::Solid;
use tippe::model::{Drive, GrainForm};
use tippe::run::{Account, SignalName};
use tippe::scene::{Clock, Scene, ShapeKind};
use tippe::{Cause, Event, Model};
use tippe_geometry::{Pose, Quat, Shape, TriMesh, Vec3};

/// Divisions of a full circle in meshes of round shapes [-].
const SEGMENTS: u32 = 48;

/// Everything about a run that does not change with time.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Name of the scene.
    pub name: String,
    /// Title of the scene.
    pub title: String,
    /// What the scene shows.
    pub text: String,
    /// `precise` or `realtime`.
    pub clock: &'static str,
    /// Gravity, resolved in world [m/s^2].
    pub gravity: [f64; 3],
    /// Bodies in model order.
    pub bodies: Vec<DescribedBody>,
    /// Shapes, each listed once.
    pub geometries: Vec<Geometry>,
    /// Joints in model order.
    pub joints: Vec<DescribedJoint>,
    /// Force elements with two ends, which are drawn as lines.
    pub springs: Vec<DescribedSpring>,
    /// Cables.
    pub ropes: Vec<DescribedRope>,
    /// Surfaces drawn by equations.
    pub drawings: Vec<DescribedDrawing>,
    /// Surfaces of fluids.
    pub waters: Vec<DescribedWater>,
    /// Signals of the model.
    pub signals: Vec<SignalName>,
    /// Numbers from outside that the clock listens to.
    pub inputs: Vec<DescribedInput>,
    /// Energy accounts [J] and components of momentum [kg m/s], in the order of a block.
    pub accounts: Vec<String>,
    /// Which of them hold energy, count losses, or what was put in.
    pub ledger: LedgerNames,
    /// What the user should know about the scene.
    pub warnings: Vec<String>,
    /// There are grains.
    pub grains: bool,
    /// Polyhedra among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grain_shapes: Vec<GrainShape>,
    /// There is ground that changes.
    pub ground: bool,
    /// Settings that the clock runs with.
    pub settings: serde_json::Value,
}

/// Names of energy accounts, by what they say.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerNames {
    /// Energy that is there.
    pub stored: Vec<&'static str>,
    /// What was lost, by cause.
    pub lost: Vec<&'static str>,
    /// What was put in, by cause.
    pub given: Vec<&'static str>,
}

impl LedgerNames {
    fn new() -> LedgerNames {
        let names = |causes: &[Cause]| causes.iter().map(|cause| cause.name()).collect();
        LedgerNames {
            stored: Account::HOLDING.iter().map(|account| account.name()).collect(),
            lost: names(Cause::LOST),
            given: names(Cause::GIVEN),
        }
    }
}

/// One body.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedBody {
    /// Name in the scene.
    pub name: String,
    /// `free`, `fixed` or `prescribed`.
    pub drive: &'static str,
    /// Mass [kg]; absent unless free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Centre of mass from the body's origin, body axes [m].
    pub com: [f64; 3],
    /// Diagonal of the inertia about the centre of mass, body axes [kg m^2]; absent unless free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<[f64; 3]>,
    /// Name of its material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Mechanism it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<u32>,
    /// Its shapes.
    pub shapes: Vec<DescribedShape>,
    /// Position and quaternion (x, y, z, w) at the start.
    pub start: [f64; 7],
}

/// One shape of a body.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedShape {
    /// Index in the list of geometries.
    pub geometry: usize,
    /// Position and quaternion (x, y, z, w) in the body.
    pub pose: [f64; 7],
    /// Edge lengths that a geometry of unit size is stretched to [m].
    pub scale: [f64; 3],
    /// False if it has mass only.
    pub collide: bool,
    /// Which of the convex pieces of a mesh it is; absent for all other shapes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<u32>,
}

/// A surface to draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Geometry {
    /// Ball of radius 1.
    Sphere,
    /// Cube with edges of 2.
    Box,
    /// Cylinder along z, radius 1, from -1 to 1.
    Cylinder,
    /// The plane z = 0, outward +z.
    HalfSpace,
    /// Triangles.
    Mesh {
        /// Name of the shape.
        shape: &'static str,
        /// Corners x, y, z as f32, base64.
        vertices: String,
        /// Indices as u32, base64.
        triangles: String,
    },
}

/// A number from outside.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedInput {
    /// Name in the scene.
    pub name: String,
    /// Value until it is set.
    pub start: f64,
    /// Smallest value; absent if there is none.
    pub low: Option<f64>,
    /// Largest value; absent if there is none.
    pub high: Option<f64>,
}

/// One joint.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedJoint {
    /// Name in the scene.
    pub name: String,
    /// Kind in the scene.
    pub kind: &'static str,
    /// How it is drawn: `pin`, `slide`, `ball`, `link` between its frames, or `none`.
    pub glyph: &'static str,
    /// Its two frames, where they are known.
    pub frames: [Option<DescribedFrame>; 2],
}

/// A frame on a body.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DescribedFrame {
    /// Body; absent for the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<u32>,
    /// Position and quaternion (x, y, z, w) in the body, from its origin.
    pub pose: [f64; 7],
}

/// A cable: over wheels, or as a chain of elements.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedRope {
    /// Name.
    pub name: String,
    /// Its diameter [m]; zero where none is said.
    pub width: f64,
    /// What it runs around, or through.
    pub points: Vec<DescribedPoint>,
    /// Signals of the tension of each span, and of the length at rest of its line; none of elements.
    pub tensions: Vec<String>,
    /// Likewise.
    pub rests: Vec<String>,
    /// Elements that its ends go on in.
    pub feeds: [Option<DescribedFeed>; 2],
    /// Parts of a catenary: length at rest [m], weight per length [N/m], EA [N].
    pub segments: Vec<[f64; 3]>,
}

/// A point that a cable runs around, its axle as z axis, or through.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DescribedPoint {
    /// Where.
    pub frame: DescribedFrame,
    /// Of its circle [m]; zero of a point.
    pub radius: f64,
    /// 1 if the cable runs around it as the right hand says about the axle, else -1.
    pub sense: f64,
}

/// Elements that an end of a cable goes on in.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedFeed {
    /// Their ends away from the load, nearest to it first, led by the end at the load.
    pub frames: Vec<DescribedFrame>,
    /// Signal that counts those which are out.
    pub count: String,
}

/// A force element with two ends, or a line that hangs.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedSpring {
    /// Name.
    pub name: String,
    /// What its line is: `spring`, `rope` and so on.
    pub kind: &'static str,
    /// Its ends.
    pub ends: [DescribedFrame; 2],
}

/// One event, by names.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedEvent {
    /// When [s].
    pub time: f64,
    /// What.
    pub kind: &'static str,
    /// Joint, motor, component or change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The two bodies of a contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<[usize; 2]>,
    /// Where [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Closing speed [m/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}

impl From<&Event> for DescribedEvent {
    fn from(event: &Event) -> DescribedEvent {
        DescribedEvent {
            time: event.time,
            kind: event.kind.name(),
            source: event.source.clone(),
            bodies: event.contact.map(|contact| [contact.body1, contact.body2]),
            position: event.contact.map(|contact| contact.position.to_array()),
            speed: event.contact.map(|contact| contact.closing_speed),
        }
    }
}

impl Description {
    /// Describes a scene and its model for a run with this clock and these settings.
    pub fn new(name: &str, scene: &Scene, model: &Model, clock: Clock, settings: serde_json::Value) -> Description {
        let mut geometries = Vec::new();
        let bodies = model.bodies.iter().enumerate().map(|(k, body)| {
            let spec = scene.bodies.iter().find(|spec| spec.name == body.name);
            let spec = scene.bodies.get(k).filter(|spec| spec.name == body.name).or(spec);
            let free = body.drive == Drive::Free;
            let start = &model.start[k];
            DescribedBody {
                name: body.name.clone(),
                drive: match body.drive {
                    Drive::Free => "free",
                    Drive::Fixed => "fixed",
                    Drive::Prescribed { .. } => "prescribed",
                },
                mass: free.then_some(body.mass).filter(|mass| mass.is_finite()),
                com: body.p_bc.to_array(),
                inertia: free.then_some([body.I_c.x_axis.x, body.I_c.y_axis.y, body.I_c.z_axis.z]),
                material: spec.and_then(|spec| spec.material.clone()),
                mechanism: body.mechanism.map(|(mechanism, _)| mechanism),
                shapes: spec.map_or_else(Vec::new, |spec| shapes(spec, &mut geometries)),
                start: numbers(&Pose::new(start.orientation, start.position)),
            }
        });
        let bodies = bodies.collect();
        let accounts = Account::STORED.iter().map(|account| account.name().to_owned());
        Description {
            name: name.to_owned(),
            title: scene.title.clone(),
            text: scene.description.trim().to_owned(),
            clock: clock.name(),
            gravity: model.gravity.to_array(),
            bodies,
            geometries,
            joints: joints(model),
            springs: springs(model),
            ropes: ropes(scene, model),
            drawings: drawing::drawings(model),
            waters: drawing::waters(model),
            signals: model.signals.iter().map(|s| SignalName { name: s.name.clone(), unit: s.unit.clone() }).collect(),
            inputs: if clock == Clock::Realtime { inputs(model) } else { Vec::new() },
            accounts: accounts.chain(["x", "y", "z"].map(|axis| format!("momentum.{axis}"))).collect(),
            ledger: LedgerNames::new(),
            warnings: model.warnings.clone(),
            grains: model.grains.is_some(),
            grain_shapes: grain_shapes(model),
            ground: model.soil.is_some(),
            settings,
        }
    }
}

/// The polyhedron of a set of grains, held by a ball of radius 1.
#[derive(Clone, Debug, Serialize)]
pub struct GrainShape {
    /// Set.
    pub class: u8,
    /// Corners of its triangles, one after the other [-].
    pub triangles: Vec<f32>,
}

fn grain_shapes(model: &Model) -> Vec<GrainShape> {
    let mut all: Vec<GrainShape> = Vec::new();
    for clump in model.grains.iter().flat_map(|grains| grains.clumps.iter()) {
        let GrainForm::Solid(Solid { shape: Shape::Hull(hull), radius, .. }) = &*clump.form else { continue };
        if all.iter().any(|known| known.class == clump.class) {
            continue;
        }
        let corners = hull.faces().iter().flat_map(|face| face.corners).map(|i| hull.vertices()[i as usize] / *radius);
        let triangles = corners.flat_map(|p| p.to_array()).map(|x| x as f32).collect();
        all.push(GrainShape { class: clump.class, triangles });
    }
    all
}

fn shapes(spec: &tippe::scene::Body, geometries: &mut Vec<Geometry>) -> Vec<DescribedShape> {
    // The scene was compiled: every shape in it is sound.
    let placed = spec.shapes.iter().filter_map(|shape| shape.placed().ok().map(|placed| (shape.collide, placed)));
    placed
        .flat_map(|(collide, placed)| {
            let apart = placed.len() > 1;
            placed.into_iter().enumerate().map(move |(k, placed)| (collide, apart.then_some(k as u32), placed))
        })
        .map(|(collide, piece, (X_bs, shape))| {
            let (geometry, scale) = surface(&shape);
            // Geometries of unit size are few; a mesh is rarely there twice.
            let known = geometries.iter().position(|other| *other == geometry);
            let geometry = known.unwrap_or_else(|| {
                geometries.push(geometry);
                geometries.len() - 1
            });
            let collide = collide && spec.collide;
            DescribedShape { geometry, pose: numbers(&X_bs), scale: scale.to_array(), collide, piece }
        })
        .collect()
}

/// What to draw for a shape, and how far to stretch it.
fn surface(shape: &Shape) -> (Geometry, Vec3) {
    match shape {
        Shape::Sphere { radius } => (Geometry::Sphere, Vec3::splat(*radius)),
        Shape::Ellipsoid { semi_axes } => (Geometry::Sphere, *semi_axes),
        Shape::Box { half_extents, .. } => (Geometry::Box, *half_extents),
        Shape::Cylinder { radius, half_height, .. } => (Geometry::Cylinder, Vec3::new(*radius, *radius, *half_height)),
        Shape::HalfSpace => (Geometry::HalfSpace, Vec3::ONE),
        _ => (mesh(shape.name(), &shape.surface_mesh(SEGMENTS)), Vec3::ONE),
    }
}

fn mesh(shape: &'static str, mesh: &TriMesh) -> Geometry {
    let vertices = mesh.vertices.iter().flat_map(|v| v.to_array()).flat_map(|x| (x as f32).to_le_bytes());
    let triangles = mesh.triangles.iter().flatten().flat_map(|k| k.to_le_bytes());
    Geometry::Mesh {
        shape,
        vertices: STANDARD.encode(vertices.collect::<Vec<u8>>()),
        triangles: STANDARD.encode(triangles.collect::<Vec<u8>>()),
    }
}

fn joints(model: &Model) -> Vec<DescribedJoint> {
    let described = model.joints.iter().map(|joint| DescribedJoint {
        name: joint.name.clone(),
        kind: joint.kind.kind.word,
        glyph: joint.kind.glyph.name(),
        frames: model
            .joint_frames(joint)
            .map(|frame| frame.map(|(body, X_bj)| DescribedFrame { body, pose: numbers(&X_bj) })),
    });
    described.collect()
}

fn inputs(model: &Model) -> Vec<DescribedInput> {
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let described = model.signal_inputs().map(|(input, _)| DescribedInput {
        name: input.name.clone(),
        start: input.start,
        low: finite(input.limits[0]),
        high: finite(input.limits[1]),
    });
    described.collect()
}

pub(crate) fn described(model: &Model, anchor: &Anchor) -> DescribedFrame {
    let p_bc = anchor.body.map_or(Vec3::ZERO, |body| model.bodies[body as usize].p_bc);
    DescribedFrame { body: anchor.body, pose: numbers(&Pose::new(Quat::from_mat3(&anchor.R), p_bc + anchor.p)) }
}

fn springs(model: &Model) -> Vec<DescribedSpring> {
    let lines = model.elements.iter().filter_map(|element| Some((element, element.kind.line()?)));
    let lines = lines.filter(|(element, _)| element.kind.course().is_none());
    let springs = lines.flat_map(|(element, kind)| {
        let pairs = element.kind.attached().frames.windows(2);
        pairs.map(move |pair| DescribedSpring {
            name: element.name.clone(),
            kind,
            ends: [0, 1].map(|k| described(model, &pair[k])),
        })
    });
    springs.collect()
}

/// Cables over wheels, then chains of elements that hang together.
fn ropes(scene: &Scene, model: &Model) -> Vec<DescribedRope> {
    let mut ropes = Vec::new();
    let mut fed = HashSet::new();
    let mut chain: Option<(DescribedRope, [Anchor; 2])> = None;
    for element in &model.elements {
        let Some(course) = element.kind.course() else { continue };
        let frames = element.kind.attached().frames;
        let signal = |name: &str| format!("{}.{name}", element.name);
        let tensions = course.tensions.iter().map(|k| signal(&element.kind.outputs()[*k].name));
        let points = course.circles.iter().zip(frames).map(|(circle, anchor)| DescribedPoint {
            frame: described(model, anchor),
            radius: circle.radius,
            sense: circle.sense,
        });
        let state = |k: usize| signal(&element.kind.states()[k].name);
        let feed = |end: usize| {
            let (range, count, l) = course.feeds[end].clone()?;
            let ends = &frames[range];
            fed.extend(ends.iter().filter_map(|anchor| anchor.body));
            let mut at_load = ends[0];
            at_load.p.x += if end == 0 { -l } else { l };
            let frames = std::iter::once(&at_load).chain(ends).map(|anchor| described(model, anchor)).collect();
            Some(DescribedFeed { frames, count: state(count) })
        };
        let mut rope = DescribedRope {
            name: element.name.clone(),
            width: 0.0,
            points: points.collect(),
            tensions: tensions.collect(),
            rests: course.rests.iter().map(|k| state(*k)).collect(),
            feeds: [0, 1].map(feed),
            segments: course.segments.iter().map(|part| [part.length, part.weight, part.stiffness]).collect(),
        };
        if rope.points.len() > 1 {
            let holds = rope.feeds.iter().flatten().find_map(|feed| feed.frames[0].body);
            rope.width = holds.map_or(0.0, |body| width(scene, model, body).0);
            ropes.push(rope);
            continue;
        }
        let [one, other] = [frames[0], frames[1]];
        if [one.body, other.body].iter().flatten().any(|body| fed.contains(body)) {
            continue;
        }
        chain = match chain.take() {
            Some((mut begun, ends)) if ends[1].body == one.body && one.body.is_some() => {
                begun.points.append(&mut rope.points);
                begun.tensions.append(&mut rope.tensions);
                Some((begun, [ends[0], other]))
            }
            before => {
                ropes.extend(before.map(|chain| ended(scene, model, chain)));
                Some((rope, [one, other]))
            }
        };
    }
    ropes.extend(chain.map(|chain| ended(scene, model, chain)));
    ropes
}

/// A chain with its ends, those that hang free included.
fn ended(scene: &Scene, model: &Model, (mut rope, [first, last]): (DescribedRope, [Anchor; 2])) -> DescribedRope {
    let of = |anchor: &Anchor| {
        let (d, l) = anchor.body.map_or((0.0, 0.0), |body| width(scene, model, body));
        if (anchor.p.x.abs() - 0.5 * l).abs() <= 1e-9 * l { (d, l) } else { (0.0, 0.0) }
    };
    rope.width = of(&first).0.max(of(&last).0);
    let point = |anchor: &Anchor, way: f64| {
        let mut anchor = *anchor;
        anchor.p.x += way * of(&anchor).1;
        DescribedPoint { frame: described(model, &anchor), radius: 0.0, sense: 1.0 }
    };
    if of(&first).1 > 0.0 {
        rope.points.insert(0, point(&first, -1.0));
        rope.tensions.insert(0, rope.tensions[0].clone());
    }
    rope.points.push(point(&last, 1.0));
    rope
}

/// Diameter and length of an element of a cable; zeros of other bodies [m].
fn width(scene: &Scene, model: &Model, body: u32) -> (f64, f64) {
    let name = &model.bodies[body as usize].name;
    let spec = scene.bodies.iter().find(|spec| spec.name == *name);
    match spec.and_then(|spec| spec.shapes.first()).map(|shape| &shape.kind) {
        Some(ShapeKind::Capsule { radius, length, .. }) => (2.0 * radius, *length),
        _ => (0.0, 0.0),
    }
}

/// Position and quaternion (x, y, z, w).
fn numbers(X: &Pose) -> [f64; 7] {
    let (p, q) = (X.position, X.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What collides is what is drawn: each convex piece of a mesh for itself, the mesh in its place nowhere.
    #[test]
    fn pieces_of_a_mesh_are_shapes_of_their_own() {
        let text = include_str!("../../../scenes/convex_pieces.toml");
        let scene = Scene::parse("convex_pieces.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
        let described = Description::new("pieces", &scene, &model, Clock::Precise, serde_json::Value::Null);
        let shapes = |name: &str| {
            let body = described.bodies.iter().find(|body| body.name == name);
            body.map_or(&[][..], |body| &body.shapes)
        };
        let kind = |shape: &DescribedShape| match &described.geometries[shape.geometry] {
            Geometry::Mesh { shape, .. } => *shape,
            _ => "",
        };
        let pieces: Vec<_> = shapes("apart").iter().map(|s| (s.piece, s.collide, kind(s))).collect();
        assert_eq!(pieces, [0, 1, 2].map(|k| (Some(k), true, "hull")));
        assert_eq!(shapes("whole").iter().map(|s| (s.piece, kind(s))).collect::<Vec<_>>(), [(None, "mesh")]);
        assert!(described.warnings.iter().any(|w| w.contains("3 convex pieces touch instead of its mesh")));
    }
}
