//! From the ring to the medium: each frame gets its place in time, and is offered there.

use super::super::stamp::Stamp;
use super::{Coordinator, Held, Wires};
use link::clock::monotonic_nanos;
use link::packet::{Received, StampSource};
use medium::{BitInstant, FCS, Frame, FrameId, Input, Octets, StationId};
use sim::files::event_log::EmulatorKind;
use sim::run::observer::Observer;
use sim::traffic::octets::is_tagged;
use std::cmp::Reverse;
use std::sync::Arc;

/// Frames taken out of the ring before the medium is looked after again.
const BATCH: usize = 256;
/// Batches in one go: more than the ring holds. Without an end, stations that send faster than this thread reads could keep it
/// from everything else; so what is still in the ring then counts as late.
const BATCHES: usize = 32;

/// A frame on its way to the medium, in order of stamp, then station, then reading.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    pub(super) at: BitInstant,
    pub(super) station: StationId,
    pub(super) order: u64,
    pub(super) frame: ArrivedFrame,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ArrivedFrame {
    pub(super) octets: Arc<[u8]>,
    /// As the station sent it; more than `octets` if those are cut off.
    pub(super) length: u32,
}

impl Coordinator {
    /// Takes frames out of the ring, and gives each its place in time.
    ///
    /// Gives the time before the reading that found the ring empty: what was stamped before it has been read. `None` if
    /// the ring did not get empty.
    pub(super) fn take_arrivals(&mut self) -> Option<u64> {
        // All of them: the medium must not go past a stamp that still waits in the ring.
        for _ in 0..BATCHES {
            let begin = monotonic_nanos();
            let taken = self.take_batch();
            if taken > 0 {
                self.effort.punctual.frame(begin);
            }
            if taken < BATCH {
                self.wires.ring_empty_at = monotonic_nanos();
                return Some(begin);
            }
        }
        None
    }

    fn take_batch(&mut self) -> usize {
        let Coordinator { wires, clocks, frames, rest, effort, emulator, .. } = self;
        let Wires { ports, receiver, ring_empty_at, delivery, .. } = wires;
        receiver.receive(BATCH, |received: Received<'_>| {
            let Some(station) = ports.station(received.ifindex) else {
                emulator.counts.arrivals.strays += 1;
                return;
            };
            emulator.counts.arrivals.stamped_at_ring += u64::from(received.stamp_source == StampSource::Ring);
            emulator.counts.arrivals.vlan_tags_restored += u64::from(received.vlan_restored);
            emulator.counts.arrivals.oversized += u64::from(received.truncated);
            delivery.filter.sent(station, received.octets);
            let mut octets: Arc<[u8]> = received.octets.into();
            if let Some(checksum) = received.partial_checksum.filter(|_| !received.truncated) {
                let octets = Arc::get_mut(&mut octets).expect("nobody else has it yet");
                if checksum.finish(octets) {
                    emulator.counts.arrivals.checksums_repaired += 1;
                } else {
                    emulator.counts.arrivals.checksums_left += 1;
                    emulator.oddities.left(ports.name(station), checksum, octets.len());
                }
            }
            if let Some(segments) = received.segments {
                emulator.oddities.segments(ports.name(station), segments);
            }
            let now = monotonic_nanos();
            let stamp = Stamp::read(clocks.map.to_monotonic(received.stamp), now, *ring_empty_at);
            emulator.counts.arrivals.future_stamps += u64::from(stamp == Stamp::Future);
            emulator.counts.arrivals.stale_stamps += u64::from(stamp == Stamp::Stale);
            frames.order += 1;
            let came = stamp.or(now);
            effort.overload.should_have(came + rest.engine_slack);
            frames.arrivals.push(Reverse(Arrival {
                at: clocks.timeline.instant(came),
                station,
                order: frames.order,
                frame: ArrivedFrame { octets, length: received.original_len as u32 },
            }));
        })
    }

    pub(super) fn offer_next(&mut self) {
        let Some(Reverse(Arrival { at, station, frame, .. })) = self.frames.arrivals.pop() else { return };
        let now = self.medium.now().max(at);
        // What comes in a pause comes at its instant, whenever it was stamped: that is not late.
        if now > at && self.pause.is_none() {
            let (late, frame) = (self.clocks.timeline.span(now - at), self.medium.next_frame_id(station));
            self.emulator.arrived_late(late);
            self.note(EmulatorKind::LateArrival { frame, ns: late });
        }
        let tagged = is_tagged(&frame.octets);
        self.wires.ports.learn(station, &frame.octets);
        let destination = self.wires.ports.destination(station, &frame.octets);
        let id = self.medium.next_frame_id(station);
        let FrameId { serial, .. } = id;
        self.figures.messages.iter_mut().for_each(|messages| messages.offered(id, now, &frame.octets));
        let size = Octets::new(frame.length.saturating_add(FCS.get()));
        let offered = Frame { size, destination, tagged };
        let input = Input::Offer { station, frame: offered };
        let Ok(()) = self.files.input(now, &input, Some(&frame.octets));
        self.frames.held[station.index()].push_back(Held { serial, frame: offered, octets: frame.octets });
        self.medium.handle_input(now, input);
    }
}
