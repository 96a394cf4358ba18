//! One signal: from when to when it is on the medium, in which parts, and which stations it reaches.

use medium::{BitInstant, BitTimes, Carried, Config, Fault, FrameId, Span, StationId};
use std::sync::Arc;

/// A collision that its sender noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collided {
    /// When.
    pub at: BitInstant,
    /// Which overlap on the medium, from 1.
    pub episode: u64,
    /// When the jam begins.
    pub jam: BitInstant,
}

/// A signal, at its sender's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its sender.
    pub source: StationId,
    /// The frame that it is, asks for, grants or acknowledges; of BEACON and COMMIT its serial may be 0.
    pub frame: FrameId,
    /// The kind of signal.
    pub what: Carried,
    /// Which attempt of the frame, from 1; 0 if it is none.
    pub attempt: u32,
    /// The first bit.
    pub begin: BitInstant,
    /// Where the preamble begins, or would have: after extension bits, in a burst.
    pub preamble: BitInstant,
    /// Where the frame begins, or would have: after preamble and SFD.
    pub body: BitInstant,
    /// Its sender has noticed a collision.
    pub collision: Option<Collided>,
    /// After the last bit, once that is known.
    pub end: Option<BitInstant>,
    /// Carrier extension before the end, or the delimiter of PLCA.
    pub extension: BitTimes,
    /// The cable was cut as it began: which stations were on the far side.
    pub parted: Option<Arc<[bool]>>,
    /// The fault of its sender as it began.
    pub fault: Option<Fault>,
    /// Which stations had no carrier sense as it began, if any.
    pub deaf: Option<Arc<[bool]>>,
    /// How long it reserves the medium after its end (NAV of CSMA/CA).
    pub reserves: BitTimes,
}

/// What of a signal is somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Preamble and SFD.
    Preamble,
    /// The frame.
    Frame,
    /// The jam.
    Jam,
    /// Extension bits.
    Extension,
    /// A request to send.
    Rts,
    /// The answer to it.
    Cts,
    /// An acknowledgement.
    Ack,
    /// BEACON of PLCA.
    Beacon,
    /// COMMIT of PLCA.
    Commit,
}

impl Part {
    /// Every part with the name that windows have for it, in this order.
    pub const ALL: [(Part, &str); 9] = [
        (Part::Extension, "extension"),
        (Part::Preamble, "preamble"),
        (Part::Frame, "frame"),
        (Part::Jam, "jam"),
        (Part::Rts, "RTS"),
        (Part::Cts, "CTS"),
        (Part::Ack, "ACK"),
        (Part::Beacon, "BEACON"),
        (Part::Commit, "COMMIT"),
    ];

    /// What windows call it.
    pub fn name(self) -> &'static str {
        Part::ALL.iter().find(|(part, _)| *part == self).map_or("", |(_, name)| name)
    }
}

impl Signal {
    /// Its parts in order of time, at its sender's place: what, from when, to when. The last one of a signal that goes on
    /// ends with `limit`.
    pub fn parts(&self, limit: BitInstant) -> impl Iterator<Item = (Part, BitInstant, BitInstant)> + use<> {
        let end = self.end.unwrap_or(limit);
        let whole = |part| [(part, self.begin, end), (part, end, end), (part, end, end), (part, end, end)];
        let parts = match self.what {
            Carried::Rts => whole(Part::Rts),
            Carried::Cts => whole(Part::Cts),
            Carried::Ack => whole(Part::Ack),
            Carried::Beacon => whole(Part::Beacon),
            Carried::Commit => whole(Part::Commit),
            Carried::Jam => whole(Part::Jam),
            Carried::Frame => {
                let extended = BitInstant::new(end.get().saturating_sub(self.extension.get()));
                let (last, tail) = match self.collision {
                    Some(Collided { jam, .. }) => (jam.min(end), Part::Jam),
                    None => (extended, Part::Extension),
                };
                let (preamble, body) = (self.preamble.min(last), self.body.min(last));
                [
                    (Part::Extension, self.begin, preamble),
                    (Part::Preamble, preamble, body),
                    (Part::Frame, body, last),
                    (tail, last, end),
                ]
            }
        };
        parts.into_iter().filter(|(_, from, to)| to > from)
    }

    /// What its sender sends at `at`; nothing before it begins and after it has ended.
    pub fn part(&self, at: BitInstant) -> Option<Part> {
        let there = |(part, from, to): (Part, BitInstant, BitInstant)| (from <= at && at < to).then_some(part);
        self.parts(at + BitTimes::new(1)).find_map(there)
    }

    /// What windows call it.
    pub fn name(&self) -> &'static str {
        match self.what {
            Carried::Frame => "frame",
            Carried::Rts => "RTS",
            Carried::Cts => "CTS",
            Carried::Ack => "ACK",
            Carried::Beacon => "BEACON",
            Carried::Commit => "COMMIT",
            Carried::Jam => "jam",
        }
    }

    /// Its sender dropped it before its first bit.
    pub(super) fn is_dropped(&self) -> bool {
        self.end == Some(self.begin)
    }

    /// Whether the signal gets to `station`, as far as cuts and ranges go.
    pub fn reaches(&self, station: StationId, config: &Config) -> bool {
        config.reaches(self.source, station, self.parted.as_deref())
    }

    /// Whether the signal gets to `station`, and the station had carrier sense as it began. A station in full duplex senses its own signals.
    pub fn is_heard(&self, station: StationId, config: &Config) -> bool {
        let is_duplex = self.fault == Some(Fault::FullDuplex) && config.detects_collisions();
        let is_own = is_duplex && station == self.source;
        self.reaches(station, config) && (is_own || self.deaf.as_ref().is_none_or(|deaf| !deaf[station.index()]))
    }

    /// When it is at `station`, wherever it gets to.
    pub fn at(&self, station: StationId, config: &Config) -> Span {
        let preamble = if self.is_cut_before_preamble() { self.begin } else { self.preamble };
        let span = Span { begin: self.begin, preamble, end: self.end };
        span.after(config.way(self.source, self.begin, station))
    }

    /// A collision came before its preamble, in the extension bits of a burst.
    pub fn is_cut_before_preamble(&self) -> bool {
        self.collision.is_some_and(|collision| collision.at < self.preamble)
    }
}
