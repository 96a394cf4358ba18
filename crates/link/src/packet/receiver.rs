//! Frames from every interface of a namespace, through a ring shared with the kernel.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::ReceiveTimestampns;

use super::{PacketError, PartialChecksum, Tag, restore_tag, unbound_socket};
use crate::clock::RealtimeNanos;
use crate::namespace::Namespace;
use crate::sys::ring::{Dimensions, Ring, Slot};
use crate::sys::{message, option};

/// Octets of the longest frame that fits a slot: the longest of IEEE 802.3 is 2000.
pub const SLOT_FRAME_OCTETS: usize = 2048;

/// Octets of `struct virtio_net_hdr`, in which the kernel says right before each frame what a sender left to hardware. A
/// tag takes four of them afterwards.
const OFFLOADS_OCTETS: usize = 10;

/// Octets of a slot: header and address (52), the kernel's padding that aligns the payload, its word on offloads, and the
/// frame, rounded up to whole cache lines.
const SLOT_OCTETS: usize = 2176;

/// Octets of a block: the kernel allocates memory in these pieces.
const BLOCK_OCTETS: usize = 1 << 16;

/// TPACKET_V2: slots with nanoseconds and VLAN tags, and no timer that holds frames back.
const VERSION_2: libc::c_int = 1;

/// Opens the socket for [`Receiver::new`] in `namespace`, and switches stamps on.
pub fn open_receiver(namespace: &Namespace) -> Result<OwnedFd, PacketError> {
    namespace.run(|| {
        let socket = unbound_socket()?;
        option::ignore_outgoing(&socket).map_err(PacketError::of("leaving out own frames"))?;
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(PacketError::of("asking for stamps"))?;
        Ok(socket)
    })?
}

/// The number of frames that a ring holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    slots: usize,
}

impl RingSize {
    /// At least `frames` frames: the ring is made of blocks of 30.
    pub fn at_least(frames: usize) -> RingSize {
        RingSize { slots: frames.max(1) }
    }

    fn dimensions(self) -> Dimensions {
        let per_block = BLOCK_OCTETS / SLOT_OCTETS;
        Dimensions { block_octets: BLOCK_OCTETS, blocks: self.slots.div_ceil(per_block), slot_octets: SLOT_OCTETS }
    }
}

impl Default for RingSize {
    /// 4,110 frames in 9 MB: a fifth of a second of minimum frames at 10 Mb/s.
    fn default() -> RingSize {
        RingSize::at_least(4096)
    }
}

/// The event that a frame's stamp is the time of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampSource {
    /// The sender's host handed the frame to its interface.
    Handover,
    /// The frame was put into the ring, nearly always a few microseconds after the handover: stamping was not switched
    /// on yet.
    Ring,
}

/// A frame, while it is in the ring.
#[derive(Debug)]
pub struct Received<'a> {
    /// Index of the interface that received it.
    pub ifindex: u32,
    /// The time of the event in `stamp_source`.
    pub stamp: RealtimeNanos,
    /// The event that `stamp` is the time of.
    pub stamp_source: StampSource,
    /// The frame from destination address to payload, with its VLAN tag, without FCS.
    pub octets: &'a [u8],
    /// A checksum that was left to hardware which does not exist.
    pub partial_checksum: Option<PartialChecksum>,
    /// It is several frames, which were left to be cut by the same hardware.
    pub segments: Option<Segments>,
    /// The kernel had removed a VLAN tag, which is restored in `octets`.
    pub vlan_restored: bool,
    /// The frame was longer than a slot, and `octets` is only its beginning.
    pub truncated: bool,
    /// Octets of the whole frame, with its VLAN tag, without FCS.
    pub original_len: usize,
}

/// What a super-frame holds: several frames that the host has not split yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The packets' kind, in words.
    pub kind: &'static str,
    /// Octets of payload in each but the last.
    pub octets: u16,
}

/// Frames since the ring was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingStatistics {
    /// Frames put into the ring.
    pub received: u64,
    /// Frames dropped because the ring was full.
    pub dropped: u64,
}

/// Takes frames out of a ring.
#[derive(Debug)]
pub struct Receiver {
    socket: OwnedFd,
    ring: Ring,
    statistics: RingStatistics,
}

impl Receiver {
    /// Makes the ring for a socket of [`open_receiver`], and begins to receive.
    pub fn new(socket: OwnedFd, size: RingSize) -> Result<Receiver, PacketError> {
        let dimensions = size.dimensions();
        let request = libc::tpacket_req {
            tp_block_size: dimensions.block_octets as u32,
            tp_block_nr: dimensions.blocks as u32,
            tp_frame_size: dimensions.slot_octets as u32,
            tp_frame_nr: dimensions.slots() as u32,
        };
        let octets = dimensions.block_octets * dimensions.blocks;
        option::set_version(&socket, VERSION_2).map_err(PacketError::of("choosing the ring's version"))?;
        option::want_offloads(&socket).map_err(PacketError::of("asking what is left to hardware"))?;
        option::set_ring(&socket, &request).map_err(|error| match error.raw_os_error() {
            Some(libc::ENOMEM) => PacketError::NoMemory { octets },
            _ => PacketError::of("making a ring")(error),
        })?;
        let ring = Ring::map(&socket, dimensions).map_err(PacketError::of("mapping the ring"))?;
        message::bind(socket.as_fd(), 0, libc::ETH_P_ALL as u16).map_err(PacketError::of("beginning to receive"))?;
        Ok(Receiver { socket, ring, statistics: RingStatistics::default() })
    }

    /// Passes at most `max` waiting frames to `look`, in the order of the queue; never waits.
    ///
    /// A frame's slot is given back as soon as `look` returns. Gives the number of frames. Stamps
    /// of frames that came at the same time from different processors may be out of order.
    pub fn receive(&mut self, max: usize, mut look: impl FnMut(Received<'_>)) -> usize {
        (0..max).take_while(|_| self.ring.take(|slot| look(received(slot)))).count()
    }

    /// Whether a frame waits in the ring.
    pub fn waits(&self) -> bool {
        self.ring.waits()
    }

    /// Frames received and dropped since the ring was made.
    pub fn statistics(&mut self) -> Result<RingStatistics, PacketError> {
        let new = option::take_statistics(&self.socket).map_err(PacketError::of("reading the ring's statistics"))?;
        // The kernel includes dropped frames in the received ones.
        self.statistics.received += u64::from(new.tp_packets.wrapping_sub(new.tp_drops));
        self.statistics.dropped += u64::from(new.tp_drops);
        Ok(self.statistics)
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// What the sender of a frame left to hardware, of what precedes it in its slot; `moved` is by how much a tag that is put
/// back lengthens what precedes the segment.
///
/// A frame of segments that this header has no word for, as of SCTP, gets no slot: the ring counts it as dropped.
fn left_to_hardware(before: &[u8], moved: usize) -> (Option<PartialChecksum>, Option<Segments>) {
    const NEEDS_CHECKSUM: u8 = 1;
    /// The sender used congestion notification, which says nothing of the kind.
    const ECN: u8 = 0x80;
    let Some(&[flags, kind, _, _, size0, size1, start0, start1, offset0, offset1]) =
        before.last_chunk::<OFFLOADS_OCTETS>()
    else {
        return (None, None);
    };
    let number = |octets: [u8; 2]| u16::from_ne_bytes(octets);
    let (start, offset) = (number([start0, start1]), number([offset0, offset1]));
    let checksum = PartialChecksum { start: usize::from(start) + moved, offset: offset.into() };
    let kind = match kind & !ECN {
        0 => None,
        1 => Some("TCP over IPv4"),
        4 => Some("TCP over IPv6"),
        3 | 5 => Some("UDP"),
        _ => Some("another protocol"),
    };
    let segments = kind.map(|kind| Segments { kind, octets: number([size0, size1]) });
    ((flags & NEEDS_CHECKSUM != 0).then_some(checksum), segments)
}

/// The content of a slot, with the VLAN tag restored.
pub(crate) fn received(slot: Slot<'_>) -> Received<'_> {
    let Slot { header, ifindex, area, frame } = slot;
    let tag = Tag::of(header.tp_status, header.tp_vlan_tpid, header.tp_vlan_tci)
        // This is always true: the word on offloads precedes it, and the kernel takes tags from Ethernet frames only.
        .filter(|_| frame.start >= Tag::OCTETS && frame.len() >= 12);
    let spare = if tag.is_some() { Tag::OCTETS } else { 0 };
    // First: the tag is put where this is.
    let (partial_checksum, segments) = left_to_hardware(&area[..frame.start], spare);
    let octets = &mut area[frame.start - spare..frame.end];
    if let Some(tag) = tag {
        restore_tag(octets, tag);
    }
    let stamped = header.tp_status & libc::TP_STATUS_TS_SOFTWARE != 0;
    Received {
        ifindex: ifindex as u32,
        stamp: RealtimeNanos::from_parts(header.tp_sec.into(), header.tp_nsec.into()),
        stamp_source: if stamped { StampSource::Handover } else { StampSource::Ring },
        octets,
        partial_checksum,
        segments,
        vlan_restored: tag.is_some(),
        truncated: header.tp_snaplen < header.tp_len,
        original_len: header.tp_len as usize + spare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::ring::PREFIX_OCTETS;

    #[test]
    fn a_slot_holds_the_longest_frame_behind_everything_that_precedes_it() {
        // The kernel aligns header, address and at least 16 octets of link header to 16, then adds
        // its word on offloads; a link header of 14 ends there.
        let payload = (PREFIX_OCTETS + 16).next_multiple_of(16) + OFFLOADS_OCTETS;
        assert!(payload - 14 + SLOT_FRAME_OCTETS <= SLOT_OCTETS);
        assert_eq!(SLOT_OCTETS % 64, 0, "slots begin on cache lines");
        assert!(payload - 14 - OFFLOADS_OCTETS >= PREFIX_OCTETS, "there is room for it");
    }

    #[test]
    fn what_is_left_to_hardware_is_read_and_moves_with_a_tag() {
        let words = |flags: u8, kind: u8, numbers: [u16; 4]| {
            [&[0xee, flags, kind][..], numbers.map(u16::to_ne_bytes).as_flattened()].concat()
        };
        let checksum = |start, offset| Some(PartialChecksum { start, offset });
        let segments = |kind, octets| Some(Segments { kind, octets });
        assert_eq!(left_to_hardware(&words(0, 0, [1, 2, 3, 4]), 4), (None, None));
        assert_eq!(left_to_hardware(&words(1, 0, [0, 0, 34, 16]), 4), (checksum(38, 16), None));
        let tcp = left_to_hardware(&words(1, 0x81, [54, 1448, 34, 16]), 0);
        assert_eq!(tcp, (checksum(34, 16), segments("TCP over IPv4", 1448)));
        assert_eq!(left_to_hardware(&[1; 9], 0), (None, None));
    }

    #[test]
    fn a_ring_has_at_least_the_frames_asked_for() {
        for frames in [0, 1, 30, 31, 4096] {
            let dimensions = RingSize::at_least(frames).dimensions();
            assert!(dimensions.slots() >= frames.max(1));
            assert!(dimensions.slots() < frames + 31, "no more blocks than needed");
        }
        assert_eq!(RingSize::default().dimensions().slots(), 4110);
    }
}
