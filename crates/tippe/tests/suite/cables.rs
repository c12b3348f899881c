//! Cables against closed forms, in both clocks.

use tippe::run::{Recording, Subjects};
use tippe::scene::Scene;
use tippe::{Cause, Model, realtime};
use tippe_geometry::Vec3;
use tippe_mechanics::element::Element;

fn model(text: &str) -> Model {
    let scene = Scene::parse("cable.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A run in the precise clock.
fn precise(model: &Model, until: f64, tolerance: f64) -> Recording {
    let mut recording = Recording::new(Subjects::of(model));
    let settings = tippe::Settings { tolerance, output_interval: until, threads: 1, ..tippe::Settings::default() };
    tippe::simulate(model, &mut tippe::State::start(model), until, &settings, &mut recording)
        .unwrap_or_else(|e| panic!("{e}"));
    recording
}

/// A run in the realtime clock with steps of 1/240 s.
fn stepped(model: &Model, until: f64) -> Recording {
    let mut recording = Recording::new(Subjects::of(model));
    let settings =
        realtime::Settings { step: 1.0 / 240.0, output_interval: until, threads: 1, ..realtime::Settings::default() };
    realtime::simulate(model, &mut realtime::State::start(model), until, &settings, &mut recording)
        .unwrap_or_else(|e| panic!("{e}"));
    recording
}

fn last(recording: &Recording, name: &str) -> f64 {
    let k = recording.subjects.signals.iter().position(|s| s.name == name);
    *recording.signals[k.unwrap_or_else(|| panic!("no signal {name}"))].last().expect("a record")
}

/// Where a body is in the end.
fn place(recording: &Recording, name: &str) -> Vec3 {
    let k = recording.subjects.bodies.iter().position(|body| body.name == name);
    recording.motion[k.unwrap_or_else(|| panic!("no body {name}"))].last().expect("a record").position
}

#[track_caller]
fn near(what: &str, value: f64, is: f64, within: f64) {
    assert!((value - is).abs() <= within, "{what}: {value}, not {is}, off by {:e}", value - is);
}

/// A round wire of r = 10 mm in elements of l = 0.25 m:   EA = E pi r^2,   EI = E pi r^4/4,   GJ = G pi r^4/2,   each over l between elements
/// and over l/2 where an end is clamped.
#[test]
fn joints_of_a_wire_are_as_stiff_as_its_section() {
    let model = model(
        r#"
        format = 1
        title = "wire"
        [world]
        gravity = [0, 0, 0]
        [materials.wire]
        density = 7850
        young = 2e11
        poisson = 0.3
        [[cable]]
        name = "wire"
        spans = "flexible"
        points = [{ kind = "end", on = "world", at = [0, 0, 0], clamped = true }, { kind = "free", at = [1, 0, 0] }]
        material = "wire"
        diameter = 0.02
        elements = 4
        collide = false
        "#,
    );
    let known = [2.5132741228718345e8, 4833.219467061221, 6283.185307179586];
    let mut seen = Vec::new();
    for element in &model.elements {
        let Element::CableJoint(joint) = &element.kind else { continue };
        let cells = joint.length / 0.25;
        seen.push(cells);
        let own = [joint.stiffness, joint.turning_stiffness.x, joint.turning_stiffness.y];
        for (value, known) in own.into_iter().zip(known) {
            near(&element.name, value * cells / known, 1.0, 1e-9);
        }
        near(&element.name, joint.turning_stiffness.z, joint.turning_stiffness.y, 0.0);
    }
    assert_eq!(seen, [0.5, 1.0, 1.0, 1.0]);
}

/// How far n rigid rods sink and draw back, of unit length and EI/l between them, 2 EI/l at the wall, under a load a = P L^2/EI at their end, and the
/// angle of the last. With its angle given the others follow one by one, M_k the moment of the load about the joint before rod k:
///   angle_(k-1) = angle_k - M_k l/EI,   angle_1 = M_1 l/(2 EI).
fn rods(n: usize, a: f64) -> [f64; 3] {
    let l = 1.0 / n as f64;
    let walk = |tip: f64| {
        let (mut angle, mut place) = (tip, [0.0, 0.0]);
        for k in (0..n).rev() {
            place = [place[0] + l * libm::cos(angle), place[1] + l * libm::sin(angle)];
            angle -= a * place[0] * l * if k == 0 { 0.5 } else { 1.0 };
        }
        (angle, place)
    };
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    while high - low > 1e-14 {
        let middle = 0.5 * (low + high);
        if walk(middle).0 < 0.0 { low = middle } else { high = middle }
    }
    let [x, down] = walk(low).1;
    [down, 1.0 - x, low]
}

/// Rods as a chain are near the elastica (Barten 1944, Bisshopp and Drucker 1945): what the runs below are measured by.
#[test]
fn rods_come_near_the_elastica() {
    for (n, sinks) in [(10, 0.3031359), (20, 0.3020746), (40, 0.30180923)] {
        near("rods", rods(n, 1.0)[0], sinks, 1e-7);
    }
    let elastica = [
        (1.0, [0.30172077, 0.056433236, 0.46135195]),
        (2.0, [0.49345748, 0.16064172, 0.78174983]),
        (5.0, [0.71379152, 0.38762836, 1.2153681]),
    ];
    for (a, known) in elastica {
        for (value, known) in rods(2000, a).into_iter().zip(known) {
            near("rods", value, known, 1e-6);
        }
    }
}

/// A clamped rope without weight under a load across its end comes to rest as its rods do, far beyond what the linear beam says.
#[test]
fn a_clamped_rope_bends_as_far_as_its_rods() {
    for (a, n) in [(1.0, 10), (5.0, 10)] {
        let model = model(&format!(
            r#"
            format = 1
            title = "cantilever"
            [world]
            gravity = [0, 0, 0]
            [[body]]
            name = "tip"
            mass = 0.1
            inertia = [1e-4, 1e-4, 1e-4]
            position = [1, 0, 0]
            [[cable]]
            name = "rope"
            spans = "flexible"
            points = [
                {{ kind = "end", on = "world", at = [0, 0, 0], clamped = true, direction = "x" }},
                {{ kind = "end", on = "tip" }},
            ]
            diameter = "10 mm"
            axial_stiffness = 1e7
            bending_stiffness = 10
            mass_per_length = 1e-3
            damping = 5e5
            elements = {n}
            collide = false
            [[force]]
            name = "load"
            kind = "applied"
            on = "tip"
            force = [0, 0, {load}]
            "#,
            load = -10.0 * a
        ));
        let [sinks, draws_back, _] = rods(n, a);
        for (clock, run) in [("precise", precise(&model, 2.0, 1e-3)), ("realtime", stepped(&model, 2.0))] {
            let what = format!("{clock}, P L^2/EI = {a}, {n} elements");
            near(&what, -place(&run, "tip").z, sinks, 2e-4 * sinks);
            near(&what, 1.0 - place(&run, "tip").x, draws_back, 2e-4 * sinks);
        }
    }
}

/// A column of ten elements, EI = 100 N m^2, 2 m, on pins or clamped, under a load, laid a thousandth of a millimetre to the side.
fn column(ends: [&str; 3], load: f64) -> Model {
    let [foot, head, joint] = ends;
    model(&format!(
        r#"
        format = 1
        title = "column"
        [world]
        gravity = [0, 0, 0]
        [[body]]
        name = "head"
        mass = 0.05
        inertia = [1e-3, 1e-3, 1e-3]
        position = [0, 0, 2]
        {joint}
        [[cable]]
        name = "column"
        spans = "flexible"
        points = [
            {{ kind = "end", on = "world", at = [0, 0, 0]{foot} }},
            {{ kind = "via", at = [1e-6, 0, 1] }},
            {{ kind = "end", on = "head"{head} }},
        ]
        axial_stiffness = 1e8
        bending_stiffness = 100
        mass_per_length = 0.5
        diameter = "20 mm"
        elements = 10
        damping = 1e5
        collide = false
        [[force]]
        name = "load"
        kind = "applied"
        on = "head"
        force = [0, 0, {load}]
        "#,
        load = -load
    ))
}

/// Ten elements buckle where (EI/l^2) (2 sin(k l/2))^2 says (Euler 1744, for a chain), k = pi/L on pins, pi/(2 L) clamped and free, 2 pi/L clamped at both
/// ends: 244.717 N on pins, where the smooth column bears 246.740 N. They stand a hundredth below, and fall a hundredth above.
#[test]
fn columns_of_elements_buckle_where_eulers_chain_does() {
    let slide = r#"
        [[joint]]
        name = "slide"
        kind = "prismatic"
        bodies = ["world", "head"]
        at = [0, 0, 2]
        axis = "z"
        "#;
    let clamped = ", clamped = true, direction = \"z\"";
    for (ends, half_waves, smooth) in [
        (["", "", slide], 1.0, 246.74011),
        ([clamped, "", ""], 0.5, 61.685028),
        ([clamped, clamped, slide], 2.0, 986.96044),
    ] {
        let x = half_waves * std::f64::consts::PI / 20.0;
        let load = 100.0 / 0.04 * (2.0 * libm::sin(x)).powi(2);
        near("chain and column", load / smooth, (libm::sin(x) / x).powi(2), 1e-7);
        for (share, falls) in [(0.99, false), (1.01, true)] {
            let model = column(ends, share * load);
            let until = 14.0 / half_waves;
            for (clock, run) in [("precise", precise(&model, until, 1e-3)), ("realtime", stepped(&model, until))] {
                let side = place(&run, "column.e6").x.abs();
                assert_eq!(side > 5e-3, falls, "{clock}, {half_waves} half waves, {share} of {load} N: {side} m");
            }
        }
    }
}

/// A rope from a point to a wheel off its plane, and between two wheels in their plane on the same side and crossed: lengths and wrap angles.
#[test]
fn spans_and_wraps_are_those_of_the_plane() {
    let route = |points: &str| {
        model(&format!(
            r#"
            format = 1
            title = "wheels"
            [world]
            gravity = [0, 0, 0]
            [[body]]
            name = "end"
            mass = 1e6
            inertia = [1e5, 1e5, 1e5]
            position = [2, -3, 0]
            [[cable]]
            name = "rope"
            points = [
                {points}
                {{ kind = "end", on = "end" }},
            ]
            axial_stiffness = 1e6
            tension = 1
            "#
        ))
    };
    let wheel = |x: f64, radius: f64, sense: &str| {
        format!(
            "{{ kind = \"pulley\", on = \"world\", at = [{x}, 0, 0], axle = \"z\", radius = {radius}, sense = \"{sense}\" }},"
        )
    };
    let start = |y: f64| format!("{{ kind = \"end\", on = \"world\", at = [0, {y}, 0] }},");
    let off = "{ kind = \"end\", on = \"world\", at = [1.2, -0.9, 0.25] },".to_string() + &wheel(0.0, 0.4, "left");
    let open = start(-3.0) + &wheel(0.0, 0.5, "right") + &wheel(2.0, 0.3, "right");
    let crossed = start(-3.0) + &wheel(0.0, 0.5, "right") + &wheel(2.0, 0.3, "left");
    for (points, length, known) in [(off, 1, 1.4671401), (open, 2, 1.9899749), (crossed, 2, 1.8330303)] {
        let model = route(&points);
        for run in [precise(&model, 0.01, 1e-9), stepped(&model, 0.01)] {
            near(&points, last(&run, &format!("rope.length_{length}")), known, 1e-6);
        }
    }
}

/// A rope between walls carries EA times its strain, and nothing feels it.
#[test]
fn a_rope_between_walls_carries_its_tension() {
    let model = model(
        r#"
        format = 1
        title = "walls"
        [world]
        gravity = [0, 0, -9.81]
        [[body]]
        name = "ball"
        mass = 1
        inertia = [1, 1, 1]
        [[cable]]
        name = "rope"
        points = [{ kind = "end", on = "world", at = [0, 0, 5] }, { kind = "end", on = "world", at = [1, 0, 5] }]
        axial_stiffness = 1e6
        length = 0.999
        "#,
    );
    for run in [precise(&model, 0.1, 1e-9), stepped(&model, 0.1)] {
        near("tension", last(&run, "rope.tension"), 1e6 * (1.0 / 0.999 - 1.0), 1e-6);
        near("fall", place(&run, "ball").z, -0.5 * 9.81 * 0.01, 0.01);
    }
}

/// A body that is deleted takes with it what its lines have stored, by stretch and by their height: nothing is left to explain, and a fixed step calls
/// none of it its own.
#[test]
fn a_deleted_body_takes_what_its_lines_store() {
    let spring = r#"
        [[force]]
        name = "spring"
        kind = "spring"
        between = ["world", "load"]
        at = [[0, 0, 0], [2, 0, -3]]
        stiffness = 1000
        rest = 3
        "#;
    let cable = |keys: &str| {
        format!(
            r#"
            [[cable]]
            name = "line"
            points = [{{ kind = "end", on = "world", at = [0, 0, 0] }}, {{ kind = "end", on = "load" }}]
            axial_stiffness = 1e5
            {keys}
            "#
        )
    };
    let flexible = "spans = \"flexible\"\nmass_per_length = 1\ndiameter = 0.02\nelements = 5\ncollide = false";
    let lines = [
        (spring.to_string(), 300.0),
        (cable(""), 1.0),
        (cable("spans = \"catenary\"\nmass_per_length = 1\nlength = 4"), 50.0),
        (cable(flexible), 0.1),
    ];
    for (line, stored) in lines {
        let model = model(&format!(
            r#"
            format = 1
            title = "gone"
            [world]
            gravity = [0, 0, -9.81]
            [[body]]
            name = "load"
            mass = 100
            inertia = [10, 10, 10]
            position = [2, 0, -3]
            {line}
            [[change]]
            name = "gone"
            at = 0.5
            delete = "load"
            "#
        ));
        for (clock, run) in [("precise", precise(&model, 0.6, 1e-7)), ("realtime", stepped(&model, 0.6))] {
            let books = run.energy.last().expect("a record");
            let unexplained = books.residual().abs();
            assert!(unexplained < 1e-2 * stored, "{clock}: {unexplained} J of {stored} J{line}");
            let own = books[Cause::Integration].abs();
            assert!(stored < 10.0 || own < 0.3 * stored, "{clock}: the step lost {own} J of {stored} J{line}");
        }
    }
}
