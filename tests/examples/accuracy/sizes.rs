//! Rates by numbers of keys: of few keys, of many random ones, and the points of the figure.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{COUNTERS, Run};
use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::tables::KINDS;
use crate::{Outcome, POLICY, percent, row, section, times};

const BITS_PER_KEY: u8 = 10;
const NUM_PROBES: u8 = 6;

/// How many points the figure has per power of ten, from 10 to a million.
const POINTS: u32 = 8;

/// A filter's length changes its rate, at single numbers of keys by more than half: means over
/// neighbouring numbers even this out.
const NUM_NEIGHBOURS: u8 = 16;

pub(crate) fn few_keys() -> Outcome {
    section(
        "Few keys",
        "Single filters; means over all numbers of keys, 200 runs of each. \"Plugged in\" has at \
         least 48 bytes.",
        &["keys", "in a filter", "LevelDB", "`tuned()`", "plugged in"],
    )?;
    let policies = [POLICY, POLICY.tuned(), POLICY.tuned().with_min_filter_len(48)];
    for numbers in [2..=15, 16..=100] {
        let in_a_filter = format!("{} to {}", numbers.start(), numbers.end());
        for (name, kind) in &KINDS {
            let (mut sums, mut num_runs) = ([0.0; 3], 0.0);
            for num_keys in numbers.clone() {
                for seed in 0..200 {
                    let run = Run::draw(kind, num_keys, seed << 32 | num_keys as u64);
                    for (sum, policy) in sums.iter_mut().zip(policies) {
                        *sum += run.rate(policy);
                    }
                    num_runs += 1.0;
                }
            }
            let [leveldb, tuned, plugged_in] = sums.map(|sum| percent(sum / num_runs));
            row(&[name, &in_a_filter[..], &leveldb, &tuned, &plugged_in])?;
        }
    }
    Ok(())
}

pub(crate) fn large() -> Outcome {
    section(
        "Large filters",
        &format!("Random keys in single filters; means over {NUM_NEIGHBOURS} successive sizes."),
        &["keys", "bits per key", "LevelDB", "`tuned()`", "times fewer"],
    )?;
    let thousands = [52, 100, 200, 300, 600];
    for num_keys in thousands.map(|thousand| 1_000 * thousand) {
        for bits_per_key in [8, 10, 14] {
            let Pair { leveldb, tuned } =
                means(BloomFilterPolicy::new(bits_per_key), num_keys, of_random_keys);
            let rates = [leveldb, tuned].map(|rate| format!("{:.3}%", 100.0 * rate));
            let [num_keys, bits_per_key] = [num_keys, bits_per_key].map(grouped);
            row(&[&num_keys, &bits_per_key, &rates[0], &rates[1], &times(leveldb, tuned)])?;
        }
    }
    Ok(())
}

/// The mean rates of filters with about `num_keys` keys.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) num_keys: usize,
    pub(crate) random: Pair,
    pub(crate) counters: Pair,
}

/// The rates of filters with the same keys.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) leveldb: f64,
    pub(crate) tuned: f64,
}

impl Rates {
    pub(crate) fn measure(num_keys: usize) -> Self {
        let mean = |rate| means(POLICY, num_keys, rate);
        Self { num_keys, random: mean(of_random_keys), counters: mean(of_counters) }
    }
}

fn means(
    policy: BloomFilterPolicy,
    num_keys: usize,
    rate: fn(BloomFilterPolicy, usize) -> f64,
) -> Pair {
    let [leveldb, tuned] = [policy, policy.tuned()].map(|policy| {
        let neighbours = (0..NUM_NEIGHBOURS).map(|i| num_keys - 8 + usize::from(i));
        neighbours.map(|n| rate(policy, n)).sum::<f64>() / f64::from(NUM_NEIGHBOURS)
    });
    Pair { leveldb, tuned }
}

fn of_random_keys(policy: BloomFilterPolicy, num_keys: usize) -> f64 {
    // With all neighbours, the statistical error is 0.5%; less for few keys, where tuned filters
    // differ from LevelDB's by only a few per cent.
    let matches = if num_keys <= 10_000 { 25_000 } else { 2_500 };
    false_positive_rate(policy, num_keys, Effort { matches, max_lookups: usize::MAX }).mean
}

/// The mean over runs of counters that start at random numbers and of which half are present.
fn of_counters(policy: BloomFilterPolicy, num_keys: usize) -> f64 {
    let num_runs = u32::try_from((200_000 / num_keys).max(1)).expect("few");
    let runs = (0..num_runs)
        .map(|i| Run::draw(&COUNTERS[0], num_keys, (u64::from(i) << 32) + num_keys as u64));
    runs.map(|run| run.rate(policy)).sum::<f64>() / f64::from(num_runs)
}

/// The numbers of keys for the points of the figure; fewer than 16 lack neighbours.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 to a million")]
#[expect(clippy::disallowed_methods, reason = "decides no filter")]
pub(crate) fn of_figure() -> Vec<usize> {
    let points = POINTS..=6 * POINTS;
    let sizes = points.map(|i| 10f64.powf(f64::from(i) / f64::from(POINTS)).round() as usize);
    sizes.filter(|&size| size >= 16).collect()
}

/// `(1 - e^(-kn/m))^k`, the same for every number of keys.
#[expect(clippy::disallowed_methods, reason = "decides no filter")]
pub(crate) fn textbook() -> f64 {
    let (probes, bits_per_key) = (f64::from(NUM_PROBES), f64::from(BITS_PER_KEY));
    (1.0 - (-probes / bits_per_key).exp()).powf(probes)
}
