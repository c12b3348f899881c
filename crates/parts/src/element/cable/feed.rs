//! A cable that goes on in elements: it pays them out, and takes them in, at its end.
//!
//! The piece between the last wheel and the first element, the lead, has no mass. Where its length at rest, s, has grown to 7/4 of an element, l,
//! one comes in: it lies along the lead, as stretched as this, so that length at rest and stored energy go over from the lead,
//!   L' = L - l,   lambda' = lambda - l (1 + T/EA),   L the line's length at rest, lambda its path,
//! and moves as the lead does, which its ends carry: nothing else in the cable changes its motion. Where the lead is shorter than l/2 the first
//! element leaves, with its own momentum, and L' = L + l. A length of rope takes its mass, momentum and energy along through the wheel: mass
//! that enters or leaves is the length's, and the energy of what enters or leaves is work.
//!
//! In a fixed step the first element swings on the lead faster than the step where 3 h^2 T > m l (`cable_joint.rs`): K = T/s + 2 T/l on M = m/6,
//! and a lead that turns by theta against it is damped by   c = 2 * 5 h^3 T^2/(32 m),   enough for s from l/2 to 7 l/4: h C/M >= h^2 K/(2 M) - 2 with
//! C = c (1/s + 2/l)^2.

use super::route::{Lines, Route};
use super::{Cable, Span};
use crate::element::{Fed, RowEnd, RowList, Seen, Strut, UNBOUNDED};
use crate::kinematics::Kinematics;
use crate::six::Six;
use std::ops::Range;
use tippe_geometry::{Mat3, Quat, Vec3};

/// A lead so many elements long pays one out [-].
const LONGEST_LEAD: f64 = 1.75;
/// A lead so many elements long takes one in [-].
const SHORTEST_LEAD: f64 = 0.5;
/// An element comes in only if the lead is longer than it by this share, so that it has a direction [-].
const ROOM: f64 = 1.1;
/// Its modes that feed: end, and whether an element comes in.
pub const FEED_MODES: [(usize, bool); 4] = [(0, true), (0, false), (1, true), (1, false)];
/// An element comes in or goes where it was found to be time to within this [-].
const SMALLEST: f64 = 1e-9;
/// First part of the rows that damp leads.
const LEADS: u8 = 100;

/// The elements at an end of a cable.
#[derive(Clone, Debug)]
pub struct Feed {
    /// Which of the cable's frames are at the ends of all elements, nearest to the load first.
    pub frames: Range<usize>,
    /// The state that counts those which are out.
    pub state: usize,
    /// l [m].
    pub length: f64,
    /// m [kg].
    pub mass: f64,
}

impl Feed {
    /// How many elements are out.
    pub fn out(&self, states: &[f64]) -> usize {
        states[self.state] as usize
    }
}

/// The piece between the last wheel and the first element.
struct Lead<'a> {
    span: &'a Span,
    /// The point of the element, and that of the wheel.
    point: usize,
    wheel: usize,
    line: usize,
}

impl Cable {
    /// The lead at an end.
    fn lead<'a>(&self, route: &'a Route, end: usize) -> Lead<'a> {
        let n = self.points.len();
        let before = route.before_last(n);
        match end {
            0 => Lead { span: &route.spans[0], point: 0, wheel: route.next[0], line: 0 },
            _ => Lead { span: &route.spans[before], point: n - 1, wheel: before, line: self.lines() - 1 },
        }
    }

    /// By how much a lead asks for an element to come in, or to go, in elements; below zero where it does not [-].
    pub(super) fn asks(&self, end: usize, out: bool, (route, lines): (&Route, &Lines), states: &[f64]) -> f64 {
        let Some(feed) = &self.feeds[end] else { return -1.0 };
        let Lead { span, line, .. } = self.lead(route, end);
        let rest = span.length / (1.0 + lines.strain[line]) / feed.length;
        let (count, reach) = (feed.out(states), ROOM - 1.0);
        match out {
            true if count < feed.frames.len() => (rest - LONGEST_LEAD).min(rest - 1.0 - reach),
            false if count > 1 => SHORTEST_LEAD - rest,
            _ => -1.0,
        }
    }

    /// Pays an element out, or takes one in, where its lead asks for it; states change.
    pub(super) fn pass(&self, end: usize, out: bool, seen: &Seen<'_>, states: &mut [f64]) -> Option<Fed> {
        let feed = self.feeds[end].as_ref()?;
        if self.is_broken(seen.modes) {
            return None;
        }
        let route = Route::of(self, seen.frames, seen.states);
        let lines = Lines::of(self, &route, seen.modes);
        if self.asks(end, out, (&route, &lines), states) < -SMALLEST {
            return None;
        }
        let line = self.lead(&route, end).line;
        let count = feed.out(states);
        let by = if out { 1.0 } else { -1.0 };
        states[line] -= by * feed.length;
        states[feed.state] += by;
        if !out {
            let frame = feed.frames.start + count - 1;
            return Some(Fed { frame, motion: seen.frames[frame] });
        }
        let motion = self.enters((&route, &lines), end, seen.frames, feed.length);
        Some(Fed { frame: feed.frames.start + count, motion })
    }

    /// Motion of the frame of the element that comes in.
    fn enters(&self, (route, lines): (&Route, &Lines), end: usize, frames: &[Kinematics], l: f64) -> Kinematics {
        let Lead { span, point, wheel, line } = self.lead(route, end);
        let reach = l * (1.0 + lines.strain[line]);
        let (at, held) = (&frames[route.frames[point]], &frames[route.frames[wheel]]);
        let back = if end == 0 { span.d } else { -span.d };
        // the lead turns as its ends move across it
        let w = back.cross(held.v - at.v) / span.length;
        let turn = Mat3::from_quat(Quat::from_rotation_arc(at.R.x_axis.normalize(), span.d));
        Kinematics { p: at.p + back * reach, R: turn * at.R, v: at.v + w.cross(back * reach), w }
    }

    /// Damps how leads turn against the elements they pull at, where the step is too long for that.
    pub(super) fn damp_leads(&self, route: &Route, lines: &Lines, h: f64, out: &mut RowList) {
        for (end, feed) in self.feeds.iter().enumerate() {
            let Some(feed) = feed else { continue };
            let Lead { span, point, wheel: held, line } = self.lead(route, end);
            let tension = lines.tension[line];
            if 3.0 * h * h * tension <= feed.mass * feed.length || span.length <= 0.0 {
                continue;
            }
            let damping = 2.0 * 5.0 * h * h * h * tension * tension / (32.0 * feed.mass);
            let (own, wheel) = (end, 1 - end);
            let back = if end == 0 { span.d } else { -span.d };
            let (u, v) = back.any_orthonormal_pair();
            for (k, axis) in [u, v].into_iter().enumerate() {
                // theta' = axis . (back x (v_wheel - v_own))/s - axis . w_own
                let across = axis.cross(back) / span.length;
                let frames = [route.frames[point], route.frames[held]];
                let ends = [
                    RowEnd::Frame { frame: frames[0], at: span.ends[own].at, axes: Six::new(-axis, -across) },
                    RowEnd::Frame { frame: frames[1], at: span.ends[wheel].at, axes: Six::new(Vec3::ZERO, across) },
                ];
                let strut = Strut {
                    stiffness: 0.0,
                    damping,
                    phi: 0.0,
                    damped_by_step: true,
                    bounds: UNBOUNDED,
                    bound: f64::INFINITY,
                };
                out.strut(LEADS + (2 * end + k) as u8, strut, &ends);
            }
        }
    }
}
