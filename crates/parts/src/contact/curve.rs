//! A coefficient over a speed: straight between its points, level beyond them.

/// A curve of up to [`Curve::MOST`] points; none: there is no curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// Speed [m/s] and value [-] of each point, speeds ascending.
    points: [[f64; 2]; Curve::MOST],
    /// How many there are.
    count: usize,
}

impl Curve {
    /// Points of a curve at most.
    pub const MOST: usize = 8;

    /// Through these points, speeds ascending; more than [`Curve::MOST`] are left out.
    pub fn through(points: &[[f64; 2]]) -> Curve {
        let mut curve = Curve { count: points.len().min(Curve::MOST), ..Curve::default() };
        curve.points[..curve.count].copy_from_slice(&points[..curve.count]);
        curve
    }

    /// True if there is no curve.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Largest value [-]; zero without points.
    pub fn largest(&self) -> f64 {
        self.points[..self.count].iter().fold(0.0, |most, point| f64::max(most, point[1]))
    }

    /// Value at a speed [m/s]; none without points.
    #[inline]
    pub fn at(&self, speed: f64) -> Option<f64> {
        let points = &self.points[..self.count];
        let after = points.partition_point(|point| point[0] <= speed);
        let (first, last) = (points.first()?, points.last()?);
        Some(match after {
            0 => first[1],
            k if k == points.len() => last[1],
            k => {
                let [[v0, y0], [v1, y1]] = [points[k - 1], points[k]];
                y0 + (y1 - y0) * ((speed - v0) / (v1 - v0))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_straight_between_points_and_level_beyond() {
        let curve = Curve::through(&[[1.0, 0.5], [3.0, 0.1], [4.0, 0.3]]);
        for (speed, value) in [(0.0, 0.5), (1.0, 0.5), (2.0, 0.3), (3.5, 0.2), (9.0, 0.3)] {
            assert!((curve.at(speed).unwrap() - value).abs() < 1e-15, "{speed}");
        }
        assert_eq!(curve.largest(), 0.5);
        assert!(Curve::default().is_empty() && Curve::default().at(1.0).is_none());
    }
}
