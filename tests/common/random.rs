//! Random numbers that are the same in every run, and keys with given hashes.

/// `SplitMix64`: no number repeats, and the upper halves are the more random ones.
pub(crate) fn words(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e3779b97f4a7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    })
}

/// A key whose `bloom_hash` is `hash`: for four bytes, every step of the hash can be inverted.
pub(crate) fn key_with_hash(hash: u32) -> [u8; 4] {
    let (m, seed): (u32, u32) = (0xc6a4a793, 0xbc9f1d34);
    let inverse_of_m = 0xd8198e9b;
    let h = hash ^ hash >> 16;
    let h = h.wrapping_mul(inverse_of_m);
    h.wrapping_sub(seed ^ m.wrapping_mul(4)).to_le_bytes()
}
