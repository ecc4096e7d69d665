//! Blocks: their handles, contents and entries.
//!
//! Mirrors `table/format.cc` and `table/block.cc`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::crc32c::masked_crc32c;
use super::source::Source;
use super::varint::{read_len, read_varint};
use super::{corrupt, snappy};

/// After each block: its compression type, and a checksum of both.
pub(super) const BLOCK_TRAILER_LEN: usize = 5;

/// Types of blocks.
pub(crate) const UNCOMPRESSED: u8 = 0;
pub(crate) const SNAPPY: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHandle {
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// How many more bytes of keys may be visited.
///
/// Prefix compression without restarts lets a block's keys grow with the square of its length.
/// Tables with long common prefixes and few restarts have keys several hundred times as long as the
/// file.
#[derive(Debug)]
pub(crate) struct KeyBudget {
    max: u64,
    left: u64,
}

impl KeyBudget {
    const MAX_EXPANSION: u64 = 512;
    const MAX_OF_SMALL_FILES: u64 = 4 << 30;
    /// For keys that are kept. Keys of an index share no prefixes, and Snappy expands a block to at
    /// most 21 1/3 times its length in the file. Other blocks may be holes, which cost nothing.
    const MAX_EXPANSION_OF_INDEX: u64 = 64;

    pub(super) fn of_data(file_len: u64) -> Self {
        Self::new(file_len.saturating_mul(Self::MAX_EXPANSION).max(Self::MAX_OF_SMALL_FILES))
    }

    pub(super) fn of_index(block: BlockHandle) -> Self {
        Self::new(block.size.saturating_mul(Self::MAX_EXPANSION_OF_INDEX))
    }

    fn new(max: u64) -> Self {
        Self { max, left: max }
    }

    fn spend(&mut self, key_len: usize) -> io::Result<()> {
        // Such a table is valid, but no real one has such keys.
        let too_many = || {
            let keys = format!("its keys have more than {} bytes in all", self.max);
            corrupt(
                keys + ", since they share long prefixes; it may be sound, but is too much work",
            )
        };
        self.left = self.left.checked_sub(key_len as u64).ok_or_else(too_many)?;
        Ok(())
    }
}

impl BlockHandle {
    pub(super) fn decode(input: &mut &[u8]) -> Option<Self> {
        Some(Self { offset: read_varint(input)?, size: read_varint(input)? })
    }

    /// The offset just after the block and its trailer.
    pub(super) fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(BLOCK_TRAILER_LEN as u64)
    }

    /// The bytes of the block and its trailer.
    pub(super) fn range(self) -> Option<Range<usize>> {
        Some(usize::try_from(self.offset).ok()?..usize::try_from(self.end()?).ok()?)
    }

    /// The block's contents; a copy if the block is compressed.
    pub(super) fn read(self, source: Source<'_>) -> io::Result<Cow<'_, [u8]>> {
        let block = self.read_with_trailer(source)?;
        match block.split_last_chunk() {
            Some((summed, checksum)) if masked_crc32c(summed) == u32::from_le_bytes(*checksum) => {
                self.contents(block)
            }
            _ => Err(self.corrupt(
                "does not match its checksum: restore a backup, or let RepairDB save \
                the other blocks",
            )),
        }
    }

    /// The same whatever the checksum is.
    pub(super) fn read_unchecked(self, source: Source<'_>) -> io::Result<Cow<'_, [u8]>> {
        self.contents(self.read_with_trailer(source)?)
    }

    fn read_with_trailer(self, source: Source<'_>) -> io::Result<Cow<'_, [u8]>> {
        source.read(self.offset, self.size.saturating_add(BLOCK_TRAILER_LEN as u64))
    }

    /// Of a block with its trailer.
    fn contents(self, block: Cow<'_, [u8]>) -> io::Result<Cow<'_, [u8]>> {
        let len = block.len() - BLOCK_TRAILER_LEN;
        let method = match block[len] {
            UNCOMPRESSED => return Ok(prefix(block, len)),
            SNAPPY => {
                let contents = snappy::decompress(&block[..len]).map(Cow::Owned);
                return contents.map_err(|why| self.corrupt(&format!("is no Snappy data: {why}")));
            }
            2 => "Zstandard, or zlib in older forks",
            4 => "raw zlib, as in Minecraft",
            _ => "an unknown method",
        };
        // Without the offset, so that many tables have one cause.
        let what = format!("blocks are compressed with {method} (type {})", block[len]);
        Err(corrupt(what + "; only Snappy and uncompressed blocks can be read"))
    }

    fn corrupt(self, what: &str) -> io::Error {
        corrupt(format!("the block at offset {} {what}", self.offset))
    }

    /// Visits the key and the value of each entry, in order, up to the first that is corrupt.
    pub(super) fn visit_entries(
        self,
        source: Source<'_>,
        budget: &mut KeyBudget,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> io::Result<()> {
        let corrupt = || self.corrupt("has corrupt entries");
        let contents = self.read(source)?;
        let mut rest = entries(&contents).ok_or_else(corrupt)?;
        let mut key = Vec::new();
        while !rest.is_empty() {
            let value = read_entry(&mut rest, &mut key).ok_or_else(corrupt)?;
            budget.spend(key.len())?;
            visit(&key, value);
        }
        Ok(())
    }
}

fn prefix(bytes: Cow<'_, [u8]>, len: usize) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..len]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(len);
            Cow::Owned(bytes)
        }
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
