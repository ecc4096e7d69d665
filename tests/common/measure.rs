//! Measures false-positive rates with filters that the library makes, of random keys.

use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, FilterPolicy};

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

/// The share of absent keys that filters of `num_keys` keys match. Equal seeds use equal keys.
pub(crate) fn false_positive_rate(
    policy: BloomFilterPolicy,
    num_keys: usize,
    effort: Effort,
    seed: u64,
) -> f64 {
    let mut keys = words(seed).map(u64::to_le_bytes);
    let lookups_per_filter = effort.num_lookups.div_ceil(effort.num_filters);
    let mut builder = BloomFilterBuilder::new();
    let mut filter = Vec::new();
    let mut false_positives = 0;
    for _ in 0..effort.num_filters {
        builder.extend(keys.by_ref().take(num_keys));
        filter.clear();
        builder.finish_into(policy, &mut filter);
        let absent = keys.by_ref().take(lookups_per_filter);
        false_positives += absent.filter(|key| policy.key_may_match(key, &filter)).count();
    }
    ratio(false_positives, lookups_per_filter * effort.num_filters)
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
