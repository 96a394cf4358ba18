//! Echo requests as written: how often, and how long.

use super::udp::data_in_range;
use super::{above_zero, options, sizes};
use crate::words::units;
use std::fmt;
use std::time::Duration;

/// ICMP echo requests to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// From one request to the next. None, `flood`: the next follows as soon as the last is answered or lost.
    pub every: Option<Duration>,
    /// Octets of data in a request.
    pub size: u32,
    /// A request without an answer so long after it was sent is lost.
    pub timeout: Duration,
}

impl Default for Ping {
    fn default() -> Ping {
        Ping { every: Some(Ping::DEFAULT_EVERY), size: Ping::DEFAULT_SIZE, timeout: Ping::DEFAULT_TIMEOUT }
    }
}

impl Ping {
    /// `every` unless said otherwise: that of `ping`.
    pub const DEFAULT_EVERY: Duration = Duration::from_secs(1);
    /// `size` unless said otherwise: that of `ping`.
    pub const DEFAULT_SIZE: u32 = 56;
    /// `timeout` unless said otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1);

    /// Checks what the parser would have refused.
    pub(super) fn check(&self) -> Result<(), String> {
        self.every.map_or(Ok(()), |every| above_zero("every", every, "10ms"))?;
        above_zero("timeout", self.timeout, "1s")?;
        data_in_range(self.size, 0, Ping::DEFAULT_SIZE)
    }

    /// `every=10ms,size=56,timeout=1s`, `flood,size=1000`
    pub(super) fn read(text: &str) -> Result<Ping, String> {
        let mut parts = text.split(',').peekable();
        let floods = parts.next_if(|part| part.trim() == "flood").is_some();
        let example = "`flood`, `every=10ms`, `size=56` or `timeout=1s`";
        let [every, size, timeout] = options(parts, ["every", "size", "timeout"], "a ping", example)?;
        let time = |text: Option<&str>| text.map(units::duration).transpose();
        let every = match (time(every)?, floods) {
            (Some(_), true) => return Err("`flood` has no interval: leave `flood` or `every` out".to_owned()),
            (every, false) => every.or(Some(Ping::DEFAULT_EVERY)),
            (None, true) => None,
        };
        Ok(Ping {
            every,
            size: sizes::octets("size", size, "56")?.unwrap_or(Ping::DEFAULT_SIZE),
            timeout: time(timeout)?.unwrap_or(Ping::DEFAULT_TIMEOUT),
        })
    }
}

impl fmt::Display for Ping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ping { every, size, timeout } = *self;
        let usual = Ping::default();
        let parts = [
            (every != usual.every).then(|| every.map_or("flood".to_owned(), |every| format!("every={every:?}"))),
            (size != usual.size).then(|| format!("size={size}")),
            (timeout != usual.timeout).then(|| format!("timeout={timeout:?}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str("ping")?;
        if parts.is_empty() { Ok(()) } else { write!(f, ":{}", parts.join(",")) }
    }
}
