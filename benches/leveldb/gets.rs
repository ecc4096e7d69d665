//! LevelDB's own `Get` in three databases of the same data: with LevelDB's filters, with tuned
//! filters in long ranges put in their place, and with filters of a policy plugged into LevelDB.

use std::cell::RefCell;

use leveldb_filter::BloomFilterPolicy;

use crate::common::databases::{copy, filter_block, put_filters, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::common::temp::TempPath;
use crate::common::terminal::grouped;
use crate::contest::{nanoseconds, number};
use crate::keys::hashes;
use crate::options::Options;
use crate::race::{Contender, Score, as_f64, race};
use crate::report::{head, row};

/// The bytes of a value, each time for a fifth of the keys.
const VALUE_LENS: [(usize, usize); 2] = [(100, 1), (1_000, 5)];

/// LevelDB's defaults; the first three are in bytes.
const WRITE_BUFFER_SIZE: u32 = 4 << 20;
const MAX_FILE_SIZE: u32 = 2 << 20;
const BLOCK_SIZE: u32 = 4 << 10;
const RESTART_INTERVAL: u32 = 16;
const SNAPPY: u32 = 1;

/// Instead of bits per key: the filters of the policy that is plugged in.
const PLUGGED_IN: u32 = u32::MAX;

/// The number of keys looked up in a pass: few enough for most passes to run undisturbed.
const LOOKUPS: usize = 10_000;

const KEY_SEED: u64 = 1;
const VALUE_SEED: u64 = 2;
const ORDER_SEED: u64 = 3;
const LOOKUP_SEED: u64 = 4;

/// The filters of each database.
const FILTERS: [&str; 3] = ["LevelDB's filters", "filters in place", "plugged in"];

/// Results for databases of this number of keys, in the order of [`FILTERS`].
#[derive(Debug)]
pub(crate) struct Gets {
    num_keys: usize,
    value_len: usize,
    absent: [Score; 3],
    present: [Score; 3],
    /// How many data blocks are read by looking up every absent key once.
    num_reads: [usize; 3],
    /// The bytes of all tables' filter blocks.
    filter_block_len: [usize; 3],
}

impl Gets {
    /// Measures with values of each length.
    pub(crate) fn measure(num_keys: usize, options: &Options, leveldb: &mut LevelDb) -> [Self; 2] {
        VALUE_LENS.map(|(value_len, fraction)| {
            Self::of_values(value_len, num_keys.div_ceil(fraction), options, leveldb)
        })
    }

    fn of_values(
        value_len: usize,
        num_keys: usize,
        options: &Options,
        leveldb: &mut LevelDb,
    ) -> Self {
        let [present, absent] = counters(num_keys);
        let values = values(num_keys, value_len);
        let bits_per_key = options.bits_per_key.into();
        let policy = BloomFilterPolicy::new(options.bits_per_key.into()).tuned();
        let paths = [(); 3].map(|()| TempPath::new());
        for (path, bits_per_key) in [(&paths[0], bits_per_key), (&paths[2], PLUGGED_IN)] {
            let request = Request::new(b'd').string(path.as_bytes()).u32(0);
            let request = request.u32(WRITE_BUFFER_SIZE).u32(MAX_FILE_SIZE);
            let request = with_options(request, bits_per_key).strings(&present).strings(&values);
            leveldb.ask_with(&request, &policy);
        }
        copy(&paths[0], &paths[1]);
        put_filters(&paths[1].0, policy);

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
        for (index, path) in (0..).zip(&paths) {
            leveldb.ask(&Request::new(b'O').u32(index).string(path.as_bytes()));
        }
        Self {
            num_keys,
            value_len,
            absent: time(&absent, 0, options.rounds, leveldb),
            present: time(&present, LOOKUPS as u64, options.rounds, leveldb),
            num_reads,
            // Measured after the lookups: LevelDB has not rewritten any table.
            filter_block_len: paths.map(|path| filter_block_len(&path)),
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

/// Values that compress to half, as in LevelDB's `db_bench`: random bytes twice.
fn values(num_values: usize, len: usize) -> Vec<Vec<u8>> {
    let noise = words(VALUE_SEED).flat_map(u64::to_le_bytes);
    let noise: Vec<u8> = noise.take(num_values * len / 2).collect();
    noise.chunks(len / 2).map(|random| random.repeat(2)).collect()
}

fn with_options(request: Request, bits_per_key: u32) -> Request {
    request.u32(bits_per_key).u32(BLOCK_SIZE).u32(RESTART_INTERVAL).u32(SNAPPY)
}

/// Looks up keys in all databases in turns, `num_found` in each pass being present. Passes use
/// different keys, whose blocks are not yet in the processor's caches.
fn time(keys: &[[u8; 8]], num_found: u64, rounds: usize, leveldb: &mut LevelDb) -> [Score; 3] {
    let leveldb = RefCell::new(leveldb);
    let contenders = [0, 1, 2].map(|database| -> Contender<'_> {
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

/// The bytes of all tables' filter blocks.
fn filter_block_len(database: &TempPath) -> usize {
    tables(&database.0).iter().map(|table| filter_block(table).len()).sum()
}

pub(crate) fn report(options: &Options, machine: &str, all: &[[Gets; 2]]) -> Vec<String> {
    let all = all.as_flattened();
    let bits_per_key = options.bits_per_key;
    let about = format!("`Get` of u64 counters, {bits_per_key} bits per key, 0 lost; {machine}:");
    let mut lines = head(about, all.iter().map(|gets| gets.num_keys));
    lines.push(row("bytes of a value", all, |gets| grouped(gets.value_len)));
    for (i, filters) in FILTERS.into_iter().enumerate() {
        lines.push(row(&format!("{filters}, absent keys"), all, |gets| gets.absent[i].cell()));
        lines.push(row(&format!("{filters}, present keys"), all, |gets| gets.present[i].cell()));
    }
    for (i, filters) in FILTERS.into_iter().enumerate() {
        let percent = |gets: &Gets| 100.0 * as_f64(gets.num_reads[i]) / as_f64(gets.num_keys);
        let cell = |gets: &_| format!("{:.2}%", percent(gets));
        lines.push(row(&format!("{filters}, absent keys that match"), all, cell));
        let len = |gets: &Gets| grouped(gets.filter_block_len[i]);
        lines.push(row(&format!("{filters}, bytes of filter blocks"), all, len));
    }
    lines
}
