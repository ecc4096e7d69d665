//! Whole tables: LevelDB's filter blocks, and this crate's for LevelDB's ranges and longer ones.

use std::array;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::random::words;
use crate::common::terminal::grouped;
use crate::filter_blocks::{Table, rate_and_len};
use crate::grids::GRIDS;
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_8, HEX_DIGITS_16, Kind, MICROSECONDS, NAMES, NINE_BYTES,
    OBJECT_IDS, RANDOM, USER_AND_SEQUENCE, UUIDS,
};
use crate::{POLICIES, POLICY, percent, row, section, table};

const NUM_KEYS: usize = 60_000;
const NUM_RUNS: usize = 16;

const KINDS: [(&str, Kind); 11] = [
    ("u64 counters, big-endian", COUNTERS),
    ("u64 user + u64 sequence", USER_AND_SEQUENCE),
    ("ObjectId", OBJECT_IDS),
    ("16 decimal digits", DIGITS_16),
    ("16 hexadecimal digits", HEX_DIGITS_16),
    ("8 hexadecimal digits", HEX_DIGITS_8),
    ("u64 microseconds, big-endian", MICROSECONDS),
    ("random", RANDOM),
    ("UUID", UUIDS),
    ("`user:N:name`", NAMES),
    ("u64 counter + a byte", NINE_BYTES),
];

/// Of those that LevelDB's filters fail for, the ones of successive numbers.
const SUCCESSIVE: [(&str, Kind); 4] = [KINDS[0], KINDS[1], KINDS[3], KINDS[4]];

const COLUMNS: [&str; 4] = ["LevelDB", "`tuned()`", "long ranges, `new`", "long ranges"];

type Builder = FilterBlockBuilder<BloomFilterPolicy>;

fn columns() -> [Builder; COLUMNS.len()] {
    let [leveldb, tuned] = POLICIES.map(FilterBlockBuilder::new);
    let [not_tuned, long_ranges] = POLICIES.map(FilterBlockBuilder::with_long_ranges);
    [leveldb, tuned, not_tuned, long_ranges]
}

/// LevelDB's, and the recommended one.
pub(crate) fn builders() -> [Builder; 2] {
    let [leveldb, .., long_ranges] = columns();
    [leveldb, long_ranges]
}

/// The mean rates and lengths of all filter blocks of a run, with values of each length in `about`.
pub(crate) fn measure_about<const M: usize, const N: usize>(
    kind: &Kind,
    num_keys: usize,
    builders: &[Builder; M],
    about: [usize; N],
) -> [[(f64, usize); M]; N] {
    measure(kind, num_keys, builders, &about.map(|about| move |run| value_lens(about, run)))
}

/// The same for values whose lengths a function of the run tells.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn measure<const M: usize, const N: usize>(
    kind: &Kind,
    num_keys: usize,
    builders: &[Builder; M],
    value_lens: &[impl Fn(usize) -> Vec<usize>; N],
) -> [[(f64, usize); M]; N] {
    let mut measured = [[(0.0, 0); M]; N];
    for run in 0..NUM_RUNS {
        let keys = kind.sorted(num_keys, run as u64);
        for (means, value_lens) in measured.iter_mut().zip(value_lens) {
            let value_lens = value_lens(run);
            let tables = Table::of_keys(&keys, |i| value_lens[i]);
            for (mean, builder) in means.iter_mut().zip(builders) {
                let (rate, len) = rate_and_len(&tables, builder);
                *mean = (mean.0 + rate / NUM_RUNS as f64, mean.1 + len);
            }
        }
    }
    measured.map(|means| means.map(|(rate, len)| (rate, len / NUM_RUNS)))
}

/// Random lengths, up to a fifth less and a fifth more than `about`: the lower half of these in the
/// first run, and the upper half in the last.
fn value_lens(about: usize, run: usize) -> Vec<usize> {
    let width = about / 5 + 1;
    let least = about - about / 5 + (2 * run + 1) * width / (2 * NUM_RUNS);
    let draw = |word| least + usize::try_from(word % width as u64).expect("less than a length");
    // Other random numbers than those that the keys are made of.
    words(!(run as u64)).take(NUM_KEYS).map(draw).collect()
}

/// A cell for LevelDB's filters and for long ranges.
pub(crate) fn pair(leveldb: &str, long_ranges: &str) -> String {
    format!("{leveldb} / {long_ranges}")
}

fn cells(first: &[&str], figures: impl Iterator<Item = String>) -> Vec<String> {
    first.iter().map(|&cell| cell.to_owned()).chain(figures).collect()
}

pub(crate) fn real_keys() -> String {
    let mut text = section(
        "Real keys",
        "This table tells what an engine gains. Each row is the mean over 16 runs of 60,000 keys. \
         Tables have 2 MiB and data blocks have 4 KiB, without compression. Values have random \
         lengths about the given one: \"100\" stands for 80 to 100 bytes in the first run and 100 \
         to 120 in the last. The columns compare these filters:\n\n\
         - LevelDB uses `BloomFilterPolicy::new(10)`, with one filter per 2 KiB of data blocks.\n\
         - `tuned()` uses `new(10).tuned()` with the same ranges, as if plugged into LevelDB or \
         another engine with its ranges. Its filters have room for at least 40 keys.\n\
         - \"long ranges, `new`\" is `FilterBlockBuilder::with_long_ranges(new(10))`, which shows \
         what long ranges gain without tuned lengths.\n\
         - \"long ranges\" is `FilterBlockBuilder::with_long_ranges(new(10).tuned())`, which is \
         recommended for engines.\n\n\
         The rows \"filter bytes\" give the size of a run's filter blocks, for u64 counters.",
        &[&["keys", "values"], &COLUMNS[..]].concat(),
    );
    let about = [20, 100, 1_000];
    let measured = KINDS.map(|(_, kind)| measure_about(&kind, NUM_KEYS, &columns(), about));
    for (i, about) in about.into_iter().enumerate() {
        let values = grouped(about);
        for ((name, _), measured) in KINDS.iter().zip(&measured) {
            let rates = measured[i].iter().map(|(rate, _)| percent(*rate));
            text += &row(&cells(&[name, &values], rates));
        }
        let lens = measured[0][i].iter().map(|(_, len)| grouped(*len));
        text += &row(&cells(&["filter bytes", &values], lens));
    }
    text + &more_room() + &values_of_one_length()
}

/// What more room gains and costs a policy that is plugged in.
fn more_room() -> String {
    let policy = |num_keys| FilterBlockBuilder::new(POLICY.tuned().with_min_keys(num_keys));
    let [measured] = measure_about(&COUNTERS, NUM_KEYS, &[0, 100, 200].map(policy), [100]);
    let [alone, with_100, with_200] =
        measured.map(|(rate, len)| format!("{} in {} bytes", percent(rate), grouped(len)));
    format!(
        "\n\nMore room helps where `tuned()` is plugged in, and takes more bytes. With values of \
         about 100 bytes, u64 counters have {alone} with `tuned()` alone, {with_100} with \
         `with_min_keys(100)`, and {with_200} with 200."
    )
}

/// Where all filters have the same length, or one of two.
fn values_of_one_length() -> String {
    const LENS: [usize; 6] = [0, 10, 20, 24, 96, 100];
    let columns = LENS.map(|len| format!("{len} bytes"));
    let mut text = table(
        "If all values have one length, so have all filters, and a single length can be far better \
         or worse than the mean. Each cell has the rates of LevelDB's filters and of long ranges:",
        &[&["keys"], &columns.each_ref().map(String::as_str)[..]].concat(),
    );
    for (name, kind, num_keys) in [
        ("u64 counters, big-endian", COUNTERS, NUM_KEYS),
        ("16 decimal digits", DIGITS_16, NUM_KEYS),
        GRIDS[1],
        GRIDS[7],
        GRIDS[11],
    ] {
        let lens = LENS.map(|len| move |_| vec![len; NUM_KEYS]);
        let rates = measure(&kind, num_keys, &builders(), &lens);
        let rates = rates.map(|[leveldb, long]| pair(&percent(leveldb.0), &percent(long.0)));
        text += &row(&cells(&[name], rates.into_iter()));
    }
    "\n".to_owned() + &text
}

pub(crate) fn few_absent() -> String {
    let mut text = section(
        "Where few numbers are absent",
        "If your database lacks few of the numbers that are looked up, absent numbers often match \
         more, because most of their neighbours are present. Here nine in ten are. All else is as \
         in the first table.",
        &[&["keys", "values"], &COLUMNS[..]].concat(),
    );
    let about = [100, 1_000];
    for (name, kind) in SUCCESSIVE {
        let measured = measure_about(&kind.all_but_one_in(10), NUM_KEYS, &columns(), about);
        for (about, measured) in about.into_iter().zip(measured) {
            let rates: [_; COLUMNS.len()] = array::from_fn(|i| percent(measured[i].0));
            text += &row(&cells(&[name, &grouped(about)], rates.into_iter()));
        }
    }
    text
}
