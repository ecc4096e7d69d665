//! The crate's filter blocks in tables that LevelDB wrote: the same bytes, which match every key.

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy,
};

use super::directories::{golden, read};
use crate::table::Table;

/// Makes a table's filter block anew, and asserts that it is the same and matches every key, here
/// with the trailers of internal keys; returns the keys.
#[track_caller]
pub(super) fn assert_is_rebuilt(
    file: &[u8],
    policy: impl FilterPolicy + Copy,
    base_lg: u8,
) -> Vec<Vec<u8>> {
    let table = Table::open(file).unwrap();
    let filters = table.filters().expect("a filter block");
    assert_eq!((filters.policy_name, filters.is_damaged), (policy.name(), false));
    let reader = FilterBlockReader::new(policy, &filters.contents[..]);
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
    let mut keys = Vec::new();
    builder.start_block(0);
    for block in table.data_blocks() {
        assert!(reader.filter(block.offset()).is_some(), "none for {}", block.offset());
        table
            .visit(std::slice::from_ref(block), |_, key| {
                assert!(reader.key_may_match(block.offset(), key), "a filter loses {key:02x?}");
                builder.add_key(key);
                keys.push(key.to_vec());
            })
            .unwrap();
        builder.start_block(block.end());
    }
    assert!(builder.finish() == *filters.contents, "the rebuilt filter block differs");
    keys
}

const LEVELDB: &str = BloomFilterPolicy::NAME;
const GOLEVELDB: &str = BloomFilterPolicy::GOLEVELDB_NAME;

/// A table's file; whether its keys are internal keys, whose trailers filters ignore; its filters'
/// policy, bits per key and `base_lg`; the numbers of data blocks and keys; and, if known, FNV-1a
/// 64 of the keys from LevelDB's iterator, each after its length as a u32.
type GoldenTable = (&'static str, bool, (&'static str, usize, u8), usize, usize, Option<u64>);

#[rustfmt::skip]
const GOLDEN_TABLES: [GoldenTable; 10] = [
    ("tables/db_bloom10.ldb", true, (LEVELDB, 10, 11), 32, 3_685, Some(0xcde36d8e6e4de46c)),
    ("tables/db_bloom16_block1k.ldb", true, (LEVELDB, 16, 11), 17, 600, Some(0x8a089e183319e7e2)),
    ("tables/db_bloom10_large_values.ldb", true, (LEVELDB, 10, 11), 24, 24, Some(0x87c38aee349ca566)),
    ("tables/table_bloom10_user_keys.ldb", false, (LEVELDB, 10, 11), 8, 800, Some(0xec17cea1af0fba08)),
    ("tables/table_empty.ldb", false, (LEVELDB, 10, 11), 0, 0, Some(0xcbf29ce484222325)),
    ("tables/goleveldb_bloom10_user_keys.ldb", false, (GOLEVELDB, 10, 11), 5, 800, Some(0xec17cea1af0fba08)),
    ("tables/db_snappy_bloom10.ldb", true, (LEVELDB, 10, 11), 84, 3_000, Some(0x297eeaf1cc2e2a34)),
    ("tables/db_snappy_bloom16_large_values.ldb", true, (LEVELDB, 16, 11), 60, 60, Some(0x3c845725e4047838)),
    ("databases/goleveldb_base_lg_16/000003.ldb", true, (GOLEVELDB, 10, 16), 35, 4_016, None),
    ("databases/goleveldb_base_lg_16/000004.ldb", true, (GOLEVELDB, 10, 16), 35, 4_016, None),
];

#[test]
fn filter_blocks_match_every_key_and_are_rebuilt_byte_for_byte() {
    for (file, are_internal, (name, bits_per_key, base_lg), num_blocks, num_keys, fnv) in
        GOLDEN_TABLES
    {
        let bytes = read(&golden(file));
        let policy = BloomFilterPolicy::new(bits_per_key).with_name(name);
        let keys = if are_internal {
            assert_is_rebuilt(&bytes, InternalKeyPolicy::new(policy), base_lg)
        } else {
            assert_is_rebuilt(&bytes, policy, base_lg)
        };
        let table = Table::open(&bytes).unwrap();
        assert_eq!((table.data_blocks().len(), keys.len()), (num_blocks, num_keys), "{file}");
        let len = |key: &[u8]| u32::try_from(key.len()).unwrap().to_le_bytes();
        let bytes = keys.iter().flat_map(|key| [&len(key)[..], key].concat());
        let found = bytes.fold(0xcbf29ce484222325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
        });
        assert_eq!(found, fnv.unwrap_or(found), "keys of {file}");
    }
    let file = read(&golden("tables/db_snappy_no_filter.ldb"));
    assert!(Table::open(&file).unwrap().filters().is_none());
}
