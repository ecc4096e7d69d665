//! Measures false-positive rates with filters that the library makes, of random keys.

use leveldb_filter::{BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash};

use super::random::words;

/// How many filters to make, and how many absent keys to look up in all of them together.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) num_filters: usize,
    pub(crate) num_lookups: usize,
}

impl Effort {
    /// Filters of at least so many keys together; few keys fill some filters more than others.
    pub(crate) fn with_total_keys(total_keys: usize, num_keys: usize, num_lookups: usize) -> Self {
        Self { num_filters: total_keys.div_ceil(num_keys), num_lookups }
    }
}

/// The share of absent keys that filters match.
#[allow(dead_code, reason = "not everyone asks for the error")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) mean: f64,
    /// Of the mean, by the look-ups and by how filters differ.
    pub(crate) standard_error: f64,
}

/// The rate of filters of `num_keys` keys with random hashes. Equal seeds use equal hashes.
pub(crate) fn false_positive_rate(
    policy: BloomFilterPolicy,
    num_keys: usize,
    effort: Effort,
    seed: u64,
) -> Rate {
    let mut hashes = words(seed).map(|word| BloomHash::from_u32((word >> 32) as u32));
    let lookups_per_filter = effort.num_lookups.div_ceil(effort.num_filters);
    let mut builder = BloomFilterBuilder::new();
    let mut filter = Vec::new();
    let (mut sum, mut sum_of_squares) = (0.0, 0.0);
    for _ in 0..effort.num_filters {
        hashes.by_ref().take(num_keys).for_each(|hash| builder.add_hash(hash));
        filter.clear();
        builder.finish_into(policy, &mut filter);
        let num_matches = count_matches(&filter, hashes.by_ref().take(lookups_per_filter));
        let rate = ratio(num_matches, lookups_per_filter);
        sum += rate;
        sum_of_squares += rate * rate;
    }
    let num_filters = ratio(effort.num_filters, 1);
    let mean = sum / num_filters;
    let by_lookups = mean / (num_filters * ratio(lookups_per_filter, 1));
    let variance = (sum_of_squares / num_filters - mean * mean).max(0.0);
    let by_filters = variance / (num_filters - 1.0).max(1.0);
    Rate { mean, standard_error: by_lookups.max(by_filters).sqrt() }
}

fn count_matches(filter: &[u8], mut hashes: impl Iterator<Item = BloomHash>) -> usize {
    let filter = BloomFilter::new(filter).expect("1 to 30 probes");
    let (mut batch, mut matches) = (Vec::with_capacity(1024), [false; 1024]);
    let mut num_matches = 0;
    loop {
        batch.clear();
        batch.extend(hashes.by_ref().take(matches.len()));
        if batch.is_empty() {
            return num_matches;
        }
        let matches = &mut matches[..batch.len()];
        filter.hashes_may_match(&batch, matches);
        num_matches += matches.iter().filter(|&&matches| matches).count();
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
