//! What is known of all tables together, in words. Lines fit into 60 columns, but for paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use leveldb_filter::BloomFilterPolicy;

use crate::common::random;
use crate::common::table::read_file;
use crate::common::terminal::{grouped, printable};
use crate::figures::Figures;
use crate::leveldb::Leveldb;
use crate::table::{Facts, Filters};

/// How many faults are printed.
const MAX_FAULTS: usize = 5;

const NO_TABLE: &str = "holds no table (.ldb, .sst)";
const LOG_ALONE: &str = "holds a log (.log) and no table (.ldb, .sst). LevelDB keeps new entries in \
                         the log until the database is opened again";
const UP_TO_1_17: &str = "as LevelDB up to 1.17 wrote them;\nlater ones ignore this name";

#[derive(Default)]
pub(crate) struct Report {
    /// How many entries each table with such filters has.
    num_entries: BTreeMap<Filters, Vec<usize>>,
    /// What is compared with this crate's filters.
    leveldb: BTreeSet<Leveldb>,
    figures: Figures,
    faults: Vec<String>,
}

impl Report {
    /// Reads all tables of these paths, one at a time.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let (mut report, mut words) = (Self::default(), random::words(1));
        for path in paths {
            let tables = tables(path).unwrap_or_else(|why| {
                report.faults.push(notice(path, &why));
                Vec::new()
            });
            for table in tables {
                match read_file(&table).and_then(|file| Facts::of(&file, &mut words)) {
                    Ok(facts) => report.add(&table, facts),
                    Err(why) => report.faults.push(notice(&table, &why)),
                }
            }
        }
        report
    }

    /// 1 if a table rejects its own keys, is damaged or cannot be read, or a path holds none.
    pub(crate) fn exit_status(&self) -> u8 {
        u8::from(!self.faults.is_empty())
    }

    fn add(&mut self, path: &Path, facts: Facts) {
        self.num_entries.entry(facts.filters).or_default().push(facts.num_entries);
        self.faults.extend(facts.faults.iter().map(|fault| notice(path, fault)));
        if facts.figures.num_absent > 0 {
            self.leveldb.insert(facts.leveldb);
            self.figures.num_absent += facts.figures.num_absent;
            for i in 0..2 {
                self.figures.num_matching[i] += facts.figures.num_matching[i];
                self.figures.len[i] += facts.figures.len[i];
            }
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        // Tables without filters come first: they do not have what is compared.
        let (without, with): (Vec<_>, Vec<_>) =
            self.num_entries.iter().partition(|(filters, _)| **filters == Filters::None);
        let [without, with] = [without, with]
            .map(|kinds| kinds.into_iter().flat_map(|(kind, of)| words(kind, of)).collect());
        let mut faults: Vec<_> = self.faults.iter().take(MAX_FAULTS).cloned().collect();
        if let Some(more @ 1..) = self.faults.len().checked_sub(MAX_FAULTS) {
            faults.push(format!("and {more} more"));
        }
        let mut sections = vec![without, self.comparison(), with, faults];
        sections.retain(|lines| !lines.is_empty());
        sections.join(&String::new()).iter().map(|line| printable(line)).collect()
    }

    /// LevelDB's filters beside this crate's.
    fn comparison(&self) -> Vec<String> {
        let Figures { num_absent, num_matching, len } = self.figures;
        if num_absent == 0 {
            return Vec::new();
        }
        let row = |label: &str, [leveldb, tuned]: [String; 2]| {
            format!("{label:17}{leveldb:>11}{tuned:>10}")
        };
        let percent = |number| {
            let [number, all] = [number, num_absent].map(|number| number as u64);
            let per_mille = (1_000 * number + all / 2) / all;
            format!("{}.{}%", per_mille / 10, per_mille % 10)
        };
        let mut lines = vec![
            row("", ["LevelDB's", "tuned"].map(Into::into)),
            row("absent keys match", num_matching.map(percent)),
            row("filter bytes", len.map(grouped)),
            String::new(),
            "The filters hold a random nine in ten of the keys, and the".into(),
            format!("absent keys are the other {}. Bytes are for all keys.", grouped(num_absent)),
        ];
        lines.extend(self.leveldb.iter().map(|Leveldb { bits_per_key, base_lg }| {
            format!("LevelDB's: BloomFilterPolicy::new({bits_per_key}), base_lg {base_lg}")
        }));
        lines.push("tuned: BloomFilterPolicy::new(10).tuned(), long ranges".into());
        lines
    }
}

/// The tables with filters of one kind, and their entries.
fn words(filters: &Filters, num_entries: &[usize]) -> Vec<String> {
    let (whose, what) = match filters {
        Filters::None => ("no filters", "every lookup reads a data block".into()),
        Filters::Damaged => ("damaged filters", "named below".into()),
        Filters::Foreign(name) => (&name[..], "only its own program knows this policy".into()),
        Filters::Signed(_) => (BloomFilterPolicy::GOLEVELDB_NAME, UP_TO_1_17.into()),
        Filters::Bloom { name, each_passes, same_bytes } => {
            let passes = if *each_passes { "each" } else { "not each" };
            let same = same_bytes.map_or("new(n) makes other bytes".into(), |leveldb| {
                format!("new({}) makes the same bytes", leveldb.bits_per_key)
            });
            (&name[..], format!("{passes} entry passes, {same}"))
        }
    };
    let [tables, entries] = [num_entries.len(), num_entries.iter().sum()].map(grouped);
    let title = format!("Tables: {tables}, entries: {entries}");
    let mut lines = vec![title, format!("  {whose:.50}")];
    lines.extend(what.lines().map(|line| format!("  {line}")));
    lines
}

/// A line about a table or another path.
fn notice(path: &Path, what: &impl ToString) -> String {
    format!("{}: {}", path.display(), what.to_string())
}

/// The tables at a path, in the order of their names.
fn tables(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut tables: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    let ends_in = |path: &PathBuf, end| path.extension().is_some_and(|extension| extension == end);
    let has_log = tables.iter().any(|path| ends_in(path, "log"));
    tables.retain(|path| ends_in(path, "ldb") || ends_in(path, "sst"));
    tables.sort_unstable();
    if tables.is_empty() {
        return Err(io::Error::other(if has_log { LOG_ALONE } else { NO_TABLE }));
    }
    Ok(tables)
}
