//! Looking up many keys at once.

use super::probes::{BATCH, Batch, Probes};

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
    mut hash: impl FnMut(usize, &mut [u32]),
) {
    let mut batch = Batch::new(probes);
    for (i, matches) in matches.chunks_mut(BATCH).enumerate() {
        batch.start(matches.len(), |hashes| hash(i * BATCH, hashes));
        matches.fill(true);
        for _ in 0..PROBES_TOGETHER {
            if let Some(positions) = batch.next_positions() {
                keep_set(bits, positions, matches);
            }
        }

        let mut indices = [0; BATCH];
        let indices = indices_of_matches(matches, &mut indices);
        if indices.len() > matches.len() / 2 {
            while let Some(positions) = batch.next_positions() {
                keep_set(bits, positions, matches);
            }
        } else {
            for &index in indices {
                matches[index] = batch.rest_may_match(bits, index);
            }
        }
    }
}

#[inline]
fn keep_set(bits: &[u8], positions: &[u32], matches: &mut [bool]) {
    for (matches, &position) in matches.iter_mut().zip(positions) {
        *matches &= bits[(position / 8) as usize] >> (position % 8) & 1 != 0;
    }
}

/// No branch depends on an answer here: half of them would be mispredicted.
#[inline]
fn indices_of_matches<'a>(matches: &[bool], indices: &'a mut [usize; BATCH]) -> &'a [usize] {
    let mut len = 0;
    for (index, &matches) in matches.iter().enumerate() {
        indices[len % BATCH] = index;
        len += usize::from(matches);
    }
    &indices[..len]
}
