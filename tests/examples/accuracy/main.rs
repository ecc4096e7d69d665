//! Measures false-positive rates at 10 bits per key: for kinds of keys, for numbers of keys, and
//! for levels that divide the bytes of such filters.
//!
//! ```sh
//! cargo run --release --example accuracy [-- [--full | --quick] [SVG]]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use common::terminal::{Progress, exit_code, grouped, print};
use rates::{NUM_NEIGHBOURS, Pair, Rates};

#[path = "../../common/mod.rs"]
mod common;
mod figure;
mod keys;
mod levels;
mod rates;

const USAGE: &str = "usage: accuracy [--full | --quick] [SVG]";
const HELP: [&str; 4] = [
    "Measures false-positive rates at 10 bits per key, and draws them if SVG is given",
    "  --full   measures up to 10 million keys instead of 1 million",
    "  --quick  measures up to 30 keys",
    "  SVG      the file to draw to, whose name must end in .svg",
];

struct Options<'a> {
    most_keys: Option<usize>,
    svg: Option<&'a Path>,
}

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let outcome = match &args[..] {
        [arg] if arg == "-h" || arg == "--help" => print(&[USAGE]).and_then(|()| print(&HELP)),
        args => parse(args).and_then(|options| report(&options)),
    };
    exit_code(outcome)
}

fn parse(args: &[OsString]) -> Result<Options<'_>, Box<dyn Error>> {
    let mut options = Options { most_keys: None, svg: None };
    for arg in args {
        let path = Path::new(arg);
        let most_keys = [("--full", 10_000_000), ("--quick", 30)];
        let most_keys = most_keys.into_iter().find(|(name, _)| arg == name).map(|(_, most)| most);
        if most_keys.is_some() && options.most_keys.is_none() {
            options.most_keys = most_keys;
        } else if path.extension().is_some_and(|end| end == "svg") && options.svg.is_none() {
            options.svg = Some(path);
        } else {
            return Err(USAGE.into());
        }
    }
    Ok(options)
}

fn report(options: &Options<'_>) -> Result<(), Box<dyn Error>> {
    for line in keys::tables() {
        print(&[line])?;
    }
    print(&[""])?;
    let sizes = rates::sizes(options.most_keys.unwrap_or(1_000_000), options.svg.is_some());
    let progress = Progress::start();
    let mut measured = Vec::new();
    for (i, &num_keys) in sizes.iter().enumerate() {
        progress.show(&format!(
            "measuring {} of {}: {} keys",
            i + 1,
            sizes.len(),
            grouped(num_keys)
        ));
        measured.push(Rates::measure(num_keys));
    }
    progress.clear();
    if let Some(path) = options.svg {
        let error = |error| format!("{}: {error}", path.display());
        fs::write(path, figure::svg(&measured)).map_err(error)?;
    }
    print(&table(&measured))?;
    print(&[""])?;
    for line in levels::table() {
        print(&[line])?;
    }
    Ok(())
}

fn table(measured: &[Rates]) -> Vec<String> {
    let mut lines = vec![
        format!(
            "False positives in %, 10 bits per key, means over {NUM_NEIGHBOURS} neighbouring sizes"
        ),
        format!("{:10}  {:-^26}  {:-^26}", "", " random keys ", " u64 big-endian "),
    ];
    let titles = format!("{:>8}  {:>7}  {:>7}", "LevelDB", "tuned()", "fewer");
    lines.push(format!("{:>10}  {titles}  {titles}", "keys"));
    lines.extend(measured.iter().filter(|rates| rates.is_round()).map(|rates| {
        let [random, counters] = [rates.random, rates.counters].map(columns);
        format!("{:>10}  {random}  {counters}", grouped(rates.num_keys))
    }));
    lines
}

fn columns(Pair { leveldb, tuned }: Pair) -> String {
    let fewer = 100.0 * (1.0 - tuned / leveldb);
    format!("{:>8.3}  {:>7.3}  {fewer:>6.1}%", 100.0 * leveldb, 100.0 * tuned)
}
