//! Where senders detect no collisions: what the station of a frame did, why it waited, and what met the frame.

use super::super::attempts::addressee;
use super::super::hearing::{heard, there};
use super::super::story::{Sent, Setting, Step, Story, What};
use super::super::timeline::rows;
use crate::words::contention;
use crate::words::lines::{list, wrap};
use crate::words::sentences;
use crate::words::units::group;
use medium::{
    BitInstant, BitTimes, Deed, Destination, Event, Fault, Input, Kind, Method, Persistence, Population, SlottedAloha,
    Tdma,
};
use std::ops::Deref;

/// Parties that are named one by one.
pub const NAMED: usize = 4;

/// The words of ALOHA, slotted ALOHA, CSMA and CSMA/CA.
pub struct Words<'a>(pub &'a Story);

impl Deref for Words<'_> {
    type Target = Story;
    fn deref(&self) -> &Story {
        self.0
    }
}

impl super::Teller for Words<'_> {
    fn heading(&self) -> String {
        let backoff = |policy| contention::name(policy).unwrap_or_default();
        let method = match &self.config.method {
            Method::Aloha(own) => format!("pure ALOHA (Abramson 1970), backoff {}", backoff(&own.backoff)),
            Method::SlottedAloha(own) => {
                let waits = match own.control {
                    Some(control) => format!("control {}", contention::control_name(control)),
                    None => format!("backoff {}", backoff(&own.backoff)),
                };
                format!("slotted ALOHA (Roberts 1972), slot {}, {waits}", self.span(own.slot))
            }
            Method::Tdma(own) => format!(
                "TDMA, {} slots a frame, slot {}, guard time {}",
                own.owners.len(),
                self.span(own.slot),
                self.span(own.guard)
            ),
            Method::Csma(own) => format!(
                "CSMA, persistence {} (Kleinrock and Tobagi 1975), backoff {}",
                contention::persistence_name(own.persistence),
                backoff(&own.backoff)
            ),
            Method::CsmaCa(own) => {
                let rts = if own.rts { " with RTS and CTS" } else { "" };
                format!("CSMA/CA (IEEE 802.11, 10.3), {}{rts}, slot {}", own.phy.name(), self.span(own.phy.slot()))
            }
            Method::CsmaCd | Method::Plca(_) => String::new(),
        };
        format!("{}\n{method}", self.medium())
    }

    fn step(&self, number: usize) -> (usize, String) {
        (1, self.words(number, &self.steps[number]))
    }

    fn ending(&self, cut: &str) -> String {
        format!("\n{}", wrap("", 0, &format!("{}.", self.not_ended(cut))))
    }

    fn drawn(&self) -> String {
        rows(self)
    }

    fn in_short(&self) -> String {
        let met = self.count(|kind| matches!(kind, Kind::Collision { .. }));
        let gave_way = self.count(|kind| matches!(kind, Kind::Defer { .. }));
        let on_air = self.signals().fold(BitTimes::ZERO, |sum, part| {
            let end = part.end.unwrap_or(self.read_to);
            sum + end.min(self.read_to.max(part.begin)).since(part.begin)
        });
        let mut text = format!(
            "In short: {}, {met} of them in a collision; {} on the medium.",
            super::counted(self.tries.len(), "attempt"),
            self.span(on_air)
        );
        if gave_way > 0 {
            text += &format!(" It found the medium busy {}.", often(gave_way as u64));
        }
        if let (Some(first), Some(end)) = (self.steps.first(), self.end) {
            text += &format!(" From its arrival to its end: {}.", self.span(end.since(first.at)));
        }
        format!("\n{}", wrap("", 0, &text))
    }
}

impl Words<'_> {
    fn words(&self, number: usize, step: &Step) -> String {
        match &step.what {
            What::After(before) => {
                format!("{} is done with {}: this frame is at the head of the queue.", self.own(), self.name(*before))
            }
            What::Input(input, _) => self.done(input),
            What::Unheard(..) => String::new(),
            What::Event(event) => match &self.config.method {
                Method::CsmaCa(own) => self.wireless(own, number, step, event),
                Method::CsmaCd | Method::Plca(_) => String::new(),
                _ => self.event(number, step, event),
            },
        }
    }

    fn done(&self, input: &Input) -> String {
        match *input {
            Input::Deed(Deed::Plug { station }) => format!("{} is put back on the medium.", self.station(station)),
            Input::Deed(Deed::Unplug { station }) => format!("{} is taken off the medium.", self.station(station)),
            Input::Deed(Deed::Add { station, .. }) => format!("{} joins.", self.station(station)),
            Input::Deed(Deed::Remove { station }) => format!("{} leaves the medium.", self.station(station)),
            Input::Deed(Deed::Fault { station, fault }) => {
                let fault = match fault {
                    Some(Fault::Deaf) => "gets the fault `deaf`: it hears no signal that begins from now on",
                    Some(Fault::FullDuplex) => {
                        "gets the fault `full_duplex`: it defers to no signal that begins from now on"
                    }
                    Some(Fault::OneWay) => "gets the fault `one_way`: it hears and receives nothing from now on",
                    Some(Fault::BitErrors(_)) => "gets noise: frames arrive there with wrong bits from now on",
                    Some(Fault::Signals { .. }) => "gets a fault of PLCA's signals, which it does not use",
                    Some(Fault::BadFcs) => "gets the fault `bad_fcs`: what it sends from now on has a bad FCS",
                    Some(Fault::Babble) => "gets the fault `babble`",
                    None => "is healed",
                };
                format!("{} {fault}.", self.station(station))
            }
            Input::Deed(Deed::Cut(Some(_))) => "The cable is cut: no signal that begins from now on passes.".to_owned(),
            Input::Deed(Deed::Cut(None)) => "The cable is mended.".to_owned(),
            Input::Offer { .. } | Input::Deed(_) => String::new(),
        }
    }

    /// An event of ALOHA, slotted ALOHA or CSMA.
    fn event(&self, number: usize, step: &Step, event: &Event) -> String {
        match event.kind {
            Kind::Attempt { attempt, .. } => self.attempts(number, step, attempt),
            Kind::Defer { .. } => self.plain(event) + &self.hears_busy(step),
            Kind::Collision { attempt, .. } => self.plain(event) + &self.collides(step, attempt),
            Kind::Backoff { attempt, slots } => self.backs_off(number, event, attempt, slots),
            _ => self.common(step, event),
        }
    }

    /// What every method tells alike.
    pub(super) fn common(&self, step: &Step, event: &Event) -> String {
        match event.kind {
            Kind::Offered { size } => self.offered(step, size.get()),
            Kind::QueueDrop => format!(
                "The transmit queue is full ({} frames): the frame is dropped at its tail.",
                group(self.config.queue_limit as u64)
            ),
            Kind::Transmitted { .. } => {
                let known = match self.destination {
                    Some(Destination::Station(to)) if to != self.frame.station => {
                        format!("The acknowledgement comes: {} has the frame.", self.station(to))
                    }
                    Some(_) => "Nothing has met the frame.".to_owned(),
                    None => "The frame got through.".to_owned(),
                };
                format!("{known} {}", self.plain(event))
            }
            _ => self.plain(event),
        }
    }

    /// What every window has for an event.
    pub(super) fn plain(&self, event: &Event) -> String {
        sentences::sentence(event, &self.names[event.station.index()], &self.config)
    }

    fn offered(&self, step: &Step, size: u32) -> String {
        let whom = self.whom();
        let own = self.own();
        let Setting::Behind(ahead) = step.setting else { return String::new() };
        let queue = match ahead {
            _ if self.config.population() == Population::Infinite => {
                "It has a user of its own, and waits behind no other.".to_owned()
            }
            0 => format!("No other frame of {own} is before it."),
            1 => format!("It waits behind 1 frame of {own} itself."),
            _ => format!("It waits behind {} frames of {own} itself.", group(ahead)),
        };
        format!(
            "The host of {own} hands the frame{whom} to its MAC: {size} octets from destination address to FCS. {queue}"
        )
    }

    fn attempts(&self, number: usize, step: &Step, attempt: u32) -> String {
        let own = self.own();
        let why = match &self.config.method {
            Method::Aloha(_) if attempt == 1 => format!("{own} sends at once, whatever is on the medium"),
            Method::Aloha(_) => format!("The wait is over, and {own} sends, whatever is on the medium"),
            Method::SlottedAloha(_) => self.takes_the_slot(number, step),
            Method::Tdma(own) => self.owns_the_slot(own, step),
            Method::Csma(csma) => self.senses_silence(number, step, csma.persistence),
            Method::CsmaCa(_) | Method::CsmaCd | Method::Plca(_) => String::new(),
        };
        format!("{why}: attempt {attempt}{}.{}{}", self.of_limit(), self.not_heard_yet(step), self.vulnerable(attempt))
    }

    /// Frames draw for each slot, in place of a backoff.
    fn draws_each_slot(&self) -> bool {
        matches!(&self.config.method, Method::SlottedAloha(SlottedAloha { control: Some(_), .. }))
    }

    fn takes_the_slot(&self, number: usize, step: &Step) -> String {
        let own = self.own();
        if self.draws_each_slot() {
            return format!("A slot begins, and {own} sends in it, as the draw of its frame for this slot says");
        }
        let before = number.checked_sub(1).map(|before| &self.steps[before]);
        let arrived =
            before.filter(|before| matches!(before.kind(), Some(Kind::Offered { .. })) && before.at < step.at);
        match arrived {
            Some(before) => format!(
                "The next slot begins, {} after the frame came: {own} sends in it, whoever else does",
                self.span(step.at.since(before.at))
            ),
            None => format!("A slot begins, and {own} sends in it, whoever else does"),
        }
    }

    /// The slot of a fixed frame, by its number from 1.
    fn owns_the_slot(&self, tdma: &Tdma, step: &Step) -> String {
        let (own, slots) = (self.own(), tdma.owners.len() as u64);
        let slot = self.config.clock(self.frame.station).next_slot(step.at, tdma.slot) % slots + 1;
        format!("Slot {slot} of {slots} begins, and {own}, which owns it, sends")
    }

    /// When anything else spoils the attempt.
    fn vulnerable(&self, attempt: u32) -> String {
        let Some(sent) = self.the_try(attempt).and_then(|one| one.parts.first()) else { return String::new() };
        let (begin, end, place) = match addressee(self.destination, sent) {
            Some(place) => match there(sent, place, &self.config) {
                Some((begin, end)) => (begin, end, format!("at the place of {}", self.station(place))),
                None => return format!(" It does not get to {}, the addressee.", self.station(place)),
            },
            None => (sent.begin, sent.end.unwrap_or(sent.begin), "anywhere".to_owned()),
        };
        let lasts = self.span(end.since(begin));
        let spoils = match &self.config.method {
            Method::SlottedAloha(_) | Method::Tdma(_) if self.config.has_wrong_clocks() => format!(
                "The slots of other stations begin by other clocks: whatever is {place} between t = {} and {} spoils it",
                group(begin.get()),
                group(end.get())
            ),
            Method::SlottedAloha(_) => "Any other frame of this slot spoils it".to_owned(),
            Method::Tdma(_) => "No other station sends in this slot, and guard time keeps the next one off".to_owned(),
            Method::Aloha(_) => format!(
                "Whatever is {place} between t = {} and {} spoils it: frames as long as this one, if they begin less than \
                 their length before or after it (the vulnerable period)",
                group(begin.get()),
                group(end.get())
            ),
            Method::Csma(_) | Method::CsmaCa(_) | Method::CsmaCd | Method::Plca(_) => {
                format!("Whatever is {place} between t = {} and {} spoils it", group(begin.get()), group(end.get()))
            }
        };
        format!(" The frame lasts {lasts}. {spoils}.")
    }

    /// Signals that have begun, and are not at the sender's place so far.
    fn not_heard_yet(&self, step: &Step) -> String {
        let Method::Csma(_) = self.config.method else { return String::new() };
        let coming = |one: &&Sent| {
            let there = heard(one, self.frame.station, &self.config);
            one.begin < step.at && there.is_some_and(|(begin, _)| begin >= step.at)
        };
        let coming: Vec<String> = around(step)
            .filter(coming)
            .take(NAMED)
            .map(|one| {
                let way = self.config.way(one.source, one.begin, self.frame.station);
                format!(
                    "{}, which began {} ago, {} away",
                    self.name(one.frame),
                    self.span(step.at.since(one.begin)),
                    self.span(way)
                )
            })
            .collect();
        if coming.is_empty() { String::new() } else { format!(" It cannot hear yet: {}.", coming.join("; ")) }
    }

    fn senses_silence(&self, number: usize, step: &Step, persistence: Persistence) -> String {
        let own = self.own();
        let before = self.steps[..number].iter().rev().find_map(Step::kind);
        let has_waited = matches!(before, Some(Kind::Defer { .. }));
        match persistence {
            Persistence::One | Persistence::Non if !has_waited => {
                format!("{own} senses the medium: the last bit time was silent, so it sends")
            }
            Persistence::One | Persistence::Non => format!(
                "The medium has fallen silent, and {own} sends with certainty, as does whoever has waited for the same silence"
            ),
            Persistence::Millionths(_) => {
                let slot = self.config.topology.round_trip().get() / 2 + 1;
                let Setting::Around { free, .. } = step.setting else { return String::new() };
                let first = free.get().div_ceil(slot) * slot;
                let passed = step.at.get().saturating_sub(first) / slot;
                let passed = match passed {
                    0 => "in the first such slot the draw says yes".to_owned(),
                    1 => "the draw lets 1 such slot go by, and says yes in the next".to_owned(),
                    many => format!("the draw lets {} such slots go by, and says yes in the next", group(many)),
                };
                format!(
                    "The medium is silent, and {own} sends in each slot of the line, {}, with the chance {}; {passed}",
                    self.span(BitTimes::new(slot)),
                    contention::persistence_name(persistence)
                )
            }
        }
    }

    fn hears_busy(&self, step: &Step) -> String {
        let at = step.at;
        let sensed = |one: &&Sent| {
            let there = heard(one, self.frame.station, &self.config);
            there.is_some_and(|(begin, end)| begin <= at && end >= at)
        };
        let sensed: Vec<&Sent> = around(step).filter(sensed).collect();
        let named: Vec<String> = sensed.iter().take(NAMED).map(|one| self.name(one.frame)).collect();
        let what = match (named.len(), sensed.len()) {
            (0, _) => "It".to_owned(),
            (named_too, all) if named_too == all => format!("It hears {}, and", list(&named)),
            _ => format!("It hears {} and others, and", list(&named)),
        };
        let begins =
            sensed.iter().any(|one| heard(one, self.frame.station, &self.config).is_some_and(|(begin, _)| begin == at));
        let Method::Csma(csma) = &self.config.method else { return String::new() };
        let then = match csma.persistence {
            Persistence::One => "waits for the first silent bit",
            Persistence::Non => "gives way",
            Persistence::Millionths(_) if begins => "gives way, since that begins before its turn",
            Persistence::Millionths(_) => "waits for silence",
        };
        format!(" {what} {then}.")
    }

    fn backs_off(&self, number: usize, event: &Event, attempt: u32, slots: u64) -> String {
        let before = self.steps[..number].iter().rev().take_while(|one| one.at == event.at).find_map(Step::kind);
        let failures =
            self.steps[..=number].iter().filter(|one| matches!(one.kind(), Some(Kind::Backoff { .. }))).count();
        let told = self.plain(event);
        let told = format!("{}: {}.", told.trim_end_matches('.'), self.until(event.at, slots));
        let why = match before {
            Some(Kind::Defer { .. } | Kind::Collision { .. }) => String::new(),
            Some(_) | None => format!("No acknowledgement: {}. ", self.why_alone(attempt)),
        };
        let policy = match &self.config.method {
            Method::Aloha(own) => &own.backoff,
            Method::SlottedAloha(own) => &own.backoff,
            Method::Csma(own) => &own.backoff,
            _ => return why + &told,
        };
        let policy = contention::name(policy).unwrap_or_default();
        let times = self.times(failures);
        match before {
            Some(Kind::Defer { .. }) => {
                let drawn = group(slots.saturating_sub(1));
                format!(
                    "Giving way counts as a failure of this frame, {times}: it waits 1, and {drawn} more as {policy} draws. {told}"
                )
            }
            _ => format!("{why}A failure of this frame, {times}: {policy} draws. {told}"),
        }
    }

    fn times(&self, failures: usize) -> String {
        match failures {
            1 => "the first".to_owned(),
            2 => "the second".to_owned(),
            3 => "the third".to_owned(),
            more => format!("number {}", group(more as u64)),
        }
    }

    fn until(&self, at: BitInstant, slots: u64) -> String {
        match self.config.backoff_end(self.frame.station, at, slots) {
            Some(end) if slots > 0 => format!("{}, up to t = {}", self.span(end.since(at)), group(end.get())),
            Some(_) | None => "it is ready again at once".to_owned(),
        }
    }

    /// Why an attempt failed that nothing met.
    pub(super) fn why_alone(&self, attempt: u32) -> String {
        let sent = self.the_try(attempt).and_then(|one| one.parts.first());
        match (self.destination, sent) {
            (Some(Destination::Nobody), _) => "no station has the address that it is for".to_owned(),
            (Some(Destination::Station(to)), Some(sent)) if there(sent, to, &self.config).is_none() => {
                format!("{} is out of its reach", self.station(to))
            }
            (_, Some(sent)) if sent.fault == Some(Fault::BadFcs) => {
                format!("nothing met the frame, but {} has the fault `bad_fcs`", self.own())
            }
            _ => "nothing met the frame, but the addressee did not get it whole: it was off the medium, or the frame came \
                  damaged"
                .to_owned(),
        }
    }
}

/// A number of times, in words.
pub(super) fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", group(more)),
    }
}

/// Signals of others at the station's place as it decides, or on their way there.
pub(super) fn around(step: &Step) -> impl Iterator<Item = &Sent> {
    let signals = if let Setting::Around { signals, .. } = &step.setting { signals.as_slice() } else { &[] };
    signals.iter()
}
