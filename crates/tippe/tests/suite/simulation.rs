//! The public door: a simulation that goes on in stretches, back to a checkpoint, and refuses what its clock cannot do.

use tippe::clock::{Failure, Settings};
use tippe::scene::{Clock, Scene};
use tippe::{Model, Simulation};

fn simulation(name: &str, clock: Clock) -> Simulation {
    let scene = Scene::load(name, &[]).unwrap();
    let mut settings = Settings::from_scene(&scene, clock);
    settings.set_threads(1);
    Simulation::new(Model::compile_for(&scene, clock).unwrap(), settings)
}

/// In every clock two stretches, and a stretch made again from a checkpoint, have the bits of a run in one go.
#[test]
fn stretches_and_checkpoints_keep_the_bits() {
    for (name, clock, until) in [
        ("bouncing_ball", Clock::Precise, 0.6),
        ("double_pendulum", Clock::Realtime, 0.6),
        ("bucket_in_gravel", Clock::Realtime, 0.05),
    ] {
        let whole = simulation(name, clock).advance(until, &mut ()).unwrap();
        let mut parts = simulation(name, clock);
        parts.advance(0.5 * until, &mut ()).unwrap();
        let checkpoint = parts.state();
        let first = parts.advance(until, &mut ()).unwrap();
        assert_eq!(first.hash, whole.hash, "{name}");
        parts.restore(&checkpoint).unwrap();
        assert_eq!(parts.time(), checkpoint.time());
        assert_eq!(parts.advance(until, &mut ()).unwrap().hash, whole.hash, "{name} from its checkpoint");
        let (model, settings) = (parts.model().clone(), parts.settings().clone());
        let mut resumed = Simulation::resume(model, settings, checkpoint).unwrap();
        assert_eq!(resumed.advance(until, &mut ()).unwrap().hash, whole.hash, "{name} resumed");
    }
}

/// States of one clock do not go on in another, and a clock without steps says so.
#[test]
fn a_clock_says_what_it_cannot_do() {
    let mut precise = simulation("bouncing_ball", Clock::Precise);
    let realtime = simulation("bouncing_ball", Clock::Realtime);
    assert!(matches!(precise.restore(&realtime.state()), Err(Failure::Mixed { .. })));
    assert!(matches!(precise.steps(1, &mut [], &mut ()), Err(Failure::NoSteps { clock: Clock::Precise })));
}
