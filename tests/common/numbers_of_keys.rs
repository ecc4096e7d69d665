//! Rates by the number of keys in a filter: where all values have one length, so have the filters
//! of all tables, and one bad length is bad in each.

use leveldb_filter::BloomFilterPolicy;

use super::kinds::{COUNTERS, DIGITS, IDS, Kind, PARTS, Run, STEPS, U32};

/// Those whose neighbours differ in the last bytes, and how many of their numbers are present.
pub(crate) fn kinds() -> Vec<(&'static str, &'static str, Kind)> {
    let successive = [
        ("u64 counters, big-endian", COUNTERS[0]),
        ("u32 counters, big-endian", U32),
        ("16 decimal digits", DIGITS[1]),
        ("16 hexadecimal digits", DIGITS[3]),
        ("u64 user + u64 sequence", PARTS[0]),
    ];
    let present = [("half", 2), ("nine in ten", 10)];
    let of_each = |(name, kind): (_, Kind)| {
        present.map(|(present, one_in)| (name, present, kind.all_but_one_in(one_in)))
    };
    let others = [("u64 counters", "one in three", STEPS[2]), ("ObjectId", "bursts", IDS[0])];
    successive.into_iter().flat_map(of_each).chain(others).collect()
}

/// For every seventh number of keys from 1,000 to 4,000, and every 83rd to 30,000, the rate of each
/// policy's filters of so many keys in at least `num_lookups` lookups.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub(crate) fn rates<const N: usize>(
    kind: &Kind,
    policies: [BloomFilterPolicy; N],
    num_lookups: usize,
) -> Vec<[f64; N]> {
    let numbers = (1_000..4_000).step_by(7).chain((4_000..=30_000).step_by(83));
    let rate = |num_keys| {
        let (mut sums, mut num_runs, mut lookups) = ([0.0; N], 0, 0);
        while lookups < num_lookups {
            let run = Run::draw(kind, num_keys, num_runs << 32 | num_keys as u64);
            for (sum, policy) in sums.iter_mut().zip(policies) {
                *sum += run.rate(policy);
            }
            num_runs += 1;
            lookups += run.num_lookups();
        }
        sums.map(|sum| sum / num_runs as f64)
    };
    numbers.map(rate).collect()
}
