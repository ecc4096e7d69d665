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
use self::long_ranges::DataBlocks;
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
/// If writing a table fails halfway, call [`clear`](Self::clear), and begin it anew with its first
/// `start_block`. Otherwise the table's keys end up in the next table. After a panic keys may be
/// missing, so every method but `clear` and `policy` panics until the builder is cleared. Until a
/// filter is built, the builder keeps a hash of 4 bytes per key, or the key itself if the policy has
/// no [hashes](FilterPolicy::by_hash).
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
    ranges: Ranges,
    /// The keys without a filter.
    keys: Keys,
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

/// How much of the file each filter covers.
#[derive(Clone)]
enum Ranges {
    /// 2<sup>`base_lg`</sup> bytes, and whether entries were added since the last filter.
    Fixed { base_lg: u8, has_entries: bool },
    /// What `finish` chooses by the table's data blocks.
    Long(DataBlocks),
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
        Self::with_ranges(policy, Ranges::Fixed { base_lg, has_entries: false })
    }

    /// Creates a builder with fewer and larger filters than LevelDB's. Recommended, with a
    /// [tuned](crate::BloomFilterPolicy::tuned) policy. LevelDB since 1.18 reads the blocks.
    ///
    /// LevelDB builds a filter for each 2 KiB of the file, which may be two keys, and its hash makes
    /// small filters bad for keys that count up. Here [`finish`](Self::finish) chooses one range for
    /// the whole table, from all of its keys. At worst, ranges are LevelDB's and filters as long as
    /// LevelDB's, but for a table's only filter, which takes up to 2.5 KB more at 10 bits per key.
    ///
    /// - **Range.** Filters have 2,000 keys or more on average, or a table has one filter. Some keys
    ///   have equal hashes, which no filter can tell apart. So if more than 1 in 128 of any 2,000
    ///   successive keys share a filter with another key of their hash, the range becomes shorter,
    ///   until it parts them. It stays longer than that only if 63 ranges or more would be empty for
    ///   each that has a filter.
    /// - **Room.** A filter of few keys is as long as a filter of eight times as many, but of at least
    ///   40 and at most 2,000, because short filters match most keys that count up. If the table has
    ///   several filters, their room takes at most what LevelDB's additional offsets would, at 10
    ///   bits per key.
    /// - **Versions.** Successive keys with the same hash count once in a filter, for example all
    ///   versions of a user key in a table of [internal keys](Self::add_internal_key). Add each
    ///   version all the same, because a range that begins between two versions needs the key.
    /// - **One filter.** A block with one filter, or none, gets the `base_lg` 63, so the filter
    ///   answers at every offset, also for an engine that [leaves out
    ///   `start_block`](crate::recipes::tables#one-filter-for-a-whole-table).
    ///
    /// The builder sees the present keys only. If keys with equal hashes are stored in runs with
    /// gaps, or every second or third of them, no two of the present keys have equal hashes, but
    /// those between have the hashes of present keys, and 2 to 26% of them matched when measured.
    /// [Another hash](crate::recipes::own_hashes#other-hashes) mends that. If a policy gives many keys
    /// one hash, and these do not follow each other, choose a [range](Self::with_base_lg) yourself.
    /// With large values, several versions of a key, or few bits per key, LevelDB's filters have more
    /// bits than asked for, and match fewer random keys than these, until you [ask for
    /// more](crate::recipes::bits_per_key).
    ///
    /// Until `finish`, a table takes 4 bytes of memory per key and 24 per data block, or three times
    /// as much while the vectors grow; `finish` takes up to 32 more per key of the fullest filter. A
    /// policy without [hashes](FilterPolicy::by_hash) keeps its keys so long, counts repeated keys
    /// each time, and has neither room nor shorter ranges.
    #[must_use]
    pub const fn with_long_ranges(policy: P) -> Self {
        Self::with_ranges(policy, Ranges::Long(DataBlocks::new()))
    }

    const fn with_ranges(policy: P, ranges: Ranges) -> Self {
        Self {
            policy,
            ranges,
            keys: Keys::new(),
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
        match &mut self.ranges {
            Ranges::Long(blocks) => blocks.start(block_offset),
            Ranges::Fixed { base_lg, .. } => {
                let filter_index = usize::try_from(block_offset >> *base_lg).expect(OVERFLOW);
                let num_filters = self.filter_offsets.len();
                assert!(
                    filter_index >= num_filters,
                    "FilterBlockBuilder::start_block: block offset {block_offset} belongs to \
                     filter {filter_index}, which is already written (filters so far: \
                     {num_filters})"
                );
                if filter_index > num_filters {
                    self.generate_pending_filter();
                    self.start_filter(filter_index);
                }
            }
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
        match &mut self.ranges {
            Ranges::Fixed { has_entries, .. } => {
                *has_entries = true;
                self.keys.add(&self.policy, key);
            }
            Ranges::Long(blocks) => blocks.add_entry(self.keys.add_once(&self.policy, key)),
        }
        self.is_poisoned = false;
    }

    /// Adds the key of an entry as LevelDB's tables hold it, an internal key. Does what
    /// [`add_key`](Self::add_key) does for the user key before the trailer. So readers, memtables
    /// and policies know user keys only, whatever the table's keys end in.
    ///
    /// ```text
    /// | user key | trailer: sequence number << 8 | value type, u64 little-endian |
    ///   any length  8 bytes
    /// ```
    ///
    /// A key shorter than the trailer is a user key by itself. Do not use this method for keys
    /// without a trailer, which would lose their last 8 bytes. Mirrors `InternalFilterPolicy` in
    /// LevelDB's [`db/dbformat.cc`](https://github.com/google/leveldb/blob/1.23/db/dbformat.cc).
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
    /// let policy = BloomFilterPolicy::new(10);
    /// let mut builder = FilterBlockBuilder::new(policy);
    /// builder.start_block(0);
    /// let (sequence, value_type) = (7_u64, 1); // a value; 0 would be a deletion
    /// builder.add_internal_key(&[&b"pear"[..], &(sequence << 8 | value_type).to_le_bytes()].concat());
    /// let reader = FilterBlockReader::new(policy, builder.finish());
    /// assert!(reader.key_may_match(0, b"pear") && !reader.key_may_match(0, b"plum"));
    /// ```
    ///
    /// # Panics
    ///
    /// As [`add_key`](Self::add_key) does.
    #[doc(alias("InternalFilterPolicy", "internal key", "trailer"))]
    #[inline]
    pub fn add_internal_key(&mut self, key: &[u8]) {
        self.add_key(key.split_last_chunk::<8>().map_or(key, |(user_key, _trailer)| user_key));
    }

    /// Returns the length in bytes that the filter block would have if it were finished now, for an
    /// engine that limits the size of tables. Takes constant time.
    ///
    /// `bits_per_key` is the policy's. In LevelDB's ranges the length is exact for
    /// [`BloomFilterPolicy::new`](crate::BloomFilterPolicy::new), and for a tuned policy the pending
    /// filter can be longer by its room for 40 keys. What
    /// [`with_min_keys`](crate::BloomFilterPolicy::with_min_keys) adds does not count.
    ///
    /// In long ranges, which are yet to be chosen, this is an estimate: about what one filter of all
    /// keys takes. If a table has both small and large entries, the block can be half as long again,
    /// because filters of few keys have room. If keys have equal hashes, it can be anything from a
    /// sixth of the estimate to the length of LevelDB's own block.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};
    /// let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    /// for key in (0..3_000_u64).map(u64::to_be_bytes) {
    ///     builder.add_key(&key);
    /// }
    /// let estimated_len = builder.estimated_len(10);
    /// assert_eq!(builder.finish().len(), estimated_len);
    /// ```
    ///
    /// # Panics
    ///
    /// If an earlier call panicked.
    #[must_use]
    pub fn estimated_len(&self, bits_per_key: u32) -> usize {
        assert!(!self.is_poisoned, "{POISONED}");
        let num_keys = self.keys.len();
        let (num_filters, counted) = match &self.ranges {
            Ranges::Fixed { has_entries, .. } => (usize::from(*has_entries), num_keys),
            Ranges::Long(blocks) => blocks.estimate(num_keys, self.keys.hashes()),
        };
        // Of all pending filters: at least 64 bits, with a byte and an offset of 4 bytes each.
        let num_bits = counted.saturating_mul(bits_per_key as usize).max(64 * num_filters);
        let finished = self.result.len() + self.filter_offsets.len() * 4 + 5;
        finished + num_bits.div_ceil(8) + num_filters * 5
    }

    /// Returns the policy that builds the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Drops all keys and filters of an unfinished table, for example because writing it failed. The
    /// builder is then ready for the next table, even if a call has panicked.
    pub fn clear(&mut self) {
        match &mut self.ranges {
            Ranges::Fixed { has_entries, .. } => *has_entries = false,
            Ranges::Long(blocks) => *blocks = DataBlocks::new(),
        }
        self.keys.clear();
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
    /// let block = builder.finish(); // stored uncompressed, and followed by its trailer
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
        let base_lg = match self.ranges {
            Ranges::Fixed { base_lg, .. } => {
                self.generate_pending_filter();
                base_lg
            }
            Ranges::Long(ref mut blocks) => {
                let blocks = mem::replace(blocks, DataBlocks::new());
                self.generate_long_ranges(&blocks)
            }
        };
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

    fn enter(&mut self) {
        assert!(!mem::replace(&mut self.is_poisoned, true), "{POISONED}");
    }

    /// Builds the filter of the entries since the last filter, if there are any.
    fn generate_pending_filter(&mut self) {
        let Ranges::Fixed { has_entries, .. } = &mut self.ranges else { return };
        if mem::take(has_entries) {
            self.generate_filter(0..self.keys.len(), None);
            self.keys.clear();
        }
    }

    /// Builds the filters of all keys, and returns the range that was chosen for them.
    fn generate_long_ranges(&mut self, blocks: &DataBlocks) -> u8 {
        let base_lg = blocks.choose_base_lg(self.keys.len(), self.keys.hashes());
        for range in blocks.ranges(base_lg) {
            let keys = long_ranges::keys_of(range);
            let room = long_ranges::room(keys.len(), base_lg);
            self.start_filter(usize::try_from(range[0].offset >> base_lg).expect(OVERFLOW));
            self.generate_filter(keys, Some(room));
        }
        base_lg
    }

    /// Adds empty filters of the ranges up to this one, in which no data block starts.
    fn start_filter(&mut self, filter_index: usize) {
        let (offset, missing) = (self.next_offset(), filter_index - self.filter_offsets.len());
        self.filter_offsets.try_reserve(missing).expect(OVERFLOW);
        self.filter_offsets.resize(filter_index, offset);
    }

    fn generate_filter(&mut self, keys: Range<usize>, room: Option<usize>) {
        let offset = self.next_offset();
        self.keys.create_filter(&self.policy, keys, room, &mut self.filter);
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
const OVERFLOW: &str = "FilterBlockBuilder: capacity overflow, too many filters";

impl<P: fmt::Debug> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy)
            .field("filters", &self.filter_offsets.len())
            .field("pending_keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
