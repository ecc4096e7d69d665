//! The length of a filter and its number of probes.

/// The most probes of a filter; LevelDB reserves larger last bytes for future encodings.
pub(super) const MAX_PROBES: u8 = 30;

/// The number of hashes, and the most bits that they can reach.
pub(super) const NUM_HASHES: u64 = 1 << 32;

/// The bytes of 2<sup>32</sup> bits. Hashes reach no further bits.
pub(super) const MAX_BYTES: usize = 1 << 29;

/// The length and the number of probes of a filter: chosen by a
/// [policy](crate::BloomFilterPolicy::shape) for a number of keys, read from a
/// [filter](crate::BloomFilter::shape), or [given](Self::new).
///
/// ```
/// use leveldb_filter::BloomFilterPolicy;
///
/// let shape = BloomFilterPolicy::new(10).shape(150_000);
/// assert_eq!((shape.filter_len(), shape.num_probes()), (187_501, 6));
/// let rate = BloomFilterPolicy::new(10).tuned().shape(150_000).false_positive_rate(150_000);
/// assert!((0.010..0.011).contains(&rate)); // of random keys
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomFilterShape {
    /// The bytes of bits, at least 1.
    pub(super) num_bytes: usize,
    pub(super) num_probes: u8,
}

impl BloomFilterShape {
    /// Describes filters of a given length in bytes, the byte for the number of probes included.
    ///
    /// Some lengths are bad for keys that count up, for example 64 KiB. For a filter with a budget
    /// in bytes, [let a tuned policy choose](crate::recipes::sets_and_memtables#memtables).
    ///
    /// ```
    /// use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy, BloomFilterShape};
    /// let shape = BloomFilterShape::new(65_510, 8);
    /// let filter = AtomicBloomFilter::new(BloomFilterPolicy::default(), shape);
    /// assert!(!filter.insert_key(b"apple"));
    /// assert_eq!(filter.to_bytes().len(), 65_510);
    /// ```
    ///
    /// # Panics
    ///
    /// If `filter_len` is below 2, or if `num_probes` is not 1 to 30.
    #[must_use]
    pub const fn new(filter_len: usize, num_probes: u8) -> Self {
        let is_valid = 2 <= filter_len && 1 <= num_probes && num_probes <= MAX_PROBES;
        assert!(is_valid, "BloomFilterShape::new needs at least 2 bytes, and 1 to 30 probes");
        Self { num_bytes: filter_len - 1, num_probes }
    }

    /// LevelDB's shape for `num_keys` keys; `None` if its number of bits exceeds a `usize`.
    pub(super) fn leveldb(num_keys: usize, millibits_per_key: u32) -> Option<Self> {
        let millibits = u64::from(millibits_per_key).checked_mul(num_keys as u64)?;
        let num_bits = usize::try_from(millibits.div_ceil(1000)).ok()?;
        // For small n, a short filter would have a very high false-positive rate.
        let num_bytes = num_bits.max(64).div_ceil(8);
        Some(Self { num_bytes, num_probes: leveldb_num_probes(millibits_per_key) })
    }

    /// Returns a filter's length in bytes, including the byte for the number of probes.
    #[must_use]
    pub const fn filter_len(&self) -> usize {
        self.num_bytes + 1
    }

    /// Returns the number of bits, a multiple of 8, or `u64::MAX` if there are more.
    #[must_use]
    pub const fn num_bits(&self) -> u64 {
        // No filter has so many bits, but `new` takes any length.
        (self.num_bytes as u64).saturating_mul(8)
    }

    /// Returns the number of bits that a lookup probes: 1 to 30, or 0 if a parsed filter says so.
    #[must_use]
    pub const fn num_probes(&self) -> u8 {
        self.num_probes
    }
}

/// LevelDB's number of probes: `size_t(bits_per_key * 0.69)`, 1 to 30.
///
/// 0.69 is ln 2, rounded down to reduce probing cost a little. From 44,000 millibits up it is 30.
#[expect(clippy::cast_possible_truncation, reason = "at most 30")]
fn leveldb_num_probes(millibits_per_key: u32) -> u8 {
    ((millibits_per_key.min(44_000) * 69 / 100_000) as u8).max(1)
}

/// Converts a number for rates and shares, where an `f64` is precise enough.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
pub(super) fn to_f64(n: u64) -> f64 {
    n as f64
}
