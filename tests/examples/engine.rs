//! A small storage engine, to be read for what it does with filters: `engine/memtable.rs` has one that
//! threads fill, `engine/table.rs` a filter block, and `engine/db.rs` hashes each key once for both
//! and lets the levels share their bytes. Here three engines with other filters are filled, opened
//! again, and asked for every key and as many absent ones; then a filter block is damaged.
//!
//! ```sh
//! cargo run --release --example engine
//! ```

use std::error::Error;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process, thread};

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use db::{Engine, Filters};
use table::NUM_READS;

#[path = "engine/db.rs"]
mod db;
#[path = "engine/memtable.rs"]
mod memtable;
#[path = "engine/table.rs"]
mod table;

const NUM_KEYS: usize = 200_000;
const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);
const CHOICES: [(&str, Filters); 3] = [
    ("as LevelDB", |_| (LEVELDB, 11)),
    ("tuned(), base_lg 19", |_| (LEVELDB.tuned(), 19)),
    ("for_runs(), base_lg 19", |levels| (share(levels), 19)),
];

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::temp_dir().join(format!("leveldb-filter-engine-{}", process::id()));
    let outcome = run(&dir);
    fs::remove_dir_all(&dir)?;
    let (lines, num_lost) = outcome?;
    println!("{}\n{num_lost} keys lost", lines.join("\n"));
    if num_lost == 0 { Ok(()) } else { Err("a storage engine must keep its keys".into()) }
}

/// Returns what to say, and how many keys were lost.
fn run(dir: &Path) -> io::Result<(Vec<String>, usize)> {
    let mut num_lost = 0;
    let mut lines = vec![format!("{:22}  bytes of filters  reads for 1,000 absent keys", "")];
    for (name, filters) in CHOICES {
        let _ = fs::remove_dir_all(dir);
        let engine = Engine::open(dir, filters)?;
        num_lost += fill(&engine, name)?;
        engine.close()?;

        let engine = Engine::open(dir, filters)?;
        num_lost += count_lost(&engine, 0..NUM_KEYS)?;
        NUM_READS.store(0, Ordering::Relaxed);
        num_lost += count_lost(&engine, NUM_KEYS..2 * NUM_KEYS)?;
        let tenths = NUM_READS.load(Ordering::Relaxed) * 10_000 / NUM_KEYS;
        let bytes: usize = engine.of_levels(|table| table.filters_at.len()).iter().sum();
        lines.push(format!("{name:22}  {bytes:>16}  {:>25}.{}", tenths / 10, tenths % 10));
    }
    damage_filters(dir)?;
    let engine = Engine::open(dir, CHOICES[2].1)?;
    let is_caught = engine.of_levels(|table| table.filters_at.is_empty()).contains(&true);
    let not = if is_caught { "" } else { "not " };
    lines.push(format!("512 damaged bytes of filters: {not}caught by their checksum"));
    Ok((lines, num_lost + count_lost(&engine, 0..NUM_KEYS)?))
}

fn damage_filters(dir: &Path) -> io::Result<()> {
    let engine = Engine::open(dir, CHOICES[2].1)?;
    let mut filters = engine.of_levels(|table| (table.path.clone(), table.filters_at.start));
    let (path, start) = filters.pop().expect("the oldest and largest level");
    let mut file = fs::read(&path)?;
    file[start + 1_000..][..512].fill(0);
    fs::write(path, file)
}

/// The best policy for the first level if all share the bytes that LevelDB would take: also those
/// that will be above it one day, each with half the keys of the next.
fn share(levels: &[SortedRun]) -> BloomFilterPolicy {
    let halves = (1..).map(|i| SortedRun { num_filters: levels[0].num_filters >> i, ..levels[0] });
    let mut runs = levels.to_vec();
    runs.extend(halves.take_while(|half| half.num_filters > 0));
    let lens =
        runs.iter().map(|run| run.num_filters * LEVELDB.shape(run.keys_per_filter).filter_len());
    BloomFilterPolicy::for_runs(lens.sum(), &runs)[0].unwrap_or(LEVELDB)
}

/// Two threads write every second key and look up what the other one has just written; then some
/// keys are deleted. Returns how many were not found.
fn fill(engine: &Engine, name: &str) -> io::Result<usize> {
    let last_written = [usize::MAX; 2].map(AtomicUsize::new);
    let write = |thread: usize| -> io::Result<usize> {
        let mut num_lost = 0;
        for i in (thread..NUM_KEYS).step_by(2) {
            engine.put(&key(i), Some(&value(i).unwrap_or_default()))?;
            last_written[thread].store(i, Ordering::Release);
            let other = last_written[1 - thread].load(Ordering::Acquire);
            num_lost += usize::from(other < NUM_KEYS && engine.get(&key(other))?.is_none());
            if i % 2_000 == 0 && io::stderr().is_terminal() {
                eprint!("{name}: key {i} of {NUM_KEYS}\x1b[K\r");
            }
        }
        Ok(num_lost)
    };
    let num_lost = thread::scope(|threads| {
        let other = threads.spawn(|| write(1));
        io::Result::Ok(write(0)? + other.join().expect("no panic")?)
    })?;
    let mut deleted = (0..NUM_KEYS).filter(|i| value(*i).is_none());
    deleted.try_for_each(|i| engine.put(&key(i), None))?;
    Ok(num_lost)
}

/// Looks up all keys of a range, half of them together. Returns how many have another value.
fn count_lost(engine: &Engine, range: Range<usize>) -> io::Result<usize> {
    let mut num_lost = 0;
    for start in range.step_by(1_000) {
        let mut all: Vec<_> = (start..start + 1_000).map(|i| (key(i), value(i))).collect();
        all.sort();
        let keys: Vec<_> = all.iter().map(|(key, _)| key.as_slice()).collect();
        let found = match start % 2_000 {
            0 => engine.multi_get(&keys)?,
            _ => keys.iter().map(|key| engine.get(key)).collect::<io::Result<_>>()?,
        };
        num_lost += all.iter().zip(found).filter(|((_, value), found)| value != found).count();
    }
    Ok(num_lost)
}

/// Without a pattern; from [`NUM_KEYS`] up they are absent.
fn key(i: usize) -> Vec<u8> {
    let mixed = (i as u64 + 1).wrapping_mul(0x9e3779b97f4a7c15);
    format!("{:016x}", (mixed ^ mixed >> 32).wrapping_mul(0xd6e8feb86659fd93)).into_bytes()
}

/// In the end; every tenth key is deleted.
fn value(i: usize) -> Option<Vec<u8>> {
    (i < NUM_KEYS && i % 10 != 0).then(|| format!("{i:0100}").into_bytes())
}
