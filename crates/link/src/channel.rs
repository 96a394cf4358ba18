//! Messages and descriptors between a supervisor and its child.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, recv, sendmsg, setsockopt, socketpair, sockopt,
};

use crate::sys;

pub use crate::sys::descriptor::DESCRIPTORS_MAX;

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The other end is closed: the other process has ended.
    #[error("the other end of the channel is closed")]
    Closed,
    /// The message is longer than the kernel takes, about 200 KiB: send it in parts.
    #[error("a message of {octets} octets is too long for the channel")]
    TooLong {
        /// Its length.
        octets: usize,
    },
    /// Descriptors of the message did not arrive: this process may have no more open.
    #[error("descriptors were lost; the limit of open files may be reached")]
    DescriptorsLost,
    /// The kernel refused `call` for another reason.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// One end of a pair that carries whole messages, in order, each with descriptors.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// Two ends that belong together. Both are closed on exec.
    pub fn pair() -> Result<(Channel, Channel), ChannelError> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let (one, other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)
            .map_err(|errno| system("making a channel", errno.into()))?;
        Ok((Channel { socket: one }, Channel { socket: other }))
    }

    /// Takes a descriptor of one end, as the child does.
    ///
    /// A connected stream also works for messages of one octet, which have no ambiguous bounds.
    pub fn from_fd(descriptor: OwnedFd) -> Channel {
        Channel { socket: descriptor }
    }

    /// Gives up the descriptor of this end.
    pub fn into_fd(self) -> OwnedFd {
        self.socket
    }

    /// Sends one message with copies of `descriptors`; waits while the other end is full.
    ///
    /// # Panics
    ///
    /// If the message is empty, which would look like the end of the channel, or has more than
    /// [`DESCRIPTORS_MAX`] descriptors.
    pub fn send_with_fds(&self, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), ChannelError> {
        assert!(!message.is_empty(), "an empty message would look like the end");
        assert!(descriptors.len() <= DESCRIPTORS_MAX, "the kernel takes no more descriptors");
        let numbers: Vec<RawFd> = descriptors.iter().map(BorrowedFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&numbers)];
        let control = if numbers.is_empty() { &rights[..0] } else { &rights[..] };
        let parts = [IoSlice::new(message)];
        loop {
            let socket = self.socket.as_raw_fd();
            match sendmsg::<()>(socket, &parts, control, MsgFlags::MSG_NOSIGNAL, None) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Err(ChannelError::Closed),
                Err(Errno::EMSGSIZE) => {
                    return Err(ChannelError::TooLong { octets: message.len() });
                }
                Err(errno) => return Err(system("sending a message", errno.into())),
            }
        }
    }

    /// Waits for one message, writes it over `buffer`, and gives its length and its descriptors.
    ///
    /// `None` if the other end is closed and everything sent has been received. The descriptors
    /// are closed on exec.
    pub fn receive_with_fds(&self, buffer: &mut Vec<u8>) -> Result<Option<(usize, Vec<OwnedFd>)>, ChannelError> {
        buffer.clear();
        let Some(octets) = self.next_length()? else { return Ok(None) };
        buffer.resize(octets, 0);
        let message = loop {
            match sys::descriptor::receive(self.socket.as_fd(), buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                received => break received.map_err(|error| system("receiving a message", error))?,
            }
        };
        match message.truncated {
            true => Err(ChannelError::DescriptorsLost),
            false => Ok(Some((message.octets, message.descriptors))),
        }
    }

    /// Waits for a message and gives its length, without taking it.
    fn next_length(&self) -> Result<Option<usize>, ChannelError> {
        loop {
            // With MSG_TRUNC the kernel gives the whole length, however short the buffer.
            let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_TRUNC;
            match recv(self.socket.as_raw_fd(), &mut [0], flags) {
                Ok(0) | Err(Errno::ECONNRESET) => return Ok(None),
                Ok(octets) => return Ok(Some(octets)),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(system("receiving a message", errno.into())),
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Reads a stream, and keeps the descriptors that come with its octets, in order.
#[derive(Debug)]
pub struct Arriving {
    stream: OwnedFd,
    descriptors: VecDeque<OwnedFd>,
}

impl Arriving {
    /// Reads from `stream`.
    pub fn new(stream: OwnedFd) -> Arriving {
        Arriving { stream, descriptors: VecDeque::new() }
    }

    /// The next descriptor of those that came with the octets so far.
    pub fn next_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }
}

impl Read for Arriving {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let message = sys::descriptor::receive(self.stream.as_fd(), octets)?;
        self.descriptors.extend(message.descriptors);
        Ok(message.octets)
    }
}

/// Whether the other end of a stream sends nothing any more: it has ended, or says so.
pub fn is_over(stream: BorrowedFd<'_>) -> bool {
    loop {
        match recv(stream.as_raw_fd(), &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
            Ok(octets) => return octets == 0,
            Err(Errno::EAGAIN) => return false,
            Err(Errno::EINTR) => {}
            Err(_) => return true,
        }
    }
}

/// Whether the other end of a stream is closed in both directions, whatever it has sent before.
pub fn has_gone(stream: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::empty())];
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR;
    poll(&mut polled, PollTimeout::ZERO).is_ok() && polled[0].revents().is_some_and(|seen| seen.intersects(gone))
}

fn system(call: &'static str, source: io::Error) -> ChannelError {
    ChannelError::System { call, source }
}

/// Lets a socket hold up to `octets` that its other end has not read yet, as far as this process may.
pub fn hold(socket: &impl AsFd, octets: usize) {
    // A process that may not exceed the system's limit gets that limit, which costs only time.
    if setsockopt(socket, sockopt::SndBufForce, &octets).is_err() {
        let _ = setsockopt(socket, sockopt::SndBuf, &octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn messages_keep_their_bounds_and_their_descriptors() {
        let (one, other) = Channel::pair().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        one.send_with_fds(b"first", &[writer.as_fd(), reader.as_fd()]).unwrap();
        one.send_with_fds(&[7; 100_000], &[]).unwrap();
        drop(writer);

        let mut buffer = vec![1, 2, 3];
        let (octets, descriptors) = other.receive_with_fds(&mut buffer).unwrap().unwrap();
        assert_eq!((&buffer[..octets], descriptors.len()), (&b"first"[..], 2));
        let mut writer = std::fs::File::from(descriptors.into_iter().next().unwrap());
        writer.write_all(b"through").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through", "the descriptor is the pipe's writing end");

        let (octets, descriptors) = other.receive_with_fds(&mut buffer).unwrap().unwrap();
        assert_eq!((octets, buffer.len(), descriptors.len()), (100_000, 100_000, 0));
    }

    #[test]
    fn as_many_descriptors_as_the_kernel_takes_arrive() {
        let (one, other) = Channel::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        one.send_with_fds(b"x", &[null.as_fd(); DESCRIPTORS_MAX]).unwrap();
        let (_, descriptors) = other.receive_with_fds(&mut Vec::new()).unwrap().unwrap();
        assert_eq!(descriptors.len(), DESCRIPTORS_MAX);
    }

    #[test]
    fn a_closed_end_is_noticed_after_the_last_message() {
        let (one, other) = Channel::pair().unwrap();
        one.send_with_fds(b"last", &[]).unwrap();
        drop(one);
        assert!(other.receive_with_fds(&mut Vec::new()).unwrap().is_some());
        assert!(other.receive_with_fds(&mut Vec::new()).unwrap().is_none());
        assert!(matches!(other.send_with_fds(b"x", &[]), Err(ChannelError::Closed)));
    }

    #[test]
    fn descriptors_of_a_stream_come_in_order_with_its_octets() {
        let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
        let stream = Channel::from_fd(one.into());
        let mut pipes = Vec::new();
        for number in 0..3_u8 {
            let (reader, writer) = std::io::pipe().unwrap();
            stream.send_with_fds(b"a line\n", &[writer.as_fd()]).unwrap();
            stream.send_with_fds(b"another\n", &[]).unwrap();
            pipes.push((number, reader));
        }
        assert!(!is_over(other.as_fd()));
        drop(stream);
        let (mut arriving, mut text) = (Arriving::new(other.into()), String::new());
        arriving.read_to_string(&mut text).unwrap();
        assert_eq!(text.lines().count(), 6);
        assert!(is_over(arriving.stream.as_fd()));
        for (number, mut reader) in pipes {
            let mut writer = std::fs::File::from(arriving.next_descriptor().unwrap());
            writer.write_all(&[number]).unwrap();
            let mut octet = [0xff];
            reader.read_exact(&mut octet).unwrap();
            assert_eq!(octet, [number]);
        }
        assert!(arriving.next_descriptor().is_none());
    }

    #[test]
    fn a_message_that_the_kernel_does_not_take_is_too_long() {
        let (one, _other) = Channel::pair().unwrap();
        let refused = one.send_with_fds(&vec![0; 4 << 20], &[]);
        assert!(matches!(refused, Err(ChannelError::TooLong { octets: 4_194_304 })));
    }
}
