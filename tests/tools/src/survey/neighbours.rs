//! Absent keys that look like the present ones, made from these.

use leveldb_filter::bloom_hash;

use crate::random;

/// One in so many gaps, and those of equal width, count as about equally wide.
const PART_FITTING: usize = 100;
/// How often a random part of a gap is tried: at least every second is less than the gap.
const MAX_TRIES: usize = 16;
/// Only so many of a key's last bytes differ from the present key's.
const MAX_WHEELS: usize = 64;

/// A key, and the next one of its form if it is known.
pub(crate) type Neighbours<'a> = (&'a [u8], Option<&'a [u8]>);

/// At most `number` keys as near to keys of one form as these are to each other: the ways from an
/// absent key to the present ones before and behind it are as wide as two random gaps, and it lies
/// in a gap that is about as wide as both.
pub(crate) fn in_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps = gaps(alike);
    let wheels = Wheels::seen(gaps.as_flattened());
    let mut gaps: Vec<_> = gaps.into_iter().map(|gap| (wheels.width(gap), gap)).collect();
    gaps.sort();
    let gaps: Vec<_> = gaps.iter().collect();
    // The place of the first gap that is as wide, or wider.
    let first = |least: &[u8]| gaps.partition_point(|(width, _)| width[..] < *least);
    let num_fitting = gaps.len().div_ceil(PART_FITTING);
    let mut random = picker(gaps.len() as u64);
    let mut keys = Vec::new();
    for (i, (width, _)) in gaps.iter().cycle().take(number).enumerate() {
        let (other_width, _) = random(&gaps);
        let start = first(&wheels.sum(width, other_width)).min(gaps.len() - num_fitting);
        let widest = &gaps[start + num_fitting - 1].0;
        let num_alike = gaps[start..].partition_point(|(width, _)| width <= widest);
        let fitting = &gaps[first(&gaps[start].0)..start + num_alike];
        let (width_of_gap, [start, end]) = random(fitting);
        let way = width.min(other_width);
        if wheels.sum(way, way) <= *width_of_gap {
            keys.extend(wheels.moved(if i % 2 == 0 { start } else { end }, way, i % 2 == 0));
        }
    }
    keys
}

/// At most `number` keys at random places in random gaps, in which digits count as digits.
pub(crate) fn inside_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps = gaps(alike);
    let wheels = Wheels::natural(gaps.as_flattened());
    let mut words = random::words(number as u64);
    let inside =
        |&gap: &[_; 2]| wheels.moved(gap[0], &wheels.part(&wheels.width(gap), &mut words)?, true);
    gaps.iter().cycle().take(number).filter_map(inside).collect()
}

/// `number` keys with some bytes appended, which are just behind the present ones.
pub(crate) fn longer(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let keys = alike.iter().cycle().take(number);
    let with = |((key, _), word): (&Neighbours<'_>, u64)| [key, &word.to_le_bytes()[..4]].concat();
    keys.zip(random::words(number as u64)).map(with).collect()
}

/// Each key with the next one, the lower one first.
fn gaps<'a>(alike: &[Neighbours<'a>]) -> Vec<[&'a [u8]; 2]> {
    alike.iter().filter_map(|&(key, next)| Some([key.min(next?), key.max(next?)])).collect()
}

/// Picks one of several, the same ones in every run.
fn picker<T: Clone>(seed: u64) -> impl FnMut(&[T]) -> T {
    let mut words = random::words(seed);
    move |from| {
        let place = words.next().expect("endless") % from.len() as u64;
        from[usize::try_from(place).expect("less than the length")].clone()
    }
}

/// What keys that count alike have in common: their length, and the separators in text.
pub(crate) fn form(key: &[u8]) -> Vec<u8> {
    let of_text = |byte: &u8| if byte.is_ascii_alphanumeric() { b'0' } else { *byte };
    if is_text(key) { key.iter().map(of_text).collect() } else { key.len().to_be_bytes().into() }
}

fn is_text(key: &[u8]) -> bool {
    key.iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// An odometer: for each of a key's last bytes, the values that may stand there.
struct Wheels(Vec<Wheel>);

#[derive(Clone)]
struct Wheel {
    /// In order.
    values: Vec<u8>,
    /// How many values are less than each byte.
    places: [u8; 256],
}

impl Wheel {
    fn of(is_value: impl Fn(u8) -> bool) -> Self {
        let mut wheel = Self { values: Vec::new(), places: [0; 256] };
        for byte in 0..=255 {
            wheel.places[usize::from(byte)] =
                u8::try_from(wheel.values.len()).expect("at most 255");
            if is_value(byte) {
                wheel.values.push(byte);
            }
        }
        wheel
    }
}

impl Wheels {
    /// The bytes seen in keys of one form.
    fn seen(keys: &[&[u8]]) -> Self {
        let mut seen = vec![[false; 256]; keys.first().map_or(0, |key| key.len().min(MAX_WHEELS))];
        for key in keys {
            for (seen, &byte) in seen.iter_mut().zip(key.iter().rev()) {
                seen[usize::from(byte)] = true;
            }
        }
        Self(seen.iter().map(|seen| Wheel::of(|byte| seen[usize::from(byte)])).collect())
    }

    /// All digits where only digits are seen, in text other bytes as seen, else all bytes.
    fn natural(keys: &[&[u8]]) -> Self {
        let is_text = keys.iter().all(|key| is_text(key));
        let natural = |wheel: &Wheel| match &wheel.values[..] {
            _ if !is_text => Wheel::of(|_| true),
            values if values.iter().all(u8::is_ascii_digit) => {
                Wheel::of(|byte| byte.is_ascii_digit())
            }
            _ => wheel.clone(),
        };
        Self(Self::seen(keys).0.iter().map(natural).collect())
    }

    /// A random number of places that is less than these; `None` if there is none but 0.
    fn part(&self, width: &[u8], words: &mut impl Iterator<Item = u64>) -> Option<Vec<u8>> {
        let first = width.iter().position(|&places| places > 0)?;
        let mut random = |num_values: usize| {
            let value = words.next().expect("endless") % num_values as u64;
            u8::try_from(value).expect("less than 256")
        };
        let part = |_| {
            let mut part = vec![0; width.len()];
            part[first] = random(usize::from(width[first]) + 1);
            for (places, wheel) in part.iter_mut().zip(self.0.iter().rev()).skip(first + 1) {
                *places = random(wheel.values.len());
            }
            part
        };
        let is_inside = |part: &Vec<u8>| part[..] < *width && part.iter().any(|&places| places > 0);
        (0..MAX_TRIES).map(part).find(is_inside)
    }

    /// Where the wheels stand for a key's last bytes.
    fn places(&self, key: &[u8]) -> Vec<u8> {
        let bytes = &key[key.len() - self.0.len()..];
        let place = |(byte, wheel): (&u8, &Wheel)| wheel.places[usize::from(*byte)];
        bytes.iter().zip(self.0.iter().rev()).map(place).collect()
    }

    /// The places from a key to a later one; the most that there are if other bytes differ, too.
    fn width(&self, [start, end]: [&[u8]; 2]) -> Vec<u8> {
        let num_fixed = start.len() - self.0.len();
        let is_near = start[..num_fixed] == end[..num_fixed];
        let width = is_near.then(|| self.turned(&self.places(end), &self.places(start), false));
        width.flatten().unwrap_or_else(|| self.most())
    }

    fn most(&self) -> Vec<u8> {
        let greatest = |wheel: &Wheel| u8::try_from(wheel.values.len() - 1).expect("at most 255");
        self.0.iter().rev().map(greatest).collect()
    }

    /// The sum of two numbers of places, or the most that there are.
    fn sum(&self, places: &[u8], other: &[u8]) -> Vec<u8> {
        self.turned(places, other, true).unwrap_or_else(|| self.most())
    }

    /// The key that is so many places behind or before this one, if there is one.
    fn moved(&self, key: &[u8], way: &[u8], is_behind: bool) -> Option<Vec<u8>> {
        let places = self.turned(&self.places(key), way, is_behind)?;
        let mut moved = key.to_vec();
        for ((byte, place), wheel) in moved.iter_mut().rev().zip(places.iter().rev()).zip(&self.0) {
            *byte = wheel.values[usize::from(*place)];
        }
        Some(moved)
    }

    /// Turns the wheels up or down, if they can show the result.
    fn turned(&self, places: &[u8], by: &[u8], is_up: bool) -> Option<Vec<u8>> {
        let mut turned = places.to_vec();
        let mut carry = 0;
        for ((place, &by), wheel) in turned.iter_mut().zip(by).rev().zip(&self.0) {
            let num_values = i16::try_from(wheel.values.len()).expect("at most 256");
            let by = if is_up { i16::from(by) } else { -i16::from(by) };
            let sum = i16::from(*place) + by + carry;
            *place = u8::try_from(sum.rem_euclid(num_values)).expect("less than 256");
            carry = sum.div_euclid(num_values);
        }
        (carry == 0).then_some(turned)
    }
}

/// A pseudorandom number that depends on the bytes only.
pub(crate) fn rank(bytes: &[u8]) -> u64 {
    random::words(bloom_hash(bytes).to_u32().into()).next().expect("endless")
}
