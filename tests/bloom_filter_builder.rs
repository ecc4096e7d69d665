//! Building filters, from keys that come one at a time and of any size: the oracle's bytes.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::strategies::{any_bits_per_key, any_key, config};
use common::{create_filter, keys_with_hashes, noise, random_hashes, reference};
use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, BloomHash};
use proptest::collection::vec;
use proptest::prelude::*;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn finish(builder: &mut BloomFilterBuilder) -> Vec<u8> {
    finish_with(POLICY, builder)
}

fn finish_with(policy: BloomFilterPolicy, builder: &mut BloomFilterBuilder) -> Vec<u8> {
    let mut filter = Vec::new();
    builder.finish_into(policy, &mut filter);
    filter
}

/// Asserts that `create_filter` and `builder`, which may have built others before, make the
/// oracle's bytes.
#[track_caller]
fn assert_builds_as_reference(
    policy: BloomFilterPolicy,
    builder: &mut BloomFilterBuilder,
    hashes: &[u32],
) {
    let num_probes = policy.shape(hashes.len()).num_probes();
    let bits_per_key = policy.millibits_per_key() / 1000;
    let expected = reference::create_filter_from_hashes(bits_per_key, num_probes, hashes);
    let what = format!("{} keys, {bits_per_key} bits per key, {num_probes} probes", hashes.len());

    for &hash in hashes {
        builder.add_hash(BloomHash::from_u32(hash));
    }
    assert_eq!(builder.len(), hashes.len());
    // Not assert_eq!, which would print megabytes.
    assert!(finish_with(policy, builder) == expected, "builder, {what}");
    assert!(builder.is_empty());
    let keys = keys_with_hashes(hashes);
    assert!(create_filter(policy, &keys) == expected, "create_filter, {what}");
}

#[test]
fn a_builder_prints_its_number_of_keys() {
    let mut builder = BloomFilterBuilder::new();
    builder.extend(["secret", "key"]);
    assert_eq!(format!("{builder:?}"), "BloomFilterBuilder { len: 2, .. }");
}

#[test]
fn few_keys_make_leveldbs_bytes_for_all_bits_per_key() {
    let hashes = random_hashes(200, 1);
    for bits_per_key in 0..=64 {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let mut builder = BloomFilterBuilder::new();
        for num_keys in 0..=200 {
            assert_builds_as_reference(policy, &mut builder, &hashes[..num_keys]);
        }
    }
}

#[test]
fn many_keys_make_leveldbs_bytes_for_all_numbers_of_probes() {
    let hashes = random_hashes(5000, 2);
    for num_probes in 1..=30 {
        let policy = POLICY.with_num_probes(num_probes);
        let mut builder = BloomFilterBuilder::new();
        for num_keys in (0..=200).step_by(9).chain([1000, 5000]) {
            assert_builds_as_reference(policy, &mut builder, &hashes[..num_keys]);
        }
    }
}

#[test]
fn large_filters_have_leveldbs_bytes() {
    const MIB: usize = 1 << 20;
    let hashes = random_hashes(110_000, 3);
    for num_bytes in
        [MIB - 1, MIB, MIB + 1, 3 * MIB, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 25 * MIB / 2]
    {
        // So many that few keys make a large filter.
        let bits_per_key = (1000..5000).find(|bits_per_key| num_bytes * 8 % bits_per_key < 8);
        let bits_per_key = bits_per_key.expect("a number that leaves few bits over");
        let policy = BloomFilterPolicy::new(bits_per_key);
        let num_keys = num_bytes * 8 / bits_per_key;
        assert_eq!(policy.shape(num_keys).filter_len(), num_bytes + 1);

        for num_probes in [1, 6, 7, 30] {
            let policy = policy.with_num_probes(num_probes);
            assert_builds_as_reference(policy, &mut BloomFilterBuilder::new(), &hashes[..num_keys]);
        }
    }
}

#[test]
fn a_filter_of_a_million_keys_has_leveldbs_bytes() {
    let hashes = random_hashes(1_000_003, 4);
    assert_builds_as_reference(POLICY, &mut BloomFilterBuilder::new(), &hashes);
}

/// Keys whose bits lie close together, or come in order of their place in the filter.
#[test]
fn large_filters_of_uneven_keys_have_leveldbs_bytes() {
    // Above 8 MiB, and with more keys than wait for one region at a time.
    let policy = BloomFilterPolicy::new(4000);
    let random = random_hashes(20_000, 5);
    let mut ascending = random.clone();
    ascending.sort_unstable();
    let descending = ascending.iter().rev().copied().collect();
    let close = random.iter().map(|hash| hash % 4096).collect();
    // A step of 0 from probe to probe, the smallest, and the largest.
    let same = |hash| vec![hash; 20_000];
    for hashes in [ascending, descending, close, same(0), same(1 << 17), same(u32::MAX)] {
        for num_probes in [1, 6, 30] {
            let policy = policy.with_num_probes(num_probes);
            assert_builds_as_reference(policy, &mut BloomFilterBuilder::new(), &hashes);
        }
    }
}

#[test]
fn keys_and_hashes_are_added_alike() {
    let keys: Vec<_> = (0..60).map(|len| noise(len, 1)).collect();
    let expected = create_filter(POLICY, &keys);

    let mut builder = BloomFilterBuilder::new();
    for key in &keys {
        builder.add_key(key);
    }
    assert_eq!(finish(&mut builder), expected);

    builder.extend(&keys);
    assert_eq!(finish(&mut builder), expected);

    // An iterator that knows no length, and two calls.
    builder.extend(keys[..20].iter().filter(|_| true));
    builder.extend(keys[20..].iter().map(Vec::as_slice));
    assert_eq!(finish(&mut builder), expected);

    for (i, key) in keys.iter().enumerate() {
        if i % 2 == 0 {
            builder.add_key(key);
        } else {
            builder.add_hash(BloomHash::from_u32(reference::bloom_hash(key)));
        }
    }
    assert_eq!(finish(&mut builder), expected);
}

/// Keys of some lengths are hashed side by side, others alone, and an iterator may end anywhere, and
/// go on behind its end.
#[test]
fn any_number_of_keys_of_any_lengths_can_extend_a_builder() {
    /// Gives a key only every other time after the first `left`.
    struct Unfused<'a> {
        keys: std::slice::Iter<'a, Vec<u8>>,
        left: usize,
    }

    impl<'a> Iterator for Unfused<'a> {
        type Item = &'a [u8];

        fn next(&mut self) -> Option<&'a [u8]> {
            self.left = self.left.checked_sub(1)?;
            let key = self.keys.next().map(Vec::as_slice);
            if self.left == 0 {
                self.left = 2;
                return None;
            }
            key
        }
    }

    let lengths: [fn(usize) -> usize; 6] = [
        |_| 16,
        |_| 0,
        |i| i % 41,
        |i| if i % 20 == 11 { 15 } else { 21 },
        |i| if i % 9 == 2 { 24 } else { 16 },
        |i| i / 8 % 10 * 4, // Eight of each length.
    ];
    let mut builder = BloomFilterBuilder::new();
    for num_keys in (0..40).chain([127, 128, 129, 1000]) {
        for len in lengths {
            let keys: Vec<_> = (0_u32..).zip(0..num_keys).map(|(i, n)| noise(len(n), i)).collect();
            builder.extend(&keys);
            assert_eq!(builder.len(), num_keys);
            assert_eq!(finish(&mut builder), reference::create_filter(10, 6, &keys));

            builder.extend(Unfused { keys: keys.iter(), left: num_keys / 2 + 1 });
            let before_end = &keys[..num_keys / 2];
            assert_eq!(finish(&mut builder), reference::create_filter(10, 6, before_end));
        }
    }
}

#[test]
fn equal_keys_count_each_time() {
    let mut builder = BloomFilterBuilder::new();
    builder.extend(["fig"; 20]);
    assert_eq!(builder.len(), 20);
    assert_eq!(finish(&mut builder), create_filter(POLICY, &["fig"; 20]));
}

#[test]
fn a_builder_counts_and_drops_its_keys() {
    let mut builder = BloomFilterBuilder::new();
    assert_eq!((builder.len(), builder.is_empty()), (0, true));
    builder.extend(["fig", "", "fig"]);
    assert_eq!((builder.len(), builder.is_empty()), (3, false));
    builder.clear();
    assert_eq!((builder.len(), builder.is_empty()), (0, true));
    assert_eq!(finish(&mut builder), [0, 0, 0, 0, 0, 0, 0, 0, 6]);

    builder.add_key(b"lime");
    assert_eq!(finish(&mut builder), create_filter(POLICY, &["lime"]));
    assert!(builder.is_empty());
    assert_eq!(finish(&mut builder), create_filter::<_, &[u8]>(POLICY, &[]));
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut builder = BloomFilterBuilder::new();
    builder.add_key(b"fig");
    let mut clone = builder.clone();
    clone.add_key(b"lime");
    assert_eq!(finish(&mut builder), create_filter(POLICY, &["fig"]));
    assert_eq!(finish(&mut clone), create_filter(POLICY, &["fig", "lime"]));
}

#[test]
fn each_filter_of_a_builder_may_have_another_policy() {
    const EMPTY: BloomFilterBuilder = BloomFilterBuilder::new();
    for mut builder in [EMPTY, BloomFilterBuilder::default()] {
        for policy in [POLICY, POLICY.with_num_probes(8), POLICY.tuned(), BloomFilterPolicy::new(3)]
        {
            builder.extend(["fig"; 30]);
            assert_eq!(finish_with(policy, &mut builder), create_filter(policy, &["fig"; 30]));
        }
    }
}

#[test]
fn a_filter_above_usize_panics_before_it_touches_the_buffer() {
    let policy = BloomFilterPolicy::new(usize::MAX / 2 + 1);
    let mut builder = BloomFilterBuilder::new();
    builder.extend(["fig", "lime"]);
    let mut dst = b"before".to_vec();
    assert!(catch_unwind(AssertUnwindSafe(|| builder.finish_into(policy, &mut dst))).is_err());
    assert_eq!(dst, b"before");
    assert_eq!(builder.len(), 2);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn filters_are_appended(
        mut dst in vec(any::<u8>(), 0..50),
        key_lists in vec(vec(any_key(), 0..150), 0..4),
        bits_per_key in any_bits_per_key(),
        num_probes in 1..=30u8,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let mut builder = BloomFilterBuilder::new();
        let mut expected = dst.clone();
        for keys in key_lists {
            expected.extend(reference::create_filter(bits_per_key, num_probes, &keys));
            builder.extend(keys);
            builder.finish_into(policy, &mut dst);
        }
        prop_assert_eq!(dst, expected);
    }
}
