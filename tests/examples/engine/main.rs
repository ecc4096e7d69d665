//! A small annotated storage engine: `db.rs` has the filters of the memtable and the levels,
//! `table.rs` a table's filter block. This file fills engines with two kinds of keys and
//! three kinds of filters, reopens them, looks up all keys, and then damages a filter block. Run it
//! with `cargo run --release --example engine`.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::{env, fs, process, thread};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy, SortedRun};

use db::{Builder, Engine, Filters};
use table::NUM_READS;

mod db;
mod table;

const NUM_KEYS: u32 = 50_000;
const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);
const CHOICES: [(&str, Filters); 3] = [
    ("as LevelDB", |_| FilterBlockBuilder::new(InternalKeyPolicy::new(LEVELDB))),
    ("tuned(), long ranges", |_| long_ranges(LEVELDB.tuned())),
    ("for_runs(), long ranges", |num_keys| long_ranges(share(num_keys))),
];
type Keys = fn(u32) -> Vec<u8>; // those from NUM_KEYS up are absent, between the others
const KEYS: [(&str, Keys); 2] = [
    ("random", |i| format!("{:016x}", scrambled(i)).into_bytes()),
    ("u64, big-endian", |i| number(i).to_be_bytes().to_vec()),
];

fn main() -> ExitCode {
    let dir = env::temp_dir().join(format!("leveldb-filter-engine-{}", process::id()));
    let outcome = run(&dir);
    let _ = fs::remove_dir_all(&dir);
    let error = match outcome {
        Ok(0) => return ExitCode::SUCCESS,
        Ok(_) => "the engine lost keys: please report it".into(),
        // The reader of the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(error) => format!("{error}: files go to {}, unless you set TMPDIR", dir.display()),
    };
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}

fn run(dir: &Path) -> io::Result<usize> {
    // Not println!, which panics if its reader closes the pipe early.
    let title = "keys: filters";
    writeln!(io::stdout(), "{title:39}bytes of filters  reads per 1,000 absent keys")?;
    let mut num_lost = 0;
    for (kind, key) in KEYS {
        for (name, filters) in CHOICES {
            let _ = fs::remove_dir_all(dir);
            num_lost += fill(&Engine::open(dir, filters)?, key)?;
            num_lost += check(dir, &format!("{kind}: {name}"), key)?;
        }
    }
    let mut levels = Engine::open(dir, CHOICES[2].1)?.state.into_inner().unwrap().levels;
    let (number, largest) = levels.pop_first().expect("a level");
    let path = dir.join(number.to_string());
    let mut file = fs::read(&path)?;
    file[largest.filters_at][1_000..1_512].fill(0);
    fs::write(path, file)?;
    num_lost += check(dir, "the same, one block damaged", KEYS[1].1)?;
    writeln!(io::stdout(), "{num_lost} keys lost")?;
    Ok(num_lost)
}

/// Prints the filters' bytes and reads, and returns how many keys were lost.
fn check(dir: &Path, name: &str, key: Keys) -> io::Result<usize> {
    let engine = Engine::open(dir, CHOICES[0].1)?;
    NUM_READS.store(0, Ordering::Relaxed);
    let num_found = count_lost(&engine, key, NUM_KEYS..2 * NUM_KEYS)?;
    let reads = f64::from(NUM_READS.load(Ordering::Relaxed)) / f64::from(NUM_KEYS);
    let levels = &engine.state.read().unwrap().levels;
    let bytes: usize = levels.values().map(|table| table.filters_at.len()).sum();
    writeln!(io::stdout(), "{name:39}{bytes:16}  {:27.1}", reads * 1_000.0)?;
    Ok(num_found + count_lost(&engine, key, 0..NUM_KEYS)?)
}

fn long_ranges(policy: BloomFilterPolicy) -> Builder {
    FilterBlockBuilder::with_long_ranges(InternalKeyPolicy::new(policy))
}

/// The best policy for the first level, if all levels together may have 10 bits per key.
fn share(num_keys: &[usize]) -> BloomFilterPolicy {
    // Before they are built, filters of long ranges are taken to have 5,000 keys.
    let run = |&num_keys: &usize| SortedRun::new(num_keys.div_ceil(5_000), num_keys.min(5_000));
    let runs: Vec<_> = num_keys.iter().map(run).collect();
    let total_len = num_keys.iter().sum::<usize>() * 10 / 8;
    BloomFilterPolicy::for_runs(total_len, &runs)[0].unwrap_or(LEVELDB)
}

/// Two threads write every second key each, and look it up at once; then every tenth key is
/// deleted. Returns how many keys were not found.
fn fill(engine: &Engine, key: Keys) -> io::Result<usize> {
    let write = |first: u32| {
        (first..NUM_KEYS).step_by(2).try_fold(0, |num_lost, i| {
            engine.put(&key(i), Some(key(i).repeat(8)))?;
            io::Result::Ok(num_lost + usize::from(engine.get(&key(i))?.is_none()))
        })
    };
    let num_lost = thread::scope(|threads| {
        let odd = threads.spawn(|| write(1));
        io::Result::Ok(write(0)? + odd.join().expect("no panic")?)
    })?;
    (0..NUM_KEYS).step_by(10).try_for_each(|i| engine.put(&key(i), None))?;
    engine.flush(1).map(|()| num_lost)
}

/// Returns how many keys of a range have a wrong value, looking them up alternately 1,000 at once
/// and 1,000 one by one.
fn count_lost(engine: &Engine, key: Keys, range: Range<u32>) -> io::Result<usize> {
    let is_there = |i| i < NUM_KEYS && i % 10 != 0;
    let mut all: Vec<_> = range.map(|i| (key(i), is_there(i).then(|| key(i).repeat(8)))).collect();
    all.sort();
    all.chunks(1_000).enumerate().try_fold(0, |num_lost, (i, all)| {
        let keys: Vec<_> = all.iter().map(|(key, _)| key.as_slice()).collect();
        let one_by_one = || keys.iter().map(|key| engine.get(key)).collect();
        let found = if i % 2 == 0 { engine.multi_get(&keys) } else { one_by_one() }?;
        Ok(num_lost + all.iter().zip(found).filter(|((_, value), found)| value != found).count())
    })
}

fn scrambled(i: u32) -> u64 {
    u64::from(i + 1).wrapping_mul(0x9e3779b97f4a7c15)
}

/// A random one of every two numbers, and from [`NUM_KEYS`] up the other one, in scrambled order.
fn number(i: u32) -> u64 {
    let pair = u64::from(i % NUM_KEYS) * 77_773 % u64::from(NUM_KEYS);
    let is_second = scrambled(i % NUM_KEYS) >> 63 == u64::from(i < NUM_KEYS);
    2 * pair + u64::from(is_second)
}
