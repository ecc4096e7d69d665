//! Temporary files and directories.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// Cargo's for tests and benches; the system's for examples.
pub(crate) fn temp_dir() -> PathBuf {
    option_env!("CARGO_TARGET_TMPDIR").map_or_else(env::temp_dir, PathBuf::from)
}

/// A path that nothing else uses, deleted when dropped.
pub(crate) struct TempPath(pub(crate) PathBuf);

impl TempPath {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("leveldb-{}-{count}.tmp", process::id());
        Self(temp_dir().join(name))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.to_str().expect("a path in UTF-8").as_bytes()
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
    }
}
