//! What spoilt a reception: for each damaged or collided one of random runs of every method, `explain` and the live view
//! name exactly the signals that lay over it at that receiver, by the reference models of `crates/medium`. Captures are
//! held against the same reference in `crates/sim/tests/windows.rs`, a report's sentences against those of the live view
//! in `pages.rs`, and runs of PLCA in `explain_agrees.rs`.
//!
//! Each of these changes was made once, and failed:
//! - `Signals::let_go` forgets by the gap alone: `a_frame_that_arrives_late_names_what_it_met`, and CSMA/CD beyond
//!   slotTime, where `explain` leaves out a signal;
//! - `Signals::there` without the way to the place: CSMA/CD, ALOHA and CSMA, where the view has other signals;
//! - `Signals::overlap` of signals that touch: ALOHA and slotted ALOHA, where the view has one more;
//! - `receives` of `explain` without the receiver's own signal: CSMA/CD, where `explain` leaves it out;
//! - `meet` of `explain` at the sender's place: ALOHA, slotted ALOHA, CSMA and CSMA/CA, where `explain` names others;
//! - `Signals::parties` past a cut: CSMA/CD, where a sentence of the view has one more;
//! - `Capture` at any place: ALOHA, slotted ALOHA and CSMA/CA of `crates/sim/tests/windows.rs`, where `with` has one more.

use crate::case::{self, Case, Facts, Key, key, name};
use crate::common::process::{ethbus, run, unwrapped};
use medium::{Deed, Event, Fault, FrameId, Kind, Method, StationId};
use sim::explain::{ToldStep, Wanted, data, find};
use sim::files::event_log::{Entry, EventLogReader};
use sim::files::json_lines::LineReader;
use sim::run::view::{Note, View};
use sim::scene::Signal;
use sim::words::sentences::TIED;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::sync::Arc;

/// At st3 st1#1 covers the first bits of st2#2, which goes on 800 BT longer.
const FORGOTTEN: &str = r#"
stations = 3
[medium]
topology = "star:700bt"
[run]
duration = "1ms"
warmup = "0s"
[[frame]]
station = "st2"
at = "0 BT"
destination = "st3"
[[frame]]
station = "st2"
at = "1 BT"
destination = "st3"
[[frame]]
station = "st1"
at = "636 BT"
destination = "st3"
[[frame]]
station = "st2"
at = "1750 BT"
destination = "st3"
"#;

/// A signal that is over everywhere for longer than the gap has lain over a frame that still arrives.
#[test]
fn a_frame_that_arrives_late_names_what_it_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let [scenario, events] =
        ["forgotten.toml", "events"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
    fs::write(&scenario, FORGOTTEN).expect("own folder");
    run(ethbus(["sim", &scenario, "--events", &events])).succeeded();
    let told = unwrapped(&run(ethbus(["explain", &events, "--frame", "st2#2"])).succeeded().stdout);
    println!("{told}");
    assert!(told.contains("the signal of st1#1"), "{told}");
    assert!(!told.contains("its sender was faulty"), "{told}");
}

/// A reception that failed: its event, the signal that was received, and where.
struct Failed<'a> {
    event: &'a Event,
    own: (&'a Key, &'a Facts),
    places: Range<usize>,
}

impl Failed<'_> {
    /// Its sender notices it while it sends.
    fn is_noticed(&self, case: &Case) -> bool {
        case.detects() && matches!(self.event.kind, Kind::Collision { .. })
    }
}

/// A damaged frame, or a collided attempt: at the place of a sender that notices it, or, without collision detection,
/// where its last part is for.
fn failure<'a>(case: &'a Case, event: &'a Event) -> Option<Failed<'a>> {
    let Event { at, station, frame, kind } = *event;
    let (at, place, named) = (at.get(), station.index(), name(frame));
    let mut own = case.all.iter().filter(|(key, _)| key.3 == named && ["frame", "RTS"].contains(&key.1.as_str()));
    match kind {
        Kind::Damaged { .. } => {
            let here = |own: &(&Key, &Facts)| case.there(*own, place).is_some_and(|(_, end)| end == at);
            own.find(here).map(|own| Failed { event, own, places: place..place + 1 })
        }
        Kind::Collision { episode: 0, .. } if case.detects() => None,
        Kind::Collision { .. } if case.detects() => {
            let own = own.filter(|(key, _)| key.2 <= at).max_by_key(|(key, _)| key.2)?;
            Some(Failed { event, own, places: place..place + 1 })
        }
        Kind::Collision { .. } => {
            let own = own.filter(|(key, _)| key.2 < at && key.0 == place).max_by_key(|(key, _)| key.2)?;
            Some(Failed { event, own, places: case.matters(own, frame) })
        }
        _ => None,
    }
}

/// Every failed reception whose signals are all known.
fn failed(case: &Case) -> Vec<Failed<'_>> {
    let known = case.events().filter(|event| event.at.get() + 4_000 < case.horizon);
    known.filter_map(|event| failure(case, event)).collect()
}

/// The names of the frames that lay over a reception.
fn met(case: &Case, own: (&Key, &Facts), places: Range<usize>) -> BTreeSet<String> {
    case.met(own, places).into_iter().map(|key| key.3.clone()).filter(|frame| !frame.is_empty()).collect()
}

/// Signals of others at the place of a sender as it notices them.
fn sounding<'a>(case: &'a Case, event: &Event) -> BTreeSet<&'a Key> {
    let (at, place) = (event.at.get(), event.station.index());
    let is_there = |other| case.there(other, place).is_some_and(|(begin, end)| begin <= at && at < end);
    let others = case.all.iter().filter(|(key, _)| key.0 != place);
    others.filter(|other| is_there(*other)).map(|(key, _)| key).collect()
}

/// The live view has the signals that lay over each failed reception so far, at the instant of its event, and no others.
fn view_agrees(case: &Case, failed: &[Failed<'_>]) -> Result<(), String> {
    let mut view = View::new(Arc::new(case.config.clone()));
    let mut failed = failed.iter().peekable();
    for entry in &case.entries {
        match entry {
            Entry::Medium(event) => view.take(&Note::Event(*event)),
            Entry::Deed { at, deed } => view.take(&Note::Input { at: *at, input: medium::Input::Deed(*deed) }),
            Entry::Emulator(_) => {}
        }
        let Entry::Medium(event) = entry else { continue };
        let Some(one) = failed.next_if(|one| std::ptr::eq(one.event, event)) else { continue };
        let (own, to) = (one.own, (one.places.len() == 1).then(|| StationId::new(one.places.start as u16)));
        let is_own = |one: &Signal| one.frame == event.frame && one.begin.get() == own.0.2;
        let number = view.signals.number_of_last(is_own).ok_or_else(|| format!("the view has not {own:?}"))?;
        let sounds = |one: &&Signal| {
            let there = view.signals.there(one, event.station);
            one.source != event.station && there.is_some_and(|(begin, end)| begin <= event.at && event.at < end)
        };
        let (shown, wanted): (BTreeSet<Key>, BTreeSet<&Key>) = if one.is_noticed(case) {
            (view.signals.iter().filter(sounds).map(key).collect(), sounding(case, event))
        } else {
            (view.signals.met(number, to).map(key).collect(), case.met(own, one.places.clone()))
        };
        if shown.iter().collect::<BTreeSet<_>>() != wanted {
            return Err(format!("{event:?} of {own:?}: the view has {shown:?}, and the model {wanted:?}"));
        }
    }
    assert!(failed.peek().is_none(), "each reception was found");
    Ok(())
}

/// The frames that are named in a text.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    words.filter(|word| word.contains('#')).map(str::to_owned).collect()
}

fn steps(case: &Case, frame: FrameId) -> Vec<ToldStep> {
    let mut log = EventLogReader::new(LineReader::new(case.log.as_bytes(), "log".to_owned())).expect("a log");
    let wanted = Wanted::parse(&name(frame), log.header()).expect("its name");
    data(&find(&mut log, wanted).expect("it is in the log")).steps
}

/// What `explain` says of an event, in `steps` of its frame.
fn says(steps: &[ToldStep], event: &Event) -> Result<String, String> {
    let receiver = format!("st{}", event.station.index() + 1);
    let names = |says: &str| {
        says.split(", the addressee").next().expect("one part").split([' ', ',']).any(|word| word == receiver)
    };
    let is_it = |step: &&ToldStep| match event.kind {
        // Receivers that heard the same are one step, which begins with the first of them.
        Kind::Damaged { .. } => step.kind == "damaged" && step.t_bt <= event.at.get() && names(&step.says),
        _ => step.kind == event.kind.name() && step.t_bt == event.at.get(),
    };
    let step = steps.iter().rev().find(is_it).ok_or_else(|| format!("no step of {event:?}"))?;
    Ok(step.says.replace(TIED, " "))
}

/// The fault of a station as its frame begins.
fn fault(case: &Case, frame: FrameId, begin: u64) -> Option<Fault> {
    let begins = |entry: &&Entry| match entry {
        Entry::Medium(Event { at, frame: of, kind: Kind::Attempt { .. }, .. }) => (*of, at.get()) == (frame, begin),
        Entry::Deed { .. } | Entry::Medium(_) | Entry::Emulator(_) => false,
    };
    let set = |entry: &Entry| match entry {
        Entry::Deed { deed: Deed::Fault { station, fault }, .. } if *station == frame.station => Some(*fault),
        Entry::Deed { .. } | Entry::Medium(_) | Entry::Emulator(_) => None,
    };
    case.entries.iter().take_while(|entry| !begins(entry)).filter_map(set).last().flatten()
}

/// CSMA/CD: what `says` gives as the cause of a damaged frame.
fn cause_agrees(case: &Case, one: &Failed<'_>, says: &str) -> Result<(), String> {
    let (own, event) = (one.own, one.event);
    let met = met(case, own, one.places.clone());
    let noticed = |other: &Event| {
        let is_its = other.frame == event.frame && matches!(other.kind, Kind::Collision { .. });
        is_its && (own.0.2..=own.1.0).contains(&other.at.get())
    };
    let agrees = if case.model.iter().any(noticed) {
        says.contains("cut it short with a jam")
    } else if fault(case, event.frame, own.0.2) == Some(Fault::BadFcs) {
        says.contains("the fault `bad_fcs`")
    } else if met.is_empty() {
        says.contains("noise made a bit wrong")
    } else {
        named(says.split_once("the signal of").map_or("", |(_, names)| names)) == met
    };
    if agrees { Ok(()) } else { Err(format!("{event:?} of {own:?} met {met:?}, and explain says {says:?}")) }
}

/// CSMA/CD: the parties of a collision.
fn notice_agrees(case: &Case, event: &Event, says: &str) -> Result<(), String> {
    let met: BTreeSet<String> = sounding(case, event).into_iter().map(|key| key.3.clone()).collect();
    if named(says) == met { Ok(()) } else { Err(format!("{event:?} met {met:?}, and it is told as {says:?}")) }
}

/// Without collision detection: which frames met the parts of an attempt.
fn attempt_agrees(case: &Case, one: &Failed<'_>, says: &str) -> Result<(), String> {
    let Failed { event, .. } = one;
    let (frame, at) = (name(event.frame), event.at.get());
    let is_attempt = |own: &&Event| own.frame == event.frame && matches!(own.kind, Kind::Attempt { .. });
    let begin = case.events().filter(is_attempt).map(|own| own.at.get()).filter(|begin| *begin < at).max();
    let is_part = |(key, _): &(&Key, &Facts)| key.3 == frame && begin <= Some(key.2) && key.2 < at;
    let parts = case.all.iter().filter(is_part);
    let met: BTreeSet<String> = parts.flat_map(|part| met(case, part, case.matters(part, event.frame))).collect();
    let mut told = named(says);
    told.remove(&frame);
    let agrees = if says.contains(" more did so too") { told.is_subset(&met) } else { told == met };
    if agrees { Ok(()) } else { Err(format!("{event:?} met {met:?}, and explain says {says:?}")) }
}

/// What `explain` says of each failed reception, but for PLCA: its steps tell no cause.
fn explain_agrees(case: &Case, failed: &[Failed<'_>]) -> Result<(), String> {
    let mut told: BTreeMap<FrameId, Vec<ToldStep>> = BTreeMap::new();
    let (_, sentences) = case::viewed(case)?;
    let sentence = |event: &Event| case.events().zip(&sentences).find(|(other, _)| std::ptr::eq(*other, event));
    for one in failed {
        let event = one.event;
        let steps = told.entry(event.frame).or_insert_with(|| steps(case, event.frame));
        match (&case.config.method, event.kind) {
            (Method::Plca(_), _) => {}
            (Method::CsmaCd, Kind::Damaged { .. }) => cause_agrees(case, one, &says(steps, event)?)?,
            (Method::CsmaCd, _) => {
                // The page has the sentences of the live view.
                notice_agrees(case, event, &says(steps, event)?)?;
                notice_agrees(case, event, sentence(event).expect("each event has one").1)?;
            }
            (_, Kind::Collision { .. }) => attempt_agrees(case, one, &says(steps, event)?)?,
            (_, _) => {}
        }
    }
    Ok(())
}

/// Each failed reception of a run has its causes.
pub(crate) fn agrees(case: &Case) -> Result<(), String> {
    let failed = failed(case);
    view_agrees(case, &failed)?;
    explain_agrees(case, &failed)
}

/// What gives runs of a method, one by one.
type Runs = fn(&mut dyn FnMut(&str, Case));

/// Holds the runs of one method, in which at `least` that number of receptions fails.
fn hold(least: u64, runs: Runs) {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    runs(&mut |method, case| {
        failed(&case).iter().for_each(|one| *kinds.entry(one.event.kind.name()).or_default() += 1);
        agrees(&case).unwrap_or_else(|error| panic!("{method}\n{error}\n{}", case.log));
    });
    println!("receptions that failed: {kinds:?}");
    assert!(kinds.values().sum::<u64>() >= least, "{kinds:?}");
}

#[test]
fn causes_agree_on_csma_cd() {
    hold(100, case::csma_cd);
}

#[test]
fn causes_agree_on_aloha() {
    hold(100, case::aloha);
}

#[test]
fn causes_agree_on_csma() {
    hold(100, case::csma);
}

#[test]
fn causes_agree_on_slotted_aloha() {
    hold(100, case::slotted_aloha);
}

/// Where clocks are right no slot meets another, so all that fails is noise.
#[test]
fn causes_agree_on_tdma() {
    hold(1, case::tdma);
}

#[test]
fn causes_agree_on_csma_ca() {
    hold(30, case::csma_ca);
}
