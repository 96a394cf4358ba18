//! Frames to any interface of a namespace, in batches.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{HEADER_OCTETS, PacketError, unbound_socket};
use crate::namespace::Namespace;
use crate::sys::message::{BATCH_MAX, send_batch};

/// Opens the socket for [`Sender::new`] in `namespace`. It receives nothing.
pub fn open_sender(namespace: &Namespace) -> Result<OwnedFd, PacketError> {
    namespace.run(unbound_socket)?
}

/// Why the kernel did not take a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The namespace has no interface of this index: it is gone, and its station with it.
    #[error("the interface is gone")]
    NoInterface,
    /// The interface is not set up.
    #[error("the interface is down")]
    Down,
    /// The kernel's queue is full: send it again later.
    #[error("the kernel's queue is full")]
    WouldBlock,
    /// The other end of the veth pair did not take the frame, because it has just gone down.
    ///
    /// A moment later the kernel drops such frames silently: watch carrier instead ([`crate::netlink::LinkMonitor`]).
    #[error("the other end dropped the frame")]
    Dropped,
    /// A frame of this length cannot be sent: under 14 octets, or over the interface's MTU.
    #[error("a frame of {octets} octets cannot be sent")]
    Length {
        /// The frame's length.
        octets: usize,
    },
    /// The kernel refused with this `errno`.
    #[error("sending failed: {}", io::Error::from_raw_os_error(*.0))]
    System(i32),
}

impl SendError {
    fn of(error: &io::Error, octets: usize) -> SendError {
        match error.raw_os_error().unwrap_or(0) {
            libc::ENXIO | libc::ENODEV => SendError::NoInterface,
            libc::ENETDOWN => SendError::Down,
            libc::EAGAIN => SendError::WouldBlock,
            libc::ENOBUFS => SendError::Dropped,
            libc::EMSGSIZE => SendError::Length { octets },
            libc::EINVAL if octets < HEADER_OCTETS => SendError::Length { octets },
            errno => SendError::System(errno),
        }
    }
}

/// Sends frames.
#[derive(Debug)]
pub struct Sender {
    socket: OwnedFd,
}

impl Sender {
    /// Sends through a socket of [`open_sender`].
    pub fn new(socket: OwnedFd) -> Sender {
        Sender { socket }
    }

    /// The same socket, for another thread.
    pub fn try_clone(&self) -> io::Result<Sender> {
        Ok(Sender { socket: self.socket.try_clone()? })
    }

    /// Sends each frame to the interface of its index, in order; never waits.
    ///
    /// `results` is cleared, and gets one result a frame. A failed frame does not affect the next. The receiving host
    /// handles its frame, up to its protocols, during the call: 1 to 2 µs a frame.
    pub fn send(&mut self, batch: &[(u32, &[u8])], results: &mut Vec<Result<(), SendError>>) {
        results.clear();
        while results.len() < batch.len() {
            let rest = &batch[results.len()..];
            match send_batch(self.socket.as_fd(), &rest[..rest.len().min(BATCH_MAX)]) {
                // The next call reports what stopped the kernel after the first frame.
                Ok(sent) => results.extend(std::iter::repeat_n(Ok(()), sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => results.push(Err(SendError::of(&error, rest[0].1.len()))),
            }
        }
    }
}

impl AsFd for Sender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
