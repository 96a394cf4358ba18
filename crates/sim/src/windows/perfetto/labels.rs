//! Frames' names, each made once for many packets.

use super::super::frames::Frames;
use super::fields::{message, octets, text};
use crate::words::prose::Prose;
use medium::FrameId;

/// Each station's latest frame, and the one before, of which its receivers still report.
#[derive(Debug)]
pub struct Labels(Vec<[Label; 2]>);

/// A frame's name.
#[derive(Clone, Debug, Default)]
pub struct Label {
    /// Which frame, if there was one.
    serial: Option<u64>,
    /// `st1#17`.
    pub name: Vec<u8>,
    /// The annotation `frame` of an event.
    pub annotation: Vec<u8>,
}

impl Labels {
    pub fn new(stations: usize) -> Labels {
        Labels(vec![Default::default(); stations])
    }

    #[inline]
    pub fn of(&mut self, frames: &Frames, frame: FrameId) -> &Label {
        let label = &mut self.0[frame.station.index()][frame.serial as usize % 2];
        if label.serial != Some(frame.serial) {
            label.is_now(frames, frame);
        }
        label
    }
}

impl Label {
    fn is_now(&mut self, frames: &Frames, frame: FrameId) {
        let Label { serial, name, annotation } = self;
        *serial = Some(frame.serial);
        name.clear();
        Prose::new(name, "").frame(frames.name(frame.station), frame.serial);
        annotation.clear();
        message(annotation, 4, |own| {
            text(own, 10, "frame");
            octets(own, 6, name);
        });
    }
}
