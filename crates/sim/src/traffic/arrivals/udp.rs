//! UDP datagrams as written: how often, and how long; and the frames that IPv4 makes of one.

use super::{Every, options, sizes};
use medium::Octets;
use std::fmt;

/// UDP datagrams to the destination, evenly spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Udp {
    /// From one to the next. A load counts all frames of a datagram.
    pub every: Every,
    /// Octets of data in a datagram.
    pub size: u32,
}

/// Octets of the header of IPv4.
const IP_HEADER: u32 = 20;
/// Octets of the header of UDP, or of an echo request.
const HEADER: u32 = 8;
/// Octets of the largest IP packet that a stack takes apart.
const LARGEST_PACKET: u32 = 8192;
/// Octets of two addresses, an EtherType and the FCS.
const AROUND_PACKET: u32 = 18;

/// Whether a request or a datagram can have this many octets of data; `like` is a number that it can have.
pub(super) fn data_in_range(size: u32, least: u32, like: u32) -> Result<(), String> {
    let most = LARGEST_PACKET - IP_HEADER - HEADER;
    if (least..=most).contains(&size) {
        return Ok(());
    }
    Err(format!("`size={size}`: write {least} to {most} octets of data, like `size={like}`"))
}

impl Udp {
    /// `size` unless said otherwise: one frame of the longest, but for some room for options (that of iperf).
    pub const DEFAULT_SIZE: u32 = 1470;
    /// The least: a datagram has its number and its instant.
    pub const SMALLEST: u32 = 16;

    /// Checks what the parser would have refused.
    pub(super) fn check(&self) -> Result<(), String> {
        self.every.check()?;
        data_in_range(self.size, Udp::SMALLEST, Udp::DEFAULT_SIZE)
    }

    /// `0.1,size=1470`, `every=10ms`
    pub(super) fn read(text: &str) -> Result<Udp, String> {
        let mut parts = text.split(',');
        let every = Every::read(parts.next().unwrap_or_default())?;
        let [size] = options(parts, ["size"], "UDP traffic", "`size=1470`")?;
        Ok(Udp { every, size: sizes::octets("size", size, "1470")?.unwrap_or(Udp::DEFAULT_SIZE) })
    }

    /// Sizes of the frames of a datagram, where an IP packet has up to `mtu` octets (RFC 791: all but the last fragment have
    /// a multiple of 8 octets).
    pub(in crate::traffic) fn frames(&self, mtu: u32) -> impl Iterator<Item = Octets> {
        let data = HEADER + self.size;
        let room = mtu.saturating_sub(IP_HEADER).max(HEADER);
        let most = if data <= room { data } else { room / 8 * 8 };
        (0..data.div_ceil(most)).map(move |number| {
            let own = most.min(data - number * most);
            Octets::new(AROUND_PACKET + IP_HEADER + own)
        })
    }
}

impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "udp:{}", self.every)?;
        if self.size == Udp::DEFAULT_SIZE { Ok(()) } else { write!(f, ",size={}", self.size) }
    }
}
