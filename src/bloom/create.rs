//! Making a filter of many keys.

use super::probes::{BATCH, Batch, MAX_CACHED_BYTES, Probes, SMALL_BATCH, set_all};
use super::regions::Regions;
use super::shape::BloomFilterShape;
use crate::BloomHash;

/// Appends a filter of `num_keys` keys to `dst`.
///
/// `hash` writes the hashes of the keys that begin at an index into a slice of at most [`BATCH`].
pub(super) fn append_filter(
    shape: BloomFilterShape,
    num_keys: usize,
    dst: &mut Vec<u8>,
    hash: impl FnMut(usize, &mut [BloomHash]),
) {
    let start = dst.len();
    dst.reserve_exact(shape.num_bytes + 1);
    dst.resize(start + shape.num_bytes, 0);
    let probes = Probes::new(shape.num_bytes, shape.num_probes);
    if num_keys <= SMALL_BATCH {
        set_bits::<SMALL_BATCH>(&mut dst[start..], probes, num_keys, hash);
    } else {
        set_bits::<BATCH>(&mut dst[start..], probes, num_keys, hash);
    }
    dst.push(shape.num_probes);
}

fn set_bits<const N: usize>(
    bits: &mut [u8],
    probes: Probes,
    num_keys: usize,
    mut hash: impl FnMut(usize, &mut [BloomHash]),
) {
    let mut regions = (bits.len() > MAX_CACHED_BYTES).then(|| Regions::new(bits.len()));
    let mut batch = Batch::<N>::new(probes);
    for start in (0..num_keys).step_by(N) {
        batch.start(N.min(num_keys - start), |hashes| hash(start, hashes));
        while let Some(two_probes) = batch.next_positions() {
            for positions in two_probes {
                match &mut regions {
                    Some(regions) => regions.set_all(bits, positions),
                    None => set_all(bits, positions),
                }
            }
        }
    }
    if let Some(regions) = regions {
        regions.finish(bits);
    }
}
