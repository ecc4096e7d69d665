//! Counts a thread's allocations, and their bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// One per thread, since tests run in parallel.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes in use, counted from a number that leaves room for freeing what other threads
    /// allocated, and their peak since [`peak_bytes`] began.
    static BYTES: Cell<usize> = const { Cell::new(usize::MAX / 2) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// For `#[global_allocator]`.
pub struct CountingAllocator;

impl CountingAllocator {
    fn count(layout: Layout) {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BYTES.set(BYTES.get() + layout.size());
        PEAK.set(PEAK.get().max(BYTES.get()));
    }
}

// SAFETY: all methods pass on to `System` what their caller guarantees, and the counters do not
// allocate. The provided method calls the first and the last of these.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout);
        // SAFETY: the caller guarantees what `System` asks for.
        unsafe { System.alloc(layout) }
    }

    // The provided method would touch every page.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout);
        // SAFETY: the caller guarantees what `System` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size());
        // SAFETY: `ptr` came from `System`, with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// The result of `work`, and how many allocations it made.
pub fn count_allocations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let result = work();
    (result, ALLOCATIONS.get() - before)
}

/// The peak of the memory in use during `work`, over what was in use before.
pub fn peak_bytes(work: impl FnOnce()) -> usize {
    let before = BYTES.get();
    PEAK.set(before);
    work();
    PEAK.get() - before
}
