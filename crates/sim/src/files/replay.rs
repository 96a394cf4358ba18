//! Runs a trace again: everything that its medium was given, in virtual time. See docs/trace.md.
//!
//! ```text
//!   trace: input ─► medium ─► events ─► trace, observer     input ─► …  restart ─► …  end: the same digest?
//! ```
//! Timeouts are not inputs here: that time passes changes nothing that an input's instant does not say.

use crate::figures::metrics::Delays;
use crate::figures::results::SlottedResults;
use crate::figures::slotted::Slots;
use crate::figures::snapshot::{Snapshot, Start};
use crate::files::event_log::{Digest, EventLog, EventLogReader, Given};
use crate::files::json_lines::{ReadError, WriteError};
use crate::files::observer::Observer;
use crate::words::units::{group, many};
use medium::{BitInstant, BitTimes, Event, Host, Medium};
use std::io::BufRead;
use std::sync::Arc;

/// Why a trace could not be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace is damaged or incomplete.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The events cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The engine does something else with the same inputs.
    #[error(
        "{trace}: its inputs made {} when it was recorded and {} now, not the same ones: either it was changed \
         since, or this ethbus does other things than {program}, which recorded it; take the trace as it was written, or \
         that program (the events\' CRC-32 is {:08x} in the trace, and {:08x} now)",
        many(recorded.events, "event"), group(replayed.events), recorded.crc32, replayed.crc32
    )]
    Different {
        /// The trace.
        trace: String,
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
    /// The trace had their digest, and it is the same.
    pub confirmed: bool,
}

/// Runs a trace again in virtual time; `log` takes the events.
///
/// # Errors
/// A damaged or incomplete trace, or one without inputs; events that cannot be written, or that differ from the recorded run's.
pub fn replay<R: BufRead>(trace: EventLogReader<R>, log: EventLog) -> Result<Replayed, ReplayError> {
    replay_before(trace, log, &mut None::<EventLog>)
}

/// The same with one more observer, which gets every note that the observers of the run got.
///
/// # Errors
/// As [`replay`]; what the observer cannot keep.
pub fn replay_before<R: BufRead, O: Observer<Error = WriteError>>(
    mut trace: EventLogReader<R>,
    log: EventLog,
    observer: &mut O,
) -> Result<Replayed, ReplayError> {
    trace.needs_inputs("a replay")?;
    let config = trace.header().begun();
    let stations = config.topology.stations();
    let slots = Slots::of(&config);
    let mut medium = Medium::new(config).expect("the header's configuration was checked");
    let mut start = Start { at: BitInstant::ZERO, queued: vec![0; stations] };
    let mut listener = Listener { log, observer, delays: Delays::default(), slots, failed: None };
    let mut inputs = 0;
    loop {
        match trace.next_given()? {
            Given::Input { at, input, octets } => {
                if at < medium.now() {
                    let what = format!("`t` is {at}, but the medium had got to {}: time never goes back", medium.now());
                    return Err(trace.wrong(what).into());
                }
                inputs += 1;
                let octets: Option<Arc<[u8]>> = octets.map(Arc::from);
                listener.log.input(at, &input, octets.as_ref())?;
                listener.slots.iter_mut().for_each(|slots| slots.input(at, &input));
                listener.observer.input(at, &input, octets.as_ref())?;
                medium.give(at, input, &mut listener);
                listener.kept()?;
            }
            // What a station sends then comes as inputs.
            Given::Call { at, station, call } => listener.log.call(at, station, &call)?,
            Given::Traffic { at, station, arrivals } => listener.log.traffic(at, station, &arrivals)?,
            Given::Restart { run_to, at } => {
                run_through(&mut medium, run_to, &mut listener)?;
                medium.restart_tally();
                listener.delays.restart();
                listener.slots.as_mut().into_iter().for_each(|slots| slots.restart(at));
                listener.log.restart(run_to, at)?;
                listener.observer.restart(run_to, at)?;
                start = Start::take(&medium, at);
            }
            Given::End { end, digest: recorded } => {
                run_through(&mut medium, BitInstant::new(end.run_to), &mut listener)?;
                let replayed = listener.log.finish_at(Some(end))?;
                listener.observer.end(end)?;
                if let Some(recorded) = recorded.filter(|recorded| *recorded != replayed) {
                    let (program, trace) = (trace.header().program.clone(), trace.place().to_owned());
                    return Err(ReplayError::Different { trace, recorded, replayed, program });
                }
                let now = BitInstant::new(end.t);
                let snapshot = Snapshot::take(&medium, &start, now, &listener.delays, None);
                let confirmed = recorded.is_some();
                let slotted =
                    listener.slots.map(|mut slots| slots.take(now).results().with_distribution(&slots.take_spent()));
                return Ok(Replayed { snapshot, slotted, inputs, digest: replayed, confirmed });
            }
        }
    }
}

/// Hears what happens when a trace is run again.
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
    use crate::files::event_log::{EventLogReader, Header, Level};
    use crate::files::json_lines::LineReader;
    use crate::files::observer::End;
    use medium::{BitRate, Config, Deed, Destination, Frame, Input, Octets, Place, StationId};

    fn header() -> Header {
        let topology = medium::Topology::Bus { positions: [0, 20, 300].map(BitTimes::new).to_vec() };
        let names = ["st1", "st2", "s\"3"].map(str::to_owned);
        let config = Config { queue_limit: 3, ..Config::new(BitRate::MBIT_10, topology, 5) };
        Header::new("lab", &config, &names)
    }

    /// A run with every kind of input, timeouts given at other moments than a replay gives them, and what it was.
    fn run_recorded(level: Level, ending: &str, restart: bool) -> (Vec<u8>, Vec<Event>, Snapshot) {
        let file = tempfile::Builder::new().suffix(ending).tempfile().expect("a file");
        let mut trace = EventLog::create(file.path(), &[], &header().at_level(level)).expect("a file");
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
            let octets: Arc<[u8]> = vec![step as u8; 16].into();
            trace.input(at, &input, Some(&octets).filter(|_| step % 2 == 0)).expect("room");
            medium.handle_input(at, input);
            take_events(&mut medium, &mut trace, &mut events);
            if step % 3 == 0 {
                // As the live loop does: it runs the medium now and then.
                let horizon = at + BitTimes::new(40);
                while let Some(due) = medium.next_timeout().filter(|&due| due <= horizon) {
                    medium.advance(due + BitTimes::new(1));
                }
                take_events(&mut medium, &mut trace, &mut events);
            }
            if restart && step == 150 {
                trace.restart(at + BitTimes::new(40), medium.now()).expect("room");
                medium.restart_tally();
                start = Start::take(&medium, medium.now());
            }
        }
        let run_to = medium.now() + BitTimes::new(100_000);
        while let Some(due) = medium.next_timeout().filter(|&due| due <= run_to) {
            medium.advance(due + BitTimes::new(1));
        }
        take_events(&mut medium, &mut trace, &mut events);
        let end = End { run_to: run_to.get(), t: run_to.get() + 17 };
        trace.end(end).expect("room");
        let snapshot = Snapshot::take(&medium, &start, BitInstant::new(end.t), &Delays::default(), None);
        (std::fs::read(file.path()).expect("a file"), events, snapshot)
    }

    fn take_events(medium: &mut Medium, trace: &mut EventLog, events: &mut Vec<Event>) {
        while let Some(event) = medium.poll_event() {
            trace.event(&event).expect("room");
            events.push(event);
        }
    }

    fn replay_text(text: &[u8]) -> Result<(Replayed, Vec<Event>), ReplayError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let trace = EventLogReader::new(LineReader::new(text, "x".to_owned()))?;
        let replayed = replay(trace, EventLog::create(file.path(), &[], &header())?)?;
        let mut log = EventLogReader::new(LineReader::open(file.path())?)?;
        let events: Result<Vec<Event>, _> = std::iter::from_fn(|| log.next_event().transpose()).collect();
        Ok((replayed, events?))
    }

    #[test]
    fn a_replay_has_the_same_events_and_results() {
        for (level, ending, restart) in [
            (Level::Inputs, ".inputs", false),
            (Level::Inputs, ".inputs", true),
            (Level::Inputs, ".ebe", true),
            (Level::All, ".all", true),
            (Level::All, ".ebe", true),
        ] {
            let (trace, events, snapshot) = run_recorded(level, ending, restart);
            let (replayed, again) = replay_text(&trace).expect("a whole trace");
            assert!(events.iter().any(|event| event.kind.name() == "collision"), "a run worth replaying");
            assert_eq!(again, events);
            assert!(replayed.confirmed);
            assert_eq!((replayed.inputs, replayed.snapshot.tally), (400, snapshot.tally));
            assert_eq!((replayed.snapshot.measured, replayed.snapshot.queued), (snapshot.measured, snapshot.queued));
        }
    }

    /// The rows of the level `all` are those of both others, in their order.
    #[test]
    fn all_is_inputs_and_events() {
        let rows = |level| {
            let (trace, ..) = run_recorded(level, ".trace", true);
            let text = String::from_utf8(trace).expect("UTF-8");
            let is_row = |line: &&str| !line.contains(r#""layer":"check""#);
            text.lines().skip(1).filter(is_row).map(str::to_owned).collect::<Vec<String>>()
        };
        let is_given = |row: &&String| row.contains(r#""layer":"input""#);
        let is_deed = |row: &&String| row.contains(r#""layer":"deed""#);
        let all = rows(Level::All);
        let inputs: Vec<&String> = all.iter().filter(|row| is_given(row) || is_deed(row)).collect();
        assert_eq!(inputs, rows(Level::Inputs).iter().collect::<Vec<_>>());
        let events: Vec<&String> = all.iter().filter(|row| !is_given(row)).collect();
        assert_eq!(events, rows(Level::Events).iter().collect::<Vec<_>>());
    }

    #[test]
    fn octets_come_back() {
        for ending in [".inputs", ".ebe"] {
            let (trace, ..) = run_recorded(Level::Inputs, ending, false);
            let mut reader = EventLogReader::new(LineReader::new(&trace[..], "x".to_owned())).expect("a trace");
            let first = reader.next_given().expect("an input");
            let frame = Frame { size: Octets::new(20), destination: Destination::All, tagged: true };
            let input = Input::Offer { station: StationId::new(0), frame };
            assert_eq!(first, Given::Input { at: BitInstant::ZERO, input, octets: Some(vec![0; 16]) });
            let Given::Input { octets: None, .. } = reader.next_given().expect("an input") else {
                panic!("no octets kept")
            };
        }
    }

    #[test]
    fn a_trace_of_events_is_not_replayed() {
        let (trace, ..) = run_recorded(Level::Events, ".events", false);
        let error = replay_text(&trace).expect_err("no inputs").to_string();
        let words = "this trace has the level `events`, and a replay needs what the run was given";
        assert!(error.contains(words), "{error}");
    }

    /// Wherever a trace is cut, the replay says so, with the line; wherever it is changed, too.
    #[test]
    fn a_truncated_or_damaged_trace_is_named_with_its_line() {
        let (record, ..) = run_recorded(Level::Inputs, ".inputs", false);
        for end in (0..record.len() - 1).step_by(997) {
            let error = replay_text(&record[..end]).expect_err("cut").to_string();
            let line = record[..end].iter().filter(|&&octet| octet == b'\n').count() + 1;
            let is_cut = error.starts_with(&format!("x, line {line}: the file was cut short here"));
            assert!(is_cut || error.starts_with("x has no end"), "{end}: {error}");
        }
        let text = String::from_utf8(record).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let without = |line: usize| [&lines[..line], &lines[line + 1..]].concat().join("\n") + "\n";
        let last_seen = |line: usize, text: &str| [&lines[..line], &[text], &lines[line..]].concat().join("\n") + "\n";
        let back = last_seen(300, lines[9]);
        for (text, words) in [
            (without(9), "x, line 402: 1 line missing since line 1"),
            (back, "x, line 301: `t` is 1400, but the line before is of"),
            (text.clone() + lines[9] + "\n", "x, line 404: nothing comes after a trace's last line"),
            (text.replacen("\"seed\":5", "\"seed\":6", 1), "x, line 403: lines were changed"),
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

    /// No octet of a trace can change unnoticed: neither one of a frame, which no event tells of, nor any other.
    #[test]
    fn each_octet_of_a_trace_is_covered() {
        let (record, ..) = run_recorded(Level::Inputs, ".inputs", false);
        let text = String::from_utf8(record.clone()).expect("UTF-8");
        let shorter = text.replacen(&format!("\"octets\":\"{}\"", "00".repeat(16)), "\"octets\":\"0000\"", 1);
        assert_ne!(shorter, text);
        let error = replay_text(shorter.as_bytes()).expect_err("octets are missing").to_string();
        assert!(error.contains("lines were changed"), "{error}");
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
        let header = Header::new("lab", &config, &["st1", "st2"].map(str::to_owned)).at_level(Level::Inputs);
        let join = |name: &str, seat: u16, place: u64| {
            let place = format!(r#""place":{{"segment":0,"position_bt":{place}}}"#);
            format!(
                r#"{{"t":5,"layer":"deed","add":{{"name":"{name}","mac":"02:00:00:00:00:09",{place}}},"seat":{seat}}}"#
            )
        };
        let read = |lines: &[String]| {
            let text = format!("{}\n{}\n", serde_json::to_string(&header).expect("JSON"), lines.join("\n"));
            let lines = LineReader::new(std::io::Cursor::new(text), "trace".to_owned());
            let mut trace = EventLogReader::new(lines).expect("a header");
            std::iter::repeat_with(|| trace.next_given()).take(2).find_map(Result::err).expect("wrong").to_string()
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
