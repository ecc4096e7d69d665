//! Setting the bits of a filter that is larger than the cache.

use super::probes::set_all;

/// The bits of a region: 128 KiB, a part of any second-level cache.
const REGION_BITS_LOG2: u32 = 20;
const REGION_BITS: usize = 1 << REGION_BITS_LOG2;

/// Positions gathered by the region of the filter that they fall into, and set a region at a time,
/// when many have come together for it. The order in which bits are set does not matter.
pub(super) struct Regions {
    /// The same number of slots for each region, in all at most half as long as the filter.
    pending: Vec<u32>,
    /// The slots in use of each region.
    lens: Vec<usize>,
    slots: usize,
}

impl Regions {
    pub(super) fn new(num_bytes: usize) -> Self {
        // Positions are below 2^32, so there are 4096 regions at most.
        let num_regions = num_bytes.div_ceil(REGION_BITS / 8).min(1 << (32 - REGION_BITS_LOG2));
        // Half of the region, and less its length.
        let memory = (num_bytes / num_regions).min(REGION_BITS / 8) / 2 - size_of::<usize>();
        let slots = memory / size_of::<u32>();
        Self { pending: vec![0; num_regions * slots], lens: vec![0; num_regions], slots }
    }

    pub(super) fn set_all(&mut self, bits: &mut [u8], positions: &[u32]) {
        for &position in positions {
            let region = (position >> REGION_BITS_LOG2) as usize;
            let len = &mut self.lens[region];
            self.pending[region * self.slots + *len] = position;
            *len += 1;
            if *len == self.slots {
                self.flush(bits, region);
            }
        }
    }

    /// Sets the bits that still wait.
    pub(super) fn finish(mut self, bits: &mut [u8]) {
        for region in 0..self.lens.len() {
            self.flush(bits, region);
        }
    }

    fn flush(&mut self, bits: &mut [u8], region: usize) {
        let len = std::mem::take(&mut self.lens[region]);
        let start = region * self.slots;
        set_all(bits, &self.pending[start..start + len]);
    }
}
