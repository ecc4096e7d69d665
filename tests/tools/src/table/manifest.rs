//! A reader of MANIFEST files: which tables a database has, their levels and their ranges of keys.
//!
//! Any bytes yield an answer or an error.
//!
//! Mirrors `db/version_edit.cc` and `VersionSet::Recover` in `db/version_set.cc`.

use std::collections::BTreeMap;
use std::io;

use super::log::records;
use super::varint::{read_slice, read_varint, read_varint32};
use super::{corrupt, user_key};

const NUM_LEVELS: u32 = 7;

/// The state of a database when its MANIFEST was last written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the comparator that orders keys.
    pub(crate) comparator: Option<String>,
    /// The tables in use, by level and number.
    pub(crate) tables: BTreeMap<(u32, u64), Contents>,
}

/// A table's length in bytes, and its smallest and largest user key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) len: u64,
    pub(crate) smallest: Vec<u8>,
    pub(crate) largest: Vec<u8>,
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
    pub(crate) fn read(log: &[u8]) -> io::Result<Self> {
        let mut manifest = Self::default();
        let mut numbers = [None; 3];
        for record in records(log)? {
            let (mut edit, mut new_files) = (&record[..], Vec::new());
            while !edit.is_empty() {
                let tag = read_varint32(&mut edit).ok_or_else(|| corrupt("a tag is corrupt"))?;
                if !matches!(tag, 1..=7 | 9) {
                    return Err(corrupt(format!("a field has the unknown tag {tag}")));
                }
                manifest
                    .read_field(tag, &mut edit, &mut numbers, &mut new_files)
                    .ok_or_else(|| corrupt(format!("a field with the tag {tag} is corrupt")))?;
            }
            // One edit may move a table to another level.
            manifest.tables.extend(new_files);
        }
        // LevelDB requires them, and checks in this order.
        for (i, field) in [(1, "next file number"), (0, "log number"), (2, "last sequence number")]
        {
            numbers[i].ok_or_else(|| corrupt(format!("the {field} is missing")))?;
        }
        Ok(manifest)
    }

    /// `numbers` are the log's, the next file's, and the last sequence number.
    fn read_field(
        &mut self,
        tag: u32,
        edit: &mut &[u8],
        numbers: &mut [Option<u64>; 3],
        new_files: &mut Vec<((u32, u64), Contents)>,
    ) -> Option<()> {
        match tag {
            1 => self.comparator = Some(String::from_utf8_lossy(read_slice(edit)?).into_owned()),
            2..=4 => numbers[tag as usize - 2] = Some(read_varint(edit)?),
            // Where compactions go on.
            5 => drop((read_level(edit)?, read_user_key(edit)?)),
            6 => drop(self.tables.remove(&(read_level(edit)?, read_varint(edit)?))),
            7 => {
                let table = (read_level(edit)?, read_varint(edit)?);
                let len = read_varint(edit)?;
                let (smallest, largest) = (read_user_key(edit)?, read_user_key(edit)?);
                new_files.push((table, Contents { len, smallest, largest }));
            }
            // The number of a previous log.
            _ => drop(read_varint(edit)?),
        }
        Some(())
    }
}

fn read_level(record: &mut &[u8]) -> Option<u32> {
    read_varint32(record).filter(|&level| level < NUM_LEVELS)
}

/// Reads an internal key without its trailer of eight bytes.
fn read_user_key(record: &mut &[u8]) -> Option<Vec<u8>> {
    let key = read_slice(record).filter(|key| !key.is_empty())?;
    Some(user_key(key).into())
}
