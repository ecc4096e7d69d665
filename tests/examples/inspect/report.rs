//! What is known of all tables together, in words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::bloom::Bloom;
use crate::common::table::read_file;
use crate::common::terminal::{Progress, grouped, printable};
use crate::facts::{Facts, TableFilters};
use crate::figures::Figures;
use crate::words::{counted, notice, table};

/// How many tables are named.
const MAX_NOTICES: usize = 5;

/// What the figures mean.
const DEFINITIONS: [&str; 8] = [
    "Next keys: each key plus one. Its last byte counts up, with carry, but digits stay digits, and",
    "letters stay letters.",
    "Mixed keys: the first half of each key and the second half of the key half a table later. The",
    "halves begin after the bytes that all keys share. Keys not sorted by their bytes have none.",
    "Keys that the table contains are left out of both.",
    "Lookups of absent keys are like next keys where keys are counted up (an order that does not",
    "exist yet, a gap), and like mixed keys where keys are random (hashes, UUIDs).",
    "tuned() is BloomFilterPolicy::new(10).tuned().",
];

/// Which unreadable tables the directory of a sound database may hold.
const UNREADABLE: [&str; 2] = [
    "A table that LevelDB never finished, or no longer needs, stays in its directory until the",
    "database is next opened. A table that it no longer needs counts above.",
];

#[derive(Default)]
pub(crate) struct Report {
    num_tables: usize,
    num_without: usize,
    num_unread: usize,
    /// Tables that cannot be read for another reason than their compression.
    num_maybe_unfinished: usize,
    num_entries: usize,
    num_entries_without: usize,
    num_entries_damaged: usize,
    num_entries_foreign: usize,
    policy_names: BTreeSet<String>,
    bloom: Bloom,
    /// Of the tables without filters, in long ranges.
    without: Figures,
    /// What is wrong with single tables and paths.
    faults: Vec<String>,
    /// The tables whose filters only their program knows.
    foreign: Vec<String>,
}

impl Report {
    /// Reads all tables of these paths, one at a time.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let (mut report, progress) = (Self::default(), Progress::start());
        for path in paths {
            match tables(path) {
                Ok(tables) => {
                    for table in &tables {
                        progress.show(&format!("{} tables read", grouped(report.num_tables)));
                        report.add(table);
                    }
                    if tables.is_empty() {
                        report.faults.push(notice(path, "holds no table (.ldb, .sst)"));
                    }
                }
                Err(why) => report.faults.push(notice(path, &why.to_string())),
            }
        }
        report
    }

    /// 1 if a table rejects its own keys, is damaged or cannot be read, or a path holds none.
    pub(crate) fn exit_status(&self) -> u8 {
        u8::from(!self.faults.is_empty())
    }

    fn add(&mut self, path: &Path) {
        self.num_tables += 1;
        let facts = match read_file(path).and_then(|file| Facts::of(&file)) {
            Ok(facts) => facts,
            Err(why) => {
                self.num_unread += 1;
                self.num_maybe_unfinished += usize::from(why.kind() != io::ErrorKind::Unsupported);
                return self.faults.push(notice(path, &why.to_string()));
            }
        };
        self.num_entries += facts.num_entries;
        match facts.filters {
            TableFilters::None(figures) => {
                self.num_without += 1;
                self.num_entries_without += facts.num_entries;
                self.without.add(figures);
            }
            TableFilters::Damaged(why) => {
                self.num_entries_damaged += facts.num_entries;
                self.faults.push(notice(path, &format!("its filters: {why}")));
            }
            TableFilters::Foreign(name) => {
                self.num_entries_foreign += facts.num_entries;
                let what = format!("its filters are of the policy {name:?}");
                self.foreign.push(notice(path, &what));
                self.policy_names.insert(name);
            }
            TableFilters::Bloom(filters) => {
                if filters.num_rejected > 0 {
                    let [rejected, all] = [filters.num_rejected, facts.num_entries].map(grouped);
                    let what = format!("its filters reject {rejected} of {all} entries");
                    self.faults.push(notice(path, &what));
                }
                self.policy_names.insert(filters.policy_name.clone());
                self.bloom.add(facts.num_entries, filters);
            }
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.num_tables > 0 {
            lines.push(self.title());
        }
        lines.extend(self.left_out());
        lines.extend(self.bloom.same());
        lines.extend(self.bloom.old_name().iter().copied().map(Into::into));
        let notices = self.faults.iter().chain(&self.foreign);
        lines.extend(notices.take(MAX_NOTICES).cloned());
        let num_notices = self.faults.len() + self.foreign.len();
        if let Some(more @ 1..) = num_notices.checked_sub(MAX_NOTICES) {
            lines.push(format!("and {more} more"));
        }
        let columns = match &self.bloom {
            Bloom { num_tables: 1.., figures: [today, tuned], .. } => {
                vec![("these filters", 19, today), ("tuned(), long ranges", 23, tuned)]
            }
            _ if self.num_without > 0 => vec![("tuned(), long ranges", 23, &self.without)],
            _ => vec![],
        };
        if !columns.is_empty() {
            lines.push(String::new());
            lines.extend(table(&columns));
            lines.push(String::new());
            lines.extend(DEFINITIONS.map(Into::into));
        }
        if self.num_maybe_unfinished > 0 {
            lines.push(String::new());
            lines.extend(UNREADABLE.map(Into::into));
        }
        lines
    }

    fn title(&self) -> String {
        let counts = [(self.num_without, "without filters"), (self.num_unread, "unreadable")];
        let counts = counts.iter().filter(|(number, _)| *number > 0);
        let counts: Vec<_> = counts.map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
        let tables = counted(self.num_tables, ["table", "tables"]) + &counts;
        let entries = counted(self.num_entries, ["entry", "entries"]);
        let title: Vec<_> = [tables, entries].iter().chain(&self.policy_names).cloned().collect();
        let title = title.join(", ") + &self.bloom.filters();
        printable(&title)
    }

    /// Which entries are in no figure, if there are figures.
    fn left_out(&self) -> Option<String> {
        let (figures, num_without) = match (self.bloom.num_tables, self.num_without) {
            (0, 0) => return None,
            // The figures are of the tables without filters.
            (0, _) => ("the figures below", 0),
            _ => ("bits per entry and the figures below", self.num_entries_without),
        };
        let left_out = [
            (num_without, "without filters"),
            (self.num_entries_damaged, "with damaged filters"),
            (self.num_entries_foreign, "with filters of other policies"),
        ];
        let left_out = left_out.iter().filter(|(num_entries, _)| *num_entries > 0);
        let left_out: Vec<_> = left_out
            .map(|(num_entries, which)| format!("{} in tables {which}", grouped(*num_entries)))
            .collect();
        let all = counted(self.num_entries, ["entry", "entries"]);
        let line = || format!("Of {all}, {figures} leave out {}.", left_out.join(", "));
        (!left_out.is_empty()).then(line)
    }
}

/// The tables at a path, in the order of their names.
fn tables(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.into()]);
    }
    let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut tables: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    tables.retain(|path| path.extension().is_some_and(|end| end == "ldb" || end == "sst"));
    tables.sort_unstable();
    Ok(tables)
}
