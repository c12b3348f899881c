//! ZIP archives as functional mock-up units have them (PKWARE 2012, APPNOTE 6.3.3): written deflated and always with the same
//! bytes, read with caps on count, size, ratio and names. What a file claims is checked before anything is written.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most files in an archive that is read.
pub const MOST_FILES: usize = 10_000;
/// Most bytes of an archive that is read, and of what it unpacks to.
pub const MOST_BYTES: u64 = 1 << 30;
/// Most bytes that one byte of an archive unpacks to [-]: deflate itself cannot do more than 1032.
pub const MOST_RATIO: u64 = 1100;
/// Longest name.
const LONGEST_NAME: usize = 400;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// 1 January 1980: the same archive every time.
const DATE: u16 = 0x0021;
/// Bytes of the end record without its comment.
const END_LENGTH: usize = 22;

/// What is wrong with an archive.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArchiveError {
    /// Not a ZIP archive, or cut off.
    #[error("this is no ZIP archive: {0}. help: an FMU is one; was the file copied whole?")]
    Broken(String),
    /// More than anybody needs.
    #[error("the archive {0}. help: such an archive is refused before it fills the disk")]
    TooMuch(String),
    /// A name that leads out of the folder it is unpacked to, or is none.
    #[error("the archive holds a file named \"{0}\", which could be written outside its folder")]
    Name(String),
    /// The same name twice.
    #[error("the archive holds \"{0}\" twice")]
    Twice(String),
    /// Encrypted, or packed in another way.
    #[error("\"{name}\" in the archive {what}")]
    Method {
        /// File of the archive.
        name: String,
        /// What is not understood.
        what: String,
    },
    /// Nothing could be written.
    #[error("cannot write {}: {reason}", .path.display())]
    Write {
        /// File.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name with its folders, separated by `/`.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

fn broken<T>(what: &str) -> Result<T, ArchiveError> {
    Err(ArchiveError::Broken(what.to_owned()))
}

/// CRC-32 (ISO 3309) of bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (i, entry) in table.iter_mut().enumerate() {
        let mut c = i as u32;
        for _ in 0..8 {
            c = if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
        }
        *entry = c;
    }
    !bytes.iter().fold(u32::MAX, |crc, &byte| table[((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8))
}

/// The archive of these files, in this order.
pub fn pack(entries: &[Entry]) -> Result<Vec<u8>, ArchiveError> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        check_name(&entry.name)?;
        // level 8 takes twice as long for half a percent less
        let packed = compress_to_vec(&entry.bytes, 6);
        let small = packed.len() < entry.bytes.len();
        let (method, body): (u16, &[u8]) = if small { (8, &packed) } else { (0, &entry.bytes) };
        let offset = four(bytes.len())?;
        let mut head = Vec::new();
        // version needed 2.0, names in UTF-8, method, time, date
        for two in [20, 0x0800, method, 0, DATE] {
            head.extend_from_slice(&u16::to_le_bytes(two));
        }
        for number in [crc32(&entry.bytes), four(body.len())?, four(entry.bytes.len())?] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        head.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
        head.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&LOCAL.to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(entry.name.as_bytes());
        bytes.extend_from_slice(body);
        directory.extend_from_slice(&CENTRAL.to_le_bytes());
        // made by: Unix, 2.0
        directory.extend_from_slice(&[20, 3]);
        directory.extend_from_slice(&head);
        // no comment, first disk, no internal attributes
        directory.extend_from_slice(&[0; 6]);
        let mode: u32 = if entry.name.ends_with(".so") { 0o100_755 } else { 0o100_644 };
        directory.extend_from_slice(&(mode << 16).to_le_bytes());
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(entry.name.as_bytes());
    }
    let count = u16::try_from(entries.len()).or_else(|_| too_much("would hold more than 65535 files"))?;
    let (start, length) = (four(bytes.len())?, four(directory.len())?);
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(&END.to_le_bytes());
    for two in [0, 0, count, count] {
        bytes.extend_from_slice(&u16::to_le_bytes(two));
    }
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    Ok(bytes)
}

fn too_much<T>(what: &str) -> Result<T, ArchiveError> {
    Err(ArchiveError::TooMuch(what.to_owned()))
}

fn four(length: usize) -> Result<u32, ArchiveError> {
    u32::try_from(length).or_else(|_| too_much("would be larger than 4 GiB"))
}

/// A name that stays where it is unpacked.
fn check_name(name: &str) -> Result<(), ArchiveError> {
    let part_is_good = |part: &str| !part.is_empty() && part != "." && part != "..";
    let own = name.strip_suffix('/').unwrap_or(name);
    let strange = |c: char| c.is_control() || matches!(c, '\\' | ':');
    let good =
        !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(strange) && own.split('/').all(part_is_good);
    if good { Ok(()) } else { Err(ArchiveError::Name(name.escape_debug().take(80).collect())) }
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, ArchiveError> {
    match bytes.get(at..at.saturating_add(2)) {
        Some(two) => Ok(u16::from_le_bytes([two[0], two[1]])),
        None => broken("it ends too early"),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, ArchiveError> {
    Ok(u32::from(u16_at(bytes, at)?) | (u32::from(u16_at(bytes, at.saturating_add(2))?) << 16))
}

/// An entry of the central directory.
struct Listed {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: u64,
    offset: usize,
    mode: u32,
}

/// Where the end record is: behind it at most a comment.
fn find_end(bytes: &[u8]) -> Result<usize, ArchiveError> {
    let Some(last) = bytes.len().checked_sub(END_LENGTH) else { return broken("it is too short") };
    let first = last.saturating_sub(usize::from(u16::MAX));
    for at in (first..=last).rev() {
        if u32_at(bytes, at)? == END && usize::from(u16_at(bytes, at + 20)?) + END_LENGTH + at == bytes.len() {
            return Ok(at);
        }
    }
    broken("it has no table of contents")
}

fn list(bytes: &[u8]) -> Result<Vec<Listed>, ArchiveError> {
    let end = find_end(bytes)?;
    let count = usize::from(u16_at(bytes, end + 10)?);
    if u16_at(bytes, end + 4)? != 0 || u16_at(bytes, end + 8)? != u16_at(bytes, end + 10)? {
        return broken("it is spread over several files");
    }
    if count > MOST_FILES || count == usize::from(u16::MAX) {
        return too_much(&format!("holds more than {MOST_FILES} files"));
    }
    let mut at = u32_at(bytes, end + 16)? as usize;
    let (mut listed, mut total) = (Vec::new(), 0_u64);
    for _ in 0..count {
        if u32_at(bytes, at)? != CENTRAL {
            return broken("its table of contents is damaged");
        }
        let name_length = usize::from(u16_at(bytes, at + 28)?);
        let more = usize::from(u16_at(bytes, at + 30)?) + usize::from(u16_at(bytes, at + 32)?);
        let Some(name) = bytes.get(at + 46..at + 46 + name_length) else { return broken("a name is cut off") };
        let Ok(name) = std::str::from_utf8(name) else { return broken("a name is not UTF-8") };
        let own = Listed {
            name: name.to_owned(),
            flags: u16_at(bytes, at + 8)?,
            method: u16_at(bytes, at + 10)?,
            crc: u32_at(bytes, at + 16)?,
            packed: u32_at(bytes, at + 20)? as usize,
            size: u64::from(u32_at(bytes, at + 24)?),
            offset: u32_at(bytes, at + 42)? as usize,
            mode: u32_at(bytes, at + 38)? >> 16,
        };
        check_listed(&own)?;
        total += own.size;
        if total > MOST_BYTES {
            return too_much(&format!("unpacks to more than {MOST_BYTES} bytes"));
        }
        listed.push(own);
        at += 46 + name_length + more;
    }
    Ok(listed)
}

/// Names, ways of packing and sizes that are refused before anything is unpacked.
fn check_listed(own: &Listed) -> Result<(), ArchiveError> {
    check_name(&own.name)?;
    let refuse = |what: &str| Err(ArchiveError::Method { name: own.name.clone(), what: what.to_owned() });
    if own.flags & 1 == 1 {
        return refuse("is encrypted");
    }
    if own.mode & 0o170_000 == 0o120_000 {
        return refuse("is a link; links could lead out of its folder");
    }
    match own.method {
        0 if own.packed as u64 != own.size => refuse("is stored with two sizes"),
        0 | 8 if own.size <= MOST_RATIO * (own.packed as u64 + 64) => Ok(()),
        0 | 8 => too_much(&format!("packs {} bytes of \"{}\" into {}", own.size, own.name, own.packed)),
        method => refuse(&format!("is packed by method {method}; only stored (0) and deflated (8) files are read")),
    }
}

/// The files of an archive, folders left out.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Entry>, ArchiveError> {
    if bytes.len() as u64 > MOST_BYTES {
        return too_much(&format!("is larger than {MOST_BYTES} bytes"));
    }
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for own in list(bytes)?.into_iter().filter(|own| !own.name.ends_with('/')) {
        if !seen.insert(own.name.clone()) {
            return Err(ArchiveError::Twice(own.name));
        }
        let at = own.offset;
        if u32_at(bytes, at)? != LOCAL {
            return broken(&format!("\"{}\" is not where its table of contents says", own.name));
        }
        let skip = 30 + usize::from(u16_at(bytes, at + 26)?) + usize::from(u16_at(bytes, at + 28)?);
        let Some(body) = at.checked_add(skip).and_then(|from| bytes.get(from..from.checked_add(own.packed)?)) else {
            return broken(&format!("\"{}\" is cut off", own.name));
        };
        let content = match own.method {
            0 => body.to_vec(),
            _ => match decompress_to_vec_with_limit(body, own.size as usize) {
                Ok(content) => content,
                Err(_) => return broken(&format!("\"{}\" cannot be unpacked", own.name)),
            },
        };
        if content.len() as u64 != own.size || crc32(&content) != own.crc {
            return broken(&format!("\"{}\" is damaged: its check sum is another", own.name));
        }
        entries.push(Entry { name: own.name, bytes: content });
    }
    Ok(entries)
}

/// Unpacks an archive into a folder that is empty or not there.
pub fn unpack_to(bytes: &[u8], folder: &Path) -> Result<Vec<String>, ArchiveError> {
    let entries = unpack(bytes)?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| ArchiveError::Write { path, reason: error.to_string() }
    };
    for entry in &entries {
        let path = folder.join(&entry.name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        fs::write(&path, &entry.bytes).map_err(failed(&path))?;
    }
    Ok(entries.into_iter().map(|entry| entry.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Entry> {
        let text = "<x/>".repeat(100).into_bytes();
        vec![
            Entry { name: "modelDescription.xml".to_owned(), bytes: text },
            Entry { name: "resources/a.json".to_owned(), bytes: b"{}".to_vec() },
        ]
    }

    #[test]
    fn what_is_packed_comes_back() {
        let bytes = pack(&some()).unwrap();
        assert_eq!(bytes, pack(&some()).unwrap());
        assert_eq!(unpack(&bytes).unwrap(), some());
        // the check value of ISO 3309
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in ["../a", "/a", "a/../../b", "a//b", "c:\\a", "", "a\\b", "a\0b"] {
            let entry = Entry { name: name.to_owned(), bytes: Vec::new() };
            assert!(matches!(pack(&[entry]), Err(ArchiveError::Name(_))), "{name:?}");
        }
        let mut bytes = pack(&some()).unwrap();
        let text = b"resources/a.json";
        let escaping = b"../../../../a.js";
        let places: Vec<usize> = (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
        places.iter().for_each(|&at| bytes[at..at + text.len()].copy_from_slice(escaping));
        assert!(matches!(unpack(&bytes), Err(ArchiveError::Name(_))));
    }

    /// Ten thousand archives with bytes changed, cut or repeated: an error by name or the same files, and never a panic.
    #[test]
    fn malformed_archives_are_named_errors() {
        let good = pack(&some()).unwrap();
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut refused = 0;
        for _ in 0..10_000 {
            let mut bad = good.clone();
            match next(3) {
                0 => bad.truncate(next(good.len())),
                1 => (0..1 + next(8)).for_each(|_| bad[next(good.len())] = next(256) as u8),
                _ => {
                    let at = next(good.len());
                    bad.splice(at..at, good[..at].to_vec());
                }
            }
            if let Err(error) = unpack(&bad) {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        assert!(refused > 5_000, "{refused} of 10000 were refused");
    }

    #[test]
    fn bombs_are_refused() {
        let mut bytes = pack(&[Entry { name: "a".to_owned(), bytes: vec![0; 4096] }]).unwrap();
        let end = bytes.len() - END_LENGTH;
        let directory = u32_at(&bytes, end + 16).unwrap() as usize;
        bytes[directory + 24..directory + 28].copy_from_slice(&0x3fff_0000_u32.to_le_bytes());
        assert!(matches!(unpack(&bytes), Err(ArchiveError::TooMuch(_))));
    }
}
