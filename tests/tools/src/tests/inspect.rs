//! What `inspect` says.

mod damage;
mod databases;
mod faults;
mod lookups;
mod tables;

use std::path::Path;

use crate::command_line::{self, Find, Options, each_group};
use crate::inspect::report;
use crate::tests::directories::database;

/// What a user sees.
pub(crate) struct Report {
    pub(crate) lines: Vec<String>,
    /// What goes to stderr.
    pub(crate) causes: Vec<String>,
}

impl Report {
    pub(crate) fn on(path: &Path) -> Self {
        Self::of(&Options { paths: vec![path.to_path_buf()], ..Options::default() })
    }

    fn with_tables(path: &Path) -> Self {
        let paths = vec![path.to_path_buf()];
        Self::of(&Options { tables: true, paths, ..Options::default() })
    }

    fn of(options: &Options) -> Self {
        let report = Self::of_command(options, report);
        assert!(options.tables || report.lines.len() <= 16 * options.paths.len());
        report
    }

    pub(crate) fn of_command(
        options: &Options,
        command: fn(&Find<'_>, &Options) -> Result<command_line::Report, String>,
    ) -> Self {
        let mut lines = Vec::new();
        let print = |printed: &[String]| {
            lines.extend_from_slice(printed);
            Ok(())
        };
        let causes = each_group(&options.paths, print, |find| command(find, options));
        let mut printed = lines.iter().chain(&causes);
        assert!(!printed.any(|line| line.contains(char::is_control)));
        // But for a path to copy.
        let is_long = |line: &&String| line.chars().count() > 100 && !line.starts_with("  /");
        assert!(options.tables || !lines.iter().any(|line| is_long(&line)), "{lines:#?}");
        Self { lines, causes }
    }

    fn on_golden(name: &str) -> Self {
        Self::with_tables(&database(name))
    }

    /// The only line that contains these words.
    #[track_caller]
    fn line_with(&self, words: &str) -> &str {
        let mut lines = self.lines.iter().filter(|line| line.contains(words));
        let line = lines.next().unwrap_or_else(|| panic!("no {words:?} in {:#?}", self.lines));
        assert!(lines.next().is_none(), "several {words:?} in {:#?}", self.lines);
        line
    }

    /// Whether these words are printed, on one line or wrapped.
    pub(crate) fn has(&self, words: &str) -> bool {
        self.lines.join(" ").replace("   ", " ").contains(words)
    }

    /// The cells of the only line that contains these words.
    #[track_caller]
    fn cells_of(&self, words: &str) -> Vec<&str> {
        self.line_with(words).split_whitespace().collect()
    }

    /// The only cause.
    #[track_caller]
    pub(crate) fn cause(&self) -> &str {
        let [cause] = &self.causes[..] else { panic!("{:#?}", self.causes) };
        cause
    }

    /// The options and path of the command in the last line, if there is one.
    pub(crate) fn advice(&self) -> Option<&str> {
        Some(self.lines.last()?.split_once(" rewrite ")?.1)
    }

    /// What 1,000 lookups of missing and of existing keys read, and the bytes of filters: each
    /// today, and rewritten if that is shown.
    #[track_caller]
    pub(crate) fn figures(&self) -> [Vec<f64>; 3] {
        ["  of keys that do not exist", "  of keys that exist", "  bytes of filters in memory"].map(
            |label| {
                let cells = self.line_with(label).strip_suffix(label).unwrap();
                cells.split_whitespace().map(number_in).collect()
            },
        )
    }
}

/// A number as it is printed; 0 if only a bound is known.
#[track_caller]
fn number_in(cell: &str) -> f64 {
    if cell.starts_with('<') { 0.0 } else { cell.replace(',', "").parse().unwrap() }
}
