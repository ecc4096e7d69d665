//! Times contenders in turns.

use std::time::Duration;

/// Does the work of pass 0 or 1, and returns how long it took.
pub(crate) type Contender<'a> = Box<dyn FnMut(usize) -> Duration + 'a>;

/// A contender's results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    /// The first contender's time over this one's: the median over all rounds.
    pub(crate) ratio: f64,
    /// The best time per key, in nanoseconds.
    pub(crate) best: f64,
}

impl Score {
    pub(crate) fn cell(self) -> String {
        format!("{:.2} ({:.1})", self.ratio, self.best)
    }
}

/// Runs all contenders once in each round, in a new random order: a later one may find fuller
/// caches, or a slower processor.
///
/// A contender works in two passes, and only the second counts: by then its process has woken up,
/// and the caches have the data of its own work, not of the previous contender's.
pub(crate) fn race<const N: usize>(
    mut contenders: [Contender<'_>; N],
    num_keys: usize,
    rounds: usize,
    mut draws: impl Iterator<Item = u64>,
) -> [Score; N] {
    let mut order: [usize; N] = std::array::from_fn(|i| i);
    let mut times = [(); N].map(|()| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        shuffle(&mut order, &mut draws);
        for i in order {
            let [_, last] = [0, 1].map(|pass| contenders[i](pass));
            times[i].push(last.as_secs_f64());
        }
    }
    let score = |of_contender: &Vec<f64>| {
        let best = of_contender.iter().copied().fold(f64::INFINITY, f64::min);
        let ratios = times[0].iter().zip(of_contender).map(|(first, time)| first / time);
        Score { ratio: median(ratios.collect()), best: 1e9 * best / as_f64(num_keys) }
    };
    times.each_ref().map(score)
}

fn shuffle(order: &mut [usize], draws: &mut impl Iterator<Item = u64>) {
    for (left, draw) in (1..order.len()).rev().zip(draws) {
        let choice = draw % (left as u64 + 1);
        order.swap(left, usize::try_from(choice).expect("an index"));
    }
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_unstable_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52 keys")]
pub(crate) fn as_f64(num_keys: usize) -> f64 {
    num_keys as f64
}
