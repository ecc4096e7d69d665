//! The command line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Inspect(Options),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) what_if: bool,
    pub(crate) paths: Vec<PathBuf>,
}

impl Task {
    /// Or what is wrong with the arguments. All behind `--` are paths.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Options::default();
        let mut only_paths = false;
        let mut asks_for_help = false;
        for arg in args {
            match arg.to_str() {
                Some("") => return Err("an empty argument names no file".into()),
                _ if only_paths || !is_option(&arg) => options.paths.push(arg.into()),
                Some("--") => only_paths = true,
                Some("-h" | "--help") => asks_for_help = true,
                Some("--what-if") => options.what_if = true,
                _ => return Err(format!("unknown option {}", arg.to_string_lossy())),
            }
        }
        Ok(if asks_for_help { Self::Help } else { Self::Inspect(options) })
    }
}

fn is_option(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().starts_with(b"-")
}
