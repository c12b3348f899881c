//! What is measured on grains: packing fraction, stress, mass flow, angle of repose. Probes measure boxes.

use crate::chunk::TOUCH;
use crate::law::{V4, each};
use crate::neighbours::PeriodicSizes;
use crate::{Grains, Settings};
use std::f64::consts::PI;
use tippe_geometry::{Mat3, Vec3};

/// A grain farther from the middle than this many diameters is not of the pile.
const RINGS: usize = 4096;

/// A box in which grains are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
}

/// What is measured in a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probed {
    /// Share of the box filled by grains [-].
    pub packing: f64,
    /// Mean number of contacts with grains of the spheres whose centres are inside [-]; not a number where there are none.
    pub coordination: f64,
    /// Mass that moves and has its centre inside [kg].
    pub mass: f64,
    /// Mass flow through sections across x, y and z, averaged over the box [kg/s].
    pub flow: Vec3,
    /// Mean stress, pressure positive [Pa].
    pub stress: Mat3,
}

impl Grains {
    /// Everything that a probe measures; a clump counts as one, at its centre of mass, for mass and flow.
    pub fn probe(&self, probe: &Probe, settings: &Settings) -> Probed {
        let Probe { low, high } = *probe;
        let sizes = PeriodicSizes::new(settings);
        let inside = |p: Vec3| {
            let p = sizes.home(p);
            p.cmpge(low).all() && p.cmplt(high).all()
        };
        let here = self.free_inside(inside);
        let size = high - low;
        Probed {
            packing: self.packing_fraction(probe, &sizes, settings),
            coordination: self.coordination_in(inside),
            mass: here.iter().map(|(m, _)| m).sum(),
            flow: here.iter().map(|(m, v)| *m * *v).sum::<Vec3>() / size,
            stress: (self.contact_stress(probe, &sizes, settings) + motion_stress(&here))
                * (1.0 / size.element_product()),
        }
    }

    fn coordination_in(&self, inside: impl Fn(Vec3) -> bool) -> f64 {
        let among = |place: u32| {
            let p = self.position[place as usize];
            usize::from(inside(Vec3::new(p[0], p[1], p[2])))
        };
        let touching = self.chunks.iter().flat_map(|c| c.own_pairs()).filter(|p| p[1] & TOUCH != 0);
        let ends: usize = touching.map(|p| among(p[0]) + among(p[1] & !TOUCH)).sum();
        ends as f64 / (0..self.len() as u32).map(among).sum::<usize>() as f64
    }

    /// Share of a box filled by grains [-]; a grain counts by the share of its bounding box inside, so that a sum over
    /// boxes that tile space is the volume of all grains. In a periodic world its images count.
    fn packing_fraction(&self, &Probe { low, high }: &Probe, sizes: &PeriodicSizes, settings: &Settings) -> f64 {
        let mut volume = 0.0;
        for (k, p) in self.position.iter().enumerate() {
            let r = p[3];
            let part = |c: usize, x: f64| ((x + r).min(high[c]) - (x - r).max(low[c])).max(0.0) / (2.0 * r);
            let inside = each(|c| match sizes.size[c] {
                L if L > 0.0 => [p[c] - L, p[c], p[c] + L].into_iter().map(|x| part(c, x)).sum(),
                _ => part(c, p[c]),
            });
            let own = match self.solid(k) {
                Some(solid) => solid.mass / settings.materials[self.class[k] as usize].density,
                None => 4.0 / 3.0 * PI * r * r * r,
            };
            volume += own * inside[0] * inside[1] * inside[2];
        }
        volume / (high - low).element_product()
    }

    /// What contacts add to the mean stress in a box, pressure positive (Love 1927; Christoffersen et al. 1981):
    ///   sigma V = sum of s d f over contacts + sum of m v' v' [J],
    /// d from one centre of mass to the other, s the share of d inside: at rest the stress of a layer is the weight above it.
    /// Contacts with walls do not count.
    fn contact_stress(&self, &Probe { low, high }: &Probe, sizes: &PeriodicSizes, settings: &Settings) -> Mat3 {
        let table = settings.coefficients();
        let mut sum = Mat3::ZERO;
        let point = |p: V4| Vec3::new(p[0], p[1], p[2]);
        let centre = |k: usize| self.clump_of(k).map_or(point(self.position[k]), |c| self.clumps[c].X_wc.position);
        for chunk in &self.chunks {
            for (slot, pair) in chunk.own_pairs().iter().enumerate().filter(|(_, p)| p[1] & TOUCH != 0) {
                let (i, j) = (pair[0] as usize, (pair[1] & !TOUCH) as usize);
                let (p, q) = (self.position[i], self.position[j]);
                let shortest = |way: Vec3| Vec3::from_array(sizes.shortest(way.to_array()));
                let d3 = shortest(point(q) - point(p));
                let branch = d3 + shortest(centre(j) - point(q)) - shortest(centre(i) - point(p));
                let share = share_inside(centre(i), branch, low, high, &sizes.size);
                if share == 0.0 {
                    continue;
                }
                // elastic forces at the present positions: springs of the last step, Hertz or JKR from the depth
                let dist = d3.length();
                let depth = p[3] + q[3] - dist;
                let radius = p[3] * q[3] / (p[3] + q[3]);
                let c = &table[self.class[i] as usize * settings.materials.len() + self.class[j] as usize];
                let normal = crate::law::full::elastic_force(c, depth, radius);
                let m = chunk.memory.get(slot).copied().unwrap_or_default();
                let f = match self.solid(i).or(self.solid(j)) {
                    Some(_) => crate::solid::last_force(&chunk.extra[slot]),
                    None => d3 / dist * normal + Vec3::new(m[0], m[1], m[2]),
                };
                sum += outer(branch, f) * share;
            }
        }
        sum
    }

    /// Mass [kg] and velocity [m/s] of all that moves and has its centre inside, a clump as one.
    fn free_inside(&self, inside: impl Fn(Vec3) -> bool) -> Vec<(f64, Vec3)> {
        let single = (0..self.len()).filter(|k| !self.in_clump(*k) && self.motion[*k].linear[3] > 0.0);
        let single = single.map(|k| (self.grain(k), self.mass(k)));
        let clumps = self.clumps.iter().filter(|c| !c.ids.is_empty() && inside(c.X_wc.position));
        let single = single.filter(|(g, _)| inside(g.position)).map(|(g, mass)| (mass, g.velocity));
        single.chain(clumps.map(|c| (c.mass, c.velocity))).collect()
    }

    /// Angle of repose of a pile of one class, or of all, on the plane z = 0, with gravity along -z.
    ///
    /// In each of `sectors` around the middle of the pile the surface is the top of the highest grain in rings of one mean
    /// diameter; a line is fitted where it is between 20 and 80 % of the height of the peak. None when no sector has
    /// four such rings.
    pub fn angle_of_repose(&self, class: Option<u8>, sectors: usize) -> Option<Repose> {
        let of_it = |k: usize| class.is_none_or(|class| self.class[k] == class);
        let free: Vec<usize> = (0..self.len()).filter(|k| self.motion[*k].linear[3] > 0.0 && of_it(*k)).collect();
        let median = |axis: usize| {
            let mut x: Vec<f64> = free.iter().map(|k| self.position[*k][axis]).collect();
            x.sort_by(f64::total_cmp);
            x.get(x.len() / 2).copied()
        };
        let (cx, cy) = (median(0)?, median(1)?);
        let d = 2.0 * free.iter().map(|k| self.position[*k][3]).sum::<f64>() / free.len() as f64;
        let mut peak = 0.0f64;
        let mut far: Vec<f64> = Vec::with_capacity(free.len());
        let mut tops = vec![Vec::<Option<f64>>::new(); sectors.max(1)];
        for k in free {
            let p = self.position[k];
            let (x, y, top) = (p[0] - cx, p[1] - cy, p[2] + p[3]);
            let rho = libm::hypot(x, y);
            let turn = (libm::atan2(y, x) + PI) / (2.0 * PI);
            let sector = ((turn * sectors as f64) as usize).min(sectors.max(1) - 1);
            let ring = (rho / d) as usize;
            if ring >= RINGS {
                continue;
            }
            let rings = &mut tops[sector];
            rings.resize(rings.len().max(ring + 1), None);
            rings[ring] = Some(rings[ring].map_or(top, |t: f64| t.max(top)));
            peak = peak.max(top);
            far.push(rho);
        }
        let mut angles = Vec::new();
        for rings in &tops {
            let points: Vec<(f64, f64)> = rings
                .iter()
                .enumerate()
                .filter_map(|(k, top)| top.map(|t| ((k as f64 + 0.5) * d, t)))
                .filter(|p| p.1 > 0.2 * peak && p.1 < 0.8 * peak)
                .collect();
            if points.len() >= 4 {
                let n = points.len() as f64;
                let (mx, my) =
                    (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
                let sxy = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>();
                let sxx = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>();
                angles.push(libm::atan(-sxy / sxx));
            }
        }
        if angles.is_empty() {
            return None;
        }
        let n = angles.len() as f64;
        let mean = angles.iter().sum::<f64>() / n;
        let spread = (angles.iter().map(|a| (a - mean) * (a - mean)).sum::<f64>() / n).sqrt();
        far.sort_by(f64::total_cmp);
        let quantile = |share: f64| far[((far.len() - 1) as f64 * share) as usize];
        Some(Repose { angle: mean, spread, peak, half: quantile(0.5), most: quantile(0.95) })
    }
}

/// What motion adds to the stress, from masses [kg] and velocities [m/s]: v' is that relative to the mean [J].
fn motion_stress(here: &[(f64, Vec3)]) -> Mat3 {
    let mass: f64 = here.iter().map(|(m, _)| m).sum();
    let mean = here.iter().map(|(m, v)| *v * *m).sum::<Vec3>() / mass.max(f64::MIN_POSITIVE);
    here.iter().fold(Mat3::ZERO, |sum, (m, v)| sum + outer(*v - mean, *v - mean) * *m)
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Share of the way d from p that is in a box or, along axes with a period above zero, in its images next to it [-].
fn share_inside(p: Vec3, d: Vec3, low: Vec3, high: Vec3, periods: &[f64; 3]) -> f64 {
    let [nx, ny, nz] = periods.map(|L| if L > 0.0 { 1i32 } else { 0 });
    let mut share = 0.0;
    for (x, y, z) in (-nx..=nx).flat_map(|x| (-ny..=ny).flat_map(move |y| (-nz..=nz).map(move |z| (x, y, z)))) {
        let p = p + Vec3::new(f64::from(x), f64::from(y), f64::from(z)) * Vec3::from_array(*periods);
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for c in 0..3 {
            if d[c] == 0.0 {
                if p[c] < low[c] || p[c] >= high[c] {
                    to = 0.0;
                }
                continue;
            }
            let ends = [(low[c] - p[c]) / d[c], (high[c] - p[c]) / d[c]];
            from = from.max(ends[0].min(ends[1]));
            to = to.min(ends[0].max(ends[1]));
        }
        share += (to - from).max(0.0);
    }
    share
}

/// A pile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repose {
    /// Mean slope over the sectors [rad].
    pub angle: f64,
    /// Its deviation over the sectors [rad].
    pub spread: f64,
    /// Height of the highest grain's top [m].
    pub peak: f64,
    /// Radius that holds half of the grains [m].
    pub half: f64,
    /// Radius that holds 95 % of them [m].
    pub most: f64,
}
