//! Filling in a checksum that the sender's kernel left to hardware.
//!
//! ```text
//!  addresses  [tag [tag]]  EtherType  IPv4 or IPv6 [extensions]  TCP or UDP
//!  0          12                      14, 18 or 22
//! ```

use std::net::{Ipv4Addr, Ipv6Addr};

use pnet_packet::ethernet::{EtherType, EtherTypes};
use pnet_packet::ip::{IpNextHeaderProtocol, IpNextHeaderProtocols};
use pnet_packet::ipv4::Ipv4Packet;
use pnet_packet::ipv6::Ipv6Packet;
use pnet_packet::util;

/// The place of the EtherType in a frame without tags.
const ETHERTYPE_PLACE: usize = 12;

/// Tags that are skipped to find the packet.
const TAGS_MAX: usize = 2;

/// Extension headers that are skipped to find the segment.
const EXTENSIONS_MAX: usize = 8;

/// The result of [`repair_checksum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The checksum was wrong, and is now right.
    Repaired,
    /// The checksum was right already, or is zero in UDP over IPv4, which means that there is no checksum.
    NotNeeded,
    /// The frame is not TCP or UDP over IP, is a fragment, or is damaged: it was left alone.
    Unknown,
}

/// Fills in the checksum of TCP or UDP over IPv4 or IPv6, also behind one or two VLAN tags.
///
/// `octets` is a frame from its destination address on, without FCS; what follows the IP packet is padding and stays as
/// it is. A checksum inside a tunnel is not repaired. Never panics.
pub fn repair_checksum(octets: &mut [u8]) -> Repair {
    match find_segment(octets) {
        Some(segment) => repair(octets, &segment),
        None => Repair::Unknown,
    }
}

/// Source and destination, which the checksum covers too.
enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

/// The place of a TCP or UDP segment in a frame, and what its checksum needs.
struct Segment {
    place: std::ops::Range<usize>,
    protocol: IpNextHeaderProtocol,
    addresses: Addresses,
}

fn repair(octets: &mut [u8], segment: &Segment) -> Repair {
    // The place of the checksum, in 16-bit words, and the shortest header.
    let (word, header_octets) = match segment.protocol {
        IpNextHeaderProtocols::Tcp => (8, 20),
        IpNextHeaderProtocols::Udp => (3, 8),
        _ => return Repair::Unknown,
    };
    let place = match segment.protocol {
        IpNextHeaderProtocols::Udp => match udp_place(octets, segment) {
            Some(place) => place,
            None => return Repair::Unknown,
        },
        _ => segment.place.clone(),
    };
    let Some(data) = octets.get_mut(place).filter(|data| data.len() >= header_octets) else {
        return Repair::Unknown;
    };
    let old = [data[2 * word], data[2 * word + 1]];
    let is_udp = segment.protocol == IpNextHeaderProtocols::Udp;
    if is_udp && old == [0, 0] && matches!(segment.addresses, Addresses::V4(..)) {
        return Repair::NotNeeded;
    }
    let sum = match &segment.addresses {
        Addresses::V4(source, destination) => {
            util::ipv4_checksum(data, word, &[], source, destination, segment.protocol)
        }
        Addresses::V6(source, destination) => {
            util::ipv6_checksum(data, word, &[], source, destination, segment.protocol)
        }
    };
    // Zero would mean in UDP that there is no checksum; all ones is the same sum (RFC 768).
    let sum = if is_udp && sum == 0 { 0xffff } else { sum };
    let new = sum.to_be_bytes();
    if new == old {
        return Repair::NotNeeded;
    }
    data[2 * word..2 * word + 2].copy_from_slice(&new);
    Repair::Repaired
}

/// The part of a UDP segment that its own length covers; it may be shorter than the IP packet.
fn udp_place(octets: &[u8], segment: &Segment) -> Option<std::ops::Range<usize>> {
    let start = segment.place.start;
    let length = usize::from(word(octets, start + 4)?);
    (8..=segment.place.len()).contains(&length).then_some(start..start + length)
}

/// Finds the segment behind tags and IP headers.
fn find_segment(octets: &[u8]) -> Option<Segment> {
    let mut place = ETHERTYPE_PLACE;
    for _ in 0..TAGS_MAX {
        match EtherType(word(octets, place)?) {
            EtherTypes::Vlan | EtherTypes::PBridge => place += 4,
            _ => break,
        }
    }
    let start = place + 2;
    match EtherType(word(octets, place)?) {
        EtherTypes::Ipv4 => find_in_ipv4(octets, start),
        EtherTypes::Ipv6 => find_in_ipv6(octets, start),
        _ => None,
    }
}

fn find_in_ipv4(octets: &[u8], start: usize) -> Option<Segment> {
    let header = Ipv4Packet::new(octets.get(start..)?)?;
    let header_octets = usize::from(header.get_header_length()) * 4;
    let total = usize::from(header.get_total_length());
    // The flag "more fragments" is the lowest of three.
    let fragment = header.get_flags() & 1 != 0 || header.get_fragment_offset() != 0;
    let whole = header.get_version() == 4
        && header_octets >= Ipv4Packet::minimum_packet_size()
        && header_octets <= total
        && start + total <= octets.len();
    (whole && !fragment).then(|| Segment {
        place: start + header_octets..start + total,
        protocol: header.get_next_level_protocol(),
        addresses: Addresses::V4(header.get_source(), header.get_destination()),
    })
}

fn find_in_ipv6(octets: &[u8], start: usize) -> Option<Segment> {
    let header = Ipv6Packet::new(octets.get(start..)?)?;
    let mut place = start + Ipv6Packet::minimum_packet_size();
    let end = place + usize::from(header.get_payload_length());
    if header.get_version() != 6 || end > octets.len() {
        return None;
    }
    let mut next = header.get_next_header();
    for _ in 0..EXTENSIONS_MAX {
        match next {
            IpNextHeaderProtocols::Hopopt | IpNextHeaderProtocols::Ipv6Opts => {}
            IpNextHeaderProtocols::Ipv6Route if *octets.get(place + 3)? == 0 => {}
            // With segments left, the destination that the sum covers is inside the header, at a place that depends on
            // the kind of routing.
            IpNextHeaderProtocols::Ipv6Route => return None,
            // The last header, or one whose successor is unknown.
            _ => break,
        }
        next = IpNextHeaderProtocol(*octets.get(place)?);
        place += 8 + usize::from(*octets.get(place + 1)?) * 8;
    }
    let addresses = Addresses::V6(header.get_source(), header.get_destination());
    (place <= end).then_some(Segment { place: place..end, protocol: next, addresses })
}

/// Two octets in network order.
fn word(octets: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*octets.get(place)?, *octets.get(place + 1)?]))
}

#[cfg(test)]
mod tests;
