//! False-positive rates over the number of keys as an SVG image, for counters and for random keys.

use crate::common::svg::{Plot, Stroke, stacked};
use crate::sizes::{Point, textbook};

/// Of `POLICIES`.
const STROKES: [Stroke; 2] = [solid("#c2410c"), solid("#15803d")];
const TEXTBOOK: Stroke = Stroke { color: "#57606a", is_dashed: true, has_dots: false };
const LEGEND: [(Stroke, &str); 3] = [
    (STROKES[0], "LevelDB's filters, means; shaded: 8 in 10 sizes"),
    (STROKES[1], "tuned(), the same"),
    (TEXTBOOK, "6 probes, by the textbook"),
];

const fn solid(color: &'static str) -> Stroke {
    Stroke { color, is_dashed: false, has_dots: true }
}

/// The measured rates, and the textbook's rate, which is the same for all numbers of keys.
pub(crate) fn svg(points: &[Point]) -> String {
    let most = points.last().map_or(100, |point| point.num_keys);
    let plot = |title: &str, max| Plot::new(title, 10..=most, max);

    let title = "False positives, 10 bits per key: u64 counters, big-endian";
    let mut counters = plot(title, 100.0).logarithmic_from(0.5).with_legend(&LEGEND);
    for percent in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        counters.value(percent, &format!("{percent}%"));
    }
    axis(&mut counters, most);
    for (i, stroke) in STROKES.into_iter().enumerate() {
        let ends = |point: &Point| point.counters[i].ends.map(|rate| 100.0 * rate);
        counters.band(stroke, points.iter().map(|point| (point.num_keys, ends(point))));
    }
    lines(&mut counters, points, |point| point.counters.map(|spread| spread.mean));

    let mut random = plot("False positives, 10 bits per key: random keys", 2.0);
    for percent in [0.0, 0.5, 1.0, 1.5, 2.0] {
        random.value(percent, &format!("{percent:.1}%"));
    }
    axis(&mut random, most);
    lines(&mut random, points, |point| point.random);
    stacked([counters, random])
}

fn axis(plot: &mut Plot, most: usize) {
    for num_keys in (1..=most.ilog10()).map(|power| 10usize.pow(power)) {
        plot.num_keys(num_keys);
    }
    plot.line(TEXTBOOK, [10, most].into_iter().map(|n| (n, 100.0 * textbook())));
}

fn lines(plot: &mut Plot, points: &[Point], rates: fn(&Point) -> [f64; 2]) {
    for (i, stroke) in STROKES.into_iter().enumerate() {
        let points = || points.iter().map(|point| (point.num_keys, 100.0 * rates(point)[i]));
        plot.line(stroke, points());
        plot.dots(stroke, points());
    }
}
