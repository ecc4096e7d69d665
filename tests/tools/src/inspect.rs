//! `inspect`: a verdict on the filters of a database, what `rewrite` would change, and what to do.

use crate::database::Database;
use crate::report::{
    Open, Report, WRITTEN, compactions, figures, has_figures, reads_of_1000, title, unread,
};
use crate::survey::Survey;
use crate::terminal::Progress;
use crate::text::{line_of, part, wrapped};
use crate::verdict::{Verdict, verdict};

/// Below this many reads per 1,000 lookups, a gain is not worth the while.
const LEAST_GAIN: f64 = 10.0;

const NOTHING: &str = "Nothing to do.";
/// With fewer bits per entry, filters let many keys pass that the hash tells apart.
const ENOUGH_BITS: usize = 8;

const POLICY: &str = "set a filter policy of 10 bits per key, in plyvel bloom_filter_bits=10";
/// Its plain `compact_range()` leaves the levels as they are.
const COMPACT: &str =
    "compact the whole range, in plyvel by db.compact_range(start=b'', stop=b'\\xff' * 9)";

/// A report on the database, if that stays as it is.
pub(crate) fn inspect(open: &Open<'_>) -> Result<Report, String> {
    let progress = Progress::start();
    let database = open()?;
    let survey = Survey::of(&database, &progress);
    if (Database { is_open: database.is_open, ..open()? }) != database {
        return Err(format!("{}: {WRITTEN}", database.name));
    }
    let (verdict, words) = verdict(&survey);
    let mut lines = wrapped(&title(&survey));
    lines.extend(wrapped(&words));
    lines.extend(unread(&survey));
    if ![Verdict::Empty, Verdict::Unknown].contains(&verdict) {
        lines.extend(figures(&survey));
    }
    if database.is_open {
        lines.push("A program has it open, and may change it.".into());
    }
    if is_mostly_deleted(&survey) {
        let [deletions, all] = deletions(&survey);
        let deletions = part(deletions, all, "entries");
        lines.push(format!("{deletions} are deletions: compacting helps more than filters."));
    }
    lines.extend(todo(&survey, verdict));
    let is_bad = [Verdict::Unreadable, Verdict::Damaged, Verdict::Wrong].contains(&verdict);
    Ok(Report { lines, is_bad })
}

/// How many entries are deletions, and how many there are.
fn deletions(survey: &Survey<'_>) -> [usize; 2] {
    [survey.sum(|table| table.num_deletions), survey.sum(|table| table.num_entries)]
}

/// Whether most entries are deletions or what these delete.
fn is_mostly_deleted(survey: &Survey<'_>) -> bool {
    let [deletions, all] = deletions(survey);
    3 * deletions > all
}

fn todo(survey: &Survey<'_>, verdict: Verdict) -> Vec<String> {
    let has_plans = survey.num_plans() > 0;
    let [today, rewritten] =
        [survey.today(), survey.rewritten()].map(|cost| reads_of_1000(survey, cost));
    let gains = |kind| today[kind] - rewritten[kind] >= LEAST_GAIN;
    let num_bits = survey.sum(|table| table.filters.num_bits);
    let has_few_bits = num_bits / ENOUGH_BITS < survey.sum(|table| table.num_entries);
    let todo = match verdict {
        Verdict::Empty | Verdict::Unreadable | Verdict::Wrong | Verdict::Unknown => {
            return Vec::new();
        }
        Verdict::NoFilters if today.iter().all(|&reads| reads < LEAST_GAIN) => NOTHING.into(),
        Verdict::Problem if has_few_bits && !has_plans => format!("To do: {POLICY}, {COMPACT}."),
        Verdict::NoFilters => format!("To do: {POLICY}, {COMPACT}."),
        Verdict::Damaged if !has_plans => format!("To do: {COMPACT}."),
        Verdict::Damaged => return rewrite(survey),
        Verdict::Problem if has_plans => return rewrite(survey),
        Verdict::Ok if gains(0) || gains(1) => return rewrite(survey),
        Verdict::Problem | Verdict::Ok if is_mostly_deleted(survey) => format!("To do: {COMPACT}."),
        Verdict::Problem | Verdict::Ok => NOTHING.into(),
    };
    wrapped(&todo)
}

fn rewrite(survey: &Survey<'_>) -> Vec<String> {
    let compactions = compactions(survey).filter(|_| has_figures(survey));
    let is_first = compactions.is_some() || is_mostly_deleted(survey);
    let first = if is_first { format!("{COMPACT}, ") } else { String::new() };
    let todo = format!("To do: {first}close the database, then:");
    let command = format!("  {}", line_of("rewrite", &survey.database.name));
    compactions.into_iter().chain(wrapped(&todo)).chain([command]).collect()
}
