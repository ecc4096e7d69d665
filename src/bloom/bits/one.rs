//! Tests whether all bits of one key are set, and sets them.
//!
//! A lookup in a parsed filter is [`PreparedShape::may_match`], which chooses how often
//! [`all_set`](PreparedShape::all_set) goes round.

use super::probes::{PreparedShape, ProbeSeq, ROTATES_BYTES};
use crate::BloomHash;
use crate::bloom::shape::MAX_BYTES;

impl PreparedShape {
    /// Whether all bits of a key are set in a filter whose bytes `byte` gives.
    #[inline]
    pub(crate) fn may_match(&self, byte: impl Fn(usize) -> Option<u8>, hash: BloomHash) -> bool {
        self.are_set(byte, ProbeSeq::new(hash), self.num_probes)
    }

    /// Whether a key's next `count` bits are set.
    #[inline]
    pub(super) fn are_set(
        &self,
        byte: impl Fn(usize) -> Option<u8>,
        probes: ProbeSeq,
        count: u8,
    ) -> bool {
        match count {
            // Loops of constant length are unrolled. LevelDB's filters have 6 probes at 9 and 10
            // bits per key, and large tuned filters 8 probes at 10.
            6 => self.all_set(byte, probes, 6),
            8 => self.all_set(byte, probes, 8),
            // A branch after the first four ends most lookups of absent keys.
            9.. => self.all_set(&byte, probes, 4) && self.all_set(&byte, probes.skip(4), count - 4),
            _ => self.all_set(byte, probes, count),
        }
    }

    /// [`are_set`](Self::are_set) in one loop.
    ///
    /// Has one branch at the end instead of one for each bit. For absent keys, such branches are
    /// unpredictable, and cost more than the probes that they save.
    #[inline]
    fn all_set(
        &self,
        byte: impl Fn(usize) -> Option<u8>,
        ProbeSeq { delta, mut hash }: ProbeSeq,
        count: u8,
    ) -> bool {
        // After the probe of hash `h`, bit `h % 8` tells whether all bits so far are set. To rotate
        // the answer takes fewer registers than to shift the bytes (7% in the benchmark "6 probes",
        // policy).
        let mut answer = u8::MAX;
        for _ in 0..count {
            let Some(byte) = byte(self.byte_index(hash)) else {
                // Keeps the loads in order: because this returns the answer so far, the compiler
                // loads each byte before the next index. Otherwise it would delay the loads and run
                // out of registers (6% in the benchmark "6 probes", policy). Never reached.
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

    /// Sets all bits of a key. Returns whether they were set already.
    ///
    /// `set` sets a bit of a byte, and returns the byte as it was.
    #[inline]
    pub(crate) fn set_bits(&self, mut set: impl FnMut(usize, u8) -> u8, hash: BloomHash) -> bool {
        let ProbeSeq { delta, mut hash } = ProbeSeq::new(hash);
        let mut all = 1;
        for _ in 0..self.num_probes {
            all &= set(self.byte_index(hash), 1 << (hash % 8)) >> (hash % 8);
            hash = hash.wrapping_add(delta);
        }
        all & 1 != 0
    }
}

/// [`PreparedShape::may_match`] for a single lookup in a filter; `bits` is not empty.
pub(crate) fn may_match_once(bits: &[u8], num_probes: u8, hash: BloomHash) -> bool {
    // LevelDB's filters of up to 6 keys.
    if let Ok(bits) = <[u8; 8]>::try_from(bits) {
        return may_match_word(u64::from_le_bytes(bits), num_probes, hash);
    }
    // One length instead of two, in one register, because no hash points beyond it.
    let bits = &bits[..bits.len().min(MAX_BYTES)];
    PreparedShape::new(bits.len(), num_probes).may_match(|index| bits.get(index).copied(), hash)
}

/// Whether the bits of a key are set in a filter of 64 bits, where remainders take no division.
// A call, so that lookups in longer filters save no registers for it.
#[inline(never)]
fn may_match_word(bits: u64, num_probes: u8, hash: BloomHash) -> bool {
    let of_key = word_of(hash, num_probes);
    bits & of_key == of_key
}

/// The bits of a key in a filter of 64 bits.
#[inline]
pub(super) fn word_of(hash: BloomHash, num_probes: u8) -> u64 {
    let ProbeSeq { delta, mut hash } = ProbeSeq::new(hash);
    let mut word = 0;
    for _ in 0..num_probes {
        word |= 1 << (hash % 64);
        hash = hash.wrapping_add(delta);
    }
    word
}
