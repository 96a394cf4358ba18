//! CSMA/CD: each step with its clause of IEEE 802.3.

use super::super::story::{Each, Sent, Setting, Step, Story, Try, What};
use super::super::timeline::{LETTERS, LIFE_LETTERS, attempt as draw_attempt, life};
use super::counted;
use crate::scene::Signal;
use crate::words::lines::{list, wrap};
use crate::words::sentences::{self, Noticed, Party, TIED};
use crate::words::units::group;
use medium::{BitInstant, BitTimes, Cause, Deed, Event, Fault, FrameId, Input, Kind, Place, StationId, Tally};
use std::fmt::Write;
use std::ops::Deref;

/// Frames that are named of those that a frame met.
const MOST_NAMED: usize = 3;
/// Counters that repeat what the steps say: every frame is offered, and each attempt has a step.
const TOLD_ELSEWHERE: [&str; 6] =
    ["offered", "attempts", "collisions", "delivered", "octets_transmitted_ok", "frames_received_ok"];
/// Stations that are named one by one where they heard the same.
pub const NAMED: usize = 5;

/// The words of CSMA/CD.
pub struct Words<'a>(pub &'a Story);

impl Deref for Words<'_> {
    type Target = Story;
    fn deref(&self) -> &Story {
        self.0
    }
}

impl super::Teller for Words<'_> {
    fn heading(&self) -> String {
        format!("{}, slotTime {}", self.medium(), self.span(self.config.parameters.slot_time))
    }

    fn step(&self, number: usize) -> (usize, String) {
        let (first, rest) = (&self.steps[number], &self.steps[number + 1..]);
        let same = rest.iter().take_while(|step| heard_alike(first, step)).count() + 1;
        let what = if hears(first) { self.receivers(&self.steps[number..number + same]) } else { self.words(first) };
        (same, what)
    }

    fn ending(&self, cut: &str) -> String {
        let state = match self.steps.iter().rev().find_map(Step::kind) {
            Some(Kind::Offered { .. }) => "waiting in the queue",
            Some(Kind::Defer { .. }) => "deferring",
            Some(Kind::Attempt { .. }) => "being sent",
            Some(Kind::Collision { .. }) => "in a collision, its jam not yet out",
            Some(Kind::JamEnd { .. } | Kind::Backoff { .. }) => "backing off",
            _ => "on its way",
        };
        format!("\n{}: it was {state}.\n", self.not_ended(cut))
    }

    fn drawn(&self) -> String {
        let mut text = String::new();
        let attempts: Vec<String> = self.tries.iter().filter_map(|one| draw_attempt(one, self)).collect();
        if !attempts.is_empty() {
            text += &format!("\nEach attempt, every row at its own sender's place: {LETTERS}\n");
            text += &attempts.join("\n");
        }
        // One attempt and no wait is all drawn already.
        if let Some(life) = life(self).filter(|_| self.steps.len() > 3) {
            text += &format!("\nIts whole life: {LIFE_LETTERS}\n{life}");
        }
        text
    }

    fn in_short(&self) -> String {
        let collisions = self.tries.iter().filter(|one| one.is_collided()).count();
        let own = self.tries.iter().filter_map(Try::own);
        let on_air = own.map(|own| own.end.unwrap_or(self.read_to).since(own.begin));
        let mut text = format!(
            "\nIn short: {}, {}, {} on the medium.",
            counted(self.tries.len(), "attempt"),
            counted(collisions, "collision"),
            self.span(on_air.fold(BitTimes::ZERO, |sum, own| sum + own))
        );
        let named = self.counters();
        if !named.is_empty() {
            let so_far = if self.end.is_some() { "" } else { " so far" };
            write!(text, " It counts{so_far} in {} (30.3.1.1).", list(&named)).expect("a string takes any text");
        }
        text += &self.others_to_ask();
        wrap("", 0, &text).trim_end().to_owned() + "\n"
    }

    fn is_in_time(&self) -> bool {
        true
    }
}

impl Words<'_> {
    fn words(&self, step: &Step) -> String {
        match &step.what {
            What::After(before) => {
                let (station, before) = (self.own(), self.name(*before));
                format!("The MAC of {station} is done with {before}: this frame is at the head of the queue.")
            }
            What::Input(input, far) => self.done(input, far.as_ref()),
            What::Unheard(who, why) => self.unheard(who, *why),
            What::Event(event) => self.event(step, *event),
        }
    }

    fn event(&self, step: &Step, event: Event) -> String {
        let Event { at, kind, .. } = event;
        let station = self.own();
        match kind {
            Kind::Offered { size } => self.offered(size.get(), &step.setting),
            Kind::QueueDrop => format!(
                "The transmit queue is full ({} frames): the frame is dropped at its tail and never gets near the medium. \
                 The queue is the host's, not 802.3's; counted in queue_drops.",
                self.config.queue_limit
            ),
            Kind::Defer { attempt } => self.defer(attempt, at, &step.setting),
            Kind::Attempt { attempt, excessive_deferral, burst } => {
                let why = if burst { self.bursts() } else { self.may_send(attempt, at, &step.setting) };
                self.attempt(attempt, &why, excessive_deferral)
            }
            Kind::Collision { attempt, late, episode } => self.collision(attempt, at, late, episode, &step.setting),
            Kind::JamEnd { .. } => sentences::jam_end(&self.config.parameters, self.config.rate),
            Kind::Backoff { attempt, slots } => sentences::backoff(attempt, slots, &event, &self.config),
            Kind::Transmitted { .. } => sentences::transmitted(&kind, station, self.config.rate),
            Kind::Discarded { cause, attempts } => self.discarded(cause, attempts),
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {
                self.receivers(std::slice::from_ref(step))
            }
            // Of other methods.
            _ => String::new(),
        }
    }

    fn offered(&self, size: u32, setting: &Setting) -> String {
        let station = self.own();
        let least = self.config.parameters.min_frame_size.get();
        let padded = if size < least && size >= 18 {
            format!("; the MAC will pad it to {least}, minFrameSize (4.2.3.3)")
        } else {
            String::new()
        };
        let queue = match setting {
            Setting::Behind(ahead @ 1..) => {
                let (number, frames) = (group(*ahead), if *ahead == 1 { "frame" } else { "frames" });
                format!(
                    "It waits behind {number} {frames} of {station} itself: a MAC sends one at a time, in order (4.3.2)."
                )
            }
            _ => format!("No other frame of {station} is before it."),
        };
        let whom = self.whom();
        let fault = match self.fault {
            Some(Fault::Deaf) => format!(" {station} has the fault `deaf`: no carrier sense."),
            Some(Fault::BadFcs) => format!(" {station} has the fault `bad_fcs`."),
            Some(Fault::Babble) => format!(" {station} has the fault `babble`: its MAC takes frames of any length."),
            Some(Fault::OneWay) => format!(" {station} has the fault `one_way`: it hears nothing."),
            Some(Fault::FullDuplex) => format!(
                " {station} has the fault `full_duplex`, on a medium that is not: it defers to no signal, and takes a \
                 frame for sent that met others."
            ),
            // Noise changes what it receives, and not what it sends.
            Some(Fault::BitErrors(_) | Fault::Signals { .. }) | None => String::new(),
        };
        let cut = self.cut.map_or(String::new(), |cut| format!(" The cable is cut {}.", self.place(cut)));
        format!(
            "The host of {station} hands the frame{whom} to its MAC: {size} octets from destination address to FCS{padded}. {queue}{fault}{cut}"
        )
    }

    fn place(&self, Place { segment, position }: Place) -> String {
        format!("on segment {segment}, just before {}", self.span(position))
    }

    /// What was done to the medium or to a station.
    fn done(&self, input: &Input, far: Option<&Each>) -> String {
        let of = |station: StationId| self.station(station);
        match *input {
            Input::Deed(Deed::Plug { station }) => format!("{} is put back on the medium.", of(station)),
            Input::Deed(Deed::Unplug { station }) => {
                format!(
                    "{} is taken off the medium: an attempt under way ends as it would, other frames are discarded.",
                    of(station)
                )
            }
            Input::Deed(Deed::Add { station, .. }) => format!("{} joins.", of(station)),
            Input::Deed(Deed::Remove { station }) => format!(
                "{} leaves the medium: an attempt under way ends as it would, other frames are discarded.",
                of(station)
            ),
            Input::Deed(Deed::Plca { station, .. }) => format!("PLCA of {} is told other settings.", of(station)),
            Input::Deed(Deed::Fault { station, fault }) => {
                let whose = of(station);
                match fault {
                    Some(Fault::Deaf) => format!(
                        "{whose} gets the fault `deaf`: it hears no signal that begins from now on and defers to none; \
                         collisions it still detects (5.2.4.2)."
                    ),
                    Some(Fault::BadFcs) => {
                        format!("{whose} gets the fault `bad_fcs`: what it begins to send from now on has a bad FCS.")
                    }
                    Some(Fault::Babble) => format!(
                        "{whose} gets the fault `babble`: its MAC takes frames of any length, and its MAU cuts them off \
                         at {} (8.2.1.5).",
                        self.span(self.config.parameters.jabber_limit)
                    ),
                    Some(Fault::FullDuplex) => format!(
                        "{whose} gets the fault `full_duplex`, a duplex mismatch: it defers to no signal that begins from \
                         now on, detects no collision, and receives while it sends."
                    ),
                    Some(Fault::OneWay) => format!(
                        "{whose} gets the fault `one_way`: it hears nothing that begins from now on, defers to nothing \
                         and receives nothing."
                    ),
                    Some(fault @ (Fault::BitErrors(_) | Fault::Signals { .. })) => {
                        format!("{whose} gets the fault `{}`: noise at its place.", fault)
                    }
                    None => format!("{whose} has no fault any more."),
                }
            }
            Input::Deed(Deed::Cut(Some(cut))) => {
                let beyond = far.into_iter().flat_map(|far| far.iter()).zip(&self.names).filter(|(far, _)| **far);
                let beyond: Vec<String> = beyond.map(|(_, name)| name.clone()).collect();
                format!(
                    "The cable is cut {}: {} on the far side. No signal that begins from now on gets past the cut.",
                    self.place(cut),
                    are(&beyond)
                )
            }
            Input::Deed(Deed::Cut(None)) => {
                "The cable is mended: every signal that begins from now on gets everywhere.".to_owned()
            }
            Input::Offer { .. } | Input::Deed(_) => String::new(),
        }
    }

    /// What the station hears as it decides to send.
    fn on_air<'a>(&self, at: BitInstant, setting: &'a Setting) -> Vec<&'a Sent> {
        let station = self.frame.station;
        let Setting::Hears { heard, .. } = setting else { return Vec::new() };
        // What ends at the instant itself still sounds for those who decide at it; they know of their own.
        let end = |one: &Sent| one.at(station, &self.config).end;
        let ended = |one: &Sent| end(one).is_some_and(|end| end < at || one.source == station && end <= at);
        heard.iter().filter(|one| !ended(one)).collect()
    }

    fn all_called<'a>(&self, all: impl IntoIterator<Item = &'a Sent>) -> String {
        list(&all.into_iter().map(|one| self.name(one.frame)).collect::<Vec<String>>())
    }

    fn defer(&self, attempt: u32, at: BitInstant, setting: &Setting) -> String {
        let heard = if let Setting::Hears { heard, .. } = setting { heard.as_slice() } else { &[] };
        let end = |one: &&Sent| one.at(self.frame.station, &self.config).end;
        // Of a signal that ends at this very bit it is the gap that is waited for.
        let (over, sounding): (Vec<&Sent>, Vec<&Sent>) =
            heard.iter().partition(|one| end(one).is_some_and(|end| end <= at));
        let last = over.iter().filter_map(end).max();
        let why = match (sounding.is_empty(), over.is_empty()) {
            (false, _) => format!("it hears {}", self.all_called(sounding)),
            (true, false) => {
                let gap = self.gap();
                let whom = self.all_called(over.into_iter().filter(|one| end(one) == last));
                format!("the inter-packet gap of {gap} after {whom} is not over (4.2.3.2.2)")
            }
            (true, true) => "what it hears began before the trace".to_owned(),
        };
        format!("Ready for attempt {attempt}, but it must defer (4.2.3.2.1): {why}.")
    }

    fn bursts(&self) -> String {
        let gap = self.span(self.config.parameters.inter_packet_gap);
        format!(
            "It still holds the medium and goes on with its burst: {gap} of extension bits fill the gap, then comes the preamble (4.2.3.2.7)"
        )
    }

    /// The inter-packet gap, and whose clock it has if that is off.
    fn gap(&self) -> String {
        let (gap, clock) = (self.span(self.config.parameters.inter_packet_gap), self.config.clock(self.frame.station));
        if clock.is_right() { gap } else { format!("{gap} by the clock of {}", self.own()) }
    }

    /// When the gap began that ends now.
    fn gap_begin(&self, now: BitInstant) -> BitInstant {
        let longest = self.config.longest_gap().get();
        let ends_now = |begin: &BitInstant| self.config.gap_end(self.frame.station, *begin) == now;
        let begins = (now.get().saturating_sub(longest)..now.get()).rev().map(BitInstant::new);
        begins.into_iter().find(ends_now).unwrap_or(BitInstant::new(now.get().saturating_sub(longest)))
    }

    /// Why the station may send, or does.
    fn may_send(&self, attempt: u32, at: BitInstant, setting: &Setting) -> String {
        let own = self.frame.station;
        let station = &self.names[own.index()];
        let on_air = self.on_air(at, setting);
        let waits = |step: &&Step| matches!(step.kind(), Some(Kind::Defer { attempt: waits }) if *waits == attempt);
        let ready = self.steps.iter().find(waits).map(|step| step.at);
        let missed = self.missed(setting);
        let back = on_air.iter().map(|one| one.at(own, &self.config).begin).min();
        match (ready, back) {
            (Some(ready), None) => format!(
                "Silence at the place of {station} for the inter-packet gap of {} (4.2.3.2.2): after {} of deferring it sends{missed}",
                self.gap(),
                self.span(at.since(ready))
            ),
            (Some(ready), Some(back)) => {
                let gap_begin = self.gap_begin(at);
                let part_1_end =
                    self.config.clock(own).after(gap_begin, self.config.parameters.inter_packet_gap_part_1);
                let (back, is_late) = (back.since(gap_begin), back >= part_1_end);
                let why = if is_late { "in its second part" } else { "but the gap follows a signal of its own" };
                format!(
                    "{} came back {} into the inter-packet gap, {why}: the gap runs to its end all the same (4.2.3.2.2), \
                     and after {} of deferring {station} sends{missed}",
                    self.all_called(on_air),
                    self.span(back),
                    self.span(at.since(ready))
                )
            }
            (None, None) if missed.is_empty() => {
                format!("The medium is free at the place of {station}: it sends at once (4.2.3.2.1)")
            }
            (None, None) => format!("{station} hears nothing and sends at once (4.2.3.2.1){missed}"),
            (None, Some(_)) => format!(
                "{} is there, but {station} does not defer: its carrier sense is faulty (5.2.4.2), or the cable is cut in \
                 between, which this log does not tell; it sends",
                self.all_called(on_air)
            ),
        }
    }

    /// Signals on the medium that the station does not hear, and why.
    fn missed(&self, setting: &Setting) -> String {
        let station = self.frame.station;
        let Setting::Hears { missed, .. } = setting else { return String::new() };
        let (cut, deaf): (Vec<&Sent>, Vec<&Sent>) = missed.iter().partition(|one| !one.reaches(station, &self.config));
        let mut text = String::new();
        if !deaf.is_empty() {
            let deaf = self.all_called(deaf);
            write!(text, "; it does not hear {deaf}, since it had no carrier sense when that began (5.2.4.2)")
                .expect("a string takes any text");
        }
        if !cut.is_empty() {
            let cut = self.all_called(cut);
            write!(text, "; {cut} cannot be heard here, since the cable was cut in between when that began")
                .expect("a string takes any text");
        }
        text
    }

    fn attempt(&self, attempt: u32, why: &str, excessive: bool) -> String {
        let parameters = &self.config.parameters;
        let excess = if excessive {
            let longest = self.span(parameters.max_defer_time);
            format!(
                " This wait was longer than maxDeferTime, {longest}: an excessive deferral, counted and no more (5.2.4.2)."
            )
        } else {
            String::new()
        };
        format!("{why}. Attempt {attempt}{}.{excess}", self.of_limit())
    }

    fn collision(&self, attempt: u32, at: BitInstant, late: bool, episode: u64, setting: &Setting) -> String {
        let station = self.own();
        let Some(own) = self.the_try(attempt).and_then(Try::own) else {
            return format!("Collision {episode} on this medium (4.2.3.2.4).");
        };
        let met = if let Setting::Meets(met) = setting { &met[..] } else { &[] };
        let met = met.iter().map(|other| self.party(own, other));
        let noticed = Noticed { station, begin: own.begin, preamble: own.preamble, at, late, episode };
        noticed.sentence(met, &self.config.parameters, self.config.rate)
    }

    /// Who was met.
    fn party(&self, own: &Signal, other: &Signal) -> Party<'_> {
        let FrameId { station, serial } = other.frame;
        let distance = self.config.way(station, other.begin, own.frame.station);
        Party { station: &self.names[station.index()], serial, begin: other.begin, distance }
    }

    fn discarded(&self, cause: Cause, attempts: u32) -> String {
        let limit = self.config.parameters.attempt_limit;
        match cause {
            Cause::ExcessiveCollisions => format!(
                "Attempt {attempts} of {limit} has collided too: attemptLimit is reached and the frame discarded, \
                 excessiveCollisionError (4.2.3.2.5). The next frame of the station begins with attempt 1."
            ),
            Cause::LateCollision => {
                "Where frames are extended, a frame that met a late collision is not attempted again: discarded (4.2.8).".to_owned()
            }
            Cause::TooShort => "Without a whole header there is no frame to send: discarded before the medium (3.2).".to_owned(),
            Cause::TooLong => format!(
                "Longer than maxBasicFrameSize, {} octets (4 more with a VLAN tag): discarded before the medium (3.2.7).",
                self.config.parameters.max_frame_size.get()
            ),
            Cause::Detached => {
                format!("The station is off the medium: the frame is discarded after {attempts} attempts. No clause: a cable is pulled.")
            }
        }
    }

    /// The counters of its own station that the frame went into, as the engine counts.
    fn counters(&self) -> Vec<String> {
        let mut tally = Tally::new(self.names.len(), self.config.attempt_limit());
        self.steps.iter().filter_map(Step::event).for_each(|event| tally.record(event));
        let counters = tally.station(self.frame.station);
        let times = |count: u64| if count == 1 { String::new() } else { format!(" ({} times)", group(count)) };
        let named = counters.named().filter(|(name, count)| *count > 0 && !TOLD_ELSEWHERE.contains(name));
        let named = named.map(|(name, count)| format!("{name}{}", times(count)));
        let after = (1..).zip(&counters.collision_frames).filter(|(_, frames)| **frames > 0);
        let after = after.map(|(collisions, _): (usize, _)| format!("collision_frames[{collisions}]"));
        named.chain(after).collect()
    }

    /// Frames that were met, whose own lives tell the rest.
    fn others_to_ask(&self) -> String {
        let mut met: Vec<String> = Vec::new();
        for other in self.tries.iter().filter(|one| one.is_collided()).flat_map(|one| &one.others) {
            let name = format!("`--frame{TIED}{}`", self.name(other.sent.frame));
            if !met.contains(&name) {
                met.push(name);
            }
        }
        let and_so_on = match met.len() {
            0 => return String::new(),
            1 => " tells",
            2..=MOST_NAMED => " tell",
            _ => " and so on tell",
        };
        let named = if met.len() > MOST_NAMED { met[..MOST_NAMED].join(", ") } else { list(&met) };
        format!(" What the others drew, and why they began then, {named}{and_so_on}.")
    }
}

fn hears(step: &Step) -> bool {
    let Some(kind) = step.kind() else { return false };
    matches!(kind, Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. })
}

fn are(names: &[String]) -> String {
    format!("{} {}", list(names), if names.len() == 1 { "is" } else { "are" })
}

/// Two stations heard the same of one transmission.
fn heard_alike(one: &Step, other: &Step) -> bool {
    hears(one) && one.kind() == other.kind() && one.setting == other.setting
}
