//! Who collides, and when that is late.

use super::bench::Bench;
use super::row::Row;
use super::{Check, Topic, ValidateError};
use medium::{BitInstant, Counters, Destination, Frame, Input, Octets, StationId, Topology};

/// Distances around that at which a collision becomes late.
const DISTANCES: std::ops::RangeInclusive<u64> = 240..=272;

pub(super) fn topic() -> Topic {
    let together: Check = Box::new(|bench| {
        let mut collided = 0;
        for distance in 0..=256 {
            let stations = two(bench, distance, 0)?;
            collided += u32::from(stations.iter().all(|station| station.collisions > 0));
        }
        let what = "two that start in the same bit time, at 0 to 256 BT: pairs of 257 that collide";
        Ok(vec![Row::exactly(what, 257.0, f64::from(collided))])
    });
    let late: Check = Box::new(|bench| {
        let mut late = Vec::new();
        for distance in DISTANCES {
            let [first, _] = two(bench, distance, distance)?;
            if first.late_collisions > 0 {
                late.push(distance);
            }
        }
        let least = late.first().map_or(f64::NAN, |&distance| distance as f64);
        Ok(vec![
            Row::exactly(
                "the other starts as the signal arrives: least distance with a late collision, BT",
                257.0,
                least,
            ),
            Row::exactly("distances of 240 to 272 BT with one", 16.0, late.len() as f64),
        ])
    });
    let saturated = |distance: u64, least: f64, most: f64| -> Check {
        Box::new(move |bench| {
            let duration = bench.choose("100s", "5s");
            let run = bench
                .sim(&format!("--stations 2 --frame-size 512 --topology star:{distance}bt --duration {duration}"))?;
            let what = format!("two saturated stations {distance} BT apart, 512 octets: late_collisions");
            Ok(vec![Row::between(what, least, most, run.counter("late_collisions")).from(&run.command)])
        })
    };
    Topic {
        title: "Collisions, and late ones",
        source: "802.3, 4.2.3.2.3 and 4.2.8: late is what comes later than slotTime, 512 BT, after the first bit",
        about: "A signal takes d BT to the other station and as much back; so a collision is late exactly where 2d > 512.",
        checks: vec![together, late, saturated(256, 0.0, 0.0), saturated(257, 1.0, f64::INFINITY)],
    }
}

/// Two stations with a frame each, the second ready `later` BT after the first: what they counted until the second's
/// first attempt was over.
fn two(bench: &Bench, distance: u64, later: u64) -> Result<[Counters; 2], ValidateError> {
    let mut medium = bench.pair(Topology::star(2, distance))?;
    let [first, second] = [0, 1].map(StationId::new);
    let frame = |to| Frame::new(Octets::new(64), Destination::Station(to));
    medium.handle_input(BitInstant::ZERO, Input::Offer { station: first, frame: frame(second) });
    medium.handle_input(BitInstant::new(later), Input::Offer { station: second, frame: frame(first) });
    medium.advance(BitInstant::new(later + distance + 1));
    Ok([first, second].map(|station| medium.tally().station(station).clone()))
}
