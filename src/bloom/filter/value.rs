//! A filter as a value: what it holds, and how to change it.

use super::BloomFilter;
use crate::{BloomHash, ShapeMismatch, bloom_hash};

/// How many hashes [`BloomFilter::false_positive_rate`] tries.
const TRIED_HASHES: u32 = 1 << 20;

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// The number of bits that are set. Takes time linear in the filter's length.
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.bits().iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// The share of the bits that are set, 0 to 1.
    ///
    /// About half of them in a filter that holds the keys that it was made for and has the best
    /// number of probes; 0.45 with LevelDB's 6 probes for 10 bits per key. Takes time linear in the
    /// filter's length.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    pub fn fill_ratio(&self) -> f64 {
        self.count_ones() as f64 / self.num_bits() as f64
    }

    /// An estimate of the number of different keys that were inserted, from the bits that are set.
    ///
    /// Mostly within 2 % at 10 bits per key and more, and within 12 % at 5. Infinite where all bits
    /// are set, or for a filter with a probe count of 0. Takes time linear in the filter's length.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let mut filter = BloomFilterPolicy::default().shape(1_000).empty_filter();
    /// for key in 0..1_000_u32 {
    ///     filter.insert(&key.to_le_bytes());
    /// }
    /// assert!((950.0..1_050.0).contains(&filter.estimated_num_keys()));
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 53 bits")]
    pub fn estimated_num_keys(&self) -> f64 {
        if self.num_probes() == 0 {
            return f64::INFINITY;
        }
        let num_probes = f64::from(self.num_probes());
        // So many probes with nothing in common would set as many bits.
        let probes = -(self.num_bits() as f64) * (-self.fill_ratio()).ln_1p();
        let mut num_keys = probes / num_probes;
        if probes.is_finite() && self.num_probes() > 2 {
            // Each round leaves at most half of the error.
            for _ in 0..50 {
                num_keys = (probes - different_third_probes(num_keys)) / (num_probes - 1.0);
            }
        }
        num_keys.max(0.0)
    }

    /// The false-positive rate of this very filter, 0 to 1, measured: the share of matches among
    /// 2<sup>20</sup> different hashes, always the same.
    ///
    /// The standard error is about the square root of `rate / 2^20`: a rate of 1 % is measured to
    /// a hundredth of itself, 0.01 % to a tenth. A key of the filter counts if its hash is among
    /// those tried, as one in 4096 is. Takes a few milliseconds where the filter is in the cache.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        let mut hashes = [BloomHash::default(); 1024];
        let mut matches = [false; 1024];
        let mut num_matches = 0;
        for start in (0..TRIED_HASHES).step_by(hashes.len()) {
            for (i, hash) in (start..).zip(&mut hashes) {
                *hash = tried_hash(i);
            }
            self.hashes_may_match(&hashes, &mut matches);
            num_matches += matches.iter().map(|&matches| u32::from(matches)).sum::<u32>();
        }
        f64::from(num_matches) / f64::from(TRIED_HASHES)
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> BloomFilter<B> {
    /// Adds `key` to the filter's keys. `true` if it may have been in already, that is, if all its
    /// bits were set.
    ///
    /// The bytes become those of a filter of this size with the key among its keys. Allocates
    /// nothing. To build a whole filter,
    /// [`create_filter`](crate::FilterPolicy::create_filter) and
    /// [`BloomFilterBuilder`](crate::BloomFilterBuilder) are faster.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        self.insert_hash(bloom_hash(key))
    }

    /// Adds the key with this [`bloom_hash`]. `true` if it may have been in already.
    pub fn insert_hash(&mut self, hash: BloomHash) -> bool {
        let probes = self.probes;
        probes.set_bits(self.bits_mut(), hash)
    }

    /// Takes all keys out: all bits become 0, and the number of probes stays.
    ///
    /// For a filter that is used again, such as the next memtable's. Takes time linear in the
    /// filter's length, and allocates nothing. A filter with a probe count of 0 still matches every
    /// key.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let shape = BloomFilterPolicy::default().shape(100);
    /// let mut filter = shape.empty_filter();
    /// filter.insert(b"apple");
    /// filter.clear();
    /// assert_eq!(filter, shape.empty_filter());
    /// ```
    pub fn clear(&mut self) {
        self.bits_mut().fill(0);
    }

    /// Adds the keys of `other`: the bytes become those of a filter of this size with both filters'
    /// keys.
    ///
    /// Takes time linear in the filter's length, whatever the number of keys.
    ///
    /// # Errors
    ///
    /// If the filters differ in their number of bits or of probes; then nothing is changed.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let shape = BloomFilterPolicy::default().shape(100);
    /// let (mut fruit, mut nuts) = (shape.empty_filter(), shape.empty_filter());
    /// fruit.insert(b"apple");
    /// nuts.insert(b"almond");
    ///
    /// fruit.union_with(&nuts)?;
    /// assert!(fruit.key_may_match(b"almond"));
    /// # Ok::<(), leveldb_filter::ShapeMismatch>(())
    /// ```
    pub fn union_with(
        &mut self,
        other: &BloomFilter<impl AsRef<[u8]>>,
    ) -> Result<(), ShapeMismatch> {
        if (self.num_bits(), self.num_probes()) != (other.num_bits(), other.num_probes()) {
            return Err(ShapeMismatch {
                num_bits: self.num_bits(),
                num_probes: self.num_probes(),
                other_num_bits: other.num_bits(),
                other_num_probes: other.num_probes(),
            });
        }
        for (byte, other) in self.bits_mut().iter_mut().zip(other.bits()) {
            *byte |= other;
        }
        Ok(())
    }

    fn bits_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes.as_mut();
        let num_bytes = bytes.len() - 1;
        &mut bytes[..num_bytes]
    }
}

/// How many different third probes so many keys are expected to have.
///
/// With a hash of `h << 17 | l`, the third probe is `65537 * (2 * h + l)`. Each of the
/// 2<sup>16</sup> sums in the middle comes from one key in 2<sup>17</sup>, and the same number of
/// sums on either side from fewer and fewer keys.
fn different_third_probes(num_keys: f64) -> f64 {
    let middle = f64::from(1 << 16);
    let keys = num_keys / (2.0 * middle);
    if keys <= 0.0 {
        return 0.0;
    }
    let seen = -(-keys).exp_m1();
    middle * seen + 2.0 * middle * (1.0 - seen / keys)
}

/// A different hash for each `i`, without a pattern that the probes could share.
fn tried_hash(i: u32) -> BloomHash {
    let h = i.wrapping_mul(0x9e3779b1);
    let h = (h ^ h >> 15).wrapping_mul(0x85ebca6b);
    BloomHash(h ^ h >> 13)
}
