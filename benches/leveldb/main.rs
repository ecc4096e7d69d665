//! The race: times LevelDB itself, in a process of its own, and this crate in turns: filters,
//! filter blocks, and LevelDB's `Get` with its own filters and with this crate's.
//!
//! ```sh
//! apt-get install g++ libleveldb-dev
//! cargo bench --bench leveldb [-- OPTIONS]
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use blocks::Blocks;
use common::allocations::CountingAllocator;
use common::process::{LevelDb, Request};
use common::terminal::{exit_code, print};
use contest::Scores;
use gets::Gets;
use options::{HELP, Options, Task};
use recommended::Builds;
use report::machine;

mod blocks;
#[path = "../../tests/common/mod.rs"]
mod common;
mod contest;
mod figure;
mod gets;
#[path = "../bloom/keys.rs"]
mod keys;
mod options;
mod race;
mod recommended;
mod report;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    exit_code(Task::parse(env::args_os().skip(1)).map_err(Into::into).and_then(run))
}

fn run(task: Task) -> Result<(), Box<dyn Error>> {
    match task {
        Task::Race(options) => time(&options, LevelDb::start, Scores::measure, |machine, all| {
            if let Some(path) = &options.figure {
                let error = |error| format!("cannot write {}: {error}", path.display());
                fs::write(path, figure::svg(&options, all)).map_err(error)?;
            }
            print(&report::report(&options, machine, all))
        }),
        Task::Blocks(options) => {
            let start = LevelDb::start_with_internal_classes;
            time(&options, start, Blocks::measure, |machine, all| {
                print(&blocks::report(&options, machine, all))
            })
        }
        Task::Recommended(options) => {
            time(&options, LevelDb::start, Builds::measure, |machine, all| {
                print(&recommended::report(&options, machine, all))
            })
        }
        Task::Gets(options) => time(&options, LevelDb::start, Gets::measure, |machine, all| {
            print(&gets::report(&options, machine, all))
        }),
        Task::Help => print(&[HELP]),
        Task::Nothing(why) => skip(&why),
    }
}

fn skip(why: &str) -> Result<(), Box<dyn Error>> {
    print(&[format!("skipping the race with LevelDB: {why}")])
}

/// Measures with each number of keys, and reports the results and the machine.
fn time<T>(
    options: &Options,
    start: fn() -> Result<LevelDb, String>,
    measure: fn(usize, &Options, &mut LevelDb) -> T,
    report: impl FnOnce(&str, &[T]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut leveldb = match start() {
        Ok(leveldb) => leveldb,
        Err(missing) => return skip(&missing),
    };
    let machine = machine(&leveldb.ask(&Request::new(b'v')));
    // From here on the machine appears to have one core.
    leveldb.ask(&Request::new(b'S'));
    let sizes = options.sizes.iter();
    let all: Vec<_> = sizes.map(|&size| measure(size, options, &mut leveldb)).collect();
    report(&machine, &all)
}
