//! The command line of the race.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use crate::keys::KeyLen;

pub(crate) const HELP: &str = "\
Times LevelDB and this crate in turns: cargo bench --bench leveldb -- [OPTIONS]
  --keys N,N,..          numbers of keys [32,2000,20000,200000,2000000,20000000]
  --key-len BYTES|mixed  their length; mixed is 8 to 40 bytes [16]
  --bits-per-key B       up to 255 [10]
  --rounds R             number of rounds, fewer for many keys [101]
  --figure FILE.svg      also draws the results
  --blocks               times filter blocks instead, of tables of [20000] keys, with internal
                         keys of 24 bytes
  --gets                 times LevelDB's Get in databases of counters instead, with LevelDB's
                         filters and with this crate's; its numbers of keys are [1000000] with
                         values of 100 bytes, a fifth with values of 1,000 bytes";

const RACE_SIZES: [usize; 6] = [32, 2_000, 20_000, 200_000, 2_000_000, 20_000_000];
const BLOCKS_SIZES: [usize; 1] = [20_000];
const GETS_SIZES: [usize; 1] = [1_000_000];

#[derive(Debug)]
pub(crate) struct Options {
    /// Never empty once parsed.
    pub(crate) sizes: Vec<usize>,
    pub(crate) key_len: KeyLen,
    pub(crate) bits_per_key: u8,
    pub(crate) rounds: usize,
    pub(crate) figure: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sizes: Vec::new(),
            key_len: KeyLen::Fixed(16),
            bits_per_key: 10,
            rounds: 101,
            figure: None,
        }
    }
}

/// The task that the arguments ask for.
#[derive(Debug)]
pub(crate) enum Task {
    Race(Options),
    Blocks(Options),
    Gets(Options),
    Help,
    /// Do nothing, for this reason.
    Nothing(String),
}

impl Task {
    /// Parses `args`, which do not include the program's name.
    ///
    /// `cargo bench` passes criterion's options and names to all targets, and `cargo test
    /// --benches` passes none; neither is an error.
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        let mut options = Options::default();
        let (mut is_bench, mut of_filters) = (false, None);
        let mut task: (fn(Options) -> Self, &[usize]) = (Self::Race, &RACE_SIZES);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            if matches!(arg.as_str(), "--key-len" | "--figure") {
                of_filters = Some(arg.clone());
            }
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
                "--blocks" => task = (Self::Blocks, &BLOCKS_SIZES),
                "--gets" => task = (Self::Gets, &GETS_SIZES),
                "--figure" => options.figure = Some(value()?.into()),
                "-h" | "--help" => return Ok(Self::Help),
                _ => return Ok(Self::Nothing(format!("unknown option {arg}"))),
            }
        }
        if !is_bench {
            return Ok(Self::Nothing("it is not a test".into()));
        }
        if options.sizes.contains(&0) || options.rounds == 0 {
            return Err("a race needs keys and rounds".into());
        }
        let (task, sizes) = task;
        if options.sizes.is_empty() {
            options.sizes = sizes.to_vec();
        }
        let task = task(options);
        match of_filters {
            Some(arg) if !matches!(task, Self::Race(_)) => {
                Err(format!("{arg} applies to neither --blocks nor --gets"))
            }
            _ => Ok(task),
        }
    }
}

fn number<T: FromStr>(arg: &str) -> Result<T, String> {
    arg.parse().map_err(|_| format!("not a number, or too large: {arg}"))
}
