//! Databases that `leveldb-filters rewrite` has rewritten, as LevelDB reads them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use super::cases::check;
use super::filter_blocks::{absent_keys, count_reads};
use super::tables::{NO_POLICY, any_options, any_writes, write_database};
use crate::common::exchange::{TempPath, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::table::Table;
use crate::common::table::replace::NAMES;

/// `leveldb-filters rewrite`, as anybody runs it in a checkout.
fn rewrite(path: &TempPath, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--locked", "--release", "--", "rewrite"]);
    command.args(args).arg(&path.0).output().expect("Cargo")
}

/// Rewrites all tables of the database, which is compacted: no reads will undo that.
fn run(path: &TempPath, args: &[&str]) {
    let Output { status, stdout, stderr } = rewrite(path, args);
    let [said, causes] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(status.success() && causes.is_empty(), "{said}{causes}");
    assert!(!said.contains("compacts them"), "{said}");
}

fn assert_refused_while_open(path: &TempPath) {
    let mut leveldb = LevelDb::start().unwrap();
    leveldb.ask(&Request::new(b'O').u32(0).string(path.as_bytes()));
    let refused = rewrite(path, &[]);
    let cause = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && cause.contains("a program has it open"), "{cause}");
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
