//! Kinds of keys that people have, with the absent ones that a program would ask for.

use crate::random::words;

/// Which numbers have keys, and how a number becomes one.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// One number in this many has a key, and one between each two is absent; if 1, a random half.
    step: u64,
    key: fn(u64) -> Vec<u8>,
}

fn big_endian(number: u64) -> Vec<u8> {
    number.to_be_bytes().into()
}

fn random(number: u64) -> [u8; 8] {
    words(number).next().expect("endless").to_be_bytes()
}

#[rustfmt::skip]
pub(crate) const KINDS: [Kind; 9] = [
    Kind { name: "u64", step: 1, key: big_endian },
    Kind { name: "u64, step 2", step: 2, key: big_endian },
    Kind { name: "u64, step 3", step: 3, key: big_endian },
    Kind { name: "u64, step 10", step: 10, key: big_endian },
    Kind { name: "12 digits", step: 1, key: |n| format!("{n:012}").into() },
    Kind { name: "16 hex digits", step: 1, key: |n| format!("{n:016x}").into() },
    Kind { name: "user:N:name", step: 1, key: |n| format!("user:{n}:name").into() },
    Kind { name: "x, y", step: 1, key: |n| [n >> 8, 77 + n % 256].map(u64::to_be_bytes).concat() },
    Kind { name: "random", step: 1, key: |n| random(n).into() },
];

impl Kind {
    /// The present keys, and the absent ones, each in order.
    pub(crate) fn keys(&self, num_keys: usize) -> [Vec<Vec<u8>>; 2] {
        let mut words = words(43);
        let mut below = |end: u64| words.next().expect("endless") % end;
        let mut keys = [Vec::new(), Vec::new()];
        for number in 1 << 20.. {
            if keys[0].len() == num_keys {
                break;
            }
            if self.step == 1 {
                keys[usize::from(below(2) == 1)].push((self.key)(number));
            } else {
                let behind = 1 + below(self.step - 1);
                keys[0].push((self.key)(self.step * number));
                keys[1].push((self.key)(self.step * number + behind));
            }
        }
        for keys in &mut keys {
            keys.sort_unstable();
        }
        keys
    }
}
