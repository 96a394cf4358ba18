//! Every counter and sum, as a fold of events. Holds no rule of the medium.

use crate::event::{Cause, Event, HostKind, MacKind, Part, ReceiverKind};
use crate::frame::{HEADER_AND_FCS, StationId};
use crate::time::Octets;
use std::num::NonZeroU32;

/// The initial number of places of `collision_frames` at most; with a higher attemptLimit, or none, it grows.
const PLACES_AT_FIRST: usize = 1023;

/// Defines the counters once: the struct, and the list of their names and values.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A station's counters: 802.3 clause 30.3 under the names of RFC 3635, and ours.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
            /// aCollisionFrames\[n\] at index n − 1: frames that were transmitted after n collisions, n up to
            /// attemptLimit − 1.
            pub collision_frames: Vec<u64>,
        }

        impl Counters {
            /// Every counter with its name, except `collision_frames`.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Frames that the host handed over.
    offered,
    /// Frames dropped because the transmit queue was full.
    queue_drops,
    /// aFramesTransmittedOK.
    frames_transmitted_ok,
    /// aSingleCollisionFrames: transmitted after exactly one collision.
    single_collision_frames,
    /// aMultipleCollisionFrames: transmitted after more than one collision.
    multiple_collision_frames,
    /// aFramesWithDeferredXmissions: delayed on the first attempt, and then transmitted without collision.
    deferred_transmissions,
    /// aLateCollisions.
    late_collisions,
    /// aFramesAbortedDueToXSColls.
    excessive_collisions,
    /// Discarded after a late collision, where frames are extended; `late_collisions` counts it too.
    late_collision_discards,
    /// aFramesWithExcessiveDeferral.
    excessive_deferrals,
    /// aCarrierSenseErrors: transmitted without collision and without carrier sense.
    carrier_sense_errors,
    /// aFramesLostDueToIntMACXmitError: too short or too long to be sent, or lost because the MAC was detached.
    internal_mac_transmit_errors,
    /// Discarded because the host's frame had no whole header.
    too_short,
    /// Discarded because the host's frame was above maxBasicFrameSize.
    too_long,
    /// Discarded because the station was taken off the medium.
    detached,
    /// aOctetsTransmittedOK: data and padding only, without addresses, type and FCS.
    octets_transmitted_ok,
    /// aFramesReceivedOK: addressed to this station or to a group.
    frames_received_ok,
    /// aOctetsReceivedOK: data and padding only.
    octets_received_ok,
    /// aFrameCheckSequenceErrors: whole octets, bad FCS.
    fcs_errors,
    /// aAlignmentErrors: no whole number of octets, bad FCS.
    alignment_errors,
    /// aFrameTooLongErrors: above maxBasicFrameSize, the tag allowed for.
    frame_too_long_errors,
    /// Attempts, first ones included.
    attempts,
    /// Attempts that collided.
    collisions,
    /// Fragments below minFrameSize that were addressed here.
    fragments_received,
    /// Frames of this station that an addressee received whole; a group frame counts once for each.
    delivered,
}

impl Counters {
    /// Frames that will never be sent, of all causes.
    pub fn discarded(&self) -> u64 {
        let collided = self.excessive_collisions + self.late_collision_discards;
        self.queue_drops + collided + self.too_short + self.too_long + self.detached
    }

    /// Octets of successful frames from destination address to FCS.
    pub fn frame_octets_transmitted(&self) -> u64 {
        self.octets_transmitted_ok + self.frames_transmitted_ok * u64::from(HEADER_AND_FCS.get())
    }
}

/// Sums over the medium, the basis of the metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediumTally {
    /// Frames whose station also sent the previous successful frame.
    pub same_winner: u64,
    last_winner: Option<StationId>,
}

/// Counters of all stations, and the sums over the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    stations: Vec<Counters>,
    medium: MediumTally,
}

impl Tally {
    /// The tally of a medium with `stations` stations at the start; `attempt_limit` is the limit of attempts of a
    /// frame, if there is one.
    pub fn new(stations: usize, attempt_limit: Option<NonZeroU32>) -> Tally {
        let places = attempt_limit.map_or(0, |limit| (limit.get() as usize - 1).min(PLACES_AT_FIRST));
        let counters = Counters { collision_frames: vec![0; places], ..Counters::default() };
        Tally { stations: vec![counters; stations], medium: MediumTally::default() }
    }

    /// Counts from zero again. The last sender stays known.
    pub fn restart(&mut self) {
        self.medium.same_winner = 0;
        for counters in &mut self.stations {
            let collision_frames = vec![0; counters.collision_frames.len()];
            *counters = Counters { collision_frames, ..Counters::default() };
        }
    }

    /// One station's counters.
    pub fn station(&self, station: StationId) -> &Counters {
        &self.stations[station.index()]
    }

    /// All stations' counters, in order of station number.
    pub fn stations(&self) -> &[Counters] {
        &self.stations
    }

    /// The sums over the medium.
    pub fn medium(&self) -> &MediumTally {
        &self.medium
    }

    /// Adds one more event.
    #[inline(always)]
    pub fn record(&mut self, event: &Event) {
        let counters = &mut self.stations[event.station.index()];
        match event.kind.part() {
            Part::Host(HostKind::Offered { .. }) => counters.offered += 1,
            Part::Host(HostKind::QueueDrop) => counters.queue_drops += 1,
            Part::Mac(kind) => self.record_mac(event.station, kind),
            Part::Receiver(kind) => {
                if let ReceiverKind::Delivered { .. } = kind {
                    self.stations[event.frame.station.index()].delivered += 1;
                }
                self.stations[event.station.index()].received(kind);
            }
            Part::Wireless(_) | Part::Plca(_) => {}
        }
    }

    #[inline(always)]
    fn record_mac(&mut self, station: StationId, kind: MacKind) {
        let counters = &mut self.stations[station.index()];
        match kind {
            MacKind::Attempt { excessive_deferral, .. } => {
                counters.attempts += 1;
                counters.excessive_deferrals += u64::from(excessive_deferral);
            }
            MacKind::Collision { late, .. } => {
                counters.collisions += 1;
                counters.late_collisions += u64::from(late);
            }
            MacKind::Transmitted { size, attempts, deferred, no_carrier, .. } => {
                counters.transmitted(size, attempts, deferred);
                counters.carrier_sense_errors += u64::from(no_carrier);
                self.medium.transmitted(station);
            }
            MacKind::Discarded { cause, .. } => counters.discard(cause),
            MacKind::Defer { .. } | MacKind::JamEnd { .. } | MacKind::Backoff { .. } => {}
        }
    }
}

impl Counters {
    #[inline(always)]
    fn received(&mut self, kind: ReceiverKind) {
        match kind {
            ReceiverKind::Delivered { size } => {
                self.frames_received_ok += 1;
                self.octets_received_ok += data_octets(size);
            }
            ReceiverKind::Fragment { .. } => self.fragments_received += 1,
            ReceiverKind::Damaged { bits } if bits.get().is_multiple_of(8) => self.fcs_errors += 1,
            ReceiverKind::Damaged { .. } => self.alignment_errors += 1,
            ReceiverKind::TooLong { .. } => self.frame_too_long_errors += 1,
        }
    }

    fn transmitted(&mut self, size: Octets, attempts: u32, deferred: bool) {
        self.frames_transmitted_ok += 1;
        self.octets_transmitted_ok += data_octets(size);
        let collisions = attempts as usize - 1;
        if collisions > self.collision_frames.len() {
            self.collision_frames.resize(collisions, 0);
        }
        self.deferred_transmissions += u64::from(deferred && collisions == 0);
        self.single_collision_frames += u64::from(collisions == 1);
        self.multiple_collision_frames += u64::from(collisions > 1);
        if let Some(frames) = collisions.checked_sub(1).and_then(|index| self.collision_frames.get_mut(index)) {
            *frames += 1;
        }
    }

    fn discard(&mut self, cause: Cause) {
        let counter = match cause {
            Cause::ExcessiveCollisions => &mut self.excessive_collisions,
            Cause::LateCollision => &mut self.late_collision_discards,
            Cause::TooShort => &mut self.too_short,
            Cause::TooLong => &mut self.too_long,
            Cause::Detached => &mut self.detached,
        };
        *counter += 1;
        // 802.3, 30.3.1.1.12: only losses that no other counter has.
        let collided = matches!(cause, Cause::ExcessiveCollisions | Cause::LateCollision);
        self.internal_mac_transmit_errors += u64::from(!collided);
    }
}

impl MediumTally {
    fn transmitted(&mut self, station: StationId) {
        self.same_winner += u64::from(self.last_winner == Some(station));
        self.last_winner = Some(station);
    }
}

fn data_octets(size: Octets) -> u64 {
    u64::from(size.get().saturating_sub(HEADER_AND_FCS.get()))
}
