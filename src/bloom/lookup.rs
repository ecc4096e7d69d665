//! Looking up many keys at once.

use super::probes::{BATCH, Batch, Probes, SMALL_BATCH, bit};

/// The probes that all keys of a batch make: the first ones rule out most absent keys, and those
/// that are left go on alone, unless they are many.
const PROBES_TOGETHER: usize = 2;

/// Writes for each key whether all its bits are set.
///
/// `hash` writes the hashes of the keys that begin at an index into a slice of at most [`BATCH`].
pub(super) fn may_match(
    bits: &[u8],
    probes: Probes,
    matches: &mut [bool],
    hash: impl FnMut(usize, &mut [u32]),
) {
    if matches.len() <= SMALL_BATCH {
        may_match_in::<SMALL_BATCH>(bits, probes, matches, hash);
    } else {
        may_match_in::<BATCH>(bits, probes, matches, hash);
    }
}

fn may_match_in<const N: usize>(
    bits: &[u8],
    probes: Probes,
    matches: &mut [bool],
    mut hash: impl FnMut(usize, &mut [u32]),
) {
    let mut batch = Batch::<N>::new(probes);
    let mut indices = [0; N];
    for (i, matches) in matches.chunks_mut(N).enumerate() {
        batch.start(matches.len(), |hashes| hash(i * N, hashes));
        // 1 for each key whose bits have all been set so far, else 0.
        let all = &mut [1; N][..matches.len()];
        for _ in 0..PROBES_TOGETHER {
            if let Some(positions) = batch.next_positions() {
                and_bits(bits, positions, all);
            }
        }

        let left: u32 = all.iter().sum();
        if left as usize > matches.len() / 2 {
            while let Some(positions) = batch.next_positions() {
                and_bits(bits, positions, all);
            }
        } else {
            for &index in indices_of_set(all, &mut indices) {
                all[index] = batch.rest_may_match(bits, index).into();
            }
        }
        for (matches, all) in matches.iter_mut().zip(all) {
            *matches = *all != 0;
        }
    }
}

#[inline]
fn and_bits(bits: &[u8], positions: &[u32], all: &mut [u32]) {
    // Unrolled by hand, which takes a tenth off the time of a batch.
    let mut positions = positions.chunks_exact(8);
    let mut all = all.chunks_exact_mut(8);
    for (positions, all) in (&mut positions).zip(&mut all) {
        for (all, &position) in all.iter_mut().zip(positions) {
            *all &= bit(bits, position);
        }
    }
    for (all, &position) in all.into_remainder().iter_mut().zip(positions.remainder()) {
        *all &= bit(bits, position);
    }
}

/// No branch depends on a key here: half of them would be mispredicted.
#[inline]
fn indices_of_set<'a, const N: usize>(all: &[u32], indices: &'a mut [usize; N]) -> &'a [usize] {
    let mut len = 0;
    for (index, all) in all.iter().enumerate() {
        indices[len % N] = index;
        len += *all as usize;
    }
    &indices[..len]
}
