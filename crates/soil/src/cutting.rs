//! The force it takes to push a blade through soil: a wedge slides up a plane at an angle beta from the tip of the blade (Reece 1965,
//! fundamental equation of earthmoving; McKyes 1985). With rake rho of the blade from the horizontal, depth d, width w = 1:
//!   P sin(rho + delta + beta + phi) = (W + Q) sin(beta + phi) + c L cos(phi) - ca Lb cos(rho + beta + phi) + F cos(phi),
//! W the weight of the wedge, Q the surcharge on it, L and Lb the lengths of plane and blade, F = rho_s v^2 d .. the force that sets it in
//! motion, as   gamma/g v^2 d Na,  Na = (tan beta + cot(beta + phi))/(D (1 + tan beta cot rho)),  D = cos(rho+delta) + sin(rho+delta) cot(beta+phi);
//! beta is the angle of least P. On flat ground this is  P = gamma d^2 Ng + c d Nc + ca d Nca + q d Nq.
//!   H = P sin(rho + delta) + ca d cot(rho),   V = P cos(rho + delta) - ca d, positive where the soil presses the tool down.

use libm::{cos, fabs, sin, tan};

/// Soil at a blade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// gamma [N/m^3].
    pub unit_weight: f64,
    /// c [Pa].
    pub cohesion: f64,
    /// phi [rad].
    pub friction: f64,
    /// delta [rad].
    pub tool_friction: f64,
    /// ca [Pa].
    pub adhesion: f64,
    /// rho: angle of the blade from the horizontal ahead of it [rad].
    pub rake: f64,
    /// Pressure on the ground ahead [Pa].
    pub surcharge: f64,
    /// v [m/s].
    pub speed: f64,
    /// g [m/s^2].
    pub gravity: f64,
}

/// What the soil does to a metre of blade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resistance {
    /// beta of the wedge that gives way first [rad].
    pub angle: f64,
    /// P [N/m].
    pub force: f64,
    /// H [N/m].
    pub along: f64,
    /// V [N/m].
    pub down: f64,
}

/// Ground ahead of a blade: heights above its tip at distances from it along the cut, falling nowhere back; before the first and
/// behind the last point it goes on as there.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    /// x [m], z [m] of points, x rising.
    pub points: &'a [[f64; 2]],
    /// Slope before the first and after the last point [-].
    pub ends: [f64; 2],
}

impl Profile<'_> {
    /// Height at a distance [m].
    pub fn at(&self, x: f64) -> f64 {
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        if x <= first[0] {
            return first[1] + self.ends[0] * (x - first[0]);
        }
        for pair in self.points.windows(2) {
            if x <= pair[1][0] {
                let [[x0, z0], [x1, z1]] = [pair[0], pair[1]];
                return z0 + (z1 - z0) * (x - x0) / (x1 - x0);
            }
        }
        last[1] + self.ends[1] * (x - last[0])
    }

    /// Where a line z = x t from the tip leaves the ground on the side of x > 0: x, and the area between ground and line before it;
    /// none where it does not.
    fn wedge(&self, t: f64) -> Option<[f64; 2]> {
        let (mut x0, mut y0, mut area) = (0.0, self.at(0.0), 0.0);
        if y0 <= 0.0 {
            return None;
        }
        let later = self.points.iter().filter(|p| p[0] > 0.0);
        for [x1, z1] in later.copied() {
            let y1 = z1 - t * x1;
            if y1 <= 0.0 {
                let share = y0 / (y0 - y1);
                return Some([x0 + share * (x1 - x0), area + 0.5 * y0 * share * (x1 - x0)]);
            }
            area += 0.5 * (y0 + y1) * (x1 - x0);
            (x0, y0) = (x1, y1);
        }
        let fall = t - self.ends[1];
        (fall > 0.0).then(|| [x0 + y0 / fall, area + 0.5 * y0 * y0 / fall])
    }

    /// Depth at which the blade of rake rho stands in the ground: where its line from the tip meets the surface; depth [m], and the
    /// area between blade, ground and the vertical over the tip [m^2], negative where the blade leans over.
    fn behind(&self, cot: f64) -> [f64; 2] {
        // along the blade x = -z cot; one look is enough where the ground is straight there
        let z0 = self.at(0.0);
        let slope = if cot > 0.0 { self.ends[0] } else { (self.at(1e-3) - z0) / 1e-3 };
        let depth = z0 / (1.0 + slope * cot).max(0.1);
        [depth, 0.5 * z0 * depth * cot]
    }
}

impl Cut {
    /// The least force over all planes; nothing where the tip is not in the ground.
    pub fn resistance(&self, profile: &Profile<'_>) -> Resistance {
        let cot = cos(self.rake) / sin(self.rake);
        let [depth, back] = profile.behind(cot);
        if depth <= 0.0 {
            return Resistance::default();
        }
        let (low, high) = (0.087, std::f64::consts::PI - self.rake - self.tool_friction - self.friction - 0.02);
        let at = |beta: f64| self.force_along(beta, profile, [depth, back]);
        // the first minimum on a coarse line, then by the golden section
        const COARSE: usize = 24;
        let grid = |k: usize| low + (high - low) * k as f64 / COARSE as f64;
        let best = (0..=COARSE).min_by(|&a, &b| at(grid(a)).total_cmp(&at(grid(b)))).unwrap_or(0);
        let (mut a, mut b) = (grid(best.saturating_sub(1)), grid((best + 1).min(COARSE)));
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let (mut x1, mut x2) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        let (mut f1, mut f2) = (at(x1), at(x2));
        while fabs(b - a) > 1e-5 {
            if f1 < f2 {
                (b, x2, f2) = (x2, x1, f1);
                x1 = b - GOLDEN * (b - a);
                f1 = at(x1);
            } else {
                (a, x1, f1) = (x1, x2, f2);
                x2 = a + GOLDEN * (b - a);
                f2 = at(x2);
            }
        }
        let angle = 0.5 * (a + b);
        let force = at(angle);
        if !force.is_finite() {
            return Resistance::default();
        }
        let turned = self.rake + self.tool_friction;
        Resistance {
            angle,
            force,
            along: force * sin(turned) + self.adhesion * depth * cot,
            down: force * cos(turned) - self.adhesion * depth,
        }
    }

    /// P for a plane at beta, by depth along the blade and area behind the tip [N/m]; without end where the wedge has none.
    fn force_along(&self, beta: f64, profile: &Profile<'_>, [depth, back]: [f64; 2]) -> f64 {
        let (phi, delta, rho) = (self.friction, self.tool_friction, self.rake);
        let Some([x, ahead]) = profile.wedge(tan(beta)) else { return f64::INFINITY };
        let below = sin(rho + delta + beta + phi);
        if below <= 1e-3 {
            return f64::INFINITY;
        }
        let weight = self.unit_weight * (ahead + back).max(0.0);
        let plane = x / cos(beta);
        let blade = depth / sin(rho);
        let load = self.surcharge * (x + depth * cos(rho) / sin(rho)).max(0.0);
        let cot = |a: f64| cos(a) / sin(a);
        let D = cos(rho + delta) + sin(rho + delta) * cot(beta + phi);
        let Na = (tan(beta) + cot(beta + phi)) / (D * (1.0 + tan(beta) * cot(rho)));
        let moving = self.unit_weight / self.gravity * self.speed * self.speed * depth * Na.max(0.0);
        ((weight + load) * sin(beta + phi) + self.cohesion * plane * cos(phi)
            - self.adhesion * blade * cos(rho + beta + phi))
            / below
            + moving
    }
}

/// Pressure that an edge needs to be pushed into soil at a depth [Pa]:  q = c Nc + gamma d Nq  (Prandtl 1921, Reissner 1924),
///   Nq = e^(pi tan phi) tan^2(45 deg + phi/2),   Nc = (Nq - 1) cot phi, 2 + pi without friction.
pub fn penetration([c, phi, gamma]: [f64; 3], depth: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_4, PI};
    let t = tan(FRAC_PI_4 + 0.5 * phi);
    let Nq = libm::exp(PI * tan(phi)) * t * t;
    let Nc = if phi > 1e-6 { (Nq - 1.0) / tan(phi) } else { 2.0 + PI };
    c * Nc + gamma * depth.max(0.0) * Nq
}
