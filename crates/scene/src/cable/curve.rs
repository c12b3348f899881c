//! Where the nodes of a flexible cable lie as it is laid: n elements of equal chords.

use super::{Quat, Vec3};

/// Pieces that a curve between two places is drawn with.
const FINENESS: usize = 64;
/// Halvings of an interval that is searched.
const HALVINGS: usize = 60;

/// Orientations of elements, x along each, turned from the one before without twist.
pub(super) fn without_twist(nodes: &[Vec3]) -> Vec<Quat> {
    let mut turn = Quat::IDENTITY;
    let next = |pair: &[Vec3]| {
        let along = (pair[1] - pair[0]).normalize_or(Vec3::X);
        turn = Quat::from_rotation_arc(turn * Vec3::X, along) * turn;
        turn
    };
    nodes.windows(2).map(next).collect()
}

/// Nodes and orientations of a cable that is free of moment, from a place and axes where it is held.
pub(super) fn at_rest(from: Vec3, first: Quat, half_turn: Quat, l: f64, n: usize) -> (Vec<Vec3>, Vec<Quat>) {
    let (mut nodes, mut turns) = (vec![from], Vec::with_capacity(n));
    let mut axes = first;
    for k in 0..n {
        axes *= half_turn;
        turns.push(axes);
        nodes.push(nodes[k] + axes * Vec3::X * l);
        axes *= half_turn;
    }
    (nodes, turns)
}

/// Chord [m] and nodes of a smooth curve through places, with directions at its ends where there are any; between two places the curve is led out
/// so far that its chords make up `length` [m].
pub(super) fn through(
    places: &[Vec3],
    directions: [Option<Vec3>; 2],
    length: Option<f64>,
    n: usize,
) -> (f64, Vec<Vec3>) {
    let laid = |lead: f64| chords(&drawn(places, &slopes(places, directions, lead)), n);
    let Some(length) = length else { return laid(1.0) };
    let (mut short, mut long) = (0.0, 1.0);
    while laid(long).0 * (n as f64) < length && long < 1e3 {
        (short, long) = (long, 2.0 * long);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (short + long);
        if laid(middle).0 * (n as f64) < length { short = middle } else { long = middle }
    }
    laid(long)
}

/// Slopes of a cubic curve at its places, per piece: those of the parabola through three places (centripetal Catmull-Rom: Yuksel, Schaefer, Keyser
/// 2011), of the given directions, `lead` chords long, at the ends.
fn slopes(places: &[Vec3], directions: [Option<Vec3>; 2], lead: f64) -> Vec<[Vec3; 2]> {
    let last = places.len() - 1;
    let knot = |k: usize| (places[k + 1] - places[k]).length().sqrt();
    let inner = |k: usize| {
        let (a, b) = (knot(k - 1), knot(k));
        let (into, out) = ((places[k] - places[k - 1]) / a, (places[k + 1] - places[k]) / b);
        (into * b + out * a) / (a + b)
    };
    let at = |k: usize, piece: usize| {
        let (own, chord) = (knot(piece), places[piece + 1] - places[piece]);
        let given = if k == 0 {
            directions[0]
        } else if k == last {
            directions[1]
        } else {
            return inner(k) * own;
        };
        match given {
            Some(direction) => direction.normalize() * chord.length() * lead,
            None if last == 1 => chord * lead,
            // no curvature at an end that may turn: half of what is left of three chords
            None => 1.5 * chord - 0.5 * inner(if k == 0 { 1 } else { last - 1 }) * own,
        }
    };
    (0..last).map(|piece| [at(piece, piece), at(piece + 1, piece)]).collect()
}

/// A cubic curve through places as a fine polygon.
fn drawn(places: &[Vec3], slopes: &[[Vec3; 2]]) -> Vec<Vec3> {
    let mut line = vec![places[0]];
    for (pair, [out, into]) in places.windows(2).zip(slopes) {
        for k in 1..=FINENESS {
            let t = k as f64 / FINENESS as f64;
            let (t2, t3) = (t * t, t * t * t);
            let at = pair[0] * (2.0 * t3 - 3.0 * t2 + 1.0) + pair[1] * (3.0 * t2 - 2.0 * t3);
            line.push(at + *out * (t3 - 2.0 * t2 + t) + *into * (t3 - t2));
        }
    }
    line
}

/// n chords of one length from the first to the last point of a polygon, and their ends.
fn chords(line: &[Vec3], n: usize) -> (f64, Vec<Vec3>) {
    let end = line[line.len() - 1];
    let whole: f64 = line.windows(2).map(|pair| (pair[1] - pair[0]).length()).sum();
    let (mut short, mut long) = (0.0, whole / n as f64);
    for _ in 0..HALVINGS {
        let l = 0.5 * (short + long);
        let is_short = walk(line, l, n - 1).is_some_and(|nodes| (end - nodes[n - 1]).length() > l);
        if is_short { short = l } else { long = l }
    }
    let mut nodes = walk(line, short, n - 1).unwrap_or_else(|| vec![line[0]; n]);
    nodes.push(end);
    (short, nodes)
}

/// The first point of a polygon and `n` more, each a chord l from the last; none if it ends before.
fn walk(line: &[Vec3], l: f64, n: usize) -> Option<Vec<Vec3>> {
    let mut nodes = vec![line[0]];
    let mut piece = 0;
    for _ in 0..n {
        let from = nodes[nodes.len() - 1];
        while (line.get(piece + 1)? - from).length() < l {
            piece += 1;
        }
        // |a + s (b - a) - from| = l
        let (a, d) = (line[piece] - from, line[piece + 1] - line[piece]);
        let (half, dd) = (a.dot(d), d.length_squared());
        let s = (-half + (half * half - dd * (a.length_squared() - l * l)).max(0.0).sqrt()) / dd;
        nodes.push(line[piece] + d * s);
    }
    Some(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_through_places_are_equally_long() {
        let places = [Vec3::ZERO, Vec3::new(1.0, 0.5, 0.0), Vec3::new(1.5, 2.0, 0.7), Vec3::new(0.0, 2.0, 1.0)];
        let (l, nodes) = through(&places, [None; 2], None, 40);
        assert_eq!(nodes.len(), 41);
        for pair in nodes.windows(2) {
            assert!(((pair[1] - pair[0]).length() / l - 1.0).abs() < 1e-9);
        }
        assert_eq!((nodes[0], nodes[40]), (places[0], places[3]));
    }

    #[test]
    fn a_hose_between_two_directions_is_as_long_as_it_is_written() {
        let places = [Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0)];
        let (l, nodes) = through(&places, [Some(Vec3::Z), Some(Vec3::NEG_Z)], Some(2.0), 20);
        assert!((20.0 * l - 2.0).abs() < 1e-9, "{l}");
        assert!(nodes[10].z > 0.4 && (nodes[10].x - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_cable_free_of_moment_closes_a_circle() {
        let n = 36;
        let half_turn = Quat::from_rotation_z(std::f64::consts::PI / n as f64);
        let (nodes, _) = at_rest(Vec3::ZERO, Quat::IDENTITY, half_turn, 0.1, n);
        assert!(nodes[n].length() < 1e-12);
    }
}
