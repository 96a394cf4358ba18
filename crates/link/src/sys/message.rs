//! Frames through a packet socket, without a ring: batches out, single frames in.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Most frames that one `sendmmsg` here takes.
pub const BATCH_MAX: usize = 64;

/// Octets of control data for a stamp and a `tpacket_auxdata`.
const CONTROL_OCTETS: usize = 128;

/// Control data, aligned as `cmsghdr` wants it.
#[repr(C, align(8))]
struct Control([u8; CONTROL_OCTETS]);

/// What the kernel reported about one received frame.
pub struct Arrival {
    /// Octets of the frame as the kernel holds it; more than the buffer's if it was cut.
    pub original_len: usize,
    /// CLOCK_REALTIME, seconds and nanoseconds.
    pub stamp: Option<(i64, i64)>,
    /// The frame's length, status and VLAN tag.
    pub auxdata: Option<libc::tpacket_auxdata>,
}

/// Binds a packet socket to an interface (0: all of them) and a protocol, in host byte order.
pub fn bind(socket: BorrowedFd<'_>, ifindex: u32, protocol: u16) -> io::Result<()> {
    let mut address = address(ifindex);
    address.sll_protocol = protocol.to_be();
    // SAFETY: address is a sockaddr_ll of the length given, and outlives the call.
    super::checked(unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size_of::<libc::sockaddr_ll>() as libc::socklen_t)
    })?;
    Ok(())
}

/// The first six octets of the hardware address of the interface that a socket is bound to.
pub fn bound_address(socket: BorrowedFd<'_>) -> io::Result<[u8; 6]> {
    let mut bound = address(0);
    let mut octets = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `octets` octets, which are those of `bound`.
    super::checked(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut bound).cast(), &raw mut octets) })?;
    let [a, b, c, d, e, f, ..] = bound.sll_addr;
    Ok([a, b, c, d, e, f])
}

/// Sends each frame to its interface; gives the number of frames sent before one failed.
///
/// # Errors
///
/// If the first frame failed.
///
/// # Panics
///
/// If `batch` is longer than [`BATCH_MAX`].
pub fn send_batch(socket: BorrowedFd<'_>, batch: &[(u32, &[u8])]) -> io::Result<usize> {
    assert!(batch.len() <= BATCH_MAX, "callers cut the batch");
    let mut addresses = [const { MaybeUninit::<libc::sockaddr_ll>::uninit() }; BATCH_MAX];
    let mut parts = [const { MaybeUninit::<libc::iovec>::uninit() }; BATCH_MAX];
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; BATCH_MAX];
    for (place, (ifindex, octets)) in batch.iter().enumerate() {
        let address = addresses[place].write(address(*ifindex));
        let part =
            parts[place].write(libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() });
        // SAFETY: all-zero octets are a valid mmsghdr: null pointers with zero lengths.
        let mut header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
        header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        header.msg_hdr.msg_iov = part;
        header.msg_hdr.msg_iovlen = 1;
        headers[place].write(header);
    }
    // SAFETY: the first `batch.len()` headers are written; each points at one written address and
    // one iovec over borrowed octets, which the kernel only reads; all outlive the call.
    let sent = super::checked(unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr().cast(), batch.len() as libc::c_uint, libc::MSG_DONTWAIT)
    })?;
    Ok(sent as usize)
}

/// Receives one frame with its stamp and auxiliary data; never waits.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Arrival> {
    let mut control = Control([0; CONTROL_OCTETS]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all-zero octets are a valid msghdr: null pointers with zero lengths.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_OCTETS as _;
    // SAFETY: header points at one iovec over `buffer` and at `control`; both outlive the call,
    // and the lengths are theirs.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT | libc::MSG_TRUNC) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut arrival = Arrival { original_len: received as usize, stamp: None, auxdata: None };
    read_control(&header, &mut arrival);
    Ok(arrival)
}

/// Takes the stamp and the auxiliary data out of the control data.
fn read_control(header: &libc::msghdr, arrival: &mut Arrival) {
    // SAFETY: the kernel has filled in header's control data and its length.
    let mut item = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !item.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR give only headers that lie within the control data.
        let head = unsafe { item.read_unaligned() };
        // SAFETY: the data of an item follow its header.
        let data = unsafe { libc::CMSG_DATA(item) };
        match (head.cmsg_level, head.cmsg_type) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                // SAFETY: the data of this kind of item are one timespec.
                let time = unsafe { data.cast::<libc::timespec>().read_unaligned() };
                arrival.stamp = Some((time.tv_sec, time.tv_nsec));
            }
            (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                // SAFETY: the data of this kind of item are one tpacket_auxdata.
                let auxdata = unsafe { data.cast::<libc::tpacket_auxdata>().read_unaligned() };
                arrival.auxdata = Some(auxdata);
            }
            _ => {}
        }
        // SAFETY: as for CMSG_FIRSTHDR.
        item = unsafe { libc::CMSG_NXTHDR(header, item) };
    }
}

/// The address of an interface, for any protocol.
fn address(ifindex: u32) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: 0,
        sll_ifindex: ifindex as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}
