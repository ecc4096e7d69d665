//! A small annotated storage engine: the filters of the memtable and the levels are in
//! `engine/db.rs`, the filter block of a table in `engine/table.rs`. Here engines with three kinds
//! of filters are filled with two kinds of keys, opened again, and asked; then a filter block is
//! damaged. `cargo run --release --example engine` runs it.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::{env, fs, process, thread};

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use db::{Engine, Filters, table::NUM_READS};

#[path = "engine/db.rs"]
mod db;

const NUM_KEYS: u32 = 100_000;
const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);
const CHOICES: [(&str, Filters); 3] = [
    ("as LevelDB", |_| (LEVELDB, 11)),
    ("tuned(), 512 KiB", |_| (LEVELDB.tuned(), 19)),
    ("for_runs(), 512 KiB", |num_keys| (share(num_keys), 19)),
];
type Keys = fn(u32) -> Vec<u8>; // in the engine, and from NUM_KEYS up absent ones between them
const KEYS: [(&str, Keys); 2] = [
    ("random", |i| format!("{:016x}", scrambled(i)).into_bytes()),
    ("u64, big-endian", |i| number(i).to_be_bytes().to_vec()),
];

fn main() -> io::Result<()> {
    let dir = env::temp_dir().join(format!("leveldb-filter-engine-{}", process::id()));
    let num_lost = run(&dir);
    fs::remove_dir_all(&dir)?;
    let num_lost = num_lost?;
    writeln!(io::stdout(), "{num_lost} keys lost")?;
    if num_lost == 0 { Ok(()) } else { Err(io::Error::other("an engine must keep its keys")) }
}

fn run(dir: &Path) -> io::Result<usize> {
    // Not println!, which panics when its reader has seen enough.
    writeln!(io::stdout(), "{:39}bytes of filters  reads for 1,000 absent keys", "")?;
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
    Ok(num_lost + check(dir, "the same, one block damaged", KEYS[1].1)?)
}

/// Prints what the filters do, and returns how many keys were lost.
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

/// Returns how many keys of a range have another value: by turns 1,000 are asked for together, and
/// 1,000 one by one.
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

/// One of each two numbers, by chance, and from [`NUM_KEYS`] up the other one; not in their order.
fn number(i: u32) -> u64 {
    let pair = u64::from(i % NUM_KEYS) * 77_773 % u64::from(NUM_KEYS);
    let is_second = scrambled(i % NUM_KEYS) >> 63 == u64::from(i < NUM_KEYS);
    2 * pair + u64::from(is_second)
}
