//! Events of the layer `emulator`: what the program and the machine did to a live bus, in the same trace as what happened
//! on the medium. They are no part of the digest, and a replay has none.

use super::Names;
use super::text::Line;
use crate::figures::results::check::is_plain;
use crate::files::columns::{key, number, string};
use crate::files::emulated::{Container, EmulatorEvent, EmulatorKind, port_kind};
use crate::words::choices::{FilterChoice, LinkChoice, PortState};
use crate::words::prose::push_number;
use medium::BitInstant;
use std::sync::Arc;

/// What `layer` says in their lines. Lines of the medium have no such column.
pub(super) const LAYER: &str = "emulator";

/// Appends an event as the trace has it, without the line's end.
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
    use medium::{FrameId, StationId};

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
