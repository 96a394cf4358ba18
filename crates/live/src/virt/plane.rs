//! The plane of a virtual lab that is up: it answers the supervisor as the data plane of a live bus does, and goes on with
//! the lab in between.
//!
//! ```text
//!   supervisor ──Request──► this thread ── next, go on ──► lab.rs
//!        ▲                    │ sleeps for the pace; stops in a pause
//!        └───────Told─────────┘
//! ```
//! What is asked changes nothing in the lab, except for changes. A change gets the first bit instant that no kernel has
//! passed, so the run is the one in which that instant was planned.

use super::bus::Intervention;
use super::commands::Command;
use super::init;
use super::lab::{Lab, LabError, Wishes};
use super::progress::Progress;
use crate::plane::protocol::{Request, Told};
use crate::plane::seen::{Batch, Seen};
use crate::plane::writer::captures::{Beginning, Captures};
use crate::supervisor::thread::{Asked, Ends};
use crossbeam_channel::{RecvTimeoutError, SendTimeoutError, TryRecvError};
use link::clock::monotonic_nanos;
use medium::{BitInstant, BitTimes, Deed, Event, Input, StationId};
use say::show;
use sim::files::event_log::EmulatorEvent;
use sim::files::observer::End;
use sim::files::programs::Call;
use sim::run::observer::Observer;
use sim::scenario::plan::Plan;
use sim::windows::capture::Wish;
use sim::words::choices::PortState;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often viewers and captures get what happened, in real time.
const HOUSEKEEPING: Duration = Duration::from_millis(50);
/// How often files do.
const FLUSH: Duration = Duration::from_secs(1);
/// How long the lab waits for a capture whose client reads nothing.
const STUCK: Duration = Duration::from_secs(2);
/// Between looks at a capture that is behind.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest sleep.
const LONGEST_SLEEP: Duration = HOUSEKEEPING;
/// How far a kernel goes on its own, in nanoseconds of virtual time: what is done to the lab comes this much later at most.
const LEAP: u64 = 1_000_000;
/// How far `step` goes where nothing happens, in nanoseconds of virtual time.
const LONGEST_STEP: u64 = 1_000_000_000;

/// What observes a lab that is up.
#[derive(Debug)]
pub struct Observed<F> {
    /// The run's own files.
    files: F,
    captures: Captures,
    /// The next notes for viewers.
    seen: Batch,
    /// How many events there were.
    events: u64,
}

impl<F: Observer> Observer for Observed<F> {
    type Error = F::Error;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), F::Error> {
        let Ok(()) = self.captures.input(at, input, octets);
        self.seen.input(at, input);
        self.files.input(at, input, octets)
    }

    fn event(&mut self, event: &Event) -> Result<(), F::Error> {
        self.events += 1;
        let Ok(()) = self.captures.event(event);
        self.seen.event(event);
        self.files.event(event)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), F::Error> {
        self.files.call(at, station, call)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), F::Error> {
        self.files.emulator(event)
    }

    fn flush(&mut self) -> Result<(), F::Error> {
        self.files.flush()
    }

    fn end(&mut self, end: End) -> Result<(), F::Error> {
        let Ok(()) = self.captures.end(end);
        self.files.end(end)
    }
}

/// Virtual time beside real time.
#[derive(Debug)]
struct Clock {
    /// Virtual seconds in a real one.
    pace: f64,
    /// A real instant, and the virtual one that belongs to it.
    since: Instant,
    from: u64,
    is_paused: bool,
}

impl Clock {
    /// The virtual instant that real time has reached, if the clock runs.
    fn reached(&self) -> Option<u64> {
        (!self.is_paused).then(|| self.from + (self.since.elapsed().as_secs_f64() * self.pace * 1e9) as u64)
    }

    /// How long it is to a virtual instant.
    fn rest(&self, until: u64) -> Duration {
        let wanted = until.saturating_sub(self.from) as f64 / 1e9 / self.pace;
        // A year is as good as for ever.
        Duration::from_secs_f64(wanted.min(3e7)).saturating_sub(self.since.elapsed())
    }

    /// Runs from `now` on.
    fn begin_at(&mut self, now: u64) {
        *self = Clock { since: Instant::now(), from: now, is_paused: false, ..*self };
    }
}

/// See the module.
struct Plane<'a, F: Observer> {
    plan: &'a Plan,
    lab: Lab<'a, Observed<F>>,
    ends: Ends,
    clock: Clock,
    /// Those that run.
    commands: Vec<Command>,
    /// How kernels ended that were not switched off.
    killed: Vec<String>,
    /// A kernel was interrupted, so no kernel can go on: the supervisor asks for the end.
    is_over: bool,
    /// The client of a capture reads nothing, so the lab does not wait for it.
    is_stuck: bool,
    next_housekeeping: Instant,
    next_flush: Instant,
    /// What a terminal shows of a lab in the foreground.
    progress: Option<Progress>,
}

/// Runs a lab that is up until the supervisor says stop, or is gone.
///
/// # Errors
/// As [`super::lab::run`].
pub fn run<F: Observer>(
    plan: &Plan,
    wishes: &Wishes,
    (files, captures): (F, Captures),
    ends: Ends,
    in_foreground: bool,
) -> Result<(), LabError<F::Error>>
where
    F::Error: std::error::Error + 'static,
{
    let observed = Observed { files, captures, seen: Batch::default(), events: 0 };
    let lab = Lab::start(plan, wishes, observed)?;
    let now = Instant::now();
    let clock = Clock { pace: wishes.pace.unwrap_or(1.0), since: now, from: 0, is_paused: false };
    let (next_housekeeping, next_flush) = (now + HOUSEKEEPING, now + FLUSH);
    let (commands, killed, is_over, is_stuck) = (Vec::new(), Vec::new(), false, false);
    let progress = in_foreground.then(|| Progress::new(plan.stations.len()));
    Plane { plan, lab, ends, clock, commands, killed, is_over, is_stuck, next_housekeeping, next_flush, progress }
        .until_its_end()
}

impl<F: Observer> Plane<'_, F>
where
    F::Error: std::error::Error + 'static,
{
    fn until_its_end(mut self) -> Result<(), LabError<F::Error>> {
        self.tell(Told::Ready);
        self.clock.begin_at(0);
        loop {
            let rest = self.rest();
            let asked = match rest {
                Some(rest) => self.ends.requests.recv_timeout(rest.min(LONGEST_SLEEP)),
                None => self.ends.requests.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                }),
            };
            match asked {
                Ok((Request::Stop, _)) => return self.end(),
                Ok(asked) => self.answer(asked)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if rest.is_none() => self.go_on(u64::MAX)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.keep_house()?;
        }
    }

    /// How long nothing is to be done; `None` if something is.
    fn rest(&self) -> Option<Duration> {
        let next = self.lab.next().filter(|_| !self.clock.is_paused && !self.is_over);
        let rest = next.map_or(LONGEST_SLEEP, |next| self.clock.rest(next));
        (rest > Duration::ZERO).then_some(rest)
    }

    /// Does what happens next, up to `limit` at the latest.
    fn go_on(&mut self, limit: u64) -> Result<(), LabError<F::Error>> {
        self.wait_for_captures();
        let next = self.lab.next().unwrap_or(self.lab.now());
        self.is_over |= !self.lab.go_on(limit.min(next + LEAP))?;
        self.tell_of_ended();
        Ok(())
    }

    /// Tells which kernels have ended since the last look.
    fn tell_of_ended(&mut self) {
        for end in self.lab.take_ended() {
            self.tell(Told::Trouble(format!("{end}; the bus goes on without it")));
            self.killed.extend(end.is_failure().then(|| end.to_string()));
        }
    }

    /// Virtual time waits for captures, so that they miss nothing; but not for a client that reads nothing.
    fn wait_for_captures(&mut self) {
        let begin = Instant::now();
        while self.lab.bus.observer().captures.is_behind() && !self.is_stuck {
            std::thread::sleep(PAUSE);
            self.is_stuck = begin.elapsed() > STUCK;
        }
        self.is_stuck &= self.lab.bus.observer().captures.is_behind();
    }

    /// Runs everything up to `until`, and stops there.
    fn run_to(&mut self, until: u64) -> Result<(), LabError<F::Error>> {
        while !self.is_over && self.lab.next().is_some_and(|next| next <= until) {
            self.go_on(until + 1)?;
        }
        self.lab.pass_to(until);
        Ok(())
    }

    /// It is as late as real time says.
    fn pass(&mut self) {
        if let Some(reached) = self.clock.reached() {
            self.lab.pass_to(reached);
        }
    }

    fn answer(&mut self, (request, stream): Asked) -> Result<(), LabError<F::Error>> {
        self.pass();
        match request {
            Request::Report => self.tell(Told::Results(Box::new(self.lab.results()))),
            Request::Watch(watched) => self.lab.bus.parts().1.seen.watch(watched),
            Request::Capture(wish, answer) => self.begin_capture(stream, wish, &answer),
            Request::Deed(deed) => self.act(deed)?,
            Request::Command(station, command, has_input) => {
                self.command(station, Call::Begin { command, has_input }, stream, has_input)?;
            }
            Request::Pause => self.clock.is_paused = true,
            Request::Resume if self.clock.is_paused => self.clock.begin_at(self.lab.now()),
            Request::Step(bits) if self.clock.is_paused => self.step(bits.map(BitTimes::new))?,
            // Of a live bus alone; the supervisor asks no virtual lab for these.
            Request::Restart
            | Request::Progress
            | Request::Queues
            | Request::Clock
            | Request::Discards(..)
            | Request::Keep
            | Request::Trespass
            | Request::Panic
            | Request::Join { .. }
            | Request::Filter(_)
            | Request::Link(_)
            | Request::Container(..)
            | Request::Traffic(..)
            | Request::Resume
            | Request::Step(_)
            | Request::Stop => {}
        }
        Ok(())
    }

    /// Lets the stopped clock go on for this long, or up to the next event.
    fn step(&mut self, bits: Option<BitTimes>) -> Result<(), LabError<F::Error>> {
        let now = self.lab.now();
        let Some(bits) = bits else {
            let (before, end) = (self.lab.bus.observer().events, now + LONGEST_STEP);
            while !self.is_over
                && self.lab.bus.observer().events == before
                && self.lab.next().is_some_and(|next| next <= end)
            {
                self.go_on(end)?;
            }
            return Ok(());
        };
        self.run_to(self.lab.bus.later(now, bits))
    }

    fn act(&mut self, deed: Deed) -> Result<(), LabError<F::Error>> {
        if let Some((station, is_there)) = deed.plugs() {
            if self.lab.bus.medium().attached(station) == is_there {
                return Ok(());
            }
            let state = if is_there { PortState::Attached } else { PortState::Detached };
            self.tell(Told::Port { station: self.plan.stations[station.index()].name.clone(), state });
        }
        self.intervene(Intervention::Deed(deed))
    }

    fn command(
        &mut self,
        station: u16,
        call: Call,
        stream: Option<OwnedFd>,
        has_input: bool,
    ) -> Result<(), LabError<F::Error>> {
        self.intervene(Intervention::Call { station: StationId::new(station), call })?;
        let station = usize::from(station);
        let number = self.lab.commands(station);
        let file = self.lab.file(station, &init::command_file(number));
        let now = self.lab.now();
        let begun = stream.and_then(|stream| Command::new((station, number), file, now, stream, has_input));
        self.commands.extend(begun);
        Ok(())
    }

    /// Has something done at the first bit instant that no kernel has passed, and runs up to that.
    fn intervene(&mut self, intervention: Intervention) -> Result<(), LabError<F::Error>> {
        let at = self.lab.bus.do_after(self.lab.open(), intervention);
        self.run_to(at)
    }

    /// Passes on what commands print.
    fn look_at_commands(&mut self) {
        let (lab, now) = (&self.lab, self.lab.now());
        self.commands.retain_mut(|command| command.go_on(now, lab.has_ended(command.station)));
    }

    /// Passes on what clients send to their commands.
    fn take_inputs(&mut self) -> Result<(), LabError<F::Error>> {
        let mut calls = Vec::new();
        for command in &mut self.commands {
            let (station, number) = (StationId::new(command.station as u16), command.number);
            calls.extend(command.take_input().into_iter().map(|octets| (station, number, octets)));
        }
        for (station, command, octets) in calls {
            self.intervene(Intervention::Call { station, call: Call::Input { command, octets } })?;
        }
        Ok(())
    }

    fn begin_capture(&mut self, stream: Option<OwnedFd>, wish: Wish, answer: &str) {
        let Some(stream) = stream else { return };
        let held = self.lab.bus.held();
        let now = self.lab.bus.end_at(self.lab.now());
        let (medium, observed) = self.lab.bus.parts();
        let joiners = (0..self.plan.stations.len() as u16).map(|number| (StationId::new(number), None)).collect();
        observed.captures.begin(
            (stream, answer),
            wish,
            medium,
            Beginning { now, held, joiners, containers: Vec::new() },
        );
    }

    fn keep_house(&mut self) -> Result<(), LabError<F::Error>> {
        let now = Instant::now();
        if now < self.next_housekeeping {
            return Ok(());
        }
        self.next_housekeeping = now + HOUSEKEEPING;
        self.pass();
        self.lab.look_for_ended();
        self.tell_of_ended();
        self.look_at_commands();
        self.take_inputs()?;
        self.progress.iter_mut().for_each(|progress| self.lab.show_progress(progress));
        let at = self.lab.bus.end_at(self.lab.now());
        let observed = self.lab.bus.parts().1;
        observed.captures.look(monotonic_nanos(), at, || Some(at));
        observed.captures.keep_house();
        if let Some(batch) = observed.seen.tell(at) {
            self.tell(Told::Seen(Seen::of(batch)));
        }
        if now >= self.next_flush {
            self.next_flush = now + FLUSH;
            self.lab.bus.parts().1.flush().map_err(LabError::Observer)?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), LabError<F::Error>> {
        self.pass();
        self.lab.look_for_ended();
        self.tell_of_ended();
        self.look_at_commands();
        if self.progress.is_some() {
            show("");
        }
        let Plane { lab, ends, killed, .. } = self;
        let results = lab.outcome(true)?.results;
        // A supervisor that has gone reads none.
        let _ = ends.told.send(Told::Results(Box::new(results)));
        if killed.is_empty() { Ok(()) } else { Err(LabError::Killed { ends: killed }) }
    }

    /// Tells the supervisor, and waits until there is room, with virtual time.
    fn tell(&self, mut told: Told) {
        while let Err(SendTimeoutError::Timeout(back)) = self.ends.told.send_timeout(told, HOUSEKEEPING) {
            if self.ends.ending.load(Ordering::Relaxed) {
                return;
            }
            told = back;
        }
    }
}
