//! The command line, and how a command ends.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::database::Database;
use crate::inspect::inspect;
use crate::rewrite::rewrite;
use crate::terminal::{exit_code, print};

const VERSION: &str = concat!("leveldb-filters ", env!("CARGO_PKG_VERSION"));
const HELP: [&str; 29] = [
    "usage: leveldb-filters inspect [--] DIR",
    "usage: leveldb-filters rewrite [--dry-run] [--] DIR",
    "DIR is the directory of a LevelDB database, with CURRENT, MANIFEST-* and *.ldb or *.sst.",
    "",
    "inspect says whether its filters are bad, what rewrite would change, and what to do. It",
    "writes nothing. Where a filter lets a key pass that its table lacks, a lookup reads a data",
    "block needlessly. Lookups are those of LevelDB's Get, for up to 20,000 of the keys that have",
    "a value now, and for the missing keys one step behind these: the last byte counts on, with a",
    "carry, digits stay digits and letters letters. Which missing keys a program asks for, nobody",
    "knows. Numbers of fewer than 300 lookups that ask a filter are left out (-), unless there are",
    "no others.",
    "",
    "rewrite gives tables better filters, each for 512 KiB and 4,000 keys or more:",
    "  1. Close the database. One whose LOCK is held is refused, but programs in other containers",
    "     cannot be seen, nor one that opens it meanwhile.",
    "  2. Back it up: cp -a DIR DIR.bak. Hard links are no backup: LevelDB appends to files.",
    "  3. leveldb-filters rewrite DIR. With --dry-run it prints the same, and writes nothing.",
    "Programs need no change, but LevelDB before 1.18 has another hash. Tables that LevelDB writes",
    "later have its own filters again; compacting the whole range undoes all.",
    "Each new file is written beside the old one, synced, read back, compared, and renamed if",
    "nobody has changed the table. Length, owner and mode stay; ACLs, extended attributes and hard",
    "links do not. Tables whose reads would not fall by a twentieth stay, and so do all if one",
    "cannot be read or has filters that only its program knows. It takes memory for the largest",
    "table four times.",
    "",
    "Exit status: 0 done, whatever the verdict; 2 wrong usage;",
    "             1 no database, or it is open or changes; a table cannot be read or written, or",
    "               its filters are damaged or hide its keys.",
    "leveldb-filters --version says which this is.",
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Version,
    Inspect(PathBuf),
    Rewrite { directory: PathBuf, is_dry: bool },
}

pub(crate) fn main() -> ExitCode {
    let (directory, dry_run) = match Request::parse(env::args_os().skip(1)) {
        Ok(Request::Help) => return exit_code(print(&HELP)),
        Ok(Request::Version) => return exit_code(print(&[VERSION])),
        Ok(Request::Inspect(directory)) => (directory, None),
        Ok(Request::Rewrite { directory, is_dry }) => (directory, Some(is_dry)),
        Err(error) => {
            complain(&error);
            HELP[..2].iter().for_each(|line| complain(line));
            return 2.into();
        }
    };
    let open = || Database::open(&directory);
    match dry_run.map_or_else(|| inspect(&open), |is_dry| rewrite(&open, is_dry)) {
        Err(error) => exit_code(Err(error.into())),
        // What was done counts, though nobody reads of it.
        Ok(report) => match exit_code(print(&report.lines)) {
            ExitCode::SUCCESS => u8::from(report.is_bad).into(),
            failure => failure,
        },
    }
}

fn complain(line: &str) {
    // If stderr is closed, the exit code must suffice.
    let _ = writeln!(io::stderr(), "{line}");
}

impl Request {
    /// All arguments after `--` are paths.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let (mut words, mut is_dry, mut only_paths) = (Vec::new(), false, false);
        for arg in args {
            match &*arg.to_string_lossy() {
                "" => return Err("an empty argument is no directory".into()),
                "--" if !only_paths => only_paths = true,
                "--dry-run" if !only_paths => is_dry = true,
                "-h" | "--help" if !only_paths => return Ok(Self::Help),
                "--version" if !only_paths => return Ok(Self::Version),
                option if option.starts_with('-') && !only_paths => {
                    return Err(format!("unknown option {option}"));
                }
                _ => words.push(arg),
            }
        }
        let mut words = words.into_iter();
        let command = words.next().ok_or("no command is named")?;
        let directory = words.next().map(PathBuf::from).ok_or("no database is named");
        if words.next().is_some() {
            return Err("name one database at a time".into());
        }
        match &*command.to_string_lossy() {
            "inspect" if is_dry => Err("inspect has no --dry-run: it writes nothing".into()),
            "inspect" => Ok(Self::Inspect(directory?)),
            "rewrite" => Ok(Self::Rewrite { directory: directory?, is_dry }),
            other => Err(format!("unknown command {other:?}")),
        }
    }
}
