//! What becomes of tables.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::{Run, files};
use crate::table::Table;
use crate::table::directory::{number_of, read_manifest};
use crate::table::manifest::Contents;
use crate::table::replace::NAMES;
use crate::table::writer::{append_block, append_footer, block, handle, varint};
use crate::tests::inspect::manifest::{log_of, records};
use crate::tests::inspect::tables::blocks;
use crate::tests::inspect::{Directory, copy_of, golden, read};

/// The places of the parts of an untouched table: the end of data, and the index block's ends.
fn parts(file: &[u8]) -> (usize, Range<usize>) {
    let layout = Table::open(file).unwrap().layout(file).unwrap().unwrap();
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
    for block in table.data_blocks() {
        let found = |key: &[u8]| {
            assert!(reader.key_may_match(block.offset(), &key[..key.len() - trailer_len]));
        };
        table.visit_keys(block, found).unwrap();
    }
}

/// Takes the filters out of tables, of all or of one, as if they had been written without a policy.
pub(super) fn copy_without_filters(name: &str, copy: &str, only: &str) -> Directory {
    let directory = copy_of(name, copy);
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

pub(super) fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "ldb")
}

const IN_PLACE: [&str; 4] = ["object_ids", "levels", "posts", "dead_tables"];

#[test]
fn filters_are_replaced_in_place_and_no_kind_of_lookups_loses() {
    for name in IN_PLACE {
        let directory = copy_of(name, "in_place");
        let before = files(&directory);
        let run = Run::on(&directory, &[]);
        assert_eq!((run.exit_status, &run.causes), (0, &vec![]), "{name}");
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
        assert!(run.has(&format!("other filters in {num_rewritten},")), "{:#?}", run.lines);
        assert_eq!(run.has("(missing keys are guessed)"), name == "dead_tables");
        for [before, after] in run.reads() {
            assert!(after <= before, "{name}: {:#?}", run.lines);
        }
    }
}

#[test]
fn a_second_run_and_a_dry_run_change_no_byte_and_no_time() {
    for args in [&[][..], &["--add"], &["--bits-per-key", "9"], &["--add", "--bits-per-key", "16"]]
    {
        let directory = copy_of("decimals", "second_run");
        let before = files(&directory);
        let dry = Run::on(&directory, &[args, &["--dry-run"]].concat());
        assert_eq!(files(&directory), before);
        let first = Run::on(&directory, args);
        assert_eq!(dry.lines.split_last().unwrap().1, first.lines);
        let after = files(&directory);
        assert_ne!(after, before);
        let second = Run::on(&directory, args);
        assert_eq!(files(&directory), after);
        assert!(second.has("Left as they are: 3 with such filters already."), "{:?}", second.lines);
        assert_eq!((first.exit_status, second.exit_status), (0, 0));
    }
}

#[test]
fn other_bits_per_key_are_taken_in_place_or_at_the_end() {
    let directory = copy_of("decimals", "other_bits");
    let before = files(&directory);
    // Too many for the room of 10 bits per key.
    let run = Run::on(&directory, &["--bits-per-key", "20"]);
    assert!(run.has("3 without room for better filters (--add makes it)"), "{:?}", run.lines);
    assert_eq!(files(&directory), before);
    for (add, places) in
        [(&[][..], "3, added at the end of 0"), (&["--add"], "1, added at the end of 2")]
    {
        let args = [add, &["--bits-per-key", "9"]].concat();
        let run = Run::on(&copy_of("decimals", "fewer_bits"), &args);
        assert!(run.has(&format!("other filters in {places}")), "{:?}", run.lines);
    }
    // Once there are some at the end, others go there, too.
    for bits in ["20", "6", "16"] {
        let run = Run::on(&directory, &["--add", "--bits-per-key", bits, "--force"]);
        assert!(run.has("other filters in 0, added at the end of 3"), "{:?}", run.lines);
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
        let [whole, damaged] = [(); 2].map(|()| copy_of(name, "damaged_filters"));
        damage_filters(&damaged);
        assert_eq!(Run::on(&damaged, &["--dry-run"]).exit_status, 1);
        let args = ["--bits-per-key", "10"];
        assert_eq!([&whole, &damaged].map(|of| Run::on(of, &args).exit_status), [0, 0]);
        for path in files(&whole).into_keys().filter(|path| is_table(path)) {
            assert!(read(&damaged.join(path.file_name().unwrap())) == read(&path), "{path:?}");
        }
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
fn filters_that_lookups_would_lose_by_are_written_only_by_force_and_never_for_good() {
    let directory = copy_of("levels", "few_bits");
    let before = files(&directory);
    let run = Run::on(&directory, &["--bits-per-key", "3"]);
    assert!(run.cause().contains("nothing was written: lookups would read more"), "{run:?}");
    assert!(files(&directory) == before && run.exit_status == 1);
    assert!(run.has("Nothing was written."), "{:?}", run.lines);
    let [worse, ..] = Run::on(&directory, &["--bits-per-key", "3", "--force"]).reads();
    let [better, ..] = Run::on(&directory, &[]).reads();
    assert!(worse[1] > 1.5 * worse[0] && 4.0 * better[1] < worse[1], "{worse:?} {better:?}");
}

#[test]
fn tables_without_filters_get_some_only_if_asked() {
    let directory = copy_without_filters("levels", "without_filters", "");
    let before = files(&directory);
    let run = Run::on(&directory, &[]);
    assert!(run.has("5 without filters (--add adds them)"), "{:?}", run.lines);
    assert!(!run.has("compacts them"));
    assert_eq!(files(&directory), before);
    let run = Run::on(&directory, &["--add"]);
    assert!(run.has("added at the end of 5"), "{:?}", run.lines);
    assert!(run.has("Added filters are used if the program sets a Bloom filter policy"));
    let [_, _, [before_at_random, after]] = run.reads();
    assert!(before_at_random > 2_000.0 && after < 60.0, "{:?}", run.lines);
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
    // The old filters of one table leave no room for it.
    for (name, num_of_one) in [("in_order", 1), ("goleveldb_base_lg_16", 0)] {
        let directory = copy_of(name, "names");
        let before = files(&directory);
        Run::on(&directory, &["--bits-per-key", "10"]);
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
        Run::on(&directory, &["--bits-per-key", "10"]);
        assert_eq!(files(&directory), after);
    }
}

#[test]
fn tables_named_one_by_one_are_rewritten_and_so_are_those_of_user_keys() {
    let directory = copy_of("levels", "one_by_one");
    let tables = ["db_bloom10", "table_bloom10_user_keys", "goleveldb_bloom10_user_keys"];
    let tables = tables.map(|name| {
        let path = directory.join(name).with_extension("ldb");
        fs::copy(golden("tables").join(path.file_name().unwrap()), &path).unwrap();
        path
    });
    for (path, trailer_len) in tables.iter().zip([8, 0, 0]) {
        let old = read(path);
        let run = Run::on(path, &[]);
        assert!(run.has("1 table; other filters in 1,"), "{:?}", run.lines);
        let new = read(path);
        assert_no_key_is_lost(&old, &new, trailer_len);
        assert_eq!((new.len(), names_of_filters(&new)), (old.len(), NAMES.map(Into::into).into()));
    }
}
