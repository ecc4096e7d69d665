//! Policies for a false-positive rate: their filters have it, neither more nor far less.

use leveldb_filter::BloomFilterPolicy;

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::{drawn, of_any_magnitude};

#[test]
fn filters_made_for_a_rate_have_it() {
    let effort = Effort { matches: 2500, max_lookups: 1 << 20 };
    let (mut below, mut ratios) = (drawn(1), Vec::new());
    let mut up_to = |max| u32::try_from(of_any_magnitude(max, &mut below)).expect("few");
    for _ in 0..60 {
        let (rate, num_keys) = (0.2 / f64::from(up_to(20_000)), 99 + up_to(50_000));
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys as usize);
        let Some(policy) = policy else {
            // Too many keys have equal hashes.
            assert!(rate < 1.05 * f64::from(num_keys) / 4294967296.0, "{rate}, {num_keys} keys");
            continue;
        };
        let measured = false_positive_rate(policy, num_keys as usize, effort);
        // Otherwise the ratio would be mostly measurement error.
        if measured.standard_error < 0.03 * measured.mean {
            ratios.push(measured.mean / rate);
        }
    }
    ratios.sort_by(f64::total_cmp);
    assert!(ratios.len() >= 25);
    // Some 100 keys get a few bytes more, if every shorter length has a bad factor.
    assert!(ratios[0] > 0.75 && ratios[1] > 0.85, "{ratios:?}");
    assert!(ratios[ratios.len() - 1] < 1.2, "{ratios:?}");
}
