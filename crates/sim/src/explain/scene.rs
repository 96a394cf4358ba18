//! The scene of a trace while `explain` reads it: signals and stations as every window has them, and since when each frame
//! at the head of a queue is there.

use crate::scene::{Signal, Signals, Stations};
use medium::{BitInstant, Config, Deed, Destination, Event, FrameId, Input, Kind, Place, StationId};
use std::collections::HashMap;
use std::sync::Arc;

/// The medium, as far as the trace was read.
#[derive(Debug)]
pub struct Scene {
    pub config: Arc<Config>,
    pub signals: Signals,
    pub stations: Stations,
    /// By station: since when the frame at the head of its queue is there.
    pub heads: Vec<Option<BitInstant>>,
    /// By station: the frame that was at the head of its queue before, and when it left.
    pub left: Vec<Option<(FrameId, BitInstant)>>,
    /// Since when the frame that left with the last event was at the head of its queue.
    pub waited_since: Option<BitInstant>,
    /// By station: plca_status is OK.
    pub ok: Vec<bool>,
    /// Where the cable is cut.
    pub cut: Option<Place>,
    /// When stations were put back on the medium (`true`) or taken off.
    attached: Vec<(BitInstant, StationId, bool)>,
    /// The single stations that frames in queues are for.
    addressees: HashMap<FrameId, StationId>,
    pub now: BitInstant,
}

impl Scene {
    pub fn new(config: Config) -> Scene {
        let stations = config.topology.stations();
        let config = Arc::new(config);
        Scene {
            signals: Signals::new(config.clone(), 0).remembering(),
            config,
            stations: Stations::new(stations),
            heads: vec![None; stations],
            left: vec![None; stations],
            waited_since: None,
            ok: vec![false; stations],
            cut: None,
            attached: Vec::new(),
            addressees: HashMap::new(),
            now: BitInstant::ZERO,
        }
    }

    /// Takes an event; `destination` is that of a frame that is offered.
    pub fn event(&mut self, event: &Event, destination: Option<Destination>) {
        let Event { at, frame, station, kind } = *event;
        if let (Kind::Offered { .. }, Some(Destination::Station(to))) = (kind, destination) {
            self.addressees.insert(frame, to);
        } else if let Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop = kind {
            self.addressees.remove(&frame);
        }
        let row = frame.station.index();
        self.now = at;
        self.signals.event(event);
        let before = self.stations.get(frame.station).head();
        let left = self.stations.event(event, &self.config);
        let after = self.stations.get(frame.station).head();
        self.waited_since = None;
        if before != after {
            let head = after.is_some().then_some(at);
            self.waited_since = std::mem::replace(&mut self.heads[row], head).filter(|_| left == Some(0));
        }
        if left == Some(0) {
            self.left[row] = Some((frame, at));
        }
        if let Kind::PlcaStatus { ok } = kind {
            self.ok[station.index()] = ok;
        }
    }

    pub fn input(&mut self, at: BitInstant, input: &Input) {
        self.now = at;
        self.signals.input(at, input);
        match *input {
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => self.attached.push((at, station, true)),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                self.attached.push((at, station, false));
                self.ok[station.index()] = false;
            }
            Input::Deed(Deed::Cut(cut)) => self.cut = cut.filter(|_| self.signals.beyond_cut().is_some()),
            Input::Deed(Deed::Queue { limit }) => Arc::make_mut(&mut self.config).queue_limit = limit,
            Input::Offer { .. } | Input::Deed(_) => {}
        }
    }

    /// The single station that a signal is for, if that is not its sender.
    pub fn addressee(&self, signal: &Signal) -> Option<StationId> {
        if signal.source != signal.frame.station {
            return Some(signal.frame.station);
        }
        self.addressees.get(&signal.frame).copied().filter(|to| *to != signal.source)
    }

    /// A station was on the medium at `at`. Signals end after what is done to the medium at the same instant.
    pub fn is_attached(&self, station: StationId, at: BitInstant) -> bool {
        let last = self.attached.iter().rfind(|(changed, own, _)| *own == station && *changed <= at);
        last.is_none_or(|(.., attached)| *attached)
    }
}
