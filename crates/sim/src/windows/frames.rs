//! The octets of frames, from when they are offered until the medium is done with them.
//!
//! A live bus has the octets that the stations' kernels sent. In virtual time a frame is a length and an addressee, and
//! its octets are made here: addresses of the stations, the EtherType for local experiments (IEEE Std 802, 9.2.3), and
//! the frame's name as text. The medium knows no octets.

use super::append;
use crate::words::prose::{EIGHT_DIGITS, digits, push_number};
use medium::{Destination, Frame, FrameId, Input, Joiner, Octets, StationId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Octets of the FCS, which sizes count.
pub(super) const FCS: usize = medium::FCS.get() as usize;
const ALL: [u8; 6] = [0xff; 6];
/// Whose address no station has: the group of locally administered ones that default addresses begin with.
const NOBODY: [u8; 6] = [0x02, 0xeb, 0xff, 0xff, 0xff, 0xff];
const VLAN: [u8; 4] = [0x81, 0x00, 0x00, 0x01];
/// The longest name that has a label, and `#`.
const LABEL: usize = 16;
/// Room for two addresses, a VLAN tag, an EtherType, a label and eight digits, and no less than the shortest frame.
const MADE: usize = 64;
const LOCAL_EXPERIMENT: [u8; 2] = [0x88, 0xb5];

/// A frame that the medium has.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    pub frame: Frame,
    octets: Option<Arc<[u8]>>,
}

/// All frames that the medium has.
#[derive(Debug)]
pub(super) struct Frames {
    names: Vec<String>,
    labels: Vec<Option<Label>>,
    macs: Vec<[u8; 6]>,
    stations: Vec<OfStation>,
}

/// Those of one station.
#[derive(Clone, Debug, Default)]
struct OfStation {
    /// The number of the first of `frames`.
    first: u64,
    /// How many of them the medium has been offered; the others are inputs whose `offered` has not come yet.
    known: usize,
    frames: VecDeque<Slot>,
}

#[derive(Clone, Debug)]
enum Slot {
    Has(Offered),
    /// The medium is done with it, or it was missed.
    Gone,
}

impl Frames {
    pub fn new(names: &[String], macs: &[[u8; 6]]) -> Frames {
        assert_eq!(names.len(), macs.len(), "each station has a name and an address");
        let (labels, stations) = (names.iter().map(Label::of).collect(), vec![OfStation::default(); names.len()]);
        Frames { names: names.to_vec(), labels, macs: macs.to_vec(), stations }
    }

    /// From now on `station` is the one that joins.
    pub fn call(&mut self, station: StationId, who: &Joiner) {
        let (index, name) = (station.index(), who.name().to_owned());
        self.labels[index] = Label::of(&name);
        (self.names[index], self.macs[index]) = (name, who.address);
    }

    /// A frame that `offered` will report comes with its addressee and octets.
    pub fn input(&mut self, input: &Input, octets: Option<&Arc<[u8]>>) {
        if let Input::Offer { station, frame } = input {
            let offered = Offered { frame: *frame, octets: octets.cloned() };
            self.stations[station.index()].frames.push_back(Slot::Has(offered));
        }
    }

    /// Some inputs and events are not known: inputs so far may not be those of the events that come.
    pub fn forget_inputs(&mut self) {
        self.stations.iter_mut().for_each(|station| station.frames.truncate(station.known));
    }

    /// The medium has a frame of this size.
    pub fn offered(&mut self, id: FrameId, size: Octets) {
        let of = &mut self.stations[id.station.index()];
        if id.serial < of.first {
            of.frames.drain(..of.known);
            of.known = 0;
        }
        if of.known == 0 {
            of.first = id.serial;
        }
        // Numbers follow one another, unless events are missing.
        while of.first + (of.known as u64) < id.serial {
            of.frames.insert(of.known, Slot::Gone);
            of.known += 1;
        }
        if of.known == of.frames.len() {
            let unknown = Offered { frame: Frame::new(size, Destination::Nobody), octets: None };
            of.frames.push_back(Slot::Has(unknown));
        }
        of.known += 1;
    }

    /// The medium is done with it.
    pub fn done(&mut self, id: FrameId) {
        let of = &mut self.stations[id.station.index()];
        let place = id.serial.checked_sub(of.first).map(|place| place as usize).filter(|place| *place < of.known);
        let Some(place) = place else { return };
        of.frames[place] = Slot::Gone;
        while of.known > 0 && matches!(of.frames[0], Slot::Gone) {
            of.frames.pop_front();
            of.known -= 1;
            of.first += 1;
        }
    }

    /// How a frame was offered, while the medium has the frame.
    pub fn get(&self, id: FrameId) -> Option<&Offered> {
        let of = &self.stations[id.station.index()];
        let place = id.serial.checked_sub(of.first)? as usize;
        match of.frames.get(place).filter(|_| place < of.known)? {
            Slot::Has(offered) => Some(offered),
            Slot::Gone => None,
        }
    }

    /// The first six octets of a frame, if the medium has it.
    pub fn destination(&self, offered: Option<&Offered>) -> [u8; 6] {
        let Some(offered) = offered else { return NOBODY };
        match &offered.octets {
            Some(octets) => octets.first_chunk().copied().unwrap_or(NOBODY),
            None => self.address(offered.frame.destination),
        }
    }

    /// Destination and source of a frame; while the medium has it.
    pub fn addresses(&self, id: FrameId) -> [[u8; 6]; 2] {
        let offered = self.get(id);
        let octets = offered.and_then(|offered| offered.octets.as_deref());
        let source = octets.and_then(|octets| octets.get(6..)?.first_chunk().copied());
        [self.destination(offered), source.unwrap_or(self.macs[id.station.index()])]
    }

    fn address(&self, destination: Destination) -> [u8; 6] {
        match destination {
            Destination::Station(station) => self.macs[station.index()],
            Destination::All => ALL,
            Destination::Nobody | Destination::Beyond(_) => NOBODY,
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn name(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    /// Appends the first `count` octets of a frame without FCS, padded with zeros as far as they go. `offered` is what
    /// there is of it.
    pub fn write(&self, id: FrameId, offered: Option<&Offered>, count: usize, into: &mut Vec<u8>) {
        let begin = into.len();
        if let Some(octets) = offered.and_then(|offered| offered.octets.as_deref()) {
            into.extend_from_slice(&octets[..octets.len().min(count)]);
        } else {
            self.write_made(id, offered, into);
        }
        into.resize(begin + count, 0);
    }

    /// Appends the octets that a frame of virtual time has: header, the frame's name, and zeros.
    fn write_made(&self, id: FrameId, offered: Option<&Offered>, into: &mut Vec<u8>) {
        let (mut made, own) = ([0; MADE], id.station.index());
        made[..6].copy_from_slice(&self.destination(offered));
        made[6..12].copy_from_slice(&self.macs[own]);
        made[12..16].copy_from_slice(&VLAN);
        let kind = if offered.is_some_and(|offered| offered.frame.tagged) { 16 } else { 12 };
        made[kind..kind + 2].copy_from_slice(&LOCAL_EXPERIMENT);
        let begin = kind + 2;
        if let (Some(label), Some(digits)) = (&self.labels[own], short(id.serial)) {
            // Nearly every name and number: all is copied at once.
            made[begin..begin + LABEL].copy_from_slice(&label.text);
            made[begin + label.length..begin + label.length + 8].copy_from_slice(&digits);
            return into.extend_from_slice(&made);
        }
        append(into, &made, begin);
        into.extend_from_slice(self.names[own].as_bytes());
        into.push(b'#');
        push_number(into, id.serial);
    }
}

/// A station's name and `#`, with zeros after them.
#[derive(Debug)]
struct Label {
    text: [u8; LABEL],
    length: usize,
}

impl Label {
    /// `None` if the name is longer than that of an interface may be.
    fn of(name: &String) -> Option<Label> {
        let (mut text, length) = ([0; LABEL], name.len() + 1);
        text.get_mut(..length)?.copy_from_slice(format!("{name}#").as_bytes());
        Some(Label { text, length })
    }
}

/// The digits of a number that has no more than eight, with zeros after them.
fn short(number: u64) -> Option<[u8; 8]> {
    (1..EIGHT_DIGITS).contains(&number).then(|| digits(number).0)
}
