//! A station's queue: each frame is offered once, waits its turn, and is over once.

use crate::bus::Bus;
use crate::signal::PREAMBLE_AND_SFD;
use crate::station::Queued;
use crate::violation::{ADMISSION, ATTEMPTS, CONSERVATION, DELAYS, DURATION, ORDER};
use medium::{BitTimes, Cause, Config, Destination, FrameId, HEADER_AND_FCS, Method, Octets, Population};

/// Each frame has a sender of its own.
pub fn is_infinite(config: &Config) -> bool {
    let population = match &config.method {
        Method::Aloha(own) => own.population,
        Method::SlottedAloha(own) => own.population,
        Method::Csma(own) => own.population,
        Method::CsmaCd | Method::CsmaCa(_) | Method::Tdma(_) | Method::Plca(_) => Population::Stations,
    };
    population == Population::Infinite
}

impl Bus {
    pub fn offered(&mut self, frame: FrameId, size: Octets, to: Option<(Destination, bool)>) {
        let (now, place, infinite) = (self.now, frame.station.index(), is_infinite(&self.config));
        let expected = self.stations[place].serial + 1;
        self.demand(frame.serial == expected, &CONSERVATION, place, || {
            format!("frame {} is offered, and the station's next one is {expected}", frame.serial)
        });
        let (destination, tagged) = to.unwrap_or((Destination::Nobody, false));
        let parameters = self.config.parameters;
        let too_long = size > parameters.frame_size_limit(tagged);
        // The MAU cuts off stations that babble.
        let most = (parameters.jabber_limit.get() - PREAMBLE_AND_SFD) / 8;
        let padded = u64::from(size.get().max(parameters.min_frame_size.get()));
        let this = &mut self.stations[place];
        this.serial = frame.serial;
        let is_head = infinite || this.queue.is_empty();
        let size = if too_long { padded.min(most) } else { padded };
        let ready = is_head.then_some(now);
        this.queue.push_back(Queued { too_long, ready, ..Queued::new(frame, size, destination, now) });
    }

    /// A full queue refuses its frame at once.
    pub fn queue_drop(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.named(frame, "is dropped") else { return };
        let this = &mut self.stations[place];
        let (waiting, limit, arrived) = (this.queue.len() - 1, this.queue_limit, this.queue[index].arrived);
        this.queue.remove(index);
        self.demand(waiting >= limit, &ADMISSION, place, || {
            format!("{frame} is dropped with {waiting} frames in a queue for {limit}: a queue drops when it is full")
        });
        self.demand(arrived == now, &ADMISSION, place, || format!("{frame} is dropped later than it came"));
    }

    /// The place of `frame` in its queue. A frame that is not there was never offered, or is over.
    pub fn named(&mut self, frame: FrameId, what: &str) -> Option<usize> {
        let index = self.frame(frame);
        let place = frame.station.index();
        self.demand(index.is_some(), &CONSERVATION, place, || {
            format!("{frame} {what}, and the station has no such frame: it was not offered, or was over before")
        });
        index
    }

    /// An attempt of a frame that is at its head, with the number that follows the one before.
    pub fn attempts(&mut self, frame: FrameId, attempt: u32) -> Option<usize> {
        let place = frame.station.index();
        let index = self.named(frame, "is attempted")?;
        self.demand(index == 0 || is_infinite(&self.config), &ORDER, place, || {
            format!("{frame} is attempted before frames that came earlier")
        });
        let before = self.stations[place].queue[index].attempts;
        self.demand(attempt == before + 1, &ATTEMPTS, place, || {
            format!("{frame} is attempted with the number {attempt}, and the attempt before was number {before}")
        });
        let limit = self.config.attempt_limit().map_or(u32::MAX, |limit| limit.get());
        self.demand(attempt <= limit, &ATTEMPTS, place, || {
            format!("{frame} is attempted a {attempt}th time: attemptLimit is {limit}")
        });
        self.stations[place].queue[index].attempts = attempt;
        Some(index)
    }

    /// The frame is over: whether its counts and delays are those of its rows.
    pub fn transmitted(&mut self, frame: FrameId, told: &Sent) {
        let place = frame.station.index();
        let Some(index) = self.named(frame, "is transmitted") else { return };
        let queued = self.stations[place].queue[index].clone();
        let Some((begin, end)) = queued.sent else {
            return self.violate(&CONSERVATION, place, format!("{frame} is transmitted without an attempt"));
        };
        self.demand(u64::from(told.size.get()) == queued.size, &DURATION, place, || {
            format!("{frame} is transmitted with {} octets, and has {}", told.size.get(), queued.size)
        });
        self.demand(told.attempts == queued.attempts, &ATTEMPTS, place, || {
            format!("{frame} is transmitted after {} attempts, and there were {}", told.attempts, queued.attempts)
        });
        // A node of PLCA sends what its MAC has begun to send in its turn; 802.11 counts the acknowledgement.
        let is_plca = matches!(self.config.method, Method::Plca(_));
        let over = if matches!(self.config.method, Method::CsmaCa(_)) { self.now } else { end };
        let (access, mac) = (begin.saturating_sub(queued.head_since), over.saturating_sub(queued.arrived));
        self.demand(is_plca || told.access_delay.get() == access, &DELAYS, place, || {
            format!("{frame} has an access delay of {} BT, and its rows one of {access} BT", told.access_delay.get())
        });
        self.demand(is_plca || told.mac_delay.get() == mac, &DELAYS, place, || {
            format!("{frame} has a MAC delay of {} BT, and its rows one of {mac} BT", told.mac_delay.get())
        });
        self.demand(self.now >= end, &DURATION, place, || {
            format!("{frame} is transmitted, and its last bit is out at {end}")
        });
        self.over(place, index);
    }

    /// The frame is given up: whether there is that cause.
    pub fn discarded(&mut self, frame: FrameId, cause: Cause, attempts: u32) {
        let place = frame.station.index();
        let Some(index) = self.named(frame, "is discarded") else { return };
        let this = &self.stations[place];
        let queued = this.queue[index].clone();
        let limit = self.config.attempt_limit().map_or(u32::MAX, |limit| limit.get());
        let is_dcf = matches!(self.config.method, Method::CsmaCa(_));
        let is_cause = match cause {
            Cause::ExcessiveCollisions => is_dcf || attempts == limit,
            Cause::LateCollision => self.config.parameters.extend_size.get() > 0,
            // The row of the deed may come after this one, at the same instant.
            Cause::Detached => true,
            Cause::TooShort | Cause::TooLong => queued.attempts == 0,
        };
        if cause == Cause::Detached && this.attached {
            self.stations[place].left = Some((self.now, frame));
        }
        self.demand(is_cause, &ATTEMPTS, place, || {
            format!("{frame} is discarded after {attempts} attempts for `{}`, which is not so", cause.name())
        });
        self.demand(attempts == queued.attempts, &ATTEMPTS, place, || {
            format!("{frame} is discarded after {attempts} attempts, and there were {}", queued.attempts)
        });
        let is_short = queued.size < u64::from(HEADER_AND_FCS.get());
        self.demand(!is_short || cause == Cause::TooShort, &ADMISSION, place, || {
            format!("{frame} has no whole header")
        });
        self.over(place, index);
    }

    /// Takes a frame out of its queue. The next one is at its head from now on.
    fn over(&mut self, place: usize, index: usize) {
        let (now, infinite) = (self.now, is_infinite(&self.config));
        let this = &mut self.stations[place];
        this.queue.remove(index);
        if index == 0 && !infinite {
            this.deference.freed = None;
            if let Some(next) = this.queue.front_mut() {
                (next.head_since, next.ready) = (now, Some(now));
            }
        }
    }
}

/// What a `transmitted` tells.
pub struct Sent {
    pub size: Octets,
    pub attempts: u32,
    pub access_delay: BitTimes,
    pub mac_delay: BitTimes,
}
