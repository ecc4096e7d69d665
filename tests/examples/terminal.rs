//! How the examples speak to a terminal.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// One line on stderr for an error, and the exit code.
pub(crate) fn exit_code(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where stderr is closed, the exit code has to do.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints to stdout, whose reader may have seen enough before the end.
pub(crate) fn print(lines: &[impl Display]) -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    match lines.iter().try_for_each(|line| writeln!(stdout, "{line}")) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// The number with a comma before every three digits.
pub(crate) fn grouped(n: usize) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1_000), n % 1_000) }
}
