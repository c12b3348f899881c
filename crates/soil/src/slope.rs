//! Soil that slides: trial planes from the toe of a step upwards (Mohr-Coulomb), and flow down the steps that fail.
//!
//! A step between neighbours, eight of them, fails where it is steeper than phi and a plane at an angle a from its toe is overloaded,
//!   W sin(a) > c L + W cos(a) tan(phi),
//! W the columns over the plane as they stand. What has begun to slide, or was moved and not pressed since, has no cohesion. Its speed is a state of the step:
//!   dv/dt = g (sin a - cos a tan(phi)),   mass per time  rho v d s,   d what is higher than phi allows,
//! in one step no more than brings it down to phi. Diagonal neighbours count by 1/sqrt(2).

use crate::ground::{Ground, Layer, TILE};
use libm::sqrt;

/// Steps to neighbours: every pair of cells once.
const EDGES: [[isize; 2]; 4] = [[1, 0], [0, 1], [1, 1], [-1, 1]];
/// A tile with a cell more all around.
const WIDE: usize = TILE + 2;
/// What is higher than phi allows by less than this share of a cell stands [-].
const STANDS: f64 = 1e-4;
/// Columns that a trial plane crosses at most.
const REACH: usize = 48;
/// Passes in a step.
const PASSES: usize = 2;

/// A vertical sheet that soil does not pass: the blade of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fence {
    /// Its ends in plan [m].
    pub ends: [[f64; 2]; 2],
    /// Heights of its lower and upper edge [m].
    pub heights: [f64; 2],
}

impl Fence {
    /// True if it stands between two places whose surfaces are this high.
    fn parts(&self, a: [f64; 2], b: [f64; 2], [z1, z2]: [f64; 2]) -> bool {
        if self.heights[0] >= z1.max(z2) || self.heights[1] <= z1.min(z2) {
            return false;
        }
        let side = |p: [f64; 2], [u, v]: [[f64; 2]; 2]| (v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0]);
        let crosses = |[p, q]: [[f64; 2]; 2], line: [[f64; 2]; 2]| (side(p, line) > 0.0) != (side(q, line) > 0.0);
        crosses([a, b], self.ends) && crosses(self.ends, [a, b])
    }
}

/// What a pass found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settled {
    /// Energy of soil that slid [J].
    pub lost: f64,
    /// Mass with its water that went from cell to cell [kg].
    pub moved: f64,
}

/// Soil about to go from one cell to another.
struct Flow {
    from: [usize; 2],
    to: [usize; 2],
    /// Where its speed is kept: tile, cell, edge; +1 if it goes along the edge.
    keeps: (usize, usize, usize),
    sign: f64,
    /// Speed [m/s].
    speed: f64,
    /// What is higher than phi allows [m], weight of the neighbour [-].
    excess: f64,
    weight: f64,
}

impl Ground {
    /// Lets soil slide for h [s] under gravity g [m/s^2].
    /// Soil does not slide into cells that are covered by bodies which press on them, given in rising order.
    pub fn settle(&mut self, h: f64, g: f64, fences: &[Fence], covered: &[[usize; 2]]) -> Settled {
        let mut settled = Settled::default();
        let before = self.raised;
        for _ in 0..PASSES {
            let active: Vec<usize> = self.tiles().filter(|(_, tile)| tile.active).map(|(k, _)| k).collect();
            if active.is_empty() {
                break;
            }
            let mut flows = Vec::new();
            for &number in &active {
                self.find_flows(number, h / PASSES as f64, g, (fences, covered), &mut flows);
            }
            self.flow(&active, &flows, h / PASSES as f64, &mut settled);
        }
        settled.lost = g * (before - self.raised);
        settled
    }

    /// Heights of a tile and its rim; the rim of the ground is as high as the cell inside.
    fn patch(&self, number: usize) -> Vec<f64> {
        let corner = self.corner(number);
        let at = |k: usize| {
            let clamped = |c: usize, axis: usize| (corner[axis] + c).saturating_sub(1).min(self.counts[axis] - 1);
            [clamped(k % WIDE, 0), clamped(k / WIDE, 1)]
        };
        (0..WIDE * WIDE).map(|k| self.height(at(k))).collect()
    }

    /// Steps of a tile that fail, or go on sliding.
    fn find_flows(
        &self,
        number: usize,
        h: f64,
        g: f64,
        (fences, covered): (&[Fence], &[[usize; 2]]),
        flows: &mut Vec<Flow>,
    ) {
        let Some(tile) = self.tile(number) else { return };
        let (patch, corner) = (self.patch(number), self.corner(number));
        let flattest = self.kinds.iter().map(|kind| libm::tan(kind.friction[0].min(kind.friction[1])));
        let flattest = flattest.fold(f64::INFINITY, f64::min);
        let lengths = EDGES.map(|[dx, dy]| self.cell * sqrt((dx * dx + dy * dy) as f64));
        for place in 0..TILE * TILE {
            let own = [corner[0] + place % TILE, corner[1] + place / TILE];
            if own[0] >= self.counts[0] || own[1] >= self.counts[1] {
                continue;
            }
            let middle = (place / TILE + 1) * WIDE + place % TILE + 1;
            for (edge, [dx, dy]) in EDGES.into_iter().enumerate() {
                let length = lengths[edge];
                let (z1, z2) = (patch[middle], patch[middle.wrapping_add_signed(dy * WIDE as isize + dx)]);
                let step = (z1 - z2).abs();
                if step <= length * (flattest + STANDS) {
                    continue;
                }
                let next = [own[0].wrapping_add_signed(dx), own[1].wrapping_add_signed(dy)];
                if next[0] >= self.counts[0] || next[1] >= self.counts[1] {
                    continue;
                }
                let falls = z1 > z2;
                let (from, to) = if falls { (own, next) } else { (next, own) };
                let sign = if falls { 1.0 } else { -1.0 };
                let column = self.column(from);
                let [mut t, c, _] = self.strength(&column);
                let before = (sign * tile.speeds[place][edge]).max(0.0);
                let moving = before > 0.0 || column.moved;
                if moving {
                    t = self.column_flowing(&column);
                }
                let excess = step - length * t;
                let shut = || covered.binary_search(&to).is_ok() || self.is_fenced(fences, from, to, [z1, z2]);
                if excess <= STANDS * length || shut() {
                    continue;
                }
                if !moving && c > 0.0 && !self.fails(to, from, g) {
                    continue;
                }
                let slant = sqrt(step * step + length * length);
                let speed = before + h * g * (step - length * t) / slant;
                let weight = self.cell / length;
                flows.push(Flow { from, to, keeps: (number, place, edge), sign, speed, excess, weight });
            }
        }
    }

    /// tan phi of a column whose top slides: as loose as it lies.
    fn column_flowing(&self, column: &crate::Column) -> f64 {
        column.top().map_or(f64::INFINITY, |top| libm::tan(self.kinds[usize::from(top.kind)].friction[0]))
    }

    fn is_fenced(&self, fences: &[Fence], from: [usize; 2], to: [usize; 2], heights: [f64; 2]) -> bool {
        let (a, b) = (self.centre(from), self.centre(to));
        fences.iter().any(|fence| fence.parts(a, b, heights))
    }

    /// True if some plane from the toe, the near edge of the first column above the cell `toe`, upwards through `first` and on in that
    /// direction is overloaded.
    fn fails(&self, toe: [usize; 2], first: [usize; 2], g: f64) -> bool {
        let step = [0, 1].map(|k| first[k] as isize - toe[k] as isize);
        let s = self.cell * sqrt((step[0] * step[0] + step[1] * step[1]) as f64);
        let foot = self.height(toe);
        let [t, c, density] = self.strength(&self.column(first));
        let weight = density * g;
        let (mut area, mut at, mut last) = (0.0, first, foot);
        for m in 0..REACH {
            let z = self.height(at) - foot;
            if z <= 0.0 {
                return false;
            }
            let rises = z > last - foot + 1e-9;
            last = self.height(at);
            // planes that leave through the top of this column: in the middle, at its far edge
            for x in [(m as f64 + 0.5) * s, (m as f64 + 1.0) * s] {
                let over = area + z * (x - m as f64 * s) - 0.5 * z * x;
                let length = sqrt(x * x + z * z);
                if over > 0.0 && weight * over * (z - x * t) / length > c * length {
                    return true;
                }
            }
            // behind the crest planes only get flatter
            if !rises && z < (m as f64 + 1.0) * s * t {
                return false;
            }
            area += z * s;
            let next = [0, 1].map(|k| at[k] as isize + step[k]);
            let inside = (0..2).all(|k| next[k] >= 0 && (next[k] as usize) < self.counts[k]);
            if !inside {
                return false;
            }
            at = next.map(|x| x as usize);
        }
        false
    }

    /// Moves soil along all flows at once, and lets tiles in which nothing flows rest.
    fn flow(&mut self, active: &[usize], flows: &[Flow], h: f64, settled: &mut Settled) {
        for &number in active {
            if let Some(tile) = self.tile_mut(number) {
                tile.active = false;
                tile.speeds.fill([0.0; 4]);
            }
        }
        // how many share a cell: sums of weights, by tile and place, in the order of the flows
        let ends = |flow: &Flow| [flow.from, flow.to].map(|at| self.place(at));
        let mut tiles: Vec<usize> = flows.iter().flat_map(|flow| ends(flow).map(|(tile, _)| tile)).collect();
        tiles.sort_unstable();
        tiles.dedup();
        let mut sharing = vec![[0.0; TILE * TILE]; tiles.len()];
        let slot = |tile: usize| tiles.binary_search(&tile).unwrap_or(0);
        for flow in flows {
            for (tile, place) in ends(flow) {
                sharing[slot(tile)][place] += flow.weight;
            }
        }
        let shares: Vec<f64> = flows
            .iter()
            .map(|flow| {
                let [from, to] = ends(flow).map(|(tile, place)| sharing[slot(tile)][place]);
                1.0 / from.max(to).max(1.0)
            })
            .collect();
        for (flow, share) in flows.iter().zip(shares) {
            let most = 0.5 * flow.excess * share * flow.weight;
            let went = (flow.speed * h * flow.excess * flow.weight / self.cell).min(most);
            self.slide(flow, went, settled);
            let (number, place, edge) = flow.keeps;
            if let Some(tile) = self.tile_mut(number) {
                tile.speeds[place][edge] = flow.sign * flow.speed;
                tile.active = true;
            }
            self.wake(flow.from);
            self.wake(flow.to);
        }
    }

    /// Moves so much thickness [m] from cell to cell, top first; it comes to lie loose.
    fn slide(&mut self, flow: &Flow, thick: f64, settled: &mut Settled) {
        let (area, kinds) = (self.area(), self.kinds.clone());
        let Some(top) = self.column(flow.from).top().copied() else { return };
        let mass = thick * area * kinds[usize::from(top.kind)].grain_density / (1.0 + top.void_ratio);
        let mut pieces = [Layer::default(); crate::MOST_LAYERS];
        let mut n = 0;
        self.change(flow.from, |column| {
            column.take(mass, |piece| {
                pieces[n] = piece;
                n += 1;
            })
        });
        self.change(flow.to, |column| {
            column.moved = true;
            for piece in &pieces[..n] {
                let kind = &kinds[usize::from(piece.kind)];
                let void_ratio = piece.void_ratio.max(kind.loose());
                let yield_pressure = kind.compression.yield_pressure(1.0 + void_ratio).min(piece.yield_pressure);
                column.push(Layer { void_ratio, yield_pressure, ..*piece });
                settled.moved += piece.mass * (1.0 + kind.water);
            }
        });
    }
}
