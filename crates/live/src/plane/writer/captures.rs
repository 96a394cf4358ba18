//! Captures that begin while the bus runs. Each has a thread, so a slow reader delays neither another capture nor a file.
//!
//! ```text
//!   coordinator ──what the medium has, then notes──► a thread for each capture ──pcapng──► its client
//! ```
//! The threads are there from the beginning, since a running bus may start none. When a client sends no more, its thread
//! tells the coordinator, which notes the instant and hands over the rest once the medium has run up to it.

use super::notes::{Note, tell};
use super::{Ends, Files, PAUSE, StartError, Wanted, Writer, threads, waiting};
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use link::channel::is_over;
use link::clock::monotonic_nanos;
use medium::{BitInstant, Deed, Event, Frame, FrameId, Input, Joiner, Kind, Medium, Method, StationId};
use sim::files::event_log::{Container, EmulatorEvent, EmulatorKind};
use sim::files::json_lines::WriteError;
use sim::files::observer::{End, Observer};
use sim::windows::capture::{Capture, Wish};
use sim::windows::{Known, WindowKind};
use std::convert::Infallible;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most captures at a time.
pub const MOST: usize = 4;
/// How long a client waits at most to hear that its capture has begun: a medium may be slow, or stand still.
const LONGEST_WAIT: u64 = 200_000_000;
/// How long captures may take to be finished as the bus ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// The coordinator's end.
#[derive(Debug)]
pub struct Captures {
    known: Arc<Known>,
    /// Threads that have nothing to do.
    idle: Vec<Sender<Job>>,
    present: Vec<Present>,
}

/// What a capture begins with.
#[derive(Debug)]
pub struct Beginning {
    /// When it begins.
    pub now: BitInstant,
    /// The frames that the medium has.
    pub held: Vec<(FrameId, Frame, Arc<[u8]>)>,
    /// The seats that are taken, and by whom.
    pub joiners: Vec<(StationId, Option<Joiner>)>,
    /// The stations that are containers.
    pub containers: Vec<EmulatorEvent>,
}

/// A capture that goes on.
#[derive(Debug)]
struct Present {
    thread: Sender<Job>,
    writer: Writer,
    /// The client sends no more: the thread has noticed.
    asked: Arc<AtomicBool>,
    /// How far the medium is to run before the capture ends.
    until: Option<BitInstant>,
    /// What is not begun yet.
    waiting: Option<Waiting>,
}

/// A capture before its client has the answer.
#[derive(Debug)]
struct Waiting {
    job: Job,
    answer: String,
    /// The medium is to run up to here first: from then on the capture has everything.
    first: BitInstant,
    /// In nanoseconds of the monotonic clock.
    until: u64,
}

/// What a thread is to do.
#[derive(Debug)]
struct Job {
    stream: File,
    wish: Wish,
    now: BitInstant,
    known: Arc<Known>,
    ends: Ends,
    files: Arc<Files>,
    asked: Arc<AtomicBool>,
}

impl Captures {
    /// Starts the threads.
    ///
    /// # Errors
    /// A kernel that gives no thread.
    pub fn start(known: Arc<Known>) -> Result<Captures, StartError> {
        let start = |_| {
            let (thread, jobs) = bounded::<Job>(1);
            let work = move || jobs.into_iter().for_each(Job::run);
            threads::start("capture", work).map(|_| thread).map_err(StartError::Thread)
        };
        let idle = (0..MOST).map(start).collect::<Result<_, _>>()?;
        Ok(Captures { known, idle, present: Vec::new() })
    }

    /// Begins a capture with what was done to the medium before, and which states its stations are in. The client gets
    /// `answer` once the capture has begun, so that what the client then does is captured. Without an idle thread, the stream just ends.
    pub fn begin(
        &mut self,
        (stream, answer): (OwnedFd, &str),
        wish: Wish,
        medium: &Medium,
        Beginning { now, held, joiners, containers }: Beginning,
    ) {
        let Some(thread) = self.idle.pop() else { return };
        let stream = File::from(stream);
        let wanted = Wanted::new("the capture", WindowKind::Pcapng(wish).holds());
        let files = Arc::new(Files { windows: vec![wanted], ..Files::default() });
        let (mut writer, ends) = Writer::of(files.clone(), waiting(self.known.header.configuration.rate()));
        let asked = Arc::new(AtomicBool::new(false));
        let known = match containers.as_slice() {
            [] => self.known.clone(),
            known => {
                Arc::new(Known { containers: known.iter().filter_map(container).collect(), ..(*self.known).clone() })
            }
        };
        let job = Job { stream, wish, now, known, ends, files, asked: asked.clone() };
        let until = monotonic_nanos() + LONGEST_WAIT;
        let waiting = Some(Waiting { job, answer: answer.to_owned(), first: Capture::first(now), until });
        writer.note(Note::Held(now, held));
        let cut = medium.cut().map(|cut| Input::Deed(Deed::Cut(Some(cut))));
        let done = joiners.iter().flat_map(|(station, joiner)| done_to(medium, *station, *joiner)).chain(cut);
        for input in done {
            let Ok(()) = writer.input(now, &input, None);
        }
        for event in &containers {
            let Ok(()) = writer.emulator(event);
        }
        for (station, _) in joiners {
            if let Some(ok) = medium.plca_status(station) {
                let frame = FrameId { station, serial: 0 };
                let Ok(()) = writer.event(&Event { at: now, station, frame, kind: Kind::PlcaStatus { ok } });
            }
        }
        self.present.push(Present { thread, writer, asked, until: None, waiting });
    }

    /// Hands over at `now` what has waited long enough. Ends captures whose clients have asked for it: once the medium has
    /// run up to the bit time at which that was noticed (`instant`), or if its clock has stopped (`None`).
    pub fn look(&mut self, now: u64, run_to: BitInstant, instant: impl Fn() -> Option<BitInstant>) {
        self.begin_those(|waiting| waiting.first <= run_to || waiting.until <= now || instant().is_none());
        for Present { writer, asked, until, .. } in &mut self.present {
            writer.look(now);
            if !asked.load(Ordering::Relaxed) {
                continue;
            }
            let until = *until.get_or_insert_with(|| instant().unwrap_or(run_to));
            if until <= run_to || instant().is_none() {
                // The capture ends even if the channel is full, and says what it misses.
                writer.begin_end(End { run_to: run_to.get(), t: until.get() }, Instant::now());
            }
        }
    }

    /// Gives the answer to the clients of those that are ready, and has their threads write.
    fn begin_those(&mut self, is_ready: impl Fn(&Waiting) -> bool) {
        for Present { thread, waiting, .. } in &mut self.present {
            if let Some(Waiting { job, answer, .. }) = waiting.take_if(|waiting| is_ready(waiting))
                // The first octets on a stream find room there.
                && (&job.stream).write_all(answer.as_bytes()).is_ok()
            {
                // An idle thread takes it.
                let _ = thread.try_send(job);
            }
        }
    }

    /// Whether a capture is behind, so that more notes may find no room.
    pub fn is_behind(&self) -> bool {
        self.present.iter().any(|present| present.writer.is_behind())
    }

    /// Lets go of captures that have ended.
    pub fn keep_house(&mut self) {
        let is_over = |present: &mut Present| present.writer.ended.try_recv() == Err(TryRecvError::Disconnected);
        self.idle.extend(self.present.extract_if(.., is_over).map(|present| present.thread));
    }

    #[inline]
    fn each(&mut self, tell: impl Fn(&mut Writer) -> Result<(), Infallible>) -> Result<(), Infallible> {
        self.present.iter_mut().try_for_each(|present| tell(&mut present.writer))
    }
}

/// The station, and the container that it is.
fn container(event: &EmulatorEvent) -> Option<(StationId, Container)> {
    match &event.kind {
        EmulatorKind::Container { station, container } => Some((*station, (**container).clone())),
        _ => None,
    }
}

/// What was done to a station before now, as inputs.
fn done_to(medium: &Medium, station: StationId, joiner: Option<Joiner>) -> impl Iterator<Item = Input> {
    let configured = match &medium.config().method {
        Method::Plca(plca) => plca.nodes.get(station.index()).map(|node| node.settings),
        _ => None,
    };
    let settings = medium.plca_settings(station).filter(|settings| configured != Some(*settings));
    let fault = medium.fault(station);
    let all = [
        joiner.map(|who| Input::Deed(Deed::Add { station, who: who.at(medium.config().topology.place(station)) })),
        (!medium.attached(station)).then_some(Input::Deed(Deed::Unplug { station })),
        fault.map(|_| Input::Deed(Deed::Fault { station, fault })),
        settings.map(|settings| Input::Deed(Deed::Plca { station, settings })),
    ];
    all.into_iter().flatten()
}

/// The coordinator is never stopped: what finds no room is counted.
impl Observer for Captures {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        self.each(|writer| writer.input(at, input, octets))
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.each(|writer| writer.event(event))
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Infallible> {
        self.each(|writer| writer.emulator(event))
    }

    /// Ends all captures, and waits for that, though not for ever.
    fn end(&mut self, end: End) -> Result<(), Infallible> {
        let deadline = Instant::now() + PATIENCE;
        self.begin_those(|_| true);
        self.present.iter_mut().for_each(|present| present.writer.begin_end(end, deadline));
        self.present.iter_mut().for_each(|present| present.writer.wait_for_end(deadline));
        Ok(())
    }
}

impl Job {
    fn run(self) {
        // A reader that is gone has what it wanted. The coordinator sees the end of the channel.
        let _ = self.capture();
    }

    /// Writes the capture until its reader or the bus ends it.
    fn capture(self) -> Result<(), WriteError> {
        let Job { stream, wish, now, known, ends, files, asked } = self;
        let Ends { waiting, give_back, ended, trouble: _ } = ends;
        let mut capture = Capture::begin_late(stream, "the capture".to_owned(), &known, wish, now)?;
        let written = write(&mut capture, &waiting, &give_back, &asked);
        let missing = files.all().map(Wanted::missing).sum();
        let finished = written.and_then(|()| capture.finish(missing));
        // Not before the stream is closed.
        drop(ended);
        finished
    }
}

/// Writes until the coordinator sends the end. Sets `asked` when the client has closed its direction.
fn write(
    capture: &mut Capture,
    waiting: &Receiver<Vec<Note>>,
    give_back: &Sender<Vec<Note>>,
    asked: &AtomicBool,
) -> Result<(), WriteError> {
    loop {
        match waiting.try_recv() {
            Ok(mut batch) => {
                batch.iter().try_for_each(|note| tell(capture, note))?;
                if batch.iter().any(|note| matches!(note, Note::End(_))) {
                    return Ok(());
                }
                batch.clear();
                // As many come back as went out.
                let _ = give_back.try_send(batch);
            }
            Err(TryRecvError::Empty) => {
                Observer::flush(capture)?;
                std::thread::sleep(PAUSE);
            }
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
        match capture.stream() {
            Some(stream) => asked.fetch_or(is_over(stream.as_fd()), Ordering::Relaxed),
            None => return Ok(()),
        };
    }
}
