//! How the elements of a flexible cable hang at rest between two ends.
//!
//! A chain of n rigid elements of length l and weight w l, with joints that give by F l/EA along the force F they carry, and by half of that at the
//! ends of the chain: with the level part H of the tension and V what its first end carries,
//!   F_k = H e - (V - w l k) up,   k = 0 ... n,   element k along F_(k-1) + F_k,
//! for joints carry no moment. H and V with which it ends where it must are next to those of the smooth line; Newton's method finds them. A slack chain
//! whose ends stand above each other has no such rest (its lowest element lies across, and none leans back): it is laid along the smooth line.

use super::Vec3;
use super::element::Catenary;

/// A cable is slack if it is longer than its chord by more than this share [-].
const LEAST_SLACK: f64 = 1e-9;
/// A cable whose tension is so many times its weight is laid straight [-].
const STRAIGHT: f64 = 1e6;
/// Newton's steps at most.
const NEWTON: usize = 40;
/// The end is met to this share of the length [-].
const EXACT: f64 = 1e-13;
/// A chain that ends farther from where it must, by this share of its length, has no such rest [-].
const MET: f64 = 1e-9;
/// Slopes are differences over this share of the pull [-].
const DIFFERENCE: f64 = 1e-6;

/// A chain at rest.
pub(super) struct Chain {
    /// Middles of its joints, its ends included [m].
    pub nodes: Vec<Vec3>,
    /// Middles of its elements [m].
    pub middles: Vec<Vec3>,
    /// Directions of its elements.
    along: Vec<Vec3>,
}

impl Chain {
    /// With elements from each of these points to the next.
    fn through(nodes: Vec<Vec3>) -> Chain {
        let middles = nodes.windows(2).map(|pair| (pair[0] + pair[1]) * 0.5).collect();
        let along = nodes.windows(2).map(|pair| (pair[1] - pair[0]).normalize_or(Vec3::X)).collect();
        Chain { nodes, middles, along }
    }

    /// Points from each of which an element points to the next.
    pub fn pointers(&self) -> Vec<Vec3> {
        let mut at = Vec3::ZERO;
        let next = |along: &Vec3| {
            at += *along;
            at
        };
        std::iter::once(Vec3::ZERO).chain(self.along.iter().map(next)).collect()
    }
}

/// n + 1 points at equal lengths along a straight line.
pub(super) fn straight([from, to]: [Vec3; 2], n: usize) -> Vec<Vec3> {
    (0..=n).map(|k| from + (to - from) * (k as f64 / n as f64)).collect()
}

/// The chain between two ends, whose joints carry no moment, or where elements are one body, and do, along the smooth line; none where it is as good
/// as straight.
pub(super) fn chain(
    [from, to]: [Vec3; 2],
    line: &Catenary,
    gravity: Vec3,
    (n, welded): (usize, bool),
) -> Option<Chain> {
    let chord = to - from;
    let up = -gravity.normalize_or(Vec3::NEG_Z);
    let height = chord.dot(up);
    let level = chord - up * height;
    let (span, weight) = (level.length(), line.weight * line.length);
    let slack = line.length > chord.length() * (1.0 + LEAST_SLACK);
    if weight <= 0.0 || !slack && line.stiffness * (chord.length() / line.length - 1.0) > STRAIGHT * weight {
        return None;
    }
    let side = if span > LEAST_SLACK * line.length { level / span } else { up.any_orthonormal_vector() };
    let smooth = line.solve(span, height, None);
    let of = |pull: [f64; 2], each: &mut dyn FnMut([f64; 2], [f64; 2], [f64; 2])| walk(line, pull, n, each);
    let miss = |pull: [f64; 2]| {
        let end = of(pull, &mut |_, _, _| ());
        [span - end[0], height - end[1]]
    };
    let found = solve(smooth, line.length, &miss);
    let place = |[x, z]: [f64; 2]| from + side * x + up * z;
    let missed = miss(found);
    let met = libm::hypot(missed[0], missed[1]) <= MET * line.length;
    if welded || !met {
        let nodes = (0..=n).map(|k| place(line.place(smooth, line.length * k as f64 / n as f64).0)).collect();
        return Some(Chain::through(nodes));
    }
    let mut chain = Chain { nodes: vec![from], middles: Vec::with_capacity(n), along: Vec::with_capacity(n) };
    of(found, &mut |middle, along, node| {
        chain.middles.push(place(middle));
        chain.along.push(side * along[0] + up * along[1]);
        chain.nodes.push(place(node));
    });
    chain.nodes[n] = to;
    Some(chain)
}

/// The end of a chain that is pulled like this; `each` is told the middle of each element, its direction and the middle of the joint behind it.
fn walk(line: &Catenary, [H, V]: [f64; 2], n: usize, each: &mut dyn FnMut([f64; 2], [f64; 2], [f64; 2])) -> [f64; 2] {
    let l = line.length / n as f64;
    let force = |k: f64| [H, -(V - line.weight * l * k)];
    let mut at = [0.0; 2];
    let mut give = 0.5 * l / line.stiffness;
    for k in 0..n {
        let (pull, mean) = (force(k as f64), force(k as f64 + 0.5));
        let size = libm::hypot(mean[0], mean[1]);
        let along = if size > 0.0 { mean.map(|part| part / size) } else { [1.0, 0.0] };
        at = [0, 1].map(|i| at[i] + give * pull[i] + 0.5 * l * along[i]);
        let middle = at;
        at = [0, 1].map(|i| at[i] + 0.5 * l * along[i]);
        give = l / line.stiffness;
        let behind = force(k as f64 + 1.0);
        each(middle, along, [0, 1].map(|i| at[i] + 0.5 * give * behind[i]));
    }
    let last = force(n as f64);
    [0, 1].map(|i| at[i] + 0.5 * l / line.stiffness * last[i])
}

/// The pull with which nothing is missed, as near as steps that bring it nearer come.
fn solve(smooth: [f64; 2], length: f64, miss: &dyn Fn([f64; 2]) -> [f64; 2]) -> [f64; 2] {
    let size = |miss: [f64; 2]| libm::hypot(miss[0], miss[1]);
    let mut found = smooth;
    for _ in 0..NEWTON {
        let now = miss(found);
        if size(now) <= EXACT * length {
            break;
        }
        let d = DIFFERENCE * libm::hypot(found[0], found[1]);
        let by = [0, 1].map(|k| {
            let mut moved = found;
            moved[k] += d;
            let then = miss(moved);
            [0, 1].map(|i| (then[i] - now[i]) / d)
        });
        let determinant = by[0][0] * by[1][1] - by[0][1] * by[1][0];
        let step = [
            (by[1][0] * now[1] - by[1][1] * now[0]) / determinant,
            (by[0][1] * now[0] - by[0][0] * now[1]) / determinant,
        ];
        let mut share = 1.0;
        let better = (0..40).find_map(|_| {
            let next = [found[0] + share * step[0], found[1] + share * step[1]];
            share *= 0.5;
            (next[0] >= 0.0 && size(miss(next)) < size(now)).then_some(next)
        });
        let Some(next) = better else { break };
        found = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -10.0);

    /// Elements bear no moment: what their joints pull, offset by what they give, points along them.
    #[test]
    fn a_chain_ends_where_it_must_and_every_element_balances() {
        let line = Catenary { length: 11.0, weight: 50.0, stiffness: 1e6 };
        let ends = [[10.0, 0.0], [6.0, 4.0], [4.0, -9.0], [11.2, 0.0], [0.0, -11.5]];
        for [x, z] in ends {
            let to = Vec3::new(1.0 + x, 2.0, 3.0 + z);
            let n = 20;
            let Some(chain) = chain([Vec3::new(1.0, 2.0, 3.0), to], &line, GRAVITY, (n, false)) else {
                panic!("{x} {z}")
            };
            let l = line.length / n as f64;
            let tip = |k: usize, way: f64| chain.middles[k] + chain.along[k] * (0.5 * l * way);
            let mut pulls = vec![(tip(0, -1.0) - Vec3::new(1.0, 2.0, 3.0)) * (2.0 * line.stiffness / l)];
            pulls.extend((1..n).map(|k| (tip(k, -1.0) - tip(k - 1, 1.0)) * (line.stiffness / l)));
            pulls.push((to - tip(n - 1, 1.0)) * (2.0 * line.stiffness / l));
            for k in 0..n {
                let rest = pulls[k + 1] - pulls[k] - Vec3::Z * (line.weight * l);
                let moment = chain.along[k].cross(pulls[k] + pulls[k + 1]);
                let most = pulls[k].length() + line.weight * l;
                assert!(rest.length() < 1e-6 * most && moment.length() < 1e-6 * most, "{x} {z} {k}: {rest} {moment}");
            }
        }
    }

    /// A slack chain between ends above each other is laid along the smooth line.
    #[test]
    fn a_loop_upright_is_laid_smoothly() {
        let line = Catenary { length: 11.0, weight: 50.0, stiffness: 1e6 };
        let to = Vec3::new(0.0, 0.0, -10.5);
        let Some(chain) = chain([Vec3::ZERO, to], &line, GRAVITY, (20, false)) else { panic!("it is slack") };
        assert!((chain.nodes[20] - to).length() < 1e-6, "{}", chain.nodes[20]);
        let lowest = chain.nodes.iter().map(|node| node.z).fold(0.0, f64::min);
        assert!((lowest + 10.75).abs() < 0.3, "{lowest}");
    }
}
