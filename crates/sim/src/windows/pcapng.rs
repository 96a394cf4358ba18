//! Blocks of pcapng (IETF draft-ietf-opsawg-pcapng). Knows octets, and nothing of what they mean.

use super::append;
use std::ops::Range;

/// IEEE 802.3 with preamble, SFD and FCS (LINKTYPE_ETHERNET_MPACKET).
pub(super) const MPACKET: u16 = 274;
/// IEEE 802.3 from destination address on (LINKTYPE_ETHERNET).
pub(super) const ETHERNET: u16 = 1;
/// Tags, then what another dissector of Wireshark reads (LINKTYPE_WIRESHARK_UPPER_PDU).
pub(super) const UPPER_PDU: u16 = 252;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// In the order of this machine, which every reader knows by it.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

const COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const SHB_USER_APPLICATION: u16 = 4;
const IF_MAC: u16 = 6;
const IF_SPEED: u16 = 8;
const IF_TIME_RESOLUTION: u16 = 9;
const IF_FCS_LENGTH: u16 = 13;
const ISB_IF_DROP: u16 = 5;

/// Direction outbound, in epb_flags.
pub(super) const OUTBOUND: u32 = 2;
/// The length of the FCS, in octets, in epb_flags.
pub(super) const FCS_LENGTH: u32 = medium::FCS.get() << 5;
/// To one station, to a group, to all.
pub(super) const UNICAST: u32 = 1 << 2;
pub(super) const MULTICAST: u32 = 2 << 2;
pub(super) const BROADCAST: u32 = 3 << 2;
pub(super) const CRC_ERROR: u32 = 1 << 24;
pub(super) const TOO_LONG: u32 = 1 << 25;
pub(super) const TOO_SHORT: u32 = 1 << 26;
pub(super) const UNALIGNED: u32 = 1 << 28;

/// An interface, as its description block tells it.
#[derive(Debug)]
pub(super) struct Interface<'a> {
    pub link_type: u16,
    pub name: &'a str,
    pub description: &'a str,
    pub mac: Option<[u8; 6]>,
    /// Bits per second.
    pub speed: u64,
}

/// Appends the block that every section begins with.
pub(super) fn section(into: &mut Vec<u8>, program: &str, comment: &str) {
    block(into, SECTION_HEADER, |into| {
        into.extend_from_slice(&BYTE_ORDER.to_ne_bytes());
        into.extend_from_slice(&1_u16.to_ne_bytes());
        into.extend_from_slice(&0_u16.to_ne_bytes());
        // The section's length is not known beforehand.
        into.extend_from_slice(&(-1_i64).to_ne_bytes());
        option(into, COMMENT, comment.as_bytes());
        option(into, SHB_USER_APPLICATION, program.as_bytes());
        end_of_options(into);
    });
}

/// Appends an interface. Its packets' stamps are nanoseconds.
pub(super) fn interface(into: &mut Vec<u8>, interface: &Interface<'_>) {
    block(into, INTERFACE, |into| {
        into.extend_from_slice(&interface.link_type.to_ne_bytes());
        into.extend_from_slice(&[0; 6]);
        option(into, IF_NAME, interface.name.as_bytes());
        option(into, IF_DESCRIPTION, interface.description.as_bytes());
        interface.mac.iter().for_each(|mac| option(into, IF_MAC, mac));
        option(into, IF_SPEED, &interface.speed.to_ne_bytes());
        option(into, IF_TIME_RESOLUTION, &[9]);
        if interface.link_type != UPPER_PDU {
            option(into, IF_FCS_LENGTH, &[32]);
        }
        end_of_options(into);
    });
}

/// Appends what an interface counted up to `nanos`: what the capture misses.
pub(super) fn statistics(into: &mut Vec<u8>, interface: u32, nanos: u64, missing: u64) {
    block(into, STATISTICS, |into| {
        for word in [interface, (nanos >> 32) as u32, nanos as u32] {
            into.extend_from_slice(&word.to_ne_bytes());
        }
        option(into, ISB_IF_DROP, &missing.to_ne_bytes());
        end_of_options(into);
    });
}

/// What a whole block says that the capture misses, if it is the last one of a capture of a running lab.
pub(super) fn missing(block: &[u8]) -> Option<u64> {
    let own = |at: usize, length: usize| block.get(at..at + length);
    let has = |at: usize, value: &[u8]| own(at, value.len()) == Some(value);
    let is_ours = has(0, &STATISTICS.to_ne_bytes()) && has(20, &ISB_IF_DROP.to_ne_bytes());
    is_ours.then(|| own(24, 8)?.try_into().ok().map(u64::from_ne_bytes)).flatten()
}

/// A packet's block that has been begun: where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet(usize);

impl Packet {
    /// Octets before the packet's own.
    const HEAD: usize = 28;

    /// Appends the beginning of a packet of an interface at `nanos`. The packet's octets are to be appended next.
    #[inline]
    pub fn begin(into: &mut Vec<u8>, interface: u32, nanos: u64) -> Packet {
        let begin = into.len();
        let mut head = [0; Packet::HEAD];
        let words = [(0, ENHANCED_PACKET), (8, interface), (12, (nanos >> 32) as u32), (16, nanos as u32)];
        words.iter().for_each(|(at, word)| head[*at..at + 4].copy_from_slice(&word.to_ne_bytes()));
        into.extend_from_slice(&head);
        Packet(begin)
    }

    /// Appends what comes after the octets of a packet without options.
    pub fn end(self, into: &mut Vec<u8>) {
        self.end_octets(into);
        pad(into, self.0);
        end_block(into, self.0);
    }

    /// The same of one with flags and a comment, which `comment` appends. All that is before and after the comment is
    /// appended at once.
    #[inline]
    pub fn end_with_comment(self, into: &mut Vec<u8>, flags: u32, comment: impl FnOnce(&mut Vec<u8>)) {
        self.end_octets(into);
        let Packet(begin) = self;
        let (mut head, at) = ([0; 3 + 12], padding(begin, into.len()));
        head[at..at + 2].copy_from_slice(&EPB_FLAGS.to_ne_bytes());
        head[at + 2..at + 4].copy_from_slice(&4_u16.to_ne_bytes());
        head[at + 4..at + 8].copy_from_slice(&flags.to_ne_bytes());
        head[at + 8..at + 10].copy_from_slice(&COMMENT.to_ne_bytes());
        append(into, &head, at + 12);
        let text = into.len();
        comment(into);
        let length = (into.len() - text) as u16;
        into[text - 2..text].copy_from_slice(&length.to_ne_bytes());
        // The end of the options is four octets of zero.
        let (mut tail, at) = ([0; 3 + 4 + 4], padding(text, into.len()));
        let length = ((into.len() - begin + at + 8) as u32).to_ne_bytes();
        tail[at + 4..at + 8].copy_from_slice(&length);
        append(into, &tail, at + 8);
        into[begin + 4..begin + 8].copy_from_slice(&length);
    }

    /// Says how many octets the packet has, after the last one.
    #[inline]
    fn end_octets(self, into: &mut [u8]) {
        let Packet(begin) = self;
        let length = ((into.len() - begin - Packet::HEAD) as u32).to_ne_bytes();
        into[begin + 20..begin + 24].copy_from_slice(&length);
        into[begin + 24..begin + 28].copy_from_slice(&length);
    }
}

/// Appends the tags before the octets of a packet of link type [`UPPER_PDU`]: that it is JSON, the text of the column
/// "Protocol", in capitals, and the text of "Info" for Wireshark 4.2 and later, which `info` appends. Returns the place
/// of that text.
pub(super) fn json_tags(into: &mut Vec<u8>, protocol: &[u8], info: impl FnOnce(&mut Vec<u8>)) -> Range<usize> {
    const DISSECTOR: u16 = 12;
    const PROTOCOL: u16 = 33;
    const INFO: u16 = 36;
    tag(into, DISSECTOR, |into| into.extend_from_slice(b"json"));
    let protocol = tag(into, PROTOCOL, |into| into.extend_from_slice(protocol));
    into[protocol].make_ascii_uppercase();
    let info = tag(into, INFO, info);
    into.extend_from_slice(&[0; 4]);
    info
}

/// Appends a tag, and gives where its text is.
fn tag(into: &mut Vec<u8>, tag: u16, text: impl FnOnce(&mut Vec<u8>)) -> Range<usize> {
    into.extend_from_slice(&tag.to_be_bytes());
    into.extend_from_slice(&[0; 2]);
    let begin = into.len();
    text(into);
    let end = into.len();
    pad(into, begin);
    let length = (into.len() - begin) as u16;
    into[begin - 2..begin].copy_from_slice(&length.to_be_bytes());
    begin..end
}

/// How many octets of `text` are whole blocks, and how many blocks those are.
pub(super) fn whole_blocks(text: &[u8]) -> (usize, u64) {
    let (mut whole, mut count) = (0, 0);
    while let Some(length) = block_length(&text[whole..]).filter(|length| text.len() - whole >= *length) {
        whole += length;
        count += 1;
    }
    (whole, count)
}

/// How long the block is that `text` begins with, if that much of it is there.
pub(super) fn block_length(text: &[u8]) -> Option<usize> {
    let length = text.get(4..8)?.try_into().ok()?;
    Some(u32::from_ne_bytes(length) as usize).filter(|length| *length >= 12)
}

/// The number of 32 bits at a place of a block.
fn word(block: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(block.get(at..at + 4)?.try_into().ok()?))
}

/// Whether a whole block is a packet, and its stamp, if so.
pub(super) fn stamp(block: &[u8]) -> Option<u64> {
    (word(block, 0)? == ENHANCED_PACKET).then_some(u64::from(word(block, 12)?) << 32 | u64::from(word(block, 16)?))
}

/// The stamp and the frame, without its FCS, of a block that is the packet of a frame whose FCS is right.
pub(super) fn right_frame(block: &[u8]) -> Option<(u64, &[u8])> {
    let (nanos, length) = (stamp(block)?, word(block, 20)? as usize);
    // Flags are the first option of each frame's packet.
    let flags = word(block, Packet::HEAD + length.next_multiple_of(4) + 4)?;
    let frame = block.get(Packet::HEAD..Packet::HEAD + length.checked_sub(medium::FCS.get() as usize)?)?;
    (flags & CRC_ERROR == 0).then_some((nanos, frame))
}

fn block(into: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = into.len();
    into.extend_from_slice(&kind.to_ne_bytes());
    into.extend_from_slice(&[0; 4]);
    body(into);
    end_block(into, begin);
}

/// Says, at both ends of a block, how long it is.
fn end_block(into: &mut Vec<u8>, begin: usize) {
    let length = ((into.len() - begin + 4) as u32).to_ne_bytes();
    into.extend_from_slice(&length);
    into[begin + 4..begin + 8].copy_from_slice(&length);
}

fn option(into: &mut Vec<u8>, code: u16, value: &[u8]) {
    // Longer ones do not come: names have fifteen octets, comments a sentence.
    let value = &value[..value.len().min(usize::from(u16::MAX) - 3)];
    into.extend_from_slice(&code.to_ne_bytes());
    into.extend_from_slice(&(value.len() as u16).to_ne_bytes());
    let begin = into.len();
    into.extend_from_slice(value);
    pad(into, begin);
}

fn end_of_options(into: &mut Vec<u8>) {
    into.extend_from_slice(&[0; 4]);
}

/// Fills what has come since `begin` up to a multiple of four octets.
fn pad(into: &mut Vec<u8>, begin: usize) {
    let missing = padding(begin, into.len());
    append(into, &[0; 4], missing);
}

/// How many octets are missing from a multiple of four.
fn padding(begin: usize, end: usize) -> usize {
    begin.wrapping_sub(end) % 4
}
