//! Vehicles, tyres and soft ground that are wrong: each is named, with a place and a remedy.

use super::*;

/// The smallest car: a chassis on two axles, rolling.
const CART: &str = r#"format = 1
[world]
gravity = [0, 0, -9.80665]
[[vehicle]]
name = "cart"
[vehicle.chassis]
mass = 500
inertia = [100, 100, 100]
center_of_mass = [0, 0, 0.5]
[vehicle.tyre]
data = "PROPERTY_FILE_FORMAT = 'LINEAR'"
[[vehicle.axle]]
name = "front"
x = 1
track = 1.4
radius = 0.3
[[vehicle.axle]]
name = "rear"
x = -1
track = 1.4
radius = 0.3
"#;

/// The cart with what drives its rear wheels.
fn driven(parts: &str) -> String {
    format!("{CART}from = \"final\"\n{parts}\n")
}

const ENGINE: &str = r#"[[vehicle.part]]
name = "engine"
kind = "engine"
full_load = [[80, 120], [600, 150]]
[[vehicle.part]]
name = "gearbox"
kind = "gearbox"
from = "engine"
ratios = [3, 2]
[[vehicle.part]]
name = "final"
kind = "differential"
from = "gearbox"
ratio = 4
"#;

#[test]
fn a_driven_cart_reads() {
    assert_eq!(errors(CART), "no error");
    assert_eq!(errors(&driven(ENGINE)), "no error");
}

#[test]
fn drivelines_that_cannot_be() {
    for (from, to, says) in [
        (
            "[[80, 120], [600, 150]]",
            "[[600, 120], [80, 150]]",
            "goes from 600 to 80 in its first column, which has to rise",
        ),
        ("[[80, 120], [600, 150]]", "[]", "no points in full_load"),
        ("ratios = [3, 2]", "ratios = [3, 0]", "gearbox\" has a ratio of zero. help: a ratio is the rate of the input"),
        ("ratio = 4", "ratio = 0", "ratio"),
        (
            "from = \"engine\"",
            "from = \"final\"",
            "is driven by itself: parts in a circle. help: a driveline begins at an engine",
        ),
        ("from = \"engine\"", "from = \"motor\"", "is driven by \"motor\", which is no part"),
        ("from = \"engine\"", "", "is driven by nothing. help: say from which part"),
        ("kind = \"gearbox\"", "kind = \"gear_box\"", "kind \"gear_box\" is unknown"),
    ] {
        assert!(ENGINE.contains(from), "{from}");
        let told = errors(&driven(&ENGINE.replacen(from, to, 1)));
        assert!(told.contains(says), "{to}: {told}");
    }
    let lonely = format!("{CART}{ENGINE}");
    let told = errors(&lonely);
    assert!(told.contains("final is a differential with 0 outputs. help: two wheels"), "{told}");
}

#[test]
fn wheels_that_meet_no_ground() {
    let bare = CART.replace("[vehicle.tyre]\ndata = \"PROPERTY_FILE_FORMAT = 'LINEAR'\"\n", "");
    let told = errors(&bare);
    assert!(told.contains("has no tyre, and meets no ground. help: add tyre = "), "{told}");
    let none = &CART[..CART.find("[[vehicle.axle]]").unwrap_or(0)];
    let told = errors(none);
    assert!(told.contains("has no wheel and no track. help: add [[vehicle.axle]]"), "{told}");
    let soft = format!("{}[vehicle.soft_ground]\nsoil = \"dry_sand\"\n", bare);
    assert_eq!(errors(&soft), "no error");
    let told = errors(&CART.replace("'LINEAR'", "'LINEAL'"));
    assert!(told.contains("LINEAL"), "{told}");
    let told = errors(&CART.replace("name = \"cart\"", "name = \"cart\"\nvehicle = \"sedann\""));
    assert!(told.contains("there is no file or template \"sedann\". help: did you mean"), "{told}");
}

#[test]
fn soft_ground_that_cannot_be() {
    let base = r#"format = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "wheel"
mass = 100
inertia = [1, 2, 1]
[[force]]
name = "sand"
kind = "soft_ground"
"#;
    let wheel = "wheels = [{ on = \"wheel\", radius = 0.4, width = 0.25 }]\n";
    assert_eq!(errors(&format!("{base}{wheel}soil = \"dry_sand\"\nlow = [0, 0]\nhigh = [2, 1]")), "no error");
    assert_eq!(errors(&format!("{base}{wheel}law = \"snow\"\ndeepest = 0.2\nhardness = 6e3")), "no error");
    for (keys, says) in [
        ("soil = \"dry_snad\"", "there is no soil \"dry_snad\""),
        ("soil = \"dry_sand\"\nkphi = 1e6", "has both `soil` and `kphi`"),
        ("soil = \"dry_sand\"\nfriction_angle = 0.5", "has both `soil` and `friction_angle`"),
        ("kc = 1e3", "has no `kphi`. help: or soil ="),
        ("law = \"muskeg\"", "has no `peat`"),
        ("law = \"reece\"\nfrictional = 1e5", "has no `n`"),
        ("kphi = 1e6\nn = 0", "n"),
        ("kphi = 1e6\nn = 1\nfriction_angle = \"95 deg\"", "is 90 degrees or more"),
        ("soil = \"dry_sand\"\nlow = [0, 0]", "one corner of its grid"),
        ("soil = \"dry_sand\"\nlow = [0, 0]\nhigh = [0, 1]", "whose high corner is not above"),
        ("soil = \"dry_sand\"\nlow = [0, 0]\nhigh = [1e3, 1e3]\ncell = 1e-3", "nodes of ruts. help: 5e6 at most"),
    ] {
        let told = errors(&format!("{base}{wheel}{keys}"));
        assert!(told.contains(says), "{keys}: {told}");
    }
    let told = errors(&format!("{base}soil = \"dry_sand\""));
    assert!(told.contains("has no `wheels`. help: such as wheels = "), "{told}");
    let told = errors(&format!("{base}soil = \"dry_sand\"\nwheels = [{{ on = \"wheel\", radius = -1, width = 0.2 }}]"));
    assert!(told.contains("radius"), "{told}");
    let told = errors(&format!("{base}soil = \"dry_sand\"\nwheels = []"));
    assert!(told.contains("has 0 wheels"), "{told}");
}

/// A hull on one track.
const CRAWLER: &str = r#"format = 1
[world]
gravity = [0, 0, -9.80665]
[[body]]
name = "road"
fixed = true
material = "concrete"
shape = { kind = "half_space" }
[[vehicle]]
name = "crawler"
ground = "road"
[vehicle.chassis]
mass = 500
inertia = [100, 100, 100]
center_of_mass = [0, 0, 0.5]
[[vehicle.track]]
name = "track"
at = [0, 0, 0]
length = 1.8
radius = 0.34
friction = 0.7
shoes = { count = 50, mass = 18, sprocket = [-1.35, 0.46], idler = [1.35, 0.46], wheel_radius = 0.2 }
"#;

#[test]
fn tracks_that_cannot_be() {
    assert_eq!(errors(CRAWLER), "no error");
    for (from, to, says) in [
        ("ground = \"road\"\n", "", "has shoes, and no ground with a shape. help: such as ground = \"road\""),
        ("friction = 0.7\n", "", "has shoes, and no `friction`"),
        ("friction = 0.7", "friction = 0.7\npatches = 5", "has shoes, and no `patches`. help: shoes touch bodies"),
        ("count = 50", "count = 12", "do not bend around a wheel of 0.2 m. help: more shoes"),
        ("idler = [1.35, 0.46]", "idler = [-1.35, 0.46]", "no line goes around its wheels"),
        (", wheel_radius = 0.2", "", "wheel_radius"),
        ("shoes = {", "soil = \"dry_sand\"\nshoes = {", "has shoes, and no `soil`"),
    ] {
        assert!(CRAWLER.contains(from), "{from}");
        let told = errors(&CRAWLER.replacen(from, to, 1));
        assert!(told.contains(says), "{to}: {told}");
    }
    let bare = &CRAWLER[..CRAWLER.find("shoes = {").unwrap_or(0)];
    assert_eq!(errors(bare), "no error");
    for (from, to, says) in [
        ("friction = 0.7", "", "has no `friction`. help: such as friction = 0.8; or soil"),
        ("friction = 0.7", "soil = \"dry_sand\"", "has no `width`. help: such as width = 0.5"),
        (
            "friction = 0.7",
            "friction = 0.7\nwidth = 0.5\nsoil = \"dry_sand\"",
            "stands on soft ground and has `friction`",
        ),
        ("friction = 0.7", "width = 0.5\nsoil = \"dry_snad\"", "there is no soil \"dry_snad\""),
        ("friction = 0.7", "friction = 0.7\npatches = 41", "has 41 patches"),
    ] {
        let told = errors(&bare.replacen(from, to, 1));
        assert!(told.contains(says), "{to}: {told}");
    }
}

#[test]
fn kingpins_that_cannot_be() {
    let leans = CART.replacen("radius = 0.3", "radius = 0.3\ncaster = \"50 deg\"", 1);
    assert!(errors(&leans).contains("its kingpin leans by 45 degrees or more"), "{}", errors(&leans));
}
