//! One strategy for each kind of test input.

use std::fmt;
use std::ops::RangeInclusive;

use leveldb_filter::BloomFilterPolicy;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::common::random::words;

/// The same cases in every run, unless `PROPTEST_CASES` or `PROPTEST_RNG_SEED` is set.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0xbc9f1d34),
        ..ProptestConfig::default()
    }
}

/// Keys of up to 40 bytes, and tiny ones that often repeat.
///
/// Boxed, like other strategies with many users, each of which would compile its own copy.
pub fn any_key() -> BoxedStrategy<Vec<u8>> {
    // A strategy for each byte would take most of the tests' time.
    let random = (0..=40_usize, any::<u64>()).prop_map(|(len, seed)| {
        words(seed).flat_map(u64::to_le_bytes).take(len).collect::<Vec<_>>()
    });
    prop_oneof![3 => random, 1 => vec(0x7eu8..=0x81, 0..=2)].boxed()
}

/// Keys, or a filter's bytes, of which only the first are printed.
#[derive(Clone)]
pub struct Shortened<T>(pub Vec<T>);

impl<T: fmt::Debug> fmt::Debug for Shortened<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, last) = (self.0.len(), self.0.last());
        write!(f, "{len}: {:02x?}..{last:02x?}", &self.0[..len.min(16)])
    }
}

pub type Keys = Shortened<Vec<u8>>;

/// Up to `max` keys, with every special case.
pub fn any_keys(max: usize) -> BoxedStrategy<Keys> {
    prop_oneof![3 => vec(any_key(), 0..=max).prop_map(Shortened), 1 => many_keys(0..=max)].boxed()
}

/// Random keys of one length or of many.
pub fn many_keys(num_keys: RangeInclusive<usize>) -> BoxedStrategy<Keys> {
    let max_len = prop_oneof![8 => 0..=40_u64, 1 => 41..=300_u64];
    (num_keys, max_len, any::<bool>(), any::<u64>())
        .prop_map(|(num_keys, max_len, fixed, seed)| {
            let mut words = words(seed);
            let mut key = || {
                let word = words.next().expect("endless");
                let len = if fixed { max_len } else { word % (max_len + 1) };
                let bytes = words.by_ref().flat_map(u64::to_le_bytes);
                bytes.take(len.try_into().expect("short")).collect()
            };
            Shortened((0..num_keys).map(|_| key()).collect())
        })
        .boxed()
}

/// LevelDB's policy, a tuned one, or one with fractions of a bit per key or a least number of keys.
pub fn any_policy() -> BoxedStrategy<BloomFilterPolicy> {
    let bits_per_key = prop_oneof![7 => 0..=64u32, 1 => 65..=2000u32];
    let leveldbs = bits_per_key.prop_map(BloomFilterPolicy::new).boxed();
    let in_thousandths = (0..=64_000u32).prop_map(BloomFilterPolicy::from_millibits_per_key);
    prop_oneof![
        3 => leveldbs.clone(),
        1 => leveldbs.clone().prop_map(BloomFilterPolicy::tuned),
        1 => (leveldbs, any::<bool>(), 0..300_usize).prop_map(|(policy, is_tuned, min_keys)| {
            let policy = if is_tuned { policy.tuned() } else { policy };
            policy.with_min_keys(min_keys)
        }),
        1 => in_thousandths,
    ]
    .boxed()
}

/// Any hash, or one at which an overflow or a rounded remainder would show first.
pub fn any_hash() -> impl Strategy<Value = u32> {
    prop_oneof![0..=16u32, u32::MAX - 16..=u32::MAX, any::<u32>()]
}

/// Bytes to read as a filter, whether or not a policy makes them: with half of the bits set, three
/// quarters, and so on, since otherwise many probes rarely match.
pub fn any_filter(len: RangeInclusive<usize>) -> BoxedStrategy<Shortened<u8>> {
    let num_probes = prop_oneof![4 => 0..=30_u8, 1 => any::<u8>()];
    (len, num_probes, 0..=3_usize, any::<u64>())
        .prop_map(|(len, num_probes, fullness, seed)| {
            let mut words = words(seed);
            let mut word = || words.by_ref().take(1 + fullness).fold(0, |all, word| all | word);
            let mut filter: Vec<u8> = Vec::with_capacity(len + 8);
            while filter.len() < len {
                filter.extend(word().to_le_bytes());
            }
            filter.truncate(len);
            if let Some(last) = filter.last_mut() {
                *last = num_probes;
            }
            Shortened(filter)
        })
        .boxed()
}

/// The offset of each data block, and its keys.
pub type DataBlocks = Vec<(u64, Vec<Vec<u8>>)>;

/// A `base_lg`, mostly LevelDB's, and data blocks on both sides of range boundaries and anywhere in
/// a few ranges.
pub fn any_data_blocks() -> BoxedStrategy<(u8, DataBlocks)> {
    let base_lg = prop_oneof![Just(11), 0..64_u8];
    base_lg.prop_flat_map(|base_lg| (Just(base_lg), data_blocks(base_lg))).boxed()
}

fn data_blocks(base_lg: u8) -> BoxedStrategy<DataBlocks> {
    let ranges = move |num_ranges: u64| u128::from(num_ranges) << base_lg;
    let around =
        move |(num_ranges, beyond): (u64, u128)| (ranges(num_ranges) + beyond).saturating_sub(1);
    let step = prop_oneof![
        (0..4_u64, 0..=2_u128).prop_map(around),
        any::<u64>().prop_map(move |step| u128::from(step) % ranges(3)),
    ];
    let blocks = vec((step, vec(any_key(), 0..20)), 0..20).prop_map(|blocks| {
        let mut end = 0_u128;
        let with_offset = |(step, keys): (u128, _)| {
            end = (end + step).min(u64::MAX.into());
            (u64::try_from(end).expect("at most u64::MAX"), keys)
        };
        blocks.into_iter().map(with_offset).collect()
    });
    blocks.boxed()
}
