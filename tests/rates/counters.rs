//! Filters as long ranges make them: no number of keys is bad in every table.

use leveldb_filter::BloomFilterPolicy;

use crate::common::numbers_of_keys::{kinds, rates};

/// As long ranges make them.
#[test]
#[ignore = "takes half a minute with optimization"]
#[expect(clippy::cast_precision_loss, reason = "few rates")]
fn at_no_number_of_keys_do_filters_match_3_per_cent() {
    let policy = BloomFilterPolicy::new(10).tuned().with_min_keys(2_000);
    for (name, present, kind) in kinds() {
        let rates: Vec<f64> =
            rates(&kind, [policy], 20_000).into_iter().map(|[rate]| rate).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
        let worst = rates.iter().copied().fold(0.0, f64::max);
        let line = format!("{name}, {present}: {mean:.4}, {num_above} above 2%, {worst:.4}");
        println!("{line}");
        assert!(mean <= 0.0115 && num_above <= rates.len() / 100 && worst <= 0.03, "{line}");
    }
}
