//! Reading a filter block.

use alloc::vec::Vec;
use core::fmt;

use crate::hash::{BATCH, assert_same_len};
use crate::{BloomFilterPolicy, BloomHash, FilterKey, FilterPolicy, HashPolicy};

/// Reads the filter block of a table. Mirrors `FilterBlockReader` in `table/filter_block.h`.
///
/// ```text
/// | filter 0 | filter 1 | ... | offset of each filter | array offset | base_lg |
///   as the policy made them     u32 each                u32            u8
/// ```
///
/// Numbers are little-endian. Offsets are in bytes from the start of the block. A data block's
/// filter has the index `block_offset >> base_lg`. A filter ends where the next filter starts, and
/// the last filter where the array of offsets starts. Do not pass a filter block to
/// [`BloomFilter`](crate::BloomFilter), which expects a single filter and may reject every key.
///
/// **Verify the block's checksum first**, which LevelDB does only under `paranoid_checks`. A
/// corrupt filter may reject keys that it contains. If the checksum is wrong, pass `Vec::new()` as
/// the block, which rejects no key. Readers never panic, overflow or allocate on any bytes. If the
/// block or a filter's offsets are malformed, lookups answer `true`. LevelDB differs in two cases.
/// With a `base_lg` of 64 or more its behaviour is undefined. If a filter's two offsets are equal but
/// lie beyond the filters, it answers `false`.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};
/// // A filter of `pear` at 0, its offset at 9, and `base_lg` 11, which is 2 KiB.
/// let block = b"\xa8\0\0\0\x54\0\0\0\x06\0\0\0\0\x09\0\0\0\x0b";
/// let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), block);
/// assert!(reader.key_may_match(0, b"pear") && !reader.key_may_match(0, b"fig"));
/// assert!(reader.key_may_match(2_048, b"fig")); // no filter there
/// ```
#[derive(Clone)]
pub struct FilterBlockReader<P = BloomFilterPolicy, B = Vec<u8>> {
    policy: P,
    contents: B,
    /// `None` if the block is malformed.
    footer: Option<Footer>,
}

impl<P: Copy, B: ?Sized> Copy for FilterBlockReader<P, &B> {}

impl<P: FilterPolicy, B: AsRef<[u8]>> FilterBlockReader<P, B> {
    /// Creates a reader of a block, in constant time. `contents` is the block without the 5-byte
    /// trailer (compression type and checksum) that follows it in the file. `policy` is the policy
    /// that the table's metaindex block names.
    ///
    /// If a table has no filters, pass empty contents. Then all lookups answer `true`.
    ///
    /// To share the bytes between readers, use an `Arc<[u8]>`, or a type of your own around a
    /// shared memory map. `Arc<Vec<u8>>` and `Arc<Mmap>` do not implement `AsRef<[u8]>`.
    #[must_use]
    pub fn new(policy: P, contents: B) -> Self {
        Self { footer: Footer::parse(contents.as_ref()), policy, contents }
    }

    /// Returns whether the data block at `block_offset` may contain `key`, or `true` if
    /// [`filter`](Self::filter) is `None`.
    ///
    /// Pass the offset of the data block with the first entry at or after the key. An index of last
    /// keys finds that block, as LevelDB's index does. An index of first keys may find the block
    /// before, and that block's filter may lack the key. In a table with [one
    /// filter](Self::num_filters), any data block's offset will do.
    ///
    /// The answer is for this key alone. A scan, or a seek to the next key, must open the table
    /// whatever the answer is, because the table may contain the key after it.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, block_offset: u64, key: &[u8]) -> bool {
        self.filter(block_offset).is_none_or(|filter| self.policy.key_may_match(key, filter))
    }

    /// Does what [`key_may_match`](Self::key_may_match) does, for a key that is looked up in
    /// several tables. If a policy with this reader's policy's name made the `FilterKey`, its hash
    /// is not computed again.
    #[inline]
    #[must_use]
    pub fn may_match(&self, block_offset: u64, key: &FilterKey) -> bool {
        self.filter(block_offset).is_none_or(|filter| key.may_match(&self.policy, filter))
    }

    /// Looks up many keys: writes the answer of [`may_match`](Self::may_match) for
    /// `block_offsets[i]` and `keys[i]` to `matches[i]`.
    ///
    /// Overwrites all of `matches`, and allocates nothing. Successive keys that share a filter are
    /// looked up together, by the policy's
    /// [`hashes_may_match`](crate::HashPolicy::hashes_may_match) if the policy has hashes. So pass
    /// keys in the table's order. The answers are right in any order.
    ///
    /// Consult the table's range deletions first, because they affect keys that no filter contains.
    /// Then leave out keys that need no lookup in this table: keys that are decided by now, and
    /// keys after the last data block.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey};
    /// let policy = BloomFilterPolicy::new(10).tuned();
    /// let mut builder = FilterBlockBuilder::with_long_ranges(policy);
    /// builder.start_block(0);
    /// builder.add_key(b"fig");
    /// builder.start_block(4_101);
    /// builder.add_key(b"pear");
    /// let reader = FilterBlockReader::new(policy, builder.finish());
    ///
    /// let keys = [b"fig".as_slice(), b"lime", b"pear"].map(|key| FilterKey::new(&policy, key));
    /// let block_offsets = [0, 4_101, 4_101]; // from the table's index
    /// let mut matches = [false; 3];
    /// reader.may_match_many(&block_offsets, &keys, &mut matches);
    /// assert_eq!(matches, [true, false, true]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    #[doc(alias("batch", "multi get", "multi_get"))]
    pub fn may_match_many(&self, block_offsets: &[u64], keys: &[FilterKey], matches: &mut [bool]) {
        assert_same_len(block_offsets, keys, "FilterBlockReader::may_match_many");
        assert_same_len(keys, matches, "FilterBlockReader::may_match_many");
        let Some(by_hash) = self.policy.by_hash() else {
            let lookups = block_offsets.iter().zip(keys).zip(matches);
            return lookups.for_each(|((&offset, key), matches)| {
                *matches = self.may_match(offset, key);
            });
        };
        let lookups = block_offsets.chunks(BATCH).zip(keys.chunks(BATCH));
        for ((block_offsets, keys), matches) in lookups.zip(matches.chunks_mut(BATCH)) {
            self.look_up(by_hash, block_offsets, keys, matches);
        }
    }

    /// Looks up a batch of keys by their hashes.
    fn look_up(
        &self,
        by_hash: &dyn HashPolicy,
        block_offsets: &[u64],
        keys: &[FilterKey],
        matches: &mut [bool],
    ) {
        let (base_lg, name) = (self.base_lg(), self.policy.name());
        let (mut hashes, mut always_match) = ([BloomHash::default(); BATCH], [false; BATCH]);
        for ((key, slot), always_matches) in keys.iter().zip(&mut hashes).zip(&mut always_match) {
            let hash = key.hash_by(by_hash, name);
            *slot = hash.unwrap_or_default();
            *always_matches = hash.is_none();
        }
        let mut end = 0;
        for block_offsets in block_offsets.chunk_by(|a, b| a >> base_lg == b >> base_lg) {
            let group = end..end + block_offsets.len();
            end = group.end;
            let (hashes, matches) = (&hashes[group.clone()], &mut matches[group]);
            match self.filter(block_offsets[0]) {
                Some(filter) => by_hash.hashes_may_match(hashes, filter, matches),
                None => matches.fill(true),
            }
        }
        for (matches, always_matches) in matches.iter_mut().zip(always_match) {
            *matches |= always_matches;
        }
    }

    /// Returns the filter for the data block at `block_offset`, as the policy built it.
    ///
    /// Returns `None` after the last filter, or if the block or the filter's offsets are malformed.
    /// Then the data block may contain any key. Returns empty bytes for a range in which no data
    /// block starts, and a Bloom filter of empty bytes matches nothing. Takes constant time.
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

    /// Returns the base-2 logarithm of the bytes of the file that each filter covers. It is below
    /// 64, and 0 if the block is malformed.
    #[must_use]
    pub fn base_lg(&self) -> u8 {
        self.footer.unwrap_or_default().base_lg
    }

    /// Returns the number of filters, including empty filters of ranges without keys; 0 if the
    /// block is malformed.
    ///
    /// In a block with one filter, that filter has all keys of the table. So a lookup at offset 0
    /// can rule out a key before the table's index is read.
    #[must_use]
    pub fn num_filters(&self) -> usize {
        self.footer.unwrap_or_default().num_filters
    }

    /// Returns whether the block is shorter than 5 bytes, its array of offsets starts outside the
    /// block, or its `base_lg` is 64 or more. Then all lookups answer `true`. A block that is not
    /// malformed may still have damaged filters or damaged offsets.
    #[must_use]
    pub const fn is_malformed(&self) -> bool {
        self.footer.is_none()
    }

    /// Returns the policy that reads the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the block, for example for a cache that counts bytes.
    #[must_use]
    pub const fn contents(&self) -> &B {
        &self.contents
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

/// What the last bytes of a block say about it.
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
