//! Keys of which many have equal hashes: with numbers in digits, and grids of small integers.

use std::array;

use leveldb_filter::BloomFilterPolicy;

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::grids::{GRIDS, IN_2000, date};
use crate::kinds::{
    DIGITS_8, DIGITS_16, HALF, HEX_DIGITS_16, Kind, NAMES, Run, TENANTS, kind, share,
};
use crate::tables::{builders, lens, measure, rates};
use crate::{POLICY, mean, percent, row, section};

const MINUTES: Kind = kind(HALF, 1 << 24, |_, n| {
    format!("{}{:02}{:02}", date(IN_2000 + n / 1_440), n / 60 % 24, n % 60).into()
});
const NUMBERS_OF_DAYS: Kind =
    kind(HALF, 1 << 24, |_, n| format!("{}{:04}", date(IN_2000 + n / 1_000), n % 1_000).into());
const MULTIPLES_OF_5: Kind = kind(HALF, u64::MAX, |_, n| format!("{:016}", 5 * n).into());
const FROM_17: Kind = kind(HALF, 1, |_, n| format!("{}", 1_700_000_000_000_000 + n).into());
const UUIDS_OF_COUNTERS: Kind =
    kind(HALF, u64::MAX, |_, n| format!("0190163d-8694-739b-aea5-{n:012x}").into());
const URLS: Kind =
    kind(HALF, 80_000_000, |_, n| format!("example.com/abc/{}", 10_000_000 + n).into());
const PATHS: Kind = kind(HALF, 1, |_, n| format!("/items/{}", 1 + n).into());

/// The names of keys, and how many a filter has at most.
const KINDS: [(&str, Kind, usize); 16] = [
    ("`202401312359`, minutes", MINUTES, MOST),
    ("`202401310999`, 1,000 a day", NUMBERS_OF_DAYS, MOST),
    ("UUID text that ends in a counter", UUIDS_OF_COUNTERS, MOST),
    ("`example.com/abc/10000000`", URLS, MOST),
    ("`/items/N` from 1", PATHS, MOST),
    ("8 digits", DIGITS_8, MOST),
    ("16 digits", DIGITS_16, MOST),
    ("16 digits, multiples of 5", MULTIPLES_OF_5, MOST),
    ("16 digits from 1700000000000000", FROM_17, MOST),
    ("16 hexadecimal digits", HEX_DIGITS_16, MOST),
    ("`user:N:name`", NAMES, MOST),
    ("u32 tenant + u64 id", TENANTS, MOST),
    (GRIDS[11].0, GRIDS[11].1, 20_000),
    (GRIDS[7].0, GRIDS[7].1, MOST),
    (GRIDS[1].0, GRIDS[1].1, MOST),
    (GRIDS[3].0, GRIDS[3].1, MOST),
];
const MOST: usize = 1_000_000;

/// Numbers of keys, and how many filters of them.
const SIZES: [(usize, u64); 5] = [(500, 100), (2_000, 60), (20_000, 20), (100_000, 8), (MOST, 4)];

/// Beside LevelDB's own filters, which are bad for another reason: they have few keys.
pub(crate) fn in_tables() -> String {
    let mut text = section(
        "Keys with equal hashes",
        "LevelDB's hash gives some keys the same 32 bits, which no filter can tell apart: keys in \
         which one byte counts slowly and two bytes of the next group of four form a grid. Long \
         ranges notice them if they are present, and become shorter, in more bytes than for other \
         keys. A random half or nine in ten of the keys are present. The last columns have the \
         bytes, with half present.",
        &[
            "keys",
            "half, 20 bytes",
            "half, 1,000",
            "nine in ten, 20",
            "nine in ten, 1,000",
            "bytes, 20",
            "bytes, 1,000",
        ],
    );
    for (name, kind, most) in GRIDS.into_iter().chain(KINDS.into_iter().take(2)) {
        let [half, nine_in_ten] = [kind, kind.all_but_one_in(10)]
            .map(|kind| measure(&kind, most.min(60_000), &builders(), [20, 1_000]));
        let cells = [half.map(rates), nine_in_ten.map(rates), half.map(lens)];
        text += &row(&[&[name.to_owned()], cells.as_flattened()].concat());
    }
    text
}

pub(crate) fn in_large_filters() -> String {
    let sizes = SIZES.map(|(num_keys, _)| format!("{} keys", grouped(num_keys)));
    let sizes = sizes.each_ref().map(String::as_str);
    let mut text = section(
        "Equal hashes in large filters",
        "One filter of many keys, such as one for a whole table, cannot become shorter, so decide \
         by this table whether your keys need a hash of your own: neither more bits per key nor \
         tuned lengths help. Each cell is the mean over single `tuned()` filters, from 100 of the \
         smallest to 4 of the largest. The last column is the share of absent keys that have the \
         hash of a present key, in the largest filters of the row.",
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
    let urls = mean(&array::from_fn::<_, 2, _>(|seed| of_run(seed as u64)));
    let [urls, random] = [urls, of_random_hashes(policy, MOST)].map(percent);
    format!(
        "\n\nLow rates are out of reach for such filters. `for_false_positive_rate(0.001, 1_000_000)` \
         is meant for 0.1%, and has {random} with a random hash. With LevelDB's hash, a million \
         keys such as `example.com/abc/10000000` have {urls}."
    )
}
