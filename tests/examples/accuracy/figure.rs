//! The false-positive rate over the number of keys, as an SVG image.

use crate::rates::{Rates, textbook};
use crate::svg::{Plot, Stroke};
use crate::terminal::grouped;

const MAX_PERCENT: f64 = 2.5;

struct Series {
    stroke: Stroke,
    label: &'static str,
    rate: fn(&Rates) -> f64,
}

const SERIES: [Series; 2] = [
    Series { stroke: solid("#c2410c"), label: "LevelDB's 6 probes", rate: |rates| rates.leveldb },
    Series { stroke: solid("#15803d"), label: "tuned()", rate: |rates| rates.tuned },
];
const TEXTBOOK: Stroke = Stroke { color: "#57606a", is_dashed: true, has_dots: false };

const fn solid(color: &'static str) -> Stroke {
    Stroke { color, is_dashed: false, has_dots: true }
}

/// Each number of keys as measured, and the textbook's rate for all of them.
pub(crate) fn svg(measured: &[Rates]) -> String {
    let title = "False positives, % of absent keys: LevelDB's Bloom filter, 10 bits per key";
    let mut plot = Plot::new(title, 10..=10_000_000, MAX_PERCENT);
    for half_percents in 0..=5 {
        let percent = f64::from(half_percents) / 2.0;
        plot.value(percent, &format!("{percent:.1}%"));
    }
    for num_keys in (1..=7).map(|power| 10usize.pow(power)) {
        plot.num_keys(num_keys, &grouped(num_keys));
    }
    plot.line(TEXTBOOK, [10, 10_000_000].into_iter().map(|n| (n, 100.0 * textbook())));
    for Series { stroke, rate, .. } in SERIES {
        let points = || measured.iter().map(|rates| (rates.num_keys, 100.0 * rate(rates)));
        plot.line(stroke, points());
        plot.dots(stroke, points());
    }

    let mut legend = SERIES.map(|Series { stroke, label, .. }| (stroke, label)).to_vec();
    legend.push((TEXTBOOK, "6 probes, by the textbook"));
    plot.legend(4, 388.0, &legend);
    plot.finish()
}
