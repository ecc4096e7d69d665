//! Decides a filter's length and number of probes, makes its bytes, and looks keys up.

use alloc::vec::Vec;

use super::bits::create::create;
use super::bits::one::may_match_once;
use super::error::InvalidFilter;
use super::filter::{BloomFilter, parse};
use super::shape::{BloomFilterShape, MAX_PROBES};
use super::shaping;
use crate::hash::{BLOOM_SEED, assert_same_len, hash};
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
    /// Thousandths of a bit per key.
    millibits_per_key: u64,
    rule: ShapeRule,
    /// A filter of a key or more is sized for at least so many keys.
    min_keys: usize,
    name: &'static str,
}

/// How a filter gets its length and its number of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ShapeRule {
    LevelDb,
    NumProbes(u8),
    Tuned,
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
    /// number of keys. Numbers above 2<sup>64</sup> / 1,000 count as that number. See the [rates for
    /// 4 to 16 bits](crate::recipes::bits_per_key). Mirrors `NewBloomFilterPolicy`.
    #[doc(alias("NewBloomFilterPolicy", "bits_per_key"))]
    #[must_use]
    pub const fn new(bits_per_key: usize) -> Self {
        Self::from_millibits((bits_per_key as u64).saturating_mul(1000))
    }

    /// Chooses a length and a number of probes with few false positives for each filter.
    /// Recommended, and best in [long ranges](crate::FilterBlockBuilder::with_long_ranges), whose
    /// filters have many keys. Overrides [`with_num_probes`](Self::with_num_probes).
    ///
    /// LevelDB's hash barely mixes the last byte of a key whose length is a multiple of 4. So in
    /// filters of [some lengths](https://github.com/facebook/rocksdb/issues/4120) keys that count up
    /// set the same bits, and most absent keys between them match. Where LevelDB's length is bad, a
    /// tuned filter is up to 2% or 3 bytes shorter, which readers allow, because they take lengths as
    /// they are.
    ///
    /// The shortest filters are the worst, so a filter of 1 to 39 keys is as long as one of 40 keys,
    /// which takes 50 bytes at 10 bits per key. If you plug the policy into an engine with
    /// LevelDB's ranges of 2 KiB, [`with_min_keys(100)`](Self::with_min_keys) helps more: with
    /// values of 100 bytes, 6% of absent u64 counters match instead of 21%, in 2.3 times the bytes.
    ///
    /// A tuned filter has 2<sup>32</sup> bits at most, because 32-bit hashes reach no further. For
    /// random keys, large tuned filters mostly have fewer false positives than LevelDB's, and filters
    /// of 40 to 100 keys have slightly more. The choice takes up to some microseconds and is the same
    /// on every platform. `tests/accuracy.md` in the repository has the rates.
    #[must_use]
    pub const fn tuned(self) -> Self {
        Self { rule: ShapeRule::Tuned, ..self }
    }

    /// Creates a policy like [`new`](Self::new), from thousandths of a bit per key. For example,
    /// 9,750 stands for 9.75 bits.
    #[must_use]
    pub const fn from_millibits_per_key(millibits: usize) -> Self {
        Self::from_millibits(millibits as u64)
    }

    const fn from_millibits(millibits_per_key: u64) -> Self {
        Self { millibits_per_key, rule: ShapeRule::LevelDb, min_keys: 0, name: Self::NAME }
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

    /// Uses LevelDB's lengths with this number of probes. Overrides [`tuned`](Self::tuned).
    ///
    /// # Panics
    ///
    /// If `num_probes` is 0, because such a filter matches everything, or above 30, because LevelDB
    /// reserves such numbers.
    #[must_use]
    pub const fn with_num_probes(self, num_probes: u8) -> Self {
        let is_valid = 1 <= num_probes && num_probes <= MAX_PROBES;
        assert!(is_valid, "BloomFilterPolicy::with_num_probes: num_probes must be 1 to 30");
        Self { rule: ShapeRule::NumProbes(num_probes), ..self }
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

    /// Finds a [tuned](Self::tuned) policy for a false-positive rate, such as 0.01 for 1%, of
    /// filters of `num_keys` random keys. It uses close to the fewest bits that reach the rate.
    ///
    /// Filters of 100 keys or more mostly have 0.9 to 1.1 times the rate, and filters of fewer keys
    /// can have 1.5 times the rate.
    ///
    /// **The rate is that of random keys.** Keys that contain decimal or hexadecimal numbers can
    /// match far more often in filters of many keys. For example, with a million URLs like
    /// `example.com/abc/10000000`, a policy for 0.1% matches 6.7%, and 0.1% if you [bring a 64-bit
    /// hash](crate::recipes::hashes_of_your_own). "Digits in large filters" of `tests/accuracy.md`
    /// tells which keys suffer from which number on.
    ///
    /// For fewer than 2,000 keys and a rate of 0.0001% or more, the policy has the bits per key that
    /// 2,000 keys need, so that you can also use it for larger filters. Where that is too few, the
    /// policy already sets [`with_min_keys`](Self::with_min_keys), which makes small filters longer.
    /// Filters of very few keys can match far less than `rate`, because they have room for 40 keys.
    ///
    /// Returns `None` if `rate` is not strictly between 0 and 1, or if no tuned filter reaches it.
    /// No filter can go below the share of absent keys that [have the hash of a present
    /// key](https://github.com/facebook/rocksdb/pull/6317), which is `num_keys / 2^32`. A rate just
    /// above that share can need thousands of bits per key, so [set a
    /// limit](crate::recipes::bits_per_key). Takes tens of microseconds.
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
        let shaping::TunedSize { millibits_per_key, min_keys } =
            shaping::size_for_rate(rate, num_keys)?;
        Some(Self::from_millibits(millibits_per_key).tuned().with_min_keys(min_keys))
    }

    /// Returns the policy's name, which follows `filter.` in a table's metaindex block.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the bits per key in thousandths, or `usize::MAX` if the number is larger.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "at most `usize::MAX`")]
    pub const fn millibits_per_key(&self) -> usize {
        let most = usize::MAX as u64;
        (if self.millibits_per_key < most { self.millibits_per_key } else { most }) as usize
    }

    /// Returns the length and the number of probes of a filter of `num_keys` keys.
    ///
    /// # Panics
    ///
    /// If the counted keys times the bits per key exceed a `usize`, even though a tuned filter would
    /// be shorter. With 10 bits per key on 32-bit platforms, that is from 429,496,730 keys on.
    #[must_use]
    pub fn shape(&self, num_keys: usize) -> BloomFilterShape {
        let num_keys = if num_keys == 0 { 0 } else { num_keys.max(self.min_keys) };
        let leveldb = || BloomFilterShape::leveldb(num_keys, self.millibits_per_key);
        let shape = match self.rule {
            ShapeRule::LevelDb => leveldb(),
            ShapeRule::NumProbes(num_probes) => {
                leveldb().map(|shape| BloomFilterShape { num_probes, ..shape })
            }
            ShapeRule::Tuned => shaping::tuned_shape(num_keys, self.millibits_per_key),
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
        parse(filter).map_or_else(InvalidFilter::may_match, |(bits, num_probes)| {
            key_may_match_once(key, bits, num_probes)
        })
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

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        create(self.with_min_keys(min_keys).shape(hashes.len()), hashes, dst);
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

/// Inlines the hash, because a call of [`bloom_hash`] makes the benchmark "6 probes", policy, 4%
/// slower.
fn key_may_match_once(key: &[u8], bits: &[u8], num_probes: u8) -> bool {
    may_match_once(bits, num_probes, BloomHash(hash(key, BLOOM_SEED)))
}
