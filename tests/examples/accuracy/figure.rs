//! False-positive rates over the number of keys as an SVG image, for counters and for random keys.

use crate::common::svg::{Plot, Stroke, stacked};
use crate::common::terminal::grouped;
use crate::sizes::{Pair, Rates, textbook};

const LEVELDB: Stroke = solid("#c2410c");
const TUNED: Stroke = solid("#15803d");
const TEXTBOOK: Stroke = Stroke { color: "#57606a", is_dashed: true, has_dots: false };
const LEGEND: [(Stroke, &str); 3] =
    [(LEVELDB, "LevelDB's filters"), (TUNED, "tuned()"), (TEXTBOOK, "6 probes, by the textbook")];

const HEIGHT: f64 = 320.0;

const fn solid(color: &'static str) -> Stroke {
    Stroke { color, is_dashed: false, has_dots: true }
}

/// The measured rates, and the textbook's rate, which is the same for all numbers of keys.
pub(crate) fn svg(measured: &[Rates]) -> String {
    let most = measured.last().map_or(100, |rates| rates.num_keys);
    let plot = |title: &str, max| Plot::new(title, 10..=most, max).with_height(HEIGHT);

    let title = "False positives, 10 bits per key: u64 counters, big-endian";
    let mut counters = plot(title, 100.0).logarithmic_from(0.5);
    for percent in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        counters.value(percent, &format!("{percent}%"));
    }
    draw(&mut counters, most, measured, |rates| rates.counters);
    counters.legend_from(520.0, 3, 250.0, &LEGEND);

    let mut random = plot("False positives, 10 bits per key: random keys", 2.0);
    for percent in [0.0, 0.5, 1.0, 1.5, 2.0] {
        random.value(percent, &format!("{percent:.1}%"));
    }
    draw(&mut random, most, measured, |rates| rates.random);
    stacked([counters, random])
}

fn draw(plot: &mut Plot, most: usize, measured: &[Rates], pair: fn(&Rates) -> Pair) {
    for num_keys in (1..=most.ilog10()).map(|power| 10usize.pow(power)) {
        plot.num_keys(num_keys, &grouped(num_keys));
    }
    plot.line(TEXTBOOK, [10, most].into_iter().map(|n| (n, 100.0 * textbook())));
    let rates: [fn(Pair) -> f64; 2] = [|pair| pair.leveldb, |pair| pair.tuned];
    for (stroke, rate) in [LEVELDB, TUNED].into_iter().zip(rates) {
        let points = || measured.iter().map(|rates| (rates.num_keys, 100.0 * rate(pair(rates))));
        plot.line(stroke, points());
        plot.dots(stroke, points());
    }
}
