//! Grains at one time as bytes, little endian: the time (f64), then x, y, z, radius and class of each grain (f32).
//!
//! Of a recorded run they are read from the files that ParaView reads too (`grains.vtk.series`, `grains-*.vtk`).

use std::fs::read_to_string;
use std::path::Path;
use tippe::grains::Grains;
use tippe::run::RunError;

/// Numbers of one grain.
const STRIDE: usize = 5;

/// All grains of a simulation.
pub fn of(grains: &Grains) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + 4 * STRIDE * grains.len());
    bytes.extend_from_slice(&grains.time.to_le_bytes());
    for grain in (0..grains.len()).map(|k| grains.grain(k)) {
        let p = grain.position;
        push(&mut bytes, [p.x, p.y, p.z, grain.radius, f64::from(grain.class)]);
    }
    bytes
}

/// Those of the last snapshot of a run folder at or before a time [s], or of the first; no bytes where there is none.
pub fn read(folder: &Path, time: f64) -> Result<Vec<u8>, RunError> {
    let path = folder.join("grains.vtk.series");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let wrong = |path: &Path, reason: String| RunError::Read { path: path.to_owned(), reason };
    let text = read_to_string(&path).map_err(|error| wrong(&path, error.to_string()))?;
    let series: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&path, error.to_string()))?;
    let files = series["files"].as_array().into_iter().flatten();
    let files = files.filter_map(|file| Some((file["time"].as_f64()?, file["name"].as_str()?)));
    let files: Vec<(f64, &str)> = files.collect();
    let slack = 1e-9 * time.abs().max(1e-3);
    let Some((at, name)) = files.iter().rev().find(|(t, _)| *t <= time + slack).or(files.first()) else {
        return Ok(Vec::new());
    };
    // a name from a file stays in the folder of that file
    let name = Path::new(name).file_name().ok_or_else(|| wrong(&path, format!("`{name}` is no name of a file")))?;
    let path = folder.join(name);
    let text = read_to_string(&path).map_err(|error| wrong(&path, error.to_string()))?;
    parse(&text, *at).map_err(|reason| wrong(&path, reason))
}

/// The grains in a legacy VTK text.
fn parse(text: &str, time: f64) -> Result<Vec<u8>, String> {
    let section = |head: &str| text.find(head).map(|at| &text[at..]).ok_or_else(|| format!("there is no `{head}`"));
    let points = section("POINTS ")?;
    let count = points.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
    let count = count.ok_or("the number of points cannot be read")?;
    // the count is a claim: only lines that are there are read
    let lines = |head: &'static str, skip: usize| section(head).map(|text| text.lines().skip(skip).take(count));
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok()).ok_or("a number cannot be read");
    let all = lines("POINTS ", 1)?.zip(lines("SCALARS radius ", 2)?).zip(lines("SCALARS class ", 2)?);
    let mut bytes = time.to_le_bytes().to_vec();
    for ((point, radius), class) in all {
        let mut words = point.split_whitespace();
        let [x, y, z] = [number(words.next())?, number(words.next())?, number(words.next())?];
        push(&mut bytes, [x, y, z, number(Some(radius.trim()))?, number(Some(class.trim()))?]);
    }
    match (bytes.len() - 8) / (4 * STRIDE) {
        found if found == count => Ok(bytes),
        found => Err(format!("{count} grains are announced, {found} are there")),
    }
}

fn push(bytes: &mut Vec<u8>, values: [f64; STRIDE]) {
    bytes.extend_from_slice(values.map(|value| (value as f32).to_le_bytes()).as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::grains::Grains;

    const TWO: &str = "# vtk DataFile Version 3.0\ngrains at t = 0.5 s\nASCII\nDATASET POLYDATA\nPOINTS 2 double\n0 0.5 -1\n1 0.5 -1\n\
        VERTICES 2 4\n1 0\n1 1\nPOINT_DATA 2\nSCALARS radius double 1\nLOOKUP_TABLE default\n0.25\n0.125\n\
        SCALARS class unsigned_char 1\nLOOKUP_TABLE default\n0\n3\n";

    /// A file of grains is read as it stands, one that is cut short or is none is told.
    #[test]
    fn a_file_of_grains_is_read() {
        let bytes = parse(TWO, 0.5).unwrap();
        assert_eq!(bytes[..8], 0.5_f64.to_le_bytes());
        let values: Vec<f32> = bytes[8..].as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        assert_eq!(values, [0.0, 0.5, -1.0, 0.25, 0.0, 1.0, 0.5, -1.0, 0.125, 3.0]);
        let none = Grains::new();
        assert_eq!(parse(&none.to_vtk(), none.time).unwrap(), of(&none));
        assert!(parse(&TWO.replace("POINTS 2", "POINTS 4000000000"), 0.0).is_err());
        assert!(parse("nothing", 0.0).unwrap_err().contains("POINTS"));
        assert!(read(Path::new("nowhere"), 0.0).unwrap().is_empty());
    }
}
