//! A station's MAC: its transmit queue, its two machines, and what they remember of the frame at the head.

use crate::access::csma_cd::{Deference, Transmit};
use crate::config::Config;
use crate::frame::{FrameId, Queued, StationId, TransmissionId};
use crate::medium::Fault;
use crate::time::BitInstant;
use backoff::{Backoff, Generator, Limits};
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Station {
    pub id: StationId,
    pub attached: bool,
    pub transmit: Transmit,
    /// Kept only while the station waits to send; asked of the bus when it becomes ready.
    pub deference: Deference,
    pub queue: VecDeque<Queued>,
    /// Frames offered so far.
    pub serial: u64,
    pub backoff: Backoff,
    pub generator: Generator,
    /// When part 1 of the gap ends, while Deference is in it; the timer is that of the whole gap.
    pub part_1_end: BitInstant,
    /// It sent in the stretch of carrier that it waits through (4.2.8, wasTransmitting).
    pub was_transmitting: bool,
    /// When the frame at the head of the queue got there.
    pub head_since: BitInstant,
    /// When the station last became ready for an attempt.
    pub ready_since: BitInstant,
    /// The frame at the head was delayed on its first attempt.
    pub deferred: bool,
    /// The frame at the head has waited longer than maxDeferTime before.
    pub excessive_deferral: bool,
    /// When the current attempt began.
    pub begin: BitInstant,
    /// When the burst began that the station is in.
    pub burst: Option<BitInstant>,
    /// When its last frame ended: a frame that is ready by then goes on with the burst.
    pub burst_open_at: BitInstant,
    /// A collision of the frame at the head was late.
    pub late: bool,
    pub fault: Option<Fault>,
    pub transmission: Option<TransmissionId>,
}

impl Station {
    pub fn new(id: StationId, config: &Config) -> Station {
        let limits = Limits::IEEE_802_3
            .with_attempt_limit(config.parameters.attempt_limit)
            .with_backoff_limit(config.parameters.backoff_limit);
        Station {
            id,
            attached: true,
            transmit: Transmit::Idle,
            deference: Deference::Free,
            queue: VecDeque::new(),
            serial: 0,
            backoff: Backoff::new(limits),
            generator: Generator::stream(config.seed, id.index() as u64),
            part_1_end: BitInstant::ZERO,
            was_transmitting: false,
            head_since: BitInstant::ZERO,
            ready_since: BitInstant::ZERO,
            deferred: false,
            excessive_deferral: false,
            begin: BitInstant::ZERO,
            burst: None,
            burst_open_at: BitInstant::ZERO,
            late: false,
            fault: None,
            transmission: None,
        }
    }

    /// Which attempt the frame at the head is at, from 1.
    pub fn attempt(&self) -> u32 {
        self.backoff.attempts() + 1
    }

    /// The frame at the head of the queue.
    pub fn head(&self) -> &Queued {
        self.queue.front().expect("a station that is not Idle has a frame at the head of its queue")
    }

    pub fn frame(&self) -> FrameId {
        FrameId { station: self.id, serial: self.head().serial }
    }

    /// The next frame, if any, is at the head since `now`, and nothing has happened to it.
    pub fn renew_head(&mut self, now: BitInstant) {
        self.head_since = now;
        self.deferred = false;
        self.excessive_deferral = false;
        self.late = false;
        self.backoff.reset();
    }
}
