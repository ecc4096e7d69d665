//! Choices of filter shapes, and the false-positive rates measured with them.
//!
//! Keys and sizes are the same in every run, so a test passes always or never.

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
