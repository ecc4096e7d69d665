//! A filter block's builder under every order of calls: it loses no key, or panics, and `clear`
//! makes it as new.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy};
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
    /// A number of keys, how often each is added, and whether as an internal key.
    AddKeys(Vec<u8>, u16, u8, bool),
    Finish,
    Clear,
    /// The policy's next call panics.
    Panic,
}

fn any_call() -> impl Strategy<Value = Call> {
    let step = (0..=22_u32, any::<i64>()).prop_map(|(log2, step)| step.rem_euclid(1 << log2));
    let num_keys = prop_oneof![79 => 0..4_u16, 1 => 0..6_000_u16];
    prop_oneof![
        24 => step.clone().prop_map(Call::StartBlock),
        24 => (any_key(), num_keys, 1..3_u8, any::<bool>())
            .prop_map(|(key, n, of, is_internal)| Call::AddKeys(key, n, of, is_internal)),
        4 => Just(Call::Finish),
        1 => Just(Call::Clear),
        1 => step.prop_map(|step| Call::StartBlock(-step)),
        1 => Just(Call::Panic),
    ]
}

/// A builder, and what its next block must have.
struct Checked<'a, P> {
    builder: FilterBlockBuilder<P>,
    /// A builder that no table has been given to, and one that has only the current table.
    new: &'a FilterBlockBuilder<P>,
    fresh: FilterBlockBuilder<P>,
    panics: &'a AtomicBool,
    has_long_ranges: bool,
    block_offset: u64,
    keys: Vec<(u64, Vec<u8>)>,
}

impl<P: FilterPolicy + Clone> Checked<'_, P> {
    fn call(&mut self, call: &Call) {
        match call {
            Call::Panic => self.panics.store(true, Ordering::Relaxed),
            Call::Finish => self.finish(),
            Call::Clear => self.clear(),
            Call::StartBlock(step) => {
                let block_offset = self.block_offset.saturating_add_signed(*step);
                if self.caught(|builder| builder.start_block(block_offset)).is_some() {
                    self.block_offset = block_offset;
                }
            }
            Call::AddKeys(key, number, times, is_internal) => {
                for i in 0..number * u16::from(*times) {
                    let key = [&key[..], &(i / u16::from(*times)).to_be_bytes()].concat();
                    let internal_key = [&key[..], &u64::from(i).to_be_bytes()].concat();
                    let added = if *is_internal {
                        self.caught(|builder| builder.add_internal_key(&internal_key))
                    } else {
                        self.caught(|builder| builder.add_key(&key))
                    };
                    if added.is_none() {
                        return;
                    }
                    self.keys.push((self.block_offset, key));
                }
            }
        }
    }

    /// `None` if the call has panicked. Then no later call returns until the builder is cleared.
    fn caught<T: PartialEq>(
        &mut self,
        call: impl Fn(&mut FilterBlockBuilder<P>) -> T,
    ) -> Option<T> {
        let returned = catch_unwind(AssertUnwindSafe(|| call(&mut self.builder))).ok();
        if returned.is_none() {
            let (builder, message) = (&mut self.builder, "an earlier call panicked");
            assert_eq!(builder.policy().name(), self.new.policy().name());
            assert_panics(message, || builder.start_block(u64::MAX));
            assert_panics(message, || builder.add_key(b"fig"));
            assert_panics(message, || builder.add_internal_key(b"fig"));
            assert_panics(message, || _ = builder.estimated_len(10));
            assert_panics(message, || drop(builder.finish()));
            assert_eq!(builder.policy().name(), self.new.policy().name());
            self.clear();
        } else {
            // The next panic is for the other builder.
            let panics = self.panics.swap(false, Ordering::Relaxed);
            assert!(returned.as_ref() == Some(&call(&mut self.fresh)));
            self.panics.store(panics, Ordering::Relaxed);
        }
        returned
    }

    fn clear(&mut self) {
        self.builder.clear();
        self.start_over();
    }

    fn start_over(&mut self) {
        assert_eq!(self.builder.estimated_len(10), 5);
        self.fresh = self.new.clone();
        (self.block_offset, self.keys) = (0, vec![]);
    }

    fn finish(&mut self) {
        // `Odd` has LevelDB's lengths of 10 bits per key.
        let len = self.builder.estimated_len(10);
        let Some(block) = self.caught(FilterBlockBuilder::finish) else { return };
        if !self.has_long_ranges {
            assert_eq!(block.len(), len);
        }
        self.panics.store(false, Ordering::Relaxed);
        let reader = FilterBlockReader::new(self.builder.policy(), block);
        for (block_offset, key) in &self.keys {
            let of_key = FilterKey::new(reader.policy(), key);
            assert!(reader.key_may_match(*block_offset, key), "{block_offset}: {key:02x?}");
            assert!(reader.may_match(*block_offset, &of_key), "{block_offset}: {key:02x?}");
        }
        self.start_over();
    }
}

fn check<P: FilterPolicy + Clone>(
    policy: P,
    base_lg: Option<u8>,
    panics: &AtomicBool,
    calls: &[Call],
) {
    panics.store(false, Ordering::Relaxed);
    let new = &match base_lg {
        None => FilterBlockBuilder::with_long_ranges(policy),
        Some(base_lg) => FilterBlockBuilder::with_base_lg(policy, base_lg),
    };
    let mut checked = Checked {
        builder: new.clone(),
        new,
        fresh: new.clone(),
        panics,
        has_long_ranges: base_lg.is_none(),
        block_offset: 0,
        keys: vec![],
    };
    calls.iter().chain([&Call::Finish]).for_each(|call| checked.call(call));
}

proptest! {
    // Some 30,000 calls.
    #![proptest_config(ProptestConfig { cases: config().cases * 5, ..config() })]

    #[test]
    fn no_order_of_calls_loses_a_key_and_a_cleared_builder_is_as_new(
        calls in vec(any_call(), 0..50),
        base_lg in prop_oneof![Just(None), Just(Some(11)), (0..64_u8).prop_map(Some)],
        wraps in 0..3,
        writes in prop_oneof![Just(Writes::Appends), Just(Writes::Replaces), Just(Writes::Pops)],
    ) {
        let panics = AtomicBool::new(false);
        let policy = &Odd { writes, panics: &panics };
        match wraps {
            0 => check(policy, base_lg, &panics, &calls),
            1 => check(&OfKeys(policy), base_lg, &panics, &calls),
            _ => check(policy as &dyn FilterPolicy, base_lg, &panics, &calls),
        }
    }
}
