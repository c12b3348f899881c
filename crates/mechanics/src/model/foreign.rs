//! A foreign collider: a function of the user's that gives the contact points of chosen pairs of bodies, as Bardaro and others (2017,
//! appendix A) ask another program for them. Clocks ask it where they would ask `tippe_geometry`: laws, friction and events stay ours.

use super::Model;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tippe_geometry::manifold::MAX_POINTS;
use tippe_geometry::{
    ContactKind, Manifold, ManifoldPoint, Pose, Separation, Vec3, contact_kind, manifold, separation,
};
use tippe_scene::{Clock, did_you_mean};

/// Normals may be off unit length by this much [-].
const UNIT: f64 = 1e-6;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The two bodies a and b, by index in the scene.
    pub bodies: [usize; 2],
    /// Poses of their own frames in the world.
    pub X_wb: [Pose; 2],
    /// Points up to this far apart are wanted [m]; while all are farther, the nearest one.
    pub margin: f64,
    /// Points at most.
    pub most: usize,
}

/// A contact point of two bodies a and b.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForeignPoint {
    /// On the surface of a, in a's frame [m].
    pub p_a: Vec3,
    /// On the surface of b, in b's frame [m].
    pub p_b: Vec3,
    /// Unit normal out of a there, in the world [-].
    pub normal_a: Vec3,
    /// Depth; negative, minus the distance, while apart [m].
    pub depth: f64,
    /// Area it stands for; zero where unknown [m^2].
    pub area: f64,
    /// The same number for the same features at other poses.
    pub id: u64,
}

/// The user's function: points into the empty list, or why there are none. Threads may ask at once.
pub type Collide = dyn Fn(&Question, &mut Vec<ForeignPoint>) -> Result<(), String> + Send + Sync;

/// A foreign collider in a model.
#[derive(Clone)]
pub struct Foreign {
    /// Pairs of bodies, the smaller index first.
    pairs: BTreeSet<(u32, u32)>,
    collide: Arc<Collide>,
    failure: Arc<Mutex<Option<(String, String)>>>,
}

impl std::fmt::Debug for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a foreign collider for {:?}", self.pairs)
    }
}

impl Foreign {
    /// The points of a question, checked.
    fn ask(&self, model: &Model, question: &Question) -> Result<Vec<ForeignPoint>, String> {
        let mut points = Vec::new();
        (self.collide)(question, &mut points)?;
        let [a, b] = question.bodies.map(|body| &model.bodies[body].name);
        for own in &points {
            let numbers = [own.depth, own.area, own.p_a.length(), own.p_b.length()];
            if numbers.iter().any(|x| !x.is_finite()) || own.area < 0.0 {
                return Err(format!("gave a point of \"{a}\" and \"{b}\" that is none: {own:?}"));
            }
            if (own.normal_a.length() - 1.0).abs() > UNIT {
                return Err(format!("gave \"{a}\" and \"{b}\" a normal of length {}, not 1", own.normal_a.length()));
            }
        }
        points.sort_by(|one, other| other.depth.total_cmp(&one.depth).then(one.id.cmp(&other.id)));
        Ok(points)
    }

    /// Remembers the first failure.
    fn fail(&self, model: &Model, question: &Question, why: String) {
        let name = model.bodies[question.bodies[1]].name.clone();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((name, why));
    }
}

/// What from outside has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutsideFailure {
    /// A component that is a unit of others, and why.
    Unit(String, String),
    /// A body that a foreign collider was asked for, and why.
    Collider(String, String),
}

impl Model {
    /// Contact points of these pairs of bodies, by name, come from this function from now on; none named: those of all pairs. The shapes
    /// of the scene still say which bodies are near each other, and how round they are: they must enclose what the function knows.
    pub fn with_foreign(
        mut self,
        clock: Clock,
        pairs: Option<&[(String, String)]>,
        collide: Arc<Collide>,
    ) -> Result<Model, String> {
        let find = |name: &String| {
            let help = || did_you_mean(name, self.bodies.iter().map(|body| body.name.as_str()));
            let found = self.body(name).map(|body| body as u32);
            found.ok_or_else(|| format!("foreign collider: there is no body \"{name}\". help: {}", help()))
        };
        let chosen: Vec<(u32, u32)> = match pairs {
            Some(named) => named.iter().map(|(a, b)| Ok((find(a)?, find(b)?))).collect::<Result<_, String>>()?,
            None => {
                let of = |k: usize| self.colliders[k].body;
                let all = 0..self.colliders.len();
                let pairs = all.clone().flat_map(|i| all.clone().filter(move |&j| i < j).map(move |j| (i, j)));
                pairs.filter(|&(i, j)| self.contact_between(i, j).is_some()).map(|(i, j)| (of(i), of(j))).collect()
            }
        };
        for &(a, b) in &chosen {
            let [one, other] = [a, b].map(|body| {
                let own: Vec<_> = self.colliders.iter().filter(|own| own.body == body).collect();
                let name = &self.bodies[body as usize].name;
                match own.as_slice() {
                    [single] => Ok(*single),
                    _ => Err(format!(
                        "foreign collider: body \"{name}\" has {} colliding shapes. help: give it one that encloses all, the function knows \
                         the rest",
                        own.len()
                    )),
                }
            });
            let kind = contact_kind(&one?.shape, &other?.shape);
            let names = [a, b].map(|body| self.bodies[body as usize].name.as_str());
            let what = match kind {
                ContactKind::Point => continue,
                ContactKind::Patch if clock == Clock::Realtime => continue,
                ContactKind::Patch => {
                    "flat faces, of which the precise clock needs the volume they share. help: --clock realtime"
                }
                ContactKind::Surface => "a mesh. help: give the body a hull, a ball or a capsule that encloses it",
                ContactKind::Unsupported { .. } => "shapes without end that never touch",
            };
            return Err(format!("foreign collider: bodies \"{}\" and \"{}\" have {what}", names[0], names[1]));
        }
        let pairs = chosen.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        self.foreign = Some(Foreign { pairs, collide, failure: Arc::default() });
        Ok(self)
    }

    /// The foreign collider that knows the contact of two elements.
    pub fn foreign_for(&self, elements: (u32, u32)) -> Option<&Foreign> {
        let foreign = self.foreign.as_ref()?;
        let [a, b] = [elements.0, elements.1].map(|e| self.colliders[e as usize].body);
        foreign.pairs.contains(&(a.min(b), a.max(b))).then_some(foreign)
    }

    /// What is asked of a foreign collider about two elements in these poses.
    fn question(&self, elements: (u32, u32), X_ws: &[Pose; 2], margin: f64, most: usize) -> Question {
        let own = [elements.0, elements.1].map(|e| &self.colliders[e as usize]);
        let X_wb = [0, 1].map(|k| {
            let rotation = X_ws[k].rotation * own[k].X_cs.rotation.conjugate();
            let position =
                X_ws[k].position - rotation * (own[k].X_cs.position + self.bodies[own[k].body as usize].p_bc);
            Pose::new(rotation, position)
        });
        Question { bodies: own.map(|e| e.body as usize), X_wb, margin, most }
    }

    /// Gap, normal and witness points of two convex elements in these poses.
    #[inline]
    pub fn separation(&self, elements: (u32, u32), X_ws: &[Pose; 2]) -> Separation {
        let Some(foreign) = self.foreign_for(elements) else {
            let [a, b] = [elements.0, elements.1].map(|e| &self.colliders[e as usize].shape);
            return separation(a, &X_ws[0], b, &X_ws[1]);
        };
        let question = self.question(elements, X_ws, 0.0, MAX_POINTS);
        let nearest = foreign.ask(self, &question).and_then(|points| {
            points.first().copied().ok_or_else(|| {
                let [a, b] = question.bodies.map(|body| &self.bodies[body].name);
                format!("gave no point for \"{a}\" and \"{b}\". help: while they are apart, the nearest one with depth = -distance")
            })
        });
        match nearest {
            Ok(own) => Separation {
                gap: -own.depth,
                normal: own.normal_a,
                point1: question.X_wb[0].point(own.p_a),
                point2: question.X_wb[1].point(own.p_b),
            },
            Err(why) => {
                foreign.fail(self, &question, why);
                Separation { gap: f64::MAX.sqrt(), normal: Vec3::Z, point1: X_ws[0].position, point2: X_ws[1].position }
            }
        }
    }

    /// Contact points of two convex elements in these poses that are less than `margin` apart [m]; true if there are any.
    #[inline]
    pub fn manifold(
        &self,
        elements: (u32, u32),
        X_ws: &[Pose; 2],
        margin: f64,
        most: usize,
        out: &mut Manifold,
    ) -> bool {
        let Some(foreign) = self.foreign_for(elements) else {
            let [a, b] = [elements.0, elements.1].map(|e| &self.colliders[e as usize].shape);
            return manifold(a, &X_ws[0], b, &X_ws[1], margin, most, out);
        };
        let question = self.question(elements, X_ws, margin, most);
        out.count = 0;
        let points = foreign.ask(self, &question).unwrap_or_else(|why| {
            foreign.fail(self, &question, why);
            Vec::new()
        });
        for own in points.iter().take_while(|own| -own.depth < margin).take(most.min(MAX_POINTS)) {
            let [p1, p2] = [question.X_wb[0].point(own.p_a), question.X_wb[1].point(own.p_b)];
            let id = (own.id ^ own.id >> 32) as u32;
            out.points[out.count] = ManifoldPoint { point: 0.5 * (p1 + p2), gap: -own.depth, id, area: own.area };
            out.count += 1;
        }
        out.normal = points.first().map_or(Vec3::Z, |own| own.normal_a);
        out.points[..out.count].sort_unstable_by_key(|own| own.id);
        out.count > 0
    }

    /// What from outside has failed, a unit of others or a foreign collider.
    pub fn outside_failure(&self) -> Option<OutsideFailure> {
        if let Some((name, why)) = self.network.failure() {
            return Some(OutsideFailure::Unit(name, why));
        }
        let foreign = self.foreign.as_ref()?;
        let failed = foreign.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        failed.map(|(name, why)| OutsideFailure::Collider(name, why))
    }
}
