//! The process Deference (802.3, 4.2.8), from the signals at a place. It is evaluated when a station acts.
//!
//! ```text
//!   Free ──carrier──► Busy ──silence──► Gap ──its end──► Free
//!                      ▲──carrier in part 1──┘
//! ```

use crate::signal::Signal;
use crate::ways::later;
use medium::Config;

/// What `deferring` is, and the place in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not deferring, no carrier.
    Free,
    /// Carrier since `since`.
    Busy { since: u64, was_transmitting: bool },
    /// Carrier ended at `since`. Carrier in part 1 restarts the gap, unless the station was transmitting.
    Gap { since: u64, was_transmitting: bool },
}

/// A station's deference, evaluated up to an instant.
#[derive(Clone, Debug)]
pub struct Deference {
    pub state: State,
    /// The carrier of all bit times before has been looked at.
    done: u64,
    /// Since when a frame waits that could be sent, if one does.
    pub freed: Option<u64>,
}

impl Deference {
    pub fn new() -> Deference {
        Deference { state: State::Free, done: 0, freed: None }
    }

    /// Goes on to the decisions at `now`, with the carrier of the bit times before. `waits`: frameWaiting.
    pub fn advance(&mut self, config: &Config, place: usize, air: &[Signal], now: u64, waits: bool) {
        let air = || air.iter().filter(|signal| signal.is_sensed(place));
        let carrier = |from: u64, until: u64| air().filter_map(|it| it.first_within(place, from, until)).min();
        let silence = |from: u64| {
            let mut at = from;
            while let Some(end) =
                air().filter(|it| it.begin_at(place) <= at && at < it.end_at(place)).map(|it| it.end_at(place)).max()
            {
                at = end;
            }
            at
        };
        let speaks = |from: u64, until: u64| {
            air().any(|it| it.station == place && it.first_within(place, from, until).is_some())
        };
        let parameters = &config.parameters;
        loop {
            match self.state {
                State::Free => {
                    let Some(since) = carrier(self.done, now) else { break self.done = self.done.max(now) };
                    self.state = State::Busy { since, was_transmitting: false };
                    self.done = since + 1;
                }
                State::Busy { since, was_transmitting } => {
                    let end = silence(self.done);
                    let was_transmitting = was_transmitting || speaks(since, end.min(now));
                    if end >= now {
                        self.state = State::Busy { since, was_transmitting };
                        break self.done = self.done.max(now);
                    }
                    self.state = State::Gap { since: end, was_transmitting };
                    self.done = end + 1;
                }
                State::Gap { since, was_transmitting } => {
                    let part_1 = later(config, place, since, parameters.inter_packet_gap_part_1.get());
                    let restarts = if was_transmitting { None } else { carrier(self.done, part_1.min(now)) };
                    if let Some(since) = restarts {
                        self.state = State::Busy { since, was_transmitting: false };
                        self.done = since + 1;
                        continue;
                    }
                    let end = later(config, place, since, parameters.inter_packet_gap.get());
                    if end > now {
                        break self.done = self.done.max(now);
                    }
                    let is_on = end > 0 && carrier(end - 1, end).is_some();
                    self.done = self.done.max(end);
                    if waits {
                        self.freed.get_or_insert(end);
                        self.state = State::Free;
                    } else if is_on {
                        self.state = State::Busy { since: end - 1, was_transmitting: false };
                    } else {
                        self.state = State::Free;
                    }
                }
            }
        }
    }
}
