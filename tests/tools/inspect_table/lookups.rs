//! The example's estimates, against lookups replayed key by key.

use super::database;
use crate::common::database::Group;
use crate::common::inspect_table::what_if::{best, proposals};
use crate::common::replay::Replay;
use crate::common::survey::Survey;
use crate::common::survey::lookups::RANDOM;
use crate::common::survey::sample::{BETWEEN, OWN};
use crate::common::survey::settings::Writer;

#[test]
fn proposed_filters_read_as_many_blocks_as_claimed() {
    // Few matches vary by chance.
    let assert_about = |claimed: f64, replayed: f64| {
        assert!((claimed - replayed).abs() < 1.0 + 0.15 * replayed, "{claimed}, not {replayed}");
    };
    for name in ["counters", "in_order", "partly_covered", "levels"] {
        let group = Group::of_directory(&database(name)).unwrap();
        let survey = Survey::of(&group, (1_000_000, true), |_| ());
        let mut replay = Replay::of(&database(name));
        let all = proposals(&survey);
        let usual = all.iter().filter(|one| one.setting.bits_per_key == 10).copied();
        for proposal in best(&survey, &all).into_iter().chain(usual) {
            let (setting, claimed) = (proposal.setting, proposal.candidate);
            if setting.block_size > 0 {
                continue;
            }
            replay.replace_filters(|_| setting);
            assert_eq!(claimed.num_bytes, replay.num_filter_bytes(), "{name}, {setting:?}");
            assert_about(claimed.reads[OWN], replay.reads_of_own_keys());
            if name == "counters" {
                assert_about(claimed.reads[BETWEEN], replay.reads_of_counters_between());
            }
            if setting.writer == Writer::ThisCrate {
                assert_about(claimed.reads[RANDOM], replay.reads_of_longer_keys(20_000));
            }
        }
    }
}
