//! DXF: 3DFACE, polyface and grid meshes, closed polylines (with arcs) and circles. Blocks are not taken apart.

use super::number::{number, short, text};
use super::{Contents, FileError};
use crate::Vec3;
use crate::triangulate::polygon_triangles;
use std::f64::consts::PI;

const DXF: &str = "DXF";
/// Corners of a full circle where an arc becomes a line.
const SEGMENTS: f64 = 64.0;

/// Code, value and line of a pair.
struct Group<'a> {
    code: i32,
    value: &'a str,
    line: usize,
}

/// One entity: its kind and its groups.
struct Entity<'a> {
    kind: &'a str,
    line: usize,
    groups: Vec<Group<'a>>,
}

impl Entity<'_> {
    fn number(&self, code: i32) -> Result<Option<f64>, FileError> {
        self.groups.iter().find(|g| g.code == code).map(|g| number(Some(g.value), DXF, g.line)).transpose()
    }

    fn flags(&self, code: i32) -> Result<i64, FileError> {
        Ok(self.number(code)?.unwrap_or(0.0) as i64)
    }

    /// Point with the codes 10 + k, 20 + k, 30 + k.
    fn point(&self, k: i32) -> Result<Option<Vec3>, FileError> {
        let Some(x) = self.number(10 + k)? else { return Ok(None) };
        Ok(Some(Vec3::new(x, self.number(20 + k)?.unwrap_or(0.0), self.number(30 + k)?.unwrap_or(0.0))))
    }

    fn wrong<T>(&self, message: &str) -> Result<T, FileError> {
        Err(FileError::Line { format: DXF, line: self.line, message: format!("{}: {message}", short(self.kind)) })
    }
}

/// Length of a unit [m], or why there is none.
type Unit = Result<f64, FileError>;

/// Contents, and the unit where the file says one.
pub(super) fn read(bytes: &[u8]) -> Result<(Contents, Option<Unit>), FileError> {
    if bytes.starts_with(b"AutoCAD Binary DXF") {
        let advice = "a binary DXF file: save it as ASCII DXF";
        return Err(FileError::Foreign { name: "DXF".into(), advice });
    }
    let content = text(bytes);
    let groups = pairs(&content)?;
    let mut unit = None;
    for pair in groups.windows(2) {
        if pair[0].code == 9 && pair[0].value == "$INSUNITS" {
            unit = self::unit(number(Some(pair[1].value), DXF, pair[1].line)?, pair[1].line);
        }
    }
    let mut contents = Contents::default();
    let entities = entities(groups);
    let mut k = 0;
    while k < entities.len() {
        let entity = &entities[k];
        let outlines = contents.outlines.len();
        k += 1;
        match entity.kind {
            "3DFACE" => face(entity, &mut contents)?,
            "LWPOLYLINE" => light_polyline(entity, &mut contents)?,
            "CIRCLE" => {
                let (Some(c), Some(r)) = (entity.point(0)?, entity.number(40)?) else {
                    return entity.wrong("centre or radius is missing");
                };
                if !(r > 0.0) {
                    return entity.wrong(&format!("the radius is {r}, but must be positive"));
                }
                let around = (0..SEGMENTS as u32).map(|i| {
                    let (s, co) = libm::sincos(2.0 * PI * i as f64 / SEGMENTS);
                    [c.x + r * co, c.y + r * s]
                });
                contents.outlines.push(around.collect());
            }
            "POLYLINE" => {
                let from = k;
                while entities.get(k).is_some_and(|e| e.kind == "VERTEX") {
                    k += 1;
                }
                if entities.get(k).is_none_or(|e| e.kind != "SEQEND") {
                    return entity.wrong("the file is cut off: SEQEND is missing");
                }
                polyline(entity, &entities[from..k], &mut contents)?;
                k += 1;
            }
            other => *contents.skipped.entry(short(other)).or_default() += 1,
        }
        place(entity, &mut contents.outlines[outlines..])?;
    }
    Ok((contents, unit))
}

/// Outlines stand in axes of their own, by the direction in which they are extruded: along -z x is turned around, as in mirrored parts.
fn place(entity: &Entity<'_>, outlines: &mut [Vec<[f64; 2]>]) -> Result<(), FileError> {
    let along = |code: i32, usual: f64| entity.number(code).map(|x| x.unwrap_or(usual));
    let n = Vec3::new(along(210, 0.0)?, along(220, 0.0)?, along(230, 1.0)?);
    let across = n.x.abs().max(n.y.abs());
    if outlines.is_empty() || across <= 1e-9 && n.z > 0.0 {
        return Ok(());
    }
    if across > 1e-9 || n.z == 0.0 {
        return entity
            .wrong("it lies in another plane than x and y (extrusion direction 210, 220, 230): turn it there first");
    }
    outlines.iter_mut().flatten().for_each(|p| p[0] = -p[0]);
    Ok(())
}

/// The unit of $INSUNITS; 0 says that there is none.
fn unit(code: f64, line: usize) -> Option<Unit> {
    let named = [(1.0, 0.0254), (2.0, 0.3048), (4.0, 1e-3), (5.0, 1e-2), (6.0, 1.0), (13.0, 1e-6), (14.0, 0.1)];
    if code == 0.0 {
        return None;
    }
    Some(named.iter().find(|(number, _)| *number == code).map(|(_, unit)| *unit).ok_or_else(|| {
        let message = format!(
            "$INSUNITS {code} is none of the units that are read (1 in, 2 ft, 4 mm, 5 cm, 6 m, 13 um, 14 dm): say the \
             unit, such as unit = \"mm\", which counts instead"
        );
        FileError::Line { format: DXF, line, message }
    }))
}

/// Lines two by two: a code, then its value.
fn pairs(content: &str) -> Result<Vec<Group<'_>>, FileError> {
    let mut groups = Vec::new();
    let mut lines = content.lines().enumerate();
    while let Some((k, code)) = lines.next() {
        if code.trim().is_empty() && lines.clone().next().is_none() {
            break;
        }
        let wrong = |message: String| FileError::Line { format: DXF, line: k + 1, message };
        let code = code.trim().parse().map_err(|_| wrong(format!("\"{}\" is no group code", short(code))))?;
        let (k, value) = lines.next().ok_or_else(|| wrong("the file is cut off after a group code".into()))?;
        groups.push(Group { code, value: value.trim(), line: k + 1 });
    }
    if groups.last().is_none_or(|g| (g.code, g.value) != (0, "EOF")) {
        let line = groups.last().map_or(1, |g| g.line);
        return Err(FileError::Line { format: DXF, line, message: "the file is cut off: EOF is missing".into() });
    }
    Ok(groups)
}

/// What stands in the section ENTITIES.
fn entities(groups: Vec<Group<'_>>) -> Vec<Entity<'_>> {
    let mut entities: Vec<Entity<'_>> = Vec::new();
    let (mut section_next, mut inside) = (false, false);
    for g in groups {
        match (g.code, g.value) {
            (0, "SECTION") => section_next = true,
            (0, "ENDSEC") => inside = false,
            (2, name) if section_next => (section_next, inside) = (false, name == "ENTITIES"),
            (0, kind) if inside => entities.push(Entity { kind, line: g.line, groups: Vec::new() }),
            _ => {
                if let Some(entity) = entities.last_mut().filter(|_| inside) {
                    entity.groups.push(g);
                }
            }
        }
    }
    entities
}

fn add(contents: &mut Contents, corners: &[Vec3]) {
    let base = contents.surface.vertices.len() as u32;
    contents.surface.vertices.extend(corners);
    contents.surface.triangles.extend(polygon_triangles(corners).into_iter().map(|t| t.map(|i| i + base)));
}

fn face(entity: &Entity<'_>, contents: &mut Contents) -> Result<(), FileError> {
    let mut corners = Vec::new();
    for k in 0..4 {
        match entity.point(k)? {
            Some(p) => corners.push(p),
            None if k == 3 => {}
            None => return entity.wrong("a corner is missing"),
        }
    }
    // A triangle has its last corner twice.
    corners.dedup();
    if corners.len() >= 3 {
        add(contents, &corners);
    }
    Ok(())
}

fn light_polyline(entity: &Entity<'_>, contents: &mut Contents) -> Result<(), FileError> {
    // Corners come one after the other, each with an optional bulge.
    let mut corners: Vec<([f64; 2], f64)> = Vec::new();
    for g in &entity.groups {
        match (g.code, corners.last_mut()) {
            (10, _) => corners.push(([number(Some(g.value), DXF, g.line)?, 0.0], 0.0)),
            (20, Some(last)) => last.0[1] = number(Some(g.value), DXF, g.line)?,
            (42, Some(last)) => last.1 = number(Some(g.value), DXF, g.line)?,
            _ => {}
        }
    }
    if let Some(announced) = entity.number(90)?
        && announced != corners.len() as f64
    {
        return entity.wrong(&format!("{announced} corners are announced, but {} are there", corners.len()));
    }
    let closed = entity.flags(70)? & 1 == 1;
    outline(entity.kind, corners, closed, contents);
    Ok(())
}

/// An outline of a closed polyline, or of one that ends where it began; others are counted as skipped.
fn outline(kind: &str, mut corners: Vec<([f64; 2], f64)>, closed: bool, contents: &mut Contents) {
    let returns = corners.len() > 2 && corners.first().map(|c| c.0) == corners.last().map(|c| c.0);
    if !closed && !returns {
        *contents.skipped.entry(format!("open {kind}")).or_default() += 1;
        return;
    }
    if returns {
        corners.pop();
    }
    let mut out = Vec::new();
    for k in 0..corners.len() {
        let (a, bulge) = corners[k];
        let b = corners[(k + 1) % corners.len()].0;
        out.push(a);
        arc(a, b, bulge, &mut out);
    }
    contents.outlines.push(out);
}

/// Points between a and b on the arc whose bulge is tan(angle/4).
fn arc(a: [f64; 2], b: [f64; 2], bulge: f64, out: &mut Vec<[f64; 2]>) {
    let angle = 4.0 * libm::atan(bulge);
    let steps = (angle.abs() * SEGMENTS / (2.0 * PI)).ceil() as u32;
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    if steps < 2 || dx == 0.0 && dy == 0.0 {
        return;
    }
    // Centre: from the middle across the chord by half the chord over tan(angle/2).
    let across = 0.5 / libm::tan(0.5 * angle);
    let c = [a[0] + 0.5 * dx - dy * across, a[1] + 0.5 * dy + dx * across];
    for k in 1..steps {
        let (s, co) = libm::sincos(angle * k as f64 / steps as f64);
        let (x, y) = (a[0] - c[0], a[1] - c[1]);
        out.push([c[0] + co * x - s * y, c[1] + s * x + co * y]);
    }
}

fn polyline(entity: &Entity<'_>, vertices: &[Entity<'_>], contents: &mut Contents) -> Result<(), FileError> {
    let flags = entity.flags(70)?;
    if flags & 64 != 0 {
        return polyface(vertices, contents);
    }
    if flags & 16 != 0 {
        return grid(entity, flags, vertices, contents);
    }
    let mut corners = Vec::new();
    for v in vertices {
        let p = v.point(0)?.unwrap_or(Vec3::ZERO);
        corners.push(([p.x, p.y], v.number(42)?.unwrap_or(0.0)));
    }
    outline(entity.kind, corners, flags & 1 == 1, contents);
    Ok(())
}

/// Corners first (flag 64), then faces of their numbers, negative where the edge is hidden.
fn polyface(vertices: &[Entity<'_>], contents: &mut Contents) -> Result<(), FileError> {
    let mut corners = Vec::new();
    for v in vertices {
        if v.flags(70)? & 64 != 0 {
            corners.push(v.point(0)?.unwrap_or(Vec3::ZERO));
            continue;
        }
        let mut face = Vec::new();
        for code in 71..75 {
            let i = v.flags(code)?.unsigned_abs();
            if i == 0 {
                continue;
            }
            match corners.get(i as usize - 1) {
                Some(p) => face.push(*p),
                None => return v.wrong(&format!("corner {i} of {}", corners.len())),
            }
        }
        if face.len() >= 3 {
            add(contents, &face);
        }
    }
    Ok(())
}

/// M by N corners, closed along M (flag 1) or N (flag 32) or not.
fn grid(entity: &Entity<'_>, flags: i64, vertices: &[Entity<'_>], contents: &mut Contents) -> Result<(), FileError> {
    let (m, n) = (entity.flags(71)?, entity.flags(72)?);
    if m < 2 || n < 2 || m.checked_mul(n) != Some(vertices.len() as i64) {
        return entity.wrong(&format!("{m} by {n} corners are announced, but {} are there", vertices.len()));
    }
    let (m, n) = (m as usize, n as usize);
    let mut corners = Vec::new();
    for v in vertices {
        corners.push(v.point(0)?.unwrap_or(Vec3::ZERO));
    }
    let (rows, columns) = (m - (flags & 1 == 0) as usize, n - (flags & 32 == 0) as usize);
    for i in 0..rows {
        for j in 0..columns {
            let at = |i: usize, j: usize| corners[(i % m) * n + j % n];
            add(contents, &[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    Ok(())
}
