//! The octets of frames, from when they are offered until the medium is done with them.
//!
//! A live bus has the octets that the stations' kernels sent. In virtual time a frame is a length and an addressee, and
//! its octets are made here: addresses of the stations, the EtherType for local experiments (IEEE Std 802, 9.2.3), and
//! the frame's name as text. The medium knows no octets.

use medium::{Destination, Frame, FrameId, Input, Octets, StationId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Octets of the FCS, which sizes count.
pub(super) const FCS: usize = 4;
const ALL: [u8; 6] = [0xff; 6];
/// Whose address no station has: the group of locally administered ones that default addresses begin with.
const NOBODY: [u8; 6] = [0x02, 0xeb, 0xff, 0xff, 0xff, 0xff];
const VLAN: [u8; 4] = [0x81, 0x00, 0x00, 0x01];
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
    macs: Vec<[u8; 6]>,
    stations: Vec<OfStation>,
}

/// Those of one station.
#[derive(Clone, Debug, Default)]
struct OfStation {
    /// Inputs whose `offered` has not come yet.
    inputs: VecDeque<Offered>,
    /// The number of the first of `frames`.
    first: u64,
    /// By number; none where the medium is done with one.
    frames: VecDeque<Option<Offered>>,
}

impl Frames {
    pub fn new(names: &[String], macs: &[[u8; 6]]) -> Frames {
        assert_eq!(names.len(), macs.len(), "each station has a name and an address");
        Frames { names: names.to_vec(), macs: macs.to_vec(), stations: vec![OfStation::default(); names.len()] }
    }

    /// What `offered` will tell of comes with its addressee and octets.
    pub fn input(&mut self, input: &Input, octets: Option<&Arc<[u8]>>) {
        if let Input::Offer { station, frame } = input {
            self.stations[station.index()].inputs.push_back(Offered { frame: *frame, octets: octets.cloned() });
        }
    }

    /// Some inputs and events are not known: inputs so far may not be those of the events that come.
    pub fn forget_inputs(&mut self) {
        self.stations.iter_mut().for_each(|station| station.inputs.clear());
    }

    /// The medium has a frame of this size.
    pub fn offered(&mut self, id: FrameId, size: Octets) {
        let of = &mut self.stations[id.station.index()];
        let unknown = || Offered { frame: Frame::new(size, Destination::Nobody), octets: None };
        let offered = of.inputs.pop_front().unwrap_or_else(unknown);
        if of.frames.is_empty() || id.serial < of.first {
            of.frames.clear();
            of.first = id.serial;
        }
        let place = (id.serial - of.first) as usize;
        // Numbers follow one another, unless events are missing.
        of.frames.resize(place.max(of.frames.len()), None);
        of.frames.push_back(Some(offered));
    }

    /// The medium is done with it.
    pub fn done(&mut self, id: FrameId) {
        let of = &mut self.stations[id.station.index()];
        let place = id.serial.checked_sub(of.first).and_then(|place| of.frames.get_mut(place as usize));
        let Some(place) = place else { return };
        *place = None;
        while let Some(None) = of.frames.front() {
            of.frames.pop_front();
            of.first += 1;
        }
    }

    pub fn get(&self, id: FrameId) -> Option<&Offered> {
        let of = &self.stations[id.station.index()];
        of.frames.get(id.serial.checked_sub(of.first)? as usize)?.as_ref()
    }

    /// A frame's first six octets.
    pub fn destination(&self, id: FrameId) -> [u8; 6] {
        let Some(offered) = self.get(id) else { return NOBODY };
        match &offered.octets {
            Some(octets) => octets.first_chunk().copied().unwrap_or(NOBODY),
            None => self.address(offered.frame.destination),
        }
    }

    fn address(&self, destination: Destination) -> [u8; 6] {
        match destination {
            Destination::Station(station) => self.macs[station.index()],
            Destination::All => ALL,
            Destination::Nobody => NOBODY,
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn name(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    /// Appends the first `count` octets of a frame without FCS, padded with zeros as far as they go.
    pub fn write(&self, id: FrameId, count: usize, into: &mut Vec<u8>) {
        let begin = into.len();
        if let Some(octets) = self.get(id).and_then(|offered| offered.octets.as_deref()) {
            into.extend_from_slice(&octets[..octets.len().min(count)]);
        } else {
            let frame = self.get(id).map(|offered| offered.frame);
            into.extend_from_slice(&self.address(frame.map_or(Destination::Nobody, |frame| frame.destination)));
            into.extend_from_slice(&self.macs[id.station.index()]);
            into.extend_from_slice(if frame.is_some_and(|frame| frame.tagged) { &VLAN } else { &[] });
            into.extend_from_slice(&LOCAL_EXPERIMENT);
            into.extend_from_slice(self.names[id.station.index()].as_bytes());
            into.push(b'#');
            into.extend_from_slice(itoa::Buffer::new().format(id.serial).as_bytes());
        }
        into.resize(begin + count, 0);
    }
}
