//! The cases that are tried on LevelDB, others in each run.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::{env, fmt};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::common::random::words;
use crate::common::strategies::any_key;
use crate::process::LevelDb;

static SEED: LazyLock<u64> = LazyLock::new(|| match env::var("LEVELDB_FILTER_SEED") {
    Ok(seed) => seed.parse().expect("LEVELDB_FILTER_SEED is a number"),
    Err(_) => RandomState::new().build_hasher().finish(),
});

/// Tries `test` on so many cases, with a LevelDB of its own.
pub(crate) fn check<S: Strategy>(cases: u32, case: S, test: impl Fn(&mut LevelDb, S::Value)) {
    println!("LEVELDB_FILTER_SEED={}", *SEED);
    let leveldb = RefCell::new(LevelDb::start().unwrap_or_else(|missing| panic!("{missing}")));
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_time: 10_000, // milliseconds
        rng_seed: RngSeed::Fixed(*SEED),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&case, |case| {
        test(&mut leveldb.borrow_mut(), case);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Keys, and how to show them when they are many.
#[derive(Clone)]
pub(crate) struct Keys(pub(crate) Vec<Vec<u8>>);

impl Keys {
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        self.0.iter().map(AsRef::as_ref).collect()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys, the first of them {:02x?}",
            self.0.len(),
            &self.0[..self.0.len().min(8)]
        )
    }
}

/// A filter's bytes, and how to show them when they are many.
#[derive(Clone)]
pub(crate) struct Filter(pub(crate) Vec<u8>);

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, last) = (self.0.len(), self.0.last());
        write!(f, "{len} bytes, {:02x?}..{last:?}", &self.0[..len.min(64)])
    }
}

/// Up to so many keys, with all that may be special about them.
pub(crate) fn any_keys(max: usize) -> BoxedStrategy<Keys> {
    prop_oneof![vec(any_key(), 0..=max).prop_map(Keys), many_keys(0..=max)].boxed()
}

/// Random keys of one length or of many.
pub(crate) fn many_keys(num_keys: RangeInclusive<usize>) -> BoxedStrategy<Keys> {
    let max_len = prop_oneof![8 => 0..=40_u64, 1 => 41..=300_u64];
    (num_keys, max_len, any::<bool>(), any::<u64>())
        .prop_map(|(num_keys, max_len, fixed, seed)| {
            let mut words = words(seed);
            let mut key = || {
                let word = words.next().unwrap_or_default();
                let len = if fixed { max_len } else { word % (max_len + 1) };
                words
                    .by_ref()
                    .flat_map(u64::to_le_bytes)
                    .take(len.try_into().expect("short"))
                    .collect()
            };
            Keys((0..num_keys).map(|_| key()).collect())
        })
        .boxed()
}

/// Bytes to be read as a filter, also such as no policy makes.
pub(crate) fn any_filter() -> BoxedStrategy<Filter> {
    filter(prop_oneof![0..=100_usize, 0..=5_000_usize])
}

/// A filter that is looked up as one that no cache holds.
pub(crate) fn large_filter() -> BoxedStrategy<Filter> {
    filter((8 << 20) + 2..=16_usize << 20)
}

fn filter(len: impl Strategy<Value = usize> + 'static) -> BoxedStrategy<Filter> {
    let num_probes = prop_oneof![4 => 0..=30_u8, 1 => any::<u8>()];
    (len, num_probes, 0..=3_u32, any::<u64>())
        .prop_map(|(len, num_probes, fullness, seed)| {
            let mut words = words(seed);
            // Half of the bits, three quarters of them, and so on.
            let mut word =
                || words.by_ref().take(1 + fullness as usize).fold(0, |all, word| all | word);
            let mut filter: Vec<u8> = Vec::with_capacity(len + 8);
            while filter.len() < len {
                filter.extend(word().to_le_bytes());
            }
            filter.truncate(len);
            if let Some(last) = filter.last_mut() {
                *last = num_probes;
            }
            Filter(filter)
        })
        .boxed()
}
