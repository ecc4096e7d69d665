//! Many keys at once: the positions of their bits, and lookups.

use super::one::may_match_out_of_line;
use super::probes::{Divisor, ProbeSeq, Probes, bit};
use crate::hash::hash_many;
use crate::{BloomHash, bloom_hash};

/// The keys of a [`Batch`]: enough to hide the latency of a step behind other keys, few enough for
/// the first-level cache.
pub(crate) const BATCH: usize = 128;

/// The keys of a small batch: clearing arrays of [`BATCH`] would cost more than it saves.
pub(crate) const SMALL_BATCH: usize = 32;

/// Fewer keys take less time one at a time: the benchmarks "batches" and "create" show it.
pub(super) const MANY: usize = 16;

/// Keys, or hashes of keys.
pub(crate) trait Hashed: Sized {
    fn bloom_hash(&self) -> BloomHash;
    fn hash_all(items: &[Self], hashes: &mut [BloomHash]);
}

impl Hashed for BloomHash {
    #[inline]
    fn bloom_hash(&self) -> BloomHash {
        *self
    }

    #[inline]
    fn hash_all(items: &[Self], hashes: &mut [BloomHash]) {
        hashes.copy_from_slice(items);
    }
}

impl<K: AsRef<[u8]>> Hashed for K {
    #[inline]
    fn bloom_hash(&self) -> BloomHash {
        bloom_hash(self.as_ref())
    }

    #[inline]
    fn hash_all(items: &[Self], hashes: &mut [BloomHash]) {
        hash_many(items, hashes);
    }
}

/// Writes for each key whether all its bits are set.
#[inline]
pub(crate) fn may_match<T: Hashed>(bits: &[u8], probes: Probes, keys: &[T], matches: &mut [bool]) {
    if keys.len() < MANY {
        for (key, matches) in keys.iter().zip(matches) {
            *matches = probes.may_match(bits, key.bloom_hash());
        }
    } else if keys.len() <= SMALL_BATCH {
        Batch::<SMALL_BATCH>::may_match(probes, bits, keys, matches);
    } else {
        Batch::<BATCH>::may_match(probes, bits, keys, matches);
    }
}

/// The probes of up to `N` keys, two of each key at a time, in loops that the compiler turns into
/// vector instructions: `(start next_positions*)*`.
pub(super) struct Batch<const N: usize> {
    probes: Probes,
    divisor: Divisor,
    /// How many probes each key has left.
    probes_left: u8,
    len: usize,
    /// For each key's next probe.
    hashes: [BloomHash; N],
    deltas: [u32; N],
    positions: [[u32; N]; 2],
}

impl<const N: usize> Batch<N> {
    #[inline]
    pub(super) fn new(probes: Probes) -> Self {
        let (divisor, hashes) = (Divisor::new(probes), [BloomHash::default(); N]);
        let (deltas, positions) = ([0; N], [[0; N]; 2]);
        Self { probes, divisor, probes_left: 0, len: 0, hashes, deltas, positions }
    }

    /// Starts over with these keys, at most `N`.
    #[inline]
    pub(super) fn start<T: Hashed>(&mut self, keys: &[T]) {
        (self.probes_left, self.len) = (self.probes.count, keys.len());
        T::hash_all(keys, &mut self.hashes[..keys.len()]);
        for (slot, &hash) in self.deltas.iter_mut().zip(&self.hashes[..self.len]) {
            *slot = ProbeSeq::new(hash).delta;
        }
    }

    /// The positions of each key's next bit, and of the one after it if there is one.
    #[inline]
    pub(super) fn next_positions(&mut self) -> Option<[&[u32]; 2]> {
        let Self { divisor, len, hashes, deltas, positions: [first, second], .. } = self;
        let (hashes, deltas) = (&mut hashes[..*len], &deltas[..*len]);
        let (first, second) = (&mut first[..*len], &mut second[..*len]);
        match self.probes_left {
            0 => None,
            1 => {
                self.probes_left = 0;
                advance(*divisor, hashes, deltas, first);
                Some([first, &[]])
            }
            _ => {
                self.probes_left -= 2;
                advance_by_two(*divisor, hashes, deltas, first, second);
                Some([first, second])
            }
        }
    }

    /// Writes for each of any number of keys whether all its bits are set.
    #[inline(never)]
    fn may_match<T: Hashed>(probes: Probes, bits: &[u8], keys: &[T], matches: &mut [bool]) {
        let mut batch = Self::new(probes);
        for (keys, matches) in keys.chunks(N).zip(matches.chunks_mut(N)) {
            batch.start(keys);
            batch.look_up(bits, matches);
        }
    }

    /// Writes for each key since [`start`](Self::start) whether all its bits are set.
    // Out of line, lookups of 8 to 20 keys take 1% fewer instructions.
    #[inline(never)]
    fn look_up(&mut self, bits: &[u8], matches: &mut [bool]) {
        let bits = self.probes.reached(bits);
        // Of each key, the lowest bit is 1 if all bits were set so far; the others mean nothing.
        let all = &mut [u8::MAX; N][..matches.len()];
        // Two probes for all keys rule out most absent ones.
        if let Some(positions) = self.next_positions() {
            and_bits(bits, positions, all);
        }

        // The remaining keys go on one at a time, unless they are many or have no probes left.
        // Their number fits a byte; summing wider integers would make the whole lookup slower.
        const { assert!(N <= u8::MAX as usize) };
        let keys_left: u8 = all.iter().map(|all| all & 1).sum();
        if self.probes_left == 0 || usize::from(keys_left) > matches.len() / 2 {
            while let Some(positions) = self.next_positions() {
                and_bits(bits, positions, all);
            }
        } else {
            for index in indices_of_set(all, &mut [0; N]).iter().map(|&index| usize::from(index)) {
                let seq = ProbeSeq { delta: self.deltas[index], hash: self.hashes[index].0 };
                all[index] =
                    may_match_out_of_line(self.probes.reciprocal, bits, seq, self.probes_left)
                        .into();
            }
        }
        for (matches, all) in matches.iter_mut().zip(all) {
            *matches = *all & 1 != 0;
        }
    }
}

/// Ands the bits at each key's positions to its byte of `all`; `second` may be empty.
#[inline]
fn and_bits(bits: &[u8], [first, second]: [&[u32]; 2], all: &mut [u8]) {
    // The same bit twice changes nothing.
    let second = if second.is_empty() { first } else { second };
    // Unrolled by hand for 3 to 5% in the benchmark "lookup", batch.
    let mut first = first.chunks_exact(8);
    let mut second = second.chunks_exact(8);
    let mut all = all.chunks_exact_mut(8);
    for ((first, second), all) in (&mut first).zip(&mut second).zip(&mut all) {
        and_two_bits(bits, first, second, all);
    }
    and_two_bits(bits, first.remainder(), second.remainder(), all.into_remainder());
}

#[inline]
fn and_two_bits(bits: &[u8], first: &[u32], second: &[u32], all: &mut [u8]) {
    for ((all, &first), &second) in all.iter_mut().zip(first).zip(second) {
        *all &= bit(bits, first) & bit(bits, second);
    }
}

/// The indices at which the lowest bit is set, without a branch that depends on a key.
#[inline]
fn indices_of_set<'a, const N: usize>(all: &[u8], indices: &'a mut [u8; N]) -> &'a [u8] {
    let mut len = 0;
    for (index, all) in (0..).zip(all) {
        indices[len % N] = index;
        len += usize::from(all & 1);
    }
    &indices[..len]
}

/// Writes each hash's position, and advances the hashes to the next probe.
// Out of line so that `.ci/codegen` can look for vector instructions.
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
