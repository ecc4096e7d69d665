//! Databases that `rewrite_filters` has rewritten, as LevelDB reads them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::{fs, slice};

use super::cases::check;
use super::filter_blocks::{absent_keys, count_reads};
use super::tables::{NO_POLICY, any_options, any_writes, write_database};
use crate::common::database::Group;
use crate::common::exchange::{TempPath, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::rewrite_filters::{Options, rewrite};
use crate::common::table::Table;
use crate::common::table::replace::NAMES;

/// Rewrites all tables of the database, which is compacted: no reads will undo that.
fn run(path: &TempPath, args: &[&str]) {
    let args = args.iter().map(OsString::from).chain([path.0.clone().into()]);
    let options = Options::parse(args).unwrap().unwrap();
    assert_eq!(Group::of_directory(&path.0).unwrap().compactions(), None);
    let (_, outcome) = rewrite(|| Group::of_directory(&path.0), &options, 20_000).unwrap();
    assert_eq!((outcome.exit_status, outcome.causes), (0, Vec::new()));
}

fn assert_refused_while_open(path: &TempPath) {
    let mut leveldb = LevelDb::start().unwrap();
    leveldb.ask(&Request::new(b'O').u32(0).string(path.as_bytes()));
    let group = || Group::of_paths(slice::from_ref(&path.0));
    let refused = rewrite(group, &Options::default(), 20_000).map(drop).unwrap_err();
    assert!(refused.contains("a program has it open"), "{refused}");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn leveldb_finds_all_behind_rewritten_and_added_filters() {
    let sum = Cell::new([0; 4]);
    check(4, (any_options(), any_writes()), |leveldb, (mut options, writes)| {
        let last_values: BTreeMap<_, _> = writes.0.iter().cloned().collect();
        let absent = absent_keys(&last_values);
        let present: Vec<_> = last_values.into_iter().filter(|of| !of.1.is_empty()).collect();
        let mut reads = Vec::new();
        for (bits_per_key, args) in [(10, &[][..]), (NO_POLICY, &["--add"])] {
            options.bits_per_key = bits_per_key;
            let path = TempPath::new();
            write_database(leveldb, &path, &options, &writes, true);
            options.bits_per_key = 10;
            // LevelDB's lookups check every block's checksum, and find every value.
            reads.push(count_reads(leveldb, &path, &options, &present, &absent));
            assert_refused_while_open(&path);
            run(&path, args);
            for path in tables(&path.0).iter().filter(|_| bits_per_key == NO_POLICY) {
                let file = fs::read(path).unwrap();
                assert_eq!(Table::open(&file).unwrap().policy_names(), NAMES);
            }
            reads.push(count_reads(leveldb, &path, &options, &present, &absent));
        }
        for (i, number) in reads.into_iter().enumerate() {
            let mut sums = sum.get();
            sums[i] += number;
            sum.set(sums);
        }
    });
    let [before, after, without, added] = sum.get();
    println!("reads: {before} before, {after} after; {without} without filters, {added} with");
    // Generous, since the cases are drawn anew in each run.
    assert!(2 * after <= 3 * before + 100, "{before} reads before, {after} after");
    assert!(30 * added <= without + 300, "{without} reads without filters, {added} with");
}
