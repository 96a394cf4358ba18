//! What stations offer in virtual time: when frames arrive, how long they are, and whom they are for.
//!
//! Each station has a source of its own, a fold of its own streams of random numbers: one more station, or another
//! traffic of a neighbour, leaves its arrivals as they were. Arrivals, sizes and destinations have separate streams, so
//! that two runs which differ in one of them share the others. See docs/traffic.md for the forms as people write them.
//!
//! It must never know of the medium's state: a source that would answer to collisions is a host, not a load.

mod arrivals;
mod capture;
mod destination;
mod draw;
mod shares;
mod sizes;

pub use arrivals::Arrivals;
pub use capture::{Capture, CaptureError, Recorded};
pub use destination::To;
pub use sizes::Sizes;

use arrivals::Process;
use backoff::Generator;
use destination::DestinationDraws;
use medium::{BitInstant, BitRate, Config, Frame, Octets, Parameters};
use shares::Share;
use sizes::SizeDraws;
use std::sync::Arc;

/// What one station offers, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficSpec {
    /// When its frames arrive.
    pub arrivals: Arrivals,
    /// How long they are: [`Sizes::DEFAULT`] unless said otherwise. A replay's are those of its file.
    pub sizes: Option<Sizes>,
    /// Whom they are for: [`To::Next`] unless said otherwise; in a replay, whom its file says.
    pub destination: Option<To>,
}

/// Why traffic cannot be had. Stations are numbered from 0; the caller knows their names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// A load, a time or a size is out of its range.
    #[error("traffic of station {station}: {what}")]
    Range {
        /// The station.
        station: usize,
        /// The value, and what would be right.
        what: String,
    },
    /// A destination is the station itself, or a station that there is not.
    #[error("destination of station {station}: {to} is {problem}")]
    Destination {
        /// The station.
        station: usize,
        /// The number of its destination.
        to: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Frame sizes beside a replay, which has its own.
    #[error(
        "traffic of station {station}: frame sizes and a replay: leave one out, as a replay's sizes are its file's"
    )]
    SizesOfReplay {
        /// The station.
        station: usize,
    },
    /// A capture file cannot be replayed.
    #[error(transparent)]
    Replay(#[from] CaptureError),
}

/// The streams of a station's source. Backoff has those from 0, the live driver those from 2^32.
#[derive(Clone, Copy)]
enum Stream {
    Arrivals = 2,
    Sizes = 3,
    Destinations = 4,
    Phases = 5,
}

impl Stream {
    fn of(self, seed: u64, station: usize) -> Generator {
        Generator::stream(seed, ((self as u64) << 32) + station as u64)
    }
}

/// The sources of all stations, one for each of `specs`; reads the capture files that they name.
///
/// A load is taken as the station's own: [`Arrivals::split`] divides one that stations offer together.
///
/// # Errors
/// A value out of its range, a destination that there is not, or a capture file that cannot be replayed.
pub fn sources(specs: &[TrafficSpec], rate: BitRate, seed: u64) -> Result<Vec<Source>, TrafficError> {
    sources_with(specs, &replays(specs)?, rate, Parameters::at(rate).min_frame_size, seed)
}

/// The capture files that `specs` name, each read once: for [`sources_with`], and to look at beforehand.
///
/// # Errors
/// A file that cannot be replayed.
pub fn replays(specs: &[TrafficSpec]) -> Result<Vec<Capture>, CaptureError> {
    let mut replays: Vec<Capture> = Vec::new();
    for spec in specs {
        match &spec.arrivals {
            Arrivals::Replay { path } if replays.iter().all(|replay| replay.path() != path) => {
                replays.push(Capture::open(path)?);
            }
            _ => {}
        }
    }
    Ok(replays)
}

/// [`sources`] of capture files that have been read: runs with other seeds or rates need not read them again. A load
/// counts frames as they are sent, padded to `min_frame_size`.
///
/// # Errors
/// Those of [`sources`].
///
/// # Panics
/// If `replays` lacks a file that `specs` name, or there are more stations than a medium can have.
pub fn sources_with(
    specs: &[TrafficSpec],
    replays: &[Capture],
    rate: BitRate,
    min_frame_size: Octets,
    seed: u64,
) -> Result<Vec<Source>, TrafficError> {
    assert!(specs.len() <= Config::MAX_STATIONS, "the plan has checked how many stations there are");
    for spec in specs {
        let Arrivals::Replay { path } = &spec.arrivals else { continue };
        assert!(replays.iter().any(|replay| replay.path() == path), "the replays are those of the same stations");
    }
    let shares = shares::shares(specs, replays, rate)?;
    let source = |(station, share)| Source::new(specs, station, share, rate, min_frame_size, seed);
    shares.into_iter().enumerate().map(source).collect()
}

/// One station's source.
///
/// Constant memory, but for a replay: that holds its frames, 24 octets each, which clones share.
#[derive(Clone, Debug)]
pub struct Source {
    kind: Kind,
    sizes: SizeDraws,
    destinations: DestinationDraws,
}

#[derive(Clone, Debug)]
enum Kind {
    Silent,
    Saturated,
    Process(Process),
    /// `readdressed`: the destination is drawn, not that of the file.
    Replay {
        share: Arc<[(BitInstant, Frame)]>,
        next: usize,
        readdressed: bool,
    },
}

impl Source {
    fn new(
        specs: &[TrafficSpec],
        station: usize,
        share: Share,
        rate: BitRate,
        min_frame_size: Octets,
        seed: u64,
    ) -> Result<Source, TrafficError> {
        let spec = &specs[station];
        let range = |what| TrafficError::Range { station, what };
        let sizes = spec.sizes.clone().unwrap_or_default();
        spec.arrivals.check().map_err(range)?;
        sizes.check().map_err(range)?;
        let to = spec.destination.unwrap_or_default();
        to.check(station, specs.len())?;
        let gaps = Stream::Arrivals.of(seed, station);
        let mean = |load: f64| sizes.mean_bit_times(min_frame_size) / load;
        let kind = match spec.arrivals {
            Arrivals::Silent => Kind::Silent,
            Arrivals::Saturated => Kind::Saturated,
            Arrivals::Poisson { load } => Kind::Process(Process::poisson(mean(load), gaps)),
            Arrivals::Periodic { load } => Kind::Process(Process::periodic(mean(load), gaps)),
            Arrivals::OnOff { load, on, off } => {
                let phases = Stream::Phases.of(seed, station);
                Kind::Process(Process::on_off(mean(load), on, off, rate, gaps, phases))
            }
            Arrivals::Replay { .. } if spec.sizes.is_some() => return Err(TrafficError::SizesOfReplay { station }),
            Arrivals::Replay { .. } => {
                Kind::Replay { share: share.into(), next: 0, readdressed: spec.destination.is_some() }
            }
        };
        Ok(Source {
            kind,
            sizes: SizeDraws::new(&sizes, Stream::Sizes.of(seed, station)),
            destinations: DestinationDraws::new(to, station, specs.len(), Stream::Destinations.of(seed, station)),
        })
    }

    /// Whether the station always has another frame: then take it with [`next_frame`](Self::next_frame).
    pub fn is_saturated(&self) -> bool {
        matches!(self.kind, Kind::Saturated)
    }

    /// The next frame of a saturated station. Its instant is the medium's to say: that at which the last one ends or is
    /// discarded.
    pub fn next_frame(&mut self) -> Frame {
        Frame::new(self.sizes.draw(), self.destinations.draw())
    }

    /// Instant and frame of the next arrival, never earlier than the one before; `None` when there are no more, and
    /// always for a saturated station.
    pub fn next_arrival(&mut self) -> Option<(BitInstant, Frame)> {
        match &mut self.kind {
            Kind::Silent | Kind::Saturated => None,
            Kind::Process(process) => {
                let arrival = process.next()?;
                Some((arrival, self.next_frame()))
            }
            Kind::Replay { share, next, readdressed } => {
                let (arrival, mut frame) = *share.get(*next)?;
                *next += 1;
                if *readdressed {
                    frame.destination = self.destinations.draw();
                }
                Some((arrival, frame))
            }
        }
    }
}
