//! The scores as a table in Markdown, below a line that says what was timed and where.

use std::process::Command;
use std::{env, fs, thread};

use crate::contest::{ASKED, CREATORS, READERS, Scores};
use crate::options::Options;
use crate::race::Score;
use crate::terminal::grouped;

pub(crate) fn report(options: &Options, machine: &str, all: &[Scores]) -> Vec<String> {
    let sizes = all.iter().map(|scores| short(scores.num_keys));
    let mut lines = vec![
        format!(
            "Keys of {}, {} bits per key; {machine}:",
            options.key_len.name(),
            options.bits_per_key
        ),
        String::new(),
        format!("| keys | {} |", sizes.collect::<Vec<_>>().join(" | ")),
        format!("|---|{}", "---|".repeat(all.len())),
    ];
    for (i, creator) in CREATORS.into_iter().enumerate() {
        let label = if i == 0 { format!("{creator}, a filter") } else { creator.into() };
        lines.push(row(&label, all, |scores| scores.create[i]));
    }
    for (i, reader) in READERS.into_iter().enumerate() {
        for (j, asked) in ASKED.into_iter().enumerate() {
            let label = if j == 0 { format!("{reader}, {asked}") } else { asked.into() };
            lines.push(row(&label, all, |scores| scores.lookup[j][i]));
        }
    }
    lines
}

fn row(label: &str, all: &[Scores], score: impl Fn(&Scores) -> Score) -> String {
    let cell = |scores| {
        let Score { ratio, best } = score(scores);
        format!("{ratio:.2} ({best:.1})")
    };
    format!("| {label} | {} |", all.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

fn short(num_keys: usize) -> String {
    match (num_keys / 1_000_000, num_keys % 1_000_000) {
        (1.., 0) => format!("{} million", num_keys / 1_000_000),
        _ => grouped(num_keys),
    }
}

/// What the times depend on, as far as the machine tells.
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
