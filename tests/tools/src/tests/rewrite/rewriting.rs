//! What becomes of tables. Whatever runs, `run_on` checks that no key is lost.

use std::fs;

use super::run_on;
use crate::table::Table;
use crate::table::replace::NAMES;
use crate::tests::directories::{copy_of, database, files, golden, is_table, read};

fn names_of_filters(file: &[u8]) -> Vec<String> {
    Table::open(file).unwrap().policy_names().to_vec()
}

#[test]
fn a_second_run_changes_no_byte_and_no_time() {
    for args in [&[][..], &["--add"], &["--bits-per-key", "9"], &["--add", "--bits-per-key", "16"]]
    {
        let directory = copy_of(&database("counters"));
        let before = files(&directory);
        let dry = run_on(&directory, &[args, &["--dry-run"]].concat());
        let first = run_on(&directory, args);
        // What is advised before is not advised afterwards.
        assert_eq!(dry.lines[..first.lines.len()], first.lines);
        let after = files(&directory);
        assert_eq!(before.iter().filter(|(path, file)| after[*path] != **file).count(), 4);
        let places = if args.contains(&"16") { "0, at the end of 4" } else { "4, at the end of 0" };
        assert!(first.has(&format!("other filters in place in {places}")), "{:?}", first.lines);
        let second = run_on(&directory, args);
        assert_eq!(files(&directory), after);
        assert!(second.has("Left as they are: 4 with such filters already."));
    }
}

#[test]
fn more_bits_per_key_go_to_the_end_and_fewer_where_there_is_room() {
    let directory = copy_of(&database("counters"));
    let before = files(&directory);
    // Too many for the room of 10 bits per key.
    let run = run_on(&directory, &["--bits-per-key", "20"]);
    assert!(run.has("4 without room for better filters (--add makes it)"), "{:?}", run.lines);
    assert_eq!(files(&directory), before);
    for bits in ["20", "6", "16"] {
        let run = run_on(&directory, &["--add", "--bits-per-key", bits]);
        // Once there are some at the end, others go there, too.
        let words = "other filters in place in 0, at the end of 4";
        assert!(run.has(words) || bits == "6", "{:?}", run.lines);
        assert_eq!(run.has(" bytes more"), bits != "6", "{:?}", run.lines);
        for (path, (new, _)) in files(&directory) {
            assert_eq!(new.len() > before[&path].0.len(), is_table(&path));
            assert!(!is_table(&path) || names_of_filters(&new) == NAMES);
        }
    }
}

#[test]
fn filters_keep_their_name_and_get_the_other_one_where_there_is_room() {
    // The old filters of two tables leave no room for it.
    for (name, bits, num_of_one) in [("decimals", "11", 2), ("goleveldb_base_lg_16", "9", 0)] {
        let directory = copy_of(&database(name));
        let before = files(&directory);
        run_on(&directory, &["--bits-per-key", bits]);
        let after = files(&directory);
        let mut of_one = 0;
        for (path, (new, _)) in after.iter().filter(|(path, file)| before[*path] != **file) {
            let [old, new] = [&before[path].0, new].map(|file| names_of_filters(file));
            assert!(new == NAMES || new == old, "{name}: {new:?}");
            of_one += usize::from(new.len() == 1);
        }
        assert_eq!(of_one, num_of_one, "{name}");
    }
}

#[test]
fn tables_named_one_by_one_are_rewritten_and_so_are_those_of_user_keys() {
    let directory = copy_of(&database("levels"));
    for name in ["db_bloom10.ldb", "table_bloom10_user_keys.ldb", "goleveldb_bloom10_user_keys.ldb"]
    {
        let path = directory.join(name);
        fs::copy(golden("tables").join(name), &path).unwrap();
        let run = run_on(&path, &[]);
        assert!(run.has("1 table; other filters in place in 1,"), "{:?}", run.lines);
        assert_eq!(names_of_filters(&read(&path)), NAMES);
    }
}
