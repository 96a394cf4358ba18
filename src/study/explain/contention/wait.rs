//! What a station of CSMA/CA heard while it counted down its slots.

use super::air::{Air, Signal};
use medium::{BitInstant, BitTimes, StationId};

/// Signals that are kept of one wait: a window of 65,536 slots has no more stretches that anybody would read.
const MOST: usize = 65_536;

/// A wait of so many slots.
#[derive(Clone, Debug, Default)]
pub struct Wait {
    pub from: BitInstant,
    pub to: BitInstant,
    /// None before the first draw.
    pub slots: Option<u64>,
    heard: Vec<Signal>,
}

/// What stopped the count.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// In how many stretches the medium was busy at the station's place.
    pub stretches: u64,
    /// Of these, those that ended with something that it could not make out.
    pub spoilt: u64,
    /// How long it was busy.
    pub busy: BitTimes,
    /// Signals, in order.
    pub signals: Vec<Signal>,
    /// The latest reservation by an RTS or a CTS for others: up to when, and by what.
    pub reserved: Option<(BitInstant, Signal)>,
}

impl Wait {
    /// It begins at `from`, while these signals are somewhere.
    pub fn new(from: BitInstant, slots: u64, around: impl Iterator<Item = Signal>) -> Wait {
        Wait { from, to: from, slots: Some(slots), heard: around.collect() }
    }

    /// Another signal begins somewhere.
    pub fn hear(&mut self, signal: &Signal) {
        if self.slots.is_some() && self.heard.len() < MOST {
            self.heard.push(signal.clone());
        }
    }

    /// It is over at `to`.
    pub fn until(mut self, to: BitInstant) -> Wait {
        self.to = to;
        self
    }

    /// What of all this was at the place of `station` meanwhile. Signals that follow each other within `gap`, DIFS, are one
    /// stretch, since no slot counts between them.
    pub fn stopped(&self, air: &Air, station: StationId, gap: BitTimes) -> Stopped {
        let mut stopped =
            Stopped { stretches: 0, spoilt: 0, busy: BitTimes::ZERO, signals: Vec::new(), reserved: None };
        let here = |one: &Signal| air.heard(one, station).map(|(begin, end)| (begin, end, one.clone()));
        let mut heard: Vec<_> = self.heard.iter().filter_map(here).collect();
        heard.retain(|(begin, end, _)| *begin < self.to && *end > self.from);
        heard.sort_by_key(|(begin, ..)| *begin);
        let mut until: Option<BitInstant> = None;
        let mut spoilt = false;
        for (number, (begin, end, signal)) in heard.iter().enumerate() {
            let (from, to) = ((*begin).max(self.from), (*end).min(self.to));
            if until.is_none_or(|until| from > until + gap) {
                stopped.spoilt += u64::from(std::mem::take(&mut spoilt));
                stopped.stretches += 1;
            }
            let counted = until.map_or(from, |until| from.max(until));
            stopped.busy += BitTimes::new(to.get().saturating_sub(counted.get()));
            until = until.max(Some(to));
            let others = heard.iter().enumerate().filter(|(other, _)| *other != number);
            let met = others.into_iter().any(|(_, (other, over, _))| other < end && begin < over);
            spoilt = met;
            let reserved = *end + signal.reserves;
            if !met && signal.to != Some(station) && signal.reserves > BitTimes::ZERO {
                let later = stopped.reserved.as_ref().is_none_or(|(until, _)| *until < reserved);
                if later {
                    stopped.reserved = Some((reserved, signal.clone()));
                }
            }
            stopped.signals.push(signal.clone());
        }
        stopped.spoilt += u64::from(spoilt);
        stopped
    }
}
