//! Times building filters and lookups against LevelDB's plain loops, and the filters of memtables.

#[path = "../../tests/common/mod.rs"]
mod common;
mod create;
mod insert;
mod keys;
mod lookup;

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use keys::KeyLen;

const KEY_LENS: [KeyLen; 3] = [KeyLen::Fixed(16), KeyLen::Mixed, KeyLen::Names];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    create::bench(&mut criterion);
    lookup::bench(&mut criterion);
    insert::bench(&mut criterion);
    criterion.final_summary();
}

/// A group with times short enough for the whole run to take a few minutes.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    group
}
