//! What the rows tell of a station, and of the frames in its queue.

use crate::deference::Deference;
use crate::listening::Listening;
use medium::{Config, Destination, Fault, FrameId};
use std::collections::{HashMap, VecDeque};

/// What a station of CSMA/CD does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has no frame, or one that is ready at this very instant.
    Idle,
    /// frameWaiting.
    Waiting,
    Transmitting,
    Jamming,
    /// The jam is out; the delay is drawn, or the frame given up, at the same instant.
    Jammed,
    BackingOff,
}

/// A frame in a queue.
#[derive(Clone, Debug)]
pub struct Queued {
    pub id: FrameId,
    /// Padded, in octets.
    pub size: u64,
    pub destination: Destination,
    pub too_long: bool,
    pub arrived: u64,
    pub head_since: u64,
    pub attempts: u32,
    pub deferred: bool,
    /// Attempts of 802.11 that failed: those without a CTS, or without RTS; and those with a CTS.
    pub failures: [u32; 2],
    /// Where its latest preamble began, and where its last bit is due.
    pub sent: Option<(u64, u64)>,
    /// When its next attempt is due, unless it is deferred then.
    pub ready: Option<u64>,
}

impl Queued {
    /// A frame that comes at `now`.
    pub fn new(id: FrameId, size: u64, destination: Destination, now: u64) -> Queued {
        Queued {
            id,
            size,
            destination,
            too_long: false,
            arrived: now,
            head_since: now,
            attempts: 0,
            deferred: false,
            failures: [0; 2],
            sent: None,
            ready: None,
        }
    }
}

/// What the rows tell of a station.
#[derive(Debug)]
pub struct Station {
    pub attached: bool,
    pub fault: Option<Fault>,
    /// It has, or had, a fault of its receiver that draws chances: not everything about it is predicted.
    pub doubtful: bool,
    /// A frame was discarded then since it left, and no row has said that it did.
    pub left: Option<(u64, FrameId)>,
    pub serial: u64,
    pub queue: VecDeque<Queued>,
    pub queue_limit: usize,
    pub phase: Phase,
    pub deference: Deference,
    pub listening: Listening,
    /// The first bit of the burst under way.
    pub burst: Option<u64>,
    /// Its latest frame was transmitted then.
    pub sent_at: Option<u64>,
    /// The latest frame for it alone that it received of each sender.
    pub has: HashMap<usize, u64>,
}

impl Station {
    pub fn new(config: &Config, place: usize) -> Station {
        let count = config.topology.stations();
        let port = (place + config.ports.len()).checked_sub(count).and_then(|port| config.ports.get(port));
        Station {
            attached: place < count - config.seats,
            fault: None,
            doubtful: false,
            left: None,
            serial: 0,
            queue: VecDeque::new(),
            queue_limit: port.copied().unwrap_or(config.queue_limit),
            phase: Phase::Idle,
            deference: Deference::new(),
            listening: Listening::new(),
            burst: None,
            sent_at: None,
            has: HashMap::new(),
        }
    }
}
