//! Kinds of real keys, and the rates at which filters match absent keys that lie between present
//! ones: an engine asks filters about hardly any others.

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash, bloom_hash};

use crate::common::random::words;

/// Which numbers have keys, and how a number becomes one.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    numbers: Numbers,
    /// Runs of numbers start below it.
    limit: u64,
    /// Runs of numbers start at multiples of it.
    unit: u64,
    /// Makes a key of a number; the 8 bytes are the same for all keys of a run.
    key: fn([u8; 8], u64) -> Vec<u8>,
}

#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    /// Of successive numbers a random one in this many is absent.
    AllBut(u64),
    /// One in this many numbers is present, and one between each two is absent.
    Steps(u64),
    /// So many successive numbers are present, the next as many are absent, and so on.
    Runs(u64),
    /// Microseconds of independent events, with an absent one between each two.
    Times,
    /// A time shifted by 24 bits, and a counter that goes on: bursts of up to 32 at a time, one in
    /// eight absent, as is the next after each burst.
    Bursts,
}

use Numbers::{AllBut, Bursts, Runs, Steps, Times};

pub(crate) const HALF: Numbers = AllBut(2);

pub(crate) const fn kind(numbers: Numbers, limit: u64, key: fn([u8; 8], u64) -> Vec<u8>) -> Kind {
    Kind { numbers, limit, unit: 1, key }
}

fn big_endian(_: [u8; 8], number: u64) -> Vec<u8> {
    number.to_be_bytes().into()
}

pub(crate) const COUNTERS: Kind = kind(HALF, u64::MAX, big_endian);
pub(crate) const STEPS_OF_3: Kind = kind(Steps(3), u64::MAX, big_endian);
pub(crate) const MICROSECONDS: Kind = kind(Times, u64::MAX, big_endian);

pub(crate) const U32: Kind = kind(HALF, 1 << 31, |_, n| low_u32(n).to_be_bytes().into());

// With a leading 1, numbers of 16 digits need no padding, which is slow.
pub(crate) const DIGITS_16: Kind =
    kind(HALF, u64::MAX, |_, n| format!("{}", 10_u64.pow(16) + n).split_off(1).into());
pub(crate) const DIGITS_12: Kind = kind(HALF, 900_000_000_000, |_, n| format!("{n:012}").into());
pub(crate) const DIGITS_8: Kind = kind(HALF, 97_000_000, |_, n| format!("{n:08}").into());
pub(crate) const HEX_DIGITS_16: Kind =
    kind(HALF, u64::MAX, |_, n| format!("{:x}", (1 << 64) + u128::from(n)).split_off(1).into());

pub(crate) const USER_AND_SEQUENCE: Kind =
    kind(HALF, 1 << 40, |_, n| [(n / 100).to_be_bytes(), (n % 100).to_be_bytes()].concat());

/// 1,000 numbers of each tenant.
pub(crate) const TENANTS: Kind = kind(HALF, 1 << 40, |_, n| {
    [&low_u32(n / 1_000).to_be_bytes()[..], &(n % 1_000).to_be_bytes()].concat()
});

pub(crate) const OBJECT_IDS: Kind = kind(Bursts, 1 << 28, |process, n| {
    let seconds = 1_600_000_000 + low_u32(n >> 24);
    let counter = low_u32(n & 0xffffff).to_be_bytes();
    [&seconds.to_be_bytes(), &process[..5], &counter[1..]].concat()
});

pub(crate) const RANDOM: Kind =
    kind(HALF, u64::MAX, |seed, n| random_bytes(seed, n).to_be_bytes().into());
pub(crate) const UUIDS: Kind = kind(HALF, u64::MAX, |seed, n| uuid(random_bytes(seed, n)));
pub(crate) const NAMES: Kind = kind(HALF, 1_000_000, |_, n| format!("user:{n}:name").into());

/// Counters with one byte more, for which LevelDB's own filters do as well as for random keys.
pub(crate) const NINE_BYTES: Kind =
    kind(HALF, u64::MAX, |suffix, n| [&n.to_be_bytes(), &suffix[..1]].concat());

#[expect(clippy::cast_possible_truncation, reason = "as its name says")]
pub(crate) fn low_u32(number: u64) -> u32 {
    number as u32
}

pub(crate) fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

fn random_bytes(seed: [u8; 8], number: u64) -> u128 {
    let seed = u64::from_be_bytes(seed).wrapping_add(number);
    words(seed).take(2).fold(0, |bytes, word| (bytes << 64) | u128::from(word))
}

fn uuid(bytes: u128) -> Vec<u8> {
    let hex = |i: u32| b"0123456789abcdef"[(bytes >> (124 - 4 * i)) as usize & 15];
    let mut uuid: Vec<u8> = (0..32).map(hex).collect();
    (uuid[12], uuid[16]) = (b'4', b'a');
    for place in [8, 13, 18, 23] {
        uuid.insert(place, b'-');
    }
    uuid
}

impl Kind {
    /// The same keys of successive numbers, of which a random one in `number` is absent.
    pub(crate) const fn all_but_one_in(self, number: u64) -> Self {
        Self { numbers: AllBut(number), ..self }
    }

    /// The same keys, of which every `step`-th is present, and one between each two is looked up.
    pub(crate) const fn one_in(self, step: u64) -> Self {
        Self { numbers: Steps(step), ..self }
    }

    /// The same keys, in runs of `len` with gaps of as many.
    pub(crate) const fn in_runs_of(self, len: u64) -> Self {
        Self { numbers: Runs(len), ..self }
    }

    /// The same keys, in runs that start at multiples of `unit`.
    pub(crate) const fn starting_at_multiples_of(self, unit: u64) -> Self {
        Self { unit, ..self }
    }

    /// Visits `num_keys` keys and the absent ones between, for which `visit` gets `false`, in
    /// ascending order from a random number on.
    pub(crate) fn visit(&self, num_keys: usize, seed: u64, mut visit: impl FnMut(&[u8], bool)) {
        let mut words = words(seed);
        let mut word = || words.next().expect("endless");
        let prefix = word().to_be_bytes();
        let num_bits = 8 + word() % 40;
        let start = (word() >> (64 - num_bits)) % self.limit / self.unit * self.unit;
        let mut visit = |number, is_present| visit(&(self.key)(prefix, number), is_present);
        let num_keys = num_keys as u64;
        match self.numbers {
            AllBut(one_in) => {
                let (mut left, end) = (num_keys, num_keys + num_keys.div_ceil(one_in - 1));
                for i in 0..end {
                    let is_present = word() % (end - i) < left;
                    left -= u64::from(is_present);
                    visit(start + i, is_present);
                }
            }
            Steps(step) => {
                for number in (0..num_keys).map(|i| start + i * step) {
                    visit(number, true);
                    visit(number + 1 + word() % (step - 1), false);
                }
            }
            Runs(len) => {
                (0..2 * num_keys - len).for_each(|i| visit(start + i, i / len % 2 == 0));
            }
            Times => {
                let mean = 1 << (6 + word() % 9);
                let mut time = 1_600_000_000_000_000 + start;
                for _ in 0..num_keys {
                    visit(time, true);
                    let gap = gap(mean, word());
                    if gap > 1 {
                        visit(time + 1 + word() % (gap - 1), false);
                    }
                    time += gap;
                }
            }
            Bursts => {
                let (mut time, mut counter, mut left) = (start, word(), num_keys);
                while left > 0 {
                    for i in 0..=word() % 32 {
                        let is_present = left > 0 && (i == 0 || word() % 8 > 0);
                        left -= u64::from(is_present);
                        visit(time << 24 | counter & 0xffffff, is_present);
                        counter += 1;
                    }
                    visit(time << 24 | counter & 0xffffff, false);
                    time += 1 + word() % 8;
                }
            }
        }
    }

    /// The keys that `visit` gets, sorted.
    pub(crate) fn sorted(&self, num_keys: usize, seed: u64) -> Vec<(Vec<u8>, bool)> {
        let mut keys = Vec::with_capacity(2 * num_keys);
        self.visit(num_keys, seed, |key, is_present| keys.push((key.to_vec(), is_present)));
        keys.sort_unstable();
        keys
    }
}

/// The time from one event to the next, at least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounds down")]
fn gap(mean: u32, word: u64) -> u64 {
    let half = f64::from((word >> 32) as u32) + 0.5;
    1 + (f64::from(mean) * -(half / 4294967296.0).ln()) as u64
}

/// The keys of a filter, and absent ones.
#[derive(Default)]
pub(crate) struct Run {
    present: Vec<BloomHash>,
    absent: Vec<BloomHash>,
}

impl Run {
    pub(crate) fn draw(kind: &Kind, num_keys: usize, seed: u64) -> Self {
        let mut run = Self::default();
        kind.visit(num_keys, seed, |key, is_present| {
            if is_present { &mut run.present } else { &mut run.absent }.push(bloom_hash(key));
        });
        run
    }

    pub(crate) fn num_lookups(&self) -> usize {
        self.absent.len()
    }

    /// The share of the absent keys that have the hash of a present one.
    pub(crate) fn share_of_equal_hashes(&self) -> f64 {
        let [mut present, mut absent] = [self.present.clone(), self.absent.clone()];
        present.sort_unstable();
        absent.sort_unstable();
        let mut present = present.iter().peekable();
        let is_equal = |hash: &&BloomHash| {
            while present.next_if(|other| other < hash).is_some() {}
            present.peek() == Some(hash)
        };
        share(absent.iter().filter(is_equal).count(), absent.len())
    }

    /// The share of the absent keys that a filter of the present ones matches.
    pub(crate) fn rate(&self, policy: BloomFilterPolicy) -> f64 {
        self.rate_with(policy.shape(self.present.len()))
    }

    /// The same for a filter of this length and number of probes.
    pub(crate) fn rate_with(&self, shape: BloomFilterShape) -> f64 {
        let mut filter = BloomFilter::empty(shape);
        for &hash in &self.present {
            filter.insert_hash(hash);
        }
        let mut matches = vec![false; self.absent.len()];
        filter.hashes_may_match(&self.absent, &mut matches);
        share(matches.iter().filter(|&&matches| matches).count(), self.absent.len())
    }
}

#[expect(clippy::cast_precision_loss, reason = "more digits than a rate needs")]
pub(crate) fn share(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}
