//! Reading a filter block.

use core::fmt;

use crate::{FilterKey, FilterPolicy};

/// Reads the filter block of a table. Mirrors `FilterBlockReader` in `table/filter_block.h`.
///
/// ```text
/// | filter 0 | filter 1 | ... | offset of each filter | array offset | base_lg |
///   as the policy made them     u32 each                u32            u8
/// ```
///
/// Numbers are little-endian; offsets are in bytes from the start of the block. A data block's
/// filter has the index `block_offset >> base_lg`; it ends where the next one starts, the last one
/// where the array of offsets starts. A filter block is not a filter for
/// [`BloomFilter`](crate::BloomFilter), which might reject every key of the block.
///
/// **Verify the block's checksum first**, which LevelDB does only under `paranoid_checks`: a
/// corrupt filter may reject keys it contains. If the checksum is wrong, read the table without
/// filters. Readers never panic, overflow or allocate on any bytes; lookups in malformed parts
/// answer `true`, unlike in LevelDB also with a `base_lg` of 64 or more (undefined in C++) and with
/// equal offsets outside the filters ("no keys" in C++).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};
/// // A filter of `pear` at 0, the array of its offset at 9, and 2 KiB.
/// let block = b"\xa8\0\0\0\x54\0\0\0\x06\0\0\0\0\x09\0\0\0\x0b";
/// let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), block);
/// assert!(reader.key_may_match(0, b"pear") && !reader.key_may_match(0, b"fig"));
/// assert!(reader.key_may_match(2_048, b"fig")); // no filter there
/// ```
#[derive(Clone)]
pub struct FilterBlockReader<P, B> {
    policy: P,
    contents: B,
    /// `None` of a malformed block.
    footer: Option<Footer>,
}

impl<P: Copy, B: ?Sized> Copy for FilterBlockReader<P, &B> {}

impl<P: FilterPolicy, B: AsRef<[u8]>> FilterBlockReader<P, B> {
    /// Reads where the filters of a block are, in constant time. `contents` is the block without
    /// the 5-byte trailer (compression type and checksum) that follows it in the file, and `policy`
    /// the one that the table's metaindex block names.
    #[must_use]
    pub fn new(policy: P, contents: B) -> Self {
        Self { footer: Footer::parse(contents.as_ref()), policy, contents }
    }

    /// Whether the data block at `block_offset` may contain `key`: an internal key if the policy is
    /// an [`InternalKeyPolicy`](crate::InternalKeyPolicy), else a user key. `true` where
    /// [`filter`](Self::filter) is `None`.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, block_offset: u64, key: &[u8]) -> bool {
        self.filter(block_offset).is_none_or(|filter| self.policy.key_may_match(key, filter))
    }

    /// [`key_may_match`](Self::key_may_match) for a key that is looked up in several tables, made
    /// with this reader's policy: by its hash if both have hashes, else by the key.
    #[inline]
    #[must_use]
    pub fn may_match(&self, block_offset: u64, key: &FilterKey) -> bool {
        self.filter(block_offset).is_none_or(|filter| key.may_match(&self.policy, filter))
    }

    /// The filter for the data block at `block_offset`, as the policy made it.
    ///
    /// `None` past the last filter, or where the block or the filter's offsets are malformed: then
    /// the data block may contain any key. Empty bytes where no data block starts in the range,
    /// even if a data block that starts before has keys there. Takes constant time.
    #[inline]
    #[must_use]
    pub fn filter(&self, block_offset: u64) -> Option<&[u8]> {
        let Footer { array_offset, num_filters, base_lg } = self.footer?;
        let index = usize::try_from(block_offset >> base_lg).ok().filter(|&i| i < num_filters)?;
        let contents = self.contents.as_ref();
        // For the last filter, the word after its offset is the offset of the array.
        let start = decode_fixed32(contents, array_offset + index * 4)?;
        let limit = decode_fixed32(contents, array_offset + index * 4 + 4)?;
        contents.get(..array_offset)?.get(start..limit)
    }

    /// The base-2 logarithm of the length in bytes of the file ranges that share a filter. Below
    /// 64; 0 of a malformed block.
    #[must_use]
    pub fn base_lg(&self) -> u8 {
        self.footer.unwrap_or_default().base_lg
    }

    /// The number of filters, including those of ranges without keys; 0 of a malformed block.
    #[must_use]
    pub fn num_filters(&self) -> usize {
        self.footer.unwrap_or_default().num_filters
    }

    /// Whether the block is shorter than 5 bytes, its array of offsets starts outside, or its
    /// `base_lg` is 64 or more: then all lookups answer `true`. A block that is not malformed may
    /// still have damaged filters, or damaged offsets of some.
    #[must_use]
    pub const fn is_malformed(&self) -> bool {
        self.footer.is_none()
    }

    /// The policy that reads the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

/// Shows no bytes of the block.
impl<P: fmt::Debug, B> fmt::Debug for FilterBlockReader<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockReader")
            .field("policy", &self.policy)
            .field("footer", &self.footer)
            .finish_non_exhaustive()
    }
}

/// What the end of a block says of it.
#[derive(Clone, Copy, Debug, Default)]
struct Footer {
    /// Where the array of offsets starts, and the filters end.
    array_offset: usize,
    num_filters: usize,
    base_lg: u8,
}

impl Footer {
    /// `None` for a malformed block.
    fn parse(contents: &[u8]) -> Option<Self> {
        let (rest, &[.., base_lg]) = contents.split_last_chunk::<5>()?;
        let array_offset = decode_fixed32(contents, rest.len())?;
        let num_filters = rest.len().checked_sub(array_offset)? / 4;
        (base_lg < 64).then_some(Self { array_offset, num_filters, base_lg })
    }
}

fn decode_fixed32(bytes: &[u8], offset: usize) -> Option<usize> {
    let (word, _) = bytes.get(offset..)?.split_first_chunk()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}
