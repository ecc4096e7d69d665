//! What `inspect` says of golden tables is what an independent reader, in Python, has found.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::table::{Keys, Table};
use crate::figures::{Figures, Leveldb};
use crate::table::Filters;
use crate::{facts, read_golden};

/// A table's file, its entries, the bits per key and `base_lg` of its filters; the keys left out, how
/// many of them match LevelDB's filters of the others, and the bytes of the filter block.
type Known = (&'static str, usize, u32, u8, usize, usize, usize);

const KNOWN: [Known; 12] = [
    ("tables/db_bloom10.ldb", 3_685, 10, 11, 1_842, 31, 4_911),
    ("tables/db_bloom10_large_values.ldb", 24, 10, 11, 12, 0, 457),
    ("tables/db_bloom16_block1k.ldb", 600, 16, 11, 300, 3, 1_250),
    ("tables/db_snappy_bloom10.ldb", 3_000, 10, 11, 1_500, 15, 4_051),
    ("tables/db_snappy_bloom16_large_values.ldb", 60, 16, 11, 30, 0, 370),
    ("tables/goleveldb_bloom10_user_keys.ldb", 800, 10, 11, 400, 5, 1_048),
    ("tables/table_bloom10_user_keys.ldb", 800, 10, 11, 400, 3, 1_048),
    ("tables/table_empty.ldb", 0, 10, 11, 0, 0, 5),
    ("databases/goleveldb_base_lg_16/000004.ldb", 4_016, 10, 16, 2_008, 21, 5_036),
    ("databases/long_prefixes/000005.ldb", 3_000, 10, 11, 1_500, 11, 3_795),
    ("databases/reverse_comparator/000005.ldb", 1_501, 10, 11, 750, 6, 1_926),
    ("databases/sequence/000005.ldb", 6_000, 10, 11, 3_000, 1_378, 8_310),
];

#[test]
fn facts_are_those_of_an_independent_reader_and_blocks_are_rebuilt_byte_for_byte() {
    for (name, num_entries, bits_per_key, base_lg, num_absent, num_matching, len) in KNOWN {
        let facts = facts(&read_golden(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((facts.num_entries, facts.faults), (num_entries, vec![]), "{name}");
        let Filters::Bloom { each_passes: true, same_bytes, .. } = facts.filters else {
            panic!("{name}: no filters that match each entry")
        };
        assert_eq!(same_bytes, Some(Leveldb { bits_per_key, base_lg }), "{name}");
        let Figures { num_absent: absent, num_matching: [leveldb, tuned], len: lens } =
            facts.figures;
        assert_eq!((absent, leveldb, lens[0]), (num_absent, num_matching, len), "{name}");
        assert!(tuned <= 1 + num_absent / 66, "{name}: {tuned} of {num_absent}");
    }
}

#[test]
fn long_ranges_lose_no_entry_of_golden_tables() {
    for (name, num_entries, ..) in KNOWN {
        let file = read_golden(name);
        let mut keys = Keys::of(&Table::open(&file).unwrap()).unwrap();
        keys.are_internal = keys.look_internal();
        let policy = BloomFilterPolicy::new(10).tuned();
        let filters = keys.filter_block(FilterBlockBuilder::with_long_ranges(policy));
        let reader = FilterBlockReader::new(policy, filters);
        let passes = |(offset, key): &(u64, &[u8])| reader.key_may_match(*offset, key);
        assert_eq!(keys.iter().filter(passes).count(), num_entries, "{name}");
        assert!(num_entries == 0 || !reader.key_may_match(0, b"absent"), "{name}");
    }
}
