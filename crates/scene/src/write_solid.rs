//! Solids and meshes back to the tree of a file. What came from a file of its own is written as corners and triangles, so that
//! a written scene needs no other file.

use super::write::{Writer, list, numbers};
use super::*;
use tippe_geometry::TriMesh;

pub(super) fn surface(table: &mut Writer, surface: &TriMesh) {
    table.put("vertices", list(&surface.vertices, |v| numbers(&v.to_array())));
    table.put("triangles", list(&surface.triangles, |t| numbers(&t.map(f64::from))));
}

pub(super) fn solid(spec: &SolidSpec) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&spec.name));
    match &spec.form {
        SolidForm::Combined { how, of } => {
            let word = match how {
                Combination::Union => "union",
                Combination::Difference => "difference",
                Combination::Intersection => "intersection",
            };
            table.text("kind", Some(word));
            table.texts("of", of);
        }
        SolidForm::Simple(solid) => simple(&mut table, solid),
    }
    let placing = &spec.placing;
    let vector = |v: Vec3| numbers(&v.to_array());
    if let Some(scale) = placing.scale {
        table.put("scale", vector(scale));
    }
    if let Some(normal) = placing.mirror {
        table.put("mirror", vector(normal));
    }
    table.orientation(placing.orientation);
    table.vector("position", placing.position);
    table.number("around", Some(placing.around as f64).filter(|n| *n > 1.0));
    if placing.along > 1 {
        table.number("along", Some(placing.along as f64));
        table.put("step", vector(placing.step));
    }
    table
}

fn simple(table: &mut Writer, solid: &Solid) {
    let mut kind = |word: &str| table.text("kind", Some(word));
    let points = |points: &Vec<[f64; 2]>| list(points, |p| numbers(p));
    match solid {
        Solid::Box { size } => {
            kind("box");
            table.put("size", numbers(&size.to_array()));
        }
        Solid::Sphere { radius, segments } => {
            kind("sphere");
            table.number("radius", Some(*radius));
            table.number("segments", Some(*segments as f64));
        }
        Solid::Cylinder { radius, length, segments } => {
            kind("cylinder");
            table.number("radius", Some(*radius));
            table.number("length", Some(*length));
            table.number("segments", Some(*segments as f64));
        }
        Solid::Cone { radius, top_radius, length, segments } => {
            kind("cone");
            table.number("radius", Some(*radius));
            table.number("top_radius", Some(*top_radius));
            table.number("length", Some(*length));
            table.number("segments", Some(*segments as f64));
        }
        Solid::Prism { outline, holes, length } => {
            kind("prism");
            table.put("outline", points(outline));
            if !holes.is_empty() {
                table.put("holes", list(holes, points));
            }
            table.number("length", Some(*length));
        }
        Solid::Revolved { profile, angle, segments } => {
            kind("revolved");
            table.put("profile", points(profile));
            table.number("angle", Some(*angle));
            table.number("segments", Some(*segments as f64));
        }
        Solid::Gear(gear) => {
            kind("gear");
            table.number("module", Some(gear.module));
            table.number("teeth", Some(gear.teeth as f64));
            table.number("width", Some(gear.width));
            table.number("pressure_angle", Some(gear.pressure_angle));
            table.number("addendum", Some(gear.addendum));
            table.number("dedendum", Some(gear.dedendum));
            table.number("backlash", Some(gear.backlash));
            table.number("shift", Some(gear.shift));
            table.number("hole", Some(gear.hole).filter(|hole| *hole > 0.0));
            table.number("flank_points", Some(gear.flank_points as f64));
            table.number("segments", Some(gear.segments as f64));
        }
        Solid::Thread(thread) => {
            kind("thread");
            table.number("radius", Some(thread.radius));
            table.number("pitch", Some(thread.pitch));
            table.number("depth", Some(thread.depth));
            table.number("crest", Some(thread.crest));
            table.number("root", Some(thread.root));
            table.number("length", Some(thread.length));
            table.flag("left_handed", thread.left_handed, false);
            table.number("segments", Some(thread.segments as f64));
        }
        Solid::Mesh(own) => {
            kind("mesh");
            surface(table, own);
        }
        // A recipe that only a program can give: what comes out of it.
        _ => {
            kind("mesh");
            if let Ok(mesh) = solid.mesh() {
                surface(table, mesh.surface());
            }
        }
    }
}
