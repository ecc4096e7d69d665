//! The figures that the recipes give.

use leveldb_filter::BloomFilterPolicy;

/// The cells of the recipes' table with this head, without the line below it.
fn rows_below(head: &str) -> Vec<Vec<&'static str>> {
    const RECIPES: &str = include_str!("../../src/recipes.md");
    let table = RECIPES.find(&format!("| {head} |")).expect("a table");
    let lines = RECIPES[table..].lines().map_while(|line| line.strip_prefix('|'));
    let cells = lines.map(|line| line.trim_end_matches('|').split('|').map(str::trim).collect());
    cells.filter(|cells: &Vec<_>| !cells[0].starts_with("---")).collect()
}

#[test]
fn bits_per_key_have_the_rates_that_the_docs_give() {
    let [bits, rates] = &rows_below("bits per key")[..] else { panic!("two rows") };
    for (bits, rate) in bits.iter().zip(rates).skip(1) {
        let policy = BloomFilterPolicy::new(bits.parse().expect("a number"));
        let percent = 100.0 * policy.shape(20_000).measure_false_positive_rate(20_000);
        let digits = rate.trim_end_matches('%').split('.').nth(1).map_or(0, str::len);
        assert_eq!(*rate, format!("{percent:.digits$}%"), "{bits} bits per key");
    }
}

#[test]
fn rates_take_the_bits_per_key_that_the_docs_give() {
    let rows = rows_below("keys of a filter");
    let [head, rows @ ..] = &rows[..] else { panic!("a table") };
    assert_eq!(rows.len(), 3);
    for row in rows {
        let num_keys = row[0].replace(',', "").parse().expect("a number");
        for (rate, bits) in head.iter().zip(row).skip(1) {
            let rate: f64 = rate.trim_end_matches('%').parse().expect("a number");
            let policy = BloomFilterPolicy::for_false_positive_rate(rate / 100.0, num_keys);
            let millibits = policy.map(|policy| policy.millibits_per_key().div_ceil(100));
            let found = millibits.map_or("none".into(), |m| format!("{}.{}", m / 10, m % 10));
            assert_eq!(*bits, found, "{rate}% of {num_keys} keys");
        }
    }
}
