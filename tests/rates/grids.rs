//! Keys with equal hashes, in long ranges against LevelDB's own filters.

use leveldb_filter::FilterBlockBuilder;

use crate::POLICY;
use crate::filter_blocks::{TABLE_LEN, Table, rate_and_len};
use crate::grids::GRIDS;

/// The mean over runs of which a random half is present, in LevelDB's ranges and in long ones.
fn rates(grid: usize, value_len: usize) -> [f64; 2] {
    const NUM_RUNS: u32 = 2;
    let (_, kind, num_keys) = GRIDS[grid];
    let builders =
        [FilterBlockBuilder::new(POLICY), FilterBlockBuilder::with_long_ranges(POLICY.tuned())];
    let mut means = [0.0; 2];
    for run in 0..NUM_RUNS {
        let keys = kind.sorted(num_keys, run.into());
        // Random lengths, since filters of one length have one rate.
        let value_len = |i: usize| value_len - value_len / 10 + i * 7 % (value_len / 5 + 1);
        let tables = Table::of_keys(&keys, TABLE_LEN, value_len);
        for (mean, builder) in means.iter_mut().zip(&builders) {
            *mean += rate_and_len(&tables, builder).0 / f64::from(NUM_RUNS);
        }
    }
    means
}

#[test]
fn keys_with_equal_hashes_match_hardly_more_than_leveldbs_filters_where_those_are_good() {
    let mut num_good = 0;
    for (i, (name, ..)) in GRIDS.iter().enumerate() {
        for value_len in [0, 20, 1_000] {
            let [leveldb, long] = rates(i, value_len);
            println!("{name}, {value_len} bytes: {:.2}% {:.2}%", 100.0 * leveldb, 100.0 * long);
            num_good += usize::from(leveldb < 0.014);
            assert!(long < 1.1 * leveldb.max(0.014), "{name}: {long} instead of {leveldb}");
        }
    }
    assert!(num_good >= 20, "{num_good}");
}
