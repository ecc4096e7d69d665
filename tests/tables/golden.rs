//! The crate's filter blocks of golden tables: the same bytes, which match every key.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::table::replace::with_filter_block;
use crate::common::table::{Keys, Table};
use crate::read_golden;

const LEVELDB: &str = BloomFilterPolicy::NAME;
const GOLEVELDB: &str = BloomFilterPolicy::GOLEVELDB_NAME;

/// A table's file; whether its keys are internal keys, whose trailers filters ignore; its filters'
/// policy, bits per key and `base_lg`; the numbers of data blocks and keys; and, if known, FNV-1a
/// 64 of the keys from LevelDB's iterator, each after its length as a u32.
type GoldenTable = (&'static str, bool, (&'static str, usize, u8), usize, usize, Option<u64>);

#[rustfmt::skip]
const GOLDEN_TABLES: [GoldenTable; 13] = [
    ("tables/db_bloom10.ldb", true, (LEVELDB, 10, 11), 32, 3_685, Some(0xcde36d8e6e4de46c)),
    ("tables/db_bloom16_block1k.ldb", true, (LEVELDB, 16, 11), 17, 600, Some(0x8a089e183319e7e2)),
    ("tables/db_bloom10_large_values.ldb", true, (LEVELDB, 10, 11), 24, 24, Some(0x87c38aee349ca566)),
    ("tables/table_bloom10_user_keys.ldb", false, (LEVELDB, 10, 11), 8, 800, Some(0xec17cea1af0fba08)),
    ("tables/table_empty.ldb", false, (LEVELDB, 10, 11), 0, 0, Some(0xcbf29ce484222325)),
    ("tables/goleveldb_bloom10_user_keys.ldb", false, (GOLEVELDB, 10, 11), 5, 800, Some(0xec17cea1af0fba08)),
    ("tables/db_snappy_bloom10.ldb", true, (LEVELDB, 10, 11), 84, 3_000, Some(0x297eeaf1cc2e2a34)),
    ("tables/db_snappy_bloom16_large_values.ldb", true, (LEVELDB, 16, 11), 60, 60, Some(0x3c845725e4047838)),
    ("databases/classic_level/000005.ldb", true, (LEVELDB, 10, 11), 52, 3_000, None),
    ("databases/goleveldb_base_lg_16/000004.ldb", true, (GOLEVELDB, 10, 16), 35, 4_016, None),
    ("databases/long_prefixes/000005.ldb", true, (LEVELDB, 10, 11), 4, 3_000, None),
    ("databases/reverse_comparator/000005.ldb", true, (LEVELDB, 10, 11), 13, 1_501, None),
    ("databases/sequence/000005.ldb", true, (LEVELDB, 10, 11), 89, 6_000, None),
];

#[test]
fn filter_blocks_match_every_key_and_are_rebuilt_byte_for_byte() {
    for (file, are_internal, (name, bits_per_key, base_lg), num_blocks, num_keys, fnv) in
        GOLDEN_TABLES
    {
        let bytes = read_golden(file);
        let table = Table::open(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        let keys = Keys::of(&table).unwrap_or_else(|error| panic!("{file}: {error}"));
        let filters = table.filters().unwrap_or_else(|error| panic!("{file}: {error}"));
        let filters = filters.unwrap_or_else(|| panic!("{file}: no filters"));
        let is_known = fnv.is_none_or(|fnv| fnv == fnv1a_64_of(&keys));
        assert_eq!(
            (keys.num_blocks(), keys.len(), is_known),
            (num_blocks, num_keys, true),
            "{file}"
        );

        let keys = if are_internal { keys.into_user_keys() } else { keys };
        let policy = BloomFilterPolicy::new(bits_per_key);
        assert_eq!(filters.policy_name, name, "{file}");
        let reader = FilterBlockReader::new(policy, &filters.contents);
        for (offset, key) in keys.iter() {
            let filter = reader.filter(offset);
            assert!(filter.is_some_and(|filter| !filter.is_empty()), "{file}: none at {offset}");
            assert!(reader.key_may_match(offset, key), "{file}: a filter loses {key:02x?}");
        }
        let rebuilt = keys.filter_block(FilterBlockBuilder::with_base_lg(policy, base_lg));
        assert!(rebuilt == *filters.contents, "{file}: the rebuilt filter block differs");
    }
}

/// Of keys with their lengths.
fn fnv1a_64_of(keys: &Keys) -> u64 {
    let bytes = keys.iter().flat_map(|(_, key)| {
        let len = u32::try_from(key.len()).expect("short").to_le_bytes();
        [&len[..], key].concat()
    });
    bytes
        .fold(0xcbf29ce484222325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3))
}

#[test]
fn filter_blocks_up_to_the_length_of_the_old_one_take_its_place() {
    let filters = |file: &[u8]| {
        let filters = Table::open(file).and_then(|table| table.filters());
        filters.ok().flatten().map(|filters| filters.contents.into_owned())
    };
    for (name, ..) in GOLDEN_TABLES {
        let file = read_golden(name);
        let old = filters(&file).unwrap_or_else(|| panic!("{name}: no filters"));
        let less = with_filter_block(&file, b"less").unwrap_or_else(|| panic!("{name}: no room"));
        assert_eq!((less.len(), filters(&less)), (file.len(), Some(b"less".to_vec())), "{name}");
        // The zeros after a shorter one are room.
        for file in [&file, &less] {
            assert!(
                with_filter_block(file, &old).and_then(|new| filters(&new)) == Some(old.clone())
            );
            assert!(with_filter_block(file, &vec![7; old.len() + 64]).is_none(), "{name}");
        }
    }
    assert!(with_filter_block(&read_golden("tables/db_snappy_no_filter.ldb"), b"").is_none());
}
