//! Tables on disk: Parquet, written in row groups so that the file is complete after each of them, and CSV beside it.
//!
//! After every row group the footer is written too, and the next group overwrites it. What a killed run had not yet put into a
//! row group is in the journal of its folder, with the last good footer; a run whose disk fills up cuts the file back to it.

use super::RunError;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, ReaderProperties, WriterProperties};
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedRowGroupReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Values kept in memory before a row group is written: 64 MiB of numbers.
const GROUP_VALUES: usize = 8 << 20;
/// Rows in a group at most, so that a narrow table also reaches the disk now and then.
const GROUP_ROWS: usize = 16_384;

/// A table with more columns than leave this many rows to a group is stored as it is: each column would pay for a compressor of its own.
const COMPRESSED_ROWS: usize = 8192;

/// One column: its values of the row group being filled, or all of them after reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Real(Vec<f64>),
    Index(Vec<i64>),
    Flag(Vec<bool>),
    Text(Vec<String>),
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Real(f64),
    Index(i64),
    Flag(bool),
    Text(&'a str),
}

impl Column {
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Column::Real(values), Cell::Real(value)) => values.push(value),
            (Column::Index(values), Cell::Index(value)) => values.push(value),
            (Column::Flag(values), Cell::Flag(value)) => values.push(value),
            (Column::Text(values), Cell::Text(value)) => values.push(value.to_owned()),
            (column, cell) => unreachable!("column {column:?} cannot hold {cell:?}: the schema and the rows disagree"),
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::Real(values) => values.len(),
            Column::Index(values) => values.len(),
            Column::Flag(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    fn clear(&mut self) {
        match self {
            Column::Real(values) => values.clear(),
            Column::Index(values) => values.clear(),
            Column::Flag(values) => values.clear(),
            Column::Text(values) => values.clear(),
        }
    }

    /// Appends some rows of another column of the same kind.
    fn take(&mut self, other: &Column, rows: Range<usize>) -> Result<(), ParquetError> {
        match (self, other) {
            (Column::Real(values), Column::Real(other)) => values.extend(&other[rows]),
            (Column::Index(values), Column::Index(other)) => values.extend(&other[rows]),
            (Column::Flag(values), Column::Flag(other)) => values.extend(&other[rows]),
            (Column::Text(values), Column::Text(other)) => values.extend_from_slice(&other[rows]),
            _ => return Err(ParquetError::General("the journal and the table disagree".to_owned())),
        }
        Ok(())
    }

    fn schema(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Column::Real(_) => (Physical::DOUBLE, None),
            Column::Index(_) => (Physical::INT64, None),
            Column::Flag(_) => (Physical::BOOLEAN, None),
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build()
    }
}

/// What a journal knows of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    /// The footer of the table.
    pub(crate) footer: Vec<u8>,
    /// The rows that follow the row groups of that footer.
    pub(crate) columns: Vec<Column>,
}

/// A table that grows row by row.
pub(crate) struct TableWriter {
    path: PathBuf,
    file: File,
    /// Bytes of finished row groups; the footer follows.
    end: u64,
    pub(crate) footer: Vec<u8>,
    encoder: SerializedFileWriter<Vec<u8>>,
    /// Row groups that were there before the encoder began, and where its first byte lies before the file's [bytes].
    before: (Vec<RowGroupMetaData>, i64),
    /// The row group being filled.
    pub(crate) columns: Vec<Column>,
    /// Rows in it.
    pub(crate) rows: usize,
    /// Rows of it that the journal has.
    pub(crate) kept: usize,
    /// True if a row group was written that the journal does not know.
    pub(crate) grew: bool,
    group_rows: usize,
    /// True after an error: nothing more is written.
    broken: bool,
    csv: Option<LineFile>,
}

/// Bytes at the head of a Parquet file.
const HEAD: u64 = 4;

impl TableWriter {
    /// Creates `path` (and, with `csv`, the same name with that extension), empty but readable.
    pub(crate) fn create(path: &Path, schema: Vec<(String, Column)>, csv: bool) -> Result<TableWriter, RunError> {
        let file = File::create(path).map_err(|error| RunError::write(path, error))?;
        let csv = if csv { Some(LineFile::create(&path.with_extension("csv"))?) } else { None };
        let group_rows = (GROUP_VALUES / schema.len().max(1)).clamp(16, GROUP_ROWS);
        let encoder = encoder(&schema, group_rows >= COMPRESSED_ROWS)
            .map_err(|error| RunError::write(path, io::Error::other(error)))?;
        let (names, columns): (Vec<String>, Vec<Column>) = schema.into_iter().unzip();
        let mut table = TableWriter {
            path: path.to_owned(),
            file,
            end: 0,
            footer: Vec::new(),
            encoder,
            before: (Vec::new(), 0),
            columns,
            rows: 0,
            kept: 0,
            grew: true,
            group_rows,
            broken: false,
            csv,
        };
        table.csv_row(names.iter().map(|name| Cell::Text(name)))?;
        table.append()?;
        Ok(table)
    }

    /// Opens a table to go on after so many rows, of a run that wrote more. The file is as it was until [`TableWriter::settle`].
    pub(crate) fn resume(
        path: &Path,
        schema: &[(String, Column)],
        csv: bool,
        tail: Option<Tail>,
        rows: usize,
    ) -> Result<TableWriter, RunError> {
        let damaged = |error: ParquetError| RunError::read(path, error);
        let reader = TableReader::open(path, tail)?;
        if reader.rows() < rows {
            return Err(RunError::read(
                path,
                format!("it has {} rows, and the checkpoint follows {rows}", reader.rows()),
            ));
        }
        let ends = reader.group_starts();
        let whole = ends.iter().skip(1).take(reader.metadata.num_row_groups()).filter(|end| **end <= rows).count();
        let groups = reader.metadata.row_groups()[..whole].to_vec();
        let last = groups.iter().flat_map(RowGroupMetaData::columns).map(|column| {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            u64::try_from(start + column.compressed_size()).unwrap_or(0)
        });
        let end = last.max().unwrap_or(HEAD);
        let columns =
            schema.iter().map(|(name, _)| reader.part(name, ends[whole]..rows)).collect::<Result<Vec<_>, _>>()?;
        let group_rows = (GROUP_VALUES / schema.len().max(1)).clamp(16, GROUP_ROWS);
        let mut encoder = encoder(schema, group_rows >= COMPRESSED_ROWS).map_err(damaged)?;
        encoder.flush().map_err(|error| RunError::write(path, error))?;
        encoder.inner_mut().clear();
        let file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| RunError::write(path, error))?;
        let csv = path.with_extension("csv").exists() && csv;
        let csv = if csv { Some(LineFile::resume(&path.with_extension("csv"), rows as u64 + 1)?) } else { None };
        let before = (groups, end as i64 - HEAD as i64);
        let rows = rows - ends[whole];
        let footer = Vec::new();
        let (path, kept, grew, broken) = (path.to_owned(), 0, true, false);
        let mut table = TableWriter {
            path,
            file,
            end,
            footer,
            encoder,
            before,
            columns,
            rows,
            kept,
            grew,
            group_rows,
            broken,
            csv,
        };
        table.footer = table.new_footer()?;
        Ok(table)
    }

    /// Ends the file where the writer stands.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        write_at(&mut self.file, self.end, &[], &self.footer).map_err(|error| RunError::write(&self.path, error))
    }

    /// Rows in all.
    pub(crate) fn all_rows(&self) -> usize {
        let written: i64 = self.encoder.flushed_row_groups().iter().map(|group| group.num_rows()).sum();
        let before: i64 = self.before.0.iter().map(RowGroupMetaData::num_rows).sum();
        usize::try_from(written + before).unwrap_or(0) + self.rows
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&mut self) -> Result<(), RunError> {
        self.file.sync_data().map_err(|error| RunError::write(&self.path, error))
    }

    /// Makes the lines of the CSV durable, if there is one.
    pub(crate) fn sync_csv(&mut self) -> Result<(), RunError> {
        self.csv.as_mut().map_or(Ok(()), LineFile::sync)
    }

    /// Appends one row: as many cells, of the same kinds, as the schema has columns.
    pub(crate) fn row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>> + Clone) -> Result<(), RunError> {
        self.csv_row(cells.clone())?;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.rows += 1;
        if self.rows >= self.group_rows { self.flush() } else { Ok(()) }
    }

    /// Writes what is in memory as a row group.
    pub(crate) fn flush(&mut self) -> Result<(), RunError> {
        if self.rows > 0 && !self.broken {
            self.broken = true;
            self.encode().map_err(|error| RunError::write(&self.path, io::Error::other(error)))?;
            self.append()?;
            (self.rows, self.kept, self.grew, self.broken) = (0, 0, true, false);
            self.columns.iter_mut().for_each(Column::clear);
        }
        self.csv.as_mut().map_or(Ok(()), LineFile::flush)
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        let mut group = self.encoder.next_row_group()?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            match column {
                Column::Real(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
                Column::Index(values) => writer.typed::<Int64Type>().write_batch(values, None, None)?,
                Column::Flag(values) => writer.typed::<BoolType>().write_batch(values, None, None)?,
                Column::Text(values) => {
                    let bytes: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(text.as_str())).collect();
                    writer.typed::<ByteArrayType>().write_batch(&bytes, None, None)?
                }
            };
            writer.close()?;
        }
        group.close()?;
        self.encoder.flush()?;
        Ok(())
    }

    /// Appends what the encoder produced, then the footer; on an error puts the last good footer back.
    fn append(&mut self) -> Result<(), RunError> {
        let footer = self.new_footer()?;
        self.encoder.flush().map_err(|error| RunError::write(&self.path, error))?;
        let bytes = std::mem::take(self.encoder.inner_mut());
        let written = write_at(&mut self.file, self.end, &bytes, &footer);
        match written {
            Ok(()) => {
                self.end += bytes.len() as u64;
                self.footer = footer;
                Ok(())
            }
            Err(error) => {
                // Nothing more can be done when this fails as well: the first error is the one to tell.
                let _ = write_at(&mut self.file, self.end, &[], &self.footer);
                Err(RunError::write(&self.path, error))
            }
        }
    }

    /// The footer for all row groups there are.
    fn new_footer(&self) -> Result<Vec<u8>, RunError> {
        let wrong = |error: ParquetError| RunError::write(&self.path, io::Error::other(error));
        let (before, shift) = &self.before;
        let mut groups = before.clone();
        for group in self.encoder.flushed_row_groups() {
            groups.push(shifted(group, *shift, groups.len()).map_err(wrong)?);
        }
        let rows = groups.iter().map(|group| group.num_rows()).sum();
        let schema = Arc::new(self.encoder.schema_descr().clone());
        let created_by = self.encoder.properties().created_by().to_owned();
        let metadata = ParquetMetaData::new(FileMetaData::new(1, rows, Some(created_by), None, schema, None), groups);
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish().map_err(wrong)?;
        Ok(footer)
    }

    fn csv_row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> Result<(), RunError> {
        self.csv.as_mut().map_or(Ok(()), |csv| csv.line(&csv_line(cells)))
    }
}

/// A row group whose bytes lie further on in the file than the encoder believes.
fn shifted(group: &RowGroupMetaData, shift: i64, ordinal: usize) -> Result<RowGroupMetaData, ParquetError> {
    if shift == 0 {
        return Ok(group.clone());
    }
    let column = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().map(|offset| offset + shift);
        let data = column.data_page_offset() + shift;
        column.clone().into_builder().set_data_page_offset(data).set_dictionary_page_offset(dictionary).build()
    };
    let columns = group.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let offset = group.file_offset().map(|offset| offset + shift);
    let mut builder = group.clone().into_builder().set_column_metadata(columns);
    if let Some(offset) = offset {
        builder = builder.set_file_offset(offset);
    }
    builder.set_ordinal(i32::try_from(ordinal).unwrap_or(i32::MAX)).build()
}

/// Puts `bytes` and `footer` at `position` and ends the file there. The old footer goes first: a file that is cut off on the way
/// has none, and cannot be taken for a whole one.
fn write_at(file: &mut File, position: u64, bytes: &[u8], footer: &[u8]) -> io::Result<()> {
    file.set_len(position)?;
    file.seek(SeekFrom::Start(position))?;
    file.write_all(bytes)?;
    file.write_all(footer)?;
    file.set_len(position + (bytes.len() + footer.len()) as u64)
}

fn encoder(schema: &[(String, Column)], compressed: bool) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
    // Doubles compress twice as well when their bytes are stored plane by plane; page indices would only repeat for
    // every column of a wide table what the footer already says.
    let compression = if compressed { Compression::ZSTD(ZstdLevel::try_new(3)?) } else { Compression::UNCOMPRESSED };
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("tippe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(compression)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    let mut fields = Vec::with_capacity(schema.len());
    for (name, column) in schema {
        fields.push(Arc::new(column.schema(name)?));
        let path = ColumnPath::from(vec![name.clone()]);
        properties = match column {
            Column::Real(_) if compressed => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Column::Text(_) => properties.set_column_dictionary_enabled(path, true),
            Column::Real(_) | Column::Index(_) | Column::Flag(_) => properties,
        };
    }
    let root = Type::group_type_builder("schema").with_fields(fields).build()?;
    SerializedFileWriter::new(Vec::new(), Arc::new(root), Arc::new(properties.build()))
}

/// One line of comma-separated values, numbers in full.
pub(crate) fn csv_line<'a>(cells: impl Iterator<Item = Cell<'a>>) -> String {
    let texts = cells.map(|cell| match cell {
        Cell::Real(value) => format!("{value:?}"),
        Cell::Index(value) => value.to_string(),
        Cell::Flag(value) => u8::from(value).to_string(),
        Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Cell::Text(text) => text.to_owned(),
    });
    texts.collect::<Vec<String>>().join(",")
}

/// A text file that holds whole lines only, also after an error.
pub(crate) struct LineFile {
    pub(crate) path: PathBuf,
    file: File,
    /// Whole lines not yet written.
    buffer: Vec<u8>,
    end: u64,
    /// Lines in all.
    pub(crate) lines: u64,
    /// Bytes that are durable.
    synced: u64,
}

impl LineFile {
    const BUFFER: usize = 64 << 10;

    pub(crate) fn create(path: &Path) -> Result<LineFile, RunError> {
        let file = File::create(path).map_err(|error| RunError::write(path, error))?;
        Ok(LineFile { path: path.to_owned(), file, buffer: Vec::new(), end: 0, lines: 0, synced: 0 })
    }

    /// Opens a file to go on after so many lines; those that follow go.
    pub(crate) fn resume(path: &Path, lines: u64) -> Result<LineFile, RunError> {
        let open = OpenOptions::new().read(true).write(true).open(path);
        let mut file = open.map_err(|error| RunError::write(path, error))?;
        let end = end_of_line(&file, lines).map_err(|error| RunError::read(path, error))?;
        let end =
            end.ok_or_else(|| RunError::read(path, format!("it has fewer than the {lines} lines of the checkpoint")))?;
        let placed = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        placed.map_err(|error| RunError::write(path, error))?;
        Ok(LineFile { path: path.to_owned(), file, buffer: Vec::new(), end, lines, synced: end })
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<(), RunError> {
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(b'\n');
        self.lines += 1;
        if self.buffer.len() >= LineFile::BUFFER { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> Result<(), RunError> {
        let written = self.file.write_all(&self.buffer);
        let length = self.buffer.len() as u64;
        self.buffer.clear();
        match written {
            Ok(()) => {
                self.end += length;
                Ok(())
            }
            Err(error) => {
                // The first error is the one to tell; the cut only removes half a line.
                let _ = self.file.set_len(self.end).and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
                Err(RunError::write(&self.path, error))
            }
        }
    }

    /// Makes all lines durable.
    pub(crate) fn sync(&mut self) -> Result<(), RunError> {
        self.flush()?;
        if self.synced < self.end {
            self.file.sync_data().map_err(|error| RunError::write(&self.path, error))?;
            self.synced = self.end;
        }
        Ok(())
    }
}

/// Where a line ends, counted from 1 [bytes]; none if there are fewer.
fn end_of_line(file: &File, line: u64) -> io::Result<Option<u64>> {
    let (mut reader, mut bytes, mut end) = (BufReader::new(file), Vec::new(), 0);
    for _ in 0..line {
        bytes.clear();
        end += reader.read_until(b'\n', &mut bytes)? as u64;
        if bytes.last() != Some(&b'\n') {
            return Ok(None);
        }
    }
    Ok(Some(end))
}

/// A Parquet table opened for reading, with the rows that its journal has on top.
pub(crate) struct TableReader {
    path: PathBuf,
    file: Arc<File>,
    metadata: ParquetMetaData,
    /// Rows that follow those of the file, by the place of their column.
    tail: Vec<Column>,
    /// Bytes of the file.
    size: u64,
    /// Columns by name: their places in the file.
    index: BTreeMap<String, usize>,
}

impl TableReader {
    /// Opens a table: as it is, or as its journal says, whichever has more rows. A killed run may have left half a row group.
    pub(crate) fn open(path: &Path, tail: Option<Tail>) -> Result<TableReader, RunError> {
        if !path.metadata().map_err(|error| RunError::read(path, error))?.is_file() {
            return Err(RunError::read(path, "it is no regular file"));
        }
        let file = File::open(path).map_err(|error| RunError::read(path, error))?;
        let size = file.metadata().map_err(|error| RunError::read(path, error))?.len();
        let plain = ParquetMetaDataReader::new().parse_and_finish(&file);
        let kept = tail.and_then(|Tail { footer, columns }| {
            let text = footer.get(..footer.len().checked_sub(8)?)?;
            let metadata = ParquetMetaDataReader::decode_metadata(text).ok()?;
            let fits = columns.is_empty() || columns.len() == metadata.file_metadata().schema_descr().num_columns();
            fits.then_some((metadata, columns))
        });
        let more = |metadata: &ParquetMetaData, columns: &[Column]| {
            plain.as_ref().map_or(true, |plain| {
                metadata.file_metadata().num_rows() + columns.first().map_or(0, Column::len) as i64
                    > plain.file_metadata().num_rows()
            })
        };
        let (metadata, tail) = match kept.filter(|(metadata, columns)| more(metadata, columns)) {
            Some(kept) => kept,
            None => (plain.map_err(|error| RunError::read(path, error))?, Vec::new()),
        };
        let schema = metadata.file_metadata().schema_descr();
        // Of two columns with one name the first counts.
        let columns = schema.columns().iter().enumerate().rev();
        let index = columns.map(|(k, column)| (column.name().to_owned(), k)).collect();
        Ok(TableReader { path: path.to_owned(), file: Arc::new(file), metadata, tail, size, index })
    }

    /// Rows of the table.
    pub(crate) fn rows(&self) -> usize {
        self.group_starts().last().copied().unwrap_or(0)
    }

    /// True if there is a column of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// Rows where row groups begin, those of the journal last, and the number of all rows.
    pub(crate) fn group_starts(&self) -> Vec<usize> {
        let groups = self.metadata.row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0));
        let tail = self.tail.first().map(Column::len).filter(|rows| *rows > 0);
        let mut starts = vec![0];
        for rows in groups.chain(tail) {
            starts.push(starts.last().map_or(0, |start: &usize| start.saturating_add(rows)));
        }
        starts
    }

    /// All rows of one column.
    #[cfg(test)]
    pub(crate) fn column(&self, name: &str) -> Result<Column, RunError> {
        self.part(name, 0..self.rows())
    }

    /// Some rows of one column; only the row groups that hold them are read.
    pub(crate) fn part(&self, name: &str, rows: Range<usize>) -> Result<Column, RunError> {
        let index = self.index.get(name).copied();
        let index = index.ok_or_else(|| RunError::read(&self.path, format!("there is no column \"{name}\"")))?;
        // The decoder asserts what it believes about a file's inner numbers: a damaged file must not end the program.
        let decoded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.decode(index, rows)));
        match decoded {
            Ok(column) => column.map_err(|error| RunError::read(&self.path, error)),
            Err(_) => Err(RunError::read(&self.path, "the file is damaged")),
        }
    }

    /// Refuses a column whose place in the file cannot be right.
    fn check_place(&self, column: &ColumnChunkMetaData) -> Result<(), ParquetError> {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let end = start.checked_add(column.compressed_size()).and_then(|end| u64::try_from(end).ok());
        if start >= 0 && column.compressed_size() >= 0 && end.is_some_and(|end| end <= self.size) {
            return Ok(());
        }
        Err(ParquetError::General("the file is damaged".to_owned()))
    }

    fn decode(&self, index: usize, wanted: Range<usize>) -> Result<Column, ParquetError> {
        let mut column = match self.metadata.file_metadata().schema_descr().column(index).physical_type() {
            Physical::DOUBLE => Column::Real(Vec::new()),
            Physical::INT64 => Column::Index(Vec::new()),
            Physical::BOOLEAN => Column::Flag(Vec::new()),
            _ => Column::Text(Vec::new()),
        };
        let mut all_rows = 0;
        let properties = Arc::new(ReaderProperties::builder().build());
        for (group, ends) in self.group_starts().windows(2).enumerate() {
            let (start, rows) = (ends[0], ends[1] - ends[0]);
            let from = wanted.start.saturating_sub(start).min(rows);
            let to = wanted.end.saturating_sub(start).min(rows);
            if from >= to {
                continue;
            }
            let n = to - from;
            all_rows += n;
            let Some(metadata) = self.metadata.row_groups().get(group) else {
                self.tail.get(index).map_or(Ok(()), |tail| column.take(tail, from..to))?;
                continue;
            };
            let pages = self.metadata.page_index_for_row_group(group);
            let group = SerializedRowGroupReader::new(self.file.clone(), metadata, pages, properties.clone())?;
            self.check_place(group.metadata().column(index))?;
            match (&mut column, group.get_column_reader(index)?) {
                (Column::Real(values), ColumnReader::DoubleColumnReader(mut r)) => {
                    r.skip_records(from)?;
                    r.read_records(n, None, None, values)?;
                }
                (Column::Index(values), ColumnReader::Int64ColumnReader(mut r)) => {
                    r.skip_records(from)?;
                    r.read_records(n, None, None, values)?;
                }
                (Column::Flag(values), ColumnReader::BoolColumnReader(mut r)) => {
                    r.skip_records(from)?;
                    r.read_records(n, None, None, values)?;
                }
                (Column::Text(values), ColumnReader::ByteArrayColumnReader(mut r)) => {
                    let mut bytes = Vec::new();
                    r.skip_records(from)?;
                    r.read_records(n, None, None, &mut bytes)?;
                    for b in &bytes {
                        values.push(String::from_utf8_lossy(b.data()).into_owned());
                    }
                }
                _ => return Err(ParquetError::General(format!("column {index} has a type Tippe does not write"))),
            }
        }
        if column.len() != all_rows {
            return Err(ParquetError::General(format!("column {index} has {} rows of {all_rows}", column.len())));
        }
        Ok(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Vec<(String, Column)> {
        vec![
            ("time".to_owned(), Column::Real(vec![])),
            ("pair".to_owned(), Column::Index(vec![])),
            ("slipping".to_owned(), Column::Flag(vec![])),
            ("body1".to_owned(), Column::Text(vec![])),
        ]
    }

    fn row(table: &mut TableWriter, k: usize) {
        let text = if k.is_multiple_of(2) { "ball" } else { "floor, \"left\"" };
        let cells =
            [Cell::Real(k as f64 * 0.1), Cell::Index(k as i64), Cell::Flag(k.is_multiple_of(3)), Cell::Text(text)];
        table.row(cells.into_iter()).unwrap();
    }

    /// What was written comes back bit by bit, also over several row groups, and the file is readable after each.
    #[test]
    fn round_trip_over_groups() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let mut table = TableWriter::create(&path, schema(), true).unwrap();
        assert_eq!(TableReader::open(&path, None).unwrap().column("time").unwrap(), Column::Real(vec![]));
        for k in 0..1000 {
            row(&mut table, k);
            if k == 299 || k == 699 {
                table.flush().unwrap();
                let Column::Real(time) = TableReader::open(&path, None).unwrap().column("time").unwrap() else {
                    panic!()
                };
                assert_eq!(time.len(), k + 1);
            }
        }
        table.flush().unwrap();
        let reader = TableReader::open(&path, None).unwrap();
        assert!(["time", "pair", "slipping", "body1"].iter().all(|name| reader.has(name)) && !reader.has("body2"));
        assert_eq!(reader.column("time").unwrap(), Column::Real((0..1000).map(|k| k as f64 * 0.1).collect()));
        assert_eq!(reader.column("pair").unwrap(), Column::Index((0..1000).collect()));
        let Column::Text(text) = reader.column("body1").unwrap() else { panic!() };
        assert_eq!(&text[..2], ["ball", "floor, \"left\""]);
        assert!(reader.column("body2").is_err());
        // A part that begins in one row group and ends in another, and one beyond the end.
        assert_eq!(reader.group_starts(), [0, 300, 700, 1000]);
        assert_eq!(reader.part("pair", 290..710).unwrap(), Column::Index((290..710).collect()));
        let Column::Text(text) = reader.part("body1", 699..703).unwrap() else { panic!() };
        assert_eq!(text, ["floor, \"left\"", "ball", "floor, \"left\"", "ball"]);
        assert_eq!(reader.part("pair", 990..5000).unwrap(), Column::Index((990..1000).collect()));

        let csv = std::fs::read_to_string(dir.path().join("t.csv")).unwrap();
        assert!(csv.starts_with("time,pair,slipping,body1\n0.0,0,1,ball\n0.1,1,0,\"floor, \"\"left\"\"\"\n"));
        assert_eq!(csv.lines().count(), 1001);
    }

    /// A broken or foreign file is an error that names it.
    #[test]
    fn broken_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        std::fs::write(&path, b"PAR1 is not enough PAR1").unwrap();
        let message = TableReader::open(&path, None).err().unwrap().to_string();
        assert!(message.contains("t.parquet"), "{message}");
    }
}
