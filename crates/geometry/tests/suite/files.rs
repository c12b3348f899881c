//! Mesh files: round trips, hand-written files, named errors, and tens of thousands of damaged files that must be read or
//! refused, never panic. (Fuzzing by coverage needs a nightly compiler; this seeded mutation runs with every test.)

use crate::random::Random;
use std::f64::consts::PI;
use tippe_geometry::file::{FileError, Format, read, read_file, unit, write};
use tippe_geometry::{Mesh, Shape, Solid, TriMesh, Vec3};

fn part() -> TriMesh {
    let disc = Solid::cylinder(0.04, 0.01, 24);
    let slot = Solid::cuboid(Vec3::new(0.03, 0.006, 0.02)).at(Vec3::X * 0.035);
    disc.minus(slot.around(3)).mesh().unwrap().into()
}

/// Reads, repairs, compares the volume [m^3].
#[track_caller]
fn volume(bytes: &[u8], format: Format, unit: Option<f64>, exact: f64, within: f64) -> Mesh {
    let contents = read(bytes, format, unit).unwrap_or_else(|e| panic!("{e}"));
    let (mesh, _) = Mesh::repaired(&contents.surface, 1e-7 * contents.surface.size()).unwrap_or_else(|e| panic!("{e}"));
    assert!((mesh.volume() / exact - 1.0).abs() < within, "{} {exact}", mesh.volume());
    mesh
}

#[test]
fn round_trips() {
    let part = part();
    let exact = part.volume();
    for format in [Format::Stl, Format::Obj, Format::Glb] {
        for u in ["m", "mm", "in"].map(|u| unit(u).unwrap()) {
            let bytes = write(&part, format, u).unwrap();
            let u = (format != Format::Glb).then_some(u);
            let mesh = volume(&bytes, format, u, exact, 1e-5);
            assert_eq!(mesh.triangles().len(), part.triangles.len());
            // Axes come back too.
            let (a, b) = (Shape::Mesh(mesh.into()), Shape::Mesh(Mesh::new(part.clone()).unwrap().into()));
            for d in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, Vec3::new(1.0, 2.0, 3.0)] {
                assert!((a.support(d).dot(d) - b.support(d).dot(d)).abs() < 1e-7);
            }
        }
    }
    // OBJ keeps every bit.
    let again = read(&write(&part, Format::Obj, 1.0).unwrap(), Format::Obj, Some(1.0)).unwrap();
    assert_eq!(again.surface, part);
    // Through the file system.
    let path = std::env::temp_dir().join(format!("tippe-part-{}.stl", std::process::id()));
    std::fs::write(&path, write(&part, Format::Stl, 1e-3).unwrap()).unwrap();
    let contents = read_file(&path, unit("mm")).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(contents.surface.triangles.len(), part.triangles.len());
    assert!(matches!(read_file(&path, Some(1.0)), Err(FileError::Io { .. })));
}

fn ascii_stl() -> String {
    let cube = Shape::Box { half_extents: Vec3::splat(0.5), smoothing: 0.0 }.surface_mesh(3);
    let mut text = String::from("solid cube by hand\n");
    for t in &cube.triangles {
        text += "  facet normal 0 0 0\n    outer loop\n";
        for v in t.map(|i| cube.vertices[i as usize]) {
            text += &format!("      vertex {:e} {} {}\n", v.x, v.y, v.z);
        }
        text += "    endloop\n  endfacet\n";
    }
    text + "endsolid\n"
}

/// A cube of quadrilaterals and an L-shaped face, indices from the end too.
const OBJ: &str =
    "# a prism over an L\no part\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1
v 1 1 1\nv 1 2 1\nv 0 2 1\nvn 0 0 1\nusemtl steel\nf 6 5 4 3 2 1\nf 7//1 8//1 9//1 10//1 11//1 12//1
f 1/1 2/2 8/3 7/4\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf -7 -12 -6 -1\nl 1 2\n";

/// A tetrahedron in a buffer inside the file, turned and stretched by its nodes.
fn gltf() -> String {
    let mut bytes = Vec::new();
    for x in [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] {
        bytes.extend(x.to_le_bytes());
    }
    for i in [0u16, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3] {
        bytes.extend(i.to_le_bytes());
    }
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let data: String = bytes
        .chunks(3)
        .flat_map(|c| {
            let x = (c[0] as usize) << 16 | (c[1] as usize) << 8 | c[2] as usize;
            [x >> 18, x >> 12 & 63, x >> 6 & 63, x & 63].map(|k| letters[k] as char)
        })
        .collect();
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
"nodes":[{{"children":[1],"translation":[5,0,0],"rotation":[0,0.7071067811865476,0,0.7071067811865476]}},{{"mesh":0,"scale":[2,3,-1]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}},{{"attributes":{{"POSITION":0}},"mode":0}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},{{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":24}}],
"buffers":[{{"byteLength":72,"uri":"data:application/octet-stream;base64,{data}"}}]}}"#
    )
}

/// A tetrahedron of faces, another one as polyface, a plate with two round ends, a circle, an open line.
fn dxf(units: Option<u32>) -> String {
    let mut pairs: Vec<(i32, String)> = Vec::new();
    let mut put = |code: i32, value: &str| pairs.push((code, value.into()));
    if let Some(units) = units {
        put(0, "SECTION");
        put(2, "HEADER");
        put(9, "$INSUNITS");
        put(70, &units.to_string());
        put(0, "ENDSEC");
    }
    put(0, "SECTION");
    put(2, "ENTITIES");
    let corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    for f in faces {
        put(0, "3DFACE");
        put(8, "layer");
        for (k, i) in [f[0], f[1], f[2], f[2]].into_iter().enumerate() {
            for (axis, x) in corners[i].into_iter().enumerate() {
                put(10 * (axis as i32 + 1) + k as i32, &x.to_string());
            }
        }
    }
    put(0, "POLYLINE");
    put(70, "64");
    for c in corners {
        put(0, "VERTEX");
        put(70, "192");
        put(10, &(c[0] + 5).to_string());
        put(20, &c[1].to_string());
        put(30, &c[2].to_string());
    }
    for f in faces {
        put(0, "VERTEX");
        put(70, "128");
        for (k, i) in f.into_iter().enumerate() {
            put(71 + k as i32, &(-(i as i32) - 1).to_string());
        }
    }
    put(0, "SEQEND");
    put(0, "LWPOLYLINE");
    put(90, "4");
    put(70, "1");
    for (x, y, bulge) in [(0, 0, 0), (4, 0, 1), (4, 2, 0), (0, 2, 1)] {
        put(10, &x.to_string());
        put(20, &y.to_string());
        put(42, &bulge.to_string());
    }
    put(0, "CIRCLE");
    put(10, "1");
    put(20, "1");
    put(40, "0.5");
    put(0, "LINE");
    put(10, "0");
    put(0, "ENDSEC");
    put(0, "EOF");
    pairs.iter().map(|(code, value)| format!("{code:>3}\n{value}\n")).collect()
}

const SVG: &str = "<?xml version='1.0'?>\n<svg viewBox='0 0 10 10'><!-- <path d='M bad'/> -->
<path style=\"fill:none\" d=\"M1,1 h4v2 H1 Z m6 0 l2-0 .0 2z\"/>
<path d='M0 0 A 1 1 0 0 1 2 0 A1,1,0,01,0,0 z M 10 0 C 10 1 11 1 11 0 S 12 -1 12 0 Q 11 3 10 0 T 10 0 Z'/>
<line x2='3'/></svg>";

fn area(outline: &[[f64; 2]]) -> f64 {
    let n = outline.len();
    let twice: f64 =
        (0..n).map(|k| outline[k][0] * outline[(k + 1) % n][1] - outline[k][1] * outline[(k + 1) % n][0]).sum();
    0.5 * twice
}

#[test]
fn files_written_by_hand() {
    volume(ascii_stl().as_bytes(), Format::Stl, Some(1e-3), 1e-9, 1e-12);
    volume(OBJ.as_bytes(), Format::Obj, Some(1.0), 3.0, 1e-12);
    assert_eq!(read(OBJ.as_bytes(), Format::Obj, Some(1.0)).unwrap().skipped["l"], 1);
    // Volume 1/6 times 2, 3 and 1; the highest point is 3 up, at the shift of the outer node.
    let mesh = volume(gltf().as_bytes(), Format::Gltf, None, 1.0, 1e-6);
    let top = mesh.vertices()[mesh.farthest_vertex(Vec3::Z) as usize];
    assert!((top - Vec3::new(5.0, 0.0, 3.0)).length() < 1e-6, "{top}");
    assert_eq!(read(gltf().as_bytes(), Format::Gltf, None).unwrap().skipped["points or lines"], 1);

    let text = dxf(Some(4));
    let mesh = volume(text.as_bytes(), Format::Dxf, None, 2.0 / 6.0 * 1e-9, 1e-12);
    assert_eq!(mesh.parts(), 2);
    let contents = read(text.as_bytes(), Format::Dxf, None).unwrap();
    assert_eq!(contents.skipped["LINE"], 1);
    assert_eq!(contents.outlines.len(), 2);
    let (plate, hole) = (area(&contents.outlines[0]), area(&contents.outlines[1]));
    assert!((plate / ((8.0 + PI) * 1e-6) - 1.0).abs() < 1e-3, "{plate}");
    assert!((hole / (0.25 * PI * 1e-6) - 1.0).abs() < 2e-3, "{hole}");
    let solid =
        Solid::Prism { outline: contents.outlines[0].clone(), holes: vec![contents.outlines[1].clone()], length: 1e-3 };
    assert!((solid.mesh().unwrap().volume() / ((plate - hole) * 1e-3) - 1.0).abs() < 1e-9);
    assert!(matches!(read(dxf(None).as_bytes(), Format::Dxf, None), Err(FileError::Unit { .. })));
    assert!(read(dxf(None).as_bytes(), Format::Dxf, Some(1.0)).is_ok());

    let contents = read(SVG.as_bytes(), Format::Svg, unit("mm")).unwrap();
    assert_eq!(contents.skipped["line"], 1);
    let areas: Vec<f64> = contents.outlines.iter().map(|o| area(o) * 1e6).collect();
    // Clockwise on the screen is clockwise here, where y points up.
    assert!((areas[0] + 8.0).abs() < 1e-9 && (areas[1] + 2.0).abs() < 1e-9, "{areas:?}");
    assert!((areas[2] + PI).abs() < 1e-2, "{areas:?}");
    assert_eq!(areas.len(), 4);
}

#[test]
fn shapes_of_svg_are_outlines() {
    let picture = "<svg><defs><path d='M0 0h1v1z'/></defs><clipPath id='c'><rect width='1' height='1'/></clipPath>
<rect x='1' y='2' width='4' height='3'/><rect width='4' height='3' rx='1' ry='0.5'/><rect width='4' height='3' ry='9'/>
<circle cx='5' cy='-1' r='2px'/><ellipse rx='3' ry='1'/><polygon points='0,0 2,0 2 2 0,1'/><defs/><path d='M0 0h1v1z'/></svg>";
    let contents = read(picture.as_bytes(), Format::Svg, Some(1.0)).unwrap();
    assert_eq!(contents.skipped["definition"], 2);
    // all run clockwise on the screen, and so they do here, where y points up
    let areas: Vec<f64> = contents.outlines.iter().map(|o| -area(o)).collect();
    let wanted = [12.0, 12.0 - (4.0 - PI) * 0.5, 12.0 - (4.0 - PI) * 2.0 * 1.5, 4.0 * PI, 3.0 * PI, 3.0, 0.5];
    assert_eq!(areas.len(), wanted.len());
    for (area, wanted) in areas.iter().zip(wanted) {
        assert!((area / wanted - 1.0).abs() < 3e-3, "{areas:?}");
    }
    let corner = contents.outlines[0][0];
    assert_eq!(corner, [1.0, -2.0]);
    // what has no plain size is left out, and counted: backgrounds often are such rectangles
    let picture = "<svg><rect width='100%' height='100%'/><circle r='0'/><path d='M0 0h1v1z'/></svg>";
    let contents = read(picture.as_bytes(), Format::Svg, Some(1.0)).unwrap();
    assert_eq!((contents.outlines.len(), contents.skipped["rect"], contents.skipped["circle"]), (1, 1, 1));
}

#[test]
fn bad_files_are_refused_by_name() {
    let stl = write(&part(), Format::Stl, 1.0).unwrap();
    assert_eq!(read(&stl, Format::Stl, None).unwrap_err(), FileError::Unit { format: "STL" });
    let cut = read(&stl[..stl.len() - 7], Format::Stl, Some(1.0)).unwrap_err();
    assert!(matches!(cut, FileError::Truncated { at: 80, .. }), "{cut}");
    // Four thousand million triangles announced: refused before memory is taken.
    let mut huge = stl.clone();
    huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(read(&huge, Format::Stl, Some(1.0)), Err(FileError::Truncated { .. })));
    let mut nan = stl.clone();
    nan[84 + 50 * 7 + 16..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(read(&nan, Format::Stl, Some(1.0)).unwrap_err(), FileError::NotFinite { format: "STL", triangle: 7 });
    let text = ascii_stl();
    let half = read(&text.as_bytes()[..text.len() / 2], Format::Stl, Some(1.0)).unwrap_err();
    assert!(matches!(half, FileError::Line { .. }), "{half}");
    let line = |e: FileError| e.to_string();
    let bad = text.replacen("vertex", "vertex x", 1);
    assert!(line(read(bad.as_bytes(), Format::Stl, Some(1.0)).unwrap_err()).contains("line 4: \"x\""));
    let bad = OBJ.replace("f 2 3 9 8", "f 2 3 99 8");
    assert!(line(read(bad.as_bytes(), Format::Obj, Some(1.0)).unwrap_err()).contains("corner 99 of 12"));
    let glb = write(&part(), Format::Glb, 1.0).unwrap();
    assert!(matches!(read(&glb[..glb.len() - 4], Format::Glb, None), Err(FileError::Truncated { .. })));
    let gltf_says = |from: &str, to: &str, part: &str| {
        let good = gltf();
        assert!(good.contains(from), "{from}");
        let said = line(read(good.replacen(from, to, 1).as_bytes(), Format::Gltf, None).unwrap_err());
        assert!(said.contains(part), "{said}");
    };
    let lie = "accessor 0: 4000000000 elements of 12 bytes are announced, but its view has 48 bytes";
    gltf_says("\"count\":4", "\"count\":4000000000", lie);
    gltf_says("\"count\":4", "\"count\":18446744073709551615", "accessor 0: 18446744073709551615 elements");
    gltf_says("\"count\":12", "\"count\":11", "mesh 0: 11 corners in a row");
    gltf_says(
        "\"byteLength\":48}",
        "\"byteLength\":4800}",
        "accessor 0: its view has 4800 bytes from byte 0 on of a buffer",
    );
    gltf_says("\"byteLength\":72", "\"byteLength\":60", "of a buffer of 60");
    gltf_says("\"byteLength\":72", "\"byteLength\":720", "buffer 0: 720 bytes are announced, but 72 are there");
    gltf_says("\"scene\":0", "\"scene\":4", "scene: there are 1 scenes, counted from 0");
    gltf_says("{\"asset\":{\"version\":\"2.0\"},", "{", "asset: is missing");
    gltf_says("\"version\":\"2.0\"", "\"version\":\"1.0\"", "asset: version \"1.0\" is not read, only 2.0");
    gltf_says("\"version\":\"2.0\"", "\"generator\":\"x\"", "asset: has no version");
    gltf_says("\"version\":\"2.0\"", "\"version\":\"2.1\",\"minVersion\":\"2.1\"", "minVersion \"2.1\"");
    gltf_says(
        "\"rotation\":[0,0.7071067811865476,0,0.7071067811865476]",
        "\"rotation\":[0,0,0,0]",
        "node 0: its rotation",
    );
    let bad = gltf().replace("\"children\":[1]", "\"children\":[0]");
    assert!(line(read(bad.as_bytes(), Format::Gltf, None).unwrap_err()).contains("two parents"));
    let bad = gltf().replace("data:application", "../secret");
    assert!(line(read(bad.as_bytes(), Format::Gltf, None).unwrap_err()).contains("outside"));
    let bad = SVG.replace("<path d", "<path transform='rotate(3)' d");
    assert!(line(read(bad.as_bytes(), Format::Svg, Some(1.0)).unwrap_err()).contains("line 4: a transform"));
    for (from, to, part) in [
        ("<path d", "<path style='transform: scale(2)' d", "line 4: a transform"),
        ("<path d", "<g display='none'><path d", "line 4: a hidden group"),
        ("<path d", "<svg x='50'></svg><path d", "line 4: an <svg> inside"),
    ] {
        let said = line(read(SVG.replace(from, to).as_bytes(), Format::Svg, Some(1.0)).unwrap_err());
        assert!(said.contains(part), "{said}");
    }
    let text = SVG.replace("<path d", "<text style='text-transform:none'/><path d");
    assert!(read(text.as_bytes(), Format::Svg, Some(1.0)).is_ok());
    let hidden = SVG.replace("<path d", "<rect display='none' width='900' height='900'/><path d");
    let [shown, same] = [SVG, &hidden].map(|text| read(text.as_bytes(), Format::Svg, Some(1.0)).unwrap());
    assert_eq!((same.skipped["hidden rect"], same.outlines), (1, shown.outlines));
    let plate = |n: &str| {
        format!(
            "0\nSECTION\n2\nENTITIES\n0\nLWPOLYLINE\n90\n3\n70\n1\n10\n1\n20\n0\n10\n2\n20\n0\n10\n1\n20\n1\n{n}0\nENDSEC\n0\nEOF\n"
        )
    };
    let mirrored = read(plate("230\n-1\n").as_bytes(), Format::Dxf, Some(1.0)).unwrap();
    assert_eq!(mirrored.outlines[0], [[-1.0, 0.0], [-2.0, 0.0], [-1.0, 1.0]]);
    let said = line(read(plate("210\n1\n230\n0\n").as_bytes(), Format::Dxf, Some(1.0)).unwrap_err());
    assert!(said.contains("another plane"), "{said}");
    let dxf_says = |from: &str, to: &str, part: &str| {
        let good = dxf(Some(4));
        assert!(good.contains(from), "{from}");
        let said = line(read(good.replacen(from, to, 1).as_bytes(), Format::Dxf, None).unwrap_err());
        assert!(said.contains(part), "{said}");
    };
    dxf_says(" 90\n4\n", " 90\n7\n", "LWPOLYLINE: 7 corners are announced, but 4 are there");
    dxf_says(" 40\n0.5\n", " 40\n-0.5\n", "CIRCLE: the radius is -0.5, but must be positive");
    dxf_says(" 70\n4\n", " 70\n99\n", "line 8: $INSUNITS 99 is none of the units that are read (1 in,");
    assert!(read(dxf(Some(99)).as_bytes(), Format::Dxf, Some(1.0)).is_ok(), "a unit from outside counts");
    assert!(matches!(read(dxf(Some(0)).as_bytes(), Format::Dxf, None), Err(FileError::Unit { .. })));
    let svg_says = |picture: &str, part: &str| {
        let said = line(read(picture.as_bytes(), Format::Svg, Some(1.0)).unwrap_err());
        assert!(said.contains(part), "{said}");
    };
    let cut =
        "line 3: path: character 21, after \"M 0 0 h 10 v 10 L 3\": the path is cut off: y of command L is expected";
    svg_says("<svg>\n<path d='M 0 0 h 10 v 10\n L 3'/></svg>", cut);
    svg_says("<svg><path d='M 0 0 A 1 1 0 2'/></svg>", "a flag, 0 or 1, of command A is expected, not \"2\"");
    svg_says("<svg>\n<path d='M 0 0 h 1 v 1 z", "line 2: the file is cut off: > is missing after \"<path d='M 0 0");
    svg_says("\n<svg>\n<path d='M 0 0 h 1 v 1 z'/>", "line 2: the file is cut off: </svg> is missing");
    svg_says("<svg>\n<!-- no end", "line 2: the file is cut off: --> is missing");
    svg_says("<svg><path d='1 2'/></svg>", "character 1: a path begins with the command M or m");
    svg_says("<svg><path d='M 0 0 h 1 v 1 z x'/></svg>", "none of the commands");
    assert!(line(Format::of("a/part.STEP").unwrap_err()).contains("FreeCAD"));
    assert!(line(Format::of("part.wrl").unwrap_err()).contains("assimp"));
    assert!(line(Format::of("part").unwrap_err()).contains(".stl"));
    assert_eq!(Format::of("x.GLB"), Ok(Format::Glb));
}

/// Files by name are named in their errors, and nothing infinite is written.
#[test]
fn errors_name_the_file_and_nothing_infinite_is_written() {
    let path = std::env::temp_dir().join(format!("tippe-bad-{}.obj", std::process::id()));
    std::fs::write(&path, "v 0 0 0\nf 1 2 3\n").unwrap();
    let (error, no_unit) = (read_file(&path, Some(1.0)).unwrap_err(), read_file(&path, None).unwrap_err());
    std::fs::remove_file(&path).unwrap();
    assert!(error.to_string().contains(".obj: OBJ: line 2: corner 2 of 1"), "{error}");
    assert!(matches!(error.cause(), FileError::Line { line: 2, .. }) && error.cause() == error.cause().cause());
    assert!(matches!(no_unit, FileError::In { .. }), "{no_unit}");
    let large = |x: f64| TriMesh { vertices: vec![Vec3::ZERO, Vec3::new(0.0, x, 0.0)], triangles: Vec::new() };
    for (format, unit, x) in [(Format::Stl, 1e-3, 1e36), (Format::Glb, 1e-3, 1e39), (Format::Obj, 1e-3, 1e306)] {
        let error = write(&large(x), format, unit).unwrap_err();
        assert!(matches!(error, FileError::Large { vertex: 1, .. }), "{error}");
        assert!(write(&large(x * 1e-3), format, unit).is_ok());
    }
    assert!(write(&large(f64::NAN), Format::Obj, 1.0).is_err());
}

/// Units of a picture, lines that go on, and bytes behind the end.
#[test]
fn files_say_their_unit_and_where_they_end() {
    let head = "width='50mm' height='2.5cm' viewBox='0 0 500 250'";
    let picture = format!("<svg {head}><path d='M0 0h10v10z'/></svg>");
    let corner = |text: &str, unit| read(text.as_bytes(), Format::Svg, unit).map(|c| (c.outlines[0][1][0], c.stated));
    let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
    assert!(matches!(corner(&picture, None), Ok((x, None)) if near(x, 1e-3)));
    assert!(matches!(corner(&picture, Some(1.0)), Ok((x, Some(own))) if near(x, 10.0) && near(own, 1e-4)));
    for other in ["width='50' height='25' viewBox='0 0 500 250'", "width='5mm' height='5mm' viewBox='0 0 500 250'", ""]
    {
        assert_eq!(corner(&picture.replace(head, other), None), Err(FileError::Unit { format: "SVG" }), "{other}");
    }
    let long = OBJ.replace("f ", "f \\\n ");
    assert_eq!(read(long.as_bytes(), Format::Obj, Some(1.0)), read(OBJ.as_bytes(), Format::Obj, Some(1.0)));
    let glb = write(&part(), Format::Glb, 1.0).unwrap();
    let mut more = glb.clone();
    more.extend(b"something else");
    assert_eq!(read(&more, Format::Glb, None), read(&glb, Format::Glb, None));
    more[8] -= 4;
    assert!(matches!(read(&more, Format::Glb, None), Err(FileError::Truncated { .. })));
}

/// The outline that encloses the others is the outer one, wherever it stands.
#[test]
fn a_hole_may_come_before_its_outline() {
    let mut volumes = Vec::new();
    for d in ["M 3 3 h 2 v 2 h -2 z M 0 0 h 10 v 10 h -10 z", "M 0 0 h 10 v 10 h -10 z M 3 3 v 2 h 2 v -2 z"] {
        let picture = format!("<svg><path d='{d}'/></svg>");
        let mut contents = read(picture.as_bytes(), Format::Svg, Some(1.0)).unwrap();
        let (outline, holes) = contents.take_outlines().unwrap();
        assert!(contents.outlines.is_empty() && contents.take_outlines().is_none());
        volumes.push(Solid::Prism { outline, holes, length: 0.5 }.mesh().unwrap().volume());
    }
    assert!(volumes.iter().all(|v| (v - 48.0).abs() < 1e-12), "{volumes:?}");
}

#[test]
fn damaged_files_never_panic() {
    let seeds: Vec<(Format, Vec<u8>)> = vec![
        (Format::Stl, write(&part(), Format::Stl, 1.0).unwrap()),
        (Format::Stl, ascii_stl().into_bytes()),
        (Format::Obj, OBJ.into()),
        (Format::Glb, write(&part(), Format::Glb, 1.0).unwrap()),
        (Format::Gltf, gltf().into_bytes()),
        (Format::Dxf, dxf(Some(6)).into_bytes()),
        (Format::Svg, SVG.into()),
    ];
    let mut random = Random(2026);
    let (mut read_well, mut refused) = (0, 0);
    for k in 0..20_000 {
        let (format, seed) = &seeds[k % seeds.len()];
        let mut bytes = seed.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len().max(1));
            match random.below(6) {
                0 if at < bytes.len() => bytes[at] = random.bits() as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at),
                3 => {
                    let run = random.below(40);
                    let to = (at + run).min(bytes.len());
                    let copy = bytes[at.min(to)..to].to_vec();
                    let into = random.below(bytes.len() + 1);
                    bytes.splice(into..into, copy);
                }
                4 if at < bytes.len() => {
                    let to = (at + random.below(40)).min(bytes.len());
                    bytes.drain(at..to);
                }
                _ if at < bytes.len() => {
                    let words: [&[u8]; 8] = [b"-1", b"1e999", b"nan", b"\xff\xfe", b"99999999999", b"0", b"\n", b"\""];
                    bytes.splice(at..at, words[random.below(8)].iter().copied());
                }
                _ => {}
            }
        }
        match read(&bytes, *format, Some(1.0)) {
            Ok(contents) => {
                read_well += 1;
                if contents.surface.triangles.len() < 2000 {
                    let _ = Mesh::repaired(&contents.surface, 1e-9);
                }
                for outline in contents.outlines.iter().take(3) {
                    let _ = Solid::prism(outline.clone(), 1.0).mesh();
                }
            }
            Err(_) => refused += 1,
        }
    }
    println!("{read_well} read, {refused} refused");
    assert!(read_well > 1000 && refused > 1000);
}

/// glTF of one box with so many nodes that show it.
fn crowd(nodes: usize, triangles: usize, uri: Option<&str>) -> Vec<u8> {
    let data = vec![0_u8; 12 * 3 * triangles];
    let mut text = String::new();
    for byte in data.chunks(3) {
        text.push_str(if byte.len() == 3 { "AAAA" } else { "AAA" });
    }
    let uri = uri.map_or(format!("data:application/octet-stream;base64,{text}"), str::to_owned);
    let list = |item: &str| vec![item; nodes].join(",");
    let scene: Vec<String> = (0..nodes).map(|k| k.to_string()).collect();
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"nodes":[{}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{count},"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":{bytes}}}],"buffers":[{{"byteLength":{bytes},"uri":"{uri}"}}]}}"#,
        scene.join(","),
        list(r#"{"mesh":0}"#),
        count = 3 * triangles,
        bytes = data.len(),
    )
    .into_bytes()
}

/// A small file that would become a large mesh is refused before memory is taken; a path out of the folder is refused in any spelling.
#[test]
fn small_files_that_grow() {
    let read = |bytes: &[u8]| read(bytes, Format::Gltf, None);
    assert_eq!(read(&crowd(10, 4, None)).unwrap().surface.triangles.len(), 40);
    let bytes = crowd(20_000, 10_000, None);
    let message = read(&bytes).unwrap_err().to_string();
    assert!(message.contains("scene: its nodes make 600000000 corners"), "{message}");
    for uri in [r"\\\\server\\share\\x.bin", r"\\x.bin", "/x.bin", "../x.bin", "c:x.bin"] {
        let message = read(&crowd(1, 1, Some(uri))).unwrap_err().to_string();
        assert!(message.contains("outside of the folder"), "{uri}: {message}");
    }
}

/// Only regular files of a size that is expected are read.
#[test]
fn regular_files() {
    use tippe_geometry::file::regular;
    let dir = std::env::temp_dir().join(format!("tippe-regular-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("a.txt");
    std::fs::write(&path, "0123456789").unwrap();
    assert_eq!(regular::read_text(&path, 10).unwrap(), "0123456789");
    assert!(regular::read(&path, 9).unwrap_err().to_string().contains("at most 9 are read"));
    assert!(regular::read(&dir, 9).unwrap_err().to_string().contains("folder"));
    #[cfg(unix)]
    assert!(regular::read(std::path::Path::new("/dev/zero"), 9).unwrap_err().to_string().contains("no regular file"));
    std::fs::remove_dir_all(&dir).unwrap();
}
