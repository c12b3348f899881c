//! What two surfaces do to each other at one instant.

use super::motion::relative;
use super::press::{Load, Tally};
use super::{Laws, SurfacePair, with_room};
use crate::contact::friction::{Friction, FrictionLaw, Springs};
use crate::contact::normal::{NormalForce, NormalLaw};
use crate::kinematics::Kinematics;
use tippe_geometry::{Pose, Region, Vec3};

/// A force below this share of the elastic one is none [-].
const PARTING: f64 = 1e-9;
/// How far apart surfaces are matters up to this share of the size [-].
const NEAR: f64 = 0.25;

/// Regions that a law of the overlap acts in, each for itself; none where a foundation carries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionCount {
    /// How many [-].
    pub number: u32,
    /// Volume of the smallest over that of all [-].
    pub least: f64,
}

/// What a reading of two surfaces gives.
pub struct SurfaceReading {
    /// Largest depth [m]; minus the distance where they are apart.
    pub depth: f64,
    /// From 1 to 2: of the resultant, or of the shortest distance.
    pub normal: Vec3,
    /// Centre of pressure, or midpoint [m].
    pub point: Vec3,
    /// Closing speed, mean over the elastic pressure [m/s].
    pub closing_speed: f64,
    /// Power lost to damping beyond mean force times mean speed [W].
    pub rocking: f64,
    /// Sums of the points' forces.
    pub force: NormalForce,
    /// Area [m^2].
    pub area: f64,
    /// Mean depth [m].
    pub mean_depth: f64,
    /// Friction; its force and torque are part of the sums below.
    pub friction: Friction,
    /// Springs that go on with the force of surfaces that slide.
    pub stick: Springs,
    /// Force on body 2 [N].
    pub total: Vec3,
    /// Torques about the centres of mass of bodies 1 and 2 [N m].
    pub torques: [Vec3; 2],
    /// Regions whose merging and splitting the law feels.
    pub regions: RegionCount,
    /// They are so deep in each other that part of the contact pulls them deeper.
    pub beyond: bool,
}

impl SurfaceReading {
    /// That of surfaces without a force between them.
    fn free(depth: f64, normal: Vec3) -> SurfaceReading {
        SurfaceReading {
            depth,
            normal,
            point: Vec3::ZERO,
            closing_speed: 0.0,
            rocking: 0.0,
            force: NormalForce::default(),
            area: 0.0,
            mean_depth: 0.0,
            friction: Friction { slip_margin: -1.0, roll_margin: -1.0, ..Friction::default() },
            stick: Springs::default(),
            total: Vec3::ZERO,
            torques: [Vec3::ZERO; 2],
            regions: RegionCount::default(),
            beyond: false,
        }
    }

    /// Where surfaces without a load are nearest, and how fast they come.
    fn set_nearest(&mut self, normal: Vec3, [p1, p2]: [Vec3; 2], sides: [&Kinematics; 2]) {
        (self.normal, self.point) = (normal, 0.5 * (p1 + p2));
        self.closing_speed = -normal.dot(relative(sides, self.point));
    }

    /// Sums over the points under load; `energy` is elastic [J]. True if they push at all.
    fn set_sums(&mut self, tally: &Tally, loads: &[Load], energy: f64) -> bool {
        let weight: f64 = loads.iter().map(|l| l.weight).sum();
        self.mean_depth = weight / self.area;
        self.force = NormalForce { elastic: tally.elastic, damping: tally.total - tally.elastic, energy };
        self.closing_speed = if tally.elastic > 0.0 { tally.elastic_power / tally.elastic } else { 0.0 };
        self.rocking = tally.damping_power - self.force.damping * self.closing_speed;
        let pressed: f64 = loads.iter().map(|l| l.force).sum();
        // where dampers hold what springs push nothing is left but rounding
        let pushes = pressed > PARTING * tally.elastic;
        let about = |f: &Load| if pushes { f.force / pressed } else { f.weight / weight };
        self.point = loads.iter().map(|l| l.point * about(l)).sum();
        let n = loads.iter().map(|l| l.normal * about(l)).sum::<Vec3>();
        self.normal = n.try_normalize().unwrap_or(loads[0].normal);
        self.total = tally.force;
        self.torques = tally.torques;
        pushes
    }
}

impl SurfacePair {
    /// Forces of the pair with its springs.
    pub fn read(
        &self,
        X_ws: &[Pose; 2],
        sides: [&Kinematics; 2],
        laws: &Laws<'_>,
        springs: &Springs,
        exact: bool,
    ) -> SurfaceReading {
        if let (Some(distance), false) = (self.far(X_ws), exact) {
            let normal = (X_ws[1].position - X_ws[0].position) / distance;
            return SurfaceReading::free(self.bound - distance, normal);
        }
        let mut reading = SurfaceReading::free(0.0, Vec3::Z);
        with_room(|room| {
            let (surfaces, loads) = (&mut room.surfaces, &mut room.loads);
            let sum = self.press_in(X_ws, surfaces);
            if sum.depth <= 0.0 || sum.area <= 0.0 {
                let limit = if exact { f64::INFINITY } else { NEAR * self.size };
                let (gap, n, p1, p2) = self.apart(X_ws, limit);
                reading.depth = -gap;
                reading.set_nearest(n, [p1, p2], sides);
                return;
            }
            reading.depth = sum.depth;
            reading.area = sum.area;
            reading.beyond = self.is_beyond(&sum);
            loads.clear();
            let (tally, energy) = match laws.normal {
                NormalLaw::Foundation { .. } => {
                    let energy = laws.constants.modulus / self.layer() * sum.energy;
                    (self.press(surfaces, sides, laws, sum.energy, loads), energy)
                }
                _ => {
                    reading.regions = count(surfaces.regions());
                    (self.press_regions(surfaces, sides, laws, loads), f64::NAN)
                }
            };
            if loads.is_empty() {
                // edges that only graze each other: area without pressure
                let (_, n, p1, p2) = self.apart(X_ws, f64::INFINITY);
                reading.set_nearest(n, [p1, p2], sides);
                return;
            }
            let pushes = reading.set_sums(&tally, loads, energy);
            if *laws.friction != FrictionLaw::None && pushes {
                self.rub(sides, laws, springs, loads, tally.travel, &mut reading);
            }
        });
        reading
    }
}

fn count(regions: &[Region]) -> RegionCount {
    let volumes = || regions.iter().map(|r| r.volume).filter(|v| *v > 0.0);
    let least = volumes().fold(f64::INFINITY, f64::min) / volumes().sum::<f64>();
    RegionCount { number: volumes().count() as u32, least: if least.is_finite() { least } else { 0.0 } }
}
