//! Reads a trace, one row at a time.

use super::binary::{Blocked, Read};
use super::check::{self, Checked, Said};
use super::emulator;
use super::row::{Entry, Row, check_frame, event};
use super::text::{Line, instant, octets_of};
use super::{Header, Level, Names};
use crate::files::columns::is_of_layer;
use crate::files::inputs::{self, Given, Seating};
use crate::files::json_lines::{LineReader, ReadError};
use crate::files::observer::{End, Observer};
use medium::{BitInstant, Deed, Destination, Event, Frame, Input, Kind};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// The most attempts of one frame on a medium without a limit of its own.
const MOST_ATTEMPTS: u32 = 1 << 24;

/// The latest instant of a trace, and the longest span of an event, in bit times: their sum never overflows.
const LATEST: u64 = 1 << 62;

/// Reads a trace, one row at a time.
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
    /// Opens a trace.
    ///
    /// # Errors
    /// It cannot be opened; what is no trace, or one of a medium that cannot be.
    pub fn open(path: &Path) -> Result<EventLogReader<BufReader<File>>, ReadError> {
        let again = || match path.is_file() {
            true => Ok(Box::new(File::open(path)?) as Box<dyn io::Read>),
            false => Ok(Box::new(io::empty()) as Box<dyn io::Read>),
        };
        Ok(EventLogReader::new(LineReader::open(path)?)?.looking_ahead(again))
    }
}

impl<R: BufRead> EventLogReader<R> {
    /// Knows who joins, by the same file from its beginning.
    pub(super) fn looking_ahead(mut self, again: impl FnOnce() -> io::Result<Box<dyn io::Read>>) -> EventLogReader<R> {
        self.header.look_ahead(again);
        self.names = Names::new(&self.header.stations);
        self.blocked.iter_mut().for_each(|blocked| blocked.know(self.header.stations.len()));
        self
    }

    /// Reads the header.
    ///
    /// # Errors
    /// What is no trace, or one of a medium that cannot be.
    pub fn new(mut lines: LineReader<R>) -> Result<EventLogReader<R>, ReadError> {
        let header = Header::read(&mut lines)?;
        let mut first = lines.line().to_vec();
        first.push(b'\n');
        let stations = header.stations.len();
        let blocked = header.binary.as_ref().map(|binary| Blocked::after(&first, binary, stations));
        let checked = Checked::after(&first);
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

    /// # Errors
    /// A trace without what happened, which `reader` needs.
    pub fn needs_events(&self, reader: &str) -> Result<(), ReadError> {
        let how = "write it with the level `events` or `all`, or `ethbus replay` it with --events FILE";
        self.needs(Level::has_events, reader, "what happened", how)
    }

    /// # Errors
    /// A trace without what the run was given, which `reader` needs.
    pub fn needs_inputs(&self, reader: &str) -> Result<(), ReadError> {
        let how = "have the run write the level `inputs` or `all`";
        self.needs(Level::has_inputs, reader, "what the run was given", how)
    }

    fn needs(&self, has: fn(Level) -> bool, reader: &str, what: &str, how: &str) -> Result<(), ReadError> {
        let level = self.header.level;
        let what = || format!("this trace has the level `{}`, and {reader} needs {what}: {how}", level.word());
        if has(level) { Ok(()) } else { Err(self.lines.wrong(what())) }
    }

    /// An error about the row that came last.
    pub fn wrong(&self, what: String) -> ReadError {
        self.lines.wrong(what)
    }

    /// Where the trace comes from.
    pub fn place(&self) -> &str {
        self.lines.place()
    }

    /// The stations' names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whom the frame is for whose `offered` was read last, if the trace says so.
    pub fn destination(&self) -> Option<Destination> {
        self.destination.map(|(destination, _)| destination)
    }

    /// The same, and whether that frame carries a VLAN tag.
    pub fn offered(&self) -> Option<(Destination, bool)> {
        self.destination
    }

    /// Whether that frame carries a VLAN tag; not, if the trace does not say.
    pub fn tagged(&self) -> bool {
        self.destination.is_some_and(|(_, tagged)| tagged)
    }

    /// The next event of the medium; `None` at the end of the trace.
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

    /// The next event or deed; `None` at the end of the trace.
    ///
    /// # Errors
    /// As [`EventLogReader::next_row`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            match self.next_row()? {
                Some(Row::Entry(entry)) => return Ok(Some(entry)),
                Some(Row::Given(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// What the run was given next, up to [`Given::End`].
    ///
    /// # Errors
    /// As [`EventLogReader::next_row`]; a trace that ends before the run did.
    pub fn next_given(&mut self) -> Result<Given, ReadError> {
        loop {
            match self.next_row()? {
                Some(Row::Given(end @ Given::End { .. })) => return self.nothing_after(end),
                Some(Row::Given(given)) => return Ok(given),
                Some(Row::Entry(Entry::Deed { at, deed })) => {
                    let at = instant(at.get()).map_err(|what| self.lines.wrong(what))?;
                    return Ok(Given::Input { at, input: Input::Deed(deed), octets: None });
                }
                Some(Row::Entry(Entry::Medium(_) | Entry::Emulator(_))) => {}
                None => {
                    let why = self.not_whole().unwrap_or_else(|| format!("{} has no end of its run", self.place()));
                    return Err(ReadError::NotWhole { why });
                }
            }
        }
    }

    /// The end of a run, if it is that of a whole trace too.
    fn nothing_after(&mut self, end: Given) -> Result<Given, ReadError> {
        if self.next_row()?.is_some() {
            return Err(self.lines.wrong("nothing comes after the end of a run".to_owned()));
        }
        self.not_whole().map_or(Ok(end), |why| Err(ReadError::NotWhole { why }))
    }

    /// The next row of any layer; `None` at the end of the trace.
    ///
    /// # Errors
    /// A row that is no event and no input, or one of before the last; rows that are not those that were written; a trace
    /// that ends within a row.
    pub fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        loop {
            let step = if self.blocked.is_some() { self.next_record()? } else { self.next_line()? };
            match step {
                None => return Ok(None),
                Some(Told::Check(_)) => {}
                Some(Told::Given(given)) => return Ok(Some(Row::Given(given))),
                Some(Told::Entry(entry, destination)) => {
                    self.know(&entry);
                    if let Entry::Medium(Event { kind: Kind::Offered { .. }, .. }) = entry {
                        self.destination = destination;
                    }
                    return Ok(Some(Row::Entry(entry)));
                }
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
            // A trace that misses something may end with the instant of what it misses.
            if now != self.now && said.why.is_none() {
                let what = format!("`t` is {now} in a check, and {} in the line before", self.now);
                return Err(self.lines.wrong(what));
            }
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
                Read::Offer { at, station, frame, octets } => {
                    let octets = octets.map(|octets| octets_of(octets.to_vec(), frame.size.get())).transpose();
                    let octets = octets.and_then(|octets| instant(at.get()).map(|_| octets));
                    let octets = octets.and_then(|octets| self.check_time(at.get()).map(|()| octets));
                    let octets = octets.map_err(|what| self.lines.wrong(what))?;
                    let input = Input::Offer { station, frame };
                    (Told::Given(Given::Input { at, input, octets }), at.get())
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

    /// Goes to the next block of a binary trace, and says whether there is one.
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
            true => Err(self.lines.wrong("nothing comes after a trace's last line".to_owned())),
            false => Ok(()),
        }
    }

    /// What one line of a trace like this says, without its place in the trace.
    ///
    /// # Errors
    /// A line that is no event and no input.
    pub fn read_alone(&mut self, text: &str) -> Result<Entry, ReadError> {
        match self.read_line(text.as_bytes())?.0 {
            Told::Entry(entry, _) => {
                self.know(&entry);
                Ok(entry)
            }
            Told::Given(_) | Told::Check(_) => {
                Err(self.lines.wrong("a line of the layers `input` and `check` says nothing alone".to_owned()))
            }
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
        if line.layer.take_if(|layer| layer == inputs::INPUT).is_some() {
            let given = line.take_given(&self.names);
            return given.and_then(|given| self.given(given)).map_err(|what| self.lines.wrong(what));
        }
        let now = line.t;
        self.entry(&mut line).map(|told| (told, now)).map_err(|what| self.lines.wrong(what))
    }

    /// What the run was given, and how far the trace has got: only a frame's row is one of its instant.
    fn given(&self, given: Given) -> Result<(Told, u64), String> {
        let at = given.instant().get();
        if !given.is_offer() {
            return Ok((Told::Given(given), self.now));
        }
        self.check_time(at).map(|()| (Told::Given(given), at))
    }

    /// Reads a trace to its end, and proves what was not proven so far: why it is not whole, if it is not.
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

    /// Why a trace that has been read to its end is not whole; nothing of one that cannot tell, as old ones.
    pub fn not_whole(&self) -> Option<String> {
        let (unit, count) = match &self.blocked {
            Some(blocked) => ("record", blocked.lines),
            None => ("line", self.lines.number().saturating_sub(1)),
        };
        let told = self.checked.not_whole(self.lines.place(), unit, count);
        told.filter(|_| self.header.checked || self.checked.has_ended())
    }

    /// Tells `observer` what the trace tells, and that the run is over; what comes before something that cannot be read,
    /// too, and then why it cannot.
    ///
    /// # Errors
    /// The observer cannot continue.
    pub fn tell<O: Observer>(&mut self, observer: &mut O) -> Result<Result<(), ReadError>, O::Error> {
        let (mut end, mut octets) = (End { run_to: 0, t: 0 }, None);
        let read = loop {
            match self.next_row() {
                Ok(Some(Row::Entry(Entry::Medium(event)))) => {
                    if let Kind::Offered { size } = event.kind {
                        let destination = self.destination().unwrap_or(Destination::Nobody);
                        let frame = Frame { size, destination, tagged: self.tagged() };
                        let input = Input::Offer { station: event.station, frame };
                        observer.input(event.at, &input, octets.take().as_ref())?;
                    }
                    end = End { run_to: event.at.get(), t: event.at.get() };
                    observer.event(&event)?;
                }
                Ok(Some(Row::Entry(Entry::Deed { at, deed }))) => observer.input(at, &Input::Deed(deed), None)?,
                Ok(Some(Row::Entry(Entry::Emulator(event)))) => observer.emulator(&event)?,
                // The event `offered` of a frame comes next.
                Ok(Some(Row::Given(Given::Input { octets: own, .. }))) => octets = own.map(Arc::from),
                Ok(Some(Row::Given(Given::Restart { run_to, at }))) => observer.restart(run_to, at)?,
                Ok(Some(Row::Given(Given::End { end: own, .. }))) => end = own,
                Ok(Some(Row::Given(Given::Call { .. } | Given::Traffic { .. }))) => {}
                Ok(None) => break self.not_whole().map_or(Ok(()), |why| Err(ReadError::NotWhole { why })),
                Err(error) => break Err(error),
            }
        };
        observer.end(end)?;
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
                "`{layer}` is no layer: events of the medium have none, others are of `emulator`, `deed`, `input` or `check`"
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

    /// Whether an event of a binary trace can be.
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
    /// What the run was given.
    Given(Given),
    /// What is before it is whole.
    Check(Said),
}
