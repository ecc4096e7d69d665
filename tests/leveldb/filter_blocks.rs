//! LevelDB's databases with this crate's filter blocks.

use std::cell::Cell;
use std::collections::BTreeMap;

use leveldb_filter::{FilterBlockBuilder, InternalKeyPolicy};

use super::cases::check;
use super::tables::{Options, any_options, any_writes, write_database};
use crate::common::exchange::{TempPath, exchange_filter_block, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::common::replay::Replay;

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
                let builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
                exchange_filter_block(&table, builder);
            }
            let (lookups, expected) = Replay::of(&path.0).count(&absent);
            let reads = count_reads(leveldb, &path, &options, &present, &absent);
            assert_eq!(reads, expected, "number of blocks read with base_lg {base_lg}");
            num_lookups.set(num_lookups.get() + lookups);
            num_reads.set(num_reads.get() + reads);
        }
    });
    let (lookups, reads) = (num_lookups.get(), num_reads.get());
    assert!(lookups >= 50_000, "only {lookups} lookups");
    assert!((lookups / 200..lookups / 50).contains(&reads), "{reads} reads for {lookups} lookups");
}
