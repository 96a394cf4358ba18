//! The last seconds of the bus: the writer's thread keeps them, and a thread of their own writes them when something
//! fires.
//!
//! ```text
//!   writer's thread ──ring──► when it fires, and a little later ──► this thread ──trace──► outbox ──► supervisor
//! ```
//! The data plane opens no file. It writes each trace into one file that it shares with the supervisor, the outbox. The
//! supervisor copies the trace to a file of its own and empties the outbox.

use super::super::protocol::{KeepSetup, Kept as KeptTold, Setup, Told};
use super::super::reporter::Report;
use super::super::threads;
use super::{Counts, Note};
use crossbeam_channel::{Receiver, Sender, bounded};
use medium::{BitInstant, ConfigError};
use sim::files::event_log::Header;
use sim::files::keep::{Fact, Kept, Ring, Room, Triggers};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Files that triggers write, of one lab.
const MOST_FILES: u32 = 20;
/// A trigger's trace is written this part of its span later, so that the trace has what followed.
const AFTERWARDS: u32 = 10;
/// How long the supervisor may take to empty the outbox.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often that is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Why a trace is not written.
const BUSY: &str = "the one before is still being written: try again";

/// See the module.
#[derive(Debug)]
pub(super) struct Keep {
    ring: Ring,
    on: Triggers,
    /// Real time of the span.
    span: Duration,
    /// What fired, and when its trace is written.
    waits: Option<(String, Instant)>,
    /// The traces of triggers do not overlap.
    not_before: Option<Instant>,
    left: u32,
    jobs: Option<Sender<Job>>,
    ended: Receiver<()>,
    reports: Sender<Report>,
    /// Triggers whose trace is not written.
    missed: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Job {
    why: Option<String>,
    kept: Kept,
}

impl Keep {
    /// Starts the thread that writes to `outbox`.
    ///
    /// # Errors
    /// A configuration that makes no medium, or a kernel that gives no thread.
    pub fn start(
        setup: &Setup,
        wanted: &KeepSetup,
        outbox: File,
        header: Header,
        reports: Sender<Report>,
        missed: Arc<AtomicU64>,
    ) -> Result<Keep, StartError> {
        let config = setup.medium()?;
        let rate = setup.pace.rate(config.rate);
        let ring = Ring::new(&config, wanted.span(config.rate), Room::default());
        // One trace waits while another one is written.
        let (jobs, waiting) = bounded::<Job>(1);
        let (end, ended) = bounded(1);
        let (place, tell) = (wanted.place.clone(), reports.clone());
        let write = move || {
            let (outbox, _end): (_, Sender<()>) = (Arc::new(outbox), end);
            for job in waiting {
                let told = write(job, &outbox, &place, &header);
                // Without a supervisor no process reads it.
                let _ = tell.send(Report::Told(Told::Kept(told)));
            }
        };
        threads::start("keep", write).map_err(StartError::Thread)?;
        let span = wanted.span(config.rate).at(rate);
        let (on, left, jobs) = (wanted.on.clone(), MOST_FILES, Some(jobs));
        Ok(Keep { ring, on, span, waits: None, not_before: None, left, jobs, ended, reports, missed })
    }

    /// Takes one more note.
    pub fn note(&mut self, note: &Note) {
        let fact = match note {
            Note::Input { at, input, .. } => Fact::Input(*at, *input),
            Note::Event(event) => Fact::Event(*event),
            Note::Emulator(event) => Fact::Emulator(event.clone()),
            Note::Missing(Counts { inputs: 0, events: 0 }) | Note::Traffic { .. } => return,
            Note::Restart { .. } | Note::End(_) | Note::Held(..) => return,
            Note::Missing(_) => return self.ring.miss(),
            Note::Keep(at) => return self.hand_over(None, *at),
        };
        if let Some(why) = self.on.fired_by(&fact)
            && self.waits.is_none()
        {
            let after = Instant::now() + self.span / AFTERWARDS;
            let due = self.not_before.map_or(after, |begin| after.max(begin));
            self.waits = Some((why.to_owned(), due));
        }
        self.ring.take(fact);
    }

    /// Has the trace written whose time has come.
    pub fn look(&mut self) {
        if let Some((why, _)) = self.waits.take_if(|(_, due)| *due <= Instant::now()) {
            self.fire(why);
        }
    }

    fn fire(&mut self, why: String) {
        if self.left == 0 {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.left -= 1;
        self.not_before = Some(Instant::now() + self.span);
        self.hand_over(Some(why), self.ring.now());
    }

    fn hand_over(&mut self, why: Option<String>, at: BitInstant) {
        let Some(jobs) = self.jobs.as_ref().filter(|jobs| !jobs.is_full()) else {
            self.missed.fetch_add(u64::from(why.is_some()), Ordering::Relaxed);
            // Only a client waits for an answer.
            if why.is_none() {
                let _ = self.reports.try_send(Report::Told(Told::Kept(KeptTold::failed(None, BUSY.to_owned()))));
            }
            return;
        };
        // There is room.
        let _ = jobs.try_send(Job { why, kept: self.ring.kept(at) });
    }

    /// The run is over: writes what waits, and waits until it is written, though not for ever.
    pub fn end(&mut self) {
        if let Some((why, _)) = self.waits.take() {
            self.fire(why);
        }
        self.jobs = None;
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}

/// Why the last seconds cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration makes no medium.
    #[error(transparent)]
    Medium(#[from] ConfigError),
    /// The kernel gives no thread.
    #[error("cannot start the thread that writes the last seconds")]
    Thread(#[source] io::Error),
}

fn write(Job { why, kept }: Job, outbox: &Arc<File>, place: &str, header: &Header) -> KeptTold {
    if !is_emptied(outbox) {
        return KeptTold::failed(why, BUSY.to_owned());
    }
    match kept.write(outbox.clone(), place.to_owned(), header) {
        Ok(facts) => KeptTold { why, facts, span_bt: kept.span().get(), failed: None },
        Err(error) => KeptTold::failed(why, super::trouble::told(&error)),
    }
}

/// Waits until the supervisor has taken the trace before.
fn is_emptied(outbox: &File) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if outbox.read_at(&mut [0], 0).is_ok_and(|count| count == 0) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}
