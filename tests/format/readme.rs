//! What README says can be copied.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

/// Each expression, once it has compiled, as it is written.
macro_rules! compiled {
    ($($code:expr),*) => { [$({ let _ = $code; stringify!($code) }),*] };
}

#[test]
fn the_cells_of_the_first_table_compile_as_they_stand() {
    let readme = include_str!("../../README.md");
    let rows = readme.lines().skip_while(|line| !line.starts_with('|'));
    let table: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
    let spans = table.iter().flat_map(|row| row.split('`').skip(1).step_by(2));
    let rust: Vec<_> = spans.filter(|code| code.contains("::")).collect();
    let compiled = compiled![
        FilterBlockBuilder::with_long_ranges(BloomFilterPolicy::new(10).tuned()),
        BloomFilterPolicy::new(10).tuned().with_min_keys(40)
    ];
    assert_eq!(rust, compiled);
}
