//! Terminal output of the examples and the benches.

use std::cell::Cell;
use std::env;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// One line on stderr for an error, and the exit code.
pub(crate) fn exit_code(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the exit code must suffice.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader of stdout closed it early.
pub(crate) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints to stdout. [`exit_code`] counts the error of a closed pipe as success.
pub(crate) fn print(lines: &[impl Display]) -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(stdout, "{line}")).map_err(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => error.into(),
            _ => format!("standard output: {error}").into(),
        }
    })
}

/// A progress line on stderr, if it is a terminal and work takes longer than a second.
pub(crate) struct Progress {
    start: Instant,
    is_shown: Cell<bool>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);

    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), is_shown: Cell::new(false) }
    }

    /// Replaces the line.
    pub(crate) fn show(&self, line: &str) {
        if self.start.elapsed() >= Self::PATIENCE && takes_escapes() {
            // Only the last row of a wrapped line could be replaced, so lines are cut off.
            let line = format!("\r\x1b[K\x1b[?7l{line:.79}\x1b[?7h");
            let _ = io::stderr().write_all(line.as_bytes());
            self.is_shown.set(true);
        }
    }

    pub(crate) fn clear(&self) {
        if self.is_shown.take() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Whether stderr is a terminal that can take a line back.
fn takes_escapes() -> bool {
    io::stderr().is_terminal()
        && env::var_os("TERM").is_none_or(|term| !term.is_empty() && term != "dumb")
}

/// The number with a comma before every three digits.
pub(crate) fn grouped(n: usize) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1_000), n % 1_000) }
}

/// The text on one line and in the order of its characters, whatever characters it has: without
/// control characters, those that end lines, and those that turn the direction of text.
pub(crate) fn printable(text: &str) -> String {
    let is_unprintable = |char: char| {
        char.is_control()
            || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(char, '\u{2066}'..='\u{2069}')
    };
    text.replace(is_unprintable, "\u{fffd}")
}
