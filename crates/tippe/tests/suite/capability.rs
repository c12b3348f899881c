//! The capability table is true: every element in every clock, run or refused as it says.

use std::collections::BTreeSet;
use tippe::capability::{self, Support, elements};
use tippe::element;
use tippe::scene::{Clock, Scene, kinds};
use tippe::{Model, clock};

const CLOCKS: [Clock; 3] = [Clock::Precise, Clock::Realtime, Clock::Granular];

const HEAD: &str = "format = 1\n[world]\ngravity = [0, 0, -9.81]\n";
/// Two boxes that never touch, hung one below the other.
const BODIES: &str = r#"
[[body]]
name = "a"
mass = 1
inertia = [1e-2, 2e-2, 2e-2]
[[body]]
name = "b"
mass = 2
inertia = [2e-2, 3e-2, 2.5e-2]
position = [0, 0, -0.5]
"#;
/// A hinge for what acts in joints.
const HINGE: &str = r#"
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["world", "a"]
at = [0, 0, 0.2]
axis = [0, 1, 0]
"#;

/// Two shapes of two bodies, one above the other.
fn shapes(lower: &str, upper: &str) -> String {
    let part =
        if upper.contains("part") { "[[solid]]\nname = \"part\"\nkind = \"box\"\nsize = [1, 1, 1]\n" } else { "" };
    let fixed = if lower.contains("half_space") || lower.contains("height_grid") { "fixed = true\n" } else { "" };
    format!(
        "{HEAD}{part}[[body]]\nname = \"low\"\nmaterial = \"steel\"\n{fixed}shape = {lower}\n\
         [[body]]\nname = \"high\"\nmaterial = \"steel\"\nposition = [0, 0, 3]\nshape = {upper}\n"
    )
}

/// Contact parameters of two balls that meet.
fn contact(text: &str) -> String {
    format!(
        "{HEAD}[law.mine]\nnormal = \"(1e6 N/m)*depth\"\nenergy = \"(5e5 N/m)*depth^2\"\n[contact]\n{text}\n\
         [[body]]\nname = \"low\"\nmaterial = \"steel\"\nshape = {{ kind = \"sphere\", radius = 0.1 }}\n\
         [[body]]\nname = \"high\"\nmaterial = \"steel\"\nshape = {{ kind = \"sphere\", radius = 0.1 }}\n\
         position = [0, 0, 0.2001]\nvelocity = [0.01, 0, -0.1]\n"
    )
}

fn with(text: &str) -> String {
    format!("{HEAD}{BODIES}{text}")
}

/// A part of a scene from its example.
fn one(table: &str, word: &str, example: &str) -> String {
    format!("[[{table}]]\nname = \"one\"\nkind = \"{word}\"\n{example}\n")
}

fn is_element(table: &str) -> bool {
    !matches!(
        table,
        "joint"
            | "signal"
            | "sensor"
            | "cable"
            | "point of a cable"
            | "segment of a cable"
            | "wheel of soft ground"
            | "fluid"
            | "body of a fluid"
            | "cable of a fluid"
            | "wave of a fluid"
            | "sea of a fluid"
            | "drawing"
    )
}

/// A scene for every element that a scene may have.
fn scenes() -> Vec<String> {
    let mut all = Vec::new();
    let (ball, cube) = ("{ kind = \"sphere\", radius = 0.1 }", "{ kind = \"box\", size = [0.2, 0.2, 0.2] }");
    let grid = "{ kind = \"height_grid\", size = [4, 4], heights = [[0, 0], [0, 0]] }";
    let plane = "{ kind = \"half_space\" }";
    let capsule = "{ kind = \"capsule\", radius = 0.1, length = 0.2 }";
    for (lower, upper) in [
        (ball, "{ kind = \"ellipsoid\", semi_axes = [0.1, 0.2, 0.3] }"),
        (cube, cube),
        (plane, "{ kind = \"hull\", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }"),
        (cube, "{ kind = \"cylinder\", radius = 0.1, length = 0.2 }"),
        (cube, capsule),
        ("{ kind = \"profile\", curve = { kind = \"circle\", radius = 0.1 }, length = 0.1 }", ball),
        (ball, "{ kind = \"cone\", radius = 0.1, length = 0.2 }"),
        (grid, cube),
        (plane, "{ kind = \"mesh\", solid = \"part\" }"),
        (plane, "{ kind = \"mesh\", solid = \"part\", hull = true }"),
    ] {
        all.push(shapes(lower, upper));
    }
    // the reader refuses a free half-space, a program can make one
    let extra = "name = \"high\"\nmass = 1\ninertia = [1, 1, 1]\nfixed = true # until it is read\n";
    all.push(shapes(plane, plane).replacen("name = \"high\"\n", extra, 1));
    for law in ["hertz", "nassauer", "volume", "foundation", "mine"] {
        all.push(contact(&format!("law = \"{law}\"")));
    }
    for law in ["modia3d", "bardaro", "linear", "collisionlib"] {
        all.push(contact(&format!("law = \"{law}\"\nstiffness = 1e6\ndamping = 1")));
    }
    for law in ["mindlin", "regularised", "sqrt", "nassauer", "contensou", "viscous", "brush", "none"] {
        all.push(contact(&format!("friction_law = \"{law}\"\nfriction = 0.3\nslip = 0.1\nbristle_stiffness = 1e3")));
    }
    all.push(contact("friction_law = \"collisionlib\"\nfriction = 0.3\nforce_max = 5"));
    all.push(contact("normal_force_max = 100"));
    let solids = ("{ kind = \"half_space\" }", "{ kind = \"mesh\", solid = \"part\" }");
    for asked in [
        "adhesion = 5",
        "friction_force = 5",
        "friction_curve = [[0, 0.5], [1, 0.2]]",
        "restitution_curve = [[0, 0.9], [1, 0.5]]",
        "friction_law = \"brush\"\nfriction = 0.3\nbristle_stiffness = 1e3",
    ] {
        all.push(contact(asked));
        all.push(format!("{}[contact]\n{asked}\n", shapes(solids.0, solids.1)));
    }
    all.push(contact("points = 3"));
    all.push(contact("lever = \"midpoint\""));
    all.push(contact("lever = \"surface1\""));
    all.push(
        format!("{HEAD}{BODIES}motion = {{ velocity = [1, 0, 0] }}\n")
            .replace("mass = 2\ninertia = [2e-2, 3e-2, 2.5e-2]\n", ""),
    );
    all.push(with("").replace("-9.81]\n", "-9.81]\nattractors = [{ position = [0, 0, -1e3], mu = 1e3 }]\n"));
    let other = HINGE.replace("hinge", "other").replace("\"a\"", "\"b\"");
    let slide = other.replace("other", "slide").replace("revolute", "prismatic");
    let third = other.replace("other", "third").replace("\"b\"", "\"c\"");
    let third = format!("[[body]]\nname = \"c\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [0, 3, 0]\n{third}");
    for (table, kind) in kinds() {
        let (word, example) = (kind.word, kind.example);
        all.push(with(&match table {
            "motor" => format!("{HINGE}[joint.motor]\nkind = \"{word}\"\n{example}\n"),
            "joint" if example.contains("slide") => format!("{HINGE}{slide}{}", one(table, word, example)),
            "joint" if example.contains("hinge") => format!("{HINGE}{other}{}", one(table, word, example)),
            "force" if example.contains("slide") => format!("{HINGE}{slide}{}", one(table, word, example)),
            "force" if example.contains("hinge") => format!("{HINGE}{other}{third}{}", one(table, word, example)),
            "joint" | "force" | "signal" | "sensor" => one(table, word, example),
            "cable" => format!("[[cable]]\nname = \"one\"\n{example}\n"),
            "fluid" => {
                let body = "[[body]]\nname = \"float\"\nshape = { kind = \"sphere\", radius = 1, collide = false }\nmass = 1\n";
                format!("{body}[[fluid]]\nname = \"one\"\n{}\n", example.replace("\"a\"", "\"float\""))
            }
            "drawing" => format!("[[drawing]]\nname = \"one\"\n{example}\n"),
            "point of a cable" | "segment of a cable" | "wheel of soft ground" | "body of a fluid" | "cable of a fluid" | "wave of a fluid" | "sea of a fluid" => continue,
            _ => format!("{HINGE}[joint.{word}]\n{example}\n"),
        }));
    }
    let jointed = kinds().into_iter().find(|(_, kind)| kind.word == "cable_joint").map_or("", |(_, kind)| kind.example);
    all.push(with(&one("force", "cable_joint", &format!("{jointed}\njoints = 1"))));
    assert_eq!(
        element::FORCES.len() + element::HUNG.len(),
        kinds().iter().filter(|(table, _)| is_element(table)).count()
    );
    all.push(with(
        "[[joint]]\nname = \"j\"\nkind = \"fixed\"\nbreaking_force = 1\nbodies = [\"world\", \"a\"]\nat = [0, 0, 0.2]\n",
    ));
    all.push(with(
        "[[joint]]\nname = \"j\"\nkind = \"spherical\"\ncompliance = 1e-4\nforce_max = 100\nbodies = [\"world\", \"a\"]\nat = [0, 0, 0.2]\n",
    ));
    for more in ["", "compliance = 1e-3\n"] {
        let sum = "[[constraint]]\nname = \"c\"\nterms = { \"hinge.angle\" = 1, \"other.angle\" = 2 }\nequals = 0\n";
        all.push(with(&format!("{HINGE}{other}{sum}{more}")));
    }
    all.push(with("[[component]]\nname = \"c\"\nstates = { x = 1 }\nder = { x = \"-x\" }\n"));
    let rows = HINGE.replace("axis = [0, 1, 0]\n", "axis = [0, 1, 0]\nrows = true\n");
    for (action, joint) in [
        ("attach = \"hinge\"", format!("{rows}active = false\n")),
        ("release = \"hinge\"", rows.clone()),
        ("lock = \"hinge\"", HINGE.to_owned()),
        ("unlock = \"hinge\"", HINGE.to_owned()),
        ("delete = \"b\"", String::new()),
        ("contact_off = [\"a\", \"b\"]", String::new()),
    ] {
        all.push(with(&format!("{joint}[[change]]\nname = \"c\"\nat = 0.005\n{action}\n")));
    }
    all.push(with(
        "[[grains]]\nname = \"g\"\nmaterial = \"glass\"\npacking = \"listed\"\nposition = [0, 3, 0]\nradius = 0.01\n\
         friction = 0.5\nrestitution = 0.5\n",
    ));
    let clump = "[[grains]]\nname = \"g\"\nmaterial = \"glass\"\npacking = \"listed\"\nposition = [0, 3, 0]\n\
         clump = [[0, 0, 0, 0.01], [0.01, 0, 0, 0.01]]\nfriction = 0.5\nrestitution = 0.5\n";
    all.push(with(clump));
    all.push(with(
        "[granular]\nmethod = \"position\"\n[[grains]]\nname = \"g\"\nmaterial = \"glass\"\npacking = \"listed\"\n\
         position = [0, 3, 0]\nradius = 0.01\nfriction = 0.5\nrestitution = 0.5\n",
    ));
    all.push(with(&format!("{clump}[[sink]]\nname = \"s\"\nlow = [0, 0, -2]\nhigh = [1, 1, -1]\n")));
    all.push(with(&format!("{clump}[[probe]]\nname = \"p\"\nlow = [0, 0, -2]\nhigh = [1, 1, -1]\n")));
    all.push(with(&format!(
        "{clump}[[body]]\nname = \"press\"\nmaterial = \"steel\"\nposition = [0, 3, 3]\nshape = {{ kind = \"sphere\", radius = 0.1 }}\n\
         servo = {{ axis = [0, 0, -1], force = 1, speed = 0.1 }}\n"
    )));
    all
}

/// Each scene compiles for a clock exactly if the table says that clock can do all of its elements, runs there, names what it
/// cannot do where it stands, and says what it does in another form.
#[test]
fn every_element_in_every_clock() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for text in scenes() {
        let scene = match Scene::parse("s.toml", &text, &[]) {
            Ok(mut scene) => {
                let bodies = &mut scene.bodies;
                bodies.iter_mut().for_each(|b| b.fixed &= !(b.name == "high" && text.contains("until it is read")));
                scene
            }
            Err(errors) => {
                wrong.push(format!("{errors}\n{text}"));
                continue;
            }
        };
        let models = CLOCKS.map(|clock| Model::compile_for(&scene, clock));
        let Some(model) = models.iter().find_map(|model| model.as_ref().ok()) else {
            let errors = models[0].as_ref().unwrap_err().to_string();
            if !errors.contains("touch each other") {
                wrong.push(format!("{errors}\n{text}"));
            }
            seen.insert((if errors.contains("meshes") { "pair mesh" } else { "pair unbounded" }).to_owned());
            continue;
        };
        let found = elements(&scene, model);
        seen.extend(found.iter().map(|found| found.element.to_string()));
        for (clock, model) in CLOCKS.into_iter().zip(&models) {
            // without grains the granular clock has nothing to do
            if clock == Clock::Granular && scene.grains.is_empty() {
                assert!(model.is_err(), "{text}");
                continue;
            }
            let support = |element: &str| capability::of(element).of(clock);
            let refused = found.iter().find(|f| matches!(support(&f.element), Support::No(_)));
            match (refused, model) {
                (Some(refused), Err(errors)) => {
                    let Support::No(why) = support(&refused.element) else { continue };
                    let text = errors.to_string();
                    assert!(
                        text.contains(why) && text.contains(&refused.name) && text.starts_with("s.toml:"),
                        "{text}"
                    );
                }
                (None, Ok(model)) => {
                    for f in &found {
                        if let Support::Approximate(how) = support(&f.element) {
                            assert!(
                                model.warnings.iter().any(|w| w.contains(how)),
                                "{} {:?}",
                                f.element,
                                model.warnings
                            );
                        }
                    }
                    let mut settings = clock::Settings::from_scene(&scene, clock);
                    settings.set_threads(1);
                    let ran = clock::simulate(model, &mut settings.start(model), 0.02, &settings, &mut ());
                    if let Err(failure) = ran {
                        wrong.push(format!("{} clock: {failure}\n{text}", clock.name()));
                    }
                }
                (Some(refused), Ok(_)) => {
                    wrong.push(format!("{} in the {} clock is not refused", refused.element, clock.name()))
                }
                (None, Err(errors)) => wrong.push(format!("{} clock: {errors}\n{text}", clock.name())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    let missing: Vec<String> = capability::names().into_iter().filter(|element| !seen.contains(element)).collect();
    assert!(missing.is_empty(), "no scene for {missing:?}");
}

/// The scenes of the gallery have no element the table does not know.
#[test]
fn the_table_knows_every_element_once() {
    let names: BTreeSet<String> = capability::names().into_iter().collect();
    for (name, text) in tippe::scene::gallery() {
        let scene = Scene::parse(&format!("{name}.toml"), text, &[]).unwrap();
        let model = Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
        for found in elements(&scene, &model) {
            assert!(names.contains(found.element.as_ref()), "{name}: {}", found.element);
        }
    }
}
