//! Who must be in one island: each force element, block of the network and change is at home at bodies that it hangs on or reads.

use super::compile::Compiler;
use super::forces::reads;
use super::{Drive, Model};
use crate::network::Source;
use std::collections::BTreeSet;

/// Bodies that blocks and elements share, and what each of them reads.
struct Sharing {
    /// Sources of each block, and bodies it shares.
    blocks: Vec<(Vec<Source>, BTreeSet<u32>)>,
    /// Sources of each element, and bodies it shares.
    elements: Vec<(Vec<Source>, BTreeSet<u32>)>,
}

impl Compiler<'_> {
    /// Which bodies each element and block needs in one island.
    pub(super) fn settle_homes(&mut self, model: &mut Model) {
        let Some(first_free) = model.bodies.iter().position(|b| b.drive == Drive::Free) else { return };
        let first_free = first_free as u32;
        let mut sharing = Sharing::of(model);
        sharing.spread(model);
        let homes: Vec<u32> = model
            .changes
            .iter()
            .map(|change| {
                let reads = change.when.iter().flat_map(|when| &when.inputs);
                let owners = reads.clone().filter_map(|source| owner_of(model, source));
                let blocks = owners.flat_map(|k| sharing.blocks[k].1.iter().copied());
                reads.flat_map(|source| bodies_of(model, source)).chain(blocks).min().unwrap_or(first_free)
            })
            .collect();
        for (change, home) in model.changes.iter_mut().zip(homes) {
            change.home = home;
        }
        for (block, (_, bodies)) in model.network.blocks.iter_mut().zip(sharing.blocks) {
            block.home = bodies.first().copied().unwrap_or(first_free);
        }
        for (element, (_, mut bodies)) in model.elements.iter_mut().zip(sharing.elements) {
            if bodies.is_empty() && element.kind.line() == Some("rope") {
                // a rope between what stands still hangs there all the same
                bodies.insert(first_free);
            }
            element.bodies = bodies.into_iter().collect();
            let frames = element.kind.attached().frames;
            let may_go =
                |body: u32| frames.iter().any(|anchor| anchor.body == Some(body)) && !element.kind.needs_body(body);
            element.home = element.bodies.iter().copied().find(|&body| !may_go(body));
        }
        for element in model.elements.iter().filter(|element| element.bodies.is_empty()) {
            let message = format!("force \"{}\" acts on nothing that moves by forces", element.name);
            self.fail(self.scene.places.entity, message, "one of its bodies must be free");
        }
    }
}

impl Sharing {
    /// Each with the bodies it hangs on and those whose motion it reads.
    fn of(model: &Model) -> Sharing {
        let seen =
            |reads: &[Source]| reads.iter().flat_map(|source| bodies_of(model, source)).collect::<BTreeSet<u32>>();
        let blocks = model.network.blocks.iter().map(|block| {
            let reads = reads(&block.kind);
            let bodies = seen(&reads);
            (reads, bodies)
        });
        let elements = model.elements.iter().map(|element| {
            let attached = element.kind.attached();
            let reads = attached.formula.map_or_else(Vec::new, |f| f.inputs.clone());
            let mut bodies = seen(&reads);
            bodies.extend(attached.frames.iter().filter_map(|a| a.body).filter(|&b| is_free(model, b)));
            bodies.extend(attached.coordinates.iter().map(|at| first_body(model, at.mechanism)));
            (reads, bodies)
        });
        Sharing { blocks: blocks.collect(), elements: elements.collect() }
    }

    /// Whoever reads a block that is not of time alone shares its bodies, both ways, until nothing changes.
    fn spread(&mut self, model: &Model) {
        let owners =
            |reads: &[Source]| reads.iter().filter_map(|source| owner_of(model, source)).collect::<Vec<usize>>();
        let read_by_blocks: Vec<Vec<usize>> = self.blocks.iter().map(|(reads, _)| owners(reads)).collect();
        let read_by_elements: Vec<Vec<usize>> = self.elements.iter().map(|(reads, _)| owners(reads)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (k, others) in read_by_blocks.iter().enumerate() {
                for &other in others.iter().filter(|&&other| other != k) {
                    let mut theirs = std::mem::take(&mut self.blocks[other].1);
                    changed |= join(&mut self.blocks[k].1, &mut theirs);
                    self.blocks[other].1 = theirs;
                }
            }
            for ((_, bodies), others) in self.elements.iter_mut().zip(&read_by_elements) {
                for &other in others {
                    changed |= join(bodies, &mut self.blocks[other].1);
                }
            }
        }
    }
}

/// Both become what either holds; true if one of them grew.
fn join(a: &mut BTreeSet<u32>, b: &mut BTreeSet<u32>) -> bool {
    let before = a.len() + b.len();
    let all: BTreeSet<u32> = a.union(b).copied().collect();
    a.clone_from(&all);
    b.clone_from(&all);
    a.len() + b.len() > before
}

fn is_free(model: &Model, body: u32) -> bool {
    model.bodies[body as usize].drive == Drive::Free
}

/// Body of the first link of a mechanism.
fn first_body(model: &Model, mechanism: u32) -> u32 {
    model.mechanisms[mechanism as usize].links[0].body
}

/// Bodies whose motion a source is.
fn bodies_of(model: &Model, source: &Source) -> Vec<u32> {
    match source {
        Source::Coordinate { mechanism, .. } | Source::Rate { mechanism, .. } => vec![first_body(model, *mechanism)],
        Source::Sensor { sensor, .. } => {
            let ends = model.sensors[*sensor as usize].ends;
            ends.iter().filter_map(|e| e.body).filter(|&b| is_free(model, b)).collect()
        }
        _ => Vec::new(),
    }
}

/// The block whose value or state a source is; none where that is of time alone.
fn owner_of(model: &Model, source: &Source) -> Option<usize> {
    model.network.blocks.iter().position(|b| match source {
        Source::Value(v) => b.written().contains(&(*v as usize)) && !b.of_time,
        Source::State(s) => b.states.contains(&(*s as usize)),
        _ => false,
    })
}
