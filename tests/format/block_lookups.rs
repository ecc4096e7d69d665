//! Looking up many keys in a filter block gives each key the answer of a lookup by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockReader, FilterKey, FilterPolicy, HashPolicy,
    InternalKeyPolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::block_builder::build;
use crate::common::OfKeys;
use crate::common::odd::{Odd, Writes};
use crate::common::strategies::{any_data_blocks, any_key, config};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn assert_answers_as_one_by_one(
    policy: impl FilterPolicy,
    contents: &[u8],
    block_offsets: &[u64],
    keys: &[FilterKey],
) {
    let reader = FilterBlockReader::new(policy, contents);
    let lookups = block_offsets.iter().zip(keys);
    let expected: Vec<_> = lookups.map(|(&offset, key)| reader.may_match(offset, key)).collect();
    for before in [false, true] {
        let mut matches = vec![before; keys.len()];
        reader.may_match_many(block_offsets, keys, &mut matches);
        assert_eq!(matches, expected);
    }
}

/// A block offset, and a key to look up there, in policies' own forms and in others'.
#[derive(Clone, Debug)]
struct Lookup {
    block: Index,
    key: Index,
    absent: Option<Vec<u8>>,
    beyond: u64,
    made_by: u8,
}

fn any_lookup() -> impl Strategy<Value = Lookup> {
    let beyond = prop_oneof![8 => Just(0), 1 => 0..5_000_u64, 1 => any::<u64>()];
    let absent = proptest::option::of(any_key());
    (any::<Index>(), any::<Index>(), absent, beyond, 0..20_u8).prop_map(
        |(block, key, absent, beyond, made_by)| Lookup { block, key, absent, beyond, made_by },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn many_keys_get_the_answers_of_single_lookups_by_any_policy_on_any_bytes(
        (base_lg, blocks) in any_data_blocks(),
        changes in prop_oneof![Just(vec![]), vec((any::<Index>(), any::<u8>()), 1..4)],
        lookups in prop_oneof![3 => vec(any_lookup(), 0..20), 1 => vec(any_lookup(), 0..400)],
        is_sorted: bool,
        has_foreign_keys: bool,
    ) {
        let mut contents = build(POLICY, base_lg, &blocks);
        for (index, byte) in changes {
            *index.get_mut(&mut contents) = byte;
        }
        let mut pairs: Vec<(u64, &[u8], u8)> = Vec::new();
        for lookup in &lookups {
            let (mut offset, mut key) = (0, &b"fig"[..]);
            if !blocks.is_empty() {
                let (block_offset, keys) = lookup.block.get(&blocks);
                offset = *block_offset;
                if !keys.is_empty() {
                    key = lookup.key.get(keys).as_slice();
                }
            }
            let key = lookup.absent.as_deref().unwrap_or(key);
            pairs.push((offset.wrapping_add(lookup.beyond), key, lookup.made_by));
        }
        if is_sorted {
            pairs.sort_unstable();
        }
        let block_offsets: Vec<_> = pairs.iter().map(|(offset, ..)| *offset).collect();
        let of_keys = OfKeys(POLICY);
        let internal = InternalKeyPolicy::new(POLICY);
        let keys: Vec<_> = pairs
            .iter()
            .map(|(_, key, made_by)| match made_by {
                0 if has_foreign_keys => FilterKey::new(&of_keys, key),
                1 if has_foreign_keys => FilterKey::new(&internal, key),
                _ => FilterKey::new(&POLICY, key),
            })
            .collect();

        let odd = Odd { writes: Writes::Appends, panics: &AtomicBool::new(false) };
        assert_answers_as_one_by_one(POLICY, &contents, &block_offsets, &keys);
        let shared = &POLICY as &dyn FilterPolicy;
        assert_answers_as_one_by_one(shared, &contents, &block_offsets, &keys);
        assert_answers_as_one_by_one(OfKeys(POLICY), &contents, &block_offsets, &keys);
        assert_answers_as_one_by_one(internal, &contents, &block_offsets, &keys);
        assert_answers_as_one_by_one(odd, &contents, &block_offsets, &keys);
    }
}

/// The numbers of their ranges are equal in the low 32 bits.
#[test]
fn keys_4_gib_apart_are_not_looked_up_in_one_filter() {
    let contents = build(POLICY, 0, &vec![(0, vec![b"fig".to_vec()])]);
    let reader = FilterBlockReader::new(POLICY, &contents);
    assert_eq!(reader.num_filters(), 1);
    let absent = FilterKey::new(&POLICY, b"lime");
    let mut matches = [true, false];
    reader.may_match_many(&[0, 1 << 32], &[absent; 2], &mut matches);
    assert_eq!(matches, [false, true]);
}

/// Counts how often it looks up hashes, and looks up nothing else.
struct Counting(AtomicUsize);

impl FilterPolicy for Counting {
    fn name(&self) -> &'static str {
        "example.Counting"
    }

    fn create_filter(&self, _keys: &[&[u8]], _dst: &mut Vec<u8>) {
        unreachable!("only lookups")
    }

    fn key_may_match(&self, _key: &[u8], _filter: &[u8]) -> bool {
        unreachable!("keys have hashes")
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl HashPolicy for Counting {
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        POLICY.key_hash(key)
    }

    fn create_filter_of_hashes(&self, _: &[BloomHash], _: &mut Vec<u8>) {
        unreachable!("only lookups")
    }

    fn hash_may_match(&self, _hash: BloomHash, _filter: &[u8]) -> bool {
        unreachable!("many are looked up at once")
    }

    fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        self.0.fetch_add(1, Ordering::Relaxed);
        POLICY.hashes_may_match(hashes, filter, matches);
    }
}

#[test]
fn keys_of_different_data_blocks_that_share_a_filter_are_looked_up_in_one_call() {
    let blocks = (0..8).map(|i| (i * 512, vec![vec![0]])).collect();
    let contents = build(POLICY, 11, &blocks);
    let policy = InternalKeyPolicy::new(Counting(AtomicUsize::new(0)));
    let reader = FilterBlockReader::new(policy, contents);
    let keys: Vec<_> = (0..80_u8).map(|key| [key]).collect();
    let keys: Vec<_> = keys.iter().map(|key| FilterKey::new(reader.policy(), key)).collect();
    // Ten keys for each data block, and four data blocks for each filter.
    let block_offsets: Vec<_> = (0..80).map(|i| i / 10 * 512).collect();
    reader.may_match_many(&block_offsets, &keys, &mut [false; 80]);
    assert_eq!(reader.policy().user_policy().0.load(Ordering::Relaxed), 2);
}
