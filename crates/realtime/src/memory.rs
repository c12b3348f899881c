//! What contacts and their friction remember of a step, the energies of their rows, and their events.
//!
//! A contact stores the energy of its law at the force it carries,   U = F depth/(n + 1),   friction that of its
//! springs; what a row's impulse takes from the motion, lambda (J u+ + J u0)/2, beyond the change of that, is lost.

use super::Clock;
use super::contacts::{Grip, Hold, Memory, Touch};
use super::rates::{depth_of, energy_of, rate, rate_with};
use super::rows::{Owner, Rows};
use tippe_geometry::Vec3;
use tippe_mechanics::Ledger;
use tippe_mechanics::cause::Cause;
use tippe_mechanics::event::{Event, EventContact, EventKind};
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::Follow;

/// Share of its bound that friction may lack and still counts as sliding [-]: above the accuracy of the solution.
const AT_BOUND: f64 = 1e-7;

/// What contacts stored and which pairs touch: `integrate` writes.
#[derive(Debug, Default)]
pub struct Remembered {
    /// Memories of the contacts before the step.
    before: Vec<Memory>,
    /// Energy that contacts and the springs of their friction store at the beginning of the step and at its end [J].
    pub elastic: [f64; 2],
    /// Pairs that impacts struck in the step, those that touch at its end, and those that did at its beginning,
    /// ascending.
    struck: Vec<(u32, u32)>,
    touched: Vec<(u32, u32)>,
    touched_before: Vec<(u32, u32)>,
}

/// A step as memories of contacts read it.
struct Reading<'a> {
    rows: &'a Rows,
    /// Velocities {w, v} at the end of the step as solved, and the mean of those and of the ones it began with.
    velocity: &'a [Six],
    mean: &'a [Six],
    h: f64,
}

impl Clock {
    /// Memories of the contacts, their energies (see [`Clock::book`]), and their events.
    pub(super) fn remember(&mut self, velocity: &[Six]) {
        self.solved.mean.clear();
        self.solved.mean.extend(velocity.iter().zip(&self.paths).map(|(u, path)| (*u + path.velocity()) * 0.5));
        std::mem::swap(&mut self.remembered.before, &mut self.state.contacts);
        let mut contacts = std::mem::take(&mut self.state.contacts);
        contacts.clear();
        let struck = &mut self.remembered.struck;
        struck.clear();
        struck.extend(self.struck.impacts.iter().map(|impact| impact.pair));
        struck.sort_unstable();
        struck.dedup();
        let step = Reading { rows: &self.rows, velocity, mean: &self.solved.mean, h: self.h };
        let partition = |b: usize| self.partitions.get(self.partition_of[b] as usize);
        let is_swept = |b: usize| partition(b).is_some_and(|p| p.active && p.swept);
        let ledger = &mut self.state.ledger;
        // energy of contacts and their friction, also of those that are gone: their points need not be the same ones
        let stored_before: f64 = self.remembered.before.iter().map(|m| m.stored).sum();
        let strained = Hold::all_stored(&self.state.holds);
        ledger[Cause::ContactDamping] += stored_before;
        let mut stored = 0.0;
        self.state.holds.clear();
        for grip in &mut self.detected.grips {
            let (first, count) = grip.touches;
            let swept = grip.bodies.iter().any(|&b| is_swept(b));
            let touches = &mut self.detected.touches[first..first + count];
            let mut normal = 0.0;
            for touch in touches.iter_mut() {
                let row = &step.rows.rows[touch.row];
                normal += Follow::pressed(row.lambda, row.lower);
                let moved = || rate_with(row, |b| self.paths[b].impact_displacement) - row.given;
                step.remember_point(touch, swept.then(moved), ledger);
                touch.memory.struck = struck.binary_search(&touch.memory.pair).is_ok();
                stored += touch.memory.stored;
                contacts.push(touch.memory);
            }
            step.remember_friction(grip, touches, normal, swept, ledger);
            self.state.holds.push(grip.memory);
        }
        let strained_now = Hold::all_stored(&self.state.holds);
        ledger[Cause::Sliding] += strained[0] - strained_now[0];
        ledger[Cause::Spin] += strained[1] - strained_now[1];
        self.remembered.elastic =
            [stored_before + strained[0] + strained[1], stored + strained_now[0] + strained_now[1]];
        // pairs that were struck and have flown apart too far to have points
        let gone = |pair: &(u32, u32)| self.detected.touches.binary_search_by_key(pair, |t| t.memory.pair).is_err();
        let left = struck.iter().filter(|pair| gone(pair));
        contacts.extend(left.map(|&pair| Memory { pair, struck: true, ..Memory::default() }));
        self.state.holds.sort_unstable_by_key(|m| m.pair);
        contacts.sort_unstable_by_key(|m| (m.pair, m.id));
        self.state.contacts = contacts;
        self.note_contacts();
    }

    /// Events of pairs that began or ceased to touch.
    fn note_contacts(&mut self) {
        fn touching(list: &[Memory], pairs: &mut Vec<(u32, u32)>) {
            pairs.clear();
            pairs.extend(list.iter().filter(|m| m.normal != 0.0 || m.struck).map(|m| m.pair));
            pairs.dedup();
        }
        let (mut old, mut new) =
            (std::mem::take(&mut self.remembered.touched_before), std::mem::take(&mut self.remembered.touched));
        touching(&self.remembered.before, &mut old);
        touching(&self.state.contacts, &mut new);
        self.shown.tally.contacts += new.len() as u64;
        if old == new {
            (self.remembered.touched_before, self.remembered.touched) = (old, new);
            return;
        }
        for (pair, kind) in
            (new.iter().filter(|p| old.binary_search(p).is_err()).map(|p| (*p, EventKind::ContactStart)))
                .chain(old.iter().filter(|p| new.binary_search(p).is_err()).map(|p| (*p, EventKind::ContactEnd)))
        {
            let first = self.detected.touches.partition_point(|t| t.memory.pair < pair);
            let touch = self.detected.touches.get(first).filter(|t| t.memory.pair == pair);
            let flown = touch.is_none() && kind == EventKind::ContactStart;
            let impact = if flown { self.struck.impacts.iter().find(|impact| impact.pair == pair) } else { None };
            let [b1, b2] = [pair.0, pair.1].map(|e| self.model.colliders[e as usize].body as usize);
            let at = |b: usize, p: Vec3| self.paths[b].velocity_of(p);
            let (gap, normal, position) = match (touch, impact) {
                (Some(t), _) => (t.gap, t.axes[0], t.point),
                (None, Some(impact)) => (0.0, impact.normal, impact.point),
                (None, None) => self.detected.pairs.between(&self.model, pair),
            };
            let contact = EventContact {
                body1: b1,
                body2: b2,
                pair,
                gap,
                closing_speed: normal.dot(at(b1, position) - at(b2, position)),
                normal,
                position,
                episode: None,
                regions: None,
            };
            self.shown.events.push(Event {
                time: self.state.time + self.h,
                kind,
                source: None,
                contact: Some(contact),
            });
        }
        (self.remembered.touched_before, self.remembered.touched) = (old, new);
    }
}

impl Reading<'_> {
    /// Memory of a contact point, and what its row took. `moved`: of swept bodies, what the motion until then added to
    /// its gap [m].
    fn remember_point(&self, touch: &mut Touch, moved: Option<f64>, ledger: &mut Ledger) {
        let (h, row) = (self.h, &self.rows.rows[touch.row]);
        let memory = &mut touch.memory;
        memory.normal = row.lambda;
        // the energy of the law at the force it carries: a deep overlap that is pushed out slowly stores no more
        let n = touch.exponent;
        let force = (row.lambda / h).max(0.0);
        memory.stored = force * depth_of(force / touch.hardness, n) / (n + 1.0);
        if memory.stored > 0.0 {
            // dampers, and sweeps, may load a small column beyond its law: it stores no more than its overlap
            let phi = moved.map_or(row.gap, |moved| touch.gap + moved);
            let overlap = (-phi - h * rate(row, self.velocity)).max(0.0);
            memory.stored = memory.stored.min(touch.hardness * energy_of(overlap, n));
        }
        ledger[Cause::ContactDamping] -= row.lambda * rate(row, self.mean) + memory.stored;
        ledger[Cause::Work] -= row.lambda * row.given;
    }

    /// Memory of the friction of contact points with this `normal` impulse together, and what its rows took.
    fn remember_friction(&self, grip: &mut Grip, touches: &[Touch], normal: f64, swept: bool, ledger: &mut Ledger) {
        let (h, rows) = (self.h, self.rows);
        let memory = &mut grip.memory;
        (memory.tangent, memory.twist, memory.turn) = (Vec3::ZERO, 0.0, Vec3::ZERO);
        let (mut size, mut limit) = (0.0, 0.0);
        let (mut slip, mut spin) = (Vec3::ZERO, 0.0);
        for k in grip.row..rows.contacts {
            let row = &rows.rows[k];
            let cause = match rows.owners[k] {
                Owner::Tangent(_, a) => {
                    memory.tangent += grip.axes[a as usize + 1] * row.lambda;
                    slip += grip.axes[a as usize + 1] * rate(row, self.velocity);
                    size += row.lambda * row.lambda;
                    // the bound of the solution, where that is not settled yet
                    limit = row.upper.min(rows.follows[k].bound(normal));
                    &mut ledger[Cause::Sliding]
                }
                Owner::Twist(_) => {
                    memory.twist = row.lambda;
                    spin = rate(row, self.velocity);
                    size += row.lambda * row.lambda;
                    &mut ledger[Cause::Spin]
                }
                Owner::SpinDamper(_) => &mut ledger[Cause::Spin],
                Owner::Roll(_, a) => {
                    memory.turn += grip.axes[a as usize + 1] * row.lambda;
                    &mut ledger[Cause::Rolling]
                }
                _ => break,
            };
            *cause -= row.lambda * rate(row, self.mean);
            ledger[Cause::Work] -= row.lambda * row.given;
        }
        let size = size.sqrt();
        memory.sliding = size > 0.0 && size >= limit * (1.0 - AT_BOUND);
        // where the solution put it
        if memory.sliding && touches[0].column && !swept && rows.rows[grip.row].given == 0.0 {
            grip.point = touches.iter().map(|t| t.point * (t.memory.normal.max(0.0) / normal)).sum();
        }
        if normal <= 0.0 {
            *memory = Hold { pair: memory.pair, point: memory.point, ..Default::default() };
        } else if grip.smooth.is_some_and(|(law, ..)| !law.has_springs()) {
            (memory.spring, memory.wound) = (Vec3::ZERO, 0.0);
        } else if memory.sliding || swept {
            // the spring carries the force of sliding; sweeps hold without one
            memory.spring = -memory.tangent / (h * grip.stiffness);
            memory.wound = -memory.twist / (h * grip.stiffness);
        } else {
            // no more than the force of sliding
            let most = limit / (h * grip.stiffness);
            let turning = grip.turning - grip.axes[0] * grip.axes[0].dot(grip.turning);
            let (keeps, winds) = grip.keeps;
            memory.spring = (memory.spring * keeps + (slip + turning) * winds).clamp_length_max(most);
            memory.wound = (memory.wound + spin * h).min(most).max(-most);
        }
    }
}
