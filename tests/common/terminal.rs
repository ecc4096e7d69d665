//! Terminal output of the examples and the benches.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

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
