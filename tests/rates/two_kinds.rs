//! Tables of two kinds of keys, in long ranges against LevelDB's own filters.

use leveldb_filter::FilterBlockBuilder;

use crate::POLICY;
use crate::two_kinds::{TABLES, rates_and_len};

#[test]
fn neither_kind_of_a_table_matches_much_more_than_in_leveldbs_filters() {
    let builders =
        [FilterBlockBuilder::new(POLICY), FilterBlockBuilder::with_long_ranges(POLICY.tuned())];
    for parts in &TABLES {
        let [(leveldb, leveldb_len), (long, long_len)] = rates_and_len(parts, 2, &builders);
        let names = parts.map(|part| format!("{} {}", part.num_keys, part.name));
        println!("{names:?}: {leveldb:.4?} in {leveldb_len} bytes, {long:.4?} in {long_len}");
        for (leveldb, long) in leveldb.into_iter().zip(long) {
            assert!(long < 1.3 * leveldb + 0.003, "{names:?}: {long} instead of {leveldb}");
        }
        assert!(long_len < leveldb_len, "{names:?}: {long_len} bytes instead of {leveldb_len}");
    }
}
