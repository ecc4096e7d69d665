//! Tests of the commands through their options and output, without a process, and of the parsers
//! of LevelDB's files.

mod directories;
mod inspect;
mod manifest;
mod parser;
mod replay;
mod rewrite;

use crate::random::words;
// As `replay` calls it, which the crate's tests use, too.
use crate::table;

/// `len` bytes that look random, the same in every run.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    words(seed).flat_map(u64::to_le_bytes).take(len).collect()
}

/// A generator of numbers below its argument, the same in every run.
fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}
