//! Tables of two kinds of keys, as where an index lies beside the objects that it leads to.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::random::words;
use crate::filter_blocks::{Table, rate_and_len};
use crate::grids::{EVENTS, ITEMS, PATHS};
use crate::kinds::{COUNTERS, DIGITS_12, Kind, UUIDS};

/// Keys of one kind, behind a prefix of 4 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// In a cell, behind the number of keys.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) num_keys: usize,
    /// The mean length of values. Each is up to a fifth shorter or longer.
    pub(crate) value_len: usize,
    /// How many times smaller data blocks become by compression.
    pub(crate) divisor: usize,
}

const fn part(name: &'static str, kind: Kind, num_keys: usize, value_len: usize) -> Part {
    Part { name, kind, num_keys, value_len, divisor: 1 }
}

const OBJECTS: Part = part("× 1,000 bytes", UUIDS, 1_700, 1_000);
const LARGE_OBJECTS: Part = part("× 10,000 bytes", UUIDS, 170, 10_000);
const MANY_COUNTERS: Part = part("counters, 20 bytes", COUNTERS, 60_000, 20);

/// An index without values, and what lies beside it.
pub(crate) const TABLES: [[Part; 2]; 11] = [
    [part("paths", PATHS, 5_000, 0), OBJECTS],
    [part("paths", PATHS, 5_000, 0), LARGE_OBJECTS],
    [part("paths", PATHS, 2_500, 0), MANY_COUNTERS],
    [part("items", ITEMS, 5_000, 0), OBJECTS],
    [part("items", ITEMS, 5_000, 0), LARGE_OBJECTS],
    [part("items", ITEMS, 2_500, 0), MANY_COUNTERS],
    [part("events", EVENTS, 5_000, 0), OBJECTS],
    [part("events", EVENTS, 5_000, 0), LARGE_OBJECTS],
    [part("events", EVENTS, 2_500, 0), MANY_COUNTERS],
    [part("numbers", DIGITS_12, 60_000, 0), part("× 4,000 bytes", DIGITS_12, 16_000, 4_000)],
    [
        Part { divisor: 5, ..part("events, compressed", EVENTS, 60_000, 0) },
        part("× 1,500 bytes", UUIDS, 1_000, 1_500),
    ],
];

/// The means over runs: the rates of both kinds, and the length of the filter block.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub(crate) fn rates_and_len(
    parts: &[Part; 2],
    num_runs: usize,
    builders: &[FilterBlockBuilder<BloomFilterPolicy>; 2],
) -> [([f64; 2], usize); 2] {
    let mut means = [([0.0; 2], 0); 2];
    for run in 0..num_runs {
        let keys = [0, 1].map(|i| parts[i].kind.sorted(parts[i].num_keys, (2 * run + i) as u64));
        for asked in [0, 1] {
            let of_part = |i: usize| {
                let keys = keys[i].iter().filter(move |(_, is_present)| *is_present || i == asked);
                let prefix = [b"key:", b"obj:"][i];
                keys.map(move |(key, is_present)| ([&prefix[..], key].concat(), *is_present))
            };
            let keys: Vec<_> = of_part(0).chain(of_part(1)).collect();
            let value_lens: Vec<_> = parts.iter().flat_map(|part| part.value_lens(run)).collect();
            let stored_len = |num_keys, len| {
                if num_keys <= parts[0].num_keys { len / parts[0].divisor } else { len }
            };
            let tables = Table::compressed(&keys, u64::MAX, |i| value_lens[i], stored_len);
            for (mean, builder) in means.iter_mut().zip(builders) {
                let (rate, len) = rate_and_len(&tables, builder);
                mean.0[asked] += rate / num_runs as f64;
                mean.1 += len;
            }
        }
    }
    means.map(|(rates, len)| (rates, len / 2 / num_runs))
}

impl Part {
    fn value_lens(&self, run: usize) -> impl Iterator<Item = usize> {
        let (least, width) =
            (self.value_len - self.value_len / 5, 2 * (self.value_len / 5) as u64 + 1);
        let draw = move |word| least + usize::try_from(word % width).expect("less than a length");
        words(!(run as u64)).take(self.num_keys).map(draw)
    }
}
