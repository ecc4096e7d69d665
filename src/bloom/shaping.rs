//! What decides a shape: numbers only, never a filter's bytes.

mod rate;
mod sizing;
mod tuned;

pub(super) use self::rate::estimate_num_keys;
pub(super) use self::sizing::size_for_rate;
pub(super) use self::tuned::{MIN_KEYS, tuned_shape};
