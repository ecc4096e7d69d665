//! Single filters of every number of keys, and the worst of them.

use std::thread;

use leveldb_filter::{BloomHash, FilterBlockBuilder, FilterBlockReader, HashPolicy, bloom_hash};

use crate::common::random::words;
use crate::common::terminal::grouped;
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_16, Kind, OBJECT_IDS, PAIRS, Run, STEPS_OF_2, STEPS_OF_3, U32,
    USER_AND_SEQUENCE, share,
};
use crate::{POLICIES, POLICY, RARE, end, mean, percent, row, section};

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

/// The mean rate of each policy's filters of so many keys.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn rates(kind: &Kind, num_keys: usize) -> [f64; 2] {
    let (mut sums, mut num_runs, mut lookups) = ([0.0; 2], 0, 0);
    while lookups < NUM_LOOKUPS {
        let run = Run::draw(kind, num_keys, num_runs << 32 | num_keys as u64);
        for (sum, policy) in sums.iter_mut().zip(POLICIES) {
            *sum += run.rate(policy);
        }
        num_runs += 1;
        lookups += run.num_lookups();
    }
    sums.map(|sum| sum / num_runs as f64)
}

pub(crate) fn every() -> String {
    let mut text = section(
        "Every number of keys",
        "If all values are equally long, all filters are too, and a bad length makes every table \
         bad. So this table measures single filters: of every fifth number of keys from 2,000 to \
         4,000, because nearly all filters in long ranges have as many, and of every 65th number \
         from 4,000 to 30,000, for engines that build one filter for a table. Each number of keys \
         gets at least 4,000 lookups. \"Above 2%\" counts those with a higher rate, out of 400. \
         \"One in three\" means that numbers grow in steps of three, and one of the two numbers \
         between is looked up. Single tables may be worse, but [such tables are \
         rare](#rare-bad-tables).",
        &[
            "keys",
            "present",
            "in a filter",
            "LevelDB",
            "above 2%",
            "worst",
            "`tuned()`",
            "above 2%",
            "worst",
        ],
    );
    for (in_a_filter, numbers, step) in
        [("2,000 to 4,000", 2_000..4_000, 5), ("4,000 to 30,000", 4_000..30_000, 65)]
    {
        for (name, present, kind) in kinds() {
            let numbers = numbers.clone().step_by(step);
            let rates: Vec<_> = numbers.map(|num_keys| rates(&kind, num_keys)).collect();
            let mut cells = [name, present, in_a_filter].map(str::to_owned).to_vec();
            for i in 0..2 {
                let rates: Vec<_> = rates.iter().map(|rates| rates[i]).collect();
                let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
                let worst = rates.iter().copied().fold(0.0, f64::max);
                cells.extend([percent(mean(&rates)), num_above.to_string(), percent(worst)]);
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

pub(crate) fn rare() -> String {
    let mut text = section(
        RARE,
        &format!(
            "A few tables stay bad even with long ranges, and this search finds some. Each row \
             measures {} tables of 2,000 to 30,000 keys, whose numbers start at random multiples \
             of 65,536. All entries of a table are equally long: each of its data blocks of 4 KiB \
             has the same number of them, 4 to 203. \"1 in 1,000\" means that one table in a \
             thousand has a higher rate. A longer search finds worse tables. \
             `cargo run --release --example accuracy -- --rare` prints this section in about four \
             minutes.",
            grouped(NUM_TABLES)
        ),
        &["keys", "present", "mean", "above 2%", "above 5%", "worst", "the worst table"],
    );
    let others = [
        ("u64 + u64 counter", "nine in ten", PAIRS.all_but_one_in(10)),
        ("u64 counters, big-endian", "every second", STEPS_OF_2),
    ];
    let rows = kinds().into_iter().take(4).chain(others);
    let begin = |row| thread::spawn(move || rare_row(row));
    for thread in rows.map(begin).collect::<Vec<_>>() {
        text += &end(thread);
    }
    text
}

fn rare_row((name, present, kind): (&str, &str, Kind)) -> String {
    let kind = kind.starting_at_multiples_of(1 << 16);
    let rates: Vec<_> = (0..NUM_TABLES).map(|table| rate_of(&kind, table)).collect();
    let worst = (0..NUM_TABLES).max_by(|&a, &b| rates[a].total_cmp(&rates[b]));
    let worst = worst.expect("tables");
    let above = |limit| match rates.iter().filter(|&&rate| rate > limit).count() {
        0 => "none".to_owned(),
        above => format!("1 in {}", grouped(NUM_TABLES / above)),
    };
    let first_key = &kind.sorted(1, worst as u64)[0].0;
    let counter = &first_key[first_key.len().saturating_sub(8)..];
    let first = counter.iter().fold(0, |first, &byte| first << 8 | usize::from(byte));
    let (num_keys, num_keys_of_block) = num_keys_of(worst);
    let [first, num_keys] = [first, num_keys].map(grouped);
    let [mean, highest] = [mean(&rates), rates[worst]].map(percent);
    let worst = format!("{num_keys} keys from {first}, {num_keys_of_block} in a block");
    row(&[name, present, &mean, &above(0.02), &above(0.05), &highest, &worst])
}
