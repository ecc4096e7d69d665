//! LevelDB itself reads its own tables with this crate's filters in place: it finds every key under
//! paranoid checks, and reads fewer data blocks for absent keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::databases::{copy, filter_block, put_filters, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::table::{Keys, Table, read_file};
use crate::common::temp::TempPath;
use crate::common::{drawn, noise};

const BITS_PER_KEY: u32 = 10;
const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Keys with their values, in the order in which they are written. An empty value deletes.
type Writes = Vec<(Vec<u8>, Vec<u8>)>;

/// LevelDB's options: whether it compacts everything, the bytes of its write buffer, of a table and
/// of a block, and whether it compresses blocks.
type Options = (bool, u32, u32, u32, bool);

fn with_table_options(request: Request, (_, _, _, block, is_compressed): Options) -> Request {
    request.u32(BITS_PER_KEY).u32(block).u32(16).u32(is_compressed.into())
}

/// A database of these writes, all in tables.
fn write(leveldb: &mut LevelDb, options: Options, writes: &Writes) -> TempPath {
    let path = TempPath::new();
    let request = Request::new(b'd').string(path.as_bytes()).u32(options.0.into());
    let request = with_table_options(request.u32(options.1).u32(options.2), options);
    let (keys, values): (Vec<_>, Vec<_>) = writes.iter().cloned().unzip();
    leveldb.ask(&request.strings(&keys).strings(&values));
    path
}

/// Asserts that LevelDB finds each key's last value, and no absent key; returns how many data
/// blocks it reads for the absent keys.
fn read(
    leveldb: &mut LevelDb,
    path: &TempPath,
    options: Options,
    (writes, absent): (&Writes, &[Vec<u8>]),
) -> u64 {
    let last: BTreeMap<_, _> = writes.iter().cloned().collect();
    let (keys, values): (Vec<_>, Vec<_>) =
        last.into_iter().filter(|(_, value)| !value.is_empty()).unzip();
    let request = with_table_options(Request::new(b'r').string(path.as_bytes()), options);
    let answer = leveldb.ask(&request.strings(&keys).strings(&values).strings(absent));
    let (found, num_reads) = answer.split_last_chunk().expect("a number at the end");
    let (found, found_absent) = found.split_at(keys.len());
    assert!(found.iter().all(|&found| found == 1), "a key is lost");
    assert!(found_absent.iter().all(|&found| found == 0), "an absent key is found");
    u64::from_le_bytes(*num_reads)
}

/// Reads a database before and after every table gets other filters. Returns the numbers of reads,
/// and the most filters of a table afterwards.
fn replace(
    leveldb: &mut LevelDb,
    options: Options,
    (writes, absent): (&Writes, &[Vec<u8>]),
) -> ([u64; 2], usize) {
    let path = write(leveldb, options, writes);
    // LevelDB compacts tables that many lookups ask, so these are of a copy.
    let copied = TempPath::new();
    copy(&path, &copied);
    let before = read(leveldb, &copied, options, (writes, absent));
    for table in tables(&path.0) {
        let rebuilt = keys(&table).filter_block(FilterBlockBuilder::new(POLICY));
        assert!(rebuilt == filter_block(&table), "{}: another block", table.display());
    }
    put_filters(&path.0, POLICY.tuned());
    let num_filters = tables(&path.0).into_iter().map(|table| {
        let reader = FilterBlockReader::new(POLICY, filter_block(&table));
        // A table of so few keys may keep its own filters, because others do not fit. LevelDB makes
        // such tables when it happens to compact.
        assert!(reader.base_lg() > 11 || keys(&table).len() < 500, "LevelDB's filters");
        reader.num_filters()
    });
    let most = num_filters.max().expect("tables");
    ([before, read(leveldb, &path, options, (writes, absent))], most)
}

fn keys(table: &Path) -> Keys {
    let file = read_file(table).unwrap();
    Keys::of(&Table::open(&file).unwrap()).unwrap()
}

/// The even counters below, with values of this length, and the odd ones.
fn counters(num_keys: u32, value_len: usize) -> (Writes, Vec<Vec<u8>>) {
    let key = |counter: u32| u64::from(counter).to_be_bytes().to_vec();
    let writes = (0..num_keys).map(|n| (key(2 * n), noise(value_len, n))).collect();
    (writes, (0..num_keys).map(|n| key(2 * n + 1)).collect())
}

fn leveldb() -> LevelDb {
    LevelDb::start().unwrap_or_else(|missing| panic!("{missing}"))
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn tables_of_several_long_ranges_lose_no_key_and_are_read_less() {
    let mut leveldb = leveldb();
    for (value_len, num_keys, most) in [(100, 40_000, 8..=20), (1_000, 8_000, 1..=2)] {
        let (writes, absent) = counters(num_keys, value_len);
        let options = (true, 4 << 20, 2 << 20, 4 << 10, false);
        let ([before, after], num_filters) = replace(&mut leveldb, options, (&writes, &absent));
        assert!(most.contains(&num_filters), "{num_filters} filters");
        assert!(
            before > u64::from(num_keys / 5) && after < u64::from(num_keys / 40),
            "{before} to {after} reads"
        );
    }
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn tables_whose_ranges_are_shortened_lose_no_key_and_are_read_less() {
    let (mut leveldb, mut below) = (leveldb(), drawn(1));
    let key = |n: u32| {
        let [row, column] = [n / 24 % 16, n % 24].map(|n| n.to_be_bytes()[3]);
        [&(n / 384).to_be_bytes()[..], &[0, row, 0, column, b'v']].concat()
    };
    let (present, absent): (Vec<_>, Vec<_>) = (0..80_000).partition(|_| below(2) == 0);
    let writes = (0..).zip(present).map(|(i, n)| (key(n), noise(100, i))).collect();
    let absent: Vec<_> = absent.into_iter().map(key).collect();
    // In one memtable, so in one table, whatever LevelDB compacts.
    let options = (false, 64 << 20, 2 << 20, 4 << 10, false);
    let ([before, after], num_filters) = replace(&mut leveldb, options, (&writes, &absent));
    // 40,000 keys would be up to 20.
    assert!(num_filters >= 30, "{num_filters} filters");
    assert!(after < before && after < absent.len() as u64 / 100, "{before} to {after} reads");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn tables_of_all_levels_with_overwritten_and_deleted_keys_lose_none() {
    let (mut leveldb, mut below) = (leveldb(), drawn(5));
    let kinds: [fn(u64) -> Vec<u8>; 4] = [
        |n| n.to_be_bytes().into(),
        |n| format!("{n:012}").into(),
        |n| format!("user:{}:post:{n}", n % 50).into(),
        |n| format!("{:016x}", n.wrapping_mul(0x9e3779b97f4a7c15)).into(),
    ];
    let mut sums = [0; 2];
    for case in 0..8 {
        let (key, max_len) = (kinds[case % 4], [40, 600][case / 4]);
        let writes: Writes = (0..6_000)
            .map(|i| {
                let len = if below(12) == 0 { 0 } else { 1 + below(max_len) };
                (key(2 * below(6_000) as u64), noise(len, i))
            })
            .collect();
        let absent: BTreeSet<_> = (0..6_000).map(|n| key(2 * n + 1)).collect();
        let block = [4_096, 1_000, 9_000][case % 3];
        let options = (case % 3 == 0, 64 << 10, 1 << 20, block, case % 2 == 0);
        let absent: Vec<_> = absent.into_iter().collect();
        let (reads, _) = replace(&mut leveldb, options, (&writes, &absent));
        sums = [sums[0] + reads[0], sums[1] + reads[1]];
    }
    assert!(sums[1] < sums[0] / 5, "{sums:?} reads");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn ten_versions_of_each_key_in_a_table_are_found_in_long_ranges() {
    let (mut leveldb, num_keys) = (leveldb(), 20_000);
    let (once, absent) = counters(num_keys, 20);
    let versions = (0..10).flat_map(|version| {
        let with_version = move |(key, value): &(Vec<u8>, Vec<u8>)| {
            (key.clone(), [&value[..], &[version]].concat())
        };
        once.iter().map(with_version)
    });
    // In one memtable, so LevelDB drops no version.
    let options = (false, 64 << 20, 2 << 20, 4 << 10, false);
    let writes: Writes = versions.collect();
    let path = write(&mut leveldb, options, &writes);
    let [table] = &tables(&path.0)[..] else { panic!("more than one table") };
    assert_eq!(keys(table).len(), 10 * once.len());
    let ([_, after], num_filters) = replace(&mut leveldb, options, (&writes, &absent));
    assert!(num_filters >= 3, "{num_filters} filters");
    assert!(after < u64::from(num_keys / 40), "{after} reads");
}
