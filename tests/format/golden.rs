//! Every byte and every answer in the vectors that LevelDB wrote, in `tests/golden`.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, FilterPolicy, hash};

use crate::common::create_filter;

/// The lines of a file of vectors, split into columns; checks their number.
fn vectors<const COLUMNS: usize>(file: &str, num_lines: usize) -> Vec<[String; COLUMNS]> {
    let text = fs::read_to_string(format!("tests/golden/{file}")).expect("vectors");
    let columns = |line: &str| line.split('\t').map(String::from).collect::<Vec<_>>();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<_> = lines.map(|line| columns(line).try_into().expect("columns")).collect();
    assert_eq!(lines.len(), num_lines, "lines in {file}");
    lines
}

fn from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len() % 2 == 0, "odd number of digits: {hex}");
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(byte).collect()
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
        assert_eq!(format!("{found:08x}"), expected, "hash.tsv: hash of {data}, from {source}");
    }
}

#[test]
fn filters_are_leveldbs_byte_for_byte() {
    for [bits_per_key, num_keys, keys, expected] in vectors("filters.tsv", 246) {
        let keys: Vec<_> = keys.split(',').take(number(&num_keys)).map(from_hex).collect();
        assert_eq!(keys.len(), number(&num_keys), "keys of {expected}");
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let case = format!("filters.tsv: {bits_per_key} bits per key, keys {keys:x?}");
        assert_eq!(create_filter(policy, &keys), from_hex(&expected), "{case}");
    }
}

#[test]
fn large_filters_are_leveldbs() {
    for [bits_per_key, num_keys, expected_len, expected_fnv] in vectors("filters_large.tsv", 49) {
        let keys: Vec<_> = (0..number::<u32>(&num_keys)).map(u32::to_le_bytes).collect();
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let filter = create_filter(policy, &keys);

        let case = format!("filters_large.tsv: {bits_per_key} bits per key, {num_keys} keys");
        assert_eq!(filter.len(), number(&expected_len), "{case}");
        assert_eq!(format!("{:016x}", fnv1a_64(&filter)), expected_fnv, "{case}");
    }
}

#[test]
fn arbitrary_filters_get_leveldbs_answers() {
    let policy = BloomFilterPolicy::default();
    for [filter, key, expected] in vectors("match.tsv", 1_094) {
        let may_match = policy.key_may_match(&from_hex(&key), &from_hex(&filter));
        assert_eq!(u8::from(may_match), number(&expected), "match.tsv: filter {filter}, key {key}");
    }
}
