//! Where threads wait for each other, thousands of times a second.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Looks at whether the others have come, before the thread lets another one run.
const LOOKS: u32 = 2_000;

/// A barrier whose waits are too short to sleep.
#[derive(Debug)]
pub(super) struct Meeting {
    of: usize,
    come: AtomicUsize,
    /// How often they have met.
    met: AtomicUsize,
    /// A thread has panicked, and will not come.
    broken: AtomicBool,
}

impl Meeting {
    pub fn of(threads: usize) -> Meeting {
        Meeting { of: threads, come: AtomicUsize::new(0), met: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits until all threads have come. The last one does `work` before the others go on, and all of them see what it did.
    ///
    /// # Panics
    /// If another thread has panicked.
    pub fn meet(&self, work: impl FnOnce()) {
        let met = self.met.load(Ordering::Acquire);
        if self.come.fetch_add(1, Ordering::AcqRel) + 1 == self.of {
            work();
            self.come.store(0, Ordering::Relaxed);
            self.met.store(met + 1, Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.met.load(Ordering::Acquire) == met {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread has panicked");
            looks += 1;
            if looks % LOOKS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }

    /// A watch over the thread: if it panics, those that wait for it do as well.
    pub fn watch(&self) -> impl Drop + use<'_> {
        Watch(self)
    }
}

struct Watch<'a>(&'a Meeting);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
