//! What levels gain if a level with fewer keys gets more bits per key.

use std::collections::HashMap;

use leveldb_filter::BloomFilterPolicy;

use crate::common::measure::{Effort, false_positive_rate};
use crate::{POLICY, percent, row, section, times};

/// The policy of a level with this many levels below it, each with ten times the keys.
fn policy(levels_below: u32) -> BloomFilterPolicy {
    BloomFilterPolicy::from_millibits_per_key(9_500 + 4_800 * levels_below.min(5)).tuned()
}

/// Tables, how many of them a lookup consults, and how many levels are below them.
type Level = (usize, u16, u32);

const TABLES: [(&str, &[Level]); 4] = [
    ("1, 10, 100", &[(1, 1, 2), (10, 1, 1), (100, 1, 0)]),
    ("1, 10, 100, 1,000", &[(1, 1, 3), (10, 1, 2), (100, 1, 1), (1_000, 1, 0)]),
    ("4 in level 0, then 10, 100", &[(4, 4, 2), (10, 1, 1), (100, 1, 0)]),
    ("1, 10, 3", &[(1, 1, 2), (10, 1, 1), (3, 1, 0)]),
];

const KEYS_OF_TABLE: usize = 20_000;

pub(crate) fn table() -> String {
    let mut text = section(
        "Levels",
        "If levels differ in size, this table tells what more bits for small levels gain. A lookup \
         consults a table of each level, and all tables of level 0, so the table adds up \
         their rates. It compares LevelDB's filters of 10 bits per key with the policies of [the \
         page](../src/recipes/bits_per_key.md#levels). Each table has one filter of 20,000 random \
         keys. In the last row, the last level has just begun.",
        &["tables", "LevelDB", "page", "times fewer", "bytes over LevelDB's", "bits per key"],
    );
    let mut rates = HashMap::new();
    let mut rate = |policy| *rates.entry(policy).or_insert_with(|| measure(policy));
    for (name, levels) in TABLES {
        let (mut sums, mut bytes, mut bits) = ([0.0; 2], [0; 2], Vec::new());
        for &(num_tables, num_consulted, levels_below) in levels {
            let of_level = policy(levels_below);
            for (i, policy) in [POLICY, of_level].into_iter().enumerate() {
                sums[i] += f64::from(num_consulted) * rate(policy);
                bytes[i] += num_tables * policy.shape(KEYS_OF_TABLE).filter_len();
            }
            let millibits = of_level.millibits_per_key();
            bits.push(format!("{}.{}", millibits / 1_000, millibits % 1_000 / 100));
        }
        let [leveldb, recipe] = sums;
        let figures = [percent(leveldb), percent(recipe), times(leveldb, recipe)];
        let hundredths = (100 * bytes[1] + bytes[0] / 2) / bytes[0];
        let bytes = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        text += &row(&[name, &figures[0], &figures[1], &figures[2], &bytes, &bits.join(", ")]);
    }
    text
}

fn measure(policy: BloomFilterPolicy) -> f64 {
    // Low rates count for little in a sum.
    let effort = Effort { matches: 40_000, max_lookups: 8_000_000 };
    false_positive_rate(policy, KEYS_OF_TABLE, effort).mean
}
