//! What `rewrite` writes, what it leaves, and what it does about failures.

use std::{fs, process};

use super::directories::{copy_of, database, files, golden, read};
use super::drawn;
use super::inspect::Said;
use crate::table::Table;
use crate::table::replace::check;

#[test]
fn only_tables_change_and_a_second_run_changes_no_byte_and_no_time() {
    for name in ["counters", "levels", "object_ids", "../faults/old_name_damaged"] {
        let directory = copy_of(&database(name));
        let before = files(&directory);
        assert!(Said::of_rewriting(&directory, false).has(": written: better filters for "));
        let first = files(&directory);
        for (path, (new, _)) in &first {
            match path.extension() {
                Some(end) if end == "ldb" => check(&before[path].0, new).unwrap(),
                _ => assert_eq!(&before[path].0, new),
            }
        }
        let run = Said::of_rewriting(&directory, false);
        assert!(run.has(": nothing was written. Left as they are: ") && !run.is_bad);
        assert!(run.has("that would not gain.") && files(&directory) == first, "{name}");
    }
}

#[test]
fn what_has_no_room_or_no_usual_layout_stays() {
    for (name, words) in [
        ("faults/one_bit", "1 table without room for better filters."),
        ("faults/few_keys", "1 table without filters."),
        ("faults/room_at_the_end", "1 table laid out in another way than LevelDB does it."),
        ("databases/reverse_comparator", "1 table in an order that only their program knows."),
    ] {
        let directory = copy_of(&golden(name));
        let before = files(&directory);
        let run = Said::of_rewriting(&directory, false);
        assert!(run.has(words) && !run.is_bad, "{name}: {:#?}", run.lines);
        assert_eq!(files(&directory), before);
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_never_replaced_by_a_file() {
    let [directory, linked] = [(); 2].map(|()| copy_of(&database("counters")));
    let path = linked.join("000005.ldb");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(directory.join("000005.ldb"), &path).unwrap();
    let run = Said::of_rewriting(&linked, false);
    assert!(run.has("for 3 of 4 tables. Left as they are: 1 table that is a symbolic link."));
    assert!(path.is_symlink());
}

#[test]
fn a_failed_write_is_told_and_its_table_stays() {
    let directory = copy_of(&database("counters"));
    let before = files(&directory);
    // It has the name that new files would have.
    let in_the_way = directory.join(format!("000000{}.dbtmp", process::id()));
    fs::create_dir(&in_the_way).unwrap();
    let run = Said::of_rewriting(&directory, false);
    for name in ["000009.ldb", "000012.ldb", "000015.ldb"] {
        assert!(run.has(&format!("{name} stays as it is: no file can be made there: ")));
    }
    assert!(run.is_bad && run.has(": nothing was written."), "{:#?}", run.lines);
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(files(&directory), before);
}

#[test]
fn of_left_over_files_only_our_own_go_unless_a_table_is_damaged() {
    let directory = copy_of(&database("levels"));
    // Of no process, of a running one, of LevelDB, and of nobody.
    let names = [
        "0000004294967295.dbtmp",
        "0000001.dbtmp",
        "4294967295.dbtmp",
        "000000x.dbtmp",
        "00000099.txt",
    ];
    let left = || names.map(|name| directory.join(name).exists());
    for name in names {
        fs::write(directory.join(name), b"half a table").unwrap();
    }
    let table = read(&directory.join("000005.ldb"));
    fs::write(directory.join("000005.ldb"), b"half a table").unwrap();
    Said::of_rewriting(&directory, false);
    fs::write(directory.join("000005.ldb"), table).unwrap();
    Said::of_rewriting(&directory, true);
    assert_eq!(left(), [true; 5]);
    Said::of_rewriting(&directory, false);
    assert_eq!(left(), [!cfg!(target_os = "linux"), true, true, true, true]);
}

#[test]
fn a_flipped_bit_loses_no_key() {
    let mut below = drawn(8);
    let mut by_outcome = [0; 3];
    for _ in 0..100 {
        let directory = copy_of(&golden("faults/deleted"));
        let path = directory.join("000005.ldb");
        let mut damaged = read(&path);
        let len = damaged.len();
        let place = if below(2) == 0 { len - 1 - below(900) } else { below(len) };
        damaged[place] ^= 1 << below(8);
        fs::write(&path, &damaged).unwrap();
        let run = Said::of_rewriting(&directory, false);
        let new = read(&path);
        let keys_of = |file: &[u8]| {
            let (table, mut keys) = (Table::open(file).ok()?, Vec::new());
            table.visit(table.data_blocks(), |_, key| keys.push(key.to_vec())).ok().map(|()| keys)
        };
        // Only damaged filters are replaced, or what lies beside them.
        assert!(
            keys_of(&new) == keys_of(&damaged) && (new == damaged || check(&new, &new).is_ok())
        );
        by_outcome[if new == damaged { usize::from(run.is_bad) } else { 2 }] += 1;
    }
    assert!(by_outcome.iter().all(|&number| number > 0), "{by_outcome:?}");
}
