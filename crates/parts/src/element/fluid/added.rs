//! The mass of fluid that a body takes along (Kirchhoff 1869; Lamb, Hydrodynamics, chapter VI).
//!
//! With nu = {w, v - u} the motion of the body against the fluid, u the fluid's velocity, K the tensor of the body in its own axes and s the share of it that is
//! wet, the momentum of the fluid is {L, l} = s K nu. It changes by what the body does to it alone:
//!   force on the body   -dl/dt = -s K (a - du/dt) - w x l,   torque   -dL/dt - (v - u) x l = -s K alpha - w x L - (v - u) x l,
//! the last term the moment that turns a slender body across its way (Munk 1924). s K goes to the inertia of the body, the rest to its loads.
//! Where more becomes wet the momentum is kept, where less the velocity: both lose s' nu K nu/2, and neither gives energy.
//! It stores nu s K nu/2 + u l, and waves put in l du/dt.
//!
//! An ellipsoid with semi-axes p (Lamb, articles 114 and 115), V its volume:   a_i = abc int_0^inf ds/((p_i^2 + s) sqrt(prod (p_j^2 + s))),
//!   K_ii = rho V a_i/(2 - a_i),   about axis i, P = a_j, Q = a_k:   K = (rho V/5) (p_j^2 - p_k^2)^2 (Q - P)/(2 (p_j^2 - p_k^2) - (p_j^2 + p_k^2)(Q - P)).

use super::panels;
use super::wet::Hull;
use super::{Fluid, Water};
use crate::cause::Cause;
use crate::element::heavy_line::principal;
use crate::element::{
    Acting, Action, Answering, Attached, Effect, ElementAccount, Finish, InStep, Output, RowEnd, RowList, Seen,
    StepAhead,
};
use crate::kinematics::{Kinematics, rotated};
use crate::six::{Six, Tensor};
use libm::{cbrt, sqrt};
use std::borrow::Cow;
use tippe_geometry::{Mat3, Pose, Quat, Shape, Vec3};

/// Divisions of a full circle of round shapes that have no closed form: some 1,300 panels.
const SEGMENTS: u32 = 32;

/// Added mass of shapes in a fluid of density 1, about the origin of the frame they stand in [m^3, m^4, m^5]: each as if the others were not there. What could not
/// be done exactly is said.
pub fn added(shapes: &[(Shape, Pose)], mut say: impl FnMut(String)) -> Tensor {
    let mut sum = Tensor::default();
    for (shape, place) in shapes {
        let (own, at, R) = match shape {
            Shape::Sphere { radius } => (ellipsoid(Vec3::splat(*radius)), Vec3::ZERO, Mat3::IDENTITY),
            Shape::Ellipsoid { semi_axes } => (ellipsoid(*semi_axes), Vec3::ZERO, Mat3::IDENTITY),
            _ => {
                let mesh = shape.surface_mesh(SEGMENTS);
                match panels::added(&mesh) {
                    Some(tensor) => (tensor, Vec3::ZERO, Mat3::IDENTITY),
                    None => {
                        let (axes, at, R) = of_equal_moments(shape);
                        say(format!(
                            "the water it takes along is that of an ellipsoid with semi-axes {:.3}, {:.3} and {:.3} m: its surface has {} triangles, \
                             panels are for {} at most",
                            axes.x,
                            axes.y,
                            axes.z,
                            mesh.triangles.len(),
                            panels::MOST
                        ));
                        (ellipsoid(axes), at, R)
                    }
                }
            }
        };
        let X = Mat3::from_quat(place.rotation);
        sum = sum.plus(&own.moved(&(X * R), place.point(at)));
    }
    sum
}

/// Semi-axes, centre and axes of the ellipsoid with a shape's volume and the ratios of its second moments.
fn of_equal_moments(shape: &Shape) -> (Vec3, Vec3, Mat3) {
    let Ok(properties) = shape.mass_properties(1.0) else { return (Vec3::ONE, Vec3::ZERO, Mat3::IDENTITY) };
    let I = properties.inertia;
    let axes = principal(I.to_cols_array_2d());
    let R = Mat3::from_cols_array_2d(&axes).transpose();
    let own = R.transpose() * I * R;
    let moments = Vec3::new(own.x_axis.x, own.y_axis.y, own.z_axis.z);
    let half = 0.5 * (moments.x + moments.y + moments.z);
    let axes = Vec3::new(half - moments.x, half - moments.y, half - moments.z)
        .map(|m| sqrt(5.0 * m.max(0.0) / properties.mass));
    let volume = 4.0 / 3.0 * std::f64::consts::PI * axes.x * axes.y * axes.z;
    (axes * cbrt(properties.mass / volume), properties.center, R)
}

/// Looks at where a body will be at the end of a step.
const LOOKS: usize = 3;

/// An ellipsoid in a fluid of density 1, about its middle.
fn ellipsoid(p: Vec3) -> Tensor {
    let (q, abc) = (p * p, p.x * p.y * p.z);
    let V = 4.0 / 3.0 * std::f64::consts::PI * abc;
    let a = Vec3::new(q.x, q.y, q.z);
    let alpha = [0, 1, 2].map(|i| 2.0 / 3.0 * abc * carlson(a[(i + 1) % 3], a[(i + 2) % 3], a[i]));
    let mut tensor = Tensor::default();
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let (difference, P, Q) = (a[j] - a[k], alpha[j], alpha[k]);
        let bottom = 2.0 * difference - (a[j] + a[k]) * (Q - P);
        // of a round section nothing turns with it
        let turning = if difference.abs() <= 1e-9 * (a[j] + a[k]) {
            0.0
        } else {
            V / 5.0 * difference * difference * (Q - P) / bottom
        };
        tensor.0[i].angular[i] = turning;
        tensor.0[3 + i].linear[i] = V * alpha[i] / (2.0 - alpha[i]);
    }
    tensor
}

/// R_D(x, y, z) = 3/2 int_0^inf ds/(sqrt((s + x)(s + y)) (s + z)^(3/2)), by duplication (Carlson 1979).
fn carlson(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    let (mut sum, mut scale) = (0.0, 1.0);
    loop {
        let mean = (x + y + 3.0 * z) / 5.0;
        let [X, Y, Z] = [x, y, z].map(|value| 1.0 - value / mean);
        if X.abs().max(Y.abs()).max(Z.abs()) < 1e-4 {
            let (E2, E3) = (X * Y - 6.0 * Z * Z, (3.0 * X * Y - 8.0 * Z * Z) * Z);
            let (E4, E5) = (3.0 * (X * Y - Z * Z) * Z * Z, X * Y * Z * Z * Z);
            let series =
                1.0 - 3.0 / 14.0 * E2 + E3 / 6.0 + 9.0 / 88.0 * E2 * E2 - 3.0 / 22.0 * E4 - 9.0 / 52.0 * E2 * E3
                    + 3.0 / 26.0 * E5;
            return 3.0 * sum + scale * series / (mean * sqrt(mean));
        }
        let lambda = sqrt(x * y) + sqrt(y * z) + sqrt(z * x);
        sum += scale / (sqrt(z) * (z + lambda));
        scale *= 0.25;
        [x, y, z] = [x, y, z].map(|value| 0.25 * (value + lambda));
    }
}

/// The mass of fluid that a body takes along.
#[derive(Clone, Debug)]
pub struct AddedMass {
    /// K of the body as a whole in its frame c [kg, kg m, kg m^2].
    pub tensor: Tensor,
    /// Inertia of the body itself, in the same frame.
    pub own: Tensor,
    /// Surface of the body.
    pub(super) hull: Hull,
    /// The fluid.
    pub fluid: Fluid,
}

const OUTPUTS: &[Output] = &[
    Output { name: Cow::Borrowed("force"), unit: Some("N") },
    Output { name: Cow::Borrowed("A11"), unit: Some("kg") },
    Output { name: Cow::Borrowed("A22"), unit: Some("kg") },
    Output { name: Cow::Borrowed("A33"), unit: Some("kg") },
    Output { name: Cow::Borrowed("A44"), unit: Some("kg m^2") },
    Output { name: Cow::Borrowed("A55"), unit: Some("kg m^2") },
    Output { name: Cow::Borrowed("A66"), unit: Some("kg m^2") },
];

const ACCOUNTS: &[ElementAccount] =
    &[ElementAccount { cause: Cause::Slamming, name: "loss" }, ElementAccount { cause: Cause::Loads, name: "work" }];

/// What the fluid that is taken along does, at one instant.
struct Taken {
    /// K, resolved in world, of a body that is wet as a whole.
    whole: Tensor,
    /// s [-].
    share: f64,
    /// ds/dt [1/s].
    rate: f64,
    /// nu, resolved in world.
    relative: Six,
    /// u and du/dt along the way of the body [m/s, m/s^2].
    flow: [Vec3; 2],
}

impl Taken {
    /// {L, l}.
    fn momentum(&self) -> Six {
        self.whole.times(self.relative) * self.share
    }

    /// s nu K nu/2 + u l [J].
    fn energy(&self) -> f64 {
        let momentum = self.momentum();
        0.5 * self.relative.dot(&momentum) + self.flow[0].dot(momentum.linear)
    }
}

impl AddedMass {
    fn taken(&self, kin: &Kinematics, water: &Water<'_>) -> Taken {
        let flow = water.velocity(kin.p);
        let hull = &self.hull;
        let wet = super::wet::wet(hull, kin, &Water { drag: 0.0, lift: 0.0, viscosity: 0.0, ..*water });
        Taken {
            whole: self.tensor.moved(&kin.R, Vec3::ZERO),
            share: wet.volume / hull.volume,
            rate: wet.grows / hull.volume,
            relative: Six::new(kin.w, kin.v - flow),
            flow: [flow, water.rate_along(kin.p, kin.v)],
        }
    }

    fn now(&self, seen: &Seen<'_>) -> Taken {
        self.taken(&seen.frames[0], &self.fluid.water(seen))
    }

    /// Diagonal of s K in the axes of the body, linear parts first.
    fn shown(&self, share: f64) -> [f64; 6] {
        std::array::from_fn(|i| share * self.tensor.entry((i + 3) % 6, (i + 3) % 6))
    }
}

impl Acting for AddedMass {
    fn attached(&self) -> Attached<'_> {
        self.fluid.attached()
    }

    fn outputs(&self) -> &[Output] {
        OUTPUTS
    }

    fn accounts(&self) -> &'static [ElementAccount] {
        ACCOUNTS
    }

    fn act(&self, seen: &Seen<'_>, out: &mut Action) {
        let kin = &seen.frames[0];
        let taken = self.now(seen);
        let Six { angular: w, linear: v } = taken.relative;
        let momentum = taken.momentum();
        let own = taken.whole.scaled(taken.share);
        // a of the body in its own axes is Rt (a - du/dt) - w x v
        let carried = own.times(Six::new(Vec3::ZERO, w.cross(v) + taken.flow[1]));
        let turned = Six::new(w.cross(momentum.angular) + v.cross(momentum.linear), w.cross(momentum.linear));
        let mut on = carried - turned;
        let lost = 0.5 * taken.rate.abs() * taken.relative.dot(&taken.whole.times(taken.relative));
        if taken.rate > 0.0 {
            on = on - taken.whole.times(taken.relative) * taken.rate;
        }
        out.wrench(0, kin.p, on);
        out.added = Some((0, own));
        out.effect = Effect::new(on.linear.length(), taken.energy(), lost);
        out.effect.powers[1] = momentum.linear.dot(taken.flow[1]);
        out.shown.extend(self.shown(taken.share));
    }

    fn in_step(&self, _: &Seen<'_>, _: f64) -> InStep {
        InStep::Rows
    }

    /// lambda = P - s+ K+ nu+, column by column of K+ = L D L^T, P the momentum that the fluid has without the body. K+ is that of where the body would
    /// turn if nothing else held it.
    fn rows(&self, seen: &Seen<'_>, step: &StepAhead<'_>, out: &mut RowList) {
        let (kin, h) = (&seen.frames[0], step.h);
        let before = self.now(seen);
        let later = Water { t: seen.t + h, ..self.fluid.water(seen) };
        let (was, free) = (Six::new(kin.w, kin.v), step.frames[0]);
        let (mut will, mut mean) = (free, before.momentum());
        let (mut own, mut P) = (Tensor::default(), Six::ZERO);
        for _ in 0..LOOKS {
            let [w, v] = [0.5 * (was.angular + will.angular), 0.5 * (was.linear + will.linear)];
            let R = Mat3::from_quat(rotated(Quat::IDENTITY, h * w)) * kin.R;
            let after = self.taken(&Kinematics { p: kin.p + h * v, R, w: will.angular, v: will.linear }, &later);
            own = after.whole.scaled(after.share);
            P = before.momentum();
            let flow = 0.5 * (before.flow[0] + after.flow[0]);
            P.angular -= h * (v - flow).cross(mean.linear);
            if after.share < before.share {
                P = P * (after.share / before.share);
            }
            P = P + own.times(Six::new(Vec3::ZERO, after.flow[0]));
            let body = self.own.moved(&R, Vec3::ZERO);
            will = body.plus(&own).solve(body.times(free) + P).unwrap_or(free);
            let against = Six::new(will.angular, will.linear - after.flow[0]);
            mean = (before.momentum() + own.times(against)) * 0.5;
        }
        let factors = own.factors();
        let mut rest = P;
        // D^-1 L^-1 P
        for (part, (column, d)) in factors.iter().enumerate() {
            let lead = leading(column);
            let along = six(&rest, lead) / six(column, lead);
            rest = rest - *column * along;
            let answer =
                Answering { effort: 0.0, slope: -d / h, rate: along / d, bounds: [f64::NEG_INFINITY, f64::INFINITY] };
            out.answer(part as u8, answer, h, &[RowEnd::Frame { frame: 0, at: kin.p, axes: *column }]);
        }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn finish(&self, step: &mut Finish<'_>) {
        let water = |sight: &crate::element::Sight| {
            let look = |_| 0.0;
            self.now(&sight.seen((&[], &[]), 0.0, &look))
        };
        let [before, after] = [water(step.before), water(step.after)];
        let mean = (before.relative + after.relative) * 0.5;
        step.lost[0] = 0.5 * (after.share - before.share).abs() * mean.dot(&after.whole.times(mean));
        step.lost[1] =
            0.5 * step.h * (before.momentum().linear.dot(before.flow[1]) + after.momentum().linear.dot(after.flow[1]));
        let force = (after.momentum() - before.momentum()).linear.length() / step.h;
        step.outputs.clear();
        step.outputs.push(force);
        step.outputs.extend(self.shown(after.share));
    }

    fn stored(&self, seen: &Seen<'_>) -> f64 {
        self.now(seen).energy()
    }
}

/// The first part that is not zero.
fn leading(column: &Six) -> usize {
    (0..6).find(|&i| six(column, i) != 0.0).unwrap_or(5)
}

fn six(x: &Six, i: usize) -> f64 {
    if i < 3 { x.angular[i] } else { x.linear[i - 3] }
}
