//! Solids built step by step, meshes of shapes, their files.

use tippe::scene::{Scene, ShapeKind};
use tippe_geometry::file::{Format, write};

/// Every key of solids and meshes.
const SOLIDS: &str = include_str!("../data/solids.toml");

#[track_caller]
fn solids() -> Scene {
    Scene::parse("solids.toml", SOLIDS, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn solids_are_built_from_parameters() {
    let scene = solids();
    let volume = |scene: &Scene, name: &str| {
        scene.solids.iter().find(|solid| solid.name == name).map(|solid| solid.mesh.volume()).expect(name)
    };
    // A disc of 16 corners without 4 slots that reach from r/2 to the rim.
    let disc = 0.5 * 16.0 * libm::sin(2.0 * std::f64::consts::PI / 16.0) * 0.02 * 0.02 * 0.005;
    assert!((volume(&scene, "disc") - disc).abs() < 1e-18);
    let cut = volume(&scene, "disc") - volume(&scene, "wheel");
    assert!(cut > 4.0 * 0.0098 * 0.002 * 0.005 && cut < 4.0 * 0.01 * 0.002 * 0.005, "{cut}");
    let six = Scene::parse("solids.toml", SOLIDS, &[("slots".into(), "6".into())]).expect("reads");
    assert!((volume(&six, "disc") - volume(&six, "wheel")) > 1.4 * cut);
    assert!((volume(&scene, "bracket") - 0.5 * (6.0 - 0.125)).abs() < 1e-12);
    assert!((volume(&scene, "traced") - (35e-6 - 0.5e-6) * 2e-3).abs() < 1e-15);
    assert!((volume(&scene, "corner") - 1e-6 / 6.0).abs() < 1e-18);
    assert!(scene.solids.iter().any(|solid| solid.name == "bead_1"));
    let twice =
        Scene::parse("solids.toml", &SOLIDS.replacen("teeth = 8", "teeth = 8\nscale = 2", 1), &[]).expect("reads");
    assert!((volume(&twice, "pinion") / volume(&scene, "pinion") - 8.0).abs() < 1e-12);
}

#[test]
fn solids_are_written_back() {
    let scene = solids();
    for (file, text) in [("back.toml", scene.to_toml()), ("back.json", scene.to_json())] {
        let read = Scene::parse(file, &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(Scene { file: scene.file.clone(), ..read }, scene);
    }
}

#[test]
fn meshes_have_the_mass_of_their_solid() {
    let scene = solids();
    let model = tippe::Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
    let steel = tippe::material::MATERIALS.iter().find(|m| m.name == "steel").expect("built in").density;
    let wheel = scene.solids.iter().find(|solid| solid.name == "wheel").expect("is there").mesh.volume();
    let mass = |name: &str| model.bodies.iter().find(|body| body.name == name).expect(name).mass;
    assert!((mass("wheel") / (steel * wheel) - 1.0).abs() < 1e-12, "{}", mass("wheel"));
    // A hull that touches in its place changes nothing, and is said.
    assert!((mass("hulled") / (8.0 * mass("wheel")) - 1.0).abs() < 1e-12);
    assert!(model.warnings.iter().any(|w| w.contains("convex hull") && w.contains("hulled")), "{:?}", model.warnings);
    // Nor do pieces.
    assert!((mass("apart") / mass("wheel") - 1.0).abs() < 1e-12);
    let apart = model.bodies.iter().find(|body| body.name == "apart").expect("is there");
    let pieces = apart.colliders.len();
    assert!((4..=12).contains(&pieces), "{pieces}");
    let said = format!("body \"apart\": {pieces} convex pieces touch instead of its mesh");
    assert!(model.warnings.iter().any(|w| w.starts_with(&said)), "{:?}", model.warnings);
}

#[test]
fn what_is_wrong_with_a_solid_is_said_where_it_stands() {
    let said = |from: &str, to: &str| {
        assert!(SOLIDS.contains(from), "{from}");
        match Scene::parse("s.toml", &SOLIDS.replacen(from, to, 1), &[]) {
            Ok(_) => "no error".into(),
            Err(errors) => errors.to_string(),
        }
    };
    let has = |text: String, part: &str| assert!(text.contains(part), "{text}");
    has(said("of = [\"disc\", \"slots\"]", "of = [\"disc\", \"slot\"]"), "there is no solid \"slot\" above it");
    has(said("of = [\"disc\", \"slots\"]", "of = [\"disc\", \"slots\"]\nradius = 1"), "takes no `radius`");
    has(said("size = [\"r\", \"2 mm\", \"6 mm\"]", "size = [1, 1, 1]"), "nothing is left of the difference");
    has(said("[[0, 0], [4, 0], [4, 1]", "[[0, 0], [4, 0], [-1, 1]"), "crosses");
    has(said("name = \"peg\"", "name = \"disc\""), "two solids have the name \"disc\"");
    has(said("teeth = 8", ""), "has no `teeth`");
    has(said("addendum = 0.9", "addendum = 9"), "pointed");
    has(said("[1, 2, 3]]\nweld", "[1, 2, 4]]\nweld"), "no corner 4");
    has(said("pieces = 12", "pieces = 0"), "pieces is a whole number from 1 to 4096");
    has(said("pieces = 12", "pieces = 5000"), "pieces 5000; pieces is a whole number from 1 to 4096");
    has(said("pieces = 12", "pieces = 1e9"), "pieces is a whole number from 1 to 4096");
    has(said("around = \"slots\"", "around = 1e9"), "around is a whole number from 1 to 10000");
    has(said("segments = 16", "segments = 1e9"), "segments is a whole number from 3 to 10000");
    has(said("segments = 16", "segments = 2"), "segments is a whole number from 3 to 10000");
    has(said("teeth = 8", "teeth = 8\nscale = [2, 1]"), "scale");
    has(said("solid = \"wheel\" }", "solid = \"wheel\", weld = 1 }"), "come from `solid`, which takes no `weld`");
    has(said("teeth = 8", "teeth = 1e9"), "teeth is a whole number from 1 to 10000");
    has(said("pieces = 12", "pieces = 12, hull = true"), "both its hull and pieces of it are to touch");
    has(said(", [1, 2, 3]], weld = \"1 um\"", "], weld = \"1 um\", pieces = 3"), "not closed: 3 edges");
    has(said(", [1, 2, 3]]\nweld", "]\nweld"), "not closed: 3 edges");
    has(said("step = [0, \"20 mm\", 0]", ""), "has `along` but no `step`");
    has(said("unit = \"mm\"", ""), "SVG files have no unit");
    has(said("unit = \"mm\"", "unit = \"yard\""), "unknown unit \"yard\"");
    has(said("solid = \"wheel\" }", "solid = \"weel\" }"), "there is no solid \"weel\"");
    has(said("solid = \"wheel\" }", "solid = \"wheel\", file = \"a.stl\" }"), "more than one of");
    has(said("solid = \"wheel\" }", "file = \"none.stl\", unit = \"mm\" }"), "none.stl");
    has(said("solid = \"wheel\" }", "file = \"part.step\" }"), "FreeCAD");
    assert!(
        said("kind = \"box\"", "kind = \"boxx\"").contains("s.toml:19:8:"),
        "{}",
        said("kind = \"box\"", "kind = \"boxx\"")
    );
}

#[test]
fn mesh_files_are_read_from_the_folder_of_the_scene() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = solids();
    let corner = &scene.solids.iter().find(|solid| solid.name == "corner").expect("is there").mesh;
    let mut surface = corner.surface().clone();
    std::fs::write(folder.path().join("good.stl"), write(&surface, Format::Stl, 1e-3).expect("writes"))
        .expect("is there");
    // Inside out: repaired, and said.
    surface = surface.turned();
    std::fs::write(folder.path().join("turned.obj"), write(&surface, Format::Obj, 1.0).expect("writes"))
        .expect("is there");
    // A corner moved to one near by: said too. One that is equal is not.
    let near = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1.00000001 0 0\nv 0 0 1\nf 1 3 2\nf 1 5 4\nf 1 6 3\nf 2 3 4\n";
    std::fs::write(folder.path().join("near.obj"), near).expect("is there");
    std::fs::write(folder.path().join("shared.obj"), near.replace("1.00000001", "1")).expect("is there");
    let part = |file: &str| {
        format!(
            "format = 1\n[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"s\"\nmaterial = \"steel\"\ncollide = false\n\
             shape = {{ kind = \"mesh\", file = \"{file}\", unit = \"m\" }}\n"
        )
    };
    for (file, said) in [("near.obj", Some("1 corner welded")), ("shared.obj", None)] {
        let scene = Scene::parse(&folder.path().join("weld.toml").to_string_lossy(), &part(file), &[]);
        let notes = scene.unwrap_or_else(|errors| panic!("{errors}")).notes;
        assert!(said.map_or(notes.is_empty(), |said| notes.iter().any(|note| note.contains(said))), "{notes:?}");
    }
    // What bounds no solid names the file, and what to do.
    for (file, text, said) in [
        ("open.obj", near.replace("f 2 3 4\n", ""), "\"open.obj\": not closed: 3 edges"),
        ("flat.obj", near.replace("v 0 0 1", "v 0.2 0.2 0"), "\"flat.obj\": flat: its 4 triangles"),
        (
            "far.obj",
            near.replace("v 0 1 0", "v 0 1e35 0"),
            "\"far.obj\": corner 2 has the coordinate 1e35 m; they end at 1e9 m",
        ),
        ("none.obj", "v 0 0 0\n".into(), "there are no triangles in \"none.obj\""),
        ("bad.obj", "f 1 2 3\n".into(), "bad.obj: OBJ: line 1: corner 1 of 0"),
    ] {
        std::fs::write(folder.path().join(file), text).expect("is there");
        let errors = Scene::parse(&folder.path().join("bad.toml").to_string_lossy(), &part(file), &[]).expect_err(file);
        assert!(errors.to_string().contains(said), "{errors}");
    }
    let text = "format = 1\n[world]\ngravity = [0, 0, 0]\n\
        [[solid]]\nname = \"s\"\nkind = \"mesh\"\nfile = \"good.stl\"\nunit = \"mm\"\n\
        [[body]]\nname = \"a\"\nmaterial = \"steel\"\ncollide = false\nshape = { kind = \"mesh\", solid = \"s\" }\n\
        [[body]]\nname = \"b\"\nmaterial = \"steel\"\ncollide = false\n\
        shape = { kind = \"mesh\", file = \"turned.obj\", unit = \"m\" }\n";
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, text).expect("is there");
    let scene = Scene::load(&path.to_string_lossy(), &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(scene.notes.iter().any(|note| note.contains("inside out")), "{:?}", scene.notes);
    let model = tippe::Model::compile(&scene).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(model.warnings.iter().any(|note| note.contains("inside out")));
    for body in &model.bodies {
        assert!((body.mass / (model.bodies[0].mass) - 1.0).abs() < 1e-5);
    }
    // What is written needs no file.
    let alone = Scene::parse("elsewhere.toml", &scene.to_toml(), &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(alone.bodies[1].shapes, scene.bodies[1].shapes);
    // A part under a prefix keeps its solids.
    let outer = "format = 1\n[world]\ngravity = [0, 0, 0]\n[[include]]\nfile = \"scene.toml\"\nprefix = \"left\"\n";
    let outer = Scene::parse(&folder.path().join("outer.toml").to_string_lossy(), outer, &[]);
    let outer = outer.unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(outer.solids[0].name, "left.s");
    assert!(matches!(&outer.bodies[0].shapes[0].kind, ShapeKind::Mesh { solid: Some(name), .. } if name == "left.s"));
}

/// A solid that cannot be made is said once, not again by all that use it.
#[test]
fn a_failed_solid_is_said_once() {
    let text = "format = 1\n[world]\ngravity = [0, 0, 0]\n[[solid]]\nname = \"disc_{k}\"\nrepeat = [{ index = \"k\", count = 1 }]\n\
        kind = \"cylinder\"\nradius = 1e12\nlength = 1\n[[solid]]\nname = \"both\"\nkind = \"union\"\nof = [\"disc_0\"]\n\
        [[body]]\nname = \"b\"\nmaterial = \"steel\"\nshape = { kind = \"mesh\", solid = \"both\" }\n";
    let errors = Scene::parse("s.toml", text, &[]).expect_err("its radius is too large").to_string();
    assert!(errors.contains("solid \"disc_0\"") && !errors.contains("there is no solid"), "{errors}");
    assert_eq!(errors.matches("s.toml:").count(), 1, "{errors}");
}
