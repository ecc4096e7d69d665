//! The verdict on a database's filters, and what would help.

use super::what_if::{self, Proposal};
use crate::survey::Survey;
use crate::survey::inspection::Filters;
use crate::survey::lookups::{Candidate, OWN_AT_RANDOM, RANDOM, Reads};
use crate::survey::neighbours::Neighbours;
use crate::survey::sample::{BETWEEN, OWN, Sample};
use crate::survey::settings::{Setting, Writer};
use crate::terminal::grouped;
use crate::text::{columns, float, long, wrapped};

/// Each kind of lookups, and what it would be with random hashes.
const KINDS: [(usize, usize); 2] = [(BETWEEN, RANDOM), (OWN, OWN_AT_RANDOM)];

/// Filters fail that read so many times what they would with random hashes, and so much more.
const TIMES: f64 = 3.0;
const MORE: f64 = 20.0;
/// Filters that take less of the files need not be smaller.
const SMALL: u64 = 500;
/// A difference of fewer reads, or of fewer standard errors, needs no reason.
const NEEDS_REASON: f64 = 5.0;
const NUM_ERRORS: f64 = 3.0;

pub(crate) fn on_filters(survey: &Survey<'_>, log_len: u64) -> Vec<String> {
    let today = Candidate::today(survey);
    let mut rows = Vec::new();
    if survey.is_comparable() {
        rows = what_if::best(survey, &what_if::proposals(survey));
    }
    let is_small = today.num_bytes as u64 <= survey.totals().file_len / SMALL;
    rows.retain(|Proposal { candidate, .. }| {
        candidate.saves_reads(&today) || !is_small && candidate.saves_bytes(&today)
    });
    let mut lines = wrapped(&verdict(survey, &today, &rows), "  ");
    if survey.unjudged().0 < survey.tables.len() {
        lines.extend(figures(survey, &today));
    }
    if survey.is_comparable() {
        lines.extend(reason(survey, &today.reads).iter().flat_map(|why| wrapped(why, "  ")));
    }
    if log_len > 0 {
        lines.push(format!("Not counted: keys only in the log ({} bytes).", long(log_len)));
    }
    if !rows.is_empty() {
        lines.extend(table(survey, &today, &rows));
    }
    if rows.iter().any(|row| row.setting.writer == Writer::ThisCrate) {
        lines.extend(survey.group.compactions().iter().flat_map(|line| wrapped(line, "  ")));
    }
    lines
}

fn verdict(survey: &Survey<'_>, today: &Candidate, rows: &[Proposal]) -> String {
    let (num_unjudged, why) = survey.unjudged();
    let tables = survey.tables.iter().flatten().filter(|table| table.num_keys > 0);
    let num_lacking = tables.filter(|table| matches!(table.filters, Filters::None)).count();
    let errors = survey.errors_today();
    let fails = |num_errors: f64| {
        KINDS.iter().any(|&(kind, at_random)| {
            let [reads, usual] = [today.reads[kind], today.reads[at_random]];
            reads >= TIMES * usual && reads - usual >= MORE.max(num_errors * errors[kind])
        })
    };
    let smaller = rows.iter().filter(|row| row.candidate.saves_bytes(today));
    let fewest = smaller.map(|row| row.candidate.num_bytes).min();
    let help = if rows.is_empty() { "no other filters help" } else { "others help, see below" };
    if num_unjudged > 0 {
        format!("UNKNOWN: {}.", why.join("; "))
    } else if survey.totals().keys == 0 {
        "OK: the tables have no keys.".into()
    } else if survey.totals().bits_per_key().is_none() {
        "NO FILTERS: lookups read every table that may have their key.".into()
    } else if num_lacking > 0 {
        let all = survey.tables.len();
        format!("PROBLEM: tables without filters: {} of {}.", grouped(num_lacking), grouped(all))
    } else if fails(NUM_ERRORS) {
        format!("PROBLEM: the filters fail for keys like yours; {help}.")
    } else if fails(0.0) {
        "UNKNOWN: too few keys were looked up to judge the filters.".into()
    } else if let Some(bytes) = fewest {
        let percent = 100.0 - 100.0 * float(bytes) / float(today.num_bytes);
        format!("MEMORY: the filters work, but equally good ones take {percent:.0}% fewer bytes.")
    } else if rows.is_empty() {
        "OK: the filters work, and nothing needs to be done.".into()
    } else {
        "OK: the filters work; others would save some more reads.".into()
    }
}

fn figures(survey: &Survey<'_>, today: &Candidate) -> Vec<String> {
    let shown = survey.shown(today.reads);
    let bits = survey.totals().bits_per_key();
    let kinds = ["do not exist", "exist"];
    let mut lines = vec![format!("{}:", survey.title_of_reads())];
    lines.extend(KINDS.iter().zip(kinds).map(|(&(kind, at_random), keys)| {
        let usual = bits.map_or(String::new(), |_| {
            format!("; {} if their hashes were random", shown[at_random])
        });
        format!("{:>9}  of keys that {keys}{usual}", shown[kind])
    }));
    let bits = bits.map_or(String::new(), |bits| format!(", {bits:.1} bits per key"));
    lines.push(format!("{:>9}  bytes of memory for filters{bits}", grouped(today.num_bytes)));
    lines
}

/// Why the filters read more than they would with random hashes, if they do.
fn reason(survey: &Survey<'_>, reads: &Reads) -> Option<String> {
    let errors = survey.errors_today();
    let needs_reason = |&(kind, at_random): &(usize, usize)| {
        let more = reads[kind] - reads[at_random];
        more > NEEDS_REASON && more > NUM_ERRORS * errors[kind]
    };
    survey.totals().bits_per_key()?;
    let sample = survey.sample.as_ref().filter(|_| KINDS.iter().any(needs_reason))?;
    let filters = survey.tables.iter().flatten().filter_map(|table| table.filters.known());
    let num_filters: usize = filters.map(|filters| filters.num_filters).sum();
    let keys_per_filter = survey.totals().keys / num_filters.max(1);
    Some(format!(
        "Why: {}, and a filter has {} of them: LevelDB's hash hardly tells such neighbours apart.",
        description(sample)?,
        grouped(keys_per_filter.max(1)),
    ))
}

fn description(sample: &Sample<'_>) -> Option<String> {
    let keys: Vec<_> = sample.live_keys().collect();
    let lens = keys.iter().map(|(key, _)| key.len());
    let (min, max) = (lens.clone().min()?, lens.max()?);
    let len = if min == max { max.to_string() } else { format!("{min} to {max}") };
    let unlike = |&(key, next): &Neighbours<'_>| {
        Some(key.len() - key.iter().zip(next?).take_while(|(a, b)| a == b).count())
    };
    let mut unlike: Vec<_> = keys.iter().filter_map(unlike).collect();
    unlike.sort_unstable();
    let last = match unlike.get(unlike.len() / 2)? {
        1 => "last".into(),
        last => format!("last {last}"),
    };
    Some(format!("your keys have {len} bytes and most differ only in the {last}"))
}

/// Today's filters, and those that would help, each with what to write.
fn table(survey: &Survey<'_>, today: &Candidate, rows: &[Proposal]) -> Vec<String> {
    let titles = ["missing", "existing", "filter bytes", "change", ""];
    let cells = |candidate: &Candidate, name: String| {
        let [missing, existing, ..] = survey.shown(candidate.reads);
        let change = 100.0 * float(candidate.num_bytes) / float(today.num_bytes) - 100.0;
        let is_change = change.is_finite() && name != "today";
        let change = if is_change { format!("{change:+.0}%") } else { String::new() };
        [missing, existing, grouped(candidate.num_bytes), change, name]
    };
    let of_rows = rows.iter().map(|row| cells(&row.candidate, row.setting.name()));
    let mut lines = columns(titles, std::iter::once(cells(today, "today".into())).chain(of_rows));
    let lines_of = |row: &Proposal| row.setting.lines(what_if::fits(survey, &row.setting));
    lines.extend(rows.iter().flat_map(lines_of));
    let then = "Tables keep their filters until they are rewritten, and CompactRange does not \
        rewrite the last level.";
    lines.extend(wrapped(then, ""));
    lines
}

/// All numbers of bits per key, with each writer's best settings besides.
pub(crate) fn other_filters(survey: &Survey<'_>) -> Vec<String> {
    let all = what_if::proposals(survey);
    let best = what_if::best(survey, &all);
    let is_shown = |one: &&Proposal| best.iter().any(|best| one.setting.is_like(&best.setting));
    let today = survey.is_comparable().then(|| ("today".into(), Candidate::today(survey)));
    let named = |one: &Proposal| {
        let Setting { bits_per_key, .. } = one.setting;
        (format!("{}, {bits_per_key} bits", one.setting.name()), one.candidate)
    };
    let divided = what_if::divided(survey, &all).map(|(candidate, bits)| {
        let of_level = |(level, bits)| format!("level {level} {bits}");
        let levels: Vec<_> = bits.into_iter().map(of_level).collect();
        (format!("engines; bits: {}", levels.join(", ")), candidate)
    });
    let rows = today.into_iter().chain(all.iter().filter(is_shown).map(named)).chain(divided);
    let cells = rows.map(|(name, candidate)| {
        let [missing, existing, at_random, _] = survey.shown(candidate.reads);
        [missing, existing, at_random, grouped(candidate.num_bytes), name]
    });
    let cells: Vec<_> = cells.collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let title = "Other filters (random: missing keys with random hashes, as LevelDB documents):";
    let titles = ["missing", "existing", "random", "filter bytes", ""];
    [vec![String::new(), title.into()], columns(titles, cells.into_iter())].concat()
}
