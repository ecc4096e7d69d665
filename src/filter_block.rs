//! The filter block of a table: one filter for each range of file offsets, 2 KiB in LevelDB.
//!
//! Mirrors [`table/filter_block.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block.cc).

mod reader;

use alloc::vec::Vec;
use core::{fmt, mem};

use crate::filter_policy::BY_HASH_RULE;
use crate::{BloomHash, FilterPolicy};
pub use reader::FilterBlockReader;

/// Builds the filter block of a table. Mirrors `FilterBlockBuilder` in `table/filter_block.h`.
///
/// The calls must match the regular expression `(start_block add_key*)* finish`: `start_block` with
/// the file offset of a data block, past the 5-byte trailer of the one before, then `add_key` for
/// each of its keys. [`FilterBlockReader`] shows the bytes.
///
/// Until its range of the file ends, a key takes 4 bytes in a vector that doubles; without
/// [hashes](FilterPolicy::by_hash), the key itself is kept. After a panic, of the policy or of a
/// call, all later calls that start a block, add a key or finish panic, too: keys may be lacking.
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
pub struct FilterBlockBuilder<P> {
    policy: P,
    base_lg: u8,
    has_long_ranges: bool,
    /// The pending keys' hashes, of a policy of hashes.
    hashes: Vec<BloomHash>,
    /// The pending keys of other policies, back to back.
    keys: Vec<u8>,
    /// Where each of them ends in `keys`.
    ends: Vec<usize>,
    /// The finished filters.
    result: Vec<u8>,
    /// Where each filter starts in `result`.
    filter_offsets: Vec<u32>,
    /// Set during a call, and so after one that has panicked.
    is_poisoned: bool,
}

/// Of long ranges: the least length, the keys of the first one, and those that each filter has room
/// for, since in less than 2.5 KB few lengths are good for counters.
const LONG_BASE_LG: u8 = 19;
const LONG_MIN_KEYS: usize = 4_000;
const LONG_MIN_ROOM: usize = 2_000;

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// A builder of LevelDB's blocks: with a filter by `policy` for each 2 KiB of data blocks.
    #[must_use]
    pub const fn new(policy: P) -> Self {
        Self {
            policy,
            base_lg: 11, // LevelDB's 2 KiB
            has_long_ranges: false,
            hashes: Vec::new(),
            keys: Vec::new(),
            ends: Vec::new(),
            result: Vec::new(),
            filter_offsets: Vec::new(),
            is_poisoned: false,
        }
    }

    /// A builder with a filter for each 2<sup>`base_lg`</sup> bytes of data blocks: 63 makes one
    /// filter for all that begin below 2<sup>63</sup>. Readers take any.
    ///
    /// # Panics
    ///
    /// If `base_lg` is above 63.
    #[must_use]
    pub const fn with_base_lg(policy: P, base_lg: u8) -> Self {
        assert!(base_lg < 64, "base_lg above 63");
        let mut builder = Self::new(policy);
        builder.base_lg = base_lg;
        builder
    }

    /// A builder with filters as long as 2,000 keys need, or longer, however long the values:
    /// recommended, if [tuned](crate::BloomFilterPolicy::tuned). LevelDB since 1.18 reads them.
    ///
    /// How well a filter works depends on its number of keys, not on the bytes of the file that it
    /// covers: so a range has at least 512 KiB, and the first one 4,000 keys, or all that the table
    /// has. While no filter has been made, and some keys but fewer wait,
    /// [`start_block`](Self::start_block) doubles the range until the new data block is in it, too.
    /// If the first keys lie beyond the first 512 KiB of the file, no range widens.
    ///
    /// For fewer than 2,000 keys the policy gets their hashes repeatedly, so even one key takes 2.5
    /// KB at 10 bits per key. One without [hashes](FilterPolicy::by_hash) gets each key once: its
    /// filters of few keys stay short, and match many absent keys that end in a counter. A lookup
    /// in a longer filter reads up to one cache line for each probe, instead of one or two in all.
    #[must_use]
    pub const fn with_long_ranges(policy: P) -> Self {
        let mut builder = Self::with_base_lg(policy, LONG_BASE_LG);
        builder.has_long_ranges = true;
        builder
    }

    /// Starts a data block at `block_offset`, in bytes of the file, for the keys added next.
    ///
    /// First makes the missing filters of all earlier ranges, which takes the policy's time and a
    /// time linear in their number. A far too large `block_offset` may take more memory for their
    /// 4-byte offsets than there is, and abort the process.
    ///
    /// # Panics
    ///
    /// - If the range's filter has been made already: readers would miss the keys added to it.
    ///   LevelDB checks this in debug builds only.
    /// - If the filters reach 4 GiB, where the format's offsets end.
    /// - If the policy panics or changes earlier filters, or there is no memory for the offsets.
    pub fn start_block(&mut self, block_offset: u64) {
        self.enter();
        let may_widen = self.has_long_ranges && self.filter_offsets.is_empty();
        if may_widen && (1..LONG_MIN_KEYS).contains(&self.num_pending()) {
            while self.base_lg < 63 && block_offset >> self.base_lg > 0 {
                self.base_lg += 1;
            }
        }
        let filter_index = usize::try_from(block_offset >> self.base_lg)
            .expect("capacity overflow: too many filters");
        let num_filters = self.filter_offsets.len();
        assert!(
            filter_index >= num_filters,
            "block offset {block_offset} goes back to filter {filter_index} of {num_filters} made"
        );
        if filter_index > num_filters {
            self.generate_filter();
            // The ranges that a large block spans get empty filters.
            let (offset, missing) = (self.next_offset(), filter_index - num_filters - 1);
            let room = self.filter_offsets.try_reserve(missing);
            room.expect("capacity overflow: too many filters");
            self.filter_offsets.resize(filter_index, offset);
        }
        self.is_poisoned = false;
    }

    /// Adds `key` to the current data block; before the first `start_block`, to the one at 0.
    /// Panics if the policy does.
    pub fn add_key(&mut self, key: &[u8]) {
        self.enter();
        if let Some(policy) = self.policy.by_hash() {
            self.hashes.push(policy.key_hash(key));
        } else {
            self.keys.extend_from_slice(key);
            self.ends.push(self.keys.len());
        }
        self.is_poisoned = false;
    }

    /// The number of bytes that [`finish`](Self::finish) would return if no keys waited: for
    /// engines that cut tables by their size. It lacks the filter of the keys that wait, with long
    /// ranges perhaps the table's only one. Takes constant time.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "as every call after a panic")]
    pub fn finished_len(&self) -> usize {
        assert!(!self.is_poisoned, "{POISONED}");
        self.result.len() + self.filter_offsets.len() * 4 + 5
    }

    /// The policy that makes the filters.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Makes the filter of the pending keys, and returns the whole filter block: 5 bytes without
    /// any keys or blocks. The builder is then as new, for the next table. Takes the policy's time,
    /// and time linear in the number of filters.
    ///
    /// # Panics
    ///
    /// If the filters have 4 GiB or more in all, or where the policy makes `start_block` panic.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.enter();
        if self.num_pending() > 0 {
            self.generate_filter();
        }
        let array_offset = self.next_offset();
        let mut block = mem::take(&mut self.result);
        block.reserve_exact(self.filter_offsets.len() * 4 + 5);
        for offset in self.filter_offsets.drain(..).chain([array_offset]) {
            block.extend_from_slice(&offset.to_le_bytes());
        }
        block.push(self.base_lg);
        if self.has_long_ranges {
            self.base_lg = LONG_BASE_LG;
        }
        self.is_poisoned = false;
        block
    }

    fn num_pending(&self) -> usize {
        self.hashes.len() + self.ends.len()
    }

    fn enter(&mut self) {
        assert!(!mem::replace(&mut self.is_poisoned, true), "{POISONED}");
    }

    /// Makes the filter of the pending keys, if there are any, and removes them.
    fn generate_filter(&mut self) {
        let offset = self.next_offset();
        let ends = |of: &[u8]| [of.first_chunk::<8>().copied(), of.last_chunk().copied()];
        let before = ends(&self.result);
        if !self.ends.is_empty() {
            assert!(self.hashes.is_empty(), "{BY_HASH_RULE}");
            let mut start = 0;
            let key = |&end| &self.keys[mem::replace(&mut start, end)..end];
            let keys: Vec<_> = self.ends.iter().map(key).collect();
            self.policy.create_filter(&keys, &mut self.result);
        } else if !self.hashes.is_empty() {
            if self.has_long_ranges {
                // As of more keys, so the filter is longer, but without another bit.
                let num_keys = self.hashes.len();
                for i in num_keys..LONG_MIN_ROOM {
                    self.hashes.push(self.hashes[i - num_keys]);
                }
            }
            let policy = self.policy.by_hash().expect(BY_HASH_RULE);
            policy.create_filter_of_hashes(&self.hashes, &mut self.result);
        }
        // Not so after `*dst = filter`, easily written by who knows traits that return a filter.
        let kept = self.result.get(..offset as usize);
        let is_kept = kept.is_some_and(|kept| ends(kept) == before);
        assert!(is_kept, "the policy must append its filter to `dst`, and keep what it has");
        self.hashes.clear();
        self.keys.clear();
        self.ends.clear();
        self.filter_offsets.push(offset);
    }

    fn next_offset(&self) -> u32 {
        u32::try_from(self.result.len()).expect("filters of 4 GiB or more in a block")
    }
}

const POISONED: &str = "a call of this builder has panicked before";

impl<P: fmt::Debug> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy)
            .field("base_lg", &self.base_lg)
            .field("filters", &self.filter_offsets.len())
            .field("pending_keys", &(self.hashes.len() + self.ends.len()))
            .finish_non_exhaustive()
    }
}
