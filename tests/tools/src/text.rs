//! Numbers and lines for people.

use crate::terminal::grouped;

pub(crate) fn long(len: u64) -> String {
    usize::try_from(len).map_or_else(|_| len.to_string(), grouped)
}

/// The number with its noun, in the plural if needed.
pub(crate) fn counted(number: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Converts a number that is shown with few digits.
#[allow(clippy::cast_precision_loss, reason = "few digits are shown")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}

/// `None` if `whole` is 0.
pub(crate) fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| float(part) / float(whole))
}

pub(crate) fn percent(ratio: f64) -> String {
    match 100.0 * ratio {
        0.0 => "0%".into(),
        percent @ 0.0..0.05 => format!("{percent:.3}%"),
        percent @ 0.0..9.95 => format!("{percent:.1}%"),
        percent => format!("{percent:.0}%"),
    }
}

pub(crate) fn entries(number: usize) -> String {
    if number == 1 { "1 entry".into() } else { format!("{} entries", grouped(number)) }
}

pub(crate) fn part(number: usize, all: usize, nouns: &str) -> String {
    format!("{} of {} {nouns}", grouped(number), grouped(all))
}

/// A number per 1,000, rounded to what this many lookups can tell, or the bound if it is 0.
pub(crate) fn per_1000(number: f64, lookups: f64) -> String {
    if number == 0.0 {
        return match 3_000.0 / lookups {
            0.0 => "0".into(),
            0.0..=0.05 => "<0.05".into(),
            0.0..=0.5 => "<0.5".into(),
            bound @ 0.0..1_000.0 => format!("<{bound:.0}"),
            _ => "-".into(),
        };
    }
    let error = (1_000.0 * number / lookups).sqrt();
    let mut unit = if number < 0.95 { 0.01 } else { 0.1 };
    while number >= 10.0 * unit && (error >= 10.0 * unit || unit < 1.0 && number >= 999.5 * unit) {
        unit *= 10.0;
    }
    let rounded = (number / unit).round() * unit;
    match unit {
        0.0..0.05 => format!("{rounded:.2}"),
        0.0..0.5 => format!("{rounded:.1}"),
        _ => format!("{rounded:.0}").parse().map_or_else(|_| rounded.to_string(), grouped),
    }
}

const WIDTH: usize = 100;

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

/// The cells in columns, with narrow gaps if they are too wide otherwise. Columns without a title
/// are text, the others numbers.
pub(crate) fn columns<const N: usize>(
    titles: [&str; N],
    rows: impl Iterator<Item = [String; N]> + Clone,
) -> Vec<String> {
    let rows = std::iter::once(titles.map(Into::into)).chain(rows);
    let mut widths = [0; N];
    for row in rows.clone() {
        for (width, cell) in widths.iter_mut().zip(&row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let gap = if widths.iter().sum::<usize>() + 2 * (N - 1) > WIDTH { " " } else { "  " };
    let line = |row: [String; N]| {
        let cells = row.iter().zip(titles).zip(widths).map(|((cell, title), width)| match title {
            "" => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join(gap).trim_end().to_string()
    };
    rows.map(line).collect()
}
