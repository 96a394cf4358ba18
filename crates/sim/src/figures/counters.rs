//! The counters of a station, declared once: what they count, for OpenMetrics and for docs/results.md.

/// A counter of a station, under its name of RFC 3635 where it has one.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Its name in results.
    pub name: &'static str,
    /// What it counts in a line, or the attribute of 802.3, 30.3.1.1, that it is.
    pub help: &'static str,
    /// What it counts, in Markdown.
    pub about: &'static str,
}

const fn counter(name: &'static str, help: &'static str, about: &'static str) -> Counter {
    Counter { name, help, about }
}

/// All of them, in the order of the engine's.
pub const COUNTERS: &[Counter] = &[
    counter("offered", "Frames that the host handed over", "frames that the host handed over"),
    counter(
        "queue_drops",
        "Frames dropped because the transmit queue was full",
        "of these, frames that found the transmit queue full",
    ),
    counter("frames_transmitted_ok", "aFramesTransmittedOK (802.3, 30.3.1.1.2)", "frames sent whole"),
    counter(
        "single_collision_frames",
        "aSingleCollisionFrames (802.3, 30.3.1.1.3)",
        "frames sent after exactly one collision",
    ),
    counter(
        "multiple_collision_frames",
        "aMultipleCollisionFrames (802.3, 30.3.1.1.4)",
        "frames sent after more than one collision",
    ),
    counter(
        "deferred_transmissions",
        "aFramesWithDeferredXmissions (802.3, 30.3.1.1.9)",
        "frames that had to wait before their first attempt, and then met no collision",
    ),
    counter("late_collisions", "aLateCollisions (802.3, 30.3.1.1.10)", "late collisions"),
    counter(
        "excessive_collisions",
        "aFramesAbortedDueToXSColls (802.3, 30.3.1.1.11)",
        "frames discarded after attempt_limit attempts",
    ),
    counter(
        "late_collision_discards",
        "Frames discarded after a late collision at 1000 Mb/s",
        "at 1000 Mb/s: frames discarded after a late collision",
    ),
    counter(
        "excessive_deferrals",
        "aFramesWithExcessiveDeferral (802.3, 30.3.1.1.20)",
        "attempts that began after a wait of more than `max_defer_time_bt`",
    ),
    counter(
        "carrier_sense_errors",
        "aCarrierSenseErrors (802.3, 30.3.1.1.13)",
        "frames sent without collision and without carrier sense",
    ),
    counter(
        "internal_mac_transmit_errors",
        "aFramesLostDueToIntMACXmitError (802.3, 30.3.1.1.12)",
        "`too_short`, `too_long` and `detached` together",
    ),
    counter(
        "too_short",
        "Frames discarded because they had no whole header",
        "frames not sent: without a whole header",
    ),
    counter(
        "too_long",
        "Frames discarded because they were above maxBasicFrameSize",
        "frames not sent: above max_frame_size",
    ),
    counter(
        "detached",
        "Frames discarded because the station was taken off the medium",
        "frames discarded because the station was off the medium",
    ),
    counter(
        "octets_transmitted_ok",
        "aOctetsTransmittedOK (802.3, 30.3.1.1.8)",
        "data and padding of the frames sent whole, without addresses, type and FCS",
    ),
    counter(
        "frames_received_ok",
        "aFramesReceivedOK (802.3, 30.3.1.1.5)",
        "frames received whole that were for this station or for a group",
    ),
    counter("octets_received_ok", "aOctetsReceivedOK (802.3, 30.3.1.1.14)", "their data and padding"),
    counter(
        "fcs_errors",
        "aFrameCheckSequenceErrors (802.3, 30.3.1.1.6)",
        "frames for it with a bad FCS, of whole octets",
    ),
    counter(
        "alignment_errors",
        "aAlignmentErrors (802.3, 30.3.1.1.7)",
        "frames for it with a bad FCS, of no whole number of octets",
    ),
    counter("frame_too_long_errors", "aFrameTooLongErrors (802.3, 30.3.1.1.25)", "frames for it above max_frame_size"),
    counter("attempts", "Attempts to send, first ones included", "attempts to send, first ones included"),
    counter("collisions", "Attempts that collided", "attempts that collided"),
    counter(
        "fragments_received",
        "Fragments below minFrameSize that were addressed to the station",
        "frames for it that ended below min_frame_size",
    ),
    counter(
        "delivered",
        "Frames of the station that an addressee received whole",
        "frames of the station that an addressee received whole, a group frame once for each",
    ),
];

/// What a counter counts, if there is one of this name.
pub fn about(name: &str) -> Option<&'static str> {
    COUNTERS.iter().find(|it| it.name == name).map(|it| it.about)
}

/// Their rows in docs/results.md.
pub fn rows() -> String {
    let head = "| key | what it counts |\n|---|---|\n".to_owned();
    COUNTERS.iter().fold(head, |rows, it| rows + &format!("| `{}` | {} |\n", it.name, it.about))
}
