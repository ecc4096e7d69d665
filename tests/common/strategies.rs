//! The inputs that property tests are tried on.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0xbc9f1d34),
        ..ProptestConfig::default()
    }
}

/// Keys of up to 40 bytes, and tiny ones that often repeat.
///
/// Boxed, as others that many tests draw from: each of them would compile its own copy.
pub fn any_key() -> BoxedStrategy<Vec<u8>> {
    prop_oneof![3 => vec(any::<u8>(), 0..=40), 1 => vec(0x7eu8..=0x81, 0..=2)].boxed()
}

pub fn any_bits_per_key() -> impl Strategy<Value = usize> {
    prop_oneof![7 => 0..=64usize, 1 => 65..=2000usize]
}

/// A hash where an overflow or a rounded remainder would show first, or any other.
pub fn any_hash() -> impl Strategy<Value = u32> {
    prop_oneof![0..=16u32, u32::MAX - 16..=u32::MAX, any::<u32>()]
}
