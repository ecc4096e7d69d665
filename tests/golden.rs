//! Every byte and every answer that LevelDB gave, from the files in `tests/golden`.

mod common;

use std::fs;
use std::path::Path;

use common::table::Table;
use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy, hash,
};

/// Whether a table's keys end in the 8-byte trailer of internal keys, which filters leave out.
enum KeyKind {
    Internal,
    User,
}

struct GoldenTable {
    file: &'static str,
    policy_name: &'static str,
    bits_per_key: usize,
    key_kind: KeyKind,
    num_data_blocks: usize,
    num_keys: usize,
}

const GOLDEN_TABLES: [GoldenTable; 6] = [
    GoldenTable {
        file: "db_bloom10.ldb",
        policy_name: BloomFilterPolicy::NAME,
        bits_per_key: 10,
        key_kind: KeyKind::Internal,
        num_data_blocks: 32,
        num_keys: 3_685,
    },
    GoldenTable {
        file: "db_bloom16_block1k.ldb",
        policy_name: BloomFilterPolicy::NAME,
        bits_per_key: 16,
        key_kind: KeyKind::Internal,
        num_data_blocks: 17,
        num_keys: 600,
    },
    GoldenTable {
        file: "db_bloom10_large_values.ldb",
        policy_name: BloomFilterPolicy::NAME,
        bits_per_key: 10,
        key_kind: KeyKind::Internal,
        num_data_blocks: 24,
        num_keys: 24,
    },
    GoldenTable {
        file: "table_bloom10_user_keys.ldb",
        policy_name: BloomFilterPolicy::NAME,
        bits_per_key: 10,
        key_kind: KeyKind::User,
        num_data_blocks: 8,
        num_keys: 800,
    },
    GoldenTable {
        file: "table_empty.ldb",
        policy_name: BloomFilterPolicy::NAME,
        bits_per_key: 10,
        key_kind: KeyKind::User,
        num_data_blocks: 0,
        num_keys: 0,
    },
    GoldenTable {
        file: "goleveldb_bloom10_user_keys.ldb",
        policy_name: BloomFilterPolicy::GOLEVELDB_NAME,
        bits_per_key: 10,
        key_kind: KeyKind::User,
        num_data_blocks: 5,
        num_keys: 800,
    },
];

impl GoldenTable {
    fn policy(&self) -> Box<dyn FilterPolicy> {
        let bloom = BloomFilterPolicy::new(self.bits_per_key).with_name(self.policy_name);
        match self.key_kind {
            KeyKind::Internal => Box::new(InternalKeyPolicy::new(bloom)),
            KeyKind::User => Box::new(bloom),
        }
    }
}

fn golden(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a file of vectors, split into columns; `num_lines` so that none can go missing.
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

fn slices<K: AsRef<[u8]>>(keys: &[K]) -> Vec<&[u8]> {
    keys.iter().map(AsRef::as_ref).collect()
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
        let keys: Vec<_> = match number(&num_keys) {
            0 => Vec::new(),
            num_keys => {
                let keys: Vec<_> = keys.split(',').map(from_hex).collect();
                assert_eq!(keys.len(), num_keys, "keys of {expected}");
                keys
            }
        };
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let mut filter = Vec::new();
        policy.create_filter(&slices(&keys), &mut filter);

        assert_eq!(filter, from_hex(&expected), "{bits_per_key} bits per key, keys {keys:x?}");
        assert_eq!(filter.len(), policy.filter_len(keys.len()));
        assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
    }
}

#[test]
fn large_filters_are_leveldbs() {
    for [bits_per_key, num_keys, expected_len, expected_fnv] in vectors("filters_large.tsv", 49) {
        let keys: Vec<_> = (0..number::<u32>(&num_keys)).map(u32::to_le_bytes).collect();
        let policy = BloomFilterPolicy::new(number(&bits_per_key));
        let mut filter = Vec::new();
        policy.create_filter(&slices(&keys), &mut filter);

        let case = format!("{bits_per_key} bits per key, {num_keys} keys");
        assert_eq!(filter.len(), number(&expected_len), "{case}");
        assert_eq!(format!("{:016x}", fnv1a_64(&filter)), expected_fnv, "{case}");
        assert_eq!(filter.len(), policy.filter_len(keys.len()), "{case}");
        let mut sample = keys.iter().step_by(1 + keys.len() / 10_000);
        assert!(sample.all(|key| policy.key_may_match(key, &filter)), "{case}");
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
fn tables_are_what_the_list_says() {
    for golden_table in &GOLDEN_TABLES {
        let file = golden(&format!("tables/{}", golden_table.file));
        let table = Table::open(&file).unwrap();
        let blocks = table.data_blocks().unwrap();
        let num_keys: usize = blocks.iter().map(|block| block.keys.len()).sum();
        assert_eq!(table.filter_block().unwrap().policy_name, golden_table.policy_name);
        assert_eq!(
            (blocks.len(), num_keys),
            (golden_table.num_data_blocks, golden_table.num_keys),
            "data blocks and keys of {}",
            golden_table.file
        );
    }
}

#[test]
fn filter_blocks_of_tables_match_every_key() {
    for golden_table in &GOLDEN_TABLES {
        let file = golden(&format!("tables/{}", golden_table.file));
        let table = Table::open(&file).unwrap();
        let contents = table.filter_block().unwrap().contents;
        let reader = FilterBlockReader::new(golden_table.policy(), contents);
        for block in table.data_blocks().unwrap() {
            let filter = reader.filter(block.offset);
            assert!(filter.is_some(), "{}: no filter for {}", golden_table.file, block.offset);
            for key in &block.keys {
                let found = reader.key_may_match(block.offset, key);
                assert!(found, "{}: {} is lost", golden_table.file, key.escape_ascii());
            }
        }
    }
}

#[test]
fn filter_blocks_of_tables_are_rebuilt_byte_for_byte() {
    for golden_table in &GOLDEN_TABLES {
        let file = golden(&format!("tables/{}", golden_table.file));
        let table = Table::open(&file).unwrap();
        let mut builder = FilterBlockBuilder::new(golden_table.policy());
        builder.start_block(0);
        for block in table.data_blocks().unwrap() {
            for key in &block.keys {
                builder.add_key(key);
            }
            builder.start_block(block.end);
        }
        let contents = table.filter_block().unwrap().contents;
        assert!(builder.finish() == contents, "{}: another filter block", golden_table.file);
    }
}
