//! The command line, and what it does.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use leveldb_filter::BloomFilterPolicy;
use plan::{Left, Plan};

use crate::inspect_table::database::Group;
use crate::inspect_table::lookups::Reads;
use crate::inspect_table::survey::{Outcome, Survey};
use crate::inspect_table::table::Filters;
use crate::table::replace::replace;
use crate::terminal::{Progress, counted, grouped, wrapped};

mod plan;

const ADDED: &str = "Added filters are used if the program sets a Bloom filter policy: in C++ \
    NewBloomFilterPolicy(10), plyvel bloom_filter_bits=10, goleveldb filter.NewBloomFilter(10).";

/// Rewrites the filters of each directory, and of each series of files between directories, and
/// prints a report.
pub(crate) fn rewrite(
    options: &Options,
    num_lookups: usize,
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome::default();
    for paths in options.paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        let group = match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Group::of_files(files),
        };
        match group.and_then(|group| group.lost.clone().map_or(Ok(group), Err)) {
            Ok(group) => {
                let (lines, of_group) = rewrite_group(&group, options, num_lookups);
                print(&lines)?;
                outcome.add(of_group);
            }
            Err(cause) => outcome.add(Outcome::failure(cause)),
        }
    }
    Ok(outcome)
}

fn rewrite_group(group: &Group, options: &Options, num_lookups: usize) -> (Vec<String>, Outcome) {
    let progress = Progress::start();
    let mut survey = Survey::of(group, num_lookups, |step| progress.show(step));
    let num_tables = group.tables.len();
    let mut plans = plan::choose(&survey, options, |i| {
        progress.show(&format!("choosing filters: table {} of {num_tables}", i + 1));
    });
    let mut num_bytes = 0;
    for (i, (table, plan)) in group.tables.iter().zip(&mut plans).enumerate() {
        let Ok(chosen) = plan else { continue };
        let done = format!("writing table {} of {num_tables}, ", i + 1);
        progress.show(&format!("{done}{} bytes written", grouped(num_bytes)));
        num_bytes += survey.table(i).map_or(0, |table| usize::try_from(table.file_len).unwrap());
        let written = if options.dry_run { Ok(()) } else { write(&table.path, chosen) };
        if let Err(error) = written {
            *plan = Err(error.into());
        }
    }
    let lines = report(&survey, &plans);
    for (table, plan) in survey.tables.iter_mut().zip(plans) {
        if let Err(Left::Failed(cause)) = plan {
            *table = Err(cause);
        }
    }
    (lines, survey.outcome())
}

fn write(path: &Path, plan: &Plan) -> Result<(), Box<dyn Error>> {
    let old = fs::read(path)?;
    replace(path, &plan.apply(&old)?, |new| plan.check(&old, new))
}

fn report(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Vec<String> {
    let name = if survey.group.name.is_empty() { "files" } else { &survey.group.name };
    let num_tables = counted(plans.len(), "table");
    let number = |is_appended| {
        grouped(plans.iter().flatten().filter(|plan| plan.is_appended == is_appended).count())
    };
    let (in_place, appended) = (number(false), number(true));
    let mut lines = vec![format!(
        "{name}: {num_tables}; other filters in {in_place}, added at the end of {appended}"
    )];
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for why in plans.iter().filter_map(|plan| plan.as_ref().err()) {
        let why = if let Left::Alone(why) = why { why } else { "with errors" };
        *left.entry(why).or_default() += 1;
    }
    let left: Vec<_> = left.iter().map(|(why, number)| format!("{number} {why}")).collect();
    if !left.is_empty() {
        lines.extend(wrapped(&format!("Left as they are: {}.", left.join("; ")), "  "));
    }
    if plans.iter().all(Result::is_err) {
        return lines;
    }
    let today = |i: usize| match survey.table(i).map(|table| &table.filters) {
        Some(Filters::Known(filters)) => filters.num_bytes,
        _ => 0,
    };
    let of_plan = |i: usize| plans[i].as_ref().map_or(today(i), |plan| plan.num_bytes);
    let sum = |bytes: &dyn Fn(usize) -> usize| grouped((0..plans.len()).map(bytes).sum());
    lines.push(format!("Filters: {} bytes before, {} after", sum(&today), sum(&of_plan)));
    lines.extend(reads(survey, plans));
    if appended != "0" {
        lines.extend(wrapped(ADDED, "  "));
    }
    lines
}

fn reads(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Vec<String> {
    if survey.shares.is_none() {
        return vec!["Wasted reads are unknown, and so is the order of the keys.".into()];
    }
    let reads = |of_plan: fn(&Plan) -> Reads| {
        let of_table = |i: usize| plans[i].as_ref().ok().map(of_plan).or(survey.table(i)?.reads);
        survey.shown(survey.reads(of_table))
    };
    let (before, after) = (reads(|plan| plan.reads_before), reads(|plan| plan.reads));
    let kinds = ["keys that do not exist", "keys that exist", "random keys that do not exist"];
    let rows = before.iter().zip(after).zip(kinds);
    let title = "Wasted data block reads per 1,000 lookups, before and after:".to_string();
    let row = |((before, after), kind)| format!("{before:>9} {after:>9}  of {kind}");
    std::iter::once(title).chain(rows.map(row)).collect()
}

/// The command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) help: bool,
    pub(crate) dry_run: bool,
    pub(crate) add: bool,
    /// Of filters that are the first ones of a database.
    pub(crate) name: Option<&'static str>,
    pub(crate) bits_per_key: Option<usize>,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    /// Returns the options, or what is wrong with them. All arguments after `--` are paths.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut only_paths = false;
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let is_option = arg.as_encoded_bytes().starts_with(b"-");
            match arg.to_str() {
                Some("") => return Err("an empty argument is not a file name".into()),
                _ if only_paths || !is_option => options.paths.push(arg.into()),
                Some("--") => only_paths = true,
                Some("-h" | "--help") => options.help = true,
                Some("--dry-run") => options.dry_run = true,
                Some("--add") => options.add = true,
                Some("--goleveldb") => options.name = Some(BloomFilterPolicy::GOLEVELDB_NAME),
                Some("--bits-per-key") => {
                    let number = args.next().and_then(|number| number.to_str()?.parse().ok());
                    let bits: usize = number
                        .filter(|bits| (1..=100).contains(bits))
                        .ok_or("--bits-per-key needs a number from 1 to 100")?;
                    options.bits_per_key = Some(bits);
                }
                _ => return Err(format!("unknown option {}", arg.to_string_lossy())),
            }
        }
        if options.paths.is_empty() && !options.help {
            return Err("no database and no table is named".into());
        }
        Ok(options)
    }
}
