//! The MANIFEST parser reads what LevelDB reads, and accepts any bytes.

use crate::table::crc32c::masked_crc32c_of;
use crate::table::log::LogReader;
use crate::table::manifest::{Contents, Manifest};
use crate::table::writer::varint;
use crate::tests::directories::{database, read};
use crate::tests::{drawn, noise};

const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

fn fragment(fragment_type: u8, data: &[u8]) -> Vec<u8> {
    let checksum = masked_crc32c_of([&[fragment_type], data]).to_le_bytes();
    let len = u16::try_from(data.len()).unwrap().to_le_bytes();
    [&checksum[..], &len, &[fragment_type], data].concat()
}

/// The records of a log, up to the end or an error.
pub(crate) fn records(log: &[u8]) -> (Vec<Vec<u8>>, Result<(), String>) {
    let mut reader = LogReader::new(log);
    let mut records = Vec::new();
    let mut record = Vec::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => records.push(record.clone()),
            Ok(false) => return (records, Ok(())),
            Err(error) => return (records, Err(error.to_string())),
        }
    }
}

/// The records as LevelDB's writer divides them.
pub(crate) fn log_of(records: &[Vec<u8>]) -> Vec<u8> {
    let mut log: Vec<u8> = Vec::new();
    for record in records {
        let mut rest = &record[..];
        let mut is_first = true;
        while is_first || !rest.is_empty() {
            let mut room = 32_768 - log.len() % 32_768;
            if room < 7 {
                log.resize(log.len() + room, 0);
                room = 32_768;
            }
            let (data, after) = rest.split_at(rest.len().min(room - 7));
            let fragment_type = match (is_first, after.is_empty()) {
                (true, true) => FULL,
                (true, false) => FIRST,
                (false, false) => MIDDLE,
                (false, true) => LAST,
            };
            log.extend(fragment(fragment_type, data));
            (rest, is_first) = (after, false);
        }
    }
    log
}

#[test]
fn records_of_any_length_are_reassembled_unless_the_end_cuts_them_off() {
    let lens = [0, 1, 7, 32_754, 32_755, 32_756, 32_761, 32_762, 65_600, 100_000, 3, 0];
    let all: Vec<_> = lens.into_iter().zip(1..).map(|(len, seed)| noise(len, seed)).collect();
    // Each also as the first of a log.
    for start in 0..all.len() {
        assert_eq!(records(&log_of(&all[start..])), (all[start..].to_vec(), Ok(())));
    }
    let all = [vec![1; 10], vec![2; 40_000]];
    let log = log_of(&all);
    for len in (17..100).chain(32_700..32_800).chain(log.len() - 100..log.len()) {
        assert_eq!(records(&log[..len]), (all[..1].to_vec(), Ok(())), "{len}");
    }
    // Zeros are preallocated space.
    let mut log = log_of(&all[..1]);
    log.resize(32_768, 0);
    log.extend(fragment(FULL, b"more"));
    assert_eq!(records(&log), (vec![vec![1; 10], b"more".to_vec()], Ok(())));
    // Old LevelDBs could leave an empty first fragment at the end of a block, and begin again.
    for record in [vec![1; 10], vec![1; 40_000]] {
        let both = [vec![2; 32_754], record];
        let [before, after] = [0, 1].map(|i| log_of(&both[i..=i]));
        let log = [before, fragment(FIRST, b""), after].concat();
        assert_eq!(records(&log), (both.to_vec(), Ok(())));
    }
}

#[test]
fn each_kind_of_damage_to_a_log_has_its_error() {
    let damaged = |fragments: &[Vec<u8>]| records(&fragments.concat()).1.unwrap_err();
    let mut changed = fragment(FULL, b"data");
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(damaged(&[changed]), "a record does not match its checksum");
    assert_eq!(damaged(&[fragment(5, b"")]), "a record has the unknown type 5");
    for types in [&[MIDDLE][..], &[LAST], &[FIRST, FULL], &[FIRST, FIRST], &[FULL, LAST]] {
        let fragments: Vec<_> = types.iter().map(|&one| fragment(one, b"data")).collect();
        assert_eq!(damaged(&fragments), "a part of a record is missing", "{types:?}");
    }
    // Preallocated space is not in the middle of a record.
    for first in [&b"data"[..], b""] {
        let mut log = fragment(FIRST, first);
        log.resize(32_768, 0);
        assert_eq!(records(&log).1, Err("a part of a record is missing".into()));
        log.extend(fragment(LAST, b"data"));
        assert_eq!(records(&log).1, Err("a part of a record is missing".into()));
    }
    // Within a block that is followed by others.
    let mut log = log_of(&[vec![0; 100_000]]);
    log[5] ^= 0x80;
    assert_eq!(records(&log).1, Err("a record reaches outside its block".into()));
}

/// The fields that every database must have.
const HEAD: [&[u8]; 3] = [b"\x02\x05", b"\x03\x09", b"\x04\x64"];

fn manifest_of(edits: &[&[u8]]) -> std::io::Result<Manifest> {
    let mut records = vec![HEAD.concat()];
    records.extend(edits.iter().map(|edit| edit.to_vec()));
    Manifest::read(&log_of(&records)[..])
}

/// A database with tables of these levels and numbers.
pub(crate) fn manifest_of_tables(tables: &[(u8, u64, Contents)]) -> Vec<u8> {
    let mut edit = [&b"\x01\x1aleveldb.BytewiseComparator"[..], &HEAD.concat()].concat();
    for (level, number, Contents { len, smallest, largest }) in tables {
        edit.extend([7, *level]);
        edit.extend([*number, *len].map(|number| varint(number.try_into().unwrap())).concat());
        for key in [smallest, largest] {
            edit.extend(varint(key.len() + 8));
            edit.extend([key, &[1, 5, 0, 0, 0, 0, 0, 0][..]].concat());
        }
    }
    log_of(&[edit])
}

#[test]
fn edits_name_the_comparator_add_tables_and_take_them_away() {
    let tables =
        |edits: &[&[u8]]| manifest_of(edits).unwrap().tables.into_keys().collect::<Vec<_>>();
    let [add_5, add_7] = [b"\x07\x00\x05\x09\x01a\x01b", b"\x07\x02\x07\x09\x01a\x01b"];
    assert_eq!(tables(&[]), []);
    assert_eq!(tables(&[add_5, add_7]), [(0, 5), (2, 7)]);
    assert_eq!(tables(&[add_5, add_7, b"\x06\x00\x05"]), [(2, 7)]);
    // Within one edit, deletions come first, wherever they stand.
    assert_eq!(tables(&[add_5, b"\x07\x01\x05\x09\x01a\x01b\x06\x00\x05"]), [(1, 5)]);
    assert_eq!(tables(&[add_5, b"\x07\x00\x05\x09\x01a\x01b\x06\x00\x05"]), [(0, 5)]);
    // Deleted from a level that never had it.
    assert_eq!(tables(&[add_5, b"\x06\x01\x05"]), [(0, 5)]);
    assert_eq!(tables(&[b"\x05\x01\x01k", b"\x09\x00", add_7]), [(2, 7)]);
    let edits: [&[u8]; 2] = [b"\x07\x00\x05\x09\x0asmtrailer!\x08trailer!", b"\x02\x08"];
    let manifest = manifest_of(&edits).unwrap();
    let contents = Contents { len: 9, smallest: b"sm".into(), largest: vec![] };
    assert_eq!((manifest.log_number, &manifest.tables[&(0, 5)]), (8, &contents));

    let comparator = |edits: &[&[u8]]| manifest_of(edits).unwrap().comparator;
    assert_eq!(comparator(&[]), None);
    assert_eq!(comparator(&[b"\x01\x03abc"]).as_deref(), Some("abc"));
    assert_eq!(comparator(&[b"\x01\x03abc", b"\x01\x01\xff"]).as_deref(), Some("\u{fffd}"));
}

#[test]
fn any_edits_are_a_manifest_or_an_error() {
    let mut number = drawn(18);
    let (whole, _) = records(&read(&database("levels").join("MANIFEST-000002")));
    let mut by_outcome = [0, 0];
    for _ in 0..1_000 {
        let mut edits = whole.clone();
        let edit = number(edits.len());
        for _ in 0..=number(3) {
            let place = number(edits[edit].len());
            edits[edit][place] ^= 1 << number(8);
        }
        by_outcome[usize::from(Manifest::read(&log_of(&edits)[..]).is_ok())] += 1;
    }
    assert!(by_outcome.iter().all(|&number| number > 100), "{by_outcome:?}");
}
