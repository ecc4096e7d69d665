//! The one place that knows which bits a key probes.
//!
//! Mirrors the inner loops of `CreateFilter` and `KeyMayMatch` in LevelDB's `util/bloom.cc`: a
//! key's hash stands for its first probe, each further one adds [`delta`], and the bit is the sum
//! modulo 2<sup>32</sup> modulo the number of bits.
//!
//! That last remainder is what costs. It is taken without a division, and in two ways that suit
//! the two uses: by [`byte_index`] for one key, and by the remainder of a [`Batch`] for many. Only
//! a filter that is asked once and has one or two probes is divided for: see [`may_match_once`].
#![expect(
    clippy::inline_always,
    reason = "left to the compiler, lookups take up to a fifth longer: it merges the functions \
              below, which then spill registers, or calls where they could jump"
)]

mod batch;
#[cfg(test)]
mod tests;

pub(crate) use batch::{BATCH, Batch, SMALL_BATCH};

use crate::BloomHash;

/// The most probes that a filter's last byte can ask for; LevelDB reserves larger values for
/// encodings to come.
pub(crate) const MAX_PROBES: u8 = 30;

/// The longest filter that is taken to be in a cache. Above it almost every probe is a miss, which
/// costs more than a mispredicted branch.
pub(crate) const MAX_CACHED_BYTES: usize = 8 << 20;

/// The bytes that 32-bit hashes can reach.
pub(crate) const MAX_BYTES: u64 = 1 << 29;

/// Whether the processor rotates a byte in one step; AArch64 takes six.
const ROTATES_BYTES: bool = cfg!(not(target_arch = "aarch64"));

/// What is added to a key's hash from probe to probe.
#[inline]
const fn delta(BloomHash(hash): BloomHash) -> u32 {
    hash.rotate_right(17)
}

/// Which bits a key looks at, for a filter of a given size and number of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probes {
    count: u8,
    /// At most [`MAX_BYTES`]; a filter beyond them leaves every hash as it is.
    num_bytes: u64,
    /// `ceil(2^64 / num_bits)`.
    reciprocal: u64,
}

impl Probes {
    /// `num_bytes` is the length of the filter without the byte of the probe count; not 0.
    #[inline]
    pub(crate) const fn new(num_bytes: usize, count: u8) -> Self {
        let num_bytes = num_bytes as u64;
        let num_bytes = if num_bytes < MAX_BYTES { num_bytes } else { MAX_BYTES };
        Self { count, num_bytes, reciprocal: u64::MAX / (num_bytes * 8) + 1 }
    }

    pub(crate) const fn count(&self) -> u8 {
        self.count
    }

    /// Whether all bits of a key are set.
    #[inline(always)]
    pub(crate) fn may_match(&self, bits: &[u8], hash: BloomHash) -> bool {
        let key = Key::new(hash);
        if bits.len() > MAX_CACHED_BYTES {
            uncached_may_match(self.reciprocal, self.reached(bits), key, self.count)
        } else if self.count == 6 {
            // LevelDB's number for 9 and 10 bits per key, the only one in line with the caller.
            all_set::<6>(self.reciprocal, bits, key)
        } else {
            may_match_out_of_line(self.reciprocal, bits, key, self.count)
        }
    }

    /// Whether the last `left` bits of a key are set.
    ///
    /// `bits` are those that hashes [reach](Self::reached).
    #[inline]
    fn rest_may_match(&self, bits: &[u8], key: Key, left: u8) -> bool {
        match left {
            // What a batch leaves of LevelDB's 6, and of 8 in larger tuned filters, in line too.
            4 => all_set::<4>(self.reciprocal, bits, key),
            6 => all_set::<6>(self.reciprocal, bits, key),
            _ => may_match_out_of_line(self.reciprocal, bits, key, left),
        }
    }

    /// The bytes of a filter that hashes can reach.
    pub(crate) fn reached<'a>(&self, bits: &'a [u8]) -> &'a [u8] {
        #[expect(clippy::cast_possible_truncation, reason = "at most bits.len()")]
        &bits[..self.num_bytes as usize]
    }

    /// Sets all bits of a key. `true` if they were set already.
    pub(crate) fn set_bits(&self, bits: &mut [u8], hash: BloomHash) -> bool {
        let mut all = 1;
        for (byte, bit) in self.bits_of(hash) {
            let byte = &mut bits[byte];
            all &= *byte >> bit;
            *byte |= 1 << bit;
        }
        all & 1 != 0
    }

    /// [`may_match`](Self::may_match) for a filter whose bytes `byte` gives.
    #[inline(always)]
    pub(crate) fn may_match_in(&self, byte: impl Fn(usize) -> Option<u8>, hash: BloomHash) -> bool {
        let (reciprocal, num_bytes, key) = (self.reciprocal, self.num_bytes, Key::new(hash));
        match self.count {
            // Numbers that are known are unrolled.
            6 => all_set_in(reciprocal, num_bytes, byte, key, 6),
            8 => all_set_in(reciprocal, num_bytes, byte, key, 8),
            count => all_set_in(reciprocal, num_bytes, byte, key, count.into()),
        }
    }

    /// The byte of each of a key's bits, and the bit's place in it.
    #[inline]
    pub(crate) fn bits_of(self, hash: BloomHash) -> impl Iterator<Item = (usize, u32)> {
        let Key { delta, mut hash } = Key::new(hash);
        (0..self.count).map(move |_| {
            let bit = (byte_index(self.reciprocal, self.num_bytes, hash), hash % 8);
            hash = hash.wrapping_add(delta);
            bit
        })
    }
}

/// [`Probes::may_match`] for a filter that is asked once; `bits` is not empty.
#[inline(always)]
pub(crate) fn may_match_once(bits: &[u8], count: u8, hash: BloomHash) -> bool {
    // So few remainders cost less than the division for a reciprocal.
    if count <= 2 {
        return few_may_match(bits, count, hash);
    }
    let (probes, key) = (Probes::new(bits.len(), count), Key::new(hash));
    if bits.len() > MAX_CACHED_BYTES {
        uncached_may_match(probes.reciprocal, probes.reached(bits), key, count)
    } else {
        group_may_match(probes.reciprocal, bits, key, count)
    }
}

/// [`may_match_once`] for at most two probes.
#[inline(always)]
fn few_may_match(bits: &[u8], count: u8, hash: BloomHash) -> bool {
    let num_bits = bits.len() as u64 * 8;
    #[expect(clippy::cast_possible_truncation, reason = "at most the hash")]
    let bit_of = |hash: u32| bit(bits, (u64::from(hash) % num_bits) as u32);
    match count {
        0 => true,
        1 => bit_of(hash.0) & 1 != 0,
        _ => bit_of(hash.0) & bit_of(hash.0.wrapping_add(delta(hash))) & 1 != 0,
    }
}

/// The probes of a key, from a certain one on.
#[derive(Clone, Copy)]
struct Key {
    /// What is added to the hash from probe to probe.
    // First, to arrive in the register that rotations count by, on x86-64 Linux.
    delta: u32,
    /// Stands for the next probe.
    hash: u32,
}

impl Key {
    #[inline]
    fn new(hash: BloomHash) -> Self {
        Self { delta: delta(hash), hash: hash.0 }
    }

    #[inline]
    fn skip(self, num_probes: u32) -> Self {
        Self { hash: self.hash.wrapping_add(self.delta.wrapping_mul(num_probes)), ..self }
    }
}

/// Whether all bits of a key are set in a filter that is in no cache.
///
/// Branches for each of the first two probes, with which most absent keys end: a mispredicted
/// branch costs less than a miss that it saves.
#[inline(never)]
fn uncached_may_match(reciprocal: u64, bits: &[u8], key: Key, count: u8) -> bool {
    match count {
        0 => true,
        1 => all_set::<1>(reciprocal, bits, key),
        _ => {
            all_set::<1>(reciprocal, bits, key)
                && all_set::<1>(reciprocal, bits, key.skip(1))
                && may_match_out_of_line(reciprocal, bits, key.skip(2), count - 2)
        }
    }
}

/// [`group_may_match`] for callers who need the registers themselves.
#[inline(never)]
fn may_match_out_of_line(reciprocal: u64, bits: &[u8], key: Key, left: u8) -> bool {
    group_may_match(reciprocal, bits, key, left)
}

/// Whether the next `left` bits of a key are set.
///
/// Each number up to 13 has a function of its own. Up to 8 bits are one group, without a branch
/// between them: it would cost more than it saves. From 9 up, a branch on the first 3 to 5 spares
/// most absent keys the rest: two would leave too many of them, and with more the branch is decided
/// later, which costs every key that it mispredicts. The rest then is in as few groups as there can
/// be.
#[inline(always)]
fn group_may_match(reciprocal: u64, bits: &[u8], key: Key, left: u8) -> bool {
    match left {
        0 => true,
        1 => one_group::<1>(reciprocal, bits, key),
        2 => one_group::<2>(reciprocal, bits, key),
        3 => one_group::<3>(reciprocal, bits, key),
        4 => one_group::<4>(reciprocal, bits, key),
        5 => one_group::<5>(reciprocal, bits, key),
        6 => one_group::<6>(reciprocal, bits, key),
        7 => one_group::<7>(reciprocal, bits, key),
        8 => one_group::<8>(reciprocal, bits, key),
        9 => two_groups::<3, 6>(reciprocal, bits, key),
        10 => two_groups::<3, 7>(reciprocal, bits, key),
        11 => two_groups::<3, 8>(reciprocal, bits, key),
        12 => two_groups::<4, 8>(reciprocal, bits, key),
        13 => two_groups::<5, 8>(reciprocal, bits, key),
        14.. => many_groups(reciprocal, bits, key, left),
    }
}

#[inline(never)]
fn one_group<const N: u32>(reciprocal: u64, bits: &[u8], key: Key) -> bool {
    all_set::<N>(reciprocal, bits, key)
}

#[inline(never)]
fn two_groups<const N: u32, const M: u32>(reciprocal: u64, bits: &[u8], key: Key) -> bool {
    all_set::<N>(reciprocal, bits, key) && all_set::<M>(reciprocal, bits, key.skip(N))
}

#[inline(never)]
fn many_groups(reciprocal: u64, bits: &[u8], mut key: Key, mut left: u8) -> bool {
    if !all_set::<4>(reciprocal, bits, key) {
        return false;
    }
    (key, left) = (key.skip(4), left - 4);
    while left >= 8 {
        if !all_set::<8>(reciprocal, bits, key) {
            return false;
        }
        (key, left) = (key.skip(8), left - 8);
    }
    may_match_out_of_line(reciprocal, bits, key, left)
}

/// Whether the next `N` bits of a key are all set.
///
/// `bits` are those that hashes [reach](Probes::reached), and `reciprocal` is that of their number.
///
/// One answer at the end instead of a branch for each bit: the branches of a key that is not in the
/// filter cannot be predicted, and cost more than the probes that they save.
#[inline(always)]
fn all_set<const N: u32>(reciprocal: u64, bits: &[u8], key: Key) -> bool {
    all_set_in(reciprocal, bits.len() as u64, |index| bits.get(index).copied(), key, N)
}

/// [`all_set`] for `count` bits of a filter whose bytes `byte` gives.
#[inline(always)]
fn all_set_in(
    reciprocal: u64,
    num_bytes: u64,
    byte: impl Fn(usize) -> Option<u8>,
    Key { delta, mut hash }: Key,
    count: u32,
) -> bool {
    // Turned from each byte's bit to the next one's, which takes fewer registers than to shift each
    // byte: after the probe of hash `h`, bit `h % 8` tells whether all bits so far are set.
    let mut answer = u8::MAX;
    for _ in 0..count {
        let Some(byte) = byte(byte_index(reciprocal, num_bytes, hash)) else {
            // Not reached. An answer made of the bytes so far makes the compiler load each of them
            // before the next index; with a panic it puts off all loads, and registers run out.
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

/// The index of the byte with the bit that `hash` stands for.
///
/// The remainder by direct computation (Lemire, Kaser, Kurz 2019): the fraction of `hash /
/// num_bits`, times `num_bits`; exact for 32-bit hashes and up to 2<sup>32</sup> bits. Since the
/// number of bits is a multiple of 8, the fraction times `num_bytes` is the byte, and the bit
/// within it is `hash % 8`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below num_bytes, which came as usize")]
fn byte_index(reciprocal: u64, num_bytes: u64, hash: u32) -> usize {
    let fraction = reciprocal.wrapping_mul(hash.into());
    ((u128::from(fraction) * u128::from(num_bytes)) >> 64) as usize
}

/// The bit at `position`, lowest in a byte of others.
#[inline]
pub(crate) fn bit(bits: &[u8], position: u32) -> u8 {
    let byte = bits[(position / 8) as usize];
    // A rotation counts modulo 8 by itself.
    if ROTATES_BYTES { byte.rotate_right(position) } else { byte >> (position % 8) }
}

/// Sets the bit at each position.
#[inline]
pub(crate) fn set_all(bits: &mut [u8], positions: &[u32]) {
    // Unrolled by hand, which takes a tenth off the time of the whole filter.
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
    // To look up four masks before four stores costs Zen 4 some per cent in small filters.
    bits[(position / 8) as usize] |= BITS[(position % 8) as usize];
}
