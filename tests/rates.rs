//! Shapes that are chosen, and the false-positive rates that their filters measure.
//!
//! Keys and sizes are the same in every run, so that a test always passes or never does.

mod common;

mod rates {
    mod blocks;
    mod choices;
    mod keys;
    mod measured;
    mod runs;
    mod sizing;
    mod tuned;
}
