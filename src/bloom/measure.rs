//! Measuring false-positive rates, and estimating how many keys a filter has.

use alloc::vec::Vec;

use super::bits::create::FilterMaker;
use super::bits::probes::PreparedShape;
use super::filter::BloomFilter;
use super::shape::{BloomFilterShape, float};
use super::shaping::different_third_probes;
use crate::BloomHash;
use crate::hash::BATCH;

/// The fewest lookups, because small filters differ from each other.
const MIN_LOOKUPS: u32 = 1 << 21;

/// The most lookups, which low rates need.
const MAX_LOOKUPS: u32 = 1 << 26;

/// With this many matches, the standard error of a rate is 0.8%.
const ENOUGH_MATCHES: u32 = 1 << 14;

impl BloomFilterShape {
    /// Measures which share of absent random keys match in filters of this shape with `num_keys`
    /// random keys, such as 0.01 for 1%.
    ///
    /// Builds filters, and looks up other keys. Each call uses the same keys. The result is right
    /// for any shape, including large filters, for which the textbook's formula is too low.
    ///
    /// The standard error is about 1% for rates above 0.02%. For far lower rates, only the order of
    /// magnitude is right, or the result is 0. Takes some 20 ms, but seconds for low rates. For more
    /// than a million keys, takes about as long as building a filter. Needs the memory of one
    /// filter.
    ///
    /// # Panics
    ///
    /// With "capacity overflow" if a `Vec` cannot be as long as the filter.
    #[must_use]
    pub fn measure_false_positive_rate(&self, num_keys: usize) -> f64 {
        // With 64 probes for each bit, more keys would set no further bit.
        let most_probes = (self.num_bytes as u64).saturating_mul(512);
        let most_keys = most_probes / u64::from(self.num_probes.max(1));
        let num_keys = num_keys.min(usize::try_from(most_keys).unwrap_or(usize::MAX));
        // Enough lookups that making filters does not take most of the time.
        let lookups_per_filter = num_keys.max(self.num_bytes).saturating_mul(4);
        let (mut trial, mut bytes) = (Trial::default(), Vec::new());
        let prepared = PreparedShape::new(self.num_bytes, self.num_probes);
        while !trial.is_enough() {
            bytes.clear();
            let mut maker = FilterMaker::new(*self, &mut bytes);
            for start in (0..num_keys).step_by(BATCH) {
                maker.add(&trial.draw()[..BATCH.min(num_keys - start)]);
            }
            trial.look_up(&BloomFilter { bytes: &bytes, prepared }, lookups_per_filter);
        }
        trial.rate()
    }
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// Measures which share of absent random keys match in this very filter, such as 0.01 for 1%.
    ///
    /// As precise and as fast as the [measurement of a
    /// shape](BloomFilterShape::measure_false_positive_rate). Each call looks up the same hashes. A
    /// few of these may be hashes of the filter's keys.
    #[must_use]
    pub fn measure_false_positive_rate(&self) -> f64 {
        let mut trial = Trial::default();
        trial.look_up(self, usize::MAX);
        trial.rate()
    }

    /// Estimates the number of different keys in the filter from the share of set bits.
    ///
    /// For 100 or more random keys, most estimates are within a few per cent, if the filter was
    /// made for about that number. For fewer keys, or for keys in sequence, an estimate may be
    /// several times too low. Infinite if all bits are set or the probe count is 0. Takes time
    /// linear in the filter's length.
    #[must_use]
    pub fn estimated_num_keys(&self) -> f64 {
        let (shape, fill_ratio) = (self.shape(), self.fill_ratio());
        if shape.num_probes() == 0 || fill_ratio >= 1.0 {
            return f64::INFINITY;
        }
        // As many different probes would set these bits, if only third probes coincided.
        let probes = float(shape.num_bits()) * minus_ln_of_rest(fill_ratio);
        let num_probes = f64::from(shape.num_probes());
        let mut num_keys = probes / num_probes;
        if probes > 0.0 && num_probes > 2.0 {
            // The first guess is at most a third too low; four rounds reduce that below 0.1%.
            for _ in 0..4 {
                num_keys = (probes - different_third_probes(num_keys)) / (num_probes - 1.0);
            }
        }
        num_keys
    }
}

/// `-ln(1 - share)` of a share below 1. Uses only what IEEE 754 rounds alike everywhere, which
/// [`f64::ln_1p`] does not.
fn minus_ln_of_rest(share: f64) -> f64 {
    if share > 0.5 {
        // For twice the rest, which is not rounded: the series below converges fast for it.
        return core::f64::consts::LN_2 + minus_ln_of_rest(2.0 * share - 1.0);
    }
    // `2 * artanh(z)`, whose series is `2 * (z + z^3 / 3 + z^5 / 5 + ..)`, with `z` at most 1 / 3.
    let z = share / (2.0 - share);
    2.0 * z * (0..16).rev().fold(0.0, |sum, k| sum * z * z + 1.0 / f64::from(2 * k + 1))
}

/// Counts lookups of random hashes, the same in each trial, and how many matched.
#[derive(Default)]
struct Trial {
    state: u64,
    num_lookups: u32,
    num_matches: u32,
}

impl Trial {
    /// Draws hashes: the upper halves of `SplitMix64`, in which no lookup finds a pattern.
    fn draw(&mut self) -> [BloomHash; BATCH] {
        [(); BATCH].map(|()| {
            self.state = self.state.wrapping_add(0x9e3779b97f4a7c15);
            let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
            BloomHash((z >> 32) as u32)
        })
    }

    fn is_enough(&self) -> bool {
        // With fewer than four matches so far, even the most lookups would give only a rough rate.
        let is_known = self.num_matches >= ENOUGH_MATCHES || self.num_matches < 4;
        self.num_lookups >= MAX_LOOKUPS || self.num_lookups >= MIN_LOOKUPS && is_known
    }

    /// Looks up about `num_lookups` hashes, or fewer if they are enough.
    fn look_up<B: AsRef<[u8]>>(&mut self, filter: &BloomFilter<B>, num_lookups: usize) {
        let mut matches = [false; BATCH];
        for _ in 0..num_lookups.div_ceil(BATCH) {
            if self.is_enough() {
                break;
            }
            filter.hashes_may_match(&self.draw(), &mut matches);
            for matches in matches {
                self.num_lookups += 1;
                self.num_matches += u32::from(matches);
            }
        }
    }

    fn rate(&self) -> f64 {
        f64::from(self.num_matches) / f64::from(self.num_lookups)
    }
}
