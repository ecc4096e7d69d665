//! Creating filters: every function makes the oracle's bytes, for any keys.

use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;

use crate::common::strategies::{any_keys, any_policy, config, many_keys};
use crate::common::ways::assert_makes_as_reference;
use crate::common::{drawn, keys_with_hashes, of_any_magnitude, random_hashes, reference};

#[test]
fn many_keys_make_leveldbs_bytes_for_all_numbers_of_probes() {
    let keys = keys_with_hashes(&random_hashes(5000, 2));
    for num_probes in 1..=30_u8 {
        let policy = BloomFilterPolicy::new((u32::from(num_probes) * 100).div_ceil(69));
        assert_eq!(policy.shape(0).num_probes(), num_probes);
        for num_keys in [128, 1000, 5000] {
            assert_makes_as_reference(policy, &keys[..num_keys]);
        }
    }
}

#[test]
fn the_number_of_probes_is_leveldbs_for_all_bits_per_key() {
    for bits_per_key in (0..100_000).chain(4_294_000..=4_294_967) {
        let num_probes = BloomFilterPolicy::new(bits_per_key).shape(0).num_probes();
        let expected = reference::num_probes(bits_per_key as usize);
        assert_eq!(num_probes, expected, "{bits_per_key} bits per key");
    }
    for millibits in 0..100_000 {
        let num_probes = BloomFilterPolicy::from_millibits_per_key(millibits).shape(0).num_probes();
        let expected = (millibits * 69 / 100_000).clamp(1, 30);
        assert_eq!(u32::from(num_probes), expected, "{millibits} millibits per key");
    }
}

#[test]
fn thousandths_of_a_bit_are_rounded_up_to_whole_bytes() {
    let mut below = drawn(1);
    for i in 0..20_000 {
        let max = if i % 2 == 0 { u32::MAX as usize } else { 1 << 16 };
        let num_keys = of_any_magnitude(max, &mut below) - 1;
        let step = if i % 3 == 0 { 1000 } else { 1 };
        let millibits = (of_any_magnitude(max, &mut below) - 1) / step * step;
        let millibits = u32::try_from(millibits).expect("at most u32::MAX");
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        assert_eq!(policy.millibits_per_key(), millibits);
        let num_bytes = (num_keys as u128 * u128::from(millibits)).div_ceil(8000).max(8);
        // Some numbers of bits exceed a usize.
        if num_bytes * 8 < usize::MAX as u128 {
            let shape = policy.shape(num_keys);
            assert_eq!(shape.filter_len() as u128, num_bytes + 1, "{num_keys} keys, {policy:?}");
            assert_eq!(shape.num_bits(), shape.filter_len() as u64 * 8 - 8);
            if step == 1000 {
                let bits_per_key = millibits / 1000;
                assert_eq!(policy, BloomFilterPolicy::new(bits_per_key));
                let num_bytes = reference::num_bytes(bits_per_key as usize, num_keys);
                assert_eq!(shape.filter_len(), num_bytes + 1, "{num_keys} keys, {policy:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_keys_and_any_policy_make_the_oracles_bytes(
        keys in prop_oneof![15 => any_keys(200), 1 => many_keys(1000..=4000)],
        policy in any_policy(),
    ) {
        assert_makes_as_reference(policy, &keys.0);
    }
}
