//! The MANIFEST parser reads what LevelDB reads.

use super::noise;
use crate::table::crc32c::masked_crc32c_of;
use crate::table::log::{FIRST, FULL, LAST, records};
use crate::table::manifest::{Contents, Manifest, manifest_name};

const MIDDLE: u8 = 3;

fn fragment(fragment_type: u8, data: &[u8]) -> Vec<u8> {
    let checksum = masked_crc32c_of([&[fragment_type], data]).to_le_bytes();
    let len = u16::try_from(data.len()).unwrap().to_le_bytes();
    [&checksum[..], &len, &[fragment_type], data].concat()
}

/// The records as LevelDB's writer divides them.
fn log_of(records: &[Vec<u8>]) -> Vec<u8> {
    let mut log: Vec<u8> = Vec::new();
    for record in records {
        let (mut rest, mut is_first) = (&record[..], true);
        while is_first || !rest.is_empty() {
            let room = 32_768 - log.len() % 32_768;
            if room < 7 {
                log.resize(log.len() + room, 0);
                continue;
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
        assert!(records(&log_of(&all[start..])).unwrap() == all[start..]);
    }
    let all = [vec![1; 10], vec![2; 40_000]];
    let log = log_of(&all);
    for len in (17..100).chain(32_700..32_800).chain(log.len() - 100..log.len()) {
        assert_eq!(records(&log[..len]).unwrap(), all[..1], "{len}");
    }
    // Zeros are preallocated space.
    let mut log = log_of(&all[..1]);
    log.resize(32_768, 0);
    log.extend(fragment(FULL, b"more"));
    assert_eq!(records(&log).unwrap(), [vec![1; 10], b"more".to_vec()]);
}

#[test]
fn each_kind_of_damage_to_a_log_has_its_error() {
    let error = |log: &[u8]| records(log).unwrap_err().to_string();
    let mut changed = fragment(FULL, b"data");
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(error(&changed), "a record does not match its checksum");
    assert_eq!(error(&fragment(5, b"")), "a record has the unknown type 5");
    let missing = "a part of a record is missing";
    for types in [&[MIDDLE][..], &[LAST], &[FIRST, FULL], &[FIRST, FIRST], &[FULL, LAST]] {
        let fragments: Vec<_> = types.iter().map(|&one| fragment(one, b"data")).collect();
        assert_eq!(error(&fragments.concat()), missing, "{types:?}");
    }
    // Preallocated space is not in the middle of a record.
    let mut log = fragment(FIRST, b"data");
    log.resize(32_768, 0);
    assert_eq!(error(&log), missing);
    // Within a block that is followed by others.
    let mut log = log_of(&[vec![0; 100_000]]);
    log[5] ^= 0x80;
    assert_eq!(error(&log), "a record reaches outside its block");
}

/// The fields that every database must have.
const HEAD: [&[u8]; 3] = [b"\x02\x05", b"\x03\x09", b"\x04\x64"];

fn manifest_of(edits: &[&[u8]]) -> std::io::Result<Manifest> {
    let mut records = vec![HEAD.concat()];
    records.extend(edits.iter().map(|edit| edit.to_vec()));
    Manifest::read(&log_of(&records)[..])
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
    let manifest = manifest_of(&[b"\x07\x00\x05\x09\x0asmtrailer!\x08trailer!"]).unwrap();
    let contents = Contents { len: 9, smallest: b"sm".into(), largest: vec![] };
    assert_eq!(manifest.tables[&(0, 5)], contents);

    let comparator = |edits: &[&[u8]]| manifest_of(edits).unwrap().comparator;
    assert_eq!(comparator(&[]), None);
    assert_eq!(comparator(&[b"\x01\x03abc"]).as_deref(), Some("abc"));
    assert_eq!(comparator(&[b"\x01\x03abc", b"\x01\x01\xff"]).as_deref(), Some("\u{fffd}"));
}

#[test]
fn a_current_that_leveldb_refuses_is_refused() {
    assert_eq!(manifest_name(b"MANIFEST-000002\n"), Ok("MANIFEST-000002"));
    for (current, why) in [
        (&b"../MANIFEST-000002\n"[..], "CURRENT names no MANIFEST"),
        (b"MANIFEST-\n", "CURRENT names no MANIFEST"),
        (b"MANIFEST-000002", "CURRENT does not end with a newline"),
        (b"MANIFEST-000002\r\n", "CURRENT has a carriage return before its newline"),
    ] {
        assert_eq!(manifest_name(current), Err(why));
    }
}
