//! A frame's life in words, each step with its clause of IEEE 802.3.

use super::timeline::{LETTERS, LIFE_LETTERS, attempt as draw_attempt, life};
use super::{Meeting, PREAMBLE, Setting, Step, Story, Transmission, name};
use medium::{BitInstant, BitTimes, Cause, Config, Event, Kind};
use sim::files::event_log::Header;
use sim::words::configuration::{kind, longest_distance};
use sim::words::units::group;
use std::fmt::Write;

/// Columns that a line has at most.
const WIDTH: usize = 110;
/// Columns of the text's left edge.
const EDGE: usize = 40;
/// A space that no line is broken at, until the text is done.
const TIED: char = '\u{a0}';
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
        let mut text = format!("{:>16}{:>12}  in time\n", "t in BT", "since then");
        let begin = self.story.steps.first().map_or(BitInstant::ZERO, |step| step.event.at);
        let mut steps = &self.story.steps[..];
        while let Some((first, rest)) = steps.split_first() {
            let same = rest.iter().take_while(|step| heard_alike(first, step)).count();
            let what = if hears(&first.event) { self.receivers(&steps[..=same]) } else { self.words(first) };
            steps = &rest[same..];
            let since = first.event.at.since(begin);
            let head =
                format!("{:>16}{:>12}  {:<8}", group(first.event.at.get()), group(since.get()), self.real(since));
            text += &wrap(&head, &what);
        }
        text
    }

    fn words(&self, step: &Step) -> String {
        let Event { at, kind, .. } = step.event;
        let station = &self.names[self.story.frame.station.index()];
        if let Setting::After(before) = step.setting {
            return format!(
                "The MAC of {station} is done with {}: this frame is at the head of the queue.",
                name(self.names, before)
            );
        }
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
            Kind::Collision { attempt, late, episode } => self.collision(attempt, at, late, episode),
            Kind::JamEnd { .. } => {
                let jam = self.span(self.config.parameters.jam_size);
                format!("The jam of {jam} is out, so that the other parties notice the collision too (4.2.3.2.4).")
            }
            Kind::Backoff { attempt, slots } => self.backoff(attempt, slots, at),
            Kind::Transmitted { size, attempts, extension, no_carrier, access_delay, mac_delay, deferred: _ } => {
                let extended = match extension {
                    BitTimes::ZERO => String::new(),
                    bits => format!(", and {} of carrier extension after it (4.2.3.4)", self.span(bits)),
                };
                let deaf = if no_carrier {
                    " It had no carrier sense as it began: carrier_sense_errors counts it (5.2.4.2)."
                } else {
                    ""
                };
                format!(
                    "The last bit is out{extended}, and {station} has noticed no collision: transmitted, {} octets, at \
                     attempt {attempts} (4.2.8). Access delay {}, from the head of the queue to the first bit of this \
                     attempt; MAC delay {}, from the host to now.{deaf}",
                    size.get(),
                    self.span(access_delay),
                    self.span(mac_delay)
                )
            }
            Kind::Discarded { cause, attempts } => self.discarded(cause, attempts),
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {
                self.receivers(std::slice::from_ref(step))
            }
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
        format!(
            "The host of {station} hands the frame to its MAC: {size} octets from destination address to FCS{padded}. {queue}"
        )
    }

    /// The signals at the station's place, and those that ended there less than a gap ago.
    fn on_air_and_over(&self, at: BitInstant, setting: &Setting) -> (Vec<String>, Vec<String>) {
        let station = self.story.frame.station;
        let Setting::Hears(heard) = setting else { return Default::default() };
        let (mut on_air, mut over) = (Vec::new(), Vec::new());
        for one in heard {
            let distance = self.config.topology.distance(one.frame.station, station);
            let own = one.frame.station == station;
            // What ends at the instant itself still sounds for those who decide at it; they know of their own.
            let ended = one.end.is_some_and(|end| end + distance < at || own && end <= at);
            if ended { &mut over } else { &mut on_air }.push(name(self.names, one.frame));
        }
        (on_air, over)
    }

    fn defer(&self, attempt: u32, at: BitInstant, setting: &Setting) -> String {
        let (on_air, over) = self.on_air_and_over(at, setting);
        let why = match (on_air.is_empty(), over.is_empty()) {
            (false, _) => format!("it hears {}", list(&on_air)),
            (true, false) => {
                let gap = self.span(self.config.parameters.inter_packet_gap);
                format!("the inter-packet gap of {gap} after {} is not over (4.2.3.2.2)", list(&over))
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
        let station = &self.names[self.story.frame.station.index()];
        let (on_air, _) = self.on_air_and_over(at, setting);
        let waits = |event: &Event| matches!(event.kind, Kind::Defer { attempt: waits } if waits == attempt);
        let ready = self.story.steps.iter().map(|step| &step.event).find(|event| waits(event));
        match (ready, on_air.is_empty()) {
            (Some(ready), true) => format!(
                "Silence at the place of {station} for the inter-packet gap of {} (4.2.3.2.2): after {} of deferring it sends",
                self.span(gap),
                self.span(at.since(ready.at))
            ),
            (Some(ready), false) => {
                let part_2 = BitTimes::new(gap.get() - self.config.parameters.inter_packet_gap_part_1.get());
                format!(
                    "{} came back in the second part of the inter-packet gap, its last {}, or right after its own signal: \
                     the gap runs to its end all the same (4.2.3.2.2), and after {} of deferring {station} sends",
                    list(&on_air),
                    self.span(part_2),
                    self.span(at.since(ready.at))
                )
            }
            (None, true) => format!("The medium is free at the place of {station}: it sends at once (4.2.3.2.1)"),
            (None, false) => format!(
                "{} is there, but {station} does not defer: its carrier sense is faulty (5.2.4.2), or the cable is cut in between; it sends",
                list(&on_air)
            ),
        }
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

    fn collision(&self, attempt: u32, at: BitInstant, late: bool, episode: u64) -> String {
        let station = &self.names[self.story.frame.station.index()];
        let parameters = &self.config.parameters;
        let Some(meeting) = self.meeting(attempt) else {
            return format!("A collision (4.2.3.2.4), episode {episode}.");
        };
        let sent = at.since(meeting.own.begin);
        let met: Vec<String> = meeting.others.iter().map(|other| self.party(meeting, other)).collect();
        let met = if met.is_empty() { "a signal that began before the log".to_owned() } else { met.join("; and ") };
        let preamble = if sent < PREAMBLE && !meeting.own.burst {
            " Preamble and SFD are finished first, then comes the jam."
        } else {
            " The jam follows at once."
        };
        let late = if late {
            format!(" That is later than slotTime, {}: a late collision (4.2.3.2.3).", self.span(parameters.slot_time))
        } else {
            String::new()
        };
        format!(
            "Collision (4.2.3.2.4), episode {episode} on this medium: {} after its own first bit {station} notices {met}.{late}{preamble}",
            self.span(sent)
        )
    }

    /// Who was met, and how that came.
    fn party(&self, meeting: &Meeting, other: &Transmission) -> String {
        let own = &meeting.own;
        let name = name(self.names, other.frame);
        let distance = self.config.topology.distance(other.frame.station, own.frame.station);
        let apart = if distance > BitTimes::ZERO { format!(", {} away", self.span(distance)) } else { String::new() };
        if other.begin == own.begin {
            format!("{name}, which began in the same bit time{apart}")
        } else if other.begin < own.begin {
            format!("{name}, which had begun {} earlier{apart}", self.span(own.begin.since(other.begin)))
        } else {
            format!("{name}, which began {} later{apart}", self.span(other.begin.since(own.begin)))
        }
    }

    fn backoff(&self, attempt: u32, slots: u64, at: BitInstant) -> String {
        let parameters = &self.config.parameters;
        let exponent = attempt.min(parameters.backoff_limit);
        let limited = if exponent < attempt { " (no more than backoffLimit)" } else { "" };
        let (delay, most) = (parameters.slot_time * slots, (1_u64 << exponent) - 1);
        let until = if slots == 0 {
            "so it is ready for the next attempt at once".to_owned()
        } else {
            format!(
                "{slots} x {} = {}, up to t = {}, whatever carrier does meanwhile",
                group(parameters.slot_time.get()),
                self.span(delay),
                group((at + delay).get())
            )
        };
        format!(
            "Backoff (4.2.3.2.5) after collision {attempt} of this frame: of 0 to 2^{exponent} - 1 = {} slots{limited} it draws {slots}; {until}.",
            group(most)
        )
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

    /// Stations that heard the same, as one step.
    fn receivers(&self, steps: &[Step]) -> String {
        let Some(first) = steps.first() else { return String::new() };
        let named: Vec<String> =
            steps.iter().take(NAMED).map(|step| self.names[step.event.station.index()].clone()).collect();
        let who = match steps.len() - named.len() {
            0 => list(&named),
            more => {
                format!("{} and {} more, the last at t = {}", named.join(", "), group(more as u64), self.last(steps))
            }
        };
        let s = if steps.len() == 1 { "s" } else { "" };
        match first.event.kind {
            Kind::Fragment { bits } => format!(
                "{who}, whom it is for, hear{s} {} bits after the SFD. That is less than minFrameSize: a collision \
                 fragment, dropped without an error (4.2.4.2.2).",
                bits.get()
            ),
            Kind::Damaged { bits } => {
                let cause = match &first.setting {
                    Setting::Hears(met) if !met.is_empty() => {
                        let met: Vec<String> = met.iter().map(|other| name(self.names, other.frame)).collect();
                        format!("the signal of {} lay over it there", list(&met))
                    }
                    _ => "its sender was faulty, since no other signal met it there".to_owned(),
                };
                format!(
                    "{who}, whom it is for, hear{s} {} bits with a bad FCS and drop{s} them (4.2.4.1.2): {cause}.",
                    bits.get()
                )
            }
            Kind::TooLong { size } => {
                format!("{who}, whom it is for, hear{s} {} octets: too long, dropped (4.2.4.2.1).", size.get())
            }
            _ => format!("{who} receive{s} the frame whole (4.2.4)."),
        }
    }

    fn last(&self, steps: &[Step]) -> String {
        steps.last().map_or(String::new(), |step| group(step.event.at.get()))
    }

    /// What is said of a life whose end the log does not have.
    fn ending(&self) -> String {
        let cut = self.story.cut_short.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
        if self.story.end.is_some() {
            return if cut.is_empty() { String::new() } else { format!("\nThe log is not whole{cut}.\n") };
        }
        let state = match self.story.steps.last().map(|step| step.event.kind) {
            Some(Kind::Offered { .. }) => "waiting in the queue",
            Some(Kind::Defer { .. }) => "deferring",
            Some(Kind::Attempt { .. }) => "being sent",
            Some(Kind::Collision { .. }) => "in a collision, its jam not yet out",
            Some(Kind::JamEnd { .. } | Kind::Backoff { .. }) => "backing off",
            _ => "on its way",
        };
        let read_to = self.story.read_to;
        let since = self.story.steps.first().map_or(BitTimes::ZERO, |step| read_to.since(step.event.at));
        let text = format!(
            "The log ends at t = {}, {} after the frame was first heard of and before its end{cut}: it was {state}.\n",
            group(read_to.get()),
            self.span(since)
        );
        format!("\n{text}")
    }

    fn drawn(&self) -> String {
        let mut text = String::new();
        let draw = |meeting: &Meeting| draw_attempt(meeting, self.names, &self.config, self.story.read_to);
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
        let counted = self.counted(collisions);
        if !counted.is_empty() {
            write!(text, " It counts in {} (30.3.1.1).", list(&counted)).expect("a string takes any text");
        }
        wrap("", &text).trim_end().to_owned() + "\n"
    }

    /// The counters of its own station that the frame went into.
    fn counted(&self, collisions: u64) -> Vec<String> {
        let last = self.story.steps.iter().rev().find_map(|step| match step.event.kind {
            Kind::Transmitted { deferred, .. } => Some(Ok(deferred)),
            Kind::Discarded { cause, .. } => Some(Err(cause)),
            _ => None,
        });
        let names: &[&str] = match (last, collisions) {
            (Some(Ok(false)), 0) => &["frames_transmitted_ok"],
            (Some(Ok(true)), 0) => &["frames_transmitted_ok", "deferred_transmissions"],
            (Some(Ok(_)), 1) => &["frames_transmitted_ok", "single_collision_frames", "collision_frames[1]"],
            (Some(Ok(_)), _) => &["frames_transmitted_ok", "multiple_collision_frames"],
            (Some(Err(Cause::ExcessiveCollisions)), _) => &["excessive_collisions"],
            (Some(Err(_)), _) => &["internal_mac_transmit_errors"],
            (None, _) => &[],
        };
        let many = (collisions > 1 && names.len() == 2).then(|| format!("collision_frames[{collisions}]"));
        names.iter().map(|&name| name.to_owned()).chain(many).collect()
    }

    fn meeting(&self, attempt: u32) -> Option<&Meeting> {
        self.story.meetings.iter().find(|meeting| meeting.own.attempt == attempt)
    }

    fn name(&self, story: &Story) -> String {
        name(self.names, story.frame)
    }

    /// In bit times and in real time.
    fn span(&self, span: BitTimes) -> String {
        format!("{}{TIED}BT{TIED}({})", group(span.get()), self.real(span))
    }

    fn real(&self, span: BitTimes) -> String {
        nanos(u64::try_from(span.at(self.config.rate).as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A time in the unit that suits it.
pub(super) fn nanos(nanos: u64) -> String {
    let nanos = nanos as f64;
    let (value, unit) = match nanos {
        0.0..1e3 => (nanos, "ns"),
        1e3..1e6 => (nanos / 1e3, "us"),
        1e6..1e9 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    // Three digits after the point are a thousandth; zeros at the end say nothing.
    let digits = format!("{value:.3}");
    format!("{}{TIED}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn hears(event: &Event) -> bool {
    matches!(event.kind, Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. })
}

/// Two stations heard the same of one transmission.
fn heard_alike(one: &Step, other: &Step) -> bool {
    hears(&one.event) && one.event.kind == other.event.kind && one.setting == other.setting
}

pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Text broken into lines beside `head`.
pub(super) fn wrap(head: &str, text: &str) -> String {
    let edge = if head.is_empty() { 0 } else { EDGE };
    let (mut lines, mut line) = (String::new(), format!("{head:<edge$}"));
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
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
