//! Waiting for descriptors, for a time, or for another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::sys;

/// Descriptors that one wait can name; the others are named by the next.
const EVENTS_MAX: usize = 64;

/// Waits for any of several descriptors to become readable, or for a time in nanoseconds.
///
/// A descriptor that stays readable is named by every wait. A descriptor with an error, or whose other end is gone, is
/// named too: reading it gives the reason.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

impl Waiter {
    /// A waiter for nothing yet.
    pub fn new() -> io::Result<Waiter> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Waiter { epoll, events: vec![EpollEvent::empty(); EVENTS_MAX] })
    }

    /// Waits for `descriptor` too, under the name `token`.
    ///
    /// Remove it before closing it: while a copy of it is open elsewhere, it would still be named.
    pub fn add(&mut self, descriptor: impl AsFd, token: u64) -> io::Result<()> {
        Ok(self.epoll.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN, token))?)
    }

    /// Waits for `descriptor` no more.
    pub fn remove(&mut self, descriptor: impl AsFd) -> io::Result<()> {
        Ok(self.epoll.delete(descriptor)?)
    }

    /// Waits until a descriptor is readable or `timeout` is over; `None` waits for ever.
    ///
    /// Gives the tokens of those that are readable: none after the timeout, and none if a signal
    /// ended the wait. How late the timeout ends is up to the timer slack of the thread
    /// ([`crate::clock::set_timer_slack`]). Needs Linux 5.11.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<impl Iterator<Item = u64> + '_> {
        let ready = match sys::epoll::wait(self.epoll.0.as_fd(), &mut self.events, timeout) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => 0,
            ready => ready?,
        };
        Ok(self.events[..ready].iter().map(EpollEvent::data))
    }
}

/// Ends another thread's wait: add it to a [`Waiter`], and call [`Wake::wake`] from anywhere.
#[derive(Debug)]
pub struct Wake {
    event: EventFd,
}

impl Wake {
    /// A wake that has not been called.
    pub fn new() -> io::Result<Wake> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Ok(Wake { event: EventFd::from_flags(flags)? })
    }

    /// Makes the descriptor readable, until [`Wake::clear`].
    pub fn wake(&self) -> io::Result<()> {
        match self.event.write(1) {
            // The count is full: it has been woken often enough.
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes the descriptor unreadable again; true if it had been woken.
    pub fn clear(&self) -> io::Result<bool> {
        match self.event.read() {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_wait_ends_with_its_timeout_and_not_before() {
        let mut waiter = Waiter::new().unwrap();
        let span = Duration::from_micros(300);
        let start = Instant::now();
        assert_eq!(waiter.wait(Some(span)).unwrap().count(), 0);
        assert!(start.elapsed() >= span);
    }

    #[test]
    fn a_wake_from_another_thread_ends_the_wait_until_it_is_cleared() {
        let (mut waiter, wake) = (Waiter::new().unwrap(), Wake::new().unwrap());
        waiter.add(&wake, 9).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| wake.wake().unwrap());
            assert_eq!(waiter.wait(None).unwrap().collect::<Vec<_>>(), [9]);
        });
        assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().collect::<Vec<_>>(), [9]);
        assert!(wake.clear().unwrap());
        assert!(!wake.clear().unwrap());
        assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
    }

    #[test]
    fn a_removed_descriptor_is_not_named() {
        let (mut waiter, wake) = (Waiter::new().unwrap(), Wake::new().unwrap());
        waiter.add(&wake, 1).unwrap();
        wake.wake().unwrap();
        waiter.remove(&wake).unwrap();
        assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
    }
}
