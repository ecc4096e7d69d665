//! Tests `inspect` through its options and output, and the parsers of LevelDB's files.
#![allow(clippy::float_cmp, reason = "numbers are compared as they are printed")]

mod advice;
pub(crate) mod damage;
mod databases;
mod levels;
pub(crate) mod manifest;
mod parser;
mod sampled;
mod snappy;
pub(crate) mod tables;
mod unreadable;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::{env, fs, process};

use crate::command_line::each_group;
use crate::database::Group;
use crate::inspect::{Options, report};

const NUM_LOOKUPS: usize = 100_000;

/// What a user sees.
pub(crate) struct Report {
    lines: Vec<String>,
    /// What goes to stderr.
    causes: Vec<String>,
    exit_status: u8,
}

impl Report {
    pub(crate) fn on(path: &Path) -> Self {
        Self::with(&[path.to_path_buf()], false, NUM_LOOKUPS)
    }

    /// With `--what-if`.
    fn what_if(path: &Path) -> Self {
        Self::with(&[path.to_path_buf()], true, NUM_LOOKUPS)
    }

    fn with(paths: &[PathBuf], what_if: bool, num_lookups: usize) -> Self {
        let options = Options { what_if, paths: paths.to_vec(), ..Options::default() };
        Self::of(&options, num_lookups)
    }

    fn of(options: &Options, num_lookups: usize) -> Self {
        let mut lines = Vec::new();
        let print = |printed: &[String]| {
            lines.extend_from_slice(printed);
            Ok(())
        };
        let outcome = each_group(&options.paths, print, Group::of_paths, |read| {
            report(read, options, num_lookups)
        });
        let report = Self { lines, exit_status: outcome.exit_status, causes: outcome.causes };
        let mut printed = report.lines.iter().chain(&report.causes);
        assert!(!printed.any(|line| line.contains(char::is_control)));
        report
    }

    /// The report on a golden database with all options, made once for all tests.
    fn on_golden(name: &str) -> &'static Self {
        static REPORTS: Mutex<BTreeMap<String, &OnceLock<Report>>> = Mutex::new(BTreeMap::new());
        let report = *REPORTS
            .lock()
            .unwrap()
            .entry(name.into())
            .or_insert_with(|| Box::leak(Box::default()));
        report.get_or_init(|| {
            let paths = vec![database(name)];
            let options = Options { what_if: true, tables: true, paths };
            Self::of(&options, NUM_LOOKUPS)
        })
    }

    /// The lines that are printed without options; then those of `--what-if` and of `--tables`.
    fn sections(&self) -> impl Iterator<Item = &[String]> {
        self.lines.split(String::is_empty)
    }

    /// The only line that contains these words.
    #[track_caller]
    fn line_with(&self, words: &str) -> &str {
        let mut lines = self.lines.iter().filter(|line| line.contains(words));
        let line = lines.next().unwrap_or_else(|| panic!("no {words:?} in {:#?}", self.lines));
        assert!(lines.next().is_none(), "several {words:?} in {:#?}", self.lines);
        line
    }

    /// Whether these words are printed, on one line or wrapped after a long path.
    pub(crate) fn has(&self, words: &str) -> bool {
        self.lines.join(" ").contains(words)
    }

    /// The cells of the only line that contains these words.
    #[track_caller]
    fn cells_of(&self, words: &str) -> Vec<&str> {
        self.line_with(words).split_whitespace().collect()
    }

    /// The only cause, and the exit status.
    fn cause(&self) -> (u8, &str) {
        let [cause] = &self.causes[..] else { panic!("{:#?}", self.causes) };
        (self.exit_status, cause)
    }
}

/// A number as it is printed; 0 if only a bound is known.
#[track_caller]
fn number_in(cell: &str) -> f64 {
    if cell.starts_with('<') { 0.0 } else { cell.replace(',', "").parse().unwrap() }
}

/// What 1,000 lookups of each kind read.
struct Answer {
    /// What the heading says after "1,000 lookups".
    bound: String,
    reads: [f64; 3],
}

#[track_caller]
fn answer(report: &Report) -> Answer {
    let start = "Data blocks read needlessly per 1,000 lookups";
    let bound = report.line_with(start).strip_prefix(start).unwrap();
    let bound = bound.strip_suffix(":").unwrap().to_string();
    let line = |keys: &str| report.line_with(keys).split_once(keys).unwrap();
    let [missing, existing] = ["  of keys that do not exist", "  of keys that exist"].map(line);
    let usual = missing.1.strip_prefix("; ").and_then(|usual| usual.split(' ').next());
    // Where there are no such keys.
    let number = |number| if number == "-" { -1.0 } else { number_in(number) };
    let reads = [missing.0.trim(), existing.0.trim(), usual.unwrap_or("-")].map(number);
    Answer { bound, reads }
}

/// Asserts that the numbers differ by at most a tenth.
#[track_caller]
fn assert_near(reckoned: f64, replayed: f64) {
    assert!((0.9..1.1).contains(&(reckoned / replayed)), "{reckoned}, not {replayed}");
}

/// Relative to the package's directory, where Cargo runs tests.
pub(crate) fn golden(directory: &str) -> PathBuf {
    Path::new("../golden").join(directory)
}

pub(crate) fn database(name: &str) -> PathBuf {
    golden("databases").join(name)
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn golden_table(file: &str) -> Vec<u8> {
    read(&golden("tables").join(file))
}

/// A directory that no other test or run uses, deleted when dropped.
pub(crate) struct Directory(PathBuf);

impl Deref for Directory {
    type Target = PathBuf;

    fn deref(&self) -> &PathBuf {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

pub(crate) fn directory_of(name: &str, files: &[(&str, &[u8])]) -> Directory {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unique = format!("inspect_table-{}-{count}", process::id());
    let directory = env::temp_dir().join(unique).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for (file, contents) in files {
        fs::write(directory.join(file), contents).unwrap();
    }
    Directory(directory)
}

/// A copy of a golden database, whose files may be changed.
pub(crate) fn copy_of(name: &str, copy: &str) -> Directory {
    let directory = directory_of(copy, &[]);
    for entry in fs::read_dir(database(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::write(directory.join(path.file_name().unwrap()), read(&path)).unwrap();
    }
    directory
}
