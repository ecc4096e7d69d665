//! Absent keys that look like the present ones, made from these.

use leveldb_filter::bloom_hash;

use crate::common::random;

/// How far keys are counted up.
const STEPS: [usize; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// One in so many gaps, and those of equal width, count as about equally wide.
const PART_FITTING: usize = 100;
/// Only so many of a key's last bytes are counted up.
const MAX_WHEELS: usize = 64;

/// A key, and the next one of its form if it is known.
pub(crate) type Neighbours<'a> = (&'a [u8], Option<&'a [u8]>);

/// At most `number` keys as near to keys of one form as these are to each other: the ways from an
/// absent key to the present ones before and behind it are as wide as two random gaps, and it lies
/// in a gap that is about as wide as both.
pub(crate) fn in_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps: Vec<_> = alike.iter().filter_map(|&(key, next)| Some([key, next?])).collect();
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
        let both = first(&wheels.sum(width, other_width)).min(gaps.len() - num_fitting);
        let widest = &gaps[both + num_fitting - 1].0;
        let num_alike = gaps[both..].partition_point(|(width, _)| width <= widest);
        let fitting = &gaps[first(&gaps[both].0)..both + num_alike];
        let (width_of_gap, [start, end]) = random(fitting);
        let way = width.min(other_width);
        if wheels.sum(way, way) <= *width_of_gap {
            keys.extend(wheels.moved(if i % 2 == 0 { start } else { end }, way, i % 2 == 0));
        }
    }
    keys
}

/// At most `number` keys, counted up by the bytes seen at each position.
pub(crate) fn counted_as_seen(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let keys: Vec<_> = alike.iter().map(|(key, _)| *key).collect();
    counted(alike, &Wheels::seen(&keys), number)
}

/// At most `number` keys, counted up by bytes.
pub(crate) fn counted_by_bytes(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    counted(alike, &Wheels::all(), number)
}

fn counted(alike: &[Neighbours<'_>], wheels: &Wheels, number: usize) -> Vec<Vec<u8>> {
    let greatest = alike.iter().map(|(key, _)| *key).max();
    let mut random = picker(number as u64);
    let mut keys = Vec::new();
    for &(key, _) in alike.iter().cycle().take(number) {
        let mut next = key.to_vec();
        let num_steps = (0..STEPS.len()).take_while(|_| wheels.turn(&mut next)).count();
        if num_steps > 0 {
            next.copy_from_slice(key);
            for _ in 0..random(&STEPS[..num_steps]) {
                wheels.turn(&mut next);
            }
            keys.push(next);
        }
    }
    keys.retain(|key| Some(&key[..]) < greatest);
    keys
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
    let is_text = key.iter().all(|byte| (b' '..=b'~').contains(byte));
    let of_text = |byte: &u8| if byte.is_ascii_alphanumeric() { b'0' } else { *byte };
    if is_text { key.iter().map(of_text).collect() } else { key.len().to_be_bytes().into() }
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

    fn place(&self, byte: u8) -> usize {
        self.places[usize::from(byte)].into()
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

    fn all() -> Self {
        Self(vec![Wheel::of(|_| true); MAX_WHEELS])
    }

    /// Counts up; `false` if no key is left.
    fn turn(&self, key: &mut [u8]) -> bool {
        for (byte, wheel) in key.iter_mut().rev().zip(&self.0) {
            let place = wheel.place(*byte) + 1;
            *byte = wheel.values[place % wheel.values.len()];
            if place < wheel.values.len() {
                return true;
            }
        }
        false
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
    fn sum(&self, of: &[u8], other: &[u8]) -> Vec<u8> {
        self.turned(of, other, true).unwrap_or_else(|| self.most())
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
