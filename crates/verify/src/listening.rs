//! What a station of CSMA/CA makes of the signals at its place: NAV, EIFS, and the slots of its backoff (802.11, 10.3).
//!
//! ```text
//!   signal│─ DIFS or EIFS ─│slot│slot│sl‥ signal│─ DIFS ─│slot│slot│attempt
//!         silent                      the part of a slot is lost
//! ```
//! It is evaluated when the station acts. It knows signals as they were sent, and no row.

use crate::signal::Signal;
use crate::times::Times;
use crate::ways::later;
use medium::{Config, Destination, FrameId, StationId};

/// A place, and the signals that get there.
#[derive(Clone, Copy)]
pub struct Ear<'a> {
    pub config: &'a Config,
    pub times: &'a Times,
    pub place: usize,
    /// The station is on the medium.
    pub attached: bool,
    pub air: &'a [Signal],
}

impl Ear<'_> {
    /// The end of a timer of the station.
    pub fn later(&self, at: u64, span: u64) -> u64 {
        later(self.config, self.place, at, span)
    }

    /// Signals that are at the place at the same time as `signal`.
    fn met(&self, signal: &Signal) -> impl Iterator<Item = &Signal> {
        let (begin, end) = (signal.begin_at(self.place), signal.end_at(self.place));
        let is_other = move |other: &&Signal| other.number != signal.number;
        self.air.iter().filter(is_other).filter(move |it| it.first_within(self.place, begin, end).is_some())
    }

    /// Nothing was there beside it, and its FCS is good.
    pub fn is_clear(&self, signal: &Signal) -> bool {
        !signal.bad_fcs && self.met(signal).next().is_none()
    }

    /// A station that is to send at `at` does so when its own signal is out.
    pub fn once_free(&self, at: u64) -> u64 {
        let covers = |it: &&Signal| it.station == self.place && it.begin < at && at < it.planned;
        self.air.iter().find(covers).map_or(at, |own| own.planned)
    }

    /// When the station's own signals are out.
    pub fn sends_until(&self) -> u64 {
        self.air.iter().filter(|it| it.station == self.place).filter_map(|it| it.end).max().unwrap_or(0)
    }
}

/// A station that counts slots.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// Slots are not counted before.
    not_before: u64,
    /// Slots that are left as the present silence begins; unknown after a frame, until another one comes.
    left: Option<u64>,
    /// Slots that were counted in silences before.
    counted: u64,
    /// A gap was over since.
    was_open: bool,
}

/// What a frame has to do that came while no other waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// It waits for the slots after the frame before.
    Counts,
    /// The medium is not free: it draws slots at once.
    Draws,
    /// It is sent then, without slots, if the medium stays free.
    Looks(u64),
}

/// Why a station must not send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Carrier,
    /// The medium is reserved up to then.
    Nav(u64),
    /// The gap is over then.
    Difs(u64),
    Eifs(u64),
    /// The slots are over then, if they are known.
    Slots(Option<u64>),
}

/// An answer that the station owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub at: u64,
    pub frame: FrameId,
    pub is_cts: bool,
}

/// What a station has heard, up to an instant.
#[derive(Debug, Default)]
pub struct Listening {
    /// The bit times before have been looked at.
    done: u64,
    /// Signals that are not for the station have reserved the medium up to here.
    pub nav: u64,
    /// The latest signal was spoilt: EIFS follows it.
    spoilt: bool,
    /// The first bit time of the present silence.
    silent: Option<u64>,
    wait: Option<Wait>,
    /// What a frame has to do that came while no other waited.
    pub first: Option<First>,
    pub answer: Option<Answer>,
    /// When a frame should have been sent that was not.
    pub missed: Option<u64>,
    /// An answer that did not come.
    pub unanswered: Option<Answer>,
}

impl Listening {
    pub fn new() -> Listening {
        Listening { silent: Some(0), ..Listening::default() }
    }

    /// Looks at the bit times before `now`.
    pub fn advance(&mut self, ear: Ear<'_>, now: u64) {
        while self.done < now {
            let at = self.done;
            let there = || ear.air.iter().filter(|it| it.reaches[ear.place]);
            for signal in there().filter(|it| it.end_at(ear.place) == at) {
                self.hears_out(ear, signal, at);
            }
            let is_on = |it: &Signal| it.is_sensed(ear.place) && it.first_within(ear.place, at, at + 1).is_some();
            if there().any(is_on) {
                self.freeze(ear, at);
            } else {
                self.silent.get_or_insert(at);
            }
            let edges = there().flat_map(|it| [it.begin_at(ear.place), it.end_at(ear.place)]);
            self.done = edges.filter(|edge| *edge > at).min().unwrap_or(now).min(now);
        }
        self.overdue(ear, now);
    }

    /// A signal ends at the place: NAV, EIFS, and whether a CTS answers it.
    fn hears_out(&mut self, ear: Ear<'_>, signal: &Signal, at: u64) {
        let is_own = signal.station == ear.place;
        let is_for_it = signal.destination == Destination::Station(StationId::new(ear.place as u16));
        let is_clear = ear.is_clear(signal);
        if !signal.unheard[ear.place] {
            self.spoilt = match is_own || is_clear {
                true => false,
                // A station that sends does not hear what it sends over.
                false => self.spoilt || ear.met(signal).all(|other| other.station != ear.place),
            };
            if is_clear && !is_own && !is_for_it {
                self.nav = self.nav.max(at + signal.reserves);
            }
        }
        if signal.is_rts && is_for_it && !is_own && is_clear && ear.attached && self.nav <= at {
            self.forget_answer(ear, at);
            self.answer = Some(Answer { at: ear.later(at, ear.times.sifs), frame: signal.frame, is_cts: true });
        }
    }

    /// The gap after the present silence began: slots are counted from its end on.
    fn gap_end(&self, ear: Ear<'_>, silent: u64) -> u64 {
        let end = ear.later(silent.max(self.nav), ear.times.difs);
        if self.spoilt { end.max(ear.later(silent, ear.times.eifs)) } else { end }
    }

    /// Slots that are over at `now`, in a count from `begin` on.
    fn passed(ear: Ear<'_>, begin: u64, now: u64) -> u64 {
        let over = |slots: &u64| ear.later(begin, slots * ear.times.slot) <= now;
        (1..).take_while(over).count() as u64
    }

    /// Carrier begins: the slots that are left wait for the next silence.
    fn freeze(&mut self, ear: Ear<'_>, at: u64) {
        let due = self.due(ear);
        let (Some(silent), Some(mut wait)) = (self.silent.take(), self.wait) else { return };
        if due.is_some_and(|due| due <= at) {
            self.missed = self.missed.or(due);
            self.wait = None;
            return;
        }
        let begin = self.gap_end(ear, silent).max(wait.not_before);
        let passed = Listening::passed(ear, begin, at);
        wait.was_open |= begin <= at;
        wait.counted += passed;
        wait.left = wait.left.map(|left| left.saturating_sub(passed));
        self.wait = Some(wait);
    }

    /// When the slots are over, if the place stays silent.
    fn due(&self, ear: Ear<'_>) -> Option<u64> {
        let (silent, wait) = (self.silent?, self.wait?);
        let begin = self.gap_end(ear, silent).max(wait.not_before);
        Some(ear.later(begin, wait.left? * ear.times.slot).max(ear.sends_until()))
    }

    /// An answer that was due before `now`: it has come, or the station was sending.
    fn forget_answer(&mut self, ear: Ear<'_>, now: u64) {
        let Some(answer) = self.answer.take_if(|answer| answer.at < now) else { return };
        let speaks = |it: &Signal| it.station == ear.place && it.begin <= answer.at && answer.at < it.planned;
        if !ear.air.iter().any(speaks) {
            self.unanswered = Some(answer);
        }
    }

    /// What should have come before `now` and did not.
    fn overdue(&mut self, ear: Ear<'_>, now: u64) {
        self.forget_answer(ear, now);
        let first = self.first.is_some_and(|first| matches!(first, First::Looks(at) if ear.once_free(at) < now));
        let due = self.due(ear).filter(|due| *due < now);
        if let Some(at) = due {
            (self.missed, self.wait) = (self.missed.or(Some(at)), None);
        } else if first && let Some(First::Looks(at)) = self.first.take() {
            self.missed = self.missed.or(Some(at));
        }
    }

    /// Slots of a frame: they are counted from `not_before` on, once the gap is over.
    pub fn draws(&mut self, slots: Option<u64>, not_before: u64) {
        self.wait = Some(Wait { not_before, left: slots, counted: 0, was_open: false });
        self.first = None;
    }

    pub fn stops(&mut self) {
        (self.wait, self.first) = (None, None);
    }

    /// A frame comes while the slots after the last one are counted, of which `slots` are left: gives how many there were
    /// at least, or nothing if none can be left.
    pub fn goes_on(&mut self, ear: Ear<'_>, slots: u64, now: u64) -> Option<u64> {
        let begin = self.silent.map(|silent| self.gap_end(ear, silent));
        let wait = self.wait.as_mut().filter(|wait| wait.left.is_none())?;
        let passed = begin.map_or(0, |begin| Listening::passed(ear, begin.max(wait.not_before), now));
        wait.left = Some(slots + passed);
        self.first = None;
        Some(slots + passed + wait.counted)
    }

    /// A frame comes, and no other waits.
    pub fn comes_first(&mut self, ear: Ear<'_>, now: u64) {
        let open = |wait: &Wait| {
            let begin = self.silent.map(|silent| self.gap_end(ear, silent).max(wait.not_before));
            wait.was_open || begin.is_some_and(|begin| begin <= now)
        };
        let free = self.silent.filter(|_| self.nav <= now);
        self.first = Some(match free {
            _ if !self.wait.as_ref().is_none_or(open) => First::Counts,
            Some(silent) => First::Looks(self.gap_end(ear, silent).max(now).max(ear.sends_until())),
            None => First::Draws,
        });
    }

    /// Nothing was at the place since a frame came then.
    pub fn is_silent_since(&self, came: u64) -> bool {
        self.silent.is_some_and(|silent| silent <= came)
    }

    /// Why the station must not send a frame now that came then; nothing if it may.
    pub fn wrong(&self, ear: Ear<'_>, came: u64, now: u64) -> Option<Wrong> {
        let due = match self.first {
            Some(First::Looks(at)) => Some(ear.once_free(at)).filter(|_| self.is_silent_since(came)),
            Some(First::Counts | First::Draws) => None,
            None => self.due(ear),
        };
        if due == Some(now) {
            return None;
        }
        let Some(silent) = self.silent else { return Some(Wrong::Carrier) };
        let difs = ear.later(silent.max(self.nav), ear.times.difs);
        let eifs = if self.spoilt { ear.later(silent, ear.times.eifs) } else { 0 };
        Some(match now {
            _ if self.nav > now => Wrong::Nav(self.nav),
            _ if difs > now => Wrong::Difs(difs),
            _ if eifs > now => Wrong::Eifs(eifs),
            _ => Wrong::Slots(due),
        })
    }
}
