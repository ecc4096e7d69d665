//! Computes the positions of many keys' bits at once, and looks the keys up.

use super::probes::{Divisor, PreparedShape, ProbeSeq, bit};
use crate::hash::{BATCH, hash_many};
use crate::{BloomHash, bloom_hash};

/// Fewer keys take less time one at a time, as the benchmarks "batches" and "create" show.
pub(super) const MIN_BATCH: usize = 16;

/// Keys, or hashes of keys.
pub(crate) trait KeyOrHash: Sized {
    fn bloom_hash(&self) -> BloomHash;
    fn hash_all(items: &[Self], hashes: &mut [BloomHash]);
}

impl KeyOrHash for BloomHash {
    fn bloom_hash(&self) -> BloomHash {
        *self
    }

    fn hash_all(items: &[Self], hashes: &mut [BloomHash]) {
        hashes.copy_from_slice(items);
    }
}

impl<K: AsRef<[u8]>> KeyOrHash for K {
    fn bloom_hash(&self) -> BloomHash {
        bloom_hash(self.as_ref())
    }

    fn hash_all(items: &[Self], hashes: &mut [BloomHash]) {
        hash_many(items, hashes);
    }
}

/// Writes for each key whether all its bits are set.
pub(crate) fn may_match<T: KeyOrHash>(
    prepared: PreparedShape,
    bits: &[u8],
    keys: &[T],
    matches: &mut [bool],
) {
    if keys.len() < MIN_BATCH {
        for (key, matches) in keys.iter().zip(matches) {
            *matches = prepared.may_match(|index| bits.get(index).copied(), key.bloom_hash());
        }
    } else {
        let mut batch = Batch::new(prepared);
        for (keys, matches) in keys.chunks(BATCH).zip(matches.chunks_mut(BATCH)) {
            batch.start(keys);
            batch.look_up(bits, matches);
        }
    }
}

/// The probes of up to [`BATCH`] keys, two of each key at a time, in loops that the compiler turns
/// into vector instructions: `(start next_positions*)*`.
pub(super) struct Batch {
    prepared: PreparedShape,
    divisor: Divisor,
    /// How many probes each key has left.
    probes_left: u8,
    len: usize,
    /// For each key's next probe.
    hashes: [BloomHash; BATCH],
    deltas: [u32; BATCH],
    positions: [[u32; BATCH]; 2],
}

impl Batch {
    pub(super) fn new(prepared: PreparedShape) -> Self {
        let (divisor, hashes) = (Divisor::new(prepared), [BloomHash::default(); BATCH]);
        let (deltas, positions) = ([0; BATCH], [[0; BATCH]; 2]);
        Self { prepared, divisor, probes_left: 0, len: 0, hashes, deltas, positions }
    }

    /// Starts over with these keys, at most [`BATCH`].
    pub(super) fn start<T: KeyOrHash>(&mut self, keys: &[T]) {
        (self.probes_left, self.len) = (self.prepared.num_probes, keys.len());
        T::hash_all(keys, &mut self.hashes[..keys.len()]);
        for (slot, &hash) in self.deltas.iter_mut().zip(&self.hashes[..self.len]) {
            *slot = ProbeSeq::new(hash).delta;
        }
    }

    /// The positions of each key's next two bits, or of its last bit.
    pub(super) fn next_positions(&mut self) -> Option<[&[u32]; 2]> {
        let Self { divisor, len, hashes, deltas, positions: [first, second], .. } = self;
        let (first, second) = (&mut first[..*len], &mut second[..*len]);
        let num_probes = self.probes_left.min(2);
        if num_probes == 0 {
            return None;
        }
        self.probes_left -= num_probes;
        advance_by_two(*divisor, &mut hashes[..*len], &deltas[..*len], first, second);
        Some([first, if num_probes == 2 { second } else { &[] }])
    }

    /// Writes for each key since [`start`](Self::start) whether all its bits are set.
    fn look_up(&mut self, bits: &[u8], matches: &mut [bool]) {
        // The lowest bit of an answer is 1 if all bits so far are set. Its other bits mean nothing.
        let answers = &mut [u8::MAX; BATCH][..matches.len()];
        // Two probes for all keys rule out most absent keys.
        if let Some(positions) = self.next_positions() {
            and_bits(bits, positions, answers);
        }

        // The remaining keys go on one at a time, unless they are many or have no probes left.
        // Their number fits into a byte. Sums of wider integers would make the lookup slower.
        const { assert!(BATCH <= u8::MAX as usize) };
        let keys_left: u8 = answers.iter().map(|answer| answer & 1).sum();
        if self.probes_left == 0 || usize::from(keys_left) > matches.len() / 2 {
            while let Some(positions) = self.next_positions() {
                and_bits(bits, positions, answers);
            }
        } else {
            for &key in indices_of_odd(answers, &mut [0; BATCH]) {
                let key = usize::from(key);
                let probes = ProbeSeq { delta: self.deltas[key], hash: self.hashes[key].0 };
                let byte = |index: usize| bits.get(index).copied();
                answers[key] = self.prepared.are_set(byte, probes, self.probes_left).into();
            }
        }
        for (matches, answer) in matches.iter_mut().zip(answers) {
            *matches = *answer & 1 != 0;
        }
    }
}

/// Ands the bits at each key's positions to the key's answer. `second` may be empty.
fn and_bits(bits: &[u8], [first, second]: [&[u32]; 2], answers: &mut [u8]) {
    // The same bit twice changes nothing.
    let second = if second.is_empty() { first } else { second };
    // Unrolled by hand for 10 to 12% of batches of present keys on Zen 3: 16 and 20 bytes, in filters
    // of 32 to 30,000 keys.
    let mut first = first.chunks_exact(8);
    let mut second = second.chunks_exact(8);
    let mut answers = answers.chunks_exact_mut(8);
    for ((first, second), answers) in (&mut first).zip(&mut second).zip(&mut answers) {
        and_two_bits(bits, first, second, answers);
    }
    and_two_bits(bits, first.remainder(), second.remainder(), answers.into_remainder());
}

fn and_two_bits(bits: &[u8], first: &[u32], second: &[u32], answers: &mut [u8]) {
    for ((answer, &first), &second) in answers.iter_mut().zip(first).zip(second) {
        *answer &= bit(bits, first) & bit(bits, second);
    }
}

/// The indices of odd numbers, found without a branch that depends on one.
fn indices_of_odd<'a>(numbers: &[u8], indices: &'a mut [u8; BATCH]) -> &'a [u8] {
    let mut len = 0;
    for (index, number) in (0..).zip(numbers) {
        indices[len % BATCH] = index;
        len += usize::from(number & 1);
    }
    &indices[..len]
}

/// Writes the positions of each hash's next two probes, and advances the hashes by both.
// Takes slices, which do not overlap, so that the compiler makes vector instructions: `.ci/codegen`
// looks for them.
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
