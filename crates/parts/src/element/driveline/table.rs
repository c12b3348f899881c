//! Tables of two columns: straight lines between points, constant outside.

use tippe_format::key::{Form, Key, Measure, Range, key};
use tippe_format::part::{Check, Part};

/// Points (x, y), x rising.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<[f64; 2]>);

/// A pair of numbers of any unit.
const PAIRS: Form = Form::List(&Form::Vector(2, Measure { dimension: None, range: Range::Any }));

/// A key with such a table.
pub(super) const fn pairs(name: &'static str, about: &'static str) -> Key {
    key(name, PAIRS, about)
}

/// An error where the first column does not rise or the table is empty.
pub(super) fn rising(check: &mut Check<'_>, name: &'static str) {
    if !check.has(name) || check.part.get(name).is_none() {
        return;
    }
    let points = Table::of(check.part, name).0;
    if points.is_empty() {
        check.error(name, format!(" has no points in {name}"), "write two or more, such as [[0, 1], [100, 2]]");
    }
    if let Some(k) = points.windows(2).position(|pair| pair[1][0] <= pair[0][0]) {
        let [before, after] = [points[k][0], points[k + 1][0]];
        let message = format!(": {name} goes from {before} to {after} in its first column, which has to rise");
        check.error(name, message, "write the points in rising order, each once");
    }
}

impl Table {
    /// What is written under a key.
    pub fn of(part: &Part, key: &str) -> Table {
        Table(part.numbers(key).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    }

    /// y at x; zero of a table without points.
    pub fn at(&self, x: f64) -> f64 {
        let after = self.0.partition_point(|point| point[0] <= x);
        match (after.checked_sub(1).map(|k| self.0[k]), self.0.get(after)) {
            (Some([x0, y0]), Some([x1, y1])) => y0 + (x - x0) / (x1 - x0) * (y1 - y0),
            (Some([_, y]), None) | (None, Some(&[_, y])) => y,
            (None, None) => 0.0,
        }
    }

    /// The last point.
    pub fn last(&self) -> [f64; 2] {
        self.0.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
impl Table {
    /// These points.
    pub fn from(points: &[[f64; 2]]) -> Table {
        Table(points.to_vec())
    }
}
