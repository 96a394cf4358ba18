//! Stations and frames under their names, as lines have them.

use crate::words::prose::push_number;
use medium::{FrameId, StationId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Stations' names, ready to be written and looked up.
#[derive(Clone, Debug)]
pub struct Names {
    plain: Vec<String>,
    /// As JSON strings, without the quotes.
    escaped: Vec<String>,
    /// `,"station":"st1"`.
    station_columns: Vec<Box<[u8]>>,
    /// `,"frame":"st1#`.
    frame_columns: Vec<Box<[u8]>>,
    numbers: HashMap<String, StationId, BuildHasherDefault<Fnv>>,
}

impl Names {
    /// Names in order of station number.
    pub fn new(names: &[String]) -> Names {
        let (escaped, numbers) = (Vec::with_capacity(names.len()), HashMap::default());
        let mut own =
            Names { plain: Vec::new(), escaped, station_columns: Vec::new(), frame_columns: Vec::new(), numbers };
        names.iter().for_each(|name| own.join(name));
        own
    }

    /// The next station is called `name`; nothing if a station has this name already.
    pub fn join(&mut self, name: &str) {
        if self.numbers.contains_key(name) {
            return;
        }
        let quoted = serde_json::to_string(name).expect("a string");
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        self.numbers.insert(name.to_owned(), StationId::new(self.escaped.len() as u16));
        self.station_columns.push(format!(",\"station\":\"{escaped}\"").into_bytes().into());
        self.frame_columns.push(format!(",\"frame\":\"{escaped}#").into_bytes().into());
        self.escaped.push(escaped);
        self.plain.push(name.to_owned());
    }

    /// From now on `station` is called `name`.
    pub fn call(&mut self, station: StationId, name: &str) {
        if station.index() == self.len() {
            return self.join(name);
        }
        let mut other = Names::new(&[name.to_owned()]);
        self.numbers.retain(|_, number| *number != station);
        self.numbers.insert(name.to_owned(), station);
        let swap = |own: &mut Vec<Box<[u8]>>, other: &mut Vec<Box<[u8]>>| {
            std::mem::swap(&mut own[station.index()], &mut other[0])
        };
        swap(&mut self.station_columns, &mut other.station_columns);
        swap(&mut self.frame_columns, &mut other.frame_columns);
        self.escaped[station.index()].clone_from(&other.escaped[0]);
        name.clone_into(&mut self.plain[station.index()]);
    }

    /// The number of stations.
    #[expect(clippy::len_without_is_empty, reason = "no medium is without stations")]
    pub fn len(&self) -> usize {
        self.escaped.len()
    }

    /// Which station is called so.
    pub fn station(&self, name: &str) -> Option<StationId> {
        self.numbers.get(name).copied()
    }

    /// Which frame is called so: a station, `#`, and which of its frames, from 1.
    pub fn frame(&self, name: &str) -> Option<FrameId> {
        self.numbered(name).filter(|frame| frame.serial > 0)
    }

    /// The same with the number 0, which what is no frame has.
    pub(super) fn numbered(&self, name: &str) -> Option<FrameId> {
        let (station, serial) = name.rsplit_once('#')?;
        Some(FrameId { station: self.station(station)?, serial: serial.parse().ok()? })
    }

    /// What a station is called.
    pub fn name(&self, station: StationId) -> &str {
        &self.plain[station.index()]
    }

    pub(crate) fn escaped(&self, station: StationId) -> &str {
        &self.escaped[station.index()]
    }

    /// `,"station":"st1"`.
    #[inline]
    pub(super) fn station_column(&self, station: StationId) -> &[u8] {
        &self.station_columns[station.index()]
    }

    /// `,"frame":"st1#`, without the frame's number and the quote after it.
    #[inline]
    pub(super) fn frame_column(&self, station: StationId) -> &[u8] {
        &self.frame_columns[station.index()]
    }

    /// Appends `"st1#17"` after `separator`.
    pub(crate) fn write_name(&self, line: &mut Vec<u8>, separator: &str, frame: FrameId) {
        line.extend_from_slice(separator.as_bytes());
        line.push(b'"');
        line.extend_from_slice(self.escaped(frame.station).as_bytes());
        line.push(b'#');
        push_number(line, frame.serial);
        line.push(b'"');
    }

    /// Appends `,"frame":"st1#17"`.
    pub(super) fn write_frame(&self, line: &mut Vec<u8>, frame: FrameId) {
        line.extend_from_slice(self.frame_column(frame.station));
        push_number(line, frame.serial);
        line.push(b'"');
    }
}

/// FNV-1a: quick for names of a few octets, of which a medium has 1,024 at most.
#[derive(Clone, Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    #[inline]
    fn write(&mut self, octets: &[u8]) {
        self.0 = octets.iter().fold(self.0, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
