//! Formats the scores as a Markdown table, after a line that says what was timed and where.

use std::process::Command;
use std::{env, fs, thread};

use crate::common::terminal::grouped;
use crate::contest::{ASKED, CREATORS, READERS, Scores};
use crate::options::Options;

pub(crate) fn report(options: &Options, machine: &str, all: &[Scores]) -> Vec<String> {
    let about = format!(
        "Keys of {}, {} bits per key; {machine}:",
        options.key_len.name(),
        options.bits_per_key
    );
    let mut lines = head(about, all.iter().map(|scores| scores.num_keys));
    for (i, creator) in CREATORS.into_iter().enumerate() {
        let label = if i == 0 { format!("{creator}, build") } else { creator.into() };
        lines.push(row(&label, all, |scores| scores.create[i].cell()));
    }
    for (i, reader) in READERS.into_iter().enumerate() {
        for (j, asked) in ASKED.into_iter().enumerate() {
            let label = format!("{reader}, {asked}");
            lines.push(row(&label, all, |scores| scores.lookup[j][i].cell()));
        }
    }
    lines
}

/// The line above a table, and the table's header.
pub(crate) fn head(about: String, sizes: impl Iterator<Item = usize>) -> Vec<String> {
    let sizes: Vec<_> = sizes.map(short).collect();
    let rule = format!("|---|{}", "---|".repeat(sizes.len()));
    vec![about, String::new(), format!("| keys | {} |", sizes.join(" | ")), rule]
}

pub(crate) fn row<T>(label: &str, all: &[T], cell: impl Fn(&T) -> String) -> String {
    format!("| {label} | {} |", all.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

fn short(num_keys: usize) -> String {
    match (num_keys / 1_000_000, num_keys % 1_000_000) {
        (1.., 0) => format!("{} million", num_keys / 1_000_000),
        _ => grouped(num_keys),
    }
}

/// The processor and the versions that the times depend on.
pub(crate) fn machine(leveldb_version: &[u8]) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or(env::consts::ARCH, |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = Command::new(rustc).arg("--version").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let rustc = rustc.unwrap_or_default();
    let rust = rustc.split(' ').nth(1).unwrap_or("of unknown version");
    let leveldb = String::from_utf8_lossy(leveldb_version);
    format!("{model}, {cores} cores, Rust {rust}, LevelDB {leveldb}")
}
