//! The command line of the race.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use crate::keys::KeyLen;

pub(crate) const HELP: &str = "\
Times LevelDB and this crate in turns: cargo bench --bench leveldb -- [OPTIONS]
  --keys N,N,..          numbers of keys [2,8,32,2000,20000,200000,2000000,20000000]
  --key-len BYTES|mixed|names
                         the length of a key; mixed means 8 to 40 bytes, names `user:N:name` [16]
  --bits-per-key B       at most 255 [10]
  --rounds R             how often each contender is timed, fewer times for many keys [101]
  --figure FILE.svg      also draws the results to this file
  --blocks               times filter blocks instead, for tables of [20000] internal keys with
                         24 bytes each
  --recommended          times builds of recommended filters instead, of [1,4,16,100,2000] keys
  --gets                 times LevelDB's Get instead, in databases of [1000000] counters with
                         values of 100 bytes, and of a fifth as many with 1,000 bytes";

const RACE_SIZES: [usize; 8] = [2, 8, 32, 2_000, 20_000, 200_000, 2_000_000, 20_000_000];
const BLOCKS_SIZES: [usize; 1] = [20_000];
const RECOMMENDED_SIZES: [usize; 5] = [1, 4, 16, 100, 2_000];
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
    Recommended(Options),
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
            let mut value =
                || args.next().ok_or_else(|| format!("{arg} needs a value, see --help"));
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
                        "names" => KeyLen::Names,
                        len => KeyLen::Fixed(number(len)?),
                    }
                }
                "--bits-per-key" => options.bits_per_key = number(&value()?)?,
                "--rounds" => options.rounds = number(&value()?)?,
                "--blocks" => task = (Self::Blocks, &BLOCKS_SIZES),
                "--recommended" => task = (Self::Recommended, &RECOMMENDED_SIZES),
                "--gets" => task = (Self::Gets, &GETS_SIZES),
                "--figure" => options.figure = Some(value()?.into()),
                "-h" | "--help" => return Ok(Self::Help),
                _ => return Ok(Self::Nothing(format!("unknown option {arg}, see --help"))),
            }
        }
        if !is_bench {
            return Ok(Self::Nothing("run `cargo bench --bench leveldb`".into()));
        }
        if options.sizes.contains(&0) || options.rounds == 0 {
            return Err("--keys and --rounds must be at least 1".into());
        }
        let (task, sizes) = task;
        if options.sizes.is_empty() {
            options.sizes = sizes.to_vec();
        }
        let task = task(options);
        match of_filters {
            Some(arg) if !matches!(task, Self::Race(_)) => {
                Err(format!("leave out {arg}, which --blocks, --recommended and --gets do not use"))
            }
            _ => Ok(task),
        }
    }
}

fn number<T: FromStr>(arg: &str) -> Result<T, String> {
    arg.parse().map_err(|_| format!("{arg} is not a whole number, or is too large, see --help"))
}
