//! A small storage engine, to be read for what it does with filters: those of the memtable and the
//! levels are in `engine/db.rs`, the filter block of a table in `engine/table.rs`. Here engines with
//! three kinds of filters are filled, opened again, and asked; then a filter block is damaged.
//!
//! ```sh
//! cargo run --release --example engine
//! ```

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::{env, fs, process, thread};

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use db::{Engine, Filters, table::NUM_READS};

#[path = "engine/db.rs"]
mod db;

const NUM_KEYS: u32 = 200_000;
const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);
const CHOICES: [(&str, Filters); 3] = [
    ("as LevelDB", |_| (LEVELDB, 11)),
    ("tuned(), base_lg 19", |_| (LEVELDB.tuned(), 19)),
    ("for_runs(), base_lg 19", |num_keys| (share(num_keys), 19)),
];

fn main() -> io::Result<()> {
    let dir = env::temp_dir().join(format!("leveldb-filter-engine-{}", process::id()));
    let num_lost = run(&dir);
    fs::remove_dir_all(&dir)?;
    let num_lost = num_lost?;
    writeln!(io::stdout(), "{num_lost} keys lost")?;
    if num_lost == 0 { Ok(()) } else { Err(io::Error::other("an engine must keep its keys")) }
}

/// Returns how many keys were lost.
fn run(dir: &Path) -> io::Result<usize> {
    // Not println!, which panics when its reader has seen enough.
    writeln!(io::stdout(), "{:22}  bytes of filters  reads for 1,000 absent keys", "")?;
    let mut num_lost = 0;
    for (name, filters) in CHOICES {
        let _ = fs::remove_dir_all(dir);
        eprintln!("{name}: writing {NUM_KEYS} keys");
        num_lost += fill(&Engine::open(dir, filters)?)? + check(dir, name)?;
    }
    let mut levels = Engine::open(dir, CHOICES[2].1)?.state.into_inner().unwrap().levels;
    let (number, largest) = levels.pop_first().expect("a level");
    let path = dir.join(number.to_string());
    let mut file = fs::read(&path)?;
    file[largest.filters_at][1_000..1_512].fill(0);
    fs::write(path, file)?;
    Ok(num_lost + check(dir, "one block damaged")?)
}

/// Opens the engine, prints what its filters do, and returns how many keys were lost.
fn check(dir: &Path, name: &str) -> io::Result<usize> {
    let engine = Engine::open(dir, CHOICES[0].1)?;
    NUM_READS.store(0, Ordering::Relaxed);
    let num_found = count_lost(&engine, NUM_KEYS..2 * NUM_KEYS)?;
    let reads = f64::from(NUM_READS.load(Ordering::Relaxed)) / f64::from(NUM_KEYS);
    let levels = &engine.state.read().unwrap().levels;
    let bytes: usize = levels.values().map(|table| table.filters_at.len()).sum();
    writeln!(io::stdout(), "{name:22}  {bytes:16}  {:27.1}", reads * 1_000.0)?;
    Ok(num_found + count_lost(&engine, 0..NUM_KEYS)?)
}

/// The best policy for the first level, if all levels may have 9 bits for a key in the mean.
fn share(num_keys: &[usize]) -> BloomFilterPolicy {
    // In 2^19 bytes of data blocks are some 3,800 keys, which share a filter.
    let run = |num_filters| SortedRun::new(num_filters, 3_800);
    let runs: Vec<_> = num_keys.iter().map(|keys| run(keys.div_ceil(3_800))).collect();
    let total_len = num_keys.iter().sum::<usize>() * 9 / 8;
    BloomFilterPolicy::for_runs(total_len, &runs)[0].unwrap_or(LEVELDB)
}

/// Two threads write every second key and look it up at once; then every tenth is deleted. Returns
/// how many were not found.
fn fill(engine: &Engine) -> io::Result<usize> {
    let write = |first: u32| {
        (first..NUM_KEYS).step_by(2).try_fold(0, |num_lost, i| {
            engine.put(&key(i), Some(key(i).repeat(6)))?;
            io::Result::Ok(num_lost + usize::from(engine.get(&key(i))?.is_none()))
        })
    };
    let num_lost = thread::scope(|threads| {
        let odd = threads.spawn(|| write(1));
        io::Result::Ok(write(0)? + odd.join().expect("no panic")?)
    })?;
    (0..NUM_KEYS).step_by(10).try_for_each(|i| engine.put(&key(i), None))?;
    engine.flush(1)?;
    Ok(num_lost)
}

/// Returns how many keys of a range have another value: by turns 1,000 are asked for together, and
/// 1,000 one by one.
fn count_lost(engine: &Engine, range: Range<u32>) -> io::Result<usize> {
    let is_there = |i| i < NUM_KEYS && i % 10 != 0;
    let mut all: Vec<_> = range.map(|i| (key(i), is_there(i).then(|| key(i).repeat(6)))).collect();
    all.sort();
    all.chunks(1_000).enumerate().try_fold(0, |num_lost, (i, all)| {
        let keys: Vec<_> = all.iter().map(|(key, _)| key.as_slice()).collect();
        let one_by_one = || keys.iter().map(|key| engine.get(key)).collect();
        let found = if i % 2 == 0 { engine.multi_get(&keys) } else { one_by_one() }?;
        Ok(num_lost + all.iter().zip(found).filter(|((_, value), found)| value != found).count())
    })
}

/// Without a pattern; from [`NUM_KEYS`] up they are absent.
fn key(i: u32) -> Vec<u8> {
    format!("{:016x}", u64::from(i + 1).wrapping_mul(0x9e3779b97f4a7c15)).into_bytes()
}
