//! What `rewrite` does, on copies of golden databases.

mod refusals;
mod replacing;
mod rewriting;

use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use crate::command_line::Options;
use crate::rewrite::rewrite;
use crate::table::{DataBlock, Table};
use crate::tests::directories::{files, is_table};
use crate::tests::inspect::Report;

/// Runs on a database or a table, and checks that only tables change, how, and when.
#[track_caller]
pub(crate) fn run_on(path: &Path, args: &[&str]) -> Report {
    let directory = if path.is_dir() { path } else { path.parent().unwrap() };
    let before = files(directory);
    let with_path = args.iter().map(Into::into).chain([path.as_os_str().to_owned()]);
    let options = Options::parse(with_path, &["--add", "--bits-per-key", "--dry-run"]);
    let report = Report::of_command(&options.unwrap().unwrap(), rewrite);
    assert!(report.lines.len() <= 16, "{:#?}", report.lines);
    let mut after = files(directory);
    after.retain(|path, file| before.get(path) != Some(file));
    assert!(after.is_empty() || !args.contains(&"--dry-run"));
    for (path, (new, _)) in after {
        assert!(is_table(&path), "{path:?}");
        let (old, _) = &before[&path];
        assert_no_key_is_lost(old, &new);
        assert!(new.len() <= old.len() || args.contains(&"--add"));
    }
    report
}

/// Data and index stay, and every key matches the filters, by the last footer and by the first one.
#[track_caller]
fn assert_no_key_is_lost(old: &[u8], new: &[u8]) {
    let layout = Table::open(old).unwrap().layout().unwrap().unwrap();
    let (data_end, index) = (layout.data_end, layout.index);
    assert!(old[..data_end] == new[..data_end] && old[index.clone()] == new[index.clone()]);
    assert_eq!(new[index.end..][..48], new[new.len() - 48..]);
    let table = Table::open(new).unwrap();
    let filters = table.filter_block().unwrap().unwrap();
    let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters[..]);
    let finds_keys_before = |trailer_len| {
        let mut finds = true;
        let find = |block: &DataBlock, key: &[u8]| {
            let user_key = &key[..key.len().saturating_sub(trailer_len)];
            finds &= reader.key_may_match(block.offset(), user_key);
        };
        table.visit_keys(find).unwrap();
        finds
    };
    assert!(finds_keys_before(8) || finds_keys_before(0));
}
