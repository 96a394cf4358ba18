//! A medium with a port for each station, in virtual time.

use crate::octets;
use crate::{Clock, Host, InFlight, Port};
use medium::{BitInstant, BitTimes, Config, ConfigError, Event, Input, Kind, Medium, StationId, Tally};
use smoltcp::time::Instant;
use std::collections::HashMap;
use std::sync::Arc;

/// A shared medium whose stations are stacks of smoltcp. See the crate's page for how a test runs it.
#[derive(Debug)]
pub struct Bus {
    medium: Medium,
    clock: Clock,
    now: BitInstant,
    /// Stations by address.
    stations: HashMap<[u8; 6], StationId>,
    cards: Cards,
}

/// The stations' ports, and what they have sent.
#[derive(Debug)]
struct Cards {
    ports: Vec<Port>,
    /// Frames of each station that the medium has.
    held: Vec<usize>,
    limit: usize,
    in_flight: InFlight<Arc<[u8]>>,
    /// Some port has a frame, or room again, since when.
    changed: Option<BitInstant>,
}

impl Bus {
    /// A silent medium. The stations have these addresses, in order; each has a port.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    ///
    /// # Panics
    /// If there are more or fewer addresses than stations: the caller's mistake.
    pub fn new(config: Config, addresses: &[[u8; 6]]) -> Result<Bus, ConfigError> {
        let stations = config.topology.stations();
        assert_eq!(addresses.len(), stations, "each station has an address");
        let (clock, limit) = (Clock::new(config.rate), config.queue_limit);
        let mtu = octets::mtu(&config.parameters);
        let in_flight = InFlight::new(&config);
        let medium = Medium::new(Config { keep_events: false, keep_outputs: false, ..config })?;
        Ok(Bus {
            medium,
            clock,
            now: BitInstant::ZERO,
            stations: addresses.iter().copied().zip((0..).map(StationId::new)).collect(),
            cards: Cards {
                ports: (0..stations).map(|_| Port::new(mtu, limit)).collect(),
                held: vec![0; stations],
                limit,
                in_flight,
                changed: None,
            },
        })
    }

    /// The port of station `number`, from 0: a device for its stack.
    ///
    /// # Panics
    /// If there is no such station: the caller's mistake.
    pub fn port(&self, number: usize) -> Port {
        self.cards.ports[number].clone()
    }

    /// What the stacks' clocks show.
    pub fn now(&self) -> Instant {
        self.clock.instant(self.now)
    }

    /// The same in bit times.
    pub fn bit_now(&self) -> BitInstant {
        self.now
    }

    /// What has been counted: collisions, frames, octets of each station.
    pub fn tally(&self) -> &Tally {
        self.medium.tally()
    }

    /// Does something to the medium now: a fault, a cut, a cable that is pulled.
    pub fn change(&mut self, input: Input) {
        self.give(input);
    }

    /// Runs until `done` is true, which gets the hosts and the instant whenever something may have changed, and is where the
    /// hosts' programs are. Returns false if nothing will ever happen any more.
    pub fn run(&mut self, hosts: &mut [Host], mut done: impl FnMut(&mut [Host], Instant) -> bool) -> bool {
        loop {
            let now = self.now();
            hosts.iter_mut().for_each(|host| host.poll(now));
            if done(hosts, now) {
                return true;
            }
            hosts.iter_mut().for_each(|host| host.poll(now));
            let wakes = hosts.iter_mut().filter_map(|host| host.poll_at(now));
            // A timer that has passed is that of a frame for which there is no room.
            if !self.run_until(wakes.filter(|wake| *wake > now).min()) {
                return false;
            }
        }
    }

    /// Takes what the stacks have sent, and runs until a frame arrives, a stack that was refused has room again, or it is
    /// `wake`. A `wake` that has passed is none: the stack waits for room. Returns whether there was something to wait for.
    pub fn run_until(&mut self, wake: Option<Instant>) -> bool {
        self.take_sent();
        let wake = wake.map(|wake| self.clock.bit(wake)).filter(|wake| *wake > self.now);
        loop {
            if let Some(at) = self.cards.changed.take() {
                // A station learns what has happened at an instant at the end of it.
                self.now = self.now.max(at + BitTimes::new(1));
                while self.medium.next_timeout().is_some_and(|at| at < self.now) {
                    self.advance(self.now);
                }
                self.cards.changed = None;
                return true;
            }
            let due = self.medium.next_timeout().filter(|_| !self.cards.in_flight.is_empty());
            match (due, wake) {
                (Some(due), wake) if wake.is_none_or(|wake| due < wake) => self.advance(due + BitTimes::new(1)),
                (_, Some(wake)) => {
                    self.advance(wake);
                    self.now = wake;
                    return true;
                }
                (_, None) => return false,
            }
            self.cards.in_flight.passed(self.medium.now());
        }
    }

    fn take_sent(&mut self) {
        for number in 0..self.cards.ports.len() {
            while let Some(octets) = self.cards.ports[number].take_sent() {
                let station = StationId::new(number as u16);
                let frame = octets::frame(station, &octets, |address| self.stations.get(address).copied());
                self.cards.in_flight.insert(self.medium.next_frame_id(station), octets);
                self.cards.held[number] += 1;
                self.give(Input::Offer { station, frame });
            }
            let room = self.cards.limit.saturating_sub(self.cards.held[number]);
            if room > 0 || !self.cards.ports[number].was_refused() {
                self.cards.ports[number].set_room(room);
            }
        }
    }

    fn give(&mut self, input: Input) {
        let at = self.now.max(self.medium.now());
        self.medium.give(at, input, &mut self.cards);
    }

    fn advance(&mut self, end: BitInstant) {
        if end > self.medium.now() {
            self.medium.run_until(end, &mut self.cards);
        }
    }
}

impl medium::Host for Cards {
    fn event(&mut self, event: &Event) {
        if let Kind::Delivered { .. } = event.kind {
            if let Some(octets) = self.in_flight.get(event.frame) {
                self.ports[event.station.index()].receive_frame(octets.clone());
                self.changed.get_or_insert(event.at);
            }
        } else if self.in_flight.event(event).is_some() {
            let number = event.frame.station.index();
            self.held[number] -= 1;
            if self.ports[number].was_refused() {
                self.ports[number].set_room(self.limit - self.held[number]);
                self.changed.get_or_insert(event.at);
            }
        }
    }

    fn stops(&self) -> bool {
        self.changed.is_some()
    }
}
