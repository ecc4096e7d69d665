//! The figures of the tables in the recipes and in README. In failures, `left` is what they should
//! have.

use leveldb_filter::BloomFilterPolicy;

const RECIPES: &str = include_str!("../../src/recipes.md");
const README: &str = include_str!("../../README.md");
const ACCURACY: &str = include_str!("../accuracy.md");

/// The cells of a text's first table whose head starts so, without the line below it.
fn table_in(text: &'static str, head: &str) -> Vec<Vec<&'static str>> {
    let table = text.find(&format!("| {head} |")).expect("a table");
    let lines = text[table..].lines().map_while(|line| line.strip_prefix('|'));
    let cells = lines.map(|line| line.trim_end_matches('|').split('|').map(str::trim).collect());
    cells.filter(|cells: &Vec<_>| !cells[0].starts_with("---")).collect()
}

/// The percentage with as many digits as a cell has.
fn rounded(percent: f64, cell: &str) -> String {
    let digits = cell.trim_end_matches('%').split('.').nth(1).map_or(0, str::len);
    format!("{percent:.digits$}%")
}

/// Asserts that a cell somewhere else has a figure of `accuracy.md`, rounded if it is a percentage.
#[track_caller]
fn assert_is_known(known: &str, place: &str, cell: &str) {
    let percent = known.strip_suffix('%').map(|percent| percent.parse().expect("a number"));
    let expected = percent.map_or(known.into(), |percent| rounded(percent, cell));
    assert_eq!(
        expected, cell,
        "{place} has {cell}, and tests/accuracy.md has {known}, which `cargo run --release \
         --example accuracy -- --write tests/accuracy.md` computes again"
    );
}

#[test]
fn bits_per_key_have_the_rates_that_the_docs_give() {
    let [bits, rates] = &table_in(RECIPES, "bits per key")[..] else { panic!("two rows") };
    for (bits, rate) in bits.iter().zip(rates).skip(1) {
        let policy = BloomFilterPolicy::new(bits.parse().expect("a number"));
        let percent = 100.0 * policy.shape(20_000).measure_false_positive_rate(20_000);
        assert_eq!(rounded(percent, rate), *rate, "src/recipes.md, {bits} bits per key");
    }
}

#[test]
fn rates_take_the_bits_per_key_that_the_docs_give() {
    let rows = table_in(RECIPES, "keys of a filter");
    let [head, rows @ ..] = &rows[..] else { panic!("a table") };
    assert_eq!(rows.len(), 3);
    for row in rows {
        let num_keys = row[0].replace(',', "").parse().expect("a number");
        for (rate, bits) in head.iter().zip(row).skip(1) {
            let rate: f64 = rate.trim_end_matches('%').parse().expect("a number");
            let policy = BloomFilterPolicy::for_false_positive_rate(rate / 100.0, num_keys);
            let millibits = policy.map(|policy| policy.millibits_per_key().div_ceil(100));
            let found = millibits.map_or("none".into(), |m| format!("{}.{}", m / 10, m % 10));
            assert_eq!(found, *bits, "src/recipes.md, {rate}% of {num_keys} keys");
        }
    }
}

#[test]
fn rates_of_counters_are_those_of_the_accuracy_tables() {
    let [bits, counters, random] = &table_in(RECIPES, "bits per key, tuned")[..] else {
        panic!("3 rows")
    };
    let known = table_in(ACCURACY, "bits per key");
    let known = known.iter().filter(|row| bits[1..].contains(&row[0])).collect::<Vec<_>>();
    assert_eq!(known.len(), bits.len() - 1);
    for (i, row) in (1..).zip(known) {
        assert_eq!(row[0], bits[i]);
        assert_is_known(row[2], "src/recipes.md", random[i]);
        assert_is_known(row[4], "src/recipes.md", counters[i]);
    }
}

#[test]
fn rates_of_digits_are_those_of_the_accuracy_tables() {
    let [num_keys, digits, others] = &table_in(RECIPES, "keys of one filter")[..] else {
        panic!("3 rows")
    };
    let (_, known) = ACCURACY.split_once("## Equal hashes").expect("a section");
    let known = table_in(known, "keys");
    let policy = BloomFilterPolicy::new(10).tuned();
    for ((num_keys, digits), other) in num_keys.iter().zip(digits).zip(others).skip(1) {
        let row = known.iter().find(|row| row[..2] == ["16 decimal digits", num_keys]);
        assert_is_known(row.expect("a row")[2], "src/recipes.md", digits);
        let num_keys = num_keys.replace(',', "").parse().expect("a number");
        let rate = policy.shape(num_keys).measure_false_positive_rate(num_keys);
        assert_eq!(rounded(100.0 * rate, other), *other, "src/recipes.md, {num_keys} keys");
    }
}

#[test]
fn rates_of_few_keys_are_those_of_the_accuracy_tables() {
    let recipe = table_in(RECIPES, "keys | `tuned()`");
    let known = table_in(ACCURACY, "keys | in a filter | LevelDB");
    assert_eq!(recipe.len(), 4);
    for row in &recipe[1..] {
        let known = known.iter().find(|known| known[..2] == ["u64 counters, big-endian", row[0]]);
        let known = known.expect("a row");
        assert_is_known(known[3], "src/recipes.md", row[1]);
        assert_is_known(known[5], "src/recipes.md", row[2]);
    }
}

#[test]
fn cells_of_the_readme_are_those_of_the_accuracy_tables() {
    let head = "keys | LevelDB, 100-byte values | LevelDB, 1,000-byte | plugged in, 100-byte \
                | plugged in, 1,000-byte | long ranges, 100-byte | long ranges, 1,000-byte";
    let known = table_in(ACCURACY, "keys | values");
    let rows = table_in(README, head);
    assert_eq!(rows.len(), 5);
    for row in &rows[1..] {
        for (column, cell) in rows[0].iter().zip(row).skip(1) {
            let (filters, bytes) = column.split_once(", ").expect("filters, bytes of a value");
            let values = format!("about {} bytes", bytes.split('-').next().unwrap());
            let known_column = known[0].iter().position(|&column| column == filters);
            let known_row = known.iter().find(|known| known[..2] == [row[0], &values]);
            let known = known_row.expect("a row")[known_column.expect("a column")];
            assert_is_known(known, &format!("README.md, {:?}, {column:?},", row[0]), cell);
        }
    }
}

#[test]
fn levels_are_measured_with_the_policies_of_the_recipe() {
    let (_, code) = include_str!("../examples/accuracy/levels.rs").split_once("fn policy").unwrap();
    let (function, _) = code.split_once("\n}\n").expect("the end of a function");
    assert!(RECIPES.contains(function), "the recipe has another function than levels.rs");
}
