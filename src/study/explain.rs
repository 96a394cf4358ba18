//! The life of one frame, gathered from an event log in one pass. Keeps what one frame needs and what each station does
//! at the moment, so that a log of any length will do.

mod emulated;
mod timeline;
mod words;

use emulated::Emulated;
use medium::{BitInstant, BitTimes, Config, Event, FrameId, Kind, StationId};
use sim::files::event_log::{Entry, EventLogReader, Header, Names};
use sim::files::json_lines::ReadError;
use std::io::BufRead;

pub use words::tell;

/// Preamble and SFD (802.3, 4.2.5 and 4.2.6).
const PREAMBLE: BitTimes = BitTimes::new(64);

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

/// One attempt as it was on the medium, at its sender's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Transmission {
    frame: FrameId,
    attempt: u32,
    begin: BitInstant,
    /// interPacketGap of extension bits came first.
    burst: bool,
    collision: Option<Collision>,
    end: Option<BitInstant>,
    /// Of that, carrier extension after the frame.
    extension: BitTimes,
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
}

/// What a station is doing, and did last.
#[derive(Clone, Debug, Default)]
struct Station {
    /// The latest transmission, and the one before.
    recent: [Option<Transmission>; 2],
    first: Option<u64>,
    offered: u64,
    /// Frames that the MAC is done with, since the log's beginning.
    done: u64,
    /// The last that was at the head of the queue, and when it left it.
    left: Option<(FrameId, BitInstant)>,
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
    /// These signals were at the station's place, or had been until less than a gap ago.
    Hears(Vec<Transmission>),
}

/// One thing that happened to the frame.
#[derive(Clone, Debug)]
struct Step {
    event: Event,
    setting: Setting,
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
    let longest = sim::words::configuration::longest_distance(&config.topology).get();
    // By then every station has heard the end, and whoever collided has finished the jam.
    let echo = BitTimes::new(2 * longest + 2 * PREAMBLE.get() + config.parameters.jam_size.get());
    let mut scene = Scene::new(config);
    let (mut cut_short, mut emulated) = (None, Vec::new());
    loop {
        match log.next_entry() {
            Ok(Some(Entry::Medium(event))) => scene.take(&event, wanted),
            Ok(Some(Entry::Input { .. })) => {}
            Ok(Some(Entry::Emulator(event))) => {
                let unfinished = scene.stories.iter().any(|story| story.end.is_none());
                // Of a late arrival the log tells before the frame itself.
                if unfinished || event.kind.frame().is_some_and(|frame| wanted.is(frame)) {
                    emulated::keep(&mut emulated, event);
                }
            }
            Ok(None) => break,
            Err(error @ ReadError::CutShort { .. }) => {
                cut_short = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        }
        let over = |story: &Story| story.end.is_some_and(|end| scene.now > end + echo);
        if matches!(wanted, Wanted::Frame(_)) && scene.stories.iter().any(over) {
            break;
        }
    }
    let Scene { mut stories, stations, now, .. } = scene;
    let names = &log.header().stations;
    match (stories.len(), wanted) {
        (1, _) => {
            let mut story = stories.remove(0);
            if matches!(wanted, Wanted::Frame(_)) && story.end.is_some() && cut_short.is_none() {
                emulated::read_on(log, &mut emulated, story.frame, now);
            }
            story.emulated = Emulated::of(&story, &emulated);
            (story.read_to, story.cut_short) = (now, cut_short);
            Ok(story)
        }
        (0, Wanted::Frame(frame)) => {
            Err(ExplainError::Absent { frame: name(names, frame), there: offered(names, &stations, frame.station) })
        }
        (0, Wanted::Serial(serial)) => {
            let most = (0..).map(StationId::new).zip(&stations).max_by_key(|(_, station)| station.offered);
            let there = most.map_or(String::new(), |(most, _)| offered(names, &stations, most));
            Err(ExplainError::Absent { frame: serial.to_string(), there })
        }
        (_, Wanted::Frame(FrameId { serial, .. }) | Wanted::Serial(serial)) => {
            stories.sort_by_key(|story| story.frame);
            let frames = stories.iter().map(|story| name(names, story.frame)).collect();
            Err(ExplainError::Ambiguous { serial, frames })
        }
    }
}

/// A frame as people and logs call it.
fn name(names: &[String], frame: FrameId) -> String {
    format!("{}#{}", names[frame.station.index()], frame.serial)
}

fn offered(names: &[String], stations: &[Station], station: StationId) -> String {
    let (own, Station { first, offered, .. }) = (&names[station.index()], &stations[station.index()]);
    match first {
        None => format!("{own} offered none in it"),
        Some(first) if first == offered => format!("of {own} it has {own}#{first} only"),
        Some(first) => format!("of {own} it has {own}#{first} to {own}#{offered}"),
    }
}

/// Everything that the frames asked for may meet.
#[derive(Debug)]
struct Scene {
    config: Config,
    stations: Vec<Station>,
    stories: Vec<Story>,
    now: BitInstant,
}

impl Scene {
    fn new(config: Config) -> Scene {
        let stations = vec![Station::default(); config.topology.stations()];
        Scene { config, stations, stories: Vec::new(), now: BitInstant::ZERO }
    }

    fn take(&mut self, event: &Event, wanted: Wanted) {
        self.now = event.at;
        let frame = event.frame;
        if wanted.is(frame) && !self.stories.iter().any(|story| story.frame == frame) {
            self.stories.push(Story {
                frame,
                steps: Vec::new(),
                meetings: Vec::new(),
                emulated: Emulated::default(),
                end: None,
                read_to: event.at,
                cut_short: None,
            });
        }
        let step = wanted.is(frame).then(|| Step { event: *event, setting: self.setting(event) });
        let moved = self.follow(event);
        for story in &mut self.stories {
            match moved {
                Some(moved) if moved.frame == story.frame => story.own_moved(moved),
                Some(moved) => story.other_moved(moved),
                None => {}
            }
        }
        if let Some(step) = step {
            self.add(step);
        }
    }

    /// What the event takes place among, before it has changed anything.
    fn setting(&self, event: &Event) -> Setting {
        let own = &self.stations[event.frame.station.index()];
        match event.kind {
            Kind::Offered { .. } => Setting::Behind(own.offered.saturating_sub(own.done + own.before_the_log())),
            Kind::Defer { .. } | Kind::Attempt { .. } => Setting::Hears(self.heard(event.station, event.at)),
            Kind::QueueDrop | Kind::Collision { .. } | Kind::JamEnd { .. } => Setting::Alone,
            Kind::Backoff { .. } | Kind::Transmitted { .. } | Kind::Discarded { .. } => Setting::Alone,
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::TooLong { .. } => Setting::Alone,
            Kind::Damaged { .. } => {
                let mut met = self.heard(event.station, event.at);
                met.retain(|other| other.frame != event.frame && self.overlaps(event, other));
                Setting::Hears(met)
            }
        }
    }

    /// Signals at the place of `station`, or there until less than a gap ago, as decisions see them: just before `at`.
    fn heard(&self, station: StationId, at: BitInstant) -> Vec<Transmission> {
        let gap = self.config.parameters.inter_packet_gap;
        let all = self.stations.iter().flat_map(|station| station.recent.iter().flatten());
        let here = |one: &&Transmission| {
            let distance = self.config.topology.distance(one.frame.station, station);
            one.begin + distance < at && one.end.is_none_or(|end| end + distance + gap > at)
        };
        let mut heard: Vec<Transmission> = all.filter(here).copied().collect();
        heard.sort_by_key(|one| one.begin);
        heard
    }

    /// Whether another signal met the frame's own, which ends as `event` says, at the place of the event.
    fn overlaps(&self, event: &Event, other: &Transmission) -> bool {
        let own = self.stations[event.frame.station.index()].recent.iter().flatten();
        let to_here = |one: &Transmission| self.config.topology.distance(one.frame.station, event.station);
        own.filter(|own| own.frame == event.frame).any(|own| {
            let begin = own.begin + to_here(own);
            other.begin + to_here(other) < event.at && other.end.is_none_or(|end| end + to_here(other) > begin)
        })
    }

    /// Keeps up with the event's station; gives a transmission that began or changed.
    fn follow(&mut self, event: &Event) -> Option<Transmission> {
        let Event { at, frame, kind, .. } = *event;
        let station = &mut self.stations[frame.station.index()];
        match kind {
            Kind::Offered { .. } => {
                station.first.get_or_insert(frame.serial);
                station.offered = frame.serial;
                return None;
            }
            Kind::QueueDrop => station.done += 1,
            Kind::Attempt { attempt, burst, .. } => {
                let begun = Transmission {
                    frame,
                    attempt,
                    begin: at,
                    burst,
                    collision: None,
                    end: None,
                    extension: BitTimes::ZERO,
                };
                station.recent = [Some(begun), station.recent[0]];
                return Some(begun);
            }
            Kind::Collision { episode, .. } => {
                let current = station.recent[0].as_mut()?;
                current.collision = Some(Collision { at, episode });
                return Some(*current);
            }
            Kind::JamEnd { .. } => {
                let current = station.recent[0].as_mut()?;
                current.end = Some(at);
                return Some(*current);
            }
            Kind::Transmitted { extension, .. } => {
                station.done += 1;
                station.left = Some((frame, at));
                let current = station.recent[0].as_mut()?;
                (current.end, current.extension) = (Some(at), extension);
                return Some(*current);
            }
            Kind::Discarded { attempts, .. } => {
                station.done += 1;
                if attempts > 0 {
                    station.left = Some((frame, at));
                }
            }
            Kind::Defer { .. } | Kind::Backoff { .. } => {}
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {}
        }
        None
    }

    /// Adds a step to its story, and whom it shows that the frame has met.
    fn add(&mut self, step: Step) {
        let Event { at, station, frame, kind } = step.event;
        let left = self.stations[frame.station.index()].left;
        let met = match (&kind, &step.setting) {
            (Kind::Collision { .. }, _) => {
                let mut met = self.heard(station, at + BitTimes::new(1));
                // Silent at this place by now, so it is not what was noticed.
                let sounds = |one: &Transmission| {
                    let distance = self.config.topology.distance(one.frame.station, station);
                    one.frame.station != station && one.end.is_none_or(|end| end + distance > at)
                };
                met.retain(sounds);
                met
            }
            (Kind::Damaged { .. }, Setting::Hears(met)) => met.clone(),
            _ => Vec::new(),
        };
        let Some(story) = self.stories.iter_mut().find(|story| story.frame == frame) else { return };
        let waited_behind = story.steps.last().is_some_and(|last| matches!(last.setting, Setting::Behind(1..)));
        if let (Kind::Defer { .. } | Kind::Attempt { .. }, true, Some((before, since))) = (&kind, waited_behind, left) {
            let event = Event { at: since, ..step.event };
            story.steps.push(Step { event, setting: Setting::After(before) });
        }
        if matches!(kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop) {
            story.end = Some(at);
        }
        story.meet(met);
        story.steps.push(step);
    }
}

impl Station {
    /// Frames that were offered before the log begins.
    fn before_the_log(&self) -> u64 {
        self.first.map_or(0, |first| first - 1)
    }
}

impl Story {
    fn own_moved(&mut self, moved: Transmission) {
        match self.meetings.last_mut().filter(|meeting| meeting.own.is(&moved)) {
            Some(meeting) => meeting.own = moved,
            None => self.meetings.push(Meeting { own: moved, others: Vec::new() }),
        }
    }

    /// Somebody else began to send, collided or ended: a party of the last meeting, or of one before.
    fn other_moved(&mut self, moved: Transmission) {
        for meeting in self.meetings.iter_mut().rev().take(2) {
            let episode = |one: &Transmission| one.collision.map(|collision| collision.episode);
            let party = episode(&meeting.own).is_some() && episode(&meeting.own) == episode(&moved);
            match meeting.others.iter_mut().find(|other| other.is(&moved)) {
                Some(other) => *other = moved,
                None if party => meeting.others.push(moved),
                None => {}
            }
        }
    }

    /// These were met in the last attempt.
    fn meet(&mut self, met: Vec<Transmission>) {
        let Some(meeting) = self.meetings.last_mut() else { return };
        for other in met {
            if !meeting.others.iter().any(|known| known.is(&other)) {
                meeting.others.push(other);
            }
        }
    }
}
