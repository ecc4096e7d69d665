//! Prints the tables of `tests/accuracy.md`, false-positive rates at 10 bits per key, or replaces
//! them in the file and draws `tests/accuracy.svg`.
//!
//! ```sh
//! cargo run --release --example accuracy [-- --write tests/accuracy.md]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::{env, fs};

use leveldb_filter::BloomFilterPolicy;

use common::terminal::{exit_code, print};

#[path = "../../common/mod.rs"]
mod common;
mod digits;
mod figure;
mod filter_blocks;
mod grids;
mod kinds;
mod limits;
mod numbers;
mod sizes;
mod tables;
mod two_kinds;

const USAGE: &str = "usage: accuracy [--write FILE.md], see tests/accuracy.md";
const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// LevelDB's filters, and the tuned ones of as many bits per key.
const POLICIES: [BloomFilterPolicy; 2] = [POLICY, POLICY.tuned()];

/// How many runs of keys a mean of whole tables stands for.
const NUM_RUNS: usize = 16;

type Outcome = Result<(), Box<dyn Error>>;

const HEAD: &str = "\
# Accuracy

![False-positive rate over number of keys, 10 bits per key](accuracy.svg)

A percentage is the share of absent keys that a filter matches, so lower is better, and all \
filters have 10 bits per key unless a table says otherwise. If a cell has two figures, the first is \
of LevelDB's filters, and the second of those that are recommended, in long ranges. Read the \
columns \"`tuned()`\" if you plug a policy into LevelDB or another engine with its ranges. \
`cargo run --release --example accuracy` prints this page in about a minute \
([how it measures](#how-it-measures)).";

const SECTIONS: [fn() -> String; 12] = [
    tables::real_keys,
    tables::few_absent,
    digits::in_tables,
    limits::two_kinds,
    limits::unseen,
    limits::more_bits,
    digits::in_large_filters,
    numbers::every,
    sizes::few_keys,
    sizes::bits_per_key,
    sizes::large,
    method,
];

fn method() -> String {
    "
## How it measures

**The sample.** A run is a sequence of successive numbers, which starts at a random number of 8 to \
47 bits. Integers are big-endian. A random half of the numbers are present, unless a table says \
otherwise. All other numbers of the run are looked up, or one between each two if every second or \
third is present. ObjectIds come in bursts of up to 32. One in eight is left out and looked up, as \
is the id after each burst. Microseconds are 64 to 16,384 apart on average, and a random time \
between each two is looked up. \"Worst\" is the highest rate of any filter in the row, so a longer \
search would find worse.

**The figure.** A point is the mean over sizes up to a seventh smaller and larger, and at least \
eight in ten of their rates lie in the shaded area. Up to 40 keys, tuned filters have room for 40. \
`cargo run --release --example accuracy -- --write tests/accuracy.md` draws it and replaces this \
file. Random numbers have fixed seeds, so every x86-64 Linux \
prints the same figures. On other systems the microseconds may differ, because their logarithm may \
be rounded differently."
        .to_owned()
}

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    exit_code(match &args[..] {
        [] => report(),
        [option, path] if option == "--write" => write(path.as_ref()),
        _ => Err(USAGE.into()),
    })
}

fn report() -> Outcome {
    let sections = begin_sections();
    print(&[HEAD])?;
    sections.into_iter().try_for_each(|section| print(&[end(section)]))
}

/// Replaces the file by what is printed without arguments, and draws the figure beside it.
fn write(path: &Path) -> Outcome {
    let sections = begin_sections();
    let points: Vec<_> = sizes::of_figure().map(sizes::Point::measure).collect();
    let sections = sections.map(|section| end(section) + "\n").concat();
    let path_of_figure = path.with_file_name("accuracy.svg");
    for (path, text) in
        [(path, format!("{HEAD}\n{sections}")), (&path_of_figure, figure::svg(&points))]
    {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// All at once, so that two cores take half the time.
fn begin_sections() -> [JoinHandle<String>; SECTIONS.len()] {
    SECTIONS.map(thread::spawn)
}

fn end<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("a thread without a panic")
}

/// A section's title and text, and the columns of its table, without the end of the last line.
fn section(title: &str, text: &str, columns: &[&str]) -> String {
    format!("\n## {title}\n{}", table(text, columns))
}

/// The same without a title.
fn table(text: &str, columns: &[&str]) -> String {
    let rule = vec!["---"; columns.len()];
    format!("\n{text}\n{}{}", row(columns), row(&rule))
}

/// A row, and the end of the line before.
fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<_> = cells.iter().map(AsRef::as_ref).collect();
    format!("\n| {} |", cells.join(" | "))
}

#[expect(clippy::cast_precision_loss, reason = "few rates")]
fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// A cell for LevelDB's filters and for others.
fn pair<T>([leveldb, others]: [T; 2], cell: impl Fn(T) -> String) -> String {
    format!("{} → {}", cell(leveldb), cell(others))
}

fn percent(rate: f64) -> String {
    format!("{:.2}%", 100.0 * rate)
}
