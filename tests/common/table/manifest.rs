//! A reader of MANIFEST files: which tables a database has, at which levels, and of which keys.
//!
//! Any bytes get an answer or an error. Memory is for the tables that are named, and for one
//! record.
//!
//! Mirrors `db/version_edit.cc` and `VersionSet::Recover` in `db/version_set.cc`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io::Read;

use super::log::{LogError, LogReader};
use super::varint::{read_slice, read_varint, read_varint32};

const NUM_LEVELS: u32 = 7;

/// What a database was when its MANIFEST was last written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the order of keys.
    pub(crate) comparator: Option<String>,
    /// Keys in logs of lower numbers are in tables.
    pub(crate) log_number: u64,
    /// The tables in use, by level and number.
    pub(crate) tables: BTreeMap<(u32, u64), Contents>,
}

/// What a table has: its length in bytes, and its user keys from the smallest to the largest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) len: u64,
    pub(crate) smallest: Vec<u8>,
    pub(crate) largest: Vec<u8>,
}

/// Why a MANIFEST cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManifestError {
    Log(LogError),
    CorruptEdit { field: &'static str },
    UnknownTag { tag: u32 },
    Missing { field: &'static str },
}

/// The name in a CURRENT file, which is that of a MANIFEST in the same directory, or why `LevelDB`
/// finds none.
pub(crate) fn manifest_name(current: &[u8]) -> Result<&str, &'static str> {
    let name = current.strip_suffix(b"\n").ok_or("CURRENT does not end with a newline")?;
    if name.ends_with(b"\r") {
        return Err("CURRENT has a carriage return before its newline");
    }
    let name = std::str::from_utf8(name).unwrap_or_default();
    let number = name.strip_prefix("MANIFEST-").unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(name) } else { Err("CURRENT names no MANIFEST") }
}

impl Manifest {
    pub(crate) fn read(input: impl Read) -> Result<Self, ManifestError> {
        let mut manifest = Self::default();
        let mut seen = Seen::default();
        let mut log = LogReader::new(input);
        let mut record = Vec::new();
        while log.read_record(&mut record).map_err(ManifestError::Log)? {
            // In one edit, a table may leave a level for another.
            for_each_field(&record, |field| {
                if let Field::DeletedFile { level, number } = field {
                    manifest.tables.remove(&(level, number));
                }
            })?;
            for_each_field(&record, |field| manifest.apply(field, &mut seen))?;
        }
        seen.check()?;
        Ok(manifest)
    }

    fn apply(&mut self, field: Field<'_>, seen: &mut Seen) {
        match field {
            Field::Comparator(name) => {
                self.comparator = Some(String::from_utf8_lossy(name).into_owned());
            }
            Field::LogNumber(number) => {
                self.log_number = number;
                seen.log_number = true;
            }
            Field::NextFileNumber => seen.next_file_number = true,
            Field::LastSequence => seen.last_sequence = true,
            Field::NewFile { level, number, len, smallest, largest } => {
                let [smallest, largest] = [smallest, largest].map(|key| user_key(key).to_vec());
                self.tables.insert((level, number), Contents { len, smallest, largest });
            }
            Field::DeletedFile { .. } | Field::Other => (),
        }
    }
}

/// Which of the fields that LevelDB insists on have come.
#[derive(Default)]
struct Seen {
    log_number: bool,
    next_file_number: bool,
    last_sequence: bool,
}

impl Seen {
    fn check(&self) -> Result<(), ManifestError> {
        for (is_there, field) in [
            (self.next_file_number, "next file number"),
            (self.log_number, "log number"),
            (self.last_sequence, "last sequence number"),
        ] {
            if !is_there {
                return Err(ManifestError::Missing { field });
            }
        }
        Ok(())
    }
}

/// A part of an edit: as much of it as a list of the tables takes.
#[derive(Clone, Copy)]
enum Field<'a> {
    Comparator(&'a [u8]),
    LogNumber(u64),
    NextFileNumber,
    LastSequence,
    DeletedFile { level: u32, number: u64 },
    NewFile { level: u32, number: u64, len: u64, smallest: &'a [u8], largest: &'a [u8] },
    Other,
}

fn for_each_field(mut edit: &[u8], mut visit: impl FnMut(Field<'_>)) -> Result<(), ManifestError> {
    while !edit.is_empty() {
        let corrupt = |field| ManifestError::CorruptEdit { field };
        let tag = read_varint32(&mut edit).ok_or(corrupt("tag"))?;
        let name = field_name(tag).ok_or(ManifestError::UnknownTag { tag })?;
        visit(read_field(tag, &mut edit).ok_or(corrupt(name))?);
    }
    Ok(())
}

fn field_name(tag: u32) -> Option<&'static str> {
    Some(match tag {
        1 => "comparator",
        2 => "log number",
        3 => "next file number",
        4 => "last sequence number",
        5 => "compaction pointer",
        6 => "deleted file",
        7 => "new file",
        9 => "previous log number",
        _ => return None,
    })
}

fn read_field<'a>(tag: u32, edit: &mut &'a [u8]) -> Option<Field<'a>> {
    Some(match tag {
        1 => Field::Comparator(read_slice(edit)?),
        2 => read_varint(edit).map(Field::LogNumber)?,
        3 => read_varint(edit).map(|_| Field::NextFileNumber)?,
        4 => read_varint(edit).map(|_| Field::LastSequence)?,
        5 => {
            let _level = read_level(edit)?;
            let _key = read_key(edit)?;
            Field::Other
        }
        6 => Field::DeletedFile { level: read_level(edit)?, number: read_varint(edit)? },
        7 => {
            let (level, number) = (read_level(edit)?, read_varint(edit)?);
            let len = read_varint(edit)?;
            let (smallest, largest) = (read_key(edit)?, read_key(edit)?);
            Field::NewFile { level, number, len, smallest, largest }
        }
        _ => read_varint(edit).map(|_| Field::Other)?,
    })
}

fn read_level(edit: &mut &[u8]) -> Option<u32> {
    read_varint32(edit).filter(|&level| level < NUM_LEVELS)
}

/// An internal key.
fn read_key<'a>(edit: &mut &'a [u8]) -> Option<&'a [u8]> {
    read_slice(edit).filter(|key| !key.is_empty())
}

/// An internal key without its trailer.
fn user_key(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(8)]
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(error) => write!(f, "{error}"),
            Self::CorruptEdit { field } => write!(f, "a {field} is corrupt"),
            Self::UnknownTag { tag } => write!(f, "a field has the unknown tag {tag}"),
            Self::Missing { field } => write!(f, "the {field} is missing"),
        }
    }
}

impl Error for ManifestError {}
