//! Tuned filters of few keys, such as LevelDB's ranges of 2 KiB have.

use leveldb_filter::{BloomFilterPolicy, FilterPolicy};

use crate::common::{create_filter, drawn};

/// Keys of numbers, and limits: the means of LevelDB's and of tuned filters, and the worst tuned
/// filters of 40 keys and more at 10 bits per key and more.
type Kind = (fn(usize) -> Vec<u8>, [f64; 3]);
const KINDS: [Kind; 3] = [
    (|n| (n as u64).to_be_bytes().into(), [0.35, 0.175, 0.35]),
    (|n| format!("{n:016}").into(), [0.07, 0.0375, 0.08]),
    (|n| format!("{n:016x}").into(), [0.09, 0.045, 0.06]),
];

/// A fifth of counters match at most sizes, which is what LevelDB's hash allows.
#[test]
#[expect(clippy::cast_precision_loss, reason = "few lookups")]
fn at_no_size_do_filters_of_few_keys_match_most_absent_keys() {
    for (key, [leveldb_least, most, worst_most]) in KINDS {
        let (mut below, mut rates, mut worst) = (drawn(1), vec![], 0.0_f64);
        for (num_keys, bits) in (3..=400).step_by(5).flat_map(|n| [(n, 6), (n, 10), (n, 16)]) {
            let policies = [BloomFilterPolicy::new(bits), BloomFilterPolicy::new(bits).tuned()];
            let (mut matches, mut num_absent) = ([0.0; 2], 0.0);
            for _ in 0..3_000_usize.div_ceil(num_keys) {
                let (mut present, mut absent, mut numbers) = (vec![], vec![], below(1 << 28)..);
                while present.len() < num_keys {
                    let keys = if below(2) == 0 { &mut present } else { &mut absent };
                    keys.extend(numbers.next().map(key));
                }
                num_absent += absent.len() as f64;
                for (sum, policy) in matches.iter_mut().zip(policies) {
                    let filter = create_filter(policy, &present);
                    let may_match = |key: &&Vec<u8>| policy.key_may_match(key, &filter);
                    *sum += absent.iter().filter(may_match).count() as f64;
                }
            }
            rates.push(matches.map(|matches| matches / num_absent));
            worst = worst.max(matches[1] / num_absent * f64::from(num_keys >= 40 && bits >= 10));
        }
        let mean = |i: usize| rates.iter().map(|rate| rate[i]).sum::<f64>() / rates.len() as f64;
        let line = format!("{:?}: {:.4} {:.4} {worst:.4}", key(1), mean(0), mean(1));
        assert!(mean(0) > leveldb_least && mean(1) < most && worst < worst_most, "{line}");
    }
}
