//! A plot over the number of keys, as an SVG image.

use std::fmt::Write;
use std::ops::RangeInclusive;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 775.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 355.0;

/// White on its own, to be read on light and dark pages.
const STYLE: &str = "text{font:14px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;\
fill:#1f2328}.title{font-size:16px;font-weight:600}.middle{text-anchor:middle}\
.end{text-anchor:end}.grid{stroke:#d8dee4}.line{fill:none;stroke-width:2}";

/// How a line looks, and the dots that belong to it.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) color: &'static str,
    pub(crate) is_dashed: bool,
    /// Whether the legend shows one.
    pub(crate) has_dots: bool,
}

/// An image with a logarithmic axis for the number of keys, and one from 0 up for what it shows.
pub(crate) struct Plot {
    svg: String,
    num_keys: RangeInclusive<usize>,
    max: f64,
}

impl Plot {
    /// `num_keys` are at least two numbers, and not 0.
    pub(crate) fn new(title: &str, num_keys: RangeInclusive<usize>, max: f64) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
             <title>{title}</title>\n\
             <style>{STYLE}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#ffffff\"/>\n"
        );
        let mut plot = Self { svg, num_keys, max };
        plot.text("title", LEFT, 32.0, title);
        plot
    }

    fn x(&self, num_keys: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "more digits than an image has")]
        let [least, most, this] =
            [*self.num_keys.start(), *self.num_keys.end(), num_keys].map(|n| (n as f64).ln());
        LEFT + (this - least) / (most - least) * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - value / self.max * (BOTTOM - TOP)
    }

    /// A line across at `value`, and its label.
    pub(crate) fn value(&mut self, value: f64, label: &str) {
        let y = self.y(value);
        let _ = writeln!(self.svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        self.text("end", LEFT - 8.0, y + 5.0, label);
    }

    /// A line upwards at `num_keys`, and its label.
    pub(crate) fn num_keys(&mut self, num_keys: usize, label: &str) {
        let x = self.x(num_keys);
        let _ = writeln!(self.svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
        // A label at the end would leave the image.
        let (class, x) = if x > RIGHT - 20.0 { ("end", WIDTH - 8.0) } else { ("middle", x) };
        self.text(class, x, BOTTOM + 22.0, label);
    }

    /// Through these numbers of keys and values.
    pub(crate) fn line(&mut self, stroke: Stroke, points: impl Iterator<Item = (usize, f64)>) {
        let points: Vec<_> = points.map(|(n, value)| (self.x(n), self.y(value))).collect();
        self.polyline(stroke, &points);
    }

    /// At these numbers of keys and values.
    pub(crate) fn dots(&mut self, stroke: Stroke, points: impl Iterator<Item = (usize, f64)>) {
        for (num_keys, value) in points {
            self.dot(stroke, self.x(num_keys), self.y(value));
        }
    }

    /// What the lines are, in columns of so many `rows` at the top left corner.
    pub(crate) fn legend(&mut self, rows: u8, column_width: f64, lines: &[(Stroke, &str)]) {
        let (left, top) = (LEFT + 20.0, TOP + 22.0);
        let mut right = left;
        for column in lines.chunks(rows.into()) {
            let mut y = top;
            let _ = writeln!(
                self.svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{column_width}\" height=\"{:.1}\" \
                 fill=\"#ffffff\"/>",
                right - 8.0,
                y - 16.0,
                f64::from(rows) * 25.0 + 7.0
            );
            for (stroke, label) in column {
                self.polyline(*stroke, &[(right, y), (right + 36.0, y)]);
                if stroke.has_dots {
                    self.dot(*stroke, right + 18.0, y);
                }
                self.text("", right + 46.0, y + 5.0, label);
                y += 25.0;
            }
            right += column_width;
        }
    }

    fn polyline(&mut self, stroke: Stroke, points: &[(f64, f64)]) {
        let dashes = if stroke.is_dashed { "6 4" } else { "none" };
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.svg,
            "<polyline class=\"line\" stroke=\"{}\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
            stroke.color,
            points.join(" ")
        );
    }

    fn dot(&mut self, stroke: Stroke, x: f64, y: f64) {
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{}\" stroke=\"#ffffff\"/>",
            stroke.color
        );
    }

    pub(crate) fn finish(mut self) -> String {
        self.text("middle", f64::midpoint(LEFT, RIGHT), BOTTOM + 48.0, "keys in the filter");
        self.svg.push_str("</svg>\n");
        self.svg
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ =
            writeln!(self.svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
    }
}
