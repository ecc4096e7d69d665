//! Single filters of every number of keys, and the worst of them.

use crate::common::terminal::grouped;
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_16, Kind, OBJECT_IDS, PAIRS, Run, STEPS_OF_2, STEPS_OF_3, U32,
    USER_AND_SEQUENCE,
};
use crate::{LONG_RANGES, POLICY, RARE, mean, percent, row, section};

const NUM_LOOKUPS: usize = 4_000;

/// How many tables the search for rare bad ones measures, of each kind of counters.
const NUM_TABLES: usize = 200_000;

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
    let policies = [POLICY, LONG_RANGES];
    let (mut sums, mut num_runs, mut lookups) = ([0.0; 2], 0, 0);
    while lookups < NUM_LOOKUPS {
        let run = Run::draw(kind, num_keys, num_runs << 32 | num_keys as u64);
        for (sum, policy) in sums.iter_mut().zip(policies) {
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
         bad. So this table measures single filters of every 7th number of keys from 1,000 to \
         4,000, and of every 83rd number to 30,000. Each filter answers at least 4,000 lookups. \
         Long ranges give each filter room for 2,000 keys. \"Above 2%\" counts the numbers of keys \
         with a higher rate, out of 744. \"One in three\" means that numbers grow in steps of three, \
         and one of the two numbers between is looked up. Single tables may be worse, but [such \
         tables are rare](#rare-bad-tables).",
        &["keys", "present", "LevelDB", "above 2%", "worst", "long ranges", "above 2%", "worst"],
    );
    for (name, present, kind) in kinds() {
        let numbers = (1_000..4_000).step_by(7).chain((4_000..=30_000).step_by(83));
        let rates: Vec<_> = numbers.map(|num_keys| rates(&kind, num_keys)).collect();
        let mut cells = vec![name.to_owned(), present.to_owned()];
        for i in 0..2 {
            let rates: Vec<_> = rates.iter().map(|rates| rates[i]).collect();
            let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
            let worst = rates.iter().copied().fold(0.0, f64::max);
            cells.extend([percent(mean(&rates)), num_above.to_string(), percent(worst)]);
        }
        text += &row(&cells);
    }
    text
}

pub(crate) fn rare() -> String {
    let mut text = section(
        RARE,
        &format!(
            "A few tables stay bad even with long ranges, and this search finds some. Each row \
             measures {} tables of 2,000 to 6,000 keys, whose numbers start at random multiples \
             of 65,536. \"1 in 1,000\" means that one table in a thousand has a higher rate. \
             A longer search finds worse tables. \
             `cargo run --release --example accuracy -- --rare` prints this section in about six \
             minutes.",
            grouped(NUM_TABLES)
        ),
        &["keys", "present", "mean", "above 5%", "above 10%", "worst", "the worst table"],
    );
    let num_keys = |table| 2_000 + table % 4_001;
    let others = [
        ("u64 + u64 counter", "nine in ten", PAIRS.all_but_one_in(10)),
        ("u64 counters, big-endian", "every second", STEPS_OF_2),
    ];
    for (name, present, kind) in kinds()[..4].iter().chain(&others) {
        let kind = kind.starting_at_multiples_of(1 << 16);
        let rate = |table| Run::draw(&kind, num_keys(table), table as u64).rate(LONG_RANGES);
        let rates: Vec<_> = (0..NUM_TABLES).map(rate).collect();
        let worst = (0..NUM_TABLES).max_by(|&a, &b| rates[a].total_cmp(&rates[b]));
        let worst = worst.expect("tables");
        let above = |limit| match rates.iter().filter(|&&rate| rate > limit).count() {
            0 => "none".to_owned(),
            above => format!("1 in {}", grouped(NUM_TABLES / above)),
        };
        let first_key = &kind.sorted(1, worst as u64)[0].0;
        let counter = &first_key[first_key.len().saturating_sub(8)..];
        let first = counter.iter().fold(0, |first, &byte| first << 8 | usize::from(byte));
        let [first, len] = [first, num_keys(worst)].map(grouped);
        let [mean, highest] = [mean(&rates), rates[worst]].map(percent);
        let worst = format!("{len} keys from {first}");
        text += &row(&[*name, present, &mean, &above(0.05), &above(0.1), &highest, &worst]);
    }
    text
}
