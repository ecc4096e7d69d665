//! LevelDB's own `Get` in two databases of the same tables: one with LevelDB's filters, one with
//! this crate's in their place.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use leveldb_filter::BloomFilterPolicy;

use crate::common::table::Table;
use crate::contest::{nanoseconds, number};
use crate::database::{TempPath, exchange_filter_block, tables};
use crate::keys::hashes;
use crate::options::Options;
use crate::process::{LevelDb, Request};
use crate::race::{Contender, Score, as_f64, race};
use crate::random::words;
use crate::report::{head, row};
use crate::terminal::grouped;

const BASE_LG: u8 = 19;
const VALUE_LEN: usize = 100;

/// Of each value; the rest repeats them, so that values compress to half as in LevelDB's `db_bench`.
const RANDOM_BYTES: usize = VALUE_LEN / 2;

/// LevelDB's defaults; the first three are in bytes.
const WRITE_BUFFER_SIZE: u32 = 4 << 20;
const MAX_FILE_SIZE: u32 = 2 << 20;
const BLOCK_SIZE: u32 = 4 << 10;
const RESTART_INTERVAL: u32 = 16;
const SNAPPY: u32 = 1;

/// The number of keys looked up in a pass: few enough for most passes to run undisturbed.
const LOOKUPS: usize = 10_000;

const KEY_SEED: u64 = 1;
const VALUE_SEED: u64 = 2;
const ORDER_SEED: u64 = 3;
const LOOKUP_SEED: u64 = 4;

const DATABASES: [u32; 2] = [0, 1];

/// Results for databases of this number of keys: with LevelDB's filters, and with this crate's.
#[derive(Debug)]
pub(crate) struct Gets {
    num_keys: usize,
    absent: [Score; 2],
    present: [Score; 2],
    /// How many data blocks are read by looking up every absent key once.
    num_reads: [usize; 2],
    /// The bytes of all tables' filter blocks.
    filter_block_len: [usize; 2],
}

impl Gets {
    pub(crate) fn measure(num_keys: usize, options: &Options, leveldb: &mut LevelDb) -> Self {
        let [present, absent] = counters(num_keys);
        let noise = words(VALUE_SEED).flat_map(u64::to_le_bytes);
        let noise: Vec<u8> = noise.take(num_keys * RANDOM_BYTES).collect();
        let repeat = |random: &[u8]| random.repeat(VALUE_LEN / RANDOM_BYTES);
        let values: Vec<_> = noise.chunks(RANDOM_BYTES).map(repeat).collect();

        let paths = [TempPath::new(), TempPath::new()];
        let bits_per_key = options.bits_per_key.into();
        let request = Request::new(b'd').string(paths[0].as_bytes()).u32(0);
        let request = with_options(request.u32(WRITE_BUFFER_SIZE).u32(MAX_FILE_SIZE), bits_per_key);
        leveldb.ask(&request.strings(&present).strings(&values));
        copy(&paths);
        for table in tables(&paths[1].0) {
            let policy = BloomFilterPolicy::new(options.bits_per_key.into()).tuned();
            exchange_filter_block(&table, policy, BASE_LG);
        }

        let num_reads = paths.each_ref().map(|path| {
            let request = Request::new(b'r').string(path.as_bytes());
            let request = with_options(request, bits_per_key).strings(&present).strings(&values);
            let answer = leveldb.ask(&request.strings(&absent));
            let (found, num_reads) = answer.split_last_chunk().expect("a number at the end");
            let (found, found_absent) = found.split_at(num_keys);
            assert!(found.iter().all(|&found| found == 1), "a key is lost");
            assert!(found_absent.iter().all(|&found| found == 0), "an absent key is found");
            usize::try_from(u64::from_le_bytes(*num_reads)).expect("fits")
        });
        for (index, path) in DATABASES.into_iter().zip(&paths) {
            leveldb.ask(&Request::new(b'O').u32(index).string(path.as_bytes()));
        }
        Self {
            num_keys,
            absent: time(&absent, 0, options.rounds, leveldb),
            present: time(&present, LOOKUPS as u64, options.rounds, leveldb),
            num_reads,
            // Measured after the lookups: LevelDB has not rewritten any table.
            filter_block_len: paths
                .map(|path| tables(&path.0).iter().map(|table| filter_block_len(table)).sum()),
        }
    }
}

/// A random half of the first `2 * num_keys` counters, and the other half.
fn counters(num_keys: usize) -> [Vec<[u8; 8]>; 2] {
    let mut halves = [const { Vec::new() }; 2];
    for (counter, word) in (0..2 * num_keys as u64).zip(words(KEY_SEED)) {
        let wanted = num_keys - halves[0].len();
        let is_absent = word % (2 * num_keys as u64 - counter) >= wanted as u64;
        halves[usize::from(is_absent)].push(counter.to_be_bytes());
    }
    halves
}

fn with_options(request: Request, bits_per_key: u32) -> Request {
    request.u32(bits_per_key).u32(BLOCK_SIZE).u32(RESTART_INTERVAL).u32(SNAPPY)
}

fn copy([from, to]: &[TempPath; 2]) {
    fs::create_dir(&to.0).unwrap();
    for entry in fs::read_dir(&from.0).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.0.join(entry.file_name())).unwrap();
    }
}

/// Looks up keys in both databases in turns, `num_found` in each pass being present. Passes use
/// different keys, whose blocks are not yet in the processor's caches.
fn time(keys: &[[u8; 8]], num_found: u64, rounds: usize, leveldb: &mut LevelDb) -> [Score; 2] {
    let leveldb = RefCell::new(leveldb);
    let contenders = DATABASES.map(|database| -> Contender<'_> {
        let leveldb = &leveldb;
        let mut drawn = hashes(LOOKUP_SEED).map(|hash| keys[hash as usize % keys.len()]);
        Box::new(move |_| {
            let lookups: Vec<_> = drawn.by_ref().take(LOOKUPS).collect();
            let mut leveldb = leveldb.borrow_mut();
            leveldb.ask(&Request::new(b'K').u32(0).strings(&lookups));
            let answer = leveldb.ask(&Request::new(b'G').u32(database).u32(0));
            assert_eq!(number(&answer[8..]), num_found, "wrong number of keys found");
            nanoseconds(&answer)
        })
    });
    race(contenders, LOOKUPS, rounds, words(ORDER_SEED))
}

fn filter_block_len(table: &Path) -> usize {
    let file = fs::read(table).unwrap();
    let filter_block = Table::open(&file).unwrap().filter_block().unwrap();
    filter_block.expect("a filter block").contents.len()
}

pub(crate) fn report(options: &Options, machine: &str, all: &[Gets]) -> Vec<String> {
    let bits_per_key = options.bits_per_key;
    let about = format!("`Get` of u64 counters, {bits_per_key} bits per key, 0 lost; {machine}:");
    let mut lines = head(about, all.iter().map(|gets| gets.num_keys));
    let ours = format!("`base_lg` {BASE_LG} and `tuned()`");
    let filters = [(0, "LevelDB's filters"), (1, &ours)];
    for (i, filters) in filters {
        lines.push(row(&format!("{filters}, absent keys"), all, |gets| gets.absent[i].cell()));
        lines.push(row("present keys", all, |gets| gets.present[i].cell()));
    }
    for (i, filters) in filters {
        let percent = |gets: &Gets| 100.0 * as_f64(gets.num_reads[i]) / as_f64(gets.num_keys);
        let cell = |gets: &_| format!("{:.2}%", percent(gets));
        lines.push(row(&format!("{filters}, absent keys that match"), all, cell));
        lines.push(row("bytes of filter blocks", all, |gets| grouped(gets.filter_block_len[i])));
    }
    lines
}
