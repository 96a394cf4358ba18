//! The bus as the rows tell of it: its stations, the signals on it, and what was found.

use crate::cycle::Cycle;
use crate::deference::State;
use crate::signal::{Due, Signal};
use crate::station::{Phase, Queued, Station};
use crate::violation::{CONSERVATION, Rule, Violation};
use crate::ways::{distances, lateness, same_side};
use medium::{Config, CsmaCa, Deed, Fault, FrameId, Joiner, Method, Place, Reach, StationId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Signals that are kept before those that are over are forgotten.
const MANY_SIGNALS: usize = 48;

/// The bus, up to the latest row.
#[derive(Debug)]
pub struct Bus {
    pub config: Config,
    pub now: u64,
    pub stations: Vec<Station>,
    /// In order of their begins.
    pub air: Vec<Signal>,
    pub found: Vec<Violation>,
    /// Ends of signals at addressees, by instant.
    pub due: BTreeMap<u64, Vec<Due>>,
    pub cycle: Cycle,
    signals: u64,
    cut: Option<Place>,
    ways: Vec<Vec<u64>>,
    reaches: Vec<Rc<[bool]>>,
    /// By place: whether the station there has no carrier sense now.
    unheard: Option<Rc<[bool]>>,
    farthest: u64,
    /// The number of signals at which those that are over are forgotten.
    room: usize,
}

impl Bus {
    pub fn new(config: &Config) -> Bus {
        let count = config.topology.stations();
        let station = |place| Station::new(config, place);
        let mut bus = Bus {
            config: config.clone(),
            now: 0,
            stations: (0..count).map(station).collect(),
            air: Vec::new(),
            found: Vec::new(),
            due: BTreeMap::new(),
            cycle: Cycle::new(config),
            signals: 0,
            cut: None,
            ways: Vec::new(),
            reaches: Vec::new(),
            unheard: None,
            farthest: 0,
            room: MANY_SIGNALS,
        };
        bus.lay_out();
        bus
    }

    /// Ways and sides anew: the cable or a station's place has changed.
    fn lay_out(&mut self) {
        let places = 0..self.config.topology.stations();
        self.ways = places.clone().map(|place| distances(&self.config.topology, place)).collect();
        let side = |place| Rc::from(self.reached_from(place));
        self.reaches = places.map(side).collect();
        // Repeaters with jitter add less than a gap.
        let most = self.ways.iter().flatten().max().copied().unwrap_or(0);
        self.farthest = most + self.config.parameters.inter_packet_gap.get();
    }

    /// By place: no cut keeps a signal of `station` from it, and it is within range.
    fn reached_from(&self, station: usize) -> Vec<bool> {
        let mut reached = same_side(&self.config.topology, station, self.cut);
        if let Method::CsmaCa(CsmaCa { reach: Some(Reach { range, positions }), .. }) = &self.config.method {
            let here = positions[station];
            reached.iter_mut().zip(positions).for_each(|(reached, there)| *reached &= here.abs_diff(*there) <= *range);
        }
        reached
    }

    pub fn violate(&mut self, rule: &'static Rule, station: usize, text: String) {
        self.found.push(Violation { at: self.now, rule, station: StationId::new(station as u16), text });
    }

    /// Stations that discarded frames since they left have left.
    pub fn have_left(&mut self, now: u64) {
        for place in 0..self.stations.len() {
            if let Some((at, frame)) = self.stations[place].left.take_if(|(at, _)| *at < now) {
                let text = format!("{frame} is discarded for `detached` at {at}, and the station was not taken off");
                self.violate(&CONSERVATION, place, text);
            }
        }
    }

    /// Violates `rule` unless it `holds`.
    pub fn demand(&mut self, holds: bool, rule: &'static Rule, station: usize, text: impl FnOnce() -> String) {
        if !holds {
            self.violate(rule, station, text());
        }
    }

    pub fn deed(&mut self, deed: &Deed) {
        let place = deed.station().map(StationId::index).filter(|place| *place < self.stations.len());
        match (deed, place) {
            (Deed::Queue { .. }, _) => {}
            (Deed::Plug { .. } | Deed::Add { .. } | Deed::Unplug { .. } | Deed::Remove { .. }, Some(place)) => {
                self.cycle.plugs(place);
            }
            _ => self.cycle.never_holds(),
        }
        match *deed {
            Deed::Plug { .. } | Deed::Add { .. } | Deed::Unplug { .. } | Deed::Remove { .. } => {
                let Some(place) = place else { return };
                let attached = matches!(deed, Deed::Plug { .. } | Deed::Add { .. });
                self.is_plugged(place, attached);
                self.stations[place].attached = attached;
                self.stations[place].left = None;
                if let Deed::Add { station, who: Joiner { place: Some(at), .. } } = *deed
                    && self.config.take_place(station, at)
                {
                    self.lay_out();
                }
            }
            Deed::Fault { fault, .. } => {
                let Some(place) = place else { return };
                let is_random = matches!(fault, Some(Fault::OneWay | Fault::BitErrors(_) | Fault::Signals { .. }));
                self.stations[place].doubtful |= is_random;
                self.stations[place].fault = fault;
                self.unheard = None;
            }
            Deed::Queue { limit } => {
                self.config.queue_limit = limit;
                self.stations.iter_mut().for_each(|station| station.queue_limit = limit);
            }
            Deed::Cut(cut) => {
                self.cut = cut;
                self.lay_out();
            }
            _ => self.stations.iter_mut().for_each(|station| station.doubtful = true),
        }
    }

    /// Puts a signal of `station` on the medium: the frame `queued`, from `packet` on. It ends as planned at once where
    /// `ends`.
    pub fn send(&mut self, station: usize, queued: &Queued, packet: u64, planned: u64, ends: bool) -> &mut Signal {
        let (now, fault) = (self.now, self.stations[station].fault);
        let late = lateness(&self.config, station, now);
        let way = self.ways[station].iter().zip(late).map(|(way, late)| way + late).collect();
        let stations = &self.stations;
        let senses_nothing =
            |at: usize| matches!(stations[at].fault, Some(Fault::Deaf | Fault::OneWay | Fault::FullDuplex));
        let all = self.unheard.get_or_insert_with(|| (0..stations.len()).map(senses_nothing).collect());
        // A MAC in full duplex leaves a gap after its own frame.
        let unheard = match fault {
            Some(Fault::FullDuplex) if !matches!(self.config.method, Method::CsmaCa(_)) => {
                let mut one: Vec<bool> = all.to_vec();
                one[station] = false;
                Rc::from(one)
            }
            _ => all.clone(),
        };
        self.signals += 1;
        let is_csma_cd = matches!(self.config.method, Method::CsmaCd);
        self.air.push(Signal {
            number: self.signals,
            station,
            frame: queued.id,
            is_frame: true,
            is_rts: false,
            reserves: 0,
            size: queued.size,
            destination: queued.destination,
            too_long: queued.too_long,
            bad_fcs: fault == Some(Fault::BadFcs),
            full_duplex: is_csma_cd && fault == Some(Fault::FullDuplex),
            begin: now,
            packet,
            frame_end: packet + crate::signal::PREAMBLE_AND_SFD + queued.size * 8,
            planned,
            end: ends.then_some(planned),
            is_first: packet == now,
            cut: None,
            late: false,
            way,
            unheard,
            reaches: self.reaches[station].clone(),
            pending: 0,
        });
        self.air.last_mut().expect("just put there")
    }

    /// How long a signal takes from one place to another.
    pub fn way(&self, from: usize, to: usize) -> u64 {
        self.ways[from][to]
    }

    /// The latest signal of `station`, as long as it has not ended.
    pub fn own(&mut self, station: usize) -> Option<usize> {
        self.air.iter().rposition(|signal| signal.station == station && signal.end.is_none())
    }

    /// The first instant from the begin of a signal up to `until` at which its sender hears another one.
    pub fn met(&self, own: usize, until: u64) -> Option<u64> {
        let (begin, place) = (self.air[own].begin, self.air[own].station);
        let others = self.air.iter().enumerate().filter(|(index, _)| *index != own).map(|(_, signal)| signal);
        others.filter_map(|signal| signal.first_within(place, begin, until)).min()
    }

    /// Evaluates the deference of `station` up to now.
    pub fn advance(&mut self, station: usize) -> State {
        let this = &mut self.stations[station];
        let waits = matches!(this.phase, Phase::Waiting);
        this.deference.advance(&self.config, station, &self.air, self.now, waits);
        this.deference.state
    }

    /// Forgets what is over everywhere.
    pub fn forget(&mut self) {
        if self.air.len() < self.room {
            return;
        }
        if matches!(self.config.method, Method::CsmaCd) {
            (0..self.stations.len()).for_each(|station| _ = self.advance(station));
        }
        self.hear_all();
        let is_open = |signal: &&Signal| signal.end.is_none_or(|end| end > self.now) || signal.pending > 0;
        let open = self.air.iter().filter(is_open).map(|signal| signal.begin).min().unwrap_or(self.now);
        // Deference has been evaluated; other methods look back for the pauses of an exchange.
        let pauses = if matches!(self.config.method, Method::CsmaCd) { 0 } else { 20_000 };
        let kept = open.saturating_sub(2 * self.farthest + pauses);
        self.air.retain(|signal| signal.pending > 0 || signal.end.is_none_or(|end| end >= kept));
        self.room = MANY_SIGNALS.max(2 * self.air.len());
    }

    /// The frame, as its station's queue has it.
    pub fn frame(&self, frame: FrameId) -> Option<usize> {
        self.stations[frame.station.index()].queue.iter().position(|queued| queued.id == frame)
    }
}
