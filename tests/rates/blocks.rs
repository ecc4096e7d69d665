//! Divides a budget between levels whose tables have filter blocks with one filter per 512 KiB.

#![expect(clippy::cast_precision_loss, reason = "53 bits are enough for a rate")]

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, SortedRun};

use super::runs::LEVELDB;
use crate::common::measure::{Effort, false_positive_rate};
use crate::common::random::words;

const BASE_LG: u8 = 19;

struct Level {
    num_tables: usize,
    /// The length of a table's data blocks.
    len: usize,
    value_len: usize,
}

const fn level(num_tables: usize, len: usize, value_len: usize) -> Level {
    Level { num_tables, len, value_len }
}

const MIB: usize = 1 << 20;

/// Levels, and how many times fewer false positives they have than tuned filters of equal bits.
const LAYOUTS: [(&[Level], f64); 3] = [
    (&[level(1, 2 * MIB, 100), level(4, 2 * MIB, 100), level(16, 2 * MIB, 100)], 1.45),
    // Two runs in level 0, and tables with short last ranges.
    (&[level(1, MIB, 50), level(1, MIB, 50), level(3, 9 << 18, 50), level(9, 9 << 18, 50)], 1.65),
    (&[level(1, 300_000, 20), level(2, 5 * MIB, 20), level(20, 5 * MIB / 2, 20)], 1.7),
];

impl Level {
    fn keys_per_block(&self) -> usize {
        4096 / (8 + self.value_len) + 1
    }

    /// The offsets of a table's data blocks.
    fn offsets(&self) -> impl Iterator<Item = u64> + Clone {
        let block_len = self.keys_per_block() * (8 + self.value_len);
        (0..self.len).step_by(block_len).map(|offset| offset as u64)
    }

    /// The run as documented: each table has as many filters as ranges, and each filter the mean
    /// number of keys.
    fn run(&self) -> SortedRun {
        let num_keys = self.num_tables * self.offsets().count() * self.keys_per_block();
        let num_filters = self.num_tables * self.len.div_ceil(1 << BASE_LG);
        SortedRun::new(num_filters, num_keys / num_filters)
    }

    /// The bytes of all filters, and their false-positive rate.
    fn measure(&self, policy: BloomFilterPolicy) -> (usize, f64) {
        let mut keys = words(1).map(u64::to_le_bytes);
        let (mut filter_bytes, mut num_matches, mut num_lookups) = (0, 0, 0);
        for _ in 0..self.num_tables {
            let mut builder = FilterBlockBuilder::new(policy).with_base_lg(BASE_LG);
            for offset in self.offsets() {
                builder.start_block(offset);
                keys.by_ref().take(self.keys_per_block()).for_each(|key| builder.add_key(&key));
            }
            let block = builder.finish();
            let reader = FilterBlockReader::new(policy, &block);
            filter_bytes += block.len() - 4 * reader.num_filters() - 5;
            let lookups = self.offsets().cycle().zip(&mut keys);
            for (offset, key) in lookups.take(300_000 / self.num_tables) {
                num_matches += usize::from(reader.key_may_match(offset, &key));
                num_lookups += 1;
            }
        }
        (filter_bytes, num_matches as f64 / f64::from(num_lookups))
    }
}

#[test]
fn blocks_have_the_bytes_and_the_rates_of_whole_filters_of_the_mean_size() {
    for (levels, times) in LAYOUTS {
        let runs: Vec<_> = levels.iter().map(Level::run).collect();
        let len = |run: &SortedRun| LEVELDB.shape(run.keys_per_filter).filter_len();
        let budget: usize = runs.iter().map(|run| run.num_filters * len(run)).sum();
        let policies = BloomFilterPolicy::for_runs(budget, &runs);

        let (mut filter_bytes, mut rate, mut of_whole, mut of_equal) = (0, 0.0, 0.0, 0.0);
        for ((level, run), policy) in levels.iter().zip(&runs).zip(policies) {
            let policy = policy.expect("10 bits per key are enough for filters");
            let measured = level.measure(policy);
            filter_bytes += measured.0;
            rate += measured.1;
            let effort = Effort { matches: 4000, max_lookups: 400_000 };
            of_whole += false_positive_rate(policy, run.keys_per_filter, effort).mean;
            of_equal += level.measure(LEVELDB.tuned()).1;
        }
        let bytes = filter_bytes as f64 / budget as f64;
        let what = format!("{runs:?}: {bytes} of the bytes, {rate}, {of_whole}, {of_equal}");
        assert!((0.997..=1.003).contains(&bytes), "{what}");
        assert!((0.95..=1.05).contains(&(rate / of_whole)), "{what}");
        assert!(of_equal / rate >= times, "{what}");
    }
}
