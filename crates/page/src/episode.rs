//! The stretch of a run that shows its access method best.

use medium::{BitInstant, Event, Kind, Method, StationId};
use sim::run::told::Told;
use std::collections::BTreeSet;

/// Events that are looked at: the best of a long run is as good as that of its beginning.
const MOST: usize = 200_000;
/// After the first attempts of a collision, in bit times, what becomes of it is looked for.
const AFTER: u64 = 6_000;

/// From when to when it is, and what it is in words: a cycle of PLCA, a frame of slots, an exchange of DCF, a collision and
/// the next frame. Else the last attempt of the first frame. Nothing if no frame got through.
pub fn episode(told: &Told) -> Option<((u64, u64), &'static str)> {
    let first = told.events.partition_point(|event| event.at < told.begin);
    let events = &told.events[first..told.events.len().min(first + MOST)];
    let config = told.header.config();
    let (found, words) = match &config.method {
        Method::Plca(_) => {
            let is_beacon = |event: &&Event| matches!(event.kind, Kind::Beacon { .. });
            let begins: Vec<u64> = events.iter().filter(is_beacon).map(|event| event.at.get()).collect();
            (busiest(events, &begins), "the cycle in which most nodes send")
        }
        Method::Tdma(own) => {
            let frame = own.slot.get() * own.owners.len() as u64;
            let (from, to) = (told.begin.get().div_ceil(frame), told.end.get() / frame);
            let begins: Vec<u64> = (from..=to).take(MOST).map(|number| number * frame).collect();
            (busiest(events, &begins), "the frame of slots in which most stations send")
        }
        Method::CsmaCa(_) => (exchange(events), "an exchange, from the attempt to the acknowledgement"),
        Method::CsmaCd | Method::Csma(_) | Method::Aloha(_) | Method::SlottedAloha(_) => {
            (collision(events), "the first collision, and what becomes of it")
        }
    };
    let first = || exchange(events).map(|stretch| (stretch, "the first frame that got through"));
    found.map(|stretch| (stretch, words)).or_else(first)
}

/// Of the stretches between instants the first in which most stations send.
fn busiest(events: &[Event], instants: &[u64]) -> Option<(u64, u64)> {
    let senders = |from: u64, to: u64| {
        let place = |at: u64| events.partition_point(|event| event.at.get() < at);
        let sends = |event: &Event| matches!(event.kind, Kind::Attempt { .. }).then_some(event.frame.station);
        events[place(from)..place(to)].iter().filter_map(sends).collect::<BTreeSet<StationId>>().len()
    };
    let stretches = instants.windows(2).map(|pair| (pair[0], pair[1]));
    let counted = stretches.map(|(from, to)| (senders(from, to), (from, to))).filter(|(count, _)| *count > 0);
    counted.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, stretch)| stretch)
}

/// The first frame that got through, from its last attempt on.
fn exchange(events: &[Event]) -> Option<(u64, u64)> {
    let done = events.iter().find(|event| matches!(event.kind, Kind::Transmitted { .. }))?;
    let is_attempt = |event: &&Event| event.frame == done.frame && matches!(event.kind, Kind::Attempt { .. });
    let begun = events.iter().take_while(|event| event.at <= done.at).filter(is_attempt).last();
    let begin = begun.map_or(BitInstant::ZERO, |event| event.at);
    Some((begin.get(), done.at.get()))
}

/// The first collision: from the attempt of the first that noticed it to the next frame that got through.
fn collision(events: &[Event]) -> Option<(u64, u64)> {
    let meets = |event: &Event| matches!(event.kind, Kind::Collision { episode: 1.., .. });
    let place = events.iter().position(meets)?;
    let met = &events[place];
    let is_begin = |event: &&Event| event.frame == met.frame && matches!(event.kind, Kind::Attempt { .. });
    let begin = events[..place].iter().rfind(is_begin).map_or(met.at, |event| event.at).get();
    let is_end = |event: &&Event| matches!(event.kind, Kind::Transmitted { .. });
    let end = events[place..].iter().find(is_end).map_or(met.at.get(), |event| event.at.get());
    Some((begin, end.min(met.at.get() + AFTER)))
}
