//! Looking up many keys in a filter block gives each key the answer of a lookup by itself.

use std::sync::atomic::AtomicBool;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader, FilterKey, FilterPolicy, HashedBy};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::block_builder::build;
use super::hash_policies::prefix_hash;
use crate::common::OfKeys;
use crate::common::odd::{Odd, Writes};
use crate::common::strategies::{any_data_blocks, any_key, config};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn assert_answers_as_one_by_one(
    policy: &dyn FilterPolicy,
    contents: &[u8],
    block_offsets: &[u64],
    keys: &[FilterKey],
) {
    let reader = FilterBlockReader::new(policy, contents);
    let lookups = block_offsets.iter().zip(keys);
    let expected: Vec<_> = lookups.map(|(&offset, key)| reader.may_match(offset, key)).collect();
    let mut matches: Vec<_> = expected.iter().map(|may_match| !may_match).collect();
    reader.may_match_many(block_offsets, keys, &mut matches);
    assert_eq!(matches, expected);
}

/// Draws a data block, a key of it or an absent one, what is added to the block's offset, and who
/// makes the `FilterKey`.
fn any_lookup() -> impl Strategy<Value = (Index, Index, Option<Vec<u8>>, u64, u8)> {
    let beyond = prop_oneof![8 => Just(0), 1 => 0..5_000_u64, 1 => any::<u64>()];
    (any::<Index>(), any::<Index>(), proptest::option::of(any_key()), beyond, 0..20_u8)
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
        for (block, index, absent, beyond, made_by) in &lookups {
            let (mut offset, mut key) = (0, &b"fig"[..]);
            if !blocks.is_empty() {
                let (block_offset, keys) = block.get(&blocks);
                offset = *block_offset;
                if !keys.is_empty() {
                    key = index.get(keys).as_slice();
                }
            }
            let key = absent.as_deref().unwrap_or(key);
            pairs.push((offset.wrapping_add(*beyond), key, *made_by));
        }
        if is_sorted {
            pairs.sort_unstable();
        }
        let block_offsets: Vec<_> = pairs.iter().map(|(offset, ..)| *offset).collect();
        let of_keys = OfKeys(POLICY);
        // Keys of less than 3 bytes have no hash.
        let prefixes = HashedBy::new("example.Prefix3", POLICY, prefix_hash);
        let keys: Vec<_> = pairs
            .iter()
            .map(|(_, key, made_by)| match made_by {
                0 if has_foreign_keys => FilterKey::new(&of_keys, key),
                1 if has_foreign_keys => FilterKey::new(&prefixes, key),
                _ => FilterKey::new(&POLICY, key),
            })
            .collect();

        let odd = Odd { writes: Writes::Appends, panics: &AtomicBool::new(false) };
        for policy in [&POLICY as &dyn FilterPolicy, &of_keys, &prefixes, &odd] {
            assert_answers_as_one_by_one(policy, &contents, &block_offsets, &keys);
        }
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
