//! What can be done to a bus while its medium runs. It has one text form, which is a section of `[[at]]` without its time.
//!
//! ```text
//!   {"plug":"st2"}   {"unplug":"st2"}   {"remove":"st2"}   {"add":{"name":"late","mac":"02:eb:00:00:00:09"},"seat":2}
//!   {"station":"st2","fault":"deaf"}    {"station":"st2","plca":{"enabled":true,…}}
//!   {"cut":{"segment":0,"position_bt":20}}   {"mend":true}   {"queue":7}
//! ```
//! Inside, a station is a number. At the doors of a program it is a name.

use crate::config::PlcaSettings;
use crate::fault::Fault;
use crate::frame::StationId;
use crate::topology::segments::Place;

/// One thing that is done to a bus. `S` is a station: a number, or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        untagged,
        deny_unknown_fields,
        expecting = "a deed is one of `plug`, `unplug`, `add`, `remove`, `fault`, `plca`, `cut`, `mend` and `queue`, with what belongs to it"
    )
)]
pub enum Deed<S = StationId> {
    /// The station is taken off. A present attempt continues to its end; every other frame is discarded then or at
    /// once. The station receives nothing whose last bit comes while it is off.
    Unplug {
        /// The station.
        #[cfg_attr(feature = "serde", serde(rename = "unplug"))]
        station: S,
    },
    /// The station is put back.
    Plug {
        /// The station.
        #[cfg_attr(feature = "serde", serde(rename = "plug"))]
        station: S,
    },
    /// A station joins at a [seat](crate::Config::seats), or joins again: as [`Deed::Plug`].
    Add {
        /// Who it is.
        #[cfg_attr(feature = "serde", serde(rename = "add"))]
        who: Joiner,
        /// The seat: a number everywhere, since the station has no name before.
        #[cfg_attr(feature = "serde", serde(rename = "seat"))]
        station: StationId,
    },
    /// The station leaves the medium: as [`Deed::Unplug`].
    Remove {
        /// The station.
        #[cfg_attr(feature = "serde", serde(rename = "remove"))]
        station: S,
    },
    /// The station has a fault from now on, or, with `None`, none.
    Fault {
        /// The station.
        station: S,
        /// Its fault; replaces the one before.
        #[cfg_attr(feature = "serde", serde(with = "crate::text::fault_or_none"))]
        fault: Option<Fault>,
    },
    /// A node of a medium with [PLCA](crate::Method::Plca) gets other settings, and plca_reset makes it begin anew; on
    /// any other medium this has no effect.
    Plca {
        /// The station of the node.
        station: S,
        /// All of them.
        #[cfg_attr(feature = "serde", serde(rename = "plca"))]
        settings: PlcaSettings,
    },
    /// Transmit queues hold this number of frames from now on. A longer queue keeps its frames, and takes no other one
    /// until it is below the limit.
    Queue {
        /// How many, at least 1.
        #[cfg_attr(feature = "serde", serde(rename = "queue"))]
        limit: usize,
    },
    /// The cable is cut in two just before a place, each end terminated, or, with `None`, whole again. A new cut
    /// replaces the one before. Stations at the place and beyond it are on the far side.
    ///
    /// A transmission passes the place of the cut whole or not at all: one that began before the cut passes, one that
    /// begins during it never does.
    Cut(#[cfg_attr(feature = "serde", serde(with = "crate::text::cut_or_mend"))] Option<Place>),
}

/// What a deed changes: of several deeds that change the same, the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<S = StationId> {
    /// Whether a station is on the medium.
    Plug(S),
    /// Who sits at a seat.
    Seat(StationId),
    /// A station's fault.
    Fault(S),
    /// A station's settings of PLCA.
    Plca(S),
    /// The cable.
    Cable,
    /// The length of all queues.
    Queues,
}

impl<S> Deed<S> {
    /// The word of each deed in its text form.
    pub const WORDS: [&str; 9] = ["plug", "unplug", "add", "remove", "fault", "plca", "cut", "mend", "queue"];

    /// Its word.
    pub fn word(&self) -> &'static str {
        match self {
            Deed::Plug { .. } => "plug",
            Deed::Unplug { .. } => "unplug",
            Deed::Add { .. } => "add",
            Deed::Remove { .. } => "remove",
            Deed::Fault { .. } => "fault",
            Deed::Plca { .. } => "plca",
            Deed::Cut(Some(_)) => "cut",
            Deed::Cut(None) => "mend",
            Deed::Queue { .. } => "queue",
        }
    }

    /// The same with stations of another form.
    ///
    /// # Errors
    /// Of the first station that has no such form.
    pub fn try_map<T, E>(self, mut of: impl FnMut(S) -> Result<T, E>) -> Result<Deed<T>, E> {
        Ok(match self {
            Deed::Plug { station } => Deed::Plug { station: of(station)? },
            Deed::Unplug { station } => Deed::Unplug { station: of(station)? },
            Deed::Add { station, who } => Deed::Add { station, who },
            Deed::Remove { station } => Deed::Remove { station: of(station)? },
            Deed::Fault { station, fault } => Deed::Fault { station: of(station)?, fault },
            Deed::Plca { station, settings } => Deed::Plca { station: of(station)?, settings },
            Deed::Cut(cut) => Deed::Cut(cut),
            Deed::Queue { limit } => Deed::Queue { limit },
        })
    }
}

impl<S: Copy> Deed<S> {
    /// What it changes.
    pub fn subject(&self) -> Subject<S> {
        match *self {
            Deed::Plug { station } | Deed::Unplug { station } | Deed::Remove { station } => Subject::Plug(station),
            Deed::Add { station, .. } => Subject::Seat(station),
            Deed::Fault { station, .. } => Subject::Fault(station),
            Deed::Plca { station, .. } => Subject::Plca(station),
            Deed::Cut(_) => Subject::Cable,
            Deed::Queue { .. } => Subject::Queues,
        }
    }
}

impl Deed {
    /// The state that it brings about, in words.
    pub fn sentence<'a>(&self, name: impl Fn(StationId) -> &'a str) -> String {
        match *self {
            Deed::Plug { station } => format!("{} is back on the medium", name(station)),
            Deed::Unplug { station } => format!("{} is off the medium", name(station)),
            Deed::Add { who, .. } => format!("{} joins", who.name()),
            Deed::Remove { station } => format!("{} leaves", name(station)),
            Deed::Fault { station, fault: Some(fault) } => format!("{} has the fault {fault}", name(station)),
            Deed::Fault { station, fault: None } => format!("{} has no fault any more", name(station)),
            Deed::Plca { station, .. } => format!("{} has other settings of PLCA", name(station)),
            Deed::Cut(Some(_)) => "the cable is cut".to_owned(),
            Deed::Cut(None) => "the cable is mended".to_owned(),
            Deed::Queue { limit: 1 } => "queues hold 1 frame".to_owned(),
            Deed::Queue { limit } => format!("queues hold {limit} frames"),
        }
    }

    /// The station that it is about, if it is not about all of them.
    pub fn station(&self) -> Option<StationId> {
        match self.subject() {
            Subject::Plug(station) | Subject::Seat(station) => Some(station),
            Subject::Fault(station) | Subject::Plca(station) => Some(station),
            Subject::Cable | Subject::Queues => None,
        }
    }

    /// The station that comes onto the medium (`true`) or goes off it.
    pub fn plugs(&self) -> Option<(StationId, bool)> {
        match *self {
            Deed::Plug { station } | Deed::Add { station, .. } => Some((station, true)),
            Deed::Unplug { station } | Deed::Remove { station } => Some((station, false)),
            Deed::Fault { .. } | Deed::Plca { .. } | Deed::Cut(_) | Deed::Queue { .. } => None,
        }
    }
}

/// A station that joins: its name and address, which the engine passes on and never reads, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Joiner {
    #[cfg_attr(feature = "serde", serde(with = "crate::text::joiner_name"))]
    name: [u8; Joiner::LONGEST],
    /// Its address.
    #[cfg_attr(feature = "serde", serde(rename = "mac", with = "crate::text::address"))]
    pub address: [u8; 6],
    /// Where it is from now on, if that is not where its seat was: one of [`Config::places`](crate::Config::places), and
    /// only of a station that joins for the first time.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub place: Option<Place>,
}

impl Joiner {
    /// Octets of the longest name.
    pub const LONGEST: usize = 15;

    /// One called `name`; nothing if that is empty, too long, or has an octet 0.
    pub fn new(name: &str, address: [u8; 6]) -> Option<Joiner> {
        Joiner::octets(name).map(|name| Joiner { name, address, place: None })
    }

    pub(crate) fn octets(name: &str) -> Option<[u8; Joiner::LONGEST]> {
        let fits = (1..=Joiner::LONGEST).contains(&name.len()) && !name.contains('\0');
        let mut octets = [0; Joiner::LONGEST];
        octets.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        fits.then_some(octets)
    }

    /// The same at a place of its own, if it has one.
    #[must_use]
    pub fn at(self, place: Option<Place>) -> Joiner {
        Joiner { place, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        Joiner::text(&self.name)
    }

    pub(crate) fn text(octets: &[u8; Joiner::LONGEST]) -> &str {
        let length = octets.iter().position(|octet| *octet == 0).unwrap_or(Joiner::LONGEST);
        std::str::from_utf8(&octets[..length]).expect("it was made from text")
    }
}
