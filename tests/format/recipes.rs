//! The figures of the tables in `src/recipes/` and in README. In failures, `left` is what they
//! should have.

use leveldb_filter::BloomFilterPolicy;

const BITS_PER_KEY: &str = include_str!("../../src/recipes/bits_per_key.md");
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

/// A cell's figures of LevelDB's filters and of those recommended.
fn pair(cell: &'static str) -> [&'static str; 2] {
    cell.split_once(" → ").expect("two figures").into()
}

/// Asserts that a cell somewhere else has a figure of `accuracy.md`, rounded if it is a percentage.
#[track_caller]
fn assert_is_known(known: &str, place: &str, cell: &str) {
    let percent = known.strip_suffix('%').map(|percent| percent.parse().expect("a number"));
    let expected = percent.map_or(known.into(), |percent| rounded(percent, cell));
    assert_eq!(expected, cell, "{place} has {cell}, and tests/accuracy.md has {known}");
}

/// A section of `accuracy.md`, from its title on.
fn section(title: &str) -> &'static str {
    ACCURACY.split_once(&format!("## {title}\n")).unwrap_or_else(|| panic!("no section {title}")).1
}

#[test]
fn bits_per_key_have_the_rates_that_the_page_gives() {
    let [bits, random, counters] = &table_in(BITS_PER_KEY, "bits per key")[..] else {
        panic!("3 rows")
    };
    let known = table_in(section("Bits per key"), "bits per key");
    let column = known[0].iter().position(|&column| column == "u64 counters").expect("a column");
    for (i, &bits) in bits.iter().enumerate().skip(1) {
        let policy = BloomFilterPolicy::new(bits.parse().expect("a number")).tuned();
        let percent = 100.0 * policy.shape(20_000).false_positive_rate(20_000);
        assert_eq!(rounded(percent, random[i]), random[i], "bits_per_key.md, {bits} bits per key");
        let known = known.iter().find(|row| row[0] == bits);
        let known = known.map_or("", |row| pair(row[column])[1]);
        let place = format!("bits_per_key.md, u64 counters, {bits} bits per key,");
        assert_is_known(known, &place, counters[i]);
    }
}

#[test]
fn rates_take_the_bits_per_key_that_the_page_gives() {
    let rows = table_in(BITS_PER_KEY, "keys of a filter");
    let [head, rows @ ..] = &rows[..] else { panic!("a table") };
    assert_eq!(rows.len(), 3);
    for row in rows {
        let num_keys = row[0].replace(',', "").parse().expect("a number");
        for (rate, bits) in head.iter().zip(row).skip(1) {
            let rate: f64 = rate.trim_end_matches('%').parse().expect("a number");
            let policy = BloomFilterPolicy::for_false_positive_rate(rate / 100.0, num_keys);
            let millibits = policy.map(|policy| policy.millibits_per_key().div_ceil(100));
            let found = millibits.map_or("none".into(), |m| format!("{}.{}", m / 10, m % 10));
            assert_eq!(found, *bits, "bits_per_key.md, {rate}% of {num_keys} keys");
        }
    }
}

#[test]
fn cells_of_the_readme_are_those_of_the_accuracy_tables() {
    let known = table_in(section("Real keys"), "keys | 20 bytes");
    let rows = table_in(README, "keys | values of 100 bytes");
    assert_eq!(rows.len(), 5);
    let keys = ["u64 counters", "16 decimal digits", "random", "filter bytes"];
    for (row, keys) in rows[1..].iter().zip(keys) {
        let known = known.iter().find(|known| known[0] == keys).expect("a row");
        for (cells, (known, bytes)) in row[1..].iter().zip(known[2..].iter().zip(["100", "1,000"]))
        {
            for (cell, known) in pair(cells).into_iter().zip(pair(known)) {
                let place = format!("README.md, {keys}, values of {bytes} bytes,");
                if keys == "filter bytes" {
                    let bytes: f64 = known.replace(',', "").parse().expect("a number");
                    assert_eq!(format!("{:.1}", 8.0 * bytes / 60_000.0), cell, "{place}");
                } else {
                    assert_is_known(known, &place, cell);
                }
            }
        }
    }
}
