//! Tests `rewrite` through its options and output, on copies of the golden databases.

mod refusals;
mod replacing;
mod rewriting;
mod room;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::command_line::each_group;
use crate::database::Group;
use crate::rewrite::{Options, rewrite};

const NUM_LOOKUPS: usize = 5_000;

/// What a user sees.
#[derive(Debug)]
struct Run {
    lines: Vec<String>,
    causes: Vec<String>,
    exit_status: u8,
}

impl Run {
    fn on(path: &Path, args: &[&str]) -> Self {
        let args = args.iter().map(Into::into).chain([path.as_os_str().to_owned()]);
        Self::of(&Options::parse(args).unwrap().unwrap())
    }

    fn of(options: &Options) -> Self {
        let mut lines = Vec::new();
        let print = |printed: &[String]| {
            assert!(printed.len() <= 16, "{printed:#?}");
            lines.extend_from_slice(printed);
            Ok(())
        };
        let outcome = each_group(&options.paths, print, Group::of_paths, |read| {
            rewrite(read, options, NUM_LOOKUPS)
        });
        // The first line of a report has a path.
        let is_first = |line: &String| line.contains("; other filters in ");
        let too_long = |line: &&String| !is_first(line) && line.chars().count() > 80;
        let too_long = lines.iter().find(too_long);
        assert_eq!(too_long, None);
        Self { lines, causes: outcome.causes, exit_status: outcome.exit_status }
    }

    fn has(&self, words: &str) -> bool {
        self.lines.join(" ").replace("   ", " ").contains(words)
    }

    /// The only cause.
    #[track_caller]
    fn cause(&self) -> &str {
        let [cause] = &self.causes[..] else { panic!("{:#?}", self.causes) };
        cause
    }

    /// Needless reads before and after: of keys that do not exist, of keys that do, of random ones.
    #[track_caller]
    fn reads(&self) -> [[f64; 2]; 3] {
        let first = self.lines.iter().position(|line| line.ends_with("  of missing keys"));
        let rows = &self.lines[first.expect("reads")..][..3];
        let row = |row: &String| {
            let mut cells = row.split_whitespace();
            [(); 2].map(|()| cells.next().unwrap().replace([',', '<'], "").parse().unwrap())
        };
        rows.iter().map(row).collect::<Vec<_>>().try_into().unwrap()
    }
}

/// The contents of a directory's files, and when they were written.
fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of =
        |path: &PathBuf| (fs::read(path).unwrap(), path.metadata().unwrap().modified().unwrap());
    paths.map(|path| (path.clone(), of(&path))).collect()
}
