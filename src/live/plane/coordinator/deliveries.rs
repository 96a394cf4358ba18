//! From the medium to the stations: what is settled waits until it is due, and goes out.

use super::super::overload::OVERLOAD;
use super::Coordinator;
use link::clock::monotonic_nanos;
use link::packet::SendError;
use medium::{BitInstant, FrameId, Octets, StationId};
use sim::figures::results::EmulatorResults;
use sim::files::event_log::EmulatorKind;
use sim::words::choices::PortState;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

/// Octets of the FCS, which a frame's size counts and a port does not carry.
const FCS: usize = 4;

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
    pub(super) fn schedule(&mut self, frame: FrameId, end: BitInstant, damaged: &[StationId]) {
        let held = self.held[frame.station.index()].iter().find(|held| held.serial == frame.serial);
        let octets = held.expect("a frame is released only after it was carried").octets.clone();
        for hearers in self.ports.hearers(frame.station) {
            let hears = |station: &StationId| self.medium.attached(*station) && !damaged.contains(station);
            self.order += 1;
            self.deliveries.push(Reverse(Due {
                due: self.timeline.nanos(end + hearers.distance),
                order: self.order,
                frame,
                octets: octets.clone(),
                stations: hearers.stations.iter().copied().filter(hears).collect(),
            }));
        }
    }

    /// Sends every frame that is due.
    pub(super) fn deliver(&mut self) {
        while self.deliveries.peek().is_some_and(|Reverse(next)| next.due <= monotonic_nanos()) {
            let Some(Reverse(delivery)) = self.deliveries.pop() else { return };
            let ns = monotonic_nanos() - delivery.due;
            if self.overload.drops(ns) {
                let (frame, copies) = (delivery.frame, delivery.stations.len() as u64);
                self.emulator.counts.overload_drops += copies;
                self.note(EmulatorKind::OverloadDrop { frame, ns, copies });
                continue;
            }
            let late = self.hand_over(&delivery);
            // So late that the medium's time has to wait: that is decided before the next one goes out.
            if self.overload.slip(delivery.due, late).is_some() {
                return;
            }
        }
    }

    /// Gives a frame to the kernel for all its hearers; tells how late that was, in nanoseconds.
    fn hand_over(&mut self, delivery: &Due) -> u64 {
        let frame = delivery.frame;
        let padded = pad(&delivery.octets, self.medium.config().parameters.min_frame_size);
        let octets = &*padded;
        // Whoever was taken off meanwhile receives nothing whose last bit comes while it is off.
        let here = |station: &StationId| self.medium.attached(*station);
        let (mut stations, left): (Vec<StationId>, Vec<StationId>) = delivery.stations.iter().partition(|at| here(at));
        self.emulator.counts.filtered += self.delivery.filter.leave_out(octets, &mut stations);
        let results = self.delivery.send(octets, &stations, &self.ports, &mut self.emulator.counts);
        let late = monotonic_nanos() - delivery.due;
        let copies = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.emulator.delivered(late, copies);
        let failures = results.iter().zip(&stations).filter_map(|(result, &station)| Some((result.err()?, station)));
        let failures: Vec<(SendError, StationId)> = failures.collect();
        if late > OVERLOAD && copies > 0 {
            self.emulator.counts.late_deliveries += 1;
            self.note(EmulatorKind::LateDelivery { frame, ns: late, copies });
        }
        left.into_iter().for_each(|station| self.refused(frame, station, true));
        for (error, station) in failures {
            let absent = matches!(error, SendError::NoInterface | SendError::Down | SendError::Dropped);
            self.refused(frame, station, absent);
            if error == SendError::NoInterface {
                self.change_port(station, PortState::Gone);
            }
        }
        late
    }

    fn refused(&mut self, frame: FrameId, station: StationId, absent: bool) {
        let EmulatorResults { deliveries_to_absent, delivery_failures, .. } = &mut self.emulator.counts;
        *(if absent { deliveries_to_absent } else { delivery_failures }) += 1;
        self.note(EmulatorKind::Refused { station, frame, absent });
    }
}

/// The octets as they go onto the medium: a frame below minFrameSize is padded (802.3, 4.2.3.3).
fn pad(octets: &[u8], min_frame_size: Octets) -> Cow<'_, [u8]> {
    let least = (min_frame_size.get() as usize).saturating_sub(FCS);
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
