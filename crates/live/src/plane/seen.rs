//! Notes for viewers of the bus: events and inputs, as many as a person can look at.
//!
//! ```text
//!   coordinator ──up to [`MOST`] events each [`HOUSEKEEPING`]──► reports ──► supervisor ──► viewers
//!        └── later events are counted; the count goes with the next batch
//! ```
//! An event may be missing, an input never: without it a viewer would show a wrong state for good. Without a viewer, no
//! notes are kept.

use medium::{BitInstant, Deed, Event, FrameId, Input, Kind, StationId, Subject, Value};
use serde::{Deserialize, Serialize};
use sim::run::view::Note;
use std::collections::HashSet;

/// Events in one batch: ten thousand a second.
const MOST: usize = 512;

/// A stretch of what happened, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The number of missing notes before these.
    pub missed: u64,
    /// How far the medium had been run.
    pub now: u64,
    /// What happened.
    pub notes: Vec<Written>,
}

/// A note as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// When, at which station, whose frame, which of its frames; what, and its fields in order.
    E(u64, u16, u16, u64, String, Vec<Field>),
    /// When, and what was done.
    I(u64, Deed),
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// A count, a length or a span.
    Number(u64),
    /// A fact.
    Truth(bool),
    /// A name.
    Word(String),
}

impl Seen {
    /// What a batch has: how many notes are missing before it, how far the medium was run, and the notes.
    pub fn of((missed, now, notes): (u64, BitInstant, Vec<Note>)) -> Seen {
        Seen { missed, now: now.get(), notes: notes.iter().map(Written::from).collect() }
    }

    /// Nothing happened, and nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.missed == 0 && self.notes.is_empty()
    }

    /// This stretch and the one after it, as one.
    pub fn and(mut self, next: &Seen) -> Seen {
        self.missed += next.missed;
        self.now = next.now;
        self.notes.extend_from_slice(&next.notes);
        self
    }

    /// What stays of a stretch that finds no room: the last input of each kind. Its events are missing.
    pub fn shortened(mut self) -> Seen {
        self.missed += keep_last_inputs(&mut self.notes, |note| match note {
            Written::I(_, deed) => Some(deed.subject()),
            Written::E(..) => None,
        });
        self
    }
}

/// The same of notes; gives how many are missing.
pub fn shorten(notes: &mut Vec<Note>) -> u64 {
    keep_last_inputs(notes, |note| match note {
        Note::Input { input, .. } => input.deed().map(Deed::subject),
        Note::Event(_) | Note::Passed { .. } | Note::Missed { .. } => None,
    })
}

/// Keeps, of the notes that change the same, the last one, and no others; gives how many others there were.
fn keep_last_inputs<T>(notes: &mut Vec<T>, changes: impl Fn(&T) -> Option<Subject>) -> u64 {
    let (all, mut later) = (notes.len(), HashSet::new());
    let mut kept: Vec<T> =
        notes.drain(..).rev().filter(|note| changes(note).is_some_and(|what| later.insert(what))).collect();
    kept.reverse();
    *notes = kept;
    (all - notes.len()) as u64
}

impl From<&Event> for Written {
    fn from(Event { at, station, frame, kind }: &Event) -> Written {
        let number = |station: StationId| station.index() as u16;
        let mut fields = Vec::new();
        kind.fields(|_: &'static str, value: Value<'static>| {
            fields.push(match value {
                Value::Number(number) => Field::Number(number),
                Value::Truth(truth) => Field::Truth(truth),
                Value::Word(word) => Field::Word(word.to_owned()),
            });
        });
        let frame_of = number(frame.station);
        Written::E(at.get(), number(*station), frame_of, frame.serial, kind.name().to_owned(), fields)
    }
}

impl From<&Note> for Written {
    fn from(note: &Note) -> Written {
        match note {
            Note::Event(event) => Written::from(event),
            Note::Input { at, input } => {
                let deed = input.deed().expect("`Batch::input` leaves frames out");
                Written::I(at.get(), *deed)
            }
            Note::Passed { .. } | Note::Missed { .. } => unreachable!("`Seen` says how far, and how many are missing"),
        }
    }
}

impl Written {
    /// The note about a medium of this number of stations; `None` if it names a station beyond them.
    pub fn note(&self, stations: usize) -> Option<Note> {
        let station = |number: u16| (usize::from(number) < stations).then(|| StationId::new(number));
        Some(match self {
            Written::E(at, at_station, of, serial, kind, fields) => {
                let (_, names) = Kind::ALL.iter().find(|(name, _)| name == kind)?;
                let field = |name: &str| {
                    let place = names.iter().position(|known| *known == name)?;
                    Some(match fields.get(place)? {
                        Field::Number(number) => Value::Number(*number),
                        Field::Truth(truth) => Value::Truth(*truth),
                        Field::Word(word) => Value::Word(word),
                    })
                };
                let kind = Kind::read(kind, field).ok()?;
                let frame = FrameId { station: station(*of)?, serial: *serial };
                Note::Event(Event { at: BitInstant::new(*at), station: station(*at_station)?, frame, kind })
            }
            Written::I(at, deed) => {
                deed.station().map_or(Some(()), |station| (station.index() < stations).then_some(()))?;
                Note::Input { at: BitInstant::new(*at), input: Input::Deed(*deed) }
            }
        })
    }
}

/// The next batch, if a viewer watches.
#[derive(Debug, Default)]
pub struct Batch {
    watched: bool,
    notes: Vec<Note>,
    /// Before these.
    missed_before: u64,
    /// After these.
    missed: u64,
}

impl Batch {
    /// Whether a viewer watches, from now on.
    pub fn watch(&mut self, watched: bool) {
        *self = Batch { watched, ..Batch::default() };
    }

    /// Takes an event, if there is room.
    #[inline]
    pub fn event(&mut self, event: &Event) {
        match self.notes.len() < MOST {
            _ if !self.watched => {}
            true => self.notes.push(Note::Event(*event)),
            false => self.missed += 1,
        }
    }

    /// Takes an input.
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input) {
        if self.watched && input.deed().is_some() {
            self.notes.push(Note::Input { at, input: *input });
        }
    }

    /// The next batch, with the medium run up to `now`; nothing without a viewer.
    pub fn tell(&mut self, now: BitInstant) -> Option<(u64, BitInstant, Vec<Note>)> {
        // What came after the last note is not known any more.
        let known = self.notes.last().and_then(Note::at).filter(|_| self.missed > 0);
        let missed = std::mem::replace(&mut self.missed_before, std::mem::take(&mut self.missed));
        self.watched.then(|| (missed, known.unwrap_or(now), std::mem::take(&mut self.notes)))
    }

    /// The batch found no room: its inputs go with the next one.
    pub fn not_told(&mut self, missed: u64, mut notes: Vec<Note>) {
        self.missed_before += missed + shorten(&mut notes);
        self.notes = notes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitTimes, Cause, Octets, Place};

    fn kinds() -> Vec<Kind> {
        vec![
            Kind::Offered { size: Octets::new(64) },
            Kind::QueueDrop,
            Kind::Attempt { attempt: 3, excessive_deferral: false, burst: true },
            Kind::Collision { attempt: 3, late: false, episode: 9 },
            Kind::Discarded { cause: Cause::TooLong, attempts: 2 },
            Kind::Damaged { bits: BitTimes::new(77) },
        ]
    }

    #[test]
    fn notes_are_read_as_they_were_written() {
        let station = StationId::new(1);
        let (at, frame) = (BitInstant::new(7), FrameId { station, serial: 12 });
        let mut notes: Vec<Note> =
            kinds().into_iter().map(|kind| Note::Event(Event { at, station, frame, kind })).collect();
        let cut = Place { segment: 0, position: BitTimes::new(11) };
        for input in [
            Input::Deed(Deed::Plug { station }),
            Input::Deed(Deed::Unplug { station }),
            Input::Deed(Deed::Fault { station, fault: Some(medium::Fault::Deaf) }),
            Input::Deed(Deed::Plca { station, settings: medium::PlcaSettings::off() }),
            Input::Deed(Deed::Cut(Some(cut))),
            Input::Deed(Deed::Queue { limit: 7 }),
        ] {
            notes.push(Note::Input { at, input });
        }
        for note in &notes {
            let text = serde_json::to_string(&Written::from(note)).expect("numbers and names");
            let read: Written = serde_json::from_str(&text).expect(&text);
            assert_eq!(read.note(2), Some(*note), "{text}");
            let of_all = |input: &Input| matches!(input, Input::Deed(Deed::Cut(_) | Deed::Queue { .. }));
            let about_station = !matches!(note, Note::Input { input, .. } if of_all(input));
            assert_eq!(read.note(1).is_none(), about_station, "{text}: there is no such station");
        }
    }

    /// What finds no room is counted where it is missing: before the notes that come next.
    #[test]
    fn what_is_missed_is_counted() {
        let mut batch = Batch::default();
        let event = |serial| {
            let frame = FrameId { station: StationId::new(0), serial };
            Event { at: BitInstant::new(serial), station: frame.station, frame, kind: Kind::QueueDrop }
        };
        batch.event(&event(1));
        assert_eq!(batch.tell(BitInstant::ZERO), None, "nobody watches");
        batch.watch(true);
        (0..600).for_each(|serial| batch.event(&event(serial)));
        let (missed, _, notes) = batch.tell(BitInstant::ZERO).expect("somebody watches");
        assert_eq!((missed, notes.len()), (0, MOST));
        batch.event(&event(600));
        let (missed, _, notes) = batch.tell(BitInstant::ZERO).expect("somebody watches");
        assert_eq!((missed, notes.len()), (600 - MOST as u64, 1));
        batch.not_told(missed, notes);
        let (missed, ..) = batch.tell(BitInstant::ZERO).expect("somebody watches");
        assert_eq!(missed, 600 - MOST as u64 + 1);
    }

    /// Of a thousand events in a batch most are missing, of its inputs none, also when the batch itself finds no room.
    #[test]
    fn no_input_is_missed() {
        let (station, other) = (StationId::new(0), StationId::new(1));
        let at = BitInstant::new(5);
        let frame = FrameId { station, serial: 1 };
        let mut batch = Batch::default();
        batch.watch(true);
        (0..1000).for_each(|_| batch.event(&Event { at, station, frame, kind: Kind::QueueDrop }));
        for input in [
            Input::Deed(Deed::Unplug { station: other }),
            Input::Deed(Deed::Unplug { station }),
            Input::Deed(Deed::Plug { station }),
        ] {
            batch.input(at, &input);
        }
        let (missed, _, notes) = batch.tell(at).expect("a viewer");
        assert_eq!((missed, notes.len()), (0, MOST + 3));
        batch.not_told(missed, notes);
        let (missed, now, notes) = batch.tell(at).expect("a viewer");
        let inputs = [Input::Deed(Deed::Unplug { station: other }), Input::Deed(Deed::Plug { station })];
        assert_eq!(notes, inputs.map(|input| Note::Input { at, input }));
        assert_eq!(missed, 1000 - MOST as u64 + MOST as u64 + 1, "the first of two inputs about one cable");
        let seen = Seen { missed, now: now.get(), notes: notes.iter().map(Written::from).collect() };
        let event = Written::from(&Note::Event(Event { at, station, frame, kind: Kind::QueueDrop }));
        let more = Seen { missed: 7, now: 9, notes: vec![event] };
        let both = seen.clone().and(&more).shortened();
        assert_eq!(both, Seen { missed: missed + 7 + 1, now: 9, notes: seen.notes });
    }
}
