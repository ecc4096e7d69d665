//! Single filters of counters, and the worst of them.

use crate::common::kinds::{Run, STEPS};
use crate::common::terminal::grouped;
use crate::tables::PRESENT;
use crate::{Outcome, POLICIES, percent, row, section};

const NUM_OF_COUNTERS: usize = 1_000;

/// The rates of LevelDB's and of tuned filters with the same keys, each sorted.
pub(crate) fn rates(runs: impl Iterator<Item = Run>) -> [Vec<f64>; 2] {
    let mut rates = [vec![], vec![]];
    for run in runs {
        for (rates, policy) in rates.iter_mut().zip(POLICIES) {
            rates.push(run.rate(policy));
        }
    }
    rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates
    })
}

/// Filters that match far more absent neighbours than most do.
pub(crate) fn counters() -> Outcome {
    let text = format!(
        "u64, big-endian, 1,000 to 10,000 in a filter, or ten times as many: how many of {} \
         filters match more than 5% of the lookups. In steps of ten, one in ten numbers is \
         present, and one between each two is looked up. With forty-nine in fifty present, 21 to \
         2,040 keys are looked up in each, so that some of those above 5% are chance.",
        grouped(NUM_OF_COUNTERS)
    );
    let columns = ["present", "LevelDB, above 5%", "`tuned()`, above 5%", "`tuned()`, worst"];
    section("Single filters of counters", &text, &columns)?;
    let [half, two, three, ten] = STEPS;
    let [nine_in_ten, most] =
        PRESENT.map(|(present, one_in)| (present, half.all_but_one_in(one_in)));
    for (present, kind) in [
        ("half", half),
        nine_in_ten,
        most,
        ("steps of 2", two),
        ("steps of 3", three),
        ("steps of 10", ten),
    ] {
        let runs = (0..NUM_OF_COUNTERS).map(|i| {
            let num_keys = (1_000 + i * 9_000 / NUM_OF_COUNTERS) * [1, 10][i % 2];
            Run::draw(&kind, num_keys, (1 << 33) + i as u64)
        });
        let [leveldb, tuned] = rates(runs);
        let above = |rates: &[f64]| rates.iter().filter(|&&rate| rate > 0.05).count().to_string();
        let worst = percent(tuned[NUM_OF_COUNTERS - 1]);
        row(&[present, &above(&leveldb), &above(&tuned), &worst])?;
    }
    Ok(())
}
