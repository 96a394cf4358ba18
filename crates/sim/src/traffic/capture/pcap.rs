//! The pcap format: a header, then records. Its facts are those of draft-ietf-opsawg-pcap.

use super::input::{Captured, HEADER, Input, Order, Problem};
use super::{ETHERNET, wrong_link_type};
use std::io::Read;

const FILE_HEADER: &str = "pcap's file header";
const RECORD: &str = "a packet record";

/// What the file's header says of all records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    order: Order,
    nanos_per_tick: u32,
    fcs: bool,
}

impl Pcap {
    /// What a file that begins with `magic` is, if it is pcap.
    pub fn recognise(magic: [u8; 4]) -> Option<Pcap> {
        let (order, nanos_per_tick) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1_000),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1_000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1),
            _ => return None,
        };
        Some(Pcap { order, nanos_per_tick, fcs: false })
    }

    /// Reads the header, whose magic has been read.
    pub fn begin(mut self, input: &mut Input<impl Read>) -> Result<Pcap, Problem> {
        input.read(FILE_HEADER, 20)?;
        let header = input.record();
        let version = (self.order.u16(&header[4..]), self.order.u16(&header[6..]));
        if version != (2, 4) {
            return Err(Problem::damaged(4, format!("version {}.{} of pcap: expected 2.4", version.0, version.1)));
        }
        let link = self.order.u32(&header[20..]);
        // Bit 26 says that the four highest bits are the FCS's length, in words of 16 bits.
        self.fcs = link & 0x0400_0000 != 0 && link >> 28 != 0;
        match link & 0xffff {
            ETHERNET => Ok(self),
            other => Err(wrong_link_type(20, other)),
        }
    }

    /// The next frame; `None` at the end of the file.
    pub fn next(&mut self, input: &mut Input<impl Read>) -> Result<Option<Captured>, Problem> {
        if !input.begin_record(RECORD, 16)? {
            return Ok(None);
        }
        let (begin, header) = (input.begin(), input.record());
        let [seconds, ticks, captured, original] = [0, 4, 8, 12].map(|at| self.order.u32(&header[at..]));
        let limit = 1_000_000_000 / self.nanos_per_tick;
        if ticks >= limit {
            return Err(Problem::damaged(
                begin,
                format!("a fraction of {ticks} parts of a second: expected less than {limit}"),
            ));
        }
        Captured::check(begin, captured, original)?;
        input.read(RECORD, HEADER as u64)?;
        let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(ticks * self.nanos_per_tick);
        let frame = Captured::new(nanos, original, self.fcs, &input.record()[16..]);
        input.skip(RECORD, u64::from(captured) - HEADER as u64)?;
        Ok(Some(frame))
    }
}
