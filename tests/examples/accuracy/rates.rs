//! What is measured, and what the textbook says of it.

use leveldb_filter::BloomFilterPolicy;

use crate::measure::{Effort, false_positive_rate};

const BITS_PER_KEY: u8 = 10;
const NUM_PROBES: u8 = 6;
pub(crate) const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(BITS_PER_KEY as usize);

const ROUND_SIZES: [usize; 8] =
    [100, 1_000, 10_000, 75_000, 100_000, 300_000, 1_000_000, 10_000_000];
/// How many points the figure has for each power of ten.
const POINTS: u32 = 8;
/// Round sizes between them, some of which LevelDB gives a bad length.
const THOUSANDS: [usize; 20] = [
    25, 30, 40, 50, 60, 75, 90, 120, 150, 200, 250, 300, 350, 400, 450, 500, 600, 750, 1_500, 3_000,
];

/// The rates measured with this number of keys.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) num_keys: usize,
    pub(crate) leveldb: f64,
    pub(crate) tuned: f64,
}

impl Rates {
    pub(crate) fn measure(num_keys: usize) -> Self {
        // A statistical error of 0.5%, and less for few keys, of which tuned filters have only some
        // per cent less.
        let matches = if num_keys <= 10_000 { 400_000 } else { 40_000 };
        let effort = Effort { matches, max_lookups: usize::MAX };
        let rate = |policy| false_positive_rate(policy, num_keys, effort).mean;
        Self { num_keys, leveldb: rate(POLICY), tuned: rate(POLICY.tuned()) }
    }

    /// Whether this is a row of the table, not only a point of the figure.
    pub(crate) fn is_round(&self) -> bool {
        ROUND_SIZES.contains(&self.num_keys)
    }
}

/// The rows of the table, and the points of the figure from 10 keys up.
pub(crate) fn sizes(full: bool, for_figure: bool) -> Vec<usize> {
    let mut sizes = ROUND_SIZES.to_vec();
    if for_figure {
        sizes.extend((POINTS..=7 * POINTS).map(|i| power_of_ten(f64::from(i) / f64::from(POINTS))));
        sizes.extend(THOUSANDS.map(|thousands| thousands * 1_000));
    }
    sizes.retain(|&num_keys| full || num_keys <= 1_000_000);
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
