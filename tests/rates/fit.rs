//! What other constants in `src/bloom/shaping/` would do.
//!
//! Each is changed in a copy of the sources, which is compiled to choose the shapes of filters of
//! random sizes. Where these differ from the crate's, filters of both are measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{COUNTERS, DIGITS, Kind, RANDOM, Run};
use crate::common::measure::{Effort, false_positive_rate};
use crate::common::runs::Run as SharedRun;
use crate::common::{drawn, of_any_magnitude};

/// A file, what stands before a value there, the value, and others in its place.
type Change = (&'static str, &'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const CHANGES: [Change; 25] = [
    ("rate", "_ => ", "1.9 * self", &["1.7 * self", "2.1 * self"]),
    ("rate", "let s = ", "2.3", &["2.0", "2.6"]),
    ("lattice", "DIFFER_BY_0: f64 = ", "6.6e-6", &["6.0e-6", "7.3e-6"]),
    ("tuned", "MANY_BITS: u64 = ", "1 << 16", &["3 << 14", "1 << 17"]),
    ("tuned", "WORTH_A_PROBE: f64 = ", "0.97", &["0.93", "1.0"]),
    ("tuned", "UNWANTED_PROBES: u8 = ", "7", &["31"]),
    ("tuned", "FLAWED: f64 = ", "0.25", &["0.0", "0.3"]),
    ("tuned", "MOST_IF_FLAWED: u8 = ", "13", &["0", "30"]),
    ("tuned", "FLAW: f64 = ", "0.4", &["0.3", "0.5"]),
    ("tuned", "(3, ", "0.25", &["0.1", "0.35"]),
    ("tuned", "(5, ", "0.25", &["0.1", "0.35"]),
    ("tuned", "(11, ", "0.28", &["0.0", "0.4"]),
    ("tuned", "(17, ", "0.5", &["0.3", "0.7"]),
    ("tuned", "(257, ", "0.5", &["0.0", "0.9"]),
    ("tuned", "A_BYTE: f64 = ", "4.2", &["3.0", "6.0"]),
    ("tuned", "FLAW_OF_MANY: f64 = ", "0.5", &["0.0", "1.0"]),
    ("tuned", "AS_GOOD: f64 = ", "0.1", &["0.0", "0.3"]),
    ("tuned", "(size / ", "15", &["10", "25"]),
    ("tuned", ".clamp(1, ", "3", &["2", "4"]),
    ("tuned", ".clamp(1, 3) } else { ", "7", &["3", "15"]),
    ("tuned", "let candidates = (0..", "12", &["6", "24"]),
    ("tuned", "let (mut next_to, mut times) = ([", "480", &["240", "960"]),
    ("runs", "CERTAIN: f64 = ", "0.95", &["0.9", "1.0"]),
    ("runs", "num_bytes / ", "24", &["12", "48"]),
    ("runs", "first.into_iter().take(", "3", &["0", "1"]),
];

/// Prints the choices for the sizes and budgets that it reads.
const MAIN: &str = r#"
#![allow(dead_code, unreachable_pub, unused_imports)]
mod bloom {
    mod shape;
    mod shaping;

    pub fn choose(line: &str) {
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        if let [num_keys, millibits] = numbers[..] {
            let leveldb = shape::BloomFilterShape::leveldb(num_keys, millibits as u128).unwrap();
            let shape = shaping::tuned(leveldb, num_keys, 0);
            return println!("{} {}", shape.num_bytes, shape.num_probes);
        }
        let run = |run: &[usize]| shaping::SortedRun::new(run[0], run[1]);
        let runs: Vec<_> = numbers[1..].chunks(2).map(run).collect();
        for millibits in shaping::millibits_for_runs(numbers[0], &runs) {
            print!("{} ", millibits.map_or(-1, |millibits| millibits as i64));
        }
        println!();
    }
}
fn main() {
    std::io::stdin().lines().for_each(|line| bloom::choose(&line.unwrap()));
}
"#;

/// Compiles the sources, in `file` with `new` in place of `old`, and returns the answers to
/// `questions`.
fn answers(file: &str, [old, new]: [String; 2], questions: &Path) -> Vec<String> {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fit");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bloom");
    fs::create_dir_all(dir.join("bloom/shaping")).unwrap();
    fs::write(dir.join("main.rs"), MAIN).unwrap();
    for name in ["shape", "shaping"] {
        fs::copy(
            from.join(name).with_extension("rs"),
            dir.join("bloom").join(name).with_extension("rs"),
        )
        .unwrap();
    }
    for name in ["lattice", "rate", "runs", "sizing", "tuned"] {
        let path = Path::new("shaping").join(name).with_extension("rs");
        let mut source = fs::read_to_string(from.join(&path)).unwrap();
        if name == file {
            assert_eq!(source.matches(&old).count(), 1, "{old} in {name}.rs");
            source = source.replace(&old, &new);
        }
        fs::write(dir.join("bloom").join(path), source).unwrap();
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let arguments = ["-O", "--edition=2024", "--cap-lints=allow", "main.rs", "-o", "main"];
    assert!(Command::new(rustc).args(arguments).current_dir(&dir).status().unwrap().success());
    let stdin = fs::File::open(questions).unwrap();
    let output = Command::new(dir.join("main")).stdin(stdin).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn numbers<T: std::str::FromStr>(line: &str) -> Vec<T> {
    line.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// The mean rate with the new shapes over that with the old ones; each size counts alike.
fn ratio(kinds: &[Kind], sizes: &[(usize, [&str; 2])]) -> f64 {
    let mut logs = vec![];
    for (num_keys, shapes) in sizes {
        let mut rates = [0.0; 2];
        for kind in kinds {
            for seed in 0..(30_000 / *num_keys as u64).max(2) {
                let run = Run::draw(kind, *num_keys, seed);
                for (rate, shape) in rates.iter_mut().zip(shapes) {
                    let shape = numbers(shape);
                    *rate += run.rate_of_shape(shape[0], u8::try_from(shape[1]).unwrap());
                }
            }
        }
        // Otherwise the ratio means little.
        if rates[0] > 0.0 && rates[1] > 0.0 {
            logs.push((rates[1] / rates[0]).ln());
        }
    }
    mean_of_logs(&logs)
}

#[expect(clippy::cast_precision_loss, clippy::disallowed_methods, reason = "only printed")]
fn mean_of_logs(logs: &[f64]) -> f64 {
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

/// The sum of rates with the new shares over that with the old ones.
fn ratio_of_shares(runs: &[SharedRun], shares: [&str; 2]) -> f64 {
    let effort = Effort { matches: 2_000, max_lookups: 1 << 18 };
    let [old, new] = shares.map(|shares| {
        let rate = |(millibits, run): (i64, &SharedRun)| {
            let millibits = usize::try_from(millibits).ok();
            let policy = millibits.map(BloomFilterPolicy::from_millibits_per_key);
            policy.map_or(1.0, |policy| false_positive_rate(policy.tuned(), run.1, effort).mean)
        };
        numbers(shares).into_iter().zip(runs).map(rate).sum::<f64>()
    });
    new / old
}

/// At most 60, evenly spaced.
fn some_of<T: Copy>(all: &[T]) -> Vec<T> {
    all.iter().copied().step_by(all.len().div_ceil(60)).collect()
}

#[test]
#[ignore = "takes minutes with optimization, and runs rustc"]
fn rates_with_smaller_and_larger_constants_are_printed() {
    const NUM_SIZES: usize = 60_000;
    let mut below = drawn(1);
    let mut sizes = vec![];
    for i in 0..NUM_SIZES {
        let num_keys =
            if i % 3 == 0 { 1 + below(100) } else { of_any_magnitude(200_000, &mut below) };
        sizes.push((num_keys, 4_000 + below(10_001)));
    }
    let mut budgets = vec![];
    for _ in 0..2_000 {
        let mut draw = || (of_any_magnitude(200, &mut below), of_any_magnitude(500, &mut below));
        let runs: Vec<SharedRun> = (0..3).map(|_| draw()).collect();
        let num_keys: usize = runs.iter().map(|run| run.0 * run.1).sum();
        budgets.push((num_keys * (1 + below(16)) / 8, runs));
    }
    let mut questions: Vec<_> =
        sizes.iter().map(|(num_keys, millibits)| format!("{num_keys} {millibits}")).collect();
    questions.extend(budgets.iter().map(|(budget, runs)| {
        let runs = runs.iter().map(|(filters, keys)| format!(" {filters} {keys}"));
        format!("{budget}{}", runs.collect::<String>())
    }));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fit.txt");
    fs::write(&path, questions.join("\n")).unwrap();
    let base = answers("", [const { String::new() }; 2], &path);
    println!("Where shapes of {NUM_SIZES} differ, rates of random keys, counters, digits and hex");
    for (file, before, value, others) in CHANGES {
        for other in others {
            let change = [value, other].map(|value| format!("{before}{value}"));
            println!("{}", change[1]);
            let changed = answers(file, change, &path);
            let pairs: Vec<_> = base.iter().zip(&changed).map(|(a, b)| [&a[..], b]).collect();
            let (of_sizes, of_budgets) = pairs.split_at(NUM_SIZES);
            let differ = sizes.iter().map(|size| size.0).zip(of_sizes.iter().copied());
            let differ: Vec<_> = differ.filter(|(_, [a, b])| a != b).collect();
            if !differ.is_empty() {
                let some = some_of(&differ);
                let ratios =
                    [&RANDOM[..1], &COUNTERS[..], &DIGITS[..]].map(|kinds| ratio(kinds, &some));
                println!("    {} shapes: {ratios:.3?}", differ.len());
            }
            let differ = budgets.iter().map(|budget| &budget.1).zip(of_budgets.iter().copied());
            let differ: Vec<_> = differ.filter(|(_, [a, b])| a != b).collect();
            if !differ.is_empty() {
                let ratios = some_of(&differ).into_iter();
                let logs: Vec<_> =
                    ratios.map(|(runs, shares)| ratio_of_shares(runs, shares).ln()).collect();
                println!("    {} budgets: {:.3}", differ.len(), mean_of_logs(&logs));
            }
        }
    }
}
