//! Where long ranges have to choose between keys, and where LevelDB's filters match less.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::terminal::grouped;
use crate::grids::{DAYS_OF_YEARS, FOUR_U16, GRIDS, ITEMS};
use crate::kinds::{Kind, NAMES};
use crate::tables::{builders, lens, measure, measure_keys, rates};
use crate::two_kinds::{TABLES, rates_and_len};
use crate::{NUM_RUNS, pair, percent, row, section};

pub(crate) fn two_kinds() -> String {
    let mut text = section(
        "Two kinds of keys in a table",
        "All filters of a table have one range, so where some keys have equal hashes, all filters \
         become shorter, and keys that count up gain less. Each row is a table of a single file. An \
         index without values comes first: paths such as `/a/3/f/9.json`, IndexedDB's `item-000123`, \
         events of an address, a u32, a u16 below 10 and a u16 below 6, or numbers of 12 digits. \
         Beside it are UUIDs with values of the given length, u64 counters, or more of the numbers. \
         Each kind is behind 4 bytes of its own, and a random half is present. \"Compressed\" data \
         blocks take a fifth of their length. The rates are of the index's absent keys and of the \
         others.",
        &["index", "beside", "index", "beside it", "filter bytes"],
    );
    for parts in &TABLES {
        let measured = rates_and_len(parts, NUM_RUNS, &builders());
        let rates = [0, 1].map(|i| pair(measured.map(|(rates, _)| rates[i]), percent));
        let lens = pair(measured.map(|(_, len)| len), grouped);
        let [index, beside] = parts.map(|part| format!("{} {}", grouped(part.num_keys), part.name));
        text += &row(&[&[index, beside], &rates[..], &[lens]].concat());
    }
    text
}

pub(crate) fn unseen() -> String {
    let mut text = section(
        "What long ranges cannot see",
        "The builder sees the present keys only. If keys with equal hashes are stored in runs with \
         gaps, or every second or third of them, no two of the present keys have equal hashes, but \
         those between have the hashes of present keys. So many of these match. \
         [A hash of your own](../src/recipes/own_hashes.md) mends that.",
        &["keys", "stored", "20 bytes", "1,000 bytes"],
    );
    let mut add = |name: &str, stored: &str, kind: Kind, num_keys| {
        let rates = measure(&kind, num_keys, &builders(), [20, 1_000]).map(rates);
        text += &row(&[&[name.to_owned(), stored.to_owned()], &rates[..]].concat());
    };
    let items = ITEMS.starting_at_multiples_of(500).in_runs_of(500);
    add("`20240131`, days", "every other year", DAYS_OF_YEARS.in_runs_of(365), 10 * 365);
    add("IndexedDB's `item-000123`", "500, a gap of 500, …", items, 8_000);
    add("four u16 < 16", "1,950, a gap, 1,950", FOUR_U16.in_runs_of(1_950), 2 * 1_950);
    for (step, stored) in [(2, "every second"), (3, "every third")] {
        for (name, kind, _) in [GRIDS[1], GRIDS[5], GRIDS[8]] {
            add(name, stored, kind.one_in(step), 30_000);
        }
        add("four u16 < 16", stored, FOUR_U16.one_in(step), 20_000);
    }
    text
}

pub(crate) fn more_bits() -> String {
    let mut text = section(
        "Where LevelDB's filters have more bits",
        "LevelDB's filters have at least 64 bits, and count each version of a key. So with large \
         values, several versions of a key, or few bits per key, they have more bits than asked for, \
         and match less. Long ranges have those asked for. Here all of a run's `user:N:name` are in \
         one table.",
        &["bits per key", "values", "versions", "match", "filter bytes"],
    );
    for (bits_per_key, value_len, versions) in [
        (10, 100, 1),
        (10, 3_000, 1),
        (10, 10_000, 1),
        (10, 100, 2),
        (10, 100, 10),
        (8, 1_000, 1),
        (6, 1_000, 1),
        (4, 1_000, 1),
    ] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let builders =
            [FilterBlockBuilder::new(policy), FilterBlockBuilder::with_long_ranges(policy.tuned())];
        let keys = |run| {
            let keys = NAMES.sorted(60_000 / versions, run).into_iter();
            let repeat = |key: (_, bool)| vec![key.clone(); if key.1 { versions } else { 1 }];
            keys.flat_map(repeat).collect()
        };
        let [measured] = measure_keys(keys, u64::MAX, &builders, [value_len]);
        let first = [bits_per_key as usize, value_len, versions].map(grouped);
        text += &row(&[&first[..], &[rates(measured), lens(measured)]].concat());
    }
    text
}
