//! Bits per key that differ between levels.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, InternalKeyPolicy};

use super::manifest::manifest_of_tables;
use super::{Directory, directory_of};
use crate::common::contents::table_of;
use crate::common::database::Group;
use crate::common::inspect_table::what_if::{divided, proposals};
use crate::common::random::words;
use crate::common::replay::Replay;
use crate::common::survey::Survey;
use crate::common::survey::lookups::RANDOM;
use crate::common::survey::sample::OWN;
use crate::common::survey::settings::{Setting, Writer};
use crate::common::table::manifest::Contents;

/// Tables of these keys, each with its level.
pub(super) fn database_of_keys(name: &str, tables: Vec<(u8, Vec<Vec<u8>>)>) -> Directory {
    let directory = directory_of(name, &[("CURRENT", b"MANIFEST-000002\n")]);
    let table = |((level, mut keys), number): ((u8, Vec<Vec<u8>>), u64)| {
        keys.sort();
        let [smallest, largest] = [0, keys.len() - 1].map(|i| keys[i].clone());
        for key in &mut keys {
            key.extend([1, 5, 0, 0, 0, 0, 0, 0]);
        }
        let policy = InternalKeyPolicy::new(BloomFilterPolicy::default());
        let keys: Vec<_> = keys.iter().map(|key| &key[..]).collect();
        let file = table_of(policy, &keys, 20);
        fs::write(directory.join(format!("{number:06}.ldb")), &file).unwrap();
        (level, number, Contents { len: file.len() as u64, smallest, largest })
    };
    let tables: Vec<_> = tables.into_iter().zip(10..).map(table).collect();
    fs::write(directory.join("MANIFEST-000002"), manifest_of_tables(&tables)).unwrap();
    directory
}

#[test]
fn small_levels_get_more_bits_where_that_saves_reads_in_the_same_bytes() {
    let mut words = words(43);
    let tables = [(0, 2_000), (0, 2_000), (0, 2_000), (2, 20_000)].map(|(level, num_keys)| {
        (level, words.by_ref().map(|key| key.to_be_bytes().into()).take(num_keys).collect())
    });
    let directory = database_of_keys("random", tables.into());
    let group = Group::of_directory(&directory).unwrap();
    let survey = Survey::of(&group, (10_000, true), |_| ());
    let all = proposals(&survey);
    let (candidate, bits) = divided(&survey, &all).unwrap();
    assert!(bits.keys().eq(&[0, 2]) && bits[&0] > bits[&2] + 2, "{bits:?}");

    let is_equal = |setting: &&Setting| setting.writer == Writer::ThisCrate;
    let of_crate = all.iter().map(|one| &one.setting).find(is_equal).unwrap();
    let mut replay = Replay::of(&directory);
    replay.replace_filters(|level| Setting { bits_per_key: bits[&level], ..*of_crate });
    assert_eq!(candidate.num_bytes, replay.num_filter_bytes());
    let today = survey.totals().filter_bytes;
    assert!(candidate.num_bytes < today + today / 20, "{} of {today}", candidate.num_bytes);
    let reads = [OWN, RANDOM].map(|kind| candidate.reads[kind]);
    let replayed = [replay.reads_of_own_keys(), replay.reads_of_longer_keys(20_000)];
    for (claimed, replayed) in reads.into_iter().zip(replayed) {
        assert!((claimed - replayed).abs() < 1.0 + 0.15 * replayed, "{claimed}, not {replayed}");
    }
    for equal in all.iter().filter(|one| is_equal(&&one.setting)) {
        let has_more = equal.candidate.num_bytes > candidate.num_bytes + candidate.num_bytes / 20;
        assert!(has_more || candidate.saves_reads(&equal.candidate));
    }
}
