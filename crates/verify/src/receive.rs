//! What addressees make of frames: each end of a signal at a place is due at one instant, and has one row there.

use crate::bus::Bus;
use crate::signal::{Due, Signal};
use crate::violation::RECEPTION;
use medium::{BitTimes, Destination, FrameId, Kind, Method, Octets, StationId};

/// What its row can be.
enum Expected {
    /// This, or no row.
    Exactly(Option<Kind>),
    /// It depends on chances or powers that are not followed here. The text says what is impossible all the same.
    Any { impossible: Option<&'static str> },
}

impl Bus {
    fn is_addressed(&self, signal: &Signal, place: usize) -> bool {
        let is_port = place + self.config.ports.len() >= self.stations.len();
        let is_its = match signal.destination {
            Destination::Station(to) => to == StationId::new(place as u16),
            Destination::All => true,
            Destination::Nobody | Destination::Beyond(_) => false,
        };
        place != signal.station && (is_its || is_port)
    }

    /// A signal that ends, or whose end is known: its addressees have a row then.
    pub fn expect(&mut self, index: usize) {
        let signal = &self.air[index];
        let (number, end) = (signal.number, signal.end.unwrap_or(signal.planned));
        let is_its = |place: &usize| signal.reaches[*place] && self.is_addressed(signal, *place);
        let places: Vec<(usize, u64)> =
            (0..self.stations.len()).filter(is_its).map(|place| (place, end + signal.way[place])).collect();
        self.air[index].pending += places.len();
        for (place, at) in places {
            self.due.entry(at).or_default().push(Due { place, signal: number, got: None });
        }
    }

    /// A row of an addressee.
    pub fn receive(&mut self, place: usize, frame: FrameId, kind: Kind) {
        let now = self.now;
        let air = &self.air;
        let is_of = |number: u64| air.iter().any(|signal| signal.number == number && signal.frame == frame);
        let own = self.due.get_mut(&now).into_iter().flatten();
        let mut own = own.filter(|due| due.place == place && due.got.is_none() && is_of(due.signal));
        let found = own.next().map(|due| due.got = Some(kind)).is_some();
        self.demand(found, &RECEPTION, place, || {
            format!("`{}` of {frame} has no signal: none with that frame for this station ends here now", kind.name())
        });
    }

    /// Settles everything that was due before `until`.
    pub fn settle(&mut self, until: u64) {
        while let Some(entry) = self.due.first_entry().filter(|entry| *entry.key() < until) {
            let (at, all) = entry.remove_entry();
            for due in all {
                self.settle_one(at, &due);
            }
        }
    }

    /// Settles what came at the last instant. What did not may have been cut off with the end of the run.
    pub fn settle_last(&mut self) {
        self.settle(self.now);
        for due in self.due.remove(&self.now).into_iter().flatten().filter(|due| due.got.is_some()) {
            self.settle_one(self.now, &due);
        }
    }

    fn settle_one(&mut self, at: u64, due: &Due) {
        let Some(index) = self.air.iter().position(|signal| signal.number == due.signal) else { return };
        self.air[index].pending -= 1;
        let frame = self.air[index].frame;
        let expected = self.expected(index, due.place);
        let is_whole = matches!(due.got, Some(Kind::Delivered { .. } | Kind::Duplicate { .. }));
        if is_whole && self.is_for_it_alone(index, due.place) {
            self.stations[due.place].has.insert(frame.station.index(), frame.serial);
        }
        let text = match (expected, due.got) {
            (Expected::Exactly(expected), got) if expected == got => return,
            (Expected::Exactly(Some(expected)), Some(got)) => {
                format!("{frame} arrives as {got:?}, and it is {expected:?} there")
            }
            (Expected::Exactly(Some(expected)), None) => {
                format!("{frame} arrives, and its `{}` is missing", expected.name())
            }
            (Expected::Exactly(None), got) => {
                format!("{frame} arrives as {got:?}, and the station receives nothing of it")
            }
            (Expected::Any { impossible: Some(why) }, Some(Kind::Delivered { .. })) => {
                format!("{frame} is delivered, and {why}")
            }
            (Expected::Any { .. }, _) => return,
        };
        let now = std::mem::replace(&mut self.now, at);
        self.violate(&RECEPTION, due.place, text);
        self.now = now;
    }

    fn expected(&self, index: usize, place: usize) -> Expected {
        let (station, signal) = (&self.stations[place], &self.air[index]);
        if !station.attached {
            return Expected::Exactly(None);
        }
        let captures = self.captures();
        let is_csma_cd = matches!(self.config.method, Method::CsmaCd);
        // Frames of one slot are lost, wherever they meet; slots of clocks that differ meet in part.
        let slotted = matches!(self.config.method, Method::SlottedAloha(_));
        let is_apart = |other: &Signal| other.begin == signal.begin && !other.reaches[place];
        let meets = slotted && (self.config.has_wrong_clocks() || self.air.iter().any(is_apart));
        if station.doubtful || captures || meets {
            let spoilt = !captures && !is_csma_cd && self.is_overlapped(index, place);
            let impossible =
                if signal.bad_fcs { Some("its FCS is bad") } else { spoilt.then_some("another signal was there") };
            return Expected::Any { impossible };
        }
        Expected::Exactly(if is_csma_cd { self.heard_csma_cd(index, place) } else { Some(self.heard(index, place)) })
    }

    /// A signal may survive others that it meets.
    pub fn captures(&self) -> bool {
        match &self.config.method {
            Method::CsmaCd | Method::Tdma(_) | Method::Plca(_) => false,
            Method::SlottedAloha(own) => own.capture.is_some(),
            Method::Aloha(own) => own.capture.is_some(),
            Method::Csma(own) => own.capture.is_some(),
            Method::CsmaCa(own) => own.capture.is_some(),
        }
    }

    /// A frame of CSMA/CA that the station at `place` acknowledges, and receives once.
    fn is_for_it_alone(&self, index: usize, place: usize) -> bool {
        let is_for_it = self.air[index].destination == Destination::Station(StationId::new(place as u16));
        is_for_it && matches!(self.config.method, Method::CsmaCa(_))
    }

    /// Another signal was at `place` during this one, or in its slot.
    fn is_overlapped(&self, index: usize, place: usize) -> bool {
        let signal = &self.air[index];
        if matches!(self.config.method, Method::SlottedAloha(_)) && !self.config.has_wrong_clocks() {
            let is_other = |other: &Signal| other.number != signal.number && other.begin == signal.begin;
            return self.air.iter().any(|other| is_other(other) && other.reaches[place]);
        }
        let (begin, end) = (signal.begin_at(place), signal.end_at(place));
        let others = self.air.iter().filter(|other| other.number != signal.number);
        others.map(|other| other.first_within(place, begin, end)).any(|met| met.is_some())
    }

    /// What an addressee makes of a signal where nothing is cut short.
    fn heard(&self, index: usize, place: usize) -> Kind {
        let signal = &self.air[index];
        if signal.bad_fcs || self.is_overlapped(index, place) {
            return Kind::Damaged { bits: BitTimes::new(signal.size * 8) };
        }
        let size = Octets::new(signal.size as u32);
        let latest = self.stations[place].has.get(&signal.frame.station.index());
        let has = self.is_for_it_alone(index, place) && latest == Some(&signal.frame.serial);
        if has { Kind::Duplicate { size } } else { Kind::Delivered { size } }
    }
}
