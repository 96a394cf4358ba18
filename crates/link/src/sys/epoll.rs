//! Waiting with a timeout in nanoseconds.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::sys::epoll::EpollEvent;

/// Waits until a descriptor of `epoll` is ready or `timeout` is over; gives the number of events.
pub fn wait(epoll: BorrowedFd<'_>, events: &mut [EpollEvent], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|span| libc::timespec {
        tv_sec: span.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: span.subsec_nanos() as _,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: EpollEvent is a transparent epoll_event, so the kernel may write `events.len()` of
    // them; `timeout` is null or points at a timespec that outlives the call; the mask is null.
    let ready = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            events.len() as libc::c_int,
            timeout,
            std::ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    if ready < 0 { Err(io::Error::last_os_error()) } else { Ok(ready as usize) }
}
