//! Every byte and every answer that LevelDB gave, from the files in `tests/golden`.

mod common;

use std::fs;
use std::path::Path;

use common::block_keys;
use common::table::Table;
use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy, hash,
};

/// Whether a table's keys end in the 8-byte trailer of internal keys, which filters leave out.
enum KeyKind {
    Internal,
    User,
}

/// The policy that made a table's filters.
struct GoldenFilter {
    policy_name: &'static str,
    bits_per_key: usize,
}

struct GoldenTable {
    file: &'static str,
    filter: Option<GoldenFilter>,
    key_kind: KeyKind,
    num_data_blocks: usize,
    num_keys: usize,
    /// FNV-1a 64 of the keys that LevelDB's iterator gives, each behind its length as a u32.
    keys_fnv: u64,
}

const fn leveldbs(bits_per_key: usize) -> GoldenFilter {
    GoldenFilter { policy_name: BloomFilterPolicy::NAME, bits_per_key }
}

const GOLDEN_TABLES: [GoldenTable; 9] = [
    GoldenTable {
        file: "db_bloom10.ldb",
        filter: Some(leveldbs(10)),
        key_kind: KeyKind::Internal,
        num_data_blocks: 32,
        num_keys: 3_685,
        keys_fnv: 0xcde36d8e6e4de46c,
    },
    GoldenTable {
        file: "db_bloom16_block1k.ldb",
        filter: Some(leveldbs(16)),
        key_kind: KeyKind::Internal,
        num_data_blocks: 17,
        num_keys: 600,
        keys_fnv: 0x8a089e183319e7e2,
    },
    GoldenTable {
        file: "db_bloom10_large_values.ldb",
        filter: Some(leveldbs(10)),
        key_kind: KeyKind::Internal,
        num_data_blocks: 24,
        num_keys: 24,
        keys_fnv: 0x87c38aee349ca566,
    },
    GoldenTable {
        file: "table_bloom10_user_keys.ldb",
        filter: Some(leveldbs(10)),
        key_kind: KeyKind::User,
        num_data_blocks: 8,
        num_keys: 800,
        keys_fnv: 0xec17cea1af0fba08,
    },
    GoldenTable {
        file: "table_empty.ldb",
        filter: Some(leveldbs(10)),
        key_kind: KeyKind::User,
        num_data_blocks: 0,
        num_keys: 0,
        keys_fnv: 0xcbf29ce484222325,
    },
    GoldenTable {
        file: "goleveldb_bloom10_user_keys.ldb",
        filter: Some(GoldenFilter {
            policy_name: BloomFilterPolicy::GOLEVELDB_NAME,
            bits_per_key: 10,
        }),
        key_kind: KeyKind::User,
        num_data_blocks: 5,
        num_keys: 800,
        keys_fnv: 0xec17cea1af0fba08,
    },
    GoldenTable {
        file: "db_snappy_bloom10.ldb",
        filter: Some(leveldbs(10)),
        key_kind: KeyKind::Internal,
        num_data_blocks: 84,
        num_keys: 3_000,
        keys_fnv: 0x297eeaf1cc2e2a34,
    },
    GoldenTable {
        file: "db_snappy_bloom16_large_values.ldb",
        filter: Some(leveldbs(16)),
        key_kind: KeyKind::Internal,
        num_data_blocks: 60,
        num_keys: 60,
        keys_fnv: 0x3c845725e4047838,
    },
    GoldenTable {
        file: "db_snappy_no_filter.ldb",
        filter: None,
        key_kind: KeyKind::Internal,
        num_data_blocks: 42,
        num_keys: 1_500,
        keys_fnv: 0x8f2ee81bdbc1e6d2,
    },
];

impl GoldenTable {
    /// `None` for a table without filters.
    fn policy(&self) -> Option<Box<dyn FilterPolicy>> {
        let GoldenFilter { policy_name, bits_per_key } = self.filter.as_ref()?;
        let bloom = BloomFilterPolicy::new(*bits_per_key).with_name(policy_name);
        Some(match self.key_kind {
            KeyKind::Internal => Box::new(InternalKeyPolicy::new(bloom)),
            KeyKind::User => Box::new(bloom),
        })
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
        assert_eq!(filter.len(), policy.shape(keys.len()).filter_len());
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
        assert_eq!(filter.len(), policy.shape(keys.len()).filter_len(), "{case}");
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
        let blocks = table.data_blocks();
        let keys: Vec<_> =
            blocks.iter().flat_map(|block| block_keys(&table, block).unwrap()).collect();
        assert_eq!(
            table.filter_block().unwrap().map(|filter_block| filter_block.policy_name),
            golden_table.filter.as_ref().map(|filter| filter.policy_name.into()),
            "filter policy of {}",
            golden_table.file
        );
        assert_eq!(
            (blocks.len(), keys.len()),
            (golden_table.num_data_blocks, golden_table.num_keys),
            "data blocks and keys of {}",
            golden_table.file
        );
        let len = |key: &[u8]| u32::try_from(key.len()).unwrap().to_le_bytes();
        let bytes: Vec<u8> = keys.iter().flat_map(|key| [&len(key)[..], key].concat()).collect();
        assert_eq!(fnv1a_64(&bytes), golden_table.keys_fnv, "keys of {}", golden_table.file);
    }
}

#[test]
fn filter_blocks_of_tables_match_every_key() {
    for golden_table in &GOLDEN_TABLES {
        let Some(policy) = golden_table.policy() else { continue };
        let file = golden(&format!("tables/{}", golden_table.file));
        let table = Table::open(&file).unwrap();
        let contents = table.filter_block().unwrap().unwrap().contents;
        let reader = FilterBlockReader::new(policy, contents);
        for block in table.data_blocks() {
            let filter = reader.filter(block.offset());
            assert!(filter.is_some(), "{}: no filter for {}", golden_table.file, block.offset());
            for key in block_keys(&table, block).unwrap() {
                let found = reader.key_may_match(block.offset(), &key);
                assert!(found, "{}: {} is lost", golden_table.file, key.escape_ascii());
            }
        }
    }
}

#[test]
fn filter_blocks_of_tables_are_rebuilt_byte_for_byte() {
    for golden_table in &GOLDEN_TABLES {
        let Some(policy) = golden_table.policy() else { continue };
        let file = golden(&format!("tables/{}", golden_table.file));
        let table = Table::open(&file).unwrap();
        let mut builder = FilterBlockBuilder::new(policy);
        builder.start_block(0);
        for block in table.data_blocks() {
            table.visit_keys(block, |key| builder.add_key(key)).unwrap();
            builder.start_block(block.end);
        }
        let contents = table.filter_block().unwrap().unwrap().contents;
        assert!(contents == builder.finish(), "{}: another filter block", golden_table.file);
    }
}
