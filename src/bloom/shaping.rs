//! What decides a shape: numbers only, never a filter's bytes.

mod rate;
mod runs;
mod sizing;
mod tuned;

pub(super) use self::rate::different_third_probes;
pub use self::runs::SortedRun;
pub(super) use self::runs::millibits_for_runs;
pub(super) use self::sizing::{TunedSize, size_for_rate};
pub(super) use self::tuned::tuned_shape;
