//! How long signals take to each place, whom a cut keeps them from, and when a station's timers end.
//!
//! Derived from a configuration by code that the engine does not use. The reference models of the engine's tests are
//! made from this file too.

use backoff::Generator;
use medium::{Config, Place, Segments, Topology};

/// How long a signal takes from `station` to each place.
pub fn distances(topology: &Topology, station: usize) -> Vec<u64> {
    let to = |place: usize| match topology {
        Topology::Star { distance, .. } => {
            if place == station {
                0
            } else {
                distance.get()
            }
        }
        Topology::Bus { positions } => positions[station].get().abs_diff(positions[place].get()),
        Topology::Segments(segments) => {
            let (from, to) = (segments.stations()[station], segments.stations()[place]);
            way(segments, from, to, &mut Vec::new()).expect("the segments are joined").0
        }
    };
    (0..topology.stations()).map(to).collect()
}

/// What the repeaters on the way add to a signal of `station` that begins at `begin`, by place: each has a draw for each
/// signal, the same at all of its ports.
pub fn lateness(config: &Config, station: usize, begin: u64) -> Vec<u64> {
    let Topology::Segments(segments) = &config.topology else { return vec![0; config.topology.stations()] };
    let from = segments.stations()[station];
    let late = |to: &Place| {
        let mut through = Vec::new();
        way(segments, from, *to, &mut through).expect("the segments are joined");
        let draw = |&index: &usize| {
            let source = (1 << 34) + index as u64 * 65_536 + station as u64;
            let run = Generator::operation(config.seed, source).next_u64();
            let choices = u128::from(segments.repeaters()[index].jitter.get() + 1);
            (u128::from(Generator::stream(run, begin).next_high_bits(32)) * choices / (1 << 32)) as u64
        };
        through.iter().map(draw).sum()
    };
    segments.stations().iter().map(late).collect()
}

/// The pieces of cable between two places.
fn pieces(segments: &Segments, from: Place, to: Place) -> Vec<(Place, Place)> {
    way(segments, from, to, &mut Vec::new()).expect("the segments are joined").1
}

/// Along the cable, or through a repeater that is not in `through` yet, and on from its other ports: the time, and the
/// pieces of cable.
fn way(segments: &Segments, from: Place, to: Place, through: &mut Vec<usize>) -> Option<(u64, Vec<(Place, Place)>)> {
    let cable = |a: Place, b: Place| a.position.get().abs_diff(b.position.get());
    if from.segment == to.segment {
        return Some((cable(from, to), vec![(from, to)]));
    }
    for (index, repeater) in segments.repeaters().iter().enumerate() {
        let entry = repeater.ports.iter().find(|port| port.segment == from.segment);
        let Some(&entry) = entry.filter(|_| !through.contains(&index)) else { continue };
        through.push(index);
        for &exit in repeater.ports.iter().filter(|port| port.segment != from.segment) {
            if let Some((rest, mut pieces)) = way(segments, exit, to, through) {
                pieces.push((from, entry));
                return Some((cable(from, entry) + repeater.delay.get() + rest, pieces));
            }
        }
        through.pop();
    }
    None
}

/// For each place, whether it is on the same side of a cut as `station`: no cable on the signal's way contains the cut.
///
/// The cut is just before its position, so a station there is beyond it.
pub fn same_side(topology: &Topology, station: usize, cut: Option<Place>) -> Vec<bool> {
    let reaches = |place: usize| {
        let Some(cut) = cut else { return true };
        let (from, to, segments) = match topology {
            Topology::Star { .. } => panic!("a star has no cable"),
            Topology::Bus { positions } => {
                let along = |station: usize| Place { segment: 0, position: positions[station] };
                (along(station), along(place), None)
            }
            Topology::Segments(segments) => (segments.stations()[station], segments.stations()[place], Some(segments)),
        };
        let whole = |a: Place, b: Place| {
            let (near, far) = (a.position.min(b.position), a.position.max(b.position));
            a.segment != cut.segment || !(near < cut.position && cut.position <= far)
        };
        match segments {
            None => whole(from, to),
            Some(segments) => pieces(segments, from, to).iter().all(|&(a, b)| whole(a, b)),
        }
    };
    (0..topology.stations()).map(reaches).collect()
}

/// Ticks of the clock of `station` in a bit time of the medium.
fn pace(config: &Config, station: usize) -> f64 {
    config.clocks_ppm.get(station).map_or(1.0, |ppm| 1.0 + f64::from(*ppm) / 1e6)
}

/// The instant of a tick of the clock of `station`; all began to tick at instant 0.
pub fn instant_of(config: &Config, station: usize, tick: u64) -> u64 {
    (tick as f64 / pace(config, station) + 0.5).floor() as u64
}

/// The end of a timer of `span` ticks that `station` starts at `at`: it starts with the nearest tick.
pub fn later(config: &Config, station: usize, at: u64, span: u64) -> u64 {
    let tick = (at as f64 * pace(config, station) + 0.5).floor() as u64;
    if span == 0 { at } else { instant_of(config, station, tick + span).max(at + 1) }
}
