//! Whether a program has a database open, and therefore holds its LOCK.
//!
//! It is only asked, as no kind of lock that could be taken would keep out all programs.

use std::path::Path;

/// Of all kinds: `LevelDB` takes a POSIX lock, goleveldb and rusty-leveldb one of `flock`.
#[cfg(target_os = "linux")]
pub(super) fn is_held(lock: &Path) -> bool {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let (Ok(lock), Ok(locks)) = (fs::metadata(lock), fs::read_to_string("/proc/locks")) else {
        return false;
    };
    let device = lock.dev();
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & !0xff;
    // Of a subvolume, btrfs has two minor numbers.
    let device = if major == 0 { "00:".into() } else { format!("{major:02x}:{minor:02x}:") };
    let inode = format!(":{}", lock.ino());
    // Who waits for a lock has one field more.
    let mut files = locks.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.any(|file| file.starts_with(&device) && file.ends_with(&inode))
}

/// `LevelDB` opens it so that nobody else can write to it.
#[cfg(windows)]
pub(super) fn is_held(lock: &Path) -> bool {
    use std::os::windows::fs::OpenOptionsExt;

    const ERROR_SHARING_VIOLATION: i32 = 32;
    let opened = std::fs::OpenOptions::new().read(true).share_mode(0).open(lock);
    opened.is_err_and(|error| error.raw_os_error() == Some(ERROR_SHARING_VIOLATION))
}

/// Of all kinds, which exclude each other.
#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "openbsd"))]
pub(super) fn is_held(lock: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;

    const O_NONBLOCK: i32 = 0x4;
    const O_EXLOCK: i32 = 0x20;
    let opened =
        std::fs::OpenOptions::new().read(true).custom_flags(O_EXLOCK | O_NONBLOCK).open(lock);
    opened.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

#[cfg(not(any(
    target_os = "linux",
    windows,
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd"
)))]
pub(super) fn is_held(_: &Path) -> bool {
    false
}
