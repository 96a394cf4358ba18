//! Streams of a station's discards: programs in the station read which of their frames the medium gave up (docs/live.md).
//!
//! ```text
//!   exec ──"discards st1"──► control socket      binds the station's socket, and answers with its path
//!   program ──connects──► socket of st1          the data plane collects discards of st1 from now on
//!   data plane ──a batch──► supervisor ──lines──► every program that listens
//! ```
//! No thread waits for a program that does not read: the next line that finds room has the number of missing frames.

use crate::lab::inventory::Inventory;
use crate::plane::discards::{Discard, Discards, HEAD};
use crate::plane::protocol::Request;
use crate::watchers::{Lines, writer};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use medium::StationId;
use sim::files::event_log::{Names, write_event, write_octets};
use sim::run::view::Note;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

/// Lines that wait for their reader.
const WAITING: usize = 256;
/// The most readers of one station at a time.
const MOST: usize = 8;

/// See the module.
#[derive(Debug)]
pub struct Streams {
    names: Names,
    stations: Vec<Option<Station>>,
    sender: Sender<(usize, UnixStream)>,
    /// Programs that have connected, with the number of their station.
    pub connected: Receiver<(usize, UnixStream)>,
}

/// A station whose socket is bound.
#[derive(Debug)]
struct Station {
    path: PathBuf,
    /// The first line of its stream.
    greeting: Vec<u8>,
    readers: Vec<Reader>,
}

#[derive(Debug)]
struct Reader {
    lines: Lines,
    /// The data plane has said that it collects discards.
    greeted: bool,
    /// Frames that are missing before the next line.
    missed: u64,
}

impl Streams {
    /// Streams of a lab of stations with these names, without a reader.
    pub fn new(names: &[String]) -> Streams {
        let (sender, connected) = bounded(MOST);
        Streams { names: Names::new(names), stations: names.iter().map(|_| None).collect(), sender, connected }
    }

    /// A station joins.
    pub fn join(&mut self, name: &str) {
        self.names.join(name);
        self.stations.resize_with(self.names.len(), || None);
    }

    /// The path of the socket of `station`, which is bound if it was not.
    ///
    /// # Errors
    /// There is no such station; its socket cannot be made.
    pub fn path(&mut self, record: &Inventory, station: &str) -> io::Result<PathBuf> {
        let known = self.names.station(station).map(StationId::index);
        let number = known.ok_or_else(|| io::Error::other(format!("this lab has no station {station}")))?;
        if let Some(station) = &self.stations[number] {
            return Ok(station.path.clone());
        }
        let path = record.discards_socket(station).map_err(io::Error::other)?;
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let sender = self.sender.clone();
        let accept = move || {
            // A lab that has ended takes no more readers.
            let _ = listener.incoming().flatten().try_for_each(|stream| sender.send((number, stream)));
        };
        std::thread::Builder::new().name("discards".to_owned()).spawn(accept)?;
        self.stations[number] = Some(Station { path: path.clone(), greeting: greeting(station), readers: Vec::new() });
        Ok(path)
    }

    /// Adds a reader of a station's discards, and gives what to ask the data plane for. Without room, its stream ends at once.
    pub fn add(&mut self, number: usize, stream: UnixStream) -> Option<Request> {
        let readers = &mut self.stations[number].as_mut()?.readers;
        readers.retain(|reader| !reader.lines.has_gone());
        let room = readers.len() < MOST;
        let lines = if room { writer(stream, WAITING)? } else { return None };
        readers.push(Reader { lines, greeted: false, missed: 0 });
        Some(Request::Discards(number as u16, true))
    }

    /// Passes discards on, and gives what to ask the data plane for if no program reads them any more.
    pub fn tell(&mut self, discards: &Discards) -> Option<Request> {
        let number = usize::from(discards.station);
        let Station { greeting, readers, .. } = self.stations.get_mut(number)?.as_mut()?;
        let frames: Vec<Vec<u8>> = discards.frames.iter().filter_map(|frame| begin_line(&self.names, frame)).collect();
        for reader in readers.iter_mut() {
            if !std::mem::replace(&mut reader.greeted, true) {
                reader.write(greeting.clone());
            }
            reader.missed += discards.missed;
            frames.iter().for_each(|begin| reader.discard(begin));
        }
        readers.retain(|reader| !reader.has_gone());
        readers.is_empty().then_some(Request::Discards(discards.station, false))
    }
}

impl Reader {
    /// Marks a reader that went away.
    const GONE: u64 = u64::MAX;

    fn has_gone(&self) -> bool {
        self.missed == Reader::GONE
    }

    fn discard(&mut self, begin: &[u8]) {
        let line = [begin, format!(",\"missed\":{}}}\n", self.missed).as_bytes()].concat();
        if self.write(line) {
            self.missed = 0;
        }
    }

    /// Whether there was room for the line.
    fn write(&mut self, line: Vec<u8>) -> bool {
        if self.has_gone() {
            return false;
        }
        match self.lines.try_send(line.into()) {
            Ok(()) => return true,
            Err(TrySendError::Full(_)) => self.missed += 1,
            Err(TrySendError::Disconnected(_)) => self.missed = Reader::GONE,
        }
        false
    }
}

/// The first line: the stream has every discard from here on.
fn greeting(station: &str) -> Vec<u8> {
    let program = concat!("ethbus ", env!("CARGO_PKG_VERSION"));
    format!("{{\"format\":\"ethbus discards\",\"version\":1,\"program\":\"{program}\",\"station\":\"{station}\"}}\n")
        .into()
}

/// The line of a discard up to its last column; nothing if the data plane names a station that is none.
fn begin_line(names: &Names, Discard { event, head }: &Discard) -> Option<Vec<u8>> {
    let Note::Event(event) = event.note(names.len())? else { return None };
    let mut line = Vec::new();
    write_event(&mut line, names, &event);
    write_octets(&mut line, &head[..head.len().min(HEAD)]);
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::seen::Written;
    use medium::{BitInstant, Event, FrameId, Kind};
    use serde_json::Value;
    use std::io::{BufRead, BufReader};

    /// Readers that closed their streams hold no place, though no frame was discarded.
    #[test]
    fn a_closed_reader_makes_room() {
        let mut streams = Streams::new(&["st1".to_owned()]);
        streams.stations[0] = Some(Station { path: PathBuf::new(), greeting: Vec::new(), readers: Vec::new() });
        for _ in 0..=MOST {
            let (ours, theirs) = UnixStream::pair().expect("a pair");
            assert!(streams.add(0, ours).is_some());
            drop(theirs);
        }
    }

    /// No thread waits for a program that does not read; the next line that finds room says how many frames are missing.
    #[test]
    fn a_slow_reader_learns_how_many_frames_it_missed() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut streams = Streams::new(&["st1".to_owned(), "st2".to_owned()]);
        streams.stations[1] = Some(Station { path: PathBuf::new(), greeting: greeting("st2"), readers: Vec::new() });
        assert_eq!(streams.add(1, ours), Some(Request::Discards(1, true)));
        let discards = |serial| {
            let frame = FrameId { station: StationId::new(1), serial };
            let event = Event { at: BitInstant::new(serial), station: frame.station, frame, kind: Kind::QueueDrop };
            let frames = vec![Discard { event: Written::from(&event), head: vec![0xab; 2 * HEAD] }];
            Discards { station: 1, missed: 0, frames }
        };
        // More than the socket and the channel hold.
        (1..=10_000).for_each(|serial| _ = streams.tell(&discards(serial)));
        let mut lines = BufReader::new(theirs).lines().map(|line| line.expect("a stream"));
        assert_eq!(lines.next().expect("a greeting").as_bytes(), greeting("st2").trim_ascii_end());
        let mut expected = 1;
        for serial in 10_001.. {
            assert_eq!(streams.tell(&discards(serial)), None);
            let line: Value = serde_json::from_str(&lines.next().expect("a line")).expect("JSON");
            let missed = line["missed"].as_u64().expect("a number");
            assert_eq!(line["frame"], format!("st2#{}", expected + missed), "{line}");
            assert_eq!(line["octets"].as_str().expect("octets").len(), 2 * HEAD);
            expected += missed + 1;
            if missed > 0 {
                break;
            }
        }
        drop(lines);
        let ends = (1..=10_000).find_map(|serial| streams.tell(&discards(serial)));
        assert_eq!(ends, Some(Request::Discards(1, false)), "the only reader has gone");
    }
}
