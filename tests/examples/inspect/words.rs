//! Numbers, figures and paths in words.

use std::path::Path;

use crate::common::terminal::{grouped, printable};
use crate::figures::{Figures, Tested};

/// The width of the column before the figures.
const LABEL_LEN: usize = 20;

/// The figures of columns of these widths.
pub(crate) fn table(columns: &[(&str, usize, &Figures)]) -> [String; 4] {
    let row = |label: &str, cell: &dyn Fn(&Figures) -> String| {
        columns.iter().fold(format!("{label:LABEL_LEN$}"), |row, (_, width, figures)| {
            format!("{row}{:>width$}", cell(figures))
        })
    };
    let title = columns
        .iter()
        .fold(" ".repeat(LABEL_LEN), |title, (name, width, _)| format!("{title}{name:>width$}"));
    let share = |tested: Tested| match tested.absent {
        0 => "-".into(),
        all => format!("{:.1}%", 100.0 * ratio(tested.passing as u64, all)),
    };
    [
        title,
        row("next keys that pass", &|figures| share(figures.next)),
        row("mixed keys that pass", &|figures| share(figures.mixed)),
        row("filter block bytes", &|figures| grouped(figures.bytes)),
    ]
}

/// The number with its noun, which is the second one in the plural.
pub(crate) fn counted(number: usize, nouns: [&str; 2]) -> String {
    format!("{} {}", grouped(number), nouns[usize::from(number != 1)])
}

#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub(crate) fn ratio(part: u64, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// A line about a table or another path.
pub(crate) fn notice(path: &Path, what: &str) -> String {
    printable(&format!("{}: {what}", path.display()))
}
