//! Constraints over coordinates.

use super::*;

/// Two sliders and a hinge.
const SLIDERS: &str = r#"format = 1
[params]
r = "30 mm"
n = 2
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "mass_{k}"
repeat = [{ index = "k", count = 3 }]
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "slide_{k}"
repeat = [{ index = "k", count = 2 }]
kind = "prismatic"
bodies = ["world", "mass_{k}"]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["world", "mass_2"]
[[joint]]
name = "teeth"
kind = "gear"
joints = ["hinge", "slide_1"]
ratio = 2
"#;

fn constraint(keys: &str) -> String {
    format!("{SLIDERS}[[constraint]]\nname = \"rope\"\n{keys}\n")
}

/// Line, in a file with `keys` from line 28 on.
const AT: &str = "s.toml:28:";

#[test]
fn terms_are_numbers_with_units_over_parameters() {
    let text = constraint(
        "terms = { slide_0 = 1, \"slide_{n-1}.position\" = \"n/4\", \"hinge.angle\" = \"-r\" }\nat_most = \"20 cm\"",
    );
    let rope = read(&text).unwrap_or_else(|errors| panic!("{errors}")).constraints.remove(0);
    let terms: Vec<(&str, f64)> = rope.terms.iter().map(|term| (term.joint.as_str(), term.factor)).collect();
    assert_eq!(terms, [("slide_0", 1.0), ("slide_1", 0.5), ("hinge", -0.03)]);
    assert_eq!((rope.limit, rope.holds, rope.compliance), (0.2, ConstraintHolds::AtMost, 0.0));
    assert_eq!(rope.places.of("at_most").line, 29);
}

#[test]
fn what_is_wrong_is_named_with_place_and_remedy() {
    let one = "terms = { slide_0 = 1 }\n";
    let cases = [
        (
            "at_most = 1",
            "s.toml:26:1: constraint \"rope\" has no `terms`. help: such as terms = { \"left.position\" = 1",
        ),
        ("terms = {}\nat_most = 1", "28:9: constraint \"rope\" has no term. help: name coordinates of joints, such as"),
        ("terms = 3\nat_most = 1", "28:9: constraint \"rope\": terms is a number"),
        (
            "terms = { slid_0 = 1 }\nat_most = 1",
            "28:11: constraint \"rope\": terms: unknown joint \"slid_0\". help: did you mean `slide_0`?",
        ),
        (
            "terms = { \"slide_0.angle\" = 1 }\nat_most = 1",
            "joint \"slide_0\" has no coordinate \"angle\". help: possible: position",
        ),
        (
            "terms = { slide_0.position = 1 }\nat_most = 1",
            "terms: slide_0 is a table, not a factor. help: write a coordinate in quotes, such as \"slide_0.position\" = 1",
        ),
        (
            "terms = { slide_0 = 1, \"slide_0.position\" = 2 }\nat_most = 1",
            "constraint \"rope\" has two terms of slide_0.position. help: add their factors",
        ),
        (
            "terms = { teeth = 1 }\nat_most = 1",
            "joint \"teeth\" has no coordinate. help: a joint of kind gear has none to couple",
        ),
        (
            "terms = { slide_0 = 1, hinge = 2 }\nat_most = 1",
            "the factor of hinge.angle, an angle in a sum of lengths, has no unit; it has [m] per rad. help: such as \"hinge.angle\" = \"0.1 m/rad\"",
        ),
        (
            "terms = { slide_0 = \"2 m\" }\nat_most = 1",
            "the factor of slide_0.position, a length in a sum of lengths, has the unit [m]; it has no unit",
        ),
        (
            "terms = { hinge = \"2 m\" }\nat_most = 1",
            "the factor of hinge.angle, an angle in a sum of angles, has the unit [m]; it has no unit",
        ),
        (
            "terms = { slide_0 = 0 }\nat_most = 1",
            "the factor of slide_0.position is 0. help: a factor is a number other than 0",
        ),
        ("terms = { slide_0 = \"q\" }\nat_most = 1", "unknown name `q`"),
        (one, "26:1: constraint \"rope\" has no limit. help: one of equals, at_most, at_least"),
        (
            "terms = { slide_0 = 1 }\nat_most = 1\nequals = 1",
            "29:11: constraint \"rope\" has both `equals` and `at_most`",
        ),
        (
            "terms = { slide_0 = 1 }\nat_most = \"1 s\"",
            "constraint \"rope\" has at_most in [s]; an at_most has the unit [m]",
        ),
        ("terms = { hinge = 1 }\nat_most = \"1 m\"", "constraint \"rope\" has at_most in [m]; an at_most has no unit"),
        (
            "terms = { slide_0 = 1 }\nat_most = 1\ncompliance = \"1 N/m\"",
            "constraint \"rope\" has compliance in [kg/s^2]",
        ),
        ("terms = { slide_0 = 1 }\nat_most = 1\ncompliance = -1", "has compliance -1"),
        ("terms = { slide_0 = 1 }\nat_most = 1\nforce_max = 0", "has force_max 0 N; a force_max is > 0"),
        ("terms = { slide_0 = 1 }\nat_most = 1\nstifness = 0", "unknown key `stifness`"),
    ];
    let mut wrong = String::new();
    for (keys, wanted) in cases {
        let said = errors(&constraint(keys));
        if !said.contains(wanted) {
            wrong += &format!("{keys}\n  said   {said}\n  wanted {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(errors(&constraint("terms = { slid_0 = 1 }\nat_most = 1")).starts_with(AT));
    let twice = format!(
        "{}[[force]]\nname = \"rope\"\nkind = \"applied\"\non = \"mass_0\"\nforce = [1, 0, 0]\n",
        constraint(&format!("{one}equals = 0"))
    );
    assert!(errors(&twice).contains("force \"rope\" has the name of a constraint"), "{}", errors(&twice));
}

#[test]
fn constraints_enter_under_a_prefix_and_repeat() {
    let folder = std::env::temp_dir().join(format!("tippe-constraint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("can be made");
    let keys =
        "repeat = [{ index = \"k\", count = 2 }]\nterms = { \"slide_{k}.position\" = 2, hinge = \"r\" }\nequals = 0";
    let inner = constraint(keys).replace("\"rope\"", "\"rope_{k}\"");
    std::fs::write(folder.join("inner.toml"), inner).expect("can be written");
    let outer = "format = 1\n[world]\ngravity = [0, 0, 0]\n[[include]]\nfile = \"inner.toml\"\nprefix = \"left\"\n\
                 [[include]]\nfile = \"inner.toml\"\nprefix = \"right\"\n\
                 [[constraint]]\nname = \"tie\"\nterms = { \"left.slide_0\" = 1, \"right.slide_1.position\" = -1 }\nequals = 0\n";
    std::fs::write(folder.join("outer.toml"), outer).expect("can be written");
    let scene = Scene::load(&folder.join("outer.toml").display().to_string(), &[]);
    std::fs::remove_dir_all(&folder).ok();
    let scene = scene.unwrap_or_else(|errors| panic!("{errors}"));
    let named =
        |c: &Constraint| (c.name.clone(), c.terms.iter().map(|t| t.joint.clone()).collect::<Vec<_>>().join(" "));
    let all: Vec<(String, String)> = scene.constraints.iter().map(named).collect();
    let wanted = [
        ("left.rope_0", "left.slide_0 left.hinge"),
        ("left.rope_1", "left.slide_1 left.hinge"),
        ("right.rope_0", "right.slide_0 right.hinge"),
        ("right.rope_1", "right.slide_1 right.hinge"),
        ("tie", "left.slide_0 right.slide_1"),
    ];
    assert_eq!(all, wanted.map(|(name, joints)| (name.to_owned(), joints.to_owned())));
    assert_eq!(scene.constraints[3].terms[1].factor, 0.03);
}
