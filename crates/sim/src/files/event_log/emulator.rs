//! Events of the layer `emulator`: what the program and the machine did to a live bus, in the same log as what happened
//! on the medium. They are no part of the digest, and a replay has none.

use super::Names;
use super::text::Line;
use crate::figures::results::check::is_plain;
use crate::files::columns::{key, number, string};
use crate::words::choices::{FilterChoice, LinkChoice, PortState};
use crate::words::prose::push_number;
use medium::{BitInstant, FrameId, StationId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What `layer` says in their lines. Lines of the medium have no such column.
pub(super) const LAYER: &str = "emulator";

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
    /// Its name in logs.
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

/// Appends an event as the log has it, without the line's end.
pub(crate) fn write(line: &mut Vec<u8>, names: &Names, event: &EmulatorEvent) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, event.at.get());
    string(line, "layer", LAYER);
    number(line, "real_ns", event.real_ns);
    string(line, "kind", event.kind.name());
    match event.kind.clone() {
        EmulatorKind::Slip { ns } => {
            number(line, "ns", ns);
        }
        EmulatorKind::LateArrival { frame, ns } => {
            names.write_frame(line, frame);
            number(line, "ns", ns);
        }
        EmulatorKind::LateDelivery { frame, ns, copies } => {
            names.write_frame(line, frame);
            number(line, "ns", ns);
            number(line, "copies", copies);
        }
        EmulatorKind::OverloadDrop { frame, ns, copies } => {
            names.write_frame(line, frame);
            number(line, "ns", ns);
            number(line, "copies", copies);
        }
        EmulatorKind::Refused { station, frame, .. } => {
            string(line, "station", names.escaped(station));
            names.write_frame(line, frame);
        }
        EmulatorKind::RingDrops { count } => {
            number(line, "count", count);
        }
        EmulatorKind::ReportsSkipped { count } => {
            number(line, "count", count);
        }
        EmulatorKind::InputsSkipped { count } => {
            number(line, "count", count);
        }
        EmulatorKind::LinkChangesMissed { count } => {
            number(line, "count", count);
        }
        EmulatorKind::Filter { .. } | EmulatorKind::Link { .. } => {}
        EmulatorKind::Port { station, .. } | EmulatorKind::Traffic { station } => {
            string(line, "station", names.escaped(station));
        }
        EmulatorKind::Container { station, container } => {
            string(line, "station", names.escaped(station));
            for (column, text) in [("name", &container.name), ("container_id", &container.id)] {
                key(line, column);
                serde_json::to_writer(&mut *line, text).expect("a Vec takes any text");
            }
        }
        EmulatorKind::Steal { ns } => {
            number(line, "ns", ns);
        }
        EmulatorKind::CpuWait { ns } => {
            number(line, "ns", ns);
        }
        EmulatorKind::ClockStep { ns } => {
            key(line, "ns");
            line.extend_from_slice(ns.to_string().as_bytes());
        }
    }
    line.push(b'}');
}

fn port_kind(state: PortState) -> &'static str {
    match state {
        PortState::Up => "port_up",
        PortState::Down => "port_down",
        PortState::Gone => "port_gone",
        PortState::Attached => "port_attached",
        PortState::Detached => "port_detached",
    }
}

/// What a line of this layer says.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub(super) fn take(line: &mut Line<'_>, names: &Names) -> Result<EmulatorEvent, String> {
    let at = BitInstant::new(line.t);
    let real_ns = line.real_ns.take().ok_or("no `real_ns` in an event of the layer `emulator`")?;
    let kind = take_kind(line, names)?;
    line.nothing_left()?;
    Ok(EmulatorEvent { at, real_ns, kind })
}

fn take_kind(line: &mut Line<'_>, names: &Names) -> Result<EmulatorKind, String> {
    let kind = std::mem::take(&mut line.kind);
    let missing = |column: &str| format!("no `{column}` in an event of kind `{kind}`");
    macro_rules! take {
        ($column:ident) => {
            line.$column.take().ok_or_else(|| missing(stringify!($column)))?
        };
    }
    let of = |name: &str| if kind == name { Some(()) } else { None };
    let taken = match &*kind {
        "slip" => EmulatorKind::Slip { ns: whole(take!(ns))? },
        "late_arrival" => EmulatorKind::LateArrival { frame: line.take_frame(names)?, ns: whole(take!(ns))? },
        "late_delivery" => {
            EmulatorKind::LateDelivery { frame: line.take_frame(names)?, ns: whole(take!(ns))?, copies: take!(copies) }
        }
        "overload_drop" => {
            EmulatorKind::OverloadDrop { frame: line.take_frame(names)?, ns: whole(take!(ns))?, copies: take!(copies) }
        }
        "refused" | "refused_absent" => EmulatorKind::Refused {
            station: line.take_station(names)?,
            frame: line.take_frame(names)?,
            absent: of("refused_absent").is_some(),
        },
        "ring_drops" => EmulatorKind::RingDrops { count: take!(count) },
        "reports_skipped" => EmulatorKind::ReportsSkipped { count: take!(count) },
        "inputs_skipped" => EmulatorKind::InputsSkipped { count: take!(count) },
        "link_changes_missed" => EmulatorKind::LinkChangesMissed { count: take!(count) },
        "steal" => EmulatorKind::Steal { ns: whole(take!(ns))? },
        "cpu_wait" => EmulatorKind::CpuWait { ns: whole(take!(ns))? },
        "clock_step" => EmulatorKind::ClockStep { ns: take!(ns) },
        "filter_none" => EmulatorKind::Filter { choice: FilterChoice::None },
        "filter_address" => EmulatorKind::Filter { choice: FilterChoice::Address },
        "link_follows" => EmulatorKind::Link { choice: LinkChoice::Follows },
        "link_always" => EmulatorKind::Link { choice: LinkChoice::Always },
        "traffic" => EmulatorKind::Traffic { station: line.take_station(names)? },
        "container" => {
            let (station, container) = (line.take_station(names)?, (take!(name), take!(container_id)));
            let container = Container { name: plain("name", container.0)?, id: plain("container_id", container.1)? };
            EmulatorKind::Container { station, container: Arc::new(container) }
        }
        port => {
            let states = [PortState::Up, PortState::Down, PortState::Gone, PortState::Attached, PortState::Detached];
            let state = states.into_iter().find(|&state| port_kind(state) == port);
            let state = state.ok_or_else(|| format!("`{port}` is no kind of event of the layer `emulator`"))?;
            EmulatorKind::Port { station: line.take_station(names)?, state }
        }
    };
    line.kind = kind;
    Ok(taken)
}

/// A text that can be shown on a terminal.
fn plain(column: &str, text: String) -> Result<String, String> {
    match is_plain(&text) {
        true => Ok(text),
        false => Err(format!("`{column}` is {text:?}, and has no control characters")),
    }
}

/// A time that is no step of a clock has no sign.
fn whole(ns: i64) -> Result<u64, String> {
    u64::try_from(ns).map_err(|_| format!("`ns` is {ns}, and is a length: 0 or more"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One of each kind, no value a default; the match makes the compiler ask for kinds to come.
    pub fn one_of_each() -> Vec<EmulatorEvent> {
        let (station, frame) = (StationId::new(1), FrameId { station: StationId::new(0), serial: 1 << 33 });
        let states = [PortState::Up, PortState::Down, PortState::Gone, PortState::Attached, PortState::Detached];
        let container = Container { name: "shop \"web\" 1 — ä".to_owned(), id: "0123456789ab".to_owned() };
        let mut kinds = vec![
            EmulatorKind::Slip { ns: 1_000_001 },
            EmulatorKind::LateArrival { frame, ns: 7 },
            EmulatorKind::LateDelivery { frame, ns: i64::MAX as u64, copies: 3 },
            EmulatorKind::OverloadDrop { frame, ns: 9, copies: 4 },
            EmulatorKind::Refused { station, frame, absent: true },
            EmulatorKind::Refused { station, frame, absent: false },
            EmulatorKind::RingDrops { count: 5 },
            EmulatorKind::ReportsSkipped { count: 6 },
            EmulatorKind::InputsSkipped { count: 8 },
            EmulatorKind::LinkChangesMissed { count: 1 },
            EmulatorKind::Steal { ns: 10_000_000 },
            EmulatorKind::CpuWait { ns: 2_000_000 },
            EmulatorKind::ClockStep { ns: -3_600_000_000_000 },
            EmulatorKind::Filter { choice: FilterChoice::None },
            EmulatorKind::Filter { choice: FilterChoice::Address },
            EmulatorKind::Link { choice: LinkChoice::Follows },
            EmulatorKind::Link { choice: LinkChoice::Always },
            EmulatorKind::Traffic { station },
            EmulatorKind::Container { station, container: Arc::new(container) },
        ];
        kinds.extend(states.map(|state| EmulatorKind::Port { station, state }));
        for kind in &kinds {
            match kind {
                EmulatorKind::Slip { .. } | EmulatorKind::LateArrival { .. } | EmulatorKind::LateDelivery { .. } => {}
                EmulatorKind::OverloadDrop { .. } | EmulatorKind::Refused { .. } | EmulatorKind::RingDrops { .. } => {}
                EmulatorKind::ReportsSkipped { .. } | EmulatorKind::InputsSkipped { .. } => {}
                EmulatorKind::LinkChangesMissed { .. } | EmulatorKind::Port { .. } | EmulatorKind::Steal { .. } => {}
                EmulatorKind::CpuWait { .. } | EmulatorKind::ClockStep { .. } => {}
                EmulatorKind::Filter { .. } | EmulatorKind::Link { .. } | EmulatorKind::Traffic { .. } => {}
                EmulatorKind::Container { .. } => {}
            }
        }
        let events = (100..).zip(kinds);
        events.map(|(at, kind)| EmulatorEvent { at: BitInstant::new(at), real_ns: 1 << 40, kind }).collect()
    }
}
