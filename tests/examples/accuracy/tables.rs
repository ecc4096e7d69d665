//! Whole tables: LevelDB's filter blocks, and this crate's for LevelDB's ranges and longer ones.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::random::words;
use crate::common::terminal::grouped;
use crate::filter_blocks::{TABLE_LEN, Table, rate_and_len};
use crate::kinds::{
    COUNTERS, DIGITS_16, HEX_DIGITS_16, Kind, MICROSECONDS, NAMES, NINE_BYTES, OBJECT_IDS, RANDOM,
    USER_AND_SEQUENCE, UUIDS,
};
use crate::{NUM_RUNS, POLICIES, POLICY, pair, percent, row, section, table};

const NUM_KEYS: usize = 60_000;

const KINDS: [(&str, Kind); 10] = [
    ("u64 counters", COUNTERS),
    ("u64 user + u64 sequence", USER_AND_SEQUENCE),
    ("ObjectId", OBJECT_IDS),
    ("16 decimal digits", DIGITS_16),
    ("16 hexadecimal digits", HEX_DIGITS_16),
    ("u64 microseconds", MICROSECONDS),
    ("random", RANDOM),
    ("UUID", UUIDS),
    ("`user:N:name`", NAMES),
    ("u64 counter + a byte", NINE_BYTES),
];

/// Of those that LevelDB's filters fail for, the ones of successive numbers.
const SUCCESSIVE: [(&str, Kind); 4] = [KINDS[0], KINDS[1], KINDS[3], KINDS[4]];

const ABOUT: [usize; 3] = [20, 100, 1_000];

/// Means over runs: the share of absent keys that match, and the length of all filter blocks.
type Measured = (f64, usize);

type Builder = FilterBlockBuilder<BloomFilterPolicy>;

/// LevelDB's, and the recommended one.
pub(crate) fn builders() -> [Builder; 2] {
    let [policy, tuned] = POLICIES;
    [FilterBlockBuilder::new(policy), FilterBlockBuilder::with_long_ranges(tuned)]
}

/// What each builder has, with values of each length in `about`.
pub(crate) fn measure<const M: usize, const N: usize>(
    kind: &Kind,
    num_keys: usize,
    builders: &[Builder; M],
    about: [usize; N],
) -> [[Measured; M]; N] {
    measure_keys(|run| kind.sorted(num_keys, run), TABLE_LEN, builders, about)
}

/// The same for keys that a function of the run draws, and tables of at least `table_len` bytes.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub(crate) fn measure_keys<const M: usize, const N: usize>(
    keys: impl Fn(u64) -> Vec<(Vec<u8>, bool)>,
    table_len: u64,
    builders: &[Builder; M],
    about: [usize; N],
) -> [[Measured; M]; N] {
    let mut measured = [[(0.0, 0); M]; N];
    for run in 0..NUM_RUNS {
        let keys = keys(run as u64);
        for (means, about) in measured.iter_mut().zip(about) {
            let value_lens = value_lens(about, run);
            let tables = Table::of_keys(&keys, table_len, |i| value_lens[i]);
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

/// A cell with the rates of two builders.
pub(crate) fn rates(measured: [Measured; 2]) -> String {
    pair(measured.map(|(rate, _)| rate), percent)
}

/// A cell with the lengths of their filter blocks.
pub(crate) fn lens(measured: [Measured; 2]) -> String {
    pair(measured.map(|(_, len)| len), grouped)
}

fn cells(first: &str, figures: impl IntoIterator<Item = String>) -> Vec<String> {
    [first.to_owned()].into_iter().chain(figures).collect()
}

pub(crate) fn real_keys() -> String {
    let mut text = section(
        "Real keys",
        "This table tells what an engine gains. Each cell is the mean over 16 runs of 60,000 keys, \
         first with LevelDB's filters, which are `FilterBlockBuilder::new(new(10))`, and then with \
         those recommended, `with_long_ranges(new(10).tuned())`. Tables have 2 MiB and data blocks \
         have 4 KiB, without compression. Values have random lengths about the given one: \"100 \
         bytes\" stands for 80 to 100 bytes in the first run and 100 to 120 in the last. The last \
         row is the size of a run's filter blocks, for u64 counters.",
        &["keys", "20 bytes", "100 bytes", "1,000 bytes"],
    );
    let [leveldb, long] = builders();
    let all = [
        leveldb,
        long,
        FilterBlockBuilder::new(POLICIES[1]),
        FilterBlockBuilder::with_long_ranges(POLICY),
    ];
    let measured = KINDS.map(|(_, kind)| measure(&kind, NUM_KEYS, &all, ABOUT));
    for ((name, _), measured) in KINDS.iter().zip(measured) {
        text += &row(&cells(name, measured.map(|[leveldb, long, ..]| rates([leveldb, long]))));
    }
    text +=
        &row(&cells("filter bytes", measured[0].map(|[leveldb, long, ..]| lens([leveldb, long]))));
    text += &table(
        "\nThis one tells what each part gains. \"`tuned()`\" is `new(10).tuned()` in LevelDB's ranges, \
         as if plugged into LevelDB or another engine with its ranges, where filters have room for \
         at least 40 keys. \"Long\" is long ranges of `new(10)`, without tuned lengths.",
        &["keys", "`tuned()`, 20", "100", "1,000", "long, 20", "100", "1,000"],
    );
    for ((name, _), measured) in KINDS.iter().zip(measured) {
        let rates = [2, 3].map(|i| measured.map(|builders| percent(builders[i].0)));
        text += &row(&cells(name, rates.into_iter().flatten()));
    }
    let lens = [2, 3].map(|i| measured[0].map(|builders| grouped(builders[i].1)));
    text += &row(&cells("filter bytes", lens.into_iter().flatten()));
    text + &more_room()
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
        "If your database lacks few of the numbers that are looked up, absent numbers often match \
         more, because most of their neighbours are present. Here nine in ten are. All else is as \
         in the first table.",
        &["keys", "100 bytes", "1,000 bytes", "`tuned()`, 100", "1,000"],
    );
    let [leveldb, long] = builders();
    let builders = [leveldb, long, FilterBlockBuilder::new(POLICIES[1])];
    for (name, kind) in SUCCESSIVE {
        let measured = measure(&kind.all_but_one_in(10), NUM_KEYS, &builders, [100, 1_000]);
        let recommended = measured.map(|[leveldb, long, _]| rates([leveldb, long]));
        let tuned = measured.map(|[.., tuned]| percent(tuned.0));
        text += &row(&cells(name, recommended.into_iter().chain(tuned)));
    }
    text
}
