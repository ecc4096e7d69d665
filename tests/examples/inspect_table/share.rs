//! Shares that look-ups measure.

use std::fmt;
use std::ops::AddAssign;

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

    /// `None` of nothing.
    pub(crate) fn ratio(self) -> Option<f64> {
        (self.whole > 0.0).then(|| self.part / self.whole)
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }
}

/// In per cent.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ratio() {
            Some(ratio) => f.pad(&format!("{:.2} %", 100.0 * ratio)),
            None => f.pad("-"),
        }
    }
}

pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    float(part) / float(whole)
}

#[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
fn float(n: usize) -> f64 {
    n as f64
}
