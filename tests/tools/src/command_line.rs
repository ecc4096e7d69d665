//! The command line, and how a command ends.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::database::Group;
use crate::plan::Wish;
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

/// What is printed, and for stderr what goes wrong.
pub(crate) type Report = (Vec<String>, Vec<String>);

/// Finds the tables that paths name, each time anew.
pub(crate) type Find<'a> = dyn Fn() -> Result<Group, String> + 'a;

pub(crate) fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let command = args.next().unwrap_or_default();
    match &*command.to_string_lossy() {
        "inspect" => run(&inspect::HELP, Options::parse(args, &["--tables"]), inspect::report),
        "rewrite" => {
            let options = Options::parse(args, &["--dry-run", "--add", "--bits-per-key"]);
            run(&rewrite::HELP, options, rewrite::rewrite)
        }
        "-h" | "--help" => exit_code(print(&HELP)),
        "--version" => exit_code(print(&[VERSION])),
        "" => refuse(&HELP, "no command is named"),
        other => refuse(&HELP, &format!("unknown command {other:?}")),
    }
}

/// Does what the options say, or prints the help.
fn run(
    help: &[&str],
    options: Result<Option<Options>, String>,
    report: impl Fn(&Find<'_>, &Options) -> Result<Report, String>,
) -> ExitCode {
    let options = match options {
        Ok(Some(options)) => options,
        Ok(None) => return exit_code(print(help)),
        Err(error) => return refuse(help, &error),
    };
    let causes = each_group(&options.paths, print, |find| report(find, &options));
    for cause in &causes {
        complain(cause);
    }
    u8::from(!causes.is_empty()).into()
}

fn refuse(help: &[&str], error: &str) -> ExitCode {
    complain(error);
    help.iter().filter(|line| line.starts_with("usage: ")).for_each(|line| complain(line));
    2.into()
}

fn complain(line: &str) {
    // If stderr is closed, the exit code must suffice.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The line of this program to copy into a shell.
pub(crate) fn line_of(command: &str, path: &str) -> String {
    let program = env::args_os().next().unwrap_or_else(|| "leveldb-filters".into());
    let quoted = |word: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,=".contains(c);
        let is_plain = word.chars().all(is_plain);
        if is_plain { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let dashes = if path.starts_with('-') { " --" } else { "" };
    format!("{} {command}{dashes} {}", quoted(&program.to_string_lossy()), quoted(path))
}

/// Prints what `report` tells of each directory, and of each series of files between directories;
/// returns what goes wrong. If printing fails, all is done and counts nevertheless.
pub(crate) fn each_group(
    paths: &[PathBuf],
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
    report: impl Fn(&Find<'_>) -> Result<Report, String>,
) -> Vec<String> {
    let (mut causes, mut printed) = (Vec::new(), Ok(()));
    let mut is_first = true;
    for paths in paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        match report(&|| Group::of_paths(paths)) {
            Ok((lines, of_group)) => {
                if !lines.is_empty() && !mem::take(&mut is_first) {
                    printed = printed.and_then(|()| print(&[String::new()]));
                }
                printed = printed.and_then(|()| print(&lines));
                causes.extend(of_group);
            }
            Err(cause) => causes.push(cause),
        }
    }
    match printed {
        Err(error) if !is_broken_pipe(&*error) => causes.push(error.to_string()),
        _ => (),
    }
    causes
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Of `inspect`.
    pub(crate) tables: bool,
    /// Of `rewrite`, as what follows.
    pub(crate) dry_run: bool,
    pub(crate) wish: Wish,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    /// Of a command that takes some of the options; `None` if help is asked for. All arguments
    /// after `--` are paths.
    pub(crate) fn parse(
        args: impl IntoIterator<Item = OsString>,
        taken: &[&str],
    ) -> Result<Option<Self>, String> {
        let (mut options, mut only_paths, mut help) = (Self::default(), false, false);
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let is_option = arg.as_encoded_bytes().starts_with(b"-");
            match &*arg.to_string_lossy() {
                "" => return Err("an empty argument is not a file name".into()),
                _ if only_paths || !is_option => options.paths.push(arg.into()),
                "--" => only_paths = true,
                "-h" | "--help" => help = true,
                option => match option.split_once('=') {
                    Some(("--bits-per-key", bits)) if taken.contains(&"--bits-per-key") => {
                        options.set("--bits-per-key", Some(bits.into()))?;
                    }
                    None if taken.contains(&option) => {
                        let value = (option == "--bits-per-key").then(|| args.next()).flatten();
                        options.set(option, value)?;
                    }
                    _ => return Err(format!("unknown option {option}")),
                },
            }
        }
        match options.paths[..] {
            _ if help => Ok(None),
            [] => Err("no database or table is named".into()),
            _ => Ok(Some(options)),
        }
    }

    fn set(&mut self, option: &str, value: Option<OsString>) -> Result<(), String> {
        match option {
            "--tables" => self.tables = true,
            "--dry-run" => self.dry_run = true,
            "--add" => self.wish.adds = true,
            _ => {
                let bits = value.and_then(|value| value.to_str()?.parse().ok());
                let bits = bits.filter(|bits| (1..=100).contains(bits));
                let bits = bits.ok_or("--bits-per-key needs a number from 1 to 100")?;
                self.wish.bits_per_key = Some(bits);
            }
        }
        Ok(())
    }
}
