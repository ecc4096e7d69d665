//! The one place that knows which bits a key probes.
//!
//! Mirrors the inner loops of `CreateFilter` and `KeyMayMatch` in LevelDB's `util/bloom.cc`: a
//! key's hash stands for its first probe, each further one adds [`delta`], and the bit is the sum
//! modulo 2<sup>32</sup> modulo the number of bits.
//!
//! That last remainder is what costs. It is taken without a division, and in two ways that suit
//! the two uses: [`Probes::byte`] for one key, [`Divisor::remainder`] for a [`Batch`] of them.

mod batch;
#[cfg(test)]
mod tests;

pub(crate) use batch::{BATCH, Batch, SMALL_BATCH};

/// The most probes that a filter's last byte can ask for; LevelDB reserves larger values for
/// encodings to come.
pub(crate) const MAX_PROBES: u8 = 30;

/// The longest filter that is taken to be in a cache. Above it almost every probe is a miss, which
/// costs more than a mispredicted branch.
pub(crate) const MAX_CACHED_BYTES: usize = 8 << 20;

/// The bytes that 32-bit hashes can reach.
const MAX_BYTES: u64 = 1 << 29;

/// What is added to a key's hash from probe to probe.
#[inline]
const fn delta(hash: u32) -> u32 {
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
    #[expect(clippy::inline_always, reason = "left to the compiler, it takes up to a tenth longer")]
    pub(crate) fn may_match(&self, bits: &[u8], hash: u32) -> bool {
        if bits.len() > MAX_CACHED_BYTES {
            self.may_match_uncached(bits, hash)
        } else {
            self.rest_may_match(bits, hash, delta(hash), self.count)
        }
    }

    /// [`may_match`](Self::may_match) for callers who need the registers themselves: those that
    /// divide for each key take 5 % longer with it in line.
    #[inline(never)]
    pub(crate) fn may_match_out_of_line(&self, bits: &[u8], hash: u32) -> bool {
        self.may_match(bits, hash)
    }

    /// Branches for each probe: a mispredicted branch costs less than a miss that it saves.
    ///
    /// Out of line, to leave the registers to the filters that are in a cache.
    #[inline(never)]
    fn may_match_uncached(&self, bits: &[u8], mut hash: u32) -> bool {
        let delta = delta(hash);
        for _ in 0..self.count {
            if !self.all_set::<1>(bits, hash, delta) {
                return false;
            }
            hash = hash.wrapping_add(delta);
        }
        true
    }

    /// Whether the next `left` bits of a key are set, where `hash` stands for the first of them.
    #[inline]
    fn rest_may_match(&self, bits: &[u8], hash: u32, delta: u32, left: u8) -> bool {
        match left {
            // LevelDB's number for 9 and 10 bits per key, and what a batch leaves of it. In line,
            // they take a tenth less time; so would others, but not all can.
            6 => self.all_set::<6>(bits, hash, delta),
            4 => self.all_set::<4>(bits, hash, delta),
            _ => self.groups_may_match(bits, hash, delta, left),
        }
    }

    /// [`rest_may_match`](Self::rest_may_match) for any number of bits, in groups of at most 8,
    /// above which the registers do not suffice.
    #[inline(never)]
    fn groups_may_match(&self, bits: &[u8], mut hash: u32, delta: u32, mut left: u8) -> bool {
        loop {
            let group = match left {
                0..=8 => left,
                // Halves, because most keys that are not in the filter end with the first group.
                9..=16 => left / 2,
                _ => 8,
            };
            let all_set = match group {
                0 => true,
                1 => self.all_set::<1>(bits, hash, delta),
                2 => self.all_set::<2>(bits, hash, delta),
                3 => self.all_set::<3>(bits, hash, delta),
                4 => self.all_set::<4>(bits, hash, delta),
                5 => self.all_set::<5>(bits, hash, delta),
                6 => self.all_set::<6>(bits, hash, delta),
                7 => self.all_set::<7>(bits, hash, delta),
                _ => self.all_set::<8>(bits, hash, delta),
            };
            // No branch on the last answer, which for up to 8 bits is the only one.
            if group == left {
                return all_set;
            }
            if !all_set {
                return false;
            }
            left -= group;
            hash = hash.wrapping_add(delta.wrapping_mul(group.into()));
        }
    }

    /// Whether the `N` bits from the one that `hash` stands for are all set.
    ///
    /// One answer at the end instead of a branch for each bit: the branches of a key that is not
    /// in the filter cannot be predicted, and cost more than the probes that they save.
    #[inline]
    fn all_set<const N: usize>(&self, bits: &[u8], mut hash: u32, delta: u32) -> bool {
        // After probe `i` of hash `h`, bit `h % 8` of `answers[i % 2]` tells whether the bits of
        // all probes so far with the same `i % 2` are set. To turn an answer to the next byte's
        // bit takes fewer registers than to shift each byte; two answers wait less for each other.
        let mut answers = [u8::MAX; 2];
        for i in 0..N {
            let answer = &mut answers[i % 2];
            *answer = answer.rotate_left(delta.wrapping_mul(2)) & bits[self.byte(hash)];
            hash = hash.wrapping_add(delta);
        }
        let last_hash = hash.wrapping_sub(delta);
        let [last, other] = [answers[(N + 1) % 2], answers[N % 2]];
        (last & other.rotate_left(delta)).rotate_right(last_hash) & 1 != 0
    }

    /// Sets all bits of a key. `true` if they were set already.
    pub(crate) fn set_bits(&self, bits: &mut [u8], mut hash: u32) -> bool {
        let delta = delta(hash);
        let mut all = 1;
        for _ in 0..self.count {
            let byte = &mut bits[self.byte(hash)];
            all &= *byte >> (hash % 8);
            *byte |= 1 << (hash % 8);
            hash = hash.wrapping_add(delta);
        }
        all & 1 != 0
    }

    /// The index of the byte with the bit that `hash` stands for.
    ///
    /// The remainder by direct computation (Lemire, Kaser, Kurz 2019): the fraction of `hash /
    /// num_bits`, times `num_bits`; exact for 32-bit hashes and up to 2<sup>32</sup> bits. Since
    /// the number of bits is a multiple of 8, the fraction times `num_bytes` is the byte, and the
    /// bit within it is `hash % 8`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below num_bytes, which came as usize")]
    fn byte(&self, hash: u32) -> usize {
        let fraction = self.reciprocal.wrapping_mul(hash.into());
        ((u128::from(fraction) * u128::from(self.num_bytes)) >> 64) as usize
    }
}

/// The bit at `position`, lowest in a byte of others.
#[inline]
pub(crate) fn bit(bits: &[u8], position: u32) -> u8 {
    // A rotation counts modulo 8 by itself.
    bits[(position / 8) as usize].rotate_right(position)
}

#[inline]
pub(crate) fn set_bit(bits: &mut [u8], position: u32) {
    static BITS: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    // A table, because shifting a byte makes each step wait for the one before on some processors.
    bits[(position / 8) as usize] |= BITS[(position % 8) as usize];
}

/// A remainder made of 32-bit multiplications, of which vector instructions do several at once.
#[derive(Clone, Copy)]
struct Divisor {
    num_bits: u64,
    /// `ceil(2^shift / num_bytes)`, at most 2<sup>30</sup>.
    reciprocal: u32,
    /// 29 more than `ceil(log2(num_bytes))`.
    shift: u32,
}

impl Divisor {
    fn new(probes: Probes) -> Self {
        let shift = 29 + (u64::BITS - (probes.num_bytes - 1).leading_zeros());
        // From ceil(2^61 / num_bytes), which has too many digits.
        let reciprocal = ((probes.reciprocal - 1) >> (61 - shift)) + 1;
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^30")]
        Self { num_bits: probes.num_bytes * 8, reciprocal: reciprocal as u32, shift }
    }

    /// `hash` modulo the number of bits.
    ///
    /// Its quotient is that of `x = hash / 8` and `num_bytes`, for which `x * reciprocal /
    /// 2^shift` is exact: the reciprocal times `num_bytes` is too large by less than `num_bytes`,
    /// so the quotient is by less than `x / 2^shift`, at most `1 / num_bytes`, and does not reach
    /// the next whole number.
    #[inline]
    fn remainder(self, hash: u32) -> u32 {
        let quotient = (u64::from(hash >> 3) * u64::from(self.reciprocal)) >> self.shift;
        #[expect(clippy::cast_possible_truncation, reason = "at most the hash")]
        let multiple = (quotient * self.num_bits) as u32;
        hash.wrapping_sub(multiple)
    }
}
