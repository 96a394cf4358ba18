//! A raw socket inside a station: it generates and receives frames without a protocol.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::time::TimeSpec;
use pnet_base::MacAddr;

use crate::clock::RealtimeNanos;
use crate::namespace::Namespace;
use crate::packet::{PacketError, RingStatistics, SendError, Sender, Tag, restore_tag, unbound_socket};
use crate::sys::{message, option};

/// The first EtherType for experiments (IEEE 802, clause 9.2.3): no protocol of the host uses it.
pub const EXPERIMENTAL_ETHERTYPE: u16 = 0x88b5;

/// A frame that was received into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationFrame {
    /// Octets of the frame in the buffer, from destination address to payload, without FCS.
    pub octets: usize,
    /// Octets of the whole frame; more than `octets` if the buffer was too short.
    pub original_len: usize,
    /// When the bus delivered it.
    pub stamp: RealtimeNanos,
}

/// Sends and receives frames of one interface.
#[derive(Debug)]
pub struct StationSocket {
    sender: Sender,
    results: Vec<Result<(), SendError>>,
    ifindex: u32,
    mac: MacAddr,
    statistics: RingStatistics,
}

impl StationSocket {
    /// Opens a socket for frames of one EtherType to the interface's own and group addresses.
    pub fn open(namespace: &Namespace, interface: &str, ethertype: u16) -> Result<StationSocket, PacketError> {
        namespace.run(|| StationSocket::open_here(interface, ethertype, false))?
    }

    /// Opens a socket that only sends. Frames that come to the interface cost the kernel nothing for this socket, and
    /// are not counted.
    pub fn open_to_send(namespace: &Namespace, interface: &str) -> Result<StationSocket, PacketError> {
        const NONE: u16 = 0;
        namespace.run(|| StationSocket::open_here(interface, NONE, false))?
    }

    /// Opens a socket for every frame that reaches the interface, of any address and type.
    pub fn open_promiscuous(namespace: &Namespace, interface: &str) -> Result<StationSocket, PacketError> {
        let every = libc::ETH_P_ALL as u16;
        namespace.run(|| StationSocket::open_here(interface, every, true))?
    }

    /// Opens a socket in the calling thread's namespace.
    fn open_here(interface: &str, ethertype: u16, promiscuous: bool) -> Result<StationSocket, PacketError> {
        let socket = unbound_socket()?;
        let ifindex = if_nametoindex(interface).map_err(|errno| match errno {
            Errno::ENODEV => PacketError::NoInterface { interface: interface.to_owned() },
            _ => PacketError::of("looking up an interface")(errno),
        })?;
        option::ignore_outgoing(&socket).map_err(PacketError::of("leaving out own frames"))?;
        option::want_auxdata(&socket).map_err(PacketError::of("asking for tags"))?;
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(PacketError::of("asking for stamps"))?;
        if promiscuous {
            option::be_promiscuous(&socket, ifindex).map_err(PacketError::of("asking for every frame"))?;
        }
        message::bind(socket.as_fd(), ifindex, ethertype).map_err(PacketError::of("listening to an interface"))?;
        let mac = message::bound_address(socket.as_fd()).map_err(PacketError::of("reading an interface's address"))?;
        Ok(StationSocket {
            sender: Sender::new(socket),
            results: Vec::new(),
            ifindex,
            mac: MacAddr::from(mac),
            statistics: RingStatistics::default(),
        })
    }

    /// The interface's address when the socket was opened.
    pub fn mac(&self) -> MacAddr {
        self.mac
    }

    /// The interface's index in its namespace.
    pub fn ifindex(&self) -> u32 {
        self.ifindex
    }

    /// Sends one frame, from destination address to payload; never waits.
    pub fn send(&mut self, octets: &[u8]) -> Result<(), SendError> {
        self.sender.send(&[(self.ifindex, octets)], &mut self.results);
        self.results[0]
    }

    /// Sends frames in order; `results` is cleared, and gets one result a frame.
    pub fn send_batch(&mut self, frames: &[&[u8]], results: &mut Vec<Result<(), SendError>>) {
        let batch: Vec<_> = frames.iter().map(|octets| (self.ifindex, *octets)).collect();
        self.sender.send(&batch, results);
    }

    /// Waits at most `timeout` for a frame (`None`: without limit), and copies it into `buffer`.
    ///
    /// A VLAN tag that the kernel removed is restored.
    pub fn receive(
        &mut self,
        timeout: Option<Duration>,
        buffer: &mut [u8],
    ) -> Result<Option<StationFrame>, PacketError> {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            match message::receive(self.as_fd(), buffer) {
                Ok(arrival) => return Ok(Some(placed(arrival, buffer))),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(PacketError::of("receiving a frame")(error)),
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            self.wait(left)?;
        }
    }

    /// Frames that reached the socket since it was opened, read or not.
    ///
    /// `dropped` are those for which its queue had no room; a socket without a reader counts everything after the first
    /// few hundred frames there.
    pub fn statistics(&mut self) -> Result<RingStatistics, PacketError> {
        let new = option::take_statistics(&self.sender).map_err(PacketError::of("reading a socket's statistics"))?;
        self.statistics.received += u64::from(new.tp_packets.wrapping_sub(new.tp_drops));
        self.statistics.dropped += u64::from(new.tp_drops);
        Ok(self.statistics)
    }

    /// Waits until a frame can be received.
    fn wait(&self, timeout: Option<Duration>) -> Result<(), PacketError> {
        let mut descriptors = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut descriptors, timeout.map(TimeSpec::from_duration), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(PacketError::of("waiting for a frame")(errno)),
        }
    }
}

impl AsFd for StationSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.sender.as_fd()
    }
}

/// Completes a frame in the buffer with the kernel's report about it.
pub(crate) fn placed(arrival: message::Arrival, buffer: &mut [u8]) -> StationFrame {
    let stamp = arrival
        .stamp
        .map_or_else(RealtimeNanos::now, |(seconds, nanos)| RealtimeNanos::from_parts(seconds as u64, nanos as u64));
    let tag = arrival.auxdata.and_then(|data| Tag::of(data.tp_status, data.tp_vlan_tpid, data.tp_vlan_tci));
    let mut frame =
        StationFrame { octets: arrival.original_len.min(buffer.len()), original_len: arrival.original_len, stamp };
    if let Some(tag) = tag {
        frame.original_len += Tag::OCTETS;
        frame.octets = frame.original_len.min(buffer.len());
        let octets = &mut buffer[..frame.octets];
        if octets.len() >= 16 {
            let end = octets.len() - Tag::OCTETS;
            octets.copy_within(..end, Tag::OCTETS);
            restore_tag(octets, tag);
        }
    }
    frame
}
