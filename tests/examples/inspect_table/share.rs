//! Shares that look-ups measure.

use std::fmt;

/// A part of a whole, which those of other tables can be added to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Share {
    part: f64,
    whole: f64,
}

impl Share {
    pub(crate) fn new(part: usize, whole: usize) -> Self {
        Self { part: float(part), whole: float(whole) }
    }

    /// The same share of another whole, where there is one at all.
    pub(crate) fn of_whole(self, whole: usize) -> Self {
        let ratio = self.ratio();
        ratio.map_or(self, |ratio| Self { part: ratio * float(whole), whole: float(whole) })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { part: self.part + other.part, whole: self.whole + other.whole }
    }

    /// `None` of nothing.
    pub(crate) fn ratio(self) -> Option<f64> {
        (self.whole > 0.0).then(|| self.part / self.whole)
    }
}

/// In per cent.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ratio() {
            // Rates of long filters have their digits behind two zeros.
            Some(ratio) if ratio > 0.0 && ratio < 0.001 => {
                f.pad(&format!("{:.3} %", 100.0 * ratio))
            }
            Some(ratio) => f.pad(&format!("{:.2} %", 100.0 * ratio)),
            None => f.pad("-"),
        }
    }
}

/// `None` of nothing.
pub(crate) fn ratio(part: usize, whole: usize) -> Option<f64> {
    Share::new(part, whole).ratio()
}

/// In per cent, with a digit less: of what is counted, not measured.
pub(crate) fn percentage(part: usize, whole: u64) -> String {
    let whole = usize::try_from(whole).unwrap_or(usize::MAX);
    ratio(part, whole).map_or("-".into(), |ratio| format!("{:.1} %", 100.0 * ratio))
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn float(n: usize) -> f64 {
    n as f64
}
