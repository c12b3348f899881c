//! Grains at one time as bytes, little endian: the time (f64), then x, y, z, radius and class of each grain (f32), and where some are polyhedra
//! the quaternion w, x, y, z of each.
//!
//! Of a recorded run they are read from the files that ParaView reads too (`grains.vtk.series`, `grains-*.vtk`). Between two snapshots that have the
//! same grains they go on a straight line.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tippe::grains::Grains;
use tippe::run::RunError;

/// Numbers of one ball, and of one grain where some are polyhedra.
const BALL: usize = 5;
const TURNED: usize = 9;
/// A grain that is farther away than this many times what its speeds explain came in on the other side of a periodic world [-].
const LEAP: f64 = 4.0;

/// All grains of a simulation.
pub fn of(grains: &Grains) -> Vec<u8> {
    let turned = grains.has_solids();
    let mut values = Vec::with_capacity(grains.len() * if turned { TURNED } else { BALL });
    for k in 0..grains.len() {
        let (grain, p) = (grains.grain(k), grains.grain(k).position);
        values.extend([p.x, p.y, p.z, grain.radius, f64::from(grain.class)]);
        if turned {
            let q = grains.solid(k).map_or([1.0, 0.0, 0.0, 0.0], |solid| {
                let q = solid.X_wc.rotation;
                [q.w, q.x, q.y, q.z]
            });
            values.extend(q);
        }
    }
    bytes(grains.time, &values)
}

fn bytes(time: f64, values: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + 4 * values.len());
    bytes.extend_from_slice(&time.to_le_bytes());
    values.iter().for_each(|value| bytes.extend_from_slice(&(*value as f32).to_le_bytes()));
    bytes
}

/// The snapshots of a run folder; the last two that were read are kept.
pub struct Snapshots {
    folder: PathBuf,
    kept: Mutex<Vec<(PathBuf, Arc<Snapshot>)>>,
}

/// A file of grains.
struct Snapshot {
    time: f64,
    stride: usize,
    /// As in the bytes, in the order of the ids.
    values: Vec<f64>,
    ids: Vec<u32>,
    /// Speed of each [m/s].
    speeds: Vec<f64>,
}

impl Snapshots {
    /// Those of a folder.
    pub fn of(folder: &Path) -> Snapshots {
        Snapshots { folder: folder.to_owned(), kept: Mutex::default() }
    }

    /// Grains at a time [s]: between two snapshots, or the first or last one; no bytes where there is none.
    pub fn at(&self, time: f64) -> Result<Vec<u8>, RunError> {
        let files = self.files()?;
        let slack = 1e-9 * time.abs().max(1e-3);
        let next = files.iter().position(|(t, _)| *t > time + slack).unwrap_or(files.len());
        let Some(before) = files.get(next.saturating_sub(1)) else { return Ok(Vec::new()) };
        let one = self.read(before)?;
        match files.get(next).filter(|_| next > 0) {
            Some(after) => {
                let two = self.read(after)?;
                Ok(one.towards(&two, time))
            }
            None => Ok(bytes(one.time, &one.values)),
        }
    }

    /// Times [s] and paths of all of them.
    pub fn files(&self) -> Result<Vec<(f64, PathBuf)>, RunError> {
        let path = self.folder.join("grains.vtk.series");
        if !path.exists() {
            return Ok(Vec::new());
        }
        let wrong = |reason: String| RunError::Read { path: path.clone(), reason };
        let text = read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let series: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let files = series["files"].as_array().into_iter().flatten();
        let files = files.filter_map(|file| Some((file["time"].as_f64()?, file["name"].as_str()?)));
        // a name from a file stays in the folder of that file
        let inside = |(time, name): (f64, &str)| {
            let own = Path::new(name).file_name().ok_or_else(|| wrong(format!("`{name}` is no name of a file")))?;
            Ok((time, self.folder.join(own)))
        };
        files.map(inside).collect()
    }

    fn read(&self, (time, path): &(f64, PathBuf)) -> Result<Arc<Snapshot>, RunError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.iter().find(|(known, snapshot)| known == path && snapshot.time == *time) {
            return Ok(known.clone());
        }
        let wrong = |reason: String| RunError::Read { path: path.clone(), reason };
        let text = read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let new = Arc::new(parse(&text, *time).map_err(wrong)?);
        kept.truncate(1);
        kept.insert(0, (path.clone(), new.clone()));
        Ok(new)
    }
}

impl Snapshot {
    /// Grains at a time between this snapshot and a later one [s]; this one where others came or went.
    fn towards(&self, later: &Snapshot, time: f64) -> Vec<u8> {
        let span = later.time - self.time;
        if self.ids != later.ids || self.stride != later.stride || span <= 0.0 {
            return bytes(self.time, &self.values);
        }
        let w = ((time - self.time) / span).clamp(0.0, 1.0);
        let mut values = self.values.clone();
        let pairs = values.chunks_exact_mut(self.stride).zip(later.values.chunks_exact(self.stride));
        for ((a, b), speeds) in pairs.zip(self.speeds.iter().zip(&later.speeds)) {
            let way =
                ((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2])).sqrt();
            if way > a[3] + LEAP * span * (speeds.0 + speeds.1) {
                continue;
            }
            for k in 0..3 {
                a[k] += w * (b[k] - a[k]);
            }
            if self.stride == TURNED {
                // the shorter way of the two
                let same = if (5..9).map(|k| a[k] * b[k]).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
                (5..9).for_each(|k| a[k] += w * (same * b[k] - a[k]));
                let length = (5..9).map(|k| a[k] * a[k]).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
                (5..9).for_each(|k| a[k] /= length);
            }
        }
        bytes(time, &values)
    }
}

/// The grains in a legacy VTK text.
fn parse(text: &str, time: f64) -> Result<Snapshot, String> {
    let section = |head: &str| text.find(head).map(|at| &text[at..]).ok_or_else(|| format!("there is no `{head}`"));
    let points = section("POINTS ")?;
    let count = points.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
    let count = count.ok_or("the number of points cannot be read")?;
    // the count is a claim: only lines that are there are read
    let lines = |head: &'static str, skip: usize| section(head).map(|text| text.lines().skip(skip).take(count));
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok()).ok_or("a number cannot be read");
    let turned = text.contains("SCALARS orientation ");
    let stride = if turned { TURNED } else { BALL };
    let all = lines("POINTS ", 1)?.zip(lines("SCALARS radius ", 2)?).zip(lines("SCALARS class ", 2)?);
    let mut values = Vec::new();
    for ((point, radius), class) in all {
        let mut words = point.split_whitespace();
        values.extend([number(words.next())?, number(words.next())?, number(words.next())?]);
        values.extend([number(Some(radius.trim()))?, number(Some(class.trim()))?]);
        values.resize(values.len() + stride - BALL, 0.0);
    }
    match values.len() / stride {
        found if found == count => {}
        found => return Err(format!("{count} grains are announced, {found} are there")),
    }
    if turned {
        for (grain, line) in values.chunks_exact_mut(stride).zip(lines("SCALARS orientation ", 2)?) {
            let mut words = line.split_whitespace();
            for value in &mut grain[BALL..TURNED] {
                *value = number(words.next())?;
            }
        }
    }
    // those of older programs have no ids or velocities: they are shown as they stand
    let mut ids = Vec::new();
    for line in lines("SCALARS id ", 2).into_iter().flatten() {
        ids.push(number(Some(line.trim()))? as u32);
    }
    let mut speeds = Vec::new();
    for line in lines("VECTORS velocity ", 1).into_iter().flatten() {
        let mut words = line.split_whitespace();
        let [x, y, z] = [number(words.next())?, number(words.next())?, number(words.next())?];
        speeds.push((x * x + y * y + z * z).sqrt());
    }
    speeds.resize(count, 0.0);
    Ok(Snapshot { time, stride, values, ids, speeds })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "# vtk DataFile Version 3.0\ngrains at t = 0.5 s\nASCII\nDATASET POLYDATA\nPOINTS 2 double\n0 0.5 -1\n1 0.5 -1\n\
        VERTICES 2 4\n1 0\n1 1\nPOINT_DATA 2\nSCALARS radius double 1\nLOOKUP_TABLE default\n0.25\n0.125\n\
        SCALARS class unsigned_char 1\nLOOKUP_TABLE default\n0\n3\n";

    fn numbers(bytes: &[u8]) -> Vec<f32> {
        bytes[8..].as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
    }

    /// A file of grains is read as it stands, one that is cut short or is none is told.
    #[test]
    fn a_file_of_grains_is_read() {
        let one = parse(TWO, 0.5).unwrap();
        assert_eq!(one.values, [0.0, 0.5, -1.0, 0.25, 0.0, 1.0, 0.5, -1.0, 0.125, 3.0]);
        let none = Grains::new();
        let read = parse(&none.to_vtk(), none.time).unwrap();
        assert_eq!(bytes(read.time, &read.values), of(&none));
        assert!(parse(&TWO.replace("POINTS 2", "POINTS 4000000000"), 0.0).is_err());
        assert!(parse("nothing", 0.0).err().is_some_and(|error| error.contains("POINTS")));
        assert!(Snapshots::of(Path::new("nowhere")).at(0.0).unwrap().is_empty());
    }

    /// Between two snapshots grains go straight; one that came in on the other side stays until it is there.
    #[test]
    fn grains_go_on_between_snapshots() {
        let end = "VECTORS velocity double\n0 0 0\n0 0 2\n";
        let later = TWO.replace("0 0.5 -1\n1 0.5 -1\n", "8 0.5 -1\n1 0.5 1\n");
        let (one, two) = (parse(&format!("{TWO}{end}"), 0.5).unwrap(), parse(&format!("{later}{end}"), 1.5).unwrap());
        let middle = one.towards(&two, 1.0);
        assert_eq!(middle[..8], 1.0_f64.to_le_bytes());
        assert_eq!(numbers(&middle), [0.0, 0.5, -1.0, 0.25, 0.0, 1.0, 0.5, 0.0, 0.125, 3.0]);
    }
}
