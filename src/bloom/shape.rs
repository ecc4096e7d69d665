//! The length of a filter and its number of probes.

use super::BloomFilter;
use super::probes::Probes;

/// What tells a filter's bytes from those of other filters of the same keys.
#[derive(Clone, Copy)]
pub(super) struct BloomFilterShape {
    /// The length in bytes of the bits; not 0.
    pub(super) num_bytes: usize,
    pub(super) num_probes: u8,
}

impl BloomFilterShape {
    pub(super) const fn probes(self) -> Probes {
        Probes::new(self.num_bytes, self.num_probes)
    }

    pub(super) fn empty_filter(self) -> BloomFilter<Vec<u8>> {
        let mut bytes = vec![0; self.num_bytes + 1];
        bytes[self.num_bytes] = self.num_probes;
        BloomFilter::with_shape(bytes, self.probes())
    }
}
