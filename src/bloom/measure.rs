//! Measuring false-positive rates.

use super::bits::create::Maker;
use super::bits::many::BATCH;
use super::bits::probes::Probes;
use super::filter::BloomFilter;
use super::shape::BloomFilterShape;
use crate::BloomHash;

/// So many matches give a rate to about a hundredth of it.
const ENOUGH_MATCHES: u32 = 1 << 13;

/// So many lookups are made where there are few matches.
const MAX_LOOKUPS: u32 = 1 << 26;

/// After so many without four matches, even those would not tell a rate.
const HOPELESS: u32 = 1 << 20;

/// Filters of more bytes are not in a cache, where a lookup takes several times longer.
const MAX_FAST_BYTES: usize = 1 << 20;

/// Filters of at most so many keys, with at most 64 bits for each, differ: 64 are tried at once.
const FEW_KEYS: usize = 1 << 10;

/// So many bits are set at most in filters of few keys, which takes about a second.
const MAX_BITS_SET: usize = 5 << 26;

impl BloomFilterShape {
    /// The share of absent keys that filters of this shape and `num_keys` keys match, measured: 0.01
    /// for 1%.
    ///
    /// Makes filters of random keys, always the same ones, and looks others up in them. That is
    /// right for any shape and any number of keys, not only the one that the shape is for. The
    /// textbook's `(1 - e^(-probes / bits_per_key))^probes` is well below it from some 30,000 keys up.
    ///
    /// Filters of up to 1,024 keys, at most 64 bits each, differ: as many are made as give a standard
    /// error of 0.5% for a rate above some 0.02%, in 1 to 200 ms; at 0.002% it is about 2%, after a
    /// second. Of others it is 1% for a rate above 0.01% and 4% at 0.001%; below that, and for few
    /// keys in a large filter, only the order of magnitude is known, or 0. Those take the time and the
    /// memory of making a filter of so many keys, or some filters, and about a second more.
    ///
    /// 0 without keys, unless the shape has no probes.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let shape = BloomFilterPolicy::new(10).shape(100_000);
    /// let rate = shape.measure_false_positive_rate(100_000);
    /// assert!((0.0139..0.015).contains(&rate)); // the textbook says 0.0084
    /// ```
    #[must_use]
    pub fn measure_false_positive_rate(&self, num_keys: usize) -> f64 {
        if num_keys == 0 && self.num_probes() > 0 {
            return 0.0;
        }
        // By that number of keys all bits are set.
        let num_keys = num_keys.min(self.num_bytes.saturating_mul(512));
        let (mut trial, mut bytes) = (Trial::new(self.num_bytes), Vec::new());
        let probes = Probes::new(self.num_bytes, self.num_probes);
        if num_keys <= FEW_KEYS && self.num_bytes <= num_keys * 8 {
            return trial.rate_of_small(probes, self.num_bytes * 8, num_keys);
        }
        // So many that the filter does not take most of the time.
        let lookups_per_filter = num_keys.max(self.num_bytes / 4).saturating_mul(16).max(1024);
        while !trial.is_enough() {
            bytes.clear();
            let mut maker = Maker::new(*self, &mut bytes);
            for start in (0..num_keys).step_by(BATCH) {
                let hashes = &mut [BloomHash::default(); BATCH][..BATCH.min(num_keys - start)];
                trial.draw(hashes);
                maker.add(hashes);
            }
            maker.finish();
            trial.ask(&BloomFilter { bytes: &bytes, probes }, lookups_per_filter);
        }
        trial.rate()
    }
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// The false-positive rate of this very filter, 0 to 1, measured: the share of matches among
    /// random hashes, always the same.
    ///
    /// As precise as [that of a shape](BloomFilterShape::measure_false_positive_rate) of many keys. A
    /// key of the filter counts if its hash is among those tried, as at most one in 64 is. Takes some
    /// milliseconds, and up to a second where the rate is below 0.01%.
    #[must_use]
    pub fn measure_false_positive_rate(&self) -> f64 {
        let mut trial = Trial::new(self.bytes.as_ref().len());
        trial.ask(self, usize::MAX);
        trial.rate()
    }
}

/// Lookups of random hashes, always the same ones, and how many of them matched.
struct Trial {
    state: u64,
    max_lookups: u32,
    num_lookups: u32,
    num_matches: u32,
}

impl Trial {
    fn new(num_bytes: usize) -> Self {
        let max_lookups = if num_bytes > MAX_FAST_BYTES { MAX_LOOKUPS / 2 } else { MAX_LOOKUPS };
        Self { state: 0, max_lookups, num_lookups: 0, num_matches: 0 }
    }

    /// Draws a hash: the upper half of `SplitMix64`, in which no lookup finds a pattern.
    fn hash(&mut self) -> BloomHash {
        self.state = self.state.wrapping_add(0x9e3779b97f4a7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        BloomHash((z >> 32) as u32)
    }

    fn draw(&mut self, hashes: &mut [BloomHash]) {
        hashes.fill_with(|| self.hash());
    }

    fn is_enough(&self) -> bool {
        self.num_matches >= ENOUGH_MATCHES
            || self.num_lookups >= self.max_lookups
            || self.num_lookups >= HOPELESS && self.num_matches < 4
    }

    /// Looks up so many hashes, or as many as are enough.
    fn ask<B: AsRef<[u8]>>(&mut self, filter: &BloomFilter<B>, lookups: usize) {
        let mut batch = [BloomHash::default(); 1024];
        let mut matches = [false; 1024];
        for _ in 0..lookups / 1024 {
            if self.is_enough() {
                break;
            }
            self.draw(&mut batch);
            filter.hashes_may_match(&batch, &mut matches);
            self.num_lookups += 1024;
            self.num_matches += matches.iter().map(|&matches| u32::from(matches)).sum::<u32>();
        }
    }

    fn rate(&self) -> f64 {
        f64::from(self.num_matches) / f64::from(self.num_lookups)
    }

    /// The mean rate of filters that differ, with a standard error of 0.5% or in about a second.
    fn rate_of_small(&mut self, probes: Probes, num_bits: usize, num_keys: usize) -> f64 {
        let probes_of_filter = num_keys * usize::from(probes.count);
        // Most end after a few probes, so all of them take less time than to make the filters.
        let lookups = u16::try_from(16 * probes_of_filter).unwrap_or(u16::MAX).max(64);
        let (mut rounds, mut sum, mut sum_of_squares) = (0.0, 0.0, 0.0);
        for _ in 0..(MAX_BITS_SET / (192 * probes_of_filter).max(1)) {
            let rate = self.rate_of_64(probes, num_bits, num_keys, lookups);
            (rounds, sum, sum_of_squares) =
                (rounds + 1.0, sum + rate, sum_of_squares + rate * rate);
            let variance = sum_of_squares / (sum * sum) - 1.0 / rounds;
            let is_much = rounds >= 16.0 && rounds * f64::from(lookups) >= 16384.0;
            if is_much && variance <= 0.005 * 0.005 {
                break;
            }
        }
        sum / rounds
    }

    /// Looks up so many hashes in 64 filters side by side: word `i` holds bit `i` of each.
    fn rate_of_64(
        &mut self,
        probes: Probes,
        num_bits: usize,
        num_keys: usize,
        lookups: u16,
    ) -> f64 {
        let mut words = vec![0_u64; num_bits];
        let index = |(byte, bit): (usize, u32)| 8 * byte + bit as usize;
        for filter in 0..64 {
            for _ in 0..num_keys {
                probes.bits_of(self.hash()).for_each(|bit| words[index(bit)] |= 1 << filter);
            }
        }
        let mut num_matches = 0;
        for _ in 0..lookups {
            let mut matching = u64::MAX;
            for bit in probes.bits_of(self.hash()) {
                matching &= words[index(bit)];
                if matching == 0 {
                    break;
                }
            }
            num_matches += matching.count_ones();
        }
        f64::from(num_matches) / f64::from(u32::from(lookups) * 64)
    }
}
