//! The pcapng format: blocks, in sections of either order of octets, of several interfaces with clocks of their own. Its
//! facts are those of draft-ietf-opsawg-pcapng.

use super::input::{Captured, Input, Order, Problem};
use super::{ETHERNET, wrong_link_type};
use std::collections::BTreeMap;
use std::io::Read;

/// LINKTYPE_ETHERNET_MPACKET: preamble, SFD, frame, FCS, as ethbus writes them.
const MPACKET: u32 = 274;
/// Octets of an mPacket before its frame, and the last of them where the packet is a whole frame (802.3, 99.3.3).
const MPACKET_HEAD: u32 = 8;
const SFD: u8 = 0xd5;
/// The bit of a packet's flags that says that the FCS is wrong, as it is where a collision cut the frame short.
const CRC_ERROR: u32 = 1 << 24;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Type and length at the beginning, and the length again at the end.
const FRAME: u32 = 12;
/// The longest block that is taken into memory; others are passed over, however long.
const LONGEST: u32 = 1 << 24;

/// Options, by their numbers in the block that has them.
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;
const PACKET_FLAGS: u16 = 2;

/// What has been said of the current section.
#[derive(Debug)]
pub(super) struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    left_out: LeftOut,
}

/// How many packets are no whole frames of Ethernet, by link type, and where the first of them is.
pub(super) type LeftOut = BTreeMap<u32, (usize, u64)>;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u32,
    /// Ticks of its clock in a second.
    ticks: u128,
    /// Seconds to add to its clock.
    offset: i64,
    fcs: bool,
}

impl PcapNg {
    /// What a file that begins with `magic` is, if it is pcapng.
    pub fn recognise(magic: [u8; 4]) -> Option<PcapNg> {
        let new = || PcapNg { order: Order::Little, interfaces: Vec::new(), left_out: LeftOut::new() };
        (u32::from_le_bytes(magic) == SECTION).then(new)
    }

    /// Reads the first block, whose type has been read.
    pub fn begin(mut self, input: &mut Input<impl Read>) -> Result<PcapNg, Problem> {
        input.read("a section header block", 8)?;
        self.section(input)?;
        Ok(self)
    }

    /// What is no whole frame of Ethernet.
    ///
    /// # Errors
    /// The file has nothing else.
    pub fn left_out(self, has_frames: bool) -> Result<LeftOut, Problem> {
        match self.left_out.first_key_value() {
            Some((link_type, (_, place))) if !has_frames => Err(wrong_link_type(*place, *link_type)),
            Some(_) | None => Ok(self.left_out),
        }
    }

    /// The next frame; `None` at the end of the file.
    pub fn next(&mut self, input: &mut Input<impl Read>) -> Result<Option<Captured>, Problem> {
        while input.begin_record("a block", 12)? {
            let packet = match self.order.u32(input.record()) {
                SECTION => self.section(input).map(|()| None)?,
                INTERFACE => self.interface(input).map(|()| None)?,
                ENHANCED_PACKET => self.packet(input, "an enhanced packet block")?,
                OLD_PACKET => self.packet(input, "a packet block")?,
                SIMPLE_PACKET => {
                    let what = "a simple packet block has no time stamp: expected enhanced packet blocks, so that arrivals have an instant";
                    return Err(Problem::damaged(input.begin(), what));
                }
                _ => self.pass(input, "a block", FRAME).map(|()| None)?,
            };
            if packet.is_some() {
                return Ok(packet);
            }
        }
        Ok(None)
    }

    /// The current block's length; `least` is what one of its type has without options.
    fn length(&self, input: &Input<impl Read>, name: &str, least: u32) -> Result<u32, Problem> {
        let length = self.order.u32(&input.record()[4..]);
        if length < least || !length.is_multiple_of(4) {
            let what = format!("{name} of {length} octets: expected a multiple of 4, and at least {least}");
            return Err(Problem::damaged(input.begin(), what));
        }
        Ok(length)
    }

    /// Passes over the rest of the current block.
    fn pass(&self, input: &mut Input<impl Read>, name: &str, least: u32) -> Result<(), Problem> {
        let length = self.length(input, name, least)?;
        // Of the shortest block the length at the end has been read already.
        if length > FRAME {
            input.skip(name, u64::from(length - FRAME) - 4)?;
            input.read(name, 4)?;
        }
        self.closed(input, name, length)
    }

    /// Takes the whole current block into memory.
    fn whole(&self, input: &mut Input<impl Read>, name: &str, least: u32) -> Result<(), Problem> {
        let length = self.length(input, name, least)?;
        if length > LONGEST {
            let what = format!("{name} of {length} octets: expected at most {LONGEST}");
            return Err(Problem::damaged(input.begin(), what));
        }
        input.read(name, u64::from(length - FRAME))?;
        self.closed(input, name, length)
    }

    /// A block has its length at its end again.
    fn closed(&self, input: &Input<impl Read>, name: &str, length: u32) -> Result<(), Problem> {
        let record = input.record();
        let again = self.order.u32(&record[record.len() - 4..]);
        if again == length {
            return Ok(());
        }
        let what = format!("{name} has length {length} at its beginning and {again} at its end: expected the same");
        Err(Problem::damaged(input.begin(), what))
    }

    /// A section header says the order of octets and forgets the interfaces.
    fn section(&mut self, input: &mut Input<impl Read>) -> Result<(), Problem> {
        let name = "a section header block";
        self.order = match input.record()[8..12] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => return Err(Problem::damaged(input.begin() + 8, "expected the octets 1a 2b 3c 4d in either order")),
        };
        self.interfaces.clear();
        self.whole(input, name, 28)?;
        let version = (self.order.u16(&input.record()[12..]), self.order.u16(&input.record()[14..]));
        if version.0 == 1 {
            return Ok(());
        }
        let what = format!("version {}.{} of pcapng: expected 1.0", version.0, version.1);
        Err(Problem::damaged(input.begin() + 12, what))
    }

    fn interface(&mut self, input: &mut Input<impl Read>) -> Result<(), Problem> {
        self.whole(input, "an interface description block", 20)?;
        let record = input.record();
        let options = Options { octets: &record[16..record.len() - 4], offset: input.begin() + 16, order: self.order };
        let link_type = self.order.u16(&record[8..]).into();
        let mut interface = Interface { link_type, ticks: 1_000_000, offset: 0, fcs: false };
        options.each(|code, at, value| {
            match (code, value) {
                (IF_TSRESOL, &[resolution]) => interface.ticks = resolved(resolution, at)?,
                (IF_TSOFFSET, seconds) if seconds.len() == 8 => interface.offset = self.order.i64(seconds),
                (IF_FCSLEN, &[length]) => interface.fcs = length != 0,
                (IF_TSRESOL | IF_TSOFFSET | IF_FCSLEN, _) => {
                    let right = if code == IF_TSOFFSET { 8 } else { 1 };
                    let what = format!("option {code} of {} octets: expected {right}", value.len());
                    return Err(Problem::damaged(at, what));
                }
                _ => {}
            }
            Ok(())
        })?;
        self.interfaces.push(interface);
        Ok(())
    }

    /// An enhanced packet block, or the older packet block: they differ in the interface's number. `None` if it has no
    /// whole frame of Ethernet.
    fn packet(&mut self, input: &mut Input<impl Read>, name: &str) -> Result<Option<Captured>, Problem> {
        self.whole(input, name, 32)?;
        let (begin, record) = (input.begin(), input.record());
        let old = self.order.u32(record) == OLD_PACKET;
        let number = if old { u32::from(self.order.u16(&record[8..])) } else { self.order.u32(&record[8..]) };
        let Some(interface) = self.interfaces.get(number as usize) else {
            let what = format!(
                "a packet of interface {number}: expected one of the {} described before it",
                self.interfaces.len()
            );
            return Err(Problem::damaged(begin + 8, what));
        };
        let [high, low, captured, original] = [12, 16, 20, 24].map(|at| self.order.u32(&record[at..]));
        let end = 28 + (captured as usize).next_multiple_of(4);
        let Some(octets) = record[..record.len() - 4].get(end..) else {
            let what = format!("{captured} octets of a frame in {name} of {}: expected room for them", record.len());
            return Err(Problem::damaged(begin + 20, what));
        };
        let (mut fcs, mut is_whole) = (interface.fcs, true);
        Options { octets, offset: begin + end as u64, order: self.order }.each(|code, _, value| {
            if code == PACKET_FLAGS && value.len() == 4 {
                // Bits 5 to 8: the FCS's length in octets; 0 says nothing.
                fcs |= self.order.u32(value) >> 5 & 0xf != 0;
                is_whole = self.order.u32(value) & CRC_ERROR == 0;
            }
            Ok(())
        })?;
        let head = match interface.link_type {
            ETHERNET => 0,
            MPACKET if is_whole && captured >= MPACKET_HEAD && record[35] == SFD => MPACKET_HEAD,
            link_type => {
                self.left_out.entry(link_type).or_insert((0, begin)).0 += 1;
                return Ok(None);
            }
        };
        let (captured, original) = (captured - head, original.saturating_sub(head));
        Captured::check(begin, captured, original)?;
        let ticks = u128::from(high) << 32 | u128::from(low);
        let nanos =
            (ticks * 1_000_000_000 / interface.ticks).cast_signed() + i128::from(interface.offset) * 1_000_000_000;
        Ok(Some(Captured::new(nanos, original, fcs || head > 0, &record[28 + head as usize..])))
    }
}

/// Ticks in a second: 10^n, or with the highest bit 2^n.
fn resolved(resolution: u8, offset: u64) -> Result<u128, Problem> {
    match resolution {
        0..=18 => Ok(10_u128.pow(resolution.into())),
        0x80..=0xbf => Ok(1 << (resolution & 0x7f)),
        _ => {
            let what =
                format!("a clock with resolution {resolution:#04x}: expected 10^-18 seconds or 2^-63 at the finest");
            Err(Problem::damaged(offset, what))
        }
    }
}

/// The options of a block, and their place.
struct Options<'a> {
    octets: &'a [u8],
    offset: u64,
    order: Order,
}

impl Options<'_> {
    /// Gives `take` each option's code, place and value.
    fn each(self, mut take: impl FnMut(u16, u64, &[u8]) -> Result<(), Problem>) -> Result<(), Problem> {
        let Options { mut octets, mut offset, order } = self;
        while octets.len() >= 4 {
            let (code, length) = (order.u16(octets), order.u16(&octets[2..]));
            if code == 0 {
                break;
            }
            let Some(value) = octets.get(4..4 + usize::from(length)) else {
                let what = format!(
                    "option {code} of {length} octets: expected at most the {} left in its block",
                    octets.len() - 4
                );
                return Err(Problem::damaged(offset, what));
            };
            take(code, offset, value)?;
            let whole = (4 + usize::from(length).next_multiple_of(4)).min(octets.len());
            octets = &octets[whole..];
            offset += whole as u64;
        }
        Ok(())
    }
}
