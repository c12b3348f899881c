//! The contact points of a round of impacts, the bodies they act between, and how those answer to impulses.

use super::Clock;
use crate::contacts::Touch;
use crate::joints::flat;
use crate::partition::masses;
use crate::path::BodyPath;
use tippe_geometry::{Mat3, Vec3};
use tippe_mechanics::joint::Six;
use tippe_numerics::kkt::{Block, BlockLdl, GROUND, Vertex, Wide, border};

/// A contact point during impacts.
#[derive(Clone, Copy, Debug)]
pub struct ImpactPoint {
    /// Its contact point of the step.
    pub touch: u32,
    /// Its bodies among those that take part.
    pub bodies: [u32; 2],
    /// Normal and tangents, on both bodies.
    pub J: [[[f64; 6]; 2]; 3],
    /// Where [m], and the normal from 1 to 2 with two tangents, at the instant of the last reading.
    pub point: Vec3,
    /// See `point`.
    pub axes: [Vec3; 3],
    /// Whether its pair was read in this round where its bodies are to meet.
    pub is_read: bool,
    /// How often the geometry was read.
    pub readings: u8,
    /// Whether the geometry of the impact is found.
    pub ready: bool,
    /// Gap at the instant `since` [m]; it goes on with the rates at hand.
    pub gap: f64,
    /// See `gap` [s].
    pub since: f64,
    /// What bodies whose motion is given add to the rates.
    pub given: [f64; 3],
    /// J M^-1 J^T of the normal, and the larger of the tangents.
    pub yields: [f64; 2],
    /// Largest closing speed since it touched in this impact [m/s].
    pub fastest: f64,
    /// Impulses of the present micro-step [N s].
    pub impulse: [f64; 3],
    /// Impulses of all [N s].
    pub total: [f64; 3],
    /// Whether it takes part in the present impact.
    pub active: bool,
}

impl ImpactPoint {
    /// A contact point of the step at the geometry of its beginning.
    fn new(k: usize, touch: &Touch, start: f64) -> ImpactPoint {
        ImpactPoint {
            touch: k as u32,
            bodies: [GROUND; 2],
            J: [[[0.0; 6]; 2]; 3],
            point: touch.point,
            axes: touch.axes,
            is_read: false,
            readings: 0,
            ready: false,
            gap: 0.0,
            since: start,
            given: [0.0; 3],
            yields: [0.0; 2],
            fastest: 0.0,
            impulse: [0.0; 3],
            total: [0.0; 3],
            active: false,
        }
    }

    /// Brings the gap to an instant.
    pub fn advance_to(&mut self, now: f64, u: &[f64]) {
        if now > self.since && self.gap.is_finite() {
            self.gap += (now - self.since) * self.rate(0, u);
        }
        self.since = now;
    }

    /// J M^-1 J^T of the normal, and the larger of the tangents.
    pub fn yields_to(&self, inverse: &[Block]) -> [f64; 2] {
        let along = |axis: usize| {
            let mut sum = 0.0;
            for side in (0..2).filter(|&side| self.bodies[side] != GROUND) {
                let (W, J) = (&inverse[self.bodies[side] as usize], &self.J[axis][side]);
                for i in 0..6 {
                    sum += J[i] * (0..6).map(|j| W[6 * i + j] * J[j]).sum::<f64>();
                }
            }
            sum
        };
        [along(0), along(1).max(along(2))]
    }

    /// J u along an axis with the velocities `u` of the bodies that take part.
    pub fn rate(&self, axis: usize, u: &[f64]) -> f64 {
        let mut sum = self.given[axis];
        for s in 0..2 {
            if self.bodies[s] != GROUND {
                let u = &u[6 * self.bodies[s] as usize..][..6];
                let J = &self.J[axis][s];
                sum += (J[0] * u[0] + J[1] * u[1] + J[2] * u[2]) + (J[3] * u[3] + J[4] * u[4] + J[5] * u[5]);
            }
        }
        sum
    }
}

/// The contact points of a round of impacts and the bodies between them. An impact changes nothing that it does not
/// reach.
pub struct ImpactProblem {
    /// One for each of the clock's `touches`, in their order.
    pub points: Vec<ImpactPoint>,
    /// Instants of the impacts to come, one for each point [s].
    pub times: Vec<f64>,
    /// Which group of contact points each belongs to.
    pub grip_of: Vec<u32>,
    /// Bodies of the model that take part.
    pub bodies: Vec<usize>,
    /// Contact points of each body: `points_of[starts[b]..starts[b + 1]]`.
    pub points_of: Vec<u32>,
    /// See `points_of`.
    pub starts: Vec<u32>,
    /// Velocities, angular before linear.
    pub u: Vec<f64>,
    /// Velocities of reached bodies before a micro-step.
    pub started: Vec<f64>,
    /// Paths of the bodies, with the velocities of the beginning of the round.
    pub paths: Vec<BodyPath>,
    /// What impulses do to velocities.
    pub response: Response,
    /// Bodies that hang together with an impact, and whether each does.
    pub reached: Vec<u32>,
    /// See `reached`.
    pub is_reached: Vec<bool>,
    /// Momenta of a micro-step.
    pub momenta: Vec<f64>,
    /// Whether no impact of the step has moved a body yet.
    pub untouched: Vec<bool>,
}

impl ImpactProblem {
    /// Contact points of a body.
    pub fn points_of(&self, body: u32) -> impl Iterator<Item = usize> {
        let range = self.starts[body as usize] as usize..self.starts[body as usize + 1] as usize;
        self.points_of[range].iter().map(|&k| k as usize)
    }

    /// Velocities {w, v} of a body.
    pub fn velocity(&self, body: usize) -> Six {
        let u = &self.u[6 * body..6 * body + 6];
        Six::new(Vec3::new(u[0], u[1], u[2]), Vec3::new(u[3], u[4], u[5]))
    }

    /// A body hangs together with the impact; all of mechanisms do where one does.
    pub fn reach(&mut self, body: u32) {
        if std::mem::replace(&mut self.is_reached[body as usize], true) {
            return;
        }
        self.reached.push(body);
        if let Some(Joined { held, .. }) = &self.response.joined
            && held[body as usize]
        {
            for b in 0..held.len() {
                if held[b] && !std::mem::replace(&mut self.is_reached[b], true) {
                    self.reached.push(b as u32);
                }
            }
        }
    }

    /// Brings gaps and paths of all bodies that are reached to this instant, velocities too.
    pub fn advance_to(&mut self, now: f64, clock: &Clock) {
        for b in self.reached.iter().map(|&b| b as usize) {
            for &k in &self.points_of[self.starts[b] as usize..self.starts[b + 1] as usize] {
                self.points[k as usize].advance_to(now, &self.u);
            }
        }
        for b in self.reached.iter().map(|&b| b as usize) {
            let u = self.velocity(b);
            if let Some((turned, w)) = self.paths[b].advance(now, u) {
                w.write_to_slice(&mut self.u[6 * b..6 * b + 3]);
                let body = &clock.model.bodies[self.bodies[b]];
                self.response.inverse[b] = masses(body, &Mat3::from_quat(turned)).1;
            }
        }
    }
}

/// What impulses do to velocities: free bodies one by one, bodies of mechanisms together with their joints.
pub struct Response {
    /// Inverse masses of all bodies.
    pub inverse: Vec<Block>,
    joined: Option<Joined>,
}

/// The factors of bodies with their joints.
struct Joined {
    ldl: BlockLdl,
    /// Whether joints hold a body.
    held: Vec<bool>,
    /// Momenta, then velocities, of bodies and joints.
    x: Vec<f64>,
}

impl Response {
    /// u += answer to the momenta of these bodies, which are cleared.
    pub fn apply(&mut self, bodies: &[u32], momenta: &mut [f64], u: &mut [f64]) {
        let n = self.inverse.len();
        if let Some(Joined { ldl, held, x }) = &mut self.joined
            && bodies.iter().any(|&b| held[b as usize])
        {
            x.fill(0.0);
            for b in (0..n).filter(|&b| held[b]) {
                x[6 * b..6 * b + 6].copy_from_slice(&momenta[6 * b..6 * b + 6]);
            }
            ldl.solve(x);
            for b in (0..n).filter(|&b| held[b]) {
                for i in 0..6 {
                    u[6 * b + i] += x[6 * b + i];
                    momenta[6 * b + i] = 0.0;
                }
            }
        }
        for &b in bodies {
            let (b, W) = (b as usize, &self.inverse[b as usize]);
            let p: [f64; 6] = std::array::from_fn(|i| momenta[6 * b + i]);
            if p == [0.0; 6] {
                continue;
            }
            for i in 0..6 {
                u[6 * b + i] += (0..6).map(|j| W[6 * i + j] * p[j]).sum::<f64>();
                momenta[6 * b + i] = 0.0;
            }
        }
    }
}

/// Bodies and mechanisms that take part in a round of impacts.
struct Participants {
    /// By model index, ascending.
    bodies: Vec<usize>,
    machines: Vec<usize>,
    /// Place of each body of the model among them, or `GROUND`.
    place: Vec<u32>,
}

impl Clock {
    /// Contact points and bodies that take part in a round from the instant `start` on, with the bodies' answer to
    /// impulses.
    pub(super) fn build_impact_problem(&mut self, start: f64) -> ImpactProblem {
        let Participants { bodies, machines, place } = self.participants();
        let n = bodies.len();
        let paths: Vec<BodyPath> = bodies.iter().map(|&b| self.paths[b].for_impacts(start)).collect();
        let (mut mass, mut inverse) = (Vec::new(), Vec::new());
        for (&b, path) in bodies.iter().zip(&paths) {
            let (M, W) = masses(&self.model.bodies[b], &path.orientation_in_impacts());
            mass.push(M);
            inverse.push(W);
        }
        let joined = (!machines.is_empty()).then(|| self.join(&bodies, &machines, &place, &mass, &inverse));
        let points = self.impact_points(&place, start);
        let mut starts = vec![0u32; n + 1];
        let each = |s: &ImpactPoint| s.bodies.into_iter().filter(|&b| b != GROUND);
        for b in points.iter().flat_map(each) {
            starts[b as usize + 1] += 1;
        }
        for b in 0..n {
            starts[b + 1] += starts[b];
        }
        let mut fill = starts.clone();
        let mut points_of = vec![0u32; starts[n] as usize];
        for (k, s) in points.iter().enumerate() {
            for b in each(s) {
                points_of[fill[b as usize] as usize] = k as u32;
                fill[b as usize] += 1;
            }
        }
        let mut grip_of = vec![0u32; points.len()];
        for (g, grip) in self.detected.grips.iter().enumerate() {
            grip_of[grip.touches.0..grip.touches.0 + grip.touches.1].fill(g as u32);
        }
        ImpactProblem {
            times: vec![f64::INFINITY; points.len()],
            grip_of,
            points_of,
            starts,
            u: paths.iter().flat_map(|path| flat(path.velocity())).collect(),
            started: vec![0.0; 6 * n],
            untouched: paths.iter().map(|path| !path.struck).collect(),
            paths,
            response: Response { inverse, joined },
            reached: Vec::new(),
            is_reached: vec![false; n],
            momenta: vec![0.0; 6 * n],
            points,
            bodies,
        }
    }

    /// Bodies of the contact points, and all bodies of their mechanisms.
    fn participants(&self) -> Participants {
        let model = &self.model.clone();
        let mut place = vec![GROUND; model.bodies.len()];
        let mut bodies: Vec<usize> = Vec::new();
        let mut machines: Vec<usize> = Vec::new();
        for touch in &self.detected.touches {
            for &b in touch.bodies.iter().filter(|&&b| self.is_free(b)) {
                if place[b] == GROUND {
                    place[b] = 0;
                    bodies.push(b);
                    if let Some((m, _)) = model.bodies[b].mechanism
                        && !machines.contains(&(m as usize))
                    {
                        machines.push(m as usize);
                    }
                }
            }
        }
        machines.sort_unstable();
        for &m in &machines {
            for link in &model.mechanisms[m].links {
                let b = link.body as usize;
                if place[b] == GROUND && self.is_free(b) {
                    place[b] = 0;
                    bodies.push(b);
                }
            }
        }
        bodies.sort_unstable();
        for (k, &b) in bodies.iter().enumerate() {
            place[b] = k as u32;
        }
        Participants { bodies, machines, place }
    }

    /// Factors of the bodies with the joints of the mechanisms.
    fn join(
        &mut self,
        bodies: &[usize],
        machines: &[usize],
        place: &[u32],
        mass: &[Block],
        inverse: &[Block],
    ) -> Joined {
        let (mut ties, mut ends, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for &m in machines {
            self.joint_ties(m, &mut ties, &mut ends, &mut owners);
        }
        for end in &mut ends {
            end.body = place[end.body as usize];
        }
        let n = bodies.len();
        let held: Vec<bool> = bodies.iter().map(|&b| self.model.bodies[b].mechanism.is_some()).collect();
        let mut vertices = vec![Vertex::Body; n];
        vertices.resize(n + ties.len(), Vertex::Rows);
        let mut edges = Vec::new();
        for (t, tie) in ties.iter().enumerate() {
            edges.extend(tie.ends.of(&ends).iter().map(|end| (end.body, (n + t) as u32)));
        }
        let mut ldl = BlockLdl::new(&vertices, &edges);
        ldl.clear();
        for (k, M) in mass.iter().enumerate() {
            *ldl.diagonal(k) = Wide::from(M);
        }
        let mut edge = 0;
        for (t, tie) in ties.iter().enumerate() {
            // ropes that carry something hold, others do not
            border(&mut ldl, [n + t, edge], tie, &ends, inverse, |r| tie.lower[r] < 0.0 && tie.upper[r] > 0.0);
            edge += tie.ends.len();
        }
        ldl.factor();
        let x = vec![0.0; 6 * (n + ties.len())];
        Joined { ldl, held, x }
    }

    /// The contact points of the step at the instant `start`, between bodies at their place.
    fn impact_points(&self, place: &[u32], start: f64) -> Vec<ImpactPoint> {
        let mut points = Vec::with_capacity(self.detected.touches.len());
        for (k, touch) in self.detected.touches.iter().enumerate() {
            let mut s = ImpactPoint::new(k, touch, start);
            for side in 0..2 {
                let b = touch.bodies[side];
                for axis in 0..3 {
                    let J = self.lever(b, touch.point, touch.axes[axis], side);
                    if self.is_free(b) {
                        s.bodies[side] = place[b];
                        s.J[axis][side] = flat(J);
                    } else {
                        s.given[axis] += J.dot(&self.paths[b].velocity());
                    }
                }
            }
            let moved = self.gap_change(touch, start);
            s.gap = if touch.on { (touch.gap + moved).max(0.0) } else { f64::INFINITY };
            points.push(s);
        }
        points
    }
}
