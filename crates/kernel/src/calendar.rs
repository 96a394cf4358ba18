//! The page that a kernel shares with the calendar: what time it is, whether the kernel runs, until when, and when it wants
//! to run next.
//!
//! Fields and their owners are those of `um_timetravel.h`, version 2. A kernel that runs moves `NOW` up to
//! `FREE_UNTIL` by itself, and writes its own request; so a run needs no messages but RUN and WAIT. Each kernel has a page
//! of its own, so kernels can be at different instants.

use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

const VERSION: usize = 0;
const LENGTH: usize = 4;
const FREE_UNTIL: usize = 8;
const NOW: usize = 16;
const RUNNING: usize = 24;
const MOST: usize = 26;
const CLIENTS: usize = 4096;
const CLIENT: usize = 128;
/// In a client's part: it shares time; it has a request; its request.
const CAPABILITIES: usize = 0;
const FLAGS: usize = 4;
const REQUEST: usize = 8;

/// The clients of a page: the calendar itself, and the kernel.
const ALL: usize = 2;
/// The number of the kernel among the clients. START answers with it.
pub const KERNEL: u64 = 1;
const OWN: usize = CLIENTS + CLIENT * KERNEL as usize;

/// The page of one kernel.
#[derive(Debug)]
pub struct Page {
    file: File,
    page: MmapRegion,
}

impl Page {
    /// A page at instant 0.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new() -> io::Result<Page> {
        let length = CLIENTS + CLIENT * ALL;
        let file = File::from(memfd_create(c"calendar", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(length as u64)?;
        let page = MmapRegion::from_file(FileOffset::new(file.try_clone()?, 0), length).map_err(io::Error::other)?;
        let page = Page { file, page };
        page.store(VERSION, 2_u32);
        page.store(LENGTH, length as u32);
        page.store(MOST, ALL as u16);
        page.store(CLIENTS + CAPABILITIES, 1_u32);
        Ok(page)
    }

    pub fn now(&self) -> u64 {
        self.load(NOW)
    }

    /// The kernel waits, and it is `now`.
    pub fn stop(&self, now: u64) {
        self.store(RUNNING, 0_u16);
        self.store(NOW, now);
    }

    /// The kernel is about to run from `now` on, alone until `limit`.
    pub fn run(&self, now: u64, limit: u64) {
        self.store(NOW, now);
        self.store(FREE_UNTIL, limit);
        self.forget();
        self.store(RUNNING, KERNEL as u16);
    }

    /// The running kernel must not pass `limit`.
    pub fn limit(&self, limit: u64) {
        if limit < self.load(FREE_UNTIL) {
            self.store(FREE_UNTIL, limit);
        }
    }

    /// The kernel has not got as far as this; 0 before its first run.
    pub fn free_until(&self) -> u64 {
        self.load(FREE_UNTIL)
    }

    /// When the kernel wants to run next.
    pub fn request(&self) -> Option<u64> {
        let wants = self.load::<u32>(OWN + FLAGS) & 1 == 1;
        wants.then(|| self.load(OWN + REQUEST))
    }

    /// The kernel has no request.
    pub fn forget(&self) {
        self.store(OWN + FLAGS, 0_u32);
    }

    fn load<T: vm_memory::AtomicAccess>(&self, at: usize) -> T {
        self.page.as_volatile_slice().load(at, Ordering::SeqCst).expect("a field of the page")
    }

    fn store<T: vm_memory::AtomicAccess>(&self, at: usize, value: T) {
        self.page.as_volatile_slice().store(value, at, Ordering::SeqCst).expect("a field of the page");
    }
}

impl AsFd for Page {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_the_request_and_a_limit_only_comes_nearer() {
        let page = Page::new().expect("memory");
        page.store(OWN + REQUEST, 70_u64);
        page.store(OWN + FLAGS, 1_u32);
        assert_eq!(page.request(), Some(70));
        page.run(70, 100);
        assert_eq!((page.now(), page.request()), (70, None));
        page.limit(120);
        assert_eq!(page.load::<u64>(FREE_UNTIL), 100);
        page.limit(90);
        assert_eq!(page.load::<u64>(FREE_UNTIL), 90);
    }
}
