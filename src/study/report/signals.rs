//! Signals on the medium in few octets: what the page's script draws.
//!
//! ```text
//!   signal: begin since the one before · sender · frame's station · its number, less that of the station's last · attempt ·
//!           event that began it · that noticed a collision · that ended it · the jam's sentence · cut · parts, each with its
//!           length; an odd number of parts, twice and one more, tells that it goes on
//! ```
//! Events are numbers of the page's own, from 1; 0 is none of them. Numbers are those of [`pack`](super::pack).

use super::gather::Told;
use super::pack::{folded, number};
use medium::{BitInstant, BitTimes, Carried, Config, Kind, StationId};
use sim::scene::{Part, Signal, Signals};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The signals of a stretch of a run.
#[derive(Debug)]
pub struct Drawn {
    /// How many.
    pub count: usize,
    /// Packed.
    pub octets: Vec<u8>,
    /// Stations beyond each cut that signals met.
    pub cuts: Vec<Arc<[bool]>>,
    /// The longest of them, in bit times.
    pub longest: u64,
}

/// A signal, and the events that it has to do with.
struct Entry {
    signal: Signal,
    began: usize,
    noticed: usize,
    ended: usize,
}

/// The signals of which something is on the medium while the events of `stretch` happen, from `begin` to `end`.
pub fn signals(told: &Told, stretch: Range<usize>, begin: BitInstant, end: BitInstant) -> Drawn {
    let config = Arc::new(told.header.config());
    let mut entries = entries(told, &config, &stretch);
    let longest_way = config.topology.longest_distance();
    entries.retain(|one| one.signal.begin <= end && one.signal.end.is_none_or(|own| own + longest_way > begin));
    entries.sort_by_key(|one| one.signal.begin);
    let mut drawn = Drawn { count: entries.len(), octets: Vec::new(), cuts: Vec::new(), longest: 0 };
    let (mut last, mut serials) = (0_u64, vec![0_u64; config.topology.stations()]);
    for Entry { signal, began, noticed, ended } in &entries {
        let octets = &mut drawn.octets;
        number(octets, signal.begin.get() - last);
        last = signal.begin.get();
        number(octets, signal.source.index() as u64);
        number(octets, signal.frame.station.index() as u64);
        let serial = &mut serials[signal.frame.station.index()];
        folded(octets, signal.frame.serial.wrapping_sub(*serial) as i64);
        *serial = signal.frame.serial;
        for value in [signal.attempt as usize, *began, *noticed, *ended, jam(signal)] {
            number(octets, value as u64);
        }
        let cut = signal.parted.as_ref().map_or(0, |far| {
            let known = drawn.cuts.iter().rposition(|cut| Arc::ptr_eq(cut, far));
            1 + known.unwrap_or_else(|| {
                drawn.cuts.push(far.clone());
                drawn.cuts.len() - 1
            })
        });
        number(octets, cut as u64);
        let until = signal.end.unwrap_or(end.max(signal.begin));
        let parts: Vec<_> = signal.parts(until).collect();
        number(octets, 2 * parts.len() as u64 + u64::from(signal.end.is_none()));
        for (part, from, to) in parts {
            number(octets, Part::ALL.iter().position(|(known, _)| *known == part).unwrap_or(0) as u64);
            number(octets, to.since(from).get());
        }
        if config.topology.jitter() > BitTimes::ZERO {
            let stations = (0..config.topology.stations() as u16).map(StationId::new);
            stations.for_each(|place| number(octets, config.way(signal.source, signal.begin, place).get()));
        }
        drawn.longest = drawn.longest.max(until.since(signal.begin).get());
    }
    drawn
}

/// Every signal up to the end of `stretch`, in the order of the events.
fn entries(told: &Told, config: &Arc<Config>, stretch: &Range<usize>) -> Vec<Entry> {
    let mut all = Signals::new(config.clone(), 0);
    let mut inputs = told.inputs.iter().peekable();
    let mut entries: Vec<Entry> = Vec::new();
    let mut withdrawn = BTreeSet::new();
    for (place, event) in told.events[..stretch.end].iter().enumerate() {
        while let Some((_, at, input)) = inputs.next_if(|(before, _, _)| *before <= place) {
            all.input(*at, input);
        }
        all.event(event);
        let event_number = if stretch.contains(&place) { place - stretch.start + 1 } else { 0 };
        for &number in all.changed() {
            let Some(signal) = all.get(number) else {
                withdrawn.insert(number);
                continue;
            };
            let Some(entry) = entries.get_mut(number as usize) else {
                entries.push(Entry { signal: signal.clone(), began: event_number, noticed: 0, ended: 0 });
                continue;
            };
            entry.signal = signal.clone();
            match event.kind {
                Kind::Collision { .. } => entry.noticed = event_number,
                Kind::JamEnd { .. } | Kind::Transmitted { .. } if signal.what == Carried::Frame => {
                    entry.ended = event_number;
                }
                _ => {}
            }
        }
    }
    let numbered = entries.into_iter().zip(0..);
    numbered.filter(|(_, number)| !withdrawn.contains(number)).map(|(entry, _)| entry).collect()
}

/// Which sentence of [`JAMS`] tells when the jam begins.
fn jam(signal: &Signal) -> usize {
    let Some(collision) = signal.collision else { return 0 };
    match () {
        () if signal.preamble > collision.at => 0,
        () if signal.body > collision.at => 1,
        () => 2,
    }
}

/// Names of the sentences that tell when the jam begins.
pub const JAMS: [&str; 3] = ["jam_alone", "jam_after_preamble", "jam_at_once"];
