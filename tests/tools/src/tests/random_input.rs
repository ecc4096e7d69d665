//! Input that looks random, the same in every run.

use crate::random::words;

/// `len` bytes.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    words(seed).flat_map(u64::to_le_bytes).take(len).collect()
}

/// A generator of numbers below its argument.
pub(crate) fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}
