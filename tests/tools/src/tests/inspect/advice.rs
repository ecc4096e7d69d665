//! The verdict, and the filters that are recommended.

use std::fs;

use super::levels::database_of_keys;
use super::tables::with_metaindex;
use super::{NUM_LOOKUPS, Report, answer, copy_of, golden, read};
use crate::database::Group;
use crate::random::words;
use crate::rewrite;
use crate::text::wrapped;

#[test]
fn the_second_line_is_a_verdict() {
    for (name, verdict) in [
        ("accounts", "OK: the filters work, and nothing needs to be done."),
        ("counters", "PROBLEM: the filters fail for keys like yours; others help, see below."),
        ("decimals", "OK: the filters work; others would save some more reads."),
        ("object_ids", "PROBLEM: the filters fail for keys like yours; others help, see below."),
        ("posts", "OK: the filters work; others would save some more reads."),
    ] {
        let report = Report::on_golden(name);
        assert_eq!(report.lines[1], verdict, "{name}");
        let has_reason = report.lines.iter().any(|line| line.starts_with("Why: "));
        assert_eq!(has_reason, !["accounts", "posts"].contains(&name));
        assert_eq!(report.has("Tables keep their filters until"), name != "accounts");
    }
    let report = Report::on_golden("counters");
    for words in [
        "Why: your keys have 8 bytes and most differ only in the last, and a filter has",
        "C++: options.filter_policy = NewBloomFilterPolicy(",
        "Engine: with_long_ranges(InternalKeyPolicy::new(",
    ] {
        report.line_with(words);
    }
}

#[test]
fn a_chance_match_of_few_keys_is_no_verdict() {
    let mut words = words(46);
    let mut num_matching = 0;
    for _ in 0..40 {
        let mut keys = |n| words.by_ref().map(|key| key.to_be_bytes().into()).take(n).collect();
        let report = Report::on(&database_of_keys("few", vec![(1, keys(8)), (2, keys(8))]));
        assert!(!report.has("PROBLEM"), "{:#?}", report.lines);
        num_matching += usize::from(report.has("UNKNOWN: too few keys were looked up to judge"));
    }
    assert!(num_matching > 2);
}

#[test]
fn a_report_has_24_lines_of_80_columns_at_most() {
    for entry in fs::read_dir(golden("databases")).unwrap() {
        let name = entry.unwrap().file_name();
        let report = Report::on_golden(name.to_str().unwrap());
        let causes = report.causes.iter().flat_map(|cause| wrapped(cause, "  "));
        let with_what_if = report.sections().take(2).flatten().cloned();
        for line in with_what_if.chain(causes) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let plain = report.sections().next();
        assert!(plain.is_none_or(|lines| lines.len() <= 24), "{:#?}", report.lines);
    }
}

#[test]
fn a_database_without_filters_is_shown_what_filters_would_do() {
    let directory = copy_of("accounts", "without_filters");
    let path = directory.join("000005.ldb");
    fs::write(&path, with_metaindex(read(&path), b"filter.", b"nothing")).unwrap();
    let report = Report::on(&directory);
    assert_eq!(report.exit_status, 0);
    assert!(report.lines[1].starts_with("NO FILTERS: "), "{:#?}", report.lines);
    // Some absent keys are outside the table's range.
    let [missing, existing, at_random] = answer(&report).reads;
    assert!(missing >= 999.0 && existing >= 0.0 && at_random == -1.0, "{:#?}", report.lines);
    assert_eq!(report.cells_of("  today")[2..], ["0", "today"]);
    report.line_with("C++: options.filter_policy = NewBloomFilterPolicy(");
}

#[test]
fn a_database_rewritten_as_recommended_needs_nothing_and_reads_as_the_row_says() {
    for name in ["counters", "object_ids"] {
        let directory = copy_of(name, "as_recommended");
        let report = Report::on_golden(name);
        let row = report.cells_of("  rewrite_filters; your own engine")[..3].join(" ");
        let command = report.line_with("--example rewrite_filters -- ");
        let args = command.split_once(" -- ").unwrap().1.split(' ').filter(|&arg| arg != "DIR");
        let args = args.map(Into::into).chain([directory.as_os_str().to_owned()]);
        let options = rewrite::Options::parse(args).unwrap().unwrap();
        let read = || Group::of_directory(&directory);
        rewrite::rewrite(read, &options, NUM_LOOKUPS).unwrap();
        let report = Report::on(&directory);
        assert_eq!(report.lines[1], "OK: the filters work, and nothing needs to be done.");
        let first = |line: &String| line.split_whitespace().next().unwrap().to_string();
        assert_eq!(report.lines[3..6].iter().map(first).collect::<Vec<_>>().join(" "), row);
    }
}
