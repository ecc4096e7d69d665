//! Both remainders against `%`, which is LevelDB's.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Divisor, Probes, byte_index};

/// The numbers of bytes at which something changes, or is most likely to go wrong.
const NUM_BYTES: [usize; 22] = [
    1, 2, 3, 5, 7, 8, 9, 40, 125, 1250, 25000, 0xffff, 0x10001, 12500000, 0xfffffff, 0x10000000,
    0x10000001, 0x1ffffffe, 0x1fffffff, 0x20000000, 0x20000001, 0x20003039,
];

struct Remainders {
    num_bits: u64,
    probes: Probes,
    divisor: Divisor,
}

impl Remainders {
    fn new(num_bytes: usize) -> Self {
        let probes = Probes::new(num_bytes, 1);
        Self { num_bits: num_bytes as u64 * 8, probes, divisor: Divisor::new(probes) }
    }

    fn are_exact_for(&self, hash: u32) -> bool {
        let position = u64::from(hash) % self.num_bits;
        byte_index(self.probes.reciprocal, self.probes.num_bytes, hash) as u64 == position / 8
            && hash % 8 == u32::try_from(position % 8).unwrap()
            && u64::from(self.divisor.remainder(hash)) == position
    }
}

/// The multiples of the number of bits and their neighbours, where a quotient that is a little off
/// is off by one; some of them if there are many.
fn hashes_around_multiples(num_bits: u64) -> impl Iterator<Item = u32> {
    let multiples = (1 << 32) / num_bits + 1;
    let step = usize::try_from(multiples / 1_000 + 1).unwrap();
    (0..=multiples)
        .step_by(step)
        .flat_map(move |i| [i * num_bits, i * num_bits + 1, (i * num_bits).wrapping_sub(1)])
        .filter_map(|hash| u32::try_from(hash).ok())
        .chain([u32::MAX, u32::MAX - 1, u32::MAX - 7])
}

#[test]
fn remainders_are_exact_around_multiples() {
    for num_bytes in NUM_BYTES.into_iter().chain(1..2_000) {
        let remainders = Remainders::new(num_bytes);
        for hash in hashes_around_multiples(remainders.num_bits) {
            assert!(remainders.are_exact_for(hash), "{hash} of {num_bytes} bytes");
        }
    }
}

#[test]
#[ignore = "takes minutes: every hash for each of the sizes"]
fn remainders_are_exact_for_every_hash() {
    for num_bytes in NUM_BYTES {
        let remainders = Remainders::new(num_bytes);
        let wrong = (0..=u32::MAX).find(|&hash| !remainders.are_exact_for(hash));
        assert_eq!(wrong, None, "{num_bytes} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0xbc9f1d34),
        cases: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn remainders_are_exact(
        num_bytes in (0_u32..32, any::<u64>()).prop_map(|(log2, x)| {
            usize::try_from(x % (1 << log2) + 1).unwrap()
        }),
        hashes in prop::collection::vec(any::<u32>(), 50),
    ) {
        let remainders = Remainders::new(num_bytes);
        let around_multiples = hashes_around_multiples(remainders.num_bits).take(200);
        for hash in hashes.into_iter().chain(around_multiples) {
            prop_assert!(remainders.are_exact_for(hash), "{hash} of {num_bytes} bytes");
        }
    }
}
