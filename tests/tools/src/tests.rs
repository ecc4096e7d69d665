//! Tests of the commands through their options and output, without a process, and of the parsers
//! of LevelDB's files.

mod contents;
mod inspect;
mod kinds;
mod random_input;
mod replay;
mod rewrite;

use crate::table;
