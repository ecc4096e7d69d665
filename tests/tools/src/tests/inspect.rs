//! What lookups read is what a replay of them reads, and what is foretold of `rewrite` comes true.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::directories::{change_filters, copy_of, database, files, read};
use super::replay::Replay;
use crate::database::{Database, lock};
use crate::inspect::inspect;
use crate::report::Report;
use crate::rewrite::rewrite;
use crate::survey::cost::Cost;
use crate::survey::sample::one_step_on;
use crate::text::rounded;

/// What a user sees.
pub(super) struct Said {
    pub(super) lines: Vec<String>,
    pub(super) is_bad: bool,
}

impl Said {
    pub(super) fn on(path: &Path) -> Self {
        Self::of(inspect(&|| Database::open(path)), path)
    }

    pub(super) fn of_rewriting(path: &Path, is_dry: bool) -> Self {
        Self::of(rewrite(&|| Database::open(path), is_dry), path)
    }

    fn of(report: Result<Report, String>, path: &Path) -> Self {
        let report = report.unwrap_or_else(|error| Report { lines: vec![error], is_bad: true });
        let Report { lines, is_bad } = report;
        let has_path = |line: &str| line.contains(&*path.to_string_lossy());
        let fits = |line: &String| line.chars().count() <= 100 || has_path(line);
        let is_plain = |line: &String| fits(line) && !line.contains(char::is_control);
        assert!(lines.iter().all(is_plain) && lines.len() <= 16, "{lines:#?}");
        Self { lines, is_bad }
    }

    /// Whether these words are printed, on one line or wrapped.
    pub(super) fn has(&self, words: &str) -> bool {
        self.without_gaps().contains(words)
    }

    pub(super) fn without_gaps(&self) -> String {
        self.lines.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ")
    }

    /// What 1,000 lookups of missing and of existing keys read, in the column of this title.
    #[track_caller]
    pub(super) fn figures(&self, title: &str) -> [String; 2] {
        let mut lines = self.lines.iter().skip_while(|line| !line.trim().starts_with("today"));
        let head = lines.next().unwrap_or_else(|| panic!("{:#?}", self.lines));
        let column = head.split_whitespace().position(|one| one == title).unwrap();
        [(); 2].map(|()| lines.next().unwrap().split_whitespace().nth(column).unwrap().into())
    }
}

/// Of all keys, what is printed is what is replayed, but for digits.
#[track_caller]
pub(super) fn assert_is_replayed(directory: &Path, said: &Said) {
    let replayed = Replay::of(directory).reads_of_1000();
    assert_eq!(said.figures("today"), replayed.map(rounded), "{:#?}", said.lines);
}

#[test]
fn reads_are_those_of_get_today_and_rewritten() {
    let mut num_written = 0;
    for name in ["accounts", "counters", "decimals", "in_order", "levels", "object_ids", "posts"] {
        let directory = copy_of(&database(name));
        let said = Said::on(&directory);
        assert_is_replayed(&directory, &said);
        let run = Said::of_rewriting(&directory, false);
        assert_eq!(run.has(": written: "), said.has("rewritten"), "{name}: {:#?}", run.lines);
        if said.has("rewritten") {
            num_written += 1;
            let then = Said::on(&directory);
            let foretold = [said.figures("rewritten"), run.figures("rewritten")];
            assert_eq!(foretold, [(); 2].map(|()| then.figures("today")), "{name}");
            assert_is_replayed(&directory, &then);
        }
    }
    assert!(num_written >= 4, "{num_written}");
}

#[test]
fn reads_fall_if_they_fall_by_a_twentieth() {
    let cost = |reads| Cost { reads: [reads, 0], ..Cost::default() };
    for (before, after, falls) in [(100, 95, true), (100, 96, false), (1, 0, true), (0, 0, false)] {
        assert_eq!(cost(before).falls_to(&cost(after)), falls, "{before} to {after}");
    }
}

#[test]
fn the_next_key_has_the_form_of_its_key() {
    for (key, next) in [
        (&b"\0\xff"[..], Some(&b"\x01\0"[..])),
        (b"a", Some(b"b")),
        (b"user:09", Some(b"user:10")),
        (b"aZz9", Some(b"bAa0")),
        // What follows has another form.
        (b"user:99", None),
        (b"\xff", None),
        (b"", None),
    ] {
        assert_eq!(one_step_on(key).as_deref(), next, "{key:?}");
    }
}

/// What is done to a filter block of LevelDB's whose offsets start at a place, and how.
type Change = (&'static str, fn(&mut [u8], usize));

#[test]
fn filters_of_leveldbs_name_that_it_cannot_have_made_are_left() {
    let changes: [Change; 5] = [
        ("no probes", |block, start| block[start - 1] = 0),
        ("reserved probes", |block, start| block[start - 1] = 31),
        ("all bits", |block, _| block[..32].fill(0xff)),
        ("some more bits", |block, _| block[2] = 0xff),
        ("an offset outside", |block, start| block[start + 7] = 1),
    ];
    for (what, change) in changes {
        let directory = copy_of(&database("accounts"));
        change_filters(&directory.join("000005.ldb"), change);
        let before = files(&directory);
        let said = Said::on(&directory);
        let words = "UNKNOWN: only the database's program knows the filters, which are under the \
            name \"leveldb.BuiltinBloomFilter2\", but not of its making.";
        assert!(said.has(words) && !said.is_bad, "{what}: {:#?}", said.lines);
        let run = Said::of_rewriting(&directory, false);
        assert!(run.has("1 table since only their program knows its filters"), "{:#?}", run.lines);
        assert_eq!(files(&directory), before);
    }
    // Of a base_lg LevelDB takes the lower bits, on x86.
    let directory = copy_of(&database("accounts"));
    change_filters(&directory.join("000005.ldb"), |block, _| *block.last_mut().unwrap() ^= 64);
    assert!(Said::on(&directory).has("OK: "));
}

#[test]
fn a_table_whose_filters_are_not_of_its_keys_protects_all_others() {
    for (name, byte) in [("counters", 0xff), ("object_ids", 0)] {
        let directory = copy_of(&database(name));
        change_filters(&directory.join("000005.ldb"), |block, _| block[..32].fill(byte));
        let before = files(&directory);
        let run = Said::of_rewriting(&directory, false);
        assert!(run.has("tables since only their program knows its filters"), "{:#?}", run.lines);
        assert_eq!((run.is_bad, files(&directory)), (byte == 0, before));
    }
}

#[test]
fn a_database_that_changes_meanwhile_is_refused_and_its_tables_stay() {
    let manifest = read(&database("levels").join("MANIFEST-000002"));
    for (file, is_rewriting) in
        [("000099.log", true), ("MANIFEST-000014", true), ("000099.log", false)]
    {
        let directory = copy_of(&database("counters"));
        let is_first = Cell::new(true);
        let open = || {
            if !is_first.take() {
                fs::write(directory.join(file), &manifest).unwrap();
            }
            Database::open(&directory)
        };
        let report = if is_rewriting { rewrite(&open, false) } else { inspect(&open) };
        let error = report.map(|report| report.lines).unwrap_err();
        assert!(error.ends_with("written to while it was read: close it and run again"), "{error}");
        for (path, (contents, _)) in files(&database("counters")) {
            let name = path.file_name().unwrap();
            assert!(name == file || read(&directory.join(name)) == contents, "{name:?}");
        }
    }
}

#[test]
fn a_lock_is_held_if_it_is_of_this_file_and_not_waited_for() {
    let locks = "1: POSIX  ADVISORY  WRITE 100 fe:00:77 0 EOF\n\
                 2: FLOCK  ADVISORY  READ 101 fe:01:78 0 EOF\n\
                 3: -> FLOCK  ADVISORY  WRITE 102 fe:00:79 0 EOF\n";
    // The device may be one that neither mounts nor locks tell.
    for (device, inode) in [("fe:00:", 77), ("fe:01:", 78), ("", 78)] {
        assert!(lock::are_held(locks, device, inode), "{device} {inode}");
    }
    for (device, inode) in [("fe:01:", 77), ("fe:00:", 7), ("fe:00:", 79), ("", 76)] {
        assert!(!lock::are_held(locks, device, inode), "{device} {inode}");
    }
}

#[test]
fn tables_whose_ranges_meet_are_counted() {
    for (name, number) in [("accounts", 0), ("in_order", 0), ("levels", 5), ("partly_covered", 4)] {
        assert_eq!(Database::open(&database(name)).unwrap().num_meeting(), number, "{name}");
    }
    let mut database = Database::open(&database("in_order")).unwrap();
    database.tables.sort_by_key(|table| table.contents.smallest.clone());
    database.tables[0].contents.largest = database.tables[1].contents.smallest.clone();
    assert_eq!(database.num_meeting(), 2);
}

#[test]
fn a_damaged_manifest_is_refused_and_tables_have_the_names_that_leveldb_opens() {
    for (place, why) in [(100, "a record does not match its checksum"), (0, "CURRENT names no")] {
        let directory = copy_of(&database("accounts"));
        let path = directory.join(if place > 0 { "MANIFEST-000002" } else { "CURRENT" });
        let mut contents = read(&path);
        contents[place] ^= 1;
        fs::write(path, contents).unwrap();
        let said = Said::on(&directory);
        assert!(said.is_bad && said.has(why) && said.lines.len() == 1, "{:#?}", said.lines);
    }
    for [there, other] in [["000005.ldb", "000005.sst"], ["000005.sst", "0000005.ldb"]] {
        let directory = copy_of(&database("accounts"));
        fs::rename(directory.join("000005.ldb"), directory.join(there)).unwrap();
        fs::write(directory.join(other), b"not a table").unwrap();
        assert!(Said::on(&directory).has("OK: "), "{there}, {other}");
    }
}
