//! A plot over the number of keys, as an SVG image.

use std::fmt::Write;
use std::ops::RangeInclusive;

/// In pixels, so that letters are as large as a page's text. On a phone, the image is as wide as the
/// page, and they are three fifths of that.
const WIDTH: f64 = 600.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 574.0;
/// Where the title and the legend begin.
const MARGIN: f64 = 16.0;
/// The height of the title above a plot, of a row of the legend or a note, of the plot, and of the
/// labels below it.
const HEAD: f64 = 52.0;
const ROW: f64 = 24.0;
const HEIGHT: f64 = 250.0;
const FOOT: f64 = 65.0;

/// Has a background of its own, because a page need not be as dark as the reader's system. Only
/// what knows the media query draws the dark one.
const STYLE: &str = "
text{font:17px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:currentColor}
.title{font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}
.line{fill:none;stroke:currentColor;stroke-width:2}.dash{stroke-dasharray:6 4}
.dot,.band{fill:currentColor}.band{fill-opacity:.2}
.mark{stroke:currentColor;stroke-width:1.5}.label{paint-order:stroke;stroke-width:6}
svg{color:#1f2328}.card{fill:#fff}.dot,.label{stroke:#fff}.grid{stroke:#d8dee4}
.gray{color:#57606a}.orange{color:#c2410c}.blue{color:#1d4ed8}
@media (prefers-color-scheme:dark){
svg{color:#e6edf3}.card{fill:#0d1117}.dot,.label{stroke:#0d1117}.grid{stroke:#30363d}
.gray{color:#9198a1}.orange{color:#fb923c}.blue{color:#60a5fa}
}
";

/// The style of a line and its dots.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    /// A class of [`STYLE`].
    pub(crate) color: &'static str,
    pub(crate) is_dashed: bool,
    /// Whether the legend shows one.
    pub(crate) has_dots: bool,
}

/// A plot with a logarithmic axis for the number of keys, and one for the values.
pub(crate) struct Plot {
    title: String,
    body: String,
    top: f64,
    num_keys: RangeInclusive<usize>,
    /// Where the axis of the values begins, if it is logarithmic.
    least: Option<f64>,
    max: f64,
}

impl Plot {
    /// From 0 to `max`. `num_keys` are at least two numbers, and not 0.
    pub(crate) fn new(title: &str, num_keys: RangeInclusive<usize>, max: f64) -> Self {
        let mut plot = Self {
            title: title.into(),
            body: String::new(),
            top: HEAD,
            num_keys,
            least: None,
            max,
        };
        plot.text("title", MARGIN, 30.0, title);
        plot
    }

    /// The same with a logarithmic axis from `least` on, above 0.
    pub(crate) fn logarithmic_from(self, least: f64) -> Self {
        Self { least: Some(least), ..self }
    }

    /// The same with a line of text below the title.
    pub(crate) fn with_note(mut self, note: &str) -> Self {
        self.text("", MARGIN, self.top + 5.0, note);
        self.top += ROW;
        self
    }

    /// The same with a name for the values, above their axis.
    pub(crate) fn with_values_named(mut self, name: &str) -> Self {
        self.top += ROW / 2.0;
        self.with_note(name)
    }

    /// The same with a legend below the title.
    pub(crate) fn with_legend(mut self, lines: &[(Stroke, &str)]) -> Self {
        for (stroke, label) in lines {
            let y = self.top;
            self.polyline(*stroke, &[(MARGIN, y), (MARGIN + 32.0, y)]);
            if stroke.has_dots {
                self.dot(*stroke, MARGIN + 16.0, y);
            }
            self.text("", MARGIN + 40.0, y + 5.0, label);
            self.top += ROW;
        }
        self
    }

    fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }

    fn x(&self, num_keys: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "more digits than an image has")]
        let [least, most, this] =
            [*self.num_keys.start(), *self.num_keys.end(), num_keys].map(|n| (n as f64).ln());
        LEFT + (this - least) / (most - least) * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        let share = match self.least {
            None => value / self.max,
            Some(least) => (value.max(least) / least).ln() / (self.max / least).ln(),
        };
        self.bottom() - share * HEIGHT
    }

    /// A horizontal line at `value`, and its label.
    pub(crate) fn value(&mut self, value: f64, label: &str) {
        let y = self.y(value);
        let _ = writeln!(self.body, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        self.text("end", LEFT - 8.0, y + 5.0, label);
    }

    /// A vertical line at `num_keys`, and its label.
    pub(crate) fn num_keys(&mut self, num_keys: usize) {
        // Longer ones would touch.
        let label = match num_keys {
            1_000_000.. => format!("{}M", num_keys / 1_000_000),
            1_000.. => format!("{}k", num_keys / 1_000),
            _ => num_keys.to_string(),
        };
        let (x, top, bottom) = (self.x(num_keys), self.top, self.bottom());
        let _ = writeln!(self.body, "<path class=\"grid\" d=\"M{x:.1} {top}V{bottom}\"/>");
        self.text("middle", x, bottom + 22.0, &label);
    }

    /// A vertical line at `num_keys`, and what lies to the right of it, from a value on downwards.
    pub(crate) fn mark(&mut self, num_keys: usize, value: f64, lines: &[&str]) {
        let (x, y, top, bottom) = (self.x(num_keys), self.y(value), self.top, self.bottom());
        let _ = writeln!(self.body, "<path class=\"mark\" d=\"M{x:.1} {top}V{bottom}\"/>");
        for (line, y) in lines.iter().zip((0_u8..).map(|i| y + ROW * f64::from(i))) {
            self.text("label", x + 8.0, y, line);
        }
    }

    /// Between two values at each of these numbers of keys, behind what is drawn later.
    pub(crate) fn band(&mut self, stroke: Stroke, ends: impl Iterator<Item = (usize, [f64; 2])>) {
        let ends: Vec<_> = ends.collect();
        let point = |n, value| format!("{:.1},{:.1}", self.x(n), self.y(value));
        let lower = ends.iter().map(|&(n, [value, _])| point(n, value));
        let upper = ends.iter().rev().map(|&(n, [_, value])| point(n, value));
        let points: Vec<_> = lower.chain(upper).collect();
        let _ = writeln!(
            self.body,
            "<polygon class=\"band {}\" points=\"{}\"/>",
            stroke.color,
            points.join(" ")
        );
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

    fn polyline(&mut self, stroke: Stroke, points: &[(f64, f64)]) {
        let dashes = if stroke.is_dashed { " dash" } else { "" };
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            "<polyline class=\"line {}{dashes}\" points=\"{}\"/>",
            stroke.color,
            points.join(" ")
        );
    }

    fn dot(&mut self, stroke: Stroke, x: f64, y: f64) {
        let _ = writeln!(
            self.body,
            "<circle class=\"dot {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>",
            stroke.color
        );
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ =
            writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
    }
}

/// One image of several plots over the same numbers of keys, one below the other.
pub(crate) fn stacked<const N: usize>(plots: [Plot; N]) -> String {
    let title = plots.each_ref().map(|plot| plot.title.as_str()).join("; ");
    let height: f64 = plots.iter().map(|plot| plot.bottom() + FOOT).sum();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" class=\"card\"/>\n"
    );
    let mut top = 0.0;
    for mut plot in plots {
        let height = plot.bottom() + FOOT;
        plot.text("middle", f64::midpoint(LEFT, RIGHT), height - 17.0, "keys in the filter");
        let _ = write!(svg, "<g transform=\"translate(0 {top})\">\n{}</g>\n", plot.body);
        top += height;
    }
    svg + "</svg>\n"
}
