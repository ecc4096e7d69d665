//! LevelDB's own library (g++, libleveldb-dev) reads rewritten databases, and counts what it reads.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use leveldb_filter::{BloomFilterPolicy, InternalKeyPolicy};

use super::directories::{Directory, copy_of, directory_of, read};
use super::golden::assert_is_rebuilt;
use super::inspect::{Said, assert_is_replayed};
use super::replay::Replay;
use super::{drawn, noise};
use crate::database::Database;

/// LevelDB in a process of its own, which `tests/leveldb/leveldb.cc` describes.
struct LevelDb(Child);

impl LevelDb {
    fn start(directory: &Path) -> Self {
        let program = directory.join("leveldb");
        let compiled = Command::new("c++")
            .args(["-std=c++17", "-O1", "../leveldb/leveldb.cc", "-lleveldb", "-o"])
            .arg(&program)
            .status();
        assert!(compiled.is_ok_and(|status| status.success()), "needs g++ and libleveldb-dev");
        let mut command = Command::new(program);
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        let requests = self.0.stdin.as_mut().unwrap();
        requests.write_all(&strings(&[request])[8..12]).unwrap();
        requests.write_all(&[&[0; 4], request].concat()).unwrap();
        let answers = self.0.stdout.as_mut().unwrap();
        let mut len = [0; 8];
        answers.read_exact(&mut len).unwrap();
        let mut answer = vec![0; usize::try_from(u64::from_le_bytes(len)).unwrap()];
        answers.read_exact(&mut answer).unwrap();
        answer
    }

    /// Asserts that it finds each of these keys with its value, and checks all checksums; returns
    /// how many blocks it reads for the missing ones.
    fn reads(&mut self, database: &Path, writes: &Writes, missing: &[Vec<u8>]) -> u64 {
        let last: BTreeMap<_, _> = writes.iter().cloned().collect();
        let (keys, values): (Vec<_>, Vec<_>) =
            last.into_iter().filter(|of| !of.1.is_empty()).unzip();
        let options = [10, 4_096, 16, 1].map(u32::to_le_bytes).concat();
        let lists = [strings(&keys), strings(&values), strings(missing)].concat();
        let answer = self.ask(&[&b"r"[..], &path(database), &options, &lists].concat());
        let (found, num_reads) = answer.split_last_chunk().unwrap();
        let (found, found_missing) = found.split_at(keys.len());
        assert!(found.iter().all(|&found| found == 1), "a key is lost");
        assert!(found_missing.iter().all(|&found| found == 0), "a missing key is found");
        u64::from_le_bytes(*num_reads)
    }
}

impl Drop for LevelDb {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn path(of: &Path) -> Vec<u8> {
    let of = of.to_str().unwrap().as_bytes();
    [&of.len().to_le_bytes()[..], of].concat()
}

fn strings(strings: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let lens = strings.iter().map(|of| u32::try_from(of.as_ref().len()).unwrap().to_le_bytes());
    let bytes = strings.iter().flat_map(AsRef::as_ref);
    let number = strings.len().to_le_bytes();
    number.into_iter().chain(lens.flatten()).chain(bytes.copied()).collect()
}

/// A kind of keys that people have: how a number becomes one.
type Kind = (&'static str, fn(u64) -> Vec<u8>);

#[rustfmt::skip]
const KINDS: [Kind; 6] = [
    ("u64", |n| n.to_be_bytes().into()),
    ("12 digits", |n| format!("{n:012}").into()),
    ("ObjectId", |n| [&(n >> 6).to_be_bytes()[4..], b"host!", &n.to_be_bytes()[5..]].concat()),
    ("UUID", |n| format!("{:016x}-{:019x}", drawn(n)(1 << 32), drawn(n + 1)(1 << 32)).into()),
    ("post", |n| format!("user:{}:post:{n}", n % 50).into()),
    ("user", |n| format!("user:{n}").into()),
];

/// Keys with their values in the order in which they are written; empty ones are deletions.
type Writes = Vec<(Vec<u8>, Vec<u8>)>;

/// Writes a database of many tables, compacted if `is_compacted`.
fn write(
    leveldb: &mut LevelDb,
    writes: &Writes,
    is_compacted: bool,
    options: [u32; 4],
) -> Directory {
    let directory = directory_of(&[]);
    let (keys, values): (Vec<_>, Vec<_>) = writes.iter().cloned().unzip();
    let sizes = [u32::from(is_compacted), 64 << 10, 1 << 20].map(u32::to_le_bytes).concat();
    let options = options.map(u32::to_le_bytes).concat();
    let lists = [strings(&keys), strings(&values)].concat();
    leveldb.ask(&[&b"d"[..], &path(&directory), &sizes, &options, &lists].concat());
    directory
}

/// Writes of a kind of keys, many of them several times; one in twelve deletes.
fn writes(
    key: fn(u64) -> Vec<u8>,
    max_len: usize,
    below: &mut impl FnMut(usize) -> usize,
) -> Writes {
    let mut write = |_| {
        let number = 1_000 + below(6_000) as u64;
        let len = if below(12) == 0 { 0 } else { 1 + below(2 * max_len) };
        (key(2 * number), noise(len, number))
    };
    (0..6_000).map(&mut write).collect()
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn leveldb_finds_all_reads_what_is_foretold_and_keeps_what_it_has_open() {
    let programs = directory_of(&[]);
    let mut leveldb = LevelDb::start(&programs);
    let (mut below, mut sums) = (drawn(5), [0; 2]);
    for case in 0..18 {
        let (name, key) = KINDS[case % KINDS.len()];
        let writes = writes(key, [20, 300, 1_000][case / KINDS.len()], &mut below);
        let (bits, is_compacted) = ([10, 10, 14, 7][case % 4], case % 3 == 0);
        let options = [bits, [4_096, 1_000, 9_000][case % 3], 16, u32::from(case % 2 == 0)];
        let directory = write(&mut leveldb, &writes, is_compacted, options);
        for table in Database::open(&directory).unwrap().tables {
            let policy = BloomFilterPolicy::new(bits as usize);
            assert_is_rebuilt(&read(&table.path), InternalKeyPolicy::new(policy), 11);
        }
        for sum in &mut sums {
            let replay = Replay::of(&directory);
            let [missing, _] = replay.keys();
            // It compacts what its own lookups ask much, so it gets a copy.
            let copy = copy_of(&directory);
            let reads = leveldb.reads(&copy, &writes, &missing);
            assert!(!is_compacted || reads == replay.reads(&missing), "{name}: {reads}");
            assert_is_replayed(&directory, &Said::on(&directory));
            *sum += reads;
            leveldb.ask(&[&b"O\0\0\0\0"[..], &path(&copy)].concat());
            let words = ": a program has it open: close it";
            assert!(Said::of_rewriting(&copy, false).has(words), "{name}");
            // The LOCK of the other directory is free.
            let run = Said::of_rewriting(&directory, false);
            assert!(!run.is_bad, "{name}");
            // About as many bits as before, or more.
            let said = Said::on(&directory);
            let loses_bits = ["10 bits", "11 bits", "12 bits"].iter().any(|bits| said.has(bits));
            assert!(bits < 14 || !loses_bits, "{name}: {:#?}", said.lines);
        }
    }
    println!("reads: {sums:?}");
    assert!(sums[0] > 10_000 && sums[1] < sums[0] / 3, "{sums:?}");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn a_sample_tells_nearly_what_all_keys_do() {
    let programs = directory_of(&[]);
    let mut leveldb = LevelDb::start(&programs);
    let mut write = |numbers: &mut dyn Iterator<Item = (u64, usize)>, is_compacted| {
        let writes: Writes =
            numbers.map(|(n, len)| (n.to_be_bytes().into(), noise(len, n))).collect();
        write(&mut leveldb, &writes, is_compacted, [10, 4_096, 16, 0])
    };
    let mut numbers = (0..42_000).chain((0..42_000).step_by(9)).map(|n| (3 * n, 100));
    let directory = write(&mut numbers, false);
    let said = Said::on(&directory);
    let replayed = Replay::of(&directory).reads_of_1000();
    for (cell, replayed) in said.figures("today").iter().zip(replayed) {
        let reads: f64 = cell.replace(',', "").parse().unwrap();
        assert!((reads - replayed).abs() < 0.1 * replayed + 1.0, "{reads}, not {replayed}");
    }
    let number = Database::open(&directory).unwrap().tables.len();
    let words = format!("written: better filters for {number} of {number} tables.");
    assert!(number > 1 && Said::of_rewriting(&directory, false).has(&words), "{words}");
    // No table is asked for another's keys, and few for those between.
    let said = Said::on(&write(&mut (0..27_000).filter(|n| n % 500 > 0).map(|n| (n, 20)), true));
    assert_eq!(said.figures("today"), ["-", "0"], "{:#?}", said.lines);
    assert!(said.has("OK: hardly a lookup asks a filter needlessly."));
    // Deleted keys are not drawn, however many.
    let mut numbers = (0..100)
        .map(|n| (250 * n, 9))
        .chain((1..25_000).map(|n| (n, 0)).filter(|of| of.0 % 250 > 0));
    let directory = write(&mut numbers, false);
    let said = Said::on(&directory);
    assert_is_replayed(&directory, &said);
    assert!(said.has(" entries are deletions: compacting helps"), "{:#?}", said.lines);
}
