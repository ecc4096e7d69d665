//! Setting the bits of many keys.

use super::probes::{BATCH, Batch, Probes, set_bit};

/// Sets the bits of `len` keys.
///
/// `hash` writes the hashes of the keys that begin at an index into a slice of at most [`BATCH`].
pub(super) fn set_bits(
    bits: &mut [u8],
    probes: Probes,
    len: usize,
    mut hash: impl FnMut(usize, &mut [u32]),
) {
    let mut batch = Batch::new();
    for start in (0..len).step_by(BATCH) {
        batch.start(BATCH.min(len - start), |hashes| hash(start, hashes));
        for _ in 0..probes.count() {
            for &position in batch.next_positions(probes) {
                set_bit(bits, position);
            }
        }
    }
}
