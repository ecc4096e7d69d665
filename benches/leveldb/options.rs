//! What the race is asked to time.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use crate::keys::KeyLen;

pub(crate) const HELP: &str = "\
Times LevelDB and this crate in turns: cargo bench --bench leveldb -- [OPTIONS]
  --keys N,N,..          numbers of keys [32,2000,20000,200000,2000000,20000000]
  --key-len BYTES|mixed  their length; mixed is 8 to 40 bytes [16]
  --bits-per-key B       up to 255 [10]
  --rounds R             how many turns, fewer with many keys [101]
  --figure FILE.svg      draws the figure";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) sizes: Vec<usize>,
    pub(crate) key_len: KeyLen,
    pub(crate) bits_per_key: u8,
    pub(crate) rounds: usize,
    pub(crate) figure: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sizes: vec![32, 2_000, 20_000, 200_000, 2_000_000, 20_000_000],
            key_len: KeyLen::Fixed(16),
            bits_per_key: 10,
            rounds: 101,
            figure: None,
        }
    }
}

/// What the arguments ask for.
#[derive(Debug)]
pub(crate) enum Task {
    Race(Options),
    Help,
    /// Nothing, and why.
    Nothing(String),
}

impl Task {
    /// `args` without the program's name.
    ///
    /// `cargo bench` hands the options and names that are meant for criterion to all targets, and
    /// `cargo test --benches` none at all; neither is an error.
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        let mut options = Options::default();
        let mut is_bench = false;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--bench" => is_bench = true,
                "--keys" => {
                    options.sizes = value()?.split(',').map(number).collect::<Result<_, _>>()?;
                }
                "--key-len" => {
                    options.key_len = match value()?.as_str() {
                        "mixed" => KeyLen::Mixed,
                        len => KeyLen::Fixed(number(len)?),
                    }
                }
                "--bits-per-key" => options.bits_per_key = number(&value()?)?,
                "--rounds" => options.rounds = number(&value()?)?,
                "--figure" => options.figure = Some(value()?.into()),
                "-h" | "--help" => return Ok(Self::Help),
                _ => return Ok(Self::Nothing(format!("{arg} is none of its options"))),
            }
        }
        if !is_bench {
            return Ok(Self::Nothing("a race is no test".into()));
        }
        if options.sizes.contains(&0) || options.rounds == 0 {
            return Err("a race needs keys and rounds".into());
        }
        Ok(Self::Race(options))
    }
}

fn number<T: FromStr>(arg: &str) -> Result<T, String> {
    arg.parse().map_err(|_| format!("not a number, or too large: {arg}"))
}
