//! The false-positive rates of the shapes that are chosen, and of others.
//!
//! Keys and sizes are the same in every run, so a test passes always or never.

mod common;

mod rates {
    mod few_keys;
    mod measured;
    mod sizing;
    mod tuned;
}
