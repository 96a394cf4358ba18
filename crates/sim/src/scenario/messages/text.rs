//! How a table of messages is read: TOML and CSV become entries, and entries become nodes and messages.

mod forms;
mod host;

use self::forms::{csv, toml};
use super::{Message, MessageTable, Node, RATE, wrong};
use crate::scenario::file::ScenarioError;
use crate::scenario::wrong::{FilePlace, Wrong, meant};
use crate::words::interface::station_name;
use crate::words::units::{self, Length};
use crate::words::{macphy, plca};
use medium::{HostDelay, PlcaSettings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a file that a table names.
pub type Other<'a> = &'a dyn Fn(&Path) -> Result<String, ScenarioError>;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableKey {
    /// The section that has it.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    takes: Takes,
    /// What to write, after "write".
    pub right: &'static str,
    /// The key's meaning.
    pub about: &'static str,
    /// Its default; empty if it has none.
    pub default: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
enum Takes {
    Name,
    Text,
    Whole(u64, u64),
    /// A time, in bit times from the first to the second.
    Span(u64, u64),
    Metres,
    /// A time, or a range of times.
    HostDelay,
    /// The clock of an SPI bus, as hertz.
    Clock,
    OneOf(&'static [u64]),
    /// A part of the line, or bits per second; as the latter.
    Slope,
}

/// The most nodes: ids from 0 to 254.
const MOST_NODES: usize = 255;
/// The most messages.
const MOST_MESSAGES: usize = 4_096;
/// A day, in bit times.
pub const DAY: u64 = 864_000_000_000;

macro_rules! keys {
    ($([$section:literal] $($name:literal $takes:expr, $right:literal, $about:literal, $default:literal;)*)*) => {
        /// Every key of a table, as docs/plan.md has them.
        pub const KEYS: &[TableKey] = &[$($(TableKey {
            section: $section, name: $name, takes: $takes, right: $right, about: $about, default: $default,
        },)*)*];
    };
}

keys! {
    ["segment"]
        "to-tmr" Takes::Whole(1, 255), "a whole number from 1 to 255 (802.3, 30.16.1.1.5), like `to-tmr = 32`",
            "aPLCATransmitOpportunityTimer of all nodes, in bit times", "32";
        "node-cnt" Takes::Whole(1, 255), "a whole number from 1 to 255 (802.3, 30.16.1.1.3), like `node-cnt = 8`",
            "aPLCANodeCount of the coordinator", "the highest id + 1";
        "cable" Takes::Metres, "a length from 0 to 1000 m, like `cable = \"25 m\"`",
            "the cable, on which the nodes are evenly spaced", "`0 m`";
        "phy-on" Takes::Span(0, 512), "a time up to 512 BT, like `phy-on = \"0.44 us\"` or `\"4 BT\"`",
            "from TX_EN to CRS as a signal begins", "`0 BT`";
        "phy-off" Takes::Span(0, 512), "a time up to 512 BT, like `phy-off = \"1.12 us\"` or `\"11 BT\"`",
            "the same as it ends", "`phy-on`";
        "messages" Takes::Text, "the name of a file, like `messages = \"messages.csv\"`",
            "a CSV file with the messages, beside this file", "none";
    ["node"]
        "name" Takes::Name, "a name of up to 15 letters, digits, `-`, `_`, `.`, like `name = \"brake\"`",
            "its name", "";
        "node-id" Takes::Whole(0, 254), "a whole number from 0 to 254 (802.3, 30.16.1.1.4), like `node-id = 3`",
            "aPLCALocalNodeID; 0 is the coordinator", "in order of nodes";
        "burst-cnt" Takes::Whole(0, 255), "a whole number from 0 to 255 (802.3, 30.16.1.1.6), like `burst-cnt = 0`",
            "aPLCAMaxBurstCount", "0";
        "burst-tmr" Takes::Whole(0, 255), "a whole number from 0 to 255 (802.3, 30.16.1.1.7), like `burst-tmr = 128`",
            "aPLCABurstTimer, in bit times", "128";
        "host-delay" Takes::HostDelay, "a time up to 1 s or a range, like `host-delay = \"40 us\"`, `\"400 BT\"` or `\"2us..8us\"`",
            "how long its host takes to hand over the frame at the head of the queue; of a range each frame draws its own", "`0 BT`";
        "skip-turns" Takes::Whole(0, 255), "a whole number from 0 to 255, like `skip-turns = 2`",
            "own turns that pass unused after each turn with a frame, an option of chips", "0";
        "spi-clock" Takes::Clock, "a clock from 0.1 to 100 MHz, like `spi-clock = \"25 MHz\"`",
            "of a MAC-PHY: the clock of the SPI bus to it", "no MAC-PHY";
        "spi-chunk" Takes::OneOf(&[8, 16, 32, 64]), "8, 16, 32 or 64 octets, like `spi-chunk = 64`",
            "of a MAC-PHY: octets of a frame in a chunk", "64";
        "spi-transfer" Takes::Whole(0, 255), "a whole number from 0 to 255, like `spi-transfer = 48`",
            "of a MAC-PHY: chunks of a transfer that may be under way when the host wants to send", "0";
        "tx-credits" Takes::Whole(1, 255), "a whole number from 1 to 255, like `tx-credits = 48`",
            "of a MAC-PHY: chunks in its transmit buffer", "48";
        "tx-threshold" Takes::Whole(1, 255), "a whole number from 1 to 255, like `tx-threshold = 4`",
            "of a MAC-PHY: credits at which a host that had none goes on", "1";
        "cut-through" Takes::Whole(1, 255), "a whole number from 1 to 255, like `cut-through = 2`",
            "of a MAC-PHY: chunks of a frame from which on the MAC may send it", "the whole frame";
    ["message"]
        "node" Takes::Name, "the name of a node, like `node = \"brake\"`", "the node that sends it", "";
        "name" Takes::Text, "a name, like `name = \"pedal\"`", "its name", "";
        "octets" Takes::Whole(18, 2000), "a whole number from 18 to 2000 (802.3, 3.2.7), like `octets = 64`",
            "from destination address to FCS; below 64 it is padded", "";
        "period" Takes::Span(1, DAY), "a time above 0 and up to a day, like `period = \"10 ms\"`",
            "from one release to the next", "";
        "min-distance" Takes::Span(1, DAY), "a time above 0 and up to a day, like `min-distance = \"10 ms\"`",
            "of a message that is not periodic, in place of `period`: the least time between two releases", "";
        "jitter" Takes::Span(0, DAY), "a time up to a day, like `jitter = \"1 ms\"`",
            "how much later than its even instant a frame may be released", "`0 ms`";
        "deadline" Takes::Span(1, DAY), "a time above 0 and up to a day, like `deadline = \"5 ms\"`",
            "from release to the last bit at the farthest node, at most", "`period` or `min-distance`";
        "burst" Takes::Whole(1, 1000), "a whole number from 1 to 1000, like `burst = 1`",
            "frames of one release", "1";
        "phase" Takes::Span(0, DAY), "a time up to a day, like `phase = \"2 ms\"`",
            "of a periodic message: the first release, by a clock that all messages of its node share", "unknown";
        "priority" Takes::Whole(0, 7), "a whole number from 0 to 7 (802.1Q, 6.9.3), like `priority = 6`",
            "of the frames that wait in a node, those with the highest number go first", "0";
        "idle-slope" Takes::Slope, "a part of the line, or bits per second, above 0 and up to 10 Mbit/s, like `idle-slope = \"25 %\"` or `\"2.5 Mbit/s\"`",
            "idleSlope of a credit-based shaper for all messages of this node and priority", "no shaper";
}

/// A key with its value as text.
#[derive(Debug)]
struct Entry {
    name: String,
    value: String,
    place: FilePlace,
}

/// The entries of one node or message.
#[derive(Debug)]
struct Section {
    kind: &'static str,
    entries: Vec<Entry>,
    place: FilePlace,
}

/// A part of the line, or bits per second.
fn slope(text: &str) -> Option<u64> {
    let part = |part: f64| (part * RATE.get() as f64).round() as u64;
    units::share(text.trim()).ok().map(part).or_else(|| units::rate(text.trim()).ok())
}

/// A text of a line that is no longer than a table's column.
fn is_a_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= 64 && !text.contains(char::is_control)
}

/// A value as the number that it means; 0 of names and texts.
fn number(key: &TableKey, text: &str) -> Result<u64, String> {
    let refuse = || format!("`{}`: write {}", text.trim(), key.right);
    let within = |number: u64, least, most| if (least..=most).contains(&number) { Ok(number) } else { Err(refuse()) };
    match key.takes {
        Takes::Name => station_name(text.trim()).map(|()| 0),
        Takes::Text if is_a_name(text) => Ok(0),
        Takes::Text => Err(refuse()),
        Takes::Whole(least, most) => {
            let digits = text.trim().replace('_', "");
            let is_plain = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
            within(digits.parse().ok().filter(|_| is_plain).ok_or_else(refuse)?, least, most)
        }
        Takes::Span(least, most) => within(plca::span(text).map_err(|_| refuse())?.get(), least, most),
        Takes::Clock => macphy::clock(text).map_err(|_| refuse()),
        Takes::OneOf(all) => {
            let number = text.trim().parse().ok().filter(|number| all.contains(number));
            number.ok_or_else(refuse)
        }
        Takes::HostDelay => plca::host_delay(text).map(|_| 0).map_err(|_| refuse()),
        Takes::Slope => within(slope(text).ok_or_else(refuse)?, 1, RATE.get()),
        Takes::Metres => match units::length(text) {
            Ok(Length::Metres(metres)) if metres <= 1000.0 => Ok(0),
            Ok(_) | Err(_) => Err(refuse()),
        },
    }
}

/// What a list of keys has, in words.
fn known(section: &str) -> String {
    let keys = KEYS.iter().filter(|key| key.section == section);
    keys.map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

impl Section {
    /// Keeps what is right, and notes what is wrong.
    fn checked(mut self, wrongs: &mut Vec<Wrong>) -> Section {
        self.entries.retain(|entry| {
            let keys = || KEYS.iter().filter(|key| key.section == self.kind);
            let problem = match keys().find(|key| key.name == entry.name) {
                Some(key) => number(key, &entry.value).err(),
                None => {
                    let near = meant(&entry.name, keys().map(|key| key.name));
                    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                    Some(format!("no such key of a {}: {near}Known here: {}", self.kind, known(self.kind)))
                }
            };
            let right = problem.is_none();
            wrongs.extend(problem.map(|what| wrong(&entry.place, &entry.name, what)));
            right
        });
        self
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.entry(name).map(|entry| entry.value.trim().to_owned())
    }

    fn number(&self, name: &str) -> Option<u64> {
        let key = KEYS.iter().find(|key| key.section == self.kind && key.name == name)?;
        number(key, &self.entry(name)?.value).ok()
    }

    fn place(&self, name: &str) -> &FilePlace {
        self.entry(name).map_or(&self.place, |entry| &entry.place)
    }
}

/// The table of a text.
pub(super) fn table(
    path: &Path,
    text: &str,
    other: Other<'_>,
    wrongs: &mut Vec<Wrong>,
) -> Result<Option<MessageTable>, ScenarioError> {
    let is_csv = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
    let mut sections = if is_csv(path) { csv(path, text, wrongs) } else { toml(path, text, wrongs) };
    let beside = sections.iter().find(|section| section.kind == "segment").and_then(|it| it.text("messages"));
    if let Some(name) = beside {
        let beside: PathBuf = path.parent().unwrap_or(Path::new("")).join(name);
        sections.extend(csv(&beside, &other(&beside)?, wrongs));
    }
    if !wrongs.is_empty() {
        return Ok(None);
    }
    let sections: Vec<Section> = sections.into_iter().map(|section| section.checked(wrongs)).collect();
    let table = if wrongs.is_empty() { build(path, &sections, wrongs) } else { None };
    if let (Some(table), true) = (&table, wrongs.is_empty()) {
        fits(table, &sections, path, wrongs);
        host::fits(table, &sections, wrongs);
    }
    Ok(table)
}

fn beginning(path: &Path) -> FilePlace {
    FilePlace { file: path.display().to_string(), line: 1, column: 1 }
}

/// Nodes and messages of sections that are right by themselves.
fn build(path: &Path, sections: &[Section], wrongs: &mut Vec<Wrong>) -> Option<MessageTable> {
    let of = |kind: &'static str| sections.iter().filter(move |section| section.kind == kind);
    let count = of("message").count();
    if count == 0 || count > MOST_MESSAGES {
        let what = format!("{count} messages: write 1 to {MOST_MESSAGES}, each a `[[message]]` or a line of CSV");
        wrongs.push(wrong(&beginning(path), "message", what));
        return None;
    }
    let segment = of("segment").next();
    let number = |name: &str| segment.and_then(|segment| segment.number(name));
    let nodes = nodes(path, sections, wrongs)?;
    let messages = of("message").map(|section| message(section, &nodes, wrongs)).collect::<Vec<_>>();
    let mut messages = messages.into_iter().collect::<Option<Vec<_>>>()?;
    slopes(sections, &nodes, &mut messages, wrongs);
    let highest = nodes.iter().map(|node| node.id).max().unwrap_or(0);
    let cable = segment.and_then(|segment| segment.text("cable")).and_then(|text| units::length(&text).ok());
    let phy_on = number("phy-on").unwrap_or(0);
    let usual = PlcaSettings::new(0, 1);
    Some(MessageTable {
        node_count: number("node-cnt").map_or(highest.saturating_add(1), |count| count as u8),
        to_timer: number("to-tmr").map_or(usual.to_timer, |timer| timer as u8),
        cable: if let Some(Length::Metres(metres)) = cable { metres } else { 0.0 },
        phy_on,
        phy_off: number("phy-off").unwrap_or(phy_on),
        nodes,
        messages,
    })
}

/// The nodes that have a section; without any, those that messages name.
fn nodes(path: &Path, sections: &[Section], wrongs: &mut Vec<Wrong>) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    let number = |section: &Section, name: &str, usual: u64| section.number(name).unwrap_or(usual);
    let usual = PlcaSettings::new(0, 1);
    for section in sections.iter().filter(|section| section.kind == "node") {
        let Some(name) = section.text("name") else {
            wrongs.push(wrong(&section.place, "name", "the node has no name: write one".to_owned()));
            continue;
        };
        let id = number(section, "node-id", nodes.len().min(MOST_NODES) as u64);
        if let Some(twin) = nodes.iter().find(|node| node.name == name || u64::from(node.id) == id) {
            let (key, what) = match twin.name == name {
                true => ("name", format!("`{name}` is there twice: write another name")),
                false => ("node-id", format!("{} has the id {id} too: both would send in one turn", twin.name)),
            };
            wrongs.push(wrong(section.place(key), key, what));
        }
        nodes.push(Node {
            name,
            id: id.min(254) as u8,
            burst_count: number(section, "burst-cnt", usual.burst_count.into()) as u8,
            burst_timer: number(section, "burst-tmr", usual.burst_timer.into()) as u8,
            host_delay: section.host_delay(),
            macphy: section.macphy(wrongs),
            skipped_turns: number(section, "skip-turns", 0) as u8,
        });
    }
    if nodes.is_empty() {
        for section in sections.iter().filter(|section| section.kind == "message") {
            let name = section.text("node").unwrap_or_default();
            if !name.is_empty() && nodes.iter().all(|node| node.name != name) {
                let id = nodes.len().min(254) as u8;
                let PlcaSettings { burst_count, burst_timer, .. } = usual;
                let host_delay = HostDelay::NONE;
                nodes.push(Node { name, id, burst_count, burst_timer, host_delay, macphy: None, skipped_turns: 0 });
            }
        }
    }
    if nodes.len() > MOST_NODES {
        let what = format!("{} nodes: a segment has ids from 0 to 254 (802.3, 30.16.1.1.4)", nodes.len());
        wrongs.push(wrong(&beginning(path), "node", what));
    }
    wrongs.is_empty().then_some(nodes)
}

fn message(section: &Section, nodes: &[Node], wrongs: &mut Vec<Wrong>) -> Option<Message> {
    let mut missing =
        |key: &str, right: &str| wrongs.push(wrong(&section.place, key, format!("missing: write {right}")));
    for key in KEYS.iter().filter(|key| key.section == "message" && matches!(key.name, "node" | "name" | "octets")) {
        if section.entry(key.name).is_none() {
            missing(key.name, key.right);
        }
    }
    let (period, distance) = (section.number("period"), section.number("min-distance"));
    let every = match (period, distance) {
        (Some(period), None) => Some(period),
        (None, Some(distance)) => Some(distance),
        (None, None) => {
            missing("period", "`period`, or `min-distance` for a message that is not periodic");
            None
        }
        (Some(_), Some(_)) => {
            let what = "it has a `period` too: leave one of them out".to_owned();
            wrongs.push(wrong(section.place("min-distance"), "min-distance", what));
            None
        }
    };
    let name = section.text("node").unwrap_or_default();
    let node = nodes.iter().position(|node| node.name == name);
    if node.is_none() && !name.is_empty() {
        let near = meant(&name, nodes.iter().map(|node| node.name.as_str()));
        let near = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        wrongs.push(wrong(section.place("node"), "node", format!("no node is called `{name}`{near}")));
    }
    if section.entry("phase").is_some() && period.is_none() {
        let what = "only a message with a `period` has a phase: leave it out".to_owned();
        wrongs.push(wrong(section.place("phase"), "phase", what));
    }
    let every = every?;
    Some(Message {
        node: node?,
        name: section.text("name")?,
        octets: section.number("octets")? as u32,
        period: every,
        is_periodic: period.is_some(),
        jitter: section.number("jitter").unwrap_or(0),
        deadline: section.number("deadline").unwrap_or(every),
        burst: section.number("burst").unwrap_or(1),
        phase: section.number("phase"),
        priority: section.number("priority").unwrap_or(0) as u8,
        idle_slope: section.number("idle-slope"),
    })
}

/// Gives each message the slope of its class, which some of them have. The slopes of a node are no more than the line.
fn slopes(sections: &[Section], nodes: &[Node], messages: &mut [Message], wrongs: &mut Vec<Wrong>) {
    let mut known: BTreeMap<(usize, u8), u64> = BTreeMap::new();
    for (section, message) in sections.iter().filter(|section| section.kind == "message").zip(&*messages) {
        let (Some(slope), name) = (message.idle_slope, &nodes[message.node].name) else { continue };
        let of_class = *known.entry((message.node, message.priority)).or_insert(slope);
        let sum: u64 = known.range((message.node, 0)..=(message.node, 7)).map(|(_, slope)| slope).sum();
        let most = RATE.get();
        let what = if of_class != slope {
            format!("a message of {name} with this priority has {of_class} bit/s: a class has one, write it once")
        } else if sum > most {
            format!("the slopes of {name} are {sum} bit/s in all: up to {most} are the line's (802.1Q, 34.3)")
        } else {
            continue;
        };
        wrongs.push(wrong(section.place("idle-slope"), "idle-slope", what));
    }
    messages.iter_mut().for_each(|it| it.idle_slope = known.get(&(it.node, it.priority)).copied());
}

/// What makes a segment on which no bound holds.
fn fits(table: &MessageTable, sections: &[Section], path: &Path, wrongs: &mut Vec<Wrong>) {
    let place = |kind: &str, key: &str, value: &str| {
        let all = sections.iter().filter(|section| section.kind == kind);
        let entry = all.filter_map(|section| section.entry(key)).find(|entry| value.is_empty() || entry.value == value);
        entry.map_or_else(|| beginning(path), |entry| entry.place.clone())
    };
    if let Some(node) = table.nodes.iter().find(|node| node.id >= table.node_count) {
        let what = format!(
            "{} of {} is not below the node count of {}: its turn never comes (802.3, 148.4.4)",
            node.id, node.name, table.node_count
        );
        wrongs.push(wrong(&place("node", "node-id", &node.id.to_string()), "node-id", what));
    }
    if table.nodes.iter().all(|node| node.id != 0) {
        let what = "no node has id 0, so no node sends BEACONs (802.3, 148.4.4): give one `node-id = 0`".to_owned();
        wrongs.push(wrong(&place("node", "node-id", ""), "node-id", what));
    }
    if table.phy_off < table.phy_on {
        let what = format!("{} BT: a signal ends no sooner than it begins, {} BT", table.phy_off, table.phy_on);
        wrongs.push(wrong(&place("segment", "phy-off", ""), "phy-off", what));
    }
    let (late, most) = (table.late().get() + table.phy_on, u64::from(table.to_timer).min(32));
    if late >= most {
        let key = if table.phy_off > 0 { "phy-off" } else { "cable" };
        let what = format!(
            "a signal, its answer and the PHYs take {late} BT: with {most} BT or more nodes do not hear in time that a turn is used, or that a gap has begun; take a shorter cable, faster PHYs, or `to-tmr = 32`"
        );
        wrongs.push(wrong(&place("segment", key, ""), key, what));
    }
}
