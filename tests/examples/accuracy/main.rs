//! Prints the tables of `tests/accuracy.md`, false-positive rates at 10 bits per key, and draws
//! `tests/accuracy.svg`.
//!
//! ```sh
//! cargo run --release --example accuracy [-- SVG]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use leveldb_filter::BloomFilterPolicy;

use common::terminal::{exit_code, print};

#[path = "../../common/mod.rs"]
mod common;
mod figure;
mod levels;
mod numbers;
mod sizes;
mod tables;

const USAGE: &str = "usage: accuracy [SVG]";
const HELP: [&str; 2] = [
    "Prints false-positive rates at 10 bits per key, and draws them if SVG is given",
    "  SVG  the file to draw to, whose name must end in .svg",
];

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// LevelDB's filters, and the tuned ones of as many bits per key.
const POLICIES: [BloomFilterPolicy; 2] = [POLICY, POLICY.tuned()];

type Outcome = Result<(), Box<dyn Error>>;

const HEAD: &str = "\
# Accuracy

How many lookups of absent keys filters let pass, at 10 bits per key unless a table says \
otherwise. `cargo run --release --example accuracy` prints this file in a minute or two, with the \
same figures on every x86-64 Linux: random numbers have fixed seeds. (Elsewhere the logarithm \
that spaces the microseconds may be rounded otherwise.) With the name of a file it also draws \
[this figure](accuracy.svg), of means over sizes of up to a seventh fewer and more keys; at \
least eight in ten of these sizes lie in what is shaded.

**The sample.** A run has successive numbers from a random one of 8 to 47 bits on. A random half \
of them are present, or nine in ten or forty-nine in fifty where a table says so; all others are \
looked up. Two kinds differ: ObjectIds come in bursts of up to 32, of which one in eight is \
absent, as is the next after each burst; and of microseconds, 64 to 16,384 apart in the mean, a \
random one between each two is looked up. A rate is the share of lookups that match. \"Worst\" is \
the highest rate of this many filters, each with keys of its own: a longer search finds worse.";

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let svg = |path: &OsString| Path::new(path).extension().is_some_and(|end| end == "svg");
    exit_code(match &args[..] {
        [] => report(),
        [arg] if arg == "-h" || arg == "--help" => print(&[USAGE]).and_then(|()| print(&HELP)),
        [path] if svg(path) => report().and_then(|()| draw(path.as_ref())),
        _ => Err(USAGE.into()),
    })
}

fn report() -> Outcome {
    print(&[HEAD])?;
    tables::real_keys()?;
    tables::few_absent()?;
    numbers::every()?;
    sizes::few_keys()?;
    sizes::large()?;
    levels::table()
}

fn draw(path: &Path) -> Outcome {
    let points: Vec<_> = sizes::of_figure().map(sizes::Point::measure).collect();
    fs::write(path, figure::svg(&points)).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// A section's title and text, and the columns of its table.
fn section(title: &str, text: &str, columns: &[&str]) -> Outcome {
    print(&[&format!("\n## {title}\n\n{text}\n")])?;
    row(columns)?;
    row(&vec!["---"; columns.len()])
}

fn row(cells: &[impl AsRef<str>]) -> Outcome {
    let cells: Vec<_> = cells.iter().map(AsRef::as_ref).collect();
    print(&[format!("| {} |", cells.join(" | "))])
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
