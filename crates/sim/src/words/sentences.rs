//! What happens on a medium in sentences, each with its clause of IEEE 802.3.
//!
//! Every window says the same thing in the same words: `explain`, the live view, the report and captures fill these
//! templates. A page that fills them by a script of its own is given [`ALL`].

use crate::words::units::group;
use medium::{BitInstant, BitRate, BitTimes, Cause, FrameId, Kind, Parameters, Value};

/// A space that no line is broken at. Whoever prints a sentence replaces it when the lines are made.
pub const TIED: char = '\u{a0}';

/// A collision as its station notices it.
pub const COLLISION: &str = "Collision (4.2.3.2.4), episode {episode} on this medium: {sent} after its own first bit {station} notices {met}.{late}{jam}";
/// A party that began in the same bit time.
pub const MET_AT_ONCE: &str = "{frame}, which began in the same bit time{apart}";
/// A party that began before.
pub const MET_EARLIER: &str = "{frame}, which had begun {span} earlier{apart}";
/// A party that began later.
pub const MET_LATER: &str = "{frame}, which began {span} later{apart}";
/// How far the party is.
pub const APART: &str = ", {span} away";
/// Nobody knows who it was.
pub const MET_UNKNOWN: &str = "a signal that began before the log";
/// The collision came after slotTime.
pub const LATE: &str = " That is later than slotTime, {slot}: a late collision (4.2.3.2.3).";
/// It came in a burst.
pub const LATE_IN_BURST: &str =
    " After a burst's first frame every collision is a late one, however early it comes (4.2.3.2.3, 4.2.8).";
/// The collision came before the preamble.
pub const JAM_ALONE: &str = " Its preamble has not begun, so there is none, and the jam follows at once.";
/// It came in the preamble.
pub const JAM_AFTER_PREAMBLE: &str = " Preamble and SFD are finished first, then comes the jam.";
/// It came after the preamble.
pub const JAM_AT_ONCE: &str = " The jam follows at once.";
/// The end of the jam.
pub const JAM_END: &str = "The jam of {jam} is out, so that the other parties notice the collision too (4.2.3.2.4).";
/// The draw.
pub const BACKOFF: &str = "Backoff (4.2.3.2.5) after collision {attempt} of this frame: of 0 to 2^{exponent} - 1 = {most} slots{limited} it draws {slots}; {until}.";
/// The draw's exponent is limited.
pub const BACKOFF_LIMITED: &str = " (no more than backoffLimit)";
/// A draw of no slot.
pub const BACKOFF_NONE: &str = "so it is ready for the next attempt at once";
/// A draw of some.
pub const BACKOFF_UNTIL: &str = "{slots} x {slot} = {delay}, up to t = {t}, whatever carrier does meanwhile";
/// The end of a frame that got through.
pub const TRANSMITTED: &str = "The last bit is out{extended}, and {station} has noticed no collision: transmitted, {size} octets, at attempt {attempts} (4.2.8). Access delay {access}, from the head of the queue to the first bit of this attempt; MAC delay {mac}, from the host to now.{deaf}";
/// It was extended.
pub const EXTENDED: &str = ", and {span} of carrier extension after it (4.2.3.4)";
/// It was sent without carrier sense.
pub const NO_CARRIER: &str = " It had no carrier sense as it began: carrier_sense_errors counts it (5.2.4.2).";
/// A frame comes.
pub const OFFERED: &str =
    "The host of {station} hands the frame to its MAC: {size} octets from destination address to FCS.";
/// A frame finds no room.
pub const QUEUE_DROP: &str = "The transmit queue is full: the frame is dropped at its tail.";
/// A station waits.
pub const DEFER: &str = "Ready for attempt {attempt}, but it must defer (4.2.3.2.1).";
/// A station sends.
pub const ATTEMPT: &str = "{station} begins to send (4.2.3.2). Attempt {attempt} of at most {limit}.";
/// A frame is given up.
pub const DISCARDED: &str = "The frame is discarded after {attempts} attempts: {cause}.";
/// A receiver has it.
pub const DELIVERED: &str = "{station} receives the frame whole (4.2.4).";
/// A receiver has a piece.
pub const FRAGMENT: &str = "{station}, whom it is for, hears {bits} bits after the SFD: a collision fragment, dropped without an error (4.2.4.2.2).";
/// A receiver has something broken.
pub const DAMAGED: &str = "{station}, whom it is for, hears {bits} bits with a bad FCS and drops them (4.2.4.1.2).";
/// A receiver has too much.
pub const TOO_LONG: &str = "{station}, whom it is for, hears {size} octets: too long, dropped (4.2.4.2.1).";

/// Every template under its name, for pages that fill them themselves.
pub const ALL: [(&str, &str); 28] = [
    ("collision", COLLISION),
    ("met_at_once", MET_AT_ONCE),
    ("met_earlier", MET_EARLIER),
    ("met_later", MET_LATER),
    ("apart", APART),
    ("met_unknown", MET_UNKNOWN),
    ("late", LATE),
    ("late_in_burst", LATE_IN_BURST),
    ("jam_alone", JAM_ALONE),
    ("jam_after_preamble", JAM_AFTER_PREAMBLE),
    ("jam_at_once", JAM_AT_ONCE),
    ("jam_end", JAM_END),
    ("backoff", BACKOFF),
    ("backoff_limited", BACKOFF_LIMITED),
    ("backoff_none", BACKOFF_NONE),
    ("backoff_until", BACKOFF_UNTIL),
    ("transmitted", TRANSMITTED),
    ("extended", EXTENDED),
    ("no_carrier", NO_CARRIER),
    ("offered", OFFERED),
    ("queue_drop", QUEUE_DROP),
    ("defer", DEFER),
    ("attempt", ATTEMPT),
    ("discarded", DISCARDED),
    ("delivered", DELIVERED),
    ("fragment", FRAGMENT),
    ("damaged", DAMAGED),
    ("too_long", TOO_LONG),
];

/// A template with its gaps filled; what a value says is left as it is.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(2 * template.len());
    let mut rest = template;
    while let Some(gap) = rest.find('{') {
        text += &rest[..gap];
        rest = &rest[gap + 1..];
        let end = rest.find('}').unwrap_or(0);
        match values.iter().find(|(name, _)| *name == &rest[..end]) {
            Some((_, value)) => {
                text += value;
                rest = &rest[end + 1..];
            }
            None => text.push('{'),
        }
    }
    text + rest
}

/// A frame as people and logs call it.
pub fn frame_name(names: &[String], frame: FrameId) -> String {
    format!("{}#{}", names[frame.station.index()], frame.serial)
}

/// A time in the unit that suits it.
pub fn nanos(nanos: u64) -> String {
    let (digits, unit) = match nanos {
        0..1_000 => (nanos.to_string(), "ns"),
        1_000..1_000_000 => (format!("{}.{:03}", nanos / 1_000, nanos % 1_000), "us"),
        1_000_000..1_000_000_000 => (format!("{:.3}", nanos as f64 / 1e6), "ms"),
        _ => (format!("{:.3}", nanos as f64 / 1e9), "s"),
    };
    // Three digits after the point are a thousandth; zeros at the end say nothing.
    let point = digits.find('.').unwrap_or(0);
    let said = if point > 0 { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    format!("{said}{TIED}{unit}")
}

/// A span in real time.
pub fn real(span: BitTimes, rate: BitRate) -> String {
    nanos(u64::try_from(span.at(rate).as_nanos()).unwrap_or(u64::MAX))
}

/// A span in bit times and in real time.
pub fn span(span: BitTimes, rate: BitRate) -> String {
    format!("{}{TIED}BT{TIED}({})", group(span.get()), real(span, rate))
}

/// Who was met in a collision.
#[derive(Clone, Debug)]
pub struct Party {
    /// The frame's name, as logs have it.
    pub frame: String,
    /// Its first bit, at its sender's place.
    pub begin: BitInstant,
    /// From its sender to whoever notices.
    pub distance: BitTimes,
}

impl Party {
    /// How it was met by whoever began at `own_begin`.
    pub fn met(&self, own_begin: BitInstant, rate: BitRate) -> String {
        let apart = match self.distance {
            BitTimes::ZERO => String::new(),
            distance => fill(APART, &[("span", &span(distance, rate))]),
        };
        let frame = ("frame", self.frame.as_str());
        if self.begin == own_begin {
            fill(MET_AT_ONCE, &[frame, ("apart", &apart)])
        } else if self.begin < own_begin {
            let earlier = span(own_begin.since(self.begin), rate);
            fill(MET_EARLIER, &[frame, ("span", &earlier), ("apart", &apart)])
        } else {
            let later = span(self.begin.since(own_begin), rate);
            fill(MET_LATER, &[frame, ("span", &later), ("apart", &apart)])
        }
    }
}

/// A collision, as its station notices it at `at`.
#[derive(Clone, Debug)]
pub struct Noticed<'a> {
    /// The station's name.
    pub station: &'a str,
    /// Its own first bit.
    pub begin: BitInstant,
    /// Where its preamble begins, or would have.
    pub preamble: BitInstant,
    /// When it notices.
    pub at: BitInstant,
    /// It is a late collision.
    pub late: bool,
    /// Which overlap on the medium, from 1.
    pub episode: u64,
    /// Whom it meets; nobody if that began before anybody looked.
    pub met: Vec<Party>,
}

impl Noticed<'_> {
    /// The sentence.
    pub fn sentence(&self, parameters: &Parameters, rate: BitRate) -> String {
        let sent = self.at.since(self.begin);
        let met: Vec<String> = self.met.iter().map(|party| party.met(self.begin, rate)).collect();
        let met = if met.is_empty() { MET_UNKNOWN.to_owned() } else { met.join("; and ") };
        let jam = if self.preamble > self.at {
            JAM_ALONE
        } else if parameters.jam_begin(self.at, self.preamble) > self.at {
            JAM_AFTER_PREAMBLE
        } else {
            JAM_AT_ONCE
        };
        let late = match (self.late, parameters.late(sent, false)) {
            (false, _) => String::new(),
            (true, true) => fill(LATE, &[("slot", &span(parameters.slot_time, rate))]),
            (true, false) => LATE_IN_BURST.to_owned(),
        };
        let (episode, sent) = (self.episode.to_string(), span(sent, rate));
        let (episode, sent, station) = (("episode", &*episode), ("sent", &*sent), ("station", self.station));
        fill(COLLISION, &[episode, sent, station, ("met", &met), ("late", &late), ("jam", jam)])
    }
}

/// Any event but a collision, whose sentence needs to know whom it met, in short.
pub fn sentence(kind: &Kind, at: BitInstant, station: &str, parameters: &Parameters, rate: BitRate) -> String {
    let number = |number: u32| number.to_string();
    match *kind {
        Kind::Offered { size } => fill(OFFERED, &[("size", &number(size.get())), ("station", station)]),
        Kind::QueueDrop => QUEUE_DROP.to_owned(),
        Kind::Defer { attempt } => fill(DEFER, &[("attempt", &number(attempt))]),
        Kind::Attempt { attempt, .. } => {
            let (attempt, limit) = (number(attempt), parameters.attempt_limit.to_string());
            fill(ATTEMPT, &[("station", station), ("attempt", &attempt), ("limit", &limit)])
        }
        Kind::Collision { episode, .. } => format!("A collision (4.2.3.2.4), episode {episode}."),
        Kind::JamEnd { .. } => fill(JAM_END, &[("jam", &span(parameters.jam_size, rate))]),
        Kind::Backoff { attempt, slots } => backoff(attempt, slots, at, parameters, rate),
        Kind::Transmitted { .. } => transmitted(kind, station, rate),
        Kind::Discarded { cause, attempts } => {
            fill(DISCARDED, &[("attempts", &number(attempts)), ("cause", why(cause))])
        }
        Kind::Delivered { .. } => fill(DELIVERED, &[("station", station)]),
        Kind::Fragment { bits } => fill(FRAGMENT, &[("bits", &bits.get().to_string()), ("station", station)]),
        Kind::Damaged { bits } => fill(DAMAGED, &[("bits", &bits.get().to_string()), ("station", station)]),
        Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => plain(kind),
        Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => plain(kind),
        Kind::TooLong { size } => fill(TOO_LONG, &[("size", &number(size.get())), ("station", station)]),
    }
}

/// Kinds of other standards than clause 4: their names and fields, as logs have them.
fn plain(kind: &Kind) -> String {
    let mut text = kind.name().to_owned();
    kind.fields(|name: &'static str, value: Value<'static>| {
        text += &match value {
            Value::Number(number) => format!(" {name}={number}"),
            Value::Truth(truth) => format!(" {name}={truth}"),
            Value::Word(word) => format!(" {name}={word}"),
        };
    });
    text
}

/// Why a frame was discarded, in short.
pub fn why(cause: Cause) -> &'static str {
    match cause {
        Cause::ExcessiveCollisions => "attemptLimit is reached, excessiveCollisionError (4.2.3.2.5)",
        Cause::LateCollision => "a late collision, where frames are extended (4.2.8)",
        Cause::TooShort => "without a whole header there is no frame to send (3.2)",
        Cause::TooLong => "longer than maxBasicFrameSize (3.2.7)",
        Cause::Detached => "the station is off the medium",
    }
}

/// The draw of a backoff at `at`.
pub fn backoff(attempt: u32, slots: u64, at: BitInstant, parameters: &Parameters, rate: BitRate) -> String {
    let exponent = attempt.min(parameters.backoff_limit);
    let limited = if exponent < attempt { BACKOFF_LIMITED } else { "" };
    let (delay, most) = (parameters.slot_time * slots, 1_u64.checked_shl(exponent).map_or(u64::MAX, |range| range - 1));
    let (drawn, slot) = (slots.to_string(), group(parameters.slot_time.get()));
    let until = match slots {
        0 => BACKOFF_NONE.to_owned(),
        _ => {
            let (delay, t) = (span(delay, rate), group((at + delay).get()));
            fill(BACKOFF_UNTIL, &[("slots", &drawn), ("slot", &slot), ("delay", &delay), ("t", &t)])
        }
    };
    let (attempt, exponent, most) = (attempt.to_string(), exponent.to_string(), group(most));
    let (attempt, exponent, most) = (("attempt", &*attempt), ("exponent", &*exponent), ("most", &*most));
    fill(BACKOFF, &[attempt, exponent, most, ("limited", limited), ("slots", &drawn), ("until", &until)])
}

/// The end of a frame that got through; nothing for another event.
pub fn transmitted(kind: &Kind, station: &str, rate: BitRate) -> String {
    let Kind::Transmitted { size, attempts, extension, no_carrier, access_delay, mac_delay, deferred: _ } = *kind
    else {
        return String::new();
    };
    let extended = match extension {
        BitTimes::ZERO => String::new(),
        bits => fill(EXTENDED, &[("span", &span(bits, rate))]),
    };
    let (size, attempts) = (size.get().to_string(), attempts.to_string());
    let (access, mac) = (span(access_delay, rate), span(mac_delay, rate));
    let deaf = if no_carrier { NO_CARRIER } else { "" };
    let (extended, size, attempts) = (("extended", &*extended), ("size", &*size), ("attempts", &*attempts));
    let (access, mac) = (("access", &*access), ("mac", &*mac));
    fill(TRANSMITTED, &[extended, ("station", station), size, attempts, access, mac, ("deaf", deaf)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_and_none_is_listed_twice() {
        assert_eq!(fill("{a} and {b}, {a}", &[("a", "{b}"), ("b", "2")]), "{b} and 2, {b}");
        assert_eq!(fill("{{a} {c} {", &[("a", "1")]), "{1 {c} {");
        for (number, (name, _)) in ALL.iter().enumerate() {
            assert!(ALL[..number].iter().all(|(other, _)| other != name), "{name}");
        }
    }

    /// The sentence of a collision in the preamble, of two stations 10 BT apart.
    #[test]
    fn a_collision_is_told_with_its_parties() {
        let begin = BitInstant::new(1000);
        let party = Party { frame: "st2#4".to_owned(), begin: BitInstant::new(1004), distance: BitTimes::new(10) };
        let noticed = Noticed {
            station: "st1",
            begin,
            preamble: begin,
            at: BitInstant::new(1014),
            late: false,
            episode: 3,
            met: vec![party],
        };
        let text = noticed.sentence(&Parameters::IEEE_802_3, BitRate::MBIT_10).replace(TIED, " ");
        assert_eq!(
            text,
            "Collision (4.2.3.2.4), episode 3 on this medium: 14 BT (1.4 us) after its own first bit st1 notices st2#4, \
             which began 4 BT (400 ns) later, 10 BT (1 us) away. Preamble and SFD are finished first, then comes the jam."
        );
    }
}
