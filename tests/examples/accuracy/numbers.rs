//! Single filters of every number of keys, and the worst of them.

use crate::common::kinds::Run;
use crate::common::numbers_of_keys::{kinds, rates};
use crate::common::terminal::grouped;
use crate::{Outcome, POLICIES, mean, percent, row, section};

const NUM_LOOKUPS: usize = 4_000;

/// How many tables the search for rare bad ones measures, of each kind of counters.
const NUM_TABLES: usize = 200_000;

pub(crate) fn every() -> Outcome {
    let [leveldb, tuned] = POLICIES;
    let policies = [leveldb, tuned.with_min_keys(2_000)];
    section(
        "Every number of keys",
        "If all values have the same length, so have the filters of all tables, and a bad length \
         makes every table bad. So this table measures single filters of every seventh number of \
         keys from 1,000 to 4,000, and of every 83rd up to 30,000. Each filter answers at least \
         4,000 lookups. Long ranges give each filter room for 2,000 keys. \"Above 2%\" counts \
         the numbers of keys with a higher rate, out of 744. \"One in three\" means that numbers \
         grow in steps of three, and one number between each two is looked up. \
         Single tables may be worse, but [such tables are rare](#rare-bad-tables).",
        &["keys", "present", "LevelDB", "above 2%", "worst", "long ranges", "above 2%", "worst"],
    )?;
    for (name, present, kind) in kinds() {
        let rates = rates(&kind, policies, NUM_LOOKUPS);
        let mut cells = vec![name.to_owned(), present.to_owned()];
        for i in 0..policies.len() {
            let rates: Vec<_> = rates.iter().map(|rates| rates[i]).collect();
            let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
            let worst = rates.iter().copied().fold(0.0, f64::max);
            cells.extend([percent(mean(&rates)), num_above.to_string(), percent(worst)]);
        }
        row(&cells)?;
    }
    Ok(())
}

pub(crate) fn rare() -> Outcome {
    section(
        "Rare bad tables",
        &format!(
            "A few tables stay bad even with long ranges, and this search finds some. Each row \
             measures {} tables of 2,000 to 6,000 keys, whose numbers start at random multiples \
             of 65,536. \"1 in 1,000\" means that one table in a thousand has a higher rate. \
             `cargo run --release --example accuracy -- --rare` prints this section in about four \
             minutes.",
            grouped(NUM_TABLES)
        ),
        &["keys", "present", "mean", "above 5%", "above 10%", "worst", "the worst table"],
    )?;
    let policy = POLICIES[1].with_min_keys(2_000);
    let num_keys = |table| 2_000 + table % 4_001;
    for (name, present, kind) in &kinds()[..4] {
        let kind = kind.starting_at_multiples_of(1 << 16);
        let rate = |table| Run::draw(&kind, num_keys(table), table as u64).rate(policy);
        let rates: Vec<_> = (0..NUM_TABLES).map(rate).collect();
        let worst = (0..NUM_TABLES).max_by(|&a, &b| rates[a].total_cmp(&rates[b]));
        let worst = worst.expect("tables");
        let above = |limit| match rates.iter().filter(|&&rate| rate > limit).count() {
            0 => "none".to_owned(),
            above => format!("1 in {}", grouped(NUM_TABLES / above)),
        };
        let first_key = &kind.sorted(1, worst as u64)[0].0;
        let first = first_key.iter().fold(0, |first, &byte| first << 8 | usize::from(byte));
        let [first, len] = [first, num_keys(worst)].map(grouped);
        let [mean, highest] = [mean(&rates), rates[worst]].map(percent);
        let worst = format!("{len} keys from {first}");
        row(&[name, present, &mean[..], &above(0.05), &above(0.1), &highest, &worst])?;
    }
    Ok(())
}
