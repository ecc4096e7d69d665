//! Keys that contain numbers in digits, of which large filters have many with equal hashes.

use leveldb_filter::BloomFilterPolicy;

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::filter_blocks::{Table, rate_and_len};
use crate::kinds::{
    DIGITS_8, DIGITS_16, HALF, HEX_DIGITS_16, Kind, NAMES, Run, TENANTS, TIMES, kind, share,
};
use crate::tables::{self, NUM_KEYS, builders};
use crate::{POLICY, mean, percent, row, section, table};

const DAYS: Kind = kind(HALF, 33_000, |_, n| date(n).into());
const MINUTES: Kind = kind(HALF, 1 << 24, |_, n| {
    format!("{}{:02}{:02}", date(IN_2000 + n / 1_440), n / 60 % 24, n % 60).into()
});
const NUMBERS_OF_DAYS: Kind =
    kind(HALF, 1 << 24, |_, n| format!("{}{:04}", date(IN_2000 + n / 1_000), n % 1_000).into());
const MULTIPLES_OF_5: Kind = kind(HALF, u64::MAX, |_, n| format!("{:016}", 5 * n).into());
const FROM_17: Kind = kind(HALF, 1, |_, n| format!("{}", 1_700_000_000_000_000 + n).into());
const MICROSECONDS: Kind = kind(TIMES, u64::MAX, |_, n| format!("{n}").into());
const UUIDS_OF_COUNTERS: Kind =
    kind(HALF, u64::MAX, |_, n| format!("0190163d-8694-739b-aea5-{n:012x}").into());
const URLS: Kind =
    kind(HALF, 80_000_000, |_, n| format!("example.com/abc/{}", 10_000_000 + n).into());
const PATHS: Kind = kind(HALF, 1, |_, n| format!("/items/{}", 1 + n).into());

/// The names of keys, and how many a filter or a database has at most.
const KINDS: [(&str, Kind, usize); 14] = [
    ("`20240131`, days", DAYS, 20_000),
    ("`202401312359`, minutes", MINUTES, MOST),
    ("`202401310999`, 1,000 a day", NUMBERS_OF_DAYS, MOST),
    ("8 digits", DIGITS_8, MOST),
    ("16 digits", DIGITS_16, MOST),
    ("16 digits, multiples of 5", MULTIPLES_OF_5, MOST),
    ("16 digits from 1700000000000000", FROM_17, MOST),
    ("16 digits, microseconds", MICROSECONDS, MOST),
    ("16 hexadecimal digits", HEX_DIGITS_16, MOST),
    ("UUID text that ends in a counter", UUIDS_OF_COUNTERS, MOST),
    ("`example.com/abc/10000000`", URLS, MOST),
    ("`/items/N` from 1", PATHS, MOST),
    ("`user:N:name`", NAMES, MOST),
    ("u32 tenant + u64 id", TENANTS, MOST),
];
const MOST: usize = 1_000_000;

/// Numbers of keys, and how many filters of them.
const SIZES: [(usize, u64); 5] = [(2_000, 60), (5_000, 40), (20_000, 20), (100_000, 8), (MOST, 4)];

/// A day in 2000, for `date`.
const IN_2000: u64 = 36_500;

/// As `yyyymmdd`, of a day after the first of March 1900, and before that of 2100.
fn date(day: u64) -> String {
    // Years that begin in March end with the leap day.
    let (leap_years, day) = (day / 1_461, day % 1_461);
    let year = (day / 365).min(3);
    let day = day - 365 * year;
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    format!("{}{:02}{day:02}", 1_900 + 4 * leap_years + year + month / 10, (month + 2) % 12 + 1)
}

pub(crate) fn in_large_filters() -> String {
    let sizes = SIZES.map(|(num_keys, _)| format!("{} keys", grouped(num_keys)));
    let sizes = sizes.each_ref().map(String::as_str);
    let mut text = section(
        "Digits in large filters",
        "Many keys that contain a decimal or hexadecimal number stay bad in large filters, such as \
         one for a whole table: dates from 2,000 keys on, multiples of 5 and numbers that begin \
         with a date from 5,000 to 10,000, other decimal numbers from about 40,000, and hexadecimal \
         numbers from about 300,000. LevelDB's hash gives many of these keys the same 32 bits, and \
         no filter can tell such keys apart, so neither more bits per key nor tuned lengths help. \
         Long ranges do, because nearly all of their filters have 2,000 to 4,000 keys. For one \
         filter of more keys, use a 64-bit hash of your own with `HashedBy`.\n\n\
         Each cell is the mean over single `tuned()` filters of so many keys, from 60 of the \
         smallest to 4 of the largest. The last column is the share of absent keys that have the \
         hash of a present key, in the largest filters of the row. Microseconds stay good because \
         few of the numbers are present. Tenants and ids are binary, and each tenant has 1,000 ids.",
        &[&["keys"], &sizes[..], &["equal hashes"]].concat(),
    );
    for (name, kind, most) in KINDS {
        let (mut cells, mut share_of_equal) = (vec![name.to_owned()], 0.0);
        for (num_keys, num_runs) in SIZES {
            if num_keys > most {
                cells.push(String::new());
                continue;
            }
            let measure = |seed| {
                let run = Run::draw(&kind, num_keys, seed << 32 | num_keys as u64);
                (run.rate(POLICY.tuned()), run.share_of_equal_hashes())
            };
            let (rates, shares): (Vec<_>, Vec<_>) = (0..num_runs).map(measure).unzip();
            cells.push(percent(mean(&rates)));
            share_of_equal = mean(&shares);
        }
        text += &row(&[&cells[..], &[percent(share_of_equal)]].concat());
    }
    let random = SIZES.map(|(num_keys, _)| percent(of_random_hashes(POLICY.tuned(), num_keys)));
    let equal = percent(share(MOST, u32::MAX as usize));
    text += &row(&[&["any, with a random hash".to_owned()], &random[..], &[equal]].concat());
    text + &low_rate()
}

fn of_random_hashes(policy: BloomFilterPolicy, num_keys: usize) -> f64 {
    let effort = Effort { matches: 20_000, max_lookups: 20_000_000 };
    false_positive_rate(policy, num_keys, effort).mean
}

/// What keys with equal hashes have where the policy's bits are for a low rate.
fn low_rate() -> String {
    let policy = BloomFilterPolicy::for_false_positive_rate(0.001, MOST).expect("not too low");
    let of_run = |seed| Run::draw(&URLS, MOST, seed).rate(policy);
    let urls = mean(&(0..2).map(of_run).collect::<Vec<_>>());
    let [urls, random] = [urls, of_random_hashes(policy, MOST)].map(percent);
    format!(
        "\n\nLow rates are out of reach for such filters. `for_false_positive_rate(0.001, 1_000_000)` \
         is meant for 0.1%, and has {random} with a random hash. With LevelDB's hash, a million \
         keys such as `example.com/abc/10000000` have {urls}."
    )
}

/// Beside LevelDB's own filters, which are bad for another reason: they have few keys.
pub(crate) fn in_long_ranges() -> String {
    let mut text = table(
        "In whole tables, long ranges are better than LevelDB's own filters for all of these keys \
         but days without values. This table compares them as [above](#real-keys), with values of \
         0 bytes, of about 20 bytes, and of about 100 bytes. There are 60,000 keys, or 10,000 \
         days. Compression acts like smaller values.",
        &[
            "keys",
            "LevelDB, 0 bytes",
            "20 bytes",
            "100 bytes",
            "long ranges, 0 bytes",
            "20 bytes",
            "100 bytes",
        ],
    );
    let [leveldb, .., long_ranges] = builders();
    let builders = [leveldb, long_ranges];
    for (name, kind, most) in KINDS {
        let num_keys = NUM_KEYS.min(most / 2);
        let measured = tables::measure(&kind, num_keys, &builders, [0, 20, 100]);
        let rates = (0..2).flat_map(|i| measured.map(|of_values| percent(of_values[i].0)));
        text += &row(&tables::cells(&[name], rates));
    }
    text + &large_values_first()
}

/// The first 2,000 keys of a table decide how long its ranges are.
fn large_values_first() -> String {
    let keys = MINUTES.sorted(NUM_KEYS, 1);
    let tables = Table::of_keys(&keys, |i| if i < 2_500 { 100 } else { 0 });
    let [leveldb, .., long_ranges] =
        builders().map(|builder| percent(rate_and_len(&tables, &builder).0));
    format!(
        "\n\nLong ranges can be worse where a table begins with large values and goes on with many \
         small ones, because its first 2,000 keys decide how far each filter reaches. If 2,500 \
         values of 100 bytes come first and empty values follow, {long_ranges} of minutes match, \
         and {leveldb} with LevelDB's own filters."
    )
}
