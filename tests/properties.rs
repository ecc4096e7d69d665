//! For all inputs: the library makes the bytes and gives the answers of the plain-loop oracle.
//!
//! The cases are the same in every run; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for others.

mod common;

use std::sync::Arc;

use common::strategies::{any_bits_per_key, any_hash, any_key, config};
use common::{as_bloom_hashes, assert_reads_as_reference, create_filter, noise, reference};
use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterPolicy,
    InternalKeyPolicy, bloom_hash, bloom_hashes, hash,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

fn any_keys() -> BoxedStrategy<Vec<Vec<u8>>> {
    prop_oneof![15 => vec(any_key(), 0..100), 1 => vec(any_key(), 1000..4000)].boxed()
}

/// The offset of each data block, and its keys.
type DataBlocks = Vec<(u64, Vec<Vec<u8>>)>;

fn any_data_blocks() -> BoxedStrategy<DataBlocks> {
    let step = prop_oneof![
        4 => 0..3000u64,
        1 => 3000..20_000u64,
        2 => (0..4u64, 2046..=2050u64).prop_map(|(filters, rest)| filters * 2048 + rest),
    ];
    let blocks = vec((step, vec(any_key(), 0..20)), 0..20).prop_map(|mut blocks| {
        let mut block_offset = 0;
        for (step, _) in &mut blocks {
            block_offset += *step;
            *step = block_offset;
        }
        blocks
    });
    blocks.boxed()
}

fn build_filter_block(policy: impl FilterPolicy, blocks: &DataBlocks) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::new(policy);
    for (block_offset, keys) in blocks {
        builder.start_block(*block_offset);
        for key in keys {
            builder.add_key(key);
        }
    }
    builder.finish()
}

fn reference_filter_block(
    create_filter: impl Fn(&[Vec<u8>]) -> Vec<u8>,
    blocks: &DataBlocks,
) -> Vec<u8> {
    let mut builder = reference::FilterBlockBuilder::new(create_filter);
    for (block_offset, keys) in blocks {
        builder.start_block(*block_offset);
        for key in keys {
            builder.add_key(key);
        }
    }
    builder.finish()
}

#[test]
fn keys_of_every_length_have_leveldbs_hash() {
    for len in 0..=130 {
        for seed in [0, 0xbc9f1d34, u32::MAX] {
            let key = noise(len, seed);
            assert_eq!(hash(&key, seed), reference::hash(&key, seed), "{len} bytes, seed {seed}");
        }
    }
}

#[test]
fn the_number_of_probes_is_leveldbs_for_all_bits_per_key() {
    for bits_per_key in (0..100_000).chain(usize::MAX - 1000..=usize::MAX) {
        let num_probes = BloomFilterPolicy::new(bits_per_key).shape(0).num_probes();
        assert_eq!(num_probes, reference::num_probes(bits_per_key), "{bits_per_key} bits per key");
    }
}

/// Asserts that keys whose lengths are `len(0)`, `len(1)`, `len(2)`, … get their hashes.
#[track_caller]
fn assert_hashes_as_one_by_one(bytes: &[u8], num_keys: usize, len: impl Fn(usize) -> usize) {
    let keys: Vec<&[u8]> = (0..num_keys).map(|i| &bytes[i..i + len(i)]).collect();
    let expected: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let mut hashes = vec![BloomHash::default(); num_keys];
    bloom_hashes(&keys, &mut hashes);
    assert_eq!(hashes, expected);
}

#[test]
fn keys_of_any_lengths_are_hashed_side_by_side_as_one_by_one() {
    let bytes = noise(70_000, 1);
    for num_keys in [0, 1, 5, 7, 8, 9, 20, 64, 127, 128, 129, 200] {
        for len in 0..80 {
            assert_hashes_as_one_by_one(&bytes, num_keys, |_| len);
            assert_hashes_as_one_by_one(&bytes, num_keys, |i| if i % 50 == 10 { len } else { 16 });
            assert_hashes_as_one_by_one(&bytes, num_keys, |i| i * 37 % (len + 1));
        }
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| i * 7 % 4);
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| 24 + i % 8);
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| if i == 3 { 65_537 } else { i % 19 });
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| 100 + i * 31 % 101);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn hashes_are_leveldbs(data in vec(any::<u8>(), 0..=100), seed: u32) {
        prop_assert_eq!(hash(&data, seed), reference::hash(&data, seed));
        prop_assert_eq!(bloom_hash(&data).to_u32(), reference::bloom_hash(&data));
    }

    #[test]
    fn keys_are_hashed_side_by_side_as_alone(
        len in 0..=70usize,
        keys in vec(vec(any::<u8>(), 0..=70), 0..300),
    ) {
        // All of one length, some, and none.
        for alike in [keys.len(), keys.len() / 2, 0] {
            let mut keys = keys.clone();
            keys[..alike].iter_mut().for_each(|key| key.resize(len, 7));
            let mut hashes = vec![BloomHash::from_u32(1); keys.len()];
            bloom_hashes(&keys, &mut hashes);
            let alone: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
            prop_assert_eq!(hashes, alone);
        }
    }

    #[test]
    fn every_hash_has_a_key_of_four_bytes(hash in any_hash()) {
        prop_assert_eq!(bloom_hash(&reference::key_with_hash(hash)), BloomHash::from_u32(hash));
    }

    #[test]
    fn filters_have_leveldbs_bytes(keys in any_keys(), bits_per_key in any_bits_per_key()) {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let filter = create_filter(policy, &keys);

        prop_assert_eq!(filter.len(), policy.shape(keys.len()).filter_len());
        let num_probes = reference::num_probes(bits_per_key);
        prop_assert_eq!(filter, reference::create_filter(bits_per_key, num_probes, &keys));
    }

    #[test]
    fn filters_of_any_hashes_have_leveldbs_bytes(
        hashes in vec(any_hash(), 0..100),
        bits_per_key in any_bits_per_key(),
    ) {
        let keys: Vec<_> = hashes.iter().map(|&hash| reference::key_with_hash(hash)).collect();
        for num_probes in 1..=30 {
            let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
            prop_assert_eq!(
                create_filter(policy, &keys),
                reference::create_filter_from_hashes(bits_per_key, num_probes, &hashes)
            );
        }
    }

    #[test]
    fn filters_are_appended(
        before in vec(any::<u8>(), 0..50),
        keys in vec(any_key(), 0..50),
        bits_per_key in any_bits_per_key(),
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let key_slices: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        let mut dst = before.clone();
        policy.create_filter(&key_slices, &mut dst);
        prop_assert_eq!(dst, [before, create_filter(policy, &keys)].concat());
    }

    #[test]
    fn filter_lengths_are_leveldbs(num_keys in 0..0x10000usize, bits_per_key in 0..0x10000usize) {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let filter_len = reference::num_bytes(bits_per_key, num_keys) + 1;
        prop_assert_eq!(policy.shape(num_keys).filter_len(), filter_len);
        let few_keys = num_keys % 100;
        let filter_len = reference::num_bytes(bits_per_key, few_keys) + 1;
        prop_assert_eq!(policy.shape(few_keys).filter_len(), filter_len);
    }

    #[test]
    fn thousandths_of_a_bit_are_rounded_up_to_whole_bytes(
        num_keys in prop_oneof![0..0x100000usize, any::<usize>()],
        millibits in prop_oneof![0..100_000usize, 0..100usize, any::<u32>().prop_map(|n| n as usize)],
    ) {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        prop_assert_eq!(policy.millibits_per_key(), millibits);
        let num_bytes = (num_keys as u128 * millibits as u128).div_ceil(8000).max(8);
        let num_probes = (millibits as u64 * 69 / 100_000).clamp(1, 30);
        // A usize of 32 bits does not hold all numbers of bits.
        if num_bytes * 8 < usize::MAX as u128 {
            let shape = policy.shape(num_keys);
            prop_assert_eq!(shape.filter_len() as u128, num_bytes + 1);
            prop_assert_eq!(u64::from(shape.num_probes()), num_probes);
        }
    }

    #[test]
    fn whole_bits_in_thousandths_are_leveldbs_policy(bits_per_key in 0..usize::MAX / 1000) {
        let policy = BloomFilterPolicy::from_millibits_per_key(bits_per_key * 1000);
        prop_assert_eq!(policy, BloomFilterPolicy::new(bits_per_key));
    }

    #[test]
    fn keys_of_a_filter_match(
        keys in any_keys(),
        bits_per_key in any_bits_per_key(),
        num_probes in 1..=30u8,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let filter = create_filter(policy, &keys);
        for key in &keys {
            prop_assert!(policy.key_may_match(key, &filter), "{:02x?}", key);
        }
    }

    #[test]
    fn many_hashes_get_the_answers_of_each_in_any_bytes(
        mut filter in prop_oneof![vec(any::<u8>(), 0..3), vec(any::<u8>(), 0..200)],
        ones in any::<u8>(),
        num_probes in prop_oneof![0..=32u8, any::<u8>()],
        hashes in vec(any_hash(), 0..=300),
    ) {
        // Without more ones, many probes seldom match.
        for byte in &mut filter {
            *byte |= ones;
        }
        if let Some(last) = filter.last_mut() {
            *last = num_probes;
        }
        let policy = BloomFilterPolicy::default();
        let expected: Vec<_> =
            hashes.iter().map(|&hash| reference::hash_may_match(hash, &filter)).collect();
        let hashes = as_bloom_hashes(&hashes);
        let one_by_one = hashes.iter().map(|&hash| policy.hash_may_match(hash, &filter));
        prop_assert_eq!(&one_by_one.collect::<Vec<_>>(), &expected);
        for before in [false, true] {
            let mut matches = vec![before; hashes.len()];
            policy.hashes_may_match(&hashes, &filter, &mut matches);
            prop_assert_eq!(&matches, &expected);
        }
    }

    #[test]
    fn filter_blocks_have_leveldbs_bytes_whatever_holds_the_policy(
        blocks in any_data_blocks(),
        bits_per_key in 0..=20usize,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let num_probes = reference::num_probes(bits_per_key);
        let create_filter = |keys: &[_]| reference::create_filter(bits_per_key, num_probes, keys);
        let expected = reference_filter_block(create_filter, &blocks);
        prop_assert_eq!(&build_filter_block(policy, &blocks), &expected);
        prop_assert_eq!(&build_filter_block(&policy as &dyn FilterPolicy, &blocks), &expected);
        prop_assert_eq!(&build_filter_block(Box::new(policy), &blocks), &expected);
        let shared: Arc<dyn FilterPolicy> = Arc::new(policy);
        prop_assert_eq!(&build_filter_block(shared, &blocks), &expected);
    }

    #[test]
    fn filter_blocks_of_user_keys_with_any_number_of_probes_have_the_bytes_of_the_format(
        blocks in any_data_blocks(),
        bits_per_key in 0..=20usize,
        num_probes in 1..=30u8,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let create_filter = |keys: &[_]| reference::create_filter(bits_per_key, num_probes, keys);
        let expected = reference_filter_block(create_filter, &blocks);
        prop_assert_eq!(&build_filter_block(policy, &blocks), &expected);

        let of_user_keys = reference_filter_block(
            |keys| {
                let user_keys: Vec<_> =
                    keys.iter().map(|key| reference::extract_user_key(key)).collect();
                reference::create_filter(bits_per_key, num_probes, &user_keys)
            },
            &blocks,
        );
        let contents = build_filter_block(InternalKeyPolicy::new(policy), &blocks);
        prop_assert_eq!(&contents, &of_user_keys);

        let reader = FilterBlockReader::new(InternalKeyPolicy::new(policy), contents);
        for (block_offset, keys) in &blocks {
            for key in keys {
                prop_assert!(reader.key_may_match(*block_offset, key), "{:02x?}", key);
            }
        }
    }

    #[test]
    fn filter_blocks_answer_as_leveldb(
        blocks in any_data_blocks(),
        changes in vec((any::<Index>(), any::<u8>()), 0..4),
        block_offsets in vec(0..200_000u64, 10),
    ) {
        let mut contents = build_filter_block(BloomFilterPolicy::new(10), &blocks);
        for (index, byte) in changes {
            *index.get_mut(&mut contents) = byte;
        }
        for (block_offset, keys) in &blocks {
            for key in keys {
                assert_reads_as_reference(&contents, *block_offset, key);
            }
        }
        for block_offset in block_offsets {
            assert_reads_as_reference(&contents, block_offset, b"absent");
        }
    }

    #[test]
    fn arbitrary_filter_blocks_answer_as_leveldb(
        mut contents in vec(any::<u8>(), 0..60),
        words in vec(0..80u32, 0..12),
        base_lg in 0..=66u8,
        block_offset: u64,
    ) {
        contents.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        contents.push(base_lg);
        for bits in 0..=64 {
            let block_offset = block_offset.checked_shr(bits).unwrap_or(0);
            assert_reads_as_reference(&contents, block_offset, b"key");
        }
    }

    #[test]
    fn internal_key_policies_see_keys_stripped_by_hand(
        keys in prop_oneof![vec(any_key(), 0..100), vec(any_key(), 120..300)],
        others in vec(any_key(), 20),
    ) {
        let policy = BloomFilterPolicy::new(10);
        let internal_key_policy = InternalKeyPolicy::new(policy);
        let user_keys: Vec<_> =
            keys.iter().map(|key| reference::extract_user_key(key)).collect();
        let filter = create_filter(policy, &user_keys);

        prop_assert_eq!(&create_filter(internal_key_policy, &keys), &filter);
        for key in keys.iter().chain(&others) {
            prop_assert_eq!(
                internal_key_policy.key_may_match(key, &filter),
                policy.key_may_match(reference::extract_user_key(key), &filter)
            );
        }
    }
}
