//! The one place that knows which bits a key probes.
//!
//! Mirrors the loops of `CreateFilter` and `KeyMayMatch` in LevelDB's `util/bloom.cc`.

/// The most probes that a filter's last byte can ask for; LevelDB reserves larger values for
/// encodings to come.
pub(crate) const MAX_PROBES: u8 = 30;

/// Which bits a key looks at in a filter of a given size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probes {
    count: u8,
    /// The number of bits, but at most 2<sup>32</sup>: no hash reaches further.
    divisor: u64,
    /// `ceil(2^64 / divisor)`.
    reciprocal: u64,
}

impl Probes {
    /// `num_bytes` is the length of the filter without the byte of the probe count; not 0.
    #[inline]
    pub(crate) const fn new(num_bytes: usize, num_probes: u8) -> Self {
        let divisor = if num_bytes < 1 << 29 { num_bytes as u64 * 8 } else { 1 << 32 };
        Self { count: num_probes, divisor, reciprocal: u64::MAX / divisor + 1 }
    }

    /// The positions of the bits for a key's hash, each below the number of bits and below
    /// 2<sup>32</sup>.
    #[inline]
    pub(crate) fn positions(self, mut hash: u32) -> impl Iterator<Item = u64> {
        let delta = hash.rotate_right(17);
        (0..self.count).map(move |_| {
            let position = self.remainder(hash);
            hash = hash.wrapping_add(delta);
            position
        })
    }

    /// `hash % divisor` by two multiplications: exact for every 32-bit hash and every divisor up
    /// to 2<sup>32</sup> (Lemire, Kaser, Kurz 2019, "Faster remainder by direct computation").
    #[inline]
    fn remainder(self, hash: u32) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(hash.into());
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u64
    }
}
