//! What is known of all tables with filters of a known policy, in words.

use std::collections::BTreeMap;

use leveldb_filter::BloomFilterPolicy;

use crate::common::terminal::grouped;
use crate::facts::BloomFilters;
use crate::figures::Figures;
use crate::same_bytes::Choice;
use crate::words::{counted, ratio};

/// What is known of filters of LevelDB's older name, the last two lines if they reject entries.
const OLD_NAME: [&str; 3] = [
    "LevelDB since 1.18 does not use filters named leveldb.BuiltinBloomFilter. goleveldb does.",
    "Before 1.18, LevelDB on x86 hashed bytes above 0x7f at a key's end as signed numbers, which may",
    "be why entries do not pass such filters.",
];

/// The tables with filters of a known policy.
#[derive(Default)]
pub(crate) struct Bloom {
    pub(crate) num_tables: usize,
    num_entries: usize,
    num_filters: usize,
    num_bits: u64,
    num_rejected: usize,
    /// Of the tables with filters of LevelDB's older name.
    num_old: usize,
    num_rejected_by_old: usize,
    /// The tables with entries, and how many of them each choice makes the same bytes of.
    num_comparable: usize,
    num_same: BTreeMap<Choice, usize>,
    pub(crate) figures: [Figures; 2],
}

impl Bloom {
    pub(crate) fn add(&mut self, num_entries: usize, filters: BloomFilters) {
        self.num_tables += 1;
        self.num_entries += num_entries;
        self.num_filters += filters.num_filters;
        self.num_bits = self.num_bits.saturating_add(filters.num_bits);
        self.num_rejected += filters.num_rejected;
        if filters.policy_name == BloomFilterPolicy::GOLEVELDB_NAME {
            self.num_old += 1;
            self.num_rejected_by_old += filters.num_rejected;
        }
        if num_entries > 0 {
            self.num_comparable += 1;
            for choice in filters.choices {
                *self.num_same.entry(choice).or_default() += 1;
            }
        }
        for (sum, figures) in self.figures.iter_mut().zip(filters.figures) {
            sum.add(figures);
        }
    }

    /// The end of the title.
    pub(crate) fn filters(&self) -> String {
        let filters = counted(self.num_filters, ["filter", "filters"]);
        match (self.num_tables, self.num_entries) {
            (0, _) => String::new(),
            (_, 0) => format!(": {filters}"),
            (_, num_entries) => {
                format!(": {filters}, {:.1} bits per entry", ratio(self.num_bits, num_entries))
            }
        }
    }

    /// Whether entries pass, and which policy makes the same bytes.
    pub(crate) fn same(&self) -> Option<String> {
        let all = self.num_comparable;
        if all == 0 {
            return None;
        }
        let passes = match self.num_rejected {
            0 => "Each entry passes its filter.".into(),
            n => format!("{} of {} entries do not pass.", grouped(n), grouped(self.num_entries)),
        };
        let most = self.num_same.values().copied().max().unwrap_or(0);
        let choices = self.num_same.iter().filter(|(_, num_tables)| **num_tables == most);
        let choices: Vec<_> = choices.map(|(&choice, _)| choice).collect();
        let (policies, is_one) = (policies(&choices), choices.len() < 2);
        let same = match all - most {
            0 if is_one => format!("{policies} makes the same bytes."),
            0 => format!("{policies} make the same bytes."),
            num_other => {
                let makes = if is_one { "makes" } else { "each make" };
                let [num_other, all] = [num_other, all].map(grouped);
                format!("{policies} {makes} other bytes for {num_other} of {all} tables.")
            }
        };
        Some(format!("{passes} {same}"))
    }

    /// What is known of filters of LevelDB's older name, if there are any.
    pub(crate) fn old_name(&self) -> &[&str] {
        match (self.num_old, self.num_rejected_by_old) {
            (0, _) => &[],
            (_, 0) => &OLD_NAME[..1],
            _ => &OLD_NAME,
        }
    }
}

/// The choices in words.
fn policies(choices: &[Choice]) -> String {
    let name = |choice: &Choice| match choice {
        Choice::Leveldb(n) => format!("new({n})"),
        Choice::Tuned(n) => format!("new({n}).tuned()"),
    };
    let names: Vec<_> = choices.iter().map(name).collect();
    let names = match &names[..] {
        [] => "new(n)".into(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    };
    let is_tuned = matches!(choices.last(), Some(Choice::Tuned(_)));
    format!("BloomFilterPolicy::{names}{}", if is_tuned { " in long ranges" } else { "" })
}
