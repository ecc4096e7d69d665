//! What is left as it is, and the command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use super::rewriting::{copy_without_filters, damage_filters, relist};
use super::run_on;
use crate::command_line::{Find, Options, each_group};
use crate::plan::Wish;
use crate::rewrite::rewrite;
use crate::tests::directories::{
    copy_of, database, directory_of, files, golden_table, read, with_filter_block, with_metaindex,
};
use crate::tests::inspect::Report;
use crate::tests::manifest::name_comparator;
use crate::tests::random_input::drawn;

/// Runs with `--add`, and checks that no file has changed.
#[track_caller]
fn refused(directory: &Path) -> Report {
    let before = files(directory);
    let run = run_on(directory, &["--add"]);
    assert_eq!(files(directory), before);
    run
}

#[test]
fn foreign_and_damaged_databases_are_left_with_a_reason() {
    let directory = copy_of(&database("own_policy"));
    for _ in 0..2 {
        let run = refused(&directory);
        assert!(run.has("2 for the reasons below"), "{:?}", run.lines);
        assert!(run.cause().contains("filters of an unknown policy, \"example.OwnFilter\""));
        damage_filters(&directory);
    }
    let run = refused(&copy_of(&database("prefix_filters")));
    assert!(run.has("2 for the reasons below"), "{:?}", run.lines);
    assert!(run.cause().contains("the filters reject keys of their own table"));
    let run = refused(&copy_of(&database("rocksdb")));
    assert!(run.cause().contains("a database of RocksDB, not of LevelDB"));
    let run = refused(&copy_of(&database("log_only")));
    assert!(run.has("0 tables"), "{:?}", run.lines);
    let missing = run_on(&directory_of("foreign", &[]).join("missing"), &[]);
    assert!(missing.cause().ends_with("missing: there is no such file or directory"));
    let run = refused(&directory_of("foreign", &[]));
    assert!(run.cause().contains("no table: none of its files ends in .ldb or .sst"));

    let directory = copy_of(&database("levels"));
    fs::remove_file(directory.join("CURRENT")).unwrap();
    assert!(refused(&directory).cause().contains("no CURRENT names its MANIFEST"));

    // As LevelDB's tables, but with a block that only their writer knows.
    let directory = copy_of(&database("accounts"));
    let path = directory.join("000005.ldb");
    fs::write(&path, with_metaindex(read(&path), b"filter.", b"nothing")).unwrap();
    assert!(refused(&directory).cause().contains("bytes that LevelDB does not write"));

    let files = [("5.ldb", golden_table("table_empty.ldb")), ("6.ldb", b"no table".to_vec())];
    let files = files.each_ref().map(|(name, file)| (*name, &file[..]));
    let run = refused(&directory_of("foreign", &files));
    assert!(run.has("1 for the reasons below; 1 without keys"), "{:?}", run.lines);
    assert!(run.cause().contains("not a LevelDB table"));
    let paths = ["000005.ldb", "missing/6.ldb"].map(|name| directory.join(name)).into();
    let run = super::run(&Options { paths, ..Options::default() });
    assert!(run.has("1 for the reasons below"), "{:?}", run.lines);
}

#[test]
fn filters_are_added_only_where_equal_keys_are_equal_bytes() {
    let directory = copy_without_filters("accounts", "");
    name_comparator(&directory.join("MANIFEST-000002"));
    let run = refused(&directory);
    assert!(
        run.has("1 without usable filters, in an order that only their program knows"),
        "{:?}",
        run.lines
    );
    // Nothing tells it of a table alone.
    let table = directory.join("000005.ldb");
    assert!(run_on(&table, &["--add"]).has("need a MANIFEST: name the directory"));
}

#[test]
fn filters_of_whole_keys_are_not_added_beside_others() {
    for (name, alone) in [("prefix_filters", "000005.ldb"), ("own_policy", "000005.ldb")] {
        let run = refused(&copy_without_filters(name, alone));
        assert!(run.has("2 for the reasons below"), "{:?}", run.lines);
        let cause = run.cause();
        assert!(cause.contains("000007.ldb: "), "{cause}");
    }
}

#[test]
fn tables_beside_one_whose_filters_reject_its_keys_are_left() {
    let directory = copy_of(&database("counters"));
    let path = directory.join("000012.ldb");
    fs::write(&path, with_filter_block(read(&path), |block| block[..32].fill(0))).unwrap();
    assert!(refused(&directory).has("1 for the reasons below; 3 since theirs may not"));
    assert_eq!(Report::on(&directory).advice(), None);
}

#[test]
fn a_table_whose_length_is_not_the_manifests_is_left() {
    let directory = copy_without_filters("accounts", "");
    run_on(&directory, &["--add"]);
    let path = directory.join("000005.ldb");
    let added = read(&path);
    let alone = directory_of("without_manifest", &[("000005.ldb", &added)]);
    let before = files(&alone);
    for path in [&*alone, &alone.join("000005.ldb")] {
        let run = run_on(path, &["--add", "--bits-per-key", "14"]);
        assert!(run.cause().contains("it has added filters; only a MANIFEST tells its length"));
        assert_eq!(files(&alone), before);
    }
    // As after a repair, whose MANIFEST has the length of the file.
    let repaired = copy_without_filters("accounts", "");
    fs::write(repaired.join("000005.ldb"), &added[..]).unwrap();
    relist(&repaired, &BTreeMap::from([(5, added.len())]));
    let run = run_on(&repaired, &["--add", "--bits-per-key", "14"]);
    assert!(run.has("1 with added filters that a repair counts to the table: compact it"));
    assert_eq!(read(&repaired.join("000005.ldb")), added);
    // As if the MANIFEST were of another copy.
    fs::copy(
        copy_of(&database("accounts")).join("MANIFEST-000002"),
        directory.join("MANIFEST-000002"),
    )
    .unwrap();
    let run = run_on(&directory, &["--add", "--bits-per-key", "14"]);
    assert!(run.cause().contains("its length differs from the MANIFEST's"));
    assert_eq!(read(&path), added);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_never_replaced_by_a_file() {
    let directory = copy_of(&database("accounts"));
    let linked = copy_of(&database("accounts"));
    let path = linked.join("000005.ldb");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(directory.join("000005.ldb"), &path).unwrap();
    let before = files(&directory);
    let run = refused(&linked);
    assert!(run.cause().contains("a symbolic link: name the directory that it leads to"));
    assert!(path.is_symlink());
    assert_eq!(files(&directory), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_database_whose_lock_is_held_is_refused_and_inspected() {
    let directory = copy_of(&database("levels"));
    let [lock, table] = ["LOCK", "000005.ldb"].map(|name| directory.join(name));
    fs::write(&lock, b"").unwrap();
    // As goleveldb does; LevelDB itself holds it in `tests/leveldb`.
    let holder = Command::new("flock")
        .arg(&lock)
        .args(["sh", "-c", "echo held; cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut holder) = holder else { return eprintln!("skipped: needs util-linux's flock") };
    holder.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    assert!(refused(&directory).cause().contains(": a program has it open: close it"));
    assert!(run_on(&table, &[]).cause().contains("000005.ldb: a program has it open"));
    assert!(Report::on(&directory).has("A program has it open"));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert!(run_on(&directory, &[]).causes.is_empty());
    assert!(!Report::on(&directory).has("A program has it open"));
}

#[test]
fn what_an_interrupted_run_left_is_removed_unless_a_table_is_damaged() {
    let directory = copy_of(&database("levels"));
    let left_over = directory.join("0000001795503729312545637.dbtmp");
    fs::write(&left_over, b"half a table").unwrap();
    let table = read(&directory.join("000005.ldb"));
    fs::write(directory.join("000005.ldb"), b"half a table").unwrap();
    run_on(&directory, &["--bits-per-key", "10"]);
    assert!(left_over.exists());
    fs::write(directory.join("000005.ldb"), table).unwrap();
    for _ in 0..2 {
        let run = run_on(&directory, &["--dry-run"]);
        assert!(run.has("0001795503729312545637.dbtmp") && run.has("Nothing was written"));
        assert!(left_over.exists());
        assert!(run_on(&directory, &[]).causes.is_empty());
        assert!(!left_over.exists());
        // Then all filters are there already.
        fs::write(&left_over, b"half a table").unwrap();
    }
}

#[test]
fn all_is_done_and_counts_although_nothing_can_be_printed() {
    let [first, second] = ["levels", "counters"].map(|of| copy_of(&database(of)));
    fs::write(first.join("000027.ldb"), b"half a table").unwrap();
    let before = files(&second);
    let paths = [&first, &second].map(|directory| directory.to_path_buf());
    let print = |_: &[String]| Err(io::Error::from(ErrorKind::BrokenPipe).into());
    let work = |find: &Find<'_>| rewrite(find, &Options::default());
    let causes = each_group(&paths, print, work);
    assert!(causes.len() == 1 && causes[0].contains("not a LevelDB table"), "{causes:?}");
    assert_ne!(files(&second), before);
}

#[test]
fn a_table_with_a_flipped_bit_stays_unless_it_is_padding() {
    let mut number = drawn(44);
    let directory = copy_of(&database("object_ids"));
    let path = directory.join("000005.ldb");
    let table = read(&path);
    let mut num_rewritten = 0;
    for _ in 0..40 {
        let mut damaged = table.clone();
        let place = match number(2) {
            0 => number(table.len()),
            // Filters, metaindex block, index block, footer.
            _ => table.len() - 1 - number(2_000),
        };
        damaged[place] ^= 1 << number(8);
        fs::write(&path, &damaged).unwrap();
        let run = run_on(&path, if number(2) == 0 { &[] } else { &["--add"] });
        let is_rewritten = read(&path) != damaged;
        assert_eq!(is_rewritten, run.causes.is_empty(), "{place} {:?} {:?}", run.lines, run.causes);
        if is_rewritten {
            // Only the padding of the footer.
            assert!((table.len() - 48..table.len() - 8).contains(&place), "{place}");
            num_rewritten += 1;
        }
    }
    assert!(num_rewritten < 4, "{num_rewritten}");
}

#[test]
fn the_command_line_is_parsed_or_refused() {
    let taken = ["--dry-run", "--add", "--bits-per-key"];
    let parse = |args: &[&str]| Options::parse(args.iter().map(OsString::from), &taken);
    let options = parse(&["--add", "a", "--bits-per-key=12", "--", "--b"]);
    let expected = Options {
        wish: Wish { adds: true, bits_per_key: Some(12) },
        paths: vec!["a".into(), "--b".into()],
        ..Options::default()
    };
    assert_eq!(options, Ok(Some(expected)));
    assert!(parse(&["--dry-run", "a"]).unwrap().unwrap().dry_run);
    assert_eq!(parse(&["--help"]), Ok(None));
    for (args, why) in [
        (&[][..], "no database or table is named"),
        (&["--add"], "no database or table is named"),
        (&[""], "an empty argument is not a file name"),
        (&["--ad", "a"], "unknown option --ad"),
        (&["--tables", "a"], "unknown option --tables"),
        (&["--add=yes", "a"], "unknown option --add=yes"),
        (&["a", "--bits-per-key"], "--bits-per-key needs a number from 1 to 100"),
        (&["a", "--bits-per-key", "0"], "--bits-per-key needs a number from 1 to 100"),
        (&["a", "--bits-per-key", "ten"], "--bits-per-key needs a number from 1 to 100"),
    ] {
        assert_eq!(parse(args), Err(why.into()));
    }
}
