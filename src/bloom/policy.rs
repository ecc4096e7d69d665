//! The policy: how long a filter of so many keys is, and how many probes it has.

use super::bits::create;
use super::bits::one::may_match_once;
use super::filter::BloomFilter;
use super::shape::{BloomFilterShape, MAX_PROBES};
use super::tuned;
use crate::hash::{bloom_hash_batch, bloom_hash_in_line};
use crate::{BloomHash, FilterPolicy};

/// LevelDB's built-in filter policy: a Bloom filter with a given number of bits per key.
///
/// The filters of [`new`](Self::new) have the bytes that LevelDB 1.23 writes; every LevelDB reads
/// those that are [`tuned`](Self::tuned), too. Any bytes get the answers that LevelDB gives.
///
/// ```text
/// | bits: byte i / 8 holds bit i at 1 << i % 8                        | number of probes |
///   max(keys * bits per key, 64) bits, rounded up to whole bytes        u8
/// ```
///
/// A key with the hash `h` (see [`bloom_hash`](crate::bloom_hash)) sets the bits `h`, `h + d`,
/// `h + 2 * d`, … where `d` is `h` rotated right by 17 bits, the sums are modulo 2<sup>32</sup>,
/// and each is then taken modulo the number of bits. The last byte tells a reader how many of them
/// to look at, so a reader needs no bits per key.
///
/// Mirrors `BloomFilterPolicy` in LevelDB's `util/bloom.cc`.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
///
/// let policy = BloomFilterPolicy::new(10);
/// let mut filter = Vec::new();
/// policy.create_filter(&[b"hello", b"world"], &mut filter);
///
/// assert_eq!(filter.len(), policy.shape(2).filter_len());
/// assert!(policy.key_may_match(b"hello", &filter));
/// assert!(!policy.key_may_match(b"foo", &filter));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomFilterPolicy {
    bits_per_key: usize,
    /// Thousandths of a bit beside them, below 1000.
    more_millibits: u16,
    /// `None` if each filter gets its own number, and its own length.
    num_probes: Option<u8>,
    name: &'static str,
}

impl BloomFilterPolicy {
    /// The name in tables that LevelDB writes, since its version 1.18.
    pub const NAME: &'static str = "leveldb.BuiltinBloomFilter2";

    /// The name in tables that goleveldb writes: the same bytes under LevelDB's older name.
    ///
    /// LevelDB itself gave this name, up to 1.17, to filters whose hash differs on machines with a
    /// signed `char` for keys with bytes above 0x7f in their last one to three; do not read those
    /// with this policy.
    pub const GOLEVELDB_NAME: &'static str = "leveldb.BuiltinBloomFilter";

    /// A policy with LevelDB's lengths and number of probes for so many bits per key.
    ///
    /// 10 bits per key are LevelDB's recommendation, and the default here. 0 gives filters of 64
    /// bits, whatever the number of keys.
    ///
    /// Mirrors `NewBloomFilterPolicy`.
    #[must_use]
    pub const fn new(bits_per_key: usize) -> Self {
        let num_probes = Some(leveldb_num_probes(bits_per_key, 0));
        Self { bits_per_key, more_millibits: 0, num_probes, name: Self::NAME }
    }

    /// [`new`](Self::new) in thousandths of a bit per key: 9,750 stands for 9.75 bits.
    ///
    /// A filter has `num_keys * millibits` thousandths of a bit, at least 64 bits, rounded up to
    /// whole bytes. `from_millibits_per_key(10_000)` is `new(10)`.
    #[must_use]
    pub const fn from_millibits_per_key(millibits: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "below 1000")]
        let (bits_per_key, more_millibits) = (millibits / 1000, (millibits % 1000) as u16);
        let num_probes = Some(leveldb_num_probes(bits_per_key, more_millibits));
        Self { more_millibits, num_probes, ..Self::new(bits_per_key) }
    }

    /// The same filters under another name, such as [`GOLEVELDB_NAME`](Self::GOLEVELDB_NAME).
    #[must_use]
    pub const fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Filters of LevelDB's lengths with this number of probes. Overrides [`tuned`](Self::tuned).
    ///
    /// Readers take the number from the filter, so every LevelDB reads the result.
    ///
    /// # Panics
    ///
    /// If `num_probes` is not in 1 to 30: with 0 a filter would match everything, and LevelDB
    /// reserves numbers above 30 for future encodings.
    #[must_use]
    pub const fn with_num_probes(self, num_probes: u8) -> Self {
        assert!(1 <= num_probes && num_probes <= MAX_PROBES, "number of probes not in 1..=30");
        Self { num_probes: Some(num_probes), ..self }
    }

    /// Filters with a length and a number of probes that make fewer false positives. Overrides
    /// [`with_num_probes`](Self::with_num_probes).
    ///
    /// Every LevelDB reads them. A filter has LevelDB's length or a few bytes less: at most two,
    /// or, from 8 KiB up, eleven. With 10 bits per key there are 1 to 5 % fewer false positives
    /// from 100 to 1,000 keys, 8 % fewer with 10,000, 29 % with 100,000, 44 % with 300,000 and 21 %
    /// with a million; with 24 bits per key 72 % fewer with 8 keys, and 30 % with 100.
    ///
    /// Where LevelDB's shape is the best, or the rule cannot tell, it stays. Of 800 sizes, random
    /// and hostile, from 1 to 3 million keys with 4 to 24 bits each, none had more than 1.05 times
    /// LevelDB's false positives, three standard errors aside. Filters of many keys have one or two
    /// probes more than LevelDB's, which look-ups pay for, and small ones fewer.
    ///
    /// The choice for a filter takes constant time, some tens of nanoseconds below 65,536 bits and
    /// some microseconds above. It may change with a version of this crate, but is the same on every
    /// platform.
    #[must_use]
    pub const fn tuned(self) -> Self {
        Self { num_probes: None, ..self }
    }

    /// The name under which tables store the filters.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The thousandths of a bit that a filter takes for each of its keys, if a `usize` holds so
    /// many.
    #[must_use]
    pub const fn millibits_per_key(&self) -> usize {
        self.bits_per_key.saturating_mul(1000).saturating_add(self.more_millibits as usize)
    }

    /// The length and the number of probes of a filter of `num_keys` keys.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if the filter has more bits than a `usize` holds.
    #[must_use]
    pub fn shape(&self, num_keys: usize) -> BloomFilterShape {
        let num_bits = self.num_bits(num_keys).expect("capacity overflow");
        // For small n, a short filter would have a very high false-positive rate.
        let num_bytes = if num_bits < 64 { 8 } else { num_bits.div_ceil(8) };
        if let Some(num_probes) = self.num_probes {
            return BloomFilterShape { num_bytes, num_probes };
        }
        let num_probes = leveldb_num_probes(self.bits_per_key, self.more_millibits);
        tuned::shape(BloomFilterShape { num_bytes, num_probes }, num_keys)
    }

    /// Whether the key with this [`bloom_hash`](crate::bloom_hash) may be among the keys of
    /// `filter`: the answer of [`key_may_match`](FilterPolicy::key_may_match), on any bytes.
    ///
    /// For one key and many filters that are asked once, such as those of filter blocks: see
    /// [`FilterBlockReader::filter`](crate::FilterBlockReader::filter).
    #[must_use]
    pub fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        answer(filter, |bits, num_probes| may_match_once(bits, num_probes, hash))
    }

    /// Writes to `matches[i]` whether the key with the [`bloom_hash`](crate::bloom_hash) `hashes[i]`
    /// may be among the keys of `filter`: the answers of [`hash_may_match`](Self::hash_may_match),
    /// on any bytes.
    ///
    /// For many keys in one filter of a filter block: see
    /// [`FilterBlockReader::filter`](crate::FilterBlockReader::filter). What `matches` held is
    /// overwritten. Takes time linear in the number of hashes and of probes; allocates nothing.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        assert_eq!(hashes.len(), matches.len(), "as many answers as hashes");
        // For fewer, it takes longer to parse the filter than to ask it.
        if hashes.len() >= 8 {
            if let Ok(filter) = BloomFilter::new(filter) {
                return filter.hashes_may_match(hashes, matches);
            }
        }
        for (&hash, matches) in hashes.iter().zip(matches) {
            *matches = self.hash_may_match(hash, filter);
        }
    }

    /// The bits for so many keys, if a `usize` holds their number.
    fn num_bits(&self, num_keys: usize) -> Option<usize> {
        let num_bits = num_keys.checked_mul(self.bits_per_key)?;
        if self.more_millibits == 0 {
            return Some(num_bits);
        }
        // num_keys * more_millibits / 1000, which may not fit before the division.
        let more_millibits = usize::from(self.more_millibits);
        let more = num_keys / 1000 * more_millibits;
        num_bits.checked_add(more + (num_keys % 1000 * more_millibits).div_ceil(1000))
    }
}

/// LevelDB's number of probes: `size_t(bits_per_key * 0.69)`, 1 to 30.
///
/// ln 2 is rounded down to reduce probing cost a little.
pub(super) const fn leveldb_num_probes(bits_per_key: usize, more_millibits: u16) -> u8 {
    match bits_per_key {
        // Between the clamps this is equal to it.
        #[expect(clippy::cast_possible_truncation, reason = "at most 44 * 69 / 100")]
        0..44 => match (bits_per_key * 1000 + more_millibits as usize) * 69 / 100000 {
            0 => 1,
            num_probes => num_probes as u8,
        },
        44.. => MAX_PROBES,
    }
}

/// LevelDB's recommendation: 10 bits per key.
impl Default for BloomFilterPolicy {
    fn default() -> Self {
        Self::new(10)
    }
}

impl FilterPolicy for BloomFilterPolicy {
    fn name(&self) -> &str {
        self.name
    }

    /// Appends a filter of the [`shape`](BloomFilterPolicy::shape) for so many keys to `dst`.
    ///
    /// Takes time linear in the keys' bytes, in `keys.len() * num_probes`, and in the filter's
    /// length. Allocates at most once, where `dst` has too little room; filters above the cache also
    /// take scratch memory.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if the filter has more bits than a `usize` holds.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        create::append_filter(self.shape(keys.len()), keys.len(), dst, |start, hashes| {
            bloom_hash_batch(&keys[start..start + hashes.len()], hashes);
        });
    }

    /// Whether `key` may be among the keys of `filter`.
    ///
    /// As in LevelDB, a filter shorter than 2 bytes matches nothing, and one with a probe count of
    /// 0 or above 30 matches everything. Takes time linear in the key's length and in the number
    /// of probes. Never panics, allocates nothing.
    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        answer(filter, |bits, num_probes| key_may_match_once(key, bits, num_probes))
    }
}

/// LevelDB's answer on any bytes, where `may_match` tells whether a key's bits are set.
#[inline]
fn answer(filter: &[u8], may_match: impl FnOnce(&[u8], u8) -> bool) -> bool {
    match filter.split_last() {
        None | Some((_, [])) => false,
        // Reserved for future encodings of short filters: consider it a match.
        Some((&num_probes, _)) if num_probes > MAX_PROBES => true,
        Some((&num_probes, bits)) => may_match(bits, num_probes),
    }
}

/// Out of line: a filter that is asked once is divided for, which takes registers that a caller's
/// loop would have to spill. The benchmark "6 probes", policy, shows it.
#[inline(never)]
fn key_may_match_once(key: &[u8], bits: &[u8], num_probes: u8) -> bool {
    may_match_once(bits, num_probes, bloom_hash_in_line(key))
}
