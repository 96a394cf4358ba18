//! What happens on a medium in sentences, each with its clause of IEEE 802.3.
//!
//! Every window says the same thing in the same words: `explain`, the live view, the page and captures fill these
//! templates.

mod noticed;
mod undetected;

pub use noticed::{Noticed, Party};

use crate::words::prose::{Prose, tell};
use medium::{BitRate, BitTimes, Cause, Config, Event, FrameId, Kind, Method, Parameters, PlcaSettings};

/// A space that no line is broken at. A printer replaces it when the lines are made.
pub const TIED: char = '\u{a0}';
const TIE: &str = "\u{a0}";

/// A collision as its station notices it.
pub const COLLISION: &str = "Collision {episode} on this medium (4.2.3.2.4): {sent} after its own first bit {station} notices {met}.{late}{jam}";
/// A party that began in the same bit time.
pub const MET_AT_ONCE: &str = "{frame}, which began in the same bit time{apart}";
/// A party that began before.
pub const MET_EARLIER: &str = "{frame}, which had begun {span} earlier{apart}";
/// A party that began later.
pub const MET_LATER: &str = "{frame}, which began {span} later{apart}";
/// Parties that a sentence names at most.
pub const NAMED: usize = 8;
/// How many further parties there are.
pub const MET_MORE: &str = "; and {more} more";
/// How far the party is.
pub const APART: &str = ", {span} away";
/// A signal whose sender is not known.
pub const MET_UNKNOWN: &str = "a signal that began before the trace";
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
/// A collision on the line of PLCA: frames that MACs have begun may still be in a delay line, so no other station is named.
pub const MET_ON_LINE: &str = "Collision {episode} on this medium (4.2.3.2.4): attempt {attempt} of {station} meets another signal on the line. The jam follows.";
/// A logical collision of PLCA.
pub const TOLD_TO_WAIT: &str =
    "Told to wait for its turn: PLCA tells the MAC of a collision (148.4.5), and nothing has met on the line.";
/// The end of the jam.
pub const JAM_END: &str = "The jam of {jam} is out, so that the other parties notice the collision too (4.2.3.2.4).";
/// The end of the jam after a logical collision.
pub const JAM_INTO_NOTHING: &str = "The jam of {jam} is out, into nothing.";
/// The draw.
pub const BACKOFF: &str = "Backoff (4.2.3.2.5) after collision {attempt} of this frame: of 0 to 2^{exponent} - 1 = {most} slots{limited} it draws {slots}; {until}.";
/// The draw of another policy.
pub const BACKOFF_OF_POLICY: &str =
    "Backoff after collision {attempt} of this frame: its policy draws a number of slots, {slots}; {until}.";
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
pub const ATTEMPT: &str = "{station} begins to send{clause}. Attempt {attempt}{limit}.";
/// How many attempts the frame may have.
pub const ATTEMPT_OF: &str = " of at most {limit}";
/// A frame is given up.
pub const DISCARDED: &str = "The frame is discarded after {attempts} attempts: {cause}.";
/// A receiver has it.
pub const DELIVERED: &str = "{station} receives the frame whole (4.2.4).";
/// A receiver has a piece.
pub const FRAGMENT: &str = "{station}, the addressee, hears {bits} bits after the SFD: a collision fragment, dropped without an error (4.2.4.2.2).";
/// A receiver has something broken.
pub const DAMAGED: &str = "{station}, the addressee, hears {bits} bits with a bad FCS and drops them (4.2.4.1.2).";
/// A receiver has too much.
pub const TOO_LONG: &str = "{station}, the addressee, hears {size} octets: too long, dropped (4.2.4.2.1).";

/// A BEACON.
pub const BEACON: &str = "{station} sends a BEACON (148.4.4).{over}";
/// The cycle before it.
pub const CYCLE: &str = " A cycle of {span} is over{empty}.";
/// Cycles before that.
pub const CYCLES_EMPTY: &str = ", and {empty} in which no node sent";
/// A node's turn.
pub const COMMIT: &str = "{station} takes the turn of id {id} (148.4.4): COMMIT, or at once its frame.";
/// D-PLCA gives a node another turn.
pub const PLCA_ID: &str = "D-PLCA: {station} has the id {id} now{role} (P802.3da D3.0, 148.4.7).";
/// The node sends BEACONs.
pub const PLCA_LEADS: &str = ", and sends BEACONs, with {count} turns in a cycle";
/// The node has no turn.
pub const PLCA_SEEKS: &str = ", which is no turn: it looks for one";
/// PLCA works.
pub const PLCA_OK: &str = "plca_status is OK (148.4.6): BEACONs come, and it keeps to its turns.";
/// It does not.
pub const PLCA_FAIL: &str = "plca_status is FAIL (148.4.6): no BEACON has come, and it is a station of CSMA/CD.";

/// A frame as people and traces call it.
pub fn frame_name(names: &[String], frame: FrameId) -> String {
    format!("{}#{}", names[frame.station.index()], frame.serial)
}

/// What `tell` appends, by itself, with [`TIED`] in it.
fn alone(tell: impl FnOnce(&mut Prose<'_>)) -> String {
    Prose::alone(TIE, tell)
}

/// A time in the unit that suits it.
pub fn nanos(nanos: u64) -> String {
    alone(|prose| prose.nanos(nanos))
}

/// A span in real time.
pub fn real(span: BitTimes, rate: BitRate) -> String {
    alone(|prose| prose.real(span, rate))
}

/// A span in bit times and in real time.
pub fn span(span: BitTimes, rate: BitRate) -> String {
    alone(|prose| prose.span(span, rate))
}

/// Any event in a sentence, a collision of CSMA/CD in short: to say whom it met is [`Noticed`]'s.
pub fn sentence(event: &Event, station: &str, config: &Config) -> String {
    alone(|prose| tell(prose, event, station, config))
}

/// Appends the same.
pub fn tell(prose: &mut Prose<'_>, event: &Event, station: &str, config: &Config) {
    let (parameters, rate, kind) = (&config.parameters, config.rate, &event.kind);
    if !config.detects_collisions() && undetected::tell(prose, kind, station, config) {
        return;
    }
    match *kind {
        Kind::Offered { size } => {
            tell!(prose, OFFERED, "station" => prose.put(station), "size" => prose.number(size.get().into()));
        }
        Kind::QueueDrop => prose.put(QUEUE_DROP),
        Kind::Defer { attempt } => tell!(prose, DEFER, "attempt" => prose.number(attempt.into())),
        Kind::Attempt { attempt, .. } => tell!(prose, ATTEMPT,
            "station" => prose.put(station),
            "clause" => if let Some(clause) = config.clause_of_sending() {
                prose.put(" (");
                prose.put(clause);
                prose.put(")");
            },
            "attempt" => prose.number(attempt.into()),
            "limit" => if let Some(limit) = config.attempt_limit() {
                tell!(prose, ATTEMPT_OF, "limit" => prose.number(limit.get().into()));
            },
        ),
        Kind::Collision { episode: 0, .. } => prose.put(TOLD_TO_WAIT),
        Kind::Collision { attempt, episode, .. } => tell_collision(prose, attempt, episode, station, &config.method),
        Kind::JamEnd { .. } => tell_jam_end(prose, parameters, rate),
        Kind::Backoff { attempt, slots } => tell_backoff(prose, attempt, slots, event, config),
        Kind::Transmitted { .. } => tell_transmitted(prose, kind, station, rate),
        Kind::Discarded { cause, attempts } => {
            tell!(prose, DISCARDED, "attempts" => prose.number(attempts.into()), "cause" => prose.put(why(cause, config)));
        }
        Kind::Delivered { .. } => tell!(prose, DELIVERED, "station" => prose.put(station)),
        Kind::Fragment { bits } => {
            tell!(prose, FRAGMENT, "station" => prose.put(station), "bits" => prose.number(bits.get()));
        }
        Kind::Damaged { bits } => {
            tell!(prose, DAMAGED, "station" => prose.put(station), "bits" => prose.number(bits.get()));
        }
        // Of CSMA/CA alone.
        Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {}
        Kind::Beacon { empty, length } => tell_beacon(prose, empty, length, station, rate),
        Kind::Commit { id } => {
            tell!(prose, COMMIT, "station" => prose.put(station), "id" => prose.number(id.into()));
        }
        Kind::PlcaId { id, turns: count } => tell_id(prose, id, count, station),
        Kind::PlcaStatus { ok } => prose.put(if ok { PLCA_OK } else { PLCA_FAIL }),
        Kind::TooLong { size } => {
            tell!(prose, TOO_LONG, "station" => prose.put(station), "size" => prose.number(size.get().into()));
        }
    }
}

fn tell_collision(prose: &mut Prose<'_>, attempt: u32, episode: u64, station: &str, method: &Method) {
    if let Method::Plca(_) = method {
        return tell!(prose, MET_ON_LINE,
            "episode" => prose.number(episode),
            "attempt" => prose.number(attempt.into()),
            "station" => prose.put(station),
        );
    }
    prose.put("Collision ");
    prose.number(episode);
    prose.put(" on this medium (4.2.3.2.4).");
}

fn tell_beacon(prose: &mut Prose<'_>, empty: u64, length: BitTimes, station: &str, rate: BitRate) {
    tell!(prose, BEACON,
        "station" => prose.put(station),
        "over" => if length > BitTimes::ZERO {
            tell!(prose, CYCLE,
                "span" => prose.span(length, rate),
                "empty" => if empty > 0 {
                    tell!(prose, CYCLES_EMPTY, "empty" => prose.number(empty));
                },
            );
        },
    );
}

/// D-PLCA's part.
fn tell_id(prose: &mut Prose<'_>, id: u32, count: u32, station: &str) {
    tell!(prose, PLCA_ID,
        "station" => prose.put(station),
        "id" => prose.number(id.into()),
        "role" => match id {
            0 => tell!(prose, PLCA_LEADS, "count" => prose.number(count.into())),
            _ if id == u32::from(PlcaSettings::SEEKING) => prose.put(PLCA_SEEKS),
            _ => {}
        },
    );
}

/// Why a frame was discarded, in short.
pub fn why(cause: Cause, config: &Config) -> &'static str {
    match cause {
        Cause::ExcessiveCollisions if !config.detects_collisions() => "all have failed, and it may have no more",
        Cause::ExcessiveCollisions => "attemptLimit is reached, excessiveCollisionError (4.2.3.2.5)",
        Cause::LateCollision => "a late collision, where frames are extended (4.2.8)",
        Cause::TooShort => "without a whole header there is no frame to send (3.2)",
        Cause::TooLong => "longer than maxBasicFrameSize (3.2.7)",
        Cause::Detached => "the station is off the medium",
    }
}

/// The end of a jam.
pub fn jam_end(parameters: &Parameters, rate: BitRate) -> String {
    alone(|prose| tell_jam_end(prose, parameters, rate))
}

fn tell_jam_end(prose: &mut Prose<'_>, parameters: &Parameters, rate: BitRate) {
    tell!(prose, JAM_END, "jam" => prose.span(parameters.jam_size, rate));
}

/// The end of a jam that is not on the line: PLCA's, after a logical collision.
pub fn jam_into_nothing(parameters: &Parameters, rate: BitRate) -> String {
    alone(|prose| tell!(prose, JAM_INTO_NOTHING, "jam" => prose.span(parameters.jam_size, rate)))
}

/// The draw of a backoff, which is the `event`.
pub fn backoff(attempt: u32, slots: u64, event: &Event, config: &Config) -> String {
    alone(|prose| tell_backoff(prose, attempt, slots, event, config))
}

fn tell_backoff(prose: &mut Prose<'_>, attempt: u32, slots: u64, event: &Event, config: &Config) {
    let parameters = &config.parameters;
    let Some(most) = config.most_slots(attempt) else {
        tell!(prose, BACKOFF_OF_POLICY,
            "attempt" => prose.number(attempt.into()),
            "slots" => prose.group(slots),
            "until" => tell_until(prose, slots, event, config),
        );
        return;
    };
    let exponent = attempt.min(parameters.backoff_limit);
    tell!(prose, BACKOFF,
        "attempt" => prose.number(attempt.into()),
        "exponent" => prose.number(exponent.into()),
        "most" => prose.group(most),
        "limited" => prose.put(if exponent < attempt { BACKOFF_LIMITED } else { "" }),
        "slots" => prose.number(slots),
        "until" => tell_until(prose, slots, event, config),
    );
}

fn tell_until(prose: &mut Prose<'_>, slots: u64, event: &Event, config: &Config) {
    if slots == 0 {
        return prose.put(BACKOFF_NONE);
    }
    let slot = config.parameters.slot_time;
    let end = config.backoff_end(event.station, event.at, slots).unwrap_or(event.at + slot * slots);
    tell!(prose, BACKOFF_UNTIL,
        "slots" => prose.number(slots),
        "slot" => prose.group(slot.get()),
        "delay" => prose.span(end.since(event.at), config.rate),
        "t" => prose.group(end.get()),
    );
}

/// The end of a frame that got through; nothing for another event.
pub fn transmitted(kind: &Kind, station: &str, rate: BitRate) -> String {
    alone(|prose| tell_transmitted(prose, kind, station, rate))
}

fn tell_transmitted(prose: &mut Prose<'_>, kind: &Kind, station: &str, rate: BitRate) {
    let Kind::Transmitted { size, attempts, extension, no_carrier, access_delay, mac_delay, deferred: _ } = *kind
    else {
        return;
    };
    tell!(prose, TRANSMITTED,
        "extended" => match extension {
            BitTimes::ZERO => {}
            bits => tell!(prose, EXTENDED, "span" => prose.span(bits, rate)),
        },
        "station" => prose.put(station),
        "size" => prose.number(size.get().into()),
        "attempts" => prose.number(attempts.into()),
        "access" => prose.span(access_delay, rate),
        "mac" => prose.span(mac_delay, rate),
        "deaf" => prose.put(if no_carrier { NO_CARRIER } else { "" }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitInstant, Octets, StationId, Topology};

    #[test]
    fn every_kind_has_its_sentence() {
        let kinds = [
            Kind::Offered { size: Octets::new(64) },
            Kind::QueueDrop,
            Kind::Defer { attempt: 1 },
            Kind::Attempt { attempt: 1, excessive_deferral: false, burst: false },
            Kind::Collision { attempt: 1, late: false, episode: 0 },
            Kind::Collision { attempt: 1, late: false, episode: 7 },
            Kind::JamEnd { attempt: 1 },
            Kind::Backoff { attempt: 1, slots: 0 },
            Kind::Backoff { attempt: 12, slots: 1_000 },
            Kind::Transmitted {
                size: Octets::new(64),
                attempts: 1,
                deferred: false,
                access_delay: BitTimes::new(1_234_567),
                mac_delay: BitTimes::new(1),
                extension: BitTimes::new(3_584),
                no_carrier: true,
            },
            Kind::Discarded { cause: Cause::TooLong, attempts: 0 },
            Kind::Delivered { size: Octets::new(64) },
            Kind::Fragment { bits: BitTimes::new(32) },
            Kind::Damaged { bits: BitTimes::new(32) },
            Kind::TooLong { size: Octets::new(2_001) },
            Kind::Beacon { empty: 0, length: BitTimes::ZERO },
            Kind::Beacon { empty: 3, length: BitTimes::new(276) },
            Kind::Commit { id: 1 },
            Kind::PlcaStatus { ok: true },
        ];
        for kind in kinds {
            let star = Topology::Star { stations: 2, distance: BitTimes::ZERO };
            let config = Config::new(BitRate::MBIT_10, star, 1);
            let (at, station) = (BitInstant::new(1_000), StationId::new(0));
            let told = sentence(&Event { at, station, frame: FrameId { station, serial: 1 }, kind }, "st1", &config);
            assert!(told.ends_with('.') && !told.contains(['{', '}']), "{told}");
        }
        let told = transmitted(&kinds[9], "st1", BitRate::MBIT_10).replace(TIED, " ");
        assert_eq!(
            told,
            "The last bit is out, and 3,584 BT (358.4 us) of carrier extension after it (4.2.3.4), and st1 has noticed \
             no collision: transmitted, 64 octets, at attempt 1 (4.2.8). Access delay 1,234,567 BT (123.457 ms), from the \
             head of the queue to the first bit of this attempt; MAC delay 1 BT (100 ns), from the host to now. It had no \
             carrier sense as it began: carrier_sense_errors counts it (5.2.4.2)."
        );
    }

    /// The sentence of a collision in the preamble, of two stations 10 BT apart.
    #[test]
    fn a_collision_is_told_with_its_parties() {
        let begin = BitInstant::new(1000);
        let at = BitInstant::new(1014);
        let party = Party { station: "st2", serial: 4, begin: BitInstant::new(1004), distance: BitTimes::new(10) };
        let noticed = Noticed { station: "st1", begin, preamble: begin, at, late: false, episode: 3 };
        let text = noticed.sentence([party], &Parameters::IEEE_802_3, BitRate::MBIT_10).replace(TIED, " ");
        assert_eq!(
            text,
            "Collision 3 on this medium (4.2.3.2.4): 14 BT (1.4 us) after its own first bit st1 notices st2#4, \
             which began 4 BT (400 ns) later, 10 BT (1 us) away. Preamble and SFD are finished first, then comes the jam."
        );
        let all = noticed.sentence([party; NAMED + 2], &Parameters::IEEE_802_3, BitRate::MBIT_10);
        assert_eq!((all.matches("st2#4").count(), all.contains("; and 2 more.")), (NAMED, true), "{all}");
        let nobody = noticed.sentence([], &Parameters::IEEE_802_3, BitRate::MBIT_10);
        assert!(nobody.contains("st1 notices a signal that began before the trace."), "{nobody}");
    }
}
