//! The command line, and how a command ends.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::iter;
use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::terminal::{exit_code, is_broken_pipe, print};
use crate::{inspect, rewrite};

const VERSION: &str = concat!("leveldb-filters ", env!("CARGO_PKG_VERSION"));
const HELP: [&str; 5] = [
    "A filter is a few bytes in memory that tell which keys a table cannot have. Where it fails,",
    "lookups read blocks needlessly.",
    "usage: leveldb-filters inspect DIR   how often those of a database do",
    "usage: leveldb-filters rewrite DIR   gives a closed database better filters",
    "`leveldb-filters inspect --help` and `leveldb-filters rewrite --help` have the options.",
];

pub(crate) fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let command = args.next().unwrap_or_default();
    match &*command.to_string_lossy() {
        "inspect" => run(&inspect::HELP, inspect::Options::parse(args), |of| inspect::run(&of)),
        "rewrite" => run(&rewrite::HELP, rewrite::Options::parse(args), |of| rewrite::run(&of)),
        "-h" | "--help" => exit_code(print(&HELP)),
        "--version" => exit_code(print(&[VERSION])),
        other => run(&HELP, Err(format!("unknown command {other:?}")), |()| Outcome::default()),
    }
}

/// Does what the options say, or prints the help, of which the lines of usage follow an error.
fn run<O>(
    help: &[&str],
    options: Result<Option<O>, String>,
    work: impl FnOnce(O) -> Outcome,
) -> ExitCode {
    let Outcome { exit_status, causes } = match options {
        Ok(Some(options)) => work(options),
        Ok(None) => return exit_code(print(help)),
        Err(error) => {
            let usage = help.iter().filter(|line| line.starts_with("usage: "));
            let causes = iter::once(error).chain(usage.map(ToString::to_string));
            Outcome { exit_status: 2, causes: causes.collect() }
        }
    };
    for cause in causes {
        // If stderr is closed, the exit code must suffice.
        let _ = writeln!(io::stderr(), "{cause}");
    }
    exit_status.into()
}

/// The line of this program to copy into a shell.
pub(crate) fn command(command: &str, path: &str) -> String {
    let program = env::args().next().unwrap_or_else(|| "leveldb-filters".into());
    let quoted = |word: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,=~".contains(c);
        let is_plain = word.chars().all(is_plain) && !word.starts_with(['-', '~']);
        if is_plain { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let dashes = if path.starts_with('-') { " --" } else { "" };
    format!("{} {command}{dashes} {}", quoted(&program), quoted(path))
}

/// What is printed, and what goes wrong.
pub(crate) type Report = (Vec<String>, Outcome);

/// Prints what `report` tells of each directory, and of each series of files between directories.
/// If printing fails, all is done and counts nevertheless.
pub(crate) fn each_group<G>(
    paths: &[PathBuf],
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
    read: impl Fn(&[PathBuf]) -> Result<G, String>,
    report: impl Fn(&dyn Fn() -> Result<G, String>) -> Result<Report, String>,
) -> Outcome {
    let (mut outcome, mut printed) = (Outcome::default(), Ok(()));
    let mut is_first = true;
    for paths in paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        match report(&|| read(paths)) {
            Ok((lines, of_group)) => {
                if !lines.is_empty() && !mem::take(&mut is_first) {
                    printed = printed.and_then(|()| print(&[String::new()]));
                }
                printed = printed.and_then(|()| print(&lines));
                outcome.add(of_group);
            }
            Err(cause) => outcome.add(Outcome::failure(cause)),
        }
    }
    match printed {
        Err(error) if !is_broken_pipe(&*error) => outcome.add(Outcome::failure(error.to_string())),
        _ => (),
    }
    outcome
}

/// The arguments that are paths, all after `--` among them; `None` if help is asked for. `set`
/// takes the other options, and their values if they have some.
pub(crate) fn paths(
    args: impl IntoIterator<Item = OsString>,
    mut set: impl FnMut(&str, &mut dyn Iterator<Item = OsString>) -> Result<(), String>,
) -> Result<Option<Vec<PathBuf>>, String> {
    let (mut paths, mut only_paths, mut help) = (Vec::new(), false, false);
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let is_option = arg.as_encoded_bytes().starts_with(b"-");
        match &*arg.to_string_lossy() {
            "" => return Err("an empty argument is not a file name".into()),
            _ if only_paths || !is_option => paths.push(arg.into()),
            "--" => only_paths = true,
            "-h" | "--help" => help = true,
            option => match option.split_once('=') {
                None => set(option, &mut args)?,
                Some((name, value)) => {
                    let mut value = iter::once(value.into());
                    set(name, &mut value)?;
                    value.next().map_or(Ok(()), |_| Err(unknown(option)))?;
                }
            },
        }
    }
    match paths[..] {
        _ if help => Ok(None),
        [] => Err("no database or table is named".into()),
        _ => Ok(Some(paths)),
    }
}

pub(crate) fn unknown(option: &str) -> String {
    format!("unknown option {option}")
}

/// What went wrong, if anything did.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// As the help says.
    pub(crate) exit_status: u8,
    /// For stderr.
    pub(crate) causes: Vec<String>,
}

impl Outcome {
    pub(crate) fn failure(cause: String) -> Self {
        Self { exit_status: 1, causes: vec![cause] }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.fail(other.exit_status);
        self.causes.extend(other.causes);
    }

    pub(crate) fn fail(&mut self, exit_status: u8) {
        if self.exit_status != 1 && exit_status != 0 {
            self.exit_status = exit_status;
        }
    }
}
