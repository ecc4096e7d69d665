//! `rewrite`: gives the tables of a closed database better filters.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::command_line::{Find, Options, Report};
use crate::plan::{BELOW, Stays};
use crate::report::{WRITTEN, figures, notes};
use crate::survey::Survey;
use crate::table::replace::{left_over, prepare, sync_directory};
use crate::terminal::{Progress, grouped};
use crate::text::{counted, long, wrapped};

pub(crate) const HELP: [&str; 25] = [
    "First a backup, which is free: cp -al DIR DIR.bak",
    "Then close the database. One whose LOCK is held is refused, but a program in another",
    "container cannot be seen, nor one that opens it while this runs.",
    "usage: leveldb-filters rewrite [OPTION]... [--] DIR|FILE...",
    "Rebuilds the filters of databases or tables, each for 512 KiB and 4,000 keys or more: in",
    "place where there is room; else in place with one filter of a table, no longer than its keys",
    "need, if there is room for that. Where it is known what lookups read, tables that would not",
    "gain stay as they are.",
    "  --dry-run         prints the same report, and leaves all files as they are",
    "  --bits-per-key N  N for each, also where lookups then read more, but filters are smaller;",
    "                    else today's or 10, whichever is more",
    "  --add             adds filters at the end of tables that have none or no room",
    "Programs need no change, but use added filters only if they set a Bloom filter policy: in",
    "C++ NewBloomFilterPolicy(10), in plyvel bloom_filter_bits=10, in goleveldb",
    "filter.NewBloomFilter(10). RocksDB opens no table longer than recorded.",
    "LevelDB gives tables that it writes later its own filters: a database that is written to",
    "loses the gain table by table. Filters get LevelDB's name, and goleveldb's where there is",
    "room. Not for LevelDB before 1.18, which has another hash.",
    "Keys, values, owner and mode stay; ACLs, extended attributes and hard links do not. Each new",
    "file is checked, and renamed if nobody has changed the table: a crash leaves the old or the",
    "new one. Databases of which a table cannot be read are left, and so are foreign tables.",
    "It takes memory of up to about four times the largest table.",
    "Exit status: 0 done, or nothing to do;",
    "             1 a table cannot be read or written, or its filters are of an unknown policy;",
    "             2 wrong usage.",
];

const UNSYNCED: &str =
    "all new files are in place, but a crash may bring back old ones, also whole";

/// Rewrites the filters of a group of tables, and reports on it.
pub(crate) fn rewrite(find: &Find<'_>, options: &Options) -> Result<Report, String> {
    let find = || {
        let group = find()?;
        group.lost.clone().map_or(Ok(()), Err)?;
        if group.is_open {
            return Err(format!("{}: a program has it open: close it", group.title()));
        }
        Ok(group)
    };
    let group = find()?;
    let progress = Progress::start();
    let mut survey = Survey::of(&group, &options.wish, &progress);
    if find()? != group {
        return Err(format!("{}: {WRITTEN}", group.title()));
    }
    let named = |error: &dyn ToString| format!("{}: {}", group.title(), error.to_string());
    let planned = group
        .tables
        .iter()
        .zip(&survey.tables)
        .filter(|(_, table)| table.as_ref().is_ok_and(|table| table.plan.is_ok()));
    let directories: BTreeSet<_> = planned.filter_map(|(table, _)| table.path.parent()).collect();
    for directory in &directories {
        prepare(directory).map_err(|error| named(&error))?;
    }
    let left_over = left_over_beside(&survey).map_err(|error| named(&error))?;
    let removes = survey.num_unread() == 0 && !options.dry_run;
    if removes {
        left_over.iter().try_for_each(fs::remove_file).map_err(|error| named(&error))?;
    }
    if !options.dry_run {
        carry_out(&mut survey, &progress);
    }
    let mut lines = report(&survey, !options.dry_run);
    for name in left_over.iter().filter(|_| !removes).filter_map(|path| path.file_name()) {
        lines.push(format!("Left over by an interrupted run: {}", name.to_string_lossy()));
    }
    if options.dry_run {
        lines.push("Nothing was written (--dry-run).".into());
    }
    let mut causes = causes(&survey, options.dry_run);
    for directory in directories.into_iter().filter(|_| !options.dry_run) {
        if let Err(error) = sync_directory(directory) {
            causes.push(format!("{}: {UNSYNCED}: {error}", group.title()));
        }
    }
    Ok((lines, causes))
}

/// Tables whose files cannot be replaced stay as they are.
fn carry_out(survey: &mut Survey<'_>, progress: &Progress) {
    let listed = &survey.group.tables;
    for (i, table) in survey.tables.iter_mut().enumerate() {
        let Ok(table) = table else { continue };
        progress.show(&format!("written: {i} of {} tables", listed.len()));
        let done = table.plan.as_ref().map_or(Ok(()), |plan| plan.carry_out(&listed[i].path));
        if let Err(error) = done {
            table.plan = Err(error.into());
        }
    }
}

/// What interrupted runs left beside tables that can be read.
fn left_over_beside(survey: &Survey<'_>) -> std::io::Result<Vec<PathBuf>> {
    let tables = survey.group.tables.iter().zip(&survey.tables).filter(|(_, of)| of.is_ok());
    let directories: BTreeSet<_> = tables.filter_map(|(table, _)| table.path.parent()).collect();
    Ok(directories.into_iter().map(left_over).collect::<Result<Vec<_>, _>>()?.concat())
}

fn report(survey: &Survey<'_>, are_written: bool) -> Vec<String> {
    let [in_place, appended] = [false, true]
        .map(|end| survey.plans().filter(|plan| plan.place.is_appended == end).count());
    let growth = survey.plans().map(|plan| plan.growth).fold(0, u64::saturating_add);
    let growth = if growth > 0 { format!(": {} bytes more", long(growth)) } else { String::new() };
    let mut lines = wrapped(&format!(
        "{}: {}; other filters in place in {}, at the end of {}{growth}",
        survey.group.title(),
        counted(survey.tables.len(), "table"),
        grouped(in_place),
        grouped(appended),
    ));
    let mut staying: BTreeMap<&str, usize> = BTreeMap::new();
    for table in &survey.tables {
        let why = match table.as_ref().map(|table| &table.plan) {
            Ok(Ok(_)) => continue,
            Ok(Err(Stays::For(why))) => why,
            Ok(Err(Stays::Failed(_))) | Err(_) => BELOW,
        };
        *staying.entry(why).or_default() += 1;
    }
    let staying: Vec<_> = staying.iter().map(|(why, n)| format!("{} {why}", grouped(*n))).collect();
    if !staying.is_empty() {
        lines.extend(wrapped(&format!("Left as they are: {}.", staying.join("; "))));
    }
    if in_place + appended > 0 {
        lines.extend(figures(survey));
        lines.extend(notes(survey, are_written));
    }
    lines
}

/// Tables with wrong filters are right once they are rewritten.
fn causes(survey: &Survey<'_>, is_dry: bool) -> Vec<String> {
    let mut causes = survey.causes();
    for (table, cause) in survey.tables.iter().zip(&mut causes) {
        match table.as_ref().map(|table| &table.plan) {
            Ok(Ok(_)) if !is_dry => *cause = None,
            Ok(Err(Stays::Failed(why))) => *cause = Some(why.clone()),
            _ => (),
        }
    }
    survey.named(causes)
}
