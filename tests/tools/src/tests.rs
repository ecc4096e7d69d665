//! Tests of the commands through their options and output, without a process, and of the parsers
//! of LevelDB's files.

mod directories;
mod inspect;
mod kinds;
mod manifest;
mod parser;
mod random_input;
mod replay;
mod rewrite;
mod snappy;

// As `replay` calls it, which the crate's tests use, too.
use crate::table;
