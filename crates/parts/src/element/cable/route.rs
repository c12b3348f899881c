//! A cable at one instant: its spans, what its lines measure, the tensions and where rope slides; and the end of a fixed step.

use super::path::{Circle, Span, Touch, span, turned, wrap};
use super::{Cable, MOST_POINTS, Role, within_a_turn};
use crate::element::{Acting, ElementMode, Finish};
use crate::kinematics::Kinematics;
use crate::six::Six;
use libm::acos;
use std::ops::Range;
use tippe_geometry::Vec3;

/// Newton's steps for the tension of lines that slide, at most.
const NEWTON: usize = 60;
/// Rounds in which a drum's radius and what it takes up are found; each is some hundred times nearer.
const ROUNDS: usize = 5;
/// Pieces in which an arc is drawn.
const ARC: usize = 16;
/// A tension is found where it changes by less than this share [-].
const SMALLEST_CHANGE: f64 = 1e-15;

/// What is laid onto each point from the span before it and from the span behind it: lengths, or rates of lengths, under tension.
pub type Laying = [[f64; 2]; MOST_POINTS];

/// The geometry of a cable.
#[derive(Clone, Debug)]
pub struct Route {
    /// Its spans.
    pub spans: [Span; MOST_POINTS],
    /// False if a point is inside a wheel.
    pub clear: bool,
    /// Circles of its points, drums with what lies on them.
    pub circles: [Circle; MOST_POINTS],
    /// Which of the cable's frames each point has.
    pub frames: [usize; MOST_POINTS],
    /// Their origins, resolved in world [m].
    pub origins: [Vec3; MOST_POINTS],
    /// Wrap angles; of rings the angle between their spans [rad].
    pub wraps: [f64; MOST_POINTS],
    /// Their rates [rad/s].
    pub wrapping: [f64; MOST_POINTS],
    /// States of wheels and drums by point: what lies there [m], or the wrap angle [rad].
    pub laid: [f64; MOST_POINTS],
    /// What is laid onto each point per time [m/s].
    pub laying: Laying,
    /// L by line [m].
    pub rest: [f64; MOST_POINTS],
    /// lambda by line [m].
    pub path: [f64; MOST_POINTS],
    /// lambda' by line [m/s].
    pub path_rate: [f64; MOST_POINTS],
    /// Rates at which lines are stretched by the points of bodies they touch [m/s].
    pub parting: [f64; MOST_POINTS],
    /// Line of each span.
    pub line_of: [usize; MOST_POINTS],
    /// The point that the span from each point goes to; zero of wheels inside lines that the cable has left: it passes them.
    pub next: [usize; MOST_POINTS],
}

impl Route {
    /// As frames and states are. A cable has left a wheel inside a line where the angle it would be wrapped by is below zero.
    pub fn of(cable: &Cable, frames: &[Kinematics], states: &[f64]) -> Route {
        Route::on(cable, frames, states, true)
    }

    /// With the cable on all of its wheels, unless it may leave them.
    pub fn on(cable: &Cable, frames: &[Kinematics], states: &[f64], leaves: bool) -> Route {
        let n = cable.points.len();
        let mut route = Route {
            spans: [Span::default(); MOST_POINTS],
            clear: true,
            circles: [Circle { radius: 0.0, sense: 1.0 }; MOST_POINTS],
            frames: std::array::from_fn(|k| k),
            origins: [Vec3::ZERO; MOST_POINTS],
            wraps: [0.0; MOST_POINTS],
            wrapping: [0.0; MOST_POINTS],
            laid: [0.0; MOST_POINTS],
            laying: [[0.0; 2]; MOST_POINTS],
            rest: [0.0; MOST_POINTS],
            path: [0.0; MOST_POINTS],
            path_rate: [0.0; MOST_POINTS],
            parting: [0.0; MOST_POINTS],
            line_of: [0; MOST_POINTS],
            next: std::array::from_fn(|k| k + 1),
        };
        route.rest[..cable.lines()].copy_from_slice(&states[..cable.lines()]);
        for (end, feed) in cable.feeds.iter().enumerate() {
            if let Some(feed) = feed {
                route.frames[end * (n - 1)] = feed.frames.start + feed.out(states) - 1;
            }
        }
        let mut state = cable.lines();
        for (k, point) in cable.points.iter().enumerate() {
            route.origins[k] = frames[route.frames[k]].p;
            route.circles[k] = point.circle;
            if point.circle.radius > 0.0 {
                route.laid[k] = states[state];
                state += 1;
            }
            if let Role::Drum(spool) = &point.role {
                route.circles[k].radius = spool.layer(point.circle.radius, route.laid[k]).1;
            }
        }
        for line in 0..cable.lines() {
            cable.spans_of(line).for_each(|k| route.line_of[k] = line);
        }
        route.measure(cable, frames, (n, leaves));
        route
    }

    /// Points that the cable touches, in order, each with the one its span goes to.
    pub fn touched(&self, n: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let first = (0, self.next[0]);
        std::iter::successors(Some(first), move |(_, k)| (*k < n - 1).then(|| (*k, self.next[*k])))
    }

    /// The point before the last one.
    pub fn before_last(&self, n: usize) -> usize {
        self.touched(n).last().map_or(0, |(k, _)| k)
    }

    /// Angle by which the cable is wrapped around wheel k, where it comes from and where it goes on [rad].
    fn wrapped(&self, cable: &Cable, k: usize, [comes, leaves]: [&Span; 2]) -> f64 {
        let Circle { radius, sense } = self.circles[k];
        let near = if self.is_inside(cable, k) { self.laid[k] } else { self.laid[k] / radius };
        wrap(sense, comes.ends[1].angle, leaves.ends[0].angle, near)
    }

    /// True of a wheel inside a line: the length on it counts, not what is laid onto it.
    fn is_inside(&self, cable: &Cable, k: usize) -> bool {
        let is_end = k == 0 || k + 1 == cable.points.len();
        cable.points[k].circle.radius > 0.0 && !is_end && self.line_of[k - 1] == self.line_of[k]
    }

    /// The span from point j to point k; false as second if one is inside the other.
    fn span_of(&self, frames: &[Kinematics], j: usize, k: usize) -> (Span, bool) {
        span([j, k].map(|k| &frames[self.frames[k]]), [&self.circles[j], &self.circles[k]])
    }

    /// Lays the spans, past the wheels that the cable has left.
    fn lay(&mut self, cable: &Cable, frames: &[Kinematics], (n, leaves): (usize, bool)) {
        for k in 0..n - 1 {
            let clear;
            (self.spans[k], clear) = self.span_of(frames, k, k + 1);
            self.clear &= clear;
        }
        if !leaves {
            return;
        }
        loop {
            let mut farthest = (0.0, 0, 0);
            let mut before = 0;
            for (k, _) in self.touched(n).skip(1) {
                if self.is_inside(cable, k) {
                    let wrap = self.wrapped(cable, k, [&self.spans[before], &self.spans[k]]);
                    farthest = if wrap < farthest.0 { (wrap, before, k) } else { farthest };
                }
                before = k;
            }
            let (_, before, left) = farthest;
            if left == 0 {
                return;
            }
            self.next[before] = self.next[left];
            self.next[left] = 0;
            self.spans[left] = Span::default();
            self.spans[before] = self.span_of(frames, before, self.next[before]).0;
        }
    }

    /// Spans, wraps and lengths of lines, with their rates.
    fn measure(&mut self, cable: &Cable, frames: &[Kinematics], (n, leaves): (usize, bool)) {
        self.lay(cable, frames, (n, leaves));
        let mut turning = [[0.0; 2]; MOST_POINTS];
        let next = self.next;
        let mut k = 0;
        while k < n - 1 {
            let ends = [k, next[k]].map(|k| &frames[self.frames[k]]);
            let (line, found) = (self.line_of[k], self.spans[k]);
            let laid;
            (turning[k], laid) = self.laying_of(cable, (k, &found), ends);
            let parting = found.parting(ends);
            (self.laying[k][1], self.laying[next[k]][0]) = (laid[0], laid[1]);
            self.path[line] += found.length;
            self.path_rate[line] += parting - laid[0] - laid[1];
            self.parting[line] += parting - laid[0] - laid[1];
            k = next[k];
        }
        let mut before = 0;
        for k in 1..n - 1 {
            let Circle { radius, sense } = self.circles[k];
            if next[k] == 0 {
                (self.wraps[k], self.wrapping[k]) = self.passed(cable, frames, (before, k, n));
                continue;
            }
            let [comes, leaves] = [&self.spans[before], &self.spans[k]];
            let came = std::mem::replace(&mut before, k);
            if radius == 0.0 {
                self.wraps[k] = acos(comes.d.dot(leaves.d).clamp(-1.0, 1.0));
                continue;
            }
            self.wraps[k] = self.wrapped(cable, k, [comes, leaves]);
            self.wrapping[k] = sense * (turning[k][0] - turning[came][1]);
            if self.is_inside(cable, k) {
                let line = self.line_of[k];
                self.path[line] += radius * self.wraps[k];
                self.path_rate[line] += radius * self.wrapping[k];
                self.parting[line] += radius * self.wrapping[k];
            }
        }
        for line in 0..cable.lines() {
            let spans = cable.spans_of(line);
            self.parting[line] += self.laying[spans.start][1] + self.laying[spans.end][0];
        }
    }

    /// The angle, below zero, by which the cable would be wrapped around wheel k, which it has left, and its rate [rad, rad/s].
    fn passed(&self, cable: &Cable, frames: &[Kinematics], (before, k, n): (usize, usize, usize)) -> (f64, f64) {
        let after = (k + 1..n).find(|k| *k == n - 1 || self.next[*k] > 0).unwrap_or(n - 1);
        let spans = [(before, k), (k, after)].map(|(j, k)| self.span_of(frames, j, k).0);
        let rate = |span: &Span, j: usize, k: usize| {
            let ends = [j, k].map(|k| &frames[self.frames[k]]);
            span.turning(ends, [&self.circles[j], &self.circles[k]], [0.0; 2])
        };
        let turning = rate(&spans[1], k, after)[0] - rate(&spans[0], before, k)[1];
        (self.wrapped(cable, k, [&spans[0], &spans[1]]), self.circles[k].sense * turning)
    }

    /// Rates of the angles of span k, and of what it is laid onto its ends; a drum's radius grows with what it takes up.
    fn laying_of(&self, cable: &Cable, (k, found): (usize, &Span), frames: [&Kinematics; 2]) -> ([f64; 2], [f64; 2]) {
        let points = [k, self.next[k]];
        let circles = points.map(|k| &self.circles[k]);
        let mut growth = [0.0; 2];
        let mut turning = found.turning(frames, circles, growth);
        for _ in 0..ROUNDS {
            let laid = found.laid(circles, turning);
            let slope = |k: usize| match &cable.points[k].role {
                Role::Drum(spool) => spool.slope(cable.points[k].circle.radius, self.laid[k]),
                _ => 0.0,
            };
            let slopes = points.map(slope);
            if slopes == [0.0; 2] {
                break;
            }
            growth = [slopes[0] * laid[0], slopes[1] * laid[1]];
            turning = found.turning(frames, circles, growth);
        }
        (turning, found.laid(circles, turning))
    }

    /// Calls `each` with line and point, place and derivative of the line's stretch by the velocity of that frame's body there.
    pub fn pull(&self, cable: &Cable, mut each: impl FnMut((usize, usize), Vec3, Six)) {
        for (k, next) in self.touched(cable.points.len()) {
            let (span, line, points) = (&self.spans[k], self.line_of[k], [k, next]);
            let circles = points.map(|k| &self.circles[k]);
            let weight = |side: usize, way: f64| {
                let (end, circle): (&Touch, _) = (&span.ends[side], circles[side]);
                let is_inside = self.is_inside(cable, points[side]);
                if is_inside { way * circle.sense * circle.radius * (1.0 - end.fleet) } else { 0.0 }
            };
            let weights = [weight(0, 1.0), weight(1, -1.0)];
            let along = [Six::new(Vec3::ZERO, -span.d), Six::new(Vec3::ZERO, span.d)];
            let more = if weights == [0.0; 2] { [Six::ZERO; 2] } else { span.turns_by(circles, weights) };
            for side in 0..2 {
                each((line, points[side]), span.ends[side].at, along[side] + more[side]);
            }
        }
    }

    /// Points along the cable, arcs on its wheels by some each [m].
    pub fn drawn(&self, cable: &Cable, frames: &[Kinematics]) -> Vec<Vec3> {
        let mut points = vec![self.spans[0].ends[0].at];
        let mut comes = &self.spans[0];
        for (k, _) in self.touched(cable.points.len()).skip(1) {
            let Circle { radius, sense } = self.circles[k];
            let arc = |j: usize| {
                let angle = comes.ends[1].angle + sense * self.wraps[k] * j as f64 / ARC as f64;
                let [u, v] = [frames[k].R.x_axis, frames[k].R.y_axis];
                frames[k].p + (u * libm::cos(angle) + v * libm::sin(angle)) * radius
            };
            points.extend((0..=if radius > 0.0 { ARC } else { 0 }).map(arc));
            comes = &self.spans[k];
        }
        points.push(comes.ends[1].at);
        points
    }

    /// What moves between lines, wheels and drums where this is laid (or per time): changes of all states, none of them of sliding.
    pub fn transport(
        &self,
        cable: &Cable,
        strain: &[f64; MOST_POINTS],
        (laying, wrapping): (&Laying, &[f64; MOST_POINTS]),
        changes: &mut [f64],
    ) {
        changes.fill(0.0);
        let last = cable.points.len() - 1;
        let wheels = cable.points.iter().enumerate().filter(|(_, point)| point.circle.radius > 0.0);
        for (state, (k, point)) in (cable.lines()..).zip(wheels) {
            let [comes, leaves] = laying[k];
            if let Role::Drum(_) = point.role {
                let line = if k == 0 { 0 } else { self.line_of[last - 1] };
                let wound = (if k == 0 { leaves } else { comes }) / (1.0 + strain[line]);
                changes[line] -= wound;
                changes[state] += wound;
            } else if self.line_of[k - 1] == self.line_of[k] {
                changes[state] = wrapping[k];
            } else {
                let (one, other) = (self.line_of[k - 1], self.line_of[k]);
                let (half, through) = (0.5 * (comes + leaves), 0.5 * (comes - leaves));
                let upstream = if through > 0.0 { strain[one] } else { strain[other] };
                let (passes, from, back) =
                    (through / (1.0 + upstream), half / (1.0 + strain[one]), half / (1.0 + strain[other]));
                changes[one] -= from + passes;
                changes[other] -= back - passes;
                changes[state] = from + back;
            }
        }
    }
}

/// Tensions of the lines of a cable.
#[derive(Clone, Debug)]
pub struct Lines {
    /// T [N].
    pub tension: [f64; MOST_POINTS],
    /// Elastic strain [-].
    pub strain: [f64; MOST_POINTS],
    /// x of the lines that slide together [-].
    pub x: [f64; MOST_POINTS],
    /// r_i [-].
    pub ratios: [f64; MOST_POINTS],
    /// Their rates [1/s].
    ratio_rates: [f64; MOST_POINTS],
    /// m by joint [-].
    pub ratio: [f64; MOST_POINTS],
    /// sum lambda - sum L of the lines that slide together [m].
    pub excess: [f64; MOST_POINTS],
    /// Last of the lines that slide together, by line.
    last: [usize; MOST_POINTS],
}

impl Default for Lines {
    fn default() -> Lines {
        let mut last = [0; MOST_POINTS];
        last.iter_mut().enumerate().for_each(|(k, last)| *last = k);
        Lines {
            tension: [0.0; MOST_POINTS],
            strain: [0.0; MOST_POINTS],
            x: [0.0; MOST_POINTS],
            ratios: [1.0; MOST_POINTS],
            ratio_rates: [0.0; MOST_POINTS],
            ratio: [f64::INFINITY; MOST_POINTS],
            excess: [0.0; MOST_POINTS],
            last,
        }
    }
}

/// True if rope slides over a joint of these modes.
fn slides(mode: &ElementMode) -> bool {
    !mode.held && mode.sense != 0.0
}

impl Lines {
    /// As a cable is.
    pub fn of(cable: &Cable, route: &Route, modes: &[ElementMode]) -> Lines {
        let mut lines = Lines::default();
        for joint in 0..cable.joints.len() {
            lines.ratio[joint] = cable.ratio(joint, route.wraps[cable.joints[joint]]);
        }
        let mut first = 0;
        while first < cable.lines() {
            let mut last = first;
            while last < cable.joints.len() && slides(&modes[cable.lines() + last]) {
                let sense = modes[cable.lines() + last].sense;
                let m = lines.ratio[last];
                lines.ratios[last + 1] = lines.ratios[last] * if sense > 0.0 { m } else { 1.0 / m };
                let growth = sense * cable.friction(last) * route.wrapping[cable.joints[last]];
                let before = lines.ratio_rates[last] / lines.ratios[last];
                lines.ratio_rates[last + 1] = lines.ratios[last + 1] * (before + growth);
                last += 1;
            }
            lines.tense(cable, route, first..last + 1);
            first = last + 1;
        }
        lines
    }

    /// The tension of lines that slide together.
    fn tense(&mut self, cable: &Cable, route: &Route, group: Range<usize>) {
        let rest: f64 = route.rest[group.clone()].iter().sum();
        let path: f64 = route.path[group.clone()].iter().sum();
        let parting: f64 = route.parting[group.clone()].iter().sum();
        let x = self.balance(route, group.clone(), rest);
        let elastic = cable.stiffness * x;
        let tension = if x > 0.0 { (elastic + cable.damping * parting / rest).max(0.0) } else { 0.0 };
        for line in group.clone() {
            self.last[line] = group.end - 1;
            self.excess[line] = path - rest;
            self.x[line] = x;
            self.strain[line] = self.ratios[line] * x;
            self.tension[line] = self.ratios[line] * tension;
        }
    }

    /// x of sum lambda_i/(1 + r_i x) = L, or zero where they are slack. The sum falls and is convex: Newton's method rises to it from zero.
    fn balance(&self, route: &Route, group: Range<usize>, rest: f64) -> f64 {
        let mut x = 0.0;
        for _ in 0..NEWTON {
            let (mut sum, mut slope) = (-rest, 0.0);
            for line in group.clone() {
                let stretch = 1.0 + self.ratios[line] * x;
                sum += route.path[line] / stretch;
                slope += route.path[line] * self.ratios[line] / (stretch * stretch);
            }
            if slope <= 0.0 || slope.is_nan() {
                return 0.0;
            }
            let change = sum / slope;
            if x == 0.0 && (change <= 0.0 || change.is_nan()) {
                return 0.0;
            }
            x += change;
            if change.abs() <= SMALLEST_CHANGE * x {
                break;
            }
        }
        x
    }

    /// The last of the lines that slide together with `first`.
    pub fn last_of(&self, first: usize) -> usize {
        self.last[first]
    }

    /// Energy stored in all lines [J].
    pub fn stored(&self, cable: &Cable, route: &Route) -> f64 {
        let energy = |line: usize| {
            let strain = self.strain[line];
            0.5 * cable.stiffness * strain * strain * route.path[line] / (1.0 + strain)
        };
        (0..cable.lines()).map(energy).sum()
    }

    /// Adds to the rates of lengths at rest what slides, and returns the speed of rope over each joint, from line to line [m/s].
    pub fn slide(&self, cable: &Cable, route: &Route, rates: &mut [f64]) -> [f64; MOST_POINTS] {
        let mut speed = [0.0; MOST_POINTS];
        let mut first = 0;
        while first < cable.lines() {
            let group = first..self.last[first] + 1;
            first = group.end;
            let x = self.x[group.start];
            if group.len() == 1 || x <= 0.0 {
                continue;
            }
            let (mut given, mut yields) = (0.0, 0.0);
            for line in group.clone() {
                let stretch = 1.0 + self.strain[line];
                let square = stretch * stretch;
                given += route.path_rate[line] / stretch
                    - route.path[line] * self.ratio_rates[line] * x / square
                    - rates[line];
                yields += route.path[line] * self.ratios[line] / square;
            }
            let x_rate = given / yields;
            let mut gone = 0.0;
            for line in group.start..group.end - 1 {
                let stretch = 1.0 + self.strain[line];
                let strain_rate = self.ratio_rates[line] * x + self.ratios[line] * x_rate;
                let rate = route.path_rate[line] / stretch - route.path[line] * strain_rate / (stretch * stretch);
                gone -= rate - rates[line];
                speed[line] = gone;
            }
            // what one line loses the next one gains
            for joint in group.start..group.end - 1 {
                rates[joint] -= speed[joint];
                rates[joint + 1] += speed[joint];
            }
        }
        speed
    }

    /// Powers lost to damping and to friction over the joints [W], with the rates of lengths at rest.
    pub fn powers(&self, cable: &Cable, route: &Route, rates: &[f64]) -> [f64; 2] {
        let (mut damping, mut all) = (0.0, 0.0);
        for line in 0..cable.lines() {
            let (strain, tension) = (self.strain[line], self.tension[line]);
            let elastic = cable.stiffness * strain;
            let stretching = route.path_rate[line] - (1.0 + strain) * rates[line];
            let stored = elastic * stretching + 0.5 * elastic * strain * rates[line];
            damping += (tension - elastic) * route.parting[line];
            all += tension * route.parting[line] - stored;
        }
        [damping, all - damping]
    }

    /// T (1 + strain) less the energy per length at rest, of elastic strain [N]: what a metre of rope at rest takes along.
    fn enthalpy(&self, cable: &Cable, line: usize) -> f64 {
        let strain = self.strain[line];
        cable.stiffness * strain * (1.0 + 0.5 * strain)
    }
}

/// The end of a fixed step: lengths at rest, what slides, modes, outputs and losses.
pub fn finish(cable: &Cable, step: &mut Finish<'_>) {
    if cable.is_broken(step.modes) {
        return;
    }
    let before = Route::of(cable, &step.before.frames, step.states);
    let after = Route::of(cable, &step.after.frames, step.states);
    let mut lines = Lines::of(cable, &before, step.modes);
    // tensions are those of the rows
    for line in 0..cable.lines() {
        let first = (0..=line).find(|&first| lines.last_of(first) >= line).unwrap_or(line);
        let impulse = step.impulses.iter().find(|(part, _)| usize::from(*part) == first).map_or(0.0, |row| -row.1);
        lines.tension[line] = lines.ratios[line] * impulse.max(0.0) / step.h;
        lines.strain[line] = lines.tension[line] / cable.stiffness;
    }
    let (laying, wrapping) = laid_in_step(cable, &before, &after);
    let mut changes = [0.0; 2 * MOST_POINTS];
    let n = cable.states.len();
    before.transport(cable, &lines.strain, (&laying, &wrapping), &mut changes[..n]);
    step.states.iter_mut().zip(&changes).for_each(|(state, change)| *state += change);
    let mut slipped = [0.0; MOST_POINTS];
    redistribute(cable, step, &lines, &mut slipped);
    settle_modes(cable, step, &lines);
    for joint in 0..cable.joints.len() {
        let k = cable.joints[joint];
        let through = 0.5 * (laying[k][0] - laying[k][1]);
        let apart = lines.tension[joint + 1] - lines.tension[joint];
        step.lost[1] += slipped[joint] * (lines.enthalpy(cable, joint + 1) - lines.enthalpy(cable, joint))
            + through.abs() * apart * apart / (2.0 * cable.stiffness);
    }
    let now = Route::of(cable, &step.after.frames, step.states);
    step.outputs.clear();
    step.outputs.push(lines.tension[0]);
    cable.show(&now, &lines, step.outputs);
    let speeds = step.outputs.len() - cable.joints.len();
    for (output, slip) in step.outputs[speeds..].iter_mut().zip(&slipped) {
        *output = slip / step.h;
    }
    for which in cable.notices()..cable.watched() {
        let is_beyond = cable.beyond_notice(which, &now, step.states) > 0.0;
        if step.modes[which].held != is_beyond {
            step.happened.push((which, step.modes[which]));
            step.modes[which].held = is_beyond;
        }
    }
    let most = lines.tension[..cable.lines()].iter().copied().fold(0.0, f64::max);
    if most > cable.breaking {
        step.lost[2] += Lines::of(cable, &now, step.modes).stored(cable, &now);
        step.modes[cable.breaks()].held = true;
        step.happened.push((cable.breaks(), ElementMode::default()));
    }
}

/// What was laid onto each point in a step [m], and how far each wrap angle grew [rad].
fn laid_in_step(cable: &Cable, before: &Route, after: &Route) -> (Laying, [f64; MOST_POINTS]) {
    let n = cable.points.len();
    let mut laying = [[0.0; 2]; MOST_POINTS];
    let touches = |route: &Route| {
        let mut touches = [[None; 2]; MOST_POINTS];
        for (k, next) in route.touched(n) {
            (touches[k][1], touches[next][0]) = (Some(route.spans[k].ends[0]), Some(route.spans[k].ends[1]));
        }
        touches
    };
    let [old, new] = [before, after].map(touches);
    for k in 0..n {
        let Circle { radius, sense } = before.circles[k];
        for (side, way) in [(0, -1.0), (1, 1.0)] {
            if let (true, Some(old), Some(new)) = (radius > 0.0, old[k][side], new[k][side]) {
                let turn = sense * turned(within_a_turn(old.angle), within_a_turn(new.angle));
                laying[k][side] = way * turn * radius * 0.5 * (old.fleet + new.fleet);
            }
        }
    }
    (laying, std::array::from_fn(|k| turned(within_a_turn(before.wraps[k]), within_a_turn(after.wraps[k]))))
}

/// Where rope slides, lengths at rest go over from line to line until tensions have their ratio; a joint that would slide back sticks.
fn redistribute(cable: &Cable, step: &mut Finish<'_>, lines: &Lines, slipped: &mut [f64; MOST_POINTS]) {
    let now = Route::of(cable, &step.after.frames, step.states);
    let found = Lines::of(cable, &now, step.modes);
    let mut first = 0;
    while first < cable.lines() {
        let group = first..lines.last_of(first) + 1;
        first = group.end;
        let x = found.x[group.start];
        if group.len() == 1 || x <= 0.0 {
            continue;
        }
        let mut gone = 0.0;
        let mut slips = [0.0; MOST_POINTS];
        for line in group.start..group.end - 1 {
            gone += now.rest[line] - now.path[line] / (1.0 + found.ratios[line] * x);
            slips[line] = gone;
        }
        let mut back = false;
        for joint in group.start..group.end - 1 {
            let mode = &mut step.modes[cable.lines() + joint];
            if slips[joint] * mode.sense < 0.0 {
                step.happened.push((cable.lines() + joint, *mode));
                mode.held = true;
                back = true;
            }
        }
        if back {
            continue;
        }
        for joint in group.start..group.end - 1 {
            step.states[joint] -= slips[joint];
            step.states[joint + 1] += slips[joint];
        }
        slipped[group.start..group.end - 1].copy_from_slice(&slips[group.start..group.end - 1]);
    }
}

/// Joints that stick with more than they can begin to slide; lines are taut or slack.
fn settle_modes(cable: &Cable, step: &mut Finish<'_>, lines: &Lines) {
    for joint in 0..cable.joints.len() {
        let which = cable.lines() + joint;
        let mode = step.modes[which];
        let [towards, back] = cable.beyond(lines, joint);
        if slides(&mode) {
            continue;
        }
        if mode.sense == 0.0 {
            step.modes[which] = ElementMode { held: true, sense: 1.0, speed: 0.0 };
        }
        if towards.max(back) > 0.0 {
            let known = ElementMode { held: true, ..mode };
            step.modes[which] =
                ElementMode { held: false, sense: if towards >= back { 1.0 } else { -1.0 }, speed: 0.0 };
            step.happened.push((which, known));
        }
    }
    for line in 0..cable.lines() {
        let mode = step.modes[line];
        let held = lines.tension[line] > 0.0;
        if mode.sense != 0.0 && held != mode.held {
            step.happened.push((line, mode));
        }
        step.modes[line] = ElementMode { held, sense: 1.0, speed: 0.0 };
    }
}
