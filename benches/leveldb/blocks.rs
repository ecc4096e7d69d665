//! Filter blocks: LevelDB's builder and reader against this crate's.

use std::array;
use std::hint::black_box;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::allocations::peak_bytes;
use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::contest::{ASKED, MEMBERS, MIN_KEYS, QUERIES, nanoseconds, number, time};
use crate::keys::{KeyLen, Keys, hashes};
use crate::options::Options;
use crate::race::{Contender, Score, as_f64, race};
use crate::report::{head, row};

/// The keys of a data block, as values of 100, 1,000 and 4,000 bytes have them.
const KEYS_PER_BLOCK: [usize; 3] = [36, 4, 1];

/// The bytes of a data block.
const BLOCK_LEN: u64 = 4 << 10;

/// LevelDB's, what the crate recommends, and a filter for the whole table.
const RANGES: [&str; 3] = ["2 KiB", "long ranges", "whole table"];

const NEW_BUILDERS: [fn(BloomFilterPolicy) -> FilterBlockBuilder; 3] =
    [FilterBlockBuilder::new, FilterBlockBuilder::with_long_ranges, |policy| {
        FilterBlockBuilder::with_base_lg(policy, 63)
    }];

/// Their trailers are the offsets of their data blocks.
const INTERNAL_KEY_LEN: usize = 24;

/// The number of keys looked up in a pass.
const LOOKUPS: usize = 40_000;

const MEMBER_SEED: u64 = 1;
const ORDER_SEED: u64 = 2;
const QUERY_SEEDS: [u64; 2] = [3, 4];

/// A table's keys, and the length of its data blocks in keys.
struct Table<'a> {
    keys: &'a [&'a [u8]],
    keys_per_block: usize,
    policy: BloomFilterPolicy,
}

/// The results for tables of this number of keys.
pub(crate) struct Blocks {
    num_keys: usize,
    keys_per_block: usize,
    /// LevelDB's, then for each of [`RANGES`].
    build: [Score; 4],
    /// For each of [`RANGES`], in the order of [`ASKED`].
    read: [[Score; 3]; 3],
    /// The memory that a build takes besides the block: one filter for the whole table.
    bytes_per_key: f64,
}

impl Blocks {
    pub(crate) fn measure(num_keys: usize, options: &Options, leveldb: &mut LevelDb) -> [Self; 3] {
        KEYS_PER_BLOCK.map(|keys_per_block| {
            let user_keys = Keys::new(num_keys, KeyLen::Fixed(INTERNAL_KEY_LEN - 8), MEMBER_SEED);
            let keys: Vec<_> = user_keys.slices();
            let keys = internal_keys(keys.into_iter().enumerate(), keys_per_block);
            let policy = BloomFilterPolicy::new(options.bits_per_key.into());
            leveldb.ask(&Request::new(b'P').u32(options.bits_per_key.into()));
            let table = Table { keys: &keys.slices(), keys_per_block, policy };
            Self {
                num_keys,
                keys_per_block,
                build: table.time_builds(options.rounds, leveldb),
                read: [0, 1, 2].map(|range| table.time_reads(range, options.rounds, leveldb)),
                bytes_per_key: table.bytes_per_key(),
            }
        })
    }
}

impl Table<'_> {
    /// The block with one of [`RANGES`].
    fn build(&self, range: usize) -> Vec<u8> {
        let mut builder = NEW_BUILDERS[range](self.policy);
        for (keys, offset) in self.keys.chunks(self.keys_per_block).zip((0..).map(offset_of)) {
            builder.start_block(offset);
            for key in keys {
                builder.add_internal_key(key);
            }
        }
        builder.finish()
    }

    fn time_builds(&self, rounds: usize, leveldb: &mut LevelDb) -> [Score; 4] {
        leveldb.ask(&Request::new(b'K').u32(MEMBERS).strings(self.keys));
        let repetitions = MIN_KEYS.div_ceil(self.keys.len());
        let request = Request::new(b'B').u32(MEMBERS);
        let request = request.u32(self.keys_per_block.try_into().expect("a few"));
        let request = request.u64(BLOCK_LEN).u64(repetitions as u64);
        leveldb.ask(&request);
        let filter_block = leveldb.ask(&Request::new(b'F'));
        assert!(filter_block == self.build(0), "LevelDB made a different block");

        let build = |range| {
            move |_| time(|| (0..repetitions).for_each(|_| drop(black_box(self.build(range)))))
        };
        let [leveldbs, recommended, whole] = [0, 1, 2].map(build);
        let contenders: [Contender<'_>; 4] = [
            Box::new(|_| nanoseconds(&leveldb.ask(&request))),
            Box::new(leveldbs),
            Box::new(recommended),
            Box::new(whole),
        ];
        race(contenders, repetitions * self.keys.len(), rounds, words(ORDER_SEED))
    }

    fn time_reads(&self, range: usize, rounds: usize, leveldb: &mut LevelDb) -> [Score; 3] {
        let filter_block = self.build(range);
        leveldb.ask(&Request::new(b'L').string(&filter_block));
        let reader = FilterBlockReader::new(self.policy, &filter_block);
        let passes = QUERY_SEEDS.map(|seed| self.queries(seed));
        array::from_fn(|asked| {
            let requests = QUERIES.map(|set| Request::new(b'R').u32(set));
            let passes = passes.each_ref().map(|pass| pass[asked].slices());
            for ((set, request), keys) in QUERIES.into_iter().zip(&requests).zip(&passes) {
                leveldb.ask(&Request::new(b'K').u32(set).strings(keys));
                let num_matches = number(&leveldb.ask(request)[8..]);
                assert_eq!(num_matches, count(&reader, keys), "LevelDB counts other matches");
            }
            let contenders: [Contender<'_>; 2] = [
                Box::new(|pass| nanoseconds(&leveldb.ask(&requests[pass]))),
                Box::new(|pass| time(|| count(&reader, black_box(&passes[pass])))),
            ];
            let [_, ours] = race(contenders, LOOKUPS, rounds, words(ORDER_SEED));
            ours
        })
    }

    /// The keys to look up, for each of [`ASKED`], in random data blocks.
    fn queries(&self, seed: u64) -> [Keys; 3] {
        let user_key_len = INTERNAL_KEY_LEN - 8;
        let indices = || hashes(!seed).map(|hash| hash as usize % self.keys.len());
        let others = Keys::new(LOOKUPS, KeyLen::Fixed(user_key_len), seed);
        let absent = || indices().zip(others.slices());
        let present = || indices().map(|i| (i, &self.keys[i][..user_key_len])).take(LOOKUPS);
        let half = hashes(seed).zip(absent().zip(present()));
        let half = half.map(|(hash, (a, b))| if hash % 2 == 0 { a } else { b });
        [
            internal_keys(absent(), self.keys_per_block),
            internal_keys(present(), self.keys_per_block),
            internal_keys(half, self.keys_per_block),
        ]
    }

    fn bytes_per_key(&self) -> f64 {
        let mut block_len = 0;
        let peak = peak_bytes(|| block_len = self.build(2).len());
        as_f64(peak - block_len) / as_f64(self.keys.len())
    }
}

/// User keys with their indices in the table.
fn internal_keys<'a>(
    user_keys: impl Iterator<Item = (usize, &'a [u8])>,
    keys_per_block: usize,
) -> Keys {
    let internal_key = |(i, user_key): (usize, &[u8])| {
        [user_key, &offset_of(i / keys_per_block).to_le_bytes()].concat()
    };
    let keys: Vec<_> = user_keys.map(internal_key).collect();
    keys.iter().map(Vec::as_slice).collect()
}

fn offset_of(data_block: usize) -> u64 {
    data_block as u64 * BLOCK_LEN
}

fn count(reader: &FilterBlockReader<BloomFilterPolicy, &Vec<u8>>, keys: &[&[u8]]) -> u64 {
    let matches = |key: &&&[u8]| {
        let (user_key, offset) = key.split_last_chunk().expect("a trailer");
        reader.key_may_match(u64::from_le_bytes(*offset), user_key)
    };
    keys.iter().filter(matches).count() as u64
}

pub(crate) fn report(options: &Options, machine: &str, all: &[[Blocks; 3]]) -> Vec<String> {
    let all = all.as_flattened();
    let about = format!(
        "Internal keys of {INTERNAL_KEY_LEN} bytes, {} bits per key; {machine}:",
        options.bits_per_key
    );
    let mut lines = head(about, all.iter().map(|blocks| blocks.num_keys));
    lines.push(row("keys of a data block", all, |blocks| blocks.keys_per_block.to_string()));
    let builders = ["LevelDB, 2 KiB"].into_iter().chain(RANGES);
    for (i, range) in builders.enumerate() {
        lines.push(row(&format!("{range}, build"), all, |blocks| blocks.build[i].cell()));
    }
    for (i, range) in RANGES.into_iter().enumerate() {
        for (j, asked) in ASKED.into_iter().enumerate() {
            let label = format!("{range}, {asked}");
            lines.push(row(&label, all, |blocks| blocks.read[i][j].cell()));
        }
    }
    let cell = |blocks: &Blocks| format!("{:.1}", blocks.bytes_per_key);
    lines.push(row("whole table, bytes of memory per key", all, cell));
    lines
}
