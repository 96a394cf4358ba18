//! The one vocabulary of facts on the medium. Counters, trace, capture and views are folds of it.

mod field;

use crate::frame::{FrameId, StationId};
use crate::time::{BitInstant, BitTimes, Octets};
use field::Field;
pub use field::{Shape, Value, Visitor};
use std::fmt;

/// One fact: what happened to which frame, at which station, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instant.
    pub at: BitInstant,
    /// The station at which it happened: the frame's own, or the one that received.
    pub station: StationId,
    /// The frame.
    pub frame: FrameId,
    /// What happened.
    pub kind: Kind,
}

/// Why a name and fields do not make a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindError {
    /// No kind has this name.
    Unknown,
    /// The kind has this field, which is not given.
    Missing(&'static str),
    /// The field is given with a value that it cannot have.
    Wrong(&'static str),
}

impl Kind {
    /// Whether it is always about a frame; otherwise the event's frame may have the serial 0, which no frame has.
    pub fn needs_a_frame(&self) -> bool {
        self.plca().is_none()
    }

    /// Whether it says what an addressee makes of a frame.
    #[inline]
    pub const fn is_reception(&self) -> bool {
        matches!(self.part(), Part::Receiver(_) | Part::Wireless(WirelessKind::Duplicate { .. }))
    }

    /// Whether it is a station's reaction to another station's frame; all other kinds concern the station's own frame.
    pub fn is_a_receivers(&self) -> bool {
        match self.part() {
            Part::Receiver(_) => true,
            Part::Wireless(WirelessKind::Cts { .. } | WirelessKind::Ack | WirelessKind::Duplicate { .. }) => true,
            Part::Wireless(WirelessKind::Rts { .. } | WirelessKind::Data { .. }) => false,
            Part::Host(_) | Part::Mac(_) | Part::Plca(_) => false,
        }
    }
}

/// Defines the kinds once: the enum, their names, their fields in the order in which traces have them, and the parts, small
/// enums for readers that only some kinds concern.
macro_rules! kinds {
    ($($(#[$part_doc:meta])* $part:ident($part_kind:ident) = $select:ident {
        $($(#[$doc:meta])* $kind:ident = $name:literal
            $({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })?,)*
    })*) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($($(#[$doc])* $kind $({ $($(#[$field_doc])* $field: $type,)* })?,)*)*
        }

        impl Kind {
            /// Every kind's name, and its fields' names.
            pub const ALL: &[(&'static str, &[&'static str])] =
                &[$($(($name, &[$($(stringify!($field),)*)?]),)*)*];

            /// The type of every field, in the order of [`Kind::ALL`].
            pub const SHAPES: &[&[Shape]] = &[$($(&[$($(<$type as Field>::SHAPE,)*)?],)*)*];

            /// The unit of every field, in the same order; empty for counts and for what is no number.
            pub const UNITS: &[&[&'static str]] = &[$($(&[$($(<$type as Field>::UNIT,)*)?],)*)*];

            /// The kind's name in traces.
            #[inline]
            pub const fn name(&self) -> &'static str {
                match self { $($(Kind::$kind { .. } => $name,)*)* }
            }

            /// Its place in [`Kind::ALL`].
            #[inline]
            pub const fn number(&self) -> usize {
                enum Number { $($($kind,)*)* }
                match self { $($(Kind::$kind { .. } => Number::$kind as usize,)*)* }
            }

            /// Passes every field to `visitor`, by name, in the order in which traces have them.
            #[inline(always)]
            pub fn fields(&self, mut visitor: impl Visitor) {
                match *self {
                    $($(Kind::$kind { $($($field,)*)? } => {
                        $($(visitor.field(stringify!($field), $field.value());)*)?
                    })*)*
                }
                // A kind may have no field at all.
                let _ = &mut visitor;
            }

            /// The kind called `name`, with the values that `field` gives for its fields.
            ///
            /// # Errors
            /// A name that no kind has; the first field that is missing, or has a value that it cannot have.
            pub fn read<'a>(
                name: &str,
                mut field: impl FnMut(&'static str) -> Option<Value<'a>>,
            ) -> Result<Kind, KindError> {
                match name {
                    $($($name => Ok(Kind::$kind { $($($field: read(stringify!($field), &mut field)?,)*)? }),)*)*
                    _ => Err(KindError::Unknown),
                }
            }

            /// The part of the vocabulary that the kind belongs to, with its fields.
            #[inline]
            pub const fn part(self) -> Part {
                match self {
                    $($(Kind::$kind { $($($field,)*)? } => Part::$part($part_kind::$kind { $($($field,)*)? }),)*)*
                }
            }

            $($(#[$part_doc])*
            #[inline]
            pub const fn $select(self) -> Option<$part_kind> {
                match self.part() {
                    Part::$part(kind) => Some(kind),
                    #[allow(unreachable_patterns, clippy::wildcard_enum_match_arm, reason = "all the other parts")]
                    _ => None,
                }
            })*
        }

        /// A kind as a member of its part: a reader matches the parts that concern it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part {
            $($(#[$part_doc])* $part($part_kind),)*
        }

        $($(#[$part_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $part_kind {
            $($(#[$doc])* $kind $({ $($(#[$field_doc])* $field: $type,)* })?,)*
        })*
    };
}

fn read<'a, T: Field>(
    name: &'static str,
    field: &mut impl FnMut(&'static str) -> Option<Value<'a>>,
) -> Result<T, KindError> {
    let value = field(name).ok_or(KindError::Missing(name))?;
    T::of(value).ok_or(KindError::Wrong(name))
}

kinds! {
    /// What happens between a host and its station's queue.
    Host(HostKind) = host {
        /// The host handed the frame to its MAC.
        Offered = "offered" {
            /// Length from destination address to FCS, as handed over.
            size: Octets,
        },
        /// The transmit queue was full, and the frame was dropped at its tail.
        QueueDrop = "queue_drop",
    }

    /// What a station does about its own frame, under every method.
    Mac(MacKind) = mac {
        /// The frame was ready, but the station had to defer.
        Defer = "defer" {
            /// Which attempt waits, from 1.
            attempt: u32,
        },
        /// The station began to send.
        Attempt = "attempt" {
            /// Which attempt, from 1.
            attempt: u32,
            /// This single wait was longer than maxDeferTime, the first such wait of the frame (802.3, 5.2.4.2 DeferTest).
            excessive_deferral: bool,
            /// It continues a burst: interPacketGap of extension bits comes first, then the preamble (802.3, 4.2.3.2.7;
            /// StartTransmit of 4.2.8 comes before interPacketSignal too).
            burst: bool,
        },
        /// The station detected a collision while it sent.
        Collision = "collision" {
            /// Which attempt, from 1.
            attempt: u32,
            /// Later than slotTime after the first bit of the preamble; in a burst, every collision after its first frame.
            late: bool,
            /// The number of the overlap on the medium, from 1. Its parties name the same one; two overlaps that meet only
            /// later keep their numbers. 0: no overlap; PLCA reported a collision to the MAC, so that it waits for its
            /// turn.
            episode: u64,
        },
        /// Preamble and jam were sent to the end.
        JamEnd = "jam_end" {
            /// Which attempt, from 1.
            attempt: u32,
        },
        /// The station chose the length of its wait.
        Backoff = "backoff" {
            /// Which attempt collided, from 1; 0 if none was made and the wait comes before the first.
            attempt: u32,
            /// The delay, in slots, from the end of the jam.
            slots: u64,
        },
        /// The frame went out to its last bit, extension included, and the station detected no collision.
        Transmitted = "transmitted" {
            /// Padded length, from destination address to FCS.
            size: Octets,
            /// The number of its attempts.
            attempts: u32,
            /// It was delayed on its first attempt.
            deferred: bool,
            /// From the head of the queue to the first bit of this attempt's preamble.
            access_delay: BitTimes,
            /// From its arrival in the queue to now, when the MAC has finished with it.
            mac_delay: BitTimes,
            /// Bits of carrier extension after the frame, up to now.
            extension: BitTimes,
            /// The station had no carrier sense as it began (802.3, 5.2.4.2 CarrierSenseTest).
            no_carrier: bool,
        },
        /// The frame will never be sent.
        Discarded = "discarded" {
            /// Why.
            cause: Cause,
            /// The number of attempts made.
            attempts: u32,
        },
    }

    /// What an addressee makes of a frame, under every method.
    Receiver(ReceiverKind) = receiver {
        /// The addressed station received the frame whole.
        Delivered = "delivered" {
            /// Padded length, from destination address to FCS.
            size: Octets,
        },
        /// The addressed station, which did not send, heard the frame cut short below minFrameSize.
        Fragment = "fragment" {
            /// Bits after preamble and SFD.
            bits: BitTimes,
        },
        /// The addressed station heard a long enough frame with a bad FCS; if the station sent meanwhile, only for a whole
        /// frame.
        Damaged = "damaged" {
            /// Bits after preamble and SFD.
            bits: BitTimes,
        },
        /// The addressed station heard a whole frame above maxBasicFrameSize, the tag allowed for.
        TooLong = "too_long" {
            /// Length from destination address to FCS.
            size: Octets,
        },
    }

    /// The other signals of CSMA/CA, and what it alone makes of frames.
    Wireless(WirelessKind) = wireless {
        /// The attempt began with a request to send (IEEE 802.11, 9.3.1.2).
        Rts = "rts" {
            /// Which attempt, from 1.
            attempt: u32,
            /// How long it reserves the medium after its end (Duration).
            reserves: BitTimes,
        },
        /// The addressed station began to send a clear-to-send for the frame (IEEE 802.11, 9.3.1.3).
        Cts = "cts" {
            /// How long it reserves the medium after its end.
            reserves: BitTimes,
        },
        /// The station began to send the frame itself, after its request.
        Data = "data" {
            /// Which attempt, from 1.
            attempt: u32,
            /// How long it reserves the medium after its end.
            reserves: BitTimes,
        },
        /// The addressed station began to acknowledge the frame (IEEE 802.11, 9.3.1.4).
        Ack = "ack",
        /// The addressed station received whole a frame that it had already: its acknowledgement was lost.
        Duplicate = "duplicate" {
            /// Padded length, from destination address to FCS.
            size: Octets,
        },
    }

    /// The cycles, turns and states of PLCA.
    Plca(PlcaKind) = plca {
        /// The coordinator sends a BEACON after a cycle in which a node sent, or its first BEACON (802.3, 148.4.4). `empty`
        /// reports the BEACONs after empty cycles. It is no frame: its serial is 0.
        Beacon = "beacon" {
            /// Empty cycles since the last event of this kind.
            empty: u64,
            /// The length of the cycle that ends now; 0 if none does.
            length: BitTimes,
        },
        /// The node takes its turn for a frame: COMMIT, or at once the frame. Its serial is 0 if the node no longer has a
        /// frame.
        Commit = "commit" {
            /// Which turn: curID.
            id: u32,
        },
        /// D-PLCA has given the node another id, or the coordinator another number of turns (P802.3da D3.0, 148.4.7). It is
        /// no frame: its serial is 0.
        PlcaId = "plca_id" {
            /// local_nodeID: 0 is the coordinator, 254 a node that has no turn yet.
            id: u32,
            /// plca_node_count: it counts at the coordinator alone.
            turns: u32,
        },
        /// plca_status has changed: with FAIL the station works with plain CSMA/CD. It is no frame: its serial is 0.
        PlcaStatus = "plca_status" {
            /// OK: BEACONs are sent or seen.
            ok: bool,
        },
    }
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
    /// Every cause.
    pub const ALL: [Cause; 5] =
        [Cause::ExcessiveCollisions, Cause::LateCollision, Cause::TooShort, Cause::TooLong, Cause::Detached];

    /// The cause's name in traces and results.
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

/// A field that traces leave out where it is 0, since few frames have it; it comes among the facts.
const RARE: &str = "extension";

/// One line of a trace: instant in bit times, station, kind, frame, and the fields of the kind: numbers first, then the
/// facts that are true.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} {:<3} {:<11} {}", self.at.get(), self.station.to_string(), self.kind.name(), self.frame)?;
        let (mut first, mut then) = (String::new(), String::new());
        self.kind.fields(|name: &'static str, value: Value<'static>| match value {
            Value::Number(0) if name == RARE => {}
            Value::Number(number) if name == RARE => then += &format!(" {name}={number}"),
            Value::Number(number) => first += &format!(" {name}={number}"),
            Value::Word(word) => first += &format!(" {name}={word}"),
            Value::Truth(true) => then += &format!(" {name}"),
            Value::Truth(false) => {}
        });
        write!(f, "{first}{then}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of one part sees the kinds of that part, whole, and no others.
    #[test]
    fn a_kind_belongs_to_one_part() {
        let ack = Kind::Ack;
        assert_eq!(ack.part(), Part::Wireless(WirelessKind::Ack));
        let selected = [ack.host().is_some(), ack.mac().is_some(), ack.receiver().is_some(), ack.plca().is_some()];
        assert_eq!((selected, ack.wireless()), ([false; 4], Some(WirelessKind::Ack)));
        assert_eq!(Kind::Defer { attempt: 3 }.mac(), Some(MacKind::Defer { attempt: 3 }));
        assert_eq!(Kind::Commit { id: 7 }.plca(), Some(PlcaKind::Commit { id: 7 }));
    }
}
