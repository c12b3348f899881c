//! Pairs join and leave the contact set of an island, stick and slip.

use super::dynamics::Dynamics;
use super::layout::Account;
use super::pair::{Memory, Pair, Reading};
use tippe_geometry::Vec3;
use tippe_mechanics::contact::friction::{Modes, Springs};
use tippe_mechanics::event::Episode;

/// A flat solid that touches down at a tangential speed above this share of its closing speed slips at first [-].
const SLOW: f64 = 1e-6;

impl Dynamics {
    /// Gives a pair back what it remembered.
    pub fn recall(&mut self, k: usize, memory: Memory) {
        self.pairs[k].memory = memory;
        self.touching[k] = memory.touching;
        self.skin.listed.clear();
    }

    /// A pair joins the contact set.
    pub fn touch(&mut self, k: usize, reading: &Reading, time: f64, y: &mut [f64]) {
        self.touching[k] = true;
        self.skin.listed.clear();
        let pair = &mut self.pairs[k];
        let speed = reading.closing_speed.max(0.0);
        pair.memory.touching = true;
        pair.memory.normal.touch_speed = speed;
        pair.memory.normal.impact_speed = speed;
        pair.memory.episode = Episode { start: time, start_closing_speed: reading.closing_speed, ..Episode::default() };
        // in the limit of small depth f/N = kappa v_t/v_n while sticking
        let (kappa, mu) = (pair.laws.friction.kappa, pair.laws.friction.mu);
        let w_r = reading.omega - reading.normal * reading.normal.dot(reading.omega);
        // an edge or a corner has next to no normal force to begin with
        let at_once = pair.is_patch() && reading.v_t.length() > SLOW * speed;
        pair.memory.modes = Modes {
            slipping: pair.laws.friction_law.lets_go() && (at_once || kappa * reading.v_t.length() > mu * speed),
            rolling: kappa * reading.radius.max(1e-12) * w_r.length() > pair.laws.friction.rolling * speed,
        };
        let springs = Springs::default();
        Self::set_springs(&self.pairs[k], y, &springs);
    }

    /// A pair leaves the contact set; what its springs still hold is lost.
    pub fn leave(&mut self, k: usize, y: &mut [f64]) {
        let pair = &self.pairs[k];
        if pair.springs.is_some() {
            let (sliding, rolling) = pair.spring_energies(&Self::springs(pair, y));
            Self::set_springs(pair, y, &Springs::default());
            self.book(y, pair.node, Account::Sliding, sliding);
            self.book(y, pair.node, Account::Rolling, rolling);
        }
        // what does not touch holds nothing: a force that is not quite a gradient gave or took the rest
        let node = pair.node;
        let stores = |other: &Pair| other.node == node && !other.has_closed_energy();
        let touches = |(i, other): (usize, &Pair)| i != k && other.memory.touching && stores(other);
        if stores(pair) && !self.pairs.iter().enumerate().any(touches) {
            let since = self.accounts(y, node).get(Account::Elastic as usize).copied().unwrap_or(0.0);
            let rest = self.carried[node][Account::Elastic as usize] + since;
            self.book(y, node, Account::Elastic, -rest);
            self.book(y, node, Account::Damping, rest);
        }
        self.recall(k, Memory::default());
    }

    /// Stick turns to slip, or rest to rolling: the springs let go and their energy is lost.
    pub fn loosen(&mut self, k: usize, slip: bool, y: &mut [f64]) {
        let pair = &self.pairs[k];
        let mut springs = Self::springs(pair, y);
        let (sliding, rolling) = pair.spring_energies(&springs);
        let (account, energy) = if slip { (Account::Sliding, sliding) } else { (Account::Rolling, rolling) };
        if slip {
            springs.f = Vec3::ZERO;
            springs.spin = 0.0;
        } else {
            springs.roll = Vec3::ZERO;
        }
        Self::set_springs(pair, y, &springs);
        self.book(y, pair.node, account, energy);
        let memory = &mut self.pairs[k].memory;
        if slip {
            memory.modes.slipping = true;
        } else {
            memory.modes.rolling = true;
        }
    }

    /// Slip turns to stick, or rolling to rest: the springs take over the force, and the energy they hold was not lost.
    pub fn fasten(&mut self, k: usize, stick: bool, y: &mut [f64]) {
        let pair = &self.pairs[k];
        let springs = pair.springs_at_stick(&Self::springs(pair, y), stick);
        let (sliding, rolling) = pair.spring_energies(&springs);
        Self::set_springs(pair, y, &springs);
        let (account, energy) = if stick { (Account::Sliding, -sliding) } else { (Account::Rolling, -rolling) };
        self.book(y, pair.node, account, energy);
        let memory = &mut self.pairs[k].memory;
        if stick {
            memory.modes.slipping = false;
        } else {
            memory.modes.rolling = false;
        }
    }
}
