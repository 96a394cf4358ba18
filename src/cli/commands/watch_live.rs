//! `ethbus watch` of a lab that is up: follows what the lab tells, asks for its results now and then, and does to it what
//! `send`, `unplug` and `cut` do.

use super::{CommandError, Outcome, running_lab};
use crate::watch::keys::Press;
use crate::watch::player::{Player, Source};
use crate::watch::screened::is_there;
use crate::watch::terminal::{self, Bus, Titles};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use link::signals::Signal;
use live::control::request::Control;
use live::control::{self, Events, Notification};
use live::lab::inventory::Inventory;
use live::plane::seen::shorten;
use medium::{BitInstant, Deed, Input, StationId};
use say::program::program;
use serde_json::value::RawValue;
use sim::figures::results::Results;
use sim::files::event_log::{Entry, EventLogReader, Header};
use sim::files::json_lines::LineReader;
use sim::run::view::{Note, View};
use sim::words::cable;
use sim::words::places::by_place;
use sim::words::sentences::{TIED, nanos};
use sim::words::units::{group, many};
use std::io::{self, BufRead, BufReader, Cursor, Lines};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Batches that wait to be shown: three seconds of a person who looks at something else.
const WAITING: usize = 64;
/// The time between two requests for results, and how many times longer than an answer it is at least.
const EVERY: Duration = Duration::from_secs(1);
const TIMES: u32 = 20;

/// Shows a lab that is up until the user ends the view, or the lab has ended.
///
/// # Errors
/// No such lab; no terminal.
pub fn watch(given: Option<&str>, interrupts: &Receiver<Signal>) -> Outcome {
    let lab = running_lab(given)?;
    let labels = Inventory::of_running(&lab)?.labels;
    if !is_there() {
        return Err(CommandError::NoTerminal);
    }
    let silent = |source| CommandError::Control { name: lab.clone(), source };
    // The stream begins before the results are made, so that no change falls between the two.
    let events = control::events(&lab).and_then(Stream::of);
    let mut stream = events.map_err(|error| CommandError::of_lab(&lab, error))?;
    let first = stream.next().ok_or(io::ErrorKind::UnexpectedEof.into()).map_err(silent)?;
    let results = ask(&lab, &Control::Stats).map_err(silent)?;
    let Header { stations: names, .. } = stream.log.header().clone();
    let mut view = View::new(Arc::new(stream.log.header().config())).with(stream.log.header().stations.len());
    let ended = Arc::new(AtomicBool::new(false));
    let source = follow(stream, ended.clone()).map_err(silent)?;
    for note in beginning(&results, first.now) {
        view.take(&note);
    }
    view.begin_at(first.now);
    let shown = |name: &String| labels.containers.get(name).map_or(name, |container| &container.name).clone();
    let titles = Titles { title: format!("lab {lab}"), names: names.iter().map(shown).collect() };
    let mut bus = Live { health: health(&results), polled: poll(&lab).map_err(silent)?, lab, names, ended, interrupts };
    let shown = terminal::watch(Player::new(view, source), &titles, &mut bus);
    shown.map_err(|source| CommandError::System { what: "draw on the terminal", source })?;
    if bus.ended.load(Ordering::Relaxed) {
        say::say(&format!("ethbus: the lab `{}` has ended\n", bus.lab));
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(lab: &str, request: &Control) -> io::Result<Results> {
    control::results(lab, request)
}

/// The changes of the bus before the view began.
fn beginning(results: &Results, at: BitInstant) -> Vec<Note> {
    let mut inputs = vec![Input::Deed(Deed::Cut(results.medium.cut))];
    for (station, known) in (0..).map(StationId::new).zip(&results.stations) {
        if let Some(fault) = known.fault {
            inputs.push(Input::Deed(Deed::Fault { station, fault: Some(fault) }));
        }
        // A station that has joined is at a seat, which is off the medium at first.
        inputs.push(if known.attached {
            Input::Deed(Deed::Plug { station })
        } else {
            Input::Deed(Deed::Unplug { station })
        });
    }
    let notes = inputs.into_iter().map(|input| Note::Input { at, input });
    // What stations do is not known before something is heard of them.
    notes.chain([Note::Missed { count: 0 }]).collect()
}

/// What happened, in order, after some events that are missing, and up to an instant.
struct Stretch {
    missed: u64,
    notes: Vec<Note>,
    now: BitInstant,
}

/// What the lab tells, stretch by stretch.
struct Stream {
    log: EventLogReader<Cursor<Vec<u8>>>,
    lines: Lines<BufReader<UnixStream>>,
}

impl Stream {
    /// Reads lines of the trace that has `header`.
    ///
    /// # Errors
    /// The header of a lab of another version.
    fn of((header, stream): (Header, BufReader<UnixStream>)) -> io::Result<Stream> {
        let mut first = serde_json::to_vec(&header).expect("numbers and names");
        first.push(b'\n');
        let log = EventLogReader::new(LineReader::new(Cursor::new(first), "events".to_owned()));
        Ok(Stream { log: log.map_err(io::Error::other)?, lines: stream.lines() })
    }
}

impl Iterator for Stream {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        let line = self.lines.next()?.ok()?;
        let Notification { params: Events { missed, now, events }, .. } = serde_json::from_str(&line).ok()?;
        let note = |line: &RawValue| match self.log.read_alone(line.get()).ok()? {
            Entry::Medium(event) => Some(Note::Event(event)),
            Entry::Deed { at, deed } => Some(Note::Input { at, input: Input::Deed(deed) }),
            Entry::Emulator(_) => None,
        };
        let notes = events.iter().map(AsRef::as_ref).filter_map(note).collect();
        Some(Stretch { missed, notes, now: BitInstant::new(now) })
    }
}

/// Reads what the lab tells in a thread.
fn follow(stream: Stream, ended: Arc<AtomicBool>) -> io::Result<Source> {
    let (sender, source) = bounded(WAITING);
    let read = move || {
        let (mut missed, mut owed) = (0, Vec::new());
        for stretch in stream {
            missed += stretch.missed;
            owed.extend(stretch.notes);
            let before = (missed > 0).then_some(Note::Missed { count: missed });
            let after = Note::Passed { at: stretch.now };
            match sender.try_send(before.into_iter().chain(owed.iter().copied()).chain([after]).collect()) {
                Ok(()) => (missed, owed) = (0, Vec::new()),
                // The user looks at an earlier instant: the events that come meanwhile are counted.
                Err(TrySendError::Full(_)) => missed += shorten(&mut owed),
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
        ended.store(true, Ordering::Relaxed);
    };
    std::thread::Builder::new().name("events".to_owned()).spawn(read)?;
    Ok(source)
}

/// Asks for results again and again, in a thread.
fn poll(lab: &str) -> io::Result<Receiver<Vec<String>>> {
    let (sender, polled): (Sender<Vec<String>>, _) = bounded(1);
    let lab = lab.to_owned();
    let read = move || {
        loop {
            let begin = Instant::now();
            let Ok(results) = ask(&lab, &Control::Stats) else { return };
            if matches!(sender.try_send(health(&results)), Err(TrySendError::Disconnected(_))) {
                return;
            }
            std::thread::sleep(EVERY.max(begin.elapsed() * TIMES));
        }
    };
    std::thread::Builder::new().name("stats".to_owned()).spawn(read)?;
    Ok(polled)
}

/// What results tell that events do not.
fn health(results: &Results) -> Vec<String> {
    let medium = &results.medium;
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let mut lines = vec![format!(
        "since it came up: utilization {:.3}, {}, {}",
        medium.utilization_total,
        many(sum("frames_transmitted_ok"), "frame"),
        many(medium.collision_episodes, "collision")
    )];
    if let Some(emulator) = &results.emulator {
        let time = |ns: u64| nanos(ns).replace(TIED, " ");
        let (timing, machine) = (&emulator.timing, &emulator.machine);
        let lost = emulator.undelivered.ring_drops + machine.overload_drops;
        let scale =
            if machine.time_scale == 1.0 { String::new() } else { format!(", time scale {}", machine.time_scale) };
        lines.push(format!(
            "late by {} p50, {} p99; slip {}, lost {}{scale}",
            time(timing.lateness_p50_ns),
            time(timing.lateness_p99_ns),
            time(machine.slip_ns),
            group(lost)
        ));
    }
    lines
}

/// A lab that is up.
struct Live<'a> {
    lab: String,
    names: Vec<String>,
    health: Vec<String>,
    polled: Receiver<Vec<String>>,
    ended: Arc<AtomicBool>,
    interrupts: &'a Receiver<Signal>,
}

impl Bus for Live<'_> {
    fn health(&mut self) -> Vec<String> {
        if let Some(health) = self.polled.try_iter().last() {
            self.health = health;
        }
        self.health.clone()
    }

    fn act(&mut self, press: Press, station: StationId, view: &View) -> Option<String> {
        let done = match press {
            Press::Inject => self.inject(&self.name(station, view)),
            Press::Plug => self.plug(&self.name(station, view), station),
            Press::Cut => self.cut(station, view),
        };
        Some(done.unwrap_or_else(|what| what))
    }

    fn is_live(&self) -> bool {
        true
    }

    fn is_over(&mut self) -> bool {
        self.ended.load(Ordering::Relaxed) || !self.interrupts.is_empty()
    }
}

impl Live<'_> {
    fn name(&self, station: StationId, view: &View) -> String {
        let all = self.names.iter().chain(&view.joined);
        all.skip(station.index()).map(String::clone).next().unwrap_or_default()
    }

    /// As `ethbus send` does; a user who may not enter the station gets the error of that command.
    fn inject(&self, from: &str) -> Result<String, String> {
        let arguments = ["send", "--name", &self.lab, "--from", from, "--to", "broadcast", "--count", "1"];
        let sent = Command::new("/proc/self/exe").args(arguments).stdin(Stdio::null()).output();
        let sent = sent.map_err(|error| format!("{} cannot be run: {error}", program()))?;
        match sent.status.success() {
            true => Ok(format!("{from} has offered a frame to all stations")),
            false => Err(String::from_utf8_lossy(&sent.stderr).lines().next().unwrap_or_default().to_owned()),
        }
    }

    /// The lab says whether the station is on the medium: the view may show an earlier instant.
    fn plug(&self, name: &str, station: StationId) -> Result<String, String> {
        let attached = self.ask(&Control::Stats)?.stations.get(station.index()).is_some_and(|known| known.attached);
        let station = name.to_owned();
        let (request, what) = match attached {
            true => (Control::Detach { station }, "is unplugged"),
            false => (Control::Attach { station }, "is plugged in again"),
        };
        self.ask(&request)?;
        Ok(format!("{name} {what}"))
    }

    fn cut(&self, station: StationId, view: &View) -> Result<String, String> {
        if self.ask(&Control::Stats)?.medium.cut.is_some() {
            self.ask(&Control::Mend)?;
            return Ok("the cable is mended".to_owned());
        }
        let mut all = by_place(&view.config().topology);
        all.retain(|known| known.index() < view.there);
        let place = all.iter().position(|known| *known == station).unwrap_or(0);
        let next = *all.get(place + 1).ok_or("no station comes after this one: choose another")?;
        let own = [station, next].map(|one| self.name(one, view));
        let names = own.each_ref().map(String::as_str);
        let cut = cable::between(&view.config().topology, names, [station.index(), next.index()])?;
        self.ask(&Control::Cut(cut))?;
        Ok(format!("the cable is cut between {} and {}", names[0], names[1]))
    }

    fn ask(&self, request: &Control) -> Result<Results, String> {
        ask(&self.lab, request).map_err(|error| format!("the lab does not answer: {error}"))
    }
}
