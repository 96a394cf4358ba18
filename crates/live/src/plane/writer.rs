//! The thread that writes traces and files for other tools. The coordinator never waits for it.
//!
//! ```text
//!   coordinator ──batches of notes, as many as there is room for──► this thread ──whole lines──► files
//!        │ ◄──────────────────── empty batches ──────────────────────────┘
//!        └── notes without room are counted; the count goes with the next note that has room
//! ```
//! It looks for batches now and then, so that the coordinator need not wake it. Notes go in batches, and each file takes
//! a whole batch, since a bus that is full has a note every ten microseconds.
//!
//! One file above 500 lines because the two ends of one queue are together.

pub mod captures;
mod keep;
mod notes;
mod trouble;
mod wanted;

use super::protocol::Setup;
use super::reporter::Report;
use super::threads;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use keep::Keep;
use medium::{BitInstant, BitRate, ConfigError, Deed, Event, Input, StationId};
use notes::{Counts, Note, tell};
use sim::figures::results::ObserverResults;
use sim::files::event_log::{EmulatorEvent, EventLog, Level};
use sim::files::json_lines::WriteError;
use sim::files::observer::{End, Observer};
use sim::windows::{Known, Window};
use std::convert::Infallible;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trouble::{plain, tell_trouble, told};
use wanted::{Files, Wanted};

/// Notes in a batch.
const BATCH: usize = 1 << 8;
/// Batches that may wait to be written, for each 10 Mb/s: those of half a second with the shortest frames.
const WAITING: u64 = 1 << 8;
/// The most batches that wait: those of 100 Mb/s, some 60 MB.
const MOST_WAITING: u64 = 10 * WAITING;
/// Why a file misses something that the thread never had.
const BEHIND: &str = "the files are written more slowly than the bus goes";
/// How long notes wait until a batch is full, in nanoseconds.
const OLDEST: u64 = 5_000_000;
/// How often the thread looks for batches when there were none.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the files may take to be finished: the writer waits no longer for a disk, or for a pipe without a reader.
const PATIENCE: Duration = Duration::from_secs(4);

/// Sentences that wait for the coordinator: each file has two at most, that it misses something and that it ended.
const TROUBLES: usize = 16;

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
    /// Since the last note that found room.
    missing: Counts,
    /// Joins that found none: no file can go on without them, so they come before the next note.
    joins: Vec<(BitInstant, Input)>,
    files: Arc<Files>,
}

/// The far ends of a writer's channels, which its thread has.
#[derive(Debug)]
struct Ends {
    waiting: Receiver<Vec<Note>>,
    give_back: Sender<Vec<Note>>,
    /// Closed when the thread is done.
    ended: Sender<()>,
    trouble: Sender<String>,
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
    /// The last seconds cannot be kept.
    #[error(transparent)]
    Keep(#[from] keep::StartError),
    /// The kernel gives no thread.
    #[error("cannot start the writer of traces")]
    Thread(#[source] std::io::Error),
}

impl Writer {
    /// Starts the thread if the setup wants files of the bus that is `known`; `files` are theirs.
    ///
    /// # Errors
    /// A header that cannot be written, or a kernel that gives no thread.
    pub fn start(
        setup: &Setup,
        known: &Known,
        mut files: Vec<OwnedFd>,
        reports: &Sender<Report>,
    ) -> Result<Writer, StartError> {
        let header = &known.header;
        let outputs = &setup.outputs;
        let outbox = outputs.keep.as_ref().and_then(|keep| Some((keep, files.pop()?)));
        let (mut descriptors, files) = (files.into_iter().map(File::from), Arc::new(Files::of(outputs)));
        let traces = outputs.traces.iter().zip(descriptors.by_ref());
        let traces = traces.map(|((level, name), file)| {
            Ok(EventLog::from_file(file, name.clone(), &header.clone().at_level(*level))?.of_a_run())
        });
        let traces = traces.map(|log| log.map(Trace::of)).collect::<Result<_, WriteError>>()?;
        let windows = outputs.windows.iter().zip(descriptors);
        let windows = windows.map(|((kind, name), file)| kind.open(file, name.clone(), known));
        let windows: Vec<Box<dyn Window>> = windows.collect::<Result<_, _>>()?;
        let (mut writer, ends) = Writer::of(files.clone(), waiting(header.configuration.rate()));
        let Ends { waiting, give_back, ended, trouble } = ends;
        let keep = outbox.map(|(wanted, outbox)| {
            Keep::start(setup, wanted, outbox.into(), header.clone(), reports.clone(), files.keeps_missed.clone())
        });
        let keep = keep.transpose()?;
        let windows = windows.into_iter().map(Some).collect();
        let mut thread = Thread { keep, traces, windows, files, trouble };
        if writer.files.all().next().is_none() && thread.keep.is_none() {
            writer.batches = None;
            return Ok(writer);
        }
        let write = move || {
            thread.run(&waiting, &give_back);
            drop(ended);
        };
        threads::start("writer", write).map_err(StartError::Thread)?;
        writer.batch.reserve(BATCH);
        Ok(writer)
    }

    /// A writer of `files`, and what its thread needs.
    fn of(files: Arc<Files>, most_waiting: usize) -> (Writer, Ends) {
        let (batches, waiting) = bounded(most_waiting);
        let (give_back, empty) = bounded(most_waiting);
        let ((end, ended), (trouble, troubles)) = (bounded(0), bounded(TROUBLES));
        let (batch, missing) = (Vec::new(), Counts::default());
        let joins = Vec::new();
        let writer = Writer { batches: Some(batches), empty, batch, due: None, ended, troubles, missing, joins, files };
        (writer, Ends { waiting, give_back, ended: end, trouble })
    }

    /// Whether anything is written at all.
    fn wants_events(&self) -> bool {
        self.batches.is_some()
    }

    /// What went wrong with a file, each once.
    pub fn trouble(&self) -> Option<String> {
        self.troubles.try_recv().ok()
    }

    /// What is not in the files.
    pub fn lost(&self) -> ObserverResults {
        self.files.results()
    }

    /// Has the last seconds up to `at` written; whether there was room to say so.
    pub fn keep(&mut self, at: BitInstant) -> bool {
        self.wants_events() && self.note(Note::Keep(at)) && self.hand_over()
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

    /// Whether half of the room for notes is taken.
    fn is_behind(&self) -> bool {
        let batches = self.batches.as_ref();
        batches.is_some_and(|batches| batches.len() * 2 >= batches.capacity().unwrap_or(usize::MAX))
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
        let joins = self.joins.drain(..).map(|(at, input)| Note::Input { at, input, octets: None });
        self.batch.extend(joins);
        self.batch.push(note);
        true
    }

    /// There was no room.
    fn miss(&mut self, count: Counts) {
        self.missing.inputs += count.inputs;
        self.missing.events += count.events;
        self.files.miss(count);
    }

    /// Hands over what there is, and that this is all.
    fn begin_end(&mut self, end: End, deadline: Instant) {
        let Some(batches) = self.batches.take() else { return };
        let missing = std::mem::take(&mut self.missing);
        self.batch.extend([Note::Missing(missing), Note::End(end)]);
        // A full channel is no error here: a thread that slow does not end in time either.
        let _ = batches.send_deadline(std::mem::take(&mut self.batch), deadline);
    }

    /// A station offers something else from now on. The frames that it offers are inputs, so a trace that misses this can
    /// be replayed all the same.
    pub fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) {
        if self.files.have_inputs() && !self.note(Note::Traffic { at, station, arrivals: arrivals.into() }) {
            self.miss(Counts { inputs: 0, events: 1 });
        }
    }

    fn wait_for_end(&mut self, deadline: Instant) {
        if self.ended.recv_deadline(deadline) == Err(RecvTimeoutError::Timeout) {
            self.files.all().for_each(Wanted::ends_early);
        }
    }

    /// Whether there was room for the batch.
    fn hand_over(&mut self) -> bool {
        let Some(batches) = self.batches.as_ref().filter(|batches| !batches.is_full()) else { return false };
        let empty = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH + 1));
        self.due = None;
        batches.try_send(std::mem::replace(&mut self.batch, empty)).is_ok()
    }
}

/// How many batches may wait on this bus.
fn waiting(rate: BitRate) -> usize {
    let rate = rate.get().div_ceil(BitRate::MBIT_10.get());
    (WAITING * rate).min(MOST_WAITING) as usize
}

/// The coordinator is never stopped: what finds no room is counted.
impl Observer for Writer {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        let octets = octets.filter(|_| self.files.have_inputs() || !self.files.windows.is_empty()).cloned();
        if self.wants_events() && !self.note(Note::Input { at, input: *input, octets }) {
            if let Input::Deed(Deed::Add { .. }) = input {
                self.joins.push((at, *input));
                return Ok(());
            }
            self.miss(Counts { inputs: 1, events: 0 });
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        if self.wants_events() && !self.note(Note::Event(*event)) {
            self.miss(Counts { inputs: 0, events: 1 });
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Infallible> {
        let wanted = self.files.have_events() || !self.files.windows.is_empty() || self.files.keeps;
        if wanted && !self.note(Note::Emulator(event.clone())) {
            self.miss(Counts { inputs: 0, events: 1 });
        }
        Ok(())
    }

    /// A trace that does not say where counting began anew cannot be replayed to the same results: it misses an input.
    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), Infallible> {
        if self.files.have_inputs() && !self.note(Note::Restart { run_to, at }) {
            self.miss(Counts { inputs: 1, events: 0 });
        }
        Ok(())
    }

    /// Finishes the files, and waits for that, though not for ever.
    fn end(&mut self, end: End) -> Result<(), Infallible> {
        let deadline = Instant::now() + PATIENCE;
        self.begin_end(end, deadline);
        self.wait_for_end(deadline);
        Ok(())
    }
}

/// What the thread has.
#[derive(Debug)]
struct Thread {
    /// The last seconds, if they are kept.
    keep: Option<Keep>,
    traces: Vec<Trace>,
    /// The windows that can still be written, each at its index. Each has a row for what it misses.
    windows: Vec<Option<Box<dyn Window>>>,
    files: Arc<Files>,
    trouble: Sender<String>,
}

/// A trace, while it can be written, and how many rows of it came here.
#[derive(Debug)]
struct Trace {
    log: Option<EventLog>,
    taken: u64,
}

impl Trace {
    /// One of which nothing has come.
    fn of(log: EventLog) -> Trace {
        Trace { log: Some(log), taken: 0 }
    }
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
                    self.keep.iter_mut().for_each(Keep::look);
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
        if let Some(keep) = &mut self.keep {
            batch.iter().for_each(|note| keep.note(note));
            keep.look();
        }
        for note in batch {
            match note {
                Note::Input { at, input, octets } => {
                    // At the level of events an offered frame has no row: its `offered` has the same facts.
                    let is_offer = matches!(input, Input::Offer { .. });
                    let rows = |level| u64::from(level != Level::Events || !is_offer);
                    self.tell_traces(rows, |log| log.input(*at, input, octets.as_ref()));
                }
                Note::Event(event) => {
                    self.tell_traces(|level| level.has_events().into(), |log| Observer::event(log, event));
                }
                Note::Emulator(event) => {
                    self.tell_traces(|level| level.has_events().into(), |log| Observer::emulator(log, event));
                }
                Note::Restart { run_to, at } => self.tell_traces(|_| 0, |log| log.restart(*run_to, *at)),
                Note::Traffic { at, station, arrivals } => {
                    self.tell_traces(|_| 0, |log| log.traffic(*at, *station, arrivals));
                }
                Note::Held(..) => {}
                Note::Missing(missing) => self.miss(*missing),
                Note::Keep(_) => {}
                Note::End(end) => over = Some(*end),
            }
        }
        let lost = batch.iter().filter(|note| matches!(note, Note::Input { .. } | Note::Event(_) | Note::Emulator(_)));
        let lost = lost.count() as u64;
        self.tell_windows(lost, |window| batch.iter().try_for_each(|note| tell(window, note)));
        over
    }

    fn miss(&mut self, Counts { inputs, events }: Counts) {
        if inputs + events == 0 {
            return;
        }
        for (trace, (level, wanted)) in self.traces.iter_mut().zip(&self.files.traces) {
            let Some(log) = &mut trace.log else { continue };
            // It ends rather than has a hole. A missing input is a hole of any level, because inputs are faults, cuts and
            // destinations.
            match log.miss(inputs, BEHIND) {
                Ok(false) => {}
                Ok(true) => {
                    trace.log = None;
                    wanted.ends_early();
                    let so = if level.has_inputs() { ": it cannot be replayed" } else { "" };
                    tell_trouble(&self.trouble, plain(&format!("{} ends here, since {BEHIND}{so}", wanted.name)));
                }
                Err(error) => give_up(trace, wanted, &error, &self.trouble),
            }
        }
        self.tell_once(self.files.windows.iter(), |name| {
            format!("{name} misses what happened just now, since {BEHIND}; it says where")
        });
    }

    fn flush(&mut self) {
        self.tell_traces(|_| 0, Observer::flush);
        self.tell_windows(0, |window| window.flush());
    }

    /// Tells every window; one that cannot be written any further is given up, and misses at least `lost` notes.
    fn tell_windows(&mut self, lost: u64, mut tell: impl FnMut(&mut dyn Window) -> Result<(), WriteError>) {
        for (place, wanted) in self.windows.iter_mut().zip(&self.files.windows) {
            let Some(window) = place else {
                wanted.misses(lost);
                continue;
            };
            if let Err(error) = tell(&mut **window) {
                *place = None;
                wanted.misses(lost);
                wanted.ends_early();
                tell_trouble(&self.trouble, told(&error));
            }
        }
    }

    fn finish(&mut self, end: End) {
        self.keep.iter_mut().for_each(Keep::end);
        self.tell_windows(0, |window| window.end(end));
        self.tell_traces(|_| 0, |log| Observer::end(log, end));
    }

    /// Tells every trace something, which takes this number of its rows; one that cannot be written any further is given up.
    fn tell_traces(
        &mut self,
        rows: impl Fn(Level) -> u64,
        mut tell: impl FnMut(&mut EventLog) -> Result<(), WriteError>,
    ) {
        for (trace, (level, wanted)) in self.traces.iter_mut().zip(&self.files.traces) {
            trace.taken += rows(*level);
            match trace.log.as_mut().map(&mut tell) {
                None => wanted.misses(rows(*level)),
                Some(Ok(())) => {}
                Some(Err(error)) => give_up(trace, wanted, &error, &self.trouble),
            }
        }
    }

    /// Says of each file once that it misses something.
    fn tell_once<'a>(&self, files: impl Iterator<Item = &'a Wanted>, words: impl Fn(&str) -> String) {
        for wanted in files {
            wanted.ends_early();
            if wanted.is_news() {
                tell_trouble(&self.trouble, plain(&words(&wanted.name)));
            }
        }
    }
}

/// A trace ends that cannot be written any further.
fn give_up(trace: &mut Trace, wanted: &Wanted, error: &WriteError, trouble: &Sender<String>) {
    let kept = if let WriteError::Write { kept, .. } = error { *kept } else { 0 };
    trace.log = None;
    wanted.misses(trace.taken.saturating_sub(kept));
    wanted.ends_early();
    tell_trouble(trouble, told(error));
}

#[cfg(test)]
mod tests;
