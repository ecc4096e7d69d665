//! Single filters of every number of keys, and the worst of them.

use leveldb_filter::BloomFilterShape;

use crate::common::terminal::grouped;
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_16, Kind, OBJECT_IDS, Run, STEPS_OF_3, U32, USER_AND_SEQUENCE,
};
use crate::{POLICY, mean, percent, row, section};

/// How many lookups each number of keys gets at least.
const NUM_LOOKUPS: usize = 4_000;

/// How many filters the search for bad ones measures.
const NUM_FILTERS: usize = 100_000;

/// Those whose neighbours differ in the last bytes, and how many of their numbers are present.
fn kinds() -> Vec<(&'static str, &'static str, Kind)> {
    let successive = [
        ("u64 counters", COUNTERS),
        ("u32 counters", U32),
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

/// The mean rate of filters of so many keys: tuned ones, LevelDB's, those without a bad factor.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn rates(kind: &Kind, num_keys: usize) -> [f64; 3] {
    let (mut sums, mut num_runs, mut lookups) = ([0.0; 3], 0, 0);
    let shapes =
        [POLICY.tuned().shape(num_keys), POLICY.shape(num_keys), without_bad_factor(num_keys)];
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
         the two numbers between is looked up.",
        &["keys", "present", "in a filter", "`tuned()`", "LevelDB", "no bad factor"],
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
    text + &worst()
}

/// What single filters can be like, where few numbers are absent.
fn worst() -> String {
    let kind = COUNTERS.all_but_one_in(10);
    let num_keys = |filter| 2_000 + filter % 2_001;
    let rate = |filter| Run::draw(&kind, num_keys(filter), filter as u64).rate(POLICY.tuned());
    let rates: Vec<_> = (0..NUM_FILTERS).map(rate).collect();
    let worst = (0..NUM_FILTERS).max_by(|&a, &b| rates[a].total_cmp(&rates[b])).expect("filters");
    let start = &kind.sorted(1, worst as u64)[0].0;
    let start = start.iter().fold(0, |start, &byte| start << 8 | usize::from(byte));
    let num_bad = rates.iter().filter(|&&rate| rate > 0.05).count();
    format!(
        "\n\nA few tables stay bad. Of {} tables with one filter of 2,000 to 4,000 u64 counters, nine \
         in ten present, the mean is {}, {num_bad} have more than 5%, and the worst has {}: {} keys \
         from {} on. `cargo run --release --example accuracy` finds them, and a longer search would \
         find worse.",
        grouped(NUM_FILTERS),
        percent(mean(&rates)),
        percent(rates[worst]),
        grouped(num_keys(worst)),
        grouped(start),
    )
}
