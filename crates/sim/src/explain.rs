//! The life of one frame, told from a trace: one pass over the trace, one teller.
//!
//! ```text
//!   trace ──► find      one pass: the scene, and the steps of the frame that is wanted
//!             attempts  which signals met an attempt
//!             story     the life as data: steps, attempts, what met them and why
//!             words     each step as sentences, by access method; the table, the end, the summary
//!             timeline, diagram, plca    attempts on an axis of bit times; the same as SVG; turns and findings of PLCA
//! ```
//! A trace of any length will do: `find` keeps what one frame needs and the signals that may still be somewhere.

mod attempts;
pub mod choice;
mod diagram;
mod emulated;
mod find;
mod hearing;
pub mod plca;
mod scene;
mod story;
mod timeline;
mod words;

use crate::files::event_log::{Header, Names};
use crate::files::json_lines::ReadError;
use crate::words::sentences::{TIED, frame_name};
use medium::{BitInstant, FrameId};
use serde::Serialize;

pub use find::find;
pub use story::Story;
pub use words::findings::tell as tell_segment;
pub use words::{data, draw, tell};

/// The frame to explain.
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
    /// The trace is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is no frame's name.
    #[error(
        "--frame {given}: a frame is called by its station and its number there, like {example}, or by the number alone"
    )]
    Name {
        /// The text of the option.
        given: String,
        /// What would be right.
        example: String,
    },
    /// No station is called so.
    #[error("no station is called `{station}`; the trace has {}", stations.join(", "))]
    Station {
        /// The text of the option.
        station: String,
        /// The stations of the trace.
        stations: Vec<String>,
    },
    /// More than one station has such a frame.
    #[error("{} stations have a frame {serial}: {}; say which, as in `--frame {}`", frames.len(), frames.join(", "), frames[0])]
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
    /// There are no turns that could go wrong.
    #[error(
        "--segment: the trace is not of PLCA, and has no turns that could go wrong: choose a frame with --frame or --pick"
    )]
    Segment,
    /// The trace has no event of this frame.
    #[error("the trace has no frame {frame}: {there}")]
    Absent {
        /// The text of the option.
        frame: String,
        /// The frames that the trace has.
        there: String,
    },
}

impl Wanted {
    /// What `--frame` asks for.
    ///
    /// # Errors
    /// No name of a frame, or of a station of the trace.
    pub fn parse(given: &str, header: &Header) -> Result<Wanted, ExplainError> {
        let example = format!("{}#17", header.stations.first().map_or("st1", String::as_str));
        let no_name = || ExplainError::Name { given: given.to_owned(), example };
        let (name, digits) = given.rsplit_once('#').map_or((None, given), |(name, digits)| (Some(name), digits));
        let serial = digits.parse().ok().filter(|&serial: &u64| serial > 0).ok_or_else(no_name)?;
        let Some(name) = name else { return Ok(Wanted::Serial(serial)) };
        let station = Names::new(&header.stations)
            .station(name)
            .ok_or_else(|| ExplainError::Station { station: name.to_owned(), stations: header.stations.clone() })?;
        Ok(Wanted::Frame(FrameId { station, serial }))
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
    /// The event's kind, as traces have it. Without an event: `input` if something was done to the medium or a station,
    /// `head` as the frame came to the head of its queue, `unheard` where a station receives nothing of it.
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
