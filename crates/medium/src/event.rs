//! The one vocabulary of facts on the medium. Counters, log, capture and views are folds of it.

use crate::frame::{FrameId, StationId};
use crate::time::{BitInstant, BitTimes, Octets};
use std::fmt;

/// One fact: what happened to which frame, where, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: BitInstant,
    /// The station at which it happened: the frame's own, or the one that received.
    pub station: StationId,
    /// The frame.
    pub frame: FrameId,
    /// What.
    pub kind: Kind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The host handed the frame to its MAC.
    Offered {
        /// Length from destination address to FCS, as handed over.
        size: Octets,
    },
    /// The transmit queue was full, and the frame was dropped at its tail.
    QueueDrop,
    /// The frame was ready, but the station had to defer.
    Defer {
        /// Which attempt waits, from 1.
        attempt: u32,
    },
    /// The station began to send.
    Attempt {
        /// Which attempt, from 1.
        attempt: u32,
        /// This one wait was longer than maxDeferTime, the first such of the frame (802.3, 5.2.4.2 DeferTest).
        excessive_deferral: bool,
        /// It goes on with a burst: interPacketGap of extension bits comes first, then the preamble
        /// (802.3, 4.2.3.2.7; StartTransmit of 4.2.8 comes before interPacketSignal too).
        burst: bool,
    },
    /// The station detected a collision while it sent.
    Collision {
        /// Which attempt, from 1.
        attempt: u32,
        /// Later than slotTime after the first bit of the preamble; or in a burst, after its first frame, at all.
        late: bool,
        /// Which overlap on the medium, from 1. Its parties name the same one; two overlaps that meet only later
        /// keep their numbers.
        episode: u64,
    },
    /// Preamble and jam were sent to the end.
    JamEnd {
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// The station chose how long to wait.
    Backoff {
        /// Which attempt collided, from 1.
        attempt: u32,
        /// The delay, in slots, from the end of the jam.
        slots: u64,
    },
    /// The frame went out to its last bit, extension included, and the station knew of no collision.
    Transmitted {
        /// Padded length, from destination address to FCS.
        size: Octets,
        /// How many attempts it took.
        attempts: u32,
        /// It was delayed on its first attempt.
        deferred: bool,
        /// From the head of the queue to the first bit of this attempt's preamble.
        access_delay: BitTimes,
        /// From its arrival in the queue to now, when the MAC is done with it.
        mac_delay: BitTimes,
        /// Bits of carrier extension after the frame, up to now.
        extension: BitTimes,
        /// The station had no carrier sense as it began (802.3, 5.2.4.2 CarrierSenseTest).
        no_carrier: bool,
    },
    /// The frame will never be sent.
    Discarded {
        /// Why.
        cause: Cause,
        /// How many attempts had been made.
        attempts: u32,
    },
    /// The addressed station received the frame whole.
    Delivered {
        /// Padded length, from destination address to FCS.
        size: Octets,
    },
    /// The addressed station, which did not send, heard the frame cut short below minFrameSize.
    Fragment {
        /// Bits after preamble and SFD.
        bits: BitTimes,
    },
    /// The addressed station heard a long enough frame with a bad FCS; one that sent meanwhile, only if it was whole.
    Damaged {
        /// Bits after preamble and SFD.
        bits: BitTimes,
    },
    /// The addressed station heard a whole frame above maxBasicFrameSize, the tag allowed for.
    TooLong {
        /// Length from destination address to FCS.
        size: Octets,
    },
}

/// Why a frame was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// attemptLimit attempts collided.
    ExcessiveCollisions,
    /// A late collision where frames are extended: the frame is not attempted again (802.3, 4.2.8 TransmitLinkMgmt).
    LateCollision,
    /// Below 14 octets without FCS: there is no whole header.
    TooShort,
    /// Above maxBasicFrameSize, the tag allowed for.
    TooLong,
    /// The station was taken off the medium.
    Detached,
}

impl Cause {
    /// The cause's name in logs and results.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::ExcessiveCollisions => "excessive_collisions",
            Cause::LateCollision => "late_collision",
            Cause::TooShort => "too_short",
            Cause::TooLong => "too_long",
            Cause::Detached => "detached",
        }
    }
}

impl Kind {
    /// The kind's name in logs.
    pub const fn name(&self) -> &'static str {
        match self {
            Kind::Offered { .. } => "offered",
            Kind::QueueDrop => "queue_drop",
            Kind::Defer { .. } => "defer",
            Kind::Attempt { .. } => "attempt",
            Kind::Collision { .. } => "collision",
            Kind::JamEnd { .. } => "jam_end",
            Kind::Backoff { .. } => "backoff",
            Kind::Transmitted { .. } => "transmitted",
            Kind::Discarded { .. } => "discarded",
            Kind::Delivered { .. } => "delivered",
            Kind::Fragment { .. } => "fragment",
            Kind::Damaged { .. } => "damaged",
            Kind::TooLong { .. } => "too_long",
        }
    }
}

/// One line of a trace: instant in bit times, station, kind, frame, and what belongs to the kind.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} {:<3} {:<11} {}", self.at.get(), self.station.to_string(), self.kind.name(), self.frame)?;
        let only_if = |fact: bool, word: &'static str| if fact { word } else { "" };
        match self.kind {
            Kind::Offered { size } => write!(f, " size={}", size.get()),
            Kind::QueueDrop => Ok(()),
            Kind::Defer { attempt } | Kind::JamEnd { attempt } => write!(f, " attempt={attempt}"),
            Kind::Attempt { attempt, excessive_deferral, burst } => {
                let deferral = only_if(excessive_deferral, " excessive_deferral");
                write!(f, " attempt={attempt}{deferral}{}", only_if(burst, " burst"))
            }
            Kind::Collision { attempt, late, episode } => {
                write!(f, " attempt={attempt} episode={episode}{}", only_if(late, " late"))
            }
            Kind::Backoff { attempt, slots } => write!(f, " attempt={attempt} slots={slots}"),
            Kind::Transmitted { size, attempts, deferred, access_delay, mac_delay, extension, no_carrier } => {
                let delays = format_args!("access_delay={} mac_delay={}", access_delay.get(), mac_delay.get());
                write!(f, " size={} attempts={attempts} {delays}", size.get())?;
                f.write_str(only_if(deferred, " deferred"))?;
                if extension > BitTimes::ZERO {
                    write!(f, " extension={}", extension.get())?;
                }
                f.write_str(only_if(no_carrier, " no_carrier"))
            }
            Kind::Discarded { cause, attempts } => write!(f, " cause={} attempts={attempts}", cause.name()),
            Kind::Delivered { size } | Kind::TooLong { size } => write!(f, " size={}", size.get()),
            Kind::Fragment { bits } | Kind::Damaged { bits } => write!(f, " bits={}", bits.get()),
        }
    }
}
