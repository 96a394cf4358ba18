//! A run in one sentence.

use crate::tiles::digits;
use medium::{BitTimes, Event, Kind, StationId};
use sim::figures::results::Results;
use sim::run::told::Told;
use sim::scenario::file::AccessMethod;
use sim::scene::Stations;
use sim::words::configuration::kind;
use sim::words::sentences::{TIED, real};
use sim::words::units::{group, many};
use std::collections::BTreeSet;
use std::num::NonZeroU64;

/// What was run, and what came of it.
pub fn sentence(results: &Results, told: Option<&Told>) -> String {
    let config = results.config.medium.config();
    let medium = &results.medium;
    let count = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let span = real(BitTimes::new(results.measured_bit_times), config.rate).replace(TIED, " ");
    let replications = results.config.run.as_ref().map_or(1, |run| run.replications);
    let span = if replications > 1 { format!("{replications} runs, {span} in all") } else { span };
    let lost = match results.stations.iter().map(|station| station.discarded()).sum() {
        0 => "no frame was discarded".to_owned(),
        lost => format!(
            "{} discarded",
            if lost == 1 { "1 frame was".to_owned() } else { format!("{} frames were", group(lost)) }
        ),
    };
    let met = match medium.collision_episodes {
        0 if count("collisions") > 0 => format!("{}, all of them logical", many(count("collisions"), "collision")),
        episodes => many(episodes, "collision"),
    };
    format!(
        "{} of {} on a {} at {} for {span}, {}: {} % of the time carried frames that got through, with {met}; {lost}.",
        many(results.stations.len() as u64, "station"),
        AccessMethod::from(&config.method).title(),
        kind(&config.topology),
        config.rate,
        load(results, told),
        digits(100.0 * medium.utilization_frame, 3),
    )
}

/// What the stations offer.
fn load(results: &Results, told: Option<&Told>) -> String {
    let written = results.config.run.as_ref().map(|run| &run.traffic[..]);
    match (written, told) {
        (Some([one]), _) => format!("each with {one}"),
        (Some(several), _) => format!("with {} kinds of traffic", several.iter().collect::<BTreeSet<_>>().len()),
        (None, Some(told)) => format!("offered {}", offered(told)),
        (None, None) => "with traffic that is not known".to_owned(),
    }
}

/// What the hosts offered, as a trace tells it.
pub fn offered(told: &Told) -> String {
    let size = |event: &Event| match event.kind {
        Kind::Offered { size } if event.at >= told.begin => Some(u64::from(size.get())),
        _ => None,
    };
    let sizes = || told.events.iter().filter_map(size);
    let (Some(least), Some(most)) = (sizes().min(), sizes().max()) else { return "no frame".to_owned() };
    let lengths = if least == most { group(least) } else { format!("{} to {}", group(least), group(most)) };
    // A trace that ends in the bit time in which it begins to measure has no rate.
    let rate = NonZeroU64::new(told.end.since(told.begin).get()).map_or(String::new(), |measured| {
        let seconds = measured.get() as f64 / told.header.config().rate.get() as f64;
        format!(", {} Mb/s", digits(8.0 * sizes().sum::<u64>() as f64 / seconds / 1e6, 3))
    });
    let always = if always_had_one(told) { "; every station always has a frame to send" } else { "" };
    format!("{} of {lengths} octets{rate}{always}", many(sizes().count() as u64, "frame"))
}

/// Each station always had a frame.
pub fn always_had_one(told: &Told) -> bool {
    let config = told.header.config();
    let mut stations = Stations::new(config.topology.stations());
    let (mut at, mut left): (_, Vec<StationId>) = (told.begin, Vec::new());
    for event in &told.events {
        if event.at > at {
            let has_one = |station: StationId| stations.get(station).queue() > 0;
            if !left.drain(..).all(has_one) {
                return false;
            }
            at = event.at;
        }
        if stations.event(event, &config).is_some() {
            left.push(event.frame.station);
        }
    }
    (0..config.topology.stations() as u16).map(StationId::new).all(|one| stations.get(one).queue() > 0)
}
