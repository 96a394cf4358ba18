//! Options of packet sockets.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd};

/// Of linux/if_packet.h.
const PACKET_VNET_HDR: libc::c_int = 15;

/// Chooses the version of the ring's slot headers: a `tpacket_versions` value.
pub fn set_version(socket: impl AsFd, version: libc::c_int) -> io::Result<()> {
    set(socket, libc::PACKET_VERSION, &version)
}

/// Puts a `virtio_net_hdr` in front of each frame in the ring; before there is a ring.
pub fn want_offloads(socket: impl AsFd) -> io::Result<()> {
    set::<libc::c_int>(socket, PACKET_VNET_HDR, &1)
}

/// Makes a receive ring of these dimensions.
pub fn set_ring(socket: impl AsFd, request: &libc::tpacket_req) -> io::Result<()> {
    set(socket, libc::PACKET_RX_RING, request)
}

/// Leaves out frames that this host sends.
pub fn ignore_outgoing(socket: impl AsFd) -> io::Result<()> {
    set::<libc::c_int>(socket, libc::PACKET_IGNORE_OUTGOING, &1)
}

/// Makes each received message carry its `tpacket_auxdata`.
pub fn want_auxdata(socket: impl AsFd) -> io::Result<()> {
    set::<libc::c_int>(socket, libc::PACKET_AUXDATA, &1)
}

/// Makes an interface receive frames to every address, until the socket is closed.
pub fn be_promiscuous(socket: impl AsFd, ifindex: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: ifindex as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Frames since the last call; the received ones include the dropped ones.
pub fn take_statistics(socket: impl AsFd) -> io::Result<libc::tpacket_stats> {
    let mut statistics = MaybeUninit::<libc::tpacket_stats>::zeroed();
    let mut octets = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `octets` octets, which are those of `statistics`.
    super::checked(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            statistics.as_mut_ptr().cast(),
            &raw mut octets,
        )
    })?;
    // SAFETY: two numbers, zero before the kernel wrote them.
    Ok(unsafe { statistics.assume_init() })
}

/// The number of a socket's network namespace; the kernel does not reuse it until the next boot.
pub fn netns_cookie(socket: impl AsFd) -> io::Result<u64> {
    let mut cookie = 0_u64;
    let mut octets = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `octets` octets, which are those of `cookie`.
    super::checked(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut octets,
        )
    })?;
    Ok(cookie)
}

/// Makes a netlink socket receive changes in every namespace for which its own has a number, with that number.
pub fn listen_to_all_namespaces(socket: impl AsFd) -> io::Result<()> {
    set_at::<libc::c_int>(socket, libc::SOL_NETLINK, libc::NETLINK_LISTEN_ALL_NSID, &1)
}

/// Sets one option of the packet level.
fn set<T>(socket: impl AsFd, name: libc::c_int, value: &T) -> io::Result<()> {
    set_at(socket, libc::SOL_PACKET, name, value)
}

/// Sets one option.
fn set_at<T>(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads size_of::<T>() octets of `value`, which outlives the call.
    super::checked(unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })?;
    Ok(())
}
