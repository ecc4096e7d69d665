//! What `inspect` foretells of `rewrite` is what it then says of the rewritten database.

use super::Report;
use crate::tests::directories::{Directory, copy_of, database, database_of_keys, fault};
use crate::tests::kinds::KINDS;
use crate::tests::replay::Replay;
use crate::tests::rewrite::run_on;

/// Does what is advised, if something is.
#[track_caller]
fn assert_is_as_foretold(directory: &Directory, is_certain: bool) {
    let report = Report::on(directory);
    let Some(advice) = report.advice() else {
        return assert!(!is_certain, "{:#?}", report.lines);
    };
    assert_eq!(run_on(directory, &["--dry-run"]).causes, report.causes);
    let run = run_on(directory, if advice.starts_with("--add") { &["--add"] } else { &[] });
    let rewritten = Report::on(directory);
    assert!(run.causes.is_empty() && rewritten.causes.is_empty(), "{:?}", run.lines);
    assert!(rewritten.has("OK: ") && rewritten.advice().is_none(), "{:#?}", rewritten.lines);
    // Of wrong filters today's reads would say nothing.
    if !["DAMAGED: ", "WRONG: "].iter().any(|verdict| report.has(verdict)) {
        let foretold = report.figures();
        assert_eq!(run.figures(), foretold);
        for (foretold, now) in foretold.iter().zip(rewritten.figures()) {
            assert_eq!(foretold[1..], now, "{:#?}{:#?}", report.lines, rewritten.lines);
        }
    }
}

#[test]
fn of_golden_databases() {
    assert_is_as_foretold(&copy_of(&database("posts")), false);
    for name in ["counters", "levels", "object_ids"] {
        assert_is_as_foretold(&copy_of(&database(name)), true);
    }
    for name in [
        "damaged",
        "few_keys",
        "no_bits",
        "old_name_signed",
        "one_bit",
        "overwritten",
        "table_missing_whole",
        "turned_on_later",
    ] {
        assert_is_as_foretold(&copy_of(&fault(name)), true);
    }
}

#[test]
fn of_kinds_of_keys_and_sizes_of_values() {
    for kind in &KINDS {
        let [keys, absent] = kind.keys(3_000);
        let inside = |key: &&Vec<u8>| keys[0] < **key && **key < keys[keys.len() - 1];
        let absent: Vec<_> = absent.iter().filter(inside).cloned().collect();
        for value_len in [20, 500] {
            let newer = keys.iter().step_by(9).cloned().collect();
            let tables = vec![(0, newer), (1, keys.clone())];
            let directory = database_of_keys(value_len, tables);
            assert_reads_are_replayed(&directory, &absent, kind.name);
            assert_is_as_foretold(&directory, false);
            assert_reads_are_replayed(&directory, &absent, kind.name);
        }
    }
}

/// Lookups of missing keys read today what those that a program would ask for do.
#[track_caller]
fn assert_reads_are_replayed(directory: &Directory, absent: &[Vec<u8>], name: &str) {
    let reads = Report::on(directory).figures()[0][0];
    let replayed = Replay::of(directory).reads(absent.iter());
    let number = f64::from(u32::try_from(absent.len()).unwrap());
    let error = (1_000.0 * replayed.max(reads) / number).sqrt();
    let is_near = (reads - replayed).abs() < 0.25 * replayed + 3.0 * error;
    assert!(is_near, "{name}: {reads}, not {replayed}");
}
