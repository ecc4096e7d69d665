//! Databases that are hard to judge: what must be said, what must not, and that advice comes true.

use std::fs;

use super::directories::{copy_of, database, files, golden, read};
use super::inspect::Said;

/// A folder; words that must be printed; words that must not; the last line, up to a path.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static str);

const NONE: &str = "NO FILTERS in 1 of 1 tables: lookups read a block of those.";
const REWRITE: &str = " rewrite";
const NOTHING: &str = "Nothing to do.";
const COMPACT: &str = "db.compact_range(start=b'', stop=b'\\xff' * 9).";

const BAD: [&str; 6] = ["DAMAGED", "WRONG", "UNREADABLE", "MANIFEST-0", "no LevelDB", "RocksDB"];

#[rustfmt::skip]
const CASES: [Case; 29] = [
    ("faults/basho_manifest", &["MANIFEST-000012: a field has the unknown tag 11"], &["RocksDB"], ""),
    ("faults/comparator_ignores_case", &["UNKNOWN", "\"example.NoCase\""], &["needlessly", "NO FILTERS", "To do"], ""),
    ("faults/damaged", &["1 entry;", "DAMAGED: the filters of 1 of 1 tables. LevelDB uses them unless it has \
        paranoid_checks, and misses 1 of 1 entries there."], &["NO FILTERS", "needlessly"], REWRITE),
    ("faults/damaged_metaindex", &["DAMAGED", "misses 0 of 150 entries"], &["UNREADABLE", "needlessly"], COMPACT),
    ("faults/damaged_offsets", &["DAMAGED", "misses 148 of 150 entries"], &["needlessly", "bits per"], REWRITE),
    ("faults/deleted", &[" 100 of existing keys", "390 of 790 entries are deletions: compacting helps more than filters."], &["rewrite"], COMPACT),
    ("faults/few_keys", &[NONE, "1,000 of missing keys, one step", "bloom_filter_bits=10"], &["OK", "rewrite"], COMPACT),
    ("faults/log_of_zeros", &["1 entry;", NONE], &["in the log", "rewrite"], NOTHING),
    ("faults/no_bits", &["PROBLEM: of the filters asked for a key that their table lacks, 100% let them pass; 1% is usual.",
        "bloom_filter_bits=10"], &["OK", "rewrite"], COMPACT),
    ("faults/no_current", &["no LevelDB database: a directory with CURRENT, MANIFEST-* and *.ldb or *.sst"], &["FILTERS"], ""),
    ("faults/old_name_damaged", &["DAMAGED", "goleveldb does without them, and misses nothing."], &["150 entries there"], REWRITE),
    ("faults/old_name_signed", &["WRONG: the filters of 1 of 1 tables hide 1 of 1 entries there from goleveldb."], &["needlessly", "do"], ""),
    ("faults/one_bit", &["PROBLEM: ", " 1.0 bits per entry", "bloom_filter_bits=10"], &["OK"], COMPACT),
    ("faults/overwritten", &["101 entries; no filters", NONE, "with bytes behind"], &["101 keys"], COMPACT),
    ("faults/room_at_the_end", &["100 bits per entry", "OK: "], &["rewritten", "UNREADABLE"], NOTHING),
    ("faults/table_missing", &["3 tables in use, 60 entries", "UNREADABLE: 1 of 3 tables. LevelDB does not open such a \
        database, or fails there. 000005.ldb: "], &["needlessly", "To do"], ""),
    ("faults/table_missing_whole", &["NO FILTERS in 2 of 3 tables", " 70 of existing"], &["UNREADABLE"], COMPACT),
    ("faults/turned_on_later", &["NO FILTERS in 1 of 2 tables", "32 bits per entry"], &["OK"], COMPACT),
    ("faults/versions_of_one_key", &["3 tables in use, 3 entries", "NO FILTERS in 3 of 3"], &["rewrite"], NOTHING),
    ("databases/accounts", &["OK: of the filters asked for a key that their table lacks, 0.38% let them pass."], &["overlap"], NOTHING),
    ("databases/counters", &["PROBLEM: ", "4 of 4 tables overlap: LevelDB compacts them after some reads, with its own filters.",
        "db.compact_range(start=b'', stop=b'\\xff' * 9), close the database, then: "], &["OK"], REWRITE),
    ("databases/in_order", &["OK: "], &["overlap"], NOTHING),
    ("databases/log_only", &["0 tables in use", "No keys are in tables yet."], &["needlessly"], ""),
    ("databases/object_ids", &["PROBLEM: ", " 4.9 "], &[], REWRITE),
    ("databases/own_policy", &["UNKNOWN: only the database's program knows the filters of the policy \"example.OwnFilter\"."], &["needlessly"], ""),
    ("databases/prefix_filters", &["WRONG: the filters of 2 of 2 tables hide 2,426 of 2,426 entries there from LevelDB's own policy."], &["needlessly"], ""),
    ("databases/repaired", &["OK: "], &[], NOTHING),
    ("databases/reverse_comparator", &["UNKNOWN: only the database's program knows the order of its keys, of the comparator \"example.reverse\"."], &["needlessly"], ""),
    ("databases/rocksdb", &["a database of RocksDB, not of LevelDB"], &[], ""),
];

#[test]
fn of_each_is_said_what_is_so() {
    for (name, words, others, last) in CASES {
        let said = Said::on(&golden(name));
        let printed = said.without_gaps();
        let lost = words.iter().find(|words| !printed.contains(**words));
        let wrong = others.iter().find(|words| printed.contains(**words));
        assert_eq!((lost, wrong), (None, None), "{name}: {printed}");
        let line = said.lines.last().unwrap();
        let advice = line.strip_suffix(&format!(" {}", golden(name).display())).unwrap_or(line);
        assert!(advice.ends_with(last), "{name}: {printed}");
        let is_bad = BAD.iter().any(|bad| printed.contains(bad));
        assert_eq!(said.is_bad, is_bad, "{name}");
    }
}

#[test]
fn every_folder_of_faults_is_a_case() {
    for entry in fs::read_dir(golden("faults")).unwrap() {
        let name = format!("faults/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(name == "faults/README.md" || CASES.iter().any(|case| case.0 == name), "{name}");
    }
}

#[test]
fn what_is_advised_makes_all_right_and_is_as_foretold() {
    for (name, _, _, last) in CASES {
        let directory = copy_of(&golden(name));
        let before = files(&directory);
        let said = Said::on(&directory);
        let dry = Said::of_rewriting(&directory, true);
        assert_eq!(files(&directory), before, "{name}");
        let run = Said::of_rewriting(&directory, false);
        assert_eq!(run.has("written: better filters"), dry.has("(--dry-run)"), "{name}");
        if last != REWRITE {
            continue;
        }
        let then = Said::on(&directory);
        assert!(!then.is_bad && !run.is_bad, "{name}");
        if !said.has("DAMAGED") {
            assert!(then.has("OK: ") && then.lines.last().unwrap() == NOTHING, "{name}");
            let [foretold, found] = [said.figures("rewritten"), then.figures("today")];
            assert_eq!((foretold, run.figures("rewritten")), (found.clone(), found), "{name}");
        }
    }
}

#[test]
fn of_a_damaged_database_nothing_is_written() {
    let table = |name: &str| read(&database(name).join("000005.ldb"));
    let mut flipped = table("counters");
    flipped[100] ^= 1;
    let other_len = "a length of ";
    for (name, file, why) in [
        ("partly_covered", table("partly_covered")[..1_000].to_vec(), other_len),
        ("counters", table("decimals"), other_len),
        ("counters", [table("counters"), vec![0; 48]].concat(), other_len),
        ("counters", flipped, "the block of 4152 bytes at 0 does not match its checksum"),
    ] {
        let directory = copy_of(&database(name));
        fs::write(directory.join("000005.ldb"), file).unwrap();
        let before = files(&directory);
        assert!(Said::on(&directory).has("UNREADABLE: 1 of 4 tables."), "{name}");
        let run = Said::of_rewriting(&directory, false);
        assert!(run.is_bad && run.has("3 tables as long as others cannot be read"), "{name}");
        assert!(run.has(&format!("000005.ldb: {why}")), "{:#?}", run.lines);
        assert_eq!(files(&directory), before);
    }
}

#[test]
fn any_other_path_is_refused_with_what_a_database_looks_like() {
    for path in
        ["tables", "tables/db_bloom10.ldb", "no such place", "databases/counters/000005.ldb"]
    {
        for said in [Said::on(&golden(path)), Said::of_rewriting(&golden(path), false)] {
            assert!(said.is_bad && said.has("no LevelDB database: a directory with CURRENT"));
        }
    }
}
