//! Measuring a filter's false-positive rate.

use super::filter::BloomFilter;
use crate::BloomHash;

/// How many hashes [`BloomFilter::false_positive_rate`] tries.
const TRIED_HASHES: u32 = 1 << 20;

impl<B: AsRef<[u8]>> BloomFilter<B> {
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

/// A different hash for each `i`, without a pattern that the probes could share.
fn tried_hash(i: u32) -> BloomHash {
    let h = i.wrapping_mul(0x9e3779b1);
    let h = (h ^ h >> 15).wrapping_mul(0x85ebca6b);
    BloomHash(h ^ h >> 13)
}
