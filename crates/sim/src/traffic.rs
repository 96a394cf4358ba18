//! What stations offer in virtual time: when frames arrive, how long they are, and their destinations.
//!
//! Each station has a source of its own, a fold of its own streams of random numbers: one more station, or another
//! traffic of a neighbour, leaves its arrivals as they were. Arrivals, sizes and destinations have separate streams, so
//! that two runs which differ in one of them share the others. See docs/traffic.md for the forms as people write them.
//!
//! It must never know of the medium's state. What follows from that a frame arrived is a host's doing
//! ([`run::hosts`](crate::run::hosts)), and only says here how large its window is.

mod arrivals;
mod capture;
mod destination;
mod draw;
mod load;
mod maker;
mod shares;
mod sizes;
mod talk;

pub use arrivals::{Arrivals, Every, Ping, Tcp, Udp, Window};
pub use capture::{Capture, CaptureError, Recorded};
pub use destination::To;
pub use device::octets;
pub use draw::exponential;
pub use load::Load;
pub use sizes::Sizes;
pub use talk::{Connection, Datagrams, Echoes, Talk};

use self::draw::Misses;
use arrivals::Process;
use backoff::Generator;
use destination::DestinationDraws;
use maker::Maker;
use medium::{BitInstant, BitRate, BitTimes, Config, Destination, Frame, Octets, Parameters, StationId};
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
    /// Their destinations: [`To::Next`] unless the user chooses another; in a replay, those of its file.
    pub destination: Option<To>,
}

impl TrafficSpec {
    /// Bit times of its mean frame, from destination address to FCS, padding included.
    pub fn mean_frame(&self, medium: &Config) -> f64 {
        self.sizes.as_ref().unwrap_or(&Sizes::DEFAULT).mean_bit_times(medium.parameters.min_frame_size)
    }
}

/// What stations offer beside the first source of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FurtherTraffic {
    /// A station's number and a source that it has besides, in order of station.
    pub sources: Vec<(usize, TrafficSpec)>,
    /// Frames whose instants are written down, in any order.
    pub frames: Vec<ScriptedFrame>,
}

/// A frame whose instant is written down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScriptedFrame {
    /// The number of the station that offers it.
    pub station: usize,
    /// When, since the medium's time began.
    pub at: BitInstant,
    /// What is offered.
    pub frame: Frame,
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
    /// A replay beside another source of the same station.
    #[error("traffic of station {station}: a replay is a station's only source: leave the others out")]
    ReplayBesides {
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
    /// The stream of source `number`, from 0, of a station.
    fn of(self, seed: u64, station: usize, number: usize) -> Generator {
        Generator::stream(seed, ((self as u64) << 32) + (number * Config::MAX_STATIONS + station) as u64)
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
    let mtu = octets::mtu(&Parameters::at(rate));
    Maker { stations: specs.len(), rate, min_frame_size, mtu, slot: None, slotted: false, seed }
        .first_sources(specs, replays)
}

/// [`sources_with`], and what stations offer besides: all sources in order of station, those of one as written, its scripted
/// frames last.
///
/// # Errors
/// Those of [`sources`]; a replay beside another source.
///
/// # Panics
/// Those of [`sources_with`]; if `further` has sources of a station that there is not.
pub fn all_sources(
    specs: &[TrafficSpec],
    further: &FurtherTraffic,
    replays: &[Capture],
    config: &Config,
    seed: u64,
) -> Result<Vec<Source>, TrafficError> {
    let maker = Maker::on(config, specs.len(), seed);
    let mut sources = maker.first_sources(specs, replays)?;
    let is_replay = |spec: &TrafficSpec| matches!(spec.arrivals, Arrivals::Replay { .. });
    for (index, (station, spec)) in further.sources.iter().enumerate() {
        let number = 1 + further.sources[..index].iter().filter(|(other, _)| other == station).count();
        if is_replay(spec) || is_replay(&specs[*station]) {
            return Err(TrafficError::ReplayBesides { station: *station });
        }
        sources.push(maker.source(spec, *station, number, Share::new())?);
    }
    for station in 0..specs.len() {
        let own = further.frames.iter().filter(|frame| frame.station == station);
        let mut share: Share = own.map(|scripted| (scripted.at, scripted.frame)).collect();
        if share.is_empty() {
            continue;
        }
        share.sort_by_key(|(at, _)| *at);
        let kind = Kind::Replay { share: share.into(), next: 0, readdressed: false };
        let silent = TrafficSpec { arrivals: Arrivals::Silent, ..TrafficSpec::default() };
        sources.push(Source { kind, ..maker.source(&silent, station, 0, Share::new())? });
    }
    if let Some(source) = sources.iter().filter(|source| source.talk().is_some()).nth(MOST_TALKS) {
        let what = format!("more than {MOST_TALKS} sources of `tcp`, `ping` and `udp`: a receiver has a port for each");
        return Err(TrafficError::Range { station: source.station().index(), what });
    }
    // Stable: the sources of one station stay in their order.
    sources.sort_by_key(Source::station);
    Ok(sources)
}

/// What a station offers from some instant on, in place of what it offered before.
#[derive(Clone, Debug, PartialEq)]
pub struct LaterTraffic {
    /// The station's number.
    pub station: usize,
    /// What it offers.
    pub spec: TrafficSpec,
    /// The sources that the station had before: each has streams of random numbers of its own.
    pub number: usize,
    /// How many stations there are or were.
    pub stations: usize,
}

impl LaterTraffic {
    /// The source, whose time begins at `at`, or on a slotted medium with the next slot.
    ///
    /// # Errors
    /// A value out of its range, a destination that there is not.
    ///
    /// # Panics
    /// If it is a replay: its instants are those of the whole run.
    pub fn source(&self, at: BitInstant, config: &Config, seed: u64) -> Result<Source, TrafficError> {
        assert!(!matches!(self.spec.arrivals, Arrivals::Replay { .. }), "the plan has refused it");
        let maker = Maker::on(config, self.stations, seed);
        let slot = maker.slot.filter(|_| maker.slotted).map_or(1, BitTimes::get);
        let begin = BitInstant::new(at.get().next_multiple_of(slot));
        Ok(Source { begin, ..maker.source(&self.spec, self.station, self.number, Share::new())? })
    }
}

/// A window, in the medium's units.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Frames that may be under way at a time.
    pub frames: u32,
    /// How long an answer is, if there is to be one.
    pub reply: Option<Octets>,
    /// When a frame counts as lost, after it was offered.
    pub timeout: BitTimes,
    /// Before each frame.
    pub pauses: Pauses,
}

/// Exponentially distributed pauses.
#[derive(Clone, Debug)]
pub struct Pauses {
    /// In bit times.
    mean: f64,
    generator: Generator,
}

impl Pauses {
    /// The next one; whole bit times.
    pub fn draw(&mut self) -> BitTimes {
        if self.mean == 0.0 {
            return BitTimes::ZERO;
        }
        BitTimes::new((self.mean * draw::exponential(&mut self.generator)) as u64)
    }
}

/// Any span up to `longest` bit times, each as likely.
fn even(longest: f64, generator: &mut Generator) -> BitTimes {
    BitTimes::new((longest * draw::fraction(generator)) as u64)
}

/// Sources with stacks on one medium.
const MOST_TALKS: usize = 16_384;

/// One station's source.
///
/// Constant memory, but for a replay: that holds its frames, 24 octets each, which clones share.
#[derive(Clone, Debug)]
pub struct Source {
    station: StationId,
    /// Where its time begins.
    begin: BitInstant,
    kind: Kind,
    sizes: SizeDraws,
    destinations: DestinationDraws,
}

#[derive(Clone, Debug)]
enum Kind {
    Silent,
    Saturated,
    Process(Process),
    /// A frame in each slot with a chance, while the station has none.
    Slots {
        misses: Misses,
        slot: BitTimes,
        generator: Generator,
    },
    Loop(Loop),
    Talk(Talk),
    /// `readdressed`: the destination is drawn, not that of the file.
    Replay {
        share: Arc<[(BitInstant, Frame)]>,
        next: usize,
        readdressed: bool,
    },
}

impl Source {
    /// One of `station` that never has a frame.
    pub fn silent(station: StationId) -> Source {
        Source {
            station,
            begin: BitInstant::ZERO,
            kind: Kind::Silent,
            sizes: SizeDraws::new(&Sizes::default(), Generator::stream(0, 0)),
            destinations: DestinationDraws::Always(Destination::Nobody),
        }
    }

    /// Where its time begins: it has no frame before.
    pub fn begin(&self) -> BitInstant {
        self.begin
    }

    /// Whose host it belongs to.
    pub fn station(&self) -> StationId {
        self.station
    }

    /// Whether it never has a frame.
    pub fn is_silent(&self) -> bool {
        matches!(self.kind, Kind::Silent)
    }

    /// How long after its station has lost its last frame, at the beginning of a slot, the source has another; none if it does
    /// not wait for that. A saturated one has it at that very instant.
    pub fn pause(&mut self) -> Option<BitTimes> {
        match &mut self.kind {
            Kind::Saturated => Some(BitTimes::ZERO),
            Kind::Slots { misses, slot, generator } => Some(*slot * misses.draw(generator)),
            Kind::Silent | Kind::Process(_) | Kind::Loop(_) | Kind::Talk(_) | Kind::Replay { .. } => None,
        }
    }

    /// The source's window, if it waits until its frames have arrived: then take a frame with [`next_frame`](Self::next_frame)
    /// when there is room in it.
    pub fn closed_loop(&mut self) -> Option<&mut Loop> {
        match &mut self.kind {
            Kind::Loop(window) => Some(window),
            Kind::Silent | Kind::Saturated | Kind::Process(_) | Kind::Slots { .. } => None,
            Kind::Talk(_) | Kind::Replay { .. } => None,
        }
    }

    /// What the source's stack says to another station's, if it has a stack.
    pub fn talk(&self) -> Option<(&Talk, StationId)> {
        match (&self.kind, self.destinations.only()) {
            (Kind::Talk(talk), Some(peer)) => Some((talk, peer)),
            _ => None,
        }
    }

    /// Whether the source always has another frame: then take it with [`next_frame`](Self::next_frame).
    pub fn is_saturated(&self) -> bool {
        matches!(self.kind, Kind::Saturated)
    }

    /// Whether the source has another frame whenever its station has none of its: see [`pause`](Self::pause).
    pub fn offers_when_idle(&self) -> bool {
        matches!(self.kind, Kind::Saturated | Kind::Slots { .. })
    }

    /// The next frame of a saturated source or of one with a window. The medium decides when it comes: as the frame before
    /// ends or is discarded.
    #[inline]
    pub fn next_frame(&mut self) -> Frame {
        Frame::new(self.sizes.draw(), self.destinations.draw())
    }

    /// Instant and frame of the next arrival, never earlier than the one before; `None` when there are no more, and
    /// always for a saturated source, one with a window, or one with a stack.
    pub fn next_arrival(&mut self) -> Option<(BitInstant, Frame)> {
        match &mut self.kind {
            Kind::Silent | Kind::Saturated | Kind::Slots { .. } | Kind::Loop(_) | Kind::Talk(_) => None,
            Kind::Process(process) => {
                let since = process.next()?.get();
                Some((BitInstant::new(self.begin.get().checked_add(since)?), self.next_frame()))
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
