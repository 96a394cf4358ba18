//! The medium as the kernels' wire: frames become inputs, events become deliveries and room in the stations' queues.

use super::reach::{Firsts, Flights, nanos};
use device::{InFlight, octets};
use kernel::{Sent, Wire};
use medium::{
    BitInstant, BitRate, BitTimes, Config, ConfigError, Deed, Event, Frame, FrameId, Host, Input, Kind, Medium,
    StationId,
};
use sim::figures::metrics::Delays;
use sim::files::programs::Call;
use sim::run::observer::Observer;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SECOND: u128 = 1_000_000_000;

/// What a station's card is to do, and when, in nanoseconds.
#[derive(Debug)]
pub enum Due {
    /// A frame arrives.
    Receive { station: usize, octets: Arc<[u8]> },
    /// The medium is done with a frame.
    Done { station: usize, head: u16 },
    /// The station gets something from outside.
    Call { station: usize, call: Call },
    /// The station is called again; it had no room for it before.
    CallAgain { station: usize },
}

impl Due {
    fn station(&self) -> usize {
        let (Due::Receive { station, .. }
        | Due::Done { station, .. }
        | Due::Call { station, .. }
        | Due::CallAgain { station }) = self;
        *station
    }
}

/// What is done to a lab at an instant.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// Something is done to the bus.
    Deed(Deed),
    /// A station gets something from outside.
    Call {
        /// The station.
        station: StationId,
        /// What.
        call: Call,
    },
}

/// A frame that the medium has.
#[derive(Debug)]
struct Underway {
    frame: Frame,
    octets: Arc<[u8]>,
    head: u16,
}

/// A frame in a station's ring.
#[derive(Debug)]
struct Ready {
    frame: Frame,
    octets: Arc<[u8]>,
    head: u16,
}

/// What a station has sent at one instant, which the medium has not got to.
#[derive(Debug)]
struct Ahead {
    at: u64,
    station: usize,
    frames: Vec<Ready>,
}

/// The medium between kernels.
pub struct Bus<O: Observer> {
    medium: Medium,
    taker: Taker<O>,
    /// In order of instants and stations.
    ahead: VecDeque<Ahead>,
    /// Frames in each station's ring that the medium had no room for.
    rings: Vec<VecDeque<Ready>>,
    /// Stations by address.
    stations: HashMap<[u8; 6], StationId>,
    /// What is done to the lab, in order of time.
    interventions: VecDeque<(BitInstant, Intervention)>,
    interrupted: Arc<AtomicBool>,
}

/// What becomes of the medium's events.
struct Taker<O: Observer> {
    observer: O,
    delays: Delays,
    rate: BitRate,
    underway: InFlight<Underway>,
    flights: Flights,
    due: VecDeque<(u64, Due)>,
    failed: Option<O::Error>,
}

impl<O: Observer> Bus<O> {
    /// A silent medium at instant 0.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    pub fn new(
        config: &Config,
        macs: impl IntoIterator<Item = [u8; 6]>,
        interventions: VecDeque<(BitInstant, Intervention)>,
        observer: O,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Bus<O>, ConfigError> {
        let underway = InFlight::new(config);
        let taker = Taker {
            observer,
            delays: Delays::default(),
            rate: config.rate,
            flights: Flights::new(config, underway.longest()),
            underway,
            due: VecDeque::new(),
            failed: None,
        };
        let medium = Medium::new(Config { keep_events: false, keep_outputs: false, ..config.clone() })?;
        let stations = macs.into_iter().zip((0..).map(StationId::new)).collect();
        let rings = (0..config.topology.stations()).map(|_| VecDeque::new()).collect();
        Ok(Bus { medium, taker, ahead: VecDeque::new(), rings, stations, interventions, interrupted })
    }

    /// The medium.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The delays so far.
    pub fn delays(&self) -> &Delays {
        &self.taker.delays
    }

    /// The observer; or what it could not keep.
    ///
    /// # Errors
    /// What it could not keep.
    pub fn check(&mut self) -> Result<&mut O, O::Error> {
        self.taker.failed.take().map_or(Ok(&mut self.taker.observer), Err)
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.taker.observer
    }

    /// The medium, and the observer to be changed.
    pub fn parts(&mut self) -> (&Medium, &mut O) {
        (&self.medium, &mut self.taker.observer)
    }

    /// The frames that the medium has, in order of their stations and numbers.
    pub fn held(&self) -> Vec<(FrameId, Frame, Arc<[u8]>)> {
        let held = self.taker.underway.held();
        let mut held: Vec<_> = held.map(|(id, it)| (id, it.frame, it.octets.clone())).collect();
        held.sort_by_key(|(id, ..)| (id.station, id.serial));
        held
    }

    /// Schedules `intervention` at the first bit instant after `now`, and gives that instant in nanoseconds.
    ///
    /// No kernel has passed it, so a run that knows the intervention from its beginning is the same up to there.
    pub fn do_after(&mut self, now: u64, intervention: Intervention) -> u64 {
        let at = self.bit_before(now).max(self.medium.now()) + BitTimes::new(1);
        let place = self.interventions.partition_point(|(known, _)| *known <= at);
        self.interventions.insert(place, (at, intervention));
        nanos(at, self.taker.rate)
    }

    /// Has a card do something later.
    pub fn put_off(&mut self, until: u64, due: Due) {
        let place = self.taker.due.partition_point(|(at, _)| *at <= until);
        self.taker.due.insert(place, (until, due));
    }

    /// The instant `bits` bit times after `now`, in nanoseconds.
    pub fn later(&self, now: u64, bits: BitTimes) -> u64 {
        nanos(self.bit_before(now) + bits, self.taker.rate)
    }

    /// Runs everything up to `now`, in nanoseconds; all kernels wait.
    pub fn run_to(&mut self, now: u64) {
        let at = self.bit_before(now);
        while let Some((_, intervention)) = self.interventions.pop_front_if(|(intervention, _)| *intervention <= at) {
            match intervention {
                Intervention::Deed(deed) => self.give(at, Input::Deed(deed), None),
                Intervention::Call { station, call } => {
                    if self.taker.failed.is_none() {
                        self.taker.failed = self.taker.observer.call(at, station, &call).err();
                    }
                    self.taker.due.push_front((now, Due::Call { station: station.index(), call }));
                }
            }
        }
        if self.is_busy() || self.medium.now() < at {
            self.advance(at + BitTimes::new(1));
        }
    }

    /// Runs everything before `end`.
    pub fn advance(&mut self, end: BitInstant) {
        if end > self.medium.now() {
            self.medium.run_until(end, &mut self.taker);
        }
        self.taker.underway.passed(self.medium.now());
        self.taker.flights.passed(self.medium.now());
    }

    /// When something happens next, of what is known: not what stations have sent.
    pub fn next(&self) -> Option<u64> {
        let due = self.taker.due.front().map(|(at, _)| *at);
        let timeout = self.medium.next_timeout().filter(|_| self.is_busy());
        let intervention = self.interventions.front().map(|(at, _)| *at);
        timeout.into_iter().chain(intervention).map(|at| nanos(at, self.taker.rate)).chain(due).min()
    }

    /// What stations have sent and the medium has not got: the first instant, and its first station.
    pub fn next_sent(&self) -> Option<(u64, usize)> {
        self.ahead.front().map(|ahead| (ahead.at, ahead.station))
    }

    /// The medium gets what a station has sent; everything before has happened.
    pub fn take_sent(&mut self) {
        let Some(first) = self.ahead.pop_front() else { return };
        let (at, station) = (first.at, first.station);
        self.rings[station].extend(first.frames);
        // All of this instant: nothing comes in between.
        while let Some(more) = self.ahead.pop_front_if(|more| (more.at, more.station) == (at, station)) {
            self.rings[station].extend(more.frames);
        }
        self.offer(station, at);
    }

    /// The medium gets frames in a station's ring at `now`, as far as it has room.
    pub fn offer(&mut self, station: usize, now: u64) {
        let source = StationId::new(station as u16);
        while self.medium.queued(source) < self.medium.config().queue_limit
            && let Some(Ready { frame, octets, head }) = self.rings[station].pop_front()
        {
            let rate = u128::from(self.taker.rate.get());
            // The first bit instant that is not before the kernel's.
            let at = BitInstant::new((u128::from(now) * rate).div_ceil(SECOND) as u64).max(self.medium.now());
            self.advance(at);
            let id = self.medium.next_frame_id(source);
            self.taker.underway.insert(id, Underway { frame, octets: octets.clone(), head });
            self.taker.flights.insert(id, frame);
            self.give(at, Input::Offer { station: source, frame }, Some(&octets));
        }
    }

    /// How far the kernel of each station can run, if the kernels want to run at `requests`: nothing reaches it before.
    ///
    /// A frame that no kernel has sent yet comes from a kernel that runs by its own request, or after something has reached
    /// it. The other kernels are not reached earlier by what a kernel sends while it runs: [`Wire::send`] ends the run.
    pub fn reaches(&self, requests: &[u64]) -> Vec<u64> {
        let stations = 0..requests.len();
        let sent = |of: usize| self.ahead.iter().find(|ahead| ahead.station == of).map_or(u64::MAX, |ahead| ahead.at);
        let next = stations.clone().map(sent).chain(self.next()).min().unwrap_or(u64::MAX);
        // Neither event nor input is before this; none of others, for the kernel that comes first.
        let floor_for = |station: usize| {
            let others = stations.clone().filter(|other| *other != station);
            others.map(|other| requests[other]).min().unwrap_or(u64::MAX).min(next)
        };
        let floor = requests.iter().copied().min().unwrap_or(u64::MAX).min(next);
        let firsts = self.firsts(floor);
        let may_send: Vec<u64> = stations.clone().map(|station| requests[station].min(firsts.of(station))).collect();
        let reach = |station: usize| {
            let own = floor_for(station);
            let first = if own == floor { firsts.of(station) } else { self.firsts(own).of(station) };
            let others = stations.clone().filter(|other| *other != station);
            let sent = others.map(|other| may_send[other].saturating_add(self.taker.flights.shortest_ns())).min();
            sent.map_or(first, |sent| sent.min(first))
        };
        stations.clone().map(reach).collect()
    }

    /// When something may reach each station, of what is known, if there is neither event nor input before `floor`.
    fn firsts(&self, floor: u64) -> Firsts {
        let mut firsts = Firsts::new(self.rings.len());
        self.taker.flights.note(&mut firsts, floor, |station| self.medium.attached(station));
        self.ahead.iter().for_each(|ahead| self.note_ahead(&mut firsts, ahead));
        for (at, due) in &self.taker.due {
            firsts.note(due.station(), *at);
        }
        let intervention = self.interventions.front().map(|(at, _)| nanos(*at, self.taker.rate));
        intervention.into_iter().for_each(|at| (0..self.rings.len()).for_each(|station| firsts.note(station, at)));
        firsts
    }

    fn note_ahead(&self, firsts: &mut Firsts, ahead: &Ahead) {
        let source = StationId::new(ahead.station as u16);
        for Ready { frame, .. } in &ahead.frames {
            let end = ahead.at + self.taker.flights.lasts_ns(frame.size);
            firsts.note_arrival(source, frame.destination, end);
            let may_end = self.taker.flights.may_end_at_once(frame) || !self.medium.attached(source);
            firsts.note(ahead.station, if may_end { ahead.at } else { end });
        }
    }

    /// The next thing for a card up to `now`.
    pub fn take_due(&mut self, now: u64) -> Option<Due> {
        self.taker.due.pop_front_if(|(at, _)| *at <= now).map(|(_, due)| due)
    }

    /// The instant in bit times at which the run ends at `now`.
    pub fn end_at(&self, now: u64) -> BitInstant {
        (self.bit_before(now) + BitTimes::new(1)).max(self.medium.now())
    }

    fn give(&mut self, at: BitInstant, input: Input, octets: Option<&Arc<[u8]>>) {
        let at = at.max(self.medium.now());
        self.advance(at);
        if self.taker.failed.is_none() {
            self.taker.failed = self.taker.observer.input(at, &input, octets).err();
        }
        self.medium.give(at, input, &mut self.taker);
    }

    fn is_busy(&self) -> bool {
        !self.taker.underway.is_empty()
    }

    /// The last bit instant up to `now`.
    fn bit_before(&self, now: u64) -> BitInstant {
        BitInstant::ZERO + BitTimes::within(Duration::from_nanos(now), self.taker.rate)
    }
}

impl<O: Observer> Wire for Bus<O> {
    fn send(&mut self, station: usize, at: u64, frames: Vec<Sent>) -> u64 {
        let source = StationId::new(station as u16);
        let ready = |sent: Sent| {
            let frame = octets::frame(source, &sent.octets, |address| self.stations.get(address).copied());
            Ready { frame, octets: sent.octets.into(), head: sent.head }
        };
        let ahead = Ahead { at, station, frames: frames.into_iter().map(ready).collect() };
        let mut firsts = Firsts::new(self.rings.len());
        self.note_ahead(&mut firsts, &ahead);
        let place = self.ahead.partition_point(|other| (other.at, other.station) <= (at, station));
        self.ahead.insert(place, ahead);
        firsts.of(station)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl<O: Observer> Host for Taker<O> {
    fn event(&mut self, event: &Event) {
        self.delays.record(event);
        self.flights.event(event);
        if self.failed.is_none() {
            self.failed = self.observer.event(event).err();
        }
        let due = if let Kind::Delivered { .. } = event.kind {
            let frame = self.underway.get(event.frame);
            frame.map(|frame| Due::Receive { station: event.station.index(), octets: frame.octets.clone() })
        } else {
            let done = self.underway.event(event);
            done.map(|frame| Due::Done { station: event.station.index(), head: frame.head })
        };
        self.due.extend(due.map(|due| (nanos(event.at, self.rate), due)));
    }
}
