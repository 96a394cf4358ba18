//! A pen in a thread of its own, so that a run in virtual time and the lines about it are made side by side.
//!
//! ```text
//!   run ──batches of events and inputs──► this thread ──lines──► file
//!     ◄────── empty batches, and how far it got ──────┘
//! ```
//! A few batches go round, so memory is bounded, and a run waits if the file is slower.

use super::Digest;
use super::pen::Pen;
use crate::files::json_lines::WriteError;
use medium::{BitInstant, Event, Input};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Events and inputs in a batch: few enough to stay in a processor's cache.
const BATCH: usize = 1 << 11;
/// Batches that go round.
const BATCHES: usize = 4;

#[derive(Debug)]
enum Note {
    Event(Event),
    Input(BitInstant, Input),
}

/// What the thread is to do after a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    GoOn,
    Flush,
    Finish,
}

/// A batch that came back.
#[derive(Debug)]
struct Done {
    empty: Vec<Note>,
    written: Result<(), WriteError>,
    /// After a flush.
    digest: Option<Digest>,
}

#[derive(Debug)]
pub(super) struct PenThread {
    batch: Vec<Note>,
    spare: Vec<Vec<Note>>,
    /// Batches that the thread has.
    out: usize,
    work: Option<Sender<(Vec<Note>, Then)>>,
    done: Receiver<Done>,
    digest: Digest,
    thread: Option<JoinHandle<()>>,
}

impl PenThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The pen, if the system gives no thread.
    pub fn start(pen: Box<Pen>) -> Result<PenThread, Box<Pen>> {
        let (work, batches) = channel::<(Vec<Note>, Then)>();
        let (back, done) = channel();
        let (give_pen, take_pen) = channel::<Box<Pen>>();
        let write = move || {
            let Ok(mut pen) = take_pen.recv() else { return };
            for (batch, then) in batches {
                if back.send(write_batch(&mut pen, batch, then)).is_err() {
                    return;
                }
            }
        };
        let Ok(thread) = Builder::new().name("event log".to_owned()).spawn(write) else { return Err(pen) };
        let digest = pen.digest();
        give_pen.send(pen).expect("the thread waits for its pen");
        let empty = || Vec::with_capacity(BATCH);
        Ok(PenThread {
            batch: empty(),
            spare: (1..BATCHES).map(|_| empty()).collect(),
            out: 0,
            work: Some(work),
            done,
            digest,
            thread: Some(thread),
        })
    }

    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.batch.push(Note::Event(*event));
        if self.batch.len() >= BATCH { self.hand_over(Then::GoOn) } else { Ok(()) }
    }

    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input) -> Result<(), WriteError> {
        self.batch.push(Note::Input(at, *input));
        if self.batch.len() >= BATCH { self.hand_over(Then::GoOn) } else { Ok(()) }
    }

    /// Waits until everything so far has been handed to the kernel, with what no event followed if this is the `end`.
    pub fn flush(&mut self, end: bool) -> Result<(), WriteError> {
        let mut written = self.hand_over(if end { Then::Finish } else { Then::Flush });
        while self.out > 0 {
            written = written.and(self.take_back());
        }
        written
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

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
        self.digest = done.digest.unwrap_or(self.digest);
        done.written
    }
}

impl Drop for PenThread {
    fn drop(&mut self) {
        // Whoever wanted to know has flushed.
        let _ = self.flush(true);
        self.work = None;
        self.thread.take().map(JoinHandle::join);
    }
}

fn write_batch(pen: &mut Pen, mut batch: Vec<Note>, then: Then) -> Done {
    let mut written = Ok(());
    for note in batch.drain(..) {
        match note {
            Note::Event(event) => {
                if let Err(error) = pen.event(&event) {
                    written = written.and(Err(error));
                }
            }
            Note::Input(at, input) => pen.input(at, &input),
        }
    }
    let digest = match then {
        Then::GoOn => return Done { empty: batch, written, digest: None },
        Then::Flush => pen.flush(),
        Then::Finish => pen.finish(),
    };
    Done { empty: batch, written: written.and(digest), digest: Some(pen.digest()) }
}
