//! A heavy elastic line between two ends, at rest at every instant: a catenary, that may lie on a level bottom. With e the level direction from end 1
//! to end 2, H the level part of its tension and V_1, V_2 what its ends carry, the ends feel
//!   F_1 = H e - V_1 up,   F_2 = -H e - V_2 up.
//! It stores E(r, z_1, z_2) with dE/dr = H, dE/dz_k = V_k (cable/hanging.rs): its power on the bodies is what it gives away. It has no inertia.
//! A line that damps is pulled by c e'/L more, e the integral of its strain: the ends feel c e'/L times the slopes of e by r, z_1, z_2, and it
//! loses c e'^2/L. It breaks where its tension exceeds what one of its parts bears; then it is gone, with what it stored.
//!
//! In a fixed step it is four springs: along the principal directions of d(H, V_1, V_2)/d(r, z_1, z_2), and across, H/r. Each pulls at the beginning as
//! the line does; it is as stiff as the line is there or where the step leads, whichever is more.

use super::cable::{AtRest, Bottom, Catenary, Circle, Hanging, MOST_STRAIN, Section};
use super::{
    Acting, Action, Anchor, Attached, Build, Course, Element, ElementAccount, ElementMode, Finish, Output, RowEnd,
    RowList, Seen, StepAhead, Strut, Trip, UNBOUNDED,
};
use crate::cause::Cause;
use crate::event::EventKind;
use crate::kinematics::Kinematics;
use crate::six::Six;
use libm::{hypot, sqrt};
use std::borrow::Cow;
use std::sync::Mutex;
use tippe_format::part::Part;
use tippe_geometry::Vec3;

/// An end lies on the bottom within this share of the line's length [-].
const ON_BOTTOM: f64 = 1e-6;
/// A spring of a step is at least this share of force per length stiff, so that it can carry a dead weight [-].
const LEAST_STIFFNESS: f64 = 1e-6;
/// Sweeps that make a matrix of three rows diagonal.
const SWEEPS: usize = 12;
/// Pieces in which a part of a line is drawn.
const DRAWN: usize = 24;
/// Which of the rows of a step is its damper.
const DAMPER: u8 = 4;
/// In a step a line is asked for at its beginning, where it leads and at its end.
const PLACES: usize = 3;

/// A heavy line.
#[derive(Clone, Debug)]
pub struct HeavyLine {
    /// Its ends.
    pub ends: [Anchor; 2],
    /// Upwards, resolved in world.
    pub up: Vec3,
    /// Its statics.
    pub hanging: Hanging,
    /// c: tension per rate of strain [N s].
    pub damping: f64,
    /// Tension that each of its parts bears [N]; infinite if it does not break.
    pub bears: Vec<f64>,
    solved: Known,
}

/// Where a line was last asked for, r, z_1 and z_2, and how it hangs there: what it is asked for again is not solved again. It hangs as it would,
/// whoever asks.
#[derive(Debug, Default)]
struct Known(Mutex<(usize, [Option<Place>; PLACES])>);

/// r, z_1, z_2 [m], and how the line hangs there.
type Place = ([f64; 3], AtRest);

impl Clone for Known {
    fn clone(&self) -> Known {
        Known::default()
    }
}

impl Known {
    fn or(&self, at: [f64; 3], solve: impl FnOnce() -> AtRest) -> AtRest {
        let Ok(mut known) = self.0.lock() else { return solve() };
        let found = known.1.iter().flatten().find(|(place, _)| *place == at).map(|(_, rest)| *rest);
        found.unwrap_or_else(|| {
            let rest = solve();
            let next = known.0;
            known.1[next] = Some((at, rest));
            known.0 = (next + 1) % PLACES;
            rest
        })
    }
}

/// Where its ends are.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// e: level direction from end 1 to end 2, resolved in world.
    along: Vec3,
    /// r [m].
    level: f64,
    /// Heights in the world [m].
    heights: [f64; 2],
}

pub(super) fn make(part: &Part, build: &mut dyn Build) -> Option<Element> {
    let all = part.parts("points");
    let place = |k: usize, build: &mut dyn Build| build.anchor(&all[k].attachments("on")[0], all[k].vector("at"));
    let ends = [place(0, build)?, place(1, build)?];
    let g = build.gravity();
    if g == Vec3::ZERO {
        build.wrong(
            "hangs as a catenary, and the scene has no gravity",
            "[world] gravity = [0, 0, -9.80665], or spans = \"massless\"",
        );
        return None;
    }
    let up = -g.normalize();
    let section = |part: &Part| {
        let known = Section::of(part);
        let weight = part.find_number("weight").or(known.mass.map(|mass| mass * g.length()));
        weight.map(|weight| Catenary { length: part.number("length"), weight, stiffness: known.axial })
    };
    let segments = part.parts("segments");
    let of = if segments.is_empty() { std::slice::from_ref(part) } else { segments };
    let parts: Option<Vec<Catenary>> = of.iter().map(section).collect();
    let Some(parts) = parts.filter(|parts| parts.iter().any(|part| part.weight != 0.0)) else {
        let help = "mass_per_length = 20, or weight = 180 (per length, in water), or a type of rope with its diameter";
        build.wrong("hangs as a catenary and has no weight", help);
        return None;
    };
    // of segments each has its own; one for all goes before
    let own = part.find_number("breaking_load");
    let bears = of.iter().map(|part| own.unwrap_or(Section::of(part).breaking)).collect();
    let hanging = Hanging { parts, bottom: None };
    let mut line = HeavyLine { ends, up, hanging, damping: part.number("damping"), bears, solved: Known::default() };
    let frames = ends.map(|anchor| Kinematics { p: build.pose(&anchor).1, ..Kinematics::WORLD });
    let heights = line.span(&frames).heights;
    if let Some(height) = part.find_number("seabed") {
        let near = ON_BOTTOM * line.hanging.length();
        if let Some(k) = (0..2).find(|k| heights[*k] < height - near) {
            let (end, below) = (k + 1, height - heights[k]);
            build.wrong(
                &format!("has its end {end} {below:.6} m below the seabed at {height} m"),
                "raise that end, or lower the seabed",
            );
            return None;
        }
        let friction = part.number("seabed_friction");
        let anchor = (0..2).find(|k| ends[*k].body.is_none() && heights[*k] <= height + near);
        let needs = if friction > 0.0 { "friction on the seabed" } else { "segments over a seabed" };
        if (friction > 0.0 || line.hanging.parts.len() > 1) && anchor.is_none() {
            build.wrong(
                &format!("has {needs} and no anchor"),
                "one of its ends on \"world\", at the height of the seabed, or no seabed",
            );
            return None;
        }
        if friction > 0.0 && line.hanging.parts.len() > 1 {
            build.wrong(
                "has several segments and friction on the seabed",
                "leave out seabed_friction, or give it one segment",
            );
            return None;
        }
        line.hanging.bottom = Some(Bottom { height, friction, anchor: anchor.unwrap_or(0) });
    }
    line.fits(&frames, build)?;
    Some(Element::HeavyLine(Box::new(line)))
}

impl HeavyLine {
    /// Nothing if it starts stretched or loaded beyond what a line bears; says so.
    fn fits(&self, frames: &[Kinematics], build: &mut dyn Build) -> Option<()> {
        let (strained, rest) = (self.strained(frames), self.at_rest(&self.span(frames)));
        let unbroken = self.bears.iter().all(|most| most.is_infinite());
        let strain = rest.tension(0).max(rest.tension(1))
            / self.hanging.parts.iter().map(|part| part.stiffness).fold(f64::INFINITY, f64::min);
        if unbroken && strain > MOST_STRAIN {
            let message = format!(
                "is {:.6} m long at rest, too short for its ends: stretched by {:.0} per cent",
                self.hanging.length(),
                100.0 * strain
            );
            build.wrong(&message, "more length; a cord that stretches so far has a `breaking_load`");
            return None;
        }
        if strained > 1.0 {
            let (most, bears) =
                (rest.tension(0).max(rest.tension(1)), self.bears.iter().copied().fold(f64::INFINITY, f64::min));
            let message = format!("starts with {most:.4e} N, and breaks at {bears:.4e} N");
            build.wrong(&message, "its length at rest is too short for its ends: more length, or a stronger line");
            return None;
        }
        Some(())
    }

    fn span(&self, frames: &[Kinematics]) -> Span {
        self.span_between(frames[0].p, frames[1].p)
    }

    fn span_between(&self, from: Vec3, to: Vec3) -> Span {
        let heights = [from, to].map(|p| p.dot(self.up));
        let d = to - from;
        let d = d - self.up * d.dot(self.up);
        let level = d.length();
        let along = if level > 0.0 { d / level } else { self.up.any_orthonormal_vector() };
        Span { along, level, heights }
    }

    fn at_rest(&self, span: &Span) -> AtRest {
        let [z1, z2] = span.heights;
        self.solved.or([span.level, z1, z2], || self.hanging.at_rest(span.level, span.heights))
    }

    /// Its largest tension over what it bears there [-].
    fn strained(&self, frames: &[Kinematics]) -> f64 {
        if self.bears.iter().all(|most| most.is_infinite()) {
            return 0.0;
        }
        self.hanging.strained(&self.at_rest(&self.span(frames)), &self.bears)
    }

    /// c e'/L [N].
    fn damped(&self, frames: &[Kinematics], span: &Span, rest: &AtRest) -> f64 {
        if self.damping == 0.0 {
            return 0.0;
        }
        let [up1, up2] = [0, 1].map(|k| self.up.dot(frames[k].v));
        let rates = [span.along.dot(frames[1].v - frames[0].v), up1, up2];
        let stretching: f64 = (0..3).map(|k| rest.stretch[k] * rates[k]).sum();
        self.damping * stretching / self.hanging.length()
    }

    /// Directions at both ends along which something grows by these slopes by r, z_1 and z_2.
    fn along(&self, span: &Span, c: &[f64; 3]) -> [Vec3; 2] {
        [span.along * -c[0] + self.up * c[1], span.along * c[0] + self.up * c[2]]
    }

    /// Power that friction on the bottom takes [W].
    fn rubbed(&self, frames: &[Kinematics], span: &Span, rest: &AtRest) -> f64 {
        let Some(bottom) = self.hanging.bottom.filter(|_| rest.rubbing > 0.0) else { return 0.0 };
        let [up1, up2] = [0, 1].map(|k| self.up.dot(frames[k].v));
        let rates = [span.along.dot(frames[1].v - frames[0].v), up1, up2];
        let rate = |row: usize| (0..3).map(|k| rest.stiffness[row][k] * rates[k]).sum::<f64>();
        let carries = 2 - bottom.anchor;
        rest.rubbing * (rate(0) + bottom.friction * rate(carries))
    }

    /// Its outputs behind the first.
    fn show(rest: &AtRest, out: &mut Vec<f64>) {
        out.extend([rest.tension(1), rest.level[0].max(rest.level[1]), rest.lying, rest.lowest]);
    }

    /// Rows of its springs in a step.
    fn springs(&self, span: &Span, rest: &AtRest, ahead: &AtRest, out: &mut RowList, at: [Vec3; 2]) {
        let scale = LEAST_STIFFNESS * (rest.tension(0) + rest.tension(1)) / self.hanging.length();
        let fixed = self.ends.map(|end| end.body.is_none());
        if fixed == [true; 2] {
            return;
        }
        let mut K = symmetric(&rest.stiffness);
        for k in (0..2).filter(|k| fixed[*k]) {
            // an end that stands still gives no stiffness
            for i in 0..3 {
                (K[1 + k][i], K[i][1 + k]) = (0.0, 0.0);
            }
        }
        let forces = [rest.level[usize::from(fixed[0])], rest.carried[0], rest.carried[1]];
        let later = symmetric(&ahead.stiffness);
        let strut = |stiffness: f64, force: f64| {
            let stiffness = stiffness.max(scale);
            let phi = if stiffness > 0.0 { force / stiffness } else { 0.0 };
            Strut { stiffness, damping: 0.0, phi, damped_by_step: false, bounds: UNBOUNDED, bound: f64::INFINITY }
        };
        let ends = |axes: [Vec3; 2]| {
            [0, 1].map(|k| RowEnd::Frame { frame: k, at: at[k], axes: Six::new(Vec3::ZERO, axes[k]) })
        };
        for (part, c) in principal(K).into_iter().enumerate() {
            let axes = self.along(span, &c);
            if (0..2).all(|k| fixed[k] || axes[k].length_squared() < 1e-24) {
                continue;
            }
            let force = (0..3).map(|k| forces[k] * c[k]).sum();
            out.strut(part as u8, strut(stiff(&K, &c).max(stiff(&later, &c)), force), &ends(axes));
        }
        let across = self.up.cross(span.along);
        let level = span.level.max(1e-9 * self.hanging.length());
        out.strut(3, strut(rest.level[0].max(rest.level[1]) / level, 0.0), &ends([-across, across]));
        if self.damping > 0.0 {
            let damping = self.damping / self.hanging.length();
            let damper = Strut { damping, stiffness: 0.0, ..strut(0.0, 0.0) };
            out.strut(DAMPER, damper, &ends(self.along(span, &rest.stretch)));
        }
    }
}

impl Acting for HeavyLine {
    fn attached(&self) -> Attached<'_> {
        Attached { frames: &self.ends, ..Attached::default() }
    }

    fn outputs(&self) -> &[Output] {
        const OUTPUTS: &[Output] = &[
            Output { name: Cow::Borrowed("tension_1"), unit: Some("N") },
            Output { name: Cow::Borrowed("tension_2"), unit: Some("N") },
            Output { name: Cow::Borrowed("horizontal"), unit: Some("N") },
            Output { name: Cow::Borrowed("lying"), unit: Some("m") },
            Output { name: Cow::Borrowed("lowest"), unit: Some("m") },
        ];
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        &[
            ElementAccount { cause: Cause::Damping, name: "loss" },
            ElementAccount { cause: Cause::CableFriction, name: "friction" },
            ElementAccount { cause: Cause::Breaking, name: "broken" },
        ]
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        if seen.mode().held {
            HeavyLine::show(&AtRest::default(), &mut out.shown);
            return;
        }
        let span = self.span(seen.frames);
        let rest = self.at_rest(&span);
        let damped = self.damped(seen.frames, &span, &rest);
        let against = self.along(&span, &rest.stretch);
        let pulls = [
            span.along * rest.level[0] - self.up * rest.carried[0] - against[0] * damped,
            span.along * -rest.level[1] - self.up * rest.carried[1] - against[1] * damped,
        ];
        for (k, pull) in pulls.into_iter().enumerate() {
            out.wrench(k, seen.frames[k].p, Six::new(Vec3::ZERO, pull));
        }
        out.effect.effort = rest.tension(0);
        out.effect.stored = rest.stored;
        let lost = if damped == 0.0 { 0.0 } else { damped * damped * self.hanging.length() / self.damping };
        out.effect.powers = [lost, self.rubbed(seen.frames, &span, &rest), 0.0];
        HeavyLine::show(&rest, &mut out.shown);
    }

    fn watched(&self) -> usize {
        1
    }

    fn watch(&self, _: usize, seen: &Seen<'_>) -> f64 {
        if seen.mode().held { -1.0 } else { self.strained(seen.frames) - 1.0 }
    }

    fn event(&self, _: usize, mode: ElementMode) -> Option<EventKind> {
        (!mode.held).then_some(EventKind::Break)
    }

    fn trip(&self, _: usize, seen: &Seen<'_>) -> Trip {
        let mode = ElementMode { held: true, ..seen.mode() };
        Trip { mode, rate: None, lost: self.stored(seen) }
    }

    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        if seen.mode().held {
            return;
        }
        let span = self.span(seen.frames);
        let at = [seen.frames[0].p, seen.frames[1].p];
        let ahead = [0, 1].map(|k| at[k] + step.frames[k].linear * step.h);
        let ahead = self.at_rest(&self.span_between(ahead[0], ahead[1]));
        self.springs(&span, &self.at_rest(&span), &ahead, out, at);
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        if seen.mode().held {
            return 0.0;
        }
        self.at_rest(&self.span(seen.frames)).stored
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        if step.modes[0].held {
            return;
        }
        let power = |frames: &[Kinematics]| {
            let span = self.span(frames);
            let rest = self.at_rest(&span);
            (rest, self.rubbed(frames, &span, &rest))
        };
        let ((_, before), (rest, after)) = (power(&step.before.frames), power(&step.after.frames));
        step.lost[1] = 0.5 * step.h * (before + after);
        step.outputs.clear();
        step.outputs.push(rest.tension(0));
        HeavyLine::show(&rest, step.outputs);
        if self.strained(&step.after.frames) > 1.0 {
            step.lost[2] += rest.stored;
            step.happened.push((0, step.modes[0]));
            step.modes[0].held = true;
        }
    }

    fn drawn(&self, frames: &[Kinematics]) -> Vec<Vec3> {
        let span = self.span(frames);
        let (from, begin) = (frames[0].p, span.heights[0]);
        let points = self.hanging.points(&self.at_rest(&span), (span.level, span.heights), DRAWN);
        points.into_iter().map(|[x, z]| from + span.along * x + self.up * (z - begin)).collect()
    }

    fn line(&self) -> Option<&'static str> {
        Some("rope")
    }

    fn course(&self) -> Option<Course> {
        let point = Circle { radius: 0.0, sense: 1.0 };
        let segments = self.hanging.parts.clone();
        Some(Course { circles: vec![point; 2], tensions: vec![0], rests: Vec::new(), feeds: [None, None], segments })
    }
}

fn symmetric(K: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (K[i][j] + K[j][i])))
}

/// c K c.
fn stiff(K: &[[f64; 3]; 3], c: &[f64; 3]) -> f64 {
    (0..3).map(|i| (0..3).map(|j| c[i] * K[i][j] * c[j]).sum::<f64>()).sum()
}

/// Principal directions of a symmetric matrix, one after the other (Jacobi's rotations).
pub(super) fn principal(mut K: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if K[i][j].abs() <= 1e-16 * sqrt((K[i][i] * K[j][j]).abs()) {
                continue;
            }
            let theta = (K[j][j] - K[i][i]) / (2.0 * K[i][j]);
            let t = 1.0_f64.copysign(theta) / (theta.abs() + hypot(theta, 1.0));
            let c = 1.0 / hypot(t, 1.0);
            let s = t * c;
            for k in 0..3 {
                (K[k][i], K[k][j]) = (c * K[k][i] - s * K[k][j], s * K[k][i] + c * K[k][j]);
            }
            for k in 0..3 {
                (K[i][k], K[j][k]) = (c * K[i][k] - s * K[j][k], s * K[i][k] + c * K[j][k]);
            }
            for k in 0..3 {
                (axes[i][k], axes[j][k]) = (c * axes[i][k] - s * axes[j][k], s * axes[i][k] + c * axes[j][k]);
            }
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{ElementMode, RowLaw};
    use tippe_geometry::Mat3;

    fn line(weights: [f64; 2], seabed: bool) -> HeavyLine {
        let end = Anchor { body: Some(0), p: Vec3::ZERO, R: Mat3::IDENTITY };
        let parts = weights.map(|weight| Catenary { length: 60.0, weight, stiffness: 1e6 }).to_vec();
        let parts = if seabed { vec![Catenary { length: 120.0, ..parts[0] }] } else { parts };
        let bottom = seabed.then_some(Bottom { height: -20.0, friction: 0.0, anchor: 0 });
        let bears = vec![f64::INFINITY; parts.len()];
        let hanging = Hanging { parts, bottom };
        HeavyLine { ends: [end; 2], up: Vec3::Z, hanging, damping: 0.0, bears, solved: Known::default() }
    }

    /// Both ends at time t.
    fn ends(t: f64) -> [Kinematics; 2] {
        let (v1, v2) = (Vec3::new(0.5, -0.3, 0.2), Vec3::new(-0.4, 0.6, 0.7));
        let frame = |p: Vec3, v: Vec3| Kinematics { p: p + v * t, v, ..Kinematics::WORLD };
        [frame(Vec3::new(1.0, 2.0, -3.0), v1), frame(Vec3::new(70.0, -60.0, 15.0), v2)]
    }

    #[test]
    fn power_of_a_line_is_what_it_gives_away_and_its_springs_begin_with_its_pull() {
        for line in [line([50.0, 90.0], false), line([300.0, -100.0], false), line([200.0, 0.0], true)] {
            let look = |_| 0.0;
            let modes = [ElementMode::default()];
            let seen = |frames: &[Kinematics; 2], of: &mut dyn FnMut(&Seen<'_>)| {
                of(&Seen {
                    t: 0.0,
                    frames,
                    coordinates: &[],
                    states: &[],
                    modes: &modes,
                    kept: &[],
                    holding: 0.0,
                    look: &look,
                });
            };
            let (mut out, mut rows) = (Action::default(), RowList::default());
            let step = StepAhead { h: 0.01, frames: &[Six::ZERO; 2], coordinates: &[] };
            seen(&ends(0.0), &mut |seen| {
                line.act(seen, &mut out);
                line.rows(seen, &step, &mut rows);
            });
            let stored = |t: f64| {
                let mut energy = 0.0;
                seen(&ends(t), &mut |seen| energy = line.stored(seen));
                energy
            };
            let power: f64 = out.wrenches.iter().map(|wrench| wrench.on.linear.dot(ends(0.0)[wrench.frame].v)).sum();
            let slope = (stored(1e-4) - stored(-1e-4)) / 2e-4;
            assert!((power + slope).abs() < 1e-5 * slope.abs(), "{power} {slope}");
            let mut pulls = [Vec3::ZERO; 2];
            for row in &rows.rows {
                let RowLaw::Strut(strut) = row.law else { continue };
                for end in &rows.ends[row.ends.clone()] {
                    if let RowEnd::Frame { frame, axes, .. } = end {
                        pulls[*frame] -= axes.linear * (strut.stiffness * strut.phi);
                    }
                }
            }
            for wrench in &out.wrenches {
                let miss = (wrench.on.linear - pulls[wrench.frame]).length();
                assert!(miss < 1e-9 * wrench.on.linear.length(), "{wrench:?} {pulls:?}");
            }
        }
    }
}
