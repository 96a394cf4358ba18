//! The thread that writes the record, the event log, and files for other tools. The coordinator never waits for it.
//!
//! ```text
//!   coordinator ──batches of notes, as many as there is room for──► this thread ──whole lines──► files
//!        │ ◄──────────────────── empty batches ──────────────────────────┘
//!        └── what found no room is counted, and told with the next note that does
//! ```
//! It looks for batches now and then, so that the coordinator need not wake it. Notes go in batches, and each file takes
//! a whole batch, since a bus that is full has a note every ten microseconds.

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

/// Notes in a batch.
const BATCH: usize = 1 << 8;
/// Batches that may wait to be written: those of half a second at 10 Mb/s with the shortest frames.
const WAITING: usize = 1 << 8;
/// How long notes wait until a batch is full, in nanoseconds.
const OLDEST: u64 = 5_000_000;
/// How often the thread looks for batches when there were none.
const PAUSE: Duration = Duration::from_millis(20);
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
    batches: Option<Sender<Vec<Note>>>,
    /// Batches that have been written, to be used again.
    empty: Receiver<Vec<Note>>,
    /// What has not been handed over, and until when it may wait.
    batch: Vec<Note>,
    due: Option<u64>,
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
        let (batches, waiting) = bounded(WAITING);
        let (give_back, empty) = bounded(WAITING);
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
        let (batch, missing) = (Vec::new(), Counts::default());
        let mut writer = Writer { batches: None, empty, batch, due: None, ended, troubles, wanted, missing, lost };
        if wanted.files() == 0 {
            return Ok(writer);
        }
        let write = move || {
            thread.run(&waiting, &give_back);
            // Nobody waits any more, if this fails.
            let _ = end.send(());
        };
        threads::start("writer", write).map_err(StartError::Thread)?;
        writer.batches = Some(batches);
        writer.batch.reserve(BATCH);
        Ok(writer)
    }

    /// Whether anything is written at all.
    fn wants_events(&self) -> bool {
        self.batches.is_some()
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

    /// Hands over at `now`, in nanoseconds, what has waited long enough.
    pub fn look(&mut self, now: u64) {
        if self.batch.is_empty() {
            return;
        }
        if *self.due.get_or_insert(now + OLDEST) <= now {
            self.hand_over();
        }
    }

    /// Whether there was room for a note, and for what has been missing before it.
    fn note(&mut self, note: Note) -> bool {
        if self.batch.len() >= BATCH && !self.hand_over() {
            return false;
        }
        let missing = std::mem::take(&mut self.missing);
        if missing.inputs + missing.events > 0 {
            self.batch.push(Note::Missing(missing));
        }
        self.batch.push(note);
        true
    }

    /// Whether there was room for the batch.
    fn hand_over(&mut self) -> bool {
        let Some(batches) = self.batches.as_ref().filter(|batches| !batches.is_full()) else { return false };
        let empty = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH + 1));
        self.due = None;
        batches.try_send(std::mem::replace(&mut self.batch, empty)).is_ok()
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
        let Some(batches) = self.batches.take() else { return Ok(()) };
        let deadline = Instant::now() + PATIENCE;
        let missing = std::mem::take(&mut self.missing);
        self.batch.extend([Note::Missing(missing), Note::End(end)]);
        let told = batches.send_deadline(std::mem::take(&mut self.batch), deadline).is_ok();
        drop(batches);
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
    fn run(&mut self, batches: &Receiver<Vec<Note>>, give_back: &Sender<Vec<Note>>) {
        loop {
            match batches.try_recv() {
                Ok(mut batch) => {
                    if let Some(end) = self.take(&batch) {
                        return self.finish(end);
                    }
                    batch.clear();
                    // As many come back as went out.
                    let _ = give_back.try_send(batch);
                }
                Err(TryRecvError::Empty) => {
                    self.flush();
                    std::thread::sleep(PAUSE);
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Has every file take a batch; gives the end if the run is over.
    fn take(&mut self, batch: &[Note]) -> Option<End> {
        let mut over = None;
        for note in batch {
            match note {
                Note::Input { at, input, octets } => self.input(*at, input, octets.as_ref()),
                Note::Event(event) => {
                    self.taken.events += 1;
                    // The digest is kept even of what cannot be written.
                    let written = Observer::event(&mut self.log, event);
                    self.event_written(written);
                }
                Note::Emulator(event) => {
                    self.taken.events += 1;
                    let written = Observer::emulator(&mut self.log, event);
                    self.event_written(written);
                }
                Note::Restart { run_to, at } => {
                    let written = Observer::restart(&mut self.record, *run_to, *at);
                    self.record_written(written);
                }
                Note::Missing(missing) => self.miss(*missing),
                Note::End(end) => over = Some(*end),
            }
        }
        self.tell_windows(|window| batch.iter().try_for_each(|note| tell(window, note)));
        over
    }

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) {
        self.taken.inputs += 1;
        if self.log_goes_on {
            // An offered frame has no line of its own: its `offered` tells of it.
            self.taken.events += u64::from(!matches!(input, Input::Offer { .. }));
            let logged = Observer::input(&mut self.log, at, input, octets);
            self.log_written(logged);
        }
        if self.record.is_none() {
            self.lost.inputs.fetch_add(self.record_wanted.into(), Ordering::Relaxed);
        }
        let written = Observer::input(&mut self.record, at, input, octets);
        self.record_written(written);
    }

    fn miss(&mut self, Counts { inputs, events }: Counts) {
        if inputs + events == 0 {
            return;
        }
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

/// Tells a window a note. The end comes after what it was told of.
fn tell(window: &mut dyn Window, note: &Note) -> Result<(), WriteError> {
    match note {
        Note::Input { at, input, octets } => window.input(*at, input, octets.as_ref()),
        Note::Event(event) => window.event(event),
        Note::Emulator(event) => window.emulator(event),
        Note::Restart { run_to, at } => window.restart(*run_to, *at),
        Note::Missing(Counts { inputs: 0, events: 0 }) | Note::End(_) => Ok(()),
        Note::Missing(Counts { inputs, events }) => window.missing(*inputs, *events),
    }
}

/// An error with its cause.
fn told(error: &WriteError) -> String {
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    // A file's name may have anything in it, and this is to be one line of a terminal.
    format!("{error}{cause}").replace(char::is_control, "?")
}

#[cfg(test)]
mod tests;
