//! When frames arrive at a station's MAC: as written, and the processes.

mod ping;
mod process;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

pub use ping::Ping;
pub(super) use process::Process;
pub use tcp::Tcp;
pub use udp::Udp;

use super::{Load, sizes};
use crate::figures::stacks::Protocol;
use crate::words::units;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// When one station's frames arrive. A load is this station's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arrivals {
    /// `silent`: never.
    Silent,
    /// `saturated`: the next frame is ready at the instant at which the last one ends or is discarded.
    #[default]
    Saturated,
    /// `poisson:0.4`: a Poisson process.
    Poisson {
        /// Offered load.
        load: Load,
    },
    /// `periodic:0.4,phase=1ms`, `periodic:every=10ms,jitter=1ms,frames=3`: evenly spaced releases, but for the jitter.
    Periodic {
        /// From one to the next.
        every: Every,
        /// When the first one is released; unless said otherwise its place in the first interval is drawn.
        phase: Option<Duration>,
        /// Each arrives up to this time after its release, as likely at any instant.
        jitter: Duration,
        /// `frames=3`: the frames of one release, which arrive together.
        frames: u32,
    },
    /// `on_off:0.4,on=10ms,off=40ms`: a Poisson process that exponentially distributed pauses interrupt.
    OnOff {
        /// Offered load, pauses included.
        load: Load,
        /// Mean time of arrivals; it is exponentially distributed too.
        on: Duration,
        /// Mean time of a pause.
        off: Duration,
    },
    /// `window:4,reply=64,think=1ms,timeout=1s`: at most this number of frames under way, the next one when one has
    /// arrived.
    Window(Window),
    /// `tcp`, `tcp:100000,think=1s`: a TCP connection, whose segments are the frames.
    Tcp(Tcp),
    /// `ping`, `ping:every=10ms,size=56`, `ping:flood`: ICMP echo requests, which the addressee's stack answers.
    Ping(Ping),
    /// `udp:0.1,size=1470`, `udp:every=10ms`: UDP datagrams, evenly spaced.
    Udp(Udp),
    /// `bernoulli:0.01`: a station without a frame has one at the beginning of a slot with this chance. Slotted media only.
    Bernoulli {
        /// The chance, in each slot.
        chance: f64,
    },
    /// `replay:trace.pcapng`: as a capture file says; see [`Capture`](super::Capture).
    Replay {
        /// The file.
        path: PathBuf,
    },
}

/// What the interval of periodic arrivals follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// Offered load: the interval is that of a mean frame.
    Load(Load),
    /// The interval itself.
    Period(Duration),
}

impl Every {
    fn check(self) -> Result<(), String> {
        match self {
            Every::Load(load) => load.check(),
            Every::Period(period) => above_zero("every", period, "10ms"),
        }
    }

    /// `0.4`, `every=10ms`
    fn read(text: &str) -> Result<Every, String> {
        Ok(match text.trim().strip_prefix("every=") {
            Some(period) => Every::Period(units::duration(period)?),
            None => Every::Load(Load::read(text)?),
        })
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Load(load) => write!(f, "{load}"),
            Every::Period(period) => write!(f, "every={period:?}"),
        }
    }
}

/// A closed loop: a source that waits until its frames have arrived, or are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Frames that may be under way at a time.
    pub frames: u32,
    /// The addressee answers each with a frame of this number of octets; the loop waits for the answer.
    pub reply: Option<u32>,
    /// Mean of an exponentially distributed pause before each frame.
    pub think: Duration,
    /// A frame that did not arrive, or was not answered, so long after it was offered counts as lost.
    pub timeout: Duration,
}

impl Window {
    /// The most frames under way.
    const MOST: u32 = 1 << 16;
    /// `timeout` unless said otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1);

    fn check(&self) -> Result<(), String> {
        if !(1..=Window::MOST).contains(&self.frames) {
            return Err(format!("{} is no window: write 1 to {} frames", self.frames, Window::MOST));
        }
        above_zero("timeout", self.timeout, "1s")?;
        self.reply.map_or(Ok(()), sizes::in_range)
    }
}

/// The most frames of one release.
const MOST_FRAMES: u32 = 1_000;

impl Arrivals {
    /// `on` unless said otherwise.
    pub const DEFAULT_ON: Duration = Duration::from_millis(10);
    /// `off` unless said otherwise.
    pub const DEFAULT_OFF: Duration = Duration::from_millis(40);

    /// What each of `stations` stations offers if they offer this together: an even part of the load.
    pub fn split(self, stations: usize) -> Arrivals {
        let part = |load: Load| load.parted(stations);
        match self {
            Arrivals::Poisson { load } => Arrivals::Poisson { load: part(load) },
            Arrivals::Periodic { every: Every::Load(load), phase, jitter, frames } => {
                Arrivals::Periodic { every: Every::Load(part(load)), phase, jitter, frames }
            }
            Arrivals::OnOff { load, on, off } => Arrivals::OnOff { load: part(load), on, off },
            Arrivals::Udp(Udp { every: Every::Load(load), size }) => {
                Arrivals::Udp(Udp { every: Every::Load(part(load)), size })
            }
            // A chance or a period is each station's own.
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Window(_) | Arrivals::Bernoulli { .. } => self,
            Arrivals::Periodic { every: Every::Period(_), .. } | Arrivals::Replay { .. } => self,
            Arrivals::Tcp(_) | Arrivals::Ping(_) | Arrivals::Udp(Udp { every: Every::Period(_), .. }) => self,
        }
    }

    /// What it offers on average, where that is written.
    pub fn load(&self) -> Option<Load> {
        match self {
            Arrivals::Poisson { load } | Arrivals::OnOff { load, .. } => Some(*load),
            Arrivals::Periodic { every: Every::Load(load), .. } => Some(*load),
            Arrivals::Udp(Udp { every: Every::Load(load), .. }) => Some(*load),
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Window(_) | Arrivals::Bernoulli { .. } => None,
            Arrivals::Periodic { every: Every::Period(_), .. } | Arrivals::Replay { .. } => None,
            Arrivals::Tcp(_) | Arrivals::Ping(_) | Arrivals::Udp(Udp { every: Every::Period(_), .. }) => None,
        }
    }

    /// The protocol of the stacks that make its frames; none of frames that are a length alone.
    pub fn protocol(&self) -> Option<Protocol> {
        match self {
            Arrivals::Tcp(_) => Some(Protocol::Tcp),
            Arrivals::Ping(_) => Some(Protocol::Ping),
            Arrivals::Udp(_) => Some(Protocol::Udp),
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Poisson { .. } | Arrivals::Periodic { .. } => None,
            Arrivals::OnOff { .. } | Arrivals::Window(_) | Arrivals::Bernoulli { .. } => None,
            Arrivals::Replay { .. } => None,
        }
    }

    /// Checks what the parser would have refused.
    ///
    /// # Errors
    /// A load or a time out of its range, and what would be right.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Arrivals::Silent | Arrivals::Saturated | Arrivals::Replay { .. } => Ok(()),
            Arrivals::Poisson { load } => load.check(),
            Arrivals::Periodic { frames, .. } if !(1..=MOST_FRAMES).contains(&frames) => {
                Err(format!("{frames} frames of one release: write 1 to {MOST_FRAMES}, like `frames=3`"))
            }
            Arrivals::Periodic { every, .. } => every.check(),
            Arrivals::Window(ref window) => window.check(),
            Arrivals::Tcp(ref tcp) => tcp.check(),
            Arrivals::Ping(ref ping) => ping.check(),
            Arrivals::Udp(ref udp) => udp.check(),
            Arrivals::Bernoulli { chance } if chance > 0.0 && chance <= 1.0 => Ok(()),
            Arrivals::Bernoulli { chance } => {
                Err(format!("{chance} is no chance: write one above 0 and up to 1, like `bernoulli:0.01`"))
            }
            Arrivals::OnOff { load, on, off } => {
                load.check()?;
                above_zero("on", on, "10ms")?;
                load.check_while_on(on, off)
            }
        }
    }
}

fn above_zero(key: &str, time: Duration, like: &str) -> Result<(), String> {
    if !time.is_zero() {
        return Ok(());
    }
    Err(format!("`{key}` is no time at all: write one above zero, like `{key}={like}`"))
}

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Arrivals, String> {
        let text = text.trim();
        let arrivals = match text.split_once(':') {
            None if text == "silent" => Arrivals::Silent,
            None if text == "saturated" => Arrivals::Saturated,
            None if text == "tcp" => Arrivals::Tcp(Tcp::default()),
            Some(("tcp", rest)) => Arrivals::Tcp(Tcp::read(rest)?),
            None if text == "ping" => Arrivals::Ping(Ping::default()),
            Some(("ping", rest)) => Arrivals::Ping(Ping::read(rest)?),
            Some(("udp", rest)) => Arrivals::Udp(Udp::read(rest)?),
            Some(("poisson", load)) => Arrivals::Poisson { load: Load::read(load)? },
            Some(("periodic", rest)) => periodic(rest)?,
            Some(("on_off", rest)) => on_off(rest)?,
            Some(("window", rest)) => window(rest)?,
            Some(("bernoulli", chance)) => Arrivals::Bernoulli { chance: probability(chance)? },
            Some(("replay", path)) if !path.trim().is_empty() => Arrivals::Replay { path: path.trim().into() },
            None if matches!(units::fraction(text), Ok(Some(_))) => {
                return Err(format!(
                    "`{text}` is a load, which does not say how frames come: write `poisson:{text}` or `periodic:{text}`"
                ));
            }
            _ => {
                return Err(format!(
                    "`{text}` is no traffic: write `saturated`, `silent`, `poisson:0.4`, `periodic:0.4`, `on_off:0.4,on=10ms,off=40ms`, `window:4`, `tcp`, `ping`, `udp:0.1`, `bernoulli:0.01` or `replay:FILE`"
                ));
            }
        };
        arrivals.check().map_err(|what| format!("`{text}`: {what}"))?;
        Ok(arrivals)
    }
}

/// A chance; whether it is one is checked with the rest.
fn probability(text: &str) -> Result<f64, String> {
    let no_chance = || format!("`{text}` is no chance: write one above 0 and up to 1, like `bernoulli:0.01`");
    units::fraction(text).ok().flatten().ok_or_else(no_chance)
}

/// What follows the first part of `0.4,on=10ms,off=40ms`: each of `keys` at most once, in any order. `of` is what has these keys,
/// and `example` shows one as it is written.
fn options<'a, const N: usize>(
    rest: impl Iterator<Item = &'a str>,
    keys: [&str; N],
    of: &str,
    example: &str,
) -> Result<[Option<&'a str>; N], String> {
    let mut values = [None; N];
    for part in rest {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let Some(index) = keys.iter().position(|known| *known == key.trim()) else {
            return Err(format!("`{}` is no option of {of}: write {example}", part.trim()));
        };
        if values[index].replace(value).is_some() {
            return Err(format!("`{}` comes twice: leave one out", key.trim()));
        }
    }
    Ok(values)
}

fn time(text: Option<&str>) -> Result<Option<Duration>, String> {
    text.map(units::duration_or_zero).transpose()
}

/// `0.4,phase=1ms`, `every=10ms,jitter=1ms`
fn periodic(text: &str) -> Result<Arrivals, String> {
    let mut parts = text.split(',');
    let every = Every::read(parts.next().unwrap_or_default())?;
    let example = "`phase=1ms`, `jitter=1ms` or `frames=3`";
    let [phase, jitter, frames] = options(parts, ["phase", "jitter", "frames"], "a periodic source", example)?;
    let frames = frames.map(|text| {
        sizes::whole(text).ok_or_else(|| format!("`{text}` is no number of frames: write it like `frames=3`"))
    });
    let frames = frames.transpose()?.unwrap_or(1);
    Ok(Arrivals::Periodic { every, phase: time(phase)?, jitter: time(jitter)?.unwrap_or_default(), frames })
}

/// `0.4,on=10ms,off=40ms`
fn on_off(text: &str) -> Result<Arrivals, String> {
    let mut parts = text.split(',');
    let load = Load::read(parts.next().unwrap_or_default())?;
    let [on, off] = options(parts, ["on", "off"], "an on/off source", "`on=10ms` or `off=40ms`")?;
    let time = |text: Option<&str>| text.map(units::duration).transpose();
    let (on, off) = (time(on)?.unwrap_or(Arrivals::DEFAULT_ON), time(off)?.unwrap_or(Arrivals::DEFAULT_OFF));
    Ok(Arrivals::OnOff { load, on, off })
}

/// `4,reply=64,think=1ms,timeout=1s`
fn window(text: &str) -> Result<Arrivals, String> {
    let mut parts = text.split(',');
    let frames = parts.next().unwrap_or_default().trim();
    let frames = sizes::whole(frames).ok_or_else(|| {
        format!("`{frames}` is no window: write how many frames may be under way at a time, like `window:4`")
    })?;
    let example = "`reply=64`, `think=1ms` or `timeout=1s`";
    let [reply, think, timeout] = options(parts, ["reply", "think", "timeout"], "a window", example)?;
    let octets = |text: &str| {
        sizes::whole(text)
            .ok_or_else(|| format!("`{text}` is no frame size: write the octets of an answer like `reply=64`"))
    };
    Ok(Arrivals::Window(Window {
        frames,
        reply: reply.map(octets).transpose()?,
        think: time(think)?.unwrap_or_default(),
        timeout: time(timeout)?.unwrap_or(Window::DEFAULT_TIMEOUT),
    }))
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Silent => f.write_str("silent"),
            Arrivals::Saturated => f.write_str("saturated"),
            Arrivals::Poisson { load } => write!(f, "poisson:{load}"),
            Arrivals::Periodic { every, phase, jitter, frames } => {
                write!(f, "periodic:{every}")?;
                match phase {
                    None => {}
                    Some(phase) if phase.is_zero() => f.write_str(",phase=0")?,
                    Some(phase) => write!(f, ",phase={phase:?}")?,
                }
                if !jitter.is_zero() {
                    write!(f, ",jitter={jitter:?}")?;
                }
                if *frames == 1 { Ok(()) } else { write!(f, ",frames={frames}") }
            }
            Arrivals::Bernoulli { chance } => write!(f, "bernoulli:{chance}"),
            Arrivals::Window(Window { frames, reply, think, timeout }) => {
                write!(f, "window:{frames}")?;
                reply.map_or(Ok(()), |octets| write!(f, ",reply={octets}"))?;
                if !think.is_zero() {
                    write!(f, ",think={think:?}")?;
                }
                if *timeout == Window::DEFAULT_TIMEOUT { Ok(()) } else { write!(f, ",timeout={timeout:?}") }
            }
            Arrivals::Tcp(tcp) => tcp.fmt(f),
            Arrivals::Ping(ping) => ping.fmt(f),
            Arrivals::Udp(udp) => udp.fmt(f),
            Arrivals::OnOff { load, on, off } => write!(f, "on_off:{load},on={on:?},off={off:?}"),
            Arrivals::Replay { path } => write!(f, "replay:{}", path.display()),
        }
    }
}
