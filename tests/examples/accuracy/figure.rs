//! The false-positive rate over the number of keys, as an SVG image.

use std::fmt::Write;

use crate::rates::{POLICY, Rates, textbook};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 775.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 355.0;

/// The highest rate, in per cent.
const MAX_PERCENT: f64 = 2.5;
const POWERS_OF_TEN: [(u32, &str); 7] = [
    (1, "10"),
    (2, "100"),
    (3, "1,000"),
    (4, "10,000"),
    (5, "100,000"),
    (6, "1,000,000"),
    (7, "10,000,000"),
];

/// A line as the model has it, and dots as measured.
struct Series {
    color: &'static str,
    label: &'static str,
    expected: fn(usize) -> f64,
    measured: fn(&Rates) -> f64,
}

const SERIES: [Series; 3] = [
    Series {
        color: "#c2410c",
        label: "LevelDB's 6 probes: model, and measured",
        expected: |num_keys| POLICY.expected_false_positive_rate(num_keys),
        measured: |rates| rates.leveldb,
    },
    Series {
        color: "#1d4ed8",
        label: "tuned_for: the best number of probes",
        expected: |num_keys| POLICY.tuned_for(num_keys).expected_false_positive_rate(num_keys),
        measured: |rates| rates.probes,
    },
    Series {
        color: "#15803d",
        label: "finish_tuned_into: the best length, too",
        expected: |num_keys| POLICY.tuned_shape(num_keys).expected_false_positive_rate(num_keys),
        measured: |rates| rates.tuned,
    },
];
const TEXTBOOK: &str = "#57606a";

/// White on its own, to be read on light and dark pages.
const STYLE: &str = "text{font:14px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;\
fill:#1f2328}.title{font-size:16px;font-weight:600}.middle{text-anchor:middle}\
.end{text-anchor:end}.grid{stroke:#d8dee4}.line{fill:none;stroke-width:2}";

pub(crate) fn svg(measured: &[Rates]) -> String {
    let bits_per_key = POLICY.bits_per_key();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
         <title>False-positive rate of LevelDB's Bloom filter, {bits_per_key} bits per key</title>\n\
         <style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#ffffff\"/>\n"
    );
    let title = format!(
        "False positives, % of absent keys: LevelDB's Bloom filter, {bits_per_key} bits per key"
    );
    text(&mut svg, "title", LEFT, 32.0, &title);
    axes(&mut svg);
    line(&mut svg, TEXTBOOK, "6 4", [10, 10_000_000].map(|n| (n, textbook())).into_iter());
    for Series { color, expected, .. } in SERIES {
        let points = measured.iter().map(|rates| (rates.num_keys, expected(rates.num_keys)));
        line(&mut svg, color, "none", points);
    }
    for Series { color, measured: rate, .. } in SERIES {
        for rates in measured {
            dot(&mut svg, color, x(rates.num_keys), y(rate(rates)));
        }
    }
    legend(&mut svg);
    svg.push_str("</svg>\n");
    svg
}

#[expect(clippy::cast_precision_loss, reason = "at most 10 million")]
fn x(num_keys: usize) -> f64 {
    let decades = (num_keys as f64).log10() - 1.0;
    LEFT + decades / 6.0 * (RIGHT - LEFT)
}

fn y(rate: f64) -> f64 {
    BOTTOM - 100.0 * rate / MAX_PERCENT * (BOTTOM - TOP)
}

fn axes(svg: &mut String) {
    for half_percents in 0..=5 {
        let percent = f64::from(half_percents) / 2.0;
        let y = y(percent / 100.0);
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        text(svg, "end", LEFT - 8.0, y + 5.0, &format!("{percent:.1} %"));
    }
    for (power, label) in POWERS_OF_TEN {
        let x = x(10usize.pow(power));
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
        // The last label would leave the image.
        let (class, x) = if power == 7 { ("end", WIDTH - 8.0) } else { ("middle", x) };
        text(svg, class, x, BOTTOM + 22.0, label);
    }
    text(svg, "middle", f64::midpoint(LEFT, RIGHT), BOTTOM + 48.0, "keys in the filter");
}

fn line(svg: &mut String, color: &str, dashes: &str, points: impl Iterator<Item = (usize, f64)>) {
    let points: Vec<String> =
        points.map(|(num_keys, rate)| format!("{:.1},{:.1}", x(num_keys), y(rate))).collect();
    let _ = writeln!(
        svg,
        "<polyline class=\"line\" stroke=\"{color}\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
        points.join(" ")
    );
}

fn dot(svg: &mut String, color: &str, x: f64, y: f64) {
    let _ = writeln!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\" stroke=\"#ffffff\"/>"
    );
}

fn legend(svg: &mut String) {
    let left = LEFT + 20.0;
    let _ = writeln!(
        svg,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"388\" height=\"107\" fill=\"#ffffff\"/>",
        left - 8.0,
        TOP + 6.0
    );
    let textbook = (TEXTBOOK, "6 4", "the textbook, for 6 probes");
    let series = SERIES.map(|series| (series.color, "none", series.label));
    let mut y = TOP + 22.0;
    for (color, dashes, label) in series.into_iter().chain([textbook]) {
        let right = left + 36.0;
        let _ = writeln!(
            svg,
            "<path class=\"line\" stroke=\"{color}\" stroke-dasharray=\"{dashes}\" \
             d=\"M{left} {y}H{right}\"/>"
        );
        if dashes == "none" {
            dot(svg, color, left + 18.0, y);
        }
        text(svg, "", right + 10.0, y + 5.0, label);
        y += 25.0;
    }
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
}
