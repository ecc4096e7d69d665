//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: inspect [--] PATH...";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Inspect(Vec<PathBuf>),
}

impl Request {
    /// All arguments after `--` are paths.
    pub(crate) fn parse(args: &[OsString]) -> Result<Self, &'static str> {
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (before, after) = (&args[..end], args.get(end + 1..).unwrap_or_default());
        if before.iter().any(|arg| arg == "-h" || arg == "--help") {
            return Ok(Self::Help);
        }
        let is_option = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
        if before.iter().any(is_option) || before.len() + after.len() == 0 {
            return Err(USAGE);
        }
        Ok(Self::Inspect(before.iter().chain(after).map(PathBuf::from).collect()))
    }
}
