//! The filter block of a table: one filter for each range of file offsets, LevelDB's of 2 KiB.
//!
//! Mirrors [`table/filter_block.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block.cc).

use std::fmt;

use crate::FilterPolicy;

/// LevelDB makes a new filter for every 2 KiB of data blocks.
const FILTER_BASE_LG: u8 = 11;

/// Builds the filter block of a table.
///
/// The calls must match the regular expression `(start_block add_key*)* finish`, where the
/// offsets given to [`start_block`](Self::start_block) do not decrease. An engine calls
/// `start_block(0)` first, then `add_key` for each key of a data block, and after each data block
/// `start_block` with the file offset at which the next one starts (past the 5-byte block
/// trailer).
///
/// Keys are buffered until their range of the file ends, and the buffers reused from filter to
/// filter. See [`FilterBlockReader`] for the bytes.
///
/// Mirrors `FilterBlockBuilder` in LevelDB's `table/filter_block.h`.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
///
/// let policy = BloomFilterPolicy::new(10);
/// let mut builder = FilterBlockBuilder::new(policy);
/// builder.start_block(0);
/// builder.add_key(b"apple");
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
    /// The pending keys, back to back.
    keys: Vec<u8>,
    /// Where each pending key ends in `keys`.
    ends: Vec<usize>,
    /// Empty between filters; keeps its allocation for the next list of pending keys.
    key_list: Vec<&'static [u8]>,
    /// The filters so far.
    result: Vec<u8>,
    /// Where each filter starts in `result`.
    filter_offsets: Vec<u32>,
}

impl<P: FilterPolicy> FilterBlockBuilder<P> {
    /// Starts an empty filter block, whose filters `policy` will make: one for each 2 KiB of file.
    #[must_use]
    pub const fn new(policy: P) -> Self {
        Self::with_base_lg(policy, FILTER_BASE_LG)
    }

    /// Starts an empty filter block with a filter for each 2<sup>`base_lg`</sup> bytes of data
    /// blocks. LevelDB, goleveldb and rusty-leveldb read the number from the block.
    ///
    /// | `base_lg` | a filter for each | |
    /// |---|---|---|
    /// | 11 | 2 KiB of file | LevelDB's bytes, as [`new`](Self::new) |
    /// | 19 | 512 KiB | mostly 500 to 20,000 keys each, with which Bloom filters do best |
    /// | 63 | table | one filter, however large the table is |
    ///
    /// Fewer filters take fewer offsets, and fewer bits where keys are few. At 10 bits per key and
    /// values of 100 bytes, 19 with `tuned` Bloom filters takes a fifth fewer bytes than LevelDB
    /// and has a fifth fewer false positives; with 1,000 bytes, it takes a third of the bytes. Only
    /// for data blocks of up to three keys LevelDB's 64 bits each have fewer false positives. In
    /// return, the keys of a range wait in memory, with 24 bytes beside each on a 64-bit machine,
    /// and a lookup touches up to a cache line for each probe, not one or two.
    ///
    /// # Panics
    ///
    /// If `base_lg` is above 63, by which no offset can be shifted.
    #[must_use]
    pub const fn with_base_lg(policy: P, base_lg: u8) -> Self {
        assert!(base_lg < 64, "base_lg above 63");
        Self {
            policy,
            base_lg,
            keys: Vec::new(),
            ends: Vec::new(),
            key_list: Vec::new(),
            result: Vec::new(),
            filter_offsets: Vec::new(),
        }
    }

    /// Starts the data block at `block_offset`, in bytes from the start of the file; the keys added
    /// next belong to it.
    ///
    /// Makes the filters of all ranges before the offset that have none yet; each takes 4 bytes for
    /// its offset, even where it has no keys.
    ///
    /// # Panics
    ///
    /// If `block_offset` lies in a range whose filter has been made already: keys added to it
    /// would be lost to readers. LevelDB checks it in debug builds only. Also if the filters grow
    /// to 4 GiB, where the format's offsets end, or the number of filters past the address space.
    /// An offset that is far off may take more memory for the offsets than there is.
    pub fn start_block(&mut self, block_offset: u64) {
        let filter_index = usize::try_from(block_offset >> self.base_lg)
            .expect("capacity overflow: more filters than the address space has bytes");
        let num_filters = self.filter_offsets.len();
        assert!(
            filter_index >= num_filters,
            "block offset {block_offset} goes back to filter {filter_index} of {num_filters} made"
        );
        if filter_index > num_filters {
            self.generate_filter();
            // The ranges that a large block spans get empty filters.
            let offset = self.next_offset();
            self.filter_offsets.resize(filter_index, offset);
        }
    }

    /// Adds `key` to the current data block; before the first `start_block`, to the one at 0.
    ///
    /// Copies the key, in time linear in its length.
    pub fn add_key(&mut self, key: &[u8]) {
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
    }

    /// Makes the filter of the keys that still wait, and returns the whole filter block, in a
    /// vector that may have room to spare.
    ///
    /// Takes the policy's time for the last filter, and time linear in the number of filters.
    ///
    /// # Panics
    ///
    /// If the filters have 4 GiB or more in all, where the format's offsets end.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if !self.ends.is_empty() {
            self.generate_filter();
        }
        let array_offset = self.next_offset();
        self.result.reserve_exact(self.filter_offsets.len() * 4 + 5);
        for offset in &self.filter_offsets {
            self.result.extend_from_slice(&offset.to_le_bytes());
        }
        self.result.extend_from_slice(&array_offset.to_le_bytes());
        self.result.push(self.base_lg);
        self.result
    }

    fn generate_filter(&mut self) {
        self.filter_offsets.push(self.next_offset());
        if self.ends.is_empty() {
            return;
        }

        let mut keys = std::mem::take(&mut self.key_list);
        let mut start = 0;
        keys.extend(self.ends.iter().map(|&end| {
            let key = &self.keys[start..end];
            start = end;
            key
        }));
        // A policy may grow the vector by no more than its filter; without room ahead, each filter
        // would then copy all before it.
        self.result.reserve(self.result.len());
        self.policy.create_filter(&keys, &mut self.result);

        // Collecting an emptied vector in place keeps its allocation and sheds the borrow.
        keys.clear();
        self.key_list = keys.into_iter().map(|_| &[][..]).collect();
        self.keys.clear();
        self.ends.clear();
    }

    fn next_offset(&self) -> u32 {
        u32::try_from(self.result.len()).expect("filters of 4 GiB or more in a block")
    }
}

impl<P: fmt::Debug> fmt::Debug for FilterBlockBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockBuilder")
            .field("policy", &self.policy)
            .field("base_lg", &self.base_lg)
            .field("filters", &self.filter_offsets.len())
            .field("pending_keys", &self.ends.len())
            .finish_non_exhaustive()
    }
}

/// Reads the filter block of a table.
///
/// ```text
/// | filter 0 | filter 1 | ... | offset of each filter | array offset | base_lg |
///   as the policy made them     u32 each                u32            u8
/// ```
///
/// All numbers are little-endian; offsets are in bytes from the start of the block. The filter
/// for a data block has the index `block_offset >> base_lg`; LevelDB writes a `base_lg` of 11, a
/// filter for each 2 KiB, and reads any below 64. A filter ends where the next one starts, and the
/// last one where the array of offsets starts.
///
/// A filter block is not a filter, nor the other way round: [`BloomFilter`](crate::BloomFilter)
/// takes `base_lg` for a number of probes, and may deny every key of the block.
///
/// The block may be any bytes: what cannot be read is a potential match, since an error must
/// never hide a key. `contents` must give the same bytes on every call of its `as_ref`.
///
/// Mirrors `FilterBlockReader` in LevelDB's `table/filter_block.h`. It differs in two malformed
/// cases, both to keep keys: a `base_lg` of 64 or more is undefined in C++, and equal offsets that
/// lie outside the filters mean "no keys" there; here both are potential matches.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};
///
/// let policy = BloomFilterPolicy::default();
/// let no_filters = FilterBlockReader::new(policy, [0, 0, 0, 0, 11]);
/// assert_eq!(no_filters.filter(0), None);
/// assert!(no_filters.key_may_match(0, b"key"));
/// ```
#[derive(Clone, Copy)]
pub struct FilterBlockReader<P, B> {
    policy: P,
    contents: B,
    /// Where the array of offsets starts, and the filters end.
    array_offset: usize,
    num_filters: usize,
    base_lg: u8,
}

impl<P: FilterPolicy, B: AsRef<[u8]>> FilterBlockReader<P, B> {
    /// Reads the block's frame, in constant time.
    ///
    /// `contents` is the block without the 5-byte trailer (compression type and checksum) that
    /// follows it in the file, and `policy` the one whose name the table's metaindex block gives.
    #[must_use]
    pub fn new(policy: P, contents: B) -> Self {
        let (array_offset, num_filters, base_lg) =
            parse_frame(contents.as_ref()).unwrap_or_default();
        Self { policy, contents, array_offset, num_filters, base_lg }
    }

    /// Whether the data block at `block_offset`, in bytes from the start of the file, may hold
    /// `key`.
    ///
    /// `true` where the block has no readable filter for that offset. Takes constant time beside
    /// the policy's own, and allocates nothing.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, block_offset: u64, key: &[u8]) -> bool {
        self.filter(block_offset).is_none_or(|filter| self.policy.key_may_match(key, filter))
    }

    /// The filter for the data block at `block_offset`, as the policy made it: for an engine that
    /// has the key's hash, or wants to parse the filter once.
    ///
    /// `None` where there is none that can be read, which stands for a potential match: an offset
    /// past the last filter, or a malformed block. Empty bytes where no data block starts in that
    /// range of the file, even if keys of one that started before lie there. Takes constant time.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockReader};
    ///
    /// fn may_match(block: &[u8], block_offset: u64, hash: BloomHash) -> bool {
    ///     let policy = BloomFilterPolicy::default();
    ///     let reader = FilterBlockReader::new(policy, block);
    ///     reader.filter(block_offset).is_none_or(|filter| policy.hash_may_match(hash, filter))
    /// }
    /// # assert!(may_match(&[], 0, BloomHash::default()));
    /// # assert!(!may_match(&[0, 0, 0, 0, 0, 0, 0, 0, 11], 0, BloomHash::default()));
    /// ```
    #[inline]
    #[must_use]
    pub fn filter(&self, block_offset: u64) -> Option<&[u8]> {
        let index = block_offset.checked_shr(self.base_lg.into())?;
        let index = usize::try_from(index).ok().filter(|&index| index < self.num_filters)?;
        let contents = self.contents.as_ref();
        // For the last filter, the word after its offset is the offset of the array.
        let start = decode_fixed32(contents, self.array_offset + index * 4)?;
        let limit = decode_fixed32(contents, self.array_offset + index * 4 + 4)?;
        contents.get(..self.array_offset)?.get(start..limit)
    }
}

/// Shows the block's frame, not its bytes.
impl<P: fmt::Debug, B> fmt::Debug for FilterBlockReader<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlockReader")
            .field("policy", &self.policy)
            .field("num_filters", &self.num_filters)
            .field("base_lg", &self.base_lg)
            .finish_non_exhaustive()
    }
}

/// Offset of the array, number of filters, and `base_lg`; `None` for a malformed block.
fn parse_frame(contents: &[u8]) -> Option<(usize, usize, u8)> {
    let (&base_lg, rest) = contents.split_last()?;
    let frame_offset = rest.len().checked_sub(4)?;
    let array_offset = decode_fixed32(rest, frame_offset)?;
    let array_len = frame_offset.checked_sub(array_offset)?;
    Some((array_offset, array_len / 4, base_lg))
}

fn decode_fixed32(bytes: &[u8], offset: usize) -> Option<usize> {
    let (word, _) = bytes.get(offset..)?.split_first_chunk()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}
