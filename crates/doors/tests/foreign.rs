//! Contact points from outside: the same run as with our own geometry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tippe::clock::Settings;
use tippe::foreign::{Collide, ForeignPoint, Question};
use tippe::model::Model;
use tippe::scene::{Clock, Scene};
use tippe::{BodyState, Simulation};
use tippe_doors::collider::Collider;

/// Twelve bodies that fall on a floor and on each other: balls only, or every second one a box.
fn twelve(boxes: bool) -> Scene {
    let mut text = "format = 1\ntitle = \"Twelve\"\nsource = \"two ways to one number\"\n[world]\ngravity = [0, 0, -9.81]\n[run]\nuntil = 1\n\
                    tolerance = 1e-8\n[[body]]\nname = \"floor\"\nfixed = true\nmaterial = \"steel\"\nshape = { kind = \"half_space\" }\n"
        .to_owned();
    for k in 0..12 {
        let shape = match boxes && k % 2 == 1 {
            true => "{ kind = \"box\", size = [0.2, 0.24, 0.18] }",
            false => "{ kind = \"sphere\", radius = 0.1 }",
        };
        let (x, y, z) = (0.13 * f64::from(k % 4), 0.15 * f64::from(k / 4 % 2), 0.3 + 0.32 * f64::from(k / 2));
        text += &format!(
            "[[body]]\nname = \"body_{k}\"\nmaterial = \"rubber\"\nshape = {shape}\nposition = [{x}, {y}, {z}]\nangular_velocity = [0.3, {}, 0.1]\n",
            0.1 * f64::from(k)
        );
    }
    Scene::parse("twelve.toml", &text, &[]).unwrap()
}

/// Where the bodies are at the end, and how often the foreign collider was asked.
fn end(scene: &Scene, clock: Clock, foreign: bool) -> (Vec<BodyState>, u64) {
    let mut model = Model::compile_for(scene, clock).unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    if foreign {
        let (own, count) = (Collider::of(&model), asked.clone());
        let collide: Arc<Collide> = Arc::new(move |question: &Question, out: &mut Vec<ForeignPoint>| {
            count.fetch_add(1, Ordering::Relaxed);
            let ([a, b], [X_wa, X_wb]) = (question.bodies, &question.X_wb);
            let found = own.pair_within(a, X_wa, b, X_wb, question.margin)?;
            out.extend(found.points.iter().map(|p| ForeignPoint {
                p_a: p.p_a,
                p_b: p.p_b,
                normal_a: p.normal_a,
                depth: p.depth,
                area: p.area,
                id: p.id,
            }));
            Ok(())
        });
        model = model.with_foreign(clock, None, collide).unwrap();
    }
    let mut run = Simulation::new(model, Settings::from_scene(scene, clock));
    let summary = run.advance(1.0, &mut ()).unwrap();
    (summary.bodies, asked.load(Ordering::Relaxed))
}

fn same(scene: &Scene, clock: Clock) {
    let ((native, none), (foreign, asked)) = (end(scene, clock, false), end(scene, clock, true));
    assert!(none == 0 && asked > 1000, "{asked} questions");
    for (k, (one, other)) in native.iter().zip(&foreign).enumerate() {
        let off = (one.position - other.position).length();
        assert!(off < 1e-9, "body {k} is {off:e} m off");
    }
}

#[test]
fn twelve_balls_and_boxes_in_the_realtime_clock() {
    same(&twelve(true), Clock::Realtime);
}

#[test]
fn twelve_balls_in_the_precise_clock() {
    same(&twelve(false), Clock::Precise);
}

#[test]
fn what_a_foreign_collider_cannot_be_asked_is_said() {
    let scene = twelve(true);
    let nothing = || -> Arc<Collide> { Arc::new(|_: &Question, _: &mut Vec<ForeignPoint>| Ok(())) };
    let error = |clock: Clock, pairs: &[(&str, &str)]| {
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let model = Model::compile_for(&scene, clock).unwrap();
        model.with_foreign(clock, Some(&pairs), nothing()).unwrap_err()
    };
    assert!(error(Clock::Precise, &[("floor", "body_1")]).contains("flat faces"));
    assert!(error(Clock::Realtime, &[("floor", "bodi_1")]).contains("did you mean `body_1`?"));
    // one that gives nothing where a distance is needed ends the run by name
    let model = Model::compile_for(&twelve(false), Clock::Precise).unwrap();
    let model = model.with_foreign(Clock::Precise, None, nothing()).unwrap();
    let mut run = Simulation::new(model, Settings::from_scene(&twelve(false), Clock::Precise));
    let failure = run.advance(1.0, &mut ()).unwrap_err().to_string();
    assert!(failure.contains("gave no point for \"floor\" and \"body_"), "{failure}");
    // one that lies about its normal as well, in the realtime clock
    let lie: Arc<Collide> = Arc::new(|_: &Question, out: &mut Vec<ForeignPoint>| {
        out.push(ForeignPoint::default());
        Ok(())
    });
    let model = Model::compile_for(&scene, Clock::Realtime).unwrap().with_foreign(Clock::Realtime, None, lie).unwrap();
    let mut run = Simulation::new(model, Settings::from_scene(&scene, Clock::Realtime));
    let failure = run.advance(1.0, &mut ()).unwrap_err().to_string();
    assert!(failure.contains("a normal of length 0, not 1"), "{failure}");
}
