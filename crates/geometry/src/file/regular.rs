//! Reads a file that somebody named: only if it is a regular one, and only up to a size. A device never ends, a pipe never begins.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Largest scene, included scene, or table of a few columns [bytes].
pub const TEXT: u64 = 512 << 20;
/// Largest mesh, drawing, or file that one of them refers to [bytes].
pub const MESH: u64 = 2 << 30;
/// Largest file of a run folder that is read as a whole [bytes].
pub const RECORD: u64 = 16 << 30;

/// The bytes of a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        let what =
            if about.is_dir() { "it is a folder" } else { "it is no regular file but a device, a pipe or the like" };
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    let large = |size: u64| {
        let text = format!("it has {size} bytes or more; at most {limit} are read");
        Err(Error::new(ErrorKind::FileTooLarge, text))
    };
    if about.len() > limit {
        return large(about.len());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(about.len() as usize).map_err(|_| Error::from(ErrorKind::OutOfMemory))?;
    // what the system says of its length need not be true: files of /proc have none
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { large(bytes.len() as u64) } else { Ok(bytes) }
}

/// The text of a regular file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    let wrong = |_| Error::new(ErrorKind::InvalidData, "it is not a text in UTF-8");
    String::from_utf8(read(path, limit)?).map_err(wrong)
}
