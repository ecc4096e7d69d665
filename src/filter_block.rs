//! The filter block of a table: one filter for each range of file offsets, 2 KiB in LevelDB.
//!
//! Mirrors [`table/filter_block.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block.cc).

mod keys;
mod long_ranges;
mod reader;

use alloc::vec::Vec;
use core::ops::Range;
use core::{fmt, mem};

use self::keys::Keys;
use self::long_ranges::DataBlock;
pub use self::reader::FilterBlockReader;
use crate::{BloomFilterPolicy, FilterPolicy};

/// Builds the filter block of a table. Mirrors `FilterBlockBuilder` in `table/filter_block.h`.
///
/// For each data block, call `start_block` with its file offset, then `add_key` for each entry. At
/// the end, call `finish`. The offset counts the 5-byte trailers of the blocks before. As a regular
/// expression, the calls are `add_key* (start_block add_key*)* finish`. [`FilterBlockReader`] shows
/// the format of the result.
///
/// For LevelDB's exact bytes, also call `start_block` after the last data block, with the offset
/// behind its trailer. If the last data block is long, this adds empty filters at the end. Lookups
/// in data blocks give the same answers either way.
///
/// If writing a table fails halfway, call [`clear`](Self::clear). Otherwise the table's keys end up
/// in the next table. After a panic keys may be missing, so every method but `clear` and `policy`
/// panics until the builder is cleared. Until a filter is built, the builder keeps a hash of 4 bytes
/// per key, or the key itself if the policy has no [hashes](FilterPolicy::by_hash).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
/// let policy = BloomFilterPolicy::new(10).tuned();
/// let mut builder = FilterBlockBuilder::with_long_ranges(policy);
/// builder.start_block(0);
/// builder.add_key(b"pear");
/// builder.start_block(4_101);
/// builder.add_key(b"plum");
/// let reader = FilterBlockReader::new(policy, builder.finish());
/// assert!(reader.key_may_match(4_101, b"plum") && !reader.key_may_match(4_101, b"fig"));
/// ```
#[derive(Clone)]
pub struct FilterBlockBuilder<P = BloomFilterPolicy> {
    policy: P,
    /// `None` for long ranges, which `finish` chooses.
    base_lg: Option<u8>,
    /// The keys without a filter.
    keys: Keys,
    /// Whether entries were added since the last filter, or with long ranges to this data block.
    has_entries: bool,
    /// Of long ranges: the current data block's offset, and the data blocks with entries.
    block_offset: u64,
    blocks: Vec<DataBlock>,
    /// Empty between calls. The policy appends to it, not to `result`, so that a policy that
    /// replaces what it is given destroys no finished filter.
    filter: Vec<u8>,
    /// The finished filters.
    result: Vec<u8>,
    /// Where each filter starts in `result`.
    filter_offsets: Vec<u32>,
    /// Set during each call, and still set after a call that panicked.
    is_poisoned: bool,
}

/// LevelDB's 2 KiB.
const BASE_LG: u8 = 11;

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Creates a builder of LevelDB's blocks, with a filter for each 2 KiB of data blocks.
    #[must_use]
    pub const fn new(policy: P) -> Self {
        Self::with_base_lg(policy, BASE_LG)
    }

    /// Creates a builder with a filter for each 2<sup>`base_lg`</sup> bytes of data blocks, such as
    /// goleveldb makes with its option `FilterBaseLg`. With 63, a table has one filter, however large
    /// it is. Readers understand any number up to 63, but rusty-leveldb on 32-bit platforms overflows
    /// from 32 on.
    ///
    /// # Panics
    ///
    /// If `base_lg` is above 63.
    #[must_use]
    pub const fn with_base_lg(policy: P, base_lg: u8) -> Self {
        assert!(base_lg < 64, "FilterBlockBuilder::with_base_lg: base_lg must be at most 63");
        let mut builder = Self::with_long_ranges(policy);
        builder.base_lg = Some(base_lg);
        builder
    }

    /// Creates a builder with fewer and larger filters than LevelDB's. Recommended, with a
    /// [tuned](crate::BloomFilterPolicy::tuned) policy. LevelDB since 1.18 reads the blocks.
    ///
    /// LevelDB builds a filter for each 2 KiB of the file, which may be two keys, and its hash makes
    /// small filters bad for keys that count up. Here [`finish`](Self::finish) chooses one range for
    /// the whole table, from all of its keys:
    ///
    /// - **Range.** Filters have 2,000 keys or more on average, or a table has one filter. Some keys
    ///   have equal hashes, which no filter can tell apart. If too many of a sample would share a
    ///   filter, one in 256, the range becomes shorter, down to 100 keys on average.
    /// - **Room.** A filter of few keys is as long as a filter of eight times as many, up to 2,000,
    ///   because short filters match most keys that count up. If the table has several filters,
    ///   their room takes at most what LevelDB's additional offsets would, at 10 bits per key.
    /// - **Versions.** Successive keys with the same hash count once in a filter, for example all
    ///   versions of a user key in a table of [internal keys](crate::InternalKeyPolicy). Add each
    ///   version all the same, because a range that begins between two versions needs the key.
    /// - **One filter.** A block with one filter, or none, gets the `base_lg` 63, so the filter
    ///   answers at every offset, also for an engine that [leaves out
    ///   `start_block`](crate::recipes::one_filter_per_table).
    ///
    /// Until `finish`, a table takes 4 bytes of memory per key and 24 per data block, or three times
    /// as much while the vectors grow. A policy without [hashes](FilterPolicy::by_hash) keeps its
    /// keys so long, counts repeated keys each time, and has neither room nor shorter ranges.
    #[must_use]
    pub const fn with_long_ranges(policy: P) -> Self {
        Self {
            policy,
            base_lg: None,
            keys: Keys::new(),
            has_entries: false,
            block_offset: 0,
            blocks: Vec::new(),
            filter: Vec::new(),
            result: Vec::new(),
            filter_offsets: Vec::new(),
            is_poisoned: false,
        }
    }

    /// Starts a data block at `block_offset` in the file, for the keys added next. The offset is
    /// the data block's place in the file as it is stored, after compression. So a table that is
    /// written anew needs a new filter block, even if it has the same keys.
    ///
    /// If the offset is in a later range, this builds the filter of the pending keys. It also adds a
    /// 4-byte offset for each range, so a wrong, huge `block_offset` can exhaust memory. Then this
    /// panics, or the system ends the process. [Long ranges](Self::with_long_ranges) only note the
    /// offset, and a huge one makes them longer.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    /// let mut file = Vec::new();
    /// for (data_block, keys) in [("...", ["apple", "fig"]), ("....", ["pear", "plum"])] {
    ///     builder.start_block(file.len() as u64);
    ///     keys.iter().for_each(|key| builder.add_key(key.as_bytes()));
    ///     file.extend(data_block.as_bytes());
    ///     file.extend([0; 5]); // the trailer: compression type and checksum
    /// }
    /// builder.start_block(file.len() as u64); // for LevelDB's exact bytes
    /// file.extend(builder.finish());
    /// ```
    ///
    /// # Panics
    ///
    /// - If the range's filter is already built, because readers would miss the keys added now.
    ///   LevelDB checks this in debug builds only. Long ranges panic if the offset is below the last
    ///   data block's.
    /// - If the filters reach 4 GiB, because the format's offsets have 32 bits.
    /// - If the policy panics. May panic if the policy gives hashes only in some calls.
    /// - If there is no memory for the offsets, or if an earlier call panicked.
    #[inline]
    pub fn start_block(&mut self, block_offset: u64) {
        self.enter();
        if let Some(base_lg) = self.base_lg {
            let filter_index = usize::try_from(block_offset >> base_lg).expect(OVERFLOW);
            let num_filters = self.filter_offsets.len();
            assert!(
                filter_index >= num_filters,
                "FilterBlockBuilder::start_block: block offset {block_offset} belongs to filter \
                 {filter_index}, which is already written (filters so far: {num_filters})"
            );
            if filter_index > num_filters {
                self.generate_pending_filter();
                self.start_filter(filter_index);
            }
        } else {
            let last = mem::replace(&mut self.block_offset, block_offset);
            assert!(
                block_offset >= last,
                "FilterBlockBuilder::start_block: block offset {block_offset} is below the last \
                 data block's, {last}"
            );
            self.has_entries &= block_offset == last;
        }
        self.is_poisoned = false;
    }

    /// Adds the key of an entry to the current data block. Before the first `start_block`, this is
    /// the block at 0.
    ///
    /// Add the key of every entry, also of deletions and merge operands. Otherwise a lookup would
    /// skip the table and find an older, outdated value. A range deletion affects keys that are not
    /// in the filter, so consult a table's range deletions before its filter.
    ///
    /// # Panics
    ///
    /// If the policy panics, or if an earlier call panicked.
    #[doc(alias = "tombstone")]
    pub fn add_key(&mut self, key: &[u8]) {
        self.enter();
        let has_long_ranges = self.base_lg.is_none();
        if !mem::replace(&mut self.has_entries, true) && has_long_ranges {
            self.add_block();
        }
        // LevelDB's own ranges count each version of a key.
        if self.keys.add(&self.policy, key, has_long_ranges) {
            long_ranges::repeat_last_key(&mut self.blocks, self.keys.len());
        }
        self.is_poisoned = false;
    }

    /// Returns the length in bytes of the filter block without the [pending
    /// keys](Self::num_pending_keys): 5 with long ranges, until `finish`. Takes constant time.
    ///
    /// An engine that limits the size of tables adds the pending keys' filter. In LevelDB's ranges
    /// that is one filter with its offset. Long ranges are yet to be chosen, so this estimates them,
    /// with the room of few keys. Where keys have equal hashes, the block can be as long as LevelDB's.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let policy = BloomFilterPolicy::new(10).tuned();
    /// let mut leveldb = FilterBlockBuilder::new(policy);
    /// let mut long = FilterBlockBuilder::with_long_ranges(policy);
    /// for key in (0..3_000_u64).map(u64::to_be_bytes) {
    ///     leveldb.add_key(&key);
    ///     long.add_key(&key);
    /// }
    /// let filter_len = policy.shape(leveldb.num_pending_keys()).filter_len();
    /// let exact = leveldb.finished_len() + filter_len + 4;
    /// let num_keys = long.num_pending_keys();
    /// let estimate = long.finished_len() + num_keys.max((8 * num_keys).min(2_000)) * 10 / 8; // bits
    /// assert_eq!(leveldb.finish().len(), exact);
    /// assert!(long.finish().len().abs_diff(estimate) < 50);
    /// ```
    ///
    /// # Panics
    ///
    /// If an earlier call panicked.
    #[must_use]
    pub fn finished_len(&self) -> usize {
        assert!(!self.is_poisoned, "{POISONED}");
        self.result.len() + self.filter_offsets.len() * 4 + 5
    }

    /// Returns how many keys wait for a filter, which is all keys of the table with long ranges.
    /// Takes constant time.
    ///
    /// With [long ranges](Self::with_long_ranges), successive keys with the same hash count once. A
    /// key for which the policy has [no hash](crate::HashPolicy::key_hash) does not count. If no
    /// other key is pending, the number is 0, but there will still be a filter, which for Bloom
    /// filters takes 13 bytes with its offset.
    ///
    /// # Panics
    ///
    /// If an earlier call panicked.
    #[must_use]
    pub fn num_pending_keys(&self) -> usize {
        assert!(!self.is_poisoned, "{POISONED}");
        self.keys.len()
    }

    /// Returns the policy that builds the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Drops all keys and filters of an unfinished table, for example because writing it failed. The
    /// builder is then ready for the next table, even if a call has panicked.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.has_entries = false;
        self.block_offset = 0;
        self.blocks.clear();
        self.filter.clear();
        self.result.clear();
        self.filter_offsets.clear();
        self.is_poisoned = false;
    }

    /// Builds the filters of the pending keys, and returns the whole filter block. The builder is
    /// then ready for the next table. The vector's capacity can exceed its length. Takes the time
    /// that the policy needs, and time linear in the length of the block. Without keys, the block
    /// takes 5 bytes, and in LevelDB's ranges 4 more for each range that `start_block` has passed.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let policy = BloomFilterPolicy::new(10).tuned();
    /// let mut builder = FilterBlockBuilder::with_long_ranges(policy);
    /// builder.add_key(b"pear");
    /// let block = builder.finish(); // to be followed by its trailer in the file
    /// let metaindex_key = format!("filter.{}", policy.name());
    /// assert_eq!(metaindex_key, "filter.leveldb.BuiltinBloomFilter2");
    /// assert_eq!(builder.finish().len(), 5); // the next table has no keys
    /// ```
    ///
    /// # Panics
    ///
    /// - If all filters together reach 4 GiB, or if an earlier call panicked.
    /// - If the policy panics. May panic if the policy gives hashes only in some calls.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.enter();
        let base_lg = self.base_lg.unwrap_or_else(|| self.generate_long_ranges());
        self.generate_pending_filter();
        let array_offset = self.next_offset();
        let mut block = mem::take(&mut self.result);
        block.reserve_exact(self.filter_offsets.len() * 4 + 5);
        for offset in self.filter_offsets.iter().chain([&array_offset]) {
            block.extend_from_slice(&offset.to_le_bytes());
        }
        block.push(base_lg);
        self.clear();
        block
    }

    #[inline(never)] // Inlined, it makes `add_key` take half as long again for every key.
    fn add_block(&mut self) {
        let (offset, num_before) = (self.block_offset, self.keys.len());
        self.blocks.push(DataBlock { offset, num_before, repeats_last: false });
    }

    fn enter(&mut self) {
        assert!(!mem::replace(&mut self.is_poisoned, true), "{POISONED}");
    }

    /// Builds the filters of all keys, and returns the range that was chosen for them.
    fn generate_long_ranges(&mut self) -> u8 {
        let (blocks, num_keys) = (mem::take(&mut self.blocks), self.keys.len());
        let base_lg = long_ranges::choose_base_lg(&blocks, num_keys, self.keys.hashes());
        let mut ranges =
            blocks.chunk_by(|a, b| a.offset >> base_lg == b.offset >> base_lg).peekable();
        while let Some(range) = ranges.next() {
            let start = long_ranges::first_key(range);
            let end = ranges.peek().map_or(num_keys, |next| next[0].num_before);
            self.start_filter(usize::try_from(range[0].offset >> base_lg).expect(OVERFLOW));
            self.generate_filter(start..end, long_ranges::min_keys(end - start, base_lg));
        }
        self.has_entries = false;
        self.blocks = blocks;
        base_lg
    }

    /// Builds the filter of the entries since the last filter, if there are any.
    fn generate_pending_filter(&mut self) {
        if mem::take(&mut self.has_entries) {
            self.generate_filter(0..self.keys.len(), 0);
            self.keys.clear();
        }
    }

    /// Adds empty filters of the ranges up to this one, in which no data block starts.
    fn start_filter(&mut self, filter_index: usize) {
        let (offset, missing) = (self.next_offset(), filter_index - self.filter_offsets.len());
        self.filter_offsets.try_reserve(missing).expect(OVERFLOW);
        self.filter_offsets.resize(filter_index, offset);
    }

    fn generate_filter(&mut self, keys: Range<usize>, min_keys: usize) {
        let offset = self.next_offset();
        self.keys.create_filter(&self.policy, keys, min_keys, &mut self.filter);
        if self.result.is_empty() {
            // Without a copy, because a table may have only one, large filter.
            mem::swap(&mut self.result, &mut self.filter);
        }
        self.result.append(&mut self.filter);
        self.filter_offsets.push(offset);
    }

    fn next_offset(&self) -> u32 {
        u32::try_from(self.result.len()).expect("FilterBlockBuilder: the filters exceed 4 GiB")
    }
}

const POISONED: &str = "FilterBlockBuilder is unusable because an earlier call panicked";
const OVERFLOW: &str = "FilterBlockBuilder::start_block: capacity overflow, too many filters";

impl<P: fmt::Debug> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy)
            .field("base_lg", &self.base_lg)
            .field("filters", &self.filter_offsets.len())
            .field("pending_keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
