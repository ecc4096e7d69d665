//! LevelDB's built-in Bloom filter.
//!
//! Mirrors [`util/bloom.cc`](https://github.com/google/leveldb/blob/1.23/util/bloom.cc).

mod accuracy;
mod builder;
mod create;
mod error;
mod filter;
mod lookup;
mod probes;
mod regions;
mod shape;

pub use self::builder::BloomFilterBuilder;
pub use self::error::{InvalidFilter, ShapeMismatch};
pub use self::filter::BloomFilter;
pub use self::shape::BloomFilterShape;

use self::probes::{MAX_PROBES, may_match_once};
use crate::FilterPolicy;
use crate::hash::{bloom_hash_batch, bloom_hash_in_line};

/// LevelDB's built-in filter policy: a Bloom filter with a given number of bits per key.
///
/// The filters have the bytes that LevelDB 1.23 writes, and get the answers that it gives, on any
/// bytes.
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
/// assert_eq!(filter.len(), policy.filter_len(2));
/// assert!(policy.key_may_match(b"hello", &filter));
/// assert!(!policy.key_may_match(b"foo", &filter));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomFilterPolicy {
    bits_per_key: usize,
    num_probes: u8,
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

    /// A policy with LevelDB's number of probes for so many bits per key.
    ///
    /// 10 bits per key are LevelDB's recommendation, and the default here. 0 gives filters of 64
    /// bits, whatever the number of keys.
    ///
    /// Mirrors `NewBloomFilterPolicy`.
    #[must_use]
    pub const fn new(bits_per_key: usize) -> Self {
        // LevelDB computes size_t(bits_per_key * 0.69), ln 2 rounded down to reduce probing cost
        // a little; between the clamps this is equal to it.
        let num_probes = match bits_per_key {
            0..2 => 1,
            #[expect(clippy::cast_possible_truncation, reason = "at most 43 * 69 / 100")]
            2..44 => (bits_per_key * 69 / 100) as u8,
            44.. => MAX_PROBES,
        };
        Self { bits_per_key, num_probes, name: Self::NAME }
    }

    /// The same filters under another name, such as [`GOLEVELDB_NAME`](Self::GOLEVELDB_NAME).
    #[must_use]
    pub const fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Filters of the same size with another number of probes for each key.
    ///
    /// Readers take the number from the filter, so every LevelDB reads the result.
    ///
    /// # Panics
    ///
    /// If `num_probes` is not in 1 to 30: with 0 a filter would match everything, and LevelDB
    /// reserves numbers above 30 for other encodings.
    #[must_use]
    pub const fn with_num_probes(self, num_probes: u8) -> Self {
        assert!(1 <= num_probes && num_probes <= MAX_PROBES, "number of probes not in 1..=30");
        Self { num_probes, ..self }
    }

    /// The bits that a filter takes for each of its keys.
    #[must_use]
    pub const fn bits_per_key(&self) -> usize {
        self.bits_per_key
    }

    /// The number of bits that a key sets in a filter, at most; 1 to 30.
    #[must_use]
    pub const fn num_probes(&self) -> u8 {
        self.num_probes
    }

    /// The length in bytes of a filter for `num_keys` keys, the byte of the probe count included.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if `num_keys * bits_per_key` is more than a `usize` holds.
    #[must_use]
    pub const fn filter_len(&self, num_keys: usize) -> usize {
        self.shape(num_keys).filter_len()
    }

    /// A builder of filters from keys that come one at a time.
    #[must_use]
    pub fn builder(&self) -> BloomFilterBuilder {
        BloomFilterBuilder::new(*self)
    }

    /// A filter without keys, of the size for `num_keys` of them, to insert them into: for an
    /// engine's memtable.
    ///
    /// With that many keys inserted it has the bytes that
    /// [`create_filter`](FilterPolicy::create_filter) makes of them; with more, it has more false
    /// positives. Allocates [`filter_len`](Self::filter_len) bytes.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if `num_keys * bits_per_key` is more than a `usize` holds.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let mut filter = BloomFilterPolicy::default().empty_filter(1_000);
    /// assert!(!filter.insert(b"apple"));
    /// assert!(filter.insert(b"apple"));
    /// assert!(filter.key_may_match(b"apple"));
    /// ```
    #[must_use]
    pub fn empty_filter(&self, num_keys: usize) -> BloomFilter<Vec<u8>> {
        self.shape(num_keys).empty_filter()
    }

    /// The shape of a filter as LevelDB's rule sizes it.
    const fn shape(&self, num_keys: usize) -> BloomFilterShape {
        let num_bits = num_keys.checked_mul(self.bits_per_key).expect("capacity overflow");
        // For small n, a short filter would have a very high false-positive rate.
        let num_bytes = if num_bits < 64 { 8 } else { num_bits.div_ceil(8) };
        BloomFilterShape { num_bytes, num_probes: self.num_probes }
    }
}

/// LevelDB's recommendation: 10 bits per key, for a false-positive rate of about 1 %.
impl Default for BloomFilterPolicy {
    fn default() -> Self {
        Self::new(10)
    }
}

impl FilterPolicy for BloomFilterPolicy {
    fn name(&self) -> &str {
        self.name
    }

    /// Appends the filter, [`filter_len`](BloomFilterPolicy::filter_len) bytes, to `dst`.
    ///
    /// Takes time linear in the keys' bytes and in `keys.len() * num_probes`. Allocates at most
    /// once, to grow `dst` by exactly what is missing; a filter above 8 MiB also takes scratch
    /// memory, of at most half its length and 256 MiB.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if `keys.len() * bits_per_key` is more than a `usize` holds.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        create::append_filter(self.shape(keys.len()), keys.len(), dst, |start, hashes| {
            bloom_hash_batch(&keys[start..start + hashes.len()], hashes);
        });
    }

    /// Whether all bits of `key` are set in `filter`.
    ///
    /// As in LevelDB, a filter shorter than 2 bytes matches nothing, and one with a probe count of
    /// 0 or above 30 matches everything. Takes time linear in the key's length and in the number
    /// of probes; never panics, and allocates nothing.
    #[inline]
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let Some((&num_probes, bits)) = filter.split_last() else {
            return false;
        };
        if bits.is_empty() {
            return false;
        }
        if num_probes > MAX_PROBES {
            // Reserved for new encodings of short filters: consider it a match.
            return true;
        }
        key_may_match_once(key, bits, num_probes)
    }
}

/// Out of line, because what divides for each key wants the registers for itself.
#[inline(never)]
fn key_may_match_once(key: &[u8], bits: &[u8], num_probes: u8) -> bool {
    may_match_once(bits, num_probes, bloom_hash_in_line(key))
}
