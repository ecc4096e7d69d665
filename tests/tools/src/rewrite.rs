//! The command line, and what it does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fs, io};

use plan::{BELOW, Left, Plan};

use crate::command_line::{Outcome, Report, each_group, paths, unknown};
use crate::database::Group;
use crate::inspect::WRITTEN;
use crate::survey::Survey;
use crate::survey::inspection::Filters;
use crate::survey::lookups::{Candidate, RANDOM};
use crate::survey::sample::{BETWEEN, OWN};
use crate::table::replace::{left_over, prepare, sync_directory};
use crate::terminal::{Progress, grouped, print};
use crate::text::{counted, wrapped};

mod plan;

pub(crate) const ADDED: [&str; 3] = [
    "Added filters are used if the program sets a Bloom filter policy: in C++",
    "  NewBloomFilterPolicy(10), plyvel bloom_filter_bits=10, goleveldb",
    "  filter.NewBloomFilter(10). RocksDB opens no table longer than recorded.",
];

pub(crate) const HELP: [&str; 22] = [
    "First a backup, which is free: cp -al DIR DIR.bak",
    "Then close the database. One whose LOCK is held is refused, but a program in",
    "another container cannot be seen, nor one that opens it while this runs.",
    "usage: leveldb-filters rewrite [OPTION]... [--] DIR|FILE...",
    "Rebuilds the filters of databases or tables, each for 512 KiB and 4,000 keys or",
    "more: fewer lookups read data blocks needlessly. Programs need no change. What",
    "LevelDB compacts later gets LevelDB's filters again. Filters get LevelDB's name",
    "and goleveldb's where there is room. Not for LevelDB before 1.18: another hash.",
    "  --dry-run         prints the same report, and leaves all files as they are",
    "  --bits-per-key N  exactly N; else today's, 10 with --add, more if lookups lose",
    "  --add             adds filters at the end of tables that have none or no room",
    "  --force           although LOCK is held, or lookups lose by N bits per key",
    ADDED[0],
    ADDED[1],
    ADDED[2],
    "Keys, values, owner and mode stay; ACLs, extended attributes and hard links do",
    "not. Each new file is checked, and renamed if nobody has changed the table: a",
    "crash leaves the old or the new one. Damaged data and foreign tables are left.",
    "It takes memory of up to about four times the largest table.",
    "Exit status: 0 done, or nothing to do; 1 a table cannot be read or written, or",
    "its filters are not usable; 2 wrong usage; 3 done, but filters that differ from",
    "their policy's were left.",
];

const NUM_LOOKUPS: usize = 1_000_000;

#[expect(clippy::needless_pass_by_value, reason = "as the command line calls it")]
pub(crate) fn run(options: Options) -> Outcome {
    each_group(&options.paths, print, Group::of_paths, |read| rewrite(read, &options, NUM_LOOKUPS))
}

const WORSE: &str = "nothing was written: lookups would read more (--force writes it nevertheless)";
const UNSYNCED: &str =
    "all new files are in place, but a crash may bring back old ones, also whole";

/// Rewrites the filters of a group of tables, and reports on it.
pub(crate) fn rewrite(
    read: impl Fn() -> Result<Group, String>,
    options: &Options,
    num_lookups: usize,
) -> Result<Report, String> {
    let read = || {
        let group = read()?;
        group.lost.clone().map_or(Ok(()), Err)?;
        if group.is_open && !options.force {
            return Err(format!("{}: a program has it open: close it, or --force", group.title()));
        }
        Ok(group)
    };
    let group = read()?;
    let progress = Progress::start();
    // Divided between at most eight tables.
    let num_lookups = num_lookups.saturating_mul(group.tables.len().div_ceil(8).max(1));
    let mut survey = Survey::of(&group, (num_lookups, false), |step| progress.show(step));
    let mut plans = plan::choose(&survey, options, &progress);
    if (Group { is_open: group.is_open, ..read()? }) != group {
        return Err(format!("{}: {WRITTEN}", group.title()));
    }
    if options.bits_per_key.is_some() && !options.force && is_worse(&survey, &plans) {
        let cause = Outcome::failure(format!("{}: {WORSE}", group.title()));
        let nothing = vec!["Nothing was written.".into()];
        return Ok(([report(&survey, &plans), nothing].concat(), cause));
    }
    let planned = group.tables.iter().zip(&plans).filter(|(_, plan)| plan.is_ok());
    let directories: BTreeSet<_> = planned.filter_map(|(table, _)| table.path.parent()).collect();
    for directory in &directories {
        prepare(directory).map_err(|error| format!("{}: {error}", group.title()))?;
    }
    let removes = survey.tables.iter().all(Result::is_ok) && !options.dry_run;
    let left_over = left_over_beside(&survey, removes)
        .map_err(|error| format!("{}: {error}", group.title()))?;
    for (i, plan) in plans.iter_mut().enumerate().filter(|_| !options.dry_run) {
        progress.show(&format!("written: {i} of {} tables", group.tables.len()));
        if let Err(error) = plan.as_ref().map_or(Ok(()), |of| of.carry_out(&group.tables[i].path)) {
            *plan = Err(error.into());
        }
    }
    let mut lines = report(&survey, &plans);
    for name in left_over.iter().filter(|_| !removes).filter_map(|path| path.file_name()) {
        lines.push(format!("Left over by an interrupted run: {}", name.to_string_lossy()));
    }
    if options.dry_run {
        lines.push("Nothing was written (--dry-run).".into());
    }
    for (table, plan) in survey.tables.iter_mut().zip(plans) {
        match plan {
            Err(Left::Failed(cause)) => *table = Err(cause),
            // Damaged ones are whole again.
            Ok(_) if !options.dry_run => table.iter_mut().for_each(|of| of.filters = Filters::None),
            _ => (),
        }
    }
    let mut outcome = survey.outcome();
    for directory in directories.into_iter().filter(|_| !options.dry_run) {
        if let Err(error) = sync_directory(directory) {
            outcome.add(Outcome::failure(format!("{}: {UNSYNCED}: {error}", group.title())));
        }
    }
    Ok((lines, outcome))
}

/// What interrupted runs left beside tables that can be read, which it may remove.
fn left_over_beside(survey: &Survey<'_>, removes: bool) -> io::Result<Vec<PathBuf>> {
    let tables = survey.group.tables.iter().zip(&survey.tables).filter(|(_, of)| of.is_ok());
    let directories: BTreeSet<_> = tables.filter_map(|(table, _)| table.path.parent()).collect();
    let paths = directories.into_iter().map(left_over).collect::<Result<Vec<_>, _>>()?.concat();
    paths.iter().filter(|_| removes).try_for_each(fs::remove_file)?;
    Ok(paths)
}

/// Whether a kind of lookups would lose more than a sample may be wrong by.
fn is_worse(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> bool {
    let [before, after] = [Candidate::today(survey), plan::after(survey, plans)].map(|of| of.reads);
    [BETWEEN, OWN, RANDOM].iter().any(|&kind| after[kind] > 1.25 * before[kind] + 1.0)
}

fn report(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Vec<String> {
    let [in_place, appended] = [false, true]
        .map(|end| plans.iter().flatten().filter(|of| of.place.is_appended == end).count());
    let tables = counted(plans.len(), "table");
    let places = [in_place, appended].map(grouped).join(", added at the end of ");
    let title = format!("{}: {tables}; other filters in {places}", survey.group.title());
    let mut lines = wrapped(&title, "  ");
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for why in plans.iter().filter_map(|plan| plan.as_ref().err()) {
        *left.entry(if let Left::Alone(why) = why { why } else { BELOW }).or_default() += 1;
    }
    let left: Vec<_> = left.iter().map(|(why, n)| format!("{} {why}", grouped(*n))).collect();
    if !left.is_empty() {
        lines.extend(wrapped(&format!("Left as they are: {}.", left.join("; ")), "  "));
    }
    if in_place + appended > 0 {
        let title = format!("{}, before and after:", survey.title_of_reads());
        lines.extend(wrapped(&title, "  "));
        let figures = [Candidate::today(survey), plan::after(survey, plans)].map(|filters| {
            let [missing, existing, random, _] = survey.shown(filters.reads);
            [missing, existing, random, grouped(filters.num_bytes)]
        });
        let labels =
            ["of missing keys", "of existing keys", "of missing random keys", "bytes of filters"];
        let row = |(i, label)| format!("{:>11} {:>11}  {label}", figures[0][i], figures[1][i]);
        lines.extend(labels.iter().enumerate().map(row));
        lines.extend(survey.group.compactions().iter().flat_map(|line| wrapped(line, "  ")));
    }
    if appended > 0 {
        lines.extend(ADDED.map(Into::into));
    }
    lines
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) dry_run: bool,
    pub(crate) add: bool,
    pub(crate) force: bool,
    pub(crate) bits_per_key: Option<usize>,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let paths = paths(args, |option, values| {
            match option {
                "--dry-run" => options.dry_run = true,
                "--add" => options.add = true,
                "--force" => options.force = true,
                "--bits-per-key" => {
                    let number = values.next().and_then(|number| number.to_str()?.parse().ok());
                    options.bits_per_key = number.filter(|bits| (1..=100).contains(bits));
                    options.bits_per_key.ok_or("--bits-per-key needs a number from 1 to 100")?;
                }
                _ => return Err(unknown(option)),
            }
            Ok(())
        })?;
        Ok(paths.map(|paths| Self { paths, ..options }))
    }
}
