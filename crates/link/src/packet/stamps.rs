//! Whether the kernel already stamps frames at their handover.

use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::ReceiveTimestampns;

use super::{PacketError, unbound_socket};
use crate::clock::RealtimeNanos;
use crate::namespace::Namespace;
use crate::netlink::{LinkError, Netlink};
use crate::sys::{message, option};

/// An EtherType for experiments (IEEE 802), without other listeners.
const ETHERTYPE: u16 = 0x88b5;

/// How long a frame waits before it is read, so that a stamp made by the reading is recognisably late.
const PAUSE: Duration = Duration::from_micros(200);

/// The interval of [`wait_for_stamps`].
const INTERVAL: Duration = Duration::from_millis(5);

/// Why frames are not stamped, or why this could not be found out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StampError {
    /// The kernel did not begin to stamp in time: a thread of high priority may keep its worker
    /// from running.
    #[error("the kernel did not begin to stamp frames within {waited:?}")]
    NotInTime {
        /// The time waited.
        waited: Duration,
    },
    /// The test's interface could not be used.
    #[error("testing the stamps failed")]
    Link(#[from] LinkError),
    /// The test's socket could not be used.
    #[error("testing the stamps failed")]
    Packet(#[from] PacketError),
}

/// Whether the kernel stamps frames at their handover; it stamps all or none.
///
/// The first socket that asks for stamps, such as one of [`super::open_receiver`], makes a kernel worker switch them on
/// a little later. So open the receiver first. This function sends a frame through the loopback of a namespace of its
/// own, waits a little, and checks whether the stamp is from before the wait: a frame without a stamp gets the time at
/// which it is read. Needs CAP_SYS_ADMIN.
pub fn stamps_ready() -> Result<bool, StampError> {
    let probe = Probe::open()?;
    Ok(probe.stamped()?)
}

/// Waits until frames are stamped, at most `timeout`; gives the time waited.
pub fn wait_for_stamps(timeout: Duration) -> Result<Duration, StampError> {
    let start = Instant::now();
    let probe = Probe::open()?;
    while !probe.stamped()? {
        let waited = start.elapsed();
        if waited >= timeout {
            return Err(StampError::NotInTime { waited });
        }
        thread::sleep(INTERVAL);
    }
    Ok(start.elapsed())
}

/// A socket on the loopback of a namespace of its own.
struct Probe {
    socket: OwnedFd,
    loopback: u32,
}

impl Probe {
    fn open() -> Result<Probe, StampError> {
        let namespace = Namespace::anonymous().map_err(LinkError::from)?;
        let mut netlink = Netlink::in_namespace(&namespace)?;
        netlink.set_up("lo")?;
        let loopback = netlink.link_by_name("lo")?.map_or(1, |link| link.index);
        let socket = namespace.run(unbound_socket).map_err(LinkError::from)??;
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(PacketError::of("asking for stamps"))?;
        // Incoming frames only: other rules stamp those on their way out.
        option::ignore_outgoing(&socket).map_err(PacketError::of("leaving out own frames"))?;
        message::bind(socket.as_fd(), loopback, ETHERTYPE).map_err(PacketError::of("listening on the loopback"))?;
        Ok(Probe { socket, loopback })
    }

    /// Whether one frame was stamped at its handover.
    fn stamped(&self) -> Result<bool, PacketError> {
        let mut frame = [0; 60];
        frame[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
        message::send_batch(self.socket.as_fd(), &[(self.loopback, &frame)])
            .map_err(PacketError::of("sending through the loopback"))?;
        let sent = RealtimeNanos::now();
        thread::sleep(PAUSE);
        let arrival = message::receive(self.socket.as_fd(), &mut frame)
            .map_err(PacketError::of("receiving from the loopback"))?;
        let stamp = arrival.stamp.map(|(seconds, nanos)| RealtimeNanos::from_parts(seconds as u64, nanos as u64));
        Ok(stamp.is_some_and(|stamp| stamp <= sent))
    }
}
