//! Finds the policy that made filters from their sizes.

use leveldb_filter::BloomFilterPolicy;

/// The least bytes of bits in LevelDB's filters, however few their keys.
const MIN_BYTES: usize = 8;
/// How many bytes shorter than LevelDB's filters tuned ones are at most: so many, or this part.
const MOST_LEFT_BY_TUNING: usize = 3;
const PART_LEFT_BY_TUNING: usize = 48;
/// How many bytes longer than their least length tuned filters are at most.
const MOST_ADDED_BY_TUNING: usize = 7;
/// More thousandths of a bit are possible only if a table has very few keys.
const MAX_CANDIDATES: usize = 10_000;

/// The size of one filter; `bytes` leaves out the byte of the probe count.
pub(crate) struct Size {
    pub(crate) keys: usize,
    pub(crate) bytes: usize,
    pub(crate) probes: u8,
}

/// A policy that makes filters of these sizes: preferably `LevelDB`'s with whole bits.
pub(crate) fn policy_of_sizes(sizes: &[Size]) -> Option<BloomFilterPolicy> {
    let Size { keys, bytes, probes } = *sizes.iter().max_by_key(|size| size.keys)?;
    let per_key = |bytes: usize| bytes.saturating_mul(8_000) / keys;
    let fewest = if bytes > MIN_BYTES { per_key(bytes - 1) } else { 0 };
    let most = per_key(bytes + MOST_LEFT_BY_TUNING.max(bytes / PART_LEFT_BY_TUNING));
    let fits = |policy: &BloomFilterPolicy| {
        sizes.iter().all(|size| {
            let shape = policy.shape(size.keys);
            shape.filter_len() == size.bytes + 1 && shape.num_probes() == size.probes
        })
    };
    let least = sizes.iter().map(|size| size.bytes + 1).min()?;
    let find = |least: usize, kind: &dyn Fn(BloomFilterPolicy) -> BloomFilterPolicy| {
        // If several fit, LevelDB's recommendation.
        let whole = [10].into_iter().chain(least / 1_000..=most / 1_000).map(|bits| bits * 1_000);
        let candidates = whole.take(MAX_CANDIDATES).chain((fewest..=most).take(MAX_CANDIDATES));
        let policies = candidates.map(BloomFilterPolicy::from_millibits_per_key);
        policies.map(kind).find(fits)
    };
    let mut lens = least.saturating_sub(MOST_ADDED_BY_TUNING)..=least;
    // All filters may have the least length, and fewer bits per key than that takes.
    let padded = |len| find(0, &|policy| policy.tuned().with_min_filter_len(len));
    find(fewest, &|policy| policy)
        .or_else(|| find(fewest, &|policy| policy.with_num_probes(probes)))
        .or_else(|| find(fewest, &BloomFilterPolicy::tuned))
        .or_else(|| lens.find_map(padded))
}
