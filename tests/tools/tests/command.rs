//! The process: how it ends, and what it does to files in which order.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_leveldb-filters");

fn run(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(PROGRAM).args(args).output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.code().unwrap(), stdout, stderr)
}

/// A copy of a golden database for one test.
fn copy_of(database: &str, test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    for entry in fs::read_dir(Path::new("../golden/databases").join(database)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directory.join(entry.file_name())).unwrap();
    }
    directory
}

#[test]
fn it_ends_with_0_1_or_2_and_says_why() {
    for (args, status, words) in [
        (&["inspect", "../golden/databases/counters"][..], 0, "PROBLEM: "),
        (&["inspect", "--", "../golden/databases/accounts"], 0, "Nothing to do."),
        (&["--help"], 0, "cp -a DIR DIR.bak"),
        (&["rewrite", "-h"], 0, "usage: leveldb-filters rewrite"),
        (&["--version"], 0, "leveldb-filters 0.1.0"),
        (&["inspect", "../golden/databases/prefix_filters"], 1, "WRONG: "),
        (&["inspect", "Cargo.toml"], 1, "Cargo.toml: no LevelDB database: a directory with"),
        (&[], 2, "no command is named"),
        (&["inspect"], 2, "no database is named"),
        (&["rewrite", ""], 2, "an empty argument is no directory"),
        (&["rewrite", "a", "b"], 2, "name one database at a time"),
        (&["inspect", "--dry-run", "a"], 2, "inspect has no --dry-run"),
        (&["rewrite", "--add", "a"], 2, "unknown option --add"),
        (&["look", "a"], 2, "unknown command \"look\""),
    ] {
        let (found, out, error) = run(args);
        assert_eq!(found, status, "{args:?}: {out}{error}");
        let is_refused = words.starts_with("Cargo.toml") || status == 2;
        assert!((if is_refused { &error } else { &out }).contains(words), "{out}{error}");
        assert!(if is_refused { out.is_empty() } else { error.is_empty() }, "{out}{error}");
        assert_eq!(error.contains("usage: "), status == 2, "{error}");
    }
}

/// The system calls on files, a line each; none without strace.
#[cfg(target_os = "linux")]
fn calls_of(args: &[&str]) -> Vec<String> {
    let calls = "-etrace=%file,read,write,fsync";
    match Command::new("strace").args(["-f", "-y", calls, PROGRAM]).args(args).output() {
        Ok(output) => String::from_utf8_lossy(&output.stderr).lines().map(Into::into).collect(),
        Err(error) => {
            eprintln!("skipped: needs strace: {error}");
            Vec::new()
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn new_files_are_private_synced_and_read_back_before_they_are_renamed_and_then_the_directory() {
    let directory = copy_of("counters", "synced");
    let calls = calls_of(&["rewrite", directory.to_str().unwrap()]);
    let mut rest = &calls[..];
    let mut next = |words: &[&str]| {
        let is_it = |call: &String| words.iter().all(|word| call.contains(word));
        let place = rest.iter().position(is_it);
        rest = &rest[place.unwrap_or_else(|| panic!("no {words:?} in {rest:#?}")) + 1..];
    };
    if calls.is_empty() {
        return;
    }
    for _ in 0..4 {
        next(&["openat", ".dbtmp", "O_WRONLY|O_CREAT|O_EXCL", "0600"]);
        next(&["write(", ".dbtmp"]);
        next(&["fsync(", ".dbtmp", "= 0"]);
        next(&["openat", ".dbtmp", "O_RDONLY"]);
        next(&["read(", ".dbtmp"]);
        next(&["rename(", ".dbtmp", ".ldb", "= 0"]);
    }
    next(&["fsync(", "/synced", "= 0"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_dry_run_and_an_inspection_open_nothing_to_write() {
    let directory = copy_of("counters", "dry");
    for args in [&["rewrite", "--dry-run"][..], &["inspect"]] {
        let calls = calls_of(&[args, &[directory.to_str().unwrap()]].concat());
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "unlink", "rename", "mkdir"];
        let is_writing = |call: &&String| writes.iter().any(|word| call.contains(word));
        assert_eq!(calls.iter().find(is_writing), None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_database_whose_lock_is_held_is_refused_and_inspected() {
    let directory = copy_of("levels", "locked");
    let (path, lock) = (directory.to_str().unwrap(), directory.join("LOCK"));
    fs::write(&lock, b"").unwrap();
    // As goleveldb does; LevelDB itself holds it in the tests that need its library.
    let mut holder = Command::new("flock");
    holder.arg(&lock).args(["sh", "-c", "echo held; cat"]);
    let Ok(mut holder) = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        return eprintln!("skipped: needs util-linux's flock");
    };
    holder.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    let (status, _, error) = run(&["rewrite", path]);
    assert!(status == 1 && error.ends_with(": a program has it open: close it\n"), "{error}");
    assert!(run(&["inspect", path]).1.contains("A program has it open"));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert!(run(&["rewrite", path]).1.contains("written: better filters"));
    assert!(!run(&["inspect", path]).1.contains("A program has it open"));
}
