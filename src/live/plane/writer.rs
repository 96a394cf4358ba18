//! The thread that writes the record, the event log, and files for other tools. The coordinator never waits for it.
//!
//! ```text
//!   coordinator ──notes, as many as there is room for──► this thread ──whole lines──► files
//!        └── what found no room is counted, and told with the next note that does
//! ```
//! It looks for notes now and then, so that the coordinator need not wake it.

use super::protocol::Setup;
use super::threads;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use medium::{BitInstant, ConfigError, Event, Input};
use sim::files::event_log::{EmulatorEvent, EventLog};
use sim::files::json_lines::WriteError;
use sim::files::record::{End, Recorder};
use sim::run::observer::Observer;
use sim::windows::Window;
use std::convert::Infallible;
use std::error::Error;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Notes that may wait to be written: those of half a second at 10 Mb/s with the shortest frames.
const WAITING: usize = 1 << 16;
/// How often the thread looks for notes when there were none.
const PAUSE: Duration = Duration::from_millis(5);
/// How long the files may take to be finished: a disk is not waited for longer, nor is a pipe that nobody reads.
const PATIENCE: Duration = Duration::from_secs(4);

/// What can go wrong: the record, the log and each window once; there are fewer windows than the rest.
const TROUBLES: usize = 8;

#[derive(Debug)]
enum Note {
    Input { at: BitInstant, input: Input, octets: Option<Arc<[u8]>> },
    Event(Event),
    Emulator(EmulatorEvent),
    Restart { run_to: BitInstant, at: BitInstant },
    Missing(Counts),
    End(End),
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    inputs: u64,
    events: u64,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// A record, 0 or 1.
    inputs: u64,
    /// An event log, 0 or 1.
    events: u64,
    windows: u64,
}

impl Wanted {
    fn files(self) -> u64 {
        self.inputs + self.events + self.windows
    }
}

/// What is not in the files, though it should be.
#[derive(Debug, Default)]
struct Lost {
    inputs: AtomicU64,
    events: AtomicU64,
    files: AtomicU64,
}

/// The coordinator's end; it takes nothing if no file is wanted.
#[derive(Debug)]
pub struct Writer {
    notes: Option<Sender<Note>>,
    ended: Receiver<()>,
    troubles: Receiver<String>,
    wanted: Wanted,
    /// Since the last note that found room.
    missing: Counts,
    lost: Arc<Lost>,
}

/// Why there is no writer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration makes no medium.
    #[error(transparent)]
    Medium(#[from] ConfigError),
    /// A header could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The kernel gives no thread.
    #[error("cannot start the writer of record and event log")]
    Thread(#[source] std::io::Error),
}

impl Writer {
    /// Starts the thread if the setup wants files; `files` are theirs.
    ///
    /// # Errors
    /// A header that cannot be written, or a kernel that gives no thread.
    pub fn start(setup: &Setup, files: Vec<OwnedFd>) -> Result<Writer, StartError> {
        let known = setup.known()?;
        let header = &known.header;
        let (mut files, lost) = (files.into_iter().map(File::from), Arc::new(Lost::default()));
        let outputs = &setup.outputs;
        let mut file = |name: &Option<String>| name.clone().zip(files.next());
        let record = if outputs.record.is_some() { file(&outputs.record) } else { None };
        let events = if outputs.events.is_some() { file(&outputs.events) } else { None };
        let windows = outputs.windows.iter().zip(files);
        let windows = windows.map(|((kind, name), file)| kind.open(file, name.clone(), &known));
        let windows: Vec<Box<dyn Window>> = windows.collect::<Result<_, _>>()?;
        let (inputs, events_wanted) = (record.is_some().into(), events.is_some().into());
        let wanted = Wanted { inputs, events: events_wanted, windows: windows.len() as u64 };
        let (notes, waiting) = bounded(if wanted.files() > 0 { WAITING } else { 0 });
        let (end, ended) = bounded(1);
        let (trouble, troubles) = bounded(TROUBLES);
        let mut thread = Thread {
            record: record.map(|(name, file)| Recorder::from_file(file, name, header)).transpose()?,
            log: match events {
                Some((name, file)) => EventLog::from_file(file, name, header)?,
                None => EventLog::unwritten(header),
            },
            record_wanted: wanted.inputs > 0,
            log_wanted: wanted.events > 0,
            log_goes_on: wanted.events > 0,
            digest_is_whole: true,
            record_is_whole: true,
            windows,
            taken: Counts::default(),
            lost: lost.clone(),
            trouble,
        };
        if wanted.files() == 0 {
            return Ok(Writer { notes: None, ended, troubles, wanted, missing: Counts::default(), lost });
        }
        let write = move || {
            thread.run(&waiting);
            // Nobody waits any more, if this fails.
            let _ = end.send(());
        };
        threads::start("writer", write).map_err(StartError::Thread)?;
        Ok(Writer { notes: Some(notes), ended, troubles, wanted, missing: Counts::default(), lost })
    }

    /// Whether anything is written at all.
    fn wants_events(&self) -> bool {
        self.notes.is_some()
    }

    /// What went wrong with a file, each once.
    pub fn trouble(&self) -> Option<String> {
        self.troubles.try_recv().ok()
    }

    /// How many inputs and events are not in the files, and how many files are not whole.
    pub fn lost(&self) -> (u64, u64, u64) {
        let Lost { inputs, events, files } = &*self.lost;
        (inputs.load(Ordering::Relaxed), events.load(Ordering::Relaxed), files.load(Ordering::Relaxed))
    }

    /// Whether there was room for a note, and for what has been missing before it.
    fn note(&mut self, note: Note) -> bool {
        let Some(notes) = &self.notes else { return false };
        let Counts { inputs, events } = self.missing;
        if inputs + events > 0 {
            if notes.try_send(Note::Missing(self.missing)).is_err() {
                return false;
            }
            self.missing = Counts::default();
        }
        notes.try_send(note).is_ok()
    }
}

/// The coordinator is never stopped: what finds no room is counted.
impl Observer for Writer {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        let octets = octets.filter(|_| self.wanted.inputs + self.wanted.windows > 0).cloned();
        if self.wants_events() && !self.note(Note::Input { at, input: *input, octets }) {
            self.missing.inputs += 1;
            self.lost.inputs.fetch_add(self.wanted.inputs, Ordering::Relaxed);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        if self.wants_events() && !self.note(Note::Event(*event)) {
            self.missing.events += 1;
            self.lost.events.fetch_add(self.wanted.events, Ordering::Relaxed);
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Infallible> {
        if self.wanted.events + self.wanted.windows > 0 && !self.note(Note::Emulator(*event)) {
            self.missing.events += 1;
            self.lost.events.fetch_add(self.wanted.events, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A record that does not say where counting began anew cannot be replayed to the same results: it misses an input.
    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), Infallible> {
        if self.wanted.inputs > 0 && !self.note(Note::Restart { run_to, at }) {
            self.missing.inputs += 1;
            self.lost.inputs.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Finishes the files, and waits for that, though not for ever.
    fn end(&mut self, end: End) -> Result<(), Infallible> {
        let Some(notes) = self.notes.take() else { return Ok(()) };
        let deadline = Instant::now() + PATIENCE;
        let missing = std::mem::take(&mut self.missing);
        let told = notes.send_deadline(Note::Missing(missing), deadline).is_ok()
            && notes.send_deadline(Note::End(end), deadline).is_ok();
        drop(notes);
        if !told || self.ended.recv_deadline(deadline).is_err() {
            self.lost.files.store(self.wanted.files(), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// What the thread has.
#[derive(Debug)]
struct Thread {
    record: Option<Recorder>,
    log: EventLog,
    record_wanted: bool,
    log_wanted: bool,
    /// The log has all events so far, and takes more.
    log_goes_on: bool,
    digest_is_whole: bool,
    record_is_whole: bool,
    /// Those that can still be written. What they miss stands in them.
    windows: Vec<Box<dyn Window>>,
    /// What came here to be written.
    taken: Counts,
    lost: Arc<Lost>,
    trouble: Sender<String>,
}

impl Thread {
    fn run(&mut self, notes: &Receiver<Note>) {
        loop {
            match notes.try_recv() {
                Ok(Note::End(end)) => return self.finish(end),
                Ok(note) => self.take(note),
                Err(TryRecvError::Empty) => {
                    self.flush();
                    std::thread::sleep(PAUSE);
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Input { at, input, octets } => {
                self.taken.inputs += 1;
                if self.log_goes_on {
                    // An offered frame has no line of its own: its `offered` tells of it.
                    self.taken.events += u64::from(!matches!(input, Input::Offer { .. }));
                    let logged = Observer::input(&mut self.log, at, &input, octets.as_ref());
                    self.log_written(logged);
                }
                if self.record.is_none() {
                    self.lost.inputs.fetch_add(self.record_wanted.into(), Ordering::Relaxed);
                }
                let written = Observer::input(&mut self.record, at, &input, octets.as_ref());
                self.record_written(written);
                self.tell_windows(|window| window.input(at, &input, octets.as_ref()));
            }
            Note::Event(event) => {
                self.taken.events += 1;
                // The digest is kept even of what cannot be written.
                let written = Observer::event(&mut self.log, &event);
                self.event_written(written);
                self.tell_windows(|window| window.event(&event));
            }
            Note::Emulator(event) => {
                self.taken.events += 1;
                let written = Observer::emulator(&mut self.log, &event);
                self.event_written(written);
                self.tell_windows(|window| window.emulator(&event));
            }
            Note::Restart { run_to, at } => {
                let written = Observer::restart(&mut self.record, run_to, at);
                self.record_written(written);
                self.tell_windows(|window| window.restart(run_to, at));
            }
            Note::Missing(missing) => self.miss(missing),
            Note::End(_) => {}
        }
    }

    fn miss(&mut self, Counts { inputs, events }: Counts) {
        if inputs + events == 0 {
            return;
        }
        self.tell_windows(|window| window.missing(inputs, events));
        if let Some(record) = self.record.as_mut().filter(|_| inputs > 0) {
            let written = record.missing(inputs);
            self.record_written(written);
            if std::mem::take(&mut self.record_is_whole) {
                self.file_lost(
                    "the record misses inputs, since its disk is too slow: it cannot be replayed".to_owned(),
                );
            }
        }
        self.digest_is_whole &= events == 0;
        self.log.forget_inputs();
        if self.log_goes_on {
            // Better an end than a hole: a missing input is one, too, since it tells of faults, cuts and destinations.
            let ended = self.log.stop_writing();
            self.log_written(ended);
            if std::mem::take(&mut self.log_goes_on) {
                self.file_lost("the event log ends here, since its disk is too slow".to_owned());
            }
        }
    }

    fn flush(&mut self) {
        if let Some(record) = &mut self.record {
            let flushed = record.flush();
            self.record_written(flushed);
        }
        if self.log_goes_on {
            let flushed = self.log.flush();
            self.log_written(flushed);
        }
        self.tell_windows(|window| window.flush());
    }

    /// Tells every window; one that cannot be written any further is given up.
    fn tell_windows(&mut self, mut tell: impl FnMut(&mut dyn Window) -> Result<(), WriteError>) {
        let mut number = 0;
        while let Some(window) = self.windows.get_mut(number) {
            match tell(&mut **window) {
                Ok(()) => number += 1,
                Err(error) => {
                    self.windows.remove(number);
                    self.file_lost(told(&error));
                }
            }
        }
    }

    fn finish(&mut self, end: End) {
        self.tell_windows(|window| window.end(end));
        let ended = Observer::end(&mut self.log, end);
        if self.log_goes_on {
            self.log_written(ended);
        }
        if self.digest_is_whole
            && let Some(record) = &mut self.record
        {
            record.confirm(self.log.digest());
        }
        let ended = Observer::end(&mut self.record, end);
        self.record_written(ended);
    }

    /// A record that cannot be written any further is given up.
    fn record_written(&mut self, written: Result<(), WriteError>) {
        let Err(error) = written else { return };
        let kept = if let WriteError::Write { kept, .. } = error { kept } else { 0 };
        self.lost.inputs.fetch_add(self.taken.inputs.saturating_sub(kept), Ordering::Relaxed);
        self.record = None;
        if std::mem::take(&mut self.record_is_whole) {
            self.file_lost(told(&error));
        }
    }

    fn event_written(&mut self, written: Result<(), WriteError>) {
        if self.log_goes_on {
            self.log_written(written);
        } else if self.log_wanted {
            self.lost.events.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn log_written(&mut self, written: Result<(), WriteError>) {
        let Err(error) = written else { return };
        let kept = if let WriteError::Write { kept, .. } = error { kept } else { 0 };
        self.lost.events.fetch_add(self.taken.events.saturating_sub(kept), Ordering::Relaxed);
        self.log_goes_on = false;
        self.file_lost(told(&error));
    }

    fn file_lost(&self, what: String) {
        self.lost.files.fetch_add(1, Ordering::Relaxed);
        // There is room for as much as can go wrong.
        let _ = self.trouble.try_send(what);
    }
}

/// An error with its cause.
fn told(error: &WriteError) -> String {
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    // A file's name may have anything in it, and this is to be one line of a terminal.
    format!("{error}{cause}").replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitRate, Config, FrameId, Kind, StationId, Topology};
    use sim::files::event_log::Header;

    /// A log that misses an event has none of those after it: it is whole up to its end.
    #[test]
    fn a_log_ends_before_the_first_event_that_it_misses() {
        let (folder, station) = (tempfile::tempdir().expect("a folder"), StationId::new(0));
        let path = folder.path().join("events");
        let names = ["st1", "st2"].map(str::to_owned);
        let header = Header::new("lab", &Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1), &names);
        let (trouble, troubles) = bounded(TROUBLES);
        let mut thread = Thread {
            record: None,
            record_wanted: false,
            log: EventLog::create(&path, &[], &header).expect("own folder"),
            log_wanted: true,
            log_goes_on: true,
            digest_is_whole: true,
            record_is_whole: true,
            windows: Vec::new(),
            taken: Counts::default(),
            lost: Arc::default(),
            trouble,
        };
        let frame = FrameId { station, serial: 1 };
        let event = Event { at: BitInstant::ZERO, station, frame, kind: Kind::QueueDrop };
        thread.take(Note::Event(event));
        thread.take(Note::Missing(Counts { inputs: 0, events: 1 }));
        (0..3).for_each(|_| thread.take(Note::Event(event)));
        thread.finish(End { run_to: 0, t: 0 });
        drop(thread);
        let lines = std::fs::read_to_string(&path).expect("own folder").lines().count();
        assert_eq!(lines, 2, "a header and the event before the hole");
        assert_eq!(troubles.try_recv().expect("it is told"), "the event log ends here, since its disk is too slow");
    }
}
