//! Setting the bits of many keys.

use super::probes::{BATCH, Batch, Probes};

/// Sets the bits of `len` keys.
///
/// `hash` writes the hashes of the keys that begin at an index into a slice of at most [`BATCH`].
pub(super) fn set_bits(
    bits: &mut [u8],
    probes: Probes,
    len: usize,
    mut hash: impl FnMut(usize, &mut [u32]),
) {
    let mut batch = Batch::new(probes);
    for start in (0..len).step_by(BATCH) {
        batch.start(BATCH.min(len - start), |hashes| hash(start, hashes));
        for _ in 0..probes.count() {
            set_all(bits, batch.next_positions());
        }
    }
}

#[inline]
fn set_all(bits: &mut [u8], positions: &[u32]) {
    let mut unrolled = positions.chunks_exact(8);
    for positions in &mut unrolled {
        for &position in positions {
            set_bit(bits, position);
        }
    }
    for &position in unrolled.remainder() {
        set_bit(bits, position);
    }
}

#[inline]
fn set_bit(bits: &mut [u8], position: u32) {
    static BITS: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    // A table, because shifting a byte makes each step wait for the one before on some processors.
    bits[(position / 8) as usize] |= BITS[(position % 8) as usize];
}
