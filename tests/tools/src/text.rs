//! Numbers and lines for people.

use std::env;

use crate::terminal::grouped;

const WIDTH: usize = 100;

/// The number with its noun, which is the second one in the plural.
pub(crate) fn counted(number: usize, nouns: [&str; 2]) -> String {
    format!("{} {}", grouped(number), nouns[usize::from(number != 1)])
}

pub(crate) fn part(number: usize, all: usize, nouns: &str) -> String {
    format!("{} of {} {nouns}", grouped(number), grouped(all))
}

/// With two significant digits; a dash for no number.
pub(crate) fn rounded(number: f64) -> String {
    let mut unit = 0.01;
    while number >= 99.5 * unit {
        unit *= 10.0;
    }
    let rounded = (number / unit).round() * unit;
    match unit {
        _ if number == 0.0 => "0".into(),
        _ if number.is_nan() => "-".into(),
        0.0..0.05 => format!("{rounded:.2}"),
        0.0..0.5 => format!("{rounded:.1}"),
        _ => format!("{rounded:.0}").parse().map_or_else(|_| rounded.to_string(), grouped),
    }
}

/// `times` the part that a number is of another.
#[allow(clippy::cast_precision_loss, reason = "two digits are shown")]
pub(crate) fn share(times: f64, part: usize, whole: usize) -> f64 {
    times * part as f64 / whole.max(1) as f64
}

/// The text in lines of at most 100 columns, indented after the first; a longer word gets its own
/// line.
pub(crate) fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.into()),
        }
    }
    lines
}

/// The line of this program to copy into a shell.
pub(crate) fn line_of(command: &str, path: &str) -> String {
    let program = env::args_os().next().unwrap_or_else(|| "leveldb-filters".into());
    let quoted = |word: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,=".contains(c);
        let is_plain = word.chars().all(is_plain);
        if is_plain { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let dashes = if path.starts_with('-') { " --" } else { "" };
    format!("{} {command}{dashes} {}", quoted(&program.to_string_lossy()), quoted(path))
}
