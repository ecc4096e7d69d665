//! The probes of many keys at once.

use super::one::may_match_out_of_line;
use super::probes::{Divisor, ProbeSeq, Probes, delta};
use crate::BloomHash;

/// How many keys make a [`Batch`]: enough to hide the latency of a step behind the other keys,
/// few enough for the first-level cache.
pub(super) const BATCH: usize = 128;

/// How many keys make a batch of few keys, such as those of a filter block: an array of [`BATCH`]
/// costs more to clear than they need.
pub(super) const SMALL_BATCH: usize = 32;

/// The probes of up to `N` keys, two of each key at a time, in plain loops over arrays for the
/// compiler to make vector instructions of.
///
/// `(start next_positions* rest_may_match*)*`: after [`start`](Self::start), each
/// [`next_positions`](Self::next_positions) gives the bits of two more probes of all keys, until
/// there are none. [`rest_may_match`](Self::rest_may_match) asks instead for all probes that are
/// left of one key, and leaves them left.
pub(super) struct Batch<const N: usize> {
    probes: Probes,
    divisor: Divisor,
    /// The probes that each key has left.
    left: u8,
    len: usize,
    /// Each stands for its key's next probe.
    hashes: [BloomHash; N],
    deltas: [u32; N],
    positions: [[u32; N]; 2],
}

impl<const N: usize> Batch<N> {
    pub(super) fn new(probes: Probes) -> Self {
        let (divisor, zeros) = (Divisor::new(probes), [0; N]);
        Self {
            probes,
            divisor,
            left: 0,
            len: 0,
            hashes: [BloomHash::default(); N],
            deltas: zeros,
            positions: [zeros; 2],
        }
    }

    /// Starts over with `len` keys, whose hashes `fill` writes.
    #[inline]
    pub(super) fn start(&mut self, len: usize, fill: impl FnOnce(&mut [BloomHash])) {
        (self.left, self.len) = (self.probes.count, len);
        let hashes = &mut self.hashes[..len];
        fill(hashes);
        for (slot, hash) in self.deltas.iter_mut().zip(hashes) {
            *slot = delta(*hash);
        }
    }

    /// The positions of each key's next bit, and of the one after it, in the order of the keys.
    ///
    /// The second slice is empty if only one probe was left; `None` if there was none.
    #[inline]
    pub(super) fn next_positions(&mut self) -> Option<[&[u32]; 2]> {
        let Self { divisor, len, hashes, deltas, positions: [first, second], .. } = self;
        let (hashes, deltas) = (&mut hashes[..*len], &deltas[..*len]);
        let (first, second) = (&mut first[..*len], &mut second[..*len]);
        match self.left {
            0 => None,
            1 => {
                self.left = 0;
                advance(*divisor, hashes, deltas, first);
                Some([first, &[]])
            }
            _ => {
                self.left -= 2;
                advance_by_two(*divisor, hashes, deltas, first, second);
                Some([first, second])
            }
        }
    }

    /// Whether no probe is left.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Whether the bits of all probes that are left are set for the key at `index`.
    ///
    /// `bits` are those that hashes [reach](Probes::reached).
    #[inline]
    pub(super) fn rest_may_match(&self, bits: &[u8], index: usize) -> bool {
        let seq = ProbeSeq { delta: self.deltas[index], hash: self.hashes[index].0 };
        may_match_out_of_line(self.probes.reciprocal, bits, seq, self.left)
    }
}

/// Writes the positions that hashes stand for, and moves the hashes on to the next probe.
///
/// Out of line for `.ci/codegen` to look for vector instructions; in line, it is as fast in the
/// benchmark "create".
#[inline(never)]
fn advance(divisor: Divisor, hashes: &mut [BloomHash], deltas: &[u32], positions: &mut [u32]) {
    let keys = hashes.iter_mut().zip(deltas);
    for (position, (hash, &delta)) in positions.iter_mut().zip(keys) {
        *position = divisor.remainder(hash.0);
        hash.0 = hash.0.wrapping_add(delta);
    }
}

/// [`advance`] twice in one pass, which loads and stores each hash once.
#[inline(never)]
fn advance_by_two(
    divisor: Divisor,
    hashes: &mut [BloomHash],
    deltas: &[u32],
    first: &mut [u32],
    second: &mut [u32],
) {
    let keys = hashes.iter_mut().zip(deltas);
    for ((first, second), (hash, &delta)) in first.iter_mut().zip(second).zip(keys) {
        let second_hash = hash.0.wrapping_add(delta);
        *first = divisor.remainder(hash.0);
        *second = divisor.remainder(second_hash);
        hash.0 = second_hash.wrapping_add(delta);
    }
}
