//! A TCP connection as written: how much is transferred, and how its ends are set up.

use super::{options, sizes, time};
use std::fmt;
use std::time::Duration;

/// A TCP connection to the destination, over which a station transfers octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Octets of one transfer; a new connection comes after each. None: one transfer without end.
    pub octets: Option<u64>,
    /// Octets that each end's buffers hold: the largest window.
    pub buffer: u32,
    /// Octets of data in the largest segment; as many as the medium's frames have room for unless said otherwise.
    pub mss: Option<u16>,
    /// Whether the sender has Reno's congestion control; without it only the receiver's window limits what is under way.
    pub reno: bool,
    /// How long an acknowledgement may wait for a second segment; zero acknowledges each at once.
    pub ack_delay: Duration,
    /// Mean of an exponentially distributed pause before each transfer but the first.
    pub think: Duration,
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp {
            octets: None,
            buffer: Tcp::DEFAULT_BUFFER,
            mss: None,
            reno: true,
            ack_delay: Tcp::DEFAULT_ACK_DELAY,
            think: Duration::ZERO,
        }
    }
}

impl Tcp {
    /// `buffer` unless said otherwise: what a window has without scaling (RFC 9293).
    pub const DEFAULT_BUFFER: u32 = 65_535;
    /// `ack_delay` unless said otherwise: that of smoltcp.
    pub const DEFAULT_ACK_DELAY: Duration = Duration::from_millis(10);
    /// The largest buffer: a thousand stations fit into memory with it.
    const LARGEST_BUFFER: u32 = 1 << 20;
    /// The smallest buffer: one segment of the default size (RFC 9293, 3.7.1).
    const SMALLEST_BUFFER: u32 = 536;
    /// smoltcp takes no smaller segments from its peer.
    const SMALLEST_MSS: u16 = 48;
    /// That of a packet of 1500 octets.
    const LARGEST_MSS: u16 = 1460;
    /// The longest delay of an acknowledgement (RFC 9293, 3.8.6.3).
    const LONGEST_ACK_DELAY: Duration = Duration::from_millis(500);

    /// Checks what the parser would have refused.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.octets == Some(0) {
            return Err("0 octets are no transfer: write one or more, or `tcp` for one without end".to_owned());
        }
        let (buffers, segments) = (Tcp::SMALLEST_BUFFER..=Tcp::LARGEST_BUFFER, Tcp::SMALLEST_MSS..=Tcp::LARGEST_MSS);
        if !buffers.contains(&self.buffer) {
            let (least, most) = buffers.into_inner();
            return Err(format!("`buffer={}`: write {least} to {most} octets, like `buffer=65535`", self.buffer));
        }
        if let Some(mss) = self.mss.filter(|mss| !segments.contains(mss)) {
            let (least, most) = segments.into_inner();
            return Err(format!("`mss={mss}`: write {least} to {most} octets, like `mss=1460`"));
        }
        if self.ack_delay > Tcp::LONGEST_ACK_DELAY {
            let longest = Tcp::LONGEST_ACK_DELAY;
            return Err(format!("`ack_delay={:?}`: write up to {longest:?}, like `ack_delay=10ms`", self.ack_delay));
        }
        if self.octets.is_none() && !self.think.is_zero() {
            return Err("a transfer without end has no pause after it: write its octets, like `tcp:100000`".to_owned());
        }
        Ok(())
    }

    /// `100000,buffer=8192,mss=536,reno=off,ack_delay=0,think=1s`; the octets may be left out.
    pub(super) fn read(text: &str) -> Result<Tcp, String> {
        let mut parts = text.split(',').peekable();
        let octets = parts.next_if(|part| !part.contains('='));
        let octets = octets.map(|octets| {
            let octets = octets.trim();
            sizes::whole(octets).ok_or_else(|| {
                format!("`{octets}` is no transfer: write its octets, like `tcp:100000`, or `tcp` alone")
            })
        });
        let example = "`buffer=65535`, `mss=1460`, `reno=off`, `ack_delay=10ms` or `think=1s`";
        let keys = ["buffer", "mss", "reno", "ack_delay", "think"];
        let [buffer, mss, reno, ack_delay, think] = options(parts, keys, "a TCP connection", example)?;
        let reno = match reno.map(str::trim) {
            None | Some("on") => true,
            Some("off") => false,
            Some(other) => return Err(format!("`reno={other}`: write `on` or `off`")),
        };
        Ok(Tcp {
            octets: octets.transpose()?,
            buffer: sizes::octets("buffer", buffer, "65535")?.unwrap_or(Tcp::DEFAULT_BUFFER),
            mss: sizes::octets("mss", mss, "1460")?,
            reno,
            ack_delay: time(ack_delay)?.unwrap_or(Tcp::DEFAULT_ACK_DELAY),
            think: time(think)?.unwrap_or_default(),
        })
    }
}

impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tcp { octets, buffer, mss, reno, ack_delay, think } = *self;
        let usual = Tcp::default();
        let parts = [
            octets.map(|octets| octets.to_string()),
            (buffer != usual.buffer).then(|| format!("buffer={buffer}")),
            mss.map(|mss| format!("mss={mss}")),
            (!reno).then(|| "reno=off".to_owned()),
            (ack_delay != usual.ack_delay).then(|| match ack_delay {
                Duration::ZERO => "ack_delay=0".to_owned(),
                delay => format!("ack_delay={delay:?}"),
            }),
            (!think.is_zero()).then(|| format!("think={think:?}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str("tcp")?;
        if parts.is_empty() { Ok(()) } else { write!(f, ":{}", parts.join(",")) }
    }
}
