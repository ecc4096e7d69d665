//! Whether a program has a database open, and therefore holds its LOCK.

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
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = format!("{major}:{minor}");
    // Subvolumes of btrfs have devices that neither mounts nor locks tell: the inode must suffice.
    let is_mounted = mounts.lines().any(|line| line.split(' ').nth(2) == Some(&mounted));
    let device = if is_mounted { format!("{major:02x}:{minor:02x}:") } else { String::new() };
    are_held(&locks, &device, lock.ino())
}

/// Whether somebody holds a lock of this file. Who waits for one has a field more.
pub(crate) fn are_held(locks: &str, device: &str, inode: u64) -> bool {
    let inode = format!(":{inode}");
    let mut files = locks.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.any(|file| file.starts_with(device) && file.ends_with(&inode))
}

/// Opens it in a way that a holder prevents.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_held(lock: &Path) -> bool {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    // O_EXLOCK and O_NONBLOCK: locks of all kinds exclude each other there.
    #[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "openbsd"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, 0x20 | 0x4);
    lock.exists() && options.read(true).open(lock).is_err()
}
