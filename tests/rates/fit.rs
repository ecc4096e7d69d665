//! What other constants in `src/bloom/shaping/` would do.
//!
//! Each is changed in a copy of the sources, which is compiled to choose the shapes of filters of
//! random sizes. Where these differ from the crate's, filters of both are measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt, fs};

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{DIGITS, Kind, MORE_STEPS, RANDOM, Run, STEPS};
use crate::common::measure::{Effort, false_positive_rate};
use crate::common::runs::Run as SharedRun;
use crate::common::{drawn, of_any_magnitude};

/// A file, what stands before a value there, the value, and others in its place. With the last the
/// constant is as good as gone.
type Change = (&'static str, &'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const CHANGES: [Change; 42] = [
    ("rate", "_ => ", "1.9 * self", &["1.6 * self", "2.2 * self", "0.0 * self"]),
    ("rate", "let s = ", "2.3", &["2.0", "2.6", "0.0"]),
    ("lattice", "DIFFER_BY_0: f64 = ", "6.6e-6", &["4e-6", "9e-6", "0.0"]),
    ("tuned", "MANY_BITS: u64 = ", "1 << 16", &["3 << 14", "1 << 17", "1 << 40"]),
    ("tuned", "WORTH_A_PROBE: f64 = ", "0.97", &["0.93", "1.0"]),
    ("tuned", "UNWANTED_PROBES: u8 = ", "7", &["8", "31"]),
    ("tuned", "FEW_KEYS: usize = ", "16", &["24", "0"]),
    ("tuned", "leveldb.num_probes <= ", "13", &["8", "30"]),
    ("tuned", "MOST_OF_FEW: u8 = ", "7", &["5", "12"]),
    ("tuned", "matches!(leveldb.num_bytes, ", "14 | 22 | 32 | 33",
        &["22 | 32 | 33", "14 | 32 | 33", "14 | 22 | 33", "14 | 22 | 32"]),
    ("tuned", "FLAW: f64 = ", "0.4", &["0.3", "0.5", "0.0"]),
    ("tuned", "(num_bytes.is_power_of_two(), ", "FLAW", &["0.0"]),
    ("tuned", "matches!(num_probes, ", "2 | 3", &["2", "3", "0"]),
    ("tuned", "is_odd && num_bytes >= ", "1024", &["256", "4096", "1 << 30"]),
    ("tuned", "MINOR: f64 = ", "0.25", &["0.1", "0.35"]),
    ("tuned", "(3, ", "MINOR", &["0.0"]),
    ("tuned", "(5, ", "MINOR", &["0.0"]),
    ("tuned", "(11, ", "MINOR", &["0.0"]),
    ("tuned", "MAJOR: f64 = ", "0.5", &["0.4", "0.7"]),
    ("tuned", "(17, ", "MAJOR", &["0.0"]),
    ("tuned", "(257, ", "MAJOR", &["0.0"]),
    ("tuned", "A_BYTE: f64 = ", "4.2", &["3.0", "6.0", "0.0"]),
    ("tuned", "FLAW_OF_MANY: f64 = ", "0.5", &["1.0", "0.0"]),
    ("tuned", "if is_resonant(num_bytes) { ", "FLAW_OF_MANY", &["0.0"]),
    ("tuned", "if sevenths_meet(num_bytes) { ", "f64::MAX", &["0.0"]),
    ("tuned", "AS_GOOD: f64 = ", "0.1", &["0.3", "0.0"]),
    ("tuned", "(size / ", "15", &["10", "25", "99"]),
    ("tuned", ".clamp(1, ", "3", &["2", "4", "1"]),
    ("tuned", "if longest < ", "256", &["128", "512", "8192"]),
    ("tuned", ".clamp(1, 3) } else { ", "7", &["15", "3"]),
    ("tuned", "let lengths = (0..", "12", &["6", "24", "1"]),
    ("tuned", "(longest >> ", "13", &["11", "15", "63"]),
    ("tuned", "let (mut next_to, mut times) = ([", "480", &["240", "960", "0"]),
    ("tuned", "for next_to in ", "NEXT_TO", &["NEXT_TO.into_iter().take(64)", "[NEXT_TO[0]]"]),
    ("tuned", "matches!(num_bytes, ", "71 | 109", &["0"]),
    ("tuned", "(min_bytes..=min_bytes + ", "7", &["3", "0"]),
    ("tuned", "leveldb_num_probes(millibits / ", "5", &["3", "8"]),
    ("tuned", ".clamp(", "6, 8", &["4, 8", "6, 6", "30, 30"]),
    ("runs", "CERTAIN: f64 = ", "0.95", &["0.9", "1.0"]),
    ("runs", "(num_keys / ", "12", &["6", "24", "2"]),
    ("runs", "num_bytes / ", "24", &["12", "48", "2"]),
    ("runs", "first.into_iter().take(", "3", &["1", "0"]),
];

/// Prints the choices for the sizes and budgets that it reads.
const MAIN: &str = r#"
#![allow(dead_code, unreachable_pub, unused_imports)]
mod bloom {
    mod shape;
    mod shaping;

    pub fn choose(line: &str) {
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        if let [num_keys, millibits, min_bytes, _] = numbers[..] {
            let leveldb = shape::BloomFilterShape::leveldb(num_keys, millibits as u128).unwrap();
            let shape = shaping::tuned(leveldb, num_keys, min_bytes);
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

/// Ratios of new figures to old ones.
#[derive(Default)]
struct Ratios(Vec<f64>);

impl Ratios {
    fn push(&mut self, [old, new]: [f64; 2]) {
        // Otherwise the ratio means little.
        if old > 0.0 && new > 0.0 {
            self.0.push(new / old);
        }
    }
}

/// The mean, each ratio counting alike, and the largest.
impl fmt::Display for Ratios {
    #[expect(clippy::cast_precision_loss, clippy::disallowed_methods, reason = "only printed")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = (self.0.iter().map(|ratio| ratio.ln()).sum::<f64>() / self.0.len() as f64).exp();
        write!(f, "{mean:.3} (at most {:.2})", self.0.iter().copied().fold(0.0, f64::max))
    }
}

/// Of the rates of `kinds` with each pair of shapes, old and new.
fn ratios(kinds: &[&Kind], sizes: &[(usize, [&str; 2])]) -> Ratios {
    let mut ratios = Ratios::default();
    for (num_keys, shapes) in sizes {
        for kind in kinds {
            let mut rates = [0.0; 2];
            for seed in 0..(10_000 / *num_keys as u64).max(1) {
                let run = Run::draw(kind, *num_keys, seed);
                for (rate, shape) in rates.iter_mut().zip(shapes) {
                    let shape = numbers(shape);
                    *rate += run.rate_of_shape(shape[0], u8::try_from(shape[1]).unwrap());
                }
            }
            ratios.push(rates);
        }
    }
    ratios
}

/// Of the numbers of probes, which take time.
fn ratios_of_probes(sizes: &[(usize, [&str; 2])]) -> Ratios {
    let mut ratios = Ratios::default();
    for (_, shapes) in sizes {
        ratios.push(shapes.map(|shape| numbers(shape)[1]));
    }
    ratios
}

/// The sums of rates with the old shares and with the new ones.
fn sums(runs: &[SharedRun], shares: [&str; 2]) -> [f64; 2] {
    let effort = Effort { matches: 2_000, max_lookups: 1 << 18 };
    shares.map(|shares| {
        let rate = |(millibits, run): (i64, &SharedRun)| {
            let millibits = usize::try_from(millibits).ok();
            let policy = millibits.map(BloomFilterPolicy::from_millibits_per_key);
            policy.map_or(1.0, |policy| false_positive_rate(policy.tuned(), run.1, effort).mean)
        };
        numbers(shares).into_iter().zip(runs).map(rate).sum()
    })
}

/// Some of them, evenly spaced, that take a limited time.
fn some_of<T>(all: Vec<T>, num_keys: impl Fn(&T) -> usize) -> Vec<T> {
    let num_keys: usize = all.iter().map(|one| num_keys(one).max(10_000)).sum();
    all.into_iter().step_by(num_keys.div_ceil(1_500_000)).collect()
}

#[test]
#[ignore = "takes minutes with optimization, and runs rustc"]
fn rates_with_smaller_and_larger_constants_are_printed() {
    const NUM_SIZES: usize = 60_000;
    let mut below = drawn(1);
    let mut sizes = vec![];
    for i in 0..NUM_SIZES {
        // A third each of few keys, any number, and any least length.
        let num_keys = match i % 3 {
            0 => 1 + below(100),
            1 => of_any_magnitude(200_000, &mut below),
            _ => 1 + below(40),
        };
        let min_bytes = if i % 3 == 2 { 16 + below(240) } else { 0 };
        sizes.push((num_keys, 4_000 + below(16_001), min_bytes));
    }
    // Lengths next to odd multiples of 2^16 bytes.
    for i in 0..2_000 {
        sizes[30 * i] = (((2 * below(3) + 1) << 16) + below(500), 8_000, 0);
    }
    let mut budgets = vec![];
    for _ in 0..2_000 {
        let mut draw = || (of_any_magnitude(200, &mut below), of_any_magnitude(500, &mut below));
        let runs: Vec<SharedRun> = (0..3).map(|_| draw()).collect();
        let num_keys: usize = runs.iter().map(|run| run.0 * run.1).sum();
        budgets.push((num_keys * (1 + below(16)) / 8, runs));
    }
    let mut questions: Vec<_> = sizes
        .iter()
        .map(|(keys, millibits, least)| format!("{keys} {millibits} {least} 0"))
        .collect();
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
                print!("    {} shapes: ", differ.len());
                let some = some_of(differ, |size| size.0);
                for (name, kinds) in [
                    ("random", &RANDOM[..1].iter().collect::<Vec<_>>()),
                    ("counters", &STEPS.iter().chain(&MORE_STEPS[..2]).collect()),
                    ("digits", &DIGITS.iter().collect()),
                ] {
                    print!("{name} {}, ", ratios(kinds, &some));
                }
                println!("probes {}", ratios_of_probes(&some));
            }
            let differ = budgets.iter().map(|budget| &budget.1).zip(of_budgets.iter().copied());
            let differ: Vec<_> = differ.filter(|(_, [a, b])| a != b).collect();
            if !differ.is_empty() {
                print!("    {} budgets: ", differ.len());
                let some = some_of(differ, |_| 25_000);
                let mut ratios = Ratios::default();
                for (runs, shares) in some {
                    ratios.push(sums(runs, shares));
                }
                println!("{ratios}");
            }
        }
    }
}
