//! Blocks: where they lie, what they hold, and their entries.
//!
//! Mirrors `table/format.cc` and `table/block.cc`.

use std::borrow::Cow;

use super::crc32c::masked_crc32c;
use super::error::TableError;
use super::snappy;

/// Behind each block: its compression type, and a checksum of both.
const TRAILER_LEN: u64 = 5;

/// How many times its own length in the file a block's keys may take up.
///
/// Prefix compression that never restarts could make a small block say quadratically much.
/// LevelDB restarts it every 16 keys by default, which keeps them to 16 times the block, and
/// Snappy keeps the block to 21 1/3 times its length in the file.
const MAX_EXPANSION: usize = 512;

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockHandle {
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl BlockHandle {
    pub(super) fn decode(input: &mut &[u8]) -> Option<Self> {
        Some(Self { offset: read_varint(input)?, size: read_varint(input)? })
    }

    /// The offset behind the block and its trailer.
    pub(super) fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER_LEN)
    }

    /// The block as it lies in the file, and its trailer.
    fn slice(self, file: &[u8]) -> Option<&[u8]> {
        file.get(usize::try_from(self.offset).ok()?..usize::try_from(self.end()?).ok()?)
    }

    /// What the block holds: of a compressed one, a copy.
    pub(super) fn read(self, file: &[u8]) -> Result<Cow<'_, [u8]>, TableError> {
        let Self { offset, size } = self;
        let outside = TableError::OutsideFile { offset, size };
        let (summed, checksum) =
            self.slice(file).and_then(|block| block.split_last_chunk()).ok_or(outside)?;
        if masked_crc32c(summed) != u32::from_le_bytes(*checksum) {
            return Err(TableError::ChecksumMismatch { offset });
        }
        match summed.split_last().ok_or(outside)? {
            (0, contents) => Ok(Cow::Borrowed(contents)),
            (1, compressed) => snappy::decompress(compressed)
                .map(Cow::Owned)
                .map_err(|error| TableError::CorruptSnappy { offset, error }),
            (&compression, _) => Err(TableError::UnknownCompression { offset, compression }),
        }
    }

    /// Visits the key and the value of each entry, in order, up to the first that is corrupt.
    pub(super) fn visit_entries(
        self,
        file: &[u8],
        visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), TableError> {
        let block = self.read(file)?;
        let len_in_file = self.slice(file).map_or(0, <[u8]>::len);
        visit_entries(&block, len_in_file.saturating_mul(MAX_EXPANSION), visit)
            .ok_or(TableError::CorruptBlock { offset: self.offset })
    }
}

/// The array of restart points behind the entries is passed over: only a search needs it.
fn visit_entries(
    block: &[u8],
    max_key_bytes: usize,
    mut visit: impl FnMut(&[u8], &[u8]),
) -> Option<()> {
    let (rest, num_restarts) = block.split_last_chunk()?;
    let restarts_len = usize::try_from(u32::from_le_bytes(*num_restarts)).ok()?.checked_mul(4)?;
    let (mut rest, _restarts) = rest.split_at_checked(rest.len().checked_sub(restarts_len)?)?;

    let mut key_bytes_left = max_key_bytes;
    let mut key = Vec::new();
    while !rest.is_empty() {
        let shared = read_len(&mut rest)?;
        let non_shared = read_len(&mut rest)?;
        let value_len = read_len(&mut rest)?;
        let (suffix, after_key) = rest.split_at_checked(non_shared)?;
        let (value, after_value) = after_key.split_at_checked(value_len)?;
        if shared > key.len() {
            return None;
        }
        key.truncate(shared);
        key.extend_from_slice(suffix);
        key_bytes_left = key_bytes_left.checked_sub(key.len())?;
        visit(&key, value);
        rest = after_value;
    }
    Some(())
}

fn read_len(input: &mut &[u8]) -> Option<usize> {
    u32::try_from(read_varint(input)?).ok()?.try_into().ok()
}

fn read_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
