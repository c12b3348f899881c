//! Where a tyre touches the road, how it moves over it, and what that does. With a the wheel's axle, n the road's normal, p the wheel's
//! centre over a point of the road at height H = (p - p0).n:
//!   x = a x n/|a x n|,   y = n x x,   d = down in the wheel's plane,   sin(gamma) = a.n,
//!   deflection delta = R0 cos(gamma) - H at P = p + R0 d;   F_z = k delta + c delta', 0 or more.
//! Slip speeds are those of the wheel's points over the road: along, at p + Re d; across, at P. Forces act at these points, so that what
//! they do to the bodies is what slip takes.

use super::RoadTyre;
use super::bristle::Bristle;
use crate::kinematics::Kinematics;
use crate::tyre::{Answer, Slip};
use libm::{asin, atan, hypot, sqrt};
use tippe_geometry::Vec3;

/// A wheel that lies flatter than this does not roll: |cos(gamma)| [-].
const FLAT: f64 = 0.2;
/// Slips are taken as this large at most: everything slides there [-].
const MOST_SLIP: f64 = 3.0;
/// Where slip itself counts, and not the deflection it leaves, the speed is taken as this at least [m/s].
const LEAST_SPEED: f64 = 0.1;
/// Where shifts of a curve leave no force, the tread is taken to hold this share of what it would without them [-].
const LEAST_SHARE: f64 = 0.3;
/// Deflections go back within this time in the air [s].
pub const IN_THE_AIR: f64 = 0.02;
/// A tyre that resists rolling has turned this far along the road before it does so in full [m].
const ROLLED: f64 = 0.005;

/// A tyre over the road.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// x, y, n, resolved in world.
    pub axes: [Vec3; 3],
    /// The axle, resolved in world.
    pub axle: Vec3,
    /// Where forces along x, along y, and along n act, resolved in world [m].
    pub at: [Vec3; 3],
    /// delta [m]; below zero in the air.
    pub depth: f64,
    /// delta' [m/s].
    pub rate: f64,
    /// Speed at which the patch comes nearer to the road, which is delta' on a plane [m/s].
    pub closing: f64,
    /// gamma [rad].
    pub camber: f64,
    /// Re [m].
    pub radius: f64,
    /// v_x [m/s].
    pub speed: f64,
    /// Angular velocity over the road about n, without what the spin of a leaning wheel has of it [rad/s].
    pub yaw: f64,
    /// s along and across, and of rolling: -Omega Re [m/s].
    pub slips: [f64; 3],
}

/// Velocity of the first body's point over the second's.
fn over([wheel, road]: [&Kinematics; 2], at: Vec3) -> Vec3 {
    wheel.v + wheel.w.cross(at - wheel.p) - road.v - road.w.cross(at - road.p)
}

impl Touch {
    /// Of a wheel over a road: the plane of its frame, whose z axis is its normal, or its shapes.
    pub fn of(own: &RoadTyre, frames: &[Kinematics]) -> Option<Touch> {
        let ends = [&frames[0], &frames[1]];
        let [wheel, road] = ends;
        let axle = wheel.R.y_axis;
        let under = if own.road.is_empty() { None } else { Some(own.envelops(ends)?) };
        let n = under.map_or(road.R.z_axis, |(under, _)| under.normal);
        let lean = axle.dot(n);
        let upright = sqrt((1.0 - lean * lean).max(0.0));
        let height = match under {
            Some((under, _)) => own.tyre.carcass.radius * upright - under.depth,
            None => (wheel.p - road.p).dot(n),
        };
        if upright < FLAT || height <= 0.0 {
            return None;
        }
        let x = axle.cross(n) / upright;
        let (y, down) = (n.cross(x), (n - axle * lean) / -upright);
        let carcass = &own.tyre.carcass;
        let depth = carcass.radius * upright - height;
        let radius = carcass.rolling_radius(depth);
        let (low, rolls) = (wheel.p + down * carcass.radius, wheel.p + down * radius);
        let spin = (wheel.w - road.w).dot(axle);
        let along = -over(ends, rolls).dot(x);
        Some(Touch {
            axes: [x, y, n],
            axle,
            at: [rolls, low, low],
            depth,
            rate: under.map_or(-over(ends, low).dot(n), |(_, rate)| rate),
            closing: -over(ends, low).dot(n),
            camber: asin(lean.clamp(-1.0, 1.0)),
            radius,
            speed: spin * radius - along,
            yaw: ((wheel.w - road.w).dot(n) - spin * lean) / (upright * upright),
            slips: [along, -over(ends, low).dot(y), -spin * radius],
        })
    }

    /// F_z [N].
    pub fn load(&self, own: &RoadTyre) -> f64 {
        let carcass = &own.tyre.carcass;
        if self.depth > 0.0 { (carcass.stiffness * self.depth + carcass.damping * self.rate).max(0.0) } else { 0.0 }
    }

    /// What a fixed step adds to s along and across: its rows see the velocity at its end along axes of its beginning, but the wheel and
    /// its axes turn by h omega on the way, omega that about n.
    pub fn turned(&self, h: f64) -> [f64; 2] {
        let turn = h * self.yaw;
        [turn * self.slips[1], turn * self.speed]
    }

    /// The slip, the speed taken as `least` at least.
    pub fn slip(&self, own: &RoadTyre, load: f64, least: f64) -> Slip {
        let (speed, [along, across, _]) = (self.speed.abs(), self.slips);
        let size = hypot(along, across);
        let floor = speed.max(least).max(size / MOST_SLIP);
        let [kappa, side] = if floor > 0.0 { [along / floor, -across / floor] } else { [0.0; 2] };
        Slip { kappa, alpha: atan(side), camber: self.camber, load, speed, grip: own.grip }
    }

    /// The slip where it counts itself, and what it would do if it were steady.
    pub fn settled(&self, own: &RoadTyre, load: f64) -> (Slip, Answer) {
        let slip = self.slip(own, load, LEAST_SPEED);
        (slip, own.tyre.answer(&slip))
    }

    /// How forces along and across and the resistance to rolling follow the slip under a load.
    pub fn bristles(&self, own: &RoadTyre, load: f64, settled: &Answer) -> [Bristle; 3] {
        if load <= 0.0 {
            return self.slips.map(|slip| Bristle::free(IN_THE_AIR, slip));
        }
        let slip = self.slip(own, load, 0.0);
        let (speed, slopes) = (slip.speed, own.tyre.slopes(&slip));
        let steady = if speed >= LEAST_SPEED { settled.force } else { own.tyre.answer(&slip).force };
        let pull = hypot(slopes.slip[0] * self.slips[0], slopes.slip[1] * self.slips[1]);
        let most = slopes.most[0].max(slopes.most[1]);
        let alone = if speed * most > pull { pull / speed } else { most };
        let held = hypot(steady[0], steady[1]).max(LEAST_SHARE * alone);
        let slides = if held > 0.0 { speed.max(pull / held) } else { speed };
        let along = |axis: usize| {
            let (K, sigma, s) = (slopes.slip[axis], slopes.relaxation[axis], self.slips[axis]);
            if K <= 0.0 {
                return Bristle::free(IN_THE_AIR, s);
            }
            let stiffness = K / sigma;
            Bristle {
                stiffness,
                damping: stiffness * own.settling,
                rate: slides / sigma,
                offset: slides * steady[axis] / K - s,
                most: slopes.most[axis].max(steady[axis].abs()),
            }
        };
        let resists = settled.rolling / self.radius;
        let stiffness = resists / ROLLED;
        let rolling = Bristle {
            stiffness,
            damping: stiffness * own.settling,
            rate: self.slips[2].abs() / ROLLED,
            offset: 0.0,
            most: resists,
        };
        [along(0), along(1), rolling]
    }
}
