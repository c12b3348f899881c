//! Along a heavy line at rest: where it runs, and how far its parts are strained.

use super::Catenary;
use super::hanging::{AtRest, Hanging, reach};
use libm::hypot;

impl Hanging {
    /// The end from which a line with several parts is walked along: that which does not lie.
    fn walked_from(&self) -> usize {
        self.bottom.map_or(0, |bottom| 1 - bottom.anchor)
    }

    /// Its parts in that order.
    fn in_order(&self) -> impl Iterator<Item = (usize, &Catenary)> {
        let (n, back) = (self.parts.len(), self.walked_from() == 1);
        (0..n).map(move |k| if back { n - 1 - k } else { k }).map(|k| (k, &self.parts[k]))
    }

    /// The largest of the tensions at the ends of its parts over what each of them bears [-].
    pub fn strained(&self, rest: &AtRest, bears: &[f64]) -> f64 {
        let from = self.walked_from();
        if self.parts.len() == 1 {
            return rest.tension(0).max(rest.tension(1)) / bears[0];
        }
        let (H, mut V) = (rest.level[from], rest.carried[from]);
        let mut most = 0.0_f64;
        for (k, part) in self.in_order() {
            let U = V - part.weight * part.length;
            let U = if rest.lying > 0.0 { U.max(0.0) } else { U };
            most = most.max(hypot(H, V).max(hypot(H, U)) / bears[k]);
            V = U;
        }
        most
    }

    /// Points along it from its first end to its last, `pieces` for each part: level distance from the first end and height in the world [m].
    pub fn points(&self, rest: &AtRest, (r, heights): (f64, [f64; 2]), pieces: usize) -> Vec<[f64; 2]> {
        let arc = |part: &Catenary, H: f64, V: f64, s: f64, k: usize| {
            let s = s * k as f64 / pieces as f64;
            if s > 0.0 && H > 0.0 { reach(&Catenary { length: s, ..*part }, H, V).place } else { [0.0, -s] }
        };
        if let ([part], true) = (&self.parts[..], rest.lying > 0.0) {
            let half = |end: usize| {
                let (H, V) = (rest.level[end].max(rest.level[1 - end]), rest.carried[end]);
                let s = if part.weight > 0.0 { V / part.weight } else { 0.0 };
                (0..=pieces).map(move |k| arc(part, H, V, s, k)).map(move |[x, z]| [x, heights[end] + z])
            };
            let back = half(1).map(|[x, z]| [r - x, z]);
            return half(0).chain(back.collect::<Vec<_>>().into_iter().rev()).collect();
        }
        let from = self.walked_from();
        let (H, mut V) = (rest.level[from], rest.carried[from]);
        let mut line = vec![[0.0, heights[from]]];
        for (_, part) in self.in_order() {
            let (L, begin) = (part.length, line[line.len() - 1]);
            let lies = rest.lying > 0.0 && V < part.weight * L;
            let s = if lies { (V / part.weight).max(0.0) } else { L };
            line.extend((1..=pieces).map(|k| arc(part, H, V, s, k)).map(|[x, z]| [begin[0] + x, begin[1] + z]));
            V = if lies { 0.0 } else { V - part.weight * L };
            if lies {
                let [x, z] = line[line.len() - 1];
                line.push([x + (L - s) * (1.0 + H / part.stiffness), z]);
            }
        }
        if from == 1 {
            line.reverse();
            line.iter_mut().for_each(|point| point[0] = r - point[0]);
        }
        line
    }
}
