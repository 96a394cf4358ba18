//! The medium's public face: one of the engines, and the events that the caller has not taken yet.

use crate::access::aloha::PureAloha;
use crate::access::csma::CarrierSense;
use crate::access::csma_ca::Dcf;
use crate::access::csma_cd::CsmaCd;
use crate::access::own_slots::OwnSlots;
use crate::access::plca::{PlcaCounters, PlcaCycles, Reconciliation};
use crate::access::slotted_aloha::Contention;
use crate::access::tdma::Frames;
use crate::config::{Config, ConfigError, Method, PlcaSettings};
use crate::engine::Engine;
use crate::event::Event;
use crate::fault::Fault;
use crate::frame::{FrameId, StationId};
use crate::inputs::{AnyHost, Host, Input};
use crate::outputs::Output;
use crate::tally::Tally;
use crate::time::BitInstant;
use crate::timers::NEVER;
use crate::topology::segments::Place;
use std::collections::VecDeque;

/// A shared half-duplex medium and the stations on it.
#[derive(Debug)]
pub struct Medium {
    engine: AnyEngine,
    events: VecDeque<Event>,
}

/// One engine for each access method: the method is chosen once for each call from outside.
#[derive(Debug)]
enum AnyEngine {
    CsmaCd(Box<Engine<CsmaCd>>),
    SlottedAloha(Box<Engine<Contention>>),
    Tdma(Box<Engine<Frames>>),
    Aloha(Box<Engine<PureAloha>>),
    Csma(Box<Engine<CarrierSense>>),
    CsmaCa(Box<Engine<Dcf>>),
    Plca(Box<Engine<Reconciliation>>),
    /// Slotted ALOHA and TDMA where clocks are off.
    OwnSlots(Box<Engine<OwnSlots>>),
}

/// Does the same with each engine.
macro_rules! with {
    ($engine:expr, $this:ident => $what:expr) => {
        match $engine {
            AnyEngine::CsmaCd($this) => $what,
            AnyEngine::SlottedAloha($this) => $what,
            AnyEngine::Tdma($this) => $what,
            AnyEngine::Aloha($this) => $what,
            AnyEngine::Csma($this) => $what,
            AnyEngine::CsmaCa($this) => $what,
            AnyEngine::Plca($this) => $what,
            AnyEngine::OwnSlots($this) => $what,
        }
    };
}

/// Compiled once for all hosts.
impl AnyEngine {
    fn run_until(&mut self, limit: BitInstant, host: &mut dyn Host) {
        with!(self, engine => engine.run_until(limit, &mut AnyHost(host)));
    }

    fn give(&mut self, now: BitInstant, input: Input, host: &mut dyn Host) {
        with!(self, engine => engine.give(now, input, &mut AnyHost(host)));
    }
}

/// A host that offers nothing, and keeps the events for [`Medium::poll_event`].
struct Kept<'a> {
    events: &'a mut VecDeque<Event>,
    keep: bool,
}

impl Host for Kept<'_> {
    #[inline]
    fn event(&mut self, event: &Event) {
        if self.keep {
            self.events.push_back(*event);
        }
    }
}

impl Medium {
    /// A silent medium at instant 0, all stations but the seats attached, and all idle.
    ///
    /// # Errors
    /// A number of stations or a parameter that is out of its range.
    pub fn new(config: Config) -> Result<Medium, ConfigError> {
        let engine = match config.method {
            Method::CsmaCd => AnyEngine::CsmaCd(Box::new(Engine::new(config)?)),
            Method::SlottedAloha(_) | Method::Tdma(_) if config.has_wrong_clocks() => {
                AnyEngine::OwnSlots(Box::new(Engine::new(config)?))
            }
            Method::SlottedAloha(_) => AnyEngine::SlottedAloha(Box::new(Engine::new(config)?)),
            Method::Tdma(_) => AnyEngine::Tdma(Box::new(Engine::new(config)?)),
            Method::Aloha(_) => AnyEngine::Aloha(Box::new(Engine::new(config)?)),
            Method::Csma(_) => AnyEngine::Csma(Box::new(Engine::new(config)?)),
            Method::CsmaCa(_) => AnyEngine::CsmaCa(Box::new(Engine::new(config)?)),
            Method::Plca(_) => AnyEngine::Plca(Box::new(Engine::new(config)?)),
        };
        Ok(Medium { engine, events: VecDeque::new() })
    }

    /// The configuration of the medium.
    pub fn config(&self) -> &Config {
        with!(&self.engine, engine => &engine.core.config)
    }

    /// The earliest instant at which an input is still accepted.
    pub fn now(&self) -> BitInstant {
        with!(&self.engine, engine => engine.core.instant)
    }

    fn goes_on_to(&self, limit: BitInstant) {
        assert!(limit >= self.now(), "to go back to {limit} after the medium got to {}", self.now());
    }

    fn takes_at(&self, now: BitInstant) {
        assert!(now >= self.now(), "an input at {now} after the medium got to {}", self.now());
    }

    /// Runs everything before `limit`. Inputs at `limit` are still accepted; they come before all events at it except
    /// the ends of timers.
    ///
    /// # Panics
    /// If `limit` is before [`Medium::now`]: the caller's mistake.
    pub fn advance(&mut self, limit: BitInstant) {
        self.goes_on_to(limit);
        let keep = self.config().keep_events;
        let mut kept = Kept { events: &mut self.events, keep };
        self.engine.run_until(limit, &mut kept);
    }

    /// Takes one input at `now`, after everything before it and the ends of timers at it.
    ///
    /// # Panics
    /// If `now` is before [`Medium::now`], a station, as sender or destination, does not exist, or a cut is none
    /// ([`Topology::beyond`](crate::Topology::beyond)): the caller's mistake.
    pub fn handle_input(&mut self, now: BitInstant, input: Input) {
        self.takes_at(now);
        let keep = self.config().keep_events;
        let mut kept = Kept { events: &mut self.events, keep };
        self.engine.give(now, input, &mut kept);
    }

    /// [`Medium::advance`] with a `host` that sees the events and provides frames meanwhile. No events are kept.
    ///
    /// If the host [stops](Host::stops) the run, the medium stays at the last event that it ran.
    ///
    /// # Panics
    /// Those of [`Medium::advance`].
    pub fn run_until(&mut self, limit: BitInstant, host: &mut dyn Host) {
        self.goes_on_to(limit);
        self.engine.run_until(limit, host);
    }

    /// [`Medium::run_until`], compiled for this type of host.
    ///
    /// # Panics
    /// Those of [`Medium::advance`].
    pub fn run_until_for<H: Host>(&mut self, limit: BitInstant, host: &mut H) {
        self.goes_on_to(limit);
        with!(&mut self.engine, engine => engine.run_until(limit, host));
    }

    /// [`Medium::handle_input`] with a `host` that sees the events and provides frames meanwhile. No events are kept.
    ///
    /// # Panics
    /// Those of [`Medium::handle_input`].
    pub fn give(&mut self, now: BitInstant, input: Input, host: &mut dyn Host) {
        self.takes_at(now);
        self.engine.give(now, input, host);
    }

    /// [`Medium::give`], compiled for this type of host.
    ///
    /// # Panics
    /// Those of [`Medium::handle_input`].
    pub fn give_for<H: Host>(&mut self, now: BitInstant, input: Input, host: &mut H) {
        self.takes_at(now);
        with!(&mut self.engine, engine => engine.give(now, input, host));
    }

    /// The next event; `None` when nothing will happen without an input.
    pub fn next_timeout(&self) -> Option<BitInstant> {
        let next = with!(&self.engine, engine => engine.next_due());
        Some(next).filter(|&at| at != NEVER)
    }

    /// The oldest output not taken yet.
    pub fn poll_output(&mut self) -> Option<Output> {
        with!(&mut self.engine, engine => engine.core.outputs.pop_front())
    }

    /// The oldest event not taken yet.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// All counters and sums so far.
    pub fn tally(&self) -> &Tally {
        with!(&self.engine, engine => &engine.core.tally)
    }

    /// The number of a station's frames that the medium has not finished, the one being sent included.
    pub fn queued(&self, station: StationId) -> usize {
        with!(&self.engine, engine => engine.station(station).queued())
    }

    /// Without collision detection, the instant at which the longest-waiting frame was offered; `None` if no frame
    /// waits, and for other methods.
    pub fn oldest_waiting(&mut self) -> Option<BitInstant> {
        match &mut self.engine {
            AnyEngine::SlottedAloha(engine) => engine.oldest(),
            AnyEngine::Tdma(engine) => engine.oldest(),
            AnyEngine::Aloha(engine) => engine.oldest(),
            AnyEngine::Csma(engine) => engine.oldest(),
            AnyEngine::OwnSlots(engine) => engine.oldest(),
            AnyEngine::CsmaCd(_) | AnyEngine::CsmaCa(_) | AnyEngine::Plca(_) => None,
        }
    }

    /// The number of a station's offered frames that the medium has finished.
    pub fn finished(&self, station: StationId) -> u64 {
        with!(&self.engine, engine => {
            let station = engine.station(station);
            station.serial - station.queued() as u64
        })
    }

    /// Whether a station is on the medium.
    pub fn attached(&self, station: StationId) -> bool {
        with!(&self.engine, engine => engine.station(station).attached)
    }

    /// The fault of a station.
    pub fn fault(&self, station: StationId) -> Option<Fault> {
        with!(&self.engine, engine => engine.station(station).fault)
    }

    /// The latest instant at which a fault of its receiver, noise among them, was at the place of a station; `None` if none
    /// was.
    pub fn last_noise(&self, station: StationId) -> Option<BitInstant> {
        with!(&self.engine, engine => engine.core.noise.last(station, engine.core.instant))
    }

    /// Where the cable is cut.
    pub fn cut(&self) -> Option<Place> {
        with!(&self.engine, engine => engine.core.cut)
    }

    /// Counts from zero again; frames in queues or on their way stay.
    pub fn restart_tally(&mut self) {
        with!(&mut self.engine, engine => engine.restart_tally());
    }

    /// The counters of a station's PLCA node; `None` without PLCA.
    pub fn plca_counters(&self, station: StationId) -> Option<PlcaCounters> {
        self.plca().map(|engine| engine.plca_counters(station))
    }

    /// Whether plca_status of a station is OK; `None` without PLCA.
    pub fn plca_status(&self, station: StationId) -> Option<bool> {
        self.plca().map(|engine| engine.plca_status(station))
    }

    /// The cycles from BEACON to BEACON; `None` without PLCA.
    pub fn plca_cycles(&self) -> Option<PlcaCycles> {
        self.plca().map(|engine| engine.plca_cycles())
    }

    /// The present settings of a station's PLCA node; `None` without PLCA.
    pub fn plca_settings(&self, station: StationId) -> Option<PlcaSettings> {
        self.plca().map(|engine| engine.plca_settings(station))
    }

    fn plca(&self) -> Option<&Engine<Reconciliation>> {
        match &self.engine {
            AnyEngine::Plca(engine) => Some(engine),
            AnyEngine::CsmaCd(_) | AnyEngine::SlottedAloha(_) | AnyEngine::Aloha(_) => None,
            AnyEngine::Csma(_) | AnyEngine::CsmaCa(_) | AnyEngine::Tdma(_) | AnyEngine::OwnSlots(_) => None,
        }
    }

    /// The name of the next frame that `station` offers.
    pub fn next_frame_id(&self, station: StationId) -> FrameId {
        with!(&self.engine, engine => FrameId { station, serial: engine.station(station).serial + 1 })
    }
}
