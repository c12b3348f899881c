//! Assembling an island: which nodes its bodies are, what is at home there, and where every state and integral stands.
//!
//! The vector of an island: the states of its nodes one after the other, those of the network's blocks and of elements
//! behind the node they are at home in, the springs of its pairs behind all nodes, then the integrals node by node.

use super::actions::{Actions, LocalElement};
use super::columns::Columns;
use super::differences::Held;
use super::dynamics::{Dynamics, Simple};
use super::layout::{ACCOUNTS, BODY_STATES, INTEGRATED};
use super::machine::Machine;
use super::pair::{Pair, SPRING_STATES};
use super::skin::Skin;
use tippe_geometry::{Mat3, Quat, Vec3};
use tippe_mechanics::element::At;
use tippe_mechanics::joint::Six;
use tippe_mechanics::kinematics::{Frame, Kinematics};
use tippe_mechanics::mechanism::Link;
use tippe_mechanics::model::{Drive, Model, ModelElement};
use tippe_numerics::BlockPattern;

/// From this many pairs on an island treats elastic, frictionless pairs of centred balls apart, in arrays of their own.
const MANY: usize = 256;

impl Dynamics {
    /// The island of these bodies and pairs (ids of elements, ascending).
    pub fn new(model: &Model, bodies: Vec<u32>, ids: &[(u32, u32)], tolerance: f64) -> Self {
        let members = Members::gather(model, bodies, ids);
        let (n, nodes) = (members.bodies.len(), members.node_states.len());
        let mut pairs = members.pairs(model, ids);
        let (acting, acting_starts) = pairs_on_bodies(&pairs, n);
        let mut actions = members.network(model);
        let mut offsets = members.place_states(model, &mut actions);
        place_springs(&mut pairs, &mut offsets);
        let all_nodes = offsets.len() - 1;
        let (simple, general) = members.sort_pairs(model, &pairs, &offsets);
        let machines = members.machines(model, &offsets);
        let conservative = members.externals.is_empty() && pairs.iter().all(Pair::is_conservative);
        let accounts = if conservative { 0 } else { INTEGRATED };
        let mut integral_starts = members.place_integrals(model, accounts, &machines, &mut actions);
        integral_starts.resize(all_nodes + 1, integral_starts[nodes]);
        if !actions.is_empty() {
            actions.loads = vec![Six::default(); n];
        }
        let mut dynamics = Dynamics {
            actions,
            gone: vec![false; n],
            pushes: Vec::new(),
            resisting: Vec::new(),
            handover: f64::INFINITY,
            efforts: Vec::new(),
            integral_starts,
            first_of: (0..nodes).map(|node| members.node_of.iter().position(|&k| k == node).unwrap_or(0)).collect(),
            offset_of: members.node_of.iter().map(|&node| offsets[node]).collect(),
            link_of: members.links(model, &machines),
            machines,
            accelerations: vec![Vec3::ZERO; n],
            frames: vec![Frame { rotation: Quat::IDENTITY, rate: Vec3::ZERO }; n],
            frame_time: 0.0,
            carried: vec![[0.0; ACCOUNTS]; nodes],
            tolerance,
            pattern: BlockPattern { offsets, neighbours: vec![Vec::new(); all_nodes], priority: vec![0; all_nodes] },
            kinematics: members.start(model),
            worst: 0,
            worst_state: None,
            gaps: vec![f64::INFINITY; pairs.len()],
            is_simple: which(pairs.len(), &simple),
            skin: Skin::new(model, members.all(), pairs.len()),
            held: Held::default(),
            slopes: Vec::new(),
            columns: Columns::default(),
            line_of: members.lines(model),
            fastest: vec![0.0; n],
            step: 0.0,
            has_patches: pairs.iter().any(Pair::is_patch),
            parallel: false,
            read: [0; 2],
            asked: vec![false; pairs.len()],
            ends: pairs.iter().map(|p| p.sides.map(|s| s as u32)).collect(),
            touching: vec![false; pairs.len()],
            sprung: pairs.iter().any(|p| p.springs.is_some()),
            simple,
            general,
            forces: vec![Vec3::ZERO; pairs.len()],
            accounts,
            moving_externals: members.has_moving_externals(model),
            acting,
            acting_starts,
            lengths: vec![0.0; n],
            errors: vec![Six::default(); n],
            turns: vec![1.0; n],
            node_of: members.node_of,
            bodies: members.bodies,
            externals: members.externals,
            pairs,
        };
        dynamics.find_watches(model);
        dynamics
    }
}

/// Bodies of an island, and which node each of them is part of.
struct Members {
    /// Free bodies, by model index, ascending.
    bodies: Vec<u32>,
    /// Fixed and prescribed bodies that its pairs touch, by model index, ascending.
    externals: Vec<u32>,
    /// Node of each free body: a body that hangs on nothing is one, and so is a mechanism at the place of its first body.
    node_of: Vec<usize>,
    /// Number of states of the body or mechanism that each node is.
    node_states: Vec<usize>,
}

impl Members {
    /// These bodies, what else the pairs touch, and nodes in order of first bodies.
    fn gather(model: &Model, bodies: Vec<u32>, ids: &[(u32, u32)]) -> Members {
        let is_free = |body: &u32| bodies.binary_search(body).is_ok();
        let ends = ids.iter().flat_map(|&(a, b)| [body_of(model, a), body_of(model, b)]);
        let mut externals: Vec<u32> = ends.filter(|body| !is_free(body)).collect();
        externals.sort_unstable();
        externals.dedup();
        let mut node_of = Vec::with_capacity(bodies.len());
        let mut node_states = Vec::new();
        let mut nodes_of_mechanisms: Vec<(u32, usize)> = Vec::new();
        for &body in &bodies {
            let mechanism = model.bodies[body as usize].mechanism.map(|(mechanism, _)| mechanism);
            let known = nodes_of_mechanisms.iter().find(|(m, _)| Some(*m) == mechanism);
            if let Some(&(_, node)) = known {
                node_of.push(node);
                continue;
            }
            let node = node_states.len();
            node_of.push(node);
            node_states.push(mechanism.map_or(BODY_STATES, |m| 2 * model.mechanisms[m as usize].coordinates));
            nodes_of_mechanisms.extend(mechanism.map(|m| (m, node)));
        }
        Members { bodies, externals, node_of, node_states }
    }

    /// Free bodies, then externals: the order of the island's kinematics.
    fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.bodies.iter().chain(&self.externals).copied()
    }

    /// Index of a body of the model among the free bodies.
    fn local(&self, body: u32) -> Option<usize> {
        self.bodies.binary_search(&body).ok()
    }

    /// Index of a body of the model in the island's kinematics.
    fn index(&self, body: u32) -> usize {
        let external = || self.bodies.len() + self.externals.binary_search(&body).unwrap_or_default();
        self.local(body).unwrap_or_else(external)
    }

    /// Node in which what hangs on this body of the model is at home.
    fn node(&self, body: u32) -> Option<usize> {
        self.local(body).map(|k| self.node_of[k])
    }

    /// Node in which a force element is at home.
    fn home(&self, element: &ModelElement) -> Option<usize> {
        element.home.and_then(|body| self.node(body))
    }

    /// The pairs that may touch; each belongs to the node of its first free body.
    fn pairs(&self, model: &Model, ids: &[(u32, u32)]) -> Vec<Pair> {
        let mut pairs = Vec::with_capacity(ids.len());
        for &id in ids {
            let (b1, b2) = (body_of(model, id.0), body_of(model, id.1));
            let first = self.local(b1).or(self.local(b2)).unwrap_or(0);
            pairs.extend(Pair::new(model, id, [self.index(b1), self.index(b2)], self.node_of[first]));
        }
        pairs
    }

    /// Blocks of the network that are evaluated here: those at home here, and those of time alone if anything asks for them.
    fn network(&self, model: &Model) -> Actions {
        let (blocks, elements) = (&model.network.blocks, &model.elements);
        let asked = blocks.iter().any(|block| self.local(block.home).is_some())
            || elements.iter().any(|element| self.home(element).is_some());
        let here = |k: &u32| {
            let block = &blocks[*k as usize];
            asked && (self.local(block.home).is_some() || block.of_time)
        };
        Actions {
            blocks: (0..blocks.len() as u32).filter(here).collect(),
            state_at: vec![usize::MAX; model.states.len()],
            values: vec![0.0; model.network.values],
            done: vec![false; model.changes.len()],
            ..Actions::default()
        }
    }

    /// Where each node starts, and where the last one ends; states of blocks, then of elements, follow those of their node.
    fn place_states(&self, model: &Model, actions: &mut Actions) -> Vec<usize> {
        let blocks = model.network.blocks.iter().map(|block| (self.node(block.home), block.states.clone()));
        let elements = model.elements.iter().map(|element| (self.home(element), element.states.clone()));
        let mut ends = self.node_states.clone();
        let mut places = Vec::new();
        for (home, states) in blocks.chain(elements) {
            let Some(node) = home else { continue };
            for state in states {
                places.push((state, node, ends[node]));
                ends[node] += 1;
            }
        }
        let mut offsets = vec![0];
        for (node, states) in ends.iter().enumerate() {
            offsets.push(offsets[node] + states);
        }
        for (state, node, place) in places {
            actions.state_at[state] = offsets[node] + place;
        }
        offsets
    }

    /// Pairs with a short way to their force, and all others.
    fn sort_pairs(&self, model: &Model, pairs: &[Pair], offsets: &[usize]) -> (Vec<Simple>, Vec<u32>) {
        let (mut simple, mut general) = (Vec::new(), Vec::new());
        let hangs_on_nothing =
            |side: usize| self.bodies.get(side).is_some_and(|&body| model.bodies[body as usize].mechanism.is_none());
        for (k, pair) in pairs.iter().enumerate() {
            let apart = pairs.len() > MANY && pair.sides.iter().all(|&side| hangs_on_nothing(side));
            match pair.elastic_balls().filter(|_| apart) {
                None => general.push(k as u32),
                Some((reach, stiffness)) => simple.push(Simple {
                    pair: k as u32,
                    reach,
                    stiffness,
                    offsets: pair.sides.map(|s| offsets[self.node_of[s]] as u32),
                    sides: pair.sides.map(|s| s as u32),
                    scale: pair.scale,
                }),
            }
        }
        (simple, general)
    }

    /// Mechanisms in order of first bodies.
    fn machines(&self, model: &Model, offsets: &[usize]) -> Vec<Machine> {
        let mut machines: Vec<Machine> = Vec::new();
        for (&body, &node) in self.bodies.iter().zip(&self.node_of) {
            let Some((mechanism, _)) = model.bodies[body as usize].mechanism else { continue };
            if machines.iter().all(|m| m.index != mechanism) {
                let body_of = |link: &Link| self.local(link.body).unwrap_or_default();
                let own = model.mechanisms[mechanism as usize].links.iter().map(body_of).collect();
                machines.push(Machine::new(model, mechanism, offsets[node], own));
            }
        }
        machines
    }

    /// Machine and link of each free body, if joints hold it.
    fn links(&self, model: &Model, machines: &[Machine]) -> Vec<Option<(u32, u32)>> {
        let link = |&body: &u32| {
            let (mechanism, link) = model.bodies[body as usize].mechanism?;
            let machine = machines.iter().position(|m| m.index == mechanism)?;
            Some((machine as u32, link))
        };
        self.bodies.iter().map(link).collect()
    }

    /// First body of what elements of cables join to each body.
    fn lines(&self, model: &Model) -> Vec<Option<usize>> {
        let mut line_of: Vec<Option<usize>> = vec![None; self.bodies.len()];
        for element in model.elements.iter().filter(|element| element.kind.joins_as_one()) {
            let ends: Vec<usize> = element.bodies.iter().filter_map(|body| self.local(*body)).collect();
            let Some(&first) = ends.iter().min() else { continue };
            let first = ends.iter().filter_map(|&k| line_of[k]).chain([first]).min();
            let joined: Vec<usize> = ends.iter().filter_map(|&k| line_of[k]).collect();
            for (k, line) in line_of.iter_mut().enumerate() {
                if ends.contains(&k) || line.is_some_and(|line| joined.contains(&line)) {
                    *line = first;
                }
            }
        }
        line_of
    }

    /// Where the integrals of each node start behind the states, and where the last ones end: the accounts of the ledger,
    /// then those of the elements at home in the node.
    fn place_integrals(
        &self,
        model: &Model,
        accounts: usize,
        machines: &[Machine],
        actions: &mut Actions,
    ) -> Vec<usize> {
        let mut starts = vec![0];
        for node in 0..self.node_states.len() {
            let mut end = starts[node] + accounts;
            for (k, element) in model.elements.iter().enumerate() {
                if self.home(element) == Some(node) {
                    actions.elements.push(resting(k as u32, element, end, machines));
                    end += element.accounts.len();
                }
            }
            starts.push(end);
        }
        starts
    }

    /// Motion of all bodies at rest where the model starts.
    fn start(&self, model: &Model) -> Vec<Kinematics> {
        let rest = |body: u32| {
            let start = &model.start[body as usize];
            let R = Mat3::from_quat(start.orientation);
            Kinematics { p: start.position + R * model.bodies[body as usize].p_bc, v: Vec3::ZERO, w: Vec3::ZERO, R }
        };
        self.all().map(rest).collect()
    }

    /// True if a prescribed motion drives one of the externals.
    fn has_moving_externals(&self, model: &Model) -> bool {
        self.externals.iter().any(|&b| matches!(model.bodies[b as usize].drive, Drive::Prescribed { .. }))
    }
}

/// Body of a colliding element.
fn body_of(model: &Model, element: u32) -> u32 {
    model.colliders[element as usize].body
}

/// A force element that has done nothing yet; its integrals start at `integral`.
fn resting(element: u32, model: &ModelElement, integral: usize, machines: &[Machine]) -> LocalElement {
    let machine = |at: &At| machines.iter().position(|m| m.index == at.mechanism).unwrap_or(0);
    LocalElement {
        element,
        integral,
        machines: model.kind.attached().coordinates.iter().map(machine).collect(),
        modes: vec![Default::default(); model.modes.len()],
        kept: vec![0.0; model.kept.len()],
        carried: Default::default(),
        on: true,
        effect: Default::default(),
        shown: Vec::new(),
        holds: false,
        holding: 0.0,
        sight: Default::default(),
    }
}

/// Springs are nodes of their own behind the bodies: those of a pair that is apart cost next to nothing.
fn place_springs(pairs: &mut [Pair], offsets: &mut Vec<usize>) {
    for pair in pairs.iter_mut().filter(|p| p.laws.friction_law.has_springs()) {
        let start = offsets[offsets.len() - 1];
        pair.springs = Some(start);
        offsets.push(start + SPRING_STATES);
    }
}

/// Pairs and sides that act on each of `n` free bodies, body by body, and where those of each body start.
fn pairs_on_bodies(pairs: &[Pair], n: usize) -> (Vec<(u32, u8)>, Vec<u32>) {
    let mut acting = vec![Vec::new(); n];
    for (k, pair) in pairs.iter().enumerate() {
        for (side, &body) in pair.sides.iter().enumerate().filter(|(_, body)| **body < n) {
            acting[body].push((k as u32, side as u8));
        }
    }
    let mut starts = vec![0];
    for list in &acting {
        starts.push(starts[starts.len() - 1] + list.len() as u32);
    }
    (acting.concat(), starts)
}

/// Which of the pairs are simple.
fn which(pairs: usize, simple: &[Simple]) -> Vec<bool> {
    let mut is_simple = vec![false; pairs];
    simple.iter().for_each(|s| is_simple[s.pair as usize] = true);
    is_simple
}
