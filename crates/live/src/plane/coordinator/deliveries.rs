//! From the medium to the stations: what is settled waits until it is due, and goes out.

use super::super::overload::OVERLOAD;
use super::Coordinator;
use super::pause::Pause;
use link::clock::monotonic_nanos;
use link::packet::SendError;
use medium::{BitInstant, FCS, FrameId, Octets, StationId};
use sim::files::event_log::EmulatorKind;
use sim::words::choices::PortState;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

/// Octets without FCS of a frame that an interface takes whatever its MTU is: 68, the least, a header and a VLAN tag. Of a
/// longer one the kernel says the same when the station's interface is down and when its MTU is too low.
const ANY_MTU: usize = 68 + 14 + 4;

/// A frame on its way from the medium, in order of due time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) due: u64,
    pub(super) order: u64,
    pub(super) frame: FrameId,
    pub(super) octets: Arc<[u8]>,
    pub(super) stations: Vec<StationId>,
}

impl Coordinator {
    pub(super) fn schedule(&mut self, frame: FrameId, (begin, end): (BitInstant, BitInstant), damaged: &[StationId]) {
        let octets = self.frames.octets(frame).expect("a frame is released only after it was carried");
        for hearers in self.wires.ports.hearers(frame.station) {
            let off = hearers.iter().filter(|station| !self.medium.attached(**station)).count();
            self.emulator.counts.undelivered.copies_to_detached += off as u64;
            let way = self.medium.config().way(frame.station, begin, hearers[0]);
            let hears = |station: &StationId| self.medium.attached(*station) && !damaged.contains(station);
            self.frames.order += 1;
            self.frames.deliveries.push(Reverse(Due {
                due: self.clocks.timeline.nanos(end + way),
                order: self.frames.order,
                frame,
                octets: octets.clone(),
                stations: hearers.iter().copied().filter(hears).collect(),
            }));
        }
    }

    /// Sends every frame that is due.
    pub(super) fn deliver(&mut self) {
        loop {
            let now = monotonic_nanos();
            // A stop since the last look is a slip first: then what waits is not late. Not twice in a row, so that a machine
            // which is always this slow gets on.
            let stalled = self.pause.is_none() && self.effort.overload.stalled(now) && !self.effort.held_back;
            self.effort.held_back = stalled;
            if stalled || self.frames.deliveries.peek().is_none_or(|Reverse(next)| next.due > now) {
                return;
            }
            let Some(Reverse(delivery)) = self.frames.deliveries.pop() else { return };
            let ns = late(self.pause.as_ref(), delivery.due);
            if self.effort.overload.drops(ns) {
                let (frame, copies) = (delivery.frame, delivery.stations.len() as u64);
                self.emulator.counts.machine.overload_drops += copies;
                self.note(EmulatorKind::OverloadDrop { frame, ns, copies });
                continue;
            }
            let late = self.hand_over(&delivery);
            // So late that the medium's time has to wait: that is decided before the next one goes out.
            if self.effort.overload.waits(late) {
                return;
            }
        }
    }

    /// Gives a frame to the kernel for all its hearers; tells how late that was, in nanoseconds.
    fn hand_over(&mut self, delivery: &Due) -> u64 {
        let frame = delivery.frame;
        let padded = pad(&delivery.octets, self.medium.config().parameters.min_frame_size);
        let octets = &*padded;
        // A station that was taken off meanwhile receives no frame whose last bit comes while it is off.
        let here = |station: &StationId| self.medium.attached(*station);
        let (mut stations, left): (Vec<StationId>, Vec<StationId>) = delivery.stations.iter().partition(|at| here(at));
        self.emulator.counts.copying.filtered += self.wires.delivery.filter.leave_out(octets, &mut stations);
        let results = self.wires.delivery.send(octets, &stations, &self.wires.ports, &mut self.emulator.counts);
        let late = late(self.pause.as_ref(), delivery.due);
        let copies = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.emulator.delivered(late, copies);
        let failures = results.iter().zip(&stations).filter_map(|(result, &station)| Some((result.err()?, station)));
        let failures: Vec<(SendError, StationId)> = failures.collect();
        if late > OVERLOAD && copies > 0 {
            self.emulator.counts.machine.late_deliveries += 1;
            self.note(EmulatorKind::LateDelivery { frame, ns: late, copies });
        }
        let length = octets.len();
        left.into_iter().for_each(|station| self.refused(frame, station, Refusal::Absent));
        if failures.iter().any(|(error, _)| *error == SendError::Dropped) {
            // Whether its interface went down just now. The next look reports an error of the monitor.
            let _ = self.watch_links();
        }
        for (error, station) in failures {
            self.refused(frame, station, Refusal::of(error, length, self.medium.attached(station)));
            if error == SendError::NoInterface {
                self.change_port(station, PortState::Gone);
            }
        }
        late
    }

    fn refused(&mut self, frame: FrameId, station: StationId, refusal: Refusal) {
        let counts = &mut self.emulator.counts.undelivered;
        *(match refusal {
            Refusal::Absent => &mut counts.deliveries_to_absent,
            Refusal::Mtu => &mut counts.refused_by_mtu,
            Refusal::Other => &mut counts.delivery_failures,
        }) += 1;
        self.note(EmulatorKind::Refused { station, frame, absent: refusal == Refusal::Absent });
    }
}

/// How late a delivery that was due at `due` is, in nanoseconds. The time of a pause is the user's: in it nothing is late.
fn late(pause: Option<&Pause>, due: u64) -> u64 {
    if pause.is_some() { 0 } else { monotonic_nanos() - due }
}

/// Why the kernel did not take a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The station is off the medium, or its interface down or gone.
    Absent,
    /// The station's interface takes no frame of this length: its MTU was lowered.
    Mtu,
    Other,
}

impl Refusal {
    /// What an error means for a copy of `octets` octets to a station that is on the medium, or is not.
    fn of(error: SendError, octets: usize, attached: bool) -> Refusal {
        match error {
            SendError::Dropped if attached && octets > ANY_MTU => Refusal::Mtu,
            SendError::NoInterface | SendError::Down | SendError::Dropped => Refusal::Absent,
            _ => Refusal::Other,
        }
    }
}

/// The octets as they go onto the medium: a frame below minFrameSize is padded (802.3, 4.2.3.3).
fn pad(octets: &[u8], min_frame_size: Octets) -> Cow<'_, [u8]> {
    let least = (min_frame_size.get() as usize).saturating_sub(FCS.get() as usize);
    if octets.len() >= least {
        return octets.into();
    }
    let mut padded = octets.to_vec();
    padded.resize(least, 0);
    padded.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// minFrameSize counts the FCS, which no port carries.
    #[test]
    fn a_short_frame_is_padded_to_the_mediums_own_min_frame_size() {
        for (octets, min_frame_size, padded) in [(14, 64, 60), (59, 64, 60), (60, 64, 60), (14, 18, 14), (20, 128, 124)]
        {
            let frame = vec![7; octets];
            let out = pad(&frame, Octets::new(min_frame_size));
            assert_eq!(out.len(), padded, "{octets} octets where min_frame_size is {min_frame_size}");
            assert!(out[..octets].iter().all(|&octet| octet == 7) && out[octets..].iter().all(|&octet| octet == 0));
        }
    }
}
