//! Work on a run's events in a thread of its own, so that a run in virtual time and what is made of it go side by side.
//!
//! ```text
//!   run ──batches of events and inputs──► this thread ──lines, blocks──► file
//!     ◄────── empty batches, and how far it got ──────┘
//! ```
//! A few batches go round, so memory is bounded, and a run waits if the file is slower.

use crate::files::json_lines::WriteError;
use crate::files::observer::{End, Observer};
use crate::files::programs::Call;
use medium::{BitInstant, Event, Input, StationId};
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Events and inputs in a batch: few enough to stay in a processor's cache.
const BATCH: usize = 1 << 11;
/// Batches that go round.
const BATCHES: usize = 4;

/// Who makes something of events and inputs.
pub(crate) trait Worker: Send + 'static {
    /// What is known after a flush.
    type Told: Copy + Send + fmt::Debug;

    /// Takes a batch, the whole of it even where nothing can be written any more.
    fn take(&mut self, batch: &Batch) -> Result<(), WriteError>;
    /// Hands everything so far to the kernel.
    fn flush(&mut self) -> Result<(), WriteError>;
    /// Nothing comes any more; how the run ended, if it did.
    fn finish(&mut self, end: Option<End>) -> Result<(), WriteError>;
    /// What is known so far.
    fn told(&self) -> Self::Told;
}

/// What a run has handed over, in order.
#[derive(Debug)]
pub struct Batch {
    /// What happened.
    events: Vec<Event>,
    /// What else a run has notes of, each with the number of events before it.
    others: Vec<(usize, Note)>,
}

impl Batch {
    fn new() -> Batch {
        Batch { events: Vec::with_capacity(BATCH), others: Vec::new() }
    }

    fn clear(&mut self) {
        self.events.clear();
        self.others.clear();
    }
}

/// What is no event.
#[derive(Debug)]
enum Note {
    /// What the medium was given, and when.
    Input(BitInstant, Input),
    /// The octets of the input that comes next.
    Octets(Arc<[u8]>),
    /// What a station gets from outside; rare.
    Call(BitInstant, StationId, Box<Call>),
    /// What a station offers from now on.
    Traffic(BitInstant, StationId, Box<str>),
    /// Where results count from zero, and up to where everything has been run.
    Restart(BitInstant, BitInstant),
}

/// Has `observer` take a batch, the whole of it, and gives the first error.
#[inline]
pub fn take_each<O: Observer>(observer: &mut O, batch: &Batch) -> Result<(), O::Error> {
    let (mut failed, mut octets) = (None, None);
    let mut keep = |taken: Result<(), O::Error>| {
        if let Err(error) = taken {
            failed.get_or_insert(error);
        }
    };
    let mut others = batch.others.iter();
    let mut next = others.next();
    for place in 0..=batch.events.len() {
        while let Some((_, note)) = next.filter(|(before, _)| *before == place) {
            keep(take_note(observer, note, &mut octets));
            next = others.next();
        }
        if let Some(event) = batch.events.get(place) {
            keep(observer.event(event));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// `octets` are those of the input that comes next.
fn take_note<'a, O: Observer>(
    observer: &mut O,
    note: &'a Note,
    octets: &mut Option<&'a Arc<[u8]>>,
) -> Result<(), O::Error> {
    match note {
        Note::Input(at, input) => observer.input(*at, input, octets.take()),
        Note::Octets(own) => {
            *octets = Some(own);
            Ok(())
        }
        Note::Call(at, station, call) => observer.call(*at, *station, call),
        Note::Traffic(at, station, arrivals) => observer.traffic(*at, *station, arrivals),
        Note::Restart(run_to, at) => observer.restart(*run_to, *at),
    }
}

/// What the thread is to do after a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    GoOn,
    Flush,
    Finish(Option<End>),
}

/// A batch that came back.
#[derive(Debug)]
struct Done<T> {
    empty: Batch,
    written: Result<(), WriteError>,
    /// After a flush.
    told: Option<T>,
}

/// The run's end of a thread with a worker.
#[derive(Debug)]
pub(crate) struct Beside<W: Worker> {
    batch: Batch,
    spare: Vec<Batch>,
    /// Batches that the thread has.
    out: usize,
    work: Option<Sender<(Batch, Then)>>,
    done: Receiver<Done<W::Told>>,
    told: W::Told,
    thread: Option<JoinHandle<()>>,
}

impl<W: Worker> Beside<W> {
    /// Starts the thread `name`.
    ///
    /// # Errors
    /// The worker, if the system gives no thread.
    pub fn start(name: &str, worker: Box<W>) -> Result<Beside<W>, Box<W>> {
        let (work, batches) = channel::<(Batch, Then)>();
        let (back, done) = channel();
        let (give_worker, take_worker) = channel::<Box<W>>();
        let write = move || {
            let Ok(mut worker) = take_worker.recv() else { return };
            for (batch, then) in batches {
                if back.send(work_through(&mut *worker, batch, then)).is_err() {
                    return;
                }
            }
        };
        let Ok(thread) = Builder::new().name(name.to_owned()).spawn(write) else { return Err(worker) };
        let told = worker.told();
        let sent = give_worker.send(worker);
        assert!(sent.is_ok(), "the thread waits for its worker");
        Ok(Beside {
            batch: Batch::new(),
            spare: (1..BATCHES).map(|_| Batch::new()).collect(),
            out: 0,
            work: Some(work),
            done,
            told,
            thread: Some(thread),
        })
    }

    /// One event more.
    // Inlined, it stores the event where it is known, and is a few instructions.
    #[inline(always)]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.batch.events.push(*event);
        if self.batch.events.len() >= BATCH { self.hand_over(Then::GoOn) } else { Ok(()) }
    }

    /// One input more.
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        // In the batch of its input.
        let octets = octets.map(|octets| (self.batch.events.len(), Note::Octets(octets.clone())));
        self.batch.others.extend(octets);
        self.note(Note::Input(at, *input))
    }

    /// A station gets something from outside.
    pub fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        self.note(Note::Call(at, station, Box::new(call.clone())))
    }

    /// A station offers something else.
    pub fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), WriteError> {
        self.note(Note::Traffic(at, station, arrivals.into()))
    }

    /// Results count from zero.
    pub fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        self.note(Note::Restart(run_to, at))
    }

    /// Waits until everything so far has been handed to the kernel.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.wait(Then::Flush)
    }

    /// The same at the end, with the inputs after the last event.
    pub fn finish(&mut self, end: Option<End>) -> Result<(), WriteError> {
        self.wait(Then::Finish(end))
    }

    fn wait(&mut self, then: Then) -> Result<(), WriteError> {
        let mut written = self.hand_over(then);
        while self.out > 0 {
            written = written.and(self.take_back());
        }
        written
    }

    /// What was known at the last flush.
    pub fn told(&self) -> W::Told {
        self.told
    }

    #[inline]
    fn note(&mut self, note: Note) -> Result<(), WriteError> {
        self.batch.others.push((self.batch.events.len(), note));
        if self.batch.others.len() >= BATCH { self.hand_over(Then::GoOn) } else { Ok(()) }
    }

    #[cold]
    fn hand_over(&mut self, then: Then) -> Result<(), WriteError> {
        let mut written = Ok(());
        while self.spare.is_empty() {
            written = written.and(self.take_back());
        }
        let spare = self.spare.pop().expect("a batch has come back");
        let batch = std::mem::replace(&mut self.batch, spare);
        let work = self.work.as_ref().expect("the thread ends with this");
        work.send((batch, then)).expect("the thread waits for batches: it ends when none can come");
        self.out += 1;
        written
    }

    fn take_back(&mut self) -> Result<(), WriteError> {
        let done = self.done.recv().expect("the thread gives back what it has");
        self.out -= 1;
        self.spare.push(done.empty);
        self.told = done.told.unwrap_or(self.told);
        done.written
    }
}

impl<W: Worker> Drop for Beside<W> {
    fn drop(&mut self) {
        // A run that ended well has finished.
        let _ = self.flush();
        self.work = None;
        self.thread.take().map(JoinHandle::join);
    }
}

fn work_through<W: Worker>(worker: &mut W, mut batch: Batch, then: Then) -> Done<W::Told> {
    let written = worker.take(&batch);
    batch.clear();
    let flushed = match then {
        Then::GoOn => return Done { empty: batch, written, told: None },
        Then::Flush => worker.flush(),
        Then::Finish(end) => worker.finish(end),
    };
    Done { empty: batch, written: written.and(flushed), told: Some(worker.told()) }
}
