//! Absent keys that look like the present ones, made from these.

use leveldb_filter::bloom_hash;

use crate::random;

/// How many successive keys are counted.
const MAX_STEPS: usize = 8;
/// Only so many of a key's last bytes are counted up.
const MAX_WHEELS: usize = 64;
/// How many gaps are tried for a key.
const MAX_TRIES: usize = 12;

/// A key, and the next one of its form if it is known.
pub(crate) type Neighbours<'a> = (&'a [u8], Option<&'a [u8]>);

/// At most `number` keys as near to keys of one form as these are to each other: of two random
/// gaps, the narrower one is as wide as the way from an absent key to the nearer neighbour.
pub(crate) fn in_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps: Vec<_> = alike.iter().filter_map(|&(key, next)| Some([key, next?])).collect();
    let wheels = Wheels::seen(gaps.as_flattened());
    let mut random = picker(gaps.len() as u64);
    let mut keys = Vec::new();
    for (i, &step) in gaps.iter().cycle().take(number).enumerate() {
        let steps = [step, random(&gaps)];
        let fitting = |[start, end]: [&[u8]; 2]| {
            let behind = steps.iter().filter_map(|step| Some((wheels.shifted(start, step)?, step)));
            let (behind, [from, to]) = behind.min()?;
            let before = wheels.shifted(end, &[to, from])?;
            let fits = start < &behind[..] && behind <= before && &before[..] < end;
            fits.then_some(if i % 2 == 0 { behind } else { before })
        };
        keys.extend((0..MAX_TRIES).find_map(|_| fitting(random(&gaps))));
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
    let keys = alike.iter().cycle().take(number);
    let successors = keys.map(|(key, _)| wheels.successors(key));
    let picked = successors.filter(|keys| !keys.is_empty()).map(|keys| random(&keys));
    picked.filter(|key| Some(&key[..]) < greatest).collect()
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
    if is_text { key.iter().map(of_text).collect() } else { vec![0; key.len()] }
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

    /// Keys that follow this one, in order.
    fn successors(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let mut successors = Vec::new();
        let mut next = key.to_vec();
        while successors.len() < MAX_STEPS && self.turn(&mut next) {
            successors.push(next.clone());
        }
        successors
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

    /// The key as far from this one as `to` from `from`, of the same form, if there is one.
    fn shifted(&self, key: &[u8], [from, to]: &[&[u8]; 2]) -> Option<Vec<u8>> {
        let mut shifted = key.to_vec();
        let mut carry = 1;
        for (i, wheel) in (0..key.len()).rev().zip(&self.0) {
            let num_values = wheel.values.len();
            // The same in all keys.
            if num_values == 1 {
                continue;
            }
            // Two turns more and a carry of one more, so that no number is negative.
            let [key, from, to] = [key[i], from[i], to[i]].map(|byte| wheel.place(byte));
            let sum = 2 * num_values + key + to + carry - from - 1;
            shifted[i] = wheel.values[sum % num_values];
            carry = sum / num_values - 1;
        }
        (carry == 1).then_some(shifted)
    }
}

/// A pseudorandom number that depends on the bytes only.
pub(crate) fn rank(bytes: &[u8]) -> u64 {
    random::words(bloom_hash(bytes).to_u32().into()).next().expect("endless")
}
