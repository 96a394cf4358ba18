//! What the coordinator does beside moving frames: clocks, counts, links, and what the supervisor asks for.

use super::super::BusError;
use super::super::discards::Batch;
use super::super::messages::Messages;
use super::super::protocol::{Kept, Port, Request, Told};
use super::super::reporter::Report;
use super::super::watch::SoFar;
use super::super::writer::captures::Beginning;
use super::deliveries::Due;
use super::{Coordinator, Held, SHORTEST_SPIN};
use crossbeam_channel::TrySendError;
use link::clock::{RealtimeNanos, monotonic_nanos};
use link::netlink::{LinkChange, MonitorError};
use medium::{BitInstant, BitTimes, Deed, Fault, FrameId, Input, Joiner, Place, StationId};
use sim::figures::results::ObserverResults;
use sim::figures::snapshot::{Snapshot, Start};
use sim::files::event_log::{Container, EmulatorEvent, EmulatorKind};
use sim::files::observer::{Both, End, Observer};
use sim::windows::capture::Wish;
use sim::words::choices::{FilterChoice, PortState};
use std::cmp::Reverse;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// How often clocks are compared, the ring's drops are read, and requests are looked for at the latest.
pub(super) const HOUSEKEEPING: u64 = 50_000_000;

impl Coordinator {
    pub(super) fn keep_house(&mut self, now: u64) -> Result<(), BusError> {
        self.next_housekeeping = now + HOUSEKEEPING;
        self.effort.punctual.span(HOUSEKEEPING);
        if !self.rest.slept_in_time {
            // Nothing tells how late sleeps are when there are none: less spinning, until there are.
            self.rest.spin = (self.rest.spin * 3 / 4).max(SHORTEST_SPIN);
        }
        self.rest.slept_in_time = false;
        if self.effort.precedence.look(now) {
            self.tell(Report::Told(Told::Calm));
        }
        if self.effort.precedence.has_left() {
            self.wires.delivery.leave_fifo();
        }
        self.emulator.counts.priority = self.effort.precedence.name();
        self.refresh_clocks()?;
        self.look()?;
        self.tell_troubles();
        self.files.1.keep_house();
        self.tell_watchers();
        self.tell_discards();
        if let Some(told) = self.effort.overload.tell(now, &self.emulator.counts) {
            self.tell(Report::Told(told));
        }
        self.watch_links()
    }

    pub(super) fn refresh_clocks(&mut self) -> Result<(), BusError> {
        let (stepped, before) = (self.clocks.steps.stepped().map_err(BusError::link)?, self.clocks.map);
        self.clocks.map.refresh();
        if stepped {
            self.emulator.counts.machine.clock_steps += 1;
            self.note(EmulatorKind::ClockStep { ns: self.clocks.map.moved_since(&before) });
        }
        Ok(())
    }

    /// Counts and notes changes that come without a message.
    fn look(&mut self) -> Result<(), BusError> {
        let ring_drops = self.wires.receiver.statistics().map_err(BusError::link)?.dropped;
        self.count_lost();
        let (counts, mut events) = (&mut self.emulator.counts, Vec::new());
        let so_far = SoFar { ring_drops, inputs_skipped: counts.observers.inputs_skipped };
        self.figures.watch.look(so_far, counts, &mut events);
        events.into_iter().for_each(|kind| self.note(kind));
        Ok(())
    }

    fn count_lost(&mut self) {
        let observers = &mut self.emulator.counts.observers;
        *observers = ObserverResults { reports_skipped: observers.reports_skipped, ..self.files.0.lost() };
    }

    /// Tells those who watch what happened; what finds no room is counted there.
    fn tell_watchers(&mut self) {
        let Some((missed, now, notes)) = self.seen.tell(self.run_to) else { return };
        let told = self.observers.reports.try_send(Report::Seen(missed, now, notes));
        if let Err(TrySendError::Full(Report::Seen(missed, _, notes))) = told {
            self.seen.not_told(missed, notes);
        }
    }

    /// Tells programs in stations which of their frames the medium gave up.
    fn tell_discards(&mut self) {
        let reports = &self.observers.reports;
        self.discards.tell(|station, batch| match reports.try_send(Report::Discards(station, batch)) {
            Err(TrySendError::Full(Report::Discards(_, batch))) => Some(batch),
            // Without a supervisor there is no reader.
            Ok(()) | Err(_) => None,
        });
    }

    fn tell_troubles(&mut self) {
        while let Some(what) = self.files.0.trouble() {
            self.emulator.oddities.unsaid.push(format!("{what}; the bus goes on without it"));
        }
        for what in std::mem::take(&mut self.emulator.oddities.unsaid) {
            self.tell(Report::Told(Told::Trouble(what)));
        }
    }

    /// A station whose interface went down or vanished is taken off; the bus continues for the others.
    pub(super) fn watch_links(&mut self) -> Result<(), BusError> {
        self.wires.delivery.filter.look(&mut self.emulator.counts).map_err(BusError::link)?;
        self.link_changes(None).map(|_| ())
    }

    /// Reads what interfaces have done since the last reading, and acts on it. Of the interface `own`, which is no station's
    /// yet, it gives the last change.
    fn link_changes(&mut self, own: Option<u32>) -> Result<Option<PortState>, BusError> {
        let changes = match self.wires.monitor.poll() {
            // The monitor will tell how each interface is. One that vanished unseen shows when a delivery to it fails.
            Err(MonitorError::Overrun) => {
                self.emulator.counts.ports.link_changes_missed += 1;
                return Ok(None);
            }
            changes => changes.map_err(BusError::link)?,
        };
        let mut last = None;
        for change in changes {
            let (index, state) = match change {
                LinkChange::Up { index } => (index, PortState::Up),
                LinkChange::Down { index } => (index, PortState::Down),
                LinkChange::Gone { index } => (index, PortState::Gone),
            };
            match self.wires.ports.station(index) {
                Some(station) => self.change_port(station, state),
                None if own == Some(index) => last = Some(state),
                None => {}
            }
        }
        Ok(last)
    }

    pub(super) fn change_port(&mut self, station: StationId, state: PortState) {
        // It may have gone down before, and the kernel may report it gone more than once.
        if state == PortState::Gone && !self.wires.ports.is_gone(station) {
            self.emulator.counts.ports.ports_gone += 1;
            self.tell(Report::Told(Told::Gone(self.wires.ports.name(station).to_owned())));
        }
        let attached = self.wires.ports.note(station, state);
        if attached == self.medium.attached(station) {
            return;
        }
        self.emulator.counts.ports.ports_lost += u64::from(matches!(state, PortState::Down | PortState::Gone));
        self.apply(if attached { Deed::Plug { station } } else { Deed::Unplug { station } });
        self.note(EmulatorKind::Port { station, state });
        let station = self.wires.ports.name(station).to_owned();
        self.tell(Report::Told(Told::Port { station, state }));
    }

    /// How far the medium has been run: not beyond a stop of this thread that is still to become a slip.
    fn reached(&self) -> BitInstant {
        self.run_to.max(self.medium.now())
    }

    /// Does something to the bus.
    fn apply(&mut self, deed: Deed) {
        let (now, input) = (self.reached(), Input::Deed(deed));
        let Ok(()) = self.files.input(now, &input, None);
        self.seen.input(now, &input);
        let station = deed.station().map_or("", |station| self.wires.ports.name(station));
        let change = match deed {
            Deed::Fault { fault, .. } => format!("fault {}", fault.map_or("none", Fault::name)),
            deed => deed.word().to_owned(),
        };
        self.emulator.changed(station, change, RealtimeNanos::now().0);
        self.medium.handle_input(now, input);
        self.take_outputs();
    }

    fn join(&mut self, station: StationId, port: Port, place: Option<Place>) -> Result<(), BusError> {
        // The supervisor gives names that an interface can have, and places that the configuration allows.
        let Some(who) = Joiner::new(&port.name, port.mac) else { return Ok(()) };
        // Its interface went down and up while it was made: no news of a station.
        let state = self.link_changes(Some(port.index))?;
        let who = who.at(place);
        self.wires.delivery.join(station, &port);
        let mut config = self.medium.config().clone();
        place.map(|place| config.take_place(station, place));
        if self.wires.ports.join(station, port, &config.topology) {
            self.tell(Report::Joined(station, who));
            self.apply(Deed::Add { station, who });
            state.into_iter().for_each(|state| self.change_port(station, state));
        }
        Ok(())
    }

    fn act(&mut self, deed: Deed) {
        assert!(
            deed.station().is_none_or(|station| station.index() < self.frames.held.len()),
            "the supervisor knows how many stations there are"
        );
        match deed {
            Deed::Plug { station } => self.change_port(station, PortState::Attached),
            Deed::Unplug { station } => {
                self.change_port(station, PortState::Detached);
                // Its link may be taken down from now on, which is then no news.
                self.tell(Report::Told(Told::Off(self.wires.ports.name(station).to_owned())));
            }
            Deed::Remove { station } => {
                self.wires.ports.leave(station);
                self.apply(deed);
                self.tell(Report::Told(Told::Left));
            }
            // The supervisor knows the cable. A station that joins comes with its port.
            _ => self.apply(deed),
        }
    }

    fn filter(&mut self, choice: FilterChoice) {
        self.wires.delivery.filter.choose(choice);
        self.emulator.counts.copying.filter = choice;
        self.emulator.changed("", format!("filter {}", choice.word()), RealtimeNanos::now().0);
        self.note(EmulatorKind::Filter { choice });
    }

    fn traffic(&mut self, station: StationId, arrivals: &str) {
        self.files.0.traffic(self.reached(), station, arrivals);
        self.note(EmulatorKind::Traffic { station });
        let name = self.wires.ports.name(station).to_owned();
        self.emulator.changed(&name, format!("traffic {arrivals}"), RealtimeNanos::now().0);
    }

    /// A station is this container.
    fn label(&mut self, station: StationId, container: Container) {
        let container = Arc::new(container);
        self.wires.ports.label(station, container.clone());
        self.note(EmulatorKind::Container { station, container });
    }

    /// Begins a capture on `stream`, with the frames that the medium has and what has been done to it.
    fn begin_capture(&mut self, stream: Option<OwnedFd>, wish: Wish, answer: &str) {
        let Some(stream) = stream else { return };
        let Coordinator { medium, frames, wires, files: Both(_, captures), run_to, clocks, .. } = self;
        let stations = || wires.ports.stations();
        let held = stations().flat_map(|station| {
            // The medium is done with those before.
            let held = &frames.held[station.index()];
            let of = move |held: &Held| (FrameId { station, serial: held.serial }, held.frame, held.octets.clone());
            held.range(held.len().saturating_sub(medium.queued(station))..).map(of)
        });
        let joiners: Vec<_> = stations().map(|station| (station, wires.ports.joiner(station))).collect();
        let at = medium.now().max(*run_to);
        let real_ns = monotonic_nanos() - clocks.begin;
        let containers = stations().filter_map(|station| Some((station, wires.ports.container(station)?.clone())));
        let containers = containers.map(|(station, container)| EmulatorKind::Container { station, container });
        let containers = containers.map(|kind| EmulatorEvent { at, real_ns, kind }).collect();
        let beginning = Beginning { now: at, held: held.collect(), joiners, containers };
        captures.begin((stream, answer), wish, medium, beginning);
    }

    fn restart(&mut self, now: BitInstant) -> Result<(), BusError> {
        self.look()?;
        let Ok(()) = self.files.restart(self.run_to, now);
        self.medium.restart_tally();
        self.emulator.restart();
        self.figures.delays.restart();
        self.figures.messages.iter_mut().for_each(Messages::restart);
        self.figures.start = Start::take(&self.medium, now);
        self.tell(Report::Told(Told::Restarted));
        Ok(())
    }

    fn tell_results(&mut self, now: BitInstant) {
        let copies = |Reverse(delivery): &Reverse<Due>| delivery.stations.len() as u64;
        self.emulator.counts.timing.deliveries_pending = self.frames.deliveries.iter().map(copies).sum();
        self.emulator.counts.timing.arrivals_pending = self.frames.arrivals.len() as u64;
        let (emulator, figures) = (self.emulator.results(), &self.figures);
        let snapshot = Snapshot {
            plan: figures.messages.as_ref().map(Messages::results),
            ..Snapshot::take(&self.medium, &figures.start, now, &figures.delays, Some(emulator))
        };
        self.tell(Report::Snapshot(Box::new(snapshot)));
    }

    pub(super) fn answer(&mut self, request: Request, stream: Option<OwnedFd>) -> Result<(), BusError> {
        // As of the last look: a stop since then is still to become a slip.
        let looked = self.clocks.timeline.instant(self.effort.overload.looked_at());
        let now = if self.pause.is_some() { self.run_to.max(self.figures.start.at) } else { looked };
        let is_last = request == Request::Stop;
        match request {
            Request::Restart => self.restart(now)?,
            Request::Deed(deed) => {
                if let Deed::Plug { .. } = deed {
                    // The supervisor has given the station its carrier back, which is no news of its own.
                    self.watch_links()?;
                }
                self.act(deed);
            }
            Request::Join { station, port, place } => {
                self.join(StationId::new(station), port, place)?;
            }
            Request::Filter(choice) => self.filter(choice),
            Request::Link(choice) => {
                self.emulator.changed("", format!("link {}", choice.word()), RealtimeNanos::now().0);
                self.note(EmulatorKind::Link { choice });
            }
            Request::Traffic(station, arrivals) => self.traffic(StationId::new(station), &arrivals),
            Request::Container(station, container) => self.label(StationId::new(station), container),
            Request::Watch(watched) => self.seen.watch(watched),
            Request::Discards(station, listens) => {
                self.discards.listen(station, listens);
                // An empty batch says from when on the stream has discards.
                self.tell(Report::Discards(station, Batch::default()));
            }
            Request::Capture(wish, answer) => self.begin_capture(stream, wish, &answer),
            Request::Keep => {
                if !self.files.0.keep(self.run_to) {
                    let why = "the files are written more slowly than the bus goes: try again".to_owned();
                    self.tell(Report::Told(Told::Kept(Kept::failed(None, why))));
                }
            }
            Request::Progress => {
                let stations = (0..self.frames.held.len() as u16).map(StationId::new);
                let finished = stations.map(|station| self.medium.finished(station)).collect();
                self.tell(Report::Told(Told::Progress(finished)));
            }
            Request::Queues => {
                let stations = (0..self.frames.held.len() as u16).map(StationId::new);
                let queued = stations.map(|station| self.medium.queued(station) as u64).collect();
                self.tell(Report::Told(Told::Queues(queued)));
            }
            Request::Clock => self.tell(Report::Told(Told::Clock(self.reached().get()))),
            Request::Report | Request::Stop => {
                self.look()?;
                if is_last {
                    let Ok(()) = self.files.end(End { run_to: self.run_to.get(), t: now.get() });
                    self.count_lost();
                    self.tell_troubles();
                }
                self.tell_results(now);
            }
            Request::Pause => self.pause(),
            Request::Resume => self.resume(),
            Request::Step(bits) if self.pause.is_some() => self.step(bits.map(BitTimes::new)),
            // The supervisor knows that the clock is stopped.
            Request::Step(_) => {}
            // Of a virtual lab.
            Request::Command(..) => {}
            Request::Trespass => trespass(),
            Request::Panic if cfg!(debug_assertions) => panic!("asked to panic \u{1b}[31m"),
            Request::Panic => {}
        }
        Ok(())
    }
}

/// Makes a system call that a running bus has no use for. Only builds for tests do.
fn trespass() {
    if cfg!(debug_assertions) {
        // The result is not seen, because this process ends first.
        let _ = std::os::unix::net::UnixDatagram::unbound();
    }
}
