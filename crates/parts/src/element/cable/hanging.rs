//! A heavy elastic line at rest between two ends, of parts one behind the other (Irvine 1981, Cable Structures, sections 1.4 and 2.6), and a level bottom
//! that it may lie on (Jonkman 2007, NREL/TP-500-41958, section 2.6).
//!
//! H is the level part of its tension, V_1 and V_2 what its ends carry, w the weight per length of a part at rest, negative where it floats. Along a part
//! the upright part falls from V to U = V - w L, T(s) = sqrt(H^2 + (V - w s)^2), and the line leads on by
//!   x = H L/EA + (H/w) (asinh(V/H) - asinh(U/H)),   z = -L (V + U)/(2 EA) - L (V + U)/(T_V + T_U),   z upwards.
//! These are the slopes of Psi(H, V) = sum of the integrals of T + T^2/(2 EA) over the parts, x = dPsi/dH, z = -dPsi/dV. Psi is convex: the line that
//! ends at r and z is where Psi - H r + V z is least, and Newton's method finds it. What it stores, elastic and by its height, is
//!   E(r, z_1, z_2) = H r + V_1 z_1 + V_2 z_2 - Psi,   dE/dr = H,   dE/dz_1 = V_1,   dE/dz_2 = V_2.
//!
//! Over a bottom an end at height z hangs on V with w z = sqrt(H^2 + V^2) - H + V^2/(2 EA), in closed form with q = sqrt(H^2 + V^2) - H:
//!   q = 2 w z/(b + sqrt(b^2 + 2 w z/EA)),   b = 1 + H/EA,   V^2 = 2 H q + q^2,
//! and L - (V_1 + V_2)/w of the line lies. Its friction mu takes mu w per length from H, towards the anchor, until nothing is left.

use super::Catenary;
use libm::{asinh, hypot, sqrt, tanh};

/// Steps of Newton's method at most.
const NEWTON: usize = 120;
/// An end is met to this share of the length [-].
const EXACT: f64 = 1e-14;
/// What no further step betters is met, if it is met to this share of the length [-].
const CLOSE: f64 = 1e-9;
/// Psi - H r + V z is not asked alone for changes below this share of it [-].
const FINE: f64 = 1e-9;
/// A level pull below this share of the weight is none: the line lies in a heap [-].
const NO_PULL: f64 = 1e-13;
/// Where ends are less than this share of the length apart, level, its level pull falls with that way [-].
const LEAST_SPAN: f64 = 1e-6;

/// A line between two ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Hanging {
    /// Its parts, from its first end; weights may be negative.
    pub parts: Vec<Catenary>,
    /// The bottom it may lie on, only of a line of one part.
    pub bottom: Option<Bottom>,
}

/// A level bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottom {
    /// Its height in the world [m].
    pub height: f64,
    /// mu: friction of what lies on it, towards the anchor [-].
    pub friction: f64,
    /// Which end is the anchor, if there is friction: the other one carries the line.
    pub anchor: usize,
}

/// A line at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtRest {
    /// H at both ends [N].
    pub level: [f64; 2],
    /// V_1, V_2: what its ends carry [N].
    pub carried: [f64; 2],
    /// E: elastic energy and that of its height above the bottom, or the world's origin [J].
    pub stored: f64,
    /// Length on the bottom, at rest [m].
    pub lying: f64,
    /// Height of its lowest point [m].
    pub lowest: f64,
    /// Slopes of H, V_1, V_2 by r, z_1, z_2 [N/m].
    pub stiffness: [[f64; 3]; 3],
    /// Friction takes this times the rate of the tension that it meets [m].
    pub rubbing: f64,
    /// Slopes of its stretch, the integral of T/EA, by r, z_1, z_2 [-].
    pub stretch: [f64; 3],
}

impl AtRest {
    /// T at an end [N].
    pub fn tension(&self, end: usize) -> f64 {
        hypot(self.level[end], self.carried[end])
    }
}

/// How a line is walked along.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// From its last end to its first.
    back: bool,
    /// From which of its parts on, counted so, it lies on the bottom where it would carry less than nothing.
    lies: usize,
}

impl Walk {
    /// From its first end, and nothing lies.
    const FREE: Walk = Walk { back: false, lies: usize::MAX };
}

/// Where a part leads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    /// x and z [m].
    pub(super) place: [f64; 2],
    /// dx/dH, dx/dV = -dz/dH, -dz/dV [m/N].
    slope: [f64; 3],
    /// Psi [J].
    dual: f64,
    /// Slopes by H and V of the integral of T/EA [m/N].
    gives: [f64; 2],
    /// Length on the bottom [m].
    lying: f64,
}

pub(super) fn reach(part: &Catenary, H: f64, V: f64) -> Reach {
    let (L, w, EA) = (part.length, part.weight, part.stiffness);
    let U = V - w * L;
    let (t0, t1) = (hypot(H, V), hypot(H, U));
    let (mean, product) = (0.5 * (V + U), t0 * t1);
    // (V T_U - U T_V)/(w H^2) without the difference of what is nearly the same
    let C = if V * U > 0.0 {
        2.0 * L * mean / (V * t1 + U * t0)
    } else if V == U {
        L / H
    } else {
        (V * t1 - U * t0) / (w * H * H)
    };
    let turn = if V == U { C } else { asinh(w * C) / w };
    let (give, across) = (L / EA, H * H * C / product);
    Reach {
        place: [H * (give + turn), -mean * (give + 2.0 * L / (t0 + t1))],
        slope: [give + turn - across, -2.0 * H * L * mean / ((t0 + t1) * product), give + across],
        dual: L * (0.25 * (t0 + t1) + mean * mean / (t0 + t1))
            + 0.5 * H * H * turn
            + 0.5 * give * (H * H + (V * V + V * U + U * U) / 3.0),
        gives: [H * turn / EA, 2.0 * mean * give / (t0 + t1)],
        lying: 0.0,
    }
}

/// An end that hangs over the bottom.
#[derive(Clone, Copy, Debug, Default)]
struct Hung {
    /// V [N].
    V: f64,
    /// Its slopes by H [-] and by z [N/m].
    V_H: f64,
    V_z: f64,
    /// How far it leads, level [m], and its slopes by H at this V and by V [m/N].
    x: f64,
    x_H: f64,
    x_V: f64,
    /// Psi of what hangs [J].
    dual: f64,
}

fn hung(part: &Catenary, H: f64, z: f64) -> Hung {
    let (w, EA) = (part.weight, part.stiffness);
    if z <= 0.0 {
        return Hung::default();
    }
    let b = 1.0 + H / EA;
    let q = 2.0 * w * z / (b + sqrt(b * b + 2.0 * w * z / EA));
    let T = H + q;
    let V = sqrt(q * (H + T));
    let softer = 1.0 + T / EA;
    let turn = if H > 0.0 { asinh(V / H) } else { 0.0 };
    Hung {
        V,
        V_H: q / (V * softer),
        V_z: w * T / (V * softer),
        x: H / w * turn + H * V / (w * EA),
        x_H: if H > 0.0 { (turn - V / T + V / EA) / w } else { f64::INFINITY },
        x_V: H / w * (1.0 / T + 1.0 / EA),
        dual: (0.5 * (V * T + H * H * turn) + (H * H * V + V * V * V / 3.0) / (2.0 * EA)) / w,
    }
}

/// What lies on the bottom.
#[derive(Clone, Copy, Debug, Default)]
struct Lying {
    /// Its length at rest [m].
    length: f64,
    /// H at the anchor [N].
    H_a: f64,
    /// Its stretch [m], and its slopes by H [m/N] and by its length [-].
    stretch: f64,
    s_H: f64,
    s_l: f64,
    /// Length that friction acts on [m].
    rubbed: f64,
}

fn lying(part: &Catenary, mu: f64, H: f64, length: f64) -> Lying {
    let EA = part.stiffness;
    let m = mu * part.weight;
    if m * length <= 0.0 {
        return Lying { length, H_a: H, stretch: H * length / EA, s_H: length / EA, s_l: H / EA, rubbed: 0.0 };
    }
    let H_a = (H - m * length).max(0.0);
    let rubbed = (H - H_a) / m;
    Lying { length, H_a, stretch: 0.5 * (H + H_a) * rubbed / EA, s_H: rubbed / EA, s_l: H_a / EA, rubbed }
}

impl Hanging {
    /// Length at rest [m].
    pub fn length(&self) -> f64 {
        self.parts.iter().map(|part| part.length).sum()
    }

    /// Weight of the whole [N].
    pub fn weight(&self) -> f64 {
        self.parts.iter().map(|part| part.weight * part.length).sum()
    }

    /// At rest between ends that are this far apart, level, at these heights in the world [m].
    pub fn at_rest(&self, r: f64, heights: [f64; 2]) -> AtRest {
        let least = LEAST_SPAN * self.length();
        let at = r.max(least);
        let mut rest = match self.bottom {
            Some(bottom) if self.parts.len() == 1 => {
                self.on_bottom(bottom, at, heights).unwrap_or_else(|| self.clear_of_bottom(at, heights))
            }
            Some(bottom) => self.of_segments(bottom, at, heights),
            None => self.clear_of_bottom(at, heights),
        };
        if r < least {
            let H = rest.level[0].max(rest.level[1]);
            rest.stored -= 0.5 * H * (least - r) * (least + r) / least;
            rest.stiffness[0] = [H / least, 0.0, 0.0];
            rest.level = rest.level.map(|H| H * (r / least));
        }
        rest
    }

    /// Where it leads.
    fn reach(&self, H: f64, V: f64, walk: Walk) -> Reach {
        let (mut sum, mut V) = (Reach::default(), V);
        let (n, lies) = (self.parts.len(), walk.lies);
        for k in 0..n {
            let part = &self.parts[if walk.back { n - 1 - k } else { k }];
            let (L, w, EA) = (part.length, part.weight, part.stiffness);
            let s = if k < lies || V >= w * L { L } else { (V / w).max(0.0) };
            let mut one = if s > 0.0 { reach(&Catenary { length: s, ..*part }, H, V) } else { Reach::default() };
            let rest = L - s;
            one.place[0] += rest * (1.0 + H / EA);
            one.slope[0] += rest / EA;
            one.dual += rest * (H + H * H / (2.0 * EA));
            one.gives[0] += rest / EA;
            sum.place = [sum.place[0] + one.place[0], sum.place[1] + one.place[1]];
            sum.slope = [0, 1, 2].map(|k| sum.slope[k] + one.slope[k]);
            sum.dual += one.dual;
            sum.gives = [0, 1].map(|k| sum.gives[k] + one.gives[k]);
            sum.lying += rest;
            V = if rest > 0.0 { 0.0 } else { V - w * L };
        }
        sum
    }

    /// H and V of the end it begins at with which it ends at r and z from there.
    fn solve(&self, r: f64, z: f64, walk: Walk) -> [f64; 2] {
        let (L, W) = (self.length(), self.weight());
        let w = self.parts.iter().map(|part| (part.weight * part.length).abs()).sum::<f64>() / L;
        let slack = (L * L - z * z) / (r * r) - 1.0;
        let flat = if slack > 0.0 { sqrt(3.0 * slack).clamp(1e-3, 30.0) } else { 0.2 };
        let [mut H, mut V] = [w * r / (2.0 * flat), 0.5 * (W - w * z / tanh(flat))];
        // a line that lies wherever it would carry less than nothing carries something where it hangs
        let all_lie = walk.lies == 0;
        if all_lie {
            V = V.max(0.5 * w * z.abs());
        }
        let miss = |at: &Reach| [at.place[0] - r, z - at.place[1]];
        let least = |at: &Reach, H: f64, V: f64| at.dual - H * r + V * z;
        let mut at = self.reach(H, V, walk);
        for _ in 0..NEWTON {
            let g = miss(&at);
            let size = hypot(g[0], g[1]);
            if size <= EXACT * L || H < NO_PULL * w * L {
                break;
            }
            let [a, b, c] = at.slope;
            let determinant = a * c - b * b;
            let mut step = [(b * g[1] - c * g[0]) / determinant, (b * g[0] - a * g[1]) / determinant];
            if H + step[0] < 0.1 * H {
                // H stays above zero; V is the best beside it
                step[0] = -0.9 * H;
                step[1] = -(g[1] + b * step[0]) / c;
            }
            if all_lie {
                step[1] = step[1].max(-0.9 * V);
            }
            let fall = (g[0] * step[0] + g[1] * step[1]).min(0.0);
            let (mut share, from) = (1.0, least(&at, H, V));
            // where what is least changes by little more than its rounding, the way to the end tells as well
            let fine = -fall < FINE * (from.abs() + at.dual);
            let mut better = false;
            for _ in 0..40 {
                let [h, v] = [H + share * step[0], V + share * step[1]];
                let next = self.reach(h, v, walk);
                let g = miss(&next);
                let nearer = fine && hypot(g[0], g[1]) < size;
                if nearer || least(&next, h, v) <= from + 1e-4 * share * fall {
                    (H, V, at, better) = (h, v, next, true);
                    break;
                }
                share *= 0.5;
            }
            if !better {
                break;
            }
        }
        [H, V]
    }

    fn clear_of_bottom(&self, r: f64, heights: [f64; 2]) -> AtRest {
        // heights are counted from the bottom, as those of what lies on it are
        let zero = self.bottom.map_or(0.0, |bottom| bottom.height);
        let [z1, z2] = heights.map(|z| z - zero);
        let [H, V] = self.solve(r, z2 - z1, Walk::FREE);
        let at = self.reach(H, V, Walk::FREE);
        let [a, b, c] = at.slope;
        let determinant = a * c - b * b;
        // slopes of H and V_1 by r and z_1 - z_2
        let [rr, rz, zz] = [c / determinant, -b / determinant, a / determinant];
        let carried = [V, self.weight() - V];
        let stored = H * r + carried[0] * z1 + carried[1] * z2 - at.dual;
        AtRest {
            level: [H; 2],
            carried,
            stored,
            lying: 0.0,
            lowest: heights[0] + self.lowest(H, V).min(heights[1] - heights[0]),
            stiffness: [[rr, rz, -rz], [rz, zz, -zz], [-rz, -zz, zz]],
            rubbing: 0.0,
            stretch: [[rr, rz], [rz, zz], [-rz, -zz]].map(|by| at.gives[0] * by[0] + at.gives[1] * by[1]),
        }
    }

    /// Height of its lowest point above its first end [m].
    fn lowest(&self, H: f64, V: f64) -> f64 {
        let (mut lowest, mut z, mut V) = (0.0_f64, 0.0, V);
        for part in &self.parts {
            let s = V / part.weight;
            if part.weight > 0.0 && s > 0.0 && s < part.length {
                lowest = lowest.min(z + reach(&Catenary { length: s, ..*part }, H, V).place[1]);
            }
            z += reach(part, H, V).place[1];
            lowest = lowest.min(z);
            V -= part.weight * part.length;
        }
        lowest
    }

    /// At rest with some of it on the bottom; `None` if nothing of it lies there.
    fn on_bottom(&self, bottom: Bottom, r: f64, heights: [f64; 2]) -> Option<AtRest> {
        let [part] = self.parts[..] else { return None };
        let z = heights.map(|z| (z - bottom.height).max(0.0));
        let (w, L) = (part.weight, part.length);
        // an anchor stays at the bottom
        let z = if bottom.friction > 0.0 { [0, 1].map(|k| if k == bottom.anchor { 0.0 } else { z[k] }) } else { z };
        let of = |H: f64| {
            let ends = z.map(|z| hung(&part, H, z));
            let ground = lying(&part, bottom.friction, H, L - (ends[0].V + ends[1].V) / w);
            let x = ground.length + ground.stretch + ends[0].x + ends[1].x;
            (ends, ground, x)
        };
        // x by V of an end: what it takes from the bottom, and what it leads
        let by_V = |end: &Hung, ground: &Lying| end.x_V - (1.0 + ground.s_l) / w;
        let by_H = |ends: &[Hung; 2], ground: &Lying| {
            ground.s_H + ends.iter().map(|end| end.x_H + by_V(end, ground) * end.V_H).sum::<f64>()
        };
        let mut H = 0.0;
        let at_none = of(0.0);
        if at_none.2 < r {
            H = level_pull(w * L, L, |H| {
                let (ends, ground, x) = of(H);
                (x - r, by_H(&ends, &ground))
            });
        }
        let (ends, ground, _) = of(H);
        if ground.length < 0.0 {
            return None;
        }
        let x_H = by_H(&ends, &ground);
        let by_r = if H > 0.0 { 1.0 / x_H } else { 0.0 };
        let by_z = [0, 1].map(|k| -by_V(&ends[k], &ground) * ends[k].V_z * by_r);
        let of_H = [by_r, by_z[0], by_z[1]];
        let mut stiffness = [of_H; 3];
        for k in 0..2 {
            stiffness[1 + k] = of_H.map(|slope| ends[k].V_H * slope);
            stiffness[1 + k][1 + k] += ends[k].V_z;
        }
        let mut level = [H; 2];
        if bottom.friction > 0.0 {
            level[bottom.anchor] = ground.H_a;
        }
        let EA = part.stiffness;
        let of_ground = if ground.rubbed > 0.0 {
            (H * H + H * ground.H_a + ground.H_a * ground.H_a) * ground.rubbed / (6.0 * EA)
        } else {
            H * H * ground.length / (2.0 * EA)
        };
        let of_ends: f64 = (0..2).map(|k| H * ends[k].x + ends[k].V * z[k] - ends[k].dual).sum();
        let by_level = ground.s_H + ends.iter().map(|end| (end.x - H * end.V / (w * EA)) / EA).sum::<f64>();
        let by_carried = ends.map(|end| (hypot(H, end.V) - ground.H_a) / (w * EA));
        let stretch = [0, 1, 2].map(|k| {
            by_level * stiffness[0][k] + (0..2).map(|end| by_carried[end] * stiffness[1 + end][k]).sum::<f64>()
        });
        Some(AtRest {
            level,
            carried: ends.map(|end| end.V),
            stored: of_ends + of_ground,
            lying: ground.length,
            lowest: bottom.height,
            stiffness,
            rubbing: bottom.friction * w * ground.rubbed * ground.rubbed / (2.0 * EA),
            stretch,
        })
    }
}

impl Hanging {
    /// Segments whose anchor lies on the bottom: heavy ones next to it lie there too where they would hang below it.
    fn of_segments(&self, bottom: Bottom, r: f64, heights: [f64; 2]) -> AtRest {
        let free = self.clear_of_bottom(r, heights);
        let (anchor, other) = (bottom.anchor, 1 - bottom.anchor);
        if free.carried[anchor] <= 0.0 {
            return free;
        }
        // from its upper end to its anchor
        let n = self.parts.len();
        let lies = if anchor == 0 {
            self.parts.iter().position(|part| part.weight <= 0.0).map_or(0, |k| n - k)
        } else {
            self.parts.iter().rposition(|part| part.weight <= 0.0).map_or(0, |k| k + 1)
        };
        let walk = Walk { back: anchor == 0, lies };
        let z = (heights[other] - bottom.height).max(LEAST_SPAN * self.length());
        let [H, V] = self.solve(r, -z, walk);
        let at = self.reach(H, V, walk);
        let [a, b, c] = at.slope;
        let determinant = a * c - b * b;
        // in a heap below its end it has no level pull
        let heap = at.place[0] - r > CLOSE * self.length();
        let [rr, rz, zz] =
            if heap { [0.0, 0.0, 1.0 / c] } else { [c / determinant, -b / determinant, a / determinant] };
        let (mut stiffness, mut carried) = ([[0.0; 3]; 3], [0.0; 2]);
        carried[other] = V;
        stiffness[0][0] = rr;
        (stiffness[0][1 + other], stiffness[1 + other][0]) = (rz, rz);
        stiffness[1 + other][1 + other] = zz;
        let mut stretch = [0.0; 3];
        stretch[0] = at.gives[0] * rr + at.gives[1] * rz;
        stretch[1 + other] = at.gives[0] * rz + at.gives[1] * zz;
        AtRest {
            level: [H; 2],
            carried,
            stored: H * r + V * z - at.dual,
            lying: at.lying,
            lowest: bottom.height,
            stiffness,
            rubbing: 0.0,
            stretch,
        }
    }
}

/// The zero of a function that rises, ever slower, from below zero at nothing [N]; it gives its value [m] and its slope [m/N].
fn level_pull(weight: f64, length: f64, of: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut below, mut above) = (0.0, f64::INFINITY);
    let mut H = 0.1 * weight;
    for _ in 0..2 * NEWTON {
        let (miss, slope) = of(H);
        if miss.abs() <= EXACT * length {
            break;
        }
        if miss < 0.0 {
            below = H;
        } else {
            above = H;
        }
        let mut next = H - miss / slope;
        if !(next > below && next < above) {
            next = if above.is_infinite() {
                10.0 * H
            } else if below > 0.0 {
                0.5 * (below + above)
            } else {
                0.1 * above
            };
        }
        if next == H || next < 1e-12 * weight {
            return next;
        }
        H = next;
    }
    H
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(length: f64, weight: f64, stiffness: f64) -> Hanging {
        Hanging { parts: vec![Catenary { length, weight, stiffness }], bottom: None }
    }

    fn on(height: f64, friction: f64, line: Hanging) -> Hanging {
        Hanging { bottom: Some(Bottom { height, friction, anchor: 0 }), ..line }
    }

    #[track_caller]
    fn near(value: f64, is: f64, within: f64) {
        assert!((value - is).abs() < within, "{value}, not {is}");
    }

    #[test]
    fn an_elastic_line_between_level_points() {
        let rest = one(110.0, 49.03325, 1e6).at_rest(100.0, [0.0; 2]);
        near(rest.level[0], 3142.724, 1e-3);
        near(rest.tension(0), 4141.2075, 1e-3);
        near(rest.lowest, -20.437559, 1e-5);
    }

    #[test]
    fn slack_steep_taut_and_nearly_weightless_lines_are_found() {
        for (length, weight, stiffness) in [(110.0, 49.0, 1e6), (110.0, 1e-3, 1e9), (110.0, 49.0, 1e3)] {
            let line = one(length, weight, stiffness);
            for (r, z) in [
                (1.0, 0.0),
                (1.0, 100.0),
                (1e-3, -60.0),
                (109.9, 0.0),
                (110.0, 10.0),
                (60.0, 92.0),
                (0.01, -109.9),
                (140.0, 20.0),
            ] {
                let [H, V] = line.solve(r, z, Walk::FREE);
                let [x, height] = line.reach(H, V, Walk::FREE).place;
                assert!(
                    (x - r).abs() < 1e-7 && (height - z).abs() < 1e-7,
                    "{length} {weight} {stiffness}, {r} {z}: {x} {height}"
                );
            }
        }
    }

    #[test]
    fn a_wave_of_heavy_and_floating_parts() {
        let stiffness = 1e12;
        let part = |length, weight| Catenary { length, weight, stiffness };
        let line = Hanging { parts: vec![part(120.0, 500.0), part(80.0, -900.0), part(150.0, 500.0)], bottom: None };
        // from its touchdown, where it carries nothing
        let at = [reach(&line.parts[0], 3e4, 0.0), line.reach(3e4, 0.0, Walk::FREE)].map(|reach| reach.place);
        // what stretches moves the ends by 1e-5 m
        near(at[0][0], 86.618129, 2e-5);
        near(at[0][1], 74.164079, 2e-5);
        near(at[1][0], 260.39158, 2e-5);
        near(at[1][1], 187.73304, 2e-5);
        let middle = Hanging { parts: line.parts[..2].to_vec(), bottom: None }.reach(3e4, 0.0, Walk::FREE).place;
        near(middle[0], 147.74049, 2e-5);
        near(middle[1], 112.79858, 2e-5);
        let rest = line.at_rest(at[1][0], [0.0, at[1][1]]);
        near(rest.level[0], 3e4, 1e-3);
        near(rest.carried[0], 0.0, 1e-3);
        near(rest.tension(1), 69778.22, 1e-2);
        near(rest.carried[1], 63000.0, 1e-3);
    }

    #[test]
    fn waves_are_found_wherever_they_end() {
        let parts = [(120.0, 500.0), (80.0, -900.0), (60.0, 5.0), (90.0, 500.0)];
        let line = Hanging {
            parts: parts.map(|(length, weight)| Catenary { length, weight, stiffness: 1e7 }).to_vec(),
            bottom: None,
        };
        for r in [1.0, 50.0, 150.0, 250.0, 330.0, 349.0, 351.0, 360.0] {
            for z in [-300.0, -100.0, 0.0, 20.0, 187.0, 300.0, 345.0] {
                let [H, V] = line.solve(r, z, Walk::FREE);
                let [x, height] = line.reach(H, V, Walk::FREE).place;
                assert!((x - r).abs() < 1e-6 && (height - z).abs() < 1e-6, "{r} {z}: {x} {height}, {H} {V}");
            }
        }
    }

    #[test]
    fn what_lies_on_the_bottom_leaves_the_rest_hanging_in_closed_form() {
        // suspended s = sqrt(z^2 + 2 z H/w), level a asinh(s/a), T = H + w z
        let (w, H, z): (f64, f64, f64) = (1000.0, 1e5, 50.0);
        let (s, a) = (sqrt(z * z + 2.0 * z * H / w), H / w);
        let r = 300.0 - s + a * asinh(s / a);
        let rest = on(-80.0, 0.0, one(300.0, w, 1e18)).at_rest(r, [-80.0, -30.0]);
        near(rest.level[0], H, 1e-4);
        near(rest.tension(1), H + w * z, 1e-4);
        near(rest.lying, 300.0 - s, 1e-6);
        // with friction so much is left at the anchor
        let held = on(-80.0, 0.2, one(300.0, w, 1e18)).at_rest(r, [-80.0, -30.0]);
        near(held.level[0], H - 0.2 * w * (300.0 - s), 1e-3);
        near(held.level[1], H, 1e-3);
        // and both ends above it: the same, twice
        let both = on(0.0, 0.0, one(400.0, w, 1e18)).at_rest(400.0 - 2.0 * s + 2.0 * a * asinh(s / a), [50.0, 50.0]);
        near(both.level[0], H, 1e-4);
        near(both.lying, 400.0 - 2.0 * s, 1e-6);
    }

    #[test]
    fn a_line_that_is_pulled_off_the_bottom_hangs_free() {
        let line = on(0.0, 0.0, one(300.0, 1000.0, 1e8));
        let of = |r: f64| line.at_rest(r, [0.0, 50.0]);
        let (mut below, mut above) = (250.0, 320.0);
        while above - below > 1e-9 {
            let r = 0.5 * (below + above);
            if of(r).lying > 0.0 { below = r } else { above = r }
        }
        let [lies, hangs] = [of(below), of(above)];
        assert!(hangs.lying == 0.0 && hangs.carried[0].abs() < 1.0 && lies.lying < 1e-3);
        near(hangs.level[0] / lies.level[0], 1.0, 1e-6);
        near(hangs.stored - lies.stored, 0.0, 1e-2);
        // in a heap below its upper end it has no level pull
        let heap = of(200.0);
        assert!(heap.level[0] == 0.0 && (heap.carried[1] - 50.0 * 1000.0).abs() < 50.0, "{heap:?}");
    }

    #[test]
    fn pulls_are_slopes_of_what_is_stored_and_stiffness_their_slopes() {
        let parts = [(120.0, 500.0), (80.0, -900.0), (150.0, 500.0)];
        let parts = parts.map(|(length, weight)| Catenary { length, weight, stiffness: 1e7 }).to_vec();
        let wave = Hanging { parts, bottom: None };
        let cases = [
            (one(110.0, 49.0, 1e6), 100.0, [3.0, -20.0]),
            (one(110.0, 49.0, 1e6), 112.0, [0.0, 10.0]),
            (wave, 250.0, [10.0, 190.0]),
            (on(-5.0, 0.0, one(300.0, 1000.0, 1e8)), 280.0, [-5.0, 45.0]),
            (on(-5.0, 0.0, one(300.0, 1000.0, 1e8)), 260.0, [5.0, 35.0]),
            (on(-5.0, 0.0, one(300.0, 1000.0, 1e8)), 200.0, [-5.0, 45.0]),
        ];
        for (line, r, z) in cases {
            let rest = line.at_rest(r, z);
            let d = 1e-4;
            for k in 0..3 {
                if z[0] == -5.0 && k == 1 {
                    continue;
                }
                let of = |d: f64| {
                    line.at_rest(
                        r + if k == 0 { d } else { 0.0 },
                        [z[0] + if k == 1 { d } else { 0.0 }, z[1] + if k == 2 { d } else { 0.0 }],
                    )
                };
                let (more, less) = (of(d), of(-d));
                let pulls = |rest: &AtRest| [rest.level[0], rest.carried[0], rest.carried[1]];
                let slope = (more.stored - less.stored) / (2.0 * d);
                near(slope, pulls(&rest)[k], 1e-5 * (rest.tension(0) + rest.tension(1)));
                for row in 0..3 {
                    let slope = (pulls(&more)[row] - pulls(&less)[row]) / (2.0 * d);
                    near(slope, rest.stiffness[row][k], 1e-4 * (slope.abs() + 10.0));
                }
            }
        }
    }

    /// Its stretch from its points: the integral of T/EA, from tensions along it.
    fn stretch(line: &Hanging, r: f64, z: [f64; 2]) -> f64 {
        let rest = line.at_rest(r, z);
        let points = line.points(&rest, (r, z), 4000);
        let drawn: f64 = points.windows(2).map(|pair| hypot(pair[1][0] - pair[0][0], pair[1][1] - pair[0][1])).sum();
        drawn - line.length()
    }

    #[test]
    fn points_along_a_line_are_as_long_as_it_is_stretched_and_slopes_of_that_are_its_stretch() {
        let wave = [(120.0, 500.0), (80.0, -900.0), (150.0, 500.0)];
        let parts = wave.map(|(length, weight)| Catenary { length, weight, stiffness: 1e6 }).to_vec();
        let bottom = |anchor| Some(Bottom { height: -5.0, friction: 0.0, anchor });
        let two = [(200.0, 1500.0), (100.0, 50.0)];
        let two = two.map(|(length, weight)| Catenary { length, weight, stiffness: 1e7 }).to_vec();
        let cases = [
            (one(110.0, 49.0, 1e5), 105.0, [3.0, -20.0]),
            (Hanging { parts, bottom: None }, 250.0, [10.0, 190.0]),
            (on(-5.0, 0.0, one(300.0, 1000.0, 1e7)), 280.0, [-5.0, 45.0]),
            (on(-5.0, 0.0, one(300.0, 1000.0, 1e7)), 270.0, [5.0, 35.0]),
            (Hanging { parts: two, bottom: bottom(0) }, 275.0, [-5.0, 80.0]),
        ];
        for (line, r, z) in cases {
            let rest = line.at_rest(r, z);
            let points = line.points(&rest, (r, z), 50);
            let end = points[points.len() - 1];
            assert!(hypot(end[0] - r, end[1] - z[1]) < 1e-6 && points[0][0].abs() < 1e-6, "{end:?} {r} {z:?}");
            assert!((points[0][1] - z[0]).abs() < 1e-6, "{:?} {z:?}", points[0]);
            let d = 1e-2;
            for k in (0..3).filter(|k| z[0] != -5.0 || *k != 1) {
                let of = |d: f64| {
                    let by = |j: usize| if k == j { d } else { 0.0 };
                    stretch(&line, r + by(0), [z[0] + by(1), z[1] + by(2)])
                };
                near((of(d) - of(-d)) / (2.0 * d), rest.stretch[k], 2e-3 * rest.stretch[k].abs() + 2e-6);
            }
        }
    }

    #[test]
    fn a_line_cut_into_segments_lies_and_hangs_as_before() {
        let part = |length: f64| Catenary { length, weight: 1000.0, stiffness: 1e8 };
        for anchor in [0, 1] {
            let bottom = Some(Bottom { height: -5.0, friction: 0.0, anchor });
            let whole = Hanging { parts: vec![part(300.0)], bottom };
            let cut = Hanging { parts: [80.0, 150.0, 70.0].map(part).to_vec(), bottom };
            let heights = if anchor == 0 { [-5.0, 45.0] } else { [45.0, -5.0] };
            for r in [1.0, 100.0, 150.0, 240.0, 250.0, 252.0, 260.0, 270.0, 284.0, 292.0, 296.0, 310.0] {
                let [one, many] = [&whole, &cut].map(|line| line.at_rest(r, heights));
                near(many.level[0], one.level[0], 1e-6 * (one.level[0] + 1.0));
                near(many.carried[1 - anchor], one.carried[1 - anchor], 1e-6 * one.carried[1 - anchor]);
                near(many.stored, one.stored, 1e-6 * one.stored);
                near(many.lying, one.lying, 1e-4);
                let top = 2 - anchor;
                for (i, j) in [(0, 0), (0, top), (top, top)] {
                    near(many.stiffness[i][j], one.stiffness[i][j], 1e-4 * one.stiffness[top][top]);
                }
            }
        }
        // chain below, rope above: what the rope carries is the chain's weight off the bottom
        let chain = Catenary { length: 200.0, weight: 1500.0, stiffness: 1e9 };
        let rope = Catenary { length: 100.0, weight: 50.0, stiffness: 1e8 };
        let line = Hanging { parts: vec![chain, rope], bottom: Some(Bottom { height: 0.0, friction: 0.0, anchor: 0 }) };
        let rest = line.at_rest(270.0, [0.0, 80.0]);
        assert!(rest.lying > 50.0, "{rest:?}");
        near(rest.carried[1], 100.0 * 50.0 + 1500.0 * (200.0 - rest.lying), 1e-6);
        // in a heap below its end, too
        for r in [1.0, 100.0, 150.0, 190.0, 215.0, 219.0] {
            for z in [1.0, 50.0, 80.0, 82.0, 120.0, 150.0] {
                let rest = line.at_rest(r, [0.0, z]);
                let above = 300.0 - rest.lying;
                let weight = 50.0 * above.min(100.0) + 1500.0 * (above - 100.0).max(0.0);
                near(rest.carried[1], weight, 1e-6 * weight);
                near(rest.lowest, 0.0, 1e-9);
                let more = line.at_rest(r, [0.0, z + 1e-4]);
                near((more.stored - rest.stored) / 1e-4, rest.carried[1], 1e-3 * (rest.carried[1] + 10.0));
            }
        }
    }

    #[test]
    fn friction_on_the_bottom_takes_what_the_ends_do_not_get_back() {
        for mu in [0.05, 0.4] {
            let line = on(0.0, mu, one(300.0, 1000.0, 1e7));
            let of = |d: f64| line.at_rest(284.0 + d, [0.0, 50.0 + 0.3 * d]);
            let (rest, d) = (of(0.0), 1e-3);
            let work = rest.level[1] + 0.3 * rest.carried[1];
            let stored = (of(d).stored - of(-d).stored) / (2.0 * d);
            let rate = |row: usize| rest.stiffness[row][0] + 0.3 * rest.stiffness[row][2];
            near(rest.rubbing * (rate(0) + mu * rate(2)), work - stored, 1e-5 * work);
        }
    }
}
