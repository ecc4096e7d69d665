//! Blocks: their handles, contents and entries.
//!
//! Mirrors `table/format.cc` and `table/block.cc`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::crc32c::masked_crc32c;
use super::varint::{read_len, read_varint};
use super::{corrupt, snappy};

/// After each block: its compression type, and a checksum of both.
pub(super) const BLOCK_TRAILER_LEN: usize = 5;

/// Types of blocks.
pub(crate) const UNCOMPRESSED: u8 = 0;
pub(crate) const SNAPPY: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHandle {
    offset: u64,
    size: u64,
}

impl BlockHandle {
    pub(super) fn decode(input: &mut &[u8]) -> Option<Self> {
        Some(Self { offset: read_varint(input)?, size: read_varint(input)? })
    }

    /// Of the block with its trailer in the file, if it is inside.
    pub(super) fn range(self, file: &[u8]) -> io::Result<Range<usize>> {
        let end = self.offset.checked_add(self.size);
        let end = end.and_then(|end| end.checked_add(BLOCK_TRAILER_LEN as u64));
        let range = usize::try_from(self.offset).ok().zip(end.and_then(|end| end.try_into().ok()));
        let range = range.filter(|&(_, end)| end <= file.len()).map(|(start, end)| start..end);
        range.ok_or_else(|| self.corrupt("reaches outside the file"))
    }

    /// The block's contents; a copy if the block is compressed.
    pub(super) fn read(self, file: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        if self.is_damaged(file) {
            return Err(self.corrupt("does not match its checksum"));
        }
        self.read_unchecked(file)
    }

    pub(super) fn is_damaged(self, file: &[u8]) -> bool {
        let block = self.range(file).ok().and_then(|range| file[range].split_last_chunk());
        block.is_none_or(|(summed, sum)| masked_crc32c(summed) != u32::from_le_bytes(*sum))
    }

    /// The same whatever the checksum is.
    pub(super) fn read_unchecked(self, file: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        let block = &file[self.range(file)?];
        let (contents, trailer) = block.split_at(block.len() - BLOCK_TRAILER_LEN);
        match trailer[0] {
            UNCOMPRESSED => Ok(contents.into()),
            SNAPPY => match snappy::decompress(contents) {
                Ok(contents) => Ok(contents.into()),
                Err(why) => Err(self.corrupt(&format!("is no Snappy data: {why}"))),
            },
            other => Err(self.corrupt(&format!("is compressed in an unknown way, {other}"))),
        }
    }

    fn corrupt(self, what: &str) -> io::Error {
        corrupt(format!("the block of {} bytes at {} {what}", self.size, self.offset))
    }

    /// Visits the key and the value of each entry of the block's contents, in order, up to the
    /// first that is corrupt.
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
}

/// The block without its array of restart points, which only a search needs; without any, `LevelDB`
/// finds nothing.
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
    let shared = read_len(rest)?;
    let non_shared = read_len(rest)?;
    let value_len = read_len(rest)?;
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
