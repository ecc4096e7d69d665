//! Builds of the filters that this crate recommends, beside LevelDB's.

use leveldb_filter::BloomFilterPolicy;

use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::contest::{MEMBER_SEED, MEMBERS, MIN_KEYS, ORDER_SEED, nanoseconds, time_create_filter};
use crate::keys::Keys;
use crate::options::Options;
use crate::race::{Contender, Score, race};
use crate::report::{head, row};

const BUILDS: [&str; 2] = ["LevelDB, build", "`tuned()`"];

/// Scores with filters of this number of keys, in the order of [`BUILDS`].
#[derive(Debug)]
pub(crate) struct Builds {
    num_keys: usize,
    scores: [Score; 2],
}

impl Builds {
    pub(crate) fn measure(num_keys: usize, options: &Options, leveldb: &mut LevelDb) -> Self {
        let keys = Keys::new(num_keys, options.key_len, MEMBER_SEED);
        let keys = keys.slices();
        leveldb.ask(&Request::new(b'P').u32(options.bits_per_key.into()));
        leveldb.ask(&Request::new(b'K').u32(MEMBERS).strings(&keys));
        let repetitions = MIN_KEYS.div_ceil(num_keys);
        let request = Request::new(b'C').u32(MEMBERS).u64(repetitions as u64);
        let tuned = BloomFilterPolicy::new(options.bits_per_key.into()).tuned();
        let mut filter = Vec::new();
        let contenders: [Contender<'_>; 2] = [
            Box::new(|_| nanoseconds(&leveldb.ask(&request))),
            Box::new(|_| time_create_filter(tuned, &keys, repetitions, &mut filter)),
        ];
        let num_timed = repetitions * num_keys;
        Self { num_keys, scores: race(contenders, num_timed, options.rounds, words(ORDER_SEED)) }
    }
}

pub(crate) fn report(options: &Options, machine: &str, all: &[Builds]) -> Vec<String> {
    let about = format!(
        "Keys of {}, {} bits per key; {machine}:",
        options.key_len.name(),
        options.bits_per_key
    );
    let mut lines = head(about, all.iter().map(|builds| builds.num_keys));
    for (i, label) in BUILDS.into_iter().enumerate() {
        lines.push(row(label, all, |builds| builds.scores[i].cell()));
    }
    lines
}
