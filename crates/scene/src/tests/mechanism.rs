//! Joints, forces, signals, components, sensors, changes.

use super::*;
use tippe_parts::joint::{start_rates, starts};

/// A small mechanism that is right.
const CRANK: &str = r#"format = 1
[params]
k = 3
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "crank"
shape = { kind = "sphere", radius = 0.1 }
material = "steel"
frames = [{ name = "pin", position = [0.3, 0, 0] }]
[[body]]
name = "rod"
shape = { kind = "sphere", radius = 0.1 }
material = "steel"
frames = [{ name = "pin" }, { name = "end", position = [1, 0, 0] }]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["world", "crank"]
at = [0, 0, 1]
[[joint]]
name = "tube"
kind = "cylindrical"
bodies = ["crank.pin", "rod.pin"]
"#;

fn added(text: &str) -> String {
    errors(&format!("{CRANK}{text}\n"))
}

fn replaced(from: &str, to: &str) -> String {
    assert!(CRANK.contains(from), "{from}");
    errors(&CRANK.replacen(from, to, 1))
}

/// Collects every message that is not as wanted, and shows them at the end.
#[derive(Default)]
struct Wrong(String);

impl Wrong {
    fn check(&mut self, text: &str, said: &str, wanted: &str) {
        if !said.contains(wanted) {
            self.0.push_str(&format!("{text}\n  said   {said}\n  wanted {wanted}\n"));
        }
    }
}

impl Drop for Wrong {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "\n{}", self.0);
    }
}

fn with(text: &str) -> Scene {
    read(&format!("{CRANK}{text}\n")).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

#[test]
fn joints_are_resolved() {
    let scene = with("");
    let hinge = &scene.joints[0];
    assert_eq!(hinge.between("bodies")[0], Attachment { body: "world".into(), frame: String::new() });
    assert_eq!((hinge.vector("at"), hinge.vector("axis")), (Some(Vec3::Z), Some(Vec3::Z)));
    assert_eq!((starts(hinge), start_rates(hinge)), (vec![None], vec![None]));
    assert!(hinge.flag("active") && !hinge.flag("rows") && !hinge.flag("collide"));
    let tube = &scene.joints[1];
    assert_eq!(tube.between("bodies")[1], Attachment { body: "rod".into(), frame: "pin".into() });
    assert_eq!((tube.vector("at"), tube.vector("axis"), starts(tube).len()), (None, None, 2));
    assert_eq!(tube.places.of("bodies"), Place { line: 24, column: 10 });
}

#[test]
fn directions_are_written_back_the_same() {
    for k in 0..200 {
        let axis = format!("axis = [\"1 + sin({k})\", \"cos(7*{k})\", \"0.1*{k} - 9\"]");
        let mut scene = read(&CRANK.replace("at = [0, 0, 1]", &axis)).unwrap_or_else(|errors| panic!("{errors}"));
        scene.bodies[1].orientation = Quat::from_xyzw(0.5, 0.5, 0.5, 0.5);
        let back = read(&scene.to_toml()).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(back, scene, "{axis}");
    }
}

#[test]
fn start_values_have_the_order_of_the_coordinates() {
    let joint =
        |text: &str| with(&format!("[[joint]]\nname = \"j\"\nbodies = [\"crank\", \"rod\"]\n{text}")).joints[2].clone();
    let tube = joint("kind = \"cylindrical\"\nangle = \"90 deg\"\nturn_speed = 2\nspeed = \"1 cm/s\"");
    assert_eq!(starts(&tube), [None, Some(std::f64::consts::FRAC_PI_2)]);
    assert_eq!(start_rates(&tube), [Some(0.01), Some(2.0)]);
    let plane = joint("kind = \"planar\"\nx = 1\nangle = 3\nvy = 2");
    let rates = vec![None, Some(2.0), None];
    assert_eq!((starts(&plane), start_rates(&plane)), (vec![Some(1.0), None, Some(3.0)], rates));
    let ball = joint("kind = \"spherical\"\nangular_velocity = [1, 2, 3]");
    assert_eq!((starts(&ball).len(), start_rates(&ball)), (0, vec![Some(1.0), Some(2.0), Some(3.0)]));
    let free = joint("kind = \"free\"\nvelocity = [1, 2, 3]");
    assert_eq!(start_rates(&free), [None, None, None, Some(1.0), Some(2.0), Some(3.0)]);
    assert!(start_rates(&joint("kind = \"free\"")).iter().all(Option::is_none));
}

#[test]
fn couplings_find_their_coordinates() {
    let scene = with(
        "[[joint]]\nname = \"g\"\nkind = \"gear\"\njoints = [\"late\", \"tube.angle\"]\nratio = -2\n\
         [[joint]]\nname = \"b\"\nkind = \"belt\"\njoints = [\"hinge\", \"tube.angle\"]\nradii = [2, 5]\ncrossed = true\n\
         [[joint]]\nname = \"r\"\nkind = \"rack_and_pinion\"\njoints = [\"hinge\", \"tube\"]\nradius = \"3 cm\"\n\
         [[joint]]\nname = \"late\"\nkind = \"revolute\"\nbodies = [\"world\", \"rod\"]\nrows = true",
    );
    let [gear, belt, rack] = [2, 3, 4].map(|k| &scene.joints[k]);
    let of = |joint: &str, coordinate| CoordinateOf { joint: joint.into(), coordinate };
    assert_eq!(gear.coordinates("joints"), [of("late", "angle"), of("tube", "angle")]);
    assert_eq!(rack.coordinates("joints"), [of("hinge", "angle"), of("tube", "position")]);
    assert_eq!((gear.number("ratio"), rack.number("radius")), (-2.0, 0.03));
    assert_eq!((belt.numbers("radii"), belt.flag("crossed")), ([2.0, 5.0].as_slice(), true));
}

#[test]
fn names_of_bodies_win_over_frames() {
    let scene = with(
        "[[body]]\nname = \"crank.pin\"\nfixed = true\nframes = [{ name = \"tip\" }]\n\
         [[joint]]\nname = \"a.b\"\nkind = \"fixed\"\nbodies = [\"crank.pin\", \"rod\"]\n\
         [[joint]]\nname = \"c\"\nkind = \"fixed\"\nbodies = [\"crank.pin.tip\", \"rod.end\"]",
    );
    // The longest name of a body is tried first.
    assert_eq!(scene.joints[2].between("bodies")[0], Attachment { body: "crank.pin".into(), frame: String::new() });
    assert_eq!(scene.joints[3].between("bodies")[0], Attachment { body: "crank.pin".into(), frame: "tip".into() });
    assert_eq!(
        read(&scene.to_toml()).map_err(|errors| errors.to_string()),
        Ok(Scene { file: "s.toml".into(), ..scene })
    );
}

#[test]
fn indices_are_gone_from_equations() {
    let scene = with(
        "[[signal]]\nname = \"s_{j}\"\nrepeat = [{ index = \"j\", from = 2, count = 2 }]\nkind = \"equation\"\n\
         value = \"j*k*t + s_{5-j}.x/j\"",
    );
    let texts: Vec<&str> =
        scene.signals.iter().map(|signal| signal.equation("value").map_or("", |value| value.text.as_str())).collect();
    assert_eq!(texts, ["(2.0)*k*t + s_3.x/(2.0)", "(3.0)*k*t + s_2.x/(3.0)"]);
    let said = added(
        "[[signal]]\nname = \"s_{h}\"\nrepeat = [{ index = \"h\", count = 1 }]\nkind = \"equation\"\nvalue = \"t*1 m/h\"",
    );
    assert!(said.contains("`h` is both a unit and a name here"), "{said}");
}

#[test]
fn wrong_joints_are_named() {
    let mut wrong = Wrong::default();
    for (from, to, message) in [
        (
            "\"revolute\"",
            "\"revolut\"",
            "s.toml:18:8: joint \"hinge\": unknown kind \"revolut\". help: did you mean `revolute`?",
        ),
        (
            "[\"world\", \"crank\"]",
            "[\"world\", \"crnk\"]",
            "s.toml:19:20: joint \"hinge\": unknown body \"crnk\". help: did you mean `crank`?",
        ),
        ("[\"world\", \"crank\"]", "[\"wrld\", \"crank\"]", "unknown body \"wrld\". help: did you mean `world`?"),
        (
            "\"crank.pin\"",
            "\"crank.pinn\"",
            "s.toml:24:11: joint \"tube\": body \"crank\" has no frame \"pinn\". help: did you mean `pin`?",
        ),
        ("\"crank.pin\"", "\"world.pin\"", "the world has no frame \"pin\""),
        ("\"rod.pin\"", "\"crank\"", "joint \"tube\" is between \"crank\" and itself"),
        ("[\"world\", \"crank\"]", "[\"world\"]", "joint \"hinge\": bodies has 1 names, not two"),
        ("bodies = [\"world\", \"crank\"]\n", "", "joint \"hinge\" has no `bodies`. help: such as bodies = "),
        ("at = [0, 0, 1]", "at = [0, 0, 1]\naxis = [0, 0, 0]", "joint \"hinge\": axis has length 0"),
        ("at = [0, 0, 1]", "axis = \"w\"", "joint \"hinge\": unknown axis \"w\". help: three numbers, or one of x, y"),
        ("at = [0, 0, 1]", "at = [0, nan, 1]", "joint \"hinge\": at is NaN, not a finite number"),
        ("at = [0, 0, 1]", "at = [0, 0, \"1 s\"]", "joint \"hinge\" has at in [s]; at has the unit [m]"),
        (
            "at = [0, 0, 1]",
            "pitch = 1",
            "s.toml:20:1: joint \"hinge\" has kind revolute, which takes no `pitch`. help: `pitch` belongs to screw",
        ),
        ("at = [0, 0, 1]", "lenght = 1", "joint \"hinge\" has an unknown key `lenght`. help: did you mean `length`?"),
        ("at = [0, 0, 1]", "position = 1", "takes no `position`. help: `position` belongs to prismatic, cylindrical"),
        ("at = [0, 0, 1]", "angle = \"1 m\"", "joint \"hinge\" has angle in [m]; an angle has no unit"),
        ("at = [0, 0, 1]", "speed = \"1 m/s\"", "joint \"hinge\" has speed in [m/s]"),
        (
            "at = [0, 0, 1]",
            "limit = { lower = 1, upper = \"45 deg\", stiffness = 1 }",
            "s.toml:20:30: joint \"hinge\": limit has lower 1 rad not below upper 0.785",
        ),
        ("at = [0, 0, 1]", "limit = { stiffness = 1 }", "joint \"hinge\": limit has neither `lower` nor `upper`"),
        ("at = [0, 0, 1]", "limit = {}", "joint \"hinge\": limit has no `stiffness`"),
        ("at = [0, 0, 1]", "spring = {}", "joint \"hinge\": spring has neither `stiffness` nor `damping`"),
        ("at = [0, 0, 1]", "spring = 3", "joint \"hinge\": spring is a number, not a table"),
        ("at = [0, 0, 1]", "spring = { stiffness = -1 }", "spring has stiffness -1 J; a stiffness is >= 0"),
        ("at = [0, 0, 1]", "spring = { damping = -1 }", "a damping is >= 0"),
        ("at = [0, 0, 1]", "spring = { stiffness = \"1 N/m\" }", "spring has stiffness in [kg/s^2]"),
        ("at = [0, 0, 1]", "spring = { stiffness = nan }", "stiffness is NaN, not a finite number"),
        ("at = [0, 0, 1]", "friction = {}", "joint \"hinge\": friction has no `sliding`"),
        ("at = [0, 0, 1]", "friction = { sliding = 2, sticking = 1 }", "friction has sticking 1 below sliding 2"),
        (
            "at = [0, 0, 1]",
            "spring = { stiffness = 1, coordinate = \"angel\" }",
            "a joint of kind revolute has no coordinate \"angel\". help: did you mean `angle`?",
        ),
        (
            "at = [0, 0, 1]",
            "motor = [{ kind = \"speed\", value = 1 }, { kind = \"torque\", value = \"t\", coordinate = \"angle\" }]",
            "joint \"hinge\" has two motors on its coordinate angle",
        ),
        (
            "at = [0, 0, 1]",
            "motor = { kind = \"sped\", value = 1 }",
            "unknown kind \"sped\". help: did you mean `speed`?",
        ),
        (
            "at = [0, 0, 1]",
            "motor = { kind = \"speed\", value = \"10*\" }",
            "motor: value: the expression ends too early",
        ),
        ("at = [0, 0, 1]", "motor = { kind = \"speed\", value = nan }", "motor: value is NaN, not a finite number"),
        ("at = [0, 0, 1]", "motor = { kind = \"speed\", value = [1] }", "value is a list, not a number or an equation"),
        ("at = [0, 0, 1]", "motor = {}", "joint \"hinge\": motor has no `kind`"),
        (
            "at = [0, 0, 1]",
            "motor = { kind = \"motion\", value = 1, limit = 2 }",
            "motor has kind motion, which takes no `limit`. help: `limit` belongs to torque, speed, position",
        ),
        ("at = [0, 0, 1]", "motor = { kind = \"position\", value = 1 }", "motor has no `stiffness`"),
        (
            "bodies = [\"crank.pin\", \"rod.pin\"]",
            "bodies = [\"crank.pin\", \"rod.pin\"]\nat = [0, 0, 0]",
            "s.toml:25:6: joint \"tube\" has both `at` and the frame \"crank.pin\"",
        ),
        (
            "name = \"tube\"",
            "name = \"hinge\"",
            "joint \"hinge\" has the name of a joint. help: the other one is in line 16",
        ),
        ("name = \"tube\"", "name = \"rod\"", "s.toml:22:8: joint \"rod\" has the name of a body"),
        ("name = \"tube\"", "name = \"world\"", "joint \"world\" has the name of the ground"),
        ("name = \"tube\"", "name = \"a..b\"", "joint \"a..b\" is no name"),
        ("name = \"rod\"", "name = \"world\"", "body \"world\" has the name of the ground"),
        ("{ name = \"end\",", "{ name = \"pin\",", "body \"rod\": frame: two frames have the name \"pin\""),
        ("{ name = \"end\",", "{ name = \"a.b\",", "frame \"a.b\" is no name"),
    ] {
        wrong.check(to, &replaced(from, to), message);
    }
    let joint = "[[joint]]\nname = \"j\"\nkind =";
    for (text, message) in [
        (
            "\"gear\"\njoints = [\"hinge\", \"tub\"]\nratio = 2",
            "joint \"j\": unknown joint \"tub\". help: did you mean `tube`?",
        ),
        ("\"gear\"\njoints = [\"hinge\", \"tube.angel\"]\nratio = 2", "joint \"tube\" has no coordinate \"angel\""),
        ("\"gear\"\njoints = [\"hinge\", \"hinge\"]\nratio = 2", "joint \"j\" couples hinge.angle to itself"),
        ("\"gear\"\njoints = [\"hinge\", \"j\"]\nratio = 2", "joint \"j\" has no coordinate"),
        ("\"gear\"\njoints = [\"hinge\", \"tube\"]", "joint \"j\" has no `ratio`"),
        ("\"gear\"\njoints = [\"hinge\", \"tube\"]\nratio = 0", "joint \"j\" has ratio 0"),
        ("\"gear\"\nratio = 2", "joint \"j\" has no `joints`"),
        ("\"gear\"\nbodies = [\"world\", \"rod\"]", "has kind gear, which takes no `bodies`"),
        (
            "\"belt\"\njoints = [\"hinge\", \"tube\"]\nradii = [1, 2]",
            "tube.position is a position. help: a belt couples two",
        ),
        ("\"belt\"\njoints = [\"hinge\", \"tube.angle\"]\nradii = [1, 0]", "joint \"j\" has radii 0 m; radii is > 0"),
        ("\"rack_and_pinion\"\njoints = [\"tube\", \"hinge\"]\nradius = 1", "tube.position is a position"),
        ("\"screw\"\nbodies = [\"world\", \"rod\"]", "joint \"j\" has no `pitch`"),
        ("\"screw\"\nbodies = [\"world\", \"rod\"]\npitch = 0", "joint \"j\" has pitch 0"),
        ("\"distance\"\nbodies = [\"world\", \"rod\"]\nlength = 0", "joint \"j\" has length 0 m; a length is > 0"),
        ("\"rolling\"\nbodies = [\"world\", \"rod\"]", "joint \"j\" has neither `radius` nor `semi_axes`"),
        ("\"rolling\"\nbodies = [\"world\", \"rod\"]\nradius = 1", "joint \"j\" has no `shape`"),
        (
            "\"rolling\"\nbodies = [\"world\", \"rod\"]\nradius = -1\nshape = \"disc\"",
            "has radius -1 m; a radius is > 0",
        ),
        (
            "\"rolling\"\nbodies = [\"world\", \"rod\"]\nradius = 1\nshape = \"disk\"",
            "unknown shape \"disk\". help: did you",
        ),
        ("\"universal\"\nbodies = [\"world\", \"rod\"]\nat = [0,0,0]\naxis2 = \"-z\"", "axis and axis2 are parallel"),
        ("\"fixed\"\nbodies = [\"world\", \"rod\"]\nspring = { stiffness = 1 }", "kind fixed, which takes no `spring`"),
    ] {
        wrong.check(text, &added(&format!("{joint} {text}")), message);
    }
}

#[test]
fn wrong_forces_are_named() {
    let mut wrong = Wrong::default();
    for (text, message) in [
        ("kind = \"aplied\"", "force \"f\": unknown kind \"aplied\". help: did you mean `applied`?"),
        ("kind = \"applied\"", "force \"f\" has no `on`"),
        ("kind = \"applied\"\non = \"crank\"", "force \"f\" has neither `force` nor `torque`"),
        ("kind = \"applied\"\non = \"crnk\"\nforce = [0, 0, 0]", "unknown body \"crnk\". help: did you mean `crank`?"),
        ("kind = \"applied\"\non = \"world\"\nforce = [0, 0, 0]", "force \"f\" acts on the world"),
        ("kind = \"applied\"\non = \"rod\"\nforce = [0, 0]", "force \"f\": force has 2 equations, not 3"),
        (
            "kind = \"applied\"\non = \"rod\"\nforce = [0, 0, \"2*(t\"]",
            "s.toml:29:21: force \"f\": force: `)` is missing",
        ),
        ("kind = \"applied\"\non = \"rod\"\nforce = [0, 0, inf]", "force is inf, not a finite number"),
        ("kind = \"applied\"\non = \"rod\"\nforce = [0, 0, 1]\nresolved = \"body\"", "unknown resolved \"body\""),
        (
            "kind = \"applied\"\non = \"rod\"\nforce = [0, 0, 1]\nstiffness = 1",
            "takes no `stiffness`. help: `stiffness` belongs to spring, bushing",
        ),
        (
            "kind = \"spring\"\nbetween = [\"rod\", \"rod.end\"]\nstiffness = 1",
            "force \"f\" is between \"rod\" and itself",
        ),
        ("kind = \"spring\"\nbetween = [\"crank\", \"rod\"]", "has neither `stiffness`, `damping` nor `law`"),
        (
            "kind = \"spring\"\nbetween = [\"crank\", \"rod\"]\nstiffness = -1",
            "force \"f\" has stiffness -1 kg/s^2; a stiffness is >= 0",
        ),
        (
            "kind = \"spring\"\nbetween = [\"crank\", \"rod\"]\nstiffness = 1\nlaw = \"1\"",
            "has both `law` and `stiffness`",
        ),
        (
            "kind = \"spring\"\nbetween = [\"crank\", \"rod\"]\nstiffness = 1\nat = [[0, 0, 0]]",
            "at has 1 points, not 2",
        ),
        (
            "kind = \"spring\"\nbetween = [\"crank.pin\", \"rod\"]\nstiffness = 1\nat = [[0, 0, 0], [1, 0, 0]]",
            "both `at` and the frame",
        ),
        ("kind = \"spring\"\nstiffness = 1", "force \"f\" has no `between`"),
        ("kind = \"bushing\"\nbetween = [\"crank\", \"rod\"]", "force \"f\" has neither stiffness nor damping"),
        ("kind = \"bushing\"\nbetween = [\"crank\", \"rod\"]\ndamping = [1, 2]", "damping has 2 numbers, not 3"),
        ("kind = \"bushing\"\nbetween = [\"crank\", \"rod\"]\nturning_damping = [1, -2, 1]", "has turning_damping -2"),
    ] {
        wrong.check(text, &added(&format!("[[force]]\nname = \"f\"\n{text}")), message);
    }
}

#[test]
fn wrong_signals_are_named() {
    let mut wrong = Wrong::default();
    for (text, message) in [
        ("kind = \"sin\"", "signal \"s\": unknown kind \"sin\". help: did you mean `sine`?"),
        ("kind = \"sine\"", "signal \"s\" has no `frequency`"),
        ("kind = \"sine\"\nfrequency = \"1 m\"", "signal \"s\" has frequency in [m]"),
        (
            "kind = \"sine\"\nfrequency = 1\nvalue = 3",
            "kind sine, which takes no `value`. help: `value` belongs to equation",
        ),
        ("kind = \"equation\"", "signal \"s\" has no `value`"),
        ("kind = \"equation\"\nvalue = \"\"", "signal \"s\": value: the expression ends too early"),
        ("kind = \"table\"", "signal \"s\" has no `x`. help: a table has x and y, or a file"),
        ("kind = \"table\"\nx = []\ny = []", "signal \"s\" has an empty table"),
        ("kind = \"table\"\nx = [0, 1]\ny = [0]", "signal \"s\" has 2 x and 1 y"),
        ("kind = \"table\"\nx = [0, 1, 1]\ny = [0, 1, 2]", "signal \"s\": x does not ascend: 1 after 1"),
        ("kind = \"table\"\nx = [0, nan]\ny = [0, 1]", "signal \"s\": x is NaN, not a finite number"),
        ("kind = \"table\"\nx = 3\ny = [0]", "signal \"s\": x is a number, not a list"),
        ("kind = \"table\"\nx = [0]\ny = [0]\ncolumns = [0, 1]", "signal \"s\" has `columns` but no `file`"),
        ("kind = \"table\"\nx = [0]\nfile = \"a.csv\"", "signal \"s\" has both `file` and `x`"),
        ("kind = \"table\"\nfile = \"no_such.csv\"", "s.toml:28:8: signal \"s\": cannot read no_such.csv: "),
        ("kind = \"ramp\"", "signal \"s\" has no `to`"),
        ("kind = \"ramp\"\nfrom = 2\nto = 1", "signal \"s\" ends at 1 s, but starts at 2 s"),
        ("kind = \"pulse\"\nperiod = 1\nwidth = 2", "signal \"s\" has width 2 s; its period is 1 s"),
        ("kind = \"pulse\"\nperiod = 0", "signal \"s\" has period 0 s; a period is > 0"),
        ("kind = \"pid\"\nproportional = 1\nsetpoint = 1", "signal \"s\" has no `measured`"),
        ("kind = \"pid\"\nmeasured = \"hinge.angle\"\nsetpoint = 1", "signal \"s\" has no gain"),
        ("kind = \"pid\"\nmeasured = \"hinge.angle\"\nsetpoint = 1\nderivative = 1", "signal \"s\" has no `filter`"),
        ("", "signal \"s\" has no `kind`"),
    ] {
        wrong.check(text, &added(&format!("[[signal]]\nname = \"s\"\n{text}")), message);
    }
    let twice = "[[signal]]\nname = \"s\"\nkind = \"sine\"\nfrequency = 1\n";
    wrong.check("twice", &added(&format!("{twice}{twice}")), "signal \"s\" has the name of a signal");
    wrong.check("t", &added(&twice.replace("\"s\"", "\"t\"")), "signal \"t\" has the name of the time");
    let repeated = format!("{twice}repeat = [{{ index = \"j\", count = 2 }}]");
    wrong.check("repeat", &added(&repeated), "use every index of `repeat` in the name");
    let often = format!("{twice}repeat = [{{ index = \"j\", count = 1e9 }}]");
    wrong.check("often", &added(&often), "signal \"s\" is repeated too often");
}

#[test]
fn wrong_components_are_named() {
    let mut wrong = Wrong::default();
    for (text, message) in [
        ("", "component \"c\" has neither states nor outputs"),
        ("states = {}", "component \"c\" has neither states nor outputs"),
        ("states = { i = 0 }", "s.toml:27:12: component \"c\": state `i` has no rate. help: add der = { i = "),
        (
            "der = { i = 0 }\noutputs = { o = 1 }",
            "component \"c\": der of `i`, which is no state. help: add states = { i = 0 }",
        ),
        ("states = { i = nan }\nder = { i = 1 }", "component \"c\": state i is NaN, not a finite number"),
        ("states = { i = \"x\" }\nder = { i = 1 }", "component \"c\": state i: unknown name `x`"),
        ("states = { i = 0 }\nder = { i = \"1 +\" }", "component \"c\": der: i: the expression ends too early"),
        ("inputs = { i = 1 }\nstates = { i = 0 }\nder = { i = 1 }", "`i` is in `states` and in `inputs`"),
        ("inputs = { t = 1 }\noutputs = { o = 1 }", "component \"c\": `t` is the time"),
        ("inputs = { \"a b\" = 1 }\noutputs = { o = 1 }", "inputs \"a b\" is no name"),
        ("states = 3", "component \"c\": states is a number, not a table"),
        ("outputs = { o = [1] }", "component \"c\": outputs: o is a list, not a number or an equation"),
        ("states = { i = 0 }\nder = { i = 1 }\ncrossing = [{}]", "component \"c\": crossing has no `when`"),
        (
            "states = { i = 0 }\nder = { i = 1 }\ncrossing = [{ when = \"i\", set = {} }]",
            "component \"c\": crossing sets nothing",
        ),
        (
            "states = { i = 0 }\nder = { i = 1 }\ncrossing = [{ when = \"i\", set = { j = 1 } }]",
            "crossing: `j` is no state",
        ),
    ] {
        wrong.check(text, &added(&format!("[[component]]\nname = \"c\"\n{text}")), message);
    }
}

#[test]
fn rates_have_the_order_of_the_states() {
    let scene = with("[[component]]\nname = \"c\"\nstates = { a = 1, b = \"2*k\" }\nder = { b = \"a\", a = \"-b\" }");
    let component = &scene.components[0];
    assert_eq!(component.states, [("a".to_string(), 1.0), ("b".to_string(), 6.0)]);
    let rates: Vec<&str> = component.rates.iter().map(|rate| rate.text.as_str()).collect();
    assert_eq!(rates, ["-b", "a"]);
}

#[test]
fn wrong_sensors_and_changes_are_named() {
    let mut wrong = Wrong::default();
    for (text, message) in [
        (
            "[[sensor]]\nname = \"s\"\nkind = \"pos\"\nbetween = [\"world\", \"rod\"]",
            "unknown kind \"pos\". help: did you mean `pose`?",
        ),
        ("[[sensor]]\nname = \"s\"\nkind = \"pose\"", "sensor \"s\" has no `between`"),
        (
            "[[sensor]]\nname = \"s\"\nkind = \"pose\"\nbetween = [\"world\", \"rod.edn\"]",
            "body \"rod\" has no frame \"edn\". help: did you mean `end`?",
        ),
        (
            "[[sensor]]\nname = \"s\"\nkind = \"pose\"\nbetween = [\"rod\", \"rod\"]",
            "sensor \"s\" is between \"rod\" and itself",
        ),
        (
            "[[sensor]]\nname = \"s\"\nkind = \"contact\"\nbetween = [\"crank\", \"rod.end\"]",
            "is for two bodies, not \"rod.end\"",
        ),
        (
            "[[sensor]]\nname = \"hinge\"\nkind = \"pose\"\nbetween = [\"world\", \"rod\"]",
            "sensor \"hinge\" has the name of a joint",
        ),
        ("[[change]]\nname = \"c\"\nrelease = \"hinge\"", "change \"c\" has neither `at` nor `when`"),
        (
            "[[change]]\nname = \"c\"\nat = 1\nwhen = \"t\"\nrelease = \"hinge\"",
            "change \"c\" has both `at` and `when`",
        ),
        ("[[change]]\nname = \"c\"\nat = 1", "change \"c\" changes nothing. help: one of attach, release"),
        (
            "[[change]]\nname = \"c\"\nat = 1\nlock = \"hinge\"\nrelease = \"hinge\"",
            "change \"c\" has both `release` and `lock`",
        ),
        (
            "[[change]]\nname = \"c\"\nat = 1\nrelease = \"hing\"",
            "change \"c\": unknown joint \"hing\". help: did you mean `hinge`?",
        ),
        (
            "[[change]]\nname = \"c\"\nat = 1\ndelete = \"crnk\"",
            "change \"c\": unknown body \"crnk\". help: did you mean `crank`?",
        ),
        ("[[change]]\nname = \"c\"\nat = 1\ndelete = \"world\"", "change \"c\": unknown body \"world\""),
        ("[[change]]\nname = \"c\"\nat = 1\ncontact_on = [\"rod\"]", "contact_on has 1 names, not two"),
        (
            "[[change]]\nname = \"c\"\nat = 1\ncontact_off = [\"rod\", \"rod\"]",
            "change \"c\" is between \"rod\" and itself",
        ),
        ("[[change]]\nname = \"c\"\nat = -1\nrelease = \"hinge\"", "change \"c\" has at -1 s; at is >= 0"),
        ("[[change]]\nname = \"c\"\nat = nan\nrelease = \"hinge\"", "at is NaN, not a finite number"),
    ] {
        wrong.check(text, &added(text), message);
    }
    let attractor = CRANK.replace("-9.81]", "-9.81]\nattractors = [{ mu = -1 }]");
    wrong.check("mu", &errors(&attractor), "attractor has mu -1 m^3/s^2; mu is > 0");
}

/// A folder with files that is gone at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("tippe-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("can be made");
        for (file, text) in files {
            std::fs::write(folder.join(file), text).expect("can be written");
        }
        Folder(folder)
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }

    fn load(&self, file: &str) -> Result<Scene, String> {
        let errors = |errors: SceneErrors| errors.to_string().replace(&self.path(""), "");
        Scene::load(&self.path(file), &[]).map_err(errors)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn tables_come_from_files() {
    let scene = |file: &str| {
        format!("{CRANK}[[signal]]\nname = \"s\"\nkind = \"table\"\nfile = \"{file}\"\ncolumns = [0, 2]\n")
    };
    let folder = Folder::new(
        "csv",
        &[
            ("s.toml", &scene("good.csv")),
            ("good.csv", "# A curve\ntime, volts, torque\n0.0, 1.5, 0\n\n0.5; 1.6; 2.5\r\n1e0,1.7,5\n"),
            ("wrong.toml", &scene("wrong.csv")),
            ("wrong.csv", "0, 1, 2\n1, 2, x\n"),
            ("short.toml", &scene("short.csv")),
            ("short.csv", "time, a, b\n0, 1\n"),
            ("nan.toml", &scene("nan.csv")),
            ("nan.csv", "0, 1, NaN\n"),
            ("empty.toml", &scene("empty.csv")),
            ("empty.csv", "time, a, b\n"),
        ],
    );
    let signals = folder.load("s.toml").map(|scene| scene.signals);
    let Ok([table]) = signals.as_deref() else { panic!("{signals:?}") };
    assert_eq!(table.numbers("x"), [0.0, 0.5, 1.0]);
    assert_eq!(table.numbers("y"), [0.0, 2.5, 5.0]);
    assert!(table.get("file").is_none() && table.get("columns").is_none());
    let mut wrong = Wrong::default();
    for (file, message) in [
        ("wrong.toml", "wrong.toml:28:8: signal \"s\": wrong.csv, line 2: \"x\" is not a number"),
        ("short.toml", "short.csv, line 2: has no column 2"),
        ("nan.toml", "nan.csv, line 1: NaN is not a finite number"),
        ("empty.toml", "empty.toml:28:8: signal \"s\" has an empty table"),
    ] {
        wrong.check(file, &folder.load(file).err().unwrap_or_default(), message);
    }
}

const ARM: &str = r#"format = 1
[params]
r = "10 cm"
gain = 2
[world]
gravity = [0, 0, -1]
[run]
until = 77
[materials.foam]
density = 100
young = 1e6
poisson = 0.3
[law.soft]
let = { K = "gain*1e3" }
normal = "K*depth*radius/r"
[[pair]]
materials = ["foam", "steel"]
law = "soft"
[[pair]]
bodies = ["base", "group:links"]
ignore = true
[[body]]
name = "base"
fixed = true
shape = { kind = "sphere", radius = "r" }
material = "steel"
[[body]]
name = "link"
shape = { kind = "sphere", radius = "r" }
material = "foam"
position = [1, 0, 0]
velocity = [1, 0, 0]
groups = ["links"]
ignore = ["base"]
frames = [{ name = "tip", position = ["r", 0, 0] }]
[[ignore]]
bodies = ["base", "link"]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["base", "link"]
at = [1, 0, 0]
axis = "x"
motor = { kind = "speed", value = "gain*drive + link.position.x - t" }
[[joint]]
name = "slide"
kind = "prismatic"
bodies = ["world", "link"]
at = [0, 0, 0]
rows = true
[[joint]]
name = "teeth"
kind = "gear"
joints = ["hinge", "slide.position"]
ratio = 2
[[force]]
name = "push"
kind = "applied"
on = "link.tip"
force = [0, 0, "gain*x + motor.torque"]
[[force]]
name = "coil"
kind = "spring"
between = ["world", "link"]
at = [[0, 0, 0], [1, 0, 0]]
law = "gain*stretch"
[[signal]]
name = "drive"
kind = "sine"
frequency = 1
[[component]]
name = "motor"
inputs = { w = "hinge.speed", gain = "gain*drive" }
states = { i = 0 }
der = { i = "gain - w*r" }
outputs = { torque = "i" }
[[sensor]]
name = "eye"
kind = "pose"
between = ["world", "link.tip"]
[[change]]
name = "off"
when = "hinge.angle - gain"
release = "hinge"
[[change]]
name = "pass"
at = 1
contact_off = ["base", "link"]
[[expect]]
value = "time"
above = 0
source = "test"
"#;

const TWO_ARMS: &str = r#"format = 1
[params]
size = "5 cm"
[world]
gravity = [0, 0, -9.81]
[[include]]
file = "arm.toml"
prefix = "left"
params = { r = "2*size", gain = 3 }
position = [0, 0, "1 m"]
orientation = { axis = [0, 0, 1], angle = "90 deg" }
[[include]]
file = "arm.toml"
prefix = "right_{k}"
repeat = [{ index = "k", count = 2 }]
position = ["k*1 m", 0, 0]
[[body]]
name = "bar"
shape = { kind = "sphere", radius = 0.1 }
material = "left.foam"
[[joint]]
name = "weld"
kind = "fixed"
bodies = ["left.link.tip", "bar"]
[[signal]]
name = "sum"
kind = "equation"
value = "left.motor.torque + right_0.drive"
"#;

#[test]
fn scenes_enter_under_a_prefix() {
    let folder = Folder::new("include", &[("arm.toml", ARM), ("two.toml", TWO_ARMS)]);
    let scene = folder.load("two.toml").unwrap_or_else(|errors| panic!("{errors}"));
    let near = |a: Vec3, b: Vec3| assert!((a - b).length() < 1e-15, "{a} {b}");
    assert_eq!((scene.gravity.z, scene.run.until, scene.expects.len()), (-9.81, 1.0, 0));
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(
        names,
        ["left.base", "left.link", "right_0.base", "right_0.link", "right_1.base", "right_1.link", "bar"]
    );
    let link = &scene.bodies[1];
    near(link.position, Vec3::new(0.0, 1.0, 1.0));
    near(link.velocity, Vec3::Y);
    near(link.orientation * Vec3::X, Vec3::Y);
    assert_eq!(link.shapes[0].kind, ShapeKind::Sphere { radius: 0.1 });
    assert_eq!(link.material.as_deref(), Some("left.foam"));
    assert_eq!(
        (link.groups.as_slice(), link.ignore.as_slice()),
        (["left.links".to_string()].as_slice(), ["left.base".to_string()].as_slice())
    );
    assert_eq!(link.places.entity, Place { line: 6, column: 1 });
    assert_eq!(scene.bodies[5].position, Vec3::new(2.0, 0.0, 0.0));
    let hinge = &scene.joints[0];
    assert_eq!((hinge.name.as_str(), hinge.attachments("bodies")[1].body.as_str()), ("left.hinge", "left.link"));
    let text = |part: &Part, key: &str, k: usize| part.equations(key)[k].text.clone();
    near(hinge.vector("at").unwrap_or_default(), Vec3::new(0.0, 1.0, 1.0));
    near(hinge.vector("axis").unwrap_or_default(), Vec3::Y);
    assert_eq!(text(&hinge.parts("motor")[0], "value", 0), "(3.0)*left.drive + left.link.position.x - t");
    assert_eq!(scene.joints[1].between("bodies")[0].body, "world");
    let coupled: Vec<&str> = scene.joints[2].coordinates("joints").iter().map(|of| of.joint.as_str()).collect();
    assert_eq!(coupled, ["left.hinge", "left.slide"]);
    let [push, coil] = [0, 1].map(|k| &scene.forces[k]);
    assert_eq!(push.attachments("on"), [Attachment { body: "left.link".into(), frame: "tip".into() }]);
    assert_eq!(text(push, "force", 2), "(3.0)*x + left.motor.torque");
    let [first, second] = coil.points("at").expect("has two ends");
    near(first, Vec3::Z);
    near(second, Vec3::new(0.0, 1.0, 1.0));
    assert_eq!(text(coil, "law", 0), "(3.0)*stretch");
    let motor = &scene.components[0];
    assert_eq!(
        (motor.inputs[0].text.as_str(), motor.inputs[1].text.as_str()),
        ("left.hinge.speed", "(3.0)*left.drive")
    );
    assert_eq!(motor.rates[0].text, "gain - w*(0.1)");
    assert_eq!(
        (scene.sensors[0].attachments("between")[1].body.as_str(), scene.sensors[0].name.as_str()),
        ("left.link", "left.eye")
    );
    assert_eq!(scene.changes[0].action, Action::Release("left.hinge".into()));
    assert_eq!(scene.changes[0].when.as_ref().map(|when| when.text.as_str()), Some("left.hinge.angle - (3.0)"));
    assert_eq!(scene.pairs[0].between, Between::Materials("left.foam".into(), "steel".into()));
    assert_eq!(scene.pairs[0].contact.law, Some(LawChoice::Custom("left.soft".into())));
    assert_eq!(scene.pairs[1].between, Between::Bodies("left.base".into(), "group:left.links".into()));
    assert_eq!(
        (scene.laws[0].lets[0].text.as_str(), scene.laws[0].normal.text.as_str()),
        ("(3.0)*1e3", "K*depth*radius/(0.1)")
    );
    scene.laws[0].compile(&scene).expect("compiles");
    assert_eq!(scene.ignores[0].first, "left.base");
    assert_eq!(
        scene.joints.last().map(|joint| joint.between("bodies")[0].clone()),
        Some(Attachment { body: "left.link".into(), frame: "tip".into() })
    );
    let same = |scene: Scene| {
        let back = Scene::parse(&scene.file, &scene.to_toml(), &[]);
        assert_eq!(back.map_err(|errors| errors.to_string()), Ok(scene));
    };
    same(scene);
    // Turned by any angle the scene is written back to the last bit.
    for degrees in 1..60 {
        let turned = TWO_ARMS
            .replace("axis = [0, 0, 1], angle = \"90 deg\"", &format!("axis = [1, 2, 3], angle = \"{degrees} deg\""));
        let path = folder.path("turned.toml");
        std::fs::write(&path, turned).expect("can be written");
        same(folder.load("turned.toml").unwrap_or_else(|errors| panic!("{errors}")));
    }
}

#[test]
fn includes_nest_and_come_from_the_gallery() {
    let part = "format = 1\n[world]\ngravity = [0, 0, 0]\n[[include]]\nprefix = \"in\"\nfile = ";
    let folder = Folder::new(
        "nest",
        &[
            ("outer.toml", &format!("{part}\"middle.toml\"\n")),
            ("middle.toml", &format!("{part}\"crank.toml\"\n")),
            ("crank.toml", CRANK),
            ("gallery.toml", &format!("{part}\"bouncing_ball\"\n")),
        ],
    );
    let scene = folder.load("outer.toml").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scene.joints[1].between("bodies")[1], Attachment { body: "in.in.rod".into(), frame: "pin".into() });
    let scene = folder.load("gallery.toml").unwrap_or_else(|errors| panic!("{errors}"));
    assert!(scene.bodies.iter().all(|body| body.name.starts_with("in.")), "{:?}", scene.bodies);
}

#[test]
fn wrong_includes_are_named() {
    let include =
        |text: &str| format!("format = 1\n[world]\ngravity = [0, 0, 0]\n[[include]]\nprefix = \"a\"\n{text}\n");
    let folder = Folder::new(
        "wrong-include",
        &[
            ("arm.toml", ARM),
            ("wrong.toml", &CRANK.replace("\"revolute\"", "\"revolut\"")),
            ("a.toml", &include("file = \"b.toml\"")),
            ("b.toml", &include("file = \"a.toml\"")),
            ("world.toml", &CRANK.replace("at = [0, 0, 1]", "")),
        ],
    );
    let mut wrong = Wrong::default();
    for (text, message) in [
        ("file = \"no.toml\"", "x.toml:6:8: include \"a\": there is no file no.toml. help: "),
        ("file = \"x.toml\"", "x.toml:6:8: include \"a\": x.toml includes itself"),
        ("file = \"a.toml\"", "b.toml:6:8: include \"a\": a.toml includes itself"),
        ("file = \"wrong.toml\"", "x.toml:4:1: include \"a\": wrong.toml cannot be included"),
        ("file = \"wrong.toml\"", "wrong.toml:18:8: joint \"hinge\": unknown kind \"revolut\""),
        (
            "file = \"arm.toml\"\nparams = { R = 1 }",
            "x.toml:7:10: include \"a\": params: unknown parameter `R`. help: did you mean `r`?",
        ),
        ("file = \"arm.toml\"\nparams = { r = \"q\" }", "x.toml:7:17: include \"a\": params: r: unknown name `q`"),
        ("file = \"arm.toml\"\nparams = { r = \"1 kg\" }", "has radius in [kg]; a radius has the unit [m]"),
        (
            "file = \"world.toml\"\nposition = [1, 0, 0]",
            "its joint \"hinge\" holds to the world's own frame. help: give it `at`",
        ),
        ("", "[[include]] has no `file`"),
        (
            "file = \"arm.toml\"\n[[include]]\nfile = \"arm.toml\"\nprefix = \"a\"",
            "two bodies have the name \"a.base\"",
        ),
        ("file = \"arm.toml\"\n[[include]]\nfile = \"arm.toml\"\nprefix = \"a b\"", "prefix \"a b\" is no name"),
    ] {
        let path = folder.path("x.toml");
        std::fs::write(&path, include(text)).expect("can be written");
        wrong.check(text, &folder.load("x.toml").err().unwrap_or_default(), message);
    }
    let many =
        include("file = \"world.toml\"").replace("\"a\"", "\"a_{k}\"\nrepeat = [{ index = \"k\", count = 1001 }]");
    std::fs::write(folder.path("x.toml"), many).expect("can be written");
    wrong.check("many", &folder.load("x.toml").err().unwrap_or_default(), "a scene includes at most 1000 files in all");
}

#[test]
fn mutated_mechanisms_never_panic() {
    for seed in 0..4_000 {
        survives("m.toml", &mutate(CRANK, seed));
        survives("m.toml", &mutate(ARM, seed));
    }
}
