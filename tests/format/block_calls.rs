//! A filter block's builder under every order of calls: it loses no key, or panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{
    FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy, InternalKeyPolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::api::assert_panics;
use crate::common::OfKeys;
use crate::common::odd::{Odd, Writes};
use crate::common::strategies::{any_key, config};

#[derive(Clone, Debug)]
enum Call {
    /// With this many bytes more than the block before, or fewer.
    StartBlock(i64),
    /// A number of keys, and how often each is added.
    AddKeys(Vec<u8>, u16, u8),
    Finish,
    /// The policy's next call panics.
    Panic,
}

fn any_call() -> impl Strategy<Value = Call> {
    let step = (0..=22_u32, any::<i64>()).prop_map(|(log2, step)| step.rem_euclid(1 << log2));
    let num_keys = prop_oneof![79 => 0..4_u16, 1 => 0..6_000_u16];
    prop_oneof![
        24 => step.clone().prop_map(Call::StartBlock),
        24 => (any_key(), num_keys, 1..3_u8).prop_map(|(key, n, of)| Call::AddKeys(key, n, of)),
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
            Call::AddKeys(key, number, times) => {
                for i in 0..number * u16::from(*times) {
                    let key = [&key[..], &(i / u16::from(*times)).to_be_bytes()].concat();
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
            let (builder, message) = (&mut self.builder, "an earlier call panicked");
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
    // Some 50,000 calls.
    #![proptest_config(ProptestConfig { cases: config().cases * 8, ..config() })]

    #[test]
    fn no_order_of_calls_loses_a_key(
        calls in vec(any_call(), 0..50),
        base_lg in prop_oneof![Just(None), Just(Some(11)), (0..64_u8).prop_map(Some)],
        wraps in 0..4,
        writes in prop_oneof![Just(Writes::Appends), Just(Writes::Replaces), Just(Writes::Pops)],
    ) {
        fn builder<P: FilterPolicy>(policy: P, base_lg: Option<u8>) -> FilterBlockBuilder<P> {
            match base_lg {
                None => FilterBlockBuilder::with_long_ranges(policy),
                Some(base_lg) => FilterBlockBuilder::with_base_lg(policy, base_lg),
            }
        }

        let panics = AtomicBool::new(false);
        let policy = &Odd { writes, panics: &panics };
        match wraps {
            0 => check(&builder(policy, base_lg), &panics, &calls),
            1 => check(&builder(&OfKeys(policy), base_lg), &panics, &calls),
            2 => check(&builder(&InternalKeyPolicy::new(policy), base_lg), &panics, &calls),
            _ => check(&builder(policy as &dyn FilterPolicy, base_lg), &panics, &calls),
        }
    }
}
