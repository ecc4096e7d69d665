//! A filter block's builder under every order of calls: it loses no key, or panics.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy,
    HashPolicy, InternalKeyPolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::api::assert_panics;
use crate::common::OfKeys;
use crate::common::strategies::{any_key, config};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Once it is told so, the next call takes all finished filters away, and panics.
struct Panics<'a>(&'a AtomicBool);

impl Panics<'_> {
    fn panic_if_told(&self) {
        assert!(!self.0.swap(false, Ordering::Relaxed), "in the policy");
    }

    fn create(&self, create: impl FnOnce(&mut Vec<u8>), dst: &mut Vec<u8>) {
        let before = mem::take(dst);
        self.panic_if_told();
        *dst = before;
        create(dst);
    }
}

impl FilterPolicy for Panics<'_> {
    fn name(&self) -> &'static str {
        "example.Panics"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.create(|dst| POLICY.create_filter(keys, dst), dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        POLICY.key_may_match(key, filter)
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl HashPolicy for Panics<'_> {
    fn key_hash(&self, key: &[u8]) -> BloomHash {
        self.panic_if_told();
        POLICY.key_hash(key)
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        self.create(|dst| POLICY.create_filter_of_hashes(hashes, dst), dst);
    }

    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        POLICY.hash_may_match(hash, filter)
    }
}

#[derive(Clone, Debug)]
enum Call {
    /// With this many bytes more than the block before, or fewer.
    StartBlock(i64),
    AddKeys(Vec<u8>, u16),
    Finish,
    /// The policy's next call panics.
    Panic,
}

fn any_call() -> impl Strategy<Value = Call> {
    let step = (0..=22_u32, any::<i64>()).prop_map(|(log2, step)| step.rem_euclid(1 << log2));
    let num_keys = prop_oneof![39 => 0..4_u16, 1 => 0..6_000_u16];
    prop_oneof![
        24 => step.clone().prop_map(Call::StartBlock),
        24 => (any_key(), num_keys).prop_map(|(key, number)| Call::AddKeys(key, number)),
        4 => Just(Call::Finish),
        1 => step.prop_map(|step| Call::StartBlock(-step)),
        1 => Just(Call::Panic),
    ]
}

/// A builder, and what its next block must have.
struct Checked<'a, P> {
    builder: FilterBlockBuilder<P>,
    panics: &'a AtomicBool,
    block_offset: u64,
    keys: Vec<(u64, Vec<u8>)>,
    num_pending: usize,
}

impl<P: FilterPolicy + Clone> Checked<'_, P> {
    /// Returns whether the builder may go on.
    fn call(&mut self, call: &Call) -> bool {
        match call {
            Call::Panic => self.panics.store(true, Ordering::Relaxed),
            Call::Finish => return self.finish(),
            Call::StartBlock(step) => {
                let block_offset = self.block_offset.saturating_add_signed(*step);
                let len = self.builder.finished_len();
                if self.caught(|builder| builder.start_block(block_offset)).is_none() {
                    return false;
                }
                self.block_offset = block_offset;
                if self.builder.finished_len() > len {
                    self.num_pending = 0;
                }
            }
            Call::AddKeys(key, number) => {
                for i in 0..*number {
                    let key = [&key[..], &i.to_be_bytes()].concat();
                    if self.caught(|builder| builder.add_key(&key)).is_none() {
                        return false;
                    }
                    self.keys.push((self.block_offset, key));
                    self.num_pending += 1;
                }
            }
        }
        true
    }

    /// `None` if it has panicked: then no later call returns.
    fn caught<T>(&mut self, call: impl FnOnce(&mut FilterBlockBuilder<P>) -> T) -> Option<T> {
        let returned = catch_unwind(AssertUnwindSafe(|| call(&mut self.builder)));
        if returned.is_err() {
            let (builder, message) = (&mut self.builder, "has panicked before");
            assert_panics(message, || builder.start_block(u64::MAX));
            assert_panics(message, || builder.add_key(b"fig"));
            assert_panics(message, || _ = builder.finished_len());
            assert_panics(message, || drop(builder.finish()));
        }
        returned.ok()
    }

    fn finish(&mut self) -> bool {
        let len = self.builder.finished_len();
        let Some(block) = self.caught(FilterBlockBuilder::finish) else { return false };
        assert_eq!(len == block.len(), self.num_pending == 0, "{len} of {}", block.len());
        assert_eq!(self.builder.finished_len(), 5);
        self.panics.store(false, Ordering::Relaxed);
        let reader = FilterBlockReader::new(self.builder.policy(), block);
        for (block_offset, key) in self.keys.drain(..) {
            let of_key = FilterKey::new(reader.policy(), &key);
            assert!(reader.key_may_match(block_offset, &key), "{block_offset}: {key:02x?}");
            assert!(reader.may_match(block_offset, &of_key), "{block_offset}: {key:02x?}");
        }
        (self.block_offset, self.num_pending) = (0, 0);
        true
    }
}

fn check<P: FilterPolicy + Clone>(
    builder: &FilterBlockBuilder<P>,
    panics: &AtomicBool,
    calls: &[Call],
) {
    panics.store(false, Ordering::Relaxed);
    let of = |builder| Checked { builder, panics, block_offset: 0, keys: vec![], num_pending: 0 };
    let mut checked = of(builder.clone());
    for call in calls {
        if !checked.call(call) {
            checked = of(builder.clone());
        }
    }
    panics.store(false, Ordering::Relaxed);
    checked.call(&Call::Finish);
}

proptest! {
    // Some 200,000 calls.
    #![proptest_config(ProptestConfig { cases: config().cases * 32, ..config() })]

    #[test]
    fn no_order_of_calls_loses_a_key(
        calls in vec(any_call(), 0..50),
        base_lg in prop_oneof![Just(None), Just(Some(11)), (0..64_u8).prop_map(Some)],
        wraps in 0..4,
    ) {
        fn builder<P: FilterPolicy>(policy: P, base_lg: Option<u8>) -> FilterBlockBuilder<P> {
            match base_lg {
                None => FilterBlockBuilder::with_long_ranges(policy),
                Some(base_lg) => FilterBlockBuilder::with_base_lg(policy, base_lg),
            }
        }

        let panics = AtomicBool::new(false);
        let policy = &Panics(&panics);
        match wraps {
            0 => check(&builder(policy, base_lg), &panics, &calls),
            1 => check(&builder(&OfKeys(policy), base_lg), &panics, &calls),
            2 => check(&builder(&InternalKeyPolicy::new(policy), base_lg), &panics, &calls),
            _ => check(&builder(policy as &dyn FilterPolicy, base_lg), &panics, &calls),
        }
    }
}
