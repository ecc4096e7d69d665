//! What `inspect` says of golden tables is what an independent reader, in Python, has found.

use leveldb_filter::BloomFilterPolicy;

use crate::figures::Figures;
use crate::leveldb::Leveldb;
use crate::table::Filters;
use crate::{facts, read_golden};

/// A table's file, its entries, the bits per key and `base_lg` of its filters; the keys left out, how
/// many of them match LevelDB's filters of the others, and the bytes of the filter block.
type Known = (&'static str, usize, u32, u8, usize, usize, usize);

const KNOWN: [Known; 12] = [
    ("tables/db_bloom10.ldb", 3_685, 10, 11, 368, 5, 4_911),
    ("tables/db_bloom10_large_values.ldb", 24, 10, 11, 2, 0, 457),
    ("tables/db_bloom16_block1k.ldb", 600, 16, 11, 60, 0, 1_250),
    ("tables/db_snappy_bloom10.ldb", 3_000, 10, 11, 300, 5, 4_051),
    ("tables/db_snappy_bloom16_large_values.ldb", 60, 16, 11, 6, 0, 370),
    ("tables/goleveldb_bloom10_user_keys.ldb", 800, 10, 11, 80, 1, 1_048),
    ("tables/table_bloom10_user_keys.ldb", 800, 10, 11, 80, 0, 1_048),
    ("tables/table_empty.ldb", 0, 10, 11, 0, 0, 5),
    ("databases/goleveldb_base_lg_16/000004.ldb", 4_016, 10, 16, 401, 5, 5_036),
    ("databases/long_prefixes/000005.ldb", 3_000, 10, 11, 300, 3, 3_795),
    ("databases/reverse_comparator/000005.ldb", 1_501, 10, 11, 150, 0, 1_926),
    ("databases/sequence/000005.ldb", 6_000, 10, 11, 600, 226, 8_310),
];

#[test]
fn facts_are_those_of_an_independent_reader_and_blocks_are_rebuilt_byte_for_byte() {
    for (name, num_entries, bits_per_key, base_lg, num_absent, num_matching, len) in KNOWN {
        let facts = facts(&read_golden(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((facts.num_entries, facts.faults), (num_entries, vec![]), "{name}");
        let Filters::Bloom { each_passes: true, same_bytes: Some(leveldb), .. } = facts.filters
        else {
            panic!("{name}: {:?}", facts.filters)
        };
        assert_eq!([facts.leveldb, leveldb], [Leveldb { bits_per_key, base_lg }; 2], "{name}");
        let Figures { num_absent: absent, num_matching: [leveldb, tuned], len: [bytes, _] } =
            facts.figures;
        assert_eq!((absent, leveldb, bytes), (num_absent, num_matching, len), "{name}");
        assert!(tuned <= 1 + num_absent / 66, "{name}: {tuned} of {num_absent}");
    }
}

#[test]
fn filters_of_other_policies_and_none_are_told_apart() {
    let whose = |name: &str| {
        let facts = facts(&read_golden(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        (facts.filters, facts.faults.len(), facts.figures.num_absent, facts.figures.num_matching[0])
    };
    assert_eq!(whose("tables/db_snappy_no_filter.ldb"), (Filters::None, 0, 150, 0));
    let foreign = Filters::Foreign("example.OwnFilter".into());
    assert_eq!(whose("databases/own_policy/000007.ldb"), (foreign, 0, 120, 3));
    let name = BloomFilterPolicy::NAME.into();
    let of_prefixes = Filters::Bloom { name, each_passes: false, same_bytes: None };
    assert_eq!(whose("databases/prefix_filters/000005.ldb"), (of_prefixes, 1, 121, 0));
}
