//! The life of one frame, gathered from an event log in one pass. Keeps what one frame needs and what each station does
//! at the moment, so that a log of any length will do.

pub mod choice;
pub mod contention;
pub mod diagram;
mod emulated;
mod follow;
pub mod plca;
mod scene;
mod timeline;
mod words;

use emulated::Emulated;
use follow::follow;
use medium::{
    BitInstant, BitTimes, Config, Destination, Event, Fault, FrameId, Input, Kind, Method, PREAMBLE_AND_SFD, Place,
    Span, StationId,
};
use scene::{Scene, Station};
use serde::Serialize;
use sim::files::event_log::{EventLogReader, Header, Names};
use sim::files::json_lines::ReadError;
use sim::words::sentences::{TIED, frame_name};
use std::io::BufRead;
use std::sync::Arc;

pub use words::{data, tell};

/// Which frame is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This one.
    Frame(FrameId),
    /// The one with this number, whosever it is.
    Serial(u64),
}

/// Why a frame cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The log is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What was asked for is no frame's name.
    #[error(
        "--frame {given}: a frame is called by its station and its number there, like {example}, or by the number alone"
    )]
    Name {
        /// What was asked for.
        given: String,
        /// What would be right.
        example: String,
    },
    /// No station is called so.
    #[error("no station is called `{station}`; the log has {}", stations.join(", "))]
    Station {
        /// What was asked for.
        station: String,
        /// What there is.
        stations: Vec<String>,
    },
    /// A station's name twice.
    #[error("--frame {given} and --station {station} are of two stations: give one")]
    Contradiction {
        /// The frame.
        given: String,
        /// The station.
        station: String,
    },
    /// More than one station has such a frame.
    #[error("{} stations have a frame {serial}: {}; say which with --station", frames.len(), frames.join(", "))]
    Ambiguous {
        /// The number.
        serial: u64,
        /// The frames.
        frames: Vec<String>,
    },
    /// There is nothing to draw.
    #[error(
        "--svg: the frame {frame} was never on the medium: choose one that was sent, as `ethbus explain --list` shows"
    )]
    NeverSent {
        /// The frame.
        frame: String,
    },
    /// Another method's log was given to the teller of this one.
    #[error("the log is of another access method")]
    Method,
    /// There are no turns that could go wrong.
    #[error(
        "--segment: the log is not of PLCA, and has no turns that could go wrong: choose a frame with --frame or --pick"
    )]
    Segment,
    /// The log says nothing of it.
    #[error("the log has no frame {frame}: {there}")]
    Absent {
        /// What was asked for.
        frame: String,
        /// What there is.
        there: String,
    },
}

impl Wanted {
    /// What `--frame` and `--station` ask for.
    ///
    /// # Errors
    /// No name of a frame, or of a station of the log.
    pub fn parse(given: &str, station: Option<&str>, header: &Header) -> Result<Wanted, ExplainError> {
        let names = Names::new(&header.stations);
        let number = |name: &str| {
            names
                .station(name)
                .ok_or_else(|| ExplainError::Station { station: name.to_owned(), stations: header.stations.clone() })
        };
        let example = format!("{}#17", station.or(header.stations.first().map(String::as_str)).unwrap_or("st1"));
        let no_name = || ExplainError::Name { given: given.to_owned(), example };
        let serial = |text: &str| text.parse().ok().filter(|&serial: &u64| serial > 0);
        match (given.rsplit_once('#'), station) {
            (Some((own, _)), Some(station)) if own != station => {
                Err(ExplainError::Contradiction { given: given.to_owned(), station: station.to_owned() })
            }
            (Some((own, digits)), _) => {
                let serial = serial(digits).ok_or_else(no_name)?;
                Ok(Wanted::Frame(FrameId { station: number(own)?, serial }))
            }
            (None, Some(station)) => {
                let serial = serial(given).ok_or_else(no_name)?;
                Ok(Wanted::Frame(FrameId { station: number(station)?, serial }))
            }
            (None, None) => Ok(Wanted::Serial(serial(given).ok_or_else(no_name)?)),
        }
    }

    fn is(self, frame: FrameId) -> bool {
        match self {
            Wanted::Frame(wanted) => wanted == frame,
            Wanted::Serial(serial) => serial == frame.serial,
        }
    }
}

/// The life of a frame as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldLife {
    /// As `explain` takes it.
    pub frame: String,
    /// Its station.
    pub station: String,
    /// What happened to it, in order of time.
    pub steps: Vec<ToldStep>,
}

/// A step of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldStep {
    /// When, in bit times.
    pub t_bt: u64,
    /// The event's kind, as logs have it. Without an event: `input` if something was done to the medium or a station,
    /// `head` as the frame came to the head of its queue, `unheard` where nobody hears of it.
    pub kind: &'static str,
    /// What it was, in words.
    pub says: String,
}

impl ToldLife {
    fn new(names: &[String], frame: FrameId, steps: Vec<ToldStep>) -> ToldLife {
        ToldLife { frame: frame_name(names, frame), station: names[frame.station.index()].clone(), steps }
    }
}

impl ToldStep {
    fn new(at: BitInstant, kind: &'static str, says: &str) -> ToldStep {
        ToldStep { t_bt: at.get(), kind, says: says.replace(TIED, " ") }
    }
}

/// For each station, whether something is so.
type Each = Arc<[bool]>;

/// One attempt as it was on the medium, at its sender's place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Transmission {
    frame: FrameId,
    /// What it is called, if not by its frame's name: `the ACK of st1#4`.
    called: Option<String>,
    /// Its preamble is not told apart from the rest.
    bare: bool,
    attempt: u32,
    begin: BitInstant,
    /// interPacketGap of extension bits came first.
    burst: bool,
    /// Where the preamble begins, or would have.
    preamble: BitInstant,
    collision: Option<Collision>,
    end: Option<BitInstant>,
    /// Of that, carrier extension after the frame.
    extension: BitTimes,
    /// What was wrong with its sender as it began.
    fault: Option<Fault>,
    /// The cable was cut as it began: which stations were on the far side.
    parted: Option<Each>,
    /// Which stations had no carrier sense as it began.
    deaf: Option<Each>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Collision {
    at: BitInstant,
    episode: u64,
}

impl Transmission {
    fn is(&self, other: &Transmission) -> bool {
        (self.frame, self.attempt) == (other.frame, other.attempt)
    }

    fn source(&self) -> StationId {
        self.frame.station
    }

    fn name(&self, names: &[String]) -> String {
        self.called.clone().unwrap_or_else(|| frame_name(names, self.frame))
    }

    /// When it was at the place of `station`.
    fn at(&self, station: StationId, config: &Config) -> Span {
        let preamble = if self.cut_before_preamble() { self.begin } else { self.preamble };
        let span = Span { begin: self.begin, preamble, end: self.end };
        span.after(config.topology.distance(self.source(), station))
    }

    fn cut_before_preamble(&self) -> bool {
        self.collision.is_some_and(|collision| collision.at < self.preamble)
    }

    /// Its signal got, or gets, to `station`.
    fn reaches(&self, station: StationId) -> bool {
        self.parted.as_ref().is_none_or(|far| far[station.index()] == far[self.source().index()])
    }

    /// `station` had no carrier sense as it began, and never hears it.
    fn escapes(&self, station: StationId) -> bool {
        self.deaf.as_ref().is_some_and(|deaf| deaf[station.index()])
    }
}

/// What a step took place among.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    /// Nothing more to say.
    Alone,
    /// That many frames of its own station were before it in the queue.
    Behind(u64),
    /// It came to the head of the queue as this frame left it.
    After(FrameId),
    /// The station heard these signals, or had until less than a gap ago; others were there that it does not hear.
    Hears { heard: Vec<Transmission>, missed: Vec<Transmission> },
    /// The sender noticed these signals.
    Meets(Vec<Transmission>),
    /// What was received of `packet`, unless that began before the log, was spoilt by these signals, or by none.
    Receives { packet: Option<Transmission>, spoilt_by: Vec<Transmission> },
    /// No event: this was done to the medium; if it is a cut, which stations are on its far side.
    Done(Input, Option<Each>),
    /// No event: these stations, whom the frame is for, hear nothing of it.
    Unheard(Vec<StationId>, Unheard),
}

/// Why a station hears nothing of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unheard {
    /// The cable was cut in between as it began.
    Cut,
    /// The station was off the medium as the last bit came.
    Detached,
}

/// One thing that happened to the frame, or to the medium meanwhile.
#[derive(Clone, Debug)]
struct Step {
    at: BitInstant,
    event: Option<Event>,
    setting: Setting,
}

impl Step {
    fn kind(&self) -> Option<&Kind> {
        self.event.as_ref().map(|event| &event.kind)
    }
}

/// An attempt of the frame, and whom it met.
#[derive(Clone, Debug)]
struct Meeting {
    own: Transmission,
    others: Vec<Transmission>,
}

/// The life of one frame.
#[derive(Clone, Debug)]
pub struct Story {
    frame: FrameId,
    /// Whom it is for, if the log says so.
    destination: Option<Destination>,
    /// What was wrong with its station, and where the cable was cut, when it was first heard of.
    fault: Option<Fault>,
    cut: Option<Place>,
    steps: Vec<Step>,
    meetings: Vec<Meeting>,
    /// What the emulator did to it.
    emulated: Emulated,
    /// When the MAC was done with it.
    end: Option<BitInstant>,
    /// How far the log was read.
    read_to: BitInstant,
    /// The log ends within a line.
    cut_short: Option<String>,
}

/// Reads a log up to the frame's end, or its own.
///
/// # Errors
/// A damaged log, no such frame, or more than one.
pub fn find<R: BufRead>(log: &mut EventLogReader<R>, wanted: Wanted) -> Result<Story, ExplainError> {
    let config = log.header().config();
    if config.method != Method::CsmaCd {
        return Err(ExplainError::Method);
    }
    let longest = sim::words::configuration::longest_distance(&config.topology).get();
    // By then every station has heard the end, and whoever collided has finished the jam.
    let echo = BitTimes::new(2 * longest + 2 * PREAMBLE_AND_SFD.get() + config.parameters.jam_size.get());
    let mut scene = Scene::new(config, echo);
    let (mut emulated, cut_short) = follow(log, wanted, &mut scene)?;
    scene.finish();
    let Scene { mut stories, stations, now, .. } = scene;
    let names = &log.header().stations;
    let there = |station: StationId| {
        let Station { first, offered: last, .. } = stations[station.index()];
        offered(names, station, first, last)
    };
    match (stories.len(), wanted) {
        (1, _) => {
            let mut story = stories.remove(0);
            if matches!(wanted, Wanted::Frame(_)) && story.end.is_some() && cut_short.is_none() {
                emulated::read_on(log, &mut emulated, story.frame, now);
            }
            let lives = (story.steps.first().map(|step| step.at), story.end);
            story.emulated = Emulated::of(story.frame, lives, &emulated);
            (story.read_to, story.cut_short) = (now, cut_short);
            Ok(story)
        }
        (0, Wanted::Frame(frame)) => {
            Err(ExplainError::Absent { frame: frame_name(names, frame), there: there(frame.station) })
        }
        (0, Wanted::Serial(serial)) => {
            let most = (0..).map(StationId::new).zip(&stations).max_by_key(|(_, station)| station.offered);
            let there = most.map_or(String::new(), |(most, _)| there(most));
            Err(ExplainError::Absent { frame: serial.to_string(), there })
        }
        (_, Wanted::Frame(FrameId { serial, .. }) | Wanted::Serial(serial)) => {
            stories.sort_by_key(|story| story.frame);
            let frames = stories.iter().map(|story| frame_name(names, story.frame)).collect();
            Err(ExplainError::Ambiguous { serial, frames })
        }
    }
}

/// Which frames of a station a log has: from the first to the last.
fn offered(names: &[String], station: StationId, first: Option<u64>, last: u64) -> String {
    let own = &names[station.index()];
    match first {
        None => format!("{own} offered none in it"),
        Some(first) if first == last => format!("of {own} it has {own}#{first} only"),
        Some(first) => format!("of {own} it has {own}#{first} to {own}#{last}"),
    }
}
