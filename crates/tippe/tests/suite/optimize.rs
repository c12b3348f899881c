//! A part of half the material: its energy two ways, better than a thinner one, the same bits after an interruption.

use tippe::optimize::{Optimizer, Round};
use tippe::scene::{Clock, Scene};

fn lever() -> Scene {
    let mut scene = Scene::load("topology_lever", &[]).expect("it comes with the program");
    let body = scene.bodies.iter_mut().find(|body| body.name == "lever").expect("it has a lever");
    body.flexible.as_mut().expect("it bends").size = Some(6e-3);
    let wish = scene.optimize.as_mut().expect("it says what");
    (wish.filter, wish.rounds) = (0.011, 8);
    scene.run.until = 0.1;
    scene
}

fn round(of: &mut Optimizer) -> Round {
    of.round(&mut |_| true).expect("it runs").expect("nobody stopped it")
}

#[test]
fn a_lever_of_half_the_weight() {
    let scene = lever();
    let mut optimizer = Optimizer::new(&scene, Clock::Realtime).expect("it can be optimised");
    let first = round(&mut optimizer);
    // the work of the load cases is twice the integral of the strain energy of the run they are from
    assert!((first.compliance[0] / (2.0 * first.energy) - 1.0).abs() < 1e-3, "{first:?}");
    assert!(first.compliance[1] < first.compliance[0] && first.volume < 0.5 + 1e-6, "{first:?}");
    round(&mut optimizer);
    let mut other = Optimizer::new(&scene, Clock::Realtime).expect("it can be optimised");
    let design = serde_json::to_string(&optimizer.design).expect("it can be written");
    other.resume(serde_json::from_str(&design).expect("it can be read")).expect("it is of the same mesh");
    round(&mut other);
    while !optimizer.is_done() {
        round(&mut optimizer);
    }
    assert_eq!(other.design.rounds[2], optimizer.design.rounds[2]);
    let shaped = optimizer.shaped().expect("it hangs together");
    let thinner = optimizer.thinner().expect("it bends").expect("it is plane");
    let run = |scene: &Scene| optimizer.operate(scene, &mut |_| true).expect("it runs").expect("nobody stopped it");
    let (own, thin) = (run(&shaped), run(&thinner));
    assert!(own.energy_time() < thin.energy_time(), "{} and {}", own.energy_time(), thin.energy_time());
    assert!(own.peak() < thin.peak(), "{} and {}", own.peak(), thin.peak());
    // as a file it is the same part
    let again = Scene::parse("part.toml", &shaped.to_toml(), &[]).expect("it was just written");
    assert_eq!(run(&again).energy, own.energy);
}

/// What cannot be is told.
#[test]
fn wishes_that_cannot_be() {
    let mut scene = lever();
    let wrong = |scene: &Scene| Optimizer::new(scene, Clock::Realtime).err().expect("it is wrong").to_string();
    let wish = scene.optimize.as_mut().expect("it says what");
    wish.rim = 0.2;
    assert!(wrong(&scene).contains("is all it may be. help: keep less"), "{}", wrong(&scene));
    let mut other = Optimizer::new(&lever(), Clock::Realtime).expect("it can be optimised");
    assert!(other.resume(Default::default()).is_err_and(|error| error.to_string().contains("of another mesh")));
    scene.optimize = None;
    assert!(wrong(&scene).contains("add [optimize]"));
}
