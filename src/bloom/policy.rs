//! Decides a filter's length and number of probes, makes its bytes, and looks keys up.

use alloc::vec::Vec;

use super::bits::create::create;
use super::bits::one::may_match_once;
use super::error::InvalidFilter;
use super::filter::{BloomFilter, parse};
use super::shape::BloomFilterShape;
use super::shaping;
use crate::hash::assert_same_len;
use crate::{BloomHash, FilterPolicy, HashPolicy, bloom_hash};

/// LevelDB's built-in filter policy: a Bloom filter with a given number of bits per key.
///
/// [`new`](Self::new) makes the bytes that LevelDB 1.23 writes. Every LevelDB since 1.18 also reads
/// [tuned](Self::tuned) filters. Lookups give LevelDB's answers, even on corrupt filters.
///
/// ```text
/// | bits: bit i is 1 << i % 8 in byte i / 8                           | number of probes |
///   max(keys * bits per key, 64) bits, rounded up to whole bytes        u8
/// ```
///
/// A key with the [hash](crate::bloom_hash) `h` sets the bits `h`, `h + d`, `h + 2 * d`, … modulo
/// 2<sup>32</sup>, modulo the number of bits. `d` is `h` rotated right by 17 bits. The last byte
/// gives the number of these probes, so every `BloomFilterPolicy` reads the filters of every other.
///
/// Mirrors `BloomFilterPolicy` in LevelDB's [`util/bloom.cc`](https://github.com/google/leveldb/blob/1.23/util/bloom.cc).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
/// let (policy, mut filter) = (BloomFilterPolicy::new(10), Vec::new());
/// policy.create_filter(&[b"hello", b"world"], &mut filter);
/// assert_eq!(filter.len(), policy.shape(2).filter_len());
/// assert!(policy.key_may_match(b"hello", &filter) && !policy.key_may_match(b"foo", &filter));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomFilterPolicy {
    millibits_per_key: u32,
    is_tuned: bool,
    /// A filter of one key or more is sized for at least so many keys.
    min_keys: usize,
    name: &'static str,
}

impl BloomFilterPolicy {
    /// The policy's name in tables that LevelDB has written since version 1.18.
    ///
    /// Riak's LevelDB, by Basho, writes other filters under this name, which would hide keys. So
    /// [check](crate::recipes::tables_of_other_programs) tables of unknown origin.
    pub const NAME: &'static str = "leveldb.BuiltinBloomFilter2";

    /// The policy's name in tables that goleveldb writes: the same bytes under LevelDB's older
    /// name.
    ///
    /// On x86, LevelDB up to 1.17 wrote filters with another hash under this name. [Accept the
    /// name](crate::recipes::tables_of_other_programs) only if no such LevelDB wrote tables.
    pub const GOLEVELDB_NAME: &'static str = "leveldb.BuiltinBloomFilter";

    /// Creates a policy with LevelDB's length and number of probes for this number of bits per key.
    ///
    /// LevelDB recommends 10, which is also the default here. 0 makes filters of 64 bits for any
    /// number of keys. See the [rates for 4 to 16 bits](crate::recipes::bits_per_key). Mirrors
    /// `NewBloomFilterPolicy`.
    ///
    /// # Panics
    ///
    /// With "capacity overflow" from 4,294,968 bits on, half a megabyte for each key.
    #[doc(alias("NewBloomFilterPolicy", "bits_per_key"))]
    #[must_use]
    pub const fn new(bits_per_key: u32) -> Self {
        let millibits = bits_per_key.checked_mul(1000);
        Self::from_millibits_per_key(millibits.expect("BloomFilterPolicy::new: capacity overflow"))
    }

    /// Chooses a length and a number of probes with few false positives for each filter.
    /// Recommended, and best in [long ranges](crate::FilterBlockBuilder::with_long_ranges), whose
    /// filters have many keys.
    ///
    /// LevelDB's hash barely mixes the last byte of a key whose length is a multiple of 4. So in
    /// filters of [some lengths](https://github.com/facebook/rocksdb/issues/4120) keys that count up
    /// set the same bits, and most absent keys between them match. Where LevelDB's length is bad, a
    /// tuned filter is a little shorter or some bytes longer. Readers allow that, because they take
    /// lengths as they are.
    ///
    /// The shortest filters are the worst, so a filter of 1 to 39 keys is as long as one of 40 keys,
    /// which takes 50 bytes at 10 bits per key. If you plug the policy into an engine with
    /// LevelDB's ranges of 2 KiB, [more room](crate::recipes::other_engines) helps more.
    ///
    /// A tuned filter has 2<sup>32</sup> bits at most, because 32-bit hashes reach no further. Large
    /// ones have more probes than LevelDB's. For random keys, tuned filters have 4 to 8% fewer false
    /// positives than LevelDB's on average, measured at 8 to 14 bits per key. But of those with 5,000
    /// to 300,000 keys, one in four has more: with 82,010 keys at 14 bits, for example, 1.9 times as
    /// many. The choice takes up to some microseconds and is the same on every platform.
    /// `tests/accuracy.md` in the repository has the rates.
    #[must_use]
    pub const fn tuned(self) -> Self {
        Self { is_tuned: true, ..self }
    }

    /// Creates a policy like [`new`](Self::new), from thousandths of a bit per key. For example,
    /// 9,750 stands for 9.75 bits.
    #[must_use]
    pub const fn from_millibits_per_key(millibits: u32) -> Self {
        Self { millibits_per_key: millibits, is_tuned: false, min_keys: 0, name: Self::NAME }
    }

    /// Changes the policy's name, for example for tables that goleveldb reads. The filters stay the
    /// same.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    /// let policy = BloomFilterPolicy::new(10).with_name(BloomFilterPolicy::GOLEVELDB_NAME);
    /// assert_eq!(policy.name(), "leveldb.BuiltinBloomFilter");
    /// ```
    #[must_use]
    pub const fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Sizes every non-empty filter as if it had at least `num_keys` keys.
    ///
    /// Longer filters match fewer absent keys, above all of keys that count up. [Long
    /// ranges](crate::FilterBlockBuilder::with_long_ranges) make room themselves, and
    /// [tuned](Self::tuned) filters have room for 40 keys.
    ///
    /// If the policy has a number already, for example from
    /// [`for_false_positive_rate`](Self::for_false_positive_rate), the larger number counts.
    #[must_use]
    pub const fn with_min_keys(self, num_keys: usize) -> Self {
        Self { min_keys: if num_keys > self.min_keys { num_keys } else { self.min_keys }, ..self }
    }

    /// Finds a [tuned](Self::tuned) policy for a false-positive rate, such as 0.01, of
    /// filters of `num_keys` random keys, which is 2,000 in [long
    /// ranges](crate::FilterBlockBuilder::with_long_ranges) of a table of any size. It uses close to
    /// the fewest bits that reach the rate. Keep the policy, because finding it takes tens of
    /// microseconds.
    ///
    /// Filters of 100 keys or more mostly have 0.9 to 1.1 times the rate, and filters of fewer keys
    /// can have 1.5 times the rate.
    ///
    /// **The rate is that of random keys.** Other keys match more often:
    ///
    /// - Keys that count up, in filters of few keys. Give filters of fewer than 2,000 keys room by
    ///   [`with_min_keys(2_000)`](Self::with_min_keys), but not in long ranges, which make room
    ///   themselves.
    /// - Keys that contain numbers, in filters of many keys, or if the rate is below 0.001. For
    ///   example, with a million URLs like `example.com/abc/10000000`, a policy for 0.001 has 0.067,
    ///   and 0.001 with [a 64-bit hash](crate::recipes::own_hashes#other-hashes). That page tells which
    ///   keys suffer from which number on.
    ///
    /// For fewer than 2,000 keys and a rate of 0.000001 or more, the policy has the bits per key that
    /// 2,000 keys need, so that you can also use it for larger filters. Where that is too few, the
    /// policy already sets [`with_min_keys`](Self::with_min_keys), which makes small filters longer.
    /// Filters of very few keys can match far less than `rate`, because they have room for 40 keys.
    ///
    /// Returns `None` if `rate` is not strictly between 0 and 1, or if no tuned filter reaches it.
    /// No filter can go below the share of absent keys that [have the hash of a present
    /// key](https://github.com/facebook/rocksdb/pull/6317), which is `num_keys / 2^32`. A rate just
    /// above that share can need thousands of bits per key, so [set a
    /// limit](crate::recipes::bits_per_key).
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    /// let policy = BloomFilterPolicy::for_false_positive_rate(0.01, 1_000_000).unwrap();
    /// assert!((9_900..10_300).contains(&policy.millibits_per_key()));
    /// assert_eq!(BloomFilterPolicy::for_false_positive_rate(0.001, 10_000_000), None);
    /// ```
    #[doc(alias("fpr", "false positive rate"))]
    #[must_use]
    pub fn for_false_positive_rate(rate: f64, num_keys: usize) -> Option<Self> {
        let (millibits_per_key, min_keys) = shaping::size_for_rate(rate, num_keys)?;
        Some(Self::from_millibits_per_key(millibits_per_key).tuned().with_min_keys(min_keys))
    }

    /// Returns the policy's name, which follows `filter.` in a table's metaindex block.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the bits per key in thousandths.
    #[must_use]
    pub const fn millibits_per_key(&self) -> u32 {
        self.millibits_per_key
    }

    /// Returns the length and the number of probes of a filter of `num_keys` keys. Without keys a
    /// filter has 9 bytes whatever [`with_min_keys`](Self::with_min_keys) says, as LevelDB makes it,
    /// so pass a computed number, for a filter to fill later, as `num_keys.max(1)`.
    ///
    /// # Panics
    ///
    /// With "capacity overflow" if the counted keys times the bits per key exceed a `usize`, or times
    /// the thousandths of bits a `u64`, even though a tuned filter would be shorter. With 10 bits per
    /// key on 32-bit platforms, that is from 429,496,730 keys on.
    #[doc(alias("size", "capacity"))]
    #[must_use]
    pub fn shape(&self, num_keys: usize) -> BloomFilterShape {
        self.shape_with_room(num_keys, if self.is_tuned { shaping::MIN_KEYS } else { 0 })
    }

    fn shape_with_room(&self, num_keys: usize, room: usize) -> BloomFilterShape {
        let num_keys = if num_keys == 0 { 0 } else { num_keys.max(self.min_keys).max(room) };
        let shape = if self.is_tuned {
            shaping::tuned_shape(num_keys, self.millibits_per_key)
        } else {
            BloomFilterShape::leveldb(num_keys, self.millibits_per_key)
        };
        shape.expect("BloomFilterPolicy::shape: capacity overflow, too many bits")
    }
}

/// The policy that LevelDB recommends, with 10 bits per key.
impl Default for BloomFilterPolicy {
    fn default() -> Self {
        Self::new(10)
    }
}

impl FilterPolicy for BloomFilterPolicy {
    fn name(&self) -> &'static str {
        self.name
    }

    /// Appends a filter of the [`shape`](BloomFilterPolicy::shape) for `keys.len()` keys.
    ///
    /// Takes time linear in the keys' bytes, in `keys.len() * num_probes`, and in the filter's
    /// length. Allocates for `dst` only. Panics as `shape` does.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        create(self.shape(keys.len()), keys, dst);
    }

    /// Returns whether `key` may be among the keys of `filter`.
    ///
    /// As in LevelDB, a filter shorter than 2 bytes matches nothing, and a filter with a probe
    /// count of 0 or above 30 matches everything. Takes time linear in the key's length and in the
    /// number of probes. Never panics, and allocates nothing.
    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(bloom_hash(key), filter)
    }

    #[inline]
    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

/// Hashes keys with [`bloom_hash`].
impl HashPolicy for BloomFilterPolicy {
    #[inline]
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        Some(bloom_hash(key))
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        create(self.shape(hashes.len()), hashes, dst);
    }

    fn create_filter_with_room(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        create(self.shape_with_room(hashes.len(), min_keys), hashes, dst);
    }

    #[inline]
    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        parse(filter).map_or_else(InvalidFilter::may_match, |(bits, num_probes)| {
            may_match_once(bits, num_probes, hash)
        })
    }

    /// Does what [`BloomFilter::hashes_may_match`] does, for any bytes, with LevelDB's answers.
    fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        assert_same_len(hashes, matches, "HashPolicy::hashes_may_match");
        match BloomFilter::new(filter) {
            Ok(filter) => filter.hashes_may_match(hashes, matches),
            Err(invalid) => matches.fill(invalid.may_match()),
        }
    }
}
