//! Every byte and every answer in the files that LevelDB wrote, in `tests/golden`.

use std::fs;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterPolicy, InternalKeyPolicy, hash};

use crate::common::table::Table;
use crate::common::{assert_filters_are_rebuilt, block_keys, create_filter};

/// Whether a table's keys end in the 8-byte trailer of internal keys, which filters ignore.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Internal,
    User,
}
use Keys::{Internal, User};

/// A table's file; the kind of its keys; its filters' policy, bits per key and `base_lg`; the
/// numbers of data blocks and keys; and, if known, FNV-1a 64 of the keys from LevelDB's iterator,
/// each after its length as a u32.
type GoldenTable =
    (&'static str, Keys, Option<(&'static str, usize, u8)>, usize, usize, Option<u64>);

const LEVELDB: &str = BloomFilterPolicy::NAME;
const GOLEVELDB: &str = BloomFilterPolicy::GOLEVELDB_NAME;

#[rustfmt::skip]
const GOLDEN_TABLES: [GoldenTable; 11] = [
    ("tables/db_bloom10.ldb", Internal, Some((LEVELDB, 10, 11)), 32, 3_685, Some(0xcde36d8e6e4de46c)),
    ("tables/db_bloom16_block1k.ldb", Internal, Some((LEVELDB, 16, 11)), 17, 600, Some(0x8a089e183319e7e2)),
    ("tables/db_bloom10_large_values.ldb", Internal, Some((LEVELDB, 10, 11)), 24, 24, Some(0x87c38aee349ca566)),
    ("tables/table_bloom10_user_keys.ldb", User, Some((LEVELDB, 10, 11)), 8, 800, Some(0xec17cea1af0fba08)),
    ("tables/table_empty.ldb", User, Some((LEVELDB, 10, 11)), 0, 0, Some(0xcbf29ce484222325)),
    ("tables/goleveldb_bloom10_user_keys.ldb", User, Some((GOLEVELDB, 10, 11)), 5, 800, Some(0xec17cea1af0fba08)),
    ("tables/db_snappy_bloom10.ldb", Internal, Some((LEVELDB, 10, 11)), 84, 3_000, Some(0x297eeaf1cc2e2a34)),
    ("tables/db_snappy_bloom16_large_values.ldb", Internal, Some((LEVELDB, 16, 11)), 60, 60, Some(0x3c845725e4047838)),
    ("tables/db_snappy_no_filter.ldb", Internal, None, 42, 1_500, Some(0x8f2ee81bdbc1e6d2)),
    ("databases/goleveldb_base_lg_16/000003.ldb", Internal, Some((GOLEVELDB, 10, 16)), 35, 4_016, None),
    ("databases/goleveldb_base_lg_16/000004.ldb", Internal, Some((GOLEVELDB, 10, 16)), 35, 4_016, None),
];

fn golden(file: &str) -> Vec<u8> {
    let path = Path::new("tests/golden").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a file of vectors, split into columns; checks their number.
fn vectors<const COLUMNS: usize>(file: &str, num_lines: usize) -> Vec<[String; COLUMNS]> {
    let text = String::from_utf8(golden(file)).expect("vectors are text");
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<_> = line.split('\t').map(String::from).collect();
            columns.try_into().unwrap_or_else(|_| panic!("{file}: wrong number of columns: {line}"))
        })
        .collect();
    assert_eq!(lines.len(), num_lines, "lines in {file}");
    lines
}

fn from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len() % 2 == 0, "odd number of digits: {hex}");
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal digits"))
        .collect()
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(decimal: &str) -> T {
    decimal.parse().expect("a decimal number")
}

fn fnv1a_64(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf29ce484222325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    })
}

#[test]
fn hashes_are_leveldbs() {
    for [seed, data, expected, source] in vectors("hash.tsv", 30) {
        let seed = u32::from_str_radix(&seed, 16).expect("a seed");
        let found = hash(&from_hex(&data), seed);
        assert_eq!(format!("{found:08x}"), expected, "hash of {data}, from {source}");
    }
}

#[test]
fn filters_are_leveldbs_byte_for_byte() {
    for [bits_per_key, num_keys, keys, expected] in vectors("filters.tsv", 246) {
        let keys: Vec<_> = keys.split(',').take(number(&num_keys)).map(from_hex).collect();
        assert_eq!(keys.len(), number(&num_keys), "keys of {expected}");
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let filter = create_filter(policy, &keys);

        assert_eq!(filter, from_hex(&expected), "{bits_per_key} bits per key, keys {keys:x?}");
    }
}

#[test]
fn large_filters_are_leveldbs() {
    for [bits_per_key, num_keys, expected_len, expected_fnv] in vectors("filters_large.tsv", 49) {
        let keys: Vec<_> = (0..number::<u32>(&num_keys)).map(u32::to_le_bytes).collect();
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let filter = create_filter(policy, &keys);

        let case = format!("{bits_per_key} bits per key, {num_keys} keys");
        assert_eq!(filter.len(), number(&expected_len), "{case}");
        assert_eq!(format!("{:016x}", fnv1a_64(&filter)), expected_fnv, "{case}");
    }
}

#[test]
fn arbitrary_filters_get_leveldbs_answers() {
    let policy = BloomFilterPolicy::default();
    for [filter, key, expected] in vectors("match.tsv", 1_094) {
        let may_match = policy.key_may_match(&from_hex(&key), &from_hex(&filter));
        assert_eq!(u8::from(may_match), number(&expected), "filter {filter}, key {key}");
    }
}

#[test]
fn filter_blocks_of_tables_match_every_key_and_are_rebuilt_byte_for_byte() {
    for (file, key_kind, filters, num_data_blocks, num_keys, keys_fnv) in GOLDEN_TABLES {
        let bytes = golden(file);
        let table = Table::open(&bytes).unwrap();
        assert_eq!(table.data_blocks().len(), num_data_blocks, "number of data blocks in {file}");
        let keys = match filters {
            None => {
                assert!(table.filter_block().unwrap().is_none(), "unexpected filters in {file}");
                let blocks = table.data_blocks().iter();
                blocks.flat_map(|block| block_keys(&table, block).unwrap()).collect()
            }
            Some((policy_name, bits_per_key, base_lg)) => {
                let policy = BloomFilterPolicy::new(bits_per_key).with_name(policy_name);
                match key_kind {
                    Internal => {
                        let policy = InternalKeyPolicy::new(policy);
                        assert_filters_are_rebuilt(&table, policy, base_lg)
                    }
                    User => assert_filters_are_rebuilt(&table, policy, base_lg),
                }
            }
        };
        assert_eq!(keys.len(), num_keys, "keys of {file}");
        let Some(keys_fnv) = keys_fnv else { continue };
        let len = |key: &[u8]| u32::try_from(key.len()).unwrap().to_le_bytes();
        let bytes: Vec<u8> = keys.iter().flat_map(|key| [&len(key)[..], key].concat()).collect();
        assert_eq!(fnv1a_64(&bytes), keys_fnv, "keys of {file}");
    }
}
