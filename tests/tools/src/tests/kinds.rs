//! Kinds of keys that people have, with the absent ones that a program would ask for.

use crate::random::words;

/// Which numbers have keys, and how a number becomes one.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    numbers: Numbers,
    key: fn(u64) -> Vec<u8>,
}

enum Numbers {
    /// Of successive numbers a random half is present.
    Half,
    /// One in so many is present, and one between each two is absent.
    Steps(u64),
    /// A time shifted by 24 bits, and a counter that goes on: bursts of up to 32 at a time, one in
    /// eight absent, as is the next after each burst.
    Bursts,
}
use Numbers::{Bursts, Half, Steps};

fn big_endian(number: u64) -> Vec<u8> {
    number.to_be_bytes().into()
}

fn random(number: u64) -> [u8; 8] {
    words(number).next().expect("endless").to_be_bytes()
}

#[rustfmt::skip]
pub(crate) const KINDS: [Kind; 11] = [
    Kind { name: "u64", numbers: Half, key: big_endian },
    Kind { name: "u64, step 2", numbers: Steps(2), key: big_endian },
    Kind { name: "u64, step 3", numbers: Steps(3), key: big_endian },
    Kind { name: "u64, step 10", numbers: Steps(10), key: big_endian },
    Kind { name: "12 digits", numbers: Half, key: |n| format!("{n:012}").into() },
    Kind { name: "16 digits", numbers: Half, key: |n| format!("{n:016}").into() },
    Kind { name: "16 hex digits", numbers: Half, key: |n| format!("{n:016x}").into() },
    Kind { name: "user:N:name", numbers: Half, key: |n| format!("user:{n}:name").into() },
    Kind { name: "x, y", numbers: Half, key: |n| [n >> 8, 77 + n % 256].map(u64::to_be_bytes).concat() },
    Kind { name: "ObjectId", numbers: Bursts, key: |n| {
        let counter = &n.to_be_bytes()[5..];
        [&(1_600_000_000 + (n >> 24)).to_be_bytes()[4..], b"maker", counter].concat()
    } },
    Kind { name: "random", numbers: Half, key: |n| random(n).into() },
];

impl Kind {
    /// The present keys, and the absent ones, each in order.
    pub(crate) fn keys(&self, num_keys: usize) -> [Vec<Vec<u8>>; 2] {
        let mut words = words(43);
        let mut below = |end: u64| words.next().expect("endless") % end;
        let mut keys = [Vec::new(), Vec::new()];
        let (mut number, mut counter) = (1 << 20, 1 << 20);
        while keys[0].len() < num_keys {
            let mut add = |number, is_present: bool| {
                keys[usize::from(!is_present)].push((self.key)(number));
            };
            match self.numbers {
                Half => add(number, below(2) == 0),
                Steps(step) => {
                    add(step * number, true);
                    add(step * number + 1 + below(step - 1), false);
                }
                Bursts => {
                    for i in 0..=below(32) {
                        add(number << 24 | counter, i == 0 || below(8) > 0);
                        counter += 1;
                    }
                    add(number << 24 | counter, false);
                    number += below(8);
                }
            }
            number += 1;
        }
        keys.each_mut().map(|keys| {
            keys.sort_unstable();
            std::mem::take(keys)
        })
    }
}
