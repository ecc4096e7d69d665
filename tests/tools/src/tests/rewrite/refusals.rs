//! What is left as it is, and the command line.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use super::replacing::table_of;
use super::run_on;
use crate::command_line::{Find, Options, each_group};
use crate::plan::Wish;
use crate::rewrite::rewrite;
use crate::table::directory::read_manifest;
use crate::table::manifest::Contents;
use crate::table::replace::NAMES;
use crate::tests::directories::{
    copy_of, database, directory_of, fault, files, golden_table, read, with_filters,
};
use crate::tests::inspect::Report;
use crate::tests::manifest::manifest_of_tables;

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
    let unsound = directory_of("unsound", &[("5.ldb", b"no table")]);
    fs::write(unsound.join("6.ldb"), golden_table("table_empty.ldb")).unwrap();
    assert!(refused(&unsound).has("1 for the reasons below; 1 without keys"));
    // As LevelDB's table, but with a block that only its writer knows.
    let foreign = copy_of(&database("accounts"));
    fs::write(foreign.join("000005.ldb"), table_of(&["stats"], [""; 4])).unwrap();
    for (directory, cause) in [
        (copy_of(&database("own_policy")), "of an unknown policy, \"example.OwnFilter\""),
        (copy_of(&database("prefix_filters")), "the filters reject keys of their own table"),
        (copy_of(&database("rocksdb")), "a database of RocksDB, not of LevelDB"),
        (copy_of(&fault("no_current")), "no CURRENT names its MANIFEST"),
        (directory_of("none", &[]), "no table: none of its files ends in .ldb or .sst"),
        (foreign, "bytes that LevelDB does not write"),
        (unsound, "not a LevelDB table"),
    ] {
        let run = refused(&directory);
        assert!(run.cause().contains(cause), "{:?}", run.causes);
        assert!(run.lines.is_empty() || run.has(" for the reasons below"), "{:?}", run.lines);
    }
    assert!(refused(&copy_of(&database("log_only"))).has("0 tables"));
    let missing = run_on(&directory_of("none", &[]).join("missing"), &[]);
    assert!(missing.cause().ends_with("missing: there is no such file or directory"));
    let directory = copy_of(&fault("overwritten"));
    assert!(run_on(&directory, &[]).has("1 without filters (--add adds them)"));
    let alone = run_on(&directory.join("000005.ldb"), &["--add"]);
    assert!(alone.has("need a MANIFEST: name the directory"));
    assert!(run_on(&directory, &["--add"]).has("Added filters work if the program sets a Bloom"));
}

#[test]
fn tables_beside_others_whose_filters_may_not_be_of_whole_keys_are_left() {
    let [later, counters] = [fault("turned_on_later"), database("counters")];
    for (original, name, policy_name, num_zeros, words) in [
        (&later, "000016.ldb", NAMES[1], 3, "2 for the reasons below"),
        (&later, "000016.ldb", "someone", 0, "2 for the reasons below"),
        (&counters, "000012.ldb", NAMES[1], 32, "1 for the reasons below; 3 since theirs"),
    ] {
        let directory = copy_of(original);
        let path = directory.join(name);
        let changed = with_filters(&read(&path), policy_name, |of| of[..num_zeros].fill(0));
        fs::write(&path, changed).unwrap();
        let run = refused(&directory);
        assert!(run.has(words) && run.cause().contains(name), "{:?} {:?}", run.lines, run.causes);
        assert_eq!(Report::on(&directory).advice(), None);
    }
}

#[test]
fn a_table_whose_length_is_not_the_manifests_is_left() {
    let directory = copy_of(&fault("overwritten"));
    run_on(&directory, &["--add"]);
    let added = read(&directory.join("000005.ldb"));
    let alone = directory_of("without_manifest", &[("000005.ldb", &added)]);
    let cause = "it has added filters; only a MANIFEST tells its length";
    assert!(refused(&alone).cause().contains(cause));
    let tables = read_manifest(&directory).unwrap().unwrap().tables;
    let ((_, number), contents) = tables.into_iter().next().unwrap();
    // As after a repair, whose MANIFEST has the length of the file; and as of another copy.
    for (len, words) in [
        (added.len(), "1 with added filters that a repair counts to the table: compact it"),
        (added.len() - 1, "its length differs from the MANIFEST's"),
    ] {
        let contents = Contents { len: len.try_into().unwrap(), ..contents.clone() };
        let manifest = manifest_of_tables(&[(2, number, contents)]);
        fs::write(directory.join("MANIFEST-000002"), manifest).unwrap();
        let run = refused(&directory);
        assert!([&run.lines[..], &run.causes].concat().concat().contains(words));
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_never_replaced_by_a_file() {
    let directory = copy_of(&database("accounts"));
    let linked = copy_of(&database("accounts"));
    let path = linked.join("000005.ldb");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(directory.join("000005.ldb"), &path).unwrap();
    let run = refused(&linked);
    assert!(run.cause().contains("a symbolic link: name the directory that it leads to"));
    assert!(path.is_symlink());
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
    let path = directory.join("000005.ldb");
    let table = read(&path);
    fs::write(&path, b"half a table").unwrap();
    run_on(&directory, &["--bits-per-key", "10"]);
    assert!(left_over.exists());
    fs::write(&path, table).unwrap();
    // The second time, all filters are there already.
    for _ in 0..2 {
        fs::write(&left_over, b"half a table").unwrap();
        let run = run_on(&directory, &["--dry-run"]);
        assert!(run.has("0001795503729312545637.dbtmp") && run.has("Nothing was written"));
        assert!(left_over.exists());
        assert!(run_on(&directory, &[]).causes.is_empty());
        assert!(!left_over.exists());
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
fn the_command_line_is_parsed_or_refused() {
    let taken = ["--dry-run", "--add", "--bits-per-key"];
    let parse = |args: &[&str]| Options::parse(args.iter().map(OsString::from), &taken);
    let options = parse(&["--add", "a", "--dry-run", "--bits-per-key=12", "--", "--b"]);
    let wish = Wish { adds: true, bits_per_key: Some(12) };
    let paths = vec!["a".into(), "--b".into()];
    assert_eq!(options, Ok(Some(Options { wish, paths, tables: false, dry_run: true })));
    assert_eq!(parse(&["--help"]), Ok(None));
    let needs_bits = "--bits-per-key needs a number from 1 to 100";
    for (args, why) in [
        (&["--add"][..], "no database or table is named"),
        (&[""], "an empty argument is not a file name"),
        (&["--ad", "a"], "unknown option --ad"),
        (&["--tables", "a"], "unknown option --tables"),
        (&["--add=yes", "a"], "unknown option --add=yes"),
        (&["a", "--bits-per-key"], needs_bits),
        (&["a", "--bits-per-key", "0"], needs_bits),
        (&["a", "--bits-per-key", "ten"], needs_bits),
    ] {
        assert_eq!(parse(args), Err(why.into()));
    }
}
