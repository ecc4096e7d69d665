//! What other filters would read, and how many bytes they would take.

use std::collections::BTreeMap;

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use crate::survey::Survey;
use crate::survey::lookups::Candidate;
use crate::survey::sample::{BETWEEN, OWN};
use crate::survey::settings::{BITS_PER_KEY, MIN_KEYS, Setting, Writer};
use crate::text::float;

/// What is worth a change: reads saved by 1,000 lookups of each kind, or one in so many bytes.
const READS_WORTH_IT: f64 = 5.0;
const BYTES_WORTH_IT: usize = 5;

/// With fewer keys, `LevelDB`'s filters may be worth more bits than are usual.
const FEW_KEYS: usize = 20;

/// A usable database has fewer sorted runs.
const MAX_RUNS: usize = 1_000;

#[derive(Clone, Copy)]
pub(crate) struct Proposal {
    pub(crate) setting: Setting,
    pub(crate) candidate: Candidate,
}

impl Candidate {
    /// The sum over all tables that have some.
    pub(crate) fn sum(survey: &Survey<'_>, of_table: impl Fn(usize) -> Option<Self>) -> Self {
        let tables = (0..survey.tables.len()).filter_map(&of_table);
        let num_bytes = tables.map(|table| table.num_bytes).fold(0, usize::saturating_add);
        Self { num_bytes, reads: survey.reads(|i| Some(of_table(i)?.reads)) }
    }

    pub(crate) fn today(survey: &Survey<'_>) -> Self {
        Self::sum(survey, |i| Some(survey.table(i)?.today()))
    }

    fn cost(&self) -> f64 {
        self.reads[BETWEEN] + self.reads[OWN]
    }

    /// So many reads are worth one part of the bytes.
    pub(crate) fn saves_reads(&self, than: &Self) -> bool {
        let part = float(than.num_bytes.div_ceil(BYTES_WORTH_IT).max(1));
        let parts = float(self.num_bytes.saturating_sub(than.num_bytes)) / part;
        let parts = if than.num_bytes > 0 { parts } else { 0.0 };
        self.cost() + READS_WORTH_IT * (1.0 + parts) <= than.cost()
    }

    pub(crate) fn saves_bytes(&self, than: &Self) -> bool {
        self.cost() <= than.cost() + READS_WORTH_IT
            && self.num_bytes <= than.num_bytes - than.num_bytes.div_ceil(BYTES_WORTH_IT)
    }
}

/// All that are compared; none if a table cannot be read, or has no keys.
pub(crate) fn proposals(survey: &Survey<'_>) -> Vec<Proposal> {
    if survey.tables.iter().any(Result::is_err) || survey.totals().keys == 0 {
        return Vec::new();
    }
    let proposal = |(i, setting)| {
        let candidate = Candidate::sum(survey, |table| survey.table(table)?.others.get(i).copied());
        Proposal { setting, candidate }
    };
    Setting::all().into_iter().enumerate().map(proposal).collect()
}

/// Whether no table's filters become larger.
pub(crate) fn fits(survey: &Survey<'_>, setting: &Setting) -> bool {
    let Some(i) = Setting::all().iter().position(|one| one == setting) else { return false };
    survey.tables.iter().flatten().all(|table| {
        table.others.get(i).is_none_or(|other| other.num_bytes <= table.today().num_bytes)
    })
}

/// The best for each writer: the fewest bytes with few more wasted reads than its best.
pub(crate) fn best(survey: &Survey<'_>, proposals: &[Proposal]) -> Vec<Proposal> {
    let num_blocks = survey.tables.iter().flatten().map(|table| table.num_blocks).sum::<usize>();
    let max_bits = |writer| match writer {
        Writer::LevelDb if survey.totals().keys < FEW_KEYS * num_blocks => usize::MAX,
        _ => *BITS_PER_KEY.end(),
    };
    let best_of = |of_writer: &[Proposal]| {
        let max_bits = max_bits(of_writer[0].setting.writer);
        let of_writer = of_writer.iter().filter(|one| one.setting.bits_per_key <= max_bits);
        let least = of_writer.clone().map(|one| one.candidate.cost()).min_by(f64::total_cmp)?;
        let good = of_writer.filter(|one| one.candidate.cost() <= least + READS_WORTH_IT);
        // Smaller blocks come first: they are read faster.
        let order = |one: &&Proposal| (one.setting.block_size, one.candidate.num_bytes);
        let cost = |one: &Proposal| one.candidate.cost();
        good.min_by(|a, b| order(a).cmp(&order(b)).then(cost(a).total_cmp(&cost(b)))).copied()
    };
    let by_writer = proposals.chunk_by(|a, b| a.setting.writer == b.setting.writer);
    by_writer.filter_map(best_of).collect()
}

/// Today's bytes divided between levels by `for_runs`, and each one's bits per key, if that helps.
pub(crate) fn divided(
    survey: &Survey<'_>,
    all: &[Proposal],
) -> Option<(Candidate, BTreeMap<u32, usize>)> {
    let first = all.iter().position(|one| one.setting.writer == Writer::ThisCrate)?;
    let equal = &all[first..][..BITS_PER_KEY.count()];
    let budget = match survey.totals().filter_bytes {
        0 => equal[10 - BITS_PER_KEY.start()].candidate.num_bytes,
        today => today,
    };
    let (runs, shares) = (survey.ranges()?.sorted_runs(), survey.shares.as_ref()?);
    let sorted_run = |run: &Vec<usize>| {
        let num_keys = |&i: &usize| survey.table(i).map_or(0, |table| table.num_keys);
        let num_keys: usize = run.iter().map(num_keys).sum();
        let num_filters = run.len().max(num_keys / MIN_KEYS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
        let weight = run.iter().map(|&i| 1_000_000.0 * shares[i]).sum::<f64>() as u32;
        SortedRun::new(num_filters, num_keys.div_ceil(num_filters)).with_weight(weight.max(1))
    };
    if !(2..=MAX_RUNS).contains(&runs.len()) {
        return None;
    }
    let sorted_runs: Vec<_> = runs.iter().map(sorted_run).collect();
    let level = |i: usize| survey.group.tables[i].place.as_ref().map_or(0, |place| place.level);
    let mut bits = BTreeMap::new();
    for (run, policy) in runs.iter().zip(BloomFilterPolicy::for_runs(budget, &sorted_runs)) {
        let of_run = policy.map_or(0, |policy| policy.millibits_per_key().div_ceil(1_000));
        let of_level = bits.entry(level(run[0])).or_insert(*BITS_PER_KEY.start());
        *of_level = of_run.clamp(*of_level, *BITS_PER_KEY.end());
    }
    let setting = |i: usize| first + bits[&level(i)] - BITS_PER_KEY.start();
    let candidate = Candidate::sum(survey, |i| survey.table(i)?.others.get(setting(i)).copied());
    let max = candidate.num_bytes + candidate.num_bytes / 20;
    let mut equal = equal.iter().filter(|one| one.candidate.num_bytes <= max);
    let is_better = bits.len() > 1 && equal.all(|one| candidate.saves_reads(&one.candidate));
    is_better.then_some((candidate, bits))
}
