//! The engine: takes inputs in order of time, and runs events in the written order of ties.
//!
//! It is compiled for each access method, and for few types of host. Nothing here knows what a method does when it is called.

pub(crate) mod clock;
mod settle;
mod signals;
pub(crate) mod state;

use crate::access::{Access, FastPath, queued};
use crate::agenda::{Agenda, Phase};
use crate::config::{Config, ConfigError};
use crate::deed::{Deed, Joiner};
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Destination, Frame, FrameId, StationId};
use crate::inputs::{Host, Input};
use crate::station::Station;
use crate::time::BitInstant;
use crate::topology::segments::Place;
use clock::{Next, Path};
use state::Core;

/// A medium whose stations use the access method `A`.
#[derive(Debug)]
pub(crate) struct Engine<A: Access> {
    pub core: Core,
    pub stations: Box<[Station<A::Mac>]>,
    pub method: A,
}

impl<A: Access> Engine<A> {
    /// A silent medium at instant 0, all stations but the seats attached, and all idle.
    pub fn new(config: Config) -> Result<Engine<A>, ConfigError> {
        config.check()?;
        let station = |number| {
            let id = StationId::new(number);
            Station { attached: !config.is_seat(id), ..Station::new(id, A::mac(&config, id)) }
        };
        let timers = config.topology.stations() * A::TIMERS;
        let stations: Box<[Station<A::Mac>]> = (0..config.topology.stations() as u16).map(station).collect();
        Ok(Engine { stations, method: A::new(&config), core: Core::new(config, timers) })
    }

    pub fn station(&self, station: StationId) -> &Station<A::Mac> {
        &self.stations[station.index()]
    }

    pub fn station_mut(&mut self, station: StationId) -> &mut Station<A::Mac> {
        &mut self.stations[station.index()]
    }
}

/// Inputs, and runs between them.
impl<A: FastPath> Engine<A> {
    /// The next event; `NEVER` if there is none.
    pub fn next_due(&self) -> BitInstant {
        self.core.agenda.timers.next().min(self.core.agenda.next_signal()).min(A::due(self))
    }

    /// Counts from zero again.
    pub fn restart_tally(&mut self) {
        self.core.tally.restart();
        A::restart(self);
    }

    /// Runs everything before `limit`.
    pub fn run_until<H: Host>(&mut self, limit: BitInstant, host: &mut H) {
        self.run_before(limit, false, host);
        if !host.stops() {
            self.core.instant = limit;
        }
    }

    /// Takes one input at `now`, after the ends of timers at it.
    pub fn give<H: Host>(&mut self, now: BitInstant, input: Input, host: &mut H) {
        // Timers that end at an instant come before its arrivals.
        self.run_before(now, true, host);
        self.core.instant = now;
        match input {
            Input::Offer { station, frame } => self.offer(station, frame, host),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                self.station_mut(station).attached = false;
                A::detached(self, station, host);
            }
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                self.take_place(&input);
                self.station_mut(station).attached = true;
                A::attached(self, station, host);
            }
            Input::Deed(Deed::Plca { station, settings }) => A::set_plca(self, station, settings, host),
            Input::Deed(Deed::Fault { station, fault }) => self.set_fault(station, fault),
            Input::Deed(Deed::Cut(cut)) => self.set_cut(cut),
            Input::Deed(Deed::Queue { limit }) => self.set_queue(limit),
        }
        self.feed(host);
    }

    /// Runs everything before `limit`, and with `timers_too` the ends of timers at it.
    fn run_before<H: Host>(&mut self, limit: BitInstant, timers_too: bool, host: &mut H) {
        self.core.limit = limit;
        if !A::runs(self, limit, timers_too, host) {
            self.run_path::<Agenda, H>(limit, timers_too, host);
        }
        self.core.limit = BitInstant::ZERO;
    }

    /// Asks the host for the next frames of stations that have finished one.
    pub fn feed<H: Host>(&mut self, host: &mut H) {
        while let Some(station) = self.core.done.pop_front() {
            if let Some(frame) = host.next_frame(self.core.instant, station) {
                self.offer(station, frame, host);
            }
        }
    }

    fn offer<H: Host>(&mut self, station: StationId, frame: Frame, host: &mut H) {
        if let Destination::Station(addressee) = frame.destination {
            assert!(addressee.index() < self.stations.len(), "a frame for {addressee}, which does not exist");
        }
        let this = &mut self.stations[station.index()];
        this.serial += 1;
        let id = FrameId { station, serial: this.serial };
        self.core.emit(station, id, Kind::Offered { size: frame.size }, host);
        let admitted = match self.method.admit(&self.core.config, frame, this.fault) {
            Ok(_) if !this.attached => Err(Kind::Discarded { cause: Cause::Detached, attempts: 0 }),
            Ok(_) if is_full(&self.method, &self.core.config, this) => Err(Kind::QueueDrop),
            Ok(admitted) => Ok(admitted),
            Err(cause) => Err(Kind::Discarded { cause, attempts: 0 }),
        };
        let this_is_idle = this.queued() == 0;
        match admitted {
            Ok(admitted) => {
                this.queue.push_back(queued(
                    id.serial,
                    self.core.config.addressed(frame.destination),
                    admitted,
                    self.core.instant,
                ));
                A::frame_ready(self, station, host);
            }
            Err(kind) => {
                self.core.emit(station, id, kind, host);
                self.core.release(id);
                // A user whose frame is rejected is idle from the next slot on; behind a full queue another frame is on its
                // way.
                if kind == Kind::QueueDrop && this_is_idle && host.feeds() {
                    self.core.rejected.push(station);
                }
            }
        }
    }

    fn set_fault(&mut self, station: StationId, fault: Option<Fault>) {
        self.station_mut(station).fault = fault;
        self.core.noise.set(station, self.core.instant, fault);
        if fault.is_some_and(|fault| fault.is_deaf() || fault.is_of_receiver()) {
            A::places_differ(self);
        }
        if fault.is_some_and(Fault::is_deaf) {
            self.core.line.deafen(station);
        } else {
            self.core.line.heal(station);
        }
    }

    fn set_queue(&mut self, limit: usize) {
        assert!(limit > 0, "a queue that holds no frame");
        self.core.config.queue_limit = limit;
    }

    /// A station that joins at a place of its own is there.
    fn take_place(&mut self, input: &Input) {
        let Input::Deed(Deed::Add { station, who: Joiner { place: Some(place), .. } }) = *input else { return };
        let Core { config, line, agenda, instant, .. } = &mut self.core;
        if config.topology.place(station) == Some(place) || !config.take_place(station, place) {
            return;
        }
        line.seat(*instant, station, place, config.topology.clone(), agenda);
        // Who is on the far side of a cut may have changed.
        if let Some(cut) = self.core.cut {
            let beyond = self.core.line.topology().beyond(cut).ok();
            self.core.line.part(beyond.map(Into::into));
        }
    }

    fn set_cut(&mut self, cut: Option<Place>) {
        self.core.cut = cut;
        self.core.line.part(cut.map(|cut| match self.core.line.topology().beyond(cut) {
            Ok(beyond) => beyond.into(),
            Err(error) => panic!("{error}"),
        }));
        A::parted(self);
    }
}

/// Whether `station` has no room for another frame.
fn is_full<A: Access>(method: &A, config: &Config, station: &Station<A::Mac>) -> bool {
    match config.queue_of_port(station.id) {
        Some(limit) => station.queued() >= limit,
        None => method.is_full(config, station.queued()),
    }
}

/// The general engine.
impl<A: FastPath> Path<A> for Agenda {
    type Decision = ();

    #[inline(always)]
    fn next(engine: &mut Engine<A>) -> Next<()> {
        let agenda = &engine.core.agenda;
        Next { decides: agenda.timers.next(), signals: agenda.next_signal(), decision: () }
    }

    #[inline(always)]
    fn runs_put_off<H: Host>(engine: &mut Engine<A>, host: &mut H) -> bool {
        A::runs_put_off(engine, host)
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<A>, (): (), host: &mut H) {
        let timer = engine.core.agenda.timers.take();
        A::timer_ends(engine, StationId::new((timer / A::TIMERS) as u16), timer % A::TIMERS, host);
    }

    /// Runs the first signal phase of this instant.
    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<A>, host: &mut H) {
        match engine.core.agenda.phase(engine.core.instant) {
            Phase::SignalsEnd => engine.signals_end(host),
            Phase::SignalsBegin => engine.signals_begin(host),
            Phase::Settled => {
                let settled = engine.core.agenda.settled.pop(engine.core.instant);
                settled.into_iter().for_each(|(_, transmission)| engine.core.settle(transmission));
            }
        }
    }
}
