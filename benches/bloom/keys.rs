//! Key sets, the same in every run.

use crate::common::random::words;

/// Keys stored back to back, as in an engine's blocks.
pub(crate) struct Keys {
    bytes: Vec<u8>,
    lens: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyLen {
    /// A fixed number of bytes.
    Fixed(usize),
    /// 8 to 40 bytes.
    Mixed,
    /// `user:N:name`, where `N` has one to seven digits.
    Names,
}

impl KeyLen {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Fixed(len) => format!("{len} bytes"),
            Self::Mixed => "8 to 40 bytes".into(),
            Self::Names => "`user:N:name`".into(),
        }
    }
}

impl Keys {
    /// Keys of different seeds differ, except by chance.
    pub(crate) fn new(num_keys: usize, key_len: KeyLen, seed: u64) -> Self {
        let mut words = words(seed);
        let (mut bytes, mut lens) = (Vec::new(), Vec::with_capacity(num_keys));
        for _ in 0..num_keys {
            let start = bytes.len();
            let mut any_word = || words.next().expect("endless");
            let len = match key_len {
                KeyLen::Fixed(len) => len,
                KeyLen::Mixed => 8 + (any_word() % 33) as usize,
                KeyLen::Names => {
                    bytes.extend(format!("user:{}:name", any_word() % 10_000_000).bytes());
                    0 // random bytes
                }
            };
            bytes.extend(words.by_ref().take(len.div_ceil(8)).flat_map(u64::to_le_bytes).take(len));
            lens.push(bytes.len() - start);
        }
        Self { bytes, lens }
    }

    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        let mut rest = self.bytes.as_slice();
        let split = |&len: &usize| {
            let (key, behind) = rest.split_at(len);
            rest = behind;
            key
        };
        self.lens.iter().map(split).collect()
    }
}

/// Copies the keys, to lie side by side in their order.
impl<'a> FromIterator<&'a [u8]> for Keys {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(keys: I) -> Self {
        let (mut bytes, mut lens) = (Vec::new(), Vec::new());
        for key in keys {
            bytes.extend_from_slice(key);
            lens.push(key.len());
        }
        Self { bytes, lens }
    }
}

/// Random hashes, without keys.
pub(crate) fn hashes(seed: u64) -> impl Iterator<Item = u32> {
    words(seed).map(|word| (word >> 32) as u32)
}
