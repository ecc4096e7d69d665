//! Random numbers that are the same in every run.

/// `SplitMix64`: no number repeats, and the upper halves are the more random ones.
pub(crate) fn words(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e3779b97f4a7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    })
}
