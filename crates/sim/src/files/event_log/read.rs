//! Reads an event log, one line at a time.

use super::binary::{Blocked, Read};
use super::check::{self, Checked, Said};
use super::emulator::{self, EmulatorEvent};
use super::text::{Line, no_frame};
use super::{FORMAT, Header, Names, VERSION};
use crate::files::columns::is_of_layer;
use crate::files::inputs::{self, Seating};
use crate::files::json_lines::{LineReader, ReadError};
use crate::files::observer::Observer;
use crate::files::record::End;
use medium::{BitInstant, Deed, Destination, Event, Frame, Input, Kind};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The most attempts of one frame on a medium without a limit of its own.
const MOST_ATTEMPTS: u32 = 1 << 24;

/// The latest instant of a log, and the longest span of an event, in bit times: their sum never overflows.
const LATEST: u64 = 1 << 62;

/// Reads an event log, one event at a time.
#[derive(Debug)]
pub struct EventLogReader<R> {
    lines: LineReader<R>,
    header: Header,
    names: Names,
    seating: Seating,
    /// No frame has more.
    most_attempts: u32,
    /// What one slot of a backoff takes.
    slot: u64,
    now: u64,
    destination: Option<(Destination, bool)>,
    checked: Checked,
    /// What follows the header is no text.
    blocked: Option<Blocked>,
}

impl EventLogReader<BufReader<File>> {
    /// Opens a log.
    ///
    /// # Errors
    /// It cannot be opened; what is no event log, or one of a medium that cannot be.
    pub fn open(path: &Path) -> Result<EventLogReader<BufReader<File>>, ReadError> {
        let mut log = EventLogReader::new(LineReader::open(path)?)?;
        log.header.look_ahead(path);
        log.names = Names::new(&log.header.stations);
        log.blocked.iter_mut().for_each(|blocked| blocked.know(log.header.stations.len()));
        Ok(log)
    }
}

impl<R: BufRead> EventLogReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What is no event log, or one of a medium that cannot be.
    pub fn new(mut lines: LineReader<R>) -> Result<EventLogReader<R>, ReadError> {
        let header = Header::read(&mut lines, FORMAT, VERSION)?;
        let mut first = lines.line().to_vec();
        first.push(b'\n');
        let stations = header.stations.len();
        let blocked = header.binary.as_ref().map(|binary| {
            binary.check().map_err(|what| lines.wrong(what)).map(|()| Blocked::after(&first, binary, stations))
        });
        let (blocked, checked) = (blocked.transpose()?, Checked::after(&first));
        let names = Names::new(&header.stations);
        let config = header.begun();
        let most_attempts = config.attempt_limit().map_or(MOST_ATTEMPTS, |limit| limit.get().min(MOST_ATTEMPTS));
        let slot = config.backoff_slot().get();
        let seating = Seating::new(config);
        let (now, destination) = (0, None);
        Ok(EventLogReader { lines, header, names, seating, most_attempts, slot, now, destination, checked, blocked })
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

    /// The same, and whether that frame carries a VLAN tag.
    pub fn offered(&self) -> Option<(Destination, bool)> {
        self.destination
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
                Some(Entry::Deed { .. } | Entry::Emulator(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next line of any layer; `None` at the end of the log.
    ///
    /// # Errors
    /// A line that is no event and no input, or one of before the last; lines that are not those that were written; a log
    /// that ends within a line.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            let step = if self.blocked.is_some() { self.next_record()? } else { self.next_line()? };
            let Some(told) = step else { return Ok(None) };
            if let Told::Entry(entry, destination) = told {
                self.know(&entry);
                if let Entry::Medium(Event { kind: Kind::Offered { .. }, .. }) = entry {
                    self.destination = destination;
                }
                return Ok(Some(entry));
            }
        }
    }

    /// Knows a station that joins.
    fn know(&mut self, entry: &Entry) {
        let Entry::Deed { deed, .. } = entry else { return };
        self.seating.take(deed);
        let Deed::Add { who, .. } = deed else { return };
        if self.names.station(who.name()).is_none() {
            self.names.join(who.name());
            self.header.stations.push(who.name().to_owned());
        }
        self.blocked.iter_mut().for_each(|blocked| blocked.know(self.names.len()));
    }

    fn next_line(&mut self) -> Result<Option<Told>, ReadError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        self.goes_on()?;
        let (told, now) = self.read_line(self.lines.line())?;
        if let Told::Check(said) = &told {
            let number = self.lines.number();
            self.checked.confirm(said, number).map_err(|what| self.lines.wrong(what))?;
        }
        self.now = now;
        self.checked.line(self.lines.line());
        Ok(Some(told))
    }

    fn next_record(&mut self) -> Result<Option<Told>, ReadError> {
        while let Some(blocked) = &mut self.blocked {
            let read = blocked.next(self.lines.block()).map_err(|what| self.lines.wrong(what))?;
            let number = blocked.lines;
            let Some(read) = read else {
                if self.next_block()? {
                    continue;
                }
                return Ok(None);
            };
            let (told, now) = match read {
                Read::Event(event, destination) => {
                    self.check_event(&event).map_err(|what| self.lines.wrong(what))?;
                    (Told::Entry(Entry::Medium(event), destination), event.at.get())
                }
                Read::Line(line) => self.read_line(line)?,
            };
            self.goes_on()?;
            if let Told::Check(said) = &told {
                self.checked.confirm(said, number).map_err(|what| self.lines.wrong(what))?;
            }
            self.now = now;
            return Ok(Some(told));
        }
        Ok(None)
    }

    /// Goes to the next block of a binary log, and says whether there is one.
    fn next_block(&mut self) -> Result<bool, ReadError> {
        let head = self.lines.advance_block(Blocked::length)?;
        let (Some(head), Some(blocked)) = (head, &mut self.blocked) else { return Ok(false) };
        blocked.begin(&head, self.lines.block()).map_err(|what| self.lines.wrong(what))?;
        Ok(true)
    }

    /// # Errors
    /// The last line has been.
    fn goes_on(&self) -> Result<(), ReadError> {
        match self.checked.has_ended() {
            true => Err(self.lines.wrong("nothing comes after a log's last line".to_owned())),
            false => Ok(()),
        }
    }

    /// What one line of a log like this says, without its place in the log.
    ///
    /// # Errors
    /// A line that is no event and no input.
    pub fn read_alone(&mut self, text: &str) -> Result<Entry, ReadError> {
        match self.read_line(text.as_bytes())?.0 {
            Told::Entry(entry, _) => {
                self.know(&entry);
                Ok(entry)
            }
            Told::Check(_) => Err(self.lines.wrong("a line of the layer `check` says nothing alone".to_owned())),
        }
    }

    /// What a line says, and when.
    fn read_line(&self, text: &[u8]) -> Result<(Told, u64), ReadError> {
        if is_of_layer(text, inputs::LAYER) {
            let deed = inputs::read_deed(text, &self.names, &self.seating);
            let (t, deed) = deed.map_err(|what| self.lines.wrong(what))?;
            self.check_time(t).map_err(|what| self.lines.wrong(what))?;
            let entry = Entry::Deed { at: BitInstant::new(t), deed };
            return Ok((Told::Entry(entry, None), t));
        }
        let mut line: Line<'_> = serde_json::from_slice(text).map_err(|error| self.lines.wrong_json(&error))?;
        let now = line.t;
        self.entry(&mut line).map(|told| (told, now)).map_err(|what| self.lines.wrong(what))
    }

    /// Reads a log to its end, and proves what was not proven so far: why it is not whole, if it is not.
    ///
    /// # Errors
    /// Lines that are not those that were written.
    pub fn prove(mut self) -> Result<Option<String>, ReadError> {
        if self.blocked.is_some() {
            while self.next_record()?.is_some() {}
            return Ok(self.not_whole());
        }
        while self.lines.advance()? {
            self.goes_on()?;
            if is_of_layer(self.lines.line(), check::LAYER) {
                let (told, _) = self.read_line(self.lines.line())?;
                if let Told::Check(said) = told {
                    let number = self.lines.number();
                    self.checked.confirm(&said, number).map_err(|what| self.lines.wrong(what))?;
                }
            }
            self.checked.line(self.lines.line());
        }
        Ok(self.not_whole())
    }

    /// Why a log that has been read to its end is not whole; nothing of one that cannot tell, as old ones.
    pub fn not_whole(&self) -> Option<String> {
        let (unit, count) = match &self.blocked {
            Some(blocked) => ("record", blocked.lines),
            None => ("line", self.lines.number().saturating_sub(1)),
        };
        let told = self.checked.not_whole(self.lines.place(), unit, count);
        told.filter(|_| self.header.checked || self.checked.has_ended())
    }

    /// Tells `observer` what the log tells, and that the run is over; what comes before something that cannot be read,
    /// too, and then why it cannot.
    ///
    /// # Errors
    /// The observer cannot continue.
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
                Ok(Some(Entry::Deed { at, deed })) => observer.input(at, &Input::Deed(deed), None)?,
                Ok(Some(Entry::Emulator(event))) => observer.emulator(&event)?,
                Ok(None) => break self.not_whole().map_or(Ok(()), |why| Err(ReadError::NotWhole { why })),
                Err(error) => break Err(error),
            }
        };
        observer.end(End { run_to: last, t: last })?;
        Ok(read)
    }

    /// Whether an event's numbers can be.
    fn check_kind(&self, kind: &Kind) -> Result<(), String> {
        self.check_attempts(kind)?;
        self.check_spans(kind)
    }

    /// A frame that got through after no attempt, or after more than the limit, is damage: counts of frames by attempts
    /// have a place for each possible number only.
    fn check_attempts(&self, kind: &Kind) -> Result<(), String> {
        match *kind {
            Kind::Transmitted { attempts, .. } if attempts == 0 || attempts > self.most_attempts => Err(format!(
                "`attempts` is {attempts} in an event of kind `transmitted`: it is from 1 to {}",
                self.most_attempts
            )),
            _ => Ok(()),
        }
    }

    /// A span whose end no instant can name is damage.
    fn check_spans(&self, kind: &Kind) -> Result<(), String> {
        let (field, span) = match *kind {
            Kind::Backoff { slots, .. } if slots.saturating_mul(self.slot) > LATEST => ("slots", slots),
            Kind::Transmitted { access_delay, .. } if access_delay.get() > LATEST => {
                ("access_delay", access_delay.get())
            }
            Kind::Transmitted { mac_delay, .. } if mac_delay.get() > LATEST => ("mac_delay", mac_delay.get()),
            Kind::Transmitted { extension, .. } if extension.get() > LATEST => ("extension", extension.get()),
            Kind::Fragment { bits } | Kind::Damaged { bits } if bits.get() > LATEST => ("bits", bits.get()),
            Kind::Rts { reserves, .. } | Kind::Cts { reserves } | Kind::Data { reserves, .. }
                if reserves.get() > LATEST =>
            {
                ("reserves", reserves.get())
            }
            Kind::Beacon { length, .. } if length.get() > LATEST => ("length", length.get()),
            _ => return Ok(()),
        };
        Err(format!("`{field}` is {span} in an event of kind `{}`: no span is longer than {LATEST} BT", kind.name()))
    }

    /// What a line says.
    fn entry(&self, line: &mut Line<'_>) -> Result<Told, String> {
        let names = &self.names;
        self.check_time(line.t)?;
        match line.layer.take() {
            None => {
                let (event, destination) = event(line, names)?;
                self.check_kind(&event.kind)?;
                Ok(Told::Entry(Entry::Medium(event), destination))
            }
            Some(layer) if layer == emulator::LAYER => {
                emulator::take(line, names).map(|event| Told::Entry(Entry::Emulator(event), None))
            }
            Some(layer) if layer == check::LAYER => line.take_check().map(Told::Check),
            Some(layer) => Err(format!(
                "`{layer}` is no layer: events of the medium have none, others are of `emulator`, `deed` or `check`"
            )),
        }
    }

    fn check_time(&self, t: u64) -> Result<(), String> {
        match self.now {
            now if t < now => Err(format!("`t` is {t}, but the line before is of {now}: time never goes back")),
            _ if t > LATEST => Err(format!("`t` is {t}: no instant is later than {LATEST} BT")),
            _ => Ok(()),
        }
    }

    /// Whether an event of a binary log can be.
    fn check_event(&self, event: &Event) -> Result<(), String> {
        self.check_time(event.at.get())?;
        check_frame(event, || format!("{}#{}", self.names.escaped(event.frame.station), event.frame.serial))?;
        self.check_kind(&event.kind)
    }
}

/// What a line says.
enum Told {
    /// What happened, and whom a frame is for, if it tells.
    Entry(Entry, Option<(Destination, bool)>),
    /// What is before it is whole.
    Check(Said),
}

/// A line of one layer or another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It happened on the medium.
    Medium(Event),
    /// It was done to the bus.
    Deed {
        /// When.
        at: BitInstant,
        /// What.
        deed: Deed,
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
    let event = Event { at: BitInstant::new(line.t), station, frame, kind: line.take_kind()? };
    check_frame(&event, || name.into_owned())?;
    Ok((event, destination))
}

/// Whether an event is about a frame that it can be about.
fn check_frame(event: &Event, name: impl FnOnce() -> String) -> Result<(), String> {
    let Event { station, frame, kind, .. } = event;
    match frame.serial {
        0 if kind.needs_a_frame() => Err(no_frame(&name())),
        _ if frame.station != *station && !kind.is_a_receivers() => Err(format!(
            "`{}` is a frame of another station, and an event of kind `{}` is about one of its own",
            name(),
            kind.name()
        )),
        _ => Ok(()),
    }
}
