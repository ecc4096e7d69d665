//! A reader of MANIFEST files: which tables a database has, their levels and their ranges of keys.
//!
//! Any bytes yield an answer or an error. Memory holds the tables that are named, and one record.
//!
//! Mirrors `db/version_edit.cc` and `VersionSet::Recover` in `db/version_set.cc`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};

use super::corrupt;
use super::log::LogReader;
use super::varint::{read_slice, read_varint, read_varint32};

const NUM_LEVELS: u32 = 7;

/// The state of a database when its MANIFEST was last written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the comparator that orders keys.
    pub(crate) comparator: Option<String>,
    /// Keys in logs with lower numbers are in tables.
    pub(crate) log_number: u64,
    /// The tables in use, by level and number.
    pub(crate) tables: BTreeMap<(u32, u64), Contents>,
}

/// So many first and last bytes stand for a longer key: a database of keys of 200 KB has hundreds
/// of tables.
const HALF_END: usize = 4 << 10;

/// A table's length in bytes, and its smallest and largest user key, [shortened](Self::shortened).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) len: u64,
    pub(crate) smallest: Vec<u8>,
    pub(crate) largest: Vec<u8>,
}

impl Contents {
    /// Keys that differ only in between are the same to a range.
    pub(crate) fn shortened(key: &[u8]) -> Cow<'_, [u8]> {
        match key.len().checked_sub(2 * HALF_END) {
            None | Some(0) => key.into(),
            Some(_) => [&key[..HALF_END], &key[key.len() - HALF_END..]].concat().into(),
        }
    }
}

/// The MANIFEST that a CURRENT file names, in the same directory, or why `LevelDB` finds none.
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
    pub(crate) fn read(input: impl Read) -> io::Result<Self> {
        let mut manifest = Self::default();
        let mut numbers = [None; 3];
        let mut log = LogReader::new(input);
        let mut record = Vec::new();
        while log.read_record(&mut record)? {
            let edit = Edit::read(&record)?;
            manifest.comparator = edit.comparator.or(manifest.comparator);
            // One edit may move a table to another level.
            for table in edit.deleted_files {
                manifest.tables.remove(&table);
            }
            manifest.tables.extend(edit.new_files);
            for (number, last) in edit.numbers.into_iter().zip(&mut numbers) {
                *last = number.or(*last);
            }
        }
        // LevelDB requires them, and checks in this order.
        for (i, field) in [(1, "next file number"), (0, "log number"), (2, "last sequence number")]
        {
            numbers[i].ok_or_else(|| corrupt(format!("the {field} is missing")))?;
        }
        manifest.log_number = numbers[0].unwrap_or_default();
        Ok(manifest)
    }
}

/// The part of an edit that is needed to list the tables.
#[derive(Default)]
struct Edit {
    comparator: Option<String>,
    /// The log number, the next file number and the last sequence number.
    numbers: [Option<u64>; 3],
    deleted_files: Vec<(u32, u64)>,
    new_files: Vec<((u32, u64), Contents)>,
}

impl Edit {
    fn read(mut record: &[u8]) -> io::Result<Self> {
        let mut edit = Self::default();
        while !record.is_empty() {
            let bad = |field: &str| corrupt(format!("a {field} is corrupt"));
            let tag = read_varint32(&mut record).ok_or_else(|| bad("tag"))?;
            let name = field_name(tag)
                .ok_or_else(|| corrupt(format!("a field has the unknown tag {tag}")))?;
            edit.read_field(tag, &mut record).ok_or_else(|| bad(name))?;
        }
        Ok(edit)
    }

    fn read_field(&mut self, tag: u32, record: &mut &[u8]) -> Option<()> {
        match tag {
            1 => self.comparator = Some(String::from_utf8_lossy(read_slice(record)?).into_owned()),
            2 => self.numbers[0] = Some(read_varint(record)?),
            3 => self.numbers[1] = Some(read_varint(record)?),
            4 => self.numbers[2] = Some(read_varint(record)?),
            5 => {
                read_level(record)?;
                read_user_key(record)?;
            }
            6 => self.deleted_files.push((read_level(record)?, read_varint(record)?)),
            7 => {
                let table = (read_level(record)?, read_varint(record)?);
                let len = read_varint(record)?;
                let (smallest, largest) = (read_user_key(record)?, read_user_key(record)?);
                self.new_files.push((table, Contents { len, smallest, largest }));
            }
            _ => {
                read_varint(record)?;
            }
        }
        Some(())
    }
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

fn read_level(record: &mut &[u8]) -> Option<u32> {
    read_varint32(record).filter(|&level| level < NUM_LEVELS)
}

/// Reads an internal key without its trailer of eight bytes, shortened.
fn read_user_key(record: &mut &[u8]) -> Option<Vec<u8>> {
    let key = read_slice(record).filter(|key| !key.is_empty())?;
    Some(Contents::shortened(&key[..key.len().saturating_sub(8)]).into_owned())
}
