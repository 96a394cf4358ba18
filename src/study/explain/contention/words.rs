//! A frame's life in words: what its station did, why it waited, and what met the frame.

use super::super::words::{list, wrap};
use super::super::{ToldLife, ToldStep};
use super::air::Signal;
use super::{Life, Step, Try, What, drawn};
use medium::{
    BitInstant, BitTimes, Cause, Destination, Event, Fault, FrameId, Input, Kind, Method, Persistence, Population,
    StationId, Tdma,
};
use sim::files::event_log::Header;
use sim::words::configuration::{kind, longest_distance};
use sim::words::contention;
use sim::words::sentences::{self, TIED, frame_name};
use sim::words::units::group;

/// Parties that are named one by one.
pub(super) const NAMED: usize = 4;

/// The life as data.
pub fn data(life: &Life) -> ToldLife {
    let told = |(number, step): (usize, &Step)| {
        let kind = match &step.what {
            What::Event(event) => event.kind.name(),
            What::Input(_) => "input",
            What::After(_) => "head",
        };
        ToldStep::new(step.at, kind, &life.words(number, step))
    };
    ToldLife::new(&life.names, life.frame, life.steps.iter().enumerate().map(told).collect())
}

/// Tells the whole life: what it is about, step by step, drawn, and in short.
pub fn tell(life: &Life, header: &Header) -> String {
    let mut text = life.heading(header);
    let begin = life.steps.first().map_or(BitInstant::ZERO, |step| step.at);
    text += &format!("{:>16}{:>12}\n", "t in BT", "since then");
    for (number, step) in life.steps.iter().enumerate() {
        let head = format!("{:>16}{:>12}", group(step.at.get()), group(step.at.since(begin).get()));
        text += &wrap(&head, 30, &life.words(number, step));
    }
    text += &life.ending();
    text += &life.emulated.tell(&life.names);
    text += &drawn::rows(life);
    text += &format!("\n{}", wrap("", 0, &life.in_short()));
    text.replace(TIED, " ")
}

impl Life {
    fn heading(&self, header: &Header) -> String {
        let config = &self.air.config;
        let of = if header.name.is_empty() { String::new() } else { format!(" of `{}`", header.name) };
        let backoff = |policy| contention::name(policy).unwrap_or_default();
        let method = match &config.method {
            Method::Aloha(own) => format!("pure ALOHA (Abramson 1970), backoff {}", backoff(&own.backoff)),
            Method::SlottedAloha(own) => {
                format!("slotted ALOHA (Roberts 1972), slot {}, backoff {}", self.span(own.slot), backoff(&own.backoff))
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
        format!(
            "Frame {}{of}\n{}, {} of {} stations, at most {} from one to another, seed {}; 1 BT is {}\n{method}\n\n",
            self.name(self.frame),
            config.rate,
            kind(&config.topology),
            config.topology.stations(),
            self.span(longest_distance(&config.topology)),
            config.seed,
            sentences::real(BitTimes::new(1), config.rate),
        )
    }

    pub(super) fn name(&self, frame: FrameId) -> String {
        frame_name(&self.names, frame)
    }

    pub(super) fn station(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    /// The frame's own station.
    pub(super) fn own(&self) -> &str {
        self.station(self.frame.station)
    }

    pub(super) fn span(&self, span: BitTimes) -> String {
        sentences::span(span, self.air.config.rate)
    }

    /// What was sent and met in an attempt.
    pub(super) fn the_try(&self, attempt: u32) -> Option<&Try> {
        self.tries.iter().find(|one| one.attempt == attempt)
    }

    fn words(&self, number: usize, step: &Step) -> String {
        match &step.what {
            What::After(before) => {
                format!("{} is done with {}: this frame is at the head of the queue.", self.own(), self.name(*before))
            }
            What::Input(input) => self.done(input),
            What::Event(event) => match &self.air.config.method {
                Method::CsmaCa(own) => self.wireless(own, number, step, event),
                Method::CsmaCd | Method::Plca(_) => String::new(),
                _ => self.event(number, step, event),
            },
        }
    }

    fn done(&self, input: &Input) -> String {
        match *input {
            Input::Attach { station } => format!("{} is put back on the medium.", self.station(station)),
            Input::Detach { station } => format!("{} is taken off the medium.", self.station(station)),
            Input::SetFault { station, fault } => {
                let fault = match fault {
                    Some(Fault::Deaf) => "gets the fault `deaf`: it hears no signal that begins from now on",
                    Some(Fault::BadFcs) => "gets the fault `bad_fcs`: what it sends from now on has a bad FCS",
                    Some(Fault::Babble) => "gets the fault `babble`",
                    None => "is healed",
                };
                format!("{} {fault}.", self.station(station))
            }
            Input::SetCut { cut: Some(_) } => "The cable is cut: no signal that begins from now on passes.".to_owned(),
            Input::SetCut { cut: None } => "The cable is mended.".to_owned(),
            Input::Offer { .. } | Input::SetPlca { .. } => String::new(),
        }
    }

    /// An event of ALOHA, slotted ALOHA or CSMA.
    fn event(&self, number: usize, step: &Step, event: &Event) -> String {
        match event.kind {
            Kind::Attempt { attempt, .. } => self.attempts(number, step, attempt),
            Kind::Defer { .. } => self.finds_it_busy(step),
            Kind::Collision { attempt, episode, .. } => self.collides(step, attempt, episode),
            Kind::Backoff { attempt, slots } => self.backs_off(number, step, attempt, slots),
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Transmitted { .. } | Kind::Discarded { .. } => {
                self.common(step, event)
            }
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {
                self.common(step, event)
            }
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {
                String::new()
            }
            Kind::JamEnd { .. } | Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => String::new(),
        }
    }

    /// What every method tells alike.
    pub(super) fn common(&self, step: &Step, event: &Event) -> String {
        let whose = self.station(event.station);
        match event.kind {
            Kind::Offered { size } => self.offered(step, size.get()),
            Kind::QueueDrop => format!(
                "The transmit queue is full ({} frames): the frame is dropped at its tail.",
                group(self.air.config.queue_limit as u64)
            ),
            Kind::Transmitted { size, attempts, access_delay, mac_delay, .. } => {
                let known = match self.destination {
                    Some(Destination::Station(to)) if to != self.frame.station => {
                        format!("The acknowledgement comes: {} has the frame", self.station(to))
                    }
                    Some(_) => "Nothing has met the frame".to_owned(),
                    None => "The frame got through".to_owned(),
                };
                format!(
                    "{known}. Transmitted, {} octets, at attempt {attempts}. Access delay {}, from the head of the queue to the \
                     first bit of this attempt; MAC delay {}.",
                    size.get(),
                    self.span(access_delay),
                    self.span(mac_delay)
                )
            }
            Kind::Discarded { cause, attempts } => self.discarded(cause, attempts),
            Kind::Delivered { .. } => format!("{whose} receives the frame whole."),
            Kind::Damaged { .. } => format!("{whose}, whom it is for, hears it spoilt and drops it."),
            Kind::TooLong { size } => format!("{whose}, whom it is for, drops it: {} octets are too long.", size.get()),
            Kind::Fragment { .. } | Kind::Defer { .. } | Kind::Attempt { .. } | Kind::Collision { .. } => String::new(),
            Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Rts { .. } | Kind::Cts { .. } => String::new(),
            Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } | Kind::Beacon { .. } => String::new(),
            Kind::Commit { .. } | Kind::PlcaStatus { .. } => String::new(),
        }
    }

    fn offered(&self, step: &Step, size: u32) -> String {
        let whom = match self.destination {
            Some(Destination::Station(to)) => format!(" for {}", self.station(to)),
            Some(Destination::All) => " for all stations".to_owned(),
            Some(Destination::Nobody) => " for an address that no station has".to_owned(),
            None => String::new(),
        };
        let own = self.own();
        let queue = match step.behind {
            _ if self.air.config.population() == Population::Infinite => {
                "It has a user of its own, and waits behind no other.".to_owned()
            }
            0 => format!("No other frame of {own} is before it."),
            1 => format!("It waits behind 1 frame of {own} itself."),
            ahead => format!("It waits behind {} frames of {own} itself.", group(ahead)),
        };
        format!("The host of {own} hands over the frame{whom}: {size} octets. {queue}")
    }

    fn attempts(&self, number: usize, step: &Step, attempt: u32) -> String {
        let own = self.own();
        let why = match &self.air.config.method {
            Method::Aloha(_) if attempt == 1 => format!("{own} sends at once, whatever is on the medium"),
            Method::Aloha(_) => format!("The wait is over, and {own} sends, whatever is on the medium"),
            Method::SlottedAloha(_) => self.takes_the_slot(number, step),
            Method::Tdma(own) => self.owns_the_slot(own, step),
            Method::Csma(csma) => self.senses_silence(number, step, csma.persistence),
            Method::CsmaCa(_) | Method::CsmaCd | Method::Plca(_) => String::new(),
        };
        format!("{why}: attempt {attempt}.{}{}", self.not_heard_yet(step), self.vulnerable(attempt))
    }

    fn takes_the_slot(&self, number: usize, step: &Step) -> String {
        let own = self.own();
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
        let slot = step.at.get() / tdma.slot.get() % slots + 1;
        format!("Slot {slot} of {slots} begins, and {own}, which owns it, sends")
    }

    /// When anything else spoils the attempt.
    fn vulnerable(&self, attempt: u32) -> String {
        let Some(sent) = self.the_try(attempt).and_then(|one| one.parts.first()) else { return String::new() };
        let (begin, end, place) = match sent.to {
            Some(place) => match self.air.there(sent, place) {
                Some((begin, end)) => (begin, end, format!("at the place of {}", self.station(place))),
                None => return format!(" It does not get to {}, whom it is for.", self.station(place)),
            },
            None => (sent.begin, sent.end, "anywhere".to_owned()),
        };
        let lasts = self.span(sent.end.since(sent.begin));
        let spoils = match &self.air.config.method {
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
        let Method::Csma(_) = self.air.config.method else { return String::new() };
        let coming = |one: &&Signal| {
            let there = self.air.heard(one, self.frame.station);
            one.begin < step.at && there.is_some_and(|(begin, _)| begin >= step.at)
        };
        let coming: Vec<String> = step
            .around
            .iter()
            .filter(coming)
            .take(NAMED)
            .map(|one| {
                let way = self.air.config.topology.distance(one.source, self.frame.station);
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
                let slot = self.air.config.topology.round_trip().get() / 2 + 1;
                let first = step.free.get().div_ceil(slot) * slot;
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

    fn finds_it_busy(&self, step: &Step) -> String {
        let at = step.at;
        let sensed = |one: &&Signal| {
            let there = self.air.heard(one, self.frame.station);
            there.is_some_and(|(begin, end)| begin <= at && end >= at)
        };
        let sensed: Vec<&Signal> = step.around.iter().filter(sensed).collect();
        let named: Vec<String> = sensed.iter().take(NAMED).map(|one| self.name(one.frame)).collect();
        let what = match (named.len(), sensed.len()) {
            (0, _) => "the medium is busy".to_owned(),
            (named_too, all) if named_too == all => format!("the medium is busy with {}", list(&named)),
            _ => format!("the medium is busy with {} and others", list(&named)),
        };
        let begins =
            sensed.iter().any(|one| self.air.heard(one, self.frame.station).is_some_and(|(begin, _)| begin == at));
        let Method::Csma(csma) = &self.air.config.method else { return String::new() };
        let then = match csma.persistence {
            Persistence::One => "it waits for the first silent bit",
            Persistence::Non => "it gives way",
            Persistence::Millionths(_) if begins => "it gives way, since that begins before its turn",
            Persistence::Millionths(_) => "it waits for silence",
        };
        format!("{} senses that {what}: {then}.", self.own())
    }

    fn backs_off(&self, number: usize, step: &Step, attempt: u32, slots: u64) -> String {
        let before = self.steps[..number].iter().rev().take_while(|one| one.at == step.at).find_map(Step::kind);
        let failures =
            self.steps[..=number].iter().filter(|one| matches!(one.kind(), Some(Kind::Backoff { .. }))).count();
        if let Method::Tdma(_) = self.air.config.method {
            let until = self.until(step.at, slots, self.air.config.backoff_slot());
            let why = self.why_alone(step, attempt);
            return format!("No acknowledgement: {why}. The next slot of {} comes after {slots}: {until}.", self.own());
        }
        let (policy, unit) = match &self.air.config.method {
            Method::Aloha(own) => (&own.backoff, "frame times"),
            Method::SlottedAloha(own) => (&own.backoff, "slots"),
            Method::Csma(own) => (&own.backoff, "frame times"),
            _ => return String::new(),
        };
        let policy = contention::name(policy).unwrap_or_default();
        let slot = self.air.config.backoff_slot();
        let until = self.until(step.at, slots, slot);
        let (drawn, times) = (group(slots.saturating_sub(1)), self.times(failures));
        let one = unit.trim_end_matches('s');
        match before {
            Some(Kind::Defer { .. }) => format!(
                "Giving way counts as a failure of this frame, {times}: it waits 1 {one}, and {drawn} more as {policy} draws; \
                 {until}."
            ),
            Some(Kind::Collision { .. }) => {
                format!("A failure of this frame, {times}: {policy} draws {} {unit}; {until}.", group(slots))
            }
            Some(_) | None => format!(
                "No acknowledgement: {}. A failure of this frame, {times}: {policy} draws {} {unit}; {until}.",
                self.why_alone(step, attempt),
                group(slots)
            ),
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

    pub(super) fn until(&self, at: BitInstant, slots: u64, slot: BitTimes) -> String {
        match slots {
            0 => "it is ready again at once".to_owned(),
            _ => {
                let delay = slot * slots;
                format!(
                    "{} x {} = {}, up to t = {}",
                    group(slots),
                    group(slot.get()),
                    self.span(delay),
                    group((at + delay).get())
                )
            }
        }
    }

    /// Why an attempt failed that nothing met.
    pub(super) fn why_alone(&self, step: &Step, attempt: u32) -> String {
        let spoilt = |one: &&Step| matches!(one.what, What::Input(Input::SetFault { station, fault: Some(Fault::BadFcs) }) if station == self.frame.station);
        let sent = self.the_try(attempt).and_then(|one| one.parts.first());
        match (self.destination, sent) {
            (Some(Destination::Nobody), _) => "no station has the address that it is for".to_owned(),
            (Some(Destination::Station(to)), Some(sent)) if self.air.there(sent, to).is_none() => {
                format!("{} is out of its reach", self.station(to))
            }
            _ if self.steps.iter().filter(|one| one.at <= step.at).any(|one| spoilt(&one)) => {
                format!("nothing met the frame, but {} has the fault `bad_fcs`", self.own())
            }
            _ => "nothing met the frame, but whom it is for did not get it whole: it was off the medium, or what came was \
                  damaged"
                .to_owned(),
        }
    }

    fn discarded(&self, cause: Cause, attempts: u32) -> String {
        match cause {
            Cause::ExcessiveCollisions => {
                format!("The frame is discarded: {attempts} attempts have failed, as many as it may have.")
            }
            Cause::Detached => {
                format!("The frame is discarded after {attempts} attempts: its station is off the medium.")
            }
            Cause::TooShort | Cause::TooLong | Cause::LateCollision => {
                format!("The frame is discarded: {}.", sentences::why(cause))
            }
        }
    }

    /// What is said of a life whose end the log does not have.
    fn ending(&self) -> String {
        let cut = self.cut_short.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
        if self.end.is_some() {
            return if cut.is_empty() { String::new() } else { format!("\nThe log is not whole{cut}.\n") };
        }
        let since = self.steps.first().map_or(BitTimes::ZERO, |step| self.read_to.since(step.at));
        let text = format!(
            "The log ends at t = {}, {} after the frame was first heard of and before its end{cut}.",
            group(self.read_to.get()),
            self.span(since)
        );
        format!("\n{}", wrap("", 0, &text))
    }

    fn in_short(&self) -> String {
        let count = |is: fn(&Kind) -> bool| self.steps.iter().filter_map(Step::kind).filter(|kind| is(kind)).count();
        let (attempts, met) = (self.tries.len(), count(|kind| matches!(kind, Kind::Collision { .. })));
        let gave_way = count(|kind| matches!(kind, Kind::Defer { .. }));
        let on_air = self
            .tries
            .iter()
            .flat_map(|one| &one.parts)
            .fold(BitTimes::ZERO, |sum, part| sum + part.end.min(self.read_to.max(part.begin)).since(part.begin));
        let mut text = format!(
            "In short: {attempts} attempt{}, {met} of them in a collision; {} on the medium.",
            if attempts == 1 { "" } else { "s" },
            self.span(on_air)
        );
        if gave_way > 0 {
            let times = often(gave_way as u64);
            text += &format!(" It found the medium busy {times}.");
        }
        if let (Some(first), Some(end)) = (self.steps.first(), self.end) {
            text += &format!(" From its arrival to its end: {}.", self.span(end.since(first.at)));
        }
        text
    }
}

/// So many times, in words.
pub(super) fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", group(more)),
    }
}
