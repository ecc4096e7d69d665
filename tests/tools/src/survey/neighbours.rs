//! Missing keys that look like the present ones, made from these.
//!
//! Programs ask for keys that could exist. What they ask for is not known, but the gaps between
//! present keys tell how far apart keys lie, so missing ones are made that lie as far from theirs.
//! Of the present keys 10, 12, 13 and 17 the gaps are 2, 1 and 4 wide. A missing key that lies
//! between gaps as wide as the first and the second one would lie in a gap of 3, and the one that
//! is as wide, or the next wider, is that from 13 to 17. So 14 is made, which is the smaller of the
//! two widths behind its start, and the next time such a pair is drawn 16, as far before its end.
//! Keys in bursts get missing ones in bursts that way, which random keys between the first and the
//! last one would not.

use leveldb_filter::bloom_hash;

use crate::random::words;

/// One in this many gaps, and those of equal width, count as about equally wide.
const PART_FITTING: usize = 100;
/// Only this many of a key's last bytes differ from the present key's.
const MAX_WHEELS: usize = 64;

/// A key, and the next one of its form if it is known.
pub(crate) type Neighbours<'a> = (&'a [u8], Option<&'a [u8]>);

/// At most `number` keys as near to keys of one form as these are to each other: the ways from a
/// missing key to the present ones before and behind it are as wide as two random gaps, and it lies
/// in a gap that is about as wide as both.
pub(crate) fn in_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps = gaps(alike);
    let dial = Dial::of(&gaps, |seen, byte| seen[usize::from(byte)]);
    let mut gaps: Vec<_> = gaps.into_iter().map(|gap| (dial.width(gap), gap)).collect();
    gaps.sort();
    // The place of the first gap that is as wide, or wider.
    let first = |least: u128| gaps.partition_point(|(width, _)| *width < least);
    let num_fitting = gaps.len().div_ceil(PART_FITTING);
    let mut random = picker(gaps.len() as u64);
    let mut keys = Vec::new();
    for (i, (width, _)) in gaps.iter().cycle().take(number).enumerate() {
        let (other_width, _) = random(&gaps);
        let start = first(width.saturating_add(other_width)).min(gaps.len() - num_fitting);
        let widest = gaps[start + num_fitting - 1].0;
        let num_alike = gaps[start..].partition_point(|(width, _)| *width <= widest);
        let (width_of_gap, [start, end]) = random(&gaps[first(gaps[start].0)..start + num_alike]);
        let way = (*width).min(other_width);
        if way.saturating_mul(2) <= width_of_gap {
            keys.extend(if i % 2 == 0 { dial.behind(start, way) } else { dial.before(end, way) });
        }
    }
    keys
}

/// At most `number` keys at random places in random gaps, in which digits count as digits.
pub(crate) fn inside_gaps(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let gaps = gaps(alike);
    let are_text = gaps.as_flattened().iter().all(|key| is_text(key));
    let dial = Dial::of(&gaps, |seen, byte| {
        let are_digits = (0..=u8::MAX).all(|b| b.is_ascii_digit() || !seen[usize::from(b)]);
        match are_text {
            true if are_digits => byte.is_ascii_digit(),
            true => seen[usize::from(byte)],
            false => true,
        }
    });
    let mut words = words(number as u64);
    let mut inside = |gap: &[&[u8]; 2]| {
        let num_inside = dial.width(*gap).checked_sub(1).filter(|&inside| inside > 0)?;
        let [high, low] = [(); 2].map(|()| u128::from(words.next().expect("endless")));
        dial.behind(gap[0], 1 + (high << 64 | low) % num_inside)
    };
    gaps.iter().cycle().take(number).filter_map(&mut inside).collect()
}

/// `number` keys with some bytes appended, which are just behind the present ones.
pub(crate) fn longer(alike: &[Neighbours<'_>], number: usize) -> Vec<Vec<u8>> {
    let keys = alike.iter().cycle().take(number);
    let with = |((key, _), word): (&Neighbours<'_>, u64)| [key, &word.to_le_bytes()[..4]].concat();
    keys.zip(words(number as u64)).map(with).collect()
}

/// Each key with the next one.
fn gaps<'a>(alike: &[Neighbours<'a>]) -> Vec<[&'a [u8]; 2]> {
    alike.iter().filter_map(|&(key, next)| Some([key, next?])).collect()
}

/// Picks one of several, the same ones in every run.
fn picker<T: Clone>(seed: u64) -> impl FnMut(&[T]) -> T {
    let mut words = words(seed);
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

/// Numbers the keys of one form, as an odometer does: each of their last bytes is a wheel that
/// shows the values which may stand there.
struct Dial {
    /// The values of each wheel in order, of the last byte first.
    wheels: Vec<Vec<u8>>,
}

impl Dial {
    /// Of as many last bytes as a number has room for; `shows` tells whether a wheel shows a value,
    /// given those that are seen there.
    fn of(gaps: &[[&[u8]; 2]], shows: impl Fn(&[bool; 256], u8) -> bool) -> Self {
        let keys = gaps.as_flattened();
        let len = keys.first().map_or(0, |key| key.len());
        let mut num_numbers: u128 = 1;
        let wheels = (0..len.min(MAX_WHEELS)).map_while(|i| {
            let mut seen = [false; 256];
            for key in keys {
                seen[usize::from(key[len - 1 - i])] = true;
            }
            let wheel: Vec<_> = (0..=u8::MAX).filter(|&byte| shows(&seen, byte)).collect();
            num_numbers = num_numbers.checked_mul(wheel.len() as u128)?;
            Some(wheel)
        });
        Self { wheels: wheels.collect() }
    }

    /// The part of a key that stays as it is, and the number of the others.
    fn read<'k>(&self, key: &'k [u8]) -> (&'k [u8], u128) {
        let (fixed, last) = key.split_at(key.len() - self.wheels.len());
        let number = last.iter().zip(self.wheels.iter().rev()).fold(0, |number, (byte, wheel)| {
            number * wheel.len() as u128 + wheel.partition_point(|value| value < byte) as u128
        });
        (fixed, number)
    }

    /// From one key to a later one; as wide as can be if other bytes differ, too.
    fn width(&self, [start, end]: [&[u8]; 2]) -> u128 {
        let [(fixed, first), (other, last)] = [start, end].map(|key| self.read(key));
        if fixed == other { last - first } else { u128::MAX }
    }

    fn behind(&self, key: &[u8], way: u128) -> Option<Vec<u8>> {
        let (fixed, number) = self.read(key);
        self.show(fixed, number.checked_add(way)?)
    }

    fn before(&self, key: &[u8], way: u128) -> Option<Vec<u8>> {
        let (fixed, number) = self.read(key);
        self.show(fixed, number.checked_sub(way)?)
    }

    /// The key of a number, if there are wheels for it.
    fn show(&self, fixed: &[u8], mut number: u128) -> Option<Vec<u8>> {
        let mut last = Vec::new();
        for wheel in &self.wheels {
            let place = usize::try_from(number % wheel.len() as u128).ok()?;
            last.push(wheel[place]);
            number /= wheel.len() as u128;
        }
        let key = fixed.iter().chain(last.iter().rev()).copied().collect();
        (number == 0).then_some(key)
    }
}

/// A pseudorandom number that depends on the bytes only.
pub(crate) fn rank(bytes: &[u8]) -> u64 {
    words(bloom_hash(bytes).to_u32().into()).next().expect("endless")
}
