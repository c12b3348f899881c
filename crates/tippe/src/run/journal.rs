//! `rows.journal`: the rows that are in no row group of their table yet, durable while a run goes on.
//!
//! A Parquet table can be read only with its footer, and each new row group overwrites the last one. So the journal holds, from
//! its head on, the footer of every table as it stood, and then record by record the rows that follow. A record counts only with
//! its check sum: what a kill or a full disk cut off is left out. A journal is replaced as a whole once a table has grown, after
//! that table is on the disk; at the end of a run the tables have everything and the journal goes.

use super::RunError;
use super::manifest::sync_folder;
use super::table::{Column, TableWriter, Tail};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tippe_geometry::file::regular;

/// File of a run folder.
pub(super) const FILE: &str = "rows.journal";
/// First bytes of a journal; the digit is the number of its layout.
const MAGIC: &[u8; 8] = b"tippe-j1";
/// Tables of a run: signals, energy, contacts.
pub(super) const TABLES: usize = 3;

/// The journal of a run that goes on.
pub(super) struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// One record, kept for the next.
    buffer: Vec<u8>,
}

impl Journal {
    /// The journal of a folder, not begun yet.
    pub fn new(folder: &Path) -> Journal {
        Journal { path: folder.join(FILE), file: None, buffer: Vec::new() }
    }

    /// Makes all rows of the tables durable.
    pub fn sync(&mut self, mut tables: [&mut TableWriter; TABLES]) -> Result<(), RunError> {
        match &mut self.file {
            Some(file) if tables.iter().all(|table| !table.grew) => {
                if tables.iter().all(|table| table.kept == table.rows) {
                    return Ok(());
                }
                self.buffer.clear();
                put_rows(&mut self.buffer, &tables);
                let written = write_record(file, &self.buffer).and_then(|()| file.sync_data());
                written.map_err(|error| RunError::write(&self.path, error))?;
            }
            _ => {
                for table in &mut tables {
                    table.sync()?;
                    table.kept = 0;
                }
                let part = self.path.with_extension("part");
                let file = self.begin(&part, &tables).map_err(|error| RunError::write(&part, error))?;
                std::fs::rename(&part, &self.path).map_err(|error| RunError::write(&self.path, error))?;
                sync_folder(&self.path);
                self.file = Some(file);
            }
        }
        for table in &mut tables {
            (table.kept, table.grew) = (table.rows, false);
        }
        Ok(())
    }

    /// A new journal: the footers, then all rows that no row group has.
    fn begin(&mut self, path: &Path, tables: &[&mut TableWriter; TABLES]) -> io::Result<File> {
        let mut file = File::create(path)?;
        file.write_all(MAGIC)?;
        self.buffer.clear();
        tables.iter().for_each(|table| put_bytes(&mut self.buffer, &table.footer));
        write_record(&mut file, &self.buffer)?;
        self.buffer.clear();
        put_rows(&mut self.buffer, tables);
        write_record(&mut file, &self.buffer)?;
        file.sync_data()?;
        Ok(file)
    }

    /// Takes the journal away: the tables have everything.
    pub fn end(&mut self) -> Result<(), RunError> {
        self.file = None;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::write(&self.path, error)),
            _ => Ok(()),
        }
    }
}

/// What the journal of a folder knows of its tables; none if there is no journal, or none that holds together.
pub(super) fn read(folder: &Path) -> Option<[Tail; TABLES]> {
    let bytes = regular::read(&folder.join(FILE), regular::RECORD).ok()?;
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut head = take_record(&mut rest)?;
    let mut tails: [Tail; TABLES] = Default::default();
    for tail in &mut tails {
        tail.footer = take_bytes(&mut head)?.to_vec();
    }
    while let Some(mut record) = take_record(&mut rest) {
        for tail in &mut tails {
            take_rows(&mut record, &mut tail.columns)?;
        }
    }
    Some(tails)
}

fn write_record(file: &mut File, payload: &[u8]) -> io::Result<()> {
    file.write_all(&(payload.len() as u64).to_le_bytes())?;
    file.write_all(payload)?;
    file.write_all(&check_sum(payload).to_le_bytes())
}

fn take_record<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let mut rest = *bytes;
    let length = usize::try_from(take_u64(&mut rest)?).ok()?;
    let payload = take(&mut rest, length)?;
    if take_u64(&mut rest)? != check_sum(payload) {
        return None;
    }
    *bytes = rest;
    Some(payload)
}

/// Sums words with a factor, so that order counts: four bytes a nanosecond.
fn check_sum(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64 ^ 0xcbf2_9ce4_8422_2325;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = word.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte));
        sum = (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }
    words.remainder().iter().fold(sum, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The rows of every table that the journal does not have, column by column.
fn put_rows(out: &mut Vec<u8>, tables: &[&mut TableWriter; TABLES]) {
    for table in tables {
        out.extend((table.columns.len() as u64).to_le_bytes());
        for column in &table.columns {
            let rows = (table.rows - table.kept) as u64;
            let kind: u8 = match column {
                Column::Real(_) => 0,
                Column::Index(_) => 1,
                Column::Flag(_) => 2,
                Column::Text(_) => 3,
            };
            out.push(kind);
            out.extend(rows.to_le_bytes());
            match column {
                Column::Real(values) => out.extend(values[table.kept..].iter().flat_map(|x| x.to_le_bytes())),
                Column::Index(values) => out.extend(values[table.kept..].iter().flat_map(|x| x.to_le_bytes())),
                Column::Flag(values) => out.extend(values[table.kept..].iter().map(|x| u8::from(*x))),
                Column::Text(values) => values[table.kept..].iter().for_each(|x| put_bytes(out, x.as_bytes())),
            }
        }
    }
}

fn take_rows(bytes: &mut &[u8], columns: &mut Vec<Column>) -> Option<()> {
    for k in 0..take_u64(bytes)? as usize {
        let kind = take(bytes, 1)?[0];
        let rows = usize::try_from(take_u64(bytes)?).ok()?;
        if k == columns.len() {
            columns.push(match kind {
                0 => Column::Real(Vec::new()),
                1 => Column::Index(Vec::new()),
                2 => Column::Flag(Vec::new()),
                3 => Column::Text(Vec::new()),
                _ => return None,
            });
        }
        match (columns.get_mut(k)?, kind) {
            (Column::Real(values), 0) => {
                let (words, _) = take(bytes, rows.checked_mul(8)?)?.as_chunks();
                values.extend(words.iter().map(|word| f64::from_le_bytes(*word)));
            }
            (Column::Index(values), 1) => {
                let (words, _) = take(bytes, rows.checked_mul(8)?)?.as_chunks();
                values.extend(words.iter().map(|word| i64::from_le_bytes(*word)));
            }
            (Column::Flag(values), 2) => values.extend(take(bytes, rows)?.iter().map(|x| *x != 0)),
            (Column::Text(values), 3) => {
                for _ in 0..rows {
                    values.push(String::from_utf8_lossy(take_bytes(bytes)?).into_owned());
                }
            }
            _ => return None,
        }
    }
    Some(())
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_u64(bytes)?).ok()?;
    take(bytes, length)
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*word))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}
