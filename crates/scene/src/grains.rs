//! Grains of a scene: of what, how large, where, how they touch.

use super::{Places, Scene};
use tippe_geometry::{Quat, Vec3};
use tippe_granular::{
    ClumpMass, ClumpSphere, Cohesion, Domain, Grain, GrainError, Grains, Random, Rolling, Sizes, Solid, lattice,
    random_sequential,
};

/// A scene has at most this many grains.
pub const MOST_GRAINS: usize = 20_000_000;

/// A random packing looks for neighbours in at most this many cells.
const MOST_CELLS: f64 = 5e7;

/// A set of grains of one material.
#[derive(Clone, Debug, PartialEq)]
pub struct GrainsSpec {
    /// Name, unique in the scene.
    pub name: String,
    /// Material: density, Young's modulus, Poisson's ratio.
    pub material: String,
    /// Where they are.
    pub packing: Packing,
    /// What stands at each place: a ball if missing.
    pub clump: Option<ClumpSpec>,
    /// Velocity at the start, on top of what a packing gives each, resolved in world [m/s].
    pub velocity: Vec3,
    /// Angular velocity at the start, likewise [rad/s].
    pub angular_velocity: Vec3,
    /// They never move, whatever pushes.
    pub frozen: bool,
    /// Restitution of a central impact [-]; that of `[contact]` if missing.
    pub restitution: Option<f64>,
    /// Sliding friction [-]; that of `[contact]` if missing.
    pub friction: Option<f64>,
    /// Rolling friction.
    pub rolling: Rolling,
    /// Cohesion.
    pub cohesion: Cohesion,
    /// Where things were written.
    pub places: Places,
}

/// A rigid clump of spheres, or a polyhedron. A packing places the spheres about the centres of mass that hold them; each has the size of its
/// own.
#[derive(Clone, Debug, PartialEq)]
pub struct ClumpSpec {
    /// What it is, in a frame of its own.
    pub form: ClumpForm,
    /// Start of the random numbers that turn clumps; without it all stand as given.
    pub seed: Option<u64>,
}

/// Form of a grain that is no ball.
#[derive(Clone, Debug, PartialEq)]
pub enum ClumpForm {
    /// Its spheres.
    Spheres(Vec<ClumpSphere>),
    /// Corners of a convex polyhedron [m].
    Hull(Vec<Vec3>),
}

impl ClumpSpec {
    /// Radius of the sphere about the centre of mass that holds it [m].
    pub fn reach(&self) -> f64 {
        match &self.form {
            ClumpForm::Spheres(spheres) => ClumpMass::of_spheres(spheres, 1.0).reach(spheres),
            // what has been read has a hull
            ClumpForm::Hull(corners) => Solid::new(corners, 1.0).map_or(f64::NAN, |solid| solid.radius),
        }
    }

    /// Number of spheres that lists know of it.
    pub fn spheres(&self) -> usize {
        match &self.form {
            ClumpForm::Spheres(spheres) => spheres.len(),
            ClumpForm::Hull(_) => 1,
        }
    }
}

/// A box in which grains vanish.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkSpec {
    /// Name of its signals, unique in the scene.
    pub name: String,
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Time over which its flow is averaged [s].
    pub smoothing: f64,
    /// Where things were written.
    pub places: Places,
}

/// A box in which grains are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSpec {
    /// Name of its signals, unique in the scene.
    pub name: String,
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Where things were written.
    pub places: Places,
}

/// A body that moves along an axis so that grains press on it as told (docs/theory/grains.md, eq. 25).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Servo {
    /// Direction in which it presses, resolved in world, length 1 [-].
    pub axis: Vec3,
    /// Force with which it presses [N].
    pub force: f64,
    /// Speed while nothing presses against it, and its limit [m/s].
    pub speed: f64,
}

/// Corners of a box about the place to which its middle is moved; it is not turned [m].
pub(super) fn moved_box(low: Vec3, high: Vec3, position: Vec3, orientation: Quat) -> (Vec3, Vec3) {
    let half = 0.5 * (high - low);
    let middle = position + orientation * (low + half);
    (middle - half, middle + half)
}

/// Where grains are.
#[derive(Clone, Debug, PartialEq)]
pub enum Packing {
    /// On a cubic lattice in a box, layer by layer from below.
    Lattice {
        /// The box and what is in it.
        region: Region,
        /// Largest displacement, as a share of the room between neighbours [-].
        jitter: f64,
    },
    /// At random in a box without overlap, up to about 0.3 of its volume.
    Random(Region),
    /// One by one.
    Listed(Vec<Grain>),
    /// None at the start; they appear at random in a box.
    Emitter {
        /// The box and what appears in it.
        region: Region,
        /// Mass flow [kg/s].
        rate: f64,
    },
    /// None at the start; what tools cut from `[[soil]]` becomes grains, and those at rest on it become soil again.
    Soil {
        /// Soil they stand for.
        soil: String,
        /// Radius of all [m].
        radius: f64,
    },
}

/// A box with grains.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Sizes.
    pub sizes: Sizes,
    /// How many [-]; as many as there is room for if missing.
    pub count: Option<usize>,
    /// Start of the random numbers.
    pub seed: u64,
}

/// How grains are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GrainMethod {
    /// Forces of contacts by explicit steps.
    #[default]
    Force,
    /// Positions are corrected where grains overlap, in steps that are long: for real time.
    Position {
        /// Stiffness of contacts [N/m]; Young's modulus times the largest radius if missing.
        stiffness: Option<f64>,
    },
}

/// How the granular clock runs a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Granular {
    /// How grains are moved.
    pub method: GrainMethod,
    /// Step [s]; a fifth of the shortest Rayleigh time if missing, 1/240 s where positions are corrected.
    pub step: Option<f64>,
    /// Whether losses are booked by cause; up to 20,000 grains if missing.
    pub books: Option<bool>,
    /// Time between snapshots of all grains [s]; if missing a tenth of the run, down to a sixtieth where grains are few.
    pub snapshot_interval: Option<f64>,
    /// Extent of the grains' world.
    pub domain: Option<Domain>,
    /// Memory that grains may take [bytes]; what the machine has to give if missing.
    pub memory: Option<f64>,
    /// Where things were written.
    pub places: Places,
}

impl Scene {
    /// An error where the grains of the scene would take more memory than they may. Nothing is allocated.
    pub fn check_memory(&self) -> Result<(), GrainError> {
        let spheres = |set: &GrainsSpec| set.asked() * set.clump.as_ref().map_or(1.0, |clump| clump.spheres() as f64);
        Grains::check_memory(self.grains.iter().map(spheres).sum::<f64>() as usize, self.memory_of_grains())
    }

    /// Memory that grains may take: what the scene says, or what the machine can give [bytes].
    pub fn memory_of_grains(&self) -> usize {
        let asked = self.granular.memory.map(|bytes| bytes as usize);
        asked.or_else(available_memory).unwrap_or(usize::MAX)
    }
}

/// Memory that the machine can give without swapping, where it says so [bytes].
fn available_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<usize>().ok()?.saturating_mul(1024))
}

impl Region {
    /// More grains than fit, from the volume alone.
    fn bound(&self) -> f64 {
        let n = ((self.high - self.low) / (2.0 * self.sizes.largest())).floor().max(Vec3::ZERO);
        n.x * n.y * n.z
    }
}

impl GrainsSpec {
    /// How many grains the set asks for [-]; where nobody counted, as many as there is room for.
    fn asked(&self) -> f64 {
        match &self.packing {
            Packing::Listed(grains) => grains.len() as f64,
            Packing::Emitter { .. } | Packing::Soil { .. } => 0.0,
            Packing::Lattice { region, .. } | Packing::Random(region) => {
                region.count.map_or(region.bound(), |count| count as f64)
            }
        }
    }

    /// All grains of the set, or what is wrong with it and what to try. Of clumps, the spheres that hold them.
    pub fn grains(&self) -> Result<Vec<Grain>, (String, &'static str)> {
        let mut grains = match &self.packing {
            Packing::Listed(grains) => grains.clone(),
            Packing::Emitter { .. } | Packing::Soil { .. } => Vec::new(),
            Packing::Lattice { region, .. } | Packing::Random(region) => {
                region.sizes.validate().map_err(|error| (error.to_string(), ""))?;
                let asked = self.asked();
                if asked.is_nan() || asked > MOST_GRAINS as f64 {
                    let message = format!("{asked} grains are more than {MOST_GRAINS}");
                    return Err((message, "a smaller `count`, a smaller box or larger grains"));
                }
                if matches!(self.packing, Packing::Random(_))
                    && (region.bound().is_nan() || region.bound() > MOST_CELLS)
                {
                    let message = "its box is more than 50 million times as large as a grain".to_owned();
                    return Err((message, "a smaller box, or larger grains"));
                }
                let mut random = Random { seed: region.seed };
                let grains = match &self.packing {
                    Packing::Lattice { jitter, .. } => {
                        lattice(region.low, region.high, &region.sizes, asked as usize, *jitter, &mut random)
                    }
                    _ => random_sequential(region.low, region.high, &region.sizes, asked as usize, &mut random),
                };
                if grains.len() < region.count.unwrap_or(1) {
                    let message = match region.count {
                        None => "its box has no room for a single grain".to_owned(),
                        Some(count) => format!("its box has room for {} grains, not for {count}", grains.len()),
                    };
                    return Err((message, "a larger box, fewer or smaller grains"));
                }
                grains
            }
        };
        for grain in &mut grains {
            grain.velocity += self.velocity;
            grain.spin += self.angular_velocity;
            grain.frozen = self.frozen;
        }
        Ok(grains)
    }

    /// The set at another place: `position` and `orientation` of the frame it was given in.
    pub(super) fn moved(&mut self, position: Vec3, orientation: Quat) {
        // clumps turned at random are turned as much at random afterwards
        match self.clump.as_mut().map(|clump| &mut clump.form) {
            Some(ClumpForm::Spheres(spheres)) => spheres.iter_mut().for_each(|s| s.position = orientation * s.position),
            Some(ClumpForm::Hull(corners)) => corners.iter_mut().for_each(|p| *p = orientation * *p),
            None => {}
        }
        match &mut self.packing {
            Packing::Lattice { region, .. } | Packing::Random(region) | Packing::Emitter { region, .. }
                if orientation == Quat::IDENTITY =>
            {
                region.low += position;
                region.high += position;
            }
            // a turned emitter keeps its box about the turned middle, and its flow turns
            Packing::Emitter { region, .. } => {
                (region.low, region.high) = moved_box(region.low, region.high, position, orientation);
                self.velocity = orientation * self.velocity;
            }
            Packing::Soil { .. } => {}
            // a turned box is no box: its grains become a list; one that cannot be filled says so when the scene is compiled
            _ => {
                if let Ok(mut grains) = self.grains() {
                    for grain in &mut grains {
                        grain.position = position + orientation * grain.position;
                        grain.velocity = orientation * grain.velocity;
                        grain.spin = orientation * grain.spin;
                        grain.frozen = false;
                    }
                    self.packing = Packing::Listed(grains);
                    (self.velocity, self.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
                }
            }
        }
    }
}
