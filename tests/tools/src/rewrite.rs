//! `rewrite`: gives the tables of a closed database better filters.

use std::fs;

use crate::report::{Open, Report, WRITTEN, compactions, figures, staying, unread};
use crate::survey::{Inspection, Survey};
use crate::table::replace::{left_over, sync_directory};
use crate::terminal::Progress;
use crate::text::{part, wrapped};

/// Rewrites the filters of a database, and reports on it. If `is_dry`, nothing is written.
pub(crate) fn rewrite(open: &Open<'_>, is_dry: bool) -> Result<Report, String> {
    let open = || {
        let database = open()?;
        let refused = || format!("{}: a program has it open: close it", database.name);
        if database.is_open { Err(refused()) } else { Ok(database) }
    };
    let database = open()?;
    let progress = Progress::start();
    let survey = Survey::of(&database, &progress);
    if open()? != database {
        return Err(format!("{}: {WRITTEN}", database.name));
    }
    let num_plans = survey.num_plans();
    let (number, failures) =
        if is_dry { (num_plans, Vec::new()) } else { carry_out(&survey, &progress) };

    let tables = part(number, survey.tables.len(), "tables");
    let what = match (number, is_dry) {
        (0, _) => "nothing was written".into(),
        (_, true) => format!("nothing was written (--dry-run); better filters for {tables}"),
        (_, false) => format!("written: better filters for {tables}"),
    };
    let mut lines = wrapped(&format!("{}: {what}.", database.name));
    let is_bad = |Inspection { filters, plan, .. }: &Inspection| {
        filters.are_wrong() || filters.are_damaged && plan.is_err()
    };
    let is_bad = survey.num_unread() + failures.len() > 0 || survey.read().any(is_bad);
    lines.extend(staying(&survey).iter().flat_map(|line| wrapped(line)));
    lines.extend(unread(&survey));
    // Most have the same cause.
    lines.extend(failures.iter().take(3).flat_map(|line| wrapped(line)));
    if number == num_plans && number > 0 {
        lines.extend(figures(&survey));
        lines.extend(compactions(&survey));
    }
    Ok(Report { lines, is_bad })
}

/// Carries out the plans. Returns how many tables are written, and a line for each failure, after
/// which the table stays as it is.
fn carry_out(survey: &Survey<'_>, progress: &Progress) -> (usize, Vec<String>) {
    let directory = &survey.database.directory;
    let mut failures = Vec::new();
    if survey.num_unread() == 0 {
        for path in left_over(directory).unwrap_or_default() {
            let _ = fs::remove_file(path);
        }
    }
    let mut num_written = 0;
    for (i, (listed, table)) in survey.database.tables.iter().zip(&survey.tables).enumerate() {
        let Some(plan) = table.as_ref().ok().and_then(|table| table.plan.as_ref().ok()) else {
            continue;
        };
        progress.show(&format!("written: {i} of {} tables", survey.tables.len()));
        match plan.carry_out(&listed.path) {
            Ok(()) => num_written += 1,
            Err(error) => failures.push(format!("{} stays as it is: {error}", listed.name())),
        }
    }
    let synced = if num_written > 0 { sync_directory(directory) } else { Ok(()) };
    let unsynced = |error| format!("a crash may bring back old files, also whole: {error}");
    failures.extend(synced.err().map(unsynced));
    (num_written, failures)
}
