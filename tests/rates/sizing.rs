//! Policies for a false-positive rate: their filters have it, neither more nor far less.

use leveldb_filter::BloomFilterPolicy;

use crate::common::log_uniform;
use crate::common::measure::{Effort, false_positive_rate};

/// Random rates and numbers of keys.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10 million")]
fn problems(count: usize, min_keys: f64, max_keys: f64) -> Vec<(f64, usize)> {
    let rates = log_uniform(1e-5, 0.2, 1);
    let keys = log_uniform(min_keys, max_keys, 2).map(|num_keys| num_keys as usize);
    rates.zip(keys).take(count).collect()
}

/// The measured rate over the wanted one, for the problems that have an answer, sorted.
fn measured_over_asked(problems: &[(f64, usize)], effort: Effort) -> Vec<f64> {
    let mut ratios = Vec::new();
    for &(rate, num_keys) in problems {
        let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys) else {
            // Too many keys have equal hashes.
            let num_keys = f64::from(u32::try_from(num_keys).unwrap());
            assert!(rate < 1.05 * num_keys / 4294967296.0, "{rate}, {num_keys} keys");
            continue;
        };
        let measured = false_positive_rate(policy, num_keys, effort);
        // Otherwise the ratio would be mostly measurement error.
        if measured.standard_error < 0.03 * measured.mean {
            ratios.push(measured.mean / rate);
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios
}

#[test]
fn filters_made_for_a_rate_have_it() {
    let effort = Effort { matches: 2500, max_lookups: 1 << 20 };
    let ratios = measured_over_asked(&problems(50, 100.0, 50_000.0), effort);
    assert!(ratios.len() >= 25);
    // Some 100 keys get a few bytes more, if every shorter length has a bad factor.
    assert!(ratios[0] > 0.75 && ratios[1] > 0.85, "{ratios:?}");
    assert!(ratios[ratios.len() - 1] < 1.1, "{ratios:?}");
}
