//! LevelDB's databases with this crate's filter blocks.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, InternalKeyPolicy};

use super::cases::check;
use super::tables::{Options, any_options, any_writes, write_database};
use crate::common::exchange::{TempPath, exchange_filter_block, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::common::reference::extract_user_key;
use crate::common::table::Table;

/// What a lookup uses of a table before it reads a data block.
struct Filters {
    user_keys: RangeInclusive<Vec<u8>>,
    /// The user key of each data block's index entry, and the block's offset.
    index: Vec<(Vec<u8>, u64)>,
    reader: FilterBlockReader<BloomFilterPolicy, Vec<u8>>,
}

impl Filters {
    fn read(path: &Path) -> Self {
        let file = fs::read(path).unwrap();
        let table = Table::open(&file).unwrap();
        let (mut first, mut last) = (None, Vec::new());
        let mut index = Vec::new();
        for block in table.data_blocks() {
            let visit = |key: &[u8]| {
                last = extract_user_key(key).to_vec();
                first.get_or_insert(last.clone());
            };
            table.visit_keys(block, visit).unwrap();
            index.push((extract_user_key(&block.index_key).to_vec(), block.offset()));
        }
        let contents = table.filter_block().unwrap().expect("a filter block").contents.into_owned();
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), contents);
        Self { user_keys: first.expect("a key")..=last, index, reader }
    }

    /// Whether LevelDB reads a data block for an absent key; `None` if it does not consult this
    /// table.
    fn may_match(&self, absent: &[u8]) -> Option<bool> {
        if !(&**self.user_keys.start()..=&**self.user_keys.end()).contains(&absent) {
            return None;
        }
        let block = self.index.partition_point(|(index_key, _)| &**index_key <= absent);
        let (_, offset) = self.index[block];
        Some(self.reader.key_may_match(offset, absent))
    }
}

/// Absent keys just after present ones: many for each data block of each table.
pub(crate) fn absent_keys(values: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    let suffixes = words(1).map(u64::to_le_bytes);
    let present = values.keys().flat_map(|key| [key; 4]);
    let absent = present.zip(suffixes).map(|(key, suffix)| [&key[..], &suffix].concat());
    absent.filter(|key| !values.contains_key(key)).collect()
}

/// How many blocks LevelDB reads for absent keys; before, checks that it finds every present key.
pub(crate) fn count_reads(
    leveldb: &mut LevelDb,
    path: &TempPath,
    options: &Options,
    present: &[(Vec<u8>, Vec<u8>)],
    absent: &[Vec<u8>],
) -> u64 {
    let (keys, values): (Vec<_>, Vec<_>) = present.iter().cloned().unzip();
    let request = options.add_to(Request::new(b'r').string(path.as_bytes()));
    let answer = leveldb.ask(&request.strings(&keys).strings(&values).strings(absent));
    let (found, num_reads) = answer.split_last_chunk().expect("a number at the end");
    let (found, found_absent) = found.split_at(keys.len());
    let lost = keys.iter().zip(found).find(|&(_, &found)| found == 0);
    assert!(lost.is_none(), "key {lost:02x?} is lost");
    assert!(found_absent.iter().all(|&found| found == 0), "an absent key is found");
    u64::from_le_bytes(*num_reads)
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn leveldb_reads_databases_with_filter_blocks_of_larger_ranges() {
    let (num_lookups, num_reads) = (Cell::new(0), Cell::new(0));
    check(16, (any_options(), any_writes()), |leveldb, (mut options, writes)| {
        options.bits_per_key = 10;
        let path = TempPath::new();
        write_database(leveldb, &path, &options, &writes, true);

        let last_values: BTreeMap<_, _> = writes.0.into_iter().collect();
        let mut absent = absent_keys(&last_values);
        let (present, deleted): (Vec<_>, Vec<_>) =
            last_values.into_iter().partition(|(_, value)| !value.is_empty());
        absent.extend(deleted.into_iter().map(|(key, _)| key));
        for base_lg in [12, 16, 19, 63] {
            for table in tables(&path.0) {
                let policy = InternalKeyPolicy::new(options.policy().tuned());
                let builder = FilterBlockBuilder::new(policy).with_base_lg(base_lg);
                exchange_filter_block(&table, builder);
            }
            let filters: Vec<_> = tables(&path.0).iter().map(|path| Filters::read(path)).collect();
            let lookups = || {
                absent
                    .iter()
                    .flat_map(|key| filters.iter().filter_map(|table| table.may_match(key)))
            };
            let expected = lookups().filter(|&may_match| may_match).count() as u64;
            let reads = count_reads(leveldb, &path, &options, &present, &absent);
            assert_eq!(reads, expected, "number of blocks read with base_lg {base_lg}");
            num_lookups.set(num_lookups.get() + lookups().count() as u64);
            num_reads.set(num_reads.get() + reads);
        }
    });
    let (lookups, reads) = (num_lookups.get(), num_reads.get());
    assert!(lookups >= 50_000, "only {lookups} lookups");
    assert!((lookups / 200..lookups / 50).contains(&reads), "{reads} reads for {lookups} lookups");
}
