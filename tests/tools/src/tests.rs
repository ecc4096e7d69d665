//! Tests without a process, of the crate's filter blocks in LevelDB's tables, too.

mod directories;
mod faults;
mod golden;
mod inspect;
mod leveldb;
mod manifest;
mod parser;
mod replacing;
mod replay;
mod rewrite;

use crate::random::words;

/// Bytes that are the same in every run.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    words(seed).flat_map(u64::to_le_bytes).take(len).collect()
}

/// A generator of numbers below its argument, the same in every run.
fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}
