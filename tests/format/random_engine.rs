//! Storage engines of random policies, tables and lookups: no filter denies an entry that a map
//! has, be it a value, a deletion that hides older values, or a version that newer ones hide.

mod filters;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::Arc;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterPolicy, HashPolicy, HashedBy};

use self::filters::Table;
use super::hash_policies::{ignoring_case, prefix_hash};
use crate::common::strategies::config;
use crate::common::{OfKeys, drawn, of_any_magnitude};

/// A user key, in lower case if the comparator ignores case, and a sequence number.
type InternalKey = (Vec<u8>, Reverse<u64>);
/// The type of each entry, which is 0 for a deletion and 1 for a value.
type Entries = BTreeMap<InternalKey, u64>;
type Policy = Arc<dyn FilterPolicy>;

/// The length of [`prefix_hash`]'s prefix.
const PREFIX_LEN: usize = 3;

const MAX_USER_KEYS: usize = 30_000;

/// Which of an engine's [policies](Engine::policies) ignore case, and which hash prefixes.
const IGNORES_CASE: [bool; 6] = [false, false, true, true, true, true];
const HASHES_PREFIXES: [bool; 6] = [false, true, true, true, false, false];

struct Engine {
    below: Box<dyn FnMut(usize) -> usize>,
    bloom: BloomFilterPolicy,
    ignores_case: bool,
    /// Whether lookups seek to prefixes.
    seeks_prefixes: bool,
    /// Any of them makes a key to look up. Those that fit the engine make filters.
    policies: [Policy; 6],
    has_trailers: bool,
    /// `None` for long ranges.
    base_lg: Option<u8>,
    /// One for each policy.
    builders: Vec<FilterBlockBuilder<Policy>>,
    entries: Entries,
    memtable: Entries,
    tables: Vec<Table>,
}

impl Engine {
    fn new(seed: u64) -> Self {
        let mut below = drawn(seed);
        let bloom = [BloomFilterPolicy::new(10), BloomFilterPolicy::new(10).tuned()][below(2)];
        let lower_case = HashedBy::new("example.IgnoreCase", bloom, ignoring_case);
        let dynamic: Box<dyn HashPolicy> = Box::new(bloom);
        let prefixes: Arc<_> = HashedBy::new("example.Prefix3", dynamic, prefix_hash).into();
        let policies: [Policy; 6] = [
            Arc::new(bloom),
            prefixes.clone(),
            Arc::new(HashedBy::new("example.Both", prefixes, ignoring_case)),
            Arc::new(HashedBy::new("example.Both", lower_case, prefix_hash)),
            Arc::new(lower_case),
            Arc::new(OfKeys(lower_case)),
        ];
        let base_lg = u8::try_from(below(63)).expect("small");
        let base_lg = [None, Some(11), Some(63), Some(base_lg)][below(4)];
        let new_builder = |policy: &Policy| match (policy.clone(), base_lg) {
            (policy, None) => FilterBlockBuilder::with_long_ranges(policy),
            (policy, Some(11)) => FilterBlockBuilder::new(policy),
            (policy, Some(base_lg)) => FilterBlockBuilder::with_base_lg(policy, base_lg),
        };
        Self {
            bloom,
            ignores_case: below(2) == 0,
            seeks_prefixes: below(2) == 0,
            builders: policies.iter().map(new_builder).collect(),
            policies,
            has_trailers: below(2) == 0,
            base_lg,
            below: Box::new(below),
            entries: Entries::new(),
            memtable: Entries::new(),
            tables: vec![],
        }
    }

    /// One of the first `max` keys, of which those before a prefix's length come first.
    fn any_user_key(&mut self, max: usize) -> Vec<u8> {
        let number = Some((self.below)(max));
        let digits = successors(number, |rest| Some(rest / 20)).take_while(|&rest| rest > 0);
        let suffix = [&b""[..], b"", b"", b"-longer-than-a-trailer"][(self.below)(4)];
        digits
            .map(|rest| b"abcdefghijklmnopqrst"[rest % 20])
            .chain(suffix.iter().copied())
            .collect()
    }

    /// One of the policies whose filters lose no key of this engine.
    fn any_fitting_policy(&mut self) -> usize {
        let fits = |&policy: &usize| {
            (IGNORES_CASE[policy] || !self.ignores_case)
                && (HASHES_PREFIXES[policy] || !self.seeks_prefixes)
        };
        let fitting: Vec<_> = (0..self.policies.len()).filter(fits).collect();
        fitting[(self.below)(fitting.len())]
    }

    /// A key in any case that the comparator ignores.
    fn any_case(&mut self, user_key: &[u8]) -> Vec<u8> {
        let mut user_key = user_key.to_vec();
        for letter in &mut user_key {
            if self.ignores_case && (self.below)(2) == 0 {
                letter.make_ascii_uppercase();
            }
        }
        user_key
    }

    /// Writes one to four versions of each key to the memtable.
    fn write(&mut self, num_keys: usize) {
        let max = of_any_magnitude(MAX_USER_KEYS, &mut self.below).max(num_keys);
        for _ in 0..num_keys {
            let user_key = self.any_user_key(max);
            for _ in 0..of_any_magnitude(4, &mut self.below) {
                let key = (user_key.clone(), Reverse(self.entries.len() as u64));
                let kind = u64::from((self.below)(4) > 0);
                self.entries.insert(key.clone(), kind);
                self.memtable.insert(key, kind);
            }
        }
    }
}

#[test]
fn no_engine_of_any_composition_loses_a_key() {
    let (mut num_asked, mut num_denied) = (0, 0);
    for seed in 0..config().cases.into() {
        println!("seed {seed}"); // printed if it fails
        let mut engine = Engine::new(seed);
        // Enough for long ranges to end.
        if engine.base_lg.is_none() && (engine.below)(8) == 0 {
            engine.write(MAX_USER_KEYS / 4);
            engine.flush();
        }
        for _ in 0..(engine.below)(6) {
            let num_keys = of_any_magnitude(100, &mut engine.below);
            engine.write(num_keys);
            engine.flush();
        }
        engine.write(50);
        let (asked, denied) = engine.look_up();
        num_asked += asked;
        num_denied += denied;
    }
    assert!(num_denied >= num_asked / 8, "{num_denied} of {num_asked}");
}
