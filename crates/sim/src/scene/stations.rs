//! What each station does, and which frames it holds: a fold of events.

use medium::{BitInstant, Config, Event, FrameId, HostKind, MacKind, Part, StationId, WirelessKind};
use std::collections::VecDeque;

/// What a station does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// It has nothing to send.
    #[default]
    Idle,
    /// It has a frame, and has not begun with it.
    Ready,
    /// It waits for the end of the carrier and of the gap.
    Deferring,
    /// It sends, or waits for the answer to what it has sent.
    Sending,
    /// It has noticed a collision and sends what is left, and the jam.
    Jamming,
    /// It waits.
    BackingOff {
        /// How many slots it has drawn.
        slots: u64,
        /// When the delay is over; `None` where slots count only while the medium is silent.
        until: Option<BitInstant>,
    },
    /// PLCA has told its MAC of a collision that is none, to have it wait for its turn.
    ToldToWait,
    /// Notes are missing, and nothing was heard of it since.
    Unknown,
}

/// A station.
#[derive(Clone, Debug, Default)]
pub struct Station {
    /// What the station does.
    pub doing: Doing,
    /// The frame that it is busy with, if any.
    pub frame: Option<FrameId>,
    /// That frame's attempts so far.
    pub attempt: u32,
    /// The frames that it holds, by number.
    queue: VecDeque<u64>,
}

impl Station {
    /// Frames that it holds, the one that it is busy with included.
    pub fn queue(&self) -> usize {
        self.queue.len()
    }

    /// The frame at the head of its queue.
    pub fn head(&self) -> Option<u64> {
        self.queue.front().copied()
    }

    /// The medium is done with a frame; where in the queue that was.
    fn leaves(&mut self, serial: u64) -> Option<usize> {
        // Nearly always the first.
        let place = self.queue.iter().position(|own| *own == serial)?;
        self.queue.remove(place);
        Some(place)
    }

    /// It is done with the frame that it was busy with.
    fn done(&mut self) {
        (self.frame, self.attempt) = (None, 0);
        self.doing = if self.queue.is_empty() { Doing::Idle } else { Doing::Ready };
    }
}

/// All stations.
#[derive(Clone, Debug)]
pub struct Stations(Vec<Station>);

impl Stations {
    /// Of a medium without any note so far.
    pub fn new(count: usize) -> Stations {
        Stations(vec![Station::default(); count])
    }

    /// A station.
    pub fn get(&self, station: StationId) -> &Station {
        &self.0[station.index()]
    }

    /// Some events are missing: what a station does is unknown until something is heard of it.
    pub fn forget(&mut self) {
        self.0.fill(Station { doing: Doing::Unknown, ..Station::default() });
    }

    /// Takes an event; where in its station's queue the frame was that leaves it with this event.
    pub fn event(&mut self, event: &Event, config: &Config) -> Option<usize> {
        let Event { at, frame, kind, .. } = *event;
        let station = &mut self.0[frame.station.index()];
        match kind.part() {
            Part::Host(HostKind::Offered { .. }) => {
                station.queue.push_back(frame.serial);
                if station.doing == Doing::Idle {
                    station.doing = Doing::Ready;
                }
            }
            Part::Mac(MacKind::Defer { attempt }) => {
                (station.doing, station.frame, station.attempt) = (Doing::Deferring, Some(frame), attempt);
            }
            Part::Mac(MacKind::Attempt { attempt, .. }) => {
                (station.doing, station.frame, station.attempt) = (Doing::Sending, Some(frame), attempt);
                // Its `offered` may be missing.
                if station.queue.is_empty() {
                    station.queue.push_back(frame.serial);
                }
            }
            Part::Mac(MacKind::Collision { episode: 0, .. }) => station.doing = Doing::ToldToWait,
            Part::Mac(MacKind::Collision { .. }) if config.detects_collisions() => station.doing = Doing::Jamming,
            Part::Mac(MacKind::Backoff { slots, .. }) => {
                station.doing = Doing::BackingOff { slots, until: config.backoff_end(event.station, at, slots) };
            }
            Part::Wireless(WirelessKind::Rts { .. } | WirelessKind::Data { .. }) => station.doing = Doing::Sending,
            Part::Host(HostKind::QueueDrop) => return station.leaves(frame.serial),
            Part::Mac(MacKind::Transmitted { .. } | MacKind::Discarded { .. }) => {
                let place = station.leaves(frame.serial);
                // One further back in the queue leaves what the station does as it is.
                if station.frame.is_none_or(|busy| busy == frame) {
                    station.done();
                }
                return place;
            }
            Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) | Part::Plca(_) => {}
        }
        None
    }
}
