//! The race: LevelDB itself, in a process of its own, and this crate in turns.
//!
//! ```sh
//! apt-get install g++ libleveldb-dev
//! cargo bench --bench leveldb [-- OPTIONS]
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use contest::Scores;
use options::{HELP, Options, Task};
use process::{LevelDb, Request};
use report::{machine, report};
use terminal::{Progress, exit_code, grouped, print};

#[path = "leveldb/contest.rs"]
mod contest;
#[path = "leveldb/figure.rs"]
mod figure;
#[path = "bloom/keys.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod keys;
#[path = "leveldb/options.rs"]
mod options;
#[path = "../tests/leveldb/process.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod process;
#[path = "leveldb/race.rs"]
mod race;
#[path = "../tests/common/random.rs"]
mod random;
#[path = "leveldb/report.rs"]
mod report;
#[path = "../tests/common/svg.rs"]
mod svg;
#[path = "../tests/examples/terminal.rs"]
mod terminal;

fn main() -> ExitCode {
    exit_code(Task::parse(env::args_os().skip(1)).map_err(Into::into).and_then(run))
}

fn run(task: Task) -> Result<(), Box<dyn Error>> {
    let options = match task {
        Task::Race(options) => options,
        Task::Help => return print(&[HELP]),
        Task::Nothing(why) => return skip(&why),
    };
    match LevelDb::start() {
        Ok(leveldb) => time(&options, leveldb),
        Err(missing) => skip(&missing),
    }
}

fn skip(why: &str) -> Result<(), Box<dyn Error>> {
    print(&[format!("the race with LevelDB is left out: {why}")])
}

fn time(options: &Options, mut leveldb: LevelDb) -> Result<(), Box<dyn Error>> {
    let machine = machine(&leveldb.ask(&Request::new(b'v')));
    // After that, the machine seems to have one core.
    leveldb.ask(&Request::new(b'S'));
    let progress = Progress::start();
    let mut all = Vec::new();
    for &num_keys in &options.sizes {
        progress.show(&format!("timing {} keys", grouped(num_keys)));
        all.push(Scores::measure(num_keys, options, &mut leveldb));
    }
    progress.clear();
    if let Some(path) = &options.figure {
        let error = |error| format!("{}: {error}", path.display());
        fs::write(path, figure::svg(options, &all)).map_err(error)?;
    }
    print(&report(options, &machine, &all))
}
