//! Numbers in texts and bytes.

use super::FileError;

/// Lines of a text file with their numbers, from 1; bytes that are no UTF-8 become marks that no keyword has.
pub(super) fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A finite number, or an error that names the line.
pub(super) fn number(word: Option<&str>, format: &'static str, line: usize) -> Result<f64, FileError> {
    let word = word.ok_or_else(|| FileError::Line { format, line, message: "a number is missing".into() })?;
    match word.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(FileError::Line { format, line, message: format!("\"{}\" is no finite number", short(word)) }),
    }
}

/// Enough of a word to know it by.
pub(super) fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Four bytes as a little-endian number; callers have checked the length.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// Single precision, widened.
pub(super) fn f32_at(bytes: &[u8], at: usize) -> f64 {
    f32::from_bits(u32_at(bytes, at)) as f64
}
