//! How deep the ground was pressed, at the nodes of a grid in its plane; between them it is bilinear. Wheels write what they pressed from where their
//! lowest point was to where it is, over their width.

/// A grid; its depths, node by node along x first, then of each wheel where it was last {x, y, depth}, and 1 once it was there.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Its first node [m].
    pub low: [f64; 2],
    /// Distance of nodes [m].
    pub cell: f64,
    /// Nodes along x and y.
    pub count: [usize; 2],
}

/// What is kept of a wheel.
const OF_WHEEL: usize = 4;

impl Grid {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.count[0] * self.count[1]
    }

    /// Numbers that are kept.
    pub fn keeps(&self, wheels: usize) -> usize {
        self.nodes() + OF_WHEEL * wheels
    }

    /// Depth at a place [m]; zero outside.
    pub fn depth(&self, kept: &[f64], at: [f64; 2]) -> f64 {
        let s = [0, 1].map(|k| (at[k] - self.low[k]) / self.cell);
        if (0..2).any(|k| s[k] < 0.0 || s[k] >= (self.count[k] - 1) as f64) {
            return 0.0;
        }
        let (i, j) = (s[0] as usize, s[1] as usize);
        let [fx, fy] = [s[0] - i as f64, s[1] - j as f64];
        let node = |i: usize, j: usize| kept[j * self.count[0] + i];
        let along = |j: usize| node(i, j) * (1.0 - fx) + node(i + 1, j) * fx;
        along(j) * (1.0 - fy) + along(j + 1) * fy
    }

    /// Wheel k, of this width, has come to {x, y, depth}.
    pub fn roll(&self, kept: &mut [f64], k: usize, now: [f64; 3], width: f64) {
        let own = self.nodes() + OF_WHEEL * k;
        let was = [kept[own], kept[own + 1], kept[own + 2]];
        let is_first = kept[own + 3] == 0.0;
        kept[own..own + 3].copy_from_slice(&now);
        kept[own + 3] = 1.0;
        let way = [now[0] - was[0], now[1] - was[1]];
        let length = libm::hypot(way[0], way[1]);
        if is_first || length == 0.0 || now[2].max(was[2]) <= 0.0 {
            return;
        }
        let along = way.map(|x| x / length);
        let half = 0.5 * width;
        let range = |axis: usize| {
            let [a, b] = [was[axis].min(now[axis]) - half, was[axis].max(now[axis]) + half];
            let [a, b] = [a, b].map(|x| (x - self.low[axis]) / self.cell);
            let last = (self.count[axis] - 1) as f64;
            (libm::ceil(a.max(0.0)) as usize, libm::floor(b.min(last)).max(-1.0) as isize)
        };
        let ((i0, i1), (j0, j1)) = (range(0), range(1));
        for j in j0 as isize..=j1 {
            for i in i0 as isize..=i1 {
                let [i, j] = [i as usize, j as usize];
                let at = [self.low[0] + i as f64 * self.cell - was[0], self.low[1] + j as f64 * self.cell - was[1]];
                let s = at[0] * along[0] + at[1] * along[1];
                let aside = (at[1] * along[0] - at[0] * along[1]).abs();
                if s >= 0.0 && s <= length && aside <= half {
                    let depth = was[2] + (now[2] - was[2]) * s / length;
                    let node = &mut kept[j * self.count[0] + i];
                    *node = node.max(depth);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_leaves_its_depth_over_its_width() {
        let grid = Grid { low: [0.0, -1.0], cell: 0.1, count: [21, 21] };
        let mut kept = vec![0.0; grid.keeps(1)];
        grid.roll(&mut kept, 0, [0.05, 0.0, 0.02], 0.3);
        assert_eq!(grid.depth(&kept, [0.05, 0.0]), 0.0);
        grid.roll(&mut kept, 0, [1.05, 0.0, 0.04], 0.3);
        // 0.02 + 0.02 (x - 0.05)
        assert!((grid.depth(&kept, [0.55, 0.0]) - 0.03).abs() < 1e-12);
        assert!((grid.depth(&kept, [0.55, 0.1]) - 0.03).abs() < 1e-12);
        assert_eq!(grid.depth(&kept, [0.55, 0.25]), 0.0);
        assert_eq!(grid.depth(&kept, [1.3, 0.0]), 0.0);
        // what is shallower leaves it as it is
        grid.roll(&mut kept, 0, [0.05, 0.0, 0.01], 0.3);
        assert!((grid.depth(&kept, [0.95, 0.0]) - 0.038).abs() < 1e-12);
        assert_eq!(grid.depth(&kept, [-5.0, 99.0]), 0.0);
    }
}
