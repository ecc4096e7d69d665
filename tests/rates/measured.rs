//! The library's measured rates, against independent measurements.

use leveldb_filter::{BloomFilter, BloomFilterPolicy};

use crate::common::measure::{Effort, false_positive_rate};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Millibits per key, keys, and probes if not LevelDB's; among them shapes whose probes meet, for
/// which formulas fail.
type Shape = (usize, usize, Option<u8>);

const SHAPES: [Shape; 12] = [
    (10_000, 1, None),
    (10_000, 166, None),
    (10_000, 1_000, Some(2)),
    (10_000, 20_000, None),
    (5_000, 37_984, None),
    (4_726, 40_185, None),
    (4_000, 52_420, None),
    (6_000, 47_169, None),
    (8_000, 65_535, None),
    (8_000, 65_537, None),
    (8_000, 262_144, Some(8)),
    (10_000, 300_000, None),
];

/// Shapes for few keys, whose filters differ most.
const DIFFERENT: [Shape; 9] = [
    (57_000, 1, None),
    (57_000, 1, Some(2)),
    (31_000, 3, None),
    (24_000, 8, None),
    (5_000, 15, None),
    (5_000, 8, Some(10)),
    (1_000, 40, Some(30)),
    (12_000, 90, Some(17)),
    (7_000, 300, None),
];

fn assert_measures(shapes: &[Shape], effort: Effort, at_most: f64) {
    for &(millibits, num_keys, num_probes) in shapes {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let policy = num_probes.map_or(policy, |num_probes| policy.with_num_probes(num_probes));
        let shape = policy.shape(num_keys);
        let expected = false_positive_rate(policy, num_keys, effort);
        let error = shape.measure_false_positive_rate(num_keys) / expected.mean - 1.0;
        println!("{num_keys} keys, {shape:?}: {:.4e}, {error:+.3}", expected.mean);
        // What is expected was measured, too.
        let at_most = at_most + expected.standard_error / expected.mean;
        assert!(error.abs() < at_most, "{num_keys} keys, {shape:?}: {expected:?}, {error:+.3}");
    }
}

#[test]
fn rates_are_measured_to_a_twentieth_for_any_shape() {
    assert_measures(&SHAPES, Effort { matches: 10_000, max_lookups: 1 << 24 }, 0.05);
}

#[test]
fn rates_of_few_keys_are_measured_to_3_per_cent() {
    assert_measures(&DIFFERENT, Effort { matches: 50_000, max_lookups: 1 << 23 }, 0.03);
}

#[test]
#[expect(clippy::float_cmp, reason = "0 and 1 are exact")]
fn the_rate_is_0_without_keys_and_1_if_all_bits_are_set_or_there_are_no_probes() {
    for num_keys in [0, 1, 1000] {
        assert_eq!(POLICY.shape(num_keys).measure_false_positive_rate(0), 0.0);
    }
    // Of so many keys, most are left out, because they would set no further bit.
    for num_keys in [100_000, usize::MAX] {
        assert_eq!(POLICY.shape(1).measure_false_positive_rate(num_keys), 1.0);
    }
    let no_probes = BloomFilter::new([0; 9]).expect("a probe count of 0 is read");
    assert_eq!(no_probes.measure_false_positive_rate(), 1.0);
    assert_eq!(no_probes.shape().measure_false_positive_rate(0), 1.0);
}

#[test]
fn a_filter_and_its_shape_measure_nearly_the_same_rate() {
    let mut filter = BloomFilter::empty(POLICY.shape(20_000));
    for key in 0..20_000_u32 {
        filter.insert_key(&key.to_le_bytes());
    }
    let [by_itself, by_shape] =
        [filter.measure_false_positive_rate(), filter.shape().measure_false_positive_rate(20_000)];
    assert!((by_itself / by_shape - 1.0).abs() < 0.06, "{by_itself} {by_shape}");
}
