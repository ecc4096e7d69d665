//! Computes which bits a key probes.
//!
//! Mirrors the inner loops of `CreateFilter` and `KeyMayMatch` in LevelDB's `util/bloom.cc`. Their
//! costly part is the remainder by the number of bits. Both types here compute it without a
//! division, [`PreparedShape`] for one key and [`Divisor`] for many.

use crate::BloomHash;
use crate::bloom::shape::MAX_BYTES;

/// Whether the processor rotates a byte in one step. AArch64 takes six, with which lookups have 1.6
/// times as many instructions.
pub(super) const ROTATES_BYTES: bool = cfg!(not(target_arch = "aarch64"));

/// The length of a filter and its number of probes, prepared for remainders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PreparedShape {
    pub(crate) num_probes: u8,
    /// At most [`MAX_BYTES`], for longer filters, too.
    pub(super) num_bytes: u64,
    /// `ceil(2^64 / num_bits)`.
    pub(super) reciprocal: u64,
}

impl PreparedShape {
    /// `num_bytes` is the length of the filter without the byte for the number of probes; not 0.
    #[inline]
    pub(crate) const fn new(num_bytes: usize, num_probes: u8) -> Self {
        let num_bytes = if num_bytes < MAX_BYTES { num_bytes } else { MAX_BYTES } as u64;
        Self { num_probes, num_bytes, reciprocal: u64::MAX / (num_bytes * 8) + 1 }
    }

    /// The index of the byte with the bit that `hash` stands for.
    ///
    /// The remainder by direct computation (Lemire, Kaser, Kurz 2019): the fraction of `hash /
    /// num_bits`, times `num_bits`; exact for 32-bit hashes and up to 2<sup>32</sup> bits. Since
    /// the number of bits is a multiple of 8, the fraction times `num_bytes` is the byte, and the
    /// bit within it is `hash % 8`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below num_bytes, which came as usize")]
    pub(super) fn byte_index(&self, hash: u32) -> usize {
        let fraction = self.reciprocal.wrapping_mul(hash.into());
        ((u128::from(fraction) * u128::from(self.num_bytes)) >> 64) as usize
    }
}

/// The probes of a key, from a given probe on.
#[derive(Clone, Copy)]
pub(super) struct ProbeSeq {
    pub(super) delta: u32,
    /// Stands for the next probe.
    pub(super) hash: u32,
}

impl ProbeSeq {
    #[inline]
    pub(super) fn new(hash: BloomHash) -> Self {
        Self { delta: hash.0.rotate_right(17), hash: hash.0 }
    }

    #[inline]
    pub(super) fn skip(self, num_probes: u32) -> Self {
        Self { hash: self.hash.wrapping_add(self.delta.wrapping_mul(num_probes)), ..self }
    }
}

/// A remainder by 32-bit multiplications, several of which fit into a vector instruction.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    num_bits: u64,
    /// `ceil(2^shift / num_bytes)`, at most 2<sup>30</sup>.
    reciprocal: u32,
    /// 29 more than `ceil(log2(num_bytes))`.
    shift: u32,
}

impl Divisor {
    pub(super) fn new(prepared: PreparedShape) -> Self {
        let shift = 29 + (u64::BITS - (prepared.num_bytes - 1).leading_zeros());
        // From ceil(2^61 / num_bytes), which has more than 32 bits.
        let reciprocal = ((prepared.reciprocal - 1) >> (61 - shift)) + 1;
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^30")]
        Self { num_bits: prepared.num_bytes * 8, reciprocal: reciprocal as u32, shift }
    }

    /// `hash` modulo the number of bits.
    ///
    /// The quotient of `x = hash / 8` and `num_bytes` is exactly `x * reciprocal / 2^shift`,
    /// rounded down. The reciprocal times `num_bytes` exceeds `2^shift` by less than `num_bytes`.
    /// So before it is rounded, the quotient is too large by less than `x / 2^shift`, which is at
    /// most `1 / num_bytes`, and does not reach the next whole number.
    #[inline]
    pub(super) fn remainder(self, hash: u32) -> u32 {
        let quotient = (u64::from(hash >> 3) * u64::from(self.reciprocal)) >> self.shift;
        #[expect(clippy::cast_possible_truncation, reason = "a remainder needs the low 32 bits")]
        let multiple = if cfg!(target_arch = "aarch64") {
            // Its vectors have no product of 64 bits.
            (quotient as u32).wrapping_mul(self.num_bits as u32)
        } else {
            (quotient * self.num_bits) as u32
        };
        hash.wrapping_sub(multiple)
    }
}

/// The bit at `position`, as the lowest bit of a byte. The other bits mean nothing.
#[inline]
pub(super) fn bit(bits: &[u8], position: u32) -> u8 {
    let byte = bits[(position / 8) as usize];
    // Rotations are modulo 8 anyway.
    if ROTATES_BYTES { byte.rotate_right(position) } else { byte >> (position % 8) }
}
