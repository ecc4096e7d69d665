//! Whole tables: LevelDB's filter blocks, and this crate's for LevelDB's ranges and longer ones.

use std::array;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::filter_blocks::{TABLE_LEN, Table, rate_and_len};
use crate::common::kinds::{
    COUNTERS, DIGITS, IDS, Kind, MICROSECONDS, NAMES, NINE_BYTES, PARTS, RANDOM,
};
use crate::common::terminal::grouped;
use crate::{Outcome, POLICY, percent, row, section};

const NUM_KEYS: usize = 60_000;

pub(crate) const KINDS: [(&str, Kind); 11] = [
    ("u64 counters, big-endian", COUNTERS[0]),
    ("u64 user + u64 sequence", PARTS[0]),
    ("ObjectId", IDS[0]),
    ("16 decimal digits", DIGITS[1]),
    ("16 hexadecimal digits", DIGITS[3]),
    ("8 hexadecimal digits", DIGITS[2]),
    ("u64 microseconds, big-endian", MICROSECONDS[0]),
    ("random", RANDOM[0]),
    ("UUID", RANDOM[1]),
    ("`user:N:name`", NAMES[0]),
    ("a byte + u64 counter", NINE_BYTES),
];

/// Of those that LevelDB's filters fail for, the ones of successive numbers.
pub(crate) const SUCCESSIVE: [(&str, Kind); 4] = [KINDS[0], KINDS[1], KINDS[3], KINDS[4]];

pub(crate) const PRESENT: [(&str, u64); 2] = [("nine in ten", 10), ("forty-nine in fifty", 50)];

const COLUMNS: [&str; 7] = [
    "LevelDB",
    "`tuned()`",
    "plugged in",
    "at least 98",
    "at least 132",
    "longer ranges",
    "recommended",
];

fn builders() -> [FilterBlockBuilder<BloomFilterPolicy>; COLUMNS.len()] {
    let at_least = |len| POLICY.tuned().with_min_filter_len(len);
    let [leveldb, tuned, plugged_in, at_least_98, at_least_132] =
        [POLICY, POLICY.tuned(), at_least(48), at_least(98), at_least(132)]
            .map(FilterBlockBuilder::new);
    let longer = FilterBlockBuilder::with_base_lg(POLICY, 19);
    let recommended = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    [leveldb, tuned, plugged_in, at_least_98, at_least_132, longer, recommended]
}

type Measured = [(f64, usize); COLUMNS.len()];

/// The mean rates and lengths of all filter blocks of so many runs.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn measure(kind: &Kind, value_len: usize, num_runs: usize) -> Measured {
    let (builders, mut means) = (builders(), Measured::default());
    for seed in 0..num_runs {
        let keys = kind.sorted(NUM_KEYS, seed as u64);
        let tables = Table::of_keys(&keys, TABLE_LEN, |_| value_len);
        for (mean, builder) in means.iter_mut().zip(&builders) {
            let (rate, len) = rate_and_len(&tables, builder);
            *mean = (mean.0 + rate / num_runs as f64, mean.1 + len);
        }
    }
    means.map(|(rate, len)| (rate, len / num_runs))
}

fn cells(first: &[&str], figures: impl Iterator<Item = String>) -> Vec<String> {
    first.iter().map(|&cell| cell.to_owned()).chain(figures).collect()
}

pub(crate) fn real_keys() -> Outcome {
    section(
        "Real keys",
        "60,000 keys in tables of 2 MiB with data blocks of 4 KiB, not compressed; means of eight \
         runs. The columns:\n\n\
         - LevelDB: `BloomFilterPolicy::new(10)`, a filter for each 2 KiB of data blocks;\n\
         - `tuned()`: the same ranges with `new(10).tuned()`;\n\
         - plugged in: that policy `.with_min_filter_len(48)`; and with 98 and 132 bytes;\n\
         - longer ranges: `FilterBlockBuilder::with_base_lg(new(10), 19)`, or goleveldb's \
         `FilterBaseLg: 19`;\n\
         - recommended: `FilterBlockBuilder::with_long_ranges(new(10).tuned())`.\n\n\
         \"Filter bytes\" are those of the filter blocks of the kind that has most.",
        &[&["keys", "values"], &COLUMNS[..]].concat(),
    )?;
    for value_len in [20, 100, 500, 1_000] {
        let (values, mut most) = (format!("{} bytes", grouped(value_len)), [0; COLUMNS.len()]);
        for (name, kind) in &KINDS {
            let measured = measure(kind, value_len, 8);
            most = array::from_fn(|i| most[i].max(measured[i].1));
            row(&cells(&[name, &values], measured.iter().map(|(rate, _)| percent(*rate))))?;
        }
        row(&cells(&["filter bytes", &values], most.into_iter().map(grouped)))?;
    }
    Ok(())
}

pub(crate) fn few_absent() -> Outcome {
    section(
        "Where few numbers are absent",
        "The same; an absent number has more present neighbours. Means of 16 runs with nine in ten \
         present, and of 32 with forty-nine in fifty.",
        &[&["keys", "present", "values"], &COLUMNS[..]].concat(),
    )?;
    for (name, kind) in SUCCESSIVE {
        for ((present, one_in), num_runs) in PRESENT.into_iter().zip([16, 32]) {
            for value_len in [100, 500, 1_000] {
                let measured = measure(&kind.all_but_one_in(one_in), value_len, num_runs);
                let first = [name, present, &format!("{} bytes", grouped(value_len))];
                row(&cells(&first, measured.iter().map(|(rate, _)| percent(*rate))))?;
            }
        }
    }
    Ok(())
}
