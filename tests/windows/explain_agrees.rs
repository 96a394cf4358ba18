//! `ethbus explain` shows the bus of every other window: it has each signal of a frame, and each signal that met one, with
//! the begin, the end and the hearers that the reference models of `crates/medium` give it, and the models' numbers in its
//! words: which attempt of how many, slots drawn, and when a wait is over.

use crate::case::{self, Case, Signals, differs, key, name};
use crate::causes;
use medium::{BitInstant, Event, Kind, Method, StationId};
use sim::explain::{Story, ToldStep, Wanted, data, find};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use sim::scene::Signal;
use std::collections::BTreeMap;

fn story(case: &Case, frame: &str) -> Story {
    let mut log = EventLogReader::new(LineReader::new(case.log.as_bytes(), "log".to_owned())).expect("a log");
    let wanted = Wanted::parse(frame, log.header()).expect("its name");
    find(&mut log, wanted).expect("it is in the log")
}

fn add(all: &mut Signals, case: &Case, one: &Signal) {
    let reaches = (0..case.stations() as u16).map(|to| one.reaches(StationId::new(to), &case.config)).collect();
    all.insert(key(one), (one.end.map_or(u64::MAX, BitInstant::get), reaches));
}

/// The number after `words`.
fn number_after(says: &str, words: &str) -> Option<u64> {
    let rest = says.split_once(words)?.1;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    digits.parse().ok()
}

/// How many attempts the frame may have, as its standard or its configuration says.
fn limit(case: &Case) -> Option<u64> {
    match &case.config.method {
        Method::CsmaCd | Method::Plca(_) => Some(case.config.parameters.attempt_limit.get().into()),
        Method::CsmaCa(own) => Some(own.short_retry_limit.get().into()),
        Method::Aloha(own) => own.attempt_limit.map(|limit| limit.get().into()),
        Method::SlottedAloha(own) => own.attempt_limit.map(|limit| limit.get().into()),
        Method::Csma(own) => own.attempt_limit.map(|limit| limit.get().into()),
        Method::Tdma(own) => own.attempt_limit.map(|limit| limit.get().into()),
    }
}

/// The words about an event of the model have its numbers.
fn numbers(case: &Case, event: &Event, says: &str) -> Result<(), String> {
    let differs = |what: &str, wanted: Option<u64>| Err(format!("{says:?} has not {what} {wanted:?} of {event:?}"));
    match event.kind {
        Kind::Attempt { attempt, .. } => {
            let attempt = u64::from(attempt);
            let told = number_after(says, "Attempt ").or_else(|| number_after(says, ": attempt "));
            if told != Some(attempt) {
                return differs("the attempt", Some(attempt));
            }
            let most = number_after(says, " of at most ");
            if most != limit(case) {
                return differs("the limit", limit(case));
            }
        }
        Kind::Backoff { slots, .. } => {
            let grouped = sim::words::units::group(slots);
            let has = match &case.header.config().method {
                Method::CsmaCd | Method::Plca(_) => [format!("draws {grouped}"), format!("slots, {grouped}")],
                // The next slot of a station of TDMA is not drawn.
                _ => [format!("Its backoff is {grouped} "), format!(" comes {grouped} slot")],
            };
            if !has.iter().any(|words| says.contains(words)) {
                return differs("the slots", Some(slots));
            }
            if case.config.has_wrong_clocks() {
                return ends_with_the_wait(case, event, says);
            }
            let until = case.slot().filter(|_| slots > 0).map(|slot| event.at.get() + slots * slot);
            if number_after(says, "up to t = ") != until {
                return differs("the end", until);
            }
        }
        _ => {}
    }
    Ok(())
}

/// By a clock that is off, a wait ends with the frame's next event of the model, but where carrier or slots of the line
/// can move that.
fn ends_with_the_wait(case: &Case, event: &Event, says: &str) -> Result<(), String> {
    let Some(until) = number_after(says, "up to t = ") else { return Ok(()) };
    let of_frame = |next: &&Event| next.frame == event.frame && next.station == event.station && next.at > event.at;
    let next = case.model.iter().find(of_frame).filter(|next| !matches!(next.kind, Kind::Discarded { .. }));
    match next {
        Some(next) if next.at.get() != until && !matches!(case.config.method, Method::Csma(_)) => {
            Err(format!("{says:?}, and the next event is {next:?}"))
        }
        Some(_) | None => Ok(()),
    }
}

fn agrees(case: &Case) -> Result<(), String> {
    let (mut own, mut others) = (Signals::new(), Signals::new());
    let mut told: BTreeMap<String, Vec<ToldStep>> = BTreeMap::new();
    for event in case.model.iter().filter(|event| matches!(event.kind, Kind::Offered { .. })) {
        let frame = name(event.frame);
        let story = story(case, &frame);
        story.signals().for_each(|one| add(&mut own, case, one));
        story.others().for_each(|one| add(&mut others, case, one));
        told.insert(frame, data(&story).steps);
    }
    own.retain(|_, (end, _)| *end < case.horizon);
    others.retain(|_, (end, _)| *end < case.horizon);
    // A turn that no frame used has no story.
    let is_of_a_frame = |what: &str| !["BEACON", "COMMIT"].contains(&what);
    others.extend(own.extract_if(.., |(_, what, ..), _| !is_of_a_frame(what)));
    let truth = case.truth.clone().into_iter().filter(|((_, what, ..), _)| is_of_a_frame(what)).collect();
    differs("explain", &own, &truth)?;
    if let Some(one) = others.iter().find(|(key, facts)| case.truth.get(*key) != Some(*facts)) {
        return Err(format!("explain has {one:?} beside a frame, and the model does not"));
    }
    // The model's last instant may be after that of the log.
    for event in case.model.iter().filter(|event| event.frame.serial > 0 && event.at.get() < case.horizon) {
        let (Kind::Attempt { .. } | Kind::Backoff { .. }) = event.kind else { continue };
        let steps = &told[&name(event.frame)];
        let is_it = |step: &&ToldStep| step.t_bt == event.at.get() && step.kind == event.kind.name();
        // A wait of no slots ends in the instant in which it begins, and may be followed by another one.
        let told: Vec<Result<(), String>> =
            steps.iter().filter(is_it).map(|step| numbers(case, event, &step.says)).collect();
        match told.iter().find(|told| told.is_ok()).or(told.first()) {
            Some(told) => told.clone()?,
            None => return Err(format!("no step of {event:?}")),
        }
    }
    Ok(())
}

fn hold(method: &str, case: Case) {
    agrees(&case).unwrap_or_else(|error| panic!("{method}\n{error}\n{}", case.log));
}

#[test]
fn lives_agree_on_csma_cd() {
    case::csma_cd(&mut hold);
}

#[test]
fn lives_agree_on_aloha() {
    case::aloha(&mut hold);
}

#[test]
fn lives_agree_on_csma() {
    case::csma(&mut hold);
}

#[test]
fn lives_agree_on_slotted_aloha() {
    case::slotted_aloha(&mut hold);
}

#[test]
fn lives_agree_on_csma_ca() {
    case::csma_ca(&mut hold);
}

/// The model of PLCA is the slowest, so its runs are drawn once for both.
#[test]
fn lives_and_causes_agree_on_plca() {
    case::plca(&mut |method, case| {
        causes::agrees(&case).unwrap_or_else(|error| panic!("{method}\n{error}\n{}", case.log));
        hold(method, case);
    });
}

#[test]
fn lives_agree_on_tdma() {
    case::tdma(&mut hold);
}
