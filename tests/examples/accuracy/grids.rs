//! Kinds of keys of which many have equal hashes in LevelDB's hash: one byte counts slowly, and two
//! bytes of the next group of four form a grid.

use crate::kinds::{HALF, Kind, low_byte, low_u32};

const fn kind(limit: u64, key: fn([u8; 8], u64) -> Vec<u8>) -> Kind {
    crate::kinds::kind(HALF, limit, key)
}

/// A big-endian u32, then two u16 below `rows` and `columns`.
fn grid(n: u64, rows: u64, columns: u64) -> Vec<u8> {
    let [row, column] = [n / columns % rows, n % columns].map(low_byte);
    [&low_u32(n / columns / rows).to_be_bytes()[..], &[0, row, 0, column]].concat()
}

/// `FoundationDB`'s encoding of four integers from 1 to 255.
fn tuple(n: u64) -> Vec<u8> {
    let integers = [n / 60_000, n / 240 % 250, n / 24 % 10, n % 24];
    integers.into_iter().flat_map(|integer| [0x15, low_byte(1 + integer)]).collect()
}

/// A string as a key of Chromium's `IndexedDB`: a prefix, a type, a length, and UTF-16.
fn indexed_db(text: &str) -> Vec<u8> {
    let utf_16 = text.encode_utf16().flat_map(u16::to_be_bytes);
    [0, 1, 1, 1, 1, low_byte(text.len() as u64)].into_iter().chain(utf_16).collect()
}

/// What an index has for each event, such as a transaction's log: an address of 20 bytes, the same
/// for all, a block, and two small numbers.
pub(crate) const EVENTS: Kind =
    kind(1 << 24, |address, n| [&address.repeat(3)[..20], &grid(n, 10, 6)].concat());

pub(crate) const ITEMS: Kind = kind(900_000, |_, n| indexed_db(&format!("item-{n:06}")));

/// `/a/3/f/9.json`
pub(crate) const PATHS: Kind = kind(1, |_, n| {
    format!("/{:x}/{:x}/{:x}/{:x}.json", n >> 12, n >> 8 & 15, n >> 4 & 15, n & 15).into()
});

pub(crate) const FOUR_U16: Kind = kind(1, |_, n| {
    [12, 8, 4, 0].into_iter().flat_map(|shift| [0, low_byte(n >> shift & 15)]).collect()
});

const DAYS: Kind = kind(33_000, |_, n| date(n).into());

/// From 1901 on, with 365 days a year.
pub(crate) const DAYS_OF_YEARS: Kind =
    kind(1, |_, n| date(306 + n / 1_460 * 1_461 + n % 1_460).into());

/// A day in 2000, for [`date`].
pub(crate) const IN_2000: u64 = 36_500;

/// As `yyyymmdd`, of a day after the first of March 1900, and before that of 2100.
pub(crate) fn date(day: u64) -> String {
    // Years that begin in March end with the leap day.
    let (leap_years, day) = (day / 1_461, day % 1_461);
    let year = (day / 365).min(3);
    let day = day - 365 * year;
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    format!("{}{:02}{day:02}", 1_900 + 4 * leap_years + year + month / 10, (month + 2) % 12 + 1)
}

/// Their names, and how many keys a database has at most.
pub(crate) const GRIDS: [(&str, Kind, usize); 12] = [
    ("u32, u16 < 16, u16 < 24", kind(1 << 30, |_, n| grid(n, 16, 24)), MOST),
    (
        "u32, u16 < 16, u16 < 24, a byte",
        kind(1 << 30, |_, n| [&grid(n, 16, 24)[..], b"v"].concat()),
        MOST,
    ),
    (
        "u32, u16 < 16, u16 < 16, a byte",
        kind(1 << 30, |_, n| [&grid(n, 16, 16)[..], b"v"].concat()),
        MOST,
    ),
    (
        "u32, u16 < 64, u16 < 64, a byte",
        kind(1 << 30, |_, n| [&grid(n, 64, 64)[..], b"v"].concat()),
        MOST,
    ),
    ("FoundationDB's tuple of integers", kind(1 << 23, |_, n| tuple(n)), MOST),
    (
        "FoundationDB's tuple with a name",
        kind(1 << 23, |_, n| [&tuple(n)[..], b"\x02name\0"].concat()),
        MOST,
    ),
    (
        "IndexedDB's `userN@example.com`",
        kind(1 << 40, |_, n| indexed_db(&format!("user{n}@example.com"))),
        MOST,
    ),
    (
        "`202401312355Z`, every 5 minutes",
        kind(1 << 21, |_, n| {
            format!("{}{:02}{:02}Z", date(IN_2000 + n / 288), n / 12 % 24, n % 12 * 5).into()
        }),
        MOST,
    ),
    (
        "u32, IPv4 address, port",
        kind(1 << 30, |_, n| {
            let host = [10, low_byte(n / 30 % 8), 0, low_byte(1 + n % 30)];
            [&low_u32(n / 240).to_be_bytes()[..], &host, &8_080_u16.to_be_bytes()].concat()
        }),
        MOST,
    ),
    (
        "`v1.2.5.5`",
        kind(1, |_, n| {
            format!("v{}.{}.{}.{}", n / 1_000, n / 100 % 10, n / 10 % 10, n % 10).into()
        }),
        5_000,
    ),
    ("`/a/3/f/9.json`", PATHS, 30_000),
    ("`20240131`, days", DAYS, 10_000),
];
const MOST: usize = 60_000;
