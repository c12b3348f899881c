//! Where a flexible body is held: a frame with the nodes that move with it.

use crate::FlexibleError;
use crate::mesh::Mesh;
use tippe_geometry::Vec3;

/// Which nodes an interface has.
#[derive(Clone, Debug, PartialEq)]
pub enum Select {
    /// Those of the face of the mesh that is farthest out along an axis.
    Face(Vec3),
    /// Those on the surface of a round hole: nodes at the smallest distance from its axis, through its point.
    Hole(Vec3),
    /// Those within a distance of its point [m].
    Near(f64),
    /// A set that the mesh file names.
    Set(String),
}

/// How its nodes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// As one rigid piece.
    Rigid,
    /// On the average: it stiffens nothing.
    Mean,
}

/// A frame on a flexible body.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its point, in the frame of the mesh [m].
    pub at: Vec3,
    /// Which nodes it has.
    pub select: Select,
    /// How they follow it.
    pub hold: Hold,
}

/// Nodes count as on a face or a hole within this share of the size of the mesh [-].
const ON: f64 = 1e-6;
/// Nodes of a faceted hole lie within this share of its radius [-].
const ROUND: f64 = 0.02;

impl Interface {
    /// Its nodes, ascending.
    pub fn nodes(&self, mesh: &Mesh) -> Result<Vec<u32>, FlexibleError> {
        let wrong = |message: String| FlexibleError::Interface { name: self.name.clone(), message };
        let [low, high] = mesh.bounds();
        let size = (high - low).length();
        let all = || (0..mesh.nodes.len() as u32).zip(&mesh.nodes);
        let found: Vec<u32> = match &self.select {
            Select::Face(axis) => {
                let far = mesh.nodes.iter().map(|p| p.dot(*axis)).fold(f64::NEG_INFINITY, f64::max);
                all().filter(|(_, p)| p.dot(*axis) > far - ON * size).map(|(k, _)| k).collect()
            }
            Select::Hole(axis) => {
                let axis = axis.normalize();
                let from = |p: &Vec3| {
                    let r = *p - self.at;
                    (r - axis * r.dot(axis)).length()
                };
                let least = mesh.nodes.iter().map(from).fold(f64::INFINITY, f64::min);
                if least < ON * size {
                    let message = format!(
                        "has a node on the axis of its hole, at ({}): there is no hole. help: move `at`",
                        show(self.at)
                    );
                    return Err(wrong(message));
                }
                all().filter(|(_, p)| from(p) < least * (1.0 + ROUND) + ON * size).map(|(k, _)| k).collect()
            }
            Select::Near(radius) => {
                all().filter(|(_, p)| (**p - self.at).length() <= *radius).map(|(k, _)| k).collect()
            }
            Select::Set(name) => match mesh.sets.get(name) {
                Some(set) => {
                    let mut set = set.clone();
                    set.sort_unstable();
                    set.dedup();
                    set
                }
                None => {
                    let known: Vec<&str> = mesh.sets.keys().map(String::as_str).collect();
                    let message = match known.is_empty() {
                        true => format!(
                            "wants the set \"{name}\", and the mesh has no sets. help: select nodes by `face`, `hole` or `near`"
                        ),
                        false => format!(
                            "wants the set \"{name}\", which the mesh does not have. help: it has {}",
                            known.join(", ")
                        ),
                    };
                    return Err(wrong(message));
                }
            },
        };
        let least = mesh.kind.dimension();
        if found.len() < least {
            let nearest = mesh.nodes.iter().map(|p| (*p - self.at).length()).fold(f64::INFINITY, f64::min);
            return Err(wrong(format!(
                "has {} nodes and needs {least} at least: its point ({}) m is {nearest:.4} m from the nearest node; the mesh reaches \
                 from ({}) to ({}) m. help: move `at`, or enlarge the radius",
                found.len(),
                show(self.at),
                show(low),
                show(high)
            )));
        }
        Ok(found)
    }
}

fn show(p: Vec3) -> String {
    format!("{:.4}, {:.4}, {:.4}", p.x, p.y, p.z)
}
