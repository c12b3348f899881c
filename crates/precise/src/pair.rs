//! One candidate pair of an island: its geometry, its laws, what it remembers, and what was last read off it.

mod reading;

use serde::{Deserialize, Serialize};
use tippe_geometry::{Moments, Pose, Vec3};
use tippe_mechanics::contact::friction::{Friction, FrictionLaw, Modes, Springs, spring_energies, springs_at_stick};
use tippe_mechanics::contact::normal::{NormalForce, NormalLaw, NormalMemory};
use tippe_mechanics::contact::surfaces::RegionCount;
use tippe_mechanics::event::Episode;
use tippe_mechanics::kinematics::Kinematics;
use tippe_mechanics::model::Model;
use tippe_mechanics::pair::{PairGeometry, PairLaws, SCALE_SPEED};

/// Membership ends when the gap exceeds this share of the pair's scale [-]; force and memory end at gap zero.
const HYSTERESIS: f64 = 1e-9;
/// Accounts that a contact alone fills.
pub const POWERS: usize = 5;
/// Number of states of an elastic-stick contact.
pub const SPRING_STATES: usize = 7;

/// What a pair remembers from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// In the contact set.
    pub touching: bool,
    /// Speeds the damping refers to.
    pub normal: NormalMemory,
    /// Stick or slip, rest or roll.
    pub modes: Modes,
    /// The contact so far.
    pub episode: Episode,
}

/// One reading of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Gap [m]; a lower bound while the bounding balls are apart.
    pub gap: f64,
    /// Unit normal from 1 to 2.
    pub normal: Vec3,
    /// Contact point [m].
    pub point: Vec3,
    /// Closing speed [m/s]; only where the gap is not positive or was asked for.
    pub closing_speed: f64,
    /// Tangential velocity of 2 relative to 1 [m/s].
    pub v_t: Vec3,
    /// Angular velocity of 2 relative to 1 [rad/s].
    pub omega: Vec3,
    /// Effective radius [m].
    pub radius: f64,
    /// Radius of the disc with the area of a flat patch [m]; zero for point contacts.
    pub patch_radius: f64,
    /// Mean distance of a flat patch from its middle [m].
    pub lever: f64,
    /// Mean depth of a flat patch [m].
    pub mean_depth: f64,
    /// Power lost to the damping of rocking on a flat patch [W].
    pub rocking: f64,
    /// Normal force, split; what adheres is in the elastic part.
    pub force: NormalForce,
    /// Pull by adhesion that is in it [N].
    pub pull: f64,
    /// Torque on body 2 because it pulls in the middle of the area, and not where the patch presses [N m].
    pub pull_torque: Vec3,
    /// Friction.
    pub friction: Friction,
    /// Springs that go on with the friction of surfaces that slide.
    pub stick: Springs,
    /// Force on body 2 [N].
    pub total: Vec3,
    /// Torques about the centres of mass of bodies 1 and 2 [N m].
    pub torques: [Vec3; 2],
    /// Regions of the overlap, where the law jumps with their number.
    pub regions: RegionCount,
    /// Surfaces are so deep in each other that part of the contact pulls them deeper.
    pub beyond: bool,
}

/// A candidate pair.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Its two elements.
    pub id: (u32, u32),
    /// Its two bodies, as indices in the island's list of kinematics.
    pub sides: [usize; 2],
    /// Owner of its part of the ledger: the node of its first free body.
    pub node: usize,
    /// First of its spring states in the island's vector.
    pub springs: Option<usize>,
    /// Length that matters to it [m]: the error of its bodies is measured against it.
    pub scale: f64,
    /// Gap beyond which it leaves the contact set [m].
    pub hysteresis: f64,
    /// What it remembers.
    pub memory: Memory,
    /// What was read off it at the last evaluation of the right-hand side.
    pub last: Reading,
    /// What the solids of a patch shared where it was last read.
    shared: Option<([Pose; 2], Option<Moments>)>,
    /// Fewest and most regions that evaluations of the attempted step found in its overlap.
    pub regions_seen: [u32; 2],
    /// Whether any reading of the attempted step had it touch.
    pub dipped: bool,
    /// Geometry, laws and their constants.
    pub laws: PairLaws,
}

impl Pair {
    /// The pair of two elements that [`Model::contact_between`] lets touch. `sides` and `node` are indices of the island.
    pub fn new(model: &Model, id: (u32, u32), sides: [usize; 2], node: usize) -> Option<Pair> {
        let laws = PairLaws::of(model, id)?;
        Some(Pair {
            id,
            sides,
            node,
            springs: None,
            scale: laws.scale,
            hysteresis: HYSTERESIS * laws.scale,
            memory: Memory::default(),
            last: Reading { gap: f64::INFINITY, ..Reading::default() },
            shared: None,
            regions_seen: [0; 2],
            dipped: false,
            laws,
        })
    }

    /// Duration of an elastic impact at this speed [s] (Hertz 1882: 3.218 L/v, L = (m v^2/K)^(2/5); for exponent 1 the half period).
    pub fn contact_time(&self, speed: f64) -> f64 {
        let n = self.laws.exponent;
        let v = speed.max(1e-3 * SCALE_SPEED);
        let length = libm::pow(self.laws.normal.mass * v * v / self.laws.stiffness, 1.0 / (n + 1.0));
        3.2 * length / v
    }

    /// True when a touch must stop the step: the force or its memory depends on what happens there.
    pub fn stops_at_touch(&self) -> bool {
        self.laws.law.needs_touch_speed() || self.jumps_at_touch() || self.has_memory() || self.springs.is_some()
    }

    /// True when the force or its slope jumps where the gap vanishes; a flat face lands all at once.
    pub fn jumps_at_touch(&self) -> bool {
        self.is_patch() || self.laws.adheres() || self.laws.law.jumps_at_touch()
    }

    /// True when a surface of triangles touches.
    pub fn is_surface(&self) -> bool {
        matches!(self.laws.geometry, PairGeometry::Surfaces(_))
    }

    /// True when one reading of it is work for several threads.
    pub fn is_heavy(&self) -> bool {
        matches!(&self.laws.geometry, PairGeometry::Surfaces(surfaces) if surfaces.is_heavy())
    }

    /// True when the force is continuous where the gap vanishes and where its memory changes, whatever its slope.
    pub fn lands_softly(&self) -> bool {
        self.is_patch()
            && !self.laws.adheres()
            && self.springs.is_none()
            && !self.laws.law.needs_touch_speed()
            && !self.laws.law.jumps_at_touch()
    }

    /// Normal force of the last reading if the impact that goes on had this largest closing speed [N]; of laws with memory.
    pub fn force_remembering(&self, impact_speed: f64) -> f64 {
        let Reading { force, pull, closing_speed, .. } = self.last;
        let d = self.laws.normal.damping(impact_speed.max(closing_speed));
        ((force.elastic + pull) * (1.0 + d * closing_speed)).max(0.0) - pull
    }

    /// True when the two touch over an area.
    pub fn is_patch(&self) -> bool {
        matches!(self.laws.geometry, PairGeometry::Patch(_) | PairGeometry::Surfaces(_))
    }

    /// True when a displacement in any direction changes its force at once: surfaces face everywhere, and a patch that sticks is held along it.
    pub fn holds_all_ways(&self) -> bool {
        self.is_patch() && (self.springs.is_some() || matches!(self.laws.geometry, PairGeometry::Surfaces(_)))
    }

    /// Half the mean extent of the smaller of two solids that touch over an area, as far as a patch reaches from its middle; zero for a
    /// point [m].
    pub fn half_extent(&self) -> f64 {
        match &self.laws.geometry {
            PairGeometry::Patch(patch) => patch.size,
            _ => 0.0,
        }
    }

    /// How far what touches over an area reaches: coordinates of its depths are not larger [m].
    pub fn reach(&self) -> f64 {
        match &self.laws.geometry {
            PairGeometry::Surfaces(surfaces) => surfaces.reach(),
            _ => self.half_extent(),
        }
    }

    /// True when the damping refers to the impact that goes on; that of surfaces is hysteresis.
    pub fn has_memory(&self) -> bool {
        self.laws.law.has_memory() && !matches!(self.laws.geometry, PairGeometry::Surfaces(_))
    }

    /// Springs that go on with the friction of the last reading when slip (or rolling) ends.
    pub fn springs_at_stick(&self, old: &Springs, slip_ends: bool) -> Springs {
        match &self.laws.geometry {
            PairGeometry::Surfaces(_) => self.last.stick,
            _ => {
                let input = self.friction_input(&self.last);
                springs_at_stick(&self.laws.friction, &input, &self.last.friction, old, slip_ends)
            }
        }
    }

    /// Energy of springs, tangential and rolling, where the last reading was [J]; none of those of surfaces, whose account of sliding is what friction takes less what they
    /// hold.
    pub fn spring_energies(&self, springs: &Springs) -> (f64, f64) {
        match &self.laws.geometry {
            PairGeometry::Surfaces(_) => (0.0, 0.0),
            _ => {
                spring_energies(&self.laws.friction_law, &self.laws.friction, &self.friction_input(&self.last), springs)
            }
        }
    }

    /// True when the account of sliding has all that friction takes, what its springs hold too: those of surfaces come and go with the points under load.
    pub fn books_what_friction_takes(&self) -> bool {
        matches!(self.laws.geometry, PairGeometry::Surfaces(_))
    }

    /// True when the stiffness does not change with the place of contact.
    pub fn has_closed_energy(&self) -> bool {
        match (&self.laws.geometry, &self.laws.law) {
            (PairGeometry::Patch(patch), NormalLaw::Foundation { .. }) => patch.energy_is_closed(),
            (PairGeometry::Patch(_) | PairGeometry::Surfaces(_), _) => false,
            _ => self.laws.radius.is_some(),
        }
    }

    /// True when nothing is lost in this pair and its energy has a closed form.
    pub fn is_conservative(&self) -> bool {
        !self.laws.adheres()
            && self.laws.law.is_conservative()
            && self.laws.friction_law == FrictionLaw::None
            && self.has_closed_energy()
    }

    /// Sum of the radii [m] and Hertz stiffness [N/m^1.5] of two centred balls that lose nothing.
    pub fn elastic_balls(&self) -> Option<(f64, f64)> {
        match (&self.laws.geometry, &self.laws.law) {
            (PairGeometry::Spheres { r1, r2, .. }, NormalLaw::Hertz { restitution, .. })
                if *restitution >= 1.0
                    && !self.laws.adheres()
                    && self.laws.friction_law == FrictionLaw::None
                    && self.laws.central == [true; 2] =>
            {
                Some((*r1 + *r2, self.laws.stiffness))
            }
            _ => None,
        }
    }

    /// True when the law's own energy is exact: it has one, and the stiffness does not change with the place of contact.
    pub fn energy_is_closed(&self, reading: &Reading) -> bool {
        self.has_closed_energy() && !reading.force.energy.is_nan()
    }

    /// Elastic energy of a pair that starts in contact and whose energy is integrated from then on [J]: the law's own, or the work of pulling both
    /// straight apart,
    ///   U = integral of F n.n_0 ds until they part, by Simpson's rule.
    pub fn energy_at_start(&self, model: &Model, kinematics: &[Kinematics], reading: &Reading) -> f64 {
        if reading.gap >= 0.0 || self.energy_is_closed(reading) {
            return 0.0;
        }
        if !reading.force.energy.is_nan() {
            return reading.force.energy;
        }
        // the depth of surfaces is that of their deepest point: they may touch somewhat longer
        const PARTS: u32 = 64;
        const MOST: u32 = 1024;
        let h = -reading.gap / f64::from(PARTS);
        let mut apart = kinematics.to_vec();
        let mut sum = reading.force.elastic;
        for part in 1..MOST {
            apart[self.sides[1]].p = kinematics[self.sides[1]].p + reading.normal * (h * f64::from(part));
            let there = self.read(model, &apart, &Springs::default(), true);
            if there.gap >= 0.0 || there.force.elastic + there.pull <= 0.0 {
                break;
            }
            sum += f64::from(2 + 2 * (part % 2)) * there.force.elastic * there.normal.dot(reading.normal);
        }
        sum * h / 3.0
    }

    /// Powers of a reading that touches [W], in the order of the accounts from damping to elastic; the last is zero where the energy is closed.
    pub fn powers(&self, reading: &Reading) -> [f64; POWERS] {
        let adhering = reading.pull_torque.dot(reading.omega);
        let elastic = match self.energy_is_closed(reading) {
            true => 0.0,
            false => reading.force.elastic * reading.closing_speed - adhering,
        };
        [
            reading.force.damping * reading.closing_speed + reading.rocking,
            reading.friction.sliding,
            reading.friction.spin,
            reading.friction.rolling,
            elastic,
        ]
    }
}
