//! A frame's collisions over place and time, as SVG: stations are side by side, time goes down, and on a cable a signal is
//! a band that slants as it travels. A band is filled where its signal is alone, and hatched where it meets another.
//!
//! ```text
//!             st1                        st2        place ─►
//!        0 BT ██████──────____             │
//!             ██████        ──────____     │        st2 begins before it hears st1
//!       20 BT ██████              ─────████│
//!             ✕ noticed here          ████✕│
//! ```
//!
//! Every edge of a band at a station is at a bit time that the trace gives, plus the distance from the sender.

use super::story::{Story, Try};
use crate::scene::{Layout, Part, Shape, Signal};
use crate::words::places::place;
use crate::words::prose::escape;
use crate::words::units::group;
use medium::{BitInstant, Config, Method, StationId, Topology};
use panel::Panel;
use std::collections::BTreeSet;
use std::fmt::Write;

mod panel;

/// Width of the picture, in points.
const WIDTH: u32 = 880;
/// The place of the first station; the times are left of it.
const LEFT: f64 = 96.0;
/// The place of the last station.
const RIGHT: f64 = 800.0;
/// Points above the first panel: heading, and what is drawn.
const HEAD: f64 = 74.0;
/// Points below the last: the legend.
const FOOT: f64 = 56.0;
/// The most stations that are all drawn; of more, only the parties and both ends.
const DRAWN: usize = 32;

/// Colours of the senders, in light and in dark.
const COLOURS: [(&str, &str); 6] = [
    ("#2f6db3", "#6ea8e8"),
    ("#c96a12", "#f0a050"),
    ("#2f8a57", "#62c492"),
    ("#8a4fa3", "#c48fdd"),
    ("#a8332f", "#ec8480"),
    ("#6b6a1c", "#c0be62"),
];

/// The picture; nothing if the frame was never on the medium.
pub fn draw(story: &Story) -> Option<String> {
    let sent = || story.tries.iter().filter(|one| one.own().is_some());
    let collided = || sent().filter(|one| one.is_collided());
    let shown: Vec<&Try> = match collided().count() {
        0 => sent().next_back().into_iter().collect(),
        _ => collided().collect(),
    };
    let config = &story.config;
    let columns = Columns::new(story, &shown, config);
    let panels: Vec<Panel> = shown.iter().filter_map(|one| Panel::new(one, &columns, story)).collect();
    let height = HEAD + panels.iter().map(Panel::height).sum::<f64>() + FOOT;
    (!panels.is_empty()).then(|| {
        let mut text = head(height);
        text += &heading(story, &columns);
        let mut top = HEAD;
        for panel in &panels {
            text += &panel.draw(top);
            top += panel.height();
        }
        text + &legend(config, top + 18.0) + "</svg>\n"
    })
}

fn head(height: f64) -> String {
    let (mut light, mut dark, mut jams, mut dots) = (String::new(), String::new(), String::new(), String::new());
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        write!(light, ".s{number}{{fill:{on_light};stroke:{on_light}}}").expect("a string takes any text");
        write!(dark, ".s{number}{{fill:{on_dark};stroke:{on_dark}}}").expect("a string takes any text");
        write!(jams, ".jam.s{number}{{fill:url(#jam{number})}}").expect("a string takes any text");
        writeln!(
            dots,
            "<pattern id=\"jam{number}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
             <circle class=\"s{number} dot\" cx=\"2.5\" cy=\"2.5\" r=\"1.6\"/></pattern>"
        )
        .expect("a string takes any text");
    }
    // Text is never squeezed and never measured: it has room in any font.
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         font-family=\"Noto Sans, DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif\" font-size=\"13\">\n<style>\n\
         .paper{{fill:#ffffff}}.ink{{fill:#1f2328}}.faint{{fill:#59636e}}.station{{stroke:#59636e;stroke-width:1.5}}\
         .tick{{stroke:#d8dde3;stroke-width:1}}.mark{{fill:none;stroke:#b3001b;stroke-width:2.5}}\
         .halo{{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}}{light}\n\
         .band{{stroke:none}}.preamble{{fill-opacity:.2}}.frame{{fill-opacity:.38}}.extension{{fill-opacity:.12}}\
         .overlap{{fill:url(#overlap)}}.edge{{fill:none;stroke-width:1.6}}.dot{{stroke:none}}{jams}\n\
         @media (prefers-color-scheme: dark) {{\n\
         .paper{{fill:#0d1117}}.ink{{fill:#e6edf3}}.faint{{fill:#9aa4af}}.station{{stroke:#9aa4af}}.tick{{stroke:#2a313a}}\
         .mark{{stroke:#ff7b88}}.halo{{stroke:#0d1117}}{dark}\n}}\n</style>\n<defs>\n{dots}\
         <pattern id=\"overlap\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect class=\"paper\" width=\"7\" height=\"7\"/><rect class=\"faint\" width=\"1.6\" height=\"7\" fill-opacity=\".55\"/></pattern>\n</defs>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height:.0}\"/>\n"
    )
}

fn heading(story: &Story, columns: &Columns) -> String {
    let config = &story.config;
    let times = match story.tries.iter().filter(|one| one.is_collided()).count() {
        0 => "no collision".to_owned(),
        1 => "one collision".to_owned(),
        many => format!("{many} collisions"),
    };
    let of = if story.run.is_empty() { String::new() } else { format!(" of {}", story.run) };
    let along = match &config.topology {
        _ if columns.layout.shape == Shape::Senders => {
            "nodes of PLCA in order of id, each with what it sends".to_owned()
        }
        Topology::Star { distance, .. } => format!("a star, {} BT between every pair", group(distance.get())),
        _ if columns.layout.shape == Shape::Places => {
            "stations in the order of their places, each with what is at its place".to_owned()
        }
        Topology::Bus { .. } => "a cable, stations at their places along it".to_owned(),
        Topology::Segments(_) => "segments, stations in the order of their places".to_owned(),
    };
    let left_out = match config.topology.stations() - columns.drawn.len() {
        0 => String::new(),
        some => format!("; {} further stations are not drawn", group(some as u64)),
    };
    format!(
        "<text class=\"ink\" x=\"24\" y=\"30\" font-size=\"17\">Frame {}{}: {times}</text>\n\
         <text class=\"faint\" x=\"24\" y=\"52\">{}, {along}; time goes down in bit times (BT){left_out}</text>\n",
        escape(&story.name(story.frame)),
        escape(&of),
        escape(&config.rate.to_string()),
    )
}

fn legend(config: &Config, top: f64) -> String {
    let all = [
        ("band s0 frame", "frame"),
        ("overlap", "several signals"),
        ("band s0 preamble", "preamble and SFD"),
        ("band s0 jam", "jam"),
    ];
    let parts = match config.method {
        Method::CsmaCa(_) => &all[..2],
        _ if config.detects_collisions() => &all[..],
        _ => &all[..3],
    };
    let mut text = String::new();
    let mut x = LEFT;
    for &(part, words) in parts {
        write!(
            text,
            "<rect class=\"{part}\" x=\"{x:.0}\" y=\"{:.1}\" width=\"24\" height=\"12\"/>\n\
             <text class=\"faint\" x=\"{:.0}\" y=\"{top:.1}\">{words}</text>\n",
            top - 11.0,
            x + 32.0
        )
        .expect("a string takes any text");
        x += 60.0 + 9.0 * words.len() as f64;
    }
    text += &panel::cross(x + 6.0, top - 5.0, "");
    let noticed = if config.detects_collisions() { "collision noticed" } else { "no acknowledgement has come" };
    writeln!(text, "<text class=\"faint\" x=\"{:.0}\" y=\"{top:.1}\">{noticed}</text>", x + 24.0)
        .expect("a string takes any text");
    text
}

/// Where the stations are in the picture.
struct Columns {
    layout: Layout,
    /// Those that are drawn, from left to right.
    drawn: Vec<(StationId, f64)>,
    /// Those that send.
    parties: BTreeSet<StationId>,
}

/// Half the width of a lane at most, and of a band that reaches no station but its sender.
const WIDEST: f64 = 30.0;
const ALONE: f64 = 10.0;

impl Columns {
    fn new(story: &Story, shown: &[&Try], config: &Config) -> Columns {
        let all = shown.iter().flat_map(|one| one.signals());
        let mut parties: BTreeSet<StationId> = all.map(|one| one.source).collect();
        parties.insert(story.frame.station);
        let topology = &config.topology;
        let count = topology.stations();
        let layout = Layout::new(config);
        let mut stations = layout.order.clone();
        let ends = [stations.first().copied(), stations.last().copied()];
        stations.retain(|station| count <= DRAWN || parties.contains(station) || ends.contains(&Some(*station)));
        let position = |station: &StationId| place(topology, *station).1.get();
        let length = stations.last().map_or(0, position);
        let begin = stations.first().map_or(0, position);
        let is_cable = layout.shape == Shape::Cable;
        let to_scale = is_cable && matches!(topology, Topology::Bus { .. }) && length > begin;
        let part = |(number, station): (usize, &StationId)| match () {
            () if to_scale => (position(station) - begin) as f64 / (length - begin) as f64,
            () if is_cable => number as f64 / stations.len().saturating_sub(1).max(1) as f64,
            () => (number as f64 + 0.5) / stations.len() as f64,
        };
        let x = |one: (usize, &StationId)| LEFT + (RIGHT - LEFT) * part(one);
        let drawn = stations.iter().enumerate().map(|one| (*one.1, x(one))).collect();
        Columns { layout, drawn, parties }
    }

    /// Stations in a row that a signal is drawn for: on its way along the cable, or each in its lane.
    fn stretches<'a>(
        &'a self,
        one: &'a Signal,
        config: &'a Config,
    ) -> impl Iterator<Item = Vec<(StationId, f64)>> + 'a {
        let shows = |station: StationId| self.layout.shows(one, station, config);
        let is_cable = self.layout.shape == Shape::Cable;
        let together = move |(a, _): &(StationId, f64), (b, _): &(StationId, f64)| is_cable && shows(*a) == shows(*b);
        let half = if is_cable { ALONE } else { (0.4 * (RIGHT - LEFT) / self.drawn.len() as f64).min(WIDEST) };
        self.drawn.chunk_by(together).filter(move |stretch| shows(stretch[0].0)).map(move |stretch| match stretch {
            [(station, x)] => vec![(*station, x - half), (*station, x + half)],
            _ => stretch.to_vec(),
        })
    }

    fn x(&self, station: StationId) -> f64 {
        self.drawn.iter().find(|(drawn, _)| *drawn == station).map_or(LEFT, |(_, x)| *x)
    }

    /// Points between the parties that are nearest to each other.
    fn room(&self) -> f64 {
        let places: Vec<f64> = self.parties.iter().map(|party| self.x(*party)).collect();
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).map(|pair| pair[1] - pair[0]).fold(RIGHT - LEFT, f64::min)
    }
}

/// What a signal consists of: a name, and from when to when it is at its sender's place. Parts of no length are left out.
fn parts(one: &Signal, read_to: BitInstant) -> impl Iterator<Item = (&'static str, BitInstant, BitInstant)> {
    one.parts(read_to).map(|(part, from, to)| match part {
        Part::Extension | Part::Preamble | Part::Jam => (part.name(), from, to),
        _ => ("frame", from, to),
    })
}
