//! Measured rates of single filters, and the textbook's rate.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{COUNTERS, Run};
use crate::common::measure::{Effort, false_positive_rate};

const BITS_PER_KEY: u8 = 10;
const NUM_PROBES: u8 = 6;
pub(crate) const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(BITS_PER_KEY as usize);

const ROUND_SIZES: [usize; 8] = [30, 100, 1_000, 10_000, 100_000, 300_000, 1_000_000, 10_000_000];
/// How many points the figure has per power of ten.
const POINTS: u32 = 8;

/// A filter's length changes its rate, at single numbers of keys by more than half: means over
/// neighbouring numbers even this out.
pub(crate) const NUM_NEIGHBOURS: u8 = 16;

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
        let mean = |rate: fn(BloomFilterPolicy, usize) -> f64| {
            let [leveldb, tuned] = [POLICY, POLICY.tuned()].map(|policy| {
                let neighbours = (0..NUM_NEIGHBOURS).map(|i| num_keys - 8 + usize::from(i));
                neighbours.map(|n| rate(policy, n)).sum::<f64>() / f64::from(NUM_NEIGHBOURS)
            });
            Pair { leveldb, tuned }
        };
        Self { num_keys, random: mean(of_random_keys), counters: mean(of_counters) }
    }

    /// Whether this is a row of the table, not only a point of the figure.
    pub(crate) fn is_round(&self) -> bool {
        ROUND_SIZES.contains(&self.num_keys)
    }
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

/// The numbers of keys for the rows of the table and the points of the figure.
pub(crate) fn sizes(most_keys: usize, for_figure: bool) -> Vec<usize> {
    let mut sizes = ROUND_SIZES.to_vec();
    if for_figure {
        sizes.extend((POINTS..=7 * POINTS).map(|i| power_of_ten(f64::from(i) / f64::from(POINTS))));
    }
    // Fewer than 16 lack neighbours.
    sizes.retain(|num_keys| (16..=most_keys).contains(num_keys));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "10 to 10 million")]
#[expect(clippy::disallowed_methods, reason = "decides no filter")]
fn power_of_ten(exponent: f64) -> usize {
    10f64.powf(exponent).round() as usize
}

/// `(1 - e^(-kn/m))^k`, the same for every number of keys.
#[expect(clippy::disallowed_methods, reason = "decides no filter")]
pub(crate) fn textbook() -> f64 {
    let (probes, bits_per_key) = (f64::from(NUM_PROBES), f64::from(BITS_PER_KEY));
    (1.0 - (-probes / bits_per_key).exp()).powf(probes)
}
