//! Grains as files: CSV in and out, VTK for ParaView.

use crate::{Grain, GrainError, Grains};
use std::fmt::Write;
use tippe_geometry::Vec3;

/// First line of a CSV of grains; lengths in m, velocities in m/s, spins in rad/s.
pub const CSV_HEADER: &str = "x,y,z,radius,vx,vy,vz,wx,wy,wz,class,frozen";

impl Grains {
    /// All grains in the order of their ids, one line each, every number with all its digits.
    pub fn to_csv(&self) -> String {
        let mut out = format!("id,{CSV_HEADER}\n");
        for (id, g) in self.by_id() {
            let (x, v, w) = (g.position, g.velocity, g.spin);
            // writing to a string cannot fail
            let _ = writeln!(
                out,
                "{id},{},{},{},{},{},{},{},{},{},{},{},{}",
                x.x,
                x.y,
                x.z,
                g.radius,
                v.x,
                v.y,
                v.z,
                w.x,
                w.y,
                w.z,
                g.class,
                u8::from(g.frozen)
            );
        }
        out
    }

    /// Legacy VTK file of points with radius, velocity, spin, class, id and, where there are any, clump (-1 for a grain of none)
    /// and, where some are polyhedra, orientation w, x, y, z.
    pub fn to_vtk(&self) -> String {
        let all = self.by_id();
        let mut out = format!(
            "# vtk DataFile Version 3.0\ngrains at t = {} s\nASCII\nDATASET POLYDATA\nPOINTS {} double\n",
            self.time,
            all.len()
        );
        let line = |out: &mut String, v: Vec3| {
            let _ = writeln!(out, "{} {} {}", v.x, v.y, v.z);
        };
        all.iter().for_each(|(_, g)| line(&mut out, g.position));
        let _ = writeln!(out, "VERTICES {} {}", all.len(), 2 * all.len());
        (0..all.len()).for_each(|k| {
            let _ = writeln!(out, "1 {k}");
        });
        let _ = writeln!(out, "POINT_DATA {}\nSCALARS radius double 1\nLOOKUP_TABLE default", all.len());
        all.iter().for_each(|(_, g)| {
            let _ = writeln!(out, "{}", g.radius);
        });
        let _ = writeln!(out, "SCALARS id unsigned_int 1\nLOOKUP_TABLE default");
        all.iter().for_each(|(id, _)| {
            let _ = writeln!(out, "{id}");
        });
        let _ = writeln!(out, "SCALARS class unsigned_char 1\nLOOKUP_TABLE default");
        all.iter().for_each(|(_, g)| {
            let _ = writeln!(out, "{}", g.class);
        });
        if !self.clumps.is_empty() {
            let mut clump = vec![-1i64; self.next_id as usize];
            for (index, ids) in self.clumps.iter().map(|c| &c.ids).enumerate() {
                ids.iter().for_each(|id| clump[*id as usize] = index as i64);
            }
            let _ = writeln!(out, "SCALARS clump int 1\nLOOKUP_TABLE default");
            all.iter().for_each(|(id, _)| {
                let _ = writeln!(out, "{}", clump[*id as usize]);
            });
        }
        if self.has_solids() {
            let mut turned = vec![[1.0, 0.0, 0.0, 0.0]; self.next_id as usize];
            for clump in self.clumps.iter().filter(|clump| clump.solid.is_some()) {
                let q = clump.X_wc.rotation;
                clump.ids.iter().for_each(|id| turned[*id as usize] = [q.w, q.x, q.y, q.z]);
            }
            let _ = writeln!(out, "SCALARS orientation double 4\nLOOKUP_TABLE default");
            all.iter().for_each(|(id, _)| {
                let [w, x, y, z] = turned[*id as usize];
                let _ = writeln!(out, "{w} {x} {y} {z}");
            });
        }
        let _ = writeln!(out, "VECTORS velocity double");
        all.iter().for_each(|(_, g)| line(&mut out, g.velocity));
        let _ = writeln!(out, "VECTORS spin double");
        all.iter().for_each(|(_, g)| line(&mut out, g.spin));
        out
    }
}

/// Grains of a CSV text. Columns are found by name; x, y, z and radius are needed, the others are zero when missing.
pub fn grains_from_csv(file: &str, text: &str) -> Result<Vec<Grain>, GrainError> {
    let bad = |line: usize, what: String| Err(GrainError::File { file: file.to_string(), line, what });
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let Some((_, header)) = lines.next() else { return bad(1, "the file is empty".to_string()) };
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    for (k, name) in names.iter().enumerate() {
        if names[..k].contains(name) {
            return bad(1, format!("column `{name}` stands there twice"));
        }
        if *name != "id" && !CSV_HEADER.split(',').any(|n| n == *name) {
            return bad(1, format!("unknown column `{name}`; known are id,{CSV_HEADER}"));
        }
    }
    for needed in ["x", "y", "z", "radius"] {
        if !names.contains(&needed) {
            return bad(1, format!("column `{needed}` is missing"));
        }
    }
    let mut out = Vec::new();
    for (k, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            return bad(k + 1, format!("{} values, but {} columns", cells.len(), names.len()));
        }
        let mut grain = Grain::at(Vec3::ZERO, 0.0);
        for (name, cell) in names.iter().zip(cells) {
            let Some(value) = cell.parse::<f64>().ok().filter(|v| v.is_finite()) else {
                return bad(k + 1, format!("`{cell}` in column {name} is no finite number"));
            };
            match *name {
                "x" => grain.position.x = value,
                "y" => grain.position.y = value,
                "z" => grain.position.z = value,
                "radius" if value > 0.0 => grain.radius = value,
                "radius" => return bad(k + 1, format!("radius {value} is not positive")),
                "vx" => grain.velocity.x = value,
                "vy" => grain.velocity.y = value,
                "vz" => grain.velocity.z = value,
                "wx" => grain.spin.x = value,
                "wy" => grain.spin.y = value,
                "wz" => grain.spin.z = value,
                "class" if (0.0..256.0).contains(&value) && value == value.floor() => grain.class = value as u8,
                "class" => return bad(k + 1, format!("class {value} is no whole number below 256")),
                "frozen" => grain.frozen = value != 0.0,
                _ => {}
            }
        }
        out.push(grain);
    }
    if out.is_empty() {
        return bad(1, "there are no grains after the line of names".to_string());
    }
    Ok(out)
}
