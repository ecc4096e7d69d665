//! Single filters of every number of keys, and the worst of them.

use std::thread;

use leveldb_filter::{
    BloomFilterShape, BloomHash, FilterBlockBuilder, FilterBlockReader, HashPolicy, bloom_hash,
};

use crate::common::random::words;
use crate::common::terminal::grouped;
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_16, Kind, OBJECT_IDS, PAIRS, Run, STEPS_OF_2, STEPS_OF_3, U32,
    USER_AND_SEQUENCE, share,
};
use crate::{POLICY, RARE, end, mean, percent, row, section};

/// How many lookups each number of keys gets at least.
const NUM_LOOKUPS: usize = 4_000;

/// How many tables the search for rare bad ones measures, of each kind of counters.
const NUM_TABLES: usize = 50_000;

/// Of a data block, with its trailer.
const BLOCK_LEN: u64 = 4_101;

/// Those whose neighbours differ in the last bytes, and how many of their numbers are present.
fn kinds() -> Vec<(&'static str, &'static str, Kind)> {
    let successive = [
        ("u64 counters, big-endian", COUNTERS),
        ("u32 counters, big-endian", U32),
        ("16 decimal digits", DIGITS_16),
        ("16 hexadecimal digits", HEX_DIGITS_16),
        ("u64 user + u64 sequence", USER_AND_SEQUENCE),
    ];
    let present = [("half", 2), ("nine in ten", 10)];
    let of_each = |(name, kind): (_, Kind)| {
        present.map(|(present, one_in)| (name, present, kind.all_but_one_in(one_in)))
    };
    let others = [("u64 counters", "one in three", STEPS_OF_3), ("ObjectId", "bursts", OBJECT_IDS)];
    successive.into_iter().flat_map(of_each).chain(others).collect()
}

/// LevelDB's shape, at the next shorter length without a bad factor, or the next longer one.
fn without_bad_factor(num_keys: usize) -> BloomFilterShape {
    let leveldb = POLICY.shape(num_keys);
    let len = leveldb.filter_len() - 1;
    let is_good = |len: &usize| [2, 3, 5, 17, 257, 65_537].iter().all(|factor| len % factor > 0);
    let shorter = (len - len / 50..=len).rev().find(is_good);
    let len = shorter.or_else(|| (len..2 * len).find(is_good)).expect("a prime");
    BloomFilterShape::new(len + 1, leveldb.num_probes())
}

/// The mean rate of filters of so many keys: LevelDB's, those without a bad factor, tuned ones.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn rates(kind: &Kind, num_keys: usize) -> [f64; 3] {
    let (mut sums, mut num_runs, mut lookups) = ([0.0; 3], 0, 0);
    let shapes =
        [POLICY.shape(num_keys), without_bad_factor(num_keys), POLICY.tuned().shape(num_keys)];
    while lookups < NUM_LOOKUPS {
        let run = Run::draw(kind, num_keys, num_runs << 32 | num_keys as u64);
        for (sum, shape) in sums.iter_mut().zip(shapes) {
            *sum += run.rate_with(shape);
        }
        num_runs += 1;
        lookups += run.num_lookups();
    }
    sums.map(|sum| sum / num_runs as f64)
}

pub(crate) fn every() -> String {
    let mut text = section(
        "Every number of keys",
        "This table tells what each part of `tuned()` is for, and how bad a single size can be. It \
         measures single filters: of every fifth number of keys from 2,000 to 4,000, as many as \
         most filters in long ranges have, and of every 65th number from 4,000 to 30,000, for one \
         filter per table. Each of these 400 numbers gets at least 4,000 lookups. A cell has the \
         mean, how many numbers of keys have above 2%, and the worst. \"No bad factor\" is \
         LevelDB's number of probes at the next shorter length without the factors 2, 3, 5, 17, \
         257 and 65,537. \"One in three\" means that numbers grow in steps of three, and one of \
         the two numbers between is looked up. [Rare tables](#rare-bad-tables) are worse.",
        &["keys", "present", "in a filter", "LevelDB", "no bad factor", "`tuned()`"],
    );
    let all = usize::MAX;
    for (in_a_filter, numbers, step, most) in
        [("2,000 to 4,000", 2_000..4_000, 5, all), ("4,000 to 30,000", 4_000..30_000, 65, 4)]
    {
        for (name, present, kind) in kinds().into_iter().take(most) {
            let numbers = numbers.clone().step_by(step);
            let rates: Vec<_> = numbers.map(|num_keys| rates(&kind, num_keys)).collect();
            let mut cells = [name, present, in_a_filter].map(str::to_owned).to_vec();
            for i in 0..3 {
                let rates: Vec<_> = rates.iter().map(|rates| rates[i]).collect();
                let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
                let worst = rates.iter().copied().fold(0.0, f64::max);
                cells.push(format!("{}, {num_above}, {}", percent(mean(&rates)), percent(worst)));
            }
            text += &row(&cells);
        }
    }
    text
}

/// How many keys a table has, and how many of them a data block has.
fn num_keys_of(table: usize) -> (usize, usize) {
    let word = words(!(table as u64)).next().expect("endless");
    (2_000 + table % 28_001, 4 + (word >> 32) as usize % 200)
}

/// The rate of a table in long ranges. Its entries have one length, and it is not compressed.
fn rate_of(kind: &Kind, table: usize) -> f64 {
    let (num_keys, num_keys_of_block) = num_keys_of(table);
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    let (mut num_added, mut absent) = (0, Vec::new());
    kind.visit(num_keys, table as u64, |key, is_present| {
        let block_offset = (num_added / num_keys_of_block) as u64 * BLOCK_LEN;
        if is_present {
            builder.start_block(block_offset);
            builder.add_key(key);
            num_added += 1;
        } else if 0 < num_added && num_added < num_keys {
            // In the block of the next key, since the index leads there.
            absent.push((block_offset, bloom_hash(key)));
        }
    });
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    let matches = |&&(offset, hash): &&(u64, BloomHash)| {
        reader.filter(offset).is_none_or(|filter| POLICY.hash_may_match(hash, filter))
    };
    share(absent.iter().filter(matches).count(), absent.len())
}

/// The rate of a single tuned filter.
fn rate_of_filter(kind: &Kind, filter: usize) -> f64 {
    Run::draw(kind, 2_000 + filter % 2_001, filter as u64).rate(POLICY.tuned())
}

pub(crate) fn rare() -> String {
    let mut text = section(
        RARE,
        &format!(
            "Some tables and some filters stay bad, and this search finds a few. Numbers start at \
             random multiples of 65,536. A row \"table\" measures {} tables in long ranges, of \
             2,000 to 30,000 keys. All entries of a table are equally long: each of its data \
             blocks of 4 KiB has the same number of them, 4 to 203. A row \"filter\" measures as \
             many single `tuned()` filters of 2,000 to 4,000 keys: a table averages its filters, \
             which hides the worst. \"1 in 1,000\" means that one in a thousand has a higher \
             rate. A longer search finds worse ones. \
             `cargo run --release --example accuracy -- --rare` prints this section in some \
             minutes.",
            grouped(NUM_TABLES)
        ),
        &["keys", "present", "a", "mean", "above 2%", "above 5%", "worst", "the worst one"],
    );
    let others = [
        ("u64 + u64 counter", "nine in ten", PAIRS.all_but_one_in(10)),
        ("u64 counters, big-endian", "every second", STEPS_OF_2),
    ];
    let tables = kinds().into_iter().take(4).chain(others).map(|row| (row, true));
    let filters = kinds().into_iter().take(2).map(|row| (row, false));
    let begin = |(row, is_table)| thread::spawn(move || rare_row(row, is_table));
    for thread in tables.chain(filters).map(begin).collect::<Vec<_>>() {
        text += &end(thread);
    }
    text
}

fn rare_row((name, present, kind): (&str, &str, Kind), is_table: bool) -> String {
    let kind = kind.starting_at_multiples_of(1 << 16);
    let rate = if is_table { rate_of } else { rate_of_filter };
    let rates: Vec<_> = (0..NUM_TABLES).map(|i| rate(&kind, i)).collect();
    let worst = (0..NUM_TABLES).max_by(|&a, &b| rates[a].total_cmp(&rates[b]));
    let worst = worst.expect("tables");
    let above = |limit| match rates.iter().filter(|&&rate| rate > limit).count() {
        0 => "none".to_owned(),
        above => format!("1 in {}", grouped(NUM_TABLES / above)),
    };
    let first_key = &kind.sorted(1, worst as u64)[0].0;
    let counter = &first_key[first_key.len().saturating_sub(8)..];
    let first = counter.iter().fold(0, |first, &byte| first << 8 | usize::from(byte));
    let [mean, highest] = [mean(&rates), rates[worst]].map(percent);
    let (num_keys, num_keys_of_block) = num_keys_of(worst);
    let worst = if is_table {
        format!(
            "{} keys from {}, {num_keys_of_block} in a block",
            grouped(num_keys),
            grouped(first)
        )
    } else {
        format!("{} keys from {}", grouped(2_000 + worst % 2_001), grouped(first))
    };
    let a = if is_table { "table" } else { "filter" };
    row(&[name, present, a, &mean, &above(0.02), &above(0.05), &highest, &worst])
}
