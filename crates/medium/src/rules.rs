//! Rules of the medium that the engine and every window share: how long a signal lasts, which stations it reaches, when
//! two signals meet at a place, what counts as late or as a fragment, and when the jam begins. Knows values only, no
//! state.

use crate::config::{Config, Method, Parameters, Population};
pub(crate) use crate::frame::packet;
use crate::frame::{PREAMBLE_AND_SFD, StationId};
use crate::time::{BitInstant, BitTimes, Octets};
use std::num::NonZeroU32;

/// What a signal on the medium is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carried {
    /// A frame with its preamble, and carrier extension if it begins a burst or is alone.
    Frame,
    /// A request to send (IEEE 802.11, 9.3.1.2).
    Rts,
    /// The answer to it (9.3.1.3).
    Cts,
    /// An acknowledgement (9.3.1.4).
    Ack,
    /// The BEACON of PLCA (802.3, 148.4.4).
    Beacon,
    /// COMMIT of PLCA, if no frame follows (802.3, 148.4.4).
    Commit,
    /// The jam after a collision (802.3, 4.2.3.2.4).
    Jam,
}

impl Config {
    /// How long a signal lasts at its sender's place, if nothing cuts it short. `size` is that of a frame as it is
    /// offered; it is padded here. Zero for a signal that the method does not have.
    pub fn on_air(&self, what: Carried, size: Octets) -> BitTimes {
        let size = size.max(self.parameters.min_frame_size);
        match (&self.method, what) {
            (Method::CsmaCa(own), Carried::Frame) => own.phy.frame_time(size),
            (Method::CsmaCa(own), Carried::Rts) => own.phy.spans().rts,
            (Method::CsmaCa(own), Carried::Cts) => own.phy.spans().cts,
            (Method::CsmaCa(own), Carried::Ack) => own.phy.spans().ack,
            (Method::CsmaCd | Method::Plca(_), Carried::Frame) => self.parameters.packet(size, false),
            (Method::SlottedAloha(_) | Method::Tdma(_) | Method::Aloha(_) | Method::Csma(_), Carried::Frame) => {
                packet(size)
            }
            (Method::CsmaCd | Method::Plca(_), Carried::Jam) => self.parameters.jam_size,
            (Method::Plca(own), Carried::Beacon) => own.beacon,
            (Method::Plca(own), Carried::Commit) => own.commit,
            (
                Method::CsmaCd
                | Method::Plca(_)
                | Method::SlottedAloha(_)
                | Method::Tdma(_)
                | Method::Aloha(_)
                | Method::Csma(_)
                | Method::CsmaCa(_),
                Carried::Rts | Carried::Cts | Carried::Ack | Carried::Beacon | Carried::Commit | Carried::Jam,
            ) => BitTimes::ZERO,
        }
    }

    /// How long a frame lasts at least, from the begin of its last attempt to its end: before that, no station receives it
    /// and its sender does not have it transmitted. It may be without extension, and its sender's clock fast.
    pub fn lasts_at_least(&self, size: Octets) -> BitTimes {
        let Parameters { min_frame_size, max_frame_size, .. } = self.parameters;
        let whole = self.preamble() + size.max(min_frame_size).min(max_frame_size).bit_times();
        let fastest = self.clocks_ppm.iter().copied().max().unwrap_or(0).max(0).unsigned_abs();
        BitTimes::new(whole.get() * 1_000_000 / u64::from(1_000_000 + fastest))
    }

    /// Whether a frame on the medium may be discarded with this attempt, from 1, while its station is on the medium.
    pub fn may_be_last(&self, attempt: u32) -> bool {
        let least = match &self.method {
            // The attempts of requests and those of frames have a limit each.
            Method::CsmaCa(own) => Some(own.short_retry_limit.min(own.long_retry_limit)),
            // A late collision discards a frame that is extended.
            Method::CsmaCd if self.parameters.extend_size > Octets::new(0) => Some(NonZeroU32::MIN),
            Method::CsmaCd
            | Method::Plca(_)
            | Method::SlottedAloha(_)
            | Method::Tdma(_)
            | Method::Aloha(_)
            | Method::Csma(_) => self.attempt_limit(),
        };
        least.is_some_and(|least| attempt >= least.get())
    }

    /// How much of a frame's signal is preamble and SFD. CSMA/CA counts its preamble into the frame.
    pub fn preamble(&self) -> BitTimes {
        match self.method {
            Method::CsmaCa(_) => BitTimes::ZERO,
            Method::CsmaCd
            | Method::Plca(_)
            | Method::SlottedAloha(_)
            | Method::Tdma(_)
            | Method::Aloha(_)
            | Method::Csma(_) => PREAMBLE_AND_SFD,
        }
    }

    /// Whether a signal from `from` gets to `to`: no cut is between them, and both are in range. `far` has the stations
    /// beyond the cut, as [`Topology::beyond`](crate::Topology::beyond) gives them.
    pub fn reaches(&self, from: StationId, to: StationId, far: Option<&[bool]>) -> bool {
        let is_cut = far.is_some_and(|far| far[from.index()] != far[to.index()]);
        let in_range = match &self.method {
            Method::CsmaCa(own) => own.reach.as_ref().is_none_or(|reach| reach.joins(from, to)),
            Method::CsmaCd
            | Method::Plca(_)
            | Method::SlottedAloha(_)
            | Method::Tdma(_)
            | Method::Aloha(_)
            | Method::Csma(_) => true,
        };
        !is_cut && in_range
    }

    /// How long a signal of `source` that begins at `begin` takes to `place`.
    #[inline]
    pub fn way(&self, source: StationId, begin: BitInstant, place: StationId) -> BitTimes {
        self.topology.way(self.seed, (source, begin), place)
    }

    /// Who sends: the stations, unless a method without collision detection has infinitely many users.
    pub fn population(&self) -> Population {
        match &self.method {
            Method::SlottedAloha(own) => own.population,
            Method::Aloha(own) => own.population,
            Method::Csma(own) => own.population,
            Method::CsmaCd | Method::Plca(_) | Method::CsmaCa(_) | Method::Tdma(_) => Population::Stations,
        }
    }

    /// How long after its signal a sender learns at the latest that no acknowledgement comes; `None` if senders detect
    /// collisions.
    pub fn answer_within(&self) -> Option<BitTimes> {
        let longest = |span| self.slowest_clock().longest(span);
        match &self.method {
            Method::CsmaCd | Method::Plca(_) => None,
            Method::SlottedAloha(own) => Some(longest(own.slot * u64::from(own.ack_delay + 2))),
            Method::Tdma(own) => Some(longest(own.slot * u64::from(own.ack_delay + 2))),
            Method::Aloha(own) => Some(own.slot * u64::from(own.ack_delay)),
            Method::Csma(own) => Some(own.slot * u64::from(own.ack_delay)),
            Method::CsmaCa(own) => Some(longest(own.phy.spans().timeout)),
        }
    }

    /// Whether senders notice a collision while they send, and jam.
    pub fn detects_collisions(&self) -> bool {
        match self.method {
            Method::CsmaCd | Method::Plca(_) => true,
            Method::SlottedAloha(_) | Method::Tdma(_) | Method::Aloha(_) | Method::Csma(_) | Method::CsmaCa(_) => false,
        }
    }

    /// What one slot of a backoff takes.
    pub fn backoff_slot(&self) -> BitTimes {
        match &self.method {
            Method::CsmaCd | Method::Plca(_) => self.parameters.slot_time,
            Method::SlottedAloha(own) => own.slot,
            Method::Tdma(own) => own.slot,
            Method::Aloha(own) => own.slot,
            Method::Csma(own) => own.slot,
            Method::CsmaCa(own) => own.phy.slot(),
        }
    }

    /// The most slots that a station draws after collision `attempt` of a frame: 2^min(n, backoffLimit) - 1 (802.3,
    /// 4.2.3.2.5). `None`: a policy draws.
    pub fn most_slots(&self, attempt: u32) -> Option<u64> {
        let draws = self.detects_collisions() && self.backoff.is_none();
        let exponent = attempt.min(self.parameters.backoff_limit);
        draws.then(|| 1_u64.checked_shl(exponent).map_or(u64::MAX, |range| range - 1))
    }

    /// When a backoff that `station` draws at `at` is over, by its clock, if nothing that happens meanwhile can move that:
    /// a station of CSMA/CA counts its slots only while the medium is silent.
    pub fn backoff_end(&self, station: StationId, at: BitInstant, slots: u64) -> Option<BitInstant> {
        let (clock, slot) = (self.clock(station), self.backoff_slot());
        match self.method {
            Method::CsmaCa(_) => None,
            Method::SlottedAloha(_) | Method::Tdma(_) if self.has_wrong_clocks() => {
                Some(clock.slot_begin(clock.next_slot(at, slot).saturating_add(slots), slot))
            }
            Method::CsmaCd
            | Method::Plca(_)
            | Method::SlottedAloha(_)
            | Method::Tdma(_)
            | Method::Aloha(_)
            | Method::Csma(_) => Some(clock.after(at, BitTimes::new(slots.saturating_mul(slot.get())))),
        }
    }

    /// The end of the inter-packet gap of `station` after a silence that began at `since`, by its clock. With PLCA the gap
    /// has the medium's bits.
    pub fn gap_end(&self, station: StationId, since: BitInstant) -> BitInstant {
        let gap = self.parameters.inter_packet_gap;
        match self.method {
            Method::Plca(_) => since + gap,
            Method::CsmaCd
            | Method::SlottedAloha(_)
            | Method::Tdma(_)
            | Method::Aloha(_)
            | Method::Csma(_)
            | Method::CsmaCa(_) => self.clock(station).after(since, gap),
        }
    }

    /// Where a standard says when a station sends; ALOHA and CSMA have none.
    pub fn clause_of_sending(&self) -> Option<&'static str> {
        match self.method {
            Method::CsmaCd | Method::Plca(_) => Some("4.2.3.2"),
            Method::CsmaCa(_) => Some("IEEE 802.11, 10.3"),
            Method::SlottedAloha(_) | Method::Tdma(_) | Method::Aloha(_) | Method::Csma(_) => None,
        }
    }
}

/// When a signal is at a place.
///
/// ```text
///   begin    preamble        end
///     |eeeeeeee|pppp|========|          e: extension bits before a later frame of a burst
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first bit.
    pub begin: BitInstant,
    /// The first bit of its preamble; `begin` if a collision came before that.
    pub preamble: BitInstant,
    /// The first instant without it, once nothing can move it.
    pub end: Option<BitInstant>,
}

impl Span {
    /// The same `distance` away from where it was.
    #[inline]
    pub fn after(self, distance: BitTimes) -> Span {
        let Span { begin, preamble, end } = self;
        Span { begin: begin + distance, preamble: preamble + distance, end: end.map(|end| end + distance) }
    }

    /// Whether the signal is there at `now`, after the ends and begins of that instant.
    #[inline]
    pub fn sounds(&self, now: BitInstant) -> bool {
        self.end.is_none_or(|end| end > now) && self.begin <= now
    }

    /// It is there at `now`, or the gap after it, whose end `gap_end` gives, is not over, as decisions see it: just before
    /// that instant.
    pub fn matters(&self, now: BitInstant, gap_end: impl Fn(BitInstant) -> BitInstant) -> bool {
        self.begin < now && self.end.is_none_or(|end| gap_end(end) > now)
    }

    /// `other` spoils this packet where both are.
    ///
    /// What meets only the extension bits before a preamble does the frame no harm: a receiver skips them (802.3,
    /// 4.2.9, PhysicalSignalDecap).
    #[inline]
    pub fn spoilt_by(&self, other: &Span) -> bool {
        let ends_by = |of: &Span, at: BitInstant| of.end.is_some_and(|end| end <= at);
        !ends_by(self, other.begin) && !ends_by(other, self.preamble)
    }
}

impl Parameters {
    /// How long a frame of `size` octets, padded, lasts with preamble, SFD and carrier extension; a frame that goes on with
    /// a burst is not extended (802.3, 4.2.3.4).
    #[inline]
    pub fn packet(&self, size: Octets, goes_on_with_burst: bool) -> BitTimes {
        let least = if goes_on_with_burst { BitTimes::ZERO } else { self.least_carrier() };
        PREAMBLE_AND_SFD + size.bit_times().max(least)
    }

    /// A collision that a station notices `sent` after its first bit is late: later than slotTime, or in a burst, after
    /// its first frame, at all (802.3, 4.2.3.2.3 and 4.2.8).
    #[inline]
    pub fn late(&self, sent: BitTimes, goes_on_with_burst: bool) -> bool {
        goes_on_with_burst || sent > self.slot_time
    }

    /// When the jam begins after a collision at `now`: at once, but a preamble that has begun is finished first (802.3,
    /// 4.2.3.2.4). `preamble` is when it begins or began.
    #[inline]
    pub fn jam_begin(&self, now: BitInstant, preamble: BitInstant) -> BitInstant {
        if preamble <= now { now.max(preamble + PREAMBLE_AND_SFD) } else { now }
    }

    /// What a receiver hears below this, after preamble and SFD, is a collision fragment and no error (802.3, 4.2.9):
    /// slotTime for what is `first` in a burst or alone, where frames are extended; otherwise minFrameSize.
    #[inline]
    pub fn least_received(&self, first: bool) -> BitTimes {
        if first { self.least_carrier() } else { self.min_frame_size.bit_times() }
    }
}
