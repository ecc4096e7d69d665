//! Whole tables: LevelDB's filter blocks, and this crate's for LevelDB's ranges and longer ones.

use std::array;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::random::words;
use crate::common::terminal::grouped;
use crate::filter_blocks::{Table, rate_and_len};
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_8, HEX_DIGITS_16, Kind, MICROSECONDS, NAMES, NINE_BYTES,
    OBJECT_IDS, RANDOM, USER_AND_SEQUENCE, UUIDS,
};
use crate::{POLICIES, POLICY, percent, row, section};

pub(crate) const NUM_KEYS: usize = 60_000;
const NUM_RUNS: usize = 16;

pub(crate) const KINDS: [(&str, Kind); 11] = [
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

const PRESENT: [(&str, u64); 2] = [("nine in ten", 10), ("forty-nine in fifty", 50)];

const COLUMNS: [&str; 4] = ["LevelDB", "`tuned()`", "`FilterBaseLg: 21`", "long ranges"];

type Builder = FilterBlockBuilder<BloomFilterPolicy>;

pub(crate) fn builders() -> [Builder; COLUMNS.len()] {
    let [leveldb, tuned] = POLICIES.map(FilterBlockBuilder::new);
    let base_lg = FilterBlockBuilder::with_base_lg(POLICY, 21);
    let recommended = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    [leveldb, tuned, base_lg, recommended]
}

/// The mean rates and lengths of all filter blocks of a run, with values of each length in `about`.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub(crate) fn measure<const M: usize, const N: usize>(
    kind: &Kind,
    num_keys: usize,
    builders: &[Builder; M],
    about: [usize; N],
) -> [[(f64, usize); M]; N] {
    let mut measured = [[(0.0, 0); M]; N];
    for run in 0..NUM_RUNS {
        let keys = kind.sorted(num_keys, run as u64);
        for (means, about) in measured.iter_mut().zip(about) {
            let value_lens = value_lens(about, run);
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

pub(crate) fn cells(first: &[&str], figures: impl Iterator<Item = String>) -> Vec<String> {
    first.iter().map(|&cell| cell.to_owned()).chain(figures).collect()
}

fn name_values(about: usize) -> String {
    format!("about {} bytes", grouped(about))
}

pub(crate) fn real_keys() -> String {
    let mut text = section(
        "Real keys",
        "Each row is the mean over 16 runs of 60,000 keys. Tables have 2 MiB and data blocks have \
         4 KiB, without compression. \"About 100 bytes\" means random lengths, 80 to 100 bytes in \
         the first run and 100 to 120 in the last. One key more or fewer can make LevelDB's \
         filters far better or worse. The columns compare these filters:\n\n\
         - LevelDB uses `BloomFilterPolicy::new(10)`, with one filter per 2 KiB of data blocks.\n\
         - `tuned()` uses `new(10).tuned()` with the same ranges, as if plugged into LevelDB or \
         another engine with its ranges. Its filters have room for at least 40 keys.\n\
         - `FilterBaseLg: 21` is an option of goleveldb, which gives each table one filter. This \
         crate builds the same bytes with `FilterBlockBuilder::with_base_lg(new(10), 21)`.\n\
         - Long ranges are recommended for engines. \
         `FilterBlockBuilder::with_long_ranges(new(10).tuned())` builds a filter for as much of a \
         table as 2,000 keys need.\n\n\
         The rows \"filter bytes\" give the size of a run's filter blocks, for the kind of keys \
         that takes most.",
        &[&["keys", "values"], &COLUMNS[..]].concat(),
    );
    let about = [20, 100, 500, 1_000];
    let measured = KINDS.map(|(_, kind)| measure(&kind, NUM_KEYS, &builders(), about));
    for (i, about) in about.into_iter().enumerate() {
        let (values, mut most) = (name_values(about), [0; COLUMNS.len()]);
        for ((name, _), measured) in KINDS.iter().zip(&measured) {
            most = array::from_fn(|column| most[column].max(measured[i][column].1));
            text +=
                &row(&cells(&[name, &values], measured[i].iter().map(|(rate, _)| percent(*rate))));
        }
        text += &row(&cells(&["filter bytes", &values], most.into_iter().map(grouped)));
    }
    text + &values_of_one_length() + &more_room()
}

/// Where all filters of LevelDB have the same length, or one of two.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn values_of_one_length() -> String {
    let builder = FilterBlockBuilder::new(POLICY);
    let rate = |value_len| {
        let of_run = |run| {
            let keys = COUNTERS.sorted(NUM_KEYS, run as u64);
            rate_and_len(&Table::of_keys(&keys, |_| value_len), &builder).0
        };
        percent((0..NUM_RUNS).map(of_run).sum::<f64>() / NUM_RUNS as f64)
    };
    let [with_96, with_100, with_104, with_112] = [96, 100, 104, 112].map(rate);
    format!(
        "\n\nWith values of one length, LevelDB's filters of u64 counters can be better or worse. \
         They have {with_96} if all values have 96 bytes, {with_100} with 100 bytes, {with_104} \
         with 104, and {with_112} with 112."
    )
}

/// What more room gains and costs a policy that is plugged in.
fn more_room() -> String {
    let policy = |num_keys| FilterBlockBuilder::new(POLICY.tuned().with_min_keys(num_keys));
    let [measured] = measure(&COUNTERS, NUM_KEYS, &[0, 100, 200].map(policy), [100]);
    let [alone, with_100, with_200] =
        measured.map(|(rate, len)| format!("{} in {} bytes", percent(rate), grouped(len)));
    format!(
        "\n\nMore room helps where `tuned()` is plugged in, and takes more bytes. With values of \
         about 100 bytes, u64 counters have {alone} with `tuned()` alone, {with_100} with \
         `with_min_keys(100)`, and {with_200} with 200."
    )
}

pub(crate) fn few_absent() -> String {
    let mut text = section(
        "Where few numbers are absent",
        "Absent numbers often match more if most of their neighbours are present. All else is as \
         in the table above.",
        &[&["keys", "present", "values"], &COLUMNS[..]].concat(),
    );
    let about = [100, 500, 1_000];
    for (name, kind) in SUCCESSIVE {
        for (present, one_in) in PRESENT {
            let measured = measure(&kind.all_but_one_in(one_in), NUM_KEYS, &builders(), about);
            for (about, measured) in about.into_iter().zip(measured) {
                let first = [name, present, &name_values(about)];
                text += &row(&cells(&first, measured.iter().map(|(rate, _)| percent(*rate))));
            }
        }
    }
    text
}
