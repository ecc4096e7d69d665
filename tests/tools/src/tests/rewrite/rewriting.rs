//! What becomes of tables.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::run_on;
use crate::table::directory::{number_of, read_manifest};
use crate::table::manifest::Contents;
use crate::table::replace::NAMES;
use crate::table::writer::{append_block, append_footer, block, handle, varint};
use crate::table::{DataBlock, Table};
use crate::tests::directories::{
    Directory, blocks, copy_of, database, files, golden, is_table, read,
};
use crate::tests::inspect::Report;
use crate::tests::manifest::{log_of, records};

/// The places of the parts of an untouched table: the end of data, and the index block's ends.
fn parts(file: &[u8]) -> (usize, Range<usize>) {
    let layout = Table::open(file).unwrap().layout().unwrap().unwrap();
    (layout.data_end, layout.index)
}

/// Every key matches the filters of a new file, by its last footer and by the first one.
#[track_caller]
fn assert_no_key_is_lost(old: &[u8], new: &[u8], trailer_len: usize) {
    let (data_end, index) = parts(old);
    assert!(old[..data_end] == new[..data_end] && old[index.clone()] == new[index.clone()]);
    assert_eq!(new[index.end..][..48], new[new.len() - 48..]);
    let table = Table::open(new).unwrap();
    let filters = table.filter_block().unwrap().unwrap();
    let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters[..]);
    let found = |block: &DataBlock, key: &[u8]| {
        assert!(reader.key_may_match(block.offset(), &key[..key.len() - trailer_len]));
    };
    table.visit_keys(found).unwrap();
}

/// Takes the filters out of tables, of all or of one, as if they had been written without a policy.
pub(super) fn copy_without_filters(name: &str, only: &str) -> Directory {
    let directory = copy_of(&database(name));
    let mut lens = BTreeMap::new();
    for path in files(&directory).into_keys().filter(|path| is_table(path)) {
        if !path.ends_with(only) && !only.is_empty() {
            continue;
        }
        let old = read(&path);
        let (data_end, index) = parts(&old);
        let mut new = old[..data_end].to_vec();
        let metaindex = append_block(&mut new, &block(&[]), 0);
        let index_handle = handle(new.len(), index.len() - 5);
        new.extend(&old[index]);
        append_footer(&mut new, &[metaindex, index_handle].concat());
        lens.insert(number_of(&path).unwrap(), new.len());
        fs::write(path, new).unwrap();
    }
    relist(&directory, &lens);
    directory
}

/// Gives tables other lengths in the MANIFEST.
pub(super) fn relist(directory: &Path, lens: &BTreeMap<u64, usize>) {
    let tables = read_manifest(directory).unwrap().unwrap().tables;
    let current = fs::read_to_string(directory.join("CURRENT")).unwrap();
    let manifest = directory.join(current.trim_end());
    let (mut edits, _) = records(&read(&manifest));
    // The tables are taken away, and added again with their new lengths.
    let changed = tables.into_iter().filter(|((_, number), _)| lens.contains_key(number));
    let of_table = |((level, number), contents): ((u32, u64), Contents)| {
        let place = [level.to_le_bytes()[0], number.to_le_bytes()[0]];
        let key = |key: &[u8]| [&varint(key.len() + 8)[..], key, b"\x01\0\0\0\0\0\0\0"].concat();
        let keys = [key(&contents.smallest), key(&contents.largest)].concat();
        [&[6], &place[..], &[7], &place, &varint(lens[&number]), &keys].concat()
    };
    edits.push(changed.flat_map(of_table).collect());
    fs::write(manifest, log_of(&edits)).unwrap();
}

#[test]
fn filters_are_replaced_in_place_and_no_kind_of_lookups_loses() {
    for name in ["counters", "levels", "object_ids"] {
        let directory = copy_of(&database(name));
        let before = files(&directory);
        let run = run_on(&directory, &[]);
        assert!(run.causes.is_empty(), "{name}");
        let after = files(&directory);
        assert!(before.keys().eq(after.keys()));
        let mut num_rewritten = 0;
        for ((path, (old, _)), (new, _)) in before.iter().zip(after.values()) {
            assert_eq!(old.len(), new.len());
            if old != new {
                assert_no_key_is_lost(old, new, 8);
                num_rewritten += 1;
                assert!(is_table(path));
            }
        }
        let words = format!("other filters in place in {num_rewritten}, at the end of 0");
        assert!(run.has(&words), "{:#?}", run.lines);
        for reads in run.figures() {
            assert!(reads[1] < reads[0], "{name}: {:#?}", run.lines);
        }
    }
}

#[test]
fn a_second_run_and_a_dry_run_change_no_byte_and_no_time() {
    for args in [&[][..], &["--add"], &["--bits-per-key", "9"], &["--add", "--bits-per-key", "16"]]
    {
        let directory = copy_of(&database("counters"));
        let before = files(&directory);
        let dry = run_on(&directory, &[args, &["--dry-run"]].concat());
        assert_eq!(files(&directory), before);
        let first = run_on(&directory, args);
        // What is advised before is not advised afterwards.
        assert_eq!(dry.lines[..first.lines.len()], first.lines);
        let after = files(&directory);
        assert_ne!(after, before);
        let second = run_on(&directory, args);
        assert_eq!(files(&directory), after);
        assert!(second.has("Left as they are: 4 with such filters already."), "{:?}", second.lines);
        assert!(first.causes.is_empty() && second.causes.is_empty());
    }
    // What more bits have made, others are not made of.
    let directory = copy_of(&database("counters"));
    run_on(&directory, &["--add", "--bits-per-key", "16"]);
    let after = files(&directory);
    assert!(run_on(&directory, &[]).has("4 with such filters already"));
    assert_eq!(files(&directory), after);
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
        for ((_, (old, _)), (path, (new, _))) in before.iter().zip(files(&directory)) {
            assert_eq!(new.len() > old.len(), is_table(&path));
            if old != &new {
                assert_no_key_is_lost(old, &new, 8);
            }
        }
    }
}

#[test]
fn damaged_filters_are_rebuilt_if_all_keys_can_be_read() {
    for name in ["object_ids", "in_order"] {
        let [whole, damaged] = [(); 2].map(|()| copy_of(&database(name)));
        damage_filters(&damaged);
        assert!(run_on(&damaged, &["--dry-run"]).cause().contains("damaged filters"));
        let args = ["--bits-per-key", "9"];
        assert!([&whole, &damaged].iter().all(|of| run_on(of, &args).causes.is_empty()));
        for path in files(&whole).into_keys().filter(|path| is_table(path)) {
            assert!(read(&damaged.join(path.file_name().unwrap())) == read(&path), "{path:?}");
        }
        assert!(Report::on(&damaged).has("OK: "));
    }
}

/// Flips a bit of each table's filters.
pub(super) fn damage_filters(directory: &Path) {
    for path in files(directory).into_keys().filter(|path| is_table(path)) {
        let mut table = read(&path);
        let [.., filters, _, _, _] = &blocks(&table)[..] else { panic!("no filters") };
        table[filters.start] ^= 1;
        fs::write(path, table).unwrap();
    }
}

#[test]
fn tables_without_filters_get_some_only_if_asked() {
    let directory = copy_without_filters("levels", "");
    let before = files(&directory);
    let run = run_on(&directory, &[]);
    assert!(run.has("5 without filters (--add adds them)"), "{:?}", run.lines);
    assert!(!run.has("compacts them"));
    assert_eq!(files(&directory), before);
    let run = run_on(&directory, &["--add"]);
    assert!(run.has("at the end of 5: "), "{:?}", run.lines);
    assert!(run.has("Added filters work if the program sets a Bloom filter policy"));
    let [missing, ..] = run.figures();
    assert!(missing[0] > 2_000.0 && missing[1] < 60.0, "{:?}", run.lines);
    for ((_, (old, _)), (new, _)) in before.iter().zip(files(&directory).values()) {
        if old != new {
            assert_no_key_is_lost(old, new, 8);
            assert_eq!(names_of_filters(new), NAMES);
        }
    }
}

fn names_of_filters(file: &[u8]) -> Vec<String> {
    Table::open(file).unwrap().policy_names().to_vec()
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
        for ((_, (old, _)), (_, (new, _))) in
            before.iter().zip(&after).filter(|(old, new)| old != new)
        {
            let [old, new] = [old, new].map(|file| names_of_filters(file));
            assert!(new == NAMES || new == old, "{name}: {new:?}");
            of_one += usize::from(new.len() == 1);
        }
        assert_eq!(of_one, num_of_one, "{name}");
        run_on(&directory, &["--bits-per-key", bits]);
        assert_eq!(files(&directory), after);
    }
}

#[test]
fn tables_named_one_by_one_are_rewritten_and_so_are_those_of_user_keys() {
    let directory = copy_of(&database("levels"));
    let tables = ["db_bloom10", "table_bloom10_user_keys", "goleveldb_bloom10_user_keys"];
    let tables = tables.map(|name| {
        let path = directory.join(name).with_extension("ldb");
        fs::copy(golden("tables").join(path.file_name().unwrap()), &path).unwrap();
        path
    });
    for (path, trailer_len) in tables.iter().zip([8, 0, 0]) {
        let old = read(path);
        let run = run_on(path, &[]);
        assert!(run.has("1 table; other filters in place in 1,"), "{:?}", run.lines);
        let new = read(path);
        assert_no_key_is_lost(&old, &new, trailer_len);
        assert_eq!((new.len(), names_of_filters(&new)), (old.len(), NAMES.map(Into::into).into()));
    }
}
