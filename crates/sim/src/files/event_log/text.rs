//! A row of a trace as JSON: its columns, each of which a field must take.

use super::check::Said;
use super::{Digest, Names};
use crate::files::inputs::{Given, Hexadecimal, To};
use crate::files::observer::End;
use crate::files::programs::Call;
use medium::{BitInstant, Cause, FCS, Frame, FrameId, Input, Kind, KindError, Octets, StationId, Value};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// The columns that a line may have. Columns before the bar are fields of events of the medium.
macro_rules! columns {
    ($($field:ident: $type:ty,)* | $($name:ident: $other:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Line<'a> {
            pub t: u64,
            #[serde(borrow)]
            pub layer: Option<Cow<'a, str>>,
            #[serde(borrow)]
            pub kind: Cow<'a, str>,
            #[serde(borrow)]
            station: Option<Cow<'a, str>>,
            #[serde(borrow)]
            frame: Option<Cow<'a, str>>,
            $(pub $field: Option<$type>,)*
            $(#[serde(default, deserialize_with = "there")] pub $name: Option<$other>,)*
        }

        /// Columns that are fields of events of the medium.
        #[cfg(test)]
        pub(super) const FIELDS: &[&str] = &[$(stringify!($field),)*];

        impl Line<'_> {
            /// A column that no field has taken.
            fn left_over(&self) -> Option<&'static str> {
                for (name, there) in [("station", self.station.is_some()), ("frame", self.frame.is_some())] {
                    if there {
                        return Some(name);
                    }
                }
                $(if self.$field.is_some() { return Some(stringify!($field)); })*
                $(if self.$name.is_some() { return Some(stringify!($name)); })*
                None
            }

            /// Takes a field of an event of the medium.
            fn take_field(&mut self, field: &str) -> Option<Value<'static>> {
                match field {
                    $(stringify!($field) => self.$field.take().map(Value::from),)*
                    _ => None,
                }
            }
        }
    };
}

columns! {
    size: u32,
    attempt: u32,
    excessive_deferral: bool,
    burst: bool,
    late: bool,
    episode: u64,
    slots: u64,
    attempts: u32,
    deferred: bool,
    access_delay: u64,
    mac_delay: u64,
    extension: u64,
    no_carrier: bool,
    cause: CauseName,
    bits: u64,
    reserves: u64,
    empty: u64,
    length: u64,
    id: u32,
    turns: u32,
    ok: bool,
    |
    destination: To,
    tagged: bool,
    real_ns: u64,
    ns: i64,
    copies: u64,
    count: u64,
    lines: u64,
    crc32: u32,
    why: String,
    name: String,
    container_id: String,
    octets: Hexadecimal,
    command: String,
    has_stdin: bool,
    number: usize,
    arrivals: String,
    run_to: u64,
    events: u64,
    events_crc32: u32,
}

/// A column that is there, though it may be `null`.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

#[derive(Clone, Copy, Deserialize)]
#[serde(remote = "Cause", rename_all = "snake_case")]
enum CauseMirror {
    ExcessiveCollisions,
    LateCollision,
    TooShort,
    TooLong,
    Detached,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct CauseName(#[serde(with = "CauseMirror")] Cause);

impl From<CauseName> for Value<'static> {
    fn from(CauseName(cause): CauseName) -> Value<'static> {
        Value::Word(cause.name())
    }
}

impl<'a> Line<'a> {
    pub(super) fn take_station(&mut self, names: &Names) -> Result<StationId, String> {
        let station = self.station.take().ok_or_else(|| format!("no `station` in an event of kind `{}`", self.kind))?;
        names.station(&station).ok_or_else(|| format!("no station is called `{station}`"))
    }

    pub(super) fn take_frame(&mut self, names: &Names) -> Result<FrameId, String> {
        let frame = self.take_frame_column()?;
        names.frame(&frame).ok_or_else(|| no_frame(&frame))
    }

    pub(super) fn take_frame_column(&mut self) -> Result<Cow<'a, str>, String> {
        let missing = || format!("no `frame` in an event of kind `{}`", self.kind);
        self.frame.take().ok_or_else(missing)
    }

    pub(super) fn nothing_left(&self) -> Result<(), String> {
        let wrong = |column| format!("`{column}` does not belong to an event of kind `{}`", self.kind);
        self.left_over().map_or(Ok(()), |column| Err(wrong(column)))
    }

    /// What happened, with everything that belongs to it and nothing else.
    pub(super) fn take_kind(&mut self) -> Result<Kind, String> {
        let name = self.kind.clone();
        let kind = Kind::read(&name, |field| self.take_field(field)).map_err(|error| wrong_kind(&name, error))?;
        self.nothing_left().map(|()| kind)
    }

    /// What a run was given, and nothing else.
    pub(super) fn take_given(&mut self, names: &Names) -> Result<Given, String> {
        let (at, kind) = (instant(self.t)?, std::mem::take(&mut self.kind));
        let missing = |column: &str| format!("no `{column}` in an input of kind `{kind}`");
        macro_rules! take {
            ($column:ident) => {
                self.$column.take().ok_or_else(|| missing(stringify!($column)))?
            };
        }
        let given = match &*kind {
            "offer" => {
                let (station, size) = (self.take_station(names)?, take!(size));
                let frame = Frame {
                    size: Octets::new(size),
                    destination: take!(destination).destination(names)?,
                    tagged: take!(tagged),
                };
                let octets = self.octets.take().map(|Hexadecimal(octets)| octets_of(octets, size)).transpose()?;
                Given::Input { at, input: Input::Offer { station, frame }, octets }
            }
            "command" => {
                let (station, has_input) = (self.take_station(names)?, self.has_stdin.take().unwrap_or(false));
                Given::Call { at, station, call: Call::Begin { command: take!(command), has_input } }
            }
            "stdin" => {
                let (station, Hexadecimal(octets)) = (self.take_station(names)?, take!(octets));
                Given::Call { at, station, call: Call::Input { command: take!(number), octets } }
            }
            "traffic" => Given::Traffic { at, station: self.take_station(names)?, arrivals: take!(arrivals) },
            "restart" => Given::Restart { at, run_to: instant(take!(run_to))? },
            "end" => {
                let run_to = instant(take!(run_to))?.get();
                let digest = self.events.take().zip(self.events_crc32.take());
                let digest = digest.map(|(events, crc32)| Digest { events, crc32 });
                Given::End { end: End { run_to, t: self.t }, digest }
            }
            _ => return Err(format!("`{kind}` is no kind of input")),
        };
        self.kind = kind;
        self.nothing_left().map(|()| given)
    }

    /// What a check says, and nothing else.
    pub(super) fn take_check(&mut self) -> Result<Said, String> {
        let lines = self.lines.take().ok_or_else(|| format!("no `lines` in a line of kind `{}`", self.kind))?;
        let said = Said::new(&self.kind, lines, self.crc32.take(), self.why.take())?;
        self.nothing_left().map(|()| said)
    }
}

pub(super) fn wrong_kind(name: &str, error: KindError) -> String {
    match error {
        KindError::Unknown => format!("`{name}` is no kind of event"),
        KindError::Missing(field) => format!("no `{field}` in an event of kind `{name}`"),
        KindError::Wrong(field) => format!("`{field}` is out of range in an event of kind `{name}`"),
    }
}

pub(super) fn no_frame(name: &str) -> String {
    format!("`{name}` is no frame: a station of the header, `#`, and a number from 1 are")
}

/// The latest instant of an input: three thousand years at 10 Mb/s, and far from any overflow.
const LATEST: u64 = 1 << 60;

/// An instant at which a run can be given something.
pub(super) fn instant(t: u64) -> Result<BitInstant, String> {
    if t <= LATEST { Ok(BitInstant::new(t)) } else { Err(format!("an instant of {t}: at most {LATEST} BT")) }
}

/// The octets of a frame of this size.
pub(super) fn octets_of(octets: Vec<u8>, size: u32) -> Result<Vec<u8>, String> {
    if octets.len() as u64 + u64::from(FCS.get()) > u64::from(size) {
        return Err(format!("{} octets and 4 of FCS in a frame of {size}", octets.len()));
    }
    Ok(octets)
}
