//! The flow chart of CSMA/CA with RTS and CTS, drawn from the engine's own table of steps. Knows no step by name: what is in
//! the table is in the drawing.
//!
//! Phases are boxes in a column. A step that leads down is a lane on the right, one that leads up is a lane on the left.

use medium::{DcfPhase, DcfStep};
use sim::words::prose::escape;
use std::fmt::Write;

/// The left and the right side of the boxes.
const BOX: (u32, u32) = (370, 560);
/// Points between two lines that end at one side of a box.
const PORT: u32 = 22;
/// Points between a box and the nearest lane: room for a step's words.
const WORDS: u32 = 250;
/// Points between two lanes.
const LANE: u32 = 16;
/// Points between two boxes, and above the first.
const GAP: u32 = 26;

const STYLE: &str = ".box{fill:#eef3f9;stroke:#2f6db3}.line{fill:none;stroke:#444}.head{fill:#444}text{font:13px sans-serif;fill:#222}\
    .end{text-anchor:end}.middle{text-anchor:middle;font-weight:bold}\
    @media (prefers-color-scheme:dark){.box{fill:#1d2a38;stroke:#6ea8e8}.line{stroke:#bbb}.head{fill:#bbb}text{fill:#eee}}";

/// The name of a phase.
fn name(phase: DcfPhase) -> &'static str {
    match phase {
        DcfPhase::Idle => "idle",
        DcfPhase::Waiting => "waits for gap and slots",
        DcfPhase::AwaitsCts => "waits for CTS",
        DcfPhase::Granted => "may send after SIFS",
        DcfPhase::AwaitsAck => "waits for ACK",
        DcfPhase::SendsToGroup => "sends to a group",
    }
}

/// A line's end at a box: the step, and whether it ends there.
#[derive(Clone, Copy, PartialEq)]
struct Port {
    step: DcfStep,
    arrives: bool,
}

/// A phase as a box, with what ends at its left and right side.
struct Station {
    phase: DcfPhase,
    sides: [Vec<Port>; 2],
    top: u32,
    height: u32,
}

impl Station {
    /// Where a port is.
    fn port(&self, side: usize, port: Port) -> u32 {
        let place = self.sides[side].iter().position(|it| *it == port).unwrap_or(0);
        self.top + PORT * (place as u32 + 1)
    }
}

/// Phases in the order in which the table first leads to them, and the first one.
fn phases() -> Vec<DcfPhase> {
    let mut phases: Vec<DcfPhase> = Vec::new();
    let all = DcfStep::ALL.iter().flat_map(|step| step.from().iter().copied().chain([step.to()]));
    all.for_each(|phase| {
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    });
    phases
}

/// The side of a step: 0 is left, up; 1 is right, down.
fn side(step: DcfStep, phases: &[DcfPhase]) -> usize {
    let place = |phase: DcfPhase| phases.iter().position(|it| *it == phase);
    usize::from(step.from().first().is_some_and(|&from| place(from) < place(step.to())))
}

fn stations(phases: &[DcfPhase]) -> Vec<Station> {
    let mut top = GAP;
    let station = |&phase: &DcfPhase| {
        let sides = [0, 1].map(|wanted| {
            let own = || DcfStep::ALL.iter().copied().filter(|step| side(*step, phases) == wanted);
            let arriving = own().filter(|step| step.to() == phase).map(|step| Port { step, arrives: true });
            let leaving = own().filter(|step| step.from().contains(&phase)).map(|step| Port { step, arrives: false });
            arriving.chain(leaving).collect::<Vec<_>>()
        });
        let ports = sides.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let station = Station { phase, sides, top, height: PORT * (ports + 1) };
        top += station.height + GAP;
        station
    };
    phases.iter().map(station).collect()
}

/// The flow chart as SVG.
pub fn svg() -> String {
    let phases = phases();
    let stations = stations(&phases);
    let height = stations.last().map_or(0, |last| last.top + last.height) + GAP;
    let (right, left): (Vec<DcfStep>, Vec<DcfStep>) =
        DcfStep::ALL.iter().copied().partition(|step| side(*step, &phases) == 1);
    let width = BOX.1 + WORDS + LANE * (right.len() as u32 + 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title>CSMA/CA with RTS and CTS (IEEE 802.11, 10.3)</title>\n<style>{STYLE}</style>\n"
    );
    for (side, steps) in [left, right].iter().enumerate() {
        for (number, step) in steps.iter().enumerate() {
            lane(&mut svg, &stations, side, *step, number as u32);
        }
    }
    for Station { phase, top, height, .. } in &stations {
        let (middle, words) = (top + height / 2 + 5, name(*phase));
        let (x, box_width) = (BOX.0, BOX.1 - BOX.0);
        let _ = writeln!(
            svg,
            "<rect class=\"box\" x=\"{x}\" y=\"{top}\" width=\"{box_width}\" height=\"{height}\" rx=\"6\"/>\n\
             <text class=\"middle\" x=\"{}\" y=\"{middle}\">{words}</text>",
            x + box_width / 2
        );
    }
    svg + "</svg>\n"
}

/// A step: a line from each of its phases into its lane, and from there with an arrow to the phase after it.
fn lane(svg: &mut String, stations: &[Station], side: usize, step: DcfStep, number: u32) {
    let out = WORDS + LANE * number;
    let (edge, lane, words, class) = match side {
        0 => (BOX.0, BOX.0.saturating_sub(out), BOX.0 - 10, "end"),
        _ => (BOX.1, BOX.1 + out, BOX.1 + 10, "begin"),
    };
    let Some(end) = stations.iter().find(|station| station.phase == step.to()) else { return };
    let (to, back) = (end.port(side, Port { step, arrives: true }), if side == 0 { -9 } else { 9 });
    for from in stations.iter().filter(|station| step.from().contains(&station.phase)) {
        let y = from.port(side, Port { step, arrives: false });
        let _ = writeln!(
            svg,
            "<path class=\"line\" data-step=\"{step:?}\" data-from=\"{:?}\" data-to=\"{:?}\" d=\"M{edge} {y}H{lane}V{to}H{edge}\"/>\n\
             <text class=\"{class}\" x=\"{words}\" y=\"{}\">{}</text>",
            from.phase,
            step.to(),
            y - 5,
            escape(step.text())
        );
    }
    let tail = edge as i32 + back;
    let _ = writeln!(svg, "<path class=\"head\" d=\"M{edge} {to}L{tail} {}V{}Z\"/>", to - 4, to + 4);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table is the only source: each of its transitions is a line with its words, and there is no other line.
    #[test]
    fn each_transition_of_the_table_is_in_the_drawing() {
        let svg = svg();
        let mut transitions = 0;
        for step in DcfStep::ALL {
            for from in step.from() {
                let line = format!("data-step=\"{step:?}\" data-from=\"{from:?}\" data-to=\"{:?}\"", step.to());
                assert_eq!(svg.matches(&line).count(), 1, "{line}");
                transitions += 1;
            }
            let words = format!(">{}</text>", escape(step.text()));
            assert_eq!(svg.matches(&words).count(), step.from().len(), "{words}");
        }
        assert_eq!(svg.matches("class=\"line\"").count(), transitions);
        assert_eq!(svg.matches("class=\"box\"").count(), phases().len());
    }

    /// No two lines end at one point of a box.
    #[test]
    fn each_line_has_its_own_place_at_a_box() {
        let phases = phases();
        for station in stations(&phases) {
            for side in 0..2 {
                let mut places: Vec<u32> = station.sides[side].iter().map(|port| station.port(side, *port)).collect();
                places.dedup();
                assert_eq!(places.len(), station.sides[side].len(), "{:?}", station.phase);
                assert!(places.iter().all(|y| (station.top..station.top + station.height).contains(y)));
            }
        }
    }
}
