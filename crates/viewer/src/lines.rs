//! Files of lines in a run folder, each of a time: `patches.jsonl` (polygons over which surfaces touch), `reach.jsonl` (boxes that bodies do not leave).

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tippe::run::RunError;

/// Bytes that are sent for one time at most.
const MOST: u64 = 64 << 20;

/// The file, looked through once when somebody asks.
pub struct Lines {
    path: PathBuf,
    index: OnceLock<Result<Vec<Line>, String>>,
}

/// Where a line begins and ends.
#[derive(Clone, Copy, Debug)]
struct Line {
    time: f64,
    start: u64,
    end: u64,
}

impl Lines {
    /// A file of a run folder, if it is there.
    pub fn of(folder: &Path, name: &str) -> Option<Lines> {
        let path = folder.join(name);
        path.is_file().then(|| Lines { path, index: OnceLock::new() })
    }

    /// All lines of a time [s], as a JSON list.
    pub fn at(&self, time: f64) -> Result<serde_json::Value, RunError> {
        let index = self.index()?;
        self.read(index.partition_point(|line| line.time < time)..index.partition_point(|line| line.time <= time))
    }

    /// The last line that begins no later than a time [s], in a JSON list; the list is empty before the first.
    pub fn since(&self, time: f64) -> Result<serde_json::Value, RunError> {
        let end = self.index()?.partition_point(|line| line.time <= time);
        self.read(end.saturating_sub(1)..end)
    }

    fn wrong(&self, reason: String) -> RunError {
        RunError::Read { path: self.path.clone(), reason }
    }

    fn index(&self) -> Result<&[Line], RunError> {
        let index = self.index.get_or_init(|| self.look_through());
        index.as_deref().map_err(|reason| self.wrong(reason.clone()))
    }

    /// Some lines as a JSON list.
    fn read(&self, lines: std::ops::Range<usize>) -> Result<serde_json::Value, RunError> {
        let wrong = |reason: String| self.wrong(reason);
        let wanted = &self.index()?[lines.clone()];
        let Some((first, last)) = wanted.first().zip(wanted.last()) else {
            return Ok(serde_json::Value::Array(Vec::new()));
        };
        if last.end - first.start > MOST {
            return Err(wrong(format!("the lines at {} s have more than {MOST} bytes", first.time)));
        }
        let mut text = String::new();
        let read = |text: &mut String| {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(first.start))?;
            file.take(last.end - first.start).read_to_string(text)
        };
        read(&mut text).map_err(|error| wrong(error.to_string()))?;
        let values = text.lines().enumerate().map(|(k, line)| {
            serde_json::from_str(line).map_err(|error| wrong(format!("line {}: {error}", lines.start + k + 1)))
        });
        Ok(serde_json::Value::Array(values.collect::<Result<_, _>>()?))
    }

    fn look_through(&self) -> Result<Vec<Line>, String> {
        #[derive(serde::Deserialize)]
        struct Timed {
            time: f64,
        }
        let mut reader = BufReader::new(File::open(&self.path).map_err(|error| error.to_string())?);
        let (mut lines, mut bytes, mut start) = (Vec::<Line>::new(), Vec::new(), 0);
        loop {
            bytes.clear();
            let size = reader.read_until(b'\n', &mut bytes).map_err(|error| error.to_string())? as u64;
            // a line without an end is still being written, or was cut off
            if size == 0 || bytes.last() != Some(&b'\n') {
                return Ok(lines);
            }
            let Timed { time } =
                serde_json::from_slice(&bytes).map_err(|error| format!("line {}: {error}", lines.len() + 1))?;
            if lines.last().is_some_and(|last| last.time > time) {
                return Err(format!("line {}: times must not go back", lines.len() + 1));
            }
            lines.push(Line { time, start, end: start + size });
            start += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of one time come together, a cut line at the end is left out, nonsense is told with its line.
    #[test]
    fn lines_by_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = || Lines::of(dir.path(), "patches.jsonl");
        assert!(file().is_none());
        let path = dir.path().join("patches.jsonl");
        std::fs::write(&path, "{\"time\":0.1,\"k\":1}\n{\"time\":0.2,\"k\":2}\n{\"time\":0.2,\"k\":3}\n{\"time\":0.3")
            .unwrap();
        let patches = file().unwrap();
        let at = |time: f64| patches.at(time).unwrap().as_array().unwrap().len();
        assert_eq!([0.0, 0.1, 0.2, 0.3].map(at), [0, 1, 2, 0]);
        assert_eq!(patches.at(0.2).unwrap()[1]["k"], 3);
        let since = |time: f64| patches.since(time).unwrap().as_array().unwrap().first().map(|line| line["k"].clone());
        assert_eq!([0.0, 0.15, 9.0].map(since), [None, Some(1.into()), Some(3.into())]);
        for (text, says) in [("{\"time\":1}\n{\"time\":0}\n", "line 2: times"), ("{\"time\":1}\nnonsense\n", "line 2")]
        {
            std::fs::write(&path, text).unwrap();
            let message = file().unwrap().at(1.0).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
