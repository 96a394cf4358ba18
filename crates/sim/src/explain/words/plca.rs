//! PLCA: whose turn the frame waited for, when its MAC was told to wait, and when it was on the line.

use super::super::plca::OnSegment;
use super::super::plca::rows::rows;
use super::super::plca::turns;
use super::super::story::{Setting, Step, Story, What};
use super::findings::{sentences as finding, times};
use crate::words::lines::wrap;
use crate::words::sentences::{self, TOLD_TO_WAIT};
use crate::words::units::group;
use medium::{BitInstant, BitTimes, Deed, Event, Input, Kind, PREAMBLE_AND_SFD};
use std::ops::Deref;

/// The words of PLCA.
pub struct Words<'a> {
    pub story: &'a Story,
    pub on: &'a OnSegment,
}

impl Deref for Words<'_> {
    type Target = Story;
    fn deref(&self) -> &Story {
        self.story
    }
}

impl super::Teller for Words<'_> {
    fn heading(&self) -> String {
        format!(
            "{}, PLCA, {} stations, seed {}; 1 BT is {}",
            self.config.rate,
            self.names.len(),
            self.config.seed,
            sentences::real(BitTimes::new(1), self.config.rate)
        )
    }

    fn step(&self, number: usize) -> (usize, String) {
        let step = &self.steps[number];
        let words = match &step.what {
            What::Event(event) => self.event(step, event),
            What::Input(input, _) => self.input(input),
            What::After(_) | What::Unheard(..) => String::new(),
        };
        (1, words)
    }

    fn ending(&self, _: &str) -> String {
        String::new()
    }

    fn drawn(&self) -> String {
        rows(&self.on.turns)
    }

    fn in_short(&self) -> String {
        let told = self.count(|kind| matches!(kind, Kind::Collision { episode: 0, .. }));
        let met = self.count(|kind| matches!(kind, Kind::Collision { episode: 1.., .. }));
        let mut text = format!(
            "In short: told to wait for its turn {}, met others on the line {}.",
            times(told as u64),
            times(met as u64)
        );
        if let Some(wait) = self.waited() {
            text += &format!(" From the head of its queue to its first bit it waited {}", self.span(wait));
            text += &match &self.on.bound {
                Some((bound, theory)) if self.on.findings.is_empty() => {
                    let late = if wait.get() > *bound { ", for a frame that comes while turns go round" } else { "" };
                    format!("; the bound{late} is {} BT (`{theory}`).", group(*bound))
                }
                _ => ".".to_owned(),
            };
        }
        if self.end.is_none() {
            text += &format!(" The trace ends {} after it was offered, and it was not sent.", self.span(self.lived()));
        }
        let mut told = wrap("", 0, &text);
        for found in &self.on.findings {
            let [cause, _, mend] = finding(found, &self.on.segment);
            told += &wrap("", 0, &format!("{cause} {mend}"));
        }
        format!("\n{told}")
    }
}

impl Words<'_> {
    fn input(&self, input: &Input) -> String {
        match *input {
            Input::Deed(Deed::Plug { station }) => format!("{} is put back on the medium.", self.station(station)),
            Input::Deed(Deed::Add { station, .. }) => format!("{} joins.", self.station(station)),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                let coordinator = self.on.plca.nodes[station.index()].settings.node_id == 0;
                let more = if coordinator { ": the coordinator is lost, and no BEACON comes" } else { "" };
                format!("{} is taken off the medium{more}.", self.station(station))
            }
            Input::Deed(Deed::Plca { station, .. }) => {
                format!("PLCA of {} is told settings, and reset.", self.station(station))
            }
            Input::Offer { .. } | Input::Deed(_) => String::new(),
        }
    }

    fn event(&self, step: &Step, event: &Event) -> String {
        let station = self.own();
        match event.kind {
            Kind::Offered { size } => self.offered(step, size.get()),
            Kind::Defer { attempt } => self.defers(step, attempt),
            Kind::Attempt { attempt, .. } => self.attempts(step, attempt),
            Kind::Commit { id } => self.takes_its_turn(step, id),
            Kind::Collision { episode: 0, .. } => self.is_told_to_wait(step),
            Kind::Collision { .. } => self.collides(step, event),
            Kind::JamEnd { .. } if is_ok(step) && self.on_line(step, true).is_none() => {
                sentences::jam_into_nothing(&self.config.parameters, self.config.rate)
            }
            Kind::Backoff { attempt, slots } => {
                let drawn = sentences::backoff(attempt, slots, event, &self.config);
                let more =
                    if is_ok(step) { " After it PLCA holds the MAC back with carrier until its turn." } else { "" };
                drawn + more
            }
            Kind::Transmitted { size, .. } => {
                let told = sentences::transmitted(&event.kind, station, self.config.rate);
                let delay = self.waited().zip(self.head()).map(|(wait, head)| head + wait);
                let end = delay.map(|begin| begin + PREAMBLE_AND_SFD + size.bit_times());
                let line = end.filter(|&end| end > event.at && is_ok(step)).map_or(String::new(), |end| {
                    format!(" The last bit leaves the delay line at t = {}, and ESD follows it.", group(end.get()))
                });
                told + &line
            }
            Kind::PlcaStatus { ok: true } => {
                format!("plca_status of {station} is OK: it hears BEACONs, and takes turns.")
            }
            Kind::PlcaStatus { ok: false } => {
                format!("plca_status of {station} falls: from now on its MAC hears the line itself, plain CSMA/CD.")
            }
            Kind::QueueDrop | Kind::JamEnd { .. } | Kind::Discarded { .. } | Kind::Delivered { .. } => {
                self.plain(event)
            }
            Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => self.plain(event),
            // BEACONs are of no frame; the others are of other methods.
            _ => String::new(),
        }
    }

    fn plain(&self, event: &Event) -> String {
        let station = self.station(event.station);
        sentences::sentence(event, station, &self.config)
    }

    /// When it came to the head of its queue, as its wait and its first turn say.
    fn head(&self) -> Option<BitInstant> {
        let after = |step: &&Step| {
            matches!(step.kind(), Some(Kind::Defer { .. } | Kind::Attempt { .. })) || step.setting == Setting::Behind(0)
        };
        self.steps.iter().find(after).map(|step| step.at)
    }

    fn offered(&self, step: &Step, size: u32) -> String {
        let station = self.own();
        let whom = self.whom();
        let Setting::Behind(ahead) = step.setting else { return String::new() };
        let queue = match ahead {
            0 => "No other frame is before it.".to_owned(),
            1 => format!("It waits behind 1 frame of {station} itself."),
            _ => format!("It waits behind {} frames of {station} itself.", group(ahead)),
        };
        format!("The host of {station} hands the frame{whom} to its MAC: {size} octets. {queue}")
    }

    /// What is on the line at the instant of `step`, of its own station or of another one.
    fn on_line(&self, step: &Step, own: bool) -> Option<&turns::Stretch> {
        let there = |one: &&turns::Stretch| {
            matches!(one.what, turns::What::Commit | turns::What::Frame | turns::What::Jam)
                && (one.row == self.frame.station.index()) == own
                && (one.from..=one.to).contains(&step.at)
        };
        // What begins now says more than what ends.
        self.on.turns.stretches.iter().filter(there).max_by_key(|one| one.from)
    }

    fn whose_turn(&self, step: &Step) -> Option<String> {
        let one = self.on_line(step, false)?;
        let frame = one.frame.filter(|frame| frame.serial > 0).map_or("COMMIT".to_owned(), |frame| self.name(frame));
        Some(match one.id {
            Some(id) => format!("{frame}, in the turn of id {id}"),
            None => frame,
        })
    }

    fn defers(&self, step: &Step, attempt: u32) -> String {
        let why = match (is_ok(step), self.whose_turn(step)) {
            (true, Some(other)) => format!("PLCA tells it of carrier, that of {other}"),
            (true, None) => "PLCA holds it back, or the gap after the last carrier is not over".to_owned(),
            (false, _) => "it hears carrier on the line, or the gap after it is not over".to_owned(),
        };
        format!("The MAC is ready for attempt {attempt}, but defers (4.2.3.2.1): {why}.")
    }

    fn attempts(&self, step: &Step, attempt: u32) -> String {
        let (station, limit) = (self.own(), self.of_limit());
        if !is_ok(step) {
            return format!("Attempt {attempt}{limit}: plca_status is FAIL, and {station} sends by CSMA/CD alone.");
        }
        if self.on_line(step, true).is_some() {
            return format!("Attempt {attempt}{limit}: the MAC sends, in its own turn. The first bit is on the line.");
        }
        format!(
            "Attempt {attempt}{limit}: the MAC begins to send, into the delay line (148.4.5, HOLD). Nothing is on the line before its \
             turn; the delay line holds {}.",
            self.span(self.on.plca.delay_line)
        )
    }

    fn takes_its_turn(&self, step: &Step, id: u32) -> String {
        let station = self.own();
        let sends = self.steps.iter().any(|one| {
            matches!(one.kind(), Some(Kind::Attempt { .. }))
                && one.at <= step.at
                && one.at + self.on.plca.delay_line >= step.at
        });
        let then = if sends {
            "its bits leave the delay line: this is the first on the line"
        } else {
            "COMMIT goes out until its MAC sends"
        };
        format!("The turn of id {id}, {station}, begins (curID = {id}). It takes it: {then} (148.4.4, COMMIT).")
    }

    fn is_told_to_wait(&self, step: &Step) -> String {
        let why = match self.whose_turn(step) {
            Some(other) => format!("{other} comes before its own turn"),
            None => {
                format!("The delay line of {} is full, and its turn has not come", self.span(self.on.plca.delay_line))
            }
        };
        format!("{TOLD_TO_WAIT} {why}: the MAC jams into nothing and backs off (148.4.5, COLLIDE).")
    }

    fn collides(&self, step: &Step, event: &Event) -> String {
        let more = match (is_ok(step), self.whose_turn(step)) {
            (true, Some(other)) => format!(" The other is {other}."),
            (true, None) => " The turn is its own.".to_owned(),
            (false, _) => " plca_status is FAIL: this is CSMA/CD alone.".to_owned(),
        };
        self.plain(event) + &more
    }
}

/// plca_status of its station was OK.
fn is_ok(step: &Step) -> bool {
    step.setting == Setting::Status { ok: true }
}
