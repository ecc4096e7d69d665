//! Prints the tables of `tests/accuracy.md`, false-positive rates at 10 bits per key, or replaces
//! them in the file and draws `tests/accuracy.svg`.
//!
//! ```sh
//! cargo run --release --example accuracy [-- --write tests/accuracy.md | --rare]
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
mod numbers;
mod sizes;
mod tables;

const USAGE: &str = "usage: accuracy [--write FILE.md | --rare], see tests/accuracy.md";
const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// LevelDB's filters, and the tuned ones of as many bits per key.
const POLICIES: [BloomFilterPolicy; 2] = [POLICY, POLICY.tuned()];

/// The title of the last section.
const RARE: &str = "Rare bad tables";

type Outcome = Result<(), Box<dyn Error>>;

const HEAD: &str = "\
# Accuracy

![False-positive rate over number of keys, 10 bits per key](accuracy.svg)

A percentage is the share of absent keys that a filter matches, so lower is better, and all \
filters have 10 bits per key unless a table says otherwise. Read the columns \"long ranges\" if \
you write an engine, and \"`tuned()`\" if you plug a policy into LevelDB or another engine with \
its ranges. `cargo run --release --example accuracy` prints all sections but the last in about a \
minute ([how it measures](#how-it-measures)).";

/// All but the last, which takes longest.
const SECTIONS: [fn() -> String; 9] = [
    tables::real_keys,
    tables::few_absent,
    digits::in_tables,
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
47 bits. A random half of the numbers are present, unless a table says otherwise. All other \
numbers of the run are looked up. ObjectIds come in bursts of up to 32. One in eight is left out \
and looked up, as is the id after each burst. Microseconds are 64 to 16,384 apart on average, and a \
random time between each two is looked up. \"Worst\" is the highest rate of any filter in the row, \
so a longer search would find worse.

**The figure.** A point is the mean over sizes up to a seventh smaller and larger, and at least \
eight in ten of their rates lie in the shaded area. Up to 40 keys, tuned filters have room for 40.

**How to print it.** `cargo run --release --example accuracy -- --write tests/accuracy.md` \
replaces all sections but the last in this file, and draws the figure. Random numbers have fixed \
seeds, so every x86-64 Linux prints the same figures. On other systems the microseconds may \
differ, because their logarithm may be rounded differently."
        .to_owned()
}

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    exit_code(match &args[..] {
        [] => report(),
        [option, path] if option == "--write" => write(path.as_ref()),
        [arg] if arg == "--rare" => print(&[numbers::rare()]),
        _ => Err(USAGE.into()),
    })
}

fn report() -> Outcome {
    let sections = begin_sections();
    print(&[HEAD])?;
    sections.into_iter().try_for_each(|section| print(&[end(section)]))
}

/// Replaces what is printed without arguments in the file, and draws the figure.
fn write(path: &Path) -> Outcome {
    let error = |path: &Path, error| format!("{}: {error}", path.display());
    let old = fs::read_to_string(path).map_err(|e| error(path, e))?;
    let rare = old.find(&format!("\n## {RARE}\n"));
    let rare = rare.ok_or_else(|| format!("{}: no section {RARE:?}", path.display()))?;
    let sections = begin_sections();
    let points: Vec<_> = sizes::of_figure().map(sizes::Point::measure).collect();
    let (figure, path_of_figure) = (figure::svg(&points), path.with_file_name("accuracy.svg"));
    let sections = sections.map(|section| end(section) + "\n").concat();
    fs::write(path, format!("{HEAD}\n{sections}{}", &old[rare..])).map_err(|e| error(path, e))?;
    fs::write(&path_of_figure, figure).map_err(|e| error(&path_of_figure, e).into())
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

fn percent(rate: f64) -> String {
    format!("{:.2}%", 100.0 * rate)
}

/// How many of LevelDB's false positives there are fewer.
fn times(leveldb: f64, other: f64) -> String {
    format!("{:.2}", leveldb / other)
}
