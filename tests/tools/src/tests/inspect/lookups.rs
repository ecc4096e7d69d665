//! What lookups read is what a replay reads, and what is foretold of `rewrite`.

use std::collections::BTreeSet;

use super::Report;
use super::faults::CASES;
use crate::database::Group;
use crate::database::ranges::Ranges;
use crate::survey::lookups::Kinds;
use crate::survey::sample::Sample;
use crate::tests::directories::{Directory, copy_of, database_of_keys, fault, files};
use crate::tests::replay::Replay;
use crate::tests::rewrite::run_on;
use crate::tests::{drawn, noise};

/// A kind of keys that people have: one number in this many has a key, and one between each two is
/// absent, or, if 1, a random half; and how a number becomes a key.
type Kind = (&'static str, u64, fn(u64) -> Vec<u8>);

#[rustfmt::skip]
const KINDS: [Kind; 7] = [
    ("u64", 1, |n| n.to_be_bytes().into()),
    ("u64, step 2", 2, |n| n.to_be_bytes().into()),
    ("u64, step 10", 10, |n| n.to_be_bytes().into()),
    ("12 digits", 1, |n| format!("{n:012}").into()),
    ("user:N:name", 1, |n| format!("user:{n}:name").into()),
    ("x, y", 1, |n| [n >> 8, 77 + n % 256].map(u64::to_be_bytes).concat()),
    ("random", 1, |n| noise(8, n)),
];

/// The present keys, and the absent ones, each in order.
fn keys_of(&(_, step, key): &Kind, num_keys: usize) -> [Vec<Vec<u8>>; 2] {
    let mut below = drawn(43);
    let mut keys = [Vec::new(), Vec::new()];
    let mut number = 1 << 20;
    while keys[0].len() < num_keys {
        number += 1;
        if step == 1 {
            keys[below(2)].push(key(number));
        } else {
            let behind = 1 + below(9) as u64 % (step - 1);
            keys[0].push(key(step * number));
            keys[1].push(key(step * number + behind));
        }
    }
    for keys in &mut keys {
        keys.sort_unstable();
    }
    keys
}

/// Does what is advised; if nothing is, nothing is written.
#[track_caller]
fn assert_is_as_foretold(directory: &Directory) {
    let report = Report::on(directory);
    let Some(advice) = report.advice() else {
        let before = files(directory);
        for args in [&[][..], &["--add"]] {
            assert!(!run_on(directory, args).has("--add"), "{:#?}", report.lines);
            assert_eq!(files(directory), before);
        }
        return;
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
fn what_is_advised_makes_all_right_and_where_nothing_is_nothing_is_written() {
    // Of an order that nobody knows, the verdict stays.
    for (name, ..) in CASES.iter().filter(|of| of.0 != "../databases/reverse_comparator") {
        assert_is_as_foretold(&copy_of(&fault(name)));
    }
}

#[test]
fn of_kinds_of_keys_and_sizes_of_values() {
    for kind in &KINDS {
        let [keys, mut absent] = keys_of(kind, 3_000);
        absent.retain(|key| (&keys[0]..&keys[keys.len() - 1]).contains(&key));
        for value_len in [20, 500] {
            let newer = keys.iter().step_by(9).cloned().collect();
            let tables = vec![(0, newer), (1, keys.clone())];
            let directory = database_of_keys(value_len, tables);
            assert_reads_are_replayed(&directory, &absent, kind.0);
            assert_is_as_foretold(&directory);
            assert_reads_are_replayed(&directory, &absent, kind.0);
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

#[test]
fn a_sample_has_fewer_keys_where_they_are_long() {
    let key = |i: u32| [&vec![b'k'; 100_000][..], &(3 * i * i).to_be_bytes()].concat();
    let tables = [0..60, 60..120].map(|numbers| (1, numbers.map(key).collect()));
    let directory = database_of_keys(20, tables.into());
    let group = Group::of_directory(&directory).unwrap();
    let sample = Sample::draw(Ranges::of(&group).unwrap());
    let Kinds { missing, existing } = sample.num_telling();
    assert!((20.0..90.0).contains(&missing) && (20.0..90.0).contains(&existing));
}

#[test]
fn the_next_key_of_a_form_is_known_though_others_and_newer_tables_lie_between() {
    let key = |number: u64| format!("user:{number}").into_bytes();
    let [older, newer] = [3, 7].map(|step| (1..9_000).step_by(step));
    let tables = vec![(0, newer.clone().map(key).collect()), (1, older.clone().map(key).collect())];
    let directory = database_of_keys(100, tables);
    let group = Group::of_directory(&directory).unwrap();
    let sample = Sample::draw(Ranges::of(&group).unwrap());
    let numbers: BTreeSet<_> = older.chain(newer).collect();
    for (key_there, next) in sample.existing_keys() {
        let number: u64 = std::str::from_utf8(&key_there[5..]).unwrap().parse().unwrap();
        let behind = numbers.range(number + 1..).next();
        let behind = behind.map(|&number| key(number)).filter(|key| key.len() == key_there.len());
        assert_eq!(next, behind.as_deref(), "{number}");
    }
}
