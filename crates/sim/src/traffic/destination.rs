//! Whom frames are for: as written, and draws.

use super::{TrafficError, draw};
use crate::words::interface::{BROADCAST, NEXT, RANDOM};
use backoff::Generator;
use medium::{Destination, StationId};

/// The destinations of one station's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum To {
    /// The next station in order of station number; the first after the last.
    #[default]
    Next,
    /// The station with this number, from 0.
    Station(usize),
    /// All other stations.
    All,
    /// Any other station, each as likely, independently from frame to frame.
    Random,
    /// A station of another bus, by its number among those of all buses.
    Beyond(u16),
}

impl To {
    /// Reads `next`, `broadcast`, `random`, or a station's name, which is none of these words.
    ///
    /// # Errors
    /// Anything else, and what would be right.
    pub fn read(text: &str, names: &[impl AsRef<str>]) -> Result<To, String> {
        match text.trim() {
            NEXT => Ok(To::Next),
            BROADCAST => Ok(To::All),
            RANDOM => Ok(To::Random),
            name => names.iter().position(|known| known.as_ref() == name).map(To::Station).ok_or_else(|| {
                format!("`{text}` is no destination: write `next`, `broadcast`, `random` or a station's name")
            }),
        }
    }

    /// The stations that frames of `own`, of `stations`, can be for; none if they are for a group, or have no
    /// addressee.
    pub fn addressees(self, own: usize, stations: usize) -> impl Iterator<Item = usize> {
        (0..stations).filter(move |&to| match self {
            To::All | To::Beyond(_) => false,
            To::Station(number) => to == number,
            To::Next => to != own && to == (own + 1) % stations,
            To::Random => to != own,
        })
    }

    /// Whether `own` of `stations` can send there.
    pub(super) fn check(self, own: usize, stations: usize) -> Result<(), TrafficError> {
        let wrong = |to, problem| Err(TrafficError::Destination { station: own, to, problem });
        match self {
            To::Station(to) if to == own => wrong(to, "the station itself: name another one"),
            To::Station(to) if to >= stations => wrong(to, "no station's number"),
            To::Next | To::Station(_) | To::All | To::Random | To::Beyond(_) => Ok(()),
        }
    }
}

/// Draws destinations; all but random ones need no draw.
#[derive(Clone, Debug)]
pub(super) enum DestinationDraws {
    Always(Destination),
    /// Any of `stations` but `own`.
    Random {
        own: u64,
        stations: u64,
        generator: Generator,
    },
}

impl DestinationDraws {
    /// Destinations of station `own` of `stations`. Frames of a lone station have no addressee, unless they are for
    /// all.
    pub fn new(to: To, own: usize, stations: usize, generator: Generator) -> DestinationDraws {
        let always = |number: usize| DestinationDraws::Always(Destination::Station(station(number)));
        match to {
            To::All => DestinationDraws::Always(Destination::All),
            To::Station(number) => always(number),
            To::Beyond(number) => DestinationDraws::Always(Destination::Beyond(number)),
            To::Next | To::Random if stations < 2 => DestinationDraws::Always(Destination::Nobody),
            To::Next => always((own + 1) % stations),
            To::Random => DestinationDraws::Random { own: own as u64, stations: stations as u64, generator },
        }
    }

    /// The only station that frames are for, if there is one.
    pub fn only(&self) -> Option<StationId> {
        match self {
            DestinationDraws::Always(Destination::Station(station)) => Some(*station),
            DestinationDraws::Always(_) | DestinationDraws::Random { .. } => None,
        }
    }

    #[inline]
    pub fn draw(&mut self) -> Destination {
        match self {
            DestinationDraws::Always(destination) => *destination,
            DestinationDraws::Random { own, stations, generator } => {
                let drawn = draw::below(generator, *stations - 1);
                Destination::Station(station((drawn + u64::from(drawn >= *own)) as usize))
            }
        }
    }
}

/// A medium has at most 1,024 stations, which `sources` has checked.
pub(super) fn station(number: usize) -> StationId {
    StationId::new(number as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_word_or_a_name() {
        let names = ["a", "random"];
        assert_eq!(To::read("next", &names), Ok(To::Next));
        assert_eq!(To::read("broadcast", &names), Ok(To::All));
        assert_eq!(To::read("random", &names), Ok(To::Random));
        assert_eq!(To::read(" a ", &names), Ok(To::Station(0)));
        assert!(To::read("b", &names).is_err_and(|error| error.contains("`b`") && error.contains("station's name")));
    }

    #[test]
    fn the_last_stations_next_is_the_first_and_a_lone_one_has_none() {
        let drawn = |own, stations| DestinationDraws::new(To::Next, own, stations, Generator::new(1)).draw();
        assert_eq!(drawn(0, 2), Destination::Station(station(1)));
        assert_eq!(drawn(1, 2), Destination::Station(station(0)));
        assert_eq!(drawn(0, 1), Destination::Nobody);
    }

    #[test]
    fn addressees_are_those_that_frames_can_be_for() {
        let of = |to: To, own, stations| to.addressees(own, stations).collect::<Vec<_>>();
        assert_eq!(of(To::Next, 2, 3), [0]);
        assert_eq!(of(To::Next, 0, 1), [] as [usize; 0]);
        assert_eq!(of(To::Random, 1, 3), [0, 2]);
        assert_eq!(of(To::Station(1), 0, 3), [1]);
        assert_eq!(of(To::All, 0, 3), [] as [usize; 0]);
    }

    #[test]
    fn random_destinations_are_all_the_others() {
        let mut draws = DestinationDraws::new(To::Random, 1, 4, Generator::new(1));
        let mut seen = [0; 4];
        for _ in 0..1_000 {
            let Destination::Station(station) = draws.draw() else { panic!("one station") };
            seen[station.index()] += 1;
        }
        // Each of three has 333 expected; 6 standard deviations are 90.
        assert!(seen[1] == 0 && [0, 2, 3].iter().all(|&i: &usize| (243..=423).contains(&seen[i])), "seed 1: {seen:?}");
    }
}
