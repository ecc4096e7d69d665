//! Measures false-positive rates of the library's filters with random keys.

use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, BloomHash};

use super::random::words;

/// When to stop measuring: after this many matches, or this many lookups.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) matches: usize,
    pub(crate) max_lookups: usize,
}

/// The share of absent keys that filters match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) mean: f64,
    /// The mean's standard error, from the number of lookups and the differences between filters.
    pub(crate) standard_error: f64,
}

/// The rate of filters of `num_keys` keys with random hashes, the same ones for every policy.
pub(crate) fn false_positive_rate(
    policy: BloomFilterPolicy,
    num_keys: usize,
    effort: Effort,
) -> Rate {
    const BATCH: usize = 1024;
    let mut hashes = words(0xbc9f1d34).map(|word| BloomHash::from_u32((word >> 32) as u32));
    // As many lookups as keys, so that there are many filters of few keys, which differ most.
    let batches_per_filter = (num_keys / BATCH).clamp(1, 1024);
    let mut builder = BloomFilterBuilder::new();
    let (mut batch, mut matches) = (Vec::with_capacity(BATCH), [false; BATCH]);
    let (mut num_filters, mut num_lookups, mut num_matches) = (0, 0, 0);
    let mut sum_of_squares = 0.0;
    while num_matches < effort.matches && num_lookups < effort.max_lookups {
        hashes.by_ref().take(num_keys).for_each(|hash| builder.add_hash(hash));
        let filter = builder.finish(policy);
        let mut matches_of_filter = 0;
        for _ in 0..batches_per_filter {
            batch.clear();
            batch.extend(hashes.by_ref().take(BATCH));
            filter.hashes_may_match(&batch, &mut matches);
            matches_of_filter += matches.iter().filter(|&&matches| matches).count();
        }
        num_filters += 1;
        num_lookups += batches_per_filter * BATCH;
        num_matches += matches_of_filter;
        let rate = ratio(matches_of_filter, batches_per_filter * BATCH);
        sum_of_squares += rate * rate;
    }
    let mean = ratio(num_matches, num_lookups);
    let num_filters = ratio(num_filters, 1);
    let by_lookups = mean / ratio(num_lookups, 1);
    let variance = (sum_of_squares / num_filters - mean * mean).max(0.0);
    let by_filters = variance / (num_filters - 1.0).max(1.0);
    Rate { mean, standard_error: by_lookups.max(by_filters).sqrt() }
}

#[expect(clippy::cast_precision_loss, reason = "more digits than a rate needs")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
