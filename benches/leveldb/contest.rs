//! The work of both contenders: the same keys, the same filters, the same answers.

use std::hint::black_box;
use std::time::{Duration, Instant};

use leveldb_filter::{BloomFilter, BloomFilterBuilder, BloomFilterPolicy, FilterPolicy};

use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::keys::{KeyLen, Keys, hashes};
use crate::options::Options;
use crate::race::{Contender, Score, race};

pub(crate) const CREATORS: [&str; 3] = ["LevelDB", "`create_filter`", "`BloomFilterBuilder`"];
pub(crate) const READERS: [&str; 4] =
    ["LevelDB", "`key_may_match`", "`BloomFilter`", "`keys_may_match`"];
pub(crate) const ASKED: [&str; 3] = ["absent keys", "present keys", "half of each"];

/// The number of keys looked up in a pass.
const LOOKUPS: usize = 100_000;

/// The least number of keys that go into filters in a pass.
pub(crate) const MIN_KEYS: usize = 200_000;

/// The most keys that a contender puts into filters in the timed passes of all rounds.
const MAX_KEYS: usize = 100_000_000;

pub(crate) const MEMBER_SEED: u64 = 1;
pub(crate) const ORDER_SEED: u64 = 2;
/// Seeds of the queries of each pass, which differ, so that no lookup repeats a recent one.
const QUERY_SEEDS: [u64; 2] = [3, 4];

/// LevelDB's key sets: the one that it makes its filter of, and those that it looks up in each
/// pass.
pub(crate) const MEMBERS: u32 = 0;
pub(crate) const QUERIES: [u32; 2] = [1, 2];

/// Scores with filters of this number of keys.
#[derive(Debug)]
pub(crate) struct Scores {
    pub(crate) num_keys: usize,
    /// In the order of [`CREATORS`].
    pub(crate) create: [Score; 3],
    /// For each of [`ASKED`], in the order of [`READERS`].
    pub(crate) lookup: [[Score; 4]; 3],
}

impl Scores {
    pub(crate) fn measure(num_keys: usize, options: &Options, leveldb: &mut LevelDb) -> Self {
        let policy = BloomFilterPolicy::new(options.bits_per_key.into());
        leveldb.ask(&Request::new(b'P').u32(options.bits_per_key.into()));
        let members = Keys::new(num_keys, options.key_len, MEMBER_SEED);
        let members = members.slices();
        leveldb.ask(&Request::new(b'K').u32(MEMBERS).strings(&members));

        let mut filter = Vec::new();
        policy.create_filter(&members, &mut filter);
        let create = time_creation(policy, &members, options.rounds, leveldb);
        assert!(leveldb.ask(&Request::new(b'F')) == filter, "LevelDB made a different filter");

        let passes = QUERY_SEEDS.map(|seed| queries(&members, options.key_len, seed));
        let passes = passes.each_ref().map(|asked| asked.each_ref().map(Keys::slices));
        let lookup = std::array::from_fn(|asked| {
            let passes = passes.each_ref().map(|pass| pass[asked].as_slice());
            time_lookups(&filter, passes, options.rounds, leveldb)
        });
        Self { num_keys, create, lookup }
    }
}

fn time_creation(
    policy: BloomFilterPolicy,
    keys: &[&[u8]],
    rounds: usize,
    leveldb: &mut LevelDb,
) -> [Score; 3] {
    let repetitions = MIN_KEYS.div_ceil(keys.len());
    let num_keys = repetitions * keys.len();
    let rounds = rounds.min(MAX_KEYS / num_keys).max(1);
    let request = Request::new(b'C').u32(MEMBERS).u64(repetitions as u64);
    let mut builder = BloomFilterBuilder::new();
    let mut filter = Vec::new();
    let contenders: [Contender<'_>; 3] = [
        Box::new(|_| nanoseconds(&leveldb.ask(&request))),
        Box::new(|_| time_create_filter(policy, keys, repetitions, &mut filter)),
        Box::new(|_| {
            time(|| {
                for _ in 0..repetitions {
                    for key in black_box(keys) {
                        builder.add_key(key);
                    }
                    black_box(builder.finish(policy));
                }
            })
        }),
    ];
    race(contenders, num_keys, rounds, words(ORDER_SEED))
}

/// Makes the same filter many times.
pub(crate) fn time_create_filter(
    policy: BloomFilterPolicy,
    keys: &[&[u8]],
    repetitions: usize,
    filter: &mut Vec<u8>,
) -> Duration {
    time(|| {
        for _ in 0..repetitions {
            filter.clear();
            policy.create_filter(black_box(keys), filter);
            black_box(&filter);
        }
    })
}

fn time_lookups(
    filter: &[u8],
    passes: [&[&[u8]]; 2],
    rounds: usize,
    leveldb: &mut LevelDb,
) -> [Score; 4] {
    let policy = BloomFilterPolicy::default();
    let parsed = BloomFilter::new(filter).expect("made by a policy");
    let requests = QUERIES.map(|set| Request::new(b'M').u32(set));
    for ((set, request), keys) in QUERIES.into_iter().zip(&requests).zip(passes) {
        leveldb.ask(&Request::new(b'K').u32(set).strings(keys));
        let answer = leveldb.ask(request);
        let num_matches = keys.iter().filter(|key| policy.key_may_match(key, filter)).count();
        assert_eq!(number(&answer[8..]), num_matches as u64, "LevelDB counts other matches");
    }

    let mut matches = vec![false; LOOKUPS];
    let contenders: [Contender<'_>; 4] = [
        Box::new(|pass| nanoseconds(&leveldb.ask(&requests[pass]))),
        Box::new(|pass| {
            let (keys, filter) = (black_box(passes[pass]), black_box(filter));
            time(|| keys.iter().filter(|key| policy.key_may_match(key, filter)).count())
        }),
        Box::new(|pass| {
            let keys = black_box(passes[pass]);
            time(|| keys.iter().filter(|key| parsed.key_may_match(key)).count())
        }),
        Box::new(|pass| {
            let keys = black_box(passes[pass]);
            time(|| {
                parsed.keys_may_match(keys, &mut matches);
                black_box(&matches);
            })
        }),
    ];
    race(contenders, LOOKUPS, rounds, words(ORDER_SEED))
}

/// The keys to look up, for each of [`ASKED`], copied in their order, so that only the filter may
/// miss the caches.
fn queries(members: &[&[u8]], key_len: KeyLen, seed: u64) -> [Keys; 3] {
    let absent = Keys::new(LOOKUPS, key_len, seed);
    let choose = |hash| members[hash as usize % members.len()];
    let present: Keys = hashes(!seed).map(choose).take(LOOKUPS).collect();
    // No branch predictor can learn the choice.
    let pairs = present.slices().into_iter().zip(absent.slices());
    let half = hashes(seed).zip(pairs).map(|(hash, (a, b))| if hash % 2 == 0 { a } else { b });
    let half = half.collect();
    [absent, present, half]
}

pub(crate) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

pub(crate) fn nanoseconds(answer: &[u8]) -> Duration {
    Duration::from_nanos(number(answer))
}

/// The number at the start of an answer from LevelDB's process.
pub(crate) fn number(answer: &[u8]) -> u64 {
    u64::from_le_bytes(*answer.first_chunk().expect("a number"))
}
