//! The one place that knows which bits a key probes.
//!
//! Mirrors the inner loops of `CreateFilter` and `KeyMayMatch` in LevelDB's `util/bloom.cc`.

/// The most probes that a filter's last byte can ask for; LevelDB reserves larger values for
/// encodings to come.
pub(crate) const MAX_PROBES: u8 = 30;

/// How many hashes a [`Batch`] holds: enough to hide the latency of one step behind the others,
/// few enough to stay in the first-level cache.
pub(crate) const BATCH: usize = 64;

/// How many probes a lookup makes before its first branch: few keys that are not in the filter
/// get past them, and for LevelDB's usual numbers of probes there is no branch at all.
const PROBES_BEFORE_BRANCH: u8 = 7;

/// The filters that reach further than any 32-bit hash are at least this many bytes long.
const MAX_REACH: usize = 1 << 29;

const BIT: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Which bits a key looks at, for a filter of a given size and number of probes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probes {
    count: u8,
    /// The number of bits modulo 2<sup>32</sup>, at most [`MAX_REACH`] bytes.
    num_bits: u32,
    /// `floor(2^shift / num_bytes) + 1`, above 2<sup>29</sup> and at most 2<sup>30</sup> + 1.
    reciprocal: u32,
    shift: u32,
}

impl Probes {
    /// `num_bytes` is the length of the filter without the byte of the probe count; not 0.
    #[inline]
    pub(crate) const fn new(num_bytes: usize, count: u8) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^29")]
        let num_bytes = if num_bytes < MAX_REACH { num_bytes } else { MAX_REACH } as u32;
        let shift = 29 + (u32::BITS - (num_bytes - 1).leading_zeros());
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^30 + 1")]
        let reciprocal = ((1u64 << shift) / num_bytes as u64 + 1) as u32;
        Self { count, num_bits: num_bytes.wrapping_mul(8), reciprocal, shift }
    }

    pub(crate) const fn count(self) -> u8 {
        self.count
    }

    /// `hash` modulo the number of bits, without a division.
    ///
    /// The number of bits is 8 * `num_bytes`, so the quotient is that of `hash / 8`, a number of
    /// 29 bits, and `num_bytes`. The reciprocal is too large by less than 1, which adds less than
    /// 2<sup>29</sup> / 2<sup>`shift`</sup>, at most 1 / `num_bytes`, to a fraction that is at
    /// least as far below the next whole number; so the quotient is exact.
    #[inline]
    fn remainder(self, hash: u32) -> u32 {
        let quotient = (u64::from(hash >> 3) * u64::from(self.reciprocal)) >> self.shift;
        #[expect(clippy::cast_possible_truncation, reason = "the quotient is below 2^29")]
        let quotient = quotient as u32;
        hash.wrapping_sub(quotient.wrapping_mul(self.num_bits))
    }

    /// The bit that `hash` stands for; moves `hash` on to the key's next probe.
    #[inline]
    fn probe(self, hash: &mut u32, delta: u32) -> u32 {
        let position = self.remainder(*hash);
        *hash = hash.wrapping_add(delta);
        position
    }

    /// Whether all bits of a key are set.
    #[inline]
    pub(crate) fn may_match(self, bits: &[u8], hash: u32) -> bool {
        self.rest_may_match(bits, hash, 0)
    }

    /// [`may_match`](Self::may_match) for a key whose first `done` probes are known to match.
    #[inline]
    fn rest_may_match(self, bits: &[u8], hash: u32, done: u8) -> bool {
        let delta = delta(hash);
        let mut hash = hash.wrapping_add(delta.wrapping_mul(done.into()));
        let mut all_set = |probes| {
            // One answer at the end instead of a branch for each probe: the branches of a key
            // that is not in the filter cannot be predicted, and cost more than the probes.
            (0..probes).fold(1, |all, _| all & bit(bits, self.probe(&mut hash, delta))) != 0
        };
        let left = self.count.saturating_sub(done);
        let first = left.min(PROBES_BEFORE_BRANCH);
        all_set(first) && (first == left || all_set(left - first))
    }
}

/// What is added to a key's hash from probe to probe.
#[inline]
const fn delta(hash: u32) -> u32 {
    hash.rotate_right(17)
}

#[inline]
fn bit(bits: &[u8], position: u32) -> u32 {
    u32::from(bits[(position / 8) as usize]) >> (position % 8) & 1
}

#[inline]
pub(crate) fn set_bit(bits: &mut [u8], position: u32) {
    bits[(position / 8) as usize] |= BIT[(position % 8) as usize];
}

/// The probes of up to [`BATCH`] keys, all first probes before all second ones, and so on: simple
/// loops over arrays, which the compiler turns into vector instructions.
pub(crate) struct Batch {
    hashes: [u32; BATCH],
    deltas: [u32; BATCH],
    positions: [u32; BATCH],
    len: usize,
}

impl Batch {
    pub(crate) const fn new() -> Self {
        Self { hashes: [0; BATCH], deltas: [0; BATCH], positions: [0; BATCH], len: 0 }
    }

    /// Starts over with the first `len` hashes, which `fill` writes.
    #[inline]
    pub(crate) fn start(&mut self, len: usize, fill: impl FnOnce(&mut [u32])) {
        self.len = len;
        let hashes = &mut self.hashes[..len];
        fill(hashes);
        for (delta_, hash) in self.deltas.iter_mut().zip(hashes) {
            *delta_ = delta(*hash);
        }
    }

    /// The next probe of each key, in the order of the keys.
    #[inline]
    pub(crate) fn next_positions(&mut self, probes: Probes) -> &[u32] {
        let positions = &mut self.positions[..self.len];
        let keys = self.hashes.iter_mut().zip(&self.deltas);
        for (position, (hash, &delta)) in positions.iter_mut().zip(keys) {
            *position = probes.probe(hash, delta);
        }
        positions
    }
}
