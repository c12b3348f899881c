//! Where material is worth its weight: shares of material by cell that let loads do least work.
//!
//!   min c = sum_j F_j^T K(x)^-1 F_j,   K = sum s(x_e) K_e,   s = s_0 + x^p (1 - s_0),   sum v_e x_e <= V sum v_e
//! (Bendsoe, Sigmund 1999: SIMP). Shares follow from variables y by a filter and a projection,
//!   x~_e = sum w_ei v_i y_i / sum w_ei v_i,  w_ei = max(0, R - |c_e - c_i|)       (Bruns, Tortorelli 2001)
//!   x_e = (tanh(b/2) + tanh(b (x~_e - 1/2))) / (2 tanh(b/2)),  b = 0: x = x~       (Wang, Lazarov, Sigmund 2011, equation 9)
//! and y from optimality criteria with a limit on each move (Sigmund 2001; Andreassen et al. 2011). Loads are in balance with each other, or held by
//! springs: those that hold a body in balance do not act, whatever their stiffness.

use crate::FlexibleError;
use crate::sparse::{Ordering, Symmetric, dot};
use tippe_geometry::Vec3;

/// A cell of material: an element with its own share.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its unknowns, ascending.
    pub unknowns: Vec<u32>,
    /// Its stiffness where it is full: lower triangle by rows.
    pub k: Vec<f64>,
    /// Its volume [m3].
    pub volume: f64,
    /// Its middle [m].
    pub centre: Vec3,
}

/// What is smoothed, so that no detail is smaller than the radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The shares.
    Density,
    /// What a change of them is worth (Sigmund 1997).
    Sensitivity,
}

/// What is asked of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Share of the volume that may be full [-].
    pub volume: f64,
    /// Radius of the filter [m].
    pub radius: f64,
    /// What is filtered.
    pub filter: Filter,
    /// p [-].
    pub power: f64,
    /// s_0: what is empty is this stiff [-].
    pub least: f64,
    /// Largest change of a variable in a step [-].
    pub limit: f64,
}

/// Cells, what of them is kept, and how they are held.
#[derive(Debug)]
pub struct Topology {
    cells: Vec<Cell>,
    wish: Wish,
    /// Cells that are full for good.
    kept: Vec<bool>,
    K: Symmetric,
    /// Entries of K of each cell.
    entries: Vec<Vec<u32>>,
    /// Entries of the diagonal that springs hold [N/m].
    springs: Vec<(usize, f64)>,
    ordering: Ordering,
    /// Neighbours by cell with w_ei, and sum w_ei v_i.
    near: Vec<Vec<(u32, f64)>>,
    sums: Vec<f64>,
}

/// What a step has found and done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// c of the design before it [N m].
    pub compliance: f64,
    /// Largest change of a variable [-].
    pub change: f64,
    /// Share of the volume that is full after it [-].
    pub volume: f64,
}

impl Topology {
    /// For cells over `n` unknowns, of which `held` are held by springs.
    pub fn new(
        cells: Vec<Cell>,
        n: usize,
        held: &[usize],
        kept: Vec<bool>,
        wish: Wish,
    ) -> Result<Topology, FlexibleError> {
        let volume: f64 = cells.iter().map(|c| c.volume).sum();
        let full: f64 = cells.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(c, _)| c.volume).sum();
        if full >= wish.volume * volume {
            return Err(FlexibleError::Mesh(format!(
                "what is kept is {:.3} of the volume, and {:.3} is all it may be. help: keep less, or allow more `volume`",
                full / volume,
                wish.volume
            )));
        }
        let (mut K, entries) = assemble(&cells, n);
        let stiffest = add_all(&cells, &entries, &vec![1.0; cells.len()], &mut K);
        let springs: Vec<(usize, f64)> = held.iter().map(|&h| (K.start[h], stiffest)).collect();
        let near = neighbours(&cells, wish.radius);
        let sums = near.iter().map(|near| near.iter().map(|&(i, w)| w * cells[i as usize].volume).sum()).collect();
        let ordering = K.ordering("the part")?;
        Ok(Topology { cells, wish, kept, K, entries, springs, ordering, near, sums })
    }

    /// Variables to begin with: the same everywhere, kept cells full.
    pub fn start(&self) -> Vec<f64> {
        let all = self.volume_of(|_| 1.0);
        let kept = self.volume_of(|e| f64::from(u8::from(self.kept[e])));
        let even = (self.wish.volume * all - kept) / (all - kept);
        self.kept.iter().map(|kept| if *kept { 1.0 } else { even }).collect()
    }

    fn volume_of(&self, share: impl Fn(usize) -> f64) -> f64 {
        self.cells.iter().enumerate().map(|(e, cell)| cell.volume * share(e)).sum()
    }

    /// Cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// x of y, for a sharpness b.
    pub fn shares(&self, y: &[f64], b: f64) -> Vec<f64> {
        let smooth = |e: usize| match self.wish.filter {
            Filter::Sensitivity => y[e],
            Filter::Density => {
                let sum: f64 =
                    self.near[e].iter().map(|&(i, w)| w * self.cells[i as usize].volume * y[i as usize]).sum();
                sum / self.sums[e]
            }
        };
        (0..y.len()).map(|e| if self.kept[e] { 1.0 } else { projected(smooth(e), b)[0] }).collect()
    }

    /// Stiffness of a share, and its slope.
    fn stiffness(&self, x: f64) -> [f64; 2] {
        let Wish { power: p, least, .. } = self.wish;
        let below = libm::pow(x, p - 1.0) * (1.0 - least);
        [least + below * x, p * below]
    }

    /// sum_j F_j^T K^-1 F_j of a design, and what a change of each x is worth.
    pub fn compliance(&mut self, x: &[f64], loads: &[Vec<f64>]) -> Result<(f64, Vec<f64>), FlexibleError> {
        let s: Vec<f64> = x.iter().map(|x| self.stiffness(*x)[0]).collect();
        add_all(&self.cells, &self.entries, &s, &mut self.K);
        self.springs.iter().for_each(|&(at, k)| self.K.value[at] += k);
        let factor = self.K.factor_in(&self.ordering, "the part")?;
        let (mut sum, mut slope) = (0.0, vec![0.0; x.len()]);
        let mut own = Vec::new();
        for load in loads {
            let mut u = load.clone();
            factor.solve(&mut u);
            sum += dot(load, &u);
            for ((cell, slope), x) in self.cells.iter().zip(&mut slope).zip(x) {
                own.clear();
                own.extend(cell.unknowns.iter().map(|&k| u[k as usize]));
                *slope -= self.stiffness(*x)[1] * energy(&cell.k, &own);
            }
        }
        Ok((sum, slope))
    }

    /// One step of the optimality criteria: y moves.
    pub fn step(&mut self, y: &mut [f64], b: f64, loads: &[Vec<f64>]) -> Result<Step, FlexibleError> {
        let x = self.shares(y, b);
        let (compliance, slope) = self.compliance(&x, loads)?;
        let cell_volumes: Vec<f64> = self.cells.iter().map(|c| c.volume).collect();
        let (dc, dv) = match self.wish.filter {
            Filter::Density => (self.back(&slope, y, b), self.back(&cell_volumes, y, b)),
            Filter::Sensitivity => (self.smoothed(&slope, y), cell_volumes),
        };
        let all = self.volume_of(|_| 1.0);
        let wanted = self.wish.volume * all;
        let moved = |lambda: f64| -> Vec<f64> {
            let one = |e: usize| {
                if self.kept[e] {
                    return 1.0;
                }
                let worth = (-dc[e]).max(0.0) / (dv[e] * lambda).max(f64::MIN_POSITIVE);
                let limit = self.wish.limit;
                (y[e] * worth.sqrt()).clamp((y[e] - limit).max(0.0), (y[e] + limit).min(1.0))
            };
            (0..y.len()).map(one).collect()
        };
        // the price of volume: between none and one at which everything moves down
        let most = dc.iter().zip(&dv).map(|(c, v)| if *v > 0.0 { -c / v } else { 0.0 }).fold(0.0, f64::max);
        let (mut low, mut high) = (0.0, 4.0 * most / (1.0 - self.wish.limit).powi(2) + f64::MIN_POSITIVE);
        let mut next = y.to_vec();
        while high - low > 1e-6 * (high + low) && high > 1e-30 * most {
            let lambda = 0.5 * (low + high);
            next = moved(lambda);
            let x = self.shares(&next, b);
            if self.volume_of(|e| x[e]) > wanted { low = lambda } else { high = lambda }
        }
        let change = y.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        y.copy_from_slice(&next);
        let x = self.shares(y, b);
        Ok(Step { compliance, change, volume: self.volume_of(|e| x[e]) / all })
    }

    /// What a change of y is worth from what one of x is.
    fn back(&self, slope: &[f64], y: &[f64], b: f64) -> Vec<f64> {
        let mut out = vec![0.0; y.len()];
        for e in 0..y.len() {
            if self.kept[e] {
                continue;
            }
            let volume = |i: u32| self.cells[i as usize].volume;
            let sum: f64 = self.near[e].iter().map(|&(i, w)| w * volume(i) * y[i as usize]).sum();
            let worth = slope[e] * projected(sum / self.sums[e], b)[1] / self.sums[e];
            self.near[e].iter().for_each(|&(i, w)| out[i as usize] += worth * w * volume(i));
        }
        out
    }

    /// sum w_ei y_i dc_i / (y_e sum w_ei) (Sigmund 1997), over volumes where cells differ.
    fn smoothed(&self, slope: &[f64], y: &[f64]) -> Vec<f64> {
        let one = |e: usize| {
            let near = &self.near[e];
            let sum: f64 = near.iter().map(|&(i, w)| w * y[i as usize] * slope[i as usize]).sum();
            let weights: f64 = near.iter().map(|&(_, w)| w).sum();
            sum / (weights * y[e].max(1e-3))
        };
        (0..y.len()).map(one).collect()
    }
}

/// The projection and its slope.
fn projected(x: f64, b: f64) -> [f64; 2] {
    if b == 0.0 {
        return [x, 1.0];
    }
    let (end, t) = (libm::tanh(0.5 * b), libm::tanh(b * (x - 0.5)));
    [(end + t) / (2.0 * end), b * (1.0 - t * t) / (2.0 * end)]
}

/// u^T k u of a lower triangle by rows.
fn energy(k: &[f64], u: &[f64]) -> f64 {
    let (mut sum, mut at) = (0.0, 0);
    for i in 0..u.len() {
        let row: f64 = k[at..at + i].iter().zip(u).map(|(k, u)| k * u).sum();
        sum += u[i] * (2.0 * row + k[at + i] * u[i]);
        at += i + 1;
    }
    sum
}

/// The pattern of the cells, and where the entries of each are in it.
fn assemble(cells: &[Cell], n: usize) -> (Symmetric, Vec<Vec<u32>>) {
    let mut columns: Vec<Vec<u32>> = (0..n as u32).map(|c| vec![c]).collect();
    for cell in cells {
        for (j, column) in cell.unknowns.iter().enumerate() {
            columns[*column as usize].extend(&cell.unknowns[j..]);
        }
    }
    let mut K = Symmetric { n, start: vec![0], ..Symmetric::default() };
    for column in &mut columns {
        column.sort_unstable();
        column.dedup();
        K.row.extend(column.iter().map(|r| *r as usize));
        K.start.push(K.row.len());
    }
    K.value = vec![0.0; K.row.len()];
    let entry = |r: u32, c: u32| {
        let (from, to) = (K.start[c as usize], K.start[c as usize + 1]);
        let at = K.row[from..to].partition_point(|row| *row < r as usize);
        (from + at) as u32
    };
    let of = |cell: &Cell| {
        let u = &cell.unknowns;
        (0..u.len()).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(u[i], u[j])).collect()
    };
    let entries = cells.iter().map(of).collect();
    (K, entries)
}

/// K = sum s_e K_e; returns the largest entry of its diagonal.
fn add_all(cells: &[Cell], entries: &[Vec<u32>], s: &[f64], K: &mut Symmetric) -> f64 {
    K.value.fill(0.0);
    for ((cell, entries), s) in cells.iter().zip(entries).zip(s) {
        entries.iter().zip(&cell.k).for_each(|(&at, k)| K.value[at as usize] += s * k);
    }
    (0..K.n).map(|c| K.value[K.start[c]]).fold(0.0, f64::max)
}

/// Cells within a radius of each, ascending, with w, by boxes of that side.
fn neighbours(cells: &[Cell], radius: f64) -> Vec<Vec<(u32, f64)>> {
    let far = Vec3::splat(f64::INFINITY);
    let low = cells.iter().fold(far, |low, c| low.min(c.centre));
    let place = |p: Vec3| ((p - low) / radius).to_array().map(|x| x as i64);
    let mut boxes: std::collections::BTreeMap<[i64; 3], Vec<u32>> = std::collections::BTreeMap::new();
    for (k, cell) in cells.iter().enumerate() {
        boxes.entry(place(cell.centre)).or_default().push(k as u32);
    }
    let of = |(own, cell): (usize, &Cell)| {
        let [x, y, z] = place(cell.centre);
        let mut near: Vec<(u32, f64)> = Vec::new();
        for (i, j, k) in (-1..=1).flat_map(|i| (-1..=1).flat_map(move |j| (-1..=1).map(move |k| (i, j, k)))) {
            for &other in boxes.get(&[x + i, y + j, z + k]).into_iter().flatten() {
                let w = radius - (cells[other as usize].centre - cell.centre).length();
                if w > 0.0 || other as usize == own {
                    near.push((other, w));
                }
            }
        }
        near.sort_unstable_by_key(|(k, _)| *k);
        near
    };
    cells.iter().enumerate().map(of).collect()
}
