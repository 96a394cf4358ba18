//! Reads an event log, one line at a time.

use super::emulator::{self, EmulatorEvent};
use super::{FORMAT, Header, Names, VERSION};
use crate::files::inputs::{self, To};
use crate::files::json_lines::{LineReader, ReadError};
use crate::files::observer::Observer;
use crate::files::record::End;
use crate::words::cable::Cut;
use crate::words::fault::FaultName;
use crate::words::plca::SettingsText;
use medium::{
    BitInstant, Cause, Destination, Event, Frame, FrameId, Input, Kind, KindError, Place, StationId, Topology, Value,
};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::io::BufRead;

/// What may stand in a line. Columns before the bar are fields of events of the medium.
macro_rules! columns {
    ($($field:ident: $type:ty,)* | $($name:ident: $other:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Line<'a> {
            pub t: u64,
            #[serde(borrow)]
            layer: Option<Cow<'a, str>>,
            #[serde(borrow)]
            pub kind: Cow<'a, str>,
            #[serde(borrow)]
            station: Option<Cow<'a, str>>,
            #[serde(borrow)]
            frame: Option<Cow<'a, str>>,
            $($field: Option<$type>,)*
            $(#[serde(default, deserialize_with = "there")] pub $name: Option<$other>,)*
        }

        /// Columns that are fields of events of the medium.
        #[cfg(test)]
        pub(super) const FIELDS: &[&str] = &[$(stringify!($field),)*];

        impl Line<'_> {
            /// A column that nobody has taken.
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
    ok: bool,
    |
    destination: To,
    tagged: bool,
    fault: Option<FaultName>,
    cut: Option<Cut>,
    plca: SettingsText,
    real_ns: u64,
    ns: i64,
    copies: u64,
    count: u64,
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
struct CauseName(#[serde(with = "CauseMirror")] Cause);

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

    fn take_frame_column(&mut self) -> Result<Cow<'a, str>, String> {
        let missing = || format!("no `frame` in an event of kind `{}`", self.kind);
        self.frame.take().ok_or_else(missing)
    }

    pub(super) fn nothing_left(&self) -> Result<(), String> {
        let wrong = |column| format!("`{column}` does not belong to an event of kind `{}`", self.kind);
        self.left_over().map_or(Ok(()), |column| Err(wrong(column)))
    }

    /// What happened, with everything that belongs to it and nothing else.
    fn take_kind(&mut self) -> Result<Kind, String> {
        let name = self.kind.clone();
        let kind = Kind::read(&name, |field| self.take_field(field)).map_err(|error| match error {
            KindError::Unknown => format!("`{name}` is no kind of event"),
            KindError::Missing(field) => format!("no `{field}` in an event of kind `{name}`"),
            KindError::Wrong(field) => format!("`{field}` is out of range in an event of kind `{name}`"),
        })?;
        self.nothing_left().map(|()| kind)
    }

    /// What was done to the medium, and nothing else.
    fn take_input(&mut self, names: &Names, topology: &Topology) -> Result<Input, String> {
        let missing = |column: &str| format!("no `{column}` in a line of kind `{}`", self.kind);
        let input = match &*self.kind {
            "attach" => Input::Attach { station: self.take_station(names)? },
            "detach" => Input::Detach { station: self.take_station(names)? },
            "set_fault" => {
                let fault = self.fault.take().ok_or_else(|| missing("fault"))?.map(|FaultName(fault)| fault);
                Input::SetFault { station: self.take_station(names)?, fault }
            }
            "set_plca" => {
                let settings = self.plca.take().ok_or_else(|| missing("plca"))?.into();
                Input::SetPlca { station: self.take_station(names)?, settings }
            }
            "set_cut" => {
                let cut = self.cut.take().ok_or_else(|| missing("cut"))?.map(Place::from);
                cut.map_or(Ok(()), |cut| topology.beyond(cut).map(|_| ())).map_err(|error| error.to_string())?;
                Input::SetCut { cut }
            }
            kind => return Err(format!("`{kind}` is no kind of input")),
        };
        self.nothing_left().map(|()| input)
    }
}

/// The most attempts of one frame on a medium without a limit of its own.
const MOST_ATTEMPTS: u32 = 1 << 24;

/// Reads an event log, one event at a time.
#[derive(Debug)]
pub struct EventLogReader<R> {
    lines: LineReader<R>,
    header: Header,
    names: Names,
    topology: Topology,
    /// No frame has more.
    most_attempts: u32,
    now: u64,
    destination: Option<(Destination, bool)>,
}

impl<R: BufRead> EventLogReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What is no event log, or one of a medium that cannot be.
    pub fn new(mut lines: LineReader<R>) -> Result<EventLogReader<R>, ReadError> {
        let header = Header::read(&mut lines, FORMAT, VERSION)?;
        let names = Names::new(&header.stations);
        let config = header.config();
        let most_attempts = config.attempt_limit().map_or(MOST_ATTEMPTS, |limit| limit.get().min(MOST_ATTEMPTS));
        let topology = config.topology;
        Ok(EventLogReader { lines, header, names, topology, most_attempts, now: 0, destination: None })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The stations' names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whom the frame is for whose `offered` was read last, if the log says so.
    pub fn destination(&self) -> Option<Destination> {
        self.destination.map(|(destination, _)| destination)
    }

    /// Whether that frame carries a VLAN tag; not, if the log does not say.
    pub fn tagged(&self) -> bool {
        self.destination.is_some_and(|(_, tagged)| tagged)
    }

    /// The next event of the medium; `None` at the end of the log.
    ///
    /// # Errors
    /// As [`EventLogReader::next_entry`].
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            match self.next_entry()? {
                Some(Entry::Medium(event)) => return Ok(Some(event)),
                Some(Entry::Input { .. } | Entry::Emulator(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next line of any layer; `None` at the end of the log.
    ///
    /// # Errors
    /// A line that is no event and no input, or one of before the last; a log that ends within a line.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let mut line: Line<'_> =
            serde_json::from_slice(self.lines.line()).map_err(|error| self.lines.wrong_json(&error))?;
        let now = line.t;
        let read = self.entry(&mut line).map_err(|what| self.lines.wrong(what))?;
        self.now = now;
        let (entry, destination) = read;
        if let Entry::Medium(Event { kind: Kind::Offered { .. }, .. }) = entry {
            self.destination = destination;
        }
        Ok(Some(entry))
    }

    /// Tells `observer` what the log tells, and that the run is over; what comes before something that cannot be read,
    /// too, and then why it cannot.
    ///
    /// # Errors
    /// The observer cannot go on.
    pub fn tell<O: Observer>(&mut self, observer: &mut O) -> Result<Result<(), ReadError>, O::Error> {
        let mut last = 0;
        let read = loop {
            match self.next_entry() {
                Ok(Some(Entry::Medium(event))) => {
                    if let Kind::Offered { size } = event.kind {
                        let destination = self.destination().unwrap_or(Destination::Nobody);
                        let frame = Frame { size, destination, tagged: self.tagged() };
                        observer.input(event.at, &Input::Offer { station: event.station, frame }, None)?;
                    }
                    last = event.at.get();
                    observer.event(&event)?;
                }
                Ok(Some(Entry::Input { at, input })) => observer.input(at, &input, None)?,
                Ok(Some(Entry::Emulator(event))) => observer.emulator(&event)?,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        observer.end(End { run_to: last, t: last })?;
        Ok(read)
    }

    /// A frame that got through after no attempt, or more than can be, is none: whoever counts frames by their
    /// attempts has a place for each number.
    fn check_attempts(&self, kind: &Kind) -> Result<(), String> {
        match *kind {
            Kind::Transmitted { attempts, .. } if attempts == 0 || attempts > self.most_attempts => Err(format!(
                "`attempts` is {attempts} in an event of kind `transmitted`: it is from 1 to {}",
                self.most_attempts
            )),
            _ => Ok(()),
        }
    }

    /// What a line says, and whom a frame is for, if it tells.
    fn entry(&self, line: &mut Line<'_>) -> Result<(Entry, Option<(Destination, bool)>), String> {
        let (names, now) = (&self.names, self.now);
        if line.t < now {
            return Err(format!("`t` is {}, but the line before is of {now}: time never goes back", line.t));
        }
        match line.layer.take() {
            None => {
                let (event, destination) = event(line, names)?;
                self.check_attempts(&event.kind)?;
                Ok((Entry::Medium(event), destination))
            }
            Some(layer) if layer == emulator::LAYER => {
                emulator::take(line, names).map(|event| (Entry::Emulator(event), None))
            }
            Some(layer) if layer == inputs::LAYER => {
                let input = line.take_input(names, &self.topology)?;
                Ok((Entry::Input { at: BitInstant::new(line.t), input }, None))
            }
            Some(layer) => Err(format!(
                "`{layer}` is no layer: events of the medium have none, others are of `emulator` or `input`"
            )),
        }
    }
}

/// A line of one layer or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It happened on the medium.
    Medium(Event),
    /// It was done to the medium; never an offered frame, of which `offered` tells.
    Input {
        /// When.
        at: BitInstant,
        /// What.
        input: Input,
    },
    /// It happened to the emulator.
    Emulator(EmulatorEvent),
}

fn event(line: &mut Line<'_>, names: &Names) -> Result<(Event, Option<(Destination, bool)>), String> {
    let (station, name) = (line.take_station(names)?, line.take_frame_column()?);
    let frame = names.numbered(&name).ok_or_else(|| no_frame(&name))?;
    let destination = match &*line.kind {
        "offered" => {
            let tagged = line.tagged.take().unwrap_or(false);
            line.destination.take().map(|to| to.destination(names).map(|to| (to, tagged))).transpose()?
        }
        _ => None,
    };
    let kind = line.take_kind()?;
    match frame.serial {
        0 if kind.needs_a_frame() => Err(no_frame(&name)),
        _ if frame.station != station && !kind.is_a_receivers() => Err(format!(
            "`{name}` is a frame of another station, and an event of kind `{}` is about one of its own",
            kind.name()
        )),
        _ => Ok((Event { at: BitInstant::new(line.t), station, frame, kind }, destination)),
    }
}

fn no_frame(name: &str) -> String {
    format!("`{name}` is no frame: a station of the header, `#`, and a number from 1 are")
}
