//! What happened to the emulator, and not on the medium.

use crate::words::choices::{FilterChoice, LinkChoice, PortState};
use medium::{BitInstant, FrameId, StationId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A container, as its engine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Its full name.
    pub name: String,
    /// Its identifier.
    pub id: String,
}

/// Something that happened to the emulator, and not on the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatorEvent {
    /// How far the medium had been run when it was noticed.
    pub at: BitInstant,
    /// Real time since the medium began, in nanoseconds.
    pub real_ns: u64,
    /// What happened.
    pub kind: EmulatorKind,
}

/// What can happen to the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmulatorKind {
    /// The medium's time was stopped.
    Slip {
        /// For how long, in nanoseconds.
        ns: u64,
    },
    /// A frame's stamp was before the engine's now; it was applied at its now.
    LateArrival {
        /// The frame.
        frame: FrameId,
        /// How long before, in nanoseconds.
        ns: u64,
    },
    /// Copies were handed to the kernel more than a millisecond after they were due.
    LateDelivery {
        /// Of which frame.
        frame: FrameId,
        /// How late, in nanoseconds.
        ns: u64,
        /// How many copies.
        copies: u64,
    },
    /// Copies were dropped because they would have been as late, with `on_overload = "drop"`.
    OverloadDrop {
        /// Of which frame.
        frame: FrameId,
        /// How late, in nanoseconds.
        ns: u64,
        /// How many copies.
        copies: u64,
    },
    /// The kernel did not take a copy.
    Refused {
        /// For whom.
        station: StationId,
        /// Of which frame.
        frame: FrameId,
        /// The station's interface or namespace is gone or down; otherwise there was another reason.
        absent: bool,
    },
    /// The ring was full, and the kernel dropped frames that stations sent.
    RingDrops {
        /// How many since the last look.
        count: u64,
    },
    /// The supervisor did not take reports in time.
    ReportsSkipped {
        /// How many since the last look.
        count: u64,
    },
    /// Inputs are not in a trace of inputs.
    InputsSkipped {
        /// How many since the last look.
        count: u64,
    },
    /// News of interfaces came faster than it was read.
    LinkChangesMissed {
        /// How often since the last look.
        count: u64,
    },
    /// A station's port came or went.
    Port {
        /// Whose.
        station: StationId,
        /// Its fate.
        state: PortState,
    },
    /// A hypervisor gave the machine's processors to others.
    Steal {
        /// For how long since the last look, all processors together, in nanoseconds.
        ns: u64,
    },
    /// Other programs had the processor while the coordinator was ready to run.
    CpuWait {
        /// For how long since the last look, in nanoseconds.
        ns: u64,
    },
    /// Somebody set the real-time clock.
    ClockStep {
        /// By how much, in nanoseconds.
        ns: i64,
    },
    /// A user had the bus copy frames to other stations from then on.
    Filter {
        /// To which.
        choice: FilterChoice,
    },
    /// A user had interfaces of stations that are off the medium lose their carrier from then on, or keep it.
    Link {
        /// Which.
        choice: LinkChoice,
    },
    /// A user had a station's host offer something else from then on.
    Traffic {
        /// Whose.
        station: StationId,
    },
    /// A container engine's driver said which container a station is.
    Container {
        /// The station.
        station: StationId,
        /// Shared, since rings and batches copy it.
        container: Arc<Container>,
    },
}

/// The names of all kinds, in the order of docs/trace.md.
pub const EMULATOR_KINDS: [&str; 24] = [
    "slip",
    "late_arrival",
    "late_delivery",
    "overload_drop",
    "refused_absent",
    "refused",
    "ring_drops",
    "inputs_skipped",
    "reports_skipped",
    "link_changes_missed",
    "port_up",
    "port_down",
    "port_gone",
    "port_attached",
    "port_detached",
    "steal",
    "cpu_wait",
    "clock_step",
    "filter_none",
    "filter_address",
    "link_follows",
    "link_always",
    "traffic",
    "container",
];

impl EmulatorKind {
    /// Its name in traces.
    pub fn name(&self) -> &'static str {
        EMULATOR_KINDS[match self {
            EmulatorKind::Slip { .. } => 0,
            EmulatorKind::LateArrival { .. } => 1,
            EmulatorKind::LateDelivery { .. } => 2,
            EmulatorKind::OverloadDrop { .. } => 3,
            EmulatorKind::Refused { absent: true, .. } => 4,
            EmulatorKind::Refused { absent: false, .. } => 5,
            EmulatorKind::RingDrops { .. } => 6,
            EmulatorKind::InputsSkipped { .. } => 7,
            EmulatorKind::ReportsSkipped { .. } => 8,
            EmulatorKind::LinkChangesMissed { .. } => 9,
            EmulatorKind::Port { state, .. } => return port_kind(*state),
            EmulatorKind::Steal { .. } => 15,
            EmulatorKind::CpuWait { .. } => 16,
            EmulatorKind::ClockStep { .. } => 17,
            EmulatorKind::Filter { choice: FilterChoice::None } => 18,
            EmulatorKind::Filter { choice: FilterChoice::Address } => 19,
            EmulatorKind::Link { choice: LinkChoice::Follows } => 20,
            EmulatorKind::Link { choice: LinkChoice::Always } => 21,
            EmulatorKind::Traffic { .. } => 22,
            EmulatorKind::Container { .. } => 23,
        }]
    }

    /// The station whose container it tells.
    pub fn container_of(&self) -> Option<StationId> {
        if let EmulatorKind::Container { station, .. } = self { Some(*station) } else { None }
    }

    /// The frame that it is about.
    pub fn frame(&self) -> Option<FrameId> {
        match *self {
            EmulatorKind::LateArrival { frame, .. }
            | EmulatorKind::LateDelivery { frame, .. }
            | EmulatorKind::OverloadDrop { frame, .. }
            | EmulatorKind::Refused { frame, .. } => Some(frame),
            EmulatorKind::Slip { .. }
            | EmulatorKind::RingDrops { .. }
            | EmulatorKind::ReportsSkipped { .. }
            | EmulatorKind::InputsSkipped { .. }
            | EmulatorKind::LinkChangesMissed { .. }
            | EmulatorKind::Port { .. }
            | EmulatorKind::Steal { .. }
            | EmulatorKind::CpuWait { .. }
            | EmulatorKind::ClockStep { .. }
            | EmulatorKind::Filter { .. }
            | EmulatorKind::Link { .. }
            | EmulatorKind::Traffic { .. }
            | EmulatorKind::Container { .. } => None,
        }
    }
}

pub(super) fn port_kind(state: PortState) -> &'static str {
    match state {
        PortState::Up => "port_up",
        PortState::Down => "port_down",
        PortState::Gone => "port_gone",
        PortState::Attached => "port_attached",
        PortState::Detached => "port_detached",
    }
}
