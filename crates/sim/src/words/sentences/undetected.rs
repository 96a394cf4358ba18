//! What stations do that do not listen while they send, in sentences: ALOHA, slotted ALOHA, TDMA, CSMA and CSMA/CA. No
//! clause of 802.3 is theirs.

use crate::words::prose::{Prose, tell};
use medium::{BitRate, Config, Kind, Method, Spans};

/// CSMA finds the medium busy.
const BUSY: &str = "{station} senses that the medium is busy.";
/// CSMA/CA does.
const MUST_DRAW: &str = "The medium was not silent for a DIFS of {difs}: {station} must draw a number of slots.";
/// A collision, as its sender learns of it.
const UNANSWERED: &str =
    "Attempt {attempt} of {station} gets no answer: it has met another, collision {episode} on this medium.";
/// How long a station waits before it sends again.
const BACKOFF: &str = "Its backoff is {slots} {unit} of {slot}.";
/// As CSMA/CA does.
const BACKOFF_COUNTED: &str = "Its backoff is {slots} {unit} of {slot}, which count while the medium is silent.";
/// As TDMA does.
const BACKOFF_TO_OWN: &str = "The next slot of {station} comes {slots} {unit} later.";
/// A frame got through.
const TRANSMITTED: &str = "Transmitted, {size} octets, at attempt {attempts}. Access delay {access}, from the head of the queue to the first bit of this attempt; MAC delay {mac}, from the host to now.";
/// A receiver has it.
const DELIVERED: &str = "{station} receives the frame whole.";
/// A receiver has something broken.
const DAMAGED: &str = "{station}, the addressee, receives it damaged and drops it.";
/// A receiver has too much.
const TOO_LONG: &str = "{station}, the addressee, drops it: {size} octets are too long.";
/// CSMA/CA asks before it sends.
const RTS: &str =
    "{station} asks first, with an RTS of {rts}, which reserves the medium for {reserves} after it (NAV).";
/// The answer.
const CTS: &str = "{station} answers, a SIFS of {sifs} after the RTS: CTS, the medium is clear. Each station that hears it keeps silent for {reserves}.";
/// The answer has come.
const DATA: &str = "The CTS has come: a SIFS of {sifs} later {station} sends the frame.";
/// The frame has come.
const ACK: &str = "{station} acknowledges it, a SIFS of {sifs} after its last bit, with an ACK of {ack}.";
/// The frame has come before.
const DUPLICATE: &str = "{station} hears the frame whole once more: the ACK was lost. It drops it.";

/// What a slot of backoff is called, alone and in number.
fn units(method: &Method) -> [&'static str; 2] {
    match method {
        Method::Aloha(_) | Method::Csma(_) => ["frame time", "frame times"],
        _ => ["slot", "slots"],
    }
}

/// Appends what an event is where senders detect no collisions, if that differs from what [`super::tell`] has.
pub(super) fn tell(prose: &mut Prose<'_>, kind: &Kind, station: &str, config: &Config) -> bool {
    let rate = config.rate;
    let name = |prose: &mut Prose<'_>| prose.put(station);
    match *kind {
        Kind::Defer { .. } => tell_busy(prose, station, config),
        Kind::Collision { attempt, episode, .. } => tell!(prose, UNANSWERED,
            "attempt" => prose.number(attempt.into()),
            "station" => name(prose),
            "episode" => prose.number(episode),
        ),
        Kind::Backoff { slots, .. } => tell_backoff(prose, slots, station, config),
        Kind::Transmitted { size, attempts, access_delay, mac_delay, .. } => tell!(prose, TRANSMITTED,
            "size" => prose.number(size.get().into()),
            "attempts" => prose.number(attempts.into()),
            "access" => prose.span(access_delay, rate),
            "mac" => prose.span(mac_delay, rate),
        ),
        Kind::Delivered { .. } => tell!(prose, DELIVERED, "station" => name(prose)),
        Kind::Damaged { .. } => tell!(prose, DAMAGED, "station" => name(prose)),
        Kind::TooLong { size } => {
            tell!(prose, TOO_LONG, "station" => name(prose), "size" => prose.number(size.get().into()));
        }
        _ => return tell_exchange(prose, kind, station, config),
    }
    true
}

fn tell_busy(prose: &mut Prose<'_>, station: &str, config: &Config) {
    let Method::CsmaCa(own) = &config.method else {
        return tell!(prose, BUSY, "station" => prose.put(station));
    };
    tell!(prose, MUST_DRAW,
        "difs" => prose.span(own.phy.spans().difs, config.rate),
        "station" => prose.put(station),
    );
}

fn tell_backoff(prose: &mut Prose<'_>, slots: u64, station: &str, config: &Config) {
    let [one, many] = units(&config.method);
    let unit = |prose: &mut Prose<'_>| prose.put(if slots == 1 { one } else { many });
    let slot = |prose: &mut Prose<'_>| prose.span(config.backoff_slot(), config.rate);
    match config.method {
        Method::Tdma(_) => tell!(prose, BACKOFF_TO_OWN,
            "station" => prose.put(station), "slots" => prose.group(slots), "unit" => unit(prose),
        ),
        Method::CsmaCa(_) => tell!(prose, BACKOFF_COUNTED,
            "slots" => prose.group(slots), "unit" => unit(prose), "slot" => slot(prose),
        ),
        _ => tell!(prose, BACKOFF, "slots" => prose.group(slots), "unit" => unit(prose), "slot" => slot(prose)),
    }
}

/// The frames of CSMA/CA that surround a frame.
fn tell_exchange(prose: &mut Prose<'_>, kind: &Kind, station: &str, config: &Config) -> bool {
    let Method::CsmaCa(own) = &config.method else { return false };
    let (spans, rate): (Spans, BitRate) = (own.phy.spans(), config.rate);
    let name = |prose: &mut Prose<'_>| prose.put(station);
    match *kind {
        Kind::Rts { reserves, .. } => tell!(prose, RTS,
            "station" => name(prose),
            "rts" => prose.span(spans.rts, rate),
            "reserves" => prose.span(reserves, rate),
        ),
        Kind::Cts { reserves } => tell!(prose, CTS,
            "station" => name(prose),
            "sifs" => prose.span(spans.sifs, rate),
            "reserves" => prose.span(reserves, rate),
        ),
        Kind::Data { .. } => {
            tell!(prose, DATA, "sifs" => prose.span(spans.sifs, rate), "station" => name(prose));
        }
        Kind::Ack => tell!(prose, ACK,
            "station" => name(prose),
            "sifs" => prose.span(spans.sifs, rate),
            "ack" => prose.span(spans.ack, rate),
        ),
        Kind::Duplicate { .. } => tell!(prose, DUPLICATE, "station" => name(prose)),
        _ => return false,
    }
    true
}
