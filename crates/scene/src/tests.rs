use super::*;
use proptest::prelude::*;

mod mechanism;

/// Every key of the format, in one scene.
const SOLIDS: &str = include_str!("../../tippe/tests/data/solids.toml");
const GRAINS: &str = include_str!("../../tippe/tests/data/grains.toml");
const EVERYTHING: &str = include_str!("../../tippe/tests/data/everything.toml");

/// A small scene that is right.
const BALL: &str = r#"format = 1
[params]
r = "30 mm"
n = 3
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = { kind = "half_space" }
material = "steel"
[[body]]
name = "ball"
shape = { kind = "sphere", radius = "r" }
material = "steel"
position = [0, 0, "2*r + 1 mm"]
"#;

fn read(text: &str) -> Result<Scene, SceneErrors> {
    Scene::parse("s.toml", text, &[])
}

/// Errors of `BALL` with `from` replaced by `to`, one per line.
fn changed(from: &str, to: &str) -> String {
    assert!(BALL.contains(from), "{from}");
    errors(&BALL.replacen(from, to, 1))
}

fn errors(text: &str) -> String {
    match read(text) {
        Ok(_) => "no error".into(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn numbers_are_resolved() {
    let scene = read(BALL).expect("reads");
    let ball = &scene.bodies[1];
    assert_eq!(ball.name, "ball");
    assert_eq!(ball.position, Vec3::new(0.0, 0.0, 0.061));
    assert_eq!(ball.shapes[0].kind, ShapeKind::Sphere { radius: 0.03 });
    assert_eq!(scene.gravity, Vec3::new(0.0, 0.0, -9.81));
    assert_eq!((scene.run.until, scene.run.tolerance, scene.run.output_interval), (1.0, 1e-6, 0.005));
    assert_eq!(ball.places.entity, Place { line: 12, column: 1 });
    assert_eq!(ball.places.of("position"), Place { line: 16, column: 12 });
    assert_eq!(ball.shapes[0].places.of("radius"), Place { line: 14, column: 37 });
    let error = scene.error(ball.places.of("material"), "unheard of", "try wood");
    assert_eq!(error.to_string(), "s.toml:15:12: unheard of. help: try wood");
}

#[test]
fn sets_override_parameters() {
    let set = |name: &str, value: &str| Scene::parse("s.toml", BALL, &[(name.to_string(), value.to_string())]);
    assert_eq!(set("r", "5 cm").map(|scene| scene.bodies[1].position.z), Ok(0.101));
    assert_eq!(
        set("R2", "1").map_err(|e| e.to_string()).err().as_deref(),
        Some("--set R2: unknown parameter `R2`. help: did you mean `r`?")
    );
    assert_eq!(
        set("r", "5 cn").map_err(|e| e.to_string()).err().as_deref(),
        Some("--set r: \"5 cn\": unknown unit `cn`. help: did you mean `cm`? To multiply write `5*cn`")
    );
    let wrong = set("r", "5 s").map_err(|e| e.to_string()).err().unwrap_or_default();
    assert!(wrong.contains("has radius in [s]; a radius has the unit [m]"), "{wrong}");
}

#[test]
fn mistakes_are_named_with_place_and_help() {
    for (from, to, message) in [
        // unknown, missing, misspelt
        (
            "position =",
            "positon =",
            "s.toml:16:1: body \"ball\" has an unknown key `positon`. help: did you mean `position`?",
        ),
        (
            "[world]\ngravity = [0, 0, -9.81]\n",
            "",
            "s.toml:1:1: the scene has no `world`. help: gravity is never assumed",
        ),
        ("gravity = [0, 0, -9.81]", "", "s.toml:5:1: [world] has no `gravity`. help: gravity is never assumed"),
        ("format = 1", "", "the scene has no `format`. help: the first line of a scene is `format = 1`"),
        ("format = 1", "format = 2", "s.toml:1:10: format 2 is unknown. help: this program reads `format = 1`"),
        ("name = \"ball\"", "", "s.toml:12:1: [[body]] has no `name`"),
        (
            "\"sphere\"",
            "\"shpere\"",
            "s.toml:14:18: body \"ball\": shape has unknown kind \"shpere\". help: did you mean `sphere`?",
        ),
        ("kind = \"sphere\", ", "", "body \"ball\": shape has no `kind`. help: one of sphere, ellipsoid"),
        ("radius = \"r\"", "", "body \"ball\": sphere has neither `radius` nor `diameter`"),
        ("radius = \"r\"", "length = 1, radius = \"r\"", "body \"ball\": sphere has an unknown key `length`"),
        (
            "\"steel\"\nposition",
            "\"stele\"\nposition",
            "s.toml:15:12: body \"ball\": unknown material \"stele\". help: did you mean `steel`?",
        ),
        // wrong kind of value
        ("fixed = true", "fixed = 1", "s.toml:9:9: body \"floor\": fixed is a number, not true or false"),
        ("name = \"ball\"", "name = 3", "[[body]]: name is a number, not a text in quotes"),
        ("[0, 0, \"2*r + 1 mm\"]", "[0, 0]", "s.toml:16:12: body \"ball\": position has 2 numbers, not 3"),
        ("[0, 0, \"2*r + 1 mm\"]", "3", "body \"ball\": position is a number, not a list of 3 numbers"),
        (
            "[0, 0, \"2*r + 1 mm\"]",
            "[0, 0, true]",
            "body \"ball\": position is true or false, not a number or an expression",
        ),
        ("n = 3", "n = 2020-01-01", "s.toml:4:5: parameter n is a date, not a number or an expression"),
        ("[params]", "[[params]]", "[params] is a list, not a table"),
        // clocks
        (
            "[world]",
            "[run]\nclock = \"realtme\"\n[world]",
            "s.toml:6:9: [run]: unknown clock \"realtme\". help: did you mean `realtime`?",
        ),
        ("[world]", "[realtime]\nstep = 0\n[world]", "s.toml:6:8: [realtime] has step 0 s; a step is > 0"),
        ("[world]", "[realtime]\nstep = -0.01\n[world]", "[realtime] has step -0.01 s; a step is > 0"),
        (
            "[world]",
            "[realtime]\nstep = \"1/60 s\"\n[world]",
            "[realtime] has step in [1/s]; a step has the unit [s]. help: a fraction of a second is an expression: step = \"1/60\"",
        ),
        (
            "[world]",
            "[realtime]\nfriction = \"cones\"\n[world]",
            "[realtime]: unknown friction \"cones\". help: did you mean `cone`?",
        ),
        (
            "[world]",
            "[realtime]\nsolver = \"sweep\"\n[world]",
            "[realtime]: unknown solver \"sweep\". help: did you mean `sweeps`?",
        ),
        (
            "[world]",
            "[[expect]]\nvalue = \"time\"\nbelow = 1\nsource = \"s\"\ntolerance = 1e-16\n[world]",
            "has tolerance 1e-16; a tolerance is 1e-14 or more",
        ),
        ("[world]", "[realtime]\npasses = 0\n[world]", "[realtime] has passes 0; passes is a whole number, 1 or more"),
        ("[world]", "[realtime]\nsweeps = 2.5\n[world]", "[realtime] has sweeps 2.5"),
        ("[world]", "[realtime]\npoints = 9\n[world]", "s.toml:6:10: [realtime] has points 9; a pair has at most 8"),
        (
            "[world]",
            "[[expect]]\nvalue = \"time\"\nbelow = 1\nsource = \"s\"\nclock = \"bth\"\n[world]",
            "s.toml:9:9: [[expect]]: unknown clock \"bth\". help: did you mean `both`?",
        ),
        (
            "[world]",
            "[[expect]]\nvalue = \"time\"\nbelow = 1\nsource = \"s\"\nclock = \"realtime\"\ntolerance = 1e-3\n[world]",
            "s.toml:10:13: [[expect]]: the realtime clock has no `tolerance`",
        ),
        ("[world]", "[realtime]\nstp = 1\n[world]", "[realtime] has an unknown key `stp`. help: did you mean `step`?"),
        // expressions and units
        ("2*r + 1 mm", "2*r + 1 kg", "s.toml:16:24: body \"ball\": position: units do not match: [m] and [kg]"),
        ("2*r + 1 mm", "2*q", "s.toml:16:22: body \"ball\": position: unknown name `q`"),
        ("2*r + 1 mm", "3 s", "s.toml:16:19: body \"ball\" has position in [s]; a position has the unit [m]"),
        ("n = 3", "n = \"3/(2 - 2)\"", "s.toml:4:7: parameter n: division by zero"),
        ("n = 3", "n = nan", "s.toml:4:5: parameter n is NaN, not a finite number"),
        ("n = 3", "n = -inf", "parameter n is -inf, not a finite number"),
        ("n = 3", "n = 1e999", "parameter n is inf, not a finite number"),
        ("n = 3", "n = \"x\"\nx = 1", "s.toml:4:6: parameter n: unknown name `x`"),
        ("n = 3", "\"a b\" = 3", "parameter \"a b\" is no name"),
        ("n = 3", "pi = 3", "parameter \"pi\" means something else in expressions"),
        ("n = 3", "n = \"1 < 2\"", "parameter n is a condition, not a number"),
        // ranges
        (
            "position =",
            "mass = -0.2\nposition =",
            "s.toml:16:8: body \"ball\" has mass -0.2 kg; a mass is > 0. help: leave it out to compute it from shape and density",
        ),
        ("\"r\" }", "0 }", "body \"ball\": sphere has radius 0 m; a radius is > 0"),
        ("\"r\" }", "\"-r\" }", "body \"ball\": sphere has radius -0.03 m; a radius is > 0"),
        ("\"sphere\", radius = \"r\"", "\"box\", size = [1, 0, 1]", "body \"ball\": box has size 0 m; a size is > 0"),
        (
            "\"sphere\", radius = \"r\"",
            "\"box\", size = [1, 1, 1], smoothing = 0.6",
            "smoothing 0.6 m; half its smallest dimension is 0.5 m",
        ),
        (
            "\"sphere\", radius = \"r\"",
            "\"hull\", points = [[0,0,0]]",
            "body \"ball\": hull has 1 points; a hull has at least 4",
        ),
        ("\"half_space\"", "\"half_space\", normal = [0,0,0]", "half_space: normal has length 0"),
        ("\"half_space\"", "\"height_grid\", size = [1, 1], heights = [[1, 2], [3]]", "rows of different length"),
        // contradictions
        (
            "position =",
            "mass = 1\ndensity = 5\nposition =",
            "s.toml:17:11: body \"ball\" has both `mass` and `density`",
        ),
        ("position =", "inertia = [1, 1, 1]\nposition =", "body \"ball\" has `inertia` but no `mass`"),
        ("position =", "shapes = []\nposition =", "body \"ball\" has both `shape` and `shapes`"),
        ("fixed = true", "fixed = true\nvelocity = [1, 0, 0]", "body \"floor\" is fixed and has `velocity`"),
        ("fixed = true", "", "body \"floor\" moves freely and has a half_space. help: write fixed = true"),
        ("material = \"steel\"\nposition", "position", "body \"ball\" has no mass and no material to compute it from"),
        (
            "shape = { kind = \"sphere\", radius = \"r\" }",
            "",
            "body \"ball\" moves freely and has neither a shape nor mass and inertia",
        ),
        ("radius = \"r\"", "radius = \"r\", diameter = 1", "sphere has both `radius` and `diameter`"),
        (
            "position =",
            "motion = {}\nvelocity = [0, 0, 1]\nposition =",
            "body \"ball\" has both `motion` and `velocity`",
        ),
        (
            "position =",
            "mass = 1\ninertia = [1, 1, 3]\nposition =",
            "one principal moment exceeds the sum of the other two",
        ),
        ("position =", "mass = 1\ninertia = [1, -1, 1]\nposition =", "inertia is not positive"),
        ("position =", "mass = 1\ninertia = [[1,0.5,0],[0,1,0],[0,0,1]]\nposition =", "inertia is not symmetric"),
        ("position =", "orientation = [0,0,0,0]\nposition =", "(0, 0, 0, 0) is no rotation"),
        ("position =", "orientation = { angles = [0,0,0], order = \"xyw\" }\nposition =", "has order \"xyw\""),
        // names
        (
            "name = \"ball\"",
            "name = \"floor\"",
            "s.toml:13:8: two bodies have the name \"floor\". help: the other one is in line 7",
        ),
        ("name = \"ball\"", "name = \"my ball\"", "s.toml:13:8: body \"my ball\" is no name"),
        (
            "position =",
            "ignore = [\"flor\"]\nposition =",
            "body \"ball\": unknown body \"flor\". help: did you mean `floor`?",
        ),
        ("position =", "ignore = [\"group:a\"]\nposition =", "body \"ball\": no body is in the group \"a\""),
        // grammar
        ("n = 3", "n = ", "s.toml:4:"),
        ("n = 3", "n = 3\nn = 4", "s.toml:5:1: duplicate key"),
    ] {
        let said = changed(from, to);
        assert!(said.contains(message), "{to}\n  said   {said}\n  wanted {message}");
    }
}

#[test]
fn mistakes_in_whole_tables_are_named() {
    for (added, message) in [
        ("[[pair]]\nmaterials = [\"steel\", \"wod\"]", "s.toml:18:13: [[pair]]: unknown material \"wod\""),
        ("[[pair]]\nbodies = [\"ball\", \"flor\"]", "[[pair]]: unknown body \"flor\". help: did you mean `floor`?"),
        ("[[pair]]\nfriction = 0.1", "[[pair]] has neither `materials` nor `bodies`"),
        ("[[pair]]\nmaterials = [\"steel\"]", "[[pair]]: materials has 1 names, not two"),
        (
            "[[pair]]\nmaterials = [\"steel\", \"steel\"]\nrestitution = 1.5",
            "has restitution 1.5; a restitution is from 0 to 1",
        ),
        (
            "[[pair]]\nmaterials = [\"steel\", \"steel\"]\nlaw = \"herz\"",
            "s.toml:19:7: unknown law \"herz\". help: did you mean `hertz`?",
        ),
        (
            "[[pair]]\nmaterials = [\"steel\", \"steel\"]\nfriction_law = \"x\"",
            "unknown friction_law \"x\". help: possible: mindlin",
        ),
        (
            "[[pair]]\nmaterials = [\"steel\", \"steel\"]\nfriction = 0.5\nstatic_friction = 0.4",
            "static_friction 0.4 below friction 0.5",
        ),
        (
            "[[pair]]\nmaterials = [\"steel\", \"dry_wood\"]\n[[pair]]\nmaterials = [\"dry_wood\", \"steel\"]",
            "two [[pair]]s are for \"dry_wood\" and \"steel\"",
        ),
        ("[materials.steel]\ndensity = 1\nyoung = 1\npoisson = 0.1", "material \"steel\" is built in"),
        (
            "[materials.foam]\ndensity = 1\nyoung = 1\npoisson = 0.5",
            "material \"foam\" has poisson 0.5; poisson is between -1 and 0.5",
        ),
        ("[materials.foam]\ndensity = 1\nyoung = \"1 N\"\npoisson = 0.1", "has young in [N]; young has the unit [Pa]"),
        ("[run]\nintegrator = \"rk4\"", "integrator rk4 needs a `step`"),
        ("[run]\nstep = 1", "integrator auto chooses its step; `step` has no meaning"),
        ("[run]\nintegrator = \"rk5\"", "[run]: unknown integrator \"rk5\". help: did you mean `rk4`?"),
        ("[run]\nuntil = -1", "[run] has until -1 s; until is > 0"),
        ("[[ignore]]\nbodies = [\"ball\", \"bell\"]", "[[ignore]]: unknown body \"bell\""),
        ("[[ignore]]\ngroups = [\"x\", \"x\"]", "[[ignore]]: no body is in the group \"x\""),
        ("[[expect]]\nvalue = \"ball.position.z\"\nis = 1\nwithin = 0", "[[expect]] has no `source`"),
        ("[[expect]]\nvalue = \"ball.position.z\"\nsource = \"s\"", "[[expect]] says nothing about the value"),
        ("[[expect]]\nvalue = \"ball.position.z\"\nsource = \"s\"\nis = 1", "[[expect]] needs both `is` and `within`"),
        ("[[expect]]\nvalue = \"t\"\nsource = \"s\"\nis = 0\nwithin = 1\nrelative = true", "a fraction of 0 is 0"),
        ("[[expect]]\nvalue = \"t\"\nsource = \"s\"\nabove = 1\nwith = { m = 1 }", "with: unknown parameter `m`"),
        ("[law.a]\nnormal = \"depth*k\"", "s.toml:18:17: law \"a\": normal: unknown name `k`"),
        ("[law.a]\nnormal = \"modulus*depth\"", "law \"a\": normal: the result is [kg/s^2], but has to have [N]"),
        ("[law.a]\nnormal = \"1e5*depth\"\nlet = { depth = \"1\" }", "law \"a\": depth: `depth` is already a name"),
        (
            "[law.a]\nlet = { K = \"radius + modulus\" }\nnormal = \"K*depth\"",
            "s.toml:18:21: law \"a\": K: units do not match",
        ),
        ("[law.hertz]\nnormal = \"1e5*depth\"", "law \"hertz\" is built in"),
        ("[law.a]", "law \"a\" has no `normal`"),
        ("[defaults]\nmaterial = 3", "[defaults]: material is a number, not a text in quotes"),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"k\", count = 1e9 } ]",
            "is repeated too often. help: the loops of a scene take at most 10000000 turns in all",
        ),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"k\", count = 1e9 }, { index = \"j\", count = 0 } ]",
            "is repeated too often",
        ),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"k\", count = 10000 }, { index = \"j\", count = 10000 } ]",
            "is repeated too often",
        ),
        (
            "[[body]]\nname = \"b\"\nfixed = true\nrepeat = [ { index = \"k\", count = 2 } ]",
            "use every index of `repeat` in the name",
        ),
        (
            "[[body]]\nname = \"b_{k/2}\"\nfixed = true\nrepeat = [ { index = \"k\", count = 2 } ]",
            "k/2 is 0.5, not a whole number",
        ),
        ("[[body]]\nname = \"b_{k\"\nfixed = true\nrepeat = [ { index = \"k\", count = 2 } ]", "`{` without `}`"),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"k\" } ]",
            "repeat has neither `to` nor `count`",
        ),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"n\", count = 2 } ]",
            "index \"n\" is already a name",
        ),
        (
            "[[body]]\nname = \"b_{k}\"\nfixed = true\nrepeat = [ { index = \"k\", count = 1.5 } ]",
            "has count 1.5; a count is a whole number",
        ),
        ("[pairs]", "the scene has an unknown key `pairs`. help: did you mean `pair`?"),
    ] {
        let said = errors(&format!("{BALL}{added}\n"));
        assert!(said.contains(message), "{added}\n  said   {said}\n  wanted {message}");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_in_order() {
    let text =
        BALL.replace("fixed = true", "fixd = true").replace("\"2*r + 1 mm\"", "\"2*q\"").replace("n = 3", "n = nan");
    let lines: Vec<u32> = read(&text).expect_err("wrong").0.iter().map(|error| error.place.line).collect();
    assert_eq!(lines, [4, 9, 16]);
}

#[test]
fn an_error_in_a_repeated_body_is_reported_once() {
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}\"\nrepeat = [ {{ index = \"k\", count = 100 }} ]\n\
         shape = {{ kind = \"sphere\", radius = \"r - 1 kg\" }}\nmaterial = \"stel\"\n"
    );
    assert_eq!(read(&text).expect_err("wrong").0.len(), 2);
}

#[test]
fn bodies_repeat() {
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}_{{j+1}}\"\nshape = {{ kind = \"sphere\", radius = \"r\" }}\nmaterial = \"steel\"\n\
         repeat = [ {{ index = \"k\", from = 1, to = \"n\" }}, {{ index = \"j\", count = \"k\" }} ]\n\
         position = [\"k*1 m\", \"2*r*j\", 0]\nignore = [\"b_{{k}}_1\"]\n"
    );
    let scene = read(&text).expect("reads");
    let names: Vec<&str> = scene.bodies[2..].iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["b_1_1", "b_2_1", "b_2_2", "b_3_1", "b_3_2", "b_3_3"]);
    assert_eq!(scene.bodies[7].position, Vec3::new(3.0, 0.12, 0.0));
    assert_eq!(scene.bodies[7].ignore, ["b_3_1"]);
}

#[test]
fn pairs_ignores_and_expectations_repeat() {
    let loops = "repeat = [{ index = \"k\", from = 1, to = \"n\" }]\n";
    let text = format!(
        "{BALL}[[body]]\nname = \"b_{{k}}\"\n{loops}shape = {{ kind = \"sphere\", radius = \"r\" }}\nmaterial = \"steel\"\n\
         [[pair]]\n{loops}bodies = [\"b_{{k}}\", \"floor\"]\nrestitution = \"k/10\"\n\
         [[ignore]]\nrepeat = [{{ index = \"k\", from = 2, to = \"n\" }}]\nbodies = [\"b_{{k-1}}\", \"b_{{k}}\"]\n\
         [[expect]]\n{loops}value = \"b_{{k}}.position.z\"\nabove = \"k*1 m\"\nsource = \"regression\"\nwith = {{ n = \"{{k}} + 3\" }}\n"
    );
    let scene = read(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let restitutions: Vec<_> = scene.pairs.iter().map(|pair| pair.contact.restitution).collect();
    assert_eq!(restitutions, [Some(0.1), Some(0.2), Some(0.3)]);
    assert_eq!(scene.pairs[2].between, Between::Bodies("b_3".into(), "floor".into()));
    let ignores: Vec<_> = scene.ignores.iter().map(|rule| (rule.first.as_str(), rule.second.as_str())).collect();
    assert_eq!(ignores, [("b_1", "b_2"), ("b_2", "b_3")]);
    let values: Vec<_> = scene.expects.iter().map(|e| (e.value.text.as_str(), e.above, e.with[0].1.as_str())).collect();
    assert_eq!(values[1..], [("b_2.position.z", Some(2.0), "2 + 3"), ("b_3.position.z", Some(3.0), "3 + 3")]);
    let wrong = errors(&text.replace("{k} + 3", "k + 3"));
    assert!(wrong.contains("unknown name `k`"), "{wrong}");
    let wrong = errors(&text.replace("bodies = [\"b_{k}\", \"floor\"]", "bodies = [\"ball\", \"floor\"]"));
    assert!(wrong.contains("two [[pair]]s are for"), "{wrong}");
}

#[test]
fn orientations_agree() {
    let quarter = |value: &str| {
        let text = BALL.replace("position =", &format!("orientation = {value}\nposition ="));
        read(&text).expect(value).bodies[1].orientation
    };
    let h = 0.5f64.sqrt();
    for value in
        ["[1, 0, 0, 1]", "{ axis = [0, 0, 2], angle = \"90 deg\" }", "{ angles = [0, 0, \"pi/2\"], order = \"xyz\" }"]
    {
        assert!((quarter(value) - Quat::from_xyzw(0.0, 0.0, h, h)).length() < 1e-15, "{value}");
    }
    // First about x, then about the new z: the x axis ends where the rotated z axis's plane puts it.
    let R = quarter("{ angles = [\"90 deg\", 0, \"90 deg\"], order = \"xyz\" }");
    assert!((R * Vec3::X - Vec3::Z).length() < 1e-15);
}

#[test]
fn everything_is_read_and_written_back() {
    let scene = Scene::parse("everything.toml", EVERYTHING, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let back = |file: &str, text: &str| {
        let read = Scene::parse(file, text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        Scene { file: scene.file.clone(), ..read }
    };
    assert_eq!(back("back.toml", &scene.to_toml()), scene);
    assert_eq!(back("back.json", &scene.to_json()), scene);
    assert_eq!(scene.laws[0].compile(&scene).expect("compiles").output_kinds().len(), 3);
    assert_eq!(scene.contact.law, Some(LawChoice::Custom("my_hertz".into())));
    let omega = scene.bodies.iter().find(|body| body.name == "spun").expect("is there").angular_velocity;
    assert!((omega - Vec3::new(0.0, 2.0, 0.0)).length() < 1e-15, "{omega}");
}

#[test]
fn everything_has_every_key() {
    fn visit(table: &format::Table, entries: &[node::Entry], seen: &mut Vec<String>) {
        for entry in entries {
            seen.push(format!("{}.{}", table.name, entry.key));
            if let Some(key) = table.key(&entry.key) {
                visit_form(&key.form, &entry.node, seen);
            }
        }
    }
    fn visit_form(form: &format::Form, node: &node::Node, seen: &mut Vec<String>) {
        use format::Form;
        match (form, &node.value) {
            (Form::Table(table), node::Value::Table(entries)) => visit(table, entries, seen),
            (Form::Tables(table), node::Value::List(items)) => {
                items.iter().for_each(|item| visit_form(&Form::Table(table), item, seen));
            }
            (Form::Named(table), node::Value::Table(entries)) => {
                entries.iter().for_each(|entry| visit_form(&Form::Table(table), &entry.node, seen));
            }
            (Form::List(inner), node::Value::List(items)) => {
                items.iter().for_each(|item| visit_form(inner, item, seen))
            }
            (Form::Either(forms), _) => forms.iter().for_each(|form| visit_form(form, node, seen)),
            (Form::Orientation, _) => format::ORIENTATION.iter().for_each(|form| visit_form(form, node, seen)),
            (Form::Shape, node::Value::Table(entries)) => {
                let kind = entries.iter().find(|entry| entry.key == "kind").map(|entry| &entry.node.value);
                if let Some(node::Value::Text(kind)) = kind {
                    format::SHAPES.iter().filter(|t| t.name == kind.text).for_each(|t| visit(t, entries, seen));
                }
            }
            _ => {}
        }
    }
    static SHAPES: [format::Table; 10] = format::SHAPES;
    static ORIENTATION: [format::Form; 3] = format::ORIENTATION;
    fn expected(table: &'static format::Table, all: &mut Vec<String>) {
        for key in table.keys() {
            all.push(format!("{}.{}", table.name, key.name));
            expected_form(&key.form, all);
        }
    }
    fn expected_form(form: &'static format::Form, all: &mut Vec<String>) {
        use format::Form;
        match form {
            Form::Table(table) | Form::Tables(table) | Form::Named(table) => expected(table, all),
            Form::List(inner) => expected_form(inner, all),
            Form::Either(forms) => forms.iter().for_each(|form| expected_form(form, all)),
            Form::Shape => SHAPES.iter().for_each(|table| expected(table, all)),
            Form::Orientation => ORIENTATION.iter().for_each(|form| expected_form(form, all)),
            _ => {}
        }
    }
    let (top, _) = node::from_toml("everything.toml", EVERYTHING);
    let (mut seen, mut all) = (Vec::new(), Vec::new());
    visit_form(&format::Form::Table(&format::SCENE), &top, &mut seen);
    let (solids, _) = node::from_toml("solids.toml", SOLIDS);
    visit_form(&format::Form::Table(&format::SCENE), &solids, &mut seen);
    let (grains, _) = node::from_toml("grains.toml", GRAINS);
    visit_form(&format::Form::Table(&format::SCENE), &grains, &mut seen);
    static SCENE: format::Table = format::SCENE;
    expected(&SCENE, &mut all);
    // Alternatives cannot stand in one shape, and what shapes share need not stand in each of them.
    // What reads other files has tests of its own.
    let elsewhere = [
        "diameter",
        "radius",
        "position",
        "orientation",
        "material",
        "density",
        "collide",
        "axis",
        "smoothing",
        "file",
        "unit",
        "columns",
        "include",
    ];
    let missing: Vec<&String> = all
        .iter()
        .filter(|key| !seen.contains(key) && !key.starts_with("[[include]]"))
        .filter(|key| !elsewhere.iter().any(|name| key.ends_with(&format!(".{name}"))))
        .collect();
    assert!(missing.is_empty(), "tests/data/everything.toml lacks {missing:?}");
}

#[test]
fn scenes_are_built_in_programs_too() {
    let scene = Scene {
        title: "Built".into(),
        gravity: Vec3::new(0.0, 0.0, -9.81),
        bodies: vec![Body {
            name: "ball".into(),
            material: Some("steel".into()),
            shapes: vec![ShapeSpec { kind: ShapeKind::Sphere { radius: 0.1 }, ..ShapeSpec::default() }],
            ..Body::default()
        }],
        ..Scene::default()
    };
    let back = Scene::parse("", &scene.to_toml(), &[]).expect("reads");
    assert_eq!(back, scene);
}

#[test]
fn json_errors_have_places() {
    for (text, message) in [
        (
            "{\n \"format\": 1,\n \"world\": {\"gravity\": [0, 0, 0]},\n \"bdy\": []\n}",
            "s.json:4:2: the scene has an unknown key `bdy`. help: did you mean `body`?",
        ),
        ("{\"format\": 1, \"format\": 1}", "s.json:1:15: duplicate key `format`"),
        ("{\"format\": 1", "s.json:1:13: `,` or `}` is missing"),
        ("{\"format\" 1}", "`:` is missing after the key"),
        ("{format: 1}", "a key in double quotes is expected here"),
        ("[1 2]", "`,` or `]` is missing"),
        ("{\"a\": \"x", "the text is not closed"),
        ("{\"a\": \"\\x\"}", "unknown escape"),
        ("{} 3", "s.json:1:4: text after the end of the scene"),
        ("", "the file ends too early"),
        ("nul", "a value is expected here, not 'n'"),
        ("{\"a\": 1-2}", "1-2 is not a number"),
        ("[]", "the scene is a list, not a table"),
        ("{\"format\": null, \"world\": {\"gravity\": [0, 0, 0]}}", "the scene: format is null, not a number"),
    ] {
        let said = Scene::parse("s.json", text, &[]).expect_err(text).to_string();
        assert!(said.contains(message), "{text}\n  said   {said}\n  wanted {message}");
    }
    assert!(Scene::parse("s.json", &"[".repeat(100_000), &[]).expect_err("deep").to_string().contains("nested deeper"));
    let unicode = Scene::parse(
        "s.json",
        r#"{"format": 1, "title": "\u00e9 \ud83d\ude00 \n", "world": {"gravity": [0, 0, 0]}, "body": [{"name": "b", "fixed": true}]}"#,
        &[],
    );
    assert_eq!(unicode.map(|scene| scene.title), Ok("é 😀 \n".into()));
}

#[test]
fn deep_toml_is_harmless() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}1{}", "[".repeat(200), "]".repeat(200)),
        format!("{}a = 1", "a.".repeat(50_000)),
        format!("[{}a]", "a.".repeat(50_000)),
        format!("a = {}", "{a=".repeat(50_000)),
    ] {
        assert!(read(&text).is_err());
    }
}

#[test]
fn scenes_of_the_gallery_are_found_by_name() {
    let error = Scene::load("no_such_scene_at_all", &[]).expect_err("is not there").to_string();
    assert!(error.starts_with("there is no scene or file \"no_such_scene_at_all\". help: "), "{error}");
    let error = Scene::load("no/such.toml", &[]).expect_err("is not there").to_string();
    assert!(error.starts_with("there is no file no/such.toml. help: "), "{error}");
    for (name, _) in gallery() {
        let scene = Scene::load(name, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(!scene.title.is_empty(), "{name} has no title");
        let mut misspelt = name.to_string();
        misspelt.push('x');
        let error = Scene::load(&misspelt, &[]).expect_err("misspelt").to_string();
        assert!(error.contains("did you mean"), "{error}");
        let mut seen = vec![Vec::new()];
        for expect in &scene.expects {
            if !seen.contains(&expect.with) {
                Scene::load(name, &expect.with).unwrap_or_else(|errors| panic!("{errors}"));
                seen.push(expect.with.clone());
            }
        }
    }
}

#[test]
fn numbers_of_toml_are_understood() {
    for (text, value) in
        [("1_000", 1000.0), ("1_0.5e+1", 105.0), ("+2.5", 2.5), ("0xff", 255.0), ("-7", -7.0), ("0b11", 3.0)]
    {
        let scene = read(&BALL.replace("n = 3", &format!("n = {text}"))).expect(text);
        assert_eq!(scene.params[1].value, value, "{text}");
    }
}

#[test]
fn files_that_are_no_text_are_named() {
    let path = std::env::temp_dir().join(format!("tippe-no-text-{}.toml", std::process::id()));
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("can be written");
    let error = Scene::load(&path.display().to_string(), &[]).expect_err("is no text").to_string();
    std::fs::remove_file(&path).expect("can be removed");
    assert!(error.contains("cannot read it") && error.contains("help: a scene is a text file in UTF-8"), "{error}");
}

#[test]
fn a_file_wins_over_the_gallery() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tippe/tests/data/everything.toml");
    assert_eq!(Scene::load(path, &[]).map(|scene| scene.file), Ok(path.to_string()));
}

/// Checks a value against the part of JSON Schema that `schema` uses; says where it fails.
fn conforms(
    schema: &serde_json::Value,
    value: &serde_json::Value,
    path: &str,
    defs: &serde_json::Value,
) -> Result<(), String> {
    use serde_json::Value;
    let fail = |why: &str| Err(format!("{path}: {why}"));
    for (rule, wanted) in schema.as_object().into_iter().flatten() {
        let number = || value.as_f64().zip(wanted.as_f64());
        let ok = match rule.as_str() {
            "type" => match wanted.as_str() {
                Some("object") => value.is_object(),
                Some("array") => value.is_array(),
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                Some("number") => value.is_number(),
                Some("integer") => value.as_f64().is_some_and(|x| x == x.floor()),
                _ => false,
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().is_some_and(|words| words.contains(value)),
            "minimum" => number().is_none_or(|(x, bound)| x >= bound),
            "maximum" => number().is_none_or(|(x, bound)| x <= bound),
            "exclusiveMinimum" => number().is_none_or(|(x, bound)| x > bound),
            "exclusiveMaximum" => number().is_none_or(|(x, bound)| x < bound),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap_or(0)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap_or(0)),
            "$ref" => {
                let name = wanted.as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap_or("");
                return conforms(&defs[name], value, path, defs);
            }
            "items" => {
                for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                    conforms(wanted, item, &format!("{path}[{k}]"), defs)?;
                }
                true
            }
            "anyOf" => {
                let tries: Vec<_> =
                    wanted.as_array().into_iter().flatten().map(|option| conforms(option, value, path, defs)).collect();
                match tries.iter().any(Result::is_ok) {
                    true => true,
                    false => return Err(tries.into_iter().filter_map(Result::err).collect::<Vec<_>>().join(" | ")),
                }
            }
            "allOf" => {
                for option in wanted.as_array().into_iter().flatten() {
                    conforms(option, value, path, defs)?;
                }
                true
            }
            "if" => {
                if conforms(wanted, value, path, defs).is_ok() {
                    conforms(&schema["then"], value, path, defs)?;
                }
                true
            }
            "then" => true,
            "propertyNames" => {
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    conforms(wanted, &Value::String(key.clone()), path, defs)?;
                }
                true
            }
            "required" => {
                wanted.as_array().into_iter().flatten().filter_map(Value::as_str).all(|key| value.get(key).is_some())
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(key) {
                        conforms(schema, inner, &format!("{path}.{key}"), defs)?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    let known = schema["properties"].get(key).is_some();
                    match wanted {
                        Value::Bool(false) if !known => return fail(&format!("unknown key {key}")),
                        Value::Object(_) if !known => conforms(wanted, inner, &format!("{path}.{key}"), defs)?,
                        _ => {}
                    }
                }
                true
            }
            "description" | "title" | "$schema" | "$defs" => true,
            other => return fail(&format!("the checker does not know {other}")),
        };
        if !ok {
            return fail(&format!("{rule} {wanted} is not met by {value}"));
        }
    }
    Ok(())
}

fn check_schema(name: &str, text: &str) -> Result<(), String> {
    let (top, errors) = node::from_toml(name, text);
    assert!(errors.is_empty(), "{errors:?}");
    let value = serde_json::from_str(&node::to_json(&top)).map_err(|error| error.to_string())?;
    let schema = schema();
    conforms(&schema, &value, name, &schema["$defs"])
}

#[test]
fn scenes_conform_to_the_schema() {
    for (name, text) in
        gallery().iter().chain(&[("everything", EVERYTHING), ("ball", BALL), ("solids", SOLIDS), ("grains", GRAINS)])
    {
        check_schema(name, text).unwrap_or_else(|error| panic!("{error}"));
    }
    for wrong in ["name = \"ball\"", "gravity = [0, 0, -9.81]", "kind = \"sphere\", "] {
        assert!(check_schema("wrong", &BALL.replace(wrong, "")).is_err(), "{wrong}");
    }
    assert!(check_schema("wrong", &BALL.replace("radius", "radus")).is_err());
    assert!(check_schema("wrong", &BALL.replace("\"r\" }", "-1 }")).is_err());
}

/// `TIPPE_WRITE_SCHEMA=1 cargo test -p tippe-scene schema` writes the file anew.
#[test]
fn the_schema_file_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/scene.schema.json");
    let text = serde_json::to_string_pretty(&schema()).expect("a value") + "\n";
    if std::env::var_os("TIPPE_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &text).expect("can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "run TIPPE_WRITE_SCHEMA=1 cargo test -p tippe-scene schema");
}

/// Reads a text that may be anything: no panic, no error without a message, and what reads is written back the same.
fn survives(file: &str, text: &str) {
    match Scene::parse_up_to(file, text, &[], 1000) {
        Err(SceneErrors(errors)) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.message.is_empty()));
        }
        Ok(scene) => {
            let back = Scene::parse_up_to(
                file,
                &if file.ends_with("json") { scene.to_json() } else { scene.to_toml() },
                &[],
                1000,
            );
            match back {
                Ok(back) => assert!(back == scene, "changed by writing:\n{text}"),
                Err(errors) => panic!("does not read back: {errors}\n{text}"),
            }
        }
    }
}

/// Words that make a mutation more likely to mean something.
const WORDS: [&str; 30] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "[[body]]\n",
    "\"{k}\"",
    "\"1/0\"",
    "\"2*r\"",
    "true",
    "9999",
    "position",
    "mass",
    "shape",
    "kind",
    "\"sphere\"",
    "\u{e9}",
    "\u{1f600}",
    "((((",
    "^",
    "\\u00",
];

/// One change: something cut, doubled, replaced or put in; `seed` decides.
fn mutate(text: &str, seed: u64) -> String {
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as usize) % below.max(1)
    };
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random(4) {
        let at = random(letters.len());
        let until = (at + 1 + random(12)).min(letters.len());
        let word: Vec<char> = WORDS[random(WORDS.len())].chars().collect();
        match random(5) {
            0 => drop(letters.splice(at..until, [])),
            1 => drop(letters.splice(at..at, word)),
            2 => drop(letters.splice(at..until, word)),
            3 => {
                let copy = letters[at..until].to_vec();
                letters.splice(at..at, copy);
            }
            _ => {
                let other = random(letters.len().max(1));
                if at < letters.len() && other < letters.len() {
                    letters.swap(at, other);
                }
            }
        }
    }
    letters.into_iter().collect()
}

#[test]
fn mutated_scenes_never_panic() {
    let json = Scene::parse("everything.toml", EVERYTHING, &[]).expect("reads").to_json();
    for seed in 0..8_000 {
        survives("m.toml", &mutate(BALL, seed));
    }
    for seed in 0..3_000 {
        survives("m.toml", &mutate(EVERYTHING, seed));
        survives("m.json", &mutate(&json, seed));
    }
    for seed in 0..400 {
        survives("m.toml", &mutate(SOLIDS, seed));
        survives("m.toml", &mutate(GRAINS, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        survives("p.toml", &text);
        survives("p.json", &text);
    }

    #[test]
    fn any_setting_is_survived(text in "\\PC{0,40}") {
        let _ = Scene::parse_up_to("p.toml", BALL, &[("r".into(), text)], 1000);
    }

    #[test]
    fn any_expression_is_survived(text in "[-+*/^()0-9a-z., <>=!&|e\u{b5}]{0,60}") {
        let _ = crate::equation::Tree::parse(&text).map(|tree| tree.evaluate(&Default::default()));
        survives("p.toml", &BALL.replace("2*r + 1 mm", &text));
    }
}
