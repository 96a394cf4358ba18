//! The record of a run: everything that its medium was given, so that it can be run again. See docs/trace.md.
//!
//! ```text
//!   {"format":"ethbus record","version":1,…}                      as an event log begins
//!   {"t":576,"kind":"offer","station":"st1","size":98,…}          each input, at the instant at which it was applied
//!   {"kind":"end","inputs":1,"run_to":90000,…}                    so that it shows if something is missing
//! ```
//! The last line has the CRC-32 of all octets before its own value, so that a change of any of them shows.
//! Timeouts are not inputs here: that time passes changes nothing that an input's instant does not say.
//!
//! One file above 500 lines because the writer and the reader are together, with their tests.

mod quick;

use crate::figures::metrics::Delays;
use crate::figures::results::{Snapshot, Start};
use crate::figures::slotted::{Slots, SlottedResults};
use crate::files::columns::is_of_layer;
use crate::files::event_log::{Digest, EventLog, Header, Names};
use crate::files::inputs::{self, Seating, To};
use crate::files::json_lines::{LineReader, LineWriter, ReadError, WriteError, create};
use crate::files::observer::Observer;
use crate::files::output::place_name;
use crate::files::programs::Call;
use crate::words::units::{group, many};
use medium::{BitInstant, BitTimes, Deed, Event, FCS, Frame, Host, Input, Medium, Octets, StationId};
use quick::Offer;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// The version of records.
pub const VERSION: u32 = 1;
const FORMAT: &str = "ethbus record";
/// What comes before the CRC-32 in the last line, which is a part of what it covers.
const CRC32: &[u8] = b",\"crc32\":";
/// The latest instant in a record: three thousand years at 10 Mb/s, and far from any overflow.
const LATEST: u64 = 1 << 60;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Everything that was due up to this instant has been run.
    pub run_to: u64,
    /// The instant at which the results were taken.
    pub t: u64,
}

/// Writes a record.
#[derive(Debug)]
pub struct Recorder {
    output: LineWriter,
    names: Names,
    inputs: u64,
    missing: u64,
    digest: Option<Digest>,
    /// Of all lines so far.
    crc32: crc32fast::Hasher,
}

impl Recorder {
    /// Writes the header to `output`. Inputs of a medium that has had none yet come next.
    ///
    /// # Errors
    /// The header cannot be written.
    fn new(output: LineWriter, header: &Header) -> Result<Recorder, WriteError> {
        let own = Header { checked: true, ..header.as_begun().of_format(FORMAT, VERSION) };
        let (names, crc32) = (Names::new(&header.stations), crc32fast::Hasher::new());
        let mut recorder = Recorder { output, names, inputs: 0, missing: 0, digest: None, crc32 };
        recorder.line(|line, _| serde_json::to_writer(line, &own).expect("numbers and names"))?;
        recorder.flush()?;
        Ok(recorder)
    }

    /// Writes a line, and sums it up.
    fn line(&mut self, write: impl FnOnce(&mut Vec<u8>, &Names)) -> Result<(), WriteError> {
        let Recorder { output, names, crc32, .. } = self;
        output.line(|text| {
            let begin = text.len();
            write(text, names);
            crc32.update(&text[begin..]);
            crc32.update(b"\n");
        })
    }

    /// The same in a new file, which is none of `others`.
    ///
    /// # Errors
    /// The file cannot be made, or the header not be written.
    pub fn create(path: &Path, others: &[&Path], header: &Header) -> Result<Recorder, WriteError> {
        Recorder::from_file(create(path, others)?, place_name(path), header)
    }

    /// The same in a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The header cannot be written.
    pub fn from_file(file: File, place: String, header: &Header) -> Result<Recorder, WriteError> {
        Recorder::new(LineWriter::new(file, place, "inputs"), header)
    }

    /// One input, and when the medium got it. Of a frame that has octets they are kept.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&[u8]>) -> Result<(), WriteError> {
        if let Input::Deed(Deed::Add { who, .. }) = input {
            self.names.join(who.name());
        }
        self.line(|line, names| match input {
            Input::Offer { station, frame } => inputs::write_offer(line, names, at, (*station, frame), octets),
            Input::Deed(deed) => inputs::write_deed(line, names, at, *deed),
        })?;
        self.inputs += 1;
        Ok(())
    }

    /// A station of a virtual lab gets something from outside.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        self.line(|line, names| inputs::write_call(line, names, at, station, call))
    }

    /// A station offers something else from now on.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), WriteError> {
        self.line(|line, names| inputs::write_traffic(line, names, at, station, arrivals))
    }

    /// The tally starts from zero at `at`, everything due up to `run_to` having been run.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        self.entry(&Line::Restart { t: at.get(), run_to: run_to.get() })
    }

    /// `count` inputs came here and could not be kept.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn missing(&mut self, count: u64) -> Result<(), WriteError> {
        self.missing += count;
        self.entry(&Line::Missing { count })
    }

    /// A replay is to have events with this digest.
    pub fn confirm(&mut self, digest: Digest) {
        self.digest = Some(digest);
    }

    /// The run is over: writes how many inputs the record has, which it gives, and the digest of the events if there is one.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn finish(&mut self, end: End) -> Result<u64, WriteError> {
        let Recorder { inputs, missing, digest, .. } = *self;
        let (events, events_crc32) = (digest.map(|digest| digest.events), digest.map(|digest| digest.crc32));
        let last = Line::End { t: end.t, run_to: end.run_to, inputs, missing, events, events_crc32, crc32: None };
        let mut text = serde_json::to_vec(&last).expect("numbers and names");
        text.pop();
        text.extend_from_slice(CRC32);
        self.crc32.update(&text);
        let crc32 = self.crc32.clone().finalize();
        self.output.line(|line| {
            line.extend_from_slice(&text);
            line.extend_from_slice(format!("{crc32}}}").as_bytes());
        })?;
        self.output.flush()?;
        Ok(inputs)
    }

    /// Hands everything so far to the kernel.
    ///
    /// # Errors
    /// As [`Recorder::input`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn entry(&mut self, entry: &Line) -> Result<(), WriteError> {
        self.line(|line, _| serde_json::to_writer(line, entry).expect("numbers and names"))
    }
}

/// A line of a record after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Offer {
        t: u64,
        station: String,
        size: u32,
        destination: To,
        tagged: bool,
        octets: Option<String>,
    },
    Command {
        t: u64,
        station: String,
        command: String,
        #[serde(default)]
        input: bool,
    },
    Input {
        t: u64,
        station: String,
        command: usize,
        octets: String,
    },
    Traffic {
        t: u64,
        station: String,
        arrivals: String,
    },
    Restart {
        t: u64,
        run_to: u64,
    },
    Missing {
        count: u64,
    },
    End {
        t: u64,
        run_to: u64,
        inputs: u64,
        missing: u64,
        events: Option<u64>,
        events_crc32: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        crc32: Option<u32>,
    },
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An input of the medium.
    Input {
        /// When.
        at: BitInstant,
        /// What.
        input: Input,
        /// Of a frame that had octets, those without FCS.
        octets: Option<Vec<u8>>,
    },
    /// A station of a virtual lab gets something from outside.
    Call {
        /// When.
        at: BitInstant,
        /// The station.
        station: StationId,
        /// What.
        call: Call,
    },
    /// A station offers something else from now on.
    Traffic {
        /// When.
        at: BitInstant,
        /// The station.
        station: StationId,
        /// What, as a scenario has it.
        arrivals: String,
    },
    /// The tally starts from zero.
    Restart {
        /// Everything due up to here has been run.
        run_to: BitInstant,
        /// When.
        at: BitInstant,
    },
    /// Inputs that the writer could not take.
    Missing {
        /// How many.
        count: u64,
    },
    /// The end, always the last.
    End {
        /// How the run ended.
        end: End,
        /// Number and digest of its events, if the writer counted them.
        digest: Option<Digest>,
    },
}

/// Reads a record, one entry at a time.
#[derive(Debug)]
pub struct RecordReader<R> {
    lines: LineReader<R>,
    header: Header,
    names: Names,
    seating: Seating,
    inputs: u64,
    /// Of all lines before the present one.
    crc32: crc32fast::Hasher,
}

impl RecordReader<BufReader<File>> {
    /// Opens a record.
    ///
    /// # Errors
    /// It cannot be opened; what is no record, or one of a medium that cannot be.
    pub fn open(path: &Path) -> Result<RecordReader<BufReader<File>>, ReadError> {
        let mut record = RecordReader::new(LineReader::open(path)?)?;
        record.header.look_ahead(path);
        record.names = Names::new(&record.header.stations);
        Ok(record)
    }
}

impl<R: BufRead> RecordReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What is no record, or one of a medium that cannot be.
    pub fn new(mut lines: LineReader<R>) -> Result<RecordReader<R>, ReadError> {
        let header = Header::read(&mut lines, FORMAT, VERSION)?;
        let names = Names::new(&header.stations);
        let seating = Seating::new(header.begun());
        let mut reader = RecordReader { lines, header, names, seating, inputs: 0, crc32: crc32fast::Hasher::new() };
        reader.sum_up();
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// An error about the entry that came last.
    pub fn wrong(&self, what: String) -> ReadError {
        self.lines.wrong(what)
    }

    /// The next entry, up to [`Entry::End`].
    ///
    /// # Errors
    /// A line that makes no sense, or a record that ends without its end.
    pub fn next_entry(&mut self) -> Result<Entry, ReadError> {
        if !self.lines.advance()? {
            let what = format!("{} inputs are before it, but the record's own end is missing", self.inputs);
            return Err(self.lines.cut_short(what));
        }
        let quick = quick::offer(self.lines.line(), &self.names);
        let entry = match quick {
            Some(Offer { t, station, frame, octets }) => self.offer(t, station, frame, octets),
            None if is_of_layer(self.lines.line(), inputs::LAYER) => self.deed(self.lines.line()),
            None => self.entry(self.lines.json()?),
        };
        let entry = entry.map_err(|what| self.lines.wrong(what))?;
        self.sum_up();
        self.inputs += u64::from(matches!(entry, Entry::Input { .. }));
        if let Entry::Input { input: Input::Deed(deed), .. } = &entry {
            self.seating.take(deed);
            if let Deed::Add { who, .. } = deed {
                self.names.join(who.name());
            }
        }
        if matches!(entry, Entry::End { .. }) && self.lines.advance()? {
            return Err(self.lines.wrong("nothing comes after a record's end".to_owned()));
        }
        Ok(entry)
    }

    fn sum_up(&mut self) {
        self.crc32.update(self.lines.line());
        self.crc32.update(b"\n");
    }

    /// A record that somebody wrote by hand has no CRC-32, and its header promises none.
    fn check_whole(&self, told: Option<u32>) -> Result<(), String> {
        let Some(told) = told else {
            let what = "the CRC-32 of the record is missing in its last line, though its first line promises it";
            return if self.header.checked { Err(what.to_owned()) } else { Ok(()) };
        };
        let line = self.lines.line();
        let own = line.windows(CRC32.len()).position(|window| window == CRC32).unwrap_or(0) + CRC32.len();
        let mut crc32 = self.crc32.clone();
        crc32.update(&line[..own]);
        match crc32.finalize() {
            now if now == told => Ok(()),
            now => Err(format!(
                "the record was changed since it was written: the CRC-32 of its octets is {now:08x}, and was {told:08x}"
            )),
        }
    }

    fn entry(&self, line: Line) -> Result<Entry, String> {
        match line {
            Line::Offer { t, station, size, destination, tagged, octets } => {
                let destination = destination.destination(&self.names)?;
                let frame = Frame { size: Octets::new(size), destination, tagged };
                self.offer(t, self.station(&station)?, frame, octets.as_deref())
            }
            Line::Command { t, station, command, input } => {
                let call = Call::Begin { command, has_input: input };
                Ok(Entry::Call { at: instant(t)?, station: self.station(&station)?, call })
            }
            Line::Input { t, station, command, octets } => {
                let call = Call::Input { command, octets: octets_of(&octets)? };
                Ok(Entry::Call { at: instant(t)?, station: self.station(&station)?, call })
            }
            Line::Traffic { t, station, arrivals } => {
                Ok(Entry::Traffic { at: instant(t)?, station: self.station(&station)?, arrivals })
            }
            Line::Restart { t, run_to } => Ok(Entry::Restart { run_to: instant(run_to)?, at: instant(t)? }),
            Line::Missing { count } => Ok(Entry::Missing { count }),
            Line::End { t, run_to, inputs, missing: _, events, events_crc32, crc32 } => {
                instant(t.max(run_to))?;
                if inputs != self.inputs {
                    return Err(format!("the record had {inputs} inputs, but {} are before its end", self.inputs));
                }
                self.check_whole(crc32)?;
                let digest = events.zip(events_crc32).map(|(events, crc32)| Digest { events, crc32 });
                Ok(Entry::End { end: End { run_to, t }, digest })
            }
        }
    }

    fn deed(&self, line: &[u8]) -> Result<Entry, String> {
        let (t, deed) = inputs::read_deed(line, &self.names, &self.seating)?;
        Ok(Entry::Input { at: instant(t)?, input: Input::Deed(deed), octets: None })
    }

    fn offer(&self, t: u64, station: StationId, frame: Frame, octets: Option<&str>) -> Result<Entry, String> {
        let octets = octets.map(|digits| octets_of_frame(digits, frame.size.get())).transpose()?;
        Ok(Entry::Input { at: instant(t)?, input: Input::Offer { station, frame }, octets })
    }

    fn station(&self, name: &str) -> Result<StationId, String> {
        inputs::station(&self.names, name)
    }
}

fn instant(t: u64) -> Result<BitInstant, String> {
    if t <= LATEST { Ok(BitInstant::new(t)) } else { Err(format!("an instant of {t}: at most {LATEST} BT")) }
}

fn octets_of_frame(digits: &str, size: u32) -> Result<Vec<u8>, String> {
    let octets = octets_of(digits)?;
    if octets.len() as u64 + u64::from(FCS.get()) > u64::from(size) {
        return Err(format!("{} octets and 4 of FCS in a frame of {size}", octets.len()));
    }
    Ok(octets)
}

fn octets_of(digits: &str) -> Result<Vec<u8>, String> {
    let digit = |octet: u8| char::from(octet).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    let octets: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
    Ok(octets.ok_or("`octets` is no list of octets: it has two hexadecimal digits for each")?)
}

/// Why a record could not be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The record is damaged or incomplete.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The events cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The engine does something else with the same inputs.
    #[error(
        "{record}: its inputs made {} when it was recorded and {} now, not the same ones: either it was changed \
         since, or this ethbus does other things than {program}, which recorded it; take the record as it was written, or \
         that program (the events\' CRC-32 is {:08x} in the record, and {:08x} now)",
        many(recorded.events, "event"), group(replayed.events), recorded.crc32, replayed.crc32
    )]
    Different {
        /// The record.
        record: String,
        /// What the run had.
        recorded: Digest,
        /// What the replay has.
        replayed: Digest,
        /// Who recorded it.
        program: String,
    },
}

/// What came of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What results are worked out from.
    pub snapshot: Snapshot,
    /// What a slotted medium came to.
    pub slotted: Option<SlottedResults>,
    /// How many inputs there were.
    pub inputs: u64,
    /// All events, in short.
    pub digest: Digest,
    /// The record had their digest, and it is the same.
    pub confirmed: bool,
}

/// Runs a record again in virtual time; `log` takes the events.
///
/// # Errors
/// A damaged or incomplete record, a log that cannot be written, or events other than the recorded run's.
pub fn replay<R: BufRead>(record: RecordReader<R>, log: EventLog) -> Result<Replayed, ReplayError> {
    replay_before(record, log, &mut None::<EventLog>)
}

/// The same with one more observer, which gets every note that the observers of the run got.
///
/// # Errors
/// As [`replay`]; what the observer cannot keep.
pub fn replay_before<R: BufRead, O: Observer<Error = WriteError>>(
    mut record: RecordReader<R>,
    log: EventLog,
    observer: &mut O,
) -> Result<Replayed, ReplayError> {
    let config = record.header().begun();
    let stations = config.topology.stations();
    let slots = Slots::of(&config);
    let mut medium = Medium::new(config).expect("the header's configuration was checked");
    let mut start = Start { at: BitInstant::ZERO, queued: vec![0; stations] };
    let mut listener = Listener { log, observer, delays: Delays::default(), slots, failed: None };
    loop {
        match record.next_entry()? {
            Entry::Input { at, input, octets } => {
                if at < medium.now() {
                    let what = format!("`t` is {at}, but the medium had got to {}: time never goes back", medium.now());
                    return Err(record.lines.wrong(what).into());
                }
                listener.log.input(at, &input)?;
                listener.slots.iter_mut().for_each(|slots| slots.input(at, &input));
                let octets: Option<Arc<[u8]>> = octets.map(Arc::from);
                listener.observer.input(at, &input, octets.as_ref())?;
                medium.give(at, input, &mut listener);
                listener.kept()?;
            }
            // What a station sends then comes as inputs.
            Entry::Call { .. } | Entry::Traffic { .. } => {}
            Entry::Restart { run_to, at } => {
                run_through(&mut medium, run_to, &mut listener)?;
                medium.restart_tally();
                listener.delays.restart();
                listener.slots.as_mut().into_iter().for_each(|slots| slots.restart(at));
                listener.observer.restart(run_to, at)?;
                start = Start::take(&medium, at);
            }
            Entry::Missing { count } => {
                let what = format!(
                    "{count} inputs are missing here, as the disk was too slow for the run: it cannot be run again"
                );
                return Err(record.lines.wrong(what).into());
            }
            Entry::End { end, digest: recorded } => {
                run_through(&mut medium, BitInstant::new(end.run_to), &mut listener)?;
                let replayed = listener.log.finish()?;
                listener.observer.end(end)?;
                if let Some(recorded) = recorded.filter(|recorded| *recorded != replayed) {
                    let (program, record) = (record.header.program, record.lines.place().to_owned());
                    return Err(ReplayError::Different { record, recorded, replayed, program });
                }
                let now = BitInstant::new(end.t);
                let snapshot = Snapshot::take(&medium, &start, now, &listener.delays, None);
                let (inputs, confirmed) = (record.inputs, recorded.is_some());
                let slotted =
                    listener.slots.map(|mut slots| slots.take(now).results().with_distribution(&slots.take_spent()));
                return Ok(Replayed { snapshot, slotted, inputs, digest: replayed, confirmed });
            }
        }
    }
}

/// Hears what happens when a record is run again.
struct Listener<'a, O> {
    log: EventLog,
    observer: &'a mut O,
    delays: Delays,
    slots: Option<Slots>,
    failed: Option<WriteError>,
}

impl<O> Listener<'_, O> {
    /// Whether everything could be kept.
    fn kept(&mut self) -> Result<(), WriteError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<O: Observer<Error = WriteError>> Host for Listener<'_, O> {
    fn event(&mut self, event: &Event) {
        self.delays.record(event);
        self.slots.iter_mut().for_each(|slots| slots.record(event));
        if self.failed.is_none() {
            self.failed = self.log.event(event).and_then(|()| self.observer.event(event)).err();
        }
    }

    fn stops(&self) -> bool {
        self.failed.is_some()
    }
}

/// Runs all timers and signals up to `last`, that instant included. The medium goes no further than the last of these,
/// so that a late input is still taken at its instant.
fn run_through<O: Observer<Error = WriteError>>(
    medium: &mut Medium,
    last: BitInstant,
    listener: &mut Listener<'_, O>,
) -> Result<(), WriteError> {
    while let Some(due) = medium.next_timeout().filter(|&due| due <= last) {
        medium.run_until(due + BitTimes::new(1), listener);
        listener.kept()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::event_log::EventLogReader;
    use medium::{BitRate, Config, Destination, Place};

    fn header() -> Header {
        let topology = medium::Topology::Bus { positions: [0, 20, 300].map(BitTimes::new).to_vec() };
        let names = ["st1", "st2", "s\"3"].map(str::to_owned);
        let config = Config { queue_limit: 3, ..Config::new(BitRate::MBIT_10, topology, 5) };
        Header::new("lab", &config, &names)
    }

    /// A run with every kind of input, timeouts given at other moments than a replay gives them, and what it was.
    fn run_recorded(restart: bool) -> (Vec<u8>, Vec<Event>, Snapshot) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut recorder = Recorder::create(file.path(), &[], &header()).expect("a file");
        let mut log = EventLog::unwritten(&header());
        let config = Config { keep_events: true, ..header().config() };
        let mut medium = Medium::new(config).expect("valid");
        let mut events = Vec::new();
        let mut start = Start { at: BitInstant::ZERO, queued: vec![0; 3] };
        for step in 0..400_u64 {
            let station = StationId::new((step % 3) as u16);
            let destination = match step % 5 {
                0 => Destination::All,
                1 => Destination::Nobody,
                _ => Destination::Station(StationId::new(((step + 1) % 3) as u16)),
            };
            let frame = Frame { size: Octets::new(20 + (step * 37 % 1510) as u32), destination, tagged: step % 7 == 0 };
            let input = match step {
                100 | 200 => Input::Deed(Deed::Unplug { station }),
                103 | 203 => Input::Deed(Deed::Plug { station }),
                250 => Input::Deed(Deed::Fault { station, fault: Some(medium::Fault::BadFcs) }),
                300 => Input::Deed(Deed::Fault { station, fault: None }),
                320 => Input::Deed(Deed::Cut(Some(Place { segment: 0, position: BitTimes::new(20) }))),
                360 => Input::Deed(Deed::Cut(None)),
                380 => Input::Deed(Deed::Queue { limit: 1 }),
                _ => Input::Offer { station, frame },
            };
            let at = medium.now().max(BitInstant::new(step / 4 * 700));
            let octets = vec![step as u8; 16];
            recorder.input(at, &input, (step % 2 == 0).then_some(&octets)).expect("room");
            medium.handle_input(at, input);
            if step % 3 == 0 {
                // As the live loop does: it runs the medium now and then.
                let horizon = at + BitTimes::new(40);
                while let Some(due) = medium.next_timeout().filter(|&due| due <= horizon) {
                    medium.advance(due + BitTimes::new(1));
                }
            }
            if restart && step == 150 {
                recorder.restart(at + BitTimes::new(40), medium.now()).expect("room");
                medium.restart_tally();
                start = Start::take(&medium, medium.now());
            }
        }
        let run_to = medium.now() + BitTimes::new(100_000);
        while let Some(due) = medium.next_timeout().filter(|&due| due <= run_to) {
            medium.advance(due + BitTimes::new(1));
        }
        while let Some(event) = medium.poll_event() {
            log.event(&event).expect("nowhere is never full");
            events.push(event);
        }
        let end = End { run_to: run_to.get(), t: run_to.get() + 17 };
        recorder.confirm(log.digest());
        assert_eq!(recorder.finish(end).expect("room"), 400);
        let snapshot = Snapshot::take(&medium, &start, BitInstant::new(end.t), &Delays::default(), None);
        (std::fs::read(file.path()).expect("a file"), events, snapshot)
    }

    fn replay_text(text: &[u8]) -> Result<(Replayed, Vec<Event>), ReplayError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let record = RecordReader::new(LineReader::new(text, "x".to_owned()))?;
        let replayed = replay(record, EventLog::create(file.path(), &[], &header())?)?;
        let mut log = EventLogReader::new(LineReader::open(file.path())?)?;
        let events: Result<Vec<Event>, _> = std::iter::from_fn(|| log.next_event().transpose()).collect();
        Ok((replayed, events?))
    }

    #[test]
    fn a_replay_has_the_same_events_and_results() {
        for restart in [false, true] {
            let (record, events, snapshot) = run_recorded(restart);
            let (replayed, again) = replay_text(&record).expect("a whole record");
            assert!(events.iter().any(|event| event.kind.name() == "collision"), "a run worth replaying");
            assert_eq!(again, events);
            assert!(replayed.confirmed);
            assert_eq!((replayed.inputs, replayed.snapshot.tally), (400, snapshot.tally));
            assert_eq!((replayed.snapshot.measured, replayed.snapshot.queued), (snapshot.measured, snapshot.queued));
        }
    }

    #[test]
    fn octets_come_back() {
        let (record, _, _) = run_recorded(false);
        let mut reader = RecordReader::new(LineReader::new(&record[..], "x".to_owned())).expect("a record");
        let first = reader.next_entry().expect("an entry");
        let frame = Frame { size: Octets::new(20), destination: Destination::All, tagged: true };
        let input = Input::Offer { station: StationId::new(0), frame };
        assert_eq!(first, Entry::Input { at: BitInstant::ZERO, input, octets: Some(vec![0; 16]) });
        let Entry::Input { octets: None, .. } = reader.next_entry().expect("an entry") else {
            panic!("no octets kept")
        };
    }

    /// Wherever a record is cut, the replay says so, with the line; wherever it is changed, too.
    #[test]
    fn a_truncated_or_damaged_record_is_named_with_its_line() {
        let (record, _, _) = run_recorded(false);
        for end in (0..record.len() - 1).step_by(997) {
            let error = replay_text(&record[..end]).expect_err("cut").to_string();
            let line = record[..end].iter().filter(|&&octet| octet == b'\n').count() + 1;
            assert!(error.starts_with(&format!("x, line {line}: the file was cut short here")), "{end}: {error}");
        }
        let text = String::from_utf8(record).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let without = |line: usize| [&lines[..line], &lines[line + 1..]].concat().join("\n") + "\n";
        let last_seen = |line: usize, text: &str| [&lines[..line], &[text], &lines[line..]].concat().join("\n") + "\n";
        let missing = last_seen(9, r#"{"kind":"missing","count":3}"#);
        let back = last_seen(300, lines[9]);
        for (text, words) in [
            (without(9), "the record had 400 inputs, but 399 are before its end"),
            (missing, "x, line 10: 3 inputs are missing here"),
            (back, "x, line 301: `t` is 1400, but the medium had got to"),
            (text.clone() + lines[9] + "\n", "x, line 403: nothing comes after a record's end"),
            (text.replacen("\"seed\":5", "\"seed\":6", 1), "x, line 402: the record was changed since it was written"),
            (
                text.replacen("\"all\"", "\"everyone\"", 1),
                "x, line 2: `everyone` is none of the words that can be here",
            ),
            (text.replacen("\"octets\":\"00", "\"octets\":\"0", 1), "x, line 2: `octets` is no list of octets"),
            (
                text.replacen("\"position_bt\":20", "\"position_bt\":0", 1),
                "line 322: a cut of segment 0 at 0 BT has all",
            ),
            (text.replacen("\"queue\":1}", "\"queue\":0}", 1), "x, line 382: `queue` is 0: a queue holds at least 1"),
            (text.replacen("\"t\":700", "\"t\":1152921504606846977", 1), "at most 1152921504606846976 BT"),
        ] {
            let error = replay_text(text.as_bytes()).expect_err(words).to_string();
            assert!(error.starts_with("x, line ") || error.starts_with("x: "), "the file is named: {error}");
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    /// No octet of a record can change unnoticed: neither one of a frame, which no event tells of, nor any other.
    #[test]
    fn each_octet_of_a_record_is_covered() {
        let (record, _, _) = run_recorded(false);
        let text = String::from_utf8(record.clone()).expect("UTF-8");
        let shorter = text.replacen(&format!("\"octets\":\"{}\"", "00".repeat(16)), "\"octets\":\"0000\"", 1);
        assert_ne!(shorter, text);
        let error = replay_text(shorter.as_bytes()).expect_err("octets are missing").to_string();
        assert!(error.contains("the record was changed since it was written"), "{error}");
        let last = text.trim_end().rfind('\n').expect("lines");
        for place in (0..record.len()).step_by(401).chain(last..record.len()) {
            let mut changed = record.clone();
            changed[place] ^= 1;
            assert!(replay_text(&changed).is_err(), "octet {place} of {}", record.len());
        }
    }

    /// A place is for a station that joins at a seat for the first time, and within the outermost stations.
    #[test]
    fn a_place_that_no_joining_station_can_have_is_named() {
        let topology = medium::Topology::Bus { positions: [0, 300, 300].map(BitTimes::new).to_vec() };
        let config = Config { seats: 1, ..Config::new(BitRate::MBIT_10, topology, 5) };
        let header = Header::new("lab", &config, &["st1", "st2"].map(str::to_owned)).of_format(FORMAT, VERSION);
        let join = |name: &str, seat: u16, place: u64| {
            let place = format!(r#""place":{{"segment":0,"position_bt":{place}}}"#);
            format!(
                r#"{{"t":5,"layer":"deed","add":{{"name":"{name}","mac":"02:00:00:00:00:09",{place}}},"seat":{seat}}}"#
            )
        };
        let read = |lines: &[String]| {
            let text = format!("{}\n{}\n", serde_json::to_string(&header).expect("JSON"), lines.join("\n"));
            let lines = LineReader::new(std::io::Cursor::new(text), "record".to_owned());
            let mut record = RecordReader::new(lines).expect("a header");
            std::iter::repeat_with(|| record.next_entry()).take(2).find_map(Result::err).expect("wrong").to_string()
        };
        for (lines, words) in [
            (vec![join("late", 2, 301)], "`place` of late: 301 BT is beyond the outermost stations"),
            (vec![join("late", 2, 30), join("late", 2, 30)], "`place` of late, which joins again"),
            (vec![join("st2", 1, 30)], "`place` of st2, which joins again"),
        ] {
            let error = read(&lines);
            assert!(error.contains(words), "{error}");
        }
    }
}
