//! Measuring false-positive rates.

use super::bits::create;
use super::bits::probes::Probes;
use super::filter::BloomFilter;
use super::shape::BloomFilterShape;
use crate::BloomHash;

/// So many matches give a rate to about a hundredth of it.
const ENOUGH_MATCHES: u32 = 1 << 13;

/// So many lookups are made where there are few matches.
const MAX_LOOKUPS: u32 = 1 << 26;

impl BloomFilterShape {
    /// The share of absent keys that filters of this shape and `num_keys` keys match, measured: 0.01
    /// for 1%.
    ///
    /// Makes filters of random keys, always the same ones, and looks others up in them. That is
    /// right for any shape and any number of keys, not only the one that the shape is for. The
    /// textbook's `(1 - e^(-probes / bits_per_key))^probes` is well below it from some 30,000 keys up.
    ///
    /// The standard error is about 1% of a rate above 0.01%, and grows to 4% at 0.001%. Takes the
    /// time and the memory of making a filter of so many keys, or some filters where keys are few,
    /// and some milliseconds more; a second or two where the rate is below 0.01%.
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
        let (mut trial, mut bytes) = (Trial::default(), Vec::new());
        // Some for each key: filters of few keys, which differ, are many, and others are made seldom.
        let lookups_per_filter =
            u32::try_from(num_keys.saturating_mul(16)).unwrap_or(u32::MAX).max(1024);
        let probes = Probes::new(self.num_bytes, self.num_probes);
        while !trial.is_enough() {
            bytes.clear();
            create::append_filter(*self, num_keys, &mut bytes, |_, batch| trial.draw(batch));
            trial.ask(&BloomFilter { bytes: &bytes, probes }, lookups_per_filter);
        }
        trial.rate()
    }
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// The false-positive rate of this very filter, 0 to 1, measured: the share of matches among
    /// random hashes, always the same.
    ///
    /// As precise as [that of a shape](BloomFilterShape::measure_false_positive_rate). A key of the
    /// filter counts if its hash is among those tried, as at most one in 64 is. Takes some
    /// milliseconds, and about a second where the rate is below 0.01%.
    #[must_use]
    pub fn measure_false_positive_rate(&self) -> f64 {
        let mut trial = Trial::default();
        trial.ask(self, MAX_LOOKUPS);
        trial.rate()
    }
}

/// Lookups of random hashes, always the same ones, and how many of them matched.
#[derive(Default)]
struct Trial {
    state: u64,
    num_lookups: u32,
    num_matches: u32,
}

impl Trial {
    /// Draws hashes: the upper halves of `SplitMix64`, in which no lookup finds a pattern.
    fn draw(&mut self, hashes: &mut [BloomHash]) {
        hashes.fill_with(|| {
            self.state = self.state.wrapping_add(0x9e3779b97f4a7c15);
            let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
            BloomHash((z >> 32) as u32)
        });
    }

    fn is_enough(&self) -> bool {
        self.num_matches >= ENOUGH_MATCHES || self.num_lookups >= MAX_LOOKUPS
    }

    /// Looks up so many hashes, or as many as are enough.
    fn ask<B: AsRef<[u8]>>(&mut self, filter: &BloomFilter<B>, lookups: u32) {
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
}
