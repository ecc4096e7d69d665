//! LevelDB's time over this crate's, by number of keys, as an SVG image.

use crate::common::svg::{Plot, Stroke, stacked};
use crate::contest::Scores;
use crate::options::Options;

const LEVELDB: Stroke = Stroke { color: "", is_dashed: false, has_dots: false };

/// A line of the figure.
struct Line {
    stroke: Stroke,
    label: &'static str,
    ratio: fn(&Scores) -> f64,
}

const fn line(
    color: &'static str,
    is_dashed: bool,
    label: &'static str,
    ratio: fn(&Scores) -> f64,
) -> Line {
    Line { stroke: Stroke { color, is_dashed, has_dots: true }, label, ratio }
}

/// Of `keys_may_match`, `create_filter`, and `BloomFilter::key_may_match`.
const LINES: [Line; 5] = [
    line("blue", false, "many lookups at once, absent keys", |scores| scores.lookup[0][3].ratio),
    line("blue", true, "many lookups at once, present keys", |scores| scores.lookup[1][3].ratio),
    line("gray", false, "building a filter", |scores| scores.create[1].ratio),
    line("orange", false, "lookups one by one, absent keys", |scores| scores.lookup[0][2].ratio),
    line("orange", true, "lookups one by one, present keys", |scores| scores.lookup[1][2].ratio),
];

pub(crate) fn svg(options: &Options, all: &[Scores]) -> String {
    let ratios = LINES.iter().flat_map(|line| all.iter().map(line.ratio));
    let highest = ratios.fold(1.0, f64::max);
    let max = (1..30_u8).find(|&max| f64::from(max) >= highest).unwrap_or(30);
    let sizes = all.iter().map(|scores| scores.num_keys);
    let least = 10_usize.pow(sizes.clone().min().map_or(0, usize::ilog10));
    let most = sizes.max().map_or(0, |most| most.max(10 * least));
    let title = format!(
        "Speed with keys of {}, {} bits per key",
        options.key_len.name(),
        options.bits_per_key
    );
    let mut legend = LINES.map(|line| (line.stroke, line.label)).to_vec();
    legend.push((LEVELDB, "LevelDB"));
    let mut plot = Plot::new(&title, least..=most, max.into())
        .with_legend(&legend)
        .with_values_named("times as fast as LevelDB");
    for ratio in 0..=max {
        plot.value(ratio.into(), &format!("{ratio}×"));
    }
    for decade in least.ilog10()..=most.ilog10() {
        plot.num_keys(10_usize.pow(decade));
    }
    plot.line(LEVELDB, [least, most].into_iter().map(|num_keys| (num_keys, 1.0)));
    for line in &LINES {
        let points = all.iter().map(|scores| (scores.num_keys, (line.ratio)(scores)));
        plot.line(line.stroke, points.clone());
        plot.dots(line.stroke, points);
    }
    stacked([plot])
}
