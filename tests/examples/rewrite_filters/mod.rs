//! The command line, and what it does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use leveldb_filter::BloomFilterPolicy;
use plan::{Left, Plan};

use crate::command_line::{paths, unknown};
use crate::inspect_table::database::Group;
use crate::inspect_table::lookups::Reads;
use crate::inspect_table::survey::Survey;
use crate::inspect_table::{Report, WRITTEN};
use crate::terminal::{Progress, counted, grouped, long, wrapped};

mod plan;

const ADDED: &str = "Added filters are used if the program sets a Bloom filter policy: in C++ \
    NewBloomFilterPolicy(10), plyvel bloom_filter_bits=10, goleveldb filter.NewBloomFilter(10).";

/// Rewrites the filters of a group of tables, and reports on it.
pub(crate) fn rewrite(
    read: impl Fn() -> Result<Group, String>,
    options: &Options,
    num_lookups: usize,
) -> Result<Report, String> {
    let group = read()?;
    if let Some(why) = &group.lost {
        return Err(why.clone());
    }
    let progress = Progress::start();
    let mut survey = Survey::of(&group, (num_lookups, false), |step| progress.show(step));
    let num_tables = grouped(group.tables.len());
    let mut plans = plan::choose(&survey, options, |i| {
        progress.show(&format!("choosing filters: table {} of {num_tables}", i + 1));
    });
    if read()? != group {
        return Err(format!("{}: {WRITTEN}", group.name));
    }
    let mut bytes_done = 0;
    for (i, plan) in plans.iter_mut().enumerate() {
        let place = format!("{} of {num_tables} tables", grouped(i));
        progress.show(&format!("written: {place}, {} bytes", long(bytes_done)));
        let Ok(chosen) = plan else { continue };
        if !options.dry_run {
            if let Err(error) = chosen.carry_out(&group.tables[i].path) {
                *plan = Err(error.into());
            }
        }
        bytes_done += survey.table(i).map_or(0, |table| table.file_len);
    }
    let lines = report(&survey, &plans);
    for (table, plan) in survey.tables.iter_mut().zip(plans) {
        if let Err(Left::Failed(cause)) = plan {
            *table = Err(cause);
        }
    }
    Ok((lines, survey.outcome()))
}

fn report(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Vec<String> {
    let [in_place, appended] = [false, true]
        .map(|end| plans.iter().flatten().filter(|of| of.place.is_appended == end).count());
    let name = match (&survey.group.name[..], &survey.group.tables[..]) {
        ("", [table]) => &table.name,
        ("", _) => "files",
        (name, _) => name,
    };
    let of = format!(
        "{name}: {}; other filters in {}",
        counted(plans.len(), "table"),
        grouped(in_place)
    );
    let mut lines = vec![format!("{of}, added at the end of {}", grouped(appended))];
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for why in plans.iter().filter_map(|plan| plan.as_ref().err()) {
        let why = if let Left::Alone(why) = why { why } else { "for the reasons below" };
        *left.entry(why).or_default() += 1;
    }
    let left: Vec<_> = left.iter().map(|(why, n)| format!("{} {why}", grouped(*n))).collect();
    if !left.is_empty() {
        lines.extend(wrapped(&format!("Left as they are: {}.", left.join("; ")), "  "));
    }
    if in_place + appended > 0 {
        lines.extend(effects(survey, plans));
    }
    if appended > 0 {
        lines.extend(wrapped(ADDED, "  "));
    }
    lines
}

/// The bytes of filters, and wasted reads, before and after.
fn effects(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Vec<String> {
    let today = |i: usize| {
        let filters = survey.table(i).and_then(|table| table.filters.known());
        filters.map_or(0, |filters| filters.num_bytes)
    };
    let of_plan = |i: usize| plans[i].as_ref().map_or(today(i), |plan| plan.num_bytes);
    let sum = |bytes: &dyn Fn(usize) -> usize| grouped((0..plans.len()).map(bytes).sum());
    let mut lines = vec![format!("Filters: {} bytes before, {} after", sum(&today), sum(&of_plan))];
    if survey.shares.is_none() {
        lines.push("Reads in vain are unknown, and so is the order of the keys.".into());
        return lines;
    }
    let reads = |of_plan: fn(&Plan) -> Reads| {
        let of_table = |i: usize| plans[i].as_ref().ok().map(of_plan).or(survey.table(i)?.reads);
        survey.shown(survey.reads(of_table))
    };
    let (before, after) = (reads(|plan| plan.reads_before), reads(|plan| plan.reads));
    lines.push("Data blocks read in vain per 1,000 lookups, before and after:".into());
    let kinds = ["keys that do not exist", "keys that exist", "random keys that do not exist"];
    let rows = before.iter().zip(after).zip(kinds);
    lines.extend(rows.map(|((before, after), kind)| format!("{before:>9} {after:>9}  of {kind}")));
    lines
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) dry_run: bool,
    pub(crate) add: bool,
    /// Of filters that are the first ones of a database.
    pub(crate) name: Option<&'static str>,
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
                "--goleveldb" => options.name = Some(BloomFilterPolicy::GOLEVELDB_NAME),
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
