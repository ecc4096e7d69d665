//! The filter block of a table: one filter for each range of file offsets, 2 KiB in LevelDB.
//!
//! Mirrors [`table/filter_block.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block.cc).

mod pending;
mod reader;

use alloc::vec::Vec;
use core::{fmt, mem};

use crate::{BloomFilterPolicy, FilterPolicy};
use pending::PendingKeys;
pub use reader::FilterBlockReader;

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
/// If writing a table fails halfway, call [`clear`](Self::clear). Otherwise the table's keys and
/// filters end up in the next table.
///
/// The builder keeps a hash of 4 bytes per key, in a vector that doubles, until the key's range
/// ends. If the policy has no [hashes](FilterPolicy::by_hash), it keeps the key itself. After a
/// panic keys may be missing, so every method but `clear` and `policy` panics until the builder is
/// cleared.
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
    base_lg: u8,
    has_long_ranges: bool,
    pending: PendingKeys,
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

/// How many keys a good filter has: LevelDB's hash makes smaller filters bad for counters, and
/// filters of many more keys bad for decimal and hexadecimal numbers.
const GOOD_NUM_KEYS: usize = 2_000;

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Creates a builder of LevelDB's blocks, with a filter for each 2 KiB of data blocks.
    #[must_use]
    pub const fn new(policy: P) -> Self {
        Self {
            policy,
            base_lg: BASE_LG,
            has_long_ranges: false,
            pending: PendingKeys::new(),
            filter: Vec::new(),
            result: Vec::new(),
            filter_offsets: Vec::new(),
            is_poisoned: false,
        }
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
        let mut builder = Self::new(policy);
        builder.base_lg = base_lg;
        builder
    }

    /// Creates a builder with fewer and larger filters than LevelDB's. Recommended, with a
    /// [tuned](crate::BloomFilterPolicy::tuned) policy. LevelDB since 1.18 reads the blocks.
    ///
    /// LevelDB's hash makes small filters bad for keys that count up, and filters of many thousand
    /// keys bad for keys that contain decimal or hexadecimal numbers. LevelDB builds a filter for
    /// each 2 KiB of the file, which may be two keys. Here most filters have 2,000 to 4,000 keys,
    /// however long the values are:
    ///
    /// - **Range.** Each filter covers 2 KiB at first. [`start_block`](Self::start_block) doubles
    ///   the range, for the whole table, while fewer than 2,000 keys are pending. Once a filter has
    ///   been built, the range is fixed. So if large values come first and many small ones later,
    ///   the later filters have more keys.
    /// - **Room.** A filter of few keys is as long as a filter of eight times as many, up to 2,000,
    ///   because short filters match most keys that count up. After a table's first filter, the
    ///   room is at most 3 keys for each 2 KiB of the range. At 10 bits per key, these take about
    ///   what LevelDB's offsets take, so a block is hardly longer than LevelDB's, but for up to
    ///   2.5 KB. More bits per key take more, and so does [tuned](crate::BloomFilterPolicy::tuned)
    ///   filters' room for 40 keys if tiny entries come first, which keep the range below 32 KiB,
    ///   and large values follow.
    /// - **Versions.** Successive keys with the same hash count once, for example all versions of a
    ///   user key in a table of [internal keys](crate::InternalKeyPolicy). Do not skip versions
    ///   yourself, because a range that begins between two versions would miss the key.
    /// - **One filter.** A block with one filter, or none, gets the `base_lg` 63, so the filter
    ///   answers at every offset. An engine that does not know block offsets when it adds keys
    ///   leaves out `start_block`, and has [one filter per
    ///   table](crate::recipes::one_filter_per_table).
    ///
    /// Room and versions need a policy with [hashes](FilterPolicy::by_hash). Without hashes,
    /// repeated keys count each time, and small filters are short.
    ///
    /// A lookup in a long filter may touch a cache line for each probe. A short filter fits into
    /// one or two.
    #[must_use]
    pub const fn with_long_ranges(policy: P) -> Self {
        let mut builder = Self::new(policy);
        builder.has_long_ranges = true;
        builder
    }

    /// Starts a data block at `block_offset` in the file, for the keys added next. The offset is
    /// the data block's place in the file as it is stored, after compression. So a table that is
    /// written anew needs a new filter block, even if it has the same keys.
    ///
    /// If the offset is in a later range, this builds the filter of the pending keys, in the time
    /// that the policy needs. It also adds a 4-byte offset for each range, so a wrong, huge
    /// `block_offset` can exhaust memory. Then this panics, or the system ends the process.
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
    ///   LevelDB checks this in debug builds only.
    /// - If the filters reach 4 GiB, because the format's offsets have 32 bits.
    /// - If the policy panics. May panic if the policy gives hashes only in some calls.
    /// - If there is no memory for the offsets.
    /// - If an earlier call panicked.
    #[inline]
    pub fn start_block(&mut self, block_offset: u64) {
        self.enter();
        let may_widen = self.has_long_ranges && self.filter_offsets.is_empty();
        if may_widen && self.pending.num_keys() < GOOD_NUM_KEYS {
            while self.base_lg < 63 && block_offset >> self.base_lg > 0 {
                self.base_lg += 1;
            }
        }
        let filter_index = usize::try_from(block_offset >> self.base_lg).expect(OVERFLOW);
        let num_filters = self.filter_offsets.len();
        assert!(
            filter_index >= num_filters,
            "FilterBlockBuilder::start_block: block offset {block_offset} belongs to filter \
             {filter_index}, which is already written (filters so far: {num_filters})"
        );
        if filter_index > num_filters {
            self.start_range(filter_index);
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
        // Another version of a key needs no room. LevelDB's own ranges count each version.
        self.pending.push(&self.policy, key, self.has_long_ranges);
        self.is_poisoned = false;
    }

    /// Returns the length in bytes of the filter block without the pending keys' filter. Takes
    /// constant time.
    ///
    /// An engine that limits the size of tables adds the length of the pending keys' filter, which
    /// may be the table's only filter. After each data block an estimate is enough, because the
    /// exact length takes a tuned policy microseconds:
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let policy = BloomFilterPolicy::new(10).tuned();
    /// let mut builder = FilterBlockBuilder::with_long_ranges(policy);
    /// for number in 0..300_u64 {
    ///     builder.add_key(&number.to_be_bytes());
    /// }
    /// let (len, num_keys) = (builder.finished_len(), builder.next_filter_num_keys());
    /// let estimated = len + num_keys * 10 / 8; // 10 bits per key
    /// let exact = len + policy.shape(num_keys).filter_len() + 4; // its offset
    /// assert!((exact..exact + 50).contains(&estimated));
    /// assert_eq!(builder.finish().len(), exact);
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

    /// Returns for how many keys the next filter would be sized if [`finish`](Self::finish) came
    /// now. The policy's [`shape`](crate::BloomFilterPolicy::shape) for so many keys has the
    /// filter's length. Takes constant time.
    ///
    /// With [long ranges](Self::with_long_ranges), successive keys with the same hash count once,
    /// and the number includes the filter's room. A key for which the policy has [no
    /// hash](crate::HashPolicy::key_hash) does not count. If no other key is pending, the number is
    /// 0, but there will still be a filter, which for Bloom filters takes 13 bytes with its offset.
    ///
    /// # Panics
    ///
    /// If an earlier call panicked.
    #[must_use]
    pub fn next_filter_num_keys(&self) -> usize {
        assert!(!self.is_poisoned, "{POISONED}");
        self.pending.sized_for(self.min_keys())
    }

    /// Returns the policy that builds the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Drops all keys and filters of an unfinished table. The builder is then ready for the next
    /// table, even if a call has panicked.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    /// builder.add_key(b"pear"); // then writing the table fails
    /// builder.clear();
    /// assert_eq!(builder.finish().len(), 5); // no filter
    /// ```
    pub fn clear(&mut self) {
        self.pending.clear();
        self.filter.clear();
        self.result.clear();
        self.filter_offsets.clear();
        if self.has_long_ranges {
            self.base_lg = BASE_LG;
        }
        self.is_poisoned = false;
    }

    /// Builds the filter of the pending keys, and returns the whole filter block. The builder is
    /// then ready for the next table. The vector's capacity can exceed its length. Takes the time
    /// that the policy needs, and time linear in the length of the block.
    ///
    /// The block of a table without keys takes 5 bytes, and without long ranges 4 more for each range
    /// that `start_block` has passed.
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
    /// - If all filters together reach 4 GiB.
    /// - If the policy panics. May panic if the policy gives hashes only in some calls.
    /// - If an earlier call panicked.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.enter();
        if !self.pending.is_empty() {
            self.generate_filter();
        }
        if self.has_long_ranges && self.filter_offsets.len() <= 1 {
            // The only filter answers for every offset, also for an engine that knows none.
            self.base_lg = 63;
        }
        let array_offset = self.next_offset();
        let mut block = mem::take(&mut self.result);
        block.reserve_exact(self.filter_offsets.len() * 4 + 5);
        for offset in self.filter_offsets.iter().chain([&array_offset]) {
            block.extend_from_slice(&offset.to_le_bytes());
        }
        block.push(self.base_lg);
        self.clear();
        block
    }

    fn enter(&mut self) {
        assert!(!mem::replace(&mut self.is_poisoned, true), "{POISONED}");
    }

    /// Builds the filter of the pending keys, and empty filters of the ranges up to this one, in
    /// which no data block starts.
    fn start_range(&mut self, filter_index: usize) {
        self.generate_filter();
        let (offset, missing) = (self.next_offset(), filter_index - self.filter_offsets.len());
        self.filter_offsets.try_reserve(missing).expect(OVERFLOW);
        self.filter_offsets.resize(filter_index, offset);
    }

    /// Builds the filter of the pending keys, if there are any, and removes the keys.
    fn generate_filter(&mut self) {
        let offset = self.next_offset();
        self.pending.create_filter(&self.policy, self.min_keys(), &mut self.filter);
        if self.result.is_empty() {
            // Without a copy, because a table may have only one, large filter.
            mem::swap(&mut self.result, &mut self.filter);
        }
        self.result.append(&mut self.filter);
        self.filter_offsets.push(offset);
    }

    /// For how many keys the next filter has room, if that is more than it has.
    fn min_keys(&self) -> usize {
        if !self.has_long_ranges {
            return 0;
        }
        let num_keys = self.pending.num_keys();
        // With 8 times as many, 0.1 to 0.2% of absent u64 counters match filters of 2 to 100 keys.
        // With 4 times as many, above 1% do.
        let min_keys = num_keys.saturating_mul(8).min(GOOD_NUM_KEYS);
        if self.filter_offsets.is_empty() {
            return min_keys;
        }
        // Room for 3 keys takes 4 bytes at 10 bits per key, as does an offset. LevelDB writes one for
        // each 2 KiB of this range. So the room of many filters hardly makes the block longer.
        let room = usize::try_from(3_u64 << (self.base_lg - BASE_LG)).unwrap_or(usize::MAX);
        min_keys.min(num_keys.saturating_add(room))
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
            .field("pending_keys", &self.pending.num_keys())
            .finish_non_exhaustive()
    }
}
