//! The raw-socket driver: frames with sequence numbers, offered at a pace, and their fate at the other end.
//!
//! ```text
//!   octet 0       6       12      14      18       22       30           38         46
//!         | to    | from  | 88-b5 | magic | stream | sequence | sent, ns  | zero ... |
//! ```
//! All numbers are big-endian; `sent` is CLOCK_REALTIME, so delays are measured on one machine only.

pub mod offering;
pub mod receive;
pub mod scenario;
pub mod sender;

use link::MacAddr;
use link::clock::RealtimeNanos;

/// The EtherType of the driver's frames: local experimental 1 (IEEE 802, clause 9.2.3).
pub const ETHERTYPE: u16 = 0x88b5;
/// What tells the driver's frames from other experiments.
const MAGIC: [u8; 4] = *b"ebus";
/// Octets of a frame without FCS up to where padding starts.
const HEADER: usize = 38;

/// What a driver's frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The run of a sender that it belongs to.
    pub stream: u32,
    /// Its number in the stream, from 0.
    pub sequence: u64,
    /// When it was handed to the sender's kernel.
    pub sent: RealtimeNanos,
}

/// A frame of `size` octets, FCS included, without a label yet.
pub fn blank(to: MacAddr, from: MacAddr, size: u32) -> Vec<u8> {
    let mut octets = vec![0; (size as usize).saturating_sub(medium::FCS.get() as usize).max(HEADER)];
    octets[0..6].copy_from_slice(&to.octets());
    octets[6..12].copy_from_slice(&from.octets());
    octets[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
    octets[14..18].copy_from_slice(&MAGIC);
    octets
}

/// The bit of `stream` that says that the rest of it is the number of a source of a table of messages.
const OF_SOURCE: u32 = 1 << 31;

impl Label {
    /// The stream of source `number` of a table of messages.
    pub const fn of_source(number: u32) -> u32 {
        OF_SOURCE | number
    }

    /// The source of a table of messages that it may come from.
    pub fn source(&self) -> Option<usize> {
        (self.stream & OF_SOURCE != 0).then_some((self.stream & !OF_SOURCE) as usize)
    }

    /// Writes the label into a frame of [`blank`].
    pub fn write(&self, octets: &mut [u8]) {
        octets[18..22].copy_from_slice(&self.stream.to_be_bytes());
        octets[22..30].copy_from_slice(&self.sequence.to_be_bytes());
        octets[30..38].copy_from_slice(&self.sent.0.to_be_bytes());
    }

    /// Reads the label of a frame; `None` if it is not the driver's.
    pub fn read(octets: &[u8]) -> Option<Label> {
        if octets.get(14..18)? != MAGIC {
            return None;
        }
        Some(Label {
            stream: u32::from_be_bytes(octets.get(18..22)?.try_into().ok()?),
            sequence: u64::from_be_bytes(octets.get(22..30)?.try_into().ok()?),
            sent: RealtimeNanos(u64::from_be_bytes(octets.get(30..38)?.try_into().ok()?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_comes_back_as_it_was_written() {
        let mut octets = blank(MacAddr::broadcast(), MacAddr::new(2, 0, 0, 0, 0, 1), 64);
        assert_eq!(octets.len(), 60);
        let label = Label { stream: 7, sequence: u64::MAX, sent: RealtimeNanos(1 << 60) };
        label.write(&mut octets);
        assert_eq!(Label::read(&octets), Some(label));
    }

    #[test]
    fn what_is_not_the_drivers_has_no_label() {
        assert_eq!(Label::read(&[0; 60]), None);
        let octets = blank(MacAddr::broadcast(), MacAddr::zero(), 64);
        for end in 0..HEADER {
            assert_eq!(Label::read(&octets[..end]), None, "{end} octets");
        }
    }
}
