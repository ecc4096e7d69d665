//! The filter block of a table: one filter for each range of file offsets, 2 KiB in LevelDB.
//!
//! Mirrors [`table/filter_block.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block.cc).

use std::{fmt, mem};

use crate::{BloomHash, FilterPolicy};

/// Builds the filter block of a table. Mirrors `FilterBlockBuilder` in `table/filter_block.h`.
///
/// The calls must match the regular expression `(start_block add_key*)* finish`: `start_block` with
/// the file offset of a data block, past the 5-byte trailer of the one before, then `add_key` for
/// each of its keys. See [`FilterBlockReader`] for the bytes.
///
/// Until its range of the file ends, a key takes 4 bytes in a vector that doubles, or waits itself
/// if the policy gives no [hashes](FilterPolicy::key_hash).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
///
/// let policy = BloomFilterPolicy::new(10);
/// let mut builder = FilterBlockBuilder::new(policy);
/// builder.start_block(0);
/// builder.add_key(b"pear");
/// builder.start_block(4_101);
/// builder.add_key(b"plum");
/// let block = builder.finish();
///
/// let reader = FilterBlockReader::new(policy, &block);
/// assert!(reader.key_may_match(0, b"pear"));
/// assert!(reader.key_may_match(4_101, b"plum"));
/// assert!(!reader.key_may_match(4_101, b"pear"));
/// ```
#[derive(Clone)]
pub struct FilterBlockBuilder<P> {
    policy: P,
    base_lg: u8,
    min_keys: usize,
    /// The pending keys' hashes, of a policy that gives them.
    hashes: Vec<BloomHash>,
    /// The pending keys of other policies, back to back.
    keys: Vec<u8>,
    /// Where each of them ends in `keys`.
    ends: Vec<usize>,
    /// The finished filters, then what a policy appended before it panicked.
    result: Vec<u8>,
    /// The bytes of the finished filters.
    filters_len: usize,
    /// Where each filter starts in `result`.
    filter_offsets: Vec<u32>,
    /// Whether there are any, which a constant function cannot ask the vector.
    has_filters: bool,
}

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Starts an empty filter block with a filter by `policy` for each 2 KiB of file.
    #[must_use]
    pub const fn new(policy: P) -> Self {
        Self {
            policy,
            base_lg: 11, // LevelDB's 2 KiB
            min_keys: 0,
            hashes: Vec::new(),
            keys: Vec::new(),
            ends: Vec::new(),
            result: Vec::new(),
            filters_len: 0,
            filter_offsets: Vec::new(),
            has_filters: false,
        }
    }

    /// Makes a filter for each 2<sup>`base_lg`</sup> bytes of data blocks: 11 is LevelDB's 2 KiB;
    /// 19, with [tuned](crate::BloomFilterPolicy::tuned) filters and 4,000 [keys at
    /// least](Self::with_min_keys), is recommended; 63 makes one filter. Readers take any.
    ///
    /// Filters of 1,000 to 20,000 keys are this format's best; random keys gain least from them. A
    /// lookup in a longer filter reads up to a cache line for each probe, not one or two in all.
    ///
    /// # Panics
    ///
    /// If `base_lg` is above 63, or if a filter has been made for another one.
    #[must_use]
    pub const fn with_base_lg(mut self, base_lg: u8) -> Self {
        assert!(base_lg < 64, "base_lg above 63");
        assert!(!self.has_filters, "filters have been made for another base_lg");
        self.base_lg = base_lg;
        self
    }

    /// Widens the range until its first filter has at least `min_keys` keys: what a filter is worth
    /// depends on its keys, not on bytes.
    ///
    /// While there is no filter, and some keys but fewer wait, [`start_block`](Self::start_block)
    /// doubles the range until it reaches the new data block: with data blocks of one size, about
    /// twice `min_keys` keys wait at most. The first filter decides for all: keep 512 KiB at least.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    ///
    /// let policy = BloomFilterPolicy::new(10).tuned().with_min_filter_len(2_048);
    /// let mut builder = FilterBlockBuilder::new(policy).with_base_lg(19).with_min_keys(4_000);
    /// for key in 0..20_000_u64 {
    ///     builder.start_block(key * 5_000);
    ///     builder.add_key(&key.to_be_bytes());
    /// }
    /// assert_eq!(builder.finish().last(), Some(&25)); // a filter for each 32 MiB, 6,711 keys
    /// ```
    #[must_use]
    pub const fn with_min_keys(mut self, min_keys: usize) -> Self {
        self.min_keys = min_keys;
        self
    }

    /// Starts a data block at `block_offset`, in bytes of the file, for the keys added next.
    ///
    /// First makes the missing filters of all earlier ranges, in the policy's time and time linear
    /// in their number. A far too large `block_offset` may take more memory for their 4-byte
    /// offsets than there is, and abort the process.
    ///
    /// # Panics
    ///
    /// - If the range's filter has been made already: readers would miss the keys added to it.
    ///   LevelDB checks this in debug builds only.
    /// - If the policy panics, gives a hash for some keys only, or the allocator refuses the memory
    ///   for the offsets. The builder is then as it was before the call.
    /// - If the filters reach 4 GiB, where the format's offsets end; later calls then panic, too.
    pub fn start_block(&mut self, block_offset: u64) {
        let mut base_lg = self.base_lg;
        if !self.has_filters && (1..self.min_keys).contains(&self.num_pending()) {
            while base_lg < 63 && block_offset >> base_lg > 0 {
                base_lg += 1;
            }
        }
        let filter_index =
            usize::try_from(block_offset >> base_lg).expect("capacity overflow: too many filters");
        let num_filters = self.filter_offsets.len();
        assert!(
            filter_index >= num_filters,
            "block offset {block_offset} goes back to filter {filter_index} of {num_filters} made"
        );
        if filter_index > num_filters {
            // Before the filter is made, so that a panic changes nothing.
            let room = self.filter_offsets.try_reserve(filter_index - num_filters);
            room.expect("capacity overflow: too many filters");
            self.generate_filter();
            // The ranges that a large block spans get empty filters.
            let offset = self.next_offset();
            self.filter_offsets.resize(filter_index, offset);
        }
        self.base_lg = base_lg;
    }

    /// Adds `key` to the current data block; before the first `start_block`, to the one at 0.
    pub fn add_key(&mut self, key: &[u8]) {
        if let Some(hash) = self.policy.key_hash(key) {
            self.hashes.push(hash);
        } else {
            self.keys.extend_from_slice(key);
            self.ends.push(self.keys.len());
        }
    }

    /// Makes the filter of the pending keys, and returns the whole filter block: 5 bytes without
    /// any keys or blocks. Takes the policy's time, and time linear in the number of filters.
    ///
    /// # Panics
    ///
    /// If the filters have 4 GiB or more in all, or where the policy makes `start_block` panic.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.num_pending() > 0 {
            self.generate_filter();
        }
        let array_offset = self.next_offset();
        self.result.reserve_exact(self.filter_offsets.len() * 4 + 5);
        for offset in self.filter_offsets.iter().chain([&array_offset]) {
            self.result.extend_from_slice(&offset.to_le_bytes());
        }
        self.result.push(self.base_lg);
        self.result
    }

    /// Makes the filter of the pending keys, if there are any, and removes them.
    fn generate_filter(&mut self) {
        let offset = self.next_offset();
        self.result.truncate(self.filters_len);
        if !self.ends.is_empty() {
            assert!(self.hashes.is_empty(), "key_hash gives a hash for some keys only");
            let mut start = 0;
            let key = |&end| &self.keys[mem::replace(&mut start, end)..end];
            let keys: Vec<_> = self.ends.iter().map(key).collect();
            self.policy.create_filter(&keys, &mut self.result);
        } else if !self.hashes.is_empty() {
            self.policy.create_filter_of_hashes(&self.hashes, &mut self.result);
        }
        self.filters_len = self.result.len();
        self.hashes.clear();
        self.keys.clear();
        self.ends.clear();
        self.filter_offsets.push(offset);
        self.has_filters = true;
    }

    fn next_offset(&self) -> u32 {
        u32::try_from(self.filters_len).expect("filters of 4 GiB or more in a block")
    }
}

impl<P> FilterBlockBuilder<P> {
    fn num_pending(&self) -> usize {
        self.hashes.len() + self.ends.len()
    }
}

impl<P: fmt::Debug> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy)
            .field("base_lg", &self.base_lg)
            .field("filters", &self.filter_offsets.len())
            .field("pending_keys", &self.num_pending())
            .finish_non_exhaustive()
    }
}

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
/// corrupt filter may reject keys it contains. Readers never panic, overflow or allocate on any
/// bytes; lookups in malformed parts answer `true`. Unlike in LevelDB, so do lookups with a
/// `base_lg` of 64 or more (undefined in C++) and with equal offsets outside the filters ("no keys"
/// in C++).
#[derive(Clone)]
pub struct FilterBlockReader<P, B> {
    policy: P,
    contents: B,
    frame: Frame,
}

impl<P: Copy, B: ?Sized> Copy for FilterBlockReader<P, &B> {}

impl<P: FilterPolicy, B: AsRef<[u8]>> FilterBlockReader<P, B> {
    /// Reads where the filters of a block are, in constant time.
    ///
    /// `contents` is the block without the 5-byte trailer (compression type and checksum) that
    /// follows it in the file, and `policy` the one that the table's metaindex block names.
    #[must_use]
    pub fn new(policy: P, contents: B) -> Self {
        let frame = Frame::parse(contents.as_ref()).unwrap_or_default();
        Self { policy, contents, frame }
    }

    /// The base-2 logarithm of the length in bytes of the file ranges that share a filter. Below
    /// 64; 0 for a malformed block.
    #[must_use]
    pub const fn base_lg(&self) -> u8 {
        self.frame.base_lg
    }

    /// The number of filters, including those of ranges without keys. 0 for a malformed block:
    /// shorter than 5 bytes, an array of offsets that starts outside, or a `base_lg` of 64 or more.
    #[must_use]
    pub const fn num_filters(&self) -> usize {
        self.frame.num_filters
    }

    /// Whether the data block at `block_offset` may contain `key`: an internal key if the policy is
    /// an [`InternalKeyPolicy`](crate::InternalKeyPolicy), else a user key. `true` where
    /// [`filter`](Self::filter) is `None`.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, block_offset: u64, key: &[u8]) -> bool {
        self.filter(block_offset).is_none_or(|filter| self.policy.key_may_match(key, filter))
    }

    /// The filter for the data block at `block_offset`, as the policy made it.
    ///
    /// `None` past the last filter, or where the block or the filter's offsets are malformed: then
    /// the data block may contain any key. Empty bytes where no data block starts in the range,
    /// even if a data block that starts before has keys there. Takes constant time.
    #[inline]
    #[must_use]
    pub fn filter(&self, block_offset: u64) -> Option<&[u8]> {
        let Frame { array_offset, num_filters, base_lg } = self.frame;
        let index = usize::try_from(block_offset >> base_lg).ok().filter(|&i| i < num_filters)?;
        let contents = self.contents.as_ref();
        // For the last filter, the word after its offset is the offset of the array.
        let start = decode_fixed32(contents, array_offset + index * 4)?;
        let limit = decode_fixed32(contents, array_offset + index * 4 + 4)?;
        contents.get(..array_offset)?.get(start..limit)
    }
}

/// Shows no bytes of the block.
impl<P: fmt::Debug, B> fmt::Debug for FilterBlockReader<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockReader")
            .field("policy", &self.policy)
            .field("num_filters", &self.frame.num_filters)
            .field("base_lg", &self.frame.base_lg)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Default)]
struct Frame {
    /// Where the array of offsets starts, and the filters end.
    array_offset: usize,
    num_filters: usize,
    base_lg: u8,
}

impl Frame {
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
