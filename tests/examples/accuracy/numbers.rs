//! Single filters of every number of keys, and the worst of them.

use crate::common::numbers_of_keys::{kinds, rates};
use crate::{Outcome, POLICIES, percent, row, section};

const NUM_LOOKUPS: usize = 4_000;

pub(crate) fn every() -> Outcome {
    let [leveldb, tuned] = POLICIES;
    let policies = [leveldb, tuned.with_min_keys(2_000)];
    section(
        "Every number of keys",
        "Where all values have one length, so have the filters of all tables. Single filters of \
         every seventh number of keys from 1,000 to 4,000, and every 83rd to 30,000, each asked by \
         4,000 lookups or more: means, how many of the 744 numbers are above 2%, and the worst, of \
         LevelDB's filters and of those of long ranges, which have room for 2,000 keys. One in \
         three: successive numbers in steps of three, and one between each two is looked up.",
        &["keys", "present", "LevelDB", "above 2%", "worst", "long ranges", "above 2%", "worst"],
    )?;
    for (name, present, kind) in kinds() {
        let rates = rates(&kind, policies, NUM_LOOKUPS);
        let mut cells = vec![name.to_owned(), present.to_owned()];
        for i in 0..policies.len() {
            let rates: Vec<_> = rates.iter().map(|rates| rates[i]).collect();
            let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
            let worst = rates.iter().copied().fold(0.0, f64::max);
            cells.extend([percent(crate::mean(&rates)), num_above.to_string(), percent(worst)]);
        }
        row(&cells)?;
    }
    Ok(())
}
