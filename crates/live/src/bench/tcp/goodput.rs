//! What a trace's arrivals give in virtual time: TCP's octets that reached their station, and when.

use crate::bench::bus::{BenchError, system};
use link::memory::memory_file;
use medium::{BitInstant, BitRate, FrameId, Input, Kind, StationId};
use sim::files::event_log::{EventLog, EventLogReader, Given, Header};
use sim::files::json_lines::LineReader;
use sim::files::replay::{ReplayError, replay};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Seek};

/// Where the server of `iperf3` listens.
const PORT: u16 = super::PORT;

/// TCP's octets on their way through a replayed run.
#[derive(Debug)]
pub struct Goodput {
    /// How many events the replay had.
    pub events: u64,
    confirmed: bool,
    rate: BitRate,
    /// Of each station that sends to the server's port, its longest stream.
    streams: HashMap<StationId, Arrived>,
}

/// A part of a run, in the medium's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    begin: BitInstant,
    end: BitInstant,
}

/// New octets as they reached the other station, in order.
#[derive(Debug, Default)]
struct Arrived {
    octets: Vec<(BitInstant, u32)>,
}

/// A frame's part of a TCP stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    from_port: u16,
    to_port: u16,
    sequence: u32,
    octets: u32,
}

impl Goodput {
    /// Runs a trace again in virtual time.
    ///
    /// # Errors
    /// A trace that is incomplete, or whose replay has other events.
    pub fn replay(record: &File) -> Result<Goodput, BenchError> {
        let segments = segments(record)?;
        let reader = EventLogReader::new(lines(record)?).map_err(ReplayError::from)?;
        let rate = reader.header().config().rate;
        let header = Header::new("", &reader.header().config(), &reader.header().stations);
        let events = memory_file("events").map_err(system("make a file in memory"))?;
        let copy = events.try_clone().map_err(system("share a file"))?;
        let log = EventLog::from_file(copy, "the replay's events".to_owned(), &header).map_err(ReplayError::from)?;
        let replayed = replay(reader, log)?;
        let streams = arrived(&events, &segments)?;
        Ok(Goodput { events: replayed.digest.events, confirmed: replayed.confirmed, rate, streams })
    }

    /// Whether the replay's events are known to be those of the run.
    pub fn is_the_same(&self) -> bool {
        self.confirmed
    }

    /// What the replay is to the run.
    pub fn verdict(&self) -> &'static str {
        if self.confirmed {
            "are those of the run, byte for byte"
        } else {
            "could not be compared with those of the run"
        }
    }

    /// The time in which the streams of all these stations had octets that arrived; `None` if there is no such time.
    pub fn common_window(&self, stations: &[usize]) -> Option<Window> {
        let arrived = stations.iter().map(|&station| self.streams.get(&StationId::new(station as u16)));
        let arrived = arrived.collect::<Option<Vec<_>>>()?;
        let begin = arrived.iter().filter_map(|arrived| arrived.octets.first()).map(|(at, _)| *at).max()?;
        let end = arrived.iter().filter_map(|arrived| arrived.octets.last()).map(|(at, _)| *at).min()?;
        (begin < end).then_some(Window { begin, end })
    }

    /// How long a window is, in seconds of the medium.
    pub fn seconds(&self, window: Window) -> f64 {
        window.end.since(window.begin).get() as f64 / self.rate.get() as f64
    }

    /// New octets of a station's stream that arrived in a window, in Mb/s. Those of its first instant were on the medium
    /// before it.
    pub fn megabits(&self, station: usize, window: Window) -> f64 {
        let Some(arrived) = self.streams.get(&StationId::new(station as u16)) else { return 0.0 };
        let in_time = arrived.octets.iter().filter(|(at, _)| *at > window.begin && *at <= window.end);
        let octets: f64 = in_time.map(|(_, octets)| f64::from(*octets)).sum();
        8.0 * octets / self.seconds(window) / 1e6
    }
}

fn lines(file: &File) -> Result<LineReader, BenchError> {
    let mut file = file.try_clone().map_err(system("share a file"))?;
    file.rewind().map_err(system("read a record"))?;
    Ok(LineReader::new(BufReader::new(file), "the bench's record".to_owned()))
}

/// Segments for the server's port.
fn segments(record: &File) -> Result<HashMap<FrameId, Segment>, BenchError> {
    let mut reader = EventLogReader::new(lines(record)?).map_err(ReplayError::from)?;
    let (mut serials, mut segments) = (HashMap::<StationId, u64>::new(), HashMap::new());
    loop {
        match reader.next_given().map_err(ReplayError::from)? {
            Given::Input { input: Input::Offer { station, .. }, octets, .. } => {
                // A station's frames are numbered from 1 in the order in which they were offered.
                let serial = serials.entry(station).or_default();
                *serial += 1;
                let segment = octets.as_deref().and_then(Segment::of).filter(|segment| segment.to_port == PORT);
                if let Some(segment) = segment {
                    segments.insert(FrameId { station, serial: *serial }, segment);
                }
            }
            Given::Input { .. } | Given::Call { .. } | Given::Traffic { .. } => {}
            Given::Restart { .. } => {}
            Given::End { .. } => return Ok(segments),
        }
    }
}

/// What of each station's longest stream arrived; octets that came before do not count again.
fn arrived(events: &File, segments: &HashMap<FrameId, Segment>) -> Result<HashMap<StationId, Arrived>, BenchError> {
    let mut reader = EventLogReader::new(lines(events)?).map_err(ReplayError::from)?;
    let (mut seen, mut streams) = (HashSet::new(), HashMap::<(StationId, u16), Arrived>::new());
    while let Some(event) = reader.next_event().map_err(ReplayError::from)? {
        let Some(segment) = segments.get(&event.frame).filter(|_| matches!(event.kind, Kind::Delivered { .. })) else {
            continue;
        };
        let stream = (event.frame.station, segment.from_port);
        if segment.octets > 0 && seen.insert((stream, segment.sequence)) {
            streams.entry(stream).or_default().octets.push((event.at, segment.octets));
        }
    }
    let mut longest = HashMap::<StationId, Arrived>::new();
    for ((station, _), arrived) in streams {
        let other = longest.entry(station).or_default();
        if arrived.total() > other.total() {
            *other = arrived;
        }
    }
    Ok(longest)
}

impl Arrived {
    fn total(&self) -> u64 {
        self.octets.iter().map(|(_, octets)| u64::from(*octets)).sum()
    }
}

impl Segment {
    /// The segment in a frame without tags; `None` if there is none.
    fn of(frame: &[u8]) -> Option<Segment> {
        const IPV4: [u8; 2] = [0x08, 0x00];
        const TCP: u8 = 6;
        let word = |octets: &[u8], at: usize| Some(u16::from_be_bytes(octets.get(at..at + 2)?.try_into().ok()?));
        let packet = frame.get(14..).filter(|_| frame[12..14] == IPV4)?;
        let header = 4 * usize::from(packet.first()? & 15);
        let packet = packet.get(..usize::from(word(packet, 2)?)).filter(|packet| packet.get(9) == Some(&TCP))?;
        let segment = packet.get(header..)?;
        let header = 4 * usize::from(segment.get(12)? >> 4);
        Some(Segment {
            from_port: word(segment, 0)?,
            to_port: word(segment, 2)?,
            sequence: u32::from_be_bytes(segment.get(4..8)?.try_into().ok()?),
            octets: segment.len().checked_sub(header)? as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two streams of which the second begins three seconds later, at the full rate each: together they never have more than
    /// the medium carries, since both are counted over the time that they share.
    #[test]
    fn streams_are_counted_over_the_time_that_they_share() {
        let arrived = |begin: u64, octets: u32| {
            let at = |frame: u64| BitInstant::new(begin + frame * 100_000);
            Arrived { octets: (0..500).map(|frame| (at(frame), octets)).collect() }
        };
        let streams = [(0, arrived(0, 1_000)), (2, arrived(30_000_000, 500))];
        let streams = streams.map(|(station, arrived)| (StationId::new(station), arrived)).into_iter().collect();
        let goodput = Goodput { events: 0, confirmed: true, rate: BitRate::MBIT_10, streams };
        let window = goodput.common_window(&[0, 2]).expect("they overlap");
        assert_eq!(window, Window { begin: BitInstant::new(30_000_000), end: BitInstant::new(49_900_000) });
        assert!((goodput.seconds(window) - 1.99).abs() < 1e-9);
        let megabits = [0, 2].map(|station| goodput.megabits(station, window));
        assert!((megabits[0] - 0.8).abs() < 1e-9 && (megabits[1] - 0.4).abs() < 1e-9, "{megabits:?}");
        assert_eq!(goodput.common_window(&[0, 1]), None);
    }

    /// Ethernet, 20 octets of IPv4, 32 of TCP with options, 5 of payload, and padding.
    #[test]
    fn a_segment_is_found_behind_its_headers() {
        let mut frame = vec![0; 80];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&57_u16.to_be_bytes());
        frame[23] = 6;
        frame[34..36].copy_from_slice(&4000_u16.to_be_bytes());
        frame[36..38].copy_from_slice(&5201_u16.to_be_bytes());
        frame[38..42].copy_from_slice(&77_u32.to_be_bytes());
        frame[46] = 8 << 4;
        let segment = Segment { from_port: 4000, to_port: 5201, sequence: 77, octets: 5 };
        assert_eq!(Segment::of(&frame), Some(segment));
        for end in 0..47 {
            assert_eq!(Segment::of(&frame[..end]), None, "{end} octets");
        }
        frame[23] = 17;
        assert_eq!(Segment::of(&frame), None);
    }
}
