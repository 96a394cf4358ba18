//! Frames that the medium gave up, for the programs that sent them: the status of a transmission (802.3, 4.3.2).
//!
//! ```text
//!   coordinator ──a batch a station each housekeeping──► reports ──► supervisor ──► programs in the station
//! ```
//! Only stations whose programs listen have a batch. A discard has room in it that no full queue can take: a MAC needs
//! milliseconds for 16 attempts, while a host can overflow its queue 100,000 times a second.

use super::seen::Written;
use medium::{Event, Kind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Frames in one batch of a station: 1,280 a second.
const MOST: usize = 64;
/// Frames of these that its full queue dropped.
const MOST_QUEUE_DROPS: usize = 16;
/// Octets of a frame by which a program recognizes it: a whole minimum frame.
pub const HEAD: usize = 64;

/// Frames of one station that the medium gave up, in order; none if the station has just been listened to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discards {
    /// The station.
    pub station: u16,
    /// How many frames are missing before these.
    pub missed: u64,
    /// The frames.
    pub frames: Vec<Discard>,
}

/// A frame that the medium gave up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discard {
    /// The event that says when and why.
    pub event: Written,
    /// The first octets of the frame.
    pub head: Vec<u8>,
}

/// A batch as cheap for the coordinator as it can be: the writer of reports makes [`Discards`] of it.
#[derive(Debug, Default)]
pub struct Batch {
    missed: u64,
    queue_drops: usize,
    frames: Vec<(Event, Arc<[u8]>)>,
}

impl Batch {
    fn add(&mut self, event: &Event, octets: Option<Arc<[u8]>>) {
        let queue_drop = matches!(event.kind, Kind::QueueDrop);
        if self.frames.len() >= MOST || (queue_drop && self.queue_drops >= MOST_QUEUE_DROPS) {
            self.missed += 1;
            return;
        }
        self.queue_drops += usize::from(queue_drop);
        self.frames.push((*event, octets.unwrap_or_default()));
    }

    fn is_empty(&self) -> bool {
        self.missed == 0 && self.frames.is_empty()
    }

    /// What is written of a batch of `station`.
    pub fn written(&self, station: u16) -> Discards {
        let head = |octets: &[u8]| octets[..octets.len().min(HEAD)].to_vec();
        let frames =
            self.frames.iter().map(|(event, octets)| Discard { event: Written::from(event), head: head(octets) });
        Discards { station, missed: self.missed, frames: frames.collect() }
    }
}

/// The next batch of each station whose programs listen.
#[derive(Debug, Default)]
pub(super) struct Listened(Vec<(u16, Batch)>);

impl Listened {
    /// Whether programs of `station` listen, from now on.
    pub fn listen(&mut self, station: u16, listens: bool) {
        let place = self.0.iter().position(|(known, _)| *known == station);
        match place {
            None if listens => self.0.push((station, Batch::default())),
            Some(place) if !listens => _ = self.0.swap_remove(place),
            None | Some(_) => {}
        }
    }

    /// Takes in an event; `octets` finds the frame, which the medium still has.
    #[inline]
    pub fn event(&mut self, event: &Event, octets: impl FnOnce() -> Option<Arc<[u8]>>) {
        if !self.0.is_empty() && matches!(event.kind, Kind::Discarded { .. } | Kind::QueueDrop) {
            let of = event.frame.station.index();
            if let Some((_, batch)) = self.0.iter_mut().find(|(station, _)| usize::from(*station) == of) {
                batch.add(event, octets());
            }
        }
    }

    /// Has `tell` take each batch that has something in it; a batch that finds no room comes back and waits.
    pub fn tell(&mut self, mut tell: impl FnMut(u16, Batch) -> Option<Batch>) {
        for (station, batch) in self.0.iter_mut().filter(|(_, batch)| !batch.is_empty()) {
            *batch = tell(*station, std::mem::take(batch)).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitInstant, Cause, FrameId, StationId};

    fn event(station: u16, serial: u64, kind: Kind) -> Event {
        let frame = FrameId { station: StationId::new(station), serial };
        Event { at: BitInstant::new(serial), station: frame.station, frame, kind }
    }

    /// A host that overflows its queue does not hide a discard, and what finds no room is counted.
    #[test]
    fn queue_drops_leave_room_for_a_discard() {
        let mut listened = Listened::default();
        let discard = event(1, 1000, Kind::Discarded { cause: Cause::ExcessiveCollisions, attempts: 16 });
        let octets: Arc<[u8]> = (0..100).collect();
        listened.event(&discard, || unreachable!("no program listens"));
        listened.listen(1, true);
        (0..100).for_each(|serial| listened.event(&event(1, serial, Kind::QueueDrop), || None));
        listened.event(&event(0, 1, Kind::QueueDrop), || unreachable!("no program of this station listens"));
        listened.event(&discard, || Some(octets.clone()));
        let mut told = Vec::new();
        // The first time there is no room.
        listened.tell(|_, batch| Some(batch));
        listened.tell(|station, batch| {
            told.push(batch.written(station));
            None
        });
        let [Discards { station: 1, missed: 84, frames }] = &told[..] else { panic!("{told:?}") };
        let last = frames.last().expect("17 frames");
        assert_eq!((frames.len(), &last.event, &last.head[..]), (17, &Written::from(&discard), &octets[..HEAD]));
        listened.tell(|_, _| unreachable!("all is told"));
        listened.listen(1, false);
        listened.event(&discard, || unreachable!("no program listens any more"));
    }
}
