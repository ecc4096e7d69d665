//! One key: whether all its bits are set, and setting them.
//!
//! Without the attributes, the compiler merges functions, which then spill registers, or it calls
//! where it could jump. The benchmarks "6 probes", "7 probes", "10 probes" and "20 probes" show it.
#![expect(clippy::inline_always, reason = "lookups take longer without")]

use std::mem;

use super::probes::{MAX_CACHED_BYTES, ProbeSeq, Probes, ROTATES_BYTES, byte_index};
use crate::BloomHash;

impl Probes {
    /// Whether all bits of a key are set.
    #[inline]
    pub(crate) fn may_match(&self, bits: &[u8], hash: BloomHash) -> bool {
        let seq = ProbeSeq::new(hash);
        if bits.len() > MAX_CACHED_BYTES {
            uncached_may_match(self.reciprocal, self.reached(bits), seq, self.count)
        } else if self.count == 6 {
            // LevelDB's number for 9 and 10 bits per key: inlined.
            all_set::<6>(self.reciprocal, bits, seq)
        } else {
            may_match_out_of_line(self.reciprocal, bits, seq, self.count)
        }
    }

    /// [`may_match`](Self::may_match) for a filter whose bytes `byte` gives.
    #[inline]
    pub(crate) fn may_match_in(&self, byte: impl Fn(usize) -> Option<u8>, hash: BloomHash) -> bool {
        let (reciprocal, num_bytes, seq) = (self.reciprocal, self.num_bytes, ProbeSeq::new(hash));
        match self.count {
            // Constants are unrolled.
            6 => all_set_in(reciprocal, num_bytes, byte, seq, 6),
            8 => all_set_in(reciprocal, num_bytes, byte, seq, 8),
            count => all_set_in(reciprocal, num_bytes, byte, seq, count.into()),
        }
    }

    /// Sets all bits of a key. `true` if they were set already.
    #[inline]
    pub(crate) fn set_bits(&self, bits: &mut [u8], hash: BloomHash) -> bool {
        let set = |byte: usize, bit| {
            let byte = &mut bits[byte];
            mem::replace(byte, *byte | bit)
        };
        self.set_bits_in(set, hash)
    }

    /// [`set_bits`](Self::set_bits) where `set` sets a bit of a byte and returns the byte before.
    #[inline]
    pub(crate) fn set_bits_in(
        &self,
        mut set: impl FnMut(usize, u8) -> u8,
        hash: BloomHash,
    ) -> bool {
        let ProbeSeq { delta, mut hash } = ProbeSeq::new(hash);
        let mut all = 1;
        for _ in 0..self.count {
            let byte = byte_index(self.reciprocal, self.num_bytes, hash);
            all &= set(byte, 1 << (hash % 8)) >> (hash % 8);
            hash = hash.wrapping_add(delta);
        }
        all & 1 != 0
    }
}

/// The bits of a key in a filter of 64 bits.
#[inline]
pub(super) fn word_of(hash: BloomHash, count: u8) -> u64 {
    let ProbeSeq { delta, mut hash } = ProbeSeq::new(hash);
    let mut word = 0;
    for _ in 0..count {
        word |= 1 << (hash % 64);
        hash = hash.wrapping_add(delta);
    }
    word
}

/// [`Probes::may_match`] for a single lookup in a filter; `bits` is not empty.
#[inline(always)]
pub(crate) fn may_match_once(bits: &[u8], count: u8, hash: BloomHash) -> bool {
    let (probes, seq) = (Probes::new(bits.len(), count), ProbeSeq::new(hash));
    if bits.len() > MAX_CACHED_BYTES {
        uncached_may_match(probes.reciprocal, probes.reached(bits), seq, count)
    } else {
        group_may_match(probes.reciprocal, bits, seq, count)
    }
}

/// Whether all bits of a key are set in a filter that is in no cache: branches on each of the first
/// two probes, since a misprediction costs less than a cache miss.
#[inline(never)]
fn uncached_may_match(reciprocal: u64, bits: &[u8], seq: ProbeSeq, count: u8) -> bool {
    if count < 2 {
        return may_match_out_of_line(reciprocal, bits, seq, count);
    }
    all_set::<1>(reciprocal, bits, seq)
        && all_set::<1>(reciprocal, bits, seq.skip(1))
        && may_match_out_of_line(reciprocal, bits, seq.skip(2), count - 2)
}

/// [`group_may_match`] for callers who need the registers themselves.
#[inline(never)]
pub(super) fn may_match_out_of_line(reciprocal: u64, bits: &[u8], seq: ProbeSeq, left: u8) -> bool {
    group_may_match(reciprocal, bits, seq, left)
}

/// Whether the next `left` bits of a key are set.
///
/// Up to 8 bits are one group: branches between them would cost more than they save. From 9 up, a
/// branch after the first 3 to 5 ends most lookups of absent keys: the benchmarks "9 probes" to "13
/// probes" show it.
#[inline(always)]
fn group_may_match(reciprocal: u64, bits: &[u8], seq: ProbeSeq, left: u8) -> bool {
    match left {
        0 => true,
        1 => one_group::<1>(reciprocal, bits, seq),
        2 => one_group::<2>(reciprocal, bits, seq),
        3 => one_group::<3>(reciprocal, bits, seq),
        4 => one_group::<4>(reciprocal, bits, seq),
        5 => one_group::<5>(reciprocal, bits, seq),
        6 => one_group::<6>(reciprocal, bits, seq),
        7 => one_group::<7>(reciprocal, bits, seq),
        8 => one_group::<8>(reciprocal, bits, seq),
        9 => two_groups::<3, 6>(reciprocal, bits, seq),
        10 => two_groups::<3, 7>(reciprocal, bits, seq),
        11 => two_groups::<3, 8>(reciprocal, bits, seq),
        12 => two_groups::<4, 8>(reciprocal, bits, seq),
        13 => two_groups::<5, 8>(reciprocal, bits, seq),
        14.. => many_groups(reciprocal, bits, seq, left),
    }
}

#[inline(never)]
fn one_group<const N: u32>(reciprocal: u64, bits: &[u8], seq: ProbeSeq) -> bool {
    all_set::<N>(reciprocal, bits, seq)
}

#[inline(never)]
fn two_groups<const N: u32, const M: u32>(reciprocal: u64, bits: &[u8], seq: ProbeSeq) -> bool {
    all_set::<N>(reciprocal, bits, seq) && all_set::<M>(reciprocal, bits, seq.skip(N))
}

#[inline(never)]
fn many_groups(reciprocal: u64, bits: &[u8], mut seq: ProbeSeq, mut left: u8) -> bool {
    let mut all = all_set::<4>(reciprocal, bits, seq);
    (seq, left) = (seq.skip(4), left - 4);
    while all && left >= 8 {
        all = all_set::<8>(reciprocal, bits, seq);
        (seq, left) = (seq.skip(8), left - 8);
    }
    all && may_match_out_of_line(reciprocal, bits, seq, left)
}

/// Whether the next `N` bits of a key are all set.
///
/// `bits` are those that hashes [reach](Probes::reached), and `reciprocal` is that of their number.
///
/// One branch at the end instead of one for each bit: those of absent keys are unpredictable, and
/// cost more than the probes that they save.
#[inline]
fn all_set<const N: u32>(reciprocal: u64, bits: &[u8], seq: ProbeSeq) -> bool {
    all_set_in(reciprocal, bits.len() as u64, |index| bits.get(index).copied(), seq, N)
}

/// [`all_set`] for `count` bits of a filter whose bytes `byte` gives.
#[inline(always)]
fn all_set_in(
    reciprocal: u64,
    num_bytes: u64,
    byte: impl Fn(usize) -> Option<u8>,
    ProbeSeq { delta, mut hash }: ProbeSeq,
    count: u32,
) -> bool {
    // Rotated to each byte's bit, which takes fewer registers than to shift the bytes: after the
    // probe of hash `h`, bit `h % 8` tells whether all bits so far are set.
    let mut answer = u8::MAX;
    for _ in 0..count {
        let Some(byte) = byte(byte_index(reciprocal, num_bytes, hash)) else {
            // Never reached. Because it returns the answer so far, the compiler loads each byte
            // before the next index; before a panic it would delay all loads, and run out of
            // registers.
            return answer & 1 != 0;
        };
        answer = if ROTATES_BYTES {
            answer.rotate_left(delta) & byte
        } else {
            answer & byte >> (hash % 8)
        };
        hash = hash.wrapping_add(delta);
    }
    if ROTATES_BYTES {
        answer = answer.rotate_right(hash.wrapping_sub(delta));
    }
    answer & 1 != 0
}
