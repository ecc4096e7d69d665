//! Blocks of a table: their handles, contents and entries.
//!
//! Mirrors `table/format.cc` and `table/block.cc`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::coding::{read_varint, read_varint32};
use super::crc32c::masked_crc32c;
use super::{corrupt, snappy};

/// After each block: its compression type, and a checksum of both.
pub(super) const BLOCK_TRAILER_LEN: usize = 5;

/// Types of blocks.
pub(crate) const UNCOMPRESSED: u8 = 0;
const SNAPPY: u8 = 1;

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockHandle {
    offset: u64,
    size: u64,
}

impl BlockHandle {
    pub(super) fn decode(input: &mut &[u8]) -> Option<Self> {
        Some(Self { offset: read_varint(input)?, size: read_varint(input)? })
    }

    /// The place of the block and its trailer, if they are inside a file of this length.
    pub(super) fn range(self, file_len: u64) -> io::Result<Range<u64>> {
        let end = self.offset.checked_add(self.size);
        let end = end.and_then(|end| end.checked_add(BLOCK_TRAILER_LEN as u64));
        let range = end.filter(|&end| end <= file_len).map(|end| self.offset..end);
        range.ok_or_else(|| self.corrupt("reaches outside the file"))
    }

    /// The block's contents, which are a copy if the block is compressed.
    pub(super) fn read(self, file: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        let block = &file[as_indices(&self.range(file.len() as u64)?)];
        let (contents, trailer) = block.split_at(block.len() - BLOCK_TRAILER_LEN);
        if masked_crc32c(&block[..=contents.len()]).to_le_bytes() != trailer[1..] {
            return Err(self.corrupt("does not match its checksum"));
        }
        match trailer[0] {
            UNCOMPRESSED => Ok(contents.into()),
            SNAPPY => match snappy::decompress(contents) {
                Some(contents) => Ok(contents.into()),
                None => Err(self.corrupt("is no Snappy data")),
            },
            other => Err(self.corrupt(&format!("has the compression type {other}, not Snappy"))),
        }
    }

    /// Visits the key and the value of each entry of the block's contents, in order.
    pub(super) fn visit_entries(
        self,
        contents: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> io::Result<()> {
        let corrupt = || self.corrupt("has corrupt entries");
        let mut rest = entries(contents).ok_or_else(corrupt)?;
        let mut key = Vec::new();
        while !rest.is_empty() {
            let value = read_entry(&mut rest, &mut key).ok_or_else(corrupt)?;
            visit(&key, value);
        }
        Ok(())
    }

    fn corrupt(self, what: &str) -> io::Error {
        corrupt(format!("the block of {} bytes at {} {what}", self.size, self.offset))
    }
}

/// A place in a file that is in memory.
pub(super) fn as_indices(range: &Range<u64>) -> Range<usize> {
    let index = |offset: u64| usize::try_from(offset).expect("inside the file in memory");
    index(range.start)..index(range.end)
}

/// The block without its array of restart points, which only a search needs. LevelDB finds nothing
/// in a block that has no restart point.
fn entries(block: &[u8]) -> Option<&[u8]> {
    let (rest, num_restarts) = block.split_last_chunk()?;
    let restarts_len = usize::try_from(u32::from_le_bytes(*num_restarts)).ok()?.checked_mul(4)?;
    if restarts_len == 0 {
        return Some(&[]);
    }
    rest.get(..rest.len().checked_sub(restarts_len)?)
}

/// Turns the previous key into the key of the first entry, and returns its value.
fn read_entry<'a>(rest: &mut &'a [u8], key: &mut Vec<u8>) -> Option<&'a [u8]> {
    let shared = read_varint32(rest)?;
    let non_shared = read_varint32(rest)?;
    let value_len = read_varint32(rest)?;
    let (suffix, after_key) = rest.split_at_checked(non_shared)?;
    let (value, after_value) = after_key.split_at_checked(value_len)?;
    if shared > key.len() {
        return None;
    }
    key.truncate(shared);
    key.extend_from_slice(suffix);
    *rest = after_value;
    Some(value)
}
