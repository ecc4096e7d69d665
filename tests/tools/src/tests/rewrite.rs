//! What `rewrite` does, on copies of golden databases.

mod refusals;
mod replacing;
mod rewriting;
mod room;

use std::path::Path;

use crate::command_line::{Options, each_group};
use crate::rewrite::rewrite;
use crate::tests::inspect::Report;

/// What a user sees.
pub(crate) fn run(options: &Options) -> Report {
    let mut lines = Vec::new();
    let print = |printed: &[String]| {
        assert!(printed.len() <= 16, "{printed:#?}");
        lines.extend_from_slice(printed);
        Ok(())
    };
    let causes = each_group(&options.paths, print, |find| rewrite(find, options));
    assert_eq!(lines.iter().find(|line| line.chars().count() > 100), None);
    Report { lines, causes }
}

pub(crate) fn run_on(path: &Path, args: &[&str]) -> Report {
    let args = args.iter().map(Into::into).chain([path.as_os_str().to_owned()]);
    run(&Options::parse(args, &["--add", "--bits-per-key", "--dry-run"]).unwrap().unwrap())
}
