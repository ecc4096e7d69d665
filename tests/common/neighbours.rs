//! Absent keys that look like the present ones, made by counting up from these.

use leveldb_filter::bloom_hash;

use crate::random;

/// How many successive neighbours a key gets,
pub(crate) const MAX_STEPS: usize = 8;
/// and how many of its last bytes differ in the others.
const CHANGED: [usize; 6] = [1, 2, 3, 5, 8, 12];
/// Only so many of a key's last bytes are counted up.
const MAX_WHEELS: usize = 64;

/// What keys that count alike have in common: their length, and the separators in text.
pub(crate) fn form(key: &[u8]) -> Vec<u8> {
    let is_text = key.iter().all(|byte| (b' '..=b'~').contains(byte));
    let of_text = |byte: &u8| if byte.is_ascii_alphanumeric() { b'0' } else { *byte };
    if is_text { key.iter().map(of_text).collect() } else { vec![0; key.len()] }
}

/// An odometer: for each of a key's last bytes, the values that may stand there.
pub(crate) struct Wheels(Vec<[u64; 4]>);

impl Wheels {
    /// The bytes seen in keys of one form.
    pub(crate) fn seen(keys: &[&Vec<u8>]) -> Self {
        let mut wheels = vec![[0; 4]; keys.first().map_or(0, |key| key.len().min(MAX_WHEELS))];
        for key in keys {
            for (wheel, &byte) in wheels.iter_mut().zip(key.iter().rev()) {
                wheel[usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
        }
        Self(wheels)
    }

    pub(crate) fn all() -> Self {
        Self(vec![[u64::MAX; 4]; MAX_WHEELS])
    }

    /// Keys that follow this one, in order.
    pub(crate) fn neighbours(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let mut neighbours = Vec::new();
        let mut next = key.to_vec();
        while neighbours.len() < MAX_STEPS && self.turn(&mut next, 0) {
            neighbours.push(next.clone());
        }
        let mut words = random::words(bloom_hash(key).to_u32().into());
        for num_changed in CHANGED {
            let mut next = key.to_vec();
            if num_changed < key.len() && self.turn(&mut next, num_changed) {
                for (i, byte) in next.iter_mut().rev().enumerate().take(num_changed) {
                    let from = words.next().map_or(0, |word| word.to_le_bytes()[7]);
                    *byte = self.next(i, from).or(self.next(i, 0)).unwrap_or(*byte);
                }
                neighbours.push(next);
            }
        }
        neighbours
    }

    /// Counts up, leaving the last `num_last` bytes alone; `false` if no key is left.
    fn turn(&self, key: &mut [u8], num_last: usize) -> bool {
        for (i, byte) in key.iter_mut().rev().enumerate().skip(num_last).take(self.0.len()) {
            if let Some(next) = byte.checked_add(1).and_then(|from| self.next(i, from)) {
                *byte = next;
                return true;
            }
            *byte = self.next(i, 0).unwrap_or_default();
        }
        false
    }

    /// The least allowed byte from `from` up, `i` bytes before the end.
    fn next(&self, i: usize, from: u8) -> Option<u8> {
        let wheel = self.0.get(i)?;
        let mut word = usize::from(from >> 6);
        let mut bits = wheel[word] & u64::MAX << (from & 63);
        while bits == 0 {
            word += 1;
            bits = *wheel.get(word)?;
        }
        u8::try_from(64 * word + bits.trailing_zeros() as usize).ok()
    }
}

/// A pseudorandom number that depends on the bytes only.
pub(crate) fn rank(bytes: &[u8]) -> u64 {
    random::words(bloom_hash(bytes).to_u32().into()).next().expect("endless")
}
