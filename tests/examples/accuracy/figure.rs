//! False-positive rates over the number of keys as an SVG image, for counters and for random keys.

use crate::common::svg::{Plot, Stroke, stacked};
use crate::percent;
use crate::sizes::{Point, textbook};

/// Of `POLICIES`.
const STROKES: [Stroke; 2] = [solid("orange"), solid("blue")];
const THEORY: Stroke = Stroke { color: "gray", is_dashed: true, has_dots: false };
/// The fewest keys that filters in long ranges have on average.
const LONG_RANGES: usize = 2_000;
const OF_LONG_RANGES: [&str; 2] = ["Filters in long ranges", "average 2,000 keys or more."];
/// Above the axis of the rates.
const RATES: &str = "false positives, at 10 bits per key";

const fn solid(color: &'static str) -> Stroke {
    Stroke { color, is_dashed: false, has_dots: true }
}

/// The measured rates, and the textbook's rate, which is the same for all numbers of keys.
pub(crate) fn svg(points: &[Point]) -> String {
    let most = points.last().map_or(100, |point| point.num_keys);
    let theory = format!("what theory promises: {}", percent(textbook()));
    let legend = [
        (STROKES[0], "LevelDB's filters"),
        (STROKES[1], "this crate's filters with tuned()"),
        (THEORY, &theory),
    ];
    let plot = |title: &str, max| {
        Plot::new(title, 10..=most, max)
            .with_legend(&legend)
            .with_note("Each dot is the mean over filters of similar size.")
    };

    let mut counters = plot("Keys that count up (u64, big-endian)", 100.0)
        .logarithmic_from(0.5)
        .with_note("Shaded: where 8 in 10 of these filters lie.")
        .with_values_named(RATES);
    for percent in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        counters.value(percent, &format!("{percent}%"));
    }
    axis(&mut counters, most);
    for (i, stroke) in STROKES.into_iter().enumerate() {
        let ends = |point: &Point| point.counters[i].ends.map(|rate| 100.0 * rate);
        counters.band(stroke, points.iter().map(|point| (point.num_keys, ends(point))));
    }
    lines(&mut counters, points, |point| point.counters.map(|spread| spread.mean));
    counters.mark(LONG_RANGES, 60.0, &OF_LONG_RANGES);

    let mut random = plot("Random keys", 2.0).with_values_named(RATES);
    for percent in [0.0, 0.5, 1.0, 1.5, 2.0] {
        random.value(percent, &format!("{percent:.1}%"));
    }
    axis(&mut random, most);
    lines(&mut random, points, |point| point.random);
    random.mark(LONG_RANGES, 0.4, &OF_LONG_RANGES);
    stacked([counters, random])
}

fn axis(plot: &mut Plot, most: usize) {
    for num_keys in (1..=most.ilog10()).map(|power| 10usize.pow(power)) {
        plot.num_keys(num_keys);
    }
    plot.line(THEORY, [10, most].into_iter().map(|n| (n, 100.0 * textbook())));
}

fn lines(plot: &mut Plot, points: &[Point], rates: fn(&Point) -> [f64; 2]) {
    for (i, stroke) in STROKES.into_iter().enumerate() {
        let points = || points.iter().map(|point| (point.num_keys, 100.0 * rates(point)[i]));
        plot.line(stroke, points());
        plot.dots(stroke, points());
    }
}
