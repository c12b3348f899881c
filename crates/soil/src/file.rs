//! Height grids of files: ESRI ASCII grids (.asc), comma-separated x, y, z of a whole grid (.csv), 16-bit grey PNG with a file beside it
//! that says what its greys mean (NAME.png with NAME.scale: lines `spacing`, `low`, `high`, `x`, `y`, each with a number).

use crate::start::Relief;
use std::path::Path;
use thiserror::Error;

/// Why a height grid cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// Its ending says nothing.
    #[error("{0}: a height grid ends in .asc, .csv or .png")]
    Ending(String),
    /// Reading or writing fails.
    #[error("{0}: {1}")]
    Io(String, String),
    /// Its text is none.
    #[error("{file}: {what}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
}

/// Points of a grid at most.
const MOST: usize = 100_000_000;

/// Reads a height grid.
pub fn read(path: &Path) -> Result<Relief, FileError> {
    let name = path.display().to_string();
    let bytes = |path: &Path| {
        tippe_geometry::file::regular::read(path, 1 << 30)
            .map_err(|error| FileError::Io(path.display().to_string(), error.to_string()))
    };
    let text = |path: &Path| Ok(String::from_utf8_lossy(&bytes(path)?).into_owned());
    let relief = match ending(path) {
        "asc" => from_ascii(&name, &text(path)?)?,
        "csv" => from_csv(&name, &text(path)?)?,
        "png" => from_png(&name, &bytes(path)?, &text(&path.with_extension("scale"))?)?,
        _ => return Err(FileError::Ending(name)),
    };
    let wrong = |what: String| Err(FileError::Text { file: path.display().to_string(), what });
    if relief.counts.iter().any(|n| *n < 2) {
        return wrong(format!("{} by {} heights are no grid", relief.counts[0], relief.counts[1]));
    }
    if let Some(z) = relief.heights.iter().find(|z| !z.is_finite()) {
        return wrong(format!("a height is {z}"));
    }
    Ok(relief)
}

/// Writes a height grid, by its ending.
pub fn write(path: &Path, relief: &Relief) -> Result<(), FileError> {
    let name = path.display().to_string();
    let put = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).map_err(|error| FileError::Io(path.display().to_string(), error.to_string()))
    };
    match ending(path) {
        "asc" => put(path, to_ascii(relief).as_bytes()),
        "csv" => put(path, to_csv(relief).as_bytes()),
        "png" => {
            let (picture, scale) = to_png(&name, relief)?;
            put(path, &picture)?;
            put(&path.with_extension("scale"), scale.as_bytes())
        }
        _ => Err(FileError::Ending(name)),
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

fn number(file: &str, word: &str) -> Result<f64, FileError> {
    word.trim().parse().map_err(|_| FileError::Text { file: file.to_owned(), what: format!("\"{word}\" is no number") })
}

/// ESRI: rows from the highest y down; xllcorner is the corner of a cell, xllcenter its middle.
pub fn from_ascii(file: &str, text: &str) -> Result<Relief, FileError> {
    let wrong = |what: String| FileError::Text { file: file.to_owned(), what };
    let mut words = text.split_whitespace();
    let (mut counts, mut low, mut corner, mut spacing, mut missing) = ([0.0; 2], [0.0; 2], false, f64::NAN, f64::NAN);
    let mut heights = Vec::new();
    while let Some(word) = words.next() {
        let mut value = || number(file, words.next().unwrap_or(""));
        match word.to_ascii_lowercase().as_str() {
            "ncols" => counts[0] = value()?,
            "nrows" => counts[1] = value()?,
            "xllcorner" => (low[0], corner) = (value()?, true),
            "yllcorner" => (low[1], corner) = (value()?, true),
            "xllcenter" => low[0] = value()?,
            "yllcenter" => low[1] = value()?,
            "cellsize" => spacing = value()?,
            "nodata_value" => missing = value()?,
            _ => {
                heights.push(number(file, word)?);
                break;
            }
        }
    }
    let [columns, rows] = counts.map(|n| n as usize);
    if spacing.is_nan() || spacing <= 0.0 || columns.saturating_mul(rows) == 0 || columns.saturating_mul(rows) > MOST {
        return Err(wrong(format!("{columns} columns, {rows} rows and cells of {spacing} m are no grid")));
    }
    for word in words {
        heights.push(number(file, word)?);
    }
    if heights.len() != columns * rows {
        return Err(wrong(format!("it has {} heights, not {columns} times {rows}", heights.len())));
    }
    if let Some(k) = heights.iter().position(|z| *z == missing) {
        return Err(wrong(format!("row {} has no height in column {}", k / columns + 1, k % columns + 1)));
    }
    let turned = (0..rows).rev().flat_map(|r| heights[r * columns..(r + 1) * columns].to_vec()).collect();
    let shift = if corner { 0.5 * spacing } else { 0.0 };
    Ok(Relief { counts: [columns, rows], low: low.map(|x| x + shift), spacing, heights: turned })
}

fn to_ascii(relief: &Relief) -> String {
    let [columns, rows] = relief.counts;
    let mut out = format!(
        "ncols {columns}\nnrows {rows}\nxllcenter {}\nyllcenter {}\ncellsize {}\nNODATA_value -9999\n",
        relief.low[0], relief.low[1], relief.spacing
    );
    for r in (0..rows).rev() {
        let row: Vec<String> = relief.heights[r * columns..(r + 1) * columns].iter().map(f64::to_string).collect();
        out.push_str(&row.join(" "));
        out.push('\n');
    }
    out
}

/// x, y, z of every point, in any order of rows.
pub fn from_csv(file: &str, text: &str) -> Result<Relief, FileError> {
    let wrong = |what: String| FileError::Text { file: file.to_owned(), what };
    let mut points: Vec<[f64; 3]> = Vec::new();
    for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split(',').collect();
        let row: Result<Vec<f64>, _> = words.iter().map(|word| number(file, word)).collect();
        match row {
            Ok(row) if row.len() == 3 => points.push([row[0], row[1], row[2]]),
            Err(_) if k == 0 => {}
            _ => return Err(wrong(format!("line {}: x, y and z are three numbers", k + 1))),
        }
    }
    points.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    let columns = points.iter().take_while(|p| p[1] == points[0][1]).count();
    if columns < 2 || !points.len().is_multiple_of(columns) || points.len() / columns < 2 {
        return Err(wrong("its points are no whole grid".to_owned()));
    }
    let spacing = points[1][0] - points[0][0];
    let low = [points[0][0], points[0][1]];
    for (k, p) in points.iter().enumerate() {
        let at = [(k % columns) as f64, (k / columns) as f64];
        if (0..2).any(|a| (p[a] - low[a] - at[a] * spacing).abs() > 1e-6 * spacing) {
            return Err(wrong(format!("the point {}, {} is off the grid of {spacing} m", p[0], p[1])));
        }
    }
    let heights = points.iter().map(|p| p[2]).collect();
    Ok(Relief { counts: [columns, points.len() / columns], low, spacing, heights })
}

fn to_csv(relief: &Relief) -> String {
    let columns = relief.counts[0];
    let at = |k: usize| [(k % columns) as f64, (k / columns) as f64];
    let row = |(k, z): (usize, &f64)| {
        let [x, y] = [0, 1].map(|a| relief.low[a] + at(k)[a] * relief.spacing);
        format!("{x},{y},{z}\n")
    };
    "x,y,z\n".to_owned() + &relief.heights.iter().enumerate().map(row).collect::<String>()
}

/// 16-bit grey, the first row at the highest y; 0 is `low`, 65535 is `high`.
fn from_png(file: &str, bytes: &[u8], scale: &str) -> Result<Relief, FileError> {
    let wrong = |what: String| FileError::Text { file: file.to_owned(), what };
    let value = |key: &str| {
        let line = scale.lines().find_map(|line| line.trim().strip_prefix(key).map(str::trim));
        line.map_or_else(|| Err(wrong(format!("its .scale file has no `{key}`"))), |word| number(file, word))
    };
    let (spacing, low, high) = (value("spacing")?, value("low")?, value("high")?);
    let corner = [value("x").unwrap_or(0.0), value("y").unwrap_or(0.0)];
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().map_err(|error| wrong(error.to_string()))?;
    let info = reader.info();
    let [columns, rows] = [info.width, info.height].map(|n| n as usize);
    if info.bit_depth != png::BitDepth::Sixteen || info.color_type != png::ColorType::Grayscale {
        return Err(wrong("it is not 16-bit grey".to_owned()));
    }
    if columns * rows > MOST || spacing.is_nan() || spacing <= 0.0 {
        return Err(wrong(format!("{columns} by {rows} points {spacing} m apart are no grid")));
    }
    let mut data = vec![0; 2 * columns * rows];
    reader.next_frame(&mut data).map_err(|error| wrong(error.to_string()))?;
    let grey = |k: usize| f64::from(u16::from_be_bytes([data[2 * k], data[2 * k + 1]]));
    let place = |k: usize| (rows - 1 - k / columns) * columns + k % columns;
    let heights = (0..columns * rows).map(|k| low + (high - low) * grey(place(k)) / 65535.0).collect();
    Ok(Relief { counts: [columns, rows], low: corner, spacing, heights })
}

fn to_png(file: &str, relief: &Relief) -> Result<(Vec<u8>, String), FileError> {
    let wrong = |error: png::EncodingError| FileError::Io(file.to_owned(), error.to_string());
    let [columns, rows] = relief.counts;
    let low = relief.heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = relief.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max).max(low + 1e-6);
    let mut data = Vec::with_capacity(2 * columns * rows);
    for r in (0..rows).rev() {
        for z in &relief.heights[r * columns..(r + 1) * columns] {
            data.extend((((z - low) / (high - low) * 65535.0).round() as u16).to_be_bytes());
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, columns as u32, rows as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().map_err(wrong)?;
    writer.write_image_data(&data).map_err(wrong)?;
    writer.finish().map_err(wrong)?;
    let [x, y] = relief.low;
    Ok((out, format!("spacing {}\nlow {low}\nhigh {high}\nx {x}\ny {y}\n", relief.spacing)))
}
