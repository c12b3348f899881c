//! What a run must not pass over in silence, and what it must say of it.

use tippe::clock::{Settings, simulate};
use tippe::run::{Recording, Subjects};
use tippe::scene::{Clock, Scene};
use tippe::{EventKind, Model, Summary};
use tippe_geometry::Vec3;

/// A box of steel that falls on a floor.
const BOX: &str = r#"
[world]
gravity = [0, 0, -9.81]
[run]
until = 0.5
output_interval = 0.05
[contact]
restitution = 0.5
friction = 0.3
[[body]]
name = "f"
fixed = true
material = "steel"
shape = { kind = "half_space" }
[[body]]
name = "b"
material = "steel"
shape = { kind = "box", size = [0.1, 0.1, 0.1] }
position = [0, 0, 0.06]
"#;

/// A slider along z.
const SLIDER: &str = r#"
[world]
gravity = [0, 0, 0]
[run]
until = 0.5
[[body]]
name = "c"
mass = 1
inertia = [0.001, 0.001, 0.001]
position = [0, 0, 1]
"#;

/// The slider on its joint, which has these keys too.
fn slider(keys: &str) -> String {
    let joint =
        "[[joint]]\nname = \"p\"\nkind = \"prismatic\"\nbodies = [\"world\", \"c\"]\nat = [0, 0, 1]\naxis = \"z\"\n";
    format!("{SLIDER}{joint}{keys}\n")
}

fn parsed(text: &str) -> Result<Scene, String> {
    Scene::parse("test.toml", &format!("format = 1\n{text}"), &[]).map_err(|errors| errors.to_string())
}

fn compiled(text: &str, clock: Clock) -> Result<Model, String> {
    Model::compile_for(&parsed(text)?, clock).map_err(|errors| errors.to_string())
}

/// A whole run: what it recorded, and how it ended.
fn run(text: &str, clock: Clock) -> (Recording, Result<Summary, String>) {
    let scene = parsed(text).unwrap();
    let model = compiled(text, clock).unwrap();
    let mut settings = Settings::from_scene(&scene, clock);
    settings.set_threads(1);
    let mut recording = Recording::new(Subjects::of(&model));
    let mut state = settings.start(&model);
    let end = simulate(&model, &mut state, scene.run.until, &settings, &mut recording);
    (recording, end.map_err(|failure| failure.to_string()))
}

#[test]
fn the_wrench_of_meshes_is_the_one_that_turns_them() {
    // two tetrahedra askew; I w = T t and m v = F t on body 2, whose inertia is that of a ball
    let tetrahedron = |v: &str| {
        format!("{{ kind = \"mesh\", vertices = {v}, triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] }}")
    };
    let text = format!(
        r#"
        [world]
        gravity = [0, 0, 0]
        [run]
        until = 1e-6
        output_interval = 1e-6
        tolerance = 1e-9
        [contact]
        law = "bardaro"
        stiffness = 1e5
        damping = 0
        friction_law = "none"
        [[body]]
        name = "a"
        fixed = true
        material = "steel"
        shape = {}
        orientation = [-0.13489897775816162, 0.21524440795452124, 0.43604790055057663, -0.8633274807797706]
        [[body]]
        name = "b"
        material = "steel"
        mass = 1000
        inertia = [100, 100, 100]
        shape = {}
        orientation = [0.012698328762481136, -0.6019147019314527, -0.10627066687297441, -0.7913557919215503]
        position = [-0.03832904898528802, -0.3078988622920627, -1.0601884836042925]
        "#,
        tetrahedron(
            "[[-0.4885, -0.5746, -0.0463], [0.1226, 0.6556, 0.1328], [-0.3639, -0.3048, 0.4523], [0.7298, 0.2239, -0.5388]]"
        ),
        tetrahedron(
            "[[-0.1333, 0.6794, 0.3843], [0.0311, -0.3647, -0.0738], [-0.5203, -0.1625, -0.2987], [0.6225, -0.1522, -0.0118]]"
        ),
    );
    let (recording, end) = run(&text, Clock::Precise);
    let end = end.unwrap();
    let model = compiled(&text, Clock::Precise).unwrap();
    let last = recording.time.len() - 1;
    let contact = recording.contacts_at(last)[0];
    let b = &end.bodies[1];
    let arm = contact.position - (b.position + b.orientation * model.bodies[1].p_bc);
    let (torque, turned) = (contact.torque + arm.cross(contact.force), 100.0 * b.angular_velocity / 1e-6);
    assert!(contact.torque.length() > 1e-3 * contact.force.length(), "{contact:?}");
    assert!((torque - turned).length() < 1e-6 * turned.length(), "{torque} {turned}");
    let pushed = 1000.0 * (b.velocity + b.angular_velocity.cross(b.orientation * model.bodies[1].p_bc)) / 1e-6;
    assert!((contact.force - pushed).length() < 1e-6 * pushed.length(), "{} {pushed}", contact.force);
}

#[test]
fn a_component_that_is_lost_ends_the_run_by_name() {
    let grows = format!("{BOX}[[component]]\nname = \"k\"\nstates = {{ x = 3 }}\nder = {{ x = \"x^2\" }}\n");
    let divides = format!("{BOX}[[component]]\nname = \"k\"\nstates = {{ x = 1 }}\nder = {{ x = \"-1/x\" }}\n");
    let said = run(&grows, Clock::Realtime).1.unwrap_err();
    assert!(said.contains("component \"k\" has a state that is not a finite number"), "{said}");
    for text in [&grows, &divides] {
        let said = run(text, Clock::Precise).1.unwrap_err();
        assert!(said.contains("component \"k\"") && !said.contains("contact"), "{said}");
    }
}

#[test]
fn energy_beyond_all_numbers_ends_the_run() {
    let force = "[[force]]\nname = \"F\"\nkind = \"applied\"\non = \"b\"\nforce = [0, 0, \"exp(1000*t)\"]\n";
    let said = run(&format!("{BOX}{force}"), Clock::Realtime).1.unwrap_err();
    assert!(said.contains("body \"b\" has") && said.contains("not a finite number"), "{said}");
    // and what falls is named, not what stands
    let parts: Vec<&str> = BOX.split("[[body]]").collect();
    let last = [parts[0], parts[2], parts[1]].join("[[body]]");
    for text in [BOX, &last] {
        let said = run(&text.replace("-9.81", "-1e308"), Clock::Precise).1.unwrap_err();
        assert!(said.contains("body \"b\""), "{said}");
    }
}

/// Balls of 5 mm above a floor.
fn grains(spheres: &str, velocities: &str) -> String {
    format!(
        r#"
        [world]
        gravity = [0, 0, -9.81]
        [run]
        until = 0.002
        clock = "granular"
        [materials]
        s = {{ density = 2500, young = 5e6, poisson = 0.3 }}
        [[grains]]
        name = "g"
        material = "s"
        packing = "listed"
        friction = 0.5
        restitution = 0.5
        spheres = {spheres}
        velocities = {velocities}
        [[body]]
        name = "floor"
        fixed = true
        material = "s"
        shape = {{ kind = "half_space" }}
        [[body]]
        name = "block"
        fixed = true
        material = "s"
        shape = {{ kind = "box", size = [0.1, 0.1, 0.1] }}
        position = [1, 0, 0.5]
        "#
    )
}

#[test]
fn grains_that_start_inside_walls_are_errors() {
    for (sphere, depth, body) in
        [("[0.05, 0.05, -0.1, 0.005]", "1.050e-1", "floor"), ("[1, 0, 0.53, 0.005]", "2.500e-2", "block")]
    {
        let text = grains(&format!("[{sphere}]"), "[[0, 0, 0]]");
        for clock in [Clock::Granular, Clock::Realtime, Clock::Precise] {
            let said = compiled(&text, clock).unwrap_err();
            let wanted = format!("grains \"g\": grain 0 starts {depth} m deep in body \"{body}\"");
            assert!(said.contains(&wanted), "{said}");
        }
    }
    // a grain that rests on it does not
    assert!(compiled(&grains("[[0, 0, 0.0049, 0.005]]", "[[0, 0, 0]]"), Clock::Granular).is_ok());
}

#[test]
fn grains_that_outrun_their_radius_are_said_once() {
    let text = grains("[[0.05, 0.05, 0.1, 0.005], [0.05, 0.05, 0.3, 0.005]]", "[[0, 0, -1e6], [0, 0, 0]]");
    let warnings = run(&text, Clock::Granular).1.unwrap().warnings;
    let said: Vec<&String> = warnings.iter().filter(|w| w.contains("grain 0 moves")).collect();
    assert!(said.len() == 1 && said[0].contains("more than its radius 5.000e-3 m"), "{warnings:?}");
}

#[test]
fn a_negative_count_is_an_error() {
    let text = BOX.replace("name = \"b\"", "name = \"b{k}\"\nrepeat = [{ index = \"k\", count = -3 }]");
    let said = parsed(&text).unwrap_err();
    assert!(said.contains("count = -3"), "{said}");
}

#[test]
fn a_body_goes_once() {
    let text = format!(
        "{BOX}[[change]]\nname = \"x\"\nat = 0.1\ndelete = \"b\"\n[[change]]\nname = \"y\"\nat = 0.2\ndelete = \"b\"\n"
    );
    for clock in [Clock::Precise, Clock::Realtime] {
        let energy = run(&text, clock).1.unwrap().energy;
        assert!(energy.residual().abs() < 1e-6, "{}: {energy:?}", clock.name());
    }
    let said = compiled(&format!("{BOX}[[change]]\nname = \"x\"\nat = 0.1\ndelete = \"f\"\n"), Clock::Precise);
    let said = said.unwrap_err();
    assert!(said.contains("body \"f\" does not move by forces") && !said.contains("joint"), "{said}");
}

#[test]
fn a_joint_beyond_its_stop_is_said() {
    let joint = "position = 5\nlimit = { lower = 0, upper = 1, stiffness = 1e4 }";
    let warnings = compiled(&slider(joint), Clock::Precise).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.contains("4.000e0 (m or rad) beyond its stops")), "{warnings:?}");
}

#[test]
fn a_motion_that_jumps_is_said() {
    let joint = |value: &str| slider(&format!("motor = {{ kind = \"motion\", value = \"{value}\" }}"));
    let jumps = |value: &str| {
        let warnings = run(&joint(value), Clock::Realtime).1.unwrap().warnings;
        warnings.iter().any(|w| w.contains("p.motor: its motion jumps by 1.000e0 (m or rad)"))
    };
    assert!(jumps("if(t < 0.2, 0, 1)"));
    assert!(!jumps("sin(300*t)/300 - t"));
}

#[test]
fn a_position_drive_at_its_limit_is_logged() {
    let joint = "speed = 1\nmotor = { kind = \"position\", value = 0, stiffness = 100, damping = 1, limit = 4 }";
    let text = slider(joint).replace("until = 0.5", "until = 0.55");
    let end = run(&text, Clock::Precise).1.unwrap();
    // it passes the limit on the way out, and comes back within it
    let count = |kind: EventKind| end.events.get(&kind).copied().unwrap_or(0);
    assert_eq!([count(EventKind::MotorLimit), count(EventKind::MotorHold)], [1, 1], "{:?}", end.events);
}

#[test]
fn start_values_of_rows_turn_in_both_clocks() {
    let joint = |more: &str| {
        format!(
            "{SLIDER}[[joint]]\nname = \"p\"\nkind = \"revolute\"\nbodies = [\"world\", \"c\"]\nat = [0.5, 0, 1]\nspeed = 2\n{more}\n"
        )
    };
    let cases =
        [("rows = true", Clock::Precise), ("rows = true", Clock::Realtime), ("breaking_force = 1e6", Clock::Realtime)];
    for (more, clock) in cases {
        let end = run(&joint(more), clock).1.unwrap();
        let w = end.bodies[0].angular_velocity;
        assert!((w - Vec3::new(0.0, 0.0, 2.0)).length() < 1e-6, "{more}, {}: {w}", clock.name());
    }
}

fn two_cubes(position: &str, contact: &str) -> String {
    let body = |name: &str, at: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmaterial = \"steel\"\nposition = {at}\nshape = {{ kind = \"mesh\", solid = \"cube\" }}\n"
        )
    };
    let solid = "[[solid]]\nname = \"cube\"\nkind = \"box\"\nsize = [0.1, 0.1, 0.1]\n";
    format!(
        "[world]\ngravity = [0, 0, 0]\n[contact]\nrestitution = 0.5\n{contact}{solid}{}{}",
        body("first", "[0, 0, 0]"),
        body("second", position)
    )
}

/// Meshes in the same place have no depth to see; the volume they share says it.
#[test]
fn meshes_in_the_same_place_are_an_error() {
    for (at, share) in [("[0, 0, 0]", "100 %"), ("[0.001, 0.002, 0.003]", "94 %"), ("[0.05, 0.05, 0]", "25 %")] {
        for clock in [Clock::Precise, Clock::Realtime] {
            let error = compiled(&two_cubes(at, "friction = 0.3\n"), clock).expect_err("they cannot start there");
            assert!(error.contains("\"first\" and \"second\" start in each other: they share"), "{error}");
            assert!(error.contains(share), "{error}");
        }
    }
    assert!(compiled(&two_cubes("[0.0999, 0.001, 0]", "friction = 0.3\n"), Clock::Precise).is_ok());
}

/// Facets have no radius: rolling friction that is asked for where they touch is told to be none.
#[test]
fn rolling_friction_of_meshes_is_told() {
    let said = |contact: &str| {
        let model = compiled(&two_cubes("[1, 0, 0]", contact), Clock::Precise).unwrap_or_else(|e| panic!("{e}"));
        model.warnings.iter().any(|w| w.contains("body \"first\" is a mesh, and where triangles touch there is none"))
    };
    assert!(said("friction = 0.3\nrolling = 0.1\n") && !said("friction = 0.3\n"));
}

/// A heavy cube that a thin soft mat does not hold: beyond the middle of the mat its surface is the lower one, and contact pushes on through. On a
/// mat as stiff as steel nothing is said.
#[test]
fn what_is_pressed_beyond_the_middle_of_a_thin_part_is_said() {
    let text = |young: &str| {
        format!(
            r#"
            [world]
            gravity = [0, 0, -9.81]
            [run]
            until = 0.25
            [realtime]
            step = "1 ms"
            [contact]
            restitution = 0.3
            friction = 0.3
            [materials.mat]
            density = 7800
            young = "{young}"
            poisson = 0.3
            [defaults]
            material = "mat"
            [[solid]]
            name = "sheet"
            kind = "box"
            size = [0.4, 0.4, 0.01]
            [[solid]]
            name = "cube"
            kind = "box"
            size = [0.1, 0.1, 0.1]
            [[body]]
            name = "mat"
            fixed = true
            shape = {{ kind = "mesh", solid = "sheet" }}
            [[body]]
            name = "cube"
            shape = {{ kind = "mesh", solid = "cube" }}
            position = [0, 0, 0.255]
            "#
        )
    };
    for clock in [Clock::Precise, Clock::Realtime] {
        let says = |young: &str| {
            let warnings = run(&text(young), clock).1.unwrap().warnings;
            warnings.iter().any(|w| w.contains("\"mat\" and \"cube\" are") && w.contains("beyond the middle"))
        };
        assert!(says("1 MPa"), "{}", clock.name());
        assert!(!says("200 GPa"), "{}", clock.name());
    }
}
