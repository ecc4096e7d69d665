//! Measures the false-positive rates of filters with 10 bits per key, and those of levels that share
//! the bytes of such filters.
//!
//! ```sh
//! cargo run --release --example accuracy [-- [--full] [SVG]]
//! ```

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use rates::{POLICY, Rates};
use terminal::{Progress, exit_code, grouped, print};

#[path = "accuracy/figure.rs"]
mod figure;
#[path = "accuracy/levels.rs"]
mod levels;
#[path = "../common/measure.rs"]
mod measure;
#[path = "../common/random.rs"]
mod random;
#[path = "accuracy/rates.rs"]
mod rates;
#[path = "../common/svg.rs"]
mod svg;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str = "usage: accuracy [--full] [SVG]";
const HELP: [&str; 3] = [
    "Measures false-positive rates with 10 bits per key, and draws them to SVG",
    "  --full  measures up to 10 million keys instead of 1 million",
    "  SVG     the figure's file, of which the name ends in .svg",
];

struct Options<'a> {
    full: bool,
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
    let mut options = Options { full: false, svg: None };
    for arg in args {
        let path = Path::new(arg);
        if arg == "--full" && !options.full {
            options.full = true;
        } else if path.extension().is_some_and(|end| end == "svg") && options.svg.is_none() {
            options.svg = Some(path);
        } else {
            return Err(USAGE.into());
        }
    }
    Ok(options)
}

fn report(options: &Options<'_>) -> Result<(), Box<dyn Error>> {
    let sizes = rates::sizes(options.full, options.svg.is_some());
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
        "False positives in %, 10 bits per key; LevelDB says 1%, the textbook 0.844%".into(),
        format!("{:10}  {:>8}  {:-^32}", "", "LevelDB's", " tuned() "),
        format!(
            "{:>10}  {:>8}  {:>6}  {:>6}  {:>6}  {:>6}",
            "keys", "6 probes", "bytes", "probes", "", "fewer"
        ),
    ];
    lines.extend(measured.iter().filter(|rates| rates.is_round()).map(row));
    lines
}

fn row(rates: &Rates) -> String {
    let num_keys = rates.num_keys;
    let (leveldb_shape, shape) = (POLICY.shape(num_keys), POLICY.tuned().shape(num_keys));
    let shorter = leveldb_shape.filter_len() - shape.filter_len();
    let bytes = if shorter == 0 { "same".into() } else { format!("-{shorter}") };
    format!(
        "{:>10}  {:>8.3}  {bytes:>6}  {:>6}  {:>6.3}  {:>5.1}%",
        grouped(num_keys),
        100.0 * rates.leveldb,
        shape.num_probes(),
        100.0 * rates.tuned,
        100.0 * (1.0 - rates.tuned / rates.leveldb)
    )
}
