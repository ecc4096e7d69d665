//! The verdict on a group's filters: the first that holds.

use leveldb_filter::BloomFilterPolicy;

use crate::database::ranges::BYTEWISE;
use crate::survey::filters::FilterBlock;
use crate::survey::inspection::{Filters, Inspection};
use crate::survey::lookups::{Kinds, NUM_ERRORS};
use crate::survey::neighbours::Neighbours;
use crate::survey::sample::Sample;
use crate::survey::{Survey, Totals};
use crate::terminal::grouped;
use crate::text::{counted, part, percent};

/// Filters are a problem if more of those that are asked let keys pass.
const MAX_RATE: f64 = 0.03;

/// `LevelDB`'s hash tells keys badly apart if they differ in this many last bytes, or fewer.
const FEW_BYTES: usize = 4;
/// With as many bits per entry, filters of keys that the hash tells apart are no problem.
const ENOUGH_BITS: f64 = 8.0;

/// Of tables without a database only what is wrong.
pub(super) fn verdict(survey: &Survey<'_>) -> Option<String> {
    let of_tables =
        of_unread_tables(survey).or_else(|| of_damaged(survey)).or_else(|| of_wrong(survey));
    of_tables.or_else(|| of_policy(survey)).or_else(|| {
        survey.group.database.as_ref().filter(|_| survey.totals().entries > 0)?;
        of_order(survey).or_else(|| of_lacking(survey)).or_else(|| Some(of_rates(survey)))
    })
}

fn of_unread_tables(survey: &Survey<'_>) -> Option<String> {
    let (num_unread, num_missing) = (survey.num_unread(), survey.num_missing());
    let all = survey.tables.len();
    (num_unread > 0).then(|| match num_missing {
        0 => format!(
            "UNREADABLE: {}; what lookups read is not known.",
            part(num_unread, all, "tables")
        ),
        _ if survey.group.is_open => format!(
            "MISSING: {}; a running database removes tables: close or copy it.",
            part(num_missing, all, "tables")
        ),
        _ => format!(
            "MISSING: {}; LevelDB does not open such a database.",
            part(num_missing, all, "tables")
        ),
    })
}

fn known<'a>(
    survey: &'a Survey<'_>,
    is_meant: impl Fn(&FilterBlock) -> bool,
) -> Vec<(&'a Inspection, &'a FilterBlock)> {
    let known = survey.read().filter_map(|table| Some((table, table.filters.known()?)));
    known.filter(|(_, filters)| is_meant(filters)).collect()
}

/// How many entries tables reject, and how many they have.
fn rejected(tables: &[(&Inspection, &FilterBlock)]) -> String {
    let rejected = tables.iter().map(|(_, filters)| filters.num_rejected).sum();
    let all = tables.iter().map(|(table, _)| table.num_entries).sum();
    part(rejected, all, "entries")
}

fn of_damaged(survey: &Survey<'_>) -> Option<String> {
    let damaged = known(survey, |filters| filters.is_damaged);
    (!damaged.is_empty()).then(|| {
        format!(
            "DAMAGED: the filters of {}. Unless paranoid_checks is set, LevelDB uses them, and \
             misses {} there.",
            part(damaged.len(), survey.tables.len(), "tables"),
            rejected(&damaged),
        )
    })
}

/// Of filters that reject keys of their own tables.
fn of_wrong(survey: &Survey<'_>) -> Option<String> {
    let wrong = known(survey, |filters| filters.num_rejected > 0);
    let is_leveldbs = |name: &String| name == BloomFilterPolicy::NAME;
    let (_, first) = wrong.first()?;
    let whose = if first.policy_names.iter().any(is_leveldbs) {
        "LevelDB with its own policy does not find those"
    } else {
        "LevelDB since 1.18 ignores their name, goleveldb does not find those"
    };
    let origin = if first.is_of_signed_bytes { " They are of LevelDB before 1.18." } else { "" };
    let tables = part(wrong.len(), survey.tables.len(), "tables");
    Some(format!(
        "WRONG: the filters of {tables} reject {} there: {whose}.{origin}",
        rejected(&wrong)
    ))
}

fn of_policy(survey: &Survey<'_>) -> Option<String> {
    let unknown = survey.read().find_map(|table| match &table.filters {
        Filters::OfUnknownPolicy(name) => Some(name),
        _ => None,
    });
    Some(format!("UNKNOWN: only their program knows the filters of the policy {:.100?}.", unknown?))
}

fn of_order(survey: &Survey<'_>) -> Option<String> {
    let comparator = survey.group.comparator();
    if comparator == Some(BYTEWISE) {
        return None;
    }
    let name = comparator.map_or("no name".into(), |name| format!("{name:.100?}"));
    let are_some = survey.read().any(|table| table.filters.known().is_some());
    let none =
        "There are no filters, and none can be added: keys that are equal to it could be missed.";
    let none = if are_some { String::new() } else { format!(" {none}") };
    Some(format!(
        "UNKNOWN: only their program knows the order of the keys, of the comparator {name}.{none}"
    ))
}

/// Of tables without filters, or with such as let all keys pass.
fn of_lacking(survey: &Survey<'_>) -> Option<String> {
    let can_reject = |table: &&Inspection| table.filters.known().is_some_and(|of| of.can_reject);
    let with_entries = || survey.read().filter(|table| table.num_entries > 0);
    let all = with_entries().count();
    let lacking = all - with_entries().filter(can_reject).count();
    (lacking > 0).then(|| match all - lacking {
        0 => "NO FILTERS: lookups read a block of every table that may have their key.".into(),
        _ => format!(
            "NO FILTERS in {}: lookups read a block of those that may have their key.",
            part(lacking, all, "tables")
        ),
    })
}

/// Of the filters asked for keys that their tables do not have, the share that let them pass, and
/// whether that is a problem beyond chance.
fn rates(survey: &Survey<'_>) -> Kinds<Option<(f64, bool)>> {
    let today = survey.today();
    survey.asked().zip(today.reads.zip(today.variances)).map(|(asked, (reads, variance))| {
        let more = reads - MAX_RATE * asked;
        (asked > 0.0).then(|| (reads / asked, more > NUM_ERRORS * variance.sqrt()))
    })
}

/// Of the kind of lookups that fares worse.
fn of_rates(survey: &Survey<'_>) -> String {
    let Kinds { missing, existing } = rates(survey);
    let kinds = [(missing, "missing keys"), (existing, "existing keys")];
    let known = kinds.into_iter().filter_map(|(of_kind, keys)| Some((of_kind?, keys)));
    let worse = known
        .max_by(|((a, fails_a), _), ((b, fails_b), _)| fails_a.cmp(fails_b).then(a.total_cmp(b)));
    let Some(((rate, fails), keys)) = worse else {
        return "OK: no lookup asks a filter needlessly.".into();
    };
    let share = format!("of the filters asked for {keys}, {} let them pass", percent(rate));
    match fails {
        true => format!("PROBLEM: {share}; about 1% is usual."),
        false if rate > MAX_RATE => format!("OK: {share}, of too few to be more than chance."),
        false => format!("OK: {share}."),
    }
}

/// Why the filters let many keys pass, if they do and it is known.
pub(super) fn reason(survey: &Survey<'_>) -> Option<String> {
    if of_lacking(survey).is_some() {
        return None;
    }
    let Kinds { missing, existing } = rates(survey);
    let fails = [missing, existing].into_iter().flatten().any(|(_, fails)| fails);
    let sample = survey.sample.as_ref().filter(|_| fails && survey.has_figures())?;
    let is_failing = |table: &&Inspection| {
        let rates = table.asked.zip(table.today.reads);
        let fails = rates.map(|(asked, reads)| reads > MAX_RATE * asked);
        fails.missing || fails.existing
    };
    let failing: Vec<_> = survey.read().filter(is_failing).collect();
    let totals = Totals::of(failing.iter().copied());
    let bits = totals.bits_per_entry()?;
    if bits < ENOUGH_BITS {
        return Some(format!("Why: {bits:.1} bits per entry are few; 10 are usual."));
    }
    // Of other filters nobody knows why.
    let filters: Vec<_> = failing.iter().filter_map(|table| table.filters.known()).collect();
    let are_usual = filters.iter().all(|filters| filters.bits_per_key.is_some());
    let num_filters: usize = filters.iter().map(|filters| filters.num_filters).sum();
    let description = describe_neighbours(sample).filter(|_| are_usual)?;
    Some(format!(
        "Why: {description}, and a filter has {} of them: LevelDB's hash hardly tells such \
         neighbours apart.",
        grouped((totals.entries / num_filters.max(1)).max(1)),
    ))
}

/// `None` if keys differ in more bytes than the hash mixes badly.
fn describe_neighbours(sample: &Sample<'_>) -> Option<String> {
    let keys: Vec<_> = sample.existing_keys().collect();
    let lens = keys.iter().map(|(key, _)| key.len());
    let (min, max) = (lens.clone().min()?, lens.max()?);
    let len = if min == max { counted(max, "byte") } else { format!("{min} to {max} bytes") };
    let unlike = |&(key, next): &Neighbours<'_>| {
        Some(key.len() - key.iter().zip(next?).take_while(|(a, b)| a == b).count())
    };
    let mut unlike: Vec<_> = keys.iter().filter_map(unlike).collect();
    unlike.sort_unstable();
    let last = match *unlike.get(unlike.len() / 2)? {
        1 => "last".into(),
        num_bytes if num_bytes <= FEW_BYTES => format!("last {num_bytes}"),
        _ => return None,
    };
    Some(format!("your keys have {len} and most differ only in the {last}"))
}
