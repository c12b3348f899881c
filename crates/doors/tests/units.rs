//! Units from scene to file and back: what the standards promise, asked without an importer. `crates/python/tests/test_fmu.py` asks the
//! same through one.

use std::path::Path;
use std::sync::Arc;
use tippe::scene::gallery;
use tippe_doors::export::unit;
use tippe_doors::instance::{Instance, Phase};
use tippe_doors::plan::{Package, Slot, Wishes};
use tippe_units::archive::{pack, unpack, unpack_to};

fn text(name: &str) -> &'static str {
    gallery().iter().find(|(own, _)| *own == name).map(|(_, text)| *text).unwrap()
}

fn package(name: &str, wishes: &Wishes) -> Package {
    Package::new(name, &format!("{name}.toml"), text(name), wishes).unwrap().0
}

fn loaded(folder: &Path, package: &Package) -> Arc<Package> {
    let bytes = unit(package, b"no library".to_vec(), None).unwrap();
    unpack_to(&bytes, folder).unwrap();
    Arc::new(Package::load(&folder.join("resources")).unwrap())
}

fn reference(package: &Package, name: &str) -> u32 {
    package.items.iter().position(|item| item.name == name).unwrap() as u32
}

fn begun(package: &Arc<Package>, exchange: bool) -> Instance {
    let mut own = Instance::new(package.clone(), exchange).unwrap();
    own.phase = Phase::Initialization;
    own.ready().unwrap();
    own.phase = Phase::Running;
    own
}

/// Numbers between 0 and 1 that are the same every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn outputs(own: &mut Instance) -> Vec<u64> {
    let references: Vec<u32> =
        own.package.clone().items_where(|slot| matches!(slot, Slot::Output(_))).map(|(k, _)| k as u32).collect();
    references.iter().map(|k| own.get(*k).unwrap().to_bits()).collect()
}

/// One step to the end, a hundred steps of random length, and a hundred with states that are left and come back to, through memory and
/// through bytes: the same bits.
#[test]
fn steps_and_rollback_change_no_bit() {
    for (name, clock, until) in
        [("bouncing_ball", "precise", 1.0), ("slider_crank", "precise", 1.0), ("stack", "realtime", 0.2)]
    {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes { clock: tippe::scene::Clock::from_name(clock), ..Wishes::default() };
        let package = loaded(folder.path(), &package(name, &wishes));
        let mut once = begun(&package, false);
        once.step(0.0, until).unwrap();
        let wanted = outputs(&mut once);
        let mut own = begun(&package, false);
        let (mut dice, mut time) = (Dice(7), 0.0);
        for k in 0..100 {
            // the realtime clock has its steps: it is asked for whole ones
            let grid = package.plan.step;
            let left = until - time;
            let length = match (k, clock) {
                (99, _) => left,
                (_, "realtime") => (grid * (dice.next() * 0.02 * until / grid).round()).min(left),
                _ => 0.018 * until * dice.next(),
            };
            if length <= 0.0 {
                continue;
            }
            if dice.next() < 0.3 {
                let mut snapshot = own.snapshot();
                own.step(time, length).unwrap();
                if dice.next() < 0.5 {
                    let bytes = own.to_bytes(&snapshot).unwrap();
                    snapshot = own.from_bytes(&bytes).unwrap();
                }
                own.restore(&snapshot).unwrap();
            }
            own.step(time, length).unwrap();
            time += length;
        }
        assert_eq!(outputs(&mut own), wanted, "{name}");
    }
}

/// The unit's run is that of the program: same scene, same clock, same bits.
#[test]
fn a_unit_is_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let package = loaded(folder.path(), &package("bouncing_ball", &Wishes::default()));
    let mut own = begun(&package, false);
    own.step(0.0, 1.5).unwrap();
    let scene = tippe::scene::Scene::load("bouncing_ball", &[]).unwrap();
    let mut run = tippe::Simulation::of_scene(&scene).unwrap();
    let summary = run.advance(1.5, &mut ()).unwrap();
    let ball = scene.bodies.iter().position(|body| body.name == "ball").unwrap();
    let z = own.get(reference(&package, "ball.position.z")).unwrap();
    assert_eq!(z.to_bits(), summary.bodies[ball].position.z.to_bits());
}

/// A parameter given before the start compiles the scene again: the ball falls from another height.
#[test]
fn parameters_compile_the_scene_again() {
    let folder = tempfile::tempdir().unwrap();
    let package = loaded(folder.path(), &package("bouncing_ball", &Wishes::default()));
    let mut own = Instance::new(package.clone(), false).unwrap();
    let (h, z) = (reference(&package, "h"), reference(&package, "ball.position.z"));
    let before = own.get(z).unwrap();
    let start = own.get(h).unwrap();
    own.set(h, start + 0.25).unwrap();
    assert!((own.get(z).unwrap() - before - 0.25).abs() < 1e-15);
    // what the scene finds from it has followed, t1 = sqrt(2 h/g)
    let first = own.get(reference(&package, "t1")).unwrap();
    assert!((first - (2.0 * (start + 0.25) / 9.81_f64).sqrt()).abs() < 1e-15);
    // a heavier ball is the same unit
    own.set(reference(&package, "r"), 0.2).unwrap();
    own.get(z).unwrap();
    own.phase = Phase::Running;
    let error = own.set(h, 1.0).unwrap_err();
    assert!(error.contains("fixed once the initialisation has ended"), "{error}");
}

/// Model Exchange: the first impact of the ball is where a parabola meets the floor, sqrt(2 h/g), and the indicator goes through zero there
/// without a jump.
#[test]
fn indicators_are_continuous_through_zero() {
    let folder = tempfile::tempdir().unwrap();
    let package = loaded(folder.path(), &package("bouncing_ball", &Wishes::default()));
    let mut own = begun(&package, true);
    let touch = reference(&package, "event(touch)");
    let height = reference(&package, "state(ball.centre.z)");
    let z0 = own.get(height).unwrap();
    let gap0 = own.get(touch).unwrap();
    assert!(gap0 > 0.0);
    for below in [0.5 * gap0, gap0 - 1e-9, gap0 + 1e-9, gap0 + 1e-6] {
        own.set(height, z0 - below).unwrap();
        let gap = own.get(touch).unwrap();
        assert!((gap - (gap0 - below)).abs() < 1e-15 * z0.max(1.0) + 1e-15, "{below}: {gap}");
    }
    own.set(height, z0).unwrap();
    let speed = reference(&package, "der(state(ball.centre_velocity.z))");
    assert!((own.get(speed).unwrap() + 9.81).abs() < 1e-3);
}

/// What nobody should get away with, each by name.
#[test]
fn mistakes_are_named() {
    let wrong = |wishes: Wishes| match Package::new("slider_crank", "slider_crank.toml", text("slider_crank"), &wishes)
    {
        Ok(_) => panic!("no error"),
        Err(error) => error,
    };
    let list = |name: &str| Some(vec![name.to_owned()]);
    let error = wrong(Wishes { outputs: list("slider.positon.x"), ..Wishes::default() });
    assert!(error.contains("slider.positon.x"), "{error}");
    let error = wrong(Wishes { inputs: list("throttle"), ..Wishes::default() });
    assert!(error.contains("there is no input \"throttle\""), "{error}");
    let error = wrong(Wishes { parameters: list("nothing"), ..Wishes::default() });
    assert!(error.contains("there is no parameter \"nothing\""), "{error}");
    let me = Some("me".to_owned());
    let error = wrong(Wishes { outputs: list("energy.residual"), kind: me.clone(), ..Wishes::default() });
    assert!(error.contains("integrated by the clocks"), "{error}");
    let error = wrong(Wishes { clock: Some(tippe::scene::Clock::Realtime), kind: me, ..Wishes::default() });
    assert!(error.contains("the realtime clock has steps of its own"), "{error}");
    let error = wrong(Wishes { clock: Some(tippe::scene::Clock::Granular), ..Wishes::default() });
    assert!(error.contains("the granular clock cannot be exported"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let package = loaded(folder.path(), &package("bouncing_ball", &Wishes::default()));
    let mut own = begun(&package, false);
    assert!(own.get(99_999).unwrap_err().contains("no variable with value reference 99999"));
    let z = reference(&package, "ball.position.z");
    assert!(own.set(z, 1.0).unwrap_err().contains("it cannot be given"));
    assert!(own.step(5.0, 0.1).unwrap_err().contains("the unit is at 0 s"));
    assert!(own.step(0.0, -0.1).unwrap_err().contains("cannot be made"));
    assert!(own.equations().is_err());
    assert!(own.from_bytes(b"{}").err().unwrap().contains("no saved state"));
}

/// A unit whose resources were changed is not the one its description tells of.
#[test]
fn another_scene_is_another_token() {
    let one = package("bouncing_ball", &Wishes::default());
    let other =
        package("bouncing_ball", &Wishes { sets: vec![("e".to_owned(), "0.5".to_owned())], ..Wishes::default() });
    assert_ne!(one.token(), other.token());
    // a scene whose parameters nobody may give is still the one its description tells of
    for name in ["bouncing_ball", "oscillator"] {
        let folder = tempfile::tempdir().unwrap();
        let own = package(name, &Wishes { parameters: Some(Vec::new()), ..Wishes::default() });
        assert_eq!(loaded(folder.path(), &own).token(), own.token());
    }
    let bytes = unit(&one, Vec::new(), None).unwrap();
    assert_eq!(bytes, unit(&one, Vec::new(), None).unwrap());
    let files = unpack(&bytes).unwrap();
    assert_eq!(pack(&files).unwrap(), bytes);
}
