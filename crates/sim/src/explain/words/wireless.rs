//! What only CSMA/CA tells: DIFS, slots that are not counted, NAV, EIFS, and answers that do not come.

use super::super::hearing::{Stopped, heard, there};
use super::super::story::{Other, Sent, Setting, Step, Try, Wait};
use super::contention::{NAMED, Words, around, often};
use crate::scene::Signal;
use crate::words::lines::list;
use crate::words::units::group;
use medium::{BitTimes, Carried, CsmaCa, Destination, Event, Kind, Spans};

impl Words<'_> {
    /// An event of CSMA/CA.
    pub(super) fn wireless(&self, own: &CsmaCa, number: usize, step: &Step, event: &Event) -> String {
        let spans = own.phy.spans();
        match event.kind {
            Kind::Attempt { attempt, .. } => self.has_counted(own, &spans, step, attempt),
            Kind::Defer { .. } => format!("{} {}", self.plain(event), self.was_busy(step)),
            Kind::Backoff { attempt, .. } => {
                let why = if attempt == 0 {
                    self.draws_first(own, number, step)
                } else {
                    self.draws_again(own, number, step, attempt)
                };
                format!("{why} {}", self.plain(event))
            }
            Kind::Collision { attempt, .. } => self.plain(event) + &self.hears_no_answer(own, attempt),
            _ => self.common(step, event),
        }
    }

    fn has_counted(&self, own: &CsmaCa, spans: &Spans, step: &Step, attempt: u32) -> String {
        let station = self.own();
        let wait = if let Setting::Around { wait, .. } = &step.setting { wait.as_ref() } else { None };
        let why = match wait.and_then(|wait| wait.slots.map(|slots| (wait, slots))) {
            None => format!(
                "The medium has been silent for a DIFS of {}: {station} sends without a draw",
                self.span(spans.difs)
            ),
            Some((wait, slots)) => {
                let stopped = wait.stopped(&self.config, self.frame.station, spans.difs);
                format!(
                    "{}{}: {station} sends",
                    self.slots_counted(slots),
                    self.stood_still(spans, wait, slots, &stopped)
                )
            }
        };
        let limits = match own.rts {
            false => format!("{}", own.short_retry_limit),
            true => format!("{} without CTS and {} with CTS but no ACK", own.short_retry_limit, own.long_retry_limit),
        };
        format!("{why}. Attempt {attempt} of at most {limits}.{}", self.not_aware(step, attempt))
    }

    fn slots_counted(&self, slots: u64) -> String {
        match slots {
            0 => "No slot was to be counted".to_owned(),
            1 => format!("The slot of {} is counted", self.span(self.config.backoff_slot())),
            many => format!("The {} slots of {} are counted", group(many), self.span(self.config.backoff_slot())),
        }
    }

    /// Why counting took longer than the slots.
    fn stood_still(&self, spans: &Spans, wait: &Wait, slots: u64, stopped: &Stopped) -> String {
        let waited = wait.to.since(wait.from);
        let own = spans.slot * slots;
        if stopped.stretches == 0 {
            return match waited.get().saturating_sub(own.get()) {
                0 => ", and no other signal came".to_owned(),
                gap => format!(", after a gap of {}, and no other signal came", self.span(BitTimes::new(gap))),
            };
        }
        let times = often(stopped.stretches);
        let named: Vec<String> = stopped.signals.iter().take(NAMED).map(|one| self.signal_name(one)).collect();
        let others = match stopped.signals.len().saturating_sub(NAMED) {
            0 => list(&named),
            more => format!("{} and {} more", named.join(", "), group(more as u64)),
        };
        let mut text = format!(
            " in {}: the count stood still {times} while the medium was busy, for {} in all ({others}), and each time for a \
             DIFS of {} after it",
            self.span(waited),
            self.span(stopped.busy),
            self.span(spans.difs)
        );
        if stopped.spoilt > 0 {
            let times = often(stopped.spoilt);
            let eifs = self.span(spans.eifs);
            text += &format!(", or for an EIFS of {eifs} where it could not make out what came last ({times})");
        }
        if let Some((until, signal)) = &stopped.reserved
            && signal.what != Carried::Frame
        {
            text += &format!(
                "; by its NAV it kept silent up to t = {}, as the {} of {} asked",
                group(until.get()),
                signal.name(),
                self.name(signal.frame)
            );
        }
        text
    }

    /// Who sends and is not heard here: hidden, or in the same slot.
    fn not_aware(&self, step: &Step, attempt: u32) -> String {
        let Some(last) = self.the_try(attempt) else { return String::new() };
        let hidden =
            |one: &&Other| one.sent.begin < step.at && there(&one.sent, self.frame.station, &self.config).is_none();
        let hidden: Vec<String> =
            last.others.iter().filter(hidden).take(NAMED).map(|one| self.signal_name(&one.sent)).collect();
        if hidden.is_empty() {
            return String::new();
        }
        format!(" {} is hidden from the sender of {}, and does not hear it.", self.own(), list(&hidden))
    }

    fn was_busy(&self, step: &Step) -> String {
        let here = |one: &&Sent| heard(one, self.frame.station, &self.config).is_some_and(|(begin, _)| begin < step.at);
        let named: Vec<String> = around(step).filter(here).take(NAMED).map(|one| self.signal_name(one)).collect();
        match named.is_empty() {
            false => format!("It is busy with {}.", list(&named)),
            true => "It was busy or reserved.".to_owned(),
        }
    }

    fn draws_first(&self, own: &CsmaCa, number: usize, step: &Step) -> String {
        let before = number.checked_sub(1).map(|before| &self.steps[before]).filter(|before| before.at == step.at);
        let most = group(u64::from(own.window.saturating_sub(1)));
        match before.and_then(Step::kind) {
            Some(Kind::Defer { .. }) => {
                format!("It draws of 0 to {most}, and slots count from a DIFS after each signal on.")
            }
            _ => format!("After each frame {} draws of 0 to {most}, and what is left counts for this one.", self.own()),
        }
    }

    fn draws_again(&self, own: &CsmaCa, number: usize, step: &Step, attempt: u32) -> String {
        let window = u64::from(own.window) << attempt.min(32);
        let most = window.min(u64::from(own.most_window)).saturating_sub(1);
        let told = self.steps[..number].iter().rev().take_while(|one| one.at == step.at).find_map(Step::kind);
        let why = match told {
            Some(Kind::Collision { .. }) => String::new(),
            Some(_) | None => format!("{} ", self.no_answer(own, attempt)),
        };
        let limited = if window > u64::from(own.most_window) { " (no more than CWmax)" } else { "" };
        format!("{why}The window is doubled: it draws of 0 to {}{limited}.", group(most))
    }

    /// What it waits for after the last part that it sent.
    fn awaited(&self, last: &Try) -> &'static str {
        let mine = last.parts.iter().rfind(|part| part.source == self.frame.station);
        if mine.is_some_and(|mine| mine.what == Carried::Rts) { "CTS" } else { "ACK" }
    }

    fn hears_no_answer(&self, own: &CsmaCa, attempt: u32) -> String {
        let Some(last) = self.the_try(attempt) else { return String::new() };
        let answer = self.awaited(last);
        let timeout = self.span(own.phy.spans().timeout);
        format!(" No {answer} has come within {timeout} of the last bit: {}.", self.met(last))
    }

    /// The attempt failed, and nothing that matters has met it.
    fn no_answer(&self, own: &CsmaCa, attempt: u32) -> String {
        let Some(last) = self.the_try(attempt) else { return "No answer has come.".to_owned() };
        let answer = self.awaited(last);
        let sent = |what: Carried| last.parts.iter().any(|part| part.what == what);
        let why = match (answer, self.destination) {
            ("CTS", Some(Destination::Station(to))) if sent(Carried::Cts) => {
                format!("{} has sent it, and it did not get here whole", self.station(to))
            }
            ("ACK", Some(Destination::Station(to))) if sent(Carried::Ack) => {
                format!("{} has sent it, and it did not get here whole", self.station(to))
            }
            ("CTS", Some(Destination::Station(to)))
                if self.config.reaches(self.frame.station, to, None) && last.others.is_empty() =>
            {
                format!(
                    "nothing met the RTS, but {} was sending, or has heard that the medium is reserved (NAV)",
                    self.station(to)
                )
            }
            _ => self.why_alone(attempt),
        };
        format!("No {answer} has come within {} of the last bit: {why}.", self.span(own.phy.spans().timeout))
    }

    /// A part of the frame's own exchange.
    pub(super) fn part(&self, signal: &Signal) -> String {
        match signal.what {
            Carried::Rts => "our RTS".to_owned(),
            Carried::Cts | Carried::Ack => format!("the {} for us", signal.name()),
            _ => "ours".to_owned(),
        }
    }
}
