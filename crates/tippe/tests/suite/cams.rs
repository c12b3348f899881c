//! Cams: what is refused, what is warned of, and both clocks on one lift-off.

use tippe::Model;
use tippe::run::{Recording, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{EventKind, Simulation};

/// A cam on a shaft along z, and a follower on a slide along y, touching it at the start.
fn scene(joint: &str, more: &str) -> String {
    format!(
        r#"
format = 1
title = "cam"
[world]
gravity = [0, -9.81, 0]
[run]
until = 0.2
tolerance = 1e-9
[realtime]
step = "0.1 ms"
[[body]]
name = "cam"
mass = 0.1
inertia = [1e-4, 1e-4, 1e-4]
[[body]]
name = "follower"
mass = 0.2
inertia = [1e-4, 1e-4, 1e-4]
position = [0, "15 mm", 0]
[[joint]]
name = "shaft"
kind = "revolute"
bodies = ["world", "cam"]
at = [0, 0, 0]
speed = 60
motor = {{ kind = "motion", value = "60*t" }}
[[joint]]
name = "guide"
kind = "prismatic"
bodies = ["world", "follower"]
at = [0, "15 mm", 0]
axis = "y"
[[joint]]
name = "touch"
kind = "cam"
bodies = ["cam", "follower"]
at = [0, "15 mm", 0]
{joint}
{more}
"#
    )
}

const DISC: &str = "curve = { kind = \"circle\", radius = \"20 mm\", centre = [0, \"-5 mm\"] }";

fn compiled(text: &str) -> Result<Model, String> {
    let scene = Scene::parse("cam.toml", text, &[]).map_err(|errors| errors.to_string())?;
    Model::compile(&scene).map_err(|errors| errors.to_string())
}

#[test]
fn what_is_no_cam_is_refused() {
    let square = "curve = { kind = \"arcs\", points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]] }";
    let waist = "curve = { kind = \"spline\", points = [[0.02, 0], [0.02, 0.02], [0, 0.008], [-0.02, 0.02], [-0.02, -0.02], [0, -0.008], [0.02, -0.02]] }";
    let face = "face = \"-y\"";
    let lift = "curve = { kind = \"lift\", base = 0.02, face = true, table = [[0, 0], [2, 0.001], [4, 0]] }";
    let cases = [
        (square.to_owned(), "corner of 90.0000 deg"),
        (format!("{waist}\n{face}"), "a flat face follows convex curves only"),
        (format!("{waist}\nradius = 0.05"), "its roller does not fit the curve"),
        (format!("{DISC}\n{face}\nradius = 0.01"), "has both `radius` and `face`"),
        (format!("{DISC}\napart = true"), "starts apart, but is held from both sides"),
        (lift.to_owned(), "lifts a flat face, but its follower is none"),
        ("curve = \"disc\"".to_owned(), "there is no solid \"disc\" with a curve"),
        ("curve = { kind = \"lift\", base = 0.02, table = [[0, 0], [2, 0], [1, 0]] }".to_owned(), "angles rise"),
        (String::new(), "has no `curve`"),
    ];
    for (joint, message) in cases {
        let errors = compiled(&scene(&joint, "")).expect_err(message);
        assert!(errors.contains(message) && errors.contains("cam.toml:"), "{message}: {errors}");
    }
}

/// The follower of a disc that turns at 60 rad/s under its weight alone leaves it where m e w^2 cos(theta) = -m g.
#[test]
fn a_follower_lifts_off_in_both_clocks() {
    let text = scene(&format!("{DISC}\nface = \"-y\"\none_sided = true"), "");
    let at = libm::acos(-9.81 / (0.005 * 3600.0)) / 60.0;
    for (clock, within) in [(Clock::Precise, 1e-6), (Clock::Realtime, 2e-4)] {
        let scene = Scene::parse("cam.toml", &text, &[]).unwrap();
        let model = Model::compile_for(&scene, clock).unwrap();
        let mut recording = Recording::new(Subjects::of(&model));
        let mut settings = tippe::clock::Settings::from_scene(&scene, clock);
        settings.set_threads(1);
        let summary = Simulation::new(model, settings).advance(0.2, &mut recording).unwrap();
        let first = recording.events.iter().find(|event| event.kind == EventKind::LiftOff).unwrap();
        assert!((first.time - at).abs() < within, "{clock:?}: {} for {at}", first.time);
        assert_eq!(first.source.as_deref(), Some("touch"));
        assert!(recording.events.iter().any(|event| event.kind == EventKind::Landing), "{clock:?}");
        let kinetic = recording.energy.iter().map(|ledger| ledger.kinetic).fold(0.0, f64::max);
        assert!(summary.energy.residual().abs() < 1e-3 * kinetic, "{clock:?}: {}", summary.energy.residual());
    }
}

/// A follower that starts apart falls onto the cam.
#[test]
fn a_follower_may_start_apart() {
    let text = scene(&format!("{DISC}\nface = \"-y\"\none_sided = true\napart = true"), "").replace("= 60", "= 0");
    let text = text.replace("60*t", "0*t").replace("position = [0, \"15 mm\", 0]", "position = [0, \"20 mm\", 0]");
    let scene =
        Scene::parse("cam.toml", &text.replace("at = [0, \"15 mm\", 0]", "at = [0, \"20 mm\", 0]"), &[]).unwrap();
    let model = Model::compile(&scene).unwrap();
    let mut recording = Recording::new(Subjects::of(&model));
    Simulation::of_scene(&scene).unwrap().advance(0.2, &mut recording).unwrap();
    let landing = recording.events.iter().find(|event| event.kind == EventKind::Landing).unwrap();
    assert!((landing.time - (2.0 * 0.005 / 9.81_f64).sqrt()).abs() < 1e-8, "{}", landing.time);
    let inside = text.replace("position = [0, \"20 mm\", 0]", "position = [0, \"10 mm\", 0]");
    let errors = compiled(&inside.replace("at = [0, \"15 mm\", 0]", "at = [0, \"10 mm\", 0]")).unwrap_err();
    assert!(errors.contains("its follower starts 5.000e-3 m inside the cam"), "{errors}");
}

/// A polygon of 360 corners in place of the disc: its corners ask v^2 k/l of the load, and the warning says from which
/// speed on that is more than gravity gives.
#[test]
fn corners_that_decide_are_warned_of() {
    let polygon = |corners: u32, speed: f64| {
        let points: Vec<String> = (0..corners)
            .map(|k| {
                let (s, c) = libm::sincos(2.0 * std::f64::consts::PI * f64::from(k) / f64::from(corners));
                format!("[{}, {}]", 0.02 * c, 0.02 * s)
            })
            .collect();
        format!(
            "format = 1\ntitle = \"polygon\"\n[world]\ngravity = [0, 0, -9.81]\n[run]\nuntil = 1\n[[solid]]\nname = \"disc\"\nkind = \"prism\"\nlength = 0.01\noutline = [{}]\n[[body]]\nname = \"wheel\"\nmaterial = \"steel\"\nangular_velocity = [0, 0, {speed}]\nshape = {{ kind = \"mesh\", solid = \"disc\" }}\n",
            points.join(", ")
        )
    };
    let warned = |text: String| {
        let model = compiled(&text).unwrap();
        model.warnings.iter().find(|warning| warning.contains("lifts off above")).cloned()
    };
    let warning = warned(polygon(360, 60.0)).unwrap();
    // sqrt(g R) of a regular polygon
    assert!(warning.contains("lifts off above 0.4429 m/s (a corner of 1.000 deg after 3.491e-4 m)"), "{warning}");
    assert!(warning.contains("moves at 1.2000 m/s") && warning.contains("kind = \"cam\""), "{warning}");
    assert_eq!(warned(polygon(360, 20.0)), None);
    assert_eq!(warned(polygon(6, 60.0)), None);
}
