//! The ground at the end of a run as height grids: `ground.asc` (ESRI), `ground.png` with `ground.scale`, and `ground.csv` where tables are
//! written as text too. They hold what was touched, over the flat ground, as `file` of `[[soil]]` reads it.

use super::RunError;
use std::path::Path;
use tippe_soil::{Ground, Relief, TILE};

/// Files that a run with soil leaves.
const GROUND_FILES: [&str; 4] = ["ground.asc", "ground.png", "ground.scale", "ground.csv"];

/// The smallest rectangle of cells that holds all tiles that were touched; none if nothing was.
fn touched(ground: &Ground) -> Option<Relief> {
    let corners = ground.tiles().map(|(number, _)| ground.corner(number));
    let (low, high) = corners.fold(([usize::MAX; 2], [0; 2]), |(low, high), corner| {
        ([0, 1].map(|k| corner[k].min(low[k])), [0, 1].map(|k| (corner[k] + TILE).min(ground.counts[k]).max(high[k])))
    });
    if high[0] <= low[0] {
        return None;
    }
    let counts = [0, 1].map(|k| high[k] - low[k]);
    let at = |k: usize| [low[0] + k % counts[0], low[1] + k / counts[0]];
    let heights = (0..counts[0] * counts[1]).map(|k| ground.height(at(k)) - ground.start.level);
    Some(Relief { counts, low: ground.centre(low), spacing: ground.cell, heights: heights.collect() })
}

/// Writes the ground into a run folder.
pub(super) fn write(folder: &Path, ground: &Ground, csv: bool) -> Result<(), RunError> {
    let Some(relief) = touched(ground) else { return Ok(()) };
    for name in GROUND_FILES.iter().filter(|name| !name.ends_with("scale") && (csv || !name.ends_with("csv"))) {
        let path = folder.join(name);
        let failed =
            |error: tippe_soil::file::FileError| RunError::write(&path, std::io::Error::other(error.to_string()));
        tippe_soil::file::write(&path, &relief).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe_soil::{Parcel, SoilKind, Start, StartLayer};

    /// What is written is read again: heights of the tile that was touched, to the step of the greys of a picture.
    #[test]
    fn the_ground_comes_back_from_its_files() {
        let kind = SoilKind::named("sand").unwrap();
        let layers = vec![StartLayer { kind: 0, thickness: 1.0, void_ratio: 0.7, yield_pressure: 1e3 }];
        let start = Start { level: 2.0, layers, features: Vec::new(), relief: None };
        let mut ground = Ground::new(vec![kind], start, 0.1, [0.0; 2], [40, 40]);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &ground, true).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was touched");
        let mut parcel = Parcel::default();
        parcel.add(0, 5.0);
        ground.lay([20, 20], &parcel);
        write(folder.path(), &ground, true).unwrap();
        for name in ["ground.asc", "ground.csv", "ground.png"] {
            let relief = tippe_soil::file::read(&folder.path().join(name)).unwrap();
            assert_eq!(relief.counts, [16, 16], "{name}");
            let [x, y] = ground.centre([20, 20]);
            let off = relief.at([x, y]) - (ground.height([20, 20]) - 2.0);
            assert!(off.abs() < 1e-5, "{name}: {off}");
        }
    }
}
