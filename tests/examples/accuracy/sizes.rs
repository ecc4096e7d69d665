//! Rates by numbers of keys and by bits per key, and the figure's points.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::kinds::{COUNTERS, DIGITS_16, Kind, RANDOM, Run, share};
use crate::{POLICIES, POLICY, mean, pair, percent, row, section};

const BITS_PER_KEY: u8 = 10;
const NUM_PROBES: u8 = 6;

/// How many points the figure has per power of ten, from 10 to a million.
const POINTS: u32 = 8;

/// How many sizes a point of the figure stands for, or fewer of few keys.
const NUM_SIZES: usize = 40;

/// A filter's length changes its rate, at single numbers of keys by more than half: means over
/// neighbouring numbers even this out.
const NUM_NEIGHBOURS: usize = 8;

pub(crate) fn few_keys() -> String {
    let mut text = section(
        "Few keys",
        "Short filters suffer most, so give filters of few keys room. Each row is the mean over \
         single filters, 200 for each number of keys, or 40 for every seventh number from 101 on. \
         Long ranges give a table's only filter room for eight times its keys, but at least for 40 \
         and at most for 2,000. `tuned()` gives filters room for at least 40 keys. In the last \
         column, all filters have room for 2,000 keys.",
        &["keys", "in a filter", "LevelDB → long ranges", "`tuned()`", "2,000 keys' room"],
    );
    let policies = [POLICY, POLICY.tuned(), POLICY.tuned().with_min_keys(2_000)];
    for (numbers, step, num_filters) in [(2..=15, 1, 200), (16..=100, 1, 200), (101..=800, 7, 40)] {
        let in_a_filter = format!("{} to {}", numbers.start(), numbers.end());
        for (name, kind) in
            [("u64 counters", &COUNTERS), ("16 decimal digits", &DIGITS_16), ("random", &RANDOM)]
        {
            let mut rates = [const { vec![] }; 4];
            for num_keys in numbers.clone().step_by(step) {
                for seed in 0..num_filters {
                    let seed = seed << 32 | num_keys as u64;
                    let run = Run::draw(kind, num_keys, seed);
                    for (rates, policy) in rates.iter_mut().zip(policies) {
                        rates.push(run.rate(policy));
                    }
                    rates[3].push(rate_in_long_ranges(kind, num_keys, seed));
                }
            }
            let [leveldb, tuned, with_room, long] = rates.map(|rates| mean(&rates));
            let recommended = pair([leveldb, long], percent);
            text += &row(&[name, &in_a_filter, &recommended, &percent(tuned), &percent(with_room)]);
        }
    }
    text
}

/// The rate of a table's only filter.
fn rate_in_long_ranges(kind: &Kind, num_keys: usize, seed: u64) -> f64 {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    let mut absent = vec![];
    kind.visit(num_keys, seed, |key, is_present| {
        if is_present { builder.add_key(key) } else { absent.push(key.to_vec()) }
    });
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    share(absent.iter().filter(|key| reader.key_may_match(0, key)).count(), absent.len())
}

pub(crate) fn large() -> String {
    let mut text = section(
        "Large filters",
        &format!(
            "If a filter has many keys that are close to random, this table tells what `tuned()` \
             gains, with 10 or 14 bits per key: LevelDB's filters → tuned ones. Each cell is the \
             mean over single filters of {NUM_NEIGHBOURS} successive sizes."
        ),
        &["keys", "10 bits", "14 bits"],
    );
    for num_keys in [52_000, 100_000, 300_000] {
        let sizes: Vec<_> = (num_keys - 4..).take(NUM_NEIGHBOURS).collect();
        let cell = |bits_per_key| {
            let policy = BloomFilterPolicy::new(bits_per_key);
            pair(
                [policy, policy.tuned()].map(|policy| of_random_keys(policy, &sizes)),
                percent_of_few,
            )
        };
        text += &row(&[grouped(num_keys), cell(10), cell(14)]);
    }
    text
}

pub(crate) fn bits_per_key() -> String {
    let mut text = section(
        "Bits per key",
        "To choose bits per key, mind that more bits help counters less than they help random \
         keys. Each cell is the mean over 1,000 single filters of 2,000 to 4,000 keys, as many as \
         most filters in long ranges have: LevelDB's → those of long ranges.",
        &["bits per key", "random", "u64 counters"],
    );
    let draw = |kind, i: usize| Run::draw(kind, 2_000 + i * 7 % 2_001, i as u64);
    let runs =
        [&RANDOM, &COUNTERS].map(|kind| (0..1_000).map(|i| draw(kind, i)).collect::<Vec<_>>());
    for bits_per_key in [8, 10, 12, 14, 16] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let [random, counters] = runs.each_ref().map(|runs| {
            pair([policy, policy.tuned()].map(|policy| mean_rate(runs, policy)), percent_of_few)
        });
        text += &row(&[bits_per_key.to_string(), random, counters]);
    }
    text
}

/// With a digit more, because the rates are low.
fn percent_of_few(rate: f64) -> String {
    format!("{:.3}%", 100.0 * rate)
}

/// The rates of filters with about `num_keys` keys: LevelDB's, and tuned ones.
pub(crate) struct Point {
    pub(crate) num_keys: usize,
    pub(crate) random: [f64; 2],
    pub(crate) counters: [Spread; 2],
}

/// The rates of filters of several sizes.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// The 10th and the 90th percentile.
    pub(crate) ends: [f64; 2],
}

impl Point {
    /// Sizes of up to a seventh less and more, so that the next point's begin where these end.
    pub(crate) fn measure(num_keys: usize) -> Self {
        let least = 6 * NUM_SIZES;
        let size = |i| num_keys * (least + 2 * i + 1) / (7 * NUM_SIZES);
        let mut sizes: Vec<_> = (0..NUM_SIZES).map(size).collect();
        sizes.dedup();
        Self {
            num_keys,
            random: POLICIES.map(|policy| of_random_keys(policy, &sizes)),
            counters: of_counters(&sizes),
        }
    }
}

/// The mean over filters of these sizes.
fn of_random_keys(policy: BloomFilterPolicy, sizes: &[usize]) -> f64 {
    let rate = |&num_keys: &usize| {
        // For a statistical error of half a per cent, and of one with the fewest keys.
        let matches = if num_keys <= 10_000 { 200_000 } else { 60_000 } / sizes.len();
        false_positive_rate(policy, num_keys, Effort { matches, max_lookups: usize::MAX }).mean
    };
    mean(&sizes.iter().map(rate).collect::<Vec<_>>())
}

/// The mean over filters of these runs' keys.
fn mean_rate(runs: &[Run], policy: BloomFilterPolicy) -> f64 {
    mean(&runs.iter().map(|run| run.rate(policy)).collect::<Vec<_>>())
}

/// The spread of the sizes' means over runs of counters of which half are present.
fn of_counters(sizes: &[usize]) -> [Spread; 2] {
    let mut means = [vec![], vec![]];
    for &num_keys in sizes {
        let num_runs = (50_000 / num_keys).max(1) as u64;
        let draw = |i| Run::draw(&COUNTERS, num_keys, (i << 32) + num_keys as u64);
        let runs: Vec<_> = (0..num_runs).map(draw).collect();
        for (means, policy) in means.iter_mut().zip(POLICIES) {
            means.push(mean_rate(&runs, policy));
        }
    }
    means.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        let tenth = rates.len() / 10;
        Spread { mean: mean(&rates), ends: [rates[tenth], rates[rates.len() - 1 - tenth]] }
    })
}

/// The numbers of keys for the points of the figure.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "10 to a million")]
pub(crate) fn of_figure() -> impl Iterator<Item = usize> {
    (POINTS..=6 * POINTS).map(|i| 10f64.powf(f64::from(i) / f64::from(POINTS)).round() as usize)
}

/// `(1 - e^(-kn/m))^k`, the same for every number of keys.
pub(crate) fn textbook() -> f64 {
    let (probes, bits_per_key) = (f64::from(NUM_PROBES), f64::from(BITS_PER_KEY));
    (1.0 - (-probes / bits_per_key).exp()).powf(probes)
}
