//! A frame's life in words, each step with its clause of IEEE 802.3.
//!
//! One file above 500 lines because each kind of event has its sentence here, to be read beside the others.

use super::timeline::{LETTERS, LIFE_LETTERS, attempt as draw_attempt, life};
mod heard;

use super::{Meeting, Setting, Step, Story, ToldLife, ToldStep, Transmission};
use crate::show::terminal::output_columns;
use medium::{
    BitInstant, BitTimes, Cause, Config, Destination, Event, Fault, FrameId, Input, Kind, Place, StationId, Tally,
};
use sim::files::event_log::Header;
use sim::words::configuration::{kind, longest_distance};
use sim::words::sentences::{self, Noticed, Party, TIED, frame_name};
use sim::words::units::group;
use std::fmt::Write;
use std::sync::OnceLock;

/// Columns that a line has at most, and those that it may have on the narrowest terminal.
const WIDTH: usize = 110;
const LEAST_WIDTH: usize = 72;
/// Frames that are named of those that a frame met.
const MOST_NAMED: usize = 3;
/// Columns that instant, time since the first step, and the same in seconds have at least.
const COLUMNS: [usize; 3] = [16, 12, 8];
/// Counters that say nothing which the steps do not: every frame is offered, and attempts are told one by one.
const TOLD_ELSEWHERE: [&str; 6] =
    ["offered", "attempts", "collisions", "delivered", "octets_transmitted_ok", "frames_received_ok"];
/// Stations that are named one by one where they heard the same.
const NAMED: usize = 5;

/// Tells the whole life: what it is about, step by step, drawn, and in short.
pub fn tell(story: &Story, header: &Header) -> String {
    let teller = Teller { story, names: &header.stations, config: header.config() };
    let mut text = teller.heading(header);
    text += &teller.steps();
    text += &teller.ending();
    text += &story.emulated.tell(teller.names);
    text += &teller.drawn();
    text += &teller.in_short();
    text.replace(TIED, " ")
}

/// The life as data: stations that heard the same of one transmission share a step.
pub fn data(story: &Story, header: &Header) -> ToldLife {
    let teller = Teller { story, names: &header.stations, config: header.config() };
    let told = |(step, says): (&Step, String)| {
        let kind = match (&step.event, &step.setting) {
            (Some(event), _) => event.kind.name(),
            (None, Setting::After(_)) => "head",
            (None, Setting::Unheard(..)) => "unheard",
            (None, _) => "input",
        };
        ToldStep::new(step.at, kind, &says)
    };
    ToldLife::new(&header.stations, story.frame, teller.told().into_iter().map(told).collect())
}

struct Teller<'a> {
    story: &'a Story,
    names: &'a [String],
    config: Config,
}

impl Teller<'_> {
    fn heading(&self, header: &Header) -> String {
        let Config { rate, topology, parameters, seed, .. } = &self.config;
        let of = if header.name.is_empty() { String::new() } else { format!(" of `{}`", header.name) };
        let distance = longest_distance(topology);
        format!(
            "Frame {}{of}\n{rate}, {} of {} stations, at most {} from one to another, seed {seed}; 1 BT is {}, slotTime {}\n\n",
            self.name(self.story),
            kind(topology),
            topology.stations(),
            self.span(distance),
            self.real(BitTimes::new(1)),
            self.span(parameters.slot_time),
        )
    }

    fn steps(&self) -> String {
        let begin = self.story.steps.first().map_or(BitInstant::ZERO, |step| step.at);
        let cells = |at: BitInstant| {
            let since = at.since(begin);
            [group(at.get()), group(since.get()), self.real(since)]
        };
        // Wider where a number needs it, so that columns never run together.
        let [mut t, mut since, mut real] = COLUMNS;
        for [at, after, in_time] in self.story.steps.iter().map(|step| cells(step.at)) {
            (t, since) = (t.max(at.len()), since.max(after.len() + 2));
            real = real.max(in_time.chars().count());
        }
        let mut text = format!("{:>t$}{:>since$}  in time\n", "t in BT", "since then");
        for (step, what) in self.told() {
            let [at, after, in_time] = cells(step.at);
            let head = format!("{at:>t$}{after:>since$}  {in_time:<real$}");
            text += &wrap(&head, t + since + real + 4, &what);
        }
        text
    }

    /// Each step with its words; the first of those that stations heard alike, with the words about them all.
    fn told(&self) -> Vec<(&Step, String)> {
        let mut told = Vec::new();
        let mut steps = &self.story.steps[..];
        while let Some((first, rest)) = steps.split_first() {
            let same = rest.iter().take_while(|step| heard_alike(first, step)).count();
            let what = if hears(first) { self.receivers(&steps[..=same]) } else { self.words(first) };
            steps = &rest[same..];
            told.push((first, what));
        }
        told
    }

    fn words(&self, step: &Step) -> String {
        let station = &self.names[self.story.frame.station.index()];
        match (&step.setting, step.event) {
            (Setting::After(before), _) => {
                let before = frame_name(self.names, *before);
                format!("The MAC of {station} is done with {before}: this frame is at the head of the queue.")
            }
            (Setting::Done(input, far), _) => self.done(input, far.as_deref()),
            (Setting::Unheard(who, why), _) => self.unheard(who, *why),
            (_, Some(event)) => self.event(step, event),
            (_, None) => String::new(),
        }
    }

    fn event(&self, step: &Step, event: Event) -> String {
        let Event { at, kind, .. } = event;
        let station = &self.names[self.story.frame.station.index()];
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
            Kind::Backoff { attempt, slots } => sentences::backoff(attempt, slots, at, &self.config),
            Kind::Transmitted { .. } => sentences::transmitted(&kind, station, self.config.rate),
            Kind::Discarded { cause, attempts } => self.discarded(cause, attempts),
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {
                self.receivers(std::slice::from_ref(step))
            }
            // Other methods' logs are refused.
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {
                String::new()
            }
            // Of PLCA, whose logs are not explained frame by frame.
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => String::new(),
        }
    }

    fn offered(&self, size: u32, setting: &Setting) -> String {
        let station = &self.names[self.story.frame.station.index()];
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
        let whom = match self.story.destination {
            Some(Destination::Station(to)) => format!(" for {}", self.names[to.index()]),
            Some(Destination::All) => " for all stations".to_owned(),
            Some(Destination::Nobody) => " for an address that no station has".to_owned(),
            None => String::new(),
        };
        let fault = match self.story.fault {
            Some(Fault::Deaf) => format!(" {station} has the fault `deaf`: no carrier sense."),
            Some(Fault::BadFcs) => format!(" {station} has the fault `bad_fcs`."),
            Some(Fault::Babble) => format!(" {station} has the fault `babble`: its MAC takes frames of any length."),
            None => String::new(),
        };
        let cut = self.story.cut.map_or(String::new(), |cut| format!(" The cable is cut {}.", self.place(cut)));
        format!(
            "The host of {station} hands the frame{whom} to its MAC: {size} octets from destination address to FCS{padded}. {queue}{fault}{cut}"
        )
    }

    fn place(&self, Place { segment, position }: Place) -> String {
        format!("on segment {segment}, just before {}", self.span(position))
    }

    /// What was done to the medium or to a station.
    fn done(&self, input: &Input, far: Option<&[bool]>) -> String {
        let of = |station: StationId| &self.names[station.index()];
        match *input {
            Input::Attach { station } => format!("{} is put back on the medium.", of(station)),
            Input::Detach { station } => {
                format!(
                    "{} is taken off the medium: an attempt under way ends as it would, other frames are discarded.",
                    of(station)
                )
            }
            Input::SetPlca { station, .. } => format!("PLCA of {} is told other settings.", of(station)),
            Input::SetFault { station, fault } => {
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
                    None => format!("{whose} has no fault any more."),
                }
            }
            Input::SetCut { cut: Some(cut) } => {
                let beyond = far.into_iter().flatten().zip(self.names).filter(|(far, _)| **far);
                let beyond: Vec<String> = beyond.map(|(_, name)| name.clone()).collect();
                format!(
                    "The cable is cut {}: {} on the far side. No signal that begins from now on gets past the cut.",
                    self.place(cut),
                    are(&beyond)
                )
            }
            Input::SetCut { cut: None } => {
                "The cable is mended: every signal that begins from now on gets everywhere.".to_owned()
            }
            Input::Offer { .. } => String::new(),
        }
    }

    /// What the station hears as it decides to send.
    fn on_air<'a>(&self, at: BitInstant, setting: &'a Setting) -> Vec<&'a Transmission> {
        let station = self.story.frame.station;
        let Setting::Hears { heard, .. } = setting else { return Vec::new() };
        // What ends at the instant itself still sounds for those who decide at it; they know of their own.
        let end = |one: &Transmission| one.at(station, &self.config).end;
        let ended = |one: &Transmission| end(one).is_some_and(|end| end < at || one.source() == station && end <= at);
        heard.iter().filter(|one| !ended(one)).collect()
    }

    fn called(&self, one: &Transmission) -> String {
        frame_name(self.names, one.frame)
    }

    fn all_called<'a>(&self, all: impl IntoIterator<Item = &'a Transmission>) -> String {
        list(&all.into_iter().map(|one| self.called(one)).collect::<Vec<String>>())
    }

    fn defer(&self, attempt: u32, at: BitInstant, setting: &Setting) -> String {
        let heard = if let Setting::Hears { heard, .. } = setting { heard.as_slice() } else { &[] };
        let end = |one: &&Transmission| one.at(self.story.frame.station, &self.config).end;
        // Of a signal that ends at this very bit it is the gap that is waited for.
        let (over, sounding): (Vec<&Transmission>, Vec<&Transmission>) =
            heard.iter().partition(|one| end(one).is_some_and(|end| end <= at));
        let last = over.iter().filter_map(end).max();
        let why = match (sounding.is_empty(), over.is_empty()) {
            (false, _) => format!("it hears {}", self.all_called(sounding)),
            (true, false) => {
                let gap = self.span(self.config.parameters.inter_packet_gap);
                let whom = self.all_called(over.into_iter().filter(|one| end(one) == last));
                format!("the inter-packet gap of {gap} after {whom} is not over (4.2.3.2.2)")
            }
            (true, true) => "what it hears began before the log".to_owned(),
        };
        format!("Ready for attempt {attempt}, but it must defer (4.2.3.2.1): {why}.")
    }

    fn bursts(&self) -> String {
        let gap = self.span(self.config.parameters.inter_packet_gap);
        format!(
            "It still holds the medium and goes on with its burst: {gap} of extension bits fill the gap, then comes the preamble (4.2.3.2.7)"
        )
    }

    /// Why the station may send, or does.
    fn may_send(&self, attempt: u32, at: BitInstant, setting: &Setting) -> String {
        let gap = self.config.parameters.inter_packet_gap;
        let own = self.story.frame.station;
        let station = &self.names[own.index()];
        let on_air = self.on_air(at, setting);
        let waits = |step: &&Step| matches!(step.kind(), Some(Kind::Defer { attempt: waits }) if *waits == attempt);
        let ready = self.story.steps.iter().find(waits).map(|step| step.at);
        let missed = self.missed(setting);
        let back = on_air.iter().map(|one| one.at(own, &self.config).begin).min();
        match (ready, back) {
            (Some(ready), None) => format!(
                "Silence at the place of {station} for the inter-packet gap of {} (4.2.3.2.2): after {} of deferring it sends{missed}",
                self.span(gap),
                self.span(at.since(ready))
            ),
            (Some(ready), Some(back)) => {
                // The gap ends now: so it began that long ago.
                let gap_begin = BitInstant::new(at.get().saturating_sub(gap.get()));
                let back = BitTimes::new(back.get().saturating_sub(gap_begin.get()));
                let why = if back >= self.config.parameters.inter_packet_gap_part_1 {
                    "in its second part"
                } else {
                    "but the gap follows a signal of its own"
                };
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
        let station = self.story.frame.station;
        let Setting::Hears { missed, .. } = setting else { return String::new() };
        let (cut, deaf): (Vec<&Transmission>, Vec<&Transmission>) =
            missed.iter().partition(|one| !one.reaches(station));
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
        format!("{why}. Attempt {attempt} of at most {}.{excess}", parameters.attempt_limit)
    }

    fn collision(&self, attempt: u32, at: BitInstant, late: bool, episode: u64, setting: &Setting) -> String {
        let station = &self.names[self.story.frame.station.index()];
        let Some(Meeting { own, .. }) = self.meeting(attempt) else {
            return format!("Collision {episode} on this medium (4.2.3.2.4).");
        };
        let met = if let Setting::Meets(met) = setting { &met[..] } else { &[] };
        let met = met.iter().map(|other| self.party(own, other));
        let noticed = Noticed { station, begin: own.begin, preamble: own.preamble, at, late, episode };
        noticed.sentence(met, &self.config.parameters, self.config.rate)
    }

    /// Who was met.
    fn party(&self, own: &Transmission, other: &Transmission) -> Party<'_> {
        let FrameId { station, serial } = other.frame;
        let distance = self.config.topology.distance(station, own.frame.station);
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

    /// What is said of a life whose end the log does not have.
    fn ending(&self) -> String {
        let cut = self.story.cut_short.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
        if self.story.end.is_some() {
            return if cut.is_empty() { String::new() } else { format!("\nThe log is not whole{cut}.\n") };
        }
        let state = match self.story.steps.iter().rev().find_map(Step::kind) {
            Some(Kind::Offered { .. }) => "waiting in the queue",
            Some(Kind::Defer { .. }) => "deferring",
            Some(Kind::Attempt { .. }) => "being sent",
            Some(Kind::Collision { .. }) => "in a collision, its jam not yet out",
            Some(Kind::JamEnd { .. } | Kind::Backoff { .. }) => "backing off",
            _ => "on its way",
        };
        let read_to = self.story.read_to;
        let since = self.story.steps.first().map_or(BitTimes::ZERO, |step| read_to.since(step.at));
        let text = format!(
            "The log ends at t = {}, {} after the frame was first heard of and before its end{cut}: it was {state}.\n",
            group(read_to.get()),
            self.span(since)
        );
        format!("\n{text}")
    }

    fn drawn(&self) -> String {
        let mut text = String::new();
        let draw = |meeting: &Meeting| draw_attempt(meeting, self.names, self.story.read_to);
        let attempts: Vec<String> = self.story.meetings.iter().map(draw).collect();
        if !attempts.is_empty() {
            text += &format!("\nEach attempt, every row at its own sender's place: {LETTERS}\n");
            text += &attempts.join("\n");
        }
        // One attempt and no wait is all drawn already.
        if let Some(life) = life(self.story, self.names, &self.config).filter(|_| self.story.steps.len() > 3) {
            text += &format!("\nIts whole life: {LIFE_LETTERS}\n{life}");
        }
        text
    }

    fn in_short(&self) -> String {
        let collisions = self.story.meetings.iter().filter(|meeting| meeting.own.collision.is_some()).count() as u64;
        let on_air: BitTimes = self.story.meetings.iter().fold(BitTimes::ZERO, |sum, meeting| {
            sum + meeting.own.end.unwrap_or(self.story.read_to).since(meeting.own.begin)
        });
        let attempts = self.story.meetings.len();
        let mut text = format!(
            "\nIn short: {attempts} attempt{}, {collisions} collision{}, {} on the medium.",
            if attempts == 1 { "" } else { "s" },
            if collisions == 1 { "" } else { "s" },
            self.span(on_air)
        );
        let counted = self.counted();
        if !counted.is_empty() {
            let so_far = if self.story.end.is_some() { "" } else { " so far" };
            write!(text, " It counts{so_far} in {} (30.3.1.1).", list(&counted)).expect("a string takes any text");
        }
        let mut met: Vec<String> = Vec::new();
        for other in self.story.meetings.iter().filter(|own| own.own.collision.is_some()).flat_map(|own| &own.others) {
            let name = format!("`--frame{TIED}{}`", frame_name(self.names, other.frame));
            if !met.contains(&name) {
                met.push(name);
            }
        }
        if !met.is_empty() {
            let more = met.len() > MOST_NAMED;
            met.truncate(MOST_NAMED);
            let and_so_on = if more {
                " and so on tell"
            } else if met.len() == 1 {
                " tells"
            } else {
                " tell"
            };
            text += &format!(
                " What the others drew, and why they began then, {}{and_so_on}.",
                if more { met.join(", ") } else { list(&met) }
            );
        }
        wrap("", 0, &text).trim_end().to_owned() + "\n"
    }

    /// The counters of its own station that the frame went into, as the engine counts.
    fn counted(&self) -> Vec<String> {
        let mut tally = Tally::new(self.names.len(), self.config.attempt_limit());
        self.story.steps.iter().filter_map(|step| step.event.as_ref()).for_each(|event| tally.record(event));
        let counters = tally.station(self.story.frame.station);
        let times = |count: u64| if count == 1 { String::new() } else { format!(" ({} times)", group(count)) };
        let named = counters.named().filter(|(name, count)| *count > 0 && !TOLD_ELSEWHERE.contains(name));
        let named = named.map(|(name, count)| format!("{name}{}", times(count)));
        let after = (1..).zip(&counters.collision_frames).filter(|(_, frames)| **frames > 0);
        let after = after.map(|(collisions, _): (usize, _)| format!("collision_frames[{collisions}]"));
        named.chain(after).collect()
    }

    fn meeting(&self, attempt: u32) -> Option<&Meeting> {
        self.story.meetings.iter().find(|meeting| meeting.own.attempt == attempt)
    }

    fn name(&self, story: &Story) -> String {
        frame_name(self.names, story.frame)
    }

    /// In bit times and in real time.
    fn span(&self, span: BitTimes) -> String {
        sentences::span(span, self.config.rate)
    }

    fn real(&self, span: BitTimes) -> String {
        sentences::real(span, self.config.rate)
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

pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How wide lines are: on a terminal no wider than that.
fn width() -> usize {
    static TERMINAL: OnceLock<usize> = OnceLock::new();
    *TERMINAL.get_or_init(|| output_columns().map_or(WIDTH, |columns| columns.clamp(LEAST_WIDTH, WIDTH)))
}

/// Text broken into lines beside `head`, from column `edge` on.
pub(super) fn wrap(head: &str, edge: usize, text: &str) -> String {
    let (mut lines, mut line) = (String::new(), format!("{head:<edge$}"));
    let width = width();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines += line.trim_end();
            lines.push('\n');
            (line, empty) = (" ".repeat(edge), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + line.trim_end() + "\n"
}
